// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers and their parameters as written. There are two spellings: `NAME@key=value[,key=value]` where a controller is
//! named, and `NAME.key=value` for all flows of that controller. In the place of NAME there may be the path of a header of the user's, which
//! is relative to the folder of the file that names it ([`in_folder`]).

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use serde::{Deserialize, Deserializer, de};
use tandem_controllers::{Controller, NamedError, Params, ParamsError, Setting, own};

use crate::traffic::{CongestionControl, Noq};

/// Prefix of the names of the kernel's own congestion controls.
pub const KERNEL_PREFIX: &str = "kernel:";
/// Prefix of the names of the QUIC stack's own.
pub const NOQ_PREFIX: &str = "noq:";

/// Linux's `TCP_CA_NAME_MAX`, without the zero at the end.
const MAX_KERNEL_NAME: usize = 15;

/// A controller or a parameter that cannot be read. The message says what to write.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// No controller has the name, or the header gives none.
    #[error(transparent)]
    Named(#[from] NamedError),
    /// The controller has no such parameter, or the value is out of its range.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// A parameter after `@` has no `=value`.
    #[error("write {controller}@key=value, such as `compound@gamma=20`, not `{text}`")]
    NoValue {
        /// Name of the controller.
        controller: &'static str,
        /// The text as given.
        text: String,
    },
    /// One place sets a parameter twice.
    #[error("`{controller}.{name}` is set twice: leave one out")]
    Twice {
        /// Name of the controller.
        controller: &'static str,
        /// Name of the parameter.
        name: &'static str,
    },
    /// The text is not of the form `CONTROLLER.key=value`.
    #[error("write CONTROLLER.key=value, such as `compound.gamma=20`, not `{0}`")]
    NoSetting(String),
    /// Linux allows no congestion control of this name.
    #[error("write {KERNEL_PREFIX}NAME with a name of 1 to {MAX_KERNEL_NAME} letters, digits, `_` or `-`, not `{0}`")]
    KernelName(String),
    /// Parameters follow the name of a congestion control of the kernel's own.
    #[error("the kernel's own congestion controls have no parameters: write `{0}`")]
    KernelParameters(String),
    /// The QUIC stack has no congestion control of this name.
    #[error("the QUIC stack noq has {}, without parameters, and no `{NOQ_PREFIX}{_0}`", noqs())]
    NoqName(String),
}

fn noqs() -> String {
    Noq::ALL.map(|noq| format!("`{NOQ_PREFIX}{}`", noq.name())).join(", ")
}

/// A controller as written: `compound`, `compound@gamma=20,alpha=0.25`, `kernel:cubic`.
#[derive(Debug, Clone)]
pub enum ControllerSpec {
    /// One of Tandem's.
    Tandem {
        /// Its entry in the list of controllers.
        controller: &'static Controller,
        /// The parameters of these flows alone; none is set twice.
        own: Vec<Setting>,
    },
    /// One of the kernel's own, by its name without the prefix.
    Kernel(String),
    /// One of the QUIC stack's own.
    Noq(Noq),
}

impl ControllerSpec {
    /// The controller of Tandem's with parameters at their defaults.
    pub fn tandem(controller: &'static Controller) -> Self {
        Self::Tandem { controller, own: Vec::new() }
    }

    /// The congestion control with these settings for all flows, and over them its own.
    pub fn with(&self, general: &Settings) -> CongestionControl {
        match self {
            Self::Kernel(name) => CongestionControl::Kernel(name.clone()),
            Self::Noq(noq) => CongestionControl::Noq(*noq),
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
            Self::Kernel(_) | Self::Noq(_) => &[],
        }
    }

    /// Does it need the number of marked packets (accurate ECN)?
    pub fn counts_marks(&self) -> bool {
        matches!(self, Self::Tandem { controller, .. } if controller.counts_marks())
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
        if let Some(name) = text.strip_prefix(NOQ_PREFIX) {
            let noq = Noq::ALL.into_iter().find(|noq| noq.name() == name);
            return noq.map(Self::Noq).ok_or_else(|| ControllerError::NoqName(name.escape_debug().to_string()));
        }
        let (name, parameters) = name_and_parameters(text);
        let controller = named(name)?;
        let Some(parameters) = parameters else { return Ok(Self::tandem(controller)) };
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

thread_local! {
    /// Where headers with a relative path are looked for, on this thread; empty: where the process is.
    static FOLDER: RefCell<PathBuf> = RefCell::default();
}

/// Reads what may name headers, relative to a folder: deserialisers pass nothing on of where their text is from.
pub fn in_folder<T>(folder: &Path, read: impl FnOnce() -> T) -> T {
    /// Puts back what was there, even after a panic.
    struct Before(PathBuf);
    impl Drop for Before {
        fn drop(&mut self) {
            FOLDER.set(std::mem::take(&mut self.0));
        }
    }
    let _before = Before(FOLDER.replace(folder.to_owned()));
    read()
}

/// A controller by its name, or a header's path.
///
/// # Errors
/// If no controller has the name, or the header gives none.
pub fn named(name: &str) -> Result<&'static Controller, NamedError> {
    FOLDER.with_borrow(|folder| own::named(name, folder))
}

/// `NAME[@PARAMETERS]`; folders' names may have an `@`, too.
fn name_and_parameters(text: &str) -> (&str, Option<&str>) {
    let start = if text.contains('/') { text.rfind(".h@").map_or(text.len(), |at| at + 2) } else { 0 };
    match text[start..].find('@') {
        Some(at) => (&text[..start + at], Some(&text[start + at + 1..])),
        None => (text, None),
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

/// As it can be read again, except a header, which has the name of its controller here.
impl fmt::Display for ControllerSpec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Kernel(name) => write!(f, "{KERNEL_PREFIX}{name}"),
            Self::Noq(noq) => write!(f, "{NOQ_PREFIX}{}", noq.name()),
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
    /// Adds a setting.
    ///
    /// # Errors
    /// If its parameter is set already.
    pub fn push(&mut self, setting: Setting) -> Result<(), ControllerError> {
        push(&mut self.0, setting)
    }

    /// The settings in the order in which they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter()
    }

    /// Drops the settings for which `keep` is false.
    pub fn retain(&mut self, keep: impl FnMut(&Setting) -> bool) {
        self.0.retain(keep);
    }

    /// One more, in the place of another of the same parameter.
    pub(crate) fn replace(&mut self, setting: Setting) {
        self.0.retain(|s| !s.sets_same(&setting));
        self.0.push(setting);
    }
}

/// Reads a setting as the command line has it: `compound.gamma=20`.
///
/// # Errors
/// If it is not `CONTROLLER.PARAMETER=VALUE`, there is no such controller or parameter, or the value is out of range.
pub fn parse_setting(text: &str) -> Result<Setting, ControllerError> {
    let wrong = || ControllerError::NoSetting(text.to_owned());
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    // The last: a header's path has dots.
    let (controller, name) = key.rsplit_once('.').ok_or_else(wrong)?;
    Ok(Setting::parse(named(controller.trim())?, name.trim(), value)?)
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let by_controller = BTreeMap::<String, BTreeMap<String, f64>>::deserialize(d)?;
        let mut settings = Settings::default();
        for (controller, values) in by_controller {
            let controller = named(&controller).map_err(de::Error::custom)?;
            for (name, value) in values {
                let setting = Setting::new(controller, &name, value).map_err(de::Error::custom)?;
                settings.push(setting).map_err(de::Error::custom)?;
            }
        }
        Ok(settings)
    }
}
