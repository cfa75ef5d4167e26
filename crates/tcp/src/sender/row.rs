// SPDX-License-Identifier: MIT OR Apache-2.0
//! ACKs that say nothing but that the next segments of a row have come, and maybe that there were marks: nearly all that no [`Train`](super::train)
//! takes. Each does those steps of the unusual ACK that have something to do then.

use tandem_controllers::{Ack, State, host::Progress};

use super::{AckIn, Sender, rtt_us};
use crate::{scoreboard::Delivered, segment::ECE};

impl Sender {
    /// Handles an ACK for the next segments of a row: by number while nothing is missing, or by SACK, beyond all that had come, while losses are
    /// repaired. Returns the RTT that it told, ns; `None`: it says something else, and has not been taken in.
    #[inline(never)]
    pub(super) fn on_row_ack(&mut self, now: u64, ack: &AckIn, out: &mut impl FnMut(u64)) -> Option<u64> {
        let was = self.state;
        let delivered = self.take_row(now, ack)?;
        let (oldest, newest) = (delivered.oldest_sent?, delivered.newest_sent?);
        let Delivered { segments, advanced, .. } = delivered;
        let rtt_ns = now - newest;
        self.conn.now_us = now / 1000;
        self.rtt.sample(now - oldest, rtt_ns);
        self.sync_conn();
        let marks = ack.feedback.map_or(0, |feedback| feedback.marks);
        let heard = Ack {
            pkts_acked: if advanced { segments as u32 } else { 0 },
            rtt_us: rtt_us(rtt_ns),
            delivered: self.board.delivered() as u32,
            acked_sacked: segments as u32,
            ..Ack::default()
        };
        let has_mark = ack.flags & ECE != 0 || self.ecn.is_some_and(|ecn| ecn.has_new(marks));
        if !self.owns_window() {
            self.measure(heard, marks);
        }
        self.board.reordering.adapt(now, &delivered);
        if has_mark {
            self.try_undo(ack, &delivered, self.board.una, has_mark);
        }
        let newly_lost = if advanced { 0 } else { self.board.detect_losses(&delivered, true) };
        if was == State::Cwr {
            self.change_state();
        }
        if has_mark && self.state <= State::Disorder {
            self.enter_cwr();
        }
        if self.owns_window() {
            self.update_model(now, &delivered, Ack { lost: newly_lost as u32, ..heard }, marks);
        } else if self.state != State::Open {
            self.reduce_in_recovery(Progress { delivered: segments, newly_lost, advanced });
        } else if self.recovery.grows_after(was) {
            self.controller.cong_avoid(&mut self.conn, segments as u32);
        }
        if was != State::Open {
            self.moderate();
        }
        if advanced {
            // [RFC 6298 5.3]
            self.backoff = 0;
            self.arm(now);
        }
        self.send_new_first::<false>(now, out);
        Some(rtt_ns)
    }

    /// What such an ACK has delivered.
    #[inline(always)]
    fn take_row(&mut self, now: u64, ack: &AckIn) -> Option<Delivered> {
        // A probe, or a D-SACK for each segment that was sent again, is answered.
        if self.probe.is_some() || self.undo.is_some_and(|undo| undo.is_all_reported()) {
            return None;
        }
        let latest = now - self.rtt.min_ns.min(now);
        let blocks = match ack.feedback {
            Some(feedback) if feedback.duplicate.is_some() => return None,
            Some(feedback) => feedback.blocks(),
            None => None,
        };
        match blocks {
            // What echoes tell matters only in a recovery, and there to an ACK that raises the number.
            None if self.is_unbroken() => self.board.on_next_acked(latest, ack.next_expected),
            Some(blocks) if ack.next_expected <= self.board.una && self.is_in_plain_repair() => {
                self.board.on_next_sacked(latest, blocks)
            }
            _ => None,
        }
    }

    /// Nothing hints at a loss.
    #[inline(always)]
    fn is_unbroken(&self) -> bool {
        matches!(self.state, State::Open | State::Cwr) && self.board.is_flagless()
    }

    /// In a recovery in which an ACK that only SACKs changes no state, and no hole is given time to fill.
    #[inline(always)]
    fn is_in_plain_repair(&self) -> bool {
        self.state == State::Recovery
            && self.board.una < self.high_seq
            && self.recovery.has_rack()
            && !self.board.reordering.is_seen()
    }
}
