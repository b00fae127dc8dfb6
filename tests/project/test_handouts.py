"""Sheets to print: what is on them, in one language each, and that nothing is cut."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lessons import LESSONS, ROOT

pytest.importorskip("reportlab", reason="the extra handouts makes the sheets")
pypdf = pytest.importorskip("pypdf", reason="it reads them back")
sys.path.insert(0, str(ROOT / "docs"))

import handouts  # noqa: E402

LANGUAGES = ("en", "zh")
A4 = (595, 842)
CHINESE = r"[\u4e00-\u9fff]"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("handouts")
    for language in LANGUAGES:
        handouts.main(folder, language, "L04", "L12", "glossary")
    return folder


def words(text: str) -> str:
    """A text without spaces and line ends, which a page sets anew."""
    return re.sub(r"\s+", "", text)


@cache
def texts(path: Path) -> list[str]:
    """What is on each page of a sheet."""
    return [page.extract_text() for page in pypdf.PdfReader(path).pages]


def on_paper(path: Path) -> str:
    return words("".join(texts(path)))


lesson = cache(handouts.lesson)


@pytest.mark.parametrize("name", ["L04", "L12"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sheet_holds_its_lesson_in_one_language(made: Path, name: str, language: str) -> None:
    text = on_paper(made / f"{name}_{language}.pdf")
    path = next(path for path in LESSONS if path.name.startswith(name[1:]))
    about = lesson(path, language)
    assert words(about.title) in text
    assert words(about.heading) in text
    for pair in about.terms:
        assert words(pair[LANGUAGES.index(language)]) in text
    code = [block for kind, block in about.exercise if kind == "code"]
    assert code
    assert all(words(block) in text for block in code)
    prose = [block for kind, block in about.exercise if kind == "text" and "`" not in block]
    assert all(words(re.sub(r"\*+|^\d\. |^### ", "", block)) in text for block in prose)
    assert "###" not in text
    assert bool(re.search(CHINESE, text)) == (language == "zh")


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.name)
@pytest.mark.parametrize("language", LANGUAGES)
def test_an_exercise_shows_gaps_and_no_answer(path: Path, language: str) -> None:
    about = lesson(path, language)
    told = "\n".join(block for _, block in about.exercise)
    assert "..." in told
    assert not re.search(r"our_|BEGIN|HIDDEN|<details>|<div", told)
    for (_, block), (kind, after) in pairwise(about.exercise):
        if block.endswith((":", "：")):
            assert kind == "code" or after.startswith(("- ", "1. ", "```")), block
    assert about.promise
    assert about.recap[-1].startswith(("**Sources", "**来源"))


def test_every_page_is_a4_and_has_something_on_it(made: Path) -> None:
    for path in made.glob("*.pdf"):
        for page in pypdf.PdfReader(path).pages:
            assert [round(float(x)) for x in page.mediabox[2:]] == list(A4)
        assert all(len(words(text)) > 10 for text in texts(path))


def test_an_exercise_that_fits_on_a_page_is_not_torn(made: Path) -> None:
    """Or the next page would have two lines of it, and nothing else but room to write."""
    path = next(path for path in LESSONS if path.name.startswith("04"))
    for language in LANGUAGES:
        about = lesson(path, language)
        told = [words(text) for text in texts(made / f"L04_{language}.pdf")]
        parts = (about.heading, about.exercise[-1][1], handouts.WORDS[language]["room"])
        assert len({next(i for i, t in enumerate(told) if words(p) in t) for p in parts}) == 1


def test_a_sheet_says_who_wrote_it_and_its_picture_is_of_lines_and_letters(made: Path) -> None:
    for path in made.glob("L*.pdf"):
        reader = pypdf.PdfReader(path)
        assert reader.metadata.author == handouts.AUTHORS != ""
        assert reader.trailer["/Root"]["/Lang"] == path.stem[-2:]
        assert [list(page.images) for page in reader.pages] == [[]] * len(reader.pages)
        assert "Mul" in texts(path)[0], "on the card of the operator"


def marks(page: pypdf.PageObject) -> set[int | str | None]:
    """The numbers of the marked pieces of a page, "artifact", and None if a thing has no mark."""
    found: set[int | str | None] = set()
    inside: list[int | str] = []
    for operands, operator in pypdf.generic.ContentStream(page["/Contents"], page.pdf).operations:
        if operator in (b"BMC", b"BDC"):
            inside.append(operands[1]["/MCID"] if operator == b"BDC" else "artifact")
            found.add(inside[-1])
        elif operator == b"EMC":
            inside.pop()
        elif operator in b"Tj TJ ' S s f F f* B B* b b* sh Do EI".split():
            (mark,) = inside or [None]  # none lies in another
            found.add(mark)
    assert not inside
    return found


def leaves(element: Any) -> Iterator[tuple[Any, Any, int]]:
    """The pieces below an element: whose each is, on which page, and its number there."""
    for kid in (kid.get_object() for kid in element["/K"]):
        if "/MCID" in kid:
            yield element, kid["/Pg"], kid["/MCID"]
        else:
            assert kid.raw_get("/P") == element.indirect_reference
            yield from leaves(kid)


def test_a_pdf_says_what_each_piece_is_and_in_which_order_to_read_it(made: Path) -> None:
    kinds = {}
    for path in made.glob("*.pdf"):
        reader = pypdf.PdfReader(path)
        root = reader.trailer["/Root"]
        assert reader.pdf_header > "%PDF-1.4", "which has no tags"
        assert root["/MarkInfo"]["/Marked"]
        assert root["/ViewerPreferences"]["/DisplayDocTitle"]
        found = list(leaves(root["/StructTreeRoot"]))
        read = [(reader.get_page_number(page), mark) for _, page, mark in found]
        above = iter(root["/StructTreeRoot"]["/ParentTree"]["/Nums"])
        above = {key: kept.get_object() for key, kept in zip(above, above, strict=True)}
        for page in reader.pages:
            there = [element for element, page_, _ in found if page_ == page]
            assert above[page["/StructParents"]] == [part.indirect_reference for part in there]
            assert marks(page) == {"artifact", *range(len(there))}, "all is marked"
        assert read == sorted(read), "down each page"
        kinds[path.stem] = [element["/S"] for element, _, _ in found]
        for alt in (element["/Alt"] for element, _, _ in found if element["/S"] == "/Figure"):
            assert bool(re.search(CHINESE, alt)) == path.stem.endswith("zh")
    rows = len(handouts.glossary.rows())
    for language in LANGUAGES:
        assert kinds[f"L04_{language}"][:4] == ["/H1", "/P", "/Figure", "/H2"]
        assert {"/LBody", "/Code", "/H3"} <= set(kinds[f"L12_{language}"])
        assert kinds[f"glossary_{language}"] == ["/H1", *["/TH"] * 3, *["/TD"] * 3 * rows]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.name)
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_wider_than_the_page(path: Path, language: str) -> None:
    """Paragraphs are broken into lines; code is set as it is typed."""
    handouts.letters()
    told = lesson(path, language).exercise
    flowed = [
        part for kind, text in told if kind == "text" for part in handouts.flow(text, language)
    ]
    flowed += [handouts.lines_of_code(text) for kind, text in told if kind == "code"]
    assert flowed
    typed = [text for kind, text in told if kind == "code" or text.startswith("```")]
    for line in "\n".join(typed).splitlines():
        assert handouts.pdfmetrics.stringWidth(line, handouts.CODE, 8.5) < handouts.WIDTH - 12
    for part in flowed:
        assert part.wrapOn(None, handouts.WIDTH, 2000)[0] <= handouts.WIDTH + 0.1


def test_no_line_begins_with_a_mark_that_must_not_stand_there(made: Path) -> None:
    for path in made.glob("L*_zh.pdf"):
        for text in texts(path):
            lines = text.splitlines()
            assert not [line for line in lines if line.lstrip()[:1] in tuple("，。、；：？！")]


def test_the_glossary_has_every_term_and_its_lesson(made: Path) -> None:
    rows = handouts.glossary.rows()
    for language in LANGUAGES:
        text = on_paper(made / f"glossary_{language}.pdf")
        assert text.startswith(words(handouts.WORDS[language]["glossary"]))
        assert len(rows) > 150
        assert not [en for en, zh, _ in rows if words(en) not in text or words(zh) not in text]
    assert "L12" in text


def test_a_letter_without_a_glyph_is_refused() -> None:
    handouts.letters()
    with pytest.raises(ValueError, match="no 'ก'"):
        handouts.markup("a ก b")
