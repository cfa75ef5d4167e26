// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of a policy: a line for each rule, `WHAT -> CONTROLLER`.

use std::{collections::HashMap, fmt, str::FromStr};

use serde::Serialize;

use super::{Prefix, PrefixError};
use crate::names::check_name;

/// `TANDEM_RULE_TEXT_BYTES` of `bpf/policy.h`, with the zero at its end.
pub(crate) const TEXT_BYTES: usize = 256;
/// More than the address plans of large networks have; a map of the kernel's has room for it.
const MOST_RULES: usize = 1_000_000;

/// The subject of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Peers with such an address; the longest prefix that holds it decides.
    Prefix(Prefix),
    /// A service: connections to this port of a peer, and those that are accepted on it here.
    Port(u16),
    /// Connections of programs in this cgroup and those within; the innermost decides.
    Cgroup(String),
    /// All other connections.
    Default,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(prefix) => write!(f, "{prefix}"),
            Self::Port(port) => write!(f, "port {port}"),
            Self::Cgroup(path) => write!(f, "cgroup {path}"),
            Self::Default => write!(f, "default"),
        }
    }
}

/// What no rule can be for, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhatError {
    /// Nothing stands before the arrow.
    #[error("it names nothing before `->`: give a prefix, `port N`, `cgroup PATH` or `default`")]
    Nothing,
    /// No number follows `port`.
    #[error("`{0}` is not a port: give `port` and a number from 1 to 65535")]
    NoPort(String),
    /// Nothing follows `cgroup`.
    #[error("`cgroup` needs a path: cgroup system.slice/backup.service")]
    NoCgroup,
    /// More follows than one thing has.
    #[error("`{0}` is too much: a rule is for one thing; give each its own line")]
    TooMuch(String),
    /// It has this many bytes.
    #[error("it has {0} bytes before `->`, and at most {most} are kept", most = TEXT_BYTES - 1)]
    TooLong(usize),
    /// It is no prefix, nor anything else.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
}

impl FromStr for What {
    type Err = WhatError;

    fn from_str(text: &str) -> Result<Self, WhatError> {
        let text = text.trim();
        let (first, rest) = text.split_once(char::is_whitespace).map_or((text, ""), |(f, r)| (f, r.trim()));
        let what = match (first, rest) {
            ("", _) => return Err(WhatError::Nothing),
            ("default", "") => Self::Default,
            ("port", port) => match port.parse() {
                Ok(port) if port != 0 => Self::Port(port),
                _ => return Err(WhatError::NoPort(port.to_owned())),
            },
            ("cgroup", "") => return Err(WhatError::NoCgroup),
            ("cgroup", path) => Self::Cgroup(path.to_owned()),
            (prefix, "") => Self::Prefix(prefix.parse()?),
            (_, rest) => return Err(WhatError::TooMuch(rest.to_owned())),
        };
        let length = what.to_string().len();
        if length >= TEXT_BYTES {
            return Err(WhatError::TooLong(length));
        }
        Ok(what)
    }
}

/// A line of the file.
#[derive(Clone, Debug, Serialize)]
pub struct Rule {
    /// Which line it is, from 1.
    pub line: usize,
    /// Its subject.
    pub what: What,
    /// The name that sockets ask for.
    pub controller: String,
}

/// The rules of a file, in its order.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PolicyFile {
    /// At least one.
    pub rules: Vec<Rule>,
}

/// A line that is no rule, and how to mend it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {why}")]
pub struct PolicyError {
    /// Which line it is, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

impl PolicyFile {
    /// Reads the text of a file. Empty lines, and what follows a `#`, do not count.
    ///
    /// # Errors
    /// The first line that is no rule, or says something of what an earlier line is for.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut lines: HashMap<What, usize> = HashMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let error = |why| PolicyError { line, why };
            let (what, controller) = parse_line(content).map_err(error)?;
            if let Some(earlier) = lines.insert(what.clone(), line) {
                return Err(error(format!("`{what}` has a rule already, in line {earlier}: keep one of the two")));
            }
            rules.push(Rule { line, what, controller });
            if rules.len() > MOST_RULES {
                return Err(error(format!("these are more than {MOST_RULES} rules: join prefixes")));
            }
        }
        if rules.is_empty() {
            let why = "there is no rule in it: give lines such as `192.0.2.0/24 -> bbr` or `default -> cubic`";
            return Err(PolicyError { line: text.lines().count().max(1), why: why.into() });
        }
        Ok(Self { rules })
    }
}

fn parse_line(line: &str) -> Result<(What, String), String> {
    let (what, controller) = line
        .split_once("->")
        .ok_or_else(|| format!("`{line}` has no `->`: write WHAT -> CONTROLLER, such as 192.0.2.0/24 -> bbr"))?;
    let controller = controller.trim();
    if controller.is_empty() {
        return Err(
            "there is no controller after `->`: `sysctl net.ipv4.tcp_available_congestion_control` lists them".into()
        );
    }
    if controller.contains('@') {
        return Err(format!(
            "`{controller}`: a policy names controllers that are loaded; for one with parameters run \
             `tandem kernel load {controller} --as NAME` and give NAME"
        ));
    }
    check_name(controller).map_err(|e| e.to_string())?;
    let what: What = what.parse().map_err(|e: WhatError| e.to_string())?;
    Ok((what, controller.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_all_kinds() {
        let text = "# office\n192.0.2.0/24 -> bbr3\n\n2001:db8::/32->cubic # v6\nport 873 -> compound_tube\n\
                    cgroup system.slice/my backup.service -> ledbat\n default -> cubic\n";
        let rules = PolicyFile::parse(text).unwrap().rules;
        let written: Vec<String> = rules.iter().map(|r| format!("{} {} {}", r.line, r.what, r.controller)).collect();
        let expected = [
            "2 192.0.2.0/24 bbr3",
            "4 2001:db8::/32 cubic",
            "5 port 873 compound_tube",
            "6 cgroup system.slice/my backup.service ledbat",
            "7 default cubic",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn each_mistake_names_its_line_and_its_mend() {
        let long = format!("cgroup {} -> cubic", "a".repeat(300));
        for (line, words) in [
            ("192.0.2.0/24 cubic", "has no `->`"),
            ("192.0.2.0/24 ->", "no controller after"),
            ("-> cubic", "names nothing before"),
            ("192.0.2.7/24 -> cubic", "did you mean 192.0.2.0/24?"),
            ("port 0 -> cubic", "from 1 to 65535"),
            ("port http -> cubic", "`http` is not a port"),
            ("cgroup -> cubic", "needs a path"),
            ("192.0.2.0/24 port 80 -> cubic", "give each its own line"),
            ("default -> compound@gamma=20", "tandem kernel load compound@gamma=20 --as NAME"),
            ("default -> a_name_of_17_char", "1 to 15 letters"),
            ("port 22 -> reno", "in line 1"),
            (&long, "at most 255"),
        ] {
            let error = PolicyFile::parse(&format!("port 22 -> cubic\n{line}\n")).unwrap_err();
            assert_eq!(error.line, 2, "{line}");
            assert!(error.why.contains(words), "{line}: {error}");
        }
        assert!(PolicyFile::parse("# nothing\n").unwrap_err().why.contains("no rule in it"));
        assert!(PolicyFile::parse("").unwrap_err().to_string().starts_with("line 1: "));
    }
}
