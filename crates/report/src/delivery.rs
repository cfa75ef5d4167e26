// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of real-time traffic, for the terminal and for the page alike.

use tandem_results::{Delivery, Distribution, Run};

use crate::number;

/// What the columns of [`rows`] are, the group's name first.
pub const HEADER: [&str; 9] =
    ["Real time", "Delay ms\np50", "\np95", "\np99", "Jitter ms\np50", "\np95", "\np99", "Loss\nrate", "\np95"];

/// A row for each group of UDP: its name, and the cells.
pub fn rows(run: &Run) -> Vec<(String, Vec<String>)> {
    let groups = run.groups.iter().filter_map(|group| Some((&group.name, group.delivery.as_ref()?)));
    let of_group = |(name, met): (&String, &Delivery)| {
        let percentiles = |d: &Distribution| [d.p50, d.p95, d.p99].map(|ms| number::significant(ms, 3));
        let losses = [met.loss_rate, met.loss_rate_by_second.p95].map(number::rate);
        let cells = percentiles(&met.delay_ms).into_iter().chain(percentiles(&met.jitter_ms)).chain(losses);
        (name.clone(), cells.collect())
    };
    groups.map(of_group).collect()
}
