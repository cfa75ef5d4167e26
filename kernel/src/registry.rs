// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers that stay loaded when the program ends.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    thread::sleep,
    time::{Duration, Instant},
};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;
use tandem_controllers::{Controller, Params, find};

use crate::{
    Error, Listener, bpffs, check_loadable,
    listeners::addresses,
    names::{NAME_BYTES, check_name},
    netns::{self, Namespace},
    object::{Verified, count_flows, count_flows_here, is_registered, to_io, unregister},
    restore::{NamespaceDefault, candidates, restore_default},
    sockops, sysctl,
    turn::take_turn,
};

/// A loaded controller.
#[derive(Debug, Clone, Serialize)]
pub struct Loaded {
    /// The name that sockets ask for.
    pub name: String,
    /// Its name in the list of controllers.
    pub controller: String,
    /// The parameters that differ from their defaults, in the users' unit.
    pub parameters: Vec<(&'static str, f64)>,
    /// Whether it is `net.ipv4.tcp_congestion_control` in the calling thread's network namespace.
    pub is_default: bool,
    /// The default before, if loading the controller changed it; otherwise empty.
    pub replaced_default: String,
    /// The number of connections that use it, in all network namespaces.
    pub connections: usize,
}

/// The outcome of [`unload`].
#[derive(Debug, Serialize)]
pub struct Unloaded {
    /// The number of connections that go on with it.
    pub connections: usize,
    /// The defaults that replaced it, each with its network namespaces: empty for the caller's own, otherwise the name in `ip netns`, or
    /// `pid N`.
    pub restored_defaults: BTreeMap<String, Vec<String>>,
    /// The network namespaces that accept no other default, and keep it.
    pub still_default_in: Vec<String>,
    /// The listening sockets whose new connections still get it; `None` if the kernel does not tell.
    pub listeners: Option<Vec<Listener>>,
}

/// Registers the controller as `name` for every program on the machine, until [`unload`] or a reboot.
///
/// With `make_default` it also becomes `net.ipv4.tcp_congestion_control` in the calling thread's network namespace.
///
/// # Errors
/// Those of [`attach`](crate::attach); [`Error::OwnMounts`] or [`Error::Io`] if the registration cannot be kept, [`Error::Untrusted`] if
/// others could change it there, [`Error::Busy`] if another command is at it for too long. Then nothing stays loaded.
pub fn load(params: &Params, name: &str, make_default: bool) -> Result<Loaded, Error> {
    check_loadable(params.controller())?;
    check_name(name)?;
    let _turn = take_turn("load a controller")?;
    let verified = Verified::new(params, name)?;
    let replaced_default = if make_default { sysctl::default_controller()? } else { String::new() };
    let registration = Registration { controller: params.controller().name.to_owned(), replaced_default };
    bpffs::prepare(name)?;
    let loaded = verified
        .keep(name, &bpffs::controller(name), &registration.to_bytes())
        .and_then(|()| if make_default { sysctl::set_default(name) } else { Ok(()) })
        .and_then(|()| find_loaded(name));
    if loaded.is_err() {
        // Nothing half done stays.
        let _ = take_back(name);
    }
    loaded
}

fn take_back(name: &str) -> Result<(), Error> {
    let folder = bpffs::controller(name);
    if is_registered(&folder) {
        unregister(&folder)?;
    }
    bpffs::remove(name)
}

/// Unregisters a controller. Connections that use it go on. Where it is the default, the earlier default is restored.
///
/// # Errors
/// [`Error::NotLoaded`] or [`Error::NotOurs`] if [`load`] did not load it; [`Error`] if the kernel or a file refuses.
pub fn unload(name: &str) -> Result<Unloaded, Error> {
    let _turn = take_turn("unload a controller")?;
    let names = loaded_names()?;
    if !names.iter().any(|n| n == name) {
        check_not_elsewhere()?;
        remove_half_loaded()?;
        let taken = sysctl::available()?.iter().any(|n| n == name);
        let name = name.to_owned();
        return Err(if taken {
            Error::NotOurs { name, loaded: names }
        } else {
            Error::NotLoaded { name, loaded: names }
        });
    }
    let before = registration(name).map(|r| r.replaced_default).unwrap_or_default();
    hand_on_default(name, &before, &names)?;
    let candidates = candidates(name, &before, &names)?;
    // What uses it, before its default goes, and all in one visit: a machine may have thousands of namespaces.
    let visited = netns::visit(|_| (count_flows_here(name), addresses(name).ok(), restore_default(name, &candidates)))?;
    take_back(name)?;
    wait_until_gone(name)?;
    let mut unloaded = Unloaded {
        connections: visited.iter().map(|(_, (connections, ..))| connections).sum(),
        restored_defaults: BTreeMap::new(),
        still_default_in: Vec::new(),
        listeners: listeners(&visited),
    };
    for (Namespace { name, .. }, (.., default)) in visited {
        match default {
            NamespaceDefault::Other => {}
            NamespaceDefault::Restored(new) => unloaded.restored_defaults.entry(new).or_default().push(name),
            NamespaceDefault::Kept => unloaded.still_default_in.push(name),
        }
    }
    Ok(unloaded)
}

/// The findings in a namespace: connections, listening sockets if the kernel lists them, the default.
type Visit = (Namespace, (usize, Option<Vec<SocketAddr>>, NamespaceDefault));

/// Sorted; `None` if the kernel does not list a namespace's.
fn listeners(visited: &[Visit]) -> Option<Vec<Listener>> {
    let of_visit = |(namespace, (_, addresses, _)): &Visit| {
        let listener = |&address: &SocketAddr| Listener { namespace: namespace.name.clone(), address };
        Some(addresses.as_ref()?.iter().map(listener).collect::<Vec<_>>())
    };
    let mut all = visited.iter().map(of_visit).collect::<Option<Vec<_>>>()?.concat();
    all.sort();
    Some(all)
}

/// The controllers that [`load`] has loaded, by name.
///
/// # Errors
/// [`Error`] if the process may not see them.
pub fn list() -> Result<Vec<Loaded>, Error> {
    let names = loaded_names()?;
    if names.is_empty() {
        check_not_elsewhere()?;
    }
    let found = names.iter().map(|n| (n, find_loaded(n)));
    // Another command may have unloaded some meanwhile.
    let there = found.filter(|(name, found)| found.is_ok() || is_registered(&bpffs::controller(name)));
    there.map(|(_, found)| found).collect()
}

/// Nothing is loaded here, but there may be in the machine's BPF file system. A user who may not find out misses nothing.
pub(crate) fn check_not_elsewhere() -> Result<(), Error> {
    match bpffs::check_place() {
        Err(e @ Error::OwnMounts) => Err(e),
        _ => Ok(()),
    }
}

/// The names of the loaded controllers, in order. A folder without a registration is what a killed command left.
pub(crate) fn loaded_names() -> Result<Vec<String>, Error> {
    let mut names = bpffs::names()?;
    names.retain(|name| is_registered(&bpffs::controller(name)));
    Ok(names)
}

/// Removes what killed loads and unloads have left in the BPF file system: folders without a registration, an empty mount.
/// Returns their names, or the file system's path. To be called in a turn.
pub(crate) fn remove_half_loaded() -> Result<Vec<String>, Error> {
    let mut left = bpffs::names()?;
    left.retain(|name| !is_registered(&bpffs::controller(name)));
    for name in &left {
        bpffs::remove(name)?;
    }
    left.extend(sockops::remove_half_loaded()?);
    if bpffs::tidy() {
        left.push("/sys/fs/bpf".into());
    }
    Ok(left)
}

fn find_loaded(name: &str) -> Result<Loaded, Error> {
    let Registration { controller, replaced_default } = registration(name)?;
    let is_default = sysctl::default_controller()? == name;
    let parameters = changed_parameters(&controller, &pinned_value(name, "params")?);
    let connections = count_flows(name)?;
    Ok(Loaded { name: name.to_owned(), controller, parameters, is_default, replaced_default, connections })
}

/// A newer version's list may have other parameters: then none are shown.
fn changed_parameters(controller: &str, raw: &[u8]) -> Vec<(&'static str, f64)> {
    let Ok(controller) = find(controller) else { return Vec::new() };
    let raw: Vec<u32> = raw.chunks_exact(4).map(|b| u32::from_ne_bytes(b.try_into().unwrap())).collect();
    let Some(params) = Params::from_raw(controller, &raw) else { return Vec::new() };
    controller.params().filter_map(|p| Some((p.name, params.get(p.name)?)).filter(|(_, v)| *v != p.initial)).collect()
}

fn pinned_value(name: &str, file: &str) -> Result<Vec<u8>, Error> {
    let path = bpffs::controller(name).join(file);
    let read = MapHandle::from_pinned_path(&path).and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY));
    match read {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(Error::io("read", path, std::io::ErrorKind::NotFound.into())),
        Err(e) => Err(Error::io("read", path, to_io(&e))),
    }
}

/// The controller that is loaded as `name`; `None` if nothing is any more, or it is not in the list of this program.
pub(crate) fn kind_of(name: &str) -> Option<&'static Controller> {
    find(&registration(name).ok()?.controller).ok()
}

fn registration(name: &str) -> Result<Registration, Error> {
    pinned_value(name, "registration").map(|bytes| Registration::from_bytes(&bytes))
}

/// Those that have replaced `name` as the default are to restore, in its place, what it had replaced itself.
fn hand_on_default(name: &str, before: &str, loaded: &[String]) -> Result<(), Error> {
    for other in loaded {
        let registration = registration(other)?;
        if registration.replaced_default != name {
            continue;
        }
        let path = bpffs::controller(other).join("registration");
        let changed = Registration { replaced_default: before.to_owned(), ..registration };
        MapHandle::from_pinned_path(&path)
            .and_then(|map| map.update(&0u32.to_ne_bytes(), &changed.to_bytes(), MapFlags::ANY))
            .map_err(|e| Error::io("write", path, to_io(&e)))?;
    }
    Ok(())
}

/// The kernel ends a registration a moment after the last file that holds it is gone.
fn wait_until_gone(name: &str) -> Result<(), Error> {
    let deadline = Instant::now() + Duration::from_secs(5);
    while sysctl::available()?.iter().any(|n| n == name) {
        if Instant::now() > deadline {
            let detail = "it is still registered: another program holds it open (bpftool link show type struct_ops)";
            return Err(Error::Refused { name: name.to_owned(), detail: detail.to_owned() });
        }
        sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// `struct registration` of `bpf/controller.bpf.c`: what [`unload`] and [`list`] need.
struct Registration {
    controller: String,
    replaced_default: String,
}

impl Registration {
    fn to_bytes(&self) -> [u8; 2 * NAME_BYTES] {
        let mut bytes = [0; 2 * NAME_BYTES];
        bytes[..self.controller.len()].copy_from_slice(self.controller.as_bytes());
        bytes[NAME_BYTES..][..self.replaced_default.len()].copy_from_slice(self.replaced_default.as_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let text =
            |bytes: &[u8]| String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or_default()).into_owned();
        let (controller, replaced_default) = bytes.split_at(NAME_BYTES.min(bytes.len()));
        Self { controller: text(controller), replaced_default: text(replaced_default) }
    }
}
