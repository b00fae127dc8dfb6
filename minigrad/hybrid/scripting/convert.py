"""Rewrite a function and, as it runs, each of the user's functions that it calls.

The rewriting of a code object is kept, so a function that was rewritten costs a look-up.
"""

from __future__ import annotations

import ast
import builtins
import functools
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any

from minigrad.diagnostics.errors import ScriptError, TraceError
from minigrad.diagnostics.messages import fill
from minigrad.diagnostics.source import LIBRARIES, here
from minigrad.hybrid.scripting import loops, missing, regions, runtime
from minigrad.hybrid.scripting.expressions import MISSING
from minigrad.hybrid.scripting.names import Comprehension, FunctionDef, stores
from minigrad.hybrid.scripting.reading import (
    Source,
    codes_in,
    compile_rewritten,
    function_with_code,
    read_source,
    source_location,
)
from minigrad.hybrid.scripting.refusals import refuse_unsupported
from minigrad.hybrid.scripting.replacements import REPLACED
from minigrad.hybrid.scripting.statements import Rewriter


@dataclass(frozen=True)
class Rewritten:
    """The new code of a function, its text, and the name by which it knows the runtime."""

    code: CodeType
    text: str
    runtime: str


# For each code the file it stands in, and its rewriting or why there is none.
_kept: weakref.WeakKeyDictionary[CodeType, tuple[str, Rewritten | ScriptError]]
_kept = weakref.WeakKeyDictionary()
_done: weakref.WeakSet[CodeType] = weakref.WeakSet()  # the codes of functions that were rewritten


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """Rewrite a function's control flow without executing it.

    With tensors and Python values it does what it did; with nodes it builds branches and loops.
    Functions, methods and objects with `forward` or `__call__` are taken. Raises ScriptError for
    what cannot be rewritten.
    """
    if isinstance(function, MethodType):
        return MethodType(convert(function.__func__), function.__self__)
    if not isinstance(function, FunctionType):
        rewritten(source_function(function))
        new: Callable[..., Any] = callee(function)
        return new
    if function.__code__ in _done:
        return function
    found = rewritten(function)
    return function_with_code(function, found.code, {found.runtime: RUNTIME})


def source_function(function: Any) -> FunctionType:
    """Return the function whose source is rewritten: itself, or the `forward` of a layer."""
    for method in (getattr(type(function), name, None) for name in ("forward", "__call__")):
        if isinstance(method, FunctionType) and not _is_library_code(method):
            return method
    function = getattr(function, "__func__", function)
    if isinstance(function, FunctionType):
        return function
    raise ScriptError("script_callable", name=repr(function)[:60], defined=here())


def rewritten(function: FunctionType) -> Rewritten:
    """Rewrite a function, once for its code; ScriptError if that is impossible."""
    code = function.__code__
    found = _kept.get(code)
    if found is None or found[0] != code.co_filename:  # equal code may stand in two files
        found = _kept[code] = (code.co_filename, _rewritten_or_reason(function))
    result = found[1]
    if isinstance(result, ScriptError):
        raise _copy_error(result)
    return result


def _copy_error(error: ScriptError) -> ScriptError:
    """Copy an error for raising it again, without its traceback."""
    fields: dict[str, Any] = dict(error.fields)
    return ScriptError(error.key, defined=error.defined, **fields)


def _rewritten_or_reason(function: FunctionType) -> Rewritten | ScriptError:
    try:
        return _rewrite(function)
    except ScriptError as error:
        return error.with_traceback(None)


def _rewrite(function: FunctionType) -> Rewritten:
    source = read_source(function)
    known = _name_resolver(function, source.tree)
    at = functools.partial(source_location, source.filename, source.lines)
    refuse_unsupported(source.tree, at)
    rewriter = Rewriter(source.tree, known, _needs_no_rewrite)
    rewriter.function(source.tree)
    code = compile_rewritten(source, function.__code__, rewriter.runtime)
    _done.update(codes_in(code))
    return Rewritten(code, _source_text(source), rewriter.runtime)


def _source_text(source: Source) -> str:
    source.tree.decorator_list = []
    return ast.unparse(source.tree)


def _name_resolver(function: FunctionType, tree: ast.FunctionDef) -> Callable[[str], Any]:
    """Return what a name means in the function, unless it is a local variable."""
    variables = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, FunctionDef | ast.Lambda):
            variables |= stores(*(node.body if isinstance(node.body, list) else [node.body])).keys()
        elif isinstance(node, ast.ClassDef | Comprehension):
            variables |= stores(*ast.iter_child_nodes(node)).keys()
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    spaces = (function.__globals__, vars(builtins))

    def known(name: str) -> Any:
        if name in variables:
            return MISSING
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:  # not defined yet
                return MISSING
        return next((space[name] for space in spaces if name in space), MISSING)

    return known


# ---- The functions that rewritten code calls ----------------------------------------------------


def callee(f: Any) -> Any:
    """Return what to call instead of f: the user's functions and methods are rewritten."""
    if isinstance(f, FunctionType):
        return f if f.__code__ in _done or _is_library_code(f) else rewritten_or_unchanged(f)
    if isinstance(f, MethodType):
        return MethodType(callee(f.__func__), f.__self__)
    if isinstance(f, BuiltinMethodType):
        regions.check_method(f)
        return REPLACED.get(f, f)
    if isinstance(f, type):
        return REPLACED.get(f, f)
    if isinstance(f, functools.partial):
        return functools.partial(callee(f.func), *f.args, **f.keywords)
    return _is_bound_method(f)


def _is_bound_method(f: Any) -> Any:
    call, forward = (getattr(type(f), name, None) for name in ("__call__", "forward"))
    if not isinstance(call, FunctionType):
        return f
    if not _is_library_code(call):
        return MethodType(callee(call), f)
    if isinstance(forward, FunctionType) and not _is_library_code(forward):
        return MethodType(call, _WithForward(f, callee(f.forward)))
    return f


class _WithForward:
    """A layer whose `forward` is rewritten, as its own `__call__` sees it."""

    def __init__(self, layer: Any, forward: Any) -> None:
        self._layer, self.forward = layer, forward

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layer, name)


def rewritten_or_unchanged(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function rewritten, or else itself, with the reason if it meets a node."""
    try:
        return convert(f)
    except ScriptError as error:
        reason = error
    name = getattr(f, "__name__", type(f).__name__)

    @functools.wraps(f)
    def unchanged(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except TraceError as error:
            if error.key == "script_unrewritten":  # of a function that this one calls
                raise
            why = fill(reason.key, **reason.fields)
            where: dict[str, Any] = {"defined": reason.defined, "ran": error.ran}
            raise TraceError("script_unrewritten", function=name, why=why, **where) from None

    return unchanged


def _is_library_code(f: FunctionType) -> bool:
    return f.__code__.co_filename.startswith((*LIBRARIES, "<frozen"))


def _needs_no_rewrite(value: Any) -> bool:
    """Return whether it can be called without rewriting."""
    if isinstance(value, FunctionType):
        return _is_library_code(value)
    if isinstance(value, type | BuiltinMethodType):
        return value not in REPLACED
    return type(value).__module__.split(".")[0] in ("minigrad", "numpy")


RUNTIME = SimpleNamespace(
    call=callee,
    if_=runtime.if_,
    while_=loops.while_,
    for_=loops.for_,
    choose=runtime.choose,
    and_=runtime.and_,
    or_=runtime.or_,
    not_=runtime.not_,
    bool_=runtime.bool_,
    assert_=runtime.assert_,
    plain=loops.python_test,
    items=loops.python_items,
    undefined=missing.Undefined,
    defined=missing.check_defined,
    unused=missing.UNUSED,
    set_attribute=regions.refuse_set_attribute,
    set_item=regions.refuse_set_item,
    raising=regions.refuse_raise,
    caught=regions.check_caught,
    matched=runtime.match_subject,
)
