// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the host shows of time and of the bytes under way.

use crate::{
    check::Tally,
    event::Shown,
    rules::{Rule, Seen},
};

/// What the log has shown so far.
#[derive(Clone, Debug)]
pub struct Sequence {
    now_us: Option<u64>,
    una: Option<u32>,
    nxt: Option<u32>,
    /// Before the line that is being judged.
    una_before: Option<u32>,
    /// At the last ACK: a controller that owns the window hears of one only after what the host has found out by it.
    una_at_ack: Option<u32>,
    /// The largest window so far, packets.
    widest: u32,
}

/// How far `a` is ahead of `b`, bytes: sequence numbers wrap.
pub fn ahead(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
}

impl Sequence {
    pub fn begin(shown: Shown, cwnd: u32) -> Self {
        let Shown { now_us, una, nxt, .. } = shown;
        Self { now_us, una, nxt, una_before: None, una_at_ack: una, widest: cwnd }
    }

    pub fn show(&mut self, line: u64, shown: &Shown, tally: &mut Tally) {
        self.una_before = self.una;
        if let (Some(before), Some(now)) = (self.now_us, shown.now_us) {
            tally.check(Rule::Clock, line, now >= before, || format!("now_us goes back from {before} to {now}"));
        }
        self.now_us = shown.now_us.or(self.now_us);
        for (name, old, new) in [("una", &mut self.una, shown.una), ("nxt", &mut self.nxt, shown.nxt)] {
            if let (Some(before), Some(now)) = (*old, new) {
                let holds = ahead(now, before) >= 0;
                tally.check(Rule::Sequence, line, holds, || format!("{name} goes back from {before} to {now}"));
            }
            *old = new.or(*old);
        }
        if let (Some(una), Some(nxt), true) = (self.una, self.nxt, shown.una.or(shown.nxt).is_some()) {
            let what = || format!("una is {una}, and nxt {nxt}: more is acknowledged than was sent");
            tally.check(Rule::Sequence, line, ahead(nxt, una) >= 0, what);
        }
    }

    /// The bytes that were in flight when this line's ACK came.
    pub fn in_flight_before_ack(&self) -> Option<u32> {
        u32::try_from(ahead(self.nxt?, self.una_before?)).ok()
    }

    /// Does this line's ACK acknowledge new bytes? `None`: the log does not tell.
    pub fn advances(&self) -> Option<bool> {
        Some(ahead(self.una?, self.una_before?) > 0)
    }

    /// What is acknowledged and what was sent, if the log tells both.
    pub fn una_and_nxt(&self) -> Option<(u32, u32)> {
        Some((self.una?, self.nxt?))
    }

    /// Packets smaller than `mss` take fewer bytes than their number says, and then the window bounds that.
    pub fn ack(&mut self, seen: Seen, packets: u32, tally: &mut Tally) {
        let una_before = std::mem::replace(&mut self.una_at_ack, self.una).or(self.una_before);
        let (Some(nxt), Some(una_before)) = (self.nxt, una_before) else { return };
        let Ok(bytes) = u32::try_from(ahead(nxt, una_before)) else { return };
        let in_flight = bytes.div_ceil(seen.conn.mss);
        let what = || format!("{packets} packets acknowledged, {in_flight} in flight");
        tally.check(Rule::Acked, seen.line, packets <= in_flight.max(self.widest), what);
    }

    pub fn note_window(&mut self, cwnd: u32) {
        self.widest = self.widest.max(cwnd);
    }
}
