// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a policy of 10,000 prefixes, and a trial, cost when a connection begins and ends.
//!
//! Short connections over a loopback device. First those of a client and a server on cores of their own, one transaction each, by the time from one
//! to the next: like netperf's TCP_CRR, the usual test of how fast connections can be made, but the client resets each. Then, empty and with a request and a reply, by
//! CPU time alone: both ends are this thread's work, which no process does, but the time that it runs is exact. Those without a program and those with one take turns, each round in another order, so that a machine that gets busier does
//! so for all; a ratio's pairs are a round's runs. Nothing runs per packet, so that there is nothing else to measure. All connections have
//! `reno`: without a policy or a trial it is the namespace's default. A program that does nothing shows how much of it is that the kernel calls
//! one; the policy of a default alone adds little but the kernel's change of controllers.

// Each program that includes this module uses its own part of it.
#[path = "../tests/net/mod.rs"]
mod net;
mod timing;

use std::{
    env,
    fmt::Write,
    fs::{self, File},
    io::{Read, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::fd::AsRawFd,
    thread,
    time::Duration,
};

use libbpf_rs::{Link, Object, ObjectBuilder};
use rustix::{
    net::sockopt::set_socket_linger,
    time::{ClockId, clock_gettime},
};
use tandem_kernel::sockops::{PolicyFile, Trial, TrialSetup, load_policy, remove_policy};
use tandem_statistics::{Estimate, mean};

use net::{Group, Space};

const PREFIXES: u32 = 10_000;
// Few, so that what else the machine does changes little from one run to the next.
const CONNECTIONS: u32 = 200;
// Loading a program pushes what connections need out of the caches: refilling them is some 2 % of the cost of 200 connections.
const WARM_UP: u32 = 60;
const DEFAULT_ROUNDS: usize = 1000;
const CONTENDERS: [&str; 5] =
    ["without", "a program that does nothing", "policy, a default alone", "policy, 10,000 prefixes", "trial"];
const NOTHING: usize = 1;
const TRIAL: usize = 4;
const GOAL: f64 = 1.02;
/// A kind of short connections.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Bytes there, bytes back.
    carries: (usize, usize),
    /// The far end is a thread of its own: the cost is the time that passes, otherwise this thread's CPU time.
    has_server: bool,
}
const KINDS: [Kind; 3] = [
    Kind { name: "A client and a server, a byte there and back, time that passes", carries: (1, 1), has_server: true },
    Kind { name: "One thread, nothing carried, CPU time", carries: (0, 0), has_server: false },
    Kind { name: "One thread, 100 bytes there and 1000 back, CPU time", carries: (100, 1000), has_server: false },
];
/// It is within one of the prefixes, so that a look-up goes as deep as any.
const ADDRESS: [u8; 4] = [10, 20, 30, 1];
/// Of the calling thread's namespace.
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

fn main() {
    let wanted = ["cgroups", "policy", "trial"];
    let lack = tandem_kernel::features().into_iter().find(|f| (f.required || wanted.contains(&f.name)) && !f.present);
    if let Some(lack) = lack {
        println!("Cost of a connection's beginning: left out. {}: {}", lack.name, lack.note);
        return;
    }
    // cargo adds an argument of its own.
    let rounds = env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(DEFAULT_ROUNDS);
    let space = Space::new();
    space.add_address(&format!("{}/32", Ipv4Addr::from(ADDRESS)));
    let lab = Lab {
        group: Group::new(),
        policies: ["default -> reno\n".into(), many_rules()]
            .map(|text| PolicyFile::parse(&text).expect("these are rules")),
        default: space.enter(|| fs::read_to_string(DEFAULT)).expect("TCP has one"),
    };
    println!("Goal for a policy: at most {GOAL} times.");
    println!(
        "Connections over loopback, both ends: medians of the cost and of its ratio, {rounds} rounds of {CONNECTIONS}"
    );
    lab.group.enter(|| space.enter(|| KINDS.into_iter().for_each(|kind| compare(kind, rounds, &lab))));
}

fn compare(kind: Kind, rounds: usize, lab: &Lab) {
    let mut costs_us = vec![Vec::new(); CONTENDERS.len()];
    connect(CONNECTIONS, kind);
    for round in 0..rounds {
        for turn in 0..CONTENDERS.len() {
            // Their number is prime: each comes after each other one.
            let which = (round + turn * (1 + round % (CONTENDERS.len() - 1))) % CONTENDERS.len();
            costs_us[which].push(run(which, kind, lab));
        }
    }
    println!("{}:", kind.name);
    for (name, costs) in CONTENDERS.iter().zip(&costs_us) {
        let ratios = costs.iter().zip(&costs_us[0]).map(|(cost, bare)| cost / bare).collect();
        let (ratio, low, high) = median(ratios);
        println!("  {name:28} {:7.2} us   {ratio:.4} times ({low:.4} to {high:.4})", median(costs.clone()).0);
    }
    println!("The programs alone, as the kernel times each call (the timing's own cost included; the calls' is not):");
    let bare_us = median(costs_us[0].clone()).0;
    (1..CONTENDERS.len()).for_each(|which| time(which, kind, bare_us, lab));
}

struct Lab {
    group: Group,
    policies: [PolicyFile; 2],
    /// The namespace's own controller.
    default: String,
}

/// With its 95 % interval, by order statistics: a run that was disturbed counts as one run, however long it took.
fn median(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let ranks = (0.5 * 1.96 * (n as f64).sqrt()).ceil() as usize;
    (values[n / 2], values[(n / 2).saturating_sub(ranks)], values[(n / 2 + ranks).min(n - 1)])
}

/// Of ten runs, by the program's time alone: it does not matter what else the machine does.
fn time(which: usize, kind: Kind, bare_us: f64, lab: &Lab) {
    let program = ["", "nothing", "policy", "policy", "trial"][which];
    let mut each = Vec::new();
    for _ in 0..10 {
        let mut took = (0, 0);
        within(which, lab, || {
            connect(WARM_UP, kind);
            let _timing = timing::start();
            connect(CONNECTIONS, kind);
            // The newest: the kernel may still be about to free those before.
            let newest = timing::programs(program).into_values().next_back().expect("it is attached");
            took = (newest.1, newest.2);
        });
        each.push([took.0 as f64 / f64::from(CONNECTIONS), took.1 as f64 / 1e3 / f64::from(CONNECTIONS)]);
    }
    let calls = mean(&each.iter().map(|[calls, _]| *calls).collect::<Vec<_>>());
    let us = Estimate::of_mean(&each.iter().map(|[_, us]| *us).collect::<Vec<_>>());
    let share = us.value / bare_us * 100.0;
    println!("  {:28} {calls:.1} calls, {} us: {share:.2} % of a connection", CONTENDERS[which], us.text(3));
}

/// The connections' own prefix gets what is not the namespace's default.
fn many_rules() -> String {
    (0..PREFIXES).fold(String::new(), |mut text, n| {
        let network = [10, (n >> 8) as u8, n as u8, 0];
        let controller = if network[..3] == ADDRESS[..3] { "reno" } else { "cubic" };
        let _ = writeln!(text, "{}/24 -> {controller}", Ipv4Addr::from(network));
        text
    })
}

/// Microseconds for a connection.
fn run(which: usize, kind: Kind, lab: &Lab) -> f64 {
    let mut took = Duration::ZERO;
    within(which, lab, || {
        connect(WARM_UP, kind);
        let clock = if kind.has_server { ClockId::Monotonic } else { ClockId::ThreadCPUTime };
        let before = now(clock);
        connect(CONNECTIONS, kind);
        took = now(clock) - before;
    });
    took.as_secs_f64() * 1e6 / f64::from(CONNECTIONS)
}

/// While the contender is there.
fn within(which: usize, lab: &Lab, work: impl FnOnce()) {
    fs::write(DEFAULT, if which <= NOTHING { "reno" } else { lab.default.trim() }).expect("the kernel has both");
    let _nothing = (which == NOTHING).then(|| attach_nothing(&lab.group));
    let _trial = (which == TRIAL).then(|| {
        let setup = TrialSetup {
            arms: ["reno".into(), "reno".into()],
            share: 0.5,
            by_peer: false,
            seed: 1,
            port: None,
            to: Vec::new(),
            cgroup: Some(lab.group.path.clone()),
        };
        Trial::start(&setup).unwrap_or_else(|e| panic!("{e}"))
    });
    let has_policy = (2..TRIAL).contains(&which);
    if has_policy {
        load_policy(&lab.policies[which - 2], Some(&lab.group.path)).unwrap_or_else(|e| panic!("{e}"));
    }
    work();
    if has_policy {
        remove_policy().unwrap_or_else(|e| panic!("{e}"));
    }
}

fn attach_nothing(group: &Group) -> (Link, Object) {
    const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/nothing.test.o"));
    let object = ObjectBuilder::default().open_memory(OBJECT).and_then(|open| open.load()).expect("it is harmless");
    let folder = File::open(&group.path).unwrap();
    let link = object.progs_mut().next().expect("it has one").attach_cgroup(folder.as_raw_fd());
    (link.expect("the cgroup takes it"), object)
}

fn connect(count: u32, kind: Kind) {
    let listener = TcpListener::bind((Ipv4Addr::from(ADDRESS), 0)).unwrap();
    if !kind.has_server {
        return (0..count).for_each(|_| {
            let near = open(&listener);
            exchange(near, accept(&listener), kind.carries);
        });
    }
    thread::scope(|scope| {
        scope.spawn(|| (0..count).for_each(|_| serve(accept(&listener), kind.carries)));
        (0..count).for_each(|_| ask(open(&listener), kind.carries));
    });
}

fn open(listener: &TcpListener) -> TcpStream {
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    // Else the ports are used up by connections in TIME-WAIT.
    set_socket_linger(&near, Some(Duration::ZERO)).unwrap();
    near
}

fn accept(listener: &TcpListener) -> TcpStream {
    listener.accept().unwrap().0
}

/// Drops the near end first, so that it resets the connection.
fn exchange(mut near: TcpStream, mut far: TcpStream, (there, back): (usize, usize)) {
    send(&mut near, there);
    receive(&mut far, there);
    send(&mut far, back);
    receive(&mut near, back);
    drop(near);
}

fn ask(mut near: TcpStream, (there, back): (usize, usize)) {
    send(&mut near, there);
    receive(&mut near, back);
}

/// Waits for the end: the client's reset.
fn serve(mut far: TcpStream, (there, back): (usize, usize)) {
    receive(&mut far, there);
    send(&mut far, back);
    let _ = far.read(&mut [0]);
}

/// At most as much as the socket's buffer takes at once.
fn send(end: &mut TcpStream, bytes: usize) {
    end.write_all(&vec![0; bytes]).unwrap();
}

fn receive(end: &mut TcpStream, bytes: usize) {
    end.read_exact(&mut vec![0; bytes]).unwrap();
}

fn now(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
