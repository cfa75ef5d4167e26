// SPDX-License-Identifier: MIT OR Apache-2.0
//! QUIC's events as calls of the controllers' contract, whichever the stack.
//!
//! A stack tells of growth before it knows of losses on the same ACK; the contract wants it the other way round. So the host keeps the
//! connection as it was before the ACK was acted on ([`Core`], a few hundred bytes). If a loss follows, it goes back and acts on both.

mod window;

use std::sync::Arc;

use tandem_controllers::{
    Ack, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, Params, State, View,
    host::{DeliveryAccount, Prr, RttEstimator, Stamp},
};

/// RFC 9002 section 7.2: the smallest window, packets.
const MIN_WINDOW: u32 = 2;
/// RFC 9002 section 7.2: bound on the initial window, bytes.
const MAX_INITIAL_WINDOW_BYTES: u32 = 14_720;

/// What a user may choose beside the controller's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Window before the first ACK, packets; `None`: RFC 9002 section 7.2, ten packets but at most 14720 bytes.
    pub initial_window: Option<u32>,
    /// Proportional rate reduction (RFC 9937) in recovery. Without it the window falls at once, as in RFC 9002 appendix B.6.
    pub rate_reduction: bool,
    /// The stack's times are not this machine's: it is simulated, or driven by a test. Otherwise an ACK came in no earlier than the adapter is
    /// told of it, whatever time the stack gives ([`Host::came_in`]).
    pub virtual_time: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { initial_window: None, rate_reduction: true, virtual_time: false }
    }
}

/// A packet that an ACK newly acknowledges.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// When it was sent, ns.
    pub sent_ns: u64,
    /// Its size, bytes, as counted in flight.
    pub bytes: u64,
    /// What [`Host::sent`] returned for it. Only controllers that own the window need it.
    pub stamp: Option<Stamp>,
}

/// Packets newly found lost, or marked by congestion.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    /// When the newest of them was sent, ns.
    pub newest_sent_ns: u64,
    /// Bytes lost; 0 for a congestion mark.
    pub bytes: u64,
    /// Persistent congestion (RFC 9002 section 7.6).
    pub is_persistent: bool,
}

/// One connection's controller, told of QUIC's events. Times are nanoseconds from any origin above 0.
///
/// On an ACK call [`acked`](Self::acked) for each packet, then [`end_of_ack`](Self::end_of_ack), then, if the ACK showed any,
/// [`lost`](Self::lost) and [`marked`](Self::marked).
#[derive(Clone)]
pub struct Host {
    core: Core,
    options: Options,
    owns_window: bool,
    rtt: RttEstimator,
    rate: DeliveryAccount,
    /// Bytes sent in all: the sequence number that comes next.
    sent_bytes: u64,
    in_flight_bytes: u64,
    last_send_ns: u64,
    newest_acked_ns: u64,
    batch: Batch,
    /// Bytes acknowledged that do not make a packet yet.
    acked_carry: u64,
    /// Packets acknowledged in all.
    delivered: u64,
    /// The last ACK, and all as it was before it was acted on, while a loss may still follow.
    open: Option<(Core, Arrived)>,
}

/// What acting on an ACK changes, so that it can be taken back.
#[derive(Clone)]
struct Core {
    controller: Instance,
    conn: Conn,
    state: State,
    prr: Prr,
    /// Bytes sent in a recovery that do not make a packet yet.
    prr_carry: u64,
    /// A reduction answers all losses of packets that were sent by then (RFC 9002 section 7.3.2).
    reduced_at_ns: Option<u64>,
    /// Reductions so far.
    reductions: u64,
    /// The threshold before the last reduction, while that can be undone.
    prior_ssthresh: Option<u32>,
}

/// Packets acknowledged by the ACK that is being told.
#[derive(Clone, Copy, Default)]
struct Batch {
    bytes: u64,
    newest: Option<Acked>,
    came_in_ns: u64,
}

/// An ACK that has been told in full.
#[derive(Clone, Copy)]
struct Arrived {
    now_ns: u64,
    packets: u64,
    newest_sent_ns: u64,
    newly_lost: u64,
    /// It showed persistent congestion.
    collapsed: bool,
    ack: Ack,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Core { conn, state, .. } = &self.core;
        f.debug_struct("Host").field("conn", conn).field("state", state).finish_non_exhaustive()
    }
}

impl Host {
    /// A connection that sends packets of `packet_bytes`, headers included.
    pub fn new(params: &Arc<Params>, options: Options, packet_bytes: u16) -> Self {
        let mss = u32::from(packet_bytes.max(1));
        let usual = 10.min(MAX_INITIAL_WINDOW_BYTES / mss).max(MIN_WINDOW);
        let conn = Conn {
            snd_cwnd: options.initial_window.unwrap_or(usual).clamp(1, MAX_WINDOW),
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd_clamp: MAX_WINDOW,
            mss,
            is_cwnd_limited: 1,
            // Both stacks do.
            is_paced: 1,
            ..Conn::default()
        };
        Self::resume(params, options, conn)
    }

    /// A connection that goes on from a known state: windows, thresholds, and what is in flight.
    pub fn resume(params: &Arc<Params>, options: Options, mut conn: Conn) -> Self {
        let in_flight = conn.snd_nxt.wrapping_sub(conn.snd_una);
        let core = Core {
            controller: Instance::new(params, &mut conn),
            conn,
            state: State::Open,
            prr: Prr::default(),
            prr_carry: 0,
            reduced_at_ns: None,
            reductions: 0,
            prior_ssthresh: None,
        };
        Self {
            core,
            options,
            owns_window: params.controller().owns_window(),
            rtt: RttEstimator::default(),
            rate: DeliveryAccount::default(),
            // The upper half keeps what was acknowledged before from wrapping below 0.
            sent_bytes: if in_flight > 0 { (1 << 32) + u64::from(conn.snd_nxt) } else { conn.snd_nxt.into() },
            in_flight_bytes: in_flight.into(),
            last_send_ns: 0,
            newest_acked_ns: 0,
            batch: Batch::default(),
            acked_carry: 0,
            delivered: 0,
            open: None,
        }
    }

    /// Bytes that may be in flight; never less than two packets (RFC 9002 section 7.2).
    pub fn window_bytes(&self) -> u64 {
        let Conn { snd_cwnd, mss, .. } = self.core.conn;
        u64::from(snd_cwnd.max(MIN_WINDOW)) * u64::from(mss)
    }

    /// The slow-start threshold, bytes; `None` while it is infinite.
    pub fn ssthresh_bytes(&self) -> Option<u64> {
        let Conn { snd_ssthresh, mss, .. } = self.core.conn;
        (snd_ssthresh < INFINITE_SSTHRESH).then(|| u64::from(snd_ssthresh) * u64::from(mss))
    }

    /// The rate at which to pace, bytes a second; `None` if the controller sets none.
    pub fn pacing_bytes_per_s(&self) -> Option<u64> {
        Some(self.core.conn.pacing_bytes_per_s).filter(|&rate| rate > 0)
    }

    /// How often the window was reduced; those that were undone count.
    pub fn reductions(&self) -> u64 {
        self.core.reductions
    }

    /// Bytes in flight, as far as they have been told.
    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// What the controller sees of the connection.
    pub fn conn(&self) -> &Conn {
        &self.core.conn
    }

    /// The congestion state.
    pub fn state(&self) -> State {
        self.core.state
    }

    /// The figures that the controller shows of itself.
    pub fn view(&self) -> View {
        self.core.controller.view(&self.core.conn)
    }

    /// Does the controller set a pacing rate, and the window in recovery?
    pub fn owns_window(&self) -> bool {
        self.owns_window
    }

    fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.core.conn.mss))
    }

    fn sync_conn(&mut self, now_ns: u64) {
        let conn = &mut self.core.conn;
        conn.now_us = now_ns / 1000;
        // Sequence numbers wrap.
        conn.snd_nxt = self.sent_bytes as u32;
        let una = self.sent_bytes.saturating_sub(self.in_flight_bytes) as u32;
        // A stack may count in flight what it did not tell of (quinn's MTU probes): what was acknowledged stays so.
        if una.wrapping_sub(conn.snd_una) as i32 > 0 {
            conn.snd_una = una;
        }
    }

    /// Packets of this many bytes in all are sent. Returns the note that [`Acked`] of one packet needs.
    pub fn sent(&mut self, now_ns: u64, bytes: u64) -> Stamp {
        self.open = None;
        let alone = self.in_flight_bytes == 0;
        if alone && self.sent_bytes > 0 {
            let is_long = now_ns.saturating_sub(self.last_send_ns) > self.rtt.rto_ns();
            if is_long || self.owns_window {
                self.sync_conn(now_ns);
                let Core { controller, conn, .. } = &mut self.core;
                controller.restart(conn);
            }
        }
        self.sent_bytes += bytes;
        self.in_flight_bytes += bytes;
        self.last_send_ns = now_ns;
        let Core { state, prr, prr_carry, conn, .. } = &mut self.core;
        if matches!(*state, State::Recovery | State::Cwr) {
            prr.sent(whole_packets(prr_carry, bytes, conn.mss));
        }
        self.rate.sent(now_ns, alone)
    }

    /// An ACK newly acknowledges a packet.
    pub fn acked(&mut self, packet: Acked) {
        self.batch.bytes += packet.bytes;
        if self.batch.newest.is_none_or(|newest| packet.sent_ns >= newest.sent_ns) {
            self.batch.newest = Some(packet);
        }
    }

    /// The ACK that is being told came in no earlier than this, if that is later than the time that the stack gives.
    ///
    /// A stack that reads the clock before its socket gives too early a time whenever another program takes the core in between. Then the
    /// RTT looks shorter than the path, and the smallest RTT stays wrong for good: a delay-based window sees a queue that is not there.
    pub fn came_in(&mut self, at_ns: u64) {
        self.batch.came_in_ns = at_ns;
    }

    /// Are the stack's times not this machine's?
    pub fn is_virtual_time(&self) -> bool {
        self.options.virtual_time
    }

    /// All packets that the ACK newly acknowledges have been told. `in_flight_bytes`: what is in flight without them.
    pub fn end_of_ack(&mut self, now_ns: u64, in_flight_bytes: u64, is_app_limited: bool) {
        self.in_flight_bytes = in_flight_bytes;
        let Batch { bytes, newest: Some(newest), came_in_ns } = std::mem::take(&mut self.batch) else { return };
        // RFC 9002 section 5.1: only an ACK that raises the largest acknowledged tells an RTT.
        let is_newest = newest.sent_ns >= self.newest_acked_ns;
        self.newest_acked_ns = self.newest_acked_ns.max(newest.sent_ns);
        let rtt_ns = is_newest.then(|| came_in_ns.max(now_ns).saturating_sub(newest.sent_ns).max(1));
        rtt_ns.into_iter().for_each(|rtt_ns| self.rtt.sample(rtt_ns, rtt_ns));
        self.sync_conn(now_ns);
        self.core.conn.is_cwnd_limited = u16::from(!is_app_limited);
        let packets = whole_packets(&mut self.acked_carry, bytes, self.core.conn.mss);
        self.delivered += packets;
        let ack = Ack {
            pkts_acked: packets as u32,
            delivered: self.delivered as u32,
            acked_sacked: packets as u32,
            rtt_us: rtt_ns.map_or(0, |ns| (ns / 1000).clamp(1, u32::MAX.into()) as u32),
            ..self.rate_sample(now_ns, packets, &newest, is_app_limited)
        };
        if !self.owns_window {
            let Core { controller, conn, .. } = &mut self.core;
            controller.pkts_acked(conn, &ack);
        }
        let newest_sent_ns = newest.sent_ns;
        let arrived = Arrived { now_ns, packets, newest_sent_ns, newly_lost: 0, collapsed: false, ack };
        self.open = Some((self.core.clone(), arrived));
        self.leave_what_is_over(&arrived);
        self.finish(&arrived);
    }

    fn rate_sample(&mut self, now_ns: u64, packets: u64, newest: &Acked, is_app_limited: bool) -> Ack {
        if !self.owns_window {
            return Ack::default();
        }
        if is_app_limited {
            self.rate.note_app_limited(self.packets(self.in_flight_bytes));
        }
        match newest.stamp {
            Some(stamp) => self.rate.sample(now_ns, packets, newest.sent_ns, stamp, self.rtt.min_ns),
            None => Ack::default(),
        }
    }

    /// Packets are found lost, by the ACK just told or by a timer.
    pub fn lost(&mut self, now_ns: u64, losses: Losses) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(losses.bytes);
        self.answer(now_ns, losses, State::Recovery);
    }

    /// The ACK just told shows that packets were marked by congestion (RFC 9002 section 7.1). `newest_sent_ns`: when the newest packet that
    /// it acknowledges was sent.
    pub fn marked(&mut self, now_ns: u64, newest_sent_ns: u64) {
        self.answer(now_ns, Losses { newest_sent_ns, bytes: 0, is_persistent: false }, State::Cwr);
    }

    /// Packets have another size from now on (MTU discovery, or a black hole): the windows stay what they are in bytes, to within half a
    /// packet. A controller's own windows follow, for it reconciles them with one that the host has changed.
    pub fn packet_size(&mut self, packet_bytes: u16) {
        self.open = None;
        let (old, new) = (u64::from(self.core.conn.mss), u64::from(packet_bytes.max(1)));
        if old == new {
            return;
        }
        let rescale = |packets: u32| ((u64::from(packets) * old + new / 2) / new).clamp(1, MAX_WINDOW.into()) as u32;
        let conn = &mut self.core.conn;
        conn.snd_cwnd = rescale(conn.snd_cwnd);
        conn.snd_cwnd_cnt = 0;
        if conn.snd_ssthresh < INFINITE_SSTHRESH {
            conn.snd_ssthresh = rescale(conn.snd_ssthresh);
        }
        conn.mss = new as u32;
    }
}

/// Whole packets in `bytes` and what was left before; the rest is left again.
fn whole_packets(carry: &mut u64, bytes: u64, mss: u32) -> u64 {
    let (mss, total) = (u64::from(mss), *carry + bytes);
    *carry = total % mss;
    total / mss
}
