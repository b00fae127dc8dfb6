"""Theano's ways to print a graph: `theano.pp`, `theano.printing.debugprint`, `Print`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat, as_tuple
from minigrad.faces.theano.tensor.basic import TensorVariable, on_variables

__all__ = ["Print", "debugprint", "pp"]

FORMS = {
    "Abs": "|{}|",
    "Add": "({} + {})",
    "Cast": "{}",
    "Div": "({} / {})",
    "FloorDivide": "({} // {})",
    "MatMul": "({} \\dot {})",
    "Mod": "({} % {})",
    "Mul": "({} * {})",
    "Neg": "(-{})",
    "Pow": "({} ** {})",
    "Sub": "({} - {})",
    "Transpose": "{}.T",
}
NAMES = {"Greater": "gt", "GreaterEqual": "ge", "Less": "lt", "LessEqual": "le", "Where": "switch"}


def pp(x: TensorVariable) -> str:
    """Return an expression as one line of text."""
    return _format_line(x.node)


def _format_line(node: mg.Node) -> str:
    if not node.inputs:
        return _format_leaf(node)
    inputs, name = [*map(_format_line, node.inputs)], node.op.name
    if name in FORMS:
        return FORMS[name].format(*inputs)
    return f"{NAMES.get(name, name.lower())}({', '.join(inputs)})"


def _format_leaf(node: mg.Node) -> str:
    """Return a node's name, or a constant's value; integers have no decimal point."""
    if node.op.name != "Constant":
        return node.name
    value = node.attrs["value"]
    return f"TensorConstant{{{value:g}}}" if not value.ndim else f"TensorConstant{{{value.shape}}}"


def debugprint(obj: Any, file: Any = None) -> str | None:
    """Print a graph as a tree, inputs below their readers; file="str" returns the text."""
    outputs = [x.node for x in as_tuple(getattr(obj, "outputs", obj))]
    known: dict[mg.Node, str] = {}
    text = "".join(f"{line}\n" for y in outputs for line in _tree_lines(y, known))
    if file == "str":
        return text
    print(text, end="", file=file)
    return None


def _tree_lines(
    node: mg.Node, known: dict[mg.Node, str], bar: str = "", indent: str = ""
) -> Iterator[str]:
    """Yield the lines of a node and, where it appears first, of its inputs."""
    inputs = () if node in known else node.inputs
    mark = known.setdefault(node, _letter_id(len(known)))
    yield f"{bar}{node.op.name if node.inputs else _format_leaf(node)} [id {mark}]" + (
        " ''   " if node.inputs else ""
    )
    for i, x in enumerate(inputs):
        below = "  " if i == len(inputs) - 1 else " |"
        yield from _tree_lines(x, known, f"{indent} |", indent + below)


def _letter_id(n: int) -> str:
    """Return the n-th id: A, B … Z, AA, AB …"""
    return (_letter_id(n // 26 - 1) if n >= 26 else "") + chr(ord("A") + n % 26)


class Print:
    """An operation that prints a value whenever it is computed, and returns it."""

    def __init__(self, message: str = "") -> None:
        self.message = message

    def __call__(self, x: TensorVariable) -> Any:
        """Return the same value, which is printed whenever it is computed."""
        return on_variables(mg.Print)(x, f"{self.message} __str__ =")


__getattr__ = face = Compat("theano.printing")
__dir__ = face.names
