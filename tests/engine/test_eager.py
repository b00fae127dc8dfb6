"""The dynamic graph: tensors, the tape, what is kept, when it is freed, and who sees `no_grad`."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import float32


def leaf(value: Any, **options: Any) -> mg.Tensor:
    return mg.tensor(value, requires_grad=True, **options)


def test_example_e1() -> None:
    """x = 2: y = x·x + 3 is 7, its slope 4; and once more in a new graph."""
    x = leaf(2.0)
    y = x * x + 3
    assert y.item() == 7
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 4
    (x * x + 3).backward()
    assert x.grad.item() == 8, "gradients accumulate"
    x.zero_grad()
    assert x.grad is None


def test_what_a_tensor_tells() -> None:
    x = leaf([[1.0, 2.0]], name="x")
    y = x * 2
    assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((1, 2), 2, 2, float32, 1)
    assert (x.is_leaf, x.creator, x.grad, x.name) == (True, None, None, "x")
    assert (y.is_leaf, y.requires_grad, y.creator.op.name) == (False, True, "Mul")
    assert y.tolist() == [[2, 4]]
    assert repr(x) == "tensor([[1., 2.]], requires_grad=True)"
    assert repr(y) == "tensor([[2., 4.]], creator=Mul)"
    assert repr(mg.tensor(np.float64(1))) == "tensor(1., dtype=float64)"
    assert "recorded at test_eager.py, line" in repr(y.creator)


def test_single_numbers_are_formatted_as_numbers() -> None:
    loss = mg.tensor(2.345, requires_grad=True)
    assert f"{loss * 1:.2f} {mg.tensor([7]):03d} {loss}" == f"2.35 007 {loss!r}"
    with pytest.raises(mg.ShapeError, match=r"\(2,\)"):
        f"{mg.ones(2):.2f}"
    with pytest.raises(mg.TraceError, match="number"):
        f"{mg.placeholder('x'):.2f}"


def test_a_tensor_without_axes_has_its_data_type_like_any_other() -> None:
    wide, plain = np.float64(2), mg.ones(2)
    assert (plain * mg.tensor(wide)).dtype == mg.float64
    assert (plain * wide).dtype == (plain * 2.0).dtype == mg.float32
    with mg.Graph():
        x = mg.placeholder("x", shape=(2,))
        assert (x * mg.constant(wide)).dtype == mg.float64
        assert (x * wide).dtype == mg.float32


def test_a_single_number_is_a_python_number_on_request() -> None:
    x = mg.tensor(2.5)
    assert (x.item(), float(x), int(x), bool(x)) == (2.5, 2.5, 2, True)
    assert type(x.item()) is float
    assert type(mg.tensor(2).item()) is int


def test_equality_is_by_element_and_hashing_by_identity() -> None:
    x = mg.tensor([1.0, 2.0])
    assert (x == mg.tensor([1.0, 3.0])).tolist() == [True, False]
    assert (x != 1).tolist() == [False, True]
    assert {x: "found"}[x] == "found"


def test_a_tensor_shares_nothing_with_what_it_was_made_of() -> None:
    given = np.ones(2, np.float32)
    x = mg.tensor(given)
    again = mg.tensor(x)
    given[:] = 9
    x.data[:] = 8
    assert x.tolist() == [8, 8]
    assert again.tolist() == [1, 1]


def test_numpy_shares_memory_and_guards_what_a_gradient_needs() -> None:
    plain, x = mg.tensor([1.0, 2.0]), leaf([1.0, 2.0])
    plain.numpy()[0] = 9
    assert plain.tolist() == [9, 2]
    assert np.shares_memory(x.numpy(), x.data)
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0] = 9
    assert np.asarray(x).tolist() == [1, 2]


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0]])
def test_detach_shares_memory_and_forgets_history(value: Any) -> None:
    x = leaf(value)
    cut = x.detach()
    assert (cut.requires_grad, cut.is_leaf) == (False, True)
    cut.numpy()[...] = 7
    assert (x.data == 7).all()
    y = x * 2
    assert y.detach().creator is None
    (x * y.detach()).sum().backward()
    assert (x.grad.data == 14).all(), "no gradient flows through a detached tensor"


# ---- What backward does, and what it refuses ------------------------------------------------


def test_second_backward_raises_when_values_were_needed_and_changes_nothing() -> None:
    x, b = leaf(2.0), leaf(1.0)
    y = x * x + b
    y.backward()
    before = (x.grad, x.grad.item(), b.grad, b.grad.item())
    with pytest.raises(mg.GradientError, match="Mul has dropped the values it saved"):
        y.backward()
    assert (x.grad, b.grad) == (before[0], before[2])
    assert (x.grad.item(), b.grad.item()) == (before[1], before[3]) == (4, 1)
    (x * x).backward()
    assert x.grad.item() == 8


def test_second_backward_is_allowed_when_nothing_was_saved() -> None:
    x = leaf(2.0)
    y = x + 3
    y.backward()
    y.backward()
    assert x.grad.item() == 2


def test_part_of_a_graph_that_was_walked_stops_a_new_sweep_before_it_starts() -> None:
    x, w = leaf(2.0), leaf(5.0)
    shared = x * x
    shared.backward()
    with pytest.raises(mg.GradientError, match="Mul"):
        (shared * w).backward()
    assert w.grad is None
    assert x.grad.item() == 4


def test_retain_graph_keeps_what_was_saved() -> None:
    x = leaf(3.0)
    y = x * x
    for _ in range(3):
        y.backward(retain_graph=True)
    assert x.grad.item() == 18
    y.backward()
    with pytest.raises(mg.GradientError, match="walked once already"):
        y.backward()


def test_gradients_of_several_uses_add_up() -> None:
    x = leaf([1.0, 2.0])
    (x * 3 + x * x).sum().backward()
    assert x.grad.tolist() == [5, 7]


def test_a_gradient_that_was_not_computed_is_none() -> None:
    x, unused, plain = leaf(1.0), leaf(1.0), mg.tensor(1.0)
    (x * plain).backward()
    assert unused.grad is None
    assert plain.grad is None
    assert mg.grad(x * 2, [x, unused], allow_unused=True)[1] is None
    with pytest.raises(mg.GradientError, match="does not depend on"):
        mg.grad(x * 2, [x, unused])


def test_weights_of_the_elements() -> None:
    x = leaf([1.0, 2.0])
    y = x * x
    y.backward([1.0, 10.0], retain_graph=True)
    assert x.grad.tolist() == [2, 40]
    x.zero_grad()
    y.backward(mg.tensor([1.0, 0.0]))
    assert x.grad.tolist() == [2, 0]


def test_a_leaf_is_its_own_derivative() -> None:
    x = leaf(3.0)
    x.backward()
    assert x.grad.item() == 1


@pytest.mark.parametrize("value", [0, 0.0, [0.0, 0.0], np.zeros(2)], ids=repr)
def test_a_gradient_is_a_tensor_or_none(value: Any) -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    with pytest.raises(
        mg.DtypeError, match=f"this is {type(value).__name__}.*zero_grad"
    ) as refused:
        x.grad = value
    assert refused.value.defined.text == "x.grad = value"
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_gradient_has_the_shape_of_its_tensor() -> None:
    x = mg.tensor([[1.0, 2.0]], requires_grad=True)
    (x * x).sum().backward()
    with pytest.raises(mg.ShapeError, match=r"shape \(4, 2\).*shape \(1, 2\)") as caught:
        x.grad = mg.ones((4, 2))
    assert "形状为 (4, 2) 的梯度" in caught.value.pair[1]
    assert x.grad.tolist() == [[2.0, 4.0]], "the gradient that it had"
    x.grad = mg.tensor([[5.0, 6.0]])
    assert x.grad.tolist() == [[5.0, 6.0]]
    x.grad = None
    assert x.grad is None


def test_leaves_do_not_share_their_gradients() -> None:
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (a + b).sum().backward()
    a.grad.data[0] = 99
    assert b.grad.tolist() == [1, 1]
    seed = np.ones(2, np.float32)
    (a + b).backward(seed)
    seed[:] = 50
    assert b.grad.tolist() == [2, 2]


def test_grad_returns_and_leaves_the_leaves_alone() -> None:
    x, w = leaf(3.0), leaf(4.0)
    dx, dw = mg.grad(x * w, [x, w])
    assert (dx.item(), dw.item(), x.grad, w.grad) == (4, 3, None, None)
    assert mg.grad(x * w, x).item() == 4, "one input, not a list: one gradient, not a list"


def test_grad_of_a_tensor_in_the_middle() -> None:
    x = leaf(3.0)
    h = x * x
    y = h * h
    assert mg.grad(y, [h, x])[0].item() == 18
    assert mg.grad((x * x) * 5, [x])[0].item() == 30


@pytest.mark.parametrize(
    ("f", "derivatives"),
    [
        (lambda x: x * x * x, [8, 12, 12, 6]),
        (lambda x: mg.exp(x * 0) * x * x, [4, 4, 2]),
        (lambda x: 1 / x, [0.5, -0.25, 0.25, -0.375]),
        (lambda x: x + 1, [3, 1]),
    ],
)
def test_higher_orders(f: Any, derivatives: list[float]) -> None:
    x = mg.tensor(np.float64(2), requires_grad=True)
    y = f(x)
    for order, expected in enumerate(derivatives):
        assert y.item() == pytest.approx(expected, abs=1e-12), f"order {order}"
        if order + 1 < len(derivatives):
            (y,) = mg.grad(y, [x], create_graph=True)


def test_create_graph_makes_gradients_that_have_a_history() -> None:
    x = leaf(2.0)
    (x * x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    first, x.grad = x.grad, None
    first.backward()
    assert x.grad.item() == 12
    (x * x).backward()
    assert x.grad.creator is None, "a plain backward records nothing"


# ---- no_grad --------------------------------------------------------------------------------


def test_no_grad_records_nothing() -> None:
    x = leaf(2.0)
    with mg.record() as log, mg.no_grad():
        y = x * x + 3
        with mg.no_grad():
            pass
        z = mg.relu(x @ x if x.ndim else x)
    assert (log.counts.built, log.counts.run) == (0, 3)
    for result in (y, z):
        assert (result.creator, result.requires_grad, result.is_leaf) == (None, False, True)
    assert (x * x).creator is not None, "and afterwards it is recorded again"


def test_no_grad_ends_with_an_error_and_decorates() -> None:
    x = leaf(2.0)
    with pytest.raises(ZeroDivisionError), mg.no_grad():
        1 / 0  # noqa: B018
    assert (x * x).requires_grad

    @mg.no_grad()
    def evaluate(depth: int) -> mg.Tensor:
        return evaluate(depth - 1) if depth else x * x

    assert not evaluate(3).requires_grad
    assert (x * x).requires_grad


def test_no_grad_holds_for_its_own_thread_only() -> None:
    x = leaf(2.0)
    found: list[bool] = []
    inside, done = threading.Event(), threading.Event()

    def other() -> None:
        with mg.no_grad():
            inside.set()
            done.wait(10)
            found.append((x * x).requires_grad)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait(10)
    found.append((x * x).requires_grad)
    done.set()
    thread.join()
    assert found == [True, False]


# ---- Memory and depth -----------------------------------------------------------------------


@pytest.fixture
def no_collector() -> Any:
    """Only reference counting frees anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_the_tape_is_freed_by_reference_counting_alone() -> None:
    x = leaf(np.ones(4, np.float32))
    hidden = x * x
    middle = mg.exp(hidden)
    y = middle.sum()
    watched = [weakref.ref(o) for o in (hidden, middle, y, hidden.creator, y.creator)]
    arrays = [weakref.ref(o.data) for o in (hidden, middle)]
    del hidden, middle
    assert arrays[0]() is None, "no rule reads the product, so nobody keeps it"
    assert arrays[1]() is not None, "exp's own rule reads its result"
    y.backward()
    assert arrays[1]() is None, "backward frees what was saved"
    del y
    assert [ref() for ref in watched] == [None] * 5
    assert x.grad is not None


@pytest.mark.usefixtures("no_collector")
def test_a_graph_that_nobody_walks_is_freed_too() -> None:
    x = leaf(1.0)
    nodes = []
    for _ in range(3):
        y = mg.tanh(x * x) + 1
        nodes.append(weakref.ref(y.creator))
    del y
    assert [node() for node in nodes] == [None] * 3


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("walk", [True, False])
def test_a_chain_of_20_000_nodes_needs_no_recursion(walk: bool) -> None:
    x = leaf(1.0)
    y = x
    for _ in range(10_000):
        y = y * 1.0 + x
    if walk:
        y.backward()
        assert x.grad.item() == 10_001
    node = weakref.ref(y.creator)
    del y
    assert node() is None


@pytest.mark.parametrize("f", [lambda x: x.T, lambda x: x.reshape(2)])
def test_views_keep_the_values_that_were_saved(f: Any) -> None:
    """A result that looks at the same memory does not change what backward sees."""
    x = leaf([1.0, 2.0])
    y = f(x) * f(x)
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_repeated_rows_give_the_bits_of_rows() -> None:
    """The gradient of a sum is one number repeated, that of `backward(ones)` is written out."""
    numbers = np.random.default_rng(0)
    a, b = (numbers.standard_normal(s).astype(np.float32) for s in ((3,), (5, 3, 4)))
    x, z = (mg.tensor(a, requires_grad=True) for _ in range(2))
    (x @ b).sum().backward()
    (z @ b).backward(np.ones((5, 4), np.float32))
    np.testing.assert_array_equal(x.grad.data, z.grad.data)
