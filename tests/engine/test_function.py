"""`mg.function`: one trace for each signature, guards, gradients, nesting, errors, threads."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import events, in_body
from minigrad.core.structure import flatten
from minigrad.diagnostics import messages

FEW = np.float32([1, 2, 3])
MORE = np.float32([1, 2, 3, 4])


@pytest.fixture(autouse=True)
def nothing_stays_behind() -> Iterator[None]:
    """Whatever happens in a test, no trace is left open and nothing was added to the graph."""
    with mg.Graph() as graph:
        yield
        assert mg.get_default_graph() is graph
        assert not in_body()
    assert events.listeners == []


def same(actual: Any, expected: Any) -> None:
    """Bit for bit."""
    actual, expected = (np.asarray(getattr(x, "data", x)) for x in (actual, expected))
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert actual.tobytes() == expected.tobytes()


# ---- One trace for each signature ---------------------------------------------------------------


def test_shapes_make_traces_and_values_do_not() -> None:
    f = mg.function(lambda x: x * 2)
    counts = []
    for x in (FEW, FEW + 1, MORE):
        same(f(mg.tensor(x)), x * 2)
        counts.append(f.traces)
    assert counts == [1, 1, 2]


def test_python_numbers_make_a_trace_each_and_tensors_do_not() -> None:
    f = mg.function(lambda x, n: x * n)
    for n in (1, 2, 3, 2):
        same(f(mg.tensor(FEW), n), FEW * n)
    assert f.traces == 3
    for n in (1, 2, 3):
        f(mg.tensor(FEW), mg.tensor(n))
    assert f.traces == 4


@pytest.mark.parametrize(
    "values",
    [
        pytest.param((1, True, 1.0), id="1 of three types"),
        pytest.param((0.0, -0.0), id="zeros"),
        pytest.param(("a", "b", b"a", None), id="strings and None"),
        pytest.param(((1, 2), [1, 2], (1, 2.0)), id="tuples and lists"),
        pytest.param(({"a": 1}, {"b": 1}, {"a": 2}), id="dicts"),
        pytest.param((np.float32(1), np.float64(1), 1.0), id="NumPy numbers"),
        pytest.param((slice(1, 2), slice(1, 3), range(3), ...), id="slices and ranges"),
        pytest.param((1j, 2j, complex("nan")), id="complex numbers"),
    ],
)
def test_what_differs_has_a_trace_of_its_own(values: Any) -> None:
    seen = []

    @mg.function
    def f(x: Any, value: Any) -> Any:
        seen.append(value)
        return x

    for value in (*values, *values):
        f(mg.tensor(FEW), value)
    assert f.traces == len(seen) == len(values)
    assert [repr(x) for x in seen] == [repr(x) for x in values]


def test_not_a_number_is_equal_to_itself() -> None:
    f = mg.function(lambda x, n: x * n)
    f(mg.tensor(1.0), float("nan"))
    f(mg.tensor(1.0), float("nan"))
    assert f.traces == 1


def test_types_ranks_and_arrays() -> None:
    f = mg.function(lambda x: x + x)
    f(mg.tensor(FEW))
    assert f(FEW).traces if False else f(FEW).dtype == np.float32
    assert f.traces == 1, "an array counts as the tensor would"
    f(FEW.astype(np.float64))
    f(FEW.reshape(1, 3))
    f(mg.tensor(1.0))
    f(mg.tensor(True))
    assert f.traces == 5


def test_however_the_arguments_are_written_it_is_one_call() -> None:
    @mg.function
    def f(x: Any, n: int = 2, *, scale: float = 1.0) -> Any:
        return x * n * scale

    x = mg.tensor(FEW)
    for result in (f(x), f(x, 2), f(x, n=2), f(n=2, x=x), f(x, scale=1.0), f(scale=1.0, n=2, x=x)):
        same(result, FEW * 2)
    assert f.traces == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        f(x, m=2)


def test_any_number_of_arguments() -> None:
    @mg.function
    def f(*xs: Any, **named: Any) -> Any:
        return sum(xs, start=named["a"]) * named["b"]

    a, b = mg.tensor(FEW), mg.tensor(2.0)
    same(f(a, a, a=a, b=b), FEW * 6)
    same(f(a, a, b=b, a=a), FEW * 6)
    assert f.traces == 1
    f(a, a=a, b=b)
    assert f.traces == 2
    assert f.cache[0].signature == (
        "xs[0]: float32[3], xs[1]: float32[3], named['a']: float32[3], named['b']: float32[]"
    )


Pair = namedtuple("Pair", "a b")


def test_structures_go_in_and_come_out() -> None:
    @mg.function
    def f(pairs: Any, batch: Any) -> Any:
        (a, b), c = pairs
        return Pair(a + b, [batch["x"] * c, None, "text", (), 7]), {"x": a}

    a, b, c, x = (mg.tensor(float(i)) for i in (1, 2, 3, 4))
    pair, rest = f([(a, b), c], {"x": x})
    assert isinstance(pair, Pair)
    assert pair.a.item() == 3
    assert pair.b[0].item() == 12
    assert pair.b[1:] == [None, "text", (), 7]
    assert list(rest) == ["x"]
    assert rest["x"].item() == 1
    f([(a, b), c], {"x": x})
    assert f.traces == 1
    f(((a, b), c), {"x": x})
    assert f.traces == 2, "a tuple is no list"


def test_one_result_returned_twice_is_one_tensor() -> None:
    @mg.function
    def f(x: Any) -> Any:
        y = x * 2
        return y, y, x

    one, two, three = f(x := mg.tensor(FEW))
    assert one is two
    assert three is not x, "what comes back belongs to the caller"
    three.copy_(FEW * 0)
    same(x, FEW)


def test_objects_count_by_identity_and_are_not_kept_alive() -> None:
    class Settings:
        def __init__(self, rate: float) -> None:
            self.rate = rate

    f = mg.function(lambda x, settings: x * settings.rate)
    one, other = Settings(2.0), Settings(2.0)
    f(mg.tensor(1.0), one)
    f(mg.tensor(1.0), one)
    f(mg.tensor(1.0), other)
    assert f.traces == len(f.cache) == 2
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None
    f(mg.tensor(FEW), other)
    assert f.traces == 3
    assert len(f.cache) == 2, "a trace for an object that is no more can serve nobody"


# ---- Side effects -------------------------------------------------------------------------------


def test_python_prints_once_for_each_trace_and_the_graph_at_each_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = []

    @mg.function
    def f(x: Any) -> Any:
        print("tracing")
        seen.append(x.shape)
        mg.Print(x, "x is")
        return x + 1

    for value in (1.0, 2.0):
        f(mg.tensor(value))
    assert capsys.readouterr().out == "tracing\nx is 1.0\nx is 2.0\n"
    f(mg.tensor([3.0]))
    assert capsys.readouterr().out == "tracing\nx is [3.]\n"
    assert seen == [(), (1,)]


def test_a_print_with_gradients_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    @mg.function
    def f(x: Any) -> Any:
        return mg.Print(x * x, "square") * x

    x = mg.tensor(3.0, requires_grad=True)
    (dx,) = mg.grad(f(x), [x], create_graph=True)
    (ddx,) = mg.grad(dx, [x])
    assert (dx.item(), ddx.item()) == (27, 18)
    assert capsys.readouterr().out == "square 9.0\n"


def test_a_print_of_a_captured_tensor_waits_for_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    w = mg.tensor(1.0)

    @mg.function
    def f(x: Any) -> Any:
        return x + mg.Print(w, "w is")

    f(mg.tensor(0.0))
    w.copy_(5.0)
    f(mg.tensor(0.0))
    assert capsys.readouterr().out == "w is 1.0\nw is 5.0\n"


def test_an_assertion_nobody_reads_stops_the_call() -> None:
    @mg.function
    def f(x: Any) -> Any:
        mg.Assert(x > 0, "x must be positive")
        return x

    f(mg.tensor(1.0))
    with pytest.raises(mg.AssertionFailed, match="x must be positive"):
        f(mg.tensor(-1.0))


def test_a_counter_that_the_function_changes_is_a_side_effect() -> None:
    count = 0

    @mg.function
    def f(x: Any) -> Any:
        nonlocal count
        count += 1
        return x * 2

    f(mg.tensor(1.0))
    f(mg.tensor(2.0))
    assert count == f.traces == 1


# ---- Guards -------------------------------------------------------------------------------------

scale: Any = 2
weights: Any = None


def helper(x: Any) -> Any:
    return x * scale


def test_a_global_that_changes_makes_a_new_trace() -> None:
    global scale
    scale = 2
    f = mg.function(lambda x: x * scale)
    same(f(mg.tensor(FEW)), FEW * 2)
    scale = 3
    same(f(mg.tensor(FEW)), FEW * 3)
    same(f(mg.tensor(FEW)), FEW * 3)
    assert f.traces == 2
    assert f.cache[1].reason == "global scale changed: 2 → 3"
    scale = 2
    same(f(mg.tensor(FEW)), FEW * 2)
    assert f.traces == 2, "the first trace serves again"


def test_guards_reach_into_functions_that_are_called() -> None:
    global scale
    scale = 2
    f = mg.function(lambda x: helper(x) + 1)
    same(f(mg.tensor(FEW)), FEW * 2 + 1)
    scale = 3
    same(f(mg.tensor(FEW)), FEW * 3 + 1)
    assert f.traces == 2


def test_guards_reach_into_traced_functions_that_are_called() -> None:
    global scale
    scale = 2
    inner = mg.function(lambda x: helper(x))
    f = mg.function(lambda x: inner(x) + 1)
    same(f(mg.tensor(FEW)), FEW * 2 + 1)
    scale = 3
    same(f(mg.tensor(FEW)), FEW * 3 + 1)
    assert (f.traces, inner.traces) == (2, 2)


def test_a_function_that_is_replaced_makes_a_new_trace() -> None:
    def rule(x: Any) -> Any:
        return x + 1

    f = mg.function(lambda x: rule(x))
    same(f(mg.tensor(FEW)), FEW + 1)

    def rule(x: Any) -> Any:  # type: ignore[no-redef]  # noqa: F811 - a cell that is run again
        return x - 1

    same(f(mg.tensor(FEW)), FEW - 1)
    assert f.traces == 2
    assert "closure variable rule" in f.cache[1].reason


def test_a_closure_variable_that_changes_makes_a_new_trace() -> None:
    k: Any = 2
    f = mg.function(lambda x: x * k)
    f(mg.tensor(FEW))
    k = (2, 3)[0]
    f(mg.tensor(FEW))
    assert f.traces == 1, "2 is 2"
    k = 2.5
    same(f(mg.tensor(FEW)), FEW * 2.5)
    assert f.traces == 2
    assert f.cache[1].reason == "closure variable k changed: 2 → 2.5"


class Counter:
    """A class with a traced method, which reads values and tensors of its object."""

    start = 1.0

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.total = mg.tensor(0.0)

    @mg.function
    def step(self, x: Any) -> Any:
        return self.shifted(x) * self.rate + self.total

    def shifted(self, x: Any) -> Any:
        return x + self.start


def test_methods_know_their_object_and_guard_its_values() -> None:
    step: Any = Counter.step
    before = step.traces
    one, other = Counter(2.0), Counter(3.0)
    assert one.step(mg.tensor(1.0)).item() == 4
    assert other.step(mg.tensor(1.0)).item() == 6
    assert one.step(mg.tensor(1.0)).item() == 4
    assert step.traces - before == 2
    one.total.copy_(10.0)
    assert one.step(mg.tensor(1.0)).item() == 14
    one.total = mg.tensor(20.0)
    assert one.step(mg.tensor(1.0)).item() == 24
    assert step.traces - before == 2, "a tensor's value is taken at each call"
    one.rate = 5.0
    assert one.step(mg.tensor(1.0)).item() == 30
    assert step.traces - before == 3
    assert step.cache[-1].reason == "attribute self.rate changed: 2.0 → 5.0"
    one.start = 0.0
    assert one.step(mg.tensor(1.0)).item() == 25


def test_a_method_of_an_object_can_be_traced() -> None:
    counter = Counter(2.0)
    f = mg.function(counter.shifted)
    assert f(mg.tensor(1.0)).item() == 2
    counter.start = 3.0
    assert f(mg.tensor(1.0)).item() == 4
    assert f.__name__ == "shifted"


def test_captured_tensors_and_arrays_are_used_by_reference() -> None:
    w, table = mg.tensor(FEW), np.float32([1, 1, 1])
    f = mg.function(lambda x: x * w + table)
    same(f(mg.tensor(1.0)), FEW + 1)
    w.copy_(FEW * 10)
    table[:] = 5
    same(f(mg.tensor(1.0)), FEW * 10 + 5)
    w, table = mg.tensor(FEW * 3), np.float32([0, 0, 0])
    same(f(mg.tensor(1.0)), FEW * 3)
    assert f.traces == 1
    w = mg.tensor(MORE)
    table = np.float32([1])
    same(f(mg.tensor(1.0)), MORE + 1)
    assert f.traces == 2
    assert "closure variable w: shape (3,) → (4,)" in f.cache[1].reason


def test_what_is_computed_from_captured_tensors_is_computed_at_each_call() -> None:
    w = mg.tensor(FEW, requires_grad=True)
    f = mg.function(lambda x: x * (w * 2).exp().sum())
    same(f(mg.tensor(1.0)), np.exp(FEW * 2).sum())
    with mg.no_grad():
        w.copy_(FEW / 2)
    same(f(mg.tensor(1.0)), np.exp(FEW).sum())


def test_two_names_of_one_tensor_may_part() -> None:
    a = b = mg.tensor(2.0)
    f = mg.function(lambda x: x * a + b)
    assert f(mg.tensor(1.0)).item() == 4
    b = mg.tensor(5.0)
    assert f(mg.tensor(1.0)).item() == 7


def test_a_captured_tensor_in_a_list_is_seen_and_its_shape_guarded() -> None:
    layers = [mg.tensor(FEW), mg.tensor(2.0)]
    f = mg.function(lambda x: x * layers[0] * layers[1])
    f(mg.tensor(1.0))
    layers[1].copy_(3.0)
    same(f(mg.tensor(1.0)), FEW * 3)
    layers[0].data = MORE
    same(f(mg.tensor(1.0)), MORE * 3)
    assert f.traces == 2


def test_what_lists_and_dicts_hold_is_guarded_by_value() -> None:
    settings: dict[str, Any] = {"scale": 2.0, "more": [1, (2, 3)]}
    names = {"a"}
    f = mg.function(lambda x: x * settings["scale"] + settings["more"][1][0] + len(names))
    same(f(mg.tensor(1.0)), np.float32(5.0))
    same(f(mg.tensor(1.0)), np.float32(5.0))
    assert f.traces == 1
    settings["scale"] = 10.0
    same(f(mg.tensor(1.0)), np.float32(13.0))
    assert "{'scale': 2.0" in f.cache[-1].reason
    assert "{'scale': 10.0" in f.cache[-1].reason
    settings["more"][1] = (5, 3)
    same(f(mg.tensor(1.0)), np.float32(16.0))
    names.add("b")
    same(f(mg.tensor(1.0)), np.float32(17.0))
    names.remove("b")
    same(f(mg.tensor(1.0)), np.float32(16.0))
    assert f.traces == 4, "an earlier trace serves again"


def test_another_tensor_in_a_list_is_another_one() -> None:
    weights = [mg.tensor(2.0)]
    f = mg.function(lambda x: x * weights[0])
    same(f(mg.tensor(3.0)), np.float32(6.0))
    weights[0] = mg.tensor(5.0)
    same(f(mg.tensor(3.0)), np.float32(15.0))


def test_a_list_that_the_function_itself_changes_makes_no_new_traces() -> None:
    seen: list[Any] = []

    @mg.function
    def f(x: Any) -> Any:
        seen.append(x.shape)
        return x * 2

    for value in (1.0, 2.0, FEW, 3.0, FEW):
        same(f(mg.tensor(value)), np.multiply(np.float32(value), np.float32(2)))
    assert (f.traces, len(seen)) == (2, 2)


def test_a_list_too_long_to_compare_counts_by_identity() -> None:
    numbers = [1.0] * 1000
    endless: list[Any] = [2.0]
    endless.append(endless)
    f = mg.function(lambda x: x * numbers[0] * endless[0])
    same(f(mg.tensor(3.0)), np.float32(6.0))
    numbers[0] = 9.0
    same(f(mg.tensor(3.0)), np.float32(6.0))
    assert f.traces == 1


def test_a_model_that_stops_training_makes_a_new_trace() -> None:
    model = mg.nn.Sequential(mg.nn.Linear(3, 3, seed=0), mg.nn.Dropout(0.5, seed=0))
    f = mg.function(lambda x: model(x))
    x = mg.tensor(np.ones((2, 3), np.float32))
    dropped = f(x)
    model.eval()
    same(f(x), model(x))
    assert not np.array_equal(dropped.data, model(x).data)
    assert (
        f.cache[1].reason
        == "training mode of model changed: (True, True, True) → (False, False, False)"
    )


def test_a_layer_of_the_user_is_looked_into() -> None:
    class Scaled(mg.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = 2.0

        def forward(self, x: Any) -> Any:
            return x * self.factor

    model = mg.nn.Sequential(Scaled(), mg.nn.ReLU())
    f = mg.function(model)
    same(f(mg.tensor(FEW)), FEW * 2)
    model[0].factor = 3.0  # type: ignore[attr-defined]
    same(f(mg.tensor(FEW)), FEW * 3)
    assert f.traces == 2


# ---- Explaining ---------------------------------------------------------------------------------


def test_explain_says_which_argument_forced_each_trace() -> None:
    global scale
    scale = 2

    @mg.function
    def f(x: Any, n: int) -> Any:
        return x * n * scale

    f(mg.tensor(FEW), 2)
    f(mg.tensor(FEW), 2)
    f(mg.tensor(MORE), 2)
    f(mg.tensor(MORE), 3)
    f(mg.tensor([1, 2, 3]), 2)
    scale = 5
    f(mg.tensor(MORE), 3)
    assert [t.calls for t in f.cache] == [2, 1, 1, 1, 1]
    text = f.explain()
    assert text == (
        "f: traces: 5, calls: 6\n"
        "  trace 1, made for call 1: first call\n"
        "    signature: x: float32[3], n: 2; calls served: 2\n"
        "  trace 2, made for call 3: argument x: shape (3,) → (4,)\n"
        "    signature: x: float32[4], n: 2; calls served: 1\n"
        "  trace 3, made for call 4: argument n: Python value 2 → 3 "
        "(as a tensor it would need no trace of its own)\n"
        "    signature: x: float32[4], n: 3; calls served: 1\n"
        "  trace 4, made for call 5: argument x: data type float32 → int64\n"
        "    signature: x: int64[3], n: 2; calls served: 1\n"
        "  trace 5, made for call 6: global scale changed: 2 → 5\n"
        "    signature: x: float32[4], n: 3; calls served: 1"
    )
    messages.set_language("zh")
    try:
        assert "为第 3 次调用而做：参数 x：形状 (3,) → (4,)" in f.explain()
        assert f.cache[4].reason == "全局变量 scale 改变：2 → 5"
    finally:
        messages.set_language("en")


def test_reasons_for_structures_and_objects() -> None:
    f = mg.function(lambda x, other: x)
    x, settings = mg.tensor(FEW), object()
    f(x, settings)
    f(x, object())
    f(x, {"a": x})
    f(x, {"a": x, "b": 1})
    assert [t.reason for t in f.cache] == [
        "first call",
        "argument other: another object, a object",
        "argument other is not there any more, argument other['a'] is new: float32[3]",
        "argument other['b'] is new: 1",
    ]


def test_the_channel_tells_of_traces_and_hits() -> None:
    f = mg.function(lambda x: x * x + 1)
    with mg.record() as log:
        for value in (1.0, 2.0):
            f(mg.tensor(value))
    assert log.counts.traces == 1
    assert [e.node for e in log.of_kind("traced", "hit")] == [f.cache[0], f.cache[0]]
    assert log.counts.by_op == {"Mul": 2, "Add": 2}, "the kernels of the program, and only they"
    assert log.of_kind("traced")[0].node.reason == "first call"


# ---- Declared signatures ------------------------------------------------------------------------


def test_a_declared_signature_makes_one_trace_for_all_lengths() -> None:
    @mg.function(input_signature=[mg.TensorSpec((None, 2)), mg.TensorSpec((2,), name="bias")])
    def f(x: Any, b: Any) -> Any:
        return (x + b).sum()

    b = mg.tensor([1.0, 1.0], requires_grad=True)
    for n in (1, 3, 50):
        x = np.ones((n, 2), np.float32)
        same(f(x, b), np.float32(4 * n))
        same(f(x.astype(np.float64), [1, 1]), np.float32(4 * n))
        (db,) = mg.grad(f(x, b), [b])
        same(db, np.float32([n, n]))
    assert f.traces == 1
    assert f.graph.inputs[1].name == "bias"
    assert f.cache[0].signature == "x: float32[None, 2], b: float32[2]"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (
            np.ones((2, 3), np.float32),
            r"argument x: .*TensorSpec\(\(None, 2\), float32\).*\(2, 3\)",
        ),
        (np.ones(2, np.float32), r"shape \(2,\)"),
        (mg.tensor(np.ones((1, 2))), "the value is float64"),
        ([1.0, 2.0], r"shape \(2,\)"),
    ],
)
def test_what_does_not_fit_the_signature_is_refused(value: Any, says: str) -> None:
    f = mg.function(lambda x: x, input_signature=[mg.TensorSpec((None, 2))])
    with pytest.raises(mg.FeedError, match=says):
        f(value)
    assert f.traces == 0


def test_a_signature_may_be_nested_and_leave_arguments_free() -> None:
    spec = {"a": mg.TensorSpec((None,)), "b": [mg.TensorSpec((), mg.int64)]}
    f = mg.function(lambda batch, n=1: batch["a"] * n + batch["b"][0], input_signature=[spec])
    for n in (1, 1, 2):
        f({"a": mg.tensor(FEW), "b": [1]}, n)
    f({"a": mg.tensor(MORE), "b": [1]})
    assert f.traces == 2
    with pytest.raises(mg.FeedError, match=r"argument batch\['b'\]"):
        f({"a": mg.tensor(FEW), "b": [1, 2]})
    with pytest.raises(mg.FeedError, match=r"int64.* float32"):
        f({"a": mg.tensor(FEW), "b": [1.5]})


def test_spec_of_a_tensor() -> None:
    spec = mg.TensorSpec((None, 3), mg.float64, "x")
    assert (spec.shape, spec.dtype, spec.name) == ((None, 3), np.float64, "x")
    assert repr(mg.TensorSpec()) == "TensorSpec(None, float32)"
    with pytest.raises(mg.ShapeError):
        mg.TensorSpec((-1,))


# ---- Gradients ----------------------------------------------------------------------------------

W = mg.tensor(np.random.default_rng(0).standard_normal((4, 5), np.float32), True, name="W")


def network(x: Any, b: Any) -> Any:
    h = mg.tanh(x @ (W * 2) + b)
    return mg.log_softmax(h * mg.sigmoid(h), axis=-1).mean(axis=0) / 3 + mg.exp(-h).sum()


def several(x: Any, b: Any) -> Any:
    return (x @ W).sum(), {"b": b * b, "n": mg.argmax(x, axis=1)}


def looping(x: Any, b: Any) -> Any:
    h, _ = mg.while_loop(lambda h, i: i < 3, lambda h, i: (mg.tanh(h @ W + b) @ W.T, i + 1), (x, 0))
    last, ys = mg.scan(lambda c, row: (c * 0.5 + row, c * row), h[0], h)
    return mg.cond(last.sum() > 0, lambda: (ys * b.sum()).sum(), lambda: (ys - last).sum())


def made(requires_grad: bool = True) -> list[mg.Tensor]:
    random = np.random.default_rng(1)
    shapes = ((3, 4), (5,))
    return [mg.tensor(random.standard_normal(s, np.float32), requires_grad) for s in shapes]


@pytest.mark.parametrize("f", [network, several, looping])
def test_gradients_are_those_of_plain_eager(f: Callable[..., Any]) -> None:
    found = []
    for run in (f, mg.function(f)):
        x, b = made()
        W.zero_grad()
        y = run(x, b)
        total = y[0] + y[1]["b"].sum() if isinstance(y, tuple) else y.sum()
        total.backward()
        found.append([total, x.grad, b.grad, W.grad])
    for plain, traced in zip(*found, strict=True):
        if f is looping:  # the gradient of a loop adds up in another order
            np.testing.assert_allclose(traced.data, plain.data, rtol=1e-4, atol=1e-5)
        else:
            same(traced, plain)


@pytest.mark.parametrize("f", [network, several, looping])
def test_gradients_of_higher_order(f: Callable[..., Any]) -> None:
    found = []
    for run in (f, mg.function(f)):
        x, b = made()
        y = run(x, b)
        y = y[0] * x.sum() + y[1]["b"].sum() if isinstance(y, tuple) else y.sum()
        first = mg.grad(y, [x, b, W], create_graph=True)
        total = sum(((g * g).sum() for g in first), start=mg.tensor(0.0))
        second = mg.grad(total, [x, b, W], create_graph=True)
        third = mg.grad((second[0] * second[0]).sum(), [x, W], allow_unused=True)
        found.append([*first, *second, *third])
    for plain, traced in zip(*found, strict=True):
        np.testing.assert_allclose(traced.data, plain.data, rtol=1e-4, atol=1e-3)


def test_central_differences() -> None:
    f = mg.function(lambda x, y: mg.tanh(x * y) / (y * y + 1) + x.sum())
    assert mg.check_grads(f, np.array([0.5, -1.0]), np.array([2.0, 0.3]), order=3) < 1e-6


def test_the_tape_holds_one_node_for_a_call_and_nothing_is_computed_twice() -> None:
    f = mg.function(lambda x, b: mg.exp(x @ W + b).sum())
    x, b = made()
    with mg.record() as log:
        y = f(x, b)
        built = log.of_kind("built")[len(f.graph.nodes) :]
        assert log.counts.by_op == {"MatMul": 1, "Add": 1, "Exp": 1, "Sum": 1}
        y.backward()
    assert [str(e.op) for e in built] == ["f" if f.__name__ == "f" else "<lambda>"]
    assert log.counts.by_op["Exp"] == 1
    assert y.creator is not None
    assert y.creator.inputs[:2] == (x, b)


def test_only_what_the_gradients_read_is_kept() -> None:
    f = mg.function(lambda x: mg.exp(x + 1) * 3 + 2)
    big = mg.tensor(np.ones(1000, np.float32), requires_grad=True)
    y = f(big)
    kept = y.creator.saved[0].arrays  # type: ignore[union-attr,index]
    assert [a.nbytes for a in kept] == [4000], "the result of exp and nothing else"
    linear = mg.function(lambda x: (x + 1) * 3)(big)
    assert linear.creator.saved[0].arrays == ()  # type: ignore[union-attr,index]
    total = mg.function(lambda x, y: (x + y).mean())(big, mg.tensor(np.ones(1000, np.float32)))
    node: Any = total.creator
    assert not any(isinstance(a, np.ndarray) for a in node.saved[0].arrays), "shapes do"
    assert node.inputs[0] is big
    assert not hasattr(node.inputs[1], "data"), "what gets no gradient is not kept"


def test_a_second_backward_says_that_the_call_was_freed() -> None:
    f = mg.function(lambda x: x * x)
    y = f(mg.tensor(3.0, requires_grad=True))
    y.backward()
    with pytest.raises(mg.GradientError, match="walked once already"):
        y.backward()
    x = mg.tensor(3.0, requires_grad=True)
    y = f(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 12


def test_hooks_of_results_arguments_and_captured_tensors() -> None:
    w, x = (mg.tensor(FEW, requires_grad=True) for _ in range(2))
    one, several = mg.function(lambda x: x * w), mg.function(lambda x: (x * w, w + 1))
    y, (u, v) = one(x), several(x)
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    u.register_hook(lambda g: g * 100)
    w.register_hook(lambda g: g + 1)
    (y.sum() + u.sum() + v.sum()).backward()
    assert y.grad is not None
    assert y.grad.tolist() == [10, 10, 10]
    same(x.grad, FEW * 110)
    same(w.grad, FEW * 110 + 2)


def test_no_gradient_where_none_is_wanted() -> None:
    f = mg.function(lambda x, y: (x * y, mg.argmax(x), y + 1, y.detach() * 2))
    x, y = mg.tensor(FEW), mg.tensor(FEW, requires_grad=True)
    assert [r.requires_grad for r in f(x, y)] == [True, False, True, False]
    assert [r.requires_grad for r in f(y, x)] == [True, False, False, False]
    with mg.no_grad():
        assert f(x, y)[0].creator is None
    assert f.traces == 1


def test_no_grad_inside_stops_the_gradient_in_the_graph() -> None:
    def f(x: Any) -> Any:
        with mg.no_grad():
            y = x * x
        return y * x + x.detach() * x

    found = []
    for run in (f, mg.function(f)):
        x = mg.tensor(3.0, requires_grad=True)
        run(x).backward()
        found.append(x.grad)
    same(found[0], np.float32(12))
    same(found[1], np.float32(12))


def test_a_value_changed_in_place_before_backward_is_noticed() -> None:
    w, b = mg.tensor(FEW, requires_grad=True), mg.tensor(FEW, requires_grad=True)
    f = mg.function(lambda x: mg.exp(x * w + b))
    x = mg.tensor(2.0, requires_grad=True)
    y = f(x).sum()
    with mg.no_grad():
        b.copy_(FEW * 0)
    y.backward(retain_graph=True)  # the gradient does not read b
    with pytest.raises(mg.GradientError, match="changed in place"):
        mg.grad(y, [w], create_graph=True)  # that of the gradient does
    with mg.no_grad():
        w.copy_(FEW * 0)
    with pytest.raises(mg.GradientError, match="changed in place"):
        y.backward()


def test_gradient_nodes_inside_a_function() -> None:
    w = mg.tensor(FEW, requires_grad=True, name="w")

    @mg.function
    def step(x: Any) -> Any:
        loss = ((x * w) ** 2).sum()
        dx, dw = mg.gradients(loss, [x, w])
        (again,) = mg.grad(loss, [w])
        return loss, dx, dw, again

    loss, dx, dw, again = step(mg.tensor(2.0))
    assert loss.item() == 56
    assert dx.item() == 56
    same(dw, FEW * 8)
    same(again, FEW * 8)


def test_a_training_step_as_a_function() -> None:
    x, y = mg.randn(20, 3, seed=1), mg.randn(20, 1, seed=2)

    def train(traced: bool) -> list[float]:
        model = mg.nn.Linear(3, 1, seed=0)
        optimizer = mg.optim.SGD(model.parameters(), lr=0.1)

        def step(x: Any, y: Any) -> Any:
            loss = ((model(x) - y) ** 2).mean()
            return loss, mg.grad(loss, model.parameters())

        run = mg.function(step) if traced else step
        losses = []
        for _ in range(5):
            loss, gradients = run(x, y)
            for p, g in zip(model.parameters(), gradients, strict=True):
                p.grad = g
            optimizer.step()
            losses.append(loss.item())
        assert not isinstance(run, mg.Tensor)
        assert not traced or run.traces == 1  # type: ignore[attr-defined]
        return losses

    assert train(True) == train(False)


def test_parameters_changed_by_an_optimiser_are_seen() -> None:
    model = mg.nn.Sequential(mg.nn.Linear(3, 8, seed=0), mg.nn.ReLU(), mg.nn.Linear(8, 1, seed=1))
    optimizer = mg.optim.Adam(model.parameters(), lr=0.05)
    x, y = mg.randn(20, 3, seed=1), mg.randn(20, 1, seed=2)
    loss_of = mg.function(lambda x, y: ((model(x) - y) ** 2).mean())
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] * 0.6
    assert loss_of.traces == 1


def test_batch_norm_renews_its_statistics_at_each_call() -> None:
    x = mg.randn(6, 3, seed=0)
    plain, traced = (mg.nn.BatchNorm1d(3) for _ in range(2))
    f = mg.function(traced)
    for _ in range(3):
        same(f(x), plain(x))
    same(traced.running_mean, plain.running_mean)
    same(traced.running_var, plain.running_var)
    twice = mg.function(lambda x: f(f(x)))
    same(twice(x), plain(plain(x)))
    same(traced.running_mean, plain.running_mean)


def test_dropout_draws_anew_at_each_call_and_as_eager_does() -> None:
    x = mg.tensor(np.ones(100, np.float32))
    plain, traced = (mg.nn.Dropout(0.5, seed=3) for _ in range(2))
    f = mg.function(traced)
    first, second = f(x), f(x)
    same(first, plain(x))
    same(second, plain(x))
    assert not np.array_equal(first.data, second.data)
    both = mg.function(lambda x: (f(x), f(x)))
    one, other = both(x)
    assert not np.array_equal(one.data, other.data), "two uses in one graph differ"


def drawn(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


LAYERS: dict[str, tuple[Callable[[], mg.nn.Module], Any]] = {
    "Linear": (lambda: mg.nn.Linear(3, 2, seed=0), drawn(4, 3)),
    "Conv2d": (lambda: mg.nn.Conv2d(2, 3, 3, padding=1, seed=0), drawn(2, 2, 5, 5)),
    "MaxPool2d": (lambda: mg.nn.MaxPool2d(2), drawn(2, 2, 4, 4)),
    "BatchNorm2d": (lambda: mg.nn.BatchNorm2d(2), drawn(3, 2, 4, 4)),
    "LayerNorm": (lambda: mg.nn.LayerNorm(4), drawn(3, 4)),
    "Dropout": (lambda: mg.nn.Dropout(0.3, seed=1), drawn(3, 4)),
    "Embedding": (lambda: mg.nn.Embedding(5, 3, seed=0), np.array([1, 2, 1])),
    "LSTM": (lambda: mg.nn.LSTM(3, 4, seed=0), drawn(5, 2, 3)),
    "GRU": (lambda: mg.nn.GRU(3, 4, seed=0), drawn(5, 2, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_the_same_bits_and_gradients(name: str) -> None:
    make, data = LAYERS[name]
    found = []
    for wrap in (lambda model: model, mg.function):
        model = make()
        x = mg.tensor(data, requires_grad=data.dtype.kind == "f")
        ys = flatten(wrap(model)(x))[0]
        sum(((y * y).sum() for y in ys[1:]), start=ys[0].sum()).backward()
        found.append([*ys, *(t.grad for t in (x, *model.parameters()) if t.requires_grad)])
    for plain, traced in zip(*found, strict=True):
        same(traced, plain)


# ---- In other graphs ----------------------------------------------------------------------------


def test_called_with_nodes_it_becomes_part_of_their_graph() -> None:
    f = mg.function(lambda x: {"y": x * W[0, 0], "n": 3})
    same(f(mg.tensor(FEW))["y"], FEW * W.data[0, 0])
    x = mg.placeholder("x", (3,))
    result = f(x)
    assert f.traces == 1, "the trace for tensors of this shape"
    assert isinstance(result["y"], mg.Node)
    assert result["n"] == 3
    graph = mg.build_graph(x, [result["y"], mg.gradients(result["y"], x)[0]])
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        y, dx = session.run(list(graph.outputs), {x: FEW})
    same(y, FEW * W.data[0, 0])
    same(dx, np.full(3, W.data[0, 0]))


def test_open_lengths_of_nodes_make_one_trace() -> None:
    f = mg.function(lambda x, y: x + y)
    for _ in range(2):
        x = mg.placeholder("x", (None, 2))
        z = f(x, x)
        assert z.shape == (None, 2)
    assert f.traces == 1
    f(x, mg.placeholder("y", (None, 2)))
    assert f.traces == 2, "two lengths that may differ"
    summed = mg.function(lambda x, y: mg.gradients((x + y).sum(), x)[0])
    summed(x, x)
    assert "SumLike" not in summed.graph.counted(), "equal lengths are known to be equal"
    unknown = f(mg.placeholder("u"), mg.placeholder("v"))
    assert unknown.shape is None
    assert f.traces == 3


def test_nested_functions_are_traced_once_and_inlined() -> None:
    inner = mg.function(lambda x: mg.tanh(x * W.sum()))
    outer = mg.function(lambda x: inner(inner(x)) + 1)
    x = mg.tensor(FEW, requires_grad=True)
    y = outer(x)
    assert (outer.traces, inner.traces) == (1, 1)
    assert outer.graph.counted()["Tanh"] == 2
    same(y, mg.tanh(mg.tanh(x * W.sum()) * W.sum()) + 1)
    inner(x)
    assert inner.traces == 1
    assert [str(n.op) for n in outer.graph.placeholders] == ["Placeholder"] * 2, "W came in once"


def test_a_function_made_while_tracing_sees_the_nodes_around_it() -> None:
    @mg.function
    def outer(x: Any) -> Any:
        inner = mg.function(lambda y: x * y)
        return inner(x + 1) + inner(x)

    for value in (2.0, 3.0):
        assert outer(mg.tensor(value)).item() == value * (value + 1) + value * value
    assert outer.traces == 1


def test_a_function_in_a_branch_or_a_loop() -> None:
    double = mg.function(lambda x: x * 2)

    @mg.function
    def f(x: Any) -> Any:
        y = mg.while_loop(lambda y: y < 10, lambda y: double(y), x)
        return mg.cond(y > 12, lambda: double(y), lambda: y)

    assert [f(mg.tensor(v)).item() for v in (3.0, 7.0)] == [12, 28]
    assert f.traces == 1


def test_a_node_from_around_makes_the_result_a_node() -> None:
    a = mg.placeholder("a", ())
    f = mg.function(lambda x: x * a)
    y = f(mg.tensor(3.0))
    assert isinstance(y, mg.Node)
    assert mg.run(mg.build_graph(a, y), {a: 2}) == 6


def test_recursion_over_python_values_ends() -> None:
    @mg.function
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    assert power(mg.tensor(2.0), 5).item() == 32
    assert power.traces == 5
    assert power(mg.tensor(3.0), 4).item() == 81
    assert power.traces == 5


def test_endless_recursion_is_refused() -> None:
    @mg.function
    def f(x: Any) -> Any:
        return f(x) + 1

    with pytest.raises(mg.TraceError, match="f calls itself with the same signature"):
        f(mg.tensor(1.0))
    assert f.traces == 0


def test_scopes_and_no_grad_around_do_not_enter_the_trace() -> None:
    f = mg.function(lambda x: x * x)
    with mg.name_scope("outer"), mg.no_grad():
        f(mg.tensor(1.0))
    assert {n.scope for n in f.graph.nodes} == {""}
    x = mg.tensor(3.0, requires_grad=True)
    f(x).backward()
    assert x.grad is not None
    assert x.grad.item() == 6
    assert f.traces == 1
    p = mg.placeholder("p", ())
    with mg.name_scope("here"):
        assert f(p).scope == "here"
    with mg.no_grad():
        y = f(p)
    assert mg.gradients(y, p)[0] is None


# ---- Mistakes -----------------------------------------------------------------------------------

USES: dict[str, Callable[[Any], Any]] = {
    "bool": lambda x: 1 if x.sum() > 0 else 2,
    "and": lambda x: (x > 0).all() and 1,
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x[0]),
    "index": lambda x: [1, 2, 3][x.argmax()],
    "item": lambda x: x[0].item(),
    "len": lambda x: len(x),
    "iter": lambda x: list(x),
    "array": lambda x: np.asarray(x),
    "range": lambda x: range(x.sum()),
}


@pytest.mark.parametrize("use", USES)
def test_a_value_that_does_not_exist_yet_is_refused(use: str) -> None:
    f = mg.function(USES[use])
    with pytest.raises(mg.TraceError) as found:
        f(mg.tensor(FEW))
    text = str(found.value)
    for words in ("argument x", "traced", "mg.cond", "mg.script", "used at test_function.py, line"):
        assert words in text
    assert (f.traces, f.cache) == (0, [])


def test_the_argument_is_named_inside_branches_too() -> None:
    @mg.function
    def f(n: Any, m: Any) -> Any:
        return mg.cond(n > 0, lambda: m if m * n > 0 else n, lambda: n)

    with pytest.raises(mg.TraceError, match="argument n, m: while f is traced"):
        f(mg.tensor(1.0), mg.tensor(2.0))


def test_a_node_that_leaks_is_refused() -> None:
    leaked: list[Any] = []
    f = mg.function(lambda x: leaked.append(x * 2) or x)
    f(mg.tensor(FEW))
    g = mg.function(lambda x: x + leaked[0])
    for use in (
        lambda: leaked[0] + 1,
        lambda: leaked[0] * mg.tensor(FEW),
        lambda: leaked[0] * mg.placeholder("x", (3,)),
        lambda: mg.placeholder("x", (3,)) * leaked[0],
        lambda: g(mg.tensor(FEW)),
        lambda: g(leaked[0]),
        lambda: f(leaked[0]),
    ):
        with pytest.raises(mg.TraceError, match="was built while <lambda> was traced") as found:
            use()  # type: ignore[no-untyped-call]
        assert "return it" in str(found.value)
    assert g.traces == 0


@pytest.mark.parametrize("use", [float, bool, len, list])
def test_a_node_that_leaked_answers_python_with_where_it_comes_from(use: Any) -> None:
    """No branch is at fault: tracing is over."""
    leaked: list[Any] = []
    f = mg.function(lambda x: leaked.append(x.sum() * 2) or x)
    f(mg.tensor([2.0]))
    with pytest.raises(mg.TraceError, match="return it"):
        use(leaked[0])


def test_a_node_that_leaks_out_of_a_failed_trace_is_refused() -> None:
    leaked: list[Any] = []

    @mg.function
    def f(x: Any) -> Any:
        leaked.append(x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        f(mg.tensor(FEW))
    with pytest.raises(mg.TraceError, match="was built while f was traced"):
        leaked[0] + 1


def test_nothing_of_a_failed_trace_stays_behind() -> None:
    fail = [True]

    @mg.function
    def f(x: Any) -> Any:
        with mg.name_scope("inside"):
            y = x * 2
            if fail:
                y + np.ones(5, np.float32)
        return y

    nodes = len(mg.get_default_graph().nodes)
    with pytest.raises(mg.ShapeError):
        f(mg.tensor(FEW))
    assert (f.traces, f.cache, len(mg.get_default_graph().nodes)) == (0, [], nodes)
    assert mg.tensor(1.0, requires_grad=True).exp().creator.scope == ""  # type: ignore[union-attr]
    fail.clear()
    same(f(mg.tensor(FEW)), FEW * 2)
    assert f.traces == 1


def test_backward_and_changes_in_place_are_refused_inside() -> None:
    w = mg.tensor(FEW, requires_grad=True)
    with pytest.raises(mg.TraceError, match=r"mg\.gradients\(loss"):
        mg.function(lambda x: (x * w).sum().backward())(mg.tensor(FEW))
    with pytest.raises(mg.TraceError, match="not at each call"):
        mg.function(lambda x: w.copy_(x))(mg.tensor(FEW))
    for change in (lambda x: x.copy_(w), lambda x: x.add_(1), lambda x: x.__setitem__(0, 1)):
        with pytest.raises(mg.TraceError, match="cannot be changed in place"):
            mg.function(change)(mg.tensor(FEW))
    with pytest.raises(mg.TraceError, match="register_hook: x"):
        mg.function(lambda x: x.register_hook(print))(mg.tensor(FEW))

    @mg.function
    def rebinds(x: Any) -> Any:
        x += 1
        return x

    same(rebinds(mg.tensor(FEW)), FEW + 1)


def test_an_error_of_a_kernel_names_the_line_and_the_call() -> None:
    @mg.function(input_signature=[mg.TensorSpec((None,)), mg.TensorSpec((None,))])
    def f(x: Any, y: Any) -> Any:
        return x + y

    with pytest.raises(mg.ShapeError) as found:
        f(mg.tensor(FEW), mg.tensor(MORE))
    assert "(3,), (4,)" in str(found.value)
    assert "return x + y" in str(found.value)
    assert "used at test_function.py" in str(found.value)
    same(f(mg.tensor(FEW), mg.tensor(FEW)), FEW * 2)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(mg.DtypeError, match="numbers"):
        mg.function(lambda x: x)(np.array(["a"]))


def test_before_the_first_call_there_is_no_graph() -> None:
    with pytest.raises(mg.TraceError, match="call it once"):
        mg.function(lambda x: x).graph  # noqa: B018


# ---- Other ways to run --------------------------------------------------------------------------


def test_functions_can_be_run_eagerly() -> None:
    seen = []

    @mg.function
    def f(x: Any) -> Any:
        seen.append(float(x))
        return x * 2

    mg.run_functions_eagerly(True)
    try:
        assert f(mg.tensor(3.0)).item() == 6
        assert f(mg.tensor(4.0)).item() == 8
    finally:
        mg.run_functions_eagerly(False)
    assert seen == [3, 4]
    assert f.traces == 0
    with pytest.raises(mg.TraceError):
        f(mg.tensor(3.0))


def test_threads_share_one_trace() -> None:
    f = mg.function(lambda x: mg.tanh(x * W.sum()).sum())
    x = mg.tensor(FEW)
    expected, found, start = f.python_function(x).item(), [], threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(20):
            mine = mg.tensor(FEW, requires_grad=True)
            y = f(mine)
            y.backward()
            found.append((y.item(), mine.grad.tolist()))  # type: ignore[union-attr]

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert f.traces == 1
    assert len(found) == 160
    assert all(value == found[0] and value[0] == expected for value in found)


def test_a_thread_waits_for_the_trace_of_another() -> None:
    started = threading.Event()

    @mg.function
    def f(x: Any) -> Any:
        started.set()
        time.sleep(0.1)
        return x * 2

    other = threading.Thread(target=f, args=(mg.tensor(1.0),))
    other.start()
    started.wait()
    assert f(mg.tensor(2.0)).item() == 4
    other.join()
    assert (f.traces, f.cache[0].calls) == (1, 2)


def test_what_a_wrapper_keeps() -> None:
    @mg.function
    def f(x: Any) -> Any:
        """Double it."""
        return x * 2

    assert (f.__name__, f.__doc__) == ("f", "Double it.")
    assert f.__wrapped__ is f.python_function
    assert repr(f) == "<Function f: 0 traces>"


def test_a_function_and_its_graphs_are_freed_by_reference_counting() -> None:
    f = mg.function(lambda x: x * x)
    f(mg.tensor(2.0, requires_grad=True)).backward()
    graph = weakref.ref(f.graph)
    gc.collect()
    gc.disable()
    try:
        y = f(mg.tensor(2.0, requires_grad=True))
        node = weakref.ref(y.creator)
        del y
        assert node() is None, "the tape holds no cycles"
    finally:
        gc.enable()
    del f
    gc.collect()
    assert graph() is None


# ---- Assignments inside a function --------------------------------------------------------------


def test_a_tensor_from_around_is_assigned_at_each_call() -> None:
    count = mg.tensor(1.0, requires_grad=True)

    @mg.function
    def add(x: Any) -> Any:
        return mg.assign(count, count + x) * 10

    assert [add(mg.tensor(2.0)).item() for _ in range(3)] == [30, 50, 70]
    assert (count.item(), add.traces) == (7, 1)
    twice = mg.function(lambda x: add(x) + add(x))
    assert twice(mg.tensor(1.0)).item() == 80 + 90
    assert count.item() == 9


def test_what_cannot_be_assigned_is_refused() -> None:
    count = mg.tensor(1.0)

    @mg.script
    def branch(x: Any) -> Any:
        if x > 0:
            mg.assign(count, x)
        return x

    with pytest.raises(mg.GraphError, match="inside a branch or a loop"):
        branch(mg.tensor(1.0))
    with pytest.raises(mg.GraphError, match="not a variable"):
        mg.function(lambda x: mg.assign(x, x + 1))(mg.tensor(1.0))
    with pytest.raises(mg.ShapeError, match="cannot take a value of shape"):
        mg.function(lambda x: mg.assign(count, x))(mg.ones(2))
    assert count.item() == 1
