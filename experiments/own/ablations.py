#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What each term of compound_steady is worth: the law without it, on the path that needs it most. As Markdown.

    experiments/own/ablations.py                       all, 8 seeds; ten minutes on two cores
    experiments/own/ablations.py --seeds 4 noise pace  those whose name has one of these words
    experiments/own/ablations.py --check               does the header still have each? Runs nothing
    experiments/own/ablations.py --tandem target/release/tandem
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "controllers/include/compound_steady.h"
NAME = "ablated"
# Student's t for 95 %, by degrees of freedom.
T_95 = {1: 12.71, 2: 4.30, 3: 3.18, 5: 2.57, 7: 2.36, 11: 2.20, 15: 2.13}


def flow(controller: str, **keys: object) -> str:
    usual = {"start_spread": "100ms", "rtt_spread": "200us"}
    lines = [f'controller = "{controller}"'] + [f"{key} = {json.dumps(value)}" for key, value in (usual | keys).items()]
    return "[[flows]]\n" + "\n".join(lines) + "\n"


def dumbbell(seconds: int, warmup: int, rtt_ms: int, queue: str, rate: str = "100mbit", loss: float = 0) -> str:
    link = f'rate = "{rate}"\nrtt = "{rtt_ms}ms"\nqueue = "{queue}"\nloss = {loss}\n'
    return f'duration = "{seconds}s"\nwarmup = "{warmup}s"\n[dumbbell]\n{link}'


@dataclass(frozen=True)
class Case:
    """A path and what is read from its runs; {} stands for the controller. The RTTs are those of the half that the law was set on."""

    name: str
    measure: str
    scenario: str


def beside(other: str, ours: int, theirs: int, queue: str) -> Case:
    scenario = dumbbell(1500, 500, 109 if other == "reno" else 70, queue)
    flows = flow("{}", count=ours) + flow(other, count=theirs)
    return Case(f"share beside {other}, {ours}:{theirs}, {queue}, %", "share", scenario + flows)


def unequal(count: int, queue: str, least_ms: int = 21) -> Case:
    most_ms = 6 * least_ms
    flows = "".join(flow("{}", count=count // 2, rtt=f"{ms}ms") for ms in (least_ms, most_ms))
    name = f"RTT {least_ms} and {most_ms} ms, {count} flows, {queue}: ratio"
    return Case(name, "ratio", dumbbell(400, 200, most_ms, queue) + flows)


def late(queue: str) -> Case:
    flows = "".join(flow("{}", start=f"{10 * i}s") for i in range(8))
    return Case(f"eight flows 10 s apart, {queue}: least share, %", "least", dumbbell(270, 170, 76, queue) + flows)


def alone(queue: str, what: str = "use", rate: str = "100mbit", loss: float = 0, effects: str = "") -> Case:
    words = f", loss {loss}" if loss else ""
    scenario = dumbbell(200, 60, 64, queue, rate, loss) + effects + flow("{}")
    return Case(f"{what}, {rate}, {queue}{words}, %", "use", scenario)


def varied(distribution: str) -> Case:
    effects = f'[effects.bottleneck]\njitter = {{ time = "5ms", distribution = "{distribution}", keep_order = true }}\n'
    return Case(f"use with {distribution} jitter of 5 ms, %", "use", alone("1bdp", effects=effects).scenario)


def changed(queue: str) -> Case:
    changes = "".join(
        f'[effects.{link}]\nchanges = [{{ at = "60s", {rate}delay = "60.5ms" }}]\n'
        for link, rate in (("bottleneck", 'rate = "100mbit", '), ("reverse", ""))
    )
    return Case(f"use of 80 s after +60 ms, {queue}, %", "use", dumbbell(140, 60, 61, queue) + changes + flow("{}"))


LOST = Case(
    "use of 60 s of which 520 packets are lost in a row, 0.1bdp, %",
    "use",
    dumbbell(60, 1, 61, "0.1bdp") + f"[effects.bottleneck]\ndrop = {{ packets = {list(range(160000, 160520))} }}\n" + flow("{}"),
)
TAIL = Case("two flows, 1bdp: 95th percentile of the queue, packets", "tail", dumbbell(300, 100, 140, "1bdp") + flow("{}", count=2))


@dataclass(frozen=True)
class Term:
    """A term of the law; without it, the header has other text."""

    name: str
    swaps: tuple[tuple[str, str], ...]
    paths: tuple[Case, ...]


def swap(old: str, new: str) -> tuple[tuple[str, str], ...]:
    return ((old, new),)


def value(parameter: str, scale: str, default: int, new: int) -> tuple[tuple[str, str], ...]:
    return swap(f"P({parameter}, {scale}, {default}, ", f"P({parameter}, {scale}, {new}, ")


def gain(factor: str) -> tuple[tuple[str, str], ...]:
    shrink, grow = "s->backlog_q8 - s->aim_q8", "s->aim_q8 - s->backlog_q8"
    return ((f"({shrink}) / 2", f"({shrink}){factor}"), (f"({grow}) / 2", f"({grow}){factor}"))


TERMS = (
    Term(
        "L grows if W falls below its mean",
        swap("s->empty_rounds || s->mean_q4 >> 4 > c->snd_cwnd + 4 ||", "s->empty_rounds ||"),
        (beside("reno", 1, 1, "0.1bdp"),),
    ),
    Term(
        "L grows if q > 3/2 aim",
        swap("c->snd_cwnd + 4 || steady_is_crowded(s))", "c->snd_cwnd + 4)"),
        (beside("reno", 5, 5, "0.1bdp"),),
    ),
    Term(
        "and an overflow or a yield has shown others",
        swap("return (s->overflow_us || s->fails) && 2 *", "return 2 *"),
        (unequal(8, "1bdp", 15),),
    ),
    Term("L falls otherwise", swap("\telse if (s->backlog_q8 <= s->aim_q8 && ", "\telse if (0 && "), (unequal(8, "1bdp", 15),)),
    Term(
        "but not while q > aim",
        swap("\telse if (s->backlog_q8 <= s->aim_q8 && ", "\telse if ("),
        (beside("cubic", 1, 1, "0.1bdp"), beside("cubic", 5, 5, "0.1bdp")),
    ),
    Term("half of q - aim in a round, not 3/4", gain(" * 3 / 4"), (TAIL,)),
    Term("half of q - aim in a round, not all", gain(""), (TAIL,)),
    Term(
        "d is the largest of the last RTTs, not their mean",
        swap("s->round.base_rtt_us : s->peak_q3_us >> 3;", "s->round.base_rtt_us : s->recent_q3_us >> 3;"),
        (unequal(2, "0.1bdp"), late("0.1bdp")),
    ),
    Term("D grows by what base falls by", swap("s->overflow_us += prior_us - s->base_us;", "s->overflow_us += 0;"), (late("0.1bdp"),)),
    Term("aim falls with D", swap("\tif (s->overflow_us)\n\t\tbuffer_us = min_u32", "\tif (0)\n\t\tbuffer_us = min_u32"), (alone("0.01bdp"),)),
    Term(
        "aim is a root of x, not in proportion",
        swap(
            "root_q8 = isqrt((u64)steady_sent_q8(s, p->buffer_us) << 8);",
            "root_q8 = steady_sent_q8(s, p->buffer_us) / 8;",
        ),
        (unequal(8, "1bdp"), late("1bdp")),
    ),
    Term("a large W loses less than half: overflow", value("overflow_window", "1", 82, 1 << 24), (alone("0.01bdp"),)),
    Term("more after an overflow than by chance", value("overflow_window", "1", 82, 41), (beside("reno", 5, 5, "0.01bdp"),)),
    Term("a large W loses less than half: chance", value("chance_window", "1", 41, 1 << 24), (alone("1bdp", rate="1gbit", loss=1e-5),)),
    Term(
        "D at least base / 512",
        (
            ("s->overflow_us / 32, base_us / 512);", "s->overflow_us / 32, 1);"),
            ("\ts->overflow_us = max_u32(s->overflow_us, s->base_us / 512 + 1);\n", ""),
        ),
        (alone("1bdp", rate="1gbit", loss=1e-4),),
    ),
    Term("it yields", swap("\tif (age > (s->stays_us ?", "\tif (0 && age > (s->stays_us ?"), (late("1bdp"), changed("0.1bdp"))),
    Term("the first yields are deep", swap("max_u32(p->yield, 512 >> s->yields)", "p->yield"), (late("1bdp"),)),
    Term(
        "base is raised only by a second yield",
        (("\tif (!s->stays_us) {\n\t\ts->stays_us = r;\n\t} else if (changed_us", "\tif (s->stays_us && changed_us"),),
        (beside("reno", 1, 1, "4bdp"),),
    ),
    Term("base is raised at all", swap("\t\ts->base_us = r;\n\t\ts->empty_rounds = STEADY_FREE;\n", ""), (changed("0.1bdp"),)),
    Term("then W doubles up to the last that held", swap("\t\ts->climbs = 1;\n", ""), (changed("0.1bdp"),)),
    Term("growth is limited by D", value("step", "1024", 128, 4096), (alone("0.01bdp"), late("0.01bdp"))),
    Term(
        "two thresholds for n, aim / 2 and aim / 8",
        swap("\tif (s->backlog_q8 >= s->aim_q8 / 8)\n", "\tif (s->backlog_q8 >= s->aim_q8 / 2)\n"),
        (alone("4p"),),
    ),
    Term(
        "r is the mean, not the least RTT",
        swap("s->mean_rtt_q7 >> 7;", "round->rtt_us;"),
        (beside("reno", 5, 5, "0.03bdp"),),
    ),
    Term("S counts as no queue", value("noise", "16", 80, 0), (varied("uniform"),)),
    Term("noise", swap("return steady_noise_us(s, p) > p->buffer_us;", "return 0;"), (varied("wifi"),)),
    Term("less base / 128", swap("sub_floor0(steady_noise_us(s, p), s->base_us / 128)", "steady_noise_us(s, p)"), (alone("4p"), late("0.01bdp"))),
    Term(
        "W shrinks by parts of a packet",
        (
            ("part_q8 = s->credit / w;", "part_q8 = 0 * w;"),
            ("\ts->credit = (part_q8 + (packets << 8) - by_q8) * w;\n", "\ts->credit = part_q8;\n"),
        ),
        (unequal(8, "1bdp"), changed("0.1bdp")),
    ),
    Term("it paces", swap("c->pacing_bytes_per_s = rate ? rate : 1;", "c->pacing_bytes_per_s = rate | 1ull << 40;"), (alone("1p"), late("0.01bdp"))),
    Term("at 33/32 of W / RTT, not 5/4", value("pacing_gain", "256", 264, 320), (alone("1p"), alone("5p", rate="1gbit"))),
    Term("it resends as Reno after a timeout", swap("else if (s->timed_out && c->is_cwnd_limited)", "else if (0)"), (LOST,)),
)


def header(swaps: tuple[tuple[str, str], ...], folder: Path) -> str:
    """Writes the law with these swaps; returns its path."""
    text = HEADER.read_text()
    for old, new in swaps:
        if text.count(old) != 1:
            sys.exit(f"ablations.py: {HEADER.name} has this text {text.count(old)} times, not once:\n{old}")
        text = text.replace(old, new)
    path = folder / f"{NAME}.h"
    path.write_text(text.replace("compound_steady", NAME))
    return str(path)


def run(tandem: str, scenario: str, controller: str, seeds: int, folder: Path) -> dict:
    file = folder / "path.toml"
    file.write_text(scenario.replace("{}", controller))
    command = [tandem, "run", file, "--seeds", str(seeds), "--json", "--no-report", "--replace", "-q", "--out", folder / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["runs"][0]


def values(measure: str, run: dict) -> list[float]:
    """By seed."""
    groups = list(zip(*(group["goodput_by_seed_mbps"] for group in run["groups"]), strict=True))
    link = run["links"][0]
    match measure:
        case "share":
            return [100 * ours / (ours + theirs) for ours, theirs in groups]
        case "ratio":
            return [short / long for short, long in groups]
        case "least":
            return [100 * min(each) * len(each) / sum(each) for each in groups]
        case "use":
            payload_mbps = link["rate_mbps"] * 1448 / 1500
            return [100 * sum(each) / payload_mbps for each in groups]
        case _:
            return [link["queue_packets"]["p95"]]


def interval(of: list[float]) -> str:
    digits = 2 if max(of) < 10 else 1
    mean = f"{statistics.mean(of):.{digits}f}"
    if len(of) < 2 or len(of) - 1 not in T_95:
        return mean
    return f"{mean} ± {T_95[len(of) - 1] * statistics.stdev(of) / math.sqrt(len(of)):.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="of the terms' names")
    parser.add_argument("--tandem", default="tandem")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    terms = [term for term in TERMS if not given.words or any(word in term.name for word in given.words)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.check:
            for term in terms:
                header(term.swaps, folder)
            return
        print("| term | path | without it | with it |\n|---|---|---|---|")
        for term in terms:
            for path in term.paths:
                print(f"{term.name}: {path.name}", file=sys.stderr)
                laws = (header(swaps, folder) for swaps in (term.swaps, ()))
                runs = (run(given.tandem, path.scenario, law, given.seeds, folder) for law in laws)
                without, with_it = (interval(values(path.measure, run)) for run in runs)
                print(f"| {term.name} | {path.name} | {without} | {with_it} |", flush=True)


if __name__ == "__main__":
    main()
