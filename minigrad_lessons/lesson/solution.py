"""Our answer to an exercise, for a learner who has tried: `solution`."""

from __future__ import annotations

import re

from minigrad_lessons.lesson import my_engine
from minigrad_lessons.lesson.learner_engine import template
from minigrad_lessons.lesson.verdicts import was_checked
from minigrad_lessons.lesson.wording import Message, bilingual, bilingual_lines
from minigrad_lessons.questions import find_check
from viz.words.text import Pair, row, row_text

__all__ = ["solution"]


class Solution:
    """A sentence in both languages, and code: a page shows it as the page shows code."""

    def __init__(self, explanation: Pair, code: str) -> None:
        self.explanation, self.code = explanation, code

    def __repr__(self) -> str:
        return f"{bilingual_lines(self.explanation)}\n\n{self.code}"

    def _repr_markdown_(self) -> str:
        return f"{bilingual(self.explanation)}\n\n```python\n{self.code}\n```"


def solution(id: str, *names: str) -> Message | Solution:
    """Show our answer to an exercise, named `our_...`, once its check has judged the learner's.

    id: of the check, as "L00.core"; names: of its parts of the engine, as "dynamic", if it has
    any. ValueError for a part that the engine does not have. The wheel of a class shows none.

    >>> from minigrad_lessons import check
    >>> _ = check("L00.core", 7, 7)
    >>> solution("L00.core", "dynamic")
    Our answer. Yours may look different and be just as good.
    <BLANKLINE>
    def our_dynamic(steps, x):
        \"""Build and run the steps (name, function) one by one; return the result.\"""
        for name, function in steps:
            note("built", name)
            x = function(x)
            note("run", name)
        return x
    """
    entry, parts = find_check(id), template()[1]
    for name in names:
        if name not in parts:
            raise ValueError(row_text("engine_no_part", name=name, known=", ".join(parts)))
    if not was_checked(id):
        return Message([row("solution_first")], "…", id)
    if hasattr(my_engine, "PACKED"):
        return Message([row("solution_class")], "…", id)
    ours = [
        re.sub(rf"^def {name}(.*?) *# yours", rf"def our_{name}\1", parts[name].source)
        for name in names
    ]
    return Solution(row("solution_ours"), "\n\n\n".join(map(str.strip, ours or [entry.ours])))
