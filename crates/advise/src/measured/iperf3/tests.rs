// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs as versions of iperf3 write them.

use super::*;
use crate::measured::{
    LimitedBy,
    json::documents,
    reading::{Losses, Reading},
};

fn all(text: &str) -> Result<Vec<Readings>, String> {
    let json = documents(text);
    assert!(is_iperf3(&json), "{text}");
    readings(json)
}

fn one(text: &str) -> Readings {
    let mut all = all(text).unwrap_or_else(|why| panic!("{why}: {text}"));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn tcp(test: &str, end: &str) -> String {
    format!(r#"{{"start": {{"test_start": {{"protocol": "TCP"{test}}}}}, "end": {{{end}}}}}"#)
}

fn udp(end: &str) -> String {
    format!(r#"{{"start": {{"test_start": {{"protocol": "UDP", "blksize": 1200}}}}, "end": {{{end}}}}}"#)
}

#[test]
fn udp_that_is_too_much_measures_the_rate_alone() {
    let read = one(&udp(r#""sum": {"bits_per_second": 20e6, "lost_packets": 400, "packets": 2000}"#));
    // A fifth is lost.
    assert_eq!(read.payload_bps.as_ref().unwrap().value, 16e6);
    assert!(read.overload.is_some() && read.losses.is_none() && read.least_rtt_ms.is_none());
    // 16 Mb/s * (1200 + 28) / 1200.
    assert!((read.wire_bps().unwrap() - 16.373e6).abs() < 1e3);
    let sums = r#""sum": {"bits_per_second": 20e6, "lost_packets": 400, "packets": 2000},
        "sum_received": {"bits_per_second": 15e6, "lost_packets": 400, "packets": 2000}"#;
    assert_eq!(one(&udp(sums)).payload_bps.unwrap(), Reading::new(15e6, "end.sum_received.bits_per_second"));
    let few = one(&udp(r#""sum": {"bits_per_second": 20e6, "lost_packets": 2, "packets": 2000}"#));
    assert!(few.overload.is_none() && few.payload_bps.is_some() && few.cautions[0].contains("2 of 2000"));
}

#[test]
fn udp_without_loss_measures_nothing() {
    for (lost, packets) in [("0", "2000"), ("-3", "2000"), ("0", "0"), ("-nan", "0")] {
        let sum = format!(r#""sum": {{"bits_per_second": 1e6, "lost_packets": {lost}, "packets": {packets}}}"#);
        let read = one(&udp(&sum));
        assert!(read.payload_bps.is_none() && read.losses.is_none(), "{sum}");
        assert!(!read.cautions.is_empty());
    }
}

#[test]
fn several_streams_share_one_path() {
    let text = r#"{"start": {"tcp_mss_default": 1000}, "end": {
        "streams": [{"sender": {"min_rtt": 12000, "max_rtt": 20000, "mean_rtt": 14000}},
                    {"sender": {"min_rtt": 11000, "max_rtt": 19000, "mean_rtt": 16000}}],
        "sum_sent": {"retransmits": 7, "bytes": 5000000}, "sum_received": {"bits_per_second": 4e6},
        "sender_tcp_congestion": "reno"}}"#;
    let read = one(text);
    assert_eq!((read.least_rtt_ms.unwrap().value, read.busy_rtt_ms.unwrap().value), (11.0, 20.0));
    assert_eq!((read.mean_rtt_ms, read.flows, read.controller.as_deref()), (Some(15.0), Some(2), Some("reno")));
    assert_eq!(read.losses.unwrap().value, Losses { lost: 7.0, packets: 5000.0 });
}

const INTERVAL: &str = r#"{"streams": [{"rtt": 30000, "snd_cwnd": 90000}],
    "sum": {"seconds": 2, "bytes": 5000000, "retransmits": 3}}"#;

#[test]
fn a_run_that_broke_off_has_its_intervals() {
    let later = INTERVAL.replace("30000", "50000");
    let start = format!(r#"{{"start": {{"test_start": {{}}}}, "intervals": [{INTERVAL}, {later}"#);
    let failed = format!(r#"{start}], "end": {{}}, "error": "control socket has closed"}}"#);
    let cut = format!(r#"{start}, {{"streams": [{{"rtt": 900"#);
    for (text, caution) in [(failed, "control socket has closed"), (cut, "cut off")] {
        let read = one(&text);
        // 5 MB in 2 s, twice.
        assert_eq!(read.payload_bps.unwrap().value, 20e6);
        assert_eq!((read.least_rtt_ms.unwrap().value, read.busy_rtt_ms.unwrap().value), (30.0, 50.0));
        assert_eq!((read.mean_rtt_ms, read.losses.unwrap().value.lost), (Some(40.0), 6.0));
        assert!(read.cautions.iter().any(|c| c.contains(caution)), "{:?}", read.cautions);
        assert!(read.cautions.iter().any(|c| c.contains("2 whole intervals, 4 s")), "{:?}", read.cautions);
    }
}

#[test]
fn damage_in_the_middle_leaves_the_intervals_around_it() {
    let text = format!(r#"{{"start": {{}}, "intervals": [{INTERVAL}, ~~~ }} {INTERVAL}], "end": {{"#);
    let read = one(&text);
    assert_eq!(read.losses.unwrap().value.lost, 6.0);
}

#[test]
fn a_stream_of_events_is_one_run() {
    let text = format!(
        "{{\"event\": \"start\", \"data\": {{\"test_start\": {{\"num_streams\": 3}}}}}}\n\
         {{\"event\": \"interval\", \"data\": {INTERVAL}}}\n\
         {{\"event\": \"end\", \"data\": {{\"sum_received\": {{\"bits_per_second\": 7e6}}}}}}\n"
    );
    let read = one(&text);
    assert_eq!((read.payload_bps.unwrap().value, read.flows), (7e6, Some(3)));
    assert_eq!(read.least_rtt_ms.unwrap().value, 30.0);
}

#[test]
fn runs_in_a_row_or_in_an_array_are_all_read() {
    let run = tcp("", r#""sum_received": {"bits_per_second": 7e6}"#);
    for text in [format!("{run}\n{run}\n"), format!("[{run}, {run}]")] {
        let all = all(&text).unwrap();
        assert_eq!(all.len(), 2);
        assert!(all[0].cautions[0].contains("2 runs"));
    }
    let failed = r#"{"start": {}, "error": "unable to connect"}"#;
    let read = one(&format!("{failed}\n{run}"));
    assert!(
        read.cautions.iter().any(|c| c.contains("Run 1 of 2 has no measurement: iperf3 failed: unable to connect."))
    );
    assert!(all(failed).unwrap_err().contains("iperf3 failed: unable to connect"));
    let read = one(&format!("warning: x\u{1b}[1m\n{run}"));
    assert!(read.cautions[0].contains("contains `warning: x [1m`"));
}

#[test]
fn the_direction_is_that_of_this_machine() {
    let both =
        r#""sum_sent": {"bytes": 9, "bits_per_second": 2e6}, "sum_received": {"bytes": 8, "bits_per_second": 1e6}"#;
    let direction = |test: &str, end: &str| one(&tcp(test, end)).direction;
    assert_eq!(direction(r#", "reverse": 0"#, both), Some(Direction::Sends));
    assert_eq!(direction(r#", "reverse": 1"#, both), Some(Direction::Receives));
    // A server: of an upload, of a download.
    let received =
        r#""sum_sent": {"bytes": 0, "bits_per_second": 0}, "sum_received": {"bytes": 8, "bits_per_second": 1e6}"#;
    assert_eq!(direction(r#", "reverse": 0"#, received), Some(Direction::Receives));
    let sent =
        r#""sum_sent": {"bytes": 8, "bits_per_second": 2e6}, "sum_received": {"bytes": 0, "bits_per_second": 0}"#;
    assert_eq!(direction(r#", "reverse": 1"#, sent), Some(Direction::Sends));
    assert_eq!(one(&tcp(r#", "reverse": 1"#, sent)).payload_bps.unwrap().value, 2e6);
    let flagged = r#""sum_received": {"bits_per_second": 1e6, "sender": false}"#;
    assert_eq!(direction("", flagged), Some(Direction::Receives));
}

#[test]
fn of_both_directions_the_upload_counts() {
    let newer = r#""sum_received": {"bits_per_second": 3e6}, "sum_received_bidir_reverse": {"bits_per_second": 80e6}"#;
    let older = r#""sum_received": {"bits_per_second": 3e6}, "sum_received": {"bits_per_second": 80e6}"#;
    let server = r#""sum_received": {"bits_per_second": 80e6, "sender": false},
        "sum_received": {"bits_per_second": 3e6, "sender": true}"#;
    for end in [newer, older, server] {
        let read = one(&tcp(r#", "bidir": 1"#, end));
        assert_eq!((read.payload_bps.unwrap().value, read.direction), (3e6, Some(Direction::Sends)));
        assert!(read.cautions.iter().any(|c| c.contains("--bidir")));
    }
    assert!(one(&tcp("", older)).cautions.iter().any(|c| c.contains("download of 80mbit")));
}

#[test]
fn what_was_told_to_be_slow_is_limited_by_the_application() {
    let limit = |mbps: &str| {
        let end = format!(r#""sum_received": {{"bits_per_second": {mbps}e6}}"#);
        one(&tcp(r#", "num_streams": 2, "target_bitrate": 5000000"#, &end)).limited_by
    };
    // Two streams of 5 Mb/s.
    assert!(matches!(limit("9.9"), Some(LimitedBy::Application(_))));
    assert_eq!(limit("7"), None);
}

#[test]
fn what_measured_nothing_says_why() {
    assert!(all(r#"{"start": {}}"#).unwrap_err().contains("no `end`"));
    let empty = tcp("", r#""sum_received": {"bits_per_second": 0}"#);
    assert!(all(&empty).unwrap_err().contains("did the test run to its end?"));
}
