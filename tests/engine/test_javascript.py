"""The executor "js": programs as JavaScript, against NumPy and against float64.

They run in Node, or in a browser where there is no Node, all programs of a test at once. A result
must not be farther from the float64 result than NumPy's is, give or take the last place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import test_every_op as every
from browser import FLAGS, find_browser
from hypothesis import HealthCheck, Phase, given, settings
from lessons import LESSONS, code_cells, run_cell
from random_graphs import SPECIAL, Recipe, recipes

import minigrad as mg
from minigrad.compiler.js import kernels, scalars, writer
from minigrad.core import REGISTRY, Op, Sample
from minigrad.diagnostics.errors import GraphError
from minigrad.hybrid.tracing import concrete
from minigrad.static import session
from minigrad.static.run import Interpreter

DRIVER = """
const read = (x) => Array.isArray(x) ? x.map(read) : Number(x);
const told = (x) => Array.from(x, (v) => Object.is(v, -0) ? "-0" : String(v));
const found = cases.map(([make, feeds, times]) => {
  try {
    const net = make()(), fed = Object.create(null);
    for (const [name, x] of feeds) fed[name] = read(x);
    let out;
    for (let i = 0; i < times; i++) out = net.run(fed);
    const variables = Object.entries(net.variables).map(([name, x]) => [name, told(x)]);
    return {out: out.map(told), variables};
  } catch (error) {
    return {error: String(error)};
  }
});
"""
Case = tuple[str, dict[str, Any], int]  # a text, feeds, and how many times it runs


def written(x: Any) -> Any:
    """Numbers as JSON has them, or as strings that JavaScript reads."""
    if isinstance(x, list):
        return [written(v) for v in x]
    number = float(x)
    names = {np.inf: "Infinity", -np.inf: "-Infinity"}
    return "NaN" if np.isnan(number) else names.get(number, repr(number))


def run_all(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Run programs; `out` and `variables` are arrays of float64, `error` says what went wrong."""
    rows = []
    for source, feeds, times in cases:
        fed = [[name, written(np.asarray(x).tolist())] for name, x in feeds.items()]
        rows.append(f"[() => {source.rstrip()}, {json.dumps(fed)}, {times}]")
    text = "const cases = [\n" + ",\n".join(rows) + "\n];\n" + DRIVER
    found: list[dict[str, Any]] = in_node(text) if shutil.which("node") else in_browser(text)
    for one in found:
        one["out"] = [np.array(x, float) for x in one.get("out", [])]
        one["variables"] = {n: np.array(x, float) for n, x in one.get("variables", [])}
    return found


def in_node(text: str) -> Any:
    command = ["node", "-"]
    text += "console.log(JSON.stringify(found));"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return json.loads(done.stdout.splitlines()[-1])  # before it, what the programs print


def in_browser(text: str) -> Any:
    if find_browser() is None:
        pytest.skip("install Node, Chromium, Chrome or Edge")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        found = browser.new_page().evaluate(f"() => {{ {text} return found; }}")
        browser.close()
    return found


def sources(graph: mg.Graph, optimize: bool = True) -> str:
    return mg.compile(graph, optimize=optimize, executor="js").source


def listed(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def wide(feeds: dict[str, Any]) -> dict[str, Any]:
    """The same feeds with floats in float64."""
    return {
        name: np.asarray(x, np.float64) if np.asarray(x).dtype.kind == "f" else x
        for name, x in feeds.items()
    }


def expect_no_farther(found: Any, ours: Any, exact: Any, scale: float) -> None:
    """Check that a result is as near to the float64 result as ours, or within a last place.

    scale: the largest number at hand, whose last place it is.
    """
    assert [len(x) for x in found] == [np.size(x) for x in ours]
    for js, own, wanted in zip(found, ours, exact, strict=True):
        own, wanted = np.ravel(own), np.ravel(wanted)
        last = np.finfo(own.dtype).eps if own.dtype.kind == "f" else 0
        with np.errstate(all="ignore"):
            rounded = wanted.astype(own.dtype).astype(float)
            distance = np.abs(own.astype(float) - wanted)
            within = np.nan_to_num(distance, nan=np.inf) + 2 * last * (scale + np.abs(wanted))
            same = (js == own) | (np.isnan(js) & np.isnan(own.astype(float)))
            same |= (js == rounded) | (np.isnan(js) & np.isnan(rounded))
            good = same | (np.abs(js - wanted) <= within)
        where = ~good
        assert good.all(), (js[where][:3], own[where][:3], wanted[where][:3])


def largest(values: Sequence[Any]) -> float:
    floats = [np.ravel(x).astype(float) for x in values if np.size(x)]
    finite = [np.abs(x[np.isfinite(x)]).max(initial=0) for x in floats]
    return float(max(finite, default=0))


def interpret(graph: mg.Graph, feeds: dict[str, Any], convert: Any = dict) -> list[Any]:
    """Run a graph with NumPy from the values that its variables begin with; twice if it has some.

    convert: what to do with feeds and variables before: nothing, or `wide`.
    """
    fed = {name: np.asarray(x) for name, x in convert(feeds).items()}
    given = {
        x: fed[x.name].astype(np.promote_types(fed[x.name].dtype, x.dtype))
        for x in graph.placeholders
    }
    start = convert({str(i): x.attrs["value"] for i, x in enumerate(graph.variables)})
    variables = dict(zip(graph.variables, start.values(), strict=True))
    program = Interpreter(graph.outputs, effects=graph.effects)
    if variables:
        program(given, variables)
    results = program(given, variables)
    return [np.empty(0) if x is None else x for x in results]  # None: what an initialiser gives


def check_all(rows: Sequence[tuple[Any, mg.Graph, mg.Graph | None, dict[str, Any], bool]]) -> None:
    """Run graphs in JavaScript and compare.

    rows: name, graph, the same in float64 (None: its own kernels), feeds, whether to optimise.
    """
    cases = [(sources(graph, optimize), feeds, 2) for _, graph, _, feeds, optimize in rows]
    wrong = []
    for (name, graph, exact, feeds, _), found in zip(rows, run_all(cases), strict=True):
        with np.errstate(all="ignore"):
            ours = interpret(graph, feeds)
            wanted = interpret(exact or graph, feeds, wide)
        try:
            assert "error" not in found, found["error"]
            scale = min(largest([*feeds.values(), *wanted]), 1000)  # not 3e38: all would do
            expect_no_farther(found["out"], ours, wanted, scale)
        except AssertionError as error:
            wrong.append(f"{name}: {error}")
    assert not wrong, "\n".join(wrong)


# ---- Every operator -----------------------------------------------------------------------------


def test_every_operator_is_written_or_refused_by_name() -> None:
    """A new operator needs an entry, or a place among those that are refused."""
    by_element = {*scalars.FLOAT_TEMPLATES, *scalars.ATTRIBUTE_TEMPLATES}
    by_name = {op.name for op in writer.HANDLERS}
    made = {"Placeholder", "Variable", "Constant", "Fused", "Output"}
    known = by_element | {*kernels.KERNELS} | by_name | made
    assert known.isdisjoint(kernels.UNSUPPORTED)
    assert known | kernels.UNSUPPORTED == {*REGISTRY}
    assert all(REGISTRY[name].elementwise for name in by_element)


def operands(sample: Sample, dtype: Any, special: bool) -> list[Any]:
    values = every.draw(sample, dtype)
    random = np.random.default_rng(3)
    if dtype is np.uint32:  # wrapped negatives would multiply beyond 2^53, which is refused
        values = [np.abs(x.astype(np.int32)).astype(x.dtype) for x in map(np.asarray, values)]
    if special:
        for i, x in enumerate(values):
            if np.asarray(x).dtype.kind == "f":
                odd = random.choice(SPECIAL, np.shape(x)).astype(x.dtype)
                values[i] = np.where(random.random(np.shape(x)) < 0.3, odd, x).astype(x.dtype)
    return values


def graph_of(op: Op, sample: Sample, values: Sequence[Any], gradients: bool) -> mg.Graph:
    with mg.Graph():
        xs = [mg.placeholder(f"x{i}", np.shape(x), x.dtype) for i, x in enumerate(values)]
        y = op(*xs, **sample.attrs)
        floats = [x for x in xs if x.dtype.kind == "f"] if y.dtype.kind == "f" else []
        found = mg.gradients(mg.sum(y), floats) if gradients and floats else []
        return mg.build_graph(xs, [y, *(g for g in found if g is not None)])


def samples_of(dtypes: Sequence[Any], optimize: bool, all_values: bool = True) -> Iterator[Any]:
    """Yield rows for `check_all`.

    all_values: every sample has ordinary and special values, not only those of elementwise ones.
    """
    count = 0
    for name, op in sorted(REGISTRY.items()):
        for sample in () if name in kernels.UNSUPPORTED else op.samples:
            for dtype in dtypes:
                if (np.int64 if np.dtype(dtype).kind in "iu" else dtype) not in every.dtypes(op):
                    continue
                floats = np.dtype(dtype).kind == "f"
                count += 1
                both = (False, True) if all_values or op.elementwise else (count % 2 == 0,)
                for special in both if floats else (False,):
                    values = operands(sample, dtype, special)
                    if special and op.elementwise and len(values) == 1:
                        values = [np.array(SPECIAL, dtype)]  # each of them, zeros among them
                    graph = graph_of(op, sample, values, gradients=floats and name != "Print")
                    feeds = {f"x{i}": x for i, x in enumerate(values)}
                    try:
                        with np.errstate(all="ignore"):
                            mg.run(graph, feeds)
                    except GraphError:
                        continue  # an assertion that does not hold, for one
                    exact = graph
                    if floats:
                        doubles = [np.asarray(x) for x in wide(feeds).values()]
                        exact = graph_of(op, sample, doubles, gradients=name != "Print")
                    elif name == "Normalize":  # NumPy rounds the mean of large ones
                        exact = graph_of(op, sample, [x.astype(float) for x in values], False)
                    what = f"{name} {sample.shapes} {dict(sample.attrs)} {np.dtype(dtype)}"
                    yield what, graph, exact, feeds, optimize


def test_samples_of_every_operator() -> None:
    """Values and gradients, NaN, infinities and empty axes among them; every second as built."""
    rows = samples_of((np.float32,), optimize=True, all_values=False)
    check_all([(*row, i % 2 == 0) for i, (*row, _) in enumerate(rows)])


@pytest.mark.exhaustive
@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("dtype", sorted({*scalars.TYPED_ARRAYS}))
def test_samples_of_every_operator_in_every_data_type(dtype: str, optimize: bool) -> None:
    rows = [*samples_of((np.dtype(dtype).type,), optimize)]
    assert len(rows) > 100
    check_all(rows)


# ---- Random graphs ------------------------------------------------------------------------------


def drawn(count: int) -> list[Recipe]:
    found: list[Recipe] = []

    @settings(
        max_examples=count,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(recipes(everything=True))
    def draw(recipe: Recipe) -> None:
        found.append(dataclasses.replace(recipe, open=False))

    draw()
    return found


def check_random(count: int) -> None:
    rows = []
    for i, recipe in enumerate(drawn(count)):
        gradients, values = i % 2 == 0, "special" if i % 5 == 0 else "small"
        if values == "special":  # no integer holds NaN or infinity: the text refuses them
            recipe = dataclasses.replace(recipe, exact=())
        exact = dataclasses.replace(recipe, dtype="float64").graph(gradients)
        rows.append((i, recipe.graph(gradients), exact, recipe.feeds(values), i % 3 > 0))
    check_all(rows)


def test_random_graphs() -> None:
    """Branches, loops and their gradients, too; optimised and as built, also with NaN and ∞."""
    check_random(20)


@pytest.mark.exhaustive
def test_300_random_graphs() -> None:
    check_random(300)


# ---- Variables, branches and loops --------------------------------------------------------------


def test_a_page_trains_as_a_session_does() -> None:
    """Momentum keeps state in variables of its own, a branch decides the step, a loop computes."""
    random = np.random.default_rng(0)
    feeds = {"x": random.random((4, 3), np.float32), "t": np.array([0, 1, 2, 1])}
    with mg.Graph():
        x, t = mg.placeholder("x", (4, 3)), mg.placeholder("t", (4,), mg.int64)
        W = mg.Variable(mg.randn(3, 3, seed=1), name="W")
        count = mg.Variable(np.int64(2**40), name="__proto__")
        h = mg.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, mg.tanh(h @ W)), (0, x))[1]
        total, sums = mg.scan(lambda s, row: (s + row, s * row), mg.zeros(3), h)
        h = mg.cond(mg.sum(total) > 0, lambda: h + sums, lambda: h - sums)
        loss = mg.cross_entropy(h, t)
        step = mg.optim.SGD(lr=0.5, momentum=0.9).minimize(loss)
        graph = mg.build_graph([x, t], [loss, step, count.assign(count + 1)])
    for optimize in (False, True):
        program = mg.compile(graph, optimize=optimize)
        for _ in range(5):
            ours = program(feeds)
        (found,) = run_all([(sources(graph, optimize), feeds, 5)])
        assert "error" not in found, found["error"]
        np.testing.assert_allclose(found["out"][0], ours[0], rtol=1e-5)
        values = {graph.labels[x]: np.ravel(v) for x, v in program.variables.items() if x.name}
        assert found["variables"]["__proto__"] == 2**40 + 5
        np.testing.assert_allclose(found["variables"]["W"], values["W"], rtol=1e-4)


def test_the_text_begins_with_the_values_of_the_session() -> None:
    with mg.Graph():
        w = mg.Variable([1.0, 2.0], name="w")
        session = mg.Session()
        session.run(mg.global_variables_initializer())
        session.run(w.assign([3.0, -0.0]))
        first = mg.build_graph([], [mg.global_variables_initializer(), w * 1])
    compiled = mg.compile(first, executor="js", session=session).source
    once, twice = run_all([(compiled, {}, 1), (compiled, {}, 2)])
    assert once["out"][1].tolist() == [3, -0.0]
    assert once["variables"]["w"].tolist() == [1, 2]
    assert twice["out"][1].tolist() == [1, 2]


# ---- What no text may hold, and what is refused -------------------------------------------------

ODD = ("</script><script>throw 1//", "a\u2028b\u2029", "*/`${1}'\"\\", "__proto__", "constructor")


def test_names_are_escaped_strings() -> None:
    with mg.Graph():
        xs = [mg.placeholder(name, (2,)) for name in ODD]
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        graph = mg.build_graph(xs, REGISTRY["Assert"](total > 0, message=ODD[0]))
    source = sources(graph, optimize=False)
    assert source.isascii() or not {"\u2028", "\u2029"} & set(source)
    assert "<" not in "".join(line for line in source.splitlines() if "script" in line)
    assert "eval" not in source
    assert "Function" not in source
    feeds = {name: np.float32([1, 2]) for name in ODD}
    right, wrong, missing = run_all(
        [(source, feeds, 1), (source, feeds | {ODD[0]: [-9, 0]}, 1), (source, {}, 1)]
    )
    assert right["out"][0].tolist() == [1, 1]
    assert ODD[0] in wrong["error"]
    assert "0 ≠ 2" in missing["error"]


def refused(build: Any, key: str) -> None:
    with mg.Graph():
        graph = mg.build_graph([], build())
        with pytest.raises(GraphError) as found:
            _ = sources(graph)
    assert found.value.key == key
    assert found.value.defined is not None


def test_what_has_no_javascript_is_refused() -> None:
    x = np.float32([1, 2])

    def grow(v: Any) -> Any:
        return mg.concatenate([v, v])

    refused(lambda: mg.dropout(mg.Variable(x), count=1), "js_refused")
    refused(lambda: mg.Variable(np.int64(2**53)) + 1, "js_integer")
    refused(lambda: mg.Variable(np.uint64(1)) + 1, "js_dtype")
    with mg.Graph():
        y = mg.placeholder("y", (None,))
        program = mg.compile(mg.build_graph(y, y + 1), executor="js")
    with pytest.raises(GraphError, match="open lengths"):
        _ = program.source
    program.bind({y: x})
    assert run_all([(program.source, {"y": x}, 1)])[0]["out"][0].tolist() == [2, 3]
    with pytest.raises(GraphError, match="web pages"):
        program({y: x})
    with mg.Graph():
        y = mg.placeholder("y", (None,))
        grown = mg.while_loop(lambda v: v.sum() < 9, grow, y)
        program = mg.compile(mg.build_graph(y, grown), executor="js")
    program.bind({y: x})
    with pytest.raises(GraphError, match="not known when the text is written"):
        _ = program.source


def test_integers_are_exact_or_refused_while_a_program_runs() -> None:
    with mg.Graph():
        x, n = mg.placeholder("x", (2,), mg.int64), mg.placeholder("n", (2,), mg.int32)
        results = [x * 3, mg.sum(x), -x, n * n, n + n, mg.cast(n / 3, mg.int64), x // n, x % n]
        source = sources(mg.build_graph([x, n], results))
    large, small = np.array([2**51 - 1, -5]), np.array([2**31 - 1, -7], np.int32)
    feeds = [{"x": large, "n": small}, {"x": large * 4, "n": small}, {"x": large, "n": small * 0}]
    right, *wrong = run_all([(source, given, 1) for given in feeds])
    ours = mg.run(mg.build_graph([x, n], results), feeds[0])
    for js, own in zip(right["out"], ours, strict=True):
        assert js.tolist() == np.ravel(own).astype(float).tolist()
    assert not np.signbit(right["out"][2][np.ravel(ours[2]) == 0]).any()
    assert all("RangeError" in one["error"] for one in wrong)


def test_watchers_see_each_value_in_between() -> None:
    with mg.Graph():
        x = mg.placeholder("x", (2,))
        graph = mg.build_graph(x, mg.exp(mg.tanh(x) * 2))
    source = sources(graph, optimize=False)
    text = f"const net = ({source.rstrip()})(), found = []; net.run({{x: [0, 1]}}, (i, v) => "
    text += "found.push([net.steps[i].op, net.steps[i].shape, Array.from(v)]));"
    found = in_node(text) if shutil.which("node") else in_browser(text)
    assert [op for op, _, _ in found] == ["Tanh", "Mul", "Exp"]
    np.testing.assert_allclose(found[1][2], 2 * np.tanh([0, 1]), rtol=1e-6)


# ---- The lessons' graphs ------------------------------------------------------------------------


DYNAMIC = {"03_dynamic_graph"}  # nothing is built there that could be exported


def graphs_of_lesson(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[mg.Graph]:
    """Run the cells of a lesson; return the graphs built, run in sessions and traced in them."""
    graphs, build, trace = list[mg.Graph](), mg.build_graph, concrete.ConcreteFunction.__init__

    def build_graph(*args: Any) -> mg.Graph:
        graphs.append(build(*args))
        return graphs[-1]

    def interpreter(nodes: Sequence[Any]) -> Interpreter:
        graphs.append(build(None, nodes))
        return Interpreter(nodes)

    def traced(self: Any, *args: Any) -> None:
        trace(self, *args)
        graphs.append(self.body)

    monkeypatch.setattr(mg, "build_graph", build_graph)
    monkeypatch.setattr(session, "Interpreter", interpreter)
    monkeypatch.setattr(concrete.ConcreteFunction, "__init__", traced)
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in code_cells(path):
        with contextlib.suppress(Exception):  # exercises have gaps, some demonstrations raise
            if cell.id != "install":
                run_cell(cell.source, names, path.stem)
    monkeypatch.undo()
    return graphs


def fill_feeds(graph: mg.Graph, rank: int) -> dict[str, Any]:
    """Draw feeds for the placeholders, with 3 for each open length and a rank where that's open."""
    random, feeds = np.random.default_rng(0), dict[str, Any]()
    for x in graph.placeholders:
        shape = (3,) * rank if x.shape is None else [n or 3 for n in x.shape]
        feeds[x.name] = np.asarray(random.random(shape), x.dtype)
    return feeds


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_graphs_of_a_lesson(path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of what a lesson builds runs; the test prints how much, and what is refused and why."""
    rows, refused = [], list[str]()
    graphs = graphs_of_lesson(path, monkeypatch)
    for i, graph in enumerate(graphs):
        for rank in (1, 0):
            feeds = fill_feeds(graph, rank)
            shapes = {name: x.shape for name, x in feeds.items()}
            try:
                known = graph.optimize([mg.passes.with_shapes(shapes)])
                sources(known)
                interpret(known, feeds)
            except GraphError as error:
                reason = f"{error.key}: {str(error).splitlines()[0]}"
            else:
                rows.append((i, known, None, feeds, True))
                break
        else:
            refused.append(reason)
    print(f"{path.stem}: {len(rows)} graphs run, {len(refused)} refused", *refused, sep="\n  ")
    assert (path.stem in DYNAMIC) != bool(rows)
    assert 4 * len(refused) <= len(rows)
    check_all(rows)
