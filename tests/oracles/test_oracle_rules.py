"""The rules of the tape: little programs, run as they stand by PyTorch and by us.

Each takes the framework as its argument and returns what it saw. Both must see the same, or both
must refuse. `DEVIATIONS` lists where they do not, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import minigrad as mg

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
]

Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}
REFUSED = "refused"

# Where we answer otherwise than PyTorch, what we answer, and why.
QUOTIENT = "the derivative reads the quotient itself, so that it need not save an operand more"
VIEW = "a recorded value that shares its memory is not changed; the error says to copy it first"
DEVIATIONS: dict[str, tuple[Any, str]] = {
    "in_place_with_itself": ([36.0, 36.0], "the old value is copied where it is needed: 18x"),
    "in_place_after_division": (REFUSED, QUOTIENT),
    "in_place_after_a_reciprocal": (REFUSED, QUOTIENT),
    "in_place_on_a_view_of_a_result": (REFUSED, VIEW),
    "in_place_on_a_reshaped_result": (REFUSED, VIEW),
    "in_place_on_the_base_of_a_view": (REFUSED, VIEW),
}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def leaf(fw: Any, value: Any = 2.0) -> Any:
    return fw.tensor(value, requires_grad=True)


def pair(fw: Any) -> Any:
    return leaf(fw, [1.0, 2.0])


def grad(fw: Any, *args: Any, **options: Any) -> Any:
    return (fw.autograd.grad if fw is torch else fw.grad)(*args, **options)


def seen(value: Any) -> Any:
    """What a program returns as plain data."""
    if isinstance(value, (tuple, list)):
        return [seen(v) for v in value]
    if isinstance(value, (torch.Tensor, mg.Tensor)):
        return seen(value.detach().tolist())
    return round(value, 5) if isinstance(value, float) else value


def outcome(run: Program, fw: Any) -> Any:
    try:
        return seen(run(fw))
    except mg.GraphError:
        assert fw is mg
        return REFUSED
    except (RuntimeError, TypeError, ValueError, IndexError):
        assert fw is torch, "we raise our own family of errors"
        return REFUSED


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_end_alike(name: str) -> None:
    ours, theirs = outcome(PROGRAMS[name], mg), outcome(PROGRAMS[name], torch)
    if name in DEVIATIONS:
        assert ours == seen(DEVIATIONS[name][0])
        assert ours != theirs, "it deviates no longer: take it off the list"
    else:
        assert ours == theirs


def test_deviations_have_reasons_and_programs() -> None:
    assert set(DEVIATIONS) <= set(PROGRAMS)
    assert all(reason for _, reason in DEVIATIONS.values())


# ---- Backward -------------------------------------------------------------------------------


@program
def the_first_example(fw: Any) -> Any:
    x = leaf(fw)
    y = x * x + 3
    y.backward()
    return y, x.grad, y.requires_grad, x.is_leaf, y.is_leaf


@program
def gradients_accumulate(fw: Any) -> Any:
    x = leaf(fw)
    (x * x).backward()
    (x * 3).backward()
    return x.grad


@program
def a_leaf_used_three_times(fw: Any) -> Any:
    x = leaf(fw)
    (x * x * x + x).backward()
    return x.grad


@program
def backward_of_a_leaf(fw: Any) -> Any:
    x = leaf(fw)
    x.backward()
    return x.grad


@program
def backward_of_a_constant(fw: Any) -> Any:
    (fw.tensor(2.0) * 2).backward()


@program
def backward_of_many_numbers(fw: Any) -> Any:
    (pair(fw) * 2).backward()


@program
def backward_of_one_number_with_an_axis(fw: Any) -> Any:
    x = leaf(fw, [3.0])
    (x * x).backward()
    return x.grad


@program
def backward_with_weights(fw: Any) -> Any:
    x = pair(fw)
    (x * x).backward(fw.tensor([1.0, 10.0]))
    return x.grad


@program
def backward_with_weights_of_another_shape(fw: Any) -> Any:
    (pair(fw) * 2).backward(fw.tensor([1.0]))


@program
def second_backward_of_a_product(fw: Any) -> Any:
    x = leaf(fw)
    y = x * x + 3
    y.backward()
    y.backward()


@program
def second_backward_of_a_sum(fw: Any) -> Any:
    x = leaf(fw)
    y = x + 3
    y.backward()
    y.backward()
    return x.grad


def twice(compute: Callable[[Any, Any], Any]) -> Program:
    """Walk back twice through what is computed from two numbers."""

    def run(fw: Any) -> Any:
        x = pair(fw)
        y = compute(fw, x).sum()
        y.backward()
        y.backward()
        return x.grad

    return run


SECOND = {
    "negation": lambda fw, x: -x,
    "subtraction": lambda fw, x: x - 3,
    "a_constant_factor": lambda fw, x: x * fw.tensor([3.0, 4.0]),
    "exp": lambda fw, x: fw.exp(x),
    "log": lambda fw, x: fw.log(x),
    "a_square": lambda fw, x: x**2,
    "reshape": lambda fw, x: x.reshape(2, 1),
    "an_element": lambda fw, x: x[0],
    "a_mean": lambda fw, x: x.mean(),
    "a_stack": lambda fw, x: fw.stack([x, x]),
    "a_selection": lambda fw, x: fw.maximum(x, -x),
    "a_matrix_product": lambda fw, x: fw.matmul(x, fw.tensor([1.0, 2.0])),
}
PROGRAMS |= {f"second_backward_of_{name}": twice(f) for name, f in SECOND.items()}


@program
def retained(fw: Any) -> Any:
    x = leaf(fw)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@program
def retained_once_and_then_freed(fw: Any) -> Any:
    x = leaf(fw)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    y.backward()


@program
def two_outputs_of_one_graph(fw: Any) -> Any:
    x = leaf(fw)
    shared = fw.exp(x)
    (shared * 2).backward()
    (shared * 3).backward()


@program
def derivatives_of_three_orders(fw: Any) -> Any:
    x = leaf(fw)
    y, found = x * x * x * x, []
    for _ in range(3):
        (y,) = grad(fw, y, [x], create_graph=True)
        found.append(y)
    return found


@program
def backward_that_is_recorded(fw: Any) -> Any:
    x = leaf(fw)
    (g,) = grad(fw, x * x * x, [x], create_graph=True)
    (g * g).backward()
    return x.grad


@program
def grad_of_an_interior_value(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    return grad(fw, y * y, [y, x])


@program
def grad_leaves_the_leaves_alone(fw: Any) -> Any:
    x = leaf(fw)
    grad(fw, x * x, [x])
    return x.grad


@program
def grad_of_what_is_not_used(fw: Any) -> Any:
    return grad(fw, leaf(fw) * 2, [leaf(fw)])


@program
def grad_of_what_is_allowed_not_to_be_used(fw: Any) -> Any:
    x, z = leaf(fw), leaf(fw)
    return grad(fw, x * 2, [x, z], allow_unused=True)


@program
def gradient_of_integers(fw: Any) -> Any:
    return fw.tensor([1, 2], requires_grad=True)


@program
def comparisons_have_no_gradient(fw: Any) -> Any:
    x = pair(fw)
    return (x > 1).requires_grad, x.argmax().requires_grad, (x * 2).requires_grad


@program
def a_frozen_leaf_gets_none(fw: Any) -> Any:
    x, w = leaf(fw), fw.tensor(3.0)
    (x * w).backward()
    return x.grad, w.grad


@program
def a_gradient_given_by_hand_is_added_to(fw: Any) -> Any:
    x = leaf(fw)
    x.grad = fw.tensor(10.0)
    (x * 3).backward()
    return x.grad


@program
def gradients_do_not_share_memory(fw: Any) -> Any:
    x, z = pair(fw), pair(fw)
    (x + z).sum().backward()
    with fw.no_grad():
        x.grad.copy_(fw.tensor([5.0, 6.0]))
    return x.grad, z.grad


# ---- No gradient wanted ---------------------------------------------------------------------


@program
def no_grad_records_nothing(fw: Any) -> Any:
    x = leaf(fw)
    with fw.no_grad():
        y = x * x
    return y.requires_grad, y.is_leaf, (x * x).requires_grad


@program
def backward_of_what_was_not_recorded(fw: Any) -> Any:
    x = leaf(fw)
    with fw.no_grad():
        y = x * x
    y.backward()


@program
def backward_inside_no_grad(fw: Any) -> Any:
    x = leaf(fw)
    y = x * x
    with fw.no_grad():
        y.backward()
    return x.grad


@program
def no_grad_as_a_decorator(fw: Any) -> Any:
    @fw.no_grad()
    def f(x: Any) -> Any:
        return x * 2

    return f(leaf(fw)).requires_grad


@program
def no_grad_ends_with_an_error(fw: Any) -> Any:
    x = leaf(fw)
    try:
        with fw.no_grad():
            raise KeyError
    except KeyError:
        return (x * 2).requires_grad


@program
def detach_cuts_the_path(fw: Any) -> Any:
    x = leaf(fw)
    (x * x.detach()).backward()
    return x.grad, x.detach().requires_grad, x.detach().is_leaf


@program
def detach_shares_memory(fw: Any) -> Any:
    x = pair(fw)
    x.detach().copy_(fw.tensor([7.0, 8.0]))
    return x


@program
def a_change_through_detach_is_noticed(fw: Any) -> Any:
    x = pair(fw)
    y = (x * x).sum()
    x.detach().copy_(fw.tensor([7.0, 8.0]))
    y.backward()


@program
def a_change_through_detach_of_what_is_not_needed(fw: Any) -> Any:
    x = pair(fw)
    y = (x + 1).sum()
    x.detach().copy_(fw.tensor([7.0, 8.0]))
    y.backward()
    return x, x.grad


# ---- In place -------------------------------------------------------------------------------


@program
def in_place_on_a_product(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 2
    y += 1
    y.backward()
    return y, x.grad


@program
def in_place_on_a_leaf(fw: Any) -> Any:
    x = leaf(fw)
    x += 1


@program
def in_place_on_a_leaf_inside_no_grad(fw: Any) -> Any:
    x = pair(fw)
    with fw.no_grad():
        x -= 0.5
    (x * x).sum().backward()
    return x, x.grad, x.is_leaf, x.requires_grad


@program
def in_place_on_a_leaf_that_was_saved(fw: Any) -> Any:
    x = leaf(fw)
    y = x * x
    with fw.no_grad():
        x += 1
    y.backward()


@program
def in_place_on_a_leaf_that_was_not_saved(fw: Any) -> Any:
    x = leaf(fw)
    y = x + x
    with fw.no_grad():
        x += 1
    y.backward()
    return x.grad


@program
def in_place_on_a_constant_that_was_saved(fw: Any) -> Any:
    x, w = pair(fw), fw.tensor([3.0, 4.0])
    y = (x * w).sum()
    w += 1
    y.backward()


@program
def in_place_on_a_constant_before_it_is_saved(fw: Any) -> Any:
    x, w = pair(fw), fw.tensor([3.0, 4.0])
    w += 1
    (x * w).sum().backward()
    return x.grad


@program
def in_place_with_a_gradient_of_its_own(fw: Any) -> Any:
    x, z = pair(fw), pair(fw)
    y = x * 2
    y *= z
    y.sum().backward()
    return x.grad, z.grad


@program
def in_place_with_the_leaf_itself(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 2
    y += x
    y.backward()
    return x.grad


@program
def in_place_with_itself(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    y *= y
    y.backward()
    return y, x.grad


@program
def in_place_makes_a_constant_depend(fw: Any) -> Any:
    x, y = pair(fw), fw.tensor([5.0, 6.0])
    y *= x
    y.sum().backward()
    return y, x.grad, y.requires_grad, y.is_leaf


@program
def in_place_on_what_a_product_saved(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 2
    z = y * y
    y += 1
    z.backward()


@program
def in_place_on_what_a_sum_did_not_save(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 2
    z = y + y
    y += 1
    z.backward()
    return x.grad


@program
def in_place_widens_nothing(fw: Any) -> Any:
    y = fw.tensor([1.0, 2.0])
    y += fw.tensor([[1.0, 2.0], [3.0, 4.0]])


@program
def in_place_of_a_fraction_on_integers(fw: Any) -> Any:
    y = fw.tensor([1, 2])
    y += 1.5


@program
def in_place_keeps_the_type(fw: Any) -> Any:
    y = fw.tensor([1.0, 2.0])
    y += fw.tensor(np.float64(0.5) * np.ones(2))
    return y, str(y.dtype).removeprefix("torch.")


AFTER = {
    "exp": lambda fw, x: fw.exp(x),
    "tanh": lambda fw, x: fw.tanh(x),
    "sigmoid": lambda fw, x: fw.sigmoid(x),
    "sqrt": lambda fw, x: fw.sqrt(x),
    "relu": lambda fw, x: fw.relu(x),
    "softmax": lambda fw, x: fw.softmax(x, -1),
    "log": lambda fw, x: fw.log(x),
    "sin": lambda fw, x: fw.sin(x),
    "abs": lambda fw, x: fw.abs(x),
    "a_square": lambda fw, x: x**2,
    "a_power_of_two": lambda fw, x: 2.0**x,
    "division_by_a_number": lambda fw, x: x / 2,
    "division": lambda fw, x: (x + 1) / x,
    "a_reciprocal": lambda fw, x: 1 / x,
    "subtraction": lambda fw, x: x - x * x,
    "a_sum": lambda fw, x: x.sum(),
    "a_mean": lambda fw, x: x.mean(),
    "a_maximum": lambda fw, x: x.max(),
    "the_larger": lambda fw, x: fw.maximum(x, fw.tensor([1.5, 1.5])),
    "clip": lambda fw, x: fw.clip(x, 0.0, 1.5),
    "where": lambda fw, x: fw.where(x > 1.5, x, x * x),
    "matmul": lambda fw, x: fw.matmul(x, x),
    "concatenate": lambda fw, x: fw.concatenate([x, x]),
    "log_softmax": lambda fw, x: fw.log_softmax(x, -1),
    "logsumexp": lambda fw, x: fw.logsumexp(x, -1),
    "cumsum": lambda fw, x: fw.cumsum(x, 0),
}


def changed(compute: Callable[[Any, Any], Any]) -> Program:
    """Change the result of an operator in place, then walk back through it."""

    def run(fw: Any) -> Any:
        x = pair(fw)
        y = compute(fw, x)
        y += 1
        y.sum().backward()
        return y, x.grad

    return run


PROGRAMS |= {f"in_place_after_{name}": changed(f) for name, f in AFTER.items()}


@program
def copy_takes_over_value_and_gradient(fw: Any) -> Any:
    x, z = pair(fw), pair(fw)
    y = x * 2
    y.copy_(z * 3)
    y.sum().backward()
    return y, x.grad, z.grad


@program
def zero_keeps_the_history(fw: Any) -> Any:
    x = pair(fw)
    y = x * 2
    y.zero_()
    y.sum().backward()
    return y, x.grad


@program
def fill_of_a_single_number_keeps_the_history(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 2
    y.fill_(3.0)
    y.backward()
    return y, x.grad


@program
def copy_over_a_leaf(fw: Any) -> Any:
    leaf(fw).copy_(fw.tensor(1.0))


# ---- Views and items ------------------------------------------------------------------------


@program
def in_place_on_a_view_of_a_leaf(fw: Any) -> Any:
    x = pair(fw)
    v = x[0:1]
    v += 1


@program
def in_place_on_a_reshaped_leaf(fw: Any) -> Any:
    x = pair(fw)
    v = x.reshape(2, 1)
    v += 1


@program
def in_place_on_a_view_of_a_constant(fw: Any) -> Any:
    x = fw.tensor([1.0, 2.0])
    v = x[0:1]
    v += 10
    return x, v


@program
def in_place_on_a_view_of_a_result(fw: Any) -> Any:
    x = pair(fw)
    y = x * 2
    v = y[0:1]
    v *= 10
    y.sum().backward()
    return y, x.grad


@program
def in_place_on_a_reshaped_result(fw: Any) -> Any:
    x = pair(fw)
    y = x * 2
    v = y.reshape(2, 1)
    v *= 10
    y.sum().backward()
    return y, x.grad


@program
def in_place_on_the_base_of_a_view(fw: Any) -> Any:
    x = pair(fw)
    y = x * 2
    v = y.reshape(2, 1)
    y *= 10
    v.sum().backward()
    return v, x.grad


@program
def a_change_of_the_base_is_noticed(fw: Any) -> Any:
    x = pair(fw)
    y = x * 2
    v = y.reshape(2, 1)
    z = (v * v).sum()
    y += 1
    z.backward()


@program
def an_item_of_a_result(fw: Any) -> Any:
    x = pair(fw)
    y = x * 2
    y[0] = 5.0
    y.sum().backward()
    return y, x.grad


@program
def an_item_of_a_leaf(fw: Any) -> Any:
    pair(fw)[0] = 5.0


@program
def an_item_of_a_leaf_inside_no_grad(fw: Any) -> Any:
    x = pair(fw)
    with fw.no_grad():
        x[0] = 5.0
    (x * x).sum().backward()
    return x, x.grad


@program
def an_item_that_has_a_gradient(fw: Any) -> Any:
    z, y = leaf(fw), fw.zeros(3)
    y[1] = z * 4
    (y * y).sum().backward()
    return y, z.grad


@program
def items_one_after_the_other(fw: Any) -> Any:
    x, y = leaf(fw), fw.zeros(3)
    for i in range(3):
        y[i] = x * (i + 1)
    y.sum().backward()
    return y, x.grad


@program
def an_item_of_what_was_saved(fw: Any) -> Any:
    x = pair(fw)
    y = fw.exp(x)
    y[0] = 5.0
    y.sum().backward()


@program
def an_item_beyond_the_end(fw: Any) -> Any:
    y = fw.zeros(3)
    y[3] = 1.0


@program
def an_item_of_another_shape(fw: Any) -> Any:
    y = fw.zeros(3)
    y[0:2] = fw.tensor([1.0, 2.0, 3.0])


@program
def items_by_a_mask(fw: Any) -> Any:
    x = pair(fw)
    y = x * 1
    y[y > 1.5] = 0.0
    y.sum().backward()
    return y, x.grad


# ---- Hooks and gradients of interior values -------------------------------------------------


@program
def an_interior_value_keeps_no_gradient(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    (y * y).backward()
    return y.grad, x.grad


@program
def an_interior_value_keeps_it_on_request(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    y.retain_grad()
    (y * y).backward()
    return y.grad, x.grad


@program
def what_is_retained_accumulates(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    y.retain_grad()
    z = y * y
    z.backward(retain_graph=True)
    z.backward()
    return y.grad, x.grad


@program
def retain_grad_of_a_constant(fw: Any) -> Any:
    fw.tensor(2.0).retain_grad()


@program
def a_hook_of_a_leaf_changes_its_gradient(fw: Any) -> Any:
    x = leaf(fw)
    x.register_hook(lambda g: g * 10)
    (x * 3).backward()
    return x.grad


@program
def a_hook_sees_the_whole_gradient_once(fw: Any) -> Any:
    x, calls = leaf(fw), []
    y = x * 1
    y.register_hook(lambda g: calls.append(g.item()))
    (y * 3 + y * 4).backward()
    return calls, x.grad


@program
def a_hook_of_an_interior_value_changes_what_flows_on(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    (y * y).backward()
    return x.grad


@program
def hooks_run_in_their_order(fw: Any) -> Any:
    x = leaf(fw)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    (x * 3).backward()
    return x.grad


@program
def a_hook_can_be_removed(fw: Any) -> Any:
    x = leaf(fw)
    handle = x.register_hook(lambda g: g * 10)
    handle.remove()
    (x * 3).backward()
    return x.grad


@program
def hooks_and_what_is_retained(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    (y * y).backward()
    return y.grad, x.grad


@program
def hooks_act_on_grad_too(fw: Any) -> Any:
    x = leaf(fw)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    return grad(fw, y * y, [x])


@program
def a_hook_of_a_constant(fw: Any) -> Any:
    fw.tensor(2.0).register_hook(lambda g: g)


@program
def a_hook_that_answers_with_another_shape(fw: Any) -> Any:
    x = pair(fw)
    x.register_hook(lambda g: g.sum())
    (x * 3).sum().backward()
    return x.grad


# ---- More of the same kind ----------------------------------------------------------------------


@program
def a_leaf_that_is_frozen(fw: Any) -> Any:
    x = leaf(fw)
    x.requires_grad_(False)
    return (x * 2).requires_grad


@program
def a_result_that_is_frozen(fw: Any) -> Any:
    (leaf(fw) * 2).requires_grad_(False)


@program
def a_constant_that_becomes_a_parameter(fw: Any) -> Any:
    x = fw.tensor([1.0, 2.0])
    x.requires_grad_()
    (x * x).sum().backward()
    return x.grad


@program
def integers_that_become_parameters(fw: Any) -> Any:
    fw.tensor([1, 2]).requires_grad_()


@program
def the_truth_of_many_numbers(fw: Any) -> Any:
    return bool(fw.tensor([1.0, 2.0]))


@program
def the_truth_of_one_number_with_an_axis(fw: Any) -> Any:
    return bool(fw.tensor([0.0])), bool(fw.tensor([[2.0]]))


@program
def many_numbers_as_one(fw: Any) -> Any:
    return float(fw.tensor([1.0, 2.0]))


@program
def one_number_with_an_axis(fw: Any) -> Any:
    return float(fw.tensor([1.5])), int(fw.tensor([2.7])), fw.tensor([[3]]).item()


@program
def a_length_without_axes(fw: Any) -> Any:
    return len(fw.tensor(1.0))


@program
def rows_of_a_number(fw: Any) -> Any:
    return list(fw.tensor(1.0))


@program
def a_float_as_an_index(fw: Any) -> Any:
    return [1, 2, 3][fw.tensor(1.0)]


@program
def an_integer_as_an_index(fw: Any) -> Any:
    return [1, 2, 3][fw.tensor(1)], range(3)[fw.tensor([2])]


@program
def numpy_of_what_needs_a_gradient(fw: Any) -> Any:
    return fw.tensor([1.0, 2.0]).numpy().sum().item()
