"""The functions that rewritten code calls: Python decides where it can, else the graph.

Each function looks at the values it is given. Python values and tensors decide at once, as the
statement would have done; a node becomes the condition of a branch or a loop in the graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import control, ops
from minigrad.control.bodies import BuiltBody
from minigrad.core import is_weak
from minigrad.core.structure import transform
from minigrad.diagnostics.errors import ScriptError
from minigrad.diagnostics.source import here
from minigrad.hybrid.scripting.carry import State, name_errors
from minigrad.hybrid.scripting.merging import Merge
from minigrad.hybrid.scripting.missing import Falsy
from minigrad.hybrid.scripting.regions import build_region, note_lost_names
from minigrad.static import Body, Node, graph_of, has_effect

is_symbolic = control.is_symbolic


# ---- Branches -----------------------------------------------------------------------------------


def if_(
    test: Any,
    then: Callable[..., Any],
    orelse: Callable[..., Any],
    gives: str = "",
    takes: State = (),
) -> Any:
    """Run one function or the other; return its values for the variables `gives`."""
    try:
        if not is_symbolic(test):
            return (then if test else orelse)(*takes)
        return branch(test, then, orelse, split_names(gives), takes)
    except Exception as error:
        note_lost_names(error, gives)
        raise


def branch(
    test: Any,
    then: Callable[..., Any],
    orelse: Callable[..., Any],
    names: Sequence[str],
    takes: State = (),
) -> State:
    """Build both functions as branches of one node; equal results stay Python values."""
    pred = expect_single(test, "if")
    bodies, ways = [], []
    for f in (then, orelse):
        body = Body(pred.graph)
        with body, build_region(f):
            ways.append(f(*map(_copy_container, takes)) or ())
        bodies.append(body)
    merge = Merge(names, *ways)
    values = [_as_condition(pred, *pair) for pair in merge.outputs]
    rest = [pair for pair, value in zip(merge.outputs, values, strict=True) if value is None]
    owners = [o for o, value in zip(merge.owners, values, strict=True) if value is None]
    chosen = iter(_select_branch(pred, bodies, rest, owners))
    return merge.result([next(chosen) if value is None else value for value in values])


def _copy_container(x: Any) -> Any:
    """Copy a list or dict, so that this branch may change it in place."""
    return transform(x, lambda leaf: leaf) if type(x) in (list, dict) else x


def _as_condition(pred: Node, x: Any, y: Any) -> Node | None:
    """Return the condition itself if the branches only repeat it."""
    if x is y or type(x) is not bool or type(y) is not bool:
        return None
    decided: Node = _truth(pred) if x else ops.logical_not(pred)
    return decided


def _select_branch(
    pred: Node, bodies: list[Body], pairs: list[tuple[Any, Any]], owners: list[str]
) -> list[Node]:
    """Build a branch that chooses between pairs of numbers; return its values."""
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    built = [
        BuiltBody(body, [x if is_weak(x) else body.lift(x) for x in column], len(column))
        for body, column in zip(bodies, columns, strict=True)
    ]
    if not pairs and not any(has_effect(n) for body in bodies for n in body.nodes):
        return []
    with name_errors("if", owners):
        return control.add_branch(pred.graph, pred, [], built)[0]


def split_names(names: str) -> list[str]:
    return names.split(", ") if names else []


# ---- Expressions --------------------------------------------------------------------------------


def choose(test: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """Evaluate body() if test else orelse(): only one of them runs."""
    if not is_symbolic(test):
        return body() if test else orelse()
    return _branch_value(test, body, orelse, "… if … else …")


def _branch_value(test: Any, body: Callable[[], Any], orelse: Callable[[], Any], name: str) -> Any:
    (value,) = branch(test, _returning_tuple(body), _returning_tuple(orelse), [name])
    return value


def _returning_tuple(f: Callable[[], Any]) -> Callable[[], Any]:
    """Wrap f so that it returns a tuple of its one result."""
    return functools.wraps(f)(lambda: (f(),))


def and_(first: Any, *others: Callable[[], Any]) -> Any:
    """Return the first false operand, else the last; don't run those after it."""
    value, rest = _evaluate_until(first, others, False)
    if not rest:
        return value
    return _branch_value(value, _combine_rest(and_, rest), lambda: Falsy(value), "… and …")


def or_(first: Any, *others: Callable[[], Any]) -> Any:
    """Return the first true operand, else the last; don't run those after it."""
    value, rest = _evaluate_until(first, others, True)
    if not rest:
        return value
    return _branch_value(value, lambda: value, _combine_rest(or_, rest), "… or …")


Later = Sequence[Callable[[], Any]]


def _evaluate_until(value: Any, others: Later, last: bool) -> tuple[Any, Later]:
    """Evaluate operands until one decides, or one whose truth isn't known yet."""
    for k, other in enumerate(others):
        if is_symbolic(value):
            return value, others[k:]
        if bool(value) is last:
            break
        value = other()
    return value, ()


def _combine_rest(combine: Callable[..., Any], rest: Later) -> Callable[[], Any]:
    return functools.wraps(rest[0])(lambda: combine(rest[0](), *rest[1:]))


def not_(x: Any) -> Any:
    """Return whether x is false."""
    return ops.logical_not(expect_single(x, "not")) if is_symbolic(x) else not x


def bool_(x: Any) -> Any:
    """Return whether x is true, for an `or` that only decides."""
    return _truth(expect_single(x, "or")) if is_symbolic(x) else bool(x)


def _truth(x: Node) -> Any:
    return x if x.dtype == np.bool_ else x != 0


def expect_single(x: Any, who: str) -> Node:
    """Return a node that is one value; an error for a tuple of several."""
    node = graph_of(control.COND, [x]).lift(x)
    control.expect_scalar(who, node)
    return node


def match_subject(x: Any) -> Any:
    """Return the subject of `match`, which Python must know."""
    if is_symbolic(x):
        raise ScriptError("script_match", defined=here())
    return x


def assert_(test: Any, message: Callable[[], Any] | None = None) -> None:
    """Check now, or whenever the graph runs."""
    if is_symbolic(test):
        ops.assert_true(test, message=str(message()) if message else "")
    elif not test:
        raise AssertionError(*((message(),) if message else ()))
