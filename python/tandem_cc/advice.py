# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which controller to run on a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Literal

from tandem_cc import _native
from tandem_cc.progress import bar


def advise(
    rate: str | None = None,
    rtt: str | None = None,
    *,
    measurements: Sequence[str | PathLike[str]] = (),
    queue: str | None = None,
    aqm: str = "droptail",
    ecn: bool = False,
    reverse_rate: str | None = None,
    mtu: int | None = None,
    effects: Mapping[str, Any] | None = None,
    loss: float | str | None = None,
    neighbours: str | None = None,
    controllers: Sequence[str] = (),
    flows: int | None = None,
    transfer: str | None = None,
    default: str | None = None,
    max_stolen: float | None = None,
    max_added_delay: str | None = None,
    min_gain: float | None = None,
    goal: Literal["goodput", "delay", "both"] = "goodput",
    time: str = "2min",
    seeds: int = 100,
    first_seed: int = 1,
    duration: str | None = None,
    warmup: str | None = None,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Recommends one controller for a path, from simulations of those that this machine can run. Ctrl-C ends it.

    What is not known of the path is taken as usual and then varied: `paths` has what would change the advice.

    Args:
        rate: the bottleneck's rate, such as `300mbit`; needed unless measurements tell it.
        rtt: the two-way propagation delay, such as `100ms`; likewise.
        measurements: files with the output of `iperf3 --json`, `ping` or `ss -ti`; what is given goes before them.
        queue: the bottleneck's buffer, such as `500p`, `2MB` or `0.5bdp`.
        aqm: the queue's discipline.
        ecn: whether flows have ECN, and the queue marks their packets; not with `droptail`.
        reverse_rate: the rate of the way back; as `rate` if not given.
        mtu: bytes of a full packet, headers included; 1500 if not given.
        effects: what the bottleneck does beside carrying packets, as `Dumbbell` has it: jitter, a policer, a rate trace. A
            jitter of 0ms says that there is none; otherwise it is varied.
        loss: random loss, before the queue.
        neighbours: the other flows on the path, such as `cubic:4` or `reno:2,bbr:1`; or `none`.
        controllers: what to choose from; all that this machine can run if not given.
        flows: how many flows are to be carried; as many as were measured, 1 without measurements, if not given.
        transfer: what all of them have to send together, such as `100GB`: its time counts instead of goodput.
        default: what the machine runs now; what Linux says of itself, or `cubic`, if not given.
        max_stolen: neighbours may lose at most this share of what they would have beside another of their own kind; a tenth if
            not given.
        max_added_delay: the 95th percentile of the queueing delay may grow by this; by half the RTT, at least 10 ms, if not given.
        min_gain: a change has to bring at least this share of the default's goodput; a tenth if not given.
        goal: what counts: goodput; delay, of controllers that keep the goodput; or both, goodput over the round-trip time.
        time: when to stop and say what is left open.
        seeds: the most seeds of a controller on a path; more than 20 only where they are cheap.
        first_seed: the first seed; the others count up from it.
        duration: how long each run lasts; as long as the path needs if not given.
        warmup: what no measure counts; slow start and one time from loss to loss if not given.
        progress: whether a bar shows how much of the time has passed; None shows it in terminals and notebooks.

    Returns:
        A dictionary with the keys of `tandem advise --json`: `advice` is the controller, `switch_on` the command that makes it
        the default, `paths` what was found on each path.

    Raises:
        UsageError: the question makes no sense, or lacks a rate or an RTT.
    """
    asked = {
        "rate": rate,
        "rtt": rtt,
        "measurements": [fspath(file) for file in measurements],
        "queue": queue,
        "aqm": aqm,
        "ecn": ecn,
        "reverse_rate": reverse_rate,
        "mtu": mtu,
        "loss": None if loss is None else str(loss),
        "neighbours": neighbours,
        "controllers": list(controllers),
        "flows": flows,
        "transfer": transfer,
        "default": default,
        "max_stolen": max_stolen,
        "max_added_delay": max_added_delay,
        "min_gain": min_gain,
        "goal": goal,
        "time": time,
        "seeds": seeds,
        "first_seed": first_seed,
        "duration": duration,
        "warmup": warmup,
    }
    call = f"tandem_cc.advise({', '.join(f'{name}={value!r}' for name, value in asked.items() if value)})"
    with bar(progress, "advise") as move:
        return _native.advise(asked, dict(effects) if effects else None, call, move)
