// SPDX-License-Identifier: MIT OR Apache-2.0
//! ACKs in a row that say nothing but their number, while nothing hints at a loss: each does what the usual ACK does, and what only the last one
//! decides is done once.

use super::{Sender, timers::TIMEOUT_MIN_NS};

/// A train of ACKs under way. [`Self::end`] must follow.
pub struct Train<'a> {
    sender: &'a mut Sender,
    /// The timer is not due before, ns.
    safe_until: u64,
    last: Option<Last>,
}

/// The last ACK taken.
struct Last {
    now: u64,
    rtt_ns: u64,
    /// Segments outstanding before those went that it let go.
    outstanding: u64,
}

impl Sender {
    /// A train may begin, unless something has hinted at a loss, or each segment needs a look: it is paced, or says something about ECN.
    #[inline(always)]
    pub fn train(&mut self) -> Option<Train<'_>> {
        if !self.is_undisturbed() || self.pacing.is_on() {
            return None;
        }
        Some(Train { safe_until: self.deadline, sender: self, last: None })
    }

    /// As [`Self::send`], where nothing is lost and nothing paced.
    #[inline(always)]
    fn send_usual(&mut self, now: u64, out: &mut impl FnMut(u64, u64)) {
        let nxt = self.board.nxt;
        while !self.fills_window_with(self.board.outstanding()) {
            if !self.has_new_data() {
                return self.note_unused(now, self.board.nxt > nxt);
            }
            let segment = self.board.send_new(now);
            self.counters.sent += 1;
            self.last_send = now;
            out(now, segment);
        }
        self.limited.by_window(now, self.board.una, self.board.nxt);
    }
}

impl Train<'_> {
    /// Takes one more ACK and returns the RTT that it told, ns; `out` takes each segment that it lets go. `None`: the train must end here, for
    /// the timer may be due before, or the ACK acknowledges nothing new.
    #[inline(always)]
    pub fn take(&mut self, now: u64, next_expected: u64, out: &mut impl FnMut(u64, u64)) -> Option<u64> {
        if now > self.safe_until {
            return None;
        }
        let usual = self.sender.board.on_usual_ack(next_expected)?;
        self.sender.conn.now_us = now / 1000;
        let rtt_ns = self.sender.hear_usual(now, usual);
        let outstanding = self.sender.outstanding();
        self.sender.send_usual(now, out);
        self.last = Some(Last { now, rtt_ns, outstanding });
        // Each ACK sets the timer at least so far ahead.
        self.safe_until = now + TIMEOUT_MIN_NS;
        Some(rtt_ns)
    }

    /// No more ACKs come for now.
    #[inline(always)]
    pub fn end(self) {
        let Self { sender, last: Some(Last { now, rtt_ns, outstanding }), .. } = self else { return };
        sender.board.reordering.note_rtt(rtt_ns);
        // [RFC 6298 5.3]
        sender.backoff = 0;
        // The timer is set before the ACK lets go anything, and after that if nothing was outstanding.
        let outstanding = if outstanding > 0 { outstanding } else { sender.outstanding() };
        sender.arm_for(now, outstanding, true);
    }
}
