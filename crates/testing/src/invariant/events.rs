// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random connections and events for them.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tandem_controllers::{Ack, Conn, Controller, MAX_RTT_US, MAX_WINDOW, Params, State};

/// As in a file.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Conn")]
struct ConnFields {
    now_us: u64,
    snd_cwnd: u32,
    snd_cwnd_cnt: u32,
    snd_ssthresh: u32,
    snd_cwnd_clamp: u32,
    snd_una: u32,
    snd_nxt: u32,
    mss: u32,
    is_cwnd_limited: u16,
    is_paced: u16,
    pacing_bytes_per_s: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Ack")]
struct AckFields {
    pkts_acked: u32,
    rtt_us: u32,
    #[serde(default)]
    acked_sacked: u32,
    delivered: u32,
    prior_delivered: u32,
    interval_us: u32,
    is_app_limited: u32,
    in_flight: u32,
    lost: u32,
    #[serde(default)]
    marked: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "State")]
enum StateName {
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
}

/// A connection and its events, for any controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Where in its range each parameter stands, 0 to 1, in turn; none: the defaults.
    positions: Vec<f64>,
    /// As the controller meets it.
    #[serde(with = "ConnFields")]
    pub conn: Conn,
    /// In their order.
    pub events: Vec<Event>,
}

impl Case {
    /// Parameters anywhere in their ranges, small values as likely as large ones.
    pub fn parameters(&self, controller: &'static Controller) -> Params {
        let mut params = Params::new(controller);
        for (p, position) in controller.params().zip(self.positions.iter().cycle()) {
            let span = (p.max - p.min) * f64::from(p.scale);
            let steps = (((span + 1.0).powf(*position) - 1.0).round()).min(span);
            params.set(p.name, p.min + steps / f64::from(p.scale)).unwrap();
        }
        params
    }
}

/// What happens to a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    /// An ordinary ACK: the window slides by what was acknowledged.
    Ack(#[serde(with = "AckFields")] Ack),
    /// An ACK of all that had been sent and more, so that any round ends; then a window is sent.
    Round(#[serde(with = "AckFields")] Ack),
    /// An RTT without an ACK, microseconds.
    Sample(u32),
    /// Microseconds pass.
    Wait(u32),
    /// ssthresh, adopted by the host, and the state.
    Reduce(#[serde(with = "StateName")] State),
    /// The state alone.
    SetState(#[serde(with = "StateName")] State),
    /// The last reduction was a mistake; does the host take the window?
    Undo {
        /// Whether the host takes the window.
        adopt: bool,
    },
    /// After an idle time, with this many packets at most.
    Restart(u32),
    /// The host sets the window.
    Host {
        /// The window, packets.
        cwnd: u32,
        /// Whether the window limits the flow from now on.
        limited: bool,
    },
    /// The host changes anything but the clock and the rate.
    HostAnything(#[serde(with = "ConnFields")] Conn),
}

fn window() -> impl Strategy<Value = u32> {
    prop_oneof![1..=4u32, 1..=100u32, 1..=10_000u32, 1..=MAX_WINDOW]
}

fn rtt_us() -> impl Strategy<Value = u32> {
    let bound = MAX_RTT_US - 9..=MAX_RTT_US + 9;
    prop_oneof![2 => Just(0), 2 => 1..=10u32, 2 => 90_000..=200_000u32, 1 => bound, 2 => any::<u32>()]
}

fn acked() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..=2u32, 4 => 0..=65536u32, 1 => 0..=MAX_WINDOW]
}

/// Whatever an ACK may say, and its delivery rate.
fn ack() -> impl Strategy<Value = Ack> {
    let delivered = prop_oneof![1..=100u32, any::<u32>()];
    let interval_us = prop_oneof![1 => Just(0), 4 => 1..=200_000u32, 1 => any::<u32>()];
    let in_flight = prop_oneof![0..=4u32, 0..=10_000u32, any::<u32>()];
    let lost = prop_oneof![4 => Just(0), 1 => 1..=100u32, 1 => any::<u32>()];
    let rate = (any::<u32>(), delivered, interval_us, 0..=1u32, in_flight, lost);
    (acked(), acked(), rtt_us(), rate).prop_map(
        |(pkts_acked, acked_sacked, rtt_us, (delivered, since, interval_us, is_app_limited, in_flight, lost))| {
            let prior_delivered = delivered.wrapping_sub(since);
            // Often as many as were acknowledged at most, as a careful host has it.
            let marked = if is_app_limited == 1 { lost } else { lost.min(acked_sacked) };
            Ack {
                pkts_acked,
                rtt_us,
                acked_sacked,
                delivered,
                prior_delivered,
                interval_us,
                is_app_limited,
                in_flight,
                lost,
                marked,
            }
        },
    )
}

fn state() -> impl Strategy<Value = State> {
    prop::sample::select(vec![State::Open, State::Disorder, State::Cwr, State::Recovery, State::Loss])
}

/// A connection in any state that the contract allows.
fn conn() -> impl Strategy<Value = Conn> {
    let ssthresh = prop_oneof![window(), any::<u32>()];
    let count = prop_oneof![Just(0), any::<u32>()];
    let limits = (window(), count, ssthresh, window());
    let mss = prop_oneof![1..=3u32, 1..=65535u32];
    let now_us = prop_oneof![Just(0), 0..=1u64 << 50];
    let times = (now_us, prop_oneof![Just(0), 0..=1u64 << 30, any::<u64>()]);
    (limits, any::<u32>(), any::<u32>(), mss, (0..=1u16, 0..=1u16), times).prop_map(
        |(limits, snd_una, snd_nxt, mss, (is_cwnd_limited, is_paced), (now_us, pacing_bytes_per_s))| {
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
                is_paced,
                pacing_bytes_per_s,
            }
        },
    )
}

/// The simplest first: a failing case shrinks towards them.
fn event() -> impl Strategy<Value = Event> {
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

/// Cases of exactly this many events.
pub fn case(events: usize) -> impl Strategy<Value = Case> {
    let position = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0f64];
    // More than any controller has parameters.
    let positions = prop_oneof![Just(Vec::new()), prop::collection::vec(position, 32)];
    (positions, conn(), prop::collection::vec(event(), events)).prop_map(|(positions, conn, events)| Case {
        positions,
        conn,
        events,
    })
}
