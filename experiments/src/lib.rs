// SPDX-License-Identifier: MIT OR Apache-2.0
//! The papers' published results, run again and judged.
//!
//! An experiment is a figure or table of a paper: a file in experiments/papers/ has its set-up, its curves, the published numbers and the
//! claims as something that can be checked. What the files of a paper share is in `paper.toml` beside them. The way is: set-up, runs in a
//! batch, [`Sample`], claim, [`Verdict`], document.
//!
//! ```
//! use tandem_batch::Batch;
//! use tandem_papers::{Form, Seeds, Verdict, find, run};
//! use tandem_sim::Sim;
//!
//! let figure = find("s2/table1").expect("it is there")?;
//! let findings = run(&[figure], Form::Smoke, Seeds::OfFile, &Sim, &Batch::default(), None)?;
//! assert_ne!(findings[0].as_ref().expect("nobody interrupted it").verdict, Verdict::NotAsked);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Around it: [`tandem_batch`] runs the scenarios; [tandem-evaluate](../tandem_evaluate/index.html) judges controllers by files of the same form.

pub mod cases;
mod document;
mod error;
mod excerpt;
mod file;
mod findings;
mod isolated;
mod judge;
mod judged;
mod kernel;
mod limit;
mod measure;
mod outcome;
mod page;
mod patch;
mod plan;
pub mod prose;
mod record;
mod sample;
mod show;
mod sources;
mod table;
mod tally;
mod until;
mod verdict;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::LazyLock,
};

use tandem_scenario::{FileError, file::text_of};

pub use document::{Document, Place, markdown};
pub use error::{MeasureError, RealTcpRunsError, RecordError, RunError};
pub use file::{Criterion, Experiment, Known, Property};
pub use findings::{Findings, Reading, Seeds, run};
pub use judge::Points;
pub use judged::{Decider, Judged};
pub use kernel::{
    Difference, KernelComparison, Missing, RealTcpRun, RealTcpRuns, WindowSample, bottleneck, doubts, measure,
    measure_shared, missing, obstacle, scenario_key,
};
pub use limit::{Limit, NotALimit, Relation};
pub use measure::{Baseline, Measure};
pub use page::{page, picture};
pub use patch::X;
pub use plan::{Form, refusal};
pub use record::Record;
pub use sample::Sample;
pub use show::show;
pub use sources::{PAPER, Source};
pub use table::text;
pub use tally::Tally;
pub use verdict::Verdict;

/// Id and text of every file, in order.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Id and text of every file of a suite that any controller can be judged by, in order.
pub const SUITES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// Id and text of every space that `tandem search` looks through, in order.
pub const SPACES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/spaces.rs"));

/// The id of every experiment, in the order of files that have these names, and the place of its file in [`FILES`].
static IDS: LazyLock<Vec<(String, usize)>> = LazyLock::new(|| {
    let ids = |(place, (id, text)): (usize, &(&str, &str))| match sources::figures(text) {
        Ok(Some(names)) => names.iter().map(|name| (sources::id_of(id, name), place)).collect(),
        _ => vec![((*id).to_owned(), place)],
    };
    let mut all: Vec<_> =
        FILES.iter().enumerate().filter(|(_, (id, _))| !id.ends_with("/paper")).flat_map(ids).collect();
    all.sort_by_key(|(id, _)| format!("{id}.toml"));
    all
});

/// The paper of each folder, as one cites it.
static PAPERS: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
    let cite = |(id, text): &(&'static str, &str)| {
        let table: toml::Table = toml::from_str(text).ok()?;
        Some((id.strip_suffix("/paper")?, table.get("cite")?.as_str()?.to_owned()))
    };
    FILES.iter().filter_map(cite).collect()
});

/// The experiments of a file that comes with the program.
fn of_file(place: usize) -> Result<Vec<Experiment>, FileError> {
    let (id, text) = FILES[place];
    let folder = id.split('/').next().unwrap_or_default();
    let (own, beside) = (format!("experiments/papers/{id}.toml"), format!("experiments/papers/{folder}/{PAPER}.toml"));
    let paper = FILES.iter().find(|(known, _)| known.strip_suffix("/paper") == Some(folder));
    Experiment::read(id, Source { path: &own, text }, paper.map(|(_, text)| Source { path: &beside, text }))
}

/// The experiments of a file, with what `paper.toml` beside it adds.
///
/// # Errors
/// If one of them cannot be read, or something is wrong with it.
pub fn load(path: &Path) -> Result<Vec<Experiment>, FileError> {
    let name = path.display().to_string();
    let text = text_of(path)?;
    let stem = path.file_stem().map_or(name.clone(), |stem| stem.to_string_lossy().into_owned());
    if stem == PAPER {
        let message = "this is what the files beside it share; name one of those".to_owned();
        return Err(FileError { path: name, place: None, message });
    }
    let beside = path.with_file_name(format!("{PAPER}.toml"));
    let shared = beside.exists().then(|| text_of(&beside)).transpose()?;
    let beside = beside.display().to_string();
    let paper = shared.as_ref().map(|text| Source { path: &beside, text });
    Experiment::read(&stem, Source { path: &name, text: &text }, paper)
}

/// Every experiment.
///
/// # Errors
/// If a file that comes with the program is wrong.
pub fn all() -> Result<Vec<Experiment>, FileError> {
    let mut all = Vec::new();
    for place in IDS.iter().map(|(_, place)| *place).collect::<BTreeSet<usize>>() {
        all.extend(of_file(place)?);
    }
    all.sort_by_key(|experiment| IDS.iter().position(|(id, _)| *id == experiment.id));
    Ok(all)
}

/// The ids of all experiments.
pub fn ids() -> impl Iterator<Item = &'static str> {
    IDS.iter().map(|(id, _)| id.as_str())
}

/// One experiment by its id.
pub fn find(id: &str) -> Option<Result<Experiment, FileError>> {
    let (_, place) = IDS.iter().find(|(known, _)| known == id)?;
    of_file(*place).map(|all| all.into_iter().find(|experiment| experiment.id == id)).transpose()
}

/// No experiment or paper has the name. The message suggests the nearest.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("there is no experiment `{word}`{}; `tandem papers list` shows them all", hint(.word))]
pub struct UnknownExperiment {
    word: String,
}

/// The ids that a word means: an id such as `s0/fig3`, or a paper such as `s0`.
///
/// # Errors
/// If it means none.
pub fn ids_of(word: &str) -> Result<Vec<&'static str>, UnknownExperiment> {
    let found: Vec<&str> = ids().filter(|id| *id == word || id.split('/').next() == Some(word)).collect();
    if found.is_empty() { Err(UnknownExperiment { word: word.to_owned() }) } else { Ok(found) }
}

/// The experiment or paper that a word was likely to be.
fn hint(word: &str) -> String {
    let papers = ids().filter_map(|id| id.split('/').next());
    let distance = |known: &str| strsim::damerau_levenshtein(&word.to_lowercase(), known);
    let nearest = ids().chain(papers).min_by_key(|known| distance(known)).filter(|known| distance(known) <= 2);
    nearest.map_or(String::new(), |id| format!(", did you mean `{id}`?"))
}

/// The paper that an experiment is from, as one cites it.
pub fn source(id: &str) -> Option<&'static str> {
    let folder = id.split('/').next()?;
    PAPERS.get(folder).map(String::as_str)
}
