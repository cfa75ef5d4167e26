// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proportional rate reduction (RFC 6937 with the slow-start reduction bound of its successor, RFC 9937): paces what is sent
//! in a recovery, so that about ssthresh packets are in flight at its end.

/// An ACK's progress in recovery.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Packets newly delivered, cumulatively or selectively.
    pub delivered: u64,
    /// Packets newly found lost.
    pub newly_lost: u64,
    /// Did the cumulative ACK advance?
    pub advanced: bool,
}

/// The account of one recovery, in packets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prr {
    prior_cwnd: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    /// A recovery begins with this window. [RFC 9937 6.1]
    pub fn new(cwnd: u32) -> Self {
        Self { prior_cwnd: u64::from(cwnd), ..Self::default() }
    }

    /// This many packets have been sent, new or again. [RFC 9937 6.3]
    #[inline]
    pub fn sent(&mut self, packets: u64) {
        self.out += packets;
    }

    /// Packets that may be sent on an ACK that delivered at least one. [RFC 6937 3] [RFC 9937 6.2]
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
