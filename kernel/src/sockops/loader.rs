// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects of these programs: opened, verified, attached to a cgroup beside other programs.

use std::io;

use libbpf_rs::{
    ErrorKind, Link, Map, MapCore, MapFlags, MapHandle, Object, OpenMapMut, OpenObject, Program, ProgramMut,
    ProgramType,
    query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo},
};

use super::Cgroup;
use crate::{
    Error,
    messages::Messages,
    object::{check_open_files, open, refused_by, to_io, verify},
};

/// An object with only the program `wanted`, not loaded yet.
pub fn open_with(bytes: &[u8], wanted: &str) -> Result<OpenObject, Error> {
    check_open_files()?;
    let mut object = open(bytes, wanted)?;
    for mut program in object.progs_mut() {
        program.set_autoload(program.name() == wanted);
    }
    Ok(object)
}

/// `what` the rights are for.
///
/// # Errors
/// If the kernel refuses a program, or rights are missing.
pub fn load(object: OpenObject, name: &str, what: &'static str) -> Result<Object, Error> {
    verify(object, name).map_err(|e| match e {
        Error::NoRights { .. } => Error::NoRights { what },
        e => e,
    })
}

/// Would the kernel take this program?
pub(crate) fn can_load(bytes: &[u8], program: &str) -> bool {
    open_with(bytes, program).and_then(|object| load(object, program, "load a program")).is_ok()
}

/// Has the program called for each new connection in the cgroup, after those that others have attached there. It ends with the link.
///
/// # Errors
/// If others' programs on the cgroup do not allow more, or the kernel refuses.
pub fn attach(object: &mut Object, program: &str, cgroup: &Cgroup) -> Result<Link, Error> {
    let messages = Messages::listen();
    program_mut(object, program).attach_cgroup(cgroup.fd()).map_err(|e| match e.kind() {
        // With the rights to load, it is others' programs that stand in the way.
        ErrorKind::PermissionDenied => Error::CgroupTaken { path: cgroup.path.clone() },
        _ => refused_by(e, program, &messages.text()),
    })
}

/// It is the build that sees to it that the object has such a program.
pub fn program<'a>(object: &'a Object, name: &str) -> Program<'a> {
    object.progs().find(|p| p.name() == name).unwrap_or_else(|| panic!("the object has no program `{name}`"))
}

/// As [`program`], to attach it or to call it.
pub fn program_mut<'a>(object: &'a mut Object, name: &str) -> ProgramMut<'a> {
    object.progs_mut().find(|p| p.name() == name).unwrap_or_else(|| panic!("the object has no program `{name}`"))
}

/// Likewise a map.
pub fn map<'a>(object: &'a Object, name: &str) -> Map<'a> {
    object.maps().find(|m| m.name() == name).unwrap_or_else(|| panic!("the object has no map `{name}`"))
}

/// The kernel's ids of all programs of this name for connections of cgroups.
pub fn program_ids(name: &str) -> Vec<u32> {
    let named = |program: &ProgramInfo| program.ty == ProgramType::SockOps && program.name == name;
    ProgInfoIter::default().filter(named).map(|program| program.id).collect()
}

/// How many there are. For tests of what is left.
pub fn programs(name: &str) -> usize {
    program_ids(name).len()
}

/// The maps of a program that some process has loaded; none if it is gone.
pub fn maps_of_program(id: u32) -> Result<Vec<MapHandle>, Error> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let info = ProgInfoIter::with_query_opts(options).find(|program| program.id == id);
    let ids = info.map(|info| info.map_ids).unwrap_or_default();
    ids.into_iter().map(|id| MapHandle::from_map_id(id).map_err(|e| cannot("open", "a map", &e))).collect()
}

/// Gives a map of an object that is not loaded yet room for this many entries, at least one.
pub fn make_room(map: &mut OpenMapMut<'_>, entries: usize) -> Result<(), Error> {
    let entries = u32::try_from(entries.max(1)).unwrap_or(u32::MAX);
    let name = map.name().to_string_lossy().into_owned();
    map.set_max_entries(entries).map_err(|e| refused_by(e, &name, ""))
}

/// Sets the values of a map by its name.
pub fn fill<'a, K: AsRef<[u8]>>(
    object: &Object,
    map: &str,
    entries: impl Iterator<Item = (K, &'a [u8])>,
) -> Result<(), Error> {
    let handle = self::map(object, map);
    for (key, value) in entries {
        handle.update(key.as_ref(), value, MapFlags::ANY).map_err(|e| cannot("write", map, &e))?;
    }
    Ok(())
}

pub fn cannot(what: &'static str, map: &str, e: &libbpf_rs::Error) -> Error {
    let cause = to_io(e);
    match cause.kind() {
        io::ErrorKind::PermissionDenied => Error::NoRights { what: "look at eBPF maps" },
        _ => Error::io(what, format!("the map {map}"), cause),
    }
}
