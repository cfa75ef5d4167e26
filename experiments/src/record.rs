// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is kept of a run: all numbers and verdicts, without the words of the experiment's file. From it the documents are written again
//! without running anything.

use std::{fs, io, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    error::RecordError,
    file::Experiment,
    findings::{Findings, Reading},
    kernel::KernelComparison,
    plan::Form,
};

/// One experiment's numbers. `results/s0/fig3.json` has those of `s0/fig3`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Paper and figure, such as `s0/fig3`.
    pub id: String,
    /// The form that ran.
    pub form: Form,
    /// Name of the engine that ran it.
    pub engine: String,
    /// The seeds of the run with the most.
    pub seeds: Vec<u64>,
    /// The smallest number of seeds of a run.
    pub fewest_seeds: usize,
    /// Of the published values, how many lie among the values of single seeds, and how many there are.
    pub inside_spread: Option<(usize, usize)>,
    /// Labels of the points on the x axis.
    pub x: Vec<String>,
    /// The experiment as its file sets it up.
    #[serde(flatten)]
    pub own: Reading,
    /// The same with other readings of what the paper leaves open.
    pub variants: Vec<Reading>,
    /// Over real TCP, where it was run so.
    pub kernel: Option<KernelComparison>,
}

/// Id and text of every record that is kept, in order.
const RECORDS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/records.rs"));

impl Record {
    /// The record that comes with the program; `None` if the experiment has none.
    ///
    /// # Errors
    /// If it is not a record.
    pub fn kept(id: &str) -> Option<Result<Self, RecordError>> {
        let (_, text) = RECORDS.iter().find(|(known, _)| *known == id)?;
        Some(Self::parse(&format!("experiments/results/{id}.json"), text))
    }

    /// The record of an experiment in a folder; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not a record.
    pub fn open(folder: &Path, id: &str) -> Option<Result<Self, RecordError>> {
        let path = folder.join(format!("{id}.json"));
        let name = path.display().to_string();
        match fs::read_to_string(&path) {
            Ok(text) => Some(Self::parse(&name, &text)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(source) => Some(Err(RecordError::Read { name, source })),
        }
    }

    fn parse(name: &str, text: &str) -> Result<Self, RecordError> {
        serde_json::from_str(text).map_err(|source| RecordError::Json { name: name.to_owned(), source })
    }

    /// As its file has it: JSON, a line for each reading, so that a difference shows where it is.
    ///
    /// # Errors
    /// If a number is none that JSON knows.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string(self)?.replace("\"claims\":", "\n\"claims\":").replace("\"curves\":", "\n\"curves\":")
            + "\n")
    }

    /// Whether the experiment's file still has the points, curves and claims that were judged; otherwise which it has not.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self, experiment: &Experiment) -> Result<(), RecordError> {
        let file = &experiment.file;
        let of_file = file.claims.iter().map(|c| (c.get_ref().headline, c.get_ref().ours, c.get_ref().text.as_str()));
        let mut claims: Vec<_> = of_file.collect();
        claims.sort_by_key(|(headline, ..)| !headline);
        let judged = self.own.claims.iter().map(|c| (c.headline, c.ours, c.text.as_str()));
        let curves = file.curves.iter().map(|c| c.get_ref().name.as_str());
        let what = if !judged.eq(claims) {
            "claims"
        } else if !curves.eq(self.own.curves.iter().map(|c| c.name.as_str())) {
            "curves"
        } else {
            return Ok(());
        };
        Err(RecordError::Stale { id: self.id.clone(), what })
    }
}

impl Findings {
    /// The findings of an experiment, from its record.
    pub fn new(experiment: &Experiment, record: Record) -> Self {
        let file = &experiment.file;
        let Record { id, form, engine, seeds, fewest_seeds, inside_spread, x, own, variants, kernel } = record;
        let differs = own.differs();
        Self {
            id,
            title: file.title.clone(),
            claim: file.claim.clone(),
            verdict: own.verdict(),
            reason: own.reason(),
            why: file.why.clone().filter(|_| differs),
            more: file.more.clone().filter(|_| differs),
            note: file.note.clone(),
            form,
            engine,
            machines: file.machines,
            seeds,
            fewest_seeds,
            assumptions: file.assumptions.clone(),
            inside_spread,
            x,
            file: experiment.table(),
            own,
            variants,
            kernel,
            cautions: Vec::new(),
        }
    }

    /// The kept part of it.
    pub fn record(&self) -> Record {
        Record {
            id: self.id.clone(),
            form: self.form,
            engine: self.engine.clone(),
            seeds: self.seeds.clone(),
            fewest_seeds: self.fewest_seeds,
            inside_spread: self.inside_spread,
            x: self.x.clone(),
            own: self.own.clone(),
            variants: self.variants.clone(),
            kernel: self.kernel.clone(),
        }
    }
}
