"""Schedules as bars: one row for each device, predicted above and measured below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.compiler import Program
from minigrad.compiler.schedule.schedule import Schedule, Task, seconds
from minigrad.static import Node
from viz.charts.chart import Chart, Row
from viz.picture import mpl, theme
from viz.words.text import Pair, printed, row

__all__ = ["schedule"]

LISTED = 40  # tasks in the table
NAMED = 0.02  # of the width: for each letter of a name that is written into its bar


@dataclass(frozen=True, slots=True)
class Panel:
    """One schedule of a chart, and the row that says which it is."""

    schedule: Schedule
    title: str


def schedule(
    obj: Program | Schedule,
    devices: int = 2,
    *,
    feed_dict: Mapping[Any, Any] | None = None,
    costs: Any = None,
    measured: Schedule | None = None,
) -> Chart:
    """A chart of a schedule: which device runs which kernel when; what was measured lies below.

    obj: a program, which is scheduled over `devices` (see `Program.schedule`), or a schedule;
    measured: the schedule that its `run` returned. The tasks of the critical path are hatched.

    Raises TypeError for other things, and what `Program.schedule` raises.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(3,))
    >>> program = mg.build_graph(x, mg.exp(x) @ mg.tanh(x)).compile()
    >>> schedule(program, costs=lambda node: 1.0).alt[0]
    'Gantt chart: Schedule over 2 devices. 3 tasks. predicted: 2 s; critical path: 2 s, 2 tasks.'
    """
    if isinstance(obj, Program):
        obj = obj.schedule(devices, costs=costs, feed_dict=feed_dict)
    if not isinstance(obj, Schedule):
        raise TypeError(printed("schedule_unknown", value=f"{type(obj).__name__}"))
    found = measured or obj.rehearsal
    panels = [Panel(obj, "chart_measured" if obj.costs == "run" else "chart_predicted")]
    panels += [Panel(found, "chart_measured")] if found is not None else []
    path = obj.critical_path
    about = {"devices": obj.devices, "tasks": len(obj.tasks), "count": len(path)}
    says = [row(p.title, time=seconds(p.schedule.makespan)) for p in panels]
    alt = row("chart_schedule_alt", length=seconds(obj.length), **about)
    english, chinese = (
        alt[i].replace("…", (", ", "，")[i].join(pair[i] for pair in says)) for i in range(2)
    )
    return Chart(
        title=row("chart_schedule", devices=obj.devices),
        alt=(english, chinese),
        head=_head(found is not None),
        rows=tuple(_rows(obj, found)),
        draw=lambda figure, i: _draw(figure, panels, i),
        size=(7.4, len(panels) * (1.0 + 0.5 * obj.devices) + 0.9),
    )


def _head(both: bool) -> tuple[Row, Row]:
    keys = ["task", "device", "start", "length", "path"]
    keys += ["device_measured", "start_measured", "length_measured"] if both else []
    pairs = [row(f"chart_{key}") for key in keys]
    return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)


def _rows(predicted: Schedule, measured: Schedule | None) -> list[tuple[Row, Row]]:
    path = set(predicted.critical_path)
    ran = {t.node: t for t in measured.tasks} if measured is not None else {}
    found = []
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
    if task is None:
        return ("", "", "")
    return (str(task.device), seconds(task.start), seconds(task.cost))


def _draw(figure: mpl.Figure, panels: Sequence[Panel], i: int) -> None:
    width = max(p.schedule.makespan for p in panels) or 1.0
    scale, unit = _unit(width)
    path = set(panels[0].schedule.critical_path)
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"hspace": 0.45})
    for axes, panel in zip(rows[:, 0], panels, strict=True):
        _bars(axes, panel.schedule, path, width, scale)
        schedule = panel.schedule
        axes.set_yticks(range(schedule.devices))
        axes.set_yticklabels([row("chart_on", device=d)[i] for d in range(schedule.devices)])
        axes.set_ylim(schedule.devices - 0.4, -0.6)
        axes.set_xlim(0, width * scale * 1.02)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        title = row(panel.title, time=seconds(schedule.makespan))[i]
        axes.text(0, 1.04, title, transform=axes.transAxes, va="bottom")
    last = rows[-1, 0]
    last.set_xlabel(row("chart_time", unit=unit)[i])
    keys = [_patch(True, row("chart_on_path")[i]), _patch(False, row("chart_off_path")[i])]
    rows[0, 0].legend(
        handles=keys, ncols=2, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0)
    )
    note = _note(panels[0].schedule)
    if note is not None:
        last.text(0, -0.5, note[i], transform=last.transAxes, va="top")


def _note(schedule: Schedule) -> Pair | None:
    """Why fewer devices are used than there are, where that is so."""
    if schedule.used >= schedule.devices or schedule.costs == "run":
        return None
    times = {t.devices: t for t in schedule.trials}
    one, rest = times.get(schedule.used), [t for n, t in times.items() if n > schedule.used]
    if one is None or not rest:
        return None
    tried = [t for t in rest if t.measured is not None]
    other = tried[0] if tried else rest[0]
    about = {"used": schedule.used, "devices": other.devices}
    if tried and one.measured is not None and other.measured is not None:
        return row(
            "chart_fewer_tried", few=seconds(one.measured), many=seconds(other.measured), **about
        )
    return row("chart_fewer", few=seconds(one.predicted), many=seconds(other.predicted), **about)


def _bars(axes: mpl.Axes, schedule: Schedule, path: set[Node], width: float, scale: float) -> None:
    for critical in (False, True):
        for device, tasks in enumerate(schedule.gantt):
            spans = [
                (t.start * scale, t.cost * scale) for t in tasks if (t.node in path) == critical
            ]
            axes.broken_barh(spans, (device - 0.36, 0.72), **_look(critical))
    for t in schedule.tasks:
        name = _within(t.node.name.split("/")[-1], int(t.cost / (NAMED * width)))
        if name:
            middle = (t.start + t.cost / 2) * scale
            box = {"facecolor": theme.WHITE, "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
            axes.text(middle, t.device, name, ha="center", va="center", fontsize=9, bbox=box)


def _within(name: str, letters: int) -> str:
    """The name, or as much of its beginning as there is room for; of three letters, nothing."""
    if len(name) <= letters:
        return name
    return f"{name[: letters - 1]}…" if letters > 3 else ""


def _look(critical: bool) -> dict[str, Any]:
    if critical:
        return {"facecolor": theme.ORANGE, "edgecolor": theme.BLACK, "hatch": "///", "lw": 0.8}
    return {"facecolor": theme.SKY, "edgecolor": theme.BLUE, "hatch": "", "lw": 0.8}


def _patch(critical: bool, label: str) -> mpl.Patch:
    return mpl.Patch(label=label, **_look(critical))


def _unit(width: float) -> tuple[float, str]:
    """The factor from seconds to the unit that suits a chart of this width, and the unit."""
    if width < 1e-3:
        return 1e6, "µs"
    return (1e3, "ms") if width < 1 else (1.0, "s")
