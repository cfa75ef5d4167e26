# SPDX-License-Identifier: MIT OR Apache-2.0
"""A controller by the criteria of RFC 9743, on this machine or on many."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from tandem_cc import _native
from tandem_cc._native import Table
from tandem_cc.errors import UsageError
from tandem_cc.jobs import where
from tandem_cc.progress import bar

AGAINST = ("reno", "cubic")
SUITE = "rfc9743"


class Assessment:
    """What came of `evaluate`: an answer for each criterion, with the limits and the figures that decide it.

    Attributes:
        command: the command line that makes the same assessment.
    """

    def __init__(self, assessment: _native.Assessment, command: Sequence[str]) -> None:
        self._assessment = assessment
        self.command = shlex.join(command)

    @property
    def passed(self) -> int:
        """Criteria of which every limit is kept."""
        return self._assessment.count("passes")

    @property
    def failed(self) -> int:
        """Criteria of which a limit is broken beyond its interval."""
        return self._assessment.count("fails")

    @property
    def undecided(self) -> int:
        """Criteria whose answer may be chance."""
        return self._assessment.count("undecided")

    @property
    def rows(self) -> Table:
        """A row for each limit, which data frames take.

        `criterion`, `section`, `title` and `answer` are of its criterion. `limit`, `limit_answer`, `found` (the figures,
        in words) and `source` are its own.
        """
        return self._assessment.rows()

    def json(self) -> str:
        """Returns what `tandem evaluate --json` prints, which `--baseline` reads."""
        return self._assessment.json(f"{self.command} --json")

    def markdown(self, path: str | PathLike[str]) -> None:
        """Writes it as a document, such as `assessment.md`, with its pictures in a folder of the same name beside it.

        Raises:
            UsageError: the path has no ending, so that it would be that folder.
        """
        path = Path(path)
        folder = path.with_suffix("")
        if folder == path:
            raise UsageError(f"{path}: this is the folder for its pictures: write `{path}.md`")
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in self._assessment.pictures():
            (folder / name).write_text(picture, encoding="utf-8")
        path.write_text(self._assessment.markdown(self.command, folder.name), encoding="utf-8")

    def __str__(self) -> str:
        return str(self._assessment)

    def __repr__(self) -> str:
        return repr(self._assessment)

    def _repr_html_(self) -> str:
        summary = f"{self.passed} passed, {self.failed} failed, {self.undecided} undecided"
        return f"<p>{summary}</p>{self.rows._repr_html_()}"


def evaluate(
    controller: str,
    *,
    against: str | Sequence[str] = AGAINST,
    criteria: str | Sequence[str] = (),
    suite: str = SUITE,
    form: str = "full",
    on: Any = None,
    workers: int | None = None,
    progress: bool | None = None,
) -> Assessment:
    """Judges a controller by the criteria of RFC 9743, in the simulator. Ctrl-C ends it.

    Finished runs are kept in the user's store, as those of the command line are: the same call goes on after an interrupt.

    Args:
        controller: the controller, with parameters after `@`, or a header such as `./mine.h`.
        against: the neighbours, where a criterion asks for other controllers.
        criteria: only these sections, such as `5.1.3`, or `7` for all of section 7.
        suite: `rfc9743`, `rfc8867`, `tcpeval`, `prudentia`, or a folder of files like theirs, such as `./mine`.
        form: `full`, or `quick` with fewer and shorter points and eight seeds.
        on: where runs are made: this machine's cores if not given; otherwise as for `sweep`. The answer is the same to the last bit.
            Headers must be there at the same path.
        workers: how many runs are made at a time; one for each core, or elsewhere two for each worker, if not given.
        progress: whether a bar shows how much is done; None shows it in terminals and notebooks.

    Raises:
        UsageError: there is no such controller, suite or criterion.
        ScenarioError: a file of the suite is wrong for the controller; the message says where.
        RunError: a run or a worker failed, or the cluster cannot be reached.
    """
    against, criteria = _list(against), _list(criteria)
    asked = {"controller": controller, "against": against, "criteria": criteria, "suite": suite, "form": form}
    command = ["tandem", "evaluate", controller]
    command += ["--quick"] * (form == "quick")
    command += ["--criteria", ",".join(criteria)] * bool(criteria)
    command += ["--suite", suite] * (suite != SUITE)
    command += ["--against", ",".join(against)] * (against != [*AGAINST])
    with where(on, workers) as place, bar(progress, controller) as move:
        return Assessment(_native.evaluate(asked, place, move), command)


def _list(words: str | Sequence[str]) -> list[str]:
    return [words] if isinstance(words, str) else [*words]
