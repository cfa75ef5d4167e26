// SPDX-License-Identifier: MIT OR Apache-2.0
//! The usual ACKs of a sender whose controller owns the window and measures the delivery rate: those of BBR, which sends at a rate and thinks little
//! of losses. They do those steps of the unusual ACK that have something to do then.

use tandem_controllers::{Ack, State};

use super::{AckIn, Sender, rtt_us};
use crate::scoreboard::Delivered;

impl Sender {
    /// Handles an ACK that says nothing but that the next segments of a row have come: by number while nothing is missing, or by SACK, beyond all
    /// that had come, while losses are repaired. Returns the RTT that it told, ns; `None`: it says something else, and has not been taken in.
    #[inline(always)]
    pub(super) fn on_measured_ack(&mut self, now: u64, ack: &AckIn, out: &mut impl FnMut(u64)) -> Option<u64> {
        let delivered = self.take_next(now, ack)?;
        let (oldest, newest) = (delivered.oldest_sent?, delivered.newest_sent?);
        let rtt_ns = now - newest;
        self.conn.now_us = now / 1000;
        self.rtt.sample(now - oldest, rtt_ns);
        self.sync_conn();
        self.board.reordering.adapt(now, &delivered);
        let newly_lost = if delivered.advanced { 0 } else { self.detect_losses(now, &delivered) };
        let heard = Ack {
            pkts_acked: if delivered.advanced { delivered.segments as u32 } else { 0 },
            rtt_us: rtt_us(rtt_ns),
            delivered: self.board.delivered() as u32,
            acked_sacked: delivered.segments as u32,
            lost: newly_lost as u32,
            ..Ack::default()
        };
        self.update_model(now, &delivered, heard, 0);
        if delivered.advanced {
            // [RFC 6298 5.3]
            self.backoff = 0;
            self.arm(now);
        }
        self.send(now, out);
        Some(rtt_ns)
    }

    /// What such an ACK has delivered.
    #[inline(always)]
    fn take_next(&mut self, now: u64, ack: &AckIn) -> Option<Delivered> {
        if !self.is_measured || ack.flags != 0 {
            return None;
        }
        let latest = now - self.rtt.min_ns.min(now);
        match ack.feedback {
            None if self.is_undisturbed() => self.board.on_next_acked(latest, ack.next_expected),
            // Of an ACK that only SACKs, the echo says nothing.
            Some(feedback)
                if feedback.duplicate.is_none() && ack.next_expected <= self.board.una && self.is_in_plain_repair() =>
            {
                self.board.on_next_sacked(latest, feedback.blocks()?)
            }
            _ => None,
        }
    }

    /// In a recovery in which no ACK that only SACKs changes anything but the scoreboard.
    #[inline(always)]
    fn is_in_plain_repair(&self) -> bool {
        self.state == State::Recovery
            && self.board.una < self.high_seq
            && self.probe.is_none()
            && !self.board.reordering.is_seen()
            && !self.undo.is_some_and(|undo| undo.is_all_reported())
    }
}
