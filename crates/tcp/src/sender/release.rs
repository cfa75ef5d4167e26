// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending where a new segment goes first, as it nearly always does: one by one, as a rate or ACKs let them go.

use tandem_controllers::State;

use super::Sender;

impl Sender {
    /// Neither rate nor ECN?
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Do only its ACKs make it send? Not if pacing does, too; and samples, or marks to count, break each train.
    #[inline]
    pub fn goes_by_trains(&self) -> bool {
        self.is_plain && !self.pacing.is_on()
    }

    /// Does it pace?
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.pacing.is_on()
    }

    /// Is it of a kind whose usual ACKs make a [train](Self::train), as long as it is [undisturbed](Self::is_undisturbed)?
    #[inline]
    pub fn has_trains(&self) -> bool {
        self.is_plain || self.is_counted
    }

    /// When pacing lets go what it alone holds back, ns.
    #[inline]
    pub fn release_at(&self) -> u64 {
        self.pacing.wake_at()
    }

    /// Pacing lets go what it has held back, at [`Self::release_at`].
    #[inline(always)]
    pub fn release(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        self.conn.now_us = now / 1000;
        self.send_new_first::<false>(now, out);
    }

    /// As [`Self::send`]. In a [train](Self::train) nothing is lost, and what a segment says of ECN is always the same.
    #[inline(always)]
    pub(super) fn send_new_first<const IN_TRAIN: bool>(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        self.pacing.release();
        if self.is_kept_back(now) {
            return;
        }
        if self.begins_with_new::<IN_TRAIN>() {
            self.send_next::<IN_TRAIN>(now, out);
            self.send_more(now, out);
        } else {
            self.send_some(now, out);
        }
    }

    /// Is it a new segment that goes first, and neither the only one under way nor the last that there is?
    #[inline(always)]
    fn begins_with_new<const IN_TRAIN: bool>(&self) -> bool {
        let (una, nxt) = (self.board.una, self.board.nxt);
        (IN_TRAIN || !self.board.awaits_retransmission())
            && nxt + 1 < self.data_end
            && (1..self.receive_window).contains(&(nxt - una))
    }

    /// Sends the next segment as [`Self::send_some`] does.
    #[inline(always)]
    fn send_next<const IN_TRAIN: bool>(&mut self, now: u64, out: &mut impl FnMut(u64)) {
        let seq = self.board.send_new(now);
        if !IN_TRAIN && self.state >= State::Cwr {
            self.recovery.sent();
        }
        self.pacing.sent(now, self.rtt.srtt_ns, &self.conn);
        if IN_TRAIN {
            self.counters.sent += 1;
            self.last_send = now;
            out(seq | self.ecn_field);
        } else {
            self.transmit(now, seq, false, out);
        }
    }
}
