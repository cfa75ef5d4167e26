// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where loaded controllers live: pinned files in the BPF file system, which a reboot empties.
//!
//! `/sys/fs/bpf/tandem/NAME/` holds `ops` (the registration: a link, or on kernels before 6.4 the struct_ops map), `flows` (the
//! iterator over its connections), `registration` and `params` (maps with what [`crate::list`] shows).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, flock, statfs},
    mount::{MountFlags, UnmountFlags, mount, unmount},
};

use crate::Error;

const BPFFS: &str = "/sys/fs/bpf";
const BPF_FS_MAGIC: u64 = 0xcafe_4a11;
/// The source in /proc/mounts of a file system that we mounted.
const MOUNT_SOURCE: &str = "tandem";

pub fn folder() -> PathBuf {
    Path::new(BPFFS).join("tandem")
}

pub fn controller(name: &str) -> PathBuf {
    folder().join(name)
}

/// The names that have a folder, sorted.
pub fn names() -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(folder()) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            return Err(Error::NoRights { what: "see the loaded controllers" });
        }
        Err(e) => return Err(Error::io("read", folder(), e)),
    };
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// Has the BPF file system mounted, which systemd does on most machines.
pub fn prepare() -> Result<(), Error> {
    let no_bpffs = |e: rustix::io::Errno| match e {
        rustix::io::Errno::PERM | rustix::io::Errno::ACCESS => {
            Error::NoRights { what: "mount the BPF file system on /sys/fs/bpf" }
        }
        e => Error::NoBpffs { path: BPFFS.into(), source: e.into() },
    };
    if !is_mounted() {
        mount(MOUNT_SOURCE, BPFFS, "bpf", MountFlags::empty(), Some(c"mode=0700")).map_err(no_bpffs)?;
    }
    make(&folder())
}

pub fn is_mounted() -> bool {
    statfs(BPFFS).is_ok_and(|s| s.f_type as u64 == BPF_FS_MAGIC)
}

pub fn make(folder: &Path) -> Result<(), Error> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(Error::NoRights { what: "load a controller" }),
        Err(e) => Err(Error::io("create", folder, e)),
    }
}

/// Removes a controller's folder and what is pinned in it; and the rest of us with the last.
pub fn remove(name: &str) -> Result<(), Error> {
    let folder = controller(name);
    fs::remove_dir_all(&folder).map_err(|e| Error::io("remove", &folder, e))?;
    tidy();
    Ok(())
}

/// Leaves no trace when nothing is loaded.
pub fn tidy() {
    // Fails, rightly, while another controller has a folder in it.
    if fs::remove_dir(folder()).is_err() {
        return;
    }
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    if mounts.lines().any(|l| l.starts_with(&format!("{MOUNT_SOURCE} {BPFFS} bpf "))) {
        // Somebody else may have pinned something there meanwhile and hold it open: then it stays.
        let _ = unmount(BPFFS, UnmountFlags::empty());
    }
}

/// Loading and unloading take turns across processes, for as long as this lives.
pub struct Turn {
    _file: fs::File,
}

pub fn take_turn() -> Result<Turn, Error> {
    // A folder that is always there: a lock file would be a trace.
    let path = Path::new("/sys/fs");
    let file = fs::File::open(path).map_err(|e| Error::io("open", path, e))?;
    flock(&file, FlockOperation::LockExclusive).map_err(|e| Error::io("lock", path, e.into()))?;
    Ok(Turn { _file: file })
}
