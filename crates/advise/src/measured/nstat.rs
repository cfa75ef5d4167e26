// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `nstat` and `netstat -s` print: how many segments the machine has sent, and how many of them again.

use serde_json::Value;

use super::reading::{Losses, Reading, Readings, is_count, number};

const SENT: &str = "TcpOutSegs";
const AGAIN: &str = "TcpRetransSegs";

pub fn is_nstat(text: &str) -> bool {
    text.contains(AGAIN) || text.contains("segments retransmit")
}

pub(super) fn readings(text: &str) -> Result<Readings, String> {
    // `TcpRetransSegs   4211   0.0`, or `4211 segments retransmitted`; the kernel of old wrote one t less.
    let value = |name: &str, words: &str| {
        text.lines().map(str::trim).find_map(|line| {
            let rest = line.strip_prefix(name).or_else(|| line.find(words).map(|at| &line[..at]))?;
            number(rest.split_whitespace().next()?)
        })
    };
    of_counts(
        value(SENT, "segments sent out").or_else(|| value(SENT, "segments send out")),
        value(AGAIN, "segments retransmit"),
    )
}

/// `None` if it is not nstat's.
pub(super) fn of_json(document: &Value) -> Option<Result<Readings, String>> {
    let counts = document.get("kernel").unwrap_or(document);
    let again = counts.get(AGAIN)?.as_f64();
    Some(of_counts(counts[SENT].as_f64(), again))
}

fn of_counts(sent: Option<f64>, again: Option<f64>) -> Result<Readings, String> {
    let (Some(sent), Some(again)) = (sent.filter(is_count), again.filter(is_count)) else {
        return Err(format!("it does not have both {SENT} and {AGAIN}: run `nstat -az {SENT} {AGAIN}`"));
    };
    Ok(Readings {
        losses: Some(Reading::new(Losses { lost: again, packets: sent }, AGAIN)),
        is_of_all_paths: true,
        cautions: vec![format!(
            "{again:.0} of {sent:.0} segments were sent again, of all connections of the machine; `ss -ti` tells it for one path."
        )],
        ..Readings::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_tools_count_the_same() {
        let expected = Losses { lost: 30.0, packets: 9000.0 };
        let nstat = "#kernel\nTcpOutSegs       9000     0.0\nTcpRetransSegs   30       0.0\n";
        let netstat = "Tcp:\n    9000 segments sent out\n    30 segments retransmitted\n";
        for text in [nstat, netstat] {
            assert!(is_nstat(text));
            let read = readings(text).unwrap();
            assert_eq!(read.losses.unwrap().value, expected);
            assert!(read.is_of_all_paths && read.cautions[0].contains("30 of 9000"));
        }
        let read = of_json(&json!({"kernel": {"TcpOutSegs": 9000, "TcpRetransSegs": 30}})).unwrap().unwrap();
        assert_eq!(read.losses.unwrap().value, expected);
        assert!(readings("TcpRetransSegs x").unwrap_err().contains("nstat -az"));
    }
}
