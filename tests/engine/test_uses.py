"""What an operator prepares at one use serves another only if it fits: see uses.py."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from uses import DIFFERENTIABLE, rows

SCRIPT = Path(__file__).parents[1] / "uses.py"
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="fresh processes are made by fork")


def walked(*arguments: str) -> dict[str, list[str]]:
    """What is said of each operator; of one that was walked to its end, "walked" is the last."""
    run = [sys.executable, str(SCRIPT), *arguments]
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a process forks one thread only
    done = subprocess.run(run, capture_output=True, text=True, check=False, env=os.environ | one)
    assert done.returncode == 0, done.stderr
    lines: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, _, said = line.partition("\t")
        lines.setdefault(name, []).append(said)
    return lines


@pytest.fixture(scope="module")
def said(request: pytest.FixtureRequest) -> dict[str, list[str]]:
    """What is said of the operators whose tests run."""
    test = request.node.nodeid + "::test_uses_give_the_same_after_any_other"
    asked = [item for item in request.session.items if item.nodeid.partition("[")[0] == test]
    return walked(*(item.callspec.params["name"] for item in asked))


@needs_fork
@pytest.mark.cases(12)
@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
def test_uses_give_the_same_after_any_other(said: dict[str, list[str]], name: str) -> None:
    assert said[name] == ["walked"], "\n".join(said[name])


@needs_fork
@pytest.mark.exhaustive
def test_powers_give_the_same_in_every_ordered_pair() -> None:
    assert walked("--pairs", "Pow") == {"Pow": ["walked"]}


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7])
def test_rows_are_balanced(count: int) -> None:
    orders = list(rows(count))
    pairs = [pair for order in orders for pair in itertools.pairwise(order)]
    assert set(pairs) == {(a, b) for a in range(count) for b in range(count) if a != b}
    assert {order[0] for order in orders} == set(range(count))
    assert all(sorted(order) == list(range(count)) for order in orders)
