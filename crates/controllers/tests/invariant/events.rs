// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random connections and events for them.

use proptest::prelude::*;
use tandem_controllers::{Conn, MAX_WINDOW, State};

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
    (limits, any::<u32>(), any::<u32>(), mss, 0..=1u32, now_us).prop_map(
        |((snd_cwnd, snd_cwnd_cnt, snd_ssthresh, snd_cwnd_clamp), snd_una, snd_nxt, mss, is_cwnd_limited, now_us)| {
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
            }
        },
    )
}

/// The simplest first: a failing case shrinks towards them.
pub fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (acked(), rtt_us()).prop_map(|(acked, rtt_us)| Event::Ack { acked, rtt_us }),
        8 => (acked(), rtt_us()).prop_map(|(acked, rtt_us)| Event::Round { acked, rtt_us }),
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
