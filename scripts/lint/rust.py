#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks what clippy cannot know of the Rust that is shipped, without its tests.

    scripts/lint/rust.py    prints FILE:LINE and the mend of each finding; exit status 1 if there is one

A controller's name stands in controllers.def and nowhere else: what follows from it is a trait there.
What a library offers fails with a type of its own, which a caller can tell apart, not with a text.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "controllers/include/controllers.def"

# Who names controllers, and what for. One that no longer does is a finding too.
NAMES_ALLOWED = {
    "crates/advise/src/candidate.rs": "a machine's usual default",
    "crates/advise/src/case.rs": "the usual neighbours",
    "crates/advise/src/machine.rs": "Debian's modules",
    "crates/advise/src/measured/limit.rs": "names elsewhere",
    "crates/cli/src/transfer/mod.rs": "what `tandem send` takes by default",
    "crates/evaluate/src/suite.rs": "the neighbours of all",
    "crates/model/src/law.rs": "whose law it is",
    "crates/model/src/steady/mod.rs": "whose law it is",
    "crates/scenario/src/traffic.rs": "the QUIC stack's own, which have the same names",
    "crates/search/src/posed.rs": "the usual baseline, and where any controller will do",
    "crates/search/src/question.rs": "where any controller will do",
    "experiments/src/cases/file.rs": "BBR's cases",
    "experiments/src/cases/run.rs": "BBR's cases",
    "kernel/src/restore.rs": "the kernel's own, to which a machine goes back",
}

# Programs, whose callers are people and other languages.
PROGRAMS = ("crates/cli/", "python/", "web/")
TEXTS_AS_ERRORS = re.compile(r"\bpub fn \w+[^;{]*->[^;{]*\bResult<[^;{]*, String>|type Err = String;")


def code(text: str) -> list[str]:
    """Its lines, those of comments and tests empty."""
    left, end = [], None
    for line in text.splitlines():
        if end is None and (test := re.match(r"( *)#\[cfg\(test\)\]", line)):
            end = test[1]
        is_kept = end is None and not line.lstrip().startswith("//")
        left.append(line if is_kept else "")
        if end is not None and re.fullmatch(rf"{end}(}}|\w.*[;,])", line):
            end = None
        # Clippy wants a module of tests to be the last.
        if end is not None and re.match(r"(pub(\(crate\))? )?mod \w+ {", line):
            break
    return left


def modules_of_tests(path: Path) -> Iterator[Path]:
    """The files and folders of `#[cfg(test)] mod NAME;`."""
    folder = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
    for name in re.findall(r"#\[cfg\(test\)\]\s*(?:pub(?:\(\w+\))? )?mod (\w+);", path.read_text(encoding="utf-8")):
        yield from (folder / f"{name}.rs", folder / name)


def sources() -> list[Path]:
    parts = (part for where in ("crates/*/src", "controllers/src", "experiments/src", "kernel/src", "python/src", "web/src") for part in ROOT.glob(where))
    found = sorted(path for part in parts for path in part.rglob("*.rs"))
    tests = {module for path in found for module in modules_of_tests(path)}
    return [path for path in found if not tests & {path, *path.parents}]


def named(sources: dict[str, list[str]]) -> Iterator[str]:
    names = re.findall(r"^TANDEM_CONTROLLER\((\w+),", LIST.read_text(encoding="utf-8"), re.M)
    name = re.compile(rf'"((?:kernel:|noq:)?(?:{"|".join(names)})(?:[@:][^"]*)?)"')
    unused = set(NAMES_ALLOWED)
    for path, lines in sources.items():
        for number, line in enumerate(lines, 1):
            for found in name.findall(line):
                unused.discard(path)
                if path not in NAMES_ALLOWED:
                    yield f"{path}:{number}: `{found}` is a controller's name: ask the list for a trait (controllers.def)"
    yield from (f"scripts/lint/rust.py: {path} names no controller any more" for path in sorted(unused))


def untyped(sources: dict[str, list[str]]) -> Iterator[str]:
    for path, lines in sources.items():
        text = "\n".join(lines)
        for found in TEXTS_AS_ERRORS.finditer(text) if not path.startswith(PROGRAMS) else ():
            number = text[: found.start()].count("\n") + 1
            yield f"{path}:{number}: the error is a text: make it a type (thiserror), or the function no part of the library"


def main() -> int:
    read = {path.relative_to(ROOT).as_posix(): code(path.read_text(encoding="utf-8")) for path in sources()}
    found = [*named(read), *untyped(read)]
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
