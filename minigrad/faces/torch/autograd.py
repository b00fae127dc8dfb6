"""PyTorch's gradients without `.grad`: `torch.autograd.grad`."""

from __future__ import annotations

import warnings
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat, as_tuple, make_error, render_message
from minigrad.faces.torch.tensors import as_torch

__all__ = ["Variable"]


class _TensorMeta(type):
    """The metaclass by which every tensor is an instance of Variable."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, mg.Tensor)


class Variable(metaclass=_TensorMeta):
    """A leaf that shares a tensor's memory, for programs from before PyTorch 0.4."""

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        if not isinstance(data, mg.Tensor):
            raise make_error(mg.DtypeError, "face_data", found=type(data).__name__)
        if volatile:
            warnings.warn(render_message("face_volatile"), stacklevel=2)
        return as_torch(data.detach().requires_grad_(requires_grad))


__getattr__ = face = Compat(
    "torch.autograd",
    "detect_anomaly no_grad enable_grad",
    calls={
        "backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False)": (
            "tensors.backward(grad_tensors, bool(retain_graph), create_graph)"
        ),
        "grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False,"
        " allow_unused=False)": (
            "tuple(mg.grad(outputs, [*as_tuple(inputs)], grad_outputs, retain_graph, create_graph,"
            " allow_unused))"
        ),
        "gradcheck(func, inputs, eps=1e-06, atol=1e-05)": (
            "mg.check_grads(func, *as_tuple(inputs), tolerance=atol, step=eps) <= atol"
        ),
    },
    lacks={"mg.check_grads(f, x)": "functional", "mg.stop_gradient(x)": "Function"},
    as_tuple=as_tuple,
)
__dir__ = face.names
