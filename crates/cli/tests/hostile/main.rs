// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hostile command lines and files: the program says what is wrong with them. It never panics, hangs, takes all memory, or fails without a word.
#![cfg(target_os = "linux")]

mod child;
mod inputs;
mod strategy;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    os::unix::net::UnixListener,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use proptest::prelude::TestCaseError;
use rustix::fs::{CWD, FileType, mknodat};
use tandem_testing::random_test;

use inputs::Bad;

/// What is not a regular file, and a file with a hole of four terabytes.
fn prepare(folder: &Path) {
    fs::create_dir(folder).unwrap();
    mknodat(CWD, folder.join("pipe"), FileType::Fifo, 0o600.into(), 0).unwrap();
    UnixListener::bind(folder.join("socket")).unwrap();
    File::create(folder.join("large")).unwrap().set_len(1 << 42).unwrap();
}

fn try_out(bad: &Bad) -> Result<(), String> {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("here");
    prepare(&folder);
    bad.files.iter().for_each(|(name, content)| fs::write(folder.join(name), content).unwrap());
    child::run(&folder, &bad.arguments, Duration::from_secs(60)).is_refused(&bad.parts).map_err(|why| {
        let files = bad.files.iter().map(|(name, content)| format!("{name}: {}\n", shown(content)));
        format!("tandem {:?}\n{}{why}", bad.arguments, files.collect::<String>())
    })
}

fn shown(content: &[u8]) -> String {
    String::from_utf8_lossy(&content[..content.len().min(400)]).into_owned()
}

#[test]
fn bad_input_is_told() {
    let all = inputs::all();
    let distinct: BTreeSet<_> = all.iter().map(|bad| (&bad.arguments, &bad.files)).collect();
    assert!(distinct.len() >= 300, "{} inputs", distinct.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(bad) = all.get(next.fetch_add(1, Relaxed)) {
            try_out(bad).unwrap_or_else(|why| wrong.lock().unwrap().push(why));
        }
    };
    let workers = thread::available_parallelism().map_or(1, Into::into);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

/// Whatever it does, it ends as it should.
fn play(arguments: &[String], files: &[(String, Vec<u8>)]) -> Result<(), TestCaseError> {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("here");
    prepare(&folder);
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    child::run(&folder, arguments, Duration::from_secs(2))
        .fault()
        .map_or(Ok(()), |fault| Err(TestCaseError::fail(fault)))
}

#[test]
fn random_command_lines() {
    let files = strategy::good_files();
    random_test!(random_command_lines, 60).run(strategy::command_line(), |arguments| play(&arguments, &files));
}

#[test]
fn random_files() {
    let files = strategy::good_files();
    random_test!(random_files, 60).run(strategy::damage(), |damage| {
        let mut files = files.clone();
        let arguments = damage.apply(&mut files);
        play(&arguments, &files)
    });
}
