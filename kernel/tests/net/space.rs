// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network namespaces and paths between them.

use std::{fs, process::Command};

use tandem_kernel::netns::{self, Namespace};
use tandem_testing::{Running, wait_until};

/// A network namespace with a process in it, by which Tandem finds it. It ends with that process, which ends with the test.
pub struct Space {
    holder: Running,
    namespace: Namespace,
}

impl Space {
    /// Its loopback device is up.
    pub fn new() -> Self {
        // Part of util-linux.
        let holder = Running::start_echo(Command::new("unshare").args(["--net", "cat"]));
        let name = format!("pid {}", holder.id());
        let namespace = netns::all().unwrap().into_iter().find(|n| n.name == name).expect("it is listed");
        let space = Self { holder, namespace };
        space.run("ip link set lo up");
        space
    }

    pub fn pid(&self) -> u32 {
        self.holder.id()
    }

    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }

    /// On a thread inside: sockets made there stay there, whichever thread uses them.
    pub fn enter<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        self.namespace.enter(f).unwrap().expect("the namespace is there")
    }

    /// Starts a program inside; its words are separated by spaces.
    pub fn start(&self, command: &str) -> Running {
        let (program, arguments) = command.split_once(' ').unwrap_or((command, ""));
        self.enter(|| Running::start_piped(Command::new(program).args(arguments.split(' '))))
    }

    /// Gives the loopback device an address with the length of its prefix. One of IPv6 could otherwise not be bound to before the kernel, in its own time,
    /// has looked for another host that has it, even there.
    pub fn add_address(&self, address: &str) {
        let is_v6 = address.contains(':');
        let at_once = if is_v6 { " nodad" } else { "" };
        self.run(&format!("ip address add {address} dev lo{at_once}"));
        // Its route the kernel adds in its own time, all the same.
        let host = address.split('/').next().unwrap_or_default();
        let has_route = || self.start(&format!("ip -6 route get {host}")).output().status.success();
        if is_v6 {
            wait_until(&format!("{host} has a route"), has_route);
        }
    }

    /// Waits until a program listens on a TCP port.
    pub fn wait_for_listener(&self, port: u16) {
        // Each socket has a line: local address and port, remote, state (0A: listening).
        let listens = |table: String| table.lines().any(|l| l.contains(&format!(":{port:04X} ")) && l.contains(" 0A "));
        let read = |file| fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
        wait_until(&format!("port {port} is listened on"), || {
            self.enter(|| listens(read("tcp")) || listens(read("tcp6")))
        });
    }

    /// Runs a program inside to its end; returns what it printed.
    pub fn run(&self, command: &str) -> String {
        let output = self.start(command).output();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{command}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }
}

/// The addresses of a [`Path`]'s ends.
pub const NEAR: &str = "10.77.1.2";
pub const FAR: &str = "10.77.2.2";

/// Two namespaces and what is between them.
pub struct Path {
    pub near: Space,
    pub far: Space,
    _router: Option<Space>,
}

impl Path {
    /// A wire (veth) as fast as the machine.
    pub fn wire() -> Self {
        let (near, far) = (Space::new(), Space::new());
        join([&near, &far], ["eth0", "eth0"], [NEAR, FAR], 16);
        Self { near, far, _router: None }
    }

    /// A router between two wires. `shape`: what `tc qdisc` makes of its device to the far end, such as
    /// `tbf rate 1gbit burst 128kb limit 1mb`.
    ///
    /// At the near end itself packets would not be dropped: there TCP notices how many wait and holds back (small queues).
    pub fn new(shape: &str) -> Self {
        let (near, router, far) = (Space::new(), Space::new(), Space::new());
        for (space, device, address, gateway) in [(&near, "eth1", NEAR, "10.77.1.1"), (&far, "eth2", FAR, "10.77.2.1")]
        {
            join([space, &router], ["eth0", device], [address, gateway], 24);
            space.run(&format!("ip route add default via {gateway}"));
        }
        router.enter(|| fs::write("/proc/sys/net/ipv4/ip_forward", "1")).unwrap();
        router.run(&format!("tc qdisc add dev eth2 root {shape}"));
        Self { near, far, _router: Some(router) }
    }
}

/// Puts a wire between two namespaces, whose ends are devices with addresses there.
fn join(ends: [&Space; 2], devices: [&str; 2], addresses: [&str; 2], prefix_bits: u8) {
    let [device, peer] = devices;
    ends[0].run(&format!("ip link add {device} type veth peer name {peer} netns {}", ends[1].pid()));
    for ((end, device), address) in ends.iter().zip(devices).zip(addresses) {
        end.run(&format!("ip address add {address}/{prefix_bits} dev {device}"));
        end.run(&format!("ip link set {device} up"));
    }
    // Until the kernel has noticed, in its own time, that both ends are up, it drops what is sent.
    for (end, device) in ends.iter().zip(devices) {
        wait_until(&format!("{device} is up"), || end.run(&format!("ip link show {device}")).contains("state UP"));
    }
}
