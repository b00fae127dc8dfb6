"""Every notebook: both languages say the same; every lesson: its template, limits, exercises.

What a program can see. Whether the two halves mean the same is for a reader of both languages.
"""

from __future__ import annotations

import ast
import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import nbformat
import outputs
import pytest
from lessons import (
    LESSONS,
    NOTEBOOKS,
    ROOT,
    TEMPLATE,
    code_cells,
    number,
    places,
    read,
    run_here,
    told_ids,
)
from nbval.plugin import metadata_tags

from minigrad_lessons.questions import all_lessons

SOURCES = ROOT.parent / "shared" / "sources"

HALF = r'<div lang="{}">\n\n((?:(?!</?div).)*)\n\n</div>'
PAIR = re.compile(f"{HALF.format('en')}\n\n{HALF.format('zh')}", re.DOTALL)
FENCED = re.compile(r"```.*?```", re.DOTALL)
INLINE = re.compile(r"`[^`]+`")
FORMULA = re.compile(r"\$[^$\n]+\$")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)]*)\)")
HAN = r"[\u4e00-\u9fff]"
WORD = re.compile(r"[A-Za-z0-9][\w'’-]*", re.ASCII)

IDS = re.compile(r"\b[CES]\d+\b")
# Lessons whose cells hold these ids in their metadata, and their prose none.
REWRITTEN = [path for path in LESSONS if told_ids(path)]

# Everyday words as well as terms: only a reader can tell which is meant.
AMBIGUOUS = {
    *("edge", "view", "feed", "fetch", "export", "detach", "rank", "axis", "dimension", "mask"),
    *("operation", "variable", "constant", "parameter", "bias", "weight", "session", "tape"),
    *("guard", "kernel", "buffer", "overhead", "fallback", "dispatch", "inference", "padding"),
    *("lifetime", "runtime", "checkpoint", "latency", "compiler", "scheduling", "specialisation"),
}
BANNED = ("运算图", "急切执行", "雅克比", "雅各比", "梯度截断", "结点", "算子重载", "反传")
BANNED_FOR = {"lazy": "延迟", "retrac": "回溯", "bias": "偏差", "stop gradient": "截断"}
TRADITIONAL = "圖計運動態節點執導訓練權變數與張維為個這們來時會對後從說還過開關實現將應樣學習單層"


# ---- Reading a notebook ----------------------------------------------------------------------


def halves(path: Path) -> list[tuple[str, str]]:
    """The prose as pairs; the structure itself is `test_prose_comes_in_pairs`."""
    found = [PAIR.fullmatch(c.source) for c in read(path).cells if c.cell_type != "code"]
    return [(m[1], m[2]) for m in found if m]


@cache
def prose(text: str) -> str:
    """What is read aloud: no code, formulas, addresses or markup."""
    text = FORMULA.sub(" ", INLINE.sub(" ", FENCED.sub(" ", text)))
    text = LINK.sub(r"\2", text)
    return re.sub(r"</?\w[^>]*>|\*+|^#+ |^\s*[-|]+ ?", "", text, flags=re.MULTILINE)


def words(text: str) -> int:
    return len(re.findall(WORD, prose(text)))


def characters(text: str) -> int:
    return len(re.findall(HAN, prose(text)))


# ---- What two halves of a pair must share: each function lists what is wrong -------------------


def structure(en: str, zh: str) -> Iterator[str]:
    """Headings, lists, tables, links, pictures and formulas."""
    shapes: dict[str, Callable[[str], object]] = {
        "heading levels": lambda t: [
            len(m) for m in re.findall(r"^(#+) ", FENCED.sub("", t), re.M)
        ],
        "list items": lambda t: len(re.findall(r"^\s*(?:[-*]|\d+\.) ", t, re.M)),
        "table rows": lambda t: len(re.findall(r"^\|", t, re.M)),
        "paragraphs": lambda t: len(re.split(r"\n\s*\n", t.strip())),
        "links": lambda t: [(m[1], aim(m[3])) for m in LINK.finditer(t)],
        "formulas": lambda t: Counter(FORMULA.findall(INLINE.sub("", FENCED.sub("", t)))),
    }
    for name, shape in shapes.items():
        if shape(en) != shape(zh):
            yield f"{name}: {shape(en)} against {shape(zh)}"


def aim(link: str) -> str:
    """Where a link goes: titles differ, and a picture may have its words in either language."""
    return "#" if link[0] == "#" else re.sub(r"_(en|zh)(?=\.svg$)", "", link)


def facts(en: str, zh: str) -> Iterator[str]:
    """Code, numbers, ids of examples, claims and lessons."""
    for name, pattern in (
        ("code", re.compile(r"```.*?```|`[^`]+`", re.DOTALL)),
        ("numbers", re.compile(r"(?<![\w.])\d+(?:\.\d+)*")),
        ("ids", re.compile(r"\b[CELS]\d+\b", re.ASCII)),
    ):
        left, right = (
            Counter(pattern.findall(t if name == "code" else prose(t))) for t in (en, zh)
        )
        if left != right:
            yield f"{name}: {dict(left - right)} only en, {dict(right - left)} only zh"


@cache
def glossary() -> dict[str, str]:
    """Each listed English term and its Chinese, longest first."""
    terms = {}
    with (ROOT / "viz" / "words" / "glossary.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            english, chinese = line["en"].split(" / "), line["zh"].split(" / ")
            for left, right in zip(english, chinese, strict=True):
                term = re.sub(r" \(.*\)", "", left)
                terms[term] = re.sub(r"（.*", "", right)
    return dict(sorted(terms.items(), key=lambda pair: -len(pair[0])))


def terms(en: str, zh: str) -> Iterator[str]:
    """A term of the glossary in English needs its Chinese; words with other meanings are free."""
    left = prose(en)
    for term, chinese in glossary().items():
        if term.lower() not in left.lower():  # a pattern takes much longer to say so
            continue
        pattern = re.compile(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", re.IGNORECASE)
        if pattern.search(left) and term not in AMBIGUOUS and chinese not in prose(zh):
            yield f"{term}: no {chinese}"
        left = pattern.sub(" ", left)


def banned(en: str, zh: str) -> Iterator[str]:
    yield from (form for form in BANNED if form in zh)
    yield from (form for word, form in BANNED_FOR.items() if word in en.lower() and form in zh)


def typography(en: str, zh: str) -> Iterator[str]:
    """One space between Chinese and Latin; full-width punctuation; no Traditional characters."""
    text = LINK.sub(r"\2", FENCED.sub("", zh))
    text = re.sub(r"(?<!\*)\*\*?(?!\*)|</?\w[^>]*>", "", text)
    text = INLINE.sub(lambda m: "`x`", text)
    for wrong in re.findall(rf"{HAN}[A-Za-z0-9`$]|[A-Za-z0-9`$]{HAN}", text):
        yield f"no space: {wrong}"
    for wrong in re.findall(rf"{HAN} ?[,.;:!?()](?![A-Za-z0-9_])", text):
        yield f"half-width punctuation: {wrong}"
    for wrong in re.findall(r" [，。；：！？、（）]|[，。；：！？、）] (?=" + HAN + ")", text):
        yield f"space beside full-width punctuation: {wrong!r}"
    if found := set(TRADITIONAL) & set(zh):
        yield f"Traditional: {found}"
    marked = INLINE.sub("x", FENCED.sub("", zh))
    for _, inner, after in re.findall(r"(\*\*?)([^*]+)\1(.?)", marked):
        if inner[-1] in "。，：；！？）”》" and re.match(r"\w", after):
            yield f"emphasis that Markdown does not see: {inner}{after}"
    if re.search(HAN, prose(en)):
        yield "Chinese characters in the English half"


def length(en: str, zh: str) -> Iterator[str]:
    """As long as parallel chapters of others; names that stand in both halves do not count."""
    latin = [Counter(re.findall(WORD, prose(t))) for t in (en, zh)]
    translated = (latin[0] - latin[1]).total()
    if translated >= 30 and not 1.0 <= characters(zh) / translated <= 2.2:
        yield f"{characters(zh)} characters for {translated} words"


PARITY = (structure, facts, terms, banned, typography, length)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_prose_comes_in_pairs(path):
    """Both halves in one cell: a cell of one language would be hidden, but still be selected."""
    for cell in read(path).cells:
        assert cell.cell_type == "code" or PAIR.fullmatch(cell.source), cell.source[:80]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_both_halves_agree(path):
    pairs = [(rule, en, zh) for rule in PARITY for en, zh in halves(path)]
    problems = [f"{en[:40]!r}: {p}" for rule, en, zh in pairs for p in rule(en, zh)]
    assert problems == []


@pytest.mark.parametrize(
    ("rule", "en", "zh"),
    [
        (structure, "## A", "# 甲"),
        (structure, "- a\n- b", "- 甲"),
        (structure, "[a](http://a)", "[甲](http://b)"),
        (structure, "$x^2$", "$x$"),
        (facts, "`a` is 4", "`b` 是 4"),
        (facts, "`a` is 4", "`a` 是 5"),
        (facts, "see C08", "见 C09"),
        (terms, "a static graph", "一张图"),
        (terms, "Topological orders", "次序"),
        (banned, "the computation graph", "运算图"),
        (banned, "retracing", "回溯"),
        (typography, "a", "张量x"),
        (typography, "a", "张量 `x`的值"),
        (typography, "a", "先构建,再运行"),
        (typography, "a", "計算图"),
        (typography, "a", "*图：甲。*乙"),
        (typography, "张量", "张量"),
        (length, "word " * 40, "字" * 30),
        (length, "word " * 40, "字" * 100),
    ],
)
def test_each_rule_can_fail(rule, en, zh):
    assert list(rule(en, zh))


def test_the_rules_accept_a_good_pair():
    en = "A **static graph** is fixed first: `run` computes 7, see [E2](http://a) and $x^2$."
    zh = "**静态图**先固定下来：`run` 算出 7，见 [E2](http://a) 和 $x^2$。"
    assert [p for rule in PARITY for p in rule(en, zh)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_lines_of_code_fit_a_page(path):
    lines = [line for cell in code_cells(path) for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > 79] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_what_is_told_to_nbval_is_a_tag_that_it_knows_and_no_learner_sees(path):
    assert [cell.source for cell in code_cells(path) if "NBVAL" in cell.source.upper()] == []
    tags = {tag for cell in code_cells(path) for tag in cell.metadata.get("tags", [])}
    assert "nbval-ignore-output" in tags  # of the cell that prints the versions, or a clock
    assert {tag for tag in tags if tag.startswith("nbval")} <= set(metadata_tags)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_notebook_was_run_from_top_to_bottom_and_holds_no_widget_state(path):
    cells = code_cells(path)
    assert [c.execution_count for c in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        failed = [o for o in cell.outputs if o.output_type == "error"]
        assert not any(o.get("name") == "stderr" for o in cell.outputs), "a red block for learners"
        assert not failed or "raises-exception" in cell.metadata.get("tags", [])
        assert not any(outputs.WIDGET_VIEW in o.get("data", {}) for o in cell.outputs)
        assert not set(outputs.TIMES) & set(cell.metadata)
    assert set(read(path).metadata) == {"kernelspec"}
    assert read(path).metadata.kernelspec == outputs.KERNEL


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_what_is_stored_can_be_seen_where_nothing_is_trusted(path):
    """There, an image stays whole; of an inline drawing its words would stand in a row."""
    for cell in code_cells(path):
        for output in cell.outputs:
            assert "<svg" not in output.get("data", {}).get("text/html", ""), cell.source


def runs(text: str) -> set[str]:
    """Runs of 7 English words or 10 Chinese characters."""
    found = set()
    for pattern, size, glue in ((r"[A-Za-z][\w'’-]*", 7, " "), (HAN, 10, "")):
        tokens = re.findall(pattern, text.lower())
        found |= {glue.join(tokens[i : i + size]) for i in range(len(tokens) - size + 1)}
    return found


def own_text() -> Iterator[tuple[str, str]]:
    """Every text of ours that could have been copied; titles in the credits are exempt."""
    for path in NOTEBOOKS:
        for half in (h for pair in halves(path) for h in pair):
            kept = [p for p in half.split("\n\n") if not p.startswith(("**Sources", "**来源"))]
            yield path.name, prose("\n\n".join(kept))
    for path in sorted((ROOT / "minigrad_lessons" / "questions").glob("*.toml")):
        text = re.sub(r'(?ms)^code = """.*?"""', "", path.read_text(encoding="utf-8"))
        yield path.name, INLINE.sub(" ", text)


def test_no_sentence_of_a_source_is_repeated():
    sources = {p.stem: runs(p.read_text(encoding="utf-8")) for p in sorted(SOURCES.glob("*.txt"))}
    if not sources:
        pytest.skip("the source notes are not here, so provenance was not compared")
    for name, text in own_text():
        own = runs(text)
        for source, said in sources.items():
            assert own & said == set(), f"{name} repeats {source}"


def test_the_provenance_check_can_fail():
    said = runs("x one two three four five six seven")
    assert runs("One two three four five six seven.") & said
    assert runs("一二三四五，六七八九十") & runs("甲一二三四五六七八九十乙")
    assert not runs("one two three four five six") & said


# ---- The template of a lesson ----------------------------------------------------------------


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_follows_the_template(path):
    found = places(path)
    missing = [part for part in TEMPLATE if part not in found]
    assert missing == [], "not in their places"
    assert found["recap"] == len(read(path).cells) - 1, "the recap is last"


def minutes(path: Path) -> tuple[float, float]:
    """How long a lesson takes in each language without its exercises: reading, code, questions."""
    english, chinese = zip(*halves(path), strict=True)
    source = "\n".join(cell.source for cell in code_cells(path) if "nbgrader" not in cell.metadata)
    lines = sum(bool(line.strip()) for line in source.splitlines())
    questions = len(re.findall(rf'"{number(path)}\.\d+"', source))
    rest = lines / 10 + questions
    return sum(map(words, english)) / 150 + rest, sum(map(characters, chinese)) / 200 + rest


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_a_lesson_keeps_its_limits(path):
    """`docs/contributing/lessons.md` names them for authors of lessons."""
    pairs = halves(path)
    if path not in REWRITTEN:
        assert len(read(path).cells) <= 36
        assert sum(words(en) for en, _ in pairs) <= 900
        title_en, title_zh = pairs[0]
        assert words(title_en) <= 60
        assert characters(title_zh) <= 110
    for en, zh in pairs[:-1]:
        assert words(en) <= 170, f"split or shorten this cell of {words(en)} words:\n{en}"
        assert characters(zh) <= 320, f"拆分或缩短这一格，它有 {characters(zh)} 个字：\n{zh}"
    if path in REWRITTEN:
        english, chinese = minutes(path)
        assert max(english, chinese) <= 45, (
            f"{path.name} takes {english:.1f} minutes in English, {chinese:.1f} in Chinese: cut"
            " prose or code until both are at most 45"
        )
    predictions = [c for c in code_cells(path) if "predict(" in c.source]
    assert 2 <= len(predictions) <= 4, f"{len(predictions)} cells with lessons.predict, not 2 to 4"
    solutions = re.findall(
        r"BEGIN SOLUTION\n(.*?)### END", "\n".join(c.source for c in code_cells(path)), re.S
    )
    assert all(solution.count("\n") <= 15 for solution in solutions)


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_headings_start_once_and_skip_no_level(path):
    for half in (0, 1):
        text = FENCED.sub("", "\n\n".join(pair[half] for pair in halves(path)))
        levels = [len(m) for m in re.findall(r"^(#+) ", text, re.M)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_new_terms_are_few_and_carry_their_english_when_first_met(path):
    en, zh = halves(path)[-1]
    english = re.search(r"\*\*New terms:\*\* (.*)", en)[1].split(", ")
    chinese = re.search(r"\*\*新术语\*\*：(.*)", zh)[1].split("、")
    assert len(english) == len(chinese) <= 7
    # A title is no place for brackets, and a new term may stand in bold type.
    text = "\n".join(z for _, z in halves(path)[1:]).replace("**", "")
    for term, said in zip(english, chinese, strict=True):
        assert glossary().get(term, said) == said
        first = text[text.index(said) :]
        assert first.startswith(f"{said}（{term}"), f"{said}: {first[:30]!r}"


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_the_lesson_uses_its_bank_and_nothing_else(path):
    source = "\n".join(c.source for c in code_cells(path))
    used = set(re.findall(rf'"({number(path)}\.[\w.]+)"', source))
    bank = all_lessons()[number(path)]
    assert used == set(bank.questions) | set(bank.checks) | set(bank.tables) | set(bank.kept)
    cells = [c.source for c in code_cells(path) if "lessons.claims(" in c.source]
    called = [re.search(r"(?s)lessons\.claims\((.*)\)", cell)[1] for cell in cells]
    given = ast.parse(f"f({called[0] if called else ''})").body[0].value
    told = {keyword.arg for keyword in given.keywords}
    # Behind the lesson's number may stand values for all claims: then none has its own.
    assert told == (set() if len(given.args) == 2 else set(bank.claims))
    claimed = {claim.id for claim in bank.claims.values()}
    assert claimed <= set(re.findall(r"C\d+", halves(path)[0][0] + told_ids(path)))


@pytest.mark.parametrize("path", REWRITTEN, ids=lambda p: p.stem)
def test_a_learner_meets_no_id_of_a_claim_an_example_or_a_source(path):
    texts = [cell.source for cell in read(path).cells]
    texts += [
        re.sub(r"base64,[\w+/=]+", "", str(output))
        for cell in code_cells(path)
        for output in cell.outputs
    ]
    assert [IDS.findall(text) for text in texts if IDS.search(text)] == []


@pytest.mark.parametrize("path", REWRITTEN, ids=lambda p: p.stem)
def test_there_is_less_code_than_a_page_outside_of_exercises(path):
    """A demonstration is read in one breath; a program that runs elsewhere is text in it."""

    def lines(cells):
        return [sum(bool(line.strip()) for line in cell.splitlines()) for cell in cells]

    cells = demonstrations(path)
    assert max(lines(map(run_here, cells))) <= 12
    assert sum(lines(cells)) <= 90


def demonstrations(path: Path) -> list[str]:
    """Cells outside of exercises: those hold a check, functions that only such a cell calls, or
    what an exercise starts from, the engine and the names of its parts.
    """
    marks = re.compile(r"check\(|SOLUTION|HIDDEN|^engine = lessons\.engine\(")
    cells = [cell.source for cell in code_cells(path) if cell.id != "install"]  # learners have none
    programs = [ast.walk(ast.parse(cell)) for cell in cells if marks.search(cell)]
    called = {node.id for walk in programs for node in walk if isinstance(node, ast.Name)}
    return [
        cell
        for cell in cells
        if not marks.search(cell)
        and not ((made := set(re.findall(r"(?m)^def (\w+)", cell))) and made <= called)
    ]


@pytest.mark.parametrize("path", LESSONS, ids=lambda p: p.stem)
def test_exercises_are_marked_for_nbgrader(path):
    graded = [c for c in code_cells(path) if "nbgrader" in c.metadata]
    ids = [c.metadata.nbgrader.grade_id for c in graded]
    assert len(set(ids)) == len(ids) >= 4
    for cell in code_cells(path):
        marks = [m for m in ("SOLUTION", "HIDDEN TESTS") if f"### BEGIN {m}" in cell.source]
        meta = cell.metadata.get("nbgrader")
        assert bool(marks) == (meta is not None)
        if meta is None:
            continue
        assert len(marks) == 1
        assert cell.source.count("### BEGIN") == cell.source.count(f"### END {marks[0]}") == 1
        assert meta.schema_version == 3
        assert meta.grade_id.startswith(f"{number(path)}-")
        assert not meta.task
        if marks == ["SOLUTION"]:
            whole = re.fullmatch(r"### BEGIN SOLUTION\n.*\n### END SOLUTION", cell.source, re.S)
            assert whole, "the solution is the whole cell: learners answer in the cell above it"
        tests = marks == ["HIDDEN TESTS"]
        assert (meta.grade, meta.locked, meta.solution) == (tests, tests, not tests)
        assert (meta.get("points", 0) > 0) is tests


def test_stripping_removes_views_and_times():
    view = {outputs.WIDGET_VIEW: {"model_id": "1"}, "text/plain": "x"}
    cell = nbformat.v4.new_code_cell("1", metadata={"execution": {"iopub.execute_input": "2026"}})
    cell.outputs = [nbformat.v4.new_output("display_data", view)]
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {}})
    stripped = outputs.strip(notebook)
    assert stripped.cells[0].outputs[0].data == {"text/plain": "x"}
    assert "execution" not in stripped.cells[0].metadata
    assert "widgets" not in stripped.metadata
