#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How fast the simulator is: instructions a packet; ratios to ns-2, and of many flows to few; its memory; where its time goes.

A rate is data packets delivered to receivers per second of CPU time (user and system) of the whole process, from its
start to its end: reading the scenario and writing the report count too. All runs share one core; those to be compared
alternate, so that a machine that gets slower or busier does so for both.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# A run that comes from the store of finished runs takes no time.
os.environ["TANDEM_STORE"] = "off"

BENCH = Path(__file__).resolve().parent
TANDEM = BENCH.parent / "target/release/tandem"

# List is left out: it walks all pending events for each new one, and needs minutes for a simulated second.
NS2_SCHEDULERS = ["Heap", "Calendar", "Splay"]
NS2_TRIAL_S = 10
# The two simulated times whose difference tells the instructions a packet: the start and the report cancel out.
COUNTED_S = (20, 40)
# The same for the table of paths, counted and timed.
VARIANT_S = (10, 20)
TIMED_S = (10, 40)
WARMUP_S = 5
# As Debian names it.
NS2 = "ns"
# The default of Tandem's send_jitter: one packet of 1500 bytes at 1 Gbit/s.
SEND_DELAY_S = 12e-6


class Usage:
    """What a finished process printed and took."""

    def __init__(self, command):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            self.output = out.read().decode()
            err.seek(0)
            self.errors = err.read().decode()
            if process.returncode != 0:
                sys.exit(f"bench: `{' '.join(map(str, command))}` failed:\n{self.errors}{self.output}")
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_mb = usage.ru_maxrss * 1024 / 1e6


def tandem(scenario):
    """Packets a CPU second, peak megabytes, and the share of CPU time that is not simulation."""
    with tempfile.TemporaryDirectory() as folder:
        used = Usage([TANDEM, "run", BENCH / scenario, "--seeds", "1", "--json", "--out", folder])
    run = json.loads(used.output)["runs"][0]
    return run["data_packets"] / used.cpu_s, used.peak_mb, 1 - simulated_s(used) / used.cpu_s


def simulated_s(used):
    """CPU seconds of the simulation alone, as the command says."""
    return float(re.search(r"([\d.]+) s of processor time", used.errors)[1])


def job(controllers=("compound", "reno"), keys="", network=""):
    """The standard job with other controllers, keys of its flows, and keys of its network."""
    text = (BENCH / "standard.toml").read_text()
    groups = dict(zip(("compound", "reno"), controllers))
    # In one pass: what takes the place of the first may be the name of the second.
    text = re.sub(r'controller = "(\w+)"', lambda line: f'controller = "{groups[line[1]]}"\n{keys}', text)
    return text.replace('queue = "1500p"', f'queue = "1500p"\n{network}')


def many(flows):
    """The standard job with more flows, on 10 Gbit/s."""
    text = job().replace("count = 4", f"count = {flows // 2}")
    return text.replace('"1gbit"', '"10gbit"').replace('"1500p"', '"15000p"')


# UDP at 900 Mbit/s, whose packets jitter makes overtake each other.
REORDERED = """duration = "20s"
warmup = "5s"
[dumbbell]
rate = "1gbit"
rtt = "200ms"
queue = "1500p"
[effects.bottleneck]
jitter = {{ time = "{}ms", keep_order = false }}
[[flows]]
udp = {{ rate = "900mbit" }}
"""

MARKING_CODEL = 'aqm = { kind = "codel", ecn = true }'

# What a path is, its scenario, the path that it is measured by, and how many times that one's cost a packet it may have.
PATHS = [
    ("drop-tail", job(), "drop-tail", 1),
    ("delayed ACKs", job().replace("delayed_acks = false", "delayed_acks = true"), "drop-tail", 2),
    ("cubic", job(("cubic", "cubic")), "drop-tail", 2),
    ("random loss, 1e-4", job(network="loss = 1e-4"), "drop-tail", 2),
    ("jitter, 1 ms", job(network='[effects.bottleneck]\njitter = { time = "1ms" }'), "drop-tail", 2),
    ("RED", job(network='aqm = "red"'), "drop-tail", 2),
    ("PIE", job(network='aqm = "pie"'), "drop-tail", 2),
    ("CoDel", job(network='aqm = "codel"'), "drop-tail", 2),
    ("FQ-CoDel", job(network='aqm = "fq_codel"'), "drop-tail", 2),
    ("DualPI2", job(network='aqm = "dualpi2"'), "drop-tail", 2),
    ("DualPI2, prague", job(("prague", "prague"), 'ecn = "accurate"', 'aqm = "dualpi2"'), "drop-tail", 2),
    ("CoDel, dctcp", job(("dctcp", "dctcp"), 'ecn = "accurate"', MARKING_CODEL), "drop-tail", 2),
    ("paced reno", job(("reno", "reno"), "pacing = true"), "drop-tail", 2),
    ("bbr", job(("bbr", "bbr")), "drop-tail", 2),
    ("8 flows, 10 Gbit/s", many(8), "drop-tail", 2),
    ("4096 flows, 10 Gbit/s", many(4096), "8 flows, 10 Gbit/s", 1.5),
    ("UDP, reordered by 1 ms", REORDERED.format(1), "UDP, reordered by 1 ms", 1),
    ("UDP, reordered by 80 ms", REORDERED.format(80), "UDP, reordered by 1 ms", 2),
]


def cut(text, duration_s, folder):
    """The command that runs so many seconds of a scenario."""
    scenario = folder / f"{duration_s}.toml"
    text = re.sub(r"^duration = .*", f'duration = "{duration_s}s"', text, flags=re.M)
    scenario.write_text(re.sub(r"^warmup = .*", f'warmup = "{WARMUP_S}s"', text, flags=re.M))
    return [TANDEM, "run", scenario, "--seeds", "1", "--json", "--out", folder / f"{duration_s}"]


def counted(text, duration_s, folder):
    """Instructions and data packets of one run of a scenario, cut to `duration_s`."""
    counts = folder / f"{duration_s}.callgrind"
    callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}"]
    used = Usage([*callgrind, *cut(text, duration_s, folder)])
    instructions = re.search(r"^(?:summary|totals): (\d+)", counts.read_text(), re.M)[1]
    return int(instructions), json.loads(used.output)["runs"][0]["data_packets"]


def instructions(text, seconds):
    """Instructions a data packet, all events and the ACK included."""
    with tempfile.TemporaryDirectory() as folder:
        (less, fewer), (more, many) = (counted(text, duration_s, Path(folder)) for duration_s in seconds)
    return (more - less) / (many - fewer)


def nanoseconds(text, seconds):
    """CPU time a data packet without the start and the report, the least of three differences."""
    with tempfile.TemporaryDirectory() as folder:
        differences = []
        for _ in range(3):
            short, long = (Usage([*cut(text, duration_s, Path(folder)), "--replace"]) for duration_s in seconds)
            packets = [json.loads(used.output)["runs"][0]["data_packets"] for used in (short, long)]
            differences.append((long.cpu_s - short.cpu_s) * 1e9 / (packets[1] - packets[0]))
    return min(differences)


def paths():
    has_valgrind = shutil.which("valgrind")
    if not has_valgrind:
        print("Instructions a packet: left out, for `valgrind` is not installed. On Debian: apt-get install valgrind\n")
    else:
        print(f"Standard job: {instructions(job(), COUNTED_S):.0f} instructions a data packet; goal: up to 500.")
        print(f"Callgrind's count from {COUNTED_S[0]} s to {COUNTED_S[1]} s; it does not depend on how busy the machine is.\n")
    print("Paths: the standard job except for what the name says; the cost of a data packet, and its ratio to another path's.")
    print("Some flows of each are traced.\n")
    row = "{:24} {:>12} {:>6} {:>8} {:>6}   {:24} {:>5}"
    print(row.format("", "instructions", "ratio", "ns", "ratio", "to", "goal"))
    costs = {}
    for name, text, other, goal in PATHS:
        count = instructions(text, VARIANT_S) if has_valgrind else float("nan")
        costs[name] = (count, nanoseconds(text, TIMED_S))
        (count, ns), (by_count, by_ns) = costs[name], costs[other]
        cells = (f"{count:.0f}", f"{count / by_count:.2f}", f"{ns:.0f}", f"{ns / by_ns:.2f}")
        print(row.format(name, *cells, other, goal), flush=True)
    print()


def ns2(duration_s, scheduler, send_delay_s, access_links):
    """Packets a CPU second."""
    options = [duration_s, scheduler, send_delay_s, int(access_links), 1]
    used = Usage([NS2, BENCH / "dumbbell.tcl", *map(str, options)])
    return int(re.search(r"^data_packets (\d+)$", used.output, re.M)[1]) / used.cpu_s


def against_ns2(pairs, ns2_duration_s):
    if not shutil.which(NS2):
        print("Against ns-2: left out, for `ns` is not installed. On Debian: apt-get install ns2\n")
        return
    print("Standard job: 1 Gbit/s, 100 ms, 1500 packets, 4 compound + 4 reno, 150 s, an ACK per packet, no trace.")
    if ns2_duration_s != 150:
        print(f"ns-2 simulates {ns2_duration_s} s of it.")
    print("To give flows RTTs of their own ns-2 needs a link to each host (dumbbell); without them (bare) it has two nodes and")
    print("one link, all RTTs are equal, and it has half the work. Tandem does the same in both cases: unequal RTTs.")
    print(f"{pairs} pairs of runs, taken in turn; millions of packets a CPU second (medians), ratio pair by pair.\n")
    row = "{:34} {:9} {:>8} {:>8}   {:>6} {:>6} {:>6}"
    print(row.format("", "scheduler", "Tandem", "ns-2", "min", "median", "max"))
    for access_links in (True, False):
        for jitter in (False, True):
            delay_s = SEND_DELAY_S if jitter else 0
            trials = {s: ns2(NS2_TRIAL_S, s, delay_s, access_links) for s in NS2_SCHEDULERS}
            best = max(trials, key=trials.get)
            scenario = "standard.toml" if jitter else "standard-no-jitter.toml"
            ours, theirs = [], []
            for _ in range(pairs):
                ours.append(tandem(scenario)[0])
                theirs.append(ns2(ns2_duration_s, best, delay_s, access_links))
            ratios = [a / b for a, b in zip(ours, theirs)]
            name = f"{'dumbbell' if access_links else 'bare'}, {'random' if jitter else 'no'} send delay"
            rates = [f"{statistics.median(r) / 1e6:.2f}" for r in (ours, theirs)]
            spread = [f"{f(ratios):.1f}" for f in (min, statistics.median, max)]
            print(row.format(name, best, *rates, *spread), flush=True)
    print("Goal: 10 or more for the dumbbell.\n")


def many_flows(pairs):
    ratios = [tandem("8-flows.toml")[0] / tandem("512-flows.toml")[0] for _ in range(pairs)]
    spread = ", ".join(f"{f(ratios):.2f}" for f in (min, statistics.median, max))
    print(f"A packet's CPU time with 512 flows over that with 8, 10 Gbit/s (min, median, max): {spread}; goal: up to 2.")
    rate, peak_mb, _ = tandem("4096-flows.toml")
    print(f"4096 flows on 10 Gbit/s: {peak_mb:.0f} MB at most, goal: under 200; {rate / 1e6:.2f} million packets/s.")
    print(f"Standard job: {tandem('standard.toml')[2]:.1%} of CPU time is not simulation but the report and the start.\n")


def profile():
    if not shutil.which("perf"):
        print("Where the time goes: left out, for `perf` is not installed. On Debian: apt-get install linux-perf")
        return
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "perf.data"
        run = [TANDEM, "run", BENCH / "standard.toml", "--seeds", "1", "--out", folder]
        record = subprocess.run(["perf", "record", "-o", data, "--", *run], capture_output=True, text=True)
        if record.returncode != 0:
            print(f"Where the time goes: perf cannot record here:\n{record.stderr.strip()}")
            return
        report = ["perf", "report", "-i", data, "--stdio", "--percent-limit", "1", "--sort", "symbol"]
        lines = subprocess.run(report, capture_output=True, text=True).stdout.splitlines()
    print("Where the time goes (perf, standard job, what takes 1 % or more):")
    print("\n".join(line for line in lines if line.strip() and not line.startswith("#")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=3, help="runs of each side (default: %(default)s)")
    parser.add_argument("--ns2-seconds", type=int, default=150, help="simulated by ns-2 (default: %(default)s)")
    args = parser.parse_args()
    if not TANDEM.exists():
        sys.exit(f"bench: there is no {TANDEM}; build it with: cargo build --release -p tandem-cc")
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    print(f"All on core {core}.\n")
    paths()
    against_ns2(args.pairs, args.ns2_seconds)
    many_flows(args.pairs)
    profile()


if __name__ == "__main__":
    main()
