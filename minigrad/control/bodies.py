"""The bodies of control flow: functions built once into graphs, whose ends fit together."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import (
    Dim,
    Dtype,
    Spec,
    as_array,
    fits,
    is_weak,
    promote,
    public_shape,
    show_shape,
    weak_dtype,
)
from minigrad.core.structure import flatten, rebuild
from minigrad.diagnostics.errors import ControlFlowError, ShapeError
from minigrad.diagnostics.source import here
from minigrad.static import Body, Graph, Node, number_behind


def call_unpacked(f: Callable[..., Any], state: Any) -> Any:
    """Call f(*state) if f takes that many parameters, f(state) if it takes one."""
    result = f(*_unpack_arguments(f, state))
    if isinstance(state, list) and type(result) is tuple:
        return list(result)
    return tuple(result) if isinstance(state, tuple) and isinstance(result, list) else result


def _unpack_arguments(f: Callable[..., Any], state: Any) -> tuple[Any, ...]:
    """Return the arguments for f: a tuple is unpacked if f takes its parts; so is a list."""
    if not isinstance(state, (tuple, list)) or hasattr(state, "_fields"):
        return (state,)
    ways = [(state,), tuple(state)]
    likely, other = ways if isinstance(state, list) else reversed(ways)
    try:
        inspect.signature(f).bind(*likely)
    except TypeError:
        return other
    except ValueError:  # a built-in function tells nothing of its parameters
        pass
    return likely


def argument_names(f: Callable[..., Any], skeleton: Any, count: int) -> list[str]:
    """Return the names of f's values: x, state[0]; arg0, arg1, … if f has none for them.

    A function that is written by a program may say so in its attribute `argument_names`.
    """
    found = getattr(f, "argument_names", None)
    if found is None:
        try:
            parameters = list(inspect.signature(f).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        named = [
            p.name if p.name.strip("_") else f"arg{i}"
            for i, p in enumerate(parameters)
            if p.kind in _NAMED
        ]
        given = _unpack_arguments(f, skeleton)
        whole = len(named) == len(parameters) == len(given)
        pairs = zip(named, given, strict=True) if whole else ()
        found = [place for name, part in pairs for place in _leaf_paths(name, part)]
    return [*found, *(f"arg{i}" for i in range(len(found), count))]


_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _leaf_paths(name: str, tree: Any) -> list[str]:
    """Return the place of each value in a structure, in the order of `flatten`."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        parts = [(f"{name}[{key!r}]", x) for key, x in tree.items()]
    elif hasattr(tree, "_fields"):
        parts = [(f"{name}.{key}", x) for key, x in zip(tree._fields, tree, strict=True)]
    elif isinstance(tree, (list, tuple)):
        parts = [(f"{name}[{i}]", x) for i, x in enumerate(tree)]
    else:
        return [name]
    return [place for part, x in parts for place in _leaf_paths(part, x)]


@dataclass
class BuiltBody:
    """A body under construction: its graph, the results of the function, their arrangement."""

    body: Body
    results: list[Any]
    arrangement: Any


def build_body(
    graph: Graph | None,
    f: Callable[..., Any],
    skeleton: Any,
    specs: Sequence[Spec],
    numbers: Collection[int] = (),
) -> BuiltBody:
    """Call f with stand-ins of these specs, and keep what it builds and returns.

    numbers: the positions of those that begin as Python numbers.
    """
    body = Body(graph)
    with body:
        names = argument_names(f, skeleton, len(specs))
        body.inputs = tuple(
            body.input({"shape": s.shape, "dtype": s.dtype}, name)
            for s, name in zip(specs, names, strict=True)
        )
        body.numbers = {body.inputs[i]: specs[i].dtype for i in numbers}
        results, arrangement = flatten(call_unpacked(f, rebuild(skeleton, body.inputs)))
        lifted = [x if is_weak(x) else body.lift(x) for x in results]
    return BuiltBody(body, lifted, arrangement)


def unify_branches(built: list[BuiltBody]) -> tuple[list[Body], Any]:
    """Make the results of two branches fit; a Python number takes the other's type."""
    one, other = built
    if one.arrangement != other.arrangement:
        raise ControlFlowError(
            "branch_arrangement",
            op="cond",
            true=_describe(one),
            false=_describe(other),
            defined=here(),
        )
    for i, (a, b) in enumerate(zip(one.results, other.results, strict=True)):
        kinds = [own_dtype(x) for x in (a, b)]
        one.results[i], other.results[i] = (
            as_cast_node(one.body, a, kinds[1]),
            as_cast_node(other.body, b, kinds[0]),
        )
    for i, (a, b) in enumerate(zip(one.results, other.results, strict=True)):
        if a.dtype != b.dtype:
            raise ControlFlowError(
                "branch_types", op="cond", index=i, true=a.dtype, false=b.dtype, defined=here()
            )
    for branch in built:
        branch.body.outputs = tuple(branch.results)
    return [branch.body for branch in built], one.arrangement


def own_dtype(x: Any) -> Dtype:
    """Return the data type of a value; for a Python number its default one."""
    dtype: Dtype = (as_array(x, None, "cond") if is_weak(x) else x).dtype
    return dtype


def is_from_python(x: Any) -> bool:
    """Return whether this is a Python number, or a loop state that starts from one."""
    return is_weak(x) or number_behind(x) is not None


def python_state_of(x: Any, y: Any) -> Node | None:
    """Return the state behind one of two branch results that both come from Python numbers."""
    found = [number_behind(x), number_behind(y)] if is_from_python(x) and is_from_python(y) else []
    return next((state for state in found if state is not None), None)


def combined_dtype(x: Any, dtype: Dtype) -> Dtype:
    """Return the data type of x combined with one of `dtype`: its own, unless from Python.

    A Python number takes what can hold it; the state of a loop, what says no less than its own.
    """
    own = own_dtype(x)
    if is_weak(x):
        taken = weak_dtype(own, dtype)
        return taken if _can_hold(taken, x) else own
    wider = own.kind == dtype.kind and promote(own, dtype) == dtype
    return dtype if wider and is_from_python(x) else own


def as_cast_node(graph: Graph, x: Any, dtype: Dtype) -> Node:
    """Return x as a node, cast to the data type that it takes combined with this one."""
    taken = combined_dtype(x, dtype)
    state = number_behind(x)
    if state is None or taken == x.dtype:
        return graph.lift(x, taken)
    state.graph.numbers[state] = taken
    with graph:
        cast: Node = ops.cast(x, dtype=taken)
    return cast


def _can_hold(dtype: Dtype, number: float) -> bool:
    if dtype.kind not in "iu":
        return True
    about = np.iinfo(dtype)
    return about.min <= number <= about.max


def _describe(built: BuiltBody) -> str:
    shapes = [show_shape(x.shape) if isinstance(x, Node) else repr(x) for x in built.results]
    return f"{len(shapes)}: {', '.join(shapes)}"


def share_captures(bodies: Sequence[Body], arguments: int) -> list[Node]:
    """Give all bodies the same inputs: their arguments, then whatever any of them captured."""
    sources: dict[int, Any] = {}
    for body in bodies:
        sources.update((id(source), source) for source in body.captures.values())
    for body in bodies:
        stand_in = {id(source): node for node, source in body.captures.items()}
        extra = [
            stand_in[key]
            if key in stand_in
            else body.input({"shape": source.spec.shape, "dtype": source.dtype}, source.name)
            for key, source in sources.items()
        ]
        body.finish((*body.inputs[:arguments], *extra), body.outputs)
    return list(sources.values())


def build_loop_body(
    graph: Graph,
    who: str,
    body_fn: Callable[..., Any],
    leaves: Sequence[Any],
    skeleton: Any,
    slices: Sequence[Spec] = (),
    arrangement: Any = None,
) -> tuple[list[Node], list[Spec], Body]:
    """Build a loop's body; return the initial state's nodes, the state's specs and the body.

    The body is built again as long as what it returns says less of the state than was assumed.
    """
    carried = [graph.lift(x) for x in leaves]
    specs = [Spec(x.spec.shape, x.dtype) for x in carried]
    free: set[Dim] = set()  # lengths that may change from step to step
    numbers = [i for i, x in enumerate(leaves) if is_from_python(x)]
    taken = (skeleton, arrangement) if who == "scan" else skeleton
    while True:
        built = build_body(graph, body_fn, taken, [*specs, *slices], numbers)
        given = built.arrangement[0] if who == "scan" else built.arrangement
        if given != skeleton:
            raise ControlFlowError("loop_arrangement", op=who, defined=here())
        results = _loop_results(built, specs)
        requested = [built.body.numbers.get(x, x.dtype) for x in built.body.inputs]
        rows = zip(specs, results, leaves, requested, strict=False)  # a scan has more results
        wider = [_merge_state_spec(who, i, *row, free) for i, row in enumerate(rows)]
        if wider == specs:
            built.body.outputs = tuple(results)
            return carried, specs, built.body
        for i, spec in enumerate(wider):
            if spec.dtype != carried[i].dtype:
                carried[i] = as_cast_node(graph, leaves[i], spec.dtype)
        specs = wider


def _loop_results(built: BuiltBody, specs: Sequence[Spec]) -> list[Node]:
    """Return the results as nodes; a Python number takes the state's dtype if it fits."""
    states = [spec.dtype for spec in specs]
    outputs = [own_dtype(x) for x in built.results[len(specs) :]]
    rows = zip(built.results, [*states, *outputs], strict=True)
    return [as_cast_node(built.body, x, dtype) for x, dtype in rows]


def _merge_state_spec(
    who: str, i: int, spec: Spec, result: Node, start: Any, requested: Dtype, free: set[Dim]
) -> Spec:
    """Return the spec of a state that is `spec` before a step and `result` after it.

    requested: the data type that it is to have within the step.
    """
    shape, after = spec.shape, result.spec.shape
    about: dict[str, Any] = {"op": who, "index": i, "defined": here()}
    dtype = requested if result.dtype == spec.dtype else result.dtype
    # Another data type is possible where the state begins as a Python number.
    common = {combined_dtype(start, dtype), promote(spec.dtype, dtype)}
    if dtype != spec.dtype and common != {dtype}:
        raise ControlFlowError("loop_type", before=spec.dtype, after=dtype, **about)
    if shape is None or after is None:
        return Spec(None, dtype)
    if not fits(after, shape):
        before = show_shape(public_shape(shape))
        raise ShapeError("loop_shape", before=before, after=show_shape(result.shape), **about)
    lengths = [m if m == n or m in free else Dim() for m, n in zip(shape, after, strict=True)]
    free.update(m for m in lengths if isinstance(m, Dim) and m not in shape)
    return Spec(tuple(lengths), dtype)
