"""The error for a JAX function that raises while it is captured or run."""

from __future__ import annotations

import contextlib
import linecache
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import Location, SavedLine, here
from minigrad.interop.captured import About, Builder, Refused, Stopped, frames_of, is_user_file
from minigrad.interop.jax.arguments import Arguments
from minigrad.interop.jax.reader import SYSTEM, Reader, callable_name, path_of
from minigrad.static import Node
from minigrad.static.run import Interpreter

LONGEST = 400  # characters of a message of JAX's
MOST = 4  # inputs that a message describes


def error_for(jax: Any, arguments: Arguments, error: Exception) -> TraceError:
    """Build a TraceError with the user's line, JAX's message, and the inputs' shapes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    library = str(Path(jax.__file__).parent)
    call = Call.of(jax, error)
    fields: dict[str, Any] = {"defined": call.line, "ran": None if call.line else here()}
    if isinstance(error, (jax.errors.JAXTypeError, jax.errors.JAXIndexError)):
        found = TraceError("capture", system=SYSTEM, reason=reason(error), **fields)
        found.before = lambda: ran_before(jax, arguments)
        return found
    key, said = "capture_raises", f"{type(error).__name__}: {_short(lines)}".removesuffix(": ")
    if CALLED_BACK in str(error):  # what a callback raised is a text in an error of the runtime
        said = _short(lines[-1:])
        fields["defined"] = _line_in(str(error), library) or call.line
    elif call.operands:
        shapes = ", ".join(str(np.shape(x)) for x in call.operands)
        key, fields = "capture_raises_at", fields | {"call": call.name, "shapes": shapes}
    given = [_described(jax, *named) for named in arguments.named()]
    given = [*given[:MOST], *(["…"] if len(given) > MOST else [])]
    fields |= {"function": arguments.called, "given": ", ".join(given), "reason": said}
    found = TraceError(key, **fields)
    found.before = lambda: ran_before(jax, arguments)
    return found


class Call(NamedTuple):
    """The call that raised: its name, its arrays, and the user's functions around it."""

    name: str
    operands: Sequence[Any]
    functions: Sequence[str]
    line: Location | None

    @classmethod
    def of(cls, jax: Any, error: Exception) -> Call:
        """Return the first public function of JAX behind the user's innermost line."""
        library = str(Path(jax.__file__).parent)
        frames = [*frames_of(error)]
        own = [i for i, (f, _) in enumerate(frames) if is_user_file(f.f_code.co_filename, library)]
        if not own:
            return cls("", (), (), None)
        line = Location(frames[own[-1]][0].f_code, frames[own[-1]][1])
        functions = [callable_name(frames[i][0].f_code.co_qualname) for i in own[1:]]
        behind = [frame for frame, _ in frames[own[-1] + 1 :]]
        modules = jax.numpy, jax.lax, jax.nn
        public = [f for f in behind if any(hasattr(m, f.f_code.co_name) for m in modules)]
        layers = [f for f in behind if f.f_code.co_name == "__call__" and "self" in f.f_locals]
        for frame in public or layers:
            name = frame.f_code.co_name
            name = type(frame.f_locals["self"]).__name__ if name == "__call__" else name
            return cls(name, _arrays(jax, frame), functions, line)
        return cls(line.text.strip(), (), functions, line)


def _arrays(jax: Any, frame: FrameType) -> list[Any]:
    """Return the arrays that a function was called with."""
    code = frame.f_code
    given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
    kinds = jax.Array, np.ndarray
    return [x for x in jax.tree_util.tree_leaves(given) if isinstance(x, kinds)]


def ran_before(jax: Any, arguments: Arguments) -> Stopped | None:
    """Trace a function that raises again; return what was traced before, None if nothing.

    Functions that JAX compiles apart are traced in place, so that what ran in them is there, too.
    """
    for shown in (True, False):  # without the operands, if they can't leave an inner function
        calls: list[Call] = []
        scopes: list[str] = []

        def until(*leaves: Any, shown: bool = shown, calls: list[Call] = calls) -> list[Any]:
            try:
                arguments.results(*leaves)
            except Exception as error:  # noqa: BLE001 whatever the function raises
                calls.append(Call.of(jax, error))
                return [_traced(jax, x) for x in calls[0].operands] if shown else []
            return []

        try:
            with jax.disable_jit(), _record_scopes(jax, scopes):
                closed = jax.make_jaxpr(until)(*arguments.given)
            if calls:
                return _stopped(jax, arguments, closed, calls[0], scopes)
        except Exception:  # noqa: BLE001 an array of a function inside was handed out
            continue
    return None


def _traced(jax: Any, x: Any) -> Any:
    """Return the array as it is outside of functions that transform it, such as vmap."""
    while isinstance(inner := getattr(x, "val", getattr(x, "primal", None)), jax.core.Tracer):
        x = inner
    return x


@contextlib.contextmanager
def _record_scopes(jax: Any, scopes: list[str]) -> Iterator[None]:
    """Record the named scopes that an error leaves, outermost first."""
    real = jax.named_scope

    @contextlib.contextmanager
    def scope(name: str) -> Iterator[None]:
        with real(name):
            try:
                yield
            except Exception:
                scopes.insert(0, name)
                raise
            scopes.clear()  # an error inside, if there was one, was caught

    jax.named_scope = scope
    try:
        yield
    finally:
        jax.named_scope = real


def _stopped(jax: Any, arguments: Arguments, closed: Any, call: Call, scopes: list[str]) -> Stopped:
    """Return what was traced as a graph, and the parameters that were not read yet."""
    reader = Reader(jax, Builder())
    builder = reader.builder
    given = [reader.given(*named) for named in arguments.named()]
    operands = [x for x in reader.read(closed.jaxpr, closed.consts, given) if isinstance(x, Node)]
    read = {x for node in builder.graph.nodes for x in node.inputs} | {*operands}
    made = [n for n in builder.graph.nodes if n.inputs and n not in read]
    ends = list(dict.fromkeys([*made, *operands, *builder.feeds]))
    values = Interpreter(ends)(
        builder.feeds, {v: v.attrs["value"] for v in builder.graph.variables}
    )
    about = About(refused=Refused("", ""), recorded=True)
    groups: dict[str, bool] = {}  # of parameters, and whether one of them was read
    for v in builder.graph.variables:
        name = v.name.rpartition(".")[0]
        groups[name] = groups.get(name, False) or v in read
    line = None if call.line is None else (call.line.code, call.line.lasti)
    return Stopped(
        builder.captured(SYSTEM, ends, values, {}, about),
        call.name or arguments.called,
        operands,
        builder.entered(path_of(call.functions, scopes)),
        line,
        [name for name, was_read in groups.items() if not was_read],
    )


CALLED_BACK = "Traceback (most recent call last)"


def reason(error: Exception) -> str:
    """Return the first line of an error's message."""
    lines = str(error).strip().splitlines()
    return _short(lines[:1]) or type(error).__name__


def _short(lines: list[str]) -> str:
    return " ".join(lines)[:LONGEST].rstrip(". ")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep JAX from logging a callback's error, which is raised anyway."""
    logger = logging.getLogger("jax._src.callback")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


def _described(jax: Any, name: str, path: Any, x: Any) -> str:
    return f"{name}: {jax.numpy.result_type(x)}{list(np.shape(x))}"


def _line_in(message: str, library: str) -> Location | None:
    """Return the innermost user line of a traceback in an error's message, or None."""
    places = re.findall(r'File "(.+?)", line (\d+)', message)
    own = [place for place in places if is_user_file(place[0], library)]
    if not own:
        return None
    file, number = own[-1][0], int(own[-1][1])
    return Location(SavedLine(file, number, linecache.getline(file, number)), 0)
