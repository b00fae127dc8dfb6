"""What many tests begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minigrad as mg
from minigrad.diagnostics.messages import set_language


@pytest.fixture
def own_graph() -> Iterator[mg.Graph]:
    """A new default graph."""
    with mg.Graph() as graph:
        yield graph


@pytest.fixture
def english(own_graph: mg.Graph) -> Iterator[None]:
    """English, and a new default graph."""
    set_language("en")
    yield
    set_language("en")
