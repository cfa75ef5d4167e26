// SPDX-License-Identifier: MIT OR Apache-2.0
//! Networks of a test's own, real TCP through them, and controllers that are gone when the test ends, however it ends.

// Each test that includes this module uses its own part of it.
#![allow(dead_code, unused_imports)]

mod controller;
mod group;
mod space;
mod transfer;

use std::{env, thread};

use rustix::{process::Uid, thread::set_thread_res_uid};

pub use controller::{Loaded, Registered, unique_name};
pub use group::Group;
pub use space::{FAR, NEAR, Path, Space};
pub use tandem_testing::wait_until;
pub use transfer::{connect, connected, info, receive, send, transfer};

/// Is a program missing that the test starts? Then it is skipped.
pub fn lacks(programs: &[(&str, &str)]) -> bool {
    let has =
        |program: &str| env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|p| p.join(program).exists());
    let lacking = programs.iter().find(|(program, _)| !has(program));
    if let Some((program, package)) = lacking {
        tandem_testing::skip(&format!("there is no {program} (apt-get install {package})"));
    }
    lacking.is_some()
}

/// On a thread without rights, in the calling thread's namespace.
pub fn as_nobody<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let nobody = scope.spawn(|| {
            let uid = Uid::from_raw(65534);
            // Only this thread changes its user, and loses its capabilities with it.
            set_thread_res_uid(uid, uid, uid).unwrap();
            f()
        });
        nobody.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
