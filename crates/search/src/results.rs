// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a search found, for people and programs.

use std::path::Path;

use serde::Serialize;
use tandem_evaluate::Origin;
use tandem_statistics::proportion;

use crate::{file::Compared, hunt::Done, judge::Mechanism, settle::Find, space::Space, worst::Worst};

/// What `tandem search --json` prints.
#[derive(Debug, Serialize)]
pub struct Results {
    version: String,
    commit: String,
    /// Finds the same.
    pub command: String,
    /// The controller.
    pub contender: String,
    baseline: String,
    /// Of the contender and the baseline.
    engines: [&'static str; 2],
    /// The measure.
    pub worst: Worst,
    /// Whichever of the two is worse.
    either_way: bool,
    /// What a violation is a share of.
    pub unit: String,
    /// The least violation that is a find.
    pub least: f64,
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
    /// The worst first.
    pub finds: Vec<Found>,
}

/// A find with its file.
#[derive(Debug, Serialize)]
pub struct Found {
    /// `find-1` and so on.
    pub name: String,
    /// Where its scenario is written.
    pub file: String,
    /// How the contender fails.
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
    /// Features of the space that it needs.
    pub features: Vec<String>,
    /// Of this many points around it.
    neighbours_that_fail: usize,
    is_minimal: bool,
    /// Bad points of other cells that show the same.
    others: usize,
    /// What happens, in sentences.
    pub words: Vec<String>,
    /// A file that `tandem run` takes.
    #[serde(skip)]
    pub scenario: String,
}

impl Results {
    /// Of a search with this least violation. Files are to be in `folder`.
    pub fn new(space: &Space, compared: &Compared, done: &Done, least: f64, folder: &Path, origin: &Origin) -> Self {
        let command = origin.command.to_owned();
        let found = |(i, find): (usize, &Find)| {
            let name = find_name(i);
            let measured = &find.judged.measured;
            Some(Found {
                file: folder.join(find_file(&name)).display().to_string(),
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
                scenario: compared.scenario_file(space, find, &name, &command)?,
                name,
            })
        };
        let settled = &done.settled;
        Self {
            version: origin.version.to_owned(),
            commit: origin.commit.to_owned(),
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

    /// For programs.
    ///
    /// # Errors
    /// If a figure cannot be written as JSON.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
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
            // It may hold with no other seed, or nobody asked for finds.
            let is_bad = self.worst_seen.is_some_and(|worst| worst >= self.least);
            let what = if is_bad { "No find is kept" } else { "Nothing was found" };
            text += &format!("\n{what}; {seen}, and a find needs {:.1} % (--least).\n", 100.0 * self.least);
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

/// The name of a find by its place, from 0.
pub fn find_name(place: usize) -> String {
    format!("find-{}", place + 1)
}

/// The file of a find of this name.
pub fn find_file(name: &str) -> String {
    format!("{name}.toml")
}
