"""The debugger whose commands are typed by a list: it stops where Python's own does."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import minigrad as mg
import minigrad_lessons as lessons


def halves(x: Any) -> Any:
    y = x / 2
    breakpoint()
    return y * y


def test_a_breakpoint_stops_where_lines_run_and_no_run_of_a_graph_runs_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = mg.placeholder("x", shape=())
    with lessons.typed("p y", "p y.shape") as stops:
        for number in (2.0, 4.0):
            halves(mg.tensor(number))
        said = capsys.readouterr().out
        assert said.startswith("(Pdb) p y\ntensor(1.)\n(Pdb) p y.shape\n()\n(Pdb) continue\n")
        graph = mg.build_graph(x, halves(x))
        assert "no value>\n(Pdb) p y.shape\n()\n(Pdb) continue\n" in capsys.readouterr().out
        assert [float(mg.run(graph, {x: number})) for number in (2.0, 4.0)] == [1.0, 4.0]
    assert stops == ["halves"] * 3
    assert capsys.readouterr().out == ""


def fails() -> None:
    breakpoint()
    raise ZeroDivisionError


def test_an_error_at_the_debugger_or_behind_it_leaves_python_as_it_was() -> None:
    before, tracing = sys.breakpointhook, sys.gettrace()
    with pytest.raises(ZeroDivisionError), lessons.typed("p 1 / 0", "p nothing"):
        fails()
    assert sys.breakpointhook is before
    assert sys.gettrace() is tracing
