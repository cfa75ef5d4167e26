#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Searches for the worst of every controller in every measure, and keeps what it finds in experiments/search/night.jsonl, a line for each question.

Everything is compared with CUBIC, and CUBIC with Reno. What was simulated before, and no change of a controller has touched, comes from the store:
after an interruption the same command soon is where it was.

    scripts/search-night.py
    scripts/search-night.py --evaluations 2000 --tandem target/release/tandem
"""

import argparse
import json
import subprocess
import sys

from searching import ROOT, ask, keep, kept

KEPT = ROOT / "experiments/search/night.jsonl"
# The measure, and the paths on which it shows.
QUESTIONS = [
    "utilisation fixed-path",
    "utilisation changing-path",
    "utilisation satellite",
    "stolen competition",
    "starvation competition",
    "delay fixed-path",
    "loss fixed-path",
    "recovery changing-path",
    "oscillation fixed-path",
]
# What is kept of a find.
SHOWN = ("mechanism", "features", "violation", "share_of_paths", "words", "scenario")


def answer(program: str, name: str, where: str, evaluations: int) -> dict:
    baseline = "reno" if name == "cubic" else "cubic"
    question = {"controller": name, "where": where, "baseline": baseline, "evaluations": evaluations}
    found, cpu_s = ask(program, question)
    finds = [{key: find[key] for key in SHOWN} for find in found["finds"]]
    worst_find = f"{100 * finds[0]['violation']:.1f} %: {finds[0]['words'][0]}" if finds else "nothing"
    print(f"{name}, {where}: {worst_find} ({cpu_s:.0f} s)", flush=True)
    return {**question, "finds": finds}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tandem", default=str(ROOT / "target/release/tandem"))
    parser.add_argument("--evaluations", type=int, default=640, help="paths that each question looks at")
    args = parser.parse_args()
    listed = json.loads(subprocess.check_output([args.tandem, "list", "controllers", "--json"]))
    asked = [(controller["name"], where) for where in QUESTIONS for controller in listed]
    answers, failed = kept(KEPT), 0
    for name, where in asked:
        try:
            answers[name, where] = answer(args.tandem, name, where, args.evaluations)
        except subprocess.CalledProcessError as e:
            failed += 1
            print(f"{name}, {where}: FAILED\n{e.stderr}", file=sys.stderr, flush=True)
        keep(KEPT, [answers[question] for question in asked if question in answers])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
