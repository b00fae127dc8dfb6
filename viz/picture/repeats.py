"""Repeated structure of a large picture as groups: a loop of 1,000 rounds is one box at first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from viz.picture.boxes import GIVEN, Picture, PictureNode

FLAT = 800  # boxes; a picture with more, however it is folded, gets groups
LONGEST = 256  # boxes of a round that is found
ROUNDS = 4  # how often something comes at least, to be a repetition
SHARE = 0.1  # of all boxes that a repetition has, at least
INNER, OUTER = 100, 16  # boxes in an innermost group, and parts of a group, about at most


def grouped(picture: Picture) -> Picture:
    """The picture, where it is large with its repetitions as groups, and parts of these inside."""
    if len(picture.nodes) <= FLAT:
        return picture
    boxes = picture.fold().nodes
    if len(boxes) <= FLAT:
        return picture
    members = {b.id: b.members or (b.id,) for b in boxes}
    nodes = {n.id: n for n in picture.nodes}
    computing = [b for b in boxes if b.kind not in GIVEN]
    about = [_about(b, members, nodes) for b in computing]
    around: dict[str, str] = {}  # node -> the group that it gets
    for start, period, rounds in _repetitions(about):
        name = _name(computing[start : start + period], rounds)
        taken = sum(path.partition("/")[0] == name for path in {*around.values()})
        name = name if not taken else f"{name} ({start + 1})"
        for k in range(rounds * period):
            for i in members[computing[start + k].id]:
                around[i] = f"{name}{_part(k // period, rounds, period)}"
    _take_along(picture, around)
    return _inside(picture, around)


def _about(
    box: PictureNode, members: dict[str, tuple[str, ...]], nodes: dict[str, PictureNode]
) -> Hashable:
    """What a box has in common with its likes in other rounds: of a group, what it computes."""
    if box.kind != "group":
        return box.kind, box.op, box.shape, box.group
    inside = (nodes[i] for i in members[box.id])
    return tuple((n.kind, n.op, n.shape) for n in inside if n.kind not in GIVEN)


def _repetitions(about: Sequence[Hashable]) -> list[tuple[int, int, int]]:
    """Where something repeats: the start, the length of a round, how many rounds; in order."""
    numbers: dict[Hashable, int] = {}
    coded = np.array([numbers.setdefault(x, len(numbers)) for x in about])
    waiting, found = [(0, len(coded))], []
    while waiting:
        low, high = waiting.pop()
        best = _longest(coded[low:high])
        if best is None or best[1] * best[2] < SHARE * len(coded):
            continue
        start, period, rounds = low + best[0], best[1], best[2]
        found.append((start, period, rounds))
        waiting += [(low, start), (start + period * rounds, high)]
    return sorted(found)


def _longest(coded: np.ndarray) -> tuple[int, int, int] | None:
    """The repetition that covers most; of several the one with the shortest round."""
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


def _name(round_: Sequence[PictureNode], rounds: int) -> str:
    """What is repeated, and how often: "Mul, Tanh × 500"."""
    names = [(b.name.rstrip("0123456789") or b.name) if b.kind == "group" else b.op for b in round_]
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"{shown} × {rounds}".replace("/", "∕")


def _part(number: int, rounds: int, period: int) -> str:
    """The path of the parts that a round is in: "/1–64/1–4", by the numbers of their rounds."""
    path, size, first = "", rounds, 0
    while size * period > INNER and size > 1:
        size = max(-(-size // OUTER), 1)
        start = first + (number - first) // size * size
        end = min(start + size, rounds)
        path += f"/{start + 1}–{end}" if size > 1 else f"/{start + 1}"
        first = start
    return path


def _take_along(picture: Picture, around: dict[str, str]) -> None:
    """What is only given goes into the group that alone reads it."""
    readers: dict[str, set[str]] = {}
    for e in picture.edges:
        readers.setdefault(e.source, set()).add(around.get(e.target, ""))
    for n in picture.nodes:
        if n.kind in GIVEN and n.id not in around and not n.group:
            only, *others = readers.get(n.id, {""})
            if only and not others:
                around[n.id] = only


def _inside(picture: Picture, around: dict[str, str]) -> Picture:
    """The picture with nodes inside of further groups, and the bodies that they own with them."""
    nodes = tuple(
        replace(n, group="/".join(filter(None, (around[n.id], n.group)))) if n.id in around else n
        for n in picture.nodes
    )
    owners = {
        "/".join(filter(None, (around.get(owner, ""), path))): owner
        for path, owner in picture.owners.items()
    }
    return replace(picture, nodes=nodes, owners=owners)
