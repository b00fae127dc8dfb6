"""Members that nobody reads for a while wait, and run with later ones of their signature.

A group is as early as its operands allow. In trees, the short branch of a node is multiplied by its
weights long before the long one, so that their sum has to pick its operands from many groups. When
both wait for each other, the sum finds them in order, and nothing is picked.
"""

from __future__ import annotations

from minigrad.lazy.groups import Group, Signature

Place = tuple[Group, int]


def postpone(groups: list[Group]) -> list[Group]:
    """The groups with members moved to later ones of their signature, just before they are read.

    Groups that lose or gain members are replaced by new ones, and tell where their members went.
    """
    later = {(g.signature, g.depth): g for g in groups if _shares_weights(g.signature)}
    movable = _movable(groups, later)
    if not movable:
        return groups
    reads: list[tuple[Place, Group, int]] = []  # what is read, by whom, and where that is noted
    latest: dict[Place, int] = {}
    for reader in groups:
        depth, width, members = reader.depth - 1, reader.signature.width, reader.members
        for i in range(len(reader.signature.kinds)):
            if movable.isdisjoint(members[2 * i :: width]):
                continue
            for at in range(2 * i, len(members), width):
                if members[at] in movable:
                    place = members[at], members[at + 1]
                    reads.append((place, reader, at))
                    latest[place] = min(depth, latest.get(place, depth))
    targets: dict[Place, Group] = {}
    for place, depth in latest.items():
        target = later.get((place[0].signature, depth))
        if target is not None and target is not place[0]:
            targets[place] = target
    if not targets:
        return groups
    changed = {place[0] for place in targets} | set(targets.values())
    fresh = _move(targets, changed, [read for read in reads if read[0][0] in changed])
    result = [group for group in groups if group not in changed] + fresh
    for group in result:
        group.find_needs()
    return sorted(result, key=lambda group: group.depth)


def _shares_weights(signature: Signature) -> bool:
    """Whether members differ in one operand and share another, as in a product with weights."""
    varying = sum(type(kind) is tuple for kind in signature.kinds)
    return varying == 1 < len(signature.kinds)


def _movable(groups: list[Group], later: dict[tuple[Signature, int], Group]) -> set[Group]:
    """Groups that might lose members, and those that might get them."""
    movable: set[Group] = set()
    for reader in groups if later else ():
        for i, kind in enumerate(reader.signature.kinds):
            if type(kind) is not tuple:
                continue
            for source in set(reader.members[2 * i :: reader.signature.width]):
                if type(source) is Group and source.depth < reader.depth - 1:
                    target = later.get((source.signature, reader.depth - 1))
                    if target is not None:
                        movable |= {source, target}
    return movable


def _move(
    targets: dict[Place, Group], changed: set[Group], reads: list[tuple[Place, Group, int]]
) -> list[Group]:
    """New groups in place of those that change; members in the order of reading."""
    fresh = {group: Group(group.signature, group.depth, group.owner) for group in changed}
    order: dict[Place, None] = dict.fromkeys(place for place, _, _ in reads)
    for group in changed:
        order.update(dict.fromkeys((group, row) for row in range(group.count)))
    for place in order:
        target = fresh[targets.get(place, place[0])]
        place[0].moved[place[1]] = target, target.count
        target.count += 1
    for (group, row), reader, at in reads:
        reader.members[at : at + 2] = group.moved[row]
    for group, row in order:
        width = group.signature.width
        target, _ = group.moved[row]
        target.members += group.members[row * width : (row + 1) * width]
    for group in changed:
        group.close(ran=True)
    return [group for group in fresh.values() if group.count]
