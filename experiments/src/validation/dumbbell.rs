// SPDX-License-Identifier: MIT OR Apache-2.0
//! The set-up of the ns-2 runs as a scenario.

use std::sync::Arc;

use tandem_controllers::{Params, find};
use tandem_scenario::{
    CongestionControl, DEFAULT_MTU, Dumbbell, Group, Loss, Scenario, Source, TcpSource, Transfer,
    aqm::AqmSpec,
    units::{LossRate, QueueSize, Rate, Span},
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
    /// Groups of flows, each a controller and a number, on the ns-2 script's dumbbell: an ACK for every packet, initial window 2,
    /// starts within 10 to 110 ms, RTTs up to 0.2 ms longer than the nominal one.
    pub fn scenario(&self, groups: &[(&str, u32)], seeds: u64) -> Scenario {
        let rate = Rate { bps: (self.rate_mbps * 1e6) as u64 };
        let rtt = Span::from_ms(self.rtt_ms);
        let dumbbell = Dumbbell {
            rate,
            rtt,
            queue: QueueSize::Packets(self.queue_packets),
            aqm: AqmSpec::DropTail,
            loss: Loss::from(LossRate(self.loss)),
            reverse_rate: None,
            reverse_queue: None,
            reverse_loss: Loss::None,
        };
        let network = dumbbell.network(rtt, DEFAULT_MTU).expect("the set-ups are valid");
        let spread = |span: Span| if self.spread { span } else { Span::default() };
        let group = |&(controller, flows): &(&str, u32)| Group {
            name: controller.to_owned(),
            flows,
            source: Source::Tcp(TcpSource {
                controller: CongestionControl::Tandem(Arc::new(Params::new(find(controller).expect("listed")))),
                transfer: Transfer::Bulk,
                delayed_acks: false,
                pacing: false,
                initial_window: 2,
                receive_window: Some(100_000),
            }),
            forward: vec![0],
            back: vec![1],
            access: Span::default(),
            rtt_spread: spread(Span { ns: 200_000 }),
            start: Span::from_ms(10),
            start_spread: spread(Span::from_ms(100)),
            stop: None,
            first_station: 0,
        };
        let groups: Vec<_> = groups.iter().map(group).collect();
        let jitter = Scenario::default_send_jitter(&network, &groups, DEFAULT_MTU);
        let duration = Span::from_secs(self.duration_s);
        Scenario {
            name: String::new(),
            duration,
            warmup: Span::from_secs(self.warmup_s),
            seeds: (1..=seeds).collect(),
            mtu: DEFAULT_MTU,
            send_jitter: if self.send_jitter { jitter } else { Span::default() },
            sample_interval: Scenario::default_sample_interval(duration),
            network,
            groups,
        }
    }
}
