// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an expert would say before any controller: where the cure is another.

use tandem_scenario::{
    aqm::AqmSpec,
    units::{Bytes, Rate, Span},
};

use crate::Advice;

/// Of a connection's buffer Linux counts half as payload; the rest is its own (tcp_adv_win_scale, struct sk_buff).
const PAYLOAD_OF_BUFFER: u64 = 2;
/// A buffer that holds the window twice: what was lost stays in it until it has been sent again.
const WINDOWS: u64 = 2;
/// A queue that is noticed in calls and pages. Ours.
const LONG_DELAY: Span = Span::from_ms(100);
/// What a shaper leaves free, so that the queue stands where it is managed, percent.
const SHAPED_PERCENT: u64 = 90;

impl Advice<'_> {
    /// What comes first, in whole sentences; nothing where a controller is the cure.
    pub fn cures(&self) -> Vec<String> {
        [self.send_buffer(), self.shaping()].into_iter().flatten().collect()
    }

    /// A connection cannot have more under way than its buffer holds.
    fn send_buffer(&self) -> Option<String> {
        let buffer_bytes = self.machine.send_buffer_bytes?;
        let (known, flows) = (self.question.known, self.question.candidates.first()?.flows.count);
        let bdp_bits = u128::from(known.rate.bps) * u128::from(known.rtt.ns) / 1_000_000_000;
        let window_bytes = (bdp_bits / 8) as u64 / u64::from(flows);
        if buffer_bytes / PAYLOAD_OF_BUFFER >= window_bytes {
            return None;
        }
        const MIB: u64 = 1 << 20;
        let wanted = (PAYLOAD_OF_BUFFER * WINDOWS * window_bytes).div_ceil(MIB) * MIB;
        Some(format!(
            "First the buffers: net.ipv4.tcp_wmem allows a connection of this machine {}, half of it payload, and to fill the path it needs {} \
             under way. What follows holds with: sudo sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {wanted}\"; at the receiver: sudo sysctl -w \
             net.ipv4.tcp_rmem=\"4096 131072 {wanted}\".",
            Bytes(buffer_bytes),
            Bytes(window_bytes)
        ))
    }

    /// Whoever fills a deep queue makes all who share it wait.
    fn shaping(&self) -> Option<String> {
        let (known, decision) = (self.question.known, &self.usual.decision);
        let chosen = decision.of(&decision.chosen)?;
        let limit_ms = LONG_DELAY.max(known.rtt).as_secs_f64() * 1e3;
        if known.aqm != AqmSpec::DropTail || chosen.delay_ms.value <= limit_ms {
            return None;
        }
        let shaped = Rate { bps: known.rate.bps / 100 * SHAPED_PERCENT };
        Some(format!(
            "If the delay hurts, no controller is the cure: `{}` keeps {:.0} ms in the queue. Shape the link a little below its rate, where the queue \
             is managed: sudo tc qdisc replace dev DEV root cake bandwidth {shaped}.",
            decision.chosen, chosen.delay_ms.value
        ))
    }
}
