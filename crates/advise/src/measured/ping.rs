// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `ping` prints: that of iputils (Linux), of BSD and macOS, of BusyBox.

use tandem_statistics::percentile;

use super::{Losses, Reading, Readings};

/// Fewer answers than this have no 95th percentile.
const FEW_ANSWERS: usize = 20;

pub fn is_ping(text: &str) -> bool {
    text.contains(" bytes from ") || text.contains(" packets transmitted")
}

pub fn readings(text: &str) -> Result<Readings, String> {
    let mut times_ms: Vec<f64> = text.lines().filter_map(time_ms).collect();
    times_ms.sort_by(f64::total_cmp);
    let summary = text.lines().find_map(least_of_summary_ms);
    let least = match (summary, times_ms.first()) {
        (Some(ms), _) => Reading::new(ms, "smallest of min/avg/max"),
        (None, Some(&ms)) => Reading::new(ms, "smallest time="),
        (None, None) => return Err("it is the output of `ping`, but has no answer in it".to_owned()),
    };
    let busy = percentile(&times_ms, 0.95).filter(|_| times_ms.len() >= FEW_ANSWERS);
    Ok(Readings {
        payload_bps: None,
        least_rtt_ms: Some(least),
        busy_rtt_ms: busy.map(|ms| Reading::new(ms, "95th percentile of time=")),
        losses: text.lines().find_map(losses).map(|losses| Reading::new(losses, "packets transmitted, received")),
    })
}

/// `64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=30.6 ms`
fn time_ms(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once(" time=").or_else(|| line.split_once(" time<"))?;
    rest.split_whitespace().next()?.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms > 0.0)
}

/// `rtt min/avg/max/mdev = 30.173/30.285/30.564/0.144 ms`; BSD's begins with `round-trip`.
fn least_of_summary_ms(line: &str) -> Option<f64> {
    let (_, values) = line.split_once("min/avg/max").and_then(|(_, rest)| rest.split_once('='))?;
    values.trim().split('/').next()?.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms > 0.0)
}

/// `5 packets transmitted, 5 received, 0% packet loss`; BSD's has `5 packets received`.
fn losses(line: &str) -> Option<Losses> {
    let mut parts = line.split(", ");
    let sent: f64 = parts.next()?.strip_suffix(" packets transmitted")?.trim().parse().ok()?;
    let received: f64 = parts.next()?.split_whitespace().next()?.parse().ok()?;
    Some(Losses { lost: (sent - received).max(0.0), packets: sent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bsd_and_busybox_write_it_otherwise() {
        let text = "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=64 time=1.237 ms\n\n\
                    --- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 packets received, 25% packet loss\n\
                    round-trip min/avg/max = 1.230/1.233/1.237 ms\n";
        assert!(is_ping(text));
        let readings = readings(text).unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap().value, 1.23);
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 1.0, packets: 4.0 });
        // One answer is no distribution.
        assert!(readings.busy_rtt_ms.is_none());
    }

    #[test]
    fn an_interrupted_ping_has_no_summary() {
        let text: String = (1..=20).map(|i| format!("64 bytes from h: icmp_seq={i} ttl=64 time={i}.5 ms\n")).collect();
        let readings = readings(&text).unwrap();
        assert_eq!(readings.least_rtt_ms.unwrap().value, 1.5);
        // The 19th of 20.
        assert_eq!(readings.busy_rtt_ms.unwrap().value, 19.5);
    }
}
