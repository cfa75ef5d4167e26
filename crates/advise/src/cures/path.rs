// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the path could have in place of another controller: a queue that is managed, and no more than a policer takes.

use tandem_scenario::{
    aqm::AqmSpec,
    units::{Rate, Span},
};

use crate::Known;

/// A queue that is noticed in calls and pages. Ours.
const LONG_DELAY: Span = Span::from_ms(100);
/// What a shaper leaves free, so that the queue stands where it is managed, percent.
const SHAPED_PERCENT: u64 = 90;
/// The same below a policer, which counts each packet: only the bursts of a shaper have to fit. Ours.
const BELOW_POLICER_PERCENT: u64 = 97;

/// A policer drops what a shaper in front of it would have kept.
pub fn policer(known: &Known) -> Option<String> {
    let bucket = known.effects.policer.filter(|bucket| bucket.rate.bps < known.rate.bps)?;
    let shaped = part(bucket.rate, BELOW_POLICER_PERCENT);
    Some(format!(
        "First stay below the policer: it drops what exceeds {} once {} have passed, and a shaper keeps that in a queue: sudo tc qdisc replace dev \
         DEV root cake bandwidth {shaped}. What follows is without that.",
        bucket.rate, bucket.burst
    ))
}

/// Whoever fills a deep queue makes all who share it wait.
pub fn shaper(known: &Known, controller: &str, delay_ms: f64) -> Option<String> {
    if known.aqm != AqmSpec::DropTail || delay_ms <= LONG_DELAY.max(known.rtt).as_secs_f64() * 1e3 {
        return None;
    }
    let shaped = part(known.rate, SHAPED_PERCENT);
    Some(format!(
        "If the delay hurts, no controller is the cure: `{controller}` keeps {delay_ms:.0} ms in the queue. Shape the link a little below its rate, \
         where the queue is managed: sudo tc qdisc replace dev DEV root cake bandwidth {shaped}."
    ))
}

/// In three digits.
fn part(rate: Rate, percent: u64) -> Rate {
    let bps = rate.bps / 100 * percent;
    let digits = bps.checked_ilog10().unwrap_or(0);
    let step = 10u64.pow(digits.saturating_sub(2));
    Rate { bps: bps / step * step }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::{EffectsSpec, effects::BucketSpec, units::Bytes};

    use super::*;
    use crate::cures::known;

    #[test]
    fn a_deep_queue_is_for_a_shaper() {
        let words = shaper(&known("1mbit", 30), "cubic", 2400.0).unwrap();
        assert!(words.contains("`cubic` keeps 2400 ms") && words.contains("cake bandwidth 900kbit"), "{words}");
        assert_eq!(shaper(&known("1mbit", 30), "cubic", 99.0), None);
        // Longer than 100 ms, and no longer than the way.
        assert_eq!(shaper(&known("50mbit", 600), "cubic", 590.0), None);
        let managed = Known { aqm: "fq_codel".parse().unwrap(), ..known("1mbit", 30) };
        assert_eq!(shaper(&managed, "cubic", 2400.0), None);
    }

    #[test]
    fn a_policer_is_for_a_shaper_below_it() {
        let with = |rate: &str| {
            let policer = Some(BucketSpec { rate: rate.parse().unwrap(), burst: Bytes(1_000_000) });
            Known { effects: EffectsSpec { policer, ..EffectsSpec::default() }, ..known("1gbit", 20) }
        };
        let words = policer(&with("99.4mbit")).unwrap();
        // 97 % of 99.4 are 96.418.
        assert!(words.contains("exceeds 99.4mbit once 1MB have") && words.contains("bandwidth 96.4mbit"), "{words}");
        // One that takes all that the link carries drops nothing.
        assert_eq!(policer(&with("1gbit")), None);
        assert_eq!(policer(&known("1gbit", 20)), None);
    }
}
