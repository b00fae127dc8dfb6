"""Every graph that a lesson runs is exported: as an ONNX model, in a process of its own.

The code of a notebook is run here, and whatever static graph it feeds is written as a model, with
what it was fed; of each that can be differentiated, the graph of its gradients, too. Then another
process, which knows nothing of minigrad, runs the files.
"""

from __future__ import annotations

import contextlib
import io
import json
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

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

NOTEBOOKS = sorted(Path(__file__).parents[2].glob("notebooks/*.ipynb"))
LEAST = {"00": 4, "01": 8, "04": 4, "05": 12, "06": 40, "07": 10}  # graphs, at least
TOLERANCE = 1e-6  # of the largest magnitude
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
    with pytest.MonkeyPatch.context() as patch:
        for module in (run, session, program):
            real = getattr(module, "check_feeds", None)
            if real is None:
                continue

            def seen(graph: Any, feeds: Any, real: Any = real) -> Any:
                checked = real(graph, feeds)
                if graph.frozen and graph.outputs:
                    named = {graph.labels[x]: np.array(v) for x, v in checked.items()}
                    found.setdefault(id(graph), (graph, named))
                return checked

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
    """Write the models and their feeds; what they should give."""
    expected = []
    for graph, feeds in graphs:
        try:
            values = mg.run(graph, feeds)
        except mg.GraphError:
            continue  # a lesson shows how it fails
        path = folder / f"{len(expected):03}.onnx"
        graph.to_onnx(path, shapes=shapes_of(graph, feeds))
        np.savez(path.with_suffix(".npz"), **feeds)
        expected.append([values] if graph.single else values)
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
    assert len(graphs) >= LEAST.get(notebook.stem[:2], 1)
    slopes = [(with_gradients(graph), feeds) for graph, feeds in graphs]
    whole = [*graphs, *((graph, feeds) for graph, feeds in slopes if graph is not None)]
    expected = kept(whole, tmp_path / "models")
    command = [sys.executable, "-I", "-c", RUN, str(tmp_path / "models")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for i, values in enumerate(expected):
        with np.load(tmp_path / "models" / f"{i:03}.found.npz") as found:
            for key, value in zip(found.files, values, strict=True):
                same(found[key], np.asarray(value))


def same(a: Any, b: Any) -> None:
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    scale = np.max(np.abs(b), initial=0) if b.dtype.kind == "f" else 0
    np.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCE * scale if np.isfinite(scale) else 0)
