// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random connections and events for them.

use proptest::prelude::*;
use tandem_controllers::{Ack, Conn, MAX_WINDOW, State};

use super::Event;

fn window() -> impl Strategy<Value = u32> {
    prop_oneof![1..=4u32, 1..=100u32, 1..=10_000u32, 1..=MAX_WINDOW]
}

fn rtt_us() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 1..=10u32, 90_000..=200_000u32, any::<u32>()]
}

fn acked() -> impl Strategy<Value = u32> {
    prop_oneof![0..=2u32, 0..=65536u32]
}

/// Whatever an ACK may say, and its delivery rate.
fn ack() -> impl Strategy<Value = Ack> {
    let delivered = prop_oneof![1..=100u32, any::<u32>()];
    let interval_us = prop_oneof![1 => Just(0), 4 => 1..=200_000u32, 1 => any::<u32>()];
    let in_flight = prop_oneof![0..=4u32, 0..=10_000u32, any::<u32>()];
    let lost = prop_oneof![4 => Just(0), 1 => 1..=100u32, 1 => any::<u32>()];
    let rate = (any::<u32>(), delivered, interval_us, 0..=1u32, in_flight, lost);
    (acked(), rtt_us(), rate).prop_map(
        |(pkts_acked, rtt_us, (delivered, since, interval_us, is_app_limited, in_flight, lost))| {
            let prior_delivered = delivered.wrapping_sub(since);
            Ack { pkts_acked, rtt_us, delivered, prior_delivered, interval_us, is_app_limited, in_flight, lost }
        },
    )
}

fn state() -> impl Strategy<Value = State> {
    prop::sample::select(vec![State::Open, State::Disorder, State::Cwr, State::Recovery, State::Loss])
}

/// A connection in any state that the contract allows.
pub fn conn() -> impl Strategy<Value = Conn> {
    let ssthresh = prop_oneof![window(), any::<u32>()];
    let count = prop_oneof![Just(0), any::<u32>()];
    let limits = (window(), count, ssthresh, window());
    let mss = prop_oneof![1..=3u32, 1..=65535u32];
    let now_us = prop_oneof![Just(0), 0..=1u64 << 50];
    let times = (now_us, prop_oneof![Just(0), 0..=1u64 << 30, any::<u64>()]);
    (limits, any::<u32>(), any::<u32>(), mss, 0..=1u32, times).prop_map(
        |(limits, snd_una, snd_nxt, mss, is_cwnd_limited, (now_us, pacing_bytes_per_s))| {
            let (snd_cwnd, snd_cwnd_cnt, snd_ssthresh, snd_cwnd_clamp) = limits;
            Conn {
                now_us,
                snd_cwnd,
                snd_cwnd_cnt,
                snd_ssthresh,
                snd_cwnd_clamp,
                snd_una,
                snd_nxt,
                mss,
                is_cwnd_limited,
                pacing_bytes_per_s,
            }
        },
    )
}

/// The simplest first: a failing case shrinks towards them.
pub fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => ack().prop_map(Event::Ack),
        8 => ack().prop_map(Event::Round),
        1 => rtt_us().prop_map(Event::Sample),
        1 => rtt_us().prop_map(Event::Wait),
        1 => state().prop_map(Event::Reduce),
        2 => state().prop_map(Event::SetState),
        1 => any::<bool>().prop_map(|adopt| Event::Undo { adopt }),
        1 => window().prop_map(Event::Restart),
        1 => (window(), any::<bool>()).prop_map(|(cwnd, limited)| Event::Host { cwnd, limited }),
        1 => conn().prop_map(Event::HostAnything),
    ]
}
