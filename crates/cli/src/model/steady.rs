// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--controller compound_steady`: where flows that share a link come to rest, and how.

use serde::Serialize;
use tandem_model::steady::{Flow, Law, Modes, Rest};
use tandem_scenario::units::Span;

use super::{setup::Setup, text::table};
use crate::failure::Failure;

/// A rate this close to that at rest is at rest.
const WITHIN: f64 = 0.1;
const LONGEST_S: f64 = 1000.0;
/// More of the shortest would take longer than anybody waits.
const MOST_RTTS: f64 = 300_000.0;

/// What the model says of the flows of a link.
#[derive(Serialize)]
pub struct Together {
    rtts_ms: Vec<f64>,
    rates_mbps: Vec<f64>,
    #[serde(flatten)]
    rest: Rest,
    /// Does the buffer hold the queue at rest? Otherwise losses come first.
    fits: bool,
    /// Near rest, were all RTTs the first flow's.
    modes: Modes,
    largest_gain: f64,
    /// Until each is within 10 % of its rate, after the first flow had the link and the others began with a packet; `None`: not within
    /// `looked_at_s`.
    late_comers_s: Option<f64>,
    looked_at_s: f64,
}

/// The flow of `--rtt` and those of `--peer-rtt`, each of which has seen the buffer overflow.
pub fn together(setup: &Setup, law: &Law, peers: &[Span]) -> Result<Together, Failure> {
    if setup.rate.is_range() || setup.rtt.is_range() || setup.queue.is_range() {
        return Err(Failure::usage("the model of compound_steady needs one rate, one RTT and one queue, not ranges"));
    }
    if peers.iter().any(|rtt| rtt.ns == 0) {
        return Err(Failure::usage("--peer-rtt 0s: the model needs a propagation delay, such as 50ms"));
    }
    let path = setup.path(0, 0)?;
    let packets_per_s = path.packets_per_s();
    let overflow_s = Some(path.buffer_packets / packets_per_s);
    let rtts_s: Vec<f64> = [path.rtt].iter().chain(peers).map(|rtt| rtt.as_secs_f64()).collect();
    let flows: Vec<Flow> = rtts_s.iter().map(|&base_rtt_s| Flow { base_rtt_s, overflow_s }).collect();
    let rest = law.rest(packets_per_s, &flows);
    let least_s = rtts_s.iter().copied().fold(f64::INFINITY, f64::min);
    let looked_at_s = LONGEST_S.min(MOST_RTTS * least_s);
    let rtt_s = rtts_s[0] + rest.queueing_delay_s;
    let mut windows = vec![1.0; flows.len()];
    windows[0] = path.bdp_packets();
    let mbps = |packets_per_s: f64| packets_per_s * f64::from(setup.mtu) * 8.0 / 1e6;
    Ok(Together {
        rtts_ms: rtts_s.iter().map(|rtt_s| rtt_s * 1e3).collect(),
        rates_mbps: rest.shares.iter().map(|share| mbps(share.packets_per_s)).collect(),
        fits: rest.queue_packets <= path.buffer_packets,
        modes: law.modes(rest.queueing_delay_s, rtt_s),
        largest_gain: law.largest_gain(rest.queueing_delay_s, rtt_s),
        late_comers_s: law.time_to_rest(packets_per_s, &flows, &windows, WITHIN, looked_at_s),
        looked_at_s,
        rest,
    })
}

pub fn text(together: &Together) -> String {
    let mut flows = table(&["RTT ms", "rate, Mb/s", "window, packets", "own backlog, packets"]);
    for ((rtt_ms, mbps), share) in together.rtts_ms.iter().zip(&together.rates_mbps).zip(&together.rest.shares) {
        flows.add_row([
            format!("{rtt_ms:.1}"),
            format!("{mbps:.2}"),
            format!("{:.1}", share.window_packets),
            format!("{:.2}", share.backlog_packets),
        ]);
    }
    let Modes { shrink, growth, difference } = together.modes;
    let rounds = -1.0 / difference.ln();
    let late = match together.late_comers_s {
        _ if together.rtts_ms.len() == 1 => String::new(),
        Some(s) => format!("Late-comers are within 10 % of their rates after {s:.1} s.\n"),
        None => format!("Late-comers are not within 10 % of their rates in {:.0} s.\n", together.looked_at_s),
    };
    let overflows = if together.fits { "" } else { "The buffer does not hold that queue: losses come first.\n" };
    format!(
        "{flows}\n\nQueue at rest: {:.1} packets, {:.2} ms.\n{overflows}{late}\n\
         Near rest a round leaves {shrink:.2} of a disturbance of all windows where they shrink, {growth:.2} where they grow; \
         of a difference between two, {difference:.4}: {rounds:.0} rounds for the most of it.\n\
         Stable up to a gain of {:.2}; the law's is 0.5.\n",
        together.rest.queue_packets,
        together.rest.queueing_delay_s * 1e3,
        together.largest_gain,
    )
}
