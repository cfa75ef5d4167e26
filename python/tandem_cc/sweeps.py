# SPDX-License-Identifier: MIT OR Apache-2.0
"""Many scenarios from one, into a data set that grows; on this machine or on many."""

from __future__ import annotations

import builtins
import hashlib
import json
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tandem_cc import _native
from tandem_cc._native import Table
from tandem_cc.driver import Driver
from tandem_cc.errors import UsageError
from tandem_cc.path import Dumbbell
from tandem_cc.places import place
from tandem_cc.progress import bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURE = "goodput_mbps"
SHOWN = ("seed", "controller", "goodput_mbps", "rtt_p95_ms", "link_utilisation")
"""Columns that a notebook shows beside the keys that vary."""


class SweepResult:
    """What came of a sweep: a data set in a folder, which data frames take, and its charts.

    Attributes:
        title: what was swept.
        folder: the folder; `groups/*.parquet` in it are the data set, `flows` and `links` have the traces.
        points: scenarios, repeated ones counted.
        runs: scenarios times seeds.
        ran: runs that this call made.
        found: runs that were there.
        swept: the columns of the keys that vary.
    """

    def __init__(self, title: str, folder: Path, sweep: _native.Sweep, ran: int, found: int) -> None:
        self.title = title
        self.folder = folder
        self.points = sweep.points
        self.runs = sweep.runs
        self.ran = ran
        self.found = found
        self.swept = sweep.swept_columns
        self._columns = sweep.columns

    @property
    def groups(self) -> Table:
        """A row for each run, seed and group of flows, read from the folder: swept keys first, then as in `Result.groups`.

        All rows are in memory then. Polars, DuckDB and pyarrow read `folder / "groups"` bit by bit.
        """
        return _native.data_set(fspath(self.folder))

    def plot(self, x: str | None = None, y: str | None = None, *, measure: str = MEASURE) -> Figure:
        """Draws a heat map or lines: means of a measure over two columns, or over one.

        Args:
            x: a column; all pairs of keys that vary, six at most, if not given.
            y: another column; with words in it there is a line for each.
            measure: the column whose means are drawn.

        Raises:
            UsageError: there is no such column, or it cannot be drawn.
            RunError: matplotlib is not installed, which `pip install tandem-cc[plot]` brings.
        """
        from tandem_cc.plot import figure

        if x is None and y is not None:
            raise UsageError("give x as well, the column of the horizontal axis")
        axes = [] if x is None else [(x, y)]
        return figure(_native.sweep_charts(fspath(self.folder), axes, [measure], self.swept))

    def html(self, *, measure: str = MEASURE) -> str:
        """Returns the report: one HTML page with interactive charts, which needs no network."""
        words = (f"Sweep {self.title}", str(self), f"tandem_cc.sweep({self.title!r})")
        return _native.sweep_report(fspath(self.folder), [measure], self.swept, words)

    def write_report(self, path: str | PathLike[str], *, measure: str = MEASURE) -> None:
        """Writes the report to a file, such as `report.html`."""
        Path(path).write_text(self.html(measure=measure), encoding="utf-8")

    def __str__(self) -> str:
        counts = f"{self.points} points; {self.runs} runs: {self.ran} are new, {self.found} were there"
        return f"{counts}\nSwept: {', '.join(self.swept)}\nData set: {self.folder / 'groups' / '*.parquet'}\n"

    def __repr__(self) -> str:
        return f"SweepResult({self.title!r}, {self.runs} runs in {fspath(self.folder)!r})"

    def _repr_html_(self) -> str:
        shown = [column for column in self._columns if column in self.swept or column in SHOWN]
        words = "".join(f"<p>{_escaped(line)}</p>" for line in str(self).splitlines())
        return words + _native.data_set(fspath(self.folder), shown)._repr_html_()


def sweep(
    source: str | PathLike[str] | Mapping[str, Any] | Dumbbell,
    *,
    grid: Mapping[str, Any] | None = None,
    list: Sequence[Mapping[str, Any]] | None = None,  # noqa: A002
    random: Mapping[str, Any] | None = None,
    flows: str | Sequence[str] | None = None,
    duration: str | None = None,
    warmup: str | None = None,
    seeds: int | None = None,
    first_seed: int | None = None,
    engine: str = "sim",
    traces: bool = False,
    folder: str | PathLike[str] | None = None,
    on: Any = None,
    workers: int | None = None,
    max_runs: int | None = None,
    bundle_s: float = 1.0,
    progress: bool | None = None,
) -> SweepResult:
    """Runs a scenario with many values of its keys, and keeps a row for each run, seed and group. Ctrl-C ends it.

    What is in the folder is not run again: after an interrupt, with more seeds or with more values the same call goes on.

    Args:
        source: without `grid`, `list` and `random` a sweep: the path of its file, or a dictionary with the same keys. With one of them a
            scenario: the path of its file, a dictionary, or a `Dumbbell` with `flows`, `duration` and `warmup`.
        grid: lists of values by key, such as `{"dumbbell.rate": ["5mbit", "50mbit"], "flows[0].controller": ["reno", "cubic"]}`:
            every combination.
        list: points, each with values by key, for values that belong together.
        random: `{"points": 100, "values": {"dumbbell.rtt": {"from": "10ms", "to": "200ms"}}}`.
        flows: flows over a `Dumbbell`, such as `reno:4`: controller, parameters, number of flows.
        duration: how long each run over a `Dumbbell` lasts, such as `10s`.
        warmup: what no measure counts of that.
        seeds: the number of repetitions; what the scenario says, or 1, if not given.
        first_seed: the first seed; the others count up from it.
        engine: `sim`, `quic` or `model`, as for `run`.
        traces: whether windows and queues of all flows and seeds are kept over time, in the folder.
        folder: the folder of the data set; one in `tandem-out`, named after the file or, for a dictionary, after its content, if not given.
        on: where runs are made: this machine's cores if not given; a Dask client or `dask://HOST:PORT`; `ray`, which is the cluster that
            RAY_ADDRESS names or that runs on this machine, or `ray://HOST:PORT`; or any executor of `concurrent.futures`. The data set
            is the same to the last bit.
        workers: how many runs, or elsewhere bundles of runs, are made at a time; as many as there are cores or workers if not given.
        max_runs: more runs, which are points times seeds, are refused; a million if not given.
        bundle_s: seconds of work that go to a worker at a time, elsewhere: more where a job is slow to begin, as in a batch queue.
        progress: whether a bar shows how much is done; None shows it in terminals and notebooks.

    Raises:
        ScenarioError: a scenario has an error; the message says where.
        UsageError: the sweep makes no sense.
        RunError: a run or a worker failed, the disk is full, or the cluster cannot be reached.
    """
    design = {"grid": grid, "list": list, "random": random}
    table = _table(source, design, {"flows": flows, "duration": duration, "warmup": warmup})
    if isinstance(table, Mapping):
        content = json.dumps(table, sort_keys=True, default=str).encode()
        title = f"sweep-{hashlib.sha256(content).hexdigest()[:8]}"
        read = _native.Sweep.from_dict(dict(table), engine, seeds, first_seed, max_runs)
    else:
        title = Path(table).stem
        read = _native.Sweep.from_file(table, engine, seeds, first_seed, max_runs)
    where = Path("tandem-out") / title if folder is None else Path(folder)
    with bar(progress, title) as move:
        if on is None:
            ran, found = read.run(where, traces, workers, move)
        else:
            with place(on) as opened:
                driver = Driver(read, opened, traces=traces, bundle_s=bundle_s, workers=workers)
                ran, found = driver.run(fspath(where), move)
    return SweepResult(title, where, read, ran, found)


def _table(source: Any, design: dict[str, Any], of_path: dict[str, Any]) -> str | Mapping[str, Any]:
    """The sweep as a dictionary, or the path of its file."""
    design = {name: value for name, value in design.items() if value is not None}
    of_path = {name: value for name, value in of_path.items() if value is not None}
    if isinstance(source, Dumbbell):
        source = _scenario(source, of_path)
        if not design:
            raise UsageError("nothing varies: give grid=, list= or random=")
    elif of_path:
        raise UsageError(f"{', '.join(of_path)}: these are for a Dumbbell; a scenario has its own")
    if design:
        scenario = dict(source) if isinstance(source, Mapping) else str(Path(fspath(source)).absolute())
        return {"scenario": scenario, **design}
    return source if isinstance(source, Mapping) else fspath(source)


def _scenario(path: Dumbbell, rest: dict[str, Any]) -> dict[str, Any]:
    words = rest.pop("flows", None)
    if words is None:
        raise UsageError("which flows? Give them, such as flows=`reno:2`; their controllers can vary")
    effects = {"effects": {"forward": dict(path.effects)}} if path.effects else {}
    return {**rest, "dumbbell": path.as_table(), **effects, "flows": [_group(word) for word in _words(words)]}


def _words(words: str | Sequence[str]) -> builtins.list[str]:
    return [words] if isinstance(words, str) else [*words]


def _group(word: str) -> dict[str, Any]:
    controller, _, count = word.partition(":")
    if not (count or "1").isdecimal():
        raise UsageError(f"`{count}` is not a number of flows: write CONTROLLER:FLOWS")
    return {"controller": controller, "count": int(count or 1)}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
