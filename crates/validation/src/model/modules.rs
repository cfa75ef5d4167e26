// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model beside ns-2 with the module that S2 used, not paced (`la30np`), and with the first module (`compound`); `_100g`: behind
//! access links of 100 Gb/s in place of 10; `_band`: where those of 10 decide.

use std::{fmt::Write, path::Path};

use tandem_model::{Arithmetic, Law, Prediction, followed, published, published_oscillation};
use tandem_scenario::units::Rate;

use super::paper::path;
use crate::ns2::{self, Row};

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

/// One module at one rate, in blanc_cycles.csv.
#[derive(serde::Deserialize)]
struct CycleRow {
    r#type: String,
    mu: f64,
    /// `3:1=840;2:1=3`.
    patterns: String,
}

fn commonest_cycle(patterns: &str) -> Option<String> {
    let counted = patterns.split(';').filter_map(|p| p.split_once('='));
    let counted = counted.filter_map(|(kind, count)| Some((count.parse::<u32>().ok()?, kind.to_owned())));
    counted.max_by_key(|(count, _)| *count).map(|(_, kind)| kind)
}

impl Point {
    pub fn is_asked(&self) -> bool {
        !BORDER_MBPS.contains(&self.rate_mbps)
    }

    /// Is ns-2's commonest cycle the model's? None where nothing is asked.
    pub fn cycle_agrees(&self) -> Option<bool> {
        let cycle = self.cycle.as_ref().filter(|_| self.is_asked() && !CYCLE_BORDER_MBPS.contains(&self.rate_mbps))?;
        Some(self.model.case < 4 || self.model.oscillation.as_ref().is_some_and(|o| o.split('+').next() == Some(cycle)))
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

pub fn points(data: &Path, label: &str, arithmetic: Arithmetic, access_gbps: u64) -> anyhow::Result<Vec<Point>> {
    let mut rows: Vec<Row> = ns2::read(data, "blanc")?;
    rows.retain(|r| r.label == label);
    let cycles: Vec<CycleRow> = ns2::read(data, "blanc_cycles")?;
    let rate = |r: &Row| r.rate_mbps;
    let law = Law::default();
    // A queue of 100 packets in ns-2 refuses the hundredth.
    let held = |path: tandem_model::Path| tandem_model::Path {
        buffer_packets: path.buffer_packets - 1.0,
        access_rate: Some(Rate { bps: access_gbps * 1_000_000_000 }),
        ..path
    };
    let point = |&rate_mbps: &f64| {
        let of = |value: fn(&Row) -> f64| ns2::column(&rows, label, rate, rate_mbps, value)[0];
        let path = held(path(rate_mbps));
        Ok(Point {
            rate_mbps,
            model: followed(&path, &law, arithmetic)?,
            fluid: published(&path, &law, published_oscillation(&path, &law, arithmetic)?.as_ref()),
            utilisation: of(|r| r.utilisation),
            backlog_packets: of(|r| r.queue_mean_packets),
            cycle: cycles
                .iter()
                .find(|row| row.r#type == label && row.mu == rate_mbps)
                .and_then(|row| commonest_cycle(&row.patterns)),
        })
    };
    ns2::points(&rows, rate).iter().map(point).collect()
}

pub fn page(data: &Path) -> anyhow::Result<String> {
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
        let points = points(data, label, arithmetic, access_gbps)?;
        let asked = || points.iter().filter(|p| p.is_asked());
        write!(
            text,
            "\n### `{label}`: {what}\n\nUtilisation: {} of {} agree. Mean queue: {} of {}. Cycle: {}.\n\n\
             | Mb/s | case | oscillation | ns-2 | model | ns-2 | difference | agrees | queue, model | ns-2 | agrees | S2's model: case | util | queue |\n\
             |---:|---:|---|---|---:|---:|---:|---|---:|---:|---|---:|---:|---:|\n",
            asked().filter(|p| p.throughput_agrees()).count(),
            asked().count(),
            asked().filter(|p| p.backlog_agrees()).count(),
            asked().count(),
            match points.iter().filter_map(Point::cycle_agrees).collect::<Vec<_>>() {
                cycles if cycles.is_empty() => "not counted".to_owned(),
                cycles => format!("{} of {}", cycles.iter().filter(|&&agrees| agrees).count(), cycles.len()),
            },
        )?;
        for p in &points {
            let verdict = |agrees: bool| match (p.is_asked(), agrees) {
                (false, _) => "not asked",
                (true, true) => "yes",
                (true, false) => "**no**",
            };
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
                verdict(p.throughput_agrees()),
                p.model.backlog_packets,
                p.backlog_packets,
                verdict(p.backlog_agrees()),
                p.fluid.case,
                p.fluid.utilisation,
                p.fluid.backlog_packets,
            )?;
        }
    }
    Ok(text)
}
