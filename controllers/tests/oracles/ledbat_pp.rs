// SPDX-License-Identifier: MIT OR Apache-2.0
//! LEDBAT++ in real numbers, from draft-irtf-iccrg-ledbat-plus-plus-01, sections 4.1 to 4.5.

use std::collections::VecDeque;

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Ack, Kind, Oracle, Reduction, Reference, Shown, TheirSide, Windows};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { loss_window_stays: false, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| Box::new(LedbatPp::new(params, window, now_us))),
};

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    First,
    Steady,
    /// Since when, and until when two packets; the window to return to.
    Slowdown {
        since_us: f64,
        until_us: f64,
        to: f64,
    },
}

pub struct LedbatPp {
    target_us: f64,
    gain_limit: f64,
    decrease: f64,
    exit_share: f64,
    freeze: f64,
    spacing: f64,
    half_us: f64,
    beta: f64,
    now_us: f64,
    window: f64,
    ssthresh: f64,
    phase: Phase,
    next_slowdown_us: f64,
    recent: VecDeque<f64>,
    /// The smallest RTTs of this half of the history and of the one before it, and when this one began.
    bases: [Option<f64>; 2],
    half_since_us: f64,
    round_end: u64,
    in_recovery: bool,
    /// Window and threshold before the last reduction.
    prior: (f64, f64),
}

fn least(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::min)
}

impl LedbatPp {
    fn new(params: &Params, window: f64, now_us: f64) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            target_us: p("target"),
            gain_limit: p("gain_limit"),
            decrease: p("decrease"),
            exit_share: p("exit_share"),
            freeze: p("freeze"),
            spacing: p("spacing"),
            half_us: p("base_history") * 1e6 / 2.0,
            beta: p("beta"),
            now_us,
            window: window.min(2.0),
            ssthresh: f64::INFINITY,
            phase: Phase::First,
            next_slowdown_us: 0.0,
            recent: VecDeque::new(),
            bases: [None; 2],
            half_since_us: now_us,
            round_end: 0,
            in_recovery: false,
            prior: (window.min(2.0), f64::INFINITY),
        }
    }

    fn base_us(&self) -> Option<f64> {
        least(self.bases.into_iter().flatten())
    }

    fn delay_us(&self) -> f64 {
        let rtt_us = least(self.recent.iter().copied());
        rtt_us.map_or(0.0, |rtt| (rtt - self.base_us().unwrap()).max(0.0))
    }

    fn rtts_us(&self, count: f64) -> f64 {
        count * least(self.recent.iter().copied()).unwrap_or(0.0)
    }

    /// 4.2
    fn gain(&self) -> f64 {
        let ratio = self.base_us().map_or(f64::INFINITY, |base| (2.0 * self.target_us / base).ceil());
        1.0 / ratio.min(self.gain_limit)
    }

    fn take(&mut self, sample: f64) {
        if self.now_us - self.half_since_us >= self.half_us {
            self.half_since_us = self.now_us;
            self.bases = [None, self.bases[0]];
        }
        self.bases[0] = Some(self.bases[0].map_or(sample, |base| base.min(sample)));
        self.recent.push_front(sample);
        self.recent.truncate(4);
    }

    /// 4.1, 4.4: slow start may add whole packets by rounding's leave, so that they are counted with what a sum of fractions lacks.
    fn in_slow_start(&self) -> bool {
        self.window + 1e-6 < self.ssthresh
    }

    /// A slowdown returns to a whole number of packets: the integer controller's, where it is known.
    fn change_phase(&mut self, their_window: f64) {
        match self.phase {
            Phase::Slowdown { since_us, until_us, to } if self.now_us >= until_us && self.window + 1e-6 >= to => {
                self.phase = Phase::Steady;
                self.next_slowdown_us = self.now_us + self.spacing * (self.now_us - since_us);
            }
            Phase::First => {
                if self.delay_us() > self.target_us * self.exit_share {
                    self.ssthresh = self.ssthresh.min(self.window.max(2.0));
                }
                if self.in_slow_start() {
                    return;
                }
                self.phase = Phase::Steady;
                self.next_slowdown_us = self.now_us + self.rtts_us(2.0);
            }
            _ => {}
        }
        let due = self.phase == Phase::Steady && !self.in_slow_start() && self.now_us >= self.next_slowdown_us;
        if due && self.spacing > 0.0 && !self.recent.is_empty() {
            let until_us = self.now_us + self.rtts_us(self.freeze);
            let to = if (self.window - their_window).abs() < 2.0 { their_window } else { self.window.floor() };
            self.phase = Phase::Slowdown { since_us: self.now_us, until_us, to };
            self.window = self.window.min(2.0);
            self.prior.0 = self.window;
        }
    }

    fn grow(&mut self, acked: f64) {
        let end = match self.phase {
            Phase::Slowdown { until_us, .. } if self.now_us < until_us => return,
            Phase::Slowdown { to, .. } => to,
            _ => self.ssthresh,
        };
        if self.window + 1e-6 < end {
            self.window = (self.window + acked * self.gain()).min(end);
        } else if self.delay_us() <= self.target_us {
            self.window += acked * self.gain() / self.window;
        }
    }
}

impl Reference for LedbatPp {
    fn windows(&self) -> Windows {
        Windows { loss: self.window, delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        Shown { base_rtt_us: self.base_us(), ..Shown::default() }
    }

    fn clock(&mut self, now_us: f64) {
        self.now_us = now_us;
    }

    fn ack(&mut self, ack: &Ack, their_side: TheirSide) {
        if let Some(sample) = ack.rtt_us.filter(|_| !self.in_recovery) {
            self.take(sample);
        }
        if !self.in_recovery && ack.una > self.round_end {
            self.round_end = ack.nxt;
            let (delay, target) = (self.delay_us(), self.target_us);
            if self.phase == Phase::Steady && !self.in_slow_start() && delay > target {
                // 4.3
                let change = self.gain() - self.decrease * self.window * (delay / target - 1.0);
                let change = if ack.window_limited { change } else { change.min(0.0) };
                self.window = (self.window + change.max(-self.window / 2.0)).max(2.0);
                self.ssthresh = self.ssthresh.min(self.window);
                return;
            }
        }
        self.change_phase(their_side.window);
        if ack.window_limited {
            self.grow(ack.acked);
        }
    }

    fn reduce(&mut self, to: Reduction, _: f64) {
        self.prior = (self.window, self.ssthresh);
        let left = (self.window * (1.0 - self.beta)).max(2.0);
        if let Phase::Slowdown { until_us, to, .. } = &mut self.phase {
            let frozen = self.now_us < *until_us;
            *to = if frozen { (*to * (1.0 - self.beta)).max(2.0) } else { to.min(left) }.floor();
        }
        (self.window, self.ssthresh) = (left, left);
        if to == Reduction::Timeout {
            self.window = 1.0;
        }
        self.in_recovery = true;
    }

    fn adopt(&mut self, windows: Windows, ssthresh: f64) {
        (self.window, self.ssthresh) = (windows.total(), ssthresh);
    }

    fn open(&mut self, _una: u64, nxt: u64) {
        self.in_recovery = false;
        self.round_end = nxt;
    }

    fn undo(&mut self, una: u64, nxt: u64) {
        self.window = self.window.max(self.prior.0);
        self.ssthresh = self.ssthresh.max(self.prior.1);
        self.open(una, nxt);
    }

    fn restart(&mut self, window: f64, nxt: u64) {
        self.window = self.window.min(window);
        self.recent.clear();
        self.round_end = nxt;
    }
}
