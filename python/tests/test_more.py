# SPDX-License-Identifier: MIT OR Apache-2.0
"""The model, the papers, measurements, charts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tandem_cc as tandem

FIXTURES = Path(__file__).parents[2] / "crates" / "advise" / "tests" / "fixtures"


def test_the_model_has_one_answer_a_path() -> None:
    path = tandem.Dumbbell(rate="400mbit", rtt="50ms", queue="100p")
    answer = tandem.model(path)
    # 400 Mb/s * 50 ms / 12000 bits.
    assert answer["bdp_packets"] == pytest.approx(400e6 * 0.05 / 12000)
    assert answer["queue_packets"] == 100
    assert 0.5 < answer["utilisation"] <= 1
    assert tandem.model([path, path]) == [answer, answer]
    assert tandem.model(path, controller="compound@gamma=5") != answer


@pytest.mark.parametrize(
    ("controller", "message"),
    [
        ("reno", "the model knows `compound`, whose gamma is fixed, not `reno`"),
        ("kernel:cubic", "`kernel:cubic` is the kernel's own"),
        ("compund", "did you mean `compound`?"),
    ],
)
def test_the_model_says_what_it_does_not_know(controller: str, message: str) -> None:
    with pytest.raises(tandem.UsageError) as error:
        tandem.model(tandem.Dumbbell(rate="400mbit", rtt="50ms"), controller=controller)
    assert message in str(error.value)


def test_unknown_papers_have_a_hint() -> None:
    with pytest.raises(tandem.UsageError, match=r"there is no experiment `s0/fgi3`, did you mean `s0/fig3`\?"):
        tandem.papers.run("s0/fgi3")


def test_an_experiment_of_ones_own_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN)
    (finding,) = tandem.papers.run(path)
    assert finding.verdict == "holds"
    assert finding.details["curves"]
    assert "own" in str(finding)


OWN = """
title = "Goodput of Reno on a short path"
claim = "Reno fills a path whose buffer is its bandwidth-delay product."

[scenario]
duration = "4s"
warmup = "2s"
seeds = 2
[scenario.dumbbell]
rate = "10mbit"
rtt = "10ms"
queue = "20p"
loss = 0
[[scenario.flows]]
controller = "reno"
[sweep]
label = "Random loss rate"
log = true
values = [1e-6, 1e-5]
set = { "dumbbell.loss" = "{}" }
[y]
label = "Throughput, Mb/s"
[measure]
kind = "throughput"
[[curves]]
name = "Reno"
[[claims]]
text = "Reno has at least 9 Mb/s"
headline = true
curve = "Reno"
above = 9
ours = true
"""


def test_measurements_become_a_path() -> None:
    """They were made over 50 Mb/s and 30 ms with a queue of 36 ms: see crates/advise/src/measured."""
    names = ["iperf3.json", "ping-idle.txt", "ping-loaded.txt", "ss.txt"]
    measured = tandem.measured(*(FIXTURES / name for name in names))
    assert (measured.rate, measured.rtt, measured.loss) == ("49.9mbit", "30.142ms", 0.0)
    assert [value.what for value in measured.inferred] == ["rate", "rtt", "queue", "loss"]
    path = measured.dumbbell()
    assert (path.rate, path.queue) == ("49.9mbit", measured.queue)
    idle = tandem.measured(FIXTURES / "ping-idle.txt")
    assert idle.rate is None
    assert idle.dumbbell(rate="50mbit").queue == "1bdp"
    with pytest.raises(tandem.UsageError, match="do not tell the rate"):
        idle.dumbbell()
    with pytest.raises(tandem.UsageError, match=r"it is none of these: `iperf3 --json`"):
        tandem.measured(__file__)


def test_advice_is_that_of_the_command_line() -> None:
    advice = tandem.advise(
        "10mbit",
        "20ms",
        queue="20p",
        loss=0,
        effects={"jitter": {"time": "0ms"}},
        neighbours="cubic:1",
        default="cubic",
        duration="4s",
        warmup="1s",
        seeds=2,
        controllers=["cubic", "compound"],
    )
    assert advice["advice"] in ("cubic", "compound")
    (path,) = advice["paths"]
    assert (path["queue"], path["chosen"]) == ("20p", advice["advice"])
    assert {found["controller"] for found in path["controllers"]} == {"cubic", "compound"}
    assert all(set(found["goodput_mbps"]) == {"mean", "ci95"} for found in path["controllers"])
    assert advice["command"].startswith("tandem_cc.advise(rate='10mbit', rtt='20ms', queue='20p'")
    assert advice["assumed"] == []


def test_advice_takes_measurements_and_says_what_it_lacks() -> None:
    with pytest.raises(tandem.UsageError, match="no rate: give `rate`"):
        tandem.advise(measurements=[FIXTURES / "ping-idle.txt"])
    with pytest.raises(tandem.UsageError, match="cannot be simulated"):
        tandem.advise("10mbit", "20ms", controllers=["kernel:lp"])
    files = [FIXTURES / name for name in ("iperf3.json", "ping-idle.txt")]
    advice = tandem.advise(measurements=files, duration="1s", warmup="0s", seeds=2, time="1min", controllers=["reno"])
    # As iperf3 has it, with the headers: 47535591 b/s * 1500 / 1448.
    assert (advice["rate"], [found["what"] for found in advice["inferred"]][:2]) == ("49.2mbit", ["rate", "rtt"])


def test_seeds_are_added_within_bounds_that_are_given() -> None:
    path = tandem.Dumbbell(rate="10mbit", rtt="20ms", queue="20p")
    result = tandem.compare(path, ["reno", "compound"], most_seeds=3, precision=0.0001, duration="3s", warmup="1s")
    assert [len(run["seeds"]) for run in result.runs] == [3, 3]
    assert "or known to ±0.01 %" in str(result)
    with pytest.raises(tandem.UsageError, match=r'for seeds="auto"'):
        tandem.compare(path, "reno", seeds=2, time="1s", duration="3s", warmup="1s")
    with pytest.raises(tandem.UsageError, match=r"precision=1\.5: give a share from 0"):
        tandem.compare(path, "reno", precision=1.5, duration="3s", warmup="1s")
    with pytest.raises(tandem.UsageError, match="give 2 or more"):
        tandem.compare(path, "reno", most_seeds=1, duration="3s", warmup="1s")


def test_charts_are_those_of_the_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tandem.Dumbbell(rate="10mbit", rtt="20ms", queue="20p")
    result = tandem.compare(path, ["reno", "compound"], against="reno", duration="3s", warmup="1s", seeds=2)
    titles = [ax.get_title("left") for ax in result.plot().axes]
    assert titles[:2] == ["Goodput against queueing delay", "Goodput"]
    assert "Bandwidth stolen" in titles
    over_time = result.plot("compound")
    windows = over_time.axes[0]
    assert windows.get_xlim() == (1.0, 3.0)
    assert len(windows.lines) >= 2
    over_time.savefig(tmp_path / "windows.png")
    with pytest.raises(tandem.UsageError, match="there is no run `cubic`: the runs are `reno`, `compound`"):
        result.plot("cubic")
    # The page has each chart's title as well.
    assert all(title in result.html() for title in titles if title)
    result.write_report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 100_000


def test_without_matplotlib_the_error_names_the_extra(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["matplotlib.figure"] = None
import tandem_cc as tandem
try:
    from tandem_cc.plot import figure
    figure([])
except tandem.RunError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "pip install tandem-cc[plot]" in done.stdout
