#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Draws the house of crates in docs/house.md from their Cargo.toml files.

    scripts/lint/house.py           writes the drawing into the page
    scripts/lint/house.py --check   fails if the page has another one

A crate stands one floor above the highest crate that it uses. Dependencies of tests and build scripts do not count.
"""

import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/house.md"
BEGIN, END = "<!-- drawn by scripts/lint/house.py -->\n```text\n", "```\n"


def crates() -> dict[str, tuple[str, set[str]]]:
    """Folder and dependencies of each crate by its name."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    found = {}
    for file in sorted(file for member in members for file in ROOT.glob(f"{member}/Cargo.toml")):
        manifest = tomllib.loads(file.read_text(encoding="utf-8"))
        tables = [manifest, *manifest.get("target", {}).values()]
        uses = {name for table in tables for name in table.get("dependencies", {})}
        found[manifest["package"]["name"]] = (str(file.parent.relative_to(ROOT)).removeprefix("crates/"), uses)
    return {name: (folder, uses & found.keys()) for name, (folder, uses) in found.items()}


def drawing() -> str:
    house = crates()

    @cache
    def floor(name: str) -> int:
        return 1 + max((floor(used) for used in house[name][1]), default=0)

    top = max(map(floor, house))
    rows = ((n, sorted(house[name][0] for name in house if floor(name) == n)) for n in range(top, 0, -1))
    return "".join(f"{n:2}  {'  '.join(row)}\n" for n, row in rows)


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    drawn = before + BEGIN + drawing() + END + after
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(drawn, encoding="utf-8")
    elif drawn != page:
        print("docs/house.md: the crates have changed: scripts/lint/house.py draws them anew", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
