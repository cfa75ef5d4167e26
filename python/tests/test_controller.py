# SPDX-License-Identifier: MIT OR Apache-2.0
"""A controller stepped from Python does what the golden traces say, whose numbers were worked out on paper."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

import tandem_cc as tandem

VECTORS = Path(__file__).parents[2] / "controllers" / "vectors"
INFINITE = 0x7FFFFFFF
WRAP = 2**32


@dataclass
class Host:
    """The smallest host that keeps the contract, written from controllers/vectors/README.md."""

    name: str
    parameters: dict[str, float] = field(default_factory=dict)
    state: str = "open"
    prior_ssthresh: int = 0
    app_flight: int | None = None
    delivered: int = 0

    def connect(
        self,
        cwnd: int,
        ssthresh: int = INFINITE,
        clamp: int = 2**24,
        mss: int = 1000,
        una: int = 0,
        flight: int = 0,
    ) -> None:
        self.conn = tandem.Connection(
            snd_cwnd=cwnd,
            snd_ssthresh=ssthresh,
            snd_cwnd_clamp=clamp,
            mss=mss,
            now_us=1_000_000,
            snd_una=una,
            snd_nxt=(una + flight * mss) % WRAP,
        )
        self.controller = tandem.Controller(self.name, self.conn, **self.parameters)
        self.owns_window = self.controller.info.owns_window
        self.counts_marks = self.controller.info.counts_marks
        self.send()

    @property
    def flight(self) -> int:
        return (self.conn.snd_nxt - self.conn.snd_una) % WRAP // self.conn.mss

    def send(self) -> None:
        allowed = self.conn.snd_cwnd if self.app_flight is None else min(self.conn.snd_cwnd, self.app_flight)
        if allowed > self.flight:
            self.conn.snd_nxt = (self.conn.snd_una + allowed * self.conn.mss) % WRAP

    def one_ack(
        self, packets: int, rtt: int, delivered: int = 0, interval: int = 0, lost: int = 0, marked: int = 0
    ) -> None:
        assert packets <= self.flight
        marked = marked if self.counts_marks else 0
        self.conn.snd_una = (self.conn.snd_una + packets * self.conn.mss) % WRAP
        if self.owns_window:
            self.delivered += packets
            self.controller.pkts_acked(
                packets,
                rtt,
                delivered=self.delivered,
                prior_delivered=(self.delivered - delivered) % WRAP,
                interval_us=interval,
                is_app_limited=self.app_flight is not None,
                in_flight=max(0, self.flight - lost),
                lost=lost,
                marked=marked,
            )
        else:
            self.controller.pkts_acked(packets, rtt or None, marked=marked)
        if self.state not in ("cwr", "recovery"):
            self.controller.cong_avoid(packets)
        self.send()

    def round(self, rtt: int, by: int) -> None:
        start, flight = self.conn.now_us, self.flight
        left = flight
        while left > 0:
            packets = min(left, by)
            left -= packets
            self.conn.now_us = start + rtt * (flight - left) // flight
            self.one_ack(packets, rtt, min(flight, self.delivered + packets), rtt)

    def reduce(self, state: str) -> None:
        self.conn.snd_cwnd_cnt = 0
        if self.state in ("open", "disorder"):
            self.prior_ssthresh = self.conn.snd_ssthresh
            self.conn.snd_ssthresh = self.controller.ssthresh(for_mark=state == "cwr")
        if state == "loss":
            self.conn.snd_cwnd = 1
        elif not self.owns_window:
            self.conn.snd_cwnd = self.conn.snd_ssthresh
        self.enter(state)

    def enter(self, state: str) -> None:
        self.controller.set_state(state)  # type: ignore[arg-type]
        self.state = state

    def play(self, command: str, words: list[str]) -> None:
        values = dict(word.split("=") for word in words if "=" in word)
        numbers = {key: int(value) for key, value in values.items() if "." not in value}
        match command:
            case "conn":
                return self.connect(**numbers)
            case "expect":
                return self.check(values)
            case "ack":
                for _ in range(numbers.get("times", 1)):
                    self.conn.now_us += numbers.get("gap", 0)
                    self.one_ack(
                        int(words[0]),
                        numbers["rtt"],
                        numbers.get("delivered", 0),
                        numbers.get("in", 0),
                        numbers.get("lost", 0),
                        numbers.get("marked", 0),
                    )
            case "round":
                for _ in range(numbers.get("times", 1)):
                    self.round(numbers["rtt"], numbers.get("by", 1))
            case "loss" | "ecn" | "timeout":
                self.reduce({"loss": "recovery", "ecn": "cwr", "timeout": "loss"}[command])
            case "recovered":
                if self.state != "loss" and not self.owns_window:
                    self.conn.snd_cwnd = self.conn.snd_ssthresh
                self.enter("open")
            case "undo":
                self.conn.snd_cwnd = self.controller.undo_cwnd()
                self.conn.snd_ssthresh = max(self.conn.snd_ssthresh, self.prior_ssthresh)
                self.enter("open")
            case "disorder":
                self.enter("disorder")
            case "restart":
                self.conn.snd_una = self.conn.snd_nxt
                self.conn.snd_cwnd = numbers["cwnd"]
                self.controller.restart()
            case "app":
                self.app_flight, self.conn.is_cwnd_limited = numbers["flight"], False
            case "bulk":
                self.app_flight, self.conn.is_cwnd_limited = None, True
            case "wait":
                self.conn.now_us += int(words[0])
            case "host":
                for key, value in numbers.items():
                    setattr(self.conn, {"clamp": "snd_cwnd_clamp"}.get(key, f"snd_{key}"), value)
            case _:
                pytest.fail(f"unknown command {command}")
        self.send()
        return None

    def check(self, expected: dict[str, str]) -> None:
        view = self.controller.view()
        actual: dict[str, float] = {
            "cwnd": self.conn.snd_cwnd,
            "cnt": self.conn.snd_cwnd_cnt,
            "ssthresh": self.conn.snd_ssthresh,
            "flight": self.flight,
            "rate": self.conn.pacing_bytes_per_s,
            "loss": view.loss_window_packets,
            "delay": view.delay_window_packets,
            "gamma": view.gamma_packets,
            "diff": view.diff_packets,
            "base": view.base_rtt_us or 0,
        }
        for key, value in expected.items():
            tolerance = {"rate": 1e-3 * float(value), "gamma": 0.01, "diff": 0.01}.get(key, 0)
            assert actual[key] == pytest.approx(float(value), abs=tolerance, rel=0), key


@pytest.mark.parametrize("trace", sorted(VECTORS.glob("*.trace")), ids=lambda path: path.stem)
def test_golden_trace(trace: Path) -> None:
    host = None
    for number, line in enumerate(trace.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "controller":
            host = Host(words[1])
        elif words[0] == "set":
            assert host
            host.parameters[words[1]] = float(words[2])
        else:
            assert host
            try:
                host.play(words[0], words[1:])
            except AssertionError as e:
                e.add_note(f"{trace.name}:{number}: {line}")
                raise


def test_there_are_traces() -> None:
    assert len(list(VECTORS.glob("*.trace"))) > 20


def test_reno_by_hand() -> None:
    """RFC 5681: slow start doubles, a loss halves, then a packet a window."""
    reno = tandem.Controller("reno")
    reno.connection.snd_nxt = 10 * 1448
    reno.pkts_acked(10, rtt_us=100_000)
    reno.cong_avoid(10)
    assert reno.connection.snd_cwnd == 20
    reno.connection.snd_ssthresh = reno.ssthresh()
    assert reno.connection.snd_ssthresh == 10
    reno.set_state("recovery")
    reno.connection.snd_cwnd = 10
    reno.set_state("open")
    reno.cong_avoid(10)
    assert reno.connection.snd_cwnd == 11


def test_probes_are_named() -> None:
    """RFC 8257 3.3: alpha begins at 1."""
    assert tandem.Controller("dctcp").view().probes == {"alpha": 1.0}
    probes = tandem.Controller("bbr3").view().probes
    assert probes["state"] == "STARTUP"
    assert probes["inflight_longterm_packets"] is None


def test_parameters_are_set_by_name() -> None:
    tube = tandem.Controller("compound_tube", gamma=20)
    assert tube.parameters["gamma"] == 20
    assert tube.view().gamma_packets == 20
    assert tandem.Controller("compound_tube").parameters["gamma"] == 30


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tandem.Controller("compund"), "unknown controller `compund`, did you mean `compound`?"),
        (lambda: tandem.Controller("reno", gamma=1), "controller `reno` has no parameter `gamma`"),
        (lambda: tandem.Controller("compound", gamma=-1), "`compound.gamma` = -1 is out of range"),
        (lambda: tandem.Controller("reno", tandem.Connection(snd_cwnd=0)), "`snd_cwnd` = 0 is out of range"),
        (lambda: tandem.Controller("reno", tandem.Connection(mss=0)), "`mss` = 0 is out of range"),
        (lambda: tandem.Controller("reno").cong_avoid(2**24 + 1), "`packets` = 16777217 is out of range"),
        (lambda: tandem.Controller("reno").set_state("opne"), "`opne` is not a congestion state"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_errors_of_one_family(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(tandem.UsageError, match=message.replace("?", r"\?").split(",")[0]) as error:
        make()
    assert isinstance(error.value, tandem.TandemError)
    assert isinstance(error.value, ValueError)


def test_what_python_sets_cannot_end_the_process() -> None:
    """Division by a window of 0 would."""
    for info in tandem.controllers():
        controller = tandem.Controller(info.name)
        controller.connection.snd_cwnd = 0
        with pytest.raises(tandem.UsageError, match="snd_cwnd"):
            controller.cong_avoid(1)


def test_every_controller_says_what_it_is() -> None:
    infos = tandem.controllers()
    assert {"reno", "compound", "compound_tube", "cubic", "bbr"} <= {info.name for info in infos}
    for info in infos:
        assert info.source
        assert info.signal in ("loss", "delay", "both", "model", "marks", "l4s")
        for parameter in info.parameters:
            assert parameter.min <= parameter.default <= parameter.max
            assert parameter.doc


def test_a_header_of_ones_own_is_compiled_and_again_after_a_change(tmp_path: Path) -> None:
    template = (Path(__file__).parents[2] / "controllers" / "own" / "mine.h").read_text()
    header = tmp_path / "from_python.h"
    header.write_text(template.replace("mine", "from_python"))
    own = tandem.Controller.from_header(header, kept=0.25)
    assert (own.name, own.parameters["kept"]) == ("from_python", 0.25)
    own.connection.snd_cwnd = 400
    assert own.ssthresh() == 100

    header.write_text(header.read_text().replace("p->kept, 1024), 2)", "p->kept, 1024), 300)"))
    changed = tandem.Controller.from_header(header, kept=0.25)
    changed.connection.snd_cwnd = 400
    assert (changed.ssthresh(), own.ssthresh()) == (300, 100)

    header.write_text("this is no C")
    with pytest.raises(tandem.UsageError, match=r"from_python\.h"):
        tandem.Controller.from_header(header)


def test_scenarios_name_headers(tmp_path: Path) -> None:
    template = (Path(__file__).parents[2] / "controllers" / "own" / "mine.h").read_text()
    header = tmp_path / "in_scenario.h"
    header.write_text(template.replace("mine", "in_scenario"))
    path = {"rate": "10mbit", "rtt": "20ms", "queue": "20p"}
    runs = [
        tandem.run({"duration": "3s", "dumbbell": path, "flows": [{"controller": controller}]})
        for controller in (str(header), "reno")
    ]
    assert runs[0].groups["goodput_mbps"] == runs[1].groups["goodput_mbps"]
