"""Questions of the lessons: `predict`, `quiz`, `order`.

A question never blocks: without an answer it is just shown. Where no kernel is alive the page shows
the same content as text that unfolds.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from typing import Any, cast

import anywidget
import traitlets

from minigrad.diagnostics.messages import Pair
from minigrad_lessons.lesson.progress import record_answer
from minigrad_lessons.lesson.wording import MARKS, bilingual, bilingual_lines
from minigrad_lessons.questions import Option, Question, Verdict, find_question, judge, one_order
from viz import assets
from viz.page.document import Document
from viz.page.sheets import sheets
from viz.page.stored import with_fallback
from viz.words.text import row, row_text

__all__ = ["order", "predict", "quiz"]

LABELS = ("ask_check", "ask_add", "ask_remove", "ask_lines", "ask_yours")


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
            answers=[_plain_answer(a) for a in answers],
            labels={key: list(row(key)) for key in LABELS}
            | {"right": list(row("ask_right")), "wrong": list(row("ask_wrong"))},
        )
        self._judge_all(self.answers)

    @traitlets.observe("answers")
    def _on_change(self, change: Any) -> None:
        if hasattr(self, "_bank"):
            self._judge_all(change["old"] or ())

    def _judge_all(self, before: Sequence[Any] = ()) -> None:
        found = [judge(q, a) for q, a in zip(self._bank, self.answers, strict=False)]
        entries = zip_longest(self._bank, self.answers, found, before)
        for question, answer, verdict, old in entries:
            if verdict and answer != old:
                record_answer(question.kind, question.id, verdict.right, str(answer))
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
        return with_fallback(bundle, self.text, self._html())

    def _html(self, alone: bool = False) -> str:
        pairs = zip(self._bank, self.answers, strict=False)
        return "".join(_question_html(q, a, alone) for q, a in pairs)

    def _page(self) -> tuple[Pair, str]:
        return _title(self._bank), self._html(alone=True)


def _title(bank: Sequence[Question]) -> Pair:
    """Return the text of a single question, or how many there are."""
    if len(bank) > 1:
        return row("ask_several", count=len(bank))
    english, chinese = (half.replace("`", "").partition("\n")[0] for half in bank[0].text)
    return row("ask_one", id=bank[0].id, text=(english, chinese))


def _plain_answer(answer: Any) -> Any:
    """Convert an answer to what JSON can hold."""
    if isinstance(answer, list | tuple):
        return [n if isinstance(n, int) else repr(n) for n in answer]
    return answer if answer is None or isinstance(answer, str) else repr(answer)


def _browser_data(question: Question) -> dict[str, Any]:
    """Return what the widget shows; which option is right is not sent to the browser."""
    return {
        "id": question.id,
        "text": list(question.text),
        "options": [list(o.text) for o in question.options],
        "lines": [line.code for line in question.lines],
    }


def _question_text(question: Question, answer: Any) -> str:
    parts = [f"{question.id}  {bilingual_lines(question.text).replace(chr(10), chr(10) + '  ')}"]
    for letter, option in zip(question.letters, question.options, strict=True):
        parts.append(f"  {letter}  " + bilingual_lines(option.text).replace("\n", "\n     "))
    parts += [f"  {number}  {line.code}" for number, line in enumerate(question.lines, 1)]
    if verdict := judge(question, answer):
        parts.append(_verdict_text(answer, verdict))
    return "\n".join(parts)


def _verdict_text(answer: Any, verdict: Verdict) -> str:
    word = row_text("ask_right" if verdict.right else "ask_wrong").replace("\n", " · ")
    return f"{MARKS[verdict.right]} {answer} · {word}\n" + bilingual_lines(verdict.text, "  ")


def _question_html(question: Question, answer: Any, alone: bool = False) -> str:
    """Return a question as HTML that unfolds its feedback; if it is alone, with its code."""
    verdict = judge(question, answer)
    quoted = f"<pre>{escape(question.code)}</pre>" if alone and question.code else ""
    question_html = (
        f'<div class="mg-ask-question"><span class="mg-ask-id">{escape(question.id)}</span> '
        f"{bilingual(question.text)}</div>{quoted}"
    )
    if question.lines:
        lines = "".join(f"<li><code>{escape(line.code)}</code></li>" for line in question.lines)
        summary = bilingual(row("ask_one_order"))
        one = ", ".join(map(str, one_order(question)))
        body = f"<ol>{lines}</ol>{_details_html(summary, f'<p>[{one}]</p>')}"
    else:
        options = zip(question.letters, question.options, strict=True)
        body = "".join(_option_html(letter, o, verdict, answer) for letter, o in options)
    if verdict and "data-told open" not in body:
        body += _verdict_html(verdict, f"{escape(str(answer))}: ")
    return f'<div class="mg-ask">{question_html}{body}</div>'


def _option_html(letter: str, option: Option, verdict: Verdict | None, answer: Any) -> str:
    """Return an option as HTML that unfolds: open if chosen; once answered, the right is marked."""
    chosen = letter == str(answer).strip().upper()
    text = f"<b>{letter}</b> {bilingual(option.text)}"
    if chosen:
        text += f' <small class="mg-ask-part">{bilingual(row("ask_chosen"))}</small>'
    elif verdict and option.right:
        text += f" <b>{MARKS[True]} " + bilingual(row("ask_answer")) + "</b>"
    more = f' data-right="{str(option.right).lower()}"' + (" data-told" if verdict else "")
    inside = _verdict_html(Verdict(option.right, option.feedback))
    return _details_html(text, inside, more + (" open" if chosen else ""))


def _details_html(summary: str, inside: str, more: str = "") -> str:
    return f'<details class="mg-ask-option"{more}><summary>{summary}</summary>{inside}</details>'


def _verdict_html(verdict: Verdict, before: str = "") -> str:
    word = bilingual(row("ask_right" if verdict.right else "ask_wrong"))
    return (
        f'<p class="mg-ask-verdict" data-right="{str(verdict.right).lower()}">{before}'
        f"<b>{MARKS[verdict.right]} {word}</b> {bilingual(verdict.text)}</p>"
    )


def predict(id: str, answer: str | None = None) -> Questions:
    """Show a question about what a piece of code will do; `answer` is a letter.

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
    """Show lines of code to put in a working order; `answer` lists the numbers before them.

    Every order is right in which each line comes after the lines that it needs.

    >>> print("\\n".join(str(order("L00.6", [6, 4, 1, 2, 3])).splitlines()[-2:]))
    ✗ [6, 4, 1, 2, 3] · Not quite.
      Line 2 uses what line 3 makes, so line 3 comes first.
    """
    return Questions([find_question(id, "order")], [answer])
