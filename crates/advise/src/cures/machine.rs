// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this machine lacks for the path: a faster port, buffers, pacing.

use tandem_scenario::{aqm::AqmSpec, units::Bytes};

use super::{bdp_bytes, rounded};
use crate::{
    Known, Machine,
    machine::Port,
    measured::{Evidence, Measured},
};

/// Linux counts half of a connection's buffer as payload; the rest is overhead (tcp_adv_win_scale, struct sk_buff).
const PAYLOAD_OF_BUFFER: u64 = 2;
/// The buffer holds the window twice, because lost data stays in it until it has been retransmitted.
const WINDOWS: u64 = 2;
const MIB: u64 = 1 << 20;
/// A queue smaller than this share of the data in flight overflows from bursts alone. Ours.
const SHALLOW: f64 = 0.1;
/// A larger window exceeds the queues of many switches, bytes. Ours; a current switch chip shares some 16 to 64 MB among all its ports.
const LONG_WINDOW: u64 = 8 * MIB;
/// Queue disciplines that pace a connection's packets at its rate; TCP sets a rate.
const PACES: &str = "fq";

/// Nothing leaves faster than the port.
pub fn slow_port(port: &Port, known: &Known) -> Option<String> {
    (port.rate.bps < known.rate.bps).then(|| {
        let Port { name, rate } = port;
        format!(
            "First the port: {name} of this machine runs at {rate}, and the path is given as {}. No controller sends faster than that: see \
             `ethtool {name}`, or give --rate {rate}.",
            known.rate
        )
    })
}

/// A connection cannot have more in flight than its buffer holds.
pub fn send_buffer(buffer_bytes: u64, known: &Known, flows: u32) -> Option<String> {
    let window_bytes = bdp_bytes(known) / u64::from(flows);
    if buffer_bytes / PAYLOAD_OF_BUFFER >= window_bytes {
        return None;
    }
    let wanted = (PAYLOAD_OF_BUFFER * WINDOWS * window_bytes).div_ceil(MIB) * MIB;
    Some(format!(
        "First the buffers: net.ipv4.tcp_wmem gives a connection {}, half of it payload, and filling this path takes {} in \
         flight. The advice below assumes: sudo sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {wanted}\"; at the receiver: sudo sysctl -w \
         net.ipv4.tcp_rmem=\"4096 131072 {wanted}\".",
        Bytes(rounded(buffer_bytes)),
        Bytes(rounded(window_bytes))
    ))
}

/// A window sent in one burst overflows a much shorter queue, however much capacity is free.
pub fn pacing(
    (machine, measured): (&Machine, &Measured),
    known: &Known,
    flows: u32,
    controller: &str,
) -> Option<String> {
    let discipline = measured.aqm.as_ref().or(machine.discipline.as_ref())?;
    if discipline == PACES {
        return None;
    }
    let why = match &measured.bursts {
        Some(Evidence { words, source }) => {
            format!(
                "{words} together ({source}), while no queue was seen: bursts overflow a short queue on the way, or a policer"
            )
        }
        None if known.queue.is_some() => format!("bursts alone overflow the path's queue of {}", shallow(known)?),
        None => {
            let window_bytes = bdp_bytes(known) / u64::from(flows);
            let is_long = window_bytes >= LONG_WINDOW;
            is_long.then(|| format!("a window of {} overflows many queues on the way", Bytes(rounded(window_bytes))))?
        }
    };
    Some(format!(
        "First pace: {why}. `{controller}` sends in bursts here, because `{discipline}` does not spread them: sudo tc qdisc replace dev DEV root fq. \
         The advice below assumes no pacing."
    ))
}

/// The queue, if it is known to be shallow.
fn shallow(known: &Known) -> Option<String> {
    let queue = known.queue.filter(|_| known.aqm() == AqmSpec::DropTail)?;
    let queue_bytes = queue.limit(known.rate, known.rtt, known.mtu()).ok()?.bytes(known.mtu());
    ((queue_bytes as f64) < SHALLOW * bdp_bytes(known) as f64).then(|| queue.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cures::known;

    /// 100 Mb/s for 600 ms are 7.5 MB; of 4 MiB half is payload. Four times 7.5 MB are 28.6 MiB.
    #[test]
    fn a_small_buffer_comes_before_any_controller() {
        let words = send_buffer(4 * MIB, &known("100mbit", 600), 1).unwrap();
        assert!(words.contains("gives a connection 4.19MB,"), "{words}");
        assert!(words.contains("filling this path takes 7.5MB in flight"), "{words}");
        assert!(words.contains("net.ipv4.tcp_wmem=\"4096 16384 30408704\""), "{words}");
        // Four connections need 1.9 MB each.
        assert_eq!(send_buffer(4 * MIB, &known("100mbit", 600), 4), None);
        assert_eq!(send_buffer(16 * MIB, &known("100mbit", 600), 1), None);
    }

    #[test]
    fn nothing_leaves_faster_than_the_port() {
        let port = Port { name: "eth7".into(), rate: "1gbit".parse().unwrap() };
        let words = slow_port(&port, &known("10gbit", 90)).unwrap();
        assert!(words.contains("eth7 of this machine runs at 1gbit") && words.contains("given as 10gbit"), "{words}");
        assert_eq!(slow_port(&port, &known("1gbit", 90)), None);
    }

    #[test]
    fn a_shallow_queue_asks_for_pacing() {
        let machine = |discipline: &str| Machine { discipline: Some(discipline.into()), ..Machine::default() };
        let nothing = Measured::default();
        // 100 Mb/s for 24 ms are 200 packets: 19 are less than a tenth, 20 are not.
        let with = |packets: u32| Known { queue: format!("{packets}p").parse().ok(), ..known("100mbit", 24) };
        let pacing = |machine: &Machine, known: &Known| pacing((machine, &nothing), known, 2, "cubic");
        let words = pacing(&machine("pfifo_fast"), &with(19)).unwrap();
        assert!(
            words.starts_with("First pace: bursts alone overflow the path's queue of 19p") && words.contains("root fq"),
            "{words}"
        );
        assert_eq!(pacing(&machine("pfifo_fast"), &with(20)), None);
        assert_eq!(pacing(&machine("fq"), &with(19)), None);
        assert_eq!(pacing(&Machine::default(), &with(19)), None);
        // A queue that nobody knows may be shorter than a long window: 10 Gb/s for 20 ms are 25 MB, of which each of two connections has half.
        assert_eq!(pacing(&machine("pfifo_fast"), &known("100mbit", 24)), None);
        let words = pacing(&machine("pfifo_fast"), &known("10gbit", 20)).unwrap();
        assert!(words.starts_with("First pace: a window of 12.5MB overflows"), "{words}");
    }

    #[test]
    fn losses_in_bursts_ask_for_pacing() {
        let evidence = Evidence { words: "90 of 900 packets were lost".into(), source: "a.json: x".into() };
        let measured = Measured { bursts: Some(evidence), aqm: Some("fq_codel".into()), ..Measured::default() };
        let words = pacing((&Machine::default(), &measured), &known("100mbit", 24), 1, "cubic").unwrap();
        assert!(words.starts_with("First pace: 90 of 900 packets were lost together (a.json: x)"), "{words}");
        assert!(words.contains("`fq_codel` does not spread them"), "{words}");
    }
}
