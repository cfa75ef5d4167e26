# SPDX-License-Identifier: MIT OR Apache-2.0
"""A path from measurements that people have."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath

from tandem_cc import _native
from tandem_cc.errors import UsageError
from tandem_cc.path import Dumbbell


@dataclass(frozen=True)
class Inferred:
    """A value that a measurement tells.

    Attributes:
        what: `rate`, `rtt`, `queue` or `loss`.
        value: the value with its unit.
        source: the file and the field.
        surety: `at least`, `at most` or `a guess`, with the reason.
    """

    what: str
    value: str
    source: str
    surety: str


@dataclass(frozen=True)
class Measured:
    """A path as far as measurements tell; what they do not tell is None.

    Attributes:
        rate: the bottleneck's rate, such as `49.9mbit`.
        rtt: the two-way propagation delay.
        queue: the bottleneck's buffer.
        loss: random loss, as a share of packets.
        inferred: the same with what each comes from.
    """

    rate: str | None
    rtt: str | None
    queue: str | None
    loss: float | None
    inferred: tuple[Inferred, ...]

    def dumbbell(self, *, rate: str | None = None, rtt: str | None = None) -> Dumbbell:
        """Returns the path; an unknown queue is one bandwidth-delay product, unknown loss is 0.

        Args:
            rate: the rate, in place of the one that was measured.
            rtt: the RTT, in place of the one that was measured.

        Raises:
            UsageError: rate or RTT is neither measured nor given.
        """
        rate, rtt = rate or self.rate, rtt or self.rtt
        if rate is None or rtt is None:
            missing = "rate" if rate is None else "rtt"
            raise UsageError(f"the measurements do not tell the {missing}: give it, or another measurement")
        return Dumbbell(rate=rate, rtt=rtt, queue=self.queue or "1bdp", loss=self.loss or 0)


def measured(*files: str | PathLike[str]) -> Measured:
    """Infers a path from measurements: `iperf3 --json`, or the output of `ping` or `ss -ti`; several together tell more.

    Raises:
        UsageError: a file cannot be read, or is none of these.
    """
    values, inferred = _native.measured([fspath(file) for file in files])
    return Measured(**values, inferred=tuple(Inferred(*each) for each in inferred))
