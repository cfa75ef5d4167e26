// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tandem's controllers in ns-2's TCP and here, with each recovery, where nothing is random: the recovery is all that differs.

use tandem_results::Run;
use tandem_scenario::{FlowsSpec, Recovery, Scenario};

use super::{
    Validation,
    compare::{Bound, Check},
    dumbbell::{GIGABIT, Ns2Setup},
    table::{Cell, Table},
};
use crate::reference::ns2::{self, Ns2Run};

/// The recoveries that are simulated.
const RECOVERIES: [Recovery; 2] = [Recovery::RateHalving, Recovery::Prr];

/// Group A, and group R in the other direction if the run has one.
fn scenario(row: &Ns2Run, recovery: Recovery) -> Scenario {
    let setup = Ns2Setup {
        rate_mbps: row.rate_mbps,
        rtt_ms: row.rtt_ms,
        queue_packets: row.queue_packets,
        duration_s: row.duration_s,
        warmup_s: 0,
        spread: false,
        ..GIGABIT
    };
    let groups = [(controller(row), row.flows_a), (controller(row), row.flows_r)];
    let groups = &groups[..if row.flows_r > 0 { 2 } else { 1 }];
    let mut spec = setup.spec(groups, 1);
    spec.flows.iter_mut().for_each(|flows| flows.recovery = Some(recovery));
    spec.flows.iter_mut().skip(1).for_each(|flows: &mut FlowsSpec| flows.reverse = Some(true));
    spec.check().expect("the set-ups are valid")
}

/// The modules are named t_NAME; `compound`'s judges a round by its smallest RTT.
fn controller(row: &Ns2Run) -> &str {
    match row.label.strip_prefix("t_") {
        Some("compound") => ns2::COMPOUND,
        name => name.unwrap_or(&row.label),
    }
}

/// Goodput and reductions of the first group, and of the second if there is one.
fn measures(run: &Run) -> (f64, f64, f64) {
    let back = run.groups.get(1).map_or(0.0, |group| group.goodput_mbps);
    (run.groups[0].goodput_mbps, back, run.groups[0].window_reductions)
}

/// Of goodput, without chance.
const BOUND: Bound = Bound::Relative(0.02);

fn row(row: &Ns2Run, runs: &[Run]) -> Vec<Cell> {
    let [halving, today] = [measures(&runs[0]), measures(&runs[1])];
    let mbps = |value| Cell::Number(value, 1);
    let back = |value| if row.flows_r > 0 { mbps(value) } else { Cell::Empty };
    let is_back = |check: Check| if row.flows_r > 0 { check.into() } else { Cell::Empty };
    vec![
        format!("{} Mb/s, {} ms, {} packets", row.rate_mbps, row.rtt_ms, row.queue_packets).into(),
        format!("{} {}", row.flows_a, controller(row)).into(),
        mbps(row.whole_goodput_a_mbps),
        mbps(halving.0),
        BOUND.check_values(halving.0, row.whole_goodput_a_mbps).into(),
        mbps(today.0),
        back(row.whole_goodput_r_mbps),
        back(halving.1),
        is_back(BOUND.check_values(halving.1, row.whole_goodput_r_mbps)),
        Cell::count(row.reductions_a),
        Cell::count(halving.2),
        Check::of(halving.2 == f64::from(row.reductions_a)).into(),
        Cell::count(today.2),
    ]
}

pub(super) fn part(validation: &Validation) -> anyhow::Result<Table> {
    let rows = ns2::runs(validation.reference, "recovery")?;
    let scenarios: Vec<_> = rows.iter().flat_map(|row| RECOVERIES.map(|r| scenario(row, r))).collect();
    let runs = validation.run(&scenarios)?;
    Ok(Table {
        title: "Recovery".into(),
        setup: "Tandem's controllers as modules of ns-2's TCP, and here with rate halving and with today's recovery. Nothing is \
                random: all flows start at 10 ms and have the same RTT, without random send delay. Goodput and reductions of the \
                window over the whole run, slow start included."
            .into(),
        asked: "rate halving: goodput within 2 %, as many reductions".into(),
        columns: &[
            "path",
            "flows",
            "ns-2, Mb/s",
            "rate halving, Mb/s",
            "goodput",
            "today's, Mb/s",
            "back: ns-2, Mb/s",
            "back: rate halving, Mb/s",
            "back: goodput",
            "reductions, ns-2",
            "reductions, rate halving",
            "reductions",
            "reductions, today's",
        ],
        rows: rows.iter().zip(runs.chunks(RECOVERIES.len())).map(|(of, runs)| row(of, runs)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tandem_batch::Batch;

    use super::*;

    /// `make validate` writes the whole table; here the runs of 100 Mb/s, with the bound of the page.
    #[test]
    fn rate_halving_reduces_as_often_as_ns2_and_sends_as_much() {
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/reference");
        let validation = Validation { reference: &reference, seeds: 1, batch: Batch::default() };
        let mut rows = ns2::runs(&reference, "recovery").expect("the results are in the repository");
        rows.retain(|row| row.rate_mbps == 100.0);
        assert_eq!(rows.len(), 5);
        let scenarios: Vec<_> = rows.iter().map(|row| scenario(row, Recovery::RateHalving)).collect();
        for (row, run) in rows.iter().zip(validation.run(&scenarios).expect("nothing fails")) {
            let (goodput_mbps, _, reductions) = measures(&run);
            let off = goodput_mbps / row.whole_goodput_a_mbps - 1.0;
            assert!(off.abs() <= 0.02, "{}: {goodput_mbps} here, {} in ns-2", row.label, row.whole_goodput_a_mbps);
            assert_eq!(reductions, f64::from(row.reductions_a), "{}", row.label);
        }
    }
}
