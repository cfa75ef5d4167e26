# SPDX-License-Identifier: MIT OR Apache-2.0
"""Evaluations and searches from Python, here and in other processes. Those on Dask and Ray are in test_clusters.py."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tandem_cc as tandem
from tandem_cc import _native
from tandem_cc.jobs import Jobs, where
from tandem_cc.places import Place

REPOSITORY = Path(__file__).parents[2]
CRITERION = "7.4"
SPACE = """
title = "Queues"
[length]
round_trips = 300
packets_most = 10_000
warmup = 0.3
[parameters]
rate = { from = "5mbit", to = "20mbit", scale = "log" }
rtt = { from = "20ms", to = "80ms", scale = "log" }
queue = { from = "0.01bdp", to = "2bdp", scale = "log" }
[scenario.dumbbell]
rate = "{rate}"
rtt = "{rtt}"
queue = "{queue}"
[[scenario.flows]]
controller = "contender"
"""


def judged(**how: Any) -> tandem.Assessment:
    usual: dict[str, Any] = {"criteria": CRITERION, "form": "quick"}
    return tandem.evaluate("reno", **(usual | how))


@pytest.fixture(scope="module")
def assessment() -> tandem.Assessment:
    return judged()


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("space") / "queues.toml"
    path.write_text(SPACE)
    return str(path)


def found(space: str, **how: Any) -> tandem.SearchResult:
    return tandem.search("compound", over=space, evaluations=16, finds=1, **how)


def processes() -> ProcessPoolExecutor:
    """Which have nothing of this one."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def as_the_program(command: str) -> dict[str, Any]:
    """What the program prints. It may have been built at another commit."""
    program = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "tandem"
    if not program.exists():
        pytest.skip("the program `tandem` is not built: cargo build -p tandem-cc")
    words = [str(program), *command.split()[1:]]
    printed: dict[str, Any] = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return printed


def test_an_assessment_is_shown_and_written(assessment: tandem.Assessment, tmp_path: Path) -> None:
    rows = assessment.rows.rows()
    assert {row["criterion"].split("/")[0] for row in rows} == {"rfc9743"}
    assert {row["section"] for row in rows} == {CRITERION}
    criteria = {row["criterion"]: row["answer"] for row in rows}
    counts = [assessment.passed, assessment.failed, assessment.undecided]
    assert counts == [list(criteria.values()).count(answer) for answer in ("passes", "fails", "undecided")]
    assert str(assessment).startswith("RFC 9743, `reno`, quick runs: ")
    assert assessment._repr_html_().count("<tr") == 1 + len(rows)
    assessment.markdown(tmp_path / "reno.md")
    text = (tmp_path / "reno.md").read_text()
    assert assessment.command == "tandem evaluate reno --quick --criteria 7.4"
    assert f"```\n{assessment.command}\n```" in text
    pictures = [path.name for path in (tmp_path / "reno").iterdir()]
    assert pictures
    assert all(f"(reno/{name})" in text for name in pictures)
    with pytest.raises(tandem.UsageError, match=r"write `.*reno\.md`"):
        assessment.markdown(tmp_path / "reno")


def test_the_program_prints_the_same_assessment(assessment: tandem.Assessment) -> None:
    ours = json.loads(assessment.json())
    theirs = as_the_program(ours["command"])
    assert json.dumps(ours | {"commit": ""}) == json.dumps(theirs | {"commit": "", "command": ours["command"]})


def test_other_processes_give_the_same_bytes(assessment: tandem.Assessment) -> None:
    with processes() as executor:
        assert judged(on=executor).json() == assessment.json()


def test_results_from_elsewhere_are_kept_as_if_run_here(
    assessment: tandem.Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TANDEM_STORE", str(tmp_path))
    with ThreadPoolExecutor(2) as executor:
        there = judged(on=executor)
    kept = {path: path.stat().st_size for path in (tmp_path / "sim").rglob("*") if path.is_file()}
    assert kept
    # Everything is there now: nothing is asked of this executor, which would not do it.
    assert judged(on=Refusing()).json() == there.json() == assessment.json()
    assert judged().json() == there.json()
    assert {path: path.stat().st_size for path in kept} == kept


class Refusing:
    """An executor that does nothing."""

    def submit(self, *_: Any) -> Future[bytes]:
        raise ConnectionResetError("the network is down")


def test_a_header_goes_by_its_path(tmp_path: Path) -> None:
    header = tmp_path / "mine.h"
    header.write_text((REPOSITORY / "controllers" / "own" / "mine.h").read_text())
    with processes() as executor:
        there = tandem.evaluate(str(header), criteria=CRITERION, form="quick", on=executor)
    assert there.rows.rows() == tandem.evaluate(str(header), criteria=CRITERION, form="quick").rows.rows()


def test_what_another_process_would_run_differently_is_refused() -> None:
    class Changing(ThreadPoolExecutor):
        def submit(self, work: Any, /, job: Any, **_: Any) -> Future[Any]:  # type: ignore[override]
            return super().submit(work, job.replace(b"cubic", b"vegas").replace(b"reno", b"vegas"))

    with Changing(1) as executor, pytest.raises(tandem.RunError, match="something else there: both sides need"):
        judged(on=executor)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tandem.evaluate("cubik"), "did you mean `cubic`?"),
        (lambda: judged(form="short"), "form=`short`: give `quick` or `full`"),
        (lambda: judged(criteria="9.9"), "there is no criterion `9.9`"),
        (lambda: judged(suite="none"), "there is no suite `none`"),
        (lambda: judged(on="spark"), "on=`spark` names no place to run"),
        (lambda: tandem.search("cubic"), "is compared with itself"),
        (lambda: tandem.search("reno", worst="worst"), "`worst` is not a measure"),
        (lambda: tandem.search("reno", budget="1min", evaluations=16), "either budget or evaluations"),
        (lambda: tandem.search("reno", budget="soon"), "soon"),
        (lambda: tandem.search("reno", least=0), "least=0"),
        (lambda: tandem.search("reno", baseline="cubic", differ="bbr"), "either baseline or differ"),
    ],
)
def test_mistakes_are_told(call: Any, message: str) -> None:
    with pytest.raises(tandem.UsageError) as error:
        call()
    assert message in str(error.value)


def test_a_failure_elsewhere_is_told() -> None:
    with pytest.raises(tandem.RunError, match=r"a worker failed; .*: the network is down"):
        judged(on=Refusing())


def killing(job: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return job


def test_a_pool_whose_process_dies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tandem_cc.jobs.run_job", killing)
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as executor,
        pytest.raises(tandem.RunError, match=r"a worker failed; .*BrokenProcessPool"),
    ):
        judged(on=executor)


class Waiting:
    """An executor whose jobs never end, and do not tell of it: they are asked."""

    class Job:
        def __init__(self) -> None:
            self.is_cancelled = False

        def done(self) -> bool:
            return False

        def cancel(self) -> None:
            self.is_cancelled = True

    def __init__(self) -> None:
        self.jobs: list[Waiting.Job] = []

    def submit(self, *_: Any) -> Job:
        self.jobs.append(self.Job())
        return self.jobs[-1]


def test_an_interrupt_cancels_what_is_under_way() -> None:
    waiting = Waiting()

    def interrupt(share: float) -> None:
        if len(waiting.jobs) == 3:
            raise KeyboardInterrupt

    asked = {"controller": "reno", "against": ["cubic"], "criteria": [CRITERION], "suite": "rfc9743", "form": "quick"}
    with where(waiting, 3) as there, pytest.raises(KeyboardInterrupt):
        _native.evaluate(asked, there, interrupt)
    assert [job.is_cancelled for job in waiting.jobs] == [True] * 3


def test_jobs_that_are_polled_give_the_same(assessment: tandem.Assessment) -> None:
    class Asked:
        def __init__(self, future: Future[Any]) -> None:
            self.done, self.result, self.cancel = future.done, future.result, future.cancel

    with ThreadPoolExecutor(2) as executor:
        jobs = Jobs(Place(lambda *work: Asked(executor.submit(*work)), lambda: 2))
        asked = {"controller": "reno", "against": ["cubic"], "criteria": [CRITERION], "suite": "rfc9743"}
        there = _native.evaluate(asked | {"form": "quick"}, {"jobs": jobs, "workers": 2}, None)
    assert there.rows().rows() == assessment.rows.rows()


def test_the_same_seed_finds_the_same_in_other_processes(space: str, tmp_path: Path) -> None:
    here = found(space)
    with processes() as executor:
        there = found(space, on=executor)
    assert there.json() == here.json()
    (find,) = here.finds
    (path,) = here.write(tmp_path)
    assert path.read_text() == find["scenario"]
    assert f"# Found by: {here.command}" in find["scenario"]
    assert find["violation"] >= here.details["least"]
    assert find["words"][0] in str(here)
    # The file shows what it says.
    (run,) = tandem.run(path).runs
    used = [value / 100 for value in find["contender_by_seed"]]
    assert run["links"][0]["utilisation"] == pytest.approx(sum(used) / len(used))


def test_the_program_finds_the_same(space: str, tmp_path: Path) -> None:
    ours = found(space).details
    theirs = as_the_program(f"{ours['command']} --out {tmp_path}")
    files = [find.pop("file") for find in theirs["finds"]]
    assert files == [f"{tmp_path}/{find.pop('file')}" for find in ours["finds"]]
    other = {"commit": "", "command": ""}
    assert ours | other == theirs | other
