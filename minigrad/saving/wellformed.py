"""Checks that an operator's call in a file is one that code could have built."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minigrad.core import Attrs, Dim, Op, Spec, TupleSpec, int64
from minigrad.ops import state
from minigrad.saving.archive import NAMES
from minigrad.saving.encoding import LARGEST
from minigrad.saving.signature import Signature, signature
from minigrad.static import Node
from minigrad.static.call_schema import PLACED, SCHEMAS, SHAPE, CallSchema, holds


def problem(op: Op, operands: Sequence[Node], attrs: Attrs) -> str | None:
    """Describe briefly what is wrong with these operands and attributes, or return None."""
    schema, expected = SCHEMAS.get(op), signature(op)
    if schema is not None:
        known = {**schema.attrs, **(schema.optional or {})}
        expected = Signature(schema.least, schema.most, known, tuple(schema.attrs))
    found = expected.problem(len(operands), attrs)
    if found is None and schema is not None and not schema.check(operands, attrs):
        found = f"{[str(x.spec)[:40] for x in operands[:8]]}, {ascii(attrs)[:100]}"
    return found


def possible(spec: Spec) -> bool:
    """Return whether this is a valid spec: for odd attributes a rule may return anything."""
    if isinstance(spec, TupleSpec):
        return all(map(possible, spec.parts))
    shape = () if spec.shape is None else spec.shape
    if type(shape) is not tuple or not isinstance(spec.dtype, np.dtype):
        return False
    lengths = [n for n in shape if not isinstance(n, Dim)]
    counted = all(
        isinstance(n, (int, np.integer)) and type(n) is not bool and 0 <= n < LARGEST
        for n in lengths
    )
    return counted and spec.dtype in NAMES


def _is_its_value(operands: Sequence[Node], attrs: Attrs) -> bool:
    value = attrs["value"]
    return bool(value.shape == attrs["shape"] and value.dtype == attrs["dtype"])


def _assigns(operands: Sequence[Node], attrs: Attrs) -> bool:
    variable, value = operands
    return variable.op is state.variable and holds(variable.spec, value.spec)


def _reads(operands: Sequence[Node], attrs: Attrs) -> bool:
    return operands[0].op is state.variable


def _initializes(operands: Sequence[Node], attrs: Attrs) -> bool:
    return attrs["shape"] == (0,) and all(x.op is state.variable for x in attrs["variables"])


def _counts(operands: Sequence[Node], attrs: Attrs) -> bool:
    of_a_layer = {key: value for key, value in attrs.items() if key not in PLACED}
    whole = not of_a_layer or (len(of_a_layer) == 2 and min(of_a_layer.values()) >= 0)
    return attrs["shape"] == () and attrs["dtype"] == int64 and whole


_VALUE: Attrs = {"value": np.ndarray | np.generic, **PLACED}
SCHEMAS[state.placeholder] = CallSchema(0, 0, PLACED)
SCHEMAS[state.run_counter] = CallSchema(0, 0, PLACED, _counts, {"layer": int, "use": int})
SCHEMAS[state.variable] = CallSchema(0, 0, _VALUE, _is_its_value, {"role": state.Role})
SCHEMAS[state.constant] = CallSchema(0, 0, _VALUE, _is_its_value)
SCHEMAS[state.assign] = CallSchema(2, 2, {}, _assigns)
SCHEMAS[state.read_value] = CallSchema(1, 1, {}, _reads)
SCHEMAS[state.group] = CallSchema(0, None, {})
SCHEMAS[state.initialize] = CallSchema(
    0, 0, {"variables": tuple[Node, ...], "shape": SHAPE}, _initializes
)
