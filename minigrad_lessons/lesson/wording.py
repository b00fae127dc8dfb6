"""Text in both languages with `code` in it, on a page and printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from textwrap import dedent

from minigrad.diagnostics.messages import Pair, choose
from viz.words.text import NAMES, ROWS, in_language

MARKS = {True: "✓", False: "✗"}
KINDS = {  # of exercises, by the second part of their ids
    "worked": "check_kind_worked",
    "faded": "check_kind_faded",
    "core": "check_kind_core",
    "if": "check_kind_stretch",
    "exercise": "check_kind_exercise",
    "stretch": "check_kind_stretch",
}
GRADING = "NBGRADER_EXECUTION"  # the variable that nbgrader sets while it runs a notebook


def markup_to_html(text: str) -> str:
    """Escape a text as HTML, with what is between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def bilingual(pair: Pair, tag: str = "span") -> str:
    """Return both halves as HTML, each in an element with its language."""
    if pair[0] == pair[1]:
        code = pair[0].startswith("    ")
        return f"<pre>{escape(dedent(pair[0]))}</pre>" if code else markup_to_html(pair[0])
    return " ".join(map(in_language, NAMES, map(markup_to_html, pair), (tag, tag)))


def bilingual_lines(pair: Pair, indent: str = "") -> str:
    """Return the half in the chosen language, or both on separate lines, every line indented."""
    halves = choose(pair) if pair[0] != pair[1] else pair[0]
    return "\n".join(indent + line for line in halves.splitlines())


class Message:
    """A few lines in both languages: a card on a page, text in the chosen language elsewhere.

    after: what to do next, which only the card says.
    """

    def __init__(
        self, pairs: Sequence[Pair], mark: str, name: str, after: Sequence[Pair] = ()
    ) -> None:
        self.pairs, self.mark, self.name, self.after = tuple(pairs), mark, name, after

    def __repr__(self) -> str:
        first, *rest = (bilingual_lines(pair).replace("\n", "\n  ") for pair in self.pairs)
        return "\n".join([f"{self.mark} {self.name}  {first}", *(f"  {line}" for line in rest)])

    def _repr_html_(self) -> str:
        first, *rest = map(bilingual, self.pairs)
        lines = [line if line.startswith("<pre") else f"<p>{line}</p>" for line in rest]
        lines += [f'<p class="mg-ask-part">{bilingual(pair)}</p>' for pair in self.after]
        lesson, _, kind = self.name.partition(".")
        kind_row = KINDS.get(kind.partition(".")[0])
        title = f"{escape(lesson)} · {bilingual(ROWS[kind_row])}" if kind_row else escape(self.name)
        right = {mark: str(right).lower() for right, mark in MARKS.items()}.get(self.mark, "")
        return (
            f'<div role="status" class="mg-ask mg-said" data-right="{right}">'
            f'<div class="mg-ask-question"><span class="mg-ask-id">{title}</span> '
            f"<b>{self.mark}</b> {first}</div>{''.join(lines)}</div>"
        )
