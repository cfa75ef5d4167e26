// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whatever is lost, late or doubled: every transfer completes, exactly once and in order, and the scoreboard's counts are those of
//! its flags after every step ([`Wire::step`] audits it).

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tandem_controllers::{Conn, State};
use tandem_testing::random_test;

use super::wire::{Wire, reno};
use crate::{Config, Recovery, segment::Feedback};

/// xorshift64*: independent of the simulator's generator.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn permille(&mut self, permille: u64) -> bool {
        self.below(1000) < permille
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Source {
    delayed_acks: bool,
    pacing: bool,
    initial_window: u32,
    receive_window: Option<u32>,
    rate_halving: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Case {
    segments: u64,
    source: Source,
    dice: u64,
    data_loss: u64,
    ack_loss: u64,
    copies: u64,
    /// The share of transmissions that are late, in percent, and by how much at most, us.
    late: (u64, u64),
    /// Transmissions, counted over the connection, that are lost in a row: (first, how many).
    bursts: Vec<(usize, usize)>,
    packet_us: u64,
    one_way_us: u64,
}

fn source() -> impl Strategy<Value = Source> {
    (any::<bool>(), any::<bool>(), 1..40u32, proptest::option::of(1..60u32), any::<bool>()).prop_map(
        |(delayed_acks, pacing, initial_window, receive_window, rate_halving)| Source {
            delayed_acks,
            pacing,
            initial_window,
            receive_window,
            rate_halving,
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let losses = (0..=30u64, 0..=30u64, prop_oneof![Just(0), 0..=30u64]);
    let late = prop_oneof![Just((0, 1)), (0..=50u64, 1..400_000u64)];
    let bursts = proptest::collection::vec((0..400usize, 1..50usize), 0..4);
    (1..400u64, source(), 1..=u64::MAX, losses, late, bursts, 0..3000u64, 1..100_000u64).prop_map(
        |(segments, source, dice, (data_loss, ack_loss, copies), late, bursts, packet_us, one_way_us)| Case {
            segments,
            source,
            dice,
            data_loss,
            ack_loss,
            copies,
            late,
            bursts,
            packet_us,
            one_way_us,
        },
    )
}

fn check(case: Case) -> Result<(), TestCaseError> {
    let Source { delayed_acks, pacing, initial_window, receive_window, rate_halving } = case.source;
    let recovery = if rate_halving { Recovery::RateHalving } else { Recovery::Prr };
    let mut wire = Wire::new(&Config { delayed_acks, pacing, initial_window, receive_window, recovery, ..reno() });
    (wire.forward_ns, wire.back_ns) = (case.one_way_us * 1000, case.one_way_us * 1000);
    wire.packet_ns = case.packet_us * 1000;
    let arrived = Rc::new(RefCell::new(BTreeSet::new()));
    let (mut dice, mut nth, bursts, percent) = (Dice(case.dice), 0, case.bursts, case.data_loss);
    let seen = Rc::clone(&arrived);
    wire.loses = Box::new(move |seq, _| {
        nth += 1;
        let lost = dice.percent(percent) || bursts.iter().any(|&(first, n)| (first..first + n).contains(&nth));
        if !lost {
            seen.borrow_mut().insert(seq);
        }
        lost
    });
    let (mut dice, percent) = (Dice(case.dice.rotate_left(21)), case.ack_loss);
    wire.loses_ack = Box::new(move |_| dice.percent(percent));
    let (mut dice, percent) = (Dice(case.dice.rotate_left(42)), case.copies);
    wire.copies = Box::new(move |_, _| 1 + usize::from(dice.percent(percent)));
    let (mut dice, (percent, most_us)) = (Dice(case.dice.rotate_left(11)), case.late);
    wire.late_ns = Box::new(move |_, _| if dice.percent(percent) { 1000 * dice.below(most_us) } else { 0 });

    wire.give(case.segments);
    let (mut delivered, mut steps) = (0, 0);
    while !wire.sender.is_done() {
        wire.step();
        steps += 1;
        if rate_halving && wire.sender.state == State::Recovery {
            let Conn { snd_cwnd, .. } = wire.sender.conn;
            prop_assert!(
                u64::from(snd_cwnd) <= wire.sender.board.in_flight() + 1,
                "one above what is in flight at most"
            );
        }
        prop_assert!(steps < 200_000, "the transfer never ends");
        prop_assert!(wire.sender.conn.snd_cwnd >= 1);
        prop_assert!(wire.receiver.next_expected >= delivered, "the application takes nothing back");
        delivered = wire.receiver.next_expected;
        if let Some((at, ack)) = wire.acks.last().filter(|(at, _)| *at == wire.now) {
            let arrived = arrived.borrow();
            prop_assert!((0..ack.next_expected).all(|seq| arrived.contains(&seq)), "unsent data acknowledged at {at}");
            for block in ack.feedback.iter().filter_map(Feedback::blocks).flatten().filter(|b| b.start < b.end) {
                prop_assert!(block.start > ack.next_expected, "a block starts above the hole");
                prop_assert!((block.start..block.end).all(|seq| arrived.contains(&seq)), "unsent data SACKed at {at}");
            }
        }
    }
    prop_assert_eq!(wire.receiver.next_expected, case.segments);
    prop_assert_eq!(wire.sender.board.in_flight(), 0);
    let counters = wire.sender.counters;
    prop_assert_eq!(counters.sent as usize, wire.sent.len());
    // What was not sent again was sent once.
    prop_assert_eq!(counters.sent - counters.retransmits, case.segments);
    Ok(())
}

#[test]
fn random_transfers_complete() {
    random_test!(random_transfers_complete, 1500).run(case(), check);
}
