"""Imports point down the list of layers; a module that is not in the list fails."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# From the bottom to the top. A module imports from lines above it, or from its own line.
LAYERS = [
    ["minigrad.messages"],
    ["minigrad.source", "minigrad.structure", "minigrad.garbage"],
    ["minigrad.errors"],
    ["minigrad.arguments", "minigrad.files"],
    ["minigrad.words"],
    ["minigrad.foreign"],
    ["minigrad.core.context", "minigrad.core.specs"],
    ["minigrad.core.record"],
    ["minigrad.core"],
    ["minigrad.locks"],
    ["minigrad.events"],
    ["minigrad.ops.define", "minigrad.ops.state"],
    ["minigrad.ops.logic", "minigrad.ops.elementwise", "minigrad.ops.shape"],
    ["minigrad.ops.activations", "minigrad.ops.reduction", "minigrad.ops.indexing"],
    [
        "minigrad.ops.arrange",
        "minigrad.ops.joining",
        "minigrad.ops.subscript",
        "minigrad.ops.product",
    ],
    ["minigrad.ops.rows"],
    ["minigrad.ops.linear", "minigrad.ops.classify", "minigrad.ops.effects", "minigrad.ops.parts"],
    ["minigrad.ops.windows"],
    ["minigrad.ops.placing"],
    ["minigrad.ops.conv", "minigrad.ops.pool", "minigrad.ops.random", "minigrad.ops.normal"],
    ["minigrad.ops"],
    ["minigrad.values"],
    ["minigrad.probing"],
    ["minigrad.shares"],
    ["minigrad.rules"],
    ["minigrad.sweep"],
    ["minigrad.recording"],
    ["minigrad.tape"],
    ["minigrad.changes", "minigrad.hooks"],
    ["minigrad.recorder"],
    ["minigrad.dynamic", "minigrad.dynamic.quick", "minigrad.dynamic.quick.written"],
    ["minigrad.dynamic.quick.ready"],
    ["minigrad.dynamic.quick.descent"],
    ["minigrad.dynamic.quick.ways"],
    ["minigrad.backward", "minigrad.inplace"],
    ["minigrad.eager"],
    ["minigrad.graph.node"],
    ["minigrad.graph.order", "minigrad.graph.text", "minigrad.graph.building"],
    ["minigrad.graph.gradients", "minigrad.graph.labels"],
    ["minigrad.graph.graph"],
    ["minigrad.graph.body"],
    ["minigrad.graph.closed"],
    ["minigrad.graph.reader"],
    ["minigrad.graph"],
    ["minigrad.build", "minigrad.backprop", "minigrad.feeds"],
    ["minigrad.handlers"],
    ["minigrad.execute"],
    ["minigrad.functions.arithmetic", "minigrad.functions.elementwise"],
    ["minigrad.functions.reduction"],
    ["minigrad.functions.arrangement", "minigrad.functions.creation"],
    ["minigrad.functions.loss", "minigrad.functions.effects"],
    ["minigrad.functions"],
    ["minigrad.protocol"],
    ["minigrad.check"],
    ["minigrad.fused"],
    ["minigrad.control.bodies", "minigrad.control.specs"],
    ["minigrad.control.dynamic"],
    ["minigrad.control.flow"],
    ["minigrad.control.recurrent", "minigrad.control.steps", "minigrad.untaken"],
    ["minigrad.control"],
    ["minigrad.passes.rewrite"],
    ["minigrad.passes.algebra", "minigrad.passes.folding", "minigrad.passes.hoisting"],
    ["minigrad.passes.shapes", "minigrad.passes.fusing"],
    ["minigrad.passes.losses"],
    ["minigrad.native", "minigrad.native.scalars", "minigrad.native.compiler"],
    ["minigrad.native.blocks", "minigrad.native.cache"],
    ["minigrad.native.loops", "minigrad.native.library"],
    ["minigrad.native.products", "minigrad.native.reductions", "minigrad.native.units"],
    ["minigrad.native.images"],
    ["minigrad.native.kernels"],
    ["minigrad.plan", "minigrad.tiles", "minigrad.devices", "minigrad.schedule"],
    ["minigrad.threads"],
    ["minigrad.saving.archive", "minigrad.saving.signature"],
    ["minigrad.saving.encoding"],
    ["minigrad.saving.writing", "minigrad.saving.wellformed"],
    ["minigrad.saving.loading"],
    ["minigrad.saving"],
    ["minigrad.compiled.slots", "minigrad.compiled.layout", "minigrad.compiled.memory"],
    ["minigrad.compiled.naming"],
    ["minigrad.compiled.expand", "minigrad.compiled.pieces"],
    ["minigrad.compiled.joining"],
    ["minigrad.compiled.images"],
    ["minigrad.compiled.operators"],
    ["minigrad.compiled.tiling"],
    ["minigrad.compiled.kernels"],
    ["minigrad.passes.marking", "minigrad.passes.recomputing"],
    ["minigrad.passes"],
    ["minigrad.compiled.builder", "minigrad.compiled.reading"],
    ["minigrad.compiled.planned"],
    ["minigrad.compiled.source"],
    ["minigrad.compiled.bound"],
    ["minigrad.compiled.parallel"],
    ["minigrad.compiled.program"],
    ["minigrad.compiled"],
    ["minigrad.session"],
    ["minigrad.theano"],
    ["minigrad.nn.module", "minigrad.nn.buffers", "minigrad.nn.functional"],
    [
        "minigrad.nn.parameter",
        "minigrad.nn.layers",
        "minigrad.nn.activations",
        "minigrad.nn.norms",
        "minigrad.nn.losses",
    ],
    ["minigrad.nn.recurrent"],
    ["minigrad.nn"],
    ["minigrad.tracing.keys", "minigrad.tracing.calls"],
    ["minigrad.tracing.guards", "minigrad.tracing.body"],
    ["minigrad.tracing.parameters", "minigrad.tracing.concrete"],
    ["minigrad.tracing.traces"],
    ["minigrad.tracing.function", "minigrad.tracing.baking", "minigrad.tracing.making"],
    ["minigrad.tracing"],
    ["minigrad.scripting.names", "minigrad.scripting.syntax"],
    ["minigrad.scripting.missing", "minigrad.scripting.regions"],
    ["minigrad.scripting.merging"],
    ["minigrad.scripting.jumps", "minigrad.scripting.carry", "minigrad.scripting.reading"],
    ["minigrad.scripting.expressions", "minigrad.scripting.refusals", "minigrad.scripting.runtime"],
    ["minigrad.scripting.statements", "minigrad.scripting.loops"],
    ["minigrad.scripting.replacements"],
    ["minigrad.scripting.convert"],
    ["minigrad.scripting.script", "minigrad.scripting"],
    ["minigrad.lazy.groups", "minigrad.lazy.rules"],
    ["minigrad.lazy.gathering", "minigrad.lazy.notes"],
    ["minigrad.lazy.together", "minigrad.lazy.pending"],
    ["minigrad.lazy.collector"],
    ["minigrad.lazy"],
    ["minigrad.optim"],
    ["minigrad.data"],
    ["minigrad.later"],
    ["minigrad"],
    ["viz.text", "viz.theme", "viz.mpl", "viz.assets", "viz.user"],
    ["viz.boxes"],
    ["viz.fonts", "viz.questions", "viz.picture", "viz.formula", "viz.charts.chart", "viz.images"],
    ["viz.charts.held", "viz.layout", "viz.paint", "viz.answers"],
    ["viz.charts.curves", "viz.charts.memory", "viz.charts.ratios", "viz.charts.schedule"],
    ["viz.charts"],
    ["viz.dot", "viz.summary", "viz.language", "viz.ask", "viz.failure"],
    ["viz.film"],
    ["viz.director"],
    ["viz.frames"],
    ["viz.listing", "viz.matching", "viz.sliders"],
    ["viz.payload"],
    ["viz.page", "viz.marks"],
    ["viz.player"],
    ["viz.board"],
    ["viz.draw", "viz.replay"],
    ["viz.show"],
    [
        "viz.tables",
        "viz.live",
        "viz.train",
        "viz.passes",
        "viz.traces",
        "viz.batches",
        "viz.checkpoints",
    ],
    ["viz.ways"],
    ["viz.error", "viz.branches", "viz.topological"],
    ["viz.sweep"],
    ["viz"],
    ["viz.__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
OUTSIDE = {
    "minigrad": {"numpy", "threadpoolctl", *sys.stdlib_module_names},
    "viz": {
        *("numpy", "graphviz", "matplotlib", "cycler", "fontTools", "anywidget"),
        *("traitlets", "IPython", *sys.stdlib_module_names),
    },
}


def modules(package: str) -> dict[str, Path]:
    """All modules of a package by their dotted names."""
    found = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = {package: modules(package) for package in ("minigrad", "viz")}
PATHS = {name: path for found in MODULES.values() for name, path in found.items()}


def imported(source: str, known: set[str]) -> Iterator[str]:
    """What a source imports; `from package import module` counts as the module.

    What only a checker of types reads is not imported.
    """
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in known else str(node.module)


def upward(name: str, source: str) -> list[str]:
    """Imports of a module that do not point down, and why."""
    wrong = []
    package = name.split(".")[0]
    for target in imported(source, set(LEVEL)):
        if target.split(".")[0] not in MODULES:
            if target.split(".")[0] not in OUTSIDE[package]:
                wrong.append(f"{target}: {package} does not depend on it")
        elif target not in LEVEL:
            wrong.append(f"{target} is in no layer")
        elif LEVEL[target] > LEVEL[name]:
            wrong.append(f"{target} is above {name}")
        elif target == name:
            wrong.append(f"{name} imports itself")
    return wrong


def nested(source: str) -> list[int]:
    """Lines of imports inside functions; an optional extra says `noqa: PLC0415` and why."""
    lines = source.splitlines()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    inside = [
        n for f in ast.walk(ast.parse(source)) if isinstance(f, functions) for n in ast.walk(f)
    ]
    found = {n.lineno for n in inside if isinstance(n, (ast.Import, ast.ImportFrom))}
    return sorted(n for n in found if "noqa: PLC0415" not in lines[n - 1])


def test_every_module_has_a_layer_and_every_layer_its_module() -> None:
    assert set(PATHS) == set(LEVEL), "put it into LAYERS, at the height it belongs to"
    assert sum(map(len, LAYERS)) == len(LEVEL)


@pytest.mark.parametrize("name", LEVEL)
def test_imports_point_down(name: str) -> None:
    assert upward(name, PATHS[name].read_text("utf-8")) == []


def test_modules_of_one_layer_do_not_import_each_other_in_a_circle() -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"circle: {' → '.join([*path, name])}"
        if name not in done:
            for target in imported(PATHS[name].read_text("utf-8"), set(LEVEL)):
                if target in LEVEL and target != name:
                    visit(target, (*path, name))
            done.add(name)

    for name in LEVEL:
        visit(name, ())


def behind(*names: str) -> set[str]:
    """All that these modules import, and what that imports in turn."""
    found, waiting = set[str](), [*names]
    while waiting:
        name = waiting.pop()
        if name in PATHS and name not in found:
            found.add(name)
            waiting += imported(PATHS[name].read_text("utf-8"), set(LEVEL))
    return found


def among(names: set[str], *parts: str) -> list[str]:
    """The modules of these names, and those in packages of these names."""
    prefixes = tuple(f"minigrad.{part}" for part in parts)
    return sorted(
        n for n in names if n in prefixes or n.startswith(tuple(p + "." for p in prefixes))
    )


DYNAMIC = (
    *("dynamic", "eager", "inplace", "backward", "recorder", "tape", "recording", "changes"),
    "hooks",
)
STATIC = ("graph", "backprop", "build", "execute", "session", "theano", "untaken")
ABOVE = ("functions", "control", "passes", "compiled", "native", "tracing", "scripting", "lazy")


def test_the_dynamic_graph_does_not_know_the_static_one() -> None:
    assert among(behind("minigrad.eager"), *STATIC, *ABOVE, "nn", "optim", "saving") == []


def test_the_static_graph_does_not_know_the_dynamic_one() -> None:
    tower = ("minigrad.graph", "minigrad.backprop", "minigrad.execute")
    assert among(behind(*tower), *DYNAMIC, *ABOVE, "nn", "optim", "saving") == []


def test_tracing_knows_layers_by_what_they_can_do() -> None:
    found = {n: p for n, p in MODULES["minigrad"].items() if n.startswith("minigrad.tracing")}
    known = set(LEVEL)
    reads = {x for p in found.values() for x in imported(p.read_text("utf-8"), known)}
    assert among(reads, "nn") in ([], ["minigrad.nn.buffers"])


def test_nothing_but_the_class_of_tensors_opens_the_door_to_speed() -> None:
    known = set(LEVEL)
    opens = {
        name
        for name, path in MODULES["minigrad"].items()
        if among(set(imported(path.read_text("utf-8"), known)), "dynamic.quick")
    }
    assert {n for n in opens if not n.startswith("minigrad.dynamic.quick")} == {"minigrad.eager"}


@pytest.mark.parametrize("name", MODULES["minigrad"])
def test_the_engine_does_not_know_the_visualiser(name: str) -> None:
    targets = imported(PATHS[name].read_text("utf-8"), set())
    assert not [t for t in targets if t.split(".")[0] == "viz"]


@pytest.mark.parametrize("name", PATHS)
def test_no_imports_inside_functions(name: str) -> None:
    assert nested(PATHS[name].read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source", "says"),
    [
        ("minigrad.core", "from minigrad import graph", "graph is above"),
        ("minigrad.core", "from minigrad.graph import Node", "graph is above"),
        ("minigrad.graph", "import minigrad", "minigrad is above"),
        ("minigrad.eager", "if True:\n    import minigrad.graph", "graph is above"),
        ("minigrad.eager", "import matplotlib.pyplot as plt", "does not depend on it"),
        ("minigrad.eager", "import viz", "viz is above"),
        ("minigrad.graph", "from minigrad.graph import Node", "imports itself"),
        ("minigrad.nn", "import minigrad.unheard_of", "in no layer"),
    ],
)
def test_a_wrong_import_is_found(name: str, source: str, says: str) -> None:
    (problem,) = upward(name, source)
    assert says in problem


def test_a_nested_import_is_found() -> None:
    assert nested("import a\ndef f():\n    import b\n") == [3]
    assert nested("def f():\n    import b  # noqa: PLC0415 — an optional extra\n") == []


def test_what_a_module_imports_is_found_through_others() -> None:
    assert "minigrad.messages" in behind("minigrad.eager")
    assert among({"minigrad.graph", "minigrad.graph.node", "minigrad.graphs"}, "graph") == [
        "minigrad.graph",
        "minigrad.graph.node",
    ]
    assert [*imported("if TYPE_CHECKING:\n    import a\nimport b", set())] == ["b"]
