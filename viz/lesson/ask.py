"""Questions and checks of the lessons: `predict`, `quiz`, `order`, `check`, `claims`.

A question never blocks: without an answer it is just shown. A check that fails raises
AssertionError, so a grader sees it; a check of something still unanswered (`...`) only says so.
Where no kernel is alive the page shows the same content as text that unfolds.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from string import Formatter
from typing import Any, cast

import anywidget
import traitlets
from IPython import get_ipython
from IPython.display import display

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import Pair, choose
from viz import assets
from viz.lesson.answers import equal, has_gap
from viz.page.document import Document, table_html
from viz.page.sheets import sheets
from viz.questions import (
    Claim,
    Question,
    UnknownIdError,
    Verdict,
    find_check,
    find_lesson,
    find_question,
    judge,
    one_order,
)
from viz.words.text import printed, row

__all__ = ["check", "claims", "order", "predict", "quiz"]

MARKS = {True: "✓", False: "✗"}
MISSING: Any = object()
GRADING = "NBGRADER_EXECUTION"  # the variable that nbgrader sets while it runs a notebook
LABELS = ("ask_check", "ask_add", "ask_remove", "ask_lines", "ask_yours")


# ---- Text with `code` in it ------------------------------------------------------------------


def _marked_up(text: str) -> str:
    """Escaped text in which `...` between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _bilingual(pair: Pair, tag: str = "span") -> str:
    """Both halves as HTML, each in an element with its language, and a space between them.

    The space is for a page that drops our style sheet and so shows both.
    """
    if pair[0] == pair[1]:
        return _marked_up(pair[0])
    halves = zip(("en", "zh"), pair, strict=True)
    return " ".join(f'<{tag} lang="{lang}">{_marked_up(text)}</{tag}>' for lang, text in halves)


def _lines(pair: Pair, indent: str = "") -> str:
    """The chosen half, or both on lines of their own, every line indented."""
    halves = choose(pair) if pair[0] != pair[1] else pair[0]
    return "\n".join(indent + line for line in halves.splitlines())


# ---- Questions -------------------------------------------------------------------------------


class Questions(Document, anywidget.AnyWidget):
    """One or more questions with real radio buttons; `answers` holds what was chosen so far."""

    _esm = assets.source("ask.js")
    _css = sheets("theme", "ask")
    questions: traitlets.List[Any] = traitlets.List().tag(sync=True)
    answers: traitlets.List[Any] = traitlets.List().tag(sync=True)
    verdicts: traitlets.List[Any] = traitlets.List().tag(sync=True)
    labels = traitlets.Dict().tag(sync=True)

    def __init__(self, bank: Sequence[Question], answers: Sequence[Any]) -> None:
        self._bank = tuple(bank)
        super().__init__(
            questions=[_browser_data(q) for q in bank],
            answers=[_plain(a) for a in answers],
            labels={key: list(row(key)) for key in LABELS}
            | {"right": list(row("ask_right")), "wrong": list(row("ask_wrong"))},
        )
        self._judge_all()

    @traitlets.observe("answers")
    def _follow(self, change: Any) -> None:
        if hasattr(self, "_bank"):
            self._judge_all()

    def _judge_all(self) -> None:
        found = [judge(q, a) for q, a in zip(self._bank, self.answers, strict=False)]
        self.verdicts = [v and {"right": v.right, "text": list(v.text)} for v in found]

    @property
    def text(self) -> str:
        """What is shown, as text in the chosen language."""
        pairs = zip(self._bank, self.answers, strict=False)
        return "\n\n".join(_question_text(q, a) for q, a in pairs)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = cast(Any, super()._repr_mimebundle_(**kwargs))
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data = data or {}
        data["text/plain"] = self.text
        data["text/html"] = self._page()[1]
        return (data, bundle[1]) if isinstance(bundle, tuple) else data

    def _page(self) -> tuple[Pair, str]:
        pairs = zip(self._bank, self.answers, strict=False)
        return _title(self._bank), "".join(_question_html(q, a) for q, a in pairs)


def _title(bank: Sequence[Question]) -> Pair:
    """The question itself, or the numbers of several."""
    if len(bank) > 1:
        return row("ask_several", ids=", ".join(q.id for q in bank))
    english, chinese = (half.replace("`", "").partition("\n")[0] for half in bank[0].text)
    return row("ask_one", id=bank[0].id, text=(english, chinese))


def _plain(answer: Any) -> Any:
    """An answer as the browser can hold it."""
    if isinstance(answer, list | tuple):
        return [n if isinstance(n, int) else repr(n) for n in answer]
    return answer if answer is None or isinstance(answer, str) else repr(answer)


def _browser_data(question: Question) -> dict[str, Any]:
    """What the widget shows; which option is right stays here."""
    return {
        "id": question.id,
        "text": list(question.text),
        "options": [list(o.text) for o in question.options],
        "lines": [line.code for line in question.lines],
    }


def _question_text(question: Question, answer: Any) -> str:
    parts = [f"{question.id}  {_lines(question.text).replace(chr(10), chr(10) + '  ')}"]
    for letter, option in zip(question.letters, question.options, strict=True):
        parts.append(f"  {letter}  " + _lines(option.text).replace("\n", "\n     "))
    parts += [f"  {number}  {line.code}" for number, line in enumerate(question.lines, 1)]
    if verdict := judge(question, answer):
        parts.append(_verdict_text(answer, verdict))
    return "\n".join(parts)


def _verdict_text(answer: Any, verdict: Verdict) -> str:
    word = printed("ask_right" if verdict.right else "ask_wrong").replace("\n", " · ")
    return f"{MARKS[verdict.right]} {answer} · {word}\n" + _lines(verdict.text, "  ")


def _question_html(question: Question, answer: Any) -> str:
    """A question that unfolds its feedback without a kernel and without a script."""
    asked = (
        f'<div class="mg-ask-question"><span class="mg-ask-id">{escape(question.id)}</span> '
        f"{_bilingual(question.text)}</div>"
    )
    if question.lines:
        lines = "".join(f"<li><code>{escape(line.code)}</code></li>" for line in question.lines)
        summary = _bilingual(row("ask_one_order"))
        one = ", ".join(map(str, one_order(question)))
        body = f"<ol>{lines}</ol>{_unfolds(summary, f'<p>[{one}]</p>')}"
    else:
        options = zip(question.letters, question.options, strict=True)
        body = "".join(
            _unfolds(
                f"<b>{letter}</b> {_bilingual(o.text)}",
                _verdict_html(Verdict(o.right, o.feedback)),
                f' data-right="{str(o.right).lower()}"',
            )
            for letter, o in options
        )
    if verdict := judge(question, answer):
        body += _verdict_html(verdict, f"{escape(str(answer))}: ")
    return f'<div class="mg-ask">{asked}{body}</div>'


def _unfolds(summary: str, inside: str, more: str = "") -> str:
    return f'<details class="mg-ask-option"{more}><summary>{summary}</summary>{inside}</details>'


def _verdict_html(verdict: Verdict, before: str = "") -> str:
    word = _bilingual(row("ask_right" if verdict.right else "ask_wrong"))
    return (
        f'<p class="mg-ask-verdict" data-right="{str(verdict.right).lower()}">{before}'
        f"<b>{MARKS[verdict.right]} {word}</b> {_bilingual(verdict.text)}</p>"
    )


def predict(id: str, answer: str | None = None) -> Questions:
    """Ask what a piece of code will do before it runs; `answer` is a letter.

    Without an answer it is only shown. UnknownIdError lists the ids of the bank.

    >>> print(predict("L00.3", answer="B"))
    L00.3  What does `print(x.grad)` show?
      A  `tensor(7.)`: the last thing computed was `y`
      B  `tensor(4.)`: how fast `y` changes at 2
      C  `None`: no line of the code made a graph
      D  `tensor(2.)`: `x` itself was never changed
    ✓ B · Right.
      Yes: `y.backward()` puts the derivative, 2x = 4, into `x.grad`.
    """
    return Questions([find_question(id, "predict")], [answer])


def quiz(*ids: str, answers: Sequence[str | None] = ()) -> Questions:
    """Show one or more questions with options; `answers` holds letters, for example "BA".

    >>> print(quiz("L00.1", answers="A"))
    L00.1  Warm-up: take f(x) = x * x + 3. What is f(-2)?
      A  7
      B  -1
      C  1
    ✓ A · Right.
      (-2) * (-2) is 4, and 4 + 3 is 7: the same as f(2).
    """
    found = [find_question(id, "quiz") for id in ids]
    given = [*answers][: len(found)]
    return Questions(found, given + [None] * (len(found) - len(given)))


def order(id: str, answer: Sequence[int] | None = None) -> Questions:
    """Ask for lines of code in a working order; `answer` lists the numbers shown before them.

    Every order is right in which each line comes after the lines that it needs.

    >>> print("\\n".join(str(order("L00.6", [6, 4, 1, 2, 3])).splitlines()[-2:]))
    ✗ [6, 4, 1, 2, 3] · Not quite.
      Line 2 uses what line 3 makes, so line 3 comes first.
    """
    return Questions([find_question(id, "order")], [answer])


# ---- Checks ----------------------------------------------------------------------------------


class Shown:
    """A few lines in both languages: HTML for a page, text in the chosen language elsewhere."""

    def __init__(self, pairs: Sequence[Pair], mark: str, name: str) -> None:
        self.pairs, self.mark, self.name = tuple(pairs), mark, name

    def __repr__(self) -> str:
        first, *rest = (_lines(pair).replace("\n", "\n  ") for pair in self.pairs)
        return "\n".join([f"{self.mark} {self.name}  {first}", *(f"  {line}" for line in rest)])

    def _repr_html_(self) -> str:
        lines = "<br>".join(_bilingual(pair) for pair in self.pairs)
        return f'<div role="status">{self.mark} <b>{escape(self.name)}</b> {lines}</div>'


class CheckFailed(AssertionError):
    """A check of an exercise that failed; its text follows the chosen language."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown.name)
        self.shown = shown

    def __str__(self) -> str:
        return repr(self.shown)

    def _render_traceback_(self) -> list[str]:
        """In a notebook the message stands above; the lines of this module would hide it."""
        return [f"CheckFailed: {self.shown.name}"]


def check(
    id: str,
    got: Any,
    want: Any = MISSING,
    *,
    ok: bool | None = None,
    tolerance: float = 1e-9,
) -> Shown:
    """Compare an answer with what is expected; raise AssertionError when it is wrong.

    got: a value, or a function without arguments that gives one.
    want: numbers and arrays agree within `tolerance` and in shape, anything else exactly; lists,
    tuples and arrays stand for one another, and agree item by item.
    ok: the verdict itself, for a property that is not one value; `want` is then only shown.

    A gap `...` that is left in `got`, or in the functions of the notebook that it calls, is not
    judged: nothing was filled in yet. Where nbgrader grades, it is a mistake.

    >>> print(check("L00.faded.1", 4 * 5, 20))
    ✓ L00.faded.1  passed: the graph returns 20
    """
    entry = find_check(id)
    problem = None
    if callable(got) and not callable(want) and not has_gap(got):
        got, problem = _call(got)
    if has_gap(got):
        if not os.environ.get(GRADING):
            return Shown([entry.text, row("check_gap")], "…", id)
        problem = row("check_gap")
    right = problem is None and (equal(got, want, tolerance) if ok is None else bool(ok))
    if right:
        return Shown([row("check_passed", text=entry.text)], MARKS[True], id)
    lines = [row("check_failed", text=entry.text)]
    if want is not MISSING:
        lines.append(row("check_expected", value=_brief(want)))
    lines += [problem or row("check_got", value=_brief(got)), row("check_hint", hint=entry.hint)]
    shown = Shown(lines, MARKS[False], id)
    if get_ipython() is not None:
        cast(Any, display)(shown)
    raise CheckFailed(shown)


def _call(got: Callable[[], Any]) -> tuple[Any, Pair | None]:
    """The value of a learner's function, or what it raised."""
    try:
        value = got()
        return (list(value) if isinstance(value, Iterator) else value), None
    except Exception as error:  # noqa: BLE001 - whatever the learner's code raises is the answer
        text = error.pair if isinstance(error, GraphError) else (str(error), str(error))
        return None, row("check_raised", kind=type(error).__name__, message=text)


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:299] + "…"


# ---- Claims ----------------------------------------------------------------------------------


class ClaimTable(Document):
    """What sources claim, what was measured here, and when the claim holds."""

    columns = ("claim_claimed", "claim_measured", "claim_holds")

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.claims = tuple(claims)

    @staticmethod
    def _cells(claim: Claim) -> tuple[Pair, Pair, Pair]:
        return claim.claimed, claim.measured, claim.holds

    def __repr__(self) -> str:
        parts = []
        for claim in self.claims:
            parts.append(f"{claim.id} ({claim.source})")
            for key, pair in zip(self.columns, self._cells(claim), strict=True):
                parts.append(_lines(row("claim_line", title=row(key), text=pair), "  "))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return self._page()[1]

    def _page(self) -> tuple[Pair, str]:
        head = [_bilingual(row(key)) for key in ("claim_claim", *self.columns)]
        rows = [
            [escape(f"{claim.id} ({claim.source})")]
            + [_bilingual(pair, "div") for pair in self._cells(claim)]
            for claim in self.claims
        ]
        return row("claims_title"), table_html(head, rows)


def claims(lesson: str, **measured: Mapping[str, object]) -> ClaimTable:
    """The claim table of a lesson; for each claim id the values of the fields in its sentences.

    UnknownIdError for an unknown lesson or claim, MissingValueError for a field without a value.

    >>> lines = dict.fromkeys(("formula1", "formula2", "before1", "before2", "total1", "total2"), 4)
    >>> events = {"dynamic": 1, "static": 4}
    >>> table = claims("L00", C08={**events, "runs": 2}, C45=lines, C80=events)
    >>> print(str(table).splitlines()[-2].partition("lists")[2])
     the first computed number is event 1 of E1 and event 4 of E2.
    """
    bank = find_lesson(lesson).claims
    for id in measured:
        if id not in bank:
            raise UnknownIdError("ask_kind_claim", id, list(bank))
    for id, claim in bank.items():
        missing = fields_of(claim) - set(measured.get(id, {}))
        if missing:
            values = ", ".join(f'"{name}": …' for name in sorted(missing))
            raise MissingValueError(
                printed(
                    "ask_fields",
                    lesson=lesson,
                    id=id,
                    fields=", ".join(sorted(missing)),
                    call=f'claims("{lesson}", {id}={{{values}}})',
                )
            )
    return ClaimTable([_filled(claim, measured.get(id, {})) for id, claim in bank.items()])


class MissingValueError(ValueError):
    """A sentence of a claim has a field for which nothing was measured."""


def fields_of(claim: Claim) -> set[str]:
    """The names of the values that the sentences of a claim leave open."""
    sentences = (*claim.measured, *claim.holds)
    return {name for text in sentences for _, name, _, _ in Formatter().parse(text) if name}


def _filled(claim: Claim, fields: Mapping[str, object]) -> Claim:
    """The claim with its measured values in place."""
    measured, holds = (
        (pair[0].format(**fields), pair[1].format(**fields))
        for pair in (claim.measured, claim.holds)
    )
    return dataclasses.replace(claim, measured=measured, holds=holds)
