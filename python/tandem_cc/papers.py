# SPDX-License-Identifier: MIT OR Apache-2.0
"""The experiments of the papers behind the controllers: what was published, run again and judged.

from tandem_cc import papers
papers.list()
finding, = papers.run("s0/fig3", quick=True)
finding.verdict
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tandem_cc import _native
from tandem_cc._native import PaperExperiment
from tandem_cc.progress import bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Finding", "PaperExperiment", "list", "run"]


class Finding:
    """What came of an experiment."""

    def __init__(self, finding: _native.Finding) -> None:
        self._finding = finding

    @property
    def id(self) -> str:
        """Paper and figure, such as `s0/fig3`."""
        return self._finding.id

    @property
    def title(self) -> str:
        """The figure or table, and what it shows."""
        return self._finding.title

    @property
    def claim(self) -> str:
        """What the paper says of it."""
        return self._finding.claim

    @property
    def verdict(self) -> str:
        """`holds`, `holds in part`, `fails`, `undecided` or `not run`."""
        return self._finding.verdict

    @property
    def details(self) -> dict[str, Any]:
        """All claims, curves and their numbers; the keys are those of `tandem papers run --json`."""
        details: dict[str, Any] = self._finding.details()
        return details

    def plot(self) -> Figure:
        """Draws the figure with the paper's axes with matplotlib, which `pip install tandem-cc[plot]` brings.

        Raises:
            RunError: matplotlib is not installed.
        """
        from tandem_cc.plot import figure

        return figure([self._finding.chart()])

    def html(self) -> str:
        """Returns the report: one HTML page, which needs no network."""
        return self._finding.html()

    def write_report(self, path: str | PathLike[str]) -> None:
        """Writes the report to a file, such as `report.html`."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def __str__(self) -> str:
        return str(self._finding)

    def __repr__(self) -> str:
        return repr(self._finding)


def list() -> Sequence[PaperExperiment]:  # noqa: A001
    """Returns all experiments: id, title, claim, paper."""
    return _native.list_papers()


def run(
    *ids: str | PathLike[str],
    quick: bool = False,
    progress: bool | None = None,
) -> Sequence[Finding]:
    """Runs experiments in the simulator and judges their claims. Ctrl-C ends it.

    Args:
        ids: ids such as `s0/fig3`, papers such as `s0`, or files of one's own that end in `.toml`.
        quick: three seeds, shorter and fewer points.
        progress: whether a bar shows how much is done; None shows it in terminals and notebooks.

    Raises:
        UsageError: there is no such experiment.
        ScenarioError: a file has an error; the message says where.
    """
    words = [fspath(word) for word in ids]
    call = f"tandem_cc.papers.run({', '.join(map(repr, words))}{', quick=True' if quick else ''})"
    with bar(progress, ", ".join(words)) as move:
        return [Finding(finding) for finding in _native.run_papers(words, quick, move, call)]
