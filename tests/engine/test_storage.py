"""Graphs in files: what is saved comes back whole, and what is not a graph is refused whole."""

from __future__ import annotations

import ast
import copy
import functools
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import covering
import numpy as np
import pytest
from bits import same_bits
from covering import each, examples, pairs
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import recipes
from test_every_op import FORMS, draw, ruled, static

import minigrad as mg
import viz
from minigrad.core import REGISTRY, Dim, Op, Sample, context
from minigrad.core.structure import LEAF
from minigrad.diagnostics.errors import FormatError
from minigrad.saving import archive, encoding, wellformed, writing
from minigrad.saving.encoding import Decoder, Encoder
from minigrad.saving.signature import signature
from minigrad.static import call_schema, get_default_graph
from minigrad.static.handlers import HANDLERS

fixed = examples(200)


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[mg.Graph]:
    """Each test builds in a graph of its own, to which loading adds nothing."""
    with mg.Graph() as graph:
        yield graph
        assert get_default_graph() is graph
        assert context.now.scope == ""


def again(graph: mg.Graph, folder: Path, **how: Any) -> mg.Graph:
    """The graph once more, from a file; saving that one gives the same file."""
    first, second = folder / "first.graph", folder / "second.graph"
    graph.save(first, **how)
    loaded = mg.load_graph(first)
    loaded.save(second)
    assert first.read_bytes() == second.read_bytes()
    return loaded


def run_all(graph: mg.Graph, feeds: Any = None) -> list[Any]:
    with mg.Session(graph) as session:
        session.run(mg.global_variables_initializer())
        results: list[Any] = session.run(list(graph.outputs), feeds)
        return results


def same(found: list[Any], expected: list[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def model() -> mg.Graph:
    """A little of everything: sources, scopes, branches, loops, effects, gradients, an update."""
    x = mg.placeholder("x", shape=(None, 3))
    with mg.name_scope("layer"):
        w = mg.Variable(np.linspace(-1, 1, 12).reshape(3, 4), name="w", dtype=np.float32)
        b = mg.Variable([0.5, -0.5, 0.0, 1.0], name="b")
        y = mg.tanh(x @ w + b)
    y = mg.cond(y.sum() > 0, lambda: y * 2, lambda: y - b)
    _, z = mg.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, mg.tanh(z)), (0, y))
    last, ys = mg.scan(lambda c, row: (c + row.sum(), row * c), 0.0, z)
    loss = (ys * ys).mean() + last
    with mg.control_dependencies([mg.Assert(loss < 1e6, "too large")]):
        dw, db = mg.gradients(loss, [w, b])
    return mg.build_graph(x, [loss, mg.assign(w, w - 0.1 * dw), db, mg.read_value(b)])


FEEDS = {"x": np.linspace(-2, 2, 15).reshape(5, 3).astype(np.float32)}


# ---- What is saved comes back -----------------------------------------------------------------


def test_a_model_comes_back(tmp_path: Path, own_graph: mg.Graph) -> None:
    graph = model()
    before = own_graph.nodes
    loaded = again(graph, tmp_path)
    assert own_graph.nodes == before, "the default graph is as it was"
    assert loaded.text() == graph.text()
    assert loaded.hash() == graph.hash()
    assert repr(loaded) == repr(graph)
    same(run_all(loaded, FEEDS), run_all(graph, FEEDS))
    for a, b in zip(loaded.nodes, graph.nodes, strict=True):
        assert (a.name, a.scope, a.op, a.attrs.keys()) == (b.name, b.scope, b.op, b.attrs.keys())
        assert [x.name for x in a.controls] == [x.name for x in b.controls]
        assert a.where.label == b.where.label, "where it was defined"


def test_no_code_of_the_model_is_needed(tmp_path: Path) -> None:
    """Another process, which never saw the model, computes the same."""
    graph = model()
    graph.save(tmp_path / "model")
    (tmp_path / "run.py").write_text(
        "import sys, numpy as np, minigrad as mg\n"
        "graph = mg.load_graph(sys.argv[1])\n"
        "with mg.Session(graph) as session:\n"
        "    session.run(mg.global_variables_initializer())\n"
        "    x = np.linspace(-2, 2, 15).reshape(5, 3).astype(np.float32)\n"
        "    print([y.tobytes().hex() for y in session.run(list(graph.outputs), {'x': x})])\n"
    )
    command = [sys.executable, tmp_path / "run.py", tmp_path / "model"]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert ast.literal_eval(printed) == [
        np.asarray(y).tobytes().hex() for y in run_all(graph, FEEDS)
    ]


def test_random_numbers_come_back(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=(None,))
    graph = mg.build_graph(x, mg.nn.Dropout(0.5, seed=3)(x))
    loaded = again(graph, tmp_path)
    drawn = []
    for shown in (graph, loaded):
        with mg.Session(shown) as session:
            drawn.append([session.run(shown.outputs[0], {"x": np.ones(50)}) for _ in range(3)])
    same(*drawn)
    assert not np.array_equal(drawn[0][0], drawn[0][1])
    graph = mg.build_graph(None, mg.get_default_graph().run_counter() + 0)
    (count,) = (n for n in again(graph, tmp_path).nodes if n.op.name == "RunCounter")
    assert count.graph.run_counter() is count, "what is built upon it counts the same runs"


def test_layers_that_are_added_to_a_loaded_graph_count_by_themselves(tmp_path: Path) -> None:
    data = np.ones(50, np.float32)
    x = mg.placeholder("x", shape=(50,))
    drop, other = mg.nn.Dropout(0.5, seed=3), mg.nn.Dropout(0.5, seed=4)
    first, between = drop(x), other(x)
    loaded = again(mg.build_graph(x, [first, drop(x), between]), tmp_path)
    home = loaded.nodes[0].graph
    third = mg.nn.Dropout(0.5, seed=3)
    added = [third(home["x"]), third(home["x"])]
    with mg.Session(home) as session:
        drawn = [session.run([*loaded.outputs, *added], {"x": data}) for _ in range(2)]
    layer = mg.nn.Dropout(0.5, seed=3)
    calls = [layer(mg.tensor(data)).data for _ in range(4)]
    same([drawn[0][0], drawn[0][1], drawn[1][0], drawn[1][1]], calls)
    same([drawn[0][3], drawn[0][4], drawn[1][3], drawn[1][4]], calls)
    same([drawn[0][2], drawn[1][2]], [other(mg.tensor(data)).data for _ in range(2)])


def test_what_a_session_holds_is_saved(tmp_path: Path) -> None:
    w = mg.Variable(1.0, name="w")
    graph = mg.build_graph(None, [mg.assign(w, w * 2), w + 0])
    with mg.Session(graph) as session:
        with pytest.raises(mg.UninitializedError, match="Variable w"):
            graph.save(tmp_path / "never", session=session)
        session.run(mg.global_variables_initializer())
        session.run(graph.outputs[0])
        loaded = again(graph, tmp_path, session=session)
    assert run_all(loaded)[1] == 2
    assert run_all(again(graph, tmp_path))[1] == 1, "initial values without a session"
    assert not (tmp_path / "never").exists()


def test_a_loaded_graph_can_be_built_upon(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=())
    loaded = again(mg.build_graph(x, x * x * x), tmp_path)
    (y,), (x,) = loaded.outputs, loaded.inputs
    dx = mg.gradients(y, x)[0]
    ddx = mg.gradients(dx, x)[0]
    assert mg.run(mg.build_graph(x, [dx, ddx, y + 1]), {x: 2.0}) == [12, 12, 9]
    assert len(loaded.nodes) == 3, "the loaded graph itself is frozen"
    with pytest.raises(mg.FrozenGraphError), loaded:
        mg.placeholder("z")


def test_a_loaded_graph_is_drawn(tmp_path: Path) -> None:
    graph = model()
    assert str(viz.draw(again(graph, tmp_path))) == str(viz.draw(graph))


def test_what_is_printed_is_printed_by_a_loaded_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def f(x: Any) -> Any:
        mg.Print(x * 2, "twice")
        return x + 1

    graph = mg.make_graph(f)(mg.ones(()))
    assert mg.run(again(graph, tmp_path), {"x": 3.0}) == 4.0
    assert capsys.readouterr().out == "twice 6.0\n"


def test_an_error_names_the_line_that_defined_the_node(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=(None, 2))
    y = x + mg.placeholder("y", shape=(None, 2))  # this very line
    loaded = again(mg.build_graph(None, y), tmp_path)
    with pytest.raises(mg.ShapeError) as found:
        mg.run(loaded, {"x": np.ones((2, 2)), "y": np.ones((3, 2))})
    assert "# this very line" in str(found.value)
    assert f"line {y.where.lineno}:" in str(found.value)


def test_a_line_is_what_the_file_says(good: Path) -> None:
    """Not what stands in a file of that name here, which may be another one, or private."""
    document, entries = unpack(good)
    for name, shown in (("gone.py", "gone.py"), (__file__, Path(__file__).name)):
        document["lines"] = [[name, 1, "y = x @ w  # as it was"]] * len(document["lines"])
        pack(good, document, entries)
        where = mg.load_graph(good).nodes[0].where
        assert where.label == f"{shown}, line 1:  y = x @ w  # as it was"
        assert where.parts == ("", "y = x @ w  # as it was", "")


def test_an_open_graph_comes_back_open(tmp_path: Path, own_graph: mg.Graph) -> None:
    model()
    loaded = again(own_graph, tmp_path)
    assert not loaded.frozen
    with loaded:
        mg.placeholder("another")
    assert len(loaded.nodes) == len(own_graph.nodes) + 1
    assert loaded["x"].shape == (None, 3)
    assert again(own_graph.freeze(), tmp_path).frozen


def test_open_lengths_keep_their_identity(tmp_path: Path) -> None:
    """The same unknown length in two shapes is one length; two unknown lengths are two."""
    x, y = mg.placeholder("x", shape=(None, None)), mg.placeholder("y", shape=(None, 2))
    double = mg.cond(x.sum() > 0, lambda: x * 2, lambda: x)
    loaded = again(mg.build_graph(None, [x.T, x + 1, y, double]), tmp_path)
    turned, more, other, branch = (node.spec.shape for node in loaded.outputs)
    assert turned == (more[1], more[0]) == (branch[1], branch[0])
    assert turned[0] is more[1]
    assert len({*turned, *other}) == 4


@examples(100)
@given(recipe=recipes())
def test_random_graphs_come_back_with_their_shapes(recipe: Any, tmp_path: Path) -> None:
    """To the last bit of what they give, and the last identity of a length."""
    graph, feeds = recipe.graph(gradients=True), recipe.feeds()
    loaded = again(graph, tmp_path)
    assert (loaded.text(), loaded.hash()) == (graph.text(), graph.hash())
    same_bits(mg.run(loaded, feeds), mg.run(graph, feeds))
    numbers: list[dict[Any, int]] = [{}, {}]
    for a, b in zip(graph.nodes, loaded.nodes, strict=True):
        shapes = [
            [seen.setdefault(n, len(seen)) if isinstance(n, Dim) else str(n) for n in s.spec.shape]
            for s, seen in zip((a, b), numbers, strict=True)
        ]
        assert shapes[0] == shapes[1], a


@each(sorted(name for name, op in REGISTRY.items() if not op.effect))
def test_every_operator_and_its_gradient_come_back(name: str, tmp_path: Path) -> None:
    op = REGISTRY[name]
    forms = itertools.cycle(FORMS)
    every = pairs(op.samples, FORMS)
    for sample, form in every if covering.thorough else zip(op.samples, forms, strict=False):
        operands = draw(sample)
        with mg.Graph():
            y, xs = static(op, operands, sample.attrs, form)
            outputs = [y]
            if form == "full" and ruled(op, operands) and y.dtype.kind == "f":
                wanted = [xs[i] for i in ruled(op, operands)]
                outputs += [g for g in mg.gradients(y, wanted) if g is not None]
            graph = mg.build_graph(xs, outputs)
        loaded = again(graph, tmp_path)
        assert (loaded.text(), loaded.hash()) == (graph.text(), graph.hash())
        feeds = {f.name: a for f, a in zip(xs, operands, strict=True)}
        same(mg.run(loaded, feeds), mg.run(graph, feeds))


VALUES: dict[str, Any] = {
    "None": None,
    "numbers": (True, False, 0, -7, 2**63 - 1, -(2**63), 0.1, -0.0, 1e308, 5e-324),
    "not finite": (float("inf"), -float("inf")),
    "strings": ("", "x" * 10_000, '\0\n\x1b[31m"\\</script>', "变量 🌳"),
    "nested": ((1, (2, ((), (3,)))), [1, [2, (3,)]], {"a": (1, {"b": None})}),
    "slices": (slice(None), slice(1, -1, 2), Ellipsis, None, LEAF),
    "types": (np.dtype(bool), np.dtype("int8"), np.dtype(">f4"), np.dtype("float16")),
    "arrays": (
        np.float32(0.1),
        np.arange(3),
        np.zeros((0, 3)),
        np.array([True]),
        np.uint64(2**64 - 1),
    ),
    "not finite arrays": (np.array([np.nan, np.inf, -np.inf, -0.0]), np.float16(np.nan)),
    "large": (np.arange(100.0).reshape(4, 25), np.arange(60).reshape(4, 15).T),
    "odd": (np.array([0x7FC00001], np.uint32).view(np.float32), np.arange(9, dtype=">i2")),
    "Fortran order": (np.asfortranarray(np.arange(6.0).reshape(2, 3)),),
    "long double": (np.array([1, 2], np.longdouble) / 3,),
}


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, (np.ndarray, np.generic)):
        layout = [(x.dtype.str, x.shape, x.flags.f_contiguous, x.tobytes()) for x in (a, b)]
        return layout[0] == layout[1]
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


@each(VALUES)
def test_values_come_back(name: str, tmp_path: Path) -> None:
    encoder = Encoder()
    encoded = encoder.value(VALUES[name], {}, {})
    archive.write(tmp_path / "file", json.dumps(encoded, allow_nan=False), encoder.arrays)
    with (tmp_path / "file").open("rb") as file:
        opened = archive.Archive(file)
        decoded = Decoder(opened.array).value(opened.document(), [], [])
        opened.finish()
    assert equal(decoded, VALUES[name])
    for array in encoder.arrays:  # it is no part of what was read
        loaded = next(x for x in decoded if equal(x, array))
        assert loaded.flags.writeable


def test_an_entry_that_two_nodes_read_is_one_array(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with mg.Graph():
        mg.build_graph(None, [mg.constant(np.full(100, x)) for x in (1.0, 2.0)]).save(path)
    document, entries = unpack(path)
    del entries["arrays/1.npy"]
    pack(path, json.dumps(document).replace('"entry": 1', '"entry": 0'), entries)
    first, second = (n.attrs["value"] for n in mg.load_graph(path).nodes)
    assert first is second


def test_a_nan_attribute_comes_back() -> None:
    assert np.isnan(Decoder(np.array).value(Encoder().value(float("nan"), {}, {}), [], []))


def test_strange_names_are_data(tmp_path: Path) -> None:
    names = ["a\nb", "\x00", "../../etc", "<script>", "名字", "x" * 10_000, " ", "x/y"]
    graph = mg.build_graph(None, [mg.placeholder(name, shape=()) + 1 for name in names])
    loaded = again(graph, tmp_path)
    assert [x.name for x in loaded.placeholders] == names
    assert [float(y) for y in run_all(loaded, dict.fromkeys(names, 1))] == [2] * len(names)


def test_copies_that_share_a_name_get_names_of_their_own(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=())
    graph = mg.build_graph(x, [x * 2, x * 3, x * 4]).replace({})
    for node in graph.nodes:
        if node.op.name == "Mul":
            node.name = "Mul"
    loaded = mg.load_graph(again(graph, tmp_path) and tmp_path / "first.graph")
    assert sorted(y.name for y in loaded.outputs) == ["Mul", "Mul_1", "Mul_2"]
    assert loaded.hash() == graph.hash()


def test_names_of_arrays_and_sizes(tmp_path: Path) -> None:
    """Short arrays stand in the document, which has a node on each line; others beside it."""
    model().save(tmp_path / "model")
    document, arrays = unpack(tmp_path / "model")
    assert document["format"] == "minigrad graph"
    assert document["version"] == 1
    assert [*arrays] == ["arrays/0.npy"]
    np.testing.assert_array_equal(
        np.load(io.BytesIO(arrays["arrays/0.npy"]), allow_pickle=False),
        np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32),
    )
    lines = zipfile.ZipFile(tmp_path / "model").read("graph.json").decode().splitlines()
    assert sum(line.startswith('{"op"') for line in lines) == sum(
        len(g["nodes"]) for g in document["graphs"]
    )
    assert max(map(len, lines)) < 300
    infos = zipfile.ZipFile(tmp_path / "model").infolist()
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert {info.create_system for info in infos} == {3}, "nothing of the machine"


def test_the_path_may_be_of_any_kind(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=())
    for path in (
        tmp_path / "模型 1",
        str(tmp_path / "model"),
        os.fspath(tmp_path / ("n" * (50 if os.name == "nt" else 250))),
    ):
        mg.build_graph(x, x + 1).save(path)
        assert mg.run(mg.load_graph(path), {"x": 1}) == 2
    with pytest.raises(FileNotFoundError):
        mg.load_graph(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        mg.build_graph(x, x + 1).save(tmp_path / "absent" / "file")


# ---- Functions: what they read from around is saved with them ---------------------------------

MAKERS = {
    "trace": lambda f, x: mg.trace(f, x),
    "script": lambda f, x: called(mg.script(f), x),
    "function": lambda f, x: called(mg.function(f), x),
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def called(f: Any, *args: Any) -> Any:
    f(*args)
    return f


class Net(mg.nn.Module):
    """Layers, statistics, a parameter in two places, tensors that are no parameters."""

    def __init__(self, dtype: Any = np.float32) -> None:
        super().__init__()
        self.first = mg.nn.Linear(3, 3, seed=1)
        self.norm = mg.nn.BatchNorm1d(3)
        self.again = self.first
        self.last = mg.nn.Linear(3, 2, seed=2)
        self.scale = mg.tensor([2.0, 3.0])
        self.shift = np.array([0.5, 0.25], np.float32)
        for x in [*self.parameters(), self.norm.running_mean, self.norm.running_var, self.scale]:
            x.data = x.data.astype(dtype)
        self.shift = self.shift.astype(dtype)

    def forward(self, x: Any) -> Any:
        y = self.norm(mg.tanh(self.again(self.first(x))))
        return self.last(y) * self.scale + self.shift


def trained_a_little(dtype: Any = np.float32) -> tuple[Net, mg.Tensor]:
    """A net that has seen something, and data for it."""
    net = Net(dtype)
    x = mg.tensor(np.linspace(-1, 1, 15).reshape(5, 3).astype(dtype))
    optimizer = mg.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    net.eval()
    return net, x


RUNS = """
import sys, numpy as np, minigrad as mg
for path in sys.argv[1:]:
    graph = mg.load_graph(path)
    feeds = {"x": np.load(path + ".npy")}
    with mg.Session(graph) as session:
        found = [mg.run(graph, feeds), session.run(graph.outputs[0], feeds)]
    for executor in ("reference", "numpy"):
        found.append(graph.compile(optimize=False, executor=executor)(feeds))
    print(([x.name for x in graph.inputs], [y.tobytes().hex() for y in found]))
"""


def test_a_model_runs_where_its_class_is_unknown(tmp_path: Path) -> None:
    """One other process runs what each maker saved in each data type."""
    expected = {}
    for name, dtype in itertools.product(MAKERS, ("float32", "float64")):
        net, x = trained_a_little(dtype)
        y = net(x).numpy()
        assert y.dtype == dtype
        path = f"{tmp_path / name}.{dtype}"
        MAKERS[name](net, x).graph.save(path)
        np.save(f"{path}.npy", x.numpy())
        expected[path] = ["x"], [y.tobytes().hex()] * 4
    done = subprocess.run(
        [sys.executable, "-c", RUNS, *expected], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = map(ast.literal_eval, done.stdout.splitlines())
    assert dict(zip(expected, printed, strict=True)) == expected


@makers
def test_parameters_come_back_as_variables_to_be_trained(make: Any, tmp_path: Path) -> None:
    net, x = trained_a_little()
    loaded = again(make(net, x).graph, tmp_path)
    by_name = {v.name: v for v in loaded.variables}
    assert len(loaded.parameters(loaded.nodes)) == len(list(net.parameters())) == 6
    assert by_name.keys() - {v.name for v in loaded.parameters(loaded.nodes)} == {
        "running_mean",
        "running_var",
    }
    assert len(by_name) == 8, "the layer in two places has one weight"
    with loaded.nodes[0].graph as home, mg.Session(home) as session:
        loss = (loaded.outputs[0] ** 2).mean()
        step = mg.optim.SGD(lr=0.002).minimize(loss)
        statistics = session.run(by_name["running_mean"])
        losses = [session.run([loss, step], {"x": x.numpy()})[0] for _ in range(5)]
        assert losses == sorted(losses, reverse=True)
        assert np.array_equal(session.run(by_name["running_mean"]), statistics)
        trained = session.run(loaded.outputs[0], {"x": x.numpy()})
        loaded.save(tmp_path / "trained", session)
    same([mg.run(mg.load_graph(tmp_path / "trained"), {"x": x.numpy()})], [trained])


@makers
def test_what_is_saved_is_what_holds_now(make: Any, tmp_path: Path) -> None:
    scale = mg.tensor([2.0, 3.0], requires_grad=True)
    factor = scale * 10  # the result of an operation

    def f(x: Any) -> Any:
        return x * scale + factor

    x = mg.tensor([1.0, 1.0])
    made = make(f, x)
    with mg.no_grad():
        scale.copy_(mg.tensor([5.0, 7.0]))
    made.save(tmp_path / "f")
    loaded = mg.load_graph(tmp_path / "f")
    same([mg.run(loaded, {"x": x.numpy()})], [made(x).numpy()])
    assert [v.name for v in loaded.parameters(loaded.nodes)] == [loaded.variables[0].name]


@makers
def test_results_of_any_arrangement_become_outputs_in_order(make: Any, tmp_path: Path) -> None:
    w = mg.tensor(3.0, requires_grad=True)

    def f(x: Any, y: Any = 2.0) -> Any:
        a = x * w
        return {"a": a, "b": (x + y, a), "c": [7, a - 1]}

    made = make(f, mg.tensor(4.0))
    made.graph.save(tmp_path / "f")
    feeds = {p.name: v for p, v in zip(made.graph.inputs, [4.0, 2.0], strict=False)}
    feeds = {k: v for k, v in feeds.items() if k in ("x", "y")}
    assert mg.run(mg.load_graph(tmp_path / "f"), feeds) == [12.0, 6.0, 12.0, 7, 11.0]


def test_an_optimised_graph_keeps_its_parameters(tmp_path: Path) -> None:
    net, x = trained_a_little()
    graph = mg.trace(net, x).graph.optimize()
    graph.save(tmp_path / "net")
    found = mg.run(mg.load_graph(tmp_path / "net"), {"x": x.numpy()})
    np.testing.assert_allclose(found, net(x).numpy(), rtol=1e-5, atol=1e-6)


def test_a_layer_that_trains_needs_its_inputs_only(tmp_path: Path) -> None:
    net, x = trained_a_little()
    net.train()
    traced = mg.trace(net, x)
    traced.save(tmp_path / "net")
    loaded = mg.load_graph(tmp_path / "net")
    assert len(loaded.outputs) == 1, "no new statistics, which nobody would keep"
    same([mg.run(loaded, {"x": x.numpy()})], [traced(x).numpy()])


def test_random_numbers_of_a_function_come_back(tmp_path: Path) -> None:
    x = mg.ones(50)
    layer, other, same_again = (mg.nn.Dropout(0.5, seed=seed) for seed in (3, 4, 3))
    mg.trace(lambda x: (layer(x), other(x), layer(x)), x).save(tmp_path / "f")
    loaded = mg.load_graph(tmp_path / "f")
    with mg.Session(loaded) as session:
        drawn = [session.run(list(loaded.outputs), {"x": x.numpy()}) for _ in range(2)]
    calls = [same_again(x).numpy() for _ in range(4)]
    same([drawn[0][0], drawn[0][2], drawn[1][0], drawn[1][2]], calls)


def test_what_is_printed_keeps_its_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    w = mg.tensor(3.0, requires_grad=True)

    def f(x: Any) -> Any:
        mg.Print(x * w, "first")
        return mg.Print(x + w, "second")

    traced = mg.function(f)
    traced(mg.tensor(1.0))
    traced.save(tmp_path / "f")
    capsys.readouterr()
    mg.run(mg.load_graph(tmp_path / "f"), {"x": 1.0})
    printed = capsys.readouterr()
    both = printed.out + printed.err
    assert 0 <= both.index("first") < both.index("second")


def test_a_function_of_several_graphs_says_so(tmp_path: Path) -> None:
    f = mg.function(lambda x: x * 2)
    with pytest.raises(mg.TraceError, match="call it once"):
        f.save(tmp_path / "f")
    f(mg.ones(2))
    f(mg.ones(3))
    with pytest.raises(mg.TraceError, match="2 graphs") as found:
        f.save(tmp_path / "f")
    assert "test_storage.py, line" in str(found.value)
    assert os.listdir(tmp_path) == []


def test_what_has_no_value_is_not_saved(tmp_path: Path) -> None:
    w = mg.Variable(1.0, name="w")
    traced = mg.function(lambda x: x * w)
    traced(mg.placeholder("x", shape=()))
    with pytest.raises(FormatError, match=r"reads w \(Variable\).*mg.build_graph"):
        traced.save(tmp_path / "f")
    with pytest.raises(FormatError, match="returns 'name'"):
        mg.trace(lambda x: (x * 2, "name"), mg.ones(2)).save(tmp_path / "f")
    assert os.listdir(tmp_path) == []


# ---- What cannot be saved, and a write that fails ---------------------------------------------


def _custom(**attrs: Any) -> mg.Graph:
    """A graph with an operator of the user's own."""
    op = Op("Custom", shape=lambda x, **attrs: x, run=lambda out, x, **attrs: x)
    REGISTRY["Custom"] = op
    x = mg.placeholder("x", shape=())
    return mg.build_graph(x, x.graph.add(op, (x,), attrs))


@pytest.fixture
def no_custom() -> Iterator[None]:
    yield
    REGISTRY.pop("Custom", None)


def _unregistered() -> mg.Graph:
    graph = _custom()
    del REGISTRY["Custom"]
    return graph


def _foreign_variable() -> mg.Graph:
    mg.Variable(1.0, name="elsewhere")
    return mg.build_graph(None, mg.global_variables_initializer())


def _deep() -> Any:
    nested: Any = ()
    for _ in range(20):
        nested = (nested,)
    return nested


UNSAVEABLE: dict[str, tuple[Callable[[], mg.Graph], str]] = {
    "a function": (lambda: _custom(f=print), r"Custom: the attribute f=<built-in"),
    "an object": (lambda: _custom(f=object()), "f=<object"),
    "a set": (lambda: _custom(f={1}), r"f=\{1\} is no data"),
    "a huge number": (lambda: _custom(n=2**63), "n=9223372036854775808 is no data"),
    "an array of objects": (lambda: _custom(a=np.array([None])), "is no data"),
    "a time": (lambda: _custom(t=np.datetime64("2024-01-01")), "is no data"),
    "a deep nest": (lambda: _custom(t=_deep()), "is no data"),
    "a text without end": (lambda: _custom(s="x" * 10_001), "10001, the limit is 10000"),
    "half a character": (lambda: _custom(s="\ud800"), "Unicode"),
    "an unknown operator": (_unregistered, "no operator Custom"),
    "variables of another graph": (_foreign_variable, "is no data"),
    "a long name": (
        lambda: mg.build_graph(None, mg.placeholder("x" * 10_001)),
        "10001, the limit is 10000",
    ),
}


@pytest.mark.usefixtures("no_custom")
@pytest.mark.parametrize("name", UNSAVEABLE)
def test_what_is_no_data_is_not_saved(name: str, tmp_path: Path) -> None:
    build, words = UNSAVEABLE[name]
    (tmp_path / "file").write_bytes(b"older")
    with pytest.raises(FormatError, match=words) as found:
        build().save(tmp_path / "file")
    assert "nothing was written" in str(found.value)
    assert "test_storage.py, line" in str(found.value)
    assert (tmp_path / "file").read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.usefixtures("no_custom")
def test_an_operator_of_ones_own_comes_back_where_it_is_defined(tmp_path: Path) -> None:
    graph = _custom(shift=0.5, where=(1, None))
    loaded = again(graph, tmp_path)
    assert loaded.outputs[0].attrs == {"shift": 0.5, "where": (1, None)}
    del REGISTRY["Custom"]
    with pytest.raises(FormatError, match="no operator 'Custom'") as found:
        mg.load_graph(tmp_path / "first.graph")
    assert "import the module that defines the operator" in str(found.value)


def test_a_broken_graph_is_not_saved(tmp_path: Path) -> None:
    graph = model()
    graph._nodes.reverse()
    with pytest.raises(mg.VerifyError):
        graph.save(tmp_path / "file")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("moment", ["write_array", "replace"])
def test_a_write_that_fails_leaves_the_older_file(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError("the disk is full")

    graph = model()
    graph.save(tmp_path / "file")
    older = (tmp_path / "file").read_bytes()
    if moment == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="the disk is full"):
        graph.save(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == older
    assert os.listdir(tmp_path) == ["file"], "nothing half written stays"


# ---- Files that are not what they claim -------------------------------------------------------


def unpack(path: Path | io.BytesIO) -> tuple[Any, dict[str, bytes]]:
    """The document and the other entries of a file."""
    with zipfile.ZipFile(path) as zipped:
        entries = {name: zipped.read(name) for name in zipped.namelist()}
    return json.loads(entries.pop("graph.json")), entries


def pack(path: Path, document: Any, entries: dict[str, bytes], how: int = 0) -> None:
    """A file of a document (or its text) and other entries."""
    text = document if isinstance(document, (str, bytes)) else json.dumps(document)
    with zipfile.ZipFile(path, "w", how) as zipped:
        zipped.writestr("graph.json", text)
        for name, data in entries.items():
            zipped.writestr(name, data)


def refused(path: Path, *words: str) -> str:
    """Loading raises FormatError with these words, names the file, and leaves nothing behind."""
    graph = get_default_graph()
    before = graph.nodes
    with pytest.raises(FormatError) as found:
        mg.load_graph(path)
    assert graph.nodes == before
    english, chinese = found.value.pair
    for word in (str(path), *words):
        assert word in english
    assert "nothing was loaded" in english
    assert "没有载入任何内容" in chinese
    assert english.count("Remedy: ") >= 1
    assert "test_storage.py, line" in english, "the user's line"
    return english


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.graph"
    path.write_bytes(saved_model())
    return path


@functools.cache
def saved_model() -> bytes:
    with mg.Graph(), tempfile.TemporaryDirectory() as folder:
        model().save(Path(folder, "model"))
        return Path(folder, "model").read_bytes()


def test_the_document_may_be_rewritten(good: Path) -> None:
    """What the tests below change is refused for the change, not for having been touched."""
    expected = mg.load_graph(good).hash()
    pack(good, *unpack(good))
    assert mg.load_graph(good).hash() == expected


def test_what_is_no_archive_is_refused(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "bad"
    whole = good.read_bytes()
    for data in (b"", b"PK", b"\0" * 1000, b"import os", json.dumps([1]).encode()):
        path.write_bytes(data)
        refused(path, "a complete zip archive")
    for end in range(0, len(whole), 97):
        path.write_bytes(whole[:end])
        refused(path, "a complete zip archive")


def test_an_array_with_a_changed_byte_is_refused_by_its_name(tmp_path: Path, good: Path) -> None:
    whole = bytearray(good.read_bytes())
    whole[whole.index(b"NUMPY") + 140] ^= 1
    (tmp_path / "bad").write_bytes(whole)
    refused(tmp_path / "bad", "arrays/0.npy in the archive is damaged (Bad CRC-32")


def entry_cases(entries: dict[str, bytes]) -> Iterator[tuple[str, dict[str, bytes], str]]:
    """Entries that do not belong, are missing or are no arrays."""
    array = entries["arrays/0.npy"]
    for name in ("../../evil", "/etc/passwd", "arrays/../graph.json", "arrays/00.npy", "a\nb"):
        yield f"entry {name!a}", {**entries, name: b""}, f"entry {name!a} does not belong"
    yield "no array", {}, "arrays/0.npy is missing"
    yield "an array too many", {**entries, "arrays/1.npy": array}, "arrays/1.npy does not belong"
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], object), allow_pickle=True)
    yield "a pickle", {"arrays/0.npy": buffer.getvalue()}, "dtype b'|O'"
    for value, words in (
        (np.zeros((4, 4), np.float32), "its operator gives"),
        (np.zeros((3, 4), np.float64), "its operator gives"),
        (np.array(["a"]), "dtype b'<U1'"),
        (np.zeros(2, [("a", int)]), "no plain header"),
        (np.array(["2024"], "M8[D]"), "no plain header"),
        (np.zeros(2, complex), "dtype b'<c16'"),
    ):
        buffer = io.BytesIO()
        np.save(buffer, value)
        yield f"an array {value.dtype}{value.shape}", {"arrays/0.npy": buffer.getvalue()}, words
    for old, new, words in (
        (b"(3, 4)", b"(9, 9)", "48 bytes, shape (9, 9)"),
        (b"(3, 4), }", b"(99999999999999, 9), }", "no plain array"),
        (b"(3, 4)", b"(-3,-4)", "no plain header"),
        (b"(3, 4)", b"(3, 4)*1", "no plain header"),
        (b"False", b"__import__('os').system('false')", "no plain header"),
        (b"\x93NUMPY", b"\x93NUMPI", "no plain header"),
        (b"<f4", b"|b1", "48 bytes, shape (3, 4), bool"),
    ):
        assert old in array
        yield f"{old!a} → {new!a}", {"arrays/0.npy": array.replace(old, new)}, words
    yield "an array cut off", {"arrays/0.npy": array[:-1]}, "47 bytes, shape (3, 4)"
    yield "an array with more", {"arrays/0.npy": array + b"x"}, "49 bytes"
    yield "nothing", {"arrays/0.npy": b""}, "no plain header"
    many = b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1, " * 99 + b"), }\n"
    header = archive._MAGIC + len(many).to_bytes(2, "little") + many
    yield "an array of many axes", {"arrays/0.npy": header + b"\0" * 4}, "dimension"
    yield (
        "a bool that is 2",
        {"arrays/0.npy": array[:-48].replace(b"<f4", b"|b1") + b"\2" * 12},
        ("neither 0 nor 1"),
    )


def test_entries_that_do_not_belong_are_refused(good: Path) -> None:
    document, entries = unpack(good)
    for name, changed, words in entry_cases(entries):
        pack(good, document, changed)
        try:
            refused(good, words)
        except AssertionError as error:
            raise AssertionError(name) from error


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_that_stands_twice_is_refused(good: Path) -> None:
    document, entries = unpack(good)
    with zipfile.ZipFile(good, "a") as zipped:
        zipped.writestr("arrays/0.npy", entries["arrays/0.npy"])
    refused(good, "'arrays/0.npy' is there twice")
    pack(good, document, entries)
    with zipfile.ZipFile(good, "a") as zipped:
        zipped.writestr("graph.json", "{}")
    refused(good, "'graph.json' is there twice")


def test_a_bomb_is_refused_before_it_goes_off(good: Path) -> None:
    document, entries = unpack(good)
    pack(good, document, entries, zipfile.ZIP_DEFLATED)
    refused(good, "compressed or encrypted")
    pack(good, b" " * 10**7 + b"{}", entries, zipfile.ZIP_DEFLATED)
    assert good.stat().st_size < 10**5
    refused(good, "graph.json is compressed")


@pytest.mark.parametrize(
    ("place", "length", "wrong"), [(8, 2, 1), (10, 2, 8), (20, 4, 7), (24, 4, 7)]
)
def test_an_entry_that_says_it_is_packed_is_refused(
    place: int, length: int, wrong: int, good: Path
) -> None:
    """Encrypted, compressed, smaller in the file than it unpacks to, or larger."""
    data = bytearray(good.read_bytes())
    start = data.rindex(b"PK\1\2") + place
    data[start : start + length] = wrong.to_bytes(length, "little")
    good.write_bytes(data)
    refused(good, "arrays/0.npy is compressed or encrypted")


def test_entries_that_claim_more_than_the_file_are_refused(good: Path) -> None:
    """Many entries that share the same bytes."""
    data = bytearray(good.read_bytes())
    start = data.rindex(b"PK\1\2")
    for offset in (20, 24):  # both sizes of the last entry of the directory
        data[start + offset : start + offset + 4] = (2**31).to_bytes(4, "little")
    good.write_bytes(data)
    refused(good, "entries larger than the file")


def test_a_document_too_long_is_refused(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LONGEST_DOCUMENT", 1000)
    refused(good, "bytes of graph.json", "the limit is 1000")
    with pytest.raises(FormatError, match="the limit is 1000"):
        model().save(good)


TEXTS = {
    "": "not strict JSON",
    "{": "not strict JSON",
    '{"a": NaN}': "NaN is not JSON",
    '{"a": -Infinity}': "-Infinity is not JSON",
    '{"a": 1e999}': "1e999 is too large",
    '{"a": 1' + "0" * 5000 + "}": "is too large",
    '{"a": 1, "a": 1}': "a key stands twice",
    "[" * 100_000 + "]" * 100_000: "not strict JSON",
    '{"a":' * 100_000 + "1" + "}" * 100_000: "not strict JSON",
    "[]": "expected minigrad graph",
    "null": "expected minigrad graph",
    "3": "expected minigrad graph",
    '"x"': "expected minigrad graph",
    "{}": "expected minigrad graph",
    "{'format': 'minigrad graph'}": "not strict JSON",
    "\ufeff{}": "not strict JSON",
}


@each(TEXTS.items())
def test_what_is_no_document_is_refused(text: str, words: str, good: Path) -> None:
    bad = good.with_name("bad.graph")
    pack(bad, text, unpack(good)[1])
    refused(bad, words)


def test_bytes_that_are_no_text_are_refused(good: Path) -> None:
    pack(good, json.dumps(unpack(good)[0]).encode("utf-16"), {})
    refused(good, "not strict JSON")


def node(document: Any, op: str, graph: int = -1) -> Any:
    """The first node of an operator."""
    return next(n for n in document["graphs"][graph]["nodes"] if n["op"] == op)


def put(document: Any, *path: Any) -> None:
    """Put the last of `path` where the rest leads."""
    *way, key, value = path
    for step in way:
        document = document[step]
    document[key] = value


def edit(op: str, *path: Any) -> Callable[[Any], None]:
    return lambda document: put(node(document, op), *path)


def at_top(*path: Any) -> Callable[[Any], None]:
    return lambda document: put(document, *path)


def in_main(*path: Any) -> Callable[[Any], None]:
    return lambda document: put(document["graphs"][-1], *path)


def _lengthen(op: str) -> Callable[[Any], None]:
    """A source that says it is longer than its value: whoever reads by its shape reads beyond."""

    def change(document: Any) -> None:
        source = node(document, op)
        source["attrs"] |= {"shape": [1000], "dtype": {"dtype": source["value"]["dtype"]}}
        source["value"]["shape"] = [1000]

    return change


def _grow(times: int) -> Callable[[Any], None]:
    """Graphs that hold the one before twice: short to write, endless to read."""

    def change(document: Any) -> None:
        graphs = document["graphs"]
        line = {"line": 0, "value": {"dtype": "float32", "shape": []}}
        attrs = {"dtype": {"dtype": "float32"}, "shape": []}
        x = {"op": "Placeholder", "name": "x", "attrs": attrs, **line}
        ends = {"inputs": [0], "outputs": [0], "effects": [], "single": False, "frozen": True}
        graphs[:] = [{**ends, "nodes": [x]}]
        for i in range(times):
            inner = {"then": {"graph": i}, "orelse": {"graph": i}}
            cond = {"op": "Cond", "name": "c", "inputs": [0, 0], "attrs": inner, **line}
            graphs.append({**ends, "nodes": [x, cond]})

    return change


def _swap_nodes(document: Any) -> None:
    nodes = document["graphs"][-1]["nodes"]
    nodes[0], nodes[-1] = nodes[-1], nodes[0]


def _repeat(document: Any) -> None:
    nodes = document["graphs"][-1]["nodes"]
    nodes.append(copy.deepcopy(nodes[-1]))


def _keep_dtype_of(dtype: str, op: str) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        edit(op, "attrs", "dtype", {"dtype": dtype})(document)

    return change


VALUE = {"array": ["float32", [4], [0, 0, 0, 0]]}
HOSTILE: dict[str, tuple[Callable[[Any], Any], str]] = {
    # the document as a whole
    "another format": (at_top("format", "onnx"), "found 'onnx'; expected minigrad graph"),
    "a newer version": (at_top("version", 2), "of format version 2; this minigrad knows versions"),
    "no version": (lambda d: d.pop("version"), "found None"),
    "version 0": (at_top("version", 0), "found 0"),
    "a version that is no number": (at_top("version", "1"), "found '1'"),
    "a version that is true": (at_top("version", True), "found True"),
    "another key": (at_top("run", "rm -rf"), "'run'"),
    "no graphs": (at_top("graphs", []), "found []"),
    "graphs that are no list": (at_top("graphs", {}), "found {}; expected list"),
    "a graph that is no object": (at_top("graphs", 0, 7), "found 'int'"),
    "lines of another form": (at_top("lines", 0, ["f.py", "1", ""]), "found '1'"),
    "lines too short": (at_top("lines", 0, ["f.py", 1]), "list of 3"),
    # a graph
    "nodes that are no list": (in_main("nodes", 3), "found 3; expected list"),
    "a missing key": (lambda d: d["graphs"][-1].pop("effects"), "{effects, frozen, inputs"),
    "an output that is not there": (in_main("outputs", [10**6]), "found 1000000"),
    "an output below 0": (in_main("outputs", [-1]), "found -1"),
    "an output that is no number": (in_main("outputs", [1.0]), "found 1.0"),
    "an output that is true": (in_main("outputs", [True]), "found True"),
    "an input that is no placeholder": (in_main("inputs", [1]), "expected inputs"),
    "an input twice": (in_main("inputs", [0, 0]), "expected inputs"),
    "single that is no bool": (in_main("single", 1), "true, false"),
    "frozen that is no bool": (in_main("frozen", None), "true, false"),
    # a node
    "a node that is no object": (in_main("nodes", 0, None), "node 0"),
    "an unknown operator": (edit("MatMul", "op", "System"), "there is no operator 'System'"),
    "an operator that is no text": (edit("MatMul", "op", ["MatMul"]), "expected string"),
    "a key of a node too many": (edit("MatMul", "__class__", "x"), "__class__"),
    "a forward edge": (edit("MatMul", "inputs", [0, 9]), "found 9"),
    "an edge to itself": (lambda d: _to_itself(d), "node"),
    "an edge from before the start": (edit("MatMul", "inputs", [-1, 0]), "found -1"),
    "an edge that is no number": (edit("MatMul", "inputs", ["0", 1]), "found '0'"),
    "edges that are no list": (edit("MatMul", "inputs", "01"), "found '01'"),
    "a node too many": (_repeat, "taken by another node"),
    "nodes out of order": (_swap_nodes, "node 0"),
    "too few operands": (edit("MatMul", "inputs", [0]), "1 operands (2 ... 2)"),
    "too many operands": (edit("Tanh", "inputs", [0, 0]), "2 operands (1 ... 1)"),
    "operands of a source": (edit("Variable", "inputs", [0]), "1 operands (0 ... 0)"),
    "shapes that do not fit": (edit("MatMul", "inputs", [1, 1]), "building it fails: MatMul"),
    "a name twice": (edit("MatMul", "name", "x"), "the name 'x' is empty or taken"),
    "no name": (edit("MatMul", "name", ""), "the name '' is empty"),
    "a name that is no text": (edit("MatMul", "name", 7), "found 7; expected string"),
    "a name too long": (edit("MatMul", "name", "x" * 10_001), "10001, the limit is 10000"),
    "a name of half a character": (edit("MatMul", "name", "\ud800"), "Unicode"),
    "a scope that is no text": (edit("MatMul", "scope", None), "found None"),
    "a line that is not there": (edit("MatMul", "line", 10**6), "found 1000000"),
    "a control that is not there": (edit("MatMul", "controls", [99]), "found 99"),
    "another shape": (edit("MatMul", "value", "shape", [None, 5]), "it claims"),
    "another type": (edit("MatMul", "value", "dtype", "float64"), "it claims"),
    "a claim of another form": (edit("MatMul", "value", 3), "it claims 3"),
    # attributes
    "attributes that are no object": (edit("MatMul", "attrs", [1]), "found [1]"),
    "an unknown attribute": (edit("MatMul", "attrs", {"evil": 1}), "evil=1"),
    "an attribute of a sourceless one": (edit("Tanh", "attrs", {"axis": 1}), "axis=1 (-)"),
    "out": (edit("Tanh", "attrs", {"out": {"array": ["float32", [], [1.0]]}}), "out="),
    "an attribute of another type": (
        edit("MatMul", "attrs", {"transpose_a": "yes"}),
        "transpose_a='yes' (bool)",
    ),
    "a number for a bool": (edit("MatMul", "attrs", {"transpose_a": 1}), "transpose_a=1"),
    "an unknown kind": (edit("Constant", "attrs", "value", {"pickle": "x"}), "found {'pickle'"),
    "two kinds": (edit("Constant", "attrs", "value", {"dim": 1, "float": "nan"}), "found {'dim'"),
    "a float of another name": (edit("Constant", "attrs", "value", {"float": "1e5"}), "1e5"),
    "a mark of another name": (edit("Constant", "attrs", "value", {"mark": "x"}), "mark"),
    "a number too large": (edit("Constant", "attrs", "value", 2**64), "found 18446744073709551616"),
    "a deep nest": (edit("Constant", "attrs", "value", json.loads("[" * 60 + "]" * 60)), "depth"),
    "a graph that is not there": (edit("Cond", "attrs", "then", {"graph": 9}), "found 9"),
    "a graph that holds itself": (lambda d: _recursive(d), "expected 0–"),
    "a node that is not there": (edit("Constant", "attrs", "value", {"node": 99}), "found 99"),
    "an array that is not there": (edit("Variable", "attrs", "value", {"entry": 7}), "7.npy is m"),
    "an array below 0": (edit("Variable", "attrs", "value", {"entry": -1}), "found -1"),
    "an array without a value": (edit("Variable", "attrs", {}), "value=?"),
    "no array": (edit("Variable", "attrs", "value", 3), "value=3"),
    "a dtype of objects": (
        edit("Constant", "attrs", "value", {"array": ["object", [], [1]]}),
        "expected array",
    ),
    "a type of another name": (
        edit("Placeholder", "attrs", "dtype", {"dtype": "O"}),
        "found {'dtype': 'O'}",
    ),
    "no type at all": (edit("Placeholder", "attrs", "dtype", "float32"), "dtype='float32'"),
    "values that are no numbers": (
        edit("Constant", "attrs", "value", {"array": ["float32", [1], ["x"]]}),
        "expected array",
    ),
    "more values than the shape": (
        edit("Constant", "attrs", "value", {"array": ["float32", [1], [1.0, 2.0]]}),
        "expected array",
    ),
    "a whole number among floats": (
        edit("Constant", "attrs", "value", {"array": ["float32", [], [1]]}),
        "expected array",
    ),
    "a number that overflows": (
        edit("Constant", "attrs", "value", {"array": ["float32", [], [1e300]]}),
        "found",
    ),
    "a whole number that overflows": (
        edit("Constant", "attrs", "value", {"array": ["int8", [], [300]]}),
        "found",
    ),
    "an impossible shape": (
        edit("Constant", "attrs", "value", {"array": ["float32", [0, 2**62, 2**62], []]}),
        "found",
    ),
    "a length below 0": (edit("Placeholder", "attrs", "shape", [-3, 3]), "Placeholder does not"),
    "a length that is no number": (edit("Placeholder", "attrs", "shape", ["a", 3]), "Placeholder"),
    "a length that is true": (edit("Placeholder", "attrs", "shape", [True, 3]), "Placeholder"),
    "a shape that is no shape": (edit("Placeholder", "attrs", "shape", 3), "shape=3"),
    "a role of another name": (edit("Variable", "attrs", "role", "root"), "role='root'"),
    "a role that is no name": (edit("Variable", "attrs", "role", 1), "role=1"),
    "a role of a constant": (edit("Constant", "attrs", "role", "buffer"), "role='buffer'"),
    # what the operators' own rules do not ask
    "a constant longer than its value": (_lengthen("Constant"), "Constant does not take this"),
    "a variable longer than its value": (_lengthen("Variable"), "Variable does not take this"),
    "an assignment to no variable": (lambda d: _assign_to(d, "Tanh"), "Assign does not take this"),
    "an assignment of another shape": (lambda d: _assign_to(d, "Variable", 1), "Assign does not"),
    "a value read of no variable": (
        edit("ReadValue", "inputs", [0]),
        "ReadValue does not take this",
    ),
    "a branch with too few inputs": (lambda d: d["graphs"][0]["inputs"].pop(), "Cond does not"),
    "a loop that carries more": (edit("While", "attrs", "carries", 3), "While does not take this"),
    "a loop that carries less": (edit("While", "attrs", "carries", -1), "While does not take this"),
    "a scan that carries more": (edit("Scan", "attrs", "carries", 9), "Scan does not take this"),
    "a scan over nothing": (edit("Scan", "attrs", "sequences", 0), "Scan does not take this"),
    "a body of another loop": (edit("While", "attrs", "body", {"graph": 0}), "While does not"),
    "a history of no loop": (edit("History", "inputs", [0]), "History does not take this"),
    "a part that is not there": (edit("Output", "attrs", "index", 99), "building it fails: "),
    "a body that is not frozen": (at_top("graphs", 0, "frozen", False), "Cond does not take this"),
    # too much
    "graphs in graphs in graphs": (_grow(25), "depth: 17, the limit is 16"),
}


def _to_itself(document: Any) -> None:
    nodes = document["graphs"][-1]["nodes"]
    place = nodes.index(node(document, "MatMul"))
    nodes[place]["inputs"] = [0, place]


def _recursive(document: Any) -> None:
    put(node(document, "Cond"), "attrs", "then", {"graph": len(document["graphs"]) - 1})


def _assign_to(document: Any, op: str, which: int = 0) -> None:
    nodes = document["graphs"][-1]["nodes"]
    found = [i for i, n in enumerate(nodes) if n["op"] == op]
    node(document, "Assign")["inputs"][0] = found[which]


@functools.cache
def good_parts() -> tuple[str, dict[str, bytes]]:
    """The document of a good file, as text, and its other entries."""
    document, entries = unpack(io.BytesIO(saved_model()))
    return json.dumps(document), entries


@each(HOSTILE)
def test_what_is_not_what_it_claims_is_refused(name: str, good: Path) -> None:
    change, words = HOSTILE[name]
    text, entries = good_parts()
    change(document := json.loads(text))
    changed = json.dumps(document)
    assert changed != text, "the change changes something"
    pack(bad := good.with_name("bad.graph"), changed, entries)
    refused(bad, words)


def test_too_many_nodes_are_refused(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_NODES", 50)
    refused(good, "nodes: 51, the limit is 50")
    with pytest.raises(FormatError, match="the limit is 50"):
        model().save(good)


def test_short_files_that_are_endless_texts_are_refused(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MOST_NODES", 500)
    document, _ = unpack(good)
    _grow(10)(document)
    pack(good, document, {})
    refused(good, "nodes: ", "the limit is 500")
    monkeypatch.setattr(writing, "MOST_NODES", 100_000)
    grown = mg.load_graph(good)
    monkeypatch.setattr(writing, "MOST_NODES", 500)
    with pytest.raises(FormatError, match="the limit is 500"):
        grown.save(good)


def test_a_pickle_is_never_opened(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that executes is ever reached, whatever stands in the file."""
    import builtins
    import pickle

    mg.load_graph(good)  # Python itself imports what names in archives are encoded in

    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("executed")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, never)
    monkeypatch.setattr(builtins, "eval", never)
    monkeypatch.setattr(builtins, "exec", never)
    monkeypatch.setattr(ast, "literal_eval", never)
    mg.load_graph(good)


@each(sorted(REGISTRY))
def test_every_operator_refuses_attributes_that_it_does_not_know(name: str, tmp_path: Path) -> None:
    """And its own are in its signature, with types that its samples are of."""
    op = REGISTRY[name]
    if op.effect or not op.samples:
        assert op in call_schema.SCHEMAS or not signature(op).others, (
            "it has no kernel that could be asked"
        )
        return
    sample: Sample = op.samples[0]
    y, xs = static(op, draw(sample), sample.attrs, "full")
    mg.build_graph(xs, y).save(tmp_path / "file")
    for wrong in ({"nonsense": 1}, {"out": None}, {"x": 1}):
        document, entries = unpack(tmp_path / "file")
        document["graphs"][-1]["nodes"][-1].setdefault("attrs", {}).update(wrong)
        pack(tmp_path / "file", document, entries)
        refused(tmp_path / "file", f"{name} does not take this")
    for sample in op.samples:
        operands = static(op, draw(sample), sample.attrs, "full")[1]
        assert wellformed.problem(op, operands, sample.attrs) is None


def test_an_operator_without_a_kernel_enters_what_a_file_may_say_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"shape": lambda x, **attrs: x, "inputs": None, "effect": True}
    op = Op("Delay", run=lambda out, *arrays, **attrs: None, **kept)
    monkeypatch.setitem(REGISTRY, "Delay", op)
    form = call_schema.CallSchema(1, 1, {"steps": int}, lambda operands, attrs: attrs["steps"] > 0)
    monkeypatch.setitem(call_schema.SCHEMAS, op, form)
    x = mg.placeholder("x", (2,))
    for attrs, words in (({"steps": 1}, ""), ({"steps": 0}, "'steps': 0"), ({}, "steps=?")):
        mg.build_graph(x, x.graph.add(op, [x], attrs)).save(tmp_path / "file")
        if words:
            refused(tmp_path / "file", words)
        else:
            assert mg.load_graph(tmp_path / "file").outputs[0].op is op


@pytest.mark.parametrize("name", ["Cond", "While", "Scan", "History"])
def test_control_flow_enters_itself_with_executors_and_files(name: str) -> None:
    op = REGISTRY[name]
    for entered in (HANDLERS[op], call_schema.SCHEMAS[op].check, op.infer, op.vjp):
        function = entered[0] if isinstance(entered, tuple) else entered
        assert function.__module__.startswith("minigrad.control.")


def test_files_are_read_without_the_rest_of_the_engine(tmp_path: Path) -> None:
    """Branches and loops are known there, and so are fused operators."""
    x = mg.placeholder("x", (3,))
    y = mg.cond(x.sum() > 0, lambda: mg.exp(x) * 2 + 1, lambda: x)
    mg.build_graph(x, y).optimize().save(tmp_path / "file")
    used = "import sys; from minigrad.saving import load_graph; g = load_graph(sys.argv[1])"
    told = "print(*sorted(g.counted())); print('minigrad._lazy_exports' in sys.modules)"
    command = [sys.executable, "-c", f"{used}; {told}", str(tmp_path / "file")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert {"Cond", "Fused"} <= {*said.split()}
    assert said.split()[-1] == "False"


def body_of(f: Callable[..., Any], *shapes: Any, inputs: int | None = None) -> mg.Graph:
    """A graph of its own with such placeholders, of which the first `inputs` are its inputs."""
    with mg.Graph():
        xs = [mg.placeholder(None, shape) for shape in shapes]
        body = mg.build_graph(xs, f(*xs))
    body.inputs = body.inputs[:inputs]
    return body


def calls_of_bodies() -> dict[str, tuple[str, list[Any], dict[str, Any], dict[str, Any]]]:
    """Calls that are well formed: operator, operands, attributes; and attributes that are wrong."""
    pred = mg.placeholder("pred", (), bool)
    x, rows = mg.placeholder("x", (3,)), mg.placeholder("rows", (5, 3))
    double = body_of(lambda a: a * 2, (3,))
    with mg.Graph() as unfrozen:
        a = mg.placeholder("a", (3,))
        unfrozen.inputs, unfrozen.outputs = [a], [a * 2]
    strangers = {
        "of a body that keeps a variable": body_of(lambda a: a * mg.Variable(2.0), (3,)),
        "of a body that reads more": body_of(lambda a, b: a * b, (3,), (3,), inputs=1),
        "of a body that may still grow": unfrozen,
    }
    branches = {"then": double, "orelse": body_of(lambda a: a + 1, (3,))}
    test = body_of(lambda a: a.sum() < 9, (3,))
    loop = {"test": test, "body": double, "carries": 1, "max_steps": None}
    step = body_of(lambda c, a, w: (c + a * w, a), (3,), (3,), (3,))
    fold = {"body": step, "carries": 1, "sequences": 1, "reverse": False}
    counter = {"shape": (), "dtype": mg.int64, "layer": 0, "use": 0}
    longer = body_of(lambda c, a, w: (c + a.sum() + w, c), (3,), (4,), (3,))
    other = body_of(lambda c, a, w: (c + a, c + w.sum()), (3,), (3,), (4,))
    grown = body_of(lambda c, a, w: (mg.concatenate([c, a]), w), (3,), (3,), (3,))
    return {
        "a branch": (
            "Cond",
            [pred, x],
            branches,
            {
                **{name: {"orelse": body} for name, body in strangers.items()},
                "of other types": {"orelse": body_of(lambda a: a > 1, (3,))},
                "of other operands": {"then": body_of(lambda a: a * 2, (4,))},
            },
        ),
        "a loop": (
            "While",
            [x],
            loop,
            {
                **{name: {"body": body} for name, body in strangers.items()},
                "that decides by several": {"test": body_of(lambda a: a < 9, (3,))},
                "of steps below 0": {"max_steps": -1},
                "that grows": {"body": body_of(lambda a: mg.concatenate([a, a]), (3,))},
            },
        ),
        "a scan": (
            "Scan",
            [x, rows, x],
            fold,
            {
                "of rows of another length": {"body": longer},
                "of others kept": {"body": other},
                "that grows": {"body": grown},
                "of a body that keeps a variable": {
                    "body": body_of(lambda c, a, w: (c + a * mg.Variable(1.0), w), (3,), (3,), (3,))
                },
            },
        ),
        "a counter": (
            "RunCounter",
            [],
            counter,
            {
                "of floats": {"dtype": mg.float32},
                "below 0": {"use": -1},
                "of many": {"shape": (1,)},
            },
        ),
    }


def test_calls_that_nothing_could_have_built_are_noticed() -> None:
    for title, (name, operands, attrs, wrong) in calls_of_bodies().items():
        op = REGISTRY[name]
        assert wellformed.problem(op, operands, attrs) is None, title
        for how, changed in wrong.items():
            assert wellformed.problem(op, operands, attrs | changed), f"{title} {how}"
    _, operands, attrs, _ = calls_of_bodies()["a branch"]
    many = mg.placeholder("many", (3,), bool)
    assert wellformed.problem(REGISTRY["Cond"], [many, *operands[1:]], attrs)
    assert wellformed.problem(REGISTRY["ReadValue"], [many], {}), "no variable"
    alone = {"shape": (), "dtype": mg.int64, "layer": 0}
    assert wellformed.problem(REGISTRY["RunCounter"], [], alone), "a layer without a use"


# ---- Whatever happens to a file, it is refused or it is a graph -------------------------------


def survives(path: Path) -> None:
    """Either FormatError, or a graph that verifies, runs or says why not, and can be saved."""
    try:
        loaded = mg.load_graph(path)
    except FormatError:
        return
    loaded.verify()
    loaded.save(path)
    assert mg.load_graph(path).hash() == loaded.hash()


@fixed
@given(
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=8)
)
def test_bytes_changed(changes: list[tuple[float, int]], tmp_path: Path) -> None:
    data = bytearray(whole_file())
    for place, byte in changes:
        data[int(place * len(data))] = byte
    (tmp_path / "file").write_bytes(data)
    survives(tmp_path / "file")


@fixed
@given(start=st.floats(0, 1), length=st.integers(1, 200), other=st.binary(max_size=50))
def test_bytes_cut_out_and_put_in(start: float, length: int, other: bytes, tmp_path: Path) -> None:
    data = whole_file()
    i = int(start * len(data))
    (tmp_path / "file").write_bytes(data[:i] + other + data[i + length :])
    survives(tmp_path / "file")


LETTERS = 'ab0_. "\\\0é文😀'  # of all there are, a table takes seconds to make
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.sampled_from([2**62, 2**70, -1, 0.5, 1e300, "", "x", "float32", "Add", "\ud800"])
    | st.sampled_from([{"dim": 0}, {"dtype": "int64"}, {"graph": 0}, {"node": 0}, {"entry": 0}])
    | st.sampled_from([{"float": "nan"}, {"array": ["int64", [1], [3]]}, {"mark": "leaf"}]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(LETTERS, max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(x: Any) -> list[tuple[Any, Any]]:
    """Every container in a document with every key of it, down to the last value."""
    found: list[tuple[Any, Any]] = []
    waiting = [x]
    while waiting:
        holder = waiting.pop()
        keys = range(len(holder)) if isinstance(holder, list) else [*holder]
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], (list, dict)):
                waiting.append(holder[key])
    return found


@fixed
@given(data=st.data())
def test_documents_changed(data: st.DataObject, tmp_path: Path) -> None:
    """Values replaced, dropped, doubled or exchanged anywhere in the document."""
    document, entries = json.loads(document_text()), dict(file_entries())
    for _ in range(data.draw(st.integers(1, 3))):
        spots = places(document)
        holder, key = spots[data.draw(st.integers(0, len(spots) - 1))]
        change = data.draw(st.sampled_from(("replace", "drop", "double", "exchange")))
        if change == "replace":
            holder[key] = copy.deepcopy(data.draw(JSON))
        elif change == "drop":
            del holder[key]
        elif change == "double" and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
        else:
            other, place = spots[data.draw(st.integers(0, len(spots) - 1))]
            other[place] = copy.deepcopy(holder[key])
    pack(tmp_path / "file", json.dumps(document), entries)
    survives(tmp_path / "file")


@fixed
@given(value=JSON)
def test_any_value_decodes_or_is_refused(value: Any) -> None:
    try:
        decoded = Decoder(lambda i: np.float32(i)).value(value, [None], [None])
    except FormatError:
        return
    assert encoding.DEEPEST
    if "node" not in str(value) and "graph" not in str(value) and "entry" not in str(value):
        assert equal(Decoder(np.array).value(Encoder().value(decoded, {}, {}), [], []), decoded)


_KEPT: list[bytes] = []


def whole_file() -> bytes:
    """A good file, made once."""
    if not _KEPT:
        buffer = io.BytesIO()
        with mg.Graph():
            graph = model()
        document, arrays = writing._Writer(None).document(graph)
        with zipfile.ZipFile(buffer, "w") as zipped:
            zipped.writestr("graph.json", document)
            for i, array in enumerate(arrays):
                with zipped.open(archive.array_entry(i), "w") as stream:
                    np.save(stream, array)
        _KEPT.append(buffer.getvalue())
    return _KEPT[0]


def document_text() -> str:
    return zipfile.ZipFile(io.BytesIO(whole_file())).read("graph.json").decode()


def file_entries() -> dict[str, bytes]:
    zipped = zipfile.ZipFile(io.BytesIO(whole_file()))
    return {name: zipped.read(name) for name in zipped.namelist() if name != "graph.json"}
