"""CNTK's dynamic axes: samples, and the items of sequences of any length.

The items of all sequences of a minibatch are the rows of one array, sequence after sequence, so
that nothing is padded. What tells where a sequence begins and ends is fed along with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg

__all__ = ["BATCH", "DYNAMIC", "GRAPH", "TRAINING", "Axis"]

GRAPH = mg.Graph()  # there is one, as in CNTK: functions share what they are made of
with GRAPH:
    TRAINING = mg.placeholder(shape=(), name="training")  # 1 in a step of a trainer, else 0


ROWS = ("row", "place", "rest", "owner", "first", "last", "back", "back_down")
AXES = {**dict.fromkeys(ROWS, 1), **dict.fromkeys(("steps", "steps_down", "belongs"), 2)}


class Axis:
    """A dynamic axis; inputs with the same one have sequences of the same lengths.

    row: the number of each item. place, rest: how many items come before it in its sequence, and
    behind. owner: the number of its sequence. first, last: the rows of each sequence. steps, back:
    a table with a row for each step of all sequences, which repeats what has ended, and the way
    from there to the items; with `_down` from the last item to the first.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._places: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Axis('{self.name}')"

    def __getattr__(self, name: str) -> Any:
        if name not in AXES:
            raise AttributeError(f"Axis has no attribute {name!r}")
        if name not in self._places:
            kind = mg.float32 if name == "belongs" else mg.int64
            with GRAPH:
                self._places[name] = mg.placeholder(kind, (None,) * AXES[name])
        return self._places[name]

    def index_feeds(self, lengths: Sequence[int]) -> dict[Any, Any]:
        """Return the feeds for sequences of these lengths: only for placeholders already in use."""
        count, owner = len(lengths), np.repeat(np.arange(len(lengths)), lengths)
        last = np.cumsum(lengths) - 1
        first = last - np.asarray(lengths) + 1
        row = np.arange(sum(lengths))
        place, rest = row - first[owner], last[owner] - row
        ran = np.minimum(np.arange(max(lengths))[:, None], np.asarray(lengths) - 1)
        found = {
            "row": row,
            "place": place,
            "rest": rest,
            "owner": owner,
            "first": first,
            "last": last,
            "steps": first + ran,
            "steps_down": last - ran,
            "back": place * count + owner,
            "back_down": rest * count + owner,
            "belongs": (owner == np.arange(count)[:, None]).astype(np.float32),
        }
        return {node: found[name] for name, node in self._places.items()}

    @staticmethod
    def default_batch_axis() -> Axis:
        """Return the axis of samples."""
        return BATCH

    @staticmethod
    def default_dynamic_axis() -> Axis:
        """Return the default axis of the items of a sequence."""
        return DYNAMIC

    @staticmethod
    def new_unique_dynamic_axis(name: str) -> Axis:
        """Make an axis that no other input has."""
        return Axis(name)

    @staticmethod
    def all_static_axes() -> None:
        """Return None, by which reductions mean all axes but the dynamic ones."""

    @staticmethod
    def all_axes() -> str:
        """Return 'all', by which reductions mean all axes, samples and items too."""
        return "all"


BATCH, DYNAMIC = Axis("defaultBatchAxis"), Axis("defaultDynamicAxis")
