"""Marks on the nodes of a drawing: what ran, what did not, what is new, what failed.

A drawing is laid out once. Marks are classes of its nodes, and a sign in the place of the value
or a word on the border, so that they can change without a layout, in the browser or here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from viz.picture.boxes import Picture
from viz.picture.cards import State
from viz.picture.theme import MARKS

NONE: Mapping[str, str] = MappingProxyType({})
GIVEN = ("input", "parameter", "variable", "tensor", "constant")


def ran(picture: Picture, ids: Collection[str]) -> dict[str, str]:
    """Return the marks of nodes that ran; inputs and constants have none."""
    return {n.id: "ran" for n in picture.nodes if n.id in ids and n.kind not in GIVEN}


def note(kind: str, text: str) -> str:
    """Return the text in a marked node: the sign, if it has one, and a value; "-6 ✗"."""
    sign = MARKS[kind].sign if kind and not MARKS[kind].worded else ""
    return " ".join((text, sign) if sign in "✗!" else (sign, text)).strip()


def states(
    marks: Mapping[str, str], notes: Mapping[str, str], swatches: Mapping[str, str] = NONE
) -> dict[str, State]:
    """Return the states of marked nodes, for a page where nothing else sets them."""
    found = {}
    for i in {**marks, **notes}:
        kind = marks.get(i, "")
        classes = (f"mg-{kind}",) if kind else ()
        found[i] = State(classes, note(kind, notes.get(i, "")), swatch=swatches.get(i, ""))
    return found
