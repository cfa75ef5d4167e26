// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proportional rate reduction (RFC 6937 with the slow-start reduction bound of its successor, RFC 9937): paces what is sent
//! in a recovery, so that about ssthresh segments are in flight at its end.

use super::Progress;

/// The account of one recovery, in segments.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prr {
    prior_cwnd: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    pub fn new(cwnd: u32) -> Self {
        Self { prior_cwnd: u64::from(cwnd), ..Self::default() }
    }

    /// A segment has been sent, new or again.
    #[inline]
    pub fn sent(&mut self) {
        self.out += 1;
    }

    /// How many segments an ACK lets go that delivered at least 1.
    pub fn allows(&mut self, ssthresh: u64, in_flight: u64, progress: Progress) -> u64 {
        let Progress { delivered, newly_lost, advanced } = progress;
        self.delivered += delivered;
        let allowed = if in_flight > ssthresh {
            (ssthresh * self.delivered).div_ceil(self.prior_cwnd).saturating_sub(self.out)
        } else {
            let catch_up = self.delivered.saturating_sub(self.out).max(delivered);
            (catch_up + u64::from(advanced && newly_lost == 0)).min(ssthresh - in_flight)
        };
        // The first retransmission goes at once.
        if self.out == 0 { allowed.max(1) } else { allowed }
    }
}
