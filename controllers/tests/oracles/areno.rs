// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP-Adaptive Reno in real numbers: `areno.h` has the equations' source. The loss window is W_base, the delay window W_probe.

use tandem_controllers::Params;
use tandem_testing::invariant::Facts;

use super::{Kind, Oracle, 
    Shown, TheirSide, Windows,
    by_rounds::{ByRounds, At, Law},
    meter::{Meter, Round},
    rate::Rate,
};

pub const ORACLE: Oracle = Oracle {
    facts: Facts { shows_base_rtt: true, halves_at_most: true, ..Facts::USUAL },
    kind: Kind::Windows(|params, window, now_us| ByRounds::begin(Areno::new(params, now_us), window, now_us)),
};

/// The host's segments, bytes of payload.
const MSS: f64 = 1448.0;

pub struct Areno {
    rate: Rate,
    rate_per_packet: f64,
    decay: f64,
    memory: f64,
    on_top: f64,
    congested_rtt_us: Option<f64>,
    congested_rtt_before_us: Option<f64>,
    diff: f64,
    gain: f64,
}

impl Areno {
    pub fn new(params: &Params, now_us: f64) -> Self {
        let p = |name| params.get(name).unwrap();
        Self {
            rate: Rate::new(params, now_us),
            rate_per_packet: p("rate_per_packet"),
            decay: p("decay"),
            memory: p("memory"),
            on_top: p("on_top"),
            congested_rtt_us: None,
            congested_rtt_before_us: None,
            diff: 0.0,
            gain: 0.0,
        }
    }

    fn congestion(&self, base_rtt_us: f64, rtt_us: f64) -> f64 {
        match self.congested_rtt_us {
            Some(congested) if congested - base_rtt_us > 1e-4 => {
                ((rtt_us - base_rtt_us) / (congested - base_rtt_us)).min(1.0)
            }
            _ => 1.0,
        }
    }

    /// W_inc(c), packets a round.
    fn increase(&self, c: f64) -> f64 {
        let max = self.rate.packets(1e6).unwrap_or(0.0) * MSS * 8.0 / (self.rate_per_packet * 1e6);
        let (a, e) = (1.0 / self.decay, (-self.decay).exp());
        let beta = 2.0 * max * (a - (a + 1.0) * e);
        let gamma = 1.0 - 2.0 * max * (a - (a + 0.5) * e);
        max * (-self.decay * c).exp() + beta * c + gamma
    }
}

impl Law for Areno {
    fn acked(&mut self, now_us: f64, acked: f64, rtt_us: Option<f64>, _: Option<TheirSide>) {
        self.rate.acked(now_us, acked, rtt_us);
    }

    fn round(&mut self, win: &mut Windows, round: Option<Round>, at: At) -> Option<f64> {
        self.gain = 0.0;
        let round = round?;
        self.diff = round.queued(round.in_flight);
        if at.slow_start {
            return None;
        }
        // Reno's growth is W_base's.
        let probe = self.increase(self.congestion(round.base_rtt_us, round.rtt_us)) - 1.0 + self.on_top;
        self.gain = probe.max(0.0);
        win.delay = (win.delay + probe.min(0.0)).max(0.0);
        None
    }

    fn grow(&mut self, win: &mut Windows, acked: f64) {
        let cwnd = win.total();
        win.loss += acked / cwnd;
        win.delay += self.gain * acked / cwnd;
    }

    fn after_loss(&mut self, win: Windows, meter: &Meter) -> Windows {
        self.gain = 0.0;
        self.congested_rtt_before_us = self.congested_rtt_us;
        let (Some(base), Some(last)) = (meter.base_rtt_us, meter.last_rtt_us) else {
            return Windows { loss: win.total() / 2.0, delay: 0.0 };
        };
        let before = self.congested_rtt_us.unwrap_or(last);
        self.congested_rtt_us = Some(self.memory * before + (1.0 - self.memory) * last);
        Windows { loss: win.total() / (1.0 + self.congestion(base, last)), delay: 0.0 }
    }

    fn on_undo(&mut self, _: &mut Meter) {
        self.congested_rtt_us = self.congested_rtt_before_us;
    }

    fn restart(&mut self, win: Windows, window: f64, now_us: f64) -> Windows {
        self.rate.restart(now_us);
        self.gain = 0.0;
        Windows { loss: win.total().min(window), delay: 0.0 }
    }

    fn shown(&self) -> Shown {
        Shown { diff: Some(self.diff), ..Shown::default() }
    }
}
