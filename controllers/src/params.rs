// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of controllers: named, scaled integers with a range.

use crate::{Controller, ffi::RawParam};

/// A parameter in the users' unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// The name in the controller's header.
    pub name: &'static str,
    /// What it is, its unit, and whose value the default is.
    pub doc: &'static str,
    /// The default.
    pub initial: f64,
    /// The smallest value allowed.
    pub min: f64,
    /// The largest value allowed.
    pub max: f64,
    /// Steps per unit: a value is a whole number of 1/`scale`.
    pub scale: u32,
}

impl Param {
    pub(crate) fn new(raw: &RawParam) -> Self {
        let value = |n: u32| f64::from(n) / f64::from(raw.scale);
        Self {
            name: raw.name(),
            doc: raw.doc(),
            initial: value(raw.initial),
            min: value(raw.min),
            max: value(raw.max),
            scale: raw.scale,
        }
    }
}

/// A parameter that cannot be set. The message names the controller and the parameter, and says which values are allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamsError {
    /// The controller has no parameter of this name.
    #[error("controller `{controller}` has no parameter `{name}`; it has {}", list(.known))]
    Unknown {
        /// The controller's name.
        controller: &'static str,
        /// The requested name.
        name: String,
        /// The names of the controller's parameters.
        known: Vec<&'static str>,
    },
    /// The value is below `min`, above `max`, or not a number.
    #[error("`{controller}.{name}` = {value} is out of range: give {min} to {max}")]
    OutOfRange {
        /// The controller's name.
        controller: &'static str,
        /// The parameter's name.
        name: &'static str,
        /// The value given, in the users' unit.
        value: f64,
        /// The smallest value allowed.
        min: f64,
        /// The largest value allowed.
        max: f64,
    },
    /// The parameter's step is coarse, and the value lies between two steps.
    #[error("`{controller}.{name}` = {value} is not {}", step(*.scale))]
    Step {
        /// The controller's name.
        controller: &'static str,
        /// The parameter's name.
        name: &'static str,
        /// The value given, in the users' unit.
        value: f64,
        /// Steps per unit.
        scale: u32,
    },
}

fn step(scale: u32) -> String {
    if scale == 1 { "a whole number".into() } else { format!("a multiple of 1/{scale}") }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// A controller with all its parameters, each in its range.
#[derive(Clone, Debug)]
pub struct Params {
    controller: &'static Controller,
    raw: Vec<u32>,
}

impl Params {
    /// The defaults.
    pub fn new(controller: &'static Controller) -> Self {
        Self { controller, raw: controller.raw.params().iter().map(|p| p.initial).collect() }
    }

    /// The controller that the parameters belong to.
    pub fn controller(&self) -> &'static Controller {
        self.controller
    }

    /// Sets one parameter to `value`, in the users' unit. If the scale is above 16, the value is rounded to the nearest step.
    ///
    /// # Errors
    /// [`ParamsError`] if the controller has no such parameter, the value is out of range, or it lies between two coarse steps.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), ParamsError> {
        let controller = self.controller.name;
        let known: Vec<Param> = self.controller.params().collect();
        let Some(i) = known.iter().position(|p| p.name == name) else {
            let known = known.iter().map(|p| p.name).collect();
            return Err(ParamsError::Unknown { controller, name: name.to_owned(), known });
        };
        let Param { name, min, max, scale, .. } = known[i];
        if !(min..=max).contains(&value) {
            return Err(ParamsError::OutOfRange { controller, name, value, min, max });
        }
        let steps = value * f64::from(scale);
        if scale <= 16 && (steps - steps.round()).abs() > 1e-9 {
            return Err(ParamsError::Step { controller, name, value, scale });
        }
        self.raw[i] = steps.round() as u32;
        Ok(())
    }

    /// The current value, in the users' unit; `None` if the controller has no such parameter.
    pub fn get(&self, name: &str) -> Option<f64> {
        let (i, p) = self.controller.params().enumerate().find(|(_, p)| p.name == name)?;
        Some(f64::from(self.raw[i]) / f64::from(p.scale))
    }

    /// The values as the C side has them: value * scale, in the order of [`Controller::params`].
    pub fn raw(&self) -> &[u32] {
        &self.raw
    }

    /// The parameters that [`Params::raw`] describes; `None` unless `raw` has one value for each parameter, each in its range.
    pub fn from_raw(controller: &'static Controller, raw: &[u32]) -> Option<Self> {
        let known = controller.raw.params();
        let in_range = |(p, value): (&RawParam, &u32)| (p.min..=p.max).contains(value);
        (raw.len() == known.len() && known.iter().zip(raw).all(in_range))
            .then(|| Self { controller, raw: raw.to_vec() })
    }
}
