#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Does `tandem search` find what is known? Each question within a budget, and not told where; then the search against random points.

Against random points both simulate as many packets, whatever the machine is, and the larger violation that three seeds agree on is the worse.

    scripts/search-known.py                  all, a row each; as Markdown
    scripts/search-known.py planted          the controllers with a planted fault alone
    scripts/search-known.py random           repetitions against random points
    scripts/search-known.py --budget 5min --tandem target/release/tandem
"""

import argparse
import sys
from pathlib import Path

from searching import search

ROOT = Path(__file__).resolve().parents[1]
PLANTED = ROOT / "crates/evaluate/tests/planted"
# Each question simulates all that it needs, whatever was simulated before.
ALONE = {"TANDEM_STORE": "off"}

# What is known, the question that is to find it, the features of paths (one of these sets) that show just this, and its mechanism where that tells it
# from others: the worst find may be another fault.
KNOWN = {
    "Compound has half of the link at 1 % of a BDP": ("compound --worst utilisation --over fixed-path", [set()], None),
    "FAST has a wrong base RTT after a change of route": ("fast --worst utilisation --over changing-path", [{"route"}], None),
    "BBR loses packets below 1.5 BDP": ("bbr --worst loss --over fixed-path", [set(), {"flows"}], None),
    "BBR starves flows with a shorter RTT": ("bbr --worst starvation --over fixed-path", [{"far"}], None),
    "CUBIC returns slowly after a loss on a long path": (
        "cubic --baseline bbr3 --worst recovery --over changing-path",
        [{"burst"}, {"outage"}, {"loss"}],
        None,
    ),
    "Vegas gives way to a queue that grows": ("vegas --worst utilisation --over competition", [set()], None),
    "Compound oscillates (S2)": (
        "compound --baseline vegas --worst oscillation --least 0.02 --over fixed-path",
        [set()],
        "swings",
    ),
}
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
    for what, (question, *_) in KNOWN.items():
        start = f"{question} --finds 0"
        first, _ = search(program, start, f"--evaluations {points} --random", ALONE)
        worse, pairs = 0, []
        for seed in range(1, repetitions + 1):
            ours, _ = search(program, start, f"--evaluations {points} --seed {seed}", ALONE)
            as_much = round(points * ours["simulated_packets"] / max(first["simulated_packets"], 1))
            random, _ = search(program, start, f"--evaluations {as_much} --seed {seed} --random", ALONE)
            here, there = ours["worst_seen"] or 0, random["worst_seen"] or 0
            worse += here > there
            pairs.append(f"{100 * here:.0f};{100 * there:.0f}")
        print(f"| {what} | {worse} of {repetitions} | {', '.join(pairs)} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["known", "planted", "random"])
    parser.add_argument("--tandem", default=str(ROOT / "target/release/tandem"))
    parser.add_argument("--budget", default="5min", help="of each question; on two cores twice this in CPU time")
    parser.add_argument("--finds", type=int, default=12, help="of each question")
    parser.add_argument("--points", type=int, default=640, help="of each search against random points")
    parser.add_argument("--repetitions", type=int, default=10)
    args = parser.parse_args()
    head = "| what | the worst find of it | features | finds | paths | CPU, s |\n|---|---|---|---:|---:|---:|"
    budget = f"--budget {args.budget} --finds {args.finds}"
    if args.part in (None, "known"):
        print(head)
        for what, (question, features, mechanism) in KNOWN.items():
            row(what, *search(args.tandem, question, budget, ALONE), mechanism=mechanism, features=features)
    if args.part in (None, "planted"):
        print(f"\n{head}")
        for name, where in FAULTS.items():
            worst, over = where.split()
            question = f"{PLANTED / name}.h --baseline reno --worst {worst} --over {over}"
            row(name, *search(args.tandem, question, budget, ALONE))
    if args.part in (None, "random"):
        against_random(args.tandem, args.points, args.repetitions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
