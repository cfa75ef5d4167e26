#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The table of docs/search-finds.md: what scripts/search-night.py found, what scripts/search-causes.py says why, and scripts/search-replay.py of real TCP.

    scripts/search-page.py            writes it
    scripts/search-page.py --check    fails if it is not what is kept
"""

import sys
from collections import Counter

from searching import CHANGES, NOTHING, ROOT, kept

KEPT = ROOT / "experiments/search"
PAGE = ROOT / "docs/search-finds.md"
BEGIN = "<!-- written by scripts/search-page.py: do not edit until the end mark -->\n"
END = "<!-- end of what scripts/search-page.py writes -->\n"


def vanishes(answers: dict[str, str]) -> list[str]:
    """With which changes a find is none. It must be one without: it is judged with more seeds than it was found with."""
    return [change for change, answer in answers.items() if answer == "passes" and answers[NOTHING] == "fails"]


def cell(question: tuple[str, str], night: dict, causes: dict, real: dict) -> str:
    answer = night.get(question)
    if answer is None:
        return ""
    if not answer["finds"]:
        return "–"
    worst = f"{100 * answer['finds'][0]['violation']:.0f}"
    if real.get(question, {}).get("agreement") == "agrees":
        worst = f"**{worst}**"
    none_with = vanishes(causes.get(question, {"answers": {}})["answers"])
    marks = "".join(change.mark for name, change in CHANGES.items() if name in none_with)
    return f"{worst} {marks}".strip()


def table() -> str:
    night, causes, real = (kept(KEPT / f"{name}.jsonl") for name in ("night", "causes", "real-tcp"))
    controllers = list(dict.fromkeys(controller for controller, _ in night))
    measures = list(dict.fromkeys(where for _, where in night))
    heads = ["<br>".join(where.split()) for where in measures]
    lines = ["| | " + " | ".join(heads) + " |", "|---" + "|---:" * len(measures) + "|"]
    for controller in controllers:
        cells = [cell((controller, where), night, causes, real) for where in measures]
        lines.append(f"| `{controller}` | " + " | ".join(cells) + " |")
    finds = sum(len(answer["finds"]) for answer in night.values())
    changed = Counter(change for answer in causes.values() for change in vanishes(answer["answers"]))
    tried = Counter(change for answer in causes.values() for change in answer["answers"])
    agreed = Counter(answer["agreement"] for answer in real.values())
    measured = agreed["agrees"] + agreed["differs"]
    marked = [(name, change.mark) for name, change in CHANGES.items() if change.mark]
    words = [
        f"The worst of {finds} finds in {len(night)} questions, a violation in percent:",
        "",
        *(f"- {mark}: none with {name}, {changed[name]} of {tried[name]} tried" for name, mark in marked),
        f"- bold: also over real TCP, {agreed['agrees']} of {measured}; {agreed['open']} more are undecided, {agreed['not_measured']} doubted",
        "",
    ]
    return "\n".join(words + lines) + "\n"


def main() -> int:
    text = PAGE.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    written = text[:begin] + "\n" + table() + "\n" + text[end:]
    if "--check" in sys.argv:
        if text != written:
            print(f"{PAGE.relative_to(ROOT)}: its table is not what is kept: scripts/search-page.py writes it", file=sys.stderr)
        return text != written
    PAGE.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
