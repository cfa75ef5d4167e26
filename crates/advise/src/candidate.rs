// SPDX-License-Identifier: MIT OR Apache-2.0
//! What there is to choose from.

use tandem_compare::Flows;
use tandem_controllers::{CONTROLLERS, Controller};
use tandem_scenario::{CongestionControl, ControllerSpec, Settings};

use crate::{
    AdviseError,
    machine::{Machine, Way},
};

/// Where the machine does not say, and every common system has it.
const USUAL_DEFAULT: &str = "cubic";

/// A controller that could be advised.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The flows that it would control.
    pub flows: Flows,
    /// The smaller, the easier it is to have it on this machine: see [`Way`].
    pub effort: u8,
}

/// What the machine runs now.
#[derive(Debug, Clone)]
pub struct Present {
    /// As the simulator has it.
    pub name: String,
    /// The machine's own name for it, where the simulator does not have it and another stands for it.
    pub stands_for: Option<String>,
    spec: ControllerSpec,
}

impl Present {
    /// The controller that is given, otherwise the machine's default.
    ///
    /// # Errors
    /// If the one that is given cannot be simulated.
    pub fn new(given: Option<&ControllerSpec>, machine: &Machine) -> Result<Self, AdviseError> {
        if let Some(spec) = given {
            check_is_ours(spec)?;
            return Ok(Self { name: spec.to_string(), stands_for: None, spec: spec.clone() });
        }
        let named = machine.default.as_deref().unwrap_or(USUAL_DEFAULT);
        let usual = || tandem_controllers::find(USUAL_DEFAULT).expect("it is in the list");
        let found = tandem_controllers::find(named).ok();
        let stands_for = found.is_none().then(|| named.to_owned());
        let controller = found.unwrap_or_else(usual);
        Ok(Self { name: controller.name.to_owned(), stands_for, spec: ControllerSpec::tandem(controller) })
    }
}

/// All controllers that the machine can run, or those that are given; so many flows of each, and the present one among them. What counts marks is
/// one only where a queue marks (`ecn`).
///
/// # Errors
/// If one that is given cannot be simulated, or is given twice.
pub fn candidates(
    given: &[ControllerSpec],
    flows: u32,
    machine: &Machine,
    present: &Present,
    ecn: bool,
) -> Result<Vec<Candidate>, AdviseError> {
    given.iter().try_for_each(check_is_ours)?;
    let candidate = |spec: &ControllerSpec, effort: u8| Candidate {
        flows: Flows::new(spec.clone(), flows),
        effort: if spec.to_string() == present.name { Way::Present as u8 } else { effort },
    };
    let effort = |controller: &Controller| machine.way(controller).map(|way| way as u8);
    let mut candidates: Vec<Candidate> = if given.is_empty() {
        let may_count = |c: &&Controller| ecn || !c.counts_marks();
        let here = CONTROLLERS.iter().filter(may_count).filter_map(|c| Some((ControllerSpec::tandem(c), effort(c)?)));
        here.map(|(spec, effort)| candidate(&spec, effort)).collect()
    } else {
        let of = |spec: &ControllerSpec| match spec.with(&Settings::default()) {
            // With parameters of its own, only eBPF has it.
            CongestionControl::Tandem(params) if spec.own().is_empty() => effort(params.controller()),
            _ => None,
        };
        given.iter().map(|spec| candidate(spec, of(spec).unwrap_or(Way::Load as u8))).collect()
    };
    for (i, Candidate { flows, .. }) in candidates.iter().enumerate() {
        if candidates[..i].iter().any(|other| other.flows.name == flows.name) {
            return Err(AdviseError::Twice(flows.name.clone()));
        }
    }
    if !candidates.iter().any(|c| c.flows.name == present.name) {
        candidates.push(candidate(&present.spec, Way::Present as u8));
    }
    Ok(candidates)
}

fn check_is_ours(spec: &ControllerSpec) -> Result<(), AdviseError> {
    match spec.with(&Settings::default()) {
        CongestionControl::Tandem(_) => Ok(()),
        CongestionControl::Kernel(name) => Err(AdviseError::NotSimulated(spec.to_string(), name)),
    }
}
