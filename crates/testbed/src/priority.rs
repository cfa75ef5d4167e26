// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real-time priorities of the threads that keep time.

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
