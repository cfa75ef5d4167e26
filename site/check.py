#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checks the links of a built site: check.py FOLDER. Each leads to a file and an anchor of the site, and nothing is loaded from elsewhere."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements whose address a browser loads by itself.
LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("link", "href"), ("source", "src")}
# The page of the simulator finds its parts with its own code, and has its own tests.
APART = "page"


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str, str]] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            if value and name in ("href", "src"):
                self.links.append((tag, name, value))


def check(folder: Path) -> list[str]:
    files = [file for file in folder.rglob("*.html") if file.relative_to(folder).parts[0] != APART]
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in files}
    wrong = []
    for file, page in pages.items():
        for tag, name, link in page.links:
            parts = urlsplit(link)
            where = f"{file.relative_to(folder)}: {link}"
            if parts.scheme or parts.netloc:
                if (tag, name) in LOADED and parts.scheme != "data":
                    wrong.append(f"{where} is loaded from elsewhere")
                continue
            path = (folder / parts.path.lstrip("/")) if parts.path.startswith("/") else file.parent / unquote(parts.path)
            place = file if not parts.path else path.resolve()
            place = place / "index.html" if place.is_dir() else place
            if not place.exists():
                wrong.append(f"{where} leads nowhere")
            elif parts.fragment and place in pages and unquote(parts.fragment) not in pages[place].anchors:
                wrong.append(f"{where} has no such anchor")
    return wrong


if __name__ == "__main__":
    problems = check(Path(sys.argv[1]).resolve())
    print("\n".join(sorted(set(problems))), file=sys.stderr)
    sys.exit(bool(problems))
