# SPDX-License-Identifier: MIT OR Apache-2.0
"""The exceptions of this package: all are a `TandemError`, and say what is wrong, where, and how to mend it."""

from __future__ import annotations


class TandemError(Exception):
    """The base of all errors of this package."""


class UsageError(TandemError, ValueError):
    """What was asked for makes no sense. The command `tandem` would end with status 2."""


class ScenarioError(UsageError):
    """A scenario has an error.

    Attributes:
        path: the scenario's file, or None if it is no file.
        line: the line of the file, from 1, or None if the error has no place in a file.
        column: the column of the file, from 1, or None.
        key: where in a dictionary, such as `dumbbell.rate` or `flows.0.controller`, or None.
    """

    def __init__(
        self,
        message: str,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
        self.column = column
        self.key = key


class RunError(TandemError, RuntimeError):
    """What was asked for makes sense, but did not work. The command `tandem` would end with status 1."""
