"""Charts of schedules, memory and ratios: the engine's own figures, in both languages."""

from __future__ import annotations

import base64
import gc
import json
import re
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import minigrad as mg
from minigrad.core import events
from viz.charts import Chart, chart_style, memory, ratios, schedule
from viz.charts.caption import CAPTION
from viz.charts.held import measured_of, plan_of
from viz.charts.schedule import ALONE
from viz.picture import theme
from viz.picture.style import TINTS

pytestmark = pytest.mark.usefixtures("own_graph")

COSTS = {"Exp": 2, "Tanh": 1, "MatMul": 1}


def small() -> tuple[Any, dict[str, Any]]:
    x = mg.placeholder("x", shape=(3,))
    program = mg.build_graph(x, mg.exp(x) @ mg.tanh(x)).compile(optimize=False)
    return program, {"x": [0.0, 1.0, 2.0]}


def trained() -> Any:
    """Sines and their derivative: the cosine of each must wait for the backward pass."""
    x = mg.placeholder("x", shape=(1000,))
    loss = mg.tanh(mg.tanh(mg.tanh(x))).sum()
    return mg.build_graph(x, [loss, mg.gradients(loss, x)[0]]).compile(optimize=False)


def target(middle: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    measured = {"middle": middle, "low": low, "high": high}
    return {"side": "ours", "against": "theirs", "most": 1, "measured": measured, **more}


def bench() -> dict[str, Any]:
    unmeasured = {"side": "ours", "against": "absent", "most": 1}
    rows = [
        {"name": "sum", "targets": [target(0.5, 0.4, 0.7), unmeasured]},
        {"name": "<script>$x$", "targets": [target(1.5, 1.2, 3.0), target(9, 9, 9, against="")]},
    ]
    return {"machine": {}, "rows": rows}


def drawn(chart: Chart, i: int = 0) -> Figure:
    with chart_style():
        figure = Figure(chart.size)
        chart.draw(figure, i)
    return figure


def areas(axes: Any) -> dict[str, float]:
    """How high each area reaches, by its label."""
    return {
        area.get_label(): max(path.vertices[:, 1].max() for path in area.get_paths())
        for area in axes.collections
    }


def texts(figure: Figure) -> list[str]:
    return [t.get_text() for axes in figure.axes for t in axes.texts]


CHARTS = {
    "schedule": lambda: schedule(small()[0], costs=COSTS),
    "measured": lambda: schedule(small()[0]),
    "memory": lambda: memory(trained()),
    "both modes": lambda: memory(lambda x: mg.tanh(x @ x), np.eye(30)),
    "ratios": lambda: ratios(bench()),
}


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", CHARTS)
def test_it_is_complete_in_both_languages(name: str, tmp_path: Path) -> None:
    chart = CHARTS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a glyph that is missing
        shown = chart._repr_mimebundle_()
        chart.save(tmp_path / "zh.png", "zh")
    han = "[\u4e00-\u9fff]"
    assert not re.search(han, chart.alt[0] + chart.title[0] + "".join(chart.head[0]))
    assert re.search(han, chart.alt[1])
    assert re.search(han, chart.title[1])
    assert all(re.search(han, name) for name in chart.head[1])
    assert "…" not in chart.alt[0]
    for english, chinese in chart.rows:
        assert len(english) == len(chinese) == len(chart.head[0]) == len(chart.head[1])
    for source in re.findall('image/svg.xml;base64,([^"]*)', shown["text/html"]):
        svg = base64.b64decode(source).decode()
        assert "mathdefault" not in svg
        points = [float(size) for size in re.findall("font-size: ([\\d.]+)px", svg)]
        assert min(points) * 96 / 72 >= 11, "a page shows one unit as a point"
        assert not re.search(han, svg) or "font/woff;base64" in svg
    assert len(shown["text/plain"].splitlines()) == 3 + len(chart.rows)
    assert "<script>" not in shown["text/html"]
    words = [texts(drawn(chart, i)) for i in range(2)]
    assert len(words[0]) == len(words[1])


# ---- Schedules --------------------------------------------------------------------------------


def test_a_schedule_as_bars() -> None:
    program, feeds = small()
    found = program.schedule(2, costs=COSTS)
    chart = schedule(found)
    assert [row[0] for row in chart.rows] == [
        ("Exp", "0", "0", "2 s", "*"),
        ("Tanh", "1", "0", "1 s", ""),
        ("MatMul", "0", "2 s", "1 s", "*"),
    ]
    figure = drawn(chart)
    *bars, alone = [c for c in figure.axes[0].collections if c.get_paths()]
    assert alone.get_label() == ALONE
    ends = [path.get_extents().x1 for path in alone.get_paths()]
    assert ends == [2, 3, 4], "one after another"
    assert {1, 2, 3, 4} < {*figure.axes[0].get_xticks()}, "the 3 of the title can be read"
    (line,) = (x for x in figure.axes[0].lines if x.get_xdata()[0] == x.get_xdata()[1] == 3)
    assert "3 s" in [text.strip() for text in texts(figure)]
    assert chart.title == ("2 devices: 3 s instead of 4 s", "2 个设备用 3 s，一个设备要 4 s")
    assert schedule(program, 1, costs=COSTS).title[0] == "Schedule over 1 device"
    assert sum(len(c.get_paths()) for c in bars) == 3
    assert sum(max(c.get_linewidth()) > 2 for c in bars) == 2, (
        "the critical path is marked by more than colour"
    )
    _, measured = found.run(feeds)
    both = schedule(found, measured=measured)
    assert len(drawn(both).axes) == 2
    assert [label.split(":")[0] for label in texts(drawn(both)) if ": " in label] == [
        *("predicted", "measured")
    ]
    captions = [t for a in drawn(both).axes for t in a.texts if t.get_label() == CAPTION]
    assert [t.xy for t in captions] == [(0, 1)] * 2, "right above"  # type: ignore[attr-defined]
    assert "predicted: 3 s, measured: " in both.alt[0]
    for (line, _), task in zip(both.rows, found.tasks, strict=True):
        (ran,) = [t for t in measured.tasks if t.node is task.node]
        assert line[5] == str(ran.device)


def test_every_task_on_a_longest_chain_is_critical_and_no_other() -> None:
    program, _ = small()
    chart = schedule(program, costs=lambda node: 1.0)
    assert [line[-1] for line, _ in chart.rows] == ["*", "*", "*"], "MatMul waits for both"
    bold = [max(bar.get_linewidth()) > 2 for bar in drawn(chart).axes[0].collections]
    assert sum(bold) == 3
    x = mg.placeholder("x", shape=(3,))
    tanh = mg.tanh(x)
    program = mg.build_graph(x, mg.sin(tanh) + tanh + mg.exp(x)).compile(optimize=False)
    marks = {line[0]: line[-1] for line, _ in schedule(program, costs=lambda node: 1.0).rows}
    assert {name for name, mark in marks.items() if not mark} == {"Exp_1"}


def test_the_text_marks_the_tasks_that_the_chart_frames() -> None:
    program, _ = small()
    found = program.schedule(2, costs=lambda node: 1.0)
    lines = str(found).splitlines()[-3:]
    assert [line[0] for line in lines] == ["*", "*", "*"], "MatMul waits for both"
    assert "critical path * 2 s (3 tasks)" in str(found)
    assert "critical path: 2 s, 3 tasks." in schedule(found).alt[0]


def test_a_name_is_written_whole_or_stands_below_with_its_number() -> None:
    x = mg.placeholder("x", shape=(8, 8))
    program = mg.build_graph(x, mg.sigmoid(mg.tanh(x @ x) @ x).sum()).compile()
    for cost, shown in ((0.01, None), (1.0, "2"), (8.0, "MatMul+Sigmoid")):
        costs = {"MatMul+Tanh": 0.0, "MatMul+Sigmoid": cost, "Sum": 10.0 - cost}
        found = texts(drawn(schedule(program, devices=1, costs=costs)))
        assert not [t for t in found if "…" in t]
        assert (shown in found) == (shown is not None)
        assert [t for t in found if "2\xa0MatMul+Sigmoid" in t] == (
            ["2\xa0MatMul+Sigmoid"] if shown == "2" else []
        )


def test_what_took_much_longer_has_a_scale_of_its_own() -> None:
    """Else the bars of what was predicted would be too thin to be seen."""
    program, feeds = small()
    found = program.schedule(2, costs=lambda node: 1.0)
    _, measured = found.run(feeds)
    for ran, alike in ((measured, False), (found, True)):
        axes = drawn(schedule(found, measured=ran)).axes
        assert (axes[0].get_xlim() == axes[1].get_xlim()) == alike
        assert all(a.get_xlabel() for a in axes), "each says its unit"


def test_a_plan_is_blue_and_what_ran_is_green() -> None:
    program, feeds = small()
    found = program.schedule(2, costs=COSTS)
    figure = drawn(schedule(found, measured=found.run(feeds)[1]))
    plan, ran = (
        [bar for bar in axes.collections if bar.get_label() != ALONE] for axes in figure.axes
    )
    fills = [{tuple(bar.get_facecolor()[0]) for bar in bars} for bars in (plan, ran)]
    assert fills == [{to_rgba(TINTS["static"][0])}, {to_rgba(theme.TOKENS["ran"][0])}]
    edges = [{tuple(bar.get_edgecolor()[0]) for bar in bars} for bars in (plan, ran)]
    assert edges == [{to_rgba(theme.TOKENS[name][0])} for name in ("built", "run")]


def test_a_result_that_another_device_waits_for_has_an_arrow() -> None:
    """From the end of the task, on its device, to the beginning of the other."""
    program, _ = small()
    found = program.schedule(2, costs=COSTS)
    figure = drawn(schedule(found))
    (arrow,) = [t for t in figure.axes[0].texts if getattr(t, "arrow_patch", None)]
    tanh, product = (t for t in found.tasks if t.node.name in ("Tanh", "MatMul"))
    begin, row = arrow.xyann  # type: ignore[attr-defined]
    assert row == tanh.device - 0.36
    assert begin == tanh.end
    x, y = arrow.xy  # type: ignore[attr-defined]
    assert x == product.start
    assert abs(y - product.device) < 0.5 < abs(y - tanh.device)
    (key,) = (axes.get_legend() for axes in figure.axes)
    assert [text.get_text() for text in key.get_texts()] == [
        "critical path",
        "another device needs it",
    ]
    alone = drawn(schedule(program, 1, costs=COSTS))
    assert not [t for t in alone.axes[0].texts if getattr(t, "arrow_patch", None)]


def test_it_says_why_fewer_devices_are_used() -> None:
    program, _ = small()
    chart = schedule(program.schedule(2, costs=COSTS, handover=5))
    assert texts(drawn(chart))[-1] == (
        "Devices used: 1. Dispatching tasks would cost more: 13 s on 2 devices, 4 s on 1."
    )
    assert "派发任务" in texts(drawn(chart, 1))[-1]
    assert not [t for t in texts(drawn(schedule(program, costs=COSTS))) if "Devices used" in t]


def test_many_tasks_are_listed_in_part() -> None:
    x = y = mg.placeholder("x", shape=(3,))
    for _ in range(60):
        y = mg.sin(y)
    program = mg.build_graph(x, y).compile(optimize=False)
    chart = schedule(program, costs=lambda node: 1.0)
    assert len(chart.rows) == 41
    assert chart.rows[-1][0][0] == "… and 20 more"
    assert chart.rows[-1][1][0] == "……还有 20 个"


# ---- Memory -----------------------------------------------------------------------------------


def test_memory_shows_the_plan_itself() -> None:
    program = trained()
    planned, plan = plan_of(program), program.plan
    assert planned.arena == plan.bytes
    assert planned.apart == plan.unshared_bytes
    assert [x.bytes for x in planned.lives] == [x.bytes for x in plan.lifetimes]
    retained = [x for x in planned.lives if x.retained]
    assert [x.name for x in retained] == ["Tanh", "Tanh_1", "Tanh_2"]
    assert planned.retained == 3 * 4000
    assert planned.results == 4000 + 4  # the gradient; the loss is a number
    assert planned.alive.max() <= plan.bytes + planned.results
    at = range(len(program.bound.layout.order))
    living = [sum(x.bytes for x in plan.lifetimes if x.start <= i <= x.end) for i in at]
    assert planned.held.tolist() == living, "at each step what lives then"
    with mg.record() as log:
        program({"x": np.ones(1000)})
    assert log.counts.bytes_peak == planned.arena + planned.results
    apart, arena = drawn(memory(program)).axes
    places = [
        {(r.get_x(), r.get_width()) for r in axes.patches if r.get_x()} for axes in (apart, arena)
    ]
    assert places == [{(x.start, x.end + 1 - x.start) for x in plan.lifetimes}] * 2
    assert all(sum(bool(r.get_hatch()) for r in axes.patches) == 3 for axes in (apart, arena))
    tops = [
        max(r.get_y() + r.get_height() for r in axes.patches if r.get_x())
        for axes in (apart, arena)
    ]
    assert tops == pytest.approx([planned.apart / 1000, planned.arena / 1000], rel=0.01)
    assert apart.get_ylim() == arena.get_ylim(), "so that they can be compared"
    saved = f"saved: {(planned.apart - planned.arena) / 1000:.3g} kB"
    assert saved in [t.get_text() for t in arena.texts]


def test_a_value_has_one_colour_and_its_name_in_each_panel() -> None:
    x = mg.placeholder("x", shape=(16,))
    a = mg.tanh(x)
    program = mg.build_graph(x, (a * mg.sin(mg.exp(a))).sum()).compile(optimize=False)
    apart, arena = drawn(memory(program)).axes
    lifetimes = program.plan.lifetimes
    for axes in (apart, arena):
        areas: Any = [p for p in axes.patches if p.get_x()]
        assert [p.get_height() for p in areas] == [x.bytes for x in lifetimes]
        assert len({tuple(p.get_facecolor()) for p in areas}) == len(lifetimes) == 4
        assert {x.node.name for x in lifetimes} <= {t.get_text() for t in axes.texts}
    own, shared = (
        [tuple(p.get_facecolor()) for p in axes.patches if p.get_x()] for axes in (apart, arena)
    )
    assert own == shared
    lows = [p.get_y() for p in apart.patches]
    assert lows == sorted(set(lows)), "each has a buffer of its own"


def test_both_modes_are_on_one_chart_and_eager_is_recorded() -> None:
    size = 1 << 14
    w = mg.tensor(np.ones(size, np.float32), requires_grad=True)

    def model(x: Any) -> Any:
        for _ in range(10):
            x = mg.tanh(x) * w
        return x

    chart = memory(model, np.ones(size, np.float32))
    cells = {row[0][0]: row[0][3] for row in chart.rows}
    layer = 4 * size
    kept, peak = (
        float(cells[key].split()[0]) * {"kB": 1e3, "MB": 1e6}[cells[key].split()[1]]
        for key in ("kept for backward, dynamic", "peak, dynamic, at most")
    )
    assert kept == pytest.approx(10 * layer, rel=0.01), "the results of tanh; w is no part of it"
    assert kept <= peak <= kept + 8 * layer
    assert w.grad is None, "gradients of the user's tensors are left alone"
    dynamic, static, *_ = drawn(chart).axes
    styles = [line.get_linestyle() for line in static.get_lines()]
    assert len(set(styles)) == len(styles) == 2, "lines differ without colour"
    said = " ".join(texts(drawn(chart))[0].split())
    assert said.endswith(f": at most {cells['peak, dynamic, at most']}")
    assert {*areas(static)} == {"values in the arena", "results, outside the arena"}
    assert dynamic.get_ylim() == static.get_ylim(), "so that they can be compared"


def test_a_call_alone_holds_as_much_in_both_modes_and_nothing_for_backward() -> None:
    weights = np.random.default_rng(0).normal(0, 0.1, (8, 40, 40)).astype(np.float32)

    def model(x: Any) -> Any:
        for w in weights:
            x = mg.tanh(x @ w)
        return x

    chart = memory(model, np.ones((100, 40), np.float32), backward=False)
    cells = {row[0][0]: row[0][3] for row in chart.rows}
    assert cells["arena and results"] == cells["peak, dynamic, at most"] == "48 kB", "three arrays"
    assert cells["kept for backward, static"] == cells["kept for backward, dynamic"] == "0 B"
    assert events.listeners == []


def test_results_of_one_kernel_are_told_apart() -> None:
    def model(x: Any) -> Any:
        for _ in range(12):
            x = mg.tanh(x * 1.01)
        return x.sum()

    chart = memory(model, np.ones((10, 10), np.float32))
    names = [row[0][0] for row in chart.rows if row[0][1]]
    assert len(set(names)) == len(names) > 3
    assert all(re.fullmatch(r"Sum|Mul\+Tanh\+Mul\+\d+more\[\d\]", name) for name in names)


def test_recording_leaves_no_listener_behind() -> None:
    memory(lambda x: mg.tanh(x), np.ones(10))
    with pytest.raises(mg.ShapeError):
        memory(lambda x: x @ x, np.ones((2, 3)))
    assert events.listeners == []


def four_factors(x: Any, y: Any) -> Any:
    return x * y * x * y


def layers(x: Any, y: Any) -> Any:
    return mg.mean(mg.tanh(mg.tanh(x @ y + 1) @ y))


def normal(x: Any, y: Any) -> Any:
    x = (x - mg.mean(x, axis=1, keepdims=True)) / mg.sqrt(mg.mean(x * x) + 1e-5)
    return mg.concatenate([x, y], axis=0)


@pytest.mark.parametrize("model", [four_factors, layers, normal], ids=lambda f: f.__name__)
def test_a_dynamic_graph_holds_no_more_than_is_shown(model: Any) -> None:
    """Not even a silent one; the allocator says so, in arrays so large that nothing else counts."""
    size = 300 * 300 * 4
    arrays = [np.random.default_rng(i).random((300, 300), np.float32) for i in range(2)]
    shown = measured_of(model, arrays).peak
    tensors = [mg.tensor(a, requires_grad=True) for a in arrays]
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        mg.grad(model(*tensors).sum(), tensors)
        silent = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert silent - size / 10 <= shown <= silent + 1.1 * size


def test_what_the_tape_keeps_is_what_numpy_holds() -> None:
    """Between the two passes: the allocations of NumPy alone, byte by byte."""
    weights = [mg.randn(60, 60, seed=i, requires_grad=True) for i in range(2)]
    given = np.ones((60, 60), np.float32)

    def model(x: Any) -> Any:
        for w in weights:
            x = mg.relu(mg.tanh(x @ w) * x)
        return x

    kept = measured_of(model, [given]).retained
    x = mg.tensor(given, requires_grad=True)
    gc.collect()
    tracemalloc.start()
    try:
        loss = model(x).sum()
        domain = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        traces = tracemalloc.take_snapshot().filter_traces([domain]).traces
    finally:
        tracemalloc.stop()
    assert sum(trace.size for trace in traces) == kept > 0
    assert loss.creator is not None


def test_labels_are_kept_in_neither_mode() -> None:
    """They are given, as the inputs are: both count what is computed for the backward pass."""
    model = mg.nn.Sequential(
        mg.nn.Linear(12, 16, seed=1), mg.nn.ReLU(), mg.nn.Linear(16, 10, seed=2)
    )
    images, labels = np.ones((8, 12), np.float32), np.arange(8)
    chart = memory(lambda x, t: mg.cross_entropy(model(x), t), images, labels)
    cells = {row[0][0]: row[0][3] for row in chart.rows}
    kept = 8 * (16 + 10) * 4
    assert cells["kept for backward, static"] == cells["kept for backward, dynamic"] == f"{kept} B"


def test_python_objects_are_in_no_figure() -> None:
    found = measured_of(lambda x: mg.tanh(mg.tanh(x)), [np.ones(10, np.float32)])
    assert found.peak <= 5 * 40, "a node of the tape alone is larger"
    again = measured_of(lambda x: mg.tanh(mg.tanh(x)), [np.ones(10, np.float32)])
    assert found.alive.tolist() == again.alive.tolist()


# ---- Ratios -----------------------------------------------------------------------------------


def test_ratios_from_a_file_of_the_bench(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(bench()), "utf-8")
    chart = ratios(path)
    assert [row[0] for row in chart.rows] == [
        ("sum: ours / theirs", "0.5", "0.4", "0.7"),
        ("<script>$x$: ours / theirs", "1.5", "1.2", "3"),
    ]
    assert chart.alt == ratios(bench()).alt
    assert "0.5 (0.4 to 0.7)" in chart.alt[0]
    assert "0.5（0.4 至 0.7）" in chart.alt[1]
    assert len(ratios(path, only="sum").rows) == 1
    markers = {line.get_marker() for line in drawn(chart).axes[0].get_lines()}
    assert {"o", "s"} <= markers, "quicker and slower differ without colour"


def test_a_ratio_has_its_name_beside_it_in_both_languages() -> None:
    named = {"rows": [{"name": ["sum", "求和"], "targets": [target(0.5, 0.4, 0.7, side="static")]}]}
    chart = ratios(named)
    assert [line[0] for line in chart.rows[0]] == ["sum: static / theirs", "求和：静态图比theirs"]
    for i, words in enumerate((["0.5", "sum", "2 times as fast"], ["0.5", "求和", "速度是 2 倍"])):
        axes = drawn(chart, i).axes[0]
        beside = axes.texts[:3]
        assert [t.get_text() for t in beside] == words
        assert ("static / theirs", "静态图 / theirs")[i] in axes.get_xlabel(), "of what to what"
        assert {t.xy[1] for t in beside} == {0}, "at the height of its dot"  # type: ignore[attr-defined]
        low, high = axes.get_xlim()
        assert low < 0.4
        assert 1 < high < 2
        assert 1.5 in axes.xaxis.get_majorticklocs(), "with so small a range more of it has numbers"
    broad = drawn(ratios({"rows": [{"name": "f", "targets": [target(0.05, 0.02, 4.0)]}]})).axes[0]
    assert 1.5 not in broad.xaxis.get_majorticklocs()


def test_the_title_counts_what_was_measured_and_a_bar_over_1_says_neither() -> None:
    measured = [(0.5, 0.4, 0.7), (0.9, 0.7, 1.3), (1.4, 1.2, 1.6), (0.6, 0.5, 0.7)]
    measured += [(1.1, 0.9, 1.2)]
    chart = ratios({"rows": [{"name": "f", "targets": [target(*x)]} for x in measured]})
    assert chart.title == (
        "Ours against theirs: 2 quicker, 1 slower, 2 too close to call",
        "ours 与 theirs 相比：2 项更快，1 项更慢，2 项测不出差别",
    )
    texts = [t.get_text() for t in drawn(chart).axes[0].texts]
    assert texts.count("no difference measured") == 2
    long = ratios({"rows": [{"name": "f" * 90, "targets": [target(*x)]} for x in measured]})
    assert long.more > chart.more > 0, "room on a phone for names that take two lines"


def test_a_file_of_figures_that_is_not_there_or_no_such_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no file ratios.json in .*copy it from"):
        ratios("ratios.json")
    for content in (b"{", '{"rows": "中"}'.encode("gb18030")):
        (tmp_path / "ratios.json").write_bytes(content)
        with pytest.raises(
            ValueError, match=r"ratios.json does not hold what python tasks.py bench"
        ):
            ratios("ratios.json")


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="not int"):
        schedule(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not Tensor"):
        memory(mg.tensor(1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="contain nothing like it"):
        ratios(bench(), only="nothing like it")
    for wrong in ({}, {"rows": [{"name": "a"}]}, {"rows": 3}):
        with pytest.raises(ValueError, match="does not hold what"):
            ratios(wrong)
    open_shape = mg.placeholder("n", shape=(None,))
    with pytest.raises(mg.GraphError, match="open lengths"):
        memory(mg.build_graph(open_shape, mg.tanh(open_shape)).compile())
