"""The glossary page `docs/glossary.md`: each term in both languages, and its lesson.

.venv/bin/python docs/glossary.py writes it, from the one list of terms,
`viz/words/glossary.csv`, and from the new terms that the lessons name at their ends.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "glossary.md"
TERMS = ROOT / "viz" / "words" / "glossary.csv"
HEAD = """# Glossary · 术语表

Every term of the course, in English and in Chinese, and the lesson that lists it among its new
terms.

课程里的每个术语，英文和中文对照，以及把它列为新术语的那一课。

| English | 中文 | lesson · 课 |
|---|---|---|
"""


def explained_in() -> dict[str, str]:
    """For each new term of the lessons the first lesson that has it, as a link."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        last = "".join(json.loads(path.read_text("utf-8"))["cells"][-1]["source"])
        told = re.search(r"\*\*New terms:\*\* (.*)", last)
        for term in told[1].split(", ") if told else ():
            found.setdefault(term.lower(), f"[L{path.name[:2]}](../notebooks/{path.name})")
    return found


def rows() -> list[tuple[str, str, str]]:
    """Each term in English and in Chinese, and the link to its lesson, if there is one."""
    lessons = explained_in()
    with TERMS.open(encoding="utf-8") as file:
        terms = sorted(csv.DictReader(file), key=lambda line: line["en"].lower())
    found = []
    for line in terms:
        names = [re.sub(r" \(.*\)", "", name).lower() for name in line["en"].split(" / ")]
        link = next((lessons[name] for name in names if name in lessons), "")
        found.append((line["en"], line["zh"], link))
    return found


def page() -> str:
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
