// SPDX-License-Identifier: MIT OR Apache-2.0
//! The intervals of a run: they stand in for an `end` that is missing, and tell whether the rate was still growing.

use serde_json::Value;

use super::{Run, number};
use crate::measured::{json::AGAIN, reading::Fall};

/// Fewer intervals do not show growth.
const FEW_INTERVALS: usize = 8;
/// Growth from the third quarter of a run to the last that counts as growing. Ours.
const GROWN: f64 = 1.1;
/// A peak exceeds everything in the later half by this factor. Ours.
const PEAK: f64 = 1.5;
/// If packets are lost at random with probability p, slow start ends after some 2 / p packets, and as many pass between the few losses that follow,
/// before the window settles. A peak with more packets was not slow start's. Ours.
const SLOW_START_LOSSES: f64 = 8.0;
/// A sender's buffer holds as much again as its largest congestion window (net/ipv4/tcp_input.c, tcp_sndbuf_expand), which looks like a peak
/// while it fills.
const WINDOWS_OF_BUFFER: f64 = 2.0;

/// All intervals together.
#[derive(Debug, Default)]
pub struct Course {
    pub count: usize,
    pub bytes: f64,
    pub seconds: f64,
    pub retransmits: Option<f64>,
    /// Packets of UDP, at the receiver.
    pub packets: f64,
    pub lost_packets: f64,
    pub least_rtt_us: Option<f64>,
    pub most_rtt_us: Option<f64>,
    pub mean_rtt_us: Option<f64>,
    pub congestion_bytes: Option<f64>,
    pub receive_bytes: Option<f64>,
    pub path_mtu: Option<f64>,
    rates_bps: Vec<f64>,
    seconds_of_each: Vec<f64>,
    retransmits_of_each: Vec<f64>,
    congestions_bytes: Vec<f64>,
}

impl Course {
    pub fn of(run: &Run) -> Self {
        let mut course = Self::default();
        let mut rtts_us = Vec::new();
        for interval in run.intervals.iter().filter(|interval| interval["sum"]["omitted"] != true) {
            let again = &interval[format!("sum{AGAIN}")];
            let is_second = run.is_bidir && interval["sum"]["sender"] == false && again["sender"] == true;
            course.add_sum(if is_second { again } else { &interval["sum"] });
            let streams = interval["streams"].as_array().map_or(&[][..], Vec::as_slice);
            for stream in streams.iter().filter(|stream| !run.is_bidir || stream["sender"] != false) {
                rtts_us.extend(number(&stream["rtt"]));
                course.add_stream(stream);
            }
        }
        course.least_rtt_us = rtts_us.iter().copied().reduce(f64::min);
        course.most_rtt_us = rtts_us.iter().copied().reduce(f64::max);
        course.mean_rtt_us = mean(&rtts_us);
        course
    }

    fn add_sum(&mut self, sum: &Value) {
        let (Some(bytes), Some(seconds)) = (sum["bytes"].as_f64(), number(&sum["seconds"])) else { return };
        self.count += 1;
        self.bytes += bytes;
        self.seconds += seconds;
        self.rates_bps.push(bytes * 8.0 / seconds);
        self.seconds_of_each.push(seconds);
        if let Some(retransmits) = sum["retransmits"].as_f64() {
            self.retransmits_of_each.push(retransmits.max(0.0));
            self.retransmits = Some(self.retransmits.unwrap_or(0.0) + retransmits.max(0.0));
        }
        if let (Some(packets), Some(lost)) = (number(&sum["packets"]), sum["lost_packets"].as_f64()) {
            self.packets += packets;
            self.lost_packets += lost.max(0.0);
        }
    }

    fn add_stream(&mut self, stream: &Value) {
        let congestion = number(&stream["snd_cwnd"]);
        self.congestions_bytes.extend(congestion);
        let largest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        self.congestion_bytes = largest(self.congestion_bytes, congestion);
        self.receive_bytes = largest(self.receive_bytes, number(&stream["snd_wnd"]));
        self.path_mtu = number(&stream["pmtu"]).or(self.path_mtu);
    }

    pub fn payload_bps(&self) -> Option<f64> {
        let bps = self.bytes * 8.0 / self.seconds;
        (bps.is_finite() && bps > 0.0).then_some(bps)
    }

    /// A controller that still grows is not held back by a window.
    pub fn is_growing(&self) -> bool {
        has_grown(&self.rates_bps) || has_grown(&self.congestions_bytes)
    }
}

impl Course {
    /// Its rate was high, then much lower and losing.
    pub fn fall(&self, flows: u32) -> Option<Fall> {
        let count = self.rates_bps.len();
        if count < FEW_INTERVALS || self.retransmits_of_each.len() != count {
            return None;
        }
        let (earlier, later) = self.rates_bps.split_at(count / 2);
        let peak_bps = earlier.iter().copied().fold(0.0, f64::max);
        let later_most_bps = later.iter().copied().fold(0.0, f64::max);
        let later_bps = mean(later)?;
        let above = earlier.iter().zip(&self.seconds_of_each).map(|(bps, s)| (bps - later_bps).max(0.0) * s / 8.0);
        let excess_bytes: f64 = above.sum();
        let buffered_bytes = WINDOWS_OF_BUFFER * self.congestion_bytes? * f64::from(flows);
        let losses_of_interval = mean(&self.retransmits_of_each[count / 2..])?;
        let is_chance = losses_of_interval * (peak_bps / later_bps - 1.0) < SLOW_START_LOSSES;
        let is_fall = peak_bps >= PEAK * later_most_bps && excess_bytes > buffered_bytes && !is_chance;
        is_fall.then_some(Fall { peak_bps, later_bps, excess_bytes })
    }
}

fn has_grown(values: &[f64]) -> bool {
    if values.len() < FEW_INTERVALS {
        return false;
    }
    let quarter = values.len() / 4;
    let (before, last) = values.split_at(values.len() - quarter);
    let third = mean(&before[before.len() - quarter..]);
    third.zip(mean(last)).is_some_and(|(third, last)| last > GROWN * third)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight intervals of a second, with this much in the first and losses in each of the later ones.
    fn fallen(first_bps: f64, losses: f64, congestion_bytes: f64) -> Option<Fall> {
        let mut rates_bps = vec![40e6; 8];
        rates_bps[0] = first_bps;
        let course = Course {
            rates_bps,
            seconds_of_each: vec![1.0; 8],
            retransmits_of_each: vec![losses; 8],
            congestion_bytes: Some(congestion_bytes),
            ..Course::default()
        };
        course.fall(2)
    }

    #[test]
    fn a_fall_is_no_slow_start_and_no_buffer_that_fills() {
        // 160 Mb above 40 are 20 MB.
        let expected = Fall { peak_bps: 200e6, later_bps: 40e6, excess_bytes: 20e6 };
        assert_eq!(fallen(200e6, 3.0, 1e6), Some(expected));
        // 1 loss in 3450 packets of an interval: 8 / p are 27,600 packets, and 13,800 came above.
        assert_eq!(fallen(200e6, 1.0, 1e6), None);
        // Two connections with 6 MB each fill buffers of 24 MB.
        assert_eq!(fallen(200e6, 3.0, 6e6), None);
        assert_eq!(fallen(59e6, 100.0, 1e5), None);
        assert_eq!(Course::default().fall(1), None);
    }

    #[test]
    fn growth_is_seen_from_the_third_quarter_to_the_last() {
        assert!(has_grown(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]));
        // It grew until the middle.
        assert!(!has_grown(&[1.0, 2.0, 3.0, 8.0, 8.0, 8.0, 8.0, 8.5]));
        assert!(!has_grown(&[1.0, 2.0]) && !has_grown(&[]));
    }
}
