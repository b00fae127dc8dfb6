"""A JAX function, captured once by `jax.make_jaxpr` and read equation by equation."""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.control import cond
from minigrad.core import Array, Spec
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import INSIDE, SavedLine, here
from minigrad.interop.boxes import box
from minigrad.interop.captured import Builder, Captured, Line, seed, users
from minigrad.interop.jax.primitives import NAMED, PRIMITIVES
from minigrad.static import Node

SYSTEM = "JAX"


def belongs(obj: Any, inputs: Sequence[Any]) -> bool:
    """Whether this is JAX's: a compiled function, or one of its arrays. Nothing is imported."""
    jax: Any = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "Array") or not callable(obj):
        return False
    leaves = jax.tree_util.tree_leaves(tuple(inputs))
    return isinstance(obj, jax.stages.Wrapped) or any(isinstance(x, jax.Array) for x in leaves)


def capture(function: Any, inputs: Sequence[Any]) -> Captured:
    """A graph of ours that computes what a JAX function does, for such inputs.

    Arrays in containers are taken for parameters: they are variables, named by their keys. Loops
    of `lax.scan` are unrolled. TraceError for a function that JAX cannot capture.
    """
    jax: Any = sys.modules["jax"]
    try:
        closed = jax.make_jaxpr(function)(*inputs)
    except (TypeError, ValueError, IndexError, RuntimeError) as error:  # what it finds in there
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise TraceError("capture", system=SYSTEM, reason=reason[:300], ran=here()) from error
    named = dict(_named(jax, function, inputs))
    values, found = _original(jax, function, inputs, [*named])
    builder = Builder()
    reader = Reader(jax, builder)
    given = [reader.given(name, path, x) for name, (path, x) in named.items()]
    outputs = reader.read(closed.jaxpr, closed.consts, given)
    return builder.captured(SYSTEM, outputs, values, found)


def _named(jax: Any, function: Any, inputs: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Each array among the inputs with its name: that of the argument, then keys and places."""
    try:
        told = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        told = []
    for path, x in jax.tree_util.tree_flatten_with_path(tuple(inputs))[0]:
        keys = [next(getattr(k, w) for w in WHERE if hasattr(k, w)) for k in path]
        first = told[keys[0]] if keys[0] < len(told) else f"x{keys[0] + 1}"
        yield ".".join(map(str, (first, *keys[1:]))), (keys, x)


WHERE = ("key", "idx", "name")  # how a step of a path through a container says where it leads


def _original(
    jax: Any, function: Any, inputs: Sequence[Any], names: Sequence[str]
) -> tuple[list[Array], dict[str, Array | None]]:
    """What JAX computes, and the gradients of the results with the seeds of the check."""
    flat, shape = jax.tree_util.tree_flatten(tuple(inputs))
    real = [i for i, x in enumerate(flat) if _kind(jax, x) == "f"]

    def results(*leaves: Any) -> list[Any]:
        given = dict(zip(real, leaves, strict=True))
        arguments = shape.unflatten([given.get(i, x) for i, x in enumerate(flat)])
        return list(jax.tree_util.tree_leaves(function(*arguments)))

    values, pull = jax.vjp(jax.jit(results), *(flat[i] for i in real))
    none = jax.dtypes.float0  # what JAX wants for a result that has no gradient
    seeds = [
        seed(np.asarray(y)) if _kind(jax, y) == "f" else np.zeros(np.shape(y), none) for y in values
    ]
    found = pull(seeds)
    slopes: dict[str, Any] = {names[i]: np.array(g) for i, g in zip(real, found, strict=False)}
    return [np.array(y)[()] for y in values], slopes


def _kind(jax: Any, x: Any) -> str:
    """The kind of its numbers, as NumPy says it; of a key of random numbers nothing."""
    return getattr(jax.numpy.result_type(x), "kind", "")


class Reader:
    """Reads equations: each becomes nodes of ours, or a constant where it reads only constants."""

    def __init__(self, jax: Any, builder: Builder) -> None:
        self.jax, self.builder = jax, builder
        self.library = str(Path(jax.__file__).parent)
        self.called: tuple[tuple[str, ...], Line | None] | None = None  # from where, if by JAX

    def given(self, name: str, path: Sequence[Any], x: Any) -> Any:
        """An input: a parameter where it stands in a container; the key of random numbers as is."""
        kind = _kind(self.jax, x)
        if kind not in ("f", "i", "b"):
            return x
        value = np.array(x, self.jax.numpy.result_type(x))[()]
        if len(path) > 1:
            return self.builder.variable(name, value, "", trained=True)
        return self.builder.placeholder(name, value)

    def read(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """What the equations make of these inputs."""
        known = {
            **dict(zip(jaxpr.constvars, consts, strict=True)),
            **dict(zip(jaxpr.invars, inputs, strict=True)),
        }
        for equation in jaxpr.eqns:
            operands = [x.val if hasattr(x, "val") else known[x] for x in equation.invars]
            path, line = self.called or self.where(equation)
            with self.builder.at(self.builder.entered(path), line):
                results = self._results(equation, operands)
            known.update(zip(equation.outvars, results, strict=True))
        outputs = [x.val if hasattr(x, "val") else known[x] for x in jaxpr.outvars]
        return [y if isinstance(y, Node) else self._array(y) for y in outputs]

    def _results(self, equation: Any, operands: list[Any]) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        symbolic = any(isinstance(x, Node) for x in operands)
        result: Any = NotImplemented
        if symbolic and params.get("name") in NAMED:
            result = NAMED[params["name"]](*operands)
        elif (inner := _inner(name, params)) is not None:
            return self._called(equation, inner, operands)
        elif not symbolic:
            found = equation.primitive.bind(*operands, **params)
            return list(found) if equation.primitive.multiple_results else [found]
        elif name == "scan":
            return self._scan(operands, **params)
        elif name == "cond":
            result = self._cond(operands, params["branches"])
        elif name in PRIMITIVES:
            result = PRIMITIVES[name](*map(self._operand, operands), **params)
        if result is NotImplemented:
            result = self._box(equation, operands)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def _called(self, equation: Any, inner: Any, operands: list[Any]) -> list[Any]:
        """The equations of a function; of one of JAX's own they belong to the line that calls it.

        JAX keeps them from the first call, and with them that call's line.
        """
        before = self.called
        file = getattr(inner.jaxpr.debug_info, "func_filename", None) or self.library
        if not users(file, self.library):
            self.called = before or self.where(equation)
        try:
            return self.read(inner.jaxpr, inner.consts, operands)
        finally:
            self.called = before

    def _scan(
        self,
        operands: list[Any],
        jaxpr: Any,
        length: int,
        num_consts: int,
        num_carry: int,
        reverse: bool,
        **_: Any,
    ) -> list[Any]:
        """A loop, unrolled: each step in a scope of its own."""
        consts, rest = operands[:num_consts], operands[num_consts:]
        carry, xs = rest[:num_carry], rest[num_carry:]
        made = []
        outer = self.builder.steps
        for i in sorted(range(length), reverse=reverse):
            self.builder.steps = (*outer, f"t={i}")
            now = [x[i] for x in xs]
            results = self.read(jaxpr.jaxpr, jaxpr.consts, [*consts, *carry, *now])
            carry = results[:num_carry]
            made.append(results[num_carry:])
        self.builder.steps = outer
        columns = zip(*(made[::-1] if reverse else made), strict=True)
        return [*carry, *(self._stacked(ys) for ys in columns)]

    def _stacked(self, ys: Sequence[Any]) -> Any:
        symbolic = any(isinstance(y, Node) for y in ys)
        return PRIMITIVES["stack"](*ys) if symbolic else np.stack(ys)

    def _cond(self, operands: list[Any], branches: Sequence[Any]) -> Any:
        which, *given = operands
        if len(branches) != 2 or not isinstance(which, Node):
            return NotImplemented

        def branch(closed: Any) -> Any:
            return lambda *xs: tuple(self.read(closed.jaxpr, closed.consts, xs))

        return cond(which != 0, branch(branches[1]), branch(branches[0]), *given)

    def _box(self, equation: Any, operands: list[Any]) -> list[Node]:
        """A primitive without a counterpart: it is called as it is."""
        name = equation.primitive.name
        self.builder.boxes.append(name)
        nodes = [x for x in operands if isinstance(x, Node)]
        specs = [Spec(y.aval.shape, np.dtype(y.aval.dtype)) for y in equation.outvars]

        def results(*arrays: Any) -> list[Any]:
            rest = iter(arrays)
            given = [next(rest) if isinstance(x, Node) else x for x in operands]
            found = equation.primitive.bind(*given, **equation.params)
            return list(found) if equation.primitive.multiple_results else [found]

        def call(*arrays: Array) -> list[Array]:
            return [np.array(y) for y in results(*map(self.jax.numpy.asarray, arrays))]

        def pull(index: int, position: int, g: Array, arrays: Sequence[Array]) -> Array:
            def one(x: Any) -> Any:
                return results(*arrays[:position], x, *arrays[position + 1 :])[index]

            back = self.jax.vjp(one, self.jax.numpy.asarray(arrays[position]))[1]
            return np.array(back(self.jax.numpy.asarray(g))[0])

        return box(name, SYSTEM, call, pull, nodes, specs)

    def _operand(self, x: Any) -> Any:
        return x if isinstance(x, Node) else self._array(x)

    def _array(self, x: Any) -> Any:
        return np.array(x)[()]

    def where(self, equation: Any) -> tuple[tuple[str, ...], Line | None]:
        """The user's functions that were being called, but for the outermost, and the line."""
        traceback = equation.source_info.traceback
        own = []
        for frame in traceback.frames if traceback is not None else ():
            if INSIDE[frame.file_name]:
                break  # what is further out called us
            if users(frame.file_name, self.library):
                own.append(frame)
        if not own:
            return (), None
        file, number = own[0].file_name, own[0].line_num
        line = SavedLine(file, number, linecache.getline(file, number))
        names = [frame.function_name.rpartition(".")[2] for frame in reversed(own[:-1])]
        return tuple(name for name in names if not name.startswith("<")), (line, 0)


def _inner(name: str, params: Any) -> Any:
    """The equations of a function that is called, as if they stood here; else None."""
    if name in ("scan", "while", "cond"):
        return None
    return next((params[key] for key in BODIES if hasattr(params.get(key), "consts")), None)


BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")
