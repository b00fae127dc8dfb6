"""One C file for the kernels of a program: their functions, and drivers that call several of them.

It is compiled when the first of them is called.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.interop.c import library
from minigrad.interop.c.blocks import OWN, CFunction, annotated
from minigrad.static import Node


class CUnit:
    """One C file: the functions of a program's kernels, and drivers that call them."""

    def __init__(self) -> None:
        self._drivers: list[Sequence[DriverCall]] = []
        self._names: dict[tuple[object, ...], str] = {}  # of drivers by their calls
        self._library: ctypes.CDLL | None = None
        self._tried = False

    def driver(self, parts: Sequence[DriverCall]) -> str:
        """Return the name of a C function that calls these blocks in order.

        It returns 0, or the number (from 1 on) of the block that refused its operands.
        """
        calls = tuple([(part.block.name, *part.places) for part in parts])
        if calls not in self._names:
            self._names[calls] = f"run{len(self._drivers)}"
            self._drivers.append(parts)
        return self._names[calls]

    def source(self) -> str:
        """Write the C file, with comments."""
        return library.source_of(self._functions(comments=True))

    def _functions(self, comments: bool) -> list[str]:
        found = {part.block.name: part for parts in self._drivers for part in parts}
        functions = [x.block.text(x.node if comments else None) for x in found.values()]
        long = [parts for parts in self._drivers if len(parts) > MOST_CALLS]
        if long:
            functions.append(STEP)
            inside = {part.block.name: part.block for parts in long for part in parts}
            functions += [_step_function(block) for block in inside.values()]
        for i, parts in enumerate(self._drivers):
            head, body = f"EXPORT int64_t run{i}(void *const *a, const int64_t *n)", list[str]()
            if len(parts) > MOST_CALLS:
                functions.append(_table(f"steps{i}", parts, comments))
                body += LOOP.format(table=f"steps{i}", count=len(parts)).splitlines()
            else:
                for number, part in enumerate(parts, 1):
                    body.append(annotated(part.call(number), OWN, part.node if comments else None))
            functions.append("\n".join([head, "{", *body, "    return 0;", "}"]))
        return functions

    def function(self, name: str) -> Any:
        """Compile a driver; None if that isn't possible."""
        if not self._tried:
            self._tried, self._library = True, library.load(self._functions(comments=False))
        return None if self._library is None else library.function(self._library, name)


@dataclass(frozen=True)
class DriverCall:
    """A block within a driver: the places of its arrays and lengths in the tables, and its node."""

    block: CFunction
    arrays: Sequence[int]
    lengths: Sequence[int]
    node: Node

    def call(self, number: int) -> str:
        """Write the call in C; the driver returns `number` if the block refuses."""
        return _call(self.block, [*map(str, self.places)], number)

    @property
    def places(self) -> list[int]:
        """The places of the arguments: the lengths in one table, then the arrays in the other."""
        return [*self.lengths, *(self.arrays[i] for i in self.block.used)]


def _call(block: CFunction, places: Sequence[str], number: int) -> str:
    count = len(block.lengths)
    given = [f"{'n' if i < count else 'a'}[{place}]" for i, place in enumerate(places)]
    call = f"{block.name}({', '.join(given)})"
    return f"if ({call}) return {number};" if block.fails else f"{call};"


# To compile a call takes as long as to compile twenty lines of a table, so long drivers are tables.
MOST_CALLS = 64
STEP = "typedef int64_t Step(void *const *a, const int64_t *n, const int32_t *k);"
LOOP = """\
    for (int64_t i = 0; i < {count}; i++)
        if ({table}[i].call(a, n, {table}[i].k)) return i + 1;"""


def _step_function(block: CFunction) -> str:
    """Write a function that calls a block with arguments from given places."""
    places = [f"k[{i}]" for i in range(len(block.lengths) + len(block.used))]
    head = f"static int64_t {block.name}_at(void *const *a, const int64_t *n, const int32_t *k)"
    return "\n".join([head, "{", f"    {_call(block, places, 1)}", "    return 0;", "}"])


def _table(name: str, parts: Sequence[DriverCall], comments: bool) -> str:
    """Write the table of a driver's calls: the function and the places of its arguments."""
    rows, most = [], 1
    for part in parts:
        most = max(most, len(part.places))
        places = ", ".join(map(str, part.places))
        row = f"{{{part.block.name}_at, {{{places}}}}},"
        rows.append(annotated(row, OWN, part.node if comments else None))
    kind = f"static const struct {{ Step *call; int32_t k[{most}]; }} {name}[]"
    return "\n".join([f"{kind} = {{", *rows, "};"])
