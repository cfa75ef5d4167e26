// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue management beside ns-3's: Reno flows through the disciplines of experiments/reference/ns3/queues.csv.

use anyhow::{Context, ensure};
use tandem_batch::{Task, Traces};
use tandem_results::SeedResult;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};
use tandem_sim::Sim;
use tandem_statistics::Estimate;

use super::{
    Validation,
    compare::Bound,
    table::{Cell, Table},
};
use crate::reference::ns3::{self, QueueRun};

const GOODPUT: Bound = Bound::Relative(0.05);
const OTHERS: Bound = Bound::Relative(0.10);

/// Of the bottleneck. queues.cc has the same.
const RATE_MBPS: f64 = 20.0;
const SECONDS: u32 = 50;
const WARMUP_S: u32 = 10;

/// The runs of one discipline, which differ in their seeds.
struct Case<'a>(Vec<&'a QueueRun>);

impl<'a> Case<'a> {
    fn all(rows: &'a [QueueRun]) -> Vec<Self> {
        let same = |a: &&QueueRun, b: &&QueueRun| (&a.queue, a.ecn, a.flows) == (&b.queue, b.ecn, b.flows);
        let rows: Vec<&QueueRun> = rows.iter().collect();
        rows.chunk_by(same).map(|runs| Self(runs.to_vec())).collect()
    }

    fn estimate(&self, of: fn(&QueueRun) -> f64) -> Estimate {
        Estimate::of_mean(&self.0.iter().map(|run| of(run)).collect::<Vec<_>>())
    }

    fn scenario(&self, seeds: u64) -> anyhow::Result<Scenario> {
        let QueueRun { queue, ecn, flows, .. } = self.0[0];
        let ecn = *ecn == 1;
        let flow_ecn = if ecn { "rfc3168" } else { "off" };
        let settings = match queue.as_str() {
            "red" => ", min = 30, max = 90, max_p = 0.1, weight = 0.002",
            "pie" => ", target = \"15ms\", update = \"15ms\", max_burst = \"150ms\", derandomise = false",
            _ => ", target = \"5ms\", interval = \"100ms\"",
        };
        let text = format!(
            "duration = \"{}s\"\nwarmup = \"{WARMUP_S}s\"\nseeds = {seeds}\n[dumbbell]\nrate = \"{RATE_MBPS}mbit\"\nrtt = \"50ms\"\n\
             queue = \"1000p\"\naqm = {{ kind = \"{queue}\"{settings}, ecn = {ecn} }}\n\
             [[flows]]\ncontroller = \"reno\"\ncount = {flows}\necn = \"{flow_ecn}\"\nstart_spread = \"1s\"\nrtt_spread = \"1ms\"\n",
            WARMUP_S + SECONDS
        );
        parse(&text, "a queue of ns-3", "queue", &Overrides::default()).context("ns-3's set-up as a scenario")
    }
}

/// What ns-3 tells, too, of each seed.
struct Measured {
    goodput_mbps: Estimate,
    wait_ms: Estimate,
    /// Shares of the packets that arrived.
    dropped: Estimate,
    marked: Estimate,
}

impl Measured {
    fn simulated(seeds: &[SeedResult]) -> Self {
        let of = |value: fn(&SeedResult) -> f64| Estimate::of_mean(&seeds.iter().map(value).collect::<Vec<_>>());
        Self {
            goodput_mbps: of(|seed| seed.flows.iter().map(|flow| flow.goodput_mbps).sum()),
            // Little's law: the mean wait is the mean queue over the rate of arrivals that were not dropped.
            wait_ms: of(|SeedResult { links, .. }| {
                links[0].queue_packets.mean * 1e3 * f64::from(SECONDS)
                    / (links[0].offered_packets - links[0].drops) as f64
            }),
            dropped: of(|SeedResult { links, .. }| links[0].drops as f64 / links[0].offered_packets as f64),
            marked: of(|SeedResult { links, .. }| links[0].marks as f64 / links[0].offered_packets as f64),
        }
    }

    fn reference(case: &Case) -> Self {
        Self {
            goodput_mbps: case.estimate(|run| run.goodput_mbps),
            wait_ms: case.estimate(|run| run.wait_ms),
            dropped: case.estimate(|run| run.drop_rate),
            marked: case.estimate(|run| run.mark_rate),
        }
    }
}

/// One case beside ns-3's.
fn row(case: &Case, seeds: &[SeedResult]) -> Vec<Cell> {
    let (ours, theirs) = (Measured::simulated(seeds), Measured::reference(case));
    let QueueRun { queue, ecn, flows, .. } = case.0[0];
    // With ECN next to nothing is dropped.
    let chosen = |m: &Measured| if *ecn == 1 { m.marked } else { m.dropped } * 100.0;
    let cells = |bound: Bound, here: Estimate, there: Estimate, decimals: usize| {
        [Cell::Estimate(here, decimals), Cell::Estimate(there, decimals), bound.check(&here, &there).into()]
    };
    let does = if *ecn == 1 { "marks" } else { "drops" };
    let mut row: Vec<Cell> = vec![queue.as_str().into(), does.into(), Cell::count(*flows)];
    row.extend(cells(GOODPUT, ours.goodput_mbps, theirs.goodput_mbps, 2));
    row.extend(cells(OTHERS, ours.wait_ms, theirs.wait_ms, 2));
    row.extend(cells(OTHERS, chosen(&ours), chosen(&theirs), 4));
    row
}

pub(super) fn part(validation: &Validation) -> anyhow::Result<Table> {
    let rows = ns3::queue_runs(validation.reference)?;
    let cases = Case::all(&rows);
    let scenarios = cases.iter().map(|c| c.scenario(validation.seeds)).collect::<anyhow::Result<Vec<_>>>()?;
    let task = |scenario| Task { scenario, engine: &Sim, traces: Traces::None };
    let outcome = validation.batch.run(&scenarios.iter().map(task).collect::<Vec<_>>())?;
    ensure!(!outcome.interrupted, "interrupted; the same command continues");
    Ok(Table {
        title: "Queue management (ns-3)".into(),
        setup: format!(
            "Reno flows through a link of {RATE_MBPS} Mb/s with RTTs of 50 to 51 ms and a limit of 1000 packets, beside ns-3 3.37; \
             {SECONDS} s a seed after {WARMUP_S} s. \"Chosen\" is the share of arriving packets that the queue drops, or marks."
        ),
        asked: "goodput within 5 %, mean wait and share chosen within 10 %".into(),
        columns: &[
            "queue",
            "it",
            "flows",
            "goodput, Tandem, Mb/s",
            "goodput, ns-3, Mb/s",
            "goodput",
            "wait, Tandem, ms",
            "wait, ns-3, ms",
            "wait",
            "chosen, Tandem, %",
            "chosen, ns-3, %",
            "chosen",
        ],
        rows: cases.iter().zip(&outcome.seeds).map(|(case, seeds)| row(case, seeds)).collect(),
    })
}
