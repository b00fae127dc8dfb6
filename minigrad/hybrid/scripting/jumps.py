"""Replace jumps: break, continue and early return become flags and branches.

    while a:                        returned = False
        if b:                       while a:                  # as long as not returned
            return x                    if b:
        y                    →              result, returned = x, True
    return z                            else:
                                            y
                                    if not returned:
                                        result = z
                                    return result

What follows a branch that always jumps moves into the other branch; only where a branch may jump
or not, a flag is tested. Flags that are never tested are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from minigrad.hybrid.scripting.names import (
    Flow,
    FunctionDef,
    Jump,
    Liveness,
    Loop,
    captured_names,
    escaping_jumps,
    nested_functions,
    never_falls_through,
)
from minigrad.hybrid.scripting.syntax import copy_location

Compound = ast.If | Loop | ast.With | ast.Try
Unique = Callable[[str], str]
Alive = Set[str] | None


@dataclass
class Flags:
    """The flags of the loop around a statement: which jump sets which."""

    broke: str
    skipped: str


def lower_jumps(function: FunctionDef, unique: Unique) -> tuple[list[ast.stmt], Flow, str]:
    """Remove the jumps from a function's body, except one return at its end.

    Returns as well the name of the variable that holds the result.
    """
    return _JumpLowering(function, unique).function()


class _JumpLowering:
    def __init__(self, function: FunctionDef, unique: Unique) -> None:
        self.body, self.unique = reachable(function.body), unique
        self.result, self.returned = unique("result"), unique("returned")
        self.flow = Flow(flags={self.result, self.returned})
        nested = nested_functions(*self.body)
        self.live = Liveness({name for f in nested for name in captured_names(f)})
        self.live.before(self.body, frozenset())
        self.tested: set[str] = set()

    def function(self) -> tuple[list[ast.stmt], Flow, str]:
        body = self.body
        returns = [j for j in escaping_jumps(*body) if isinstance(j, ast.Return)]
        only_last = not returns or (len(returns) == 1 and returns[0] is body[-1])
        if only_last:
            last = body[-1:] if returns else []
            return (
                [*self._drop_unused(self.block(body[: len(body) - len(last)])), *last],
                self.flow,
                "",
            )
        if not never_falls_through(body):
            nothing = copy_location(body[-1], ast.Return(ast.Constant(None)))
            self.live.target[nothing] = self.live.always
            body = [*body, nothing]
        lowered = self._drop_unused(self.block(body))
        if self.returned in self.tested:
            lowered = after_docstring(lowered, [self._set_flag(body[0], self.returned, False)])
        end = copy_location(lowered[-1], ast.Return(ast.Name(self.result, ast.Load())))
        return [*lowered, end], self.flow, self.result

    def block(self, statements: Sequence[ast.stmt], around: Flags | None = None) -> list[ast.stmt]:
        """Lower statements to ones without jumps; drop what is never reached."""
        done: list[ast.stmt] = []
        for k, s in enumerate(statements):
            rest = list(statements[k + 1 :])
            if isinstance(s, Jump):
                return done + self._lower_jump(s, around)
            jumps = escaping_jumps(s)
            if isinstance(s, ast.If):
                body, orelse = s.body, s.orelse
                if jumps and never_falls_through(body):
                    orelse, rest = orelse + rest, []
                elif jumps and never_falls_through(orelse):
                    body, rest = body + rest, []
                done.append(self._lower_if(s, body, orelse, around))
            elif isinstance(s, Loop):
                done += self._lower_loop(s)
            elif isinstance(s, ast.With):
                done.append(copy_location(s, ast.With(s.items, self.block(s.body, around))))
            elif isinstance(s, ast.Try):
                done.append(self._lower_try(s, around))
            else:
                done.append(s)
            if jumps:
                return done + ([self._guarded(s, jumps, rest, around)] if rest else [])
        return done

    def _lower_jump(self, s: Jump, around: Flags | None) -> list[ast.stmt]:
        if isinstance(s, ast.Return):
            value = s.value or ast.Constant(None)
            name = ast.Name(self.result, ast.Store())
            return [
                copy_location(s, ast.Assign([name], value)),
                self._set_flag(s, self.returned, True),
            ]
        return [self._set_flag(s, self._jump_flag(s, around), True)]

    def _jump_flag(self, s: Jump, around: Flags | None) -> str:
        if isinstance(s, ast.Return) or around is None:
            return self.returned
        return around.broke if isinstance(s, ast.Break) else around.skipped

    def _lower_if(
        self, s: ast.If, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], around: Flags | None
    ) -> ast.If:
        new = ast.If(s.test, self.block(body, around), self.block(orelse, around))
        self.flow.alive[new] = (self._live_after(body), self._live_after(orelse))
        return copy_location(s, new)

    def _lower_try(self, s: ast.Try, around: Flags | None) -> ast.Try:
        """Lower each part of a `try`; `else` runs unless the body jumped."""
        jumps, orelse = escaping_jumps(*s.body), s.orelse
        if never_falls_through(s.body) or not orelse:
            orelse = []
        elif jumps:
            orelse = [self._guarded(s, jumps, orelse, around)]
        else:
            orelse = self.block(orelse, around)
        handlers = [
            copy_location(h, ast.ExceptHandler(h.type, h.name, self.block(h.body, around)))
            for h in s.handlers
        ]
        final = self.block(s.finalbody, around)
        new = copy_location(s, ast.Try(self.block(s.body, around), handlers, orelse, final))
        return new

    def _live_after(self, statements: Sequence[ast.stmt]) -> Alive:
        """Return the variables still needed where the jumps of these statements lead."""
        return (
            self._live_at_targets(escaping_jumps(*statements))
            if never_falls_through(statements)
            else None
        )

    def _live_at_targets(self, jumps: Sequence[Jump]) -> Set[str]:
        return frozenset().union(*(self.live.target[j] for j in jumps))

    def _guarded(
        self, s: ast.stmt, jumps: list[Jump], rest: list[ast.stmt], around: Flags | None
    ) -> ast.If:
        """Run the statements after `s` only if it didn't jump."""
        flags = list(dict.fromkeys(self._jump_flag(j, around) for j in jumps))
        self.tested.update(flags)
        none: list[ast.expr] = [ast.UnaryOp(ast.Not(), ast.Name(f, ast.Load())) for f in flags]
        test = none[0] if len(none) == 1 else ast.BoolOp(ast.And(), none)
        again = {self._jump_flag(j, around) for j in escaping_jumps(*rest)}
        known = [self._set_flag(rest[0], f, False) for f in flags if f in again]
        body = known + self.block(rest, around)
        new = ast.If(test, body, [])
        self.flow.alive[new] = (self._live_after(rest), self._live_at_targets(jumps))
        return copy_location(s, new)

    def _lower_loop(self, s: Loop) -> list[ast.stmt]:
        kinds = {type(j) for j in escaping_jumps(*s.body)}
        broke = self.unique("broke") if ast.Break in kinds else ""
        around = Flags(broke, self.unique("skipped") if ast.Continue in kinds else "")
        stops = [broke] * (ast.Break in kinds) + [self.returned] * (ast.Return in kinds)
        self.flow.flags |= {around.broke, around.skipped} - {""}
        body = self.block(s.body, around)
        self.tested.update(stops)
        if around.skipped and around.skipped in self.tested:
            body.insert(0, self._set_flag(s.body[0], around.skipped, False))
        new: Loop
        if isinstance(s, ast.While):
            new = ast.While(s.test, body, [])
        else:
            new = ast.For(s.target, s.iter, body, [])
        self.flow.stops[new] = stops
        self.flow.carried[new] = self.live.inside[s]
        first = [self._set_flag(s, broke, False)] if broke else []
        return [*first, copy_location(s, new)]

    def _set_flag(self, where: ast.stmt, flag: str, value: bool) -> ast.stmt:
        return copy_location(where, ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(value)))

    def _drop_unused(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Remove flags that are never read, and fill empty bodies."""
        idle = self.flow.flags - self.tested - {self.result}
        kept = [s for s in statements if not any(_assigns_to(s, f) for f in idle)]
        for s in kept:
            if isinstance(s, Compound):
                s.body = self._drop_unused(s.body) or [copy_location(s, ast.Pass())]
            if isinstance(s, ast.If | ast.Try):
                s.orelse = self._drop_unused(s.orelse)
            if isinstance(s, ast.Try):
                for h in s.handlers:
                    h.body = self._drop_unused(h.body) or [copy_location(h, ast.Pass())]
        return kept


def reachable(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements up to the first jump."""
    kept: list[ast.stmt] = []
    for s in statements:
        kept.append(s)
        for part in (s, *(s.handlers if isinstance(s, ast.Try) else ())):
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(part, name, None)
                if inner and isinstance(s, Compound):
                    setattr(part, name, reachable(inner))
        if never_falls_through([s]):
            break
    return kept


def _assigns_to(s: ast.stmt, name: str) -> bool:
    first = s.targets[0] if isinstance(s, ast.Assign) else None
    return isinstance(first, ast.Name) and first.id == name


def after_docstring(body: list[ast.stmt], added: list[ast.stmt]) -> list[ast.stmt]:
    """Insert statements at the beginning of a body, after its docstring."""
    first = body[0] if body else None
    value = first.value if isinstance(first, ast.Expr) else None
    n = int(isinstance(value, ast.Constant) and isinstance(value.value, str))
    return [*body[:n], *added, *body[n:]]
