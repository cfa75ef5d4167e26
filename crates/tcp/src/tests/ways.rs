// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fast ways of both ends give what the slow one gives: what is sent when, each ACK, each RTT, each window.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tandem_controllers::{Params, find};
use tandem_testing::random_test;

use super::{property::Dice, wire::Wire};
use crate::{Config, Ecn, Recovery};

/// A controller, and what its connection does about ECN.
const SOURCES: [(&str, Ecn); 8] = [
    ("bbr", Ecn::Off),
    ("bbr3", Ecn::Off),
    ("bbr3", Ecn::Accurate),
    ("prague", Ecn::Accurate),
    ("dctcp", Ecn::Accurate),
    ("cubic", Ecn::Rfc3168),
    ("reno", Ecn::Rfc8511),
    ("reno", Ecn::Off),
];

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Case {
    source: usize,
    segments: u64,
    delayed_acks: bool,
    pacing: bool,
    rate_halving: bool,
    receive_window: Option<u32>,
    dice: u64,
    /// Shares of what is lost, marked, doubled and late, 1/1000, and by how much late at most, us.
    data_loss: u64,
    ack_loss: u64,
    marks: u64,
    copies: u64,
    late: (u64, u64),
    packet_us: u64,
    one_way_us: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let source = (0..SOURCES.len(), any::<bool>(), any::<bool>(), any::<bool>());
    let rare = || prop_oneof![2 => Just(0), 1 => 0..20u64, 1 => 0..200u64];
    let late = prop_oneof![2 => Just((0, 1)), 1 => (0..100u64, 1..50_000u64)];
    let path = (0..500u64, 100..30_000u64, proptest::option::of(5..200u32));
    (source, 1..2000u64, 1..=u64::MAX, (rare(), rare(), rare(), rare()), late, path).prop_map(
        |(
            (source, delayed_acks, pacing, rate_halving),
            segments,
            dice,
            (data_loss, ack_loss, marks, copies),
            late,
            (packet_us, one_way_us, receive_window),
        )| Case {
            source,
            segments,
            delayed_acks,
            pacing,
            rate_halving,
            receive_window,
            dice,
            data_loss,
            ack_loss,
            marks,
            copies,
            late,
            packet_us,
            one_way_us,
        },
    )
}

/// The transfer of a case from its beginning, by the fast ways or by the slow one.
fn wire(case: &Case, goes_slowly: bool) -> Wire {
    let (name, ecn) = SOURCES[case.source];
    let recovery = if case.rate_halving { Recovery::RateHalving } else { Recovery::Prr };
    let controller = Params::new(find(name).unwrap());
    let mut wire = Wire::new(&Config {
        delayed_acks: case.delayed_acks,
        pacing: case.pacing,
        receive_window: case.receive_window,
        recovery,
        ecn,
        ..Config::new(controller, 1448)
    });
    (wire.forward_ns, wire.back_ns) = (case.one_way_us * 1000, case.one_way_us * 1000);
    (wire.packet_ns, wire.goes_slowly) = (case.packet_us * 1000, goes_slowly);
    // A recovery for no loss that a mark came in ends where it is, as Linux's does: nothing is undone, and the window may be above ssthresh.
    wire.is_judged = case.marks == 0 || case.late.0 == 0;
    let dice = |turn| Dice::new(case.dice.rotate_left(turn));
    let Case { data_loss, ack_loss, marks, copies, late: (late, most_us), .. } = *case;
    let mut lose = dice(0);
    wire.loses = Box::new(move |_, _| lose.permille(data_loss));
    let mut lose_ack = dice(11);
    wire.loses_ack = Box::new(move |_| lose_ack.permille(ack_loss));
    let mut mark = dice(21);
    wire.marks = Box::new(move |_| mark.permille(marks));
    let mut copy = dice(31);
    wire.copies = Box::new(move |_, _| 1 + usize::from(copy.permille(copies)));
    let mut delay = dice(41);
    wire.late_ns = Box::new(move |_, _| if delay.permille(late) { 1000 * delay.below(most_us) } else { 0 });
    wire.give(case.segments);
    wire
}

fn check(case: Case) -> Result<(), TestCaseError> {
    let (mut fast, mut slow) = (wire(&case, false), wire(&case, true));
    for _ in 0..20_000 {
        if slow.sender.is_done() {
            break;
        }
        fast.step();
        slow.step();
        prop_assert_eq!(fast.sent.last(), slow.sent.last());
        prop_assert_eq!(fast.acks.last(), slow.acks.last());
        prop_assert_eq!(fast.next_at(), slow.next_at());
        prop_assert_eq!(fast.sender.conn, slow.sender.conn);
    }
    prop_assert_eq!(&fast.sent, &slow.sent);
    prop_assert_eq!(&fast.acks, &slow.acks);
    prop_assert_eq!(&fast.rtts, &slow.rtts);
    prop_assert_eq!(&fast.ecn_fields, &slow.ecn_fields);
    Ok(())
}

#[test]
fn random_transfers_go_the_same_either_way() {
    random_test!(random_transfers_go_the_same_either_way, 1500).run(case(), check);
}
