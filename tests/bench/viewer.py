"""What it costs to show a graph: its layout, and the frames that the browser steps through."""

from __future__ import annotations

import json
from typing import Any

from measure import Side

import minigrad as mg
import viz
from viz.picture.drawing import cards_of, source
from viz.picture.layout import layout as lay_out
from viz.picture.picture import picture


def network(size: int) -> Any:
    """A tape of so many nodes, in named parts of ten as layers have them."""
    y = mg.tensor(0.5, requires_grad=True)
    for i in range((size - 1) // 10):
        with mg.name_scope(f"layer{i}"):
            for k in range(10):
                y = y * y if k % 3 else y + y
    return y


def layout(size: int, folded: bool = False) -> Side:
    """From a tape to an SVG, without the cache."""
    y = network(size)

    def work() -> None:
        drawn = picture(y).fold() if folded else picture(y)
        lay_out(source(drawn, cards_of(drawn, {})))

    return Side(work)


def player(size: int) -> Side:
    """Step through a graph: run and walk back, record, make the frames and the drawing."""
    y = network(size)
    return Side(lambda: viz.step(y))


def player_bytes(size: int) -> Side:
    """What is sent to the browser, once; a step then sends a number."""
    return Side(lambda: len(json.dumps(viz.step(network(size)).data).encode()))
