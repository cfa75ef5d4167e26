// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an ACK tells of the packets that were in flight when the newest of those that it acknowledges was sent: `bbr3` needs that, and no host
//! notes it.

use std::{collections::BTreeMap, sync::Arc};

use tandem_controllers::{Params, find};

use super::wire::{MS, Wire, reno};
use crate::Config;

/// A transmission that arrives.
#[derive(Clone, Copy)]
struct Noted {
    /// Its place among all transmissions, and in flight with it.
    place: usize,
    in_flight: u64,
    /// Found lost so far.
    lost: u64,
}

/// What one ACK says, packets.
struct Heard {
    truth: u64,
    delivered_since: u64,
    found_lost_since: u64,
    /// Sent before, lost and not found to be so.
    not_found: u64,
    /// Sent later, and here before.
    overtook: i64,
    /// Sent before, and still to come.
    overtaken: i64,
}

/// Every ACK of a transfer of `bbr3`, which takes a packet a millisecond.
fn hear(mut wire: Wire, segments: u64) -> Vec<Heard> {
    wire.packet_ns = MS;
    wire.give(segments);
    let (mut notes, mut noted, mut told, mut heard) = (BTreeMap::new(), 0, 0, vec![]);
    loop {
        let in_flight = wire.sender.board.in_flight();
        // Nothing is sent again without need here: what was sent is delivered, lost, or in flight.
        let lost = wire.sent.len() as u64 - wire.sender.board.delivered() - in_flight;
        let newest = wire.sent.len();
        for (place, sent) in wire.sent.iter().enumerate().skip(noted).filter(|(_, sent)| !sent.lost) {
            let noted = Noted { place, in_flight: in_flight - (newest - 1 - place) as u64, lost };
            assert!(notes.insert(sent.seq, noted).is_none(), "{} was sent again without need", sent.seq);
        }
        noted = newest;
        if let Some(ack) = wire.sender.controller.recent_acks().last().filter(|ack| ack.delivered > told) {
            assert_eq!(ack.delivered, told + 1, "an ACK for each packet");
            let newest: Noted = notes[&wire.arrived[told as usize]];
            told = ack.delivered;
            let so_far = &wire.arrived[..told as usize];
            let before = wire.sent[..newest.place].iter().filter(|sent| !sent.lost).count();
            let overtook = so_far.iter().filter(|seq| notes[seq].place > newest.place).count();
            let lost_before = (newest.place - before) as u64;
            heard.push(Heard {
                truth: newest.in_flight,
                delivered_since: (ack.delivered - ack.prior_delivered).into(),
                found_lost_since: lost - newest.lost,
                not_found: lost_before.saturating_sub(lost),
                overtook: overtook as i64,
                overtaken: (before - (told as usize - 1 - overtook)) as i64,
            });
        }
        if wire.sender.is_done() {
            return heard;
        }
        wire.step();
    }
}

fn bbr3() -> Config {
    Config { controller: Arc::new(Params::new(find("bbr3").unwrap())), ..reno() }
}

/// In order, what was in flight when a packet was sent has been delivered since, or lost. What is lost but not yet found is missing.
/// [draft-ietf-ccwg-bbr 4.1.2.4]
#[test]
fn in_order_what_was_in_flight_has_been_delivered_or_lost() {
    let mut wire = Wire::new(&bbr3());
    // One in 50 or so, and a burst.
    wire.loses = Box::new(|seq, nth| nth == 1 && (seq * 7919 % 53 == 0 || (900..920).contains(&seq)));
    let heard = hear(wire, 3000);
    let (mut exact, mut lossy) = (0, 0);
    for ack in &heard {
        let known = ack.delivered_since + ack.found_lost_since;
        assert_eq!(known + ack.not_found, ack.truth);
        exact += u32::from(known == ack.truth);
        lossy += u32::from(ack.found_lost_since > 0);
    }
    println!("{exact} of {} exact, {lossy} with losses", heard.len());
    assert_eq!(heard.len(), 3000);
    assert!(exact > 2500 && lossy > 1000, "{exact} of {} exact, {lossy} with losses", heard.len());
}

/// Out of order, what overtook the packet counts although it was sent later, and what the packet overtook is missing.
/// [draft-ietf-ccwg-bbr 4.1.2.4]
#[test]
fn out_of_order_the_error_is_what_overtook_or_was_overtaken() {
    let mut wire = Wire::new(&bbr3());
    // Below a quarter of the RTT: nobody takes them for lost.
    wire.late_ns = Box::new(|seq, _| if seq % 11 == 5 { seq % 7 * MS + MS / 2 } else { 0 });
    let heard = hear(wire, 3000);
    let mut wrong = 0;
    for ack in &heard {
        let error = ack.delivered_since as i64 - ack.truth as i64;
        assert_eq!(error, ack.overtook - ack.overtaken);
        wrong += u32::from(error != 0);
    }
    println!("{wrong} of {} with an error", heard.len());
    assert!(wrong > 500, "{wrong} of {} with an error", heard.len());
}
