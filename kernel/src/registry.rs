// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers that stay loaded when the program ends.

use std::thread::sleep;
use std::time::{Duration, Instant};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;
use tandem_controllers::{Params, find};

use crate::{
    Error, attach, bpffs, check_loadable, netns,
    object::{NAME_BYTES, count_flows, to_io, unregister},
    sysctl,
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
    /// The default that replaced it, and in how many network namespaces.
    pub restored_default: Option<(String, usize)>,
}

/// Registers the controller as `name` for every program on the machine, until [`unload`] or a reboot.
///
/// With `make_default` it also becomes `net.ipv4.tcp_congestion_control` in the calling thread's network namespace.
///
/// # Errors
/// Those of [`attach`], and [`Error::Io`] if the registration cannot be kept; then nothing stays loaded.
pub fn load(params: &Params, name: &str, make_default: bool) -> Result<Loaded, Error> {
    check_loadable(params.controller())?;
    let _turn = bpffs::take_turn()?;
    let attached = attach(params, name)?;
    let replaced_default = if make_default { sysctl::default_controller()? } else { String::new() };
    let registration = Registration { controller: params.controller().name.to_owned(), replaced_default };
    bpffs::prepare()?;
    let folder = bpffs::controller(name);
    // The name is free, so this can only be what a killed load left.
    if folder.exists() {
        bpffs::remove(name)?;
        bpffs::prepare()?;
    }
    let loaded = bpffs::make(&folder)
        .and_then(|()| attached.pin(&folder, &registration.to_bytes()))
        .and_then(|()| if make_default { sysctl::set_default(name) } else { Ok(()) });
    match loaded {
        Ok(()) => find_loaded(name),
        Err(e) => {
            // Nothing half done stays.
            let _ = unregister(&folder);
            let _ = bpffs::remove(name);
            Err(e)
        }
    }
}

/// Unregisters a controller. Connections that use it go on. Where it is the default, the earlier default is restored.
///
/// # Errors
/// [`Error::NotLoaded`] or [`Error::NotOurs`] if [`load`] did not load it; [`Error`] if the kernel or a file refuses.
pub fn unload(name: &str) -> Result<Unloaded, Error> {
    let _turn = bpffs::take_turn()?;
    let names = bpffs::names()?;
    if !names.iter().any(|n| n == name) {
        let taken = sysctl::available()?.iter().any(|n| n == name);
        let name = name.to_owned();
        return Err(if taken {
            Error::NotOurs { name, loaded: names }
        } else {
            Error::NotLoaded { name, loaded: names }
        });
    }
    let folder = bpffs::controller(name);
    let connections = count_flows(name)?;
    let restored_default = restore_default(name)?;
    if folder.join("ops").exists() {
        unregister(&folder)?;
    }
    bpffs::remove(name)?;
    wait_until_gone(name)?;
    Ok(Unloaded { connections, restored_default })
}

/// The controllers that [`load`] has loaded, by name.
///
/// # Errors
/// [`Error`] if the process may not see them.
pub fn list() -> Result<Vec<Loaded>, Error> {
    let names = bpffs::names()?;
    // A folder without a registration is what a killed load left.
    names.iter().filter(|n| bpffs::controller(n).join("ops").exists()).map(|n| find_loaded(n)).collect()
}

fn find_loaded(name: &str) -> Result<Loaded, Error> {
    let Registration { controller, replaced_default } = Registration::from_bytes(&pinned_value(name, "registration")?);
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

/// Puts the default that was before back, in each namespace where the controller is it.
fn restore_default(name: &str) -> Result<Option<(String, usize)>, Error> {
    let registration = pinned_value(name, "registration").map(|bytes| Registration::from_bytes(&bytes));
    let before = registration.map(|r| r.replaced_default).unwrap_or_default();
    let available = sysctl::available()?;
    // It may have been made the default by hand, or what was before be gone: then what the kernel itself prefers.
    let candidates = [before.as_str(), "cubic", "reno"];
    let Some(before) = candidates.iter().find(|c| **c != name && available.iter().any(|a| a == *c)) else {
        return Ok(None);
    };
    let mut restored = 0;
    for namespace in netns::all()? {
        let inside = namespace.enter(|| match sysctl::default_controller()? == name {
            true => sysctl::set_default(before).map(|()| 1),
            false => Ok(0),
        });
        // A namespace may end meanwhile.
        restored += inside.unwrap_or(Ok(0))?;
    }
    Ok((restored > 0).then(|| ((*before).to_owned(), restored)))
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
