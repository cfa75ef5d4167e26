// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a path and contenders to the scenarios that compare them.

use std::collections::BTreeMap;

use tandem_results::Run;
use tandem_scenario::{
    DumbbellSpec, Ecn, EffectsSpec, FORWARD_LINK, FlowsSpec, Scenario, ScenarioSpec, SpecError,
    file::Overrides,
    units::{Bytes, Span},
};

use crate::{
    Flows,
    flows::same_number_of_flows,
    length::{BOUNDS, Length, Reason, USUAL},
};

/// Some controllers on one path: each alone, or each against the same neighbours.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The path.
    pub dumbbell: DumbbellSpec,
    /// What its forward link does beside carrying packets.
    pub effects: EffectsSpec,
    /// The flows that are compared.
    pub contenders: Vec<Flows>,
    /// The flows that share the path with each contender.
    pub against: Vec<Flows>,
    /// Flows in the other direction.
    pub reverse: Vec<Flows>,
    /// Flows have ECN (RFC 3168), and the queue marks their packets.
    pub ecn: bool,
    /// What each flow has to send; endless if not given.
    pub transfer: Option<Bytes>,
    /// Flows start at random within this time.
    pub start_spread: Span,
    /// Random addition to each flow's RTT, up to this.
    pub rtt_spread: Span,
    /// Random send delay, up to this; one packet's time at the bottleneck if not given.
    pub send_jitter: Option<Span>,
    /// How long each run lasts; as long as the path needs if not given.
    pub duration: Option<Span>,
    /// Cut from every measure; slow start and one time from loss to loss if not given.
    pub warmup: Option<Span>,
    /// Seeds, and parameters of controllers. Those that a run's controllers do not have are left out of it.
    pub overrides: Overrides,
    /// Whether an engine runs it that takes as long as it emulates.
    pub is_real_time: bool,
}

/// Why a comparison makes no sense, and how to fix it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CompareError {
    /// A contender is there twice: two runs of it would differ in nothing.
    #[error("`{0}` is named twice: leave one out")]
    Twice(String),
    /// Contenders that meet neighbours differ in their number of flows.
    #[error("with --against all contenders need the same number of flows, because they share one baseline")]
    FlowsDiffer,
    /// A queue without queue management cannot mark packets.
    #[error("--ecn needs a queue that marks: add --aqm {}", tandem_scenario::aqm::marking_names())]
    NoMarks,
    /// A scenario of the comparison does.
    #[error(transparent)]
    Scenario(#[from] SpecError),
}

/// What has to be run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// A scenario for each contender, in order; then the baseline's, if there is one.
    pub scenarios: Vec<Scenario>,
    /// The scenario in which all flows are of the neighbours' kind.
    pub baseline: Option<usize>,
    /// Why runs are so long, if that was not given.
    pub why_so_long: Option<String>,
    pub(crate) neighbours: usize,
}

impl Plan {
    /// One scenario that is compared with nothing.
    pub fn alone(scenario: Scenario) -> Self {
        Self { scenarios: vec![scenario], baseline: None, why_so_long: None, neighbours: 0 }
    }

    /// Sets the bandwidth that neighbours lost, if there are any. `runs` belong to [`Plan::scenarios`], in their order.
    pub fn set_stolen(&self, runs: &mut [Option<Run>]) {
        let Some((at, baseline)) = self.baseline.and_then(|i| Some((i, runs[i].clone()?))) else { return };
        for run in runs[..at].iter_mut().flatten() {
            for neighbour in 1..=self.neighbours {
                run.set_stolen(neighbour, &baseline);
            }
        }
    }
}

impl Comparison {
    /// Within what flows start, and by how much their RTTs differ, so that chance has a part in what they do.
    pub const START_SPREAD: Span = Span::from_ms(100);
    /// See [`Comparison::START_SPREAD`].
    pub const RTT_SPREAD: Span = Span { ns: 200_000 };

    /// What has to be run.
    ///
    /// # Errors
    /// If the comparison makes no sense.
    pub fn plan(&self) -> Result<Plan, CompareError> {
        for (i, Flows { name, count, .. }) in self.contenders.iter().enumerate() {
            if self.contenders[..i].iter().any(|c| c.name == *name && c.count == *count) {
                return Err(CompareError::Twice(format!("{name}:{count}")));
            }
        }
        if !self.against.is_empty() && !same_number_of_flows(&self.contenders) {
            return Err(CompareError::FlowsDiffer);
        }
        let with_neighbours = |own: Flows| std::iter::once(own).chain(self.against.iter().cloned()).collect();
        let of_contender = |contender: &Flows| (self.run_name(contender), with_neighbours(contender.clone()));
        let mut runs: Vec<(String, Vec<Flows>)> = self.contenders.iter().map(of_contender).collect();
        // All flows of the neighbours' kind, in the contenders' place too.
        let in_contenders_place = self.against.first().zip(self.contenders.first());
        let baseline = in_contenders_place.map(|(neighbour, contender)| {
            runs.push((format!("all {}", neighbour.name), with_neighbours(neighbour.with_count(contender.count))));
            runs.len() - 1
        });
        let (scenarios, why_so_long) = self.scenarios(&runs)?;
        Ok(Plan { scenarios, baseline, why_so_long, neighbours: self.against.len() })
    }

    /// As the contender is called, with its number of flows where another is called the same.
    fn run_name(&self, contender: &Flows) -> String {
        let namesakes = self.contenders.iter().filter(|c| c.name == contender.name).count();
        if namesakes > 1 { format!("{}:{}", contender.name, contender.count) } else { contender.name.clone() }
    }

    /// The contenders and neighbours in words.
    pub fn names(&self) -> String {
        let contenders = self.contenders.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        match &self.against[..] {
            [] => contenders,
            against => {
                let against: Vec<_> = against.iter().map(|a| format!("{}:{}", a.name, a.count)).collect();
                format!("{contenders} against {}", against.join(" and "))
            }
        }
    }

    /// The scenarios of runs, each with its name and flows, all of one length; and why they are so long if that was not given.
    ///
    /// # Errors
    /// If one of them makes no sense.
    pub fn scenarios(&self, runs: &[(String, Vec<Flows>)]) -> Result<(Vec<Scenario>, Option<String>), CompareError> {
        let of_length = |length: Length| {
            runs.iter().map(|(name, flows)| self.scenario(name, flows, length)).collect::<Result<Vec<_>, _>>()
        };
        let given =
            Length { duration: self.duration.unwrap_or(USUAL.duration), warmup: self.warmup.unwrap_or_default() };
        // A transfer ends when it ends. All of it counts, so nothing is cut off.
        if let Some(transfer) = self.transfer {
            let duration = self.duration.unwrap_or_else(|| self.enough_for(transfer, runs));
            return Ok((of_length(Length { duration, ..given })?, None));
        }
        if self.duration.is_some() && self.warmup.is_some() {
            return Ok((of_length(given)?, None));
        }
        let draft = of_length(Length { warmup: Span::default(), ..given })?;
        let reason = Reason::of(&draft, BOUNDS, self.is_real_time);
        let length = reason.length(self.duration, self.warmup);
        Ok((of_length(length)?, Some(reason.words(length))))
    }

    /// Twice as long as the path takes for all transfers of the run with the most flows, and the usual duration at least.
    fn enough_for(&self, transfer: Bytes, runs: &[(String, Vec<Flows>)]) -> Span {
        let of_run = |flows: &[Flows]| flows.iter().map(|f| u64::from(f.count)).sum::<u64>();
        let flows = runs.iter().map(|(_, flows)| of_run(flows)).max().unwrap_or(1);
        let bits = 2 * 8 * u128::from(transfer.0) * u128::from(flows);
        // At most as long as a duration can be.
        let seconds = bits.div_ceil(u128::from(self.dumbbell.rate.bps)).min(1_000_000) as u64;
        Span::from_secs(seconds).max(USUAL.duration)
    }

    fn scenario(&self, name: &str, flows: &[Flows], length: Length) -> Result<Scenario, CompareError> {
        let forward = flows.iter().map(|f| self.group(f, false));
        let mut spec = ScenarioSpec {
            name: Some(name.to_owned()),
            warmup: length.warmup,
            send_jitter: self.send_jitter,
            dumbbell: Some(self.dumbbell()?),
            effects: BTreeMap::from([(FORWARD_LINK.to_owned(), self.effects.clone())]),
            flows: forward.chain(self.reverse.iter().map(|f| self.group(f, true))).collect(),
            ..ScenarioSpec::new(length.duration)
        };
        let mut overrides = self.overrides.clone();
        // With several runs, each has some of the controllers.
        overrides.settings.retain(|setting| spec.has_parameter(setting));
        overrides.apply(&mut spec)?;
        Ok(spec.check()?)
    }

    /// The path; with ECN its queue marks.
    fn dumbbell(&self) -> Result<DumbbellSpec, CompareError> {
        let dumbbell = self.dumbbell.clone();
        if !self.ecn {
            return Ok(dumbbell);
        }
        Ok(DumbbellSpec { aqm: dumbbell.aqm.marking().ok_or(CompareError::NoMarks)?, ..dumbbell })
    }

    fn group(&self, flows: &Flows, reverse: bool) -> FlowsSpec {
        FlowsSpec {
            name: reverse.then(|| format!("{} (reverse)", flows.name)),
            controller: Some(flows.controller.clone()),
            count: flows.count,
            reverse: Some(reverse),
            // What counts marks has accurate ECN of its own accord.
            ecn: (self.ecn && !flows.controller.counts_marks()).then_some(Ecn::Rfc3168),
            transfer: self.transfer,
            rtt_spread: self.rtt_spread,
            start_spread: self.start_spread,
            ..FlowsSpec::default()
        }
    }
}
