// SPDX-License-Identifier: MIT OR Apache-2.0
//! The course of a trial, from its beginning to what ends it.

use std::{
    io::{IsTerminal, Write, stderr},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde::Serialize;
use tandem_kernel::{
    available,
    sockops::{ArmCounts, Connection, Trial},
};
use tandem_trial::{Answer, Evidence, Record};

use super::results::Results;
use crate::{failure::Failure, interrupt::is_interrupted, terminal::is_quiet};

/// Between looks at what has ended.
const TICK: Duration = Duration::from_millis(200);
/// Between looks at the answer.
const LOOK: Duration = Duration::from_secs(1);
/// Between writes of the files; what is not written yet is lost by a kill.
const WRITE: Duration = Duration::from_secs(30);
/// This many rows are written at once.
const ROWS: usize = 20_000;

/// What ends a trial.
pub enum End {
    /// Its time is over.
    Time,
    /// Somebody.
    Interrupted,
    /// A guard rail.
    Guard(&'static str),
    /// The kernel does not have this controller any more.
    Gone(String),
}

/// What `results.json` has, and `--json` prints.
#[derive(Serialize)]
pub struct Outcome {
    /// Why it ended; `None` while it goes on.
    pub ended_by: Option<String>,
    /// How long it has gone on.
    pub elapsed_s: f64,
    /// What the kernel counted for each arm.
    pub counts: [ArmCounts; 2],
    /// What the connections say.
    #[serde(flatten)]
    pub answer: Answer,
}

/// How the difference of all connections changed: seconds, and the interval in percent.
#[derive(Default)]
pub struct History {
    pub time_s: Vec<f64>,
    pub value: Vec<f64>,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

impl History {
    fn add(&mut self, time_s: f64, answer: &Answer) {
        let Some(change) = answer.rows[0].goodput_change else { return };
        for (list, value) in [
            (&mut self.time_s, time_s),
            (&mut self.value, change.value * 100.0),
            (&mut self.low, change.low * 100.0),
            (&mut self.high, change.high * 100.0),
        ] {
            list.push(value);
        }
    }
}

pub struct Course {
    /// `None` when it has ended.
    kernel: Option<Trial>,
    counts: [ArmCounts; 2],
    evidence: Evidence,
    results: Results,
    history: History,
    began: Instant,
    length: Option<Duration>,
    unwritten: Vec<Record>,
    /// The connection of the second controller that sent most.
    largest: Option<Record>,
}

impl Course {
    pub fn new(kernel: Trial, evidence: Evidence, results: Results, length: Option<Duration>) -> Self {
        Self {
            kernel: Some(kernel),
            counts: Default::default(),
            evidence,
            results,
            history: History::default(),
            began: Instant::now(),
            length,
            unwritten: Vec::new(),
            largest: None,
        }
    }

    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Until something ends it.
    pub fn run(&mut self) -> Result<End, Failure> {
        let (mut looked, mut written) = (self.began, self.began);
        loop {
            thread::sleep(TICK);
            self.collect()?;
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if let Some(end) = self.look()? {
                    return Ok(end);
                }
            }
            if self.unwritten.len() >= ROWS || written.elapsed() >= WRITE {
                written = Instant::now();
                self.write(None)?;
            }
            if is_interrupted() {
                return Ok(End::Interrupted);
            }
            if self.length.is_some_and(|length| self.began.elapsed() >= length) {
                return Ok(End::Time);
            }
        }
    }

    /// Takes what has ended since the last time.
    fn collect(&mut self) -> Result<(), Failure> {
        let Some(kernel) = &self.kernel else { return Ok(()) };
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let mut ended = Vec::new();
        kernel.collect(|connection| ended.push(record(kernel, connection, now_s)))?;
        for record in ended {
            self.evidence.add(&record);
            if record.arm == 1 && record.bytes > self.largest.as_ref().map_or(0, |largest| largest.bytes) {
                self.largest = Some(record.clone());
            }
            self.unwritten.push(record);
        }
        self.counts = kernel.counts()?;
        Ok(())
    }

    /// Does something end it?
    fn look(&mut self) -> Result<Option<End>, Failure> {
        let answer = self.evidence.answer();
        self.history.add(self.began.elapsed().as_secs_f64(), &answer);
        self.show(&answer);
        if let Some(guard) = answer.broken() {
            return Ok(Some(End::Guard(guard.what)));
        }
        let there = available()?;
        let gone = answer.arms.iter().find(|name| !there.contains(name));
        Ok(gone.map(|name| End::Gone(name.clone())))
    }

    /// A line on the terminal that is written over.
    fn show(&self, answer: &Answer) {
        if is_quiet() || !stderr().is_terminal() {
            return;
        }
        let change = answer.rows[0]
            .goodput_change
            .map_or_else(|| "too few to compare".to_owned(), |change| format!("goodput {}", change.percent()));
        let [first, second] = answer.totals.map(|totals| totals.connections);
        let needed = answer.connections_to_show.map_or_else(String::new, |n| {
            format!(", 5 % shows after {n:.0} ({:.0} %)", (answer.counted as f64 / n * 100.0).min(100.0))
        });
        let seconds = self.began.elapsed().as_secs();
        let _ = write!(stderr(), "\r\x1b[K{seconds} s: {first} + {second} connections, {change}{needed}");
    }

    fn write(&mut self, ended_by: Option<String>) -> Result<Outcome, Failure> {
        self.results.write_connections(&self.unwritten)?;
        self.unwritten.clear();
        let answer = self.evidence.answer();
        let outcome = Outcome { ended_by, elapsed_s: self.began.elapsed().as_secs_f64(), counts: self.counts, answer };
        self.results.write_answer(&outcome, &self.history)?;
        if let Some(largest) = &self.largest {
            self.results.write_path(largest)?;
        }
        Ok(outcome)
    }

    /// Ends it in the kernel, then takes and writes what is left.
    pub fn finish(&mut self, end: &End) -> Result<Outcome, Failure> {
        if !is_quiet() && stderr().is_terminal() {
            let _ = writeln!(stderr());
        }
        self.collect()?;
        drop(self.kernel.take());
        let answer = self.evidence.answer();
        self.history.add(self.began.elapsed().as_secs_f64(), &answer);
        let ended_by = match end {
            End::Time => "time".to_owned(),
            End::Interrupted => "interrupt".to_owned(),
            End::Guard(what) => format!("guard rail: {what}"),
            End::Gone(name) => format!("controller gone: {name}"),
        };
        self.write(Some(ended_by))
    }
}

fn record(kernel: &Trial, connection: &Connection, now_s: f64) -> Record {
    let [busy_s, rwnd_limited_s, sndbuf_limited_s] = kernel.busy_s(connection);
    // What is over within a jiffy took some of it.
    let busy_s = busy_s.max(0.5 * kernel.jiffy_s());
    let positive = |us: u32| (us > 0).then_some(us);
    Record {
        time_s: now_s,
        arm: connection.arm as usize,
        peer: connection.address(),
        port: connection.port(),
        is_accepted: connection.is_accepted(),
        is_established: connection.is_established(),
        bytes: connection.bytes_sent(),
        bytes_received: connection.bytes_received(),
        duration_s: (connection.ended_ns - connection.began_ns) as f64 / 1e9,
        busy_s,
        rwnd_limited_s,
        sndbuf_limited_s,
        srtt_us: positive(connection.srtt_us),
        min_rtt_us: positive(connection.min_rtt_us),
        segments: connection.segments,
        retransmitted: connection.retransmitted,
        cwnd_packets: connection.cwnd,
    }
}
