"""A reader of a JAX function's equations: each becomes nodes of our graph."""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.control import cond, while_loop
from minigrad.core import Array, Spec
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import Location, SavedLine, is_user_code
from minigrad.interop.boxes import opaque_call
from minigrad.interop.captured import TOLERANCE, Builder, Line, Refused, is_user_file, label, seed
from minigrad.interop.jax.primitives import NAMED, PRIMITIVES
from minigrad.static import Node
from minigrad.static.run import Interpreter

SYSTEM = "JAX"


class Reader:
    """A reader of equations: each becomes nodes, or a constant if it reads only constants."""

    def __init__(self, jax: Any, builder: Builder, careful: bool = False) -> None:
        """Set up a reader. careful: call JAX for an equation whose gradient differs from ours."""
        self.jax, self.builder, self.careful = jax, builder, careful
        self.library = str(Path(jax.__file__).parent)
        self.called: tuple[tuple[str, ...], Line | None] | None = None  # from where, if by JAX
        self.line: Line | None = None  # of the equation that is being read
        self.around: list[str] = []  # named scopes of the equations that call these
        self.suspects: list[tuple[str, Line | None, Any, Any]] = []

    def given(self, name: str, path: Sequence[Any], x: Any) -> Any:
        """Add an input: a parameter if it is in a container; a random key is left unchanged."""
        dtype = self.jax.numpy.result_type(x)
        if self.is_key(dtype):
            return x
        self.expect_numbers(dtype)
        value = np.array(x, dtype)[()]
        if len(path) > 1:
            return self.builder.variable(name, value, "", trained=True)
        return self.builder.placeholder(name, value)

    def is_key(self, dtype: Any) -> bool:
        """Return whether this is the data type of random keys."""
        return bool(self.jax.dtypes.issubdtype(dtype, self.jax.dtypes.extended))

    def expect_numbers(self, dtype: Any) -> None:
        """Raise TraceError for a data type that NumPy does not have, such as bfloat16."""
        if self.is_key(dtype) or np.dtype(dtype).kind not in "fiubc":
            line = None if self.line is None else Location(*self.line)
            raise TraceError("capture_dtype", system=SYSTEM, dtype=dtype, defined=line)

    def refusal(self, reason: str) -> Refused:
        """Return why JAX has no gradient, with the first operator it can't differentiate."""
        jax = self.jax
        for name, line, run, free in self.suspects:
            shapes = [jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in free]
            try:
                jax.eval_shape(functools.partial(self._pulled, run, {}), *shapes)
            except Exception:  # noqa: BLE001  (each operator has its own way to refuse)
                return Refused(reason, name, line)
        return Refused(reason)

    def read(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Translate the equations for these inputs; return their results."""
        known = {
            **dict(zip(jaxpr.constvars, consts, strict=True)),
            **dict(zip(jaxpr.invars, inputs, strict=True)),
        }
        for equation in jaxpr.eqns:
            operands = [_literal(x) if hasattr(x, "val") else known[x] for x in equation.invars]
            path, self.line = self.called or self.where(equation)
            with self.builder.at(self.builder.entered(path), self.line):
                results = self._results(jaxpr, equation, operands)
            known.update(zip(equation.outvars, results, strict=True))
        outputs = [_literal(x) if hasattr(x, "val") else known[x] for x in jaxpr.outvars]
        return [y if isinstance(y, Node) else self._array(y) for y in outputs]

    def _results(self, jaxpr: Any, equation: Any, operands: list[Any]) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        if not equation.outvars:  # it only prints, or checks
            return []
        if any(self.is_key(y.aval.dtype) for y in equation.outvars):
            operands = [self._value(x) if isinstance(x, Node) else x for x in operands]
        symbolic = any(isinstance(x, Node) for x in operands)
        inner = _inner(equation)
        result: Any = NotImplemented
        if not symbolic and inner is None:
            free, values = _distinct(equation, operands)
            return list(self._alone(jaxpr, equation, free)(*values))
        if symbolic and inner is not None and self._is_own(inner):
            named = NAMED.get(params.get("name", inner.jaxpr.debug_info.func_name))
            result = NotImplemented if named is None else named(*operands)
        if result is NotImplemented and inner is not None:
            own_rule = symbolic and name.startswith("custom_")
            if not own_rule or self._is_own(inner):
                boxes = len(self.builder.boxes)
                result = self._called(equation, inner, operands)
                result = self._checked(jaxpr, equation, operands, result) if own_rule else result
                if result is NotImplemented:
                    del self.builder.boxes[boxes:]
        elif name == "scan":
            return self._scan(operands, **params)
        elif name == "cond":
            result = self._cond(operands, params["branches"])
        elif name == "while":
            result = self._while(jaxpr, equation, operands, **params)
        elif name in PRIMITIVES and not self._is_complex(equation):
            for y in equation.outvars:
                self.expect_numbers(y.aval.dtype)
            found = PRIMITIVES[name](*map(self._operand, operands), **params)
            result = self._checked(jaxpr, equation, operands, _as_declared(found, equation))
        if result is NotImplemented:
            result = self._box(jaxpr, equation, operands, inner)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def _is_own(self, inner: Any) -> bool:
        """Return whether a function is one of JAX's own."""
        file = getattr(inner.jaxpr.debug_info, "func_filename", None) or self.library
        return bool(file.startswith(self.library))

    def _checked(self, jaxpr: Any, equation: Any, operands: list[Any], found: Any) -> Any:
        """Return what was found, or NotImplemented if JAX's gradient of it differs.

        Rules may differ at a corner (|x| at 0), and a JAX function may have a custom rule.
        """
        if not self.careful or found is NotImplemented:
            return found
        free, values = _distinct(equation, operands)
        if any(isinstance(x, Node) and x.graph is not self.builder.graph for x in values):
            return found  # inside a branch or a loop, where nothing has a value yet
        given = [self._value(x) if isinstance(x, Node) else x for x in values]
        one = _single_equation(jaxpr, equation, free)
        reader = Reader(self.jax, Builder())
        nodes = [reader.given(f"x{i}", (), x) for i, x in enumerate(given)]
        ends = reader.read(one, (), nodes)
        run = self._alone(jaxpr, equation, free)
        ys = run(*given)
        seeds = {i: seed(np.asarray(y)) for i, y in enumerate(ys) if y.dtype.kind == "f"}
        slopes = {f"x{i}": np.array(g) for i, g in self._pulled(run, seeds, *given).items()}
        alone = reader.builder.captured(SYSTEM, ends, [*map(self._array, ys)], slopes)
        return found if max(alone.gaps()) <= TOLERANCE else NotImplemented

    def _is_complex(self, equation: Any) -> bool:
        """Return whether an operand or result is complex: the rules here are for reals."""
        values = (*equation.invars, *equation.outvars)
        return any(
            np.dtype(x.aval.dtype).kind == "c" for x in values if not self.is_key(x.aval.dtype)
        )

    def _alone(self, jaxpr: Any, equation: Any, free: Sequence[Any]) -> Callable[..., Any]:
        """Return one equation as a function of the variables that it reads."""
        one = _single_equation(jaxpr, equation, free)
        return lambda *values: self.jax.core.eval_jaxpr(one, (), *values)

    def _value(self, node: Node) -> Any:
        """Compute a node's value for the given inputs; TraceError inside a branch or loop."""
        if node.graph is not self.builder.graph:
            line = node.where if self.line is None else Location(*self.line)
            raise TraceError("capture_key", system=SYSTEM, defined=line)
        kept = {v: v.attrs["value"] for v in node.graph.variables}
        (value,) = Interpreter([node])(dict(self.builder.feeds), kept)
        return self.jax.numpy.asarray(value, value.dtype)

    def _called(self, equation: Any, inner: Any, operands: list[Any]) -> list[Any]:
        """Read a function's equations; those of JAX's own belong to the line that calls it.

        JAX keeps them from the first call, and with them that call's line.
        """
        before, around = self.called, self.around
        self.around = self.scopes(equation)
        if not is_user_file(
            getattr(inner.jaxpr.debug_info, "func_filename", None) or "", self.library
        ):
            self.called = before or self.where(equation)
        try:
            return self.read(inner.jaxpr, inner.consts, operands)
        finally:
            self.called, self.around = before, around

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
        """Unroll a loop, with a scope for each step."""
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
        if not isinstance(which, Node):
            taken = branches[min(max(int(which), 0), len(branches) - 1)]
            return self.read(taken.jaxpr, taken.consts, given)
        nodes = [i for i, x in enumerate(given) if isinstance(x, Node)]

        def branch(closed: Any) -> Callable[..., Any]:
            def read(*xs: Any) -> tuple[Any, ...]:
                inside = dict(zip(nodes, xs, strict=True))
                values = [inside.get(i, x) for i, x in enumerate(given)]
                return tuple(self.read(closed.jaxpr, closed.consts, values))

            return read

        def chosen(first: int, which: Any, *xs: Any) -> Any:
            if first == len(branches) - 1:
                return branch(branches[first])(*xs)
            others = lambda *ys: chosen(first + 1, *ys)  # noqa: E731
            mine = lambda _, *ys: branch(branches[first])(*ys)  # noqa: E731
            return cond(which <= first, mine, others, which, *xs)

        given_nodes = [given[i] for i in nodes]
        try:
            if len(branches) != 2:
                return chosen(0, which, *given_nodes)
            return cond(which != 0, branch(branches[1]), branch(branches[0]), *given_nodes)
        except TraceError as error:
            return self._unless_about_keys(error)

    def _while(
        self,
        jaxpr: Any,
        equation: Any,
        operands: list[Any],
        cond_jaxpr: Any,
        body_jaxpr: Any,
        cond_nconsts: int,
        body_nconsts: int,
        **_: Any,
    ) -> Any:
        """Build a while_loop, which JAX can't differentiate."""
        if any(self.is_key(x.aval.dtype) for x in equation.invars):
            return NotImplemented
        free, _values = _distinct(equation, operands)
        self._suspected(equation, self._alone(jaxpr, equation, free), free)
        tested, repeated = operands[:cond_nconsts], operands[cond_nconsts:][:body_nconsts]
        start = tuple(map(self._operand, operands[cond_nconsts + body_nconsts :]))

        def goes_on(*state: Any) -> Any:
            return self.read(cond_jaxpr.jaxpr, cond_jaxpr.consts, [*tested, *state])[0]

        def step(*state: Any) -> tuple[Any, ...]:
            return tuple(self.read(body_jaxpr.jaxpr, body_jaxpr.consts, [*repeated, *state]))

        try:
            return while_loop(goes_on, step, start)
        except TraceError as error:
            return self._unless_about_keys(error)

    def _unless_about_keys(self, error: TraceError) -> Any:
        """Return NotImplemented if a body makes random keys: JAX is then called as a whole."""
        if error.key == "capture_key":
            return NotImplemented
        raise error

    def _suspected(self, equation: Any, run: Callable[..., Any], free: Sequence[Any]) -> None:
        """Note an equation that JAX may refuse to differentiate, and its line."""
        if all(any(map(_is_inexact, xs)) for xs in (free, equation.outvars)):
            self.suspects.append((equation.primitive.name, self.line, run, free))

    def _pulled(self, run: Callable[..., Any], gs: Mapping[int, Any], *xs: Any) -> dict[int, Any]:
        """Compute JAX's gradients of the real and complex xs from those of the results."""
        real = [i for i, x in enumerate(xs) if _is_inexact(x)]

        def of(*reals: Any) -> list[Any]:
            moved = dict(zip(real, reals, strict=True))
            return list(run(*(moved.get(i, x) for i, x in enumerate(xs))))

        ys, back = self.jax.vjp(of, *(xs[i] for i in real))
        found = back([self._cotangent(y, gs.get(i)) for i, y in enumerate(ys)])
        return dict(zip(real, found, strict=True))

    def _cotangent(self, y: Any, g: Any) -> Any:
        """Convert a result's gradient for JAX; None becomes zeros."""
        if not _is_inexact(y):
            return np.zeros(y.shape, self.jax.dtypes.float0)
        return self.jax.numpy.zeros_like(y) if g is None else self.jax.numpy.asarray(g, y.dtype)

    def _box(self, jaxpr: Any, equation: Any, operands: list[Any], inner: Any) -> list[Node]:
        """Build a node that calls a JAX primitive without a counterpart here."""
        name = equation.primitive.name
        name = name if inner is None else inner.jaxpr.debug_info.func_name
        own_rule = inner is not None or (name in PRIMITIVES and self.careful)
        self.builder.boxed(name, self.line, own_rule)
        for y in equation.outvars:
            self.expect_numbers(y.aval.dtype)
        specs = [Spec(y.aval.shape, np.dtype(y.aval.dtype)) for y in equation.outvars]
        free, values = _distinct(equation, operands)
        run = self._alone(jaxpr, equation, free)
        self._suspected(equation, run, free)
        nodes = [i for i, x in enumerate(values) if isinstance(x, Node)]

        def filled(*arrays: Any) -> list[Any]:
            inside = dict(zip(nodes, map(self.jax.numpy.asarray, arrays), strict=True))
            return [inside.get(i, x) for i, x in enumerate(values)]

        def call(*arrays: Array) -> list[Array]:
            return [np.array(y) for y in run(*filled(*arrays))]

        def pull(
            gs: Mapping[int, Array], wrt: Sequence[int], arrays: Sequence[Array]
        ) -> list[Array]:
            found = self._pulled(run, gs, *filled(*arrays))
            return [np.array(found[nodes[i]]) for i in wrt]

        return opaque_call(name, SYSTEM, call, pull, [values[i] for i in nodes], specs, own_rule)

    def _operand(self, x: Any) -> Any:
        return x if isinstance(x, Node) else self._array(x)

    def _array(self, x: Any) -> Any:
        return plain_array(self.jax, x)

    def where(self, equation: Any) -> tuple[tuple[str, ...], Line | None]:
        """Return the scopes of the user's functions around an equation, and its line."""
        traceback = equation.source_info.traceback
        own = []
        for frame in traceback.frames if traceback is not None else ():
            if not is_user_code(frame.file_name):
                break  # what is further out called us
            if is_user_file(frame.file_name, self.library):
                own.append(frame)
        if not own:
            return (), None
        file, number = own[0].file_name, own[0].line_num
        line = SavedLine(file, number, linecache.getline(file, number))
        names = [callable_name(frame.function_name) for frame in reversed(own[:-1])]
        return path_of(names, self.scopes(equation)), (line, 0)

    def scopes(self, equation: Any) -> list[str]:
        """Return the named scopes around an equation, such as those of Flax modules."""
        stack = getattr(equation.source_info.name_stack, "stack", ())
        inner = [x.name for x in stack if type(x).__name__ == "Scope"]
        return [*self.around, *inner]


def path_of(functions: Sequence[str], scopes: Sequence[str]) -> tuple[str, ...]:
    """Return the scope path for these user functions; named scopes take precedence."""
    names = path = [name for name in functions if not name.startswith("<")]
    if scopes:
        path = [*scopes, *(name for name in names[-1:] if not scopes[-1].startswith(name))]
    return tuple(label(name) for name in path)


def callable_name(name: str) -> str:
    """Return a function's name; for a callable object, its class's name."""
    *around, name = name.split(".")
    return around[-1] if name == "__call__" and around else name


def plain_array(jax: Any, x: Any) -> Any:
    """Convert to a NumPy array; a random key becomes the integers in it."""
    if jax.dtypes.issubdtype(getattr(x, "dtype", None), jax.dtypes.extended):
        x = jax.random.key_data(x)
    return np.array(x)[()]


def _literal(x: Any) -> Any:
    """Return a literal of an equation in its data type there."""
    return np.asarray(x.val, x.aval.dtype)[()]


def _single_equation(jaxpr: Any, equation: Any, free: Sequence[Any]) -> Any:
    """Return a jaxpr with this equation alone, whose inputs are the variables it reads."""
    results = list(equation.outvars)
    return jaxpr.replace(constvars=[], invars=list(free), outvars=results, eqns=[equation])


def _distinct(equation: Any, operands: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return the distinct variables that an equation reads, and their values here."""
    pairs = zip(equation.invars, operands, strict=True)
    known = {x: value for x, value in pairs if not hasattr(x, "val")}
    return list(known), list(known.values())


def _is_inexact(x: Any) -> bool:
    """Return whether a value or variable is real or complex, so that it has a gradient."""
    dtype = getattr(x, "aval", x).dtype
    return isinstance(dtype, np.dtype) and dtype.kind in "fc"


def _as_declared(found: Any, equation: Any) -> Any:
    """Convert the results to JAX's data types, which have 32 bits by default."""
    if found is NotImplemented:
        return found
    listed = found if isinstance(found, (list, tuple)) else [found]
    pairs = [(y, np.dtype(x.aval.dtype)) for y, x in zip(listed, equation.outvars, strict=True)]
    return [y if y.dtype == dtype else ops.convert(y, dtype) for y, dtype in pairs]


def _inner(equation: Any) -> Any:
    """Return the equations of a called function that can be inlined; else None.

    A reduction by a function calls it with other shapes, so it can't be inlined.
    """
    name, params = equation.primitive.name, equation.params
    if name in ("scan", "while", "cond"):
        return None
    found = next((params[key] for key in BODIES if hasattr(params.get(key), "consts")), None)
    if found is None and name in REMAT:
        return Closed(params["jaxpr"], ())
    inside = [] if found is None else [x.aval.shape for x in found.jaxpr.invars]
    return found if inside == [x.aval.shape for x in equation.invars] else None


class Closed(NamedTuple):
    """Equations that read nothing but their inputs."""

    jaxpr: Any
    consts: Sequence[Any]


REMAT = ("remat", "remat2", "checkpoint")  # computed again on the way back, with the same numbers


BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")
