// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long eBPF programs run, as the kernel times each call.
#![expect(unsafe_code)]

use std::{
    collections::BTreeMap,
    os::fd::{FromRawFd, OwnedFd},
};

use libbpf_rs::{
    libbpf_sys::{BPF_STATS_RUN_TIME, bpf_enable_stats},
    query::{ProgInfoIter, ProgramInfo},
};

/// The kernel times calls until the descriptor is closed.
pub fn start() -> OwnedFd {
    // SAFETY: no pointers; the descriptor that it returns is nobody else's.
    let timing = unsafe { bpf_enable_stats(BPF_STATS_RUN_TIME) };
    assert!(timing >= 0, "BPF_ENABLE_STATS: {timing}");
    // SAFETY: the kernel has just returned the descriptor, and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(timing) }
}

/// Name, calls and nanoseconds of each program whose name begins so.
pub fn programs(begins: &str) -> BTreeMap<u32, (String, u64, u64)> {
    let wanted = |p: &ProgramInfo| p.name.to_string_lossy().starts_with(begins);
    let figures = |p: ProgramInfo| (p.id, (p.name.to_string_lossy().into_owned(), p.run_cnt, p.run_time_ns));
    ProgInfoIter::default().filter(wanted).map(figures).collect()
}
