// SPDX-License-Identifier: MIT OR Apache-2.0
//! An emulated path whose both ends are the test's own, and sockets at them.
#![expect(unsafe_code)]
// Each test program uses a part of this.
#![allow(dead_code)]

use std::{
    fs::OpenOptions,
    net::{SocketAddr, UdpSocket},
    thread,
    time::Duration,
};

use tandem_scenario::{DEFAULT_MTU, DumbbellSpec, Loss, Topology, aqm::AqmSpec};
use tandem_testbed::{Namespace, Shell};

/// False, and said so, where paths cannot be emulated. `scripts/test.sh` counts the line.
pub fn can_emulate() -> bool {
    let refused = match OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        Err(e) => format!("/dev/net/tun: {e}"),
        Ok(_) => match Namespace::new() {
            Err(e) => e.to_string(),
            Ok(_) => return true,
        },
    };
    tandem_testing::skip(&refused);
    false
}

/// Puts the calling thread before the other work of the machine: a probe that is late itself measures nothing.
pub fn keep_time() {
    let parameters = libc::sched_param { sched_priority: 3 };
    // SAFETY: the kernel only reads the parameters; 0 is the calling thread.
    assert_eq!(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }, 0);
}

pub struct Spec {
    pub rate: &'static str,
    pub rtt: &'static str,
    pub queue: &'static str,
    pub loss: &'static str,
}

impl Spec {
    pub fn network(&self) -> Topology {
        let dumbbell = DumbbellSpec {
            rate: self.rate.parse().unwrap(),
            rtt: self.rtt.parse().unwrap(),
            queue: self.queue.parse().unwrap(),
            aqm: AqmSpec::DropTail,
            loss: Loss::from(self.loss.parse::<tandem_scenario::units::LossRate>().unwrap()),
            reverse_rate: None,
            reverse_queue: None,
            reverse_loss: Loss::None,
        };
        dumbbell.network(dumbbell.rtt, DEFAULT_MTU).unwrap()
    }
}

/// Runs `test` with the path, and a UDP socket at each of its ends: inside, outside.
pub fn with_path<T: Send>(spec: &Spec, seed: u64, test: impl FnOnce(&Shell, UdpSocket, UdpSocket) -> T + Send) -> T {
    let network = spec.network();
    let outside = Namespace::new().unwrap();
    let result = outside.enter(|| {
        let shell = Shell::new(&network, DEFAULT_MTU, seed)?;
        let (host, inside) = (SocketAddr::from((shell.host, 7000)), SocketAddr::from((shell.inside, 7000)));
        let far = UdpSocket::bind(host).unwrap();
        let near = shell.enter(|| Ok(UdpSocket::bind(inside).unwrap()))?;
        near.connect(host).unwrap();
        far.connect(inside).unwrap();
        for socket in [&near, &far] {
            // Ends the wait for what was lost.
            socket.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
            rustix::net::sockopt::set_socket_recv_buffer_size_force(socket, 1 << 27).unwrap();
        }
        keep_time();
        let result = test(&shell, near, far);
        shell.close(&network)?;
        Ok(result)
    });
    result.unwrap()
}

/// Receives until nothing comes any more: each packet's number and when it came, ns.
pub fn receive_all(socket: &UdpSocket) -> Vec<(u32, u64)> {
    let mut packets = Vec::new();
    let mut buffer = [0; 2048];
    while socket.recv(&mut buffer).is_ok() {
        packets.push((u32::from_be_bytes(buffer[..4].try_into().unwrap()), tandem_testbed::monotonic_ns()));
    }
    packets
}

/// A full packet with a number; UDP and IPv4 add 28 bytes.
pub fn numbered(number: u32) -> [u8; 1472] {
    let mut payload = [0; 1472];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    payload
}

/// Receives on a thread while `send` sends.
pub fn while_receiving(far: &UdpSocket, send: impl FnOnce()) -> Vec<(u32, u64)> {
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            keep_time();
            receive_all(far)
        });
        send();
        receiver.join().unwrap()
    })
}
