#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Does `tandem search` find what is known, in how much CPU time, and not told where? Then the search against random points.

Against random points both simulate as many packets, whatever the machine is, and what counts is the worst find: it holds with five seeds and around it.

    scripts/search-known.py                  all, a row each; as Markdown
    scripts/search-known.py planted          the controllers with a planted fault alone
    scripts/search-known.py random           repetitions against random points
    scripts/search-known.py --points 1280 --tandem target/release/tandem
"""

import argparse
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from searching import ROOT, search

PLANTED = ROOT / "crates/evaluate/tests/planted"
# Each question simulates all that it needs, whatever was simulated before.
ALONE = {"TANDEM_STORE": "off"}


@dataclass(frozen=True)
class Known:
    """The question that is to find what is known, and what its path must look like: the worst find may be another fault."""

    question: str
    # One of these sets.
    features: tuple[frozenset[str], ...] = (frozenset(),)
    mechanism: str | None = None
    most_bdp: float | None = None

    def is_shown_by(self, find: dict) -> bool:
        has_its_features = frozenset(find["features"]) in self.features
        has_its_mechanism = self.mechanism in (None, find["mechanism"])
        return has_its_features and has_its_mechanism and (self.most_bdp is None or queue_bdp(find) < self.most_bdp)


def queue_bdp(find: dict) -> float:
    queue = tomllib.loads(find["scenario"])["dumbbell"]["queue"]
    return float(queue.removesuffix("bdp"))


def only(*features: str) -> tuple[frozenset[str], ...]:
    """Any of these, alone."""
    return tuple(frozenset({feature}) for feature in features)


KNOWN = {
    "Compound has half of the link at 1 % of a BDP": Known("compound --worst utilisation --over fixed-path", most_bdp=0.05),
    "FAST has a wrong base RTT after a change of route": Known("fast --worst utilisation --over changing-path", only("route")),
    "BBR loses packets below 1.5 BDP": Known("bbr --worst loss --over fixed-path", most_bdp=1.5),
    "BBR starves flows with a shorter RTT": Known("bbr --worst starvation --over fixed-path", only("far")),
    "CUBIC returns slowly after a loss on a long path": Known(
        "cubic --baseline bbr3 --worst recovery --over changing-path", only("burst", "outage", "loss")
    ),
    "Vegas gives way to a queue that grows": Known("vegas --worst utilisation --over competition"),
    "Compound oscillates (S2)": Known(
        "compound --baseline vegas --worst oscillation --least 0.02 --over fixed-path", mechanism="swings"
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


def row(what: str, found: dict, cpu_s: float, known: Known | None = None) -> None:
    """The worst find that shows it."""
    finds = [find for find in found["finds"] if known is None or known.is_shown_by(find)]
    worst = f"{100 * finds[0]['violation']:.1f} %: {finds[0]['words'][0]}" if finds else "**not found**"
    features_text = ", ".join(finds[0]["features"]) if finds else ""
    count = len(found["finds"])
    print(f"| {what} | {worst} | {features_text} | {count} | {found['judged']} | {cpu_s:.0f} |", flush=True)


def worst_find(found: dict) -> float:
    """Before it was reduced: what the search itself came upon."""
    return max((find["violation_when_found"] for find in found["finds"]), default=0.0)


def against_random(program: str, points: int, repetitions: int) -> None:
    print("\n| question | worse than random points | the worst, %; of random points |\n|---|---:|---|")
    for what, known in KNOWN.items():
        start = f"{known.question} --finds 1"
        first, _ = search(program, start, f"--evaluations {points} --random", ALONE)
        worse, pairs = 0, []
        for seed in range(1, repetitions + 1):
            ours, _ = search(program, start, f"--evaluations {points} --seed {seed}", ALONE)
            as_much = round(points * ours["simulated_packets"] / max(first["simulated_packets"], 1))
            random, _ = search(program, start, f"--evaluations {as_much} --seed {seed} --random", ALONE)
            here, there = worst_find(ours), worst_find(random)
            worse += here > there
            pairs.append(f"{100 * here:.0f};{100 * there:.0f}")
        print(f"| {what} | {worse} of {repetitions} | {', '.join(pairs)} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["known", "planted", "random"])
    parser.add_argument("--tandem", default=str(ROOT / "target/release/tandem"))
    parser.add_argument("--finds", type=int, default=24, help="of each question")
    parser.add_argument("--points", type=int, default=2560, help="of each search")
    parser.add_argument("--repetitions", type=int, default=10)
    args = parser.parse_args()
    head = "| what | the worst find of it | features | finds | paths | CPU, s |\n|---|---|---|---:|---:|---:|"
    length = f"--evaluations {args.points} --finds {args.finds}"
    if args.part in (None, "known"):
        print(head)
        for what, known in KNOWN.items():
            row(what, *search(args.tandem, known.question, length, ALONE), known=known)
    if args.part in (None, "planted"):
        print(f"\n{head}")
        for name, where in FAULTS.items():
            worst, over = where.split()
            question = f"{PLANTED / name}.h --baseline reno --worst {worst} --over {over}"
            row(name, *search(args.tandem, question, length, ALONE))
    if args.part in (None, "random"):
        against_random(args.tandem, args.points, args.repetitions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
