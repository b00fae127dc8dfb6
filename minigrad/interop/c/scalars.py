"""The C text of operators on single elements: one table, which nothing else knows.

It is here and not on the records, because it differs by the kind of number and knows the names of
`mathematics.h`. A template is inert: {0}, {1} are the operands, {t} is the C type they have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import Dtype
from minigrad.static import Node

# Types that C has, too; truth values are bytes that hold 0 or 1.
C_TYPES: dict[Dtype, str] = {
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.bool_): "uint8_t",
    **{np.dtype(f"{s}int{n}"): f"{s}int{n}_t" for s in ("", "u") for n in (8, 16, 32, 64)},
}


def c_type(dtype: Dtype) -> str:
    """Return the C type of a data type; KeyError if there is none."""
    return C_TYPES[dtype]


def _extreme(sign: str) -> str:
    """Make the C expression of a maximum or minimum: NaN wins, and of equal ones the first."""
    return f"({{0}} {sign}= {{1}}) | ({{0}} != {{0}}) ? {{0}} : {{1}}"


FLOAT: dict[str, str] = {
    "Div": "{0} / {1}",
    "IsNaN": "{0} != {0}",
    "ReLU": "({0} > 0) | ({0} != {0}) ? {0} : 0",
    "Maximum": _extreme(">"),
    "Minimum": _extreme("<"),
    "Sign": "{0} != {0} ? {0} : ({t})(({0} > 0) - ({0} < 0))",
    "ShareOfMaximum": "1 - ({t})0.5 * (({0} < {1}) + ({0} <= {1}))",
    "Pow": "pow_{t}({0}, {1})",
    **{
        name: f"{name.lower()}_{{t}}({{0}})"
        for name in (
            *("Exp", "Log", "Log1p", "Sqrt", "Sin", "Cos", "Tanh", "Sigmoid", "Softplus", "Erf"),
            *("Abs", "Floor", "Ceil", "Round"),
        )
    },
}
WHOLE: dict[str, str] = {
    "IsNaN": "0",
    "ReLU": "{0} > 0 ? {0} : 0",
    "Maximum": "{0} >= {1} ? {0} : {1}",
    "Minimum": "{0} <= {1} ? {0} : {1}",
    "Sign": "({0} > 0) - ({0} < 0)",
    "Abs": "{0} < 0 ? -{0} : {0}",
    **dict.fromkeys(("Floor", "Ceil", "Round"), "{0}"),
}
NUMBER: dict[str, str] = {"Add": "{0} + {1}", "Sub": "{0} - {1}", "Mul": "{0} * {1}", "Neg": "-{0}"}
TRUTH: dict[str, str] = {"Add": "{0} | {1}", "Mul": "{0} & {1}"}
ANY: dict[str, str] = {
    "Equal": "{0} == {1}",
    "NotEqual": "{0} != {1}",
    "Less": "{0} < {1}",
    "LessEqual": "{0} <= {1}",
    "Greater": "{0} > {1}",
    "GreaterEqual": "{0} >= {1}",
    "And": "({0} != 0) & ({1} != 0)",
    "Or": "({0} != 0) | ({1} != 0)",
    "Xor": "({0} != 0) ^ ({1} != 0)",
    "Not": "{0} == 0",
    "Step": "{0} > 0",
    "Where": "{0} ? {1} : {2}",
}
TEMPLATES: dict[str, dict[str, str]] = {
    "f": ANY | NUMBER | FLOAT,
    "i": ANY | NUMBER | WHOLE,
    "u": ANY | NUMBER | WHOLE,
    "b": ANY | WHOLE | TRUTH,
}


def literal(value: Any, dtype: Dtype) -> str:
    """Write a number in C; a float as the shortest decimal with the same bits."""
    number: Any = np.asarray(value).astype(dtype)[()]
    if dtype.kind != "f":
        least = dtype.kind == "i" and number == np.iinfo(dtype).min
        suffix = "ull" if dtype.kind == "u" else "ll"
        text = f"(-{np.iinfo(dtype).max}ll - 1)" if least else f"{int(number)}{suffix}"
        return f"({c_type(dtype)}){text}"
    if np.isnan(number):
        return f"({c_type(dtype)})NAN"
    if np.isinf(number):
        return f"({c_type(dtype)}){'-' if number < 0 else ''}INFINITY"
    text = np.format_float_scientific(number, unique=True, trim="0")
    if 1e-3 <= abs(number) < 1e6 or number == 0:
        text = np.format_float_positional(number, unique=True, trim="0")
    text += "f" if dtype == np.float32 else ""
    return f"({text})" if text.startswith("-") else text


def _cast(node: Node, operand: str, source: Dtype) -> str | None:
    """Write a cast; None from floats to integers, where C leaves out-of-range values undefined."""
    if source.kind == "f" and node.dtype.kind in "iu":
        return None
    return f"{operand} != 0" if node.dtype.kind == "b" else f"({c_type(node.dtype)}){operand}"


def _clip(node: Node, operand: str, source: Dtype) -> str:
    """Write a clip; NaN stays, and a missing bound does nothing."""
    low, high = node.attrs.get("low"), node.attrs.get("high")
    text = f"({c_type(node.dtype)}){operand}"
    for bound, sign in ((low, "<"), (high, ">")):
        if bound is not None:
            number = literal(bound, node.dtype)
            text = f"({text} {sign} {number} ? {number} : {text})"
    return text


def _within(node: Node, operand: str, source: Dtype) -> str:
    low, high = node.attrs.get("low"), node.attrs.get("high")
    wide = source if source.kind == "f" else np.dtype(np.float64)
    tests = [
        f"({operand} {sign} {literal(bound, wide)})"
        for bound, sign in ((low, ">="), (high, "<="))
        if bound is not None
    ]
    return " & ".join(tests) or "1"


def _gelu(node: Node, operand: str, source: Dtype) -> str | None:
    if source.kind != "f":
        return None
    t, x = c_type(source), operand

    def number(value: float) -> str:
        return literal(value, source)

    inner = f"erf_{t}({x} * {number(np.sqrt(0.5))})"
    if node.attrs.get("approximate", "none") == "tanh":
        slope, cubic = number(np.sqrt(2 / np.pi)), number(0.044715)
        inner = f"tanh_{t}({slope} * ({x} + {cubic} * {x} * {x} * {x}))"
    return f"({inner} + 1) * {x} * {number(0.5)}"


# Operators whose text depends on their attributes.
WRITERS: dict[str, Callable[[Node, str, Dtype], str | None]] = {
    "Cast": _cast,
    "Clip": _clip,
    "Within": _within,
    "GELU": _gelu,
}


def expression(node: Node, operands: Sequence[str], dtypes: Sequence[Dtype]) -> str | None:
    """Write an element of the result in C; None if that can't be done.

    The operands are names of C variables of these data types.
    """
    plain = [d for i, d in enumerate(dtypes) if i not in node.op.selectors]
    if not plain or any(d not in C_TYPES for d in (*dtypes, node.dtype)):
        return None
    source, name = plain[0], node.op.name
    if name in WRITERS:
        return WRITERS[name](node, operands[0], source)
    template = TEMPLATES[source.kind].get(name)
    alike = all(d == source for d in plain) or name in ("And", "Or", "Xor")
    if template is None or not alike or node.attrs:
        return None
    return template.format(*operands, t=c_type(source))
