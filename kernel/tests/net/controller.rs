// SPDX-License-Identifier: MIT OR Apache-2.0
//! Controllers that a test has in the kernel, under names that nobody else uses: a registration is seen by the whole machine.

use std::{
    ops::Deref,
    sync::atomic::{AtomicU32, Ordering},
    thread::panicking,
};

use tandem_controllers::{Controller, Params};
use tandem_kernel::{Attached, attach, available, list, load, unload};
use tandem_testing::wait_until;

/// A name of this test process's own, as a run's: before Linux 6.4 other runs take away those of dead processes.
pub fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("t{:x}_{:x}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

fn is_available(name: &str) -> bool {
    available().unwrap().iter().any(|n| n == name)
}

/// A failing test has said enough: only one that succeeds is asked whether its controller is gone.
fn assert_gone(name: &str) {
    if !panicking() {
        wait_until(&format!("`{name}` is gone"), || !is_available(name));
    }
}

/// Registered for as long as this lives.
pub struct Registered {
    attached: Option<Attached>,
    pub name: String,
}

impl Registered {
    pub fn new(controller: &'static Controller) -> Self {
        let name = unique_name();
        let attached = attach(&Params::new(controller), &name).unwrap_or_else(|e| panic!("{}: {e}", controller.name));
        assert!(is_available(&name));
        Self { attached: Some(attached), name }
    }
}

impl Deref for Registered {
    type Target = Attached;

    fn deref(&self) -> &Attached {
        self.attached.as_ref().unwrap()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.attached.take();
        assert_gone(&self.name);
    }
}

/// Loaded to stay, but taken back at the end of the test.
pub struct Loaded {
    pub name: String,
}

impl Loaded {
    /// To be called in the namespace whose default it may become.
    pub fn new(controller: &'static Controller, make_default: bool) -> Self {
        // First, so that it is taken back whatever happens.
        let guard = Self { name: unique_name() };
        let loaded = load(&Params::new(controller), &guard.name, make_default).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            (&*loaded.name, &*loaded.controller, loaded.is_default),
            (&*guard.name, controller.name, make_default)
        );
        guard
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let is_loaded = || list().unwrap().iter().any(|l| l.name == self.name);
        if is_loaded() {
            unload(&self.name).unwrap();
        }
        assert!(panicking() || !is_loaded());
        assert_gone(&self.name);
    }
}
