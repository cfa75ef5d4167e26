// SPDX-License-Identifier: MIT OR Apache-2.0
//! BBR v3 in real numbers: the states (section 5.3 of draft-ietf-ccwg-bbr), and what each ACK does to the model (5.5).

use tandem_controllers::{Ack, State as Trouble};

use super::{
    AckPhase, Bbr3, Rs,
    State::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up},
    UNIT, reached,
};
use crate::ways::Ways;

impl Bbr3 {
    pub(super) fn start_probe_bw_down(&mut self, now_us: u64) {
        (self.is_loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
        let hash = (now_us as u32).wrapping_mul(2_654_435_769);
        self.rounds_since_probe_up = hash >> 23 & 1;
        self.bw_probe_wait_ms = (1000.0 * self.p("probe_wait")).round() as u64 + u64::from(hash >> 24) * 1000 / 256;
        (self.cycle_stamp_ms, self.ack_phase) = (now_us / 1000, AckPhase::ProbeStopping);
        (self.starts_round, self.state) = (true, Down);
    }

    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked, self.prev_probe_precautionary) = (0, 0.0, false);
        (self.ack_phase, self.starts_round, self.state) = (AckPhase::Refilling, true, Refill);
    }

    pub(super) fn raise_inflight_longterm_slope(&mut self) {
        let growth = f64::from(1 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).floor().max(1.0);
    }

    pub(super) fn check_startup_and_drain_done(&mut self, now_us: u64, ack: &Ack, rs: &Rs, loss_round_start: bool) {
        let enough = f64::from(self.losses_in_round) >= self.p("full_losses");
        let high = enough && self.trouble == Trouble::Recovery && self.is_inflight_too_high(rs);
        if loss_round_start && high && !self.full_bw_reached {
            (self.full_bw_reached, self.full_bw_now) = (true, true);
            self.inflight_longterm = self.bdp_multiple(self.bw(), 1.0).max(self.inflight_latest);
        }
        if loss_round_start {
            self.losses_in_round = 0;
        }
        if self.state == Startup && self.full_bw_reached {
            self.state = Drain { rounds: 0 };
        }
        if let Drain { rounds } = self.state
            && (f64::from(ack.in_flight) <= self.inflight(self.bw()) || rounds > 3)
        {
            self.start_probe_bw_down(now_us);
        }
    }

    pub(super) fn adapt_long_term_model(&mut self, ack: &Ack, rs: &Rs) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            (self.is_bw_probe_sample, self.ack_phase) = (false, AckPhase::Init);
            if self.in_probe_bw() && !rs.is_app_limited && self.max_bw_filter[1] > 0.0 {
                self.max_bw_filter = [self.max_bw_filter[1], 0.0];
            }
            if self.in_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_probe_bw_refill();
                return true;
            }
        }
        if self.is_inflight_too_high(rs) || self.inflight_longterm.is_infinite() {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
        if self.state == Up && self.cwnd_limited.contains(&true) && self.cwnd >= self.inflight_longterm {
            self.bw_probe_up_acked += f64::from(ack.acked_sacked);
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
            if self.round_start {
                self.raise_inflight_longterm_slope();
            }
        }
        false
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, now_us: u64, ack: &Ack, rs: &Rs) {
        if !self.full_bw_reached || self.adapt_long_term_model(ack, rs) {
            return;
        }
        let in_flight = f64::from(ack.in_flight);
        match self.state {
            Down | Cruise => {
                let reno_rounds = self.target_inflight().min(self.p("reno_rounds"));
                if now_us / 1000 - self.cycle_stamp_ms > self.bw_probe_wait_ms
                    || f64::from(self.rounds_since_probe_up) >= reno_rounds
                {
                    self.start_probe_bw_refill();
                } else if in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight(self.max_bw()) {
                    self.state = Cruise;
                }
            }
            Refill if self.round_start => {
                (self.is_bw_probe_sample, self.ack_phase, self.starts_round) = (true, AckPhase::ProbeStarting, true);
                self.probe_rtt_sent = None;
                self.reset_full_bw(rs.delivery_rate);
                self.state = Up;
                self.raise_inflight_longterm_slope();
            }
            Up => {
                let again = self.prev_probe_too_high && rs.prior_in_flight >= self.inflight_longterm;
                let bounded = self.cwnd_limited.contains(&true) && self.cwnd >= self.inflight_longterm;
                if bounded && !again {
                    self.reset_full_bw(rs.delivery_rate);
                } else if again || self.full_bw_now {
                    (self.prev_probe_precautionary, self.prev_probe_too_high) = (again || self.prev_probe_precautionary, false);
                    self.start_probe_bw_down(now_us);
                }
            }
            _ => {}
        }
    }

    pub(super) fn update_min_rtt(&mut self, now_us: u64, ack: &Ack) {
        let now_ms = now_us / 1000;
        let expired = (now_ms - self.probe_rtt_min.0) as f64 > 1000.0 * self.p("probe_rtt_interval");
        if ack.rtt_us > 0 && (f64::from(ack.rtt_us) < self.probe_rtt_min.1 || expired) {
            self.probe_rtt_min = (now_ms, ack.rtt_us.into());
        }
        let min_rtt_expired = (now_ms - self.min_rtt.0) as f64 > 1000.0 * self.p("rtt_window");
        if self.probe_rtt_min.1 < self.min_rtt.1 || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min;
        }
        let probing = matches!(self.state, ProbeRtt { .. });
        if !probing && expired && !self.idle_restart && self.p("probe_rtt_time") > 0.0 {
            self.state = ProbeRtt { done_from_ms: None, round_done: false };
            self.save_cwnd();
            (self.ack_phase, self.starts_round) = (AckPhase::ProbeStopping, true);
            self.probe_rtt_sent = Some((ack.delivered, ack.delivered));
        }
        self.handle_probe_rtt(now_us, ack);
        self.idle_restart &= ack.interval_us == 0;
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw(), self.p("probe_rtt_gain")).max(self.p("min_window"))
    }

    pub(super) fn handle_probe_rtt(&mut self, now_us: u64, ack: &Ack) {
        let small = f64::from(ack.in_flight) <= self.probe_rtt_cwnd();
        let ProbeRtt { done_from_ms, round_done } = &mut self.state else { return };
        let (from, _) = self.probe_rtt_sent.unwrap();
        self.probe_rtt_sent = Some((from, ack.delivered.wrapping_add(ack.in_flight)));
        if done_from_ms.is_some() {
            *round_done |= self.round_start;
            if *round_done {
                self.check_probe_rtt_done(now_us);
            }
        } else if small {
            (*done_from_ms, self.starts_round) = (Some(now_us / 1000), true);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now_us: u64) {
        let ProbeRtt { done_from_ms: Some(from_ms), .. } = self.state else { return };
        if (now_us / 1000 - from_ms) as f64 > self.p("probe_rtt_time") {
            self.probe_rtt_min.0 = now_us / 1000;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.reset_short_term_model();
            self.state = Startup;
            if self.full_bw_reached {
                self.start_probe_bw_down(now_us);
                self.state = Cruise;
            }
        }
    }

    pub(super) fn check_full_bw_reached(&mut self, rs: &Rs, ways: &mut Ways) {
        if self.full_bw_now || !self.round_start || rs.is_app_limited {
            return;
        }
        if !ways.less(rs.delivery_rate, 1.25 * self.full_bw, UNIT / 100.0) {
            return self.reset_full_bw(rs.delivery_rate);
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count == 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    pub(super) fn reset_full_bw(&mut self, full_bw: f64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }

    pub(super) fn handle_losses(&mut self, now_us: u64, ack: &Ack, rs: &Rs) {
        self.rounds.2 += f64::from(ack.lost);
        if ack.lost == 0 && !self.timed_out {
            return;
        }
        if !self.is_loss_in_round {
            self.loss_round_delivered = ack.delivered;
            self.save_cwnd();
        }
        (self.is_loss_in_round, self.timed_out) = (true, false);
        self.losses_in_round += u32::from(ack.lost > 0);
        if ack.lost == 0 || !self.is_bw_probe_sample || ack.interval_us == 0 || !self.is_inflight_too_high(rs) {
            return;
        }
        // InflightAtLoss() for all the packets that this ACK finds lost.
        let (size, thresh) = (f64::from(ack.lost), self.p("loss_threshold"));
        let inflight_prev = (rs.tx_in_flight - size).max(0.0);
        let lost_prefix = (thresh * inflight_prev - (rs.lost - size)) / (1.0 - thresh);
        let inflight_at_loss = inflight_prev + (lost_prefix + 1e-9).floor().max(0.0);
        (self.prev_probe_too_high, self.is_bw_probe_sample) = (true, false);
        if !rs.is_app_limited {
            let least = (self.target_inflight() * self.p("beta") + 1e-9).floor();
            self.inflight_longterm = inflight_at_loss.max(least);
        }
        if self.state == Up {
            self.start_probe_bw_down(now_us);
        }
    }

    pub(super) fn update_congestion_signals(&mut self, ack: &Ack, rs: &Rs) -> bool {
        self.bw_latest = self.bw_latest.max(rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        let is_sample = ack.interval_us > 0;
        let loss_round_start = is_sample && reached(ack.prior_delivered, self.loss_round_delivered);
        if loss_round_start {
            self.loss_round_delivered = ack.delivered;
        }
        self.round_start = is_sample && reached(ack.prior_delivered, self.next_round_delivered);
        if self.round_start {
            self.next_round(ack.delivered);
            self.rounds_since_probe_up += 1;
            if let Drain { rounds } = &mut self.state {
                *rounds += 1;
            }
        }
        if is_sample && (rs.delivery_rate >= self.max_bw() || !rs.is_app_limited) {
            self.max_bw_filter[1] = self.max_bw_filter[1].max(rs.delivery_rate);
        }
        if loss_round_start {
            if self.is_loss_in_round && !matches!(self.state, Startup | Refill | Up) {
                let bw = if self.bw_shortterm.is_infinite() { self.max_bw() } else { self.bw_shortterm };
                let inflight = if self.inflight_shortterm.is_infinite() { self.cwnd } else { self.inflight_shortterm };
                self.bw_shortterm = self.bw_latest.max(bw * self.p("beta"));
                self.inflight_shortterm = self.inflight_latest.max((inflight * self.p("beta") + 1e-9).floor());
            }
            self.is_loss_in_round = false;
        }
        loss_round_start
    }

    pub(super) fn update_ack_aggregation(&mut self, now_us: u64, ack: &Ack) {
        let interval = (now_us - self.extra_acked_interval_start) as f64;
        let mut expected = (self.bw() * interval).floor();
        if self.round_start {
            self.extra_acked_rounds += 1;
            // Two halves of ExtraAckedFilterLen, or of two rounds.
            if self.extra_acked_rounds >= 5 || !self.full_bw_reached {
                (self.extra_acked, self.extra_acked_rounds) = ([self.extra_acked[1], 0.0], 0);
            }
        }
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_interval_start, expected) = (0.0, now_us, 0.0);
        }
        self.extra_acked_delivered += f64::from(ack.acked_sacked);
        self.extra_acked[1] = self.extra_acked[1].max((self.extra_acked_delivered - expected).min(self.cwnd));
    }
}
