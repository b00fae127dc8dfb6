"""Statements that decide something, as calls of `runtime`; their bodies become functions.

    if a:                           def then(y):
        y = y + 1                       y = y + 1
                             →          return (y,)
                                    def orelse(y):
                                        return (y,)
                                    (y,) = script.if_(a, then, orelse, "y", (y,))

What a branch sets and is needed afterwards is what its function returns; what it reads before it
sets it is what its function takes. Everything else it sees as nested functions see it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any

from minigrad.hybrid.scripting.desugar import desugar, global_name, is_deletion
from minigrad.hybrid.scripting.expressions import Expressions, Known
from minigrad.hybrid.scripting.jumps import after_docstring, lower_jumps
from minigrad.hybrid.scripting.missing import RETURNED
from minigrad.hybrid.scripting.names import (
    FunctionDef,
    Liveness,
    Loop,
    captured_names,
    nested_functions,
    never_falls_through,
    nonlocals,
    own_nodes,
    parameters,
    reads,
    stores,
)
from minigrad.hybrid.scripting.syntax import (
    Scope,
    copy_location,
    function_def,
    head_location,
    lambda_,
    load_name,
)


class Rewriter:
    """Rewrites one function and the functions nested in it."""

    def __init__(
        self, tree: ast.FunctionDef, known: Known, untouched: Callable[[Any], bool]
    ) -> None:
        self.taken = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        self.taken |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        self.taken |= {n.name for n in ast.walk(tree) if isinstance(n, FunctionDef)}
        self.known, self.untouched = known, untouched
        self.runtime = self.unique("script")
        self.names = {n: self.unique(n) for n in ("then", "orelse", "body", "element")}

    def unique(self, name: str) -> str:
        """Return this name, or if the function uses it, a similar one that it doesn't."""
        found, n = name, 0
        while found in self.taken:
            n += 1
            found = f"{name}_{n}"
        self.taken.add(found)
        return found

    def function(self, tree: ast.FunctionDef, around: Set[str] = frozenset()) -> ast.FunctionDef:
        """Rewrite a function without control flow on values that a graph may not know.

        around: the variables of the function around it that may have no value.
        """
        return _FunctionRewriter(self, tree, around).rewritten()


class _FunctionRewriter:
    def __init__(self, rewriter: Rewriter, tree: ast.FunctionDef, around: Set[str]) -> None:
        self.rewriter, self.tree, self.names = rewriter, tree, rewriter.names
        first = (*tree.args.posonlyargs, *tree.args.args)
        self.expressions = Expressions(
            rewriter.runtime,
            rewriter.unique,
            rewriter.known,
            rewriter.untouched,
            first[0].arg if first else None,
            rewriter.function,
        )
        desugar(tree, rewriter.runtime, rewriter.unique)
        self.outer = nonlocals(tree)
        nested = nested_functions(*tree.body)
        always = {name for f in nested for name in captured_names(f)} | self.outer
        self.body, self.flow, self.result = lower_jumps(tree, rewriter.unique)
        self.live = Liveness(always, self.flow)
        self.live.before(self.body, self.outer)
        doubtful = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
        regions = [n for n in own_nodes(*self.body) if isinstance(n, doubtful) or is_deletion(n)]
        self.maybe = stores(*regions).keys() - self.flow.flags
        self.around = around - stores(*tree.body).keys() - set(parameters(tree.args))

    def rewritten(self) -> ast.FunctionDef:
        tree, own = self.tree, set(parameters(self.tree.args)) | self.outer
        scope = Scope(set(own), set(own))
        body = self._block(self.body, scope)
        tree.body = after_docstring(body, self._undefined_marks(scope, tree)) or [ast.Pass()]
        return ast.fix_missing_locations(tree)

    def _undefined_marks(self, scope: Scope, at: ast.AST) -> list[ast.stmt]:
        """Return the statements that mark variables without a value."""
        return [
            copy_location(at, ast.Assign([ast.Name(name, ast.Store())], self._undefined_mark(name)))
            for name in scope.marked
        ]

    def _undefined_mark(self, name: str) -> ast.expr:
        if name == self.result:
            return self._unused_value()
        return self.expressions.call("undefined", ast.Constant(name))

    def _block(self, statements: Sequence[ast.stmt], scope: Scope) -> list[ast.stmt]:
        return [new for s in statements for new in self._statement(s, scope)]

    def _statement(self, s: ast.stmt, scope: Scope) -> list[ast.stmt]:
        if isinstance(s, ast.If):
            return self._if(s, scope)
        if isinstance(s, ast.While):
            return self._while(s, scope)
        if isinstance(s, ast.For):
            return self._for(s, scope)
        if isinstance(s, ast.With):
            items = [self._expression(item, scope) for item in s.items]
            scope.bind(stores(*s.items))
            return [copy_location(s, ast.With(items, self._block(s.body, scope) or [ast.Pass()]))]
        if isinstance(s, ast.Try):
            return self._try(s, scope)
        if isinstance(s, ast.Assert):
            return [copy_location(s, ast.Expr(self._assertion(s, scope)))]
        if isinstance(s, ast.Pass) or self._is_unused_flag(s):
            return []
        if isinstance(s, ast.AnnAssign):
            if s.value is None:
                return []
            s = copy_location(s, ast.Assign([s.target], s.value))
        if isinstance(s, ast.Match):
            scope.pass_on(stores(s))  # what a pattern that does not fit leaves without a value
        first, deletes = self._mutation_checks(s) + self._first_read(s, scope), is_deletion(s)
        new = self._expression(s, scope)
        if deletes:
            scope.bound.update(stores(s))
            scope.defined.difference_update(stores(s))
        elif isinstance(s, FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            scope.bind(stores(s))
        elif isinstance(s, ast.Assign):
            scope.bind(stores(*s.targets))
        elif isinstance(s, ast.AugAssign):
            scope.bind(stores(s.target))
        return [*first, new]

    def _is_unused_flag(self, s: ast.stmt) -> bool:
        """Return whether this sets a flag that is never read."""
        constant = isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant)
        own = stores(*s.targets) if constant and isinstance(s, ast.Assign) else {}
        return bool(own) and own.keys() <= self.flow.flags - self.live.after[s]

    def _expression(self, node: Any, scope: Scope) -> Any:
        """Rewrite an expression or simple statement; check names that may have no value."""
        doubtful = self.maybe - scope.defined
        scope.pass_on(reads(node) & doubtful)
        for part in own_nodes(node):
            if isinstance(part, ast.NamedExpr):
                scope.bind([part.target.id])
        return self.expressions.rewrite(node, doubtful | self.around)

    def _test(self, test: ast.expr, scope: Scope) -> ast.expr:
        new: ast.expr = self._expression(self.expressions.truth(test), scope)
        return new

    def _assertion(self, s: ast.Assert, scope: Scope) -> ast.expr:
        test = self._test(s.test, scope)
        message = [lambda_([], self._expression(s.msg, scope))] if s.msg else []
        return self.expressions.call("assert_", test, *message)

    def _mutation_checks(self, s: ast.stmt) -> list[ast.stmt]:
        """Return statements that refuse, in a branch of the graph, what only Python can do."""
        if isinstance(s, ast.Raise):
            return [copy_location(s, ast.Expr(self.expressions.call("raising")))]
        targets = s.targets if isinstance(s, ast.Assign | ast.Delete) else []
        if isinstance(s, ast.AugAssign):
            targets = [s.target]
        found: list[ast.stmt] = []
        for target in own_nodes(*targets):
            if isinstance(target, ast.Attribute | ast.Subscript) and isinstance(
                target.ctx, ast.Store | ast.Del
            ):
                text = ast.Constant(global_name(target) or ast.unparse(target))
                found.append(copy_location(s, ast.Expr(self._mutation_check(target, text))))
        return found

    def _first_read(self, s: ast.stmt, scope: Scope) -> list[ast.stmt]:
        """Build y = script.defined(y) before y += 1, if y may have no value."""
        target = s.target if isinstance(s, ast.AugAssign) else None
        if not isinstance(target, ast.Name) or target.id not in self.maybe - scope.defined:
            return []
        value = self.expressions.call("defined", load_name(target.id))
        return [copy_location(s, ast.Assign([ast.Name(target.id, ast.Store())], value))]

    def _mutation_check(
        self, target: ast.Attribute | ast.Subscript, text: ast.Constant
    ) -> ast.expr:
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            return self.expressions.call("set_item", text, load_name(target.value.id))
        return self.expressions.call("set_attribute", text)

    def _try(self, s: ast.Try, scope: Scope) -> list[ast.stmt]:
        """Keep `try` as it is, with its blocks rewritten: only Python raises exceptions."""
        scope.pass_on(stores(s))
        before = set(scope.defined)
        body, orelse = self._block(s.body, scope), self._block(s.orelse, scope)
        ways = [] if never_falls_through(s.body + s.orelse) else [scope.defined]
        handlers = []
        for h in s.handlers:
            scope.defined = before | ({h.name} if h.name else set())
            inside = [self._except_check(s, h), *self._block(h.body, scope)]
            kind = self._expression(h.type, scope) if h.type else None
            handlers.append(copy_location(h, ast.ExceptHandler(kind, h.name, inside)))
            ways += [] if never_falls_through(h.body) else [scope.defined - {h.name}]
        after = set.intersection(*ways) if ways else before
        scope.defined = set(before)
        final = self._block(s.finalbody, scope)
        scope.defined |= after
        if not (handlers or final):
            return body + orelse
        return [copy_location(s, ast.Try(body or [ast.Pass()], handlers, orelse, final))]

    def _except_check(self, s: ast.Try, handler: ast.ExceptHandler) -> ast.stmt:
        """Build script.caught("x") for the beginning of a handler; see `regions.check_caught`."""
        regions = (n for n in own_nodes(*s.body) if isinstance(n, ast.If | Loop))
        names = [v for v in stores(*regions) if v in self.live.handlers[s]]
        call = self.expressions.call("caught", ast.Constant(self._labels(names)))
        return copy_location(handler, ast.Expr(call))

    # ---- branches and loops -----------------------------------------------------------------

    def _if(self, s: ast.If, scope: Scope) -> list[ast.stmt]:
        head, own = head_location(s, s.test), stores(*s.body, *s.orelse)
        test = self._test(s.test, scope)
        gives = [v for v in own if v in self.live.after[s]]
        sides = list(zip((s.body, s.orelse), self.live.branches[s], strict=True))
        scope.pass_on(v for v in own if any(v in begin for _, begin in sides))
        takes = [v for v in own if any(v in stores(*b) and v in begin for b, begin in sides)]
        functions: list[ast.stmt] = []
        ways = []
        alive = self.flow.alive.get(s, (None, None))
        for name, (body, _), needed in zip(("then", "orelse"), sides, alive, strict=True):
            inner = scope.inner(stores(*body), takes)
            results = [self._branch_result(v, needed) for v in gives]
            functions.append(self._body_function(name, head, takes, body, inner, results))
            if needed is None:
                ways.append(inner.defined)
        scope.defined = set.intersection(*ways) if ways else scope.defined | own.keys()
        scope.bound.update(gives)
        names = [load_name(self.names[n]) for n in ("then", "orelse")]
        call = self.expressions.call("if_", test, *names)
        return [*functions, self._called(head, call, gives, takes)]

    def _branch_result(self, name: str, alive: Set[str] | None) -> ast.expr:
        """Return a result of a branch, which may be unneeded if the branch ends in a jump."""
        if alive is None or name in alive or name in self.flow.flags:
            return load_name(name)
        return self._unused_value()

    def _unused_value(self) -> ast.expr:
        return ast.Attribute(load_name(self.rewriter.runtime), "unused", ast.Load())

    def _body_function(
        self,
        name: str,
        head: ast.stmt,
        takes: Iterable[str],
        body: Sequence[ast.stmt],
        scope: Scope,
        results: list[ast.expr],
        first: Sequence[ast.stmt] = (),
    ) -> ast.stmt:
        """Make a function of a body."""
        inside = [*first, *self._block(body, scope)]
        inside = self._undefined_marks(scope, head) + inside
        if results:
            inside.append(copy_location(head, ast.Return(ast.Tuple(results, ast.Load()))))
        return copy_location(head, function_def(self.names[name], takes, inside or [ast.Pass()]))

    def _called(
        self,
        head: ast.stmt,
        call: ast.Call,
        gives: Sequence[str],
        takes: Sequence[str],
        stops: Sequence[str] = (),
    ) -> ast.stmt:
        if gives or takes:
            call.args.append(ast.Constant(self._labels(gives)))
        if takes:
            call.args.append(ast.Tuple([load_name(v) for v in takes], ast.Load()))
        if stops:
            call.keywords.append(ast.keyword("stop", ast.Constant(self._labels(stops))))
        if not gives:
            return copy_location(head, ast.Expr(call))
        names: list[ast.expr] = [ast.Name(n, ast.Store()) for n in gives]
        return copy_location(head, ast.Assign([ast.Tuple(names, ast.Store())], call))

    def _labels(self, names: Sequence[str]) -> str:
        return ", ".join(RETURNED if name == self.result else name for name in names)

    def _carried_names(self, s: Loop, own: Iterable[str]) -> list[str]:
        """Return the variables that a loop carries from step to step, or out."""
        needed = self.live.after[s] | self.live.inside[s]
        needed_later = self.flow.carried[s] | (self.flow.flags & needed)
        return [v for v in own if v in needed_later]

    def _while(self, s: ast.While, scope: Scope) -> list[ast.stmt]:
        head, own = head_location(s, s.test), stores(*s.body)
        state = self._carried_names(s, own)
        scope.pass_on(state)
        test = lambda_(state, self._test(s.test, scope))
        results: list[ast.expr] = [load_name(v) for v in state]
        body = self._body_function("body", head, state, s.body, scope.inner(own, state), results)
        call = self.expressions.call(
            "while_", copy_location(s.test, test), load_name(self.names["body"])
        )
        return [body, self._called(head, call, state, state, self.flow.stops[s])]

    def _for(self, s: ast.For, scope: Scope) -> list[ast.stmt]:
        head, own = head_location(s, s.iter), stores(s.target, *s.body)
        state = self._carried_names(s, own)
        scope.pass_on(state)
        items = self._expression(s.iter, scope)
        plain = isinstance(s.target, ast.Name) and s.target.id not in state
        element = s.target.id if plain and isinstance(s.target, ast.Name) else self.names["element"]
        first = [] if plain else [copy_location(head, ast.Assign([s.target], load_name(element)))]
        inner = scope.inner(own, state)
        inner.bind(stores(s.target))
        results: list[ast.expr] = [load_name(v) for v in state]
        body = self._body_function("body", head, [element, *state], s.body, inner, results, first)
        call = self.expressions.call("for_", items, load_name(self.names["body"]))
        return [body, self._called(head, call, state, state, self.flow.stops[s])]
