#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Why is the worst find of each question one? Changes one thing at a time about the finds of scripts/search-night.py, and keeps in
experiments/search/causes.jsonl what makes each of them none.

    scripts/search-causes.py
    scripts/search-causes.py --tandem target/release/tandem
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from searching import ROOT, ask_again, keep, kept

NIGHT = ROOT / "experiments/search/night.jsonl"
KEPT = ROOT / "experiments/search/causes.jsonl"
LONGER = 5


def with_each_ack(suite: str) -> str:
    return suite.replace("[scenario]\n", "[scenario]\ndelayed_acks = false\n", 1)


def longer(suite: str) -> str:
    """What is cut off grows, too. What changes still changes when it did."""

    def times(found: re.Match) -> str:
        return f'{found[1]} = "{LONGER * float(found[2]):g}{found[3]}"'

    return re.sub(r'^(duration|warmup) = "([0-9.]+)([a-z]+)"', times, suite, flags=re.MULTILINE)


def unchanged(suite: str) -> str:
    return suite


# What is changed: the parameters of the contender, and the file.
CHANGES = {
    "nothing": ("", unchanged),
    "an ACK for each packet": ("", with_each_ack),
    "runs five times as long": ("", longer),
    "HyStart": ("@hystart=1", unchanged),
}


def finds(program: str, questions: list[dict], folder: Path) -> dict[str, str]:
    """The worst find of each of a controller's questions, as evaluate's file, by the question."""
    found = {}
    for question in questions:
        into = folder / question["where"].replace(" ", "-", 1)
        ask_again(program, question, f"--keep {into}")
        for file in into.glob("*find-1.toml"):
            found[into.name] = file.read_text()
    return found


def answers(program: str, controller: str, suites: dict[str, str]) -> dict[str, str]:
    """passes, fails or undecided, by the question."""
    with tempfile.TemporaryDirectory() as folder:
        for name, suite in suites.items():
            (Path(folder) / f"{name}.toml").write_text(suite)
        command = [program, "evaluate", controller, "--suite", f"{folder}/", "--quick", "--quiet", "--json"]
        # A verdict that fails is an exit status, too.
        done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return {row["id"].split("/")[-1]: row["answer"] for row in json.loads(done.stdout)["rows"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tandem", default=str(ROOT / "target/release/tandem"))
    args = parser.parse_args()
    listed = json.loads(subprocess.check_output([args.tandem, "list", "controllers", "--json"]))
    has_hystart = {c["name"] for c in listed if any(p["name"] == "hystart" for p in c["parameters"])}
    asked = defaultdict(list)
    for question in kept(NIGHT).values():
        if question["finds"]:
            asked[question["controller"]].append(question)
    rows = []
    for controller, questions in asked.items():
        with tempfile.TemporaryDirectory() as folder:
            suites = finds(args.tandem, questions, Path(folder))
        of = {}
        for change, (parameters, edit) in CHANGES.items():
            if parameters and controller not in has_hystart:
                continue
            changed = {name: edit(suite) for name, suite in suites.items()}
            of[change] = answers(args.tandem, controller + parameters, changed)
        for name in suites:
            by_change = {change: of[change][name] for change in of if name in of[change]}
            worst, over = name.split("-", 1)
            rows.append({"controller": controller, "where": f"{worst} {over}", "answers": by_change})
        print(f"{controller}: {len(suites)} finds", flush=True)
        keep(KEPT, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
