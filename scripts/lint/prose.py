#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the English of the pages that people write: grammar, spelling, sentences of at most 40 words, and idioms that readers stumbled over.
Of code and experiment files it checks the idioms alone, since names and formulas fill their sentences.

    scripts/lint/prose.py [FILE ...]    all pages, code and experiment files if none is named; exit status 1 if something was found

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

import prose_in_code
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


def pages() -> list[str]:
    found = [path for path in documents() if path.name not in PARTS]
    return [str(path) for path in found if not is_written(path, (ROOT / path).read_text(encoding="utf-8"))]


def is_finding(lint: dict, words: set[str]) -> bool:
    text = lint["matched_text"].lower()
    # Of names such as bbr3 and S2 only people can say whether they are right; `s.` is an abbreviation. Harper does not know the plurals
    # and genitives of our words.
    is_name = re.search(r"\d", text) or len(text.strip(".")) == 1 or text in words or re.sub("'?s$", "", text) in words
    return not (lint["rule"] == "SpellCheck" and is_name)


def lints(files: list[str], folder: str, *options: str) -> list[list[dict]]:
    """For each file what the linter found."""
    pack(Path(folder) / "tandem.weirpack")
    result = harper(
        *("lint", "--quiet", "--format", "json", "--dialect", "british", "--keep-overlapping-lints"),
        *("--weirpacks", f"{folder}/tandem.weirpack", "--user-dict-path", str(OURS / "words.txt"), "--file-dict-path", folder),
        *options,
        *files,
    )
    try:
        # It names files without their folders, and keeps their order.
        return [report["lints"] for report in json.loads(result.stdout)]
    except ValueError:
        sys.exit(f"harper-cli: {result.stderr}")


def in_pages(files: list[str]) -> list[str]:
    words = {word.lower() for word in lines_of("words.txt")}
    with tempfile.TemporaryDirectory() as folder:
        found = lints(files, folder, "--ignore", ",".join(lines_of("off.txt")))
    return [
        f"{file}:{lint['line']}:{lint['column']}: {lint['rule']}: {lint['message']} ({lint['matched_text'][:60]!r})"
        for file, of_file in zip(files, found, strict=True)
        for lint in of_file
        if is_finding(lint, words)
    ]


def in_code(files: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        texts = [Path(folder) / f"{number}.md" for number in range(len(files))]
        for text, file in zip(texts, files, strict=True):
            text.write_text(prose_in_code.sentences(file), encoding="utf-8")
        found = lints([str(text) for text in texts], folder, "--only", ",".join(rule.stem for rule in rules()))
    return [
        f"{file}:{lint['line']}: {lint['rule']}: {lint['message']} ({lint['matched_text'][:60]!r})"
        for file, of_file in zip(files, found, strict=True)
        for lint in of_file
    ]


def main() -> int:
    subprocess.run([ROOT / "scripts/fetch.sh", "prose"], check=True)
    named = sys.argv[1:]
    of_code = [name for name in named if not name.endswith(".md")] if named else prose_in_code.sources()
    of_pages = [name for name in named if name.endswith(".md")] if named else pages()
    found = broken_rules() + (in_pages(of_pages) if of_pages else []) + (in_code(of_code) if of_code else [])
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
