// SPDX-License-Identifier: MIT OR Apache-2.0
//! A token bucket: a policer asks whether a packet conforms, a shaper when the next one may go.

use tandem_scenario::effects::TokenBucket;

/// Tokens are in bits a second times nanoseconds, so that nothing is rounded.
const NS: i128 = 1_000_000_000;

#[derive(Debug, Clone)]
pub struct Bucket {
    bps: i128,
    full: i128,
    tokens: i128,
    /// When `tokens` was right, ns.
    at: u64,
}

impl Bucket {
    /// Full.
    pub fn new(bucket: TokenBucket) -> Self {
        let full = i128::from(bucket.burst_bytes) * 8 * NS;
        Self { bps: bucket.rate.bps.into(), full, tokens: full, at: 0 }
    }

    fn fill(&mut self, now: u64) {
        let more = self.bps * i128::from(now.saturating_sub(self.at));
        self.tokens = (self.tokens + more).min(self.full);
        self.at = self.at.max(now);
    }

    /// Takes a packet's tokens if there are as many. Otherwise the packet does not conform, and none are taken.
    pub fn conforms(&mut self, now: u64, bytes: u32) -> bool {
        self.fill(now);
        let needed = i128::from(bytes) * 8 * NS;
        let conforms = self.tokens >= needed;
        self.tokens -= if conforms { needed } else { 0 };
        conforms
    }

    /// When there is a token from `now` on, ns. The next packet may go then: it may leave the bucket in debt by less than its size.
    pub fn ready_at(&self, now: u64) -> u64 {
        let short = 1 - self.tokens;
        let wait = if short > 0 { (short + self.bps - 1) / self.bps } else { 0 };
        now.max(self.at.saturating_add(wait as u64))
    }

    /// Takes the tokens of a packet that goes at `now`.
    pub fn take(&mut self, now: u64, bytes: u32) {
        self.fill(now);
        self.tokens -= i128::from(bytes) * 8 * NS;
    }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::units::Rate;

    use super::*;

    const MS: u64 = 1_000_000;

    /// 1500 bytes a millisecond, and three packets at once.
    fn bucket() -> Bucket {
        Bucket::new(TokenBucket { rate: Rate { bps: 12_000_000 }, burst_bytes: 4500 })
    }

    #[test]
    fn a_burst_conforms_and_then_the_rate() {
        let mut bucket = bucket();
        let mut conforms = |at: u64| bucket.conforms(at, 1500);
        assert_eq!([0, 0, 0, 0].map(&mut conforms), [true, true, true, false]);
        assert_eq!([MS - 1, MS, 2 * MS].map(&mut conforms), [false, true, true]);
        // Never more than the burst, however long nothing came.
        assert_eq!([99 * MS; 4].map(&mut conforms), [true, true, true, false]);
    }

    /// Three go at once and empty the bucket; the fourth, at the first token, leaves a debt that takes a millisecond.
    #[test]
    fn a_shaper_waits_for_a_token() {
        let mut bucket = bucket();
        for _ in 0..3 {
            assert_eq!(bucket.ready_at(0), 0);
            bucket.take(0, 1500);
        }
        assert_eq!(bucket.ready_at(0), 1);
        bucket.take(1, 1500);
        assert_eq!(bucket.ready_at(1), MS + 1);
    }
}
