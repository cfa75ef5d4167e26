// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP-Fusion in real numbers, S3 II, and what `fusion.h` decides where it is silent. The loss window is Reno's.

use tandem_controllers::Params;
use tandem_testing::invariant::{Facts, q8};

use super::{
    Kind, Oracle, Shown, TheirSide, Windows,
    by_rounds::{At, ByRounds, Law},
    meter::{Meter, Round, below},
    rate::Rate,
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { gamma_q8: |params| q8(params, "alpha_low")..=u32::MAX, shows_base_rtt: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| ByRounds::begin(Fusion::new(params, now_us), window, now_us)),
};

pub struct Fusion {
    rate: Rate,
    gaps: Option<Gaps>,
    /// At which Reno's slow start would end, packets; before the last reduction, too.
    reno_ssthresh: f64,
    prior_reno_ssthresh: f64,
    beta: f64,
    alpha_delay_us: f64,
    alpha_low: f64,
    upper: f64,
    increase_delay_us: f64,
    alpha: f64,
    diff: f64,
    /// Packets for each window of packets ACKed.
    gain: f64,
}

impl Fusion {
    pub fn new(params: &Params, now_us: f64) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            rate: Rate::new(params, now_us),
            gaps: (p("bandwidth") == 1.0).then(|| Gaps::new(p("gap_filter"), now_us)),
            reno_ssthresh: f64::INFINITY,
            prior_reno_ssthresh: f64::INFINITY,
            beta: p("beta"),
            alpha_delay_us: p("alpha_delay"),
            alpha_low: p("alpha_low"),
            upper: p("upper"),
            increase_delay_us: p("increase_delay"),
            alpha: p("alpha_low"),
            diff: 0.0,
            gain: 0.0,
        }
    }
}

impl Law for Fusion {
    fn acked(&mut self, now_us: f64, acked: f64, rtt_us: Option<f64>, _: Option<TheirSide>) {
        self.rate.acked(now_us, acked, rtt_us);
        if let Some(gaps) = &mut self.gaps {
            gaps.acked(now_us, acked);
        }
    }

    fn round(&mut self, win: &mut Windows, round: Option<Round>, at: At) -> Option<f64> {
        self.gain = 0.0;
        let round = round?;
        // The share of what is in flight that passes in Dmin.
        self.alpha = (round.in_flight / round.rtt_us * self.alpha_delay_us).max(self.alpha_low);
        self.diff = round.queued(round.in_flight);
        let theirs = at.their_side;
        let upper = self.upper * self.alpha;
        if at.slow_start {
            return None;
        }
        if below(self.diff, self.alpha, 0.01, theirs.diff < theirs.gamma) {
            self.gain = match &self.gaps {
                Some(gaps) => gaps.rate.map_or(0.0, |rate| rate * self.increase_delay_us),
                None => self.rate.packets(self.increase_delay_us).unwrap_or(0.0),
            };
        } else if !below(self.diff, upper, 0.01 * self.upper, theirs.diff <= self.upper * theirs.gamma) {
            win.delay = (win.delay - (self.diff - self.alpha).floor()).max(0.0);
        }
        None
    }

    /// Reno's window is not Fusion's: they have an ssthresh each.
    fn in_slow_start(&mut self, _: &mut Windows) {}

    fn slow_start(&mut self, win: &mut Windows, acked: f64) {
        let total = win.total() + acked;
        win.loss += acked.min((self.reno_ssthresh - win.loss).max(0.0));
        win.delay = (total - win.loss).max(0.0);
    }

    fn grow(&mut self, win: &mut Windows, acked: f64) {
        let cwnd = win.total();
        win.loss += acked / cwnd;
        win.delay = (cwnd + self.gain * acked / cwnd - win.loss).max(0.0);
    }

    fn after_loss(&mut self, win: Windows, meter: &Meter) -> Windows {
        self.gain = 0.0;
        let unqueued = match (meter.base_rtt_us, meter.last_rtt_us) {
            (Some(base), Some(last)) => base / last,
            _ => 0.0,
        };
        let loss = (win.loss / 2.0).max(2.0);
        self.prior_reno_ssthresh = std::mem::replace(&mut self.reno_ssthresh, loss);
        Windows { loss, delay: (win.total() * unqueued.max(1.0 - self.beta) - loss).max(0.0) }
    }

    fn on_undo(&mut self, _: &mut Meter) {
        self.reno_ssthresh = self.prior_reno_ssthresh;
    }

    fn restart(&mut self, win: Windows, window: f64, now_us: f64) -> Windows {
        self.rate.restart(now_us);
        if let Some(gaps) = &mut self.gaps {
            (gaps.since_us, gaps.packets) = (now_us, 0.0);
        }
        // RFC 2861.
        self.reno_ssthresh = self.reno_ssthresh.max(0.75 * win.loss);
        self.gain = 0.0;
        let loss = win.loss.min(window);
        Windows { loss, delay: win.total().min(window) - loss }
    }

    fn shown(&self) -> Shown {
        Shown { gamma: Some(self.alpha), diff: Some(self.diff), gamma_margin: 0.01, ..Shown::default() }
    }
}

/// TCPW-BE's estimate (Casetti, Gerla, Mascolo, Sanadidi, Wang 2001, section 2.2), packets a microsecond.
struct Gaps {
    tau_us: f64,
    since_us: f64,
    packets: f64,
    /// Of the last gap.
    sample: f64,
    rate: Option<f64>,
}

impl Gaps {
    fn new(tau_us: f64, since_us: f64) -> Self {
        Self { tau_us, since_us, packets: 0.0, sample: 0.0, rate: None }
    }

    fn acked(&mut self, now_us: f64, packets: f64) {
        self.packets += packets;
        let gap_us = now_us - self.since_us;
        if gap_us == 0.0 || packets == 0.0 {
            return;
        }
        let sample = self.packets / gap_us;
        let before = if self.rate.is_none() { sample } else { self.sample };
        // Silence for half of tau counts as a sample of nothing.
        let before = if gap_us > self.tau_us / 2.0 { 0.0 } else { before };
        let pole = ((2.0 * self.tau_us - gap_us) / (2.0 * self.tau_us + gap_us)).max(0.0);
        self.rate = Some(pole * self.rate.unwrap_or(sample) + (1.0 - pole) * (sample + before) / 2.0);
        (self.since_us, self.packets, self.sample) = (now_us, 0.0, sample);
    }
}
