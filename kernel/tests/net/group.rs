// SPDX-License-Identifier: MIT OR Apache-2.0
//! Control groups of a test's own.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use tandem_kernel::sockops::Cgroup;
use tandem_testing::wait_until;

/// A cgroup in which nothing is yet; it goes with the test.
pub struct Group {
    pub path: PathBuf,
}

impl Group {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("tandem-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self::at(&Cgroup::root().unwrap().path.join(name))
    }

    /// One within; it must go first.
    pub fn within(&self, name: &str) -> Self {
        Self::at(&self.path.join(name))
    }

    fn at(path: &Path) -> Self {
        fs::create_dir(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        Self { path: path.to_owned() }
    }

    /// Runs `work` with the whole test program in the cgroup: a socket belongs to that of the process that makes it.
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        let _inside = Inside::new(&self.path);
        work()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Those that were in it may be ending.
        wait_until(&format!("{:?} is gone", self.path), || fs::remove_dir(&self.path).is_ok() || !self.path.exists());
    }
}

struct Inside {
    before: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

impl Inside {
    fn new(path: &Path) -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).expect("each process is in one of version 2");
        let before = Cgroup::root().unwrap().path.join(own);
        move_to(path);
        Self { before, _turn: turn }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        move_to(&self.before);
    }
}

/// The calling process, with all its threads.
fn move_to(cgroup: &Path) {
    fs::write(cgroup.join("cgroup.procs"), "0").unwrap_or_else(|e| panic!("{cgroup:?}: {e}"));
}
