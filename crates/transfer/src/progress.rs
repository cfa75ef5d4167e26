// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far a transfer is, for whoever shows it.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use quinn::Connection;

/// Counters of one transfer, which other threads read.
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    connection: Mutex<Option<Connection>>,
}

impl Progress {
    pub(crate) fn begin(&self, total: u64, connection: &Connection) {
        self.total.store(total, Relaxed);
        self.done.store(0, Relaxed);
        *self.lock() = Some(connection.clone());
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Connection>> {
        self.connection.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Bytes to be sent in all; 0 before that is known, and when measuring.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Bytes sent or received so far.
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// The congestion window, bytes, and the smoothed RTT; `None` before the connection.
    pub fn path(&self) -> Option<(u64, Duration)> {
        self.lock().as_ref().map(|connection| (connection.stats().path.cwnd, connection.rtt()))
    }
}
