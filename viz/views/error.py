"""`viz.error`: the graph as far as it got, the node that failed, and the lines to look at."""

from __future__ import annotations

import linecache
import sys
import traceback
from textwrap import dedent
from typing import Any

from IPython import get_ipython
from IPython.display import display

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import Location, is_user_code
from minigrad.static import without_listeners
from viz.film.failure import failure, frames_of
from viz.page.board import Board
from viz.page.scenes import Panel, Scene
from viz.picture.marks import ran
from viz.picture.picture import brief
from viz.views.draw import names_in
from viz.words.text import ROWS, Pair, row, row_text

__all__ = ["error", "show_errors"]

AROUND = 2  # lines of source above and below the one that is meant


def error(exception: BaseException | None = None) -> Board:
    """Show an error on a board: the partial graph with the failing node, and the source lines.

    exception: one that was raised, by default the last that was shown. The node's definition line
    and, for a run, the line that ran it are shown in their source. TypeError where there is none.

    >>> import minigrad as mg, viz
    >>> x = mg.placeholder("x")
    >>> graph = mg.build_graph(x, (x * 2) @ mg.constant([1.0, 2.0, 3.0]))
    >>> try:
    ...     mg.run(graph, {x: [1.0, 2.0]})
    ... except mg.ShapeError as exception:
    ...     board = viz.error(exception)
    >>> [line for line in board.text()[0].splitlines() if "✗ n" in line]
    ['    ✗ n5 MatMul']
    """
    shown: Any = getattr(sys, "last_value", None) if exception is None else exception
    if not isinstance(shown, BaseException):
        raise TypeError(row_text("error_none", value=brief(shown)))
    names: dict[int, str] = {}
    for frame in reversed(frames_of(shown)):
        if is_user_code(frame.f_code.co_filename):  # what the user's variables are called
            names.update(names_in(frame))
    with without_listeners():
        found = failure(shown, names)
    marks = ran(found.picture, found.ran) if found.picture else {}
    marks |= dict.fromkeys(found.waits, "waits")
    marks |= {found.failed: "failed"} if found.failed else {}
    panels = [] if found.picture is None else [Panel(ROWS["error_graph"], found.picture, marks)]
    panels += _source_panels(shown)
    scene = Scene(_summary(shown), tuple(panels), tuple(_places(shown)))
    return Board([scene], heading=row("page_error", kind=type(shown).__name__))


def last_line(exception: BaseException) -> str:
    """Return the last line in the traceback of an error that is not the engine's.

    A reader of the traceback takes it for the place of the fault. Empty where there is none.

    >>> import minigrad as mg
    >>> graph = mg.build_graph([], mg.constant([1.0, 2.0]) / mg.constant(0.0))
    >>> try:
    ...     with mg.detect_anomaly():
    ...         mg.run(graph)
    ... except mg.NumericError as error:
    ...     print(last_line(error))
    mg.run(graph)
    """
    frames = traceback.extract_tb(exception.__traceback__)
    return next((f.line or "" for f in reversed(frames) if is_user_code(f.filename)), "")


def _summary(shown: BaseException) -> Pair:
    """Return the type of the error and the first line of its message."""
    pair = shown.pair if isinstance(shown, GraphError) else (str(shown), str(shown))
    english, chinese = (half.splitlines()[0] if half else "" for half in pair)
    return row("error_summary", kind=type(shown).__name__, message=(english, chinese))


def _lines_of(shown: BaseException) -> list[tuple[str, Location]]:
    """Return the user's lines that the error names, each with its key in the text table."""
    pairs = [("error_defined", "defined"), ("error_ran", "ran")]
    found = [(key, getattr(shown, name, None)) for key, name in pairs]
    return [(key, where) for key, where in found if isinstance(where, Location)]


def _places(shown: BaseException) -> list[Pair]:
    return [row("error_line", what=ROWS[key], where=where.label) for key, where in _lines_of(shown)]


def _source_panels(shown: BaseException) -> list[Panel]:
    """Return panels with the source around each of the user's lines."""
    panels = []
    for key, where in _lines_of(shown):
        numbers = range(max(1, where.lineno - AROUND), where.lineno + AROUND + 1)
        source = "\n".join(linecache.getline(where.filename, n).rstrip() for n in numbers)
        read = zip(numbers, dedent(source).split("\n"), strict=True)
        kind = "failed" if key == "error_defined" else "now"
        code = [(kind if n == where.lineno else "", line) for n, line in read]
        while code and not code[-1][1]:
            code.pop()
        if code:
            panels.append(Panel(ROWS[key], code=tuple(code)))
    return panels


def show_errors(on: bool = True) -> None:
    """Turn on or off that each error of the engine in this notebook is also shown as a board.

    The usual traceback is printed as before. Outside of notebooks nothing happens.

    >>> show_errors(False)
    """
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((GraphError,) if on else (), _handle if on else None)


def _handle(shell: Any, kind: Any, value: BaseException, traceback: Any, tb_offset: Any) -> Any:
    """Print an error as always, then draw it; IPython calls this."""
    lines = shell.InteractiveTB.structured_traceback(kind, value, traceback, tb_offset=tb_offset)
    shell._showtraceback(kind, value, lines)
    display(error(value))  # type: ignore[no-untyped-call]
    return lines
