// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a run may be believed: was the path as the scenario says, and did the machine keep up?

use hdrhistogram::Histogram;
use tandem_network::distribution;
use tandem_results::Emulation;
use tandem_scenario::LinkConfig;

use crate::{
    emulator::{Pauses, Punctuality},
    traffic::{BACKLOG_TICKS, TICK_NS},
};

/// The 99th percentiles of lateness and of the time between looks may be this share of the shortest RTT.
const MAX_LATENESS_SHARE: f64 = 0.01;

/// What hosts send during a pause of the emulator enters the path in one burst after it. A pause of this share of what the shortest
/// buffer holds counts as one.
const PAUSE_SHARE: f64 = 0.1;

/// Fewer than these tell nothing of one in a hundred.
const FEWEST_EXCESSES: u64 = 3;

/// The longest pause that a run may have: a round trip, but no shorter and no longer than these. TCP notices every one; of 200 ms and more
/// it makes a timeout.
const SHORTEST_PAUSE_NS: u64 = 10_000_000;
const LONGEST_PAUSE_NS: u64 = 50_000_000;

/// Between two looks at packets, ns: more is not served, unless it is within the allowed lateness. And the share of a run that may be so.
const UNSERVED_FROM_NS: u64 = 1_000_000;
const MAX_UNSERVED_SHARE: f64 = 0.01;

/// What the path's punctuality is held against.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    pub shortest_rtt_ns: u64,
    longest_rtt_ns: u64,
    /// How long a full buffer takes to empty; the shortest time of all links that data takes.
    pub shortest_buffer_ns: u64,
    longest_buffer_ns: u64,
}

impl Measure {
    /// `base_rtts_ns` by flow; `mtu` in bytes.
    pub fn new<'a>(base_rtts_ns: &[u64], links: impl Iterator<Item = &'a LinkConfig>, mtu: u32) -> Self {
        let buffer_ns =
            |link: &LinkConfig| (u128::from(link.limit.bytes(mtu)) * 8_000_000_000 / u128::from(link.rate.bps)) as u64;
        let buffers_ns: Vec<u64> = links.map(buffer_ns).collect();
        Self {
            shortest_rtt_ns: base_rtts_ns.iter().copied().min().unwrap_or(0),
            longest_rtt_ns: base_rtts_ns.iter().copied().max().unwrap_or(0),
            shortest_buffer_ns: buffers_ns.iter().copied().min().unwrap_or(0),
            longest_buffer_ns: buffers_ns.iter().copied().max().unwrap_or(0),
        }
    }

    /// The burst that a pause makes lasts into the next round, for its ACKs set off another.
    pub fn pauses(&self) -> Pauses {
        Pauses {
            longer_than_ns: (PAUSE_SHARE * self.shortest_buffer_ns as f64) as u64,
            suspect_for_ns: self.longest_rtt_ns + self.longest_buffer_ns,
            unserved_from_ns: UNSERVED_FROM_NS.max(self.allowed_lateness_ns()),
        }
    }

    fn allowed_lateness_ns(&self) -> u64 {
        (MAX_LATENESS_SHARE * self.shortest_rtt_ns as f64) as u64
    }

    fn longest_allowed_pause_ns(&self) -> u64 {
        self.shortest_rtt_ns.clamp(SHORTEST_PAUSE_NS, LONGEST_PAUSE_NS)
    }
}

/// A whole run; `tick_gap_ns`: between looks at the flows' sockets.
pub fn judge(measure: Measure, punctuality: &Punctuality, stray_drops: u64, tick_gap_ns: &Histogram<u64>) -> Emulation {
    let mut emulation = judge_paused(measure, punctuality, stray_drops, tick_gap_ns.max());
    // Later than this a socket may have run out of data to send.
    let p99_ticks = tick_gap_ns.value_at_quantile(0.99) / TICK_NS;
    if p99_ticks >= BACKLOG_TICKS {
        emulation.doubts.push(format!(
            "senders may have lacked data: 1 % of the looks at their sockets came {p99_ticks} ms apart or more"
        ));
    }
    emulation
}

/// The emulated path alone.
pub fn judge_path(measure: Measure, punctuality: &Punctuality, stray_drops: u64) -> Emulation {
    judge_paused(measure, punctuality, stray_drops, 0)
}

/// `other_pause_ns`: the longest of what is not the path's own.
fn judge_paused(measure: Measure, punctuality: &Punctuality, stray_drops: u64, other_pause_ns: u64) -> Emulation {
    let wall_ns = punctuality.wall_ns.max(1) as f64;
    let lateness_us = distribution(&punctuality.lateness_ns, 1e-3);
    let look_gap_us = distribution(&punctuality.look_gap_ns, 1e-3);
    let limit_ns = measure.allowed_lateness_ns();
    let limit_us = limit_ns as f64 / 1e3;
    let allowed = format!("{limit_us:.0} us ({} % of the shortest RTT) are allowed", MAX_LATENESS_SHARE * 100.0);
    let mut doubts = Vec::new();
    if often_exceeds(&punctuality.lateness_ns, limit_ns) {
        doubts.push(format!("1 % of the packets were {:.0} us late or more; {allowed}", lateness_us.p99));
    }
    if often_exceeds(&punctuality.look_gap_ns, limit_ns) {
        doubts.push(format!(
            "the host was starved: 1 % of the emulator's looks at the hosts' packets came {:.0} us apart or more; {allowed}",
            look_gap_us.p99
        ));
    }
    let own_pause_ns = punctuality.look_gap_ns.max().max(punctuality.lateness_ns.max());
    let longest_pause_ms = own_pause_ns.max(other_pause_ns) as f64 / 1e6;
    let longest_allowed_ms = measure.longest_allowed_pause_ns() as f64 / 1e6;
    if longest_pause_ms > longest_allowed_ms {
        doubts.push(format!(
            "the host stood still for {longest_pause_ms:.0} ms at least once, which the path would not have done; up to \
             {longest_allowed_ms:.0} ms are allowed"
        ));
    }
    let unserved_share = punctuality.unserved_ns as f64 / wall_ns;
    // This much at a time is allowed, also of a short command's time.
    if unserved_share > MAX_UNSERVED_SHARE && punctuality.unserved_ns > measure.longest_allowed_pause_ns() {
        doubts.push(format!(
            "the host was starved: for {:.1} % of the time packets were left alone for longer than {:.1} ms; {} % are allowed",
            unserved_share * 100.0,
            measure.pauses().unserved_from_ns as f64 / 1e6,
            MAX_UNSERVED_SHARE * 100.0
        ));
    }
    if punctuality.drops_after_pauses > 0 {
        doubts.push(format!(
            "{} packets were dropped by full queues right after the host had been starved, for up to {longest_pause_ms:.1} ms at a time: \
             the packets sent meanwhile arrived in one burst",
            punctuality.drops_after_pauses
        ));
    }
    if stray_drops > 0 {
        doubts.push(format!("{stray_drops} packets were lost outside the scenario's links"));
    }
    Emulation {
        lateness_us,
        look_gap_us,
        unserved_share,
        cpu_share: punctuality.cpu_ns as f64 / wall_ns,
        starved_share: punctuality.starved_ns as f64 / wall_ns,
        stray_drops,
        doubts,
    }
}

/// Do more than 1 % exceed the limit? A short command has too few packets for one or two to tell.
fn often_exceeds(times_ns: &Histogram<u64>, limit_ns: u64) -> bool {
    let excesses = times_ns.count_between(limit_ns + 1, times_ns.max().max(limit_ns + 1));
    excesses >= FEWEST_EXCESSES && excesses * 100 > times_ns.len()
}

#[cfg(test)]
mod tests {
    use tandem_scenario::{
        Aqm, Limit, Loss,
        units::{Rate, Span},
    };

    use tandem_network::histogram;

    use super::*;

    fn link(mbps: u64, limit: Limit) -> LinkConfig {
        LinkConfig {
            name: "link".into(),
            from: 0,
            to: 1,
            rate: Rate { bps: mbps * 1_000_000 },
            delay: Span::from_ms(10),
            limit,
            aqm: Aqm::DropTail,
            loss: Loss::None,
            effects: None,
        }
    }

    /// 100 packets of 1500 bytes take 12 ms at 100 Mb/s, 30 000 bytes 24 ms at 10 Mb/s.
    fn measure() -> Measure {
        let links = [link(100, Limit::Packets(100)), link(10, Limit::Bytes(30_000))];
        Measure::new(&[50_000_000, 40_000_000], links.iter(), 1500)
    }

    fn punctuality(lateness_us: u64, look_gap_us: u64, drops_after_pauses: u64) -> Punctuality {
        let mut punctuality = Punctuality { wall_ns: 1_000_000_000, drops_after_pauses, ..Punctuality::default() };
        punctuality.lateness_ns.record_n(lateness_us * 1000, 1000).unwrap();
        punctuality.look_gap_ns.record_n(look_gap_us * 1000, 1000).unwrap();
        punctuality.look_gap_ns.record(26_500_000).unwrap();
        punctuality
    }

    /// A tenth of 12 ms; 50 ms and the 24 ms of the other buffer.
    #[test]
    fn a_pause_is_held_against_the_buffers() {
        let Pauses { longer_than_ns, suspect_for_ns, unserved_from_ns } = measure().pauses();
        assert_eq!((longer_than_ns, suspect_for_ns), (1_200_000, 74_000_000));
        // 1 % of 40 ms are less than the millisecond that any path is given.
        assert_eq!(unserved_from_ns, 1_000_000);
    }

    #[test]
    fn the_shortest_rtt_and_buffer_count() {
        let measure = measure();
        assert_eq!((measure.shortest_rtt_ns, measure.shortest_buffer_ns), (40_000_000, 12_000_000));
    }

    /// 1 % of 40 ms are 400 us. A pause of 26.5 ms, shorter than a round trip, is no doubt alone.
    #[test]
    fn doubts_are_what_exceeds_a_limit() {
        let doubts = |lateness, gap, dropped| judge_path(measure(), &punctuality(lateness, gap, dropped), 0).doubts;
        assert_eq!(doubts(390, 390, 0), Vec::<String>::new());
        for (lateness, gap, dropped, word) in
            [(410, 100, 0, "late"), (100, 410, 0, "looks"), (100, 100, 7, "7 packets"), (100, 100, 7, "26.5 ms")]
        {
            let doubts = doubts(lateness, gap, dropped);
            assert!(doubts.len() == 1 && doubts[0].contains(word), "{word}: {doubts:?}");
        }
        let mut tick_gap_ns = histogram();
        tick_gap_ns.record_n(TICK_NS, 1000).unwrap();
        tick_gap_ns.record(35_000_000).unwrap();
        let doubts = judge(measure(), &punctuality(100, 100, 7), 0, &tick_gap_ns).doubts;
        assert!(doubts.len() == 1 && doubts[0].contains("35.0 ms"), "{doubts:?}");
        let lost = judge_path(measure(), &punctuality(1, 1, 0), 3).doubts;
        assert!(lost.len() == 1 && lost[0].contains("3 packets"), "{lost:?}");
    }

    /// Wherever it comes: while a packet was due, while packets may have waited, while the senders' application stood still.
    #[test]
    fn one_pause_of_a_round_trip_is_a_doubt() {
        for stop_ms in [41, 100, 300, 1000] {
            let stop_ns = stop_ms * 1_000_000;
            let [mut late, mut unseen, quiet] =
                [punctuality(100, 100, 0), punctuality(100, 100, 0), punctuality(1, 1, 0)];
            late.lateness_ns.record(stop_ns).unwrap();
            unseen.look_gap_ns.record(stop_ns).unwrap();
            let mut tick_gap_ns = histogram();
            tick_gap_ns.record_n(TICK_NS, 1000).unwrap();
            let no_gap = tick_gap_ns.clone();
            tick_gap_ns.record(stop_ns).unwrap();
            for (punctuality, ticks) in [(late, &no_gap), (unseen, &no_gap), (quiet, &tick_gap_ns)] {
                let doubts = judge(measure(), &punctuality, 0, ticks).doubts;
                assert!(doubts.len() == 1 && doubts[0].contains("stood still for"), "{doubts:?}");
            }
        }
    }

    /// 1 % of 10 s are 100 ms. Of a short command's time a pause that is allowed may be more.
    #[test]
    fn many_short_pauses_are_a_doubt() {
        let with_unserved = |wall_ns, unserved_ns| {
            let punctuality = Punctuality { wall_ns, unserved_ns, ..punctuality(100, 100, 0) };
            judge_path(measure(), &punctuality, 0).doubts
        };
        assert!(with_unserved(10_000_000_000, 99_000_000).is_empty());
        let doubts = with_unserved(10_000_000_000, 110_000_000);
        assert!(doubts.len() == 1 && doubts[0].contains("1.1 % of the time"), "{doubts:?}");
        assert!(with_unserved(200_000_000, 39_000_000).is_empty());
    }

    /// Nothing in flight, or a handful of packets of which one woke up a sleeping machine.
    #[test]
    fn a_short_command_is_not_doubted_for_one_late_packet() {
        assert!(
            judge_path(measure(), &Punctuality { wall_ns: 1_000_000, ..Punctuality::default() }, 0).doubts.is_empty()
        );
        let mut few = Punctuality { wall_ns: 200_000_000, ..Punctuality::default() };
        few.lateness_ns.record_n(50_000, 20).unwrap();
        few.lateness_ns.record_n(900_000, 2).unwrap();
        assert!(judge_path(measure(), &few, 0).doubts.is_empty());
        few.lateness_ns.record(900_000).unwrap();
        assert_eq!(judge_path(measure(), &few, 0).doubts.len(), 1);
    }
}
