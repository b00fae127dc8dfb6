"""`viz.bench` and `lessons.regimes`: a fair comparison, its spread, and what it refuses."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics.messages import set_language

pytestmark = pytest.mark.usefixtures("english")


class Clock:
    """A clock that only work moves on, and work whose time is known."""

    def __init__(self) -> None:
        self.now, self.called = 0.0, list[str]()

    def __call__(self) -> float:
        return self.now

    def work(self, name: str, *times: float, result: object = None) -> Callable[[], object]:
        taken = itertools.chain(times, itertools.repeat(times[-1]))

        def run() -> object:
            self.now += next(taken)
            self.called.append(name)
            return result

        return run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "perf_counter", made)
    return made


def test_the_first_calls_do_not_count_and_every_side_has_its_turn(clock: Clock) -> None:
    slow, quick = clock.work("slow", 90.0, 4.0), clock.work("quick", 50.0, 40.0, 2.0)
    found = viz.bench(slow=slow, quick=quick, rounds=6)
    assert found.first == {"slow": 90.0, "quick": 50.0}
    assert found.times == {"slow": (4.0,) * 6, "quick": (2.0,) * 6}
    assert found.ratio("quick", "slow") == (0.5, 0.5, 0.5)
    turns = ["slow", "quick", "quick", "slow"]
    assert clock.called[-12:] == turns * 3, "who begins changes from round to round"


def test_a_machine_that_grows_slow_does_so_for_both_sides(clock: Clock) -> None:
    """Medians of each side alone would differ; the ratio of a round does not."""
    times = [1.0] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    found = viz.bench(
        a=clock.work("a", *times), b=clock.work("b", *(2 * t for t in times)), rounds=7
    )
    assert found.ratio("b", "a") == (2.0, 2.0, 2.0)
    assert found.median("a") == 4.0
    assert found.slow("a") == pytest.approx(6.7)


def test_a_quick_program_is_called_more_often_in_a_reading(clock: Clock) -> None:
    found = viz.bench(a=clock.work("a", 0.000022), b=clock.work("b", 1.0), rounds=5)
    assert found.times["a"] == pytest.approx([0.000022] * 5)
    assert clock.called.count("a") == 1 + 3 + 1 + 5 * 10
    assert clock.called.count("b") == 1 + 3 + 1 + 5


def test_a_warm_up_that_was_held_up_leaves_readings_as_long_as_they_should_be(clock: Clock) -> None:
    held_up = clock.work("a", 1.0, 0.000022, 0.000022, 0.000022, 0.01, 0.000022)
    viz.bench(a=held_up, b=clock.work("b", 1.0), rounds=5)
    assert clock.called.count("a") == 1 + 3 + 1 + 5 * 10


def test_a_clock_that_goes_in_long_steps_is_given_more_calls_and_not_a_million(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Coarse(Clock):
        def __call__(self) -> float:
            return 0.0001 * int(self.now / 0.0001)

    clock = Coarse()
    monkeypatch.setattr(time, "perf_counter", clock)
    found = viz.bench(a=clock.work("a", 0.0000101), b=clock.work("b", 1.0), rounds=5)
    assert found.median("a") == pytest.approx(0.00001, rel=0.6)
    assert clock.called.count("a") < 1000


class Work:
    def __call__(self) -> None:
        pass


def test_every_program_has_a_row_and_equal_names_are_numbered() -> None:
    a, b = mg.tensor([1.0]), mg.tensor([2.0, 3.0])
    rounds: dict[str, Any] = {"rounds": 5, "same": False}
    work = functools.partial(time.sleep, 0)
    sides = {
        ("<lambda>", "bool", "<lambda> (2)"): (lambda: mg.exp(a), bool, lambda: mg.exp(b)),
        ("sum", "sum (2)"): (a.sum, b.sum),
        ("bool", "bool (2)", "bool (3)"): (bool, bool, bool),
        ("sleep", "sleep (2)"): (work, functools.partial(work)),
        ("Work", "Work (2)"): (Work(), Work()),
    }
    for names, functions in sides.items():
        found = viz.bench(*functions, **rounds)
        assert tuple(found.times) == tuple(found.first) == names
        assert [line[0][0] for line in found.rows] == list(names)
    assert list(viz.bench(bool, bool=int, **rounds).times) == ["bool (2)", "bool"]


def test_what_differs_is_called_by_its_number() -> None:
    with pytest.raises(ValueError, match=r"<lambda> \(2\) and <lambda> give different numbers"):
        viz.bench(lambda: 1, lambda: 2, rounds=5)


@pytest.mark.parametrize("step", [0.0, -1.0])
def test_a_clock_that_does_not_go_on_is_refused(
    step: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, patience = itertools.count(0.0, step), itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    with pytest.raises(ValueError, match="stands still or goes back"):
        viz.bench(a=bool, b=bool, rounds=5)
    monkeypatch.setattr(time, "monotonic", lambda: next(patience))
    calls: list[int] = []
    with pytest.raises(ValueError, match="stands still or goes back"):
        viz.bench(a=lambda: calls.append(1), b=bool, rounds=5)
    assert len(calls) < 100, "where each call takes long, another clock says when to give up"


def test_a_clock_that_is_set_back_once_costs_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reset(Clock):
        def __call__(self) -> float:
            read.append(self.now)
            return self.now - 1000.0 * (len(read) > 31)

    read: list[float] = []
    clock = Reset()
    monkeypatch.setattr(time, "perf_counter", clock)
    found = viz.bench(a=clock.work("a", 1.0), b=clock.work("b", 2.0), rounds=9)
    assert found.times == {"a": (1.0,) * 9, "b": (2.0,) * 9}


def test_one_reading_of_a_partial_is_called_by_what_it_calls() -> None:
    assert lessons.readings(functools.partial(sum, [1]), count=60).rows[0][0][0] == "sum"


def test_when_a_cost_is_won_back() -> None:
    found = viz.Bench({"eager": [5.0] * 5, "static": [3.0] * 5}, {})
    assert found.break_even(9.0, "static", "eager") == 5
    assert found.break_even(0.0, "static", "eager") == 0
    assert found.break_even(9.0, "eager", "static") is None
    assert found.break_even(9.0, "eager", "eager") is None


def test_one_number_is_refused() -> None:
    found = viz.Bench({"eager": [5.0] * 5, "static": [3.0] * 5}, {})
    for number in (float, int, round):
        with pytest.raises(TypeError, match="no single number"):
            number(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"a": len}, "1 program is nothing to compare"),
        ({"a": list, "b": list, "rounds": 4}, "4 rounds show no spread; take 5 or more"),
        ({"a": lambda: 1.0, "b": lambda: 2.0}, "b and a give different numbers"),
        ({"a": lambda: np.ones(2), "b": lambda: np.ones((2, 2))}, "different numbers"),
        ({"a": lambda: [1.0, np.ones(2)], "b": lambda: [1.0, np.zeros(2)]}, "different numbers"),
    ],
)
def test_what_says_nothing_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        viz.bench(**options)


def test_both_modes_are_compared_by_what_they_compute() -> None:
    x = np.array([1.0, 2.0])
    with mg.Graph():
        p = mg.placeholder("p", shape=(2,))
        graph = mg.build_graph(p, p * p + 3)

    def eager() -> mg.Tensor:
        t = mg.tensor(x, requires_grad=True)
        return t * t + 3

    def static() -> object:
        return mg.run(graph, feed_dict={p: x})

    found = viz.bench(eager, static, rounds=5)
    assert list(found.times) == ["eager", "static"]
    assert all(value > 0 for values in found.times.values() for value in values)
    assert viz.bench(eager, lambda: None, rounds=5, same=False).first.keys() == {
        "eager",
        "<lambda>",
    }


def test_the_program_of_both_ways_is_the_same_where_nothing_is_recorded() -> None:
    layer = mg.nn.Linear(2, 1, seed=0)
    x = np.ones((3, 2), np.float32)
    with mg.no_grad(), mg.record() as log:
        sides = lessons.both(layer, x)
        assert sides["eager"]().creator is None
    assert sides["eager"]().creator is not None
    assert log.count("built", "MatMul") > 0
    assert log.count("built", "StopGradient") == 0


def test_the_table_names_medians_spreads_and_ratios_in_both_languages() -> None:
    found = viz.Bench({"eager": [2e-5, 2e-5, 4e-5, 6e-5, 6e-5], "static": [0.002] * 5}, {})
    assert str(found).splitlines() == [
        "seconds per call, 5 rounds in turn",
        "program | median | the middle half | P95 | ratio to eager",
        "eager | 40 µs | 20 µs – 60 µs | 60 µs | 1",
        "static | 2 ms | 2 ms – 2 ms | 2 ms | 50.00 (33.33 to 100.00)",
    ]
    set_language("zh")
    assert str(found).splitlines()[0] == "每次调用的用时，轮流测 5 轮"
    assert "50.00（33.33 至 100.00）" in str(found)


def test_ratios_over_sizes_are_drawn_with_their_spread() -> None:
    spread = {1000: (1.1, 1.0, 1.2), 16: (0.5, 0.4, 0.6)}
    chart = lessons.regimes(
        {("chain", "链"): spread}, sides=("static", "eager"), x=("elements", "元素个数")
    )
    assert [line[0] for line in chart.rows] == [
        ("chain, 16", "0.5", "0.4", "0.6"),
        ("chain, 1000", "1.1", "1", "1.2"),
    ]
    assert chart.title[0] == "Where static is quicker: chain at 16 elements", "no other was"
    assert chart.alt[1] == "折线图：用时之比，静态图 / 动态图。链: 16: 0.5; 1000: 1.1。"
    for wrong in ({}, {"chain": {}}, {"chain": {0: (1, 1, 1)}}, {"chain": {4: (1, 0, 1)}}):
        with pytest.raises(ValueError, match="for each workload give a ratio"):
            lessons.regimes(wrong, sides=("static", "eager"), x=("elements", "元素个数"))
