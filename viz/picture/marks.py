"""Marks on the nodes of a drawing: what ran, what did not, what is new, what failed.

A drawing is laid out once. Marks are classes of its nodes and a sign in the place of the value, so
that they can change without a layout, in the browser or here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from viz.picture.boxes import Picture
from viz.picture.cards import State
from viz.picture.theme import MARKS

SUMS = "−+~≠"  # signs that a number must not follow as if they were its own
NONE: Mapping[str, str] = MappingProxyType({})
GIVEN = ("input", "parameter", "variable", "tensor", "constant")


def ran(picture: Picture, ids: Collection[str]) -> dict[str, str]:
    """The marks of nodes that ran: what was only given bears none."""
    return {n.id: "ran" for n in picture.nodes if n.id in ids and n.kind not in GIVEN}


def note(kind: str, text: str) -> str:
    """What is written in a marked node: the sign, and a value where there is one."""
    sign = MARKS[kind].sign if kind else ""
    bar = "│ " if text and sign and sign in SUMS else ""
    return f"{sign} {bar}{text}".strip()


def states(
    marks: Mapping[str, str], notes: Mapping[str, str], swatches: Mapping[str, str] = NONE
) -> dict[str, State]:
    """What marked nodes show on a page where nothing else will put it there."""
    found = {}
    for i in {**marks, **notes}:
        kind = marks.get(i, "")
        classes = (f"mg-{kind}",) if kind else ()
        found[i] = State(classes, note(kind, notes.get(i, "")), swatch=swatches.get(i, ""))
    return found
