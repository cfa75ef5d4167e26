// SPDX-License-Identifier: MIT OR Apache-2.0
//! What must hold of every controller whatever the host does, in any order, with any numbers the contract allows.

mod contract;
mod invariant;

use std::ops::Range;

use proptest::{
    prelude::*,
    test_runner::{Config, FileFailurePersistence, TestRunner},
};
use tandem_controllers::{CONTROLLERS, Instance};

use invariant::{Connection, conn, event, parameters};

/// Of 300 events on average, hence 300 000 events for each controller under the sanitizers, which see the same and more; `make test` runs
/// both, so that fewer will do without.
const CASES_PER_CONTROLLER: u32 = if cfg!(feature = "sanitize") { 1000 } else { 300 };
const EVENTS: Range<usize> = 0..601;

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
        let mut connection = Connection::<Instance>::new(params, conn)?;
        events.into_iter().try_for_each(|event| connection.play(event))
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
}
