// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `mtr --report`, `--csv` and `--json` print: a row of numbers for each hop, of which the last is the peer. The head names the
//! columns, which a user may choose.

use serde_json::Value;

use super::{
    ping::Summary,
    reading::{Losses, Reading, Readings, number, positive},
};

pub fn is_mtr(text: &str) -> bool {
    text.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    line.contains("Loss%") && line.contains("Best")
}

pub(super) fn readings(text: &str) -> Result<Readings, String> {
    let mut lines = text.lines().skip_while(|line| !is_head(line));
    let head = lines.next().map(columns).unwrap_or_default();
    // From the right, because the columns on the left are names. A row that is shorter is another address of the hop.
    let best = head.iter().rev().position(|name| *name == "Best");
    let rows =
        lines.map(columns).filter(|row| best.and_then(|at| percent_or_number(row.iter().rev().nth(at)?)).is_some());
    let last = rows.last().ok_or("it is the output of `mtr`, but has no hop in it")?;
    of_hop(|name| {
        let at = head.iter().rev().position(|column| *column == name)?;
        percent_or_number(last.iter().rev().nth(at)?)
    })
}

/// `None` if it is not mtr's.
pub(super) fn of_json(document: &Value) -> Option<Result<Readings, String>> {
    let hubs = document["report"]["hubs"].as_array()?;
    let last = hubs.last().map(|hub| of_hop(|name| hub[name].as_f64()));
    Some(last.unwrap_or_else(|| Err("it is the JSON of `mtr`, but has no hop in it".to_owned())))
}

fn columns(line: &str) -> Vec<&str> {
    let line = line.trim_end().trim_end_matches(',');
    if line.contains(',') { line.split(',').map(str::trim).collect() } else { line.split_whitespace().collect() }
}

fn percent_or_number(text: &str) -> Option<f64> {
    number(text.trim_end_matches('%'))
}

fn of_hop(column: impl Fn(&str) -> Option<f64>) -> Result<Readings, String> {
    let least_ms = column("Best").and_then(positive);
    let least_ms = least_ms
        .ok_or("the last hop of the `mtr` did not answer, so it has no RTT of the path: run `ping -c 20 HOST`")?;
    let losses = column("Snt").zip(column("Loss%"));
    let losses = losses.map(|(packets, percent)| Losses { lost: (packets * percent / 100.0).round(), packets });
    let summary = column("Avg").zip(column("Wrst")).map(|(mean_ms, most_ms)| Summary {
        least_ms,
        mean_ms,
        most_ms,
        deviation_ms: column("StDev"),
    });
    Ok(Readings {
        least_rtt_ms: Some(Reading::new(least_ms, "Best of the last hop")),
        busy_rtt_ms: summary.map(|s| Reading::new(s.busy_ms(), "Avg, Wrst and StDev of the last hop")),
        losses: losses.map(|losses| Reading::new(losses, "Loss% of the last hop")),
        ..Readings::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_hop_is_the_peer() {
        let text = "HOST: a        Loss%   Snt   Last   Avg  Best  Wrst StDev\n\
                    1.|-- 192.0.2.1   0.0%    50    0.4   0.5   0.3   1.9   0.2\n\
                    2.|-- 192.0.2.9   2.0%    50   42.1  42.5  41.9  44.0   0.6\n      |  `|-- 192.0.2.8\n";
        assert!(is_mtr(text));
        let read = readings(text).unwrap();
        assert_eq!(read.least_rtt_ms.unwrap().value, 41.9);
        // 42.5 is within a tenth of 41.9.
        assert_eq!(read.busy_rtt_ms.unwrap().value, 42.5);
        assert_eq!(read.losses.unwrap().value, Losses { lost: 1.0, packets: 50.0 });
        let csv = "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n\
                   MTR.0.95,1700000000,OK,h,1,192.0.2.1,0.00,10,0,0.41,0.44,0.37,0.55,0.06\n\
                   MTR.0.95,1700000000,OK,h,2,192.0.2.9,0.00,10,0,42.0,42.4,41.8,43.5,0.5\n";
        assert_eq!(readings(csv).unwrap().least_rtt_ms.unwrap().value, 41.8);
        let hubs = json!({"report": {"hubs": [{"Best": 0.3}, {"Best": 41.7, "Snt": 10, "Loss%": 10.0}]}});
        let read = of_json(&hubs).unwrap().unwrap();
        assert_eq!((read.least_rtt_ms.unwrap().value, read.losses.unwrap().value.lost), (41.7, 1.0));
    }

    #[test]
    fn a_last_hop_that_is_silent_tells_nothing() {
        let text = "HOST: a        Loss%   Snt   Last   Avg  Best  Wrst StDev\n\
                    1.|-- 192.0.2.1   0.0%    50    0.4   0.5   0.3   1.9   0.2\n\
                    2.|-- ???       100.0    50    0.0   0.0   0.0   0.0   0.0\n";
        assert!(readings(text).unwrap_err().contains("run `ping"));
        assert!(readings("Loss% Best\n").unwrap_err().contains("no hop"));
        assert!(of_json(&json!({"end": {}})).is_none());
    }
}
