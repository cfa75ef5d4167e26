// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/statistics.md: what the estimator of bandwidth stolen gains over pairs of the same seed, and how often its intervals hold the truth.

use std::fmt::Write;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tandem_batch::{Batch, Task, Traces};
use tandem_papers::prose::with_short_lines;
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_sim::Sim;
use tandem_statistics::{Estimate, Looks, Neighbours, mean, stolen, variance};

use super::evidence;

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

/// All numbers.
const DATA: &str = "experiments/validation/statistics.json";

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

/// What docs/statistics.md rests on.
#[derive(Debug, Serialize, Deserialize)]
pub struct Statistics {
    /// Of each path.
    seeds: u32,
    paths: Vec<OfPath>,
}

#[derive(Debug, Serialize, Deserialize)]
struct OfPath {
    path: String,
    /// Bandwidth stolen, from all seeds.
    stolen_percent: f64,
    half_width_percent: f64,
    groups: Vec<OfGroups>,
}

/// What groups of this many seeds say.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OfGroups {
    seeds: usize,
    gain: f64,
    bias_points: f64,
    held_by_pairs_percent: f64,
    held_percent: f64,
}

/// Runs all paths with this many seeds, 2,000 for the repository's page.
///
/// # Errors
/// If the seeds are too few for groups, or a run fails.
pub fn statistics(seeds: u32) -> anyhow::Result<Statistics> {
    ensure!(seeds as usize >= 10 * GROUPS[3], "ten groups of {} seeds are the least", GROUPS[3]);
    let paths = PATHS.iter().map(|path| OfPath::new(path, seeds)).collect::<anyhow::Result<_>>()?;
    Ok(Statistics { seeds, paths })
}

impl OfPath {
    fn new(path: &Path, seeds: u32) -> anyhow::Result<Self> {
        let runs = path.runs(seeds)?;
        let truth = stolen(&runs).context("neighbours that get nothing among themselves")?;
        let of_groups = |n: usize| {
            let (pairs, ours) = (Groups::new(&runs, n, of_pairs)?, Groups::new(&runs, n, stolen)?);
            let spread = |groups: &Groups| variance(&groups.values()).unwrap_or(f64::NAN);
            Ok(OfGroups {
                seeds: n,
                gain: spread(&pairs) / spread(&ours),
                bias_points: 100.0 * (mean(&ours.values()) - truth.value),
                held_by_pairs_percent: 100.0 * pairs.held(truth.value),
                held_percent: 100.0 * ours.held(truth.value),
            })
        };
        Ok(Self {
            path: path.text(),
            stolen_percent: 100.0 * truth.value,
            half_width_percent: 100.0 * truth.half_width.unwrap_or_default(),
            groups: GROUPS.into_iter().map(of_groups).collect::<anyhow::Result<_>>()?,
        })
    }

    fn of(&self, seeds: usize) -> Option<&OfGroups> {
        self.groups.iter().find(|groups| groups.seeds == seeds)
    }
}

/// Least, median and most.
fn range(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let middle = values.get((values.len().max(1) - 1) / 2..=values.len() / 2)?;
    Some([*values.first()?, mean(middle), *values.last()?])
}

impl Statistics {
    /// What stands between the marks of docs/statistics.md.
    ///
    /// # Errors
    /// If a path has no groups of the sizes that the table shows.
    pub fn block(&self) -> anyhow::Result<String> {
        let [few, many] = [GROUPS[1], GROUPS[3]];
        let missing = "a path without its groups";
        let of = |seeds| self.paths.iter().map(|path| path.of(seeds)).collect::<Option<Vec<_>>>().context(missing);
        let [least, median, most] = range(of(few)?.iter().map(|g| g.held_percent).collect()).context(missing)?;
        let [_, gain, _] = range(of(few)?.iter().map(|g| g.gain).collect()).context(missing)?;
        let mut block = format!(
            "**Tandem's estimate of bandwidth stolen from {few} seeds is as exact as the ratio of pairs from {:.0}** (median of {} paths). Its 95 % \
             intervals contain the truth in {least:.0} to {most:.0} % of the cases, by path; the median is {median:.0} %. {} seeds of each path.\n\n\
             | path | stolen, % | gain: {few} seeds | {many} seeds | held, %: {few} seeds | {many} seeds |\n\
             |---|---:|---:|---:|---:|---:|\n",
            few as f64 * gain,
            self.paths.len(),
            self.seeds
        );
        for (path, (few, many)) in self.paths.iter().zip(of(few)?.into_iter().zip(of(many)?)) {
            writeln!(
                block,
                "| {} | {:.2} ± {:.2} | {:.2} | {:.2} | {:.1} | {:.1} |",
                path.path,
                path.stolen_percent,
                path.half_width_percent,
                few.gain,
                many.gain,
                few.held_percent,
                many.held_percent
            )?;
        }
        write!(
            block,
            "\nAll numbers: [`{DATA}`](../{DATA}).\n\nThe looks at growing numbers of seeds:\n\n{}",
            looks_table()
        )?;
        Ok(with_short_lines(&block))
    }

    /// Writes the data, and the answer and its tables between the marks of the page.
    ///
    /// # Errors
    /// If the page lacks its marks, or a file cannot be read or written.
    pub fn write(&self, page: &std::path::Path) -> anyhow::Result<()> {
        evidence::put(page, &self.block()?)?;
        evidence::write(std::path::Path::new(DATA), &(serde_json::to_string_pretty(self)? + "\n"))
    }
}

fn looks_table() -> String {
    let mut table = String::from("| at most | seeds at each look (confidence of its interval, %) |\n|---:|---|\n");
    for most in [7, 20, 50] {
        let looks: Vec<String> =
            Looks::up_to(most).iter().map(|look| format!("{} ({:.2})", look.seeds, 100.0 * look.confidence)).collect();
        table += &format!("| {most} | {} |\n", looks.join(", "));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_that_of_its_data() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let data = std::fs::read_to_string(root.join(DATA)).expect("the data is there");
        let statistics: Statistics = serde_json::from_str(&data).expect("it is of this form");
        assert_eq!(statistics.paths.len(), PATHS.len());
        evidence::assert_has("docs/statistics.md", &statistics.block().expect("it has all groups"));
    }

    /// By hand: of the gains 1, 2 and 3 the one in the middle; 5 seeds are then worth 10.
    #[test]
    fn the_answer_is_about_the_path_in_the_middle() {
        let groups = |seeds, gain| OfGroups {
            seeds,
            gain,
            bias_points: 0.0,
            held_by_pairs_percent: 95.0,
            held_percent: 93.0 + gain,
        };
        let path = |gain: f64| OfPath {
            path: format!("path {gain}"),
            stolen_percent: 1.0,
            half_width_percent: 0.5,
            groups: GROUPS.map(|seeds| groups(seeds, gain)).to_vec(),
        };
        let mut statistics = Statistics { seeds: 200, paths: vec![path(3.0), path(1.0), path(2.0)] };
        let block = statistics.block().unwrap().replace('\n', " ");
        assert!(
            block.contains("from 5 seeds is as exact as the ratio of pairs from 10** (median of 3 paths)"),
            "{block}"
        );
        assert!(block.contains("94 to 96 % of the cases, by path; the median is 95 %. 200 seeds"), "{block}");
        assert!(block.contains("| path 3 | 1.00 ± 0.50 | 3.00 | 3.00 | 96.0 | 96.0 |"), "{block}");
        statistics.paths[0].groups.truncate(2);
        assert!(statistics.block().is_err());
    }
}
