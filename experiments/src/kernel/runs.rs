// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs over real TCP that have been made, kept as CSV.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tandem_report::write_atomically;
use tandem_scenario::{
    FORWARD_LINK, Scenario,
    result::{Distribution, Emulation, FlowResult, LinkResult, SeedResult},
};

/// What one run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// For the eye: experiment, curve and x of the first that asked for it.
    asked_by: String,
    /// What decides about the run but the seed, see [`key`].
    pub scenario: String,
    pub seed: u64,
    /// Of each flow, separated by `+`.
    goodput_mbps: String,
    /// Of the bottleneck.
    utilisation: f64,
    queue_mean_packets: f64,
    /// Over all flows.
    retransmits: u64,
    timeouts: u64,
    window_reductions: u64,
    /// 99th percentile.
    lateness_p99_us: f64,
    /// The longest time between two looks at what hosts have sent.
    longest_pause_ms: f64,
    pub kernel: String,
    /// Why the run is not to be trusted.
    pub doubts: String,
}

/// Names a scenario by its table in a file, without its seeds: the same table, however it is laid out, has the same key.
pub(crate) fn key(text: &str) -> String {
    let file: toml::Table = toml::from_str(text).expect("it was read before");
    let scenario = file.get("scenario").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    // One that says nothing of its seeds has one.
    let without_seeds: toml::Table = scenario.into_iter().filter(|(name, _)| name != "seeds").collect();
    let hash = blake3::hash(without_seeds.to_string().as_bytes());
    hash.to_hex()[..16].to_owned()
}

impl Row {
    pub(crate) fn new(asked_by: &str, key: &str, scenario: &Scenario, result: &SeedResult) -> Self {
        let sum = |of: fn(&FlowResult) -> u64| result.flows.iter().map(of).sum();
        let goodput: Vec<String> = result.flows.iter().map(|f| format!("{:.4}", f.goodput_mbps)).collect();
        let link = bottleneck(scenario).map(|l| result.links[l].clone()).unwrap_or_default();
        let emulation = result.emulation.clone().unwrap_or_default();
        let rounded = |value: f64, scale: f64| (value * scale).round() / scale;
        Self {
            asked_by: asked_by.to_owned(),
            scenario: key.to_owned(),
            seed: result.seed,
            goodput_mbps: goodput.join("+"),
            utilisation: rounded(link.utilisation, 1e5),
            queue_mean_packets: rounded(link.queue_packets.mean, 1e3),
            retransmits: sum(|f| f.retransmits),
            timeouts: sum(|f| f.timeouts),
            window_reductions: sum(|f| f.window_reductions),
            lateness_p99_us: rounded(emulation.lateness_us.p99, 10.0),
            longest_pause_ms: rounded(emulation.look_gap_us.max / 1e3, 1e3),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            doubts: emulation.doubts.join("; "),
        }
    }

    /// As the engine returned it, as far as it was kept. `None` if it is not of this scenario: a hand has been at the file.
    pub(crate) fn result(&self, scenario: &Scenario) -> Option<SeedResult> {
        let goodputs = self.goodput_mbps.split('+').map(|text| text.parse().ok()).collect::<Option<Vec<f64>>>()?;
        let flow = |goodput_mbps| FlowResult { goodput_mbps, ..FlowResult::default() };
        let mut links = vec![LinkResult::default(); scenario.network.links.len()];
        if let Some(l) = bottleneck(scenario) {
            let queue_packets = Distribution { mean: self.queue_mean_packets, ..Distribution::default() };
            links[l] = LinkResult { utilisation: self.utilisation, queue_packets, ..LinkResult::default() };
        }
        let doubts = if self.is_trusted() { Vec::new() } else { vec![self.doubts.clone()] };
        (goodputs.len() == scenario.group_of_flow().len()).then(|| SeedResult {
            seed: self.seed,
            flows: goodputs.into_iter().map(flow).collect(),
            links,
            emulation: Some(Emulation { doubts, ..Emulation::default() }),
            ..SeedResult::default()
        })
    }

    pub(crate) fn is_trusted(&self) -> bool {
        self.doubts.is_empty()
    }
}

fn bottleneck(scenario: &Scenario) -> Option<usize> {
    scenario.network.links.iter().position(|link| link.name == FORWARD_LINK)
}

/// A file of runs.
pub struct Runs {
    path: PathBuf,
    rows: Vec<Row>,
}

impl Runs {
    /// What is in the file, if it is there.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let what = || format!("cannot read runs over real TCP from `{}`", path.display());
        let mut rows = Vec::new();
        if path.exists() {
            let mut reader = csv::Reader::from_path(path).with_context(what)?;
            rows = reader.deserialize().collect::<Result<_, _>>().with_context(what)?;
        }
        Ok(Self { path: path.to_owned(), rows })
    }

    pub(crate) fn get(&self, key: &str, seed: u64) -> Option<&Row> {
        self.rows.iter().find(|row| row.scenario == key && row.seed == seed)
    }

    pub(crate) fn is_trusted(&self, key: &str, seed: u64) -> bool {
        self.get(key, seed).is_some_and(Row::is_trusted)
    }

    /// Keeps a run, in the place of an earlier one of the same scenario and seed.
    pub(crate) fn insert(&mut self, row: Row) -> anyhow::Result<()> {
        self.rows.retain(|r| !(r.scenario == row.scenario && r.seed == row.seed));
        self.rows.push(row);
        self.rows.sort_by(|a, b| (&a.asked_by, a.seed).cmp(&(&b.asked_by, b.seed)));
        let what = || format!("cannot keep runs over real TCP in `{}`", self.path.display());
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.rows.iter().try_for_each(|row| writer.serialize(row)).with_context(what)?;
        let bytes = writer.into_inner().map_err(|e| e.into_error()).with_context(what)?;
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).with_context(what)?;
        }
        write_atomically(&self.path, &bytes).with_context(what)
    }
}
