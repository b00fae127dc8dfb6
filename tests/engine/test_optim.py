"""Optimisers: the formulas of the papers, and the same bits in both modes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg

MAKE: dict[str, Callable[[Any], mg.optim.Optimizer]] = {
    "SGD": lambda params: mg.optim.SGD(params, lr=0.5),
    "momentum": lambda params: mg.optim.SGD(params, lr=0.1, momentum=0.9),
    "nesterov": lambda params: mg.optim.SGD(
        params, lr=0.1, momentum=0.9, weight_decay=0.02, nesterov=True
    ),
    "Adam": lambda params: mg.optim.Adam(params, lr=0.01),
    "Adam decayed": lambda params: mg.optim.Adam(params, lr=0.01, weight_decay=0.01),
    "AdamW": lambda params: mg.optim.AdamW(params, lr=0.01, weight_decay=0.1),
}
RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.random((32, 12), np.float32)
LABELS = (IMAGES[:, 0] * 3).astype(np.int64)
STEPS = 25


def network() -> mg.nn.Sequential:
    return mg.nn.Sequential(mg.nn.Linear(12, 8, seed=1), mg.nn.ReLU(), mg.nn.Linear(8, 3, seed=2))


def batches() -> list[tuple[Any, Any]]:
    """Batches of changing length: the batch axis is open."""
    return [(IMAGES[: 20 + i % 12], LABELS[: 20 + i % 12]) for i in range(STEPS)]


def train_dynamic(name: str) -> tuple[list[Any], list[Any]]:
    model, losses = network(), []
    optimizer = MAKE[name](model.parameters())
    for images, labels in batches():
        optimizer.zero_grad()
        loss = mg.cross_entropy(model(mg.tensor(images)), mg.tensor(labels))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.data for p in model.parameters()]


def train_static(name: str) -> tuple[list[Any], list[Any]]:
    model, losses = network(), []
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 12))
        t = mg.placeholder("t", shape=(None,), dtype=mg.int64)
        loss = mg.cross_entropy(model(x), t)
        step = MAKE[name](model.parameters()).minimize(loss)
        session.run(mg.global_variables_initializer())
        for images, labels in batches():
            value, _ = session.run([loss, step], {x: images, t: labels})
            losses.append(float(value))
        return losses, [session.value(p) for p in model.parameters()]


@pytest.mark.parametrize("name", MAKE)
def test_training_gives_the_same_bits_in_both_modes(name: str) -> None:
    losses, weights = train_dynamic(name)
    static_losses, static_weights = train_static(name)
    assert losses == static_losses
    assert losses[-1] < 0.85 * losses[0], "and it learns"
    for a, b in zip(weights, static_weights, strict=True):
        assert a.tobytes() == b.tobytes()


def reference(name: str, p: Any, gradients: Any) -> Any:
    """The formulas, written out in float64."""
    velocity = mean = square = np.zeros_like(p)
    for t, g in enumerate(gradients, 1):
        if name == "SGD":
            p = p - 0.5 * g
        elif name == "momentum":
            velocity = 0.9 * velocity + g
            p = p - 0.1 * velocity
        elif name == "nesterov":
            g = g + 0.02 * p
            velocity = 0.9 * velocity + g
            p = p - 0.1 * (g + 0.9 * velocity)
        else:
            g = g + 0.01 * p if name == "Adam decayed" else g
            p = p - 0.01 * 0.1 * p if name == "AdamW" else p
            mean = 0.9 * mean + 0.1 * g
            square = 0.999 * square + 0.001 * g * g
            p = p - 0.01 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    return p


@pytest.mark.parametrize("name", MAKE)
def test_steps_follow_the_formula(name: str) -> None:
    start, gradients = np.array([1.0, -2.0]), RANDOM.standard_normal((5, 2))
    p = mg.tensor(start, requires_grad=True)
    optimizer = MAKE[name]([p])
    for g in gradients:
        p.grad = mg.tensor(g)
        optimizer.step()
    np.testing.assert_allclose(p.data, reference(name, start, gradients), rtol=1e-12)


def test_without_parameters_all_variables_of_the_loss_are_trained() -> None:
    """As TensorFlow 1 does it; integers and what layers keep are none of them."""
    layer = mg.nn.BatchNorm1d(2).eval()
    with mg.Graph() as graph, mg.Session() as session:
        w, unused = mg.Variable([3.0, 5.0], name="w"), mg.Variable(7.0)
        count = mg.Variable(2)
        x = mg.placeholder("x", shape=(1, 2))
        loss = (layer(x * w) * mg.cast(count, mg.float32)).sum()
        train = mg.optim.SGD(lr=0.25).minimize(loss)
        kept = [graph.buffer(layer.running_mean), graph.buffer(layer.running_var), unused, count]
        trained = [w, *map(graph.lift, (layer.weight, layer.bias))]
        session.run(mg.global_variables_initializer())
        before = session.run([*kept, *trained])
        session.run(train, {x: [[1.0, 2.0]]})
        after = session.run([*kept, *trained])
    changed = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
    assert changed == [False] * 4 + [True] * 3
    np.testing.assert_allclose(
        after[4], np.array([3.0, 5.0]) - 0.25 * 2 * np.array([1.0, 2.0]), 1e-4
    )


def test_without_parameters_there_is_nothing_to_step() -> None:
    optimizer = mg.optim.Adam(lr=0.1)
    for act in (optimizer.step, optimizer.zero_grad):
        with pytest.raises(mg.GraphError, match="no parameters to change"):
            act()
    with pytest.raises(mg.ArgumentError, match=r"model\.parameters"):
        mg.optim.SGD(0.1)
    with mg.Graph(), pytest.raises(mg.GradientError, match="depends on none"):
        mg.optim.SGD(lr=0.1).minimize(mg.placeholder("x", ()) * 2)


@pytest.mark.parametrize("name", MAKE)
def test_a_parameter_without_gradient_stays(name: str) -> None:
    used, unused = (mg.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    optimizer = MAKE[name]([used, unused])
    (used * used).sum().backward()
    optimizer.step()
    assert unused.tolist() == [1, 2]
    assert used.tolist() != [1, 2]
    with mg.Graph(), mg.Session() as session:
        loss = (mg.placeholder("x", shape=(2,)) * used).sum()
        step = MAKE[name]([used, unused]).minimize(loss)
        session.run(mg.global_variables_initializer())
        session.run(step, {"x": [1, 1]})
        assert session.value(unused).tolist() == [1, 2]
        assert session.value(used).tolist() != used.tolist()


@pytest.mark.parametrize("name", MAKE)
def test_a_step_works_in_place_and_records_nothing(name: str) -> None:
    p = mg.tensor([1.0, 2.0], requires_grad=True)
    memory = p.data
    optimizer = MAKE[name]([p])
    (p * p).sum().backward()
    gradient = p.grad.tolist()
    with mg.record() as log:
        optimizer.step()
    assert p.data is memory
    assert p.is_leaf
    assert p.grad.tolist() == gradient
    assert log.counts.built == 0
    optimizer.zero_grad()
    assert p.grad is None


@pytest.mark.parametrize("name", MAKE)
def test_a_single_number_can_be_trained(name: str) -> None:
    p = mg.tensor(3.0, requires_grad=True)
    optimizer = MAKE[name]([p])
    for _ in range(3):
        optimizer.zero_grad()
        (p * p).backward()
        optimizer.step()
    assert abs(p.item()) < 3
    assert p.dtype == mg.float32


def test_the_slots_of_an_optimizer_are_variables_of_its_scope() -> None:
    with mg.Graph() as g:
        w = mg.Variable([1.0, 2.0], name="w")
        mg.optim.Adam([w]).minimize((w * w).sum())
        slots = [n.name for n in g.variables if n is not w]
    assert slots == ["Adam/w/mean", "Adam/w/square", "Adam/w/time"]


def test_gradients_may_be_changed_before_they_are_applied() -> None:
    with mg.Graph(), mg.Session() as session:
        w = mg.Variable([3.0, 4.0])
        (g,) = mg.gradients((w * w).sum(), [w])
        clipped = g / mg.sqrt((g * g).sum())
        step = mg.optim.SGD([w], lr=5.0).apply_gradients([(clipped, w), (None, w)])
        session.run(mg.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(w), [0, 0], atol=1e-6)


def test_an_optimizer_needs_parameters_and_a_rule() -> None:
    with pytest.raises(mg.GraphError, match="SGD: there are no parameters"):
        mg.optim.SGD([])
    p = mg.tensor(1.0, requires_grad=True)
    p.grad = mg.tensor(1.0)
    with pytest.raises(mg.GraphError, match=r"Optimizer has no method.*define rule\("):
        mg.optim.Optimizer([p]).step()


# ---- Clipping -------------------------------------------------------------------------------


def with_gradients() -> list[mg.Tensor]:
    """Parameters of different shapes, one without a gradient; the joint norm is 13."""
    params = [mg.zeros(2, requires_grad=True) for _ in range(2)]
    params += [mg.zeros(requires_grad=True), mg.zeros(3, requires_grad=True)]
    for p, g in zip(params, ([3.0, 0.0], [0.0, 4.0], 12.0), strict=False):
        p.grad = mg.tensor(g)
    return params


def listed(params: list[mg.Tensor]) -> list[Any]:
    return [None if p.grad is None else p.grad.tolist() for p in params]


def test_gradients_are_scaled_to_a_joint_norm() -> None:
    params = with_gradients()
    memory = params[0].grad.data
    norm = mg.optim.clip_grad_norm(params, 6.5)
    assert norm == 13
    assert listed(params) == [[1.5, 0], [0, 2], 6, None]
    assert params[0].grad.data is memory
    assert mg.optim.clip_grad_norm(params, 100.0) == 6.5
    assert params[2].grad.item() == 6
    assert mg.optim.clip_grad_norm(params[0], 0.75) == 1.5
    assert mg.optim.clip_grad_norm(params[3], 1.0) == 0


def test_gradients_are_clipped_by_value() -> None:
    params = with_gradients()
    mg.optim.clip_grad_value(params, 3.5)
    assert listed(params) == [[3, 0], [0, 3.5], 3.5, None]
    params[0].grad.copy_([-3.0, -1.0])
    mg.optim.clip_grad_value(params, 2.0)
    assert listed(params) == [[-2, -1], [0, 2], 2, None]
    with pytest.raises(mg.ArgumentError, match="clip_value=-1"):
        mg.optim.clip_grad_value(params, -1.0)
    with pytest.raises(mg.ArgumentError, match="clip_grad_norm: max_norm=-1"):
        mg.optim.clip_grad_norm(params, -1.0)
    for clip in (mg.optim.clip_grad_value, mg.optim.clip_grad_norm):
        with pytest.raises(mg.ArgumentError, match="params"):
            clip([params[0], params[1].grad.data], 1.0)
    assert listed(params) == [[-2, -1], [0, 2], 2, None]


def test_clipped_training_gives_the_same_bits_in_both_modes() -> None:
    model = network()
    optimizer = mg.optim.Adam(model.parameters())
    for images, labels in batches()[:5]:
        optimizer.zero_grad()
        mg.cross_entropy(model(mg.tensor(images)), mg.tensor(labels)).backward()
        norm = mg.optim.clip_grad_norm(model.parameters(), 0.1)
        assert norm > 0.1
        optimizer.step()
    other = network()
    with mg.Graph(), mg.Session() as session:
        x = mg.placeholder("x", shape=(None, 12))
        t = mg.placeholder("t", shape=(None,), dtype=mg.int64)
        params = other.parameters()
        found = mg.gradients(mg.cross_entropy(other(x), t), params)
        clipped, size = mg.clip_by_global_norm([*found, None], 0.1)
        assert clipped.pop() is None
        step = mg.optim.Adam(params).apply_gradients(zip(clipped, params, strict=True))
        session.run(mg.global_variables_initializer())
        for images, labels in batches()[:5]:
            last, _ = session.run([size, step], {x: images, t: labels})
        assert last.tobytes() == norm.tobytes()
        for p, q in zip(model.parameters(), params, strict=True):
            assert session.value(q).tobytes() == p.data.tobytes()


def test_nothing_to_clip_is_nothing() -> None:
    assert mg.clip_by_global_norm([None], 1.0) == ([None], 0.0)


# ---- Learning rates -------------------------------------------------------------------------


def test_a_learning_rate_may_change_between_steps_and_be_fed() -> None:
    p = mg.tensor([1.0], requires_grad=True)
    optimizer = mg.optim.SGD([p], lr=1.0)
    p.grad = mg.tensor([1.0])
    for optimizer.lr in (1.0, 0.5, 0.25):
        optimizer.step()
    assert p.tolist() == [-0.75]
    with mg.Graph(), mg.Session() as session:
        w, rate = mg.Variable([1.0]), mg.placeholder("rate", shape=())
        step = mg.optim.SGD([w], lr=rate).minimize(w.sum())
        session.run(mg.global_variables_initializer())
        for value in (1.0, 0.5, 0.25):
            session.run(step, {rate: value})
        assert session.value(w).tolist() == [-0.75]


def test_small_betas_need_more_than_float32() -> None:
    """1 − 0.999 in float32 is off by 5e-5; the first step must be lr exactly enough."""
    p = mg.tensor([0.0], requires_grad=True)
    p.grad = mg.tensor([1e-3])
    mg.optim.Adam([p], lr=1.0, eps=0.0).step()
    assert p.item() == pytest.approx(-1, abs=3e-7)


# ---- Where a step writes ----------------------------------------------------------------------


def test_a_step_makes_one_array_of_the_size_of_the_parameter() -> None:
    p = mg.zeros(1 << 16, requires_grad=True)
    p.grad = mg.ones(1 << 16)
    optimizer = mg.optim.SGD([p], lr=0.5)
    optimizer.step()
    tracemalloc.start()
    optimizer.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert p.data.nbytes <= peak < 1.5 * p.data.nbytes
    assert p.version == 2
    assert set(p.tolist()) == {-1.0}


class Halved(mg.optim.SGD):
    """A rule of its own on top of another one, which must win over the move."""

    def rule(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        new, *renewed = super().rule(p, g, *slots)
        return new * 0.5, *renewed


class Moved(mg.optim.Optimizer):
    """Nothing but a move."""

    def move(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        return (mg.sign(g) + p,)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda ps: Halved(ps, lr=0.5), [0.25, -1.25]),
        (Moved, [-1.0, -1.0]),
        (lambda ps: mg.optim.SGD(ps, lr=mg.tensor(0.5)), [0.5, -2.5]),
    ],
)
def test_rules_and_moves_of_users_give_the_same_in_both_modes(make: Any, expected: Any) -> None:
    p = mg.tensor([1.0, -2.0], requires_grad=True)
    memory, before = p.data, p.detach()
    p.grad = mg.ones(2)
    make([p]).step()
    assert p.data is memory
    assert before.tolist() == p.tolist() == expected, "a view sees the change"
    with mg.Graph(), mg.Session() as session:
        variable = mg.Variable(np.float32([1, -2]))
        step = make([variable]).minimize(variable.sum())
        session.run(mg.global_variables_initializer())
        session.run(step)
        assert session.value(variable).tolist() == expected


# ---- Groups of parameters -----------------------------------------------------------------------


def moved(optimizer: mg.optim.Optimizer, *params: mg.Tensor) -> list[float]:
    """How far each parameter goes in one step along a gradient of 1."""
    before = [p.item() for p in params]
    for p in params:
        p.grad = mg.tensor([1.0])
    optimizer.step()
    return [b - p.item() for b, p in zip(before, params, strict=True)]


def test_groups_have_options_of_their_own_which_may_be_changed() -> None:
    a, b = (mg.tensor([0.0], requires_grad=True) for _ in range(2))
    optimizer = mg.optim.SGD([{"params": [a], "lr": 1.0}, {"params": iter([b])}], lr=0.5)
    assert moved(optimizer, a, b) == [1.0, 0.5]
    for group in optimizer.param_groups:
        group["lr"] *= 0.5
    assert moved(optimizer, a, b) == [0.5, 0.25]
    assert (optimizer.lr, optimizer.params) == (0.5, [a, b])
    optimizer.lr = 0.125
    assert [group["lr"] for group in optimizer.param_groups] == [0.125, 0.125]
    c = mg.tensor([0.0], requires_grad=True)
    optimizer.add_param_group({"params": [c], "lr": 2.0, "momentum": 0.5})
    assert moved(optimizer, a, b, c) == [0.125, 0.125, 2.0]
    assert moved(optimizer, a, b, c) == [0.125, 0.125, 3.0], "momentum in its group alone"


@pytest.mark.parametrize("kind", [mg.optim.Adam, mg.optim.AdamW])
def test_groups_in_both_modes(kind: Any) -> None:
    options = ({"lr": 0.5, "weight_decay": 0.25}, {"betas": (0.5, 0.5)})
    a, b = (mg.tensor([v], requires_grad=True) for v in (1.0, -2.0))
    optimizer = kind([{"params": [p], **o} for p, o in zip((a, b), options, strict=True)])
    for _ in range(3):
        optimizer.zero_grad()
        ((a - b) ** 2).sum().backward()
        optimizer.step()
    with mg.Graph(), mg.Session() as session:
        v, w = mg.Variable([1.0]), mg.Variable([-2.0])
        groups = [{"params": [p], **o} for p, o in zip((v, w), options, strict=True)]
        step = kind(groups).minimize(((v - w) ** 2).sum())
        session.run(mg.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        assert [session.value(v).tolist(), session.value(w).tolist()] == [a.tolist(), b.tolist()]
    assert a.tolist() != [1.0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: mg.optim.SGD([{"params": [p], "momentun": 0.9}]), "momentum"),
        (lambda p: mg.optim.SGD([{"lr": 0.1}]), "params"),
        (lambda p: mg.optim.SGD([{"params": [p]}, {"params": [p]}]), "once"),
        (lambda p: mg.optim.SGD([{"params": [p], "lr": -1.0}]), "lr=-1.0"),
        (lambda p: mg.optim.SGD([{"params": [p]}, p]), "model.parameters()"),
        (lambda p: mg.optim.Adam([{"params": [p], "betas": (1, 2)}]), "betas"),
    ],
)
def test_groups_that_cannot_be_are_refused(make: Any, says: str) -> None:
    with pytest.raises(mg.ArgumentError, match=says):
        make(mg.tensor(1.0, requires_grad=True))


def test_gradients_are_forgotten_or_made_zero() -> None:
    model = mg.nn.Linear(1, 1, bias=False)
    for forget in (model.zero_grad, mg.optim.SGD(model.parameters()).zero_grad):
        model(mg.ones(1, 1)).sum().backward()
        forget(set_to_none=False)
        assert model.weight.grad.tolist() == [[0.0]]
        forget()
        assert model.weight.grad is None
