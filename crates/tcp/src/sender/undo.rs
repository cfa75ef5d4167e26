// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reductions for losses that were none, taken back as Linux does it: by timestamps (the Eifel detection and response, RFC 3522 and
//! RFC 4015), by D-SACKs (RFC 3708), and after a timeout by data that arrives though it was not sent again (F-RTO, RFC 5682 section 3).

use tandem_controllers::State;

use super::{AckIn, Sender};
use crate::{scoreboard::Delivered, segment::Echo};

/// The last reduction for a loss, as long as it may turn out to have been needless.
#[derive(Debug, Clone, Copy)]
pub struct Undo {
    /// The first unacknowledged segment when it began. D-SACKs below report older retransmissions.
    begin: u64,
    /// One above the last segment that was sent before its first retransmission.
    end: u64,
    /// Retransmissions that no D-SACK has reported; `None` before the first.
    unreported: Option<u64>,
    /// ssthresh before it, packets; `None` if the window may not go back, since a mark asked for a reduction, too.
    prior_ssthresh: Option<u32>,
    /// A timeout has retransmitted one segment so far (F-RTO, step 1).
    frto: bool,
}

impl Undo {
    /// A segment has been sent again.
    pub fn sent_again(&mut self) {
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// Have D-SACKs reported all that was sent again?
    pub fn is_all_reported(&self) -> bool {
        self.unreported == Some(0)
    }

    /// Does an ACK that raises its number to `next_expected` answer a segment that was sent before the first retransmission? [RFC 3522 3.2]
    fn is_answered_by_original(&self, next_expected: u64, echo: Option<Echo>) -> bool {
        let Echo { seq, again } = echo.unwrap_or(Echo { seq: next_expected - 1, again: false });
        !again && seq < self.end
    }
}

impl Sender {
    /// A reduction begins for a loss. Recovery before 2012 has no undo here.
    pub(super) fn begin_undo(&mut self) {
        let probes = self.probe.is_some_and(|probe| probe.is_retransmission());
        let under_way = self.board.retransmitted() + u64::from(probes);
        self.undo = self.recovery.has_rack().then(|| Undo {
            begin: self.board.una,
            end: self.board.sent_before_retransmissions(),
            unreported: (under_way > 0).then_some(under_way),
            prior_ssthresh: (self.state != State::Cwr).then(|| self.current_ssthresh()),
            frto: false,
        });
    }

    /// What the threshold would be if the reduction had not been: at least three quarters of the window (Linux's tcp_current_ssthresh).
    fn current_ssthresh(&self) -> u32 {
        let conn = &self.conn;
        match self.state {
            State::Cwr | State::Recovery => conn.snd_ssthresh,
            _ => conn.snd_ssthresh.max(conn.snd_cwnd / 2 + conn.snd_cwnd / 4),
        }
    }

    /// A timeout has begun to send again: F-RTO watches what comes next. [RFC 5682 3.1]
    pub(super) fn watch_timeout(&mut self, is_first: bool) {
        self.undo.iter_mut().for_each(|undo| undo.frto = is_first || self.backoff > 0);
    }

    /// A D-SACK for `seq`; `una` was the first unacknowledged segment before the ACK.
    pub(super) fn note_duplicate(&mut self, seq: u64, una: u64) {
        let answers_probe = self.probe.is_some_and(|probe| probe.high_seq == seq + 1);
        if !self.board.reordering.note_duplicate(answers_probe) || !self.board.reports_retransmission(seq, una) {
            return;
        }
        if let Some(undo) = self.undo.as_mut().filter(|undo| seq >= undo.begin) {
            undo.unreported = undo.unreported.map(|count| count.saturating_sub(1));
        }
    }

    /// Takes the last reduction back if an ACK has shown that it was needless; `una` was the first unacknowledged segment before it. A mark
    /// asks for a reduction in any case. [RFC 5682 3.1]
    pub(super) fn try_undo(&mut self, ack: &AckIn, delivered: &Delivered, una: u64, has_mark: bool) {
        let Some(undo) = &mut self.undo else { return };
        if has_mark {
            undo.prior_ssthresh = None;
        }
        let undo = *undo;
        let echo = ack.feedback.and_then(|feedback| feedback.echo);
        let all_reported = undo.is_all_reported();
        let was_late = delivered.advanced && undo.is_answered_by_original(ack.next_expected, echo);
        match self.state {
            State::Cwr => {}
            State::Loss => {
                let original_came = delivered.lowest_original.is_some_and(|seq| seq < self.high_seq);
                if delivered.advanced && (all_reported || was_late) || undo.frto && original_came {
                    self.board.take_back_losses();
                    self.undo_reduction();
                } else if delivered.advanced {
                    self.undo = Some(Undo { frto: false, ..undo });
                }
            }
            State::Recovery if self.board.una >= self.high_seq => {
                if all_reported || was_late {
                    self.undo_reduction();
                }
            }
            State::Recovery if was_late => {
                self.board.note_late(una);
                if self.board.retransmitted() == 0 {
                    self.board.take_back_losses();
                    self.undo_reduction();
                }
            }
            State::Open | State::Disorder | State::Recovery => {
                if all_reported {
                    self.board.reordering.note_needless();
                    self.undo_reduction();
                }
            }
        }
    }

    /// The response [RFC 4015 3.1] [RFC 5682 4].
    fn undo_reduction(&mut self) {
        let prior_ssthresh = self.undo.take().and_then(|undo| undo.prior_ssthresh);
        if let Some(prior_ssthresh) = prior_ssthresh {
            self.sync_conn();
            self.conn.snd_cwnd = self.controller.undo_cwnd(&self.conn);
            if prior_ssthresh > self.conn.snd_ssthresh {
                self.conn.snd_ssthresh = prior_ssthresh;
                self.ecn.iter_mut().for_each(|ecn| ecn.reduction_undone());
            }
        }
        self.enter(if self.board.has_sacked() { State::Disorder } else { State::Open });
    }
}
