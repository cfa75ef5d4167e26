// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an expert would say before any controller: where the cure is another.

use tandem_scenario::{
    aqm::AqmSpec,
    units::{Bytes, Rate, Span},
};

use crate::{
    Advice, Known, Repeated,
    measured::{Direction, Evidence, LimitedBy, Measured},
};

/// Of a connection's buffer Linux counts half as payload; the rest is its own (tcp_adv_win_scale, struct sk_buff).
const PAYLOAD_OF_BUFFER: u64 = 2;
/// A buffer that holds the window twice: what was lost stays in it until it has been sent again.
const WINDOWS: u64 = 2;
const MIB: u64 = 1 << 20;
/// A queue that is noticed in calls and pages. Ours.
const LONG_DELAY: Span = Span::from_ms(100);
/// What a shaper leaves free, so that the queue stands where it is managed, percent.
const SHAPED_PERCENT: u64 = 90;

impl Advice<'_> {
    /// What comes first, in whole sentences; nothing where a controller is the cure.
    pub fn cures(&self) -> Vec<String> {
        let (known, decision) = (self.question.known, &self.usual.decision);
        let flows = self.question.candidates.first().map_or(1, |candidate| candidate.flows.count);
        let buffers = self.machine.send_buffer_bytes.and_then(|bytes| send_buffer(bytes, known, flows));
        let chosen = decision.of(&decision.chosen);
        let shaper = chosen.and_then(|chosen| shaper(known, &chosen.controller, chosen.delay_ms.value));
        let measured = self.question.measured;
        let contradiction = self.repeated.as_ref().and_then(Repeated::contradiction);
        let held = [contradiction, receiving(measured), held_back(measured, known)];
        held.into_iter().chain([buffers, shaper]).flatten().collect()
    }
}

fn receiving(measured: &Measured) -> Option<String> {
    (measured.direction == Some(Direction::Receives)).then(|| {
        "This machine received what was measured: nothing here changes how fast that comes. What follows is for the machine that sends.".to_owned()
    })
}

/// What the path's rate did not hold back is not sped up by the path.
fn held_back(measured: &Measured, known: &Known) -> Option<String> {
    let limited_by = measured.limited_by.as_ref()?;
    let cure = match limited_by {
        LimitedBy::Loss(_) if known.rate_at_least => {
            format!("The path is faster than {}: give its rate (--rate). Faster ones are tried below.", known.rate)
        }
        LimitedBy::Loss(_) | LimitedBy::Path(_) => return None,
        LimitedBy::ReceiveWindow(_) => "No controller changes that. Raise the third number of net.ipv4.tcp_rmem at the receiver, or the buffer that its \
                                        program asks for, and measure again."
            .to_owned(),
        LimitedBy::SendBuffer(_) => "No controller changes that. Raise the third number of net.ipv4.tcp_wmem at the sender, or the buffer that its \
                                     program asks for, and measure again."
            .to_owned(),
        LimitedBy::Application(_) => "No controller changes that. Measure with a program that sends as fast as it can, such as iperf3.".to_owned(),
    };
    let Evidence { words, .. } = limited_by.evidence();
    Some(format!("What was measured was held back by {}: {words}. {cure}", limited_by.what()))
}

/// A connection cannot have more under way than its buffer holds.
fn send_buffer(buffer_bytes: u64, known: &Known, flows: u32) -> Option<String> {
    let bdp_bits = u128::from(known.rate.bps) * u128::from(known.rtt.ns) / 1_000_000_000;
    let window_bytes = (bdp_bits / 8) as u64 / u64::from(flows);
    if buffer_bytes / PAYLOAD_OF_BUFFER >= window_bytes {
        return None;
    }
    let wanted = (PAYLOAD_OF_BUFFER * WINDOWS * window_bytes).div_ceil(MIB) * MIB;
    Some(format!(
        "First the buffers: net.ipv4.tcp_wmem allows a connection of this machine {}, half of it payload, and to fill the path it needs {} under \
         way. What follows holds with: sudo sysctl -w net.ipv4.tcp_wmem=\"4096 16384 {wanted}\"; at the receiver: sudo sysctl -w \
         net.ipv4.tcp_rmem=\"4096 131072 {wanted}\".",
        Bytes(buffer_bytes),
        Bytes(window_bytes)
    ))
}

/// Whoever fills a deep queue makes all who share it wait.
fn shaper(known: &Known, controller: &str, delay_ms: f64) -> Option<String> {
    if known.aqm != AqmSpec::DropTail || delay_ms <= LONG_DELAY.max(known.rtt).as_secs_f64() * 1e3 {
        return None;
    }
    let shaped = Rate { bps: known.rate.bps / 100 * SHAPED_PERCENT };
    Some(format!(
        "If the delay hurts, no controller is the cure: `{controller}` keeps {delay_ms:.0} ms in the queue. Shape the link a little below its rate, \
         where the queue is managed: sudo tc qdisc replace dev DEV root cake bandwidth {shaped}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(rate: &str, rtt_ms: u64) -> Known {
        Known::new(rate.parse().unwrap(), Span::from_ms(rtt_ms))
    }

    /// 100 Mb/s for 600 ms are 7.5 MB; of 4 MiB half is payload. Four times 7.5 MB are 28.6 MiB.
    #[test]
    fn a_small_buffer_comes_before_any_controller() {
        let words = send_buffer(4 * MIB, &known("100mbit", 600), 1).unwrap();
        assert!(words.contains("it needs 7.5MB under way"), "{words}");
        assert!(words.contains("net.ipv4.tcp_wmem=\"4096 16384 30408704\""), "{words}");
        // Four connections need 1.9 MB each.
        assert_eq!(send_buffer(4 * MIB, &known("100mbit", 600), 4), None);
        assert_eq!(send_buffer(16 * MIB, &known("100mbit", 600), 1), None);
    }

    #[test]
    fn a_deep_queue_is_for_a_shaper() {
        let words = shaper(&known("1mbit", 30), "cubic", 2400.0).unwrap();
        assert!(words.contains("`cubic` keeps 2400 ms") && words.contains("cake bandwidth 900kbit"), "{words}");
        assert_eq!(shaper(&known("1mbit", 30), "cubic", 99.0), None);
        // Longer than 100 ms, and no longer than the way.
        assert_eq!(shaper(&known("50mbit", 600), "cubic", 590.0), None);
        let managed = Known { aqm: "fq_codel".parse().unwrap(), ..known("1mbit", 30) };
        assert_eq!(shaper(&managed, "cubic", 2400.0), None);
    }
}
