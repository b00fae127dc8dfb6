"""`viz.live`: a drawing that grows while the lines of a cell run."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Self

from IPython import get_ipython
from IPython.display import DisplayHandle, display

from minigrad.core.events import Event, Recording, listen
from minigrad.dynamic.tape import TapeNode
from minigrad.dynamic.tensor import Tensor
from viz.page.player import Player
from viz.views.draw import names_in
from viz.views.step import films_of

__all__ = ["live"]

LONGEST = 3.0  # seconds that all pauses of one block may add up to
DENSE = 60  # nodes; above, the drawing is renewed only at the end


class live:
    """Draw what the block builds, as each of its lines runs; afterwards, play it again.

    Nothing that the block drops is kept alive: the nodes of a dynamic graph fade where they are
    freed, and the film says so.

    pause: seconds to wait after each line, so that the eye can follow (3 s in all at most); 0 where
    there is no viewer, as in a script.

    >>> import minigrad as mg, viz
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> with viz.live() as drawing:
    ...     y = x * x + 3
    >>> print(drawing.player.text()[0].splitlines()[1])
    1. run and recorded at once: Mul = x × x = 2 × 2 = 4
    """

    def __init__(self, pause: float = 0.4) -> None:
        self.pause = pause if get_ipython() is not None else 0.0
        self.player = Player([])
        self._log = Recording(values=True)
        self._twins = NodeCopies(self._freed)
        self._line: tuple[str, int] | None = None
        self._waited = 0.0
        self._shown: DisplayHandle | None = None

    def __enter__(self) -> Self:
        self._frame: FrameType | None = sys._getframe(1)
        if get_ipython() is not None:
            self._shown = display(self.player, display_id=True)  # type: ignore[no-untyped-call]
        self._listening = listen(self._hear)
        self._listening.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listening.__exit__(None, None, None)
        self._draw()
        if self._shown is not None:  # what the notebook stores is the film, not its empty start
            self._shown.update(self.player)  # type: ignore[no-untyped-call]
        self._frame = None
        self._twins.forget()

    def _freed(self, twin: TapeNode) -> None:
        """Log that the node of this copy was freed."""
        self._log(Event(0, "forgotten", twin.op, twin))

    def _hear(self, event: Event) -> None:
        if event.kind in ("built", "run") and event.node is not None and self.pause:
            line = (event.node.where.filename, event.node.where.lineno)
            if line != self._line and self._line and self._log.counts.built <= DENSE:
                self._look()  # the line before is over: its values are there, and its names
            self._line = line
        self._log(self._twins.event(event))

    def _look(self) -> None:
        """Draw, and let the reader see it."""
        self._draw()
        if self._waited < LONGEST:
            time.sleep(self.pause)
            self._waited += self.pause

    def _draw(self) -> None:
        """Show all that happened so far; listening is suspended, drawing builds nothing."""
        names = self._twins.named(names_in(self._frame)) if self._frame is not None else {}
        self.player.show(films_of(self._log, names))
        self.player.at_the_end()


class NodeCopies:
    """Copies of the nodes of a tape, without their values: the film is made of these.

    The nodes themselves are watched and not held, so that they end when the user drops them.
    """

    def __init__(self, freed: Callable[[TapeNode], None]) -> None:
        self._freed: Callable[[TapeNode], None] | None = freed
        self._known: dict[int, tuple[weakref.ref[TapeNode], TapeNode]] = {}  # by id of the node
        self._names: dict[int, str] = {}  # by id of the copy: what it was called last

    def event(self, event: Event) -> Event:
        """Return the event with copies in place of nodes and tensors."""
        operands = tuple(x._array if isinstance(x, Tensor) else x for x in event.operands)
        value = event.value._array if isinstance(event.value, Tensor) else event.value
        node, source = self.of(event.node), self.of(event.source)
        return event._replace(node=node, source=source, operands=operands, value=value)

    def of(self, node: Any) -> Any:
        """Return the copy of a tape node; return anything else as it is."""
        if not isinstance(node, TapeNode):
            return node
        key = id(node)
        if key not in self._known:
            sources = [self.of(x) for x in node.sources]
            nothing = [None] * (len(sources) + 1)
            place = (node.code, node.lasti)
            about: Any = node
            twin = TapeNode.of(node.pullback, sources, nothing, about, node.attrs, place)
            self._known[key] = weakref.ref(node, lambda _: self._end(key)), twin
        return self._known[key][1]

    def _end(self, key: int) -> None:
        _, twin = self._known.pop(key)
        if self._freed is not None:
            self._freed(twin)

    def named(self, names: Mapping[int, str]) -> Mapping[int, str]:
        """Return the names of variables, and those of copies, taken from their nodes."""
        alive = [(key, twin) for key, (_, twin) in self._known.items() if key in names]
        self._names.update((id(twin), names[key]) for key, twin in alive)
        return {**names, **self._names}

    def forget(self) -> None:
        """Stop watching the nodes."""
        self._freed = None
        self._known.clear()
