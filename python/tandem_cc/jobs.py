# SPDX-License-Identifier: MIT OR Apache-2.0
"""Single runs made elsewhere, for what decides as it goes which runs it needs: evaluations and searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tandem_cc import _native
from tandem_cc.driver import failures_told
from tandem_cc.places import Place, place

JOBS_A_WORKER = 2
"""One that runs, and one that waits for its end."""


def run_job(job: bytes) -> bytes:
    """Makes a run, in whatever process."""
    return _native.run_job(job)


class Jobs:
    """The jobs of one place. Threads of `_native` call it.

    Args:
        place: where they are done.
    """

    def __init__(self, place: Place) -> None:
        self._place = place

    def submit(self, job: bytes, ended: Callable[[], object]) -> tuple[Any, bool]:
        """Hands a job out. Returns it, and whether it calls `ended`; otherwise `is_over` is asked."""
        with failures_told():
            future = self._place.submit(run_job, job)
        tells = hasattr(future, "add_done_callback")
        if tells:
            future.add_done_callback(lambda _: ended())
        return future, tells

    def is_over(self, future: Any) -> bool:
        """Whether the job has an answer, or failed."""
        return bool(future.done())

    def answer(self, future: Any) -> bytes:
        """What the job gave."""
        with failures_told():
            answer: bytes = future.result()
        return answer

    def cancel(self, future: Any) -> None:
        """Nobody waits for the job any more."""
        self._place.cancel(future)


@contextmanager
def where(on: Any, workers: int | None) -> Iterator[dict[str, Any]]:
    """Opens the place that `on` names, if it is another than this machine, for `_native`."""
    if on is None:
        yield {"jobs": None, "workers": workers}
        return
    with place(on) as opened:
        yield {"jobs": Jobs(opened), "workers": workers or JOBS_A_WORKER * max(1, opened.workers())}
