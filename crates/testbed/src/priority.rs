// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that keep time: their priority, and the CPU time that they got.
#![expect(unsafe_code)]

use std::fs;

/// The thread that looks after sockets works briefly at each tick; while it holds a socket, the kernel puts that socket's
/// packets off.
pub const TRAFFIC: i32 = 2;
pub const EMULATOR: i32 = 1;

/// Puts the calling thread before all that have no real-time priority (SCHED_FIFO). Where that is not allowed (no
/// CAP_SYS_NICE), the thread goes on as it is, and the measured lateness tells what came of it.
pub fn raise(priority: i32) {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the kernel only reads the parameters; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
}

/// A thread's times since it began, ns.
#[derive(Debug, Default, Clone, Copy)]
pub struct CpuTimes {
    pub used_ns: u64,
    /// Ready to run, but another had the CPU.
    pub starved_ns: u64,
}

/// The calling thread's; zeros where the kernel keeps no account (no CONFIG_SCHED_INFO).
pub fn cpu_times() -> CpuTimes {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let mut numbers = text.split_whitespace().map(|n| n.parse().unwrap_or(0));
    CpuTimes { used_ns: numbers.next().unwrap_or(0), starved_ns: numbers.next().unwrap_or(0) }
}
