"""Rewrite statements as simpler ones, before anything else looks at them.

del t                           t = script.undefined("t")

for x in xs: A                  found = False
else: B                         for x in xs: A          # break: found = True; break
                         →      if not found: B

match v:                        match script.matched(v):
    case P: A                       case P: case = 0
    case Q: B                       case Q: case = 1
                                if case == 0: A
                                elif case == 1: B

global n; n = n + 1             globals()["n"] = globals()["n"] + 1
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from minigrad.hybrid.scripting.names import FunctionDef, Loop, own_nodes
from minigrad.hybrid.scripting.syntax import copy_location, load_name


def desugar(function: FunctionDef, runtime: str, unique: Callable[[str], str]) -> None:
    """Rewrite the statements of a function; functions nested in it are left as they are."""
    outside = {n for s in own_nodes(*function.body) if isinstance(s, ast.Global) for n in s.names}
    function.body = _Desugar(runtime, unique, outside).block(function.body)


def is_deletion(s: ast.AST) -> bool:
    """Return whether this assignment deletes a variable's value."""
    call = s.value if isinstance(s, ast.Assign) else None
    name = call.func if isinstance(call, ast.Call) else None
    return isinstance(name, ast.Attribute) and name.attr == "undefined"


def global_name(target: ast.expr) -> str:
    """Return the name n of globals()["n"], or nothing."""
    call = target.value if isinstance(target, ast.Subscript) else None
    name = call.func if isinstance(call, ast.Call) and not call.args else None
    is_global = isinstance(name, ast.Name) and name.id == "globals"
    key = target.slice if is_global and isinstance(target, ast.Subscript) else None
    return str(key.value) if isinstance(key, ast.Constant) else ""


class _Desugar(ast.NodeTransformer):
    def __init__(self, runtime: str, unique: Callable[[str], str], outside: set[str]) -> None:
        self.runtime, self.unique, self.outside = runtime, unique, outside

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        new = [self.visit(s) for s in statements]
        return [s for n in new for s in (n if isinstance(n, list) else [n])] or [ast.Pass()]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_Global(self, node: ast.Global) -> list[ast.stmt]:
        return [copy_location(node, ast.Pass())]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.outside:
            return node
        space = ast.Call(load_name("globals"), [], [])
        return copy_location(node, ast.Subscript(space, ast.Constant(node.id), node.ctx))

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        return [
            self._delete_target(copy_location(target, self.visit(target)))
            for target in _flatten_targets(node.targets)
        ]

    def _delete_target(self, target: ast.expr) -> ast.stmt:
        if not isinstance(target, ast.Name):
            return copy_location(target, ast.Delete([target]))
        value = self._call("undefined", ast.Constant(target.id))
        return copy_location(target, ast.Assign([ast.Name(target.id, ast.Store())], value))

    def visit_While(self, node: ast.While) -> Any:
        return self._visit_loop(node)

    def visit_For(self, node: ast.For) -> Any:
        return self._visit_loop(node)

    def _visit_loop(self, node: Loop) -> list[ast.stmt]:
        orelse, node.orelse = node.orelse, []
        new: list[ast.stmt] = []
        if orelse:
            found = self.unique("found")
            new.append(copy_location(node, _assign_flag(found, False)))
            breaks = _BreakFlagger(found)
            node.body = [s for b in node.body for s in breaks.statements(b)]
            test = ast.UnaryOp(ast.Not(), load_name(found))
            after = [copy_location(node, ast.If(test, orelse, []))] if breaks.any else orelse
            new = new if breaks.any else []
        self.generic_visit(node)
        return [*new, node, *(self.block(after) if orelse else [])]

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        case = self.unique("case")
        chosen: list[ast.stmt] = []
        bodies = [one.body for one in node.cases]
        for i, one in enumerate(node.cases):
            one.body = [copy_location(one.body[0], _assign_flag(case, i))]
            if one.guard is not None:
                one.guard = copy_location(one.guard, self._call("matched", self.visit(one.guard)))
        node.subject = copy_location(node.subject, self._call("matched", self.visit(node.subject)))
        for i, body in reversed([*enumerate(bodies)]):
            test = ast.Compare(load_name(case), [ast.Eq()], [ast.Constant(i)])
            chosen = [copy_location(body[0], ast.If(test, self.block(body), chosen))]
        return [copy_location(node, _assign_flag(case, -1)), node, *chosen]

    def _call(self, function: str, *arguments: ast.expr) -> ast.Call:
        attribute = ast.Attribute(load_name(self.runtime), function, ast.Load())
        return ast.Call(attribute, list(arguments), [])


class _BreakFlagger(ast.NodeTransformer):
    """Sets a flag before each `break` of one loop."""

    def __init__(self, flag: str) -> None:
        self.flag, self.any = flag, False

    def statements(self, s: ast.stmt) -> list[ast.stmt]:
        new = self.visit(s)
        return new if isinstance(new, list) else [new]

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        self.any = True
        return [copy_location(node, _assign_flag(self.flag, True)), node]

    def _other(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_ClassDef = visit_Lambda = _other

    def _inner(self, node: Loop) -> Loop:
        node.orelse = [new for s in node.orelse for new in self.statements(s)]
        return node  # a `break` in its body is its own

    visit_While = visit_For = _inner


def _assign_flag(name: str, value: Any) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))


def _flatten_targets(targets: Sequence[ast.expr]) -> list[ast.expr]:
    """Flatten the targets of `del a, (b, c)`."""
    nested = (
        _flatten_targets(t.elts) if isinstance(t, ast.Tuple | ast.List) else [t] for t in targets
    )
    return [t for part in nested for t in part]
