"""Questions and checks: complete in both languages, fair, harmless, and able to fail."""

from __future__ import annotations

import json
import linecache
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import permutations
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from covering import each
from IPython.lib.pretty import pretty
from lessons import NOTEBOOKS
from looks import serious
from views import saved

import minigrad as mg
from minigrad.diagnostics.messages import set_language
from minigrad_lessons import questions
from minigrad_lessons.lesson import ask
from minigrad_lessons.lesson.check import check
from minigrad_lessons.lesson.claims import claims
from minigrad_lessons.lesson.wording import Message
from minigrad_lessons.questions import Line, Option, Question, all_lessons, judge, one_order
from viz import assets
from viz.page.sheets import sheets
from viz.views import tables
from viz.words.text import ROWS, in_language

pytestmark = pytest.mark.usefixtures("english")

QUESTIONS = [q for lesson in all_lessons().values() for q in lesson.questions.values()]
CHOICES = [q for q in QUESTIONS if not q.lines]
ORDERS = [q for q in QUESTIONS if q.lines]
CHECKS = [c for lesson in all_lessons().values() for c in lesson.checks.values()]
CLAIMS = [c for lesson in all_lessons().values() for c in lesson.claims.values()]
HOSTILE = "<script>alert(1)</script>"
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def pairs() -> Iterator[tuple[str, tuple[str, str]]]:
    """Every sentence of the bank, and whose it is."""
    for q in QUESTIONS:
        yield q.id, q.text
        for option in q.options:
            yield q.id, option.text
            yield q.id, option.feedback
        if q.lines:
            yield q.id, q.feedback
    for c in CHECKS:
        yield c.id, c.text
        yield c.id, c.hint
        for _, _, hint in c.hints:
            yield c.id, hint
    for c in CLAIMS:
        yield c.id, c.claimed
        yield c.id, c.measured
        yield c.id, c.holds


def code_and_numbers(text: str) -> Counter[str]:
    code = re.findall(r"`[^`]+`", text)
    rest = re.sub(r"`[^`]+`", "", text)
    return Counter(code + re.findall(r"\{\w+\}|\d+(?:\.\d+)?", rest))


@each(list(pairs()))
def test_both_languages_say_the_same_numbers_and_code(id, pair):
    english, chinese = pair
    assert english.strip()
    assert chinese.strip()
    assert code_and_numbers(english) == code_and_numbers(chinese)
    assert not CHINESE.search(english)
    prose = re.sub(r"`[^`]+`", "", english)
    if len(re.findall(r"[A-Za-z]{2,}", prose)) > 2:  # more than a number or a formula
        assert CHINESE.search(chinese)


@each(CHOICES)
def test_a_choice_is_fair(question):
    assert 2 <= len(question.options) <= 4
    assert [o.right for o in question.options].count(True) == 1
    for half in (0, 1):
        texts = [o.text[half] for o in question.options]
        assert len(set(texts)) == len(texts)
        right = next(len(o.text[half]) for o in question.options if o.right)
        wrong = [len(o.text[half]) for o in question.options if not o.right]
        assert right <= 1.5 * max(wrong) + 4, "the longest option must not give itself away"


def right(question: Question) -> int:
    return [o.right for o in question.options].index(True)


def longest(question: Question, half: int) -> bool:
    """Whether the right option is longer than every other."""
    lengths = [len(o.text[half]) for o in question.options]
    return lengths.count(max(lengths)) == 1 and lengths.index(max(lengths)) == right(question)


@pytest.mark.parametrize("lesson", [name for name in all_lessons() if name.startswith("L")])
def test_neither_place_nor_length_gives_the_right_option_away(lesson):
    """Over a lesson, one letter or the longest text is right for half of the questions at most."""
    choices = [q for q in all_lessons()[lesson].questions.values() if q.options]
    assert max(Counter(map(right, choices)).values()) <= len(choices) / 2
    for half in (0, 1):
        assert sum(longest(q, half) for q in choices) <= len(choices) / 2


# The keys of a table of the bank, and of the tables in it.
TEXT = {"en", "zh"}
SCHEMA: dict[str, Any] = {
    "lesson": None,  # see test_course.py
    "question": {
        "id": None,
        "kind": None,
        "text": TEXT,
        "feedback": TEXT,
        "code": None,
        "option": {"right": None, "text": TEXT, "feedback": TEXT},
        "line": {"code": None, "needs": None, "distractor": None},
    },
    "check": {
        **dict.fromkeys(("id", "ours", "parts", "also", "lines")),
        **dict.fromkeys(("text", "hint"), TEXT),
        "when": {"told": None, "code": None, "text": TEXT},
    },
    "beside": {
        **dict.fromkeys(("system", "version", "code", "prints", "face")),
        "text": TEXT,
        "card": {**dict.fromkeys(("first", "began", "today")), "text": TEXT},
    },
    "served": None,  # see test_over_http.py
    "words": None,  # see test_exercises.py
    "kept": dict.fromkeys(("id", "version", "prints", "needs")),
    "claim": {
        "id": None,
        "name": None,
        "relation": None,
        "source": None,
        "claimed": TEXT,
        "measured": TEXT,
        "holds": TEXT,
    },
    "evidence": {"claim": None, "shows": None},
    "table": {"id": None, "text": TEXT, "head": {"text": TEXT}, "rows": {"text": TEXT}},
}


def unread(data: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """The keys that nothing reads: of a table, and of those in it."""
    for key, value in data.items():
        known = schema.get(key)
        if key in TEXT and "text" in schema:
            continue
        if key not in schema:
            yield key
        elif known is TEXT:
            yield from set(value) - TEXT
        elif known:
            for table in [value] if isinstance(value, dict) else value:
                yield from unread(table, known)


@pytest.mark.parametrize("name", all_lessons())
def test_nothing_in_the_bank_is_misspelt(name):
    text = (Path(questions.__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
    assert list(unread(tomllib.loads(text), SCHEMA)) == []


def test_a_misspelt_key_is_found():
    text = """
        [[question]]
        id = "T.1"
        feedbak.en = "No."
        feedback.ch = "不对。"
        [[question.option]]
        en = "7"
        rigth = true
    """
    assert list(unread(tomllib.loads(text), SCHEMA)) == ["feedbak", "ch", "rigth"]


@pytest.mark.parametrize("question", ORDERS, ids=lambda q: q.id)
def test_an_order_accepts_what_the_dependencies_allow_and_nothing_else(question):
    lines = dict(enumerate(question.lines, 1))
    needed = [n for n in lines if not lines[n].distractor]
    accepted = 0
    for order in permutations(needed):
        allowed = all(
            order.index(before) < order.index(n) for n in needed for before in lines[n].needs
        )
        assert judge(question, list(order)).right is allowed
        accepted += allowed
    assert accepted >= 1
    assert judge(question, one_order(question)).right
    for distractor in set(lines) - set(needed):
        assert not judge(question, [*one_order(question), distractor]).right
    assert len(lines) <= 8


def test_an_order_says_what_is_wrong():
    first, second, extra = Line("a"), Line("b", (1,)), Line("c", (), True)
    made = Question("T.1", "order", ("?", "？"), (), (first, second, extra), ("No c.", "没有 c。"))
    assert judge(made, [1, 2]).right
    said = {
        str(a): judge(made, a).text[0] for a in ([2, 1], [1, 1], [1], [2], [1, 2, 3], [1, 9], "12")
    }
    assert "line 1 comes first" in said["[2, 1]"]
    assert "twice" in said["[1, 1]"]
    assert "Line 2 is still missing" in said["[1]"]
    assert "Line 1 is still missing" in said["[2]"]
    assert "No c." in said["[1, 2, 3]"]
    assert "1 to 3" in said["[1, 9]"]
    assert "1 to 3" in said["12"]


NONSENSE = [None, "", "Z", "AB", 2, 2.5, [], [1], {"a": 1}, object()]


@pytest.mark.parametrize("place", range(len(NONSENSE)))
def test_no_answer_and_no_nonsense_ever_raises(place, request):
    """Each question gets two of the answers, and with --all every one."""
    answer, apart = NONSENSE[place], 1 if request.config.getoption("--all") else 5
    for question in QUESTIONS[place % apart :: apart]:
        shown = {"predict": ask.predict, "order": ask.order}.get(question.kind)
        made = shown(question.id, answer) if shown else ask.quiz(question.id, answers=[answer])
        assert question.id in made.text
        assert "text/html" in made._repr_mimebundle_()[0]


def test_an_unknown_id_lists_the_known_ones():
    for verb in (ask.predict, ask.quiz, ask.order):
        with pytest.raises(KeyError, match=r"L00\.\d"):
            verb("L99.1")
    with pytest.raises(KeyError, match=r"L00\.core"):
        check("L99.core", 1, 1)
    with pytest.raises(KeyError, match="L00"):
        claims("L99")
    with pytest.raises(KeyError, match="blueprint"):
        claims("L00", other={})
    with pytest.raises(
        ValueError, match=r'blueprint of L00 .*: built, .*claims\("L00", blueprint=\{"built": …'
    ):
        claims("L00")
    with pytest.raises(KeyError):
        ask.predict("L00.1")  # a quiz
    set_language("zh")
    with pytest.raises(KeyError, match="没有名为"):
        ask.predict("L99.1")


def test_an_answer_brings_its_feedback_in_the_chosen_language():
    assert "✓ B · Right." in ask.predict("L00.3", "B").text
    assert "7 is the value" in ask.predict("L00.3", "a").text
    set_language("zh")
    assert "✗ A · 不对。" in ask.predict("L00.3", "A").text
    assert "7 is the value" not in ask.predict("L00.3", "A").text
    set_language("both")
    text = ask.predict("L00.3", "A").text
    assert "7 is the value" in text
    assert "7 是" in text


def test_the_text_is_stable_and_tells_no_address():
    first, second = (pretty(ask.quiz("L00.1", "L00.2")) for _ in range(2))
    assert first == second
    assert "0x" not in first
    assert not re.search("Right|feedback", first)  # an unanswered question gives nothing away


def test_a_click_in_the_browser_gets_a_verdict():
    widget = ask.quiz("L00.1", "L00.2")
    assert widget.verdicts == [None, None]
    widget.answers = [None, "C"]
    assert widget.verdicts[0] is None
    assert widget.verdicts[1]["right"] is True
    assert "right" not in str(widget.questions)  # which one is right stays with the kernel


def test_what_a_question_says_is_shown_and_never_run():
    made = Question(
        "T.<b>", "quiz", (HOSTILE, HOSTILE), (Option((HOSTILE, "x"), (HOSTILE, "x"), True),)
    )
    html = ask._question_html(made, HOSTILE)
    assert "<script" not in html
    assert "<b>T.<b>" not in html
    shown = Message([(HOSTILE, "x")], "✓", HOSTILE)._repr_html_()
    assert "<script" not in shown
    with pytest.raises(AssertionError) as failed:
        check("L00.core", HOSTILE, "x")
    assert "<script" not in failed.value.shown._repr_html_()


def test_the_card_of_a_check_says_what_comes_next():
    passed, last = (check(id, 1, 1) for id in ("L00.faded.1", "L00.stretch"))
    assert 'data-right="true"' in passed._repr_html_()
    assert "Your value is <code>1</code>, as expected." in passed._repr_html_()
    assert "Your value" not in check("L00.faded.1", [1] * 99, [1] * 99)._repr_html_(), "too long"
    assert 'mg-ask-id">L00 · ' + in_language("en", "fill in the gaps") in passed._repr_html_()
    assert (
        "<code>lessons.check(&quot;L00.faded.2&quot;, …)</code>: a * a * a + 1 at 2 and at 3"
        in passed._repr_html_()
    )
    assert "This is the last exercise in L00." in last._repr_html_()
    with pytest.raises(AssertionError) as failed:
        check("L00.faded.1", 2, 1)
    shown = failed.value.shown._repr_html_()
    assert 'data-right="false"' in shown
    assert "Next exercise" not in shown


def test_each_half_stands_in_an_element_with_its_language():
    html = ask.predict("L00.3")._repr_mimebundle_()[0]["text/html"]
    assert html.count('lang="en"') == html.count('lang="zh"') > 5
    assert html.count("<details ") == 4  # feedback unfolds without a kernel


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (7, 7.0),
        (np.float32(7), 7),
        (mg.tensor(7.0), 7),
        (7 + 1e-10, 7),
        ([1, "a"], [1, "a"]),
        (("built Add",), ["built Add"]),
        (np.array([1.0, 2.0]), np.array([1, 2])),
        (mg.tensor([1.0, 2.0]), np.array([1, 2])),
        (lambda: 7, 7),
        (True, True),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        ({"a": 1}, {"a": 1}),
        ({"b": [1.0, 2.0], "a": np.float32(1)}, {"a": 1, "b": np.array([1, 2])}),
        ([1.0, 2.0], np.array([1, 2])),
        ((1, 2), np.array([1, 2])),
        (np.array([1.0, 2.0]), [1, 2]),
        (mg.tensor([[1.0], [2.0]]), [[1], [2]]),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]])),
        ([mg.tensor(1.0), mg.tensor(2.0)], np.array([1, 2])),
        ((np.array([7.0, 5.56]), 20), ([7, 5.56], 20)),
        (range(3), [0, 1, 2]),
        (lambda: (n for n in "ab"), ["a", "b"]),
        ([], []),
    ],
)
def test_a_check_accepts_what_is_right_in_an_unusual_form(got, want):
    assert "passed" in repr(check("L00.core", got, want))


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (8, 7),
        (7 + 1e-6, 7),
        ("7", 7),
        (None, 7),
        (float("nan"), 7),
        (True, 1),
        (1, True),
        ([2, 1], [1, 2]),
        ([1, 2, 3], [1, 2]),
        (np.ones((2, 1)), np.ones(2)),
        (7, np.full(2, 7)),
        (lambda: 1 / 0, 7),
        ("a", ["a"]),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, 1),
        (1, {"a": 1}),
        ("ab", ["a", "b"]),
        ([[1], [1]], np.ones(2)),
        ([1, 2], np.array([1, 3])),
        (np.array([1, 2]), [1, 3]),
        ([True], [1]),
        (["1"], np.array([1])),
        ([7], 7),
        (7, [7]),
        ({1, 2}, [1, 2]),
        (lambda: (1 / n for n in (1, 0)), [1, 0]),
    ],
)
def test_a_check_refuses_what_is_wrong(got, want):
    with pytest.raises(AssertionError, match="not yet"):
        check("L00.core", got, want)


def test_a_node_without_a_value_is_wrong_and_says_so():
    with mg.Graph():
        x = mg.placeholder("x")
        with pytest.raises(AssertionError, match="no value"):
            check("L00.core", x * x, 4)
        with pytest.raises(AssertionError, match="TraceError"):
            check("L00.core", lambda: float(x * x), 4)


def test_a_failed_check_says_expected_got_and_what_to_reread():
    with pytest.raises(AssertionError) as failed:
        check("L00.core", 1, 2)
    text = str(failed.value)
    assert "expected: 2" in text
    assert "got: 1" in text
    assert "Hint: is a step run before the next one is built?" in text
    assert failed.value._render_traceback_() == ["CheckFailed: L00.core"]
    set_language("zh")
    assert "期望：2" in str(failed.value)
    assert "提示：" in str(failed.value)


def test_an_error_that_would_fill_the_page_is_cut():
    """As of a function that calls itself: each call puts its own words before the error."""

    def endless():
        raise ValueError("Mul: " * 900)

    with pytest.raises(AssertionError) as failed:
        check("L00.core", endless, 2)
    assert "Your code raises ValueError: Mul: Mul: " in str(failed.value)
    assert len(str(failed.value)) < 700


@pytest.mark.parametrize(
    ("got", "want", "says"),
    [
        ([1, 2, 3], [1, 2, 4], "`result[2]` is 3; expected 4."),
        ([[1, 2], [3]], [[1, 2], [5]], "`result[1][0]` is 3; expected 5."),
        (
            ["run Add", "run Mul"],
            ["run Add", "run Sub"],
            "`result[1]` is 'run Mul', which is wrong.",
        ),
        ([1, 2], [1, 2, 3], "`result` has 2 values; expected 3. Up to there, everything is right."),
        ([], [1, 2], "`result` has no values; expected 2 values."),
        (
            [[1], [2, 3]],
            [[1], [2]],
            "`result[1]` has 2 values; expected 1. Up to there, everything is right.",
        ),
        (np.ones(3), np.ones((1, 3)), "`result` has shape (3,); expected (1, 3)."),
        ({"a": 0}, {"a": [0]}, "`a` is 0; expected a list."),
        (np.eye(2), np.ones((2, 2)), "`result[0][1]` is 0.0; expected 1.0."),
        ({"y": 1, "x": 3}, {"x": 6, "y": 1}, "`x` is 3; expected 6."),
        ({10: -2.0}, {10: 2}, "For `10`, `result` is -2.0; expected 2."),
        (
            {"x = 3": {"a": ["c", "0"]}},
            {"x = 3": {"a": ["c", "2"]}},
            "For `x = 3`, `a[1]` is '0', which is wrong.",
        ),
        ({"b": np.ones((2, 1))}, {"b": np.ones(3)}, "`b` has shape (2, 1); expected (3,)."),
        ({"b": 7}, {"b": np.ones(3)}, "`b` is 7; expected a list of 3 values."),
        ({"(3,)": [1, 0]}, {"(3,)": [1, 2]}, "For `(3,)`, `result[1]` is 0; expected 2."),
        (
            {"b": np.array(3.0)},
            {"b": np.array(4.0)},
            "`b` is 3.0; expected 4.0.",
        ),
        ({"b": 0.5}, {"b": 0.1 * 3}, "`b` is 0.5; expected 0.3."),
        (
            None,
            {"x": 6, "y": 1},
            "`result` is None; expected a dict with a value for each of x, y.",
        ),
        ({"y": 1}, {"x": 6, "y": 1}, "`x` is missing."),
        ({"x": 6, "y": 1}, {"x": 6}, "`y` shouldn't be there. Everything else is right."),
        (7, ["a", "b"], "`result` is 7; expected a list of 2 values."),
    ],
)
def test_a_failed_check_points_at_the_first_wrong_place_and_leaves_the_rest(got, want, says):
    with pytest.raises(AssertionError) as failed:
        check("L00.worked", got, want)
    lines = str(failed.value).splitlines()
    assert lines[1].strip() == says
    assert "Hint: " in lines[2]
    assert "Sub" not in str(failed.value).replace(str(got), "")


def test_where_the_answer_is_a_function_its_right_words_are_told():
    with pytest.raises(AssertionError, match=r"`log\[1\]` is 'run Sub'; expected 'run Mul'"):
        check("L00.core", lambda: {"log": ["a", "run Sub"]}, {"log": ["a", "run Mul"]})
    with pytest.raises(AssertionError, match="`x` is 1; expected None"):
        check("L00.core", lambda: {"x": 1}, {"x": None})


@pytest.mark.parametrize(("rest", "shown"), [("", 0), ("\nprint('after')", 1)])
def test_a_check_that_is_not_the_value_of_its_cell_is_displayed(monkeypatch, rest, shown):
    cards, cell = [], 'check("L00.faded.1", 20, 20)' + rest
    monkeypatch.setattr("minigrad_lessons.lesson.check.get_ipython", object)
    monkeypatch.setattr("minigrad_lessons.lesson.check.display", cards.append)
    monkeypatch.setitem(linecache.cache, "<cell>", (len(cell), None, cell.splitlines(True), ""))
    exec(compile(cell, "<cell>", "exec"), {"check": check})
    assert [card.mark for card in cards] == ["✓"] * shown


def test_a_missing_return_is_named():
    with pytest.raises(AssertionError, match="`forgets` returns nothing: is a `return` missing"):
        check("L00.core", forgets, 1)
    with pytest.raises(AssertionError, match="`forgets` returns nothing: is a `return` missing"):
        check("L00.core", lambda: forgets().get("x"), 1)


def test_no_return_is_called_missing_where_all_functions_return():
    def given():
        return {"x": None}

    with pytest.raises(AssertionError) as failed:
        check("L00.core", lambda: given()["x"] + 1, 1)
    assert "NoneType" in str(failed.value)
    assert "`return`" not in str(failed.value)


def forgets():
    """What many a learner writes: only the function within returns."""

    def run():
        return 1


def test_what_is_compared_is_named_in_both_languages():
    set_language("zh")
    try:
        with pytest.raises(AssertionError, match="“优化前”最先出错：得到 4，应为 5"):
            check("L08.faded.1", lambda: {"before": 4}, {"before": 5})
        with pytest.raises(AssertionError, match="应为字典，键是 `tensors`、`numbers`"):
            check("L12.faded.2", None, {"tensors": 1, "numbers": 2})
    finally:
        set_language("en")
    with pytest.raises(AssertionError, match="`before` is 4; expected 5"):
        check("L08.faded.1", lambda: {"before": 4}, {"before": 5})


def test_an_answer_that_never_ends_is_stopped(monkeypatch):
    """By the clock, where lines are not the limit: a fast machine runs very many of them."""
    monkeypatch.setattr("minigrad_lessons.lesson.check.LINES", sys.maxsize)
    monkeypatch.setattr("minigrad_lessons.lesson.check.LONGEST", 0.2)

    def turns():
        while True:
            try:
                iter([])
            except Exception:  # noqa: BLE001 - what a learner may write around a loop
                return 1

    with pytest.raises(AssertionError, match="hasn't finished after"):
        check("L00.core", turns, 1)
    with pytest.raises(AssertionError, match="hasn't finished after"):
        check("L00.core", lambda: (x for x in iter(int, 1)), [1])
    assert check("L00.core", lambda: 7, 7)


def test_an_answer_is_stopped_after_so_many_lines_and_told_where(monkeypatch):
    monkeypatch.setattr("minigrad_lessons.lesson.check.LONGEST", 60)

    def doubled(depth):
        return doubled(depth - 1) + doubled(depth - 1) if depth else 1

    with pytest.raises(AssertionError, match=r"Stopped after 1,000,000 lines"):
        check("L00.core", lambda: doubled(40), 1)
    assert check("L00.core", lambda: doubled(10), 1024)
    assert sys.gettrace() is None


def test_a_debugger_is_left_alone():
    def trace(*_):
        return None

    sys.settrace(trace)
    try:
        assert check("L00.core", lambda: 7, 7)
        assert sys.gettrace() is trace
    finally:
        sys.settrace(None)


def unfinished():
    return mg.run(..., feed_dict={})


def returned():
    return ...


def empty(x): ...


def unfinished_inside():
    return (lambda: mg.while_loop(lambda x: x < ..., lambda x: 2 * x, 1.0))()


def helper(f, n):
    def again():
        return f(n)

    return again


answer = ...


def told():
    """What a property of an answer is asked for without the answer."""
    empty(7)
    return 7


OPEN = [unfinished, unfinished_inside, returned, lambda: returned(), helper(empty, 1), told]
OPEN += [lambda: answer, ..., [1, ...], [[1], [2, ...]], lambda: [told() for _ in range(2)]]


@pytest.mark.parametrize("got", OPEN)
def test_a_gap_is_no_mistake_and_never_right(got):
    assert "Not finished yet" in repr(check("L00.core", got, 7))


@pytest.mark.parametrize("got", OPEN)
def test_a_gap_is_one_where_nbgrader_grades(got, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    with pytest.raises(AssertionError, match="Not finished yet"):
        check("L00.core", got, 7)


def last_column(x):
    return x[..., -1], x[..., 1:][..., 0], x[...], (lambda i: x[..., i])(1)


def test_dots_as_an_index_are_no_gap():
    table = np.array([[1, 2], [3, 4]])
    want = [table[:, 1], table[:, 1], table, table[:, 1]]
    assert "passed" in repr(check("L00.core", lambda: last_column(table), want))


def test_a_gap_that_nothing_calls_is_no_gap():
    """Nor is one in a function that has the name of an attribute."""
    assert "passed" in repr(check("L00.core", lambda: mg.tensor(7.0).item(), 7))
    namespace = {"mg": mg}
    source = "def item():\n    return ...\n\ngot = lambda: mg.tensor(7.0).item()"
    exec(source, namespace)
    assert "passed" in repr(check("L00.core", namespace["got"], 7))


def test_an_answer_written_anew_is_looked_at_anew():
    for source, said in (("...", "Not finished"), ("7", "passed"), ("...", "Not finished")):
        namespace: dict[str, Any] = {}
        exec(f"def f():\n    return {source}\n\ngot = lambda: f()", namespace)
        assert said in repr(check("L00.core", namespace["got"], 7))


def test_claims_hold_what_was_measured():
    table = claims(
        "L00",
        blueprint={"built": HOSTILE, "runs": 2},
        readable=dict.fromkeys(
            ["formula1", "formula2", "before1", "before2", "total1", "total2"], 5
        ),
        early={"dynamic": 2, "static": 6},
    )
    assert "event 2 of the dynamic log and event 6 of the static one" in repr(table)
    assert "<script" not in table._repr_html_()
    assert table._repr_html_().count("<p ") == 6
    set_language("zh")
    assert "只要一个结果的时候" in repr(table)


def test_values_of_all_claims_may_be_told_at_once():
    formula = ["formula1", "formula2", "before1", "before2", "total1", "total2"]
    values = {**dict.fromkeys(formula, 5), "dynamic": 2, "static": 6, "built": "Mul", "runs": 2}
    assert "event 2 of the dynamic log and event 6 of the static one" in repr(claims("L00", values))
    assert "event 3 of" in repr(claims("L00", values, early={"dynamic": 3, "static": 6}))
    del values["runs"]
    with pytest.raises(ValueError, match=r"blueprint of L00 .*: runs"):
        claims("L00", values)


def test_files_and_ids_belong_together():
    ids = [x.id for x in [*QUESTIONS, *CHECKS]]
    assert len(set(ids)) == len(ids)
    for name, lesson in all_lessons().items():
        assert all(id.startswith(f"{name}.") for id in [*lesson.questions, *lesson.checks])


def test_every_row_about_questions_is_used():
    files = [*Path(ask.__file__).parent.rglob("*.py"), Path(questions.__file__)]
    files.append(Path(tables.__file__))
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    keys = [k for k in ROWS if k.startswith(("ask_", "check_", "claim_"))]
    assert keys
    assert [k for k in keys if f'"{k}"' not in code] == []


ALIVE = """<!DOCTYPE html><html lang="en" data-mg-font="inline"><meta charset="utf-8">
<title>Questions</title><style>{css}</style>
<body data-mg-page data-mg-language="en"><main></main><script type="module">
{module}
const values = {values};
widget.render({{ model: {{ get: (k) => values[k], set() {{}}, save_changes() {{}}, on() {{}},
  off() {{}} }}, el: document.querySelector("main") }});
</script>"""


def alive(widget: ask.Questions) -> str:
    """A page with the widget itself, which no kernel answers."""
    keys = ("questions", "answers", "verdicts", "labels")
    return ALIVE.format(
        css=sheets("theme", "language", "ask", "page"),
        module=assets.source("ask.js").replace("export default", "const widget ="),
        values=json.dumps({key: getattr(widget, key) for key in keys}),
    )


@pytest.mark.browser
def test_a_question_has_large_targets_and_is_red_only_where_an_answer_is_wrong(page):
    page.set_viewport_size({"width": 390, "height": 800})
    color = "e => getComputedStyle(e).color"
    border = "e => getComputedStyle(e).borderTopColor"
    heights = "all => all.map(e => e.getBoundingClientRect().height)"
    for theme, rules in (("light", ()), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=theme)
        page.set_content(alive(ask.quiz("L00.1", "L00.2", "L00.7", answers="AB")))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert min(page.locator(".mg-ask-option, .mg-ask button").evaluate_all(heights)) >= 44
        right, wrong = page.locator(".mg-ask-verdict:not(:empty)").all()
        assert right.inner_text().startswith("✓ Right.")
        assert wrong.inner_text().startswith("✗ Not quite.")
        above = "e => e.previousElementSibling.querySelector('input').checked"
        assert right.evaluate(above), "it hangs on the option that was chosen"
        assert wrong.evaluate(above)
        red = wrong.locator("b").evaluate(color)
        assert right.locator("b").evaluate(color) != red
        borders = page.locator(".mg-ask-option").evaluate_all(f"all => all.map({border})")
        assert [i for i, shown in enumerate(borders) if shown == red] == [4], "the wrong answer"
        families = "all => [...new Set(all.map(e => getComputedStyle(e).fontFamily))]"
        found = page.locator(".mg-ask :not(code, input)").evaluate_all(families)
        # English text has its narrow marks in front.
        assert len({family.replace('"Latin Marks", ', "") for family in found}) == 1
        assert serious(page, *rules) == []
    page.set_content(alive(ask.order("L00.6", [6, 4])))
    assert min(page.locator(".mg-ask li").evaluate_all(heights)) >= 44
    assert page.locator(".mg-ask-verdict").inner_text().startswith("✗ Not quite.")


@pytest.mark.browser
def test_no_word_of_an_option_is_alone_on_its_last_line(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(saved("predict").as_uri())
    option = page.locator(".mg-ask-option [lang=en]", has_text="changes at 2")
    words = """e => { const r = document.createRange(), walk = document.createTreeWalker(e, 4);
      while (!walk.currentNode.data?.endsWith("changes at 2")) walk.nextNode();
      const end = walk.currentNode.length;
      return [end - 4, end - 1].map(at => { r.setStart(walk.currentNode, at);
        r.setEnd(walk.currentNode, at + 1); return r.getBoundingClientRect().top; }); }"""
    assert len(set(option.evaluate(words))) == 1, "“at” goes with “2”"


@pytest.mark.browser
def test_no_line_of_a_question_begins_with_the_mark_after_code(page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.set_content(alive(ask.quiz("L12.4", "L07.2")))
    kept = page.locator("legend [lang=en] .mg-ask-kept")
    long = "x = placeholder(shape=(None, 784))."
    assert kept.all_inner_texts() == ["append", "torch.compile?", long]
    ends = "e => [e.lastChild, e.firstChild].map(n => { const r = document.createRange();"
    ends += "r.selectNode(n); return r.getBoundingClientRect().bottom; })"
    for one in kept.all()[1:]:
        mark, code = one.evaluate(ends)
        assert abs(mark - code) < 8
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_saved_question_quotes_the_code_that_its_lesson_quotes_above_it(
    path, tmp_path, monkeypatch
):
    monkeypatch.setattr("viz.page.document.font_face", lambda *_, **__: "")  # no text needs it
    text = ""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            text = cell.source
        elif found := re.match(r'lessons\.predict\("(.+)"\)', cell.source):
            question = ask.predict(found[1])
            code = questions.find_question(found[1], "predict").code
            halves = re.findall(r'<div lang="\w\w">(.*?)\n</div>', text, re.DOTALL)
            quoted = [re.findall(r"^```\w+\n(.*?)\n```", half, re.M | re.S) for half in halves]
            assert {"\n\n".join(blocks) for blocks in quoted} == {code}, found[1]
            page = question.save(tmp_path / "question.html").read_text("utf-8")
            assert (f"<pre>{escape(code)}</pre>" in page) is bool(code)
            assert "<pre>" not in question._repr_mimebundle_()[0]["text/html"], "it stands above"
