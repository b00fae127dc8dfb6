"""README.md: a newcomer's first screen, in both languages, and pages that lead somewhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import tasks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SCREEN = README.partition("\n## ")[0]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CHINESE = "[\u4e00-\u9fff]"


def test_the_first_screen_is_one_screen() -> None:
    """About 900 px: the picture has 600, so there is room for a dozen lines of text."""
    (picture,) = re.findall(r'<img alt="[^"]+" src="(.+?)">', SCREEN)
    height = re.search(r' height="(\d+)"', (ROOT / picture).read_text("utf-8"))
    assert height
    shown = re.sub(r"(?s)<picture>.+?</picture>|\]\(.+?\)", "", SCREEN)
    lines = [len(re.findall(CHINESE, line)) + len(line) for line in shown.split("\n\n")]
    assert int(height[1]) + 24 * sum(1 + count // 110 for count in lines) <= 900


def test_the_first_screen_leads_to_a_browser_and_the_third_has_a_model_that_moves() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    first, second, *_ = re.findall(r"\]\((.+?)\)", SCREEN)
    assert first == second == project["urls"]["Homepage"]
    before = README.partition("pictures/gpt2_en.svg")[0]
    assert before.count("\n## ") == 2, "who it is for, and how to see your own model"
    for half in README.split("## 中文说明\n"):
        who = re.findall(r"^- \[[^\]]+\]\((https://\S+)\)", half, re.MULTILINE)[:5]
        names = ("micrograd", "minitorch", "tinytorch", "d2l", "pytorch")
        assert [name in url for name, url in zip(names, who, strict=True)] == [True] * 5


@pytest.mark.parametrize("command", ["lab", "test"])
def test_the_first_screen_has_the_two_commands_for_readers_of_either_language(command: str) -> None:
    (said,) = re.findall(rf"^    python tasks.py {command} +# (.+)$", SCREEN, re.MULTILINE)
    english, chinese = said.split(" · ")
    assert not re.search(CHINESE, english)
    assert re.search(CHINESE, chinese)


def test_the_first_screen_says_the_same_in_both_languages() -> None:
    """Every paragraph of one language has its partner: beneath it, or behind a dot."""
    halves = [p for p in SCREEN.split("\n\n")[1:] if p[0] not in "<["]
    english = [p for p in halves if not re.search(CHINESE, p)]
    chinese = [p for p in halves if not re.search("[a-z]{3,} [a-z]{3,}", p)]
    both = [p for p in halves if p not in english + chinese]
    assert len(english) == len(chinese) == 1
    assert english[0].count("**") == chinese[0].count("**") == 4
    assert english[0].count("PyTorch") == chinese[0].count("PyTorch") == 1
    for paragraph in both:
        for line in paragraph.splitlines():
            first, _, second = line.partition(" · ")
            assert not re.search(CHINESE, first)
            assert re.search(CHINESE, second)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_names_commands_and_files_that_are_there(page: Path) -> None:
    text = page.read_text("utf-8")
    named = set(re.findall(r"python tasks\.py ([a-z]+)", text))
    assert named <= {*tasks.COMMANDS, "help"}
    linked = re.findall(r"\]\((?!https?://)([^)#\s]+)", text)
    assert [link for link in linked if not (page.parent / link).exists()] == []


def test_each_test_that_a_claim_rests_on_is_there() -> None:
    """What docs/accessibility.md promises is held, in both languages by the same tests."""
    english, chinese = (ROOT / "docs" / "accessibility.md").read_text("utf-8").split("\n## 中文\n")
    named = re.findall(r"`(tests/\w+/\w+\.py)::(\w+)`", english)
    assert len(set(named)) > 12
    assert named == re.findall(r"`(tests/\w+/\w+\.py)::(\w+)`", chinese)
    for path, name in named:
        assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8"), name
    for half in (english, chinese):  # no line of the table without a test
        rows = [line for line in half.splitlines() if line.startswith("| ")][1:]
        assert all("::test_" in row for row in rows)


def test_every_page_stands_in_the_list_of_pages() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert pages <= set(re.findall(r"\]\(([^)]+)\)", index))


def test_the_table_of_real_models_adds_up_and_each_miss_is_explained() -> None:
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    table, rest = page.split("<!-- made by tests/oracles/models.py -->")[1].split(
        "<!-- end of what it makes -->"
    )
    cells = [
        [c.strip() for c in line.split(" | ")] for line in re.findall(r"(?m)^\| (.+) \|$", table)
    ]
    rows = [row for row in cells[1:] if not row[0].startswith("**")]
    unseen = [row[0] for row in rows if "✗" in row[1] or "✗" in row[-1]]
    far = [row[0] for row in rows if len(row) > 4 and re.search(r"\*\*|none", row[3] + row[4])]
    near = len(rows) - len({*far, *(row[0] for row in rows if "✗" in row[1])})
    told = re.findall(r"\*\*(\d+) [^\d]+?(\d+) [^\d]+?(\d+) ", table)
    assert told == [tuple(map(str, (len(rows), len(rows) - len(unseen), near)))] * 2
    assert len(rows) >= 60
    assert {row[0].strip("*").split()[0] for row in cells if row[0].startswith("**")} == {
        *("torch", "torchvision", "timm", "transformers", "flax", "equinox"),
        "segmentation_models_pytorch",
    }
    for name in {*unseen, *far}:
        assert rest.split("\n## ")[0].count(f"`{name}`") == 2, f"why {name} is missed, twice"
