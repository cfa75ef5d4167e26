// SPDX-License-Identifier: MIT OR Apache-2.0
//! The controllers' headers, copied: a change of one changes the hashes of those that include it, and of no other.

use std::{fs, path::Path};

use tandem_arithmetic::{Repository, headers_hash};

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../controllers/include");

/// All of the list.
fn controllers() -> Vec<String> {
    let definitions = fs::read_to_string(Path::new(INCLUDE).join("controllers.def")).unwrap();
    let lines = definitions.lines().filter_map(|line| line.strip_prefix("TANDEM_CONTROLLER("));
    lines.map(|line| line.split(',').next().unwrap().to_owned()).collect()
}

/// The controllers whose hash is another when a header is.
fn changed_by(header: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let controllers = controllers();
    for entry in fs::read_dir(INCLUDE).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let hash = |name: &String| headers_hash(folder.path(), &["controller.h", &format!("{name}.h")], &[name]);
    let before: Vec<String> = controllers.iter().map(hash).collect();
    let path = folder.path().join(header);
    fs::write(&path, fs::read_to_string(&path).unwrap() + "/* changed */\n").unwrap();
    let changed = controllers.iter().zip(before).filter(|(name, before)| hash(name) != *before);
    changed.map(|(name, _)| name.clone()).collect()
}

#[test]
fn a_header_changes_those_that_include_it() {
    assert_eq!(changed_by("cubic.h"), ["cubic"]);
    assert_eq!(changed_by("highspeed.h"), ["africa", "highspeed"]);
    assert_eq!(changed_by("ctcp.h"), ["compound", "compound_auto", "compound_tube", "compound_plus"]);
    assert_eq!(changed_by("marks.h"), ["dctcp", "prague"]);
    // Slow start's exits, and what all stand on.
    for shared in ["hystart.h", "controller.h", "contract.h", "fixed.h"] {
        assert_eq!(changed_by(shared), controllers(), "{shared}");
    }
    assert!(changed_by("controllers.def").is_empty());
}

#[test]
fn other_words_make_another_hash() {
    let of = |words: &[&str]| headers_hash(Path::new(INCLUDE), &["reno.h"], words);
    assert_eq!(of(&["a"]).len(), 32);
    assert_ne!(of(&["a", "b"]), of(&["ab"]));
    assert_ne!(of(&["a"]), headers_hash(Path::new(INCLUDE), &["cubic.h"], &["a"]));
}

/// The manifests of this repository and its controllers, copied: the simulator's own hash is the same whatever is in the headers.
#[test]
fn the_simulators_hash_leaves_the_headers_out() {
    let repository = Path::new(INCLUDE).ancestors().nth(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let copy = |path: &str| {
        let to = folder.path().join(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(repository.join(path), to).unwrap();
    };
    let files = ["Cargo.toml", "Cargo.lock", "controllers/Cargo.toml", "controllers/src/lib.rs"];
    files.into_iter().chain(["controllers/include/cubic.h"]).for_each(copy);
    for entry in fs::read_dir(repository.join("crates")).unwrap().map(Result::unwrap) {
        copy(&format!("crates/{}/Cargo.toml", entry.file_name().to_string_lossy()));
    }
    let hash = || Repository::above(&folder.path().join("controllers")).unwrap().hash("tandem-sim");
    let (before, change) = (hash(), |path: &str| fs::write(folder.path().join(path), "changed").unwrap());
    change("controllers/include/cubic.h");
    assert_eq!(hash(), before);
    change("controllers/src/lib.rs");
    assert_ne!(hash(), before);
}
