// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measured transfer repeated in the simulator, on the path inferred from it. If the result differs, the real path
//! is a different one.

use serde::Serialize;
use tandem_batch::{Batch, Clock, Task, Traces};
use tandem_compare::{Flows, Length};
use tandem_results::FlowResult;
use tandem_scenario::{ControllerSpec, units::Span};
use tandem_statistics::Estimate;

use crate::{
    AdviseError, Case, Neighbours, Question,
    measured::{LimitedBy, Transferred},
};

/// A simulated and a measured transfer may differ by this factor. Ours.
const FACTOR: f64 = 2.0;
/// Number of runs.
const SEEDS: u64 = 5;
/// Shorter transfers are not run; longer ones only in their steady state.
const LEAST_S: f64 = 2.0;
const MOST_S: f64 = 120.0;
/// The same for its packets.
const MOST_PACKETS: f64 = 30e6;

/// The measured transfer, and the simulated one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repeated {
    /// Of the measured transfer.
    pub controller: String,
    /// How many connections it had.
    pub flows: u32,
    /// Payload of all of them, Mb/s.
    pub measured_mbps: f64,
    /// The file and the field.
    pub source: String,
    /// The same in the simulator, Mb/s.
    pub simulated_mbps: Estimate,
}

impl Repeated {
    /// If one is more than twice the other, beyond the interval: says so in whole sentences, with what to measure.
    pub fn contradiction(&self) -> Option<String> {
        let (simulated, measured_mbps) = (self.simulated_mbps, self.measured_mbps);
        let half = simulated.half_width.unwrap_or(f64::INFINITY);
        let cure = if simulated.value + half < measured_mbps / FACTOR {
            "The path loses less than was taken for random loss, or what it loses comes in bursts: measure for a minute or more."
        } else if simulated.value - half > FACTOR * measured_mbps {
            "Something that is not in the measurement held the flow back: a window or the processor at either end, other traffic, a policer. \
             Look at `ss -ti` while it sends."
        } else {
            return None;
        };
        let Self { controller, source, .. } = self;
        Some(format!(
            "Path and measurement contradict each other, so do not trust what follows: `{controller}` had {measured_mbps:.1} Mb/s ({source}), and in \
             the simulator it gets {} Mb/s on this path. {cure}",
            simulated.text(1)
        ))
    }
}

impl Question<'_> {
    /// Runs the measured transfer again; `None` if there is none, if the simulator does not have its controller, if the path did not limit it, or
    /// if the time was over.
    pub(crate) fn repeat(&self, usual: &Case, clock: &Clock) -> Result<Option<Repeated>, AdviseError> {
        let Some(transferred) = self.repeatable() else { return Ok(None) };
        let Ok(controller) = tandem_controllers::find(&transferred.controller) else { return Ok(None) };
        let flows = Flows::new(ControllerSpec::tandem(controller), transferred.flows);
        // Unknown neighbours were not measured.
        let neighbours = self.known.neighbours.clone().unwrap_or(Neighbours(Vec::new()));
        let case = Case { neighbours, ..usual.clone() };
        let length = match self.length_of(transferred, &case) {
            Some(length) => length,
            None => self.length(&case, &flows)?.0,
        };
        let scenario = self.known.scenario(&case, &flows, Span::default(), None, length)?;
        let scenario = scenario.with_seeds(self.first_seed..self.first_seed + SEEDS);
        let tasks = [Task { scenario: &scenario, engine: self.engine, traces: Traces::None }];
        let batch = Batch { quiet: true, store: self.store, ..Batch::default() };
        let outcome = clock.watch(true, |stop| Batch { cancelled: Some(stop), ..batch }.run(&tasks))?;
        let goodput = |flows: &[FlowResult]| flows.iter().map(|flow| flow.goodput_mbps).sum::<f64>();
        let runs = outcome.seeds.iter().flatten();
        let mbps: Vec<f64> = runs.map(|seed| goodput(&seed.flows[..flows.count as usize])).collect();
        Ok((mbps.len() == SEEDS as usize).then(|| Repeated {
            controller: transferred.controller.clone(),
            flows: transferred.flows,
            measured_mbps: transferred.goodput_mbps,
            source: transferred.source.clone(),
            simulated_mbps: Estimate::of_mean(&mbps),
        }))
    }

    /// A flow limited by a window or the application says nothing about the path.
    fn repeatable(&self) -> Option<&Transferred> {
        match self.measured.limited_by {
            Some(LimitedBy::ReceiveWindow(_) | LimitedBy::SendBuffer(_)) => None,
            Some(LimitedBy::Application(_) | LimitedBy::Processor(_)) => None,
            Some(LimitedBy::Loss(_) | LimitedBy::Policer(_) | LimitedBy::Port(_) | LimitedBy::Path(_)) | None => {
                self.measured.transferred.as_ref()
            }
        }
    }

    /// From its start to its end, if that is known and not too much.
    fn length_of(&self, transferred: &Transferred, case: &Case) -> Option<Length> {
        let packets = |seconds: f64| seconds * case.rate.packets_per_s(self.known.mtu());
        let is_usual = |s: &f64| (LEAST_S..=MOST_S).contains(s) && packets(*s) <= MOST_PACKETS;
        let seconds = transferred.seconds.filter(is_usual)?;
        Some(Length { duration: Span { ns: (seconds * 1e9) as u64 }, warmup: Span::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(simulated: f64, half_width: f64) -> Repeated {
        Repeated {
            controller: "cubic".into(),
            flows: 1,
            measured_mbps: 38.0,
            source: "a.json: end.sum_received.bits_per_second".into(),
            simulated_mbps: Estimate::kept(simulated, Some(half_width)),
        }
    }

    #[test]
    fn what_differs_by_more_than_twice_beyond_the_interval_is_a_contradiction() {
        // 19 is half of 38, 76 twice as much.
        assert!(repeated(15.8, 3.0).contradiction().unwrap().contains("had 38.0 Mb/s (a.json"));
        assert!(repeated(80.0, 3.9).contradiction().unwrap().contains("ss -ti"));
        for (simulated, half_width) in [(15.8, 3.3), (80.0, 4.1), (38.0, 1.0)] {
            assert_eq!(repeated(simulated, half_width).contradiction(), None);
        }
    }
}
