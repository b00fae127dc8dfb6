"""`viz.live`: a drawing that grows while the lines of a cell run."""

from __future__ import annotations

import sys
import time
from types import FrameType
from typing import Self

from IPython import get_ipython
from IPython.display import display

from minigrad.events import Event, Recording, listeners
from viz.draw import names_in
from viz.player import Player
from viz.show import films_of

LONGEST = 3.0  # seconds that all pauses of one block may add up to
DENSE = 60  # nodes; above, the drawing is renewed only at the end


class live:
    """Draw what the block builds, as each of its lines runs; afterwards, play it again.

    pause: seconds to wait after each new line, so that the eye can follow (3 s in all at most);
    0 where nobody looks, as in a script.

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
        self._line: tuple[str, int] | None = None
        self._waited = 0.0

    def __enter__(self) -> Self:
        self._frame: FrameType | None = sys._getframe(1)
        if get_ipython() is not None:
            display(self.player)  # type: ignore[no-untyped-call]
        listeners.append(self._hear)
        return self

    def __exit__(self, *exc: object) -> None:
        listeners.remove(self._hear)
        self._draw()
        self._frame = None

    def _hear(self, event: Event) -> None:
        self._log(event)
        if event.kind not in ("built", "run") or event.node is None or not self.pause:
            return
        line = (event.node.where.filename, event.node.where.lineno)
        if line != self._line and self._log.counts.built <= DENSE:
            self._line = line
            self._draw()
            if self._waited < LONGEST:
                time.sleep(self.pause)
                self._waited += self.pause

    def _draw(self) -> None:
        """Show all that happened so far; listening is suspended, drawing builds nothing."""
        names = names_in(self._frame) if self._frame is not None else {}
        self.player.show(films_of(self._log, names))
        self.player.at_the_end()
