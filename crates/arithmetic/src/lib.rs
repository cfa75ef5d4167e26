// SPDX-License-Identifier: MIT OR Apache-2.0
//! For build scripts: names what decides a crate's results by a hash of sources.
//!
//! The hash covers the crate, all crates of this repository that it depends on, and the versions of all others. Nobody lists them: they are
//! read from the manifests and Cargo.lock, so that code which moves to a new crate cannot be forgotten. Comments, layout and unit tests of Rust sources
//! decide nothing: who words a comment better keeps their results. Two builds of the same sources have
//! the same hash, whatever program they are part of.
//!
//! A crate may have a folder of parts of which a run uses only some, like the controllers' headers. Its manifest names it, `apart = ["include"]` in
//! `[package.metadata.arithmetic]`, and its build script makes a hash of each part ([`headers_hash`]). They are then no part of the hash here,
//! and the key of a kept result adds those of the parts that the run used.
//!
//! A build script has the line `tandem_arithmetic::emit(env!("CARGO_PKG_NAME"));`. The hash of a header covers what it includes, and nothing else:
//!
//! ```
//! use std::fs;
//!
//! use tandem_arithmetic::headers_hash;
//!
//! let folder = tempfile::tempdir()?;
//! let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
//! write("reno.h", "#include \"window.h\"\n")?;
//! write("window.h", "int window = 10;\n")?;
//! let hash = || headers_hash(folder.path(), &["reno.h"], &[]);
//! let before = hash();
//! write("cubic.h", "int beta = 7;\n")?;
//! assert_eq!(hash(), before);
//! write("window.h", "int window = 4;\n")?;
//! assert_ne!(hash(), before);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Around it: [tandem-sim](../tandem_sim/index.html), [tandem-model](../tandem_model/index.html) and the other engines have such a hash;
//! [tandem-batch](../tandem_batch/index.html) keeps finished runs by it. [tandem-controllers](../tandem_controllers/index.html) has one for each header.

mod headers;
mod meaning;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

pub use headers::headers_hash;
use meaning::meaning;

/// The folders of a crate that can decide results: Rust, C headers, eBPF.
const SOURCES: [&str; 3] = ["src", "include", "bpf"];

/// Sets the environment variable TANDEM_ARITHMETIC for the crate that is being built, to the hash of `package`: itself or one below it.
///
/// # Panics
/// As [`Repository::hash`]: a build that fails is better than results that stay when the sources change.
pub fn emit(package: &str) {
    let of_cargo = |name: &str| env::var(name).expect("cargo sets it");
    let repository = Repository::above(Path::new(&of_cargo("CARGO_MANIFEST_DIR")));
    let hash = match repository.filter(|repository| repository.is_own(&of_cargo("CARGO_PKG_NAME"))) {
        Some(repository) => {
            repository.watched(package).iter().for_each(|path| println!("cargo::rerun-if-changed={}", path.display()));
            repository.hash(package)
        }
        // A published package: its version says which sources it and those beside it have.
        None => of_cargo("CARGO_PKG_VERSION"),
    };
    println!("cargo::rustc-env=TANDEM_ARITHMETIC={hash}");
}

/// A workspace: its folder, the crates in it by name with their folders, and Cargo.lock.
pub struct Repository {
    root: PathBuf,
    crates: BTreeMap<String, PathBuf>,
    lock: Vec<Table>,
}

fn table_of(path: &Path) -> Option<Table> {
    fs::read_to_string(path).ok()?.parse().ok()
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or("")
}

/// Of Cargo.lock: one that comes from elsewhere says from where.
fn is_of_folder(package: &Table) -> bool {
    text(package, "source").is_empty()
}

impl Repository {
    /// The workspace that a crate's folder is in; `None` if it is in none, or its Cargo.lock is not there.
    pub fn above(folder: &Path) -> Option<Self> {
        let root = folder.ancestors().skip(1).find(|folder| folder.join("Cargo.lock").is_file())?;
        let workspace = table_of(&root.join("Cargo.toml"))?;
        let dependencies = workspace.get("workspace")?.get("dependencies")?.as_table()?;
        let crates = dependencies
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), root.join(value.get("path")?.as_str()?))));
        let lock = table_of(&root.join("Cargo.lock"))?;
        let packages = lock.get("package")?.as_array()?.iter().filter_map(Value::as_table).cloned().collect();
        Some(Self { root: root.to_owned(), crates: crates.collect(), lock: packages })
    }

    /// Is the package made from a folder here, rather than from what a registry or another repository has?
    fn is_own(&self, name: &str) -> bool {
        self.lock.iter().any(|package| text(package, "name") == name && is_of_folder(package))
    }

    /// What decides the results of `package`, 32 hexadecimal digits.
    ///
    /// # Panics
    /// If Cargo.lock has no such package, or its folder or that of one below it is not known: a change of its sources would stay unseen.
    pub fn hash(&self, package: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for (name, package) in self.below(package) {
            // Of a registry, or of another repository with its commit.
            let origin = ["checksum", "source"].map(|key| text(package, key)).into_iter().find(|text| !text.is_empty());
            hasher.update(format!("{name} {}\n", origin.unwrap_or("")).as_bytes());
            let folder = self.folder_of(package);
            for file in folder.iter().flat_map(|folder| files(folder)) {
                let shown = file.strip_prefix(&self.root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
                let content = fs::read(&file).unwrap_or_default();
                let is_rust = file.extension().is_some_and(|extension| extension == "rs");
                let content = if is_rust { meaning(&content) } else { content };
                hasher.update(format!("{shown} {}\n", content.len()).as_bytes()).update(&content);
            }
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// What a change of must make the build script run again.
    fn watched(&self, package: &str) -> Vec<PathBuf> {
        let below = self.below(package);
        let own = below.values().filter_map(|package| self.folder_of(package));
        let sources = own.flat_map(|folder| sources(folder)).filter(|path| path.is_dir());
        sources.chain([self.root.join("Cargo.lock"), self.root.join("Cargo.toml")]).collect()
    }

    /// The folder of a package of Cargo.lock that has one here.
    fn folder_of(&self, package: &Table) -> Option<&PathBuf> {
        let name = text(package, "name");
        is_of_folder(package).then(|| {
            self.crates.get(name).unwrap_or_else(|| {
                panic!(
                    "{}: `{name}` decides results, and its folder is not known: name it under [workspace.dependencies], with its path",
                    self.root.join("Cargo.toml").display()
                )
            })
        })
    }

    /// `package` and all below it in Cargo.lock, by name and version.
    fn below(&self, package: &str) -> BTreeMap<String, &Table> {
        let (mut found, mut waiting) = (BTreeMap::new(), vec![package.to_owned()]);
        while let Some(wanted) = waiting.pop() {
            // `NAME`, or `NAME VERSION` where there are several.
            let (name, version) = wanted.split_once(' ').unwrap_or((&wanted, ""));
            for package in self.lock.iter().filter(|package| text(package, "name") == name) {
                let of_package = text(package, "version");
                let is_meant = version.is_empty() || version.split(' ').next() == Some(of_package);
                let shown = format!("{name} {of_package}");
                if is_meant && found.insert(shown, package).is_none() {
                    let used = self.used_by(name);
                    let is_used = |below: &&str| {
                        let name = below.split(' ').next().unwrap_or("");
                        used.as_ref().is_none_or(|used| used.contains(name))
                    };
                    let below = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
                    waiting.extend(below.filter_map(Value::as_str).filter(is_used).map(str::to_owned));
                }
            }
        }
        assert!(!found.is_empty(), "{}: there is no package `{package}`", self.root.join("Cargo.lock").display());
        found
    }

    /// The packages that a crate of the workspace is made with. Cargo.lock lists those of its tests, too. `None`: it is of another place.
    fn used_by(&self, name: &str) -> Option<BTreeSet<String>> {
        let manifest = table_of(&self.crates.get(name)?.join("Cargo.toml"))?;
        let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(|targets| targets.values());
        let places = targets.filter_map(Value::as_table).chain([&manifest]);
        let lists = places.flat_map(|place| ["dependencies", "build-dependencies"].map(|kind| place.get(kind)));
        let packages = lists.flatten().filter_map(Value::as_table).flat_map(|list| {
            list.iter().map(|(name, value)| value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned())
        });
        Some(packages.collect())
    }
}

/// The folders with what decides a crate's results, except those whose parts have their own hashes.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let manifest = table_of(&folder.join("Cargo.toml")).unwrap_or_default();
    let metadata = || manifest.get("package")?.get("metadata")?.get("arithmetic")?.get("apart")?.as_array().cloned();
    let apart: Vec<Value> = metadata().unwrap_or_default();
    let is_within = |source: &&str| !apart.iter().any(|apart| apart.as_str() == Some(source));
    SOURCES.iter().copied().filter(is_within).map(|source| folder.join(source)).collect()
}

/// All sources of a crate, in order; tests beside the code decide nothing.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    fn list(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if !path.is_dir() {
                found.insert(path);
            } else if path.file_name().is_none_or(|name| name != "tests") {
                list(&path, found);
            }
        }
    }
    let mut found = BTreeSet::new();
    sources(folder).iter().for_each(|source| list(source, &mut found));
    found
}
