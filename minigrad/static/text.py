"""A graph as text, one line a node: the same for the same graph on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from textwrap import indent
from typing import Any

import numpy as np

from minigrad.core import Array, Dim, public_shape
from minigrad.diagnostics.messages import one_line
from minigrad.ops import state
from minigrad.static.node import Node


def describe(
    node: Node,
    number: Mapping[Node, str],
    bodies: Mapping[str, Any],
    names: Mapping[Node, str] | None,
) -> str:
    """Describe a node: operator, operands by number, attributes; inner graphs are indented."""
    if node.op in (state.placeholder, state.variable):
        text = f"{node.op} {_quoted(names[node])}" if names else str(node.op)
        return text if node.op is state.placeholder else f"{text} {_digest(node.attrs['value'])}"
    if node.op is state.constant:
        return f"{node.op} {_digest(node.attrs['value'])}"
    operands = [number.get(x, "?") for x in node.inputs]
    operands += ["^" + number.get(x, "?") for x in node.controls]
    shown = [f"{k}={_plain(v)}" for k, v in sorted(node.attrs.items()) if k not in bodies]
    inner = [
        f" {k} {{\n{indent(body.text(names is not None), '    ')}\n}}" for k, body in bodies.items()
    ]
    return f"{node.op}({', '.join([*operands, *shown])}){''.join(inner)}"


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{one_line(escaped)}"'


def _plain(value: Any) -> str:
    """Write an attribute as text that doesn't depend on the machine."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _digest(np.asarray(value))
    if isinstance(value, tuple) and any(isinstance(n, Dim) for n in value):
        return str(public_shape(value))
    return one_line(str(getattr(value, "name", value)))


def _digest(value: Array) -> str:
    """Write a short value in full, a long one by its fingerprint."""
    if value.size <= 8:
        return str(value.tolist())
    return "#" + hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:12]
