// SPDX-License-Identifier: MIT OR Apache-2.0
//! FQ-CoDel (RFC 8290): a queue with CoDel for each flow, as far as flows do not share one by chance, served in turn by bytes. Queues that
//! have just become busy go first.

use tandem_scenario::{Limit, aqm::FqCodel};

use super::{AtDeparture, Rest, Waiting, codel::Sojourn};
use crate::{Packet, Ring, rng::mix};

/// At most this many packets are taken out of the longest queue at a time (section 4.1).
const BATCH: usize = 64;

#[derive(Debug)]
pub(crate) struct Queues<P> {
    queues: Vec<Queue<P>>,
    /// Queues that wait for their turn, by number.
    new: Ring<u32>,
    old: Ring<u32>,
    quantum: i64,
    packets: usize,
    bytes: u64,
    /// Taken out since the last [`AtDeparture::pop`].
    evicted: Vec<Waiting<P>>,
}

#[derive(Debug)]
struct Queue<P> {
    packets: Sojourn<P>,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    is_listed: bool,
}

impl<P: Packet> Queues<P> {
    /// `mtu` in bytes.
    pub fn new(fq_codel: FqCodel, mtu: u32) -> Self {
        let queue = |_| Queue { packets: Sojourn::new(fq_codel.codel, mtu), deficit: 0, is_listed: false };
        Self {
            queues: (0..fq_codel.flows).map(queue).collect(),
            new: Ring::default(),
            old: Ring::default(),
            quantum: fq_codel.quantum_bytes.into(),
            packets: 0,
            bytes: 0,
            evicted: Vec::new(),
        }
    }

    /// The number of the queue of a packet's flow.
    fn number(&self, packet: &P) -> u32 {
        // Each flow has places of its own.
        let flow = u64::from(packet.place()) << 32 | u64::from(packet.conversation());
        let (hash, queues) = (mix(flow.wrapping_add(0x9e37_79b9_7f4a_7c15)), self.queues.len() as u64);
        // Nearly always a power of two, and a division takes as long as all the rest.
        (if queues.is_power_of_two() { hash & (queues - 1) } else { hash % queues }) as u32
    }

    /// The queue whose turn it is, and whether that is one of the new; `None`: no queue waits for its turn.
    #[inline(always)]
    fn in_turn(&self) -> Option<(u32, bool)> {
        match self.new.first() {
            Some(number) => Some((number, true)),
            None => self.old.first().map(|number| (number, false)),
        }
    }

    /// A queue that waits for no turn waits among the new ones.
    #[inline(always)]
    fn list(&mut self, number: u32) {
        let queue = &mut self.queues[number as usize];
        if !queue.is_listed {
            (queue.is_listed, queue.deficit) = (true, self.quantum);
            self.new.push(number);
        }
    }

    /// The turn is over of a queue that was empty (`is_empty`) or had sent all that it may. A new queue that is empty has to wait among the old
    /// ones, so that it cannot come back at once.
    #[inline(always)]
    fn end_turn(&mut self, number: u32, is_new: bool, is_empty: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.skip();
        let queue = &mut self.queues[number as usize];
        if !is_empty {
            queue.deficit += self.quantum;
        }
        if is_empty && !is_new {
            queue.is_listed = false;
        } else {
            self.old.push(number);
        }
    }

    /// Section 4.1: takes half of the longest queue out at its head, at most [`BATCH`].
    #[cold]
    fn evict(&mut self) {
        let longest = self.queues.iter_mut().max_by_key(|queue| queue.packets.waiting_bytes());
        let Some(longest) = longest else { return };
        let enough = longest.packets.waiting_bytes() / 2;
        let (mut taken_bytes, mut taken) = (0, 0);
        while taken < BATCH
            && (taken == 0 || taken_bytes < enough)
            && let Some(packet) = longest.packets.take_head()
        {
            taken += 1;
            taken_bytes += u64::from(packet.bytes);
            self.evicted.push(packet);
        }
        self.packets -= taken;
        self.bytes -= taken_bytes;
    }
}

impl<P: Packet> AtDeparture<P> for Queues<P> {
    #[inline(always)]
    fn push(&mut self, packet: Waiting<P>) {
        let number = self.number(&packet.packet);
        self.packets += 1;
        self.bytes += u64::from(packet.bytes);
        self.queues[number as usize].packets.push(packet);
        self.list(number);
    }

    #[inline(always)]
    fn pop(&mut self, now: u64, mut dropped: impl FnMut(Waiting<P>)) -> Option<Waiting<P>> {
        if !self.evicted.is_empty() {
            self.evicted.drain(..).for_each(&mut dropped);
        }
        loop {
            let (number, is_new) = self.in_turn()?;
            let Self { queues, packets, bytes, .. } = self;
            let queue = &mut queues[number as usize];
            let has_turn = queue.deficit > 0;
            if has_turn {
                let mut gone = |packet: &Waiting<P>| {
                    *packets -= 1;
                    *bytes -= u64::from(packet.bytes);
                };
                let popped = queue.packets.pop(now, |packet| {
                    gone(&packet);
                    dropped(packet);
                });
                if let Some(packet) = popped {
                    gone(&packet);
                    queue.deficit -= i64::from(packet.bytes);
                    return Some(packet);
                }
            }
            self.end_turn(number, is_new, has_turn);
        }
    }

    #[inline(always)]
    fn pass(&mut self, packet: Waiting<P>) -> Option<Waiting<P>> {
        self.pass_by(&packet.packet, packet.bytes);
        Some(packet)
    }

    /// CoDel lets a packet pass that has not waited, but queues take their turns.
    #[inline(always)]
    fn pass_by(&mut self, packet: &P, bytes: u32) {
        let own = self.number(packet);
        self.list(own);
        while let Some((number, is_new)) = self.in_turn() {
            let queue = &mut self.queues[number as usize];
            let has_turn = queue.deficit > 0;
            if has_turn {
                queue.packets.emptied();
                if number == own {
                    queue.deficit -= i64::from(bytes);
                    return;
                }
            }
            self.end_turn(number, is_new, has_turn);
        }
    }

    fn rest(&self) -> Rest {
        if self.packets == 0 { Rest::Heard } else { Rest::None }
    }

    fn keeps_limit(&self) -> bool {
        true
    }

    #[inline]
    fn shrink(&mut self, limit: Limit) {
        let exceeds = |queues: &Self| match limit {
            Limit::Packets(limit) => queues.packets > limit as usize,
            Limit::Bytes(limit) => queues.bytes > limit,
        };
        while exceeds(self) && self.packets > 1 {
            self.evict();
        }
    }

    fn waiting_packets(&self) -> usize {
        self.packets
    }

    fn waiting_bytes(&self) -> u64 {
        self.bytes
    }
}
