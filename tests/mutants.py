"""Plant small mutations in the code, and count how many of them the tests catch.

    python tests/mutants.py [--count 150] [--seed 1] [--seconds 30] [pytest arguments]

Every mutation is compiled into the code at once, each behind a switch that is off; the sources on
disk stay as they are. One run with all switches off notes which tests reach which switch. Then, for
each mutation, a child of the process with all tests collected turns its switch on and runs the
tests that reach it, the shortest first, until one of them fails.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib.abc
import importlib.machinery
import json
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("minigrad", "viz")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
Place = tuple[str, int, int, str]  # file, line, column, what stands there


def mutated(node: ast.AST) -> ast.expr | None:
    """Return another expression in the place of this one, or None where none is planted."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            return ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.Compare(left, [op], right) if type(op) in SWAPS:
            return ast.Compare(left, [SWAPS[type(op)]()], right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(SWAPS[type(op)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value)):
            return ast.Constant(value + 1)
    return None


class Planter(ast.NodeTransformer):
    """Visit the expressions inside functions; plant a switch at those that were chosen."""

    def __init__(self, file: str, chosen: dict[Place, int] | None) -> None:
        self.file, self.chosen, self.depth = file, chosen, 0
        self.places: list[Place] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        node.body = [self.visit(statement) for statement in node.body]
        self.depth -= 1
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = node.value and self.visit(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        for case in node.cases:  # a pattern is no expression
            case.body = [self.visit(statement) for statement in case.body]
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        other = mutated(node) if self.depth else None
        if other is None:
            return super().generic_visit(node)
        place = (self.file, node.lineno, node.col_offset, ast.unparse(node)[:60])
        self.places.append(place)
        number = (self.chosen or {}).get(place)
        super().generic_visit(node)
        if number is None:
            return node
        switch = ast.Call(ast.Name("__mutant__", ast.Load()), [ast.Constant(number)], [])
        return ast.copy_location(ast.IfExp(switch, mutated(node), node), node)


def places_in(path: Path) -> list[Place]:
    """List where a file can be mutated."""
    planter = Planter(path.relative_to(ROOT).as_posix(), None)
    planter.visit(ast.parse(path.read_text("utf-8")))
    return planter.places


def sample(count: int, seed: int) -> list[Place]:
    """Choose places by their seed, in the files of both packages."""
    files = sorted(f for name in PACKAGES for f in (ROOT / name).rglob("*.py"))
    return random.Random(seed).sample([place for f in files for place in places_in(f)], count)


class Loader(importlib.machinery.SourceFileLoader):
    """Compile a module with its switches."""

    chosen: dict[Place, int]

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        file = Path(os.fsdecode(path)).relative_to(ROOT).as_posix()
        tree = Planter(file, self.chosen).visit(ast.parse(data))
        return compile(ast.fix_missing_locations(tree), path, "exec", optimize=_optimize)

    def get_code(self, fullname: str) -> Any:  # never from a cache
        return self.source_to_code(self.get_data(self.path), self.path)


class Finder(importlib.abc.MetaPathFinder):
    """Find the modules of the packages that have a switch."""

    def __init__(self, chosen: dict[Place, int]) -> None:
        self.files = {str(ROOT / file) for file, *_ in chosen}
        Loader.chosen = chosen

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] not in PACKAGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path or [str(ROOT)], target)
        if spec and spec.origin in self.files:
            spec.loader = Loader(name, spec.origin)
        return spec


class Plugin:
    """The map of which tests reach which switch, then one child for each mutation."""

    def __init__(self, places: list[Place], seconds: float, out: Path) -> None:
        self.places, self.seconds, self.out = places, seconds, out
        self.on, self.reached = -1, set[int]()
        self.reach = defaultdict[int, list[tuple[float, pytest.Item]]](list)
        builtins.__mutant__ = self.mutant

    def mutant(self, number: int) -> bool:
        self.reached.add(number)
        return number == self.on

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.reached.clear()
        self.start, self.failed = time.perf_counter(), False
        result = yield
        took = time.perf_counter() - self.start
        if self.on < 0 and not self.failed:
            for number in self.reached:
                self.reach[number].append((took, item))
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._map(session.items)
        found = {"caught": 0, "survived": [], "unreached": []}
        for number, place in enumerate(self.places):
            if not self.reach[number]:
                found["unreached"].append(place)
            elif self._caught(number):
                found["caught"] += 1
            else:
                found["survived"].append(place)
            print(f"{number + 1:4} {place}: caught so far {found['caught']}", flush=True)
        self.out.write_text(json.dumps(found, indent=1))
        return True

    def _run(self, items: Sequence[pytest.Item]) -> bool:
        """Run tests, until one fails if a switch is on; return whether one did.

        Each is told which one follows: what is set up for its module alone is then taken down,
        without which the first test of another module fails, whatever the mutation.
        """
        for item, following in zip(items, [*items[1:], None], strict=False):
            self.failed = False
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed and self.on >= 0:
                return True
        return False

    def _map(self, items: Sequence[pytest.Item]) -> None:
        """Note in a child which tests reach what: this process keeps its caches empty.

        Otherwise the children would inherit, say, a function that was traced without the mutation.
        """
        with tempfile.TemporaryFile("w+") as file:
            if child := os.fork():
                os.waitpid(child, 0)
                file.seek(0)
                for number, tests in json.load(file):
                    self.reach[number] = [(took, items[i]) for took, i in tests]
                return
            self._run(items)
            at = {item: i for i, item in enumerate(items)}
            reach = [(n, [(took, at[x]) for took, x in tests]) for n, tests in self.reach.items()]
            json.dump(reach, file)
            file.flush()
            os._exit(0)

    def _caught(self, number: int) -> bool:
        """Run in a child the tests that reach a switch, until one fails or the time is up."""
        child = os.fork()
        if child:
            deadline = time.monotonic() + 3 * self.seconds + 30  # an endless loop is caught, too
            while time.monotonic() < deadline:
                if (done := os.waitpid(child, os.WNOHANG))[0]:
                    return os.waitstatus_to_exitcode(done[1]) != 0
                time.sleep(0.05)
            os.kill(child, 9)
            os.waitpid(child, 0)
            return True
        self.on, spent, items = number, 0.0, list[pytest.Item]()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for took, item in sorted(self.reach[number], key=lambda pair: pair[0]):
            spent += took
            if spent > self.seconds:
                break
            items.append(item)
        os._exit(self._run(items))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30, help="of tests for each mutation")
    parser.add_argument("--out", type=Path, default=Path("mutants.json"))
    options, rest = parser.parse_known_args()
    places = sample(options.count, options.seed)
    sys.meta_path.insert(0, Finder({place: i for i, place in enumerate(places)}))
    plugin = Plugin(places, options.seconds, options.out.absolute())
    return pytest.main([*rest, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], [plugin])


if __name__ == "__main__":
    sys.exit(main())
