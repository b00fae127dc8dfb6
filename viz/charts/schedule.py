"""Schedules as bars: one row for each device, predicted above and measured below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from textwrap import wrap
from typing import Any

from minigrad.compiler import Program
from minigrad.compiler.schedule.schedule import Schedule, Task, seconds
from minigrad.static import Node
from viz.charts.caption import SPACED, axes_width, caption, folded, is_slim
from viz.charts.chart import Chart, Row, heads
from viz.picture import mpl, theme
from viz.picture.style import INK, TICK, TINTS
from viz.words.text import Pair, listed, row, row_text

__all__ = ["schedule"]

HEAD = "task", "device", "start", "length", "path"
BELOW = "device_measured", "start_measured", "length_measured"
LISTED = 40  # tasks in the table
ALONE = "all work on one device"
ARROWS = 12  # results handed over of which each has an arrow
Numbers = Mapping[Node, int]  # of tasks, in the table
NAMED = 8.5  # pixels for each letter of a name that is written into its bar


@dataclass(frozen=True, slots=True)
class Panel:
    """One schedule of a chart, and the row that says which it is."""

    schedule: Schedule
    title: str

    def look(self, critical: bool) -> dict[str, Any]:
        """Return the style of a bar: blue for what was only planned, green for what ran."""
        ran = self.title == "chart_measured"
        color = theme.TOKENS["run" if ran else "built"][0]
        fill = theme.TOKENS["ran"][0] if ran else TINTS["static"][0]
        return {"facecolor": fill, "edgecolor": color, "lw": 2.4 if critical else 0.8}


def schedule(
    obj: Program | Schedule,
    devices: int = 2,
    *,
    feed_dict: Mapping[Any, Any] | None = None,
    costs: Any = None,
    measured: Schedule | None = None,
) -> Chart:
    """Chart a schedule: which device runs which kernel when, with the measured one below.

    obj: a program, which is scheduled over `devices` (see `Program.schedule`), or a schedule;
    measured: the schedule that its `run` returned. Tasks on a critical path have bold outlines.

    Raises TypeError for other things, and what `Program.schedule` raises.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(3,))
    >>> program = mg.build_graph(x, mg.exp(x) @ mg.tanh(x)).compile()
    >>> schedule(program, costs=lambda node: 1.0).alt[0]
    'Gantt chart: Schedule over 2 devices. 3 tasks. predicted: 2 s; critical path: 2 s, 3 tasks.'
    """
    if isinstance(obj, Program):
        obj = obj.schedule(devices, costs=costs, feed_dict=feed_dict)
    if not isinstance(obj, Schedule):
        raise TypeError(row_text("schedule_unknown", value=f"{type(obj).__name__}"))
    found = measured or obj.rehearsal
    panels = [Panel(obj, "chart_measured" if obj.costs == "run" else "chart_predicted")]
    panels += [Panel(found, "chart_measured")] if found is not None else []
    about = {"devices": obj.devices, "tasks": len(obj.tasks), "count": len(obj.critical)}
    says = listed((row(p.title, time=seconds(p.schedule.makespan)) for p in panels), ", ", "，")
    saves = obj.costs != "run" and 0 < obj.makespan < obj.total
    title = "chart_schedule_saves" if saves else "chart_schedule"
    return Chart(
        title=row(title, devices=obj.devices, one=seconds(obj.total), many=seconds(obj.makespan)),
        alt=row("chart_schedule_alt", length=seconds(obj.length), lengths=says, **about),
        head=heads(*HEAD, *(BELOW if found is not None else ())),
        rows=tuple(_rows(obj, found)),
        draw=lambda figure, i: _draw(figure, panels, saves, i),
        size=(7.4, len(panels) * (1.4 + 0.42 * obj.devices) + 0.5 + 0.42 * saves),
        pad=34,
    )


def _rows(predicted: Schedule, measured: Schedule | None) -> list[tuple[Row, Row]]:
    path, found = predicted.critical, list[tuple[Row, Row]]()
    ran = {t.node: t for t in measured.tasks} if measured is not None else {}
    for t in predicted.tasks[:LISTED]:
        cells = [*_cells(t)[:3], "*" if t.node in path else "", *_cells(ran.get(t.node))]
        line = (t.node.name, *cells[: 7 if measured is not None else 4])
        found.append((line, line))
    left = len(predicted.tasks) - LISTED
    if left > 0:
        more, width = row("chart_more", count=left), len(found[0][0]) - 1
        found.append(((more[0], *[""] * width), (more[1], *[""] * width)))
    return found


def _cells(task: Task | None) -> Row:
    return (str(task.device), seconds(task.start), seconds(task.cost)) if task else ("", "", "")


def _draw(figure: mpl.Figure, panels: Sequence[Panel], saves: bool, i: int) -> None:
    """Draw a panel per schedule; saves: the first, predicted, has a row for one device's time."""
    path = panels[0].schedule.critical
    numbers = {t.node: n for n, t in enumerate(panels[0].schedule.tasks[:LISTED], 1)}
    spans = [p.schedule.makespan or 1.0 for p in panels]
    spans[0] = panels[0].schedule.total if saves else spans[0]
    gaps = {"hspace": 1.1 / (0.42 * panels[0].schedule.devices)}
    rows = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw=gaps)
    numbered, handed = set[int](), False
    for axes, panel, span in zip(rows[:, 0], panels, spans, strict=True):
        width = max(spans) if max(spans) <= 3 * min(spans) else span
        scale, unit = (1e6, "µs") if width < 1e-3 else (1e3, "ms") if width < 1 else (1.0, "s")
        numbered |= _bars(axes, panel, path, width * scale, scale, numbers)
        schedule = panel.schedule
        names = [row("chart_on", device=d)[i] for d in range(schedule.devices)]
        if saves and panel is panels[0]:
            names.append(row("chart_one_device", time=seconds(schedule.total))[i])
            _draw_serial(axes, schedule, scale)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(-0.004 * width * scale, width * scale * 1.004)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_locator(mpl.MaxNLocator(5, steps=[1, 2, 5, 10]))
        handed |= bool(_handovers(axes, schedule.tasks, scale))
        axes.set_xlabel(row("chart_time", unit=unit)[i])
        caption(axes, row(panel.title, time=seconds(schedule.makespan))[i], 6)  # as its key stands
        axes.xaxis.set_major_formatter("{x:g}")
    keys: list[Any] = [mpl.Patch(**panels[0].look(True), label=row("chart_critical")[i])]
    keys += [mpl.Line2D([], [], color=INK, marker=">", mec=INK, label=row("chart_handed")[i])]
    beside: dict[str, Any] = {"bbox_to_anchor": (1, 1), "loc": "lower right", "borderpad": 0}
    columns = 1 if is_slim(figure.get_figwidth()) else 2
    rows[0, 0].legend(handles=keys[: 1 + handed], ncols=columns, **beside)
    notes = [_key(panels[0].schedule.tasks, numbered), (_note(panels[0].schedule) or ("", ""))[i]]
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    text = "\n".join(folded(note, rows[-1, 0]) for note in notes if note)
    rows[-1, 0].annotate(text, (0, 0), (0, -46), va="top", size=TICK, **SPACED, **place)


def _key(tasks: Sequence[Task], numbers: set[int]) -> str:
    """List the names of the tasks that have only their number in their bars."""
    parts = [f"{n} {t.node.name.split('/')[-1]}" for n, t in enumerate(tasks, 1) if n in numbers]
    return "\n".join(wrap(" · ".join(p.replace(" ", "\xa0") for p in parts), 90))


def _note(schedule: Schedule) -> Pair | None:
    """Explain why fewer devices are used than there are; return None if all are used."""
    if schedule.used >= schedule.devices or schedule.costs == "run":
        return None
    one = next((t for t in schedule.trials if t.devices == schedule.used), None)
    rest = [t for t in schedule.trials if t.devices > schedule.used]
    if one is None or not rest:
        return None
    other = next((t for t in rest if t.measured is not None), rest[0])
    key, few, many = "chart_fewer", one.predicted, other.predicted
    if one.measured is not None and other.measured is not None:
        key, few, many = "chart_fewer_tried", one.measured, other.measured
    return row(key, few=seconds(few), many=seconds(many), used=schedule.used, devices=other.devices)


def _bars(
    axes: mpl.Axes, panel: Panel, path: set[Node], width: float, scale: float, numbers: Numbers
) -> set[int]:
    """Draw a bar for each task, with its name or, if that's too long, its number; return those."""
    numbered, each = set[int](), width * NAMED
    for device, tasks in enumerate(panel.schedule.gantt):
        for t in tasks:
            start, length = t.start * scale, t.cost * scale
            axes.broken_barh([(start, length)], (device - 0.36, 0.72), **panel.look(t.node in path))
            name, letters = t.node.name.split("/")[-1], int(length * axes_width(axes) / each)
            number = numbers.get(t.node)
            if len(name) > letters and number is not None and len(str(number)) <= letters:
                numbered.add(number)
                name, letters = str(number), LISTED
            if len(name) <= letters:
                place: dict[str, Any] = {"ha": "center", "va": "center_baseline", "size": TICK}
                axes.text(start + length / 2, device, name, **place)
    return numbered


def _draw_serial(axes: mpl.Axes, schedule: Schedule, scale: float) -> None:
    """Draw the same tasks one after another, below the devices, as one device would run them."""
    costs = [t.cost * scale for t in schedule.tasks]
    ends = list(accumulate(costs))
    bars = [(end - cost, cost) for end, cost in zip(ends, costs, strict=True)]
    soft, line, card = (theme.TOKENS[name][0] for name in ("soft", "line", "card"))
    low, at = schedule.devices - 0.24, schedule.makespan * scale
    axes.broken_barh(bars, (low, 0.48), facecolor=card, edgecolor=line, lw=0.8, label=ALONE)
    place: dict[str, Any] = {"va": "center_baseline", "size": TICK, "color": soft}
    axes.axvline(at, color=soft, lw=0.7, zorder=0.9)  # above the grid, below the bars
    axes.text(at, low - 0.2, f"{seconds(schedule.makespan)}\xa0", ha="right", **place)
    for (begin, length), t in zip(bars, schedule.tasks, strict=True):
        name = t.node.name.split("/")[-1]
        if len(name) * NAMED < length / ends[-1] * axes_width(axes):
            axes.text(begin + length / 2, schedule.devices, name, ha="center", **place)


def _handovers(axes: mpl.Axes, tasks: Sequence[Task], scale: float) -> int:
    """Draw an arrow for each result that another device needs, if they are few."""
    at = {t.node: t for t in tasks}
    pairs = [(at[n], t) for t in tasks for n in t.after if n in at and at[n].device != t.device]
    if len(pairs) > ARROWS:
        return 0
    look: dict[str, Any] = {"arrowstyle": "-|>", "lw": 1.4, "mutation_scale": 12}
    look |= {"color": INK, "shrinkA": 0, "shrinkB": 0}
    for one, other in pairs:  # from the end of one to the beginning of the other
        side = 0.36 if one.device > other.device else -0.36
        begin = one.end * scale, one.device - side
        axes.annotate("", (other.start * scale, other.device + side), begin, arrowprops=look)
    return len(pairs)
