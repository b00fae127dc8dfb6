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
NAME = re.compile(r"(?:^|[.,，“] ?)[A-Za-z_]\w*$|\]$", re.ASCII)


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

    def describe_first_difference(self, got: Any, want: Any, at: Pair = ("", "")) -> Pair | None:
        """Describe where two lists, arrays or dicts first differ; return None for other values."""
        if isinstance(want, dict):
            return self._describe_first_key(got, want, at)
        if isinstance(got, np.ndarray) and isinstance(want, np.ndarray) and got.shape != want.shape:
            return _row_at(at, "check_shape", "check_shape_at", shape=got.shape, wanted=want.shape)
        items, expected = items_of(got), items_of(want)
        if items is None or expected is None or not len(expected):
            return self._describe_value(got, want, at)
        for place, (item, other) in enumerate(zip(items, expected, strict=False)):
            if not is_equal(item, other, self.tolerance):
                return self.describe_first_difference(item, other, _add_index(at, place))
        if not len(items):
            return _row_at(at, "check_none", "check_none_at", wanted=len(expected))
        if len(items) != len(expected):
            counts = {"count": len(items), "wanted": len(expected)}
            return _row_at(at, "check_length", "check_length_at", **counts)
        return None

    def _describe_value(self, got: Any, want: Any, at: Pair) -> Pair | None:
        """Describe a wrong value that is no list, or that should be one and is not."""
        expected = items_of(want)
        if expected is not None and len(expected) > 1:
            counts = {"value": self.brief(got), "wanted": len(expected)}
            return _row_at(at, "check_several", "check_several_at", **counts)
        if not at[0]:
            return None
        shown = self.words or isinstance(scalar_to_python(want), Number)
        key = "check_first_number" if shown else "check_first"
        key = "check_not" if want is True and at[0] != at[1] else key
        key = "check_list" if isinstance(want, list) and items_of(got) is None else key
        if re.fullmatch(r"-?[\d.]+", at[0]):  # "`10` is 2" would be a riddle
            at = f"result` for `{at[0]}", f"{at[1]} 的结果"
        return row(key, at=at, value=self.brief(got), want=self.brief(want))

    def _describe_first_key(self, got: Any, want: Any, at: Pair) -> Pair | None:
        """Describe the first expected key that is missing or wrong, else an unexpected one."""
        if not isinstance(got, dict):
            english, chinese = zip(*(self.translate(str(name)) for name in want), strict=True)
            names = ", ".join(english), "，".join(chinese)
            return _row_at(at, "check_names", "check_names_at", value=self.brief(got), names=names)
        right = [n for n in want if n in got and is_equal(got[n], want[n], self.tolerance)]
        wrong = next((name for name in want if name not in right), None)
        if wrong in got:
            return self.describe_first_difference(got[wrong], want[wrong], self._add_key(at, wrong))
        if wrong is not None:
            return row("check_missing", at=self._add_key(at, wrong))
        extra = next((name for name in got if name not in want), None)
        return None if extra is None else row("check_extra", at=self._add_key(at, extra))

    def _add_key(self, at: Pair, name: Any) -> Pair:
        english, chinese = self.translate(str(name))
        if not at[0]:
            return english, chinese
        return f"{english}` for `{at[0]}", f"{at[1]}”的“{chinese}"

    def brief(self, value: Any) -> Pair:
        """Return a value as one line of text, in both languages."""
        if not isinstance(value, str):
            return (short_repr(value),) * 2
        english, chinese = map(short_repr, self.translate(value))
        return english, chinese


def _row_at(at: Pair, whole: str, part: str, **fields: Any) -> Pair:
    """Return the message `part` for a place within a value, or `whole` for all of it."""
    return row(part if at[0] else whole, at=at, **fields)


def _add_index(at: Pair, place: int) -> Pair:
    name, *outer = at[0].split("` for `")
    halves = (f"{half}{'' if NAME.search(half) else ' '}[{place}]" for half in (name, at[1]))
    english, chinese = map(str.strip, halves)
    return "` for `".join([english, *outer]), chinese
