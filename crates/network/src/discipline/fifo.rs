// SPDX-License-Identifier: MIT OR Apache-2.0
//! First in, first out, with the packets in it.

use std::collections::VecDeque;

use super::{AtArrival, AtDeparture, Waiting};
use crate::Packet;

/// One queue, under a discipline that decides at arrival, or drop-tail.
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    judge: Option<Box<dyn AtArrival>>,
    queue: VecDeque<Waiting<P>>,
    bytes: u64,
}

impl<P> Fifo<P> {
    pub fn new(judge: Option<Box<dyn AtArrival>>) -> Self {
        Self { judge, queue: VecDeque::new(), bytes: 0 }
    }
}

impl<P: Packet> AtDeparture<P> for Fifo<P> {
    fn judge(&mut self) -> Option<&mut dyn AtArrival> {
        let judge = self.judge.as_mut()?;
        Some(&mut **judge)
    }

    fn push(&mut self, packet: Waiting<P>) {
        self.bytes += u64::from(packet.bytes);
        self.queue.push_back(packet);
    }

    fn pop(&mut self, _now: u64, _dropped: impl FnMut(Waiting<P>)) -> Option<Waiting<P>> {
        let head = self.queue.pop_front()?;
        self.bytes -= u64::from(head.bytes);
        Some(head)
    }

    fn waiting_packets(&self) -> usize {
        self.queue.len()
    }

    fn waiting_bytes(&self) -> u64 {
        self.bytes
    }
}
