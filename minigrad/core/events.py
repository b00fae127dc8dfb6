"""The channel on which the engine reports what it does.

No listeners: one test for each operation, nothing else. `record()` listens and keeps the events
in order; everything the visualiser shows is a replay of such a recording.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from minigrad.core import BaseNode, Op, context, show_shapes
from minigrad.core.locks import Lock
from minigrad.diagnostics.errors import NumericError
from minigrad.diagnostics.messages import choose
from minigrad.diagnostics.source import here

__all__ = ["detect_anomaly", "record"]


class Event(NamedTuple):
    """One thing the engine did.

    kind is one of
        built         a node was recorded; nothing is said of its value
        run           a kernel ran: `value` is the result, `operands` what it read; `node` is None
                      where the dynamic graph recorded none, as in its backward pass
        called        a function ran as one operation of the tape: `value` is its result (a tuple
                      if there are several); its kernels were told of one by one
        read          a value entered a run: a fed placeholder, a variable, a constant, one of
                      the results of a branch or a loop
        traced        a function begins to be traced: `node` is the trace, with its reason
        hit           a function uses a trace that it has already: `node` is the trace
        compiled      a program decides what becomes of each node: `node` is the program
        bound         a program is made ready for inputs of other sizes: `node` is the program
        noted         an operation was put off by `lazy_batch`: `node` is its note
        group         noted operations of one form ran as one: `node` says which, and how
        step          a loop in the graph begins a step: `node` is the loop, `position` its number
        contributed   backward added to the gradient of `node`: `operands` is (upstream gradient,
                      contribution), `value` the sum so far, `source` the node it came through and
                      `position` which operand of that node
        held          a run of a program holds `bytes` of memory: its arena (`node` is the plan), or
                      an array that outlives the run, a result or a variable's new value
        released      the run is over: the arena of this plan is free
        taken         the value of `node` begins to live in buffer `position` of the arena; it is
                      `bytes` long
        freed         the last that reads it is done: the buffer may hold another value
    phase is, of what was built or run, the part of a training step that it belongs to, see
    `phase_of`.
    """

    tick: int
    kind: str
    op: Op | None
    node: BaseNode | Any
    value: Any = None
    operands: tuple[Any, ...] = ()
    source: BaseNode | None = None
    position: int = 0
    bytes: int = 0
    phase: str = ""


Listener = Callable[[Event], None]


class Subscription:
    """A listener and the thread it follows; None: every thread, except internal scratch work.

    The threads of a schedule tell the listener of the one that runs it, one after the other.
    """

    __slots__ = ("listener", "lock", "thread")

    def __init__(self, listener: Listener, thread: object) -> None:
        self.listener, self.thread = listener, thread
        self.lock = Lock()  # a listener may do what tells of itself


listeners: list[Subscription] = []  # tested by the hot path; empty without listeners


def emit(kind: str, op: Op | None, node: Any, *rest: Any, **more: Any) -> None:
    """Notify this thread's listeners; call it only if there are `listeners`, as it takes time."""
    if kind in ("built", "run"):
        more["phase"] = phase_of(node)
    for subscription in heard_by():
        with subscription.lock:
            subscription.listener(Event(0, kind, op, node, *rest, **more))


def heard_by() -> list[Subscription]:
    """Return the subscriptions that hear what this thread does now."""
    now = context.now
    own = now.audience is now.owner
    copied = tuple(listeners)  # other threads add to them and remove some
    return [s for s in copied if s.thread is now.audience or (own and s.thread is None)]


# The parts of a training step, by the scope that the nodes of a static graph are built in.
PHASES = {"gradients": "backward", "apply_gradients": "update"}


def phase_of(node: Any) -> str:
    """Return the phase of a training step that a node belongs to: forward, backward or update.

    `backward` is for gradients and their sums, `update` for what an optimiser does with them. A
    static graph keeps it in the scopes of its nodes; a dynamic graph is in it now.
    """
    now = context.now.phase
    if now != "forward" or not isinstance(node, BaseNode):
        return now
    parts = node.scope.split("/")
    return next((phase for scope, phase in PHASES.items() if scope in parts), now)


class during:
    """Mark operations of the dynamic graph in the block as part of this training phase."""

    def __init__(self, phase: str) -> None:
        self.phase = phase

    def __enter__(self) -> None:
        now = context.now
        self.before, now.phase = now.phase, self.phase

    def __exit__(self, *exc: object) -> None:
        context.now.phase = self.before


@contextlib.contextmanager
def listen(listener: Listener, all_threads: bool = False) -> Iterator[None]:
    """Call `listener` with each event of this thread (or of all) inside the block."""
    subscription = Subscription(listener, None if all_threads else context.now.audience)
    listeners.append(subscription)
    try:
        yield
    finally:
        listeners.remove(subscription)


@dataclass
class Counts:
    """The counts of a recording: nodes built, kernels run, and bytes held by their results.

    run: all kernels, which are `forward` + `backward` + `update`, see `phase_of`. One training step
    runs the same ones as a dynamic graph and as a static graph that is run as it was built; what is
    built differs. by_op: `run` by the names of the operators.
    A program's arena counts while it runs, its results until they are let go; what a kernel needs
    while it works (`scratch`) counts in neither mode. The bytes are those of what was recorded: a
    backward pass without listeners writes some results over others.
    traces: how often a function began to be traced. multiplications: those of matrix products and
    convolutions that ran as operators of their own.
    """

    built: int = 0
    run: int = 0
    backward: int = 0
    update: int = 0
    multiplications: int = 0
    traces: int = 0
    bytes_live: int = 0
    bytes_peak: int = 0
    by_op: Counter[str] = field(default_factory=Counter)

    @property
    def forward(self) -> int:
        """Kernels that ran neither backward nor for an update."""
        return self.run - self.backward - self.update

    @property
    def kernels(self) -> int:
        """Kernels started; a fused group counts once."""
        return self.run


class Recording:
    """The events of a block in order, and their counts.

    With `values` each event keeps the arrays it speaks of; without, only counts are kept exact and
    arrays live no longer than they would have. With `buffers` there are events of each buffer.
    Printed, it tells in order which operators were built and run.
    """

    def __init__(self, values: bool = False, buffers: bool = False) -> None:
        self.values, self.buffers = values, buffers
        self.events: list[Event] = []
        self.counts = Counts()
        self._alive: dict[int, weakref.ref[np.ndarray[Any, Any]]] = {}
        self._held: dict[int, int] = {}  # bytes of arenas in use

    def __call__(self, event: Event) -> None:
        if event.kind in ("taken", "freed") and not self.buffers:
            return
        event = event._replace(tick=len(self.events) + 1)
        if event.kind == "built":
            self.counts.built += 1
        elif event.kind == "run":
            self.counts.run += 1
            self.counts.backward += event.phase == "backward"
            self.counts.update += event.phase == "update"
            self.counts.by_op[str(event.op)] += 1
            if event.op is not None and event.op.products is not None:
                shapes = [np.shape(getattr(x, "_array", x)) for x in (event.value, *event.operands)]
                self.counts.multiplications += event.op.products(*shapes)
            self._weigh(event.value)
        elif event.kind == "traced":
            self.counts.traces += 1
        elif event.kind == "held":
            self._hold(event)
        elif event.kind == "released":
            self.counts.bytes_live -= self._held.pop(id(event.node), 0)
        keep = self.values and event.kind not in ("held", "taken")  # memory to be written again
        keep = keep or isinstance(event.value, BaseNode)  # a gradient that is yet to be computed
        self.events.append(event if keep else event._replace(value=None, operands=()))

    def _weigh(self, value: Any) -> None:
        """Count the bytes of a fresh array until it is freed; views and scalars own none."""
        if not isinstance(value, np.ndarray) or value.base is not None or id(value) in self._alive:
            return
        key, size, counts = id(value), value.nbytes, self.counts

        def freed(_: object) -> None:
            counts.bytes_live -= size
            self._alive.pop(key, None)

        self._alive[key] = weakref.ref(value, freed)
        self._add(size)

    def holds(self, array: np.ndarray[Any, Any]) -> bool:
        """Return whether this array is a kernel's result that was reported and still counts."""
        return id(array) in self._alive

    def _hold(self, event: Event) -> None:
        if event.value is not None:
            self._weigh(event.value)
        else:
            self._held[id(event.node)] = event.bytes
            self._add(event.bytes)

    def _add(self, size: int) -> None:
        self.counts.bytes_live += size
        self.counts.bytes_peak = max(self.counts.bytes_peak, self.counts.bytes_live)

    def __repr__(self) -> str:
        """Show what was built and run, in order, inputs left out: "built Mul, run Mul"."""
        shown = (e for e in self.of_kind("built", "run") if getattr(e.node, "inputs", True))
        return ", ".join(f"{e.kind} {e.op}" for e in shown)

    def __str__(self) -> str:
        """Show the same in the reader's language."""
        said = repr(self)
        return choose((said, said.replace("built ", "构建 ").replace("run ", "运行 ")), " / ")

    def of_kind(self, *kinds: str) -> list[Event]:
        """Return the events of these kinds, in order."""
        return [e for e in self.events if e.kind in kinds]

    def count(self, kind: str, op: str) -> int:
        """Count how often the operator of this name was "built" or "run"."""
        return sum(str(e.op) == op for e in self.of_kind(kind))


@contextlib.contextmanager
def record(
    values: bool = False, buffers: bool = False, all_threads: bool = False
) -> Iterator[Recording]:
    """Record what the engine does inside the block.

    `values=True` also keeps every intermediate array, which a replay needs and which costs memory.
    `buffers=True` also keeps, of a program that was compiled, when each buffer is taken and freed.
    What other threads do meanwhile is theirs, unless they run a schedule for this one;
    `all_threads=True` records it, too.

    >>> import minigrad as mg
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with mg.record() as log:
    ...     y = x * x + 3
    >>> print(log)
    built Mul, run Mul, built Add, run Add
    >>> log.counts.built, log.counts.run
    (2, 2)
    """
    recording = Recording(values, buffers)
    with listen(recording, all_threads):
        yield recording


@contextlib.contextmanager
def detect_anomaly() -> Iterator[None]:
    """Stop at the first operator, in either mode, whose result is NaN or infinite.

    Holds for this thread. Raises NumericError, which names the operator, the shapes, the line, and
    of a graph or a backward pass also the line that ran it. (After
    torch.autograd.detect_anomaly, and tf.debugging.enable_check_numerics.)

    >>> import minigrad as mg
    >>> with mg.detect_anomaly():
    ...     y = mg.log(mg.tensor(-1.0))
    Traceback (most recent call last):
    minigrad.NumericError: Log: the result is NaN or infinite in 1 place...
    """
    with listen(_check_finite), np.errstate(all="ignore"):
        yield


def _check_finite(event: Event) -> None:
    if event.kind not in ("run", "read", "contributed") or event.value is None:
        return
    if event.node is None and event.phase == "backward":  # what comes of the whole rule is told
        return
    value = event.operands[1] if event.kind == "contributed" else event.value
    value = np.asarray(getattr(value, "_array", value))
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        through, line = event.source or event.node, here()
        defined = through.where if isinstance(through, BaseNode) else line
        raise NumericError(
            "not_finite",
            op=f"∂{through}" if event.kind == "contributed" else event.op,
            count=int(value.size - np.isfinite(value).sum()),
            shapes=show_shapes(*(np.shape(getattr(x, "_array", x)) for x in event.operands)),
            defined=defined,
            ran=None if line == defined else line,
        )
