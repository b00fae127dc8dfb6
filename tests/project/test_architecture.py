"""The architecture: a subpackage imports those below it, never one beside it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from covering import each

from viz.explorer import explorer
from viz.page import board, player

ROOT = Path(__file__).parents[2]

# From the lowest up; those in one line don't import each other. Inside a subpackage any order will
# do in which nothing imports itself by a detour.
LAYERS = {
    "minigrad": [
        ["diagnostics"],
        ["core"],
        ["ops"],
        ["backprop"],
        ["static", "dynamic"],
        ["control", "functions", "batching"],
        ["passes", "saving", "hybrid"],
        ["compiler", "nn"],
        ["optim", "data", "interop"],
        ["methods"],  # of graphs and programs, that call what is above those
        ["_lazy_exports", "minigrad", "eager"],  # the first loads when it is asked for
        ["faces"],  # other systems' names for what is public
    ],
    "minigrad_lessons": [
        ["words"],
        ["terminal"],
        ["student"],
        ["shadow"],
        ["opening", "clash"],
        ["questions"],
        ["lesson"],
        ["_lazy_exports"],
        ["minigrad_lessons"],
        ["__main__"],
    ],
    "viz": [
        ["assets", "words"],
        ["picture"],
        ["film"],
        ["page"],
        ["charts", "explorer"],
        ["views"],
        ["_lazy_exports"],
        ["viz"],
        ["__main__"],
    ],
}
# What is there for speed alone, and the one module that imports it.
ENTRY_POINTS = {
    "minigrad.dynamic.fast_paths": "minigrad",
    "minigrad.compiler.numpy": "minigrad.compiler.executors",
    "minigrad.interop.c": "minigrad.interop",
    "minigrad.batching": "minigrad._lazy_exports",
}
# Three rings: the core needs nothing else, the library needs the core, and bridges lead to other
# systems or to speed. A module that is not listed is in the ring of the package around it.
RINGS = {
    "core": {
        *("core", "diagnostics", "ops", "backprop", "dynamic", "static", "control", "functions"),
    },
    "library": {
        *("nn", "optim", "data", "passes", "saving", "hybrid", "compiler"),
        *("core.loading", "core.threads", "dynamic.check", "static.call_schema", "static.fused"),
        *("diagnostics.files", "diagnostics.foreign", "diagnostics.packages", "diagnostics.words"),
        *("control.recurrent", "control.untaken_branch_nan", "control.wellformed"),
    },
    "bridges": {
        *("interop", "faces", "batching", "eager", "methods", "_lazy_exports"),
        *("dynamic.fast_paths", "functions.protocol", "static.theano"),
    },
}
LEVEL = {
    (package, subpackage): level
    for package, levels in LAYERS.items()
    for level, subpackages in enumerate(levels)
    for subpackage in subpackages
}
VIEWER = {
    *("numpy", "graphviz", "matplotlib", "cycler", "fontTools", "anywidget"),
    *("traitlets", "IPython", *sys.stdlib_module_names),
}
OUTSIDE = {"minigrad": {"numpy", "threadpoolctl", *sys.stdlib_module_names}, "viz": VIEWER}
# What `tasks.py` reads before anything is installed needs nothing; what teaches needs the viewer.
COURSE = {
    ("minigrad_lessons", subpackage)
    for subpackage in ("questions", "lesson", "_lazy_exports", "minigrad_lessons")
}
ANYBODY = {("minigrad_lessons", subpackage) for subpackage in ("words", "terminal", "shadow")}


def modules(package: str) -> dict[str, Path]:
    """All modules of a package by their dotted names."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = {package: modules(package) for package in LAYERS}
PATHS = {name: path for found in MODULES.values() for name, path in found.items()}


@cache
def imports(source: str) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """The imports of a source, and whether each is inside a function.

    Without those that only a checker of types reads.
    """
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            node.body = []
    found = statements(tree)
    return [(x, inside) for x, inside in found if isinstance(x, (ast.Import, ast.ImportFrom))]


def statements(node: ast.AST, inside: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """A node and the statements within it, and whether each is inside a function.

    Of all nodes of a tree they are one in ten.
    """
    yield node, inside
    inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        parts = getattr(node, field, ())
        for part in parts if isinstance(parts, list) else ():
            yield from statements(part, inside)


def imported(source: str, known: set[str]) -> Iterator[str]:
    """What a source imports; `from package import module` counts as the module."""
    for node, _ in imports(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert not node.level, "imports are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in known else str(node.module)


def subpackage(name: str) -> tuple[str, str]:
    """The package and the subpackage of a module; the packages' own names stand on top of them."""
    package, _, rest = name.partition(".")
    return package, rest.partition(".")[0] or package


def upward(name: str, source: str) -> list[str]:
    """Imports of a module that do not point down, and why."""
    wrong = []
    package, own = subpackage(name)
    for target in imported(source, set(PATHS)):
        top = target.partition(".")[0]
        course = (package, own) in COURSE
        if top not in MODULES:
            known = OUTSIDE.get(package, VIEWER if course else sys.stdlib_module_names)
            if top not in known:
                wrong.append(f"{target}: {package} does not depend on it")
        elif target not in PATHS:
            wrong.append(f"{target} is no module")
        elif target == name:
            wrong.append(f"{name} imports itself")
        elif top == package and subpackage(target) != subpackage(name):
            if LEVEL[subpackage(target)] > LEVEL[package, own]:
                wrong.append(f"{subpackage(target)[1]} is above {own}")
            elif LEVEL[subpackage(target)] == LEVEL[package, own]:
                wrong.append(f"{subpackage(target)[1]} is beside {own}")
        elif top != package and not (
            course or subpackage(target) in ANYBODY or (package, top) == ("viz", "minigrad")
        ):
            wrong.append(f"{target} is above {package}")
    return wrong


def nested(source: str) -> list[int]:
    """Lines of imports inside functions; an optional extra says `noqa: PLC0415` and why."""
    lines = source.splitlines()
    found = {node.lineno for node, inside in imports(source) if inside}
    return sorted(n for n in found if "noqa: PLC0415" not in lines[n - 1])


def circle(imports: Mapping[str, Set[str]]) -> list[str]:
    """A chain of imports that ends where it began, if there is one."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name not in done:
            for target in sorted(imports.get(name, ())):
                if found := visit(target, (*path, name)):
                    return found
            done.add(name)
        return []

    return next((found for name in imports if (found := visit(name, ()))), [])


def test_every_wing_has_its_place_in_the_house() -> None:
    assert {subpackage(name) for name in PATHS} == {*LEVEL}
    assert len(LAYERS["minigrad"]) <= 12
    units = {unit for level in LAYERS["minigrad"] for unit in level}
    assert len(units - {"faces", "interop"}) <= 20  # those two are for what comes from outside


@each(PATHS)
def test_a_wing_imports_wings_below_it_and_none_beside(name: str) -> None:
    assert upward(name, PATHS[name].read_text("utf-8")) == []


def test_nothing_imports_itself_by_a_detour() -> None:
    known = set(PATHS)
    found = {n: {*imported(path.read_text("utf-8"), known)} - {n} for n, path in PATHS.items()}
    assert circle(found) == []


def test_a_detour_is_found() -> None:
    found = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set[str]()}
    assert circle(found) == ["a", "b", "c", "a"]
    assert circle(found | {"c": {"d", "numpy"}}) == []


@pytest.mark.parametrize("fast", ENTRY_POINTS)
def test_one_module_opens_the_door_to_speed(fast: str) -> None:
    def within(name: str) -> bool:
        return f"{name}.".startswith(f"{fast}.")

    importers = {
        name
        for name, path in MODULES["minigrad"].items()
        if not within(name)
        and any(within(target) for target in imported(path.read_text("utf-8"), set(PATHS)))
    }
    assert importers == {ENTRY_POINTS[fast]}


# The two modules through which faces see what is beneath the public names: sentences, and rules.
BENEATH = {
    "minigrad.faces.face": ("minigrad.diagnostics.",),
    "minigrad.faces.ties": ("minigrad.ops", "minigrad.backprop.rules"),
}


@each(n for n in PATHS if n.startswith("minigrad.faces."))
def test_a_face_knows_public_names_alone(name: str) -> None:
    found = set(imported(PATHS[name].read_text("utf-8"), set(PATHS)))
    engine = {target for target in found if target.startswith("minigrad.")}
    deeper = {target for target in engine if not target.startswith("minigrad.faces.")}
    allowed = BENEATH.get(name, ())
    assert all(target.startswith(allowed) for target in deeper)


def ring(name: str) -> str:
    """The ring of a module of the engine; the package itself is what users import, and a bridge."""
    parts = name.split(".")[1:]
    for count in range(len(parts), 0, -1):
        for found, members in RINGS.items():
            if ".".join(parts[:count]) in members:
                return found
    assert name == "minigrad", f"{name} is in no ring"
    return "bridges"


@each(MODULES["minigrad"])
def test_a_ring_needs_none_outside_it(name: str) -> None:
    rings = list(RINGS)
    known = imported(PATHS[name].read_text("utf-8"), set(PATHS))
    needed = {target for target in known if target.startswith("minigrad.")}
    own = rings.index(ring(name))
    assert [target for target in needed if rings.index(ring(target)) > own] == []


@each(PATHS)
def test_no_imports_inside_functions(name: str) -> None:
    assert nested(PATHS[name].read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source", "says"),
    [
        ("minigrad.core", "from minigrad import static", "static is above core"),
        ("minigrad.core.record", "from minigrad.static import Node", "static is above core"),
        ("minigrad.static", "import minigrad", "minigrad is above static"),
        ("minigrad", "import minigrad.faces", "faces is above minigrad"),
        ("minigrad.static.run", "from minigrad.control import cond", "control is above static"),
        ("minigrad.dynamic.tensor", "if True:\n    import minigrad.static", "static is beside"),
        ("minigrad.dynamic.tensor", "import matplotlib.pyplot as plt", "does not depend on it"),
        ("minigrad.dynamic.tensor", "import viz", "viz is above minigrad"),
        ("minigrad.static", "from minigrad.static import Node", "imports itself"),
        ("minigrad.nn", "import minigrad.unheard_of", "is no module"),
        ("viz.film.film", "from viz.charts import ratios", "charts is above film"),
        ("viz.views.draw", "import minigrad_lessons.lesson.ask", "ask is above viz"),
        ("minigrad_lessons.terminal", "import viz", "viz is above minigrad_lessons"),
        ("minigrad_lessons.terminal", "import numpy", "does not depend on it"),
    ],
)
def test_a_wrong_import_is_found(name: str, source: str, says: str) -> None:
    (problem,) = upward(name, source)
    assert says in problem


def test_a_nested_import_is_found() -> None:
    assert nested("import a\ndef f():\n    import b\n") == [3]
    assert nested("def f():\n    import b  # noqa: PLC0415 — an optional extra\n") == []


def test_what_only_a_checker_of_types_reads_is_not_imported() -> None:
    assert [*imported("if TYPE_CHECKING:\n    import a\nimport b", set())] == ["b"]


DECLARED = re.compile(
    r"^(?:async )?(?:const|let|function|class) (?:(\w+)|[\[{]([^\]}]*)[\]}])", re.M
)


@pytest.mark.parametrize("view", [board, explorer, player], ids=lambda module: module.__name__)
def test_no_two_files_of_a_view_declare_one_name(view: ModuleType) -> None:
    """They are one script in its page, which would not start."""
    seen: dict[str, str] = {}
    for name in view.MODULES:
        script = (ROOT / "viz" / "assets" / f"{name}.js").read_text("utf-8")
        for one, several in DECLARED.findall(script):
            for declared in [one] if one else re.findall(r"\w+", several):
                assert seen.setdefault(declared, name) == name, declared
