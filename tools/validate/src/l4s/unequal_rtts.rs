// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two Prague flows with unequal RTTs beside the runs of Linux's that others published, and what changes their shares.

use anyhow::Context;
use tandem_scenario::{
    Scenario,
    file::{Overrides, parse},
};

use crate::{
    Validation,
    reference::l4s::{UnequalRtts, unequal_rtts},
    table::{Cell, Table},
};

/// One change of what is simulated.
struct Variant {
    /// Above the step of 1 ms; 0: a step.
    ramp: &'static str,
    /// How each sender's packets go in bunches, as `aggregate` has it.
    bunches: Option<&'static str>,
}

/// The moment of the start moves some shares by a tenth.
const SEEDS: u64 = 5;

/// In the order of the columns.
const VARIANTS: [Variant; 4] = [
    Variant { ramp: "0s", bunches: None },
    Variant { ramp: "0s", bunches: Some("{ hold = \"1ms\", most = 64 }") },
    Variant { ramp: "0s", bunches: Some("{ hold = \"20ms\", most = 2 }") },
    Variant { ramp: "1ms", bunches: None },
];

impl Variant {
    fn scenario(&self, path: &UnequalRtts) -> anyhow::Result<Scenario> {
        // HTB counts the Ethernet header, a link here does not.
        let rate_kbps = (path.rate_mbps * 1e3 * 1500.0 / 1514.0).round();
        let mut text = format!(
            "duration = \"180s\"\nwarmup = \"118s\"\nseeds = {SEEDS}\n[[links]]\nname = \"bottleneck\"\nfrom = \"middle\"\nto = \"server\"\n\
             rate = \"{rate_kbps}kbit\"\ndelay = \"0s\"\nqueue = \"10000p\"\n\
             aqm = {{ kind = \"dualpi2\", min_threshold = \"1ms\", range = \"{ramp}\" }}\n\
             [[links]]\nname = \"back\"\nfrom = \"server\"\nto = \"middle\"\nrate = \"10gbit\"\ndelay = \"0s\"\nqueue = \"100000p\"\n",
            ramp = self.ramp,
        );
        for (name, rtt_ms) in [("long", path.long_rtt_ms), ("short", path.short_rtt_ms)] {
            text += &format!(
                "[[links]]\nname = \"{name}\"\nfrom = \"{name}-sender\"\nto = \"middle\"\nrate = \"10gbit\"\ndelay = \"{one_way_us}us\"\n\
                 queue = \"100000p\"\nboth_ways = true\n[[flows]]\nname = \"{name}\"\ncontroller = \"prague@virtual_rtt=0\"\n\
                 from = \"{name}-sender\"\nto = \"server\"\nstart_spread = \"100ms\"\n",
                one_way_us = rtt_ms * 500,
            );
            if let Some(bunches) = self.bunches {
                text += &format!("[effects.{name}]\naggregate = {bunches}\n");
            }
        }
        parse(&text, "unequal RTTs", "l4s", &Overrides::default()).context("the paths as scenarios")
    }
}

/// The table of docs/controllers/prague.md.
pub(crate) fn table(validation: &Validation) -> anyhow::Result<Table> {
    let paths = unequal_rtts(validation.reference)?;
    let scenarios = paths.iter().flat_map(|path| VARIANTS.iter().map(|variant| variant.scenario(path)));
    let runs = validation.run(&scenarios.collect::<anyhow::Result<Vec<_>>>()?)?;
    let both = |long: f64, short: f64| Cell::from(format!("{long:.2}/{short:.2}"));
    let row = |(path, runs): (&UnequalRtts, &[tandem_results::Run])| {
        let mut cells = vec![
            Cell::count(path.rate_mbps),
            Cell::from(format!("{}/{}", path.long_rtt_ms, path.short_rtt_ms)),
            both(path.long_mbps, path.short_mbps),
        ];
        cells.extend(runs.iter().map(|run| both(run.groups[0].goodput_mbps, run.groups[1].goodput_mbps)));
        cells
    };
    Ok(Table {
        title: "Two Prague flows with unequal RTTs".into(),
        setup: format!(
            "Goodput of the long and the short flow, Mb/s; 180 s without the first 118 s, starts within 100 ms, {SEEDS} seeds."
        ),
        asked: String::new(),
        columns: &[
            "rate, Mb/s",
            "RTTs, ms",
            "Linux",
            "paced evenly",
            "1 ms bursts at senders",
            "pairs at senders",
            "ramp of 1 ms",
        ],
        rows: paths.iter().zip(runs.chunks(VARIANTS.len())).map(row).collect(),
    })
}
