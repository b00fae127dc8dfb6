"""Control flow inside the graph: branches and loops are nodes that hold graphs of their own.

Each function here has two readings. Where the condition is a value (a dynamic graph), Python
decides and loops, and the tape sees what ran. Where it is a node, the functions are built once
into bodies, and one node holds them: both branches are in the graph, and one runs.

The records stand here and not in `ops`, because their gradient rules build with these functions:
the gradient of a branch is a branch, the gradient of a loop is a scan that runs backwards.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.control.bodies import (
    BuiltBody,
    build_body,
    build_loop_body,
    python_state_of,
    share_captures,
    unify_branches,
)
from minigrad.control.dynamic import eager_scan, eager_while, expect_pair
from minigrad.control.specs import cond_spec, scan_spec, step_spec, while_spec
from minigrad.core import Attrs, Dim, Op, Spec, TupleSpec, operator, show_shape
from minigrad.core.structure import LEAF, flatten, rebuild
from minigrad.diagnostics.arguments import function, whole
from minigrad.diagnostics.errors import ControlFlowError, GraphError, ShapeError, VerifyError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.ops.parts import Parts, output
from minigrad.static import Body, Graph, Node, ancestors, get_default_graph, graph_of
from minigrad.static.gradients import gradients

__all__ = [
    "COND",
    "HISTORY",
    "SCAN",
    "WHILE",
    "add_branch",
    "add_loop",
    "cond",
    "expect_scalar",
    "is_symbolic",
    "scan",
    "slice_spec",
    "while_loop",
    "zeros_like",
]

# ---- What the user calls ------------------------------------------------------------------------


def cond(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any
) -> Any:
    """Return true_fn(*operands) if `pred` is true, else false_fn(*operands).

    pred: a single bool or number. A tensor decides at once; a node puts both branches into the
    graph, of which one runs. Both must return the same arrangement of values of the same data
    types. Values from around may be used inside. (tf.cond, jax.lax.cond.)

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=())
    >>> y = mg.cond(x > 0, lambda: 2 * x, lambda: x - 1)
    >>> [float(mg.run(mg.build_graph(x, y), {x: v})) for v in (3, -3)]
    [6.0, -4.0]
    """
    function("cond", "true_fn", true_fn)
    function("cond", "false_fn", false_fn)
    if isinstance(pred, (list, tuple)):  # true in Python, whatever is in it
        raise ShapeError("one_bool", op="cond", shape=(len(pred),), defined=here())
    if not is_symbolic(pred):
        return (true_fn if bool(pred) else false_fn)(*operands)
    graph = graph_of(COND, [pred])
    pred = graph.lift(pred, who="cond")
    expect_scalar("cond", pred)
    leaves, skeleton = flatten(operands)
    nodes = [graph.lift(x, who="cond") for x in leaves]
    specs = [x.spec for x in nodes]
    built = [build_body(graph, f, skeleton, specs) for f in (true_fn, false_fn)]
    values, arrangement = add_branch(graph, pred, nodes, built)
    return rebuild(arrangement, values)


def while_loop(
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    init: Any,
    max_steps: int | None = None,
) -> Any:
    """Repeat `body_fn` while `cond_fn` is true; return the state after the last step.

    init: the state, one value, a tuple or a list; both functions take it (spread out, if they have
    as many parameters) and `body_fn` returns the next one in the same arrangement, with the same
    shapes and data types. max_steps: stop after so many steps in any case. (tf.while_loop,
    jax.lax.while_loop.)

    >>> import minigrad as mg
    >>> n = mg.placeholder("n", shape=(), dtype=mg.int64)
    >>> i, y = mg.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2), (0, 1.0))
    >>> float(mg.run(mg.build_graph(n, y), {n: 10}))
    1024.0
    """
    function("while_loop", "cond_fn", cond_fn)
    function("while_loop", "body_fn", body_fn)
    if max_steps is not None:
        whole("while_loop", "max_steps", max_steps, most=None)
    leaves, skeleton = flatten(init)
    nodes = _nodes_in(leaves, cond_fn, body_fn)
    try:
        if not nodes and not _in_body():
            return eager_while(cond_fn, body_fn, init, max_steps, skeleton)
        return add_loop(graph_of(WHILE, nodes), cond_fn, body_fn, init, max_steps)
    except TypeError as error:
        if _is_list_error(error) and isinstance(init, list) and len(init) == 1:
            raise ControlFlowError("loop_list_of_one", op="while_loop", defined=here()) from error
        raise


def _is_list_error(error: TypeError) -> bool:
    """Return whether an operation met a list where it takes a number."""
    if isinstance(error, GraphError):
        return error.key == "not_numeric"
    return "list" in str(error)


def add_branch(
    graph: Graph, pred: Node, nodes: Sequence[Node], built: list[BuiltBody]
) -> tuple[list[Node], Any]:
    """Make one node of two branches; return its values and their arrangement."""
    states = [python_state_of(*pair) for pair in zip(*(x.results for x in built), strict=False)]
    bodies, arrangement = unify_branches(built)
    captured = share_captures(bodies, len(nodes))
    attrs = {"then": bodies[0], "orelse": bodies[1]}
    values = _single_values(graph.add(COND, (pred, *nodes, *captured), attrs))
    if isinstance(graph, Body):
        pairs = zip(values, states, strict=True)
        graph.choices.update((y, state) for y, state in pairs if state is not None)
    return values, arrangement


def add_loop(
    graph: Graph,
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    init: Any,
    max_steps: int | None = None,
) -> Any:
    """Build a `while_loop` in this graph, whatever its state starts from."""
    leaves, skeleton = flatten(init)
    carried, specs, body = build_loop_body(graph, "while_loop", body_fn, leaves, skeleton)
    test = build_body(graph, cond_fn, skeleton, specs)
    results = [test.body.lift(x) for x in test.results]
    if test.arrangement is not LEAF:
        raise ControlFlowError("loop_condition", op="while_loop", defined=here())
    expect_scalar("while_loop", results[0])
    test.body.outputs = tuple(results)
    captured = share_captures([test.body, body], len(carried))
    attrs = {"test": test.body, "body": body, "carries": len(carried), "max_steps": max_steps}
    return rebuild(skeleton, _single_values(graph.add(WHILE, (*carried, *captured), attrs)))


def scan(
    step_fn: Callable[[Any, Any], Any], init: Any, xs: Any, reverse: bool = False
) -> tuple[Any, Any]:
    """Scan along the first axis of `xs` with a state: step_fn(carry, x) -> (carry, y).

    Returns the last carry, and all y stacked along a new first axis (None where step_fn returns
    None for y). init, xs and y: one value or nested tuples, lists, dicts; all xs of one length,
    which may be open. reverse: from the last x to the first. (jax.lax.scan, tf.scan.)

    >>> import minigrad as mg
    >>> last, sums = mg.scan(lambda s, x: (s + x, s + x), 0.0, mg.tensor([1.0, 2.0, 3.0]))
    >>> sums.tolist()
    [1.0, 3.0, 6.0]
    """
    function("scan", "step_fn", step_fn)
    carries, skeleton = flatten(init)
    sequences, arrangement = flatten(xs)
    nodes = _nodes_in([*carries, *sequences], step_fn)
    if not nodes and not _in_body():
        return eager_scan(step_fn, init, sequences, arrangement, reverse)
    graph = graph_of(SCAN, nodes)
    lifted = [graph.lift(x) for x in sequences]
    stacked: list[Any] = []

    @functools.wraps(step_fn)
    def body_fn(carry: Any, x: Any) -> Any:
        new, y = expect_pair(step_fn(carry, x))
        leaves, stacked[:] = _with_arrangement(y)
        return new, leaves

    carried, _, body = build_loop_body(
        graph, "scan", body_fn, carries, skeleton, [slice_spec(x) for x in lifted], arrangement
    )
    n, m = len(carried), len(lifted)
    captured = share_captures([body], n + m)
    attrs = {"body": body, "carries": n, "sequences": m, "reverse": reverse}
    values = _single_values(graph.add(SCAN, (*carried, *lifted, *captured), attrs))
    return rebuild(skeleton, values[:n]), rebuild(stacked[0], values[n:])


# ---- Values or nodes ----------------------------------------------------------------------------


def is_symbolic(x: Any) -> bool:
    """Return whether x has no value yet; inside a body even a tensor gets a stand-in."""
    return isinstance(x, Node) or (isinstance(x, Tensor) and _in_body())


def _in_body() -> bool:
    return isinstance(get_default_graph(), Body)


def _nodes_in(values: Sequence[Any], *functions: Callable[..., Any]) -> list[Node]:
    """Return the nodes among these values and among the functions' captured values."""
    seen = [x for f in functions for x in _captured_values(f)]
    return [x for x in (*values, *seen) if isinstance(x, Node)]


def _captured_values(f: Callable[..., Any]) -> list[Any]:
    """Return the values of the names that a function uses but doesn't define."""
    try:
        names = inspect.getclosurevars(f)
    except TypeError:  # not written in Python
        return []
    return [*names.nonlocals.values(), *names.globals.values()]


def _with_arrangement(y: Any) -> tuple[list[Any], list[Any]]:
    leaves, arrangement = flatten(y)
    return leaves, [arrangement]


def expect_scalar(who: str, pred: Node) -> None:
    if pred.spec.shape not in ((), None):
        raise ShapeError("one_bool", op=who, shape=show_shape(pred.shape), defined=here())


def slice_spec(x: Node) -> Spec:
    if x.spec.shape == ():
        raise ShapeError("rank", op="scan", expected="1 axis or more", shape=(), defined=here())
    return step_spec(x.spec)


def _single_values(node: Node) -> list[Node]:
    """Return the single values of a node that may have several."""
    if not isinstance(node.spec, TupleSpec):
        return [node]
    return [node.graph.add(output, (node,), {"index": i}) for i in range(len(node.spec.parts))]


# ---- The records --------------------------------------------------------------------------------


def _cond_gradient(
    g: Any, y: Any, pred: Any, *xs: Any, wrt: Sequence[int], then: Graph, orelse: Graph
) -> list[Any]:
    """Build the gradient of the branch taken, as a branch on the same condition."""
    bodies, gs = (then, orelse), Parts.of(g).parts
    targets = [i - 1 for i in wrt if _gradient_flows(bodies, i - 1)]
    result: list[Any] = [None] * (len(xs) + 1)
    if not targets:
        return result

    def gradient_of(body: Graph) -> Callable[..., Any]:
        def branch(*values: Any) -> Any:
            inputs, seeds = values[: len(xs)], dict(zip(gs, values[len(xs) :], strict=True))
            return _pull_back(body, inputs, targets, seeds)

        return branch

    found = cond(pred, gradient_of(then), gradient_of(orelse), *xs, *gs.values())
    for i, part in zip(targets, found, strict=True):
        result[i + 1] = part
    return result


def _loop_gradient(
    g: Any,
    y: Any,
    *xs: Any,
    wrt: Sequence[int],
    body: Graph,
    carries: int,
    sequences: int = 0,
    reverse: bool = False,
    **rest: Any,
) -> list[Any]:
    """Build the gradient of a loop: a scan over its states, from the last to the first.

    What is carried is the gradient of the state and the sum of the gradients of what the body
    captured; each step adds the product of the body's own derivative.
    """
    n, m, gs = carries, sequences, Parts.of(g).parts
    floats = [i for i in range(n) if body.inputs[i].dtype.kind == "f"]
    captured = [i for i in wrt if i >= n + m and _gradient_flows([body], i)]
    sliced = [i for i in wrt if n <= i < n + m and _gradient_flows([body], i)]
    states = [y.graph.add(HISTORY, (y,), _state_history(body, i)) for i in range(n)]
    values = _single_values(y)
    start = [gs[i] if i in gs else zeros_like(values[i]) for i in floats]
    totals = [zeros_like(xs[i]) for i in captured]
    ys = {i: part for i, part in gs.items() if isinstance(i, int) and i >= n}
    pasts = {key[1]: part for key, part in gs.items() if isinstance(key, tuple)}

    def step(*carry_and_x: Any) -> Any:
        (after, sums), (state, slices, upstream, past) = carry_and_x
        inner = get_default_graph()
        inputs = [*state, *slices, *(inner.lift(z) for z in xs[n + m :])]
        seeds = dict(zip([*floats, *ys], [*after, *upstream], strict=True))
        found = _pull_back(body, inputs, [*floats, *captured, *sliced], seeds)
        before = found[: len(floats)]
        for i, part in zip(pasts, past, strict=True):
            before[floats.index(i)] = before[floats.index(i)] + part
        parts = found[len(floats) : len(floats) + len(captured)]
        added = [total + part for total, part in zip(sums, parts, strict=True)]
        return (before, added), found[len(floats) + len(captured) :]

    over = (states, list(xs[n : n + m]), list(ys.values()), list(pasts.values()))
    (first, sums), along = scan(step, (start, totals), over, reverse=not reverse)
    result: list[Any] = [None] * len(xs)
    for i, part in zip([*floats, *captured, *sliced], [*first, *sums, *along], strict=True):
        result[i] = part
    return result


def _gradient_flows(bodies: Sequence[Graph], i: int) -> bool:
    """Return whether a gradient can flow to input i of any of these bodies."""
    return i >= 0 and any(
        b.inputs[i].dtype.kind == "f" and b.inputs[i] in set(ancestors(b.outputs)) for b in bodies
    )


def _pull_back(
    body: Graph, inputs: Sequence[Any], targets: Sequence[int], seeds: dict[int, Any]
) -> list[Any]:
    """Build the body again here, with the gradients of its outputs for some inputs."""
    graph = get_default_graph()
    nodes = [ops.identity(graph.lift(x)) for x in inputs]  # one input may stand in two places
    outputs = graph.inline(body, nodes, effects=False)
    pairs = [(outputs[i], seed) for i, seed in seeds.items()]
    xs = [nodes[i] for i in targets]
    found: list[Any] = [None] * len(targets)
    if pairs:
        found = gradients([y for y, _ in pairs], xs, [seed for _, seed in pairs])
    return [zeros_like(x) if g is None else g for x, g in zip(xs, found, strict=True)]


def _state_history(body: Graph, i: int) -> Attrs:
    x = body.inputs[i]
    shape = None if x.spec.shape is None else (Dim(), *x.spec.shape)
    return {"index": i, "shape": shape, "dtype": x.dtype}


def zeros_like(x: Any) -> Any:
    return ops.broadcast_like(np.zeros((), x.dtype), x)


def _run_by_executors(out: Any, *arrays: Any, **attrs: Any) -> Any:
    raise VerifyError("no_kernel")


def _control_operator(name: str, title: tuple[str, str], formula: str, infer: Any, vjp: Any) -> Op:
    return operator(
        name,
        shape=lambda *shapes, **attrs: None,
        infer=infer,
        run=_run_by_executors,
        vjp=vjp,
        inputs=None,
        effect=True,
        title=title,
        formula=formula,
    )


COND = _control_operator(
    "Cond", ("conditional branch", "条件分支"), "cond({0}, then, else)", cond_spec, _cond_gradient
)
WHILE = _control_operator(
    "While",
    ("loop while a condition holds", "条件循环"),
    "body({0}, …) while test",
    while_spec,
    _loop_gradient,
)
SCAN = _control_operator(
    "Scan",
    ("loop along the first axis", "沿第一个轴的循环"),
    "scan({0}, …)",
    scan_spec,
    _loop_gradient,
)
HISTORY = _control_operator(
    "History",
    ("all states a loop went through", "循环经过的所有状态"),
    "states({0})",
    lambda specs, attrs: Spec(attrs["shape"], attrs["dtype"]),
    (lambda g, y, loop, index, **attrs: Parts({("history", index): g}),),
)
