// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iperf3 --json`, of the side that sends or of the one that receives; TCP or UDP.

use serde_json::Value;

use super::{Losses, Reading, Readings};

/// Where iperf3 does not say how much a packet carries.
const USUAL_MSS: f64 = 1448.0;

pub fn readings(text: &str) -> Result<Readings, String> {
    let whole: Value =
        serde_json::from_str(text).map_err(|e| format!("it begins as JSON but is no valid JSON: {e}"))?;
    if let Some(error) = whole["error"].as_str() {
        return Err(format!("iperf3 failed: {error}"));
    }
    let end = whole.get("end").ok_or("it is JSON, but has no `end`, which `iperf3 --json` writes")?;
    let number = |value: &Value| value.as_f64().filter(|n| n.is_finite() && *n > 0.0);
    if end["sum"]["lost_packets"].is_u64() {
        return udp(&end["sum"]).ok_or_else(|| "it has no throughput: did the test run to its end?".to_owned());
    }
    let payload_bps = number(&end["sum_received"]["bits_per_second"])
        .map(|bps| Reading::new(bps, "end.sum_received.bits_per_second"));
    if payload_bps.is_none() {
        return Err("it has no `end.sum_received.bits_per_second` above 0: did the test run to its end?".to_owned());
    }
    let streams = end["streams"].as_array().map_or(&[][..], Vec::as_slice);
    let rtts = |key: &str| streams.iter().filter_map(|s| number(&s["sender"][key])).collect::<Vec<f64>>();
    let least = rtts("min_rtt").into_iter().reduce(f64::min);
    let most = rtts("max_rtt").into_iter().reduce(f64::max);
    let mss = number(&whole["start"]["tcp_mss_default"]).unwrap_or(USUAL_MSS);
    let losses = end["sum_sent"]["retransmits"].as_f64().zip(number(&end["sum_sent"]["bytes"]));
    let losses = losses.map(|(lost, bytes)| Losses { lost, packets: bytes / mss });
    Ok(Readings {
        payload_bps,
        least_rtt_ms: least.map(|us| Reading::new(us / 1e3, "end.streams[].sender.min_rtt")),
        busy_rtt_ms: most.map(|us| Reading::new(us / 1e3, "end.streams[].sender.max_rtt")),
        losses: losses.map(|losses| Reading::new(losses, "end.sum_sent.retransmits")),
    })
}

/// No RTT is in a test with UDP.
fn udp(sum: &Value) -> Option<Readings> {
    let (lost, packets) = (sum["lost_packets"].as_f64()?, sum["packets"].as_f64().filter(|n| *n > 0.0)?);
    let arrived_bps = sum["bits_per_second"].as_f64()? * (1.0 - lost / packets);
    Some(Readings {
        payload_bps: (arrived_bps > 0.0).then(|| Reading::new(arrived_bps, "end.sum.bits_per_second, less the lost")),
        losses: Some(Reading::new(Losses { lost, packets }, "end.sum.lost_packets")),
        ..Readings::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn udp_has_losses_and_no_rtt() {
        let text = r#"{"start": {}, "end": {"sum": {"bits_per_second": 20e6, "lost_packets": 10, "packets": 2000}}}"#;
        let readings = readings(text).unwrap();
        assert_eq!(readings.payload_bps.unwrap().value, 19.9e6);
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 10.0, packets: 2000.0 });
        assert!(readings.least_rtt_ms.is_none());
    }

    #[test]
    fn several_streams_share_one_path() {
        let text = r#"{"start": {"tcp_mss_default": 1000}, "end": {
            "streams": [{"sender": {"min_rtt": 12000, "max_rtt": 20000}}, {"sender": {"min_rtt": 11000, "max_rtt": 19000}}],
            "sum_sent": {"retransmits": 7, "bytes": 5000000}, "sum_received": {"bits_per_second": 4e6}}}"#;
        let readings = readings(text).unwrap();
        assert_eq!((readings.least_rtt_ms.unwrap().value, readings.busy_rtt_ms.unwrap().value), (11.0, 20.0));
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 7.0, packets: 5000.0 });
    }
}
