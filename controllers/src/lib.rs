// SPDX-License-Identifier: MIT OR Apache-2.0
//! The congestion controllers of the Compound TCP family, for use from safe Rust.
//!
//! The controllers are C headers in `include/`; the same source also runs in the Linux kernel. [`CONTROLLERS`] lists them and
//! [`find`] looks one up by name. [`Params`] holds a controller's parameters. An [`Instance`] is the controller of one connection.
//! The crate's README gives the contract between a host and a controller: the call order, the units, the integer rules.
//!
//! A host keeps a [`Conn`] for each connection and tells its instance what happens. Here a window of ten packets meets a loss:
//!
//! ```
//! use std::sync::Arc;
//! use tandem_controllers::{Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, Reason, State, find};
//!
//! let params = Arc::new(Params::new(find("reno")?));
//! let mut conn = Conn {
//!     snd_cwnd: 10,
//!     snd_ssthresh: INFINITE_SSTHRESH,
//!     snd_cwnd_clamp: MAX_WINDOW,
//!     mss: 1448,
//!     is_cwnd_limited: 1,
//!     ..Conn::default()
//! };
//! let mut reno = Instance::new(&params, &mut conn);
//! reno.cong_avoid(&mut conn, 2);
//! assert_eq!(conn.snd_cwnd, 12, "slow start: a packet for each that is acknowledged");
//! conn.snd_ssthresh = reno.ssthresh(&conn, Reason::Loss);
//! reno.set_state(&mut conn, State::Recovery);
//! assert_eq!(conn.snd_ssthresh, 6, "RFC 5681 (4): half of what was in flight");
//! # Ok::<(), tandem_controllers::UnknownController>(())
//! ```
//!
//! [tandem-tcp](../tandem_tcp/index.html) and [tandem-quic](../tandem_quic/index.html) are hosts to learn from;
//! [tandem-conform](../tandem_conform/index.html) checks whether a host keeps the contract.
#![expect(unsafe_code)]

// Public for the layout test only.
#[doc(hidden)]
pub mod ffi;
pub mod host;
pub mod own;
mod params;
mod probe;

use ffi::traits;
pub use ffi::{Ack, Conn, View};
pub use params::{Param, Params, ParamsError, Setting};
pub use probe::{MAX_PROBES, Probe, Reading};

use std::{ffi::c_void, path::Path, sync::Arc};

/// Bytes of state that a connection has for its controller: Linux's `sizeof(icsk_ca_priv)`.
pub const STATE_BYTES: usize = 104;

/// The largest window, packets, for which the controllers' arithmetic is proven not to overflow.
pub const MAX_WINDOW: u32 = 1 << 24;

/// The longest RTT of an empty path, microseconds, for which it is. Controllers take a longer sample, which a queue may give, for this one.
pub const MAX_RTT_US: u32 = 1 << 24;

/// The highest delivery rate, packets a microsecond, that a controller can tell which [wants it](Controller::wants_rate).
pub const MAX_PACKETS_PER_US: u32 = 256;

/// The "infinite" slow-start threshold, packets: Linux's `TCP_INFINITE_SSTHRESH`.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

mod list {
    include!(concat!(env!("OUT_DIR"), "/list.rs"));
}
pub use list::CONTROLLERS;

/// The congestion states of a connection, numbered as in Linux (`TCP_CA_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u32)]
pub enum State {
    /// Nothing is wrong.
    Open = 0,
    /// Duplicate ACKs or SACKs have come, but do not count as a loss yet.
    Disorder = 1,
    /// The window is being reduced without a retransmission.
    Cwr = 2,
    /// Fast retransmit and recovery.
    Recovery = 3,
    /// After a retransmission timeout.
    Loss = 4,
}

/// Why a host asks a controller for a smaller window ([`Instance::ssthresh`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Reason {
    /// A packet is lost, or a timeout has run out.
    Loss = 0,
    /// An ECN mark has come, and nothing is lost.
    Mark = 1,
}

/// The congestion signal that a controller reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Packet loss.
    Loss,
    /// Queueing delay.
    Delay,
    /// Loss and delay.
    Both,
    /// A model of the path.
    Model,
    /// Packet loss, and the share of packets that carry an ECN mark.
    Marks,
    /// The same for L4S (RFC 9331).
    L4s,
}

impl Signal {
    /// The name that users see: `loss`, `delay`, `both`, `model`, `marks` or `l4s`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Delay => "delay",
            Self::Both => "both",
            Self::Model => "model",
            Self::Marks => "marks",
            Self::L4s => "l4s",
        }
    }
}

/// How a controller's mean window depends on random loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFunction {
    /// Growth of a packet a round (RFC 5681).
    Reno,
    /// Growth by a power of the window, in windows from `low_window` (Compound TCP 2006, III).
    Compound,
    /// Growth by the time since the last loss (RFC 9438).
    Cubic,
}

/// One entry of `include/controllers.def`, or a header of a user's [own].
pub struct Controller {
    /// The name that users give, at most 15 ASCII characters.
    pub name: &'static str,
    /// The family that the controller belongs to, such as `compound`.
    pub family: &'static str,
    /// What the controller takes for congestion.
    pub signal: Signal,
    /// The place of its colour in a palette, different for each controller.
    pub look: usize,
    /// The paper or RFC that defines the controller.
    pub source: &'static str,
    /// A hash of all that decides what it does: its header, whatever that includes, its name, signal and traits.
    pub arithmetic: &'static str,
    header: Option<&'static Path>,
    raw: &'static ffi::RawController,
}

impl Controller {
    /// The user's header that it comes from; `None` if it is one of the list.
    pub fn own_header(&self) -> Option<&'static Path> {
        self.header
    }

    /// Bytes of a connection's state; at most [`STATE_BYTES`].
    pub fn state_bytes(&self) -> usize {
        self.raw.state_bytes as usize
    }

    /// Whether the controller sets the window in recovery too, and a pacing rate. Such a controller must run without proportional
    /// rate reduction.
    pub fn owns_window(&self) -> bool {
        self.has(traits::OWNS_WINDOW)
    }

    /// Whether the controller reads the delivery rate: `prior_delivered` to `is_app_limited` of [`Ack`].
    pub fn wants_rate(&self) -> bool {
        self.has(traits::WANTS_RATE)
    }

    /// Whether the controller needs the number of packets that each ACK newly reports as marked (accurate ECN, RFC 9768).
    pub fn counts_marks(&self) -> bool {
        self.has(traits::COUNTS_MARKS)
    }

    /// Whether its packets carry ECT(1) instead of ECT(0) (RFC 9331 section 4.1).
    pub fn sends_ect1(&self) -> bool {
        self.has(traits::SENDS_ECT1)
    }

    /// Whether its module of Linux 2.6.22 let rate halving stop at ssthresh. Others let it go on to half of that (`tcp_reno_min_cwnd`).
    pub fn halves_to_ssthresh(&self) -> bool {
        self.has(traits::HALVES_TO_SSTHRESH)
    }

    /// Whether a system has shipped it for common use, as far as we know. No header of a user's own is.
    pub fn is_shipped(&self) -> bool {
        self.header.is_none() && !self.has(traits::NEVER_SHIPPED)
    }

    /// Whether its law may still change, so that nobody is advised to run it who does not name it.
    pub fn is_experimental(&self) -> bool {
        self.has(traits::EXPERIMENTAL)
    }

    /// What an ECN mark leaves of the window, in percent, by RFC 8511 section 3.1; `None` where the RFC has no value for the controller.
    pub fn beta_ecn_percent(&self) -> Option<u32> {
        Some(self.raw.traits >> traits::BETA_ECN_SHIFT).filter(|&percent| percent > 0)
    }

    /// Its response function; `None` if none is known.
    pub fn response_function(&self) -> Option<ResponseFunction> {
        match self.raw.traits & traits::RESPONSES {
            traits::RESPONSE_RENO => Some(ResponseFunction::Reno),
            traits::RESPONSE_COMPOUND => Some(ResponseFunction::Compound),
            traits::RESPONSE_CUBIC => Some(ResponseFunction::Cubic),
            _ => None,
        }
    }

    fn has(&self, of: u32) -> bool {
        self.raw.traits & of != 0
    }

    /// The reason why the controller cannot run in the Linux kernel; `None` if it can.
    pub fn kernel_obstacle(&self) -> Option<&'static str> {
        self.sends_ect1().then_some(
            "its packets must carry ECT(1) (RFC 9331), and the receiver must count marks (accurate ECN, RFC 9768); Linux's TCP has neither \
             up to 6.18, and what newer kernels have of it Tandem's eBPF programs do not use",
        )
    }

    /// The parameters with their defaults and ranges, in the order of the C header.
    pub fn params(&self) -> impl Iterator<Item = Param> + use<> {
        self.raw.params().iter().map(Param::new)
    }
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// No controller has the requested name. The message suggests the nearest name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("unknown controller `{name}`{}; `tandem list controllers` shows them all", nearest(.name))]
pub struct UnknownController {
    /// The requested name.
    pub name: String,
}

fn nearest(name: &str) -> String {
    if name.ends_with(own::EXTENSION) {
        return format!(" (a header of your own is named by a path: `./{name}`)");
    }
    if name.contains('/') {
        return " (a header's name ends in `.h`)".to_owned();
    }
    CONTROLLERS
        .iter()
        .map(|c| (strsim::damerau_levenshtein(name, c.name), c.name))
        .min()
        .filter(|&(distance, known)| distance <= known.len().max(name.len()) / 2)
        .map_or(String::new(), |(_, known)| format!(", did you mean `{known}`?"))
}

/// Looks up a controller by its name: in the list, and among the headers that [`own::open`] has loaded.
///
/// # Errors
/// [`UnknownController`] if neither has such a name.
pub fn find(name: &str) -> Result<&'static Controller, UnknownController> {
    let listed = CONTROLLERS.iter().find(|c| c.name == name);
    #[cfg(feature = "own")]
    let listed = listed.or_else(|| own::loaded(name));
    listed.ok_or_else(|| UnknownController { name: name.to_owned() })
}

/// A controller as named by a user gives none ([`own::named`]).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NamedError {
    /// No controller has the name.
    #[error(transparent)]
    Unknown(#[from] UnknownController),
    /// The header gives none.
    #[error(transparent)]
    Own(#[from] own::OwnError),
}

/// The state of a new connection before `init`. It is not zero, as in the kernel: tests then notice a field that a controller
/// forgets to initialise.
#[doc(hidden)]
pub const UNINITIALISED: [u64; STATE_BYTES / 8] = [0xa5a5_a5a5_a5a5_a5a5; _];

/// The controller of one connection: its state, as the kernel keeps it, and its parameters.
#[derive(Clone)]
pub struct Instance {
    state: [u64; STATE_BYTES / 8],
    params: Arc<Params>,
    raw: &'static ffi::RawController,
}

/// Calls one function of the C side: `call!(self, name(arguments after state and parameters))`.
macro_rules! call {
    ($self:ident, $function:ident($($argument:expr),+)) => {
        // SAFETY: the function belongs to the controller of `params`. The state is as large and as aligned as native.c asserts
        // (TANDEM_CHECK_STATE), and `init` has filled it or does so now. The parameter list has the length that the C side
        // expects, and each value is in its range. The references live for the call, and C keeps none of them.
        unsafe { ($self.raw.$function)($self.state.as_mut_ptr().cast::<c_void>(), $self.params.raw().as_ptr(), $($argument),+) }
    };
}

impl Instance {
    /// A controller for a new connection. `conn` must already hold the initial window.
    pub fn new(params: &Arc<Params>, conn: &mut Conn) -> Self {
        let mut new = Self { state: UNINITIALISED, params: Arc::clone(params), raw: params.controller().raw };
        call!(new, init(conn));
        new
    }

    /// The raw state, for tests that compare it with another host's.
    #[doc(hidden)]
    pub fn state(&self) -> &[u64; STATE_BYTES / 8] {
        &self.state
    }

    /// Each ACK that delivers something new. The call comes before the host acts on the ACK; for a controller that
    /// [owns the window](Controller::owns_window) it comes last, when the host has found what is lost. Only such a controller
    /// changes `conn`.
    #[inline]
    pub fn pkts_acked(&mut self, conn: &mut Conn, ack: &Ack) {
        call!(self, pkts_acked(conn, ack));
    }

    /// Each ACK that acknowledges `acked` new packets outside CWR and Recovery.
    #[inline]
    pub fn cong_avoid(&mut self, conn: &mut Conn, acked: u32) {
        call!(self, cong_avoid(conn, acked));
    }

    /// [`Self::pkts_acked`] of an ACK for `acked` packets that tells nothing but its RTT (us) and how many packets have been delivered so far, then
    /// [`Self::cong_avoid`]: what nearly each ACK asks for, in one call.
    #[inline(always)]
    pub fn usual_ack(&mut self, conn: &mut Conn, acked: u32, rtt_us: u32, delivered: u32) {
        call!(self, usual_ack(conn, acked, rtt_us, delivered));
    }

    /// Returns the slow-start threshold after a loss or a mark, packets. The host calls it once on entering CWR, Recovery or Loss.
    pub fn ssthresh(&mut self, conn: &Conn, reason: Reason) -> u32 {
        call!(self, ssthresh(conn, reason as u32))
    }

    /// The connection is about to enter `state`.
    pub fn set_state(&mut self, conn: &mut Conn, state: State) {
        call!(self, set_state(conn, state as u32));
    }

    /// Sending resumes with nothing in flight.
    pub fn restart(&mut self, conn: &mut Conn) {
        call!(self, restart(conn));
    }

    /// The last reduction was a mistake. Returns the window to go back to, packets.
    pub fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        call!(self, undo_cwnd(conn))
    }

    /// What the values of [`Controller::all_probes`] are now, each in `to`.
    ///
    /// # Panics
    /// If `to` has another length.
    pub fn read_probes(&self, conn: &Conn, to: &mut [u64]) {
        assert_eq!(to.len(), self.raw.probes().len(), "a place for each probe");
        // SAFETY: as in `call!`; the C side only reads the state, and writes as many values as it names.
        unsafe {
            (self.raw.read_probes)(self.state.as_ptr().cast(), self.params.raw().as_ptr(), conn, to.as_mut_ptr())
        };
    }

    /// What the controller shows of itself.
    pub fn view(&self, conn: &Conn) -> View {
        let mut view = View::default();
        // SAFETY: as in `call!`; the C side only reads the state.
        unsafe { (self.raw.view)(self.state.as_ptr().cast(), self.params.raw().as_ptr(), conn, &mut view) };
        view
    }
}
