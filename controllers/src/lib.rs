// SPDX-License-Identifier: MIT OR Apache-2.0
//! Safe Rust face of the congestion controllers in `controllers/`, the C source that also runs in the kernel.
//!
//! [`CONTROLLERS`] is the list; [`find`] looks a name up; [`Params`] holds a controller's parameters; an [`Instance`] is
//! one connection's controller. The contract (call order, units) is `controllers/README.md`.

// Public for the layout test only.
#[doc(hidden)]
pub mod ffi;
mod params;

pub use ffi::{Ack, Conn, View};
pub use params::{Param, Params, ParamsError, Setting};

use std::{ffi::c_void, sync::Arc};

/// Linux's `sizeof(icsk_ca_priv)`.
pub const STATE_BYTES: usize = 104;

/// The largest window that the arithmetic is proven for, packets.
pub const MAX_WINDOW: u32 = 1 << 24;

/// "Infinite" slow-start threshold, Linux's `TCP_INFINITE_SSTHRESH`.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

mod list {
    include!(concat!(env!("OUT_DIR"), "/list.rs"));
}
pub use list::CONTROLLERS;

/// Congestion states, numbered as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u32)]
pub enum State {
    Open = 0,
    Disorder = 1,
    Cwr = 2,
    Recovery = 3,
    Loss = 4,
}

/// One line of `controllers.def`.
pub struct Controller {
    pub name: &'static str,
    pub family: &'static str,
    /// `loss`, `delay`, `both` or `model`.
    pub signal: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    raw: &'static ffi::RawController,
}

impl Controller {
    const fn new(
        name: &'static str,
        family: &'static str,
        signal: &'static str,
        source: &'static str,
        raw: &'static ffi::RawController,
    ) -> Self {
        Self { name, family, signal, source, raw }
    }

    /// Bytes of a connection's state; at most [`STATE_BYTES`].
    pub fn state_bytes(&self) -> usize {
        self.raw.state_bytes as usize
    }

    /// Does it set the window in recovery too, and a pacing rate? Then proportional rate reduction is not for it.
    pub fn owns_window(&self) -> bool {
        self.signal == "model"
    }

    /// Why it cannot run in the Linux kernel; `None` if it can.
    pub fn kernel_obstacle(&self) -> Option<&'static str> {
        if self.owns_window() {
            Some(
                "it sets the window in recovery and a pacing rate: Linux has `cong_control` for that, which takes other \
                 arguments from 6.10 on, and Tandem's eBPF programs do not have it",
            )
        } else if self.state_bytes() > STATE_BYTES {
            Some("its state exceeds what a connection has room for")
        } else {
            None
        }
    }

    /// The parameters with their defaults and ranges, in the order of the C header.
    pub fn params(&self) -> impl Iterator<Item = Param> + use<> {
        let raw = self.raw;
        (0..raw.param_count as usize).map(move |i| Param::new(unsafe { &*raw.params.add(i) }))
    }
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// No controller has the name asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("unknown controller `{name}`{}; `tandem list controllers` shows them all", nearest(.name))]
pub struct UnknownController {
    pub name: String,
}

fn nearest(name: &str) -> String {
    CONTROLLERS
        .iter()
        .map(|c| (strsim::damerau_levenshtein(name, c.name), c.name))
        .min()
        .filter(|&(distance, known)| distance <= known.len().max(name.len()) / 2)
        .map_or(String::new(), |(_, known)| format!(", did you mean `{known}`?"))
}

/// Looks a controller up by name.
pub fn find(name: &str) -> Result<&'static Controller, UnknownController> {
    CONTROLLERS.iter().find(|c| c.name == name).ok_or_else(|| UnknownController { name: name.to_owned() })
}

/// A new connection's state. Not zeroed in the kernel either: a controller that forgets to initialise a field shows here.
#[doc(hidden)]
pub const UNINITIALISED: [u64; STATE_BYTES / 8] = [0xa5a5_a5a5_a5a5_a5a5; _];

/// One connection's controller: its state, as the kernel keeps it, and its parameters.
#[derive(Clone)]
pub struct Instance {
    state: [u64; STATE_BYTES / 8],
    params: Arc<Params>,
    raw: &'static ffi::RawController,
}

// SAFETY of every call below: the functions are those of the controller that `params` belongs to, `state` has the 104 bytes
// and the alignment that contract.h asserts, the parameter list is as long as the C side's, and `conn` is borrowed for the call.
impl Instance {
    /// A controller for a new connection; `conn` already holds the initial window.
    pub fn new(params: &Arc<Params>, conn: &mut Conn) -> Self {
        let mut new = Self { state: UNINITIALISED, params: Arc::clone(params), raw: params.controller().raw };
        unsafe { (new.raw.init)(new.state_ptr(), new.params.raw_ptr(), conn) };
        new
    }

    /// The raw state, for tests that hold another host's against it.
    #[doc(hidden)]
    pub fn state(&self) -> &[u64; STATE_BYTES / 8] {
        &self.state
    }

    fn state_ptr(&mut self) -> *mut c_void {
        self.state.as_mut_ptr().cast()
    }

    /// Each ACK that delivers something: before the host acts on it, but for [`Controller::owns_window`] when it has found
    /// what is lost.
    #[inline]
    pub fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack) {
        unsafe { (self.raw.pkts_acked)(self.state_ptr(), self.params.raw_ptr(), conn, ack) }
    }

    /// Each ACK that acknowledges `acked` new packets outside CWR and Recovery.
    #[inline]
    pub fn cong_avoid(&mut self, conn: &mut Conn, acked: u32) {
        unsafe { (self.raw.cong_avoid)(self.state_ptr(), self.params.raw_ptr(), conn, acked) }
    }

    /// The slow-start threshold after a loss, packets; called once on entering CWR, Recovery or Loss.
    pub fn ssthresh(&mut self, conn: &mut Conn) -> u32 {
        unsafe { (self.raw.ssthresh)(self.state_ptr(), self.params.raw_ptr(), conn) }
    }

    /// The connection is about to enter `state`.
    pub fn set_state(&mut self, conn: &mut Conn, state: State) {
        unsafe { (self.raw.set_state)(self.state_ptr(), self.params.raw_ptr(), conn, state as u32) }
    }

    /// Sending resumes with nothing in flight.
    pub fn restart(&mut self, conn: &mut Conn) {
        unsafe { (self.raw.restart)(self.state_ptr(), self.params.raw_ptr(), conn) }
    }

    /// The last reduction was a mistake: the window to return to, packets.
    pub fn undo_cwnd(&mut self, conn: &mut Conn) -> u32 {
        unsafe { (self.raw.undo_cwnd)(self.state_ptr(), self.params.raw_ptr(), conn) }
    }

    /// What the controller shows of itself.
    pub fn view(&self, conn: &Conn) -> View {
        let mut view = View::default();
        unsafe { (self.raw.view)(self.state.as_ptr().cast(), self.params.raw_ptr(), conn, &mut view) };
        view
    }
}
