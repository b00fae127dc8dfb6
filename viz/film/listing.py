"""The user's program beside the film: the lines that made nodes, as blocks of source text."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

NEAR = 4  # lines without a node that may lie inside of a block
SHORT = 15  # lines; of a file or a notebook cell up to here all are shown

Span = tuple[str, int, int]  # file name, first line, last line


@dataclass(frozen=True)
class SourceBlock:
    """Lines that follow each other in one file, without their common indentation."""

    filename: str
    first: int
    lines: tuple[str, ...]

    def holds(self, span: Span) -> bool:
        """Return whether these lines are in the block."""
        return span[0] == self.filename and 0 <= span[1] - self.first < len(self.lines)


def listing(spans: Iterable[Span]) -> list[SourceBlock]:
    """Return the blocks that contain all spans, in the order of the first span of each.

    Lines of programs that are not to be had are left out.
    """
    ordered = list(dict.fromkeys(spans))
    whole = {name for name, _, _ in ordered if len(linecache.getlines(name)) <= SHORT}
    found = []
    for filename in dict.fromkeys(span[0] for span in ordered):
        ranges = [(a, b) for name, a, b in ordered if name == filename]
        for first, last in [(1, SHORT)] if filename in whole else _joined(ranges):
            text = "".join(linecache.getline(filename, n) for n in range(first, last + 1))
            if text.strip():
                lines = textwrap.dedent(text).rstrip("\n").split("\n")
                found.append(SourceBlock(filename, first, tuple(lines)))
    return sorted(found, key=lambda b: next(i for i, s in enumerate(ordered) if b.holds(s)))


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges of lines that are near each other."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + NEAR:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined
