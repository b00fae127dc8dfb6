"""Feeds that need no look: arrays of the right type and form, by placeholder or name."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from minigrad.core import Array
from minigrad.graph import Node

Feeds = dict[Node, Array]


class Quick:
    """Takes feeds as they are where nothing is to be converted; the rest is for `check_feeds`."""

    def __init__(self, placeholders: tuple[Node, ...]) -> None:
        self.count = len(placeholders)
        self.known: dict[Any, tuple[Node, Any]] = {}
        for x in sorted(placeholders, key=attrgetter("order")):  # the newest holds a name
            self.known[x] = self.known[x.name] = x, x.dtype

    def take(self, feed_dict: Mapping[Any, Any] | None) -> Feeds | None:
        """The feeds by placeholder, in the order given; None if somebody must look at them."""
        if type(feed_dict) is not dict or len(feed_dict) != self.count:
            return None
        found: Feeds = {}
        for key, value in feed_dict.items():
            known = self.known.get(key)
            if known is None or type(value) is not np.ndarray:
                return None
            node, dtype = known
            if value.dtype is not dtype or not value.ndim or not value.flags.c_contiguous:
                return None
            found[node] = value
        return found if len(found) == self.count else None
