// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the built program in a folder of its own.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tandem_testing::{Running, output, trusted_run};
use tempfile::TempDir;

/// A path on which a run takes milliseconds.
pub const QUICK: &str = "--rate 10mbit --rtt 20ms --queue 20p --duration 3s --warmup 1s";

/// [`QUICK`] as a file; tests replace a line of it, and name lines by their numbers.
pub const QUICK_FILE: [&str; 8] = [
    r#"duration = "3s""#,
    r#"warmup = "1s""#,
    r#"[dumbbell]"#,
    r#"rate = "10mbit""#,
    r#"rtt = "20ms""#,
    r#"queue = "20p""#,
    r#"[[flows]]"#,
    r#"controller = "reno""#,
];

pub struct Place {
    folder: TempDir,
    /// Of finished runs: never the developer's own.
    store: &'static str,
}

pub struct Finished {
    /// `None`: ended by a signal.
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), store: "off" }
    }

    /// Where commands share their finished runs, in the folder `store`.
    pub fn with_store() -> Self {
        Self { store: "store", ..Self::new() }
    }

    /// Finished runs in the folder `store`.
    pub fn stored_runs(&self) -> u64 {
        let shown = self.succeed("store --json").out;
        serde_json::from_str::<Value>(&shown).unwrap()["runs"].as_u64().unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names in a folder, in order.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program with these arguments, split at spaces.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tandem"));
        command.args(arguments.split_whitespace()).current_dir(&self.folder).stdin(Stdio::null());
        command.env("TANDEM_STORE", self.store);
        command
    }

    /// Starts the program; what it writes is kept.
    pub fn start(&self, arguments: &str) -> Running {
        Running::start_piped(&mut self.command(arguments))
    }

    pub fn tandem(&self, arguments: &str) -> Finished {
        output(&mut self.command(arguments)).into()
    }

    /// As [`Self::tandem`], where nothing may go wrong.
    pub fn succeed(&self, arguments: &str) -> Finished {
        let finished = self.tandem(arguments);
        assert_eq!(finished.status, Some(0), "tandem {arguments}\n{}", finished.err);
        finished
    }
}

/// A run over real TCP that may be judged, and its `emulation`; `None`, and said so, if the machine is too busy. `run` may assert what holds
/// of doubted runs, too.
pub fn trusted<R>(mut run: impl FnMut() -> (R, Value)) -> Option<R> {
    trusted_run(|| {
        let (outcome, emulation) = run();
        let doubts = emulation["doubts"].as_array().unwrap_or_else(|| panic!("no doubts in {emulation}"));
        (outcome, doubts.iter().map(|doubt| doubt.as_str().unwrap().to_owned()).collect())
    })
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}
