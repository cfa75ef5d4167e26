#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lays the repository's documents out as the source of a book: assemble.py FOLDER [TANDEM].

Every document keeps its path, so that its links hold. The contents are those of docs/README.md, by task; a document that it does not name
comes last. Other files that documents link to come along. With the program TANDEM the reports on the controllers get their pictures, which the
repository does not keep.
"""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath
from posixpath import normpath

ROOT = Path(__file__).resolve().parents[1]
MAP = PurePosixPath("docs/README.md")
START = PurePosixPath("README.md")
# Parts of documents that programs put together.
PARTS = ("tools/validate/src/", "experiments/src/", "site/", ".github/")
# Reports in Markdown that are data in the repository, and pages here.
REPORTS = PurePosixPath("experiments/validation/criteria")
# Documents with pages of their own, which stand under them in the contents.
FOLDERS = {"docs/reproduction.md": "docs/reproduction", "docs/controllers/README.md": "docs/controllers", "docs/criteria.md": str(REPORTS)}

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
SECTION = re.compile(r"^\*\*(.+)\*\*$|^## (.+)$")


def tracked() -> set[PurePosixPath]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return {PurePosixPath(name) for name in names if (ROOT / name).is_file()}


def target(page: PurePosixPath, link: str) -> PurePosixPath | None:
    """The file that a link of a page means; None if it leads out of the repository or stays on the page."""
    path = link.split("#")[0]
    if not path or re.match(r"[a-z]+:", path):
        return None
    return PurePosixPath(normpath(str(page.parent / path)))


def in_book(page: PurePosixPath) -> PurePosixPath:
    """Where a document is in the book: a folder's README is its index."""
    return page.with_name("index.md") if page.name == "README.md" else page.with_suffix(".md")


def title(page: PurePosixPath) -> str:
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line[2:]).replace("[", "").replace("]", "")
    return page.stem


def contents(pages: set[PurePosixPath]) -> list[str]:
    """SUMMARY.md: the sections of the map, each with the documents that it is the first to name."""
    lines = ["# Contents", "", f"[Tandem]({in_book(START)})", f"[The documents]({in_book(MAP)})", "[Try it in your browser](try.md)"]
    left = pages - {START, MAP}

    def entry(page: PurePosixPath, name: str) -> None:
        left.discard(page)
        lines.append(f"- [{name}]({in_book(page)})")
        folder = FOLDERS.get(str(page))
        for child in sorted(p for p in left if folder and str(p.parent) == folder):
            left.discard(child)
            lines.append(f"  - [{title(child)}]({in_book(child)})")

    for line in (ROOT / MAP).read_text(encoding="utf-8").splitlines():
        if section := SECTION.match(line):
            lines += ["", f"# {section[1] or section[2]}", ""]
        elif line.startswith(("- ", "| [")):
            link = LINK.search(line)
            page = target(MAP, link[3]) if link else None
            if page in left:
                name = link[2].strip("`")
                entry(page, name[0].upper() + name[1:] if page.parts[0] == "docs" else name)
    lines += ["", "# More", ""]
    for page in sorted(left):
        if page in left:
            entry(page, title(page))
    return lines


def block(text: str) -> str:
    """A block of code. One of mathematics becomes an element of its own, which site.js sets: highlighters do not know it."""
    if not text.startswith("```math"):
        return text
    lines = text.splitlines()[1:-1]
    return f'<div class="math">{html.escape(chr(10).join(lines), quote=False)}</div>'


def draw_reports(tandem: str, folder: Path) -> dict[PurePosixPath, str]:
    """The reports, with a picture for each criterion of which the data has the figures; their files are in a folder beside each report."""
    texts = {}
    place = folder / REPORTS
    place.mkdir(parents=True, exist_ok=True)
    for assessment in json.loads((ROOT / REPORTS).with_suffix(".json").read_text(encoding="utf-8")):
        report = place / f"{assessment['contender']}.md"
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as kept:
            json.dump(assessment, kept)
            kept.flush()
            subprocess.run([tandem, "evaluate", "--from", kept.name, "--markdown", report], stdout=subprocess.DEVNULL, check=True)
        texts[REPORTS / f"{report.stem}.txt"] = report.read_text(encoding="utf-8")
    return texts


class Book:
    """The source of the book, in a folder."""

    def __init__(self, folder: Path, tandem: str | None) -> None:
        self.folder = folder
        self.tandem = tandem
        self.drawn: dict[PurePosixPath, str] = {}
        self.files = tracked()
        self.folders = {parent for file in self.files for parent in file.parents}
        reports = {f for f in self.files if f.parent == REPORTS}
        self.pages = {f for f in self.files if f.suffix == ".md" and not str(f).startswith(PARTS)} | reports

    def link(self, page: PurePosixPath, found: re.Match) -> str:
        """The link as the book has it. A folder without a README has no page: its name stays."""
        file = target(page, found[3])
        if file is None or (page in self.drawn and file.suffix == ".svg"):
            return found[0]
        readme = file / "README.md"
        document = file if file in self.pages else readme if readme in self.pages else None
        if document:
            up = "../" * len(page.parent.parts)
            anchor = found[3].partition("#")[1:]
            return f"{found[1]}[{found[2]}]({up}{in_book(document)}{''.join(anchor)})"
        if file in self.files:
            self.bring(file)
            return found[0]
        if file in self.folders:
            return found[2]
        sys.exit(f"{page}: there is no {file}")

    def bring(self, file: PurePosixPath) -> None:
        place = self.folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, place)

    def page(self, page: PurePosixPath) -> None:
        source = self.drawn.get(page) or (ROOT / page).read_text(encoding="utf-8")
        blocks = re.split(r"(^```.*?^```$)", source, flags=re.MULTILINE | re.DOTALL)
        text = "".join(block(b) if b.startswith("```") else LINK.sub(lambda found: self.link(page, found), b) for b in blocks)
        place = self.folder / in_book(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def write(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if self.tandem:
            self.drawn = draw_reports(self.tandem, self.folder)
        for page in self.pages:
            self.page(page)
        shutil.copyfile(Path(__file__).with_name("try.md"), self.folder / "try.md")
        (self.folder / "SUMMARY.md").write_text("\n".join(contents(self.pages)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    Book(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None).write()
