#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Replays over real TCP what scripts/search-night.py found, and keeps in experiments/search/real-tcp.jsonl how both ended, a line for each find.

Only the worst find of each question, and only on paths that two cores emulate without doubt. Needs root, and a machine with nothing else to do. Finds
that are kept are not replayed again, so after an interruption the same command goes on.

    sudo scripts/search-replay.py
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from searching import ROOT, ask, keep, kept

NIGHT = ROOT / "experiments/search/night.jsonl"
KEPT = ROOT / "experiments/search/real-tcp.jsonl"
# What two cores emulate without doubt: a packet may be late by a hundredth of the RTT.
MOST_BPS = 60e6
LEAST_RTT_S = 0.02
# Exit statuses: verdicts that hold or fail, and what cannot be asked, such as of a controller that the kernel cannot run.
VERDICTS = (0, 1)
REFUSED = 2
# What any machine can be asked that replays anything.
TRIAL = "compare reno --rate 10mbit --rtt 20ms --duration 2s --seeds 1 --engine kernel"
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def value(spelled: str) -> float:
    """Of a rate or a time, in bit/s or seconds."""
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", spelled).groups()
    return float(number) * UNITS[unit]


def can_emulate(find: Path) -> bool:
    path = tomllib.loads(find.read_text())["scenario"]["dumbbell"]
    return value(path["rate"]) <= MOST_BPS and value(path["rtt"]) >= LEAST_RTT_S


def replay(program: str, question: dict) -> dict | None:
    """Of the worst find of a question; None if it has none that can be emulated."""
    name = question["controller"]
    with tempfile.TemporaryDirectory() as folder:
        ask(program, question, f"--keep {folder}")
        finds = [find for find in Path(folder).glob("*.toml") if find.stem.endswith("find-1") and can_emulate(find)]
        for other in set(Path(folder).glob("*.toml")) - set(finds):
            other.unlink()
        if not finds:
            return None
        command = [program, "evaluate", name, "--suite", f"{folder}/", "--quick", "--engine", "sim,kernel", "--json"]
        command += ["--kernel-runs", f"{folder}/kernel.jsonl"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == REFUSED:
            return {"controller": name, "where": question["where"], "agreement": "refused", "why": done.stderr.strip()}
        if done.returncode not in VERDICTS or not done.stdout:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        (row,) = json.loads(done.stdout)["rows"]
    real = row["real_tcp"] or {}
    first = next(iter(real.get("asked", [])), {})
    return {
        "controller": name,
        "where": question["where"],
        "agreement": real.get("agreement"),
        "why": real.get("why"),
        "doubts": real.get("doubts"),
        "simulated": first.get("simulated_finding"),
        "real_tcp": first.get("finding"),
        "scenario": row["worst"]["scenario"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tandem", default=str(ROOT / "target/release/tandem"))
    args = parser.parse_args()
    # Else what this machine refuses, without root for one, would be taken for the answer to each question.
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([args.tandem, *TRIAL.split(), "--out", folder, "--replace"], check=True, stdout=subprocess.DEVNULL)
    answers, failed = kept(KEPT), 0
    for asked, question in kept(NIGHT).items():
        if asked in answers or not question["finds"]:
            continue
        try:
            answer = replay(args.tandem, question)
        except subprocess.CalledProcessError as e:
            failed += 1
            print(f"{asked}: FAILED\n{e.stderr}", file=sys.stderr, flush=True)
            continue
        if answer:
            print(f"{asked}: {answer['agreement']} {answer.get('real_tcp')} ({answer.get('simulated')})", flush=True)
            answers[asked] = answer
            keep(KEPT, list(answers.values()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
