"""Memory over time: what the tape holds while it runs, and what a program plans before it runs."""

from __future__ import annotations

import contextlib
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

import minigrad as mg
from minigrad.compiled import Program
from minigrad.eager import Tensor
from minigrad.graph import Node
from minigrad.ops import parts
from minigrad.tape import TapeNode, owner_of
from viz import theme
from viz.charts.chart import Chart, Row
from viz.text import Pair, printed, row

LISTED = 40  # values in the table
BARS = 60  # values that get a bar of their own
Bytes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Life:
    """One value of a program: its steps, its place in the arena, whether backward waits for it."""

    name: str
    start: int
    end: int
    bytes: int
    offset: int
    retained: bool


@dataclass(frozen=True, slots=True)
class Planned:
    """What a program holds at each of its steps, in bytes.

    The arena is there from the start; `alive` is what lies in it, and the results made so far.
    """

    lives: tuple[Life, ...]
    alive: Bytes
    arena: int
    apart: int
    boundary: int | None  # the first step of the backward pass

    @property
    def begin(self) -> int:
        """The first step that computes anything; before it there are inputs."""
        return min((x.start for x in self.lives), default=0)

    @property
    def retained(self) -> int:
        """Bytes of the values that the forward pass leaves for the backward pass."""
        return sum(x.bytes for x in self.lives if x.retained)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a dynamic graph held while it ran forward and backward, in bytes, moment by moment."""

    alive: Bytes
    retained: int

    @property
    def peak(self) -> int:
        return int(self.alive.max(initial=0))


def memory(obj: Program | Callable[..., Any], *inputs: Any) -> Chart:
    """A chart of memory: how long values live, where they lie in the arena, how much is in use.

    obj: a program, for the shapes of its latest run or those declared; or a function (or layer) of
    tensors, with arrays for it. A function is differentiated both ways: as a dynamic graph, whose
    memory is measured while it runs, and as a program, whose memory is planned; both on one chart.

    Raises TypeError for other things, and GraphError for a program with open lengths that never
    ran.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(1000,))
    >>> program = mg.build_graph(x, mg.exp(mg.tanh(mg.sin(x))).sum()).compile(optimize=False)
    >>> memory(program).rows[0][0]
    ('Sin', '0', '1', '4 kB', '0', '')
    """
    measured = None
    if isinstance(obj, Program):
        planned = plan_of(obj)
    elif callable(obj) and not isinstance(obj, (Tensor, Node)):
        arrays = [_as_input(x) for x in inputs]
        planned, measured = plan_of(_static(obj, arrays)), _eager(obj, arrays)
    else:
        raise TypeError(printed("memory_unknown", value=type(obj).__name__))
    facts = {
        "arena": size(planned.arena),
        "apart": size(planned.apart),
        "values": len(planned.lives),
        "retained": size(planned.retained),
    }
    alt = row("chart_memory_alt", **facts)
    if measured is not None:
        more = row(
            "chart_memory_alt_eager", peak=size(measured.peak), retained=size(measured.retained)
        )
        alt = alt[0] + " " + more[0], alt[1] + more[1]
    return Chart(
        title=row("chart_memory"),
        alt=alt,
        head=_head(),
        rows=tuple(_rows(planned, measured)),
        draw=lambda figure, i: _draw(figure, planned, measured, i),
        size=(7.4, 8.6),
    )


# ---- What is known of a program ---------------------------------------------------------------


def plan_of(program: Program) -> Planned:
    """The plan of a program, step by step."""
    bound = program.bound
    order = bound.layout.order
    boundary = _first_backward(order)
    lives = tuple(
        Life(
            _name(x.node),
            x.start,
            x.end,
            x.bytes,
            bound.plan.buffers[x.buffer].offset,
            boundary is not None and x.start < boundary <= x.end,
        )
        for x in bound.plan.lifetimes
    )
    alive = np.zeros(len(order) + 1, np.int64)
    for x in lives:
        alive[x.start] += x.bytes
        alive[x.end + 1] -= x.bytes
    for i, node in enumerate(order):
        slot = bound.slots[node]
        if slot.kind == "result":
            alive[i] += int(np.prod(slot.shape)) * node.dtype.itemsize
    plan = bound.plan
    return Planned(lives, np.cumsum(alive)[:-1], plan.bytes, plan.unshared_bytes, boundary)


def _first_backward(order: Sequence[Node]) -> int | None:
    """The first step of the backward pass; a fused kernel that gives a forward value is before."""
    forward = {x.inputs[0] for x in order if x.op is parts.output and not _is_gradient(x)}
    for i, node in enumerate(order):
        inner = not node.inputs or node.op is parts.output or node in forward
        if _is_gradient(node) and not inner:
            return i
    return None


def _is_gradient(node: Node) -> bool:
    return "gradients" in node.scope.split("/")


def _name(node: Node) -> str:
    """One result of several is called after the layer that it was written for."""
    if node.op is parts.output and node.scope:
        return node.scope.split("/")[-1]
    return node.name.split("/")[-1]


def _static(model: Callable[..., Any], arrays: Sequence[Any]) -> Program:
    """The program of a function's value and its gradients."""
    with mg.Graph() as graph, mg.enable_grad():
        nodes = [
            mg.placeholder(f"x{i}", shape=a.shape, dtype=a.dtype) for i, a in enumerate(arrays, 1)
        ]
        loss = _total(model(*nodes))
        trained = [v for v in graph.nodes if v.op.name == "Variable"]
        wanted = [x for x in (*nodes, *trained) if x.dtype.kind == "f"]
        found = [g for g in mg.gradients(loss, wanted) if g is not None]
        program: Program = mg.build_graph(nodes, [loss, *found]).compile()
        return program


# ---- What is measured of a tape ---------------------------------------------------------------


def _eager(model: Callable[..., Any], arrays: Sequence[Any]) -> Measured:
    """What Python and NumPy hold while a function runs forward and backward."""
    tensors = [mg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]

    def forward() -> Tensor:
        with mg.enable_grad():
            loss: Tensor = _total(model(*tensors))
            return loss

    loss = forward()
    kept, leaves = _tape(loss)
    mg.grad(loss, leaves, allow_unused=True)  # what is made once is made now
    del loss
    with _sampled() as samples:
        mg.grad(forward(), leaves, allow_unused=True)
    found = np.asarray(samples, np.int64)
    return Measured(np.maximum(found - found[:1], 0), kept)


@contextlib.contextmanager
def _sampled() -> Iterator[list[int]]:
    """The bytes in use at each call and return inside the block; whoever profiles goes on later."""
    samples: list[int] = []
    before, tracing = sys.getprofile(), tracemalloc.is_tracing()

    def look(*_: object) -> None:
        samples.append(tracemalloc.get_traced_memory()[0])

    if not tracing:
        tracemalloc.start()
    sys.setprofile(look)
    try:
        yield samples
    finally:
        sys.setprofile(before)
        if not tracing:
            tracemalloc.stop()


def _tape(loss: Tensor) -> tuple[int, list[Tensor]]:
    """Bytes that the tape saved, each array once and leaves left out; and the leaves."""
    saved: dict[int, int] = {}
    leaves: dict[int, Tensor] = {}
    todo = [] if loss.creator is None else [loss.creator]
    seen = set(todo)
    for node in todo:  # which grows meanwhile
        for x in node.sources:
            if isinstance(x, TapeNode) and x not in seen:
                seen.add(x)
                todo.append(x)
            elif isinstance(x, Tensor):
                leaves[id(x)] = x
        for value in node.saved or ():
            if isinstance(value, np.ndarray):
                owner = owner_of(value)
                saved[id(owner)] = owner.nbytes
    own = {id(owner_of(x.data)) for x in leaves.values()}
    return sum(n for key, n in saved.items() if key not in own), list(leaves.values())


def _as_input(x: Any) -> Any:
    array = np.array(getattr(x, "data", x))
    return array.astype(mg.float32) if array.dtype == mg.float64 else array


def _total(y: Any) -> Any:
    """One number to differentiate, whatever a function returns."""
    first, *rest = y if isinstance(y, (list, tuple)) else [y]
    total = mg.sum(first)
    for other in rest:
        total = total + mg.sum(other)
    return total


# ---- Words and pictures -----------------------------------------------------------------------


def size(count: float) -> str:
    """A number of bytes with a unit that suits it.

    >>> [size(x) for x in (12, 4000, 2.5e6)]
    ['12 B', '4 kB', '2.5 MB']
    """
    scale, unit = _unit(count)
    return f"{count / scale:.3g} {unit}"


def _unit(count: float) -> tuple[float, str]:
    if count < 1e3:
        return 1.0, "B"
    return (1e3, "kB") if count < 1e6 else (1e6, "MB")


def _head() -> tuple[Row, Row]:
    keys = ("value", "first_step", "last_step", "bytes", "offset", "retained")
    pairs = [row(f"chart_{key}") for key in keys]
    return tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)


def _rows(planned: Planned, measured: Measured | None) -> list[tuple[Row, Row]]:
    found: list[tuple[Row, Row]] = []

    def add(pair: Pair, *cells: str) -> None:
        filled = (*cells, *[""] * (5 - len(cells)))
        found.append(((pair[0], *filled), (pair[1], *filled)))

    for x in planned.lives[:LISTED]:
        mark = "*" if x.retained else ""
        add((x.name, x.name), str(x.start), str(x.end), size(x.bytes), str(x.offset), mark)
    if len(planned.lives) > LISTED:
        add(row("chart_more", count=len(planned.lives) - LISTED))
    add(row("chart_arena"), "", "", size(planned.arena))
    add(row("chart_apart"), "", "", size(planned.apart))
    add(row("chart_kept_planned"), "", "", size(planned.retained))
    if measured is not None:
        add(row("chart_eager_peak"), "", "", size(measured.peak))
        add(row("chart_kept_eager"), "", "", size(measured.retained))
    return found


def _draw(figure: Figure, planned: Planned, measured: Measured | None, i: int) -> None:
    heights = [2.0, 2.2, 2.0]
    use, lives, arena = figure.subplots(3, 1, gridspec_kw={"height_ratios": heights, "hspace": 0.6})
    _in_use(use, planned, measured, i)
    _lifetimes(lives, planned, i)
    _map(arena, planned, i)
    for axes in (lives, arena):
        axes.set_xlim(planned.begin, max(len(planned.alive), planned.begin + 1))


def _caption(axes: Axes, text: str) -> None:
    axes.text(0, 1.04, text, transform=axes.transAxes, va="bottom")


def _in_use(axes: Axes, planned: Planned, measured: Measured | None, i: int) -> None:
    peak = measured.peak if measured is not None else 0
    top = max(planned.arena, int(planned.alive.max(initial=0)), peak, 1)
    if measured is None:
        top = max(top, planned.apart)
    scale, unit = _unit(top)
    alive = planned.alive[planned.begin :]
    steps = np.arange(planned.begin, len(planned.alive) + 1, dtype=float)
    if measured is not None:  # both runs from their beginning to their end
        steps = (steps - steps[0]) / max(steps[-1] - steps[0], 1) * 100
        along = np.linspace(0, 100, len(measured.alive))
        axes.plot(along, measured.alive / scale, **_line("eager", i))
    held = np.append(alive, alive[-1:]) / scale
    axes.fill_between(steps, held, step="post", color=theme.SKY, alpha=0.35, lw=0)
    axes.step(steps, held, where="post", **_line("alive", i))
    axes.axhline(planned.arena / scale, **_line("arena", i))
    if measured is None:
        axes.axhline(planned.apart / scale, **_line("apart", i))
    axes.set_ylim(0, top / scale * 1.08)
    axes.set_xlim(steps[0], steps[-1])
    key = "chart_in_use" if measured is None else "chart_in_use_both"
    _caption(axes, row(key, unit=unit)[i])
    if measured is not None:
        axes.set_xlabel(row("chart_progress")[i])
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))


LINES = {
    "eager": (theme.VERMILION, "-", 1.8),
    "alive": (theme.BLUE, "-", 1.8),
    "arena": (theme.BLACK, "--", 1.5),
    "apart": (theme.GREEN, ":", 2.0),
}


def _line(which: str, i: int) -> dict[str, Any]:
    color, style, width = LINES[which]
    label = row(f"chart_line_{which}")[i]
    return {"color": color, "linestyle": style, "lw": width, "marker": "", "label": label}


def _lifetimes(axes: Axes, planned: Planned, i: int) -> None:
    shown = planned.lives[:BARS]
    for k, x in enumerate(shown):
        axes.broken_barh([(x.start, x.end + 1 - x.start)], (k - 0.4, 0.8), **_look(x.retained))
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x")
    named = shown if len(shown) <= 16 else ()
    axes.set_yticks(range(len(named)), labels=[x.name for x in named], fontsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _caption(axes, row("chart_lifetimes", shown=len(shown), values=len(planned.lives))[i])
    if planned.boundary is not None:
        axes.axvline(planned.boundary, color=theme.BLACK, ls="--", lw=1.2)
    keys = [
        Patch(label=row(f"chart_{key}")[i], **_look(key == "kept")) for key in ("kept", "brief")
    ]
    axes.legend(handles=keys, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _map(axes: Axes, planned: Planned, i: int) -> None:
    scale, unit = _unit(planned.arena or 1)
    for x in planned.lives:
        where = (x.start, x.offset / scale)
        axes.add_patch(Rectangle(where, x.end + 1 - x.start, x.bytes / scale, **_look(x.retained)))
    axes.set_ylim(0, max(planned.arena, 1) / scale)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(row("chart_step")[i])
    _caption(axes, row("chart_map", unit=unit)[i])


def _look(retained: bool) -> dict[str, Any]:
    if retained:
        return {"facecolor": theme.ORANGE, "edgecolor": theme.BLACK, "hatch": "///", "lw": 0.6}
    return {"facecolor": theme.SKY, "edgecolor": theme.WHITE, "hatch": "", "lw": 0.6}
