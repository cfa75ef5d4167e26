# SPDX-License-Identifier: MIT OR Apache-2.0
"""What all tests share: no limit of time that a busy machine reaches, and words for skipped tests."""

from __future__ import annotations

import os

import pytest

LIMIT_S = 600
"""So long a test waits for what takes seconds. It only ends what hangs: no test is about time."""

# Everything is computed here, whatever the developer's store of finished runs has.
os.environ["TANDEM_STORE"] = "off"
# Dask reads these when it is imported, workers and drivers inherit them.
os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = f"{LIMIT_S}s"
os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP"] = f"{LIMIT_S}s"
# Otherwise a local cluster gives up a killed worker that has not begun again after 15 s, and in the end has none.
os.environ["DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT"] = f"{LIMIT_S}s"


@pytest.fixture(scope="session")
def limit_s() -> int:
    """`LIMIT_S`: pytest's import mode has no `import conftest`."""
    return LIMIT_S


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each skipped test, as crates/testing has it: scripts/test.sh counts them."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        terminalreporter.write_line(f"SKIPPED: {report.nodeid}: {reason}")
