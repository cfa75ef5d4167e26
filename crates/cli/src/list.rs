// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem list`: controllers and engines.

use clap::Subcommand;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use tandem_controllers::{CONTROLLERS, Controller, STATE_BYTES};
use tandem_engines::ENGINES;

use crate::{failure::Failure, output::json_text, terminal::print};

const EXAMPLES: &str = "\
Examples:
  tandem list controllers
  tandem list controllers --json
  tandem list engines";

/// List controllers or engines
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum What {
    /// Congestion controllers with their sources and parameters
    #[command(after_help = EXAMPLES)]
    Controllers {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Engines: what can run a scenario
    #[command(after_help = EXAMPLES)]
    Engines {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Serialize)]
struct ControllerInfo {
    name: &'static str,
    family: &'static str,
    signal: &'static str,
    source: &'static str,
    state_bytes: usize,
    fits_kernel: bool,
    /// Why it cannot run.
    kernel_obstacle: Option<&'static str>,
    parameters: Vec<ParameterInfo>,
    probes: Vec<ProbeInfo>,
}

#[derive(Serialize)]
struct ParameterInfo {
    name: &'static str,
    default: f64,
    min: f64,
    max: f64,
    doc: &'static str,
}

#[derive(Serialize)]
struct ProbeInfo {
    name: &'static str,
    /// The values that it may have; empty for a number.
    words: Vec<&'static str>,
    doc: &'static str,
}

#[derive(Serialize)]
struct EngineInfo {
    name: &'static str,
    what: &'static str,
}

fn engines() -> Vec<EngineInfo> {
    ENGINES.iter().map(|e| EngineInfo { name: e.name(), what: e.description() }).collect()
}

pub fn list(what: &What) -> Result<(), Failure> {
    match what {
        What::Controllers { json: true } => {
            print(&json_text(&CONTROLLERS.iter().map(ControllerInfo::from).collect::<Vec<_>>())?)
        }
        What::Controllers { json: false } => print(&controllers_text()),
        What::Engines { json: true } => print(&json_text(&engines())?),
        What::Engines { json: false } => {
            print(&engines().iter().map(|e| format!("{:8}{}\n", e.name, e.what)).collect::<String>())
        }
    }
}

impl From<&Controller> for ControllerInfo {
    fn from(c: &Controller) -> Self {
        let parameters = c.params().map(|p| {
            let tandem_controllers::Param { name, doc, initial, min, max, .. } = p;
            ParameterInfo { name, default: initial, min, max, doc }
        });
        Self {
            name: c.name,
            family: c.family,
            signal: c.signal.as_str(),
            source: c.source,
            state_bytes: c.state_bytes(),
            fits_kernel: c.kernel_obstacle().is_none(),
            kernel_obstacle: c.kernel_obstacle(),
            parameters: parameters.collect(),
            probes: c.probes().map(|p| ProbeInfo { name: p.name, words: p.words().collect(), doc: p.doc }).collect(),
        }
    }
}

fn controllers_text() -> String {
    let mut text = String::new();
    for c in &CONTROLLERS {
        text += &format!(
            "{}  ({} family, signal: {}, {} of {STATE_BYTES} bytes of kernel state)\n  {}\n",
            c.name,
            c.family,
            c.signal.as_str(),
            c.state_bytes(),
            c.source
        );
        if let Some(reason) = c.kernel_obstacle() {
            text += &format!("  Not in the kernel: {reason}.\n");
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(["  parameter", "default", "range", "what it is; whose reading"]);
        for p in c.params() {
            table.add_row([
                format!("  {}", p.name),
                p.initial.to_string(),
                format!("{} to {}", (p.min * 1e4).round() / 1e4, p.max),
                p.doc.to_owned(),
            ]);
        }
        text += &format!("{table}\n");
        let probes: Vec<String> = c.probes().map(|p| format!("{} ({})", p.name, p.doc)).collect();
        if !probes.is_empty() {
            text += &format!("  Shows in traces and `tandem kernel watch`: {}.\n", probes.join(", "));
        }
        text.push('\n');
    }
    text
}
