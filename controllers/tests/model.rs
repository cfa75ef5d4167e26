// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers with a model of the path against references in real numbers: step by step, on random connections.

#[path = "model/bbr.rs"]
mod bbr;
mod contract;
#[path = "model/oracle.rs"]
mod oracle;
mod trace;

use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence, TestCaseError, TestRunner},
};
use tandem_controllers::{Ack, CONTROLLERS, Params, State, find};

use bbr::Bbr;
use oracle::all_ways;
use trace::{Command, Host, Rate};

const CASES: u32 = 300;
const MSS: u32 = 1448;
/// Ways that agree so far, of which rounding alone tells one from the other.
const MAX_WAYS: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Path {
    base_rtt_us: u32,
    bdp: u32,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// ACKs of `by` packets for so many windows, while others keep `others` packets in the queue; each tells of `lost` packets.
    Rounds {
        count: u32,
        by: u32,
        others: u32,
        lost: u32,
    },
    /// A recovery in which so many ACKs come.
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

struct Pair {
    host: Host,
    ways: Vec<Bbr>,
    path: Path,
    delivered: u32,
    application: bool,
}

impl Pair {
    fn new(params: &Params, path: Path, window: u32) -> Self {
        let mut host = Host::default();
        let controller = params.controller();
        let set =
            controller.params().map(|p| Command::Set { name: p.name.to_owned(), value: params.get(p.name).unwrap() });
        let conn = Command::Conn { cwnd: window, ssthresh: None, clamp: None, mss: MSS, una: 0, flight: 0 };
        for command in [Command::Controller(controller.name.to_owned())].into_iter().chain(set).chain([conn]) {
            host.play(&command).unwrap();
        }
        let reference = Bbr::new(params, MSS, window, host.conn().now_us);
        Self { host, ways: vec![reference], path, delivered: 0, application: false }
    }

    fn command(&mut self, command: Command) {
        self.host.play(&command).unwrap_or_else(|e| panic!("{command:?}: {e}"));
    }

    fn play(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Rounds { count, by, others, lost } => (0..count).try_for_each(|_| self.round(by, others, lost))?,
            Step::Recovery { acks, lost } => {
                self.ways.iter_mut().for_each(Bbr::reduce);
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
                self.ways.iter_mut().for_each(Bbr::reduce);
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
                self.compare("idle")?;
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
        let rtt_us = self.path.base_rtt_us
            + (u64::from(self.path.base_rtt_us) * u64::from(queue) / u64::from(self.path.bdp)) as u32;
        self.delivered += packets;
        let rate = Rate { delivered: flight.min(self.delivered), interval_us: rtt_us, lost };
        self.command(Command::Ack { packets, rtt_us, times: 1, gap_us: rtt_us / flight * packets, rate });
        let ack = Ack {
            pkts_acked: packets,
            rtt_us,
            delivered: self.delivered,
            prior_delivered: self.delivered - rate.delivered,
            interval_us: rtt_us,
            is_app_limited: self.application.into(),
            in_flight: (flight - packets).saturating_sub(lost),
            lost,
        };
        let now_us = self.host.conn().now_us;
        let ways = self.ways.iter().flat_map(|way| all_ways(way, |next, oracle| next.ack(now_us, &ack, oracle)));
        let mut ways: Vec<Bbr> = ways.collect();
        std::mem::swap(&mut self.ways, &mut ways);
        self.compare(&format!("{ack:?}"))
    }

    /// At least one way must lead to where the integer controller is.
    fn compare(&mut self, after: &str) -> Result<(), TestCaseError> {
        let conn = *self.host.conn();
        let (window, rate) = (conn.snd_cwnd, conn.pacing_bytes_per_s);
        let last = self.ways[0].clone();
        self.ways.retain_mut(|way| way.agrees(window, rate));
        let mut distinct: Vec<Bbr> = Vec::new();
        for way in std::mem::take(&mut self.ways) {
            if !distinct.contains(&way) {
                distinct.push(way);
            }
        }
        self.ways = distinct;
        prop_assert!(
            !self.ways.is_empty(),
            "after {}: window {}, rate {}\none of the ways: {:?}",
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

/// Half the cases with the defaults.
fn parameters() -> impl Strategy<Value = Params> {
    let choices: [(&str, &'static [f64]); 8] = [
        ("high_gain", &[1.5, 2.0, 4.0]),
        // Not 1: there the end of DRAIN would not show.
        ("drain_gain", &[0.25, 0.5]),
        ("probe_gain", &[1.0, 1.5]),
        ("yield_gain", &[0.5, 1.0]),
        ("bw_window", &[2.0, 5.0, 30.0]),
        ("rtt_window", &[1.0, 5.0]),
        ("aggregation", &[0.0]),
        ("policer", &[0.0]),
    ];
    (any::<bool>(), prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), choices.len())).prop_map(
        move |(defaults, picks)| {
            let mut params = Params::new(find("bbr").unwrap());
            for ((name, values), (change, index)) in choices.iter().zip(picks) {
                if change && !defaults {
                    params.set(name, *index.get(values)).unwrap();
                }
            }
            params
        },
    )
}

#[test]
fn bbr_takes_the_steps_of_its_reference() {
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..Config::default()
    });
    let path = (5_000..300_000u32, 20..500u32).prop_map(|(base_rtt_us, bdp)| Path { base_rtt_us, bdp });
    let cases = (parameters(), path, 4..20u32, prop::collection::vec(step(), 1..25));
    let outcome = runner.run(&cases, |(params, path, window, steps)| {
        let mut pair = Pair::new(&params, path, window);
        steps.into_iter().try_for_each(|step| pair.play(step))
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
}

#[test]
fn every_controller_with_a_model_has_a_reference() {
    let names: Vec<&str> = CONTROLLERS.iter().filter(|c| c.owns_window()).map(|c| c.name).collect();
    assert_eq!(names, ["bbr"]);
}
