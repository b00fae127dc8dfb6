"""`viz.tensorboard`: a graph, its times and its memory, and curves, as TensorBoard reads them."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.compiler import Program
from minigrad.core import TupleSpec
from minigrad.diagnostics.errors import GraphError
from minigrad.hybrid.tracing import Function, Traced
from minigrad.interop.extra import import_extra
from minigrad.static import Graph, Node
from minigrad.static.build import build_graph
from minigrad.static.feeds import check_feeds
from viz.picture.boxes import Picture, PictureNode, paths
from viz.picture.picture import picture
from viz.views.draw import names_in
from viz.views.train import Training
from viz.words.text import distinct, row_text

__all__ = ["tensorboard"]

DEVICE = "/device:CPU:0"
UNTIMED = ("open_plan", "schedule_feeds")  # why a graph cannot be run without feeds
STRANGE = re.compile(r"[^\w.\-/]+")  # what TensorBoard would take for part of its own grammar


def tensorboard(obj: Any, logdir: str | Path, feed_dict: Mapping[Any, Any] | None = None) -> Path:
    """Write for TensorBoard what `viz.draw` draws, or curves; returns the folder `logdir`.

    A graph comes with its name scopes folded and, where it is static and can be run, with the time
    of each node's kernel (a median of a few runs, in whole microseconds, rounded up) and the bytes
    of its result. It runs with `feed_dict`, or with numbers made up where all shapes are known;
    no variable changes. Curves are a mapping from names to numbers, one for each step, or what
    `viz.train` showed. Look at them with `tensorboard --logdir FOLDER`.

    Raises TypeError for anything else, ValueError for curves that are no numbers and for feeds of
    what is no static graph, MissingPackageError without the extra `tensorboard`, and what a run
    raises.

    >>> import minigrad as mg, viz
    >>> x = mg.placeholder("x", shape=(3,))
    >>> graph = mg.build_graph(x, mg.tanh(x))
    >>> viz.tensorboard(graph, "runs/first")  # doctest: +SKIP
    PosixPath('runs/first')
    """
    if isinstance(obj, (Mapping, Training)):
        events = [*_curves(obj if isinstance(obj, Mapping) else _shown(obj))]
    else:
        events = _graph_events(obj, names_in(sys._getframe(1)), feed_dict)
    writer = import_extra("tensorboard.summary.writer.event_file_writer", extra="tensorboard")
    file = writer.EventFileWriter(str(logdir))
    try:
        for event in events:
            file.add_event(event)
    finally:
        file.close()
    return Path(logdir)


def _proto(name: str) -> Any:
    """Return one of TensorBoard's own protocol buffer modules."""
    return import_extra(f"tensorboard.compat.proto.{name}_pb2", extra="tensorboard")


def _shown(training: Training) -> dict[str, Sequence[float]]:
    """Return all curves of a training; a layer may have the same name as a logged quantity."""
    norms = distinct(training.norms, training.series)
    return {**training.series, **dict(zip(norms, training.norms.values(), strict=True))}


def _curves(series: Mapping[str, Sequence[float]]) -> Iterator[Any]:
    """Yield an event for each number."""
    event, summary, now = _proto("event").Event, _proto("summary").Summary, time.time()
    for name, values in series.items():
        numbers = np.asarray(values)
        if numbers.ndim != 1 or numbers.dtype.kind not in "biuf":
            raise ValueError(row_text("tensorboard_curve", name=name, shape=numbers.shape))
        for step, number in enumerate(numbers.tolist()):
            value = summary.Value(tag=name, simple_value=number)
            yield event(wall_time=now, step=step, summary=summary(value=[value]))


def _graph_events(obj: Any, names: Mapping[int, str], feeds: Mapping[Any, Any] | None) -> list[Any]:
    """Return the event of the graph, and that of its run."""
    program = _program(obj)
    drawn = picture(program.graph if program else obj, names, bodies=True)
    if program is None and feeds is not None:
        raise ValueError(row_text("tensorboard_feeds"))
    called = _names(drawn)
    event, now = _proto("event"), time.time()
    graph = _graph(drawn, called)
    found = [event.Event(wall_time=now, graph_def=graph.SerializeToString())]
    if program is not None and (run := _run(program, feeds, drawn, called)) is not None:
        tagged = event.TaggedRunMetadata(tag="run", run_metadata=run.SerializeToString())
        found.append(event.Event(wall_time=now, tagged_run_metadata=tagged))
    return found


def _program(obj: Any) -> Program | None:
    """Return the program to time: a static graph as is, or a compiled program; None for a tape."""
    if isinstance(obj, Program):
        return obj
    if isinstance(obj, (Function, Traced)):
        obj = obj.graph
    if isinstance(obj, Node):
        obj = build_graph(None, obj)
    elif isinstance(obj, (list, tuple)) and obj and all(isinstance(x, Node) for x in obj):
        obj = build_graph(None, list(obj))
    return Program(obj, optimize=False) if isinstance(obj, Graph) and obj.outputs else None


# ---- The graph -----------------------------------------------------------------------------------


def _names(drawn: Picture) -> dict[str, str]:
    """Give each box a unique name that begins with its scope, by which TensorBoard folds boxes."""
    found: dict[str, str] = {}
    taken: dict[str, int] = {}
    for node in drawn.nodes:
        label = STRANGE.sub("_", node.label.replace("/", "_")).lstrip("_-") or node.op
        full = "/".join(filter(None, (_scope(node, drawn, found), label)))
        while full in taken:
            taken[full] += 1
            full = f"{full}_{taken[full]}"
        taken[full] = 0
        found[node.id] = full
    return found


def _scope(node: PictureNode, drawn: Picture, called: Mapping[str, str]) -> str:
    """Return the scope of a box; what is inside a node is in a scope with that node's name."""
    for path in reversed(paths(node.group)):
        if path in drawn.owners:
            body = path.rpartition(": ")[2].partition(" ")[0]
            rest = node.group[len(path) :]
            return STRANGE.sub("_", f"{called[drawn.owners[path]]}/{body}{rest}")
    return STRANGE.sub("_", node.group)


def _graph(drawn: Picture, called: Mapping[str, str]) -> Any:
    """Return the graph as TensorFlow's GraphDef."""
    graph, versions = _proto("graph").GraphDef(), _proto("versions").VersionDef
    graph.versions.CopyFrom(versions(producer=27))  # the first whose scopes are those of today
    keys = {id: key for key, id in drawn.ids.items()}
    read: dict[str, list[str]] = {n.id: [] for n in drawn.nodes}
    for edge in sorted(drawn.edges, key=lambda e: (e.kind == "control", e.index < 0)):
        sign = "^" if edge.kind == "control" else ""
        read[edge.target].append(f"{sign}{called[edge.source]}")
    for node in drawn.nodes:
        made = graph.node.add(name=called[node.id], op=node.op, device=DEVICE)
        made.input.extend(read[node.id])
        if node.line:
            made.attr["line"].s = node.line.encode()
        made.attr["dtype"].s = node.dtype.encode()
        shape = getattr(keys.get(node.id), "shape", None)
        if shape is not None:
            sizes = made.attr["_output_shapes"].list.shape.add().dim
            for length in shape:
                sizes.add(size=-1 if length is None else length)
    return graph


# ---- A run ---------------------------------------------------------------------------------------


def _run(
    program: Program, feeds: Mapping[Any, Any] | None, drawn: Picture, called: Mapping[str, str]
) -> Any:
    """Return the time and memory of each node; None if a graph cannot run without feeds."""
    try:
        tasks = program.schedule(1, feed_dict=feeds, handover=0.0).tasks
        known = None if feeds is None else check_feeds(program.graph, feeds)
        specs = (program.bound if known is None else program.bind(known)).specs
    except GraphError as error:
        if feeds is None and error.key in UNTIMED:
            return None
        raise
    stats = _proto("step_stats")
    device = stats.DeviceStepStats(device=DEVICE)
    for task in tasks:
        micros = max(math.ceil(task.cost * 1e6), 1)
        began = math.floor(task.start * 1e6)
        made = device.node_stats.add(
            node_name=called[drawn.ids[task.node]],
            all_start_micros=began,
            op_end_rel_micros=micros,
            all_end_rel_micros=micros,
            timeline_label=str(task.node.op),
        )
        size = _bytes(specs[task.node])
        made.memory.add(allocator_name="cpu", total_bytes=size, peak_bytes=size, live_bytes=size)
    return _proto("config").RunMetadata(step_stats=stats.StepStats(dev_stats=[device]))


def _bytes(spec: Any) -> int:
    """Return the bytes of the result of a node."""
    if isinstance(spec, TupleSpec):
        return sum(map(_bytes, spec.parts))
    return int(math.prod(spec.shape) * spec.dtype.itemsize)
