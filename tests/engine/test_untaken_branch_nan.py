"""A gradient that is NaN because of a branch that did not run is kept, and said with its line."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")


def in_front(x: Any) -> Any:
    steep = mg.log(x)
    return mg.cond(x > 0, lambda: steep * 1, lambda: x * 2)


def inside(x: Any) -> Any:
    return mg.cond(x > 0, lambda: mg.log(x) * 1, lambda: x * 2)


def program(f: Callable[[Any], Any]) -> mg.Graph:
    x = mg.placeholder("x", ())
    y = f(x)
    return mg.build_graph(x, [y, *mg.gradients(y, x)])


RUNS: dict[str, Callable[[mg.Graph, dict[str, float]], Any]] = {
    "run": mg.run,
    "session": lambda graph, feeds: mg.Session(graph).run([*graph.outputs], feeds),
    "compiled": lambda graph, feeds: graph.compile()(feeds),
    "reference": lambda graph, feeds: graph.compile(executor="reference")(feeds),
    "as it stands": lambda graph, feeds: graph.compile(optimize=False)(feeds),
}


@pytest.mark.parametrize("run", RUNS)
def test_the_line_in_front_of_the_branch_is_named(run: str) -> None:
    graph = program(in_front)
    with pytest.warns(RuntimeWarning, match=r"Log comes before a branch") as caught:
        y, dx = RUNS[run](graph, {"x": 0.0})
    assert (y, np.isnan(dx)) == (0, True)
    (warning,) = caught
    assert warning.filename == __file__
    assert warning.lineno == in_front.__code__.co_firstlineno + 1
    assert "steep = mg.log(x)" not in str(warning.message)
    assert "mg.cond(x > 0, lambda: steep" in str(warning.message)


def test_the_tape_and_the_branch_itself_have_no_nan() -> None:
    for f in (in_front, inside):
        x = mg.tensor(0.0, requires_grad=True)
        f(x).backward()
        assert x.grad.item() == 2
    assert RUNS["run"](program(inside), {"x": 0.0}) == [0, 2]


def in_both(x: Any) -> Any:
    steep = mg.log(x)
    return mg.cond(x > 0, lambda: steep, lambda: steep * 2)


QUIET: dict[str, tuple[Callable[[Any], Any], float]] = {
    "the side that needs it runs": (in_front, 1.0),
    "NaN goes in": (in_front, np.nan),
    "both sides need it": (in_both, 0.0),
    "NaN has another cause": (lambda x: mg.log(x) * 0 + mg.cond(x > 0, lambda: x, lambda: -x), 0.0),
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said_where_the_branch_is_not_the_cause(name: str) -> None:
    f, value = QUIET[name]
    graph = program(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for run in RUNS.values():
            run(graph, {"x": value})


def test_nothing_is_printed_once_more(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        steep = mg.log(mg.Print(x, "x is"))
        return mg.cond(x > 0, lambda: steep * 1, lambda: x * 2)

    with pytest.warns(RuntimeWarning):
        mg.run(program(f), {"x": 0.0})
    assert capsys.readouterr().out.count("x is") == 1


def test_a_training_step_is_warned_of_before_its_weights_are_lost() -> None:
    w = mg.Variable(0.0, name="w")
    step = mg.optim.SGD(lr=0.1).minimize(in_front(w))
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        with pytest.warns(RuntimeWarning, match="Log comes before"):
            session.run(step)
