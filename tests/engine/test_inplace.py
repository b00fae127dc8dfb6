"""Changes in place, leaves, hooks and switches: PyTorch's rules, in both directions."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.dynamic.inplace import InPlace


def leaf(value: Any, **options: Any) -> mg.Tensor:
    return mg.tensor(value, requires_grad=True, **options)


VALUES: list[Any] = [2.0, [1.0, 2.0, 3.0]]


@pytest.mark.parametrize("value", VALUES)
def test_a_change_of_what_no_rule_saved_is_fine(value: Any) -> None:
    x = leaf(value)
    y = x * 2
    before = y
    y += 1
    assert y is before
    np.testing.assert_array_equal(y.data, np.asarray(value, np.float32) * 2 + 1)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.data, np.full_like(x.data, 2))


@pytest.mark.parametrize("value", VALUES)
def test_a_change_of_a_saved_value_is_refused(value: Any) -> None:
    x = leaf(value)
    y = mg.exp(x)
    y += 1
    with pytest.raises(mg.GradientError, match=r"Exp saved was changed in place") as found:
        y.sum().backward()
    assert "y = mg.exp(x)" in str(found.value), "the line that saved"
    assert "y += 1" in str(found.value), "the line that changed"
    assert x.grad is None, "nothing was added"


def test_a_change_between_saving_and_walking_is_seen_through_views() -> None:
    x, w = leaf([1.0, 2.0]), mg.tensor([3.0, 4.0])
    y = x * w
    w.detach()[0] = 9.0
    with pytest.raises(mg.GradientError, match="Mul saved was changed in place"):
        y.sum().backward()
    z = x * w
    z.sum().backward()
    assert x.grad.tolist() == [9, 4], "the new values are used from now on"


CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "+=": (lambda y: y.__iadd__(3.0), lambda y: y + 3.0),
    "-=": (lambda y: y.__isub__(3.0), lambda y: y - 3.0),
    "*=": (lambda y: y.__imul__(3.0), lambda y: y * 3.0),
    "/=": (lambda y: y.__itruediv__(4.0), lambda y: y / 4.0),
    "add_": (lambda y: y.add_(3.0), lambda y: y + 3.0),
    "sub_": (lambda y: y.sub_(3.0), lambda y: y - 3.0),
    "mul_": (lambda y: y.mul_(3.0), lambda y: y * 3.0),
    "div_": (lambda y: y.div_(4.0), lambda y: y / 4.0),
    "**=": (lambda y: y.__ipow__(2.0), lambda y: y**2.0),
    "pow_": (lambda y: y.pow_(3.0), lambda y: y**3.0),
    "neg_": (lambda y: y.neg_(), lambda y: -y),
    "exp_": (lambda y: y.exp_(), lambda y: y.exp()),
    "sqrt_": (lambda y: y.sqrt_(), lambda y: y.sqrt()),
    "tanh_": (lambda y: y.tanh_(), lambda y: y.tanh()),
    "sigmoid_": (lambda y: y.sigmoid_(), lambda y: y.sigmoid()),
    "relu_": (lambda y: y.relu_(), lambda y: y.relu()),
    "zero_": (lambda y: y.zero_(), lambda y: y * 0.0),
    "fill_": (lambda y: y.fill_(5.0), lambda y: y * 0.0 + 5.0),
    "copy_": (lambda y: y.copy_([7.0, 8.0, 9.0]), lambda y: y * 0.0 + mg.tensor([7.0, 8.0, 9.0])),
    "clip_": (lambda y: y.clip_(0.0, 3.0), lambda y: mg.clip(y, 0.0, 3.0)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_equals_the_operation_that_makes_a_new_tensor(name: str) -> None:
    change, plain = CHANGES[name]
    grads, values = [], []
    for f in (change, plain):
        x = leaf([-1.0, 0.5, 2.0])
        y = x * 2
        version = y.version
        y = f(y)
        values.append(y.tolist())
        (y * mg.tensor([1.0, 10.0, 100.0])).sum().backward()
        grads.append(x.grad.tolist())
        if f is change:
            assert y.version == version + 1
    np.testing.assert_array_equal(values[0], values[1])  # for which NaN is NaN
    np.testing.assert_array_equal(grads[0], grads[1])


@pytest.mark.parametrize("name", CHANGES)
def test_a_leaf_may_change_only_where_nothing_is_recorded(name: str) -> None:
    change, _ = CHANGES[name]
    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(mg.GradientError, match="leaf tensor"):
        change(x)
    assert x.tolist() == [1, 2, 3]
    with mg.no_grad():
        assert change(x) is x
    assert x.is_leaf
    assert x.requires_grad


def test_items_are_set_with_gradients() -> None:
    x, v = leaf([1.0, 2.0, 3.0]), leaf(5.0)
    y = x * 2
    y[1] = v * 3
    y[2:] = x[2:] * 2 + 1
    assert y.tolist() == [2, 15, 7]
    (y * y).sum().backward()
    assert x.grad.tolist() == [8, 0, 28]
    assert v.grad.item() == 90


def test_what_has_no_history_gets_that_of_what_is_put_into_it() -> None:
    x, y = leaf([1.0, 2.0]), mg.zeros(2)
    y += x * 3
    y[1] = x[0] * 5
    assert y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [8, 0]


def test_picked_items_are_set_with_gradients() -> None:
    x, v = leaf([1.0, 2.0, 3.0]), leaf([5.0, 6.0])
    y = x * 2
    y[[0, 2]] = v * 10
    y[y == 4] = 7.0
    assert y.tolist() == [50, 7, 60]
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    assert v.grad.tolist() == [10, 10]


def test_whole_numbers_take_values_of_another_type_by_copying_only() -> None:
    whole = mg.tensor([1, 2])
    whole.copy_([3.7, -3.7])
    assert (whole.tolist(), whole.dtype) == ([3, -3], mg.int64)
    whole.copy_(mg.tensor([5.5, 6.5]))
    assert (whole.tolist(), whole.dtype) == ([5, 6], mg.int64)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(mg.DtypeError):
            whole.fill_(wrong)
    with pytest.raises(mg.ShapeError, match=r"\(2,\), \(1, 2\)"):
        whole.copy_([[1, 2]])
    with pytest.raises(mg.ShapeError, match=r"\(2,\), \(3,\)"):
        whole.copy_([1, 2, 3])
    assert whole.tolist() == [5, 6]
    truth = mg.tensor([True, False])
    with pytest.raises(mg.DtypeError):
        truth += 1
    half = mg.tensor([1.0])
    half += mg.tensor([True])
    half += mg.tensor([0.5], dtype=mg.float64)
    assert (half.tolist(), half.dtype) == ([2.5], mg.float32)


def test_an_operand_in_the_same_memory_is_saved_as_it_was() -> None:
    x = leaf([2.0, 3.0])
    y = x * 1
    y *= y.numpy()[::-1]
    assert y.tolist() == [6, 6]
    y.sum().backward()
    assert x.grad.tolist() == [3, 2]


def test_a_view_with_history_cannot_change_by_itself() -> None:
    y = leaf([1.0, 2.0, 3.0]) * 2
    with pytest.raises(mg.GradientError, match="looks at the same memory"):
        y[2:] += 1
    assert y.tolist() == [2, 4, 6]
    with mg.no_grad():
        z = mg.tensor([1.0, 2.0, 3.0])
        z[2:] += 1
    assert z.tolist() == [1, 2, 4]


def test_a_view_of_a_leaf_cannot_change() -> None:
    x = leaf([1.0, 2.0])
    with pytest.raises(mg.GradientError):
        x[0] = 3.0
    view = x[0:1]
    with pytest.raises(mg.GraphError):
        view += 1
    assert x.tolist() == [1, 2]


def test_detach_shares_memory_and_history_notices() -> None:
    x = leaf([1.0, 2.0])
    y = x * x
    x.detach().copy_([5.0, 6.0])
    assert x.tolist() == [5, 6]
    with pytest.raises(mg.GradientError, match="changed in place"):
        y.sum().backward()


def test_shapes_and_types_stay() -> None:
    y = leaf([1.0, 2.0]) * 1
    with pytest.raises(mg.ShapeError, match=r"\(2,\)"):
        y += mg.tensor([[1.0], [2.0]])
    whole = mg.tensor([1, 2])
    with pytest.raises(mg.DtypeError):
        whole += 0.5
    with pytest.raises(mg.DtypeError, match="float32"):
        whole /= 2
    with pytest.raises(mg.DtypeError, match="float32"):
        whole.sqrt_()
    assert whole.tolist() == [1, 2]
    assert y.tolist() == [1, 2]


# ---- Hooks and gradients of values in between ---------------------------------------------------


def test_hooks_see_and_replace_gradients() -> None:
    x = leaf(3.0)
    y = x * x
    seen: list[float] = []
    handle = y.register_hook(lambda g: seen.append(g.item()) or g * 10)
    x.register_hook(lambda g: seen.append(g.item()))
    (y * 2).backward(retain_graph=True)
    assert seen == [2, 120]
    assert x.grad.item() == 120
    handle.remove()
    x.zero_grad()
    (y * 2).backward()
    assert x.grad.item() == 12


def test_a_change_that_fails_changes_nothing() -> None:
    for y in (mg.tensor([1.0, 2.0]), leaf([1.0, 2.0]) * 1):
        creator, version = y.creator, y.version
        with pytest.raises(mg.ShapeError, match=r"\(3, 2\).*\(2,\)"):
            y += mg.ones(3, 2)
        with pytest.raises(mg.DtypeError):
            mg.tensor([1, 2]).add_(0.5)
        assert (y.creator, y.version, y.tolist()) == (creator, version, [1.0, 2.0])


def test_hooks_of_one_tensor_run_in_the_order_they_were_registered() -> None:
    x = leaf(3.0)
    y = x * 2
    for tensor in (x, y):
        tensor.register_hook(lambda g: g + 1)
        tensor.register_hook(lambda g: g * 10)
    y.backward()
    assert x.grad.item() == ((1 + 1) * 10 * 2 + 1) * 10


def with_a_hook(y: mg.Tensor) -> None:
    y.register_hook(lambda g: None)
    y.backward()


def with_a_listener(y: mg.Tensor) -> None:
    with mg.record():
        y.backward()


@pytest.mark.parametrize("careful", [with_a_hook, with_a_listener])
def test_a_pass_with_hooks_or_listeners_frees_and_accumulates_like_any_other(careful: Any) -> None:
    x = leaf(3.0)
    y = x * x
    careful(y)
    with pytest.raises(mg.GradientError, match="walked once already"):
        y.backward()
    careful(x * x * x)
    assert x.grad.item() == 6 + 27


def test_a_hook_of_another_shape_is_refused() -> None:
    x = leaf([1.0, 2.0])
    x.register_hook(lambda g: g.sum())
    with pytest.raises(mg.GradientError, match=r"\(2,\)"):
        (x * 2).sum().backward()
    assert x.grad is None


def test_gradients_in_between_are_kept_on_request() -> None:
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    z = y * 3
    z.backward()
    assert y.grad.item() == 3
    assert z.grad is None
    assert x.grad.item() == 12


def test_requires_grad_can_be_switched_for_leaves() -> None:
    x = mg.tensor([1.0]).requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2]
    with pytest.raises(mg.DtypeError):
        mg.tensor([1]).requires_grad_()
    with pytest.raises(mg.GradientError):
        (x * 2).requires_grad_(False)


# ---- Switches -----------------------------------------------------------------------------------


def test_switches_nest_and_hold_for_one_thread() -> None:
    x, seen = leaf(1.0), []
    with mg.no_grad():
        assert not mg.is_grad_enabled()
        with mg.enable_grad():
            assert (x * 2).requires_grad
        with mg.set_grad_enabled(True):
            assert (x * 2).requires_grad
        thread = threading.Thread(target=lambda: seen.append((x * 2).requires_grad))
        thread.start()
        thread.join()
        assert not (x * 2).requires_grad
    assert seen == [True]
    assert mg.is_grad_enabled()

    @mg.no_grad()
    def silent(v: Any) -> Any:
        return v * 2

    assert not silent(x).requires_grad
    with pytest.raises(RuntimeError), mg.no_grad():
        raise RuntimeError
    assert mg.is_grad_enabled()


def test_a_recorded_node_is_read_only() -> None:
    y = leaf(2.0) * 3
    for name in ("op", "inputs", "attrs", "order"):
        with pytest.raises(mg.GraphError, match=name):
            setattr(y.creator, name, None)
    assert y.creator.op.name == "Mul"


def test_leaves_can_be_copied_and_results_cannot() -> None:
    x = leaf([1.0, 2.0], name="x")
    for clone in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert clone.tolist() == [1, 2]
        assert (clone.requires_grad, clone.name) == (True, "x")
        assert not np.shares_memory(clone.data, x.data)
    with pytest.raises(mg.GraphError):
        copy.deepcopy(x * 2)


def test_tensors_that_were_pickled_before_their_module_moved_are_read() -> None:
    now = pickle.dumps(leaf([1.0, 2.0], name="x"), protocol=0)
    before = now.replace(b"minigrad.dynamic.tensor", b"minigrad.eager")
    assert now != before
    assert pickle.loads(before).tolist() == [1, 2]


# ---- What stays alive ---------------------------------------------------------------------------


@pytest.mark.parametrize("length", [24, 48])
def test_the_tape_keeps_one_array_for_each_tanh(length: int) -> None:
    """The rule reads the result; its operand is the result before: n arrays and not 3 n."""
    x = leaf(np.linspace(-1, 1, 1000).astype(np.float32))
    with mg.record() as log:
        y = x
        for _ in range(length):
            y = mg.tanh(y * 1.5)  # the product saves nothing of its operand
        assert log.counts.bytes_live <= (length + 2) * 4000
        y.sum().backward()
    assert x.grad is not None


def test_a_graph_goes_when_its_last_name_goes() -> None:
    gc.collect()
    gc.disable()
    try:
        x = leaf([1.0, 2.0])
        y = mg.exp(x) * mg.tanh(x)
        y.register_hook(lambda g: g)
        nodes = [weakref.ref(y.creator), weakref.ref(y.creator.inputs[0])]
        del y
        assert [n() for n in nodes] == [None, None]
        y = x * x
        node = weakref.ref(y.creator)
        with pytest.raises(mg.ShapeError):
            y + mg.tensor([1.0, 2.0, 3.0])
        y.sum().backward()
        del y
        assert node() is None
    finally:
        gc.enable()


def test_nodes_refuse_every_change_that_tensors_take() -> None:
    names = [n for n in vars(InPlace) if n.endswith("_") and not n.startswith("_")]
    assert len(names) > 10
    with mg.Graph():
        node = mg.placeholder("x", shape=())
        for name in names:
            with pytest.raises(mg.TraceError, match=name):
                getattr(node, name)(1.0)


# ---- Expanded tensors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.add_(1.0),
        lambda x: x.exp_(),
        lambda x: x.copy_([1.0, 2.0, 3.0]),
        lambda x: x[0].mul_(2.0),
        lambda x: x.T.mul_(2.0),
        lambda x: x.detach().mul_(2.0),
        lambda x: x.__setitem__(0, 5.0),
        lambda x: mg.tensor([[[1.0]]]).expand(2, 1, 3).add_(1.0),
    ],
)
def test_a_change_of_repeated_elements_says_to_clone_first(change: Callable[[Any], Any]) -> None:
    repeated = mg.broadcast_to(mg.ones(2, 1), (2, 3))
    with pytest.raises(mg.ShapeError, match=r"was expanded.*clone it first"):
        change(repeated)
    assert repeated.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_elements_of_an_expanded_tensor_change_where_each_is_meant_once() -> None:
    x = mg.ones(2, 1)
    repeated = mg.broadcast_to(x, (2, 3))
    repeated[0, 1] = 5.0  # as in PyTorch, all that are this number change with it
    assert (x.tolist(), repeated.tolist()) == ([[5], [1]], [[5, 5, 5], [1, 1, 1]])
    repeated.fill_(2.0)
    assert x.tolist() == [[2], [2]]
    assert mg.broadcast_to(mg.ones(3), (1, 3)).add_(1.0).tolist() == [[2, 2, 2]]


def test_a_recorded_change_of_an_expanded_tensor_is_refused_as_its_gradient_would_be_wrong() -> (
    None
):
    x = mg.ones(1, requires_grad=True)
    repeated = mg.broadcast_to(x * 2, (3,))
    with pytest.raises(mg.ShapeError, match="clone it first"):
        repeated[0] = 5.0


@pytest.mark.parametrize("optimiser", [mg.optim.SGD, mg.optim.Adam])
def test_an_optimiser_says_that_an_expanded_parameter_is_to_be_cloned(optimiser: Any) -> None:
    weight = mg.broadcast_to(mg.ones(1), (3,)).requires_grad_()
    (weight * weight).sum().backward()
    with pytest.raises(mg.ShapeError, match="clone it first"):
        optimiser([weight], lr=0.1).step()


def test_contiguous_copies_only_what_does_not_lie_in_order() -> None:
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    turned = x.T.contiguous()
    assert turned.view(-1).tolist() == [1, 3, 2, 4]
    turned.zero_()
    x.contiguous().add_(1.0)
    assert x.tolist() == [[2, 3], [4, 5]]
    assert mg.broadcast_to(mg.ones(1), (3,)).contiguous().add_(1.0).tolist() == [2, 2, 2]
