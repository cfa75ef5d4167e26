// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem kernel`: our controllers in the running Linux kernel.

mod check;
mod prometheus;
mod watch;

use std::fmt::Write;

use clap::Subcommand;
use comfy_table::{ContentArrangement, Table, presets};
use tandem_kernel::{Error, Listener, Loaded, Unloaded};
use tandem_scenario::{CongestionControl, ControllerSpec, Settings};

use crate::{failure::Failure, output::json_text, terminal::print};

const EXAMPLES: &str = "\
Examples:
  tandem kernel check                                  what this kernel has and lacks
  tandem kernel load compound_tube                     every program can choose it now
  iperf3 -c HOST -C compound_tube                      one program chooses it
  tandem kernel load compound@gamma=20 --as compound20 --default
  tandem kernel load bbr                               as tandem_bbr if the kernel has its own bbr
  tandem kernel watch                                  its connections, live
  tandem kernel unload compound_tube                   connections that use it continue
  tandem kernel cleanup                                after `kill -9` of any of these, or of a run with the kernel engine";

/// The controllers in the Linux kernel: load, unload, watch
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// What this kernel has and lacks, and which controllers will load
    Check {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// List the loaded controllers
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    Load(Load),
    Unload(Unload),
    Watch(watch::Args),
    /// Remove what killed commands have left behind: `load`, `unload`, `policy`, runs with the kernel engine
    Cleanup {
        /// As JSON: the names
        #[arg(long)]
        json: bool,
    },
}

/// Make a controller available to every program on the machine, until `unload` or a reboot
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Load {
    /// The controller, with parameters if wanted: compound@gamma=20,alpha=0.25; `tandem list controllers` shows them
    #[arg(value_name = "CONTROLLER[@KEY=VALUE]")]
    controller: ControllerSpec,

    /// The name that programs choose it by, at most 15 characters [default: the controller's; tandem_NAME if the kernel has one of that
    /// name]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,

    /// Make it net.ipv4.tcp_congestion_control: new connections use it unless they choose another
    #[arg(long)]
    default: bool,

    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Unload a controller; if it is the default, the previous default returns
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Unload {
    /// The name it was loaded under
    #[arg(value_name = "NAME")]
    name: String,

    /// As JSON
    #[arg(long)]
    json: bool,
}

pub fn kernel(action: &Action) -> Result<(), Failure> {
    match action {
        Action::Check { json } => check::check(*json),
        Action::List { json } => list(*json),
        Action::Load(args) => load(args),
        Action::Unload(args) => unload(args),
        Action::Watch(args) => watch::watch(args),
        Action::Cleanup { json } => cleanup(*json),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::BadName(_) | Error::NotForKernel { .. } | Error::BadCgroup { .. } => Failure::Usage(error.into()),
            _ => Failure::Failed(error.into()),
        }
    }
}

fn load(args: &Load) -> Result<(), Failure> {
    let params = match args.controller.with(&Settings::default()) {
        CongestionControl::Tandem(params) => params,
        CongestionControl::Kernel(_) => {
            let message = format!("`{}` is the kernel's own: `modprobe tcp_NAME` loads it", args.controller);
            return Err(Failure::usage(message));
        }
        CongestionControl::Noq(_) => {
            return Err(Failure::usage(format!("`{}` is the QUIC stack's own, and no kernel has it", args.controller)));
        }
    };
    let controller = params.controller();
    tandem_kernel::check_loadable(controller)?;
    let name = args.name.clone().map_or_else(|| tandem_kernel::usual_name(controller), Ok)?;
    let loaded = tandem_kernel::load(&params, &name, args.default)?;
    if args.json {
        return print(&json_text(&loaded)?);
    }
    let name = &loaded.name;
    let mut text = format!("{} is loaded{}.\n", described(&loaded), if args.default { " and the default" } else { "" });
    if args.name.is_none() && *name != loaded.controller {
        let _ = writeln!(
            text,
            "The kernel has a controller named `{}` already, so this one is `{name}`.",
            loaded.controller
        );
    }
    if args.default {
        let before = &loaded.replaced_default;
        let _ = writeln!(text, "`tandem kernel unload {name}` makes `{before}` the default again.");
    } else {
        let _ = writeln!(text, "For one program:     iperf3 -C {name}, or setsockopt(TCP_CONGESTION) with \"{name}\"");
        let _ = writeln!(text, "For the machine:     sysctl net.ipv4.tcp_congestion_control={name}");
    }
    print(&text)
}

/// `compound20` (compound, gamma = 20).
fn described(loaded: &Loaded) -> String {
    let parameters = loaded.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
    let own_name = (loaded.name != loaded.controller).then(|| loaded.controller.clone());
    let details: Vec<String> = own_name.into_iter().chain(parameters).collect();
    if details.is_empty() { loaded.name.clone() } else { format!("{} ({})", loaded.name, details.join(", ")) }
}

fn unload(args: &Unload) -> Result<(), Failure> {
    let unloaded = tandem_kernel::unload(&args.name)?;
    if args.json {
        return print(&json_text(&unloaded)?);
    }
    print(&outcome_of_unload(&args.name, &unloaded))
}

fn outcome_of_unload(name: &str, unloaded: &Unloaded) -> String {
    let Unloaded { connections, restored_defaults, still_default_in, listeners } = unloaded;
    let mut text = format!("{name} is unloaded.\n");
    if *connections > 0 {
        let _ = writeln!(text, "{connections} connections keep it until they close.");
    }
    for (default, namespaces) in restored_defaults {
        let _ = writeln!(text, "The default is `{default}` again{}.", where_restored(namespaces));
    }
    for namespace in still_default_in {
        let _ = writeln!(text, "It stays the default in {}, which accepts no other.", in_words(namespace));
    }
    match listeners.as_deref() {
        Some([]) => {}
        Some(listeners) => {
            let _ =
                writeln!(text, "Connections that these sockets accept still get it, until the sockets are reopened:");
            for Listener { namespace, address } in listeners {
                let _ = writeln!(text, "  {address} in {}", in_words(namespace));
            }
        }
        None => {
            let _ =
                writeln!(text, "This kernel does not report which listening sockets still pass it on (no tcp_diag).");
        }
    }
    text
}

/// The namespaces whose default changed back. Nothing if only this one's did; at most some names, because a machine may have thousands.
fn where_restored(namespaces: &[String]) -> String {
    const SHOWN: usize = 3;
    let is_here = namespaces.iter().any(String::is_empty);
    let others: Vec<&String> = namespaces.iter().filter(|name| !name.is_empty()).collect();
    let here = if is_here { ", here and in " } else { " in " };
    match &others[..] {
        [] => String::new(),
        [name] => format!("{here}the network namespace of `{name}`"),
        names => {
            let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let more = if names.len() > SHOWN { " and others" } else { "" };
            format!("{here}{} network namespaces: of {shown}{more}", names.len())
        }
    }
}

fn in_words(namespace: &str) -> String {
    match namespace {
        "" => "this network namespace".into(),
        name => format!("the network namespace of `{name}`"),
    }
}

fn cleanup(json: bool) -> Result<(), Failure> {
    let removed = tandem_testbed::clean_up().map_err(anyhow::Error::from)?;
    if json {
        return print(&json_text(&removed)?);
    }
    print(&match removed.is_empty() {
        true => "Nothing was left.\n".to_owned(),
        false => format!("Removed: {}.\n", removed.join(", ")),
    })
}

fn list(json: bool) -> Result<(), Failure> {
    let loaded = tandem_kernel::list()?;
    if json {
        return print(&json_text(&loaded)?);
    }
    if loaded.is_empty() {
        return print("Nothing is loaded; `tandem kernel load CONTROLLER` loads one.\n");
    }
    let mut table = table(["name", "controller", "parameters", "default", "connections"]);
    for l in &loaded {
        let parameters: Vec<String> = l.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        table.add_row([
            l.name.clone(),
            l.controller.clone(),
            parameters.join(" "),
            if l.is_default { "yes" } else { "" }.to_owned(),
            l.connections.to_string(),
        ]);
    }
    print(&format!("{table}\n"))
}

pub fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    // Some terminals (a serial line, a script's pseudo terminal) report 0 columns, because they do not know.
    if table.width().is_some_and(|columns| columns > 0) {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_that_was_restored_elsewhere_is_not_said_to_be_this_machines() {
        let told = |namespaces: &[&str]| {
            let restored = ("reno".to_owned(), namespaces.iter().map(|name| (*name).to_owned()).collect());
            let unloaded = Unloaded {
                connections: 0,
                restored_defaults: [restored].into(),
                still_default_in: Vec::new(),
                listeners: Some(Vec::new()),
            };
            outcome_of_unload("compound", &unloaded).lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(told(&[""]), "The default is `reno` again.");
        assert_eq!(told(&["pid 7"]), "The default is `reno` again in the network namespace of `pid 7`.");
        assert_eq!(told(&["", "a"]), "The default is `reno` again, here and in the network namespace of `a`.");
        let many = "The default is `reno` again in 4 network namespaces: of `a`, `b`, `c` and others.";
        assert_eq!(told(&["a", "b", "c", "d"]), many);
    }
}
