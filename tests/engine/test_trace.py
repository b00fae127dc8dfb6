"""`mg.trace` and `mg.make_graph`: what examples decide, what a check finds, what is in a graph."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import events, in_body
from minigrad.diagnostics import messages

FEW = np.float32([1, 2, 3])


@pytest.fixture(autouse=True)
def nothing_stays_behind() -> Iterator[None]:
    with mg.Graph() as graph:
        yield
        assert mg.get_default_graph() is graph
        assert not in_body()
    assert events.listeners == []


def cell(source: str, name: str) -> Any:
    """A function typed in a cell of a notebook: its source is known to linecache alone."""
    filename = f"<cell {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    code: CodeType = compile(source, filename, "exec")
    around: dict[str, Any] = {"mg": mg}
    exec(code, around)
    return around[name]


E10 = """def f(x):
    if x.sum() > 0:
        return 2 * x
    return x - 1
"""


# ---- What the example decides -------------------------------------------------------------------


def test_an_example_without_decisions_is_just_a_graph() -> None:
    f = mg.trace(lambda x, y: mg.tanh(x * y) + 1, mg.tensor(FEW), 2.0)
    assert f.baked == ()
    assert [n.op.name for n in f.graph.nodes[2:]] == ["Mul", "Tanh", "Constant", "Add"]
    for y in (2.0, -1.0):
        expected = mg.tanh(mg.tensor(FEW) * y) + 1
        assert f(FEW, y).data.tobytes() == expected.data.tobytes()
    assert f(y=2.0, x=FEW).shape == (3,)


def test_a_branch_is_baked_in_with_its_line() -> None:
    f = cell(E10, "f")
    with pytest.warns(mg.TraceWarning) as warned:
        traced = mg.trace(f, 3.0)
    (baked,) = traced.baked
    assert (baked.line, baked.text, baked.outcome) == (2, "if x.sum() > 0", True)
    assert str(baked) == "line 2: if x.sum() > 0 was True"
    (warning,) = warned
    assert (warning.filename, warning.lineno) == ("<cell f>", 2)
    for words in ("line 2: if x.sum() > 0 was True", "mg.cond", "@mg.script", ".check"):
        assert words in str(warning.message)
    assert traced(-3.0).item() == -6
    assert "Greater" not in traced.graph.counted(), "the condition is gone"


def test_a_check_names_the_line_that_was_wrong() -> None:
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(cell(E10, "f"), 3.0)
    report = traced.check(-3.0)
    assert not report
    assert (report.expected.item(), report.actual.item()) == (-4, -6)
    assert report.turn is not None
    assert [b.outcome for b in report.turn] == [True, False]
    assert str(report) == (
        "f: Python gives -4, the graph gives -6. "
        "line 2: if x.sum() > 0 was True when it was traced, and is False here."
    )
    messages.set_language("zh")
    try:
        assert "Python 得到 -4，图得到 -6。追踪时，第 2 行的 if x.sum() > 0 为 True" in str(report)
    finally:
        messages.set_language("en")


def test_a_check_of_inputs_that_go_the_same_way() -> None:
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(cell(E10, "f"), 3.0)
    report = traced.check(5.0)
    assert report
    assert report.turn is None
    assert str(report) == "f: Python and the graph agree; the largest difference is 0."


def test_a_branch_that_does_not_matter_is_told_all_the_same() -> None:
    def f(x: Any) -> Any:
        return x * 2 if x > 0 else x + x

    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(f, 3.0)
    report = traced.check(-3.0)
    assert report
    assert report.turn is not None
    assert report.turn[0].text == "x > 0", "the expression, where there is more on the line"


def loop(x: Any) -> Any:
    steps = 0
    while x.sum() < 100:
        x = x * 2
        steps += 1
    return x, steps


def test_a_loop_is_unrolled_as_the_example_goes() -> None:
    with pytest.warns(mg.TraceWarning) as warned:
        traced = mg.trace(loop, mg.tensor(FEW))
    assert len(warned) == 1, "one warning for a line, however often it runs"
    assert [b.outcome for b in traced.baked] == [True] * 5 + [False]
    assert traced.graph.counted()["Mul"] == 5
    y, steps = traced(FEW)
    assert (y.tolist(), steps) == ([32, 64, 96], 5)
    report = traced.check(FEW * 8)
    assert not report
    assert report.turn is not None
    assert report.turn[0].line == loop.__code__.co_firstlineno + 2
    assert "was True when it was traced, and is False here" in str(report)


USES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "float": (lambda x: x * float(x.sum()), 6.0),
    "int": (lambda x: x * int(x[1]), 2),
    "item": (lambda x: x * x[2].item(), 3.0),
    "index": (lambda x: x * [1, 5, 7][x.argmax()], 2),
    "range": (lambda x: sum((x for _ in range(x.argmax())), start=x), 2),
    "len": (lambda x: x * len(x), 3),
    "iter": (lambda x: sum((row * row for row in x), start=x), 3),
    "array": (lambda x: x * np.asarray(x).max(), [1.0, 2.0, 3.0]),
    "and": (lambda x: x * (2 if x[0] > 0 and True else 3), True),
}


@pytest.mark.parametrize("use", USES)
def test_each_way_to_ask_for_a_value_is_noted(use: str) -> None:
    f, outcome = USES[use]
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(f, mg.tensor(FEW))
    assert [b.outcome for b in traced.baked] == [outcome]
    assert traced.baked[0].where.filename == __file__
    expected = f(mg.tensor(FEW))
    assert traced(FEW).data.tobytes() == expected.data.tobytes()
    assert traced.check(FEW)


def test_a_number_that_was_baked_in_is_named_and_a_branch_before_it() -> None:
    def f(x: Any) -> Any:
        level = float(x.sum())
        return x * level if x[0] > 0 else x

    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(f, mg.tensor(FEW))
    first = f.__code__.co_firstlineno
    scaled, negated = traced.check(FEW * 2), traced.check(-FEW)
    assert scaled.turn is not None
    assert negated.turn is not None
    assert (scaled.turn[0].line - first, negated.turn[0].line - first) == (1, 2)
    assert "float(x.sum()) was 6.0 when it was traced, and is 12.0 here" in str(scaled)


def test_what_mg_cond_decides_is_not_baked_in(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        y = mg.cond(x.sum() > 0, lambda: mg.Print(x, "positive") * 2, lambda: x - 1)
        return y if y.sum() > 5 else y * 0

    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(f, mg.tensor(FEW))
    assert capsys.readouterr().out == "positive [1. 2. 3.]\n".replace(". ", "., ")
    assert len(traced.baked) == 1
    assert traced(FEW).tolist() == [2, 4, 6]
    assert traced(-FEW).tolist() == [-2, -3, -4]


def test_a_print_is_not_run_for_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(lambda x: 1 if mg.Print(x * 2, "double") > 0 else x, 3.0)
    assert capsys.readouterr().out == ""
    assert traced(3.0) == 1
    assert capsys.readouterr().out == "double 6.0\n"


def test_inside_a_branch_there_is_no_value_even_with_an_example() -> None:
    def f(x: Any) -> Any:
        return mg.cond(x > 0, lambda: x * 2 if x * 3 > 0 else x, lambda: x)

    with pytest.raises(mg.TraceError, match="argument x"):
        mg.trace(f, 3.0)


# ---- Inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ((np.float32([1, 2]), 2), r"argument x: the graph was traced for .*\(3,\).*\(2,\)"),
        ((mg.tensor(FEW.astype(np.float64)), 2), "float64"),
        ((FEW, 3), "argument n: .* 2, and the value is 3.* Remedy: trace once more"),
        ((FEW, mg.tensor(2)), "argument n"),
        (({"a": FEW}, 2), "argument x"),
    ],
)
def test_only_inputs_like_the_examples_are_taken(inputs: Any, says: str) -> None:
    f = mg.trace(lambda x, n: x * n, FEW, True)
    assert f(FEW, True).tolist() == [1, 2, 3]
    g = mg.trace(lambda x, n: x if n == "2" else x * 2, FEW, "2")
    assert g(FEW, "2").tolist() == [1, 2, 3]
    h = mg.trace(lambda x, n=2: x * n, FEW)  # a default is a constant
    with pytest.raises(mg.FeedError, match=says):
        h(*inputs)


def test_structures_of_examples() -> None:
    f = mg.trace(lambda batch: {"y": batch["a"] * batch["b"][0]}, {"a": FEW, "b": [2.0]})
    assert f({"a": FEW, "b": [3.0]})["y"].tolist() == [3, 6, 9]
    with pytest.raises(mg.FeedError, match=r"batch\['b'\]"):
        f({"a": FEW, "b": []})


def test_an_example_needs_a_value() -> None:
    for example in (mg.placeholder("x"), mg.TensorSpec((3,))):
        with pytest.raises(mg.TraceError, match=r"mg\.make_graph"):
            mg.trace(lambda x: x, example)


# ---- As a function and as a graph ---------------------------------------------------------------


def test_gradients_flow_to_inputs_and_parameters() -> None:
    model = mg.nn.Sequential(mg.nn.Linear(3, 4, seed=0), mg.nn.ReLU(), mg.nn.Linear(4, 1, seed=1))
    x = mg.randn(5, 3, seed=2)
    x.requires_grad = True
    traced = mg.trace(model, x)
    found = []
    for run in (model, traced):
        model.zero_grad()
        x.zero_grad()
        run(x).sum().backward()
        found.append([x.grad, *(p.grad for p in model.parameters())])
    for plain, graph in zip(*found, strict=True):
        assert plain is not None
        assert plain.data.tobytes() == graph.data.tobytes()  # type: ignore[union-attr]
    with mg.no_grad():
        model[0].weight.copy_(model[0].weight * 2)  # type: ignore[attr-defined]
    assert traced(x).data.tobytes() == model(x).data.tobytes()
    (dx,) = mg.grad(traced(x).sum() * x.sum(), [x], create_graph=True)
    assert mg.grad(dx.sum(), [x])[0].shape == (5, 3)


def test_called_with_a_node_it_is_inlined() -> None:
    traced = mg.trace(lambda x: mg.exp(x) * 2, FEW)
    x = mg.placeholder("x", (3,))
    y = traced(x)
    assert isinstance(y, mg.Node)
    found = mg.run(mg.build_graph(x, [y, mg.gradients(y, x)[0]]), {x: FEW})
    np.testing.assert_array_equal(found[0], np.exp(FEW) * 2)
    np.testing.assert_array_equal(found[1], np.exp(FEW) * 2)
    f = mg.function(lambda x: traced(x) + 1)
    np.testing.assert_array_equal(f(mg.tensor(FEW)).data, np.exp(FEW) * 2 + 1)


def test_a_traced_function_inside_is_part_of_the_graph() -> None:
    inner = mg.function(lambda x: x * 2)

    def f(x: Any) -> Any:
        y = inner(x)
        return y + 1 if y.sum() > 0 else y - 1

    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(f, FEW)
    assert traced(FEW).tolist() == [3, 5, 7]
    assert not traced.check(-FEW)


def test_an_error_while_tracing_leaves_nothing_behind() -> None:
    leaked: list[Any] = []

    def f(x: Any) -> Any:
        leaked.append(x * 2)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mg.trace(f, FEW)
    with pytest.raises(mg.TraceError, match="was built while f was traced"):
        leaked[0] + 1


def test_results_that_are_not_comparable_are_not_equal() -> None:
    def f(x: Any) -> Any:
        return (x, x) if x > 0 else x

    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(f, 3.0)
    assert traced.check(-1.0).difference == np.inf
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(lambda x: x if x > 0 else mg.stack([x, x]), 3.0)
    assert not traced.check(-1.0)
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(lambda x: x if x > 0 else x.astype(mg.float64), 3.0)
    assert not traced.check(-1.0)
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(lambda x: "yes" if x > 0 else "no", 3.0)
    assert traced.check(1.0)
    assert not traced.check(-1.0)
    with pytest.warns(mg.TraceWarning):
        traced = mg.trace(lambda x: x * (1.0 if x > 0 else float("nan")), 3.0)
    assert not traced.check(-1.0)


def test_a_small_difference_is_within_tolerance() -> None:
    count = [0]

    def f(x: Any) -> Any:
        count[0] += 1
        return x + 1e-4 * count[0]

    traced = mg.trace(f, 1.0)
    assert not traced.check(1.0)
    assert traced.check(1.0, tolerance=1e-2)


def test_the_representation() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mg.TraceWarning)
        traced = mg.trace(cell(E10, "f"), 3.0)
    assert repr(traced) == "<traced f: 3 nodes, 1 baked in>"
    assert traced.__name__ == "f"


# ---- make_graph ---------------------------------------------------------------------------------


def test_make_graph_shows_what_a_function_builds() -> None:
    def f(x: Any, n: Any, flag: bool = True) -> Any:
        return {"a": x * n, "b": (x + 1 if flag else x, None, 3)}

    graph = mg.make_graph(f)(mg.TensorSpec((None, 2)), 2.0)
    assert graph.frozen
    assert graph.text() == (
        '%0 = Placeholder "x" : float32[None, 2]\n'
        '%1 = Placeholder "n" : float32[]\n'
        "%2 = Mul(%0, %1) : float32[None, 2]\n"
        "%3 = Constant 1.0 : float32[]\n"
        "%4 = Add(%0, %3) : float32[None, 2]\n"
        "%5 = Constant 3 : int64[]\n"
        "return %2, %4, %5"
    )
    graph.verify()
    a, b, three = mg.run(graph, {"x": np.ones((3, 2)), "n": 5})
    assert (a.sum(), b.sum(), three) == (30, 12, 3)
    without = mg.make_graph(f)(FEW, 2, flag=False)
    assert without.counted()["Add"] == 0


def test_make_graph_of_one_result_gives_one_array() -> None:
    graph = mg.make_graph(lambda x: x * x)(FEW)
    assert mg.run(graph, {"x": FEW}).tolist() == [1, 4, 9]


def test_make_graph_keeps_prints_and_makes_parameters_variables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    w = mg.tensor(2.0, requires_grad=True, name="w")

    def f(x: Any) -> Any:
        mg.Print(x, "x is")
        return x * (w * 3)

    graph = mg.make_graph(f)(1.0)
    assert [v.name for v in graph.variables] == ["w"]
    assert "Print" in graph.counted()
    assert capsys.readouterr().out == ""
    plain = mg.make_graph(lambda x: [mg.Print(x, "x is"), x + 1][1])(1.0)
    assert mg.run(plain, {"x": 1}) == 2
    assert capsys.readouterr().out == "x is 1.0\n"


def test_make_graph_of_a_layer_and_of_a_traced_function() -> None:
    graph = mg.make_graph(mg.nn.Linear(3, 2, seed=0))(mg.TensorSpec((None, 3)))
    assert graph.outputs[0].shape == (None, 2)
    assert [x.name for x in graph.inputs] == ["x"]
    f = mg.function(lambda x: x * 2)
    assert mg.make_graph(f)(FEW).counted()["Mul"] == 1
    with pytest.raises(mg.TraceError, match="argument x"):
        mg.make_graph(lambda x: 1 if x > 0 else 2)(1.0)
