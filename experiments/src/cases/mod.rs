// SPDX-License-Identifier: MIT OR Apache-2.0
//! Test cases that a specification lists: what a flow does in a named state, judged ACK by ACK.
//!
//! "Upon entering a state" takes two runs: the first tells when that is, and in the second the path changes then. Until that moment the two are
//! the same, for nothing here depends on anything but the scenario and its seed.

mod claim;
mod expression;
mod file;
mod page;
mod row;
mod run;

pub use claim::Outcome;
pub use page::{markdown, text};
pub use run::{CONTROLLERS, CaseRun, Found, run};

use file::CaseFile;

/// The files of cases/: id and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// A case that cannot be read or posed, or that is not there: what is wrong, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(String);

impl From<String> for CaseError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

/// A case.
#[derive(Debug)]
pub struct Case {
    /// Such as `bbr-draft/01-startup-plateau`.
    pub id: String,
    file: CaseFile,
}

impl Case {
    /// A case from a file's text; `path` names it in messages.
    ///
    /// # Errors
    /// With what is wrong in the file, and where.
    pub fn parse(id: &str, path: &str, text: &str) -> Result<Self, CaseError> {
        let file = CaseFile::parse(text).map_err(|message| format!("{path}: {message}"))?;
        Ok(Self { id: id.to_owned(), file })
    }

    /// The heading.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// What it asks for.
    pub fn asks(&self) -> &str {
        &self.file.asks
    }
}

/// The cases that a word means: all, a suite such as `bbr-draft`, or an id; `bbr-draft/07` is enough of one.
///
/// # Errors
/// If there are none, or a file is wrong.
pub fn cases(word: &str) -> Result<Vec<Case>, CaseError> {
    let is_meant = |id: &str| {
        let (suite, case) = id.split_once('/').unwrap_or((id, ""));
        word.is_empty()
            || word == suite
            || word.split_once('/').is_some_and(|(s, c)| s == suite && !c.is_empty() && case.starts_with(c))
    };
    let meant = FILES.iter().filter(|(id, _)| is_meant(id));
    let all: Vec<Case> =
        meant.map(|(id, text)| Case::parse(id, &format!("cases/{id}.toml"), text)).collect::<Result<_, _>>()?;
    if all.is_empty() {
        Err(CaseError(format!("there are no cases `{word}`; `tandem papers cases --list` shows them")))
    } else {
        Ok(all)
    }
}
