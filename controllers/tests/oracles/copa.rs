// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copa in real numbers, from NSDI 2018, section 2. Its window has a fraction and is never set to the integer controller's; only what that
//! shows, its whole packets, is what the rate and the direction are judged by. The smoothed RTT has the integer controller's unit: where
//! halves of times end is then the same, and a difference of a microsecond does not become another one at each of a thousand ends.

use tandem_controllers::{Ack, Params, State};
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle};
use crate::{model::Model, ways::Ways};

pub const ORACLE: Oracle = Oracle { facts: Facts::NONE, kind: Kind::model::<Copa>() };

/// Units of the smoothed RTT in a microsecond.
const SRTT_UNITS: f64 = 128.0;

/// The samples' extreme in this half of a time and in the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Extreme {
    is_largest: bool,
    halves: [Option<f64>; 2],
    since_us: u64,
}

impl Extreme {
    fn new(is_largest: bool) -> Self {
        Self { is_largest, halves: [None; 2], since_us: 0 }
    }

    fn choose(&self, a: f64, b: f64) -> f64 {
        if self.is_largest { a.max(b) } else { a.min(b) }
    }

    fn add(&mut self, sample: f64, now_us: u64, half_us: f64) {
        let age = (now_us - self.since_us) as f64;
        if self.halves[0].is_none() || age >= half_us {
            let kept = self.halves[0].filter(|_| age < 2.0 * half_us);
            (self.halves, self.since_us) = ([None, kept], now_us);
        }
        self.halves[0] = Some(self.halves[0].map_or(sample, |value| self.choose(value, sample)));
    }

    fn value(&self) -> Option<f64> {
        self.halves.into_iter().flatten().reduce(|a, b| self.choose(a, b))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Copa {
    inverse_default: f64,
    competitive: bool,
    min_rtt_time_us: f64,
    empty: f64,
    steady_rounds: f64,
    pacing_gain: f64,
    mss: f64,
    window: f64,
    their_window: f64,
    inverse: f64,
    velocity: f64,
    /// The direction of the last window, and for how many it has been that.
    rises: bool,
    same: f64,
    begin_window: f64,
    slow_start: bool,
    competes: bool,
    reduced: bool,
    /// Packets of this window: delivered, lost.
    counted: (f64, f64),
    srtt_us: Option<f64>,
    min_rtt: Extreme,
    standing: Extreme,
    max_rtt: Extreme,
    empty_at_us: u64,
    /// Positions, packets: acknowledged, sent, and sent when the window began.
    una: u64,
    nxt: u64,
    end: u64,
    /// The standing RTT of the last ACK, of which the rate is.
    paced_rtt_us: f64,
    rate: f64,
}

/// The integer controller's unit of 1 / delta.
fn on_grid(x: f64) -> f64 {
    (x * 1024.0).floor() / 1024.0
}

impl Copa {
    fn delay_us(&self) -> f64 {
        self.standing.value().zip(self.min_rtt.value()).map_or(0.0, |(standing, min)| (standing - min).max(0.0))
    }

    fn set_rate(&mut self, window: f64) {
        self.rate = self.pacing_gain * window * self.mss * 1e6 / self.paced_rtt_us;
    }

    fn is_below(&self) -> bool {
        self.their_window * self.delay_us() <= self.inverse * self.standing.value().unwrap_or(0.0)
    }

    fn take(&mut self, sample: f64, now_us: u64) {
        let kept = |srtt: f64| (srtt * 7.0 / 8.0 * SRTT_UNITS).ceil() / SRTT_UNITS;
        let srtt = self.srtt_us.map_or(sample, |srtt| kept(srtt) + sample / 8.0);
        self.srtt_us = Some(srtt);
        let srtts = |count: f64| srtt.round() * count;
        self.min_rtt.add(sample, now_us, self.min_rtt_time_us / 2.0);
        self.standing.add(sample, now_us, srtts(0.25));
        self.max_rtt.add(sample, now_us, srtts(2.0));
        let range = (self.max_rtt.value().unwrap() - self.min_rtt.value().unwrap()).max(0.0);
        if self.slow_start || self.delay_us() <= (range * self.empty).floor() {
            self.empty_at_us = now_us;
        }
        let since = (now_us - self.empty_at_us) as f64;
        let competes = self.competitive && since > srtts(5.0);
        if self.competes && !competes {
            self.inverse = self.inverse_default;
        }
        self.competes = competes;
    }

    fn begin_round(&mut self) {
        (self.end, self.begin_window, self.reduced) = (self.nxt, self.their_window, false);
        self.counted = (0.0, 0.0);
    }

    fn end_round(&mut self) {
        let rises = match self.their_window.total_cmp(&self.begin_window) {
            std::cmp::Ordering::Equal => self.rises,
            order => order.is_gt(),
        };
        if rises == self.rises {
            self.same = (self.same + 1.0).min(255.0);
            if self.same > self.steady_rounds {
                self.velocity = (2.0 * self.velocity).min(65536.0);
            }
        } else {
            (self.rises, self.same, self.velocity) = (rises, 1.0, 1.0);
        }
        if self.competes && !self.reduced {
            self.inverse = (self.inverse + 1.0).min(16384.0);
        }
        self.begin_round();
    }
}

impl Model for Copa {
    fn new(params: &Params, mss: u32, window: u32, now_us: u64) -> Self {
        let p = |name| params.get(name).unwrap();
        let inverse = on_grid(1.0 / p("delta"));
        let window = f64::from(window);
        let mut new = Self {
            inverse_default: inverse,
            competitive: p("competitive") == 1.0,
            min_rtt_time_us: p("min_rtt_time") * 1e6,
            empty: p("empty"),
            steady_rounds: p("steady_rounds"),
            pacing_gain: p("pacing_gain"),
            mss: mss.into(),
            window,
            their_window: window,
            inverse,
            velocity: 1.0,
            rises: true,
            same: 0.0,
            begin_window: window,
            slow_start: true,
            competes: false,
            reduced: false,
            counted: (0.0, 0.0),
            srtt_us: None,
            min_rtt: Extreme::new(false),
            standing: Extreme::new(false),
            max_rtt: Extreme::new(true),
            empty_at_us: now_us,
            una: 0,
            // The first window is sent after the controller has begun.
            nxt: window as u64,
            end: 0,
            paced_rtt_us: 1000.0,
            rate: 0.0,
        };
        new.set_rate(window);
        new
    }

    fn ack(&mut self, now_us: u64, ack: &Ack, _: &mut Ways) {
        self.una += u64::from(ack.acked_sacked);
        if ack.lost == 0 {
            self.nxt = self.una + u64::from(ack.in_flight);
        }
        if ack.rtt_us > 0 {
            self.take(ack.rtt_us.into(), now_us);
        }
        self.paced_rtt_us = self.standing.value().unwrap_or(1000.0);
        if ack.lost > 0 && self.competes && !self.reduced {
            self.inverse = on_grid(self.inverse / 2.0).max(self.inverse_default);
            self.reduced = true;
        }
        self.counted = (self.counted.0 + f64::from(ack.acked_sacked), self.counted.1 + f64::from(ack.lost));
        let (delivered, lost) = self.counted;
        if self.una > self.end || delivered + lost > 2.0 * self.begin_window {
            if delivered + lost > 20.0 && lost > 0.3 * (delivered + lost) {
                // Whole packets.
                self.window = (self.their_window * 0.7 + 1e-9).floor().max(2.0).min(self.their_window);
                (self.their_window, self.slow_start) = (self.window, false);
                (self.velocity, self.same) = (1.0, 0.0);
            }
            if self.slow_start {
                self.begin_round();
            } else {
                self.end_round();
            }
        }
        if self.slow_start && !self.is_below() {
            (self.slow_start, self.same) = (false, 0.0);
            self.begin_round();
        }
        let acked = f64::from(ack.acked_sacked);
        let may_grow = ack.is_app_limited == 0;
        if self.slow_start {
            self.window += if may_grow { acked } else { 0.0 };
        } else {
            let whole = self.their_window.max(1.0);
            let step = (self.velocity * self.inverse).min(whole) * acked.min(whole) / whole;
            if !self.is_below() {
                self.window = (self.window - step).max(self.window.min(2.0));
            } else if may_grow {
                self.window += step;
            }
        }
    }

    fn sends(&mut self, window: u32) {
        self.their_window = window.into();
        self.nxt = self.nxt.max(self.una + u64::from(window));
        self.set_rate(self.their_window);
    }

    fn agrees(&self, window: u32, rate: u64) -> bool {
        let theirs = f64::from(window);
        // Whole bytes a second, before the gain and after it.
        let close = (rate as f64 - self.rate).abs() <= self.rate * 1e-9 + self.pacing_gain + 1.0;
        close && (theirs - 0.05..theirs + 1.05).contains(&self.window)
    }

    fn reduce(&mut self) {}

    fn enter(&mut self, state: State) {
        if state == State::Loss {
            (self.window, self.their_window, self.slow_start, self.velocity) = (1.0, 1.0, true, 1.0);
        }
    }

    fn restart(&mut self, now_us: u64) {
        self.una = self.nxt.max(self.una + self.their_window as u64);
        self.nxt = self.una;
        (self.standing.halves, self.max_rtt.halves) = ([None; 2], [None; 2]);
        (self.empty_at_us, self.velocity) = (now_us, 1.0);
        self.begin_round();
    }
}
