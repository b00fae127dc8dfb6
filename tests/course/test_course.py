"""The course: each lesson shows what it owes, with public names, and alike in each language."""

from __future__ import annotations

import ast
import base64
import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lessons import (
    LESSONS,
    NOTEBOOKS,
    ROOT,
    code_cells,
    from_toml,
    number,
    read,
    run_cell,
    told_ids,
)
from test_exercises import answers

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics import messages
from minigrad_lessons.questions import all_lessons

pytestmark = pytest.mark.usefixtures("english")


class Owes(NamedTuple):
    """What a lesson has to show: claims of the sources, named examples, misconceptions.

    `settled` are those claims that are not simply true: the lesson says when each holds, or,
    where it shows three others, the appendix does.
    """

    can: dict[str, str]
    claims: str
    settled: str
    examples: str = ""
    misconceptions: str = ""
    after: str = ""


DATA = sorted((ROOT / "minigrad_lessons" / "questions").glob("L*.toml"))
CLAIMS = from_toml(ROOT / "docs" / "claims.toml")["claim"]
IN_APPENDIX = {claim["id"] for claim in CLAIMS if "holds" in claim}
COURSE = {p.stem: Owes(**from_toml(p)["lesson"]) for p in DATA}


def ids(letter: str, numbers: str) -> set[str]:
    """The ids as lessons write them: C08, E5."""
    width = 2 if letter == "C" else 1
    return {f"{letter}{int(n):0{width}}" for n in numbers.split()}


# ---- What a lesson owes ----------------------------------------------------------------------


def test_the_course_has_no_gap():
    """Each lesson is its notebook and its data, and the numbers run on."""
    assert [number(path) for path in LESSONS] == sorted(COURSE)
    assert sorted(COURSE) == [f"L{i:02}" for i in range(len(COURSE))]


def test_the_tables_in_the_readme_are_those_of_the_lessons():
    """`python docs/lessons.py` writes them."""
    spec = importlib.util.spec_from_file_location("lessons_table", ROOT / "docs" / "lessons.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert table.written(readme) == readme
    worse = readme.replace(COURSE["L01"].can["zh"], "能画图")
    assert worse != readme
    assert table.written(worse) == readme
    for path in LESSONS:
        assert readme.count(f"(notebooks/{path.name})") == 2


def test_a_new_lesson_is_its_notebook_and_its_data(tmp_path):
    """Its rows in the README are written, and the tests find it, without another word."""
    for part in ("minigrad", "minigrad_lessons", "viz", "docs", "notebooks"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "README.md", tmp_path)
    shutil.copytree(ROOT / "tests" / "solutions", tmp_path / "tests" / "solutions")
    (tmp_path / "tests" / "course").mkdir()
    tests = ("test_lessons", "test_course", "test_exercises")
    for name in ("lessons", "covering", "outputs", *(f"course/{name}" for name in tests)):
        shutil.copy(ROOT / "tests" / f"{name}.py", tmp_path / "tests" / f"{name}.py")
    shutil.copy(ROOT / "tests" / "fixtures.py", tmp_path / "tests" / "conftest.py")
    last, new = number(LESSONS[-1]), f"L{len(LESSONS):02}"
    data = [
        ROOT / folder / f"{last}.toml"
        for folder in ("minigrad_lessons/questions", "tests/solutions")
    ]
    for path in (LESSONS[-1], *data):
        to = path.with_name(f"{new}.toml" if path.suffix == ".toml" else f"{new[1:]}_more.ipynb")
        text = path.read_text("utf-8").replace(last, new)
        (tmp_path / to.relative_to(ROOT)).write_text(text, "utf-8")

    def run(*command):
        return subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(tmp_path),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # to load them takes as long as the tests
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
        )

    assert run("docs/lessons.py").returncode == 0
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert readme.count(f"| [{new} ") == 2
    chosen = f"({new[1:]}_more and not each_language) or no_gap or tables"
    files = ("tests/course/test_lessons.py", "tests/course/test_course.py")
    said = run("-m", "pytest", *files, "-k", chosen, "-rA", "-p", "no:cacheprovider").stdout
    assert " failed" not in said, said
    assert said.count("PASSED") >= 15, said


# ---- The start page --------------------------------------------------------------------------


def needs(path: Path) -> list[set[str]]:
    """The lessons that the first cell of one asks for, in each language: "L00 to L05, L07"."""
    found = []
    for asked in re.findall(r"\*\*(?:Needs:|需要)\*\*([^·\n]*)", read(path).cells[0].source):
        spans = re.findall(r"L(\d\d)(?: (?:to|到) L(\d\d))?", asked)
        found.append({f"L{n:02}" for a, b in spans for n in range(int(a), int(b or a) + 1)})
    return found


def test_the_map_asks_for_the_lessons_that_a_lesson_says_it_needs():
    before = {}
    for stop in lessons.course(ROOT / "notebooks").stops:
        before[stop.number] = {*stop.after}.union(*(before[name] for name in stop.after))
    for path in LESSONS:
        assert needs(path) == [before[number(path)]] * 2, path.stem


def test_the_map_marks_the_short_route_of_the_start_page_and_where_to_start():
    html = lessons.course(ROOT / "notebooks")._repr_html_()
    cards = re.findall(r'<li [^>]*><a href="(\w+\.ipynb)">(.*?)</li>', html)
    marked = [name for name, card in cards if "short route" in card and "快速路线" in card]
    page = read(ROOT / "notebooks" / "index.ipynb").cells[0].source
    routes = re.findall(r"^.*(?:short route|快速路线).*$", page, re.MULTILINE)
    assert [re.findall(r"\]\((\w+\.ipynb)\)", route) for route in routes] == [marked] * 2
    assert re.findall(r'class="mg-start" href="(\w+\.ipynb)"', html) == [cards[0][0]]
    assert "45 min + 20 min exercises" in cards[1][1]
    assert "45 分钟 + 练习 20 分钟" in cards[1][1]


def test_the_start_page_leads_to_the_tour_first_and_to_the_appendix_on_graphics_cards():
    page = "\n".join(cell.source for cell in read(ROOT / "notebooks" / "index.ipynb").cells)
    for language, card in (("en", "graphics card"), ("zh", "显卡")):
        half = "\n".join(re.findall(rf'<div lang="{language}">(.*?)</div>', page, re.DOTALL))
        linked = re.findall(r"\]\((\S+\.ipynb)\)", half)
        assert (linked[0], linked[-1]) == ("tour.ipynb", "15_gpu.ipynb")
        assert card in half
        assert "CUDA" in half
        (route,) = (line for line in half.splitlines() if "torch.compile" in line)
        told = re.findall(r"\[(L(\d\d))\]\(\2_\w+\.ipynb\)", route)
        assert [name for name, _ in told] == ["L00", "L02", "L03", "L05", "L12"]
        assert "L00 → L02 → L03 → L05 → L12" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_shows_the_claims_and_examples_that_it_owes(path):
    owes = COURSE[number(path)]
    title, *rest = read(path).cells
    promised = set(re.findall(r"\bC\d+\b", title.source)) or ids("C", owes.claims)
    assert ids("C", owes.claims) - promised == set()
    told = "\n".join(cell.source for cell in rest) + told_ids(path)
    shown = set(re.findall(r"\b[CE]\d+\b", told))
    assert (promised | ids("E", owes.examples)) - shown == set()
    settled = {claim.id for claim in all_lessons()[number(path)].claims.values()}
    assert settled | IN_APPENDIX >= ids("C", owes.settled)


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_demonstrates_its_misconceptions(path):
    """By a cell that says so and shows something."""
    found = set()
    for cell in read(path).cells:
        tags = [t for t in cell.metadata.get("tags", []) if t.startswith("misconception-")]
        found |= {tag.partition("-")[2] for tag in tags}
        assert not tags or (cell.cell_type == "code" and cell.outputs)
    assert set(COURSE[number(path)].misconceptions.split()) - found == set()
    assert found <= {str(n) for n in range(1, 21)}


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_who_believes_a_misconception_of_the_lesson_is_refused_by_its_checks(path):
    """At least one: some can be shown and asked, but hardly be written as an answer."""
    marked = [answer for answer in answers(number(path)) if "misconception" in answer]
    assert {answer["is"] for answer in marked} <= {"wrong"}
    found = {answer["misconception"] for answer in marked}
    assert found <= set(range(1, 21))
    owed = set(map(int, COURSE[number(path)].misconceptions.split()))
    assert not owed or owed & found


# ---- Public names ----------------------------------------------------------------------------


def test_the_message_that_a_bug_hunt_explains_is_the_one_that_its_cell_prints():
    (memory,) = (path for path in LESSONS if number(path) == "L09")
    cells = read(memory).cells
    at = next(i for i, cell in enumerate(cells) if "def turns(" in cell.source)
    (printed,) = cells[at].outputs
    told = {name for name in re.findall(r"`(\w+)`", cells[at + 1].source) if name.istitle()}
    assert told == {"Sin", "Tanh"}
    assert told <= {*re.findall(r"\w+", printed["text"])}


def documented() -> dict[str, set[str]]:
    """The names that the reference holds, by module."""
    tree = ast.parse((ROOT / "docs" / "reference.py").read_text(encoding="utf-8"))
    modules = next(
        ast.literal_eval(statement.value)
        for statement in tree.body
        if isinstance(statement, ast.Assign) and statement.targets[0].id == "MODULES"
    )
    return {name: set(importlib.import_module(name).__all__) for name in modules}


def undocumented(source: str) -> list[str]:
    """The names of minigrad and viz in some code that the reference does not hold."""
    known, modules, wrong = documented(), {}, []

    def check(module: str, name: str) -> str | None:
        if f"{module}.{name}" in known:
            return f"{module}.{name}"
        if name not in known[module] | {"__version__"}:
            wrong.append(f"{module}.{name}")
        return None

    def module_of(node: ast.AST) -> str | None:
        """The module that an expression such as `mg.nn` stands for."""
        if isinstance(node, ast.Name):
            return modules.get(node.id)
        if isinstance(node, ast.Attribute) and (module := module_of(node.value)):
            return check(module, node.attr)
        return None

    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = getattr(node, "module", None)
            for alias in node.names:
                full = start or alias.name
                if full.partition(".")[0] not in known or full.startswith("minigrad.faces."):
                    continue  # a face has the names of its system
                if full not in known:
                    wrong.append(full)
                elif start is None:
                    modules[alias.asname or full] = full
                elif inner := check(start, alias.name):
                    modules[alias.asname or alias.name] = inner
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module_of(node)
            if re.match("_(?!_)", node.attr):
                wrong.append(node.attr)
    return sorted(set(wrong))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_uses_only_names_that_the_reference_holds(path):
    assert undocumented("\n".join(cell.source for cell in code_cells(path))) == []


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("import minigrad as mg\nmg.nn.Linear(2, 3)\nmg.__version__", []),
        ("import minigrad as mg\nmg.nn.functional.relu", []),
        ("from minigrad import nn, tensor\nnn.Linear, tensor", []),
        ("import minigrad as mg\nmg.hidden(1)", ["minigrad.hidden"]),
        ("import minigrad as mg\nmg.nn.hidden(1)", ["minigrad.nn.hidden"]),
        ("from minigrad import nn\nnn.hidden", ["minigrad.nn.hidden"]),
        ("from minigrad import hidden", ["minigrad.hidden"]),
        ("import minigrad.faces.torch as torch\ntorch.jit.trace", []),
        ("from minigrad.ops import Add", ["minigrad.ops"]),
        ("import viz.words.text", ["viz.words.text"]),
        ("import viz\nviz.draw(1)._source", ["_source"]),
    ],
)
def test_an_undocumented_name_is_found(source, wrong):
    assert undocumented(source) == wrong


# ---- Figures ---------------------------------------------------------------------------------


class Figures(HTMLParser):
    """Pictures in HTML without a text in each language; `count` is how many there are."""

    VOID = ("br", "col", "hr", "img", "input", "link", "meta", "wbr")

    def __init__(self) -> None:
        super().__init__()
        self.count, self.silent, self.open = 0, [], []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        lang = next((lang for _, lang in reversed(self.open) if lang), None)
        if tag not in self.VOID:
            self.open.append((tag, given.get("lang")))
        if tag == "svg" and given.get("aria-hidden") == "true":
            return
        if tag in ("img", "svg", "canvas"):
            self.count += 1
            said = given.get("alt" if tag == "img" else "aria-label") or ""
            spoken = {"zh"} if re.search("[\u4e00-\u9fff]", said) else set()
            spoken |= {"en"} if re.search("[A-Za-z]{3}", said) else set()
            complete = lang in spoken if lang else spoken == {"en", "zh"}
            if not complete or (tag != "img" and given.get("role") != "img"):
                self.silent.append(f"{tag}: {said}")

    def handle_endtag(self, tag: str) -> None:
        while tag in [name for name, _ in self.open]:
            if self.open.pop()[0] == tag:
                break


def figures(html: str) -> Figures:
    parser = Figures()
    parser.feed(html)
    return parser


def outputs(cell: Any) -> Iterator[Any]:
    yield from (output.get("data", {}) for output in cell.outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_figure_is_described_in_both_languages(path):
    shown = 0
    for cell in code_cells(path):
        for data in outputs(cell):
            assert not {kind for kind in data if kind.startswith("image/")}, "it has no description"
            found = figures(data.get("text/html", ""))
            assert found.silent == []
            shown += bool(found.count)
    assert shown >= 1 or path.stem == "index", "its figure stands in the prose"
    assert shown <= 6 or path not in LESSONS


# What begins a line where nothing is styled.
LINES = re.compile(
    r"</?(?:br|div|p|li|[uo]l|h\d|pre|section|summary|details|fig\w+|table|caption|t[rdh])\b[^>]*>"
)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_without_style_rules_each_line_is_in_one_language_and_names_it(path):
    for data in (data for cell in code_cells(path) for data in outputs(cell)):
        html = data.get("text/html", "")
        named = set(re.findall(r' lang="(\w+)">(<i>.*?</i>)?', html))
        assert named <= {("en", "<i>EN: </i>"), ("zh", "<i>中文：</i>")}
        for line in LINES.split(html):
            assert len(set(re.findall(r'<span lang="\w+"', line))) < 2, line


@pytest.mark.parametrize(
    ("html", "silent"),
    [
        ('<img alt="A graph / 一张图">', 0),
        ('<span lang="en"><br><img alt="A graph"></span><span lang="zh"><img alt="图"></span>', 0),
        ('<svg role="img" aria-label="A graph / 一张图"><path></path></svg>', 0),
        ('<img src="x">', 1),
        ('<img alt="A graph">', 1),
        ('<span lang="zh"><img alt="A graph"></span>', 1),
        ('<span lang="en"><b>x</b></span><img alt="A graph">', 1),
        ('<svg aria-label="A graph / 一张图"></svg>', 1),
    ],
)
def test_a_figure_without_description_is_found(html, silent):
    assert len(figures(html).silent) == silent


# ---- The same in each language ---------------------------------------------------------------


def marked(pair: messages.Pair, separator: str = "\n") -> str:
    """In the place of `messages.choose`: between marks, what comes from a table of sentences."""
    text = {"en": pair[0], "zh": pair[1], "both": separator.join(pair)}[_language]  # noqa: F821
    return "\n".join(f"⟦{line}⟧" for line in text.splitlines())


def without_sentences(text: str) -> str:
    """What is left of an output when every sentence is one mark."""
    while (shorter := re.sub("⟦[^⟦⟧]*⟧", "¤", text)) != text:
        text = shorter
    return re.sub(r"\s+", " ", re.sub(r"¤(?:\s*¤)+", "¤", text)).strip()


def numbers(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?<![\w.])\d+(?:\.\d+)*(?:e[+-]?\d+)?", text))


def shown_as(value: Any) -> dict[str, str]:
    """What a notebook shows of the value of a cell, by media type."""
    if value is None:
        return {}
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        return bundle[0] if isinstance(bundle, tuple) else bundle
    html = value._repr_html_() if hasattr(value, "_repr_html_") else ""
    return {"text/plain": repr(value), "text/html": html}


def elements(html: str) -> list[str]:
    """The names of its elements, and of those of the drawings in it."""
    for data in re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", html):
        html += base64.b64decode(data).decode()
    return re.findall(r"<(\w+)", re.sub("<style>.*?</style>", "", html, flags=re.DOTALL))


def all_but_text(names: list[str]) -> list[str]:
    return [name for name in names if name != "text"]


class Shown(NamedTuple):
    """What a cell printed and showed."""

    text: str
    elements: list[str]


def run(path: Path, language: str) -> list[Shown]:
    """All cells in one language, but those whose output may differ from run to run."""
    names: dict[str, Any] = {"__name__": "lesson"}
    shown = []
    with mg.Graph():
        for place, cell in enumerate(code_cells(path)):
            source = re.sub(r"viz\.language\(\)", f'viz.language("{language}")', cell.source)
            source = re.sub(r", rounds=\d+", "", source)  # no time is compared here
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                value = run_cell(source, names, f"cell {place}")
            if "nbval-ignore-output" in cell.metadata.get("tags", []):
                continue
            data = shown_as(value)
            text = printed.getvalue() + data.get("text/plain", "")
            shown.append(Shown(text, elements(data.get("text/html", ""))))
    return shown


# Lessons that compute for long take thrice as long in three languages.
LONG = ("09", "10", "11", "12", "13", "14", "15")
SPOKEN = [
    pytest.param(path, marks=pytest.mark.exhaustive) if path.name.startswith(LONG) else path
    for path in LESSONS
]


@pytest.mark.parametrize("path", SPOKEN, ids=lambda p: p.stem)
@pytest.mark.cases(1)
def test_a_lesson_does_the_same_in_each_language(path, monkeypatch):
    monkeypatch.setattr(messages.choose, "__code__", marked.__code__)
    monkeypatch.setitem(viz.bench.__kwdefaults__, "rounds", 5)
    found = {language: run(path, language) for language in ("en", "zh", "both")}
    assert any("⟦" in shown.text for shown in found["en"])
    for en, zh, both in zip(found["en"], found["zh"], found["both"], strict=True):
        assert without_sentences(zh.text) == without_sentences(en.text)
        assert without_sentences(both.text) == without_sentences(en.text)
        assert numbers(zh.text) == numbers(en.text)
        assert en.elements == zh.elements
        # In both languages at once a card leaves out the operator's name, which its sign says.
        assert all_but_text(both.elements) == all_but_text(en.elements)


def test_sentences_are_left_out_and_nothing_else():
    assert without_sentences("a ⟦b ⟦c⟧ d⟧\n  ⟦e⟧ f") == "a ¤ f"
    assert without_sentences("⟦a⟧ 7") != without_sentences("⟦a⟧ 8")
