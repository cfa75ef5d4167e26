// SPDX-License-Identifier: MIT OR Apache-2.0
//! The eBPF controllers in the kernel against the same source compiled natively: the same bits after each call.

mod lockstep;
mod skip;

use std::{collections::BTreeSet, panic::catch_unwind, sync::Arc};

use proptest::test_runner::TestCaseError;
use tandem_controllers::{Conn, Params, find};
use tandem_kernel::loadable;
use tandem_testing::{
    invariant::{self, Connection, Facts},
    random_test,
    trace::{self, Command, Host},
};

use lockstep::LockStep;

/// Each with every controller. A case loads its controllers anew, which takes longer than its events.
const CASES: u32 = 30;
const EVENTS: usize = 500;

#[test]
fn golden_traces() {
    if skip::cannot_load() {
        return;
    }
    let mut played = BTreeSet::new();
    for path in trace::files() {
        let mut host = Host::<LockStep>::default();
        let mut is_loadable = false;
        for (line, command) in trace::commands(&path) {
            if let Command::Controller(name) = &command {
                is_loadable = loadable().any(|c| c.name == name);
                played.insert(name.clone());
            }
            if is_loadable && let Err(e) = host.play(&command) {
                panic!("{}:{line}: {e}", path.display());
            }
        }
    }
    let missing: Vec<_> = loadable().filter(|c| !played.contains(c.name)).collect();
    assert!(missing.is_empty(), "no trace for {missing:?}");
}

#[test]
fn random_events_leave_the_same_bits() {
    if skip::cannot_load() {
        return;
    }
    random_test!(random_events_leave_the_same_bits, CASES).run(invariant::case(EVENTS), |case| {
        for controller in loadable() {
            // What holds of it alone is asked without the kernel.
            Connection::<LockStep>::new(case.parameters(controller), &Facts::NONE, case.conn)
                .and_then(|mut connection| case.events.iter().try_for_each(|event| connection.play(event)))
                .map_err(|e| TestCaseError::fail(format!("{controller:?}: {e}")))?;
        }
        Ok(())
    });
    println!("{} events", CASES as usize * EVENTS * loadable().count());
}

/// Both sides get their parameters, and what differs is seen.
#[test]
fn a_difference_shows() {
    if skip::cannot_load() {
        return;
    }
    let outcome = catch_unwind(|| {
        let usual = Arc::new(Params::new(find("compound").unwrap()));
        let mut other = Params::clone(&usual);
        other.set("gamma", 29.0).unwrap();
        LockStep::start(&usual, &other, &mut Conn { snd_cwnd: 10, mss: 1448, ..Conn::default() });
    });
    let panic = outcome.expect_err("gamma is part of the state");
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("differ after Init"), "{message}");
    assert!(message.contains("gamma_q8: 7424") && message.contains("gamma_q8: 7680"), "{message}");
}
