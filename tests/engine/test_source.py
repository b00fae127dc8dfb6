"""Provenance: every node knows the user's line, however deep inside the package it was made."""

from __future__ import annotations

import inspect
import linecache
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.diagnostics import source

LAYER = mg.nn.Linear(3, 2, seed=0)
MLP = mg.nn.Sequential(mg.nn.Linear(3, 4, seed=0), mg.nn.ReLU(), mg.nn.Linear(4, 2, seed=0))


def line() -> int:
    """The line of the caller."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


# Ways to make a node, each on one line: (what is written there, node, line).
def written(x: Any) -> list[tuple[str, Any, int]]:
    """The same lines for a tensor and for a placeholder."""
    return [
        ("x * x", x * x, line()),
        ("2 * x", 2 * x, line()),
        ("x.sum()", x.sum(), line()),
        ("x.T", x.T, line()),
        ("mg.exp(x)", mg.exp(x), line()),
        ("x @ ", x @ np.ones((3, 2), np.float32), line()),
        ("LAYER(x)", LAYER(x), line()),
        ("MLP(x)", MLP(x), line()),
        ("cross_entropy", mg.cross_entropy(x, np.array([0, 1])), line()),
    ]


def test_a_tape_node_knows_its_line() -> None:
    for text, y, number in written(mg.tensor(np.ones((2, 3)), requires_grad=True)):
        where = y.creator.where
        assert (where.filename, where.lineno) == (__file__, number), text
        assert text in where.text


def test_a_graph_node_knows_its_line() -> None:
    with mg.Graph():
        for text, y, number in written(mg.placeholder("x", shape=(2, 3))):
            assert (y.where.filename, y.where.lineno) == (__file__, number), text
            assert text in y.where.text


def test_gradient_nodes_and_updates_belong_to_the_line_that_asked() -> None:
    with mg.Graph() as g:
        x = mg.placeholder("x", shape=(2, 3))
        before = len(g.nodes)
        mg.optim.Adam(MLP.parameters()).minimize(MLP(x).sum())
        number = line() - 1
    assert len(g.nodes) > before + 20
    assert {n.where.lineno for n in g.nodes[before:]} == {number}


def test_a_line_inside_the_users_own_function() -> None:
    def inner(x: Any) -> Any:
        return x * 3

    y = inner(mg.tensor(1.0, requires_grad=True))
    assert y.creator.where.text == "return x * 3"


def test_the_columns_of_the_expression() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    y = x + (x * x)
    first, last, start, end = y.creator.where.span
    assert first == last == line() - 2
    assert (start, end) == (8, 19)
    (_, product) = y.creator.inputs
    assert product.where.span[2:] == (13, 18)


def test_an_expression_over_several_lines() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    y = (
        x
        * x
    )  # fmt: skip
    first, last, _, _ = y.creator.where.span
    assert (first, last) == (line() - 4, line() - 3)


def test_a_label_names_file_line_and_text() -> None:
    where = source.here()
    assert where.label == f"test_source.py, line {line() - 1}:  where = source.here()"
    names: dict[str, Any] = {"here": source.here}
    exec(compile("\nplace = here()", "<string>", "exec"), names)
    assert names["place"].label == "<string>, line 2", (
        "where there is no source text, none is shown"
    )


def test_a_long_line_is_shown_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "place = here()  # " + "x" * 200
    monkeypatch.setitem(linecache.cache, "long.py", (len(text), None, [text], "long.py"))
    names: dict[str, Any] = {"here": source.here}
    exec(compile(text, "long.py", "exec"), names)
    assert names["place"].label == f"long.py, line 1:  {text[:97]}..."


def test_a_notebook_cell_is_called_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"/tmp/ipykernel_1/2.py": ("Cell", "In[7]")}
    compiler = SimpleNamespace(format_code_name=names.get)
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=compiler))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    space: dict[str, Any] = {"here": source.here}
    exec(compile("place = here()", "/tmp/ipykernel_1/2.py", "exec"), space)
    assert space["place"].label == "Cell In[7], line 1"
    assert source.here().label.startswith("test_source.py, line")


def test_a_place_is_two_numbers_and_compares_by_value() -> None:
    first, second = (source.here() for _ in range(2))
    assert first == second
    assert first is not second


def test_a_library_on_top_is_skipped_if_it_says_so() -> None:
    library: dict[str, Any] = {}
    exec(compile("def doubled(x):\n    return x * 2", "a_library.py", "exec"), library)
    x = mg.placeholder("x", shape=())
    assert library["doubled"](x).where.place == "a_library.py, line 2"
    mg.treat_as_user_code("a_library.py", False)
    y, number = library["doubled"](x), line()
    assert (y.where.file, y.where.lineno) == ("test_source.py", number)
    mg.treat_as_user_code("a_library.py")
    assert library["doubled"](x).where.place == "a_library.py, line 2"
