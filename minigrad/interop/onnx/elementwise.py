"""Operators of ONNX that work on each element by itself."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Op
from minigrad.interop.onnx.call import TABLE, OnnxCall, operator
from minigrad.interop.onnx.names import ELEMENTWISE
from minigrad.ops import corners


def _direct_rule(op: Op, name: str) -> Any:
    count = op.formula.count("{")

    def rule(call: OnnxCall) -> Any:
        call.expect(len(call) == count, f"{len(call)} operands")
        xs = call.all()
        if call.version < 7 and call.attr("broadcast"):
            xs[1] = _align_from_axis(call, xs[1])
        if name == "Abs" and xs[0].dtype.kind == "u":
            return xs[0]
        return op(*xs)

    return rule


TABLE.update({name: _direct_rule(op, name) for op, name in ELEMENTWISE.items()})


def _align_from_axis(call: OnnxCall, y: Any) -> Any:
    """Align the second operand with the first from an axis on, as older versions do."""
    rank, own = call.rank(), len(y.shape)
    axis = int(call.attr("axis", rank - own)) % max(rank, 1)
    return ops.reshape(y, shape=(*y.shape, *[1] * (rank - axis - own)))


def cast_like(x: Any, y: Any) -> Any:
    """Cast y to the data type of x."""
    return y if y.dtype == x.dtype else ops.cast(y, dtype=x.dtype)


@operator("Max", "Min", "Sum", "Mean")
def _variadic(call: OnnxCall) -> Any:
    op = {"Max": ops.maximum, "Min": ops.minimum}.get(call.name, ops.add)
    xs = call.all()
    y = reduce(op, xs)
    return y / len(xs) if call.name == "Mean" else y


@operator("Div")
def _div(call: OnnxCall) -> Any:
    """Divide; quotients of integers are truncated towards 0."""
    a, b = call[0], call[1]
    if a.dtype.kind == "f":
        return ops.div(a, b)
    if a.dtype.kind == "u":
        return ops.floor_divide(a, b)
    return cast_like(a, ops.floor_divide(ops.abs(a), ops.abs(b)) * ops.sign(a) * ops.sign(b))


@operator("Mod")
def _mod(call: OnnxCall) -> Any:
    a, b = call[0], call[1]
    if not call.attr("fmod", 0):
        return ops.mod(a, b)
    if a.dtype.kind == "u":
        return ops.mod(a, b)
    rest = ops.mod(_odd_abs(a), ops.abs(b))
    return ops.where(a < 0, -rest, rest)


def _odd_abs(x: Any) -> Any:
    """Return |x| for use in an odd function: unlike that of `abs`, the gradient at 0 is 1."""
    return ops.where(x < 0, -x, x)


@operator("Pow")
def _pow(call: OnnxCall) -> Any:
    a, b = call[0], call[1]
    if a.dtype.kind != "f" and b.dtype.kind == "f":
        return ops.cast(ops.pow(ops.cast(a, dtype=np.dtype(np.float64)), b), dtype=a.dtype)
    return cast_like(a, ops.pow(a, cast_like(a, b)))


@operator("Reciprocal")
def _reciprocal(call: OnnxCall) -> Any:
    return 1 / call[0]


@operator("Identity", "Dropout")
def _identity(call: OnnxCall) -> Any:
    x = call.raw(0)
    if call.name == "Identity":
        return x
    training = call.constant(2)
    rate = call.constant(1, call.attr("ratio", 0.5))
    call.expect(training is None or not training.any() or not np.any(rate), "training_mode=1")
    ones = ops.full_like(call[0], value=True, dtype=np.dtype(np.bool_))
    return (call[0], ones) if len(call.node.output) > 1 else call[0]


@operator("Cast")
def _cast(call: OnnxCall) -> Any:
    return cast_to(call[0], call.dtype("to"))


@operator("CastLike")
def _cast_like(call: OnnxCall) -> Any:
    return cast_to(call[0], call[1].dtype)


@operator("BitCast")
def _bit_cast(call: OnnxCall) -> Any:
    dtype = call.dtype("to")
    if call[0].dtype == dtype:
        return call[0]
    call.expect(call[0].dtype.kind in "iu" and dtype.kind in "iu", f"to={dtype}")
    call.expect(call[0].dtype.itemsize == dtype.itemsize, f"to={dtype}")
    return ops.cast(call[0], dtype=dtype)


def cast_to(x: Any, dtype: Any) -> Any:
    """Cast x to a data type unless it has it; NaN becomes True."""
    return x if x.dtype == dtype else ops.cast(x, dtype=dtype)


@operator("Clip")
def _clip(call: OnnxCall) -> Any:
    x = call[0]
    if call.version < 11:
        low, high = call.attr("min"), call.attr("max")
    else:
        low, high = (call[i] if call.given(i) else None for i in (1, 2))
    x = x if low is None else corners.at_least(x, _as_scalar_bound(low, x))
    return x if high is None else corners.at_most(x, _as_scalar_bound(high, x))


def _as_scalar_bound(bound: Any, x: Any) -> Any:
    if isinstance(bound, float):
        return x.dtype.type(bound)
    return ops.reshape(bound, shape=()) if getattr(bound, "ndim", 0) else cast_like(x, bound)


# ---- Functions of one number --------------------------------------------------------------------


@operator("Tan")
def _tan(call: OnnxCall) -> Any:
    return ops.sin(call[0]) / ops.cos(call[0])


@operator("Sinh", "Cosh")
def _hyperbolic(call: OnnxCall) -> Any:
    up, down = ops.exp(call[0]), ops.exp(-call[0])
    return ((up - down) if call.name == "Sinh" else (up + down)) / 2


@operator("Asin", "Acos")
def _inverse_trig(call: OnnxCall) -> Any:
    x = call[0]
    y = 2 * ops.atan(x / (1 + ops.sqrt(1 - x * x)))
    return y if call.name == "Asin" else math.pi / 2 - y


@operator("Asinh", "Acosh", "Atanh")
def _inverse_hyperbolic(call: OnnxCall) -> Any:
    x = call[0]
    if call.name == "Atanh":
        return ops.log((1 + x) / (1 - x)) / 2
    if call.name == "Acosh":
        return ops.log(x + ops.sqrt(x * x - 1))
    found = ops.log(_odd_abs(x) + ops.sqrt(x * x + 1))
    return ops.where(x < 0, -found, found)


@operator("LeakyRelu", "PRelu")
def _leaky_relu(call: OnnxCall) -> Any:
    x = call[0]
    slope = call[1] if call.name == "PRelu" else x.dtype.type(call.attr("alpha", 0.01))
    if call.version < 7 and getattr(slope, "ndim", 0) == 1 and call.rank() > 1:
        slope = ops.reshape(slope, shape=(-1, *[1] * (call.rank() - 2)))
    return ops.where(x > 0, x, slope * x)


@operator("Elu", "Selu", "Celu")
def _elu(call: OnnxCall) -> Any:
    x, alpha = call[0], call.attr("alpha", 1.67326319217681884765625 if call.name == "Selu" else 1)
    y = corners.elu(x, alpha, 1 / alpha if call.name == "Celu" else 1.0)
    return y * call.attr("gamma", 1.05070102214813232421875) if call.name == "Selu" else y


@operator("HardSigmoid")
def _hard_sigmoid(call: OnnxCall) -> Any:
    scaled = call[0] * call.attr("alpha", 0.2) + call.attr("beta", 0.5)
    return corners.hardtanh(scaled, 0.0, 1.0)


@operator("HardSwish")
def _hard_swish(call: OnnxCall) -> Any:
    x = call[0]
    return ops.where(x <= -3, 0, ops.where(x < 3, x * (x / 6 + 0.5), x))


@operator("Gelu")
def _gelu(call: OnnxCall) -> Any:
    how = call.attr("approximate", "none")
    return ops.gelu(call[0], **({} if how == "none" else {"approximate": how}))


@operator("Softsign")
def _softsign(call: OnnxCall) -> Any:
    return call[0] / (1 + ops.abs(call[0]))


@operator("IsInf")
def _is_inf(call: OnnxCall) -> Any:
    x, signs = call[0], (call.attr("detect_positive", 1), call.attr("detect_negative", 1))
    found = [ops.equal(x, s * math.inf) for s, on in zip((1, -1), signs, strict=True) if on]
    return reduce(ops.logical_or, found, np.zeros((), np.bool_) if found else ops.not_equal(x, x))


@operator("BitShift")
def _bit_shift(call: OnnxCall) -> Any:
    """Shift bits by multiplying or dividing by a power of 2."""
    x, power = call[0], ops.pow(call[1].dtype.type(2), call[1])
    return x * power if call.attr("direction") == "LEFT" else ops.floor_divide(x, power)


@operator("BitwiseNot")
def _bitwise_not(call: OnnxCall) -> Any:
    x = call[0]
    return np.iinfo(x.dtype).max - x if x.dtype.kind == "u" else -x - 1


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def _bitwise(call: OnnxCall) -> Any:
    """Compute And, Or or Xor bit by bit, with each bit as a Boolean."""
    a, b = call[0], call[1]
    bits = 8 * a.dtype.itemsize
    op = {"And": ops.logical_and, "Or": ops.logical_or, "Xor": ops.logical_xor}[call.name[7:]]
    total: Any = None
    for i in range(bits):
        sign = a.dtype.kind == "i" and i == bits - 1
        weight = a.dtype.type(-(2**i) if sign else 2**i)
        ones = [ops.less(x, 0) if sign else _bit_at(x, i) for x in (a, b)]
        part = ops.cast(op(*ones), dtype=a.dtype) * weight
        total = part if total is None else total + part
    return total


def _bit_at(x: Any, i: int) -> Any:
    power = x.dtype.type(2**i)
    return ops.equal(ops.mod(ops.floor_divide(x, power), x.dtype.type(2)), 1)
