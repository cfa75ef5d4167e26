// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work that is shared out among threads.

use std::thread;

/// Does `work` in up to this many threads at once. If the system starts fewer of them, those do it all; if it starts none, the caller does.
pub fn on_threads(most: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        let start = |_: &usize| thread::Builder::new().spawn_scoped(scope, &work).is_ok();
        if (0..most).take_while(start).count() == 0 && most > 0 {
            work();
        }
    });
}
