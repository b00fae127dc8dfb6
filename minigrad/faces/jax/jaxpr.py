"""A graph in JAX's notation: `{ lambda ; a:f32[]. let b:f32[] = mul a a in (b,) }`."""

from __future__ import annotations

from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat

__all__ = ["format_jaxpr"]

WIDTH = 80
NAMES = {
    "Equal": "eq",
    "Greater": "gt",
    "GreaterEqual": "ge",
    "Less": "lt",
    "LessEqual": "le",
    "Max": "reduce_max",
    "Maximum": "max",
    "Min": "reduce_min",
    "Minimum": "min",
    "Mod": "rem",
    "Prod": "reduce_prod",
    "Sigmoid": "logistic",
    "Sum": "reduce_sum",
    "Where": "select_n",
}
SHOWN = ("axis", "axes", "shape")  # the parameters of an operator


def format_jaxpr(graph: mg.Graph) -> str:
    """Return the text of a jaxpr, in one line if it fits."""
    own = {*graph.inputs}
    constants = [x for x in graph.nodes if not x.inputs and x not in own and x.shape != ()]
    known: dict[Any, str] = {}
    for x in (*constants, *graph.inputs):
        known[x] = _variable_name(len(known))
    lines = []
    for node in graph.nodes:
        if node.inputs:
            read = " ".join(_format_operand(x, known) for x in node.inputs)
            known[node] = _variable_name(len(known))
            lines.append(f"{_format_typed(node, known)} = {_format_primitive(node)} {read}")
    given = [" ".join(_format_typed(x, known) for x in xs) for xs in (constants, graph.inputs)]
    head = f"{{ lambda {given[0]}; {given[1]}. let"
    outputs = ", ".join(_format_operand(x, known) for x in graph.outputs)
    tail = f"in ({outputs}{',' * (len(graph.outputs) == 1)}) }}"
    whole = f"{head} {'; '.join(lines)} {tail}"
    return whole if len(whole) <= WIDTH else "\n    ".join([head, *lines]) + f"\n  {tail}"


def _format_primitive(node: Any) -> str:
    """Return the name of an operator with its parameters."""
    name = NAMES.get(node.op.name, node.op.name.lower())
    parameters = [f"{k}={node.attrs[k]}" for k in SHOWN if node.attrs.get(k) is not None]
    return f"{name}[{' '.join(parameters)}]" if parameters else name


def _format_operand(node: Any, known: dict[Any, str]) -> str:
    """Return the letter of a value, or the number itself for a scalar constant."""
    if node in known:
        return known[node]
    value = node.attrs.get("value")
    return f"{value}:{_format_type(node)}" if value is not None else str(node.name)


def _format_typed(node: Any, known: dict[Any, str]) -> str:
    return f"{known[node]}:{_format_type(node)}"


def _format_type(node: Any) -> str:
    """Return a node's data type and shape, such as f32[3]."""
    kind = "bool" if node.dtype.kind == "b" else f"{node.dtype.kind}{8 * node.dtype.itemsize}"
    return f"{kind}[{','.join('?' if n is None else str(n) for n in node.shape or ())}]"


def _variable_name(n: int) -> str:
    """Return the n-th variable name: a, b … z, ba, bb …"""
    return (_variable_name(n // 26) if n >= 26 else "") + chr(ord("a") + n % 26)


__getattr__ = face = Compat("jax.core")
__dir__ = face.names
