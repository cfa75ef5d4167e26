// SPDX-License-Identifier: MIT OR Apache-2.0
//! The files of the suite, read for a controller.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs, io,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tandem_papers::{Experiment, PAPER, SUITES, Source};
use tandem_scenario::{ControllerSpec, FileError, Settings};

/// The suite of RFC 9743.
pub const RFC_9743: &str = "rfc9743";

/// The file that lists the criteria that no run answers.
const UNPOSED: &str = "rfc9743/unposed";

/// Placeholders in a file: for the controller under test, its kind of ECN, and its neighbours.
const CONTENDER: &str = "\"contender\"";
const ECN: &str = "\"as the contender\"";
const NEIGHBOURS: &str = "[\"neighbours\"]";

/// The default neighbours.
pub const NEIGHBOURS_OF_ALL: [&str; 2] = ["reno", "cubic"];

/// Why a controller cannot be judged, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// It is not a controller.
    #[error("{0}")]
    Contender(String),
    /// The engine does not have it.
    #[error("`{0}` is {1}, and the criteria are simulated: name a controller of `tandem list controllers`{2}")]
    Foreign(String, &'static str, &'static str),
    /// There is no such suite.
    #[error("there is no suite `{0}`; there are {1}, and folders: ./mine")]
    Suite(String, String),
    /// A folder of files cannot be read.
    #[error("suite {folder}: {source}")]
    Folder {
        /// Which.
        folder: String,
        /// Why.
        source: io::Error,
    },
    /// The folder has no files.
    #[error("suite {0}: there is no file *.toml in it")]
    Empty(String),
    /// No neighbour is named.
    #[error("no neighbour is named: write for example `--against reno,cubic`")]
    NoNeighbour,
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

/// A question to the authors of a controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Of RFC 9743.
    pub section: String,
    /// What is asked.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnposedFile {
    unposed: Vec<Unposed>,
    questions: Vec<Question>,
}

fn unposed_file() -> UnposedFile {
    let (_, text) = SUITES.iter().find(|(name, _)| *name == UNPOSED).expect("the file is in the suite");
    toml::from_str(text).expect("tests read it")
}

/// The criteria that no run answers.
pub fn unposed() -> Vec<Unposed> {
    unposed_file().unposed
}

/// The questions that only a controller's authors can answer.
pub fn questions() -> Vec<Question> {
    unposed_file().questions
}

/// A controller that can be simulated, or run in the QUIC engine, spelled as in files.
fn carried(name: &str, over_quic: bool) -> Result<(ControllerSpec, String), SuiteError> {
    let spec = name.parse::<ControllerSpec>().map_err(|e| SuiteError::Contender(e.to_string()))?;
    let is_noq = matches!(spec, ControllerSpec::Noq(_));
    match spec.with(&Settings::default()).foreign() {
        Some(whose) if !(is_noq && over_quic) => {
            let mend = if is_noq { ", or write --engine quic" } else { "" };
            Err(SuiteError::Foreign(name.to_owned(), whose, mend))
        }
        _ => Ok((spec, toml::Value::String(from_anywhere(name)).to_string())),
    }
}

/// Files by which any controller can be judged: paths, measures and limits, with `contender` for the controller.
#[derive(Debug, Clone)]
pub struct Suite {
    name: String,
    files: Vec<File>,
    /// What the files share.
    paper: Option<File>,
    over_quic: bool,
}

#[derive(Debug, Clone)]
struct File {
    /// The suite's name and its own: `rfc9743/5.1.3-loss`.
    id: String,
    /// For messages.
    path: String,
    text: String,
}

impl File {
    fn source(&self) -> Source<'_> {
        Source { path: &self.path, text: &self.text }
    }
}

impl Suite {
    /// A suite that comes with the program, or the files of a folder, whose name has a `/`: `./mine`.
    ///
    /// # Errors
    /// If there is no such suite, or the folder cannot be read.
    pub fn named(name: &str) -> Result<Self, SuiteError> {
        if name.contains('/') { Self::of_folder(Path::new(name)) } else { Self::kept(name) }
    }

    fn kept(name: &str) -> Result<Self, SuiteError> {
        let own = SUITES.iter().filter(|(id, _)| id.split('/').next() == Some(name) && *id != UNPOSED);
        let file = |(id, text): &(&str, &str)| File {
            id: (*id).to_owned(),
            path: format!("experiments/{id}.toml"),
            text: (*text).to_owned(),
        };
        let files: Vec<File> = own.map(file).collect();
        if files.is_empty() {
            let known: BTreeSet<&str> = SUITES.iter().filter_map(|(id, _)| id.split('/').next()).collect();
            return Err(SuiteError::Suite(name.to_owned(), known.into_iter().collect::<Vec<_>>().join(", ")));
        }
        Ok(Self::of(name.to_owned(), files))
    }

    fn of_folder(folder: &Path) -> Result<Self, SuiteError> {
        let failed = |source| SuiteError::Folder { folder: folder.display().to_string(), source };
        let entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        let part = |name: Option<&OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        let name = part(folder.file_name());
        let file = |path: &PathBuf| {
            let text = fs::read_to_string(path).map_err(failed)?;
            Ok(File { id: format!("{name}/{}", part(path.file_stem())), path: path.display().to_string(), text })
        };
        let suite = Self::of(name.clone(), paths.iter().map(file).collect::<Result<_, SuiteError>>()?);
        if suite.files.is_empty() {
            return Err(SuiteError::Empty(folder.display().to_string()));
        }
        Ok(suite)
    }

    fn of(name: String, mut files: Vec<File>) -> Self {
        let shared = format!("{name}/{PAPER}");
        let paper = files.iter().position(|file| file.id == shared).map(|place| files.remove(place));
        Self { name, files, paper, over_quic: false }
    }

    /// The suite for the QUIC engine, which also has the controllers of the QUIC stack's own.
    pub fn over_quic(self) -> Self {
        Self { over_quic: true, ..self }
    }

    /// As in titles.
    pub fn title(&self) -> String {
        let number = self.name.strip_prefix("rfc").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        number.map_or_else(|| self.name.clone(), |number| format!("RFC {number}"))
    }

    /// Is it RFC 9743's?
    pub fn is_rfc9743(&self) -> bool {
        self.name == RFC_9743
    }

    /// The criteria as experiments that judge `contender`, beside the controllers `against` where a criterion asks for others; only
    /// these sections (`5.1.3`, or `7` for all of section 7), if any is named.
    ///
    /// # Errors
    /// If one of them cannot be simulated, `against` is empty, a file is wrong, or there is no such section.
    pub fn criteria(
        &self,
        contender: &str,
        sections: &[String],
        against: &[&str],
    ) -> Result<Vec<Experiment>, SuiteError> {
        let carried = |name| carried(name, self.over_quic);
        let (spec, name) = carried(contender)?;
        let ecn = if spec.counts_marks() { "\"accurate\"" } else { "\"rfc3168\"" };
        let neighbours = against.iter().map(|name| carried(name).map(|(_, name)| name));
        let neighbours = neighbours.collect::<Result<Vec<_>, _>>()?;
        if neighbours.is_empty() {
            return Err(SuiteError::NoNeighbour);
        }
        let neighbours = format!("[{}]", neighbours.join(", "));
        let posed = |file: &File| {
            let text = file.text.replace(CONTENDER, &name).replace(ECN, ecn).replace(NEIGHBOURS, &neighbours);
            File { text, ..file.clone() }
        };
        let paper = self.paper.as_ref().map(posed);
        let mut all = Vec::new();
        for file in self.files.iter().map(posed) {
            all.extend(Experiment::read(&file.id, file.source(), paper.as_ref().map(File::source))?);
        }
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
}

/// The criteria of RFC 9743, as [`Suite::criteria`].
///
/// # Errors
/// As there.
pub fn criteria(contender: &str, sections: &[String], against: &[&str]) -> Result<Vec<Experiment>, SuiteError> {
    Suite::named(RFC_9743)?.criteria(contender, sections, against)
}

/// A controller as a file in any folder spells it: a header's path is the user's, and not relative to that folder.
pub fn from_anywhere(contender: &str) -> String {
    let is_path = contender.contains('/');
    let absolute = is_path.then(|| std::path::absolute(contender).ok()).flatten();
    absolute.map_or_else(|| contender.to_owned(), |path| path.display().to_string())
}

/// A controller as a file in this folder spells it, whose header is found from there wherever both are moved to.
///
/// # Errors
/// If the folder or the header's is not there.
pub fn from_folder(contender: &str, folder: &Path) -> io::Result<String> {
    let Some((place, name)) = contender.rsplit_once('/') else { return Ok(contender.to_owned()) };
    let place = Path::new(if place.is_empty() { "/" } else { place }).canonicalize()?;
    let folder = folder.canonicalize()?;
    let shared = place.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(place.components().skip(shared)).collect();
    let way = if way.starts_with("..") { way } else { Path::new(".").join(way) };
    Ok(way.join(name).display().to_string())
}

fn sections_of(experiment: &Experiment) -> impl Iterator<Item = &str> {
    experiment.criterion().into_iter().flat_map(|criterion| each_section(&criterion.section))
}

fn is_of(experiment: &Experiment, wanted: &str) -> bool {
    experiment.criterion().is_some_and(|criterion| is_in(&criterion.section, wanted))
}

/// The sections of a criterion: `6.3, 6.4` are two.
fn each_section(sections: &str) -> impl Iterator<Item = &str> {
    sections.split(", ")
}

/// Whether one of a criterion's sections is that which is wanted, or within it.
pub(crate) fn is_in(sections: &str, wanted: &str) -> bool {
    let rest = |section: &str| section.strip_prefix(wanted).map(str::to_owned);
    each_section(sections).filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file is read in every form, for a controller with parameters and for the one that the files compare with.
    #[test]
    fn every_criterion_can_be_posed_of_any_controller() {
        for contender in ["cubic", "compound@gamma=20", "bbr3", "prague", "dctcp"] {
            let all = criteria(contender, &[], &["reno", "bbr"]).unwrap_or_else(|e| panic!("{contender}: {e}"));
            assert!(all.len() >= 20);
            assert!(all.iter().all(|experiment| experiment.criterion().is_some()));
        }
        assert!(!unposed().is_empty() && !questions().is_empty());
    }

    /// The same of the suites beside that of RFC 9743.
    #[test]
    fn all_suites_can_be_posed() {
        for (name, title, criteria) in
            [("prudentia", "prudentia", 2), ("rfc8867", "RFC 8867", 9), ("tcpeval", "tcpeval", 14)]
        {
            let suite = Suite::named(name).expect("it comes with the program");
            assert_eq!(suite.title(), title);
            for contender in ["cubic", "compound@gamma=20", "bbr3", "prague"] {
                let all =
                    suite.criteria(contender, &[], &["reno", "bbr"]).unwrap_or_else(|e| panic!("{contender}: {e}"));
                assert_eq!(
                    all.iter().filter(|experiment| experiment.criterion().is_some()).count(),
                    criteria,
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn headers_are_spelled_from_a_folder() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("mine/tests")).unwrap();
        let from = |header: &str, folder: &str| from_folder(&at(header).display().to_string(), &at(folder)).unwrap();
        assert_eq!(from("mine/a.h@step=8", "mine/tests"), "../a.h@step=8");
        assert_eq!(from("mine/tests/a.h", "mine/tests"), "./a.h");
        assert_eq!(from("mine/tests/a.h", "mine"), "./tests/a.h");
        assert_eq!(from("a.h", "mine/tests"), "../../a.h");
        assert_eq!(from_folder("reno", &at("mine")).unwrap(), "reno");
        assert!(from_folder("./none/a.h", &at("mine")).is_err());
    }

    #[test]
    fn sections_are_chosen_by_their_number() {
        let ids = |wanted: &str| {
            let wanted = [wanted.to_owned()];
            criteria("reno", &wanted, &NEIGHBOURS_OF_ALL).map(|all| all.into_iter().map(|e| e.id).collect::<Vec<_>>())
        };
        assert_eq!(ids("5.1.3").expect("it is there"), ["rfc9743/5.1.3-loss"]);
        assert_eq!(ids("6.4").expect("two sections share a file"), ["rfc9743/6.3-loss", "rfc9743/6.4-acks"]);
        assert!(ids("7").expect("a whole section").len() > 5);
        // 7.1 is not 7.11.
        assert_eq!(ids("7.1").expect("it is there"), ["rfc9743/7.1-aqm", "rfc9743/7.1-marks"]);
        let error = ids("5.9").expect_err("there is none").to_string();
        assert!(error.contains("`5.9`") && error.contains("5.1.1, 5.1.2"), "{error}");
    }

    #[test]
    fn what_is_no_controller_is_refused() {
        for (contender, neighbour, part) in [
            ("cubik", "reno", "did you mean `cubic`?"),
            ("reno", "cubik", "did you mean `cubic`?"),
            ("kernel:bbr", "reno", "is the kernel's own, and the criteria are simulated"),
            ("noq:bbr3", "reno", "`tandem list controllers`, or write --engine quic"),
        ] {
            let error = criteria(contender, &[], &[neighbour]).expect_err("one is no controller").to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(criteria("reno", &[], &[]).is_err());
        let suite = Suite::named(RFC_9743).expect("it comes with the program").over_quic();
        assert_eq!(
            suite.criteria("noq:bbr3", &[], &["noq:cubic"]).map(|all| all.len()).ok(),
            criteria("reno", &[], &["reno"]).map(|all| all.len()).ok()
        );
        assert!(suite.criteria("kernel:bbr", &[], &["reno"]).is_err());
    }

    /// A folder of anybody's, and what can be wrong with it.
    #[test]
    fn suites_are_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().display().to_string();
        let error = |name: &str| Suite::named(name).expect_err(name).to_string();
        assert!(error(&name).contains("no file *.toml"), "{}", error(&name));
        assert!(error(&format!("{name}/none")).starts_with("suite /"));
        assert!(error("none").contains("there are prudentia, rfc8867, rfc9743, tcpeval"), "{}", error("none"));
        for (file, id) in [("paper", "rfc9743/paper"), ("mine", "rfc9743/5.1.2-delay")] {
            let (_, text) = SUITES.iter().find(|(known, _)| *known == id).expect("it is there");
            fs::write(folder.path().join(format!("{file}.toml")), text).expect("written");
        }
        let suite = Suite::named(&name).expect("it has a file");
        let posed = suite.criteria("vegas", &[], &["reno"]).expect("it is posed");
        assert_eq!((posed.len(), posed[0].id.ends_with("/mine")), (1, true));
        fs::write(folder.path().join("wrong.toml"), "title = 1").expect("written");
        let wrong = Suite::named(&name).expect("it is read").criteria("vegas", &[], &["reno"]).expect_err("a title");
        assert!(wrong.to_string().contains("wrong.toml:1:9"), "{wrong}");
    }
}
