# SPDX-License-Identifier: MIT OR Apache-2.0
"""The paths on which a controller does worst, looked for on this machine or on many."""

from __future__ import annotations

import json
import shlex
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from tandem_cc import _native
from tandem_cc.jobs import where
from tandem_cc.progress import bar

USUAL = {"worst": "utilisation", "over": "fixed-path", "finds": 5, "seed": 1}
"""Defaults, which the command line has as well."""


class SearchResult:
    """What a search found: paths on which the controller does worse than another one, made as small as can be.

    Attributes:
        command: the command line that makes the same search.
    """

    def __init__(self, searched: _native.Searched, command: str) -> None:
        self._searched = searched
        self.command = command

    @property
    def details(self) -> dict[str, Any]:
        """All that is known of the search; the keys are those of `tandem search --json`."""
        details: dict[str, Any] = json.loads(self.json())
        return details

    @property
    def finds(self) -> list[dict[str, Any]]:
        """The finds, the worst first, each with its `scenario`: a text that `tandem.run` runs once it is in a file."""
        texts = dict(self._searched.scenarios())
        return [find | {"scenario": texts[find["name"]]} for find in self.details["finds"]]

    def json(self) -> str:
        """Returns what `tandem search --json` prints."""
        return self._searched.json()

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes a scenario file of each find, `find-1.toml` and so on, and returns their paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, text in self._searched.scenarios():
            path = folder / f"{name}.toml"
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return paths

    def __str__(self) -> str:
        return str(self._searched)

    def __repr__(self) -> str:
        return repr(self._searched)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def search(
    controller: str,
    *,
    worst: str = "utilisation",
    over: str = "fixed-path",
    baseline: str | None = None,
    differ: str | None = None,
    budget: str | None = None,
    evaluations: int | None = None,
    least: float | None = None,
    finds: int = 5,
    knife_edge: bool = False,
    seed: int = 1,
    on: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> SearchResult:
    """Looks for the paths on which a controller does worst, compared with another one on the same path. Ctrl-C ends it.

    Finished runs are kept in the user's store, as those of the command line are: the same call goes on after an interrupt.
    With `evaluations` the same seed gives the same finds, here, elsewhere and on the command line.

    Args:
        controller: the controller, with parameters after `@`, or a header such as `./mine.h`.
        worst: the measure: `utilisation`, `stolen`, `delay`, `loss`, `starvation`, `recovery`, `oscillation`, or a criterion
            such as `5.1.2`.
        over: the paths: `fixed-path`, `changing-path`, `competition`, `data-centre`, `satellite`, or a file like theirs.
        baseline: what it is compared with; CUBIC, or a criterion's own, if not given.
        differ: another controller, or the engine `quic`: where the two differ most, whichever is worse.
        budget: how long it may take, such as `10min`; two minutes if neither this nor `evaluations` is given.
        evaluations: this many paths are looked at, and finds are made small however long that takes.
        least: the smallest difference that is a find, as a share.
        finds: how many finds are made small at most; 0: the worst violation alone.
        knife_edge: whether points are kept that are bad though their neighbours are not.
        seed: of the random points.
        on: where runs are made: this machine's cores if not given; otherwise as for `sweep`. Headers must be there at the same path.
        workers: how many runs are made at a time; one for each core, or elsewhere two for each worker, if not given.
        progress: whether a bar shows how much is done; None shows it in terminals and notebooks.

    Raises:
        UsageError: the words mean nothing, or do not go together.
        ScenarioError: the file of the paths has an error; the message says where.
        RunError: a run or a worker failed, or the cluster cannot be reached.
    """
    asked: dict[str, Any] = {"worst": worst, "over": over, "baseline": baseline, "differ": differ, "budget": budget}
    asked |= {"evaluations": evaluations, "least": least, "finds": finds, "seed": seed}
    words = ["tandem", "search", controller]
    for name, value in asked.items():
        words += [f"--{name}", str(value)] * (value != USUAL.get(name))
    words += ["--knife-edge"] * knife_edge
    command = shlex.join(words)
    wanted = asked | {"controller": controller, "knife_edge": knife_edge, "command": f"{command} --json"}
    with where(on, workers) as place, bar(progress, controller) as move:
        return SearchResult(_native.search(wanted, place, move), command)
