// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs over real TCP that have been made, kept as JSON lines: a run takes as long as what it emulates.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tandem_report::{thin, write_atomically};
use tandem_results::{Distribution, Emulation, FlowResult, LinkResult, SeedResult};
use tandem_scenario::{
    FORWARD_LINK, Scenario,
    bounded::{MEASUREMENT_BYTES, read_text},
};

use crate::{error::RealTcpRunsError, plan::Planned};

/// One run over real TCP. Counts are of the part after the warm-up, over all flows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RealTcpRun {
    /// For the eye: experiment, curve and x, or path and flows, that asked for it first.
    pub asked_by: String,
    /// Hash of the scenario without its seeds: runs of equal scenarios have the same.
    pub scenario: String,
    /// The run's seed, which decides starts and random losses.
    pub seed: u64,
    /// Payload of each flow.
    pub goodput_mbps: Vec<f64>,
    /// The bottleneck's use, 0 to 1.
    pub utilisation: f64,
    /// The mean of the bottleneck's queue.
    pub queue_mean_packets: f64,
    /// Data packets sent again.
    pub retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Reductions of the window, timeouts included.
    pub window_reductions: u64,
    /// How late packets left the emulator, 99th percentile.
    pub lateness_p99_us: f64,
    /// The longest time between two looks at what hosts have sent.
    pub longest_pause_ms: f64,
    /// Part of the time in which the emulator waited for a processor, 0 to 1; older runs do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starved_share: Option<f64>,
    /// Release of the kernel.
    pub kernel: String,
    /// Why the run is not to be trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The first flow's window over time, where it was traced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub window: Vec<WindowSample>,
    /// All that the engine returned, where any measure may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Box<SeedResult>>,
}

/// A time in seconds, and the window in packets.
pub type WindowSample = (f64, u32);

/// This many samples of a window are kept: a drawing shows no more.
const WINDOW_SAMPLES: usize = 240;

/// The name of the scenario in the table `[scenario]` of a file, by which its runs are kept. The table counts without its seeds and however it is
/// laid out.
///
/// # Panics
/// If the file is not TOML: it must have been read before.
pub fn scenario_key(text: &str) -> String {
    let file: toml::Table = toml::from_str(text).expect("it was read before");
    key_of(&file.get("scenario").and_then(toml::Value::as_table).cloned().unwrap_or_default())
}

/// As [`scenario_key`], of the table itself.
pub(crate) fn key_of(scenario: &toml::Table) -> String {
    let mut without_seeds = scenario.clone();
    // One that says nothing of its seeds has one.
    without_seeds.remove("seeds");
    let hash = blake3::hash(without_seeds.to_string().as_bytes());
    hash.to_hex()[..16].to_owned()
}

impl RealTcpRun {
    /// What is kept of a result of the scenario with this key.
    pub fn new(key: &str, scenario: &Scenario, result: &SeedResult) -> Self {
        let sum = |of: fn(&FlowResult) -> u64| result.flows.iter().map(of).sum();
        let link = bottleneck(scenario).map(|l| result.links[l].clone()).unwrap_or_default();
        let emulation = result.emulation.clone().unwrap_or_default();
        Self {
            asked_by: scenario.name.clone(),
            scenario: key.to_owned(),
            seed: result.seed,
            goodput_mbps: result.flows.iter().map(|flow| rounded(flow.goodput_mbps, 1e4)).collect(),
            utilisation: rounded(link.utilisation, 1e5),
            queue_mean_packets: rounded(link.queue_packets.mean, 1e3),
            retransmits: sum(|f| f.retransmits),
            timeouts: sum(|f| f.timeouts),
            window_reductions: sum(|f| f.window_reductions),
            lateness_p99_us: rounded(emulation.lateness_us.p99, 10.0),
            longest_pause_ms: rounded(emulation.look_gap_us.max / 1e3, 1e3),
            starved_share: Some(rounded(emulation.starved_share, 1e5)),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            doubts: emulation.doubts,
            window: window(result),
            whole: None,
        }
    }

    /// As the engine returned it, as far as it was kept. `None` if it is not of this scenario: a hand has been at the file.
    pub(crate) fn result(&self, scenario: &Scenario) -> Option<SeedResult> {
        if let Some(whole) = &self.whole {
            return (whole.flows.len() == scenario.flow_count()).then(|| (**whole).clone());
        }
        let flow = |&goodput_mbps: &f64| FlowResult { goodput_mbps, ..FlowResult::default() };
        let mut links = vec![LinkResult::default(); scenario.network.links.len()];
        if let Some(l) = bottleneck(scenario) {
            let queue_packets = Distribution { mean: self.queue_mean_packets, ..Distribution::default() };
            links[l] = LinkResult { utilisation: self.utilisation, queue_packets, ..LinkResult::default() };
        }
        (self.goodput_mbps.len() == scenario.group_of_flow().len()).then(|| SeedResult {
            seed: self.seed,
            flows: self.goodput_mbps.iter().map(flow).collect(),
            links,
            emulation: Some(Emulation { doubts: self.doubts.clone(), ..Emulation::default() }),
            ..SeedResult::default()
        })
    }

    /// Whether what is sampled over time is kept of it.
    pub(crate) fn has_trace(&self) -> bool {
        self.whole.as_ref().is_some_and(|whole| whole.trace.is_some())
    }

    /// Whether the emulator kept up.
    pub fn is_trusted(&self) -> bool {
        self.doubts.is_empty()
    }
}

fn rounded(value: f64, scale: f64) -> f64 {
    (value * scale).round() / scale
}

/// The link whose queue is compared.
pub fn bottleneck(scenario: &Scenario) -> Option<usize> {
    scenario.network.links.iter().position(|link| link.name == FORWARD_LINK)
}

/// The first flow's window over time, with as many samples as a drawing shows; empty if it was not traced.
fn window(result: &SeedResult) -> Vec<WindowSample> {
    let Some(trace) = &result.trace else { return Vec::new() };
    let Some(flow) = trace.flows.first() else { return Vec::new() };
    let windows: Vec<f64> = flow.samples.iter().map(|sample| f64::from(sample.cwnd_packets)).collect();
    let sample = |i: usize| (rounded(trace.time_s[i], 1e3), flow.samples[i].cwnd_packets);
    thin(&windows, WINDOW_SAMPLES).into_iter().map(sample).collect()
}

/// A file of runs over real TCP, a line each.
#[derive(Debug)]
pub struct RealTcpRuns {
    path: PathBuf,
    runs: Vec<RealTcpRun>,
    /// What decides a run besides its scenario, where runs are kept whole.
    arithmetic: Option<String>,
}

impl RealTcpRuns {
    /// What is in the file, if it is there.
    ///
    /// # Errors
    /// If the file cannot be read, or a line of it is not a run.
    pub fn open(path: &Path) -> Result<Self, RealTcpRunsError> {
        let path = path.to_owned();
        if !path.exists() {
            return Ok(Self { path, runs: Vec::new(), arithmetic: None });
        }
        let text = read_text(&path, MEASUREMENT_BYTES)
            .map_err(|source| RealTcpRunsError::Read { path: path.clone(), source })?;
        let run = |(i, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|source| RealTcpRunsError::Line {
                path: path.clone(),
                line: i + 1,
                source,
            })
        };
        let runs = text.lines().enumerate().map(run).collect::<Result<_, _>>()?;
        Ok(Self { path, runs, arithmetic: None })
    }

    /// The same for verdicts on a controller that changes: a run counts as long as the engine (`arithmetic`) and the controllers are what they
    /// were, all of it is kept, and what is doubted does not count.
    #[must_use]
    pub fn of_engine(self, arithmetic: &str) -> Self {
        Self { arithmetic: Some(arithmetic.to_owned()), ..self }
    }

    /// Whether any measure can be read off its runs.
    pub(crate) fn are_whole(&self) -> bool {
        self.arithmetic.is_some()
    }

    /// The name by which runs of a scenario are kept.
    pub(crate) fn key(&self, planned: &Planned) -> String {
        let Some(arithmetic) = &self.arithmetic else { return key_of(&planned.table) };
        let params = planned.scenario.groups.iter().filter_map(|group| group.source.params());
        let controllers: String = params.map(|params| params.controller().arithmetic).collect();
        let hash = blake3::hash(format!("{} {arithmetic} {controllers}", key_of(&planned.table)).as_bytes());
        hash.to_hex()[..16].to_owned()
    }

    /// Every run, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &RealTcpRun> {
        self.runs.iter()
    }

    /// The trusted runs of a scenario, in the order of their seeds.
    pub fn trusted(&self, key: &str) -> impl Iterator<Item = &RealTcpRun> {
        self.runs.iter().filter(move |run| run.scenario == key && run.is_trusted())
    }

    pub(crate) fn get(&self, key: &str, seed: u64) -> Option<&RealTcpRun> {
        self.runs.iter().find(|run| run.scenario == key && run.seed == seed)
    }

    /// Whether a run of this scenario and seed is there and to be trusted.
    pub fn is_trusted(&self, key: &str, seed: u64) -> bool {
        self.get(key, seed).is_some_and(RealTcpRun::is_trusted)
    }

    /// Keeps a run, in the place of an earlier one of the same scenario and seed; of whole runs, which each change of a controller makes anew,
    /// in the place of what the same point of a curve was before.
    pub(crate) fn insert(&mut self, run: RealTcpRun) -> Result<(), RealTcpRunsError> {
        let is_outdated = |r: &RealTcpRun| self.arithmetic.is_some() && r.asked_by == run.asked_by;
        self.runs.retain(|r| r.seed != run.seed || r.scenario != run.scenario && !is_outdated(r));
        self.runs.push(run);
        self.runs.sort_by(|a, b| (&a.asked_by, a.seed).cmp(&(&b.asked_by, b.seed)));
        self.write().map_err(|source| RealTcpRunsError::Keep { path: self.path.clone(), source })
    }

    fn write(&self) -> io::Result<()> {
        let lines = self.runs.iter().map(|run| Ok(serde_json::to_string(run)? + "\n"));
        let text = lines.collect::<io::Result<String>>()?;
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        write_atomically(&self.path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use tandem_scenario::file::{Overrides, parse};

    use super::*;

    fn scenario() -> Scenario {
        let text = "duration = '2s'\n[dumbbell]\nrate = '1mbit'\nrtt = '10ms'\nqueue = '9p'\n\
                    [[flows]]\ncontroller = 'reno'\ncount = 2\n";
        parse(text, "test.toml", "bdp/reno", &Overrides::default()).unwrap()
    }

    fn result(seed: u64, goodput_mbps: f64, doubt: Option<&str>) -> SeedResult {
        let flow = |goodput_mbps, retransmits| FlowResult { goodput_mbps, retransmits, ..FlowResult::default() };
        let queue_packets = Distribution { mean: 12.3456, ..Distribution::default() };
        let doubts = doubt.iter().map(|d| (*d).to_owned()).collect();
        SeedResult {
            seed,
            flows: vec![flow(goodput_mbps, 3), flow(1.5, 4)],
            links: vec![LinkResult { queue_packets, ..LinkResult::default() }, LinkResult::default()],
            emulation: Some(Emulation { doubts, ..Emulation::default() }),
            ..SeedResult::default()
        }
    }

    /// What was kept is there again; a run that is not trusted does not count, and gives way to the next of its seed.
    #[test]
    fn runs_are_kept_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/runs.jsonl");
        let keep = |result: SeedResult| {
            RealTcpRuns::open(&path).unwrap().insert(RealTcpRun::new("k", &scenario(), &result)).unwrap();
            RealTcpRuns::open(&path).unwrap()
        };
        keep(result(2, 20.0, None));
        let runs = keep(result(1, 10.00004, Some("late, \"very\"")));
        assert_eq!((runs.trusted("k").count(), runs.iter().count()), (1, 2));
        assert_eq!(runs.get("k", 1).unwrap().goodput_mbps, [10.0, 1.5]);
        let runs = keep(result(1, 30.0, None));
        let kept: Vec<_> = runs.trusted("k").map(|r| (r.seed, r.goodput_mbps[0])).collect();
        assert_eq!(kept, [(1, 30.0), (2, 20.0)]);
        let run = runs.get("k", 1).unwrap();
        assert_eq!((run.retransmits, run.queue_mean_packets, &*run.asked_by), (7, 12.346, "bdp/reno"));
        assert_eq!(run.result(&scenario()).unwrap().flows[1].goodput_mbps, 1.5);
        assert_eq!(runs.trusted("another").count(), 0);
    }

    #[test]
    fn a_broken_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        fs::write(&path, "asked_by,scenario,seed\n").unwrap();
        let error = RealTcpRuns::open(&path).unwrap_err().to_string();
        assert!(error.contains("runs.jsonl") && error.contains("line 1 is not a run"), "{error}");
    }
}
