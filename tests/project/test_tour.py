"""The tours, `minigrad/README.md` and `viz/README.md`: their stops are what runs, and stay few."""

from __future__ import annotations

import ast
import functools
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from forks import Forks

ROOT = Path(__file__).parents[2]
MOST = {"minigrad": 1000, "viz": 620}  # lines of code that a tour asks anybody to read
FAST = ("dynamic/fast_paths/", "compiler/", "interop/c/", "batching/")  # for speed, or an extra
WALK = re.compile(r"^### (\d) · .+", re.MULTILINE)
STOP = re.compile(
    r"^\| (.+) \| \[`([\w/]+\.py)`\]\(([\w/.]+)\) \| ((?:`[\w.]+` ?)+) \| (\d+) \|$", re.MULTILINE
)

# What each walk runs, traced in a process of its own without the fast paths.
RUN = """
import json, os, sys, tempfile
import minigrad as mg, viz

def model(x):
    return x * x + 3

def described(x):
    with mg.Graph():
        y = model(x := mg.placeholder("x", shape=()))
        return mg.build_graph(x, [y, *mg.gradients(y, x)])

x = mg.tensor(3.0, requires_grad=True)
mg.run, viz.step  # what loads when it is first asked for is no part of a walk
entered = set()
homes = tuple(os.path.dirname(package.__file__) + os.sep for package in (mg, viz))

def trace(frame, event, arg):
    code = frame.f_code
    if code.co_filename.startswith(homes):
        entered.add((code.co_filename, code.co_qualname))

def run(line):
    sys.settrace(trace)
    exec(line)
    sys.settrace(None)

{0}
print(json.dumps(sorted(entered)))
"""
# To cut the font of a page is the work of another package, and traced takes two seconds.
UNCUT = "from viz.picture import fonts; fonts._cut = lambda *_: b''"
RUNS = {
    "minigrad": {
        1: "run('x * x; a = mg.ones(2).numpy(); mg.REGISTRY[\"Mul\"](a, a); described(x)')",
        2: "run('y = model(x); y.backward()')",
        3: "run('mg.run(described(x), {\"x\": 3.0})')",
        4: "graph = described(x); run('graph.optimize([\"merge_common\"])')",
        5: "f = mg.function(model); run('f(x)')",
    },
    "viz": {
        1: "y = model(x); y.backward(retain_graph=True); run('viz.step(y)')",
        2: "y = model(x); run('viz.draw(y).svg')",
        3: f"{UNCUT}; page = tempfile.mkdtemp() + '/x.html'; run('viz.step(model(x)).save(page)')",
    },
}


class Stop(NamedTuple):
    """A row of a table: the file, the names to read there, and how many lines these have."""

    file: str
    names: tuple[str, ...]
    lines: int


@functools.cache
def tour(package: str) -> dict[int, list[Stop]]:
    """The stops of each walk."""
    text = (ROOT / package / "README.md").read_text("utf-8")
    _, *parts = WALK.split(text)
    walks = {}
    for number, part in zip(parts[::2], parts[1::2], strict=True):
        rows = [line for line in part.splitlines() if line.startswith("| ") and "`](" in line]
        found = STOP.findall(part)
        assert len(found) == len(rows), "a row of this table cannot be read"
        assert all(file == link for _, file, link, *_ in found)
        walks[int(number)] = [
            Stop(file, tuple(re.findall(r"[\w.]+", names)), int(lines))
            for _, file, _, names, lines in found
        ]
    return walks


WALKS = [(package, walk) for package in RUNS for walk in RUNS[package]]


@functools.cache
def definitions(path: Path) -> dict[str, ast.stmt]:
    """What a module defines: functions, classes, methods, and values that have a name."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign):
            found.update((x.id, node) for x in node.targets if isinstance(x, ast.Name))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    found[f"{node.name}.{inner.name}"] = inner
    return found


def length(node: ast.stmt) -> int:
    """The lines of a definition, with its decorators."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return (node.end_lineno or first) - first + 1


@functools.cache
def begun() -> Forks:
    """A Python that has loaded the packages, without the fast paths."""
    loaded = "import os; os.environ['MINIGRAD_PLAIN'] = '1'; import minigrad, viz"
    return Forks(f"{loaded}; minigrad.run, viz.step")


def traced(code: str) -> str:
    """What a run enters, as a new Python prints it."""
    status, printed, told = begun().run(RUN.replace("{0}", code), MINIGRAD_PLAIN="1")
    assert status == 0, told
    return printed


@functools.cache
def entered(package: str, code: str) -> set[tuple[str, str]]:
    """The files and names of the functions of a package that a run enters."""
    home = ROOT / package
    pairs = [(Path(file), name) for file, name in json.loads(traced(code))]
    return {
        (f.relative_to(home).as_posix(), name.partition(".<locals>")[0])
        for f, name in pairs
        if f.is_relative_to(home)
    }


@pytest.mark.parametrize("package", RUNS)
def test_a_tour_stays_short(package: str) -> None:
    assert tour(package).keys() == RUNS[package].keys()
    assert sum(stop.lines for stops in tour(package).values() for stop in stops) <= MOST[package]


@pytest.mark.parametrize(("package", "walk"), WALKS)
def test_every_stop_is_where_the_tour_says(package: str, walk: int) -> None:
    for stop in tour(package)[walk]:
        assert not stop.file.startswith(FAST), f"{stop.file} is there for speed"
        found = definitions(ROOT / package / stop.file)
        assert [name for name in stop.names if name not in found] == []
        lines = sum(length(found[name]) for name in stop.names)
        assert lines == stop.lines, f"{stop.file}, {', '.join(stop.names)}: {lines} lines"


@pytest.mark.parametrize(("package", "walk"), WALKS)
def test_what_the_tour_shows_is_what_runs(package: str, walk: int) -> None:
    ran = entered(package, RUNS[package][walk])
    for stop in tour(package)[walk]:
        found = definitions(ROOT / package / stop.file)
        for name in stop.names:
            methods = [n for n in found if n.startswith(f"{name}.")]
            if methods or isinstance(found[name], ast.FunctionDef):  # others are data
                assert any((stop.file, n) in ran for n in [name, *methods]), f"{name} did not run"


def test_the_count_of_lines_would_tell(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("class A:\n    @property\n    def f(self):\n        return 1\n\nB = (\n1)\n")
    assert {n: length(d) for n, d in definitions(path).items()} == {"A": 4, "A.f": 3, "B": 2}


# Lines and files that a run enters, every function counted whole: these may only fall.
@pytest.mark.parametrize(
    ("code", "lines", "files"),
    [
        ("run('y = model(x); y.backward()')", 510, 15),
        ("y = model(x); run('y.backward()')", 229, 8),
        ("graph = described(x); run('mg.run(graph, {\"x\": 3.0})')", 229, 8),
    ],
)
def test_a_run_enters_no_more_than_it_did(code: str, lines: int, files: int) -> None:
    ran = entered("minigrad", code)
    sizes = [
        length(definitions(ROOT / "minigrad" / file)[name])
        for file, name in ran
        if name in definitions(ROOT / "minigrad" / file)
    ]
    assert sum(sizes) <= lines
    assert len({file for file, _ in ran}) <= files
