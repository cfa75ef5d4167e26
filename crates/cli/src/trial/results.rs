// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of a trial: whole at any time, and never those of another.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serde::Serialize;
use tandem_report::figures_html;
use tandem_trial::{PeerNames, Record, as_ss, batch, schema};

use super::{
    course::{History, Outcome},
    page::page,
};
use crate::{
    failure::Failure,
    folder::{Folder, RESULTS_FILE, named},
    origin::{COMMIT, command_line},
    output::{json_text, write, write_report},
};

/// What `results.json` has.
#[derive(Serialize)]
struct ResultsFile<'a> {
    version: &'static str,
    commit: &'static str,
    command: String,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

pub struct Results {
    folder: Folder,
    names: PeerNames,
    arms: [String; 2],
    has_no_report: bool,
    /// Files of connections so far.
    parts: usize,
}

impl Results {
    /// Before the trial begins, so that it does not end with "permission denied".
    pub fn prepare(
        out: Option<&PathBuf>,
        names: PeerNames,
        arms: [String; 2],
        has_no_report: bool,
    ) -> Result<Self, Failure> {
        let path = match out {
            Some(path) if has_trial(path) => {
                let message = format!("`{}` holds a trial; choose another folder with --out", path.display());
                return Err(Failure::Usage(anyhow!(message)));
            }
            Some(path) => path.clone(),
            None => (1..)
                .map(|number| if number == 1 { named("trial") } else { named(&format!("trial-{number}")) })
                .find(|path| !has_trial(path))
                .expect("there are more numbers than folders"),
        };
        let folder = Folder::at(&path)?;
        Ok(Self { folder, names, arms, has_no_report, parts: 0 })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// In a file of their own.
    pub fn write_connections(&mut self, records: &[Record]) -> Result<(), Failure> {
        if records.is_empty() {
            return Ok(());
        }
        self.parts += 1;
        let path = self.folder().join(part(self.parts));
        let table = batch(records, [&self.arms[0], &self.arms[1]], &self.names).context("a table of connections")?;
        tandem_tables::write_parquet(&path, schema(), &[table]).context("cannot keep the connections")?;
        Ok(())
    }

    /// A connection of the second controller, as a measurement of the path.
    pub fn write_path(&self, connection: &Record) -> Result<(), Failure> {
        write(&self.folder().join(PATH_FILE), &as_ss(connection, &self.arms[1], &self.names))
    }

    pub fn write_answer(&self, outcome: &Outcome, history: &History) -> Result<(), Failure> {
        let results =
            ResultsFile { version: env!("CARGO_PKG_VERSION"), commit: COMMIT, command: command_line(), outcome };
        write(&self.folder().join(RESULTS_FILE), &json_text(&results)?)?;
        write_report(self.has_no_report, self.folder(), || figures_html(&page(outcome, history)))
    }
}

/// For `tandem advise --from`.
const PATH_FILE: &str = "path.txt";

fn part(number: usize) -> String {
    format!("connections-{number}.parquet")
}

/// Also one that was killed before it wrote its first answer.
fn has_trial(folder: &Path) -> bool {
    [RESULTS_FILE, &part(1)].iter().any(|name| folder.join(name).exists())
}
