"""The teachers' pages: one a lesson and language, both say the same, and all they name exists."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from lessons import LESSONS, ROOT, read

import tasks
from minigrad_lessons.questions import all_lessons

PAGES = ROOT / "docs" / "teaching"
INDEX = PAGES / "index.md"
LANGUAGES = ("en", "zh")
SECTIONS = {
    "en": "The one idea|What to ask|Where learners stumble|45 minutes|90 minutes|For an exam"
    "|What to skip",
    "zh": "核心|问什么|在哪里卡住|45 分钟|90 分钟|考试用题|可以略过",
}
OPENING = {"en": "Opening", "zh": "开场"}
PART = {"en": r"\b[Pp]arts? (\d+)(?: and (\d+))?", "zh": r"第 (\d+) 节"}
ROW = re.compile(r"^\| (\d+)–(\d+) \| (.+?) \| .+ \|$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
WORDS = 1100  # a page to read in the break before the lesson


def name(path: Path) -> str:
    return f"L{path.name[:2]}"


def sections(text: str) -> dict[str, str]:
    """What stands under each heading of level two, by the heading."""
    _, *rest = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(rest[::2], rest[1::2], strict=True))


def page(lesson: str, language: str) -> str:
    return (PAGES / language / f"{lesson}.md").read_text("utf-8")


@cache
def headings(path: Path, language: str) -> list[str]:
    """The headings of a lesson in one language; the first is its title."""
    prose = "\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")
    halves = re.findall(rf'<div lang="{language}">(.*?)^</div>', prose, re.DOTALL | re.M)
    return re.findall(r"^#+ (.+)$", "\n".join(halves), re.MULTILINE)


def named(lesson: str) -> set[str]:
    """The questions and exercises of a lesson."""
    bank = all_lessons()[lesson]
    return {*bank.questions, *bank.checks}


@pytest.mark.parametrize("path", LESSONS, ids=name)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_has_its_parts_and_is_short(path: Path, language: str) -> None:
    text = page(name(path), language)
    assert list(sections(text)) == SECTIONS[language].split("|")
    assert text.startswith(f"# {headings(path, language)[0]}")
    assert len(re.findall(r"[\u4e00-\u9fff]{2}|[A-Za-z]+", text)) < WORDS
    assert not re.search(r"\b[CES]\d\d?\b", text), "an id that readers do not know"
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (PAGES / language / target).exists(), target


@pytest.mark.parametrize("path", LESSONS, ids=name)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("minutes", [45, 90])
def test_a_plan_fills_its_time_with_parts_of_the_lesson(
    path: Path, language: str, minutes: int
) -> None:
    unit = {"en": "minutes", "zh": "分钟"}[language]
    rows = ROW.findall(sections(page(name(path), language))[f"{minutes} {unit}"])
    begins, ends = zip(*((int(a), int(b)) for a, b, _ in rows), strict=True)
    assert (begins[0], ends[-1]) == (0, minutes)
    assert begins[1:] == ends[:-1]
    assert all(begin < end for begin, end in zip(begins, ends, strict=True))
    known = [OPENING[language], *headings(path, language)]
    assert [part for *_, part in rows if part not in known] == []


@pytest.mark.parametrize("path", LESSONS, ids=name)
def test_both_languages_name_the_same_and_it_exists(path: Path) -> None:
    lesson = name(path)
    texts = {language: page(lesson, language) for language in LANGUAGES}
    ids = set(re.findall(r"`(L\d\d\.\w+(?:\.\w+)*)`", texts["en"]))
    assert ids, "a question to ask and an exercise for an exam"
    assert ids <= named(lesson)
    numbers = [h.split(".")[0] for h in headings(path, "en")]
    for language, text in texts.items():
        found = {n for match in re.finditer(PART[language], text) for n in match.groups() if n}
        assert found <= {*numbers}
    english, chinese = ([*sections(texts[k]).values()] for k in LANGUAGES)
    for here, there in zip(english, chinese, strict=True):
        assert Counter(CODE.findall(here)) == Counter(CODE.findall(there))
        assert digits(here) == digits(there)
        assert plan(path, "en", here) == plan(path, "zh", there)


def digits(text: str) -> Counter[str]:
    """The numbers in the prose."""
    return Counter(re.findall(r"\d+(?:\.\d+)?", ROW.sub("", CODE.sub("", text))))


def plan(path: Path, language: str, text: str) -> list[tuple[str, str, int]]:
    """The rows of a plan, each part as the number of its heading, 0 for the opening."""
    known = [OPENING[language], *headings(path, language)]
    return [(begin, end, known.index(part)) for begin, end, part in ROW.findall(text)]


def test_the_index_lists_every_lesson_in_both_languages() -> None:
    text = INDEX.read_text("utf-8")
    for path in LESSONS:
        for language in LANGUAGES:
            title = headings(path, language)[0]
            assert f"- [{title}]({language}/{name(path)}.md)\n" in text
    for command in re.findall(r"`python tasks\.py (\w+)", text):
        assert f'    "{command}": ' in (ROOT / "tasks.py").read_text("utf-8")


@pytest.mark.parametrize("arguments", [[], ["--language"], ["out", "--language", "fr"], ["a", "b"]])
def test_the_command_for_handouts_says_what_it_wants(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tasks.main(["handouts", *arguments]) == 1
    assert "tasks.py handouts OUT [--language en|zh]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "languages"), [([], ["en", "zh"]), (["--language", "zh"], ["zh"])]
)
def test_the_command_installs_what_handouts_need_and_writes_them(
    arguments: list[str], languages: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepared, ran = [], []
    monkeypatch.setattr(tasks, "prepare", prepared.append)
    monkeypatch.setattr(tasks, "run", lambda *line: ran.append(line) or 0)
    assert tasks.main(["handouts", str(tmp_path), *arguments]) == 0
    assert prepared == [["handouts"]]
    assert ran == [(str(Path("docs", "handouts.py")), str(tmp_path), code) for code in languages]
