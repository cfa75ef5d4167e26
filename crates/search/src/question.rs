// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is looked for: how much worse a controller is than another on the same path with the same seed, so that a path on which nobody
//! does well is no find.

use std::{fmt, str::FromStr};

use serde::Serialize;
use tandem_papers::{Baseline, Measure, X};
use tandem_results::SeedResult;
use tandem_scenario::Scenario;

/// In what a controller is worse. Each is read off a run as experiments read it (`kind` of `[measure]`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
    /// After a change of the path it takes longer.
    Recovery,
}

/// All of them.
pub const ALL: [Worst; 6] =
    [Worst::Utilisation, Worst::Stolen, Worst::Delay, Worst::Loss, Worst::Starvation, Worst::Recovery];

/// A question to a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// What is measured.
    pub worst: Worst,
    /// It is not asked where the contender is worse, but where the two differ.
    pub either_way: bool,
}

/// The runs of a scenario.
#[derive(Clone, Copy)]
pub struct Ran<'a> {
    /// What was run.
    pub scenario: &'a Scenario,
    /// With these seeds.
    pub seeds: &'a [SeedResult],
}

/// What is measured of two controllers, seed by seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The contender's, in the measure's unit.
    pub own: Vec<f64>,
    /// The baseline's.
    pub baseline: Vec<f64>,
    /// How much worse the contender is, as [`Worst::unit`] says; more is worse.
    pub violations: Vec<f64>,
}

impl Worst {
    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utilisation => "utilisation",
            Self::Stolen => "stolen",
            Self::Delay => "delay",
            Self::Loss => "loss",
            Self::Starvation => "starvation",
            Self::Recovery => "recovery",
        }
    }

    /// The least violation that is a find, unless somebody says; ours. They are the tenth that `tandem evaluate` allows in most criteria, a
    /// quarter of the RTT, and one packet in a hundred.
    pub fn usual_limit(self) -> f64 {
        match self {
            Self::Utilisation | Self::Stolen | Self::Starvation | Self::Recovery => 0.1,
            Self::Delay => 0.25,
            Self::Loss => 0.01,
        }
    }

    /// What a violation is a share of.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Utilisation => "of what the baseline uses of the link is not used",
            Self::Stolen => "of what the neighbours have beside the baseline is lost",
            Self::Delay => "is added to the 95th percentile of the RTT",
            Self::Loss => "more of the packets are dropped",
            Self::Starvation => "less of the richest flow's goodput for the poorest",
            Self::Recovery => "of the time after the change is lost, more than with the baseline",
        }
    }

    /// The figure of a run as text, without its unit.
    pub fn number(self, figure: f64) -> String {
        match self {
            Self::Delay => format!("{figure:.3}"),
            Self::Loss => format!("{figure:.2}"),
            Self::Starvation => format!("{:.1}", 100.0 * figure),
            Self::Utilisation | Self::Stolen | Self::Recovery => format!("{figure:.1}"),
        }
    }

    /// A figure in words; `number` is that of [`number`](Self::number).
    pub fn words(self, number: &str) -> String {
        match self {
            Self::Utilisation => format!("{number} % of the link is used"),
            Self::Stolen => format!("the neighbours lose {number} %"),
            Self::Delay => format!("{number} ms in the queue (95th percentile)"),
            Self::Loss => format!("{number} % of the packets are dropped"),
            Self::Starvation => format!("the poorest flow has {number} % of the richest one's goodput"),
            Self::Recovery => format!("{number} s to recover"),
        }
    }

    /// What is read off a run, as `[measure]` of an experiment's file; `None` where the scenario has nothing to read.
    pub(crate) fn measure_text(self, scenario: &Scenario) -> Option<String> {
        let tcp = |wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..scenario.groups.len()).filter(|&g| scenario.groups[g].source.is_tcp() && wanted(g)).collect()
        };
        let (kind, groups) = match self {
            Self::Utilisation => ("utilisation", vec![0]),
            Self::Stolen => ("stolen", tcp(&|g| is_neighbour(scenario, g))),
            Self::Delay => ("queueing_delay", vec![0]),
            Self::Loss => ("loss_rate", vec![0]),
            Self::Starvation => ("least_over_most", tcp(&|_| true)),
            Self::Recovery => ("recovery", vec![0]),
        };
        let flows: u32 = groups.iter().map(|&g| scenario.groups[g].flows).sum();
        let is_enough = flows >= if self == Self::Starvation { 2 } else { 1 };
        is_enough.then(|| format!("kind = \"{kind}\"\ngroups = {groups:?}"))
    }

    fn measure(self, scenario: &Scenario) -> Option<Measure> {
        let measure = Measure::read(&self.measure_text(scenario)?).ok()?;
        measure.check(scenario).is_ok().then_some(measure)
    }

    /// How much worse one figure is than the other.
    pub(crate) fn gap(self, own: f64, baseline: f64, scenario: &Scenario) -> f64 {
        match self {
            Self::Utilisation => 1.0 - own / baseline,
            Self::Stolen => own / 100.0,
            Self::Delay => {
                let rtt_ms = scenario.base_rtt(&scenario.groups[0]).as_secs_f64() * 1e3;
                (rtt_ms + own) / (rtt_ms + baseline) - 1.0
            }
            Self::Loss => (own - baseline) / 100.0,
            Self::Starvation => baseline - own,
            Self::Recovery => (own - baseline) / self.rest_s(scenario),
        }
    }

    /// From the last change of a link to the end, seconds; at least 1.
    pub(crate) fn rest_s(self, scenario: &Scenario) -> f64 {
        (scenario.duration.as_secs_f64() - last_change_s(scenario)).max(1.0)
    }
}

/// Its controller, with the parameters, is not that of the first group, which is the contender's.
fn is_neighbour(scenario: &Scenario, group: usize) -> bool {
    let spec = |g: usize| scenario.groups[g].source.tcp().map(|tcp| format!("{:?}", tcp.controller));
    spec(group) != spec(0)
}

/// When a link changes for the last time, seconds; 0 if none does.
fn last_change_s(scenario: &Scenario) -> f64 {
    let effects = scenario.network.links.iter().filter_map(|link| link.effects.as_ref());
    effects.flat_map(|effects| &effects.changes).map(|change| change.at.as_secs_f64()).fold(0.0, f64::max)
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What nothing can be worst in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is nothing to be worst in: write one of {names}", names = ALL.map(Worst::name).join(", "))]
pub struct WorstError(pub String);

impl FromStr for Worst {
    type Err = WorstError;
    fn from_str(text: &str) -> Result<Self, WorstError> {
        ALL.into_iter().find(|worst| worst.name() == text).ok_or_else(|| WorstError(text.to_owned()))
    }
}

impl Question {
    /// What is asked of the runs of two controllers with the same seeds; `None` where there is nothing to measure.
    pub fn measured(&self, own: Ran, baseline: Ran) -> Option<Measured> {
        let measure = self.worst.measure(own.scenario)?;
        let x = X::Name(String::new());
        let of = |ran: Ran, reference: Ran| {
            let reference = Baseline { scenario: reference.scenario, seeds: reference.seeds };
            Some(measure.value(&x, ran.scenario, ran.seeds, Some(reference))?.by_seed)
        };
        let (own_values, baseline_values) = (of(own, baseline)?, of(baseline, baseline)?);
        let gap = |(own_value, baseline_value): (&f64, &f64)| {
            let one_way = self.worst.gap(*own_value, *baseline_value, own.scenario);
            let other_way = || match self.worst {
                Worst::Stolen => -one_way,
                worst => worst.gap(*baseline_value, *own_value, own.scenario),
            };
            if self.either_way { one_way.max(other_way()) } else { one_way }
        };
        let violations: Vec<f64> = own_values.iter().zip(&baseline_values).map(gap).collect();
        let is_whole = violations.len() == own.seeds.len() && violations.iter().all(|violation| violation.is_finite());
        is_whole.then_some(Measured { own: own_values, baseline: baseline_values, violations })
    }
}

#[cfg(test)]
mod tests {
    use tandem_results::{FlowResult, LinkResult};
    use tandem_scenario::file::{Overrides, parse};

    use super::*;

    fn scenario(contender: &str) -> Scenario {
        let text = format!(
            "duration = \"40s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"20p\"\n[[flows]]\ncontroller = \"{contender}\"\n\
             [[flows]]\ncontroller = \"cubic\"\n[[effects.bottleneck.changes]]\nat = \"20s\"\nrate = \"5mbit\"\n"
        );
        parse(&text, "a test", "test", &Overrides::default()).unwrap()
    }

    fn run(utilisation: f64, delay_ms: f64, drops: u64, goodputs: [f64; 2], slow_s: usize) -> Vec<SeedResult> {
        let flow = |mbps: f64| {
            let at = |second: usize| if (20..20 + slow_s).contains(&second) { 0.0 } else { mbps as f32 };
            let received_mbit_by_second = (0..40).map(at).collect();
            FlowResult { goodput_mbps: mbps, received_mbit_by_second, ..FlowResult::default() }
        };
        let mut link = LinkResult { utilisation, offered_packets: 1000, drops, ..LinkResult::default() };
        link.queueing_delay_ms.p95 = delay_ms;
        vec![SeedResult { flows: goodputs.map(flow).into(), links: vec![link], ..SeedResult::default() }]
    }

    /// By hand from the definitions in docs/howto/search.md.
    #[test]
    fn violations_are_relative_to_the_baseline_on_the_same_path() {
        let (reno, bbr) = (scenario("reno"), scenario("bbr"));
        let (own, baseline) = (run(0.4, 40.0, 80, [1.0, 3.0], 9), run(0.8, 0.0, 30, [4.0, 4.0], 4));
        let violation = |worst, either_way| {
            let question = Question { worst, either_way };
            let ran = |scenario, seeds| Ran { scenario, seeds };
            question.measured(ran(&reno, &own), ran(&bbr, &baseline)).unwrap().violations[0]
        };
        for (worst, expected) in [
            (Worst::Utilisation, 0.5),
            // The second group had 4 Mb/s beside the baseline, and has 3.
            (Worst::Stolen, 0.25),
            // 80 ms instead of 40.
            (Worst::Delay, 1.0),
            (Worst::Loss, 0.05),
            (Worst::Starvation, 1.0 - 1.0 / 3.0),
            // 10 s instead of 5 of the 20 after the change.
            (Worst::Recovery, 0.25),
        ] {
            assert!((violation(worst, false) - expected).abs() < 1e-9, "{worst}: {}", violation(worst, false));
            assert!(violation(worst, true) >= expected - 1e-9, "{worst}");
        }
        let question = Question { worst: Worst::Utilisation, either_way: false };
        let (own, baseline) = (Ran { scenario: &reno, seeds: &own }, Ran { scenario: &bbr, seeds: &baseline });
        assert!(question.measured(baseline, own).unwrap().violations[0] < 0.0, "the better one violates nothing");
    }

    #[test]
    fn without_neighbours_there_is_nothing_to_steal() {
        let alone = scenario("cubic");
        let runs = run(0.8, 0.0, 0, [4.0, 4.0], 0);
        let ran = Ran { scenario: &alone, seeds: &runs };
        assert!(Question { worst: Worst::Stolen, either_way: false }.measured(ran, ran).is_none());
    }
}
