// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tandem policy`: which controller each new connection of the machine gets.

use std::{
    fmt::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use clap::Subcommand;
use serde::Serialize;
use tandem_kernel::sockops::{
    Answer, LoadedPolicy, LoadedRule, PolicyFile, Question, ask_policy, load_policy, policy as loaded_policy,
    remove_policy,
};
use tandem_scenario::bounded::{self, SCENARIO_BYTES};

use crate::{
    failure::Failure,
    kernel::table,
    output::json_text,
    terminal::{note, print},
};

const EXAMPLES: &str = "\
A policy has a line for each rule:
  192.0.2.0/24 -> bbr                              # peers with such an address; the longest prefix decides
  2001:db8::/32 -> compound_tube
  port 873 -> compound_tube                        # a service, here or there
  cgroup system.slice/backup.service -> reno       # programs; the innermost cgroup decides
  default -> cubic                                 # everything else
A prefix takes precedence over a port, a port over a cgroup, and all over the default.

Examples:
  tandem policy load policy.conf                   in force until `remove` or a reboot; a second `load` leaves no gap
  tandem policy show                               the rules, and how many connections each decided on
  tandem policy test 192.0.2.7:443                 what a connection there would get
  tandem policy remove                             connections keep what they have";

/// Which controller each new connection gets, by peer, port or cgroup
///
/// A program in the kernel decides when a connection begins; nothing runs per packet. Programs that choose a controller themselves keep it.
#[derive(Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum Action {
    /// Put a policy in force, replacing any earlier one without a gap
    #[command(after_help = EXAMPLES)]
    Load {
        /// The rules
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// Decide only on connections of programs in this cgroup [default: all]
        #[arg(long, value_name = "PATH")]
        cgroup: Option<PathBuf>,

        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the rules in force, and how many connections each decided
    Show {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a connection would get, without opening one
    Test {
        /// The peer; for an accepted connection, its address and the local port
        #[arg(value_name = "PEER:PORT")]
        peer: SocketAddr,

        /// The cgroup of the program that opens or accepts it
        #[arg(long, value_name = "PATH")]
        cgroup: Option<String>,

        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the policy; connections keep their controllers
    Remove {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn policy(action: &Action) -> Result<(), Failure> {
    match action {
        Action::Load { file, cgroup, json } => load(file, cgroup.as_deref(), *json),
        Action::Show { json } => show(*json),
        Action::Test { peer, cgroup, json } => test(*peer, cgroup.as_ref(), *json),
        Action::Remove { json } => remove(*json),
    }
}

/// What `load --json` prints.
#[derive(Serialize)]
struct Loaded {
    /// Whether there was one before.
    replaced: bool,
    #[serde(flatten)]
    policy: LoadedPolicy,
}

fn load(path: &Path, cgroup: Option<&Path>, json: bool) -> Result<(), Failure> {
    let name = path.display();
    let text = bounded::read_text(path, SCENARIO_BYTES).with_context(|| format!("cannot read `{name}`"))?;
    let file = PolicyFile::parse(&text).map_err(|e| Failure::Usage(anyhow!("`{name}`, {e}")))?;
    let loaded = load_policy(&file, cgroup);
    let (policy, replaced) =
        loaded.map_err(|e| Failure::Failed(anyhow!(e).context(format!("`{name}` is not loaded"))))?;
    if json {
        return print(&json_text(&Loaded { replaced, policy })?);
    }
    let what = if replaced { "replaces the one before" } else { "is in force" };
    print(&format!(
        "The policy {what}: {} for new connections in {}.\n`tandem policy show` shows what it does, `tandem policy remove` ends it.\n",
        counted(policy.rules.len(), "rule"),
        policy.cgroup
    ))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn show(json: bool) -> Result<(), Failure> {
    let policy = loaded_policy()?;
    if json {
        return print(&json_text(&policy)?);
    }
    let Some(LoadedPolicy { cgroup, rules }) = policy else {
        return print("No policy is loaded; `tandem policy load FILE` loads one.\n");
    };
    let mut table = table(["rule", "controller", "connections", "refused"]);
    for rule in &rules {
        table.add_row([
            rule.what.clone(),
            rule.controller.clone(),
            rule.connections.to_string(),
            rule.refused.to_string(),
        ]);
    }
    print(&format!("For new connections in {cgroup}:\n{table}\n"))?;
    for name in missing(&rules) {
        note(&format!(
            "tandem: the kernel has no controller `{name}` now, so its rules do nothing: `tandem kernel load {name}` or `modprobe tcp_{name}`"
        ));
    }
    Ok(())
}

/// The controllers that have gone since the policy was loaded.
fn missing(rules: &[LoadedRule]) -> Vec<&str> {
    let mut names: Vec<&str> = rules.iter().filter(|rule| !rule.is_available).map(|rule| &*rule.controller).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn test(peer: SocketAddr, cgroup: Option<&String>, json: bool) -> Result<(), Failure> {
    let question = Question { peer: peer.ip(), port: peer.port(), cgroup: cgroup.cloned() };
    let answer = ask_policy(&question)?;
    if json {
        return print(&json_text(&answer)?);
    }
    print(&in_words(peer, &answer))
}

fn in_words(peer: SocketAddr, Answer { rule, default }: &Answer) -> String {
    let mut text = String::new();
    let _ = match rule {
        None => writeln!(text, "{peer}: {default}, the default of this network namespace; no rule matches"),
        Some(LoadedRule { what, controller, is_available: true, .. }) => {
            writeln!(text, "{peer}: {controller}, by the rule `{what}`")
        }
        Some(LoadedRule { what, controller, .. }) => writeln!(
            text,
            "{peer}: {default}, the default of this network namespace; the rule `{what}` is for `{controller}`, which the kernel does not have now"
        ),
    };
    text
}

fn remove(json: bool) -> Result<(), Failure> {
    let removed = remove_policy()?;
    if json {
        return print(&json_text(&removed)?);
    }
    let connections: u64 = removed.rules.iter().map(|rule| rule.connections).sum();
    let connections = usize::try_from(connections).unwrap_or(usize::MAX);
    print(&format!(
        "The policy for {} has ended. It decided on {}; open connections keep their controllers.\n",
        removed.cgroup,
        counted(connections, "connection")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_which_rule_and_whether_it_works() {
        let rule = |is_available| LoadedRule {
            what: "192.0.2.0/24".into(),
            controller: "bbr3".into(),
            is_available,
            connections: 0,
            refused: 0,
        };
        let text = |rule| in_words("192.0.2.7:443".parse().unwrap(), &Answer { rule, default: "cubic".into() });
        assert_eq!(text(Some(rule(true))), "192.0.2.7:443: bbr3, by the rule `192.0.2.0/24`\n");
        assert!(text(None).starts_with("192.0.2.7:443: cubic, the default"));
        let gone = text(Some(rule(false)));
        assert!(gone.contains(": cubic,") && gone.contains("`bbr3`, which the kernel does not have"), "{gone}");
        assert_eq!(missing(&[rule(false), rule(true), rule(false)]), ["bbr3"]);
    }
}
