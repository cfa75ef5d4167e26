// SPDX-License-Identifier: MIT OR Apache-2.0
//! Trials of which the truth is known: one of a controller against itself says that there is no difference, and a planted one is found.
//! All of them are looked at again and again.

use std::net::{IpAddr, Ipv4Addr};

use rand::{Rng as _, rand_core::SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use tandem_trial::{Answer, Assignment, Evidence, Limits, Plan, Record, Verdict};

const PEERS: u64 = 300;
/// Connections between two looks.
const LOOK: usize = 10;

/// What is planted in the first arm: what its goodput and its RTT are multiplied by, and the share of handshakes that fail.
#[derive(Clone, Copy)]
struct Planted {
    goodput: f64,
    rtt: f64,
    failures: f64,
}

const NOTHING: Planted = Planted { goodput: 1.0, rtt: 1.0, failures: 0.01 };

struct World {
    random: Pcg64Mcg,
    assignment: Assignment,
    planted: Planted,
    /// Logarithms of goodput and RTT, and the arm that it has where peers are assigned.
    peers: Vec<(f64, f64, usize)>,
}

impl World {
    fn new(seed: u64, assignment: Assignment, planted: Planted) -> Self {
        let mut world = Self { random: Pcg64Mcg::seed_from_u64(seed), assignment, planted, peers: Vec::new() };
        for _ in 0..PEERS {
            let (goodput, rtt) = (world.normal(), world.normal());
            let arm = world.draw();
            world.peers.push((16.0 + goodput, 10.0 + 0.7 * rtt, arm));
        }
        world
    }

    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Box and Muller's.
    fn normal(&mut self) -> f64 {
        let (one, other) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    fn draw(&mut self) -> usize {
        usize::from(self.uniform() >= self.assignment.share)
    }

    /// Some peers come much more often than others; sizes span all classes.
    fn connection(&mut self) -> Record {
        let peer = (PEERS as f64 * self.uniform().powi(3)) as usize;
        let (goodput, rtt, arm) = self.peers[peer];
        let arm = if self.assignment.by_peer { arm } else { self.draw() };
        let planted = if arm == 0 { self.planted } else { NOTHING };
        let bytes = (11.5 + 2.3 * self.normal()).exp() as u64 + 1;
        let goodput_bps = planted.goodput * (goodput + 0.5 * self.normal()).exp();
        let srtt_us = planted.rtt * (rtt + 0.3 * self.normal()).exp();
        let (failed, lost) = (self.uniform() < planted.failures, self.uniform());
        let segments = (bytes / 1448 + 1) as u32;
        Record {
            time_s: 0.0,
            arm,
            peer: IpAddr::V4(Ipv4Addr::from(0xc000_0000 + peer as u32)),
            port: 443,
            is_accepted: false,
            is_established: !failed,
            bytes,
            bytes_received: 0,
            duration_s: 1.0,
            busy_s: bytes as f64 * 8.0 / goodput_bps,
            rwnd_limited_s: 0.0,
            sndbuf_limited_s: 0.0,
            srtt_us: Some(srtt_us as u32 + 1),
            min_rtt_us: None,
            segments,
            retransmitted: (f64::from(segments) * lost.powi(6) * 0.1) as u32,
            cwnd_packets: 10,
        }
    }

    /// What it says at the first look at which `is_over`, or at the last.
    fn trial(&mut self, connections: usize, is_over: fn(&Answer) -> bool) -> (usize, Answer) {
        let limits = Limits { rtt: 0.25, retransmissions: 0.01, failures: 0.02 };
        let plan = Plan { arms: ["new".into(), "old".into()], assignment: self.assignment, limits };
        let mut evidence = Evidence::new(plan);
        for number in 1..=connections {
            evidence.add(&self.connection());
            if number % LOOK == 0 {
                let answer = evidence.answer();
                if is_over(&answer) {
                    return (number, answer);
                }
            }
        }
        (connections, evidence.answer())
    }
}

/// It says something of the arms.
fn says_something(answer: &Answer) -> bool {
    !matches!(answer.verdict, Verdict::TooFew | Verdict::NoDifference) || answer.broken().is_some()
}

const ASSIGNMENTS: [Assignment; 4] = [
    Assignment { share: 0.5, by_peer: false },
    Assignment { share: 0.1, by_peer: false },
    Assignment { share: 0.5, by_peer: true },
    Assignment { share: 0.2, by_peer: true },
];

/// In `make nightly` of 1000: that many trials tell 5 % from 7 %.
fn trials() -> usize {
    if std::env::var_os("TANDEM_NIGHTLY").is_some() { 1000 } else { 100 }
}

/// 150 looks at each trial.
#[test]
fn a_controller_against_itself_makes_no_difference_in_95_of_100() {
    for assignment in ASSIGNMENTS {
        let wrong = (0..trials() as u64).filter(|seed| {
            let (_, answer) = World::new(*seed, assignment, NOTHING).trial(1500, says_something);
            answer.broken().is_some() || answer.verdict != Verdict::NoDifference
        });
        let wrong = wrong.count();
        println!("A/A, {assignment:?}: a difference in {wrong} of {}", trials());
        assert!(wrong * 20 <= trials(), "{assignment:?}: {wrong} of {}", trials());
    }
}

#[test]
fn a_planted_difference_of_20_percent_is_found() {
    for (assignment, connections) in ASSIGNMENTS.into_iter().zip([2000, 6000]) {
        for goodput in [1.2, 1.0 / 1.2] {
            let planted = Planted { goodput, ..NOTHING };
            let mut took = Vec::new();
            for seed in 0..40 {
                let (number, answer) = World::new(1000 + seed, assignment, planted).trial(connections, says_something);
                let expected = if goodput > 1.0 { Verdict::Better } else { Verdict::Worse };
                assert!(answer.broken().is_none(), "{answer:?}");
                if answer.verdict == expected {
                    took.push(number);
                    continue;
                }
                assert_eq!(answer.verdict, Verdict::NoDifference, "the wrong way round: {answer:?}");
            }
            took.sort_unstable();
            println!(
                "{goodput:.3}, {assignment:?}: found in {} of 40, half of them by {}",
                took.len(),
                took[took.len() / 2]
            );
            assert!(took.len() >= 38, "{assignment:?}: {}", took.len());
        }
    }
}

/// The estimate is that of what was planted, whichever share: the interval holds it at the end in at least 95 of 100.
#[test]
fn the_interval_holds_what_was_planted() {
    for assignment in ASSIGNMENTS {
        let holds = (0..100).filter(|seed| {
            let mut world = World::new(5000 + seed, assignment, Planted { goodput: 1.5, ..NOTHING });
            let limits = Limits { rtt: 9.0, retransmissions: 1.0, failures: 1.0 };
            let mut evidence = Evidence::new(Plan { arms: ["new".into(), "old".into()], assignment, limits });
            (0..3000).for_each(|_| evidence.add(&world.connection()));
            let all = evidence.answer().rows[0].goodput_change.unwrap();
            all.low <= 0.5 && 0.5 <= all.high
        });
        let holds = holds.count();
        assert!(holds >= 95, "{assignment:?}: {holds}");
    }
}

#[test]
fn a_guard_rail_ends_what_does_harm() {
    for (planted, what) in
        [(Planted { rtt: 2.0, ..NOTHING }, "rtt"), (Planted { failures: 0.3, ..NOTHING }, "failures")]
    {
        for seed in 0..20 {
            let (number, answer) =
                World::new(9000 + seed, ASSIGNMENTS[0], planted).trial(3000, |answer| answer.broken().is_some());
            let broken = answer.broken().unwrap_or_else(|| panic!("{what} {seed}: {answer:?}"));
            assert_eq!(broken.what, what);
            assert!(number < 3000);
        }
    }
}
