#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts the words of the repository's Markdown, so that the documents stay as long as a reader has time for.

    scripts/lint/words.py           a table by folder
    scripts/lint/words.py --check   the sums alone; exit status 1 if one is over its limit

A word is a run of characters between spaces with a letter or a digit in it: bars of tables, dashes and ± are none.
"""

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Of documents that programs write into docs/. Enforced.
WRITTEN_LIMIT = 45_000
# Of all Markdown.
ALL_LIMIT = 90_000
# Of the first page that a reader sees.
README, README_LIMIT = Path("README.md"), 700
# A document that a program writes says so in its first lines.
MARK, MARK_LINES = "do not edit", 6
# In a page by hand, a program writes what stands between these.
BEGIN, END = "<!-- written by ", "<!-- end of what "
# These do not say it so early.
OTHERS = {Path("docs/advise-vs-experts.md"), Path("docs/matrix.md")}
# The pages of docs/reproduction.md are written with it.
PAGES = Path("docs/reproduction")


def count(text: str) -> int:
    return sum(any(c.isalnum() for c in word) for word in text.split())


def is_written(path: Path, text: str) -> bool:
    """By a program, all of it."""
    head = "\n".join(text.splitlines()[:MARK_LINES])
    of_pages = path in OTHERS or PAGES in path.parents
    return path.parts[0] == "docs" and END not in text and (MARK in head or of_pages)


def words_written(path: Path, text: str) -> int:
    """By a program: all, or what stands between its marks."""
    if path.parts[0] == "docs" and END in text:
        return sum(count(part.split("-->", 1)[1].split(END)[0]) for part in text.split(BEGIN)[1:])
    return count(text) if is_written(path, text) else 0


def documents() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [Path(name) for name in names if (ROOT / name).exists()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="the sums alone, and whether they keep their limits")
    is_check = parser.parse_args().check
    folders, written, of_readme = Counter(), 0, 0
    for path in documents():
        text = (ROOT / path).read_text(encoding="utf-8")
        words = count(text)
        of_readme += words if path == README else 0
        folders[str(path.parent)] += words
        written += words_written(path, text)
    if not is_check:
        for folder, words in folders.most_common():
            print(f"{words:7} {folder}")
    everything = folders.total()
    print(f"{everything:7} in all; the limit is {ALL_LIMIT}")
    print(f"{written:7} in docs/ by programs; the limit is {WRITTEN_LIMIT}")
    print(f"{of_readme:7} in {README}; the limit is {README_LIMIT}")
    return int(is_check and (of_readme > README_LIMIT or written > WRITTEN_LIMIT or everything > ALL_LIMIT))


if __name__ == "__main__":
    sys.exit(main())
