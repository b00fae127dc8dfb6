"""Every graph that a lesson runs is exported: as an ONNX model, in a process of its own.

The code of a notebook is run here, and whatever static graph it feeds is written as a model, with
what it was fed; of each that can be differentiated, the graph of its gradients, too. Then another
process, which knows nothing of minigrad, runs the files.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import minigrad as mg
from minigrad.compiler import program
from minigrad.static import run, session
from minigrad.static.feeds import check_feeds
from viz.film import replay
from viz.views import explore, passes, step

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

NOTEBOOKS = sorted(Path(__file__).parents[2].glob("notebooks/*.ipynb"))
# How many graphs at least; L03 has dynamic ones, L12 traces functions, the index runs nothing.
LEAST = {"01": 5, "03": 0, "05": 7, "07": 12, "08": 10, "12": 0, "13": 15, "index": 0}
Fed = tuple[mg.Graph, dict[str, Any]]

RUN = """
import sys, numpy as np, onnxruntime as ort
from pathlib import Path
for path in sorted(Path(sys.argv[1]).glob("*.onnx")):
    feeds = dict(np.load(path.with_suffix(".npz")))
    found = ort.InferenceSession(path).run(None, feeds)
    np.savez(path.with_suffix(".found.npz"), *found)
assert "minigrad" not in sys.modules
"""


@contextlib.contextmanager
def watched(found: dict[int, Fed]) -> Iterator[None]:
    """Note each graph that is fed, and its feeds."""

    def seen(graph: mg.Graph, feeds: Any) -> Any:
        checked = check_feeds(graph, feeds)
        if graph.frozen and graph.outputs:
            named = {graph.labels[x]: np.array(v) for x, v in checked.items()}
            found.setdefault(id(graph), (graph, named))
        return checked

    with pytest.MonkeyPatch.context() as patch:
        for module in (run, session, program, replay, explore, passes, step):
            patch.setattr(module, "check_feeds", seen)
        yield


def graphs_of(notebook: Path) -> list[Fed]:
    """What the code of a notebook runs; cells that are meant to fail may do so."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    found: dict[int, Fed] = {}
    names: dict[str, Any] = {"__name__": "__main__", "display": lambda *a, **k: None}
    mg.reset_default_graph()
    with watched(found), mpl.rc_context({"backend": "agg"}):
        for cell in cells:
            lines = "".join(cell["source"]).splitlines() if cell["cell_type"] == "code" else []
            source = "\n".join(line for line in lines if not line.startswith(("%", "!")))
            quiet = contextlib.redirect_stdout(io.StringIO())
            with quiet, contextlib.suppress(Exception):
                exec(compile(source, notebook.name, "exec"), names)
    return list(found.values())


def with_gradients(graph: mg.Graph) -> mg.Graph | None:
    """The gradients of the first output for inputs and variables, where there are any."""
    y = graph.outputs[0]
    targets = [x for x in (*graph.inputs, *graph.variables) if x.dtype.kind == "f"]
    if y.dtype.kind != "f" or not targets:
        return None
    # A traced function's nodes are closed, and through an assignment there is no gradient.
    with contextlib.suppress(mg.GraphError):
        slopes = [g for g in mg.gradients(y, targets) if g is not None]
        return mg.build_graph(graph.inputs, slopes) if slopes else None
    return None


def kept(graphs: list[Fed], folder: Path) -> list[Any]:
    """Write the models and their feeds; what they should give, and the longest sum there may be."""
    expected: list[Any] = []
    for graph, feeds in graphs:
        try:
            values = mg.run(graph, feeds)
        except mg.GraphError:
            continue  # a lesson shows how it fails
        path = folder / f"{len(expected):03}.onnx"
        graph.to_onnx(path, shapes=shapes_of(graph, feeds))
        np.savez(path.with_suffix(".npz"), **feeds)
        sizes = [math.prod(filter(None, x.shape or ())) for x in graph.nodes]
        terms = max([np.size(v) for v in feeds.values()] + sizes)
        expected.append(([values] if graph.single else values, terms))
    return expected


def shapes_of(graph: mg.Graph, feeds: dict[str, Any]) -> dict[str, Any]:
    """The shapes of what was fed where nothing was known of them."""
    unknown = [graph.labels[x] for x in graph.inputs if x.shape is None]
    return {name: np.shape(feeds[name]) for name in unknown}


# A lesson shows slopes that are not finite.
@pytest.mark.filterwarnings("ignore:.*its gradient is 0 times a slope:RuntimeWarning")
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_graphs_of_a_lesson_run_in_onnx_runtime(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a lesson may write files
    (tmp_path / "models").mkdir()
    graphs = graphs_of(notebook)
    assert len(graphs) >= LEAST.get(notebook.stem.split("_")[0], 1)
    slopes = [(with_gradients(graph), feeds) for graph, feeds in graphs]
    whole = [*graphs, *((graph, feeds) for graph, feeds in slopes if graph is not None)]
    expected = kept(whole, tmp_path / "models")
    command = [sys.executable, "-I", "-c", RUN, str(tmp_path / "models")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for i, (values, terms) in enumerate(expected):
        with np.load(tmp_path / "models" / f"{i:03}.found.npz") as found:
            same([found[key] for key in found.files], [np.asarray(v) for v in values], terms)


def same(found: list[Any], values: list[Any], terms: int) -> None:
    """Compare to within what rounding does to a sum of so many terms, in whatever order.

    The terms are as large as the largest result, or as one: the slope of a sum of probabilities is
    a difference of such terms, nothing but what rounding left of them.
    """
    floats = [np.abs(v[np.isfinite(v)]) for v in values if v.dtype.kind == "f"]
    scale = max([np.max(v, initial=1) for v in floats], default=1)
    for a, b in zip(found, values, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        step = np.finfo(b.dtype).eps if b.dtype.kind == "f" else 0
        np.testing.assert_allclose(a, b, rtol=0, atol=8 * step * np.sqrt(terms) * scale)
