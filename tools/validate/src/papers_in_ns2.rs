// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of the papers that have been run in ns-2, in the simulator beside it.

use anyhow::Context;
use tandem_results::Run;
use tandem_scenario::Scenario;
use tandem_statistics::{Estimate, Neighbours, stolen};

use super::{
    Validation,
    compare::Bound,
    dumbbell::{GIGABIT, Ns2Setup},
    table::{Cell, Table},
};
use crate::reference::ns2::{self, Ns2Run};

/// What a row compares, and the columns of [`ns2_table`].
struct Comparison {
    point: f64,
    controller: &'static str,
    ours: Estimate,
    reference: Estimate,
}

/// A table of comparisons with ns-2, all of one quantity.
fn ns2_table(
    title: &str,
    setup: &str,
    asked: &str,
    columns: &'static [&'static str; 5],
    bound: Bound,
    comparisons: &[Comparison],
) -> Table {
    let row = |of: &Comparison| {
        let estimate = |estimate| Cell::Estimate(estimate, 2);
        let check = bound.check(&of.ours, &of.reference);
        // The shortest form that is the number: 1e-6, 300.
        let point = if of.point < 0.1 { format!("{:e}", of.point) } else { of.point.to_string() };
        vec![point.into(), of.controller.into(), estimate(of.ours), estimate(of.reference), check.into()]
    };
    Table {
        title: title.into(),
        setup: setup.into(),
        asked: asked.into(),
        columns,
        rows: comparisons.iter().map(row).collect(),
    }
}

/// Goodput of four flows of one kind against the loss rate.
pub(super) fn figure3(validation: &Validation) -> anyhow::Result<Table> {
    let rows = ns2::runs(validation.reference, "fig3")?;
    let mut cases = Vec::new();
    for loss in ns2::points(&rows, |r| r.loss) {
        for controller in ["reno", ns2::COMPOUND, ns2::COMPOUND_TUBE] {
            cases.push((loss, controller, Ns2Setup { loss, ..GIGABIT }.scenario(&[(controller, 4)], validation.seeds)));
        }
    }
    let scenarios: Vec<_> = cases.iter().map(|c| c.2.clone()).collect();
    let comparisons: Vec<Comparison> = validation
        .run(&scenarios)?
        .iter()
        .zip(&cases)
        .map(|(run, &(loss, controller, _))| Comparison {
            point: loss,
            controller,
            ours: Estimate::of_mean(&run.groups[0].goodput_by_seed_mbps),
            reference: Estimate::of_mean(&ns2::column(
                &rows,
                ns2::label(controller),
                |r| r.loss,
                loss,
                |r| r.goodput_a_mbps,
            )),
        })
        .collect();
    Ok(ns2_table(
        "Goodput of four flows against random loss (S0 Figure 3, S1 Figure 7)",
        "1 Gb/s, 100 ms, 1500 packets, 150 s of which 30 s warm-up.",
        "goodput within 5 %",
        &["loss rate", "controller", "Tandem, Mb/s", "ns-2, Mb/s", "goodput"],
        Bound::Relative(0.05),
        &comparisons,
    ))
}

/// Of bandwidth stolen: ours, for no paper states one.
const STOLEN_BOUND: f64 = 0.1;

/// Bandwidth stolen from four Reno flows by four others: the experiment, what it varies and how a point is set up.
struct Stolen {
    experiment: &'static str,
    title: &'static str,
    setup_text: &'static str,
    columns: &'static [&'static str; 5],
    axis: ns2::Axis,
    setup: fn(f64) -> Ns2Setup,
}

impl Stolen {
    fn table(&self, validation: &Validation) -> anyhow::Result<Table> {
        let comparisons = self.comparisons(validation)?;
        let setup = format!(
            "{} Bandwidth stolen is (P - Q) / P, with P and Q of the same four flows and seed; 0 is friendly.",
            self.setup_text
        );
        let asked = format!("bandwidth stolen within {STOLEN_BOUND}");
        Ok(ns2_table(self.title, &setup, &asked, self.columns, Bound::Absolute(STOLEN_BOUND), &comparisons))
    }

    fn comparisons(&self, validation: &Validation) -> anyhow::Result<Vec<Comparison>> {
        let rows = ns2::runs(validation.reference, self.experiment)?;
        let points = ns2::points(&rows, self.axis);
        const HEADS: [&str; 3] = ["reno", ns2::COMPOUND, ns2::COMPOUND_TUBE];
        let scenarios: Vec<_> = points
            .iter()
            .flat_map(|&p| HEADS.map(|head| (self.setup)(p).scenario(&[(head, 4), ("reno", 4)], validation.seeds)))
            .collect();
        let runs = validation.run(&scenarios)?;
        let mut comparisons = Vec::new();
        for (runs, &point) in runs.chunks(HEADS.len()).zip(&points) {
            let (baseline, others) = runs.split_first().expect("three runs a point");
            for (run, head) in others.iter().zip(&HEADS[1..]) {
                // ns-2's rows have the sum of the four flows on each side, which stands for one.
                let goodputs = |run: &Run, group: usize| run.groups[group].goodput_by_seed_mbps.clone();
                let ours = stolen_by_sums(&goodputs(run, 1), &goodputs(baseline, 1), &goodputs(baseline, 0));
                let own = ns2::column(&rows, "reno", self.axis, point, |r| r.goodput_b_mbps);
                let peers = ns2::column(&rows, "reno", self.axis, point, |r| r.goodput_a_mbps);
                let beside = ns2::column(&rows, ns2::label(head), self.axis, point, |r| r.goodput_b_mbps);
                comparisons.push(Comparison {
                    point,
                    controller: head,
                    ours: ours.context("a run without a baseline")?,
                    reference: stolen_by_sums(&beside, &own, &peers).context("ns-2 runs without a baseline")?,
                });
            }
        }
        Ok(comparisons)
    }
}

/// From sums by seed: of the neighbours beside others, of the same in the reference, and there of as many others.
fn stolen_by_sums(beside: &[f64], reference: &[f64], peers: &[f64]) -> Option<Estimate> {
    let seeds = beside.iter().zip(reference.iter().zip(peers));
    let of_seed = |(q, (p, peers)): (&f64, (&f64, &f64))| Neighbours {
        beside: vec![*q],
        reference: vec![*p],
        peers: vec![*peers],
    };
    stolen(&seeds.map(of_seed).collect::<Vec<_>>())
}

pub(super) fn figure4(validation: &Validation) -> anyhow::Result<Table> {
    let stolen = Stolen {
        experiment: "fig4",
        title: "Bandwidth stolen against random loss (S0 Figure 4)",
        setup_text: "Four flows against four Reno flows on the path of Figure 3.",
        columns: &["loss rate", "controller", "Tandem, stolen", "ns-2, stolen", "bandwidth stolen"],
        axis: |r| r.loss,
        setup: |loss| Ns2Setup { loss, ..GIGABIT },
    };
    stolen.table(validation)
}

pub(super) fn figure5(validation: &Validation) -> anyhow::Result<Table> {
    let setup = |rate_mbps: f64| Ns2Setup {
        rate_mbps,
        queue_packets: (rate_mbps * 0.1 * 1e6 / 12000.0).round() as u32,
        duration_s: 300,
        warmup_s: 60,
        send_jitter: true,
        ..GIGABIT
    };
    let stolen = Stolen {
        experiment: "fig5r",
        title: "Bandwidth stolen against the rate (S0 Figure 5)",
        setup_text: "100 ms, buffer of one BDP, 300 s of which 60 s warm-up, random send delay up to one packet time.",
        columns: &["rate, Mb/s", "controller", "Tandem, stolen", "ns-2, stolen", "bandwidth stolen"],
        axis: |r| r.rate_mbps,
        setup,
    };
    stolen.table(validation)
}

pub(super) fn figure6(validation: &Validation) -> anyhow::Result<Table> {
    let stolen = Stolen {
        experiment: "fig6r",
        title: "Bandwidth stolen against the buffer (S0 Figure 6)",
        setup_text: "1 Gb/s, 100 ms, random send delay up to one packet time.",
        columns: &["buffer, packets", "controller", "Tandem, stolen", "ns-2, stolen", "bandwidth stolen"],
        axis: |r| f64::from(r.queue_packets),
        setup: |packets| Ns2Setup { queue_packets: packets as u32, send_jitter: true, ..GIGABIT },
    };
    stolen.table(validation)
}

/// One Compound flow on S2's path: 50 ms, 100 packets.
fn isolated_flow(rate_mbps: f64) -> Scenario {
    let setup =
        Ns2Setup { rate_mbps, rtt_ms: 50, queue_packets: 100, duration_s: 320, warmup_s: 20, spread: false, ..GIGABIT };
    setup.scenario(&[(ns2::COMPOUND, 1)], 1)
}

/// Rates where the border between the cases lies, which differs from module to module: nothing is asked there.
const BORDER_MBPS: std::ops::RangeInclusive<f64> = 250.0..=400.0;

/// Utilisation by one Compound flow against the rate: no chance, one run a point.
pub(super) fn figure8(validation: &Validation) -> anyhow::Result<Table> {
    let mut rows = ns2::runs(validation.reference, "blanc")?;
    // The other modules were run at other rates, too.
    rows.retain(|row| ["la30", "la30np"].contains(&row.label.as_str()));
    let rates = ns2::points(&rows, |r| r.rate_mbps);
    let scenarios: Vec<_> = rates.iter().map(|&r| isolated_flow(r)).collect();
    let row = |(run, &rate): (&Run, &f64)| {
        let of = |label, value: fn(&Ns2Run) -> f64| ns2::column(&rows, label, |r| r.rate_mbps, rate, value)[0];
        let link = &run.links[0];
        let there = of("la30", |r| r.utilisation);
        let check = Bound::Relative(0.03).check_values(link.utilisation, there);
        let (share, packets) = (|value| Cell::Number(value, 4), |value| Cell::Number(value, 1));
        vec![
            Cell::count(rate),
            share(link.utilisation),
            share(there),
            check.asked_if(!BORDER_MBPS.contains(&rate)).into(),
            share(of("la30np", |r| r.utilisation)),
            packets(link.queue_packets.mean),
            packets(of("la30", |r| r.queue_mean_packets)),
            packets(of("la30np", |r| r.queue_mean_packets)),
        ]
    };
    Ok(Table {
        title: "Utilisation by one Compound flow (S2 Figures 8 and 9)".into(),
        setup: "50 ms, 100 packets, 320 s of which 20 s warm-up, no random element, one run a point. `la30` spreads the growth of \
                the delay window over half a round, `la30np` is the module as S2 used it. Nothing is asked from 250 to 400 Mb/s, \
                where the border between the cases lies and differs from module to module."
            .into(),
        asked: "utilisation within 3 % of `la30`".into(),
        columns: &[
            "rate, Mb/s",
            "utilisation, Tandem",
            "utilisation, la30",
            "utilisation",
            "utilisation, la30np",
            "queue, Tandem, packets",
            "queue, la30, packets",
            "queue, la30np, packets",
        ],
        rows: validation.run(&scenarios)?.iter().zip(&rates).map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tandem_batch::Batch;

    use super::*;

    /// Two points of S2's sweep, one on either side of its transitions; `make validate` does them all.
    #[test]
    fn an_isolated_flow_uses_as_much_of_the_link_as_in_ns2() {
        let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/reference");
        let validation = Validation { reference: &reference, seeds: 1, batch: Batch::default() };
        let rows = ns2::runs(&reference, "blanc").expect("the results are in the repository");
        for rate in [100.0, 500.0] {
            let run = &validation.run(&[isolated_flow(rate)]).expect("nothing fails")[0];
            let there = ns2::column(&rows, "la30", |r| r.rate_mbps, rate, |r| r.utilisation)[0];
            let here = run.links[0].utilisation;
            assert!((here / there - 1.0).abs() <= 0.03, "{rate} Mb/s: {here} here, {there} in ns-2");
        }
    }
}
