// SPDX-License-Identifier: MIT OR Apache-2.0
//! A path from measurements that people have: `iperf3 --json`, `ping`, `ss -ti` and others. docs/advise.md has the table of what is
//! inferred from what. Each kind of file has its reader, all make `Readings`, and `infer` makes the path of all of them together.

mod decode;
mod infer;
mod iperf3;
mod json;
mod limit;
mod mtr;
mod nstat;
mod other;
mod ping;
mod reading;
mod ss;
mod tc;

use std::path::{Path, PathBuf};

use serde::Serialize;
use tandem_scenario::{
    bounded::{self, MEASUREMENT_BYTES},
    effects::BucketSpec,
    units::{LossRate, QueueSize, Rate, Span},
};

use reading::Readings;

/// A file that says nothing about a path: which, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeasuredError {
    /// It cannot be read.
    #[error("cannot read `{path}`: {cause}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the operating system said.
        cause: String,
    },
    /// It holds no measurement that is known here, or one that failed.
    #[error("`{path}`: {why}")]
    Useless {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
}

/// An inferred value in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inferred {
    /// `rate`, `rtt`, `queue`, `loss` or `policer`.
    pub what: &'static str,
    /// The value with its unit.
    pub value: String,
    /// The file and the field.
    pub source: String,
    /// `at least`, `at most`, `a guess`, with the reason.
    pub surety: String,
}

/// How something is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The observation, as the end of a sentence.
    pub words: String,
    /// The file and the field.
    pub source: String,
}

/// What kept the measured flow from being faster, and how it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum LimitedBy {
    /// Losses without a queue: its controller reaches no more at this loss rate. The path may be faster.
    Loss(Evidence),
    /// The receiver's window. No controller changes it.
    ReceiveWindow(Evidence),
    /// The sender's buffer. No controller changes it.
    SendBuffer(Evidence),
    /// The application had no more to send, or was told to send no more.
    Application(Evidence),
    /// A processor at one of the ends was busy all the time.
    Processor(Evidence),
    /// A policer: what exceeded its rate was dropped, once a burst had passed.
    Policer(Evidence),
    /// A full Ethernet, of this machine or on the way: the rate is its rate.
    Port(Evidence),
    /// The path was full: the rate is its rate.
    Path(Evidence),
}

impl LimitedBy {
    /// How it is known.
    pub fn evidence(&self) -> &Evidence {
        match self {
            Self::Loss(e) | Self::ReceiveWindow(e) | Self::SendBuffer(e) | Self::Application(e) => e,
            Self::Processor(e) | Self::Policer(e) | Self::Port(e) | Self::Path(e) => e,
        }
    }

    /// In two or three words, as the subject of a sentence.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Loss(_) => "random loss",
            Self::ReceiveWindow(_) => "the receiver's window",
            Self::SendBuffer(_) => "the sender's buffer",
            Self::Application(_) => "the application",
            Self::Processor(_) => "the processor",
            Self::Policer(_) => "a policer",
            Self::Port(_) => "a full port",
            Self::Path(_) => "the path",
        }
    }
}

/// Which way the bulk of the measured data went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Direction {
    /// The measuring machine sends: its controller counts.
    Sends,
    /// It receives: only the other end's controller counts.
    Receives,
}

/// A TCP transfer that was measured, as far as it can be run again.
#[derive(Debug, Clone, PartialEq)]
pub struct Transferred {
    /// Payload of all connections together, Mb/s.
    pub goodput_mbps: f64,
    /// As the kernel spells it, without the `tandem_` of one whose own name was taken.
    pub controller: String,
    /// How many connections.
    pub flows: u32,
    /// How long it went on, from its start; not known of connections that were only looked at.
    pub seconds: Option<f64>,
    /// The file and the field of the goodput.
    pub source: String,
}

/// A path, as far as measurements show it.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The transfer that tells the rate, if its controller is known.
    pub transferred: Option<Transferred>,
    /// The bottleneck's rate.
    pub rate: Option<Rate>,
    /// The rate is a lower bound: nothing shows that the path was full.
    pub rate_at_least: bool,
    /// What kept the flow that tells the rate from being faster, if it is known.
    pub limited_by: Option<LimitedBy>,
    /// Which way that flow went.
    pub direction: Option<Direction>,
    /// How many connections made that rate together, if all measurements had as many.
    pub flows: Option<u32>,
    /// Bytes of its IP packets, if they are known and are not the usual ones.
    pub mtu: Option<u32>,
    /// The controller of its sender.
    pub controller: Option<String>,
    /// The queue discipline of this machine's uplink, as the kernel spells it.
    pub aqm: Option<String>,
    /// Two-way propagation delay.
    pub rtt: Option<Span>,
    /// The bottleneck's buffer.
    pub queue: Option<QueueSize>,
    /// Random loss.
    pub loss: Option<LossRate>,
    /// A policer: its rate and burst.
    pub policer: Option<BucketSpec>,
    /// Packets were lost together while no queue was there.
    pub bursts: Option<Evidence>,
    /// The same in words, with what each comes from.
    pub inferred: Vec<Inferred>,
    /// What the files lack, or which parts of them were not used: whole sentences, without the last full stop.
    pub cautions: Vec<String>,
}

/// Reads files, each of one of the kinds, and infers the path from all of them together.
///
/// # Errors
/// A file cannot be read, or is of no known kind.
pub fn read(files: &[PathBuf]) -> Result<Measured, MeasuredError> {
    let readings = files.iter().map(|file| read_file(file)).collect::<Result<Vec<_>, _>>()?;
    Ok(infer::infer(readings.into_iter().flatten().collect()))
}

fn read_file(path: &Path) -> Result<Vec<Readings>, MeasuredError> {
    let shown = path.display().to_string();
    let unreadable = |e: std::io::Error| MeasuredError::Unreadable { path: shown.clone(), cause: e.to_string() };
    let text = decode::text(&bounded::read(path, MEASUREMENT_BYTES).map_err(unreadable)?);
    let name = path.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let name = name.replace(char::is_control, " ");
    let readings = readings(&text).map_err(|why| MeasuredError::Useless { path: shown, why })?;
    Ok(readings.into_iter().map(|run| run.of_file(&name)).collect())
}

/// Recognises each kind by a feature of its own. Ping is last, because only its shape identifies it.
fn readings(text: &str) -> Result<Vec<Readings>, String> {
    let one = |readings: Result<Readings, String>| readings.map(|readings| vec![readings]);
    if let Some(readings) = of_json(text) {
        readings
    } else if let Some(why) = other::refusal(text) {
        Err(why)
    } else if ss::is_ss(text) {
        one(ss::readings(text))
    } else if tc::is_tc(text) {
        one(tc::readings(text))
    } else if nstat::is_nstat(text) {
        one(nstat::readings(text))
    } else if mtr::is_mtr(text) {
        one(mtr::readings(text))
    } else if ping::is_ping(text) {
        one(ping::readings(text))
    } else if text.trim_start().starts_with(['{', '[']) {
        Err("it begins as JSON but is no valid JSON, or is cut off before anything was measured".to_owned())
    } else {
        Err("it is none of these: `iperf3 --json`, the output of `ping`, the output of `ss -ti`, `mtr --report`, \
             `fping -c`, `nstat`, `tc -s qdisc`"
            .to_owned())
    }
}

/// `None` if there is no JSON in it that a tool writes.
fn of_json(text: &str) -> Option<Result<Vec<Readings>, String>> {
    let json = json::documents(text);
    let first = json.documents.first()?;
    if iperf3::is_iperf3(&json) {
        Some(iperf3::readings(json))
    } else if let Some(readings) = mtr::of_json(first).or_else(|| nstat::of_json(first)) {
        Some(readings.map(|readings| vec![readings]))
    } else if let Some(readings) = tc::of_json(&json.documents) {
        Some(readings.map(|readings| vec![readings]))
    } else {
        let is_json = text.trim_start().starts_with(['{', '[']);
        is_json.then(|| Err("it is JSON, but has no `end`, which `iperf3 --json` writes".to_owned()))
    }
}

#[cfg(test)]
mod tests;
