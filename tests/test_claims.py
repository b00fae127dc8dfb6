"""The appendix `docs/claims.md`: made by its script, and true of the lessons."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
from lessons import LESSONS, number, told_ids

from viz.questions import lessons

ROOT = Path(__file__).parents[1]
DATA = tomllib.loads((ROOT / "docs" / "claims.toml").read_text("utf-8"))
KNOWN = {entry["id"]: entry for entry in [*DATA["claim"], *DATA["example"]]}


def test_the_page_is_as_made() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "claims.py"))["page"]()
    assert (ROOT / "docs" / "claims.md").read_text("utf-8") == made


def test_each_claim_and_example_stands_there_once_in_both_languages() -> None:
    assert list(KNOWN) == [*(f"C{n:02}" for n in range(1, 85)), *(f"E{n}" for n in range(1, 19))]
    sources = {note["id"] for note in DATA["source"]}
    for entry in KNOWN.values():
        assert set(entry["sources"].split(", ")) <= sources
        assert not re.search("[\u4e00-\u9fff]", entry["en"])
        assert re.search("[\u4e00-\u9fff]", entry["zh"])


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_shows_what_is_known(path: Path) -> None:
    assert set(re.findall(r"[CE]\d+", told_ids(path))) <= KNOWN.keys()
    for claim in lessons()[number(path)].claims.values():
        assert claim.source == KNOWN[claim.id]["sources"]
