"""A program as Python that a student can read, and that runs.

The text makes the memory of the plan, one name for each array, and defines
`program(feeds, variables)`: a line for each call, with the node it works for and the user's line in
a comment. Fused regions are loops over tiles; branches and loops of the graph are `if` and `while`,
their bodies functions in front of the program. A body whose shapes are known works in memory of its
own, where that changes no bit.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.compiler.builder import Builder
from minigrad.compiler.memory import DoubleBuffer, unshared
from minigrad.compiler.slots import KernelCall, Slot
from minigrad.compiler.text.lines import Line, LineWriter, indent_lines, one_line_comment
from minigrad.compiler.text.planned import Planned
from minigrad.core import Spec
from minigrad.ops import state
from minigrad.static import Graph
from minigrad.static.run import Interpreter

HEAD = '''"""{about}

program(feeds, variables) returns the list of results; new values of variables are
put into that dictionary. `constants` must be there: what is too large to be written.
All calls work in the same memory: one at a time.
"""

# feeds: {feeds}
# variables: {variables}

import numpy as np

from minigrad.core import REGISTRY, Spec
'''
FILE = f"{__file__}: program"  # inside the package: see source.caller


class Text(LineWriter):
    """A program that is written: the names that are there before, the functions, the program."""

    def __init__(self, graph: Graph, about: str) -> None:
        super().__init__(graph)
        self.about = about
        self.inside: list[Line] = []
        self.results: list[str] = []

    @functools.cached_property
    def code(self) -> list[Line]:
        """All functions, line by line."""
        inside = self.inside
        if any("updates" in line.text for line in [*self.functions, *inside]):
            inside = [Line("updates = {}"), *inside, Line("variables.update(updates)")]
        inside = [*inside, Line(f"return [{', '.join(self.results)}]")]
        start = [Line(""), Line("def program(feeds, variables):")]
        return [*self.functions, *start, *indent_lines(inside)]

    def load(self) -> Any:
        """Load the program itself, in the memory of its plan."""
        scope = {name: given.value for name, given in self.given.items()}
        scope |= {name: value for value, name in self.imports.items()}
        scope |= {"np": np, "Spec": Spec, "constants": self.table.values}
        text = "\n".join([line.text for line in self.code])
        exec(compile(text, FILE, "exec"), scope)
        return scope["program"]

    @property
    def shown(self) -> str:
        """The compiled program as one Python script."""
        feeds = ", ".join(repr(self.keys[x]) for x in self.graph.placeholders)
        kept = ", ".join(repr(key) for x, key in self.keys.items() if x.op is not state.placeholder)
        given = [Line(f"{name} = {x.text()}", x.node).shown for name, x in self.given.items()]
        imports = [
            f"from {x.__module__} import {x.__name__}"
            + (f" as {name}" if name != x.__name__ else "")
            for x, name in self.imports.items()
        ]
        fed = one_line_comment(feeds) or "none"
        head = HEAD.format(about=self.about, feeds=fed, variables=kept or "none")
        text = [line.shown for line in self.code]
        return "\n".join([head + "\n".join(imports), "", *given, "", *text, ""])


def write_reference(graph: Graph, interpreter: Interpreter) -> Text:
    """Write the text of the reference executor."""
    text = Text(graph, "")
    text.inside, names = text.program(interpreter, [])
    text.about = f"{len(text.inside)} lines: one operator after the other, as the graph has them."
    text.results = [f"{text.imported(unshared)}({name})" for name in names]
    return text


def write(built: Builder, calls: Sequence[KernelCall], twos: Mapping[Slot, DoubleBuffer]) -> Text:
    """Write the text of these calls into planned memory."""
    plan, graph = built.plan, built.layout.graph
    text = Text(
        graph,
        f"{len(built.calls)} calls; {len(plan.lifetimes)} values in {len(plan.buffers)} "
        f"buffers of {plan.bytes:,} bytes.",
    )
    planned = Planned(text, built, twos)
    planned.write(calls)
    text.inside = planned.lines
    text.results = [planned.result(x) for x in graph.outputs]
    return text
