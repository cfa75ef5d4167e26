// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/statistics.md: what the estimator of bandwidth stolen gains over pairs of the same seed, and how often its intervals hold the truth.

use std::fmt::Write;

use anyhow::{Context, ensure};
use tandem_batch::{Batch, Task, Traces};
use tandem_papers::prose::with_short_lines;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_sim::Sim;
use tandem_statistics::{Estimate, Looks, Neighbours, mean, stolen, variance};

/// Newcomers and neighbours on a path, and what their flows differ in at random.
struct Path {
    path: &'static str,
    newcomers: (&'static str, usize),
    neighbours: (&'static str, usize),
    rtt_spread: &'static str,
    start_spread: &'static str,
}

const fn of(path: &'static str, newcomers: (&'static str, usize), neighbours: (&'static str, usize)) -> Path {
    Path { path, newcomers, neighbours, rtt_spread: "200us", start_spread: "100ms" }
}

/// Rate, RTT, queue, discipline, loss.
const PATHS: [Path; 10] = [
    of("20mbit 40ms 1bdp droptail 0", ("compound", 1), ("cubic", 4)),
    of("20mbit 20ms 0.5bdp droptail 0", ("cubic", 2), ("reno", 2)),
    of("30mbit 50ms 2bdp droptail 0", ("bbr", 1), ("cubic", 3)),
    of("10mbit 100ms 1bdp droptail 1e-4", ("scalable", 1), ("reno", 4)),
    Path { rtt_spread: "20ms", ..of("60mbit 60ms 1bdp droptail 0", ("compound", 4), ("reno", 4)) },
    of("20mbit 40ms 1bdp codel 0", ("fast", 1), ("cubic", 4)),
    of("20mbit 40ms 2bdp fq_codel 0", ("htcp", 2), ("reno", 4)),
    Path { start_spread: "5s", ..of("10mbit 20ms 1bdp droptail 0", ("compound", 1), ("cubic", 8)) },
    Path { rtt_spread: "10ms", start_spread: "1s", ..of("10mbit 30ms 1bdp droptail 0", ("cubic", 1), ("reno", 1)) },
    of("20mbit 30ms 2bdp pie 0", ("cubic", 4), ("compound", 4)),
];

/// Seeds of a group whose estimate is looked at.
const GROUPS: [usize; 4] = [3, 5, 10, 20];

impl Path {
    fn scenario(&self, newcomer: &str, seeds: u32) -> anyhow::Result<Scenario> {
        let [rate, rtt, queue, aqm, loss] = self.path.split(' ').collect::<Vec<_>>()[..] else {
            anyhow::bail!("a path has five words")
        };
        let flows = |controller: &str, count: usize| {
            format!(
                "[[flows]]\ncontroller = \"{controller}\"\ncount = {count}\nrtt_spread = \"{}\"\nstart_spread = \"{}\"\n",
                self.rtt_spread, self.start_spread
            )
        };
        let text = format!(
            "duration = \"30s\"\nwarmup = \"5s\"\nseeds = {seeds}\n[dumbbell]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nqueue = \"{queue}\"\n\
             aqm = \"{aqm}\"\nloss = {loss}\n{}{}",
            flows(newcomer, self.newcomers.1),
            flows(self.neighbours.0, self.neighbours.1)
        );
        Ok(parse(&text, "a path", self.path, &Overrides::default())?)
    }

    /// By seed.
    fn runs(&self, seeds: u32) -> anyhow::Result<Vec<Neighbours>> {
        let scenarios = [self.scenario(self.newcomers.0, seeds)?, self.scenario(self.neighbours.0, seeds)?];
        let task = |scenario| Task { scenario, engine: &Sim, traces: Traces::None };
        // Forty thousand results are not worth keeping: they are there again in some minutes.
        let outcome = Batch::default().run(&scenarios.iter().map(task).collect::<Vec<_>>())?;
        let [beside, reference] = &outcome.seeds[..] else { anyhow::bail!("two runs") };
        let goodputs = |seed: &SeedResult| seed.flows.iter().map(|flow| flow.goodput_mbps).collect::<Vec<_>>();
        let of_seed = |(beside, reference): (&SeedResult, &SeedResult)| {
            let (beside, reference) = (goodputs(beside), goodputs(reference));
            let (peers, neighbours) = reference.split_at(self.newcomers.1);
            Neighbours {
                beside: beside[self.newcomers.1..].to_vec(),
                reference: neighbours.to_vec(),
                peers: peers.to_vec(),
            }
        };
        Ok(beside.iter().zip(reference).map(of_seed).collect())
    }

    fn text(&self) -> String {
        let ((newcomer, own), (neighbour, others)) = (self.newcomers, self.neighbours);
        format!(
            "{}: {newcomer}:{own} beside {neighbour}:{others}",
            self.path.trim_end_matches(" 0").trim_end_matches(" droptail")
        )
    }
}

/// What groups of seeds say.
struct Groups {
    estimates: Vec<Estimate>,
}

impl Groups {
    fn new(
        seeds: &[Neighbours],
        n: usize,
        estimate: impl Fn(&[Neighbours]) -> Option<Estimate>,
    ) -> anyhow::Result<Self> {
        let estimates = seeds.chunks_exact(n).map(estimate).collect::<Option<_>>();
        Ok(Self { estimates: estimates.context("neighbours that get nothing among themselves")? })
    }

    fn values(&self) -> Vec<f64> {
        self.estimates.iter().map(|estimate| estimate.value).collect()
    }

    /// The share of the intervals that hold a value.
    fn held(&self, truth: f64) -> f64 {
        let holds =
            |estimate: &&Estimate| estimate.half_width.is_some_and(|half| (estimate.value - truth).abs() <= half);
        self.estimates.iter().filter(holds).count() as f64 / self.estimates.len() as f64
    }
}

/// As if nothing were known of peers: (P - Q) / P of the same seeds.
fn of_pairs(seeds: &[Neighbours]) -> Option<Estimate> {
    let pairs: Vec<Neighbours> = seeds.iter().map(|seed| Neighbours { peers: Vec::new(), ..seed.clone() }).collect();
    stolen(&pairs)
}

/// The page; with so many seeds, 2,000 in the repository's.
pub fn statistics_page(seeds: u32) -> anyhow::Result<String> {
    ensure!(seeds as usize >= 10 * GROUPS[3], "ten groups of {} seeds are the least", GROUPS[3]);
    let mut page = include_str!("statistics/introduction.md").replace("SEEDS", &seeds.to_string());
    page += "| path | stolen % | seeds | gain | bias | held, pairs % | held % |\n|---|---:|---:|---:|---:|---:|---:|\n";
    for path in &PATHS {
        let runs = path.runs(seeds)?;
        let truth = stolen(&runs).context("neighbours that get nothing among themselves")?;
        for n in GROUPS {
            let (pairs, ours) = (Groups::new(&runs, n, of_pairs)?, Groups::new(&runs, n, stolen)?);
            let spread = |groups: &Groups| variance(&groups.values()).unwrap_or(f64::NAN);
            let (name, value) =
                if n == GROUPS[0] { (path.text(), (truth * 100.0).text(2)) } else { Default::default() };
            writeln!(
                page,
                "| {name} | {value} | {n} | {:.2} | {:.2} | {:.1} | {:.1} |",
                spread(&pairs) / spread(&ours),
                100.0 * (mean(&ours.values()) - truth.value),
                100.0 * pairs.held(truth.value),
                100.0 * ours.held(truth.value)
            )?;
        }
    }
    page += &include_str!("statistics/reasons.md").replace("LOOKS", &looks_table());
    Ok(with_short_lines(&page))
}

fn looks_table() -> String {
    let mut table = String::from("| at most | looks: seeds (confidence of its interval, %) |\n|---:|---|\n");
    for most in [7, 20, 50] {
        let looks: Vec<String> =
            Looks::up_to(most).iter().map(|look| format!("{} ({:.2})", look.seeds, 100.0 * look.confidence)).collect();
        table += &format!("| {most} | {} |\n", looks.join(", "));
    }
    table
}
