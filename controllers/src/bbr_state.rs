// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the draft's test cases look at in the state of `bbr3`, and as much of it as `bbr` has: src/bbr_state.c.
#![expect(unsafe_code)]

use std::ffi::c_void;

use crate::{Controller, ffi::Conn};

/// How many values [`BbrState`] has.
const VALUES: usize = 27;

/// Their names, those of the draft, in the order of `struct tandem_bbr_state`. Rates are in packets a second, gains without a unit; `state` is a
/// place in [`STATES`]. What is unknown or without a bound is infinite.
pub const NAMES: [&str; VALUES] = [
    "state",
    "full_bw_now",
    "full_bw_reached",
    "full_bw_count",
    "max_bw",
    "bw",
    "bw_shortterm",
    "inflight_shortterm",
    "inflight_longterm",
    "bw_latest",
    "inflight_latest",
    "min_rtt_us",
    "probe_rtt_min_delay_us",
    "extra_acked",
    "idle_restart",
    "round_start",
    "drain_rounds",
    "pacing_gain",
    "cwnd_gain",
    "inflight_target",
    "inflight_with_headroom",
    "bw_probe_wait_ms",
    "step_rounds",
    "undo_state",
    "undo_bw_shortterm",
    "undo_inflight_shortterm",
    "undo_inflight_longterm",
];

/// The states, in the order of `enum bbr3_state`. Those of `bbr`'s cycle count by their gain.
pub const STATES: [&str; 7] = ["STARTUP", "DRAIN", "DOWN", "CRUISE", "REFILL", "UP", "PROBE_RTT"];

/// By [`NAMES`].
pub type BbrState = [f64; VALUES];

type Read = unsafe extern "C" fn(*const c_void, *const u32, *const Conn, *mut [u64; VALUES]);

unsafe extern "C" {
    fn tandem_bbr_state(state: *const c_void, params: *const u32, conn: *const Conn, to: *mut [u64; VALUES]);
    fn tandem_bbr3_state(state: *const c_void, params: *const u32, conn: *const Conn, to: *mut [u64; VALUES]);
}

/// The state of an instance of this controller; `None` if it is not of the BBR family.
pub(crate) fn read(controller: &Controller, state: &[u64], params: &[u32], conn: &Conn) -> Option<BbrState> {
    let read: Read = match controller.name {
        "bbr" => tandem_bbr_state,
        "bbr3" => tandem_bbr3_state,
        _ => return None,
    };
    let mut raw = [0; VALUES];
    // SAFETY: state and parameters are those of this controller, whose header C reads them by; C writes as many values as the array has,
    // which src/bbr_state.c asserts.
    unsafe { read(state.as_ptr().cast(), params.as_ptr(), conn, &mut raw) };
    Some(std::array::from_fn(|i| match (raw[i], NAMES[i]) {
        (u64::MAX, _) => f64::INFINITY,
        (rate_q24, "max_bw" | "bw" | "bw_latest" | "bw_shortterm" | "undo_bw_shortterm") => {
            rate_q24 as f64 * 1e6 / f64::from(1u32 << 24)
        }
        (percent, "pacing_gain" | "cwnd_gain") => percent as f64 / 100.0,
        (value, _) => value as f64,
    }))
}
