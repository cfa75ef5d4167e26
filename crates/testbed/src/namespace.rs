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

/// Buckets of its table of connections.
const CONNECTIONS: &str = "1024";

/// A network namespace, held by a descriptor.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
}

impl Namespace {
    /// A new, empty namespace. Its loopback device is still down.
    ///
    /// It has a table of connections of its own. Listing its connections, as the samples of a run do every few milliseconds, would otherwise
    /// walk through the machine's table, which takes 2 ms if that has room for 262144.
    ///
    /// # Errors
    /// Without the right to make namespaces.
    pub fn new() -> Result<Self, Error> {
        on_a_thread(|| {
            let unshare = || {
                // SAFETY: only CLONE_FILES, which is not asked for, has a condition.
                unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.doing("make a network namespace")
            };
            // One in between: the setting is the parent's, and the machine's is left alone.
            unshare()?;
            // Before Linux 6.1 there are none.
            let _ = set_ipv4_sysctl("tcp_child_ehash_entries", CONNECTIONS);
            unshare()?;
            Self::current()
        })
    }

    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is not mounted, or the process has no descriptor left.
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
    ///
    /// # Errors
    /// The error of `work`, or without the right to enter.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        on_a_thread(|| {
            self.move_thread_inside()?;
            work()
        })
    }

    /// Moves the calling thread inside for good.
    ///
    /// # Errors
    /// Without the right to enter.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A negative number means that it is another's.
    #[test]
    fn a_namespace_has_its_own_table_of_connections() {
        let Ok(namespace) = Namespace::new().inspect_err(|e| tandem_testing::skip(&e.to_string())) else { return };
        let Ok(entries) = namespace.enter(|| {
            let path = "/proc/sys/net/ipv4/tcp_ehash_entries";
            fs::read_to_string(path).doing(format!("read `{path}`"))
        }) else {
            tandem_testing::skip("before Linux 6.1 all namespaces share one");
            return;
        };
        assert_eq!(entries.trim(), CONNECTIONS);
    }
}
