// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the papers published, run again here and judged.
//!
//! An experiment is a figure or table of a paper: a file in experiments/papers/ with the set-up, its curves, the published numbers and the
//! claims as something that can be checked. The way is: set-up, runs in a batch, [`Sample`], claim, [`Verdict`], document.
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
mod measure;
mod outcome;
mod page;
mod patch;
mod plan;
pub mod prose;
mod record;
mod sample;
mod show;
mod table;
mod tally;
mod until;
mod verdict;

use tandem_scenario::FileError;

pub use document::{Document, Place, markdown};
pub use error::{RealTcpRunsError, RecordError, RunError};
pub use file::{Criterion, Experiment, Known};
pub use findings::{Findings, Reading, Seeds, run};
pub use judge::Points;
pub use judged::{Decider, Judged};
pub use kernel::{
    Difference, KernelComparison, Missing, RealTcpRun, RealTcpRuns, WindowSample, bottleneck, measure, measure_shared,
    missing, scenario_key,
};
pub use page::{page, picture};
pub use patch::X;
pub use plan::Form;
pub use record::Record;
pub use sample::Sample;
pub use show::show;
pub use table::text;
pub use tally::Tally;
pub use verdict::Verdict;

/// Id and text of every file, in order.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Id and text of every file of a suite that any controller can be judged by, in order.
pub const SUITES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// The paper of each folder.
const PAPERS: [(&str, &str); 5] = [
    (
        "s0",
        "Tan, Song, Zhang, Sridharan: Compound TCP: A Scalable and TCP-Friendly Congestion Control for High-speed Networks, 2006",
    ),
    ("s1", "Tan, Song, Sridharan, Ho: CTCP-TUBE: Improving TCP-Friendliness over Low-Buffered Network Links, 2008"),
    ("s2", "Blanc, Collange, Avrachenkov: Modelling an Isolated Compound TCP Connection, 2009"),
    (
        "s3",
        "Kaneko, Fujikawa, Su, Katto: TCP-Fusion: A Hybrid Congestion Control Algorithm for High-speed Networks, 2007",
    ),
    ("s4", "Oda, Hisamatsu, Noborio: Congestion Control Scheme of Compound TCP+ in Wireless LAN, 2012"),
];

/// Every experiment.
pub fn all() -> Result<Vec<Experiment>, FileError> {
    FILES.iter().map(|(id, text)| Experiment::parse(id, &format!("experiments/papers/{id}.toml"), text)).collect()
}

/// The ids of all experiments.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(id, _)| *id)
}

/// One experiment by its id.
pub fn find(id: &str) -> Option<Result<Experiment, FileError>> {
    let (id, text) = FILES.iter().find(|(known, _)| *known == id)?;
    Some(Experiment::parse(id, &format!("experiments/papers/{id}.toml"), text))
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
    PAPERS.iter().find(|(known, _)| *known == folder).map(|(_, source)| *source)
}
