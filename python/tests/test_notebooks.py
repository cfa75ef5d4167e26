# SPDX-License-Identifier: MIT OR Apache-2.0
"""The notebooks run from top to bottom, and their pictures are there."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.py"))


def execute(path: Path, limit_s: int, sockets: Path) -> Any:
    """Runs a notebook in a kernel of its own, in its folder."""
    jupytext, nbclient = pytest.importorskip("jupytext"), pytest.importorskip("nbclient")
    config_of = pytest.importorskip("traitlets.config").Config
    notebook = jupytext.read(path)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel
    # A port that the kernel is told of may be another program's before it listens there: then it dies. A file is nobody else's.
    config = config_of({"AsyncKernelManager": {"transport": "ipc", "ip": str(sockets / path.stem)}})
    # Until a kernel answers, until a cell is done, and until its last output has come: what comes later is lost.
    limits = {"startup_timeout": limit_s, "timeout": limit_s, "iopub_timeout": limit_s}
    resources = {"metadata": {"path": path.parent}}
    return nbclient.NotebookClient(notebook, resources=resources, config=config, **limits).execute()


@pytest.fixture(scope="module")
def executed(limit_s: int) -> Iterator[dict[str, Any]]:
    """At the same time, for a kernel takes seconds to begin."""
    # A socket's name has 108 bytes at most, fewer than pytest's own folders may have.
    with TemporaryDirectory() as sockets, ThreadPoolExecutor() as pool:
        done = pool.map(lambda path: execute(path, limit_s, Path(sockets)), NOTEBOOKS)
        yield dict(zip([path.stem for path in NOTEBOOKS], done, strict=True))


@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_and_draws(executed: dict[str, Any], name: str) -> None:
    outputs = [output for cell in executed[name].cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "image/png" in kinds
    assert "text/html" in kinds
    assert not [output for output in outputs if output.get("name") == "stderr"], outputs
