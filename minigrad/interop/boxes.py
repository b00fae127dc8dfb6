"""Operators of other systems without a counterpart here: nodes that call the original."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, Attrs, Op, Spec, TupleSpec, into
from minigrad.diagnostics.errors import GradientError
from minigrad.diagnostics.source import here
from minigrad.ops.parts import Parts, output

Call = Callable[..., Sequence[Array]]  # arrays of the operands -> arrays of all results
Pull = Callable[..., Array]  # (position of a result, of an operand, gradient, operands) -> gradient
# (gradients by position of the result, positions of operands, operands) -> a gradient for each
JointPull = Callable[[Mapping[int, Array], Sequence[int], Sequence[Array]], Sequence[Array]]
Title = tuple[str, str]


def opaque_node(
    name: str,
    system: str,
    call: Call,
    pull: Pull,
    operands: Sequence[Any],
    specs: Sequence[Spec],
    passing: Collection[tuple[int, int]] | None = None,
) -> list[Any]:
    """Build a node for each result of another system's operator, which is called at run time.

    Its gradient is the one that the other system computes. passing: from which result to which
    operand a gradient flows, by their positions; None: from each to each.
    """
    made = []
    for i, spec in enumerate(specs):
        to = range(len(operands)) if passing is None else [k for y, k in passing if y == i]
        made.append(_output_op(name, system, call, pull, i, spec, to)(*operands))
    return made


def opaque_call(
    name: str,
    system: str,
    call: Call,
    pull: JointPull | None,
    operands: Sequence[Any],
    specs: Sequence[Spec],
    own_rule: bool = False,
) -> list[Any]:
    """Build one node for another system's operator, whatever number of results it has.

    The other system is called once for all results, and once more for all gradients, which may
    depend on the gradients of several results. Without `pull` there are none. own_rule: it is
    called because its gradient is not that of its parts.
    """

    def back(g: Any, y: Any, *xs: Any, wrt: Sequence[int], **attrs: Any) -> list[Any]:
        found: list[Any] = [None] * len(xs)
        positions = [i for i in wrt if xs[i].dtype.kind in "fc"]
        if pull is not None and positions:
            given = Parts.of(g).parts
            mine = _gradients(name, system, pull, tuple(given), positions, xs)
            parts = output_nodes(mine(*given.values(), *xs), len(positions))
            for i, part in zip(positions, parts, strict=True):
                found[i] = part
        return found

    title = f"no counterpart here: calls {system}", f"这里没有对应的算子：调用 {system}"
    if own_rule:
        title = f"a gradient rule of its own: calls {system}", f"自带梯度规则：调用 {system}"
    read = ", ".join(f"{{{i}}}" for i in range(len(operands)))
    op = _multi_output_op(f"{system}_{name}", call, specs, back, title, f"{system}.{name}({read})")
    return output_nodes(op(*operands), len(specs))


def output_nodes(node: Any, count: int) -> list[Any]:
    """Return a node's results as nodes, given their number."""
    return [node] if count == 1 else [output(node, index=i) for i in range(count)]


def _gradients(
    name: str,
    system: str,
    pull: JointPull,
    results: Sequence[int],
    positions: Sequence[int],
    xs: Sequence[Any],
) -> Op:
    def call(*arrays: Array) -> Sequence[Array]:
        gs, rest = arrays[: len(results)], arrays[len(results) :]
        try:
            return pull(dict(zip(results, gs, strict=True)), positions, rest)
        except Exception as error:  # each operator has its own way to refuse
            said = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
            raise GradientError(
                "box_refused", op=f"{system}.{name}", system=system, reason=said, defined=here()
            ) from error

    specs = [Spec(xs[i].spec.shape, xs[i].dtype) for i in positions]
    title = (f"gradient computed by {system}", f"由 {system} 计算的梯度")
    return _multi_output_op(
        f"{system}_{name}_gradient", call, specs, (), title, f"{system}.{name}′({{0}})"
    )


def _multi_output_op(
    name: str, call: Call, specs: Sequence[Spec], vjp: Any, title: Title, formula: str
) -> Op:
    def kernel(out: Array | None, *arrays: Array, **attrs: Any) -> Any:
        found = [np.asarray(y)[()] for y in call(*arrays)]
        return into(out, found[0]) if len(specs) == 1 else tuple(found)

    return Op(
        name.replace(".", "_"),
        shape=_no_shape_rule,
        run=kernel,
        vjp=vjp,
        infer=lambda given, attrs: TupleSpec.of(specs),
        inputs=None,
        title=title,
        formula=formula,
    )


def _output_op(
    name: str, system: str, call: Call, pull: Pull, index: int, spec: Spec, to: Collection[int]
) -> Op:
    def infer(specs: Sequence[Spec], attrs: Attrs) -> Spec:
        return spec

    def kernel(out: Array | None, *arrays: Array, **attrs: Any) -> Array:
        return into(out, np.asarray(call(*arrays)[index])[()])

    def back(g: Any, y: Any, *xs: Any, wrt: Sequence[int], **attrs: Any) -> list[Any]:
        found: list[Any] = [None] * len(xs)
        for i in wrt:
            if xs[i].dtype.kind in "fc" and i in to:
                found[i] = _gradient_op(name, system, pull, index, i)(g, *xs)
        return found

    return Op(
        f"{system}_{name}".replace(".", "_"),
        shape=_no_shape_rule,
        run=kernel,
        vjp=back,
        infer=infer,
        inputs=None,
        title=(f"no counterpart here: calls {system}", f"这里没有对应的算子：调用 {system}"),
        formula=f"{system}.{name}({{0}})",
    )


def failed_op(name: str, system: str) -> Op:
    """Return a drawable operator for a call of another system that could not run."""

    def nothing(*operands: Any, **attrs: Any) -> Any:
        raise RuntimeError(f"{system} cannot run {name}: its node is there to be drawn")

    return Op(
        f"{system}_{name}".replace(".", "_"),
        shape=_no_shape_rule,
        run=nothing,
        infer=nothing,
        inputs=None,
        title=(f"{system} cannot run this", f"{system} 无法运行这一步"),
    )


def _gradient_op(name: str, system: str, pull: Pull, index: int, position: int) -> Op:
    def infer(specs: Sequence[Spec], attrs: Attrs) -> Spec:
        return specs[1 + position]

    def kernel(out: Array | None, g: Array, *arrays: Array, **attrs: Any) -> Array:
        return into(out, np.asarray(pull(index, position, g, arrays))[()])

    return Op(
        f"{system}_{name}_gradient".replace(".", "_"),
        shape=_no_shape_rule,
        run=kernel,
        infer=infer,
        inputs=None,
        title=(f"gradient computed by {system}", f"由 {system} 计算的梯度"),
        formula=f"{system}.{name}′({{0}})",
    )


def _no_shape_rule(*shapes: Any, **attrs: Any) -> None:
    """Return None: `infer` computes the shape."""
    return None
