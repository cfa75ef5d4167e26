#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How fast `tandem send` moves a file: beside the simulator, rsync over the kernel's CUBIC, and quinn alone.

The path of 300 Mb/s, 100 ms, a queue of 500 packets and random losses of 1e-5 is emulated in user space: for QUIC by the example
`relay`, without root; for rsync by `tandem shell`, which needs root. On loopback `tandem send --bench` alternates with the example
`bulk`, which is quinn with its defaults and nothing else. Prints tables in Markdown. A busy machine makes all of it slower.

The relay spins on a core of its own. A relay that shares a core delays packets by milliseconds, and a delay-based window yields to that.
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
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "target/release"
TANDEM, RELAY, BULK = RELEASE / "tandem", RELEASE / "examples/relay", RELEASE / "examples/bulk"

PATH = {"rate": "300mbit", "rtt": "100ms", "queue": "500p", "loss": "1e-5"}
FILE_BYTES = 1_000_000_000
LOOPBACK_S = 10
SOURCE_PORT = 47311
RELAY_PORT = 47312
RSYNC_PORT = 47313
CORES = sorted(os.sched_getaffinity(0))
# With one core there is nothing to part.
RELAY_CORES, OTHER_CORES = (CORES[-1:], CORES[:-1]) if len(CORES) > 1 else (CORES, CORES)

SCENARIO = """
duration = "300s"
warmup = "0s"
[dumbbell]
rate = "{rate}"
rtt = "{rtt}"
queue = "{queue}"
loss = {loss}
[[flows]]
controller = "{controller}"
transfer = "{bytes}B"
"""

SENDERS = [
    ("`tandem send --controller compound_tube`", "compound_tube", ["--controller", "compound_tube"]),
    ("`tandem send --controller cubic`", "cubic", ["--controller", "cubic"]),
    ("`tandem send --quinn-cubic`", None, ["--quinn-cubic"]),
]


def fail(command, text):
    sys.exit(f"bench: `{' '.join(map(str, command))}` failed:\n{text}")


def on_cores(cores, command):
    return ["taskset", "--cpu-list", ",".join(map(str, cores)), *command]


def run(command, ticket=None):
    environment = {**os.environ, "TANDEM_TICKET": ticket} if ticket else None
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        fail(command, done.stderr + done.stdout)
    return done.stdout


class Background:
    """A program that is ended when it is no longer needed; its first line has been read."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.first_line = self.process.stdout.readline().strip()
        if not self.first_line:
            fail(command, "it printed nothing")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def receiver(folder, cores):
    return Background(on_cores(cores, [TANDEM, "receive", folder, "--listen", f"127.0.0.1:{SOURCE_PORT}", "--quiet"]))


def mbps(size_bytes, seconds):
    return size_bytes * 8 / seconds / 1e6


def send_over_relay(file, folder, scenario, seed, options):
    relay = on_cores(RELAY_CORES, [RELAY, scenario, str(seed), f"127.0.0.1:{RELAY_PORT}", f"127.0.0.1:{SOURCE_PORT}"])
    received = folder / "received"
    with receiver(received, OTHER_CORES) as there, Background(relay):
        ticket = there.first_line.replace(f":{SOURCE_PORT}/", f":{RELAY_PORT}/")
        begin = time.monotonic()
        run(on_cores(OTHER_CORES, [TANDEM, "send", "--quiet", file, *options]), ticket)
        took = time.monotonic() - begin
    shutil.rmtree(received)
    return mbps(FILE_BYTES, took)


def simulated(folder, controller, engine, seeds):
    file = folder / f"{controller}.toml"
    file.write_text(SCENARIO.format(controller=controller, bytes=FILE_BYTES, **PATH))
    command = [TANDEM, "run", file, "--engine", engine, "--seeds", str(seeds), "--json", "--out", folder / "run", "--replace"]
    group = json.loads(run(command))["runs"][0]["groups"][0]
    return mbps(FILE_BYTES, group["completion_time_s"]["mean"])


def rsync(file, folder, seed):
    target = folder / "rsync"
    target.mkdir()
    config = folder / "rsyncd.conf"
    config.write_text(f"use chroot = no\nuid = 0\ngid = 0\nhosts allow = 100.64.0.0/10\n[to]\npath = {target}\nread only = no\n")
    daemon = subprocess.Popen(["rsync", "--daemon", "--no-detach", f"--config={config}", f"--port={RSYNC_PORT}"])
    # The namespace's own settings: CUBIC, and buffers that hold the path's BDP.
    inside = (
        "sysctl -qw net.ipv4.tcp_congestion_control=cubic net.ipv4.tcp_wmem='4096 16384 67108864'; sleep 0.5; "
        f"time rsync --whole-file --inplace {file} rsync://$TANDEM_HOST:{RSYNC_PORT}/to/"
    )
    path = [text for key, value in PATH.items() for text in (f"--{key}", value)]
    command = [TANDEM, "shell", *path, "--seed", str(seed), "--", "bash", "-c", inside]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    finally:
        daemon.kill()
        daemon.wait()
    minutes, seconds = re.search(r"real\s+(\d+)m([\d.]+)s", done.stderr).groups()
    if done.returncode != 0:
        fail(command, done.stderr)
    shutil.rmtree(target)
    return mbps(FILE_BYTES, 60 * int(minutes) + float(seconds))


def row(name, rates, *beside):
    low, mean, high = min(rates), statistics.mean(rates), max(rates)
    print(f"| {name} | {mean:.0f} | {low:.0f} to {high:.0f} | {' | '.join(beside)} |", flush=True)


def over_the_path(folder, seeds):
    file = folder / "file"
    with file.open("wb") as out:
        out.truncate(FILE_BYTES)
    scenario = folder / "path.toml"
    scenario.write_text(SCENARIO.format(controller="reno", bytes=1, **PATH))
    # Some eight packets of a file are lost at random. The same seed loses the same packets over the relay and in the simulator.
    numbers = range(1, seeds + 1)
    rates = {name: [send_over_relay(file, folder, scenario, seed, options) for seed in numbers] for name, _, options in SENDERS}
    by_rsync = os.geteuid() == 0 and shutil.which("rsync") and [rsync(file, folder, seed) for seed in numbers]
    path = "{rate}, {rtt}, a queue of {queue}, random losses of {loss}".format(**PATH)
    print(f"\nA file of {FILE_BYTES / 1e9:.0f} GB over {path}; {seeds} seeds; Mb/s:\n")
    print("| | mean | from, to | simulator, TCP | simulated QUIC | share of the simulator's |\n|---|---:|---:|---:|---:|---:|")
    for name, controller, _ in SENDERS:
        beside = ["", "", ""]
        if controller:
            sim, quic = (simulated(folder, controller, engine, seeds) for engine in ("sim", "quic"))
            beside = [f"{sim:.0f}", f"{quic:.0f}", f"{100 * statistics.mean(rates[name]) / sim:.0f} %"]
        row(name, rates[name], *beside)
    if by_rsync:
        row("rsync, the kernel's CUBIC", by_rsync, "", "", "")
    else:
        print("\nWithout rsync over the kernel's CUBIC: that needs root and rsync.")


def on_loopback(folder, turns):
    def send(options):
        with receiver(folder / "bench", CORES) as there:
            done = run([TANDEM, "send", "--bench", "--seconds", str(LOOPBACK_S), *options], there.first_line)
        return float(re.search(r"([\d.]+) Mb/s", done)[1])

    def quinn():
        return float(run([BULK, str(int(rate * LOOPBACK_S / 8))]))

    contenders = {"quinn alone, its CUBIC": quinn}
    for name, _, options in SENDERS:
        contenders[name.replace("send", "send --bench")] = lambda options=options: send(options)
    rate = 1e9
    rates = {name: [] for name in contenders}
    for _ in range(turns):
        for name, measure in contenders.items():
            rates[name].append(measure())
        rate = rates["quinn alone, its CUBIC"][-1] * 1e6
    print(f"\nLoopback, {LOOPBACK_S} s, {turns} turns, Mb/s:\n")
    print("| | mean | from, to | median of the ratios to quinn alone |\n|---|---:|---:|---:|")
    for name, of in rates.items():
        ratios = [a / b for a, b in zip(of, rates["quinn alone, its CUBIC"])]
        row(name, of, f"{statistics.median(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="runs over the path (default: %(default)s)")
    parser.add_argument("--turns", type=int, default=5, help="turns on loopback (default: %(default)s)")
    arguments = parser.parse_args()
    # In memory, if there is room: no disk should decide.
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and shutil.disk_usage(memory).free > 4 * FILE_BYTES else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        on_loopback(Path(folder), arguments.turns)
        over_the_path(Path(folder), arguments.seeds)


if __name__ == "__main__":
    main()
