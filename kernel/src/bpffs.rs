// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where loaded controllers live: pinned files in the BPF file system, which a reboot empties.
//!
//! `/sys/fs/bpf/tandem/NAME/` holds `flows` (the iterator over its connections), `registration` and `params` (maps with what
//! [`crate::list`] shows) and `ops` (the registration: a link, or on kernels before 6.4 the struct_ops map).

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::statfs,
    io::Errno,
    mount::{MountFlags, UnmountFlags, mount, unmount},
};

use crate::{Error, trusted};

const BPFFS: &str = "/sys/fs/bpf";
const BPF_FS_MAGIC: u64 = 0xcafe_4a11;
/// The source in /proc/mounts of a file system that we mounted.
const MOUNT_SOURCE: &str = "tandem";
/// Root's own, also if a process with root's capabilities alone mounts it. Kernels without `uid` and `gid` ignore them.
const MOUNT_OPTIONS: &std::ffi::CStr = c"mode=0700,uid=0,gid=0";

fn folder() -> PathBuf {
    Path::new(BPFFS).join("tandem")
}

pub fn controller(name: &str) -> PathBuf {
    folder().join(name)
}

/// The policy's folder, with its link. No controller can have this name.
pub const POLICY: &str = "-policy";

/// The names of controllers that have a folder, sorted. Folders that somebody else could have made are an error.
///
/// # Errors
/// Without the right to see them, or if somebody else could have made a folder.
pub fn names() -> Result<Vec<String>, Error> {
    let no_rights = |e: Error| match e {
        Error::Io { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
            Error::NoRights { what: "see the loaded controllers" }
        }
        e => e,
    };
    if !has_folder().map_err(no_rights)? {
        return Ok(Vec::new());
    }
    let entries = match fs::read_dir(folder()) {
        // Unloaded meanwhile.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| no_rights(Error::io("read", folder(), e)))?,
    };
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != POLICY);
    names.sort();
    Ok(names)
}

/// Has a policy's folder been made, by root?
pub fn has_policy() -> Result<bool, Error> {
    let no_rights = |e: Error| match e {
        Error::Io { cause, .. } if cause.kind() == io::ErrorKind::PermissionDenied => {
            Error::NoRights { what: "see the policy" }
        }
        e => e,
    };
    Ok(has_folder().map_err(no_rights)? && controller(POLICY).exists())
}

/// Is Tandem's folder there? Nobody but root can change anything in it.
fn has_folder() -> Result<bool, Error> {
    Ok(trusted::check_folder(Path::new(BPFFS), true)? && trusted::check_folder(&folder(), false)?)
}

/// Mounts the BPF file system if needed (systemd does so on most machines), and creates an empty folder for the controller.
pub fn prepare(name: &str) -> Result<(), Error> {
    let no_bpffs = |e: Errno| match e {
        Errno::PERM | Errno::ACCESS => Error::NoRights { what: "mount the BPF file system on /sys/fs/bpf" },
        e => Error::NoBpffs { path: BPFFS.into(), cause: e.into() },
    };
    check_place()?;
    if !is_mounted() {
        mount(MOUNT_SOURCE, BPFFS, "bpf", MountFlags::empty(), Some(MOUNT_OPTIONS)).map_err(no_bpffs)?;
    }
    if !has_folder()? {
        make(&folder())?;
        has_folder()?;
    }
    // The name is free, so a folder can only be what a killed command left.
    let folder = controller(name);
    if folder.exists() {
        remove_folder(&folder)?;
    }
    make(&folder)
}

pub fn is_mounted() -> bool {
    statfs(BPFFS).is_ok_and(|s| s.f_type as u64 == BPF_FS_MAGIC)
}

/// A process may have mounts of its own, which end with it. What is kept must lie where the machine's (or the container's) first
/// process sees it.
pub fn check_place() -> Result<(), Error> {
    for process in processes() {
        match shares_mounts(process) {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(Error::OwnMounts),
            // A sandbox may keep even root from looking at its first process; and one that ended meanwhile says nothing.
            Err(e) if [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound].contains(&e.kind()) => {}
            Err(e) => return Err(Error::io("examine the mounts of", format!("process {process}"), e)),
        }
    }
    Err(Error::NoRights { what: "see the mounts of other processes" })
}

/// Does the process have this one's mounts; or others, with the same BPF file system? The file system may be mounted and unmounted at any
/// moment by others: where the namespace is the same it is not looked at.
fn shares_mounts(process: u32) -> io::Result<bool> {
    let is_same = |path: &str| {
        let [own, other] = ["thread-self", &process.to_string()].map(|of| fs::metadata(format!("/proc/{of}/{path}")));
        let (own, other) = (own?, other?);
        Ok::<_, io::Error>((own.dev(), own.ino()) == (other.dev(), other.ino()))
    };
    Ok(is_same("ns/mnt")? || (is_mounted() && is_same(&format!("root{BPFFS}"))?))
}

/// The numbers of the processes that exist, the first ones first.
fn processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn make(folder: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().mode(0o700).create(folder);
    made.and_then(|()| trusted::give_to_root(File::open(folder)?)).map_err(|e| match e.kind() {
        io::ErrorKind::PermissionDenied => Error::NoRights { what: "load a controller" },
        _ => Error::io("create", folder, e),
    })
}

/// Removes a controller's folder with its pins; with the last one, our whole folder.
pub fn remove(name: &str) -> Result<(), Error> {
    remove_folder(&controller(name))?;
    tidy();
    Ok(())
}

/// Nobody but root can have put anything there: [`has_folder`] has looked.
fn remove_folder(folder: &Path) -> Result<(), Error> {
    fs::remove_dir_all(folder).map_err(|e| Error::io("remove", folder, e))
}

/// Leaves no trace when nothing is loaded. Whether there was one.
pub fn tidy() -> bool {
    // Fails, rightly, while another controller has a folder in it.
    let is_removed = matches!(has_folder(), Ok(true)) && fs::remove_dir(folder()).is_ok();
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let is_ours = mounts.lines().any(|l| l.starts_with(&format!("{MOUNT_SOURCE} {BPFFS} bpf ")));
    // Somebody else may have pinned something there meanwhile, or hold it open: then it stays.
    is_removed | (is_ours && is_empty() && unmount(BPFFS, UnmountFlags::empty()).is_ok())
}

/// Does it hold nothing but what the kernel itself puts into each such file system (CONFIG_BPF_PRELOAD)?
fn is_empty() -> bool {
    const KERNELS: [&str; 2] = ["maps.debug", "progs.debug"];
    let Ok(entries) = fs::read_dir(BPFFS) else { return false };
    entries.flatten().all(|entry| KERNELS.iter().any(|name| entry.file_name() == *name))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What others mount meanwhile changes nothing for a process in the same namespace; one that has ended is told from one with its own.
    #[test]
    fn mounts_are_those_of_the_namespace() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let alive = shares_mounts(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(alive.unwrap());
        assert_eq!(shares_mounts(child.id()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
