// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments that `compare` and `run` share, and the words in them.

use std::path::PathBuf;

use clap::ArgAction;
pub use tandem_compare::Flows;
use tandem_compare::name_and_count;
use tandem_controllers::{CONTROLLERS, Setting};
use tandem_scenario::{ControllerSpec, Settings, controller::parse_setting, file::Overrides};

use crate::failure::Failure;

#[derive(clap::Args, Default)]
pub struct Common {
    /// The first seed; the others follow [default: run the file's, or 1]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// A parameter for all flows of a controller; `tandem list controllers` shows them. It overrides the file
    #[arg(long, value_name = "CONTROLLER.KEY=VALUE", action = ArgAction::Append, value_parser = parse_setting)]
    pub set: Vec<Setting>,

    /// An ACK for every packet
    #[arg(long)]
    pub no_delayed_acks: bool,

    /// Folder for report.html, results.json and traces [default: one in tandem-out, named after the command]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Replace the results of another command in that folder
    #[arg(long)]
    pub replace: bool,

    /// Write results.json only
    #[arg(long)]
    pub no_report: bool,

    /// Results as JSON on standard output instead of the table
    #[arg(long)]
    pub json: bool,

    /// Also write samples of windows and queues (Parquet) of the first seed
    #[arg(long)]
    pub trace: bool,
}

impl Common {
    /// What goes before a scenario's own words.
    pub fn overrides(&self, seeds: Option<u32>) -> Result<Overrides, Failure> {
        let settings = settings(&self.set)?;
        let Self { seed: first_seed, no_delayed_acks, .. } = *self;
        Ok(Overrides { seeds, first_seed, no_delayed_acks, settings })
    }
}

/// What `--set` gives, each parameter once.
pub fn settings(set: &[Setting]) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    set.iter().try_for_each(|&setting| settings.push(setting)).map_err(Failure::usage)?;
    Ok(settings)
}

/// `compound:4`: as many flows of each controller of a family.
#[derive(Debug, Clone)]
pub struct Family(pub Vec<Flows>);

impl std::str::FromStr for Family {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, count) = name_and_count(text, "FAMILY").map_err(|e| e.to_string())?;
        let of_family = CONTROLLERS.iter().filter(|c| c.family == name);
        let flows: Vec<Flows> = of_family.map(|c| Flows::new(ControllerSpec::tandem(c), count)).collect();
        if flows.is_empty() {
            let mut known: Vec<&str> = CONTROLLERS.iter().map(|c| c.family).collect();
            known.dedup();
            return Err(format!("unknown family `{name}`; there are: {}", known.join(", ")));
        }
        Ok(Self(flows))
    }
}
