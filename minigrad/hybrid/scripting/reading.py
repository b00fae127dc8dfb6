"""From a function to its source, and from rewritten source back to a function.

Nothing of the user's is executed on the way, not even the definition: the function is put together
from its new code and from what the old one has (globals, closure, defaults). So it sees the same
globals and cells, live; and its code keeps the file and the lines of the source.
"""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import linecache
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

from minigrad.diagnostics.errors import ScriptError
from minigrad.diagnostics.source import Location, SavedLine
from minigrad.hybrid.scripting.names import FunctionDef
from minigrad.hybrid.scripting.syntax import copy_location, function_def

_FLAGS = functools.reduce(
    int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
)

Found = list[tuple[str | None, FunctionDef | ast.Lambda]]


@dataclass(frozen=True)
class Source:
    """The definition of one function: its syntax tree, the class around it, and the file."""

    tree: ast.FunctionDef
    within: str | None
    filename: str
    lines: list[str]


def source_location(filename: str, lines: list[str], node: Any) -> Location:
    """Return where a piece of source is in the user's file."""
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    return Location(SavedLine(filename, node.lineno, line), 0)


def read_source(function: FunctionType) -> Source:
    """Read the source of a function; ScriptError if there is none.

    It may be in a file, in a notebook cell, or in an example of a docstring.
    """
    code = function.__code__
    where = Location(code, 0)
    name = function.__qualname__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    try:
        find = _find_lambdas if code.co_name == "<lambda>" else _find_definitions
        found = list(find(_functions_in("".join(lines)), code))
    except SyntaxError:
        found = []
    if not found:
        raise ScriptError("script_source", name=name, file=code.co_filename, defined=where)
    within, tree = found[0]
    if not isinstance(tree, ast.FunctionDef):
        where = source_location(code.co_filename, lines, tree)
        raise ScriptError("script_async", code=f"async def {tree.name}", defined=where)
    return Source(copy.deepcopy(tree), within, code.co_filename, lines)


@functools.lru_cache(maxsize=16)
def _functions_in(text: str) -> Found:
    """Return all functions of a text, each with the name of the class around it."""
    found: Found = []
    waiting: list[tuple[str | None, ast.AST]] = [(None, ast.parse(text))]
    while waiting:
        within, node = waiting.pop()
        if isinstance(node, FunctionDef | ast.Lambda):
            found.append((within, node))
        inner = node.name if isinstance(node, ast.ClassDef) else within
        waiting += [(inner, child) for child in ast.iter_child_nodes(node)]
    return found


def _find_definitions(nodes: Found, code: CodeType) -> Iterator[tuple[str | None, FunctionDef]]:
    """Yield the definitions that this code may come from, with their class's name."""
    taken = _drop_mangled(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    for within, node in nodes:
        if isinstance(node, FunctionDef):
            first = min(node.lineno, *(d.lineno for d in node.decorator_list), node.lineno)
            if (node.name, first) == (code.co_name, code.co_firstlineno) and _parameter_names(
                node
            ) == taken:
                yield within, node


def _find_lambdas(nodes: Found, code: CodeType) -> Iterator[tuple[str | None, FunctionDef]]:
    """Yield the lambdas that this code may come from, as definitions."""
    places = {(line, column) for line, _, column, _ in code.co_positions() if column is not None}
    taken = _drop_mangled(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    for within, node in nodes:
        if not isinstance(node, ast.Lambda) or _parameter_names(node) != taken:
            continue
        body = node.body
        if node.lineno == code.co_firstlineno and (body.lineno, body.col_offset) in places:
            made: Any = function_def("<lambda>", (), [ast.Return(body)])
            made.args = node.args
            yield within, copy_location(node, made)


def _parameter_names(node: FunctionDef | ast.Lambda) -> set[str]:
    """Return the names of the parameters, because the file may have changed."""
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return _drop_mangled(a.arg for a in every)


def _drop_mangled(names: Iterable[str]) -> set[str]:
    """Return the names without those that a class mangles."""
    return {name for name in names if "__" not in name}


def compile_rewritten(source: Source, code: CodeType, runtime: str) -> CodeType:
    """Compile the rewritten function with the same free variables, and the runtime as one."""
    tree = copy.deepcopy(source.tree)
    _strip_decorations(tree)
    tree.name = f"<{code.co_name}>"  # no name, or a global of this name would be taken for it
    body: ast.stmt = tree
    if source.within is not None:  # names such as __private belong to a class
        body = _definition(f"class {source.within}: pass", tree)
    free = [n for n in (*code.co_freevars, runtime) if n != "__class__" or source.within is None]
    factory = _definition(f"def factory({', '.join(free)}): pass", body)
    if source.within is not None and source.within not in free:  # a global stays one
        factory.body.insert(0, ast.Global([source.within]))
    module = ast.fix_missing_locations(ast.Module([factory], []))
    flags = code.co_flags & _FLAGS
    outer = compile(module, source.filename, "exec", flags=flags, dont_inherit=True)
    found = _inner_code(outer)
    while found.co_name != tree.name:
        found = _inner_code(found)
    return found.replace(co_name=code.co_name, co_qualname=code.co_qualname)


def _definition(head: str, inside: ast.stmt) -> Any:
    outer: Any = ast.parse(head).body[0]
    outer.body = [inside]
    return outer


def _inner_code(code: CodeType) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType))


def _strip_decorations(tree: ast.FunctionDef) -> None:
    """Remove what the old function already has: decorators, defaults, annotations."""
    arguments = tree.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for a in (*every, arguments.vararg, arguments.kwarg):
        if a is not None:
            a.annotation = None
    tree.decorator_list, tree.returns = [], None
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)


def function_with_code(
    function: FunctionType, code: CodeType, runtime: Mapping[str, Any]
) -> FunctionType:
    """Make a copy of a function with this code."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells.update((name, CellType(value)) for name, value in runtime.items())
    closure = tuple(cells[name] for name in code.co_freevars)
    new = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    new.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(new, function)
    return new


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield this code and that of all functions defined in it."""
    waiting = [code]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += [c for c in found.co_consts if isinstance(c, CodeType)]
