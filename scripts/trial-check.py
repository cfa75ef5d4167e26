#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`tandem trial` over the emulated path, with real connections of the kernel: makes docs/trial-check.md.

The way from a simulation to a policy (advice, trial with 500 transfers, the simulator's word on the same transfers, policy); trials of a
controller against itself; trials of two controllers that differ by 20 %. Needs root, and up to an hour. The 100 trials of a controller against
itself are `--only same`: on two busy cores ten at a time take 100 s, so all of them a quarter of an hour. Ten that take longer than LIMIT_S end
it; nothing is kept of that part then.

    cargo build --release && scripts/trial-check.py [--tandem PROGRAM] [--same N] [--planted N] [--only PART]

What is done is kept in experiments/trial/*.json; the page is made of it.
"""

import argparse
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "experiments/trial"
PAGE = ROOT / "docs/trial-check.md"
PORT = 5801

# The way: a path that loses a packet in a thousand, so that controllers differ, and transfers of mixed sizes, one after another.
PATH = ["--rate", "40mbit", "--rtt", "60ms", "--queue", "0.5bdp", "--loss", "1e-3"]
CANDIDATES = ["cubic", "reno", "compound", "compound_tube", "bbr3"]
TRANSFERS, MEDIAN_BYTES, SIGMA, MOST_BYTES = 500, 400_000, 1.5, 15_000_000
CLASSES = [("below 15 kB", 15_000), ("15 to 150 kB", 150_000), ("150 kB to 1.5 MB", 1_500_000), ("1.5 to 15 MB", 15_000_000)]

# Against itself: 1 % is lost, which makes the times of equal transfers very different. An RTT that leaves the emulator time, and room in the queue.
SAME_PATH = ["--rate", "60mbit", "--rtt", "60ms", "--queue", "1bdp", "--loss", "1%"]
# Planted: windows of 10 and 12 packets that stay. On a path with room a window a round trip is sent: 12 is 20 % more. Even, because receivers
# acknowledge every second packet; and transfers of 240 packets, whole rounds of both: 20 and 24.
PLANTED_PATH = ["--rate", "60mbit", "--rtt", "60ms", "--queue", "1bdp", "--loss", "0.1%"]
WINDOWS, PLANTED_BYTES = (12, 10), 240 * 1448
SAME_BYTES = 100_000
AT_ONCE, SENDERS, CONNECTIONS = 10, 2, 200
# Trials that go on at once: none has taken a quarter of that.
LIMIT_S = 900

FIXED = """/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A window that stays as it is: what a trial of two of them should find is known. */
#ifndef FIXED_WINDOW_H
#define FIXED_WINDOW_H
#include "window.h"
#define fixed_window_PARAMS(P) P(packets, 1, 10, 1, 1000, "the window")
struct fixed_window_params { fixed_window_PARAMS(TANDEM_PARAM_FIELD) };
struct fixed_window { u32 unused; };
#define FW(name) fixed_window_##name
TANDEM_FN void FW(init)(struct fixed_window *s, const struct fixed_window_params *p, struct tandem_conn *c)
{ s->unused = 0; c->snd_cwnd = p->packets; c->snd_ssthresh = p->packets; }
TANDEM_FN void FW(pkts_acked)(struct fixed_window *s, const struct fixed_window_params *p, const struct tandem_conn *c,
			      const struct tandem_ack *ack) { }
TANDEM_FN void FW(cong_avoid)(struct fixed_window *s, const struct fixed_window_params *p, struct tandem_conn *c, u32 acked)
{ c->snd_cwnd = p->packets; }
TANDEM_FN u32 FW(ssthresh)(struct fixed_window *s, const struct fixed_window_params *p, const struct tandem_conn *c, u32 reason)
{ return p->packets; }
TANDEM_FN void FW(set_state)(struct fixed_window *s, const struct fixed_window_params *p, struct tandem_conn *c, u32 state) { }
TANDEM_FN void FW(restart)(struct fixed_window *s, const struct fixed_window_params *p, struct tandem_conn *c) { }
TANDEM_FN u32 FW(undo_cwnd)(struct fixed_window *s, const struct fixed_window_params *p, const struct tandem_conn *c)
{ return p->packets; }
#define fixed_window_PROBES(P, W)
TANDEM_FN void FW(view)(const struct fixed_window *s, const struct fixed_window_params *p, const struct tandem_conn *c,
			struct tandem_view *v) { v->loss_window = c->snd_cwnd; }
#endif
"""

ARGS = argparse.Namespace()


def tandem(*arguments: str) -> str:
    done = subprocess.run([ARGS.tandem, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tandem {' '.join(arguments)}: {done.stderr}")
    return done.stdout


# ---- Transfers. The sender runs in the emulated path's namespace, as `trial-check.py --send`.


def serve() -> None:
    """Takes what is sent, on any address: the emulated path's exists only while it does."""
    server = socket.create_server(("0.0.0.0", PORT), backlog=256)

    def one(client: socket.socket) -> None:
        with client:
            while client.recv(1 << 16):
                pass

    def accept() -> None:
        while True:
            threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def transfer(size: int) -> None:
    with socket.create_connection((os.environ["TANDEM_HOST"], PORT)) as near:
        near.sendall(b"x" * size)
        near.shutdown(socket.SHUT_WR)
        # Its end says that all has arrived.
        near.recv(1)


def send(cgroups: list[str], sizes: list[int], threads: int) -> None:
    """In each cgroup a process, whose threads share the sizes."""
    children = []
    for cgroup in cgroups:
        child = os.fork()
        if child:
            children.append(child)
            continue
        Path(cgroup, "cgroup.procs").write_text("0")
        left, lock = list(sizes), threading.Lock()

        def work() -> None:
            while True:
                with lock:
                    if not left:
                        return
                    size = left.pop()
                transfer(size)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        os._exit(0)
    for child in children:
        os.waitpid(child, 0)


# ---- Trials.


def cgroup_root() -> Path:
    for line in Path("/proc/mounts").read_text().splitlines():
        fields = line.split()
        if fields[2] == "cgroup2":
            return Path(fields[1])
    sys.exit("there is no cgroup v2")


def start_trial(arms: tuple[str, str], cgroup: Path, out: Path) -> subprocess.Popen:
    command = [ARGS.tandem, "trial", arms[0], "--against", arms[1], "--cgroup", str(cgroup), "--no-report", "--json", "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end_trial(trial: subprocess.Popen) -> dict:
    trial.send_signal(signal.SIGINT)
    out, err = trial.communicate(timeout=60)
    assert out, err
    return json.loads(out)


def remove(cgroup: Path) -> None:
    (cgroup / "cgroup.kill").write_text("1")
    while (cgroup / "cgroup.procs").read_text():
        time.sleep(0.1)
    cgroup.rmdir()


def run_trials(arms: tuple[str, str], count: int, path: list[str], sizes: list[int], threads: int, folder: Path, seed: int) -> tuple[list[dict], dict]:
    """So many trials at once over one emulated path, each in a cgroup of its own: their answers, and what the path says of itself."""
    cgroups, trials = [], []
    try:
        for n in range(count):
            cgroups.append(cgroup_root() / f"tandem-check-{os.getpid()}-{n}")
            cgroups[-1].mkdir()
            trials.append(start_trial(arms, cgroups[-1], folder / str(n)))
        for trial in trials:
            assert trial.stderr and "goes on" in trial.stderr.readline(), "the trial does not begin"
        jobs = json.dumps([[str(c) for c in cgroups], sizes, threads])
        sender = [sys.executable, __file__, "--send", jobs]
        command = [ARGS.tandem, "shell", *path, "--seed", str(seed), "--json", "--", *sender]
        shell = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        assert shell.returncode == 0, shell.stderr
        # The last connection's end is its own for a moment.
        time.sleep(1)
        return [end_trial(trial) for trial in trials], json.loads(shell.stdout)
    finally:
        for trial in trials:
            trial.kill()
        for cgroup in cgroups:
            remove(cgroup)


def verdicts(arms: tuple[str, str], path: list[str], count: int, folder: Path, size: int) -> list[dict]:
    """The answer of each trial in short."""
    found, began = [], time.monotonic()
    while len(found) < count:
        seed = len(found) // AT_ONCE + 1
        answers, carried = run_trials(arms, AT_ONCE, path, [size] * CONNECTIONS, SENDERS, folder / str(seed), seed)
        doubts = carried["emulation"]["doubts"]
        for answer in answers:
            change = answer["rows"][0]["goodput_change"]
            broken = [guard["what"] for guard in answer["guards"] if guard["is_broken"]]
            found.append({"verdict": answer["verdict"], "change": change, "connections": answer["counted"], "broken": broken, "doubts": doubts})
        took_s = time.monotonic() - began
        print(f"{len(found)} of {count} after {took_s:.0f} s: {[a['verdict'] for a in answers]}", file=sys.stderr)
    return found[:count]


def same(folder: Path) -> dict:
    trials = verdicts(("reno", "reno"), SAME_PATH, ARGS.same, folder, SAME_BYTES)
    return {"path": SAME_PATH, "bytes": SAME_BYTES, "trials": trials}


def planted(folder: Path) -> dict:
    header = folder / "fixed_window.h"
    header.write_text(FIXED)
    more, fewer = [f"window_{packets}" for packets in WINDOWS]
    for name, packets in zip((more, fewer), WINDOWS, strict=True):
        tandem("kernel", "load", f"{header}@packets={packets}", "--as", name)
    try:
        trials = verdicts((more, fewer), PLANTED_PATH, ARGS.planted, folder, PLANTED_BYTES)
    finally:
        tandem("kernel", "unload", more)
        tandem("kernel", "unload", fewer)
    return {"path": PLANTED_PATH, "bytes": PLANTED_BYTES, "trials": trials}


# ---- The way.


def mixed_sizes() -> list[int]:
    chance = random.Random(1)
    return [min(int(chance.lognormvariate(0, SIGMA) * MEDIAN_BYTES) + 1, MOST_BYTES - 1) for _ in range(TRANSFERS)]


def simulated(controller: str, sizes: list[int], folder: Path) -> list[float | None]:
    """The median time of the transfers of each class in the simulator, seconds; None without one."""
    (folder / "sizes.txt").write_text("".join(f"{size}B\n" for size in sizes))
    keys = dict(zip([key[2:] for key in PATH[::2]], PATH[1::2], strict=True))
    dumbbell = "".join(f'{key} = "{value}"\n' for key, value in keys.items() if key != "loss")
    classes = ", ".join(f'"{below}B"' for _, below in CLASSES[:-1])
    scenario = f"""duration = "900s"
warmup = "0s"
seeds = 5
[dumbbell]
{dumbbell}loss = {keys["loss"]}
[[flows]]
controller = "{controller}"
count = 1
short = {{ think = "100ms", size = {{ kind = "file", path = "sizes.txt" }}, classes = [{classes}] }}
"""
    (folder / "same.toml").write_text(scenario)
    result = json.loads(tandem("run", str(folder / "same.toml"), "--json", "--no-report", "--force", "--out", str(folder / "same")))
    of = result["runs"][0]["groups"][0]["short_flows"]["classes"]
    return [c["completion_time_s"] and c["completion_time_s"]["p50"] for c in of]


def way(folder: Path) -> dict:
    advice = json.loads(tandem("advise", *PATH, "--neighbours", "none", "--default", "cubic", "--json", "--out", str(folder / "advice"), *CANDIDATES))
    chosen, main = advice["advice"], advice["paths"][0]
    sizes = mixed_sizes()
    tandem("kernel", "load", chosen)
    try:
        [answer], carried = run_trials((chosen, "cubic"), 1, PATH, sizes, 1, folder / "trial", 1)
        read = tandem("advise", "--from", str(folder / "trial/0/path.txt"), "--neighbours", "none", "--duration", "5s", "--seeds", "2", "--json", "--out", str(folder / "from"), "cubic", "reno")
        policy = by_policy(chosen, folder)
    finally:
        tandem("kernel", "unload", chosen)
    return {
        "path": PATH,
        "advice": chosen,
        "trial_command": advice["trial"],
        "gain": main["gain"],
        "candidates": [[c["controller"], c["goodput_mbps"]["mean"], c["is_within_limits"]] for c in main["controllers"]],
        "answer": {key: answer[key] for key in ("verdict", "rows", "totals", "counted")},
        "doubts": carried["emulation"]["doubts"],
        "inferred": json.loads(read)["inferred"],
        "policy": policy,
    }


def simulation(folder: Path) -> dict:
    """The advised controller's transfers of each class in the simulator, compared with cubic's: how much faster the median is."""
    chosen, sizes = load("way")["advice"], mixed_sizes()
    ours, theirs = [simulated(name, sizes, folder) for name in (chosen, "cubic")]
    pairs = zip(ours, theirs, strict=True)
    return {"change": [old / new - 1 if new and old else None for new, old in pairs]}


def by_policy(chosen: str, folder: Path) -> dict:
    """For good: what the policy says of a peer, and how many of 20 transfers got the controller."""
    cgroup = cgroup_root() / f"tandem-check-{os.getpid()}"
    cgroup.mkdir()
    (folder / "policy.conf").write_text(f"port {PORT} -> {chosen}\n")
    tandem("policy", "load", str(folder / "policy.conf"), "--cgroup", str(cgroup))
    try:
        said = tandem("policy", "test", f"192.0.2.7:{PORT}").strip()
        jobs = json.dumps([[str(cgroup)], [20_000] * 20, 1])
        tandem("shell", *PATH, "--", sys.executable, __file__, "--send", jobs)
        rules = json.loads(tandem("policy", "show", "--json"))["rules"]
    finally:
        tandem("policy", "remove")
        cgroup.rmdir()
    return {"test": said, "connections": rules[0]["connections"], "refused": rules[0]["refused"]}


# ---- The page.


def percent(change: dict | None) -> str:
    if not change:
        return "too few"
    return f"{change['value'] * 100:+.1f} % ({change['low'] * 100:+.1f} to {change['high'] * 100:+.1f})"


def load(name: str) -> dict:
    return json.loads((KEPT / f"{name}.json").read_text())


def doubted(trials: list[dict]) -> str:
    count = sum(1 for trial in trials if trial["doubts"])
    return f"; the emulator doubts its path in {count} of them" if count else ""


def page() -> str:
    way, same, planted = load("way"), load("same"), load("planted")
    way["simulated_change"] = load("simulation")["change"]
    text = [PREFACE, *way_text(way), "", *both_text(same, planted)]
    wrapped = [line if line.startswith(("|", "#", "$", "<")) else textwrap.fill(line, 150, break_on_hyphens=False) for line in "\n".join(text).split("\n")]
    return "\n".join(wrapped).rstrip() + "\n"


PREFACE = """# From simulation to policy, over the emulated path

<!-- made by scripts/trial-check.py -->
`scripts/trial-check.py` makes this page: real connections of this machine's kernel, over [the emulated path](howto/testbed.md). The steps are those of
[Try a controller on a production machine](howto/trial.md).
"""


def way_text(way: dict) -> list[str]:
    path = " ".join(way["path"])
    rows = way["answer"]["rows"]
    lines = ["## The whole way", "", "```", f"$ tandem advise {path} --neighbours none --default cubic {' '.join(CANDIDATES)}", "```", ""]
    candidates = ", ".join(f"`{name}` {mbps:.1f} Mb/s{'' if within else ' (beyond a limit)'}" for name, mbps, within in way["candidates"])
    gain = way["gain"]
    lines += [f"Advice: `{way['advice']}`, {gain['mean'] * 100:+.0f} ± {gain['ci95'] * 100:.0f} % for a long flow. Of the candidates:", f"{candidates}.", ""]
    lines += ["Its answer includes the trial's command:", "", "```", f"$ {way['trial_command']}", "```", ""]
    lines += ["Transfers gain less than a long flow: they begin in slow start, and most end before much is lost.", ""]
    lines += [f"{way['answer']['counted']} transfers of mixed sizes, one after another (log-normal, median {MEDIAN_BYTES // 1000} kB, at most {MOST_BYTES // 10**6} MB), half with each,"]
    lines += ["and the simulator's median times of the same transfers:", ""]
    lines += [f"| size | connections | trial: goodput of `{way['advice']}` to `cubic` | simulated | within |", "|---|---:|---:|---:|---|"]
    names = [name for name, _ in CLASSES]
    for row in rows:
        if row["name"] == "all":
            lines.append(f"| all | {sum(row['connections'])} | {percent(row['goodput_change'])} | | |")
        elif row["name"] in names:
            simulated, change = way["simulated_change"][names.index(row["name"])], row["goodput_change"]
            is_known = change and simulated is not None
            within = "" if not is_known else "yes" if change["low"] <= simulated <= change["high"] else "no"
            told = "" if simulated is None else f"{simulated * 100:+.1f} %"
            lines.append(f"| {row['name']} | {sum(row['connections'])} | {percent(change)} | {told} | {within} |")
    lines += ["", f"The trial's verdict: {way['answer']['verdict'].replace('_', ' ')}."]
    lines += [f"The emulator doubts its path: {'; '.join(way['doubts'])}." if way["doubts"] else "The emulator kept its time."]
    inferred = [f"{i['what']} {i['value']} ({i['surety']})" for i in way["inferred"]]
    lines += ["", "`tandem advise --from trial/path.txt` reads what the trial measured:", "", "```", *inferred, "```", ""]
    lines += ["To make it permanent:", "", "```", f"$ echo 'port {PORT} -> {way['advice']}' > policy.conf && tandem policy load policy.conf", f"$ tandem policy test 192.0.2.7:{PORT}", way["policy"]["test"], "```", ""]
    lines += [f"Of 20 transfers then, {way['policy']['connections']} got it and {way['policy']['refused']} were refused."]
    return lines


def both_text(same: dict, planted: dict) -> list[str]:
    wrong = [t for t in same["trials"] if t["verdict"] != "no_difference" or t["broken"]]
    found = [t for t in planted["trials"] if t["verdict"] == "better"]
    changes = [t["change"]["value"] for t in planted["trials"] if t["change"]]
    holds = [t for t in planted["trials"] if t["change"] and t["change"]["low"] <= 0.2 <= t["change"]["high"]]
    about = lambda part: f"`{' '.join(part['path'])}`, {part['bytes'] // 1000} kB each"  # noqa: E731
    lines = ["## A controller against itself, and a planted difference", ""]
    lines += [f"Each trial has {CONNECTIONS} connections, {AT_ONCE} trials at a time, each in a cgroup of its own with {SENDERS} connections at once.", ""]
    lines += ["| trial | path, transfers | trials | result |", "|---|---|---:|---|"]
    lines += [f"| `reno` against `reno` | {about(same)} | {len(same['trials'])} | a difference or a guard rail in {len(wrong)}{doubted(same['trials'])} |"]
    lines += [f"| a window of {WINDOWS[0]} packets against {WINDOWS[1]} | {about(planted)} | {len(planted['trials'])} | found in {len(found)}; median estimate {statistics.median(changes) * 100:+.1f} %; the interval holds +20 % in {len(holds)}{doubted(planted['trials'])} |"]
    return lines


PARTS = {"same": same, "planted": planted, "way": way, "simulation": simulation}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tandem", default=str(ROOT / "target/release/tandem"))
    parser.add_argument("--same", type=int, default=100)
    parser.add_argument("--planted", type=int, default=20)
    parser.add_argument("--only", choices=[*PARTS, "page"])
    parser.add_argument("--send", help=argparse.SUPPRESS)
    parser.parse_args(namespace=ARGS)
    if ARGS.send:
        return send(*json.loads(ARGS.send))
    KEPT.mkdir(exist_ok=True)
    serve()
    for name in PARTS if not ARGS.only else [ARGS.only]:
        if name in PARTS:
            with tempfile.TemporaryDirectory() as folder:
                result = PARTS[name](Path(folder))
            (KEPT / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    if all((KEPT / f"{name}.json").exists() for name in PARTS):
        PAGE.write_text(page())


main()
