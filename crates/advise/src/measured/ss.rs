// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `ss -ti` prints of TCP connections, of which the one that has sent most counts.

use super::{Losses, Reading, Readings};

pub fn is_ss(text: &str) -> bool {
    text.lines().any(is_connection)
}

fn is_connection(line: &str) -> bool {
    field(line, "rtt:").is_some() && field(line, "cwnd:").is_some()
}

pub fn readings(text: &str) -> Result<Readings, String> {
    let sent = |line: &&str| field(line, "bytes_acked:").and_then(number).unwrap_or(0.0);
    let connections = text.lines().filter(|line| is_connection(line));
    let line = connections.max_by(|a, b| sent(a).total_cmp(&sent(b))).ok_or("there is no connection in it")?;
    let is_app_limited = line.split_whitespace().any(|word| word == "app_limited");
    let rate_field = if is_app_limited { "delivery_rate, limited by the application" } else { "delivery_rate" };
    let smoothed_ms = field(line, "rtt:").and_then(|pair| number(pair.split('/').next()?));
    let least_ms = field(line, "minrtt:").and_then(number);
    let lost = field(line, "retrans:").map_or(Some(0.0), |pair| number(pair.split('/').nth(1)?));
    let packets = field(line, "data_segs_out:").and_then(number);
    let reading = |value: Option<f64>, field: &str| value.filter(|v| *v > 0.0).map(|value| Reading::new(value, field));
    let losses = lost.zip(packets).map(|(lost, packets)| Losses { lost, packets });
    Ok(Readings {
        payload_bps: reading(rate_bps(line), rate_field),
        least_rtt_ms: reading(least_ms, "minrtt").or_else(|| reading(smoothed_ms, "rtt")),
        busy_rtt_ms: reading(smoothed_ms, "rtt"),
        losses: losses.map(|losses| Reading::new(losses, "retrans, data_segs_out")),
    })
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
    }

    #[test]
    fn what_ss_leaves_out_is_not_inferred() {
        let readings = readings("\t cubic rto:304 rtt:103.5/1.2 cwnd:500").unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap(), Reading::new(103.5, "rtt"));
        assert!(readings.payload_bps.is_none() && readings.losses.is_none());
    }
}
