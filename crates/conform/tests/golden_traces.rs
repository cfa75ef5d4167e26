// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host that plays the golden traces keeps the contract, with each controller.

use tandem_conform::{Problem, Recorder, Rule};
use tandem_testing::trace::{self, Command, Host};

/// Takes what the connection so far has shown. A trace's line that sets the window higher by hand
/// (`host`, `restart`) is a short cut of the trace.
fn judge(host: &Host<Recorder>, raised: &mut u64, found: &mut Vec<Problem>) {
    let Some(recorder) = host.controller() else { return };
    let check = recorder.check();
    assert!(check.broken(Rule::Raise) <= *raised, "{:#?}", check.problems());
    found.extend(check.problems().iter().filter(|problem| problem.rule != Rule::Raise).cloned());
    *raised = 0;
}

#[test]
fn the_host_of_the_golden_traces_keeps_the_contract() {
    for path in trace::files() {
        let (mut host, mut raised, mut found) = (Host::<Recorder>::default(), 0, Vec::new());
        for (line, command) in trace::commands(&path) {
            match &command {
                Command::Controller(_) | Command::Conn { .. } => judge(&host, &mut raised, &mut found),
                Command::Host { cwnd: Some(cwnd), .. } | Command::Restart { cwnd } => {
                    raised += u64::from(*cwnd > host.conn().snd_cwnd);
                }
                _ => {}
            }
            host.play(&command).unwrap_or_else(|e| panic!("{}:{line}: {e}", path.display()));
        }
        judge(&host, &mut raised, &mut found);
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
    }
}
