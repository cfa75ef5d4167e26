// SPDX-License-Identifier: MIT OR Apache-2.0
//! The constants of Compound TCP's law, and in which arithmetic it is worked out.

use std::sync::Arc;

use serde::Serialize;
use tandem_controllers::{Params, ParamsError, find};

use crate::follow::{Endless, MOST_ROUNDS};

/// The controller whose arithmetic [`Arithmetic::Tandem`] means: gamma is fixed, as in S2.
pub const CONTROLLER: &str = "compound";

/// Compound TCP with a fixed gamma. S2 section I; constants from S0 III.C.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Law {
    /// The window grows by `alpha * w^k` packets a round.
    pub alpha: f64,
    /// 0 < k < 1.
    pub k: f64,
    /// Share of the backlog that the delay window gives up.
    pub zeta: f64,
    /// Share of the window given up on loss.
    pub beta: f64,
    /// Backlog that counts as early congestion.
    pub gamma_packets: f64,
    /// Below this window only Reno acts; 0 = never.
    pub low_window_packets: f64,
    /// Share of the round over which the delay window grows; 0 = one step.
    pub spread_gain: f64,
}

/// In which arithmetic the law is worked out: the borders between oscillations move by tens of packets with it (S2 II.C).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Tandem's own controller, called as a host calls it.
    Tandem,
    /// Lachlan Andrew's Linux module, release 1.3 (2008), which S2 used.
    #[serde(rename = "linux-1.3")]
    Linux13,
    /// The first Linux module (Castellani and Hemminger, 2006).
    #[serde(rename = "linux-2006")]
    Linux2006,
    /// Real numbers.
    Exact,
}

/// What the model cannot work out. The message names the quantity and the fix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A quantity is outside the range that the model covers.
    #[error("{name} = {value} makes no sense in the model: give {range}")]
    OutOfRange {
        /// The quantity, with its unit.
        name: &'static str,
        /// The value given.
        value: f64,
        /// The values that are allowed, in words.
        range: &'static str,
    },
    /// A Linux module has another value of a constant compiled in.
    #[error(
        "the Linux modules have {name} = {fixed} compiled in, so {value} cannot be had: use exact arithmetic or Tandem's"
    )]
    CompiledIn {
        /// The constant.
        name: &'static str,
        /// The module's value.
        fixed: f64,
        /// The value asked for.
        value: f64,
    },
    /// A constant of the law is out of the range of the controller's parameter.
    #[error("Tandem's controller cannot be set so: {0}; exact arithmetic takes any value")]
    Controller(#[from] ParamsError),
    /// The connection was followed for as many rounds as there may be.
    #[error("no loss within {MOST_ROUNDS} rounds: choose a lower rate, RTT, queue or low_window")]
    Endless,
    /// No value in the searched range gives what was asked for.
    #[error("no value in the range gives it: {0}")]
    NoAnswer(String),
}

impl From<Endless> for ModelError {
    fn from(_: Endless) -> Self {
        Self::Endless
    }
}

impl Law {
    /// The law that a controller of Tandem's has with these parameters; `None` if it is not [`CONTROLLER`].
    pub fn of(params: &Params) -> Option<Self> {
        let get = |name| params.get(name);
        (params.controller().name == CONTROLLER).then_some(())?;
        Some(Self {
            alpha: get("alpha")?,
            k: get("k")?,
            zeta: get("zeta")?,
            beta: get("beta")?,
            gamma_packets: get("gamma")?,
            low_window_packets: get("low_window")?,
            spread_gain: get("spread_gain")?,
        })
    }

    /// The controller with this law, for [`Arithmetic::Tandem`]. It judges a round by its smallest RTT, as S2 (3) does.
    ///
    /// # Errors
    /// If a value is out of the controller's range.
    pub fn params(&self) -> Result<Arc<Params>, ModelError> {
        let mut params = Params::new(find(CONTROLLER).expect("it is in controllers.def"));
        let least_window = params.controller().params().find(|p| p.name == "low_window").map_or(0.0, |p| p.min);
        for (name, value) in [
            ("alpha", self.alpha),
            ("k", self.k),
            ("zeta", self.zeta),
            ("beta", self.beta),
            ("gamma", self.gamma_packets),
            ("low_window", self.low_window_packets.max(least_window)),
            ("spread_gain", self.spread_gain),
            ("rtt_gain", 0.0),
        ] {
            params.set(name, value)?;
        }
        Ok(Arc::new(params))
    }

    /// Is this a law that the model, in this arithmetic, can work out?
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] names a value that is out of range, [`ModelError::CompiledIn`] one that a Linux module fixes.
    pub fn check(&self, arithmetic: Arithmetic) -> Result<(), ModelError> {
        let inside = |name, value: f64, low: f64, high: f64, range| {
            let good = value > low && value < high;
            if good { Ok(()) } else { Err(ModelError::OutOfRange { name, value, range }) }
        };
        inside("alpha", self.alpha, 0.0, 16.0, "more than 0 and less than 16")?;
        inside("k", self.k, 0.0, 1.0, "more than 0 and less than 1 (S2, theorem 1)")?;
        inside("zeta", self.zeta, 0.0, 16.0, "more than 0 and less than 16")?;
        inside("beta", self.beta, 0.0, 1.0, "more than 0 and less than 1")?;
        inside("gamma", self.gamma_packets, 0.0, 1e6, "more than 0 packets and less than a million")?;
        match arithmetic {
            Arithmetic::Exact => Ok(()),
            Arithmetic::Tandem => self.params().map(|_| ()),
            Arithmetic::Linux13 | Arithmetic::Linux2006 => {
                let usual = Self::default();
                let fixed = [
                    ("alpha", self.alpha, usual.alpha),
                    ("k", self.k, usual.k),
                    ("zeta", self.zeta, usual.zeta),
                    ("beta", self.beta, usual.beta),
                ];
                match fixed.into_iter().find(|(_, value, fixed)| value != fixed) {
                    Some((name, value, fixed)) => Err(ModelError::CompiledIn { name, fixed, value }),
                    None => Ok(()),
                }
            }
        }
    }
}

/// The defaults of Tandem's `compound`: the papers' constants.
impl Default for Law {
    fn default() -> Self {
        Self::of(&Params::new(find(CONTROLLER).expect("it is in controllers.def"))).expect("it has all of them")
    }
}
