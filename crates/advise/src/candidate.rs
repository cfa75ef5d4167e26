// SPDX-License-Identifier: MIT OR Apache-2.0
//! The candidates.

use tandem_compare::Flows;
use tandem_controllers::{CONTROLLERS, Controller};
use tandem_scenario::{CongestionControl, ControllerSpec, Settings};

use crate::{
    AdviseError,
    machine::{Machine, Way},
};

/// The default where the machine does not name one: every common system has it.
pub(crate) const USUAL_DEFAULT: &str = "cubic";

/// A controller that could be advised.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The flows that it would control.
    pub flows: Flows,
    /// Effort to deploy it on this machine; smaller is easier: see [`Way`].
    pub effort: u8,
    /// Nobody is known to have run it for common use. Being the first takes more than loading it.
    pub is_untried: bool,
}

/// What the machine runs now.
#[derive(Debug, Clone)]
pub struct Present {
    /// As in the simulator.
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

/// All controllers that the machine can run and whose law is settled, or those given, each with `flows` flows; the present one is among them. A
/// controller that counts marks is one only where a queue marks (`ecn`).
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
    let candidate = |spec: &ControllerSpec, (effort, is_tried): (Way, bool)| Candidate {
        flows: Flows::new(spec.clone(), flows),
        effort: if spec.to_string() == present.name { Way::Present } else { effort } as u8,
        is_untried: !is_tried && spec.to_string() != present.name,
    };
    let effort_of = |controller: &Controller| machine.way(controller).map(|way| (way, controller.is_shipped()));
    let mut candidates: Vec<Candidate> = if given.is_empty() {
        let may_be = |c: &&Controller| !c.is_experimental() && (ecn || !c.counts_marks());
        let here = CONTROLLERS.iter().filter(may_be).filter_map(|c| Some((ControllerSpec::tandem(c), effort_of(c)?)));
        here.map(|(spec, effort)| candidate(&spec, effort)).collect()
    } else {
        let of = |spec: &ControllerSpec| match spec.with(&Settings::default()) {
            // With parameters of its own, only eBPF has it.
            CongestionControl::Tandem(params) if spec.own().is_empty() => effort_of(params.controller()),
            _ => None,
        };
        given.iter().map(|spec| candidate(spec, of(spec).unwrap_or((Way::Load, false)))).collect()
    };
    for (i, Candidate { flows, .. }) in candidates.iter().enumerate() {
        if candidates[..i].iter().any(|other| other.flows.name == flows.name) {
            return Err(AdviseError::Twice(flows.name.clone()));
        }
    }
    if !candidates.iter().any(|c| c.flows.name == present.name) {
        candidates.push(candidate(&present.spec, (Way::Present, true)));
    }
    Ok(candidates)
}

fn check_is_ours(spec: &ControllerSpec) -> Result<(), AdviseError> {
    match spec.with(&Settings::default()).foreign() {
        None => Ok(()),
        Some(whose) => Err(AdviseError::NotSimulated(spec.to_string(), whose)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tools;

    #[test]
    fn what_nobody_has_run_is_known() {
        let machine = Machine {
            default: Some("cubic".into()),
            available: vec!["reno".into(), "cubic".into()],
            modules: vec!["bbr".into()],
            tools: Tools { loads: true, sends: false },
            ..Machine::default()
        };
        let present = Present::new(None, &machine).unwrap();
        let all = candidates(&[], 1, &machine, &present, false).unwrap();
        let of = |name: &str| all.iter().find(|c| c.flows.name == name).map(|c| (c.effort, c.is_untried)).unwrap();
        let [now, kernels, modules, loaded] = [Way::Present, Way::Sysctl, Way::Module, Way::Load].map(|way| way as u8);
        assert_eq!(["cubic", "reno", "bbr"].map(of), [now, kernels, modules].map(|way| (way, false)));
        assert_eq!(["bbr3", "compound"].map(of), [(loaded, false); 2]);
        assert_eq!(["fusion", "compound_tube"].map(of), [(loaded, true); 2]);
        let named =
            super::candidates(&["compound@gamma=20".parse::<ControllerSpec>().unwrap()], 1, &machine, &present, false);
        // Nobody has run it with these parameters.
        assert!(named.unwrap()[0].is_untried);
        // Its law may still change: only who names it is told of it.
        assert!(all.iter().all(|c| c.flows.name != "compound_steady"));
        let named =
            super::candidates(&["compound_steady".parse::<ControllerSpec>().unwrap()], 1, &machine, &present, false);
        assert_eq!(named.unwrap()[0].effort, loaded);
    }
}
