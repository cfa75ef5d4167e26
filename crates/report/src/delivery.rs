// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of real-time traffic, for terminal and page.

use std::iter;

use tandem_results::{Figure, GROUP_MEASURES, GroupSummary, Measure, Run};

use crate::number;

/// The columns: what packets met on their way.
fn columns() -> impl Iterator<Item = (&'static Measure<GroupSummary>, &'static str, Figure)> {
    let measures = GROUP_MEASURES.iter().filter(|measure| measure.key.starts_with("delivery."));
    measures.flat_map(|measure| measure.shown.terminal.iter().map(move |(title, figure)| (measure, *title, *figure)))
}

/// What the columns of [`rows`] are, the group's name first.
pub fn header() -> Vec<&'static str> {
    iter::once("Real time").chain(columns().map(|(_, title, _)| title)).collect()
}

/// A row for each group of UDP: its name, and the cells.
pub fn rows(run: &Run) -> Vec<(String, Vec<String>)> {
    let cells =
        |group: &GroupSummary| columns().map(|(measure, _, figure)| number::cell(measure, group, figure, 3)).collect();
    let groups = run.groups.iter().filter(|group| group.delivery.is_some());
    groups.map(|group| (group.name.clone(), cells(group))).collect()
}
