// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine's policy: which controller a new connection gets. It outlives the program that loads it.
//!
//! One file holds all of it: the link at [`bpffs::POLICY`], which holds the program, which holds its maps. To load is to pin the link, to
//! replace is to give it another program, to remove is to detach it. So whenever a command is killed, one whole policy is in force, or none.

use std::{mem::size_of, net::IpAddr, path::Path};

use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, ProgramInput, query::LinkTypeInfo};
use serde::Serialize;

use super::{
    Cgroup, Peer, PolicyFile, What,
    loader::{attach, cannot, fill, load, make_room, maps_of_program, open_with, program, program_mut},
    policy_file::{Rule, TEXT_BYTES},
};
use crate::{
    Error, bpffs,
    messages::Messages,
    names::NAME_BYTES,
    object::{POLICY, refused_by, to_io},
    registry::check_not_elsewhere,
    sysctl,
    turn::take_turn,
};

const LINK: &str = "link";
/// The program for connections, and the one for questions.
const PROGRAM: &str = "policy";
const EXAMINE: &str = "examine";
/// `TANDEM_NO_RULE` and `TANDEM_CGROUP_DEPTH` of `bpf/policy.h`.
const NO_RULE: u32 = u32::MAX;
const CGROUP_DEPTH: usize = 32;
/// Where `struct tandem_kinds` is.
const KINDS: &str = ".rodata.kinds";
/// `struct tandem_rule`: a name, two counts, a text.
const RULE_BYTES: usize = NAME_BYTES + 2 * size_of::<u64>() + TEXT_BYTES;

/// A policy that is in force.
#[derive(Debug, Clone, Serialize)]
pub struct LoadedPolicy {
    /// The cgroup whose connections it decides on, with the cgroups within.
    pub cgroup: String,
    /// In the order of the file.
    pub rules: Vec<LoadedRule>,
}

/// A rule that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LoadedRule {
    /// Its subject, as in the file.
    pub what: String,
    /// The controller's name.
    pub controller: String,
    /// Whether the kernel has the controller now. Without it connections keep what they would have had.
    pub is_available: bool,
    /// The connections that got the controller since the policy was loaded.
    pub connections: u64,
    /// Those that kept what they had, because the kernel had no such controller, or their route says which.
    pub refused: u64,
}

/// A connection that need not exist.
#[derive(Debug, Clone)]
pub struct Question {
    /// The other end's address.
    pub peer: IpAddr,
    /// The port connected to: the peer's, or of a connection that is accepted, our own.
    pub port: u16,
    /// The cgroup of the program that opens or accepts it; without one no rule for a cgroup counts.
    pub cgroup: Option<String>,
}

/// A policy's decision on a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The rule; `None` if none is for it.
    pub rule: Option<LoadedRule>,
    /// The controller of a connection without a rule in the calling thread's network namespace, unless its program or its route chooses.
    pub default: String,
}

/// Puts a policy in force for the connections of a cgroup (all, without one), until [`remove_policy`] or a reboot. Replaces one that is
/// loaded there already: each connection is decided on by the old or the new one. Returns it, and whether it replaced one.
///
/// # Errors
/// [`Error::UnknownController`] and [`Error::RuleWithoutCgroup`] for rules that would not work now; [`Error::BadCgroup`],
/// [`Error::CgroupTaken`], [`Error::OtherCgroup`]; as [`load`](crate::load) where this process may not, or the kernel does not want it. Then
/// everything is as before.
pub fn load_policy(file: &PolicyFile, cgroup: Option<&Path>) -> Result<(LoadedPolicy, bool), Error> {
    const WHAT: &str = "load a policy";
    let cgroup = cgroup.map_or_else(Cgroup::root, Cgroup::find)?;
    let _turn = take_turn(WHAT)?;
    check_controllers(file)?;
    let mut object = verified(file)?;
    let loaded = in_force()?;
    let is_replaced = loaded.is_some();
    match loaded {
        Some((_, id)) if id != cgroup.id => return Err(Error::OtherCgroup { loaded: name_of(id) }),
        Some((mut link, _)) => {
            let messages = Messages::listen();
            link.update_prog(&program(&object, PROGRAM)).map_err(|e| refused_by(e, PROGRAM, &messages.text()))?;
        }
        None => keep(&mut object, &cgroup)?,
    }
    let loaded = policy()?.ok_or(Error::NoPolicy)?;
    Ok((loaded, is_replaced))
}

/// Attaches the program and pins its link. If the process is killed in between, the link ends with it.
fn keep(object: &mut Object, cgroup: &Cgroup) -> Result<(), Error> {
    bpffs::prepare(bpffs::POLICY)?;
    let path = bpffs::controller(bpffs::POLICY).join(LINK);
    let kept = attach(object, PROGRAM, cgroup)
        .and_then(|mut link| link.pin(&path).map_err(|e| Error::io("pin", &path, to_io(&e))));
    if kept.is_err() {
        let _ = bpffs::remove(bpffs::POLICY);
    }
    kept
}

/// The program and its maps with the rules; nothing of it outlasts the process yet.
fn verified(file: &PolicyFile) -> Result<Object, Error> {
    let entries = Entries::new(file)?;
    let mut object = open_with(POLICY, PROGRAM)?;
    for mut map in object.maps_mut() {
        let entries = match map.name().to_str() {
            Some(KINDS) => {
                let kinds = entries.kinds();
                map.initial_value_mut().expect("it has a value in the object")[..kinds.len()].copy_from_slice(&kinds);
                continue;
            }
            Some("rules") => file.rules.len(),
            Some(name) => entries.of(name).map_or(1, <[_]>::len),
            None => continue,
        };
        make_room(&mut map, entries)?;
    }
    let object = load(object, PROGRAM, "load a policy")?;
    for (map, entries) in &entries.maps {
        fill(&object, map, entries.iter().map(|(key, number)| (key, &number[..])))?;
    }
    let rules: Vec<_> = file.rules.iter().map(to_bytes).collect();
    fill(&object, "rules", (0u32..).zip(&rules).map(|(number, rule)| (number.to_ne_bytes(), &rule[..])))?;
    Ok(object)
}

/// A key, and the number of its rule.
type Entry = (Vec<u8>, [u8; 4]);

/// Number of entries of each map.
struct Entries {
    maps: Vec<(&'static str, Vec<Entry>)>,
}

impl Entries {
    fn new(file: &PolicyFile) -> Result<Self, Error> {
        // Of the maps, only this one has an entry even if no rule fills it.
        let fallback = (vec![0; 4], NO_RULE.to_ne_bytes());
        let names = ["prefixes4", "prefixes6", "ports", "cgroups"];
        let mut maps: Vec<_> = names.into_iter().map(|name| (name, Vec::new())).collect();
        maps.push(("fallback", vec![fallback]));
        let mut entries = Self { maps };
        for (number, rule) in (0u32..).zip(&file.rules) {
            let (map, key) = key_of(rule)?;
            let of_map = entries.maps.iter_mut().find(|(name, _)| *name == map).map(|(_, entries)| entries);
            of_map.expect("each kind of rule has its map").push((key, number.to_ne_bytes()));
        }
        Ok(entries)
    }

    fn of(&self, map: &str) -> Option<&[Entry]> {
        // The fallback is written twice, and has one entry.
        self.maps.iter().find(|(name, _)| *name == map && map != "fallback").map(|(_, entries)| &entries[..])
    }

    /// `struct tandem_kinds` of `bpf/policy.h`.
    fn kinds(&self) -> Vec<u8> {
        let has = |map| self.of(map).is_some_and(|entries| !entries.is_empty());
        let kinds = [has("prefixes4") || has("prefixes6"), has("ports"), has("cgroups")];
        kinds.into_iter().flat_map(|present| u32::from(present).to_ne_bytes()).collect()
    }
}

fn key_of(rule: &Rule) -> Result<(&'static str, Vec<u8>), Error> {
    Ok(match &rule.what {
        What::Prefix(prefix) if prefix.address().is_ipv4() => ("prefixes4", prefix.key()),
        What::Prefix(prefix) => ("prefixes6", prefix.key()),
        What::Port(port) => ("ports", u32::from(*port).to_ne_bytes().to_vec()),
        What::Default => ("fallback", vec![0; 4]),
        What::Cgroup(path) => {
            let found = Cgroup::find(path).map_err(|e| match e {
                Error::BadCgroup { .. } => Error::RuleWithoutCgroup { line: rule.line, why: e.to_string() },
                e => e,
            })?;
            ("cgroups", found.id.to_ne_bytes().to_vec())
        }
    })
}

fn check_controllers(file: &PolicyFile) -> Result<(), Error> {
    let available = sysctl::available()?;
    match file.rules.iter().find(|rule| !available.contains(&rule.controller)) {
        None => Ok(()),
        Some(rule) => Err(Error::UnknownController { line: rule.line, controller: rule.controller.clone(), available }),
    }
}

fn to_bytes(rule: &Rule) -> [u8; RULE_BYTES] {
    let mut bytes = [0; RULE_BYTES];
    bytes[..rule.controller.len()].copy_from_slice(rule.controller.as_bytes());
    let text = rule.what.to_string();
    bytes[RULE_BYTES - TEXT_BYTES..][..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

fn from_bytes(bytes: &[u8], available: &[String]) -> LoadedRule {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or_default()).into_owned();
    let count = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let controller = text(&bytes[..NAME_BYTES]);
    LoadedRule {
        what: text(&bytes[RULE_BYTES - TEXT_BYTES..]),
        is_available: available.contains(&controller),
        controller,
        connections: count(NAME_BYTES),
        refused: count(NAME_BYTES + 8),
    }
}

/// The link of the policy in force, and the number of its cgroup.
fn in_force() -> Result<Option<(Link, u64)>, Error> {
    let path = bpffs::controller(bpffs::POLICY).join(LINK);
    if !bpffs::has_policy()? || !path.exists() {
        return Ok(None);
    }
    let info = Link::open(&path).and_then(|link| Ok((link.info()?, link)));
    let (info, link) = info.map_err(|e| match Error::io("open", &path, to_io(&e)) {
        Error::Io { cause, .. } if cause.kind() == std::io::ErrorKind::PermissionDenied => {
            Error::NoRights { what: "see the policy" }
        }
        e => e,
    })?;
    Ok(match info.info {
        // 0: detached, by a command that was killed, or with its cgroup.
        LinkTypeInfo::Cgroup(cgroup) if cgroup.cgroup_id != 0 => Some((link, cgroup.cgroup_id)),
        _ => None,
    })
}

/// The maps of the program that a link calls.
fn maps_of(link: &Link) -> Result<Vec<MapHandle>, Error> {
    let id = link.info().map_err(|e| cannot("read", "policy", &e))?.prog_id;
    maps_of_program(id)
}

fn map_named<'a>(maps: &'a [MapHandle], name: &str) -> Result<&'a MapHandle, Error> {
    maps.iter().find(|map| map.name() == name).ok_or(Error::OtherVersion)
}

fn rules_in(maps: &[MapHandle]) -> Result<Vec<LoadedRule>, Error> {
    let rules = map_named(maps, "rules")?;
    if rules.value_size() as usize != RULE_BYTES {
        return Err(Error::OtherVersion);
    }
    let available = sysctl::available()?;
    let rule = |number: u32| {
        let found = rules.lookup(&number.to_ne_bytes(), MapFlags::ANY).map_err(|e| cannot("read", "rules", &e))?;
        Ok(from_bytes(&found.ok_or(Error::OtherVersion)?, &available))
    };
    (0..rules.max_entries()).map(rule).collect()
}

fn name_of(cgroup: u64) -> String {
    Cgroup::path_of(cgroup).map_or_else(|| format!("cgroup number {cgroup}"), |path| path.display().to_string())
}

/// The policy in force, if there is one.
///
/// # Errors
/// [`Error::NoRights`] if this process may not see it, [`Error::OtherVersion`] if it cannot read it.
pub fn policy() -> Result<Option<LoadedPolicy>, Error> {
    let Some((link, cgroup)) = in_force()? else {
        check_not_elsewhere()?;
        return Ok(None);
    };
    let rules = rules_in(&maps_of(&link)?)?;
    Ok(Some(LoadedPolicy { cgroup: name_of(cgroup), rules }))
}

/// The path of the cgroup that the policy in force is for.
pub fn cgroup_of_policy() -> Result<Option<String>, Error> {
    Ok(in_force()?.map(|(_, cgroup)| name_of(cgroup)))
}

/// The decision of the policy in force on a connection, from its own maps, by the function that its program calls.
///
/// # Errors
/// [`Error::NoPolicy`]; [`Error::BadCgroup`] if the question's is none; as [`policy`].
pub fn ask_policy(question: &Question) -> Result<Answer, Error> {
    let Some((link, _)) = in_force()? else {
        check_not_elsewhere()?;
        return Err(Error::NoPolicy);
    };
    let maps = maps_of(&link)?;
    let mut object = open_with(POLICY, EXAMINE)?;
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        // The rules' texts are not the program's business; and a compiler's constants (.rodata) are each program's own.
        if name == "rules" || name.contains('.') {
            continue;
        }
        let shared = map_named(&maps, &name)?;
        map.reuse_fd(std::os::fd::AsFd::as_fd(shared)).map_err(|e| cannot("share", &name, &e))?;
    }
    let mut object = load(object, EXAMINE, "ask the policy")?;
    let packet = packet(question)?;
    let input = ProgramInput { data_in: Some(&packet), ..Default::default() };
    let output = program_mut(&mut object, EXAMINE).test_run(input).map_err(|e| refused_by(e, EXAMINE, ""))?;
    let rule = rules_in(&maps)?.into_iter().nth(output.return_value as usize);
    Ok(Answer { rule, default: sysctl::default_controller()? })
}

/// `struct tandem_question`: room for a packet's header, the peer, the cgroups.
fn packet(question: &Question) -> Result<Vec<u8>, Error> {
    let mut packet = vec![0; 16];
    packet.extend(Peer::new(question.peer, question.port).to_bytes());
    let cgroups =
        question.cgroup.as_ref().map_or(Ok(Vec::new()), |path| Cgroup::find(path).map(|found| found.ids()))?;
    let padded = cgroups.into_iter().chain(std::iter::repeat(0)).take(CGROUP_DEPTH);
    packet.extend(padded.flat_map(u64::to_ne_bytes));
    Ok(packet)
}

/// Ends the policy in force. Connections keep the controllers that they have; new ones get what they would get without a policy.
///
/// # Errors
/// [`Error::NoPolicy`], or [`Error`] if the kernel or a file refuses.
pub fn remove_policy() -> Result<LoadedPolicy, Error> {
    let _turn = take_turn("remove a policy")?;
    let Some((link, cgroup)) = in_force()? else {
        check_not_elsewhere()?;
        remove_half_loaded()?;
        return Err(Error::NoPolicy);
    };
    // A policy of another version can still be removed.
    let rules = maps_of(&link).and_then(|maps| rules_in(&maps)).unwrap_or_default();
    let removed = LoadedPolicy { cgroup: name_of(cgroup), rules };
    link.detach().map_err(|e| refused_by(e, PROGRAM, ""))?;
    drop(link);
    bpffs::remove(bpffs::POLICY)?;
    Ok(removed)
}

/// Removes what a killed command has left of a policy, or a cgroup that is gone. To be called in a turn.
pub(crate) fn remove_half_loaded() -> Result<Option<String>, Error> {
    if !bpffs::has_policy()? || in_force()?.is_some() {
        return Ok(None);
    }
    bpffs::remove(bpffs::POLICY)?;
    Ok(Some("policy".into()))
}
