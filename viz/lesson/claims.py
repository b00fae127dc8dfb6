"""What sources claim beside what a lesson measured: `claims`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from html import escape
from string import Formatter

from minigrad.diagnostics.messages import Pair
from viz.lesson.wording import bilingual, lines_of
from viz.page.document import Document, table_html
from viz.questions import Claim, UnknownIdError, find_lesson
from viz.words.text import printed, row

__all__ = ["claims"]


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
        for place, claim in enumerate(self.claims, 1):
            parts.append(_label(claim, place))
            for key, pair in zip(self.columns, self._cells(claim), strict=True):
                parts.append(lines_of(row("claim_line", title=row(key), text=pair), "  "))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return self._page()[1]

    def _page(self) -> tuple[Pair, str]:
        head = [bilingual(row(key)) for key in ("claim_claim", *self.columns)]
        rows = [
            [escape(_label(claim, place))] + [bilingual(pair, "div") for pair in self._cells(claim)]
            for place, claim in enumerate(self.claims, 1)
        ]
        return row("claims_title"), table_html(head, rows, told=True)


def _label(claim: Claim, place: int) -> str:
    """What stands before a claim: its place, or its id as long as it has no name."""
    return str(place) if claim.name != claim.id else f"{claim.id} ({claim.source})"


def claims(
    lesson: str, values: Mapping[str, object] | None = None, /, **measured: Mapping[str, object]
) -> ClaimTable:
    """The claim table of a lesson: by the name of each claim, the values that its sentences need.

    values: those of all claims, where a name means the same in each of them. An error among the
    values is told by its kind, and there may be values that no sentence needs.
    UnknownIdError for an unknown lesson or claim, MissingValueError for a field without a value.

    >>> lines = dict.fromkeys(("formula1", "formula2", "before1", "before2", "total1", "total2"), 4)
    >>> events = {"dynamic": 1, "static": 4}
    >>> told = {**events, "runs": 2}
    >>> table = claims("L00", blueprint=told, readable=lines, early=events)
    >>> print(str(table).splitlines()[-2].partition(": ")[2])
    The first number appears as event 1 of the dynamic log and event 4 of the static one.
    """
    bank = find_lesson(lesson).claims
    for id in measured:
        if id not in bank:
            raise UnknownIdError("ask_kind_claim", id, list(bank))
    given = dict.fromkeys(bank, values or {}) | measured
    for id, claim in bank.items():
        missing = fields_of(claim) - set(given[id])
        if missing:
            lacking = ", ".join(f'"{name}": …' for name in sorted(missing))
            raise MissingValueError(
                printed(
                    "ask_fields",
                    lesson=lesson,
                    id=id,
                    fields=", ".join(sorted(missing)),
                    call=f'claims("{lesson}", {id}={{{lacking}}})',
                )
            )
    return ClaimTable([_filled(claim, given[id]) for id, claim in bank.items()])


class MissingValueError(ValueError):
    """A sentence of a claim has a field for which nothing was measured."""


def fields_of(claim: Claim) -> set[str]:
    """The names of the values that the sentences of a claim leave open."""
    sentences = (*claim.measured, *claim.holds)
    return {name for text in sentences for _, name, _, _ in Formatter().parse(text) if name}


def _filled(claim: Claim, fields: Mapping[str, object]) -> Claim:
    """The claim with its measured values in place."""
    kinds = {k: type(v).__name__ for k, v in fields.items() if isinstance(v, BaseException)}
    fields = {**fields, **kinds}
    measured, holds = (
        (pair[0].format(**fields), pair[1].format(**fields))
        for pair in (claim.measured, claim.holds)
    )
    return dataclasses.replace(claim, measured=measured, holds=holds)
