"""A whole model: the tree of its modules, portraits of its tensors, what is worth a look."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import numpy as np
import pytest
from explored import differing, jax_like, numbered, recurrent, stopped, torch_like

import minigrad as mg
import viz
from minigrad import nn
from minigrad.interop.captured import Builder
from viz.explorer.content import Content
from viz.explorer.explorer import Explorer, _short_count
from viz.explorer.findings import findings, path_of, slowest
from viz.explorer.modules import Module, assigned_name, module_tree
from viz.explorer.portraits import ALPHABET, EMPTY, SPOILT, portrait
from viz.explorer.still import Still, _swatch
from viz.explorer.witness import RunRecorder
from viz.views.explore import FirstView, explorer_of, name_of, stopped_explorer
from viz.words.progress import progress
from viz.words.text import row

LETTERS = ALPHABET.tobytes().decode()


def tree(scopes: list[str], lines: list[str] | None = None, looks: list[str] | None = None) -> Any:
    """The names in the tree of a model; operators are their numbers."""
    count = len(scopes)
    made = module_tree(
        "net", scopes, lines or [""] * count, looks or [str(i) for i in range(count)]
    )

    def names(module: Module) -> Any:
        return {
            f"{part.name}: {part.kind}".rstrip(": "): names(part) if len(part.parts) > 1 else None
            for part in module.parts
            if isinstance(part, Module)
        } or sum(1 for _ in module.operators())

    return names(made)


def test_operators_stand_in_the_modules_of_their_scopes() -> None:
    scopes = [
        "stem: Conv",
        "body: Net/0: Block",
        "body: Net/0: Block",
        "body: Net/1: Block",
        "head",
    ]
    assert tree(scopes) == {
        "stem: Conv": None,
        "body: Net": {"0: Block": 2, "1: Block": None},
        "head": None,
    }


def test_what_is_only_a_wrapper_is_unwrapped() -> None:
    scopes = ["model: Wrap/a: A", "model: Wrap/a: A", *["model: Wrap/b: B"] * 8]
    assert tree(scopes) == {"a: A": 2, "b: B": 8}


def test_many_layers_of_one_class_stay_in_their_wrapper_unless_each_is_an_operator() -> None:
    layers = [f"body: Body/{i}: Block" for i in range(14)]
    twice = ["stem", *(layer for layer in layers for _ in range(2))]
    kept = module_tree("net", twice, [""] * 29, [*map(str, range(29))])
    assert [p.name for p in kept.parts if isinstance(p, Module)] == ["stem", "body"]
    opened = module_tree("net", ["stem", *layers], [""] * 15, [*map(str, range(15))])
    assert len(opened.parts) == 15


def test_rounds_of_a_loop_are_found_where_there_are_no_scopes() -> None:
    rounds = {f"cell.{i}: cell": 2 for i in (1, 2, 3)}
    assert tree(["cell"] * 6, looks=["MatMul", "Tanh"] * 3) == rounds
    looks = [*"abcdef", *["MatMul", "Add", "Tanh"] * 5, "Mean"]
    made = module_tree("net", [""] * 22, [""] * 22, looks)
    (rounds,) = [part for part in made.parts if isinstance(part, Module)]
    assert rounds.name == "blocks"
    assert {p.kind for p in rounds.parts if isinstance(p, Module)} == {"MatMul, Add, Tanh"}
    assert rounds.repeats
    assert rounds.count() == 15


def test_rounds_in_which_one_module_is_called_have_its_name() -> None:
    rounds = [["", f"cell: RNNCell ({i})", f"cell: RNNCell ({i})"] for i in range(1, 6)]
    scopes = [*[""] * 7, *(scope for scopes in rounds for scope in scopes)]
    looks = [*"abcdefg", *["ExpandDims", "MatMul", "Tanh"] * 5]
    made = module_tree("net", scopes, [""] * 22, looks)
    found = [(p.name, p.count(), p.repeats) for p in made.parts if isinstance(p, Module)]
    assert ("cell", 15, True) in found


def test_parameters_are_counted_in_three_digits() -> None:
    counts = [0, 999, 12_345, 4_000_000, 7 * 10**9]
    assert [_short_count(n) for n in counts] == ["0", "999", "12.3 k", "4 M", "7 G"]


def test_rounds_of_numbered_layers_have_a_name() -> None:
    scopes = [f"{i}: {('Linear', 'Sigmoid')[i % 2]}" for i in range(24)] + ["24: Linear"]
    made = module_tree("net", scopes, [""] * 25, [kind.partition(": ")[2] for kind in scopes])
    found = [(p.name, p.count(), p.repeats) for p in made.parts if isinstance(p, Module)]
    assert found == [("blocks", 24, True), ("24", 1, False)]


def test_many_parts_are_folded_by_their_lines() -> None:
    lines = [f"a.py:{i // 4}\nh{i // 4} = f(x)" for i in range(40)]
    made = module_tree("net", [""] * 40, lines, [str(i) for i in range(40)])
    assert [p.name for p in made.parts if isinstance(p, Module)] == [f"h{i}" for i in range(10)]


def test_operators_of_a_line_that_assigns_nothing_are_called_by_kind_and_count() -> None:
    lines = ["a.py:1\nfor x in xs:"] * 20 + [f"a.py:{i}\ny{i} = f(x)" for i in range(2, 8)]
    made = module_tree("net", [""] * 26, lines, ["Slice (4,)"] * 20 + [str(i) for i in range(6)])
    assert [p.name for p in made.parts if isinstance(p, Module)] == ["Slice × 20"]


def test_a_long_line_is_folded_though_all_operators_are_its() -> None:
    made = module_tree("net", [""] * 40, ["a.py:1\ny = f(x)"] * 40, [*map(str, range(40))])
    assert made.count() == 40
    assert max(map(len, (part.parts for part in made.parts if isinstance(part, Module)))) <= 24


def test_what_runs_outside_of_all_modules_is_one_group_beside_them() -> None:
    scopes = ["body: Body"] * 9 + ["head: Head"] * 9 + [""] * 40
    made = module_tree("net", scopes, [""] * 58, [str(i) for i in range(58)])
    assert [(p.name, p.count()) for p in made.parts if isinstance(p, Module)] == [
        ("body", 9),
        ("head", 9),
        ("…", 40),
    ]


def test_a_folded_model_keeps_the_order_in_which_its_operators_ran() -> None:
    """A module of a single operator behind one of several of its class is no part of their run."""
    calls = [f"embed{i}: Embedding" for i in range(40) for _ in range(4 - 3 * (i in {1, 8, 22}))]
    made = module_tree("net", calls, [""] * len(calls), [str(i) for i in range(len(calls))])
    assert [*made.operators()] == [*range(len(calls))]


def test_a_flat_model_of_2000_operators_shows_few_parts() -> None:
    made = module_tree("net", [""] * 2000, [""] * 2000, [str(i) for i in range(2000)])

    def most(module: Module) -> int:
        inner = [most(part) for part in module.parts if isinstance(part, Module)]
        return max([len(module.parts), *inner])

    assert most(made) <= 24
    assert list(made.operators()) == list(range(2000))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("h = x + y", "h"),
        ("q, k, v = split(x)", "q, k, v"),
        ("x += y", "x"),
        ("self.out = f(x)", "self.out"),
        ("return x + y", "x + y"),
        ("if a == b:", "if a == b:"),
    ],
)
def test_lines_are_called_like_what_they_assign(line: str, name: str) -> None:
    assert assigned_name(f"a.py:3\n{line}") == name


def test_statistics_are_of_the_finite_elements() -> None:
    x = np.array([[0, 1, -2, 0], [np.nan, np.inf, -np.inf, 3]], np.float32)
    found = portrait(x)
    assert found["bad"] == 2
    assert found["below"] == 1
    kept = np.array([0, 1, -2, 0, 3])
    assert found["mean"] == pytest.approx(kept.mean(), abs=1e-3)
    assert found["std"] == pytest.approx(kept.std(), rel=1e-3)
    assert found["norm"] == pytest.approx(np.linalg.norm(kept), rel=1e-3)
    assert (found["min"], found["max"], found["zeros"]) == (-2, 3, 0.4)
    codes = [LETTERS.index(c) for c in found["cells"]]
    assert (codes[4], codes[6]) == (SPOILT, EMPTY)


@pytest.mark.parametrize("count", [100, 10_000])
def test_numbers_at_the_end_of_float32_are_still_told(count: int) -> None:
    """A mask may hold the lowest number instead of −∞."""
    x = np.zeros(count, np.float32)
    x[::2] = np.finfo(np.float32).min
    found = portrait(x)
    assert found["mean"] == pytest.approx(-1.7014e38, rel=1e-3)
    assert found["std"] == pytest.approx(1.7014e38, rel=1e-3)
    assert found["norm"] == pytest.approx(3.4028e38 * (count / 2) ** 0.5, rel=1e-3)
    assert len(found["hist"]) == 28


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((3,), (3, 1)),
        ((1, 512), (32, 16)),
        ((1, 1000), (32, 16)),
        ((40, 7), (7, 16)),
        ((2, 24, 48), (32, 16)),
        ((1, 3, 64, 64), (32, 16)),
        ((1, 64, 32, 32), (32, 16)),
        ((1, 14, 14, 64), (32, 16)),
        ((1, 512, 1, 1), (32, 16)),
        ((2, 3, 4, 5, 6), (18, 6)),
        ((0,), (0, 0)),
        ((), (1, 1)),
    ],
)
def test_pictures_have_the_cells_there_is_room_for(shape: Any, size: Any) -> None:
    found = portrait(np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape))
    width, height = found.get("w", min(size)), found.get("h", min(size))
    assert width <= 32
    assert height <= 16
    assert len(found.get("cells", "")) in (0, width * height)
    json.dumps(found, allow_nan=False)


def content(model: Any, name: str = "Net") -> Content:
    return Content(name, model, RunRecorder(model))


def test_everything_is_seen_in_one_run() -> None:
    model = torch_like()
    made = content(model)
    data = made.data
    json.dumps(data, allow_nan=False)
    top = [data["nodes"][i] for i in data["nodes"][0]["children"]]
    assert [n["name"] for n in top] == ["stem", "blocks.0", "blocks.1", "blocks.2", "head"]
    assert [n["kind"] for n in top] == ["Linear", "Block", "Block", "Block", "Linear"]
    assert data["outputs"] == [len(data["operators"]) - 1]
    values, gradients = model._computed
    portraits = data["portraits"]
    last = portraits[data["operators"][-1]["v"]]
    assert last["norm"] == pytest.approx(np.linalg.norm(values[0]), rel=1e-3)
    for p in data["parameters"]:
        norm = float(np.linalg.norm(np.asarray(gradients[p["name"]])))
        assert portraits[p["g"]]["norm"] == pytest.approx(norm, rel=1e-3), p["name"]
    assert all("g" in o and "v" in o for o in data["operators"])
    # What relu reads is kept for its way back, what is only added is not.
    relu = next(i for i, o in enumerate(data["operators"]) if o["op"] == "ReLU")
    assert data["operators"][relu].get("kept", 0) + data["operators"][relu - 1].get("kept", 0) > 0


def test_results_of_windows_are_kept_too() -> None:
    """A convolution views memory of its own; only what views an operand has none."""
    image = np.ones((1, 2, 8, 8), np.float32)
    with mg.Graph():
        x = mg.placeholder("x", shape=image.shape)
        w = mg.Variable(np.ones((2, 2, 3, 3), np.float32), name="w")
        pooled = mg.max_pool2d(mg.conv2d(x, w), 2)
        graph = mg.build_graph(x, mg.sum(mg.conv2d(pooled, w)))
    made = viz.step(graph, {x: image}, whole=True)
    kept = [(o["op"], o.get("kept")) for o in made.data["operators"]]
    assert kept[:2] == [("Conv2d", 2 * 6 * 6 * 4), ("MaxPool2d", 2 * 3 * 3 * 4)]


def test_shares_of_a_gradient_are_added() -> None:
    model = jax_like()
    seen = RunRecorder(model)
    fork = [n for n in seen.operators if n.op.name == "Tanh"][3]  # which two functions read
    (h,) = model._run([fork])
    left, right = np.maximum(h + 1, 0), np.tanh(2 * h)
    expected = ((h > -1) * right + left * 2 * (1 - right**2)) / h.size
    found = seen.gradients[fork]
    assert found["norm"] == pytest.approx(np.linalg.norm(expected), rel=1e-3)
    assert found["mean"] == pytest.approx(expected.mean(), rel=1e-3)


def test_nothing_of_the_model_is_kept() -> None:
    model = torch_like()
    graph = weakref.ref(model.graph)
    made = explorer_of(model, model)
    del model
    gc.collect()
    assert graph() is None
    assert made.data["parameters"]


def test_rounds_of_a_function_are_parts() -> None:
    data = content(jax_like()).data
    names = [n["name"] for n in data["nodes"] if n.get("kind") == "layer"]
    assert names == ["1", "2", "3", "4"]
    (strip,) = [n for n in data["nodes"] if n.get("repeats")]
    assert strip["name"] == "layer"


def said(data: Any) -> list[str]:
    return [finding["text"][0] for finding in data["findings"]]


def test_a_healthy_model_is_told_so() -> None:
    data = content(torch_like()).data
    assert not any(finding["bad"] for finding in data["findings"])
    assert any(text.startswith("Parameter gradients: ") for text in said(data))
    assert any(text.startswith("No dead ReLU") for text in said(data))


def test_the_first_broken_value_is_found_with_its_line() -> None:
    data = content(torch_like(broken=True)).data
    first = data["findings"][0]
    assert first["bad"]
    assert first["text"][0].startswith("The first value that isn't finite")
    assert "blocks.1" in first["text"][0]
    assert "theirs.py:8" in first["text"][0]
    assert data["operators"][first["op"]]["op"] == "Div"


def numbers(norms: list[float], zeros: float = 0.5) -> dict[str, Any]:
    """A model of plain layers whose weights have gradients of these norms."""
    portraits = [{"norm": norm, "zeros": zeros} for norm in norms]
    operators = [
        {"op": "ReLU", "v": i, "g": i, "weights": [i], "ms": 1.0, "line": 0}
        for i in range(len(norms))
    ]
    nodes = [{"parent": None, "name": "net", "children": [1], "a": 0, "b": len(norms)}]
    return {
        "backward": True,
        "portraits": portraits,
        "operators": operators,
        "parameters": [
            {"name": f"w{i}", "shape": [2, 2], "size": 4, "g": i} for i in range(len(norms))
        ],
        "lines": [["a.py", 1, "y"]],
        "nodes": [*nodes, {"parent": 0, "name": "all", "a": 0, "b": len(norms)}],
    }


@pytest.mark.parametrize(
    ("norms", "key"),
    [
        ([1.0, 2.0], "explorer_gradients"),
        ([1e-7, 2.0], "explorer_vanishing"),
        ([1e6, 1.0], "explorer_exploding"),
        ([0.0, 1.0], "explorer_no_gradient"),
    ],
)
def test_how_gradients_differ_is_told(norms: list[float], key: str) -> None:
    fields = dict.fromkeys(("name", "other", "low", "high", "ratio"), "")
    beginning = row(key, **fields, count=1)[0].split(":")[0]
    (text,) = [x["text"][0] for x in findings(numbers(norms)) if "radient" in x["text"][0]]
    assert text.startswith(beginning)


def calls(norms: list[float], own: bool = False) -> dict[str, Any]:
    """A cell whose calls get gradients of these norms; own: each has weights of its own."""
    data = numbers([1.0] * len(norms))
    data["portraits"] = [{"norm": norm, "zeros": 0.5} for norm in norms]
    for i, p in enumerate(data["parameters"]):
        data["operators"][i]["weights"] = [i if own else 0]
        p["g"] = len(norms)
    data["portraits"].append({"norm": 1.0})
    root, _ = data["nodes"]
    n, cell = len(norms), {"parent": 0, "name": "cell", "repeats": True, "a": 0}
    each = [{"parent": 1, "name": str(i + 1), "op": i, "a": i, "b": i + 1} for i in range(n)]
    data["nodes"] = [root, {**cell, "b": n, "children": [*range(2, n + 2)]}, *each]
    return data


def test_gradients_that_vanish_along_the_calls_of_a_cell_come_first() -> None:
    first, *rest = findings(calls([1e-8, 1e-4, 0.5]))
    english, chinese = (text.replace("\u2060", "") for text in first["text"])
    assert english.startswith("Gradients vanish on the way back through 3 calls of cell: ")
    assert english.endswith("|∂y| falls from 0.5 to 1e-08.")
    assert chinese.startswith("梯度在往回穿过 cell 的 3 次调用时消失：")
    assert chinese.endswith("|∂y| 从 0.5 降到 1e-08。")
    assert (first["op"], first["bad"], first["about"]) == (0, True, "vanishing_calls")
    assert not any(f["bad"] for f in rest)
    (exploding,) = [f for f in findings(calls([1e8, 1.0, 0.5])) if f["bad"]]
    assert exploding["text"][0].startswith("Gradients explode on the way back through 3 calls")
    for data in (calls([1e-3, 0.5]), calls([1e-8, 0.5], own=True), content(recurrent()).data):
        assert not any(f["bad"] for f in findings(data)), "even enough, or weights of their own"
    cut = calls([1e-8, 0.5])
    del cut["operators"][0]["g"]
    assert not any(f["bad"] for f in findings(cut)), "no gradient is to reach it"


def test_the_largest_and_the_smallest_gradient_are_those_of_the_score() -> None:
    data = numbers([3.0, 1.0, 2.0])
    data["parameters"][1]["size"] = 1  # of one element, so each gets more than those of the others
    assert "from 1 (w1) to 3 (w0)" in said({"findings": findings(data)})[0]
    data = numbers([3.0, 0.0, 2.0])
    data["parameters"][1]["shape"] = [4]  # a bias, which a norm behind it takes away
    assert "from 0 (w1) to 3 (w0)" in said({"findings": findings(data)})[0]
    data["portraits"][1]["norm"] = 1e-8  # and of which rounding leaves a little
    assert "from 2 (w2) to 3 (w0)" in said({"findings": findings(data)})[0]


def test_the_slowest_operator_is_named_and_selected_in_the_slowest_part() -> None:
    data = numbers([1.0, 1.0, 1.0])
    data["operators"][1] |= {"ms": 2.0, "back": 3.0}
    parts = [{"parent": 0, "name": n, "a": a, "b": b} for n, a, b in (("in", 0, 1), ("deep", 1, 3))]
    parts[1]["children"] = [3, 4]
    parts += [{"parent": 2, "op": i, "a": i, "b": i + 1} for i in (1, 2)]
    data["nodes"] = [{**data["nodes"][0], "children": [1, 2]}, *parts]
    found = {x["text"][0]: x for x in findings(data)}
    assert found["Slowest operator: deep.ReLU, 5 ms in all."]["op"] == 1
    part = next(
        found[text]
        for text in found
        if text.startswith("deep: ") and "86 % of minigrad's time" in text
    )
    assert (part["op"], part["node"]) == (1, 2)


def test_no_operator_is_the_slowest_if_the_runs_disagree() -> None:
    assert slowest([[1, 5, 2], [1, 4, 2]]) == [1]
    assert slowest([[1, 5, 2], [1, 4, 6]]) == [1, 2]  # in one run the other one took longer
    assert slowest([[1, 5, 4.9], [1, 5, 4.8]]) == [1, 2]  # within noise
    data = numbers([1.0, 1.0]) | {"system": "PyTorch"}
    root, *_ = data["nodes"]
    parts = [{"parent": 0, "op": i, "a": i, "b": i + 1} for i in (0, 1)]
    data["nodes"] = [{**root, "children": [1, 2]}, *parts]
    (said,) = [x["text"] for x in findings(data) if "slowest" in x["text"][0]]
    assert said[0].startswith("No operator is clearly the slowest")
    assert "measured by minigrad, not PyTorch" in said[0]
    assert "由 minigrad 测得" in said[1]


def test_times_are_those_of_several_runs_and_parameters_are_marked_as_fixed() -> None:
    model = torch_like()
    seen = RunRecorder(model)
    assert len(seen.rounds) == 5
    node = seen.operators[0]
    assert seen.min_time(node) == min(took[node] for took in seen.rounds)
    assert not seen.fixed & {*seen.operators}
    build = Builder()
    x = build.placeholder("x", np.ones((2, 3), np.float32))
    b = build.variable("b", np.zeros(3, np.float32), "", trained=True)
    with build.graph:
        wide = mg.reshape(b, (1, 3))
        y = x + wide
    made = build.captured("Other", [y], [np.ones((2, 3), np.float32)], {})
    rows = Content("net", made, RunRecorder(made)).operators
    assert [row.get("fixed", False) for row in rows] == [True, False]


def test_of_many_elements_the_first_and_the_extremes_are_told() -> None:
    x = np.linspace(-1, 1, 200, dtype=np.float32).reshape(10, 20)
    x[0, 0], x[3, 4], x[5, 6], x[7, 8] = 0.5, 9, -9, np.nan
    assert portrait(x)["at"] == (0.5, 64, 106)
    assert "at" not in portrait(x[:2])
    assert portrait(np.float32("nan"))["mean"] == "nan"  # a loss that is lost is still shown


def test_relu_behind_nan_is_said_to_differ_from_pytorch() -> None:
    data = content(torch_like(broken=True)).data
    assert [f["about"] for f in data["findings"] if f["bad"]] == ["nan", "nan_relu", "nan_back"]
    assert "Gradients before blocks.2.act may be 0 here" in said(data)[1]


def test_what_half_precision_would_change_is_said_first() -> None:
    found = content(differing(torch_like())).data["findings"]
    assert "in float32 instead of float16" in found[0]["text"][0]
    assert "float16 的舍入和溢出" in found[0]["text"][1]


def test_an_explorer_says_in_one_line_what_failed() -> None:
    made = stopped_explorer(torch_like, stopped(torch_like()))
    assert made is not None
    assert made.error is not None
    assert repr(made).startswith("Explorer: torch_like")
    assert str(made.error).partition(".")[0][:40] in repr(made)
    assert "\n" not in repr(made)


def test_few_elements_are_kept_as_numbers() -> None:
    assert portrait(np.arange(6.0).reshape(2, 3))["values"] == (0, 1, 2, 3, 4, 5)
    assert "values" not in portrait(np.zeros((12, 12)))
    assert "values" not in portrait(np.zeros((2, 2, 2)))  # of which only a part is pictured


def test_a_long_run_says_how_far_it_is(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.words.progress.WAIT", 0.0)
    monkeypatch.setattr("viz.words.progress.SHORT", 0.0)
    with progress():
        content(torch_like())
    assert capfd.readouterr().err.startswith("Running the model: computed 2 of 44 values")


def test_a_silent_relu_is_found() -> None:
    found = findings(numbers([1.0, 1.0], zeros=0.97))
    assert [x["op"] for x in found if x["bad"]] == [0, 1]
    assert path_of(numbers([1.0]), 0) == "all"


def test_the_explorer_tells_all_in_text() -> None:
    made = explorer_of(type("Net", (), {})(), torch_like())
    english, chinese = made.text()
    assert english.splitlines()[0] == "Net: 4×8 · parameters: 939 · 22 operators"
    assert "blocks.1: Block → [4×8], |∂y|" in english
    assert "checked against PyTorch" in english
    assert "已与 PyTorch" in chinese


@pytest.mark.parametrize(
    ("model", "name"), [(torch_like, "torch_like"), (lambda x: x, "function"), (3, "int")]
)
def test_a_model_is_called_like_its_class_or_its_function(model: Any, name: str) -> None:
    assert name_of(model) == name


def names_at_first(made: Explorer) -> list[str]:
    nodes = made.data["nodes"]
    return [nodes[i].get("name", "") for i in nodes[0]["children"]]


def test_the_first_view_is_chosen() -> None:
    model = torch_like()
    plain = explorer_of(model, model)
    deep = explorer_of(model, model, FirstView(depth=2))
    one = explorer_of(model, model, FirstView.of(1, "blocks.1", "blocks.0"))
    assert names_at_first(plain) == ["stem", *(f"blocks.{i}" for i in range(3)), "head"]
    inside = [f"blocks.1.{name}" for name in ("up", "act", "down")]
    assert names_at_first(one) == ["stem", "blocks.0", *inside, "", "blocks.2", "head"]
    assert {"stem", *inside, "head"} < set(names_at_first(deep))
    assert one.data["nodes"][one.data["start"]]["name"] == "blocks.0"
    for made in (plain, deep, one):  # every operator is in one part, in order
        parts = [made.data["nodes"][i] for i in made.data["nodes"][0]["children"]]
        ends = [0, *(part["b"] for part in parts)]
        assert [part["a"] for part in parts] == ends[:-1]
    with pytest.raises(ValueError, match=r"no module blocks\.7 here.*blocks\.2"):
        explorer_of(model, model, FirstView(opened=("blocks.7",)))


@pytest.mark.parametrize("model", [torch_like, jax_like])
def test_a_still_has_a_card_for_each_part_and_an_arrow_for_each_value(model: Any) -> None:
    made = explorer_of(model, model())
    still = Still(made)
    labels = [n.sign or n.name for n in still.picture.nodes]
    assert set(filter(None, names_at_first(made))) <= set(labels)
    readers = {e.target for e in still.picture.edges}
    assert readers == {n.id for n in still.picture.nodes if n.kind != "input"}
    assert still.svg.count('class="node ') == len(labels)
    assert still.svg.count("mg-back") > len(labels)  # cards, and arrows of gradients


def test_a_still_is_saved_in_each_format(tmp_path: Any) -> None:
    still = Still(explorer_of(numbered, numbered()))
    for suffix, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!")):
        assert still.save(tmp_path / f"still.{suffix}").read_bytes().startswith(start)
    with pytest.raises(ValueError, match=r"\.svg, \.pdf, \.png, \.html"):
        still.save(tmp_path / "still.gif")


def test_the_pictures_of_a_strip_have_one_scale() -> None:
    large = portrait(np.linspace(-1, 1, 8, dtype=np.float32))
    faint = portrait(np.linspace(-1e-6, 1e-6, 8, dtype=np.float32))
    zeros = "f" * 4  # no colour
    assert _swatch([faint, large]).split(":")[1][:4] == zeros != _swatch([faint]).split(":")[1][:4]


def test_a_graph_of_ours_is_seen_whole_and_stays_as_it_is() -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x", shape=(2, 3))
        with mg.name_scope("encoder"):
            h = mg.tanh(x * 2)
        with mg.name_scope("head"):
            y = mg.sum(h * h)
        built = mg.build_graph(x, y)
    count = len(graph.nodes)
    made = viz.step(built, {x: np.ones((2, 3), np.float32)}, whole=True)
    assert isinstance(made, Explorer)
    names = [made.data["nodes"][i]["name"] for i in made.data["nodes"][0]["children"]]
    assert names == ["encoder", "head"]
    assert made.data["backward"]
    assert len(graph.nodes) == count
    focused = viz.step(built, {"x": np.ones((2, 3), np.float32)}, focus="encoder")
    assert focused.data["nodes"][focused.data["start"]]["name"] == "encoder"
    drawn = viz.draw(built, {x: np.ones((2, 3), np.float32)})
    assert [n.sign or n.name for n in drawn.picture.nodes] == ["x", "encoder", "head"]


class Mlp(nn.Module):
    def __init__(self) -> None:
        self.up, self.down = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        return self.down(mg.relu(self.up(x)))


@pytest.mark.parametrize("wrapped", [lambda f: f, mg.function, mg.script])
def test_functions_and_layers_of_ours_are_seen_whole(wrapped: Any) -> None:
    net, x = Mlp(), mg.tensor(np.ones((5, 3), np.float32))
    made = viz.step(wrapped(lambda x: mg.sum(net(x) ** 2)), x, whole=True)
    mg.sum(net(x) ** 2).backward()
    found = {tuple(p["shape"]): made.data["portraits"][p["g"]] for p in made.data["parameters"]}
    for p in (net.up.weight, net.down.weight):
        expected = float(np.linalg.norm(p.grad.numpy()))
        assert found[p.shape]["norm"] == pytest.approx(expected, rel=1e-3)
    assert {"up", "down"} <= {n.get("name") for n in made.data["nodes"]}


NET = """
input: "data" input_shape { dim: 1 dim: 1 dim: 4 dim: 4 }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 2 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "ip" type: "InnerProduct" bottom: "conv" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
"""


def test_the_layers_of_a_caffe_net_are_modules(tmp_path: Any) -> None:
    pytest.importorskip("google.protobuf")
    (tmp_path / "net.prototxt").write_text(NET, "utf-8")
    graph = mg.from_caffe(tmp_path / "net.prototxt")
    made = viz.step(graph, {"data": np.ones((1, 1, 4, 4), np.float32)}, whole=True)
    assert names_at_first(made) == ["conv", "relu", "ip"]
    assert all("g" in p for p in made.data["parameters"])


def test_prefixes_of_an_onnx_file_are_modules(tmp_path: Any) -> None:
    pytest.importorskip("onnx")
    x = mg.placeholder("x", shape=(2, 3))
    with mg.name_scope("encoder"):
        h = mg.tanh(x * 2)
    with mg.name_scope("head"):
        y = mg.relu(h) * 3
    mg.build_graph(x, y).to_onnx(tmp_path / "net.onnx")
    graph = mg.from_onnx(tmp_path / "net.onnx")
    made = viz.step(graph, {"x": np.ones((2, 3), np.float32)}, whole=True)
    assert names_at_first(made) == ["encoder", "head"]


def test_a_graph_of_open_lengths_is_seen_with_those_of_its_feed() -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x", (None, 4))
        y = mg.relu(x @ mg.Variable(np.ones((4, 3), np.float32), "w"))
    for made in (graph, y):
        data = viz.step(made, {x: np.ones((2, 4))}, whole=True).data
        assert [row["shape"] for row in data["operators"]] == [[2, 3], [2, 3]]
        assert data["parameters"][0]["g"] != data["inputs"][0]["g"]
    assert x.shape == (None, 4), "the user's graph stays as it is"
    with pytest.raises(mg.NotFedError, match="x"):
        viz.step(y, whole=True)
