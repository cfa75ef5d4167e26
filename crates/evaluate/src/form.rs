// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answers that a controller itself gives to the form for its authors.

use serde::{Deserialize, Serialize};
use tandem_controllers::{Controller, Signal};
use tandem_scenario::ControllerSpec;

/// A known fact about the controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The subject.
    pub about: String,
    /// The fact.
    pub text: String,
}

/// The facts about the controller of this name; none if there is no such controller.
pub(crate) fn facts(contender: &str) -> Vec<Fact> {
    let spec = contender.parse::<ControllerSpec>().ok();
    let Some(controller) = spec.as_ref().and_then(controller_of) else { return Vec::new() };
    let fact = |about: &str, text: &str| Fact { about: about.into(), text: text.into() };
    vec![
        fact("Signals", signals(controller)),
        fact("Window", window(controller)),
        fact("ECN", ecn(controller)),
        fact("What must change", "the sender alone"),
    ]
}

fn controller_of(spec: &ControllerSpec) -> Option<&'static Controller> {
    match spec {
        ControllerSpec::Tandem { controller, .. } => Some(controller),
        ControllerSpec::Kernel(_) | ControllerSpec::Noq(_) => None,
    }
}

fn signals(controller: &Controller) -> &'static str {
    match controller.signal {
        Signal::Loss => "losses, and marks where ECN is on, which count as losses",
        Signal::Delay => "the queueing delay",
        Signal::Both => "losses and the queueing delay",
        Signal::Model => "a model of the path, from delivery rate and delay",
        Signal::Marks => "losses, and the share of packets with an ECN mark",
        Signal::L4s => "losses, and the share of packets with an L4S mark (RFC 9331)",
    }
}

fn window(controller: &Controller) -> &'static str {
    match controller.owns_window() {
        true => "it also sets the window in recovery, and a pacing rate: there is no proportional rate reduction",
        false => "the sender's recovery reduces it at a loss (RFC 9937)",
    }
}

fn ecn(controller: &Controller) -> &'static str {
    match (controller.sends_ect1(), controller.counts_marks()) {
        (true, _) => "ECT(1), and ACKs that count marks (RFC 9768)",
        (false, true) => "ECT(0), and ACKs that count marks (RFC 9768)",
        (false, false) => "ECT(0) where ECN is on (RFC 3168)",
    }
}
