# SPDX-License-Identifier: MIT OR Apache-2.0
"""Drives a sweep elsewhere: hands out its runs in bundles, and keeps what comes back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tandem_cc import _native
from tandem_cc.errors import RunError, TandemError
from tandem_cc.places import Place

BUNDLES_A_WORKER = 2
"""One that runs, and one that waits for its end. What is under way does not grow with the sweep."""

MAX_BUNDLE = 1024
"""Runs in a bundle at most: the driver holds their texts and their rows."""

POLL_S = 0.2
"""How often jobs that do not tell of their end are asked; and how long a wait lasts at most."""

WORKERS_S = 1.0
"""How often the number of workers is asked for: clusters grow and shrink."""

NEW_SHARE = 0.2
"""How much the last bundle counts in the mean time of a run."""


def run_bundle(tasks: list[tuple[str, int]], folder: Path, engine: str, traces: bool) -> tuple[bytes, float]:
    """Makes the runs of a bundle, in whatever process: returns what came of them, and seconds."""
    start = time.perf_counter()
    answer = _native.run_bundle(tasks, folder, engine, traces)
    return answer, time.perf_counter() - start


@contextmanager
def failures_told() -> Iterator[None]:
    """Whatever a place raises becomes an error of this package."""
    try:
        yield
    except TandemError:
        raise
    except Exception as e:
        kept = "what was done before is kept, and the same call goes on there"
        raise RunError(f"a worker failed; {kept}: {type(e).__name__}: {e}") from e


class Driver:
    """Drives one sweep.

    Args:
        sweep: the sweep.
        place: where its runs are made.
        traces: whether all flows are sampled over time.
        bundle_s: seconds of work that go to a worker at a time.
        workers: how many bundles run at a time; what the place says if not given.
    """

    def __init__(
        self, sweep: _native.Sweep, place: Place, *, traces: bool, bundle_s: float, workers: int | None = None
    ) -> None:
        self._sweep = sweep
        self._place = place
        self._traces = traces
        self._bundle_s = bundle_s
        self._workers = workers or 1
        self._asked_at = math.inf if workers else -math.inf
        self._run_s: float | None = None
        self._taken = 0
        self._sizes: dict[Any, int] = {}
        self._ended: SimpleQueue[Any] = SimpleQueue()

    def run(self, folder: str, move: Callable[[float], object]) -> tuple[int, int]:
        """Makes all runs that are not in the folder yet. What is done when an error or an interrupt comes is kept.

        Returns:
            How many runs were made, and how many were there.

        Raises:
            RunError: a run or a worker failed.
        """
        store = _native.SweepDriver(self._sweep, folder, self._traces)
        ran = 0
        try:
            while self._hand_out(store):
                for job in self._wait():
                    ran += self._take_in(store, job)
                    move((store.found + ran) / self._sweep.runs)
            found = store.found
        finally:
            try:
                for job in self._sizes:
                    self._place.cancel(job)
            finally:
                store.close()
        move(1.0)
        return ran, found

    def _hand_out(self, store: _native.SweepDriver) -> bool:
        """Sees to it that every worker has something to do. Returns whether anything is under way."""
        now = time.monotonic()
        if now - self._asked_at > WORKERS_S:
            self._workers, self._asked_at = max(1, self._place.workers()), now
        while len(self._sizes) < BUNDLES_A_WORKER * self._workers:
            tasks = store.take(self._size(self._sweep.runs - store.found - self._taken))
            if not tasks:
                break
            self._taken += len(tasks)
            with failures_told():
                where = self._sweep.scenario_folder
                job = self._place.submit(run_bundle, tasks, where, self._sweep.engine, self._traces)
            self._sizes[job] = len(tasks)
            if hasattr(job, "add_done_callback"):
                job.add_done_callback(self._ended.put)
        return bool(self._sizes)

    def _size(self, left: int) -> int:
        """Runs of the next bundle: as many as take `bundle_s`, but at the end no more than each worker's share."""
        wanted = self._bundle_s / self._run_s if self._run_s else 1
        share = math.ceil(left / (BUNDLES_A_WORKER * self._workers))
        return max(1, min(MAX_BUNDLE, int(wanted), share))

    def _wait(self) -> list[Any]:
        """Returns jobs that ended; none if that takes long."""
        polled = [job for job in self._sizes if not hasattr(job, "add_done_callback") and job.done()]
        if polled:
            return polled
        try:
            return [self._ended.get(timeout=POLL_S)]
        except Empty:
            return []

    def _take_in(self, store: _native.SweepDriver, job: Any) -> int:
        runs = self._sizes.pop(job)
        with failures_told():
            answer, seconds = job.result()
        run_s = max(seconds / runs, 1e-6)
        self._run_s = run_s if self._run_s is None else (1 - NEW_SHARE) * self._run_s + NEW_SHARE * run_s
        store.add(answer)
        return runs
