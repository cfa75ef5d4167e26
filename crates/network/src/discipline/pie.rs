// SPDX-License-Identifier: MIT OR Apache-2.0
//! PIE (RFC 8033): drops or marks at arrival with a probability that a proportional-integral controller of the queueing delay sets. The
//! delay is known here: it is the time until what has been accepted has left.

use tandem_scenario::aqm::Pie;

use super::{Arrival, AtArrival, Verdict};
use crate::Rng;

/// Section 4.2: weights of the deviation from the target and of the change, per second of delay.
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Section 5.1: packets are dropped though they could be marked from this probability on.
const MAX_MARKING: f64 = 0.1;

#[derive(Debug, Clone)]
pub(super) struct Controller {
    pie: Pie,
    probability: f64,
    /// The delay at the last update, ns.
    old_delay: u64,
    /// A burst may still last so long, ns.
    burst_left: u64,
    next_update: u64,
    /// Probabilities summed up since the last drop (section 5.4).
    accumulated: f64,
}

impl Controller {
    pub fn new(pie: Pie) -> Self {
        let next_update = pie.update.ns;
        let burst_left = pie.max_burst.ns;
        Self { pie, probability: 0.0, old_delay: 0, burst_left, next_update, accumulated: 0.0 }
    }

    /// Does the updates that are due. Between arrivals the queue only drains, until `busy_until`.
    fn catch_up(&mut self, now: u64, busy_until: u64) {
        while self.next_update <= now {
            let at = self.next_update;
            self.next_update += self.pie.update.ns;
            self.update(busy_until.saturating_sub(at));
            let is_at_rest = self.probability == 0.0 && self.old_delay == 0 && self.burst_left == self.pie.max_burst.ns;
            if is_at_rest && busy_until <= at && self.next_update <= now {
                // Nothing changes any more until something arrives.
                let interval = self.pie.update.ns;
                self.next_update += (now - self.next_update) / interval * interval + interval;
            }
        }
    }

    /// Section 4.2, with the delay of this time, ns.
    fn update(&mut self, delay: u64) {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let target = self.pie.target.ns;
        let change = ALPHA * (seconds(delay) - seconds(target)) + BETA * (seconds(delay) - seconds(self.old_delay));
        let scale = match self.probability {
            p if p < 0.000001 => 2048.0,
            p if p < 0.00001 => 512.0,
            p if p < 0.0001 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        let mut change = change / scale;
        if self.probability >= 0.1 {
            // Section 5.2.
            change = change.min(0.02);
        }
        self.probability += change;
        if delay == 0 && self.old_delay == 0 {
            self.probability *= 0.98;
        }
        if delay > 250_000_000 {
            // Section 5.3.
            self.probability += 0.02;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let is_calm = self.probability == 0.0 && delay < target / 2 && self.old_delay < target / 2;
        let rest = self.burst_left.saturating_sub(self.pie.update.ns);
        self.burst_left = if is_calm { self.pie.max_burst.ns } else { rest };
        self.old_delay = delay;
    }

    /// Sections 4.1 and 5.4: is this arrival chosen?
    fn chooses(&mut self, waiting_packets: usize, rng: &mut Rng) -> bool {
        let is_short = self.old_delay < self.pie.target.ns / 2 && self.probability < 0.2;
        if self.burst_left > 0 || is_short || waiting_packets <= 2 {
            return false;
        }
        if !self.pie.derandomise {
            return rng.chance(self.probability);
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let chosen = self.accumulated >= 0.85 && (self.accumulated >= 8.5 || rng.chance(self.probability));
        if chosen {
            self.accumulated = 0.0;
        }
        chosen
    }
}

impl AtArrival for Controller {
    fn judge(&mut self, arrival: &Arrival, rng: &mut Rng) -> Verdict {
        self.catch_up(arrival.now, arrival.busy_until);
        if !self.chooses(arrival.waiting_packets, rng) {
            Verdict::Pass
        } else if self.pie.ecn && self.probability < MAX_MARKING {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::units::Span;

    use super::*;

    fn controller() -> Controller {
        let ms = Span::from_ms;
        Controller::new(Pie { target: ms(15), update: ms(15), max_burst: ms(150), derandomise: true, ecn: false })
    }

    /// From 0 to 40 ms: (0.125 * 0.025 + 1.25 * 0.040) / 2048 = 2.5940e-5. Again 40 ms: 0.125 * 0.025 / 128 = 2.4414e-5 more.
    #[test]
    fn updates_by_hand() {
        let mut controller = controller();
        controller.update(40_000_000);
        assert!((controller.probability - 2.594e-5).abs() < 1e-8, "{}", controller.probability);
        controller.update(40_000_000);
        assert!((controller.probability - 5.0354e-5).abs() < 1e-8, "{}", controller.probability);
        // Two of the ten updates that a burst may last.
        assert_eq!(controller.burst_left, 120_000_000);
    }

    /// An empty queue for a second: 66 updates with -0.125 * 0.015 / scale bring it down to 0, and a burst is free again.
    #[test]
    fn an_idle_queue_forgets() {
        let mut controller = controller();
        (0..20).for_each(|_| controller.update(40_000_000));
        assert!(controller.burst_left == 0 && controller.probability > 0.0005);
        let now = controller.next_update + 1_000_000_000;
        controller.catch_up(now, 0);
        assert!(controller.probability == 0.0 && controller.burst_left == 150_000_000);
        // After a long rest it is where it would be: at the next multiple of 15 ms.
        controller.catch_up(now + 3_600_000_000_000, 0);
        assert!(controller.next_update > now + 3_600_000_000_000 && controller.next_update.is_multiple_of(15_000_000));
    }
}
