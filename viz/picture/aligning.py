"""Match the boxes of two pictures that are only partly alike."""

from __future__ import annotations

from collections.abc import Hashable
from difflib import SequenceMatcher

from viz.picture.boxes import Picture, PictureNode


def alignment(one: Picture, other: Picture) -> dict[str, str]:
    """Map boxes of `other` to the same boxes of `one`, as far as they can be matched.

    First what computes the same from the same inputs; then, from the outputs down, what has the
    same operator for the same readers; then what is left, in the order of both.

    >>> import minigrad as mg
    >>> from viz.picture.picture import picture
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", shape=())
    ...     before, after = picture(mg.tanh(x) * 2), picture(mg.tanh(x + 1) * 2)
    >>> pairs = alignment(before, after)
    >>> names = {n.id: n.op for n in before.nodes}
    >>> [names[pairs[n.id]] if n.id in pairs else f"new {n.op}" for n in after.nodes]
    ['Placeholder', 'new Constant', 'new Add', 'Tanh', 'Constant', 'Mul']
    """
    found: dict[str, str] = {}
    _match_up(one, other, found)
    _match_down(one, other, found)
    _in_order(one, other, found)
    return found


def _box_key(node: PictureNode) -> tuple[Hashable, ...]:
    """Return what identifies a box by itself: a leaf's kind and name, an operator's type."""
    return (node.op,) if node.inputs else (node.kind, node.name)


def _match_up(one: Picture, other: Picture, found: dict[str, str]) -> None:
    known: dict[Hashable, list[str]] = {}
    for n in one.nodes:
        known.setdefault((*_box_key(n), n.inputs), []).append(n.id)
    for n in other.nodes:
        inputs = tuple(found.get(i, "") for i in n.inputs)
        same = known.get((*_box_key(n), inputs))
        if same:
            found[n.id] = same.pop(0)


def _match_down(one: Picture, other: Picture, found: dict[str, str]) -> None:
    nodes = [{n.id: n for n in p.nodes} for p in (one, other)]
    taken = set(found.values())
    ends = [[n.id for n in p.nodes if n.is_output] for p in (one, other)]
    waiting = list(zip(*ends, strict=False))
    seen = set()
    while waiting:
        a, b = waiting.pop()
        left, right = nodes[0][a], nodes[1][b]
        if (a, b) in seen or found.get(b, a) != a or (b not in found and a in taken):
            continue
        seen.add((a, b))
        leaves = not left.inputs and not right.inputs
        if not leaves and (left.op != right.op or not left.inputs or not right.inputs):
            continue
        found[b] = a
        taken.add(a)
        waiting += zip(left.inputs, right.inputs, strict=False)


def _in_order(one: Picture, other: Picture, found: dict[str, str]) -> None:
    """Match what is left: the longest runs of the same operators, or of leaves' shapes."""
    taken = set(found.values())
    for leaves in (True, False):  # leaves, then operators
        left = [n for n in one.nodes if n.id not in taken and (not n.inputs) == leaves]
        right = [n for n in other.nodes if n.id not in found and (not n.inputs) == leaves]
        about = _kept if leaves else _operator
        matcher = SequenceMatcher(None, [*map(about, left)], [*map(about, right)], autojunk=False)
        for i, j, size in matcher.get_matching_blocks():
            found.update((right[j + k].id, left[i + k].id) for k in range(size))


def _kept(node: PictureNode) -> Hashable:
    return node.kind, node.shape


def _operator(node: PictureNode) -> Hashable:
    return node.op
