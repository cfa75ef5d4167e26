// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C types of `include/contract.h` and `src/native.c`, written by hand; `tests/layout.rs` compares them with C's.
#![expect(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_void},
    slice,
};

use crate::MAX_PROBES;

/// `struct tandem_conn`: what the host shows of the connection. Windows are in packets, sequence numbers in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conn {
    /// The host's clock, microseconds; monotonic from any origin. On an ACK, when it arrived.
    pub now_us: u64,
    /// The congestion window, packets; at least 1. The controller may change it.
    pub snd_cwnd: u32,
    /// Packets acknowledged towards the next packet of window. The controller may change it.
    pub snd_cwnd_cnt: u32,
    /// The slow-start threshold, packets. The controller may change it.
    pub snd_ssthresh: u32,
    /// The window never exceeds this, packets; at most [`MAX_WINDOW`](crate::MAX_WINDOW).
    pub snd_cwnd_clamp: u32,
    /// The first unacknowledged sequence number, bytes; wraps.
    pub snd_una: u32,
    /// The next sequence number to be sent, bytes; wraps.
    pub snd_nxt: u32,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// 1 if the window limited the sending, 0 if the application or the receiver did.
    pub is_cwnd_limited: u16,
    /// 1 if the host spreads its packets over time by itself.
    pub is_paced: u16,
    /// Payload bytes a second; 0 = the controller sets no rate. A controller that
    /// [owns the window](crate::Controller::owns_window) sets it.
    pub pacing_bytes_per_s: u64,
}

/// `struct tandem_ack`: what one ACK said.
///
/// The fields from `prior_delivered` to `is_app_limited` are for controllers that [want the rate](crate::Controller::wants_rate), those from
/// `in_flight` to `lost` for such as [own the window](crate::Controller::owns_window); they are 0 for others.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Packets that left the front of the window, SACKed before or not.
    pub pkts_acked: u32,
    /// RTT of the newest packet acknowledged, microseconds; 0 = no valid sample.
    pub rtt_us: u32,
    /// Packets delivered since the connection began, by number or by SACK, those of this ACK included; wraps.
    pub delivered: u32,
    /// Packets newly delivered, by number or by SACK: for controllers that [own the window](crate::Controller::owns_window) or
    /// [count marks](crate::Controller::counts_marks).
    pub acked_sacked: u32,
    /// The same count when the newest packet acknowledged was sent.
    pub prior_delivered: u32,
    /// The time in which the difference was delivered, microseconds; 0 = no valid sample.
    pub interval_us: u32,
    /// 1 if the application left the path idle when that packet was sent.
    pub is_app_limited: u32,
    /// Packets in flight after this ACK and the losses that it showed.
    pub in_flight: u32,
    /// Packets that this ACK showed to be lost.
    pub lost: u32,
    /// Packets newly reported to have arrived with an ECN mark; for controllers that [count them](crate::Controller::counts_marks), 0 for
    /// others.
    pub marked: u32,
}

/// `struct tandem_view`: what a controller shows of itself. A field is 0 if the controller has no such quantity.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What the controller names of what it knows, in the order of [`Controller::probes`](crate::Controller::probes), which says how to read it.
    pub probes: [u64; MAX_PROBES],
    /// Packets; `loss_window + delay_window` is the controller's window.
    pub loss_window: u32,
    /// Packets.
    pub delay_window: u32,
    /// The backlog that counts as early congestion, 1/256 packets.
    pub gamma_q8: u32,
    /// The backlog estimated in the last round, 1/256 packets.
    pub diff_q8: u32,
    /// The smallest RTT seen, microseconds; 0 before the first sample.
    pub base_rtt_us: u32,
    #[doc(hidden)]
    pub reserved: u32,
}

/// `struct tandem_param`. `initial`, `min` and `max` are values in the users' unit times `scale`.
#[repr(C)]
pub struct RawParam {
    pub name: *const c_char,
    pub doc: *const c_char,
    pub scale: u32,
    pub initial: u32,
    pub min: u32,
    pub max: u32,
}

impl RawParam {
    /// Is its name or its text no UTF-8? Ours are ASCII.
    #[cfg(feature = "own")]
    pub(crate) fn is_unreadable(&self) -> bool {
        // SAFETY: as in `name`.
        [self.name, self.doc].iter().any(|&literal| unsafe { CStr::from_ptr(literal) }.to_str().is_err())
    }

    pub(crate) fn name(&self) -> &'static str {
        // SAFETY: only native.c makes a `RawParam`, and its `name` is a string literal, which stays: libraries are not unloaded.
        unsafe { text(self.name) }
    }

    pub(crate) fn doc(&self) -> &'static str {
        // SAFETY: as `name`.
        unsafe { text(self.doc) }
    }
}

/// `struct tandem_probe`. A number has no words; otherwise they are separated by spaces.
#[repr(C)]
pub struct RawProbe {
    pub name: *const c_char,
    pub words: *const c_char,
    pub doc: *const c_char,
    pub scale: u32,
}

impl RawProbe {
    pub(crate) fn name(&self) -> &'static str {
        // SAFETY: only native.c makes a `RawProbe` that anybody sees, and its `name` is a string literal.
        unsafe { text(self.name) }
    }

    pub(crate) fn words(&self) -> &'static str {
        if self.words.is_null() {
            return "";
        }
        // SAFETY: as `name`.
        unsafe { text(self.words) }
    }

    pub(crate) fn doc(&self) -> &'static str {
        // SAFETY: as `name`.
        unsafe { text(self.doc) }
    }
}

/// # Safety
/// `literal` must point to a C string that lives as long as the program.
unsafe fn text(literal: *const c_char) -> &'static str {
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(literal) }
        .to_str()
        .expect("tests and loading see to it that the texts of parameters are UTF-8")
}

/// `enum tandem_trait` and `TANDEM_BETA_ECN`.
pub mod traits {
    pub const OWNS_WINDOW: u32 = 1 << 0;
    pub const WANTS_RATE: u32 = 1 << 1;
    pub const COUNTS_MARKS: u32 = 1 << 2;
    pub const SENDS_ECT1: u32 = 1 << 3;
    pub const HALVES_TO_SSTHRESH: u32 = 1 << 4;
    pub const NEVER_SHIPPED: u32 = 1 << 5;
    pub const EXPERIMENTAL: u32 = 1 << 6;
    pub const RESPONSES: u32 = 0xff << 8;
    pub const RESPONSE_RENO: u32 = 1 << 8;
    pub const RESPONSE_COMPOUND: u32 = 2 << 8;
    pub const RESPONSE_CUBIC: u32 = 3 << 8;
    pub const BETA_ECN_SHIFT: u32 = 16;
}

/// `struct tandem_controller` of `src/native.c`.
#[repr(C)]
pub struct RawController {
    pub state_bytes: u32,
    pub traits: u32,
    pub param_count: u32,
    pub params: *const RawParam,
    pub probes: *const RawProbe,
    pub probe_count: u32,
    pub read_probes: unsafe extern "C" fn(*const c_void, *const u32, *const Conn, *mut u64),
    pub init: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn),
    pub pkts_acked: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn, *const Ack),
    pub cong_avoid: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn, u32),
    pub usual_ack: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn, u32, u32, u32),
    pub ssthresh: unsafe extern "C" fn(*mut c_void, *const u32, *const Conn, u32) -> u32,
    pub set_state: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn, u32),
    pub restart: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn),
    pub undo_cwnd: unsafe extern "C" fn(*mut c_void, *const u32, *const Conn) -> u32,
    pub view: unsafe extern "C" fn(*const c_void, *const u32, *const Conn, *mut View),
}

impl RawController {
    pub(crate) fn params(&'static self) -> &'static [RawParam] {
        // SAFETY: only native.c makes a `RawController`: `params` is a constant array of `param_count` elements.
        unsafe { slice::from_raw_parts(self.params, self.param_count as usize) }
    }

    pub(crate) fn probes(&'static self) -> &'static [RawProbe] {
        // SAFETY: as `params`; one more element follows.
        unsafe { slice::from_raw_parts(self.probes, self.probe_count as usize) }
    }
}

// SAFETY: all that it points to is constant.
unsafe impl Sync for RawController {}
