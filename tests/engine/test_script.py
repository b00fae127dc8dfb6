"""Source that becomes a graph: the same results as plain Python, in every way to run it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from covering import each
from script_programs import PROGRAMS, collatz, e10, newton, power

import minigrad as mg
from minigrad.hybrid.scripting.convert import convert

pytestmark = pytest.mark.usefixtures("own_graph")

Program = Callable[..., Any]


def tensors(inputs: tuple[Any, ...], requires_grad: bool = False) -> list[mg.Tensor]:
    made = [mg.tensor(x) for x in inputs]
    return [mg.tensor(x, requires_grad=requires_grad and x.dtype.kind == "f") for x in made]


def leaves(result: Any) -> list[Any]:
    """The numbers of a result, in order."""
    if isinstance(result, dict):
        return [x for value in result.values() for x in leaves(value)]
    if isinstance(result, (tuple, list)):
        return [x for value in result for x in leaves(value)]
    return [result]


def arrays(result: Any) -> list[Any]:
    return [np.asarray(getattr(x, "data", x)) for x in leaves(result)]


def equal(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def placeholders(inputs: tuple[Any, ...]) -> list[mg.Node]:
    return [
        mg.placeholder(f"p{i}", shape=x.shape, dtype=x.dtype) for i, x in enumerate(tensors(inputs))
    ]


@functools.cache
def rewritten(f: Program) -> Program:
    return convert(f)


@functools.cache
def plain(f: Program) -> list[Any]:
    """What it gives as it stands, for each of its inputs."""
    return [arrays(f(*tensors(inputs))) for inputs in PROGRAMS[f]]


programs = each(PROGRAMS)


@programs
def test_tensors_give_what_plain_python_gives(f: Program) -> None:
    for inputs, expected in zip(PROGRAMS[f], plain(f), strict=True):
        equal(arrays(rewritten(f)(*tensors(inputs))), expected)


@programs
def test_one_graph_gives_what_plain_python_gives_for_all_inputs(f: Program) -> None:
    nodes = placeholders(PROGRAMS[f][0])
    graph = mg.get_default_graph()
    outputs = [graph.lift(x) for x in leaves(rewritten(f)(*nodes))]
    built = mg.build_graph(nodes, outputs)
    built.verify()
    for inputs, expected in zip(PROGRAMS[f], plain(f), strict=True):
        equal(mg.run(built, dict(zip(nodes, inputs, strict=True))), expected)


@programs
def test_one_trace_gives_what_plain_python_gives_for_all_inputs(f: Program) -> None:
    scripted = mg.script(f)
    for inputs, expected in zip(PROGRAMS[f], plain(f), strict=True):
        equal(arrays(scripted(*tensors(inputs))), expected)
    assert scripted.traces == 1


@programs
def test_gradients_are_those_of_plain_python(f: Program) -> None:
    scripted = mg.script(f)
    for inputs in PROGRAMS[f]:
        xs, zs = tensors(inputs, requires_grad=True), tensors(inputs, requires_grad=True)
        pairs = [(x, z) for x, z in zip(xs, zs, strict=True) if x.requires_grad]
        y, w = (mg.sum(mg.tensor(0.0) + leaves(g(*v))[0]) for g, v in ((f, xs), (scripted, zs)))
        if y.requires_grad and pairs:
            mine, wanted = ([p[k] for p in pairs] for k in (1, 0))
            found = mg.grad(w, mine, allow_unused=True) if w.requires_grad else [None] * len(mine)
            expected = mg.grad(y, wanted, allow_unused=True)
            equal(*([0 if g is None else g.data for g in gs] for gs in (found, expected)))


# ---- Data types ---------------------------------------------------------------------------------

# Of a Python number that was computed with inside, the graph has made a float32.
MIXED = {"continue_on_some_ways", "function_given_to_a_library"}


def of_type(dtype: Any, x: Any) -> mg.Tensor:
    value = mg.tensor(x)
    return mg.tensor(value.numpy().astype(dtype)) if value.dtype.kind == "f" else value


@programs
def test_floats_of_eight_bytes_stay_what_they_are(f: Program) -> None:
    scripted = mg.script(f)
    for inputs in PROGRAMS[f]:
        given = [of_type(mg.float64, x) for x in inputs]
        if f.__name__ in MIXED:
            with pytest.raises(mg.ControlFlowError, match=r"float32.*float64|float64.*float32"):
                scripted(*given)
            continue
        found, expected = leaves(scripted(*given)), leaves(f(*given))
        equal(arrays(found), arrays(expected))
        kinds = [(a, b) for a, b in zip(found, expected, strict=True) if isinstance(b, mg.Tensor)]
        assert all(a.dtype == b.dtype for a, b in kinds)


def in_while(x, n):
    while n > 0:
        if x > 10:
            return x
        x = x * 2
        n = n - 1
    return x


def in_for(x, n):
    for i in range(n):
        if x > 10:
            return {"x": x, "both": (x * 2, i)}
        x = x * 2
    return {"x": x, "both": (x, -1)}


def in_rows(x, n):
    for k in mg.ones(4, dtype="int8") * n:
        if k > n:
            return x * 3
        if x > 10:
            return x + x
        x = x * 2
    return x


def in_a_loop_in_a_loop(x, n):
    for _ in range(3):
        while n > 0:
            if x > 10:
                return x
            x = x * 2
            n = n - 1
        n = n + 2
    return x


def beside_a_number(x, n):
    while n > 0:
        if x > 40:
            return x
        if x > 10:
            return 1
        x = x * 2
        n = n - 1
    return x


RETURNS = [in_while, in_for, in_rows, in_a_loop_in_a_loop, beside_a_number]
WIDTHS = ["float64", "float32", "float16", "int64", "int32", "int8"]


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("f", RETURNS, ids=lambda f: f.__name__)
def test_a_return_inside_a_loop_keeps_the_data_type(f: Program, dtype: str) -> None:
    scripted = mg.script(f)
    for x, n in [(3, 4), (3, 1), (11, 2), (50, 2), (1, 0)]:
        given = mg.tensor(np.array(x, dtype)), mg.tensor(n)
        found, expected = leaves(scripted(*given)), leaves(f(*given))
        equal(arrays(found), arrays(expected))
        for a, b in zip(found, expected, strict=True):
            assert not isinstance(b, mg.Tensor) or a.dtype == b.dtype
    assert scripted.traces == 1


def test_a_return_inside_a_loop_may_be_a_decision() -> None:
    def f(x, n):
        while n > 0:
            if x > 10:
                return x > 12
            x = x * 2
            n = n - 1
        return x > 100

    scripted = mg.script(f)
    for x, n in [(3.0, 4), (11.0, 2), (200.0, 0)]:
        found = scripted(mg.tensor(x, dtype=mg.float64), mg.tensor(n))
        assert found.dtype == bool
        assert bool(found) == bool(f(x, n))


def from_a_number(x, n):
    best = 0.0
    while n > 0:
        n = n - 1
        if x < 10:
            x = x * 2
            continue
        best = x
        if x > 30:
            break
        x = x * 3
    return best


def from_a_number_in_a_loop(x, n):
    best = 0.1
    while n > 0:
        n = n - 1
        for r in range(n):
            if x > 10:
                best = x
                break
            if best + r > 100:
                return best
            x = x * 2
    return best


@pytest.mark.parametrize("f", [from_a_number, from_a_number_in_a_loop], ids=lambda f: f.__name__)
def test_what_begins_as_a_number_takes_the_data_type_it_is_given_on_some_ways(f: Program) -> None:
    scripted = mg.script(f)
    for x, n in [(3.0, 4), (3.0, 1), (11.0, 2), (1.0, 0)]:
        given = [mg.tensor(x, dtype=mg.float64, requires_grad=True) for _ in range(2)]
        found, expected = (g(z, mg.tensor(n)) for g, z in zip((scripted, f), given, strict=True))
        assert found.dtype == np.float64
        assert found.item() == float(expected)  # 0.1 was not rounded to float32 on its way
        if isinstance(expected, mg.Tensor):
            expected.backward()
            found.backward()
            assert given[0].grad.item() == given[1].grad.item()


def test_a_number_of_another_kind_is_still_refused() -> None:
    def f(x, n):
        best = 0
        while n > 0:
            if x > 10:
                best = x
            x = x * 2
            n = n - 1
        return best

    with pytest.raises(mg.ControlFlowError, match="best"):
        mg.script(f)(mg.tensor(3.0), mg.tensor(4))


def test_a_number_that_a_type_cannot_hold_keeps_its_own() -> None:
    def f(x):
        return x if x > 3 else 300

    with pytest.raises(mg.ControlFlowError, match="int8"):
        mg.script(f)(mg.tensor(4, dtype="int8"))


# ---- What the graph holds -----------------------------------------------------------------------


def test_e10_keeps_both_branches_and_runs_one() -> None:
    x = mg.placeholder("x", shape=())
    y = rewritten(e10)(x)
    built = mg.build_graph(x, y)
    assert built.counted()["Mul"] == built.counted()["Sub"] == 1
    for value, ran in ((3.0, "Mul"), (-3.0, "Sub")):
        with mg.record() as log:
            assert mg.run(built, {x: value}) == (6.0 if ran == "Mul" else -4.0)
        run = [event.op.name for event in log.events if event.kind == "run"]
        assert run.count(ran) == 1
        assert not {"Mul", "Sub"} - {ran} & set(run)


def test_the_graph_of_a_loop_does_not_grow_with_its_steps() -> None:
    def repeated(n: Any) -> int:
        with mg.Graph():
            x, y = mg.placeholder("x", shape=()), 1.0
            y = rewritten(power)(x, n if isinstance(n, int) else mg.placeholder("n", (), mg.int64))
            return sum(mg.build_graph(mg.get_default_graph().placeholders, y).counted().values())

    assert repeated(3) < repeated(50), "a Python number unrolls"
    assert repeated("in the graph") < repeated(50)


def test_a_range_that_a_node_ends_is_a_loop_and_not_fifty_branches() -> None:
    x = mg.placeholder("x", shape=())
    counts = mg.build_graph(x, rewritten(newton)(x)).counted()
    assert counts["While"] == 1
    assert counts["Div"] <= 6


def test_what_is_not_needed_does_not_run() -> None:
    def f(x):
        return 1.0 if x > 0 and mg.log(x) > 1 else 2.0

    x = mg.placeholder("x", shape=())
    built = mg.build_graph(x, convert(f)(x))
    for value, logs in ((5.0, 1), (-5.0, 0)):
        with mg.record() as log:
            assert mg.run(built, {x: value}) == (1.0 if logs else 2.0)
        assert [e.op.name for e in log.events if e.kind == "run"].count("Log") == logs


def test_flags_need_no_branch_of_their_own() -> None:
    def f(xs):
        for x in xs:
            if x > 0:
                break
        return x

    xs = mg.placeholder("xs", shape=(3,))
    assert mg.build_graph(xs, convert(f)(xs)).counted()["Cond"] <= 2


def test_what_both_branches_give_alike_stays_a_python_value() -> None:
    def f(x):
        mode, n, y = "up", 1, x
        if x > 0:
            mode, n, y = "down", 2, x * 3
        else:
            mode, n = "down", 2
        assert mode == "down"
        assert type(n) is int
        return y * n

    x = mg.placeholder("x", shape=())
    cond = next(n for n in mg.build_graph(x, convert(f)(x)).nodes if n.op.name == "Cond")
    assert len(cond.attrs["then"].outputs) == 1


@pytest.mark.parametrize("length", [0, 1, 5])
def test_open_lengths(length: int) -> None:
    def f(xs):
        total, count = 0.0, len(xs)
        for i, x in enumerate(xs):
            total = total + x[0] * i
        for i in range(count):
            total = total + xs[i, 1]
        return total, count

    xs = mg.placeholder("xs", shape=(None, 2))
    total, count = convert(f)(xs)
    data = np.arange(2.0 * length, dtype=np.float32).reshape(length, 2)
    found = mg.run(mg.build_graph(xs, [total, count]), {xs: data})
    assert found[0] == (data[:, 0] * np.arange(length)).sum() + data[:, 1].sum()
    assert found[1] == length


def test_second_order_gradients() -> None:
    scripted = mg.script(power)
    for f in (lambda x: scripted(x, mg.tensor(4)), mg.script(newton)):
        mg.check_grads(f, mg.tensor(1.5), order=2)


# ---- What scripts print and check ---------------------------------------------------------------


def test_print_prints_where_and_when_the_graph_runs(capsys: pytest.CaptureFixture[str]) -> None:
    @mg.script
    def f(x):
        print("tracing", 1)
        if x > 0:
            print("positive:", x)
        for v in mg.stack([x, x + 1]):
            print("step", v, "of two")
        return x

    f(mg.tensor(1.0))
    assert capsys.readouterr().out == (
        "tracing 1\npositive: 1.0\nstep … of two 1.0\nstep … of two 2.0\n"
    )
    f(mg.tensor(-1.0))
    assert capsys.readouterr().out == "step … of two -1.0\nstep … of two 0.0\n"


def test_assert_checks_now_or_when_the_graph_runs() -> None:
    def f(x, least=0.0):
        assert x > least, f"more than {least}"
        return x

    with pytest.raises(AssertionError, match=r"more than 0\.0"):
        convert(f)(-1.0)
    with pytest.raises(mg.AssertionFailed, match=r"more than 0\.0"):
        mg.script(f)(mg.tensor(-1.0))
    assert mg.script(f)(mg.tensor(1.0)).item() == 1.0


def test_a_variable_of_a_loop_that_makes_no_step_has_no_value() -> None:
    @mg.script
    def f(n):
        for i in range(n):
            y = i * 2
        return y

    assert f(mg.tensor(3)).item() == 4
    with pytest.raises(mg.AssertionFailed, match=r"y has no value: the loop .* made no step"):
        f(mg.tensor(0))


def test_an_inner_loop_that_makes_no_step_gives_no_value_either() -> None:
    @mg.script
    def f(n, m):
        total = 0
        for i in range(n):
            for j in range(m):
                y = i * j
            total = total + i
        return y + total

    assert f(mg.tensor(3), mg.tensor(2)).item() == 5
    for n, m in ((3, 0), (0, 3)):
        with pytest.raises(mg.AssertionFailed, match="y has no value"):
            f(mg.tensor(n), mg.tensor(m))


# ---- The function around the source -------------------------------------------------------------

SCALE = 2.0
RAN: list[str] = []


def noting(text: str) -> Any:
    RAN.append(text)
    return lambda f: f


def test_nothing_is_executed_on_the_way() -> None:
    @noting("decorator")
    def f(x: noting("annotation") = noting("default")) -> Any:  # noqa: B008
        if x > 0:
            return x
        return -x

    noted = len(RAN)
    assert convert(f)(-2.0) == 2.0
    assert len(RAN) == noted


def test_globals_and_closures_are_seen_live(monkeypatch: pytest.MonkeyPatch) -> None:
    offset = 1.0

    def f(x, factor=3.0):
        if x > 0:
            return x * SCALE * factor
        return x + offset

    g = convert(f)
    assert (g(1.0), g(-1.0)) == (6.0, 0.0)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    offset = 10.0
    assert (g(1.0), g(-1.0)) == (15.0, 9.0)
    assert (g.__name__, g.__defaults__, g.__doc__) == (f.__name__, f.__defaults__, f.__doc__)


def test_one_definition_may_see_different_functions() -> None:
    def make(act):
        def f(x):
            return act(x)

        return convert(f)

    def mine(x):
        return x if x > 0 else -x

    x = mg.placeholder("x", shape=())
    outputs = [make(act)(x) for act in (mg.tanh, mine)]
    found = mg.run(mg.build_graph(x, outputs), {x: -2.0})
    equal(found, [np.tanh(-2.0), 2.0])


def test_methods_and_decorated_functions() -> None:
    def plus_one(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            y = f(*args, **kwargs)
            if y > 100:
                y = y - 100
            return y + 1

        return wrapper

    class Model:
        def __init__(self):
            self.limit = 2.0

        @mg.script
        @plus_one
        def method(self, x, *, by=2.0):
            if x > self.limit:
                return x * by
            return x

        @staticmethod
        @mg.script
        def static(x):
            return x if x > 0 else -x

        @classmethod
        def kind(cls, x):
            while x > 3:
                x = x - 1
            return x

        def __call__(self, x):
            return self.method(x) if x > 0 else self.kind(x)

    model = Model()
    values = [2.0, 3.0, 60.0, -1.0]
    assert [model.method(mg.tensor(v)).item() for v in values] == [3.0, 7.0, 21.0, 0.0]
    assert model.method(mg.tensor(3.0), by=3.0).item() == 10.0
    assert model.static(mg.tensor(-2.0)).item() == 2.0
    assert mg.script(Model.kind)(mg.tensor(9.5)).item() == 2.5
    scripted = mg.script(model)
    assert [scripted(mg.tensor(v)).item() for v in values] == [3.0, 7.0, 21.0, -1.0]
    assert "script.if_" not in scripted.code
    assert "script.choose" in scripted.code


def test_scripts_and_functions_call_each_other() -> None:
    @mg.function
    def double(x):
        return x * 2

    @mg.script
    def inner(x):
        return double(x) if x > 0 else x

    @mg.function
    def outer(x):
        return inner(x) + inner(-x)

    assert outer(mg.tensor(3.0)).item() == 3.0
    again = mg.script(mg.function(e10))
    assert again(mg.tensor(-3.0)).item() == -4.0


def test_input_signature_and_eager_running() -> None:
    @mg.script(input_signature=[mg.TensorSpec((None,))])
    def f(xs):
        total = 0.0
        for x in xs:
            total = total + x
        return total

    assert [f(mg.ones(n)).item() for n in (2, 5)] == [2.0, 5.0]
    assert f.traces == 1
    mg.run_functions_eagerly(True)
    try:
        assert f(mg.ones(3)).item() == 3.0
        assert f.traces == 1
    finally:
        mg.run_functions_eagerly(False)


def test_the_rewritten_source_can_be_read_and_keeps_its_lines() -> None:
    code = mg.script(e10).code
    assert code.splitlines()[0] == "def e10(x):"
    assert "(result,) = " in code or "result, = script.if_(" in code
    assert compile(code, "code", "exec")
    x = mg.placeholder("x", shape=(2,))
    rewritten(e10)(x)
    first = e10.__code__.co_firstlineno + 1  # below the decorator
    for node, line in (("Greater", 1), ("Cond", 1)):
        where = mg.get_default_graph()[node].where
        assert (where.file, where.lineno) == ("script_programs.py", first + line)
    body = mg.get_default_graph()["Cond"].attrs["orelse"]
    where = next(n.where for n in body.nodes if n.op.name == "Sub")
    assert (where.lineno, where.text) == (first + 3, "return x - 1")
    assert where.parts[1] == "x - 1"


def test_what_follows_a_branch_that_leaves_stands_in_the_other() -> None:
    """One branch, and no flag to ask whether the function has returned."""

    def then_leaves(x):
        """What it does."""
        if x > 0:
            return x
        else:
            y = x * 2
        return y + 1

    def else_leaves(x):
        """What it does."""
        if x > 0:
            y = x * 2
        else:
            return x
        return y + 1

    for f in (then_leaves, else_leaves):
        x = mg.placeholder(shape=())
        graph = mg.build_graph(x, mg.script(f)(x))
        assert [n.op.name for n in graph.nodes].count("Cond") == 1
        assert "returned" not in mg.script(f).code
        assert [mg.run(graph, {x: v}) for v in (3.0, -3.0)] == [f(3.0), f(-3.0)]


def test_a_docstring_stays_first_and_a_bare_return_gives_none() -> None:
    def f(x, times, quiet):
        """What it does."""
        for _ in range(times):
            if quiet:
                return
            x = x + 1
        return x

    scripted = mg.script(f)
    assert scripted.code.splitlines()[1].strip() == '"""What it does."""'
    assert scripted(mg.tensor(1.0), 2, True) is None
    assert scripted(mg.tensor(1.0), 2, False).item() == 3.0


def test_names_of_the_program_are_left_alone() -> None:
    def f(script, then, result, returned, broke, body):
        element = orelse = test = 0.0
        for k in range(3):
            if script > k:
                broke = broke + 1
                continue
            if result < 0:
                return then
            if body > returned:
                break
            element = element + orelse + test + 1
        return script + then + result + returned + broke + body + element

    xs = [mg.placeholder(shape=()) for _ in range(6)]
    built = mg.build_graph(xs, convert(f)(*xs))
    for values in ([2.0, 1, 1, 1, 1, 0], [0.0, 1, 1, 1, 1, 5], [1.0, 7, -1, 1, 1, 0]):
        assert mg.run(built, dict(zip(xs, values, strict=True))) == f(*values)


def test_a_function_of_a_notebook_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    import linecache

    cell = "def f(x):\n    while x > 1:\n        x = x / 2\n    return x\n"
    entry = (len(cell), None, cell.splitlines(keepends=True), "<cell 1>")
    monkeypatch.setitem(linecache.cache, "<cell 1>", entry)
    space: dict[str, Any] = {}
    exec(compile(cell, "<cell 1>", "exec"), space)
    assert mg.script(space["f"])(mg.tensor(12.0)).item() == 0.75


def test_rewriting_is_done_once() -> None:
    assert convert(e10).__code__ is convert(e10).__code__
    done = convert(e10)
    assert convert(done) is done


def test_equal_code_in_two_files_keeps_its_own_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    import linecache

    text = "def f(x):\n    return x * 2 if x > 0 else x\n"
    for name in ("<one>", "<two>"):
        entry = (len(text), None, text.splitlines(keepends=True), name)
        monkeypatch.setitem(linecache.cache, name, entry)
        space: dict[str, Any] = {}
        exec(compile(text, name, "exec"), space)
        y = convert(space["f"])(mg.placeholder("x", shape=()))
        assert y.where.filename == name


def test_rewritten_functions_keep_their_names() -> None:
    code = convert(e10).__code__
    assert (code.co_name, code.co_filename) == ("e10", e10.__code__.co_filename)


def test_a_generator_is_not_asked_for_more_than_is_needed() -> None:
    def f(numbers):
        for v in numbers:
            if v > 1:
                break
        return v

    numbers = iter(range(5))
    assert convert(f)(numbers) == 2
    assert list(numbers) == [3, 4]


def test_collatz_of_many_numbers_needs_one_trace() -> None:
    scripted = mg.script(collatz)
    assert [scripted(mg.tensor(n)).item() for n in (27, 97, 1)] == [111, 118, 0]
    assert scripted.traces == 1


def test_a_lambda_is_found_by_its_place_in_the_line() -> None:
    larger, smaller = (
        mg.script(lambda x: x if x > 0 else -x),
        mg.script(lambda x: x if x < 0 else -x),
    )
    assert [float(f(mg.tensor(x))) for f in (larger, smaller) for x in (2.0, -3.0)] == [
        2,
        3,
        -2,
        -3,
    ]
    assert larger.traces == 1


def test_what_happens_to_exceptions_is_what_plain_python_does() -> None:
    log: list[str] = []

    def risky(x: Any, kind: type[Exception]) -> Any:
        try:
            try:
                if x > 0:
                    x = x * 2
                raise kind("three")
            finally:
                log.append("inner")
        except KeyError:
            x = x + 1
        return x

    assert float(mg.script(risky)(mg.tensor(2.0), KeyError)) == 5
    with pytest.raises(IndexError, match="three"):
        mg.script(risky)(mg.tensor(2.0), IndexError)
    assert log == ["inner", "inner"]


class Doubling:
    def step(self, x: Any) -> Any:
        return x * 2


class Stepping(Doubling):
    """A method that names its own class, as a global, and asks its base in both forms."""

    offset = 1.0

    def step(self, x: Any) -> Any:
        if x.sum() > 0:
            return super().step(x)
        return super(Stepping, self).step(x) + Stepping.offset  # noqa: UP008 - the older form


class Asking(Doubling):
    """A method that asks its base within a branch, which is a function of its own."""

    def step(self, x: Any) -> Any:
        if x.sum() > 0:
            return super().step(x)
        return super().step(x) - 1


def test_a_branch_may_ask_the_base() -> None:
    step = mg.script(Asking().step)
    for value in (1.0, -1.0):
        assert step(mg.tensor([value])).tolist() == Asking().step(mg.tensor([value])).tolist()


def test_a_method_may_name_its_own_class() -> None:
    step = mg.script(Stepping().step)
    for value in (1.0, -1.0):
        assert step(mg.tensor([value])).tolist() == Stepping().step(mg.tensor([value])).tolist()
        assert step(mg.tensor([value])).tolist() == [2.0 if value > 0 else -1.0]
