"""The calls of layers: a layer that is called twenty times is twenty groups, not one.

A node knows the scope it was built in, and each call of a layer makes a scope of its own
(`minigrad.core.Scope`). What the calls share, the parameters, has a group beside them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dis import get_instructions, hasjabs, hasjrel
from itertools import takewhile
from types import CodeType

from minigrad.core import BaseNode, Scope

NUMBER = re.compile(r" \(\d+\)$")
LOOP = "loop"


class Calls:
    """The groups of some nodes, by the calls that these were built in.

    >>> import minigrad as mg
    >>> double = mg.nn.Sequential(mg.nn.Linear(1, 1))
    >>> y = double(mg.ones((1, 1)))
    >>> z = double(y)
    >>> Calls([y.creator, z.creator]).group(z.creator.scope)
    'linear1 (2)'
    """

    def __init__(self, nodes: Iterable[BaseNode]) -> None:
        self._calls: dict[Hashable, dict[int, int]] = {}  # by place: the calls, and their numbers
        self._read: dict[int, dict[str, list[str]]] = {}  # by operand and path: the scopes
        for node in nodes:
            for scope in _around(node.scope):
                calls = self._calls.setdefault(_place(scope), {})
                calls.setdefault(scope.call, len(calls) + 1)
            for x in node.inputs:
                self._read.setdefault(id(x), {}).setdefault(str(node.scope), []).append(node.scope)

    def group(self, scope: str) -> str:
        """The path of the group: with the number of the call, where there are several."""
        if not isinstance(scope, Scope):
            return scope
        calls = self._calls.get(_place(scope), {})
        number = f" ({calls[scope.call]})" if len(calls) > 1 else ""
        return _joined(self.group(scope.outer), _name(scope) + number)

    def shared(self, scope: str, x: object) -> str:
        """The group of a parameter that was first read in this scope.

        Read by several calls of its layer it is in a group beside them.
        """
        read = self._read.get(id(x), {}).get(str(scope), [scope])
        groups = [self.group(scope).split("/") for scope in read]
        if all(group == groups[0] for group in groups):
            return "/".join(groups[0])
        shared = len([*takewhile(lambda parts: len({*parts}) == 1, zip(*groups, strict=False))])
        called = scope.split("/")[shared]
        return _joined("/".join(groups[0][:shared]), f"{called}.parameters")


def called(name: str) -> str:
    """The name of a layer without the number of its call.

    >>> called("linear (2)")
    'linear'
    """
    return NUMBER.sub("", name)


def repeating(nodes: Sequence[BaseNode | None]) -> str:
    """The name of what made these nodes and made their likes again: a function, or "loop".

    "" where neither is known, as in a graph that was read from a file.
    """
    found = {getattr(node, "code", None) for node in nodes}
    codes = [code for code in found if isinstance(code, CodeType)]
    if not codes or len(codes) < len(found):
        return ""
    code, *more = codes
    places = [node.lasti for node in nodes if node is not None]
    if more or any(start <= i <= end for start, end in _loops(code) for i in places):
        return LOOP
    return code.co_name if code.co_name.isidentifier() else ""


def _loops(code: CodeType) -> list[tuple[int, int]]:
    """From where to where the loops of a function run, by the jumps back."""
    steps = (step for step in get_instructions(code) if step.opcode in (*hasjrel, *hasjabs))
    return [(step.argval, step.offset) for step in steps if step.argval < step.offset]


def in_layer(scope: str) -> bool:
    """Return whether the call of a layer is around: what is trained there is a parameter.

    >>> import minigrad as mg
    >>> in_layer(mg.nn.Linear(1, 1)(mg.ones((1, 1))).creator.scope), in_layer("")
    (True, False)
    """
    return any(each.call for each in _around(scope))


def _around(scope: str) -> list[Scope]:
    """The scopes around a node that know their call, from the outside."""
    return [*_around(scope.outer), scope] if isinstance(scope, Scope) else []


def _place(scope: Scope) -> Hashable:
    """What the calls of one layer have in common: the calls around them, and its name."""
    outer = scope.outer
    known = (_place(outer), outer.call) if isinstance(outer, Scope) else outer
    return known, _name(scope)


def _name(scope: Scope) -> str:
    return scope[len(scope.outer) + 1 :] if scope.outer else str(scope)


def _joined(outer: str, inner: str) -> str:
    return f"{outer}/{inner}" if outer else inner
