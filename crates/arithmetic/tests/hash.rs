// SPDX-License-Identifier: MIT OR Apache-2.0
//! What makes another hash, and what does not: in a workspace of two crates, `engine` and `network` below it, and `page`, which the tests of
//! `engine` use.

use std::{fs, panic, path::Path};

use tandem_arithmetic::Repository;
use tempfile::TempDir;

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const LOCK: &str = r#"
[[package]]
name = "engine"
version = "1.0.0"
dependencies = ["network", "page", "rand"]
[[package]]
name = "network"
version = "1.0.0"
[[package]]
name = "page"
version = "1.0.0"
[[package]]
name = "rand"
version = "0.9.0"
source = "registry"
checksum = "abc"
"#;

fn workspace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "Cargo.toml",
        "[workspace.dependencies]\nengine = { path = \"a\" }\nnetwork = { path = \"b\" }\npage = { path = \"c\" }\nrand = \"0.9\"\n",
    );
    write(folder.path(), "Cargo.lock", LOCK);
    write(
        folder.path(),
        "a/Cargo.toml",
        "[dependencies]\nnetwork.workspace = true\n[dev-dependencies]\npage.workspace = true\n[target.'cfg(unix)'.dependencies]\nrand.workspace = true\n",
    );
    write(folder.path(), "b/Cargo.toml", "");
    for (package, text) in [("a", "run"), ("b", "queue"), ("c", "show")] {
        write(folder.path(), &format!("{package}/src/lib.rs"), text);
    }
    folder
}

fn hash(folder: &TempDir) -> String {
    Repository::above(&folder.path().join("a")).unwrap().hash("engine")
}

#[test]
fn a_byte_of_the_crate_or_of_one_below_makes_another() {
    let folder = workspace();
    let before = hash(&folder);
    assert_eq!(before.len(), 32);
    for (path, text) in [
        ("a/src/lib.rs", "rum"),
        ("a/src/deep/er.rs", ""),
        ("b/src/lib.rs", "queues"),
        ("b/include/header.h", "1"),
        ("Cargo.lock", &LOCK.replace("0.9.0", "0.9.1")),
        ("Cargo.lock", &LOCK.replace("abc", "abd")),
        ("Cargo.lock", &LOCK.replace("registry\"\nchecksum = \"abc", "git+https://example.org/rand#1")),
    ] {
        let changed = workspace();
        write(changed.path(), path, text);
        assert_ne!(hash(&changed), before, "{path}");
    }
}

#[test]
fn what_decides_nothing_changes_nothing() {
    let folder = workspace();
    let before = hash(&folder);
    write(folder.path(), "c/src/lib.rs", "show all");
    write(folder.path(), "a/src/tests/more.rs", "test");
    write(folder.path(), "a/README.md", "words");
    write(folder.path(), "b/src/lib.rs", "// Packets wait here.\nqueue");
    assert_eq!(hash(&folder), before);
}

/// A change of its sources would leave the hash as it is.
#[test]
fn a_package_whose_folder_is_not_known_is_refused() {
    let refusal = |forgotten: &str, package: &str| {
        let folder = workspace();
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let left: Vec<&str> = manifest.lines().filter(|line| !line.starts_with(forgotten)).collect();
        write(folder.path(), "Cargo.toml", &left.join("\n"));
        let repository = Repository::above(&folder.path().join("a")).unwrap();
        *panic::catch_unwind(|| repository.hash(package)).unwrap_err().downcast::<String>().unwrap()
    };
    for forgotten in ["engine", "network"] {
        let words = refusal(forgotten, "engine");
        assert!(words.contains(&format!("`{forgotten}` decides results")) && words.contains("Cargo.toml"), "{words}");
    }
    assert!(refusal("page", "motor").ends_with("no package `motor`"));
}

/// What is kept apart has hashes of its own, and is no part of this one.
#[test]
fn a_folder_whose_parts_have_their_own_hashes_is_left_out() {
    let apart = |header: &str, source: &str| {
        let folder = workspace();
        write(folder.path(), "b/Cargo.toml", "[package.metadata.arithmetic]\napart = [\"include\"]\n");
        write(folder.path(), "b/include/header.h", header);
        write(folder.path(), "b/src/lib.rs", source);
        hash(&folder)
    };
    assert_eq!(apart("1", "queue"), apart("2", "queue"));
    assert_ne!(apart("1", "queue"), apart("1", "queues"));
}
