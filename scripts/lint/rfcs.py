#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Which rules of the RFCs are kept, where, and which test holds them.

  scripts/lint/rfcs.py            writes docs/reference/which-tcp.md
  scripts/lint/rfcs.py --check    fails if the list, the tags and the page do not agree

The list is docs/reference/which-tcp.toml: what each section asks. A comment where a rule is kept has its tag, for instance [RFC 8985 7.4.2] or
[draft-cheng-iccrg-delivery-rate-estimation 3.3], and so has the test that holds it. A tag above an item stands for it, one inside a
function for the function. In a golden trace (controllers/vectors) any comment may have one.
"""

import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = "docs/reference/which-tcp.toml"
PAGE = "docs/reference/which-tcp.md"
PLACES = ["controllers", "crates"]
SUFFIXES = {".rs", ".h", ".c", ".trace"}

TAG = re.compile(r"\[((?:RFC \d+|draft-[a-z0-9-]+) (?:[A-Z]|\d+)(?:\.\d+)*)\]")
# What was meant for one; `[RFC 9000](https://...)` and `[RFC 9000]: https://...` are links.
NEARLY = re.compile(r"\[(?:RFC[ 0-9]|draft-)[^\]]*(?:\](?![(:])|$)")
COMMENT = re.compile(r"//|/\*|^\s*\*|#")
RUST_FN = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:const )?(?:unsafe )?fn (\w+)")
RUST_ITEM = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:(?:const|static|struct|enum|type|trait|mod) )?(\w+)")
C_ITEM = re.compile(r"(?:#define|struct|enum) (\w+)|(\w+)\(")


@dataclass(frozen=True)
class Tag:
    section: str
    path: str
    line: int
    item: str
    is_test: bool
    # A test file's tag that no test runs for.
    is_idle: bool = False


class Complaints:
    def __init__(self):
        self.count = 0

    def add(self, where, what):
        print(f"{where}: {what}", file=sys.stderr)
        self.count += 1


def files():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PLACES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return sorted(path for path in listed if Path(path).suffix in SUFFIXES and (ROOT / path).exists())


def rust_item(lines, at):
    """The item that the comment in line `at` belongs to, and the line of its name."""
    if lines[at].lstrip().startswith("//!"):
        return "", at
    if lines[at].lstrip().startswith("///"):
        for below in range(at + 1, len(lines)):
            text = lines[below].strip()
            if text and not text.startswith(("//", "#[")):
                found = RUST_FN.match(lines[below]) or RUST_ITEM.match(lines[below])
                return (found[1] if found else ""), below
    for above in range(at, -1, -1):
        if found := RUST_FN.match(lines[above]):
            return found[1], above
    return "", at


def is_run(lines, name_at):
    """Is the function a test, and not one that waits to be asked for?"""
    attributes = []
    for above in range(name_at - 1, -1, -1):
        text = lines[above].strip()
        if not text.startswith(("//", "#[")):
            break
        attributes.append(text)
    return "#[test]" in attributes and not any(text.startswith("#[ignore") for text in attributes)


def c_item(lines, at):
    """Likewise: a comment at the left edge stands above its item, others in a function."""
    first = at
    while first > 0 and "/*" not in lines[first]:
        first -= 1
    if lines[first].startswith("/*"):
        below = at
        while below < len(lines) and "*/" not in lines[below]:
            below += 1
        for text in lines[below + 1 :]:
            if text.strip():
                found = C_ITEM.search(text)
                item = (found[1] or found[2]) if found else ""
                # The guard of a header: the tag stands for the file.
                return "" if text.startswith("#ifndef") else item
    for above in range(first, -1, -1):
        if lines[above].startswith("TANDEM_FN"):
            return C_ITEM.search(lines[above].removeprefix("TANDEM_FN struct "))[2]
    return ""


def tags_of(path, complaints):
    lines = (ROOT / path).read_text().splitlines()
    parts = Path(path).parts
    in_tests = "tests" in parts or "vectors" in parts or parts[-1] == "tests.rs"
    tests_from = len(lines)
    if path.endswith(".rs"):
        tests_from = next((i for i, text in enumerate(lines) if text.startswith("mod tests {")), tests_from)
    tags = []
    for at, text in enumerate(lines):
        where = f"{path}:{at + 1}"
        comment = COMMENT.search(text)
        if not comment or "[" not in text:
            continue
        said = text[comment.start() :]
        for nearly in NEARLY.finditer(said):
            if not TAG.fullmatch(nearly[0]):
                complaints.add(where, f"{nearly[0]} is no tag: write it in one line, as [RFC 8985 7.4.2] or [draft-NAME 4.3.1]")
        for found in TAG.finditer(said):
            is_test = in_tests or at > tests_from
            item, is_idle = "", False
            if path.endswith(".rs"):
                item, name_at = rust_item(lines, at)
                is_idle = is_test and not is_run(lines, name_at)
            elif not path.endswith(".trace"):
                item = c_item(lines, at)
                is_idle = is_test
            tags.append(Tag(found[1], path, at + 1, item, is_test, is_idle))
    return tags


def read_list(complaints):
    text = (ROOT / LIST).read_text()
    documents = tomllib.loads(text)["document"]
    lines, document = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r'(id|at) = "(.*)"', line):
            if found[1] == "id":
                document = found[2]
                continue
            section = f"{document} {found[2]}"
            if section in lines:
                complaints.add(f"{LIST}:{number}", f"{section} is in line {lines[section]}, too: make one row of the two")
            lines[section] = number
    rows = {}
    for document in documents:
        for row in document["section"]:
            section = f"{document['id']} {row['at']}"
            where = f"{LIST}:{lines[section]}"
            rows[section] = row
            if not TAG.fullmatch(f"[{section}]"):
                complaints.add(where, f"{section} is not what a tag can say: write it as RFC 8985 7.4.2 or draft-NAME 4.3.1")
            if unknown := row.keys() - {"at", "asks", "differs", "left_out"}:
                complaints.add(where, f"{section} has {', '.join(sorted(unknown))}: a row has at, asks, and differs or left_out")
            if "asks" not in row:
                complaints.add(where, f"{section} does not say what it asks: add asks")
            if "differs" in row and "left_out" in row:
                complaints.add(where, f"{section} cannot both differ and be left out: take one away")
    return documents, rows, lines


def check(rows, lines, tags, complaints):
    code, tests = set(), set()
    for tag in tags:
        where = f"{tag.path}:{tag.line}"
        row = rows.get(tag.section)
        if row is None:
            complaints.add(where, f"[{tag.section}] is not in the list: add a row to {LIST}, or mend the number")
        elif "left_out" in row:
            complaints.add(where, f"[{tag.section}] is left out, says {LIST}:{lines[tag.section]}: take the tag or left_out away")
        elif tag.is_idle:
            complaints.add(where, f"[{tag.section}] is at {tag.item or 'a file'}, which is no test that runs: tag the #[test] that holds the rule")
        (tests if tag.is_test else code).add(tag.section)
    for section, row in rows.items():
        where = f"{LIST}:{lines[section]}"
        if "left_out" in row:
            continue
        if section not in code:
            complaints.add(where, f"{section} has no place in the code: put [{section}] into a comment there, or say left_out")
        if section not in tests:
            complaints.add(where, f"{section} has no test: put [{section}] at the test that holds it, write one, or say left_out")


def cell(tags):
    """Links to the files, each under the items that are tagged in it. Without line numbers, which every edit would change."""
    items = {}
    for tag in sorted(tags, key=lambda tag: tag.path):
        items.setdefault((tag.path, f"`{tag.item}`" if tag.item else short(tag.path)))
    return ", ".join(f"[{name}](../../{path})" for path, name in items)


def common_trace(cells):
    """The golden trace that is the only test of three rows or more, to be named once above them."""
    found = Counter(cell for cell in cells if cell.endswith(".trace)") and "`" not in cell)
    trace, count = found.most_common(1)[0] if found else ("", 0)
    return trace if count >= 3 else ""


def short(path):
    return re.sub(r"^(?:crates/)?(\w+)/(?:src/|include/|vectors/)?", r"\1/", path)


def page(documents, tags):
    places = defaultdict(list)
    for tag in tags:
        places[tag.section, tag.is_test].append(tag)
    rows = [row for document in documents for row in document["section"]]
    left_out = sum("left_out" in row for row in rows)
    differs = sum("differs" in row for row in rows)
    text = [
        "# Which TCP this is",
        "",
        "`scripts/lint/rfcs.py` writes this page from [which-tcp.toml](which-tcp.toml) and the tags in comments, such as `[RFC 8985 7.4.2]`; do not edit.",
        "`scripts/lint.sh` fails if a followed section has no place in the code or no test. `controllers/tests/vectors.rs` replays the",
        "[golden traces](../../controllers/vectors/README.md).",
        "",
        f"Of {len(rows)} sections with a rule, {len(rows) - left_out - differs} are followed as they stand, {differs} in part or in another way. The other",
        f"{left_out} are left out: they have no code, and the last column says why. [Recovery](recovery.md) says the same by subject.",
    ]
    for document in documents:
        text += ["", f"## {document['id']}: {document['title']}", ""]
        tests = [cell(places[f"{document['id']} {row['at']}", True]) for row in document["section"]]
        trace = common_trace(tests)
        notes = [document.get("note"), trace and f"Test of the rows that name none: {trace}."]
        text += [line for note in notes if note for line in (note, "")]
        text += ["| § | asks | code | test | differs |", "|---|---|---|---|---|"]
        for row, test in zip(document["section"], tests, strict=True):
            section = f"{document['id']} {row['at']}"
            how = row.get("left_out", row.get("differs", ""))
            cells = [row["at"], row["asks"], cell(places[section, False]), test if test != trace else "", how]
            text.append("| " + " | ".join(value.replace("|", "\\|") for value in cells) + " |")
    return "\n".join(text) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    complaints = Complaints()
    documents, rows, lines = read_list(complaints)
    tags = [tag for path in files() for tag in tags_of(path, complaints)]
    check(rows, lines, tags, complaints)
    written = page(documents, tags)
    path = ROOT / PAGE
    if sys.argv[1:] == ["--check"]:
        old = path.read_text().splitlines() if path.exists() else []
        new = written.splitlines()
        if old != new:
            line = next((i for i, (a, b) in enumerate(zip(old, new), 1) if a != b), min(len(old), len(new)) + 1)
            complaints.add(f"{PAGE}:{line}", "the page is not up to date: run scripts/lint/rfcs.py and commit it")
        sys.exit(complaints.count > 0)
    path.write_text(written)
    if complaints.count:
        sys.exit(f"{PAGE} is written, but what it says does not hold yet.")


main()
