// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packets of a flow of UDP, which nobody sends again: when they were sent, and what they met on their way.

use std::collections::VecDeque;

use tandem_engine::{Counters, Quality};
use tandem_scenario::Scenario;

/// This many later packets may arrive before the time of sending of one is forgotten: far more than [`Quality`] waits for.
const REMEMBERED: u64 = 1024;

pub struct Unanswered {
    sent: u64,
    /// Copies included.
    received: u64,
    pub quality: Quality,
    /// When packets were sent, from the number `first` on.
    sent_at: VecDeque<u64>,
    first: u64,
}

impl Unanswered {
    /// Packets sent after the warm-up count.
    pub fn of(scenario: &Scenario) -> Self {
        let quality = Quality::new(scenario.warmup.ns..scenario.duration.ns);
        Self { sent: 0, received: 0, quality, sent_at: VecDeque::new(), first: 0 }
    }

    /// A packet is sent. Returns its number.
    pub fn send(&mut self, now: u64) -> u64 {
        self.sent_at.push_back(now);
        self.sent += 1;
        self.sent - 1
    }

    /// The packet `number` arrives. Returns when it was sent; `None`: so long ago that it is forgotten.
    pub fn arrive(&mut self, now: u64, number: u64) -> Option<u64> {
        self.received += 1;
        let sent_at = self.sent_at(number)?;
        self.quality.arrive(now, number, sent_at);
        if let Some(forgotten) = (number - self.first).checked_sub(REMEMBERED) {
            self.sent_at.drain(..forgotten as usize);
            self.first += forgotten;
        }
        Some(sent_at)
    }

    /// When the packet `number` was sent; `None`: so long ago that it is forgotten.
    pub fn sent_at(&self, number: u64) -> Option<u64> {
        let place = number.checked_sub(self.first)?;
        Some(self.sent_at[place as usize])
    }

    pub fn counters(&self) -> Counters {
        Counters { received: self.received, sent_packets: self.sent, ..Counters::default() }
    }
}
