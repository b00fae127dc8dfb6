"""For every test, notebooks included: what nbval must not compare."""

from __future__ import annotations

import pytest

# Bytes that differ between builds of Graphviz, matplotlib and the widgets although the content is
# the same. What they show is tested as data; in a notebook, text/plain stands for them.
NOT_COMPARED = (
    "text/html",
    "image/svg+xml",
    "image/png",
    "application/vnd.jupyter.widget-view+json",
)


def pytest_collectstart(collector: pytest.Collector) -> None:
    if hasattr(collector, "skip_compare"):  # only nbval's notebook has it
        collector.skip_compare = (*collector.skip_compare, *NOT_COMPARED)
