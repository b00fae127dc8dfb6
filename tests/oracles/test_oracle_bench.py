"""What the benchmark compares with computes the same, so that only the time differs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import measure
import workloads

pytestmark = pytest.mark.oracle
SMALL = workloads.Sizes(elements=1000, nodes=60, few=12, drawing=(11, 21))
ENGINES = (workloads.TORCH, workloads.JAX)
TABLE = {
    w.name: w for w in workloads.collect(SMALL) if any(side.startswith(ENGINES) for side in w.sides)
}


@pytest.mark.parametrize("name", TABLE)
def test_the_peers_compute_the_same(name: str) -> None:
    """PyTorch's compiler is left out: it takes a minute, and runs what PyTorch runs."""
    row = TABLE[name]
    sides = {s: m for s, m in row.sides.items() if s.startswith(("minigrad", *ENGINES))}
    found = measure.measure(replace(row, sides=sides, once=True), rounds=1)
    assert found.sides == list(sides)
