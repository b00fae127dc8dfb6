"""The core alone: copied into an empty folder it runs, and so does the library on top of it."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

import pytest
import size
from forks import Forks
from test_architecture import MODULES, PATHS, ROOT, ring

CEILING = 9000  # lines of code of the core
CORE, LIBRARY = ("core",), ("core", "library")
TRAINING = """
layer = mg.nn.Linear(2, 1, seed=0)
optimiser = mg.optim.SGD(layer.parameters(), lr=0.1)
layer(mg.ones(3, 2)).sum().backward()
optimiser.step()
print(layer.weight, layer.bias)
"""
SAVING = """
import tempfile
with tempfile.TemporaryDirectory() as folder:
    mg.save(described(x), f"{folder}/it.graph")
    graph = mg.load_graph(f"{folder}/it.graph")
program = mg.compile(graph)
print(graph.text(), program({"x": 3.0}), program.source)
"""
WALKS = {  # those of minigrad/README.md, what the library is for, and the rings that they need
    1: (CORE, "print(x * x, mg.REGISTRY['Mul'](a, a), described(x).text())"),
    2: (CORE, "model(x).backward(); print(x.grad)"),
    3: (CORE, "print(mg.run(described(x), {'x': 3.0}))"),
    4: (LIBRARY, "print(mg.optimize(described(x), ['merge_common']).history[0])"),
    5: (LIBRARY, "f = mg.function(model); print(f(x), f(x), f.graph.text())"),
    "training": (LIBRARY, TRAINING),
    "compiling and saving": (LIBRARY, SAVING),
}
BEGIN = """
import minigrad as mg, numpy as np

def model(x):
    return x * x + 3

def described(x):
    with mg.Graph():
        y = model(x := mg.placeholder("x", shape=()))
        return mg.build_graph(x, [y, *mg.gradients(y, x)])

x, a = mg.tensor(3.0, requires_grad=True), np.ones(2)
"""
GROW = {"add", "append", "update"}
Copy = Callable[[tuple[str, ...]], Path]


def of(rings: tuple[str, ...]) -> set[str]:
    return {name for name in MODULES["minigrad"] if ring(name) in rings}


def public(rings: tuple[str, ...]) -> Iterator[str]:
    """What of the package's names these rings hold, as imports."""
    known = of(rings)
    for name in ("minigrad", "minigrad._lazy_exports"):
        for node in ast.parse(PATHS[name].read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                full = {a.name: f"{node.module}.{a.name}" for a in node.names}
                home = {name: name if name in PATHS else node.module for name in full.values()}
                node.names = [a for a in node.names if home[full[a.name]] in known]
                if node.names:
                    yield ast.unparse(node)


@pytest.fixture(scope="session")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A function that copies rings, and nothing else, into a folder of their own."""

    @cache
    def copied(rings: tuple[str, ...]) -> Path:
        folder = tmp_path_factory.mktemp("rings")
        for path in [PATHS[name] for name in of(rings)]:
            compiled = Path(cache_from_source(str(path)))
            for file in (path, compiled):
                if file.exists():
                    (folder / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, folder / file.relative_to(ROOT))
        for path in (ROOT / "minigrad").rglob("*.[!p]*"):  # messages, headers, digits
            if (folder / path.relative_to(ROOT)).parent.exists() and "__pycache__" not in str(path):
                shutil.copy(path, folder / path.relative_to(ROOT))
        (folder / "minigrad/__init__.py").write_text("\n".join(public(rings)) + "\n", "utf-8")
        return folder

    return copied


@cache
def begun(folder: Path) -> Forks:
    """A Python that has loaded the engine of this folder; warnings are errors."""
    others = f"[p for p in sys.path if p != {str(ROOT)!r}]"
    place = f"import sys; sys.path[:] = [{str(folder)!r}, *{others}]"
    return Forks(f"{place}; import minigrad, numpy", "-W", "error")


@cache
def printed(folder: Path, code: str) -> str:
    """What code prints with the engine of this folder."""
    status, said, told = begun(folder).run(code)
    assert status == 0, told
    return said


def test_the_core_stays_small() -> None:
    assert sum(size.lines(PATHS[name].read_text("utf-8")) for name in of(CORE)) <= CEILING


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_runs_on_what_it_needs_alone(walk: int | str, copy: Copy) -> None:
    rings, code = WALKS[walk]
    found = printed(copy(rings), BEGIN + code)
    assert found.strip()
    assert found == printed(ROOT, BEGIN + code)


def used(node: ast.AST) -> set[str]:
    """The names that code reads, those of attributes with a dot in front; "..." is a gap."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    names |= {f".{n.attr}" for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    gaps = (isinstance(n, ast.Constant) and n.value is ... for n in ast.walk(node))
    return names | ({"..."} if any(gaps) else set())


def made(node: ast.AST) -> set[str]:
    """The names that a statement defines or adds something to."""
    names = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    names |= {a.asname or a.name for n in ast.walk(node) for a in getattr(n, "names", [])}
    names |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef)}
    grown = [n.value for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr in GROW]
    return names | {x.id for x in grown if isinstance(x, ast.Name)}


def program(notebook: Path, beyond: set[str]) -> str:
    """The statements of a lesson that need none of these names, nor what is made with one."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    missing, kept = {"viz", "lessons", "get_ipython", "...", *beyond}, []
    for cell in cells:
        if cell["cell_type"] == "code":
            for statement in ast.parse("".join(cell["source"])).body:
                if used(statement) & missing or made(statement) & {"viz", "lessons"}:
                    missing |= made(statement)
                else:
                    missing -= made(statement)
                    kept.append(ast.unparse(statement))
    return "\n".join(kept)


@pytest.mark.parametrize("lesson", range(6))
def test_a_lesson_about_the_core_runs_on_the_core(lesson: int, copy: Copy) -> None:
    (notebook,) = (ROOT / "notebooks").glob(f"{lesson:02}_*.ipynb")
    both = [
        {*printed(folder, "import minigrad as mg; print(*dir(mg), *dir(mg.Graph))").split()}
        for folder in (copy(CORE), ROOT)
    ]
    code = program(notebook, {f".{name}" for name in both[1] - both[0]})
    found = printed(copy(CORE), code)
    assert len(code.splitlines()) > 20
    assert found.strip()
    assert found == printed(ROOT, code)
