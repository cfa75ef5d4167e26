// SPDX-License-Identifier: MIT OR Apache-2.0
//! What our controllers cost: CPU seconds a gigabyte beside the kernel's own, and what the verifier walks through.
//!
//! A run is a transfer between two namespaces over veth without a rate limit. All controllers take turns, each round in another
//! order, so that a machine that gets slower or busier does so for all; ratios are of the means, pairs being a round's runs.
//!
//! Each run has two figures: the time that this process and the kernel's ksoftirqd ran, exact, which is both ends' work in system
//! calls and in the softirqs that follow them; and the time that the whole machine was busy, sampled at each clock tick, which
//! has other programs' work in it.

// Each program that includes this module uses its own part of it.
#[path = "../tests/net/mod.rs"]
mod net;
mod timing;

use std::{
    env, fs,
    io::{Read, Write},
    thread,
};

use rustix::{
    thread::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_gettime},
};
use tandem_controllers::find;
use tandem_kernel::{available, loadable, verified_instructions};
use tandem_statistics::{Estimate, mean};

use net::{FAR, Path, Registered, connected, info};

const BYTES: u64 = 1_000_000_000;
const BLOCK_BYTES: usize = 250_000;
// Enough for intervals of half the goal's distance from 1.
const DEFAULT_ROUNDS: usize = 320;
const OURS: [&str; 4] = ["reno", "compound_tube", "bbr", "bbr3"];
const KERNELS: [&str; 3] = ["reno", "cubic", "bbr"];
/// Those that are held against each other, places in ours and then the kernel's.
const PAIRS: [[usize; 2]; 7] = [[0, 4], [0, 5], [1, 4], [1, 5], [5, 4], [2, 6], [3, 6]];
const GOAL: f64 = 1.03;
/// What the names of controllers' programs begin with.
const OURS_BEGIN: &str = "tandem_";

/// What a run took.
struct Cost {
    ends_s: f64,
    machine_s: f64,
    acks: u32,
}

fn main() {
    if let Some(lack) = tandem_kernel::features().iter().find(|f| f.required && !f.present) {
        println!("Cost in the kernel: left out. {}: {}", lack.name, lack.note);
        return;
    }
    // cargo adds an argument of its own.
    let rounds = env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(DEFAULT_ROUNDS);
    compare(rounds);
    println!(
        "\nOf which the eBPF programs themselves, as the kernel times each call (the timing's own cost included):"
    );
    for name in OURS {
        time_programs(name);
    }
    println!("\nInstructions that the verifier walks through (limit: a million), by program:");
    for controller in loadable() {
        let counts = verified_instructions(controller).unwrap_or_else(|e| panic!("{}: {e}", controller.name));
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        println!("  {:14} {}", controller.name, counts.join(", "));
    }
}

fn compare(rounds: usize) {
    let registered = OURS.map(|name| Registered::new(find(name).unwrap()));
    let ours = registered.iter().zip(OURS).map(|(r, name)| (&*r.name, format!("our {name}")));
    let has = available().expect("the kernel tells which it has");
    let kernels = KERNELS.iter().filter(|name| has.iter().any(|has| has == *name));
    // Those that a kernel may lack come last.
    let contenders: Vec<(&str, String)> = ours.chain(kernels.map(|name| (*name, format!("kernel's {name}")))).collect();
    let path = Path::wire();
    let mut costs: Vec<Vec<Cost>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let i = (round + turn) % contenders.len();
            costs[i].push(run(&path, contenders[i].0));
        }
    }

    println!("CPU seconds a gigabyte over veth, both ends; means of {rounds} runs in turn, 95 % intervals:");
    println!("  {:20} {:>17} {:>17} {:>8}", "", "both ends", "whole machine", "ACKs");
    for ((_, label), costs) in contenders.iter().zip(&costs) {
        let acks = mean(&figures(costs, |c| f64::from(c.acks)));
        let [ends, machine] =
            [figures(costs, |c| c.ends_s), figures(costs, |c| c.machine_s)].map(|f| Estimate::of_mean(&f).text(3));
        println!("  {label:20} {ends:>17} {machine:>17} {acks:>8.0}");
    }
    println!("\nRatios (goal: at most {GOAL}); that of the kernel's own shows what is chance:");
    for [i, j] in PAIRS.into_iter().filter(|pair| pair.iter().all(|&place| place < contenders.len())) {
        let compared = |figure: fn(&Cost) -> f64| {
            Estimate::of_ratio(&figures(&costs[i], figure), &figures(&costs[j], figure)).expect("rounds").text(3)
        };
        let (ends, machine) = (compared(|c| c.ends_s), compared(|c| c.machine_s));
        println!(
            "  {:38} both ends {ends:>15}   whole machine {machine:>15}",
            format!("{} / {}", contenders[i].1, contenders[j].1)
        );
    }
}

/// One more transfer, while the kernel times eBPF programs.
fn time_programs(controller: &str) {
    let registered = Registered::new(find(controller).unwrap());
    let path = Path::wire();
    let _timing = timing::start();
    let before = timing::programs(OURS_BEGIN);
    let cost = run(&path, &registered.name);
    let mut total_ns = 0;
    for (id, (name, calls, ns)) in timing::programs(OURS_BEGIN) {
        let (calls_before, ns_before) = before.get(&id).map_or((0, 0), |(_, calls, ns)| (*calls, *ns));
        let (calls, ns) = (calls - calls_before, ns - ns_before);
        if let Some(each_ns) = ns.checked_div(calls) {
            println!("  {controller:14} {name:18} {calls:>7} calls of {each_ns:>4} ns");
        }
        total_ns += ns;
    }
    let share = 100.0 * total_ns as f64 / 1e9 / cost.ends_s;
    println!("  {controller:14} together {:.1} ms of {:.0} ms: {share:.2} %", total_ns as f64 / 1e6, cost.ends_s * 1e3);
}

fn figures(costs: &[Cost], figure: fn(&Cost) -> f64) -> Vec<f64> {
    costs.iter().map(figure).collect()
}

/// One transfer, each end on a core of its own if there are two.
fn run(path: &Path, controller: &str) -> Cost {
    let (mut near, mut far) = connected(controller, &path.near, &path.far, FAR);
    let before = (ends_s(), machine_s());
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(0);
            let block = vec![0; BLOCK_BYTES];
            for _ in 0..BYTES / BLOCK_BYTES as u64 {
                near.write_all(&block).expect("the connection holds");
            }
            near.shutdown(std::net::Shutdown::Write).unwrap();
        });
        pin(1);
        let mut block = vec![0; BLOCK_BYTES];
        while far.read(&mut block).expect("the connection holds") > 0 {}
    });
    Cost { ends_s: ends_s() - before.0, machine_s: machine_s() - before.1, acks: info(&near).tcpi_segs_in }
}

/// Where it is not allowed, the scheduler decides.
fn pin(core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    let _ = sched_setaffinity(None, &cores);
}

/// Seconds that this process and ksoftirqd have run.
fn ends_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|e| e.path());
    let softirq_ns: f64 = processes
        .filter(|p| fs::read_to_string(p.join("comm")).is_ok_and(|name| name.starts_with("ksoftirqd/")))
        // The first number: nanoseconds on a CPU.
        .filter_map(|p| fs::read_to_string(p.join("schedstat")).ok()?.split(' ').next()?.parse::<f64>().ok())
        .sum();
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9 + softirq_ns / 1e9
}

/// Seconds that the machine's cores have not been idle.
fn machine_s() -> f64 {
    /// The unit of /proc/stat on every machine.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = fs::read_to_string("/proc/stat").unwrap();
    let fields = text.lines().next().unwrap().split_whitespace().skip(1);
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user.
    let busy = fields.take(8).enumerate().filter(|(i, _)| ![3, 4].contains(i));
    busy.map(|(_, ticks)| ticks.parse::<f64>().unwrap()).sum::<f64>() / TICKS_PER_SECOND
}
