// SPDX-License-Identifier: MIT OR Apache-2.0
//! How flows of `compound_steady` get to rest: the fluid in small steps of time.
//!
//! Windows fill the path at once: the queueing delay is the one at which sum W / (base + d) is the link's rate. What is measured comes
//! later, as in the law: a round tells of the packets sent in the round before.

use super::{Flow, Law, Rest};

/// Steps in the shortest RTT.
const STEPS: f64 = 40.0;

/// A flow on its way.
struct Running {
    flow: Flow,
    window: f64,
    /// Growth, packets a second.
    slope: f64,
    /// This round: its end, the flight when it began, and of the queueing delay since then the sum over time.
    end_s: f64,
    flight: f64,
    begun_s: f64,
    delay_sum: f64,
    /// Mean queueing delay of the round before.
    delay_before_s: f64,
    /// n, two at most.
    empty_rounds: u32,
}

impl Running {
    fn new(flow: Flow, window: f64) -> Self {
        let end_s = flow.base_rtt_s;
        Self {
            flow,
            window,
            slope: 0.0,
            end_s,
            flight: window,
            begun_s: 0.0,
            delay_sum: 0.0,
            delay_before_s: 0.0,
            empty_rounds: 0,
        }
    }

    fn end_round(&mut self, law: &Law, now_s: f64, d: f64) {
        let r = self.flow.base_rtt_s + self.delay_before_s;
        let x = self.flight / r;
        let (q, aim) = (x * self.delay_before_s, law.aim(&self.flow, x));
        if q >= aim / 2.0 {
            self.empty_rounds = 0;
        } else if q < aim / 8.0 {
            self.empty_rounds = (self.empty_rounds + 1).min(2);
        }
        let growth = if q > aim {
            self.window -= law.gain * (q - aim);
            0.0
        } else if self.empty_rounds < 2 {
            law.gain * (aim - q)
        } else {
            let limit = self.flow.overflow_s.map_or(f64::INFINITY, |d| (d * x * law.step).max(1.0));
            (law.alpha * self.window.powf(0.75)).min(limit)
        };
        self.delay_before_s = self.delay_sum / (now_s - self.begun_s);
        self.slope = growth / (self.flow.base_rtt_s + d);
        (self.begun_s, self.flight, self.delay_sum) = (now_s, self.window, 0.0);
        self.end_s = now_s + self.flow.base_rtt_s + d;
    }
}

/// The queueing delay at which these windows have the link's rate; 0 if they do not fill it.
fn delay_s(packets_per_s: f64, flows: &[Running]) -> f64 {
    let excess = |d: f64| flows.iter().map(|f| f.window / (f.flow.base_rtt_s + d)).sum::<f64>() - packets_per_s;
    if excess(0.0) <= 0.0 {
        return 0.0;
    }
    // Newton's method from the left: the sum is convex, so that no step goes too far.
    let mut d = 0.0;
    for _ in 0..30 {
        let slope: f64 = flows.iter().map(|f| f.window / (f.flow.base_rtt_s + d).powi(2)).sum();
        let step = excess(d) / slope;
        d += step;
        if step < 1e-12 {
            break;
        }
    }
    d
}

impl Law {
    /// Seconds until every flow has its rate at rest, to within this share of it, for good; from these windows, packets. `None`: not
    /// within `longest_s`.
    pub fn time_to_rest(
        &self,
        packets_per_s: f64,
        flows: &[Flow],
        windows: &[f64],
        within: f64,
        longest_s: f64,
    ) -> Option<f64> {
        let Rest { shares, .. } = self.rest(packets_per_s, flows);
        let mut running: Vec<Running> = flows.iter().zip(windows).map(|(&flow, &w)| Running::new(flow, w)).collect();
        let step_s = flows.iter().map(|f| f.base_rtt_s).fold(f64::INFINITY, f64::min) / STEPS;
        let mut last_away_s = 0.0;
        let steps = (longest_s / step_s) as u64;
        for now_s in (1..=steps).map(|step| step as f64 * step_s) {
            let d = delay_s(packets_per_s, &running);
            for flow in &mut running {
                flow.delay_sum += d * step_s;
                flow.window += flow.slope * step_s;
                if now_s >= flow.end_s {
                    flow.end_round(self, now_s, d);
                }
            }
            let is_away = running.iter().zip(&shares).any(|(flow, share)| {
                let x = flow.window / (flow.flow.base_rtt_s + d);
                (x / share.packets_per_s - 1.0).abs() > within
            });
            if is_away {
                last_away_s = now_s;
            }
        }
        // It has to have stayed there for a while.
        (last_away_s < 0.9 * longest_s).then_some(last_away_s)
    }
}
