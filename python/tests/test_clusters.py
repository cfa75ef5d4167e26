# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps and evaluations on clusters of this machine: the same bits as from local cores, also if a worker or the driver is killed.

What kills is counted, not timed: a worker dies at its fifth bundle, a driver after its sixth.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tandem_cc as tandem
from tandem_cc.__main__ import main

NO_WHEEL = "it is not installed: there is no wheel of it for this Python (scripts/fetch.sh clusters)"
RUNS = 24
FILE = """
[scenario]
duration = "600ms"
warmup = "100ms"
seeds = 4
[scenario.dumbbell]
rate = "5mbit"
rtt = "20ms"
queue = "20p"
[[scenario.flows]]
controller = "reno"
[grid]
"dumbbell.rate" = ["5mbit", "10mbit"]
"flows[0].controller" = ["reno", "compound", "cubic"]
"""

RAY_LIMITS_S = (
    "gcs_rpc_server_connect_timeout_s",
    "gcs_rpc_server_reconnect_timeout_s",
    "gcs_server_request_timeout_seconds",
    "raylet_start_wait_time_s",
    "worker_register_timeout_seconds",
    "NUM_REDIS_GET_RETRIES",
)
"""Settings of Ray: the last is tries, one a second."""
RAY_LIMITS_MS = ("agent_register_timeout_ms", "health_check_timeout_ms")

DYING_DRIVER = """
import os, signal, sys, time
from tandem_cc import driver, sweep

take_in, count = driver.Driver._take_in, 0

def dying(self, store, job):
    global count
    count += 1
    if count == 6:
        time.sleep(1.1)  # Rows that come after a second are written at once.
    runs = take_in(self, store, job)
    if count == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return runs

driver.Driver._take_in = dying
sweep(sys.argv[1], on=sys.argv[2], folder=sys.argv[3], bundle_s=0)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep") / "paths.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def expected(file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The data set from local cores."""
    folder = tmp_path_factory.mktemp("local")
    assert tandem.sweep(file, folder=folder).ran == RUNS
    return files(folder)


def files(folder: Path) -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in (folder / "groups").glob("*.parquet")}
    assert found
    return found


def dying_at_the_fifth(marks: Path, module: str = "driver", work: str = "run_bundle") -> Callable[..., Any]:
    """What workers do, but the one that begins the fifth job of all kills itself. It is a closure, so that it goes there by value."""
    begun = str(marks)

    def dying(*arguments: Any) -> Any:
        from importlib import import_module

        number, is_mine = 0, False
        while not is_mine:
            number += 1
            try:
                os.close(os.open(f"{begun}/{number}", os.O_CREAT | os.O_EXCL))
                is_mine = True
            except FileExistsError:
                pass
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return getattr(import_module(f"tandem_cc.{module}"), work)(*arguments)

    return dying


def with_a_worker_killed(on: Any, file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tandem.SweepResult:
    """The bundle that its worker died of is begun again elsewhere."""
    marks = folder.with_name("marks")
    marks.mkdir()
    monkeypatch.setattr("tandem_cc.driver.run_bundle", dying_at_the_fifth(marks))
    result = tandem.sweep(file, on=on, folder=folder, bundle_s=0)
    assert result.ran + result.found == RUNS
    assert len(list(marks.iterdir())) > result.ran >= 5
    return result


def with_the_driver_killed(on: str, file: Path, folder: Path, limit_s: int) -> None:
    """A driver that dies after six runs, which are on disk then."""
    words = [sys.executable, "-c", DYING_DRIVER, str(file), on, str(folder)]
    # In another folder, for the sources beside the tests are not the package.
    killed = subprocess.run(words, capture_output=True, check=False, cwd=file.parent, timeout=limit_s)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    """A scheduler and two worker processes."""
    distributed = pytest.importorskip("distributed", reason=NO_WHEEL)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dask_has_the_same_bits_though_a_worker_dies(
    dask: Any, file: Path, expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert with_a_worker_killed(dask, file, tmp_path / "out", monkeypatch).found == 0
    assert files(tmp_path / "out") == expected


def test_dask_has_the_same_bits_though_answers_are_lost_as_they_are_read(
    dask: Any, file: Path, expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a client hears if the worker that held an answer dies just after it was read."""
    gather = type(dask)._gather

    async def losing(self: Any, futures: list[Any], **how: Any) -> Any:
        answers = await gather(self, futures, **how)
        for future in futures:
            self._handle_lost_data(future.key)
        return answers

    monkeypatch.setattr(type(dask), "_gather", losing)
    result = tandem.sweep(file, on=dask, folder=tmp_path / "out", bundle_s=0)
    assert (result.ran, result.found) == (RUNS, 0)
    assert files(tmp_path / "out") == expected


def test_dask_has_the_same_bits_though_the_driver_dies(
    dask: Any, file: Path, expected: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str], limit_s: int
) -> None:
    on = dask.scheduler.address.replace("tcp://", "dask://")
    with_the_driver_killed(on, file, tmp_path / "out", limit_s)
    assert main(["sweep", str(file), "--on", on, "--out", str(tmp_path / "out"), "--no-report"]) == 0
    ran, found = (int(number) for number in re.findall(r"(\d+) (?:are new|were there)", capsys.readouterr().out))
    assert ran + found == RUNS
    assert 1 <= found <= 6
    assert files(tmp_path / "out") == expected


def judged_with_a_worker_killed(on: Any, marks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that its worker died of is made again elsewhere, and the answer is that of local cores."""
    expected = tandem.evaluate("reno", criteria="7.4", form="quick").json()
    marks.mkdir()
    monkeypatch.setattr("tandem_cc.jobs.run_job", dying_at_the_fifth(marks, "jobs", "run_job"))
    assert tandem.evaluate("reno", criteria="7.4", form="quick", on=on).json() == expected
    assert len(list(marks.iterdir())) > 5


def test_dask_judges_the_same_though_a_worker_dies(dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_with_a_worker_killed(dask, tmp_path / "marks", monkeypatch)


def start_ray(limit_s: int) -> Any:
    """A head and a second node, each with a worker; Ray's own way to have both on one machine."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        for more in ({"include_dashboard": False}, {}):
            cluster.add_node(wait=False, num_cpus=1, object_store_memory=80_000_000, **more)
        cluster.wait_for_nodes(limit_s)
    except Exception:
        cluster.shutdown()
        raise
    return cluster


@pytest.fixture(scope="module")
def ray(limit_s: int) -> Iterator[Any]:
    # Paths of sockets have to be short.
    with tempfile.TemporaryDirectory(prefix="ray") as folder, pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_TMPDIR", folder)
        # Ray's workers look for modules where the driver stands, and the sources beside the tests are not the package.
        environment.chdir(folder)
        environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Its workers let other programs go first, unless told.
        environment.setenv("RAY_worker_niceness", "0")
        # Whoever can reach a cluster can run anything there: only those who have this may.
        environment.setenv("RAY_AUTH_MODE", "token")
        environment.setenv("RAY_AUTH_TOKEN", secrets.token_hex())
        for limit in RAY_LIMITS_S:
            environment.setenv(f"RAY_{limit}", str(limit_s))
        for limit in RAY_LIMITS_MS:
            environment.setenv(f"RAY_{limit}", str(limit_s * 1000))
        ray = pytest.importorskip("ray", reason=NO_WHEEL)
        environment.setattr("ray._private.services.get_node", patient(ray._private.services.get_node, limit_s))
        try:
            cluster = start_ray(limit_s)
        except Exception:
            # Once more: another program may have taken a port that Ray had chosen.
            cluster = start_ray(limit_s)
        try:
            environment.setenv("RAY_ADDRESS", cluster.address)
            yield ray
        finally:
            ray.shutdown()
            cluster.shutdown()


def patient(get_node: Callable[..., Any], limit_s: int) -> Callable[..., Any]:
    """Ray asks again and again for 30 s whether a node has begun, and no setting changes that."""

    def ask(*arguments: Any) -> Any:
        for _ in range(10 * limit_s):
            with suppress(RuntimeError):
                return get_node(*arguments)
            time.sleep(0.1)
        return get_node(*arguments)

    return ask


def test_ray_has_the_same_bits_though_the_driver_and_a_worker_die(
    ray: Any, file: Path, expected: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit_s: int
) -> None:
    with_the_driver_killed("ray", file, tmp_path / "out", limit_s)
    assert 1 <= with_a_worker_killed("ray", file, tmp_path / "out", monkeypatch).found <= 6
    assert files(tmp_path / "out") == expected
    assert not ray.is_initialized()


def test_ray_judges_the_same_though_a_worker_dies(ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_with_a_worker_killed("ray", tmp_path / "marks", monkeypatch)
