// SPDX-License-Identifier: MIT OR Apache-2.0
//! A controller's eBPF object: sets its parameters, has the kernel verify it, registers it.

use std::{io, mem, os::fd::AsFd, path::Path, sync::OnceLock};

use libbpf_rs::{
    Btf, ErrorKind, Link, MapCore, MapFlags, MapHandle, MapType, Object, ObjectBuilder, OpenObject, Program,
    btf::types::Struct, libbpf_sys::BPF_F_LINK, query::ProgInfoIter,
};
use rustix::process::{Resource, getrlimit};
use tandem_controllers::{Controller, Params};

use crate::{
    Error, Flow, flow,
    form::{choose_form, without_pacing},
    messages::{Messages, last_line, verifier_log},
    names::{NAME_BYTES, check_free, check_name},
    netns,
};

mod objects {
    include!(concat!(env!("OUT_DIR"), "/objects.rs"));
}

pub(crate) use objects::{CLOCKS, HISTOGRAMS, POLICY, TRIAL};

/// The controllers that can run in a kernel.
pub fn loadable() -> impl Iterator<Item = &'static Controller> {
    tandem_controllers::CONTROLLERS.iter().filter(|c| c.kernel_obstacle().is_none())
}

/// Checks whether the controller can run in any kernel.
///
/// # Errors
/// [`Error::NotForKernel`] with the reason if it cannot.
pub fn check_loadable(controller: &Controller) -> Result<(), Error> {
    let refusal = |reason| Error::NotForKernel { name: controller.name, reason };
    controller.kernel_obstacle().map_or(Ok(()), |reason| Err(refusal(reason)))
}

fn bytes(controller: &Controller) -> Result<&'static [u8], Error> {
    check_loadable(controller)?;
    #[cfg(feature = "own")]
    if let Some(header) = controller.own_header() {
        return crate::own::object(controller, header);
    }
    let found = objects::OBJECTS.iter().find(|(name, _)| *name == controller.name);
    Ok(found.expect("the build makes an object of each controller without an obstacle").1)
}

/// A controller that is registered for as long as this value lives. Afterwards the sockets that use it go on, but no other can
/// choose it.
///
/// If the kernel has struct_ops links (Linux 6.4), this holds even if the process is killed.
#[derive(Debug)]
pub struct Attached {
    // Dropping it ends the registration; it comes first, since without links that takes the object's map.
    _registration: Link,
    flows: Link,
    _object: Object,
}

/// Registers a controller in the kernel as `name` (1 to 15 letters, digits or `_`).
///
/// # Errors
/// [`Error`] if the name is not valid or is taken, the process lacks rights, or the kernel refuses the controller.
pub fn attach(params: &Params, name: &str) -> Result<Attached, Error> {
    let Verified { mut object, flows } = Verified::new(params, name)?;
    let registration = register(&mut object, name)?;
    Ok(Attached { _registration: registration, flows, _object: object })
}

/// A controller that the kernel has verified; nothing of it outlasts the process yet.
pub(crate) struct Verified {
    flows: Link,
    object: Object,
}

impl Verified {
    pub(crate) fn new(params: &Params, name: &str) -> Result<Self, Error> {
        check_loadable(params.controller())?;
        check_name(name)?;
        check_free(name)?;
        check_open_files()?;
        let mut object = load(params, name)?;
        let flows = attach_iterator(&mut object, name)?;
        Ok(Self { flows, object })
    }

    /// Registers it as `name` and pins all of it in files of the folder, so that it outlives the process.
    ///
    /// Nothing is registered that the folder does not hold: whenever the process is killed, [`is_registered`] tells whether the folder
    /// has a loaded controller or can go.
    pub(crate) fn keep(mut self, name: &str, folder: &Path, registration: &[u8]) -> Result<(), Error> {
        let path = folder.join("flows");
        self.flows.pin(&path).map_err(|e| cannot_pin(&path, &e))?;
        let path = folder.join("registration");
        let mut map = named_map(&mut self.object, "registration");
        map.update(&0u32.to_ne_bytes(), registration, MapFlags::ANY).map_err(|e| cannot_pin(&path, &e))?;
        map.pin(&path).map_err(|e| cannot_pin(&path, &e))?;
        let path = folder.join("params");
        named_map(&mut self.object, ".rodata.params").pin(&path).map_err(|e| cannot_pin(&path, &e))?;
        let path = folder.join("ops");
        if has_links() {
            // If the process is killed in between, the link ends with it.
            return register(&mut self.object, name)?.pin(&path).map_err(|e| cannot_pin(&path, &e));
        }
        // A registered map outlasts the process, so the file that can take it back must be there first.
        registration_map(&mut self.object).pin(&path).map_err(|e| cannot_pin(&path, &e))?;
        register(&mut self.object, name)?.disconnect();
        Ok(())
    }
}

fn cannot_pin(path: &Path, e: &libbpf_rs::Error) -> Error {
    Error::io("pin", path, to_io(e))
}

impl Attached {
    /// The connections of the calling thread's network namespace that use the controller.
    ///
    /// # Errors
    /// [`Error`] if the kernel's iterator cannot be opened or read.
    pub fn flows(&self) -> Result<Vec<Flow>, Error> {
        let iterator = libbpf_rs::Iter::new(&self.flows).map_err(|e| refused_by(e, "flows", ""))?;
        flow::read(iterator).map_err(|e| Error::io("read", "the iterator over TCP sockets", e))
    }
}

/// Does the folder hold a registration? Otherwise it is what a killed command left.
pub(crate) fn is_registered(folder: &Path) -> bool {
    let ops = folder.join("ops");
    if !ops.exists() || has_links() {
        return ops.exists();
    }
    let value = MapHandle::from_pinned_path(&ops).and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY));
    // struct bpf_struct_ops_value, the same in all kernels without links: a count, and the state; the registered one's name is
    // BPF_STRUCT_OPS_STATE_INUSE.
    matches!(value, Ok(Some(value)) if value.get(4..8) == Some(&1u32.to_ne_bytes()))
}

/// Ends the registration that a folder holds.
pub(crate) fn unregister(folder: &Path) -> Result<(), Error> {
    let path = folder.join("ops");
    let io_error = |e: libbpf_rs::Error| Error::io("unregister", &path, to_io(&e));
    if has_links() {
        let mut link = Link::open(&path).map_err(io_error)?;
        link.unpin().map_err(io_error)
    } else {
        MapHandle::from_pinned_path(&path).and_then(|map| map.delete(&0u32.to_ne_bytes())).map_err(io_error)
    }
}

/// More than a controller's programs, maps and links and the program's own files; too few end in one of libbpf's odder messages.
const OPEN_FILES: u64 = 64;

pub(crate) fn check_open_files() -> Result<(), Error> {
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < OPEN_FILES => Err(Error::FewFiles { limit, needed: OPEN_FILES }),
        _ => Ok(()),
    }
}

/// The object with its parameters and name set, verified by the kernel.
pub(crate) fn load(params: &Params, name: &str) -> Result<Object, Error> {
    let mut object = open_with(params, name)?;
    for mut program in object.progs_mut() {
        program.set_autoload(program.name() != "replay");
    }
    let verified = if params.controller().owns_window() {
        choose_form(&mut object, name)?;
        verify(object, name).map_err(|e| without_pacing(e, can_set_pacing_rate))
    } else {
        verify(object, name)
    };
    verified.map_err(|e| of_header(e, params.controller()))
}

/// If the header is the user's, so is a rejection by the verifier.
fn of_header(error: Error, controller: &Controller) -> Error {
    match (error, controller.own_header()) {
        (Error::Verifier { log, .. }, Some(header)) => {
            let file = format!("{}:", header.file_name().unwrap_or_default().display());
            let last =
                log.lines().rev().find_map(|line| line.rsplit_once("@ ").filter(|(_, at)| at.starts_with(&file)));
            let place = last.map_or(String::new(), |(_, at)| format!(" at {}", at.trim()));
            Error::OwnVerifier { path: header.to_owned(), place, log }
        }
        (error, _) => error,
    }
}

/// Whether the verifier lets a controller set the pacing rate.
pub(crate) fn can_set_pacing_rate() -> bool {
    verify_bytes(objects::PACING_PROBE, "pacing_probe").is_ok()
}

/// Only the program `replay`, and nothing that could be registered.
pub(crate) fn load_replay(params: &Params) -> Result<Object, Error> {
    let name = params.controller().name;
    let mut object = open_with(params, name)?;
    for mut map in object.maps_mut().filter(|m| m.map_type() == MapType::StructOps) {
        map.set_autocreate(false).map_err(|e| refused_by(e, name, ""))?;
    }
    for mut program in object.progs_mut() {
        program.set_autoload(program.name() == "replay");
    }
    verify(object, name)
}

fn open_with(params: &Params, name: &str) -> Result<OpenObject, Error> {
    let mut object = open(bytes(params.controller())?, name)?;
    let values: Vec<u8> = params.raw().iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut padded_name = [0; NAME_BYTES];
    padded_name[..name.len()].copy_from_slice(name.as_bytes());
    for mut map in object.maps_mut() {
        let value = match map.name().to_str() {
            Some(".rodata.params") => &values[..],
            Some(".rodata.name") => &padded_name,
            _ if map.map_type() == MapType::StructOps => &padded_name,
            _ => continue,
        };
        // struct tcp_congestion_ops of bpf/tcp.h begins with the name.
        let initial = map.initial_value_mut().expect("it has a value in the object");
        initial[..value.len()].copy_from_slice(value);
    }
    Ok(object)
}

/// An object, its registration fitted to what the kernel has.
pub(crate) fn open(bytes: &[u8], name: &str) -> Result<OpenObject, Error> {
    let messages = Messages::listen();
    let opened = ObjectBuilder::default().open_memory(bytes);
    let mut object = opened.map_err(|e| refused_by(e, name, &messages.text()))?;
    if !has_links() {
        for mut map in object.maps_mut() {
            if map.map_flags() & BPF_F_LINK != 0 {
                let flags = map.map_flags() & !BPF_F_LINK;
                map.set_map_flags(flags).map_err(|e| refused_by(e, name, &messages.text()))?;
            }
        }
    }
    Ok(object)
}

pub(crate) fn verify_bytes(bytes: &[u8], name: &str) -> Result<Object, Error> {
    verify(open(bytes, name)?, name)
}

pub(crate) fn verify(object: OpenObject, name: &str) -> Result<Object, Error> {
    let messages = Messages::listen();
    object.load().map_err(|e| refused_by(e, name, &messages.text()))
}

fn register(object: &mut Object, name: &str) -> Result<Link, Error> {
    let messages = Messages::listen();
    registration_map(object).attach_struct_ops().map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Error::NameTaken { name: name.to_owned() },
        // The kernel says why only in its own log.
        ErrorKind::InvalidInput => Error::Incomplete { name: name.to_owned() },
        _ => refused_by(e, name, &messages.text()),
    })
}

fn attach_iterator(object: &mut Object, name: &str) -> Result<Link, Error> {
    let messages = Messages::listen();
    let program = object.progs_mut().find(|p| p.name() == "flows").expect("each object has it");
    program.attach().map_err(|e| refused_by(e, name, &messages.text()))
}

/// The one `struct_ops` map that was made. Others have a file descriptor, too, but of nothing.
fn registration_map(object: &mut Object) -> libbpf_rs::MapMut<'_> {
    let is_made = |m: &libbpf_rs::MapMut| m.map_type() == MapType::StructOps && m.autocreate();
    object.maps_mut().find(is_made).expect("each object registers something")
}

fn named_map<'a>(object: &'a mut Object, name: &str) -> libbpf_rs::MapMut<'a> {
    object.maps_mut().find(|m| m.name() == name).unwrap_or_else(|| panic!("the object has no map `{name}`"))
}

/// Whether the kernel has links for struct_ops (Linux 6.4). Without them, a registration is an update of its map.
pub(crate) fn has_links() -> bool {
    // A kernel does not change; its types are many to look through.
    static HAS_LINKS: OnceLock<bool> = OnceLock::new();
    *HAS_LINKS.get_or_init(|| kernel_has_type("bpf_struct_ops_link"))
}

pub(crate) fn kernel_has_type(name: &str) -> bool {
    Btf::from_vmlinux().is_ok_and(|btf| btf.type_by_name::<Struct>(name).is_some())
}

pub(crate) fn to_io(e: &libbpf_rs::Error) -> io::Error {
    io::Error::new(
        match e.kind() {
            ErrorKind::PermissionDenied => io::ErrorKind::PermissionDenied,
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::AlreadyExists => io::ErrorKind::AlreadyExists,
            _ => io::ErrorKind::Other,
        },
        e.to_string(),
    )
}

/// The required features that this kernel lacks.
pub(crate) fn missing_from_kernel() -> Option<Error> {
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Some(Error::NoBtf);
    }
    (!kernel_has_type("bpf_struct_ops_tcp_congestion_ops")).then_some(Error::NoStructOps)
}

/// Why the kernel or libbpf said no, from what they printed.
pub(crate) fn refused_by(e: libbpf_rs::Error, name: &str, messages: &str) -> Error {
    let name = name.to_owned();
    let line_with = |words: &str| messages.lines().find(|l| l.contains(words)).map(|l| l.trim().to_owned());
    if let Some(missing) = missing_from_kernel() {
        return missing;
    }
    if line_with("GPL compatible").is_some() {
        return Error::License { name };
    }
    if let Some(detail) = line_with("unsupported member") {
        return Error::UnsupportedOperation { name, detail };
    }
    match verifier_log(messages) {
        // With an empty log it was not the program that the kernel minded.
        Some(log) if log.lines().any(|l| !l.starts_with("processed 0 insns")) => Error::Verifier { name, log },
        _ if e.kind() == ErrorKind::PermissionDenied => Error::NoRights { what: "load a controller" },
        _ => Error::Refused { name, detail: last_line(messages).map_or_else(|| e.to_string(), str::to_owned) },
    }
}

/// Tries to load and register an object of any make; its registration ends at once. For tests of refusals.
///
/// # Errors
/// The kernel's refusal, or missing rights.
pub fn refused(bytes: &[u8], name: &str) -> Result<(), Error> {
    let mut object = verify_bytes(bytes, name)?;
    register(&mut object, name).map(mem::drop)
}

/// The number of instructions that the verifier walked through for each program of a controller (Linux 5.16).
///
/// # Errors
/// If the kernel refuses the controller, or rights are missing.
pub fn verified_instructions(controller: &'static Controller) -> Result<Vec<(String, u32)>, Error> {
    let object = load(&Params::new(controller), controller.name)?;
    let counts = object.progs().filter(|p| p.autoload()).map(|program| {
        let id = Program::id_from_fd(program.as_fd()).map_err(|e| refused_by(e, controller.name, ""))?;
        let walked = ProgInfoIter::default().find(|info| info.id == id).map_or(0, |info| info.verified_insns);
        Ok((program.name().to_string_lossy().into_owned(), walked))
    });
    counts.collect()
}

/// The number of the machine's connections, in every namespace, that use a controller; counted by its iterator.
pub(crate) fn count_flows(name: &str) -> Result<usize, Error> {
    let visited = netns::visit(|_| count_flows_here(name))?;
    Ok(visited.into_iter().map(|(_, count)| count).sum())
}

/// As [`count_flows`], in the calling thread's namespace.
pub(crate) fn count_flows_here(name: &str) -> usize {
    flow::flows_here(name).map_or(0, |flows| flows.len())
}
