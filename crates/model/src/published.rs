// SPDX-License-Identifier: MIT OR Apache-2.0
//! S2's own model: a fluid that loses one packet a loss, without recovery, in the oscillation's steady state at once.
//!
//! The phases' equations stand in INRIA report 6778; here they are derived again in [`crate::totals`] from S2
//! (2) and the queue of a link that is full.

use crate::{
    connection::Connection,
    follow::settled,
    law::{Arithmetic, Law, ModelError},
    oscillation::{Oscillation, flow_chart},
    path::Path,
    prediction::{Parts, Prediction, case},
    rule::{Exact, Linux13, Linux2006},
    totals::{Totals, phase1, phase2, phase4},
};

/// The oscillation of a pipe of `bdp` packets by S2's flow chart (Figure 2), or, where no type is feasible, and for Tandem's
/// own controller, which cannot be forced through a different cycle, what the controller settles into.
///
/// # Errors
/// [`ModelError`] if the law is out of the model's range, or losses are too far apart.
pub fn oscillation(path: &Path, law: &Law, arithmetic: Arithmetic) -> Result<Option<Oscillation>, ModelError> {
    law.check(arithmetic)?;
    let (bdp, gamma_packets) = (path.bdp_packets(), law.gamma_packets);
    let cycle = match arithmetic {
        Arithmetic::Exact => flow_chart(&Exact(*law), bdp),
        Arithmetic::Linux13 => flow_chart(&Linux13 { gamma_packets }, bdp),
        Arithmetic::Linux2006 => flow_chart(&Linux2006 { gamma_packets }, bdp),
        Arithmetic::Tandem => None,
    };
    match cycle {
        Some(cycle) => Ok(Some(cycle.oscillation(bdp))),
        None => Ok(settled(&Connection::new(path, law, arithmetic)?, bdp, law)),
    }
}

/// The steady state as S2 predicts it, with the oscillation that [`oscillation`] finds for this path's rate and RTT; it does not
/// depend on the buffer, so a sweep over buffers works it out once.
pub fn published(path: &Path, law: &Law, oscillation: Option<&Oscillation>) -> Prediction {
    let (bdp, largest) = (path.bdp_packets(), path.bdp_packets() + path.buffer_packets);
    // Where the window finds nothing to swing about, phase 3 is as constant as its name, S2's dotted line in Figure 6.
    let constant = bdp + law.gamma_packets;
    let still = Oscillation {
        types: Vec::new(),
        theta_min: constant,
        theta_mean: constant,
        theta_max: constant,
        backlog: law.gamma_packets,
    };
    let swing = oscillation.unwrap_or(&still);
    let swings = swing.theta_max < largest;
    let step = law.alpha * bdp.powf(law.k);
    // After phase 4 all of the window is in the loss window, which is halved whatever beta is.
    let kept = if swings { (1.0 - law.beta).max(0.5) } else { 1.0 - law.beta };
    let first = kept * largest;
    let case = case(bdp, law, first, swings, step >= path.buffer_packets);
    let mut course = Course { law, bdp, phases: [Totals::default(); 4], spans: [None; 4] };
    match case {
        1 => course.grow(first, largest, f64::INFINITY),
        2 | 3 => course.grow(first, largest, bdp),
        4 | 5 => {
            course.grow(first, constant, bdp);
            let rounds: f64 = course.phases.iter().map(|p| p.rounds).sum();
            let loss_window = (largest / 2.0).min(first) + rounds;
            let end = course.swing(swing, loss_window);
            course.reno(end.min(largest), largest);
        }
        _ => course.reno(first, largest),
    }
    Parts {
        path,
        case,
        oscillation,
        epochs: 1.0,
        recovery: Totals::default(),
        phases: course.phases,
        spans: course.spans,
        loss_window: largest,
        first_window: first,
        settled_share: f64::from(u8::from(case >= 4)),
    }
    .prediction()
}

/// The window `time_s` after a loss of such a steady state, packets: S2's fluid drawn over time, with the oscillation's mean in
/// phase 3. `None` after the next loss.
pub fn published_window(path: &Path, law: &Law, steady: &Prediction, time_s: f64) -> Option<f64> {
    let mut left_s = time_s;
    for phase in &steady.phases {
        if left_s <= phase.duration_s {
            // Packet times since the phase began.
            let time = left_s * path.packets_per_s();
            let first = phase.first_window_packets;
            // The inverse of the phase's duration: w^n = first^n + n rate time.
            let grown = |n: f64, rate: f64| (first.powf(n) + n * rate * time).powf(1.0 / n);
            return match phase.phase {
                1 => Some(grown(1.0 - law.k, law.alpha / path.bdp_packets())),
                2 => Some(grown(2.0 - law.k, law.alpha)),
                3 => steady.theta_mean_packets,
                _ => Some(grown(2.0, 1.0)),
            };
        }
        left_s -= phase.duration_s;
    }
    None
}

/// The phases of one epoch as they are put together.
struct Course<'a> {
    law: &'a Law,
    bdp: f64,
    phases: [Totals; 4],
    spans: [Option<(f64, f64)>; 4],
}

impl Course<'_> {
    fn enter(&mut self, phase: usize, from: f64, to: f64, totals: Totals) {
        self.phases[phase] += totals;
        self.spans[phase] = Some((from, to));
    }

    /// Phases 1 and 2: up to `to`, with a queue from `queue_from` on.
    fn grow(&mut self, from: f64, to: f64, queue_from: f64) {
        if from < queue_from {
            let end = to.min(queue_from);
            self.enter(0, from, end, phase1(self.law, self.bdp, from, end));
        }
        if to > queue_from {
            let start = from.max(queue_from);
            self.enter(1, start, to, phase2(self.law, self.bdp, start, to));
        }
    }

    /// Phase 3: until the loss window, a packet a round, has come up to the oscillation's mean. Returns the loss window then.
    fn swing(&mut self, oscillation: &Oscillation, loss_window: f64) -> f64 {
        let rounds = (oscillation.theta_mean - loss_window).max(0.0);
        let time = rounds * oscillation.theta_mean;
        let totals = Totals { rounds, time, data: time, queue_area: oscillation.backlog * time };
        self.enter(2, oscillation.theta_min, oscillation.theta_max, totals);
        loss_window + rounds
    }

    fn reno(&mut self, from: f64, to: f64) {
        self.enter(3, from, to, phase4(self.bdp, from, to));
    }
}
