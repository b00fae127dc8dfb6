"""The glossary page holds what the one list of terms and the lessons say."""

from __future__ import annotations

import csv
import runpy

from lessons import LESSONS, ROOT

PAGE = ROOT / "docs" / "glossary.md"
TERMS = ROOT / "viz" / "words" / "glossary.csv"


def test_the_page_is_as_made() -> None:
    """`python docs/glossary.py` writes it."""
    assert PAGE.read_text("utf-8") == runpy.run_path(str(ROOT / "docs" / "glossary.py"))["page"]()


def test_each_term_is_there_and_many_have_their_lesson() -> None:
    text = PAGE.read_text("utf-8")
    with TERMS.open(encoding="utf-8") as file:
        terms = list(csv.DictReader(file))
    assert len({line["en"] for line in terms}) == len(terms)
    assert all(f"| {line['en']} | {line['zh']} |" in text for line in terms)
    for path in LESSONS:
        assert f"](../notebooks/{path.name})" in text, "none of its new terms is in the list"
