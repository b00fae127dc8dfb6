"""Which variables the parts of a function read and write, and which values are still needed.

A region is the body of an `if` or a loop: it becomes a function of its own, whose parameters and
results are the variables that flow in and out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Loop = ast.While | ast.For
Jump = ast.Return | ast.Break | ast.Continue
Names = dict[str, None]  # a set that keeps the order of the source


def stores(*nodes: ast.AST) -> Names:
    """Return the variables that are assigned here, without nested functions."""
    return dict.fromkeys(name for node in nodes for name in _stored_names(node))


def _stored_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, Comprehension):  # its variables are its own
        named = (n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        yield from (n.target.id for n in named)
    elif not isinstance(node, ast.Lambda):
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        if isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        for child in ast.iter_child_nodes(node):
            yield from _stored_names(child)


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.arg for a in (*plain, *extra)]


def reads(*nodes: ast.AST) -> set[str]:
    """Return the variables whose values are read here, also by nested functions."""
    return {name for node in nodes for name in _read_names(node)}


def _read_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, FunctionDef):
        yield from reads(*node.decorator_list, *_defaults(node.args))
        yield from captured_names(node)
    elif isinstance(node, ast.Lambda):
        yield from reads(*_defaults(node.args))
        yield from captured_names(node)
    elif isinstance(node, ast.ClassDef):
        yield from reads(*node.decorator_list, *node.bases, *node.keywords)
        yield from reads(*node.body) - stores(*node.body).keys()
    elif isinstance(node, Comprehension):
        own = stores(*(g.target for g in node.generators))
        inside = {name for child in ast.iter_child_nodes(node) for name in _read_names(child)}
        yield from (inside - own.keys()) | reads(node.generators[0].iter)
    else:
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        for child in ast.iter_child_nodes(node):
            yield from _read_names(child)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]


def captured_names(node: FunctionDef | ast.Lambda) -> set[str]:
    """Return the variables that a nested function uses but doesn't define."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    outer = nonlocals(node)
    return reads(*body) - (stores(*body).keys() - outer) - set(parameters(node.args)) | outer


def nonlocals(node: FunctionDef | ast.Lambda) -> set[str]:
    """Return the outer variables that a nested function sets."""
    body = [] if isinstance(node, ast.Lambda) else node.body
    return {n for s in own_nodes(*body) if isinstance(s, ast.Nonlocal) for n in s.names}


def own_nodes(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Yield these nodes and all below them, but nothing inside nested functions."""
    for node in nodes:
        yield node
        if not isinstance(node, FunctionDef | ast.Lambda):
            yield from own_nodes(*ast.iter_child_nodes(node))


def nested_functions(*nodes: ast.AST) -> list[FunctionDef | ast.Lambda]:
    return [n for n in own_nodes(*nodes) if isinstance(n, FunctionDef | ast.Lambda)]


def escaping_jumps(*statements: ast.AST) -> list[Jump]:
    """Return the jumps that leave these statements."""
    found: list[Jump] = []
    for node in statements:
        if isinstance(node, Jump):
            found.append(node)
        elif isinstance(node, Loop):
            found += [j for j in escaping_jumps(*node.body) if isinstance(j, ast.Return)]
        elif not isinstance(node, FunctionDef | ast.expr):
            found += escaping_jumps(*ast.iter_child_nodes(node))
    return found


def never_falls_through(statements: Iterable[ast.stmt]) -> bool:
    """Return whether the code after these statements is never reached."""
    return any(_leaves_block(s) for s in statements)


def _leaves_block(s: ast.stmt) -> bool:
    if isinstance(s, ast.If):
        return never_falls_through(s.body) and never_falls_through(s.orelse)
    if isinstance(s, ast.While):
        forever = isinstance(s.test, ast.Constant) and bool(s.test.value)
        return forever and not any(isinstance(j, ast.Break) for j in _jumps_in(s))
    if isinstance(s, ast.Try):
        ways = [s.body + s.orelse, *(h.body for h in s.handlers)]
        return never_falls_through(s.finalbody) or all(map(never_falls_through, ways))
    return isinstance(s, Jump | ast.Raise)  # not `with`: it may stop an exception on its way


def _jumps_in(loop: Loop) -> list[Jump]:
    return escaping_jumps(*loop.body)


@dataclass
class Flow:
    """What is known of the statements of a function whose jumps were lowered.

    flags: the variables that were made for it. stops: the flags that end a loop. carried: the
    variables whose values a loop hands from step to step, or out. alive: the variables that are
    still needed after the two branches of an `if`, where these end in a jump (None: they do not).
    """

    flags: set[str] = field(default_factory=set)
    stops: dict[ast.stmt, list[str]] = field(default_factory=dict)
    carried: dict[ast.stmt, Set[str]] = field(default_factory=dict)
    alive: dict[ast.If, tuple[Set[str] | None, Set[str] | None]] = field(default_factory=dict)


class Liveness:
    """For each compound statement the variables whose values are needed after it and inside it.

    `always` are needed everywhere: a nested function may read them at any time.
    """

    def __init__(self, always: Set[str], flow: Flow | None = None) -> None:
        self.always, self.flow = always, flow or Flow()
        self.after: dict[ast.AST, Set[str]] = {}
        self.branches: dict[ast.If, tuple[Set[str], Set[str]]] = {}  # where each begins
        self.inside: dict[ast.AST, Set[str]] = {}  # where a step of a loop begins
        self.target: dict[Jump, Set[str]] = {}  # where a jump leads to
        self.handlers: dict[ast.Try, Set[str]] = {}  # where an exception leads to

    def before(
        self,
        statements: Iterable[ast.stmt],
        after: Set[str],
        jumps: tuple[Set[str], Set[str]] = (frozenset(), frozenset()),
    ) -> Set[str]:
        """Return the variables needed before these statements, if `after` is needed after them.

        jumps: what is needed where `break` and where `continue` lead to.
        """
        needed = after
        for s in reversed(list(statements)):
            needed = self._before_statement(s, needed, jumps) | self.always
        return needed

    def _before_statement(
        self, s: ast.stmt, after: Set[str], jumps: tuple[Set[str], Set[str]]
    ) -> Set[str]:
        self.after[s] = after
        if isinstance(s, ast.If):
            ends = self.flow.alive.get(s, (None, None))
            outs = [after if a is None else after & (a | self.flow.flags) for a in ends]
            body, orelse = (
                self.before(b, out, jumps) for b, out in zip((s.body, s.orelse), outs, strict=True)
            )
            self.branches[s] = body, orelse
            return reads(s.test) | body | orelse
        if isinstance(s, Loop):
            return self._before_loop(s, after)
        if isinstance(s, ast.With):
            return reads(*s.items) | (self.before(s.body, after, jumps) - stores(*s.items).keys())
        if isinstance(s, ast.Try):
            return self._before_try(s, after, jumps)
        if isinstance(s, Jump):
            self.target[s] = (
                frozenset() if isinstance(s, ast.Return) else jumps[isinstance(s, ast.Continue)]
            ) | self.always
            return self.target[s] | reads(s)
        if isinstance(s, ast.Raise):
            return reads(s)
        return (after - _surely_assigned(s).keys()) | reads(s)

    def _before_try(
        self, s: ast.Try, after: Set[str], jumps: tuple[Set[str], Set[str]]
    ) -> Set[str]:
        """Return the variables that a `try` needs; its handlers need theirs at every point."""
        final = self.before(s.finalbody, after, jumps)
        caught = set(final).union(
            *(self.before(h.body, final, jumps) - {h.name} for h in s.handlers),
            *(reads(h.type) for h in s.handlers if h.type is not None),
        )
        self.handlers[s] = caught
        orelse = self.before(s.orelse, final, jumps)
        always, self.always = self.always, self.always | caught
        body = self.before(s.body, orelse, jumps)
        self.always = always
        return body

    def _before_loop(self, s: Loop, after: Set[str]) -> Set[str]:
        again = reads(s.test) if isinstance(s, ast.While) else set()
        own = stores(s.target).keys() if isinstance(s, ast.For) else set()
        head: Set[str] = after | again | set(self.flow.stops.get(s, ()))
        while True:
            wider = head | (self.before(s.body, head, (after, head)) - own)
            if wider == head:
                break
            head = wider
        self.inside[s] = head
        return head | reads(s.iter) if isinstance(s, ast.For) else head


def _surely_assigned(s: ast.stmt) -> Names:
    """Return the variables that a simple statement assigns for certain."""
    if isinstance(s, ast.Assign):
        return stores(*s.targets)
    if isinstance(s, ast.AnnAssign) and s.value is None:
        return {}
    if isinstance(s, ast.AugAssign | ast.AnnAssign):
        return stores(s.target)
    return stores(s) if isinstance(s, FunctionDef | ast.ClassDef | ast.Import) else {}
