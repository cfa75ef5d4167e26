// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs that have been made, kept as CSV: a run takes as long as what it emulates.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tandem_scenario::result::SeedResult;

use super::settings::Setting;

/// What one run came to, in either engine. Counts are of the measured part, over all flows.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Row {
    pub setting: String,
    /// Controllers of the flows, separated by `+`.
    pub flows: String,
    /// All else that decides about the run; a row of another time counts only if it is the same.
    pub scenario: String,
    pub seed: u64,
    /// Of each flow, separated by `+`.
    goodput_mbps: String,
    pub queue_mean_packets: f64,
    pub utilisation: f64,
    pub retransmits: u64,
    pub timeouts: u64,
    pub window_reductions: u64,
    /// 99th percentile; 0 where nothing was emulated.
    pub lateness_p99_us: f64,
    /// The longest time between two looks at what hosts have sent.
    pub longest_pause_ms: f64,
    pub starved_share: f64,
    pub kernel: String,
    /// Why the run is not to be trusted.
    pub doubts: String,
}

/// One sample of a flow's window.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq)]
pub struct WindowSample {
    pub time_s: f64,
    pub window_packets: u32,
}

impl Row {
    pub fn new(setting: &Setting, flows: &[&str], result: &SeedResult, kernel: &str) -> Self {
        let sum = |of: fn(&tandem_scenario::result::FlowResult) -> u64| result.flows.iter().map(of).sum();
        let goodput: Vec<String> = result.flows.iter().map(|f| format!("{:.4}", f.goodput_mbps)).collect();
        let emulation = result.emulation.clone().unwrap_or_default();
        let rounded = |value: f64, scale: f64| (value * scale).round() / scale;
        Self {
            setting: setting.key.to_owned(),
            flows: flows.join("+"),
            scenario: setting.text(),
            seed: result.seed,
            goodput_mbps: goodput.join("+"),
            queue_mean_packets: rounded(result.links[0].queue_packets.mean, 1e3),
            utilisation: rounded(result.links[0].utilisation, 1e5),
            retransmits: sum(|f| f.retransmits),
            timeouts: sum(|f| f.timeouts),
            window_reductions: sum(|f| f.window_reductions),
            lateness_p99_us: rounded(emulation.lateness_us.p99, 10.0),
            longest_pause_ms: rounded(emulation.look_gap_us.max / 1e3, 1e3),
            starved_share: rounded(emulation.starved_share, 1e5),
            kernel: kernel.to_owned(),
            doubts: emulation.doubts.join("; "),
        }
    }

    pub fn is_trusted(&self) -> bool {
        self.doubts.is_empty()
    }

    pub fn goodput_mbps(&self, flow: usize) -> f64 {
        // Written by `new`; a hand that edited the file shows as a gap in the table.
        self.goodput_mbps.split('+').nth(flow).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }

    fn is_of(&self, setting: &Setting, flows: &[&str]) -> bool {
        self.setting == setting.key && self.flows == flows.join("+") && self.scenario == setting.text()
    }
}

pub struct Store {
    folder: PathBuf,
    rows: Vec<Row>,
}

impl Store {
    /// What is in the folder, if there is anything.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("runs.csv");
        let rows = if path.exists() { read(&path)? } else { Vec::new() };
        Ok(Self { folder: folder.to_owned(), rows })
    }

    /// Trusted runs, in the order of their seeds.
    pub fn runs(&self, setting: &Setting, flows: &[&str]) -> Vec<&Row> {
        self.rows.iter().filter(|r| r.is_of(setting, flows) && r.is_trusted()).collect()
    }

    /// Runs that were not to be trusted and have not been repeated.
    pub fn untrusted(&self) -> usize {
        self.rows.iter().filter(|r| !r.is_trusted()).count()
    }

    pub fn kernels(&self) -> Vec<&str> {
        let mut kernels: Vec<&str> = self.rows.iter().map(|r| r.kernel.as_str()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        kernels
    }

    /// Of the worst trusted run.
    pub fn lateness_p99_us(&self) -> f64 {
        self.worst(|r| r.lateness_p99_us)
    }

    /// Of the worst trusted run.
    pub fn longest_pause_ms(&self) -> f64 {
        self.worst(|r| r.longest_pause_ms)
    }

    fn worst(&self, of: fn(&Row) -> f64) -> f64 {
        self.rows.iter().filter(|r| r.is_trusted()).map(of).fold(0.0, f64::max)
    }

    /// Keeps a run, in the place of an earlier one of the same seed.
    pub fn insert(&mut self, setting: &Setting, flows: &[&str], row: Row) -> anyhow::Result<()> {
        self.rows.retain(|r| !(r.setting == setting.key && r.flows == flows.join("+") && r.seed == row.seed));
        self.rows.push(row);
        let place = |r: &Row| super::settings::SETTINGS.iter().position(|s| s.key == r.setting);
        self.rows.sort_by(|a, b| (place(a), &a.flows, a.seed).cmp(&(place(b), &b.flows, b.seed)));
        write(&self.folder.join("runs.csv"), &self.rows)
    }

    /// The window of the first run's flow over time; empty if it was not kept.
    pub fn window(&self, setting: &Setting, flows: &[&str]) -> anyhow::Result<Vec<WindowSample>> {
        let path = self.window_path(setting, flows);
        if path.exists() { read(&path) } else { Ok(Vec::new()) }
    }

    pub fn keep_window(&self, setting: &Setting, flows: &[&str], samples: &[WindowSample]) -> anyhow::Result<()> {
        write(&self.window_path(setting, flows), samples)
    }

    fn window_path(&self, setting: &Setting, flows: &[&str]) -> PathBuf {
        self.folder.join("windows").join(format!("{}-{}.csv", setting.key, flows.join("+").replace(':', "-")))
    }
}

/// The window of a result's first flow.
pub fn window_of(result: &SeedResult) -> Vec<WindowSample> {
    let Some(trace) = &result.trace else { return Vec::new() };
    let samples = trace.time_s.iter().zip(&trace.flows[0].samples);
    let sample = |(t, s): (&f64, &tandem_scenario::result::FlowSample)| WindowSample {
        time_s: (t * 1e3).round() / 1e3,
        window_packets: s.cwnd_packets,
    };
    samples.map(sample).collect()
}

fn read<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let what = || format!("cannot read {}", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(what)?;
    reader.deserialize().collect::<Result<_, _>>().with_context(what)
}

fn write<T: Serialize>(path: &Path, rows: &[T]) -> anyhow::Result<()> {
    let what = || format!("cannot write {}", path.display());
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row)).with_context(what)?;
    let bytes = writer.into_inner().map_err(|e| io::Error::other(e.to_string())).with_context(what)?;
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).with_context(what)?;
    tandem_report::write_atomically(path, &bytes).with_context(what)
}

#[cfg(test)]
mod tests {
    use tandem_scenario::result::{Distribution, Emulation, FlowResult, LinkResult};

    use super::{super::settings::SETTINGS, *};

    fn result(seed: u64, goodput_mbps: f64, doubt: Option<&str>) -> SeedResult {
        SeedResult {
            seed,
            flows: vec![
                FlowResult { goodput_mbps, retransmits: 3, ..FlowResult::default() },
                FlowResult { goodput_mbps: 1.5, retransmits: 4, ..FlowResult::default() },
            ],
            links: vec![LinkResult {
                queue_packets: Distribution { mean: 12.3456, ..Distribution::default() },
                ..LinkResult::default()
            }],
            emulation: Some(Emulation {
                doubts: doubt.iter().map(|d| (*d).to_owned()).collect(),
                ..Emulation::default()
            }),
            ..SeedResult::default()
        }
    }

    /// What was kept is there again; an untrusted run does not count, and gives way to the next of its seed.
    #[test]
    fn runs_are_kept_and_replaced() {
        let folder = std::env::temp_dir().join(format!("tandem-store-{}", std::process::id()));
        let (setting, flows) = (&SETTINGS[0], ["compound", "reno"]);
        let keep = |result: SeedResult| {
            let mut store = Store::open(&folder).unwrap();
            store.insert(setting, &flows, Row::new(setting, &flows, &result, "6.18")).unwrap();
        };
        keep(result(2, 20.0, None));
        keep(result(1, 10.0, Some("late, \"very\"")));
        let store = Store::open(&folder).unwrap();
        assert_eq!((store.runs(setting, &flows).len(), store.untrusted()), (1, 1));
        keep(result(1, 30.0, None));
        let store = Store::open(&folder).unwrap();
        let runs = store.runs(setting, &flows);
        assert_eq!(
            runs.iter().map(|r| (r.seed, r.goodput_mbps(0), r.goodput_mbps(1))).collect::<Vec<_>>(),
            [(1, 30.0, 1.5), (2, 20.0, 1.5)]
        );
        assert_eq!((runs[0].retransmits, runs[0].queue_mean_packets, store.untrusted()), (7, 12.346, 0));
        // Another scenario of the same name has no runs yet.
        assert!(store.runs(&SETTINGS[1], &flows).is_empty());
        assert!(store.runs(setting, &["reno"]).is_empty());
        let samples =
            [WindowSample { time_s: 0.1, window_packets: 10 }, WindowSample { time_s: 0.2, window_packets: 20 }];
        store.keep_window(setting, &["kernel:cubic"], &samples).unwrap();
        assert_eq!(store.window(setting, &["kernel:cubic"]).unwrap(), samples);
        assert!(store.window(setting, &["reno"]).unwrap().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
