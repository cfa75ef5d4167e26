# SPDX-License-Identifier: MIT OR Apache-2.0
"""Sweeps on this machine: what they take, what they leave, how they go on. Those elsewhere are in test_clusters.py."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import tandem_cc as tandem
from tandem_cc import _native
from tandem_cc.__main__ import main

REPOSITORY = Path(__file__).parents[2]
PATH = tandem.Dumbbell(rate="5mbit", rtt="20ms", queue="20p")
GRID = {"dumbbell.rate": ["5mbit", "10mbit"], "flows[0].controller": ["reno", "compound"]}
FILE = """
[scenario]
duration = "600ms"
warmup = "100ms"
seeds = 2
[scenario.dumbbell]
rate = "5mbit"
rtt = "20ms"
queue = "20p"
[[scenario.flows]]
controller = "reno"
count = 2
[grid]
"dumbbell.rate" = ["5mbit", "10mbit"]
"flows[0].controller" = ["reno", "compound"]
"""


def of_path(folder: Path, **more: Any) -> tandem.SweepResult:
    how: dict[str, Any] = {"grid": GRID, "flows": "reno:2", "duration": "600ms", "warmup": "100ms", "seeds": 2}
    return tandem.sweep(PATH, **(how | {"folder": folder} | more))


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tandem.SweepResult:
    return of_path(tmp_path_factory.mktemp("swept"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "paths.toml"
    path.write_text(FILE)
    return path


def test_a_row_is_a_run_with_the_values_of_its_keys(swept: tandem.SweepResult) -> None:
    assert (swept.points, swept.runs, swept.ran, swept.found) == (4, 8, 8, 0)
    assert swept.swept == ["dumbbell.rate_bps", "flows[0].controller"]
    rows = swept.groups.rows()
    assert len(rows) == 8
    assert {(row["dumbbell.rate_bps"], row["flows[0].controller"], row["seed"]) for row in rows} == {
        (rate, controller, seed) for rate in (5e6, 10e6) for controller in ("reno", "compound") for seed in (1, 2)
    }
    for row in rows:
        # What the queue held at the end of the warm-up comes on top: 20 packets in half a second.
        assert 0 < row["goodput_mbps"] * 1e6 < row["dumbbell.rate_bps"] + 20 * 12_000 / 0.5
        assert row["version"] == tandem.__version__


def test_data_frames_take_it(swept: tandem.SweepResult) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(swept.groups)
    assert frame.equals(polars.read_parquet(swept.folder / "groups" / "*.parquet"))


def test_files_dictionaries_and_paths_are_one(swept: tandem.SweepResult, tmp_path: Path, file: Path) -> None:
    scenario = {
        "duration": "600ms",
        "warmup": "100ms",
        "seeds": 2,
        "dumbbell": PATH.as_table(),
        "flows": [{"controller": "reno", "count": 2}],
    }
    by_hand = tmp_path / "one.toml"
    by_hand.write_text(
        FILE.split("[grid]")[0].replace("[[scenario.", "[[").replace("[scenario.", "[").replace("[scenario]\n", "")
    )
    others = {
        "file": tandem.sweep(file, folder=tmp_path / "file"),
        "dictionary": tandem.sweep({"scenario": scenario, "grid": GRID}, folder=tmp_path / "dictionary"),
        "scenario": tandem.sweep(scenario, grid=GRID, folder=tmp_path / "scenario"),
        "scenario's file": tandem.sweep(by_hand, grid=GRID, folder=tmp_path / "scenario's file"),
    }

    def figures(result: tandem.SweepResult) -> Any:
        # A Dumbbell writes its defaults out: its scenarios have another hash than those of a text without them.
        other = ("run", "scenario_hash", "key")
        return [{name: value for name, value in row.items() if name not in other} for row in result.groups.rows()]

    for name, other in others.items():
        assert figures(other) == figures(swept), name


def test_what_is_there_is_not_run_again(swept: tandem.SweepResult) -> None:
    again = of_path(swept.folder)
    assert (again.ran, again.found) == (0, 8)


def test_more_seeds_and_values_run_only_what_is_new(tmp_path: Path) -> None:
    of_path(tmp_path)
    more = of_path(tmp_path, seeds=3, grid=GRID | {"dumbbell.rate": ["5mbit", "7mbit", "10mbit"]})
    assert (more.runs, more.ran, more.found) == (18, 10, 8)
    assert len(more.groups) == 18


def test_lists_and_random_points(tmp_path: Path) -> None:
    points = [{"dumbbell.rate": "5mbit", "dumbbell.rtt": "40ms"}, {"dumbbell.rate": "10mbit", "dumbbell.rtt": "10ms"}]
    listed = of_path(tmp_path / "list", grid=None, list=points, seeds=1)
    assert sorted(zip(listed.groups["dumbbell.rate_bps"], listed.groups["dumbbell.rtt_s"], strict=True)) == [
        (5e6, 0.04),
        (10e6, 0.01),
    ]
    values = {"dumbbell.loss": {"from": 0.0, "to": 0.01}, "flows[0].count": {"from": 1, "to": 3}}
    drawn = of_path(tmp_path / "random", grid=None, random={"points": 5, "values": values}, seeds=1)
    assert all(0 <= loss <= 0.01 for loss in drawn.groups["dumbbell.loss"])
    assert set(drawn.groups["flows[0].count"]) <= {1, 2, 3}


def test_traces_are_of_all_seeds(tmp_path: Path) -> None:
    traced = of_path(tmp_path, traces=True)
    keys = traced.groups["key"]
    assert all((tmp_path / kind / key[:2] / f"{key}.parquet").exists() for key in keys for kind in ("flows", "links"))


def test_it_draws_and_is_shown(swept: tandem.SweepResult, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (by_rate,) = swept.plot().axes
    assert by_rate.get_title("left") == "goodput over dumbbell.rate by flows[0].controller"
    assert len(by_rate.lines) == 2
    (delays,) = swept.plot("dumbbell.rate_bps", measure="rtt_p95_ms").axes
    assert delays.get_xlabel() == "dumbbell.rate, Mbit/s"
    with pytest.raises(tandem.UsageError, match="no column `rate`"):
        swept.plot("rate")
    html = swept._repr_html_()
    assert "4 points; 8 runs" in html
    assert html.count("<tr") == 1 + 8
    swept.write_report(tmp_path / "report.html")
    assert "flows[0].controller" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: of_path(Path("x"), grid=None), "nothing varies"),
        (lambda: of_path(Path("x"), flows=None), "which flows?"),
        (lambda: of_path(Path("x"), flows="reno:x"), "`x` is not a number of flows"),
        (lambda: of_path(Path("x"), engine="sin"), "did you mean `sim`?"),
        (lambda: of_path(Path("x"), on="spark"), "on=`spark` names no place to run"),
        (lambda: tandem.sweep({}, flows="reno"), "flows: these are for a Dumbbell"),
        (lambda: tandem.sweep({}), "there is no scenario"),
        (lambda: of_path(Path("x"), grid={"dumbbell.rtt": "10ms"}), "needs a list of values"),
    ],
)
def test_mistakes_are_told_before_anything_is_written(
    call: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tandem.UsageError) as error:
        call()
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())


def test_errors_have_their_place(file: Path) -> None:
    with pytest.raises(tandem.ScenarioError, match=r"rate `10` has no unit") as error:
        of_path(Path("x"), grid={"dumbbell.rate": ["10"]})
    assert error.value.key == "grid.dumbbell.rate"
    file.write_text(FILE.replace('"10mbit"]', '"10"]'))
    with pytest.raises(tandem.ScenarioError, match=r"paths\.toml:14:19: `dumbbell.rate` = .* has no unit") as error:
        tandem.sweep(file)
    assert (error.value.path, error.value.line) == (str(file), 14)


def test_the_command_line_makes_the_same_data_set(file: Path, tmp_path: Path) -> None:
    program = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "tandem"
    if not program.exists():
        pytest.skip("the program `tandem` is not built: cargo build -p tandem-cc")
    command = [str(program), "sweep", str(file), "--out", str(tmp_path / "theirs"), "--no-report"]
    subprocess.run(command, capture_output=True, check=True)
    ours = tandem.sweep(file, folder=tmp_path / "ours").groups.rows()
    theirs = _native.data_set(tmp_path / "theirs").rows()
    # They may have been built at two commits.
    stale = "is the program of the package's sources? cargo build -p tandem-cc"
    assert [row | {"commit": ""} for row in ours] == [row | {"commit": ""} for row in theirs], stale
    # What the program has made is there for Python, if both have the same arithmetic.
    assert tandem.sweep(file, folder=tmp_path / "theirs").ran == 0


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    def interrupt(share: float) -> None:
        raise KeyboardInterrupt

    sweep = _native.Sweep.from_dict({"scenario": scenario_of_seconds(), "grid": GRID}, "sim", 20, None)
    with pytest.raises(KeyboardInterrupt):
        sweep.run(tmp_path, False, 1, interrupt)
    ran, found = sweep.run(tmp_path, False)
    assert ran + found == 80
    assert len(_native.data_set(tmp_path)) == 80


def scenario_of_seconds() -> dict[str, Any]:
    return {"duration": "3s", "warmup": "1s", "dumbbell": PATH.as_table(), "flows": [{"controller": "reno"}]}


def test_an_executor_makes_the_same_files(swept: tandem.SweepResult, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        there = of_path(tmp_path, on=executor)
    assert (there.ran, there.found) == (8, 0)
    assert files(tmp_path) == files(swept.folder)


def test_traces_come_from_elsewhere_with_the_same_bits(tmp_path: Path) -> None:
    of_path(tmp_path / "here", traces=True)
    with ThreadPoolExecutor(1) as executor:
        of_path(tmp_path / "there", traces=True, on=executor)
    here, there = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")}
        for folder in (tmp_path / "here", tmp_path / "there")
    )
    assert len(here) == 1 + 2 * 8
    assert here == there


class Batch:
    """An executor whose jobs do not tell of their end, as submitit's."""

    class Job:
        def __init__(self, future: Future[Any]) -> None:
            self.done, self.result, self.cancel = future.done, future.result, future.cancel

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        self.executor, self.under_way, self.most = executor, 0, 0

    def submit(self, *work: Any) -> Job:
        return self.Job(self.executor.submit(*work))


def test_jobs_that_are_polled_make_the_same_files(swept: tandem.SweepResult, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        of_path(tmp_path, on=Batch(executor), workers=2)
    assert files(tmp_path) == files(swept.folder)


class Counting(ThreadPoolExecutor):
    """Knows how many jobs and runs it had."""

    def __init__(self) -> None:
        super().__init__(1)
        self.sizes: list[int] = []
        self.under_way: set[Future[Any]] = set()
        self.most = 0

    def submit(self, work: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        self.sizes.append(len(arguments[0]))
        job = super().submit(work, *arguments)
        self.under_way.add(job)
        self.most = max(self.most, len(self.under_way))
        job.add_done_callback(self.under_way.discard)
        return job


def test_runs_are_bundled_and_few_bundles_are_under_way(tmp_path: Path) -> None:
    with Counting() as long:
        of_path(tmp_path / "long", seeds=50, on=long, bundle_s=1e6)
    assert sum(long.sizes) == 200
    # The first two tell how long a run takes. Then half of what is left: a worker has one bundle, and one waits.
    assert long.sizes[:4] == [1, 1, 99, 50]
    assert long.most <= 2
    with Counting() as short:
        of_path(tmp_path / "short", seeds=2, on=short, bundle_s=0)
    assert short.sizes == [1] * 8


def test_a_failure_elsewhere_keeps_what_is_done(tmp_path: Path) -> None:
    class Failing(Counting):
        def submit(self, work: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
            if len(self.sizes) < 3:
                return super().submit(work, *arguments)
            job: Future[Any] = Future()
            job.set_exception(ConnectionResetError("the network is down"))
            return job

    with Failing() as failing, pytest.raises(tandem.RunError, match=r"a worker failed; .*: the network is down"):
        of_path(tmp_path, on=failing, bundle_s=0)
    rest = of_path(tmp_path)
    assert rest.ran + rest.found == 8
    assert 1 <= rest.found <= 3


def test_another_arithmetic_is_refused(tmp_path: Path) -> None:
    sweep = _native.Sweep.from_dict({"scenario": scenario_of_seconds(), "grid": GRID}, "sim", 1, None)
    driver = _native.SweepDriver(sweep, tmp_path, False)
    tasks = driver.take(1)
    with pytest.raises(tandem.RunError, match="different arithmetic"):
        driver.add(_native.run_bundle(tasks, sweep.scenario_folder, "quic", False))
    driver.close()
    with pytest.raises(tandem.RunError, match="was closed"):
        driver.take(1)


def test_it_is_a_command_as_well(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert main(["sweep", str(file), "--seeds", "1", "--out", str(folder)]) == 0
    assert "4 points; 4 runs: 4 are new, 0 were there" in capsys.readouterr().out
    assert (folder / "report.html").exists()
    assert main(["sweep", str(tmp_path / "nowhere.toml")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["sweep", str(file), "--on", "nowhere"]) == 2


@pytest.mark.parametrize(("package", "where"), [("dask", "dask://127.0.0.1:1"), ("ray", "ray")])
def test_without_the_extra_the_error_names_it(package: str, where: str, tmp_path: Path) -> None:
    module = {"dask": "distributed"}.get(package, package)
    code = f"""
import sys
sys.modules[{module!r}] = None
import tandem_cc as tandem
from tandem_cc.places import place
try:
    with place({where!r}):
        pass
except tandem.RunError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert f"pip install tandem-cc[{package}]" in done.stdout


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "groups").glob("*.parquet")}
