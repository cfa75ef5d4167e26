// SPDX-License-Identifier: MIT OR Apache-2.0
//! CoDel (RFC 8289): decides at departure, by how long a packet has waited.

use tandem_scenario::aqm::Codel;

use super::{AtDeparture, Rest, Waiting};
use crate::{Packet, Ring};

/// One queue under CoDel.
#[derive(Debug)]
pub(crate) struct Sojourn<P> {
    law: ControlLaw,
    queue: Ring<Waiting<P>>,
    bytes: u64,
    /// With at most one MTU queued, CoDel never drops (MAXPACKET in RFC 8289).
    mtu: u64,
    /// Are ECN-capable packets marked instead of dropped?
    marks: bool,
}

impl<P: Packet> Sojourn<P> {
    /// `mtu` in bytes.
    pub fn new(codel: Codel, mtu: u32) -> Self {
        let law = ControlLaw::new(codel.target.ns, codel.interval.ns);
        Self { law, queue: Ring::default(), bytes: 0, mtu: mtu.into(), marks: codel.ecn }
    }
}

impl<P: Packet> Sojourn<P> {
    /// The queue has run empty, or its only packet passes.
    #[inline(always)]
    pub fn emptied(&mut self) {
        self.law.emptied();
    }

    /// Takes the head out, whatever the law says.
    pub fn take_head(&mut self) -> Option<Waiting<P>> {
        let head = self.queue.pop()?;
        self.bytes -= u64::from(head.bytes);
        Some(head)
    }
}

impl<P: Packet> AtDeparture<P> for Sojourn<P> {
    fn push(&mut self, packet: Waiting<P>) {
        self.bytes += u64::from(packet.bytes);
        self.queue.push(packet);
    }

    #[inline(always)]
    fn pop(&mut self, now: u64, mut dropped: impl FnMut(Waiting<P>)) -> Option<Waiting<P>> {
        while let Some(mut head) = self.queue.pop() {
            self.bytes -= u64::from(head.bytes);
            let stands = self.law.queue_stands(now, now - head.arrival, self.bytes <= self.mtu);
            if !self.law.drops(now, stands) || self.marks && head.mark() {
                return Some(head);
            }
            dropped(head);
        }
        self.law.emptied();
        None
    }

    /// It has not waited, so the law lets it pass.
    fn pass(&mut self, packet: Waiting<P>) -> Option<Waiting<P>> {
        self.law.emptied();
        Some(packet)
    }

    fn rest(&self) -> Rest {
        if self.queue.is_empty() && self.law.is_at_rest() { Rest::Silent } else { Rest::None }
    }

    fn waiting_packets(&self) -> usize {
        self.queue.len()
    }

    fn waiting_bytes(&self) -> u64 {
        self.bytes
    }
}

/// The control law's state; times in nanoseconds.
#[derive(Debug, Clone)]
struct ControlLaw {
    target: u64,
    interval: u64,
    /// When the sojourn time will have been above target for an interval; 0 = it is below.
    first_above: u64,
    dropping: bool,
    drop_next: u64,
    count: u32,
    last_count: u32,
}

impl ControlLaw {
    fn new(target: u64, interval: u64) -> Self {
        Self { target, interval, first_above: 0, dropping: false, drop_next: 0, count: 0, last_count: 0 }
    }

    /// RFC 8289 section 5.6: has the queue stood for a whole interval? `sojourn` is the head's, `backlog_is_small` means that
    /// at most one MTU waits.
    fn queue_stands(&mut self, now: u64, sojourn: u64, backlog_is_small: bool) -> bool {
        if sojourn < self.target || backlog_is_small {
            self.first_above = 0;
            false
        } else if self.first_above == 0 {
            self.first_above = now + self.interval;
            false
        } else {
            now >= self.first_above
        }
    }

    /// Is the head to be dropped? Called with the answer of [`Self::queue_stands`]. After a drop the next head is judged
    /// in turn.
    fn drops(&mut self, now: u64, stands: bool) -> bool {
        if self.dropping {
            if !stands {
                self.dropping = false;
                return false;
            }
            if now < self.drop_next {
                return false;
            }
            self.count += 1;
            self.drop_next = self.control_law(self.drop_next);
            return true;
        }
        if !stands {
            return false;
        }
        self.dropping = true;
        // Section 5.4: resume near the last rate if dropping stopped only recently.
        let since = self.count - self.last_count;
        let recently = now.saturating_sub(self.drop_next) < 16 * self.interval;
        self.count = if since > 1 && recently { since } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        true
    }

    /// The queue ran empty.
    fn emptied(&mut self) {
        self.first_above = 0;
        self.dropping = false;
    }

    fn is_at_rest(&self) -> bool {
        self.first_above == 0 && !self.dropping
    }

    fn control_law(&self, from: u64) -> u64 {
        from + (self.interval as f64 / f64::from(self.count).sqrt()) as u64
    }
}
