// SPDX-License-Identifier: MIT OR Apache-2.0
//! compound_steady in real numbers, from docs/controllers/compound_steady.md. What it measures has the integer controller's units: a
//! microsecond or a part of it, 1/256 packets, 1/1024 of a root. Windows and growth are real.

use tandem_controllers::{Ack, Params, State};
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle};
use crate::{model::Model, ways::Ways};

pub const ORACLE: Oracle = Oracle { facts: Facts::NONE, kind: Kind::model::<Steady>() };

/// n where D does not limit growth.
const FREE: f64 = 127.0;
/// Unit of backlogs and of what a round adds, packets.
const PART: f64 = 1.0 / 256.0;

/// Down to a multiple of a unit.
fn down(x: f64, unit: f64) -> f64 {
    (x / unit + 1e-9).floor() * unit
}

/// One of `count` parts of the way, in whole units.
fn towards(from: f64, to: f64, count: f64, unit: f64) -> f64 {
    from + ((to - from) / count / unit).trunc() * unit
}

#[derive(Clone, Debug, PartialEq)]
struct Law {
    buffer_us: f64,
    alpha: f64,
    step: f64,
    noise: f64,
    give: f64,
    pacing_gain: f64,
    overflow_window: f64,
    chance_window: f64,
    low_window: f64,
}

/// A yield under way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Yield {
    rounds: u32,
    /// r when it began.
    from_us: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Steady {
    law: Law,
    mss: f64,
    /// W and L, whole packets, and what W has earned beyond, times W.
    window: f64,
    loss: f64,
    credit: f64,
    /// Packets ACKed towards the next of L.
    counted: f64,
    ssthresh: f64,
    /// What a window of ACKs adds in this round.
    gain: f64,
    una: u64,
    nxt: u64,
    measures: bool,
    timed_out: bool,
    /// This round: where it ends, what was in flight, its RTTs: least, number, mean, mean deviation.
    end: u64,
    flight: f64,
    least: Option<f64>,
    samples: f64,
    mean: f64,
    spread: f64,
    /// r, S and the least RTT of late.
    r: f64,
    s: f64,
    late: Option<f64>,
    /// RTTs of the last samples: their mean, and so that a larger one counts whole.
    recent: Option<f64>,
    peak: f64,
    base: Option<f64>,
    /// D; 0 = unknown.
    overflow: f64,
    q: f64,
    aim: f64,
    /// n
    empty: f64,
    mean_window: f64,
    calm: f64,
    climbs: bool,
    yields: f64,
    yielding: Option<Yield>,
    fails: u32,
    /// r after the last yield, if that moved nothing.
    stays: Option<f64>,
    empty_at: u64,
    paced_rtt: f64,
}

/// 64 ms and a bit.
fn ticks(now_us: u64) -> u64 {
    now_us >> 16
}

impl Steady {
    fn starts(&self) -> bool {
        self.window < self.ssthresh
    }

    /// With the part of a packet that has been earned.
    fn whole_window(&self) -> f64 {
        // What was left from when a packet was worth more counts as one at most.
        self.window + (self.credit / self.window).min(1.0)
    }

    fn noise(&self) -> f64 {
        (self.law.noise * self.s).floor()
    }

    fn is_noisy(&self) -> bool {
        self.noise() > self.law.buffer_us
    }

    /// Does somebody push, as far as it can be told?
    fn is_crowded(&self) -> bool {
        (self.overflow > 0.0 || self.fails > 0) && 2.0 * self.q > 3.0 * self.aim
    }

    fn begin_round(&mut self) {
        (self.end, self.flight) = (self.nxt, (self.nxt - self.una) as f64);
        (self.least, self.samples) = (None, 0.0);
    }

    fn sample(&mut self, rtt: f64) {
        self.recent = Some(self.recent.map_or(rtt, |old| old - down(old / 8.0, 0.125) + rtt / 8.0));
        self.peak = (self.peak - down(self.peak / 8.0, 0.125) + rtt / 8.0).max(rtt);
        if !self.measures {
            return;
        }
        self.late = Some(self.late.map_or(rtt, |late| late.min(rtt)));
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.samples = (self.samples + 1.0).min(255.0);
        if self.samples == 1.0 {
            (self.mean, self.spread) = (rtt, 0.0);
            return;
        }
        self.spread = towards(self.spread, (rtt - self.mean).abs(), self.samples, 1.0 / 128.0);
        self.mean = towards(self.mean, rtt, self.samples, 1.0 / 128.0);
    }

    /// S, r and the least RTT of late; does the round tell anything?
    fn close_round(&mut self) -> bool {
        let Some((least, late)) = self.least.zip(self.late).filter(|_| self.flight > 0.0) else { return false };
        let spread = self.spread.floor().min(65535.0);
        if self.samples >= 8.0 {
            self.s = if spread < self.s { spread } else { self.s + ((spread - self.s) / 16.0).ceil() };
        }
        let late = late + ((least - late) / 256.0).floor();
        self.late = Some(late);
        self.r = if self.is_noisy() { late } else { self.mean.floor() };
        true
    }

    fn measure(&mut self, now_us: u64) {
        let r = self.r;
        let base = self.base.map_or(r, |base| base.min(r));
        let fell = self.base.map_or(0.0, |prior| prior - base);
        if fell <= self.overflow {
            self.overflow += fell;
        }
        self.base = Some(base);
        let from = base + (self.noise() - (base / 128.0).floor()).max(0.0);
        self.q = if r > from { down(self.flight * (r - from) / r, PART) } else { 0.0 };
        let part = if self.overflow > 0.0 { self.overflow.min(self.law.buffer_us) } else { self.law.buffer_us };
        let sent = down(self.flight / r * self.law.buffer_us, PART);
        self.aim = down(part / self.law.buffer_us * down(sent.sqrt(), PART), PART).max(1.0);
        if self.q >= down(self.aim / 2.0, PART) {
            self.empty = 0.0;
        } else if self.q < down(self.aim / 8.0, PART) {
            self.empty = (self.empty + 1.0).min(FREE);
            if self.yields > 0.0 {
                self.empty_at = ticks(now_us);
            }
            self.fails = 0;
        }
    }

    fn is_pushed(&mut self) {
        self.fails = (self.fails + 1).min(5);
        self.stays = None;
    }

    /// What a yield from this r has shown.
    fn judge(&mut self, from_us: f64) {
        let (r, base) = (self.r, self.base.unwrap());
        let before = (from_us - base).max(0.0);
        if (r - base).max(0.0) < (before / 4.0).floor() {
            self.loss = self.loss.min((self.window / 8.0).floor().max(2.0));
        } else if r + (before / 32.0).floor() < from_us {
            self.is_pushed();
        } else if self.window < self.loss {
            match self.stays {
                None => self.stays = Some(r),
                Some(stayed) if (r - stayed).abs() > (before / 32.0).floor() => self.is_pushed(),
                Some(_) => {
                    (self.base, self.empty, self.climbs, self.stays) = (Some(r), FREE, true, None);
                    self.loss = (self.window / 8.0).floor().max(2.0);
                }
            }
        }
    }

    /// W shrinks, but not below `floor`.
    fn shrink(&mut self, by: f64, floor: f64) {
        self.window = self.window.min((self.window - by).max(floor).max(2.0));
        self.ssthresh = self.ssthresh.min(self.window.max(2.0));
        self.gain = 0.0;
    }

    fn begin_yield(&mut self) {
        self.yielding = Some(Yield { rounds: 3, from_us: self.r });
        let mut extra = (self.window * self.law.give.max(0.5 / 2f64.powf(self.yields))).floor();
        if self.overflow > 0.0 {
            extra = extra.min((self.overflow * self.flight / self.r).floor());
        }
        self.yields = (self.yields + 1.0).min(7.0);
        let backlog = self.q.floor().min((self.window / 2.0).floor());
        self.shrink(extra + backlog, 4.0);
    }

    /// (q - aim) / 2 at once, parts of a packet first.
    fn give_back(&mut self) {
        let have = down(self.credit / self.window, PART);
        let by = down((self.q - self.aim) / 2.0, PART);
        let packets = (by - have - 1e-9).max(0.0).ceil();
        let before = self.window;
        self.shrink(packets, self.loss);
        self.credit = (have + packets - by) * before;
    }

    fn ramp(&self) -> f64 {
        let gain = self.law.alpha * self.window.powf(0.75);
        if self.overflow == 0.0 || self.empty == FREE {
            return gain;
        }
        let room = (self.flight / self.r * self.overflow * self.law.step).max(1.0);
        gain.min(room)
    }

    fn end_round(&mut self, now_us: u64, is_measured: bool) {
        self.gain = 0.0;
        let yielded = self.yielding;
        self.yielding = yielded.filter(|y| y.rounds > 1).map(|y| Yield { rounds: y.rounds - 1, ..y });
        if !is_measured {
            return;
        }
        self.measure(now_us);
        if let Some(Yield { rounds, from_us }) = yielded {
            if rounds == 1 {
                self.empty_at = ticks(now_us);
                self.judge(from_us);
            }
            return;
        }
        let window = self.window;
        self.mean_window = self.mean_window - down(self.mean_window / 16.0, 1.0 / 16.0) + window / 16.0;
        if window <= self.law.low_window {
            return;
        }
        let is_above = self.q > self.aim;
        self.climbs &= !is_above && window < self.calm;
        if !self.climbs && self.q <= 2.0 * self.aim {
            self.calm = window;
        }
        let age = (ticks(now_us) - self.empty_at) % (1 << 13);
        if age > if self.stays.is_some() { 62 } else { 146 << self.fails } {
            self.begin_yield();
        } else if is_above {
            self.give_back();
        } else if self.climbs {
            self.gain = window;
        } else if self.empty < 2.0 {
            self.gain = (self.aim - self.q) / 2.0;
        } else {
            self.gain = self.ramp();
        }
        self.gain = down(self.gain, PART);
    }

    /// Slow start for some of these packets; the others are left.
    fn start(&mut self, acked: f64) -> f64 {
        if !self.starts() {
            return acked;
        }
        let used = acked.min(self.ssthresh - self.window);
        self.window += used;
        self.loss = (self.window / 2.0).floor().max(2.0);
        acked - used
    }

    /// Whole packets that `acked` are worth at a packet a window.
    fn due(&mut self, acked: f64) -> f64 {
        let begun = if self.counted >= self.window { 1.0 } else { 0.0 };
        self.counted = if begun > 0.0 { acked } else { self.counted + acked };
        let due = (self.counted / self.window).floor();
        self.counted -= due * self.window;
        begun + due
    }

    fn stop_starting(&mut self) {
        let Some(base) = self.base.filter(|_| self.window > self.law.low_window) else { return };
        let (now, window) = (self.paced_rtt, self.window);
        if now > base + (base / 8.0).floor().clamp(1000.0, 16000.0) + self.noise() {
            self.window = (window * base / now).floor().max((window / 2.0).floor());
            self.ssthresh = self.ssthresh.min(self.window.max(2.0));
        }
    }

    fn grow(&mut self, mut acked: f64, is_limited: bool, now_us: u64) {
        if self.yielding.is_none() {
            self.loss = self.loss.min(self.window);
        }
        if self.una > self.end {
            let is_measured = self.close_round();
            if self.starts() && is_measured {
                self.measure(now_us);
            } else {
                self.end_round(now_us, is_measured);
            }
            self.begin_round();
        }
        if !is_limited || self.yielding.is_some() {
            return;
        }
        if self.starts() {
            self.stop_starting();
            acked = self.start(acked);
            self.gain = 0.0;
        }
        if acked == 0.0 {
            return;
        }
        let due = self.due(acked);
        let window = self.window;
        if window <= self.law.low_window {
            self.loss = window + due;
        } else if self.empty > 0.0 || self.mean_window.floor() > window + 4.0 || self.is_crowded() {
            self.loss += due;
        } else if self.q <= self.aim && self.loss > (window / 8.0).floor() {
            self.loss = (self.loss - due).max(2.0);
        }
        self.credit = self.credit.min(window) + self.gain * acked;
        let grown = (self.credit / window + 1e-9).floor();
        self.credit -= grown * window;
        self.window = (window + grown).max(self.loss);
    }
}

impl Model for Steady {
    fn new(params: &Params, mss: u32, window: u32, now_us: u64) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            law: Law {
                buffer_us: p("buffer_us"),
                alpha: p("alpha"),
                step: p("step"),
                noise: p("noise"),
                give: p("yield"),
                pacing_gain: p("pacing_gain"),
                overflow_window: p("overflow_window"),
                chance_window: p("chance_window"),
                low_window: p("low_window"),
            },
            mss: mss.into(),
            window: window.into(),
            loss: 2.0,
            credit: 0.0,
            counted: 0.0,
            ssthresh: f64::INFINITY,
            gain: 0.0,
            una: 0,
            nxt: window.into(),
            measures: true,
            timed_out: false,
            end: 0,
            flight: 0.0,
            least: None,
            samples: 0.0,
            mean: 0.0,
            spread: 0.0,
            r: 0.0,
            s: 0.0,
            late: None,
            recent: None,
            peak: 0.0,
            base: None,
            overflow: 0.0,
            q: 0.0,
            aim: 1.0,
            empty: FREE,
            mean_window: window.into(),
            calm: window.into(),
            climbs: false,
            yields: 0.0,
            yielding: None,
            fails: 0,
            stays: None,
            empty_at: ticks(now_us),
            paced_rtt: 1000.0,
        }
    }

    fn ack(&mut self, now_us: u64, ack: &Ack, _: &mut Ways) {
        self.una += u64::from(ack.acked_sacked);
        self.nxt = self.una + u64::from(ack.in_flight + ack.lost);
        if ack.rtt_us > 0 {
            self.sample(ack.rtt_us.into());
        }
        self.paced_rtt = self.recent.map_or(1000.0, |recent| recent.floor().max(1.0));
        let (acked, is_limited) = (f64::from(ack.acked_sacked), ack.is_app_limited == 0);
        if self.measures {
            self.grow(acked, is_limited, now_us);
        } else if self.timed_out && is_limited {
            let left = self.start(acked);
            if left > 0.0 {
                let due = self.due(left);
                (self.window, self.loss) = (self.window + due, self.loss + due);
            }
        }
    }

    fn sends(&mut self, window: u32) {
        self.nxt = self.nxt.max(self.una + u64::from(window));
    }

    fn agrees(&self, window: u32, rate: u64) -> bool {
        let gain = if self.starts() { 2.0 } else { self.law.pacing_gain };
        let expected = gain * f64::from(window) * self.mss * 1e6 / self.paced_rtt;
        let theirs = f64::from(window);
        (theirs - 0.05..theirs + 1.05).contains(&self.whole_window()) && (rate as f64 - expected).abs() <= expected * 1e-6 + 2.0
    }

    /// They agree: this one's window, too, is on the other side of a whole number by a hair at most.
    fn follow(&mut self, window: u32, _rate: u64) {
        let theirs = f64::from(window);
        if self.window != theirs {
            self.credit = if self.window > theirs { theirs * 0.9999 } else { 0.0 };
            self.window = theirs;
        }
    }

    fn reduce(&mut self) {
        let (w, law) = (self.window, &self.law);
        (self.gain, self.credit, self.counted) = (0.0, 0.0, 0.0);
        (self.yielding, self.climbs) = (None, false);
        self.loss = (self.loss.min(w) / 2.0).floor().max(2.0);
        let Some(base) = self.base.filter(|_| w > law.low_window) else {
            self.ssthresh = (w / 2.0).floor().max(2.0);
            return;
        };
        let rtt = if self.is_noisy() { self.late.unwrap() } else { self.peak.floor() };
        let delay = (rtt - base).max(0.0);
        // Half of W up to this many packets, and as much of its root beyond; the root is in 1/1024.
        let left = |halved: f64| w - (w * down((halved / w.max(halved)).sqrt() / 2.0, 1.0 / 1024.0)).floor();
        let part = |of: f64, n: f64| (of / n).floor();
        let left = if delay < part(self.overflow, 2.0) {
            self.overflow = (self.overflow - part(self.overflow, 32.0)).max(part(base, 512.0));
            self.empty = FREE;
            left(law.chance_window)
        } else {
            let overflow = self.overflow - part(self.overflow, 8.0) + part(delay, 8.0);
            self.overflow = overflow.max(delay).max(part(base, 512.0) + 1.0);
            if !self.starts() {
                self.empty = 0.0;
            }
            left(law.overflow_window)
        };
        self.ssthresh = left.max(self.loss).max(2.0);
    }

    fn enter(&mut self, state: State) {
        self.timed_out = state == State::Loss;
        let measures = matches!(state, State::Open | State::Disorder);
        if self.timed_out {
            (self.window, self.loss) = (1.0, 1.0);
        } else if !measures && self.measures {
            self.window = self.window.min(self.ssthresh);
        }
        if measures && !self.measures {
            self.begin_round();
        }
        self.measures = measures;
    }

    fn restart(&mut self, _now_us: u64) {
        self.una = self.nxt.max(self.una + self.window as u64);
        self.nxt = self.una;
        self.loss = self.loss.min(self.window);
        (self.gain, self.yielding) = (0.0, None);
        self.begin_round();
    }
}
