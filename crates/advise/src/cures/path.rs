// SPDX-License-Identifier: MIT OR Apache-2.0
//! Improvements of the path instead of another controller: a managed queue, and shaping below a policer's rate.

use tandem_scenario::{
    aqm::AqmSpec,
    units::{Bytes, LossRate, Rate, Span},
};

use super::rounded;
use crate::{Judged, Known};

/// Queueing delay that people notice in calls and web pages. Ours.
const LONG_DELAY: Span = Span::from_ms(60);
/// Number of controllers named; more would help nobody to choose.
const MOST_NAMES: usize = 3;
/// At this loss rate or above, a wire is broken, or a radio link does not repair its losses. Ours.
const FAULTY: f64 = 0.005;
/// On a longer path nobody knows which link it is; on a short one the link can be inspected. Ours.
const NEAR: Span = Span::from_ms(20);
/// The share of the rate that a shaper leaves free, so that the queue builds where it is managed, percent.
const SHAPED_PERCENT: u64 = 90;
/// The same below a policer, which counts each packet: only the shaper's bursts need room. Ours.
const BELOW_POLICER_PERCENT: u64 = 97;

/// A policer drops what a shaper in front of it would have kept.
pub fn policer(known: &Known) -> Option<String> {
    let bucket = known.effects.policer.filter(|bucket| bucket.rate.bps < known.rate.bps)?;
    let shaped = part(bucket.rate, BELOW_POLICER_PERCENT);
    Some(format!(
        "First stay below the policer: it drops what exceeds {} once {} have passed; a shaper queues that instead: sudo tc qdisc replace dev \
         DEV root cake bandwidth {shaped}. The advice below assumes no shaper.",
        bucket.rate,
        Bytes(rounded(bucket.burst.0))
    ))
}

/// A working link does not lose this much at random.
pub fn faulty(loss: LossRate, known: &Known) -> Option<String> {
    (loss.0 >= FAULTY && known.rtt <= NEAR).then(|| {
        format!(
            "First the link: over {} a loss of {loss} is not chance but a fault: even Wi-Fi repairs its losses. Look at the errors that \
             `ip -s link` and `ethtool -S DEV` count, and whether it was a queue that dropped. The advice below assumes that it cannot be fixed.",
            known.rtt
        )
    })
}

/// A flow that fills a deep queue delays all that share it. `less` are the controllers that would not, if nobody shares it.
pub fn shaper(known: &Known, chosen: &Judged, less: &[&Judged]) -> Option<String> {
    let (controller, delay_ms) = (&chosen.controller, chosen.delay_ms.value);
    if known.aqm() != AqmSpec::DropTail || delay_ms <= LONG_DELAY.max(known.rtt).as_secs_f64() * 1e3 {
        return None;
    }
    let shaped = part(known.rate, SHAPED_PERCENT);
    let shape = format!(
        "hape the link a little below its rate, and manage the queue there: sudo tc qdisc replace dev DEV root cake bandwidth {shaped}."
    );
    let names: Vec<String> = less.iter().take(MOST_NAMES).map(|judged| format!("`{}`", judged.controller)).collect();
    let most_ms = less.iter().take(MOST_NAMES).map(|judged| judged.delay_ms.value).fold(0.0, f64::max);
    Some(match &names[..] {
        [_, ..] => format!(
            "If the delay hurts, run {}: alone on the path it carries nearly as much with {} ms in the queue; `{controller}` has \
             {delay_ms:.0} ms. Others who share the path need more: s{shape}",
            names.join(" or "),
            most_ms.ceil()
        ),
        [] => format!(
            "If the delay hurts, no controller helps: `{controller}` keeps {delay_ms:.0} ms in the queue. S{shape}"
        ),
    })
}

fn part(rate: Rate, percent: u64) -> Rate {
    Rate { bps: rounded(rate.bps / 100 * percent) }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::{EffectsSpec, effects::BucketSpec};

    use tandem_statistics::Looks;

    use super::*;
    use crate::{
        Goal, Limits,
        cures::known,
        rule::{Observed, decide},
    };

    fn keeps(controller: &str, delay_ms: f64) -> Judged {
        let observed = Observed { name: controller.into(), delay_ms: vec![delay_ms; 2], ..Observed::default() };
        let limits = Limits { stolen: 0.1, added_delay_ms: 10.0, gain: 0.1, goal: Goal::Goodput };
        let decision = decide(std::slice::from_ref(&observed), controller, &observed, limits, &Looks::at(&[2]));
        decision.unwrap().controllers.remove(0)
    }

    #[test]
    fn a_deep_queue_is_for_a_shaper() {
        let shaper = |known: &Known, delay_ms| shaper(known, &keeps("cubic", delay_ms), &[]);
        let words = shaper(&known("1mbit", 30), 2400.0).unwrap();
        assert!(words.contains("`cubic` keeps 2400 ms") && words.contains("cake bandwidth 900kbit"), "{words}");
        assert_eq!(shaper(&known("1mbit", 30), 59.0), None);
        // Longer than 60 ms, and no longer than the way.
        assert_eq!(shaper(&known("50mbit", 600), 590.0), None);
        let managed = Known { aqm: "fq_codel".parse().ok(), ..known("1mbit", 30) };
        assert_eq!(shaper(&managed, 2400.0), None);
    }

    #[test]
    fn alone_a_controller_may_be_the_cure() {
        let words =
            shaper(&known("30mbit", 50), &keeps("cubic", 600.0), &[&keeps("bbr", 12.0), &keeps("vegas", 2.0)]).unwrap();
        assert!(words.starts_with("If the delay hurts, run `bbr` or `vegas`: alone on the path"), "{words}");
        assert!(
            words.contains("with 12 ms in the queue; `cubic` has 600 ms") && words.contains(": shape the"),
            "{words}"
        );
    }

    #[test]
    fn a_short_path_that_loses_much_is_faulty() {
        let words = |loss, rtt_ms| faulty(LossRate(loss), &known("100mbit", rtt_ms));
        assert!(words(0.01, 10).unwrap().contains("over 10ms a loss of 0.01 is not chance"));
        assert_eq!((words(0.004, 10), words(0.01, 45)), (None, None));
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
