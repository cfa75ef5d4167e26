#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Functions of C and Python that are too long. As clippy does in Rust, it counts a body's lines without comments, docstrings and empty ones.

    scripts/lint/functions.py    prints FILE:LINE, name and length of each; exit status 1 if there is one
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The same as too-many-lines-threshold in clippy.toml.
MOST = 60
# A function's head begins in the first column, and its body's braces stand there.
C_FUNCTION = re.compile(r"^[A-Za-z_][\w \t*]*?(\w+)\([^;{}]*\)\s*^\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# These tokens are no code.
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

Function = tuple[int, str, int]


def without_comments(text: str) -> str:
    return C_COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)


def in_c(text: str) -> Iterator[Function]:
    text = without_comments(text)
    for found in C_FUNCTION.finditer(text):
        lines = sum(bool(line.strip()) for line in found[2].splitlines())
        yield text.count("\n", 0, found.start()) + 1, found[1], lines


def in_python(text: str) -> Iterator[Function]:
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = body and code.intersection(range(body[0].lineno, body[-1].end_lineno + 1))
            yield node.lineno, node.name, len(lines)


def main() -> int:
    found = 0
    for pattern, functions in (("*.c *.h", in_c), ("*.py", in_python)):
        listed = subprocess.run(["git", "ls-files", *pattern.split()], cwd=ROOT, capture_output=True, check=True, text=True)
        for path in listed.stdout.split():
            for line, name, lines in functions((ROOT / path).read_text()):
                if lines > MOST:
                    found += 1
                    print(f"{path}:{line}: {name} has {lines} lines, at most {MOST}", file=sys.stderr)
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
