"""Members that nobody reads for a while wait, and run with later ones of their signature.

A group is as early as its operands allow. In trees, the short branch of a node is multiplied by its
weights long before the long one, so that their sum has to pick its operands from many groups. When
both wait for each other, the sum finds them in order, and nothing is picked.
"""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import Any

from minigrad.lazy.groups import Group, Signature

by_depth = attrgetter("depth")
NEVER = sys.maxsize

Later = dict[tuple[Signature, int], Group]
Goes = dict[tuple[Group, int], Group]


def postpone(groups: list[Group]) -> list[Group]:
    """The groups with members moved to later ones of their signature, just before they are read.

    Groups that lose or gain members are replaced by new ones, and tell where their members went.
    """
    shared = {s: _shares_weights(s) for s in {group.signature for group in groups}}
    later = {(g.signature, g.depth): g for g in groups if shared[g.signature]}
    movable = _movable(groups, later)
    reads = [
        (reader, i)
        for reader in (sorted(groups, key=by_depth) if movable else ())
        for i, sources in enumerate(reader.sources)
        if not movable.isdisjoint(sources)
    ]
    deadlines = _deadlines(movable, reads)
    goes: Goes = {}
    for group, depths in deadlines.items():
        for depth in set(depths):
            target = later.get((group.signature, depth), group)
            if target is not group:
                goes[group, depth] = target
    if not goes:
        return groups
    return _moved(groups, goes, deadlines, reads)


def _shares_weights(signature: Signature) -> bool:
    """Whether members differ in one operand and share another, as in a product with weights."""
    varying = sum(type(kind) is tuple and len(kind) == 3 for kind in signature.kinds)
    return varying == 1 < len(signature.kinds)


def _movable(groups: list[Group], later: Later) -> set[Group]:
    """Groups that might lose members, and those that might get them."""
    movable: set[Group] = set()
    for reader in groups if later else ():
        before = reader.depth - 1
        for sources in reader.sources:
            for source in sources:
                if type(source) is Group and source.depth < before:
                    target = later.get((source.signature, before))
                    if target is not None:
                        movable |= {source, target}
    return movable


def _deadlines(movable: set[Group], reads: list[tuple[Group, int]]) -> dict[Any, list[int]]:
    """For each member the depth just before it is first read."""
    deadlines: dict[Any, list[int]] = {group: [NEVER] * group.count for group in movable}
    for reader, i in reads:
        before = reader.depth - 1
        for source, row in zip(*reader.column(i), strict=True):
            depths = deadlines.get(source)
            if depths is not None and before < depths[row]:
                depths[row] = before
    return deadlines


def _moved(
    groups: list[Group],
    goes: Goes,
    deadlines: dict[Any, list[int]],
    reads: list[tuple[Group, int]],
) -> list[Group]:
    """New groups for those that change; their members in the order in which they are read."""
    changed = {group for group, _ in goes} | set(goes.values())
    fresh = {group: Group(group.signature, group.depth, group.owner) for group in changed}
    places: dict[Any, list[Any]] = {group: [None] * group.count for group in changed}

    def place(group: Group, row: int) -> tuple[Group, int]:
        target = fresh[goes.get((group, deadlines[group][row]), group)]
        found = places[group][row] = target, target.count
        width = group.signature.width
        target.members += group.members[row * width : (row + 1) * width]
        target.count += 1
        return found

    for reader, i in reads:  # shallow ones first: those that move have told their sources by then
        sources, rows = reader.column(i)
        for at, (source, row) in enumerate(zip(sources, rows, strict=True)):
            known = places.get(source)
            if known is not None:
                sources[at], rows[at] = known[row] or place(source, row)
        width = reader.signature.width
        reader.members[2 * i :: width], reader.members[2 * i + 1 :: width] = sources, rows
    for group in changed:
        for row, found in enumerate(places[group]):
            if found is None:  # nobody reads it
                place(group, row)
        group.moved = places[group]
        group.close(ran=True)
    result = [group for group in groups if group not in changed]
    result += [group for group in fresh.values() if group.count]
    for group in {*(reader for reader, _ in reads), *fresh.values()}:
        group.find_needs()
    return sorted(result, key=by_depth)
