// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending half of TCP, as Linux does it: the host side of the controllers' contract.
//!
//! SACK scoreboard and pipe (RFC 6675), limited transmit (RFC 3042, which pipe implies), proportional rate reduction
//! (RFC 6937), retransmission timeout (RFC 6298), tail loss probe (RFC 8985 section 7), idle restart (RFC 5681 section 4.1),
//! the cwnd-limited test (RFC 7661 in Linux's form) and optional pacing.

use std::sync::Arc;

use tandem_controllers::{Ack, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, State, View};
use tandem_scenario::TcpSource;

use crate::{
    agenda::NEVER,
    packet::Blocks,
    rtt::{RTO_MAX_NS, RTO_MIN_NS, RttEstimator},
    scoreboard::Scoreboard,
};

/// The largest window that TCP can express (RFC 7323 section 2.3), bytes.
const MAX_WINDOW_BYTES: u32 = 1 << 30;
/// Added to a probe's timeout for timer granularity (Linux's TCP_TIMEOUT_MIN).
const PROBE_SLACK_NS: u64 = 2_000_000;

/// An ACK as the sender sees it.
#[derive(Debug, Clone, Copy)]
pub struct AckIn<'a> {
    pub next_expected: u64,
    pub blocks: Option<&'a Blocks>,
    pub dsack: bool,
}

/// What has been counted since the start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counters {
    pub sent: u64,
    pub retransmits: u64,
    pub timeouts: u64,
    pub window_reductions: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timer {
    Retransmission,
    TailLossProbe,
}

/// A tail loss probe under way.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// Once all before it is acknowledged, the probe has been answered.
    high_seq: u64,
    retransmission: bool,
}

/// Proportional rate reduction's account of a recovery.
#[derive(Debug, Clone, Copy, Default)]
struct Prr {
    prior_cwnd: u64,
    delivered: u64,
    out: u64,
}

pub struct Sender {
    pub conn: Conn,
    pub counters: Counters,
    controller: Instance,
    pub board: Scoreboard,
    pub rtt: RttEstimator,
    pub state: State,
    /// Recovery ends once this is acknowledged.
    high_seq: u64,
    prr: Prr,
    timer: Timer,
    /// When the timer fires.
    deadline: u64,
    backoff: u32,
    probe: Option<Probe>,
    /// Segments that the application has given so far.
    data_end: u64,
    receive_window: u64,
    limited: CwndLimited,
    last_send: u64,
    pacing: bool,
    /// When pacing lets the next segment go.
    next_paced_send: u64,
    /// Only pacing kept the last attempt to send from sending more.
    held_by_pacing: bool,
}

/// Linux's memory of whether the window limited the sending.
#[derive(Debug, Clone, Copy, Default)]
struct CwndLimited {
    limited: bool,
    /// Most segments outstanding in this window of data.
    max_outstanding: u64,
    /// The window of data ends here.
    until: u64,
}

impl Sender {
    pub fn new(source: &TcpSource, mss: u32) -> Self {
        let mut conn = Conn {
            snd_cwnd: source.initial_window,
            snd_cwnd_cnt: 0,
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd_clamp: (MAX_WINDOW_BYTES / mss).min(MAX_WINDOW),
            snd_una: 0,
            snd_nxt: 0,
            mss,
            is_cwnd_limited: 0,
        };
        Self {
            controller: Instance::new(&Arc::clone(&source.params), &mut conn),
            conn,
            counters: Counters::default(),
            board: Scoreboard::new(),
            rtt: RttEstimator::default(),
            state: State::Open,
            high_seq: 0,
            prr: Prr::default(),
            timer: Timer::Retransmission,
            deadline: NEVER,
            backoff: 0,
            probe: None,
            data_end: 0,
            receive_window: source.receive_window.map_or(u64::from(MAX_WINDOW_BYTES / mss), u64::from),
            limited: CwndLimited::default(),
            last_send: 0,
            pacing: source.pacing,
            next_paced_send: 0,
            held_by_pacing: false,
        }
    }

    pub fn view(&self) -> View {
        self.controller.view(&self.conn)
    }

    /// Has all data been acknowledged?
    pub fn is_done(&self) -> bool {
        self.board.una >= self.data_end
    }

    /// The application gives `segments` more.
    pub fn give(&mut self, now: u64, segments: u64, out: &mut impl FnMut(u64)) {
        if self.board.outstanding() == 0 && self.last_send > 0 && now - self.last_send > self.rtt.rto_ns() {
            self.restart_after_idle(now - self.last_send);
        }
        self.data_end = self.data_end.saturating_add(segments);
        self.send(now, out);
    }

    /// The application gives no more than what has been sent.
    pub fn stop(&mut self) {
        self.data_end = self.board.nxt;
    }

    /// RFC 5681 section 4.1 in Linux's form (RFC 2861): the window halves for each timeout spent idle, down to the restart
    /// window.
    fn restart_after_idle(&mut self, idle_ns: u64) {
        self.sync_conn();
        self.controller.restart(&mut self.conn);
        let cwnd = self.conn.snd_cwnd;
        let restart_window = cwnd.min(10);
        let halvings = (idle_ns / self.rtt.rto_ns()).min(31);
        self.conn.snd_ssthresh = self.conn.snd_ssthresh.max(cwnd / 4 * 3);
        self.conn.snd_cwnd = (cwnd >> halvings).max(restart_window);
    }

    #[inline]
    fn sync_conn(&mut self) {
        let mss = u64::from(self.conn.mss);
        // Sequence numbers wrap, as on the wire.
        self.conn.snd_una = self.board.una.wrapping_mul(mss) as u32;
        self.conn.snd_nxt = self.board.nxt.wrapping_mul(mss) as u32;
        let slow_start_room = self.conn.snd_cwnd < self.conn.snd_ssthresh
            && u64::from(self.conn.snd_cwnd) < 2 * self.limited.max_outstanding;
        self.conn.is_cwnd_limited = u32::from(self.limited.limited || slow_start_room);
    }

    fn enter(&mut self, state: State) {
        if self.state != state {
            self.sync_conn();
            self.controller.set_state(&mut self.conn, state);
            self.state = state;
        }
    }

    /// Handles an ACK and sends what it lets go; `out` takes each segment. Returns the RTT that it told, ns.
    #[inline]
    pub fn on_ack(&mut self, now: u64, ack: AckIn, out: &mut impl FnMut(u64)) -> Option<u64> {
        let delivered = self.board.on_ack(now - self.rtt.min_ns.min(now), ack.next_expected, ack.blocks);
        if let Some(sent) = delivered.oldest_sent {
            self.rtt.sample(now - sent);
        }
        let rtt_ns = delivered.newest_sent.map(|sent| now - sent);
        self.sync_conn();
        if delivered.segments > 0 {
            let rtt_us = rtt_ns.map_or(0, |ns| (ns / 1000).clamp(1, u64::from(u32::MAX)) as u32);
            self.controller.pkts_acked(&mut self.conn, &Ack { pkts_acked: delivered.segments as u32, rtt_us });
        }
        if self.probe.is_some_and(|p| self.board.una >= p.high_seq) {
            self.finish_probe(ack.dsack);
        }
        let newly_lost = self.board.detect_losses(&delivered);
        if self.state != State::Open || self.board.has_sacked() {
            self.change_state();
        }
        if self.state == State::Recovery {
            self.reduce_proportionally(delivered.segments, newly_lost, delivered.advanced);
        } else if delivered.advanced {
            self.controller.cong_avoid(&mut self.conn, delivered.segments as u32);
        }
        if delivered.advanced {
            self.backoff = 0;
            self.arm(now);
        }
        self.send(now, out);
        rtt_ns
    }

    /// Linux's tcp_fastretrans_alert: leaves what is over, enters what has begun.
    fn change_state(&mut self) {
        if self.state >= State::Recovery && self.board.una >= self.high_seq {
            if self.state == State::Recovery {
                self.conn.snd_cwnd = self.conn.snd_ssthresh;
            }
            self.enter(State::Open);
        }
        if self.state <= State::Disorder {
            if self.board.has_lost() {
                self.enter_recovery();
            } else {
                self.enter(if self.board.has_sacked() { State::Disorder } else { State::Open });
            }
        }
    }

    fn reduce_ssthresh(&mut self) {
        self.sync_conn();
        self.conn.snd_ssthresh = self.controller.ssthresh(&mut self.conn);
        self.conn.snd_cwnd_cnt = 0;
        self.counters.window_reductions += 1;
    }

    fn enter_recovery(&mut self) {
        self.prr = Prr { prior_cwnd: u64::from(self.conn.snd_cwnd), ..Prr::default() };
        self.high_seq = self.board.nxt;
        self.probe = None;
        self.reduce_ssthresh();
        self.enter(State::Recovery);
    }

    /// Proportional rate reduction (RFC 6937 with the slow-start reduction bound of its successor draft).
    fn reduce_proportionally(&mut self, delivered: u64, newly_lost: u64, advanced: bool) {
        if delivered == 0 {
            return;
        }
        let ssthresh = u64::from(self.conn.snd_ssthresh);
        let in_flight = self.board.in_flight();
        self.prr.delivered += delivered;
        let mut allowed = if in_flight > ssthresh {
            (ssthresh * self.prr.delivered).div_ceil(self.prr.prior_cwnd).saturating_sub(self.prr.out)
        } else {
            let catch_up = self.prr.delivered.saturating_sub(self.prr.out).max(delivered);
            (catch_up + u64::from(advanced && newly_lost == 0)).min(ssthresh - in_flight)
        };
        if self.prr.out == 0 {
            // The first retransmission goes at once.
            allowed = allowed.max(1);
        }
        self.conn.snd_cwnd = (in_flight + allowed).max(1) as u32;
    }

    /// A probe has been answered. If a retransmission was needed, there was a loss: reduce as for one (RFC 8985 section 7.4).
    fn finish_probe(&mut self, dsack: bool) {
        let probe = self.probe.take();
        if self.state <= State::Disorder && probe.is_some_and(|p| p.retransmission) && !dsack {
            self.reduce_ssthresh();
            self.enter(State::Cwr);
            self.conn.snd_cwnd = self.conn.snd_cwnd.min(self.conn.snd_ssthresh);
            self.enter(State::Open);
        }
    }

    /// Sets the timer for what is outstanding: a probe first if one may be sent, else the retransmission timeout.
    fn arm(&mut self, now: u64) {
        if self.board.outstanding() == 0 {
            self.deadline = NEVER;
            return;
        }
        let rto_ns = (self.rtt.rto_ns() << self.backoff.min(20)).min(RTO_MAX_NS);
        let may_probe = self.state == State::Open
            && self.probe.is_none()
            && self.backoff == 0
            && self.rtt.srtt_ns > 0
            && !self.board.has_sacked();
        if may_probe {
            // With one segment outstanding the receiver may delay its ACK (RFC 8985 section 7.2).
            let slack_ns = if self.board.outstanding() == 1 { RTO_MIN_NS } else { PROBE_SLACK_NS };
            self.timer = Timer::TailLossProbe;
            self.deadline = now + (2 * self.rtt.srtt_ns + slack_ns).min(rto_ns);
        } else {
            self.timer = Timer::Retransmission;
            self.deadline = now + rto_ns;
        }
    }

    /// When [`Self::on_wake`] is to be called.
    #[inline]
    pub fn wake_at(&self) -> u64 {
        if self.held_by_pacing { self.deadline.min(self.next_paced_send) } else { self.deadline }
    }

    /// A timer may have come due.
    pub fn on_wake(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        if self.deadline <= now {
            match self.timer {
                Timer::TailLossProbe => self.send_probe(now, out),
                Timer::Retransmission => self.time_out(now, out),
            }
        } else if self.held_by_pacing {
            self.send(now, out);
        }
    }

    fn send_probe(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        let retransmission = !self.has_new_data();
        let seq = if retransmission { self.board.retransmit_last(now) } else { self.board.send_new(now) };
        self.counters.retransmits += u64::from(retransmission);
        self.transmit(now, seq, out);
        self.probe = Some(Probe { high_seq: self.board.nxt, retransmission });
        self.arm(now);
    }

    fn time_out(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        self.counters.timeouts += 1;
        // Once for each window of data (RFC 5681 section 3.1), and not again for a timeout that repeats itself.
        let new_loss = self.state <= State::Disorder
            || self.board.una >= self.high_seq
            || self.state == State::Loss && self.backoff == 0;
        if new_loss {
            self.reduce_ssthresh();
        }
        self.board.lose_all();
        self.conn.snd_cwnd = 1;
        self.conn.snd_cwnd_cnt = 0;
        self.probe = None;
        self.high_seq = self.board.nxt;
        self.enter(State::Loss);
        self.backoff += 1;
        self.arm(now);
        self.send(now, out);
    }

    #[inline]
    fn has_new_data(&self) -> bool {
        self.board.nxt < self.data_end && self.board.outstanding() < self.receive_window
    }

    #[inline]
    fn transmit(&mut self, now: u64, seq: u64, out: &mut impl FnMut(u64)) {
        self.counters.sent += 1;
        self.last_send = now;
        out(seq);
    }

    /// Sends what the window (and pacing) lets go: lost segments first, then new ones.
    #[inline]
    pub fn send(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        let was_empty = self.board.outstanding() == 0;
        let mut cwnd_limited = false;
        self.held_by_pacing = false;
        loop {
            if self.board.in_flight() >= u64::from(self.conn.snd_cwnd) {
                cwnd_limited = true;
                break;
            }
            if self.pacing && self.next_paced_send > now {
                self.held_by_pacing = true;
                break;
            }
            let seq = if let Some(seq) = self.board.retransmit_lost(now) {
                self.counters.retransmits += 1;
                if seq == self.board.una {
                    self.arm(now);
                }
                seq
            } else if self.has_new_data() {
                self.board.send_new(now)
            } else {
                break;
            };
            if self.state == State::Recovery {
                self.prr.out += 1;
            }
            if self.pacing {
                self.next_paced_send = now.max(self.next_paced_send) + self.paced_gap_ns();
            }
            self.transmit(now, seq, out);
        }
        self.note_limit(cwnd_limited);
        if was_empty && self.board.outstanding() > 0 {
            self.arm(now);
        }
    }

    /// Linux's tcp_cwnd_validate: true once in a window of data counts for all of it.
    #[inline]
    fn note_limit(&mut self, limited: bool) {
        let outstanding = self.board.outstanding();
        if self.board.una >= self.limited.until
            || limited
            || !self.limited.limited && outstanding > self.limited.max_outstanding
        {
            self.limited = CwndLimited { limited, max_outstanding: outstanding, until: self.board.nxt };
        }
    }

    /// Time between segments: 2 windows a round in slow start, 1.2 after (Linux's tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
    fn paced_gap_ns(&self) -> u64 {
        let cwnd = u64::from(self.conn.snd_cwnd.max(1));
        let percent = if self.conn.snd_cwnd < self.conn.snd_ssthresh / 2 { 200 } else { 120 };
        self.rtt.srtt_ns * 100 / (cwnd * percent)
    }
}
