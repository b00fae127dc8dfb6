"""What a function gives, or which error it raises; for each of a few values, as a board."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.source import treat_as_user_code
from minigrad.static import Graph, without_listeners
from minigrad_lessons.lesson.images import Images
from minigrad_lessons.lesson.table import fill_rows
from minigrad_lessons.questions import TableText, find_table
from viz.charts import Chart
from viz.film.states import on_cards
from viz.page.board import Board
from viz.page.rooms import card_spaces
from viz.page.scenes import Panel, Scene, Sheet
from viz.picture.picture import brief
from viz.views.draw import Diagram, draw
from viz.views.error import error
from viz.words.text import Pair, row, row_text

__all__ = ["attempt", "caught", "side_by_side", "sweep", "warned"]

Drawn = Graph | Diagram | Chart | Images | Board
treat_as_user_code(__file__, False)  # what is attempted runs where the user says so, and not here


def attempt(f: Callable[..., Any], *args: Any) -> Any:
    """Return what `f` returns for these arguments, or the error that it or the engine raises.

    That is any error of minigrad, and ValueError. Of both, `lessons.table` makes cells. Any other
    error is raised.

    >>> import minigrad as mg, minigrad_lessons as lessons
    >>> lessons.attempt(mg.zeros, ()), type(lessons.attempt(mg.tensor, "three")).__name__
    (tensor(0.), 'DtypeError')
    """
    try:
        return f(*args)
    except (GraphError, ValueError) as raised:
        return raised


@contextlib.contextmanager
def caught(kind: type[Exception]) -> Iterator[None]:
    """Print the error of this kind that ends the block, and go on after it.

    Any other error is raised, and ValueError where the block comes to its end.

    >>> import minigrad as mg, minigrad_lessons as lessons
    >>> with lessons.caught(ZeroDivisionError):
    ...     print(1 / 0)
    division by zero
    """
    try:
        yield
    except kind as error:
        print(error)
    else:
        raise ValueError(row_text("caught_nothing", kind=kind.__name__))


def warned(f: Callable[..., Any], *args: Any) -> Any:
    """Call `f` with these arguments, and print its warnings, each once, as plain lines.

    >>> import minigrad_lessons as lessons, warnings
    >>> lessons.warned(warnings.warn, "careful")
    careful
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = f(*args)
    for line in dict.fromkeys(str(warning.message) for warning in caught):
        print(line)
    return found


def side_by_side(*drawn: Drawn) -> Board:
    """Show finished drawings on a board: graphs, diagrams, charts, images, boards' current step.

    TypeError for anything else, and for nothing.

    >>> import minigrad as mg, minigrad_lessons as lessons, viz
    >>> x = mg.tensor(2.0, requires_grad=True)
    >>> board = lessons.side_by_side(viz.draw(x * x), viz.draw(x + 3))
    >>> [panel.title[0] for panel in board.scenes[0].panels]
    ['dynamic graph: y = x × x', 'dynamic graph: y = x + 3']
    """
    if wrong := [one for one in drawn or (None,) if not isinstance(one, Drawn)]:
        raise TypeError(row_text("side_by_side_takes", value=brief(wrong[0])))
    panels = tuple(panel for one in drawn for panel in _panels(one))
    told = [", ".join(n.op for n in p.picture.nodes if n.inputs) for p in panels if p.picture]
    which = "side_by_side_of" if len(told) == len(panels) else "side_by_side"
    heading = row(which, count=len(panels), what=" | ".join(told))
    return Board([Scene(heading, panels)], heading=heading)


def sweep(id: str, f: Callable[[Any], Any], values: Sequence[Any]) -> Board:
    """Show what `f` returns for each of `values` on a board with a slider, and as a table.

    id: a table of the bank of questions, whose first column is the value. f: takes a value and
    returns a cell for each other column (one cell, or a tuple of them); graphs, diagrams, charts
    and images among them are drawn instead. An error of the engine is shown with its lines, and
    its kind is the first cell. UnknownIdError for an unknown table, ValueError for no values or
    for cells that do not fit, and any other error of `f`.

    >>> import minigrad as mg, minigrad_lessons as lessons
    >>> board = lessons.sweep("examples.squares", lambda x: (x * x + 3, 2 * x), [1, 2])
    >>> [scene.caption[0] for scene in board.scenes]
    ['x = 1: value 4, gradient 2', 'x = 2: value 7, gradient 4']
    """
    text = find_table(id)
    if not values:
        raise ValueError(row_text("sweep_values", id=id))
    with without_listeners():
        found = [_run_with_value(f, value, len(text.head) - 1) for value in values]
    pairs = zip(values, found, strict=True)
    lines = fill_rows(text, [out.cells if text.rows else [x, *out.cells] for x, out in pairs])
    scenes = [
        Scene(_caption(text, line), tuple(out.panels), tuple(out.facts), i)
        for i, (line, out) in enumerate(zip(lines, found, strict=True))
    ]
    sheet = Sheet(text.head, tuple(lines))
    return Board(scenes, sheet, slider=text.head[0], heading=text.caption)


@dataclass(frozen=True)
class Outcome:
    """What one value led to: cells of the table, what is drawn, and what is said."""

    cells: list[Any]
    panels: list[Panel]
    facts: Sequence[Pair] = ()


def _run_with_value(f: Callable[[Any], Any], value: Any, columns: int) -> Outcome:
    """Return the outcome of the function for one value, or the error that it raises."""
    got = attempt(f, value)
    if isinstance(got, GraphError):
        failed = error(got).scenes[0]
        blank = [None] * (columns - 1)
        return Outcome([got, *blank], list(failed.panels), [failed.caption, *failed.facts])
    parts = got if isinstance(got, tuple) else (got,)
    cells = [x for x in parts if not isinstance(x, Drawn)]
    return Outcome(cells, [p for x in parts if isinstance(x, Drawn) for p in _panels(x)])


def _panels(drawn: Drawn) -> list[Panel]:
    if isinstance(drawn, Board):
        return list(drawn.scenes[drawn.index].panels)
    if isinstance(drawn, Graph):
        drawn = draw(drawn)
    if isinstance(drawn, Diagram):
        film, shown = drawn.film, drawn.picture
        held = on_cards(film, len(film.frames) - 1, shown)
        return [Panel(drawn.heading, shown, rooms=card_spaces(film, shown), states=held)]
    if isinstance(drawn, Images):
        return [Panel(drawn.about, svg=drawn.figures)]
    return [Panel(drawn.title, svg=drawn._repr_mimebundle_()["text/html"])]


def _caption(text: TableText, line: Sequence[Pair]) -> Pair:
    """Return the row of the table as a sentence."""
    pairs = zip(text.head[1:], line[1:], strict=True)
    headed = [row("sweep_cell", head=head, value=shown) for head, shown in pairs]
    cells = (", ".join(t[0] for t in headed), "，".join(t[1] for t in headed))
    if text.rows:
        return row("sweep_named", value=line[0], cells=cells)
    return row("sweep_step", head=text.head[0], value=line[0], cells=cells)
