# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs `tandem search` for the scripts that ask many questions, and keeps their answers: a line of JSON for each controller and measure."""

import json
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Of each question of a night. The worst that is looked at is not always the worst once it is reduced.
FINDS = 3
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


@dataclass(frozen=True)
class Change:
    """What is changed about a find, to see whether it still is one."""

    # In the table, where it is none.
    mark: str
    # Of the contender.
    parameters: str = ""
    # Of the file.
    edit: Callable[[str], str] = unchanged


NOTHING = "nothing"
CHANGES = {
    NOTHING: Change(""),
    "an ACK for each packet": Change("a", edit=with_each_ack),
    "HyStart": Change("h", parameters="@hystart=1"),
    "runs five times as long": Change("t", edit=longer),
}


def search(program: str, question: str, length: str, environment: dict[str, str]) -> tuple[dict, float]:
    """What it found, each find with its `scenario`, and how much CPU time that took. CalledProcessError has what it said if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as out:
        command = [program, "search", *question.split(), *length.split(), "--json", "--quiet", "--out", out]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment})
        found = json.loads(done.stdout)
        for find in found["finds"]:
            lines = Path(find["file"]).read_text().splitlines()
            find["scenario"] = "\n".join(line for line in lines if line and not line.startswith("#"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ask(program: str, question: dict, *more: str) -> tuple[dict, float]:
    """A night's question; as `search`. If it was asked before, all of it is in the store."""
    worst, over = question["where"].split()
    words = f"{question['controller']} --baseline {question['baseline']} --worst {worst} --over {over}"
    return search(program, words, f"--evaluations {question['evaluations']} --finds {FINDS} {' '.join(more)}", {})


def kept(path: Path) -> dict[tuple[str, str], dict]:
    """What was answered before, by controller and by measure."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(answer["controller"], answer["where"]): answer for answer in map(json.loads, lines)}


def keep(path: Path, answers: list[dict]) -> None:
    """Whole or not at all: an interruption leaves what was there."""
    written = path.with_suffix(".new")
    try:
        written.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        written.replace(path)
    finally:
        written.unlink(missing_ok=True)
