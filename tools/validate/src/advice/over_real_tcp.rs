// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ten of the paths over real TCP: do three of the controllers with the most goodput come in the same order?

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tandem_advise::{Candidate, Question, Stepwise, measured::Measured};
use tandem_batch::{Batch, Task, Traces};
use tandem_compare::{BOUNDS, Bounds};
use tandem_engine::Engine;
use tandem_papers::{Missing, RealTcpRun, RealTcpRuns};
use tandem_scenario::{Parts, Scenario, units::Span};
use tandem_sim::Sim;
use tandem_statistics::Estimate;

use super::{
    draw::Drawn,
    truth::{Outcome, Usual},
};
use crate::real_tcp::measure_until_trusted;

const PATHS: usize = 10;
const CONTROLLERS: usize = 3;
const REPETITIONS: u64 = 3;
/// Seeds of the simulator.
const SEEDS: u64 = 10;
/// What the emulator carries without doubt, and how long a run may take.
const FASTEST_BPS: u64 = 60_000_000;
const LONGEST: Span = Span::from_secs(90);

/// What came of the runs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Compared {
    /// The numbers of the paths on which this machine did not keep up: the next ones took their places.
    gave_way: Vec<u64>,
    lines: Vec<Line>,
}

/// A path with its controllers, the one first that had the most goodput in the long runs.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    number: u64,
    path: String,
    controllers: Vec<Both>,
}

/// Goodput by seed, Mb/s. A seed has the same starts and random losses whatever controller runs, in both engines.
type BySeed = BTreeMap<u64, f64>;

/// A controller's goodput in both engines.
#[derive(Debug, Serialize, Deserialize)]
struct Both {
    controller: String,
    simulated_mbps: BySeed,
    measured_mbps: BySeed,
}

/// A path that can be run, with the scenario of each controller.
struct Posed {
    number: u64,
    path: String,
    scenarios: Vec<(String, Scenario)>,
}

/// Makes the runs that `kept` lacks, if there is an engine for them, and writes what came of all to `compared`.
///
/// # Errors
/// If a file cannot be read or written, or a run fails.
pub fn measure_paths(
    judged: &[(&Outcome, Drawn)],
    engine: &dyn Engine,
    (kept, compared): (&Path, &Path),
    batch: &Batch,
) -> anyhow::Result<()> {
    let before = read(compared)?;
    let posed = judged.iter().filter(|(outcome, _)| !before.gave_way.contains(&outcome.number));
    let posed = posed.map(|(outcome, drawn)| pose(&before.contenders(outcome), outcome, drawn, engine));
    let posed: Vec<Option<Posed>> = posed.collect::<anyhow::Result<_>>()?;
    let posed: Vec<Posed> = posed.into_iter().flatten().collect();
    let mut runs = RealTcpRuns::open(kept)?;
    let (chosen, gave_way) = loop {
        let (chosen, gave_way) = choose(&posed, &runs);
        measure_until_trusted(missing(&chosen, &runs), engine, &mut runs, batch, 1)?;
        if !chosen.iter().any(|path| path.is_given_up(&runs)) {
            break (chosen, gave_way);
        }
    };
    let lines = chosen.iter().map(|path| line(path, &runs, batch)).collect::<anyhow::Result<Vec<_>>>()?;
    let gave_way = before.gave_way.into_iter().chain(gave_way).collect();
    let text = serde_json::to_string_pretty(&Compared { gave_way, lines })? + "\n";
    Ok(tandem_report::write_atomically(compared, text.as_bytes())?)
}

/// The first paths that are not given up, and the numbers of those before them that are.
fn choose<'a>(posed: &'a [Posed], runs: &RealTcpRuns) -> (Vec<&'a Posed>, Vec<u64>) {
    let (mut chosen, mut gave_way) = (Vec::new(), Vec::new());
    for path in posed {
        if chosen.len() == PATHS {
            break;
        }
        match path.is_given_up(runs) {
            true => gave_way.push(path.number),
            false => chosen.push(path),
        }
    }
    (chosen, gave_way)
}

/// `None`: real TCP cannot carry the path here, or too slowly.
fn pose(contenders: &[String], outcome: &Outcome, drawn: &Drawn, engine: &dyn Engine) -> anyhow::Result<Option<Posed>> {
    let known = &drawn.known;
    if known.rate.bps > FASTEST_BPS {
        return Ok(None);
    }
    let Usual { candidates, default } = Usual::on(known)?;
    let of_name = |name: &String| candidates.iter().find(|candidate| candidate.flows.name == *name).cloned();
    let best: Vec<Candidate> = contenders.iter().filter_map(of_name).take(CONTROLLERS).collect();
    let nothing = Measured::default();
    // In real time no run is cheap.
    let bounds = Bounds { cheap_packets: 0.0, ..BOUNDS };
    let question = Question { bounds, ..Question::usual(known, &nothing, &best, &default, &Sim) };
    let case = known.cases().into_iter().next().context("a path has a case")?;
    let steps = Stepwise::new(&question, &case, &[])?;
    // Real hosts, too: where a packet time is longer than their own delays, the phase would decide else.
    let scenarios = steps.scenarios().map(|scenario| scenario.clone().with_given_send_jitter());
    let scenarios = best.iter().map(|candidate| candidate.flows.name.clone()).zip(scenarios);
    let scenarios: Vec<(String, Scenario)> = scenarios.collect();
    let can_run = |(_, scenario): &(String, Scenario)| {
        scenario.duration <= LONGEST && engine.check(scenario, false).is_ok_and(|warnings| warnings.is_empty())
    };
    let is_posed = scenarios.len() == CONTROLLERS && scenarios.iter().all(can_run);
    Ok(is_posed.then(|| Posed { number: outcome.number, path: outcome.path.clone(), scenarios }))
}

impl Compared {
    /// The path's controllers, the ones to compare first: those that were, as a run over real TCP is too dear to follow each change of the rule.
    fn contenders(&self, outcome: &Outcome) -> Vec<String> {
        if let Some(line) = self.lines.iter().find(|line| line.number == outcome.number) {
            return line.controllers.iter().map(|both| both.controller.clone()).collect();
        }
        let mut best: Vec<_> = outcome.truth.iter().collect();
        best.sort_by(|a, b| b.goodput_mbps.total_cmp(&a.goodput_mbps));
        best.into_iter().map(|seen| seen.controller.clone()).collect()
    }
}

impl Posed {
    /// All that decides a run but its seed.
    fn key(&self, controller: &str, scenario: &Scenario) -> String {
        let Parts { duration, warmup, send_jitter, .. } = &**scenario;
        format!("{} {controller} {duration} {warmup} {send_jitter}", self.path)
    }

    /// A run of each controller.
    fn of_seed(&self, seed: u64) -> impl Iterator<Item = Missing> + '_ {
        self.scenarios.iter().map(move |(controller, scenario)| {
            let key = self.key(controller, scenario);
            let scenario = scenario.clone().with_seeds([seed]).named(&format!("path {}, {controller}", self.number));
            Missing { scenario, key, traced_flows_per_group: 0 }
        })
    }

    /// Does every seed have a run that has been made and is not to be trusted? Then there is nothing to compare.
    fn is_given_up(&self, runs: &RealTcpRuns) -> bool {
        (1..=REPETITIONS).all(|seed| self.of_seed(seed).any(|run| run.is_doubtful(runs)))
    }
}

/// Every first seed before any second.
fn missing(posed: &[&Posed], runs: &RealTcpRuns) -> Vec<Missing> {
    let wanted = (1..=REPETITIONS).flat_map(|seed| posed.iter().flat_map(move |path| path.of_seed(seed)));
    wanted.filter(|run| !runs.is_trusted(&run.key, run.seed())).collect()
}

fn line(posed: &Posed, runs: &RealTcpRuns, batch: &Batch) -> anyhow::Result<Line> {
    let mut controllers = Vec::new();
    for (controller, scenario) in &posed.scenarios {
        let seeded = scenario.clone().with_seeds(1..=SEEDS);
        let task = Task { scenario: &seeded, engine: &Sim, traces: Traces::None };
        let results = batch.run(&[task])?.seeds.swap_remove(0);
        ensure!(results.len() as u64 == SEEDS, "interrupted; the same command continues");
        let key = posed.key(controller, scenario);
        let own_mbps = |run: &RealTcpRun| (run.seed, run.goodput_mbps[0]);
        controllers.push(Both {
            controller: controller.clone(),
            simulated_mbps: results.iter().map(|result| own_mbps(&RealTcpRun::new(&key, scenario, result))).collect(),
            measured_mbps: runs.trusted(&key).map(own_mbps).collect(),
        });
    }
    Ok(Line { number: posed.number, path: posed.path.clone(), controllers })
}

/// What was written; nothing if no run has been made.
///
/// # Errors
/// If the file cannot be read.
pub fn read(compared: &Path) -> anyhow::Result<Compared> {
    if !compared.exists() {
        return Ok(Compared::default());
    }
    let text = fs::read_to_string(compared).with_context(|| format!("cannot read `{}`", compared.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}`", compared.display()))
}

/// What the two engines say of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Same,
    /// It differs where an interval holds both.
    WithinTheInterval,
    Differs,
}

impl Order {
    fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::WithinTheInterval => "within the interval",
            Self::Differs => "**differs**",
        }
    }
}

fn order(line: &Line) -> Order {
    let pairs = || {
        let all = &line.controllers;
        (0..all.len()).flat_map(move |i| (i + 1..all.len()).map(move |j| (&all[i], &all[j])))
    };
    let above =
        |of: fn(&Both) -> &BySeed| pairs().map(move |(one, other)| difference(of(one), of(other))).collect::<Vec<_>>();
    let (simulated, measured) = (above(|both| &both.simulated_mbps), above(|both| &both.measured_mbps));
    let is_sure = |estimate: &Estimate| estimate.value.abs() > estimate.half_width.unwrap_or(f64::INFINITY);
    let reversed = || simulated.iter().zip(&measured).filter(|(s, m)| s.value * m.value < 0.0);
    match (reversed().count(), reversed().all(|(s, m)| !is_sure(s) || !is_sure(m))) {
        (0, _) => Order::Same,
        (_, true) => Order::WithinTheInterval,
        (_, false) => Order::Differs,
    }
}

/// Of the seeds that both have.
fn difference(one: &BySeed, other: &BySeed) -> Estimate {
    let both = one.iter().filter_map(|(seed, mbps)| Some((*mbps, *other.get(seed)?)));
    let (one, other): (Vec<f64>, Vec<f64>) = both.unzip();
    Estimate::of_difference(&one, &other)
}

fn who_gave_way(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    match numbers.is_empty() {
        true => String::new(),
        false => {
            format!("The emulator did not keep up on paths {}; the next ones took their places.", numbers.join(", "))
        }
    }
}

/// A table of the paths, if there are any.
pub fn text(Compared { gave_way, lines }: &Compared) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let count = |wanted: Order| lines.iter().filter(|line| order(line) == wanted).count();
    let mut text = format!(
        "\n## Over real TCP\n\n\
         Three controllers on each of the first {} paths that the emulator carries (up to {} Mb/s, {} a run): those with the most goodput in\n\
         the long runs when the path was first compared. {SEEDS} simulated seeds and {REPETITIONS} real runs of each. The order is the same on {}, different within the interval on {}, and different\n\
         on {}. {}\n\n\
         | path | | simulated, Mb/s | real TCP, Mb/s | order |\n|---:|---|---:|---:|---|\n",
        lines.len(),
        FASTEST_BPS / 1_000_000,
        LONGEST.in_words(),
        count(Order::Same),
        count(Order::WithinTheInterval),
        count(Order::Differs),
        who_gave_way(gave_way)
    );
    for line in lines {
        for (place, both) in line.controllers.iter().enumerate() {
            let (number, order) = match place {
                0 => (line.number.to_string(), order(line).words()),
                _ => (String::new(), ""),
            };
            let [simulated, measured] = [&both.simulated_mbps, &both.measured_mbps]
                .map(|by_seed| Estimate::of_mean(&by_seed.values().copied().collect::<Vec<_>>()).text(2));
            let _ = writeln!(text, "| {number} | `{}` | {simulated} | {measured} | {order} |", both.controller);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use tandem_results::{Emulation, FlowResult, LinkResult, SeedResult};
    use tandem_scenario::file::{Overrides, parse};

    use super::*;
    use crate::advice::truth::Seen;

    fn both(controller: &str, simulated_mbps: &[f64], measured_mbps: &[f64]) -> Both {
        let [simulated_mbps, measured_mbps] =
            [simulated_mbps, measured_mbps].map(|mbps| (1..).zip(mbps.iter().copied()).collect());
        Both { controller: controller.into(), simulated_mbps, measured_mbps }
    }

    #[test]
    fn an_order_differs_where_both_engines_are_sure() {
        let of = |second: Both| {
            order(&Line { number: 1, path: "p".into(), controllers: vec![both("a", &[9.0, 9.1], &[9.0, 9.1]), second] })
        };
        assert_eq!(of(both("b", &[5.0, 5.1], &[6.0, 6.1])), Order::Same);
        // 9 and 9.1 against 9.2 and 9.4: 0.25 +- 12.706 0.05.
        assert_eq!(of(both("b", &[5.0, 5.1], &[9.2, 9.4])), Order::WithinTheInterval);
        assert_eq!(of(both("b", &[5.0, 5.1], &[12.0, 12.1])), Order::Differs);
    }

    /// Seed 1 of one controller was doubted: what is compared is seed 2, 4.0 less 1.0.
    #[test]
    fn only_the_same_seeds_are_compared() {
        let (one, other) = (BySeed::from([(1, 9.0), (2, 4.0)]), BySeed::from([(2, 1.0)]));
        assert_eq!(difference(&one, &other).value, 3.0);
    }

    #[test]
    fn a_path_keeps_the_controllers_that_were_compared() {
        let seen = |controller: &str, goodput_mbps: f64| Seen {
            controller: controller.into(),
            seeds: 5,
            goodput_mbps,
            goodput_half_mbps: 1.0,
            stolen: None,
            stolen_half: None,
            is_within_limits: true,
            is_steady: true,
        };
        let of_path = |number| Outcome {
            number,
            path: "p".into(),
            advised: "a".into(),
            is_steady: true,
            advice: vec![],
            truth: vec![seen("a", 1.0), seen("b", 2.0)],
        };
        let line = Line { number: 1, path: "p".into(), controllers: vec![both("c", &[9.0], &[9.0])] };
        let before = Compared { gave_way: vec![], lines: vec![line] };
        assert_eq!(
            (before.contenders(&of_path(1)), before.contenders(&of_path(2))),
            (vec!["c".into()], vec!["b".into(), "a".into()])
        );
    }

    /// Each seed of path 3 has a doubted run; seed 2 of path 4 has none, and path 5 has not been run.
    #[test]
    fn a_path_that_the_host_cannot_carry_gives_way() {
        let text = "duration = '60s'\n[dumbbell]\nrate = '1mbit'\nrtt = '10ms'\nqueue = '9p'\n\
                    [[flows]]\ncontroller = 'reno'\n";
        let scenario = parse(text, "test.toml", "test", &Overrides::default()).unwrap();
        let posed = [3, 4, 5].map(|number| Posed {
            number,
            path: format!("p{number}"),
            scenarios: ["a", "b"].map(|controller| (controller.to_owned(), scenario.clone())).into(),
        });
        let doubted = |number: u64, controller: &str, seed: u64| match number {
            3 => (controller == "a") == (seed == 1),
            _ => seed != 2,
        };
        let mut lines = String::new();
        for path in &posed[..2] {
            for (controller, seed) in ["a", "b"].into_iter().flat_map(|name| [1, 2, 3].map(|seed| (name, seed))) {
                let key = path.key(controller, &scenario);
                let mut result = SeedResult {
                    seed,
                    flows: vec![FlowResult::default()],
                    links: vec![LinkResult::default(); scenario.network.links.len()],
                    ..SeedResult::default()
                };
                let doubts = doubted(path.number, controller, seed).then(|| "late".to_owned()).into_iter().collect();
                result.emulation = Some(Emulation { doubts, ..Emulation::default() });
                lines += &(serde_json::to_string(&RealTcpRun::new(&key, &scenario, &result)).unwrap() + "\n");
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("runs.jsonl");
        fs::write(&kept, lines).unwrap();
        let (chosen, gave_way) = choose(&posed, &RealTcpRuns::open(&kept).unwrap());
        assert_eq!(gave_way, [3]);
        assert_eq!(chosen.iter().map(|path| path.number).collect::<Vec<_>>(), [4, 5]);
    }
}
