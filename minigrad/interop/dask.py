"""`program.to_dask()`: a program as a Dask graph, whose tasks run wherever Dask runs them.

A task is a part of the program as a file: data that any process with minigrad can run, no code.
"""

from __future__ import annotations

import functools
import hashlib
import os
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.compiler.program import Program
from minigrad.compiler.schedule.parallel import TOUCH_VARIABLES
from minigrad.compiler.schedule.schedule import Schedule, Task
from minigrad.core import Array, TupleSpec
from minigrad.diagnostics.arguments import expect, is_whole, refuse, whole
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import Pair, fill
from minigrad.diagnostics.source import here
from minigrad.interop.extra import import_extra
from minigrad.ops import state
from minigrad.passes.plan import depth_first
from minigrad.saving import load_graph, save
from minigrad.static import Graph, Node
from minigrad.static.build import build_graph, placeholder
from minigrad.static.feeds import check_feeds
from minigrad.static.handlers import expect_fed

__all__ = ["to_dask"]

GRAINS = ("kernels", "regions", "whole")
REDUCTIONS = ("mean", "sum")
GIVEN = (state.placeholder, state.variable, state.constant)
KEPT = 256  # parts that a process keeps ready


@dataclass(frozen=True)
class TaskFile:
    """A part of a program, as a file: called with arrays it returns an array, or several."""

    name: str
    file: bytes
    executor: str

    def __call__(self, *operands: Array) -> Any:
        program = load_part(self, threading.get_ident())
        return program(dict(zip(program.graph.inputs, operands, strict=True)))


@functools.lru_cache(KEPT)
def load_part(part: TaskFile, thread: int) -> Program:
    """Load a part's program; each thread has its own, since programs aren't reentrant."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.graph"
        path.write_bytes(part.file)
        return Program(load_graph(path), optimize=False, executor=part.executor)


def to_dask(
    program: Program,
    feed_dict: Mapping[Any, Any] | None = None,
    tasks: str | int = "regions",
    shards: int = 1,
    reduce: str | None = None,
    *,
    token: str | None = None,
) -> Any:
    """Convert a program with these feeds to a Dask graph, a `dask.delayed` object.

    Its `compute()` gives what the program gives, bit for bit: on threads, on processes
    (`scheduler="processes"`) or on a cluster (`client.compute`), and `visualize()` draws it.
    tasks: "kernels", each a task (a fused region is one); "regions", chains of them; a number,
    so many stretches of about as many kernels; "whole", all as one. What Dask does around a
    task costs more than most kernels do: `lessons.granularity` shows it. shards: into how many
    parts of the batch each placeholder with an open first axis is split; results with such an
    axis are put together again, of all others `reduce` says whether they are a "mean" over the
    batch or a "sum": equal then but for rounding. Variables have the values of now. token: what
    the keys of the tasks hold in the place of a hash of all values.

    Raises GraphError for what changes variables, counts runs or prints, and for a batch that
    cannot be split; ArgumentError for other options; MissingPackageError without the extra
    `dask`.

    >>> import minigrad as mg
    >>> x = mg.placeholder("x", shape=(None, 2))
    >>> program = mg.build_graph(x, mg.tanh(x)).compile()
    >>> later = mg.to_dask(program, {x: [[0.0, 1.0]]}, tasks="kernels")  # doctest: +SKIP
    >>> later.compute(scheduler="threads")  # doctest: +SKIP
    array([[0.       , 0.7615942]], dtype=float32)
    """
    expect(isinstance(program, Program), to_dask, "mg.to_dask(mg.compile(graph), {x: 1.0})")
    delayed = import_extra("dask.delayed", extra="dask").delayed
    if is_whole(tasks):
        whole("to_dask", "tasks", tasks, 1)
    elif tasks not in GRAINS:
        raise refuse("to_dask", "tasks", tasks, _one_of(GRAINS))
    if reduce is not None and reduce not in REDUCTIONS:
        raise refuse("to_dask", "reduce", reduce, _one_of(REDUCTIONS))
    shards = whole("to_dask", "shards", shards, 1)
    graph = program.graph
    _expect_pure(graph)
    feeds = _checked_feeds(graph, feed_dict)
    sizes = _sizes(graph, feeds, shards)
    parts = [_build_part(graph, nodes, program.executor) for nodes in group_nodes(graph, tasks)]
    token = token or _graph_hash(parts, feeds, program.variables)
    fixed = {v: np.array(x) for v, x in program.variables.items()}
    split = {x for x in feeds if _is_batched(x)} if shards > 1 else set()
    data = {
        x: delayed(value, name=f"{_key(x)}-{token}", pure=True, traverse=False)
        for x, value in {**fixed, **feeds}.items()
        if x not in split
    }
    ends = np.cumsum([0, *sizes])
    results = []
    for i in range(shards):
        at = f"-{i}" if shards > 1 else ""
        values = dict(data)
        for x in split:
            rows = feeds[x][ends[i] : ends[i + 1]]
            values[x] = delayed(rows, name=f"{_key(x)}{at}-{token}", pure=True, traverse=False)
        results.append(_dask_tasks(delayed, parts, values, f"{at}-{token}"))
    gather = Gather(tuple(map(_is_batched, graph.outputs)), tuple(sizes), reduce, graph.single)
    if shards > 1 and reduce is None and not all(gather.batched):
        name = next(x.name for x, b in zip(graph.outputs, gather.batched, strict=True) if not b)
        raise GraphError("dask_reduce", name=name, ran=here())
    found = [[values[x] for x in graph.outputs] for values in results]
    return delayed(gather, traverse=True)(found, dask_key_name=f"results-{token}")


@dataclass(frozen=True)
class Gather:
    """A function that joins the results of all shards: rows in order, means by weight."""

    batched: tuple[bool, ...]
    sizes: tuple[int, ...]
    reduce: str | None
    single: bool

    def __call__(self, shards: Sequence[Sequence[Array]]) -> Any:
        if len(shards) == 1:
            found = list(shards[0])
        else:
            columns = zip(*shards, strict=True)
            found = [self._one(*x) for x in zip(columns, self.batched, strict=True)]
        return found[0] if self.single else found

    def _one(self, values: Sequence[Array], batched: bool) -> Any:
        if batched:
            for value, size in zip(values, self.sizes, strict=True):
                if len(value) != size:
                    raise GraphError("dask_rows", rows=len(value), size=size)
            return np.concatenate(values)
        total = sum(self.sizes)
        weights = [n / total if self.reduce == "mean" else 1.0 for n in self.sizes]
        kind = np.asarray(values[0]).dtype
        return sum(np.float64(w) * v for w, v in zip(weights, values, strict=True)).astype(kind)


def run_schedule(
    program: Program, schedule: Schedule, feed_dict: Mapping[Any, Any] | None, scheduler: Any
) -> tuple[Any, Schedule]:
    """Run a schedule (`Schedule.run`): each kernel is a task that reports worker and times."""
    delayed = import_extra("dask.delayed", extra="dask").delayed
    graph, at = program.graph, f"-{secrets.token_hex(6)}"  # to be run, not cached
    _expect_pure(graph)
    feeds = _checked_feeds(graph, feed_dict)
    pieces = [
        _build_part(graph, nodes, program.executor) for nodes in group_nodes(graph, "kernels")
    ]
    given = {**{v: np.array(x) for v, x in program.variables.items()}, **feeds}
    values = {x: delayed(v, name=f"{_key(x)}{at}", traverse=False) for x, v in given.items()}
    spans: dict[Node, Any] = {}
    after: dict[Node, tuple[Node, ...]] = {}
    maker: dict[Node, Node] = {}
    for i, piece in enumerate(pieces):
        call = delayed(Timed(piece.part), nout=2, traverse=False)
        key = f"{piece.part.name}-{i}{at}"
        made, spans[piece.node] = call(*(values[x] for x in piece.reads), dask_key_name=key)
        several = len(piece.gives) > 1
        values.update((x, made[j] if several else made) for j, x in enumerate(piece.gives))
        after[piece.node] = tuple({maker[x]: None for x in piece.reads if x in maker})
        maker.update(dict.fromkeys(piece.gives, piece.node))
    wanted_values = [values[x] for x in graph.outputs]
    compute = import_extra("dask", extra="dask").compute
    results, timed = compute(wanted_values, list(spans.values()), scheduler=scheduler)
    measured = _measured(schedule, dict(zip(spans, timed, strict=True)), after)
    return (results[0] if graph.single else list(results)), measured


@dataclass(frozen=True)
class Timed:
    """A part that returns, with its results, the worker and the times of its run."""

    part: TaskFile

    def __call__(self, *operands: Array) -> tuple[Any, tuple[Any, float, float]]:
        start = time.time()  # a clock that processes share
        result = self.part(*operands)
        who = socket.gethostname(), os.getpid(), threading.get_ident()
        return result, (who, start, time.time())


def _measured(
    schedule: Schedule,
    timings: Mapping[Node, tuple[Any, float, float]],
    after: Mapping[Node, tuple[Node, ...]],
) -> Schedule:
    """Return the schedule as it was measured; workers are numbered in order of start."""
    order = sorted(timings, key=lambda node: timings[node][1:])
    began = min((timings[node][1] for node in order), default=0.0)
    numbers: dict[Any, int] = {}
    tasks = []
    for node in order:
        who, start, end = timings[node]
        device = numbers.setdefault(who, len(numbers))
        tasks.append(Task(node, device, start - began, end - began, after[node]))
    devices = max(len(numbers), schedule.devices)
    return replace(
        schedule, tasks=tuple(tasks), devices=devices, costs="run", trials=(), rehearsal=None
    )


# ---- Parts ---------------------------------------------------------------------------------------


def group_nodes(graph: Graph, tasks: str | int) -> list[list[Node]]:
    """Group computing nodes into tasks: one each, chains, a number of runs, or one for all.

    A chain goes on as long as a result is read by one node alone, which reads no other. Runs are
    stretches of the order in which all that leads to one end comes before what leads to the next,
    so that ends which need nothing of each other can be computed side by side. No group waits for
    itself, as none reads what comes after it. What picks one of several results stays with the
    node that gives them.
    """
    nodes = [n for n in depth_first(graph) if n.op not in GIVEN]
    size = 1 if isinstance(tasks, str) else max(-(-len(nodes) // tasks), 1)
    size = len(nodes) if tasks == "whole" else size
    readers: dict[Node, set[Node | None]] = {n: set() for n in graph.nodes}
    for node in graph.nodes:
        for x in node.inputs:
            readers[x].add(node)
    for x in graph.outputs:
        readers[x].add(None)
    groups: list[list[Node]] = []
    group: dict[Node, list[Node]] = {}
    for node in nodes:
        before = [*{x: None for x in node.inputs if x.op not in GIVEN}]
        chained = tasks == "regions" and len(before) == 1 and readers[before[0]] == {node}
        if chained or (before and isinstance(before[0].spec, TupleSpec)):
            group[node] = group[before[0]]
        elif groups and len(groups[-1]) < size:
            group[node] = groups[-1]
        else:
            groups.append([])
            group[node] = groups[-1]
        group[node].append(node)
    return groups


@dataclass(frozen=True)
class Piece:
    """A part with the nodes that it reads, and those whose values others read."""

    part: TaskFile
    reads: tuple[Node, ...]
    gives: tuple[Node, ...]
    node: Node  # the first of them, which represents them all


def _build_part(graph: Graph, nodes: Sequence[Node], executor: str) -> Piece:
    """Build a separate program of some nodes, fed with what they read from outside."""
    inside = {*nodes}
    outside = {x for n in graph.nodes if n not in inside for x in n.inputs} | {*graph.outputs}
    gives = tuple(n for n in nodes if n in outside)
    read = dict.fromkeys(x for n in nodes for x in n.inputs if x not in inside)
    reads = tuple(x for x in read if x.op is not state.constant)
    with Graph():
        fed = {x: placeholder(f"v{i}", x.shape, x.dtype) for i, x in enumerate(reads)}
        cut = build_graph(None, gives[0] if len(gives) == 1 else gives)
        cut.inputs = ()  # of the whole; those of the part come in
        cut = cut.replace(fed)
    order = {f"v{i}": i for i in range(len(reads))}
    cut.inputs = tuple(sorted(cut.inputs, key=lambda x: order[x.name]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "part.graph"
        save(cut, path)
        part = TaskFile(nodes[-1].op.name, path.read_bytes(), executor)
    return Piece(part, reads, gives, nodes[0])


def _dask_tasks(
    delayed: Any, pieces: Sequence[Piece], values: dict[Node, Any], at: str
) -> dict[Node, Any]:
    """Build a Dask task for each part, connected to the results that it reads."""
    for i, piece in enumerate(pieces):
        several = len(piece.gives) if len(piece.gives) > 1 else None
        call = delayed(piece.part, nout=several, traverse=False, pure=True)
        made = call(*(values[x] for x in piece.reads), dask_key_name=f"{piece.part.name}-{i}{at}")
        values.update(zip(piece.gives, made if several else [made], strict=True))
    return values


def _one_of(names: Sequence[str]) -> Pair:
    return fill("expect_named", names=", ".join(map(repr, names)))


# ---- What can be handed out ----------------------------------------------------------------------


def _expect_pure(graph: Graph) -> None:
    """Raise GraphError for operators with effects in this process, such as prints."""
    for node in graph.nodes:
        if node.op.impure or node.op in (*TOUCH_VARIABLES, state.run_counter):
            raise GraphError(
                "dask_pure", name=node.name, op=node.op, defined=node.where, ran=here()
            )


def _checked_feeds(graph: Graph, feed_dict: Mapping[Any, Any] | None) -> dict[Node, Array]:
    """Check the fed values; NotFedError if one is missing."""
    feeds = dict(check_feeds(graph, feed_dict))
    for x in graph.placeholders:
        expect_fed(x, feeds, graph.outputs[0])
    return feeds


def _is_batched(node: Node) -> bool:
    """Return whether a node's first axis is the batch."""
    shape = node.shape
    return bool(shape) and shape is not None and shape[0] is None


def _sizes(graph: Graph, feeds: Mapping[Node, Array], shards: int) -> list[int]:
    """Return how many rows each shard gets."""
    lengths = {len(feeds[x]) for x in graph.placeholders if _is_batched(x)}
    if shards == 1:
        return [max(lengths, default=1)]
    if len(lengths) != 1 or min(lengths) < shards:
        shown = ", ".join(map(str, sorted(lengths))) or "-"
        raise GraphError("dask_batch", lengths=shown, shards=shards, ran=here())
    total = lengths.pop()
    return [total // shards + (i < total % shards) for i in range(shards)]


def _key(node: Node) -> str:
    return node.name.replace("/", ".")


def _graph_hash(
    pieces: Sequence[Piece], feeds: Mapping[Node, Array], variables: Mapping[Node, Array]
) -> str:
    """Return a hash of the graph and its values: Dask treats equal names as equal results."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece.part.file)
    for values in (feeds, variables):
        for x in values.values():
            digest.update(repr((np.shape(x), np.asarray(x).dtype.str)).encode())
            digest.update(np.ascontiguousarray(x).tobytes())
    return digest.hexdigest()[:12]
