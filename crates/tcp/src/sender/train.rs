// SPDX-License-Identifier: MIT OR Apache-2.0
//! ACKs in a row that say nothing but their number, while nothing hints at a loss: each does those steps of the unusual ACK that have something to
//! do then, a third of its instructions, and what only the last one decides is done once.

use tandem_controllers::{Ack, State};

use super::{Sender, rtt_us, timers::TIMEOUT_MIN_NS};
use crate::scoreboard::Usual;

/// A train of ACKs under way. [`Self::end`] must follow. Most senders are plain: neither rate nor ECN. The others count marks (accurate ECN), and
/// may own the window.
pub struct Train<'a, const PLAIN: bool> {
    sender: &'a mut Sender,
    /// The timer is not due before, ns.
    safe_until: u64,
    /// Of senders that are not plain: what the last ACK has told of the network's order, [`Scoreboard::reordering`] has not been told.
    owes_order: bool,
    /// The last ACK taken; `None`: there was none.
    last: Option<Last>,
    /// Nothing but the window ended the sending after it, which [`Sender::limited`] has not been told.
    has_filled_window: bool,
}

struct Last {
    now: u64,
    rtt_ns: u64,
    /// Segments outstanding when the timer was to be set: before those went that it let go, or after that if there were none.
    outstanding: u64,
}

impl Sender {
    /// A train may begin, unless something has hinted at a loss, or the sender is of another kind: each segment is measured, or says of ECN what
    /// changes.
    #[inline(always)]
    pub fn train<const PLAIN: bool>(&mut self) -> Option<Train<'_, PLAIN>> {
        let is_of_kind = if PLAIN { self.is_plain } else { self.is_counted };
        (is_of_kind && self.is_undisturbed()).then(|| Train {
            safe_until: self.timer_at(),
            sender: self,
            owes_order: false,
            last: None,
            has_filled_window: false,
        })
    }

    /// Has the controller been told of this count of marks? Without accurate ECN there is none.
    #[inline(always)]
    pub(super) fn knows(&self, marks: u32) -> bool {
        self.ecn.is_some_and(|ecn| !ecn.has_new(marks))
    }

    /// Does nothing hint at a loss? Then an ACK that acknowledges something has few consequences.
    #[inline]
    pub fn is_undisturbed(&self) -> bool {
        self.state == State::Open && self.probe.is_none() && self.board.is_flagless()
    }

    /// What estimator and controller learn of the usual ACK, where it is known whether the window limits the sending. Returns its RTT, ns.
    #[inline(always)]
    fn hear_usual<const PLAIN: bool>(&mut self, now: u64, usual: Usual) -> u64 {
        let rtt_ns = now - usual.newest_sent;
        self.rtt.sample(now - usual.oldest_sent, rtt_ns);
        self.sync_numbers();
        // Nothing is SACKed.
        let (segments, delivered) = (usual.segments as u32, self.board.una as u32);
        if !PLAIN && self.owns_window() {
            let (rtt_us, in_flight) = (rtt_us(rtt_ns), self.board.outstanding() as u32);
            let ack =
                Ack { pkts_acked: segments, rtt_us, delivered, acked_sacked: segments, in_flight, ..Ack::default() };
            self.controller.pkts_acked(&mut self.conn, &ack);
        } else {
            self.controller.usual_ack(&mut self.conn, segments, rtt_us(rtt_ns), delivered);
        }
        rtt_ns
    }

    /// Sends as much as the window has room for, if there is as much; otherwise nothing. Returns whether it did.
    #[inline(always)]
    fn fill_window<const PLAIN: bool>(&mut self, now: u64, mut out: impl FnMut(u64)) -> bool {
        let (una, nxt) = (self.board.una, self.board.nxt);
        let end = una + u64::from(self.conn.snd_cwnd);
        if end <= nxt {
            return true;
        }
        if end > self.data_end || end - una > self.receive_window {
            return false;
        }
        let field = if PLAIN { 0 } else { self.ecn_field };
        self.board.send_until(now, end, &mut |seq| out(seq | field));
        self.counters.sent += end - nxt;
        self.last_send = now;
        true
    }
}

impl<const PLAIN: bool> Train<'_, PLAIN> {
    /// Is this count of marks nothing new? Then an ACK that says it and its number may be [taken](Self::take).
    #[inline(always)]
    pub fn knows(&self, marks: u32) -> bool {
        self.sender.knows(marks)
    }

    /// When pacing lets go what it alone holds back, ns: [`Self::release`] is due before any later ACK.
    #[inline(always)]
    pub fn release_at(&self) -> u64 {
        self.sender.release_at()
    }

    /// Pacing lets go what it has held back, at [`Self::release_at`]. False: it has not, because the train must end here: the timer may be due first,
    /// or is to be set for what goes now.
    #[inline(always)]
    pub fn release(&mut self, now: u64, out: &mut impl FnMut(u64)) -> bool {
        let is_timer_as_it_is = now < self.safe_until && self.sender.outstanding() > 0;
        if is_timer_as_it_is {
            self.sender.send_new_first::<true>(now, out);
        }
        is_timer_as_it_is
    }

    /// Notes what an ACK tells of the network's order. All ACKs but the last tell the same or less, as long as none is to widen the reordering window
    /// and none tells a new smallest RTT. `una` was the first unacknowledged segment before it.
    #[inline(always)]
    fn note_order(&mut self, now: u64, latest: u64, una: u64, sent: u64) {
        if sent <= latest && !self.sender.board.reordering.has_dsack() {
            self.owes_order = true;
        } else {
            self.tell_order(una);
            self.sender.board.adapt_to_row(now, latest, una);
        }
    }

    /// `una` was the first unacknowledged segment after the last ACK.
    #[inline(always)]
    fn tell_order(&mut self, una: u64) {
        if let (true, Some(last)) = (std::mem::take(&mut self.owes_order), &self.last) {
            self.sender.board.adapt_to_last(last.now, una - 1, last.now - last.rtt_ns);
        }
    }

    /// Takes one more ACK and returns the RTT that it told, ns; `out` takes each segment that it lets go. `None`: the train must end here, because
    /// the timer may be due before, or the ACK acknowledges nothing new.
    #[inline(always)]
    pub fn take(&mut self, now: u64, next_expected: u64, out: &mut impl FnMut(u64)) -> Option<u64> {
        if now > self.safe_until {
            return None;
        }
        let (una, nxt) = (self.sender.board.una, self.sender.board.nxt);
        let latest = now - self.sender.rtt.min_ns.min(now);
        let usual = self.sender.board.on_usual_ack(next_expected)?;
        // What plain senders learn of the network's order is learnt from the last ACK.
        if !PLAIN {
            self.note_order(now, latest, una, usual.newest_sent);
        }
        let Self { sender, last, has_filled_window, .. } = self;
        sender.conn.now_us = now / 1000;
        if !*has_filled_window {
            sender.conn.is_cwnd_limited = u16::from(sender.is_limited());
        }
        let rtt_ns = sender.hear_usual::<PLAIN>(now, usual);
        let mut outstanding = sender.outstanding();
        if sender.pacing.is_on() || !sender.fill_window::<PLAIN>(now, &mut *out) {
            if let (true, Some(last)) = (std::mem::take(has_filled_window), last) {
                sender.limited.by_window(last.now, una, nxt);
            }
            // Paced senders send one at a time.
            if sender.pacing.is_on() { sender.send_new_first::<true>(now, out) } else { sender.send(now, out) }
        } else {
            *has_filled_window = true;
            sender.conn.is_cwnd_limited = 1;
        }
        if outstanding == 0 {
            outstanding = sender.outstanding();
        }
        // Each ACK sets the timer at least so far ahead.
        self.safe_until = now + TIMEOUT_MIN_NS;
        self.last = Some(Last { now, rtt_ns, outstanding });
        Some(rtt_ns)
    }

    /// No more ACKs come for now.
    #[inline(always)]
    pub fn end(mut self) {
        if !PLAIN {
            self.tell_order(self.sender.board.una);
        }
        let Self { sender, last: Some(Last { now, rtt_ns, outstanding }), has_filled_window, .. } = self else {
            return;
        };
        if has_filled_window {
            sender.limited.by_window(now, sender.board.una, sender.board.nxt);
        }
        if PLAIN {
            sender.board.reordering.note_rtt(rtt_ns);
        }
        // [RFC 6298 5.3]
        sender.backoff = 0;
        sender.arm_for(now, outstanding, true);
    }
}
