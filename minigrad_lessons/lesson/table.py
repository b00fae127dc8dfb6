"""Tables of the lessons: their words are in the bank, their values were just measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.dynamic.tensor import Tensor
from minigrad_lessons.lesson.wording import MARKS
from minigrad_lessons.questions import TableText, find_table
from viz.picture.picture import brief
from viz.picture.summary import summarize
from viz.views.tables import NONE, Table
from viz.words.text import Pair, row_text

__all__ = ["table"]


def table(id: str, rows: Sequence[Sequence[Any]]) -> Table:
    """Show a table from the bank of questions, filled with what was just measured.

    rows: for each row its cells: numbers and arrays in few characters, truth as ✓ or ✗, None as –,
    an error as its kind, texts as they are; what belongs together, a tuple or a list, with strokes
    between. Where the bank names the rows, the first column is
    its; rows and cells are then those that are left. UnknownIdError for an unknown table,
    ValueError for cells that do not fit its columns.

    >>> print(table("examples.squares", [(x, x * x + 3, 2 * x) for x in (2, 3.5)]))
    x*x + 3 and its gradient
    x | value | gradient
    2 | 7 | 4
    3.5 | 15.25 | 7
    """
    text = find_table(id)
    return Table(text.caption, text.head, fill_rows(text, rows))


def fill_rows(text: TableText, rows: Sequence[Sequence[Any]]) -> list[tuple[Pair, ...]]:
    """Return the cells of a table of the bank, as pairs; raise ValueError if they do not fit it."""
    if text.rows and len(text.rows) != len(rows):
        counts = {"wanted": len(text.rows), "given": len(rows)}
        raise ValueError(row_text("table_height", id=text.id, **counts))
    columns = len(text.head) - bool(text.rows)
    for number, line in enumerate(rows, 1):
        if len(line) != columns:
            counts = {"wanted": columns, "given": len(line)}
            raise ValueError(row_text("table_width", id=text.id, number=number, **counts))
    cells = [tuple(map(cell_text, line)) for line in rows]
    return [(n, *line) for n, line in zip(text.rows, cells, strict=True)] if text.rows else cells


def cell_text(value: Any) -> Pair:
    """Return the text of a value in a table, in both languages."""
    if value is None:
        return NONE
    if isinstance(value, tuple | list):
        en, zh = zip(*map(cell_text, value), strict=True)
        return " / ".join(en), " / ".join(zh)
    if isinstance(value, bool | np.bool_):
        value = MARKS[bool(value)]
    elif isinstance(value, BaseException):
        value = type(value).__name__
    elif not isinstance(value, str):
        value = summarize(value).text if _is_numeric(value) else brief(value)
    return value, value


def _is_numeric(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray | np.generic | Tensor)
