// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/sim-vs-quic.md: the simulator's TCP beside a real QUIC stack in virtual time, on the paths of docs/sim-vs-kernel.md.

use std::fmt::Write;

use anyhow::ensure;
use tandem_batch::{Task, Traces};
use tandem_engine::Engine;
use tandem_papers::bottleneck;
use tandem_results::{FlowResult, SeedResult};
use tandem_scenario::Scenario;
use tandem_sim::Sim;
use tandem_statistics::{Estimate, mean};

use super::{
    Validation,
    compare::{Bound, Pair, table_head, tally},
    setups::{GOODPUT_BOUND, SETUPS, Setup},
};

const INTRODUCTION: &str = include_str!("introduction.md");
const REASONS: &str = include_str!("reasons.md");

/// The same seeds in both engines.
const SEEDS: u64 = 5;

const CONTROLLERS: [&str; 5] = ["reno", "cubic", "compound", "compound_tube", "bbr"];

/// How docs/sim-vs-quic.md is made.
pub struct QuicValidation<'a> {
    /// Runs the scenario's controllers in QUIC.
    pub engine: &'a dyn Engine,
    /// Names and engines of the QUIC stack's own congestion control.
    pub own: &'a [(&'static str, &'a dyn Engine)],
}

/// The same flows in both engines, all seeds.
struct Compared {
    name: &'static str,
    /// None for the stack's own congestion control.
    simulated: Vec<SeedResult>,
    measured: Vec<SeedResult>,
    bottleneck: usize,
}

/// Simulates with both engines, and returns docs/sim-vs-quic.md.
pub fn quic_page(validation: &Validation, how: &QuicValidation) -> anyhow::Result<String> {
    // The last set-up is the first path again, with other controllers.
    let paths = &SETUPS[..SETUPS.len() - 1];
    let compared: Vec<(&Setup, Vec<Compared>)> =
        paths.iter().map(|setup| Ok((setup, compare(setup, validation, how)?))).collect::<anyhow::Result<_>>()?;
    let mut page = INTRODUCTION.replace("SEEDS", &SEEDS.to_string()) + &summary(&compared);
    for (setup, lines) in &compared {
        page += &part(setup, lines);
    }
    Ok(page + REASONS)
}

fn compare(setup: &Setup, validation: &Validation, how: &QuicValidation) -> anyhow::Result<Vec<Compared>> {
    let flows = setup.flows[0].len();
    let scenario = |controller| setup.simulated(&vec![controller; flows], SEEDS);
    let ours: Vec<Scenario> = CONTROLLERS.map(scenario).into();
    let cubic = scenario("cubic");
    let task = |scenario, engine| Task { scenario, engine, traces: Traces::None };
    let mut tasks: Vec<Task> = ours.iter().map(|scenario| task(scenario, &Sim as &dyn Engine)).collect();
    tasks.extend(ours.iter().map(|scenario| task(scenario, how.engine)));
    tasks.extend(how.own.iter().map(|&(_, engine)| task(&cubic, engine)));
    let outcome = validation.batch.run(&tasks)?;
    ensure!(!outcome.interrupted, "interrupted; the same command goes on");
    let mut results = outcome.seeds.into_iter();
    let simulated: Vec<_> =
        results.by_ref().take(CONTROLLERS.len()).chain(how.own.iter().map(|_| Vec::new())).collect();
    let names = CONTROLLERS.into_iter().chain(how.own.iter().map(|&(name, _)| name));
    let bottleneck = bottleneck(&cubic).unwrap_or_default();
    let line = |((name, simulated), measured)| Compared { name, simulated, measured, bottleneck };
    Ok(names.zip(simulated).zip(results).map(line).collect())
}

impl Compared {
    fn pair(&self, bound: Bound, of: impl Fn(&SeedResult) -> f64) -> Pair {
        let estimate = |results: &[SeedResult]| Estimate::of_mean(&results.iter().map(&of).collect::<Vec<_>>());
        let simulated = estimate(&self.simulated);
        Pair { same_seeds: simulated, simulated, measured: estimate(&self.measured), bound }
    }

    /// Of all flows together.
    fn goodput(&self) -> Pair {
        self.pair(GOODPUT_BOUND, |result| result.flows.iter().map(|flow| flow.goodput_mbps).sum())
    }

    fn queue(&self, setup: &Setup) -> Pair {
        self.pair(setup.queue_bound, |result| result.links[self.bottleneck].queue_packets.mean)
    }

    /// Means of a count, simulated (if it was) and over QUIC.
    fn counts(&self, of: fn(&FlowResult) -> u64) -> String {
        let count = |result: &SeedResult| result.flows.iter().map(of).sum::<u64>() as f64;
        let mean_of = |results: &[SeedResult]| mean(&results.iter().map(count).collect::<Vec<_>>());
        match self.simulated.is_empty() {
            true => format!("{:.0}", mean_of(&self.measured)),
            false => format!("{:.0}, {:.0}", mean_of(&self.simulated), mean_of(&self.measured)),
        }
    }

    fn cells(&self, pair: &Pair) -> String {
        match self.simulated.is_empty() {
            true => format!("| {} | |", pair.measured.text(1)),
            false => pair.cells(),
        }
    }
}

fn summary(compared: &[(&Setup, Vec<Compared>)]) -> String {
    let mut text = String::from("\n| | goodput within 5 % | mean queue within its bound |\n|---|---|---|\n");
    for (setup, lines) in compared {
        let ours = || lines.iter().filter(|line| !line.simulated.is_empty());
        let (goodputs, queues) = (ours().map(|c| c.goodput().verdict()), ours().map(|c| c.queue(setup).verdict()));
        writeln!(text, "| {} | {} | {} |", setup.title, tally(goodputs), tally(queues)).expect("writing to a String");
    }
    text
}

/// A set-up's part of the page.
fn part(setup: &Setup, lines: &[Compared]) -> String {
    let mut text = setup.heading() + &table_head("QUIC");
    for line in lines {
        let counts =
            [line.counts(|f| f.retransmits), line.counts(|f| f.window_reductions), line.counts(|f| f.timeouts)];
        let (goodput, queue) = (line.cells(&line.goodput()), line.cells(&line.queue(setup)));
        writeln!(text, "| {} | {goodput} | {queue} | {} |", line.name, counts.join(" | "))
            .expect("writing to a String");
    }
    text
}
