"""The benchmark itself: its statistics on a clock that the tests turn, and what its sides compute.

No test looks at how long anything takes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import clicks
import first
import live
import machine
import measure
import report
import run
import threads
import workloads
from browser import Started
from measure import Row, Side, Spread, Target, Workload

SMALL = workloads.Sizes(elements=1000, nodes=60, few=12, drawing=(11, 21))
TABLE = {w.name: w for w in workloads.collect(SMALL)}
# Those without processes of their own; these have a test each.
APART = ("BLAS threads", "fresh", "click on")
ALONE = [name for name in TABLE if not any(words in name for words in APART)]
CLICKS = [name for name in TABLE if "click on" in name]
OURS = ("minigrad", "viz")


class Clock:
    """Time that passes only when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now

    def side(self, name: str, *seconds: float, per: int = 1) -> Callable[[], Side]:
        """A side whose calls take so long, in turn; the last length for all further ones."""
        left = list(seconds)

        def work() -> None:
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return lambda: Side(work, per=per)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def kept_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is frozen stays so: each measurement would walk all objects of this process again."""
    monkeypatch.setattr(measure.gc, "unfreeze", lambda: None)


def row(*starts: dict[str, list[float]], targets: tuple[Target, ...] = ()) -> Row:
    return Row("row", "s", targets, list(starts))


# ---- Statistics -------------------------------------------------------------------------------


def test_the_middle_is_of_all_rounds_and_the_range_of_the_starts() -> None:
    assert measure.spread([[1, 2, 30], [4, 5, 6], [7, 8, 9]]) == Spread(6, 2, 8)
    assert measure.spread([[3.0]]) == Spread(3, 3, 3)


def test_ratios_are_taken_within_a_round() -> None:
    found = row({"a": [1, 10, 100, 1000], "b": [2, 20, 200, 2000]})  # the machine slows down
    assert found.ratio("a", "b") == Spread(0.5, 0.5, 0.5)
    two = row({"a": [1, 1], "b": [2, 2]}, {"a": [3, 3], "b": [2, 2]})
    assert two.ratio("a", "b") == Spread(1.0, 0.5, 1.5)


def test_a_target_is_reached_up_to_its_limit_and_not_beyond() -> None:
    found = row({"a": [3.0], "b": [4.0]})
    assert found.verdict(Target("a", 0.75, "b")) == (Spread(0.75, 0.75, 0.75), True)
    assert found.verdict(Target("a", 0.74, "b")) == (Spread(0.75, 0.75, 0.75), False)
    assert found.verdict(Target("a", 3.0)) == (Spread(3, 3, 3), True)
    assert found.verdict(Target("b", 3.0)) == (Spread(4, 4, 4), False)
    assert found.verdict(Target("a", 1.0, "gone")) is None
    assert found.verdict(Target("gone", 1.0)) is None


def test_a_side_that_one_start_lacks_is_taken_from_the_others() -> None:
    found = row({"a": [1.0], "b": [4.0]}, {"a": [5.0]})
    assert found.ratio("a", "b").middle == 0.25
    assert found.figure("a") == Spread(3.0, 1.0, 5.0)


def test_starts_are_merged_row_by_row() -> None:
    first = [row({"a": [1.0]}), Row("other", "s", ())]
    second = [row({"a": [2.0]}), Row("other", "s", (), absent={"b": "not installed"})]
    merged = measure.merge([first, second])
    assert [r.name for r in merged] == ["row", "other"]
    assert merged[0].starts == [{"a": [1.0]}, {"a": [2.0]}]
    assert merged[1].absent == {"b": "not installed"}
    assert first[0].starts == [{"a": [1.0]}]


def test_rows_survive_the_way_through_json() -> None:
    told = row({"a": [1.0], "b": [2.0]}, targets=(Target("a", 1.0, "b"), Target("c", 2.0)))
    told.absent["c"] = "not installed"
    data = json.loads(json.dumps(measure.as_json(told)))
    assert measure.from_json(data) == told
    assert data["targets"][0]["measured"] == {"middle": 0.5, "low": 0.5, "high": 0.5}
    assert data["targets"][0]["reached"] is True
    assert "reached" not in data["targets"][1]


# ---- Rounds -----------------------------------------------------------------------------------


def test_every_side_works_once_in_a_round_and_the_first_changes(clock: Clock) -> None:
    sides = {"a": clock.side("a", 1.0), "b": clock.side("b", 3.0)}
    found = measure.measure(Workload("w", sides, clock=clock, seconds=99), rounds=3)
    assert clock.calls == ["a", "b", *"ab", *"ba", *"ab"]  # to find out how long, then the rounds
    assert found.starts == [{"a": [1.0] * 3, "b": [3.0] * 3}]
    assert found.ratio("a", "b").middle == pytest.approx(1 / 3)


def test_short_work_is_repeated_and_divided_again(clock: Clock) -> None:
    sides = {"a": clock.side("a", 2.0**-10, per=4)}
    found = measure.measure(Workload("w", sides, clock=clock), rounds=3)
    assert len(clock.calls) == 1 + 3 * (1 + 10)  # in each round, the first is not timed
    assert found.starts == [{"a": [2.0**-12] * 3}]


def test_no_round_begins_when_the_time_is_up_but_a_few_are_made(clock: Clock) -> None:
    found = measure.measure(
        Workload("w", {"a": clock.side("a", 1.0)}, clock=clock, seconds=5), rounds=50
    )
    assert found.starts == [{"a": [1.0] * 6}]
    found = measure.measure(
        Workload("w", {"a": clock.side("a", 9.0)}, clock=clock, seconds=0), rounds=50
    )
    assert found.starts == [{"a": [9.0] * measure.FEWEST}]


def test_what_is_long_is_done_once_and_not_before(clock: Clock) -> None:
    sides = {"a": clock.side("a", 7.0, 1.0)}
    found = measure.measure(Workload("w", sides, clock=clock, once=True), rounds=9)
    assert found.starts == [{"a": [7.0]}]
    assert clock.calls == ["a"]


def test_what_is_counted_is_what_work_returns() -> None:
    counts = iter([50, 48, 52])
    sides = {"a": lambda: Side(lambda: next(counts), per=2)}
    found = measure.measure(Workload("w", sides, timed=False), rounds=3)
    assert found.starts == [{"a": [25, 24, 26]}]


def test_sides_are_closed() -> None:
    closed: list[str] = []
    sides = {"a": lambda: Side(lambda: 1, close=lambda: closed.append("a"))}
    measure.measure(Workload("w", sides, timed=False), rounds=1)
    assert closed == ["a"]


# ---- What is absent, what fails, what differs -------------------------------------------------


def refuse(reason: Exception) -> Callable[[], Side]:
    def make() -> Side:
        raise reason

    return make


def test_absent_peers_are_named_with_the_reason(clock: Clock) -> None:
    sides = {
        "minigrad": clock.side("a", 1.0),
        "one": refuse(ModuleNotFoundError("No module named 'one'")),
        "two": refuse(RuntimeError("no compiler\nand much more")),
        "three": refuse(TimeoutError("gave up after 90 s")),
    }
    found = measure.measure(Workload("w", sides, clock=clock), rounds=1)
    assert found.sides == ["minigrad"]
    assert found.absent == {
        "one": "not installed",
        "two": "RuntimeError: no compiler",
        "three": "TimeoutError: gave up after 90 s",
    }


def test_our_own_side_may_not_be_absent(clock: Clock) -> None:
    broken = Workload("w", {"minigrad": refuse(RuntimeError("broken"))}, clock=clock)
    with pytest.raises(RuntimeError, match="broken"):
        measure.measure(broken, rounds=1)
    assert measure.measured(broken, rounds=1).failed == "RuntimeError: broken"


def test_sides_that_differ_are_not_timed() -> None:
    def side(value: float) -> Side:
        return Side(lambda: None, lambda: [np.full(3, value)])

    def made(other: float) -> Workload:
        return Workload("w", {"a": lambda: side(1.0), "b": lambda: side(other)})

    with pytest.raises(AssertionError, match="w: b"):
        measure.measure(made(1.01), rounds=1)
    assert measure.measure(made(1.00001), rounds=1).sides == ["a", "b"]


def test_one_result_too_many_is_a_difference() -> None:
    sides = {
        "a": lambda: Side(lambda: None, lambda: [1.0]),
        "b": lambda: Side(lambda: None, lambda: [1.0, 2.0]),
    }
    with pytest.raises(ValueError, match="zip"):
        measure.measure(Workload("w", sides), rounds=1)


@pytest.mark.skipif(sys.platform == "win32", reason="the system cannot interrupt")
def test_the_time_limit_interrupts() -> None:
    with pytest.raises(TimeoutError, match="gave up"), measure.time_limit(0.01):
        time.sleep(60)
    with measure.time_limit(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


# ---- The table --------------------------------------------------------------------------------


@pytest.mark.cases(8)
@pytest.mark.parametrize("name", ALONE)
def test_all_sides_of_a_row_compute_the_same(name: str) -> None:
    """Of those that need no more than NumPy; the oracles compare the others."""
    mine = {s: m for s, m in TABLE[name].sides.items() if s.startswith((*OURS, workloads.HAND))}
    found = measure.measure(replace(TABLE[name], sides=mine, once=True), rounds=1)
    assert found.sides == list(mine)
    assert not found.absent


@pytest.mark.parametrize("name", TABLE)
def test_targets_name_sides_of_their_row(name: str) -> None:
    known = {*TABLE[name].sides, workloads.C}  # where there is no compiler, C has no side
    for target in TABLE[name].targets:
        assert target.side in known
        assert target.against in {"", *known}
        assert target.side.startswith(OURS)


def test_every_kind_of_workload_has_a_row_and_no_name_is_twice() -> None:
    names = [w.name for w in workloads.collect(workloads.Sizes())]
    assert len(set(names)) == len(names)
    for words in (
        *("x*x + 3", "1,000 scalar operations", "MLP training step, 64", "tiny MLP"),
        *("MLP inference", "elements, forward and backward", "convnet training"),
        *("8 × 8, forward and backward", "a single image", "start of Python"),
        *("convnet inference", "RNN", "trees", "first result", "break-even", "48 tanh"),
        *("48 linear", "chain of 100,000", "DAG of 100,000", "static chain of 100,000"),
        *("layout of 30 ", "layout of 300 ", "layout of 1,000 ", "frames", "browser"),
        *("click on the next step among 300", "click on a node among 300"),
    ):
        assert any(words in name for name in names), words


def test_a_compiled_step_breaks_even_where_its_preparation_is_made_up_for() -> None:
    assert first.caught_up(first=10.0, step=1.0, other=2.0) == 9  # 10 + 8 · 1 = 9 · 2
    assert first.caught_up(first=10.0, step=2.0, other=2.0) == float("inf")


def test_live_arrays_are_counted_exactly() -> None:
    def hold(count: int) -> Callable[[], None]:
        return lambda: [np.empty(live.SIZE, np.float32) for _ in range(count)] and None

    assert [live.peak(hold(n)) for n in (1, 5)] == [1, 5]


def test_no_kernel_is_forced_on_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Prescott")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    assert machine.environment(1)["OPENBLAS_NUM_THREADS"] == "1"
    for environment in (machine.environment(1), threads.environment(None)):
        assert "OPENBLAS_CORETYPE" not in environment
    assert "OPENBLAS_NUM_THREADS" not in threads.environment(None)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot bind")
def test_sides_run_on_one_core_unless_a_row_asks_for_all(clock: Clock) -> None:
    found: list[int] = []
    sides = {"minigrad": lambda: Side(lambda: found.append(machine.cores()))}
    for cores in (False, True):
        measure.measured(Workload("w", sides, clock=clock, seconds=0, cores=cores), rounds=1)
    every = machine.cores()
    half = len(found) // 2
    assert set(found[:half]) == {1}
    assert set(found[half:]) == {every}


def test_a_worker_has_the_threads_it_was_given() -> None:
    assert machine.threads(2)["OPENBLAS_NUM_THREADS"] == "2"
    side = threads.worker("eager", 1)()
    assert side.work() > 0
    side.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", CLICKS)
@pytest.mark.cases(1)
def test_a_click_is_measured_up_to_a_painted_frame(
    name: str, monkeypatch: pytest.MonkeyPatch, one_browser: Started
) -> None:
    monkeypatch.setattr(clicks, "CLICKS", 2)
    monkeypatch.setattr(clicks, "Started", lambda: one_browser)  # to start another takes longer
    monkeypatch.setattr(one_browser, "end", one_browser.pause)
    row = measure.measure(TABLE[name], rounds=2)
    assert row.absent == {}
    assert all(0 < seconds < 60 for seconds in row.starts[0]["viz.step in Chromium"])


@pytest.mark.parametrize("name", CLICKS)
def test_without_a_browser_the_row_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clicks, "obstacle", lambda: "install Chromium, Chrome or Edge")
    row = measure.measured(TABLE[name], rounds=1)
    assert row.absent == {"viz.step in Chromium": "RuntimeError: install Chromium, Chrome or Edge"}
    assert not row.failed


def test_a_fresh_process_says_how_long_its_first_step_took() -> None:
    side = first.fresh("numpy", cached=False)
    assert side.work() > 0
    side.close()


# ---- What is printed, drawn and written -------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.5, "s", "1.50 s"),
        (0.0123, "s", "12.3 ms"),
        (0.000456, "s", "456 µs"),
        (7.8e-8, "s", "78.0 ns"),
        (51.0, "arrays", "51.0 arrays"),
        (1294890, "bytes", "1.29 MB"),
        (float("inf"), "steps", "inf steps"),
    ],
)
def test_figures_have_three_digits_and_a_unit(value: float, unit: str, text: str) -> None:
    assert report.figure(value, unit) == text


RESULT = [
    Row(
        "good and bad",
        "s",
        (Target("a", 0.5, "b"), Target("a", 0.2, "b"), Target("a", 1.0, "gone")),
        [{"a": [1.0], "b": [4.0]}],
        {"gone": "not installed"},
    )
]


def test_the_report_says_reached_missed_and_absent_plainly() -> None:
    text = "\n".join(report.describe(RESULT[0]))
    assert "a / b: 0.25 (0.25 to 0.25), aimed at ≤ 0.50: reached" in text
    assert "a / b: 0.25 (0.25 to 0.25), aimed at ≤ 0.20: MISSED" in text
    assert "not installed" in text
    table = "\n".join(report.summary(RESULT))
    assert table.count("| yes ") == 1
    assert table.count("**no**") == 1
    assert table.count("not measured") == 1
    assert table.endswith("1 of 2 measured targets reached.")


def test_every_ratio_of_ours_to_a_peer_is_in_the_matrix() -> None:
    starts = [{"minigrad eager": [1.0], "b": [4.0]}]
    rows = [Row("w", "s", (), starts), Row("without peers", "s", (), [{"minigrad": [1.0]}])]
    assert list(report.matrix(rows, ("b", "c"))) == [
        "| workload | ours           | / b  | / c |",
        "|----------|----------------|------|-----|",
        "| w        | minigrad eager | 0.25 | –   |",
    ]
    assert set(run.PEERS) == {*workloads.PEERS, workloads.HAND}


def test_each_of_our_sides_is_held_against_the_fastest_of_the_others() -> None:
    starts = [
        {"minigrad eager": [4.0], "minigrad c": [1.0], "slow": [5.0], "quick": [2.0]},
        {"minigrad eager": [6.0], "minigrad c": [1.0], "slow": [1.0], "quick": [2.0]},
    ]
    alone = Row("alone", "s", (), [{"minigrad c": [1.0], "viz": [1.0]}])
    assert list(report.fastest([Row("w", "s", (), starts), alone])) == [
        "| workload | ours           | fastest peer | ours / fastest (starts) |",
        "|----------|----------------|--------------|-------------------------|",
        "| w        | minigrad eager | quick        | 2.50 (2.00 to 3.00)     |",
        "| w        | minigrad c     | quick        | 0.50 (0.50 to 0.50)     |",
    ]


def test_a_row_that_failed_is_told() -> None:
    failed = Row("w", "s", (), failed="ShapeError: no")
    assert "  FAILED: ShapeError: no" in list(report.describe(failed))


def test_figures_and_chart_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tmp_path / "figures.json", tmp_path / "chart.png"
    given = run.options(["--json", str(files[0]), "--chart", str(files[1])])
    found = {"machine": {}, "rows": [measure.as_json(r) for r in RESULT]}
    run.write(given, found)
    assert json.loads(files[0].read_text("utf-8")) == found
    assert files[1].read_bytes().startswith(b"\x89PNG")
    run.write(given, {"machine": {}, "rows": []})
    assert "No chart." in capsys.readouterr().out


def test_the_command_runs_a_start_and_tells_all(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "figures.json"
    assert run.main(["--quick", "--only", "48 linear", "--json", str(target)]) == 0
    said = capfd.readouterr().out
    assert "processor:" in said
    assert "48 linear layers, training: live arrays at the peak" in said
    assert "measured targets reached." in said
    data = json.loads(target.read_text("utf-8"))
    assert data["machine"] == machine.describe()
    assert "fastest peer" in said
    (found,) = data["rows"]
    assert len(found["starts"]) == 1
    assert len(found["starts"][0]["minigrad eager"]) == measure.FEWEST


def test_no_start_begins_that_would_not_end_in_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([0, 0, 60, 60, 130, 130])  # the starts take 60 and 70 s
    monkeypatch.setattr(run.time, "monotonic", lambda: next(times))
    monkeypatch.setattr(run, "start", lambda given, number: [])
    given = run.options(["--starts", "3", "--minutes", "3"])
    assert len(list(run.starts(given))) == 2
    assert "No time for start 3" in capsys.readouterr().out


def test_the_machine_is_described() -> None:
    found = machine.describe()
    assert all(found.values())
    assert found["NumPy"] == np.__version__
    assert int(found["cores"]) >= 1
