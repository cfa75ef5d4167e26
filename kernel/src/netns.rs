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

use rustix::{
    io::Errno,
    thread::{ThreadNameSpaceType, move_into_thread_name_spaces},
};

use crate::Error;

/// A network namespace. It is not held: between two visits it may end.
#[derive(Debug, Clone)]
pub struct Namespace {
    /// Its name in `ip netns`, or `pid N` with one of its processes; empty: the calling thread's own.
    pub name: String,
    /// Identifies it among all namespaces that exist at the same time.
    pub inode: u64,
    path: PathBuf,
}

const OWN: &str = "/proc/thread-self/ns/net";
const NAMED: &str = "/run/netns";

/// All that this process may see: the calling thread's first, then those with a name, then those that only processes hold.
///
/// # Errors
/// [`Error::Namespaces`] if the calling thread's own cannot be seen.
pub fn all() -> Result<Vec<Namespace>, Error> {
    let inode_of = |path: &Path| fs::metadata(path).map(|m| m.ino());
    let own = inode_of(Path::new(OWN)).map_err(Error::Namespaces)?;
    let mut others = BTreeMap::new();
    let named = entries(NAMED).into_iter().map(|path| (file_name(&path), path));
    let held = entries("/proc").into_iter().filter_map(|path| {
        let pid: u32 = file_name(&path).parse().ok()?;
        Some((format!("pid {pid}"), path.join("ns/net")))
    });
    for (name, path) in named.chain(held) {
        // A process may end meanwhile, or be none that we may look at.
        let Ok(inode) = inode_of(&path) else { continue };
        if inode != own {
            others.entry(inode).or_insert(Namespace { name, inode, path });
        }
    }
    let own = Namespace { name: String::new(), inode: own, path: OWN.into() };
    Ok([own].into_iter().chain(others.into_values()).collect())
}

/// Runs `f` in each of [`all`], on one thread that goes from one to the next. Those that have ended, and those that this process may not
/// enter, are left out.
///
/// # Errors
/// [`Error::Namespaces`] as [`all`], and if this process has no file or thread left for it.
pub fn visit<T: Send>(f: impl Fn(&Namespace) -> T + Send) -> Result<Vec<(Namespace, T)>, Error> {
    let namespaces = all()?;
    let go = move || -> io::Result<Vec<(Namespace, T)>> {
        let mut seen = Vec::with_capacity(namespaces.len());
        for namespace in namespaces {
            // The thread begins in the calling thread's own, which comes first.
            if namespace.name.is_empty() || namespace.go_in()? {
                let there = f(&namespace);
                seen.push((namespace, there));
            }
        }
        Ok(seen)
    };
    thread::scope(|scope| {
        let visitor = thread::Builder::new().spawn_scoped(scope, go).map_err(Error::Namespaces)?;
        visitor.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(Error::Namespaces)
    })
}

fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|e| e.path()).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Namespace {
    /// Runs `f` on a thread inside the namespace; `None` if it has ended, or is no namespace that this process may enter.
    ///
    /// # Errors
    /// [`Error::Namespaces`] if this process has no file or thread left for it.
    pub fn enter<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<Option<T>, Error> {
        if self.name.is_empty() {
            return Ok(Some(f()));
        }
        thread::scope(|scope| {
            let inside = || Ok(self.go_in()?.then(f));
            let inside = thread::Builder::new().spawn_scoped(scope, inside).map_err(Error::Namespaces)?;
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(Error::Namespaces)
        })
    }

    /// Moves the calling thread inside; `false` if it has ended, or is none that this process may enter.
    fn go_in(&self) -> io::Result<bool> {
        let Some(file) = self.open()? else { return Ok(false) };
        // A leftover file in /run/netns is no namespace.
        Ok(move_into_thread_name_spaces(file.as_fd(), ThreadNameSpaceType::NETWORK).is_ok())
    }

    /// One at a time: a machine may have more namespaces than a process may open files.
    fn open(&self) -> io::Result<Option<File>> {
        match File::open(&self.path) {
            // The process may have ended, and another have its number.
            Ok(file) => Ok(file.metadata().is_ok_and(|m| m.ino() == self.inode).then_some(file)),
            Err(e) if is_shortage(&e) => Err(e),
            Err(_) => Ok(None),
        }
    }
}

fn is_shortage(e: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE, Errno::NOMEM].iter().any(|errno| e.raw_os_error() == Some(errno.raw_os_error()))
}
