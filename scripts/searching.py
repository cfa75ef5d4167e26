# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs `tandem search` for the scripts that ask many questions."""

import json
import os
import resource
import subprocess
import tempfile


def search(program: str, question: str, length: str, environment: dict[str, str]) -> tuple[dict, float]:
    """What it found, and how much CPU time that took. CalledProcessError has what it said if it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as out:
        command = [program, "search", *question.split(), *length.split(), "--json", "--quiet", "--out", out]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
