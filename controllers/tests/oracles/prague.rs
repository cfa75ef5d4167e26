// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prague in real numbers, from draft-briscoe-iccrg-prague-congestion-control-04.

use tandem_controllers::{Ack, Params, State};
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, dctcp::Average};
use crate::{model::Model, ways::Ways};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { loss_window_stays: false, halves_at_most: false, ..Facts::USUAL },
    kind: Kind::model::<Prague>(),
};

#[derive(Clone, Debug, PartialEq)]
pub struct Prague {
    beta: f64,
    virtual_rtt_us: f64,
    transition: f64,
    mss: f64,
    window: f64,
    ssthresh: f64,
    srtt_us: Option<f64>,
    average: Average,
    updated_us: u64,
    /// When a mark last cut the window, and one above the last packet sent by then.
    cut: Option<(u64, u64)>,
    rounds: f64,
    saw_mark: bool,
    state: State,
    /// Positions, packets: acknowledged, and sent.
    una: u64,
    nxt: u64,
    their_window: u32,
}

impl Prague {
    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Does the virtual RTT take the place of the real one?
    fn is_virtual(&self, ways: &mut Ways) -> bool {
        let srtt_us = self.srtt_us.unwrap_or(0.0);
        !self.in_slow_start() && self.rounds >= self.transition && ways.less(srtt_us, self.virtual_rtt_us, 3.0)
    }

    fn is_time(&self, now_us: u64, since_us: u64, ways: &mut Ways) -> bool {
        !self.is_virtual(ways) || (now_us - since_us) as f64 >= self.virtual_rtt_us
    }

    fn grow(&mut self, mut acked: f64, ways: &mut Ways) {
        if self.in_slow_start() {
            let used = acked.min(self.ssthresh - self.window).max(0.0);
            self.window += used;
            acked -= used;
        }
        let ratio = self.srtt_us.unwrap_or(0.0) / self.virtual_rtt_us;
        let increase = if self.is_virtual(ways) { ratio * ratio } else { 1.0 };
        self.window += acked * increase / self.window;
    }

    fn rate(&self, window: f64) -> f64 {
        let rtt_us = self.srtt_us.unwrap_or(1000.0).max(1.0);
        let gain = if window < (self.ssthresh / 2.0).floor() { 2.0 } else { 1.0 };
        gain * window * self.mss * 1e6 / rtt_us
    }
}

impl Model for Prague {
    fn new(params: &Params, mss: u32, window: u32, now_us: u64) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            beta: p("beta"),
            virtual_rtt_us: p("virtual_rtt"),
            transition: p("transition"),
            mss: mss.into(),
            window: window.into(),
            ssthresh: f64::INFINITY,
            srtt_us: None,
            average: Average::new(p("g"), 1.0, 0),
            updated_us: now_us,
            cut: None,
            rounds: 0.0,
            saw_mark: false,
            state: State::Open,
            una: 0,
            nxt: window.into(),
            their_window: window,
        }
    }

    fn ack(&mut self, now_us: u64, ack: &Ack, ways: &mut Ways) {
        self.una += u64::from(ack.acked_sacked);
        if ack.lost == 0 {
            self.nxt = self.una + u64::from(ack.in_flight);
        }
        let (una, nxt) = (self.una, self.nxt);
        let (acked, marked) = (f64::from(ack.acked_sacked), f64::from(ack.marked));
        if ack.rtt_us > 0 {
            let sample = f64::from(ack.rtt_us);
            self.srtt_us = Some(self.srtt_us.map_or(sample, |srtt| srtt * 7.0 / 8.0 + sample / 8.0));
        }
        self.average.count(acked, marked);
        self.saw_mark |= marked > 0.0;
        let recovers = self.state == State::Recovery;
        let may_cut = match self.cut {
            None => true,
            Some((at, end)) => una > end && self.is_time(now_us, at, ways),
        };
        if marked > 0.0 && !recovers && may_cut {
            let left = (self.window * (1.0 - self.average.alpha / 2.0)).max(2.0).min(self.window);
            (self.window, self.cut) = (left, Some((now_us, nxt)));
            self.ssthresh = self.ssthresh.min(left.floor().max(2.0));
        }
        if !recovers && ack.is_app_limited == 0 {
            self.grow((acked - marked).max(0.0), ways);
        }
        if self.average.has_ended(una) && self.is_time(now_us, self.updated_us, ways) {
            self.average.end_round(nxt, self.saw_mark);
            self.updated_us = now_us;
            if !self.in_slow_start() && self.rounds < self.transition {
                self.rounds += 1.0;
            }
        }
    }

    fn sends(&mut self, window: u32) {
        self.their_window = window;
        self.nxt = self.nxt.max(self.una + u64::from(window));
    }

    fn agrees(&self, window: u32, rate: u64) -> bool {
        let their_window = f64::from(window);
        // The integer controller cuts fractions off at each reduction: 2^-16 packets, and 2^-24 of the window with alpha. Growth loses none.
        if !(their_window - 0.05..their_window + 1.05).contains(&self.window) {
            return false;
        }
        let expected = self.rate(their_window);
        (rate as f64 - expected).abs() <= expected * (0.001 + 2.0 / self.srtt_us.unwrap_or(1000.0)) + 1.0
    }

    fn reduce(&mut self) {
        self.ssthresh = (self.window.floor() * (1.0 - self.beta)).floor().max(2.0);
    }

    fn enter(&mut self, state: State) {
        if state == State::Recovery && self.state != State::Recovery {
            let whole = self.window.floor();
            self.window = (whole * (1.0 - self.beta)).floor().max(2.0).min(whole);
            self.ssthresh = self.ssthresh.min(self.window.max(2.0));
        } else if state == State::Loss {
            self.window = 1.0;
        }
        self.state = state;
    }

    fn restart(&mut self, _now_us: u64) {
        self.una = self.nxt.max(self.una + u64::from(self.their_window));
        self.nxt = self.una;
    }
}
