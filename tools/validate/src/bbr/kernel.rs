// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bbr` beside the kernel's own over real TCP, and `bbr3` over real TCP beside the simulator.

use std::fmt::Write;

use anyhow::ensure;
use serde::{Deserialize, Serialize};
use tandem_papers::{RealTcpRuns, prose::with_short_lines};
use tandem_statistics::Estimate;

use crate::{
    RealTcpValidation, Validation,
    compare::Agreement,
    pair::Pair,
    real_tcp::{Compared, about, compare, measure_missing},
    setups::{Setup, for_bbr},
};

/// In this order below.
const FLOWS: &[&[&str]] = &[&["bbr"], &["kernel:bbr"], &["bbr3"]];
const REPETITIONS: u64 = 6;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Part {
    /// On the runs, which only they know.
    runs: String,
    lines: Vec<Line>,
}

/// One path. Figures are those of `bbr`, the kernel's `bbr`, `bbr3` in the simulator and `bbr3` over real TCP.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    path: String,
    setup: String,
    goodput_mbps: [Estimate; 4],
    queue_packets: [Estimate; 4],
    /// Of the first two, and of the others: goodput and queue, in the words of all comparisons.
    agreement: [[String; 2]; 2],
}

fn setups() -> [Setup; 10] {
    for_bbr().map(|setup| setup.with(FLOWS, REPETITIONS))
}

pub(super) fn part(validation: &Validation, how: &RealTcpValidation) -> anyhow::Result<Part> {
    let setups = setups();
    let mut runs = RealTcpRuns::open(&validation.reference.join("real-tcp/bbr.jsonl"))?;
    if !how.incomplete || !how.again.is_empty() {
        measure_missing(&setups.each_ref(), &mut runs, how, &validation.batch)?;
    }
    let (mut lines, mut missing) = (Vec::new(), Vec::new());
    for setup in &setups {
        let mut compared = compare(setup, &runs, validation, &mut missing)?;
        let Ok([own, kernels, bbr3]) = <[Compared; 3]>::try_from(std::mem::take(&mut compared)) else { continue };
        lines.push(line(setup, &[own.beside(kernels), bbr3]));
    }
    let missing = missing.join(", ");
    ensure!(how.incomplete || missing.is_empty(), "no run over real TCP is to be trusted of: {missing}");
    Ok(Part { runs: about(&runs), lines })
}

fn line(setup: &Setup, compared: &[Compared; 2]) -> Line {
    let pairs = compared.each_ref().map(|two| [two.goodput(0), two.queue(setup)]);
    let estimates = |figure: usize| {
        let [[first, second], [third, fourth]] =
            pairs.each_ref().map(|pair| [pair[figure].simulated, pair[figure].measured]);
        [first, second, third, fourth]
    };
    let words = |pair: &Pair| pair.agreement().words().to_owned();
    Line {
        path: setup.name.into(),
        setup: setup.text(),
        goodput_mbps: estimates(0),
        queue_packets: estimates(1),
        agreement: pairs.each_ref().map(|pair| pair.each_ref().map(words)),
    }
}

impl Part {
    pub fn text(&self) -> String {
        let mut text = format!(
            "{} of 10 paths have runs that are to be trusted. ✓: goodput within 5 % and mean queue within 10 % or 5 packets; ?: cannot be \
             told apart; ✗: differs.\n\n\
             | path | `bbr`, Mb/s | kernel's | | `bbr3`, simulator | kernel | | queues, packets | | | | | |\n\
             |---|---:|---:|---|---:|---:|---|---:|---:|---|---:|---:|---|\n",
            self.lines.len()
        );
        for line in &self.lines {
            write!(text, "| {} |", line.path).expect("a String");
            for (figure, estimates) in [&line.goodput_mbps, &line.queue_packets].into_iter().enumerate() {
                for (two, agreement) in estimates.chunks(2).zip(&line.agreement) {
                    let [first, second] = [0, 1].map(|who| two[who].text(1));
                    write!(text, " {first} | {second} | {} |", sign(&agreement[figure])).expect("a String");
                }
            }
            text.push('\n');
        }
        with_short_lines(&text)
    }

    #[cfg(test)]
    pub fn assert_current(&self) {
        let texts: Vec<String> = setups().iter().map(Setup::text).collect();
        for line in &self.lines {
            assert!(texts.contains(&line.setup), "{}: run it again: tandem-validate --bbr", line.path);
        }
    }
}

fn sign(words: &str) -> &'static str {
    match words {
        _ if words == Agreement::Agrees.words() => "✓",
        _ if words == Agreement::Differs.words() => "✗",
        _ => "?",
    }
}
