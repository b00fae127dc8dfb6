"""One list of names: each module says what is public, and packages hand it on."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType

import forks
import pytest

import minigrad as mg
import viz
from minigrad import functions, ops

ROOT = Path(__file__).parents[2]
PACKAGES = ("minigrad", "minigrad._lazy_exports", "minigrad.functions", "minigrad.ops")


def parsed(name: str) -> ast.Module:
    found = importlib.import_module(name).__file__
    return ast.parse(Path(found).read_text("utf-8"))


def handed_on(package: str) -> list[str]:
    """The modules whose names a package takes as they are."""
    imports = [n for n in parsed(package).body if isinstance(n, ast.ImportFrom)]
    return [str(n.module) for n in imports if n.names[0].name == "*"]


MODULES = sorted({m for package in PACKAGES for m in handed_on(package)} - {*PACKAGES})


@pytest.mark.parametrize("name", MODULES)
def test_each_module_lists_its_public_names(name: str) -> None:
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert set(module.__all__) <= set(vars(module))


@pytest.mark.parametrize("name", [m for m in MODULES if m.startswith("minigrad.functions.")])
def test_a_function_without_an_underscore_is_public(name: str) -> None:
    module = importlib.import_module(name)
    own = {n for n, f in vars(module).items() if isinstance(f, FunctionType) and f.__doc__}
    own = {n for n in own if getattr(module, n).__module__ == name and not n.startswith("_")}
    assert own == set(module.__all__)


def named(package: str) -> Iterator[str]:
    """Every name that the source of a package writes out."""
    for node in ast.walk(parsed(package)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_repeats_no_name(package: str) -> None:
    found = list(named(package))
    repeated = {name for module in handed_on(package) for name in mg_names(module)}
    assert repeated.isdisjoint(found)
    public = [name for name in found if name in mg.__all__]
    assert len(set(public)) == len(public)


def mg_names(module: str) -> list[str]:
    names: list[str] = importlib.import_module(module).__all__
    return names


def test_what_is_handed_on_is_public_and_nothing_else() -> None:
    parts = ("minigrad", "minigrad._lazy_exports")
    alone = {a.asname for p in parts for n in ast.walk(parsed(p)) for a in getattr(n, "names", [])}
    taken = {name for p in parts for module in handed_on(p) for name in mg_names(module)}
    assert set(mg.__all__) == taken | (alone - {None})
    assert mg.__all__ == sorted(mg.__all__)
    assert set(functions.__all__) == {n for m in handed_on(functions.__name__) for n in mg_names(m)}
    assert {n for m in handed_on(ops.__name__) for n in mg_names(m)} <= set(vars(ops))


# ---- What loads when --------------------------------------------------------------------------


@cache
def begun() -> forks.Forks:
    """A Python that has imported minigrad, and asked for nothing of it; warnings are errors."""
    return forks.Forks("import minigrad", "-W", "error")


def fresh(program: str, python: Callable[[], forks.Forks] = begun) -> str:
    """What a new Python prints."""
    code, printed, told = python().run(program)
    assert code == 0, told
    return printed


LATER = ("static", "control", "compiler", "hybrid", "passes", "saving", "nn", "batching")
LOADED = "import sys; print(*[m.split('.')[1] for m in sys.modules if m.startswith('minigrad.')])"


def test_a_gradient_loads_no_graph_compiler_and_no_layer() -> None:
    eager = "x = mg.tensor(2.0, requires_grad=True); mg.exp(x * x + 3).sum().backward(); x.grad"
    loaded = fresh(f"import minigrad as mg; {eager}; {LOADED}").split()
    assert "dynamic" in loaded
    assert {*LATER}.isdisjoint(loaded)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("trace", "import minigrad as mg; trace = mg.trace"),
        ("REGISTRY", "from minigrad import REGISTRY"),
        ("conv2d", "import minigrad as mg; conv2d = mg.conv2d"),
        ("Program", "from minigrad import Program"),
        ("while_loop", "import minigrad as mg; while_loop = mg.while_loop"),
    ],
)
def test_a_name_that_comes_later_is_there_when_it_is_asked_for(name: str, way: str) -> None:
    fresh(f"{way}; import minigrad as mg; assert mg.{name} is {name}")


@pytest.mark.parametrize("name", ["nn", "passes", "saving", "optim"])
def test_a_module_loads_alone(name: str) -> None:
    found = fresh(f"import minigrad as mg; print(mg.{name}.__name__); {LOADED}").split()
    assert found[0] == f"minigrad.{name}"
    assert {"batching", "_lazy_exports"}.isdisjoint(found[1:])


@pytest.mark.parametrize("way", ["dir(mg)", "mg.__all__", "vars(stars)"])
def test_all_names_can_be_listed(way: str) -> None:
    stars = "import types; stars = types.ModuleType('stars'); exec('from minigrad import *', "
    program = f"import minigrad as mg; {stars}vars(stars)); print(*{way})"
    first = f"import minigrad as mg; print(*{way})" if "stars" not in way else program
    assert {*mg.__all__} <= {*fresh(first).split()}


def test_what_a_notebook_lists_after_the_dot_is_public() -> None:
    """No module that a package needs for itself; of minigrad, spellings of others as well."""
    listed = {name for name in dir(viz) if name[0] != "_"}
    assert listed == {*viz.__all__}
    listed = {name for name in dir(mg) if name[0] != "_"}
    assert {"cat", "nn", "tensor"} < listed
    assert {"core", "_lazy_exports", "static", "typing"}.isdisjoint(listed)


def test_the_viewer_loads_when_a_view_is_asked_for() -> None:
    loaded = fresh("import minigrad, viz, sys; print(*sys.modules)").split()
    assert {"viz", "minigrad.dynamic"} <= {*loaded}
    assert {"viz._lazy_exports", "viz.views", "anywidget", "IPython", "graphviz"}.isdisjoint(loaded)
    missing = "assert not hasattr(viz, 'drawn') and not hasattr(viz, '_drawn')"
    names = "print(*viz.__all__); assert {*viz.__all__} <= {*dir(viz)}"
    every = fresh(f"import viz; {missing}; {names}").split()
    assert every == sorted(
        n for n in vars(importlib.import_module("viz._lazy_exports")) if n[0] != "_"
    )
    assert {"draw", "Player", "curves", "step", "tape"} <= {*every}
    assert len(every) <= 30, "what only lessons use belongs into minigrad_lessons"
    stars = "from viz import *; assert callable(step)"
    fresh(f"import viz.views.draw, viz; assert viz.draw is viz.views.draw.draw; {stars}")


def test_a_drawing_loads_no_library_of_charts() -> None:
    drawing = "viz.draw(mg.tensor(2.0, requires_grad=True) * 3)"
    charts = "viz.curves({'a': [1.0, 2.0]}, title=('', ''), x=('', ''), y=('', ''))._shown(False)"
    loaded = "print(*sys.modules)"
    course = "import minigrad_lessons as lessons"  # whose names are looked through
    program = f"import sys, minigrad as mg, viz; {course}; {drawing}; {loaded}; {charts}; {loaded}"
    drawn, charted = (line.split() for line in fresh(program).splitlines())
    assert {"matplotlib", "fontTools"}.isdisjoint(drawn)
    assert "viz.views.draw" in drawn
    others = ("viz.charts", "viz.views.diff", "minigrad_lessons.lesson", "minigrad.batching")
    others += tuple(f"minigrad.interop.{system}." for system in ("caffe", "jax", "torch"))
    assert not [m for m in drawn if m.startswith(("minigrad.interop.onnx.reader", *others))]
    assert "matplotlib" in charted


def test_every_operator_is_registered_for_whoever_asks() -> None:
    found = fresh("import minigrad as mg; print(*mg.REGISTRY)").split()
    assert {"Add", "Scan", "Fused", "Conv2d"} <= {*found}


def test_a_missing_name_loads_the_rest_once_and_is_still_missing() -> None:
    ask = "assert not hasattr(mg, 'sample_signed'); mg.trace = 3; assert not hasattr(mg, 'again')"
    fresh(f"import minigrad as mg; {ask}; assert mg.trace == 3")
    with pytest.raises(ImportError, match="sample_signed"):
        exec("from minigrad import sample_signed")


UNITS = sorted(
    p.stem for p in (ROOT / "minigrad").iterdir() if p.suffix in ("", ".py") and p.stem[0] != "_"
)


@pytest.mark.cases(10)
@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_can_be_imported_first(unit: str) -> None:
    fresh(f"import minigrad.{unit}", forks.bare)


# ---- What CONTRIBUTING promises ---------------------------------------------------------------

RECORD = """
sample_sign = smooth(
    "SampleSign",
    lambda out, x: np.divide(x, 1 + np.abs(x), out=out),
    vjp=(lambda g, y, x: g / ((1 + abs(x)) * (1 + abs(x))),),
    title=("sample_sign", "示例符号函数"),
    formula="{0} / (1 + |{0}|)",
)
"""
FUNCTION = '''
def sample_sign(x: Any) -> Any:
    """x / (1 + |x|), between −1 and 1.

    >>> import minigrad as mg
    >>> mg.sample_sign(mg.tensor([1.0, -3.0]))
    tensor([ 0.5 , -0.75])
    """
    return ops.sample_sign(x)
'''


def grown(path: Path, text: str) -> None:
    """Write a definition, and its name into the list of its module."""
    before = path.read_text("utf-8")
    after = before.replace("__all__ = [", '__all__ = ["sample_sign", ', 1)
    assert after != before
    path.write_text(after.replace("import exp\n", "import abs, exp\n") + text, "utf-8")


def copied(folder: Path, *tests: str) -> None:
    """Copy the packages, some tests, and the fixtures that they ask for."""
    for package in ("minigrad", "minigrad_lessons", "viz", "docs"):
        shutil.copytree(ROOT / package, folder / package)
    (folder / "tests").mkdir()
    for name in tests:
        (path,) = (ROOT / "tests").rglob(f"{name}.py")
        (folder / path.relative_to(ROOT)).parent.mkdir(exist_ok=True)
        shutil.copy(path, folder / path.relative_to(ROOT))
    shutil.copy(ROOT / "tests" / "fixtures.py", folder / "tests" / "conftest.py")
    for name in ("covering", "directions", "forks"):
        shutil.copy(ROOT / "tests" / f"{name}.py", folder / "tests")


def passed(folder: Path, chosen: str, *documented: str) -> list[str]:
    """The tests of a copy that pass; no other may be among those chosen."""
    options = ["--doctest-modules", *documented, "-k", chosen, "-rA", "-p", "no:cacheprovider"]
    options.append("--assert=plain")  # to note what is compared takes longer than the tests
    said = subprocess.run(
        [sys.executable, "-m", "pytest", "tests", *options],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # to load them takes as long as the tests
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert said.returncode == 0, said.stdout
    return [x for x in said.stdout.splitlines() if "PASSED" in x]


PASS = '''

@in_pipeline(45)
def drop_abs(graph: Graph) -> tuple[Graph, list[Change]]:
    """Leave out the absolute value of a square.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x = mg.placeholder("x", (3, 4))
    ...     graph = mg.build_graph(x, abs(x * x))
    >>> print(graph.optimize(["drop_abs"]).text())
    %0 = Placeholder "x" : float32[3, 4]
    %1 = Mul(%0, %0) : float32[3, 4]
    return %1
    """
    rewrite = Rewrite(graph)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        (square,) = inputs
        if square.op is not ops.mul or len({*square.inputs}) > 1 or node.controls:
            return None
        if square.dtype.kind != "f":  # integers may overflow
            return None
        rewrite.note("simplified", [node], [square], "pass_square")
        return square

    return rewrite.walk(rule, (ops.abs,)), rewrite.changes
'''
ROW = """
[pass_square]
en = "a square is never below 0"
zh = "平方不会小于 0"
"""


# Of what is tried with each operator, only the new one is: the others are as they were.
NEWEST = """
_every = each


def each(cases):
    known = [*cases]
    return _every([x for x in known if "samplesign" in str(x).lower().replace("_", "")] or known)
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The tests that pass in a copy with both: to begin takes longer than to run them."""
    folder = tmp_path_factory.mktemp("extended")
    asked = ("every_op", "functions", "passes", "reference", "special_values")
    copied(folder, *[f"test_{name}" for name in asked], "random_graphs", "bits")
    grown(folder / "minigrad" / "ops" / "activations.py", RECORD)
    grown(folder / "minigrad" / "functions" / "elementwise.py", FUNCTION)
    for path, text in (
        ("minigrad/passes/algebra.py", PASS),
        ("minigrad/diagnostics/messages.toml", ROW),
        ("tests/covering.py", NEWEST),
    ):
        with (folder / path).open("a", encoding="utf-8") as file:
            file.write(text)
    chosen = "sample_sign or SampleSign or exported_and or shows_what_it or quietly"
    documented = ("minigrad/functions/elementwise.py", "minigrad/passes/algebra.py")
    return passed(folder, f"{chosen} or drop_abs or of_the_places", *documented)


@pytest.mark.parametrize(
    "test",
    ["every_op.py", "exported_and", "elementwise.sample_sign", "shows_what_it", "quietly"],
)
def test_a_new_operator_is_its_record_and_its_function(test: str, extended: list[str]) -> None:
    assert [x for x in extended if test in x]


@pytest.mark.parametrize(
    "test", ["algebra.drop_abs", "before_and_after[drop_", "was[drop_", "of_the_places"]
)
def test_a_new_pass_is_its_function_and_its_sentence(test: str, extended: list[str]) -> None:
    assert [x for x in extended if test in x]
