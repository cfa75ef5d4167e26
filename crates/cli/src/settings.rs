// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments that `compare` and `run` share, and the words in them.

use std::{path::PathBuf, sync::Arc};

use clap::ArgAction;
use tandem_controllers::{CONTROLLERS, Params, find};
use tandem_scenario::file::{MAX_COUNT, Settings};

use crate::Failure;

#[derive(clap::Args)]
pub struct Common {
    /// Independent repetitions; two or more give 95 % intervals [default: compare 5, run the file's or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_COUNT)))]
    pub seeds: Option<u32>,

    /// The first seed; the others follow [default: run the file's, or 1]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// A controller's parameter, for all its flows; `tandem list controllers` shows them
    #[arg(long, value_name = "CONTROLLER.NAME=VALUE", action = ArgAction::Append)]
    pub set: Vec<Setting>,

    /// An ACK for every packet
    #[arg(long)]
    pub no_delayed_acks: bool,

    /// Folder for report.html, results.json and traces; what stands there is replaced
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Results as JSON on standard output instead of the table
    #[arg(long)]
    pub json: bool,

    /// Also write samples of windows and queues (Parquet) of the first seed
    #[arg(long)]
    pub trace: bool,
}

/// `compound.gamma=20`.
#[derive(Debug, Clone)]
pub struct Setting {
    controller: String,
    name: String,
    value: f64,
}

impl std::str::FromStr for Setting {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("write CONTROLLER.NAME=VALUE, such as `compound.gamma=20`, not `{text}`");
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        let (controller, name) = key.split_once('.').ok_or_else(wrong)?;
        let value = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
        let mut params = Params::new(find(controller).map_err(|e| e.to_string())?);
        params.set(name, value).map_err(|e| e.to_string())?;
        Ok(Self { controller: controller.to_owned(), name: name.to_owned(), value })
    }
}

impl Common {
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        for Setting { controller, name, value } in &self.set {
            settings.entry(controller.clone()).or_default().insert(name.clone(), *value);
        }
        settings
    }
}

/// `compound:4` or `compound@gamma=20,alpha=0.25:4`: flows of one controller. `:4` may be left out for one flow.
#[derive(Debug, Clone)]
pub struct Flows {
    pub name: String,
    pub count: u32,
    controller: String,
    own: Vec<(String, f64)>,
}

impl std::str::FromStr for Flows {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, count) = name_and_count(text, "CONTROLLER")?;
        let (controller, own) = name.split_once('@').unwrap_or((name, ""));
        let mut params = Params::new(find(controller).map_err(|e| e.to_string())?);
        let mut values = Vec::new();
        for pair in own.split(',').filter(|pair| !pair.is_empty()) {
            let parsed = pair.split_once('=').and_then(|(key, value)| Some((key, value.parse().ok()?)));
            let Some((key, value)) = parsed else {
                return Err(format!("write {controller}@NAME=VALUE, not `{pair}`"));
            };
            params.set(key, value).map_err(|e| e.to_string())?;
            values.push((key.to_owned(), value));
        }
        Ok(Self { name: name.to_owned(), count, controller: controller.to_owned(), own: values })
    }
}

/// `NAME:FLOWS`; one flow if their number is left out.
fn name_and_count<'a>(text: &'a str, what: &str) -> Result<(&'a str, u32), String> {
    let (name, count) = text.split_once(':').unwrap_or((text, "1"));
    match count.parse() {
        Ok(n @ 1..=MAX_COUNT) => Ok((name, n)),
        _ => Err(format!("`{count}` is not a number of flows from 1 to {MAX_COUNT}: write {what}:FLOWS")),
    }
}

/// `compound:4`: as many flows of each controller of a family.
#[derive(Debug, Clone)]
pub struct Family(pub Vec<Flows>);

impl std::str::FromStr for Family {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, count) = name_and_count(text, "FAMILY")?;
        let of_family = CONTROLLERS.iter().filter(|c| c.family == name);
        let flows: Vec<Flows> = of_family
            .map(|c| Flows { name: c.name.into(), count, controller: c.name.into(), own: Vec::new() })
            .collect();
        if flows.is_empty() {
            let mut known: Vec<&str> = CONTROLLERS.iter().map(|c| c.family).collect();
            known.dedup();
            return Err(format!("unknown family `{name}`; there are: {}", known.join(", ")));
        }
        Ok(Self(flows))
    }
}

impl Flows {
    pub fn with_count(&self, count: u32) -> Self {
        Self { count, ..self.clone() }
    }

    /// The controller's parameters: its defaults, then `--set`, then its own.
    pub fn params(&self, settings: &Settings) -> Result<Arc<Params>, Failure> {
        let mut params = Params::new(find(&self.controller).map_err(Failure::usage)?);
        let general = settings.get(&self.controller).into_iter().flatten();
        for (key, value) in general.chain(self.own.iter().map(|(k, v)| (k, v))) {
            params.set(key, *value).map_err(Failure::usage)?;
        }
        Ok(Arc::new(params))
    }
}
