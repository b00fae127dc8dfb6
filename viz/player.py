"""The player: drawings that light up step by step, in the browser, without the kernel.

The kernel sends one picture per graph and the life of every node; the browser does the stepping.
The same module plays in a saved page.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Self

from viz import assets
from viz.dot import LayoutError, as_image, render
from viz.frames import Film, Frame, Summary, Track
from viz.page import Page
from viz.picture import Picture
from viz.text import ROWS, Pair, bilingual, both, html

_numbers = itertools.count(1)
TABLE_LIMIT = 500  # rows; more cannot be surveyed and make a page slow
WORDS = [
    *("player", "first", "back", "forward", "last", "play", "position", "zoom_in", "zoom_out"),
    *("fit", "fold", "keys", "clocks", "clock_built", "clock_run", "clock_gradient", "shape"),
    *("value", "gradient", "not_computed", "not_yet", "select"),
]


class Player(Page):
    """One or two graphs with a slider, step buttons and keys; made by step, compare, timeline."""

    _esm = assets.source("widget.js") + assets.source("player.js")
    _css = assets.source("player.css") + assets.source("language.css")

    def __init__(self, films: Sequence[Film], verdict: Pair | None = None) -> None:
        super().__init__()
        self.show(films, verdict)

    def show(self, films: Sequence[Film], verdict: Pair | None = None) -> None:
        """Replace the films, in every place where the player is displayed."""
        self.films, self.verdict = tuple(films), verdict
        self.data = _payload(self.films, verdict)

    def at_the_end(self) -> Self:
        """Stand at the last step, where everything can be seen, instead of at the first."""
        self.index = max(0, len(self.data["frames"]) - 1)
        return self

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The steps of the film (of the first one, if there are two)."""
        return self.films[0].frames if self.films else ()

    def text(self) -> Pair:
        """Everything the player tells, as text in both languages."""
        if not self.films:
            return ROWS["player_empty"]
        halves = [film.text() for film in self.films]
        english, chinese = (["\n\n".join(h[i] for h in halves)] for i in (0, 1))
        if self.verdict:
            english.append(self.verdict[0])
            chinese.append(self.verdict[1])
        return "\n".join(english), "\n".join(chinese)

    def _still(self) -> str:
        """What a page without widgets shows: the drawings, and the steps as a list."""
        if not self.films:
            return f"<p>{html('player_empty')}</p>"
        drawings = "".join(
            as_image(g["views"][-1]["svg"], g["alt"])
            for g in self.data["graphs"]
            if g["views"][-1]["svg"].startswith("<svg")
        )
        steps = "".join(
            f"<ol start='0'>{''.join(f'<li>{bilingual(f.caption)}</li>' for f in film.frames)}</ol>"
            for film in self.films
        )
        summary = html("table")
        return (
            f'<figure class="mg-still">{drawings}'
            f"<details><summary>{summary}</summary>{steps}</details></figure>"
        )


def _payload(films: Sequence[Film], verdict: Pair | None) -> dict[str, Any]:
    """All that the browser needs, as plain JSON."""
    name = f"mg{next(_numbers)}"
    prefixes = [f"{name}{'abcdef'[i]}" for i in range(len(films))]
    nodes: dict[str, Any] = {}
    for film, prefix in zip(films, prefixes, strict=True):
        for box in film.picture.nodes:
            title = (f"{box.label} · {box.title[0]}", f"{box.label} · {box.title[1]}")
            track = _track(film.tracks[box.id])
            nodes[f"{prefix}-{box.id}"] = {
                "title": bilingual(title if box.title[0] else (box.label, box.label)),
                "label": box.label,
                "shape": box.shape,
                **track,
            }
    return {
        "name": name,
        "graphs": [_graph(f, p, len(films) > 1) for f, p in zip(films, prefixes, strict=True)],
        "nodes": nodes,
        "frames": [
            _frame(
                [f.frames[min(i, len(f.frames) - 1)] for f in films],
                prefixes,
                [i < len(f.frames) for f in films],
            )
            for i in range(max((len(f.frames) for f in films), default=0))
        ],
        "lanes": [
            _lane(film, prefix, clock, len(films) > 1)
            for film, prefix in zip(films, prefixes, strict=True)
            for clock in ("clock_built", "clock_run", "clock_gradient")
        ],
        "table_title": html("table"),
        "verdict": bilingual(verdict) if verdict else "",
        "equal": verdict == ROWS["equal_bits"],
        "words": {key: bilingual(ROWS[key]) for key in WORDS},
        "labels": {key: both(ROWS[key]) for key in WORDS},
    }


def _graph(film: Film, prefix: str, titled: bool) -> dict[str, Any]:
    """One graph: drawn in full, and, if it has layers, folded to them (shown first)."""
    picture = film.picture
    views = [_view(picture, prefix, {}, titled)]
    folded = picture.fold()
    if folded is not picture:
        home = {
            f"{prefix}-{member}": f"{prefix}f-{box.id}"
            for box in folded.nodes
            for member in (box.members or (box.id,))
        }
        between = {(e.source, e.target): f"{prefix}f-{e.id}" for e in folded.edges}
        for e in picture.edges:  # an arrow between two layers stands for all that join them
            ends = tuple(home[f"{prefix}-{end}"].partition("-")[2] for end in (e.source, e.target))
            if ends in between:
                home[f"{prefix}-{e.id}"] = between[ends]
        views.append(_view(folded, f"{prefix}f", home, titled))
    return {
        "title": html(f"kind_{picture.kind}") if titled else "",
        "alt": both(picture.alt()),
        "views": views,
        "table": table(picture),
    }


def _view(picture: Picture, prefix: str, home: Mapping[str, str], beside: bool) -> dict[str, Any]:
    """One drawing; the arrows of a small graph that stands alone are long enough to write on."""
    rankdir = "LR" if len(picture.nodes) <= 40 else "TB"
    ranksep = 1.0 if len(picture.nodes) <= 14 and not beside else 0.3
    try:
        drawing = render(picture, prefix, values=True, rankdir=rankdir, ranksep=ranksep)
        return {"svg": drawing, "home": dict(home)}
    except LayoutError as error:
        return {"svg": f"<p>{bilingual(error.pair)}</p>{table(picture)}", "home": dict(home)}


def _frame(frames: list[Frame], prefixes: list[str], alive: list[bool]) -> dict[str, Any]:
    """One step of all films; a film that ended earlier stays at its last frame."""
    pairs = [(f, p) for f, p, on in zip(frames, prefixes, alive, strict=True) if on]
    return {
        "caption": "".join(f"<div>{bilingual(f.caption)}</div>" for f, _ in pairs),
        "say": " | ".join(both(f.caption) for f, _ in pairs),
        "active": [f"{p}-{i}" for f, p in pairs for i in f.active],
        "edges": {f"{p}-{e}": text for f, p in pairs for e, text in f.edges.items()},
        "code": [list(f.code) for f, _ in pairs if f.code],
    }


def _lane(film: Film, prefix: str, clock: str, titled: bool) -> dict[str, Any]:
    marks = [
        [i, f"{prefix}-{node}"]
        for i, frame in enumerate(film.frames)
        for kind, node in frame.marks
        if kind == clock
    ]
    kind = ROWS[f"kind_{film.picture.kind}"]
    label = html("clock_of", kind=kind, clock=ROWS[clock]) if titled else html(clock)
    return {"label": label, "clock": clock, "marks": marks}


def _track(track: Track) -> dict[str, Any]:
    facts = [
        [html(key), escape(text) if text else html("nothing_saved")] for key, text in track.facts
    ]
    return {
        "born": track.born,
        "values": [[i, _summary(s)] for i, s in track.values],
        "gradients": [[i, _summary(s)] for i, s in track.gradients],
        "facts": facts,
    }


def _summary(summary: Summary) -> dict[str, Any]:
    return {"short": summary.short, "long": bilingual(summary.long), "grid": summary.grid}


def table(picture: Picture) -> str:
    """The picture as an HTML table in both languages: the same data without a drawing."""
    names = {n.id: n.label for n in picture.nodes}
    keys = ("column_node", "column_operator", "column_inputs", "column_shape", "column_group")
    head = "".join(f'<th scope="col">{html(key)}</th>' for key in keys)
    lines = []
    for n in picture.nodes[:TABLE_LIMIT]:
        inputs = ", ".join(names[i] for i in n.inputs)
        cells = (n.label, n.op, inputs, n.shape, n.group)
        lines.append("".join(f"<td>{escape(c)}</td>" for c in cells))
    if len(picture.nodes) > TABLE_LIMIT:
        more = html("table_more", count=len(picture.nodes) - TABLE_LIMIT)
        lines.append(f'<td colspan="{len(keys)}">{more}</td>')
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    caption = bilingual(picture.alt())
    return (
        f'<table class="mg-table"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
