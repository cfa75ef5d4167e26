// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run with TCP: from its `end`, or where that is missing from its intervals.

use serde_json::Value;

use super::{Run, course::Course, number};
use crate::measured::{
    Direction, Evidence, LimitedBy,
    reading::{Losses, Packet, Reading, Readings, Windows, controller_name, rate_words},
};

/// A flow that was told to send no more than a rate, and did, is near it by this share.
const TOLD_SHARE: f64 = 0.9;

pub(super) fn readings(run: &Run) -> Result<Readings, String> {
    let course = Course::of(run);
    let payload_bps = payload(run, &course).ok_or_else(|| run.failure())?;
    let packet = packet(run, &course);
    let sends = run.direction() != Some(Direction::Receives);
    let controller = run.end["sender_tcp_congestion"].as_str().and_then(controller_name);
    let mut readings = Readings {
        limited_by: told(run, payload_bps.value),
        payload_bps: Some(payload_bps),
        seconds: number(&run.sum("sum_sent")["seconds"]).or(Some(course.seconds)),
        losses: losses(run, &course, packet.unwrap_or_default()),
        packet: packet.unwrap_or_default(),
        is_packet_known: packet.is_some(),
        flows: run.flows(),
        controller,
        windows: windows(run, &course),
        processor: processor(run),
        fall: course.fall(run.flows().unwrap_or(1)),
        ..Readings::default()
    };
    // The receiver's kernel measures no RTT of the bulk data.
    if sends {
        add_rtts(&mut readings, run, &course);
    }
    if run.end["sum_received"].is_null() && run.end["sum_sent"].is_null() && course.count > 0 {
        let (count, seconds) = (course.count, course.seconds);
        readings
            .cautions
            .push(format!("The run has no sums at its end: {count} whole intervals, {seconds:.0} s, were used."));
    }
    if readings.least_rtt_ms.is_none() && sends {
        readings.cautions.push("This version of `iperf3` tells no RTT: add what `ping` prints.".to_owned());
    }
    Ok(readings)
}

/// The bytes that arrived. If only the sender has counted, those that it sent; if the run broke off, the sum of its intervals.
fn payload(run: &Run, course: &Course) -> Option<Reading<f64>> {
    let of_sum = |key: &str| {
        number(&run.sum(key)["bits_per_second"]).map(|bps| Reading::new(bps, format!("end.{key}.bits_per_second")))
    };
    let of_intervals = || course.payload_bps().map(|bps| Reading::new(bps, "intervals[].sum.bytes"));
    let of_streams = || {
        let rate = |stream: &Value| {
            number(&stream["receiver"]["bits_per_second"]).or_else(|| number(&stream["sender"]["bits_per_second"]))
        };
        let bps: f64 = run.streams().filter_map(rate).sum();
        (bps > 0.0 && bps.is_finite()).then(|| Reading::new(bps, "end.streams[].bits_per_second"))
    };
    of_sum("sum_received").or_else(|| of_sum("sum_sent")).or_else(of_intervals).or_else(of_streams)
}

/// `-M` sets the MSS; the default is the connection's.
fn packet(run: &Run, course: &Course) -> Option<Packet> {
    let mss = number(&run.start["tcp_mss"]).or_else(|| number(&run.start["tcp_mss_default"]))?;
    let host = run.start["connected"][0]["remote_host"].as_str().unwrap_or_default();
    let is_ipv6 = host.contains(':') && !host.contains("::ffff:");
    Packet::of_tcp(mss, course.path_mtu, u32::from(is_ipv6))
}

fn losses(run: &Run, course: &Course, packet: Packet) -> Option<Reading<Losses>> {
    let sum = run.sum("sum_sent");
    let of = |lost: f64, bytes: f64| Losses { lost: lost.max(0.0), packets: bytes / packet.payload_bytes };
    let of_sum = sum["retransmits"].as_f64().zip(number(&sum["bytes"]));
    let of_intervals = course.retransmits.filter(|_| course.bytes > 0.0);
    of_sum
        .map(|(lost, bytes)| Reading::new(of(lost, bytes), "end.sum_sent.retransmits"))
        .or_else(|| of_intervals.map(|lost| Reading::new(of(lost, course.bytes), "intervals[].sum.retransmits")))
}

fn add_rtts(readings: &mut Readings, run: &Run, course: &Course) {
    let of_streams = |key: &str| run.streams().filter_map(|s| number(&s["sender"][key])).collect::<Vec<f64>>();
    let least_us = of_streams("min_rtt").into_iter().reduce(f64::min);
    let most_us = of_streams("max_rtt").into_iter().reduce(f64::max);
    let means_us = of_streams("mean_rtt");
    let reading = |us: Option<f64>, field: &str| us.map(|us| Reading::new(us / 1e3, field));
    if least_us.is_some() {
        readings.least_rtt_ms = reading(least_us, "end.streams[].sender.min_rtt");
        readings.busy_rtt_ms = reading(most_us, "end.streams[].sender.max_rtt");
        let mean_us = means_us.iter().sum::<f64>() / means_us.len() as f64;
        readings.mean_rtt_ms = Some(mean_us / 1e3).filter(|ms| ms.is_finite());
    } else {
        readings.least_rtt_ms = reading(course.least_rtt_us, "smallest intervals[].streams[].rtt");
        readings.busy_rtt_ms = reading(course.most_rtt_us, "largest intervals[].streams[].rtt");
        readings.mean_rtt_ms = course.mean_rtt_us.map(|us| us / 1e3);
    }
}

/// `sndbuf_actual` is the buffer at the start, which grows unless `-w` has fixed it.
fn windows(run: &Run, course: &Course) -> Windows {
    let largest = |key: &str| run.streams().filter_map(|s| number(&s["sender"][key])).reduce(f64::max);
    let is_fixed = number(&run.start["sock_bufsize"]).is_some();
    Windows {
        congestion_bytes: largest("max_snd_cwnd").or(course.congestion_bytes),
        receive_bytes: largest("max_snd_wnd").or(course.receive_bytes),
        send_bytes: number(&run.start["sndbuf_actual"]).filter(|_| is_fixed),
        is_growing: course.is_growing(),
    }
}

/// A core used for this share of the time is full. Ours.
const BUSY_PERCENT: f64 = 95.0;
/// From this version on each stream has a thread.
const THREADED: (u32, u32) = (3, 16);

/// A thread that had no time left; percent are of one core.
fn processor(run: &Run) -> Option<Evidence> {
    let version = run.start["version"].as_str().and_then(|version| version.strip_prefix("iperf "))?;
    let mut parts = version.split(['.', '+', ' ']).map(|part| part.parse::<u32>().ok());
    let version = (parts.next()??, parts.next()??);
    let threads = if version >= THREADED { f64::from(run.flows().unwrap_or(1)) } else { 1.0 };
    [("host_total", "here"), ("remote_total", "at the other end")].into_iter().find_map(|(key, place)| {
        let percent = number(&run.end["cpu_utilization_percent"][key])?;
        (percent >= BUSY_PERCENT * threads).then(|| {
            let words = format!("iperf3 used {percent:.0} % of a core {place}");
            Evidence::new(words, format!("end.cpu_utilization_percent.{key}"))
        })
    })
}

/// `-b` and `--fq-rate` are bits a second of each stream.
fn told(run: &Run, payload_bps: f64) -> Option<LimitedBy> {
    let test = &run.start["test_start"];
    let flows = f64::from(run.flows().unwrap_or(1));
    [(&test["target_bitrate"], "target_bitrate"), (&test["fqrate"], "fqrate"), (&run.start["fq_rate"], "fq_rate")]
        .into_iter()
        .find_map(|(told, field)| Some((number(told)? * flows, field)))
        .filter(|(told_bps, _)| payload_bps >= TOLD_SHARE * told_bps)
        .map(|(told_bps, field)| {
            let words = format!("iperf3 was told to send no more than {}", rate_words(told_bps));
            LimitedBy::Application(Evidence::new(words, format!("start.test_start.{field}")))
        })
}
