"""ONNX, in and out, against the `onnx` package's own suite and against ONNX Runtime."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import viz
from minigrad import ops
from minigrad.core import REGISTRY, Op, Sample
from minigrad.interop.onnx.writing import model as _fills_the_table  # noqa: F401
from minigrad.interop.onnx.writing.builder import TABLE

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

import onnx_cases  # noqa: E402  (needs onnx)
from test_every_op import draw  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"
LEAST = {"node": 1527, "simple": 14, "pytorch-operator": 35, "pytorch-converted": 82}
helper = onnx.helper


# ---- In: the suite of the package ---------------------------------------------------------------


@pytest.mark.parametrize("kind", LEAST)
def test_as_many_cases_pass_as_the_page_says(kind: str) -> None:
    result = onnx_cases.run(kind)
    assert "another result" not in result.failed.values()
    assert len(result.passed) >= LEAST[kind]
    row = re.search(rf"^\| {kind} \| (\d+) \| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert row is not None
    assert int(row[2]) == LEAST[kind]


# ---- Out: every operator, its gradient, and control flow ----------------------------------------

STATE = {
    *("Placeholder", "Variable", "Constant", "Assign", "Group", "Initialize", "RunCounter"),
}
# Operators that no graph is written with, and why.
EXEMPT = {
    **dict.fromkeys(STATE, "it is no node of a model, or changes state"),
    "Assert": "ONNX has nothing that stops a run",
    "Dropout": "its random numbers are not those of another system",
    **dict.fromkeys(("PickRows", "PutRows"), "batching makes them, which is dynamic"),
    **dict.fromkeys(("MatMulLeft", "MatMulRight"), "their operands have no known rank"),
    "Print": "what it writes is lost: only its operand is handed on",
}
# Samples whose operands contradict each other: y is not what the pooling of x gives.
SENSELESS = {"MaxPool2dInput", "MaxPool2dPick"}


def session(graph: mg.Graph, optimised: bool = True) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    model = graph.to_onnx().SerializeToString()
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def agree(graph: mg.Graph, feeds: Mapping[str, Any], tolerance: float = 2e-6) -> None:
    """ONNX Runtime gives what the reference executor gives."""
    found = session(graph).run(None, {k: np.asarray(v) for k, v in feeds.items()})
    expected = mg.run(graph, feeds)
    close(found, [expected] if graph.single else expected, tolerance)


def close(found: Any, expected: Any, tolerance: float) -> None:
    for a, b in zip(found, map(np.asarray, expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if b.dtype.kind != "f":
            np.testing.assert_array_equal(a, b)
            continue
        finite = np.isfinite(b)
        np.testing.assert_array_equal(a[~finite], b[~finite])
        scale = np.max(np.abs(b[finite]), initial=0)
        np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=tolerance * scale)


def graph_of(op: Op, operands: list[Any], sample: Sample, gradient: bool) -> mg.Graph:
    with mg.Graph():
        xs = [mg.placeholder(f"p{i}", np.shape(a), a.dtype) for i, a in enumerate(operands)]
        y = op(*xs, **sample.attrs)
        outputs = [y]
        floats = [x for x in xs if x.dtype.kind == "f"]
        if gradient and y.dtype.kind == "f" and floats:
            slopes = mg.gradients(mg.sum(y * y), floats)
            outputs += [g for g in slopes if g is not None]
        return mg.build_graph(xs, outputs)


@pytest.mark.parametrize("name", sorted(REGISTRY.keys() - EXEMPT.keys() - SENSELESS))
def test_an_operator_and_its_gradient_run_in_onnx_runtime(name: str) -> None:
    op = REGISTRY[name]
    assert op in TABLE, (
        f"{name} cannot be written as ONNX: add a rule to a module of"
        " minigrad/interop/onnx/writing, or the reason why there is none to EXEMPT in"
        " tests/oracles/test_oracle_onnx.py"
    )
    for sample in op.samples:
        operands = draw(sample, np.float32)
        graph = graph_of(op, operands, sample, gradient=True)
        agree(graph, {f"p{i}": a for i, a in enumerate(operands)})


def test_who_adds_an_operator_is_told_what_to_write_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, "Other", object())
    with pytest.raises(AssertionError, match=r"Other cannot be .*minigrad/interop/onnx/writing"):
        test_an_operator_and_its_gradient_run_in_onnx_runtime("Other")


@pytest.mark.parametrize("name", sorted(EXEMPT.keys() - STATE - {"Print"}))
def test_what_has_no_counterpart_is_refused_by_name(name: str) -> None:
    sample = REGISTRY[name].samples[0]
    graph = graph_of(REGISTRY[name], draw(sample, np.float32), sample, gradient=False)
    with pytest.raises(mg.FormatError, match=name):
        graph.to_onnx()


def test_the_first_axis_is_taken_from_where_none_is_given() -> None:
    with mg.Graph():
        x, i = mg.placeholder("x", (3, 4)), mg.placeholder("i", (2,), mg.int64)
        graph = mg.build_graph([x, i], ops.take(x, i))
    agree(graph, {"x": np.arange(12, dtype=np.float32).reshape(3, 4), "i": np.array([2, 0])})


def test_a_length_that_is_open_is_refused_where_it_has_to_be_known() -> None:
    with mg.Graph():
        x = mg.placeholder("x", (None, 3))
        graph = mg.build_graph(x, mg.gradients(mg.sum(mg.prod(x, axis=0)), x)[0])
    with pytest.raises(mg.FormatError, match=r"ProdOfOthers.*shape \(None, 3\)"):
        graph.to_onnx()


def branch() -> tuple[mg.Graph, list[dict[str, Any]]]:
    x, w = (mg.placeholder(name, shape=(3,)) for name in "xw")
    y = mg.cond(mg.sum(x) > 0, lambda: x * w + 1, lambda: w - x * 2)
    graph = mg.build_graph([x, w], [y, *mg.gradients(mg.sum(y * y), [x, w])])
    values = np.arange(3, dtype=np.float32)
    return graph, [{"x": np.full(3, s, np.float32), "w": values} for s in (1, -1)]


def loop() -> tuple[mg.Graph, list[dict[str, Any]]]:
    n = mg.placeholder("n", shape=(), dtype=mg.int64)
    x, w = (mg.placeholder(name, shape=(2,)) for name in "xw")
    _, y = mg.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * w + mg.sin(y)), (0, x))
    graph = mg.build_graph([n, x, w], [y, *mg.gradients(mg.sum(y * y), [x, w])])
    start = {"x": np.array([0.3, 0.4], np.float32), "w": np.array([0.9, 1.1], np.float32)}
    return graph, [{"n": np.int64(k), **start} for k in (3, 1)]


def scan(reverse: bool) -> tuple[mg.Graph, list[dict[str, Any]]]:
    xs, w = mg.placeholder("xs", shape=(None, 2)), mg.placeholder("w", shape=(2,))
    step: Callable[[Any, Any], Any] = lambda h, x: (mg.tanh(h * w + x), h * 2 + x)  # noqa: E731
    last, ys = mg.scan(step, w * 0, xs, reverse=reverse)
    loss = mg.sum(last * last) + mg.sum(ys * ys)
    graph = mg.build_graph([xs, w], [last, ys, *mg.gradients(loss, [xs, w])])
    values = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    return graph, [{"xs": values, "w": np.array([0.9, 1.1], np.float32)}]


def recurrent() -> tuple[mg.Graph, list[dict[str, Any]]]:
    x, cell = mg.placeholder("x", shape=(None, 5, 3)), mg.nn.LSTM(3, 4, seed=0)
    y = cell(x)[0]
    graph = mg.build_graph(x, [y, *mg.gradients(mg.sum(y * y), [x, *cell.parameters()])])
    values = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    return graph, [{"x": values}]


MADE = {
    "branch": branch,
    "loop": loop,
    "scan": lambda: scan(False),
    "scan back": lambda: scan(True),
    "recurrent": recurrent,
}


# The others ask for shapes that are known only when they run.
BACK = {"branch", "scan", "scan back"}


@pytest.mark.parametrize("name", MADE)
def test_control_flow_and_its_gradients_run_in_onnx_runtime(name: str) -> None:
    with mg.Graph():
        graph, feeds = MADE[name]()
    for feed in feeds:
        agree(graph, feed)
        if name in BACK:
            back = mg.from_onnx(graph.to_onnx())
            close(map(np.asarray, mg.run(back, feed)), mg.run(graph, feed), 2e-6)


def convnet() -> tuple[mg.Graph, dict[str, Any]]:
    with mg.Graph():
        x, t = mg.placeholder("x", shape=(None, 1, 8, 8)), mg.placeholder("t", (None,), mg.int64)
        layers: list[Any] = [mg.nn.Conv2d(1, 4, 3, padding=1, seed=0), mg.nn.ReLU()]
        layers += [mg.nn.Conv2d(4, 4, 3, padding=1, groups=2, seed=2), mg.nn.MaxPool2d(2)]
        model = mg.nn.Sequential(*layers, mg.nn.Flatten(), mg.nn.Linear(64, 3, seed=1))
        y = model(x)
        loss = mg.cross_entropy(y, t)
        slopes = mg.gradients(loss, list(model.parameters()))
        graph = mg.build_graph([x, t], [y, loss, *slopes])
    values = np.random.default_rng(0).normal(size=(5, 1, 8, 8)).astype(np.float32)
    return graph, {"x": values, "t": np.array([0, 1, 2, 1, 0])}


def test_a_step_of_training_leaves_the_house_and_comes_back() -> None:
    graph, feeds = convnet()
    agree(graph, feeds)
    agree(graph.optimize(), feeds)
    back = mg.from_onnx(graph.to_onnx())
    assert back.placeholders[0].shape == (None, 1, 8, 8)
    assert [v.name for v in back.variables] == [graph.labels[v] for v in graph.variables]
    close(map(np.asarray, mg.run(back, feeds)), mg.run(graph, feeds), 2e-6)


def test_a_process_that_never_saw_the_source_runs_the_file(tmp_path: Path) -> None:
    graph, feeds = convnet()
    graph.to_onnx(tmp_path / "graph.onnx")
    np.savez(tmp_path / "feeds.npz", **feeds)
    program = (
        "import sys, numpy as np, onnxruntime as ort\n"
        f"s = ort.InferenceSession({str(tmp_path / 'graph.onnx')!r})\n"
        f"found = s.run(None, dict(np.load({str(tmp_path / 'feeds.npz')!r})))\n"
        f"np.savez({str(tmp_path / 'found.npz')!r}, *found)\n"
        "assert 'minigrad' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-I", "-c", program], check=True, capture_output=True)
    found = np.load(tmp_path / "found.npz")
    close([found[k] for k in found.files], mg.run(graph, feeds), 1e-6)
    node = onnx.load(tmp_path / "graph.onnx").graph.node[0]
    assert "test_oracle_onnx.py" in node.doc_string


# ---- In: what a model may ask -------------------------------------------------------------------


def model(
    nodes: list[Any], inputs: list[Any], outputs: list[Any], *weights: Any, **more: Any
) -> Any:
    graph = helper.make_graph(nodes, "made", inputs, outputs, initializer=list(weights))
    opsets = [helper.make_opsetid("", more.pop("opset", 20))]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, **more)


def value(name: str, shape: Any = None, kind: int = 1) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def test_shapes_are_values_and_an_open_batch_stays_open() -> None:
    """As exported models write x.view(x.shape[0], -1, 2).transpose(1, 2) with two open lengths."""
    ints = onnx.numpy_helper.from_array
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axis"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
        helper.make_node("Transpose", ["y"], ["z"], perm=[0, 2, 1]),
    ]
    weights = [
        ints(np.int64(0), "zero"),
        ints(np.array([0]), "axis"),
        ints(np.array([-1, 2]), "rest"),
    ]
    proto = model(nodes, [value("x", ["n", "t", 6])], [value("z", None)], *weights)
    graph = mg.from_onnx(proto)
    assert graph.outputs[0].shape == (None, 2, None)
    assert graph.outputs[0].spec.shape[0] is graph.inputs[0].spec.shape[0]
    for n, t in ((2, 3), (1, 5)):
        x = np.random.default_rng(0).normal(size=(n, t, 6)).astype(np.float32)
        np.testing.assert_array_equal(
            mg.run(graph, {"x": x}), x.reshape(n, -1, 2).transpose(0, 2, 1)
        )


def test_depth_becomes_space_in_an_open_batch() -> None:
    node = helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=2)
    graph = mg.from_onnx(model([node], [value("x", ["n", 8, 2, 3])], [value("y", None)]))
    x = np.arange(96, dtype=np.float32).reshape(2, 8, 2, 3)
    expected = x.reshape(2, 2, 2, 2, 2, 3).transpose(0, 3, 4, 1, 5, 2).reshape(2, 2, 4, 6)
    np.testing.assert_array_equal(mg.run(graph, {"x": x}), expected)


def test_weights_are_variables_that_training_changes() -> None:
    w = np.ones((2, 3), np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="/encoder/linear/MatMul")]
    weights = [onnx.numpy_helper.from_array(w, "w")]
    graph = mg.from_onnx(model(nodes, [value("x", [None, 2])], [value("y", None)], *weights))
    (variable,) = graph.variables
    assert (variable.name, variable.attrs["role"]) == ("w", "parameter")
    assert graph.outputs[0].scope == "encoder/linear"
    (slope,) = mg.gradients(mg.sum(graph.outputs[0]), [variable])
    found = mg.run(mg.build_graph(graph.inputs, slope), {"x": [[1, 2], [3, 4]]})
    assert found.tolist() == [[4.0] * 3, [6.0] * 3]


def test_an_input_that_the_graph_depends_on_is_given_beforehand() -> None:
    nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    proto = model(nodes, [value("x", [2, 3]), value("axes", [1], 7)], [value("y", None)])
    with pytest.raises(mg.FormatError, match=r"ReduceSum needs the value of 'axes'.*known="):
        mg.from_onnx(proto)
    graph = mg.from_onnx(proto, known={"axes": [1]})
    assert [x.name for x in graph.inputs] == ["x"]
    assert mg.run(graph, {"x": np.ones((2, 3))}).tolist() == [3.0, 3.0]


# ---- Hostile files ------------------------------------------------------------------------------

X, Y = [value("x", [2])], [value("y", None)]
RELU = helper.make_node("Relu", ["x"], ["y"], name="last")


def tensor(**fields: Any) -> Any:
    proto = onnx.TensorProto(name="w", data_type=1)
    for key, content in fields.items():
        if key == "dims":
            proto.dims.extend(content)
        elif key == "location":
            proto.data_location = 1
            for k, v in content.items():
                proto.external_data.add(key=k, value=v)
        else:
            setattr(proto, key, content)
    return proto


def twice(*values: list[float]) -> list[Any]:
    return [onnx.numpy_helper.from_array(np.array(x, np.float32), "w") for x in values]


def branches(read: str, **more: Any) -> Any:
    """An If with the condition c whose arms give y or, through `read`, b."""
    arms = [
        helper.make_graph([helper.make_node("Neg", [name], ["b"])], "arm", [], [value("b", [2])])
        for name in ("x", read)
    ]
    return helper.make_node("If", ["c"], ["y"], then_branch=arms[0], else_branch=arms[1], **more)


BOTH = helper.make_node("Relu", ["x"], ["unread"])
HOSTILE: dict[str, tuple[Any, str]] = {
    "circle": (
        model(
            [
                helper.make_node("Add", ["x", "b"], ["a"], name="first"),
                helper.make_node("Add", ["x", "a"], ["b"]),
                RELU,
            ],
            X,
            Y,
        ),
        "'first' depends on itself: 'first' → 'b' → 'first'",
    ),
    "circle through a branch": (
        model([branches("y", name="choice"), BOTH], [*X, value("c", [], 9)], Y),
        "'choice' depends on itself: 'choice' → 'choice'",
    ),
    "circle in a branch": (
        model([branches("b"), BOTH], [*X, value("c", [], 9)], Y),
        "'b' depends on itself: 'b' → 'b'",
    ),
    "missing": (model([helper.make_node("Relu", ["z"], ["y"])], X, Y), "nothing.*gives 'z'"),
    "no output": (model([helper.make_node("Relu", ["x"], ["z"])], X, Y), "nothing.*gives 'y'"),
    "missing in a branch": (
        model([branches("z"), BOTH], [*X, value("c", [], 9)], Y),
        "nothing.*gives 'z'",
    ),
    "twice": (model([RELU, RELU], X, Y), "'y' is given twice"),
    "input twice": (model([RELU], [*X, *X], Y), "'x' is given twice"),
    "weight twice": (model([RELU], X, Y, *twice([1.0], [2.0])), "'w' is given twice"),
    "input again": (
        model([helper.make_node("Abs", ["y"], ["x"]), RELU], X, Y),
        "'x' is given twice",
    ),
    "weight again": (
        model([helper.make_node("Abs", ["x"], ["w"]), RELU], X, Y, tensor(dims=[0])),
        "'w' is given twice",
    ),
    "unknown": (model([helper.make_node("Steal", ["x"], ["y"])], X, Y), "no operator 'Steal'"),
    "operands": (model([helper.make_node("Add", ["x"], ["y"])], X, Y), "Add with 1 operands"),
    "huge": (model([RELU], X, Y, tensor(dims=[1 << 40, 1 << 20])), "claims a size"),
    "negative": (model([RELU], X, Y, tensor(dims=[-1])), "claims a size"),
    "count": (model([RELU], X, Y, tensor(dims=[3], raw_data=b"12345")), "12, and the file holds 5"),
    "lacking": (model([RELU], X, Y, tensor(dims=[1 << 20])), "holds 0"),
    "type": (model([RELU], [value("x", [2], 16)], Y), "type bfloat16"),
    "text": (model([RELU], X, Y, tensor(dims=[1], data_type=8)), "type string"),
    "huge constant": (
        model(
            [helper.make_node("ConstantOfShape", ["n"], ["y"])],
            X,
            Y,
            onnx.numpy_helper.from_array(np.array([1 << 40, 1 << 40]), "n"),
        ),
        "ConstantOfShape with shape",
    ),
    "huge range": (
        model(
            [helper.make_node("Range", ["a", "b", "c"], ["y"])],
            X,
            Y,
            *(
                onnx.numpy_helper.from_array(np.int64(v), n)
                for v, n in ((0, "a"), (1 << 50, "b"), (1, "c"))
            ),
        ),
        "Range with",
    ),
    "huge view": (
        model(
            [helper.make_node("Expand", ["one", "n"], ["y"])],
            X,
            Y,
            onnx.numpy_helper.from_array(np.float32(1), "one"),
            onnx.numpy_helper.from_array(np.array([1 << 20, 1 << 20]), "n"),
        ),
        "claims a size",
    ),
    "huge frame": (
        model(
            [helper.make_node("Pad", ["x", "n"], ["y"])],
            X,
            Y,
            onnx.numpy_helper.from_array(np.array([1 << 40, 0]), "n"),
        ),
        "Pad with pads",
    ),
    "outside": (
        model([RELU], X, Y, tensor(dims=[1], location={"location": "../../etc/passwd"})),
        "another file",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_model_is_refused_by_name_before_memory_is_taken(name: str) -> None:
    proto, told = HOSTILE[name]
    with pytest.raises(mg.FormatError, match=told) as caught:
        mg.from_onnx(proto.SerializeToString())
    assert caught.value.key == "onnx_load"
    english, chinese = caught.value.pair
    assert english != chinese


@pytest.mark.parametrize(
    "data", [b"", b"no model", b"\x08\x07", onnx.TensorProto().SerializeToString()]
)
def test_what_is_no_model_is_refused(data: bytes) -> None:
    with pytest.raises(mg.FormatError, match="no ONNX model"):
        mg.from_onnx(data)
    with pytest.raises(mg.FormatError, match="no ONNX model"):
        mg.from_onnx(3.5)


def test_data_beside_a_model_is_read_from_its_folder_alone(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    numbers = np.array([1.0, -2.0], np.float32)
    for place in (folder, tmp_path):
        (place / "weights.bin").write_bytes(b"\0" * 8 + numbers.tobytes())
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]

    def saved(**told: str) -> Path:
        proto = model(nodes, X, Y, tensor(dims=[2], location=told))
        (folder / "model.onnx").write_bytes(proto.SerializeToString())
        return folder / "model.onnx"

    graph = mg.from_onnx(saved(location="weights.bin", offset="8", length="8"))
    assert mg.run(graph, {"x": [0.0, 0.0]}).tolist() == [1.0, -2.0]
    for wrong in ("../weights.bin", str(tmp_path / "weights.bin"), "none.bin"):
        with pytest.raises(mg.FormatError, match="no such file in the folder"):
            mg.from_onnx(saved(location=wrong))
    with pytest.raises(mg.FormatError, match="holds 16"):
        mg.from_onnx(saved(location="weights.bin", offset="8", length="1000000000000"))


@pytest.mark.parametrize("name", sorted(BACK | {"loop"}))
def test_nodes_may_stand_in_any_order(name: str) -> None:
    """Also those in bodies, which read what is given further down around them."""
    with mg.Graph():
        graph, feeds = MADE[name]()
    proto, feed = graph.to_onnx(), {key: np.asarray(x) for key, x in feeds[0].items()}
    known = {key: x for key, x in feed.items() if key == "n"}
    rest = {key: x for key, x in feed.items() if key != "n"}
    shapes = {key: x.shape for key, x in rest.items()}
    mixed = onnx.ModelProto()
    mixed.CopyFrom(proto)
    assert mix(mixed.graph, np.random.default_rng(0)) > 0
    before = mixed.SerializeToString(deterministic=True)
    found = mg.run(mg.from_onnx(mixed, known, shapes=shapes), rest)
    assert mixed.SerializeToString(deterministic=True) == before
    runtime = ort.InferenceSession(proto.SerializeToString())
    close(map(np.asarray, found), runtime.run(None, feed), 2e-6)


def mix(graph: Any, random: np.random.Generator) -> int:
    """Shuffle the nodes of a graph and of all bodies in it; returns how many stand elsewhere."""
    inside = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    moved = sum(mix(body, random) for body in inside)
    order = random.permutation(len(graph.node))
    nodes = [type(node).FromString(node.SerializeToString()) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes[i] for i in order)
    return moved + int(np.sum(order != np.arange(len(order))))


def test_onnx_runtime_sorts_what_it_is_given_and_refuses_what_we_refuse() -> None:
    neg, absolute = helper.make_node("Neg", ["u"], ["y"]), helper.make_node("Abs", ["x"], ["u"])
    ours = mg.run(mg.from_onnx(model([neg, absolute], X, Y)), {"x": [-1.0, 2.0]})
    assert ours.tolist() == [-1.0, -2.0]
    options = ort.SessionOptions()
    options.log_severity_level = 4

    def theirs(proto: Any) -> Any:
        return ort.InferenceSession(proto.SerializeToString(), options)

    found = theirs(model([neg, absolute], X, Y)).run(None, {"x": np.float32([-1, 2])})
    assert found[0].tolist() == [-1.0, -2.0]
    for name in ("circle", "missing", "twice", "input twice", "input again", "weight again"):
        with pytest.raises(Exception, match=r"acyclic|not a graph input|[Dd]uplicate|same node"):
            theirs(HOSTILE[name][0])


def test_sorted_nodes_keep_their_order() -> None:
    names = [f"n{i}" for i in range(30)]
    nodes = [
        helper.make_node("Abs" if i % 3 else "Neg", [names[i - 7] if i > 6 else "x"], [name])
        for i, name in enumerate(names)
    ]
    nodes.append(helper.make_node("Sum", names, ["y"]))
    graph = mg.from_onnx(model(nodes, X, Y))
    operators = [str(x.op) for x in graph.nodes if str(x.op) in ("Abs", "Neg")]
    assert operators == [node.op_type for node in nodes[:-1]]


def test_a_weight_stored_twice_alike_is_one_variable() -> None:
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    proto = model(nodes, X, Y, *twice([1.0, 2.0], [1.0, 2.0]))
    graph = mg.from_onnx(proto)
    assert [v.name for v in graph.variables] == ["w"]
    x = np.float32([-1, 2])
    assert mg.run(graph, {"x": x}).tolist() == [0.0, 4.0]
    options = ort.SessionOptions()
    options.log_severity_level = 4  # it warns
    assert (
        ort.InferenceSession(proto.SerializeToString(), options).run(None, {"x": x})[0].tolist()
    ) == [0.0, 4.0]


OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
CALL = helper.make_node("f", ["x"], ["y"], domain="own")


def function(*nodes: Any, name: str = "f") -> Any:
    return helper.make_function("own", name, ["a"], ["b"], nodes, OPSETS)


def calls(*functions: Any) -> Any:
    graph = helper.make_graph([CALL], "made", X, Y)
    return helper.make_model(graph, opset_imports=OPSETS, functions=functions)


def test_nodes_of_a_function_may_stand_in_any_order() -> None:
    nodes = helper.make_node("Neg", ["t"], ["b"]), helper.make_node("Abs", ["a"], ["t"])
    graph = mg.from_onnx(calls(function(*nodes)))
    assert mg.run(graph, {"x": [-1.0, 2.0]}).tolist() == [-1.0, -2.0]


NEG, ABS = helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Abs", ["a"], ["b"])


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ([function(NEG, ABS)], "'b' is given twice"),
        ([function(NEG, helper.make_node("Abs", ["a"], ["a"]))], "'a' is given twice"),
        ([function(helper.make_node("Neg", ["a"], ["c"]))], "nothing.*gives 'b'"),
        ([function(helper.make_node("Neg", ["c"], ["b"]))], "nothing.*gives 'c'"),
        ([function(helper.make_node("Add", ["a", "b"], ["b"]))], "'b' depends on itself"),
        ([function(NEG), function(ABS)], "'own.f' is given twice"),
    ],
)
def test_a_function_is_refused_as_a_graph_is(functions: list[Any], said: str) -> None:
    with pytest.raises(mg.FormatError, match=said):
        mg.from_onnx(calls(*functions))


def test_functions_that_call_each_other_are_refused() -> None:
    """Also where one of the calls stands in a branch."""
    arms = [
        helper.make_graph([helper.make_node(op, ["a"], ["r"], domain=domain)], "arm", [], [Y[0]])
        for op, domain in (("Neg", ""), ("g", "own"))
    ]
    for arm in arms:
        arm.output[0].name = "r"
    branch = helper.make_node("If", ["c"], ["b"], then_branch=arms[0], else_branch=arms[1])
    truth = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("", 9, [], [True]))
    back = function(helper.make_node("f", ["a"], ["b"], domain="own"), name="g")
    with pytest.raises(mg.FormatError, match="'f' depends on itself: 'f' → 'g' → 'f'"):
        mg.from_onnx(calls(function(truth, branch), back))


def test_a_function_that_calls_itself_is_refused() -> None:
    inner = helper.make_node("f", ["a"], ["b"], domain="own")
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "f", ["a"], ["b"], [inner], opsets)
    graph = helper.make_graph([helper.make_node("f", ["x"], ["y"], domain="own")], "made", X, Y)
    proto = helper.make_model(graph, opset_imports=opsets, functions=[function])
    with pytest.raises(mg.FormatError, match="depends on itself"):
        mg.from_onnx(proto)


def test_nothing_is_written_where_a_graph_cannot_be(tmp_path: Path) -> None:
    with mg.Graph():
        v = mg.Variable(1.0, name="v")
        graph = mg.build_graph(None, mg.assign(v, v + 1))
    with pytest.raises(mg.FormatError, match="Assign"):
        graph.to_onnx(tmp_path / "graph.onnx")
    assert not list(tmp_path.iterdir())


def test_a_name_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    with mg.Graph(), mg.name_scope("odd\udc80scope"):
        x = mg.placeholder("x", shape=(2,))
        graph = mg.build_graph(x, mg.tanh(x))
    with pytest.raises(mg.FormatError, match=r"odd\\udc80scope/x'; expected Unicode"):
        graph.to_onnx(tmp_path / "odd.onnx")
    assert list(tmp_path.iterdir()) == []


def test_every_rule_writes_an_operator_of_ours() -> None:
    assert {op.name for op in TABLE} <= REGISTRY.keys()
    assert ops.matmul in TABLE


def test_files_are_compared_with_graphs(tmp_path: Path) -> None:
    """Before and after export, and file with file."""

    def written(activation: Any, name: str) -> mg.Graph:
        with mg.Graph():
            x = mg.placeholder("x", shape=(2, 3))
            w = mg.Variable(np.ones((3, 1), np.float32), name="w")
            graph = mg.build_graph(x, activation(x @ w) * 2)
        graph.to_onnx(tmp_path / name)
        return graph

    graph = written(mg.tanh, "a.onnx")
    written(mg.sigmoid, "b.onnx")

    def differing(*sides: Any) -> list[str]:
        (panel,) = viz.diff(*sides).scenes[-1].panels
        return sorted(
            {n.op for n in panel.picture.nodes if panel.marks.get(n.id) in ("gone", "new")}
        )

    assert differing(graph, tmp_path / "a.onnx") == []
    assert differing(tmp_path / "a.onnx", str(tmp_path / "b.onnx")) == ["Sigmoid", "Tanh"]
