// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a run may be believed: was the path as the scenario says, and did the machine keep up?

use hdrhistogram::Histogram;
use tandem_network::distribution;
use tandem_scenario::result::Emulation;

use crate::{
    emulator::Punctuality,
    traffic::{BACKLOG_TICKS, TICK_NS},
};

/// The 99th percentiles of lateness and of the time between looks may be this share of the shortest RTT.
const MAX_LATENESS_SHARE: f64 = 0.01;

/// A whole run: `base_rtts_ns` by flow; `tick_gap_ns`: between looks at the flows' sockets.
pub fn judge(
    base_rtts_ns: &[u64],
    punctuality: &Punctuality,
    stray_drops: u64,
    tick_gap_ns: &Histogram<u64>,
) -> Emulation {
    let shortest_rtt_ns = base_rtts_ns.iter().copied().min().unwrap_or(0);
    let mut emulation = judge_path(shortest_rtt_ns, punctuality, stray_drops);
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
pub fn judge_path(shortest_rtt_ns: u64, punctuality: &Punctuality, stray_drops: u64) -> Emulation {
    let wall_ns = punctuality.wall_ns.max(1) as f64;
    let lateness_us = distribution(&punctuality.lateness_ns, 1e-3);
    let look_gap_us = distribution(&punctuality.look_gap_ns, 1e-3);
    let limit_us = MAX_LATENESS_SHARE * shortest_rtt_ns as f64 / 1e3;
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
