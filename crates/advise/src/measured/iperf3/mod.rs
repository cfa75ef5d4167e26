// SPDX-License-Identifier: MIT OR Apache-2.0
//! `iperf3 --json` and `--json-stream`, of the side that sends or of the one that receives; also a log of several runs, one that broke
//! off, and one with messages in it.

mod course;
mod tcp;
mod udp;

use serde_json::Value;

use super::{
    Direction,
    json::{AGAIN, Documents},
    reading::{Readings, positive, rate_words, shown},
};

/// One test.
#[derive(Debug, Default)]
struct Run {
    start: Value,
    intervals: Vec<Value>,
    end: Value,
    error: Option<String>,
    is_bidir: bool,
}

const PARTS: [&str; 5] = ["start", "intervals", "end", "error", "event"];
/// The fields of an `end` that damage has separated from its run.
const SUMS: [&str; 3] = ["sum_received", "sum_sent", "sum"];

pub fn is_iperf3(json: &Documents) -> bool {
    json.documents.iter().any(|document| PARTS.iter().any(|part| document.get(part).is_some()))
}

/// All runs that measured something.
pub(super) fn readings(json: Documents) -> Result<Vec<Readings>, String> {
    let mut cautions = cautions_of(&json);
    let runs = runs(json.documents);
    let count = runs.len();
    let mut read = Vec::new();
    let mut first_failure = None;
    for (number, run) in (1..).zip(&runs) {
        match run.readings() {
            Ok(readings) => read.push(readings),
            Err(why) => {
                if count > 1 {
                    cautions.push(format!("Run {number} of {count} has no measurement: {}.", sentence(&why)));
                }
                first_failure.get_or_insert(why);
            }
        }
    }
    if count > 1 {
        cautions.insert(
            0,
            format!("The file has {count} runs, which are assumed to be of one path.{}", other_hosts(&runs)),
        );
    }
    match read.first_mut() {
        Some(first) => {
            first.cautions.splice(0..0, cautions);
            Ok(read)
        }
        None => Err(first_failure.unwrap_or_else(|| "it has no run of `iperf3` in it".to_owned())),
    }
}

/// A sentence that follows a colon and gets its full stop later.
fn sentence(why: &str) -> &str {
    why.trim_end_matches(['.', '?'])
}

fn other_hosts(runs: &[Run]) -> &'static str {
    let mut hosts = runs.iter().filter_map(|run| run.start["connected"][0]["remote_host"].as_str());
    let first = hosts.next();
    if hosts.any(|host| Some(host) != first) {
        " They went to different hosts: give each host's runs alone."
    } else {
        ""
    }
}

fn cautions_of(json: &Documents) -> Vec<String> {
    let mut cautions = Vec::new();
    if json.is_cut {
        cautions.push("The file is cut off or damaged: only what is whole was used.".to_owned());
    }
    if let Some(remark) = &json.remark {
        cautions.push(format!("Besides JSON the file contains `{}`.", shown(remark)));
    }
    if json.no_numbers > 0 {
        cautions.push("In the file stands what is no number, as `nan`; it was left out.".to_owned());
    }
    cautions
}

/// Whole documents, the events of a stream, and shreds of a damaged one.
fn runs(documents: Vec<Value>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for mut document in documents {
        let mut take = |part: &str| document.get_mut(part).map(Value::take);
        match take("event").as_ref().and_then(Value::as_str).map(str::to_owned) {
            Some(event) => of_event(&mut runs, &event, take("data").unwrap_or_default()),
            None if PARTS.iter().any(|part| document.get(part).is_some()) => {
                let mut take = |part: &str| document.get_mut(part).map(Value::take);
                runs.push(Run {
                    start: take("start").unwrap_or_default(),
                    intervals: take("intervals").and_then(|all| all.as_array().cloned()).unwrap_or_default(),
                    end: take("end").unwrap_or_default(),
                    error: take("error").and_then(|error| error.as_str().map(shown)),
                    is_bidir: false,
                });
            }
            None if document.get("sum_sent").is_some() => of_event(&mut runs, "end", document),
            None if document.get("streams").is_some() => of_event(&mut runs, "interval", document),
            None => {}
        }
    }
    for run in &mut runs {
        run.is_bidir = run.start["test_start"]["bidir"] == 1
            || ["sum_sent_bidir_reverse", "sum_received_bidir_reverse"].iter().any(|key| run.end.get(key).is_some())
            || SUMS.iter().any(|key| run.end.get(format!("{key}{AGAIN}")).is_some());
    }
    runs
}

fn of_event(runs: &mut Vec<Run>, event: &str, data: Value) {
    if event == "start" || runs.is_empty() {
        runs.push(Run::default());
    }
    let Some(run) = runs.last_mut() else { return };
    match event {
        "start" => run.start = data,
        "interval" => run.intervals.push(data),
        "end" => run.end = data,
        "error" => run.error = data.as_str().map(shown),
        _ => {}
    }
}

impl Run {
    fn readings(&self) -> Result<Readings, String> {
        let is_udp = self.start["test_start"]["protocol"] == "UDP"
            || self.end["sum"].get("lost_packets").is_some()
            || self.end["streams"][0].get("udp").is_some();
        let mut readings = if is_udp { udp::readings(self) } else { tcp::readings(self) }?;
        readings.direction = self.direction();
        if let Some(error) = &self.error {
            readings
                .cautions
                .push(format!("The run ended with the error `{error}`: what was measured until then was used."));
        }
        if self.is_bidir {
            readings.cautions.push(self.of_download());
        }
        Ok(readings)
    }

    /// Why nothing is in it.
    fn failure(&self) -> String {
        match &self.error {
            Some(error) => format!("iperf3 failed: {error}"),
            None if self.end.is_null() && self.intervals.is_empty() => {
                "it has no `end`, which `iperf3 --json` writes, and no intervals: did the test run to its end?"
                    .to_owned()
            }
            None => "it has no throughput above 0 in `end` or in `intervals`: did the test run to its end?".to_owned(),
        }
    }

    /// A sum of `end`. From 3.7 to 3.9 `--bidir` writes both directions under the same key; the one in which this machine sends is meant.
    fn sum(&self, key: &str) -> &Value {
        let (first, again) = (&self.end[key], &self.end[format!("{key}{AGAIN}")]);
        if self.is_bidir && first["sender"] == false && again["sender"] == true { again } else { first }
    }

    /// The streams in which this machine sends, if it does both.
    fn streams(&self) -> impl Iterator<Item = &Value> {
        let streams = self.end["streams"].as_array().map_or(&[][..], Vec::as_slice);
        streams.iter().filter(|stream| !self.is_bidir || stream["sender"]["sender"] != false)
    }

    fn flows(&self) -> Option<u32> {
        let asked = self.start["test_start"]["num_streams"].as_u64().filter(|flows| *flows > 0);
        let flows = asked.or_else(|| u64::try_from(self.streams().count()).ok().filter(|flows| *flows > 0));
        flows.and_then(|flows| u32::try_from(flows).ok())
    }

    /// Whether this machine sends: newer versions say so, otherwise the role and `-R` tell; without the role, which side has counted.
    fn direction(&self) -> Option<Direction> {
        let of = |sends| Some(if sends { Direction::Sends } else { Direction::Receives });
        if self.is_bidir {
            return of(true);
        }
        let sums = SUMS.iter().map(|key| &self.end[*key]);
        let flagged =
            sums.chain([&self.end["streams"][0]["sender"], &self.intervals.first().unwrap_or(&Value::Null)["sum"]]);
        if let Some(sends) = flagged.filter_map(|sum| sum["sender"].as_bool()).next() {
            return of(sends);
        }
        let test = self.start.get("test_start")?;
        let is_reverse = number(&test["reverse"]).is_some() || test["reverse"] == true;
        let is_server = if self.start.get("accepted_connection").is_some() {
            true
        } else if self.start.get("connecting_to").is_some() {
            false
        } else {
            // A server knows only of its own end.
            let [sent, received] = ["sum_sent", "sum_received"].map(|key| number(&self.end[key]["bytes"]).is_some());
            if is_reverse { sent && !received } else { received && !sent }
        };
        of(is_server == is_reverse)
    }

    fn of_download(&self) -> String {
        let sums = ["sum_received_bidir_reverse".to_owned(), format!("sum_received{AGAIN}")];
        let rate = sums.iter().find_map(|key| number(&self.end[key]["bits_per_second"]));
        let rate = rate.map_or_else(String::new, |bps| format!(" of {}", rate_words(bps)));
        format!("It is a test with `--bidir`: the download{rate} was not used, as the other machine sends it.")
    }
}

/// A number above 0.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().and_then(positive)
}

#[cfg(test)]
mod tests;
