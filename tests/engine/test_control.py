"""Branches and loops: the same results in both modes, gradients of any order, one branch runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import TupleSpec

pytestmark = pytest.mark.usefixtures("own_graph")

F64, I64 = np.float64, np.int64


def total(values: list[Any]) -> Any:
    """The sum of all elements of all gradients that there are; None if there are none."""
    sums = [v.sum() for v in values if v is not None]
    return sum(sums[1:], sums[0]) if sums else None


def static(f: Callable[..., Any], *values: Any, order: int = 1) -> list[Any]:
    """The result of f on placeholders, and its gradients up to an order, as arrays."""
    arrays = [np.asarray(v) for v in values]
    with mg.Graph():
        xs = [mg.placeholder(f"x{i}", a.shape, a.dtype) for i, a in enumerate(arrays)]
        floats = [x for x, a in zip(xs, arrays, strict=True) if a.dtype.kind == "f"]
        y = f(*xs)
        outputs: list[Any] = [y]
        for _ in range(order):
            found = [None] * len(floats) if y is None else mg.gradients(y, floats)
            outputs += found
            y = total(found)
        nodes = [x for x in outputs if x is not None]
        graph = mg.build_graph(xs, nodes).verify()
        results = iter(mg.run(graph, dict(zip(xs, arrays, strict=True))))
        return [0.0 if x is None else next(results) for x in outputs]


def eager(f: Callable[..., Any], *values: Any, order: int = 1) -> list[Any]:
    """The same with tensors."""
    arrays = [np.asarray(v) for v in values]
    xs = [mg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    floats = [x for x in xs if x.requires_grad]
    y = f(*xs)
    outputs: list[Any] = [y]
    for _ in range(order):
        walks = y is not None and y.requires_grad
        options = {"create_graph": True, "allow_unused": True}
        found = mg.grad(y, floats, **options) if walks else [None] * len(floats)
        outputs += found
        y = total(found)
    return [0.0 if x is None else x.data for x in outputs]


def e10(x: Any) -> Any:
    return mg.cond(x.sum() > 0, lambda: 2 * x, lambda: x - 1).sum()


def power(n: Any, x: Any) -> Any:
    return mg.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, x * 0 + 1))[1]


def newton(a: Any) -> Any:
    """The square root, by steps that depend on their own result."""
    return mg.while_loop(lambda r: mg.abs(r * r - a) > 1e-9, lambda r: (r + a / r) / 2, a)


def horner(xs: Any, w: Any) -> Any:
    last, sums = mg.scan(lambda s, x: (s * w + x, s * x), w * 0, xs)
    return last * last + sums.sum()


def backwards(xs: Any, w: Any) -> Any:
    last, ys = mg.scan(lambda s, x: (s * w + x, s), w, xs, reverse=True)
    return last + (ys * xs).sum()


def nested(n: Any, x: Any) -> Any:
    """A branch in a loop in a loop: the sign of the factor depends on the count."""

    def inner(i: Any, y: Any) -> Any:
        return mg.while_loop(
            lambda j, z: j < i,
            lambda j, z: (j + 1, mg.cond(z > 3, lambda: z * 0.5, lambda: z * x + 1)),
            (0 * n, y),
        )[1]

    return mg.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, inner(i, y)), (0 * n, x))[1]


def scan_of_branches(xs: Any, w: Any) -> Any:
    def step(s: Any, x: Any) -> Any:
        t = mg.cond(x > 0, lambda: s * w, lambda: s + x * w)
        return t, None

    return mg.scan(step, w, xs)[0]


def branch_of_loops(x: Any, n: Any) -> Any:
    return mg.cond(x > 0, lambda: power(n, x), lambda: newton(-x))


X3 = np.array([0.5, -1.5, 2.0])
CASES: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "cond": (e10, [(X3,), (-X3 * 2,)]),
    "while": (power, [(I64(n), F64(1.5)) for n in (0, 1, 2, 5)]),
    "while on its own result": (newton, [(F64(2.0),), (F64(9.0),)]),
    "scan": (horner, [(X3, F64(0.7)), (X3[:1], F64(0.7))]),
    "scan backwards": (backwards, [(X3, F64(0.7))]),
    "branch in loops": (nested, [(I64(n), F64(0.8)) for n in (1, 3, 4)]),
    "branch in a scan": (scan_of_branches, [(X3, F64(0.7)), (-X3, F64(1.2))]),
    "loops in a branch": (branch_of_loops, [(F64(1.2), I64(3)), (F64(-4.0), I64(3))]),
}


@pytest.mark.parametrize("name", CASES)
def test_both_modes_agree_to_the_third_order(name: str) -> None:
    f, inputs = CASES[name]
    for values in inputs:
        a, b = eager(f, *values, order=3), static(f, *values, order=3)
        assert a[0] == b[0], "forward, bit for bit"
        for mine, theirs in zip(a[1:], b[1:], strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_central_differences(name: str) -> None:
    f, inputs = CASES[name]
    for values in inputs:
        mg.check_grads(f, *values, order=2, tolerance=1e-5)


def test_one_branch_runs_and_both_are_in_the_graph() -> None:
    x = mg.placeholder("x", shape=(None,))
    outside = mg.exp(x)
    y = mg.cond(x.sum() > 0, lambda: 2 * outside, lambda: x - 1)
    graph = mg.build_graph(x, y)
    counts = graph.counted()
    assert (counts["Mul"], counts["Sub"], counts["Exp"]) == (1, 1, 1)
    for value, expected in ((3.0, {"Mul": 1, "Sub": 0}), (-3.0, {"Mul": 0, "Sub": 1})):
        with mg.record() as log:
            mg.run(graph, {x: [value]})
        ran = {name: log.counts.by_op[name] for name in expected}
        assert ran == expected
        assert log.counts.by_op["Exp"] == 1, "an operator outside the branches always runs"


def test_probe_of_e10() -> None:
    x = mg.placeholder("x", shape=(1,))
    graph = mg.build_graph(x, e10(x))
    assert [float(mg.run(graph, {x: [v]})) for v in (3, -3)] == [6, -4]


def test_the_loop_has_the_same_size_for_3_and_50_steps() -> None:
    n, x = mg.placeholder("n", (), mg.int64), mg.placeholder("x", ())
    graph = mg.build_graph([n, x], power(n, x))
    hashes = set()
    for steps in (3, 50):
        with mg.record() as log:
            assert float(mg.run(graph, {n: steps, x: 1.0})) == 1
        assert len(log.of_kind("step")) == steps
        assert [e.position for e in log.of_kind("step")] == list(range(steps))
        hashes.add(graph.hash())
    assert len(hashes) == 1


def test_max_steps_ends_an_endless_loop() -> None:
    for x in (mg.tensor(1.0), mg.placeholder("x", ())):
        y = mg.while_loop(lambda v: v > 0, lambda v: v + 1, x, max_steps=7)
        value = mg.run(mg.build_graph(x, y), {x: 1.0}) if isinstance(y, mg.Node) else y.data
        assert value == 8


def test_a_state_may_be_one_value_a_tuple_or_a_tuple_in_one() -> None:
    n = mg.placeholder("n", (), mg.int64)
    one = mg.while_loop(lambda i: i < n, lambda i: i + 1, 0)
    spread = mg.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))
    whole = mg.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] + s[0]), (0, 0))
    as_list = mg.while_loop(lambda i, s: i < n, lambda i, s: [i + 1, s + i], (0, 0))
    from_list = mg.while_loop(lambda i, s: i < n, lambda i, s: [i + 1, s + i], [0, 0])
    with_pair = mg.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])
    list_in_one = mg.while_loop(lambda s: s[0] < n, lambda s: [s[0] + 1, s[1] + s[0]], [0, 0])
    one_in_list = mg.while_loop(lambda s: s[0] < n, lambda s: [s[0] + 1], [0])
    assert [type(x) for x in (from_list, with_pair, list_in_one, one_in_list)] == [list] * 4
    lists = [*from_list, *with_pair, *list_in_one, *one_in_list]
    assert [int(v) for v in mg.run(mg.build_graph(n, lists), {n: 4})] == [4, 6] * 3 + [4]
    names = mg.while_loop(lambda s: s["i"] < n, lambda s: {"i": s["i"] + 1}, {"i": 0})
    outputs = [one, *spread, *whole, *as_list, names["i"]]
    assert [int(v) for v in mg.run(mg.build_graph(n, outputs), {n: 4})] == [4, 4, 6, 4, 6, 4, 6, 4]


def test_a_list_as_state_is_unpacked_for_numbers_as_well() -> None:
    found = mg.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * 2), [0, mg.tensor(1.0)])
    assert type(found) is list
    assert [float(x) for x in found] == [4, 16]


def test_a_number_at_the_start_takes_the_type_of_the_step() -> None:
    x = mg.placeholder("x", ())
    y = mg.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, 1))[1]
    assert y.dtype == mg.float32
    assert mg.run(mg.build_graph(x, y), {x: 1.5}) == np.float32(3.375)


def test_lengths_that_change_from_step_to_step_are_open() -> None:
    x = mg.placeholder("x", (None,))
    shapes = []

    def body(i: Any, v: Any) -> Any:
        shapes.append(v.shape)
        return i + 1, v[1:]

    y = mg.while_loop(lambda i, v: i < 2, body, (0, x))[1]
    assert y.shape == (None,)
    assert mg.run(mg.build_graph(x, y), {x: [1, 2, 3, 4]}).tolist() == [3, 4]
    assert mg.run(mg.build_graph(x, (y + x[2:])), {x: [1, 2, 3, 4]}).tolist() == [6, 8]


def test_ys_are_stacked_in_the_order_of_the_sequence() -> None:
    xs = np.arange(4.0)
    for reverse, expected in ((False, [0, 1, 3, 6]), (True, [6, 6, 5, 3])):
        _, eager_ys = mg.scan(lambda s, x: (s + x, s + x), F64(0), mg.tensor(xs), reverse=reverse)
        p = mg.placeholder("xs", (None,), F64)
        _, ys = mg.scan(lambda s, x: (s + x, s + x), F64(0), p, reverse=reverse)
        assert ys.shape == (None,)
        assert eager_ys.tolist() == expected
        assert mg.run(mg.build_graph(p, ys), {p: xs}).tolist() == expected


def test_a_scan_over_nothing_gives_nothing() -> None:
    p = mg.placeholder("xs", (None, 2))
    last, ys = mg.scan(lambda s, x: (s + x, s * x), mg.constant(np.zeros(2, np.float32)), p)
    last_value, ys_value = mg.run(mg.build_graph(p, [last, ys]), {p: np.zeros((0, 2))})
    assert last_value.tolist() == [0, 0]
    assert ys_value.shape == (0, 2)


def test_in_a_dynamic_graph_no_step_has_the_shapes_of_one_too() -> None:
    weight = mg.tensor(np.ones((2, 3)), requires_grad=True) * 2

    def step(s: Any, row: Any) -> Any:
        y = row @ weight
        return s + y.sum(), {"y": y, "positive": y > 0}

    last, ys = mg.scan(step, 0.0, mg.tensor(np.zeros((0, 2))))
    assert last == 0.0
    assert (ys["y"].shape, ys["y"].dtype) == ((0, 3), F64)
    assert (ys["positive"].shape, ys["positive"].dtype) == ((0, 3), np.bool_)
    assert mg.scan(lambda s, x: (s, None), 0.0, mg.zeros(0))[1] is None


def test_structures_go_in_and_come_out() -> None:
    p = mg.placeholder("xs", (None,))
    carry, ys = mg.scan(
        lambda c, x: ({"s": c["s"] + x["a"]}, (x["b"], {"d": c["s"]})),
        {"s": 0.0},
        {"a": p, "b": p * 2},
    )
    outputs = [carry["s"], ys[0], ys[1]["d"]]
    values = mg.run(mg.build_graph(p, outputs), {p: [1, 2]})
    assert [np.asarray(v).tolist() for v in values] == [3, [2, 4], [0, 1]]


def test_several_results_are_one_node_and_a_choice() -> None:
    x = mg.placeholder("x", ())
    a, b = mg.cond(x > 0, lambda: (x, x * 2), lambda: (-x, x * 3))
    assert (a.op.name, b.op.name, a.inputs[0]) == ("Output", "Output", b.inputs[0])
    assert isinstance(a.inputs[0].spec, TupleSpec)
    assert str(a.inputs[0].spec) == "(float32[], float32[])"
    graph = mg.build_graph(x, [a, b]).verify()
    assert mg.run(graph, {x: -1}) == [1, -3]
    assert mg.run(mg.build_graph(x, mg.gradients(a + b, x)[0]), {x: -1}) == 2


def test_what_both_branches_use_is_taken_in_once() -> None:
    x, w = mg.placeholder("x", ()), mg.Variable(3.0, name="w")
    y = mg.cond(x > 0, lambda: x * w + w, lambda: w)
    assert [n.name for n in y.inputs[1:]] == ["x", "w"]
    for body in y.attrs.values():
        assert [n.name for n in body.inputs] == ["x", "w"]


def test_a_variable_is_read_and_its_gradient_comes_out() -> None:
    with mg.Graph():
        x, w = mg.placeholder("x", ()), mg.Variable(3.0, name="w")
        y = mg.cond(x > 0, lambda: x * w * w, lambda: w * 5)
        step = mg.assign(w, w - 0.1 * mg.gradients(y, w)[0])
        with mg.Session() as session:
            session.run(mg.global_variables_initializer())
            assert session.run(step, {x: 2.0}) == pytest.approx(3 - 0.1 * 2 * 2 * 3)
            assert session.run(step, {x: -1.0}) == pytest.approx(1.8 - 0.5)


def test_an_operand_that_no_branch_uses_gets_no_gradient() -> None:
    x, z = mg.placeholder("x", ()), mg.placeholder("z", ())
    y = mg.cond(x > 0, lambda a, b: a, lambda a, b: a * 2, x, z)
    assert mg.gradients(y, [x, z])[1] is None


def test_a_parameter_of_the_dynamic_graph_enters_a_body() -> None:
    w = mg.tensor(2.0, requires_grad=True, name="w")
    with mg.Graph():
        x = mg.placeholder("x", ())
        y = mg.cond(x > 0, lambda: x * w, lambda: x)
        (dw,) = mg.gradients(y, [w])
        with mg.Session() as session:
            session.run(mg.global_variables_initializer())
            assert session.run([y, dw], {x: 3.0}) == [6, 3]


def test_python_decides_where_there_is_a_value() -> None:
    x = mg.tensor(-3.0, requires_grad=True)
    with mg.record() as log:
        y = mg.cond(x > 0, lambda: 2 * x, lambda: x - 1)
    assert y.item() == -4
    assert log.counts.by_op == {"Greater": 1, "Sub": 1}
    assert y.creator.op.name == "Sub"


def test_nothing_of_a_failed_branch_stays_behind() -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x", (2,))
        before = len(graph.nodes)
        with pytest.raises(mg.ShapeError):
            mg.cond(x.sum() > 0, lambda: x, lambda: x + np.ones(3, np.float32))
        assert mg.get_default_graph() is graph
        assert len(graph.nodes) <= before + 3, "the condition and no branch"
        graph.verify()


# ---- Order without data -------------------------------------------------------------------------


def test_a_print_shows_the_value_at_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    x = mg.placeholder("x", ())
    graph = mg.build_graph(x, mg.Print(x * 2, "double") + 1)
    assert capsys.readouterr().out == ""
    assert [float(mg.run(graph, {x: v})) for v in (1, 2)] == [3, 5]
    assert capsys.readouterr().out == "double 2.0\ndouble 4.0\n"
    mg.Print(mg.tensor([1.0]), "now")
    assert capsys.readouterr().out == "now [1.]\n"
    mg.Print(mg.arange(20))
    mg.Print(mg.arange(21))
    long, cut = capsys.readouterr().out.split("]\n")[:2]
    assert (long.count(","), cut) == (19, "[ 0,  1,  2, ..., 18, 19, 20")


def test_a_gradient_does_not_print_again(capsys: pytest.CaptureFixture[str]) -> None:
    x = mg.placeholder("x", ())
    y = mg.cond(x > 0, lambda: mg.Print(x * x, "square"), lambda: x)
    graph = mg.build_graph(x, [y, mg.gradients(y, x)[0]])
    assert mg.run(graph, {x: 3.0}) == [9, 6]
    assert capsys.readouterr().out == "square 9.0\n"


def test_a_gradient_flows_through_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    x = mg.placeholder("x", ())
    y = mg.Print(x * x)
    assert mg.run(mg.build_graph(x, mg.gradients(y, x)[0]), {x: 3.0}) == 6
    t = mg.tensor(3.0, requires_grad=True)
    mg.Print(t * t).backward()
    assert t.grad == 6
    assert capsys.readouterr().out == "9.0\n", "the static gradient does not need the value"


def test_what_is_built_inside_waits_for_nodes_of_its_own_graph_alone() -> None:
    x = mg.placeholder("x", ())
    first = mg.Print(x)
    with mg.control_dependencies([first]):
        y = mg.cond(x > 0, lambda: x * 2, lambda: x)
    node = y.graph[y.name] if y.op.name == "Cond" else y.inputs[0]
    assert node.controls == (first,)
    assert not any(n.controls for n in node.attrs["then"].nodes)


def test_a_function_that_is_called_waits_as_a_whole() -> None:
    @mg.function
    def f(x: Any) -> Any:
        with mg.control_dependencies([mg.Print(x, "inside")]):
            return x * 2 + 1

    x = mg.placeholder("x", ())
    first = mg.Print(x, "before")
    with mg.control_dependencies([first]):
        y = f(x)
    (product,) = (n for n in y.graph.nodes if n.op.name == "Mul")
    assert [n.op.name for n in product.controls] == ["Print", "Print"]
    assert product.controls[0] is first
    assert y.controls[0] is first


def printed_branch(x: Any) -> Any:
    return mg.cond(x > 1, lambda: mg.Print(mg.Print(x * x, "square"), "again"), lambda: x)


NESTED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a branch in a branch": (
        lambda x: mg.cond(x > 0, lambda: printed_branch(x) * x, lambda: x),
        "square 9.0\nagain 9.0\n",
    ),
    "a branch in a loop": (
        lambda x: mg.while_loop(
            lambda i, y: i < 2, lambda i, y: (i + 1, printed_branch(y)), (0, x)
        )[1],
        "square 9.0\nagain 9.0\nsquare 81.0\nagain 81.0\n",
    ),
    "a loop in a branch": (
        lambda x: mg.cond(
            x > 0,
            lambda: mg.scan(lambda s, a: (mg.Print(s * a, "s"), s), x, mg.constant([2.0, 3.0]))[0],
            lambda: x,
        ),
        "s 6.0\ns 18.0\n",
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_gradients_of_nested_bodies_print_nothing_more(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model, expected = NESTED[name]
    x = mg.placeholder("x", ())
    y = model(x)
    first = mg.gradients(y, x)[0]
    graph = mg.build_graph(x, [y, first, mg.gradients(first, x)[0]])
    for run in (lambda feeds: mg.run(graph, feeds), graph.compile()):
        run({x: 3.0})
        assert capsys.readouterr().out == expected
    t = mg.tensor(3.0, requires_grad=True)
    mg.function(model)(t).backward()
    assert capsys.readouterr().out == expected


def test_gradients_of_nested_bodies_do_not_assert_again() -> None:
    x = mg.placeholder("x", ())

    def inner() -> Any:
        mg.Assert(x < 5, "small")
        return x * x

    y = mg.cond(x > 0, lambda: mg.cond(x > 1, inner, lambda: x), lambda: x)
    counts = mg.build_graph(x, [y, mg.gradients(y, x)[0]]).counted()
    assert counts["Assert"] == 1
    with pytest.raises(mg.AssertionFailed, match="small"):
        mg.run(mg.build_graph(x, [y, mg.gradients(y, x)[0]]), {x: 6.0})


def test_an_effect_in_a_body_happens_though_nobody_reads_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    n = mg.placeholder("n", (), mg.int64)

    def body(i: Any) -> Any:
        mg.Print(i, "i is")
        return i + 1

    graph = mg.build_graph(n, mg.while_loop(lambda i: i < n, body, 0))
    mg.run(graph, {n: 2})
    assert capsys.readouterr().out == "i is 0\ni is 1\n"


def test_an_assertion_stops_the_run_and_keeps_variables() -> None:
    with mg.Graph():
        x, w = mg.placeholder("x", (2,)), mg.Variable(1.0, name="w")
        step = mg.assign(w, w + 1)
        with mg.control_dependencies([mg.Assert(x > 0, "x must be positive")]):
            y = x * w
        with mg.Session() as session:
            session.run(mg.global_variables_initializer())
            assert session.run([y, step], {x: [1, 2]})[1] == 2
            with pytest.raises(
                mg.AssertionFailed,
                match=r"x must be positive \(the condition is false in 1 element",
            ):
                session.run([y, step], {x: [1, -2]})
            assert session.value(w) == 2
    with pytest.raises(mg.AssertionFailed, match=r"\(the condition is false in 1 element"):
        mg.Assert(mg.tensor([True, False, True]))


def test_control_dependencies_order_what_no_data_orders() -> None:
    with mg.Graph() as graph:
        w = mg.Variable(1.0, name="w")
        update = mg.assign(w, w * 10)
        with mg.control_dependencies([update]):
            after = mg.read_value(w)
        assert after.controls == (update,)
        assert "^%" in graph.text()
        with mg.Session() as session:
            session.run(mg.global_variables_initializer())
            assert session.run([after, w]) == [10, 1]
            assert session.run(w) == 10
            assert session.run(mg.read_value(w)) == 10


def test_control_dependencies_survive_replacing_and_freezing() -> None:
    x, z = mg.placeholder("x", ()), mg.placeholder("z", ())
    with mg.control_dependencies([mg.Print(x, "x")]):
        y = z * 2
    graph = mg.build_graph([x, z], y)
    assert "Print" in graph.text()
    copy = graph.replace({}).verify()
    assert copy.counted() == graph.counted()
    assert [n.op.name for n in copy.outputs[0].controls] == ["Print"]


def test_the_counter_counts_the_runs_of_a_session() -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x", ())
        count = graph.run_counter()
        y = mg.cond(x > 0, lambda: count, lambda: -count)
        assert graph.run_counter() is count
        with mg.Session() as session:
            assert [int(session.run(y, {x: 1})) for _ in range(3)] == [0, 1, 2]
            with pytest.raises(mg.NotFedError):
                session.run(y)
            assert int(session.run(y, {x: -1})) == -3
        assert int(mg.run(mg.build_graph(x, y), {x: 1})) == 0


# ---- Recurrent networks -------------------------------------------------------------------------


def cell(x: Any, h: Any) -> Any:
    return mg.tanh(x @ WX + h @ WH)


WX = mg.tensor(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32), True, name="wx")
WH = mg.tensor(np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32), True, name="wh")


@pytest.mark.parametrize("lengths", [None, [3, 1], [2, 3]])
def test_one_graph_runs_all_lengths_as_the_eager_loop_does(lengths: list[int] | None) -> None:
    with mg.Graph() as graph:
        xs = mg.placeholder("xs", (None, None, 3))
        start = mg.placeholder("h", (None, 4))
        length = mg.placeholder("length", (None,), mg.int64)
        outputs, last = mg.dynamic_rnn(cell, xs, length if lengths else None, start)
        assert outputs.shape == (None, None, 4)
        dw = mg.gradients((outputs * outputs).sum() + last.sum(), WX)[0]
        with mg.Session(graph) as session:
            session.run(mg.global_variables_initializer())
            for time in (3, 7, 12):
                data = np.random.default_rng(time).standard_normal((2, time, 3)).astype(np.float32)
                h = np.zeros((2, 4), np.float32)
                feeds = {xs: data, start: h} | ({length: lengths} if lengths else {})
                a = session.run([outputs, last, dw], feeds)
                b = mg.dynamic_rnn(
                    cell, mg.tensor(data), mg.tensor(lengths) if lengths else None, mg.tensor(h)
                )
                (expected,) = mg.grad((b[0] * b[0]).sum() + b[1].sum(), [WX])
                assert a[0].tobytes() == np.ascontiguousarray(b[0].data).tobytes()
                assert a[1].tobytes() == b[1].data.tobytes()
                np.testing.assert_allclose(a[2], expected.data, rtol=2e-5, atol=1e-5)
                if lengths:
                    assert not a[0][1, lengths[1] :].any(), "nothing after the end of a row"
                    np.testing.assert_array_equal(a[1][1], a[0][1, lengths[1] - 1])


# ---- Mistakes -----------------------------------------------------------------------------------


def vector() -> mg.Node:
    return mg.placeholder("x", (3,))


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], list[str]]] = {
    "a condition of many values": (
        lambda: mg.cond(vector() > 0, lambda: 1.0, lambda: 2.0),
        mg.ShapeError,
        ["cond", "(3,)", ".sum()"],
    ),
    "other arrangements": (
        lambda: mg.cond(vector().sum() > 0, lambda: (np.ones(3), 1), lambda: np.ones(3)),
        mg.ControlFlowError,
        ["cond", "2:", "1:", "same number"],
    ),
    "other types": (
        lambda: mg.cond(vector().sum() > 0, lambda: np.float32(1), lambda: np.int64(1)),
        mg.ControlFlowError,
        ["cond", "result 0", "float32", "int64", ".astype"],
    ),
    "a state that changes its shape": (
        lambda: mg.while_loop(lambda v: v.sum() < 9, lambda v: v.sum(), vector()),
        mg.ShapeError,
        ["while_loop", "value 0", "(3,)", "()"],
    ),
    "a state that changes its type": (
        lambda: mg.while_loop(lambda v: v.sum() < 9, lambda v: v > 0, vector()),
        mg.ControlFlowError,
        ["while_loop", "float32", "bool", ".astype"],
    ),
    "a state that loses a value": (
        lambda: mg.while_loop(lambda i, v: i < 3, lambda i, v: i + 1, (0, vector())),
        mg.ControlFlowError,
        ["while_loop", "as many values"],
    ),
    "two conditions": (
        lambda: mg.while_loop(lambda v: (v, v), lambda v: v, vector()),
        mg.ControlFlowError,
        ["while_loop", "single bool"],
    ),
    "a step without a pair": (
        lambda: mg.scan(lambda s, x: s + x, 0.0, vector()),
        mg.ControlFlowError,
        ["scan", "(carry, y)"],
    ),
    "sequences of two lengths": (
        lambda: mg.scan(lambda s, x: (s, None), 0.0, (vector(), mg.placeholder("y", (4,)))),
        mg.ShapeError,
        ["scan", "[3, 4]"],
    ),
    "a variable in a branch": (
        lambda: mg.cond(vector().sum() > 0, lambda: mg.Variable(1.0), lambda: 2.0),
        mg.GraphError,
        ["Variable", "build it outside"],
    ),
    "a placeholder in a branch": (
        lambda: mg.cond(vector().sum() > 0, lambda: mg.placeholder("p", ()), lambda: 2.0),
        mg.GraphError,
        ["Placeholder", "outside"],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name: str) -> None:
    mistake, kind, words = MISTAKES[name]
    with mg.Graph() as graph:
        with pytest.raises(kind) as found:
            mistake()
        assert mg.get_default_graph() is graph
    english, chinese = found.value.pair  # type: ignore[attr-defined]
    for word in words:
        assert word in english
    for text in (english, chinese):
        assert "test_control.py, line" in text
    assert "解决办法" in chinese


def test_lengths_that_differ_show_when_run() -> None:
    a, b = mg.placeholder("a", (None,)), mg.placeholder("b", (None,))
    y = mg.scan(lambda s, x: (s + x[0] * x[1], None), 0.0, (a, b))[0]
    with pytest.raises(mg.ShapeError, match=r"\[2, 3\]") as found:
        mg.run(mg.build_graph([a, b], y), {a: [1, 2], b: [1, 2, 3]})
    assert "defined at test_control.py" in str(found.value)
    assert "used at test_control.py" in str(found.value)


def test_a_value_of_a_branch_does_not_leak() -> None:
    with mg.Graph():
        x = vector()
        leaked = []
        mg.cond(x.sum() > 0, lambda: leaked.append(x * 2) or x, lambda: x)
        with pytest.raises(mg.GraphError):
            leaked[0] + x


# ---- What bodies call their inputs --------------------------------------------------------------


class Cell(NamedTuple):
    h: Any
    c: Any


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (lambda x: mg.cond(x > 0, lambda v: v, lambda w: -w, x), [["w"], ["v"]]),
        (lambda x: mg.while_loop(lambda s: s[0] < 3, lambda i, s: (i + 1, s), (0, x)),
         [["i", "s"], ["s[0]", "s[1]"]]),
        (lambda x: mg.while_loop(lambda *s: s[1] < 3, lambda _, s: (_, s + 1), (0, x)),
         [["arg0", "s"], ["arg0", "arg1"]]),
        (lambda x: mg.scan(lambda state, row: (state, row["a"]), Cell(x, [x]), {"a": mg.ones(2)}),
         [["state.h", "state.c[0]", "row['a']"]]),
    ],
)  # fmt: skip
def test_bodies_call_their_inputs_as_the_functions_do(
    build: Callable[[Any], Any], names: list[list[str]]
) -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x", ())
        build(x)
    (node,) = (n for n in graph.nodes if n.op.name in ("Cond", "While", "Scan"))
    bodies = [node.attrs[k] for k in ("orelse", "then", "body", "test") if k in node.attrs]
    given = [[n.name for n in body.inputs[: len(names[0])]] for body in bodies]
    assert given == names


def test_loops_of_a_script_call_their_inputs_as_its_variables_are_called() -> None:
    @mg.script
    def halve(x: Any) -> Any:
        steps = 0
        while x > 1:
            x, steps = x / 2, steps + 1
        return x, steps

    graph = mg.make_graph(halve)(mg.tensor(8.0))
    (loop,) = (n for n in graph.nodes if n.op.name == "While")
    assert sorted(n.name for n in loop.attrs["body"].inputs) == ["steps", "x"]


def test_what_is_printed_deep_inside_is_printed_once_and_always(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def deep(x: Any) -> Any:
        inner = lambda: mg.cond(x > 1, lambda: mg.Print(x * x, "deep"), lambda: x)  # noqa: E731
        return mg.cond(x > 0, inner, lambda: x)

    def unread(x: Any) -> Any:
        deep(x)
        return x + 1

    assert mg.function(unread)(mg.tensor(3.0)).item() == 4
    assert capsys.readouterr().out == "deep 9.0\n"
    x = mg.placeholder("x", ())
    y = deep(x)
    graph = mg.build_graph(x, [y, mg.gradients(y, x)[0]])
    assert mg.run(graph, {x: 3.0}) == [9, 6]
    assert capsys.readouterr().out == "deep 9.0\n"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_scan_over_nothing_keeps_the_shape_of_a_step(compiled: bool, reverse: bool) -> None:
    """Lengths that are open while the graph is built are known when it runs."""

    def step(carry: Any, row: Any) -> Any:
        return carry + mg.sum(row), (row * 2, mg.concatenate([row, row]))

    nothing = np.zeros((0, 7), np.float32)
    _, (eager, wide) = mg.scan(step, 0.0, mg.tensor(nothing), reverse=reverse)
    x = mg.placeholder(None, (None, None))
    last, ys = mg.scan(step, 0.0, x, reverse=reverse)
    graph = mg.build_graph(x, [last, *ys, mg.gradients(last + mg.sum(ys[0]), [x])[0]])
    run = graph.compile() if compiled else lambda feeds: mg.run(graph, feeds)
    found = run({x: nothing})
    assert [a.shape for a in found] == [(), eager.shape, wide.shape, (0, 7)]
    assert [a.shape for a in found] == [(), (0, 7), (0, 14), (0, 7)]
    assert [a.shape for a in run({x: np.ones((2, 3))})] == [(), (2, 3), (2, 6), (2, 3)]


# What a step returns that has a branch or a loop of its own, and its shape for a row of (2, 3).
WITHIN: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "scan": (lambda row: mg.scan(lambda s, z: (s, z * 2), 0.0, mg.transpose(row))[1], (3, 2)),
    "branch": (lambda row: mg.cond(mg.sum(row) > 0, lambda: row, lambda: row[::-1] * 2), (2, 3)),
    "branches of two shapes": (
        lambda row: mg.cond(mg.sum(row) > 0, lambda: row, lambda: row[:1]),
        (0, 3),
    ),
    "loop": (lambda row: mg.while_loop(lambda a: mg.sum(a) > 9, lambda a: a / 2, row), (2, 3)),
    "loop in a branch": (
        lambda row: mg.cond(mg.sum(row) > 0, lambda: WITHIN["scan"][0](row), lambda: row.T),
        (3, 2),
    ),
}


@pytest.mark.parametrize("name", WITHIN)
def test_a_scan_over_nothing_knows_the_shapes_within_its_branches_and_loops(name: str) -> None:
    def step(carry: Any, row: Any) -> Any:
        return carry, within(row)

    within, shape = WITHIN[name]
    nothing = np.zeros((0, 2, 3), np.float32)
    eager = mg.scan(step, 0.0, mg.tensor(nothing))[1]
    x = mg.placeholder(None, (None, None, None))
    graph = mg.build_graph(x, mg.scan(step, 0.0, x)[1])
    found = [eager, mg.run(graph, {x: nothing}), graph.compile()({x: nothing})]
    assert [y.shape for y in found] == [(0, *shape)] * 3


def test_a_constant_whose_gradient_a_branch_or_loop_would_lose_is_refused() -> None:
    """They hold copies of constants; of a placeholder and a variable they get all."""
    for looks_around in (
        lambda x: mg.cond(mg.constant(True), lambda: x * x, lambda: x),
        lambda x: mg.while_loop(lambda p: p < 9.0, lambda p: p * x, x),
        lambda x: mg.scan(lambda c, t: (c * x, c), x, mg.zeros(3))[0],
    ):
        with mg.Graph():
            x, v = mg.constant(2.0, name="x"), mg.Variable(2.0)
            with pytest.raises(mg.GradientError, match="constant x is used inside"):
                mg.gradients(looks_around(x), x)
            [slope] = mg.gradients(looks_around(v), v)
            with mg.Session() as session:
                session.run(mg.global_variables_initializer())
                assert session.run(slope) > 1
