// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion states: what is entered and left when, and what the window does meanwhile.

use tandem_controllers::{Reason, State, host::Progress};

use super::Sender;
use crate::scoreboard::Delivered;

impl Sender {
    pub(super) fn enter(&mut self, state: State) {
        if self.state != state {
            self.sync_conn();
            self.controller.set_state(&mut self.conn, state);
            self.state = state;
        }
    }

    /// Linux's tcp_fastretrans_alert: leaves what is over, enters what has begun. [RFC 6582 3.2] [RFC 9937 6.4]
    #[inline]
    pub(super) fn change_state(&mut self) {
        if self.state >= State::Recovery && self.board.una >= self.high_seq {
            self.board.reordering.note_recovered();
            if self.state == State::Recovery && !self.owns_window() {
                self.conn.snd_cwnd = self.recovery.final_window(&self.conn);
            }
            self.enter(State::Open);
        }
        if self.state == State::Cwr {
            if self.board.has_lost() {
                self.enter_recovery();
            } else if self.board.una > self.high_seq {
                if !self.owns_window() {
                    self.conn.snd_cwnd = self.recovery.final_window(&self.conn);
                }
                self.enter(if self.board.has_sacked() { State::Disorder } else { State::Open });
            }
        }
        if self.state <= State::Disorder {
            if self.board.has_lost() {
                self.enter_recovery();
            } else {
                self.enter(if self.board.has_sacked() { State::Disorder } else { State::Open });
            }
        }
    }

    pub(super) fn reduce_ssthresh(&mut self, reason: Reason) {
        self.sync_conn();
        self.conn.snd_ssthresh = self.controller.ssthresh(&self.conn, reason);
        self.conn.snd_cwnd_cnt = 0;
        self.counters.window_reductions += 1;
        if let Some(ecn) = &mut self.ecn {
            ecn.reduced();
        }
    }

    /// A mark has arrived at the receiver: the window is reduced once in a round, as for a loss [RFC 3168 6.1.2] or by less [RFC 8511 3], and
    /// nothing is sent again (Linux's tcp_enter_cwr).
    pub(super) fn enter_cwr(&mut self) {
        let cwnd = self.conn.snd_cwnd;
        self.recovery.begin(cwnd);
        self.high_seq = self.board.nxt;
        self.probe = None;
        self.undo = None;
        self.reduce_ssthresh(Reason::Mark);
        if let Some(ssthresh) = self.ecn.and_then(|ecn| ecn.ssthresh(cwnd)) {
            self.conn.snd_ssthresh = ssthresh;
        }
        self.enter(State::Cwr);
    }

    /// A loss has been found: one reduction for all that has been sent so far. [RFC 6675 5] [RFC 5681 3.2]
    fn enter_recovery(&mut self) {
        self.begin_undo();
        // A mark in the same round has already begun the reduction.
        if self.state != State::Cwr {
            self.recovery.begin(self.conn.snd_cwnd);
            self.reduce_ssthresh(Reason::Loss);
        }
        self.high_seq = self.board.nxt;
        self.probe = None;
        self.enter(State::Recovery);
    }

    #[inline]
    pub(super) fn reduce_in_recovery(&mut self, progress: Progress) {
        if progress.delivered > 0 && !self.owns_window() {
            self.conn.snd_cwnd = self.recovery.window(&self.conn, self.board.in_flight(), progress);
        }
    }

    /// As in Linux: where reordering is deep, an ACK that only SACKs also lets the window grow, because it is no sign of a loss there.
    pub(super) fn may_grow(&self, delivered: &Delivered) -> bool {
        delivered.advanced || delivered.segments > 0 && self.recovery.has_rack() && self.board.reordering.is_deep()
    }

    /// After an ACK that told of a disturbance.
    #[inline]
    pub(super) fn moderate(&mut self) {
        if self.state != State::Recovery && !self.owns_window() {
            self.conn.snd_cwnd = self.recovery.moderate(self.conn.snd_cwnd, self.board.in_flight());
        }
    }

    /// The first segment may go again, and the window is open to that besides what is taken to be under way still: nothing, before RACK. [RFC 5681 3.1]
    fn lose_at_timeout(&mut self, now: u64) {
        if self.recovery.has_rack() {
            self.board.lose_old(now);
        } else {
            self.board.lose_all();
        }
        self.conn.snd_cwnd = self.board.in_flight() as u32 + 1;
    }

    pub(super) fn time_out(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        self.counters.timeouts += 1;
        let is_first = self.state < State::Recovery;
        if self.state <= State::Disorder && self.board.has_dup_thresh() {
            self.board.reordering.note_timeout();
        }
        // Once for each window of data [RFC 5681 3.1], and not again for a timeout that repeats itself.
        let new_loss = self.state <= State::Disorder
            || self.board.una >= self.high_seq
            || self.state == State::Loss && self.backoff == 0;
        if new_loss {
            self.begin_undo();
            self.reduce_ssthresh(Reason::Loss);
        }
        self.watch_timeout(is_first);
        self.lose_at_timeout(now);
        self.conn.snd_cwnd_cnt = 0;
        self.probe = None;
        // No recovery begins before all of this is acknowledged [RFC 6675 5.1].
        self.high_seq = self.board.nxt;
        self.enter(State::Loss);
        // [RFC 6298 5.5] [RFC 6298 5.6] [RFC 6298 5.4]
        self.backoff += 1;
        self.arm(now);
        self.send(now, out);
    }
}
