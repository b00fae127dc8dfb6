"""The score of a film: when each line of the program was built, and when it ran.

Rows are expressions of the program, columns are the steps of the film. A line that runs again, in a
loop or for the next input, comes again in its row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from viz.film.film import BUILT, CLOCKS, GRADIENT, PLANNED, RUN, Film, Frame, latest
from viz.picture.boxes import GIVEN, Picture, PictureNode

Key = tuple[str, ...]
BOTH, BUILD, GRADIENTS, BACKWARD = (
    "both",
    "build",
    "gradients",
    "backward",
)  # and "run": what a phase does
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
    rows: dict[Key, Row] = {}
    numbers: dict[Key, int] = {}
    found: dict[tuple[int, int, str, str], list[str]] = {}
    for step, frame in enumerate(film.frames):
        for node, (kind, sort) in _kinds(frame, nodes, film.picture.kind).items():
            if node in places:
                key, row = places[node]
                rows.setdefault(key, row)
                number = numbers.setdefault(key, len(numbers))
                found.setdefault((step, number, kind, sort), []).append(node)
    notes = tuple(
        Note(*place, tuple(ids), _value(film, ids[-1], place[0], place[2]))
        for place, ids in found.items()
    )
    lives = _lives(film, notes, graphs)
    return Score(tuple(rows.values()), notes, lives, _phases(notes, graphs))


def counted(film: Film) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield each step at which a count grows, with all counts; a long loop counts without steps."""
    counts = dict.fromkeys((*CLOCKS, PLANNED), 0)
    yield 0, counts
    for i, frame in enumerate(film.frames):
        marks = Counter(mark.clock for mark in frame.marks if mark.sort == "operator")
        planned = sum(mark[::2] == (BUILT, "gradient") for mark in frame.marks)
        marks[PLANNED] = frame.planned or planned
        if any(marks.values()):
            counts = {c: frame.ticks.get(c, n + marks[c]) for c, n in counts.items()}
            yield i, counts


def aligned(scores: Sequence[Score]) -> list[Score]:
    """The scores with their rows in the order of the last one, if they have the same rows."""
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


def _kinds(
    frame: Frame, nodes: Mapping[str, PictureNode], graph: str
) -> dict[str, tuple[str, str]]:
    """What happened in a step to each node that it marks; leaves of a tape are born with values."""
    found: dict[str, tuple[str, str]] = {}
    words = {BUILT: "built", RUN: "run", GRADIENT: "gradient"}
    for clock, node, sort in frame.marks:
        kind = words[clock]
        if node in found and {found[node][0], kind} == {"built", "run"}:
            kind = BOTH
        kind = BOTH if (graph, kind, sort) == ("dynamic", "built", "input") else kind
        found[node] = kind, "constant" if nodes[node].kind == "constant" else sort
    return found


def _places(film: Film, nodes: Mapping[str, PictureNode]) -> dict[str, tuple[Key, Row]]:
    """The row of each node: by the expression that made it; what has none, by its name."""
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
            name = _within(node.layer, node.sign or node.op)
            found[i] = key, Row(_label(before, inside, after), True, name)
            for k, x in enumerate(node.inputs):
                readers.setdefault(x, (found[i][0], k))
    names = {readers[i]: n.name for i, n in nodes.items() if i in readers and n.name}
    rows = dict(found.values())
    for i, node in nodes.items():
        reader = readers.get(i, ((), 0))
        if node.kind == "constant":
            found.update({i: (reader[0], rows[reader[0]])} if reader[0] else {})
        elif i not in found:
            name = node.name or names.get(reader, node.label)
            found[i] = ("", name, node.layer), Row(_within(node.layer, name), False)
    return _told_apart(found)


def _told_apart(found: Mapping[str, tuple[Key, Row]]) -> dict[str, tuple[Key, Row]]:
    """The rows; where several operators share one expression, what they are stands before it."""
    shared = Counter(key[:3] for key in {key for key, row in found.values() if row.is_code})
    return {
        i: (
            key,
            row._replace(label=f"{_within(*key[3:])}  {row.label}") if shared[key[:3]] > 1 else row,
        )
        for i, (key, row) in found.items()
    }


def _within(group: str, name: str) -> str:
    """A name with the layer that it belongs to."""
    return ".".join(filter(None, (group.rpartition("/")[2], name)))


def _label(before: str, inside: str, after: str) -> str:
    """The whole line where the expression is all that it computes, else the expression."""
    start, end = before.rstrip(), after.partition("#")[0].strip()
    whole = not end and (not start or start.endswith(WHOLE))
    return f"{before}{inside}".strip() if whole else inside


def _value(film: Film, node: str, step: int, kind: str) -> str:
    track = film.tracks[node]
    known = track.gradients if kind == "gradient" else track.values
    summary = None if kind == "built" else latest(known, step)
    return summary.short if summary else ""


def _lives(film: Film, notes: tuple[Note, ...], graphs: Mapping[str, str]) -> tuple[Life, ...]:
    """The life of each node; of a dynamic graph that another one follows, until its last step."""
    last = len(film.frames) - 1
    reads = {x: graphs[n.id] for n in film.picture.nodes for x in n.inputs}
    given = {n.id for n in film.picture.nodes if n.kind in GIVEN}
    graphs = {i: reads.get(i, "") if i in given else graph for i, graph in graphs.items()}
    ends: dict[str, int] = {}
    for note in notes:
        ends.update((graphs[i], note.step) for i in note.nodes if note.sort == "operator")
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
                end = gone or (used if used < newest else last)
            lives.append(Life(note.row, note.step, end))
    return tuple(_joined(lives))


def _joined(lives: Iterable[Life]) -> Iterator[Life]:
    """The lives in the order of their rows; those of one row that overlap are one."""
    last = None
    for life in sorted(lives):
        if last and life.row == last.row and life.start < last.end:
            last = last._replace(end=max(last.end, life.end))
            continue
        if last:
            yield last
        last = life
    if last:
        yield last


def _phases(notes: tuple[Note, ...], graphs: Mapping[str, str]) -> tuple[Phase, ...]:
    """Steps in a row that do the same; a graph that runs again begins anew, as another one does."""
    phases: list[Phase] = []
    seen: set[str] = set()  # what ran in this phase
    graph = ""  # which graph it is about
    steps: dict[int, list[Note]] = {}
    for note in notes:
        steps.setdefault(note.step, []).append(note)
    for step, there in sorted(steps.items()):
        kind = _does(there)
        ran = {i for n in there for i in n.nodes if n.kind == "run" and i[0] != "b"}
        at = next((graphs[n.nodes[-1]] for n in there if n.sort == "operator"), graph)
        if not kind:
            continue
        again = bool(ran & seen) if kind == "run" else kind == BOTH and at != graph
        if phases and phases[-1].kind == kind and not again:
            phases[-1] = phases[-1]._replace(end=step)
        else:
            phases.append(Phase(kind, step, step))
            seen = set()
        seen |= ran
        graph = at if kind == BOTH else graph
    return tuple(phases)


def _does(notes: list[Note]) -> str:
    """What a step does; "" where leaves of a tape are there before anything happens."""
    kinds = {note.kind for note in notes}
    if "gradient" in kinds:
        return BACKWARD
    if BOTH in kinds:
        return BOTH if notes[0].step else ""
    if "run" in kinds:
        return "run"
    return GRADIENTS if all(note.sort == "gradient" for note in notes) else BUILD
