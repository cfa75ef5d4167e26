// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connection round by round on a path whose buffer has room, and the RTT that each round measures.

use crate::window::{Change, RoundEnd, Windows};

/// One round, from the change of the window that begins it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The window before the change: this many packets are in flight as it begins, and are acknowledged in it.
    pub before: f64,
    /// The window from then on.
    pub window: f64,
    /// How the window got there.
    pub change: Change,
}

/// A connection and the windows of its last three rounds.
#[derive(Clone)]
pub struct Rounds<W> {
    /// The connection.
    pub windows: W,
    /// RTT of the empty path, packet times: this many packets fill it.
    pub pipe: f64,
    /// `w_{i-2}`, `w_{i-1}`, `w_i`.
    last: [f64; 3],
}

impl<W: Windows> Rounds<W> {
    /// After a recovery, or at the start: one round has passed with this window.
    pub fn new(windows: W, pipe: f64) -> Self {
        let w = windows.window();
        Self { windows, pipe, last: [w; 3] }
    }

    /// Ends a round and begins the next.
    pub fn step(&mut self) -> Round {
        let [_, sent, before] = self.last;
        let rtt = round_rtt(self.pipe, self.last);
        let change = self.windows.round(RoundEnd { sent, acked: before, rtt, base: self.pipe });
        let window = self.windows.window();
        self.last = [sent, before, window];
        Round { before, window, change }
    }
}

/// The smallest RTT among the samples of the round that ends: those of the packets sent with `w_{i-1}`, of which the first
/// of a step up saw only `w_{i-2}` before it, and of the first packet sent with `w_i`. That is at least the empty path's.
///
/// S2's own model has eq. (4) in its place: [`crate::oscillation`].
fn round_rtt(pipe: f64, last: [f64; 3]) -> f64 {
    pipe.max((last[0] + 1.0).min(last[1]).min(last[2]))
}
