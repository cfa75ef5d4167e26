// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a run may be believed: was the path as the scenario says, and did the machine keep up?

use hdrhistogram::Histogram;
use tandem_network::distribution;
use tandem_scenario::{Limit, LinkConfig, result::Emulation};

use crate::{
    emulator::{Pauses, Punctuality},
    traffic::{BACKLOG_TICKS, TICK_NS},
};

/// The 99th percentiles of lateness and of the time between looks may be this share of the shortest RTT.
const MAX_LATENESS_SHARE: f64 = 0.01;

/// What hosts send during a pause of the emulator enters the path in one burst after it. A pause of this share of what the shortest
/// buffer holds counts as one.
const PAUSE_SHARE: f64 = 0.1;

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
        let buffer_ns = |link: &LinkConfig| {
            let bytes = match link.limit {
                Limit::Packets(packets) => u128::from(packets) * u128::from(mtu),
                Limit::Bytes(bytes) => u128::from(bytes),
            };
            (bytes * 8_000_000_000 / u128::from(link.rate.bps)) as u64
        };
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
        }
    }
}

/// A whole run; `tick_gap_ns`: between looks at the flows' sockets.
pub fn judge(measure: Measure, punctuality: &Punctuality, stray_drops: u64, tick_gap_ns: &Histogram<u64>) -> Emulation {
    let longest_pause_ns = punctuality.look_gap_ns.max().max(tick_gap_ns.max());
    let mut emulation = judge_paused(measure, punctuality, stray_drops, longest_pause_ns);
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
    judge_paused(measure, punctuality, stray_drops, punctuality.look_gap_ns.max())
}

fn judge_paused(measure: Measure, punctuality: &Punctuality, stray_drops: u64, longest_pause_ns: u64) -> Emulation {
    let wall_ns = punctuality.wall_ns.max(1) as f64;
    let lateness_us = distribution(&punctuality.lateness_ns, 1e-3);
    let look_gap_us = distribution(&punctuality.look_gap_ns, 1e-3);
    let limit_us = MAX_LATENESS_SHARE * measure.shortest_rtt_ns as f64 / 1e3;
    let allowed = format!("{limit_us:.0} us ({} % of the shortest RTT) are allowed", MAX_LATENESS_SHARE * 100.0);
    let mut doubts = Vec::new();
    if lateness_us.p99 > limit_us {
        doubts.push(format!("1 % of the packets were {:.0} us late or more; {allowed}", lateness_us.p99));
    }
    if look_gap_us.p99 > limit_us {
        doubts.push(format!(
            "the host was starved: 1 % of the emulator's looks at the hosts' packets came {:.0} us apart or more; {allowed}",
            look_gap_us.p99
        ));
    }
    if punctuality.drops_after_pauses > 0 {
        doubts.push(format!(
            "{} packets were dropped by full queues right after the host had been starved, for up to {:.1} ms at a time: what was sent \
             meanwhile had come in one burst",
            punctuality.drops_after_pauses,
            longest_pause_ns as f64 / 1e6
        ));
    }
    if stray_drops > 0 {
        doubts.push(format!("{stray_drops} packets were lost outside the scenario's links"));
    }
    Emulation {
        lateness_us,
        look_gap_us,
        cpu_share: punctuality.cpu_ns as f64 / wall_ns,
        starved_share: punctuality.starved_ns as f64 / wall_ns,
        stray_drops,
        doubts,
    }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::{
        Aqm, Loss,
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
        let Pauses { longer_than_ns, suspect_for_ns } = measure().pauses();
        assert_eq!((longer_than_ns, suspect_for_ns), (1_200_000, 74_000_000));
    }

    #[test]
    fn the_shortest_rtt_and_buffer_count() {
        let measure = measure();
        assert_eq!((measure.shortest_rtt_ns, measure.shortest_buffer_ns), (40_000_000, 12_000_000));
    }

    /// 1 % of 40 ms are 400 us. A pause alone is no doubt.
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
        tick_gap_ns.record(40_000_000).unwrap();
        let doubts = judge(measure(), &punctuality(100, 100, 7), 0, &tick_gap_ns).doubts;
        assert!(doubts.len() == 1 && doubts[0].contains("40.0 ms"), "{doubts:?}");
        let lost = judge_path(measure(), &punctuality(1, 1, 0), 3).doubts;
        assert!(lost.len() == 1 && lost[0].contains("3 packets"), "{lost:?}");
    }
}
