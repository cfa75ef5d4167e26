# SPDX-License-Identifier: MIT OR Apache-2.0
"""Running scenarios: figures, tables, errors, interrupts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tandem_cc as tandem

REPOSITORY = Path(__file__).parents[2]
QUICK: dict[str, Any] = {"duration": "3s", "warmup": "1s", "seeds": 2}
PATH = tandem.Dumbbell(rate="10mbit", rtt="20ms", queue="20p")


@pytest.fixture(scope="module")
def result() -> tandem.Result:
    return tandem.compare(PATH, ["reno", "compound"], against="reno", **QUICK)


def test_a_row_is_a_run_a_seed_and_a_group(result: tandem.Result) -> None:
    rows = result.groups.rows()
    found = [(row["run"], row["seed"], row["group"]) for row in rows]
    # Two contenders and the baseline, two seeds, two groups; both groups of the first are of Reno.
    assert len(found) == 12
    assert {run for run, _, _ in found} == {"reno", "compound", "all reno"}
    assert result.baseline == "all reno"
    assert len(set(found)) <= 12


def test_a_missing_value_is_none_and_never_0(result: tandem.Result) -> None:
    for row in result.groups.rows():
        # Reno has no gamma; only neighbours lose bandwidth, and the baseline's do not.
        assert (row["param_gamma"] is None) == (row["controller"] == "reno")
        assert row["completion_time_mean_s"] is None
    stolen = [row["stolen"] for row in result.groups.rows() if row["run"] == "compound"]
    assert stolen[0] is None
    assert stolen[1] is not None


def test_the_command_line_has_the_same_figures(tmp_path: Path, result: tandem.Result) -> None:
    """The program and the package are built of the same crates, but go different ways to them."""
    program = REPOSITORY / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "tandem"
    if not program.exists():
        pytest.skip("the program `tandem` is not built: cargo build -p tandem-cc")
    words = "compare --rate 10mbit --rtt 20ms --queue 20p --against reno --duration 3s --warmup 1s --seeds 2 --json"
    command = [str(program), *words.split(), "--out", str(tmp_path), "reno", "compound"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    theirs = json.loads(printed)
    ours = {run["name"]: run for run in result.runs}
    for run in [*theirs["runs"], theirs["baseline"]]:
        run.pop("scenario")
        assert run == ours[run["name"]]


def test_goodput_fills_the_path_and_no_more(result: tandem.Result) -> None:
    by_run: dict[tuple[str, int], float] = {}
    for row in result.groups.rows():
        key = (row["run"], row["seed"])
        by_run[key] = by_run.get(key, 0.0) + row["goodput_mbps"]
    # 1448 of 1500 bytes are payload; what fills a hole brings earlier packets along.
    assert all(8.0 < goodput <= 10 * 1448 / 1500 * 1.01 for goodput in by_run.values()), by_run


def test_traces_have_windows_rtt_and_queue_over_time(result: tandem.Result) -> None:
    trace = result.trace(seed=1)
    assert {"time_s", "cwnd_packets", "srtt_ms", "queue_packets", "link"} <= set(trace.columns)
    assert set(trace["run"]) == {"reno", "compound", "all reno"}
    assert set(trace["link"]) == {"bottleneck"}
    assert max(trace["queue_packets"]) <= 20
    assert 0 < max(trace["time_s"]) <= 3
    assert len(result.queues(seed=1)) > 0
    with pytest.raises(tandem.UsageError, match=r"seed 2 was not traced.*traces=`every`"):
        result.trace(seed=2)
    with pytest.raises(tandem.UsageError, match="there is no seed 7: the seeds are 1 to 2"):
        result.trace(seed=7)


def test_data_frames_take_tables_with_their_nulls(result: tandem.Result) -> None:
    polars, pyarrow, pandas = (pytest.importorskip(name) for name in ("polars", "pyarrow", "pandas"))
    groups = result.groups
    goodput, nulls = groups["goodput_mbps"], groups["param_gamma"].count(None)
    assert nulls > 0
    frame = polars.DataFrame(groups)
    assert frame["goodput_mbps"].to_list() == goodput
    assert frame["param_gamma"].null_count() == nulls
    table = pyarrow.table(groups)
    assert table["goodput_mbps"].to_pylist() == goodput
    assert table["param_gamma"].null_count == nulls
    assert pyarrow.schema(groups) == table.schema
    assert pandas.DataFrame.from_arrow(groups)["param_gamma"].isna().sum() == nulls


def test_duckdb_takes_tables_by_name(result: tandem.Result) -> None:
    duckdb = pytest.importorskip("duckdb")
    groups = result.groups
    found = duckdb.sql("select count(*), count(param_gamma) from groups").fetchall()
    assert found == [(len(groups), len(groups) - groups["param_gamma"].count(None))]


def test_parquet_comes_back(result: tandem.Result, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    result.groups.write_parquet(tmp_path / "groups.parquet")
    assert polars.read_parquet(tmp_path / "groups.parquet").equals(polars.DataFrame(result.groups))
    with pytest.raises(tandem.RunError, match="nowhere"):
        result.groups.write_parquet(tmp_path / "nowhere" / "groups.parquet")


def test_a_table_is_a_mapping_of_columns(result: tandem.Result) -> None:
    with pytest.raises(KeyError, match="there is no column `goodput`"):
        result.groups["goodput"]
    assert repr(result.groups).startswith("Table(12 rows: run, engine, seed")
    assert "<table>" in result.groups._repr_html_()


def test_a_result_is_shown_as_text_and_as_html(result: tandem.Result) -> None:
    assert "Bottleneck" in str(result)
    html = result._repr_html_()
    assert html.startswith("<table>")
    # A header, and three runs of two groups each.
    assert html.count("<tr") == 1 + 3 * (1 + 2)
    page = result.html()
    assert "tandem_cc.compare(Dumbbell(rate=" in page.replace("&#x27;", "'")


def test_files_and_dictionaries_are_one_schema(tmp_path: Path) -> None:
    text = """
        name = "one"
        duration = "3s"
        warmup = "1s"
        [dumbbell]
        rate = "10mbit"
        rtt = "20ms"
        queue = "20p"
        loss = 1e-3
        [[flows]]
        controller = "compound@gamma=20"
        count = 2
    """
    path = tmp_path / "one.toml"
    path.write_text(text)
    table = {
        "name": "one",
        "duration": "3s",
        "warmup": "1s",
        "dumbbell": {"rate": "10mbit", "rtt": "20ms", "queue": "20p", "loss": 1e-3},
        "flows": [{"controller": "compound@gamma=20", "count": 2}],
    }
    of_file, of_dict = tandem.run(path, seeds=2), tandem.run(table, seeds=2)
    assert of_file.groups.rows() == of_dict.groups.rows()
    assert tandem.scenario(path).seeds == [1]
    assert tandem.scenario(table, first_seed=5, seeds=2).seeds == [5, 6]
    assert "a drop-tail queue of 20 packets, random loss 0.001" in str(tandem.scenario(table))


def good() -> dict[str, Any]:
    return {
        "duration": "3s",
        "dumbbell": {"rate": "10mbit", "rtt": "20ms", "queue": "20p"},
        "flows": [{"controller": "reno"}],
    }


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        (lambda t: t["dumbbell"].update(rate="10"), "dumbbell.rate", "rate `10` has no unit"),
        (lambda t: t["dumbbell"].update(rate=10), "dumbbell.rate", "rate `10` has no unit"),
        (lambda t: t["dumbbell"].update(rat=10), "dumbbell.rat", "unknown field `rat`"),
        (lambda t: t["dumbbell"].update(queue="10B"), "dumbbell.queue", "does not hold one packet"),
        (lambda t: t["flows"][0].update(controller="rneo"), "flows.0.controller", "did you mean `reno`?"),
        (lambda t: t["flows"][0].update(count=0), "flows.0.count", "count"),
        (lambda t: t.update(warmup="5s"), "duration", "duration 3s must be longer than the warm-up, 5s"),
        (lambda t: t.pop("duration"), None, "missing field `duration`"),
    ],
)
def test_errors_of_dictionaries_have_their_place(change: Any, key: str | None, message: str) -> None:
    table = good()
    change(table)
    with pytest.raises(tandem.ScenarioError) as error:
        tandem.scenario(table)
    assert error.value.key == key
    assert message in str(error.value)
    assert str(error.value).startswith("scenario: ")


def test_errors_of_files_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('duration = "3s"\n[dumbbell]\nrate = "10"\nrtt = "20ms"\nqueue = "9p"\n')
    with pytest.raises(tandem.ScenarioError, match=r"x\.toml:3:8: rate `10` has no unit") as error:
        tandem.scenario(path)
    assert (error.value.path, error.value.line, error.value.column) == (str(path), 3, 8)
    with pytest.raises(tandem.ScenarioError, match="cannot be read"):
        tandem.run(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tandem.compare(PATH, "rneo"), "unknown controller `rneo`"),
        (lambda: tandem.compare(PATH, "reno:x"), "`x` is not a number of flows"),
        (lambda: tandem.compare(PATH, ["reno", "reno"]), "`reno:1` is named twice"),
        (lambda: tandem.compare(PATH, ["reno:2", "cubic"], against="reno"), "the same number of flows"),
        (lambda: tandem.compare(PATH, "reno", ecn=True), "a queue that marks"),
        (lambda: tandem.compare(PATH, "reno", duration="3"), "time `3` has no unit"),
        (lambda: tandem.compare(PATH, "reno", engine="sin"), "did you mean `sim`?"),
        (lambda: tandem.compare(PATH, "kernel:cubic"), "is the kernel's own"),
        (lambda: tandem.compare(PATH, "reno", traces="all"), "give one of `none`, `first`, `every`"),  # type: ignore[arg-type]
        (lambda: tandem.Dumbbell(rate="10", rtt="20ms"), "path: rate: rate `10` has no unit"),
        (lambda: tandem.Dumbbell(rate="1mbit", rtt="20ms", loss=2), "from 0 up to below 1"),
        (lambda: tandem.run({"duration": object()}), "a object cannot be a value of a scenario"),
    ],
)
def test_mistakes_have_the_words_of_the_command_line(call: Any, message: str) -> None:
    with pytest.raises(tandem.UsageError) as error:
        call()
    assert message in str(error.value)


def test_traces_of_every_seed() -> None:
    result = tandem.run(good() | {"seeds": 2}, traces="every")
    assert len(result.trace(seed=1)) == len(result.trace(seed=2)) > 0
    with pytest.raises(tandem.UsageError, match="nothing was traced"):
        tandem.run(good(), traces="none").trace(seed=1)


# Hours of computing. `shares` gets what moves the bar, from inside the native code, and appending to a list never lets another thread have
# Python's lock.
LONG = """
import contextlib, os, signal, threading, time
import tandem_cc as tandem
shares = []
tandem.running.bar = lambda shown, title: contextlib.nullcontext(shares.append)
path = tandem.Dumbbell(rate="10gbit", rtt="100ms")
run = lambda: tandem.compare(path, ["cubic:8", "compound:8"], duration="1h", warmup="1s", seeds=20)
def wait_until_it_runs():
    while not shares:
        time.sleep(0.01)
"""

INTERRUPTED = """
def interrupt():
    global begin_s
    wait_until_it_runs()
    begin_s = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    run()
except KeyboardInterrupt:
    print((time.process_time() - begin_s) / os.cpu_count())
"""

BESIDE = """
threading.Thread(target=run).start()
wait_until_it_runs()
print("free", flush=True)
os._exit(0)
"""


def printed(code: str, folder: Path, limit_s: int) -> str:
    """What Python prints that runs the code."""
    # In another folder, for the sources beside the tests are not the package.
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder, timeout=limit_s).stdout


def test_ctrl_c_stops_within_a_second(tmp_path: Path, limit_s: int) -> None:
    """A second of computing on each core: on a busy machine that is a longer time."""
    assert float(printed(LONG + INTERRUPTED, tmp_path, limit_s)) < 1.0


def test_other_threads_go_on_meanwhile(tmp_path: Path, limit_s: int) -> None:
    """With Python's lock held the first thread would wait for hours of computing."""
    assert printed(LONG + BESIDE, tmp_path, limit_s) == "free\n"


def test_progress_is_told_and_an_error_in_it_ends_the_run() -> None:
    from tandem_cc import _native

    shares: list[float] = []
    options = {"engine": "sim", "traces": "none", "progress": shares.append, "title": "t", "call": "c"}
    _native.run(tandem.scenario(good()), options)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)

    def fail(share: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _native.run(tandem.scenario(good()), options | {"progress": fail})


def test_the_bar_is_drawn_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # At once: no run is slow on every machine.
    monkeypatch.setattr("tandem_cc.progress.DELAY_S", 0)
    tandem.run(good(), progress=True)
    assert "%|" in capsys.readouterr().err
    tandem.run(good())
    assert capsys.readouterr().err == ""
