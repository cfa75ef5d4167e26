// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `ss -ti` prints of TCP connections. Those to the peer that was sent most are one path.

use super::{LimitedBy, Losses, Reading, Readings};

/// Share of the time that it sent: what held a connection for more than this limits it. Ours.
const MUCH: f64 = 10.0;
/// Who has received so many times as much as it sent is the receiver.
const RECEIVER: f64 = 10.0;

pub fn is_ss(text: &str) -> bool {
    text.lines().any(is_connection)
}

fn is_connection(line: &str) -> bool {
    field(line, "rtt:").is_some() && field(line, "cwnd:").is_some()
}

/// The connections' lines, each with its peer: the last address of the line before, without the port.
fn connections(text: &str) -> Vec<(String, &str)> {
    let mut peer = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let addresses =
            line.split_whitespace().filter(|word| word.contains(':') && word.ends_with(|c: char| c.is_ascii_digit()));
        if is_connection(line) && !line.trim_start().starts_with("ESTAB") {
            found.push((peer.clone(), line));
        } else if let Some(address) = addresses.clone().nth(1) {
            peer = address.rsplit_once(':').map_or(address, |(host, _)| host).to_owned();
            // All in one line.
            if is_connection(line) {
                found.push((peer.clone(), line));
            }
        }
    }
    found
}

pub fn readings(text: &str) -> Result<Readings, String> {
    let all = connections(text);
    let amount = |line: &str, name: &str| field(line, name).and_then(number).unwrap_or(0.0);
    let moved = |line: &str| amount(line, "bytes_acked:").max(amount(line, "bytes_received:"));
    let busiest = all.iter().max_by(|(_, a), (_, b)| moved(a).total_cmp(&moved(b)));
    let (peer, line) = busiest.ok_or("there is no connection in it")?;
    if amount(line, "bytes_received:") > RECEIVER * amount(line, "bytes_acked:").max(1.0) {
        return Ok(Readings { receives: true, least_rtt_ms: least_ms(line), ..Readings::default() });
    }
    // Of these, those that move next to nothing carry requests.
    let of_path: Vec<&str> =
        all.iter().filter(|(other, l)| other == peer && 10.0 * moved(l) >= moved(line)).map(|(_, l)| *l).collect();
    let sum = |of: &dyn Fn(&str) -> Option<f64>| of_path.iter().filter_map(|line| of(line)).reduce(|a, b| a + b);
    let lost = sum(&|line| field(line, "retrans:").map_or(Some(0.0), |pair| number(pair.split('/').nth(1)?)));
    let packets = sum(&|line| field(line, "data_segs_out:").and_then(number));
    let is_app_limited = line.split_whitespace().any(|word| word == "app_limited");
    let rate_field = if is_app_limited { "delivery_rate, limited by the application" } else { "delivery_rate" };
    let reading = |value: Option<f64>, field: &str| value.filter(|v| *v > 0.0).map(|value| Reading::new(value, field));
    let smoothed_ms = of_path.iter().filter_map(|line| smoothed_ms(line)).reduce(f64::max);
    let losses = lost.zip(packets).map(|(lost, packets)| Losses { lost, packets });
    let mptcp = "the connection is MPTCP's, which shares data out among its subflows: one path's are taken";
    Ok(Readings {
        payload_bps: reading(sum(&rate_bps), rate_field),
        mss: field(line, "mss:").and_then(number),
        least_rtt_ms: least_ms(line),
        busy_rtt_ms: reading(smoothed_ms, "rtt"),
        losses: losses.map(|losses| Reading::new(losses, "retrans, data_segs_out")),
        limited_by: limited_by(line),
        controller: line.split_whitespace().next().map(str::to_owned),
        connections: Some(of_path.len() as u32),
        cautions: line.contains("tcp-ulp-mptcp").then(|| mptcp.to_owned()).into_iter().collect(),
        ..Readings::default()
    })
}

fn smoothed_ms(line: &str) -> Option<f64> {
    field(line, "rtt:").and_then(|pair| number(pair.split('/').next()?))
}

fn least_ms(line: &str) -> Option<Reading<f64>> {
    let reading = |value: Option<f64>, field: &str| value.filter(|v| *v > 0.0).map(|value| Reading::new(value, field));
    reading(field(line, "minrtt:").and_then(number), "minrtt").or_else(|| reading(smoothed_ms(line), "rtt"))
}

/// `rwnd_limited:433148ms(98.8%)`
fn limited_by(line: &str) -> Option<Reading<LimitedBy>> {
    let share = |name: &str| {
        let (_, rest) = field(line, name)?.split_once('(')?;
        number(rest.strip_suffix("%)")?).filter(|percent| *percent > MUCH)
    };
    let all = [("rwnd_limited:", LimitedBy::ReceiveWindow), ("sndbuf_limited:", LimitedBy::SendBuffer)];
    let held = all.into_iter().filter_map(|(name, by)| Some((share(name)?, name, by)));
    let (percent, name, by) = held.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Reading::new(by, format!("{name} {percent} % of the time")))
}

/// The rest of the word that begins so.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(name))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)
}

/// `delivery_rate 48.2Mbps`.
fn rate_bps(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once(" delivery_rate")?;
    let text = rest.split_whitespace().next()?.strip_suffix("bps")?;
    let (digits, scale) = match text.chars().last()? {
        'K' | 'k' => (&text[..text.len() - 1], 1e3),
        'M' => (&text[..text.len() - 1], 1e6),
        'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    number(digits).map(|value| value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "\t cubic wscale:7,7 rto:304 rtt:103.5/1.2 mss:1448 cwnd:500 bytes_acked:9000000 data_segs_out:7000 \
                        send 48Mbps pacing_rate 67.2Mbps delivery_rate 1.25Gbps retrans:0/14 minrtt:100.2";

    #[test]
    fn the_connection_that_has_sent_most_counts() {
        let other = LINE.replace("bytes_acked:9000000", "bytes_acked:90").replace("minrtt:100.2", "minrtt:5");
        let readings = readings(&format!("ESTAB 0 0 a b\n{other}\nESTAB 0 0 a c\n{LINE}\n")).unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap().value, 100.2);
        assert_eq!(readings.busy_rtt_ms.unwrap().value, 103.5);
        assert_eq!(readings.payload_bps.unwrap(), Reading::new(1.25e9, "delivery_rate"));
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 14.0, packets: 7000.0 });
        assert_eq!(readings.controller.unwrap(), "cubic");
    }

    /// Two to one peer, one to another.
    #[test]
    fn connections_to_one_peer_are_one_path() {
        let head = |peer: &str| format!("ESTAB 0 0 192.0.2.1:40000 {peer}:5201\n");
        let less = LINE.replace("bytes_acked:9000000", "bytes_acked:8000000");
        let text = [
            head("192.0.2.2"),
            LINE.into(),
            "\n".into(),
            head("192.0.2.2"),
            less.clone(),
            "\n".into(),
            head("192.0.2.3"),
            less,
        ];
        let readings = readings(&text.concat()).unwrap();
        assert_eq!((readings.payload_bps.unwrap().value, readings.connections), (2.5e9, Some(2)));
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 28.0, packets: 14_000.0 });
    }

    #[test]
    fn what_held_the_connection() {
        let held = LINE.to_owned() + " busy:9000ms rwnd_limited:900ms(10.0%) sndbuf_limited:3960ms(44.0%)";
        assert_eq!(readings(&held).unwrap().limited_by.unwrap().value, LimitedBy::SendBuffer);
        let little = LINE.to_owned() + " busy:9000ms rwnd_limited:900ms(10.0%)";
        assert!(readings(&little).unwrap().limited_by.is_none());
        let receiver = LINE.replace("bytes_acked:9000000", "bytes_acked:901 bytes_received:910000000");
        let found = readings(&receiver).unwrap();
        assert!(found.receives && found.payload_bps.is_none() && found.losses.is_none());
    }

    #[test]
    fn what_ss_leaves_out_is_not_inferred() {
        let readings = readings("\t cubic rto:304 rtt:103.5/1.2 cwnd:500").unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap(), Reading::new(103.5, "rtt"));
        assert!(readings.payload_bps.is_none() && readings.losses.is_none());
    }
}
