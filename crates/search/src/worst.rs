// SPDX-License-Identifier: MIT OR Apache-2.0
//! In what a controller can be worse.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};
use tandem_papers::{Limit, Measure};
use tandem_scenario::{Scenario, effects::Change};

/// In what a controller is worse. Each is read off a run as experiments read it (`kind` of `[measure]`).
#[derive(Debug, Clone, PartialEq)]
pub enum Worst {
    /// Less of the link is used.
    Utilisation,
    /// Flows of another kind lose more.
    Stolen,
    /// Packets wait longer.
    Delay,
    /// The queue drops more.
    Loss,
    /// One flow has less than the others.
    Starvation,
    /// After a change of the path it takes longer, or does not return.
    Recovery,
    /// The window goes up and down about its trend: its coefficient of variation, which RFC 5166 (section 2.4) has for throughput and delay.
    Oscillation,
    /// It is beyond a limit of a criterion.
    Criterion(Arc<Limit>),
}

/// All but the criteria.
pub const ALL: [Worst; 7] = [
    Worst::Utilisation,
    Worst::Stolen,
    Worst::Delay,
    Worst::Loss,
    Worst::Starvation,
    Worst::Recovery,
    Worst::Oscillation,
];

/// A flow that ends with less than this share of what the baseline has did not recover, unless it had as little before; ours.
pub(crate) const RETURNED: f64 = 0.5;

impl Worst {
    /// One that has a name; `None` for others, which may be criteria.
    pub fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|worst| worst.name() == name)
    }

    /// As the command line spells it.
    pub fn name(&self) -> &str {
        match self {
            Self::Utilisation => "utilisation",
            Self::Stolen => "stolen",
            Self::Delay => "delay",
            Self::Loss => "loss",
            Self::Starvation => "starvation",
            Self::Recovery => "recovery",
            Self::Oscillation => "oscillation",
            Self::Criterion(limit) => limit.criterion.rsplit('/').next().unwrap_or_default(),
        }
    }

    /// The least violation that is a find, unless somebody says; ours. They are the tenth that `tandem evaluate` allows in most criteria, a
    /// quarter of the RTT, one packet in a hundred, and a twentieth of the window.
    pub fn usual_limit(&self) -> f64 {
        match self {
            Self::Utilisation | Self::Stolen | Self::Starvation | Self::Recovery | Self::Criterion(_) => 0.1,
            Self::Delay => 0.25,
            Self::Loss => 0.01,
            Self::Oscillation => 0.05,
        }
    }

    /// What a violation is a share of.
    pub fn unit(&self) -> String {
        match self {
            Self::Utilisation => "of what the baseline uses of the link is not used".into(),
            Self::Stolen => "of what the neighbours have beside the baseline is lost".into(),
            Self::Delay => "is added to the 95th percentile of the RTT".into(),
            Self::Loss => "more of the packets are dropped".into(),
            Self::Starvation => "less of the richest flow's goodput for the poorest".into(),
            Self::Recovery => "of the time after the change is lost, more than with the baseline".into(),
            Self::Oscillation => "of its mean is added to the window's standard deviation".into(),
            Self::Criterion(limit) => format!("beyond the limit of {}: {}", limit.criterion, limit.text),
        }
    }

    /// The figure of a run as text, without its unit.
    pub fn number(&self, figure: f64) -> String {
        match self {
            Self::Delay | Self::Criterion(_) => format!("{figure:.3}"),
            Self::Loss => format!("{figure:.2}"),
            Self::Starvation | Self::Oscillation => format!("{:.1}", 100.0 * figure),
            Self::Utilisation | Self::Stolen | Self::Recovery => format!("{figure:.1}"),
        }
    }

    /// A figure in words; `number` is that of [`number`](Self::number).
    pub fn words(&self, number: &str) -> String {
        match self {
            Self::Utilisation => format!("{number} % of the link is used"),
            Self::Stolen => format!("the neighbours lose {number} %"),
            Self::Delay => format!("{number} ms in the queue (95th percentile)"),
            Self::Loss => format!("{number} % of the packets are dropped"),
            Self::Starvation => format!("the poorest flow has {number} % of the richest one's goodput"),
            Self::Recovery => format!("{number} s to recover"),
            Self::Oscillation => format!("the window's standard deviation is {number} % of its mean"),
            Self::Criterion(limit) => format!("{number} ({})", limit.label),
        }
    }

    /// What is read off a run, as `[measure]` of an experiment's file; `None` where the scenario has nothing to read.
    pub(crate) fn measure_text(&self, scenario: &Scenario) -> Option<String> {
        let tcp = |wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..scenario.groups.len()).filter(|&g| scenario.groups[g].source.is_tcp() && wanted(g)).collect()
        };
        let neighbours = || tcp(&|g| is_neighbour(scenario, g));
        let (kind, groups) = match self {
            Self::Utilisation => ("utilisation", vec![0]),
            Self::Oscillation => ("window_variation", vec![0]),
            Self::Stolen => ("stolen", neighbours()),
            Self::Delay => ("queueing_delay", vec![0]),
            Self::Loss => ("loss_rate", vec![0]),
            Self::Starvation => ("least_over_most", tcp(&|_| true)),
            Self::Recovery => ("recovery", vec![0]),
            Self::Criterion(limit) => {
                let own = || tcp(&|g| !is_neighbour(scenario, g));
                let groups = if limit.is_of_neighbours { neighbours() } else { own() };
                return (!groups.is_empty()).then(|| limit.measure_text(&groups));
            }
        };
        let flows: u32 = groups.iter().map(|&g| scenario.groups[g].flows).sum();
        let is_enough = flows >= if *self == Self::Starvation { 2 } else { 1 };
        is_enough.then(|| format!("kind = \"{kind}\"\ngroups = {groups:?}"))
    }

    /// `None` where there is nothing to measure. From a path that never stops changing nobody recovers.
    pub(crate) fn measure(&self, scenario: &Scenario) -> Option<Measure> {
        let is_of_change = match self {
            Self::Recovery => true,
            Self::Criterion(limit) => limit.is_after_change(),
            _ => false,
        };
        if is_of_change && changes(scenario).any(|change| change.every.is_some()) {
            return None;
        }
        let measure = Measure::read(&self.measure_text(scenario)?).ok()?;
        measure.check(scenario).is_ok().then_some(measure)
    }

    /// How much worse one figure is than the other.
    pub(crate) fn gap(&self, own: f64, baseline: f64, scenario: &Scenario) -> f64 {
        match self {
            Self::Utilisation => 1.0 - own / baseline,
            Self::Stolen => own / 100.0,
            Self::Delay => {
                let rtt_ms = scenario.base_rtt(&scenario.groups[0]).as_secs_f64() * 1e3;
                (rtt_ms + own) / (rtt_ms + baseline) - 1.0
            }
            Self::Loss => (own - baseline) / 100.0,
            Self::Starvation => baseline - own,
            Self::Recovery => (own - baseline) / rest_s(scenario),
            Self::Oscillation => own - baseline,
            Self::Criterion(limit) => limit.excess(own, baseline),
        }
    }
}

/// Its controller, with the parameters, is not that of the first group, which is the contender's.
fn is_neighbour(scenario: &Scenario, group: usize) -> bool {
    let spec = |g: usize| scenario.groups[g].source.tcp().map(|tcp| format!("{:?}", tcp.controller));
    spec(group) != spec(0)
}

/// From the last change of a link to the end, seconds; at least 1.
pub(crate) fn rest_s(scenario: &Scenario) -> f64 {
    (scenario.duration.as_secs_f64() - changes_s(scenario).fold(0.0, f64::max)).max(1.0)
}

/// When links change, seconds.
pub(crate) fn changes_s(scenario: &Scenario) -> impl Iterator<Item = f64> {
    changes(scenario).map(|change| change.at.as_secs_f64())
}

fn changes(scenario: &Scenario) -> impl Iterator<Item = &Change> {
    let effects = scenario.network.links.iter().filter_map(|link| link.effects.as_ref());
    effects.flat_map(|effects| &effects.changes)
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Worst {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
