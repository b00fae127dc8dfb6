"""Expressions that decide something, as calls of `runtime`; what follows is called only if needed.

a and b          script.and_(a, lambda: b)
a or b           script.or_(a, lambda: b)
not a            script.not_(a)
a < b < c        script.and_(a < b, lambda: b < c)
a if c else b    script.choose(c, lambda: a, lambda: b)
g(x)             script.call(g)(x)          # where g may be the user's: it is rewritten, too
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Set
from types import ModuleType
from typing import Any

from minigrad.hybrid.scripting.names import FunctionDef, parameters, stores
from minigrad.hybrid.scripting.syntax import copy_location, lambda_, load_name, thunk

Known = Callable[[str], Any]  # the value of a global name or a closure's cell, else MISSING
MISSING = object()


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one function.

    runtime: the name under which the runtime is known. known: what a global name stands for.
    untouched: whether a function never needs rewriting. function: rewrites a nested function.
    doubtful: the variables that may have no value at this point.
    """

    def __init__(
        self,
        runtime: str,
        unique: Callable[[str], str],
        known: Known,
        untouched: Callable[[Any], bool],
        first_parameter: str | None,
        function: Callable[[Any, Set[str]], FunctionDef],
    ) -> None:
        self.runtime, self.unique = runtime, unique
        self.known, self.untouched = known, untouched
        self.first_parameter, self.function = first_parameter, function
        self.doubtful: Set[str] = frozenset()

    def rewrite(self, node: Any, doubtful: Set[str] = frozenset()) -> Any:
        """Rewrite an expression (or simple statement), with checks of variables without value."""
        before, self.doubtful = self.doubtful, doubtful
        try:
            return self.visit(node)
        finally:
            self.doubtful = before

    def call(self, function: str, *arguments: ast.expr) -> ast.Call:
        """Build the call script.function(*arguments)."""
        attribute = ast.Attribute(load_name(self.runtime), function, ast.Load())
        return ast.Call(attribute, list(arguments), [])

    def truth(self, test: ast.expr) -> ast.expr:
        """Rewrite an expression of which only the truth counts: operands of `or` become bools."""
        if not isinstance(test, ast.BoolOp):
            return test
        values = [self.truth(v) for v in test.values]
        if isinstance(test.op, ast.Or):
            values = [v if _is_bool(v) else copy_location(v, self.call("bool_", v)) for v in values]
        return copy_location(test, ast.BoolOp(test.op, values))

    # ---- and, or, not, comparisons, a if c else b -------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first, *others = (self.visit(v) for v in node.values)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return copy_location(node, self.call(name, first, *map(thunk, others)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return copy_location(node, self.call("not_", self.visit(self.truth(node.operand))))
        self.generic_visit(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test, body, orelse = map(self.visit, (self.truth(node.test), node.body, node.orelse))
        return copy_location(node, self.call("choose", test, thunk(body), thunk(orelse)))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        return self._compare_chain(node, node.left, node.ops, node.comparators)

    def _compare_chain(
        self, at: ast.expr, left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]
    ) -> ast.expr:
        """Split chained comparisons into pairs; a shared operand is evaluated once."""
        if len(ops) == 1:
            return copy_location(at, ast.Compare(left, ops, others))
        middle = others[0]
        if not _is_repeatable(middle):
            names = [self.unique("left"), self.unique("middle")]
            pair: list[ast.expr] = [load_name(name) for name in names]
            body = self._compare_chain(at, pair[0], ops, [pair[1], *others[1:]])
            return copy_location(at, ast.Call(lambda_(names, body), [left, middle], []))
        first = copy_location(at, ast.Compare(left, ops[:1], [middle]))
        rest = self._compare_chain(at, middle, ops[1:], others[1:])
        return copy_location(at, self.call("and_", first, thunk(rest)))

    # ---- calls, functions, comprehensions, variables ----------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.expr:
        plain = isinstance(node.func, ast.Name) and self.known(node.func.id) is super
        if plain and not node.args and self.first_parameter:
            names = ("__class__", self.first_parameter)  # a branch is another function
            node.args = [ast.Name(n, ast.Load()) for n in names]
            return node
        function = node.func
        self.generic_visit(node)
        if not self._never_rewritten(function):
            node.func = copy_location(function, self.call("call", node.func))
        return node

    def _never_rewritten(self, function: ast.expr) -> bool:
        """Return whether this can never be a user's function, such as mg.exp or isinstance."""
        value = resolve_global(function, self.known)
        if isinstance(function, ast.Name) and value is not vars(builtins).get(function.id):
            return False  # the same code may find another function under this name
        return value is not MISSING and self.untouched(value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return self.function(node, self.doubtful)

    def visit_match_case(self, node: ast.match_case) -> Any:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        return node  # patterns stay what they are

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self._visit_shadowing(node, set(parameters(node.args)))

    def _visit_shadowing(self, node: Any, own: Set[str]) -> Any:
        before, self.doubtful = self.doubtful, self.doubtful - own
        self.generic_visit(node)
        self.doubtful = before
        return node

    def _comprehension(self, node: Any) -> Any:
        own = stores(*(g.target for g in node.generators)).keys()
        self._visit_shadowing(node, own)
        for g in node.generators:
            g.iter = copy_location(g.iter, self.call("items", g.iter))
            g.ifs = [copy_location(test, self.call("plain", test)) for test in g.ifs]
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.doubtful:
            return copy_location(node, self.call("defined", node))
        return node


def resolve_global(name: ast.expr, known: Known) -> Any:
    """Return the value of a global name or of a module's attribute, else MISSING."""
    path = []
    while isinstance(name, ast.Attribute):
        path.append(name.attr)
        name = name.value
    value = known(name.id) if isinstance(name, ast.Name) else MISSING
    for attribute in reversed(path):
        value = getattr(value, attribute, MISSING) if isinstance(value, ModuleType) else MISSING
    return value


def _is_repeatable(node: ast.expr) -> bool:
    """Return whether this may be evaluated twice: a name or a number."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Name | ast.Constant)


def _is_bool(node: ast.expr) -> bool:
    """Return whether this is a comparison or the like, never a number."""
    if isinstance(node, ast.BoolOp):
        return all(map(_is_bool, node.values))
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.Compare)
