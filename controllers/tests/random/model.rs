// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers with a model of the path against references in real numbers: step by step, on random connections.

use std::collections::VecDeque;

use proptest::{
    prelude::*,
    test_runner::{TestCaseError, TestCaseResult},
};
use serde::{Deserialize, Serialize};
use tandem_controllers::{Ack, Controller, MAX_RTT_US, Params, State};
use tandem_testing::trace::{Command, Host, Rate};

use crate::ways::{Ways, all_ways};

const MSS: u32 = 1448;
/// Ways that agree so far, of which rounding alone tells one from the other.
const MAX_WAYS: usize = 64;

/// A controller with a model of the path, from its paper.
pub trait Model: Clone + PartialEq + std::fmt::Debug {
    fn new(params: &Params, mss: u32, window: u32, now_us: u64) -> Self;
    /// One ACK; where rounding can turn a decision, `ways` decides.
    fn ack(&mut self, now_us: u64, ack: &Ack, ways: &mut Ways);
    /// The host fills the integer controller's window, packets.
    fn sends(&mut self, _window: u32) {}
    /// Are the integer controller's window, packets, and rate, bytes a second, what this one makes of it?
    fn agrees(&self, window: u32, rate: u64) -> bool;
    /// The next step begins from the integer controller's window and rate, which agreed.
    fn follow(&mut self, _window: u32, _rate: u64) {}
    /// A reduction would be due.
    fn reduce(&mut self);
    fn enter(&mut self, state: State);
    /// Sending resumes with nothing in flight.
    fn restart(&mut self, now_us: u64);
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Path {
    base_rtt_us: u32,
    bdp: u32,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Step {
    /// ACKs of `by` packets for this many windows, while others keep `others` packets in the queue; each tells of `lost` packets.
    Rounds {
        count: u32,
        by: u32,
        others: u32,
        lost: u32,
    },
    /// A recovery in which this many ACKs come.
    Recovery {
        acks: u32,
        lost: u32,
    },
    Timeout,
    Idle {
        us: u32,
    },
    /// The application keeps `flight` packets in flight at most.
    Application {
        flight: u32,
        count: u32,
    },
    /// A round of a fifth of the window, others leaving the path meanwhile: a small flight.
    Pause {
        us: u32,
    },
}

struct Pair<M> {
    host: Host,
    ways: Vec<M>,
    path: Path,
    delivered: u32,
    /// For each packet in flight, the packets delivered when it was sent.
    sent: VecDeque<u32>,
    /// What whole microseconds have left of the times between ACKs, us.
    owed_us: f64,
    application: bool,
    counts_marks: bool,
    /// Each step begins where rounding led the integer controller, so that only that step's rounding counts.
    follows: bool,
}

impl<M: Model> Pair<M> {
    fn new(params: &Params, path: Path, window: u32) -> Self {
        let host = Host::begin(params, window, MSS, 0);
        let reference = M::new(params, MSS, window, host.conn().now_us);
        let counts_marks = params.controller().counts_marks();
        Self {
            host,
            ways: vec![reference],
            path,
            delivered: 0,
            sent: VecDeque::new(),
            owed_us: 0.0,
            application: false,
            counts_marks,
            follows: true,
        }
    }

    fn command(&mut self, command: Command) {
        self.host.play(&command).unwrap_or_else(|e| panic!("{command:?}: {e}"));
    }

    fn play(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Rounds { count, by, others, lost } => (0..count).try_for_each(|_| self.round(by, others, lost))?,
            Step::Recovery { acks, lost } => {
                self.ways.iter_mut().for_each(M::reduce);
                self.command(Command::Loss);
                self.enter(State::Recovery);
                self.ack(1, 0, lost)?;
                for _ in 1..acks {
                    self.ack(1, 0, 0)?;
                }
                self.command(Command::Recovered);
                self.enter(State::Open);
            }
            Step::Timeout => {
                self.ways.iter_mut().for_each(M::reduce);
                self.command(Command::Timeout);
                self.enter(State::Loss);
                self.round(1, 0, 0)?;
                self.command(Command::Recovered);
                self.enter(State::Open);
            }
            Step::Idle { us } => {
                self.command(Command::Wait { us });
                let cwnd = self.host.conn().snd_cwnd;
                self.command(Command::Restart { cwnd });
                let now_us = self.host.conn().now_us;
                self.ways.iter_mut().for_each(|way| way.restart(now_us));
                self.compare(&"idle")?;
            }
            Step::Application { flight, count } => {
                self.command(Command::App { flight });
                self.application = true;
                (0..count).try_for_each(|_| self.round(1, 0, 0))?;
                self.command(Command::Bulk);
                self.application = false;
            }
            Step::Pause { us } => self.command(Command::Wait { us }),
        }
        Ok(())
    }

    fn enter(&mut self, state: State) {
        self.ways.iter_mut().for_each(|way| way.enter(state));
    }

    fn round(&mut self, by: u32, others: u32, lost: u32) -> Result<(), TestCaseError> {
        let mut left = self.host.flight();
        while left > 0 {
            let packets = left.min(by);
            self.ack(packets, others, lost)?;
            left -= packets;
        }
        Ok(())
    }

    fn ack(&mut self, packets: u32, others: u32, lost: u32) -> Result<(), TestCaseError> {
        let flight = self.host.flight();
        if flight < packets {
            return Ok(());
        }
        let queue = (flight + others).saturating_sub(self.path.bdp);
        let queueing_us = u64::from(self.path.base_rtt_us) * u64::from(queue) / u64::from(self.path.bdp);
        // What is longer counts as this much.
        let rtt_us = (u64::from(self.path.base_rtt_us) + queueing_us).min(MAX_RTT_US.into()) as u32;
        let prior_delivered = self.take_sent(flight, packets);
        self.delivered += packets;
        // A flight that has shrunk since then makes this RTT shorter: a whole window in it would be more than the path carries.
        let prior_delivered = prior_delivered.max(self.delivered.saturating_sub(flight));
        // A queue above a quarter of the BDP marks every packet, a shorter one every other.
        let marked = if 4 * queue > self.path.bdp { packets } else { packets / 2 };
        let marked = if queue > 0 { marked } else { 0 };
        let rate = Rate { delivered: self.delivered - prior_delivered, interval_us: rtt_us, lost, marked };
        let gap_us = self.gap_us(rtt_us, flight, packets);
        self.command(Command::Ack { packets, rtt_us, times: 1, gap_us, rate });
        let ack = Ack {
            pkts_acked: packets,
            acked_sacked: packets,
            rtt_us,
            delivered: self.delivered,
            prior_delivered,
            interval_us: rtt_us,
            is_app_limited: self.application.into(),
            in_flight: (flight - packets).saturating_sub(lost),
            lost,
            marked: if self.counts_marks { marked } else { 0 },
        };
        let now_us = self.host.conn().now_us;
        let ways = self.ways.iter().flat_map(|way| all_ways(way, |next, ways| next.ack(now_us, &ack, ways)));
        let mut ways: Vec<M> = ways.collect();
        std::mem::swap(&mut self.ways, &mut ways);
        self.compare(&ack)
    }

    /// The time to the next ACK. The ACKs of a window take an RTT together: a clock that falls behind would make rates seem to rise without end.
    fn gap_us(&mut self, rtt_us: u32, flight: u32, packets: u32) -> u32 {
        self.owed_us += f64::from(rtt_us) * f64::from(packets) / f64::from(flight);
        let gap_us = self.owed_us.floor();
        self.owed_us -= gap_us;
        gap_us as u32
    }

    /// Takes the oldest `packets` of the `flight` off: how many were delivered when the last of them was sent.
    fn take_sent(&mut self, flight: u32, packets: u32) -> u32 {
        self.sent.resize(flight as usize, self.delivered);
        self.sent.drain(..packets as usize).next_back().unwrap_or(self.delivered)
    }

    /// At least one way must lead to where the integer controller is.
    fn compare(&mut self, after: &dyn std::fmt::Debug) -> Result<(), TestCaseError> {
        let conn = *self.host.conn();
        let (window, rate) = (conn.snd_cwnd, conn.pacing_bytes_per_s);
        let last = self.ways[0].clone();
        self.ways.iter_mut().for_each(|way| way.sends(window));
        self.ways.retain(|way| way.agrees(window, rate));
        if self.follows {
            self.ways.iter_mut().for_each(|way| way.follow(window, rate));
        }
        let mut distinct: Vec<M> = Vec::new();
        for way in std::mem::take(&mut self.ways) {
            if !distinct.contains(&way) {
                distinct.push(way);
            }
        }
        self.ways = distinct;
        prop_assert!(
            !self.ways.is_empty(),
            "after {:?}: window {}, rate {}\none of the ways: {:?}",
            after,
            window,
            rate,
            last
        );
        prop_assert!(self.ways.len() <= MAX_WAYS, "{} ways", self.ways.len());
        Ok(())
    }
}

fn step() -> impl Strategy<Value = Step> {
    let others = prop_oneof![2 => Just(0), 1 => 0..200u32];
    let lost = prop_oneof![6 => Just(0), 1 => Just(1)];
    prop_oneof![
        8 => (1..20u32, 1..=2u32, others, lost)
            .prop_map(|(count, by, others, lost)| Step::Rounds { count, by, others, lost }),
        1 => (1..200u32, 1..20u32).prop_map(|(acks, lost)| Step::Recovery { acks, lost }),
        1 => Just(Step::Timeout),
        1 => (1..15_000_000u32).prop_map(|us| Step::Idle { us }),
        1 => (1..100u32, 1..15u32).prop_map(|(flight, count)| Step::Application { flight, count }),
        1 => (1..12_000_000u32).prop_map(|us| Step::Pause { us }),
    ]
}

/// Values that someone might choose.
const CHOICES: [(&str, &[f64]); 18] = [
    ("high_gain", &[1.5, 2.0, 4.0]),
    // Not 1: there the end of DRAIN would not show.
    ("drain_gain", &[0.25, 0.5]),
    ("probe_gain", &[1.0, 1.5]),
    ("yield_gain", &[0.5, 1.0]),
    ("bw_window", &[2.0, 5.0, 30.0]),
    ("rtt_window", &[1.0, 5.0]),
    ("aggregation", &[0.0]),
    ("policer", &[0.0]),
    ("g", &[0.125, 0.5]),
    ("virtual_rtt", &[0.0, 50_000.0]),
    ("transition", &[0.0, 5.0]),
    ("loss_threshold", &[0.005, 0.1]),
    ("beta", &[0.5, 0.9]),
    ("headroom", &[0.0, 0.5]),
    ("full_losses", &[1.0, 3.0]),
    ("probe_wait", &[0.25, 5.0]),
    ("competitive", &[0.0]),
    ("delta", &[0.25, 1.0]),
];

/// Choices that a case makes; the others repeat them, so that new parameters leave old cases as they are.
const PICKS: usize = 8;

/// A connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// Which of its choices each parameter takes; `None`: its default.
    picks: Vec<Option<usize>>,
    path: Path,
    /// Packets.
    window: u32,
    steps: Vec<Step>,
}

impl Case {
    /// The parameters that the case chooses.
    pub fn parameters(&self, controller: &'static Controller) -> Params {
        let mut params = Params::new(controller);
        for ((name, values), pick) in CHOICES.iter().zip(self.picks.iter().cycle()) {
            if let Some(pick) = pick.filter(|_| params.get(name).is_some()) {
                // A controller whose range excludes the value keeps its default.
                let _ = params.set(name, values[pick % values.len()]);
            }
        }
        params
    }
}

/// Half the cases with the defaults.
pub fn case() -> impl Strategy<Value = Case> {
    let picks = prop_oneof![Just(Vec::new()), prop::collection::vec(prop::option::of(0..6usize), PICKS)];
    // Sixteen times the longest is the bound. A path whose RTT stays there, however long its queue, would deliver any rate.
    let base_rtt_us = prop_oneof![9 => 5_000..300_000u32, 1 => 300_000..=MAX_RTT_US / 16];
    let path = (base_rtt_us, 20..500u32).prop_map(|(base_rtt_us, bdp)| Path { base_rtt_us, bdp });
    (picks, path, 4..20u32, prop::collection::vec(step(), 1..25)).prop_map(|(picks, path, window, steps)| Case {
        picks,
        path,
        window,
        steps,
    })
}

/// One case, for a controller whose oracle is an `M`.
pub fn play<M: Model>(params: &Params, case: &Case) -> TestCaseResult {
    let mut pair = Pair::<M>::new(params, case.path, case.window);
    case.steps.iter().try_for_each(|step| pair.play(*step))
}

/// A long run: a round that loses packets after a few, then bulk data over a steady path.
#[derive(Clone, Copy, Debug)]
pub struct LongRun {
    pub base_rtt_us: u32,
    /// Packets an ACK.
    pub by: u32,
    pub rounds: u32,
}

impl LongRun {
    const BDP: u32 = 400;
    const WINDOW: u32 = 10;
    const LOSSY_ROUND: u32 = 4;

    /// Packets whose RTT is the longest that counts: with more, the path would deliver any rate.
    fn most_packets(&self) -> u32 {
        Self::BDP * (MAX_RTT_US / self.base_rtt_us)
    }
}

/// The reference is never set to the integer controller's window or rate, so that whatever an integer drops on each ACK adds up.
/// `Err`: they have grown apart.
pub fn run_for_long<M: Model>(params: &Params, run: LongRun) -> TestCaseResult {
    let path = Path { base_rtt_us: run.base_rtt_us, bdp: LongRun::BDP };
    let mut pair = Pair::<M>::new(params, path, LongRun::WINDOW);
    pair.follows = false;
    for round in 0..run.rounds {
        let lost = if round == LongRun::LOSSY_ROUND { 1 } else { 0 };
        if pair.host.flight() > run.most_packets() {
            break;
        }
        pair.round(run.by, 0, lost)?;
    }
    Ok(())
}
