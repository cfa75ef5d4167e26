// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data of an application that offers it at a rate, which may change.

use std::{collections::VecDeque, mem};

use tandem_network::{Rng, agenda::NEVER};
use tandem_scenario::{Process, Transfer, units::Rate};

use crate::{transfers::Due, writes::Writes};

/// Data at a rate.
#[derive(Debug)]
pub(crate) struct Offer {
    current: Phase,
    /// When the phases after it begin, ns, and their rates.
    later: VecDeque<(u64, Option<u64>)>,
    stop: u64,
    /// When pieces come, and how many; `None`: evenly, one by one.
    process: Option<Process>,
    rng: Rng,
    piece_bytes: u32,
    /// What a piece has, in the engine's unit.
    piece_units: u64,
}

/// What is offered for a while.
#[derive(Debug)]
enum Phase {
    /// All that the window takes. `false`: nobody has been told yet.
    Unlimited(bool),
    Nothing,
    Pieces(Writes),
}

impl Offer {
    /// What a transfer offers from `start` until before `stop`, ns, if it does. The engine counts data in units of `unit_bytes`; `rng` is for
    /// an application that writes at random.
    pub fn new(transfer: &Transfer, unit_bytes: u32, start: u64, stop: u64, rng: Rng) -> Option<Self> {
        let Transfer::Offered { rate_bps, piece_bytes, process, changes } = transfer else { return None };
        let mut offer = Self {
            current: Phase::Nothing,
            later: changes.iter().map(|change| (change.at.ns, change.rate_bps)).collect(),
            stop,
            process: process.clone(),
            rng,
            piece_bytes: *piece_bytes,
            piece_units: u64::from(piece_bytes.div_ceil(unit_bytes)),
        };
        // A flow with a random start may begin after some of the changes.
        let mut rate_bps = *rate_bps;
        while offer.later.front().is_some_and(|&(at, _)| at <= start) {
            rate_bps = offer.later.pop_front().and_then(|(_, bps)| bps);
        }
        offer.current = offer.phase(rate_bps, start);
        Some(offer)
    }

    fn phase(&mut self, rate_bps: Option<u64>, from: u64) -> Phase {
        match rate_bps {
            None => Phase::Unlimited(false),
            Some(0) => Phase::Nothing,
            Some(bps) => {
                let (rate, until) = (Rate { bps }, self.ends().min(self.stop));
                Phase::Pieces(Writes::new(self.process.as_ref(), rate, self.piece_bytes, from..until, &mut self.rng))
            }
        }
    }

    /// When this phase ends, ns.
    fn ends(&self) -> u64 {
        self.later.front().map_or(NEVER, |(at, _)| *at)
    }

    /// What is due at `now`. After a late look there may be more at the same time: [`next`](Self::next) says so.
    pub fn take(&mut self, now: u64) -> Due {
        match &mut self.current {
            Phase::Unlimited(is_told) => {
                if !mem::replace(is_told, true) {
                    return Due::Begin(None);
                }
            }
            Phase::Nothing => {}
            Phase::Pieces(pieces) => {
                let mut units = 0;
                while pieces.is_due(now) {
                    units += pieces.pieces() * self.piece_units;
                    pieces.written(&mut self.rng);
                }
                if units > 0 {
                    return Due::Begin(Some(units));
                }
            }
        }
        let Some(&(at, rate_bps)) = self.later.front().filter(|(at, _)| *at <= now) else { return Due::Nothing };
        self.later.pop_front();
        let was_unlimited = matches!(self.current, Phase::Unlimited(_));
        self.current = self.phase(rate_bps, at);
        // What an application has given it does not take back, but nobody has endless data any longer.
        if was_unlimited && rate_bps.is_some() { Due::Stop } else { self.take(now) }
    }

    /// When to ask next, ns.
    pub fn next(&self) -> u64 {
        match &self.current {
            Phase::Unlimited(false) => 0,
            Phase::Unlimited(true) | Phase::Nothing => self.ends(),
            Phase::Pieces(pieces) => pieces.next().min(self.ends()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tandem_network::Stream;
    use tandem_scenario::{OfferChange, units::Span};

    const MS: u64 = 1_000_000;

    fn offer(rate_bps: Option<u64>, changes: &[(u64, Option<u64>)]) -> Offer {
        let change = |&(ms, rate_bps): &(u64, _)| OfferChange { at: Span::from_ms(ms), rate_bps };
        let changes = changes.iter().map(change).collect();
        let offered = Transfer::Offered { rate_bps, piece_bytes: 1000, process: None, changes };
        Offer::new(&offered, 1000, 0, NEVER, Rng::new(1, Stream::Transfers(0))).unwrap()
    }

    /// All that is due from `from` to `until`, asked for when it says, with its time in ms.
    fn due(offer: &mut Offer, from: u64, until: u64) -> Vec<(u64, Due)> {
        let mut now = from * MS;
        let mut all = Vec::new();
        while now < until * MS {
            match offer.take(now) {
                Due::Nothing => {}
                due => all.push((now / MS, due)),
            }
            now = offer.next().max(now);
        }
        all
    }

    /// 8 Mb/s are 1000 bytes each millisecond. Endless data until 3 ms, then that rate until before 6 ms, nothing until 8 ms, endless again.
    #[test]
    fn an_offer_changes() {
        let mut offer = offer(None, &[(3, Some(8_000_000)), (6, Some(0)), (8, None)]);
        let piece = Due::Begin(Some(1));
        let expected =
            [(0, Due::Begin(None)), (3, Due::Stop), (3, piece), (4, piece), (5, piece), (8, Due::Begin(None))];
        assert_eq!(due(&mut offer, 0, 20), expected);
        assert_eq!(offer.next(), NEVER);
    }

    /// A look at 10 ms finds the two phases that have passed: pieces of 0, 1 and 2 ms, then of 3, 5, 7 and 9 ms.
    #[test]
    fn a_late_look_finds_all() {
        let mut offer = offer(Some(8_000_000), &[(3, Some(4_000_000))]);
        assert_eq!(offer.take(10 * MS), Due::Begin(Some(3)));
        assert!(offer.next() <= 10 * MS);
        assert_eq!((offer.take(10 * MS), offer.next()), (Due::Begin(Some(4)), 11 * MS));
    }
}
