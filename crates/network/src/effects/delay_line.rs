// SPDX-License-Identifier: MIT OR Apache-2.0
//! A place for each packet between the link and its far end, as `tc netem` has them: its `limit`.

use std::{cmp::Reverse, collections::BinaryHeap};

#[derive(Debug)]
pub struct DelayLine {
    places: usize,
    /// When those that are in it arrive, ns.
    arrivals: BinaryHeap<Reverse<u64>>,
}

impl DelayLine {
    pub fn new(places: u32) -> Self {
        Self { places: places as usize, arrivals: BinaryHeap::new() }
    }

    /// Is there room for a packet that leaves the link at `departure`, ns? One that arrives at this moment makes room.
    pub fn has_room(&mut self, departure: u64) -> bool {
        while self.arrivals.peek().is_some_and(|Reverse(at)| *at <= departure) {
            self.arrivals.pop();
        }
        self.arrivals.len() < self.places
    }

    /// A packet takes a place until it arrives at `at`, ns.
    pub fn enter(&mut self, at: u64) {
        self.arrivals.push(Reverse(at));
    }
}
