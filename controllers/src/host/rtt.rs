// SPDX-License-Identifier: MIT OR Apache-2.0
//! Smoothed RTT and retransmission timeout (RFC 6298), with Linux's bounds.

/// Linux's TCP_RTO_MIN: a floor on the variance term, so that the timeout is at least srtt + 200 ms. [RFC 6298 2.4]
pub const RTO_MIN_NS: u64 = 200_000_000;
/// Before the first sample [RFC 6298 2.1].
const RTO_INITIAL_NS: u64 = 1_000_000_000;
/// Linux's TCP_RTO_MAX. [RFC 6298 2.5]
pub const RTO_MAX_NS: u64 = 120_000_000_000;

/// The estimates of one connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct RttEstimator {
    /// The smoothed RTT, ns; 0 before the first sample.
    pub srtt_ns: u64,
    rttvar_ns: u64,
    /// The smallest RTT of a newest packet, ns; 0 before the first. Linux's tcp_min_rtt, without its window of 300 s.
    pub min_ns: u64,
}

impl RttEstimator {
    /// An ACK tells the RTT of the oldest packet that it is for, and that of the newest. The estimates follow the oldest's, because the timeout
    /// must bear with ACKs that are delayed; the least RTT is the path's, without the delay.
    ///
    /// [RFC 6298 2.2] and [RFC 6298 2.3]: alpha = 1/8, beta = 1/4.
    #[inline]
    pub fn sample(&mut self, rtt_ns: u64, newest_rtt_ns: u64) {
        if self.srtt_ns == 0 {
            self.srtt_ns = rtt_ns.max(1);
            self.rttvar_ns = rtt_ns / 2;
            self.min_ns = newest_rtt_ns;
            return;
        }
        self.rttvar_ns = self.rttvar_ns - self.rttvar_ns / 4 + self.srtt_ns.abs_diff(rtt_ns) / 4;
        self.srtt_ns = self.srtt_ns - self.srtt_ns / 8 + rtt_ns / 8;
        self.min_ns = self.min_ns.min(newest_rtt_ns);
    }

    /// The retransmission timeout, ns, without backoff.
    #[inline]
    pub fn rto_ns(&self) -> u64 {
        match self.srtt_ns {
            0 => RTO_INITIAL_NS,
            srtt => srtt + (4 * self.rttvar_ns).max(RTO_MIN_NS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6298 by hand: first R = 100 ms gives SRTT 100, RTTVAR 50; then R' = 180 ms gives
    /// RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5 and SRTT = 7/8 * 100 + 1/8 * 180 = 110, RTO = 110 + 230 = 340 ms.
    /// [RFC 6298 2.1] [RFC 6298 2.2] [RFC 6298 2.3]
    #[test]
    fn follows_rfc_6298() {
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.rto_ns(), 1_000_000_000);
        rtt.sample(100_000_000, 100_000_000);
        assert_eq!(rtt.rto_ns(), 300_000_000);
        rtt.sample(180_000_000, 180_000_000);
        assert_eq!((rtt.srtt_ns, rtt.rto_ns()), (110_000_000, 340_000_000));
    }

    /// [RFC 6298 2.4]
    #[test]
    fn variance_term_has_a_floor() {
        let mut rtt = RttEstimator::default();
        (0..100).for_each(|_| rtt.sample(40_000_000, 40_000_000));
        assert_eq!(rtt.rto_ns(), 240_000_000);
    }

    /// A receiver that delays its ACKs by up to 40 ms on a path of 100 ms: the timeout is as long as the oldest packet waits, and the least RTT
    /// is the path's.
    #[test]
    fn least_rtt_is_the_newest_packets() {
        let mut rtt = RttEstimator::default();
        rtt.sample(140_000_000, 100_000_000);
        assert_eq!((rtt.srtt_ns, rtt.min_ns), (140_000_000, 100_000_000));
        rtt.sample(120_000_000, 110_000_000);
        assert_eq!(rtt.min_ns, 100_000_000);
    }
}
