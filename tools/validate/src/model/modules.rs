// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model beside ns-2 with the module that S2 used, not paced (`la30np`), and with the first module (`compound`); `_100g`: behind
//! access links of 100 Gb/s in place of 10; `_band`: where those of 10 decide.

use std::path::Path;

use tandem_model::{Arithmetic, Law, Prediction, followed, published, published_oscillation};
use tandem_scenario::units::Rate;

use super::paper::path;
use crate::{
    compare::{Bound, Check},
    reference::ns2::{self, Ns2Run},
    table::{Cell, Table},
};

/// Between these rates it is a matter of packets whether the oscillation fits, and the modules differ: nothing is asked there.
const BORDER_MBPS: std::ops::RangeInclusive<f64> = 250.0..=400.0;
const IN_CASES_4_TO_6: f64 = 0.02;
const IN_CASES_1_TO_3: f64 = 0.05;
const BACKLOG_SHARE: f64 = 0.10;
const BACKLOG_PACKETS: f64 = 3.0;

/// One rate, by model and module.
pub struct Point {
    pub rate_mbps: f64,
    pub model: Prediction,
    pub fluid: Prediction,
    pub utilisation: f64,
    pub backlog_packets: f64,
    /// The commonest cycle in ns-2, if there were any.
    pub cycle: Option<String>,
}

/// Another border, between 3:1 and 5:2 or 4:2: no cycle is asked for there.
const CYCLE_BORDER_MBPS: std::ops::RangeInclusive<f64> = 131.0..=138.0;

impl Point {
    pub fn is_asked(&self) -> bool {
        !BORDER_MBPS.contains(&self.rate_mbps)
    }

    /// Whether ns-2's commonest cycle is the model's.
    pub fn cycle_check(&self) -> Check {
        match &self.cycle {
            Some(cycle) if !CYCLE_BORDER_MBPS.contains(&self.rate_mbps) => {
                let own = self.model.oscillation.as_ref().and_then(|o| o.split('+').next());
                Check::of(self.model.case < 4 || own == Some(cycle)).asked_if(self.is_asked())
            }
            _ => Check::NOT_ASKED,
        }
    }

    pub fn throughput(&self) -> Check {
        let bound = if self.model.case >= 4 { IN_CASES_4_TO_6 } else { IN_CASES_1_TO_3 };
        Bound::Relative(bound).check_values(self.model.utilisation, self.utilisation).asked_if(self.is_asked())
    }

    pub fn backlog(&self) -> Check {
        let bound = Bound::RelativeOr(BACKLOG_SHARE, BACKLOG_PACKETS);
        bound.check_values(self.model.backlog_packets, self.backlog_packets).asked_if(self.is_asked())
    }

    fn row(&self) -> Vec<Cell> {
        let cycle = |name: Option<&str>| name.map_or(Cell::Empty, Cell::from);
        let (share, packets) = (|value| Cell::Number(value, 4), |value| Cell::Number(value, 1));
        vec![
            Cell::count(self.rate_mbps),
            Cell::count(self.model.case),
            cycle(self.model.oscillation.as_deref()),
            cycle(self.cycle.as_deref()),
            self.cycle_check().into(),
            share(self.model.utilisation),
            share(self.utilisation),
            self.throughput().into(),
            packets(self.model.backlog_packets),
            packets(self.backlog_packets),
            self.backlog().into(),
            Cell::count(self.fluid.case),
            share(self.fluid.utilisation),
            packets(self.fluid.backlog_packets),
        ]
    }
}

pub fn points(reference: &Path, label: &str, arithmetic: Arithmetic, access_gbps: u64) -> anyhow::Result<Vec<Point>> {
    let mut rows = ns2::runs(reference, "blanc")?;
    rows.retain(|r| r.label == label);
    let cycles = ns2::cycles(reference)?;
    let rate = |r: &Ns2Run| r.rate_mbps;
    let law = Law::default();
    // A queue of 100 packets in ns-2 refuses the hundredth.
    let held = |path: tandem_model::Path| tandem_model::Path {
        buffer_packets: path.buffer_packets - 1.0,
        access_rate: Some(Rate { bps: access_gbps * 1_000_000_000 }),
        ..path
    };
    let point = |&rate_mbps: &f64| {
        let of = |value: fn(&Ns2Run) -> f64| ns2::column(&rows, label, rate, rate_mbps, value)[0];
        let path = held(path(rate_mbps));
        Ok(Point {
            rate_mbps,
            model: followed(&path, &law, arithmetic)?,
            fluid: published(&path, &law, published_oscillation(&path, &law, arithmetic)?.as_ref()),
            utilisation: of(|r| r.utilisation),
            backlog_packets: of(|r| r.queue_mean_packets),
            cycle: cycles
                .iter()
                .find(|row| row.label == label && row.rate_mbps == rate_mbps)
                .and_then(ns2::Ns2Cycles::commonest),
        })
    };
    ns2::points(&rows, rate).iter().map(point).collect()
}

/// Each module's runs, with its arithmetic and the rate of its access links.
const RUNS: [(&str, Arithmetic, u64, &str); 5] = [
    ("la30np", Arithmetic::Linux13, 10, "release 1.3, as S2 used it"),
    ("la30np_band", Arithmetic::Linux13, 10, "release 1.3 where the access link decides"),
    ("la30np_100g", Arithmetic::Linux13, 100, "release 1.3 behind access links of 100 Gb/s"),
    ("compound", Arithmetic::Linux2006, 10, "the first module"),
    ("compound_100g", Arithmetic::Linux2006, 100, "the first module behind access links of 100 Gb/s"),
];

pub fn tables(reference: &Path) -> anyhow::Result<Vec<Table>> {
    let table = |&(label, arithmetic, access_gbps, what): &(&str, Arithmetic, u64, &str)| {
        Ok(Table {
            title: format!("ns-2 with `{label}`: {what}"),
            setup: format!(
                "50 ms, 100 packets, 320 s. The model has a buffer of 99 packets, which is what ns-2's queue of 100 holds, and access \
                 links of {access_gbps} Gb/s, as ns-2 has. Nothing is asked from 250 to 400 Mb/s, where the border lies."
            ),
            asked: "utilisation within 2 % in cases 4 to 6 and 5 % in cases 1 to 3, mean queue within 10 % or 3 packets, cycle".into(),
            columns: &[
                "rate, Mb/s",
                "case",
                "cycle, model",
                "cycle, ns-2",
                "cycle",
                "utilisation, model",
                "utilisation, ns-2",
                "utilisation",
                "queue, model, packets",
                "queue, ns-2, packets",
                "queue",
                "case, S2's model",
                "utilisation, S2's model",
                "queue, S2's model, packets",
            ],
            rows: points(reference, label, arithmetic, access_gbps)?.iter().map(Point::row).collect(),
        })
    };
    RUNS.iter().map(table).collect()
}
