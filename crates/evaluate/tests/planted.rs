// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bad controllers, each with one fault, are caught by the criterion that the fault breaks, and by none that has nothing to do with it;
//! Reno and CUBIC fail none but those where the literature says so.
//!
//! All criteria of all of them take minutes. `UPDATE_PLANTED=1 cargo test --test planted` runs them and writes planted/cross.toml;
//! the other tests hold that file against what is expected, and run for each fault the criterion that it breaks.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::LazyLock};

use serde::Deserialize;
use tandem_batch::Batch;
use tandem_evaluate::{Answer, Assessment, NEIGHBOURS_OF_ALL, criteria, evaluate};
use tandem_papers::{Experiment, Form};
use tandem_sim::Sim;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    kinds: Vec<Kind>,
    planted: Vec<Planted>,
}

/// What faults of a kind may break as well.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    name: String,
    #[serde(rename = "why")]
    _why: String,
    criteria: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Planted {
    name: String,
    breaks: Vec<String>,
    kind: String,
    /// Criteria beside those of the kind, with the reason of each.
    #[serde(default)]
    also: BTreeMap<String, String>,
}

impl Expected {
    fn read() -> Self {
        toml::from_str(&fs::read_to_string(folder().join("../planted.toml")).unwrap()).unwrap()
    }

    /// Without the fault it would be Reno, and fail what that fails.
    fn is_allowed(&self, planted: &Planted, of_reno: &[String], id: &str) -> bool {
        let kind = self.kinds.iter().find(|kind| kind.name == planted.kind);
        let kind = kind.unwrap_or_else(|| panic!("{}: there is no kind `{}`", planted.name, planted.kind));
        let beside = kind.criteria.iter().chain(planted.also.keys()).chain(of_reno);
        planted.breaks.iter().chain(beside).any(|one| one == id)
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/planted")
}

/// A header of that name, if there is one, otherwise a controller of Tandem's.
fn contender(name: &str) -> String {
    let header = folder().join(format!("{name}.h"));
    if header.exists() { header.display().to_string() } else { name.to_owned() }
}

/// The criteria of a controller; those with these ids alone, if there are any.
fn posed(name: &str, ids: &[String]) -> Vec<Experiment> {
    let mut all = criteria(&contender(name), &[], &NEIGHBOURS_OF_ALL).unwrap_or_else(|e| panic!("{name}: {e}"));
    let known: Vec<String> = all.iter().map(|one| short(&one.id).to_owned()).collect();
    assert!(ids.iter().all(|id| known.contains(id)), "{name}: {ids:?}; there are {known:?}");
    all.retain(|one| ids.is_empty() || ids.iter().any(|id| short(&one.id) == id));
    all
}

fn assess(name: &str, ids: &[String]) -> Assessment {
    let batch = Batch { quiet: true, ..Batch::default() };
    evaluate(name, &posed(name, ids), Form::Quick, &Sim, &batch, None).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn short(id: &str) -> &str {
    id.trim_start_matches("rfc9743/")
}

/// Which criteria have this answer.
fn with(assessment: &Assessment, answer: Answer) -> Vec<String> {
    let rows = assessment.rows.iter().filter(|row| row.answer == answer);
    rows.map(|row| short(&row.id).to_owned()).collect()
}

/// What failed whom, by the file that is kept. With UPDATE_PLANTED=1 it is run and written first, once for all tests that ask.
static KEPT: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    if std::env::var_os("UPDATE_PLANTED").is_some() {
        update();
    }
    toml::from_str(&fs::read_to_string(folder().join("cross.toml")).unwrap()).unwrap()
});

/// Runs all criteria of all controllers, and writes those that fail each.
fn update() {
    let expected = Expected::read();
    let planted = expected.planted.iter().map(|planted| planted.name.as_str());
    let names = ["reno", "cubic", "sound"].into_iter().chain(planted);
    let found: BTreeMap<String, Vec<String>> =
        names.map(|name| (name.to_owned(), with(&assess(name, &[]), Answer::Fails))).collect();
    let text = "# SPDX-License-Identifier: MIT OR Apache-2.0\n# Written by planted.rs: the criteria that fail each, quick runs.\n";
    fs::write(folder().join("cross.toml"), text.to_owned() + &toml::to_string_pretty(&found).unwrap()).unwrap();
}

#[test]
fn each_fault_is_caught_by_its_criterion() {
    for planted in Expected::read().planted {
        let assessment = assess(&planted.name, &planted.breaks);
        assert_eq!(with(&assessment, Answer::Fails), planted.breaks, "{}", planted.name);
    }
}

/// Each header is expected to break something, and each that is expected is there.
#[test]
fn every_header_is_tried() {
    let expected = Expected::read();
    let mut names: Vec<String> = expected.planted.into_iter().map(|planted| planted.name).collect();
    // What they share, Reno, and what ends the program.
    names.extend(["planted", "sound", "zero"].map(String::from));
    names.sort();
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut headers: Vec<String> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "h"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    headers.sort();
    assert_eq!(names, headers);
    assert!(names.len() - 3 >= 15, "{names:?}");
}

#[test]
fn no_other_criterion_fails_a_fault() {
    let (expected, of_reno) = (Expected::read(), known("reno"));
    for planted in &expected.planted {
        let failing = KEPT.get(&planted.name).unwrap_or_else(|| panic!("{}: run all anew", planted.name));
        let missing: Vec<_> = planted.breaks.iter().filter(|id| !failing.contains(id)).collect();
        let unrelated: Vec<_> = failing.iter().filter(|id| !expected.is_allowed(planted, &of_reno, id)).collect();
        assert!(missing.is_empty() && unrelated.is_empty(), "{}: {missing:?}, {unrelated:?}", planted.name);
    }
}

/// What the files say of a controller by the literature.
fn known(name: &str) -> Vec<String> {
    let fails = |one: &Experiment| {
        one.criterion().is_some_and(|criterion| criterion.known.iter().any(|known| known.controller == name))
    };
    posed(name, &[]).iter().filter(|one| fails(one)).map(|one| short(&one.id).to_owned()).collect()
}

/// A header that is Reno fails what Reno fails.
#[test]
fn sound_controllers_fail_where_the_literature_says_so() {
    for (name, as_) in [("reno", "reno"), ("sound", "reno"), ("cubic", "cubic")] {
        assert_eq!(KEPT[name], known(as_), "{name}");
    }
}
