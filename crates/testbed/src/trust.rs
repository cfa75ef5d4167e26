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

/// `base_rtts_ns` by flow; `tick_gap_ns`: between looks at the flows' sockets.
pub fn judge(
    base_rtts_ns: &[u64],
    punctuality: &Punctuality,
    stray_drops: u64,
    tick_gap_ns: &Histogram<u64>,
) -> Emulation {
    let wall_ns = punctuality.wall_ns.max(1) as f64;
    let mut emulation = Emulation {
        lateness_us: distribution(&punctuality.lateness_ns, 1e-3),
        look_gap_us: distribution(&punctuality.look_gap_ns, 1e-3),
        cpu_share: punctuality.cpu_ns as f64 / wall_ns,
        starved_share: punctuality.starved_ns as f64 / wall_ns,
        stray_drops,
        doubts: Vec::new(),
    };
    let mut doubt = |is_in_doubt: bool, why: String| {
        if is_in_doubt {
            emulation.doubts.push(why);
        }
    };
    let shortest_us = base_rtts_ns.iter().copied().min().unwrap_or(0) as f64 / 1e3;
    let (limit_us, p99_us) = (MAX_LATENESS_SHARE * shortest_us, emulation.lateness_us.p99);
    doubt(
        p99_us > limit_us,
        format!(
            "1 % of the packets were {p99_us:.0} us late or more; {limit_us:.0} us ({} % of the shortest RTT) are allowed",
            MAX_LATENESS_SHARE * 100.0
        ),
    );
    let gap_us = emulation.look_gap_us.p99;
    doubt(
        gap_us > limit_us,
        format!(
            "the host was starved: 1 % of the emulator's looks at the hosts' packets came {gap_us:.0} us apart or more"
        ),
    );
    doubt(stray_drops > 0, format!("{stray_drops} packets were lost outside the scenario's links"));
    // Later than this a socket may have run out of data to send.
    let p99_ticks = tick_gap_ns.value_at_quantile(0.99) / TICK_NS;
    doubt(
        p99_ticks >= BACKLOG_TICKS,
        format!("senders may have lacked data: 1 % of the looks at their sockets came {p99_ticks} ms late or more"),
    );
    emulation
}
