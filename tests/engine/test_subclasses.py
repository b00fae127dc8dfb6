"""Subclasses of tensors: what operators on them give, by every way that leads to an operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import minigrad as mg


class Metres(mg.Tensor):
    """A subclass as a user writes it."""


class Told(mg.Tensor):
    """A subclass that sees each operator, and makes the result a Metres."""

    __slots__ = ()
    seen: list[str] = []  # noqa: RUF012 - of all

    @classmethod
    def __torch_function__(
        cls,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        cls.seen.append(f"{func}{[kind.__name__ for kind in types]}")
        return super(Metres, Metres).__torch_function__(func, types, args, kwargs)


WAYS: dict[str, Any] = {
    "x + x": lambda x: x + x,
    "x * 2": lambda x: x * 2,
    "2 - x": lambda x: 2 - x,
    "x / array": lambda x: x / np.ones(2, np.float32),
    "array * x": lambda x: np.ones(2, np.float32) * x,
    "-x": lambda x: -x,
    "x.exp()": lambda x: x.exp(),
    "mg.exp(x)": mg.exp,
    "x @ x": lambda x: x @ x,
    "x.T": lambda x: x.T,
    "x[0]": lambda x: x[0],
    "x.sum()": lambda x: x.sum(),
    "mg.stack": lambda x: mg.stack([x, x]),
    "mg.where": lambda x: mg.where(x > 1, x, 0.0),
    "x.astype": lambda x: x.astype("float64"),
    "x > 1": lambda x: x > 1,
    "beside a tensor": lambda x: mg.tensor([3.0, 4.0]) * x,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("follow", [False, True])
def test_what_an_operator_gives_is_of_the_subclass(way: str, follow: bool) -> None:
    x, plain = Metres([1.0, 2.0], follow), mg.tensor([1.0, 2.0], requires_grad=follow)
    y, expected = WAYS[way](x), WAYS[way](plain)
    assert type(y) is Metres
    assert (y.tolist(), y.dtype) == (expected.tolist(), expected.dtype)
    if expected.requires_grad:
        y.sum().backward()
        expected.sum().backward()
        assert x.grad.tolist() == plain.grad.tolist()
    else:
        assert not y.requires_grad


def test_a_gradient_flows_through_plain_tensors_beside_it() -> None:
    x, w = Metres([1.0, 2.0], True), mg.tensor([3.0, 4.0], requires_grad=True)
    (x * w * w).sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([9, 16], [6, 16])
    (slope,) = mg.grad((x**3).sum(), [x], create_graph=True)
    assert mg.grad(slope.sum(), [x])[0].tolist() == [6, 12]


def test_values_change_in_place_and_take_plain_tensors() -> None:
    x = Metres([1.0, 2.0])
    x += mg.tensor([1.0, 1.0])
    x[0] = mg.tensor(7.0)
    assert (type(x), x.tolist()) == (Metres, [7, 3])
    w = mg.tensor(2.0, requires_grad=True)
    x[1] = w
    x.sum().backward()
    assert w.grad.item() == 1


def test_a_traced_function_captures_it_and_its_gradient_comes_back() -> None:
    x = Metres([1.0, 2.0], True)
    f = mg.function(lambda z: z * x)
    f(Metres([3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [3, 4]
    f(mg.tensor([1.0, 1.0]))
    assert f.traces == 1


def test_lazy_batches_read_it_as_a_tensor() -> None:
    x = Metres([1.0, 2.0], True)
    with mg.lazy_batch():
        y = (x * 2).sum()
    y.backward()
    assert x.grad.tolist() == [2, 2]


def test_a_subclass_sees_the_operators_on_it_and_has_the_last_word() -> None:
    Told.seen.clear()
    y = Told([1.0]) * mg.tensor([2.0]) + 1
    assert Told.seen == ["Mul['Told', 'Tensor']"]
    assert (type(y), y.tolist()) == (Metres, [3])


def test_nodes_beside_it_are_read_as_nodes() -> None:
    with mg.Graph(), mg.Session() as sess:
        x = mg.placeholder("x", shape=(2,))
        y = x * Metres([1.0, 2.0])
        assert isinstance(y, mg.Node)
        assert sess.run(y, {x: [3, 4]}).tolist() == [3, 8]
