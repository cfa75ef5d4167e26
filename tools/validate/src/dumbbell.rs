// SPDX-License-Identifier: MIT OR Apache-2.0
//! The set-up of the ns-2 runs as a scenario.

use tandem_scenario::{
    DEFAULT_MTU, DumbbellSpec, FlowsSpec, HEADER_BYTES, Loss, Scenario, ScenarioSpec,
    aqm::AqmSpec,
    units::{Bytes, LossRate, QueueSize, Rate, Span},
};

/// What differs between the experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ns2Setup {
    pub rate_mbps: f64,
    pub rtt_ms: u64,
    pub queue_packets: u32,
    pub loss: f64,
    pub duration_s: u64,
    pub warmup_s: u64,
    /// ns-2's `overhead_` of one packet time at the bottleneck.
    pub send_jitter: bool,
    /// Random additions to start and RTT.
    pub spread: bool,
}

/// The path of S0: 1 Gb/s, 100 ms, 1500 packets.
pub(super) const GIGABIT: Ns2Setup = Ns2Setup {
    rate_mbps: 1000.0,
    rtt_ms: 100,
    queue_packets: 1500,
    loss: 0.0,
    duration_s: 150,
    warmup_s: 30,
    send_jitter: false,
    spread: true,
};

impl Ns2Setup {
    /// As [`Self::spec`], checked.
    pub fn scenario(&self, groups: &[(&str, u32)], seeds: u64) -> Scenario {
        self.spec(groups, seeds).check().expect("the set-ups are valid")
    }

    /// Groups of flows, each a controller and a number, on the ns-2 script's dumbbell: an ACK for every packet, initial window 2,
    /// starts within 10 to 110 ms, RTTs up to 0.2 ms longer than the nominal one.
    pub fn spec(&self, groups: &[(&str, u32)], seeds: u64) -> ScenarioSpec {
        let spread = |span: Span| if self.spread { span } else { Span::default() };
        let group = |&(controller, flows): &(&str, u32)| FlowsSpec {
            controller: Some(controller.parse().expect("listed")),
            count: flows,
            delayed_acks: Some(false),
            initial_window: Some(2),
            receive_window: Some(Bytes(100_000 * u64::from(DEFAULT_MTU - HEADER_BYTES))),
            rtt_spread: spread(Span { ns: 200_000 }),
            start: Some(Span::from_ms(10)),
            start_spread: spread(Span::from_ms(100)),
            ..FlowsSpec::default()
        };
        ScenarioSpec {
            warmup: Span::from_secs(self.warmup_s),
            seeds: Some(seeds as u32),
            send_jitter: (!self.send_jitter).then(Span::default),
            dumbbell: Some(DumbbellSpec {
                rate: Rate { bps: (self.rate_mbps * 1e6) as u64 },
                rtt: Span::from_ms(self.rtt_ms),
                queue: QueueSize::Packets(self.queue_packets),
                aqm: AqmSpec::DropTail,
                loss: Loss::from(LossRate(self.loss)),
                reverse_rate: None,
                reverse_queue: None,
                reverse_loss: Loss::None,
            }),
            flows: groups.iter().map(group).collect(),
            ..ScenarioSpec::new(Span::from_secs(self.duration_s))
        }
    }
}
