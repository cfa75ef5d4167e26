// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sender's one timer: a tail loss probe, a retransmission timeout, or a hole that is given time to fill.

use tandem_controllers::{
    Reason, State,
    host::{Progress, RTO_MAX_NS, RTO_MIN_NS},
};

use super::Sender;
use crate::{NEVER, scoreboard::Delivered};

/// Linux's TCP_TIMEOUT_MIN, which it adds to the timeouts of a probe and of a loss that time alone tells.
pub(super) const TIMEOUT_MIN_NS: u64 = 2_000_000;

/// What the timer is for; there is but one [RFC 8985 8].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    Retransmission,
    TailLossProbe,
    /// A hole that reordering does not fill by then is a loss [RFC 8985 6.2].
    Reordering,
}

/// A tail loss probe under way.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// Once all before it is acknowledged, the probe has been answered.
    pub high_seq: u64,
    retransmission: bool,
}

impl Probe {
    /// Was it sent before?
    pub fn is_retransmission(&self) -> bool {
        self.retransmission
    }
}

impl Sender {
    /// Sets the timer for what is outstanding: a probe first if one may be sent, otherwise the retransmission timeout.
    #[inline]
    pub(super) fn arm(&mut self, now: u64) {
        let is_undisturbed =
            self.state == State::Open && self.probe.is_none() && self.backoff == 0 && !self.board.has_sacked();
        self.arm_for(now, self.board.outstanding(), is_undisturbed);
    }

    /// The same for this many outstanding segments, if it is known whether anything hints at a loss.
    #[inline(always)]
    pub(super) fn arm_for(&mut self, now: u64, outstanding: u64, is_undisturbed: bool) {
        if outstanding == 0 {
            // [RFC 6298 5.2]
            self.deadline = NEVER;
            return;
        }
        let rto_ns = (self.rtt.rto_ns() << self.backoff.min(20)).min(RTO_MAX_NS);
        if is_undisturbed && self.rtt.srtt_ns > 0 && self.recovery.has_rack() {
            // With one segment outstanding the receiver may delay its ACK [RFC 8985 7.2].
            let slack_ns = if outstanding == 1 { RTO_MIN_NS } else { TIMEOUT_MIN_NS };
            self.timer = Timer::TailLossProbe;
            self.deadline = now + (2 * self.rtt.srtt_ns + slack_ns).min(rto_ns);
        } else {
            self.timer = Timer::Retransmission;
            self.deadline = now + rto_ns;
        }
    }

    /// An ACK has left holes: they are given time to fill.
    pub(super) fn arm_for_holes(&mut self, now: u64, rtt_ns: Option<u64>) {
        let has_young_holes = self.state == State::Disorder || self.state == State::Cwr && self.board.has_sacked();
        if self.tells_losses_by_time() {
            self.arm_for_next_loss(now);
        } else if has_young_holes && self.recovery.has_rack() {
            self.arm_reordering(now, rtt_ns);
        }
    }

    /// Fewer than DupThresh segments are SACKed: gives the hole a quarter of the smallest RTT to fill (step 4), counted from when its
    /// ACK was due by the newest RTT, and [`TIMEOUT_MIN_NS`] as Linux does. [RFC 8985 6.2]
    fn arm_reordering(&mut self, now: u64, rtt_ns: Option<u64>) {
        let rtt_ns = rtt_ns.unwrap_or(self.rtt.srtt_ns);
        self.timer = Timer::Reordering;
        self.deadline = (self.board.una_sent_at() + rtt_ns + self.rtt.min_ns / 4 + TIMEOUT_MIN_NS).max(now);
    }

    /// Does time alone tell losses?
    fn tells_losses_by_time(&self) -> bool {
        self.recovery.has_rack() && self.board.reordering.is_seen()
    }

    fn reordering_window_ns(&self) -> u64 {
        self.board.reordering.window_ns(self.rtt.min_ns, self.rtt.srtt_ns)
    }

    /// Segments that have had their time are lost. Returns how many are new.
    fn lose_by_time(&mut self, now: u64) -> u64 {
        self.board.lose_by_time(now, self.reordering_window_ns())
    }

    /// Finds segments newly known to be lost, also by the ACK of a probe [RFC 8985 7.4.1]; returns how many.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: u64, delivered: &Delivered) -> u64 {
        if self.tells_losses_by_time() {
            return self.lose_by_time(now);
        }
        self.recovery.detect_losses(&mut self.board, delivered, self.state, self.high_seq)
    }

    /// Looks again when the next segment has had its time and a little more: as long as ACKs come, it is one of them that finds the loss, and
    /// the retransmission goes in the place of what has left the path. Between two ACKs it would overflow a queue that is still full.
    fn arm_for_next_loss(&mut self, now: u64) {
        if let Some(at) = self.board.next_loss_at(self.reordering_window_ns()) {
            self.timer = Timer::Reordering;
            self.deadline = (at + TIMEOUT_MIN_NS).max(now);
        } else if self.timer == Timer::Reordering {
            self.arm(now);
        }
    }

    /// When [`Self::on_wake`] is to be called.
    #[inline]
    pub fn wake_at(&self) -> u64 {
        self.deadline.min(self.pacing.wake_at())
    }

    /// When its timer is due, ns.
    #[inline]
    pub fn timer_at(&self) -> u64 {
        self.deadline
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
        let (was, by_time) = (self.state, self.tells_losses_by_time());
        let newly_lost = if by_time { self.lose_by_time(now) } else { self.board.lose_holes() };
        self.change_state();
        if newly_lost > 0 && was <= State::Cwr {
            // As Linux: what was delivered has been counted when it came, so one segment stands for it.
            self.reduce_in_recovery(Progress { delivered: 1, newly_lost, advanced: false });
        }
        self.arm(now);
        if by_time {
            self.arm_for_next_loss(now);
        }
        self.send(now, out);
    }

    /// The tail may be lost: a new segment goes, or the last one again. [RFC 8985 7.3]
    fn send_probe(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        let retransmission = !self.has_new_data();
        let seq = if retransmission { self.board.retransmit_last(now) } else { self.board.send_new(now) };
        self.counters.retransmits += u64::from(retransmission);
        self.transmit(now, seq, retransmission, out);
        self.probe = Some(Probe { high_seq: self.board.nxt, retransmission });
        self.arm(now);
    }

    /// A probe has been answered, and perhaps a D-SACK has come for `duplicate`. A probe of new data needs no more. A D-SACK for the probe
    /// says that the tail was only late. Without one an ACK for more than the probe says that the tail was lost: reduce as for a loss. An ACK
    /// for no more decides nothing yet: the D-SACK may still be under way. [RFC 8985 7.4.2]
    pub(super) fn answer_probe(&mut self, probe: Probe, duplicate: Option<u64>) {
        if !probe.retransmission || duplicate == Some(probe.high_seq - 1) {
            self.probe = None;
        } else if self.board.una > probe.high_seq {
            self.probe = None;
            self.reduce_for_probe();
        }
    }

    /// The retransmission hid a loss: the window is reduced at once, and no recovery follows.
    fn reduce_for_probe(&mut self) {
        if self.state <= State::Disorder {
            self.reduce_ssthresh(Reason::Loss);
            self.enter(State::Cwr);
            self.conn.snd_cwnd = self.conn.snd_cwnd.min(self.conn.snd_ssthresh);
            self.enter(State::Open);
        }
    }
}
