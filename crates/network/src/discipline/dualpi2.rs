// SPDX-License-Identifier: MIT OR Apache-2.0
//! DualPI2 (RFC 9332 appendix A): a short queue for L4S packets beside a Classic one, coupled, so that flows of either kind get about the
//! same rate. A proportional-integral controller of the Classic queue's delay sets a base probability p'. Classic packets are dropped
//! (or marked) with p'^2, L4S packets marked with k p' or with what their own queue asks for, whichever is more.

use tandem_scenario::aqm::DualPi2;

use super::{AtDeparture, Rest, Waiting};
use crate::{Ecn, Packet, Ring};

/// The two queues [RFC 9332 2.2].
#[derive(Debug)]
pub(crate) struct Queues<P> {
    dualpi2: DualPi2,
    l4s: Queue<P>,
    classic: Queue<P>,
    /// p'.
    base: f64,
    /// The delay at the last update, ns.
    old_delay: u64,
    next_update: u64,
    /// Bytes that the Classic queue may send before the L4S queue goes on.
    classic_credit: f64,
    marks: Recurrence,
    drops: Recurrence,
    overload_drops: Recurrence,
}

#[derive(Debug)]
struct Queue<P> {
    packets: Ring<Met<P>>,
    bytes: u64,
}

/// A packet, and how many it met in its queue.
#[derive(Debug, Clone, Copy, Default)]
struct Met<P> {
    packet: Waiting<P>,
    met: usize,
}

/// Says yes with a given likelihood, as evenly spread as can be (`recur`) [RFC 9332 A.1].
#[derive(Debug, Default)]
struct Recurrence(f64);

impl Recurrence {
    fn comes(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let comes = self.0 >= 1.0;
        if comes {
            self.0 -= 1.0;
        }
        comes
    }
}

impl<P: Packet> Default for Queue<P> {
    fn default() -> Self {
        Self { packets: Ring::default(), bytes: 0 }
    }
}

impl<P: Packet> Queue<P> {
    fn push(&mut self, packet: Waiting<P>) {
        self.bytes += u64::from(packet.bytes);
        let met = self.packets.len();
        self.packets.push(Met { packet, met });
    }

    fn pop(&mut self) -> Option<Met<P>> {
        let head = self.packets.pop()?;
        self.bytes -= u64::from(head.packet.bytes);
        Some(head)
    }

    /// How long the head has waited at `now`, ns; 0 if there is none.
    fn delay(&self, now: u64) -> u64 {
        self.packets.first().map_or(0, |head| now.saturating_sub(head.packet.arrival))
    }
}

impl<P: Packet> Queues<P> {
    pub fn new(dualpi2: DualPi2) -> Self {
        Self {
            dualpi2,
            l4s: Queue::default(),
            classic: Queue::default(),
            base: 0.0,
            old_delay: 0,
            next_update: dualpi2.update.ns,
            classic_credit: 0.0,
            marks: Recurrence::default(),
            drops: Recurrence::default(),
            overload_drops: Recurrence::default(),
        }
    }

    /// Does the updates that are due. Since the last call nothing has come or gone.
    #[inline(always)]
    fn catch_up(&mut self, now: u64) {
        if self.next_update <= now {
            self.update_until(now);
        }
    }

    #[cold]
    fn update_until(&mut self, now: u64) {
        let interval = self.dualpi2.update.ns;
        while self.next_update <= now {
            let at = self.next_update;
            self.next_update += interval;
            // `dualpi2_update` [RFC 9332 A.2]: the longer of the two, so that L4S packets alone cannot overload the link unnoticed.
            self.update(self.classic.delay(at).max(self.l4s.delay(at)));
            if self.is_calm() && self.next_update <= now {
                self.next_update += (now - self.next_update) / interval * interval + interval;
            }
        }
    }

    /// Does nothing change until something has to wait?
    fn is_calm(&self) -> bool {
        self.base == 0.0 && self.old_delay == 0 && self.waiting_packets() == 0
    }

    /// `dualpi2_update` [RFC 9332 A.1], with the delay of this time, ns.
    fn update(&mut self, delay: u64) {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let DualPi2 { target, alpha, beta, .. } = self.dualpi2;
        let (error, rise) = (seconds(delay) - seconds(target.ns), seconds(delay) - seconds(self.old_delay));
        self.base = (self.base + alpha * error + beta * rise).clamp(0.0, 1.0);
        self.old_delay = delay;
    }

    /// `laqm` [RFC 9332 A.1]: the likelihood of a mark that the L4S queue itself asks for.
    fn native(&self, waited: u64, met: usize) -> f64 {
        let DualPi2 { min_threshold, range, min_packets, .. } = self.dualpi2;
        if met < min_packets as usize || waited <= min_threshold.ns {
            return 0.0;
        }
        let above = waited - min_threshold.ns;
        if above >= range.ns { 1.0 } else { above as f64 / range.ns as f64 }
    }

    /// L4S packets go first [RFC 9332 2.4], except that the Classic queue has its share: it must not starve [RFC 9332 4.2.2].
    fn is_l4s_turn(&mut self) -> bool {
        let (Some(l4s), Some(classic)) = (self.l4s.packets.first(), self.classic.packets.first()) else {
            self.classic_credit = 0.0;
            return !self.l4s.packets.is_empty();
        };
        if self.classic_credit >= f64::from(classic.packet.bytes) {
            self.classic_credit -= f64::from(classic.packet.bytes);
            return false;
        }
        let share = self.dualpi2.classic_share;
        self.classic_credit += f64::from(l4s.packet.bytes) * share / (1.0 - share);
        true
    }

    fn lets_pass(&mut self, now: u64, packet: &mut Waiting<P>, is_l4s: bool, met: usize) -> bool {
        if is_l4s { self.lets_l4s_pass(now, packet, met) } else { self.lets_classic_pass(packet) }
    }

    /// Does a packet belong to the L4S queue? [RFC 9332 2.3] [RFC 9331 5.1]
    fn is_l4s(packet: &P) -> bool {
        matches!(packet.ecn(), Ecn::Scalable | Ecn::Marked)
    }

    /// `dualpi2_dequeue` [RFC 9332 A.2]: may the head of the L4S queue go, marked or not? Marks are k p' [RFC 9332 2.1] [RFC 9331 5.2].
    fn lets_l4s_pass(&mut self, now: u64, packet: &mut Waiting<P>, met: usize) -> bool {
        let coupled = self.dualpi2.k * self.base;
        if coupled < 1.0 {
            let native = self.native(now - packet.arrival, met);
            if self.marks.comes(native.max(coupled)) {
                packet.mark();
            }
            return true;
        }
        // Overload: marks do not help any more [RFC 9332 4.2.3].
        if self.overload_drops.comes(self.base * self.base) {
            return false;
        }
        packet.mark();
        true
    }

    /// `dualpi2_dequeue` [RFC 9332 A.2]: may the head of the Classic queue go, marked or not? Drops are p'^2 [RFC 9332 2.1].
    fn lets_classic_pass(&mut self, packet: &mut Waiting<P>) -> bool {
        let is_overloaded = self.dualpi2.k * self.base >= 1.0;
        !self.drops.comes(self.base * self.base) || self.dualpi2.ecn && !is_overloaded && packet.mark()
    }
}

impl<P: Packet> AtDeparture<P> for Queues<P> {
    #[inline(always)]
    fn push(&mut self, packet: Waiting<P>) {
        self.catch_up(packet.arrival);
        let queue = if Self::is_l4s(&packet.packet) { &mut self.l4s } else { &mut self.classic };
        queue.push(packet);
    }

    #[inline(always)]
    fn pop(&mut self, now: u64, mut dropped: impl FnMut(Waiting<P>)) -> Option<Waiting<P>> {
        self.catch_up(now);
        while self.waiting_packets() > 0 {
            let is_l4s = self.is_l4s_turn();
            let queue = if is_l4s { &mut self.l4s } else { &mut self.classic };
            let Met { mut packet, met } = queue.pop()?;
            let passes = self.lets_pass(now, &mut packet, is_l4s, met);
            if passes {
                return Some(packet);
            }
            dropped(packet);
        }
        None
    }

    fn pass(&mut self, mut packet: Waiting<P>) -> Option<Waiting<P>> {
        let now = packet.arrival;
        self.catch_up(now);
        self.classic_credit = 0.0;
        let is_l4s = Self::is_l4s(&packet.packet);
        self.lets_pass(now, &mut packet, is_l4s, 0).then_some(packet)
    }

    /// With p' at 0 and nothing that waits, nothing is marked or dropped, and the updates leave p' where it is.
    fn rest(&self) -> Rest {
        if self.is_calm() && self.classic_credit == 0.0 { Rest::Silent } else { Rest::None }
    }

    fn waiting_packets(&self) -> usize {
        self.l4s.packets.len() + self.classic.packets.len()
    }

    fn waiting_bytes(&self) -> u64 {
        self.l4s.bytes + self.classic.bytes
    }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::units::Span;

    use super::*;

    /// A packet of which nothing matters.
    #[derive(Debug, Clone, Copy, Default)]
    struct Plain;

    impl Packet for Plain {
        type Returning = Plain;
        fn bytes(&self) -> u32 {
            1500
        }
        fn place(&self) -> u32 {
            0
        }
        fn set_place(&mut self, _: u32) {}
    }

    const MS: u64 = 1_000_000;

    fn queues() -> Queues<Plain> {
        let us = |us: u64| Span { ns: us * 1000 };
        Queues::new(DualPi2 {
            target: us(15_000),
            update: us(16_000),
            alpha: 0.16,
            beta: 3.2,
            k: 2.0,
            min_threshold: us(800),
            range: us(400),
            min_packets: 1,
            classic_share: 0.1,
            ecn: true,
        })
    }

    /// From 0 to 40 ms: 0.16 * 0.025 + 3.2 * 0.040 = 0.132. Again 40 ms: 0.004 more. Empty: 0.136 - 0.16 * 0.015 - 3.2 * 0.040 = 0.0056.
    /// [RFC 9332 A.1]
    #[test]
    fn updates_by_hand() {
        let mut queues = queues();
        for (delay_ms, expected) in [(40, 0.132), (40, 0.136), (0, 0.0056), (0, 0.0032), (0, 0.0008), (0, 0.0)] {
            queues.update(delay_ms * MS);
            assert!((queues.base - expected).abs() < 1e-12, "{}", queues.base);
        }
    }
}
