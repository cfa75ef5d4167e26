// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Compound TCP+ does to the loss window, S4 (2)-(4), in the three readings of `compound_plus.h`.

use tandem_controllers::Params;

use super::TheirSide;

pub struct Plus {
    reading: f64,
    slight_beta: f64,
    decline: f64,
    after_growth: f64,
    /// The delay window has been above 0 since the last slow start or timeout.
    grew: bool,
    acks_lost: bool,
    owed: f64,
    /// The integer controller's delay window after the ACK before.
    their_delay_before: f64,
}

impl Plus {
    pub fn new(params: &Params) -> Option<Self> {
        Some(Self {
            reading: params.get("reading")?,
            slight_beta: params.get("slight_beta")?,
            decline: params.get("decline")?,
            after_growth: params.get("after_growth")?,
            grew: false,
            acks_lost: false,
            owed: 0.0,
            their_delay_before: 0.0,
        })
    }

    pub fn sample(&mut self, acked: f64) {
        self.acks_lost |= acked > 2.0;
    }

    /// After each ACK.
    pub fn note(&mut self, their_side: TheirSide) {
        self.their_delay_before = their_side.delay;
    }

    pub fn timeout(&mut self) {
        self.grew = false;
    }

    /// A measured round in which the delay part does not act.
    pub fn asleep(&mut self, slow_start: bool) {
        self.grew = !slow_start && (self.grew || self.their_delay_before > 0.0);
        self.acks_lost = false;
    }

    /// The loss window after a measured round. The integer controller tells whether nothing is left of the delay window, for
    /// the two differ by fractions.
    pub fn round(&mut self, loss: f64, congested: bool, window_limited: bool, their_side: TheirSide) -> f64 {
        let before = self.their_delay_before > 0.0;
        self.grew |= before;
        let acks_lost = std::mem::take(&mut self.acks_lost);
        let acts = self.grew || self.after_growth == 0.0;
        if !congested || !acts || their_side.delay > 0.0 {
            return loss;
        }
        let slight = match self.reading {
            1.0 => before,
            2.0 => !before,
            _ => before && acks_lost,
        };
        if slight {
            return (loss * (1.0 - self.slight_beta)).floor().max(2.0);
        }
        if !window_limited {
            return loss;
        }
        self.owed += self.decline;
        let taken = self.owed.floor();
        self.owed -= taken;
        (loss - taken).max(2.0f64.min(loss))
    }
}
