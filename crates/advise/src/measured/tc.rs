// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `tc -s qdisc` prints of this machine's own queues. The uplink is the device that has sent most.

use serde_json::Value;

use super::reading::{Reading, Readings, kernel_name, number};

/// One queue discipline.
#[derive(Debug, Default)]
struct Discipline {
    kind: String,
    device: String,
    is_root: bool,
    sent_bytes: f64,
    dropped: f64,
}

pub fn is_tc(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("qdisc "))
}

/// `qdisc fq_codel 0: dev eth0 root ...`, and below it `Sent 98 bytes 7 pkt (dropped 3, ...`.
pub(super) fn readings(text: &str) -> Result<Readings, String> {
    let mut all: Vec<Discipline> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().take(16).collect();
        let behind = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
        let count = |name: &str| behind(name).and_then(|word| number(word.trim_end_matches(','))).unwrap_or(0.0);
        if line.starts_with("qdisc ") {
            all.push(Discipline {
                kind: words.get(1).copied().unwrap_or_default().to_owned(),
                device: behind("dev").unwrap_or_default().to_owned(),
                is_root: words.contains(&"root"),
                ..Discipline::default()
            });
        } else if let Some(discipline) = all.last_mut().filter(|_| words.first() == Some(&"Sent")) {
            discipline.sent_bytes = count("Sent");
            discipline.dropped = count("(dropped");
        }
    }
    of_all(&all)
}

/// `None` if it is not tc's.
pub(super) fn of_json(documents: &[Value]) -> Option<Result<Readings, String>> {
    let is_tc = documents.first().is_some_and(|first| first["kind"].is_string() && first["dev"].is_string());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = documents.iter().map(|document| Discipline {
        kind: text(&document["kind"]),
        device: text(&document["dev"]),
        is_root: document["root"] == true,
        sent_bytes: document["bytes"].as_f64().unwrap_or(0.0),
        dropped: document["drops"].as_f64().unwrap_or(0.0),
    });
    is_tc.then(|| of_all(&all.collect::<Vec<_>>()))
}

fn of_all(all: &[Discipline]) -> Result<Readings, String> {
    let roots = all.iter().filter(|d| d.is_root && d.device != "lo" && d.kind != "ingress" && d.kind != "clsact");
    let uplink = roots.max_by(|a, b| a.sent_bytes.total_cmp(&b.sent_bytes));
    let uplink =
        uplink.ok_or("it is the output of `tc qdisc`, but has no root of a device in it: run `tc -s qdisc`")?;
    // `mq` only spreads packets over the queues of the device, which have the discipline.
    let child = all.iter().find(|d| uplink.kind == "mq" && d.device == uplink.device && !d.is_root);
    let field = format!("the root of {}", uplink.device);
    let aqm = kernel_name(&child.unwrap_or(uplink).kind).map(|kind| Reading::new(kind, field));
    let mut cautions = Vec::new();
    if uplink.dropped > 0.0 {
        cautions.push(format!(
            "This machine's own queue dropped {:.0} packets. They are not taken for losses of the path.",
            uplink.dropped
        ));
    }
    Ok(Readings { aqm, cautions, ..Readings::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn aqm(text: &str) -> Option<String> {
        assert!(is_tc(text));
        readings(text).unwrap().aqm.map(|aqm| aqm.value)
    }

    #[test]
    fn the_root_of_the_uplink_counts() {
        let lo = "qdisc noqueue 0: dev lo root refcnt 2\n Sent 900 bytes 9 pkt (dropped 0, overlimits 0 requeues 0)\n";
        let idle =
            "qdisc pfifo_fast 0: dev eth1 root refcnt 2\n Sent 7 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)\n";
        let busy =
            "qdisc cake 8001: dev eth0 root refcnt 2\n Sent 500 bytes 5 pkt (dropped 2, overlimits 0 requeues 0)\n";
        assert_eq!(aqm(&[lo, busy, idle].concat()).as_deref(), Some("cake"));
        let read = readings(busy).unwrap();
        assert!(read.cautions[0].contains("dropped 2 packets") && read.losses.is_none());
        let spread = "qdisc mq 0: dev eth0 root\nqdisc fq 0: dev eth0 parent :1 limit 10000p\n";
        assert_eq!(aqm(spread).as_deref(), Some("fq"));
        assert!(readings("qdisc fq 0: dev eth0 parent :1").unwrap_err().contains("tc -s qdisc"));
        let aqm = of_json(&[json!({"kind": "fq_codel", "dev": "eth0", "root": true})]).unwrap().unwrap().aqm.unwrap();
        assert_eq!((&*aqm.value, &*aqm.source), ("fq_codel", "the root of eth0"));
        assert!(of_json(&[json!({"end": {}})]).is_none());
    }
}
