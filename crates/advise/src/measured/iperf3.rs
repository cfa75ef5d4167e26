// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iperf3 --json` and `--json-stream`, of the side that sends or of the one that receives; TCP or UDP.

use serde_json::{Deserializer, Value, json};

use super::{LimitedBy, Losses, Reading, Readings};

/// Where iperf3 does not say how much a packet carries.
const USUAL_MSS: f64 = 1448.0;
/// A flow that is as old has met what limits it. Ours.
const LONG_S: f64 = 5.0;
/// Nearer, hosts are what is slow. Ours.
const FAR_US: f64 = 5e3;
/// BBR's window is this many times what was under way, or more: then something else held it. Ours; twice is what it should be.
const OF_BBR: f64 = 3.0;

pub fn readings(text: &str) -> Result<Readings, String> {
    let (run, cautions) = run(text)?;
    let found = of_run(&run)?;
    Ok(Readings { cautions: [cautions, found.cautions].concat(), ..found })
}

/// The run in a file, and what is wrong with the file.
fn run(text: &str) -> Result<(Value, Vec<String>), String> {
    // 3.1x writes `-nan` where it divides by nothing.
    let text = text.replace("-nan", "null").replace(": nan", ": null");
    let begin = text.find('{').ok_or("it has no JSON")?;
    let mut documents = Vec::new();
    let mut cautions = Vec::new();
    for document in Deserializer::from_str(&text[begin..]).into_iter::<Value>() {
        match document {
            Ok(document) => documents.push(document),
            Err(_) if documents.is_empty() => {
                cautions.push("the file is no whole JSON: what its intervals say is taken".to_owned());
                documents.push(json!({ "intervals": whole_intervals(&text) }));
                break;
            }
            // A message after the JSON.
            Err(_) => break,
        }
    }
    if documents.iter().any(|document| document["event"].is_string()) {
        documents = vec![of_events(&documents)];
    }
    if documents.len() > 1 {
        cautions.push(format!("the file has {} runs: the last one is taken", documents.len()));
    }
    let run = documents.pop().unwrap_or_default();
    if let Some(error) = run["error"].as_str() {
        cautions.push(format!("iperf3 ended with an error (`{error}`): what it had measured by then is taken"));
    }
    Ok((run, cautions))
}

/// The objects `sum` that are whole, each of an interval.
fn whole_intervals(text: &str) -> Vec<Value> {
    let object = |(i, key): (usize, &str)| {
        let begin = i + key.len() + text[i + key.len()..].find('{')?;
        let sum = Deserializer::from_str(&text[begin..]).into_iter::<Value>().next()?.ok()?;
        Some(json!({ "sum": sum }))
    };
    text.match_indices("\"sum\":").filter_map(object).collect()
}

/// `--json-stream` writes each part as an event of its own.
fn of_events(events: &[Value]) -> Value {
    let of = |name: &'static str| events.iter().filter(move |e| e["event"] == name).map(|e| e["data"].clone());
    let intervals: Vec<Value> = of("interval").collect();
    json!({ "start": of("start").next(), "intervals": intervals, "end": of("end").next(), "error": of("error").next() })
}

/// Above 0.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|n| n.is_finite() && *n > 0.0)
}

fn of_run(run: &Value) -> Result<Readings, String> {
    let (end, test) = (&run["end"], &run["start"]["test_start"]);
    if test["protocol"] == "UDP" || end["sum"]["lost_packets"].is_i64() {
        return Ok(udp(end, test));
    }
    let payload_bps = number(&end["sum_received"]["bits_per_second"])
        .map(|bps| Reading::new(bps, "end.sum_received.bits_per_second"))
        // A server's file has no sum of what arrived elsewhere.
        .or_else(|| {
            number(&end["sum_sent"]["bits_per_second"]).map(|bps| Reading::new(bps, "end.sum_sent.bits_per_second"))
        })
        .or_else(|| Some(Reading::new(mean_of_intervals(run)?, "intervals[].sum.bits_per_second")));
    if payload_bps.is_none() {
        let kind = "it is JSON, but has no `end` and no intervals with a throughput, which `iperf3 --json` writes: did the test run?";
        return Err(run["error"].as_str().map_or(kind.to_owned(), |error| format!("iperf3 failed: {error}")));
    }
    let streams = end["streams"].as_array().map_or(&[][..], Vec::as_slice);
    let rtts = |key: &str| streams.iter().filter_map(|s| number(&s["sender"][key])).collect::<Vec<f64>>();
    let least = rtts("min_rtt").into_iter().reduce(f64::min);
    let most = rtts("max_rtt").into_iter().reduce(f64::max);
    let mss = number(&run["start"]["tcp_mss_default"]);
    let losses = end["sum_sent"]["retransmits"].as_f64().zip(number(&end["sum_sent"]["bytes"]));
    let losses = losses.map(|(lost, bytes)| Losses { lost, packets: bytes / mss.unwrap_or(USUAL_MSS) });
    let receives = test["reverse"].as_f64().is_some_and(|reverse| reverse > 0.0);
    let is_both_ways = number(&test["bidir"]).is_some() || end["sum_received_bidir_reverse"].is_object();
    let both_ways = "it was a test of both directions: what this side sent is taken, the other is the other side's";
    Ok(Readings {
        payload_bps,
        mss,
        least_rtt_ms: least.map(|us| Reading::new(us / 1e3, "end.streams[].sender.min_rtt")),
        busy_rtt_ms: most.map(|us| Reading::new(us / 1e3, "end.streams[].sender.max_rtt")),
        limited_by: held_by_window(end, least.zip(most)).map(|by| Reading::new(by, "end.streams[].sender")),
        losses: losses.map(|losses| Reading::new(losses, "end.sum_sent.retransmits")),
        controller: end["sender_tcp_congestion"].as_str().map(str::to_owned),
        receives,
        connections: number(&test["num_streams"]).map(|streams| streams as u32),
        cautions: is_both_ways.then(|| both_ways.to_owned()).into_iter().collect(),
    })
}

fn mean_of_intervals(run: &Value) -> Option<f64> {
    let intervals = run["intervals"].as_array().map_or(&[][..], Vec::as_slice);
    let counted = intervals.iter().filter(|interval| interval["sum"]["omitted"] != true);
    let rates: Vec<f64> = counted.filter_map(|interval| number(&interval["sum"]["bits_per_second"])).collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// Nothing was lost and no queue stood: neither the path nor the controller held it, but a window. BBR does not fill its window, which is twice what
/// it takes the path to hold; of that it must have left much.
fn held_by_window(end: &Value, rtts_us: Option<(f64, f64)>) -> Option<LimitedBy> {
    let (least_us, most_us) = rtts_us?;
    let sent = &end["sum_sent"];
    let is_long = number(&sent["seconds"]).is_some_and(|seconds| seconds >= LONG_S);
    let is_lossless = sent["retransmits"].as_f64() == Some(0.0);
    if !is_long || !is_lossless || least_us < FAR_US || super::is_queued(least_us / 1e3, most_us / 1e3) {
        return None;
    }
    let streams = end["streams"].as_array()?;
    let most = |key: &str| streams.iter().filter_map(|s| number(&s["sender"][key])).reduce(f64::max);
    let used_bytes = number(&sent["bits_per_second"])? / 8.0 * least_us / 1e6 / streams.len() as f64;
    let is_bbr = end["sender_tcp_congestion"].as_str().is_some_and(|name| name.starts_with("bbr"));
    if is_bbr && most("max_snd_cwnd").is_none_or(|cwnd_bytes| cwnd_bytes < OF_BBR * used_bytes) {
        return None;
    }
    let is_receivers = most("max_snd_wnd").is_none_or(|window_bytes| window_bytes < 2.0 * used_bytes);
    Some(if is_receivers { LimitedBy::ReceiveWindow } else { LimitedBy::SendBuffer })
}

/// No RTT is in a test with UDP. What was lost above the path's rate is no loss by chance; without losses the rate is what was asked for.
fn udp(end: &Value, test: &Value) -> Readings {
    let sum = [&end["sum_received"], &end["sum"]].into_iter().find(|sum| number(&sum["packets"]).is_some());
    let lost = sum.and_then(|sum| Some((number(&sum["lost_packets"])?, number(&sum["packets"])?)));
    let sent_bps = sum.and_then(|sum| number(&sum["bits_per_second"])).or_else(|| number(&test["target_bitrate"]));
    let arrived_bps = lost.zip(sent_bps).map(|((lost, packets), bps)| bps * (1.0 - lost / packets));
    let no_measure = "a test with UDP that lost nothing tells neither the rate nor the loss of the path: only that it carries as much as was asked \
                      for";
    Readings {
        payload_bps: arrived_bps
            .filter(|bps| *bps > 0.0)
            .map(|bps| Reading::new(bps, "end.sum.bits_per_second, less the lost")),
        cautions: if lost.is_none() { vec![no_measure.to_owned()] } else { Vec::new() },
        ..Readings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn udp_that_loses_tells_the_rate_and_nothing_else() {
        let udp = |lost: i64| {
            let end = format!(r#"{{"sum": {{"bits_per_second": 20e6, "lost_packets": {lost}, "packets": 2000}}}}"#);
            readings(&format!(r#"{{"start": {{"test_start": {{"protocol": "UDP"}}}}, "end": {end}}}"#)).unwrap()
        };
        assert_eq!(udp(10).payload_bps.unwrap().value, 19.9e6);
        assert!(udp(10).losses.is_none() && udp(10).least_rtt_ms.is_none() && udp(10).cautions.is_empty());
        // Some versions count below 0.
        assert!(udp(0).payload_bps.is_none() && udp(-3).payload_bps.is_none());
        assert!(udp(0).cautions[0].contains("neither the rate nor the loss"));
    }

    #[test]
    fn several_streams_share_one_path() {
        let text = r#"{"start": {"tcp_mss_default": 1000, "test_start": {"num_streams": 2}}, "end": {
            "streams": [{"sender": {"min_rtt": 12000, "max_rtt": 20000}}, {"sender": {"min_rtt": 11000, "max_rtt": 19000}}],
            "sum_sent": {"retransmits": 7, "bytes": 5000000}, "sum_received": {"bits_per_second": 4e6}}}"#;
        let readings = readings(text).unwrap();
        assert_eq!((readings.least_rtt_ms.unwrap().value, readings.busy_rtt_ms.unwrap().value), (11.0, 20.0));
        assert_eq!(readings.losses.unwrap().value, Losses { lost: 7.0, packets: 5000.0 });
        assert_eq!((readings.connections, readings.receives), (Some(2), false));
    }

    /// 80 Mb/s and 100 ms are 1 MB under way.
    #[test]
    fn a_window_holds_what_loses_nothing_and_meets_no_queue() {
        let held = |retransmits: u32, max_rtt: u32, more: &str, controller: &str| {
            let sender = format!(r#"{{"min_rtt": 100000, "max_rtt": {max_rtt}{more}}}"#);
            let sent =
                format!(r#"{{"retransmits": {retransmits}, "bytes": 1e8, "seconds": 10, "bits_per_second": 80e6}}"#);
            let end = format!(
                r#"{{"streams": [{{"sender": {sender}}}], "sum_sent": {sent}, "sum_received": {{"bits_per_second": 80e6}},
                   "sender_tcp_congestion": "{controller}"}}"#
            );
            readings(&format!(r#"{{"start": {{}}, "end": {end}}}"#)).unwrap().limited_by.map(|by| by.value)
        };
        assert_eq!(held(0, 101_000, "", "cubic"), Some(LimitedBy::ReceiveWindow));
        assert_eq!(held(0, 101_000, r#", "max_snd_wnd": 3000000"#, "cubic"), Some(LimitedBy::SendBuffer));
        assert_eq!((held(1, 101_000, "", "cubic"), held(0, 150_000, "", "cubic")), (None, None));
        assert_eq!(held(0, 101_000, r#", "max_snd_cwnd": 2000000"#, "bbr"), None);
        assert_eq!(held(0, 101_000, r#", "max_snd_cwnd": 4000000"#, "bbr"), Some(LimitedBy::ReceiveWindow));
    }

    const INTERVALS: &str = r#"{"start": {}, "intervals": [
        {"sum": {"bits_per_second": 10e6, "omitted": false}}, {"sum": {"bits_per_second": 20e6, "omitted": false}}"#;

    #[test]
    fn a_run_that_ended_badly_has_its_intervals() {
        let cut = readings(INTERVALS).unwrap();
        assert_eq!(cut.payload_bps.unwrap().value, 15e6);
        assert!(cut.cautions[0].contains("no whole JSON"), "{:?}", cut.cautions);
        let failed = readings(&format!(r#"{INTERVALS}], "end": {{}}, "error": "lost"}}"#)).unwrap();
        assert_eq!(failed.payload_bps.unwrap().value, 15e6);
        assert!(failed.cautions[0].contains("`lost`"), "{:?}", failed.cautions);
        assert!(
            readings(r#"{"start": {}, "error": "unable to connect"}"#).unwrap_err().contains("iperf3 failed: unable")
        );
    }

    const WHOLE: &str =
        r#"{"start": {"test_start": {"reverse": 1}}, "end": {"sum_received": {"bits_per_second": 4e6}}}"#;

    #[test]
    fn what_is_around_the_json_is_left() {
        let found = readings(&format!("warning: slow\n{WHOLE}\niperf3: error - broken pipe\n")).unwrap();
        assert_eq!((found.payload_bps.unwrap().value, found.receives), (4e6, true));
        assert!(readings(&format!("{WHOLE}{WHOLE}")).unwrap().cautions[0].contains("2 runs"));
        let stream = r#"{"event": "start", "data": {"tcp_mss_default": 8948}}
            {"event": "end", "data": {"sum_received": {"bits_per_second": 5e6}}}"#;
        let found = readings(stream).unwrap();
        assert_eq!((found.payload_bps.unwrap().value, found.mss), (5e6, Some(8948.0)));
    }
}
