"""Optimisers: one update rule, read by both modes.

A rule takes a parameter, its gradient and its slots, and returns the new parameter and slots. In
the dynamic graph `step()` runs it on arrays; in the static graph `minimize()` builds it from nodes
and ends in assign nodes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import ops
from minigrad.backprop.rules import plain
from minigrad.core import Array, events, float64, in_body, name_scope
from minigrad.diagnostics import foreign
from minigrad.diagnostics.arguments import listed, number, refuse
from minigrad.diagnostics.errors import GradientError, GraphError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.changes import changes
from minigrad.dynamic.inplace import make_writable
from minigrad.dynamic.recording import recording
from minigrad.dynamic.tensor import Tensor
from minigrad.nn import updates
from minigrad.ops import state
from minigrad.static import Node, ancestors, expect_node
from minigrad.static.build import assign, group
from minigrad.static.gradients import gradients

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Optimizer",
    "clip_by_global_norm",
    "clip_grad_norm",
    "clip_grad_value",
]


class Option:
    """An option of an optimiser: that of the group of parameters it is at, or else of the first."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, optimizer: Any, owner: type) -> Any:
        return self if optimizer is None else optimizer._group[self._name]

    def __set__(self, optimizer: Any, value: Any) -> None:
        for own in optimizer.param_groups:
            own[self._name] = value


class Optimizer:
    """Changes parameters by their gradients. Sub-classes write `slots`, and `rule` or `move`.

    params: tensors with requires_grad, or variables; GraphError if there are none. Without it,
    `minimize` changes all variables that the loss depends on, as TensorFlow 1 does. Or a list of
    groups, {"params": …, "lr": …}, whose own options take the place of the common `options`; they
    are kept in `param_groups`, and may be changed there. Set on the optimiser, an option is set in
    all groups.

    >>> import minigrad as mg
    >>> class SignDescent(mg.optim.Optimizer):
    ...     def rule(self, p, g):
    ...         return (p - 0.5 * mg.sign(g),)
    >>> x = mg.tensor([3.0, -3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> SignDescent([x]).step()
    >>> x.tolist()
    [2.5, -2.5]
    """

    def __init__(self, params: Iterable[Any] | None = None, **options: Any) -> None:
        self._options, self.param_groups = options, []
        for own in [{"params": []}] if params is None else _groups(self, params):
            self.add_param_group(own)
        if params is not None:
            self._expect_some()
        self._slots: dict[int, tuple[Array, ...]] = {}

    param_groups: list[dict[str, Any]]

    @property
    def params(self) -> list[Any]:
        """The parameters of all groups."""
        return [p for own in self.param_groups for p in own["params"]]

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with options of their own: {"params": …, …}.

        ArgumentError for an option that the optimiser does not have, and for a parameter that it
        has already.
        """
        name, own = type(self).__name__, dict(group)
        unknown = own.keys() - self._options.keys() - {"params"}
        if unknown or "params" not in own:
            known = ", ".join(("params", *self._options))
            raise refuse(name, "params", group, fill("expect_group", known=known))
        own["params"] = list(_parameters(self, own["params"]))
        given = [*self.params, *own["params"]]
        if len({*map(id, given)}) < len(given):
            raise refuse(name, "params", group, fill("expect_once"))
        own = {**self._options, **own}
        self.check(**{key: value for key, value in own.items() if key != "params"})
        self.param_groups.append(own)
        self._group = self.param_groups[0]

    def check(self, **options: Any) -> None:
        """Raise ArgumentError for values that the options of a group can't have."""

    def _members(self) -> Iterator[Any]:
        """Yield all parameters; meanwhile the options are those of their groups."""
        try:
            for own in self.param_groups:
                self._group = own
                yield from own["params"]
        finally:
            self._group = self.param_groups[0]

    def slots(self, p: Any) -> dict[str, Array]:
        """Return the initial values kept for one parameter, by name."""
        return {}

    def rule(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        """Return the new parameter and slots; by default p − move."""
        move, *renewed = self.move(p, g, *slots)
        return p - move, *renewed

    def move(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        """Return what to subtract from the parameter in place, and the new slots."""
        name = type(self).__name__
        raise GraphError("method", op=name, method="rule(self, p, g, *slots)", defined=here())

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters to None; without `set_to_none`, to 0."""
        self._expect_some()
        for p in self.params:
            p.zero_grad(set_to_none)

    def step(self) -> None:
        """Change every parameter that has a gradient, in place."""
        self._expect_some()
        with recording(False):
            for i, p in enumerate(self._members()):
                if p.grad is None:
                    continue
                kept = self._slots.get(i)
                if kept is None:
                    kept = tuple(self.slots(p).values())
                self._slots[i] = self._update(p, p.grad._array, kept)

    def _expect_some(self) -> None:
        if not self.params:
            raise GraphError("no_parameters", op=type(self).__name__, defined=here())

    def _update(self, p: Tensor, g: Array, slots: tuple[Array, ...]) -> tuple[Array, ...]:
        """Change one parameter in place; return the new slots."""
        if events.listeners or in_body():
            return self._update_by_ops(p, g, slots)
        array = p._array
        if type(self).rule is not Optimizer.rule or type(array) is not np.ndarray:
            new, *renewed = self.rule(array, g, *slots)
            overwrite(p, new, type(self).__name__)
            return tuple(renewed)
        move, *renewed = self.move(array, g, *slots)
        make_writable(p, type(self).__name__)
        if type(move) is np.ndarray:  # one large array less than with the rule
            changes.note(array)
            np.subtract(array, move, p._array)
        else:  # there are no axes, or the rate is a tensor
            overwrite(p, array - move)
        return tuple(renewed)

    def _update_by_ops(self, p: Tensor, g: Array, slots: tuple[Array, ...]) -> tuple[Array, ...]:
        """Update by tensors instead of arrays, so that listeners hear of each kernel.

        Rules of others may be written for arrays alone; of them, what is assigned is told.
        """
        ours = all(getattr(type(self), name).__module__ == __name__ for name in ("rule", "move"))
        given = [Tensor._around(x) if ours else x for x in (p._array, g, *slots)]
        with events.during("update"):
            new, *renewed = map(plain, self.rule(*given))
            overwrite(p, new, type(self).__name__)
            for slot in renewed:
                events.emit("run", state.assign, None, slot, (slot,))
        return tuple(renewed)

    def minimize(self, loss: Node) -> Node:
        """Build a node that makes one training step when fetched: gradients, rule, assignments.

        The running statistics of the layers that the loss depends on are renewed with it.
        GradientError when the loss depends on none of the parameters.

        >>> import minigrad as mg
        >>> with mg.Graph(), mg.Session() as sess:
        ...     w = mg.Variable(3.0)
        ...     train = mg.optim.SGD(lr=0.25).minimize(w * w)
        ...     sess.run(mg.global_variables_initializer())
        ...     sess.run(train)
        ...     float(sess.run(w))
        1.5
        """
        who = f"{type(self).__name__}.minimize"
        loss = expect_node(who, loss)
        params = self.params or loss.graph.parameters(ancestors([loss]))
        found = gradients(loss, [loss.graph.lift(p, who=who) for p in params])
        if all(g is None for g in found):
            name = type(self).__name__
            raise GradientError("no_parameter_used", op=name, defined=loss.where, ran=here())
        step = self.apply_gradients(zip(found, params, strict=True))
        return group(step, updates(loss)) if loss.graph.updates else step

    def apply_gradients(self, pairs: Iterable[tuple[Node | None, Any]]) -> Node:
        """Build a node that updates each parameter by its gradient node when fetched."""
        assigned: list[Node] = []
        groups = {id(p): own for own in self.param_groups for p in own["params"]}
        for g, p in pairs:
            if g is None:
                continue
            self._group = groups.get(id(p), self.param_groups[0])
            variable = g.graph.lift(p, who=f"{type(self).__name__}.apply_gradients")
            with name_scope(f"{type(self).__name__}/{variable.name}"):
                start = self.slots(variable)
                kept = [g.graph.variable(value, name, "buffer") for name, value in start.items()]
                targets: Sequence[Node] = (variable, *kept)
                with name_scope("apply_gradients"):
                    new = self.rule(variable, g, *kept)
                    assigned += [assign(v, n) for v, n in zip(targets, new, strict=True)]
        self._group = self.param_groups[0]
        return group(*assigned)


class SGD(Optimizer):
    """p ← p − lr · g, or with momentum v ← momentum · v + g and p ← p − lr · v.

    lr: learning rate, above 0; momentum: 0 (none) up to below 1. nesterov: p ← p − lr · (g +
    momentum · v). weight_decay: this much of p is added to g first. (torch.optim.SGD.)

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> optimiser = mg.optim.SGD([x], lr=0.25)
    >>> for _ in range(3):
    ...     optimiser.zero_grad()
    ...     (x * x).backward()
    ...     optimiser.step()
    >>> x.item()
    0.375
    """

    def __init__(
        self,
        params: Iterable[Any] | None = None,
        lr: float = 0.001,
        momentum: float = 0.0,
        *,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        options = {"momentum": momentum, "weight_decay": weight_decay, "nesterov": nesterov}
        super().__init__(params, lr=lr, **options)

    lr, momentum, weight_decay, nesterov = Option(), Option(), Option(), Option()

    def check(self, **options: Any) -> None:
        for key in ("lr", "momentum", "weight_decay"):
            number("SGD", key, options[key])
        if options["nesterov"] and not options["momentum"]:
            raise refuse("SGD", "nesterov", options["nesterov"], fill("expect_momentum"))

    def slots(self, p: Any) -> dict[str, Array]:
        return {"velocity": _zeros(p)} if self.momentum else {}

    def move(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        own = self._group
        if own["weight_decay"]:
            g = g + p * own["weight_decay"]
        momentum = own["momentum"]
        if not momentum:
            return (g * own["lr"],)
        velocity = slots[0] * momentum + g
        ahead = g + velocity * momentum if own["nesterov"] else velocity
        return ahead * own["lr"], velocity


class Adam(Optimizer):
    """Step sizes from running means of the gradient and of its square (Kingma and Ba, 2015).

    lr: step size, above 0; betas: decay of the two means; eps: added to the denominator.
    weight_decay: this much of p is added to g first. In a static graph, `minimize` makes the node
    that trains:

    >>> import minigrad as mg
    >>> with mg.Graph(), mg.Session() as sess:
    ...     w = mg.Variable(3.0)
    ...     train = mg.optim.Adam([w], lr=0.5).minimize(w * w)
    ...     sess.run(mg.global_variables_initializer())
    ...     sess.run(train)
    ...     float(sess.run(w))
    2.5
    """

    def __init__(
        self,
        params: Iterable[Any] | None = None,
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    lr, betas, eps, weight_decay = Option(), Option(), Option(), Option()
    decoupled = False  # whether the decay acts on p itself

    def check(self, **options: Any) -> None:
        name, betas = type(self).__name__, options["betas"]
        for key in ("lr", "eps", "weight_decay"):
            number(name, key, options[key])
        b1, b2 = betas if isinstance(betas, (tuple, list)) and len(betas) == 2 else (None, None)
        if not all(isinstance(b, (int, float)) and 0 <= b < 1 for b in (b1, b2)):
            raise refuse(name, "betas", betas, fill("expect_betas"))

    def slots(self, p: Any) -> dict[str, Array]:
        return {"mean": _zeros(p), "square": _zeros(p), "time": float64.type(0)}

    def move(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        own = self._group
        if own["weight_decay"] and not self.decoupled:
            g = g + p * own["weight_decay"]
        (mean, square, time), (b1, b2) = slots, own["betas"]
        time = time + 1
        mean = mean * b1 + g * (1 - b1)
        square = square * b2 + g * g * (1 - b2)
        # Both means start at 0: undo that pull, with factors that float32 would make too coarse.
        rate = ops.cast(own["lr"] / (1 - ops.pow(float64.type(b1), time)), dtype=p.dtype)
        pull = ops.cast(ops.sqrt(1 - ops.pow(float64.type(b2), time)), dtype=p.dtype)
        return mean / (ops.sqrt(square) / pull + own["eps"]) * rate, mean, square, time


class AdamW(Adam):
    """Adam whose weight decay acts on p itself, not through g (Loshchilov and Hutter, 2019).

    >>> import minigrad as mg
    >>> x = mg.tensor(4.0, requires_grad=True)
    >>> (x * 0).backward()
    >>> mg.optim.AdamW([x], lr=0.5, weight_decay=0.5).step()
    >>> x.item()
    3.0
    """

    def __init__(
        self,
        params: Iterable[Any] | None = None,
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)

    decoupled = True

    def rule(self, p: Any, g: Any, *slots: Any) -> tuple[Any, ...]:
        own = self._group
        return super().rule(p - p * (own["lr"] * own["weight_decay"]), g, *slots)


def _groups(optimizer: Optimizer, params: Any) -> list[dict[str, Any]]:
    """Return the groups of these parameters: their own, or a single one."""
    if hasattr(type(params), "reader") or not isinstance(params, Iterable):
        return [{"params": params}]  # which is refused
    if isinstance(params, (str, dict)):
        return [{"params": params}]
    items = list(params)
    groups = bool(items) and all(isinstance(item, dict) for item in items)
    return items if groups else [{"params": items}]


def _parameters(optimizer: Optimizer, params: Any) -> Iterator[Any]:
    """Yield the parameters; ArgumentError for what can't be trained."""
    single = hasattr(type(params), "reader")  # it could be looped over, too
    if single or not isinstance(params, Iterable) or isinstance(params, (str, dict)):
        raise refuse(type(optimizer).__name__, "params", params, fill("expect_parameters"))
    for p in params:
        if not hasattr(type(p), "reader"):
            raise refuse(type(optimizer).__name__, "params", p, fill("expect_parameters"))
        if isinstance(p, Tensor) and not p.is_leaf:
            name, op = type(optimizer).__name__, p.creator
            raise GradientError("computed_parameter", op=name, creator=op, defined=here())
        yield p


def overwrite(p: Tensor, new: Array, who: str = "copy_") -> None:
    """Change a tensor in place to values of its own shape and type, made for it."""
    make_writable(p, who)
    array = changes.array_of(p)  # a number becomes one, which can change in place
    changes.note(array)
    np.copyto(array, new)
    if events.listeners:
        events.emit("run", state.assign, None, new, (new,))


def _zeros(p: Any) -> Array:
    return np.zeros(p.shape, p.dtype)[()]


# ---- Clipping -------------------------------------------------------------------------------


def clip_grad_norm(params: Any, max_norm: float) -> Any:
    """Scale the gradients of all parameters so that their joint norm is at most `max_norm`.

    The norm is that of all elements of all gradients together. Changes `.grad` in place, and
    returns the norm before. (torch.nn.utils.clip_grad_norm_; its 1e-6 beside the norm is left out.)

    >>> import minigrad as mg
    >>> x = mg.tensor([0.0, 0.0], requires_grad=True)
    >>> (x * mg.tensor([3.0, 4.0])).sum().backward()
    >>> float(mg.optim.clip_grad_norm(x, 2.5)), x.grad.tolist()
    (5.0, [1.5, 2.0])
    """
    number("clip_grad_norm", "max_norm", max_norm)
    grads = [p.grad for p in _tensors("clip_grad_norm", params) if p.grad is not None]
    with recording(False):
        clipped, norm = clip_by_global_norm([_read(g) for g in grads], max_norm)
        for g, new in zip(grads, clipped, strict=True):
            overwrite(g, plain(new))
    return plain(norm)


def _tensors(op: str, params: Any) -> list[Tensor]:
    """Return one tensor or several as a list."""
    found = [params] if isinstance(params, Tensor) else listed(op, "params", params)
    for p in found:
        if not isinstance(p, Tensor):
            raise refuse(op, "params", p, fill("expect_parameters"))
    return list(found)


def clip_grad_value(params: Any, clip_value: float) -> None:
    """Clip every element of every gradient to ±clip_value, in place.

    >>> import minigrad as mg
    >>> x = mg.tensor([0.0, 0.0], requires_grad=True)
    >>> (x * mg.tensor([3.0, -0.5])).sum().backward()
    >>> mg.optim.clip_grad_value(x, 1.0)
    >>> x.grad.tolist()
    [1.0, -0.5]
    """
    number("clip_grad_value", "clip_value", clip_value)
    with recording(False):
        for p in _tensors("clip_grad_value", params):
            if p.grad is not None:
                overwrite(p.grad, plain(ops.clip(_read(p.grad), -clip_value, clip_value)))


def _read(g: Tensor) -> Any:
    """Return the tensor if there are listeners, else its array, which is faster."""
    return g if events.listeners or in_body() else g._array


def clip_by_global_norm(values: Sequence[Any], clip_norm: float) -> tuple[list[Any], Any]:
    """Scale the values to a joint norm of at most `clip_norm`; return them and the norm before.

    values: nodes, tensors or arrays, such as the gradients of all variables; None stays None.
    (tf.clip_by_global_norm.)

    >>> import minigrad as mg
    >>> [g], norm = mg.clip_by_global_norm([mg.tensor([3.0, 4.0])], 1.0)
    >>> norm.item()
    5.0
    """
    values = listed("clip_by_global_norm", "values", values)
    number("clip_by_global_norm", "clip_norm", clip_norm)
    squares = [ops.sum(ops.mul(v, v)) for v in values if v is not None]
    if not squares:
        return list(values), 0.0
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    norm = ops.sqrt(total)
    scale = clip_norm / ops.maximum(norm, clip_norm)
    return [None if v is None else v * scale for v in values], norm


for _kind in (SGD, Adam, AdamW):
    foreign.answer_arguments(_kind)

if not TYPE_CHECKING:  # which knows what is missing

    def __getattr__(name: str) -> Any:
        raise foreign.missing("mg.optim", name, sys.modules[__name__], foreign.OPTIMISERS)
