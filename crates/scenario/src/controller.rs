// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers and their parameters as written. There are two spellings: `NAME@key=value[,key=value]` where a controller is
//! named, and `NAME.key=value` for all flows of that controller.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, de};
use tandem_controllers::{Controller, Params, ParamsError, Setting, UnknownController, find};

use crate::scenario::CongestionControl;

/// Before the name of a congestion control that is the kernel's own.
pub const KERNEL_PREFIX: &str = "kernel:";

/// Linux's `TCP_CA_NAME_MAX`, without the zero at the end.
const MAX_KERNEL_NAME: usize = 15;

/// A controller or a parameter that cannot be read. The message says what to write.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ControllerError {
    #[error(transparent)]
    Unknown(#[from] UnknownController),
    #[error(transparent)]
    Params(#[from] ParamsError),
    #[error("write {controller}@key=value, such as `compound@gamma=20`, not `{text}`")]
    NoValue { controller: &'static str, text: String },
    #[error("`{controller}.{name}` is set twice: leave one out")]
    Twice { controller: &'static str, name: &'static str },
    #[error("write CONTROLLER.key=value, such as `compound.gamma=20`, not `{0}`")]
    NoSetting(String),
    #[error("write {KERNEL_PREFIX}NAME with a name of 1 to {MAX_KERNEL_NAME} letters, digits, `_` or `-`, not `{0}`")]
    KernelName(String),
    #[error("the kernel's own congestion controls have no parameters: write `{0}`")]
    KernelParameters(String),
}

/// `compound`, `compound@gamma=20,alpha=0.25`, `kernel:cubic`.
#[derive(Debug, Clone)]
pub enum ControllerSpec {
    /// One of Tandem's, with the parameters of these flows alone; none is set twice.
    Tandem { controller: &'static Controller, own: Vec<Setting> },
    /// One of the kernel's own.
    Kernel(String),
}

impl ControllerSpec {
    /// The controller of Tandem's with parameters at their defaults.
    pub fn tandem(controller: &'static Controller) -> Self {
        Self::Tandem { controller, own: Vec::new() }
    }

    /// What is set for all flows of the controller, and before that what is set here.
    pub fn with(&self, general: &Settings) -> CongestionControl {
        match self {
            Self::Kernel(name) => CongestionControl::Kernel(name.clone()),
            Self::Tandem { controller, own } => {
                let mut params = Params::new(controller);
                general.0.iter().chain(own).for_each(|setting| params.apply(setting));
                CongestionControl::Tandem(Arc::new(params))
            }
        }
    }

    /// The parameters of these flows alone.
    pub fn own(&self) -> &[Setting] {
        match self {
            Self::Tandem { own, .. } => own,
            Self::Kernel(_) => &[],
        }
    }

    /// Does a setting for all flows of its controller reach this one?
    pub fn has_parameter(&self, setting: &Setting) -> bool {
        matches!(self, Self::Tandem { controller, .. } if std::ptr::eq(*controller, setting.controller()))
    }

    /// Replaces what is set here of the same parameter, if it is.
    pub(crate) fn replace(&mut self, setting: &Setting) {
        if let Self::Tandem { own, .. } = self {
            own.iter_mut().filter(|o| o.sets_same(setting)).for_each(|o| *o = *setting);
        }
    }
}

impl FromStr for ControllerSpec {
    type Err = ControllerError;
    fn from_str(text: &str) -> Result<Self, ControllerError> {
        if let Some(name) = text.strip_prefix(KERNEL_PREFIX) {
            return kernels(name);
        }
        let Some((name, parameters)) = text.split_once('@') else {
            return Ok(Self::tandem(find(text)?));
        };
        let controller = find(name)?;
        let mut own: Vec<Setting> = Vec::new();
        for pair in parameters.split(',') {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(ControllerError::NoValue { controller: controller.name, text: text.to_owned() });
            };
            push(&mut own, Setting::parse(controller, key.trim(), value)?)?;
        }
        Ok(Self::Tandem { controller, own })
    }
}

fn kernels(name: &str) -> Result<ControllerSpec, ControllerError> {
    if let Some((name, _)) = name.split_once('@') {
        return Err(ControllerError::KernelParameters(format!("{KERNEL_PREFIX}{name}")));
    }
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if !is_name || !(1..=MAX_KERNEL_NAME).contains(&name.len()) {
        return Err(ControllerError::KernelName(format!("{KERNEL_PREFIX}{name}").escape_debug().to_string()));
    }
    Ok(ControllerSpec::Kernel(name.to_owned()))
}

fn push(settings: &mut Vec<Setting>, new: Setting) -> Result<(), ControllerError> {
    if settings.iter().any(|s| s.sets_same(&new)) {
        return Err(ControllerError::Twice { controller: new.controller().name, name: new.name() });
    }
    settings.push(new);
    Ok(())
}

/// As it can be read again.
impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Kernel(name) => write!(f, "{KERNEL_PREFIX}{name}"),
            Self::Tandem { controller, own } => {
                f.write_str(controller.name)?;
                own.iter().enumerate().try_for_each(|(i, o)| write!(f, "{}{o}", if i == 0 { "@" } else { "," }))
            }
        }
    }
}

impl<'de> Deserialize<'de> for ControllerSpec {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

/// Parameters for all flows of their controllers: a file's table `[set]`, or `--set`. None is set twice.
#[derive(Debug, Clone, Default)]
pub struct Settings(Vec<Setting>);

impl Settings {
    /// One more; an error if its parameter is set already.
    pub fn push(&mut self, setting: Setting) -> Result<(), ControllerError> {
        push(&mut self.0, setting)
    }

    /// In the order in which they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter()
    }

    /// These only.
    pub fn retain(&mut self, keep: impl FnMut(&Setting) -> bool) {
        self.0.retain(keep);
    }

    /// One more, in the place of another of the same parameter.
    pub(crate) fn replace(&mut self, setting: Setting) {
        self.0.retain(|s| !s.sets_same(&setting));
        self.0.push(setting);
    }
}

/// `compound.gamma=20`: one setting as the command line has it.
pub fn parse_setting(text: &str) -> Result<Setting, ControllerError> {
    let wrong = || ControllerError::NoSetting(text.to_owned());
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    let (controller, name) = key.split_once('.').ok_or_else(wrong)?;
    Ok(Setting::parse(find(controller.trim())?, name.trim(), value)?)
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let by_controller = BTreeMap::<String, BTreeMap<String, f64>>::deserialize(d)?;
        let mut settings = Settings::default();
        for (controller, values) in by_controller {
            let controller = find(&controller).map_err(de::Error::custom)?;
            for (name, value) in values {
                let setting = Setting::new(controller, &name, value).map_err(de::Error::custom)?;
                settings.push(setting).map_err(de::Error::custom)?;
            }
        }
        Ok(settings)
    }
}
