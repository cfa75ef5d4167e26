// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays every golden trace in `controllers/vectors/`, whose numbers were worked out by hand.

use std::{collections::BTreeSet, sync::Arc};

use tandem_controllers::{Ack, CONTROLLERS, Conn, Instance, Params, Reason, State, View, find};
use tandem_testing::trace::{self, Command, Contract, Expected, Host, PlayError, parse};

#[test]
fn every_trace_comes_out_as_worked_out() {
    let mut failures = Vec::new();
    for path in trace::files() {
        let commands = trace::commands(&path);
        assert!(matches!(commands.last(), Some((_, Command::Expect(_)))), "{}: ends unchecked", path.display());
        let mut host = Host::<Instance>::default();
        for (line, command) in commands {
            if let Err(e) = host.play(&command) {
                failures.push(format!("{}:{line}: {e}", path.file_name().unwrap().display()));
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Told what Linux's cong_control tells: not how many packets left the front of the window.
struct InTheKernel(Instance);

impl Contract for InTheKernel {
    fn new(params: &Arc<Params>, conn: &mut Conn) -> Self {
        Self(Instance::new(params, conn))
    }

    fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack) {
        self.0.pkts_acked(conn, &Ack { pkts_acked: 0, ..*ack });
    }

    fn cong_avoid(&mut self, conn: &mut Conn, acked: u32) {
        self.0.cong_avoid(conn, acked);
    }

    fn ssthresh(&mut self, conn: &Conn, reason: Reason) -> u32 {
        self.0.ssthresh(conn, reason)
    }

    fn set_state(&mut self, conn: &mut Conn, state: State) {
        self.0.set_state(conn, state);
    }

    fn restart(&mut self, conn: &mut Conn) {
        self.0.restart(conn);
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.0.undo_cwnd(conn)
    }

    fn view(&self, conn: &Conn) -> View {
        self.0.view(conn)
    }
}

#[test]
fn one_that_owns_the_window_does_without_the_packets_that_left_its_front() {
    let mut played = BTreeSet::new();
    for path in trace::files() {
        let mut host = Host::<InTheKernel>::default();
        let mut owns_window = false;
        for (line, command) in trace::commands(&path) {
            if let Command::Controller(name) = &command {
                owns_window = find(name).unwrap().owns_window();
                if owns_window {
                    played.insert(name.clone());
                }
            }
            if owns_window && let Err(e) = host.play(&command) {
                panic!("{}:{line}: {e}", path.display());
            }
        }
    }
    let owners: BTreeSet<String> = CONTROLLERS.iter().filter(|c| c.owns_window()).map(|c| c.name.to_owned()).collect();
    assert_eq!(played, owners);
}

#[test]
fn every_controller_has_a_trace() {
    let traced: BTreeSet<String> = trace::files()
        .iter()
        .flat_map(|path| trace::commands(path))
        .filter_map(|(_, command)| match command {
            Command::Controller(name) => Some(name),
            _ => None,
        })
        .collect();
    for name in CONTROLLERS.iter().map(|c| c.name) {
        assert!(
            traced.contains(name),
            "{name} has no trace: work one out by hand in controllers/vectors/{name}.trace, which has the line `controller {name}`"
        );
    }
}

#[test]
fn unmet_expectations_and_bad_lines_are_errors() {
    let mut host = Host::<Instance>::default();
    for line in ["controller compound", "conn cwnd=10 ssthresh=20 flight=10", "expect cwnd=10 gamma=30 # as set"] {
        host.play(&parse(line).unwrap().unwrap()).unwrap();
    }
    let mut expect = |key: &str, value| host.play(&Command::Expect(vec![(key.to_owned(), value)]));
    let unmet = |words: &str| Err(PlayError::Unmet(vec![words.to_owned()]));
    assert_eq!(expect("cwnd", Expected::Whole(11)), unmet("cwnd is 10"));
    assert_eq!(expect("gamma", Expected::Fraction(30.02)), unmet("gamma is 30"));
    assert_eq!(expect("speed", Expected::Whole(1)), unmet("`speed` cannot be expected"));
    assert_eq!(
        host.play(&parse("ack 11 rtt=1").unwrap().unwrap()),
        Err(PlayError::TooManyAcknowledged { packets: 11, in_flight: 10 })
    );
    for bad in ["acks 1 rtt=1", "ack rtt=1", "ack 1", "ack 1 rtt=x", "ack 1 rtt=1 rate=2", "expect", "loss 1"] {
        assert!(parse(bad).is_err(), "{bad}");
    }
    assert_eq!(parse("  # only a comment"), Ok(None));
}
