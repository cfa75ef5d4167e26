// SPDX-License-Identifier: MIT OR Apache-2.0
//! The phases of a flow, read from its samples; any engine may have run it.

use tandem_results::FlowSample;

use crate::{law::Law, path::Path, prediction};

/// From loss to loss: the samples from `first` on, without those before the first loss and after the last.
pub fn epochs(samples: &[FlowSample], first: usize) -> Vec<&[FlowSample]> {
    losses(samples, first).windows(2).map(|pair| &samples[pair[0]..pair[1]]).collect()
}

/// The case in which the flow spends most of its time between losses; `None` if there were no two losses.
pub fn usual_case(path: &Path, law: &Law, epochs: &[&[FlowSample]]) -> Option<u8> {
    let mut time = [0usize; 7];
    for epoch in epochs {
        time[usize::from(case(path, law, epoch))] += epoch.len();
    }
    (1..=6u8).max_by_key(|&c| time[usize::from(c)]).filter(|_| !epochs.is_empty())
}

/// The samples from `first` on at which a loss shows. Only a loss lowers the loss window, over the RTT that recovery takes.
fn losses(samples: &[FlowSample], first: usize) -> Vec<usize> {
    let (mut found, mut largest, mut is_falling) = (Vec::new(), 0, false);
    for (i, sample) in samples.iter().enumerate().skip(first) {
        let now = sample.loss_window_packets;
        if now * 8 < largest * 7 && !is_falling {
            found.push(i);
        }
        is_falling =
            now < largest && (is_falling || now * 8 < largest * 7) && now <= samples[i - 1].loss_window_packets;
        largest = if now * 8 < largest * 7 { now } else { largest.max(now) };
    }
    found
}

/// The model calls an oscillation settled after this many cycles.
const CYCLES: usize = 12;

/// The case of the samples from one loss to the next.
fn case(path: &Path, law: &Law, epoch: &[FlowSample]) -> u8 {
    let delay = |s: &FlowSample| s.delay_window_packets;
    // Recovery brings the window down to ssthresh, which is what the loss left.
    let first_window = f64::from(epoch[0].ssthresh_packets);
    let last = &epoch[epoch.len() - 1];
    let cuts = epoch.windows(3).filter(|w| delay(&w[0]) <= delay(&w[1]) && delay(&w[1]) > delay(&w[2])).count();
    let settles = delay(last) == 0 || cuts >= CYCLES;
    let largest = epoch.iter().map(|s| s.cwnd_packets).max().unwrap_or(0);
    if epoch.iter().all(|s| delay(s) == 0) {
        return 6;
    }
    prediction::case(path.bdp_packets(), law, first_window, settles, f64::from(largest) <= path.pipe_packets())
}
