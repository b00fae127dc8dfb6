"""Names that no lesson uses any more; they go with the next version: `downhill`, `keep`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from minigrad.diagnostics.messages import choose
from minigrad_lessons.lesson import my_engine
from minigrad_lessons.lesson.answers import has_gap, items_of
from minigrad_lessons.lesson.learner_engine import part_name, store_functions
from minigrad_lessons.lesson.verdicts import was_wrong
from minigrad_lessons.lesson.wording import GRADING, MARKS, Message
from minigrad_lessons.questions import checks_of
from viz.words.text import row

__all__ = ["downhill", "keep"]


def _warn_deprecated(key: str) -> None:
    warnings.warn(choose(row(key)), FutureWarning, stacklevel=3)


def keep(*functions: FunctionType) -> Message | None:
    """Put functions of the notebook into the learner's engine, which a ✓ does by itself.

    Nothing is kept as long as a gap `...` is left, the last check of a function has refused it, or
    it uses what the engine lacks. Where nbgrader grades, nothing is kept. ValueError for what is no
    function, or no part of the engine. The name goes with the next version.

    >>> import warnings
    >>> def fit(g, x):
    ...     return ...
    >>> with warnings.catch_warnings(action="ignore"):
    ...     print(keep(fit))
    … my_engine  Not finished yet: replace each `...` above, then run the cell again.
    """
    _warn_deprecated("former_keep")
    if os.environ.get(GRADING):
        return None
    names, gaps = [part_name(function) for function in functions], any(map(has_gap, functions))
    wrong = [(name, c.id) for name in names for c in checks_of(name) if was_wrong(c.id)]
    if gaps or wrong:
        note = row("check_gap") if gaps else row("engine_refused", name=wrong[0][0], id=wrong[0][1])
        return Message([note], "…", "my_engine")
    kept, notes = store_functions(functions)
    note = row("exercise_kept", names=", ".join(f"`{name}`" for name in names))
    return Message([*([note] if kept else []), *notes], MARKS[True] if kept else "…", "my_engine")


def downhill(
    w: float, rate: float, share: float, rule: Callable[..., Any] | None = None
) -> dict[str, Any]:
    """Return what each of three steps from w down the hill w * w gives, as `check` does by itself.

    rule: called with an array of one weight, its gradient, its speed, with rate and share; gives
    the new weight and the new speed. Without one, our `momentum` goes. The name goes with the next
    version.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     [*downhill(4.0, 0.125, 0.5).items()][:4]  # doctest: +NORMALIZE_WHITESPACE
    [('step 1, results', 2), ('step 1, new speed', 8.0), ('step 1, new weight', 3.0),
     ('step 1, changed in place', [])]
    """
    _warn_deprecated("former_downhill")
    found: dict[str, Any] = {}
    go: Any = rule or my_engine.momentum
    weight, speed = np.array([w]), np.array([0.0])
    for i in (1, 2, 3):
        given = {"w": weight, "g": 2 * weight, "speed": speed}
        before = {name: np.array(x) for name, x in given.items()}
        result = go(*given.values(), rate, share)
        results = items_of(result)
        found[f"step {i}, results"] = result if results is None else len(results)
        if results is None or len(results) != 2:
            break
        weight, speed = results
        for name, x in (("new speed", speed), ("new weight", weight)):
            found[f"step {i}, {name}"] = x.item() if np.shape(x) == (1,) else x
        changed = [name for name in given if not np.array_equal(given[name], before[name])]
        found[f"step {i}, changed in place"] = changed
    return found
