#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Why is the worst find of each question one? Changes one thing at a time about the finds of scripts/search-night.py, and keeps in
experiments/search/causes.jsonl what makes each of them none.

Finds that are kept are not tried again, so after an interruption the same command goes on.

    scripts/search-causes.py
    scripts/search-causes.py --tandem target/release/tandem
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from searching import CHANGES, ROOT, ask, keep, kept

NIGHT = ROOT / "experiments/search/night.jsonl"
KEPT = ROOT / "experiments/search/causes.jsonl"


def finds(program: str, questions: list[dict], folder: Path) -> dict[str, str]:
    """The worst find of each of a controller's questions, as evaluate's file, by the question."""
    found = {}
    for question in questions:
        into = folder / question["where"].replace(" ", "-", 1)
        ask(program, question, f"--keep {into}")
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
    rows = kept(KEPT)
    asked = defaultdict(list)
    for place, question in kept(NIGHT).items():
        if question["finds"] and place not in rows:
            asked[question["controller"]].append(question)
    for controller, questions in asked.items():
        with tempfile.TemporaryDirectory() as folder:
            suites = finds(args.tandem, questions, Path(folder))
        of = {}
        for name, change in CHANGES.items():
            if change.parameters and controller not in has_hystart:
                continue
            changed = {where: change.edit(suite) for where, suite in suites.items()}
            of[name] = answers(args.tandem, controller + change.parameters, changed)
        for where in suites:
            by_change = {name: of[name][where] for name in of if where in of[name]}
            place = controller, where.replace("-", " ", 1)
            rows[place] = {"controller": controller, "where": place[1], "answers": by_change}
        print(f"{controller}: {len(suites)} finds", flush=True)
        keep(KEPT, list(rows.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
