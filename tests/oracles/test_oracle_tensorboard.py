"""What `viz.tensorboard` writes, read by TensorBoard itself and looked at in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import minigrad as mg
import viz

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("tensorboard")
from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import config_pb2, event_pb2, graph_pb2

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("english")]


def events(folder: Path) -> list[Any]:
    """What stands in all files of a folder, in TensorBoard's own reading."""
    files = sorted(folder.iterdir())
    found = [list(event_file_loader.RawEventFileLoader(str(f)).Load()) for f in files]
    return [event_pb2.Event.FromString(raw) for file in found for raw in file]


def graph_in(folder: Path) -> dict[str, Any]:
    """The nodes of the one graph there, by name."""
    (raw,) = [e.graph_def for e in events(folder) if e.graph_def]
    nodes = graph_pb2.GraphDef.FromString(raw).node
    assert len({n.name for n in nodes}) == len(nodes)
    return {n.name: n for n in nodes}


def run_in(folder: Path) -> dict[str, Any]:
    """What was measured of each node, by name; nothing where nothing was run."""
    tagged = [e.tagged_run_metadata for e in events(folder) if e.HasField("tagged_run_metadata")]
    runs = [config_pb2.RunMetadata.FromString(t.run_metadata) for t in tagged]
    return {n.node_name: n for r in runs for d in r.step_stats.dev_stats for n in d.node_stats}


def mlp() -> tuple[mg.Graph, dict[str, Any]]:
    """A model in scopes with its gradients, and what to feed it."""
    x, t = mg.placeholder("x", shape=(None, 64)), mg.placeholder("t", (None,), mg.int64)
    with mg.name_scope("model"):
        layers = mg.nn.Sequential(mg.nn.Linear(64, 128), mg.nn.ReLU(), mg.nn.Linear(128, 10))
        y = layers(x)
    loss = mg.cross_entropy(y, t)
    graph = mg.build_graph([x, t], [loss, *mg.gradients(loss, list(loss.graph.variables))])
    rng = np.random.default_rng(0)
    return graph, {"x": rng.random((32, 64)), "t": rng.integers(0, 10, 32)}


def test_a_graph_has_its_scopes_edges_shapes_and_lines(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=(None, 3))
    with mg.name_scope("layer"):
        y = mg.tanh(x) + 1
    assert viz.tensorboard(mg.build_graph(x, y), tmp_path) == tmp_path
    nodes = graph_in(tmp_path)
    assert set(nodes) == {"x", "layer/Tanh", "layer/1", "layer/y"}
    assert list(nodes["layer/y"].input) == ["layer/Tanh", "layer/1"]
    shape = nodes["layer/y"].attr["_output_shapes"].list.shape[0]
    assert [d.size for d in shape.dim] == [-1, 3]
    assert "test_oracle_tensorboard.py" in nodes["layer/y"].attr["line"].s.decode()
    assert run_in(tmp_path) == {}  # its batch is open, and nothing was fed


def test_a_run_tells_time_and_memory_of_each_kernel(tmp_path: Path) -> None:
    graph, feeds = mlp()
    viz.tensorboard(graph, tmp_path, feeds)
    nodes, ran = graph_in(tmp_path), run_in(tmp_path)
    assert len(nodes) == len(graph.nodes)
    assert set(ran) <= set(nodes)
    assert {n for n, x in nodes.items() if x.op == "MatMul"} <= set(ran)
    assert all(x.all_end_rel_micros >= 1 for x in ran.values())
    hidden = next(n for n, x in nodes.items() if x.op == "ReLU")
    assert ran[hidden].memory[0].total_bytes == 32 * 128 * 4


def test_numbers_made_up_do_where_all_shapes_are_known(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=(8,))
    viz.tensorboard(mg.build_graph(x, mg.exp(x)), tmp_path)
    assert set(run_in(tmp_path)) == {"Exp"}


def test_insides_of_branches_and_loops_are_scopes_of_their_node(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=())
    y = mg.cond(x > 0, lambda: x * 2, lambda: x - 1)
    z = mg.while_loop(lambda a: a < 9, lambda a: a + 1, y)
    viz.tensorboard(mg.build_graph(x, z), tmp_path)
    nodes = graph_in(tmp_path)
    insides = {n.rpartition("/")[0] for n in nodes if "/" in n}
    assert {"y/then", "y/else"} < insides
    assert all(name.split("^")[-1] in nodes for n in nodes.values() for name in n.input)


def test_a_program_shows_its_fused_kernels_and_a_tensor_its_tape(tmp_path: Path) -> None:
    x = mg.placeholder("x", shape=(8,))
    program = mg.build_graph(x, mg.tanh(x * 2 + 1)).compile()
    viz.tensorboard(program, tmp_path / "program")
    (fused,) = [n for n in graph_in(tmp_path / "program").values() if n.op == "Fused"]
    assert set(run_in(tmp_path / "program")) == {fused.name}
    a = mg.tensor([1.0, 2.0], requires_grad=True)
    b = mg.exp(a) * a
    viz.tensorboard(b, tmp_path / "tape")
    tape = graph_in(tmp_path / "tape")
    assert set(tape) == {"a", "Exp", "b"}
    assert list(tape["b"].input) == ["Exp", "a"]
    with pytest.raises(ValueError, match="only a static graph can be fed"):
        viz.tensorboard(b, tmp_path / "no", {})


def test_a_layer_with_the_name_of_a_curve_has_a_curve_of_its_own(tmp_path: Path) -> None:
    steps = viz.train(1)
    for _ in steps:
        steps.log({"w": np.array([3.0, 4.0])}, w=1.0)
    viz.tensorboard(steps, tmp_path)
    values = [(v.tag, v.simple_value) for e in events(tmp_path) for v in e.summary.value]
    assert values == [("w", 1.0), ("w (2)", 5.0)]


def test_curves_come_with_their_steps(tmp_path: Path) -> None:
    viz.tensorboard({"loss": [1.0, 0.5], "rate": np.float32([0.1])}, tmp_path)
    values = [(v.tag, e.step, v.simple_value) for e in events(tmp_path) for v in e.summary.value]
    assert values == [("loss", 0, 1.0), ("loss", 1, 0.5), ("rate", 0, pytest.approx(0.1))]
    with pytest.raises(ValueError, match=r"curve loss .* shape \(1, 2\)"):
        viz.tensorboard({"loss": [[1.0, 2.0]]}, tmp_path)


# ---- In the browser ------------------------------------------------------------------------------


@pytest.fixture
def board(tmp_path: Path) -> Iterator[str]:
    """The address of a TensorBoard on a model and a curve."""
    graph, feeds = mlp()
    viz.tensorboard(graph, tmp_path, feeds)
    viz.tensorboard({"loss": [1.0, 0.5, 0.25]}, tmp_path)
    options = ["--logdir", str(tmp_path), "--host", "127.0.0.1", "--port", "0"]
    command = [sys.executable, "-m", "tensorboard.main", *options, "--load_fast", "false"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            lines = iter(server.stderr.readline, "")
            yield next(m[1] for line in lines if (m := re.search(r" at (http://\S+)", line)))
        finally:
            server.terminate()


@pytest.mark.browser
def test_tensorboard_draws_it_and_asks_nobody_else(page: Page, board: str, tmp_path: Path) -> None:
    hosts: set[str | None] = set()
    page.on("request", lambda r: hosts.add(urlsplit(r.url).netloc) if r.url[:4] == "http" else None)
    page.goto(f"{board}#graphs")
    page.wait_for_selector("g.node[data-name=model]")
    drawn = page.eval_on_selector_all("g.node", "all => all.map(e => e.dataset.name)")
    assert {"x", "t", "model", "gradients"} <= set(drawn)  # scopes, folded
    assert not [name for name in drawn if "/" in name]
    controls = page.locator("tf-graph-controls")
    controls.locator("paper-dropdown-menu").nth(1).click()  # which run to show: none, or ours
    controls.locator("paper-item", has_text="run").last.click()
    controls.locator("paper-radio-button", has_text="Compute time").click()
    page.locator("g.node[data-name=model]").dblclick()
    page.wait_for_selector("g.node[data-name='model/linear1']")
    for told in (r"Memory\s*[\d.]+ KB", r"Compute Time\s*\d+ µs"):
        page.locator("tf-graph-info", has_text=re.compile(told)).wait_for()
    page.screenshot(path=tmp_path / "graph.png")
    page.goto(f"{board}#timeseries")
    page.wait_for_selector("card-view")
    assert page.get_by_text("loss", exact=True).first.is_visible()
    assert hosts == {urlsplit(board).netloc}
    assert page.errors == []
