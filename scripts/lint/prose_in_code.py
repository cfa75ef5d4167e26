# SPDX-License-Identifier: MIT OR Apache-2.0
"""The sentences in code, for scripts/lint/prose.py: each file as a text whose lines are those of the file, so that a finding has its line.

Comments of Rust and C (the help texts are such), strings of at least four words in Rust, and what experiment files say in words.
"""

import re
import subprocess
from pathlib import Path

from words import ROOT

KINDS = ("*.rs", "*.h", "*.c", "experiments/papers/*.toml", "experiments/cases/*.toml")
# Copied from elsewhere, or made by programs.
FOREIGN = ("vmlinux", "/snapshots/", "target/")
# Keys of TOML files whose values are sentences.
KEYS = "title|claim|assumptions|why|more|note|text|found|label|name|scale|asks|setup|owner|source"

COMMENT = re.compile(r"^\s*(?:///?|//!|/\*+|\*(?!/))(?: (.*?))?(?:\s*\*/)?$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|\\$)')


def sources() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *KINDS]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (ROOT / name).exists() and not any(part in name for part in FOREIGN)]


def sentences(name: str) -> str:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    of_line = of_toml_line if name.endswith(".toml") else of_code_line
    return "\n".join(map(of_line, lines)) + "\n"


def of_code_line(line: str) -> str:
    comment = COMMENT.match(line)
    if comment:
        return comment.group(1) or ""
    strings = [text for text in STRING.findall(line) if text.count(" ") >= 3 and "//" not in text]
    return ". ".join(re.sub(r"\{[^}]*\}", "X", text).replace("\\n", " ").replace('\\"', "'") for text in strings)


def of_toml_line(line: str) -> str:
    if line.startswith("#"):
        return line[1:].strip()
    key = re.match(rf"(?:{KEYS}) = \[?\"*(.*)", line)
    is_within = not re.match(r"[\w.\"*]+ = |\[|\]|$", line)
    return (key.group(1) if key else line if is_within else "").rstrip("\\\"],").strip()
