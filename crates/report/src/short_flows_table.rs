// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of short flows, for terminal and page.

use tandem_results::{Distribution, Run, ShortFlowsSummary, SizeClass};
use tandem_scenario::units::Bytes;

use crate::number;

/// What the columns of [`rows`] are, the group's name first.
pub const HEADER: [&str; 10] = [
    "Short flows",
    "Transfers",
    "Not\nended",
    "Time s\nmean",
    "\np50",
    "\np95",
    "\np99",
    "Slow-\ndown",
    "\np95",
    "\np99",
];

/// A row for each group and size class that has transfers: the label, and the cells.
pub fn rows(run: &Run) -> Vec<(String, Vec<String>)> {
    let groups = run.groups.iter().filter_map(|group| Some((&group.name, group.short_flows.as_ref()?)));
    groups.flat_map(|(name, short)| of_group(name, short)).collect()
}

fn of_group<'a>(name: &'a str, short: &'a ShortFlowsSummary) -> impl Iterator<Item = (String, Vec<String>)> + 'a {
    let seen = short.classes.iter().filter(|class| class.transfers > 0);
    seen.map(move |class| {
        let counts = [class.transfers, class.unfinished].map(|n| number::count(n as f64));
        let times = figures(class.completion_time_s, [|d| d.mean, |d| d.p50, |d| d.p95, |d| d.p99]);
        let slowdowns = figures(class.slowdown, [|d| d.mean, |d| d.p95, |d| d.p99]);
        (format!("{name}, {}", sizes(class)), counts.into_iter().chain(times).chain(slowdowns).collect())
    })
}

fn figures<const N: usize>(of: Option<Distribution>, which: [fn(&Distribution) -> f64; N]) -> [String; N] {
    which.map(|figure| of.map_or(String::new(), |d| number::significant(figure(&d), 3)))
}

fn sizes(class: &SizeClass) -> String {
    match (class.from_bytes, class.below_bytes) {
        (0, None) => "all sizes".into(),
        (0, Some(below)) => format!("below {}", Bytes(below)),
        (from, None) => format!("from {}", Bytes(from)),
        (from, Some(below)) => format!("{} to {}", Bytes(from), Bytes(below)),
    }
}

/// What each group's short flows offered, in words.
pub fn offered(run: &Run) -> impl Iterator<Item = String> {
    let groups = run.groups.iter().filter_map(|group| Some((&group.name, group.short_flows.as_ref()?)));
    groups.map(|(name, short)| {
        let mbps = number::with_interval(short.offered_mbps, short.offered_ci95_mbps, 3);
        let load = short.load.map_or(String::new(), |load| format!(", {} % of the path", number::percent(load)));
        format!("{}, {name}: short flows bring {mbps} Mbit/s of payload{load}", run.name)
    })
}
