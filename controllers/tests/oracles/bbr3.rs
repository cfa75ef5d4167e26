// SPDX-License-Identifier: MIT OR Apache-2.0
//! BBR v3 in real numbers, from the text and the pseudo-code of draft-ietf-ccwg-bbr, under its names. Volumes are whole packets.
//!
//! Not the draft's: how many packets were lost since one was sent, which hosts do not note, and the hash that stands for chance.

use std::{collections::BTreeMap, rc::Rc};

use tandem_controllers::{Ack, Params, State as Trouble};
use tandem_testing::invariant::Facts;

#[path = "shared/bbr3_states.rs"]
mod states;

use super::{Kind, Oracle};
use crate::{model::Model, ways::Ways};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { loss_window_stays: false, ..Facts::USUAL },
    kind: Kind::model::<Bbr3>(),
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain { rounds: u32 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt { done_from_ms: Option<u64>, round_done: bool },
}

use State::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};

#[derive(Clone, Copy, Debug, PartialEq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// RS of the draft. Packets, and packets a us.
#[derive(Clone, Copy, Default)]
struct Rs {
    delivery_rate: f64,
    delivered: f64,
    lost: f64,
    tx_in_flight: f64,
    is_app_limited: bool,
    prior_in_flight: f64,
}

/// When a clock was read, ms, and what was measured then.
type Stamped = (u64, f64);

#[derive(Clone, Debug, PartialEq)]
pub struct Bbr3 {
    params: Rc<BTreeMap<&'static str, f64>>,
    mss: f64,
    state: State,
    ack_phase: AckPhase,
    /// Of the cycle before and of this one.
    max_bw_filter: [f64; 2],
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    bw_latest: f64,
    inflight_latest: f64,
    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    next_round_delivered: u32,
    round_start: bool,
    starts_round: bool,
    loss_round_delivered: u32,
    is_loss_in_round: bool,
    losses_in_round: u32,
    /// Delivered and lost in the round before, lost in this one.
    rounds: (f64, f64, f64),
    cwnd_limited: [bool; 2],
    extra_acked: [f64; 2],
    extra_acked_rounds: u32,
    extra_acked_delivered: f64,
    extra_acked_interval_start: u64,
    min_rtt: Stamped,
    probe_rtt_min: Stamped,
    probe_rtt_sent: Option<(u32, u32)>,
    cycle_stamp_ms: u64,
    bw_probe_wait_ms: u64,
    rounds_since_probe_up: u32,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    idle_restart: bool,
    prior_cwnd: f64,
    trouble: Trouble,
    timed_out: bool,
    paced_by_rtt: bool,
    cwnd: f64,
    /// Bytes a second.
    pacing_rate: f64,
}

/// Unit of a rate in the integer controller, packets a us.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

fn reached(delivered: u32, mark: u32) -> bool {
    delivered.wrapping_sub(mark) < 1 << 31
}

/// Whole packets for a volume; the integer controller's arithmetic may lose a little of it.
fn whole(volume: f64) -> f64 {
    (volume - 3e-5).ceil()
}

fn on_grid(bw: f64) -> f64 {
    (bw / UNIT).floor() * UNIT
}

impl Bbr3 {
    fn p(&self, name: &str) -> f64 {
        self.params[name]
    }

    fn max_bw(&self) -> f64 {
        self.max_bw_filter[0].max(self.max_bw_filter[1])
    }

    fn bw(&self) -> f64 {
        self.max_bw().min(self.bw_shortterm)
    }

    fn in_probe_bw(&self) -> bool {
        matches!(self.state, Down | Cruise | Refill | Up)
    }

    fn bytes_per_s(&self, bw: f64, gain: f64) -> f64 {
        bw * 1e6 * self.mss * gain * (1.0 - self.p("pacing_margin") / 100.0)
    }

    /// Section 5.6.1, the table: gains of rate and window.
    fn gains(&self) -> (f64, f64) {
        let window = self.p("window_gain");
        match self.state {
            Startup => (self.p("high_gain"), window),
            Drain { .. } => (self.p("drain_gain"), window),
            Down => (self.p("down_gain"), window),
            Cruise | Refill => (1.0, window),
            Up => (self.p("probe_gain"), self.p("probe_window_gain")),
            ProbeRtt { .. } => (1.0, self.p("probe_rtt_gain")),
        }
    }

    fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt.1.is_infinite() { 10.0 } else { whole(bw * self.min_rtt.1 * gain) }
    }

    fn quantization_budget(&self, inflight: f64) -> f64 {
        let send_quantum = ((self.pacing_rate * self.p("quantum") / 1e6).min(65536.0) / self.mss).floor().max(2.0);
        let up = if self.state == Up { 2.0 } else { 0.0 };
        inflight.max(3.0 * send_quantum).max(self.p("min_window")) + up
    }

    fn inflight(&self, bw: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, 1.0))
    }

    fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.bw(), 1.0).min(self.cwnd)
    }

    fn inflight_with_headroom(&self) -> f64 {
        let bound = self.inflight_longterm;
        let headroom = (bound * self.p("headroom") + 1e-9).floor().max(1.0);
        if bound.is_infinite() { bound } else { (bound - headroom).max(self.p("min_window")) }
    }

    fn start_round(&mut self, delivered: u32) {
        let more = f64::from(delivered.wrapping_sub(self.next_round_delivered));
        self.rounds = (self.rounds.0 + more, self.rounds.1 + self.rounds.2, 0.0);
        (self.next_round_delivered, self.starts_round) = (delivered, false);
    }

    fn next_round(&mut self, delivered: u32) {
        let packets = f64::from(delivered.wrapping_sub(self.next_round_delivered));
        self.rounds = (packets, self.rounds.2, 0.0);
        self.next_round_delivered = delivered;
        self.cwnd_limited = [self.cwnd_limited[1], false];
    }

    /// A packet's losses: rounds lose evenly.
    fn lost_since(&self, ack: &Ack) -> f64 {
        let (prior_round, prior_lost, lost) = self.rounds;
        let share = |lost: f64, part: u32, of: f64| {
            if f64::from(part) >= of { lost } else { (lost * f64::from(part) / of).round() }
        };
        let (sent, start) = (ack.prior_delivered, self.next_round_delivered);
        if !reached(sent, start) {
            return lost + share(prior_lost, start.wrapping_sub(sent), prior_round);
        }
        let before = ack.delivered.wrapping_sub(ack.acked_sacked);
        let of = before.wrapping_sub(start).into();
        share(lost, before.wrapping_sub(sent), of)
    }

    fn sample(&self, ack: &Ack) -> Rs {
        let prior_in_flight = f64::from(ack.in_flight + ack.acked_sacked + ack.lost);
        if ack.interval_us == 0 {
            return Rs { prior_in_flight, ..Rs::default() };
        }
        let delivered = f64::from(ack.delivered.wrapping_sub(ack.prior_delivered));
        let lost = f64::from(ack.lost) + self.lost_since(ack);
        let marked =
            self.probe_rtt_sent.is_some_and(|(from, to)| reached(ack.prior_delivered, from) && reached(to, ack.prior_delivered));
        Rs {
            delivery_rate: on_grid(delivered / f64::from(ack.interval_us)),
            delivered,
            lost,
            tx_in_flight: delivered + lost,
            is_app_limited: ack.is_app_limited == 1 || marked,
            prior_in_flight,
        }
    }

    fn is_inflight_too_high(&self, rs: &Rs) -> bool {
        rs.lost > rs.tx_in_flight * self.p("loss_threshold") + 1e-9
    }

    fn save_cwnd(&mut self) {
        let good = self.trouble < Trouble::Recovery && !matches!(self.state, ProbeRtt { .. });
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        if self.min_rtt.1.is_finite() && !self.paced_by_rtt {
            self.paced_by_rtt = true;
            self.pacing_rate = self.bytes_per_s(self.cwnd / self.min_rtt.1, self.p("high_gain"));
        }
        let rate = self.bytes_per_s(self.bw(), gain);
        self.pacing_rate = if self.full_bw_reached { rate } else { rate.max(self.pacing_rate) };
    }

    fn set_cwnd(&mut self, ack: &Ack) {
        let acked = f64::from(ack.acked_sacked);
        let extra = self.extra_acked[0].max(self.extra_acked[1]) * self.p("aggregation");
        let max_inflight = self.quantization_budget(self.bdp_multiple(self.bw(), self.gains().1) + extra);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + acked).min(max_inflight);
        } else if self.cwnd < max_inflight || ack.delivered < 10 {
            self.cwnd += acked;
        }
        let least = self.p("min_window");
        self.cwnd = self.cwnd.max(least);
        let cap = match self.state {
            Down | Refill | Up => self.inflight_longterm,
            Cruise => self.inflight_with_headroom(),
            ProbeRtt { .. } => self.inflight_with_headroom().min(self.probe_rtt_cwnd()),
            Startup | Drain { .. } => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(least));
    }
}

impl Model for Bbr3 {
    fn new(params: &Params, mss: u32, window: u32, now_us: u64) -> Self {
        let unmeasured = (now_us / 1000, f64::INFINITY);
        let mut new = Self {
            params: Rc::new(params.controller().params().map(|p| (p.name, params.get(p.name).unwrap())).collect()),
            mss: mss.into(),
            state: Startup,
            ack_phase: AckPhase::Init,
            max_bw_filter: [0.0; 2],
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            next_round_delivered: 0,
            round_start: false,
            starts_round: false,
            loss_round_delivered: 0,
            is_loss_in_round: false,
            losses_in_round: 0,
            rounds: (0.0, 0.0, 0.0),
            cwnd_limited: [false; 2],
            extra_acked: [0.0; 2],
            extra_acked_rounds: 0,
            extra_acked_delivered: 0.0,
            extra_acked_interval_start: now_us,
            min_rtt: unmeasured,
            probe_rtt_min: unmeasured,
            probe_rtt_sent: None,
            cycle_stamp_ms: 0,
            bw_probe_wait_ms: 0,
            rounds_since_probe_up: 0,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            idle_restart: false,
            prior_cwnd: 0.0,
            trouble: Trouble::Open,
            timed_out: false,
            paced_by_rtt: false,
            cwnd: window.into(),
            pacing_rate: 0.0,
        };
        new.pacing_rate = new.bytes_per_s(new.cwnd / 1000.0, new.p("high_gain"));
        new
    }

    fn ack(&mut self, now_us: u64, ack: &Ack, ways: &mut Ways) {
        if self.starts_round {
            self.start_round(ack.delivered.wrapping_sub(ack.acked_sacked));
        }
        let rs = self.sample(ack);
        self.cwnd_limited[1] |= rs.prior_in_flight >= self.cwnd;
        self.handle_losses(now_us, ack, &rs);
        if self.starts_round {
            self.start_round(ack.delivered);
        }
        let loss_round_start = self.update_congestion_signals(ack, &rs);
        self.update_ack_aggregation(now_us, ack);
        self.check_full_bw_reached(&rs, ways);
        self.check_startup_and_drain_done(now_us, ack, &rs, loss_round_start);
        self.update_probe_bw_cycle_phase(now_us, ack, &rs);
        self.update_min_rtt(now_us, ack);
        if loss_round_start {
            (self.bw_latest, self.inflight_latest) = (rs.delivery_rate, rs.delivered);
        }
        if self.starts_round {
            self.start_round(ack.delivered);
        }
        self.set_pacing_rate(self.gains().0);
        self.set_cwnd(ack);
    }

    fn agrees(&self, window: u32, rate: u64) -> bool {
        // One unit of the largest gain.
        let close = (rate as f64 - self.pacing_rate).abs() < self.pacing_rate * 0.003 + self.bytes_per_s(UNIT, 4.0);
        close && (f64::from(window) - self.cwnd).abs() <= 1.0
    }

    fn follow(&mut self, window: u32, rate: u64) {
        (self.cwnd, self.pacing_rate) = (window.into(), rate as f64);
    }

    fn reduce(&mut self) {
        self.save_cwnd();
    }

    fn enter(&mut self, state: Trouble) {
        if state == Trouble::Loss {
            (self.timed_out, self.cwnd) = (true, 1.0);
        } else if self.trouble >= Trouble::Recovery && state < Trouble::Recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
        self.trouble = state;
    }

    fn restart(&mut self, now_us: u64) {
        (self.idle_restart, self.extra_acked_interval_start) = (true, now_us);
        if self.in_probe_bw() {
            self.set_pacing_rate(1.0);
        } else {
            self.check_probe_rtt_done(now_us);
        }
    }
}
