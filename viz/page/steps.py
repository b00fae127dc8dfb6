"""The steps of films and the lives of their nodes, as plain JSON for the browser."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from viz.film.film import CLOCKS, PLANNED, Facts, Film, Flow, Track
from viz.film.listing import SourceBlock
from viz.film.node_details import SLOTS, Answer
from viz.film.score import BUILD, Note, Score, aligned, score, tallies
from viz.picture.boxes import GIVEN, PictureNode
from viz.picture.summary import Summary
from viz.picture.swatch import Raster, encoded, top_of
from viz.picture.theme import KINDS
from viz.words.text import ROWS, Pair, both

FEW = (6, 4)  # rows and columns of numbers that the inspector writes out

Texts = dict[Pair, int]  # a sentence: its number
Shown = tuple[Film, str, int]  # a film, what its ids begin with, and its step
Swatches = dict[str, int]  # what is seen of a tensor: its number


# ---- Nodes -----------------------------------------------------------------------------------


def node(
    film: Film,
    box: PictureNode,
    track: Track,
    answers: Iterable[Answer],
    texts: Texts | None = None,
    swatches: Swatches | None = None,
) -> dict[str, Any]:
    """Return all that is known of a node; `answers` answers a learner's questions.

    Each sentence and each swatch is sent once, where there are `texts` and `swatches`.
    """
    value, gradient = film.scales

    def said(pair: Pair) -> Pair | int:
        return pair if texts is None else texts.setdefault(pair, len(texts))

    kind = "output" if box.is_output and box.kind == "operator" else box.kind
    rare = {
        "title": said(box.title) if box.title[0] else None,
        "input": True if box.kind in (*GIVEN, "tensor") else None,
        "freed": track.freed,
        "answers": _by_slot(answers, said) or None,
    }
    return {
        "label": box.label,
        "kind": said(KINDS[kind].label),
        "shape": box.shape,
        "dtype": box.dtype,
        "born": track.born,
        "values": [[i, held(s, value, swatches)] for i, s in track.values],
        "gradients": [[i, held(s, gradient, swatches)] for i, s in track.gradients],
        **{name: value for name, value in rare.items() if value is not None},
    }


def _by_slot(answers: Iterable[Answer], said: Callable[[Pair], Any]) -> dict[str, list[Any]]:
    """Return the answers by question: the step from which each is true, and the sentence."""
    found: dict[str, list[Any]] = {}
    for step, slot, text in sorted(answers, key=lambda entry: SLOTS.index(entry[1])):
        known, sent = found.setdefault(slot, []), said(text)
        known += [[step, sent]] if not known or known[-1][1] != sent else []
    return found


def result(track: Track, op: str) -> Track:
    """Return the track of an operator's result that has a separate box."""
    return replace(track, facts=Facts(line=track.facts.line, maker=op), filled=[], read=[])


def held(summary: Summary, scale: float, swatches: Swatches | None = None) -> dict[str, Any]:
    """Return a summary as JSON; a plain number has only its text and no swatch."""
    found: dict[str, Any] = {"short": summary.short, **_bad_flag(summary)}
    if summary.long != (summary.short, summary.short):
        found["long"] = summary.long
    if (raster := summary.raster) is None:
        return found
    cells, most = raster.cells, zip((len(raster.cells), len(raster.cells[0])), FEW, strict=True)
    few = raster.reduction is None and raster.kind != "tiles" and all(n <= m for n, m in most)
    rare = {
        "beside": None if summary.beside == summary.short else summary.beside,
        "grid": [[f"{v:.3g}" for v in line if v is not None] for line in cells] if few else None,
        "drawn": raster.reduction,
    }
    top = f"{top_of(raster, scale):.2g}"
    shown = {"swatch": _swatch(raster, scale, swatches), "top": top}
    return {**found, **shown, **{k: v for k, v in rare.items() if v is not None}}


def _swatch(raster: Raster | None, scale: float, swatches: Swatches | None) -> str | int:
    code = encoded(raster, scale) if raster else ""
    return code if swatches is None else swatches.setdefault(code, len(swatches))


def _bad_flag(summary: Summary) -> dict[str, bool]:
    return {name: True for name in ("bad", "origin") if getattr(summary, name)}


# ---- Steps -----------------------------------------------------------------------------------


def frame(films: Sequence[Shown], texts: Texts, swatches: Swatches | None) -> dict[str, Any]:
    """Return one step of all films; a film that ended earlier stays at its last frame.

    What most steps lack is left out. At the last step of all, each film shows its end.
    """
    alive = [(film.frames[i], prefix) for film, prefix, i in films if i < len(film.frames)]
    now = [(film.frames[min(i, len(film.frames) - 1)], prefix) for film, prefix, i in films]
    ended = [i + 1 >= len(film.frames) for film, _, i in films]
    still = [i >= len(film.frames) and not all(ended) for film, _, i in films]
    flows = {f"{p}-{e}": flow for f, p in alive for e, flow in f.flows.items()}
    rare = {
        "still": still if any(still) else None,
        "flows": {i: _flow(x, films[0][0].scales.gradient, swatches) for i, x in flows.items()},
        "notes": {f"{p}-{n}": text for f, p in now for n, text in f.notes.items()},
        "failed": [f"{p}-{f.failed}" for f, p in now if f.failed],
    }
    said = [f.plain if f.ticks else f.caption for f, _ in now]  # the score counts
    return {
        "captions": [texts.setdefault(pair, len(texts)) for pair in said],
        "active": [f"{p}-{i}" for f, p in alive for i in f.active],
        **{name: value for name, value in rare.items() if value},
    }


def _flow(flow: Flow, scale: float, swatches: Swatches | None) -> str | dict[str, Any]:
    """Return what moves along an arrow: a short operand, or a gradient share with its parts."""
    if not flow.back:
        return flow.value.short
    value = {"value": flow.value.text, **_bad_flag(flow.value)}
    about = {name: getattr(flow, name) for name in ("upstream", "local", "rule", "before", "after")}
    if flow.value.raster:
        value["swatch"] = _swatch(flow.value.raster, scale, swatches)
    return {**value, **{k: v for k, v in about.items() if v}}


def file(block: SourceBlock, films: Sequence[Film]) -> str:
    """Return the name of a block's file: a notebook cell by its number."""
    for film in films:
        for frame in film.frames:
            if frame.lines and frame.code and block.holds(frame.lines):
                return frame.code[0].rpartition(",")[0]
    return block.filename


def score_lanes(pairs: Sequence[tuple[Film, str]]) -> list[dict[str, Any]]:
    """Return the score of each film, with the same rows in the same order."""
    scores = aligned([score(film) for film, _ in pairs])
    return [score_lane(*pair, made) for pair, made in zip(pairs, scores, strict=True)]


def score_lane(film: Film, prefix: str, made: Score) -> dict[str, Any]:
    """Return the score of one film, and what its clocks had counted by each step."""
    counts = [[i, *ticks.values()] for i, ticks in tallies(film)]
    total = dict(zip((*CLOCKS, PLANNED), counts[-1][1:], strict=True))
    spoken = ", ".join(f"{both(ROWS[clock])}: {count}" for clock, count in total.items() if count)
    label = ROWS[f"lane_{film.picture.kind}"]
    return {
        "label": label,
        "said": f"{both(label)}: {spoken}" if spoken else both(label),
        "plan": film.picture.kind == "static",
        "rows": made.rows,
        "prefix": f"{prefix}-",
        "notes": [_note(note) for note in made.notes],
        "lives": made.lives,
        "phases": made.phases,
        "counted": counts,
        "through": film.through,
    }


def _note(note: Note) -> list[Any]:
    """Return a note as a list; its sort is left out for operators, as most are."""
    sort = [] if note.sort == "operator" else [note.sort]
    return [note.step, note.row, note.kind, " ".join(note.nodes), *sort]


def lane_of_calls(film: Film, prefix: str, starts: Sequence[int]) -> dict[str, Any]:
    """Return the score with a column for each call; `starts` are the calls' first steps.

    In its column a call builds first, if it makes a graph, and then runs: half of the column is
    for each, so a run is as wide with a build as without. What is built there waits until it runs.
    """
    made = score(film)
    made = made._replace(notes=tuple(note for note in made.notes if note.sort != "constant"))
    calls: dict[int, list[Note]] = {i: [] for i in range(len(starts))}
    for note in made.notes:
        calls[max(0, bisect_right(starts, note.step) - 1)].append(note)
    columns: dict[int, float] = {}  # by the step of the film
    phases, lives = [], []
    for call, notes in calls.items():
        halves = [{n.step for n in notes if (n.kind == "built") is x} for x in (True, False)]
        for kind, steps, begins in zip((BUILD, "run"), halves, (0.04, 0.5), strict=True):
            for k, step in enumerate(sorted(steps)):
                columns[step] = call + begins + 0.4 * (k + 1) / (len(steps) + 1) - 0.5
            if steps:
                phases.append((kind, call + begins - 0.04, call + begins - 0.56))
        built, ran = (
            {n.row: n.step for n in reversed(notes) if n.kind == kind and n.sort != "gradient"}
            for kind in ("built", "run")
        )
        lives += [(i, columns[built[i]], columns[ran[i]]) for i in built if i in ran]
    by_step = score_lane(film, prefix, made)
    return {
        **by_step,
        "notes": [[columns[step], *rest] for step, *rest in by_step["notes"]],
        "lives": lives,
        "phases": phases,
        "counted": [
            [max(0, bisect_right(starts, step) - 1), *rest] for step, *rest in by_step["counted"]
        ],
        "nodes": {
            f"{prefix}-{n.id}": {
                "label": n.label,
                "values": _by_column(film.tracks[n.id].values, columns, film.scales.value),
                "gradients": _by_column(film.tracks[n.id].gradients, columns, film.scales.gradient),
            }
            for n in film.picture.nodes
        },
    }


def _by_column(values: Iterable[Any], columns: dict[int, float], scale: float) -> list[Any]:
    """Return values with the columns in which they are noted."""
    return [[columns[i], held(s, scale)] for i, s in values if i in columns and s.short != "?"]
