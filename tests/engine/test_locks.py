"""What threads share is right or refused: programs, sessions, and what a forked process finds."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import events
from minigrad.ops import state

Run = Callable[[np.ndarray[Any, Any]], list[Any]]
THREADS, TIMES, LONG = 4, 50, 30.0  # LONG: seconds after which a test gives up waiting


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    """Threads take turns as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """What `work(i)` returns on so many threads that begin at once; their first error is raised."""
    start, found, errors = threading.Barrier(count), [None] * count, list[BaseException]()

    def go(i: int) -> None:
        start.wait(LONG)
        try:
            found[i] = work(i)
        except BaseException as error:  # noqa: BLE001 — raised again below
            errors.append(error)

    threads = [threading.Thread(target=go, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive(), "it waits for ever"
    if errors:
        raise errors[0]
    return found


# ---- Programs -----------------------------------------------------------------------------------


def planned(executor: str = "numpy") -> Any:
    """A program of several kernels, each long enough for another thread to come in between."""
    with mg.Graph():
        x = y = mg.placeholder("x", shape=(64, 64))
        for _ in range(6):
            y = mg.tanh(y @ x * 0.01 + y) * 1.5
        return mg.build_graph(x, [y, y.sum()]).compile(executor=executor)


def called(executor: str) -> Run:
    program = planned(executor)
    return lambda value: program({"x": value})


def scheduled() -> Run:
    schedule = planned().schedule(devices=2, costs=lambda node: 1.0)
    return lambda value: schedule.run({"x": value})[0]


def loaded() -> Run:
    function = planned().load_source()
    return lambda value: function({"x": value}, {})


RUNS: dict[str, Callable[[], Run]] = {
    "numpy": lambda: called("numpy"),
    "c": lambda: called("c"),
    "reference": lambda: called("reference"),
    "schedule": scheduled,
    "loaded": loaded,
}


@pytest.mark.once
@pytest.mark.parametrize("kind", RUNS)
def test_a_program_gives_each_thread_its_own_numbers(kind: str) -> None:
    run = RUNS[kind]()
    feeds = [np.full((64, 64), 0.1 * i, np.float32) for i in range(THREADS)]
    expected = [run(x) for x in feeds]

    def work(i: int) -> int:
        found = [run(feeds[i]) for _ in range(TIMES)]
        return sum(
            not all(map(np.array_equal, result, expected[i])) for result in found
        )  # compared at the end: results must last

    assert together(work) == [0] * THREADS


def counting(executor: str) -> tuple[Any, Any]:
    """A program that adds to a variable, by way of kernels that let other threads in."""
    with mg.Graph():
        w = mg.Variable(np.zeros((64, 64)), name="w", dtype="float32")
        one = mg.matmul(w * 0.0, w) + 1.0
        return w, mg.build_graph([], [mg.assign(w, w + one)]).compile(executor=executor)


@pytest.mark.once
@pytest.mark.parametrize("executor", ["numpy", "c", "reference"])
def test_no_update_of_a_variable_is_lost(executor: str) -> None:
    _, program = counting(executor)
    together(lambda i: [program() for _ in range(TIMES)])
    (value,) = program.variables.values()
    assert (value == THREADS * TIMES).all()


def test_no_update_of_a_session_is_lost_whoever_makes_it() -> None:
    with mg.Graph() as graph:
        w = mg.Variable(np.zeros((64, 64)), name="w", dtype="float32")
        double = mg.Variable(np.zeros((64, 64)), name="double", dtype="float32")
        more = w + 1.0 + mg.matmul(w * 0.0, w)
        update = [mg.assign(w, more), mg.assign(double, more * 2.0)]
        session = mg.Session(graph)
        session.run(mg.global_variables_initializer())
        program = mg.build_graph([], update).compile(session=session)
    difference = double - w * 2.0

    def work(i: int) -> None:
        for _ in range(TIMES):
            program() if i % 2 else session.run(update)
            assert not session.run(difference).any()  # no half of an update

    together(work)
    assert (session.run(w) == THREADS * TIMES).all()


def test_a_theano_function_loses_no_update() -> None:
    with mg.Graph():
        w = mg.Variable(np.zeros((64, 64)), name="w", dtype="float32")
        step = mg.theano_function([], [], updates=[(w, w + 1.0 + mg.matmul(w * 0.0, w))])
    together(lambda i: [step() for _ in range(TIMES)])
    assert (step.get_value(w) == THREADS * TIMES).all()


# ---- A run within a run -------------------------------------------------------------------------


def within(run: Callable[[], Any]) -> list[mg.GraphError]:
    """What a listener is told that starts a run again in the middle of it."""
    told: list[mg.GraphError] = []

    def again(event: events.Event) -> None:
        if event.kind == "run" and not told:
            try:
                run()
            except mg.GraphError as error:
                told.append(error)

    with events.listen(again):
        run()
    return told


@pytest.mark.parametrize("kind", [kind for kind in RUNS if kind != "loaded"])  # it tells nobody
def test_a_run_within_a_run_of_the_same_program_is_refused(kind: str) -> None:
    run, x = RUNS[kind](), np.ones((64, 64), np.float32)
    expected = run(x)
    (error,) = together(lambda i: within(lambda: run(x)), count=1)[0]
    assert error.key == "run_within_run"
    assert error.ran.filename == __file__
    assert all(map(np.array_equal, run(x), expected))  # nothing stays behind


def test_a_run_within_a_run_of_the_same_session_is_refused() -> None:
    with mg.Graph(), mg.Session() as session:
        x = mg.constant(2.0) * 3.0
        assert [e.key for e in within(lambda: session.run(x))] == ["run_within_run"]
        assert session.run(x) == 6.0


def test_another_program_and_what_is_told_of_this_one_may_be_asked_for_within_a_run() -> None:
    program, other, x = planned(), planned(), np.ones((64, 64), np.float32)
    found: list[Any] = []

    def look(event: events.Event) -> None:
        if event.kind == "run" and not found:
            found.append(None)
            found.extend([program.plan.bytes, *other({"x": x})])

    with events.listen(look):
        expected = program({"x": x})
    assert found[1] == program.plan.bytes
    assert all(map(np.array_equal, found[2:], expected))


def test_an_error_in_a_run_lets_the_next_one_begin() -> None:
    program = planned()
    for _ in range(2):
        with pytest.raises(mg.NotFedError):
            together(lambda i: program({}), count=2)
    assert len(together(lambda i: program({"x": np.ones((64, 64))}), count=2)) == 2


# ---- Recordings ---------------------------------------------------------------------------------


def some_steps(times: int) -> None:
    """Operations whose gradient rules are looked at anew each time, as at their first use."""
    for _ in range(times):
        for name in ("Mul", "Tanh"):
            mg.REGISTRY[name].memo.clear()
        x = mg.tensor([1.0, 2.0], requires_grad=True)
        mg.tanh(x * x[0]).sum().backward()


def test_a_recording_tells_what_its_own_thread_does() -> None:
    with mg.record() as alone:
        some_steps(1)

    def work(i: int) -> list[Any]:
        found = []
        for _ in range(TIMES // 2):
            with mg.record() as log:
                some_steps(1)
            found.append((log.counts.built, log.counts.run, log.counts.by_op, len(log.events)))
        return found

    expected = (alone.counts.built, alone.counts.run, alone.counts.by_op, len(alone.events))
    for found in together(work):
        assert found == [expected] * (TIMES // 2)
    assert events.listeners == []


def test_a_recording_of_all_threads_leaves_nothing_out() -> None:
    with mg.record() as alone:
        some_steps(1)
    with mg.record(all_threads=True) as log, mg.record() as own:
        together(lambda i: some_steps(TIMES))
    assert own.events == []
    assert log.counts.run == alone.counts.run * THREADS * TIMES
    assert [event.tick for event in log.events] == [*range(1, len(log.events) + 1)]
    assert events.listeners == []


def test_the_threads_of_a_schedule_tell_the_one_that_runs_it() -> None:
    x = {"x": np.ones((64, 64), np.float32)}
    with mg.Graph():
        a = mg.placeholder("x", shape=(64, 64))
        program = mg.build_graph(a, mg.tanh(a @ a) + mg.sin(a @ a)).compile(optimize=False)
    schedule = program.schedule(devices=2, costs=lambda node: 1.0)
    with mg.record() as alone:
        program(x)
    places: set[str] = set()

    def where(event: events.Event) -> None:
        places.add(threading.current_thread().name)

    def work(i: int) -> Any:
        with mg.record() as log, events.listen(where):
            for _ in range(TIMES):
                schedule.run(x)
        return log.counts.by_op

    for counts in together(work, count=2):
        assert counts == {op: n * TIMES for op, n in alone.counts.by_op.items()}
    assert "device 1" in places


# ---- Backward passes ----------------------------------------------------------------------------


@pytest.mark.parametrize("listening", [False, True])
def test_passes_that_end_in_one_leaf_lose_nothing(listening: bool) -> None:
    w = mg.tensor(np.zeros(4), requires_grad=True)
    x = [mg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True) for _ in range(THREADS)]

    def work(i: int) -> None:
        for _ in range(4 * TIMES):
            (w * x[i]).sum().backward()

    with mg.record() if listening else contextlib.nullcontext():
        together(work)
    assert w.grad.numpy().tolist() == [4.0 * TIMES * THREADS * k for k in (1, 2, 3, 4)]


def test_gradients_that_can_be_differentiated_are_not_lost_either() -> None:
    w = mg.tensor(2.0, requires_grad=True)
    together(lambda i: [(w * w * w).backward(create_graph=True) for _ in range(TIMES)])
    assert w.grad.item() == 12.0 * TIMES * THREADS
    assert mg.grad(w.grad, [w])[0].item() == 12.0 * TIMES * THREADS


@pytest.mark.parametrize("kept", [False, True])
def test_passes_over_the_same_nodes_are_right_or_refused(kept: bool) -> None:
    refused = 0
    for _ in range(TIMES):
        x = y = mg.tensor([0.5, 0.25], requires_grad=True)
        for _ in range(10):
            y = mg.maximum(mg.tanh(y) * 1.5, y * 0.5) + mg.sum(y, axis=0, keepdims=True) * 0.1
        ends = [y.sum() * 1.0 for _ in range(THREADS)]
        expected = mg.grad(ends[0], [x], retain_graph=True)[0].numpy()

        def work(i: int, ends: Any = ends, x: Any = x) -> Any:
            try:
                return mg.grad(ends[i], [x], retain_graph=kept and i > 0)[0].numpy()
            except mg.GradientError as error:
                return error.key

        found = together(work)
        for one in found:
            assert one == "freed" if isinstance(one, str) else np.array_equal(one, expected)
            refused += isinstance(one, str)
    assert 0 < refused < TIMES * THREADS


# ---- A forked process ---------------------------------------------------------------------------

FORKED = """
import os, signal, sys, threading, warnings
import numpy as np
import minigrad as mg
from minigrad.core import events
from minigrad.interop.c import cache, compiler
from pathlib import Path

# The one that is forked while it compiles, and those after it, have what compiles anew.
cache.location = lambda: Path(sys.argv[1], "own" if held_by == "compile" else "shared")
warnings.simplefilter("ignore")  # Python's own, about forks of threads
inside, over = threading.Event(), threading.Event()

def stay():
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        over.wait(30)

with mg.Graph():
    x = mg.placeholder("x", shape=(3,))
    program = mg.build_graph(x, mg.exp(x)).compile()
    other = mg.build_graph(x, mg.tanh(x) + x)
ones = np.ones(3, np.float32)

@mg.function
def f(y):
    stay()
    return y * 2

def run():
    with events.listen(lambda event: stay()):
        program({x: ones})

def compile_c():
    known = compiler.Compiler._run
    compiler.Compiler._run = lambda *args: [stay(), known(*args)][1]
    other.compile(executor="c")({x: ones})

def prepare():
    schedule = program.schedule(devices=1, costs=lambda node: 1.0)
    object.__setattr__(schedule, "tasks", Tasks(schedule.tasks))
    schedule.makespan

class Tasks(tuple):
    def __iter__(self):
        stay()
        return super().__iter__()

def afterwards():
    assert f(mg.tensor(3.0)).item() == 6.0
    assert np.allclose(program({x: ones}), np.e)
    assert np.allclose(other.compile(executor="c")({x: ones}), np.tanh(1.0) + 1.0)
    assert program.schedule(devices=1, costs=lambda node: 1.0).makespan == 1.0

threads = {"trace": lambda: f(mg.tensor(1.0)), "run": run, "compile": compile_c, "prepare": prepare}

def forked(held_by):
    threading.Thread(target=threads[held_by], daemon=True).start()
    assert inside.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends it if it waits
        try:
            afterwards()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(held_by, status, flush=True)
    os._exit(0)

for held_by in threads:  # each in a process in which nothing was held before
    child = os.fork()
    if child == 0:
        forked(held_by)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
@pytest.mark.compiler
def test_a_forked_process_waits_for_no_thread_that_it_does_not_have(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKED, str(tmp_path / "kernels")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    told = (done.stdout.splitlines(), done.stderr)
    assert told == ([f"{held_by} 0" for held_by in ("trace", "run", "compile", "prepare")], "")


@pytest.mark.once
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_process_forked_within_a_trace_goes_on_with_it() -> None:
    code = """
import os, signal, minigrad as mg

@mg.function
def f(y):
    global child
    child = os.fork()
    if child == 0:
        signal.alarm(20)
    return y * 2

answer = f(mg.tensor(3.0)).item() + f(mg.tensor(4.0)).item()
if child == 0:
    os._exit(answer != 14.0)
assert answer == 14.0
print(os.waitpid(child, 0)[1])
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["0"]


# ---- Building -----------------------------------------------------------------------------------


def test_a_graph_that_several_threads_build_in_has_each_name_and_parameter_once() -> None:
    graph, layer, meet = mg.Graph(), mg.nn.Linear(3, 3), threading.Barrier(THREADS)

    def linger(event: events.Event) -> None:
        if event.op is state.variable:
            time.sleep(0.02)  # while it is made, the others ask for it

    def work(i: int) -> None:
        with graph, events.listen(linger):
            x = mg.placeholder(f"x{i}", shape=(2, 3))
            meet.wait(LONG)
            for _ in range(TIMES):
                layer(x) + 1.0

    together(work)
    names = [node.name for node in graph.nodes]
    assert len(set(names)) == len(names)
    assert len(graph.variables) == 2


def test_modes_are_those_of_the_thread() -> None:
    x = mg.tensor(2.0, requires_grad=True)

    def work(i: int) -> Any:
        found = set()
        for _ in range(TIMES):
            with mg.set_grad_enabled(i % 2 == 0), mg.name_scope(f"mine{i}"):
                y = x * 2.0
                found.add((y.requires_grad, y.creator and y.creator.scope))
        return found

    for i, found in enumerate(together(work)):
        assert found == {(True, f"mine{i}") if i % 2 == 0 else (False, None)}
