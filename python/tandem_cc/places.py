# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where runs are made: Dask, Ray, or an executor, behind one face."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from operator import methodcaller
from typing import Any

from tandem_cc.errors import RunError, UsageError

RETRIES = 5
"""So often Ray makes a bundle again whose worker died; Dask has a setting of its own for that (`allowed-failures`)."""

DASK = ("dask", "tcp", "tls", "ws", "wss", "ucx", "ucxx")
"""How addresses of Dask's schedulers begin; the first is ours."""

HINT = "give a Dask client or `dask://HOST:PORT`, `ray` or `ray://HOST:PORT`, or an executor of concurrent.futures"


@dataclass(frozen=True)
class Place:
    """Where work is done.

    Attributes:
        submit: takes a function and its arguments; returns a job with `result()`, and with `add_done_callback()` or `done()`.
        workers: returns how many jobs run at a time; it may change.
        cancel: takes a job that nobody waits for any more.
    """

    submit: Callable[..., Any]
    workers: Callable[[], int]
    cancel: Callable[[Any], object] = methodcaller("cancel")


def place(on: Any) -> AbstractContextManager[Place]:
    """Opens the place that `on` names. What was not there before is closed at the end.

    Raises:
        UsageError: `on` names no place.
        RunError: it cannot be reached, or the package that reaches it is not installed.
    """
    scheme = on.partition("://")[0] if isinstance(on, str) else ""
    if scheme == "ray":
        return _ray(None if on == "ray" else on)
    if scheme in DASK and "://" in on:
        return _dask_scheduler(on.replace("dask://", "tcp://", 1))
    if hasattr(on, "get_executor") and hasattr(on, "nthreads"):
        return _dask(on)
    if callable(getattr(on, "submit", None)):
        return _executor(on)
    raise UsageError(f"on=`{on}` names no place to run: {HINT}")


@contextmanager
def _executor(executor: Any) -> Iterator[Place]:
    # Executors have no public count of their workers.
    workers = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    yield Place(executor.submit, lambda: workers)


@contextmanager
def _dask(client: Any) -> Iterator[Place]:
    def submit(work: Callable[..., Any], *arguments: Any) -> Any:
        # Each bundle is made once, also if two look the same to Dask. Its own futures, not those of its executor:
        # these wait again if the worker that held an answer dies; those raise if it dies while the answer is read.
        return client.submit(work, *arguments, pure=False)

    yield Place(submit, lambda: sum(client.nthreads().values()))


@contextmanager
def _dask_scheduler(address: str) -> Iterator[Place]:
    try:
        from distributed import Client
    except ImportError as e:
        raise RunError("Dask is missing: pip install tandem-cc[dask]") from e
    try:
        client = Client(address)
    except (OSError, ValueError) as e:
        raise RunError(f"there is no Dask scheduler at `{address}`: {e}") from e
    with client, _dask(client) as dask:
        yield dask


@contextmanager
def _ray(address: str | None) -> Iterator[Place]:
    try:
        import ray
    except ImportError as e:
        raise RunError("Ray is missing: pip install tandem-cc[ray]") from e
    is_ours = not ray.is_initialized()
    if is_ours:
        try:
            ray.init(address=address, logging_level=logging.WARNING, log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError) as e:
            raise RunError(f"there is no Ray cluster at `{address or 'RAY_ADDRESS'}`: {e}") from e
    references: dict[Any, Any] = {}
    # Once for each function: Ray sends it to all nodes.
    remote = cache(ray.remote(num_cpus=1, max_retries=RETRIES))

    def submit(work: Callable[..., Any], *arguments: Any) -> Any:
        reference = remote(work).remote(*arguments)
        job = reference.future()
        references[job] = reference
        job.add_done_callback(references.pop)
        return job

    def cancel(job: Any) -> None:
        if job in references:
            ray.cancel(references[job], force=True)

    try:
        yield Place(submit, lambda: int(ray.cluster_resources().get("CPU", 1)), cancel)
    finally:
        if is_ours:
            ray.shutdown()
