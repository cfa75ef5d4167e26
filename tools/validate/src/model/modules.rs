// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model beside ns-2 with the module that S2 used, not paced (`la30np`), and with the first module (`compound`); `_100g`: behind
//! access links of 100 Gb/s in place of 10; `_band`: where those of 10 decide.

use std::{fmt::Write, path::Path};

use tandem_model::{Arithmetic, Law, Prediction, followed, published, published_oscillation};
use tandem_papers::Verdict;
use tandem_scenario::units::Rate;

use super::{super::compare, paper::path};
use crate::reference::ns2::{self, Ns2Run};

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
    pub fn cycle_verdict(&self) -> Verdict {
        match &self.cycle {
            Some(cycle) if self.is_asked() && !CYCLE_BORDER_MBPS.contains(&self.rate_mbps) => {
                let own = self.model.oscillation.as_ref().and_then(|o| o.split('+').next());
                compare::verdict(self.model.case < 4 || own == Some(cycle))
            }
            _ => Verdict::NotAsked,
        }
    }

    fn verdict(&self, agrees: bool) -> Verdict {
        if self.is_asked() { compare::verdict(agrees) } else { Verdict::NotAsked }
    }

    pub fn throughput_agrees(&self) -> bool {
        let bound = if self.model.case >= 4 { IN_CASES_4_TO_6 } else { IN_CASES_1_TO_3 };
        (self.model.utilisation / self.utilisation - 1.0).abs() <= bound
    }

    pub fn backlog_agrees(&self) -> bool {
        let difference = (self.model.backlog_packets - self.backlog_packets).abs();
        difference <= BACKLOG_PACKETS.max(BACKLOG_SHARE * self.backlog_packets)
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

pub fn page(reference: &Path) -> anyhow::Result<String> {
    let mut text = String::from(
        "\n## ns-2 with the modules (50 ms, 100 packets, 320 s)\n\n\
         Asked, but for 250 to 400 Mb/s, where the border lies: utilisation within 2 % in cases 4 to 6 and 5 % in cases 1 to 3; mean queue \
         within 10 % or 3 packets. The model has a buffer of 99 packets, which is what ns-2's queue of 100 holds, and ns-2's access link: 10 Gb/s but in the tables `_100g`. The last columns are S2's own model.\n",
    );
    for (label, arithmetic, access_gbps, what) in [
        ("la30np", Arithmetic::Linux13, 10, "release 1.3, as S2 used it"),
        ("la30np_band", Arithmetic::Linux13, 10, "release 1.3 where the access link decides"),
        ("la30np_100g", Arithmetic::Linux13, 100, "release 1.3 behind access links of 100 Gb/s"),
        ("compound", Arithmetic::Linux2006, 10, "the first module"),
        ("compound_100g", Arithmetic::Linux2006, 100, "the first module behind access links of 100 Gb/s"),
    ] {
        let points = points(reference, label, arithmetic, access_gbps)?;
        let tally = |of: fn(&Point) -> bool| compare::tally(points.iter().map(|p| p.verdict(of(p))));
        write!(
            text,
            "\n### `{label}`: {what}\n\nUtilisation: {} agree. Mean queue: {}. Cycle: {}.\n\n\
             | Mb/s | case | oscillation | ns-2 | model | ns-2 | difference | agrees | queue, model | ns-2 | agrees | S2's model: case | util | queue |\n\
             |---:|---:|---|---|---:|---:|---:|---|---:|---:|---|---:|---:|---:|\n",
            tally(Point::throughput_agrees),
            tally(Point::backlog_agrees),
            match points.iter().all(|p| p.cycle_verdict() == Verdict::NotAsked) {
                true => "not counted".to_owned(),
                false => compare::tally(points.iter().map(Point::cycle_verdict)),
            },
        )?;
        for p in &points {
            let cell = |agrees: bool| compare::cell(p.verdict(agrees));
            writeln!(
                text,
                "| {} | {} | {} | {} | {:.4} | {:.4} | {:+.1} % | {} | {:.1} | {:.1} | {} | {} | {:.4} | {:.1} |",
                p.rate_mbps,
                p.model.case,
                p.model.oscillation.as_deref().unwrap_or("none"),
                p.cycle.as_deref().unwrap_or("-"),
                p.model.utilisation,
                p.utilisation,
                100.0 * (p.model.utilisation / p.utilisation - 1.0),
                cell(p.throughput_agrees()),
                p.model.backlog_packets,
                p.backlog_packets,
                cell(p.backlog_agrees()),
                p.fluid.case,
                p.fluid.utilisation,
                p.fluid.backlog_packets,
            )?;
        }
    }
    Ok(text)
}
