// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold of every controller whatever the host does, in any order, with any numbers the contract allows.

mod invariant;

use std::ops::Range;

use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence, TestRunner},
};
use tandem_controllers::{CONTROLLERS, Conn, MAX_WINDOW, State};

use invariant::{Connection, Event, parameters};

/// Of 300 events on average, hence 300 000 events for each controller.
const CASES_PER_CONTROLLER: u32 = 1000;
const EVENTS: Range<usize> = 0..601;

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

fn conn() -> impl Strategy<Value = Conn> {
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
fn event() -> impl Strategy<Value = Event> {
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

#[test]
fn hold_whatever_the_host_does() {
    // One run for all controllers: proptest can fork only the first that a test starts.
    let mut runner = TestRunner::new(Config {
        cases: CASES_PER_CONTROLLER * CONTROLLERS.len() as u32,
        // The sanitizers trap: only a child process can die of that and still be shrunk.
        fork: cfg!(feature = "sanitize"),
        test_name: Some("hold_whatever_the_host_does"),
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..Config::default()
    });
    let params = (0..CONTROLLERS.len()).prop_flat_map(|i| parameters(&CONTROLLERS[i]));
    let cases = (params, conn(), prop::collection::vec(event(), EVENTS));
    let outcome = runner.run(&cases, |(params, conn, events)| {
        let mut connection = Connection::new(params, conn)?;
        events.into_iter().try_for_each(|event| connection.play(event))
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
}
