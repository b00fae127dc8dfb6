"""Convolution and pooling with the batch last in memory: what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_compiled import same
from test_program_source import as_written

import minigrad as mg
from minigrad import ops
from minigrad.compiler.slots import base_of

pytestmark = pytest.mark.usefixtures("own_graph")


NETS: dict[str, tuple[tuple[int, ...], Any]] = {
    "digits": ((5, 1, 16, 16), lambda: [conv(1, 4, 3, padding=1), pool(2), conv(4, 6, 3), pool(2)]),
    "strides": (
        (4, 3, 11, 9),
        lambda: [conv(3, 4, (3, 2), stride=(2, 1)), conv(4, 2, 2, stride=2)],
    ),
    "same": ((3, 2, 6, 5), lambda: [conv(2, 3, (2, 3), padding="same"), pool((3, 1))]),
    "overlap": ((2, 2, 9, 9), lambda: [conv(2, 3, 2), pool(3, stride=2), conv(3, 2, 1)]),
    "padded pool": ((2, 1, 7, 7), lambda: [conv(1, 2, 3), pool(2, padding=1), pool((1, 2))]),
    "odd": ((3, 1, 7, 5), lambda: [pool(2), conv(1, 2, 2, padding=2)]),
    "one by one": ((1, 1, 1, 1), lambda: [conv(1, 1, 1), pool(1)]),
}


def conv(*args: Any, **options: Any) -> Any:
    return mg.nn.Conv2d(*args, seed=0, **options)


def pool(*args: Any, **options: Any) -> Any:
    return mg.nn.MaxPool2d(*args, **options)


def step(name: str, batch: Any) -> tuple[mg.Graph, dict[str, Any]]:
    """A loss of the network, its gradients for images and parameters, and what is fed."""
    shape, layers = NETS[name]
    net = mg.nn.Sequential(*[x for layer in layers() for x in (layer, mg.nn.ReLU())])
    x = mg.placeholder("x", (batch, *shape[1:]))
    y = net(x)
    loss = mg.mean(y * y)
    graph = mg.build_graph(
        x, [y, loss, *mg.gradients(loss, [x, *map(x.graph.lift, net.parameters())])]
    )
    return graph, {"x": np.random.default_rng(0).standard_normal(shape, np.float32)}


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", NETS)
def test_networks_give_what_the_reference_gives(name: str, optimize: bool) -> None:
    graph, feeds = step(name, None if name in ("digits", "same") else NETS[name][0][0])
    program = graph.compile(optimize=optimize)
    reference = graph.compile(optimize=False, executor="reference")
    other = {"x": feeds["x"][:1] * 3}
    for given in (feeds, feeds, other, feeds):
        if program.graph.placeholders[0].shape[0] in (None, len(given["x"])):
            same(program(given), reference(given), 2e-6)


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", ["digits", "overlap"])
def test_they_run_as_written(name: str, optimize: bool) -> None:
    graph, feeds = step(name, NETS[name][0][0])
    as_written(graph.compile(optimize=optimize), feeds)


def test_the_batch_is_last_where_that_is_nobodys_business() -> None:
    graph, feeds = step("digits", 5)
    program = graph.compile()
    program(feeds)
    inside = [s for s in program.bound.slots.values() if base_of(s) is not None]
    assert len(inside) >= 4
    assert all(s.array.strides[0] == s.array.itemsize for s in inside)
    assert not any(call.function is ops.conv2d.run for call in program.bound.calls)


def test_of_equal_elements_the_first_gets_the_gradient() -> None:
    x = mg.placeholder("x", (2, 1, 4, 6))
    g = mg.gradients(mg.sum(pool(2)(x) * 3), x)[0]
    program = mg.build_graph(x, g).compile()
    first = np.tile(np.array([[3, 0], [0, 0]], np.float32), (2, 3))
    np.testing.assert_array_equal(program({x: np.ones((2, 1, 4, 6))})[0, 0], first)


def test_what_is_shown_in_another_shape_lies_as_everybody_sees_it() -> None:
    x = mg.placeholder("x", (4, 1, 6, 6))
    h = mg.relu(conv(1, 2, 3)(x))
    y = mg.nn.Flatten()(pool(2)(h))
    graph = mg.build_graph(x, [y @ np.ones((8, 3), np.float32), mg.softmax(h * 2)])
    values = np.random.default_rng(0).standard_normal((4, 1, 6, 6), np.float32)
    for optimize in (False, True):
        program = graph.compile(optimize=optimize)
        reference = graph.compile(optimize=False, executor="reference")
        same(program({x: values}), reference({x: values}), 2e-6)


def test_patches_are_laid_out_once_for_forward_and_backward() -> None:
    graph, feeds = step("digits", 5)
    program = graph.compile(optimize=False)
    program(feeds)
    weights = [c for c in program.bound.calls if c.node.op is ops.conv2d_weight]
    assert [c.function for c in weights].count(np.dot) == 2
    assert len(weights) <= 4, "a slope may have to be turned, patches are there"


def test_large_regions_of_images_run_in_tiles() -> None:
    x = mg.placeholder("x", (8, 1, 40, 40))
    a = conv(1, 4, 3, padding=1)(x)
    b = conv(1, 4, 1)(x)
    y = pool(2)(mg.tanh(a) * mg.exp(b) + a * b)
    graph = mg.build_graph(x, [y, *mg.gradients(mg.sum(y), [x])])
    values = np.random.default_rng(0).standard_normal((8, 1, 40, 40), np.float32)
    program = graph.compile()
    reference = graph.compile(optimize=False, executor="reference")
    for _ in range(2):
        same(program({x: values}), reference({x: values}), 2e-6)
    as_written(program, {"x": values})
