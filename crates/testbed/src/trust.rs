// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a run may be believed: was the path as the scenario says, and did the machine keep up?

use hdrhistogram::Histogram;
use tandem_network::distribution;
use tandem_scenario::{Limit, Link, result::Emulation};

use crate::{
    emulator::Punctuality,
    traffic::{BACKLOG_TICKS, TICK_NS},
};

/// The 99th percentiles of lateness and of the time between looks may be this share of the shortest RTT.
const MAX_LATENESS_SHARE: f64 = 0.01;

/// What hosts send during a pause of the emulator enters the path in one burst after it; a pause may last this share of the time
/// that the shortest buffer holds.
const MAX_PAUSE_SHARE: f64 = 0.5;

/// What the path's punctuality is held against.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    pub shortest_rtt_ns: u64,
    /// Of all links that data takes: how long a full buffer takes to empty.
    pub shortest_buffer_ns: u64,
}

impl Measure {
    /// `base_rtts_ns` by flow; `mtu` in bytes.
    pub fn new<'a>(base_rtts_ns: &[u64], links: impl Iterator<Item = &'a Link>, mtu: u32) -> Self {
        let buffer_ns = |link: &Link| {
            let bytes = match link.limit {
                Limit::Packets(packets) => u128::from(packets) * u128::from(mtu),
                Limit::Bytes(bytes) => u128::from(bytes),
            };
            (bytes * 8_000_000_000 / u128::from(link.rate.bps)) as u64
        };
        Self {
            shortest_rtt_ns: base_rtts_ns.iter().copied().min().unwrap_or(0),
            shortest_buffer_ns: links.map(buffer_ns).min().unwrap_or(u64::MAX),
        }
    }
}

/// A whole run; `tick_gap_ns`: between looks at the flows' sockets.
pub fn judge(measure: Measure, punctuality: &Punctuality, stray_drops: u64, tick_gap_ns: &Histogram<u64>) -> Emulation {
    let mut emulation = judge_path(measure, punctuality, stray_drops);
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
    let longest_pause_ms = MAX_PAUSE_SHARE * measure.shortest_buffer_ns as f64 / 1e6;
    if look_gap_us.max / 1e3 > longest_pause_ms {
        doubts.push(format!(
            "the host was starved for {:.1} ms at a time: what was sent meanwhile came in one burst, and may have overflowed a buffer; \
             {longest_pause_ms:.1} ms ({:.0} % of the shortest buffer) are allowed",
            look_gap_us.max / 1e3,
            MAX_PAUSE_SHARE * 100.0
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

    use super::*;

    fn link(mbps: u64, limit: Limit) -> Link {
        Link {
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

    fn punctuality(lateness_us: u64, look_gap_us: u64, longest_gap_us: u64) -> Punctuality {
        let mut punctuality = Punctuality { wall_ns: 1_000_000_000, ..Punctuality::default() };
        punctuality.lateness_ns.record_n(lateness_us * 1000, 1000).unwrap();
        punctuality.look_gap_ns.record_n(look_gap_us * 1000, 1000).unwrap();
        punctuality.look_gap_ns.record(longest_gap_us * 1000).unwrap();
        punctuality
    }

    #[test]
    fn the_shortest_rtt_and_buffer_count() {
        let measure = measure();
        assert_eq!((measure.shortest_rtt_ns, measure.shortest_buffer_ns), (40_000_000, 12_000_000));
    }

    /// 1 % of 40 ms are 400 us, half of 12 ms are 6 ms.
    #[test]
    fn doubts_are_what_exceeds_a_limit() {
        let doubts = |lateness, gap, longest| judge_path(measure(), &punctuality(lateness, gap, longest), 0).doubts;
        assert_eq!(doubts(390, 390, 5_900), Vec::<String>::new());
        for (lateness, gap, longest, word) in
            [(410, 100, 100, "late"), (100, 410, 410, "looks"), (100, 100, 6_100, "6.1 ms at a time")]
        {
            let doubts = doubts(lateness, gap, longest);
            assert!(doubts.len() == 1 && doubts[0].contains(word), "{word}: {doubts:?}");
        }
        let lost = judge_path(measure(), &punctuality(1, 1, 1), 3).doubts;
        assert!(lost.len() == 1 && lost[0].contains("3 packets"), "{lost:?}");
    }
}
