// SPDX-License-Identifier: MIT OR Apache-2.0
//! BBR v1 in real numbers, from the paper and draft-cardwell-iccrg-bbr-congestion-control-00, with Linux's rule for policers. What
//! ACKs in bursts add to the window is not worked out, only bounded: the golden trace has it.

use std::{collections::BTreeMap, rc::Rc};

use tandem_controllers::{Ack, Params, State};
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle};
use crate::{model::Model, ways::Ways};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { loss_window_stays: false, ..Facts::USUAL },
    kind: Kind::model::<Bbr>(),
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: usize, since_us: u64 },
    ProbeRtt { running: Option<(u64, bool)> },
}

#[derive(Clone, Debug, PartialEq)]
struct Policer {
    /// Bandwidth of the last interval.
    bw: Option<f64>,
    /// Delivered count and ms at its beginning, packets lost, rounds.
    interval: Option<(u32, u64, u32, u32)>,
    /// Rounds for which it has been in force.
    in_force: Option<u32>,
}

const NO_POLICER: Policer = Policer { bw: None, interval: None, in_force: None };

#[derive(Clone, Debug, PartialEq)]
pub struct Bbr {
    params: Rc<BTreeMap<&'static str, f64>>,
    mss: f64,
    mode: Mode,
    /// Rates and their rounds, packets a us: the largest, the largest after it, and after that.
    best: [(u32, f64); 3],
    rounds: u32,
    round_end: u32,
    full_bw: f64,
    flat_rounds: u32,
    full: bool,
    min_rtt_us: Option<u32>,
    min_rtt_ms: u64,
    /// The rate no longer is that of a window a millisecond.
    paced_by_rtt: bool,
    /// Delivered counts between which PROBE_RTT kept the path empty.
    probe_rtt: Option<(u32, u32)>,
    prior_window: f64,
    before: State,
    now: State,
    conserve: bool,
    resumed: bool,
    timed_out: bool,
    policer: Policer,
    pub window: f64,
    /// Most that ACKs in bursts may have added to it.
    pub extra: f64,
    /// Bytes a second.
    pub rate: f64,
}

/// Unit of a rate in the integer controller, packets a us.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

fn reached(delivered: u32, mark: u32) -> bool {
    delivered.wrapping_sub(mark) < 1 << 31
}

impl Bbr {
    fn p(&self, name: &str) -> f64 {
        self.params[name]
    }

    fn bytes_per_s(&self, bw: f64, gain: f64) -> f64 {
        bw * 1e6 * self.mss * gain * (1.0 - self.p("pacing_margin") / 100.0)
    }

    fn bw(&self) -> f64 {
        self.policer.bw.filter(|_| self.policer.in_force.is_some()).unwrap_or(self.best[0].1)
    }

    fn gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.p("high_gain"),
            Mode::Drain => self.p("drain_gain"),
            Mode::ProbeBw { phase: 0, .. } if self.policer.in_force.is_none() => self.p("probe_gain"),
            Mode::ProbeBw { phase: 1, .. } if self.policer.in_force.is_none() => self.p("yield_gain"),
            _ => 1.0,
        }
    }

    /// The pipe at this rate and gain, three pieces and what the first phase adds.
    fn pipe(&self, bw: f64, gain: f64) -> f64 {
        let bdp = self.min_rtt_us.map_or(10.0, |rtt| bw * f64::from(rtt) * gain);
        let least = if self.rate < 150_000.0 { 1.0 } else { 2.0 };
        let piece = (self.rate * self.p("quantum") / 1e6).min(65536.0) / self.mss;
        let probing = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
        bdp + 3.0 * piece.floor().min(127.0).max(least) + if probing { 2.0 } else { 0.0 }
    }

    /// A window of whole packets, rounded up and to an even number, and pieces rounded down, of which one more or less makes 3.
    fn margin(pipe: f64) -> f64 {
        6.0 + pipe * 0.002
    }

    fn probe_bw(&mut self, now_us: u64) {
        self.mode = Mode::ProbeBw { phase: (8 - now_us as usize % 7) % 8, since_us: now_us };
    }

    /// K. Nichols's filter: the best of the window, and of what came after it for when it is too old.
    fn keep(&mut self, bw: f64) {
        let (window, new) = (self.p("bw_window") as u32, (self.rounds, bw));
        while self.rounds - self.best[0].0 > window {
            self.best = [self.best[1], self.best[2], new];
        }
        let age = self.rounds - self.best[0].0;
        let [best, second, third] = self.best;
        if bw >= best.1 {
            self.best = [new; 3];
        } else if best.0 == second.0 && age > window / 4 || bw >= second.1 {
            self.best = [best, new, new];
        } else if second.0 == third.0 && age > window / 2 || bw >= third.1 {
            self.best[2] = new;
        }
    }

    fn watch_policer(&mut self, now_us: u64, ack: &Ack, app_limited: bool, round_start: bool, ways: &mut Ways) {
        let timed_out = std::mem::take(&mut self.timed_out);
        if self.p("policer") == 0.0 {
            return;
        }
        if let Some(rounds) = &mut self.policer.in_force {
            if round_start && matches!(self.mode, Mode::ProbeBw { .. }) {
                *rounds += 1;
                if *rounds == 48 {
                    self.policer = NO_POLICER;
                    self.probe_bw(now_us);
                }
            }
            return;
        }
        let fresh = (ack.delivered, now_us / 1000, 0, 0);
        let begins = self.policer.interval.is_none();
        if begins && ack.lost == 0 && !timed_out {
            return;
        }
        let (from, ms, mut lost, mut rounds) = self.policer.interval.unwrap_or(fresh);
        lost += if begins { 0 } else { ack.lost };
        rounds += u32::from(round_start);
        self.policer.interval = Some((from, ms, lost, rounds));
        let (delivered, took_ms) = (ack.delivered.wrapping_sub(from), now_us / 1000 - ms);
        if app_limited || rounds > 16 {
            self.policer = NO_POLICER;
        } else if rounds >= 4 && ack.lost > 0 && !begins && delivered > 0 && lost * 256 >= delivered * 50 && took_ms > 0
        {
            let bw = f64::from(delivered) / (took_ms as f64 * 1000.0);
            let last = self.policer.bw.replace(bw);
            self.policer.interval = Some(fresh);
            if let Some(last) = last
                && (!ways.less(last / 8.0, (bw - last).abs(), 2.0 * UNIT)
                    || !ways.less(500.0, self.bytes_per_s((bw - last).abs(), 1.0), self.bytes_per_s(2.0 * UNIT, 1.0)))
            {
                self.policer = Policer { bw: Some((bw + last) / 2.0), interval: None, in_force: Some(0) };
            }
        }
    }

    fn next_phase(&mut self, now_us: u64, ack: &Ack, ways: &mut Ways) {
        let Mode::ProbeBw { phase, since_us } = self.mode else { return };
        let is_long = now_us - since_us > self.min_rtt_us.map_or(u64::MAX, u64::from);
        let before = f64::from(ack.in_flight + ack.acked_sacked + ack.lost);
        let gain = self.gain();
        let over = if gain > 1.0 {
            let pipe = self.pipe(self.best[0].1, gain);
            is_long && (ack.lost > 0 || !ways.less(before, pipe, Self::margin(pipe)))
        } else if gain < 1.0 {
            let pipe = self.pipe(self.best[0].1, 1.0);
            is_long || ways.less(before, pipe, Self::margin(pipe))
        } else {
            is_long
        };
        if over {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % 8, since_us: now_us };
        }
    }

    fn judge_fullness(&mut self, now_us: u64, ack: &Ack, counts: bool, ways: &mut Ways) {
        if !self.full && counts {
            if ways.less(self.best[0].1, 1.25 * self.full_bw, 2.0 * UNIT) {
                self.flat_rounds += 1;
                self.full = self.flat_rounds == 3;
            } else {
                (self.full_bw, self.flat_rounds) = (self.best[0].1, 0);
            }
        }
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
        }
        let pipe = self.pipe(self.best[0].1, 1.0);
        if self.mode == Mode::Drain && ways.less(f64::from(ack.in_flight), pipe, Self::margin(pipe)) {
            self.probe_bw(now_us);
        }
    }

    fn take_rtt(&mut self, now_us: u64, ack: &Ack, round_start: bool) {
        let now_ms = now_us / 1000;
        let is_old = (now_ms - self.min_rtt_ms) as f64 > 1000.0 * self.p("rtt_window");
        let is_lone = ack.interval_us > 0 && ack.delivered.wrapping_sub(ack.prior_delivered) == 1;
        let equal_renews = self.p("equal_rtt") == 1.0;
        let is_least = |least| ack.rtt_us < least || ack.rtt_us == least && equal_renews;
        if ack.rtt_us > 0 && (self.min_rtt_us.is_none_or(is_least) || is_old && !is_lone) {
            (self.min_rtt_us, self.min_rtt_ms) = (Some(ack.rtt_us), now_ms);
        }
        let probing = matches!(self.mode, Mode::ProbeRtt { .. });
        if is_old && !self.resumed && !probing && self.p("probe_rtt_time") > 0.0 {
            self.mode = Mode::ProbeRtt { running: None };
            self.prior_window = self.prior_window.max(self.window);
            self.probe_rtt = Some((ack.delivered, ack.delivered));
        }
        if let Mode::ProbeRtt { running } = &mut self.mode {
            let (from, _) = self.probe_rtt.unwrap();
            self.probe_rtt = Some((from, ack.delivered.wrapping_add(ack.in_flight)));
            if let Some((_, round)) = running {
                *round |= round_start;
                if *round {
                    self.end_probe_rtt(now_us);
                }
            } else if f64::from(ack.in_flight) <= self.params["min_window"] {
                *running = Some((now_ms, false));
                self.round_end = ack.delivered;
            }
        }
        self.resumed &= ack.interval_us == 0;
    }

    fn end_probe_rtt(&mut self, now_us: u64) {
        let Mode::ProbeRtt { running: Some((since_ms, _)) } = self.mode else { return };
        if (now_us / 1000 - since_ms) as f64 > self.p("probe_rtt_time") {
            self.min_rtt_ms = now_us / 1000;
            self.window = self.window.max(self.prior_window);
            self.mode = Mode::Startup;
            if self.full {
                self.probe_bw(now_us);
            }
        }
    }

    fn set_rate(&mut self) {
        if let Some(rtt_us) = self.min_rtt_us.filter(|_| !self.paced_by_rtt) {
            self.paced_by_rtt = true;
            self.rate = self.bytes_per_s(self.window / f64::from(rtt_us), self.p("high_gain"));
        }
        let rate = self.bytes_per_s(self.bw(), self.gain());
        self.rate = if self.full { rate } else { rate.max(self.rate) };
    }

    fn set_window(&mut self, ack: &Ack, ways: &mut Ways) {
        let (acked, conserved) = (f64::from(ack.acked_sacked), f64::from(ack.in_flight + ack.acked_sacked));
        self.window = (self.window - f64::from(ack.lost)).max(1.0);
        if self.now == State::Recovery && self.before != State::Recovery {
            (self.conserve, self.round_end, self.window) = (true, ack.delivered, conserved);
        } else if self.now < State::Recovery && self.before >= State::Recovery {
            (self.conserve, self.window) = (false, self.window.max(self.prior_window));
        }
        self.before = self.now;
        self.extra = 0.0;
        if self.conserve {
            self.window = self.window.max(conserved);
        } else {
            let gain = match self.mode {
                Mode::Startup | Mode::Drain => self.p("high_gain"),
                Mode::ProbeBw { .. } => self.p("window_gain"),
                Mode::ProbeRtt { .. } => 1.0,
            };
            let target = self.pipe(self.bw(), gain);
            if self.full {
                self.extra = self.p("aggregation") * self.bw() * 100_000.0;
                self.window = (self.window + acked).min(target);
            } else if ack.delivered < 10 || ways.less(self.window, target, Self::margin(target)) {
                self.window += acked;
            }
            self.window = self.window.max(self.p("min_window"));
        }
        if let Mode::ProbeRtt { .. } = self.mode {
            self.window = self.window.min(self.p("min_window"));
        }
    }
}

impl Model for Bbr {
    fn new(params: &Params, mss: u32, window: u32, now_us: u64) -> Self {
        let mut new = Self {
            params: Rc::new(params.controller().params().map(|p| (p.name, params.get(p.name).unwrap())).collect()),
            mss: mss.into(),
            mode: Mode::Startup,
            best: [(0, 0.0); 3],
            rounds: 0,
            round_end: 0,
            full_bw: 0.0,
            flat_rounds: 0,
            full: false,
            min_rtt_us: None,
            min_rtt_ms: now_us / 1000,
            paced_by_rtt: false,
            probe_rtt: None,
            prior_window: 0.0,
            before: State::Open,
            now: State::Open,
            conserve: false,
            resumed: false,
            timed_out: false,
            policer: NO_POLICER,
            window: window.into(),
            extra: 0.0,
            rate: 0.0,
        };
        new.rate = new.bytes_per_s(new.window / 1000.0, new.p("high_gain"));
        new
    }

    fn ack(&mut self, now_us: u64, ack: &Ack, ways: &mut Ways) {
        let in_probe_rtt = self
            .probe_rtt
            .is_some_and(|(from, to)| reached(ack.prior_delivered, from) && reached(to, ack.prior_delivered));
        let app_limited = ack.is_app_limited == 1 || in_probe_rtt;
        let mut round_start = false;
        if ack.interval_us > 0 {
            round_start = reached(ack.prior_delivered, self.round_end);
            if round_start {
                self.round_end = ack.delivered;
                self.rounds += 1;
                self.conserve = false;
            }
            self.watch_policer(now_us, ack, app_limited, round_start, ways);
            let bw = f64::from(ack.delivered.wrapping_sub(ack.prior_delivered)) / f64::from(ack.interval_us);
            // On the integer controller's grid, for on a steady path rates differ by less.
            let bw = (bw / UNIT).floor() * UNIT;
            if !app_limited || bw >= self.best[0].1 {
                self.keep(bw);
            }
        }
        self.next_phase(now_us, ack, ways);
        self.judge_fullness(now_us, ack, round_start && !app_limited, ways);
        self.take_rtt(now_us, ack, round_start);
        self.set_rate();
        self.set_window(ack, ways);
    }

    fn agrees(&self, window: u32, rate: u64) -> bool {
        let (least, most) =
            (self.window - Self::margin(self.window), self.window + self.extra + Self::margin(self.window));
        // One unit of the largest gain.
        let close = (rate as f64 - self.rate).abs() < self.rate * 0.003 + self.bytes_per_s(UNIT, 4.0);
        close && (least..=most).contains(&f64::from(window))
    }

    fn follow(&mut self, window: u32, rate: u64) {
        (self.window, self.rate) = (window.into(), rate as f64);
    }

    fn reduce(&mut self) {
        let good = self.before < State::Recovery && !matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_window = if good { self.window } else { self.prior_window.max(self.window) };
    }

    fn enter(&mut self, state: State) {
        self.now = state;
        if state == State::Loss {
            (self.before, self.full_bw, self.timed_out, self.window) = (state, 0.0, true, 1.0);
        }
    }

    fn restart(&mut self, now_us: u64) {
        self.resumed = true;
        match self.mode {
            Mode::ProbeBw { .. } => self.rate = self.bytes_per_s(self.bw(), 1.0),
            Mode::ProbeRtt { .. } => self.end_probe_rtt(now_us),
            _ => {}
        }
    }
}
