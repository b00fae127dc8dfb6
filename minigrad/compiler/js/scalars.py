"""The JavaScript of operators on single elements: one table, which nothing else knows.

In a template {0}, {1} are the operands: names, or numbers that are written out. All is computed in
float64 and rounded once, to the data type of the result.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from minigrad.core import Attrs, Dtype

# For each data type its typed array, and how a value is brought to it where no array does that.
# In a Float64Array an int64 is exact up to 2^53, beyond which `whole` refuses it.
TYPED_ARRAYS = {"float32": ("Float32Array", "f({})"), "float64": ("Float64Array", "{}")}
TYPED_ARRAYS |= {"bool": ("Uint8Array", "+({})"), "int64": ("Float64Array", "whole({})")}
TYPED_ARRAYS |= {"int32": ("Int32Array", "({}) | 0"), "uint32": ("Uint32Array", "({}) >>> 0")}
TYPED_ARRAYS |= {"int16": ("Int16Array", "({}) << 16 >> 16")}
TYPED_ARRAYS |= {"uint16": ("Uint16Array", "({}) & 65535")}
TYPED_ARRAYS |= {"int8": ("Int8Array", "({}) << 24 >> 24"), "uint8": ("Uint8Array", "({}) & 255")}
MAX_SAFE_INTEGER = 2**53 - 1  # up to which a float64 holds every integer
# What becomes of each number that is fed, and of each that is added up, by the kind of number.
CHECKED_CASTS = {"f": "Number", "b": "truth", "i": "whole", "u": "whole"}
INFIX = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Equal": "==", "NotEqual": "!="}
INFIX |= {"Less": "<", "LessEqual": "<=", "Greater": ">", "GreaterEqual": ">="}
MATH = ("Exp", "Log", "Log1p", "Sqrt", "Sin", "Cos", "Atan", "Tanh", "Abs", "Floor", "Ceil")
FLOAT_TEMPLATES: dict[str, str] = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in INFIX.items()},
    **{name: f"Math.{name.lower()}({{0}})" for name in MATH},
    "Neg": "-{0}",
    "Pow": "pow({0}, {1})",
    "FloorDivide": "quotient({0}, {1})",
    "Mod": "remainder({0}, {1})",
    "Sign": "Math.sign({0}) + 0",
    "Round": "even({0})",
    "Maximum": "Math.max({0}, {1})",
    "Minimum": "Math.min({0}, {1})",
    "ShareOfMaximum": "1 - 0.5 * (({0} < {1}) + ({0} <= {1}))",
    "And": "{0} != 0 && {1} != 0",
    "Or": "{0} != 0 || {1} != 0",
    "Xor": "({0} != 0) != ({1} != 0)",
    "Not": "{0} == 0",
    "IsNaN": "{0} != {0}",
    "Where": "{0} ? {1} : {2}",
    "ReLU": "Math.max({0}, 0)",
    "Step": "+({0} > 0)",
    "Sigmoid": "1 / (1 + Math.exp(-{0}))",
    "Erf": "erf({0})",
    "Softplus": "Math.max({0}, 0) + Math.log1p(Math.exp(-Math.abs({0})))",
    "BinaryCrossEntropy": "crossed({0}, {1})",
}
INT64_TEMPLATES = {"Pow": "power({0}, {1})", "FloorDivide": "quotient({0}, divisor({1}))"}
INT64_TEMPLATES |= {"Mod": "remainder({0}, divisor({1}))"}
INT32_TEMPLATES = INT64_TEMPLATES | {"Mul": "Math.imul({0}, {1})"}
BOOL_TEMPLATES = {"Add": "{0} | {1}", "Mul": "{0} & {1}"}
TEMPLATES_BY_DTYPE = {"f": FLOAT_TEMPLATES, "b": FLOAT_TEMPLATES | BOOL_TEMPLATES}
TEMPLATES_BY_DTYPE |= dict.fromkeys("iu", FLOAT_TEMPLATES | INT32_TEMPLATES)
TEMPLATES_BY_DTYPE["int64"] = FLOAT_TEMPLATES | INT64_TEMPLATES


def quote(text: str) -> str:
    """Write a string so that it ends neither itself nor a line, a comment or a script."""
    return re.sub("[<>&]", lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text))


def literal(value: Any) -> str:
    """Write a number: the shortest text with the same bits."""
    x = value.item() if isinstance(value, np.generic) else value
    text = str(x).removesuffix(".0") if isinstance(x, float) else str(int(x))
    text = text.replace("inf", "Infinity").replace("nan", "NaN")
    return f"({text})" if text.startswith("-") else text


def _cast(attrs: Attrs, dtype: Dtype, source: Dtype) -> str:
    if dtype.kind not in "iu" or source.kind != "f":
        return "{0} != 0" if dtype.kind == "b" else "{0}"
    held = np.iinfo(dtype)
    low, high = max(held.min, -MAX_SAFE_INTEGER), min(held.max, MAX_SAFE_INTEGER)
    return f"truncated({{0}}, {low}, {high})"


def _clip_bounds(attrs: Attrs, dtype: Dtype) -> list[str]:
    exact = dtype.type if dtype.kind == "f" else np.float64
    pairs = ((attrs.get("low"), -math.inf), (attrs.get("high"), math.inf))
    return [literal(exact(none if bound is None else bound)) for bound, none in pairs]


def _clip(attrs: Attrs, dtype: Dtype, source: Dtype) -> str:
    low, high = _clip_bounds(attrs, dtype)
    return f"Math.min(Math.max({{0}}, {low}), {high})"


def _clip_gradient(attrs: Attrs, dtype: Dtype, source: Dtype) -> str:
    low, high = _clip_bounds(attrs, source)
    inside = f"+({{0}} >= {low} && {{0}} <= {high})"
    return "1" if (low, high) == ("(-Infinity)", "Infinity") else inside  # NaN, too


def _gelu(attrs: Attrs, dtype: Dtype, source: Dtype) -> str:
    inner = "erf({0} * Math.SQRT1_2)"
    if attrs.get("approximate", "none") == "tanh":
        inner = "Math.tanh(Math.sqrt(2 / Math.PI) * ({0} + 0.044715 * {0} * {0} * {0}))"
    return f"({inner} + 1) * {{0}} * 0.5"


# Operators whose text depends on their attributes.
ATTRIBUTE_TEMPLATES = {"Cast": _cast, "Clip": _clip, "Within": _clip_gradient, "GELU": _gelu}


def expression(name: str, attrs: Attrs, dtype: Dtype, source: Dtype, operands: list[str]) -> str:
    """Write an element of the result of these operands, not rounded yet.

    dtype, source: the data types of the result and of the first operand that isn't a condition.
    """
    templates = TEMPLATES_BY_DTYPE[dtype.name if dtype.name in TEMPLATES_BY_DTYPE else dtype.kind]
    write = ATTRIBUTE_TEMPLATES.get(name)
    template = write(attrs, dtype, source) if write else templates[name]
    return template.format(*operands)
