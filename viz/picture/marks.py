"""Marks on the nodes of a finished drawing: what ran, what did not, what is new, what failed.

A drawing is laid out once. Marks are classes of its nodes and a sign in the empty line of each, so
that they can change without a layout, in the browser or here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape, unescape

from viz.picture.theme import BLACK, BLUE, GREEN, MARKS, VERMILION

NEXT = r'(?=<g id="[^"]+" class=|</g>\n</svg>)'  # a node holds groups without a class
NODE = re.compile(r'<g id="([^"]+)" class="node">.*?' + NEXT, re.DOTALL)
SLOT = re.compile(r"(<text [^>]*>)[^<]*(</text>)(?!.*<text )", re.DOTALL)
PALE = {"ghost": 0.25, "waits": 0.25, "absent": 0.0}  # how much of the fill is left
VARIABLES = {BLACK: "--mg-ink", BLUE: "--mg-blue", GREEN: "--mg-green", VERMILION: "--mg-red"}
SHAPES = ":is(ellipse, polygon, path, polyline)"
DASHES = {"solid": "none", "dashed": "6 4", "dotted": "2 3"}


def style() -> str:
    """The style rules of all marks; a dark page has its own colours for the variables."""
    rules = [
        f"{_of(kind)} {SHAPES} {{ stroke: {_color(m.color)}; stroke-width: {m.width}; "
        f"stroke-dasharray: {DASHES[m.line]}; }}"
        for kind, m in MARKS.items()
    ]
    rules += [f"{_of(kind)} {SHAPES} {{ fill-opacity: {left}; }}" for kind, left in PALE.items()]
    written = ", ".join(f"{_of(kind)} text" for kind in PALE)
    ink = f"{written} {{ fill: var(--mg-ink, {BLACK}); }}"
    outlines = ", ".join(f"{_of(kind)} {SHAPES}" for kind in MARKS)  # seen in small drawings, too
    steady = f"{outlines} {{ vector-effect: non-scaling-stroke; }}"
    return "\n".join([*rules, steady, ink])


def _of(kind: str) -> str:
    """Marked nodes; the class stands there twice to outweigh the player's rules on any page."""
    return f"g.node.mg-{kind}.mg-{kind}"


def _color(color: str) -> str:
    return f"var({VARIABLES[color]}, {color})"


def note(kind: str, text: str) -> str:
    """What is written in a marked node: the sign, and a value where there is one."""
    sign = MARKS[kind].sign if kind else ""
    return f"{sign} {text}".strip()


def marked(svg: str, prefix: str, marks: Mapping[str, str], notes: Mapping[str, str]) -> str:
    """A drawing with its marks, on a page where nothing else will put them there."""

    def mark(found: re.Match[str]) -> str:
        node = unescape(found[1]).removeprefix(f"{prefix}-")
        kind, text = marks.get(node, ""), notes.get(node, "")
        group = found[0]
        if kind:
            group = group.replace('class="node"', f'class="node mg-{kind}"', 1)
        if kind or text:
            said = escape(note(kind, text))
            group = SLOT.sub(lambda slot: f"{slot[1]}{said}{slot[2]}", group, count=1)
        return group

    return NODE.sub(mark, svg.replace(">", f"><style>{style()}</style>", 1))
