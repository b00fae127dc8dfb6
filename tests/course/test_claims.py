"""What sources claim: the appendix `docs/claims.md`, and what the lessons measure of it.

In the data of a lesson a claim that it shows has a `relation`, which the measured values bear out;
any other claim has `evidence`, a pattern that the outputs of its cells show. Outputs are those that
are stored: nbval compares them with a run.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from lessons import LESSONS, code_cells, from_toml, number, told_ids

from minigrad_lessons.questions import all_lessons

ROOT = Path(__file__).parents[2]
DATA = from_toml(ROOT / "docs" / "claims.toml")
KNOWN = {entry["id"]: entry for entry in [*DATA["claim"], *DATA["example"]]}

QUESTIONS = ROOT / "minigrad_lessons" / "questions"
BANKS = {path: from_toml(QUESTIONS / f"{number(path)}.toml") for path in LESSONS}


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


def test_each_claim_and_example_is_shown_by_some_lesson() -> None:
    shown = {id for path in LESSONS for id in told_ids(path).split()}
    assert shown == KNOWN.keys()


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_shows_what_is_known(path: Path) -> None:
    assert set(re.findall(r"[CE]\d+", told_ids(path))) <= KNOWN.keys()
    for claim in all_lessons()[number(path)].claims.values():
        assert claim.source == KNOWN[claim.id]["sources"]


CONDITION = (
    r"\b(if|when|once|as long as|only|unless|must)\b",
    r"如果|只要|只有|除非|前提|的时候|一旦|必须",
)
PARTS = ("claimed", "measured", "holds")


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_shows_at_most_three_claims_each_with_what_is_said_measured_and_when(
    path: Path,
) -> None:
    bank = BANKS[path].get("claim", [])
    assert len(bank) <= 3
    for claim in bank:
        for language, said, stop in (("en", "People say", "."), ("zh", "常听人说", "。")):
            claimed, measured, holds = (claim[part][language] for part in PARTS)
            assert all(text.endswith(stop) for text in (claimed, measured, holds))
            assert claimed.startswith(said)
            assert re.search(r"\{\w+\}", measured), f"{claim['name']}: no value"
            condition = CONDITION[language == "zh"]
            assert re.search(condition, holds), f"{claim['name']}: no condition: {holds}"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", ["measured", "holds"])
def test_no_two_claims_of_a_lesson_begin_alike(part: str, language: str) -> None:
    for path, bank in BANKS.items():
        begins = [claim[part][language][:8] for claim in bank.get("claim", [])]
        assert len(begins) == len(set(begins)), f"{path.stem}: {begins}"


# ---- What holds a claim ----------------------------------------------------------------------

EVIDENCE = [(path, seen) for path, bank in BANKS.items() for seen in bank.get("evidence", [])]
RELATIONS = [
    (path, claim)
    for path, bank in BANKS.items()
    for claim in bank.get("claim", [])
    if "relation" in claim
]


def printed(path: Path, id: str) -> str:
    """What the cells that are evidence for a claim printed and showed, as text."""
    cells = [cell for cell in code_cells(path) if id in cell.metadata.get("claims", [])]
    found = [output for cell in cells for output in cell.outputs]
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in found)


def values(claim: dict[str, Any], text: str) -> dict[str, Any]:
    """The values in the sentence of a claim, by the names of their fields."""
    parts = re.split(r"\{(\w+)\}", claim["measured"]["en"])
    pattern, known = "", set()
    for place, part in enumerate(parts):
        if place % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += f"(?P={part})" if part in known else f"(?P<{part}>.+?)"
            known.add(part)
    told = re.search(f" {pattern} ", text)
    assert told, "its sentence is not there"
    numeric = re.compile(r"-?\d+(\.\d+)?")
    return {k: float(v) if numeric.fullmatch(v) else v for k, v in told.groupdict().items()}


@pytest.mark.parametrize(("path", "claim"), RELATIONS, ids=lambda x: getattr(x, "stem", None))
def test_the_measured_values_bear_out_what_is_said_of_a_claim(
    path: Path, claim: dict[str, Any]
) -> None:
    assert eval(claim["relation"], values(claim, printed(path, claim["id"])))


@pytest.mark.parametrize(("path", "seen"), EVIDENCE, ids=lambda x: getattr(x, "stem", None))
def test_what_a_claim_says_is_seen_in_the_outputs_of_its_cells(
    path: Path, seen: dict[str, str]
) -> None:
    assert re.search(seen["shows"], printed(path, seen["claim"]), re.DOTALL)


def test_what_the_lesson_on_measuring_says_of_the_one_on_debugging_was_counted_there() -> None:
    path, claim = next((path, claim) for path, claim in RELATIONS if claim["id"] == "C47")
    counted = values(claim, printed(path, "C47"))
    ratio = f"{counted['dynamic']:.0f} : {counted['static']:.0f}"
    measuring = next(path for path in LESSONS if path.stem == "13_measuring")
    assert f'"{ratio}"' in "\n".join(cell.source for cell in code_cells(measuring))


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_each_claim_of_a_lesson_is_held_by_something(path: Path) -> None:
    bank = BANKS[path]
    held = {seen["claim"] for seen in bank.get("evidence", [])}
    held |= {claim["id"] for at, claim in RELATIONS if at == path}
    assert held == {f"C{int(n):02}" for n in bank["lesson"]["claims"].split()}
