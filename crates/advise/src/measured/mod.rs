// SPDX-License-Identifier: MIT OR Apache-2.0
//! A path from measurements that people have: `iperf3 --json`, `ping`, `ss -ti`. docs/advise.md has the table of what is inferred from what.

mod iperf3;
mod ping;
mod ss;
mod text;

use std::path::{Path, PathBuf};

use serde::Serialize;
use tandem_scenario::{
    DEFAULT_MTU, HEADER_BYTES,
    bounded::{self, MEASUREMENT_BYTES},
    units::{LossRate, QueueSize, Rate, Span},
};

/// A file that tells nothing of a path: which, and why.
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

/// A number, and where in which file it stands.
#[derive(Debug, Clone, PartialEq)]
struct Reading<T> {
    value: T,
    source: String,
}

/// Packets sent again, or lost, of how many.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Losses {
    lost: f64,
    packets: f64,
}

/// What one file says, before it is known what it means.
#[derive(Debug, Default, PartialEq)]
struct Readings {
    /// Payload that arrived, bits a second.
    payload_bps: Option<Reading<f64>>,
    /// Payload of a full packet, bytes.
    mss: Option<f64>,
    least_rtt_ms: Option<Reading<f64>>,
    /// The largest RTT that says something of a busy path.
    busy_rtt_ms: Option<Reading<f64>>,
    losses: Option<Reading<Losses>>,
    limited_by: Option<Reading<LimitedBy>>,
    /// Who sent.
    controller: Option<String>,
    /// This machine was sent the data.
    receives: bool,
    connections: Option<u32>,
    /// Whole sentences, without the full stop.
    cautions: Vec<String>,
}

/// What held a flow back, that was not the path's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// Losses, after each of which it grew again.
    Loss,
    /// What the receiver had room for.
    ReceiveWindow,
    /// What the sender could keep until it was acknowledged.
    SendBuffer,
}

/// An inferred value in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inferred {
    /// `rate`, `rtt`, `queue`, `loss` or `flows`.
    pub what: &'static str,
    /// The value with its unit.
    pub value: String,
    /// The file and the field.
    pub source: String,
    /// `at least`, `at most`, `a guess`, with the reason.
    pub surety: String,
}

/// A path as far as measurements tell.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The bottleneck's rate.
    pub rate: Option<Rate>,
    /// Two-way propagation delay.
    pub rtt: Option<Span>,
    /// The bottleneck's buffer.
    pub queue: Option<QueueSize>,
    /// Random loss.
    pub loss: Option<LossRate>,
    /// Bytes of a full packet, where they are not the usual ones.
    pub mtu: Option<u32>,
    /// What held the flow back: then the path is faster.
    pub limited_by: Option<LimitedBy>,
    /// This machine received; the advice is the other side's.
    pub receives: bool,
    /// How many connections were measured together.
    pub connections: Option<u32>,
    /// The values in words, with what each comes from.
    pub inferred: Vec<Inferred>,
    /// What the files lack; whole sentences, without the full stop.
    pub cautions: Vec<String>,
}

/// A busy path's RTT is above the idle one's by at least this share and this time, or its queue was not seen. Ours.
const QUEUED_SHARE: f64 = 0.1;
const QUEUED_MS: f64 = 1.0;
/// Fewer packets than this tell nothing of a loss rate.
const FEW_PACKETS: f64 = 1000.0;

/// Reads files, each of one of the kinds, and infers the path from all of them together.
///
/// # Errors
/// A file cannot be read, or is of no known kind.
pub fn read(files: &[PathBuf]) -> Result<Measured, MeasuredError> {
    let readings = files.iter().map(|file| read_file(file)).collect::<Result<Vec<_>, _>>()?;
    Ok(infer(&readings))
}

fn read_file(path: &Path) -> Result<Readings, MeasuredError> {
    let shown = path.display().to_string();
    let unreadable = |e: std::io::Error| MeasuredError::Unreadable { path: shown.clone(), cause: e.to_string() };
    let text = bounded::read(path, MEASUREMENT_BYTES).map_err(unreadable)?;
    let text = text::decoded(&text);
    let name = path.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
    let is_json = text.trim_start().starts_with(['{', '[']) || text.contains("\"start\"");
    let readings = if is_json {
        iperf3::readings(&text)
    } else if ping::is_ping(&text) {
        ping::readings(&text)
    } else if ss::is_ss(&text) {
        ss::readings(&text)
    } else {
        Err(no_measurement(&text))
    };
    let name = name.replace(char::is_control, " ");
    readings.map(|readings| readings.of_file(&name)).map_err(|why| MeasuredError::Useless { path: shown, why })
}

/// What a file is not; of tools that people try, with what to run instead.
fn no_measurement(text: &str) -> String {
    let instead = [
        (&["[ ID]", "Interval"][..], "the text of `iperf3`: run it with `--json`"),
        (&["HOST:", "Loss%"], "a report of `mtr`: run `ping -c 20 HOST`"),
        (&["xmt/rcv/%loss"], "the output of `fping`: run `ping -c 20 HOST`"),
        (&["qdisc "], "the output of `tc`: give the discipline as `--aqm`"),
        (
            &["TcpRetransSegs"],
            "the output of `nstat`, which counts all paths together: run `ss -ti` while data is sent",
        ),
    ];
    let found = instead.iter().find(|(marks, _)| marks.iter().all(|mark| text.contains(mark)));
    let kinds = "it is none of these: `iperf3 --json`, the output of `ping`, the output of `ss -ti`";
    found.map_or(kinds.to_owned(), |(_, what)| format!("it is {what}"))
}

impl<T> Reading<T> {
    fn new(value: T, field: impl Into<String>) -> Self {
        Self { value, source: field.into() }
    }

    fn of_file(self, file: &str) -> Self {
        Self { source: format!("{file}: {}", self.source), ..self }
    }
}

impl Readings {
    fn of_file(self, file: &str) -> Self {
        Self {
            payload_bps: self.payload_bps.map(|r| r.of_file(file)),
            least_rtt_ms: self.least_rtt_ms.map(|r| r.of_file(file)),
            busy_rtt_ms: self.busy_rtt_ms.map(|r| r.of_file(file)),
            losses: self.losses.map(|r| r.of_file(file)),
            limited_by: self.limited_by.map(|r| r.of_file(file)),
            cautions: self.cautions.into_iter().map(|caution| format!("{file}: {caution}")).collect(),
            ..self
        }
    }
}

/// The reading for which `key` is largest.
fn largest<T>(readings: impl Iterator<Item = Option<Reading<T>>>, key: impl Fn(&T) -> f64) -> Option<Reading<T>> {
    readings.flatten().max_by(|a, b| key(&a.value).total_cmp(&key(&b.value)))
}

fn infer(all: &[Readings]) -> Measured {
    let mut path = Measured {
        receives: all.iter().any(|r| r.receives),
        connections: all.iter().filter_map(|r| r.connections).max(),
        cautions: all.iter().flat_map(|r| r.cautions.clone()).collect(),
        ..Measured::default()
    };
    let mss = all.iter().filter_map(|r| r.mss).reduce(f64::max);
    path.mtu = mss.filter(|mss| *mss > JUMBO_MSS).map(|mss| mss as u32 + HEADER_BYTES);
    if let Some(payload) = largest(all.iter().map(|r| r.payload_bps.clone()), |bps| *bps) {
        path.infer_rate(payload);
    }
    let least = largest(all.iter().map(|r| r.least_rtt_ms.clone()), |ms| -ms);
    let busy = largest(all.iter().map(|r| r.busy_rtt_ms.clone()), |ms| *ms);
    if let Some(least) = &least {
        path.infer_rtt(least);
    }
    if let (Some(least), Some(busy)) = (&least, &busy) {
        path.infer_queue(least, busy);
    }
    let losses = largest(all.iter().map(|r| r.losses.clone()), |losses| losses.packets);
    // Without an RTT of the busy path nobody knows whether a queue dropped them.
    if let Some(losses) = losses.filter(|r| r.value.packets >= FEW_PACKETS && (busy.is_some() || r.value.lost == 0.0)) {
        path.infer_loss(losses);
    }
    if let Some(connections) = path.connections.filter(|connections| *connections > 1) {
        path.note("flows", connections.to_string(), "the connections".to_owned(), "as many as were measured");
    }
    let controller = all.iter().find_map(|r| r.controller.as_deref());
    path.limited_by = all.iter().find_map(|r| r.limited_by.as_ref().map(|by| by.value));
    if path.limited_by.is_none() && path.was_limited_by_loss(mss, controller) {
        path.limited_by = Some(LimitedBy::Loss);
    }
    path
}

/// Packets that carry more than an Ethernet frame does.
const JUMBO_MSS: f64 = 1460.0;
/// A flow that got no more than this many times what its losses allow was held by them: losses come several at a time, and only the first counts. Ours.
const NEAR_RESPONSE: f64 = 3.0;

/// Has a busy path a queue, by its RTT?
fn is_queued(least_ms: f64, busy_ms: f64) -> bool {
    busy_ms - least_ms >= QUEUED_MS && busy_ms - least_ms >= QUEUED_SHARE * least_ms
}

/// The mean window, packets, that losses with this probability leave to Reno, or to CUBIC where that is larger (RFC 9438 section 5.2).
fn response_packets(loss: f64, rtt_s: f64) -> f64 {
    let reno = (1.5 / loss).sqrt();
    let cubic = 1.054 * (rtt_s / loss).powf(0.75);
    reno.max(cubic)
}

impl Measured {
    /// With this loss by chance and this RTT a loss-based flow gets about what was measured; BBR does not go by losses.
    fn was_limited_by_loss(&self, mss: Option<f64>, controller: Option<&str>) -> bool {
        let (Some(rate), Some(rtt), Some(LossRate(loss))) = (self.rate, self.rtt, self.loss) else { return false };
        let packets_per_s = rate.bps as f64 / 8.0 / (mss.unwrap_or(1448.0) + f64::from(HEADER_BYTES));
        let flows = f64::from(self.connections.unwrap_or(1));
        let window = packets_per_s * rtt.as_secs_f64() / flows;
        let goes_by_loss = controller.is_none_or(|name| !name.starts_with("bbr"));
        goes_by_loss && loss > 0.0 && window <= NEAR_RESPONSE * response_packets(loss, rtt.as_secs_f64())
    }

    /// What arrived, with headers.
    fn infer_rate(&mut self, payload: Reading<f64>) {
        let mtu = self.mtu.unwrap_or(DEFAULT_MTU);
        let bps = payload.value * f64::from(mtu) / f64::from(mtu - HEADER_BYTES);
        self.rate = format!("{}bit", three_digits(bps)).parse().ok();
        let rate = self.rate.map_or_else(String::new, |rate| rate.to_string());
        let surety = "at least: what arrived, with headers; the flow may not have filled the path";
        self.note("rate", rate, payload.source, surety);
    }

    fn infer_rtt(&mut self, least: &Reading<f64>) {
        let rtt = Span { ns: (least.value * 1e3).round().max(1.0) as u64 * 1000 };
        self.rtt = Some(rtt);
        let surety = "at most: the smallest seen; a queue that was never empty is part of it";
        self.note("rtt", rtt.to_string(), least.source.clone(), surety);
    }

    /// None, if the RTTs of the idle and of the busy path differ by too little.
    fn infer_queue(&mut self, least: &Reading<f64>, busy: &Reading<f64>) {
        let queued_ms = busy.value - least.value;
        if !is_queued(least.value, busy.value) {
            return;
        }
        let queue = QueueSize::Time(Span { ns: (queued_ms * 10.0).round() as u64 * 100_000 });
        self.queue = Some(queue);
        let source = format!("{}, less the RTT", busy.source);
        self.note("queue", queue.to_string(), source, "at least: the longest wait seen; a full queue may be longer");
    }

    /// After the queue: what was lost while there was one, it dropped.
    fn infer_loss(&mut self, Reading { value: Losses { lost, packets }, source }: Reading<Losses>) {
        let (share, surety) = if lost == 0.0 {
            (0.0, format!("nothing was lost in {packets:.0} packets: at most {} (95 %)", scientific(3.0 / packets)))
        } else if self.queue.is_some() {
            let why = format!(
                "a guess: {lost:.0} of {packets:.0} packets were lost while a queue stood, so the full queue dropped them"
            );
            (0.0, why)
        } else {
            let why =
                format!("a guess: {lost:.0} of {packets:.0} packets were lost and no queue was seen, so it was chance");
            ((lost / packets).min(0.99), why)
        };
        self.loss = scientific(share).parse().ok();
        self.note("loss", scientific(share), source, surety);
    }

    fn note(&mut self, what: &'static str, value: String, source: String, surety: impl Into<String>) {
        self.inferred.push(Inferred { what, value, source, surety: surety.into() });
    }
}

/// More digits than three nobody measures.
fn three_digits(value: f64) -> u64 {
    let scale = 10f64.powf((value.log10().floor() - 2.0).max(0.0));
    ((value / scale).round() * scale) as u64
}

fn scientific(share: f64) -> String {
    if share == 0.0 { "0".to_owned() } else { format!("{share:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
    }

    fn measured(names: &[&str]) -> Measured {
        let files: Vec<PathBuf> = names.iter().map(|name| fixture(name)).collect();
        read(&files).unwrap_or_else(|_| panic!("{names:?} can be read"))
    }

    /// The fixtures were made over an emulated path of 50 Mb/s and 30 ms, with a queue of 150 packets, which are 36 ms.
    #[test]
    fn all_together_tell_the_path_that_they_were_made_on() {
        let path = measured(&["iperf3.json", "ping-idle.txt", "ping-loaded.txt", "ss.txt"]);
        // delivery_rate 48.2Mbps * 1500 / 1448 = 49.93.
        assert_eq!(path.rate.unwrap().to_string(), "49.9mbit");
        assert_eq!(path.rtt.unwrap().to_string(), "30.142ms");
        // The longest of the loaded pings is 65.7 ms; the 95th percentile of 30 is the 29th: 63.1 ms.
        let Some(QueueSize::Time(queue)) = path.queue else { panic!() };
        assert!((30.0..36.0).contains(&(queue.as_secs_f64() * 1e3)), "{queue}");
        // 21 losses, all by the queue.
        assert_eq!(path.loss, Some(LossRate(0.0)));
        let sources: Vec<&str> = path.inferred.iter().map(|i| &*i.source).collect();
        assert!(sources[0].starts_with("ss.txt: delivery_rate") && sources[1] == "ss.txt: minrtt", "{sources:?}");
    }

    #[test]
    fn iperf3_alone_sees_a_queue_that_was_never_empty() {
        let path = measured(&["iperf3.json"]);
        // 47535591 b/s * 1500 / 1448 = 49.24 Mb/s.
        assert_eq!(path.rate.unwrap().to_string(), "49.2mbit");
        assert_eq!(path.rtt.unwrap().to_string(), "46.249ms");
        // 62.561 - 46.249 ms.
        assert_eq!(path.queue.unwrap().to_string(), "16.3ms");
    }

    #[test]
    fn an_idle_ping_tells_the_rtt_alone() {
        let path = measured(&["ping-idle.txt"]);
        assert_eq!(path.rtt.unwrap().to_string(), "30.173ms");
        assert!(path.rate.is_none() && path.queue.is_none() && path.loss.is_none());
    }

    #[test]
    fn losses_without_a_queue_are_chance() {
        let reading = |rtt: f64, lost: f64| Readings {
            least_rtt_ms: Some(Reading::new(100.0, "a")),
            busy_rtt_ms: Some(Reading::new(rtt, "b")),
            losses: Some(Reading::new(Losses { lost, packets: 10_000.0 }, "c")),
            ..Readings::default()
        };
        let loss = |rtt, lost| infer(&[reading(rtt, lost)]).loss.unwrap().0;
        // 109 ms are within a tenth of 100 ms.
        assert!((loss(109.0, 25.0) - 0.0025).abs() < 1e-12);
        assert_eq!((loss(111.0, 25.0), loss(109.0, 0.0)), (0.0, 0.0));
    }

    /// At 1e-4 and 100 ms: Reno sqrt(1.5 / 1e-4) = 122 packets, CUBIC 1.054 * 1000^0.75 = 187; 3 times that in 100 ms are 67.5 Mb/s.
    #[test]
    fn a_flow_that_losses_held_back_tells_no_rate() {
        let reading = |mbps: f64, controller: &str| Readings {
            payload_bps: Some(Reading::new(mbps * 1e6 * 1448.0 / 1500.0, "a")),
            least_rtt_ms: Some(Reading::new(100.0, "b")),
            busy_rtt_ms: Some(Reading::new(100.5, "b")),
            losses: Some(Reading::new(Losses { lost: 10.0, packets: 100_000.0 }, "c")),
            controller: Some(controller.into()),
            ..Readings::default()
        };
        let limited_by = |mbps, controller| infer(&[reading(mbps, controller)]).limited_by;
        assert_eq!(limited_by(67.0, "cubic"), Some(LimitedBy::Loss));
        assert_eq!((limited_by(68.5, "cubic"), limited_by(33.0, "bbr")), (None, None));
    }

    #[test]
    fn without_a_busy_rtt_losses_tell_nothing() {
        let losses = Some(Reading::new(Losses { lost: 25.0, packets: 10_000.0 }, "c"));
        let idle = Readings { least_rtt_ms: Some(Reading::new(100.0, "a")), losses, ..Readings::default() };
        assert_eq!(infer(&[idle]).loss, None);
    }

    /// 9.89 Gb/s of payload, 8948 of 9000 bytes: 9.947.
    #[test]
    fn jumbo_frames_have_headers_of_the_same_size() {
        let jumbo = Readings { payload_bps: Some(Reading::new(9.89e9, "a")), mss: Some(8948.0), ..Readings::default() };
        let path = infer(&[jumbo]);
        assert_eq!((path.mtu, path.rate.unwrap().to_string()), (Some(9000), "9.95gbit".to_owned()));
    }

    #[test]
    fn other_tools_are_named() {
        for (text, part) in [
            ("[ ID] Interval           Transfer     Bitrate\n", "run it with `--json`"),
            ("HOST: here      Loss%   Snt\n", "`mtr`"),
            ("h : xmt/rcv/%loss = 3/3/0%, min/avg/max = 1.0/1.1/1.2\n", "`fping`"),
            ("qdisc fq_codel 0: dev eth0 root\n", "`--aqm`"),
            ("TcpRetransSegs 12 0.0\n", "`nstat`"),
        ] {
            assert!(no_measurement(text).contains(part), "{text}: {}", no_measurement(text));
        }
    }

    #[test]
    fn other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |text: &str| {
            let file = folder.path().join("x.txt");
            std::fs::write(&file, text).unwrap();
            match read(&[file]) {
                Err(e) => e.to_string(),
                Ok(_) => panic!("`{text}` was taken"),
            }
        };
        assert!(refused("hello").contains("x.txt`: it is none of these: `iperf3 --json`"));
        assert!(refused("").contains("none of these"));
        assert!(refused("{\"a\": 1}").contains("no `end`"));
        assert!(refused("{").contains("did the test run?"));
        assert!(
            refused("{\"start\": {}, \"error\": \"unable to connect\"}").contains("iperf3 failed: unable to connect")
        );
        assert!(refused("5 packets transmitted, 0 received, 100% packet loss").contains("no answer"));
    }
}
