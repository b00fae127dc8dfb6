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
from minigrad.static.forms import FORMS, PLACED, SHAPE, Form, holds


def problem(op: Op, operands: Sequence[Node], attrs: Attrs) -> str | None:
    """Describe briefly what is wrong with these operands and attributes, or return None."""
    form, expected = FORMS.get(op), signature(op)
    if form is not None:
        known = {**form.attrs, **(form.optional or {})}
        expected = Signature(form.least, form.most, known, tuple(form.attrs))
    found = expected.problem(len(operands), attrs)
    if found is None and form is not None and not form.check(operands, attrs):
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
FORMS[state.placeholder] = Form(0, 0, PLACED)
FORMS[state.run_counter] = Form(0, 0, PLACED, _counts, {"layer": int, "use": int})
FORMS[state.variable] = Form(0, 0, _VALUE, _is_its_value, {"role": state.Role})
FORMS[state.constant] = Form(0, 0, _VALUE, _is_its_value)
FORMS[state.assign] = Form(2, 2, {}, _assigns)
FORMS[state.read_value] = Form(1, 1, {}, _reads)
FORMS[state.group] = Form(0, None, {})
FORMS[state.initialize] = Form(0, 0, {"variables": tuple[Node, ...], "shape": SHAPE}, _initializes)
