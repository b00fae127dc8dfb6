"""What many tests begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import minigrad as mg
from minigrad.diagnostics.messages import set_language

POSITIONS = 9  # of all sliders of a saved page, where a reader's page has up to 50


@pytest.fixture
def own_graph() -> Iterator[mg.Graph]:
    """A new default graph."""
    with mg.Graph() as graph:
        yield graph


@pytest.fixture(scope="module")
def all_positions() -> Iterator[None]:
    """Saved pages whose sliders have as many positions as a reader's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("viz.page.sliders.KEPT", 50)
        yield


@pytest.fixture
def english(own_graph: mg.Graph) -> Iterator[None]:
    """English, and a new default graph."""
    set_language("en")
    yield
    set_language("en")
