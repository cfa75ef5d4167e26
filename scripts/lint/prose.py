#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the English of the pages that people write: grammar, spelling, sentences of at most 40 words, and idioms that readers stumbled over.

    scripts/lint/prose.py [FILE.md ...]    all pages if none is named; exit status 1 if something was found

The linter is Harper (scripts/fetch.sh prose). scripts/lint/prose/ has what is ours: rules/*.weir, one idiom each with its tests; words.txt, names
and terms that no dictionary has; off.txt, rules of Harper's that are not used.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from words import ROOT, documents, is_written

OURS = ROOT / "scripts/lint/prose"
TOOLS = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "prose/tools"
# Parts of pages that programs write, and what comes from elsewhere.
PARTS = ("introduction.md", "reasons.md")


def lines_of(name: str) -> list[str]:
    lines = (OURS / name).read_text(encoding="utf-8").splitlines()
    return [line.split("  #")[0].strip() for line in lines if line and not line.startswith("#")]


def harper(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([TOOLS / "bin/harper", *arguments], cwd=ROOT, capture_output=True, text=True)


def rules() -> list[Path]:
    return sorted((OURS / "rules").glob("*.weir"))


def broken_rules() -> list[str]:
    said = {rule: harper("test", str(rule)).stderr.strip() for rule in rules()}
    return [f"{rule.relative_to(ROOT)}: {words}" for rule, words in said.items() if words != "All tests pass!"]


def pack(path: Path):
    manifest = {"author": "The authors of Tandem", "version": "1", "description": "Idioms", "license": "MIT OR Apache-2.0"}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for rule in rules():
            archive.write(rule, rule.name)


def pages(named: list[str]) -> list[str]:
    if named:
        return named
    found = [path for path in documents() if path.name not in PARTS]
    return [str(path) for path in found if not is_written(path, (ROOT / path).read_text(encoding="utf-8"))]


def is_finding(lint: dict, words: set[str]) -> bool:
    text = lint["matched_text"].lower()
    # Of names such as bbr3 and S2 only people can say whether they are right; `s.` is an abbreviation. Harper does not know the plurals
    # and genitives of our words.
    is_name = re.search(r"\d", text) or len(text.strip(".")) == 1 or text in words or re.sub("'?s$", "", text) in words
    return not (lint["rule"] == "SpellCheck" and is_name)


def findings(files: list[str]) -> list[str]:
    words = {word.lower() for word in lines_of("words.txt")}
    with tempfile.TemporaryDirectory() as folder:
        pack(Path(folder) / "tandem.weirpack")
        result = harper(
            *("lint", "--quiet", "--format", "json", "--dialect", "british", "--keep-overlapping-lints"),
            *("--weirpacks", f"{folder}/tandem.weirpack", "--user-dict-path", str(OURS / "words.txt"), "--file-dict-path", folder),
            *("--ignore", ",".join(lines_of("off.txt"))),
            *files,
        )
    try:
        reports = json.loads(result.stdout)
    except ValueError:
        sys.exit(f"harper-cli: {result.stderr}")
    # It names files without their folders, and keeps their order.
    return [
        f"{file}:{lint['line']}:{lint['column']}: {lint['rule']}: {lint['message']} ({lint['matched_text'][:60]!r})"
        for file, report in zip(files, reports, strict=True)
        for lint in report["lints"]
        if is_finding(lint, words)
    ]


def main() -> int:
    subprocess.run([ROOT / "scripts/fetch.sh", "prose"], check=True)
    found = broken_rules() + findings(pages(sys.argv[1:]))
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
