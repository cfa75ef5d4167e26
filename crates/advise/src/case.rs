// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated paths: one with the usual value of everything unknown, and others that differ from it in one value.

use std::collections::BTreeMap;

use serde::Serialize;
use tandem_compare::{CompareError, Comparison, Flows, FlowsError, Length};
use tandem_scenario::{
    Ecn, EffectsSpec, FORWARD_LINK, FlowsSpec, Loss, Scenario, ScenarioSpec,
    effects::JitterSpec,
    units::{Bytes, LossRate, QueueSize, Rate, Span},
};

use crate::{AdviseError, Known};

/// Values for an unknown quantity: the usual one first, then the variations. Ours; docs/advise.md gives the reasons.
const QUEUES: [QueueSize; 3] = [QueueSize::Bdp(1.0), QueueSize::Bdp(0.1), QueueSize::Bdp(4.0)];
const LOSSES: [LossRate; 3] = [LossRate(0.0), LossRate(1e-5), LossRate(1e-3)];
/// Factors by which the rate is varied if only a lower bound is known.
const RATES: [u64; 2] = [4, 10];
const NEIGHBOURS: [&str; 3] = ["cubic:1", "none", "bbr:1"];

/// Jitter where it is not known to be none, at most this part of the RTT.
const JITTER: Span = Span::from_ms(1);
const PART_OF_RTT: u64 = 10;

/// The flows that are on the path already: some, or `none`.
#[derive(Debug, Clone)]
pub struct Neighbours(pub Vec<Flows>);

/// A path without anything unknown.
#[derive(Debug, Clone)]
pub struct Case {
    /// How it differs from the usual path, in words; empty: it is the usual one.
    pub differs: String,
    /// The bottleneck's rate.
    pub rate: Rate,
    /// The bottleneck's buffer.
    pub queue: QueueSize,
    /// Random loss, before the queue.
    pub loss: LossRate,
    /// What it does to packets besides carrying them.
    pub effects: EffectsSpec,
    /// The other flows on the path.
    pub neighbours: Neighbours,
}

/// A value that was assumed, in words.
#[derive(Debug, Clone, Serialize)]
pub struct Assumed {
    /// The quantity, such as `a queue of`.
    pub what: &'static str,
    /// With its unit.
    pub value: String,
}

impl Known {
    /// The usual path first.
    pub fn cases(&self) -> Vec<Case> {
        let kinds = NEIGHBOURS.map(|text| text.parse::<Neighbours>().expect("a name of the list"));
        let usual = Case {
            differs: String::new(),
            rate: self.rate,
            queue: self.queue.unwrap_or(QUEUES[0]),
            loss: self.loss.unwrap_or(LOSSES[0]),
            effects: self.effects.clone(),
            neighbours: self.neighbours.clone().unwrap_or_else(|| kinds[0].clone()),
        };
        let mut cases = vec![usual.clone()];
        let mut add = |differs: String, case: Case| cases.push(Case { differs, ..case });
        for times in RATES.into_iter().filter(|_| self.rate_at_least) {
            let rate = Rate { bps: self.rate.bps.saturating_mul(times) };
            add(format!("a rate of {rate}"), Case { rate, ..usual.clone() });
        }
        for queue in QUEUES[1..].iter().copied().filter(|_| self.queue.is_none()) {
            add(format!("a queue of {}", self.queue_words(queue)), Case { queue, ..usual.clone() });
        }
        for loss in LOSSES[1..].iter().copied().filter(|_| self.loss.is_none()) {
            add(format!("random loss of {loss}"), Case { loss, ..usual.clone() });
        }
        if self.may_have_jitter() {
            let time = JITTER.min(Span { ns: self.rtt.ns / PART_OF_RTT });
            let effects = EffectsSpec { jitter: Some(JitterSpec::uniform(time)), ..usual.effects.clone() };
            add(format!("jitter of {time}"), Case { effects, ..usual.clone() });
        }
        for neighbours in kinds[1..].iter().filter(|_| self.neighbours.is_none()) {
            let differs = match &neighbours.0[..] {
                [] => "no neighbours".to_owned(),
                _ => format!("{neighbours} as the neighbour"),
            };
            add(differs, Case { neighbours: neighbours.clone(), ..usual.clone() });
        }
        cases
    }

    /// The assumptions of the usual path.
    pub fn assumed(&self) -> Vec<Assumed> {
        let mut assumed = Vec::new();
        if self.rate_at_least {
            assumed.push(Assumed { what: "a rate of", value: self.rate.to_string() });
        }
        if self.queue.is_none() {
            assumed.push(Assumed { what: "a queue of", value: self.queue_words(QUEUES[0]) });
        }
        if self.loss.is_none() {
            assumed.push(Assumed { what: "a random loss of", value: LOSSES[0].to_string() });
        }
        if self.may_have_jitter() {
            assumed.push(Assumed { what: "a jitter of", value: "0ms".to_owned() });
        }
        if self.neighbours.is_none() {
            assumed.push(Assumed { what: "neighbours", value: NEIGHBOURS[0].to_owned() });
        }
        assumed
    }

    /// `0.1bdp (250 packets)`.
    fn queue_words(&self, queue: QueueSize) -> String {
        match (queue, queue.limit(self.rate, self.rtt, self.mtu())) {
            (QueueSize::Bdp(_) | QueueSize::Time(_), Ok(tandem_scenario::Limit::Packets(n))) => {
                format!("{queue} ({n} packets)")
            }
            _ => queue.to_string(),
        }
    }

    /// The scenario in which `own` shares a case's path with its neighbours. With `transfer`, that much is sent by all flows of `own`
    /// together, from `start` on.
    pub(crate) fn scenario(
        &self,
        case: &Case,
        own: &Flows,
        start: Span,
        transfer: Option<Bytes>,
        length: Length,
    ) -> Result<Scenario, AdviseError> {
        let group = |flows: &Flows| FlowsSpec {
            controller: Some(flows.controller.clone()),
            count: flows.count,
            // Controllers that count marks use accurate ECN anyway.
            ecn: (self.ecn && !flows.controller.counts_marks()).then_some(Ecn::Rfc3168),
            rtt_spread: Comparison::RTT_SPREAD,
            start_spread: Comparison::START_SPREAD,
            ..FlowsSpec::default()
        };
        let aqm = if self.ecn { self.aqm().marking().ok_or(CompareError::NoMarks)? } else { self.aqm() };
        let own_group = FlowsSpec {
            start: Some(start),
            transfer: transfer.map(|Bytes(bytes)| Bytes(bytes.div_ceil(u64::from(own.count)))),
            ..group(own)
        };
        let spec = ScenarioSpec {
            name: Some(own.name.clone()),
            warmup: length.warmup,
            mtu: self.mtu,
            effects: BTreeMap::from([(FORWARD_LINK.to_owned(), case.effects.clone())]),
            dumbbell: Some(tandem_scenario::DumbbellSpec {
                rate: case.rate,
                rtt: self.rtt,
                queue: case.queue,
                aqm,
                loss: Loss::from(case.loss),
                reverse_rate: self.reverse_rate,
                reverse_queue: None,
                reverse_loss: Loss::None,
            }),
            flows: std::iter::once(own_group).chain(case.neighbours.0.iter().map(group)).collect(),
            ..ScenarioSpec::new(length.duration)
        };
        Ok(spec.check()?)
    }
}

impl std::str::FromStr for Neighbours {
    type Err = FlowsError;
    fn from_str(text: &str) -> Result<Self, FlowsError> {
        if text == "none" {
            return Ok(Self(Vec::new()));
        }
        text.split(',').map(|flows| flows.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl std::fmt::Display for Neighbours {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let all: Vec<String> = self.0.iter().map(|flows| format!("{}:{}", flows.name, flows.count)).collect();
        f.write_str(if all.is_empty() { "none".to_owned() } else { all.join(",") }.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let (rate, rtt) = ("300mbit".parse().unwrap(), Span::from_ms(100));
        Known::new(rate, rtt)
    }

    #[test]
    fn each_unknown_is_varied_alone() {
        let cases = known().cases();
        let differs: Vec<&str> = cases.iter().map(|case| &*case.differs).collect();
        // 300 Mb/s for 100 ms are 2500 packets of 1500 bytes.
        let expected = [
            "",
            "a queue of 0.1bdp (250 packets)",
            "a queue of 4bdp (10000 packets)",
            "random loss of 1e-5",
            "random loss of 0.001",
            "jitter of 1ms",
            "no neighbours",
            "bbr:1 as the neighbour",
        ];
        assert_eq!(differs, expected);
        assert_eq!((cases[1].loss.0, cases[1].neighbours.to_string()), (0.0, "cubic:1".to_owned()));
    }

    #[test]
    fn what_is_known_is_not_varied() {
        let known = Known {
            queue: Some(QueueSize::Packets(100)),
            loss: Some(LossRate(0.01)),
            neighbours: Some("reno:2,cubic:1".parse().unwrap()),
            has_no_jitter: true,
            ..known()
        };
        let [only] = &known.cases()[..] else { panic!() };
        assert_eq!((only.queue, only.loss.0, only.neighbours.0.len()), (QueueSize::Packets(100), 0.01, 2));
        assert!(known.assumed().is_empty());
    }
}
