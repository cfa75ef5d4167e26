// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine has only one of, for all tests on it.

use std::{
    fs::File,
    path::Path,
    sync::{LazyLock, mpsc},
    thread,
    time::Duration,
};

/// Where root alone can make files.
const LOCK: &str = "/run/tandem-tests.lock";

/// Another run of all tests may come in between with its longest program.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Takes, until the test program ends, the machine's only turn to look at what is loaded on it: the kernel has one list of controllers and
/// one BPF file system for all. Waits for other test programs that have it. Others that load something are not kept away.
pub fn take_controllers() {
    static TURN: LazyLock<Option<File>> = LazyLock::new(|| {
        let file = open(Path::new(LOCK))?;
        Some(lock(file, PATIENCE).unwrap_or_else(|| panic!("another test program has held {LOCK} for {PATIENCE:?}")))
    });
    LazyLock::force(&TURN);
}

/// `None`: root has run no tests here, and others cannot load anything.
fn open(path: &Path) -> Option<File> {
    File::options().create(true).append(true).open(path).or_else(|_| File::open(path)).ok()
}

/// On a thread that nobody waits for, since only a wait in the kernel is woken up as soon as the lock is free.
fn lock(file: File, patience: Duration) -> Option<File> {
    let (taken, is_taken) = mpsc::channel();
    thread::spawn(move || {
        file.lock().unwrap();
        // Nobody may wait for it any more: then it is let go.
        let _ = taken.send(file);
    });
    is_taken.recv_timeout(patience).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PATIENCE as LONG;

    #[test]
    fn one_at_a_time() {
        let path = std::env::temp_dir().join(format!("tandem-testing-{}", std::process::id()));
        let first = lock(open(&path).unwrap(), LONG).unwrap();
        assert!(lock(open(&path).unwrap(), Duration::from_millis(20)).is_none());
        drop(first);
        assert!(lock(open(&path).unwrap(), LONG).is_some());
        std::fs::remove_file(path).unwrap();
    }
}
