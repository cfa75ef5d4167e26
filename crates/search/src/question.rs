// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is looked for: how much worse a controller is than another on the same path with the same seed, so that a path on which nobody
//! does well is no find.

use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use tandem_papers::{Baseline, X};
use tandem_results::{FlowResult, SeedResult};
use tandem_scenario::Scenario;

use crate::{
    space::Space,
    worst::{RETURNED, Worst, changes_s, rest_s},
};

/// For the contender, where it does not matter which it is; no space has it as a neighbour.
const ANY_CONTROLLER: &str = "veno";

/// A path of which the better of the two uses less is no path for either; ours.
const USED_AT_LEAST: f64 = 0.05;

/// A question to a space.
#[derive(Debug, Clone, PartialEq)]
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

/// Points that are drawn to see whether a space has what is asked.
const DRAWN: usize = 64;

impl Question {
    /// Whether some of a space's scenarios have what is measured.
    pub fn is_posed_in(&self, space: &Space) -> bool {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut points = (0..DRAWN).map(|_| space.draw(&mut rng));
        points.any(|point| match space.scenario(&point, ANY_CONTROLLER) {
            Some(Ok(scenario)) => self.worst.measure(&scenario).is_some(),
            _ => false,
        })
    }

    /// What is asked of the runs of two controllers with the same seeds; `None` where there is nothing to measure.
    pub fn measured(&self, own: Ran, baseline: Ran) -> Option<Measured> {
        let (own_values, baseline_values) = self.figures(own, baseline)?;
        let gap = |(own_value, baseline_value): (&f64, &f64)| {
            let one_way = self.worst.gap(*own_value, *baseline_value, own.scenario);
            let other_way = || match self.worst {
                Worst::Stolen => -one_way,
                _ => self.worst.gap(*baseline_value, *own_value, own.scenario),
            };
            if self.either_way { one_way.max(other_way()) } else { one_way }
        };
        let violations: Vec<f64> = own_values.iter().zip(&baseline_values).map(gap).collect();
        let is_whole = violations.len() == own.seeds.len() && violations.iter().all(|violation| violation.is_finite());
        let is_used = own.seeds.iter().zip(baseline.seeds).all(|(own, baseline)| self.is_used(own, baseline));
        (is_whole && is_used).then_some(Measured { own: own_values, baseline: baseline_values, violations })
    }

    /// The baseline uses the path, or where it is asked either way, one of the two does.
    fn is_used(&self, own: &SeedResult, baseline: &SeedResult) -> bool {
        let used = |seed: &SeedResult| seed.links.first().is_none_or(|link| link.utilisation >= USED_AT_LEAST);
        used(baseline) || (self.either_way && used(own))
    }

    /// By seed.
    fn figures(&self, own: Ran, baseline: Ran) -> Option<(Vec<f64>, Vec<f64>)> {
        let measure = self.worst.measure(own.scenario)?;
        let x = X::Name(String::new());
        let of = |ran: Ran, reference: Ran| {
            let reference = Baseline { scenario: reference.scenario, seeds: reference.seeds };
            Some(measure.value(&x, ran.scenario, ran.seeds, Some(reference))?.by_seed)
        };
        let (mut own_values, baseline_values) = (of(own, baseline)?, of(baseline, baseline)?);
        if self.worst == Worst::Recovery {
            for (i, value) in own_values.iter_mut().enumerate() {
                if did_not_return(own.scenario, &own.seeds[i], &baseline.seeds[i]) {
                    *value = rest_s(own.scenario);
                }
            }
        }
        Some((own_values, baseline_values))
    }
}

/// After the last change it has far less than the baseline has, and before the first it had not: `recovery` compares a flow with its own end,
/// and one that stays down is soon there.
fn did_not_return(scenario: &Scenario, own: &SeedResult, baseline: &SeedResult) -> bool {
    let flows = scenario.groups[0].flows as usize;
    let first_s = changes_s(scenario).fold(f64::INFINITY, f64::min);
    let had = |seed: &SeedResult, from: usize, to: usize| -> f64 {
        let of =
            |flow: &FlowResult| -> f32 { flow.received_mbit_by_second.get(from..to).unwrap_or_default().iter().sum() };
        f64::from(seed.flows.iter().take(flows).map(of).sum::<f32>())
    };
    let is_less = |from: usize, to: usize| had(own, from, to) < RETURNED * had(baseline, from, to);
    let end = scenario.duration.as_secs_f64() as usize;
    !is_less(0, first_s.min(end as f64) as usize) && is_less(end.saturating_sub(SETTLED_S), end)
}

/// As `settled` of experiments has it.
const SETTLED_S: usize = 10;

#[cfg(test)]
mod tests {
    use tandem_results::LinkResult;
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
        let violation = |worst: &Worst, either_way| {
            let question = Question { worst: worst.clone(), either_way };
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
            assert!((violation(&worst, false) - expected).abs() < 1e-9, "{worst}: {}", violation(&worst, false));
            assert!(violation(&worst, true) >= expected - 1e-9, "{worst}");
        }
        let question = Question { worst: Worst::Utilisation, either_way: false };
        let (own, baseline) = (Ran { scenario: &reno, seeds: &own }, Ran { scenario: &bbr, seeds: &baseline });
        assert!(question.measured(baseline, own).unwrap().violations[0] < 0.0, "the better one violates nothing");
    }

    /// The change is at 20 s of 40. Who falls to a tenth of a megabit a second is at its own end at once, and has not recovered.
    #[test]
    fn who_stays_down_does_not_recover() {
        let (reno, bbr) = (scenario("reno"), scenario("bbr"));
        let baseline = run(0.8, 0.0, 0, [4.0, 4.0], 2);
        let mut own = baseline.clone();
        own[0].flows[0].received_mbit_by_second[20..].fill(0.1);
        let question = Question { worst: Worst::Recovery, either_way: false };
        let ran = |scenario, seeds| Ran { scenario, seeds };
        let measured = question.measured(ran(&reno, &own), ran(&bbr, &baseline)).unwrap();
        assert_eq!((measured.own[0], measured.baseline[0]), (20.0, 3.0));
    }

    #[test]
    fn a_path_that_nobody_can_use_is_no_find() {
        let (reno, bbr) = (scenario("reno"), scenario("bbr"));
        let (own, baseline) = (run(0.001, 0.0, 0, [0.0, 1.0], 0), run(0.04, 0.0, 0, [0.1, 1.0], 0));
        let ran = |scenario, seeds| Ran { scenario, seeds };
        let question = Question { worst: Worst::Utilisation, either_way: false };
        assert!(question.measured(ran(&reno, &own), ran(&bbr, &baseline)).is_none());
    }

    #[test]
    fn without_neighbours_there_is_nothing_to_steal() {
        let alone = scenario("cubic");
        let runs = run(0.8, 0.0, 0, [4.0, 4.0], 0);
        let ran = Ran { scenario: &alone, seeds: &runs };
        assert!(Question { worst: Worst::Stolen, either_way: false }.measured(ran, ran).is_none());
    }
}
