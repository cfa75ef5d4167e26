// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every controller on the same random connections: against its oracle in real numbers, and against the invariants.
//!
//! The cases are the same each time; `make fuzz` and PROPTEST_RNG_SEED=n play others.

mod cases;
mod growth;
mod model;
mod oracle;
mod ways;
mod windows;

use std::cell::Cell;

use proptest::test_runner::TestCaseError;
use tandem_controllers::{CONTROLLERS, Instance};
use tandem_testing::{
    invariant::{self, Connection},
    random_test,
};

use oracle::{Kind, oracle};

/// Each with every controller. Under the sanitizers, which see the same and more, there are more of them.
const INVARIANT_CASES: u32 = if cfg!(feature = "sanitize") { 1000 } else { 300 };
const EVENTS: usize = 300;

/// Names the controller.
fn of(name: &str) -> impl Fn(TestCaseError) -> TestCaseError {
    move |e| TestCaseError::fail(format!("{name}: {e}"))
}

#[test]
fn random_windows_stay_close_to_the_papers_real_numbers() {
    let acks = Cell::new(0);
    random_test!(random_windows_stay_close_to_the_papers_real_numbers, 200).run(cases::case(), |case| {
        for controller in &CONTROLLERS {
            if let Kind::Windows(reference) = oracle(controller).kind {
                let played =
                    windows::play(&case.parameters(controller), reference, &case).map_err(of(controller.name))?;
                acks.set(acks.get() + played);
            }
        }
        Ok(())
    });
    println!("{} events", acks.get());
}

#[test]
fn random_models_take_the_steps_of_their_papers() {
    random_test!(random_models_take_the_steps_of_their_papers, 300).run(model::case(), |case| {
        for controller in &CONTROLLERS {
            if let Kind::Model { play, .. } = oracle(controller).kind {
                play(&case.parameters(controller), &case).map_err(of(controller.name))?;
            }
        }
        Ok(())
    });
}

#[test]
fn random_events_keep_the_invariants() {
    let mut test = random_test!(random_events_keep_the_invariants, INVARIANT_CASES);
    // The sanitizers trap: only a child process can die of that.
    test.fork = cfg!(feature = "sanitize");
    test.run(invariant::case(EVENTS), |case| {
        for controller in &CONTROLLERS {
            let facts = &oracle(controller).facts;
            Connection::<Instance>::new(case.parameters(controller), facts, case.conn)
                .and_then(|mut connection| case.events.iter().try_for_each(|event| connection.play(event)))
                .map_err(of(controller.name))?;
        }
        Ok(())
    });
    println!("{} events", INVARIANT_CASES as usize * EVENTS * CONTROLLERS.len());
}

#[test]
fn every_oracle_is_of_its_controllers_kind() {
    for controller in &CONTROLLERS {
        let is_model = matches!(oracle(controller).kind, Kind::Model { .. });
        assert_eq!(is_model, controller.owns_window(), "{}: signal {}", controller.name, controller.signal.as_str());
    }
}
