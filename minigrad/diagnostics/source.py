"""The user's line: the innermost one outside this package that made a node."""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_FOLDERS = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
LIBRARIES = (*(folder + os.sep for folder in _FOLDERS), _PACKAGE)  # where no user's code stands
_BETWEEN = {module.__file__ for module in (contextlib, copy, functools)}  # they call us for users


def caller(frame: FrameType) -> tuple[CodeType, int]:
    """Return the code object and instruction of the innermost frame outside this package."""
    code = frame.f_code
    while INSIDE[code.co_filename] and frame.f_back is not None:
        frame = frame.f_back
        code = frame.f_code
    return code, frame.f_lasti


class _Inside(dict[str, bool]):
    """A cache of whether a file belongs to this package, as every node needs to know."""

    def __missing__(self, filename: str) -> bool:
        self[filename] = inside = filename.startswith(_PACKAGE) or filename in _BETWEEN
        return inside


INSIDE = _Inside()


def is_user_code(path: str) -> bool:
    """Return whether errors and nodes may name lines of this file."""
    return not INSIDE[path]


def treat_as_user_code(path: str, treat: bool = True) -> None:
    """Say whether lines of this file may be named as the user's, in errors and on nodes.

    A library on top of minigrad passes its own `__file__` and False when it is imported. Errors
    then name the line that called the library.

    >>> import minigrad as mg
    >>> mg.treat_as_user_code("my_library.py", False)
    """
    INSIDE[path] = not treat


def here() -> Location:
    """Return the user's line that is running now."""
    return Location(*caller(sys._getframe(1)))


def function_name(function: object) -> str:
    """Return a function's name, that of what a partial calls, or that of its class.

    >>> function_name(functools.partial(sum, [1]))
    'sum'
    """
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


@dataclass(frozen=True, slots=True)
class SavedLine:
    """One line of a program that isn't here: a saved graph's record of the line behind a node.

    It stands where a code object stands otherwise, and answers like one.
    """

    co_filename: str
    co_firstlineno: int
    text: str

    def co_positions(self) -> Iterator[tuple[int | None, ...]]:
        return iter([(self.co_firstlineno, None, None, None)])


@dataclass(frozen=True, slots=True)
class Location:
    """One place in a program: cheap to take (a code object and an offset), read when shown."""

    code: CodeType | SavedLine
    lasti: int

    @property
    def filename(self) -> str:
        return self.code.co_filename

    @property
    def span(self) -> tuple[int, int, int, int]:
        """First line, last line, first column, last column; columns are UTF-8 offsets."""
        positions = itertools.islice(self.code.co_positions(), self.lasti // 2, None)
        line, end, column, end_column = next(positions, (None, None, None, None))
        first = line or self.code.co_firstlineno
        return first, end or first, column or 0, end_column or 0

    @property
    def lineno(self) -> int:
        return self.span[0]

    @property
    def text(self) -> str:
        """The source line, stripped; empty when the source isn't available."""
        return self._line.strip()

    @property
    def _line(self) -> str:
        if isinstance(self.code, SavedLine):
            return self.code.text
        return linecache.getline(self.filename, self.lineno)

    @property
    def parts(self) -> tuple[str, str, str]:
        """The source line split around the expression: before it, itself, after it."""
        first, last, start, end = self.span
        line = self._line.rstrip("\n").encode()
        if last != first or end <= start:
            start, end = len(line) - len(line.lstrip()), len(line)
        before, inside, after = (
            part.decode(errors="replace") for part in (line[:start], line[start:end], line[end:])
        )
        return before.lstrip(), inside, after

    @property
    def file(self) -> str:
        """The short name of the file, or the notebook cell."""
        return _name(self.filename)

    @property
    def place(self) -> str:
        """File or notebook cell, and the line number."""
        return f"{self.file}, line {self.lineno}"

    @property
    def label(self) -> str:
        """The place as text: file or notebook cell, line number, and the line itself."""
        text = self.text if len(self.text) <= 100 else self.text[:97] + "..."
        return f"{self.place}:  {text}" if text else self.place


def _name(filename: str) -> str:
    """Return the short name of a file; a notebook cell has its number, as in IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        cell: tuple[str, str] | None = shell.compile.format_code_name(filename)
        if cell is not None:
            return " ".join(cell)
    return Path(filename).name
