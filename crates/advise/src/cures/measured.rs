// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the measurements show to have held the flow back, and the cure for that.

use crate::{
    Known,
    measured::{Direction, Evidence, LimitedBy, Measured},
};

/// Nothing here changes that.
const RECEIVES: &str = "This machine received what was measured: nothing here changes how fast data arrives.";

pub fn receiving(measured: &Measured) -> Option<String> {
    (measured.direction == Some(Direction::Receives)).then(|| format!("{RECEIVES} The advice below is for the sender."))
}

/// What the measurements tell though a value is missing that they lack, to follow an error's first sentence.
pub fn tells(measured: &Measured) -> String {
    let mut words = String::new();
    if !measured.inferred.is_empty() {
        let values: Vec<_> = measured.inferred.iter().map(|i| format!("{} {}", i.what, i.value)).collect();
        words += &format!("; what was read: {}", values.join(", "));
    }
    if let Some(limited_by) = &measured.limited_by {
        words += &format!(". The measured flow was limited by {}: {}", limited_by.what(), limited_by.evidence().words);
    }
    if measured.direction == Some(Direction::Receives) {
        words += &format!(". {RECEIVES} Ask at the sender");
    }
    words.extend(measured.cautions.iter().map(|caution| format!(". {caution}")));
    words
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
    use crate::{Given, cures::known, measured::Inferred};

    fn first(limit: fn(Evidence) -> LimitedBy) -> Option<String> {
        let evidence = Evidence { words: "so it is".into(), source: "a.json".into() };
        let measured = Measured { limited_by: Some(limit(evidence)), ..Measured::default() };
        held_back(&measured, &known("1gbit", 10))
    }

    #[test]
    fn without_a_rate_the_error_tells_what_was_read() {
        let rtt =
            Inferred { what: "rtt", value: "150.9ms".into(), source: "a.txt: minrtt".into(), surety: String::new() };
        let mut measured =
            Measured { inferred: vec![rtt], direction: Some(Direction::Receives), ..Measured::default() };
        assert_eq!(
            Given::default().with(&mut measured).unwrap_err().to_string(),
            "no rate: give --rate, or a measurement that has it (iperf3 --json, ss -ti); what was read: rtt 150.9ms. This machine received what \
             was measured: nothing here changes how fast data arrives. Ask at the sender"
        );
        // Why what looks like a rate was not taken.
        let cautions = vec!["b.json: The UDP test lost nothing at the rate that it was told to send".to_owned()];
        let told = Given::default().with(&mut Measured { cautions, ..Measured::default() }).unwrap_err().to_string();
        assert!(
            told.ends_with("ss -ti). b.json: The UDP test lost nothing at the rate that it was told to send"),
            "{told}"
        );
        let without = Given::default().with(&mut Measured::default()).unwrap_err().to_string();
        assert!(without.ends_with("(iperf3 --json, ss -ti)"), "{without}");
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
