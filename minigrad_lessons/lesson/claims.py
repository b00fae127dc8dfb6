"""What sources claim beside what a lesson measured: `claims`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from string import Formatter

from minigrad.diagnostics.messages import Pair
from minigrad_lessons.lesson.wording import bilingual_lines, markup_to_html
from minigrad_lessons.questions import Claim, UnknownIdError, find_lesson
from viz.page.document import Document
from viz.words.text import in_language, row, row_text

__all__ = ["claims"]


class Claims(Document):
    """What people say, what was measured here, and when it holds: a paragraph each."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.claims = tuple(claims)

    def __repr__(self) -> str:
        paragraphs = [(" ".join(en), "".join(zh)) for en, zh in map(_sentences, self.claims)]
        return "\n\n".join(map(bilingual_lines, paragraphs))

    def _repr_html_(self) -> str:
        return self._page()[1]

    def _page(self) -> tuple[Pair, str]:
        paragraphs = "".join(
            in_language(lang, f"<b>{said}</b>{space}{space.join(rest)}", "p")
            for claim in self.claims
            for lang, space, parts in zip(("en", "zh"), (" ", ""), _sentences(claim), strict=True)
            for said, *rest in [[markup_to_html(sentence) for sentence in parts]]
        )
        return row("claims_title"), f'<div class="mg-shown mg-claims">{paragraphs}</div>'


def _sentences(claim: Claim) -> Iterator[tuple[str, ...]]:
    """Return the sentences of a claim, first in English, then in Chinese."""
    return zip(claim.claimed, claim.measured, claim.holds, strict=True)


def claims(
    lesson: str, values: Mapping[str, object] | None = None, /, **measured: Mapping[str, object]
) -> Claims:
    """Show what people say beside what a lesson measured; by name, the values of each claim.

    values: those of all claims, where a name means the same in each of them. An error among the
    values is shown by its kind, and there may be values that no sentence needs.
    UnknownIdError for an unknown lesson or claim, MissingValueError for a field without a value.

    >>> lines = dict.fromkeys(("formula1", "formula2", "before1", "before2", "total1", "total2"), 4)
    >>> events = {"dynamic": 1, "static": 4}
    >>> measured = {"built": "built Mul", "runs": 2}
    >>> table = claims("L00", blueprint=measured, readable=lines, early=events)
    >>> print(str(table).splitlines()[-1].split("number ")[1].split(". ")[0])
    appears as event 1 of the dynamic log and event 4 of the static one
    """
    bank = find_lesson(lesson).claims
    for id in measured:
        if id not in bank:
            raise UnknownIdError("ask_kind_claim", id, list(bank))
    given = dict.fromkeys(bank, values or {}) | measured
    for id, claim in bank.items():
        missing = field_names(claim) - set(given[id])
        if missing:
            lacking = ", ".join(f'"{name}": …' for name in sorted(missing))
            raise MissingValueError(
                row_text(
                    "ask_fields",
                    lesson=lesson,
                    id=id,
                    fields=", ".join(sorted(missing)),
                    call=f'claims("{lesson}", {id}={{{lacking}}})',
                )
            )
    return Claims([_fill_fields(claim, given[id]) for id, claim in bank.items()])


class MissingValueError(ValueError):
    """A sentence of a claim has a field for which nothing was measured."""


def field_names(claim: Claim) -> set[str]:
    """Return the names of the placeholders in the sentences of a claim."""
    sentences = (*claim.measured, *claim.holds)
    return {name for text in sentences for _, name, _, _ in Formatter().parse(text) if name}


def _fill_fields(claim: Claim, fields: Mapping[str, object]) -> Claim:
    """Return the claim with its measured values filled in."""
    kinds = {k: type(v).__name__ for k, v in fields.items() if isinstance(v, BaseException)}
    fields = {**fields, **kinds}
    measured, holds = (
        (pair[0].format(**fields), pair[1].format(**fields))
        for pair in (claim.measured, claim.holds)
    )
    return dataclasses.replace(claim, measured=measured, holds=holds)
