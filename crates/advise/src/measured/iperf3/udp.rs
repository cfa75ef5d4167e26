// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run with UDP. It sends at a given rate, 1 Mb/s by default, so it measures a path only if that is too much: then the rate that
//! arrives is the path's, and the rest is lost to overload, not at random.

use serde_json::Value;

use super::{Run, course::Course, number};
use crate::measured::{
    Evidence,
    reading::{Losses, Packet, Reading, Readings},
};

/// A smaller loss may be random. Ours.
const OVERLOADED_SHARE: f64 = 0.01;
/// Where iperf3 does not say how much a datagram carries.
const USUAL_DATAGRAM_BYTES: f64 = 1448.0;

pub(super) fn readings(run: &Run) -> Result<Readings, String> {
    let course = Course::of(run);
    let is_there = run.end["sum"].is_object() || run.end["sum_received"].is_object() || course.count > 0;
    if !is_there {
        return Err(run.failure());
    }
    let datagram_bytes = number(&run.start["test_start"]["blksize"]).unwrap_or(USUAL_DATAGRAM_BYTES);
    let mut readings = Readings { packet: Packet::of_udp(datagram_bytes), ..Readings::default() };
    let Some((arrived, losses)) = arrived(run, &course) else {
        readings
            .cautions
            .push("The receiver of the UDP test counted nothing: neither a rate nor losses were used.".to_owned());
        return Ok(readings);
    };
    let Losses { lost, packets } = losses;
    let share = lost / packets;
    if lost == 0.0 {
        readings.cautions.push(
            "The UDP test lost nothing at the rate that it was told to send (`-b`, or 1 Mb/s), so it does not measure the path: \
             neither its rate nor its losses were used."
                .to_owned(),
        );
        return Ok(readings);
    }
    if share >= OVERLOADED_SHARE {
        let words = format!("of what UDP sent, {:.1} % did not arrive", share * 100.0);
        readings.overload = Some(Evidence::new(words, &*arrived.source));
    } else {
        readings.cautions.push(format!(
            "The UDP test lost {lost:.0} of {packets:.0} packets, too few to tell whether it filled the path or lost them by chance."
        ));
    }
    readings.payload_bps = Some(arrived);
    readings.flows = run.flows();
    Ok(readings)
}

/// What the receiver has counted. Older versions write only what was sent and how much of it was lost.
fn arrived(run: &Run, course: &Course) -> Option<(Reading<f64>, Losses)> {
    let received = &run.end["sum_received"];
    let counted = [received, &run.end["sum"]].into_iter().find_map(counted);
    if let Some(losses) = counted {
        let at_receiver = self::counted(received).and(number(&received["bits_per_second"]));
        let at_receiver = at_receiver.map(|bps| Reading::new(bps, "end.sum_received.bits_per_second"));
        let less_lost = || {
            let bps = number(&run.end["sum"]["bits_per_second"])? * (1.0 - losses.lost / losses.packets);
            (bps > 0.0).then(|| Reading::new(bps, "end.sum.bits_per_second, less the lost"))
        };
        return Some((at_receiver.or_else(less_lost)?, losses));
    }
    // A run that broke off, at its receiver.
    let bps = course.payload_bps().filter(|_| course.packets > 0.0)?;
    let losses = Losses { lost: course.lost_packets, packets: course.packets };
    Some((Reading::new(bps, "intervals[].sum.bytes"), losses))
}

/// Packets that came twice or out of order can make the count of lost ones negative.
fn counted(sum: &Value) -> Option<Losses> {
    let lost = sum["lost_packets"].as_f64()?.max(0.0);
    let packets = number(&sum["packets"])?;
    Some(Losses { lost: lost.min(packets), packets })
}
