#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Does `tandem search` find what is known? Each question within a budget, and not told where; then the search against random points. And what it
finds of all our controllers.

Against random points both simulate as many packets, whatever the machine is, and the larger violation that three seeds agree on is the worse.

    scripts/search-known.py                  all, a row each; as Markdown
    scripts/search-known.py planted          the controllers with a planted fault alone
    scripts/search-known.py random           repetitions against random points
    scripts/search-known.py night --time 60  every controller in every measure, for an hour; the same command goes on where it was
    scripts/search-known.py --budget 5min --tandem target/release/tandem
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLANTED = ROOT / "crates/evaluate/tests/planted"

# What is known, the question that is to find it, and the features of paths (one of these sets) that show just this: the worst find may be another fault.
KNOWN = {
    "Compound has half of the link at 1 % of a BDP": ("compound --worst utilisation --over fixed-path", [set()]),
    "FAST has a wrong base RTT after a change of route": ("fast --worst utilisation --over changing-path", [{"route"}]),
    "BBR loses packets below 1.5 BDP": ("bbr --worst loss --over fixed-path", [set()]),
    "BBR starves flows with a shorter RTT": ("bbr --worst starvation --over fixed-path", [{"far"}]),
    "CUBIC returns slowly after a loss on a long path": (
        "cubic --baseline bbr3 --worst recovery --over changing-path",
        [{"burst"}, {"outage"}, {"loss"}],
    ),
    "Vegas gives way to a queue that grows": ("vegas --worst utilisation --over competition", [set()]),
}
# Among others; `swings` is the mechanism.
SWINGS = "compound --baseline vegas --worst oscillation --least 0.02 --over fixed-path"
# Which measure shows the fault; Reno without it is the baseline. `sound` has none.
FAULTS = {
    "no_backoff": "stolen competition",
    "half_backoff": "stolen competition",
    "little_backoff": "starvation competition",
    "filler": "delay fixed-path",
    "greedy": "stolen competition",
    "endless": "loss fixed-path",
    "deaf": "loss changing-path",
    "clockwork": "loss changing-path",
    "rich": "starvation competition",
    "third": "starvation competition",
    "far_sighted": "utilisation fixed-path",
    "stale": "utilisation changing-path",
    "panic": "utilisation fixed-path",
    "timid": "utilisation fixed-path",
    "disorder": "utilisation fixed-path",
    "gives_up": "utilisation changing-path",
    "crawl": "utilisation satellite",
    "stubborn": "delay fixed-path",
    "sound": "utilisation fixed-path",
}

# What every controller is asked: the measure, and the paths on which it shows.
NIGHT = [
    "utilisation fixed-path",
    "utilisation changing-path",
    "stolen competition",
    "starvation competition",
    "delay fixed-path",
    "loss fixed-path",
    "recovery changing-path",
    "oscillation fixed-path",
    "utilisation satellite",
]
NIGHTS = ROOT / "experiments/search/night.jsonl"


def search(program: str, question: str, length: str, store: str) -> tuple[dict, float]:
    """What it found, and how much CPU time that took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as out:
        command = [program, "search", *question.split(), *length.split(), "--json", "--quiet", "--out", out]
        done = subprocess.run(command, check=True, capture_output=True, env={**os.environ, "TANDEM_STORE": store})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(what: str, found: dict, cpu_s: float, mechanism: str | None = None, features: list[set] | None = None) -> None:
    """The worst find that shows it."""
    finds = [find for find in found["finds"] if mechanism in (None, find["mechanism"])]
    finds = [find for find in finds if features is None or set(find["features"]) in features]
    worst = f"{100 * finds[0]['violation']:.1f} %: {finds[0]['words'][0]}" if finds else "**not found**"
    features_text = ", ".join(finds[0]["features"]) if finds else ""
    count = len(found["finds"])
    print(f"| {what} | {worst} | {features_text} | {count} | {found['judged']} | {cpu_s:.0f} |", flush=True)


def against_random(program: str, points: int, repetitions: int) -> None:
    print("\n| question | worse than random points | the worst, %; of random points |\n|---|---:|---|")
    for what, (question, _) in KNOWN.items():
        # Above what can be found, so that nothing is made small.
        start = f"{question} --least 1000"
        first, _ = search(program, start, f"--evaluations {points} --random", "off")
        worse, pairs = 0, []
        for seed in range(1, repetitions + 1):
            ours, _ = search(program, start, f"--evaluations {points} --seed {seed}", "off")
            as_much = round(points * ours["simulated_packets"] / max(first["simulated_packets"], 1))
            random, _ = search(program, start, f"--evaluations {as_much} --seed {seed} --random", "off")
            here, there = ours["worst_seen"] or 0, random["worst_seen"] or 0
            worse += here > there
            pairs.append(f"{100 * here:.0f};{100 * there:.0f}")
        print(f"| {what} | {worse} of {repetitions} | {', '.join(pairs)} |", flush=True)


def night(program: str, evaluations: int, until: float) -> None:
    """Asks what has not been asked, until then, and keeps each answer at once. Everything is compared with CUBIC, and CUBIC with Reno."""
    names = [line["name"] for line in json.loads(subprocess.check_output([program, "list", "controllers", "--json"]))]
    kept = [json.loads(line) for line in NIGHTS.read_text().splitlines()] if NIGHTS.exists() else []
    for where in NIGHT:
        worst, over = where.split()
        for name in names:
            if any((answer["controller"], answer["where"]) == (name, where) for answer in kept):
                continue
            if time.monotonic() > until:
                return
            baseline = "reno" if name == "cubic" else "cubic"
            question = f"{name} --baseline {baseline} --worst {worst} --over {over}"
            found, cpu_s = search(program, question, f"--evaluations {evaluations} --finds 3", "off")
            shown = ("mechanism", "features", "violation", "share_of_paths", "words")
            finds = [{key: find[key] for key in shown} for find in found["finds"]]
            answer = {"controller": name, "where": where, "baseline": baseline, "evaluations": evaluations, "finds": finds}
            with NIGHTS.open("a") as file:
                file.write(json.dumps(answer) + "\n")
            worst_find = f"{100 * finds[0]['violation']:.1f} %: {finds[0]['words'][0]}" if finds else "nothing"
            print(f"{name}, {where}: {worst_find} ({cpu_s:.0f} s)", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["known", "planted", "random", "night"])
    parser.add_argument("--tandem", default=str(ROOT / "target/release/tandem"))
    parser.add_argument("--budget", default="5min", help="of each question; on two cores twice this in CPU time")
    parser.add_argument("--finds", type=int, default=12, help="of each question")
    parser.add_argument("--points", type=int, default=640, help="of each search against random points")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--evaluations", type=int, default=320, help="of each question of the night")
    parser.add_argument("--time", type=float, default=480, metavar="MINUTES", help="of the night: no question is begun after")
    args = parser.parse_args()
    if args.part == "night":
        night(args.tandem, args.evaluations, time.monotonic() + 60 * args.time)
        return 0
    head = "| what | the worst find of it | features | finds | paths | CPU, s |\n|---|---|---|---:|---:|---:|"
    budget = f"--budget {args.budget} --finds {args.finds}"
    if args.part in (None, "known"):
        print(head)
        for what, (question, features) in KNOWN.items():
            row(what, *search(args.tandem, question, budget, "off"), features=features)
        row("Compound oscillates (S2)", *search(args.tandem, SWINGS, budget, "off"), mechanism="swings", features=[set()])
    if args.part in (None, "planted"):
        print(f"\n{head}")
        for name, where in FAULTS.items():
            worst, over = where.split()
            question = f"{PLANTED / name}.h --baseline reno --worst {worst} --over {over}"
            row(name, *search(args.tandem, question, budget, "off"))
    if args.part in (None, "random"):
        against_random(args.tandem, args.points, args.repetitions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
