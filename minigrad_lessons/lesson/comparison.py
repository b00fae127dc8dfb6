"""Where an answer first differs from the expected one, in both languages: `Comparison`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from minigrad_lessons.lesson.answers import is_equal, items_of, scalar_to_python, short_repr
from viz.words.text import Pair, row

# What an index may follow without a space: a name of Python, or an index.
NAME = re.compile(r"(?:^|\.)[A-Za-z_]\w*$|\]$", re.ASCII)
INPUT = re.compile(r"[-(]?\d[-\d., ()e]*")  # a number or a tuple of numbers
Path = tuple[Pair, ...]  # the names on the way to a value, in both languages
RESULT = "result", "result"  # what has no name: "`10` is 2" would be a riddle


@dataclass(frozen=True, slots=True)
class Comparison:
    """How an answer is compared with the expected one, and how the difference is reported.

    Expected strings are shown only if `words` is set: if the answer is a function, they do not
    give it away. `translate` renders a dict's names for its values, or a string among them, to both
    languages.
    """

    tolerance: float
    words: bool
    translate: Callable[[str], Pair]

    def describe_first_difference(self, got: Any, want: Any, at: Path = (RESULT,)) -> Pair | None:
        """Describe where two lists, arrays or dicts first differ; return None for other values."""
        if isinstance(want, dict):
            return self._describe_first_key(got, want, at)
        if isinstance(got, np.ndarray) and isinstance(want, np.ndarray) and got.shape != want.shape:
            return _row("check_shape", at, shape=got.shape, wanted=want.shape)
        items, expected = items_of(got), items_of(want)
        if items is None or expected is None or not len(expected):
            return self._describe_value(got, want, at)
        for place, (item, other) in enumerate(zip(items, expected, strict=False)):
            if not is_equal(item, other, self.tolerance):
                return self.describe_first_difference(item, other, _add_index(at, place))
        if not len(items):
            return _row("check_none", at, wanted=len(expected))
        if len(items) != len(expected):
            return _row("check_length", at, count=len(items), wanted=len(expected))
        return None

    def _describe_value(self, got: Any, want: Any, at: Path) -> Pair | None:
        """Describe a wrong value that is no list, or that should be one and is not."""
        expected = items_of(want)
        if expected is not None and len(expected) > 1:
            return _row("check_several", at, value=self.brief(got), wanted=len(expected))
        if at == (RESULT,):
            return None
        shown = self.words or isinstance(scalar_to_python(want), Number)
        key = "check_first_number" if shown else "check_first"
        key = "check_not" if want is True and at[-1][0] != at[-1][1] else key
        key = "check_list" if isinstance(want, list) and items_of(got) is None else key
        return _row(key, at, value=self.brief(got), want=self.brief(want))

    def _describe_first_key(self, got: Any, want: Any, at: Path) -> Pair | None:
        """Describe the first expected key that is missing or wrong, else an unexpected one."""
        if not isinstance(got, dict):
            names = ", ".join(map(str, want)), "、".join(f"`{name}`" for name in want)
            return _row("check_names", at, value=self.brief(got), names=names)
        right = [n for n in want if n in got and is_equal(got[n], want[n], self.tolerance)]
        wrong = next((name for name in want if name not in right), None)
        if wrong in got:
            return self.describe_first_difference(got[wrong], want[wrong], self._add_key(at, wrong))
        if wrong is not None:
            return _row("check_missing", self._add_key(at, wrong))
        extra = next((name for name in got if name not in want), None)
        return None if extra is None else _row("check_extra", self._add_key(at, extra))

    def _add_key(self, at: Path, name: Any) -> Path:
        outer, key = at[:-1] if at[-1] == RESULT else at, self.translate(str(name))
        return (*outer, key, RESULT) if INPUT.fullmatch(key[0]) else (*outer, key)

    def brief(self, value: Any) -> Pair:
        """Return a value as one line of text, in both languages."""
        english, chinese = self.translate(value) if isinstance(value, str) else (value, value)
        return short_repr(english), short_repr(chinese)


def _add_index(at: Path, place: int) -> Path:
    english, chinese = (f"{x}{'' if NAME.search(x) else ' '}[{place}]" for x in at[-1])
    return (*at[:-1], (english, chinese))


def _row(key: str, at: Path, **fields: Any) -> Pair:
    """Say something of a place: "For `2`, `a[1]` is 0" and "对于 `2`，`a[1]` 得到 0"."""
    *outer, name = [f"`{english}`" for english, _ in at]
    named = name, name if at[-1][0] == at[-1][1] else f"“{at[-1][1]}”"
    lead = (f"For {', '.join(outer)}, ", f"对于 {'、'.join(outer)}，") if outer else ("", "")
    english, chinese = row(key, at=(lead[0] + named[0], lead[1] + named[1]), **fields)
    return english, chinese.replace("” ", "”")
