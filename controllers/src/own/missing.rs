// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a header lacks, or has too much of. A compiler says it of our files, where the user cannot mend it.

use std::{collections::BTreeSet, fs};

use super::{HEADERS, OwnError, compiler::Workshop, load};

/// The names that a host asks a header for, without the controller's: `_init`, `_PARAMS` and so on, as controller.h has them.
fn asked_for() -> BTreeSet<&'static str> {
    let text = HEADERS.iter().find(|(name, _)| *name == "controller.h").expect("it is one of ours").1;
    text.split("OP(").skip(1).filter_map(|rest| rest.split(')').next()).filter(|name| name.starts_with('_')).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// The parts that a header does not have.
pub fn parts(workshop: &Workshop) -> Option<OwnError> {
    let header = workshop.header();
    // With macros' definitions, and with what macros make.
    let output = workshop.run(&["-E", "-P", "-dD", "alone.c"]).ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let has = words(&text);
    let name = &header.name;
    let lacks = |part: &&str| !has.contains(format!("{name}{part}").as_str());
    let mut what: Vec<String> = asked_for().into_iter().filter(lacks).map(|part| format!("`{name}{part}`")).collect();
    if !text.contains(&format!("struct {name} ")) && !text.contains(&format!("struct {name}\n")) {
        what.push(format!("`struct {name}`"));
    }
    (!what.is_empty()).then(|| OwnError::Lacks { path: header.shown.clone(), what })
}

/// Is the state too large? Then how large it is, and where.
pub fn room(workshop: &Workshop, stderr: &[u8]) -> Option<OwnError> {
    // The words of our own assertion.
    if !String::from_utf8_lossy(stderr).contains("the state exceeds") {
        return None;
    }
    workshop.run(&["-fPIC", "-shared", "sizes.c", "-o", "sizes.so"]).ok().filter(|output| output.status.success())?;
    let (bytes, room) = load::sizes(&workshop.folder().join("sizes.so"))?;
    let header = workshop.header();
    let text = fs::read_to_string(&header.path).unwrap_or_default();
    let begins = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("struct") && words.next().is_some_and(|word| word.trim_end_matches('{') == header.name)
    };
    let line = text.lines().position(begins).map_or(String::new(), |line| format!(":{}", line + 1));
    let (place, name) = (format!("{}{line}", header.shown), header.name.clone());
    Some(OwnError::StateTooLarge { place, name, bytes: bytes as usize, room: room as usize })
}
