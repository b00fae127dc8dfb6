"""The score of a film: when each line of the program was built, and when it ran.

Rows are expressions of the program, columns are the steps of the film. A line that runs again, in a
loop or for the next input, comes again in its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from string import digits
from typing import NamedTuple

from viz.film.film import BUILT, CLOCKS, GRADIENT, PLANNED, RUN, Film, Frame, latest
from viz.picture.boxes import GIVEN, Picture, PictureNode, repeated
from viz.words.text import row

Key = tuple[str, ...]
# What a phase does; and "run".
BOTH, BUILD, GRADIENTS, BACKWARD = "both", "build", "gradients", "backward"
READ, MANY = 12, 40  # rows; of more, each call of a layer is one; and each strip of calls
WHOLE = ("=", "return", "yield")  # what a line begins with whose expression is all that it computes


class Row(NamedTuple):
    """One line of code, or a node that has none; the lines of an expression within it follow."""

    label: str
    is_code: bool
    name: str = ""  # what its operator is, where there is no room for the code


class Note(NamedTuple):
    """What happened in one row at one step.

    kind: "built", "run", "both" at once, or "gradient". sort: as of `viz.film.film.Mark`; a
    constant is noted beside the operator that reads it. value: in few words what the last of the
    nodes holds.
    """

    step: int
    row: int
    kind: str
    sort: str
    nodes: tuple[str, ...]
    value: str = ""


class Life(NamedTuple):
    """From where to where a row has a node: until its graph is thrown away, or to the end."""

    row: int
    start: int
    end: int


class Phase(NamedTuple):
    """Steps that belong together: "build", "gradients" (of which nodes are built), "run", "both"
    (built and run at once), or "backward".
    """

    kind: str
    start: int
    end: int


class Score(NamedTuple):
    """The rows from top to bottom, and what happened in them."""

    rows: tuple[Row, ...]
    notes: tuple[Note, ...]
    lives: tuple[Life, ...]
    phases: tuple[Phase, ...]


def score(film: Film) -> Score:
    """Return when each line of a film was built and when it ran."""
    nodes = {n.id: n for n in film.picture.nodes}
    graphs = components(film.picture)
    places = _places(film, nodes)
    for most, strips in ((READ, False), (MANY, True)):
        if len({key for key, _ in places.values()}) > most:
            places = _by_call(film, places, strips)
    rows = dict(places.values())
    events = [
        (step, node, places[node][0], kind, sort)
        for step, frame in enumerate(film.frames)
        for node, (kind, sort) in _note_kinds(frame, nodes, film.picture.kind).items()
        if node in places and (node[0] != "b" or sort != "input")
    ]
    # A layer comes where it first computes, not where its parameters are.
    computes = {k for *_, k, kind, sort in events if sort == "operator" and kind != "gradient"}
    order = [*dict.fromkeys(k for *_, k, _, sort in events if sort != "input" or k not in computes)]
    if any(repeated(k[1]) for k in computes if not k[0]):  # calls: what they are given comes first
        order.sort(key=computes.__contains__)
    found: dict[tuple[int, int, str, str], list[str]] = {}
    for step, node, key, kind, sort in events:
        found.setdefault((step, order.index(key), kind, sort), []).append(node)
    notes = tuple(Note(*at, (*ids,), _value(film, ids[-1], *at[::2])) for at, ids in found.items())
    lives = _lives(film, notes, graphs)
    return Score(tuple(rows[key] for key in order), notes, lives, _phases(notes, graphs))


def tallies(film: Film) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield the steps at which a tally grows, with all tallies; a shortened loop is included."""
    counts = dict.fromkeys((*CLOCKS, PLANNED), 0)
    yield 0, counts
    for i, frame in enumerate(film.frames):
        marks = Counter(mark.clock for mark in frame.marks if mark.sort == "operator")
        marks[PLANNED] = frame.planned or sum(m[::2] == (BUILT, "gradient") for m in frame.marks)
        if any(marks.values()):
            counts = {c: frame.ticks.get(c, n + marks[c]) for c, n in counts.items()}
            yield i, counts


def with_final_counts(film: Film, calls: int) -> Film:
    """Return the film ending with how much its calls have built and run."""
    *_, (_, ticks) = tallies(film)
    if not ticks[RUN] or any(s.bad for track in film.tracks.values() for _, s in track.values):
        return film
    constants = sum(node.kind == "constant" for node in film.picture.nodes)
    about = {"calls": calls, "built": ticks[BUILT], "ran": ticks[RUN], "constants": constants}
    done, last = row(f"done_{film.picture.kind}{'_once' * (calls == 1)}", **about), film.frames[-1]
    return replace(film, frames=(*film.frames[:-1], replace(last, caption=done, alone=last.plain)))


def aligned(scores: Sequence[Score]) -> list[Score]:
    """Return the scores with rows in the order of the last one, if they have the same rows."""
    order = [row.label for row in scores[-1].rows] if scores else []
    return [_ordered(made, order) for made in scores]


def _ordered(made: Score, order: Sequence[str]) -> Score:
    lines = [row.label for row in made.rows]
    if len({*lines}) < len(lines) or sorted(lines) != sorted(order):
        return made
    places = [order.index(line) for line in lines]
    notes = tuple(sorted((n._replace(row=places[n.row]) for n in made.notes), key=lambda n: n[:2]))
    lives = tuple(life._replace(row=places[life.row]) for life in made.lives)
    return Score(tuple(made.rows[lines.index(line)] for line in order), notes, lives, made.phases)


def components(picture: Picture) -> dict[str, str]:
    """Return for each node the graph it is part of: what operators join. Leaves join nothing."""
    leader = {n.id: n.id for n in picture.nodes}

    def find(i: str) -> str:
        while leader[i] != i:
            leader[i] = i = leader[leader[i]]
        return i

    given = {n.id for n in picture.nodes if n.kind in GIVEN}
    for e in picture.edges:
        if e.source not in given:
            leader[find(e.target)] = find(e.source)
    return {i: find(i) for i in leader}


def _note_kinds(
    frame: Frame, nodes: Mapping[str, PictureNode], graph: str
) -> dict[str, tuple[str, str]]:
    """Return what happened in a step to each marked node; leaves of a tape start with values."""
    found: dict[str, tuple[str, str]] = {}
    words = {BUILT: "built", RUN: "run", GRADIENT: "gradient"}
    for clock, node, sort in frame.marks:
        kind = words[clock]
        twice = node in found and {found[node][0], kind} == {"built", "run"}
        kind = BOTH if twice or (graph, kind, sort) == ("dynamic", "built", "input") else kind
        found[node] = kind, "constant" if nodes[node].kind == "constant" else sort
    return found


def _places(film: Film, nodes: Mapping[str, PictureNode]) -> dict[str, tuple[Key, Row]]:
    """Return the row of each node: by the expression that made it, or by its name."""
    written: dict[str, Frame] = {}
    for frame in film.frames:
        for mark in frame.marks:
            if mark.clock != GRADIENT and frame.code and mark.node in frame.active:
                written.setdefault(mark.node, frame)
    readers: dict[str, tuple[Key, int]] = {}  # of a leaf: the row of what reads it first, and where
    found: dict[str, tuple[Key, Row]] = {}
    for i, node in nodes.items():
        if i in written and (code := written[i].code) and node.kind != "constant":
            place, before, inside, after = code
            if not inside:  # its source is not to be had
                continue
            if node.kind in GIVEN and "=" not in before:  # what it is written in is not its line
                continue
            key = (place, before, inside, node.layer, node.op)
            called = node.label if node.kind in GIVEN else node.sign or node.op
            label = _part(node.layer) + _label(before, inside, after)
            found[i] = key, Row(label, True, _qualified(node.layer, called))
            for k, x in enumerate(node.inputs):
                readers.setdefault(x, (found[i][0], k))
    names = {readers[i]: n.name for i, n in nodes.items() if i in readers and n.name}
    rows = dict(found.values())
    for i, node in nodes.items():
        reader = readers.get(i, ((), 0))
        if node.kind == "constant" or (i[0] == "b" and node.kind in GIVEN):  # told in what reads it
            found.update({i: (reader[0], rows[reader[0]])} if reader[0] else {})
        elif i not in found:
            part, name = _part(node.layer), node.name or names.get(reader, node.label)
            formula = film.tracks[i].facts.formula.replace("×", "*").replace("−", "-")
            if said := formula if part else _qualified(node.layer, name):  # "" of a body's inputs
                found[i] = ("", said, node.layer), Row(part + said, False)
    return _disambiguate(found)


def _by_call(
    film: Film, places: Mapping[str, tuple[Key, Row]], strips: bool
) -> dict[str, tuple[Key, Row]]:
    """Return one row for each call, or strip of calls, that the drawing folds."""
    nodes = {n.id: n for n in film.picture.nodes}
    readers = {x: n for n in reversed(film.picture.nodes) for x in n.inputs}
    found = dict(places)
    for box in film.picture.fold(film.first).nodes:
        path = "/".join(filter(None, (box.group, box.name)))
        for i in box.members if box.kind == "group" and path not in film.picture.owners else ():
            inner = nodes[i].group.removeprefix(path)
            if not inner and nodes[i].kind in GIVEN and i in readers:  # what one call is given
                inner = readers[i].group.removeprefix(path)
            call = inner.strip("/").partition("/")[0] if repeated(path) and not strips else ""
            found[i] = ("", path, call), Row(_qualified(box.group, call or box.name), False)
    given = {n: n.label.rstrip(digits) for n in film.picture.nodes if n.kind == "input"}
    for stem in {x for n, x in given.items() if n.id in found and repeated(found[n.id][0][1])}:
        every = [n for n in given if given[n] == stem]  # what each call is given: "x0 … x7"
        label = " … ".join(dict.fromkeys((every[0].label, every[-1].label)))
        found.update((n.id, (("", stem, ""), Row(label, False))) for n in every)
    return found


def _disambiguate(found: Mapping[str, tuple[Key, Row]]) -> dict[str, tuple[Key, Row]]:
    """Prefix the labels of rows with operator names where several share one expression."""
    shared = Counter(key[:3] for key in {key for key, row in found.values() if row.is_code})
    own = {k: f"{_qualified(*k[3:])}  " if shared[k[:3]] > 1 else "" for k, _ in found.values()}
    return {i: (k, row._replace(label=own[k] + row.label)) for i, (k, row) in found.items()}


def _qualified(group: str, name: str) -> str:
    """Return a name with the layer that it belongs to."""
    return ".".join(filter(None, (group.rpartition("/")[2], name)))


def _part(layer: str) -> str:
    """Return which part of a branch or a loop a node is in, as it comes before code: "then: "."""
    return "".join(layer.rpartition("/")[2].partition(": ")[:0:-1])


def _label(before: str, inside: str, after: str) -> str:
    """Return the statement if the expression is all that it computes, else the expression."""
    start, end = before.rstrip(), after.partition("#")[0].strip()
    whole = not end and (not start or start.endswith(WHOLE))
    return f"{before.rpartition('): ')[2]}{inside}".strip() if whole else inside


def _value(film: Film, node: str, step: int, kind: str) -> str:
    known = film.tracks[node].gradients if kind == "gradient" else film.tracks[node].values
    summary = None if kind == "built" else latest(known, step)
    return summary.short if summary else ""


def _lives(film: Film, notes: tuple[Note, ...], graphs: Mapping[str, str]) -> tuple[Life, ...]:
    """Return each node's lifetime; in a dynamic graph before another, until its last step."""
    last = len(film.frames) - 1
    reads = {x: graphs[n.id] for n in film.picture.nodes for x in n.inputs}
    given = {n.id for n in film.picture.nodes if n.kind in GIVEN}
    graphs = {i: reads.get(i, "") if i in given else graph for i, graph in graphs.items()}
    ends = {graphs[i]: note.step for note in notes if note.sort == "operator" for i in note.nodes}
    newest = max(ends.values(), default=last)
    freed = {graphs[i]: track.freed for i, track in film.tracks.items() if track.freed}
    lives = []
    for note in notes:
        if note.kind not in ("built", BOTH) or note.sort in ("constant", "gradient"):
            continue
        for i in note.nodes:
            end = last
            if film.picture.kind == "dynamic":
                used = ends.get(graphs[i], newest)
                gone = freed.get(graphs[i]) if i in given else film.tracks[i].freed
                again = gone is not None and gone <= note.step  # the next call put it there
                end = last if again else gone or (used if used < newest else last)
            lives.append(Life(note.row, note.step, end))
    return _joined(lives)


def _joined(lives: Iterable[Life]) -> tuple[Life, ...]:
    """Return the lifetimes in the order of their rows; overlapping ones of a row are merged."""
    found: list[Life] = []
    for life in sorted(lives):
        if found and life.row == found[-1].row and life.start < found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, life.end))
        else:
            found.append(life)
    return tuple(found)


def _phases(notes: tuple[Note, ...], graphs: Mapping[str, str]) -> tuple[Phase, ...]:
    """Group successive steps that do the same; a rerun or another graph begins a new phase."""
    phases: list[Phase] = []
    seen: set[str] = set()  # what ran in this phase
    graph = ""  # which graph it is about
    steps: dict[int, list[Note]] = {}
    for note in notes:
        steps.setdefault(note.step, []).append(note)
    for step, there in sorted(steps.items()):
        kind = _step_kind(there)
        ran = {i for n in there for i in n.nodes if n.kind in ("run", BOTH) and i[0] != "b"}
        at = next((graphs[n.nodes[-1]] for n in there if n.sort == "operator"), graph)
        if not kind:
            continue
        again = kind in ("run", BOTH) and (bool(ran & seen) or (kind == BOTH and at != graph))
        if phases and phases[-1].kind == kind and not again:
            phases[-1] = phases[-1]._replace(end=step)
        else:
            phases.append(Phase(kind, step, step))
            seen = set()
        seen |= ran
        graph = at if kind == BOTH else graph
    return tuple(phases)


def _step_kind(notes: list[Note]) -> str:
    """Return what a step does; "" for leaves that exist before anything happens."""
    kinds = {note.kind for note in notes}
    if "gradient" in kinds:
        return BACKWARD
    if BOTH in kinds or not notes[0].step:
        return BOTH if notes[0].step and any(n.sort == "operator" for n in notes) else ""
    if "run" in kinds:
        return "run"
    return GRADIENTS if all(note.sort == "gradient" for note in notes) else BUILD
