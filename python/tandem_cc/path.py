# SPDX-License-Identifier: MIT OR Apache-2.0
"""Paths on which controllers are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tandem_cc import _native

Table = Mapping[str, Any]
"""A table of a scenario file as a dictionary."""


@dataclass(frozen=True)
class Dumbbell:
    """A path with one bottleneck each way; all flows share it, and their ACKs take the way back.

    Texts have units: rates `100mbit`, `1gbit`, `12.5MB/s`; times `100ms`, `2s`; queues `1500p` (packets), `2MB`, `15ms`, `0.5bdp`.

    Attributes:
        rate: the bottleneck's rate, such as `100mbit`.
        rtt: the two-way propagation delay, such as `40ms`.
        queue: the bottleneck's buffer; once the path's bandwidth-delay product if not given.
        aqm: the queue discipline both ways: `droptail`, `red`, `codel`, `fq_codel`, `pie`, `dualpi2`, or a table with its parameters.
        loss: random loss before the queue, as a share of packets such as `1e-5` or `"0.1%"`, or a table with a model of bursts.
        reverse_rate: the rate of the way back; as forward if not given.
        reverse_queue: the buffer of the way back; as forward if not given.
        reverse_loss: random loss on the way back.
        effects: what the forward link does beside carrying packets: jitter, reordering, a rate that changes; a table as in
            `[effects.bottleneck]` of a scenario file.

    Raises:
        ScenarioError: a value makes no sense.
    """

    rate: str
    rtt: str
    queue: str = "1bdp"
    aqm: str | Table = "droptail"
    loss: float | str | Table = 0
    reverse_rate: str | None = None
    reverse_queue: str | None = None
    reverse_loss: float | str | Table = 0
    effects: Table | None = None

    def __post_init__(self) -> None:
        _native.check_dumbbell(self.as_table())

    def as_table(self) -> dict[str, Any]:
        """Returns the table `[dumbbell]` of a scenario; `effects` are a table of their own."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "effects"}
        return {name: value for name, value in values.items() if value is not None}
