// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every network namespace of the machine: containers have their own, and their connections and sysctls with it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    os::{fd::AsFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
    thread,
};

use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};

use crate::Error;

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    /// Its name in `ip netns`, or `pid N` with one of its processes; empty: the calling thread's own.
    pub name: String,
    file: File,
}

const OWN: &str = "/proc/thread-self/ns/net";
const NAMED: &str = "/run/netns";

/// All that this process may see: the calling thread's first, then those with a name, then those that only processes hold.
pub fn all() -> Result<Vec<Namespace>, Error> {
    let own = File::open(OWN).map_err(Error::Namespaces)?;
    let own_inode = own.metadata().map_err(Error::Namespaces)?.ino();
    let mut others = BTreeMap::new();
    let named = entries(NAMED).into_iter().map(|path| (file_name(&path), path));
    let held = entries("/proc").into_iter().filter_map(|path| {
        let pid: u32 = file_name(&path).parse().ok()?;
        Some((format!("pid {pid}"), path.join("ns/net")))
    });
    for (name, path) in named.chain(held) {
        // A process may end meanwhile, a file in /run/netns may be a leftover: neither has a namespace to show.
        let Ok(file) = File::open(path) else { continue };
        let Ok(inode) = file.metadata().map(|m| m.ino()) else { continue };
        if inode != own_inode {
            others.entry(inode).or_insert(Namespace { name, file });
        }
    }
    Ok([Namespace { name: String::new(), file: own }].into_iter().chain(others.into_values()).collect())
}

fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|e| e.path()).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Namespace {
    /// Runs `f` on a thread inside the namespace.
    pub fn enter<T: Send>(&self, f: impl FnOnce() -> T + Send) -> io::Result<T> {
        if self.name.is_empty() {
            return Ok(f());
        }
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                move_into_thread_name_spaces(self.file.as_fd(), ThreadNameSpaceType::NETWORK)?;
                Ok(f())
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
