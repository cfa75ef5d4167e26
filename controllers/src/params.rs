// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of controllers: named, scaled integers with a range.

use std::fmt;

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
    /// The text is not a number.
    #[error("`{text}` is not a number: write `{controller}.{name}` as a number")]
    NotANumber {
        /// The controller's name.
        controller: &'static str,
        /// The requested name.
        name: String,
        /// The text given.
        text: String,
    },
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

/// One parameter of a controller and its value, checked. Two are equal if they set the same parameter to the same step.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    controller: &'static Controller,
    index: usize,
    /// As given, in the users' unit.
    value: f64,
    raw: u32,
}

impl Setting {
    /// A value in the users' unit. Fractions of scales above 16 are rounded to the nearest step.
    ///
    /// # Errors
    /// If the controller has no such parameter, or the value is out of its range.
    pub fn new(controller: &'static Controller, name: &str, value: f64) -> Result<Self, ParamsError> {
        let known: Vec<Param> = controller.params().collect();
        let Some(index) = known.iter().position(|p| p.name == name) else {
            let known = known.iter().map(|p| p.name).collect();
            return Err(ParamsError::Unknown { controller: controller.name, name: name.to_owned(), known });
        };
        let (Param { name, min, max, scale, .. }, controller_name) = (known[index], controller.name);
        if !(min..=max).contains(&value) {
            return Err(ParamsError::OutOfRange { controller: controller_name, name, value, min, max });
        }
        let steps = value * f64::from(scale);
        if scale <= 16 && (steps - steps.round()).abs() > 1e-9 {
            return Err(ParamsError::Step { controller: controller_name, name, value, scale });
        }
        Ok(Self { controller, index, value, raw: steps.round() as u32 })
    }

    /// The value as written, such as `20` or `0.125`.
    ///
    /// # Errors
    /// If it is not a number, the controller has no such parameter, or the value is out of its range.
    pub fn parse(controller: &'static Controller, name: &str, text: &str) -> Result<Self, ParamsError> {
        let value = text.trim().parse().map_err(|_| ParamsError::NotANumber {
            controller: controller.name,
            name: name.to_owned(),
            text: text.to_owned(),
        })?;
        Self::new(controller, name, value)
    }

    /// The controller that has the parameter.
    pub fn controller(&self) -> &'static Controller {
        self.controller
    }

    /// The parameter's name.
    pub fn name(&self) -> &'static str {
        self.controller.params().nth(self.index).expect("the index is that of a parameter").name
    }

    /// Does it set the same parameter?
    pub fn sets_same(&self, other: &Setting) -> bool {
        std::ptr::eq(self.controller, other.controller) && self.index == other.index
    }
}

/// As users write it: `gamma=20`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}={}", self.name(), self.value)
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Self) -> bool {
        self.sets_same(other) && self.raw == other.raw
    }
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
        let setting = Setting::new(self.controller, name, value)?;
        self.raw[setting.index] = setting.raw;
        Ok(())
    }

    /// Sets what the setting says, unless it belongs to another controller.
    pub fn apply(&mut self, setting: &Setting) {
        if std::ptr::eq(self.controller, setting.controller) {
            self.raw[setting.index] = setting.raw;
        }
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
