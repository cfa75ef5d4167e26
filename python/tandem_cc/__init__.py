# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which congestion controller suits a path, and what does it do to its neighbours?

Describe a path, run controllers over it in a packet-level simulator, look at the result:

    import tandem_cc as tandem
    path = tandem.Dumbbell(rate="300mbit", rtt="100ms", queue="500p", loss=1e-5)
    result = tandem.compare(path, ["reno:2", "compound_tube:2"], against="reno:2", seeds=10)
    result.groups          # one row per run, seed and group
    result.plot()

A controller can also be stepped by hand: see `Controller`.
"""

from tandem_cc import papers
from tandem_cc._native import (
    Connection,
    Controller,
    ControllerInfo,
    Parameter,
    Scenario,
    Table,
    View,
    __version__,
    controllers,
)
from tandem_cc.advice import advise
from tandem_cc.errors import RunError, ScenarioError, TandemError, UsageError
from tandem_cc.evaluation import Assessment, evaluate
from tandem_cc.measurement import Inferred, Measured, measured
from tandem_cc.path import Dumbbell
from tandem_cc.result import Result
from tandem_cc.running import compare, model, run, scenario
from tandem_cc.searching import SearchResult, search
from tandem_cc.sweeps import SweepResult, sweep

__all__ = [
    "Assessment",
    "Connection",
    "Controller",
    "ControllerInfo",
    "Dumbbell",
    "Inferred",
    "Measured",
    "Parameter",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "SearchResult",
    "SweepResult",
    "Table",
    "TandemError",
    "UsageError",
    "View",
    "__version__",
    "advise",
    "compare",
    "controllers",
    "evaluate",
    "measured",
    "model",
    "papers",
    "run",
    "scenario",
    "search",
    "sweep",
]
