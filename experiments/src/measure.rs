// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measures: from a run to the value of a point of a figure.

use serde::{Deserialize, Serialize};
use tandem_results::{Delivery, SeedResult};
use tandem_scenario::{FORWARD_LINK, Scenario};
use tandem_statistics::{Neighbours, jain, mean, variance};

use crate::{
    MeasureError,
    isolated::{self, Epochs},
    outcome,
    patch::X,
    sample::Sample,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Payload, Mb/s.
    Goodput,
    /// Whole packets, Mb/s: as ns-2 counts.
    Throughput,
    /// Throughput, percent of the link's rate.
    Share,
    /// Goodput of `groups` over the goodput of `of`.
    Ratio,
    /// Goodput that `groups` lose against the baseline, percent.
    Stolen,
    /// Percent of the link's rate.
    Utilisation,
    /// Mean of the link's queue, packets.
    Queue,
    /// Jain's index of `groups`' flows.
    Jain,
    /// Smallest goodput of `groups`' flows over the largest.
    LeastOverMost,
    /// Flows of `groups` that get less than a tenth of an equal share of what all of them get.
    Starved,
    /// Data packets sent.
    Sent,
    /// Percent of the data packets sent that had been sent before.
    RetransmitShare,
    /// Percent of the packets offered to the link that its queue dropped.
    LossRate,
    /// At the link, 95th percentile, milliseconds.
    QueueingDelay,
    /// Delay of the packets of the first of `groups`, which has no congestion control: 95th percentile, milliseconds.
    Delay,
    /// What the link loses in each of three measurement periods of `span_s` seconds in a row, at most, percent.
    SustainedLoss,
    /// Completion time of finite transfers, mean, seconds; an unfinished one counts as completed at the end.
    Completion,
    /// Completion time of short flows, 95th percentile, seconds; an unfinished one counts as completed at the end.
    ShortCompletion,
    /// Least that a flow of `groups` has in any `span_s` seconds, percent of an equal share among all flows.
    LeastShare,
    /// Seconds after `at_s` until a second in which `groups` have 90 % of what they have a second in the last ten.
    Recovery,
    /// Payload a second in the last ten seconds, Mb/s.
    Settled,
    /// Mean gamma of `groups`' flows, packets.
    Gamma,
    /// Window, mean over `groups`' flows, packets.
    Window,
    /// Its standard deviation about its trend over its mean, of the first of `groups`' flows.
    WindowVariation,
    // Measures of one flow of `compound`, from loss to loss after the warm-up.
    /// Window this many seconds after the first loss as x says, packets; then what of it is the loss window, and the delay window.
    EpochWindow,
    EpochLossWindow,
    EpochDelayWindow,
    /// From loss to loss, seconds.
    Epoch,
    /// Between two losses, packets.
    LargestWindow,
    SmallestWindow,
    /// S2's case, 1 to 6, in which it is most of the time.
    Case,
    // Worked out, not run: S2's model, in the integers of the module that S2 used.
    /// Largest less smallest window of the oscillation, packets.
    Amplitude,
    /// Its type m:n as the number m.n.
    Oscillation,
    /// 1 if the `cycle` is feasible, otherwise 0.
    Feasible,
    /// Percent of the link's rate.
    PublishedUtilisation,
    /// Mean queue, packets.
    PublishedQueue,
    /// This many seconds after a loss as x says; the mean over time; the largest. Packets.
    PublishedWindow,
    PublishedMeanWindow,
    PublishedLargestWindow,
    /// From loss to loss, seconds.
    PublishedEpoch,
    /// 1 to 6 by S2's flow chart, and by Tandem's model.
    PublishedCase,
    FollowedCase,
}

impl Kind {
    /// As files spell it.
    pub fn name(self) -> String {
        toml::Value::try_from(self).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Whether it is worked out from the scenario alone.
    fn is_worked_out(self) -> bool {
        use Kind::*;
        let of_published = matches!(self, PublishedUtilisation | PublishedQueue | PublishedCase | PublishedEpoch);
        let of_window = matches!(self, PublishedWindow | PublishedMeanWindow | PublishedLargestWindow);
        of_published || of_window || matches!(self, Amplitude | Oscillation | Feasible | FollowedCase)
    }

    /// Whether it is what RFC 9743's criteria ask of flows.
    fn is_of_outcome(self) -> bool {
        use Kind::*;
        let is_of_transfers = matches!(self, Completion | ShortCompletion);
        is_of_transfers || matches!(self, Sent | RetransmitShare | LeastShare | Recovery | Settled | Delay)
    }

    /// Whether it is read off the samples between losses.
    fn is_of_epochs(self) -> bool {
        use Kind::*;
        let is_in_time = matches!(self, EpochWindow | EpochLossWindow | EpochDelayWindow);
        is_in_time || matches!(self, Epoch | LargestWindow | SmallestWindow | Case)
    }
}

/// The measure that a curve shows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    pub(crate) kind: Kind,
    /// The scenario's groups that count, by their place from 0.
    #[serde(default = "first")]
    pub(crate) groups: Vec<usize>,
    #[serde(default)]
    pub(crate) of: Vec<usize>,
    /// Divided by the number of flows.
    #[serde(default)]
    pub(crate) per_flow: bool,
    /// The bottleneck, if not given.
    pub(crate) link: Option<String>,
    /// Such as `3:1`, for `feasible`.
    pub(crate) cycle: Option<String>,
    /// With `goodput`: over each flow's own time, from its start, if that is after the warm-up, to the end.
    #[serde(default)]
    pub(crate) from_start: bool,
    /// With `least_share` and `sustained_loss`: length of the span, seconds.
    pub(crate) span_s: Option<f64>,
    /// With `recovery`: time of the event, seconds; the bottleneck's last change if not given.
    pub(crate) at_s: Option<f64>,
    /// Only from x, a time in seconds, until this many seconds later; otherwise from the warm-up to the end.
    pub(crate) window_s: Option<f64>,
}

/// The run that bandwidth stolen is measured against, with the same seeds.
#[derive(Clone, Copy)]
pub struct Baseline<'a> {
    /// What was run.
    pub scenario: &'a Scenario,
    /// What came of it.
    pub seeds: &'a [SeedResult],
}

fn first() -> Vec<usize> {
    vec![0]
}

impl Measure {
    /// A measure as `[measure]` of an experiment's file spells it.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The lines of `[measure]` that say what is measured, but not of which groups.
    pub(crate) fn text_without_groups(&self) -> String {
        let per_flow = if self.per_flow { "per_flow = true\n" } else { "" };
        let span = self.span_s.map_or(String::new(), |span_s| format!("span_s = {span_s:?}\n"));
        format!("kind = \"{}\"\n{per_flow}{span}", self.kind.name())
    }

    /// Whether it can be read off a run of which flows' goodput and the bottleneck's use and queue are kept.
    pub fn is_of_kept_runs(&self) -> bool {
        use Kind::*;
        let is_kept = matches!(self.kind, Goodput | Throughput | Share | Ratio | Stolen | Utilisation | Queue | Jain);
        is_kept && self.window_s.is_none() && self.link.is_none()
    }

    /// Whether it is a percentage, of which differences are points.
    pub fn is_percent(&self) -> bool {
        matches!(self.kind, Kind::Share | Kind::Stolen | Kind::Utilisation)
    }

    /// Whether windows have to be sampled in every seed.
    pub fn needs_windows(&self) -> bool {
        matches!(self.kind, Kind::Gamma | Kind::Window | Kind::WindowVariation) || self.kind.is_of_epochs()
    }

    /// How many flows of each group are to be traced in every seed; what links count by the second comes with the trace of one.
    pub fn traced_flows_per_group(&self) -> usize {
        match self.kind {
            Kind::SustainedLoss => 1,
            _ if self.needs_windows() => usize::MAX,
            _ => 0,
        }
    }

    /// Whether the scenario has what this measures.
    ///
    /// # Errors
    /// If it lacks a group, a link or a controller that the measure needs.
    pub fn check(&self, scenario: &Scenario) -> Result<(), MeasureError> {
        let count = scenario.groups.len();
        if let Some(&group) = self.groups.iter().chain(&self.of).find(|&&g| g >= count) {
            return Err(MeasureError::NoGroup { group, count });
        }
        let name = self.link_name();
        let is_of_losses = matches!(self.kind, Kind::LossRate | Kind::SustainedLoss);
        let needs_link =
            is_of_losses || matches!(self.kind, Kind::Share | Kind::Utilisation | Kind::Queue | Kind::QueueingDelay);
        if needs_link && !scenario.network.links.iter().any(|l| l.name == name) {
            let known = scenario.network.links.iter().map(|l| l.name.clone()).collect();
            return Err(MeasureError::NoLink { name: name.to_owned(), known });
        }
        if matches!(self.kind, Kind::LeastShare | Kind::SustainedLoss) && self.span_s.is_none() {
            return Err(MeasureError::NoSpan);
        }
        if self.kind == Kind::Recovery && self.happened_s(scenario).is_none() {
            return Err(MeasureError::NothingHappened);
        }
        if self.kind == Kind::Ratio && self.of.is_empty() {
            return Err(MeasureError::NoRatio);
        }
        if self.from_start && (self.kind != Kind::Goodput || self.window_s.is_some()) {
            return Err(MeasureError::FromStart);
        }
        if self.from_start && self.groups.iter().any(|&g| scenario.groups[g].start.ns >= scenario.duration.ns) {
            return Err(MeasureError::StartsLate);
        }
        if self.kind.is_worked_out() || self.kind.is_of_epochs() {
            isolated::check(scenario)?;
        }
        match (self.kind, self.cycle.as_deref().and_then(isolated::cycle)) {
            (Kind::Feasible, None) => Err(MeasureError::NoCycle),
            _ => Ok(()),
        }
    }

    fn worked_out(&self, x: &X, scenario: &Scenario) -> Option<f64> {
        match self.kind {
            Kind::Amplitude => isolated::amplitude(scenario),
            Kind::Oscillation => isolated::oscillation(scenario),
            Kind::Feasible => isolated::is_feasible(scenario, isolated::cycle(self.cycle.as_deref()?)?),
            Kind::PublishedUtilisation => isolated::prediction(scenario).map(|p| 100.0 * p.utilisation),
            Kind::PublishedQueue => isolated::prediction(scenario).map(|p| p.backlog_packets),
            Kind::PublishedWindow => isolated::window(scenario, x.number()?),
            Kind::PublishedMeanWindow => isolated::mean_window(scenario),
            Kind::PublishedLargestWindow => isolated::prediction(scenario).map(|p| p.loss_window_packets),
            Kind::PublishedEpoch => isolated::prediction(scenario).map(|p| p.epoch_s),
            Kind::PublishedCase => isolated::published_case(scenario),
            Kind::FollowedCase => isolated::followed_case(scenario),
            _ => None,
        }
    }

    /// The measures of RFC 9743's criteria, of the groups' flows.
    fn outcome(&self, scenario: &Scenario, seed: &SeedResult) -> Option<f64> {
        let flows: Vec<_> = flows_of(scenario, &self.groups).into_iter().map(|flow| &seed.flows[flow]).collect();
        let each = if self.per_flow { flows.len() as f64 } else { 1.0 };
        match self.kind {
            Kind::Sent => Some(outcome::sent(&flows) / each),
            Kind::RetransmitShare => Some(outcome::retransmit_share(&flows)),
            Kind::Completion => Some(outcome::completion_s(&flows, scenario)),
            Kind::ShortCompletion => outcome::short_completion_s(&flows, scenario),
            Kind::LeastShare => {
                let all: Vec<_> = seed.flows.iter().collect();
                outcome::least_share(&flows, &all, scenario, self.span_s?)
            }
            Kind::Recovery => outcome::recovery_s(&flows, scenario, self.happened_s(scenario)?),
            Kind::Settled => outcome::settled_mbps(&flows, scenario),
            Kind::Delay => self.delivery(seed).map(|delivery| delivery.delay_ms.p95),
            _ => None,
        }
    }

    /// What the packets of the first group met, which has no congestion control.
    fn delivery(&self, seed: &SeedResult) -> Option<Delivery> {
        *seed.deliveries.get(*self.groups.first()?)?
    }

    /// A measure that is read off the samples between losses.
    fn of_epochs(&self, x: &X, scenario: &Scenario, seed: &SeedResult) -> Option<f64> {
        let epochs = Epochs::new(scenario, seed)?;
        let after_loss = || epochs.after_loss(x.number()?);
        match self.kind {
            Kind::EpochWindow => after_loss().map(|s| f64::from(s.cwnd_packets)),
            Kind::EpochLossWindow => after_loss().map(|s| f64::from(s.loss_window_packets)),
            Kind::EpochDelayWindow => after_loss().map(|s| f64::from(s.delay_window_packets)),
            Kind::Epoch => epochs.seconds(),
            Kind::LargestWindow => epochs.largest_window(),
            Kind::SmallestWindow => epochs.smallest_window(),
            Kind::Case => epochs.case(),
            _ => None,
        }
    }

    /// When that happened which flows recover from, seconds.
    fn happened_s(&self, scenario: &Scenario) -> Option<f64> {
        let link = scenario.network.links.iter().find(|link| link.name == self.link_name());
        let changes = || link?.effects.as_ref()?.changes.iter().map(|change| change.at.as_secs_f64()).reduce(f64::max);
        self.at_s.or_else(changes)
    }

    fn link_name(&self) -> &str {
        self.link.as_deref().unwrap_or(FORWARD_LINK)
    }

    /// The value at `x`; `None` if undefined, such as a ratio to 0.
    pub fn value(
        &self,
        x: &X,
        scenario: &Scenario,
        seeds: &[SeedResult],
        baseline: Option<Baseline>,
    ) -> Option<Sample> {
        let each = |of: &dyn Fn(&SeedResult) -> f64| Sample::new(seeds.iter().map(of).collect());
        let goodput = |s: &SeedResult, groups: &[usize]| self.goodput(x, scenario, s, groups);
        let goodputs = |s: &SeedResult| -> Vec<f64> {
            flows_of(scenario, &self.groups).iter().map(|&f| self.flow_goodput(x, scenario, s, f)).collect()
        };
        let with_headers = f64::from(scenario.mtu) / f64::from(scenario.mss());
        let link = scenario.network.links.iter().position(|l| l.name == self.link_name());
        Some(match self.kind {
            Kind::Goodput => each(&|s| goodput(s, &self.groups)),
            Kind::Throughput => each(&|s| goodput(s, &self.groups) * with_headers),
            Kind::Share => {
                let rate_mbps = scenario.network.links[link?].rate.bps as f64 / 1e6;
                each(&|s| 100.0 * goodput(s, &self.groups) * with_headers / rate_mbps)
            }
            Kind::Ratio => each(&|s| goodput(s, &self.groups)).over(&each(&|s| goodput(s, &self.of)))?,
            Kind::Stolen => {
                let Baseline { scenario: reference, seeds: there } = baseline?;
                let alike = reference.alike(&self.groups);
                let of = |scenario: &Scenario, seed: &SeedResult, groups: &[usize]| -> Vec<f64> {
                    flows_of(scenario, groups).iter().map(|&f| self.flow_goodput(x, scenario, seed, f)).collect()
                };
                let of_seed = |(here, there): (&SeedResult, &SeedResult)| Neighbours {
                    beside: of(scenario, here, &self.groups),
                    reference: of(reference, there, &self.groups),
                    peers: of(reference, there, &alike),
                };
                Sample::stolen(&seeds.iter().zip(there).map(of_seed).collect::<Vec<_>>())?.percent()
            }
            Kind::Utilisation => each(&|s| link.map_or(f64::NAN, |l| 100.0 * s.links[l].utilisation)),
            Kind::Queue => each(&|s| link.map_or(f64::NAN, |l| s.links[l].queue_packets.mean)),
            Kind::Jain => each(&|s| jain(&goodputs(s))),
            Kind::LeastOverMost => each(&|s| least_over_most(&goodputs(s))),
            Kind::Starved => each(&|s| starved(&goodputs(s))),
            Kind::LossRate => each(&|s| link.map_or(f64::NAN, |l| outcome::loss_rate(s, l))),
            Kind::QueueingDelay => each(&|s| link.map_or(f64::NAN, |l| s.links[l].queueing_delay_ms.p95)),
            Kind::SustainedLoss => {
                let of = |s: &SeedResult| outcome::sustained_loss(s.trace.as_ref()?.links.get(link?)?, self.span_s?);
                Sample::new(seeds.iter().map(of).collect::<Option<_>>()?)
            }
            kind if kind.is_of_outcome() => {
                Sample::new(seeds.iter().map(|s| self.outcome(scenario, s)).collect::<Option<_>>()?)
            }
            Kind::Gamma => each(&|s| self.traced(x, scenario, s, |sample| f64::from(sample.gamma_packets))),
            Kind::Window => each(&|s| self.traced(x, scenario, s, |sample| f64::from(sample.cwnd_packets))),
            Kind::WindowVariation => each(&|s| self.variation(scenario, s).unwrap_or(f64::NAN)),
            kind if kind.is_of_epochs() => {
                Sample::new(seeds.iter().map(|s| self.of_epochs(x, scenario, s)).collect::<Option<_>>()?)
            }
            // The same for each seed, so that it stands beside what was simulated with as many.
            _ => Sample::new(vec![self.worked_out(x, scenario)?; seeds.len()]),
        })
    }

    /// Payload, Mb/s.
    fn goodput(&self, x: &X, scenario: &Scenario, seed: &SeedResult, groups: &[usize]) -> f64 {
        let flows = flows_of(scenario, groups);
        let sum: f64 = flows.iter().map(|&f| self.flow_goodput(x, scenario, seed, f)).sum();
        if self.per_flow { sum / flows.len() as f64 } else { sum }
    }

    fn flow_goodput(&self, x: &X, scenario: &Scenario, seed: &SeedResult, flow: usize) -> f64 {
        let result = &seed.flows[flow];
        if self.from_start {
            let start = scenario.groups[scenario.group_of_flow()[flow]].start;
            let own_s = scenario.duration.as_secs_f64() - start.as_secs_f64().max(scenario.warmup.as_secs_f64());
            return result.goodput_mbps * scenario.measured().as_secs_f64() / own_s;
        }
        let Some((from, to)) = self.time_window(x) else { return result.goodput_mbps };
        let seconds = from as usize..(to as usize).min(result.received_mbit_by_second.len());
        result.received_mbit_by_second.get(seconds).map_or(0.0, |bins| bins.iter().map(|&b| f64::from(b)).sum::<f64>())
            / (to - from)
    }

    fn time_window(&self, x: &X) -> Option<(f64, f64)> {
        let from = x.number()?;
        Some((from, from + self.window_s?))
    }

    /// The mean of samples over time and flows.
    fn traced(&self, x: &X, scenario: &Scenario, seed: &SeedResult, of: fn(&tandem_results::FlowSample) -> f64) -> f64 {
        let Some(trace) = &seed.trace else { return f64::NAN };
        let warmup_s = scenario.warmup.as_secs_f64();
        let (from, to) = self.time_window(x).unwrap_or((warmup_s, f64::INFINITY));
        let samples: Vec<f64> = trace
            .flows
            .iter()
            .filter(|flow| self.groups.contains(&flow.group))
            .flat_map(|flow| flow.samples.iter().zip(&trace.time_s))
            .filter(|(_, time)| (from..to).contains(*time))
            .map(|(sample, _)| of(sample))
            .collect();
        mean(&samples)
    }

    /// Of the first flow, after the warm-up: the lesser of both halves', so that neither a start nor a growth counts.
    fn variation(&self, scenario: &Scenario, seed: &SeedResult) -> Option<f64> {
        let trace = seed.trace.as_ref()?;
        let warmup_s = scenario.warmup.as_secs_f64();
        let flow = trace.flows.iter().find(|flow| self.groups.contains(&flow.group))?;
        let samples = flow.samples.iter().zip(&trace.time_s).filter(|(_, time)| **time >= warmup_s);
        let windows: Vec<f64> = samples.map(|(sample, _)| f64::from(sample.cwnd_packets)).collect();
        let (first, second) = windows.split_at(windows.len() / 2);
        Some(variation_about_line(first)?.min(variation_about_line(second)?))
    }
}

/// The standard deviation of evenly spaced values about the line through them (least squares), over their mean; `None` for fewer than two.
fn variation_about_line(values: &[f64]) -> Option<f64> {
    let (middle, mean_value) = ((values.len() as f64 - 1.0) / 2.0, mean(values));
    let places = || (0..values.len()).map(|i| i as f64 - middle);
    let products: f64 = places().zip(values).map(|(place, value)| place * value).sum();
    let slope = products / places().map(|place| place * place).sum::<f64>();
    let rest: Vec<f64> = places().zip(values).map(|(place, value)| value - slope * place).collect();
    Some(variance(&rest)?.sqrt() / mean_value)
}

/// 0 if nobody gets anything.
fn least_over_most(goodputs: &[f64]) -> f64 {
    let least = goodputs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = goodputs.iter().copied().fold(0.0, f64::max);
    if most > 0.0 { least / most } else { 0.0 }
}

fn starved(goodputs: &[f64]) -> f64 {
    let fair = mean(goodputs);
    goodputs.iter().filter(|&&g| g < fair / 10.0).count() as f64
}

fn flows_of(scenario: &Scenario, groups: &[usize]) -> Vec<usize> {
    let group_of = scenario.group_of_flow();
    (0..group_of.len()).filter(|&f| groups.contains(&group_of[f])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_flow_has_a_shorter_time_of_its_own() {
        use tandem_results::FlowResult;
        use tandem_scenario::file::{Overrides, parse};
        let text = "duration = \"100s\"\nwarmup = \"10s\"\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\nqueue = \"20p\"\n\
                    [[flows]]\ncontroller = \"reno\"\n[[flows]]\ncontroller = \"reno\"\nstart = \"40s\"\n";
        let scenario = parse(text, "a test", "late", &Overrides::default()).unwrap();
        let flow = FlowResult { goodput_mbps: 4.0, ..FlowResult::default() };
        let run = SeedResult { flows: vec![flow; 2], ..SeedResult::default() };
        let of = |group: usize, text: &str| {
            let measure: Measure = toml::from_str(&format!("kind = \"goodput\"\ngroups = [{group}]\n{text}")).unwrap();
            measure.check(&scenario).unwrap();
            measure.value(&X::Name("x".into()), &scenario, std::slice::from_ref(&run), None).unwrap().estimate.value
        };
        // 4 Mb/s in the 90 s after the warm-up are 6 Mb/s in the last 60 s, in which alone the second flow sends.
        assert_eq!(
            [of(0, ""), of(1, ""), of(0, "from_start = true"), of(1, "from_start = true")],
            [4.0, 4.0, 4.0, 6.0]
        );
    }

    #[test]
    fn shares_of_flows() {
        assert_eq!(least_over_most(&[2.0, 8.0, 4.0]), 0.25);
        assert_eq!(least_over_most(&[0.0, 8.0]), 0.0);
        assert_eq!(least_over_most(&[0.0, 0.0]), 0.0);
        // An equal share is 5, a tenth of it 0.5.
        assert_eq!(starved(&[0.4, 0.6, 9.0, 10.0]), 1.0);
        assert_eq!(starved(&[3.0]), 0.0);
    }

    /// Of +1 and -1 in turn about 10 the deviation is 1; a growth adds nothing. One value has none.
    #[test]
    fn variation_is_about_the_trend() {
        let about = |slope: f64| {
            let values: Vec<f64> = (0..2000)
                .map(|i| 10.0 + slope * (f64::from(i) - 999.5) + if i % 2 == 0 { 1.0 } else { -1.0 })
                .collect();
            variation_about_line(&values).unwrap()
        };
        assert!((about(0.0) - 0.1).abs() < 1e-3 && (about(0.004) - 0.1).abs() < 1e-3);
        assert_eq!(variation_about_line(&[3.0]), None);
    }
}
