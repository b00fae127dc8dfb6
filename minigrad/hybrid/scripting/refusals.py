"""Code that can't be rewritten, each case with its line and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from minigrad.diagnostics.errors import ScriptError
from minigrad.diagnostics.source import Location
from minigrad.hybrid.scripting.names import (
    FunctionDef,
    escaping_jumps,
    nonlocals,
    own_nodes,
    parameters,
    reads,
    stores,
)

REFUSED: dict[type[ast.AST], str] = {
    ast.TryStar: "script_try",
    ast.Yield: "script_yield",
    ast.YieldFrom: "script_yield",
    ast.AsyncFunctionDef: "script_async",
    ast.AsyncFor: "script_async",
    ast.AsyncWith: "script_async",
    ast.Await: "script_async",
}
HIDDEN = {"locals", "eval", "exec"}  # they look for variables that now live in other functions


def refuse_unsupported(function: FunctionDef, at: Callable[[Any], Location]) -> None:
    """Raise ScriptError for the first thing that cannot be rewritten, in nested functions as well.

    at: the location of a node.
    """
    for one in ast.walk(function):
        if isinstance(one, FunctionDef):
            _check_nodes(one, at)


def _check_nodes(function: FunctionDef, at: Callable[[Any], Location]) -> None:
    for node in own_nodes(*function.body):
        key = REFUSED.get(type(node)) or _other(node)
        if key:
            text = ast.unparse(node).splitlines()[0].rstrip(":")
            raise ScriptError(key, code=text[:60], defined=at(node))
    for name, node in _conflicting_captures(function):
        raise ScriptError("script_closure", name=name, defined=at(node))


def _other(node: ast.AST) -> str | None:
    if isinstance(node, ast.Try) and escaping_jumps(*node.finalbody):
        return "script_finally"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in HIDDEN:
        return "script_locals"
    if any(isinstance(n, ast.NamedExpr) for part in _deferred_parts(node) for n in ast.walk(part)):
        return "script_walrus"
    return None


def _deferred_parts(node: ast.AST) -> list[ast.expr]:
    """Return the parts of an expression or loop that become functions of their own."""
    if isinstance(node, ast.While):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values[1:]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators] if len(node.ops) > 1 else []
    return []


def _conflicting_captures(function: FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    """Yield variables that a nested function and a branch would see with different values.

    A branch or a loop step becomes a function with variables of its own. So a variable that it
    sets and a function used there reads, which was defined outside, would be two.
    """
    for region in own_nodes(*function.body):
        if not isinstance(region, ast.If | ast.While | ast.For):
            continue
        inside = set(own_nodes(region))
        changed = stores(region).keys()
        used = reads(region)
        for node in own_nodes(*function.body):
            for name, nested in _function_names(node):
                if nested not in inside and name in used:
                    body = nested.body if isinstance(nested.body, list) else [nested.body]
                    own = {*parameters(nested.args), *stores(*body)} - nonlocals(nested)
                    both = nonlocals(nested) & (reads(region) | changed)
                    for variable in sorted((reads(*body) - own) & changed | both):
                        yield variable, region


def _function_names(node: ast.AST) -> Iterator[tuple[str, ast.FunctionDef | ast.Lambda]]:
    """Yield the name that a nested function is bound to here."""
    if isinstance(node, ast.FunctionDef):
        yield node.name, node
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        yield from ((t.id, node.value) for t in node.targets if isinstance(t, ast.Name))
