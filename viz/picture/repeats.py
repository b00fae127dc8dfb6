"""Repeated structure as groups: calls that follow each other are a strip, and so is a long loop.

Of twenty calls of a cell the first and the last are separate groups, with the other eighteen
between them as one group, which opens. Of many of them it has parts inside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from viz.picture.boxes import EASY, GIVEN, Picture, PictureNode, paths
from viz.picture.calls import layer_name, repeated_call

FEW = 40  # boxes that are seen as they are; of more, however folded, rounds are groups
LONGEST = 256  # boxes of a round that is found
CALLS = 6  # of a layer that follow each other, at least, to be a strip
NUMBER = re.compile(r"^\d+: | \(\d+\)$|[ .=_]?\d+$")  # what tells a call or a layer from its likes
ROUNDS = 4  # how often something comes at least, to be a repetition
SHARE = 0.1  # of all boxes that a repetition has, at least
INNER, OUTER = 100, 16  # boxes in an innermost group, and parts of a group, about at most


def grouped(picture: Picture) -> Picture:
    """Return the picture with strips of calls and, if it is large, of all repeated rounds."""
    outer = Counter(path.rpartition("/")[0] for path in picture.groups)
    for path in reversed(outer):  # inner ones first: their paths stay true
        if outer[path] >= CALLS and not {*paths(path)} & picture.owners.keys():
            picture = _with_strips(picture, path)
    return _with_rounds(picture) if len(picture.nodes) > FEW else picture


def _with_rounds(picture: Picture) -> Picture:
    """Reduce each repetition to its first round, a strip of those between, and the last.

    A round is what the same lines make each time: a call of a function, or a turn of a loop.
    """
    boxes = picture.fold().nodes
    if len(boxes) <= FEW:
        return picture
    members = {b.id: b.members or (b.id,) for b in boxes}
    nodes = {n.id: n for n in picture.nodes}
    engine = {i: node for node, i in picture.ids.items()}
    computing = [b for b in boxes if b.kind not in GIVEN]
    about = [(_about(b, members, nodes), b.line) for b in computing]
    around: dict[str, str] = {}  # node -> the group that it gets
    layers = {layer_name(path) for path in picture.groups}
    counts: Counter[str] = Counter()  # rounds so far, by name
    begun: set[str] = set()  # what first rounds read in place of the round before
    for start, period, rounds in _repetitions(about, max(EASY, round(SHARE * len(about)))):
        first = computing[start : start + period]
        name = repeated_call([engine.get(b.id) for b in first]) if period > 1 else ""
        name = name if name and name not in layers else _name(first)
        for one, other in zip(first, computing[start + period :], strict=False):
            ends = (nodes[i].inputs for box in (one, other) for i in members[box.id][:1])
            begun |= {x for x, y in zip(*ends, strict=False) if nodes[y].kind not in GIVEN}
        before = counts[name]
        counts[name] += rounds
        for k in range(rounds * period):
            number = k // period
            path = f"{name} ({before + number + 1})" if period > 1 else ""
            if 0 < number < rounds - 1:
                strip = f"{name} × {rounds - 2}" + f" ({start + 1})" * bool(before)
                part = _part(number - 1, rounds - 2, period, before + 1)
                path = f"{strip}{part}" + f"/{path}" * bool(path)
            if path:
                around |= dict.fromkeys(members[computing[start + k].id], path)
    given = {n.id for n in picture.nodes if n.kind in GIVEN and not n.group}
    _group_data(picture, around, given - begun)
    return _inside(picture, around)


def _with_strips(picture: Picture, path: str) -> Picture:
    """Return the picture with the strips of one group, without those of the groups in it."""
    nodes = {n.id: n for n in picture.nodes}
    boxes = [b for b in picture.fold(paths(path)).nodes if b.group == path]
    members = {b.id: b.members or (b.id,) for b in boxes}
    about = {b.id: _about(b, members, nodes) for b in boxes if b.kind not in GIVEN}
    computing = [b for b in boxes if about.get(b.id)]
    around: dict[str, str] = {}
    ends: set[str] = set()  # what stays where it is: the first and the last round
    for start, period, rounds in _repetitions([about[b.id] for b in computing]):
        every = computing[start : start + period * rounds]
        calls = [b for b in every[:period] if b.kind == "group"]
        if rounds < CALLS or not calls:
            continue
        name = f"{_name(calls)} × {rounds - 2}"
        name += f" ({start + 1})" * any(name == x.partition("/")[0] for x in around.values())
        for k, b in enumerate(every):
            if 0 < k // period < rounds - 1:
                part = _part(k // period - 1, rounds - 2, period)
                around |= dict.fromkeys(members[b.id], f"{name}{part}")
            else:
                ends |= {*members[b.id]}
    loose = {n.id for n in picture.nodes if n.group in (path, "")} - ends
    if not around:
        return picture
    _group_data(picture, around, loose)
    return _inside(picture, around, path)


def _about(
    box: PictureNode, members: dict[str, tuple[str, ...]], nodes: dict[str, PictureNode]
) -> Hashable:
    """Return what a box has in common with those of other rounds: what a group computes.

    The calls of a layer are alike, even where the first of them begins with zeros.
    """
    if box.kind != "group":
        return box.kind, box.op, box.shape, box.group
    if layer_name(box.name) != box.name:
        return layer_name(box.name)
    inside = (nodes[i] for i in members[box.id])
    return tuple((n.kind, n.op, n.shape) for n in inside if n.kind not in GIVEN)


def _repetitions(about: Sequence[Hashable], least: int = 0) -> list[tuple[int, int, int]]:
    """Return the repetitions, in order: the start, the length of a round, how many rounds.

    least: how many boxes a repetition has, at least.
    """
    numbers: dict[Hashable, int] = {}
    coded = np.array([numbers.setdefault(x, len(numbers)) for x in about])
    waiting, found = [(0, len(coded))], []
    while waiting:
        low, high = waiting.pop()
        best = _longest(coded[low:high])
        if best is None or best[1] * best[2] < least:
            continue
        start, period, rounds = low + best[0], best[1], best[2]
        found.append((start, period, rounds))
        waiting += [(low, start), (start + period * rounds, high)]
    return sorted(found)


def _longest(coded: np.ndarray) -> tuple[int, int, int] | None:
    """Return the repetition that covers most; of several, the one with the shortest round."""
    best, covered = None, 0
    for period in range(1, min(LONGEST, len(coded) // ROUNDS) + 1):
        same = np.concatenate([[False], coded[:-period] == coded[period:], [False]])
        ends = np.flatnonzero(same[1:] != same[:-1])  # starts and ends of runs, in turn
        if not len(ends):
            continue
        lengths = ends[1::2] - ends[::2]
        at = int(lengths.argmax())
        rounds = int(lengths[at]) // period + 1
        if rounds >= ROUNDS and rounds * period > covered + period:
            best, covered = (int(ends[2 * at]), period, rounds), rounds * period
    return best


def _name(round_: Sequence[PictureNode]) -> str:
    """Return the name of what is repeated: "Mul, Tanh"."""
    each = ((NUMBER.sub("", b.name) or b.name) if b.kind == "group" else b.op for b in round_)
    names = [*dict.fromkeys(each)]
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return shown.replace("/", "∕")


def _part(number: int, rounds: int, period: int, before: int = 0) -> str:
    """Return the path of the parts around a round: "/1–64/1–4", by their rounds' numbers.

    before: rounds that are outside of the strip.
    """
    path, size, first = "", rounds, 0
    while size * period > INNER and size > 1:
        size = max(-(-size // OUTER), 1)
        start = first + (number - first) // size * size
        low, high = before + start + 1, before + min(start + size, rounds)
        path += f"/{low}–{high}" * (size > 1)
        first = start
    return path


def _group_data(picture: Picture, around: dict[str, str], loose: set[str]) -> None:
    """Move each of these nodes into the only group that reads it: data, and what prepares it."""
    readers: dict[str, set[str]] = {}
    for e in picture.edges:
        readers.setdefault(e.source, set()).add(e.target)
    for n in reversed(picture.nodes):
        if n.id in loose and n.id not in around:
            only, *others = {around.get(i, "") for i in readers.get(n.id, ())} or {""}
            if only and not others:
                around[n.id] = only


def _inside(picture: Picture, around: Mapping[str, str], path: str = "") -> Picture:
    """Return the picture with nodes, and their bodies, moved to subgroups of a group."""

    def moved(node: str, group: str) -> str:
        rest = group.removeprefix(path).strip("/")
        return "/".join(filter(None, (path, around[node], rest))) if node in around else group

    nodes = (
        replace(n, group=moved(n.id, n.group), built=n.layer) if n.id in around else n
        for n in picture.nodes
    )
    owners = {moved(owner, group): owner for group, owner in picture.owners.items()}
    return replace(picture, nodes=tuple(nodes), owners=owners)
