// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of the suite, read for a controller.

use serde::{Deserialize, Serialize};
use tandem_papers::Experiment;
use tandem_scenario::{ControllerSpec, FileError, KERNEL_PREFIX};

/// Name and text of every file, in order.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The file that lists what no run answers.
const UNPOSED: &str = "unposed";

/// What stands in a file for the controller that is judged.
const CONTENDER: &str = "\"contender\"";

/// Why a controller cannot be judged, and the mend.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// It is no controller.
    #[error("{0}")]
    Contender(String),
    /// It runs in a kernel only.
    #[error(
        "`{0}` runs over real TCP only, and the criteria are simulated: name a controller of `tandem list controllers`"
    )]
    Kernel(String),
    /// There is no such section.
    #[error("there is no criterion `{0}`; there are {1}")]
    Section(String, String),
    /// A file of the suite is wrong for this controller.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A criterion that no run answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unposed {
    /// Of RFC 9743.
    pub section: String,
    /// What the section is about.
    pub title: String,
    /// Why it is not posed.
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnposedFile {
    unposed: Vec<Unposed>,
}

/// The criteria that no run answers.
pub fn unposed() -> Vec<Unposed> {
    let (_, text) = FILES.iter().find(|(name, _)| *name == UNPOSED).expect("the file is in the suite");
    toml::from_str::<UnposedFile>(text).expect("tests read it").unposed
}

/// The criteria as experiments in which `contender` is judged; of these sections alone (`5.1.3`, or `7` for all of section 7), if any is
/// named.
///
/// # Errors
/// If `contender` is no controller that can be simulated, or there is no such section.
pub fn criteria(contender: &str, sections: &[String]) -> Result<Vec<Experiment>, SuiteError> {
    contender.parse::<ControllerSpec>().map_err(|e| SuiteError::Contender(e.to_string()))?;
    if contender.starts_with(KERNEL_PREFIX) {
        return Err(SuiteError::Kernel(contender.to_owned()));
    }
    let name = toml::Value::String(from_anywhere(contender)).to_string();
    let read = |(stem, text): &(&str, &str)| {
        let path = format!("experiments/rfc9743/{stem}.toml");
        Experiment::parse(&format!("rfc9743/{stem}"), &path, &text.replace(CONTENDER, &name))
    };
    let files = FILES.iter().filter(|(stem, _)| *stem != UNPOSED);
    let mut all = files.map(read).collect::<Result<Vec<_>, _>>()?;
    for wanted in sections {
        if !all.iter().any(|experiment| is_of(experiment, wanted)) {
            let mut known: Vec<&str> = all.iter().flat_map(sections_of).collect();
            known.dedup();
            return Err(SuiteError::Section(wanted.clone(), known.join(", ")));
        }
    }
    all.retain(|experiment| sections.is_empty() || sections.iter().any(|wanted| is_of(experiment, wanted)));
    Ok(all)
}

/// A header's path is the user's, not relative to the suite's folder.
fn from_anywhere(contender: &str) -> String {
    let is_path = contender.contains('/');
    let absolute = is_path.then(|| std::path::absolute(contender).ok()).flatten();
    absolute.map_or_else(|| contender.to_owned(), |path| path.display().to_string())
}

fn sections_of(experiment: &Experiment) -> impl Iterator<Item = &str> {
    experiment.criterion().into_iter().flat_map(|criterion| criterion.section.split(", "))
}

fn is_of(experiment: &Experiment, wanted: &str) -> bool {
    sections_of(experiment)
        .any(|section| section.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file is read in every form, for a controller with parameters and for the one that the files compare with.
    #[test]
    fn every_criterion_can_be_posed_of_any_controller() {
        for contender in ["cubic", "compound@gamma=20", "bbr3"] {
            let all = criteria(contender, &[]).unwrap_or_else(|e| panic!("{contender}: {e}"));
            assert!(all.len() >= 20);
            assert!(all.iter().all(|experiment| experiment.criterion().is_some()));
        }
        assert!(unposed().len() >= 4);
    }

    #[test]
    fn sections_are_chosen_by_their_number() {
        let ids = |wanted: &str| {
            let wanted = [wanted.to_owned()];
            criteria("reno", &wanted).map(|all| all.into_iter().map(|e| e.id).collect::<Vec<_>>())
        };
        assert_eq!(ids("5.1.3").expect("it is there"), ["rfc9743/5.1.3-loss"]);
        assert_eq!(ids("6.4").expect("two sections share a file"), ["rfc9743/6.3-loss"]);
        assert!(ids("7").expect("a whole section").len() > 5);
        // 7.1 is not 7.11.
        assert_eq!(ids("7.1").expect("it is there"), ["rfc9743/7.1-aqm"]);
        let error = ids("5.9").expect_err("there is none").to_string();
        assert!(error.contains("`5.9`") && error.contains("5.1.1, 5.1.2"), "{error}");
    }

    #[test]
    fn what_is_no_controller_is_refused() {
        let error = criteria("cubik", &[]).expect_err("a misspelling").to_string();
        assert!(error.contains("did you mean `cubic`?"), "{error}");
        let error = criteria("kernel:bbr", &[]).expect_err("the kernel's").to_string();
        assert!(error.contains("real TCP only"), "{error}");
    }
}
