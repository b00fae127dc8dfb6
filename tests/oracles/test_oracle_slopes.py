"""Slopes at corners and ties of what the player and ONNX bring along: PyTorch's, and JAX's."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
import onnx
import pytest
import torch

import minigrad as mg
from minigrad.interop.jax.capture import capture as capture_jax
from minigrad.interop.torch.losses import LOSSES
from minigrad.interop.torch.numbers import ELEMENTWISE, REDUCTIONS

pytestmark = pytest.mark.oracle
TIED = [[2.0, 1.0, 2.0], [0.0, 0.0, 0.0], [-1.0, 3.0, -1.0]]
CORNERS = [-6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 6.0, 100.0, -100.0]
ALONE = (
    "abs sign floor ceil round trunc relu relu6 hardtanh hardsigmoid hardswish sigmoid tanh silu"
    " mish gelu softplus elu selu celu leaky_relu erf log_sigmoid"
)
SHAPED: dict[str, tuple[list[Any], tuple[Any, ...]]] = {
    "clamp": ([CORNERS, [-1.0], [3.0]], ()),
    "clamp_min": ([CORNERS, [0.0]], ()),
    "maximum": ([CORNERS, [0.0]], ()),
    "minimum": ([CORNERS, [1.0]], ()),
    "amax": ([TIED], ([1],)),
    "max": ([TIED], (1,)),
    "min": ([TIED], (0,)),
    "std": ([[2.0, 2.0]], ()),
    "norm": ([[0.0, 0.0]], (2,)),
    "linalg_vector_norm": ([[0.0, 0.0]], (3,)),
    "pairwise_distance": ([[[1.0, 2.0]], [[1.0, 2.0]]], (2.0, 0.0)),
    "prod": ([[0.0, 2.0, 0.0]], ()),
    "l1_loss": ([[1.0, 2.0], [1.0, 0.0]], ()),
    "huber_loss": ([[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]], ()),
    "binary_cross_entropy": ([[0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]], ()),
    "binary_cross_entropy_with_logits": ([[200.0, -200.0, 0.0], [0.0, 1.0, 1.0]], ()),
}


@pytest.mark.parametrize("name", [*ALONE.split(), *SHAPED])
def test_operators_that_are_read_have_the_corners_of_torch(name: str) -> None:
    values, options = SHAPED.get(name, ([CORNERS], ()))
    ours = [mg.tensor(np.asarray(v, np.float32), requires_grad=not i) for i, v in enumerate(values)]
    theirs = [torch.tensor(v, requires_grad=not i) for i, v in enumerate(values)]
    other = torch.nn.functional.logsigmoid if name == "log_sigmoid" else None
    y = (ELEMENTWISE | REDUCTIONS | LOSSES)[name](*ours, *options)
    z = (other or getattr(torch.ops.aten, name))(*theirs, *options)
    y, z = (y[0], z[0]) if isinstance(y, tuple) else (y, z)
    y.sum().backward()
    z.sum().backward()
    close32(y.data, z.detach().numpy())
    close32(ours[0].grad.data, theirs[0].grad.numpy())


def close32(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


IN_ONNX: dict[str, tuple[Any, dict[str, Any]]] = {
    "Elu": (torch.nn.functional.elu, {}),
    "Selu": (torch.nn.functional.selu, {}),
    "Celu": (partial(torch.nn.functional.celu, alpha=2.0), {"alpha": 2.0}),
    "LeakyRelu": (partial(torch.nn.functional.leaky_relu, negative_slope=0.2), {"alpha": 0.2}),
    "HardSigmoid": (torch.nn.functional.hardsigmoid, {"alpha": 1 / 6, "beta": 0.5}),
    "HardSwish": (torch.nn.functional.hardswish, {}),
    "ThresholdedRelu": (lambda z: torch.nn.functional.threshold(z, 1.0, 0.0), {}),
    "Softplus": (torch.nn.functional.softplus, {}),
    "Softsign": (torch.nn.functional.softsign, {}),
    "Mish": (torch.nn.functional.mish, {}),
    "Relu": (torch.relu, {}),
    "Abs": (torch.abs, {}),
    "Sign": (torch.sign, {}),
    "Floor": (torch.floor, {}),
    "Round": (torch.round, {}),
    "Asinh": (torch.asinh, {}),
    "Tanh": (torch.tanh, {}),
    "ReduceL2": (torch.linalg.vector_norm, {}),
    "GlobalMaxPool": (lambda z: torch.nn.functional.adaptive_max_pool1d(z, 1), {}),
}


@pytest.mark.parametrize("name", IN_ONNX)
def test_operators_of_onnx_have_the_corners_of_torch(name: str) -> None:
    f, options = IN_ONNX[name]
    values = np.array([[CORNERS[:-2]]], np.float32)
    if name == "GlobalMaxPool":
        values = np.array([[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]], np.float32)
    if name == "ReduceL2":
        values = np.zeros_like(values)
    make = onnx.helper
    value = partial(make.make_tensor_value_info, elem_type=1)
    given = value("x", shape=values.shape), value("y", shape=None)
    node = make.make_node(name, ["x"], ["y"], **options)
    graph = make.make_graph([node], "one", [given[0]], [given[1]])
    found = mg.from_onnx(make.make_model(graph, opset_imports=[make.make_opsetid("", 22)]))
    [x], [y] = found.inputs, found.outputs
    slope = mg.build_graph(x, [y, *mg.gradients(mg.sum(y), [x])])
    ours = mg.run(slope, {x: values})
    z = torch.tensor(values, requires_grad=True)
    expected = f(z)
    expected.sum().backward()
    close32(np.ravel(ours[0]), expected.detach().numpy().ravel())
    close32(ours[1], z.grad.numpy())


ACTIVATIONS = (
    "relu relu6 elu selu celu leaky_relu softplus soft_sign silu hard_tanh hard_sigmoid hard_swish"
    " gelu log_sigmoid mish squareplus"
)


@pytest.mark.parametrize("name", ACTIVATIONS.split())
def test_functions_of_jax_have_its_corners_in_the_player(name: str) -> None:
    captured = capture_jax(getattr(jax.nn, name), [jax.numpy.array(CORNERS)])
    assert max(captured.gaps()) < 1e-5
    assert not captured.boxes


JAX_CORNERS: dict[str, Any] = {
    "abs": jax.numpy.abs,
    "sign": jax.numpy.sign,
    "clip": lambda x: jax.numpy.clip(x, -1.0, 1.0),
    "clamp": lambda x: jax.lax.clamp(-1.0, x, 1.0),
    "maximum": lambda x: jax.numpy.maximum(x, 0.0),
    "logaddexp": lambda x: jax.numpy.logaddexp(x, x),
    "max": jax.numpy.max,
}


@pytest.mark.parametrize("name", JAX_CORNERS)
def test_jax_has_its_corners_in_the_player(name: str) -> None:
    assert max(capture_jax(JAX_CORNERS[name], [jax.numpy.array(CORNERS)]).gaps()) < 1e-5
