// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random cases: the same ones each time in `make test`, others in `make fuzz`; and those that once failed.

use std::{
    env,
    fmt::Debug,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngSeed, TestCaseResult, TestError, TestRunner},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A test on random cases; [`random_test!`](crate::random_test) fills it in.
pub struct Test {
    /// Folder of the calling crate.
    pub crate_dir: &'static str,
    /// Source file of the test, relative to the workspace.
    pub file: &'static str,
    /// Name of the test function.
    pub name: &'static str,
    /// Successful cases to be played.
    pub cases: u32,
    /// In a child process: a case may kill the process, and only then can it still be shrunk. One such test a program.
    pub fork: bool,
}

/// `random_test!(name, cases)`: the test function `name` of the calling crate.
#[macro_export]
macro_rules! random_test {
    ($name:ident, $cases:expr) => {
        $crate::random::Test {
            crate_dir: env!("CARGO_MANIFEST_DIR"),
            file: file!(),
            name: stringify!($name),
            cases: $cases,
            fork: false,
        }
    };
}

/// What `make fuzz` writes when a case fails, for `make test` to play again.
#[derive(Serialize, Deserialize)]
struct Finding<C> {
    /// What was wrong when it was found.
    found: String,
    case: C,
}

/// The environment variable that gives other cases.
const SEED: &str = "PROPTEST_RNG_SEED";

/// The seed of the random cases: 1, or what `PROPTEST_RNG_SEED` says.
pub fn seed() -> u64 {
    env::var(SEED).ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The configuration of tests that `proptest!` writes: this many cases, the same ones each time.
pub fn fixed(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(seed()), failure_persistence: None, ..Config::default() }
}

impl Test {
    /// Plays every finding in `tests/regressions/NAME/` of the crate, then the random cases. Panics if one fails, with the
    /// simplest case that does; with `PROPTEST_RNG_SEED` in the environment that case becomes another finding.
    pub fn run<S>(&self, strategy: S, play: impl Fn(S::Value) -> TestCaseResult)
    where
        S: Strategy,
        S::Value: Serialize + DeserializeOwned + Clone + Debug,
    {
        for path in self.findings() {
            let finding: Finding<S::Value> = serde_json::from_str(&fs::read_to_string(&path).unwrap())
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            if let Err(e) = play(finding.case) {
                panic!("{}: {e}", path.display());
            }
        }
        let config =
            Config { fork: self.fork, test_name: Some(self.name), source_file: Some(self.file), ..fixed(self.cases) };
        match TestRunner::new(config).run(&strategy, play) {
            Ok(()) => {}
            Err(TestError::Fail(reason, case)) => {
                let seed = seed();
                let kept = if env::var_os(SEED).is_some() {
                    let finding = Finding { found: reason.to_string(), case: case.clone() };
                    format!("\nwritten to {}", self.keep(&finding).display())
                } else {
                    String::new()
                };
                panic!("{}, seed {seed}: {reason}{kept}\nthe simplest case that fails: {case:?}", self.name);
            }
            Err(abort) => panic!("{}, seed {}: {abort}", self.name, seed()),
        }
    }

    fn folder(&self) -> PathBuf {
        Path::new(self.crate_dir).join("tests/regressions").join(self.name)
    }

    fn findings(&self) -> Vec<PathBuf> {
        let Ok(folder) = fs::read_dir(self.folder()) else { return Vec::new() };
        let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    /// Writes a finding to a file named after what it holds.
    fn keep<C: Serialize>(&self, finding: &Finding<C>) -> PathBuf {
        let text = serde_json::to_string_pretty(finding).unwrap() + "\n";
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let path = self.folder().join(format!("{:016x}.json", hasher.finish()));
        fs::create_dir_all(self.folder()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }
}
