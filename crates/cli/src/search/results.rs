// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a search found, for people, programs and the folder.

use std::{fs, path::Path};

use anyhow::Context;
use serde::Serialize;
use tandem_search::{Compared, Find, Mechanism, Space, Worst};
use tandem_statistics::proportion;

use super::Done;
use crate::{
    failure::Failure,
    folder::make_folder,
    origin::{COMMIT, command_line},
    output::write,
};

/// What `--json` prints.
#[derive(Serialize)]
pub struct Results {
    version: &'static str,
    commit: &'static str,
    pub command: String,
    contender: String,
    baseline: String,
    /// Of the contender and the baseline.
    engines: [&'static str; 2],
    worst: Worst,
    /// Whichever of the two is worse.
    either_way: bool,
    /// What a violation is a share of.
    pub unit: String,
    /// The least violation that is a find.
    least: f64,
    space: String,
    /// With the same of them and the same seed, there are the same finds.
    generations: usize,
    /// Points that could be judged.
    judged: usize,
    /// Data packets of all runs: the work, the same on any machine.
    simulated_packets: u64,
    /// How many points were drawn at random.
    drawn: usize,
    /// The largest violation, whether or not it holds.
    worst_seen: Option<f64>,
    /// Bad with the first seed, but not with others.
    by_chance: usize,
    /// Bad at a point, but not around it.
    on_edges: usize,
    /// Not looked at, for want of time.
    left: usize,
    interrupted: bool,
    pub finds: Vec<Found>,
}

/// A find with its file.
#[derive(Serialize)]
pub struct Found {
    pub name: String,
    /// Its scenario.
    pub file: String,
    pub mechanism: Mechanism,
    /// Mean over seeds.
    pub violation: f64,
    least_violation: f64,
    /// Mean over seeds, before it was made small.
    violation_when_found: f64,
    /// Of the points drawn at random, those that show the same; and the 95 % interval of that share.
    drawn: usize,
    share_of_paths: (f64, f64),
    contender_by_seed: Vec<f64>,
    baseline_by_seed: Vec<f64>,
    pub features: Vec<String>,
    /// Of this many points around it.
    neighbours_that_fail: usize,
    is_minimal: bool,
    /// Bad points of other cells that show the same.
    others: usize,
    /// What happens, in sentences.
    pub words: Vec<String>,
    #[serde(skip)]
    pub scenario: String,
    /// As a file of a suite for `tandem evaluate`.
    #[serde(skip)]
    criterion: Option<String>,
}

impl Results {
    pub fn new(space: &Space, compared: &Compared, done: &Done, least: f64, folder: &Path) -> Self {
        let command = command_line();
        let found = |(i, find): (usize, &Find)| {
            let name = format!("find-{}", i + 1);
            let measured = &find.judged.measured;
            Some(Found {
                file: folder.join(file_name(&name)).display().to_string(),
                mechanism: find.judged.mechanism,
                violation: find.mean,
                least_violation: find.least,
                violation_when_found: find.found_mean,
                drawn: find.drawn,
                share_of_paths: proportion(find.drawn, done.settled.drawn),
                contender_by_seed: measured.own.clone(),
                baseline_by_seed: measured.baseline.clone(),
                features: space.features_of(&find.point).into_iter().map(str::to_owned).collect(),
                neighbours_that_fail: find.neighbours,
                is_minimal: find.is_minimal,
                others: find.others,
                words: compared.words(find),
                criterion: compared.criterion_file(space, find, &name, least),
                scenario: compared.scenario_file(space, find, &name, &command)?,
                name,
            })
        };
        let settled = &done.settled;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: COMMIT,
            contender: compared.contender.controller.into(),
            baseline: compared.baseline.controller.into(),
            engines: [compared.contender.engine.name(), compared.baseline.engine.name()],
            worst: compared.question.worst.clone(),
            either_way: compared.question.either_way,
            unit: compared.question.worst.unit(),
            least,
            space: space.title.clone(),
            generations: done.generations,
            judged: done.judged,
            simulated_packets: done.packets,
            drawn: settled.drawn,
            worst_seen: done.worst,
            by_chance: settled.by_chance,
            on_edges: settled.on_edges,
            left: settled.left,
            interrupted: done.is_interrupted,
            finds: settled.finds.iter().enumerate().filter_map(found).collect(),
            command,
        }
    }

    /// Each find's scenario, in the place of those of an earlier search; as a criterion in `keep`, where they stay.
    pub fn write_files(&self, folder: &Path, keep: Option<&Path>) -> Result<(), Failure> {
        let old = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
        for entry in old.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("find-") && name.ends_with(".toml") {
                fs::remove_file(entry.path()).with_context(|| format!("cannot remove `{}`", entry.path().display()))?;
            }
        }
        if let Some(keep) = keep {
            make_folder(keep)?;
        }
        for found in &self.finds {
            write(&folder.join(file_name(&found.name)), &found.scenario)?;
            if let Some((keep, criterion)) = keep.zip(found.criterion.as_ref()) {
                write(&keep.join(file_name(&self.kept_name(found))), criterion)?;
            }
        }
        Ok(())
    }

    /// Tells finds of several searches apart.
    fn kept_name(&self, found: &Found) -> String {
        let controller = Path::new(&self.contender).file_name().unwrap_or_default().to_string_lossy();
        let controller: String = controller.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        format!("{controller}-{}-{}", self.worst, found.name)
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        let Self { contender, baseline, worst, space, judged, generations, engines: [first, second], .. } = self;
        let asked = if first != second {
            format!("where `{contender}` differs most in {worst} between the engines `{first}` and `{second}`")
        } else if self.either_way {
            format!("where `{contender}` and `{baseline}` differ most in {worst}")
        } else {
            format!("where `{contender}` is worse than `{baseline}` in {worst}")
        };
        let mut text = format!("{space}: {asked}. {judged} paths in {generations} generations.\n");
        for found in &self.finds {
            let features = if found.features.is_empty() { "no features".into() } else { found.features.join(", ") };
            text += &format!("\n{} ({features}): {}\n", found.file, found.mechanism.words());
            found.words.iter().for_each(|line| text += &format!("  {line}\n"));
            text += &format!("  {}\n", self.likely(found));
        }
        if self.finds.is_empty() {
            let seen = self
                .worst_seen
                .map_or("nothing could be measured".into(), |worst| format!("the worst was {:.1} %", 100.0 * worst));
            text += &format!("\nNothing was found; {seen}, and a find needs {:.1} % (--least).\n", 100.0 * self.least);
        }
        text + &self.rest()
    }

    /// How likely it is on the space's paths, in a sentence.
    pub fn likely(&self, found: &Found) -> String {
        let (low, high) = found.share_of_paths;
        let (low, high) = (100.0 * low, 100.0 * high);
        format!("{} of {} paths drawn at random show it ({low:.1} to {high:.1} %).", found.drawn, self.drawn)
    }

    /// What was no find.
    fn rest(&self) -> String {
        let counts = [
            (self.by_chance, "bad with one seed alone"),
            (self.on_edges, "bad at one point but not around it (--knife-edge shows them)"),
            (self.left, "not examined, for lack of time (--budget)"),
        ];
        let told = counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let told: Vec<String> = told.collect();
        if told.is_empty() { String::new() } else { format!("\nNo finds: {}.\n", told.join("; ")) }
    }
}

fn file_name(name: &str) -> String {
    format!("{name}.toml")
}
