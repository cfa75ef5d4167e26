// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measures of RFC 9743's criteria: losses, delays, completion, starvation, recovery.

use tandem_results::{FlowResult, LinkTrace, SeedResult};
use tandem_scenario::Scenario;
use tandem_statistics::{mean, percentile};

/// Data packets sent after the warm-up.
pub(crate) fn sent(flows: &[&FlowResult]) -> f64 {
    flows.iter().map(|flow| flow.sent_packets as f64).sum()
}

/// Percent of the packets sent that had been sent before.
pub(crate) fn retransmit_share(flows: &[&FlowResult]) -> f64 {
    let again: f64 = flows.iter().map(|flow| flow.retransmits as f64).sum();
    100.0 * again / sent(flows).max(1.0)
}

/// Percent of the packets offered to a link that its queue dropped.
pub(crate) fn loss_rate(seed: &SeedResult, link: usize) -> f64 {
    let link = &seed.links[link];
    100.0 * link.drops as f64 / (link.offered_packets as f64).max(1.0)
}

/// A breaker sees congestion that persists in this many measurement periods in a row. Ours: RFC 8084 leaves the number to who builds
/// the breaker.
const PERIODS: usize = 3;

/// The most that a link loses in each of three measurement periods of `span_s` seconds in a row, percent of what is offered in a period: a breaker
/// trips whose limit is lower. `None` if the run has fewer.
pub(crate) fn sustained_loss(link: &LinkTrace, span_s: f64) -> Option<f64> {
    let span = (span_s as usize).max(1);
    let sums = |seconds: &[u32]| -> Vec<f64> {
        seconds.chunks_exact(span).map(|period| period.iter().sum::<u32>().into()).collect()
    };
    let (offered, lost) = (sums(&link.offered_by_second), sums(&link.lost_by_second));
    let shares: Vec<f64> = offered.iter().zip(&lost).map(|(offered, lost)| 100.0 * lost / offered.max(1.0)).collect();
    shares.windows(PERIODS).map(|row| row.iter().copied().fold(f64::INFINITY, f64::min)).reduce(f64::max)
}

/// Mean completion of finite transfers, seconds; one that is not done counts as if it were done at the end.
pub(crate) fn completion_s(flows: &[&FlowResult], scenario: &Scenario) -> f64 {
    let end_s = scenario.duration.as_secs_f64();
    mean(&flows.iter().map(|flow| flow.completion_times_s.first().copied().unwrap_or(end_s)).collect::<Vec<_>>())
}

/// 95th percentile of the completion of short flows, seconds; one that is not done counts as if it were done at the end.
pub(crate) fn short_completion_s(flows: &[&FlowResult], scenario: &Scenario) -> Option<f64> {
    let end_s = scenario.duration.as_secs_f64();
    let transfers = flows.iter().flat_map(|flow| &flow.short_flows);
    let mut times: Vec<f64> =
        transfers.map(|t| t.completion_time_s.unwrap_or_else(|| (end_s - t.arrived_s).max(0.0))).collect();
    times.sort_by(f64::total_cmp);
    percentile(&times, 0.95)
}

/// Payload of all these flows in each whole second of the run, megabits.
fn by_second(flows: &[&FlowResult], scenario: &Scenario) -> Vec<f64> {
    let seconds = scenario.duration.as_secs_f64() as usize;
    let at = |second: usize| {
        flows.iter().map(|flow| f64::from(flow.received_mbit_by_second.get(second).copied().unwrap_or(0.0))).sum()
    };
    (0..seconds).map(at).collect()
}

/// The least that any of these flows has in any stretch of this many seconds after the warm-up, percent of an equal share of what all flows
/// have in that stretch.
pub(crate) fn least_share(flows: &[&FlowResult], all: &[&FlowResult], scenario: &Scenario, span_s: f64) -> Option<f64> {
    let first = scenario.warmup.as_secs_f64().ceil() as usize;
    let total = by_second(all, scenario);
    let own: Vec<Vec<f64>> = flows.iter().map(|flow| by_second(&[flow], scenario)).collect();
    let span = (span_s as usize).max(1);
    let shares = (first..=total.len().checked_sub(span)?).flat_map(|from| {
        let sum = |seconds: &[f64]| seconds[from..from + span].iter().sum::<f64>();
        let equal = sum(&total) / all.len() as f64;
        own.iter().map(move |flow| if equal > 0.0 { 100.0 * sum(flow) / equal } else { 100.0 }).collect::<Vec<_>>()
    });
    shares.min_by(f64::total_cmp)
}

/// How many of the last seconds say what a flow has when all is settled.
const SETTLED_S: usize = 10;

/// The flows' mean goodput over the last ten seconds, megabits a second.
pub(crate) fn settled_mbps(flows: &[&FlowResult], scenario: &Scenario) -> Option<f64> {
    let seconds = by_second(flows, scenario);
    seconds.len().checked_sub(SETTLED_S).map(|first| mean(&seconds[first..]))
}

/// Seconds from `at_s` to the end of the first second in which the flows have 90 % of what they have a second in the last ten.
pub(crate) fn recovery_s(flows: &[&FlowResult], scenario: &Scenario, at_s: f64) -> Option<f64> {
    let seconds = by_second(flows, scenario);
    let settled = settled_mbps(flows, scenario)?;
    let first = at_s.ceil() as usize;
    let rest = seconds.get(first..)?;
    let waited = rest.iter().position(|&mbit| settled > 0.0 && mbit >= 0.9 * settled).map_or(rest.len(), |at| at + 1);
    Some((first + waited) as f64 - at_s)
}

#[cfg(test)]
mod tests {
    use tandem_results::ShortTransfer;
    use tandem_scenario::file::{Overrides, parse};

    use super::*;

    fn scenario(duration_s: u32) -> Scenario {
        let text = format!(
            "duration = \"{duration_s}s\"\nwarmup = \"1s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"20p\"\n\
             [[flows]]\ncontroller = \"reno\"\ncount = 2\n"
        );
        parse(&text, "a test", "two", &Overrides::default()).expect("it is a scenario")
    }

    fn flow(mbit_by_second: &[f32]) -> FlowResult {
        FlowResult { received_mbit_by_second: mbit_by_second.into(), ..FlowResult::default() }
    }

    #[test]
    fn packets_sent_again() {
        let flow = FlowResult { sent_packets: 80, retransmits: 20, ..FlowResult::default() };
        assert_eq!((sent(&[&flow, &flow]), retransmit_share(&[&flow, &flow])), (160.0, 25.0));
        assert_eq!(retransmit_share(&[&FlowResult::default()]), 0.0, "nothing was sent");
    }

    /// Periods of two seconds lose 20, 10, 5, 10, 15 and 8 %, and the thirteenth second belongs to none. All of three in a row lose 5 % from the first
    /// to the fourth, then 8 %.
    #[test]
    fn what_a_breaker_sees_persists_for_three_periods() {
        let link = LinkTrace {
            offered_by_second: vec![100; 13],
            lost_by_second: vec![40, 0, 10, 10, 10, 0, 0, 20, 15, 15, 16, 0, 100],
            ..LinkTrace::default()
        };
        assert_eq!(sustained_loss(&link, 2.0), Some(8.0));
        assert_eq!(sustained_loss(&link, 5.0), None, "two periods are too few");
        let idle = LinkTrace { offered_by_second: vec![0; 3], lost_by_second: vec![0; 3], ..LinkTrace::default() };
        assert_eq!(sustained_loss(&idle, 1.0), Some(0.0));
    }

    /// Of ten, one is not done: it came at 4 s, and the run ends at 20 s.
    #[test]
    fn transfers_that_are_not_done_count_until_the_end() {
        let done = |s| FlowResult { completion_times_s: vec![s], ..FlowResult::default() };
        assert_eq!(completion_s(&[&done(4.0), &FlowResult::default()], &scenario(20)), 12.0);
        let short = |time| ShortTransfer { arrived_s: 4.0, bytes: 1, completion_time_s: time };
        let mut flow = FlowResult { short_flows: vec![short(Some(1.0)); 9], ..FlowResult::default() };
        flow.short_flows.push(short(None));
        let p95 = short_completion_s(&[&flow], &scenario(20)).expect("there are some");
        assert!((1.0..=16.0).contains(&p95) && p95 > 8.0, "{p95}");
        assert!(short_completion_s(&[&done(1.0)], &scenario(20)).is_none());
    }

    /// The first second is warm-up. From 2 to 4 s the first has 1 of 10 Mbit, a fifth of the equal share of 5.
    #[test]
    fn the_least_share_is_that_of_the_worst_stretch() {
        let (poor, rich) = (flow(&[0.0, 4.0, 0.5, 0.5, 3.0]), flow(&[9.0, 4.0, 4.5, 4.5, 3.0]));
        let least = least_share(&[&poor], &[&poor, &rich], &scenario(5), 2.0).expect("the run is long enough");
        assert!((least - 20.0).abs() < 1e-9, "{least}");
        assert!(
            least_share(&[&poor], &[&poor, &rich], &scenario(5), 6.0).is_none(),
            "the stretch is longer than the run"
        );
    }

    /// 4 Mbit a second in the end; more than 3.6 are reached in the second from 7 to 8 s, four seconds after 4 s.
    #[test]
    fn recovery_ends_with_the_first_second_that_is_nearly_as_good_as_the_last() {
        let mut seconds = vec![8.0; 4];
        seconds.extend([0.0, 1.0, 2.0, 3.7]);
        seconds.extend([4.0; 12]);
        assert_eq!(recovery_s(&[&flow(&seconds)], &scenario(20), 4.0), Some(4.0));
        assert_eq!(settled_mbps(&[&flow(&seconds)], &scenario(20)), Some(4.0));
        // Nothing comes ever again.
        let mut dead = vec![8.0; 4];
        dead.extend([0.0; 16]);
        assert_eq!(recovery_s(&[&flow(&dead)], &scenario(20), 4.0), Some(16.0));
    }
}
