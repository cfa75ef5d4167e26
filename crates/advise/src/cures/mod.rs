// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other cures, which an expert would name before any controller.

mod machine;
pub mod measured;
mod path;

use tandem_controllers::find;
use tandem_scenario::units::Span;

use crate::{Advice, Known, Repeated};

impl Advice<'_> {
    /// The other cures, in whole sentences; none if a controller is the cure. Findings from the measurements come first, then improvements of
    /// the path, then what this machine lacks for it.
    pub fn cures(&self) -> Vec<String> {
        let (known, decision) = (self.question.known, &self.usual.decision);
        let (measured, machine) = (self.question.measured, self.machine);
        let flows = self.question.candidates.first().map_or(1, |candidate| candidate.flows.count);
        let contradiction = self.repeated.as_ref().and_then(Repeated::contradiction);
        let chosen = decision.of(&decision.chosen);
        let is_alone = self.usual.case.neighbours.0.is_empty();
        let less = if is_alone { decision.with_less_delay() } else { Vec::new() };
        let of_measured = [contradiction, measured::receiving(measured), measured::held_back(measured, known)];
        let of_all = [
            path::faulty(self.usual.case.loss, known),
            path::policer(known),
            machine.port.as_ref().and_then(|port| machine::slow_port(port, known)),
            chosen.and_then(|chosen| path::shaper(known, chosen, &less)),
            machine.send_buffer_bytes.and_then(|bytes| machine::send_buffer(bytes, known, flows)),
            chosen
                .filter(|chosen| !is_paced(&chosen.controller))
                .and_then(|chosen| machine::pacing((machine, measured), known, flows, &chosen.controller)),
        ];
        of_measured.into_iter().chain(of_all).flatten().collect()
    }
}

/// Does it pace its packets over the round trip itself?
fn is_paced(controller: &str) -> bool {
    let name = controller.split('@').next().unwrap_or(controller);
    find(name).is_ok_and(|controller| controller.owns_window())
}

/// Data in flight on a full path, bytes; behind a policer no more than the policer passes.
fn bdp_bytes(known: &Known) -> u64 {
    let Span { ns } = known.rtt;
    let policed_bps = known.effects.policer.map_or(u64::MAX, |bucket| bucket.rate.bps);
    (u128::from(known.rate.bps.min(policed_bps)) * u128::from(ns) / 8_000_000_000) as u64
}

/// In three digits.
fn rounded(number: u64) -> u64 {
    let digits = number.checked_ilog10().unwrap_or(0);
    let step = 10u64.pow(digits.saturating_sub(2));
    (number + step / 2) / step * step
}

#[cfg(test)]
fn known(rate: &str, rtt_ms: u64) -> Known {
    Known::new(rate.parse().unwrap(), Span::from_ms(rtt_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        assert_eq!([4_194_304, 96_418_000, 999, 0].map(rounded), [4_190_000, 96_400_000, 999, 0]);
    }

    #[test]
    fn who_sets_a_rate_needs_no_pacing() {
        assert!(is_paced("bbr") && is_paced("bbr3") && !is_paced("cubic") && !is_paced("compound@gamma=20"));
    }
}
