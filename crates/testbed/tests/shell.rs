// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shell's path goes with it.

mod common;

use std::{fs, net::UdpSocket};

use common::{Spec, can_emulate};
use tandem_scenario::DEFAULT_MTU;
use tandem_testbed::{Namespace, Shell};
use tandem_testing::PATIENCE;

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

/// The insides of two shells are hosts beyond the machine for each other, and a machine may forward (any with Docker does).
#[test]
fn the_inside_reaches_this_machine_and_nothing_beyond() {
    if !can_emulate() {
        return;
    }
    let network = Spec { rate: "10mbit", rtt: "2ms", queue: "100p", loss: "0" }.network();
    let machine = Namespace::new().unwrap();
    let tried = machine.enter(|| {
        fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        let shells = [Shell::new(&network, DEFAULT_MTU, 1)?, Shell::new(&network, DEFAULT_MTU, 1)?];
        let [first, second] = &shells;
        let socket_at = |address| {
            let socket = UdpSocket::bind((address, 7000)).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            socket
        };
        let server = second.enter(|| Ok(socket_at(second.inside)))?;
        let stranger = first.enter(|| Ok(socket_at(first.inside)))?;
        let [beside_first, beside_second] = [first, second].map(|shell| socket_at(shell.host));
        stranger.send_to(b"stranger", (second.inside, 7000)).unwrap();
        // A path keeps the order: what comes after it has overtaken nothing.
        stranger.send_to(b"after it", (first.host, 7000)).unwrap();
        let mut buffer = [0; 16];
        beside_first.recv(&mut buffer).unwrap();
        beside_second.send_to(b"machine", (second.inside, 7000)).unwrap();
        let bytes = server.recv(&mut buffer).unwrap();
        Ok(String::from_utf8_lossy(&buffer[..bytes]).into_owned())
    });
    assert_eq!(tried.unwrap(), "machine");
}
