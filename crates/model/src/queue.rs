// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue during one round, as straight lines.

use crate::{rounds::Round, totals::Totals};

/// A stretch in which the queue changes evenly; packets and packet times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Segment {
    /// How long the stretch lasts, packet times.
    pub time: f64,
    /// Queue at its start, packets.
    pub from: f64,
    /// Queue at its end, packets.
    pub to: f64,
}

/// The most that a round has; the unused ones take no time.
pub type Segments = [Segment; 4];

/// How a sender's packets stand on the path.
#[derive(Debug, Clone, Copy)]
pub struct Spacing {
    /// Packets that fill the empty path.
    pub pipe: f64,
    /// Packets a packet time where no burst has come: recovery sends at that rate, and the spacing stays.
    pub density: f64,
    /// Share of a round over which the window grows; 0 = one step.
    pub spread_gain: f64,
    /// Packets at the head of a round that follow each other at the link's rate. Each burst makes them more: its own
    /// packets, and those that catch up while it drains.
    pub back_to_back: f64,
}

impl Spacing {
    /// The queue in a round, which lasts until the first packet after the change of the window is acknowledged.
    pub fn round(&self, round: Round) -> Segments {
        let (pipe, Round { before, window, .. }) = (self.pipe, round);
        let (high, low) = ((before - pipe).max(0.0), (window - pipe).max(0.0));
        if window < before {
            // Silence until the flight has come down, then the new window.
            let falling = Segment { time: high - low, from: high, to: low };
            let idle = Segment { time: (before - window) - falling.time, from: low, to: low };
            [falling, idle, Segment { time: window.max(pipe), from: low, to: low }, Segment::default()]
        } else if before >= pipe {
            let rising = Segment { time: self.spread_gain * before, from: high, to: low };
            [rising, Segment { time: before - rising.time, from: low, to: low }, Segment::default(), Segment::default()]
        } else {
            self.burst_into_empty_queue(before, round.change.step, low)
        }
    }

    /// A burst waits in front of what follows it back to back, drains while the others come at their own pace, and
    /// leaves what the pipe does not hold.
    fn burst_into_empty_queue(&self, before: f64, grown: f64, left: f64) -> Segments {
        let followers = self.back_to_back.min(before);
        let rising = Segment { time: self.spread_gain * followers, from: 0.0, to: grown };
        let waiting = Segment { time: followers - rising.time, from: grown, to: grown };
        let [draining, rest] = drain(grown, left.min(grown), 1.0 - self.density, self.pipe - followers);
        [rising, waiting, draining, rest]
    }

    /// Takes note of a round below the pipe.
    pub fn after(&mut self, round: Round) {
        if round.before < self.pipe && round.window > round.before {
            let caught_up = round.change.step / (1.0 - self.density);
            self.back_to_back = (self.back_to_back + caught_up).min(round.window);
        }
    }
}

/// A queue that falls to `left` at `rate` and stays there, over `time`.
pub fn drain(queue: f64, left: f64, rate: f64, time: f64) -> [Segment; 2] {
    let falling = ((queue - left) / rate).min(time);
    let end = queue - rate * falling;
    [Segment { time: falling, from: queue, to: end }, Segment { time: time - falling, from: end, to: end }]
}

/// A round that lasts as long as its segments and delivers `data` packets.
pub fn totals(data: f64, segments: &[Segment]) -> Totals {
    Totals {
        rounds: 1.0,
        time: segments.iter().map(|s| s.time).sum(),
        data,
        queue_area: segments.iter().map(|s| s.time * (s.from + s.to) / 2.0).sum(),
    }
}
