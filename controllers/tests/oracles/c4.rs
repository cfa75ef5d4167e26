// SPDX-License-Identifier: MIT OR Apache-2.0
//! C4 in real numbers, from draft-huitema-ccwg-c4-spec, with picoquic's choices where that contradicts itself. RTTs are whole
//! microseconds and rates whole units of a sample's, as measured; the window in INITIAL is what the integer controller makes of it.

use std::{collections::BTreeMap, rc::Rc};

use tandem_controllers::{Ack, Params, State};
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle};
use crate::{model::Model, ways::Ways};

pub const ORACLE: Oracle = Oracle { facts: Facts::NONE, kind: Kind::model::<C4>() };

/// Unit of a rate, packets a us.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Initial { flat: u32 },
    Recovery { probed: bool },
    Cruising { eras: u32 },
    Probing,
    Pushing { eras: u32 },
}

#[derive(Clone, Debug, PartialEq)]
pub struct C4 {
    /// By name; each way has the same.
    params: Rc<BTreeMap<&'static str, f64>>,
    mss: f64,
    phase: Phase,
    nominal: f64,
    /// The nominal rate when the cycle or the era began.
    before: f64,
    recent: Option<f64>,
    max_rtt: Option<f64>,
    min_rtt: Option<f64>,
    /// Of the era's RTTs: the smallest, the largest.
    era_rtts: Option<(f64, f64)>,
    era_end: u32,
    alpha: f64,
    prior_alpha: f64,
    loss: f64,
    congested: bool,
    app_limited: bool,
    congestions: u32,
    restarted: bool,
    timed_out: bool,
    received: u32,
    /// A beta that rounding takes part in has lowered the rate.
    loose: bool,
    their_window: f64,
    window: f64,
    rate: f64,
}

fn on_grid(rate: f64) -> f64 {
    (rate / UNIT).floor() * UNIT
}

/// Seven parts of the old, one of the new.
fn towards(old: f64, new: f64) -> f64 {
    ((7.0 * old + new) / 8.0).floor()
}

impl C4 {
    fn p(&self, name: &str) -> f64 {
        self.params[name]
    }

    fn bytes_per_s(&self) -> f64 {
        self.nominal * 1e6 * self.mss
    }

    /// 5.1
    fn sensitivity(&self) -> f64 {
        let rate = self.bytes_per_s();
        let between = |from: (f64, f64), to: (f64, f64)| from.1 + (rate - from.0) / (to.0 - from.0) * (to.1 - from.1);
        if rate < 5e4 {
            0.0
        } else if rate < 1e6 {
            between((5e4, 0.0), (1e6, 0.92))
        } else if rate < 1e7 {
            between((1e6, 0.92), (1e7, 1.0))
        } else {
            1.0
        }
    }

    /// 5.2
    fn threshold(&self) -> f64 {
        let share = 1.0 / 16.0 + (1.0 - self.sensitivity()) * 3.0 / 16.0;
        (share * self.max_rtt.unwrap_or(0.0)).min(self.p("max_threshold")).max(1.0)
    }

    fn begin_era(&mut self, delivered: u32, alpha: f64) {
        self.prior_alpha = self.alpha;
        self.alpha = alpha;
        self.era_end = delivered;
        self.era_rtts = None;
    }

    fn enter(&mut self, phase: Phase, delivered: u32, alpha: f64) {
        self.phase = phase;
        self.begin_era(delivered, alpha);
    }

    fn begin_cycle(&mut self) {
        (self.before, self.congested, self.app_limited) = (self.nominal, false, false);
    }

    fn recover(&mut self, delivered: u32) {
        let drains = matches!(self.phase, Phase::Initial { .. } | Phase::Pushing { .. });
        if let Phase::Initial { .. } = self.phase {
            self.begin_cycle();
        }
        let probed = self.phase == Phase::Probing;
        let alpha = self.p(if drains { "drain_alpha" } else { "recovery_alpha" });
        self.enter(Phase::Recovery { probed }, delivered, alpha);
    }

    fn end_initial(&mut self, delivered: u32) {
        if self.nominal > 0.0 {
            let half = (self.their_window / 2.0).floor();
            self.max_rtt = Some((half / self.nominal).floor().clamp(1000.0, (1 << 24) as f64));
            self.recover(delivered);
        }
    }

    fn enter_initial(&mut self, delivered: u32) {
        self.received = 0;
        self.begin_cycle();
        let alpha = self.p("initial_alpha");
        self.enter(Phase::Initial { flat: 0 }, delivered, alpha);
        self.their_window = (self.nominal * self.max_rtt.unwrap_or(0.0)).floor().max(2.0);
    }

    /// Was there growth to this many times the rate at the beginning?
    fn grew_to(&self, times: f64, ways: &mut Ways) -> bool {
        let margin = if self.loose { 0.006 * self.before } else { 0.001 * self.before * (times - 1.0) };
        self.nominal > 0.0 && !ways.less(self.nominal, times * self.before, margin + 0.6 * UNIT * (times - 1.0))
    }

    /// Congestion of this beta, and whether by loss.
    fn signal(&mut self, ack: &Ack, ways: &mut Ways) -> Option<(f64, bool)> {
        let mut found = None;
        if ack.rtt_us > 0 {
            let rtt = f64::from(ack.rtt_us);
            let (least, most) = self.era_rtts.unwrap_or((rtt, rtt));
            self.era_rtts = Some((least.min(rtt), most.max(rtt)));
            let max = *self.max_rtt.get_or_insert(rtt.max(1000.0));
            let threshold = self.threshold();
            let counts = self.p("cruise_delay") == 1.0 || self.prior_alpha > 1.0;
            let late = !matches!(self.phase, Phase::Initial { flat } if flat < 2);
            if counts && late && ways.less(max + threshold, rtt, 2.0 + 0.0004 * max) {
                let excess = (rtt - max - threshold).max(0.0);
                found = Some(((excess / threshold).min(self.p("beta")), false));
            }
        }
        self.received = (self.received + ack.acked_sacked).min(1000);
        if !self.timed_out && !matches!(self.phase, Phase::Recovery { .. }) {
            self.loss *= (15.0_f64 / 16.0).powi(ack.acked_sacked.min(1000) as i32);
            if ack.lost > 0 {
                self.loss = 1.0 - (1.0 - self.loss) * (15.0_f64 / 16.0).powi(ack.lost as i32);
                let enough = !matches!(self.phase, Phase::Initial { .. }) || self.received > 20;
                let limit = 0.02 + 0.5 * (1.0 - self.sensitivity());
                if enough && ways.less(limit, self.loss, 0.002) {
                    found = Some((self.p("beta"), true));
                }
            }
        }
        found
    }

    fn congestion(&mut self, beta: f64, by_loss: bool, delivered: u32) {
        match self.phase {
            Phase::Initial { .. } => self.end_initial(delivered),
            Phase::Recovery { .. } => {}
            phase => {
                if let Phase::Cruising { .. } = phase {
                    self.nominal = on_grid(self.nominal * (1.0 - beta)).max(UNIT);
                    self.loose |= !by_loss;
                    if by_loss {
                        self.max_rtt = self.max_rtt.map(|max| (max * (1.0 - beta)).floor().max(1000.0));
                    }
                }
                self.recover(delivered);
            }
        }
        self.congested = true;
    }

    /// 3.2
    fn update_rtts(&mut self) {
        let Some((least, most)) = self.era_rtts else { return };
        if self.prior_alpha > 1.0 {
            return;
        }
        let min = self.min_rtt.map_or(least, |min| if least < min { least } else { towards(min, least) });
        let most = most.min(min + self.p("max_jitter"));
        let max = self.max_rtt.unwrap_or(0.0);
        self.min_rtt = Some(min);
        self.max_rtt = Some(if most > max { most } else { towards(max, most) }.max(1000.0));
    }

    fn end_recovery(&mut self, probed: bool, delivered: u32, ways: &mut Ways) {
        let grew = self.nominal > self.before + 0.5 * UNIT
            && (!self.loose || ways.less(self.before, self.nominal, 0.006 * self.before));
        let was_congested = self.congested;
        if was_congested {
            self.congestions = (self.congestions + 1).min(2);
            if let Some(recent) = self.recent.filter(|_| self.congestions == 2) {
                self.nominal = self.nominal.min(recent);
            }
        } else {
            self.congestions = 0;
            if let Some(recent) = self.recent.filter(|_| !grew && !self.app_limited) {
                self.nominal = on_grid((self.nominal + recent) / 2.0);
            }
        }
        (self.recent, self.loss) = (None, 0.0);
        self.begin_cycle();
        if probed && grew && !was_congested {
            self.enter(Phase::Pushing { eras: 0 }, delivered, self.p("pushing_alpha"));
        } else {
            self.enter(Phase::Cruising { eras: 0 }, delivered, 1.0);
        }
    }

    fn end_era(&mut self, ack: &Ack, ways: &mut Ways) {
        let delivered = ack.delivered;
        if let Phase::Initial { flat } = &mut self.phase {
            let mut now_flat = *flat;
            if self.grew_to(1.25, ways) {
                now_flat = 0;
            } else if self.nominal > 0.0 && !self.app_limited {
                now_flat += 1;
            }
            self.phase = Phase::Initial { flat: now_flat };
            if now_flat >= 3 {
                self.end_initial(delivered);
            } else {
                self.begin_cycle();
                self.begin_era(delivered, self.alpha);
            }
            return;
        }
        self.update_rtts();
        match self.phase {
            Phase::Recovery { probed } => {
                let (min, max) = (self.min_rtt.unwrap_or(f64::INFINITY), self.max_rtt.unwrap_or(0.0));
                let jitter = !self.restarted && max > 50_000.0 && 5.0 * min < 2.0 * max;
                if jitter && ways.less(self.bytes_per_s(), 1e6, 2e3) {
                    self.restarted = true;
                    self.enter_initial(delivered);
                } else {
                    self.end_recovery(probed, delivered, ways);
                }
            }
            Phase::Probing => self.recover(delivered),
            Phase::Pushing { eras: 0 } => {
                self.phase = Phase::Pushing { eras: 1 };
                self.begin_era(delivered, self.alpha);
            }
            Phase::Pushing { .. } if !self.grew_to(19.0 / 16.0, ways) => self.recover(delivered),
            Phase::Pushing { eras: 3.. } => self.enter_initial(delivered),
            Phase::Pushing { eras } => {
                self.phase = Phase::Pushing { eras: eras + 1 };
                self.before = self.nominal;
                self.begin_era(delivered, self.alpha);
            }
            Phase::Cruising { eras } if f64::from(eras + 1) >= self.p("cruise_eras") && ack.is_app_limited == 0 => {
                self.begin_cycle();
                self.enter(Phase::Probing, delivered, self.p("probing_alpha"));
            }
            Phase::Cruising { eras } => {
                self.phase = Phase::Cruising { eras: eras + 1 };
                self.begin_era(delivered, 1.0);
            }
            Phase::Initial { .. } => unreachable!(),
        }
    }

    fn set_control(&mut self, acked: u32) {
        if self.nominal == 0.0 {
            return;
        }
        let (rate, max) = (self.alpha * self.nominal, self.max_rtt.unwrap_or(0.0));
        self.rate = rate * 1e6 * self.mss;
        if let Phase::Initial { flat } = self.phase {
            self.window = (rate * max).max(self.their_window + f64::from(acked >> (3 * flat)));
            self.rate = self.rate.max(131_072.0);
        } else {
            self.window = rate * (max + (max / 4.0).floor().min(self.p("margin")));
        }
        self.window = self.window.max(2.0);
    }
}

impl Model for C4 {
    fn new(params: &Params, mss: u32, window: u32, _now_us: u64) -> Self {
        let params: BTreeMap<_, _> =
            params.controller().params().map(|p| (p.name, params.get(p.name).unwrap())).collect();
        let (alpha, mss, window) = (params["initial_alpha"], f64::from(mss), f64::from(window));
        Self {
            params: Rc::new(params),
            mss,
            phase: Phase::Initial { flat: 0 },
            nominal: 0.0,
            before: 0.0,
            recent: None,
            max_rtt: None,
            min_rtt: None,
            era_rtts: None,
            era_end: 0,
            alpha,
            prior_alpha: alpha,
            loss: 0.0,
            congested: false,
            app_limited: false,
            congestions: 0,
            restarted: false,
            timed_out: false,
            received: 0,
            loose: false,
            their_window: window,
            window,
            rate: window * 1000.0 * mss,
        }
    }

    fn ack(&mut self, _now_us: u64, ack: &Ack, ways: &mut Ways) {
        if ack.interval_us > 0 {
            let sample = on_grid(
                f64::from(ack.delivered.wrapping_sub(ack.prior_delivered)) / f64::from(ack.interval_us),
            );
            self.recent = Some(self.recent.map_or(sample, |recent| recent.max(sample)));
            self.app_limited |= ack.is_app_limited == 1;
            if !(matches!(self.phase, Phase::Recovery { .. }) && self.congested) {
                self.loose &= sample < self.nominal * 1.01;
                self.nominal = self.nominal.max(sample);
            }
        }
        let signal = self.signal(ack, ways);
        self.timed_out &= ack.acked_sacked == 0;
        let ends = ack.interval_us > 0 && ack.prior_delivered.wrapping_sub(self.era_end) < 1 << 31;
        match signal {
            Some((beta, by_loss)) => self.congestion(beta, by_loss, ack.delivered),
            None if ends => self.end_era(ack, ways),
            None => {}
        }
        self.set_control(ack.acked_sacked);
    }

    fn sends(&mut self, window: u32) {
        self.their_window = window.into();
    }

    fn agrees(&self, window: u32, rate: u64) -> bool {
        let margin = if self.loose { 0.006 } else { 0.0015 };
        let near = (f64::from(window) - self.window).abs() <= 1.1 + margin * self.window;
        near && (rate as f64 - self.rate).abs() <= margin * self.rate + 2.0 * UNIT * 1e6 * self.mss + 1.0
    }

    fn reduce(&mut self) {}

    fn enter(&mut self, state: State) {
        self.timed_out |= state == State::Loss;
    }

    fn restart(&mut self, _now_us: u64) {}
}
