// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress of a transfer, for display.

use std::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use quinn::Connection;

/// Counters of one transfer, which other threads read.
#[derive(Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    to_hash: AtomicU64,
    hashed: AtomicU64,
    hashed_there: AtomicU64,
    connection: Mutex<Option<Connection>>,
    /// Makes hashing slow.
    #[cfg(test)]
    pub(crate) before_hashing: Mutex<Option<Box<dyn FnMut() + Send>>>,
}

/// Whose hashing is to be counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// The sender's own: it does not hear of the receiver's.
    Own,
    Both,
}

impl Progress {
    /// Of `total + to_hash` bytes, the first are to be sent; the others are there, and are read to be compared.
    pub(crate) fn begin(&self, total: u64, to_hash: u64, whose: Hashing, connection: &Connection) {
        self.done.store(0, Relaxed);
        self.hashed.store(0, Relaxed);
        self.hashed_there.store(if whose == Hashing::Own { to_hash } else { 0 }, Relaxed);
        self.total.store(total, Relaxed);
        self.to_hash.store(to_hash, Relaxed);
        *lock(&self.connection) = Some(connection.clone());
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn add_hashed(&self, bytes: u64) {
        self.hashed.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn own_hashed(&self) -> u64 {
        self.hashed.load(Relaxed)
    }

    /// The other side has hashed this many. Whether that is more than before, and no more than there is to hash.
    pub(crate) fn hashed_there(&self, bytes: u64) -> bool {
        bytes <= self.to_hash() && self.hashed_there.fetch_max(bytes, Relaxed) < bytes
    }

    /// Bytes to be sent in all; 0 before that is known, and when measuring.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Bytes sent or received so far.
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Bytes that were there already, and are read to be compared.
    pub fn to_hash(&self) -> u64 {
        self.to_hash.load(Relaxed)
    }

    /// How many of them have been read: the slower side's, where both are known.
    pub fn hashed(&self) -> u64 {
        self.own_hashed().min(self.hashed_there.load(Relaxed))
    }

    /// The congestion window, bytes, and the smoothed RTT; `None` before the connection.
    pub fn path(&self) -> Option<(u64, Duration)> {
        lock(&self.connection).as_ref().map(|connection| (connection.stats().path.cwnd, connection.rtt()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
