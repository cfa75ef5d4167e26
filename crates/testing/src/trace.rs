// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden traces of Tandem's own controllers, and what plays them.

use std::{
    fs,
    path::{Path, PathBuf},
};

pub use tandem_conform::{
    contract::Contract,
    golden::{Command, Expected, Host, PlayError, Rate, parse},
};

/// The trace files in `controllers/vectors/`, sorted by name.
pub fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../controllers/vectors");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "trace"))
        .collect();
    files.sort();
    files
}

/// The commands of a trace with their line numbers.
pub fn commands(path: &Path) -> Vec<(usize, Command)> {
    let text = fs::read_to_string(path).unwrap();
    let parsed = text.lines().enumerate().filter_map(|(i, line)| match parse(line) {
        Ok(command) => command.map(|c| (i + 1, c)),
        Err(e) => panic!("{}:{}: {e}", path.display(), i + 1),
    });
    parsed.collect()
}
