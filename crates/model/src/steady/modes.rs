// SPDX-License-Identifier: MIT OR Apache-2.0
//! Flows with one RTT near their rest: what a round leaves of a disturbance.

use serde::Serialize;

use super::Law;

/// How a small disturbance of flows with one RTT dies: what is left of it after a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Modes {
    /// Of all windows together, where they shrink: at once.
    pub shrink: f64,
    /// Likewise where they grow: over the round after the measurement.
    pub growth: f64,
    /// Of the difference between two windows: who has more gives it back so slowly.
    pub difference: f64,
}

impl Law {
    /// With `d` of queueing delay in an RTT of `rtt_s`, d included.
    ///
    /// A round's RTTs are those of the packets sent in the round before. So, with e = d / rtt and windows relative to rest,
    ///
    /// ```text
    /// q - aim after round k = e/2 F(k) + (1 - e/2) W(k-1)     of all together: their sum is the queue
    ///                       = e/2 F(k)                        of a difference: the queue does not change
    /// ```
    ///
    /// F: the window as the round began, W: its mean in the round.
    pub fn modes(&self, d: f64, rtt_s: f64) -> Modes {
        let (g, half_e) = (self.gain, d / rtt_s / 2.0);
        let (now, before) = (g * half_e, g * (1.0 - half_e));
        Modes {
            // F(k+1) = F(k) - g (q - aim), W = F.
            shrink: slowest(&[1.0 - now, -before]),
            // F(k+2) = F(k+1) - g (q - aim), W(k-1) = (F(k-1) + F(k)) / 2.
            growth: slowest(&[1.0, -now - before / 2.0, -before / 2.0]),
            difference: 1.0 - now,
        }
    }

    /// The gain from which on a disturbance grows.
    pub fn largest_gain(&self, d: f64, rtt_s: f64) -> f64 {
        let (mut stable, mut unstable) = (0.0, 4.0);
        for _ in 0..60 {
            let gain = (stable + unstable) / 2.0;
            let Modes { shrink, growth, .. } = Self { gain, ..*self }.modes(d, rtt_s);
            if shrink.max(growth) < 1.0 { stable = gain } else { unstable = gain }
        }
        stable
    }
}

/// What a round leaves of y(k) = c0 y(k-1) + c1 y(k-2) + ..., in the long run.
fn slowest(coefficients: &[f64]) -> f64 {
    const ROUNDS: u32 = 4000;
    let mut last = vec![1.0; coefficients.len()];
    let mut log = 0.0;
    for round in 0..2 * ROUNDS {
        let next: f64 = coefficients.iter().zip(&last).map(|(c, y)| c * y).sum();
        last.rotate_right(1);
        last[0] = next;
        let size = last.iter().map(|y| y * y).sum::<f64>().sqrt();
        last.iter_mut().for_each(|y| *y /= size);
        // The first half forgets how it began.
        log += if round < ROUNDS { 0.0 } else { size.ln() };
    }
    (log / f64::from(ROUNDS)).exp()
}
