// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs over real TCP, of which only those tell anything with which the machine kept up.

use std::sync::{PoisonError, RwLock};

use crate::skip;

/// Runs at most.
const TRIES: usize = 5;

/// A run that may be judged: one that nothing is said against. `run` returns a run and the emulator's doubts about it; it may assert what
/// holds of doubted ones, too. A doubted run is repeated, with no other of this program beside it.
///
/// `None`, and the test counts as skipped, if the machine was too busy each time; the test should return then.
pub fn trusted_run<R>(run: impl FnMut() -> (R, Vec<String>)) -> Option<R> {
    let say = |doubts: Vec<String>| {
        skip(&format!(
            "nothing can be said of real TCP on so busy a machine: {TRIES} runs were doubted, the last of them because {}; end what \
             else runs",
            doubts.join("; ")
        ));
    };
    first_trusted(run).map_err(say).ok()
}

/// An error: what is said against the last one.
fn first_trusted<R>(mut run: impl FnMut() -> (R, Vec<String>)) -> Result<R, Vec<String>> {
    static BESIDE_OTHERS: RwLock<()> = RwLock::new(());
    let mut last_doubts = Vec::new();
    for attempt in 0..TRIES {
        // A test that fails leaves nothing behind in it.
        let beside_others = (attempt == 0).then(|| BESIDE_OTHERS.read().unwrap_or_else(PoisonError::into_inner));
        let alone = (attempt > 0).then(|| BESIDE_OTHERS.write().unwrap_or_else(PoisonError::into_inner));
        let (outcome, doubts) = run();
        drop((beside_others, alone));
        if doubts.is_empty() {
            return Ok(outcome);
        }
        last_doubts = doubts;
    }
    Err(last_doubts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doubted_run_is_repeated_but_not_for_ever() {
        for (good, expected) in [(0, Ok(0)), (3, Ok(3)), (5, Err(vec!["doubt 4".to_owned()]))] {
            let mut runs = 0..;
            let outcome = first_trusted(|| {
                let run = runs.next().unwrap();
                (run, if run < good { vec![format!("doubt {run}")] } else { Vec::new() })
            });
            assert_eq!(outcome, expected);
        }
    }
}
