// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C types of `controllers/include/contract.h` and `native.c`, written by hand; `tests/layout.rs` checks them against C.

use std::ffi::{c_char, c_void};

/// `struct tandem_conn`: what the host shows of the connection. Windows are packets, sequence numbers bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conn {
    /// The host's clock, monotonic from any origin.
    pub now_us: u64,
    pub snd_cwnd: u32,
    pub snd_cwnd_cnt: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd_clamp: u32,
    pub snd_una: u32,
    pub snd_nxt: u32,
    pub mss: u32,
    pub is_cwnd_limited: u32,
    /// Payload bytes a second; 0 = the controller sets none.
    pub pacing_bytes_per_s: u64,
}

/// `struct tandem_ack`: what one ACK said.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    pub pkts_acked: u32,
    /// RTT of the newest packet acknowledged, microseconds; 0 = no valid sample.
    pub rtt_us: u32,
    /// Packets since the connection began. This and what follows is for [`Controller::owns_window`](crate::Controller::owns_window).
    pub delivered: u32,
    /// That when the newest packet acknowledged was sent.
    pub prior_delivered: u32,
    /// In which the difference was delivered; 0 = no valid sample.
    pub interval_us: u32,
    pub is_app_limited: u32,
    /// Packets, after this ACK and the losses that it showed.
    pub in_flight: u32,
    /// Packets that this ACK showed to be lost.
    pub lost: u32,
}

/// `struct tandem_view`: what a controller shows of itself; 0 where it has no such thing.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub loss_window: u32,
    pub delay_window: u32,
    /// 1/256 packets.
    pub gamma_q8: u32,
    /// 1/256 packets.
    pub diff_q8: u32,
    pub base_rtt_us: u32,
}

#[repr(C)]
pub struct RawParam {
    pub name: *const c_char,
    pub doc: *const c_char,
    pub scale: u32,
    pub initial: u32,
    pub min: u32,
    pub max: u32,
}

#[repr(C)]
pub struct RawController {
    pub state_bytes: u32,
    pub param_count: u32,
    pub params: *const RawParam,
    pub init: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn),
    pub pkts_acked: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn, *const Ack),
    pub cong_avoid: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn, u32),
    pub ssthresh: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn) -> u32,
    pub set_state: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn, u32),
    pub restart: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn),
    pub undo_cwnd: unsafe extern "C" fn(*mut c_void, *const u32, *mut Conn) -> u32,
    pub view: unsafe extern "C" fn(*const c_void, *const u32, *const Conn, *mut View),
}

// Points to constants only.
unsafe impl Sync for RawController {}
