// SPDX-License-Identifier: MIT OR Apache-2.0
//! The eBPF controllers in the kernel against the same source compiled natively: the same bits after each call.

#[path = "../../controllers/tests/contract/mod.rs"]
mod contract;
#[path = "../../controllers/tests/invariant/mod.rs"]
mod invariant;
mod lockstep;
mod skip;
#[path = "../../controllers/tests/trace/mod.rs"]
mod trace;

use std::{cell::Cell, collections::BTreeSet, ops::Range, panic::catch_unwind, sync::Arc};

use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence, TestRunner},
};
use tandem_controllers::{Conn, Params, find};
use tandem_kernel::loadable;

use invariant::{Connection, conn, event, parameters};
use lockstep::LockStep;
use trace::{Command, Host};

/// Of 500 events on average, hence 15 000 for each controller: each case loads its controller anew, which takes longer than they.
const CASES_PER_CONTROLLER: u32 = 30;
const EVENTS: Range<usize> = 0..1001;
const LEAST_EVENTS_PER_CONTROLLER: usize = 10_000;

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
fn random_events() {
    if skip::cannot_load() {
        return;
    }
    for controller in loadable() {
        let mut runner = TestRunner::new(Config {
            cases: CASES_PER_CONTROLLER,
            source_file: Some(file!()),
            failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
            ..Config::default()
        });
        let played = Cell::new(0);
        let cases = (parameters(controller), conn(), prop::collection::vec(event(), EVENTS));
        let outcome = runner.run(&cases, |(params, conn, events)| {
            let mut connection = Connection::<LockStep>::new(params, conn)?;
            played.set(played.get() + events.len());
            events.into_iter().try_for_each(|event| connection.play(event))
        });
        if let Err(e) = outcome {
            panic!("{controller:?}: {e}");
        }
        assert!(played.get() >= LEAST_EVENTS_PER_CONTROLLER, "{controller:?}: only {} events", played.get());
    }
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
