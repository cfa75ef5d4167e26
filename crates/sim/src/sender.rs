// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending half of TCP, as Linux does it: the host side of the controllers' contract.
//!
//! SACK scoreboard and pipe (RFC 6675), limited transmit (RFC 3042, which pipe implies), proportional rate reduction
//! (RFC 6937), retransmission timeout (RFC 6298), reordering timer and tail loss probe (RFC 8985 sections 6 and 7), idle
//! restart (RFC 5681 section 4.1), the cwnd-limited test (RFC 7661 in Linux's form) and optional pacing.

use tandem_controllers::{Ack, Conn, INFINITE_SSTHRESH, Instance, MAX_WINDOW, State, View};
use tandem_scenario::{CongestionControl, TcpSource};

use crate::{
    agenda::NEVER,
    cwnd_limited::CwndLimited,
    pacing::Pacing,
    packet::Blocks,
    prr::Prr,
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
    /// A hole that reordering does not fill by then is a loss (RFC 8985 section 6.3).
    Reordering,
}

/// A tail loss probe under way.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// Once all before it is acknowledged, the probe has been answered.
    high_seq: u64,
    retransmission: bool,
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
    initial_window: u32,
    limited: CwndLimited,
    last_send: u64,
    pacing: Pacing,
}

impl Sender {
    /// A connection whose first transfer begins at `start` ns.
    pub fn new(source: &TcpSource, mss: u32, start: u64) -> Self {
        let mut conn = Conn {
            now_us: start / 1000,
            snd_cwnd: source.initial_window,
            snd_cwnd_cnt: 0,
            snd_ssthresh: INFINITE_SSTHRESH,
            snd_cwnd_clamp: (MAX_WINDOW_BYTES / mss).min(MAX_WINDOW),
            snd_una: 0,
            snd_nxt: 0,
            mss,
            is_cwnd_limited: 0,
        };
        let CongestionControl::Tandem(params) = &source.controller else {
            panic!("`{}` is the kernel's: `Scenario::needs_kernel` tells before a run", source.controller)
        };
        Self {
            controller: Instance::new(params, &mut conn),
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
            initial_window: source.initial_window,
            limited: CwndLimited::default(),
            last_send: 0,
            pacing: Pacing::new(source.pacing),
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
        self.conn.now_us = now / 1000;
        if self.board.outstanding() == 0 && self.board.nxt > 0 && now - self.last_send > self.rtt.rto_ns() {
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
        let restart_window = cwnd.min(self.initial_window);
        let halvings = (idle_ns / self.rtt.rto_ns()).min(31);
        self.conn.snd_ssthresh = self.conn.snd_ssthresh.max(cwnd / 2 + cwnd / 4);
        self.conn.snd_cwnd = (cwnd >> halvings).max(restart_window);
    }

    #[inline]
    fn sync_conn(&mut self) {
        let mss = u64::from(self.conn.mss);
        // Sequence numbers wrap, as on the wire.
        self.conn.snd_una = self.board.una.wrapping_mul(mss) as u32;
        self.conn.snd_nxt = self.board.nxt.wrapping_mul(mss) as u32;
        let in_slow_start = self.conn.snd_cwnd < self.conn.snd_ssthresh;
        self.conn.is_cwnd_limited = u32::from(self.limited.holds(self.conn.snd_cwnd, in_slow_start));
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
        self.conn.now_us = now / 1000;
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
        let newly_lost = self.board.detect_losses(&delivered, self.state >= State::Recovery);
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
        if self.state == State::Disorder {
            self.arm_reordering(now, rtt_ns);
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
        self.prr = Prr::new(self.conn.snd_cwnd);
        self.high_seq = self.board.nxt;
        self.probe = None;
        self.reduce_ssthresh();
        self.enter(State::Recovery);
    }

    fn reduce_proportionally(&mut self, delivered: u64, newly_lost: u64, advanced: bool) {
        if delivered > 0 {
            let in_flight = self.board.in_flight();
            let progress = advanced && newly_lost == 0;
            let allowed = self.prr.allows(u64::from(self.conn.snd_ssthresh), in_flight, delivered, progress);
            self.conn.snd_cwnd = (in_flight + allowed).max(1) as u32;
        }
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

    /// Fewer than DupThresh segments are SACKed: gives the hole a quarter of the smallest RTT to fill (RFC 8985 section 6.2,
    /// step 4), counted from when its ACK was due by the newest RTT.
    fn arm_reordering(&mut self, now: u64, rtt_ns: Option<u64>) {
        let rtt_ns = rtt_ns.unwrap_or(self.rtt.srtt_ns);
        self.timer = Timer::Reordering;
        self.deadline = (self.board.una_sent_at() + rtt_ns + self.rtt.min_ns / 4).max(now);
    }

    /// When [`Self::on_wake`] is to be called.
    #[inline]
    pub fn wake_at(&self) -> u64 {
        self.deadline.min(self.pacing.wake_at())
    }

    /// A timer may have come due.
    pub fn on_wake(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        self.conn.now_us = now / 1000;
        if self.deadline <= now {
            match self.timer {
                Timer::TailLossProbe => self.send_probe(now, out),
                Timer::Retransmission => self.time_out(now, out),
                Timer::Reordering => self.lose_holes(now, out),
            }
        } else if self.pacing.wake_at() <= now {
            self.send(now, out);
        }
    }

    fn lose_holes(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        let newly_lost = self.board.lose_holes();
        self.change_state();
        if newly_lost > 0 {
            // As Linux: what was delivered has been counted when it came, so one segment stands for it.
            self.reduce_proportionally(1, newly_lost, false);
        }
        self.arm(now);
        self.send(now, out);
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
        self.pacing.release();
        loop {
            if self.board.in_flight() >= u64::from(self.conn.snd_cwnd) {
                cwnd_limited = true;
                break;
            }
            if self.pacing.holds(now) {
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
                self.prr.sent();
            }
            self.pacing.sent(now, self.rtt.srtt_ns, self.conn.snd_cwnd, self.conn.snd_ssthresh);
            self.transmit(now, seq, out);
        }
        self.limited.note(cwnd_limited, self.board.una, self.board.nxt);
        if was_empty && self.board.outstanding() > 0 {
            self.arm(now);
        }
    }
}
