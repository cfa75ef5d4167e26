# SPDX-License-Identifier: MIT OR Apache-2.0
"""What came of runs."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tandem_cc._native import Outcome, Scenario, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Result:
    """What came of `run` or `compare`: summaries, tables, charts, a report.

    `print(result)` shows the table of the command line, a notebook shows it as HTML.
    """

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    @property
    def title(self) -> str:
        """What was run."""
        return self._outcome.title

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios that were run; the baseline is the last."""
        return self._outcome.scenarios

    @property
    def baseline(self) -> str | None:
        """The name of the run against which bandwidth stolen is measured, or None."""
        return self._outcome.baseline

    @property
    def why_so_long(self) -> str | None:
        """Why runs have the length that they have, in words; None if it was given."""
        return self._outcome.why_so_long

    @property
    def runs(self) -> list[dict[str, Any]]:
        """A summary over seeds of each run, with 95 % intervals; the keys are those of `results.json`."""
        runs: list[dict[str, Any]] = self._outcome.runs()
        return runs

    @property
    def groups(self) -> Table:
        """A row for each run, seed and group of flows, the baseline's too.

        Units end the columns' names: `goodput_mbps`, `rtt_mean_ms`, `queue_p95_packets`. Parameters of controllers are
        columns that begin with `param_`. What is not known is null.
        """
        return self._outcome.groups()

    def trace(self, seed: int = 1) -> Table:
        """Returns windows, RTTs, goodput and the queue over time: a row for each run, traced flow and sample.

        Args:
            seed: a seed that was traced: the first, unless `traces` was `every`.

        Raises:
            UsageError: the seed was not traced.
        """
        return self._outcome.flows(seed)

    def queues(self, seed: int = 1) -> Table:
        """Returns the queue of each link over time, packets: a row for each run, link and sample. See `trace`."""
        return self._outcome.links(seed)

    def plot(self, run: str | None = None) -> Figure:
        """Draws the charts of the report with matplotlib, which `pip install tandem-cc[plot]` brings.

        Args:
            run: the name of a run, for its charts over time; the charts that compare runs if not given.

        Raises:
            UsageError: there is no run of this name.
            RunError: matplotlib is not installed.
        """
        from tandem_cc.plot import draw

        return draw(self._outcome.charts(), run)

    def html(self) -> str:
        """Returns the report: one HTML page with tables and interactive charts, which needs no network."""
        return self._outcome.html()

    def write_report(self, path: str | PathLike[str]) -> None:
        """Writes the report to a file, such as `report.html`."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def __str__(self) -> str:
        return self._outcome.text()

    def __repr__(self) -> str:
        return f"Result({self.title!r}, {len(self.scenarios)} runs)"

    def _repr_html_(self) -> str:
        return self._outcome.summary_html()
