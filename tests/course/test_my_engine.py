"""The engine that a learner builds: it computes what minigrad does, and grows part by part."""

from __future__ import annotations

import errno
import importlib
import linecache
import re
import sys
from inspect import signature
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import size
from covering import examples
from hypothesis import given
from test_schedule import problems

import minigrad as mg
import minigrad_lessons as lessons
from minigrad.compiler.schedule.schedule import Schedule, Task, list_schedule
from minigrad.diagnostics import files
from minigrad_lessons.lesson import check
from minigrad_lessons.lesson import learner_engine as growing
from minigrad_lessons.lesson import my_engine as ours
from minigrad_lessons.questions import all_lessons
from viz.words import user_files

PARTS = growing.template()[1]
LESSONS = sorted({part.lesson for part in PARTS.values()})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(user_files.FOLDER, str(tmp_path))
    return tmp_path / "my_engine"


def learner(
    source: str, name: str, notebook: dict[str, Any] | None = None, **names: Any
) -> FunctionType:
    """A function as a learner's cell defines it: its lines can be looked up."""
    names = names if notebook is None else notebook
    file = f"<cell {name} {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), names)
    function: FunctionType = names[name]
    return function


def keep(*functions: Any) -> Any:
    """Keep a function without a check, by the former name."""
    with pytest.warns(FutureWarning, match="`lessons.keep` is no longer needed"):
        return lessons.keep(*functions)


# ---- What it computes ------------------------------------------------------------------------

rng = np.random.default_rng(0)
DIGITS = mg.data.digits()
X = np.asarray(DIGITS.x_train[:64], np.float64).reshape(64, -1)
T = np.eye(10)[np.asarray(DIGITS.y_train[:64])]
SHAPES = [(X.shape[1], 32), (32,), (32, 10), (10,)]
START = [rng.normal(0, 0.2, shape) for shape in SHAPES]


def loss(x: Any, t: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """Cross entropy of an MLP: one source for two modes."""
    z = (x @ w1 + b1).relu() @ w2 + b2
    return ((z.exp().sum(axis=1).log() - z) * t).sum() / 64.0


def trained_dynamically(engine: ModuleType, steps: int) -> list[Any]:
    weights = [engine.Tensor(w, requires_grad=True) for w in START]
    for _ in range(steps):
        loss(engine.Tensor(X), engine.Tensor(T), *weights).backward()
        for w in weights:
            w.value, w.grad = w.value - 0.5 * w.grad, None
    return [w.value for w in weights]


def trained_statically(engine: ModuleType, steps: int) -> list[Any]:
    weights = [engine.variable(w, "w") for w in START]
    x, t = engine.placeholder("x"), engine.placeholder("t")
    y = loss(x, t, *weights)
    updates = engine.descent(y, weights, 0.5)
    session = engine.Session(*weights)
    for _ in range(steps):
        session.run([y], {x: X, t: T}, updates)
    return [session.state[w] for w in weights]


def trained_by_minigrad(steps: int) -> list[Any]:
    weights = [mg.tensor(w, requires_grad=True) for w in START]
    for _ in range(steps):
        w1, b1, w2, b2 = weights
        z = mg.relu(mg.tensor(X) @ w1 + b1) @ w2 + b2
        scores = mg.log(mg.sum(mg.exp(z), axis=1, keepdims=True)) - z
        (mg.sum(scores * mg.tensor(T)) / 64.0).backward()
        weights = [mg.tensor(w.data - 0.5 * w.grad.data, requires_grad=True) for w in weights]
    return [w.data for w in weights]


def accuracy(weights: list[Any]) -> float:
    w1, b1, w2, b2 = weights
    scores = np.maximum(X @ w1 + b1, 0) @ w2 + b2
    return float(np.mean(scores.argmax(1) == T.argmax(1)))


def test_it_trains_an_mlp_in_both_modes_to_the_bits_of_minigrad() -> None:
    dynamic, static = trained_dynamically(ours, 60), trained_statically(ours, 60)
    expected = trained_by_minigrad(60)
    for found in (dynamic, static):
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    assert accuracy(START) < 0.3
    assert accuracy(dynamic) > 0.95


def gate(x: Any, w: Any) -> Any:
    """A learner's own sigmoid, and what it lets through: numbers and arrays stand on the left."""
    share = 1.0 / (1.0 + (-(X[:2] @ w)).exp())
    return ((1.0 - share) * x).sum() + (2.0 - 3.0 / x).sum()


def test_a_number_or_an_array_may_stand_on_the_left() -> None:
    numbers = [np.linspace(0.5, 2.0, 10).reshape(2, 5), rng.normal(0, 0.2, (X.shape[1], 5))]
    by_minigrad = [mg.tensor(n, requires_grad=True) for n in numbers]
    x, w = by_minigrad
    share = 1.0 / (1.0 + mg.exp(-(mg.tensor(X[:2]) @ w)))
    (mg.sum((1.0 - share) * x) + mg.sum(2.0 - 3.0 / x)).backward()
    dynamic = [ours.Tensor(n, requires_grad=True) for n in numbers]
    y = gate(*dynamic)
    y.backward()
    static = [ours.placeholder(name) for name in "xw"]
    z = gate(*static)
    feed = dict(zip(static, numbers, strict=True))
    value, *found = ours.Session().run([z, *ours.gradients(z, static)], feed)
    assert value == y.value
    for tape, theirs, expected in zip(dynamic, found, by_minigrad, strict=True):
        assert np.array_equal(tape.grad, expected.grad.data)
        assert np.array_equal(theirs, expected.grad.data)


def test_its_two_modes_tell_their_events_in_other_orders() -> None:
    def kinds() -> list[str]:
        return [f"{kind} {what.op}" for kind, what, _ in ours.EVENTS]

    ours.EVENTS.clear()
    x = ours.Tensor(2.0, requires_grad=True)
    (x * x + 3).backward()
    back = ["passed back Mul", "passed back Leaf", "passed back Leaf", "passed back Leaf"]
    assert kinds() == ["built Mul", "run Mul", "built Add", "run Add", *back]
    assert x.grad == 4
    ours.EVENTS.clear()
    p = ours.placeholder("x")
    y = p * p + 3
    assert kinds() == ["built Mul", "built Add"]
    assert ours.Session().run([y], {p: np.array(2.0)}) == [7]
    assert kinds() == ["built Mul", "built Add", "run Mul", "run Add"]


def test_what_is_wrong_is_refused_with_two_lines() -> None:
    x = ours.Tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    with pytest.raises(ours.EngineError, match="no graph is left"):
        y.backward()
    p, q = ours.placeholder("p"), ours.placeholder("q")
    product = p @ q
    with pytest.raises(ours.EngineError, match="Placeholder 'q' has no value in this run"):
        ours.Session().run([product], {p: X})
    with pytest.raises(ours.EngineError, match="Placeholder 'p' is not computed: its value has"):
        ours.run_in_order([p], {})
    told = (
        r"MatMul of shapes \(64, 64\), \(3, 64\): .*\n  built: .*engine, line \d+: product = p @ q"
    )
    with pytest.raises(ours.EngineError, match=told + r"\n  run: .*engine, line \d+: ours.Sess"):
        ours.Session().run([product], {p: X, q: X[:3]})
    p.inputs = (product,)
    with pytest.raises(ValueError, match="cycle"):
        ours.topological_order([product])
    branch = ours.cond(q > 0, lambda v: v * 2, lambda v: -v, q)
    with pytest.raises(ours.EngineError, match="Cond has no gradient rule"):
        ours.gradients(branch, [q])


@pytest.mark.parametrize(
    ("number", "dynamic", "static"), [(0.0, "Log", "Div"), (-1.0, "Log", "Log"), (2.0, None, None)]
)
def test_the_first_anomaly_is_the_first_that_ran(
    number: float, dynamic: str | None, static: str | None
) -> None:
    """A static graph need not run its operators in the order in which they were built."""

    def scaled(x: Any) -> Any:
        late = x.log()
        return x / x.sum() + late * late

    p = ours.placeholder("p")
    for op, run in (
        (dynamic, lambda: scaled(ours.Tensor([number]))),
        (static, lambda: ours.Session().run([scaled(p)], {p: np.array([number])})),
    ):
        ours.EVENTS.clear()
        with np.errstate(all="ignore"):
            run()
        node = ours.first_anomaly(ours.EVENTS)
        assert getattr(node, "op", None) == op
        assert node is None or node.line.endswith(": late = x.log()") is (op == "Log")


def test_branches_loops_and_padding_in_both_modes() -> None:
    def halved(x: Any) -> Any:
        return ours.while_loop(lambda v: v > 1.0, lambda v: v / 2.0, x)

    def size_of(x: Any) -> Any:
        return ours.cond(x > 0.0, lambda v: v, lambda v: -v, x)

    p = ours.placeholder("p")
    outputs = [halved(p), size_of(p)]
    for number in (-3.0, 12.0):
        static = ours.Session().run(outputs, {p: np.array(number)})
        dynamic = [f(ours.Tensor(number)).value for f in (halved, size_of)]
        assert static == dynamic == [number if number < 1 else 0.75, abs(number)]
    padded, mask = ours.pad([[1.0, 2.0, 3.0], [4.0]], filler=np.inf)
    x = ours.Tensor(padded, requires_grad=True)
    means = ours.masked_mean(x, ours.Tensor(mask))
    assert means.value.tolist() == [[2.0], [4.0]]
    means.sum().backward()
    assert np.array_equal(x.grad, np.where(mask, [[1 / 3], [1.0]], 0.0))
    with ours.no_grad():
        assert not (x * x).inputs


def test_what_a_call_builds_is_counted_to_its_end_and_leaves_no_event() -> None:
    x, events = ours.Tensor(2.0, requires_grad=True), list(ours.EVENTS)

    def power(n: int) -> None:
        y = x
        for _ in range(n):
            y = y * x

    assert lessons.count_built(ours, power, 3) == 3
    assert lessons.count_built(ours, power, 300) == 300  # no limit, as `observe` has one
    with pytest.raises(ZeroDivisionError):
        lessons.count_built(ours, lambda: 1 / 0)
    assert events == ours.EVENTS


def test_traces_are_counted_for_one_input_after_another() -> None:
    rows = [np.ones(n) for n in (2, 3, 2)]
    assert lessons.count_traces(mg.sum, rows) == 2
    assert lessons.count_traces(mg.sum, rows) == 2  # nothing is kept from the first count
    assert lessons.count_traces(mg.sum, []) == 0


@examples(100)
@given(problems())
def test_its_scheduler_is_as_good_as_minigrads_and_any_of_its_plans_gives_the_same_bits(
    problem: Any,
) -> None:
    after, costs, devices = problem
    costs = {node: cost + 1 for node, cost in costs.items()}
    plan = ours.schedule(after, costs, devices)
    best = list_schedule(after, costs, devices)
    assert {n: (start, end) for n, (_, start, end) in plan.items()} == {
        t.node: (t.start, t.end) for t in best
    }
    tasks = [Task(n, *plan[n], after[n]) for n in plan]
    Schedule(tuple(sorted(tasks, key=lambda t: t.start)), devices).verify()


def test_a_plan_is_an_order_in_which_its_graph_can_run() -> None:
    x, y = ours.Node("Placeholder", name="x"), ours.Node("Placeholder", name="y")
    z = (x @ y).exp() * (x / y).log() + x
    order = ours.topological_order([z])
    numbers = np.random.default_rng(0).random((2, 4, 4))
    expected = ours.run_in_order(order, dict(zip((x, y), numbers, strict=True)))[z]
    for workers in (1, 2, 3):
        waits = {node: node.inputs for node in order}
        plan = ours.schedule(waits, {n: 1 + i % 3 for i, n in enumerate(order)}, workers)
        by_time = sorted(order, key=lambda node: plan[node][1])
        found = ours.run_in_order(by_time, dict(zip((x, y), numbers, strict=True)))[z]
        assert np.array_equal(found, expected)


WAITS = {"load": [], "clean": ["load"], "train": ["clean"], "logs": []}
SECONDS = {"load": 1, "clean": 3, "train": 5, "logs": 2}


def test_a_run_in_an_arena_gives_the_same_in_less_memory() -> None:
    p = ours.placeholder("p")
    y, feed = p, {p: np.linspace(-1.0, 1.0, 8)}
    for _ in range(10):
        y = y.relu()
    order = ours.topological_order([y])
    sizes = dict.fromkeys(order, 64)
    for kept, arrays in ([y], 2), ([p, y], 3):
        offsets = ours.plan(ours.lifetimes(order, kept), sizes)
        assert max(offsets.values()) == 64 * (arrays - 1)
        values, space = ours.run_in_arena(order, feed, kept)
        assert space == 64 * arrays
        assert np.array_equal(values[-1], np.maximum(feed[p], 0))
    weights = [ours.variable(w, "w") for w in START]
    x, t = ours.placeholder("x"), ours.placeholder("t")
    outputs = [loss(x, t, *weights)]
    outputs += ours.gradients(outputs[0], weights)
    feed = {x: X, t: T, **dict(zip(weights, START, strict=True))}
    order = ours.topological_order(outputs)
    values, space = ours.run_in_arena(order, feed, outputs)
    for a, b in zip(values, ours.Session(*weights).run(outputs, feed), strict=True):
        assert np.array_equal(a, b)
    apart = sum(value.nbytes for value in ours.run_in_order(order, feed).values())
    assert space < apart * 2 / 3


# ---- How it grows ----------------------------------------------------------------------------


def test_the_whole_is_short_and_so_is_each_part() -> None:
    assert size.lines(growing.template()[0]) <= 350
    assert size.lines(growing.assemble_engine("L07", {}, gaps=False)) <= 220
    assert {name: size.lines(part.source) for name, part in PARTS.items()}.items() <= {
        (name, lines) for name in PARTS for lines in range(1, 16)
    }
    assert [f"L{n:02}" for n in range(len(LESSONS))] == LESSONS


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_begins_with_all_before_it_and_gaps_of_its_own(lesson: str, folder: Path) -> None:
    engine = lessons.engine(lesson)
    text = (folder / "engine.py").read_text("utf-8")
    for name, part in PARTS.items():
        assert hasattr(engine, name) == (part.lesson <= lesson)
        assert (f'"{name} is not written yet' in text) == (part.lesson == lesson)
    part = next(getattr(engine, name) for name in PARTS if PARTS[name].lesson == lesson)
    plain = [p for p in signature(part).parameters.values() if p.kind not in (2, 4)]
    given = {p.name: None for p in plain}
    with pytest.raises(engine.EngineError, match="is not written yet: the exercise of"):
        part(**given)


def test_all_parts_kept_make_the_whole(folder: Path) -> None:
    for name in PARTS:
        assert "Kept: my_engine/engine.py now uses your" in str(keep(getattr(ours, name)))
    kept = (folder / "engine.py").read_text("utf-8")
    assert kept == growing.template()[0]
    engine = lessons.engine(LESSONS[-1])
    assert (folder / "engine.py").read_text("utf-8") == kept
    expected = trained_dynamically(ours, 2)
    for found in (trained_dynamically(engine, 2), trained_statically(engine, 2)):
        assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_the_package_needs_nothing_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons.engine("L07")
    monkeypatch.syspath_prepend(folder.parent)
    package = importlib.import_module("my_engine")
    assert package.Tensor(2.0).value == 2
    assert "viz" not in (folder / "engine.py").read_text("utf-8")


COUNTING = """
def ready(node, done):
    return all(x in done for x in node.inputs)


def topological_order(outputs):
    met, todo, order = {}, list(outputs), []
    while todo:
        node = todo.pop()
        if node not in met:
            met[node] = True
            todo += node.inputs
    while len(order) < len(met):
        more = [n for n in met if n not in order and ready(n, order)]
        if not more:
            raise ValueError("a cycle")
        order += more
    return order
"""


def test_a_learners_part_takes_the_place_of_ours_with_what_it_calls(folder: Path) -> None:
    function = learner(COUNTING, "topological_order")
    keep(function)
    engine = lessons.engine("L04")
    text = (folder / "engine.py").read_text("utf-8")
    assert text.count("def topological_order") == 1
    assert "def ready(node, done):  # yours\n" in text
    assert "def backward(y, seed, values):  # ours\n" in text
    x = engine.Tensor(3.0, requires_grad=True)
    assert engine.topological_order([x * x + x])[-1].op == "Add"
    lessons.engine("L01")  # to begin an earlier lesson again loses nothing
    assert "def ready(node, done):  # yours\n" in (folder / "engine.py").read_text("utf-8")
    again = (folder / "engine.py").read_text("utf-8")
    assert "def walk_back(self):  # ours\n" in again
    keep(ours.run_in_order)
    assert "def ready(node, done):  # yours\n" in (folder / "engine.py").read_text("utf-8")


def test_what_a_trial_is_given_is_not_kept(folder: Path) -> None:
    engine = lessons.engine("L02", ours.fit, ours.backward)
    assert not folder.exists()
    assert engine.fit(np.ones((2, 3)), np.ones(3)).tolist() == [2, 2, 2]


def test_a_trial_fills_the_other_gaps_of_the_lesson_with_ours(folder: Path) -> None:
    engine = lessons.engine("L03", learner(COUNTING, "topological_order"))
    assert hasattr(engine, "ready")  # what the learner's function calls is there, too
    x = engine.Tensor(3.0, requires_grad=True)
    with engine.no_grad():
        assert not (x * x).inputs
    (x * x + x).backward()
    assert x.grad == 7
    assert not folder.exists()


SWITCH = """
import contextlib


@contextlib.contextmanager
def no_grad():
    before, Tensor.recording = Tensor.recording, {off}
    try:
        yield
    finally:
        Tensor.recording = before
"""


def test_a_part_with_a_decorator_is_kept_with_it(folder: Path) -> None:
    gap = learner(SWITCH.format(off="..."), "no_grad", Tensor=ours.Tensor)
    assert "Not finished yet" in str(keep(gap))
    keep(learner(SWITCH.format(off="0"), "no_grad", Tensor=ours.Tensor))
    text = (folder / "engine.py").read_text("utf-8")
    assert "@contextlib.contextmanager\ndef no_grad():  # yours\n" in text
    engine = lessons.engine("L04")
    with engine.no_grad():
        assert engine.Tensor.recording == 0


CLASSES = """
def fit(g, x):
    import enum
    from dataclasses import dataclass
    from typing import NamedTuple

    class Place(NamedTuple):
        at: int = 1

    class Box:
        value: float = 2.0
        twice = value * 2

    class Way(enum.IntEnum):
        BACK = FIRST = 4

    @dataclass
    class Total:
        near: "Total | int"

    return Total(g * x + Place().at + Box.twice + Way.BACK).near
"""


def test_classes_in_a_part_are_kept_and_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what Python sets in a class nor what the class has set comes from the notebook."""
    assert "fit" in repr(keep(learner(CLASSES, "fit")))
    assert lessons.engine("L03").fit(2, 5) == 19
    monkeypatch.setitem(sys.modules, "kept", kept := ModuleType("kept"))
    exec((folder / "engine.py").read_text("utf-8"), vars(kept))
    assert kept.fit(2, 5) == 19
    read = "def fit(g, x):\n    class Box:\n        scale = scale\n    return g\n"
    assert "it uses `scale`" in repr(keep(learner(read, "fit", scale=1)))


def test_a_leaf_that_no_gradient_reaches_has_none() -> None:
    x, w = ours.Tensor(2.0, requires_grad=True), ours.Tensor(3.0, requires_grad=True)
    ((x > 1.0) * w).backward()
    assert x.grad is None
    assert w.grad == 1


def test_gaps_and_what_the_engine_does_not_have_are_not_kept(folder: Path) -> None:
    gap = learner("def fit(g, x):\n    return ...\n", "fit")
    assert "Not finished yet" in str(keep(gap))
    other = learner("def fitting(g, x):\n    return g\n", "fitting")
    with pytest.raises(ValueError, match="`fitting` isn't a part of the engine"):
        keep(other)
    foreign = learner("def fit(g, x):\n    return g + SCALE\n", "fit", SCALE=1)
    told = repr(keep(foreign))
    assert told.startswith("… my_engine  fit is not kept yet: it uses `SCALE`")
    taken = "def fitted(g, x):\n    return g\n\n\ndef fit(g, x):\n    return fitted(g, x)\n"
    with pytest.raises(ValueError, match="The engine has a function `fitted` already"):
        keep(learner(taken, "fit"))
    assert not folder.exists()


def test_a_file_that_was_spoilt_is_left_alone(folder: Path) -> None:
    lessons.engine("L02")
    file = folder / "engine.py"
    file.write_text(file.read_text("utf-8") + "def (\n", "utf-8")
    spoilt = file.read_text("utf-8")
    for call in (lambda: lessons.engine("L03"), lambda: keep(ours.fit)):
        with pytest.raises(ValueError, match=r"engine.py, line \d+: .*Remedy: mend that line"):
            call()
    assert file.read_text("utf-8") == spoilt


def edited(folder: Path, old: str, new: str) -> str:
    """The text of the learner's file after it was edited by hand."""
    file = folder / "engine.py"
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")
    return file.read_text("utf-8")


HELPERS = """
def twice(x):
    return x + x


def thrice(x):
    return twice(x) + x


def fit(g, x):
    return thrice(g) / 3
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("EVENTS = []", "EVENTS = []  # a note of mine"),
        ("class Node:", "def own(x):\n    return x\n\n\nclass Node:"),
        ("class Node:", "class Own:  # yours\n    pass\n\n\nclass Node:"),
        ("return self.name or self.op", 'return f"<{self.name or self.op}>"'),
        ("    return values\n\n\ndef compute", "    return dict(values)\n\n\ndef compute"),
        ('    """Write one event down."""\n', ""),
    ],
)
def test_what_was_edited_by_hand_is_kept_beside_and_said(
    old: str, new: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lessons.engine("L02")
    keep(learner(HELPERS, "fit"))
    lessons.engine("L03")
    assert sorted(x.name for x in folder.iterdir()) == ["__init__.py", "engine.py"]
    before = edited(folder, old, new)
    capsys.readouterr()
    lessons.engine("L03")
    told = capsys.readouterr().out
    assert "edited by hand" in told
    assert "my_engine/engine_edited_1.py" in told
    assert (folder / "engine_edited_1.py").read_text("utf-8") == before
    lessons.engine("L03")
    assert "edited" not in capsys.readouterr().out
    edited(folder, old, new)
    lessons.engine("L03")
    assert not (folder / "engine_edited_2.py").exists(), "this change is kept already"
    edited(folder, "import math\n", "import math  # another\n")
    assert "my_engine/engine_edited_2.py" in str(keep(learner(HELPERS, "fit")))


def test_an_own_function_with_its_mark_stays_and_a_part_may_be_deleted(folder: Path) -> None:
    keep(learner(HELPERS, "fit"))
    lessons.engine("L03")
    source = "def mine_too(x):  # yours\n    return x, '\u2028'\n\n\n"
    edited(folder, "def caller():", source + "def caller():")
    engine = lessons.engine("L04")
    assert engine.mine_too(1) == (1, "\u2028")
    text = (folder / "engine.py").read_text("utf-8")
    start = text.index("def fit(g, x):  # yours")
    (folder / "engine.py").write_text(text[:start] + text[text.index("\n\n\n", start) :], "utf-8")
    lessons.engine("L04")
    assert "def fit(g, x):  # ours\n" in (folder / "engine.py").read_text("utf-8")
    assert sorted(x.name for x in folder.iterdir()) == ["__init__.py", "engine.py"]


def test_an_editors_line_ends_and_its_mark_are_no_changes(folder: Path) -> None:
    keep(learner(HELPERS, "fit"))
    file = folder / "engine.py"
    raw = file.read_bytes()
    file.write_bytes(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n"))
    lessons.engine("L02")
    assert file.read_bytes() == raw
    assert not (folder / "engine_edited_1.py").exists()


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (b"# ---- L77: the future ----\n", r"engine.py, line \d+: there is no lesson L77 yet"),
        ("# 中文\n".encode("gb18030"), r"engine.py, line \d+: this file isn't UTF-8 text"),
        (b"\0", "engine.py, line .*null bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_left_alone(
    added: bytes, said: str, folder: Path
) -> None:
    lessons.engine("L02")
    file = folder / "engine.py"
    own = b"def own(x):  # yours\n    return x\n"
    file.write_bytes(file.read_bytes() + added + own)
    spoilt = file.read_bytes()
    for call in (lambda: lessons.engine("L03"), lambda: keep(ours.fit), lessons.course):
        with pytest.raises(ValueError, match=said):
            call()
    assert file.read_bytes() == spoilt
    file.unlink()
    file.mkdir()
    with pytest.raises(ValueError, match=r"engine.py cannot be read \(Is a directory\)"):
        lessons.engine("L03")


def full(path: Any, content: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("obstacle", ["a file", "a full disk", "a file in the way"])
def test_where_nothing_can_be_written_a_lesson_goes_on(
    obstacle: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "No space left on device"
    if obstacle == "a full disk":
        monkeypatch.setattr(files, "write", full)
    elif obstacle == "a file":
        folder.write_text("")
        reason = "File exists"
    else:
        folder.parent.joinpath("file").write_text("")
        monkeypatch.setenv(user_files.FOLDER, str(folder.parent / "file"))
        reason = "Not a directory"
    engine = lessons.engine("L02")
    told = capsys.readouterr().out
    assert told.count("Nothing was kept") == 1
    assert reason in told
    assert "written to" not in told
    assert engine.topological_order([engine.Node("Placeholder", name="x")])
    shown = str(keep(ours.fit))
    assert shown.startswith("… my_engine  Nothing was kept: my_engine/engine.py cannot be written")
    assert lessons.engine("L02", ours.fit).fit is not None
    assert not (folder / "engine.py").exists()


def test_what_was_edited_is_not_written_over_where_its_copy_cannot_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons.engine("L02")
    before = edited(folder, "EVENTS = []", "EVENTS = [1]")
    monkeypatch.setattr(files, "write", full)
    lessons.engine("L03")
    assert (folder / "engine.py").read_text("utf-8") == before


def test_an_unknown_lesson_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="No lesson L77 adds to the engine"):
        lessons.engine("L77")


def test_our_answer_is_shown_after_a_try_and_under_its_own_name():
    assert "First try it yourself" in repr(lessons.solution("L00.core", "dynamic"))
    lessons.check("L00.core", ..., 7)
    assert "First try it yourself" in repr(lessons.solution("L00.core", "dynamic")), "only a gap"
    with pytest.raises(AssertionError):
        lessons.check("L00.core", 6, 7)
    shown = lessons.solution("L00.core", "dynamic", "pad")
    for text in (repr(shown), shown._repr_markdown_()):
        assert re.findall(r"^def (\w+)", text, re.M) == ["our_dynamic", "our_pad"]
        assert "yours" not in text.split("def ", 1)[1]
    assert 'lang="zh"' in shown._repr_markdown_()
    with pytest.raises(ValueError, match="isn't a part of the engine"):
        lessons.solution("L00.core", "nothing")


def test_where_nbgrader_grades_no_cell_ends_with_what_it_would_take_for_points(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert lessons.check("L00.core", 7, 7) is None
    assert "✓ L00.core" in capsys.readouterr().out


def test_what_a_check_has_refused_is_not_kept(folder: Path) -> None:
    wrong = learner("def pad(rows, filler=0.0):\n    return rows, rows\n", "pad", {"np": np})
    with pytest.raises(check.CheckFailed):
        check.check("L06.core", wrong)
    assert "pad is not kept yet: the check L06.core has refused it" in str(keep(wrong))
    assert not (folder / "engine.py").exists()
    mended = learner(PARTS["pad"].source, "pad", {"np": np})
    check.check("L06.core", mended)
    assert "my_engine/engine.py now uses your `pad`" in str(keep(mended))


def test_former_names_work_and_say_what_takes_their_place() -> None:
    def wrong(w: Any, g: Any, speed: Any, rate: float, share: float) -> Any:
        speed += g
        return w - rate * speed, speed

    with pytest.warns(
        FutureWarning, match=r'`lessons.check\("L14.core", momentum\)` runs these steps'
    ):
        right = lessons.downhill(4.0, 0.125, 0.5)
    assert [right[f"step {i}, new weight"] for i in (1, 2, 3)] == [3.0, 1.75, 0.6875]
    with pytest.warns(FutureWarning, match=r"removed in the next version"):
        found = lessons.downhill(4.0, 0.125, 0.5, wrong)
    assert found["step 1, changed in place"] == ["speed"]
    assert found["step 2, new speed"] == 14


def test_each_part_is_judged_by_some_check_of_its_lesson() -> None:
    judged = {
        (part, c.id[:3])
        for b in all_lessons().values()
        for c in b.checks.values()
        for part in c.parts
    }
    assert judged == {(name, part.lesson) for name, part in PARTS.items()}


def asked(answer: str, names: dict[str, Any]) -> str:
    """What a check says below an answer in its own cell."""
    names |= {"lessons": lessons}
    with pytest.raises(check.CheckFailed) as failed:
        learner(f"{answer}\nlessons.check('L02.core', lambda: mine(y), 1)\n", "mine", names)
    return str(failed.value)


def test_an_error_names_the_line_of_the_answer(folder: Path) -> None:
    answer = "def mine(y):\n    def inner():\n        return y[9]\n    return inner()\n"
    assert "It happens in `mine`, in this line: return y[9]" in asked(answer, {"y": [1]})
    assert "It happens" not in asked("def mine(y):\n    return y\n", {"y": 2})


def test_only_functions_are_kept(folder: Path) -> None:
    with pytest.raises(ValueError, match="`static` isn't a function written with `def`"):
        keep(type("static", (), {}))


def test_a_trial_takes_what_was_written_as_the_part_that_it_fills(folder: Path) -> None:
    """Else ours would stand in its place, and be judged."""
    nameless = learner("pad = lambda rows, filler=0.0: (rows, rows)\n", "pad")
    with pytest.raises(ValueError, match=r"`pad` isn't a function .* `def pad\(...\):`"):
        lessons.engine("L06", nameless)
    other = learner("def mine(rows, filler=0.0):\n    return rows, rows\npad = mine\n", "pad")
    with pytest.raises(ValueError, match="`mine` isn't a part of the engine"):
        lessons.engine("L06", other)


def test_the_map_of_the_course_follows_what_is_kept(folder, monkeypatch):
    notebooks = Path(__file__).parents[2] / "notebooks"
    start = lessons.course(notebooks)
    by_number = {stop.number: stop for stop in start.stops}
    assert list(by_number) == ["", *LESSONS]
    assert {stop.state for stop in start.stops} == {"open", "new"}
    assert by_number["L01"].after == ("L00",)
    keep(learner(PARTS["dynamic"].source, "dynamic", note=ours.note))
    assert lessons.course(notebooks).stops[1].state == "begun"
    keep(learner(PARTS["static"].source, "static", note=ours.note))
    done = lessons.course(notebooks)
    assert done.stops[1].state == "done"
    html = done._repr_html_()
    assert '<li data-state="done"><a href="00_one_formula_two_graphs.ipynb">' in html
    assert "✓ <code>static</code>" in html
    for path in notebooks.glob("[0-9]*.ipynb"):
        assert f'href="{path.name}"' in html
    assert '<li data-state="open"><a href="tour.ipynb">' in html
    with pytest.raises(AssertionError):
        lessons.check("tour.exercise", 1, 2)
    assert lessons.course(notebooks).stops[0].state == "open"
    lessons.check("tour.exercise", 2, 2)
    solved = lessons.course(notebooks)
    assert solved.stops[0].state == "done"
    assert "done: you solved its exercise" in str(solved).splitlines()[0]
    with pytest.raises(ValueError, match="no lessons"):
        lessons.course(folder.parent)


def test_a_lesson_that_is_read_again_begins_as_it_did(folder: Path) -> None:
    """What later lessons added is kept, and does not change what an earlier one shows."""
    lessons.engine("L12")
    helper = "def half(x):\n    return x / 2\n\n\n"
    keep(learner(f"{helper}def decide(node):\n    return bool(half(node.value))\n", "decide"))
    again = lessons.engine("L05")
    assert again.placeholder("n"), "without L12's part any node is true"
    assert not hasattr(again, "decide")
    assert "def half(x)" in (folder / "engine.py").read_text("utf-8")
    assert lessons.engine("L05", learner(PARTS["cond"].source, "cond")).cond
