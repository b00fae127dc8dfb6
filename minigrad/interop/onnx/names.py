"""What ONNX calls our operators: one list, which reading and writing share.

An operator whose meaning differs in more than its name has a rule of its own on either side, which
replaces the one made from this list.
"""

from __future__ import annotations

from minigrad import ops
from minigrad.core import Op

__all__ = ["ELEMENTWISE", "LENGTHS", "REDUCTIONS"]

ELEMENTWISE: dict[Op, str] = {
    ops.add: "Add",
    ops.sub: "Sub",
    ops.mul: "Mul",
    ops.div: "Div",
    ops.pow: "Pow",
    ops.neg: "Neg",
    ops.abs: "Abs",
    ops.sign: "Sign",
    ops.floor: "Floor",
    ops.ceil: "Ceil",
    ops.round: "Round",
    ops.exp: "Exp",
    ops.log: "Log",
    ops.sqrt: "Sqrt",
    ops.sin: "Sin",
    ops.cos: "Cos",
    ops.atan: "Atan",
    ops.tanh: "Tanh",
    ops.sigmoid: "Sigmoid",
    ops.relu: "Relu",
    ops.softplus: "Softplus",
    ops.erf: "Erf",
    ops.maximum: "Max",
    ops.minimum: "Min",
    ops.equal: "Equal",
    ops.less: "Less",
    ops.greater: "Greater",
    ops.less_equal: "LessOrEqual",
    ops.greater_equal: "GreaterOrEqual",
    ops.where: "Where",
    ops.logical_and: "And",
    ops.logical_or: "Or",
    ops.logical_xor: "Xor",
    ops.logical_not: "Not",
    ops.isnan: "IsNaN",
    ops.identity: "Identity",
}
REDUCTIONS: dict[Op, str] = {
    ops.sum: "ReduceSum",
    ops.mean: "ReduceMean",
    ops.max: "ReduceMax",
    ops.min: "ReduceMin",
    ops.prod: "ReduceProd",
    ops.logsumexp: "ReduceLogSumExp",
}
# The signs of lengths that are computed from others (`minigrad.ops.lengths`).
LENGTHS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "%": "Mod", "min": "Min", "max": "Max"}
