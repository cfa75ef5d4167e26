// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of slow start: HyStart and HyStart++ against their oracles on random connections, and with every controller.

mod oracle;

use std::sync::Arc;

use proptest::{prelude::*, test_runner::TestCaseError};
use serde::{Deserialize, Serialize};
use tandem_controllers::{CONTROLLERS, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, find};
use tandem_testing::{
    random_test,
    trace::{Command, Host, Rate},
};

use oracle::{Ack, Exit, HyStart, HyStartPlus, Verdict};

const MSS: u32 = 1448;

/// A bottleneck, in packets: what exceeds the BDP queues, without a limit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Path {
    base_rtt_us: u32,
    bdp: u32,
    jitter_us: u32,
}

impl Path {
    /// With `others` packets of other flows in the queue; the jitter only has to be irregular.
    fn rtt_us(&self, flight: u32, others: u32, packet: u64) -> u32 {
        let queue = u64::from((flight + others).saturating_sub(self.bdp));
        let irregular = (packet.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32;
        let queueing_us = u64::from(self.base_rtt_us) * queue / u64::from(self.bdp);
        self.base_rtt_us + queueing_us as u32 + irregular % (self.jitter_us + 1)
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Step {
    /// ACKs of `by` packets for a window, spread over `spread` percent of the round trip, while others keep `others` in the queue.
    Round {
        by: u32,
        spread: u32,
        others: u32,
        samples: bool,
    },
    Timeout,
    /// The application keeps this many packets in flight at most for a round.
    Application {
        flight: u32,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Case {
    path: Path,
    window: u32,
    steps: Vec<Step>,
}

fn case() -> impl Strategy<Value = Case> {
    let path = (1_000..300_000u32, 20..1500u32, prop_oneof![Just(0), 0..20_000u32])
        .prop_map(|(base_rtt_us, bdp, jitter_us)| Path { base_rtt_us, bdp, jitter_us });
    let others = prop_oneof![2 => Just(0), 1 => 0..1500u32];
    let by = prop_oneof![4 => 1..=2u32, 1 => 3..=20u32];
    let round = (by, 10..=100u32, others, prop::bool::weighted(0.9))
        .prop_map(|(by, spread, others, samples)| Step::Round { by, spread, others, samples });
    let step = prop_oneof![
        12 => round,
        1 => Just(Step::Timeout),
        1 => (1..100u32).prop_map(|flight| Step::Application { flight }),
    ];
    (path, 2..40u32, prop::collection::vec(step, 1..20)).prop_map(|(path, window, steps)| Case { path, window, steps })
}

/// Reno with a way to end slow start, and its oracle.
struct Pair {
    host: Host,
    exit: Box<dyn Exit>,
    path: Path,
    una: u64,
    /// The oracle's window, packets; the integer controller's outside slow start.
    window: f64,
    ends: u32,
}

impl Pair {
    fn command(&mut self, command: Command) {
        self.host.play(&command).unwrap_or_else(|e| panic!("{command:?}: {e}"));
    }

    fn play(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Round { by, spread, others, samples } => self.round(by, spread, others, samples, true),
            Step::Application { flight } => {
                self.command(Command::App { flight });
                self.round(1, 100, 0, true, false)?;
                self.command(Command::Bulk);
                Ok(())
            }
            Step::Timeout => {
                let nxt = self.una + u64::from(self.host.flight());
                self.command(Command::Timeout);
                self.exit.timeout(nxt, self.host.conn().now_us as f64);
                self.window = 1.0;
                self.round(1, 100, 0, false, true)?;
                self.command(Command::Recovered);
                Ok(())
            }
        }
    }

    fn round(&mut self, by: u32, spread: u32, others: u32, samples: bool, limited: bool) -> Result<(), TestCaseError> {
        let flight = self.host.flight();
        let mut left = flight;
        while left > 0 {
            let packets = left.min(by);
            let rtt_us = self.path.rtt_us(self.host.flight(), others, self.una);
            let gap_us = rtt_us / flight * packets / 100 * spread;
            self.ack(packets, if samples { rtt_us } else { 0 }, gap_us, limited)?;
            left -= packets;
        }
        Ok(())
    }

    fn ack(&mut self, packets: u32, rtt_us: u32, gap_us: u32, window_limited: bool) -> Result<(), TestCaseError> {
        let (before, nxt) = (*self.host.conn(), self.una + u64::from(self.host.flight()));
        self.una += u64::from(packets);
        self.command(Command::Ack { packets, rtt_us, times: 1, gap_us, rate: Rate::default() });
        let after = *self.host.conn();
        if before.snd_cwnd >= before.snd_ssthresh {
            self.window = f64::from(after.snd_cwnd);
            return Ok(());
        }
        let ack = Ack {
            now_us: after.now_us as f64,
            acked: packets.into(),
            rtt_us: (rtt_us > 0).then_some(f64::from(rtt_us)),
            una: self.una,
            nxt,
            window: before.snd_cwnd.into(),
            window_limited,
        };
        let verdict = self.exit.ack(&ack);
        match verdict {
            Verdict::End => {
                prop_assert_eq!(after.snd_ssthresh, before.snd_cwnd, "slow start ends here: {:?}", before);
                self.ends += 1;
                self.window = f64::from(after.snd_cwnd);
            }
            Verdict::Grow(by) => {
                prop_assert_eq!(after.snd_ssthresh, before.snd_ssthresh, "slow start goes on here: {:?}", before);
                if ack.window_limited {
                    self.window = (self.window + by).min(f64::from(before.snd_ssthresh));
                }
                if after.snd_cwnd >= after.snd_ssthresh {
                    // What was left of the ACK went into congestion avoidance.
                    self.window = f64::from(after.snd_cwnd);
                }
                let apart = (self.window - f64::from(after.snd_cwnd)).abs();
                prop_assert!(apart < 1.0, "{} is not {} after {:?}", self.window, after.snd_cwnd, before);
            }
        }
        Ok(())
    }
}

fn compare(kind: f64, case: &Case, exit: Box<dyn Exit>) -> Result<u32, TestCaseError> {
    let mut params = Params::new(find("reno").unwrap());
    params.set("hystart", kind).unwrap();
    let host = Host::begin(&params, case.window, MSS, u32::MAX);
    let mut pair = Pair { host, exit, path: case.path, una: 0, window: case.window.into(), ends: 0 };
    case.steps.iter().try_for_each(|step| pair.play(*step))?;
    Ok(pair.ends)
}

#[test]
fn random_connections_leave_slow_start_where_the_oracles_do() {
    let ends = std::cell::Cell::new((0, 0));
    random_test!(random_connections_leave_slow_start_where_the_oracles_do, 2000).run(case(), |case| {
        let linux = compare(1.0, &case, Box::new(HyStart::new(1e6)))?;
        let rfc = compare(2.0, &case, Box::new(HyStartPlus::new()))?;
        ends.set((ends.get().0 + linux, ends.get().1 + rfc));
        Ok(())
    });
    let (linux, rfc) = ends.get();
    assert!(linux > 500 && rfc > 100, "the cases end slow start too rarely: {linux} by HyStart, {rfc} by HyStart++");
}

/// On a path of 100 packets without an end to its queue only a rise of the delay ends slow start.
#[test]
fn every_controller_with_a_window_can_leave_slow_start_by_its_delay() {
    let path = Path { base_rtt_us: 50_000, bdp: 100, jitter_us: 0 };
    for controller in CONTROLLERS.iter().filter(|c| !c.owns_window()) {
        for kind in [0.0, 1.0, 2.0] {
            let mut params = Params::new(controller);
            params.set("hystart", kind).unwrap();
            let mut host = Host::<Instance>::begin(&params, 10, MSS, 0);
            // `ledbat_pp` needs more rounds than those that double.
            for _ in 0..40 {
                if host.flight() > 2000 || host.conn().snd_ssthresh < INFINITE_SSTHRESH {
                    break;
                }
                let rtt_us = path.rtt_us(host.flight(), 0, 0);
                host.play(&Command::Round { rtt_us, by: 1, times: 1 }).unwrap();
            }
            let conn = host.conn();
            let ended = conn.snd_ssthresh < INFINITE_SSTHRESH;
            // These end it by themselves.
            let by_itself = ["vegas", "fast", "yeah", "ledbat_pp"].contains(&controller.name);
            assert_eq!(ended, kind > 0.0 || by_itself, "{controller:?}.hystart={kind}: {conn:?}");
            assert!(!ended || conn.snd_cwnd < 1000, "{controller:?}.hystart={kind}: {conn:?}");
        }
    }
}

/// CUBIC has HyStart without being told so, Reno has not. [RFC 9438 4.10]
#[test]
fn cubic_leaves_slow_start_by_its_delay_by_default() {
    let path = Path { base_rtt_us: 50_000, bdp: 100, jitter_us: 0 };
    for (controller, ends) in [("cubic", true), ("reno", false)] {
        let mut host = Host::<Instance>::begin(&Params::new(find(controller).unwrap()), 10, MSS, 0);
        for _ in 0..10 {
            let rtt_us = path.rtt_us(host.flight(), 0, 0);
            host.play(&Command::Round { rtt_us, by: 1, times: 1 }).unwrap();
        }
        assert_eq!(host.conn().snd_ssthresh < INFINITE_SSTHRESH, ends, "{controller}");
    }
}

/// ACKs of `packets` packets, `gap_us` apart at an RTT of 100 ms, until slow start ends or `most` have come. Returns how many came, and the window.
fn acks_of_a_host_that_paces(kind: f64, packets: u32, gap_us: u64, most: u32) -> (u32, u32) {
    let mut params = Params::new(find("reno").unwrap());
    params.set("hystart", kind).unwrap();
    let mut conn = Conn {
        snd_cwnd: 100,
        snd_ssthresh: INFINITE_SSTHRESH,
        snd_cwnd_clamp: MAX_WINDOW,
        snd_nxt: 1000 * MSS,
        mss: MSS,
        is_cwnd_limited: 1,
        is_paced: 1,
        ..Conn::default()
    };
    let mut instance = Instance::new(&Arc::new(params), &mut conn);
    for count in 1..=most {
        conn.now_us += gap_us;
        conn.snd_una += packets * MSS;
        instance.pkts_acked(
            &mut conn,
            &tandem_controllers::Ack { pkts_acked: packets, rtt_us: 100_000, ..Default::default() },
        );
        instance.cong_avoid(&mut conn, packets);
        if conn.snd_ssthresh < INFINITE_SSTHRESH {
            return (count, conn.snd_cwnd);
        }
    }
    (most, conn.snd_cwnd)
}

/// The round begins with the connection, at 0. A train of ACKs 2 ms apart spans more than RTTmin and 1 ms, 101 ms, with the 51st: 102 ms. 50 have grown
/// the window.
#[test]
fn pacing_doubles_the_train() {
    assert_eq!(acks_of_a_host_that_paces(1.0, 1, 2000, 100), (51, 150));
}

/// L is infinite. [RFC 9406 4.3]
#[test]
fn pacing_lifts_the_limit_of_an_ack() {
    assert_eq!(acks_of_a_host_that_paces(2.0, 20, 2000, 3), (3, 160));
}
