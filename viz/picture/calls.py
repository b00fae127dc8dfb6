"""The calls of layers: a layer that is called twenty times is twenty groups, not one.

A node knows the scope it was built in, and each call of a layer makes a new scope
(`minigrad.core.Scope`). What the calls share, the parameters, has a group beside them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dis import get_instructions, hasjabs, hasjrel
from itertools import takewhile
from types import CodeType
from typing import Any

from minigrad.core import BaseNode, Scope
from minigrad.dynamic.tensor import Tensor

NUMBER = re.compile(r" \(\d+\)$")
LOOPS = ("for", "while")


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
                calls = self._calls.setdefault(_layer_key(scope), {})
                calls.setdefault(scope.call, len(calls) + 1)
            for x in node.inputs:
                self._read.setdefault(id(x), {}).setdefault(str(node.scope), []).append(node.scope)

    def group(self, scope: str) -> str:
        """Return the path of the group, with the number of the call if there are several."""
        if not isinstance(scope, Scope):
            return scope
        calls = self._calls.get(_layer_key(scope), {})
        number = f" ({calls[scope.call]})" if len(calls) > 1 else ""
        return _joined(self.group(scope.outer), _name(scope) + number)

    def shared(self, scope: str, x: object) -> str:
        """Return the group of a parameter that was first read in this scope.

        Read by several calls of its layer it is in a group beside them.
        """
        read = self._read.get(id(x), {}).get(str(scope), [scope])
        groups = [self.group(scope).split("/") for scope in read]
        if all(group == groups[0] for group in groups):
            return "/".join(groups[0])
        shared = len([*takewhile(lambda parts: len({*parts}) == 1, zip(*groups, strict=False))])
        called = scope.split("/")[shared]
        return _joined("/".join(groups[0][:shared]), f"{called}.parameters")


def layer_name(name: str) -> str:
    """Return the name of a layer without the number of its call.

    >>> layer_name("linear (2)")
    'linear'
    """
    return NUMBER.sub("", name)


def repeated_call(nodes: Sequence[BaseNode | None]) -> str:
    """Name what made these nodes and others like them again: a function, "for" or "while".

    "" where neither is known, as in a graph that was read from a file.
    """
    found = {getattr(node, "code", None) for node in nodes}
    codes = [code for code in found if isinstance(code, CodeType)]
    if not codes or len(codes) < len(found):
        return ""
    code, *more = codes
    places = [node.lasti for node in nodes if node is not None]
    around = [word for start, end, word in _loops(code) if any(start <= i <= end for i in places)]
    if more or around:
        return [*around, *LOOPS][0]
    return code.co_name if code.co_name.isidentifier() else ""


def _loops(code: CodeType) -> list[tuple[int, int, str]]:
    """Return the start, end and keyword of each loop of a function, from backward jumps."""
    steps = {s.offset: s for s in get_instructions(code)}
    back = [s for s in steps.values() if s.opcode in (*hasjrel, *hasjabs) and s.argval < s.offset]
    return [(s.argval, s.offset, LOOPS[steps[s.argval].opname != "FOR_ITER"]) for s in back]


def source_name(node: BaseNode, index: int) -> str:
    """Return an operand's name in the user's line: "w" for the second of `h @ w`; else ""."""
    with suppress(SyntaxError, AttributeError, IndexError):
        line: Any = ast.parse(node.where.parts[1], mode="eval").body
        binary = isinstance(line, ast.BinOp)
        said = type(line.op).__name__ if binary else line.func.attr  # "Mult", "tanh"
        name = str(([line.left, line.right] if binary else line.args)[index].id)
        said, op = said.lower().replace("_", ""), node.op.name.lower()
        if (said.startswith(op) or op.endswith(said)) and name[0] != "_":
            return name
    return ""


def source_names(nodes: Iterable[BaseNode]) -> dict[int, str]:
    """Return the names of tensors in the lines that read them, by `id`."""
    found: dict[int, str] = {}
    for node in nodes:
        for i, x in enumerate(node.inputs):
            if isinstance(x, Tensor):
                found[id(x)] = found.get(id(x)) or source_name(node, i)
    return found


def in_layer(scope: str) -> bool:
    """Return whether the call of a layer is around: what is trained there is a parameter.

    >>> import minigrad as mg
    >>> in_layer(mg.nn.Linear(1, 1)(mg.ones((1, 1))).creator.scope), in_layer("")
    (True, False)
    """
    return any(each.call for each in _around(scope))


def _around(scope: str) -> list[Scope]:
    """Return the scopes around a node that know their call, outermost first."""
    return [*_around(scope.outer), scope] if isinstance(scope, Scope) else []


def _layer_key(scope: Scope) -> Hashable:
    """Return what the calls of one layer have in common: the enclosing calls, and its name."""
    outer = scope.outer
    known = (_layer_key(outer), outer.call) if isinstance(outer, Scope) else outer
    return known, _name(scope)


def _name(scope: Scope) -> str:
    return scope[len(scope.outer) + 1 :] if scope.outer else str(scope)


def _joined(outer: str, inner: str) -> str:
    return f"{outer}/{inner}" if outer else inner
