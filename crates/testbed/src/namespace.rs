// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network namespaces without names: one lives as long as a descriptor or a thread holds it.
//!
//! Nothing of them is in the file system, so there is nothing to clean up: when the program ends, however it ends, the
//! kernel takes the namespace, its devices, routes, settings and sockets with it.
#![expect(unsafe_code)]

use std::{
    fs::{self, File},
    os::fd::{AsFd, OwnedFd},
    thread,
};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use crate::error::{Doing, Error};

/// A network namespace, held by a descriptor.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
}

impl Namespace {
    /// A new, empty namespace. Its loopback device is still down.
    pub fn new() -> Result<Self, Error> {
        on_a_thread(|| {
            // SAFETY: only CLONE_FILES, which is not asked for, has a condition.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.doing("make a network namespace")?;
            Self::current()
        })
    }

    /// The namespace of the calling thread.
    pub fn current() -> Result<Self, Error> {
        let path = "/proc/thread-self/ns/net";
        Ok(Self { fd: File::open(path).doing(format!("open `{path}`"))?.into() })
    }

    /// A second holder of the same namespace.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(Self { fd: self.fd.try_clone().doing("duplicate a file descriptor")? })
    }

    /// Does `work` inside, on a thread of its own: sockets and devices that it makes stay inside, whichever thread uses
    /// them later.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        on_a_thread(|| {
            self.move_thread_inside()?;
            work()
        })
    }

    /// Moves the calling thread inside for good.
    pub fn move_thread_inside(&self) -> Result<(), Error> {
        move_into_link_name_space(self.fd.as_fd(), Some(LinkNameSpaceType::Network)).doing("enter a network namespace")
    }
}

/// A panic inside goes on outside.
fn on_a_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Writes one of the settings under /proc/sys/net/ipv4 of the calling thread's namespace.
pub fn set_ipv4_sysctl(name: &str, value: &str) -> Result<(), Error> {
    let path = format!("/proc/sys/net/ipv4/{name}");
    fs::write(&path, value).doing(format!("write `{value}` to `{path}`"))
}
