// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `ss -ti` prints of TCP connections. Those to the peer with which most was exchanged count, all together: they share one path.

use std::collections::HashMap;

use super::{
    Direction, Evidence, LimitedBy,
    reading::{Losses, Packet, Reading, Readings, controller_name, number, positive},
};

/// A connection that carried less than this share of the largest's bytes is not bulk: it is a control connection, or over.
const BULK_SHARE: f64 = 0.1;
/// A window or buffer that was full for a larger share of the time limited the connection. Ours.
const LIMITED_SHARE: f64 = 0.1;
/// A machine that receives this many times what it sends is the receiver.
const RECEIVER_FACTOR: f64 = 10.0;
/// Over less time, a mean rate says nothing.
const SHORT_MS: f64 = 1000.0;
/// What `ss` says of a connection before its controller.
const OPTIONS: [&str; 5] = ["ts", "sack", "ecn", "ecnseen", "fastopen"];

/// One connection. Values that this version of `ss` does not print are missing.
#[derive(Debug, Default)]
struct Connection {
    peer: Option<String>,
    is_ipv6: bool,
    is_mptcp: bool,
    controller: Option<String>,
    rtt_ms: Option<f64>,
    least_rtt_ms: Option<f64>,
    mss: Option<f64>,
    path_mtu: Option<f64>,
    acked_bytes: Option<f64>,
    received_bytes: Option<f64>,
    is_sending: bool,
    busy_ms: Option<f64>,
    receive_limited_ms: f64,
    send_limited_ms: f64,
    lost: Option<f64>,
    packets: Option<f64>,
    delivery_bps: Option<f64>,
    is_app_limited: bool,
}

pub fn is_ss(text: &str) -> bool {
    text.lines().any(is_connection)
}

fn is_connection(line: &str) -> bool {
    line.contains("rtt:") && field(line, "rtt:").is_some() && field(line, "cwnd:").is_some()
}

pub(super) fn readings(text: &str) -> Result<Readings, String> {
    let all = connections(text);
    let mut exchanged: HashMap<Option<&str>, f64> = HashMap::new();
    for connection in &all {
        *exchanged.entry(connection.peer.as_deref()).or_default() += connection.bytes();
    }
    // Of equals the first: without byte counts nothing tells them apart.
    let largest = all.iter().rev().max_by(|a, b| {
        let of_peer = |c: &Connection| exchanged.get(&c.peer.as_deref()).copied().unwrap_or(0.0);
        of_peer(a).total_cmp(&of_peer(b)).then(a.bytes().total_cmp(&b.bytes()))
    });
    let largest = largest.ok_or("there is no connection in it")?;
    let is_alone = largest.peer.is_none() || largest.is_mptcp;
    let with_it = |c: &&Connection| c.peer == largest.peer && c.bytes() >= BULK_SHARE * largest.bytes();
    let bulk: Vec<&Connection> = if is_alone { vec![largest] } else { all.iter().filter(with_it).collect() };
    Ok(of_bulk(largest, &bulk))
}

impl Connection {
    fn bytes(&self) -> f64 {
        self.acked_bytes.unwrap_or(0.0).max(self.received_bytes.unwrap_or(0.0))
    }
}

/// Merges repeated prints of one connection.
fn connections(text: &str) -> Vec<Connection> {
    let mut all: Vec<Connection> = Vec::new();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    let mut head = "";
    for line in text.lines() {
        if !is_connection(line) {
            head = line;
            continue;
        }
        // `-O` puts both into one line.
        let ends = addresses(if line.starts_with(char::is_whitespace) { head } else { line });
        let connection = connection(line, ends.map(|(_, peer)| peer));
        match ends.and_then(|ends| places.get(&ends)).and_then(|place| all.get_mut(*place)) {
            Some(earlier) => {
                let largest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
                let rtt_ms = largest(earlier.rtt_ms, connection.rtt_ms);
                let delivery_bps = largest(earlier.delivery_bps, connection.delivery_bps);
                *earlier = Connection { rtt_ms, delivery_bps, ..connection };
            }
            None => {
                places.extend(ends.map(|ends| (ends, all.len())));
                all.push(connection);
            }
        }
        head = "";
    }
    all
}

/// The two ends: words with a port behind the last colon.
fn addresses(line: &str) -> Option<(&str, &str)> {
    let is_port = |port: &str| !port.is_empty() && port.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let has_port = |word: &&str| word.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && is_port(port));
    let mut ends = line.split_whitespace().take(8).filter(has_port);
    Some((ends.next()?, ends.next()?))
}

fn connection(line: &str, peer: Option<&str>) -> Connection {
    let host = peer.and_then(|peer| peer.rsplit_once(':')).map(|(host, _)| host);
    let mut found = Connection {
        peer: host.map(str::to_owned),
        is_ipv6: host.is_some_and(|host| host.contains(':') && !host.contains("::ffff:")),
        is_mptcp: line.contains("tcp-ulp-mptcp"),
        controller: controller(line),
        ..Connection::default()
    };
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        let Some((name, value)) = word.split_once(':') else {
            match word {
                "delivery_rate" => found.delivery_bps = words.next().and_then(rate_bps),
                "app_limited" => found.is_app_limited = true,
                _ => {}
            }
            continue;
        };
        match name {
            "rtt" => found.rtt_ms = value.split('/').next().and_then(number),
            "minrtt" => found.least_rtt_ms = number(value).and_then(positive),
            "mss" => found.mss = number(value),
            "pmtu" => found.path_mtu = number(value),
            "bytes_acked" => found.acked_bytes = number(value),
            "bytes_received" => found.received_bytes = number(value),
            "unacked" => found.is_sending = true,
            "busy" => found.busy_ms = milliseconds(value),
            "rwnd_limited" => found.receive_limited_ms = milliseconds(value).unwrap_or(0.0),
            "sndbuf_limited" => found.send_limited_ms = milliseconds(value).unwrap_or(0.0),
            "retrans" => found.lost = value.split('/').nth(1).and_then(number),
            "data_segs_out" => found.packets = number(value),
            _ => {}
        }
    }
    found
}

/// The word before the first that is neither an option nor a controller.
fn controller(line: &str) -> Option<String> {
    let mut before = None;
    for word in line.split_whitespace() {
        if word.starts_with("wscale:") || word.starts_with("rto:") {
            return before.filter(|word| !OPTIONS.contains(word)).and_then(controller_name);
        }
        before = Some(word);
    }
    None
}

fn of_bulk(largest: &Connection, bulk: &[&Connection]) -> Readings {
    let direction = direction(bulk);
    let receives = direction == Some(Direction::Receives);
    let more_headers = u32::from(largest.is_ipv6) + u32::from(largest.is_mptcp);
    let packet = largest.mss.and_then(|mss| Packet::of_tcp(mss, largest.path_mtu, more_headers));
    let smallest = |of: fn(&Connection) -> Option<f64>| bulk.iter().filter_map(|c| of(c)).reduce(f64::min);
    let rtt_ms = bulk.iter().filter_map(|c| c.rtt_ms).reduce(f64::max);
    let least = smallest(|c| c.least_rtt_ms).map(|ms| Reading::new(ms, "minrtt"));
    let of_sender = |reading: Option<Reading<f64>>| reading.filter(|_| !receives);
    Readings {
        payload_bps: of_sender(rate(bulk)),
        packet: packet.unwrap_or_default(),
        is_packet_known: packet.is_some(),
        least_rtt_ms: least.or_else(|| smallest(|c| c.rtt_ms).map(|ms| Reading::new(ms, "rtt"))),
        busy_rtt_ms: of_sender(rtt_ms.map(|ms| Reading::new(ms, "rtt"))),
        losses: losses(bulk).filter(|_| !receives).map(|losses| Reading::new(losses, "retrans, data_segs_out")),
        direction,
        flows: u32::try_from(bulk.len()).ok().filter(|_| !receives),
        controller: largest.controller.clone().filter(|_| !receives),
        limited_by: limited_by(bulk).filter(|_| !receives),
        cautions: cautions(largest, bulk, receives),
        ..Readings::default()
    }
}

fn sum(bulk: &[&Connection], of: impl Fn(&Connection) -> f64) -> f64 {
    bulk.iter().map(|c| of(c)).sum()
}

fn direction(bulk: &[&Connection]) -> Option<Direction> {
    let acked_bytes = sum(bulk, |c| c.acked_bytes.unwrap_or(0.0));
    let received_bytes = sum(bulk, |c| c.received_bytes.unwrap_or(0.0));
    if received_bytes > RECEIVER_FACTOR * acked_bytes {
        Some(Direction::Receives)
    } else if acked_bytes > 0.0 || bulk.iter().any(|c| c.is_sending || c.lost.is_some()) {
        Some(Direction::Sends)
    } else {
        None
    }
}

/// The last rate of delivery, or the mean while there was something to send: both are what arrived at some time.
fn rate(bulk: &[&Connection]) -> Option<Reading<f64>> {
    let delivery_bps = sum(bulk, |c| c.delivery_bps.unwrap_or(0.0));
    let mean_bps = sum(bulk, |c| {
        let busy_ms = c.busy_ms.filter(|ms| *ms >= SHORT_MS);
        c.acked_bytes.zip(busy_ms).map_or(0.0, |(bytes, ms)| bytes * 8.0 / (ms / 1e3))
    });
    let (bps, field) =
        if mean_bps > delivery_bps { (mean_bps, "bytes_acked over busy") } else { (delivery_bps, "delivery_rate") };
    let of_all = if bulk.len() > 1 { format!("{field}, {} connections", bulk.len()) } else { field.to_owned() };
    let is_app_limited = field == "delivery_rate" && bulk.iter().all(|c| c.is_app_limited);
    let source = if is_app_limited { of_all + ", limited by the application" } else { of_all };
    positive(bps).map(|bps| Reading::new(bps, source))
}

/// `retrans` is not printed if it is 0.
fn losses(bulk: &[&Connection]) -> Option<Losses> {
    let packets = |c: &Connection| c.packets.or_else(|| Some(c.acked_bytes? / positive(c.mss?)?));
    let counted: Vec<(f64, f64)> = bulk.iter().filter_map(|c| Some((c.lost.unwrap_or(0.0), packets(c)?))).collect();
    let packets = positive(counted.iter().map(|(_, packets)| packets).sum())?;
    Some(Losses { lost: counted.iter().map(|(lost, _)| lost).sum(), packets })
}

/// The kernel's own counts are the most certain. It also calls a sender with a full buffer limited by the application.
fn limited_by(bulk: &[&Connection]) -> Option<LimitedBy> {
    let busy_ms = sum(bulk, |c| c.busy_ms.unwrap_or(0.0));
    let shares = [sum(bulk, |c| c.receive_limited_ms), sum(bulk, |c| c.send_limited_ms)].map(|ms| ms / busy_ms);
    let [receive, send] = shares.map(|share| if share.is_finite() { share } else { 0.0 });
    let evidence = |what: &str, share: f64, field: &str| {
        Evidence::new(
            format!("{what} was full for {:.1} % of the time that there was data to send", share * 100.0),
            field,
        )
    };
    if receive > LIMITED_SHARE && receive >= send {
        Some(LimitedBy::ReceiveWindow(evidence("the receiver's window", receive, "rwnd_limited")))
    } else if send > LIMITED_SHARE {
        Some(LimitedBy::SendBuffer(evidence("the sender's buffer", send, "sndbuf_limited")))
    } else if bulk.iter().all(|c| c.is_app_limited) {
        Some(LimitedBy::Application(Evidence::new("the sender had nothing more to send", "app_limited")))
    } else {
        None
    }
}

fn cautions(largest: &Connection, bulk: &[&Connection], receives: bool) -> Vec<String> {
    let mut cautions = Vec::new();
    if largest.is_mptcp {
        cautions.push(
            "The connection uses MPTCP, whose own scheduler shares the data among paths; only the subflow that sent most is used."
                .to_owned(),
        );
    }
    if receives {
        cautions.push(
            "This machine receives, and `ss` does not tell how fast. The sender's controller counts: run `ss -ti` there, or \
             `iperf3 -R --json` here."
                .to_owned(),
        );
    } else if rate(bulk).is_none() {
        cautions.push("This version of `ss` prints no `delivery_rate`, so it does not tell the rate.".to_owned());
    }
    cautions
}

/// The rest of the word that begins so.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(name))
}

/// `433148ms(98.8%)`.
fn milliseconds(text: &str) -> Option<f64> {
    text.split_once("ms").and_then(|(number_ms, _)| number(number_ms))
}

/// `48.2Mbps`.
fn rate_bps(text: &str) -> Option<f64> {
    let text = text.strip_suffix("bps")?;
    let digits = text.trim_end_matches(['K', 'k', 'M', 'G', 'T']);
    let scale = match &text[digits.len()..] {
        "" => 1.0,
        "K" | "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => return None,
    };
    number(digits).map(|value| value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "\t ts sack cubic wscale:7,7 rto:304 rtt:103.5/1.2 mss:1448 cwnd:500 bytes_acked:9000000 data_segs_out:7000 \
                        send 48Mbps pacing_rate 67.2Mbps delivery_rate 1.25Gbps retrans:0/14 minrtt:100.2";

    #[test]
    fn the_peer_to_whom_most_was_sent_counts() {
        let other = LINE.replace("bytes_acked:9000000", "bytes_acked:90").replace("minrtt:100.2", "minrtt:5");
        let text = format!("ESTAB 0 0 192.0.2.1:9 192.0.2.2:9\n{other}\nESTAB 0 0 192.0.2.1:8 192.0.2.3:9\n{LINE}\n");
        let readings = readings(&text).unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap().value, 100.2);
        assert_eq!(readings.busy_rtt_ms.unwrap().value, 103.5);
        assert_eq!(readings.payload_bps.unwrap(), Reading::new(1.25e9, "delivery_rate"));
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 14.0, packets: 7000.0 });
        assert_eq!((readings.controller.as_deref(), readings.flows), (Some("cubic"), Some(1)));
        assert_eq!(readings.direction, Some(Direction::Sends));
    }

    #[test]
    fn connections_to_one_peer_are_one_path() {
        let head = |port: u32| format!("ESTAB 0 0 192.0.2.1:{port} 192.0.2.3:5201\n");
        let control = LINE.replace("bytes_acked:9000000", "bytes_acked:90");
        let slow = LINE.replace("rtt:103.5", "rtt:120.5").replace("1.25Gbps", "250Mbps");
        let text = [head(1), control, "\n".into(), head(2), LINE.into(), "\n".into(), head(3), slow].concat();
        let read = readings(&text).unwrap();
        // 1.25 + 0.25 Gb/s.
        assert_eq!(read.payload_bps.unwrap(), Reading::new(1.5e9, "delivery_rate, 2 connections"));
        assert_eq!((read.flows, read.busy_rtt_ms.unwrap().value), (Some(2), 120.5));
        assert_eq!(read.losses.unwrap().value, Losses { lost: 28.0, packets: 14_000.0 });
        // The same, printed twice.
        let text = [head(2), LINE.into(), "\n".into(), head(2), LINE.replace("rtt:103.5", "rtt:99")].concat();
        let read = readings(&text).unwrap();
        assert_eq!((read.flows, read.busy_rtt_ms.unwrap().value), (Some(1), 103.5));
        assert_eq!(read.payload_bps.unwrap().value, 1.25e9);
    }

    #[test]
    fn what_ss_leaves_out_is_not_inferred() {
        let readings = readings("\t cubic rto:304 rtt:103.5/1.2 cwnd:500").unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap(), Reading::new(103.5, "rtt"));
        assert!(readings.payload_bps.is_none() && readings.losses.is_none());
        assert!(readings.cautions[0].contains("no `delivery_rate`"));
    }

    #[test]
    fn a_full_window_or_buffer_is_what_limits() {
        let limit = |more: &str| readings(&format!("{LINE} busy:10000ms {more}")).unwrap().limited_by;
        assert!(
            matches!(limit("rwnd_limited:5000ms(50.0%)"), Some(LimitedBy::ReceiveWindow(e)) if e.words.contains("50.0 %"))
        );
        assert!(matches!(
            limit("rwnd_limited:1200ms sndbuf_limited:2000ms app_limited"),
            Some(LimitedBy::SendBuffer(_))
        ));
        assert!(matches!(limit("rwnd_limited:900ms(9.0%) app_limited"), Some(LimitedBy::Application(_))));
        assert_eq!(limit("rwnd_limited:900ms(9.0%)"), None);
    }

    #[test]
    fn a_receiver_knows_the_rtt_alone() {
        let text = LINE.replace("bytes_acked:9000000", "bytes_acked:9000 bytes_received:5000000");
        let read = readings(&text).unwrap();
        assert_eq!(read.direction, Some(Direction::Receives));
        assert!(read.payload_bps.is_none() && read.losses.is_none() && read.busy_rtt_ms.is_none());
        assert_eq!(read.least_rtt_ms.unwrap().value, 100.2);
    }

    #[test]
    fn one_line_each_ipv6_and_mptcp_are_known() {
        let info = LINE.trim_start().replace("mss:1448", "mss:1428");
        let text = format!("tcp ESTAB 0 0 [2001:db8::1]:9 [2001:db8::2]:https {info}\n");
        let read = readings(&text).unwrap();
        // 1428 + 40 of IPv6 + 20 of TCP + 12 of time stamps.
        assert_eq!(read.packet.mtu_bytes, 1500.0);
        let text = format!("ESTAB 0 0 192.0.2.1:9 192.0.2.2:9 {info} tcp-ulp-mptcp flags:Mm\n").repeat(2);
        let read = readings(&text).unwrap();
        assert!(read.cautions[0].contains("MPTCP") && read.flows == Some(1) && read.packet.mtu_bytes == 1500.0);
    }
}
