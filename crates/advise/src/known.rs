// SPDX-License-Identifier: MIT OR Apache-2.0
//! The known values of a path: from the user, otherwise from measurements.

use tandem_scenario::{
    DEFAULT_MTU, EffectsSpec,
    aqm::AqmSpec,
    units::{LossRate, QueueSize, Rate, Span},
};

use crate::{AdviseError, Neighbours, cures, measured::Measured};

/// The known values of a path. Rate and RTT are required; other unknown values take their usual value and are varied.
#[derive(Debug, Clone, Default)]
pub struct Known<R = Rate, T = Span> {
    /// The bottleneck's rate.
    pub rate: R,
    /// The rate was reached by a flow that may not have filled the path: faster paths are tried, too.
    pub rate_at_least: bool,
    /// Two-way propagation delay.
    pub rtt: T,
    /// The bottleneck's queue discipline.
    pub aqm: Option<AqmSpec>,
    /// All flows have ECN, and the queue marks their packets.
    pub ecn: bool,
    /// Rate of the return path; the same as `rate` if not given.
    pub reverse_rate: Option<Rate>,
    /// What the bottleneck does to packets besides carrying them.
    pub effects: EffectsSpec,
    /// It is known to have no jitter.
    pub has_no_jitter: bool,
    /// Bytes of a full packet, headers included.
    pub mtu: Option<u32>,
    /// The bottleneck's buffer.
    pub queue: Option<QueueSize>,
    /// Random loss, before the queue.
    pub loss: Option<LossRate>,
    /// The other flows on the path.
    pub neighbours: Option<Neighbours>,
    /// How many flows are to be carried.
    pub flows: Option<u32>,
}

/// The user's values, which override measurements.
pub type Given = Known<Option<Rate>, Option<Span>>;

impl Given {
    /// Fills the values not given from measurements, and leaves in `measured` only what was used. A jitter of 0 is known to be none.
    ///
    /// # Errors
    /// If neither has a rate or an RTT.
    pub fn with(self, measured: &mut Measured) -> Result<Known, AdviseError> {
        let is_given = |what: &str| match what {
            "rate" => self.rate.is_some(),
            "rtt" => self.rtt.is_some(),
            "queue" => self.queue.is_some(),
            "aqm" => self.aqm.is_some(),
            "policer" => self.effects.policer.is_some(),
            _ => self.loss.is_some(),
        };
        measured.inferred.retain(|inferred| !is_given(inferred.what));
        let missing = |what, sources| AdviseError::Missing { what, sources, read: cures::measured::tells(measured) };
        let rate = self.rate.or(measured.rate).ok_or_else(|| missing("rate", "iperf3 --json, ss -ti"))?;
        let rtt = self.rtt.or(measured.rtt).ok_or_else(|| missing("rtt", "ping, ss -ti, iperf3 --json"))?;
        let has_no_jitter = self.has_no_jitter || self.effects.jitter.is_some_and(|jitter| jitter.time.ns == 0);
        Ok(Known {
            rate,
            rate_at_least: self.rate.is_none() && measured.rate_at_least,
            rtt,
            aqm: self.aqm.or_else(|| measured.aqm.as_ref()?.parse().ok()),
            ecn: self.ecn,
            reverse_rate: self.reverse_rate,
            effects: EffectsSpec {
                policer: self.effects.policer.or(measured.policer),
                jitter: self.effects.jitter.filter(|_| !has_no_jitter),
                ..self.effects
            },
            has_no_jitter,
            mtu: self.mtu.or(measured.mtu),
            queue: self.queue.or(measured.queue),
            loss: self.loss.or(measured.loss),
            neighbours: self.neighbours,
            flows: self.flows.or(measured.flows),
        })
    }
}

impl Known {
    /// A path of which nothing else is known.
    pub fn new(rate: Rate, rtt: Span) -> Self {
        Self {
            rate,
            rate_at_least: false,
            rtt,
            aqm: None,
            ecn: false,
            reverse_rate: None,
            effects: EffectsSpec::default(),
            has_no_jitter: false,
            mtu: None,
            queue: None,
            loss: None,
            neighbours: None,
            flows: None,
        }
    }

    /// Number of own flows: one unless it is known.
    pub fn flows(&self) -> u32 {
        self.flows.unwrap_or(1)
    }

    /// Nothing tells whether its delay changes. What follows a trace or comes out of order has delays of its own.
    pub(crate) fn may_have_jitter(&self) -> bool {
        let EffectsSpec { rate_trace, jitter, reorder, .. } = &self.effects;
        !self.has_no_jitter && rate_trace.is_none() && jitter.is_none() && reorder.is_none()
    }

    /// The bottleneck's queue discipline: drop-tail unless it is known.
    pub(crate) fn aqm(&self) -> AqmSpec {
        self.aqm.unwrap_or_default()
    }

    /// In a few words, for the head of an answer.
    pub fn words(&self) -> String {
        let mut words = format!("{}, {} RTT", self.rate, self.rtt);
        if self.aqm() != AqmSpec::DropTail {
            words += &format!(", {} that {}", self.aqm().name(), if self.ecn { "marks" } else { "drops" });
        }
        let EffectsSpec { rate_trace, jitter, reorder, policer, .. } = &self.effects;
        let effects = [
            rate_trace.is_some().then(|| "a rate trace".to_owned()),
            jitter.is_some().then(|| "jitter".to_owned()),
            reorder.is_some().then(|| "reordering".to_owned()),
            policer.map(|bucket| format!("a policer of {}", bucket.rate)),
        ];
        effects.into_iter().flatten().for_each(|effect| words += &format!(", {effect}"));
        words
    }

    /// Bytes of a full packet, headers included.
    pub(crate) fn mtu(&self) -> u32 {
        self.mtu.unwrap_or(DEFAULT_MTU)
    }
}
