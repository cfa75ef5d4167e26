# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Literal

from tandem_cc import _native
from tandem_cc._native import Scenario
from tandem_cc.path import Dumbbell
from tandem_cc.progress import bar
from tandem_cc.result import Result

Traces = Literal["none", "first", "every"]
"""Which seeds' windows and queues are sampled over time, of at most eight flows of each group."""


def scenario(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    seeds: int | None = None,
    first_seed: int | None = None,
) -> Scenario:
    """Reads and checks a scenario.

    Args:
        source: the path of a scenario file, or a dictionary with the same keys, such as
            `{"duration": "60s", "dumbbell": {...}, "flows": [{"controller": "reno"}]}`.
        seeds: the number of repetitions; what the scenario says, or 1, if not given.
        first_seed: the first seed; the others count up from it.

    Raises:
        ScenarioError: the scenario has an error; the message says where.
    """
    if isinstance(source, Mapping):
        return Scenario.from_dict(dict(source), seeds, first_seed)
    return Scenario.from_file(fspath(source), seeds, first_seed)


def run(
    source: Scenario | str | PathLike[str] | Mapping[str, Any],
    *,
    seeds: int | None = None,
    first_seed: int | None = None,
    engine: str = "sim",
    traces: Traces = "first",
    progress: bool | None = None,
) -> Result:
    """Runs a scenario on all cores. Ctrl-C ends it.

    Args:
        source: a scenario, or what `scenario` takes.
        seeds: the number of repetitions; two or more give 95 % intervals.
        first_seed: the first seed; the others count up from it.
        engine: `sim`, the packet-level simulator; `quic`, a real QUIC stack in virtual time; `model`, the analytical model.
        traces: which seeds are sampled over time.
        progress: whether a bar shows how much is done; None shows it in terminals and notebooks.

    Raises:
        ScenarioError: the scenario has an error; the message says where.
        UsageError: the engine cannot run it.
    """
    if isinstance(source, Scenario):
        if seeds is not None or first_seed is not None:
            from tandem_cc.errors import UsageError

            raise UsageError("a scenario that was read has its seeds: give them to `scenario`")
        read = source
    else:
        read = scenario(source, seeds=seeds, first_seed=first_seed)
    call = f"tandem_cc.run({read.name!r}, engine={engine!r})"
    with bar(progress, read.name) as move:
        options = {"engine": engine, "traces": traces, "progress": move, "title": read.name, "call": call}
        return Result(_native.run(read, options))


def compare(
    path: Dumbbell,
    contenders: str | Sequence[str],
    *,
    against: str | Sequence[str] = (),
    reverse: str | Sequence[str] = (),
    seeds: int | Literal["auto"] = "auto",
    most_seeds: int | None = None,
    time: str | None = None,
    precision: float | None = None,
    first_seed: int | None = None,
    duration: str | None = None,
    warmup: str | None = None,
    ecn: bool = False,
    transfer: str | None = None,
    start_spread: str | None = None,
    rtt_spread: str | None = None,
    send_jitter: str | None = None,
    engine: str = "sim",
    traces: Traces = "first",
    progress: bool | None = None,
) -> Result:
    """Compares controllers on one path: each alone, or each against the same neighbours. Ctrl-C ends it.

    Args:
        path: the path.
        contenders: flows such as `reno:4` or `compound@gamma=20:2`: controller, parameters, number of flows.
        against: neighbours on the same path. A baseline in which all flows are of their kind is run, too, and gives bandwidth
            stolen: (P - Q) / P, with P the goodput of the neighbours among themselves and Q that beside the contender.
        reverse: flows in the other direction.
        seeds: the number of repetitions; two or more give 95 % intervals. With `auto` they are added until each difference is
            decided or known well enough; the report says why there are no more.
        most_seeds: with `auto`, the most of them; 20 if not given.
        time: with `auto`, no more are begun after this time; two minutes if not given.
        precision: with `auto`, half the interval's width that is narrow enough: a share of the greater of two goodputs, or of the
            neighbours' goodput; 0.05 if not given.
        first_seed: the first seed; the others count up from it.
        duration: how long each run lasts, such as `60s`; as long as the path needs if not given.
        warmup: what no measure counts; slow start and one time from loss to loss if not given.
        ecn: whether flows have ECN, and the queue marks their packets; not with `aqm="droptail"`.
        transfer: what each flow has to send, such as `10MB`; endless if not given.
        start_spread: flows start at random within this time; 100 ms if not given.
        rtt_spread: random addition to each flow's RTT, up to this; 0.2 ms if not given.
        send_jitter: random send delay, up to this; the time of one packet at the bottleneck if not given.
        engine: `sim`, the packet-level simulator; `quic`, a real QUIC stack in virtual time; `model`, the analytical model.
        traces: which seeds are sampled over time.
        progress: whether a bar shows how much is done; None shows it in terminals and notebooks.

    Raises:
        UsageError: the comparison makes no sense; the message has the words of the command line.
    """
    asked = {
        "contenders": _words(contenders),
        "against": _words(against),
        "reverse": _words(reverse),
        "ecn": ecn,
        "transfer": transfer,
        "start_spread": start_spread,
        "rtt_spread": rtt_spread,
        "send_jitter": send_jitter,
        "duration": duration,
        "warmup": warmup,
        "seeds": seeds,
        "most_seeds": most_seeds,
        "time": time,
        "precision": precision,
        "first_seed": first_seed,
    }
    title = f"{', '.join(_words(contenders))} at {path.rate}, {path.rtt} RTT"
    given = ", ".join(f"{name}={value!r}" for name, value in asked.items() if value and name != "contenders")
    call = f"tandem_cc.compare({path!r}, {_words(contenders)!r}{', ' + given if given else ''})"
    with bar(progress, title) as move:
        options = {"engine": engine, "traces": traces, "progress": move, "title": title, "call": call}
        native = asked | {"seeds": str(seeds)}
        return Result(_native.compare(path.as_table(), dict(path.effects) if path.effects else None, native, options))


def model(
    path: Dumbbell | Sequence[Dumbbell],
    *,
    controller: str = "compound",
    arithmetic: Literal["tandem", "linux-1.3", "linux-2006", "exact"] = "tandem",
) -> Any:
    """Works out what one Compound TCP connection does alone on a path, without a simulation.

    Args:
        path: a path, or several, which are worked out on all cores. Its rate, RTT and queue count; its loss does not.
        controller: `compound` with parameters, such as `compound@gamma=5`.
        arithmetic: that of Tandem's controller, of one of two Linux modules, or real numbers.

    Returns:
        A dictionary for each path: `utilisation`, `goodput_mbps`, `backlog_packets`, `epoch_s` and more, as
        `tandem model --json` has them; under `published` the model of Blanc, Collange and Avrachenkov (2009). A list of
        them for a list of paths.

    Raises:
        UsageError: the model does not know the controller, or the path is outside the model.
    """
    paths = [path] if isinstance(path, Dumbbell) else list(path)
    answers = _native.model([each.as_table() for each in paths], controller, arithmetic)
    return answers[0] if isinstance(path, Dumbbell) else answers


def _words(words: str | Sequence[str]) -> list[str]:
    return [words] if isinstance(words, str) else list(words)
