// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a look at 100,000 connections takes, for `tandem kernel watch --prometheus`: processor time of this process, in which the kernel runs
//! the program once for each socket. The connections are over a loopback device, so there are twice as many sockets.

// Each program that includes this module uses its own part of it.
#[path = "../tests/net/mod.rs"]
mod net;

use std::{
    env,
    io::{BufRead, BufReader, Write, stdin},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use tandem_kernel::Histograms;
use tandem_statistics::Estimate;

use net::Space;

const CONNECTIONS: usize = 100_000;
/// A process may open few files: this many processes share the connections.
const HOLDERS: usize = 20;
const HOLD: &str = "hold";
const LOOKS: usize = 20;
/// Of a core.
const GOAL: f64 = 0.02;
/// Prometheus' usual interval is a minute; many take less.
const INTERVALS_S: [f64; 3] = [60.0, 15.0, 5.0];

fn main() {
    if let Some(lack) = tandem_kernel::features().into_iter().find(|f| f.required && !f.present) {
        println!("Cost of a look: left out. {}: {}", lack.name, lack.note);
        return;
    }
    let mut arguments = env::args().skip_while(|argument| argument != HOLD).skip(1);
    if let Some(number) = arguments.next() {
        return hold(number.parse().expect("this program gives a number"));
    }
    let space = Space::new();
    space.enter(|| std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "1024 65535")).unwrap();
    let mut holders: Vec<Holder> = (1..=HOLDERS).map(|number| space.enter(|| Holder::new(number))).collect();
    let mut histograms = Histograms::new().unwrap_or_else(|e| panic!("{e}"));
    println!(
        "Goal: at most {:.0} % of a core. Processor time of a look at {CONNECTIONS} connections, both ends here:",
        GOAL * 100.0
    );
    for (what, bytes) in [("all silent", 0), ("each has sent something", 1)] {
        let took: Vec<f64> = (0..LOOKS).map(|_| look(&mut histograms, &mut holders, bytes)).collect();
        let mean = Estimate::of_mean(&took);
        let shares = INTERVALS_S.map(|s| format!("{:.2} % every {s} s", mean.value / s * 100.0));
        println!("  {what:24} {} s: {}; 2 % every {:.1} s", mean.text(4), shares.join(", "), mean.value / GOAL);
    }
}

/// Seconds.
fn look(histograms: &mut Histograms, holders: &mut [Holder], bytes: usize) -> f64 {
    holders.iter_mut().for_each(|holder| holder.send(bytes));
    let before = cpu_time();
    let totals = histograms.look().unwrap_or_else(|e| panic!("{e}"));
    let took = (cpu_time() - before).as_secs_f64();
    assert!(totals.iter().map(|t| t.connections).sum::<u64>() >= 2 * CONNECTIONS as u64, "it sees all of them");
    took
}

/// A process with some of the connections; it ends with its standard input.
struct Holder {
    process: Child,
    ask: ChildStdin,
    told: BufReader<ChildStdout>,
}

impl Holder {
    fn new(number: usize) -> Self {
        let mut command = Command::new(env::current_exe().expect("this program"));
        let mut process = command
            .args([HOLD, &number.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let (ask, told) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut holder = Self { process, ask, told };
        holder.wait();
        holder
    }

    fn send(&mut self, bytes: usize) {
        writeln!(self.ask, "{bytes}").unwrap();
        self.wait();
    }

    fn wait(&mut self) {
        let mut line = String::new();
        assert!(self.told.read_line(&mut line).unwrap() > 0, "a holder has ended: {:?}", self.process.try_wait());
    }
}

/// Each has an address of its own, so that there are ports enough.
fn hold(number: u8) {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, number), 0)).unwrap();
    let target = listener.local_addr().unwrap();
    let pair = |_| (TcpStream::connect(target).unwrap(), listener.accept().unwrap().0);
    let mut connections: Vec<(TcpStream, TcpStream)> = (0..CONNECTIONS / HOLDERS).map(pair).collect();
    println!("connected");
    for line in stdin().lines() {
        let bytes = vec![1; line.unwrap().parse().expect("how many bytes")];
        for (near, _) in &mut connections {
            near.write_all(&bytes).expect("it has room for a byte");
        }
        println!("sent");
    }
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
