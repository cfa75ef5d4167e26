// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shell's path goes with it.

mod common;

use std::fs;

use common::{Spec, can_emulate};
use tandem_scenario::DEFAULT_MTU;
use tandem_testbed::{Namespace, Shell};

/// Does the calling thread's namespace have a shell's device?
fn has_device() -> bool {
    fs::read_to_string("/proc/thread-self/net/dev").unwrap().contains("tandem0:")
}

/// As by an error, without a word: nobody has closed it.
#[test]
fn a_dropped_shell_takes_its_path_along() {
    if !can_emulate() {
        return;
    }
    let network = Spec { rate: "10mbit", rtt: "20ms", queue: "100p", loss: "0" }.network();
    let had = Namespace::new().unwrap().enter(|| {
        let shell = Shell::new(&network, DEFAULT_MTU, 1)?;
        let had = has_device();
        drop(shell);
        Ok((had, has_device()))
    });
    assert_eq!(had.unwrap(), (true, false));
}
