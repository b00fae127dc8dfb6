"""The backward pass of the dynamic graph: check first, then sweep, then store the gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add, attrgetter
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.backprop.rules import (
    FREED,
    Contribution,
    contributions,
    freed,
    plain,
    pull_as_followed,
    shape_of,
)
from minigrad.backprop.sweep import sweep
from minigrad.core import Array, as_array, context, events, in_body, silently
from minigrad.core.locks import RunLock
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import here
from minigrad.dynamic.changes import changes
from minigrad.dynamic.hooks import Hook, Hooks, gradient_place, hooked
from minigrad.dynamic.recording import at_once, recording
from minigrad.dynamic.tape import TapeNode

__all__ = ["grad"]

by_order = attrgetter("_order")
accumulating = RunLock()  # passes of several threads may end in one leaf
ONES = {number: number(1) for number in (np.float32, np.float64)}


class BackwardPass:
    """One backward pass: from some outputs to their leaves, or to given targets.

    Everything that can be wrong is looked for before anything is changed. Where the user's own
    functions run in between (hooks, listeners other than recordings), what was saved is dropped
    by `finish`.
    """

    def __init__(self, outputs: Sequence[Any], create_graph: bool) -> None:
        self.outputs, self.create_graph = outputs, create_graph
        heard = events.heard_by() if events.listeners else ()
        # Tensors tell of each kernel, functions written for arrays do not. In the body of a graph
        # tensors are read as nodes.
        self.on_tensors = create_graph or (bool(heard) and not in_body())
        self.may_stop = not all(isinstance(s.listener, events.Recording) for s in heard)
        self.ends = [y.creator for y in outputs]  # asking makes tensors of promises
        self.around: Callable[..., Any] = outputs[0]._around  # a tensor
        self.found: dict[Any, Any] = {}  # gradients by leaf, or by node
        self.retained: list[tuple[Any, Any]] = []  # tensors in the middle that asked for theirs
        self.used: Sequence[TapeNode] = ()  # nodes whose saved values are still to be dropped

    def run(
        self, seeds: Sequence[Any], targets: Sequence[Any] | None, retain_graph: bool
    ) -> dict[Any, Any]:
        """Sweep over the tape once; return gradients by leaf, or by the node of each target."""
        found = self.found
        for y, end, seed in zip(self.outputs, self.ends, seeds, strict=True):
            if not y.requires_grad:
                raise GradientError("no_graph", defined=here())
            key, g = end or y, _seed(y, seed)
            if self.create_graph:
                g = seed if type(seed) is type(y) else self.around(g)
            elif self.on_tensors:
                g = self.around(g)
            found[key] = found[key] + g if key in found else g
        nodes = reachable([end for end in self.ends if end is not None])
        keep: Any = ()
        if targets is not None:
            keep = {gradient_place(x)[0] for x in targets}
            nodes = _dependents(nodes, keep)
        if not (hooked or events.listeners or self.create_graph):
            pull = pull_as_followed if context.now.rules else None
            silently(sweep, nodes, found, not retain_graph, pull, keep)
            return found
        adjust = {n: self._hooks_of(n) for n in nodes if hasattr(n, "_hooks")} if hooked else {}
        drop = not (retain_graph or hooked or self.may_stop)
        self.used = () if retain_graph or drop else nodes
        plainly = pull_as_followed if context.now.rules else None
        pull = self._pull if self.on_tensors else plainly
        with recording(self.create_graph), events.during("backward"), np.errstate(all="ignore"):
            sweep(nodes, found, drop, pull, keep, adjust)
        found.update((key, plain(g)) for key, g in found.items())
        return found

    def finish(self) -> None:
        """Drop what was saved, now that nothing can go wrong any more."""
        for node in self.used:
            node.release()

    def _pull(self, g: Any, node: TapeNode) -> list[Contribution]:
        """Apply the rules to tensors, to record them or to report their kernels."""
        op, sources = node.op, node.sources
        saved = node.saved
        if saved is None:
            raise freed(node)
        rejoin = self._with_history if self.create_graph else self._without_history
        pairs = zip(saved, (node, *sources), strict=True)
        values = [rejoin(value, source, node) for value, source in pairs]
        every = node.pullback.wrt if op.broadcasts else ()
        found = contributions(
            op, node.pullback.wrt, self._tensor(g), values, node.attrs, sources, every
        )
        return [(target, self._tensor(part), i) for target, part, i in found]

    def _tensor(self, g: Any) -> Any:
        """Wrap a gradient in a tensor if it is an array, as from a hook or a call."""
        return g if hasattr(g, "reader") else self.around(g)

    def _with_history(self, value: Any, source: Any, node: TapeNode) -> Any:
        """Return a saved value as a tensor with its history."""
        if hasattr(source, "creator"):  # a leaf
            return source
        if value is None:  # at most its shape is read
            return shape_of(source)
        return self.around(value, source) if isinstance(source, TapeNode) else value

    def _without_history(self, value: Any, source: Any, node: TapeNode) -> Any:
        """Return a saved value as a tensor without history; what a call saved stays as it is."""
        if value is None:
            like = shape_of(source)
            if not hasattr(like, "shape"):
                return like
            value = np.broadcast_to(like.dtype.type(0), like.shape)  # these zeros aren't read
        elif isinstance(value, (int, float)):
            value = node.dtype.type(value)
        return self.around(value) if isinstance(value, (np.ndarray, np.generic)) else value

    # ---- hooks

    def leave(self, leaf: Any, g: Any) -> Any:
        """Return the gradient of a leaf after its hooks."""
        hooks = getattr(leaf, "_hooks", None)
        if hooks is None:
            return g
        with recording(self.create_graph):
            return self.hooked(hooks, g)

    def _hooks_of(self, node: TapeNode) -> Hook:
        """Return a function that runs a node's hooks on its gradient and notes who retains it."""
        hooks: Hooks = node._hooks

        def adjust(g: Any) -> Any:
            g = self.hooked(hooks, g)
            self.retained += [(x, plain(g)) for x in hooks.keepers()]
            return g

        return adjust

    def hooked(self, hooks: Hooks, g: Any) -> Any:
        """Run the hooks on a gradient; each gets a tensor and may return another one."""
        shape = g.shape
        for hook in list(hooks.functions.values()):
            given = g if hasattr(g, "creator") else self.around(g)
            answer = hook(given)
            if answer is None:
                continue
            g = as_array(getattr(answer, "_array", answer), g.dtype, "register_hook")
            if g.shape != shape:
                raise GradientError("hook_shape", found=g.shape, shape=shape, defined=here())
            if self.create_graph:
                g = answer if hasattr(answer, "creator") else self.around(g)
        return g


def _seed(y: Any, seed: Any) -> Array:
    """Return the weights of the elements of an output: 1 for a single number."""
    data = y._array
    if seed is not None:
        given = as_array(getattr(seed, "_array", seed), data.dtype, "backward")
        if given.shape != data.shape:
            raise GradientError("seed_shape", seed=given.shape, shape=y.shape, defined=here())
        return given
    if data.size != 1:
        raise GradientError("scalar_only", shape=y.shape, defined=here())
    if data.shape == ():
        return ONES.get(type(data)) or data.dtype.type(1)
    return np.ones(data.shape, data.dtype)


# ---- Which nodes ------------------------------------------------------------------------------


def reachable(ends: Iterable[TapeNode]) -> list[TapeNode]:
    """Return all nodes these depend on, in recorded order; GradientError if one was freed."""
    nodes = list(dict.fromkeys(ends))
    found = set(nodes)
    latest, note, append = changes.latest, found.add, nodes.append
    for node in nodes:  # which grows meanwhile
        if node._result is FREED:
            raise freed(node)
        if node._order < latest:
            changes.check(node)
        x, count = node._source, node._pullback.count
        if count > 2:
            for x in node._source:
                if type(x) is TapeNode and x not in found:
                    note(x)
                    append(x)
            continue
        if type(x) is TapeNode and x not in found:
            note(x)
            append(x)
        if count == 2:
            x = node._source2
            if type(x) is TapeNode and x not in found:
                note(x)
                append(x)
    nodes.sort(key=by_order)
    return nodes


def _dependents(nodes: Iterable[TapeNode], targets: Iterable[Any]) -> list[TapeNode]:
    """Return the nodes that depend on one of the targets, and the targets."""
    leading = {id(x) for x in targets}
    found = []
    for node in nodes:
        if id(node) in leading or any(id(x) in leading for x in node.sources):
            leading.add(id(node))
            found.append(node)
    return found


# ---- What users call ----------------------------------------------------------------------------


def backward(y: Any, gradient: Any, retain_graph: bool, create_graph: bool) -> None:
    """Add the gradient of a tensor to `.grad` of every leaf it depends on; see Tensor.backward."""
    now = context.now
    if now.active_reader is not None and not in_body():
        with at_once():
            return backward(y, gradient, retain_graph, create_graph)
    if now.rules or create_graph or hooked or events.listeners or not y.requires_grad:
        return _backward_with_care(y, gradient, retain_graph or create_graph, create_graph)
    end = y.creator  # what BackwardPass.run does, without its detours
    found = {end or y: _seed(y, gradient)}
    if end is not None:
        nodes = reachable((end,))
        silently(y.reader.sweep, nodes, found, not retain_graph)
    with accumulating:
        for x, part in zip(found, _copy_shared(found.values()), strict=True):
            before = x._grad
            total = part if before is None else silently(add, before._array, part)
            x._grad = x._around(total)


def _swap_gradient(x: Any, before: Any, now: Any) -> bool:
    """Replace the old gradient by the new one, unless another thread did so meanwhile."""
    same: bool = x.grad is before
    if same:
        x.grad = now
    return same


def _backward_with_care(y: Any, gradient: Any, retain_graph: bool, create_graph: bool) -> None:
    """Run backward when the user's functions run in between or the pass itself is recorded."""
    walk = BackwardPass([y], create_graph)
    found = walk.run([gradient], None, retain_graph)
    parts = [walk.leave(x, g) for x, g in found.items()]
    receivers = [*found, *(x for x, _ in walk.retained)]
    parts += [g for _, g in walk.retained]
    for x, part in zip(receivers, _copy_shared(parts), strict=True):
        g = part if hasattr(part, "creator") else walk.around(part)
        done = False
        while not done:  # the addition may tell listeners, who are free to do what they like
            before = x.grad
            with recording(create_graph), events.during("backward"):
                total = g if before is None else before + g
            done = accumulating.run(_swap_gradient, x, before, total)
    walk.finish()


def grad(
    outputs: Any,
    inputs: Any = None,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> Any:
    """Return the gradients of `outputs` with respect to `inputs` without accumulating them.

    One tensor for `inputs` gives one tensor, a list gives a list. `outputs` are results, not the
    function that computes them (as in jax.grad): ArgumentError. (torch.autograd.grad.)

    >>> import minigrad as mg
    >>> x = mg.tensor(3.0, requires_grad=True)
    >>> (dx,) = mg.grad(x * x * x, [x], create_graph=True)
    >>> mg.grad(dx, [x])[0].item()
    18.0
    """
    if inputs is None and callable(outputs):
        raise refuse("grad", "outputs", outputs, fill("expect_called"))
    if context.now.active_reader is not None and not in_body():
        with at_once():
            options = retain_graph, create_graph, allow_unused
            return grad(outputs, inputs, grad_outputs, *options)
    ys = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    many = isinstance(inputs, (list, tuple))
    xs = list(inputs) if many else [inputs]
    for name, x in (*(("outputs", y) for y in ys), *(("inputs", x) for x in xs)):
        if not hasattr(type(x), "reader"):
            raise refuse("grad", name, x, fill("expect_tensors"))
    seeds = grad_outputs if isinstance(grad_outputs, (list, tuple)) else [grad_outputs] * len(ys)
    if len(seeds) != len(ys) or not ys:
        raise refuse("grad", "grad_outputs", grad_outputs, fill("expect_as_many", count=len(ys)))
    builder = next((y.reader for y in ys if hasattr(y.reader, "gradients")), None)
    if builder is not None:  # nodes, while a function is traced
        result = [*builder.gradients(ys, xs, list(seeds))]
    else:
        retain = create_graph if retain_graph is None else retain_graph
        result = _gradients_of(ys, xs, seeds, retain, create_graph)
    for x, g in zip(xs, result, strict=True):
        if g is None and not allow_unused:
            raise GradientError("not_connected", name=x.name or "this input", defined=here())
    return result if many else result[0]


def _gradients_of(
    ys: list[Any], xs: list[Any], seeds: Sequence[Any], retain: bool, create_graph: bool
) -> list[Any]:
    walk = BackwardPass(ys, create_graph)
    found = walk.run(list(seeds), xs, retain)
    result = []
    for x in xs:
        place, row = gradient_place(x)
        g = found.get(place)
        if g is not None and row is not None:
            g = ops.pick_rows(g, rows=(row,))
        if g is not None and hooked and x.creator is None:
            g = walk.leave(x, g)
        result.append(g)
    walk.finish()
    parts = _copy_shared(result)
    return [g if g is None or hasattr(g, "creator") else walk.around(g) for g in parts]


def _copy_shared(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield gradients that share no memory with each other or with a larger array."""
    seen: set[int] = set()
    for g in parts:
        if isinstance(g, np.ndarray):
            yield g.copy() if g.base is not None or id(g) in seen else g
            seen.add(id(g))
        else:
            yield g
