"""Schedules: within their bounds, equal to the program when run, and never stuck."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bits import same_bits
from covering import examples
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import Recipe, recipes

import minigrad as mg
from minigrad.compiler.schedule import schedule as engine
from minigrad.compiler.schedule.devices import Pool, TaskFailed, TaskSpan, handover_seconds
from minigrad.compiler.schedule.parallel import Parallel
from minigrad.compiler.schedule.schedule import Schedule, Task, best_schedule, list_schedule
from minigrad.diagnostics.messages import set_language


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with mg.Graph():
        yield
    set_language("en")
    assert threading.active_count() == 1 or not [
        t for t in threading.enumerate() if t.name.startswith("device")
    ], "all threads of a pool have ended"


def nodes(count: int) -> list[mg.Node]:
    return [mg.placeholder(f"n{i}", shape=()) for i in range(count)]


@st.composite
def problems(draw: Any) -> tuple[dict[Any, Any], dict[Any, float], int]:
    """Tasks with what they wait for, their costs, and a number of devices."""
    count = draw(st.integers(1, 14))
    with mg.Graph():
        tasks = nodes(count)
    after = {}
    for i, node in enumerate(tasks):
        needed = draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set()
        after[node] = tuple(tasks[j] for j in sorted(needed))
    costs = {n: float(draw(st.integers(0, 9))) for n in tasks}
    return after, costs, draw(st.integers(1, 4))


def path_length(after: Any, costs: Any) -> float:
    """The longest path by trying all of them."""

    def ends(node: Any) -> float:
        return float(costs[node] + max([ends(x) for x in after[node]], default=0))

    return max(ends(node) for node in after)


@examples(100)
@given(problems())
def test_the_makespan_keeps_its_bounds(problem: Any) -> None:
    after, costs, devices = problem
    total, path = sum(costs.values()), path_length(after, costs)
    tasks = list_schedule(after, costs, devices)
    schedule = Schedule(tasks, devices)
    schedule.verify()
    assert {t.node for t in tasks} == set(after)
    assert all(t.cost == costs[t.node] for t in tasks)
    assert schedule.length == path == schedule.bounds.path
    assert max(path, total / devices) <= schedule.makespan <= total
    graham = total / devices + (1 - 1 / devices) * path
    assert schedule.makespan <= graham + 1e-9, "no device was idle while a task was ready"
    chain = schedule.critical_path
    assert sum(costs[n] for n in chain) == path
    for one, two in itertools.pairwise(chain):
        assert any(x is one for x in after[two])


@examples(100)
@given(problems(), st.floats(0, 5))
def test_several_devices_are_used_where_they_are_quicker(problem: Any, delay: float) -> None:
    after, costs, devices = problem
    schedule = best_schedule(after, costs, devices, delay)
    ends = [Schedule(list_schedule(after, costs, n, delay), n) for n in range(1, devices + 1)]
    assert schedule.makespan == min(s.makespan for s in ends) <= sum(costs.values())
    assert [t.predicted for t in schedule.trials] == [s.makespan for s in ends]


def test_the_longest_path_goes_first() -> None:
    a, b, c, d, e = tasks = nodes(5)
    after = {a: (), b: (), c: (), d: (c,), e: (a, b, d)}
    costs = dict(zip(tasks, [2.0, 2.0, 1.0, 3.0, 1.0], strict=True))
    schedule = best_schedule(after, costs, 2)
    assert [(t.node.name, t.device, t.start, t.end) for t in schedule.tasks] == [
        *(("n2", 0, 0, 1), ("n0", 1, 0, 2), ("n3", 0, 1, 4), ("n1", 1, 2, 4), ("n4", 0, 4, 5))
    ]
    assert (schedule.makespan, schedule.length, schedule.total) == (5, 5, 9)
    assert [n.name for n in schedule.critical_path] == ["n2", "n3", "n4"]
    assert schedule.utilisation == 0.9
    assert [[t.node.name for t in row] for row in schedule.gantt] == [
        *(["n2", "n3", "n4"], ["n0", "n1"])
    ]


def test_tasks_that_are_too_small_stay_on_one_device() -> None:
    tasks = nodes(6)
    schedule = best_schedule(dict.fromkeys(tasks, ()), dict.fromkeys(tasks, 1.0), 2, handover=1.5)
    assert schedule.used == 1
    assert [t.predicted for t in schedule.trials] == [6, 7.5]
    assert schedule.makespan == schedule.total == 6
    assert schedule.utilisation == 0.5
    again = best_schedule(dict.fromkeys(tasks, ()), dict.fromkeys(tasks, 1.0), 2, handover=0.5)
    assert (again.used, again.makespan) == (2, 4.5)


def test_a_schedule_that_breaks_the_rules_is_found() -> None:
    a, b = nodes(2)
    early = Schedule((Task(a, 0, 0, 2), Task(b, 1, 1, 3, (a,))), 2)
    with pytest.raises(mg.VerifyError, match=r"n1 starts at 1, but the earliest it can start is 2"):
        early.verify()
    both = Schedule((Task(a, 0, 0, 2), Task(b, 0, 1, 3)), 2)
    with pytest.raises(mg.VerifyError, match="n1"):
        both.verify()
    late = Schedule((Task(a, 0, 0, 2), Task(b, 1, 5, 6)), 2)
    with pytest.raises(mg.VerifyError, match="makespan 6 is not between 2 and 3"):
        late.verify()
    with pytest.raises(mg.VerifyError, match="belongs to no program"):
        early.run()


def test_many_tasks_need_no_recursion() -> None:
    tasks = nodes(5_000)
    after = {n: (tasks[i - 1],) if i else () for i, n in enumerate(tasks)}
    schedule = best_schedule(after, dict.fromkeys(tasks, 1.0), 2)
    assert schedule.makespan == len(schedule.critical_path) == 5_000
    assert "4960 more tasks" in str(schedule)


# ---- A scheduler of one's own -----------------------------------------------------------------


def one_by_one(waits: Any, seconds: Any, devices: int) -> dict[Any, Any]:
    """All on the last device, in the order that is given."""
    plan, now = {}, 0.0
    for node in waits:
        plan[node] = devices - 1, now, now + seconds[node]
        now += seconds[node]
    return plan


def test_a_scheduler_of_ones_own_is_checked_drawn_and_run_in_its_order() -> None:
    graph, feeds = wide()
    program = graph.compile(optimize=False)

    def backwards(waits: Any, seconds: Any, devices: int) -> dict[Any, Any]:
        left, plan, now = dict(waits), {}, 0.0
        while left:
            node = [n for n, needed in left.items() if not set(needed) & left.keys()][-1]
            plan[node] = 0, now, now + seconds[node]
            now += seconds.pop(node)
            del left[node]
        waits.clear()  # which spoils nothing: it is a copy
        return plan

    schedule = program.schedule(2, costs=one, place=backwards)
    assert (schedule.makespan, schedule.used, schedule.trials) == (15, 1, ())
    ours = program.schedule(2, costs=one)
    assert {t.node: t.after for t in schedule.tasks} == {t.node: t.after for t in ours.tasks}
    result, measured = schedule.run(feeds)
    same_bits(result, program(feeds))
    assert [t.node for t in measured.tasks] == [t.node for t in schedule.tasks]
    assert [t.node.name for t in schedule.tasks] != [t.node.name for t in ours.tasks]
    by_time = program.schedule(3, place=one_by_one)
    assert (by_time.costs, by_time.makespan) == ("measured", by_time.total)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda plan, last: plan.pop(last), "Add_2 is no place. Remedy: give a device from 0 to 1"),
        (
            lambda plan, last: plan.update({last: (2, 14.0, 15.0)}),
            "a start and an end that are 1 s",
        ),
        (lambda plan, last: plan.update({last: (1, 14.0, 14.5)}), "Add_2 is no place"),
        (lambda plan, last: plan.update({last: (1, "14", "15")}), "Add_2 is no place"),
        (lambda plan, last: plan.update({last: 14.0}), "Add_2 is no place"),
        (
            lambda plan, last: plan.update({last: (0, 3.0, 4.0)}),
            "Add_2 starts at 3.0, but the earliest",
        ),
        (lambda plan, last: plan.update({last: (1, 13.5, 14.5)}), "Add_2 starts at 13.5, but"),
        (lambda plan, last: plan.update({last: (1, 99.0, 100.0)}), "100.0 is not between"),
    ],
)
def test_what_is_no_schedule_is_refused(change: Any, said: str) -> None:
    program = wide()[0].compile(optimize=False)

    def spoilt(waits: Any, seconds: Any, devices: int) -> Any:
        plan = one_by_one(waits, seconds, devices)
        change(plan, next(n for n in plan if n.name == "Add_2"))
        return plan

    with pytest.raises(mg.VerifyError, match=said):
        program.schedule(2, costs=one, place=spoilt)
    with pytest.raises(mg.VerifyError, match="is no place"):
        program.schedule(2, costs=one, place=lambda waits, seconds, devices: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(mg.ArgumentError, match="place"):
        program.schedule(2, costs=one, place=3)  # type: ignore[arg-type]


def test_where_no_thread_can_be_started_one_does_it_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    graph, feeds = wide()
    program = graph.compile()
    result, measured = program.schedule(2, costs=one).run(feeds)
    same_bits(result, program(feeds))
    assert measured.used == 1


# ---- The pool ---------------------------------------------------------------------------------


@examples(100)
@given(problems())
def test_the_pool_runs_each_task_once_and_after_what_it_needs(problem: Any) -> None:
    after, _, devices = problem
    tasks = list(after)
    place = {n: i for i, n in enumerate(tasks)}
    followers: list[list[int]] = [[] for _ in tasks]
    for node, needed in after.items():
        for x in needed:
            followers[place[x]].append(place[node])
    done: list[int] = []
    pool = Pool(done.append, [len(x) for x in after.values()], followers, range(len(tasks)))
    spans = pool.run(devices)
    assert sorted(done) == list(range(len(tasks)))
    assert {s.device for s in spans} <= set(range(devices))
    for node, needed in after.items():
        assert all(spans[place[x]].end <= spans[place[node]].start for x in needed)


def test_tasks_run_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=10)
    spans = Pool(lambda i: [meeting.wait()], [0] * 3, [[]] * 3, range(3)).run(3)  # type: ignore[arg-type]
    assert {s.device for s in spans} == {0, 1, 2}


def ended(work: Any) -> None:
    """Do it on a thread of its own, so that what never ends is an error."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it hangs"


def test_the_first_error_ends_all_threads() -> None:
    started = threading.Event()

    def work(task: int) -> None:
        if task == 0:
            assert started.wait(10)
            raise ZeroDivisionError
        started.set()

    # Task 2 waits for task 0, which fails: whoever waits for it must be told.
    pool = Pool(work, [0, 0, 1], [[2], [], []], range(3))
    found: list[TaskFailed] = []

    def run() -> None:
        with pytest.raises(TaskFailed) as caught:
            pool.run(2)
        found.append(caught.value)

    ended(run)
    assert (found[0].task, type(found[0].error)) == (0, ZeroDivisionError)
    assert pool.spans[2] is None


def test_an_interrupt_ends_all_threads() -> None:
    def work(task: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(TaskFailed) as found:
        Pool(work, [0, 1], [[1], []], range(2)).run(2)
    assert type(found.value.error) is KeyboardInterrupt


def test_handing_over_takes_time() -> None:
    assert handover_seconds() > 0


# ---- Programs ---------------------------------------------------------------------------------


def wide(width: int = 4, shape: Any = (30, 30)) -> tuple[mg.Graph, dict[str, Any]]:
    """Products that do not wait for each other, and their sum."""
    x = mg.placeholder("x", shape)
    random = np.random.default_rng(0)
    ws = [mg.constant(random.random(shape, dtype=np.float32)) for _ in range(width)]
    parts = [mg.tanh(x @ w).sum() for w in ws]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return mg.build_graph(x, [total, *parts]), {"x": random.random(shape)}


def one(node: mg.Node) -> float:
    """The cost of every task."""
    return 1.0


@examples(100)
@given(recipes(), st.booleans(), st.integers(1, 3))
def test_random_graphs_give_what_the_program_gives(
    recipe: Recipe, optimize: bool, devices: int
) -> None:
    program, feeds = recipe.graph(gradients=True).compile(optimize=optimize), recipe.feeds()
    zeros = {name: value * 0 for name, value in feeds.items()}
    expected, at_zero = program(feeds), program(zeros)
    schedule = program.schedule(devices, costs=one)
    schedule.verify()
    first, measured = schedule.run(feeds)
    same_bits(first, expected)
    kept = [np.array(v) for v in first]
    same_bits(schedule.run(zeros)[0], at_zero)
    same_bits(first, kept)
    measured.verify()
    assert {t.node for t in measured.tasks} == {t.node for t in schedule.tasks}


def test_threads_run_at_once_and_the_schedule_is_as_measured() -> None:
    graph, feeds = wide()
    program = graph.compile(optimize=False)
    schedule = program.schedule(devices=2, costs=one)
    assert (schedule.used, schedule.makespan, schedule.total) == (2, 8, 15)
    result, measured = schedule.run(feeds)
    same_bits(result, program(feeds))
    measured.verify()
    assert (measured.costs, measured.devices, len(measured.tasks)) == ("run", 2, 15)
    assert measured.makespan >= measured.length


def test_no_two_values_lie_in_one_place() -> None:
    graph, feeds = wide()
    program = graph.compile()
    program.schedule(costs=one).run(feeds)
    parallel = program._parallel[1]
    plan = parallel.bound.plan
    assert len({x.buffer for x in plan.lifetimes}) == len(plan.lifetimes)
    assert plan.bytes > program.plan.bytes


def test_scratch_memory_of_regions_is_not_shared() -> None:
    x = mg.placeholder("x", (50, 50))
    ys = [mg.tanh(x * k) * mg.exp(x) + mg.sin(x) if k else x for k in range(5)]
    program = mg.build_graph(x, [y.sum() for y in ys]).compile()
    schedule = program.schedule(4, costs=one)
    values = np.random.default_rng(0).random((50, 50))
    expected = program({x: values})
    for _ in range(20):
        same_bits(schedule.run({x: values})[0], expected)


@pytest.mark.parametrize("executor", ["reference", "numpy", "c"])
def test_every_executor_has_a_schedule(executor: str, capfd: pytest.CaptureFixture[str]) -> None:
    """C falls back to NumPy where there is no compiler, and says so."""
    graph, feeds = wide()
    program = graph.compile(executor=executor)
    schedule = program.schedule(3, costs=one)
    assert schedule.used == 3
    for _ in range(5):
        found = schedule.run(feeds)[0]
        if executor != "reference":  # whose results lie elsewhere; see TOLERANCE in test_compiled
            same_bits(found, program(feeds))
        np.testing.assert_allclose(found, program(feeds), rtol=2e-6)


def test_effects_keep_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed, and which of two values a variable has, though no data orders it."""
    x, w = mg.placeholder("x", (60, 60)), mg.Variable(np.float32(1), name="w")
    slow = mg.tanh(x @ x @ x).sum()
    before = mg.Print(slow * 0 + w, "before")
    first = mg.assign(w, slow * 0 + 5)
    after = mg.Print(mg.read_value(w) + 0, "after")
    second = mg.assign(w, mg.constant(np.float32(6)))
    now = mg.read_value(w)
    last = mg.Print(mg.constant(np.float32(7)), "last")
    program = mg.build_graph(x, [before, after, now, first, second, last]).compile(optimize=False)
    schedule = program.schedule(3, costs=one)
    feeds = {x: np.ones((60, 60))}
    for _ in range(10):
        program.variables[w] = np.float32(1)
        results, _ = schedule.run(feeds)
        assert capsys.readouterr().out == "before 1.0\nafter 5.0\nlast 7.0\n"
        assert [float(v) for v in results] == [1, 5, 6, 5, 6, 7]
        assert float(program.variables[w]) == 6


def test_training_on_threads_gives_the_same_variables() -> None:
    x, t = mg.placeholder("x", (None, 8)), mg.placeholder("t", (None,), mg.int64)
    model = mg.nn.Sequential(mg.nn.Linear(8, 16, seed=0), mg.nn.ReLU(), mg.nn.Linear(16, 3, seed=1))
    loss = mg.cross_entropy(model(x), t)
    step = mg.optim.Adam(model.parameters(), lr=0.01).minimize(loss)
    graph = mg.build_graph([x, t], [loss, step])
    program, other = graph.compile(), graph.compile()
    random = np.random.default_rng(0)
    schedule = None
    for n in (5, 5, 7, 5, 1):
        feeds = {x: random.standard_normal((n, 8)), t: random.integers(0, 3, n)}
        schedule = schedule or program.schedule(2, costs=one, feed_dict=feeds)
        (mine, _), _ = schedule.run(feeds)
        assert mine == other(feeds)[0]
    for variable, value in other.variables.items():
        np.testing.assert_array_equal(program.variables[variable], value)


@pytest.mark.parametrize("devices", [1, 3])
def test_an_error_in_a_thread_names_both_lines_and_changes_nothing(devices: int) -> None:
    x, w = mg.placeholder("x", (None,)), mg.Variable(np.ones(3, np.float32), name="w")
    update = mg.assign(w, w * 2)
    sums = [mg.exp(x).sum() + k for k in range(4)]
    wrong = x + w  # only fits when x has three elements
    program = mg.build_graph(x, [*sums, wrong, update]).compile()
    schedule = program.schedule(devices, costs=one, feed_dict={x: [1, 2, 3]})
    with pytest.raises(mg.ShapeError, match=r"\(2,\), \(3,\)") as found:
        schedule.run({x: [1, 2]})
    assert "defined at test_schedule.py" in str(found.value)
    assert "used at test_schedule.py" in str(found.value)
    assert program.variables[w].tolist() == [1, 1, 1]
    assert schedule.run({x: [1, 2, 3]})[0][-2].tolist() == [2, 3, 4]
    assert program.variables[w].tolist() == [2, 2, 2]


def test_an_assertion_in_a_thread_names_both_lines() -> None:
    x = mg.placeholder("x", (None,))
    ys = [mg.exp(x) * k for k in range(1, 4)]
    check = mg.Assert(x > 0, "x must be positive")
    program = mg.build_graph(x, [*ys, check]).compile(optimize=False)
    schedule = program.schedule(3, costs=one, feed_dict={x: [1.0]})
    with pytest.raises(mg.AssertionFailed, match="x must be positive") as found:
        schedule.run({x: [-1.0]})
    text = str(found.value)
    assert "defined at test_schedule.py" in text
    assert 'check = mg.Assert(x > 0, "x must be positive")' in text
    assert "used at test_schedule.py" in text
    assert "schedule.run({x: [-1.0]})" in text


def test_listeners_are_told_the_same() -> None:
    graph, feeds = wide()
    program = graph.compile(optimize=False)
    with mg.record() as expected:
        program(feeds)
    schedule = program.schedule(3, costs=one)
    with mg.record() as log:
        schedule.run(feeds)
    assert log.counts.by_op == expected.counts.by_op
    assert [e.tick for e in log.events] == list(range(1, len(log.events) + 1))


def test_costs_are_measured_once_and_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    x, w = mg.placeholder("x", (20, 20)), mg.Variable(np.ones((20, 20), np.float32), name="w")
    shown = mg.Print(mg.exp(x @ w).sum())
    program = mg.build_graph(x, [shown, mg.assign(w, w + 1)]).compile()
    schedule = program.schedule(devices=3)
    assert capsys.readouterr().out == ""
    assert np.all(program.variables[w] == 1)
    assert schedule.costs == "measured"
    assert [t.devices for t in schedule.trials] == [1, 2, 3]
    assert schedule.trials[0].measured is not None
    assert schedule.rehearsal is not None
    schedule.rehearsal.verify()
    schedule.verify()
    assert all(t.cost > 0 for t in schedule.tasks if t.node.op is not shown.op)
    one_device = program.schedule(devices=1)
    assert schedule.makespan <= one_device.makespan == one_device.total
    schedule.run({x: np.zeros((20, 20))})
    assert capsys.readouterr().out == "400.0\n"
    assert np.all(program.variables[w] == 2)


@pytest.mark.parametrize(("slow", "used"), [(1, 2), (2, 1)])
def test_what_was_measured_decides(monkeypatch: Any, slow: int, used: int) -> None:
    """Predicted are two devices; which number is quicker when run is made up here."""

    def spans(self: Any, schedule: Any, devices: int, quiet: bool = False) -> Any:
        ends = 2.0 if devices == slow else 1.0
        return {node: TaskSpan(i % devices, 0.0, ends) for i, node in enumerate(self.after)}

    graph, feeds = wide(shape=(200, 200))
    monkeypatch.setattr(Parallel, "spans", spans)
    schedule = graph.compile().schedule(2, feed_dict=feeds, handover=0)
    assert [t.measured for t in schedule.trials] == ([2, 1] if slow == 1 else [1, 2])
    assert schedule.used == used
    assert schedule.makespan <= schedule.total
    schedule.verify()


def test_costs_are_given_by_node_name_or_function() -> None:
    x = mg.placeholder("x", (3,))
    a, b = mg.exp(x), mg.sin(x)
    y = a @ b
    program = mg.build_graph(x, y).compile(optimize=False)
    by_name = {"Exp": 2, "Sin": 1.5, y.name: 1}
    found = [
        program.schedule(2, costs=by_name),
        program.schedule(2, costs={a: 2, b: 1.5, y: 1}),
        program.schedule(2, costs=lambda node: by_name[node.name]),
    ]
    for schedule in found:
        assert (schedule.makespan, schedule.total) == (3, 4.5)
        assert [t.measured for t in schedule.trials] == [None, None]


def test_the_text_in_both_languages() -> None:
    x = mg.placeholder("x", (3,))
    graph = mg.build_graph(x, mg.exp(x) @ mg.sin(x))
    schedule = graph.compile(optimize=False).schedule(
        2, costs={"Exp": 0.004, "Sin": 0.002, "MatMul": 1}
    )
    assert str(schedule).splitlines() == [
        "3 tasks on 2 of 2 devices, predicted from given costs: 1.004 s",
        "critical path * 1.004 s (2 tasks), total / devices 503 ms, total 1.006 s, "
        "devices busy 50%",
        "devices: 1, predicted 1.006 s",
        "devices: 2, predicted 1.004 s",
        "  device, start, length, node",
        "* 0         0      4 ms  Exp",
        "  1         0      2 ms  Sin",
        "* 0      4 ms       1 s  MatMul",
    ]
    set_language("zh")
    assert str(schedule).splitlines()[0] == "3 个任务，2 个设备中用了 2 个，按给定耗时预测：1.004 s"
    assert len(str(schedule).splitlines()) == 8


def test_mistakes() -> None:
    x = mg.placeholder("x", (None,))
    program = mg.build_graph(x, mg.exp(x) * mg.sin(x)).compile(optimize=False)
    with pytest.raises(mg.GraphError, match="placeholder x has open lengths"):
        program.schedule()
    program({x: [1.0, 2.0]})
    with pytest.raises(mg.GraphError, match=r"no cost is given for Sin, Mul \(missing: 2\)"):
        program.schedule(costs={"Exp": 1})
    for costs, said in [(3, "costs=3"), (lambda n: -1.0, "Exp"), (lambda n: float("nan"), "Exp")]:
        with pytest.raises(mg.ArgumentError, match=said):
            program.schedule(costs=costs)
    for devices in (0, -1, 1.5, "2"):
        with pytest.raises(mg.ArgumentError, match="devices"):
            program.schedule(devices)
    with pytest.raises(mg.ArgumentError, match="handover"):
        program.schedule(handover=-1)
    with pytest.raises(mg.NotFedError, match="x"):
        program.schedule(costs=one).run()
    n = mg.placeholder("n", ())
    endless = mg.build_graph(n, mg.while_loop(lambda v: v < 9, lambda v: v * 2, n)).compile()
    with pytest.raises(mg.GraphError, match="may never end"):
        endless.schedule()
    assert endless.schedule(feed_dict={n: 1.0}).run({n: 1.0})[0] == 16


def test_schedules_are_frozen_and_free_their_memory() -> None:
    a = nodes(1)[0]
    schedule = Schedule((Task(a, 0, 0, 1),), 1)
    with pytest.raises(AttributeError):
        schedule.devices = 2  # type: ignore[misc]
    assert replace(schedule, devices=2).utilisation == 0.5
    assert Schedule((), 2).makespan == 0
    assert Schedule((), 2).critical_path == ()


@pytest.mark.parametrize("devices", [1025, 10**6, 10**30])
def test_more_devices_than_any_machine_has_are_refused(devices: int) -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(3,))
        program = mg.build_graph(x, mg.exp(x)).compile()
    with pytest.raises(mg.ArgumentError, match=r"devices=.*from 1 to 1024"):
        program.schedule(devices=devices)


def test_for_many_devices_not_every_number_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(3,))
        ends = [mg.exp(x * float(i)) for i in range(300)]
        program = mg.build_graph(x, ends).compile(optimize=False)
    tried: list[int] = []
    plain = engine.list_schedule

    def counted(after: Any, costs: Any, devices: int, delay: float) -> Any:
        tried.append(devices)
        return plain(after, costs, devices, delay)

    monkeypatch.setattr(engine, "list_schedule", counted)
    schedule = program.schedule(devices=1024, costs=lambda node: 1.0)
    schedule.verify()
    assert (schedule.makespan, schedule.used) == (2.0, 300)
    assert len(tried) < 70
    assert [t.devices for t in schedule.trials][-3:] == [128, 256, 300]
    assert min(t.predicted for t in schedule.trials) == 2.0
