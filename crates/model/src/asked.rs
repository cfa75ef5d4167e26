// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which controllers, with which parameters, the model can be asked about.

use std::sync::Arc;

use tandem_controllers::Params;
use tandem_scenario::{CongestionControl, ControllerSpec, Settings};

use crate::{CONTROLLER, steady};

/// The parameters that the model of `compound` knows, and those that a response function has.
const OF_LAW: [&str; 7] = ["alpha", "k", "zeta", "beta", "gamma", "low_window", "spread_gain"];
const OF_STEADY: [&str; 3] = ["buffer_us", "alpha", "step"];
const OF_RESPONSE: [&str; 4] = ["alpha", "k", "beta", "low_window"];

/// The model does not know the controller or one of its parameters. The message says what it knows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskedError {
    /// The congestion control is not ours.
    #[error("the model knows Tandem's controllers, and `{0}` is {1}")]
    Foreign(String, &'static str),
    /// The controller's gamma is not fixed, or it has none.
    #[error("the model knows `{CONTROLLER}`, whose gamma is fixed, not `{0}`; it knows `{steady}`, too, and --loss takes others", steady = steady::CONTROLLER)]
    Controller(&'static str),
    /// The parameter would do nothing.
    #[error("the model leaves out `{name}`; it knows {known}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The parameters that have an effect.
        known: String,
    },
}

/// The parameters of a controller that is asked about: about its course from loss to loss, or its response to random loss.
///
/// # Errors
/// [`AskedError`] if the model does not know it.
pub fn asked(controller: &ControllerSpec, about_loss: bool) -> Result<Arc<Params>, AskedError> {
    let params = match controller.with(&Settings::default()) {
        CongestionControl::Tandem(params) => params,
        other => return Err(AskedError::Foreign(other.to_string(), other.foreign().unwrap_or_default())),
    };
    let name = params.controller().name;
    let known = match name {
        _ if about_loss => &OF_RESPONSE[..],
        CONTROLLER => &OF_LAW[..],
        steady::CONTROLLER => &OF_STEADY[..],
        _ => return Err(AskedError::Controller(name)),
    };
    match controller.own().iter().find(|setting| !known.contains(&setting.name())) {
        None => Ok(params),
        Some(idle) => Err(AskedError::Parameter { name: idle.name(), known: known.join(", ") }),
    }
}
