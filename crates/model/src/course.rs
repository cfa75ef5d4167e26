// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole run, round after round, and what is measured of a part of it.

use tandem_results::Distribution;

use crate::{
    connection::Connection,
    epoch::Record,
    follow::{Follower, MOST_ROUNDS},
    law::{Arithmetic, Law, ModelError},
    path::Path,
};

/// A round with its place in time: packet times from the start.
struct Timed {
    start: f64,
    record: Record,
    /// Packets that its end finds lost.
    lost_packets: f64,
}

/// A run.
pub struct Course {
    rounds: Vec<Timed>,
    end: f64,
    packets_per_s: f64,
}

/// A part of a run.
pub struct Part {
    /// Packets delivered.
    pub data: f64,
    /// Packets lost.
    pub lost: f64,
    /// Reductions of the window by loss.
    pub losses: u64,
    /// Queue in packets and for how long, packet times.
    queue: Vec<(f64, f64)>,
}

/// A queue that changes is measured at this many points between.
const STEPS: u32 = 8;

impl Course {
    pub fn new(packets_per_s: f64) -> Self {
        Self { rounds: Vec::new(), end: 0.0, packets_per_s }
    }

    /// Packet times so far.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// An epoch, whose end finds `lost_packets` lost.
    pub fn append(&mut self, records: Vec<Record>, lost_packets: f64) {
        let start = |end: &mut f64, record: Record| {
            let start = *end;
            *end += record.totals.time;
            Timed { start, record, lost_packets: 0.0 }
        };
        let end = &mut self.end;
        self.rounds.extend(records.into_iter().map(|record| start(end, record)));
        if let Some(last) = self.rounds.last_mut() {
            last.lost_packets = lost_packets;
        }
    }

    /// What happens from one time to another, seconds.
    pub fn between(&self, from_s: f64, to_s: f64) -> Part {
        let (from, to) = (from_s * self.packets_per_s, to_s * self.packets_per_s);
        let mut part = Part { data: 0.0, lost: 0.0, losses: 0, queue: Vec::new() };
        for round in &self.rounds {
            let Record { totals, queue, is_recovery, .. } = &round.record;
            let end = round.start + totals.time;
            let inside = (end.min(to) - round.start.max(from)).max(0.0);
            if inside == 0.0 {
                continue;
            }
            part.data += totals.data * inside / totals.time;
            part.losses += u64::from(*is_recovery && round.start >= from);
            part.lost += if end <= to { round.lost_packets } else { 0.0 };
            for segment in queue {
                for step in 0..STEPS {
                    let along = (f64::from(step) + 0.5) / f64::from(STEPS);
                    let time = segment.time / f64::from(STEPS) * inside / totals.time;
                    part.queue.push((segment.from + along * (segment.to - segment.from), time));
                }
            }
        }
        part
    }

    /// The round at a time, and the queue in it, packets; the last round after the end.
    pub fn at(&self, time_s: f64) -> (&Record, f64) {
        let time = time_s * self.packets_per_s;
        let next = self.rounds.partition_point(|round| round.start <= time);
        let round = &self.rounds[next.max(1) - 1];
        let mut into = time - round.start;
        for segment in &round.record.queue {
            if into <= segment.time {
                let along = into / segment.time;
                return (&round.record, segment.from + along * (segment.to - segment.from));
            }
            into -= segment.time;
        }
        (&round.record, round.record.queue.last().map_or(0.0, |segment| segment.to))
    }

    /// Payload in each second up to the end of the run, megabits.
    pub fn megabits_by_second(&self, duration_s: f64, payload_bytes: u32) -> Vec<f32> {
        let mut seconds = vec![0.0; duration_s.ceil() as usize];
        for round in &self.rounds {
            let (start, time) = (round.start / self.packets_per_s, round.record.totals.time / self.packets_per_s);
            let megabits = round.record.totals.data * f64::from(payload_bytes) * 8.0 / 1e6;
            for second in start as usize..=((start + time) as usize).min(seconds.len().saturating_sub(1)) {
                let from = start.max(second as f64);
                let to = (start + time).min((second + 1) as f64).min(duration_s);
                if to > from {
                    seconds[second] += megabits * (to - from) / time;
                }
            }
        }
        seconds.into_iter().map(|megabits| megabits as f32).collect()
    }
}

impl Part {
    /// The queue over time, in another unit.
    pub fn queue(&self, unit: impl Fn(f64) -> f64) -> Distribution {
        let mut values: Vec<(f64, f64)> = self.queue.iter().map(|&(packets, time)| (unit(packets), time)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let time: f64 = values.iter().map(|v| v.1).sum();
        let at = |share: f64| {
            let mut below = 0.0;
            let found = values.iter().find(|(_, t)| {
                below += t;
                below >= share * time
            });
            found.or(values.last()).map_or(0.0, |v| v.0)
        };
        Distribution {
            mean: values.iter().map(|(value, t)| value * t).sum::<f64>() / time,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

/// One round of a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowPoint {
    /// When the round begins.
    pub time_s: f64,
    /// Loss window plus delay window.
    pub window_packets: f64,
    /// Loss window alone.
    pub loss_window_packets: f64,
}

/// Epochs to be shown, and those before them, in which the connection comes to repeat itself.
const SHOWN_EPOCHS: usize = 2;
const EARLIER_EPOCHS: usize = 4;

/// The window round by round from one loss to the one after the next: S2 Figure 5.
///
/// # Errors
/// [`ModelError`] if path or law is out of the model's range, or losses are too far apart.
pub fn windows_over_time(path: &Path, law: &Law, arithmetic: Arithmetic) -> Result<Vec<WindowPoint>, ModelError> {
    let connection = Connection::new(path, law, arithmetic)?;
    let mut follower = Follower::on(path, &connection, law).recording(MOST_ROUNDS);
    (0..EARLIER_EPOCHS).try_for_each(|_| follower.epoch().map(drop))?;
    follower.take_records();
    let mut course = Course::new(path.packets_per_s());
    for _ in 0..SHOWN_EPOCHS {
        let lost_packets = follower.epoch()?.lost_packets;
        course.append(follower.take_records(), lost_packets);
    }
    let point = |round: &Timed| WindowPoint {
        time_s: round.start / course.packets_per_s,
        window_packets: round.record.window,
        loss_window_packets: round.record.loss_window,
    };
    Ok(course.rounds.iter().map(point).collect())
}
