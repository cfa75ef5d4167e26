// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the measurements show to have held the flow back, and the cure for that.

use crate::{
    Known,
    measured::{Direction, Evidence, LimitedBy, Measured},
};

pub fn receiving(measured: &Measured) -> Option<String> {
    (measured.direction == Some(Direction::Receives)).then(|| {
        "This machine received what was measured: nothing here changes how fast data arrives. The advice below is for the sender.".to_owned()
    })
}

/// A better path does not help a flow that the path did not limit.
pub fn held_back(measured: &Measured, known: &Known) -> Option<String> {
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
        LimitedBy::Processor(_) => "No controller changes that. Share the load among cores (`iperf3 -P 4`, with a thread for each from 3.16 on), turn on \
                                    what the port can do itself (`ethtool -K DEV tso on gro on`), or send larger packets."
            .to_owned(),
        LimitedBy::Policer(_) => policer_cure(known),
        LimitedBy::Port(_) => "No controller carries more over it, only a faster port; `ethtool DEV` says whether this machine's came up at the \
                               speed that it should have. What follows is about delay and neighbours."
            .to_owned(),
    };
    let Evidence { words, .. } = limited_by.evidence();
    Some(format!("The measured flow was limited by {}: {words}. {cure}", limited_by.what()))
}

/// If the measured policer is the path's, [`super::path::policer`] reports it.
fn policer_cure(known: &Known) -> String {
    match known.effects.policer {
        Some(bucket) => format!("Ask the provider of the path what rate it allows; {} was assumed.", bucket.rate),
        None => "Ask the provider of the path what rate it allows.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cures::known;

    fn first(limit: fn(Evidence) -> LimitedBy) -> Option<String> {
        let evidence = Evidence { words: "so it is".into(), source: "a.json".into() };
        let measured = Measured { limited_by: Some(limit(evidence)), ..Measured::default() };
        held_back(&measured, &known("1gbit", 10))
    }

    #[test]
    fn each_limit_has_its_cure() {
        assert!(first(LimitedBy::Path).is_none());
        let says = |limit: fn(Evidence) -> LimitedBy, part: &str| {
            let words = first(limit).unwrap();
            assert!(words.contains(": so it is. ") && words.contains(part), "{words}");
        };
        says(LimitedBy::ReceiveWindow, "net.ipv4.tcp_rmem");
        says(LimitedBy::SendBuffer, "net.ipv4.tcp_wmem");
        says(LimitedBy::Application, "iperf3");
        says(LimitedBy::Processor, "iperf3 -P 4");
        says(LimitedBy::Policer, "what rate it allows");
        says(LimitedBy::Port, "ethtool");
    }
}
