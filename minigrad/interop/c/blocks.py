"""C functions under construction: the arrays and lengths they take, and their names."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace

from minigrad.core import Dim, Dtype, Shape, Spec
from minigrad.interop.c.scalars import C_TYPES, c_type
from minigrad.static import Node

# The comment after a line, made only when shown: a text, a node that does a part of the
# work, or, as a number, the operand at that position of the node that the function is for, OWN:
# that node, or below that, counted downwards, the nodes of its body.
Remark = Node | str | int | None
OWN = -1
WRITTEN = 128  # declared lengths up to here are written out: their loops can be unrolled


@dataclass(frozen=True)
class CArray:
    """An array's properties: those that the graph declares, and those of this run."""

    dtype: Dtype
    declared: Shape
    shape: tuple[int, ...]

    @classmethod
    def of(cls, declared: Spec, found: Spec) -> CArray | None:
        """Return the form of a value; None if C has no such type or a length is unknown."""
        shape = found.shape
        if found.dtype not in C_TYPES or shape is None:
            return None
        if declared.shape is None or any(isinstance(n, Dim) for n in shape):
            return None
        return cls(found.dtype, declared.shape, shape)  # type: ignore[arg-type]

    @property
    def type(self) -> str:
        return c_type(self.dtype)


CArrays = Sequence[CArray]


@dataclass(frozen=True)
class CFunction:
    """One C function: its text, and which lengths it takes as arguments, as (array, axis).

    Arrays are numbered, results first. `fails`: it returns something else than 0 for operands that
    the operator refuses.
    """

    stem: str
    parameters: tuple[str, ...]
    lines: tuple[tuple[str, Remark], ...]  # code, and the comment behind it
    lengths: tuple[tuple[int, int], ...]
    used: tuple[int, ...]  # the arrays that are arguments
    fails: bool = False
    contract: bool = False  # products and sums may be rounded once: a sum of products, added up

    @functools.cached_property
    def name(self) -> str:
        """The C function's name: its stem and a hash of its text; equal blocks share one."""
        code = "\n".join([*self.parameters, *(line for line, _ in self.lines)])
        return f"{self.stem}_{hashlib.sha256(code.encode()).hexdigest()[:8]}"

    def for_any(self, node: Node) -> CFunction:
        """Return the block for any node like this one."""
        number = {x: OWN - i for i, x in enumerate([node, *body_of(node)])}
        lines = [(code, number.get(x, x) if isinstance(x, Node) else x) for code, x in self.lines]
        return replace(self, lines=tuple(lines))

    def text(self, node: Node | None = None) -> str:
        """Write the C function, with comments about this node."""
        kind = "int" if self.fails else "void"
        head = f"static NOINLINE {kind} {self.name}({', '.join(self.parameters)})"
        lines = [annotated(code, comment, node) for code, comment in self.lines]
        text = "\n".join([head, "{", *lines, "}"])
        return f"ROUND_ONCE\n{text}\nROUND_TWICE" if self.contract else text


@dataclass
class CWriter:
    """Collects the lines of one function."""

    stem: str
    results: CArrays
    operands: CArrays
    unread: Container[int] = ()  # positions of operands whose shape is read and whose data are not
    unwritten: Container[int] = ()  # positions of results that aren't stored
    lines: list[tuple[str, Remark]] = field(default_factory=list)
    lengths: list[tuple[int, int]] = field(default_factory=list)
    fails: bool = False
    contract: bool = False
    _names: dict[object, str] = field(default_factory=dict)
    _depth: int = 0

    def line(self, code: str, comment: Remark = None) -> None:
        self.lines.append(("    " * self._depth + code, comment))

    def open(self, code: str, comment: Remark = None) -> None:
        self.line(code + " {", comment)
        self._depth += 1

    def close(self, levels: int = 1) -> None:
        for _ in range(levels):
            self._depth -= 1
            self.line("}")

    def loop(
        self, index: str, length: str, comment: Remark = None, independent: bool = False
    ) -> None:
        """Open a loop from 0; `independent`: no round reads what another one writes."""
        if independent:
            self.line("INDEPENDENT")
        self.open(f"for (int64_t {index} = 0; {index} < {length}; {index}++)", comment)

    def length(self, array: int, axis: int) -> str:
        """Return the length of an axis: a number if the graph knows it, else an argument."""
        declared = [*self.results, *self.operands][array].declared[axis]
        if isinstance(declared, int) and declared <= WRITTEN:
            return str(declared)
        if declared not in self._names:
            self._names[declared] = f"n{len(self.lengths)}"
            self.lengths.append((array, axis))
        return self._names[declared]

    def size(self, array: int, axes: Sequence[int]) -> str:
        """Return the product of some lengths."""
        return " * ".join(self.length(array, a) for a in axes) or "1"

    def block(self) -> CFunction:
        parameters = [f"int64_t n{i}" for i in range(len(self.lengths))]
        used = [i for i in range(len(self.results)) if i not in self.unwritten]
        parameters += [f"{self.results[i].type} *y{i}" for i in used]
        for i, form in enumerate(self.operands):
            if i not in self.unread:
                parameters.append(f"const {form.type} *x{i}")
                used.append(len(self.results) + i)
        if self.fails:
            self.line("return 0;")
        return CFunction(
            self.stem,
            tuple(parameters),
            tuple(self.lines),
            tuple(self.lengths),
            tuple(used),
            self.fails,
            self.contract,
        )


STRANGE, NUMBERED = re.compile(r"\W+", re.ASCII), re.compile(r"_\d+$")


def c_identifier(text: str) -> str:
    """Return a name that is valid in C."""
    plain = STRANGE.sub("_", text).strip("_").lower()
    return NUMBERED.sub("", plain)[:40] or "block"


def annotated(code: str, comment: Remark, node: Node | None) -> str:
    """Write a line of a function for this node, followed by its comment if there is a node.

    All in one line, without a `\\` that would draw the next one into the comment.
    """
    if comment is None or node is None:
        return f"    {code}"
    if isinstance(comment, str):
        said = comment
    elif isinstance(comment, int) and comment > OWN:
        said = node.inputs[comment].name
    else:
        about = comment if isinstance(comment, Node) else [node, *body_of(node)][OWN - comment]
        where = about.where
        said = f"{about.op.name} {about.name} ({where.place}: {where.text[:60]})"
    return f"    {code}  // {' '.join(said.replace(BACKSLASH, '/').split())}"


BACKSLASH = "\\"


def body_of(node: Node) -> Sequence[Node]:
    """Return the nodes of a fused region; none for other operators."""
    body = node.attrs.get("body")
    return () if body is None else body.nodes
