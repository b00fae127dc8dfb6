"""Programs on Dask: on threads, on processes, on a cluster of two workers, with the same bits."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons
from minigrad.interop.dask import group_nodes
from viz.picture import layout

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("english"),
    pytest.mark.filterwarnings("ignore"),  # what a cluster warns of while it starts and stops
]

TOLERANCE = 1e-5  # of a batch that is split, by the largest number
GRAINS = ("kernels", "regions", "whole", 3)


def mlp(rows: int = 33) -> tuple[mg.Graph, dict[str, Any]]:
    """Loss, scores and gradients of a small model, and what to feed it."""
    nn = mg.nn
    x, t = mg.placeholder("x", shape=(None, 16)), mg.placeholder("t", (None,), mg.int64)
    model = nn.Sequential(nn.Linear(16, 32, seed=1), nn.Tanh(), nn.Linear(32, 10, seed=2))
    scores = model(x)
    loss = mg.cross_entropy(scores, t)
    gradients = mg.gradients(loss, list(loss.graph.variables))
    rng = np.random.default_rng(0)
    feeds = {"x": rng.random((rows, 16), np.float32), "t": rng.integers(0, 10, rows)}
    return mg.build_graph([x, t], [loss, scores, *gradients]), feeds


def images() -> tuple[mg.Graph, dict[str, Any]]:
    """Convolution, pooling, a branch with two results, a loop."""
    x = mg.placeholder("x", shape=(None, 1, 8, 8))
    y = mg.max_pool2d(mg.relu(mg.conv2d(x, mg.constant(np.ones((4, 1, 3, 3)) / 9))), 2)
    a, b = mg.cond(y.sum() > 0, lambda: (y * 2, y - 1), lambda: (y, y))
    total = mg.while_loop(lambda v: v.sum() < 9e3, lambda v: v * 2, a + b)
    feeds = {"x": np.random.default_rng(0).random((5, 1, 8, 8), np.float32)}
    return mg.build_graph(x, total), feeds


def same(one: Any, other: Any) -> bool:
    """Whether results are equal bit for bit."""
    pairs = zip(one, other, strict=True) if isinstance(one, list) else [(one, other)]
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


@pytest.mark.parametrize("tasks", GRAINS)
@pytest.mark.parametrize("model", [mlp, images])
@pytest.mark.parametrize("optimize", [True, False])
def test_threads_give_the_bits_of_the_program(model: Any, tasks: Any, optimize: bool) -> None:
    graph, feeds = model()
    program = graph.compile(optimize=optimize)
    later = program.to_dask(feeds, tasks=tasks)
    assert same(program(feeds), later.compute(scheduler="threads"))


def test_processes_give_the_bits_of_the_program() -> None:
    graph, feeds = mlp()
    program = graph.compile()
    later = program.to_dask(feeds)
    assert same(program(feeds), later.compute(scheduler="processes", num_workers=2))


@pytest.mark.parametrize("shards", [2, 5])
def test_shards_of_a_batch_agree_within_the_tolerance(shards: int) -> None:
    graph, feeds = mlp()
    program = graph.compile()
    split = program.to_dask(feeds, tasks="whole", shards=shards, reduce="mean").compute()
    for whole, parts in zip(program(feeds), split, strict=True):
        assert np.abs(whole - parts).max() <= TOLERANCE * np.abs(whole).max()
    assert split[1].shape == (33, 10)
    assert split[0].dtype == np.float32


def test_a_sum_over_the_batch_is_a_sum_of_shards() -> None:
    x = mg.placeholder("x", shape=(None, 3))
    program = mg.build_graph(x, (x * 2).sum(0)).compile()
    values = np.arange(21.0, dtype=np.float32).reshape(7, 3)
    found = program.to_dask({x: values}, shards=3, reduce="sum").compute()
    assert same(program({x: values}), found)  # whole numbers: no rounding


# ---- A cluster -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers, each a process of one thread, with a dashboard."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def test_two_workers_give_the_bits_of_the_program(client: Any) -> None:
    graph, feeds = mlp()
    program = graph.compile()
    assert same(program(feeds), client.compute(program.to_dask(feeds)).result())


def test_shards_run_on_both_workers(client: Any) -> None:
    graph, feeds = mlp(4000)
    program = graph.compile()
    later = program.to_dask(feeds, tasks="whole", shards=8, reduce="mean")
    found = client.compute(later).result()
    told = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert len(told) == 2
    assert all(count > 0 for count in told.values())
    assert np.abs(found[0] - program(feeds)[0]) <= TOLERANCE * found[0]


def test_an_error_in_a_worker_names_the_users_line(client: Any) -> None:
    x, y = mg.placeholder("x", shape=(None,)), mg.placeholder("y", shape=(None,))
    program = mg.build_graph([x, y], mg.exp(x) + mg.tanh(y)).compile()
    later = client.compute(program.to_dask({x: [1, 2, 3], y: [1, 2]}, tasks="kernels"))
    with pytest.raises(mg.ShapeError, match=r"\(3,\), \(2,\)[\s\S]*test_oracle_dask.py"):
        later.result()


def test_the_dashboard_of_dask_shows_the_tasks(client: Any) -> None:
    graph, feeds = mlp()
    with distributed.get_task_stream(client) as stream:
        client.compute(graph.compile().to_dask(feeds)).result()
    page = urllib.request.urlopen(client.dashboard_link, timeout=30).read().decode()
    assert "Dask" in page
    assert {"MatMul", "results"} <= {entry["key"].partition("-")[0] for entry in stream.data}


@pytest.mark.parametrize("where", ["threads", "cluster"])
def test_a_schedule_runs_on_dask_and_is_measured(client: Any, where: str) -> None:
    graph, feeds = mlp()
    program = graph.compile()
    planned = program.schedule(devices=2, costs=lambda node: 1.0, feed_dict=feeds)
    found, measured = planned.run(feeds, client if where == "cluster" else where)
    assert same(program(feeds), found)
    assert len(measured.tasks) == len(planned.tasks)
    assert measured.costs == "run"
    assert measured.makespan > 0
    assert measured.devices == 2 if where == "cluster" else measured.devices >= 2
    ends = {task.node: task.end for task in measured.tasks}
    assert all(ends[x] <= task.start for task in measured.tasks for x in task.after)
    assert {t.node for t in measured.tasks if t.after} == {t.node for t in planned.tasks if t.after}


# ---- Tasks ---------------------------------------------------------------------------------------


def test_coarser_is_fewer() -> None:
    graph = mlp()[0].optimize()
    counts = [len(group_nodes(graph, tasks)) for tasks in ("kernels", "regions", 3, "whole")]
    assert counts == sorted(counts, reverse=True)
    assert counts[2:] == [3, 1]
    assert counts[0] > counts[1]


def test_dask_draws_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if layout.shutil.which("dot") is None:
        if layout.bundled_dot() is None:
            pytest.skip("no dot")
        (tmp_path / "dot").symlink_to(layout.bundled_dot())
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    graph, feeds = mlp()
    graph.compile().to_dask(feeds).visualize(filename=str(tmp_path / "graph.svg"))
    drawn = (tmp_path / "graph.svg").read_text("utf-8")
    assert drawn.count('class="node"') > 10
    assert "MatMul" in drawn


def test_variables_have_their_values_of_now() -> None:
    w, x = mg.Variable(np.float32([2.0]), name="w"), mg.placeholder("x", shape=(None,))
    program = mg.build_graph(x, x * w).compile()
    before = program.to_dask({x: [3.0]})
    program.variables[w][...] = 5.0
    assert program.to_dask({x: [3.0]}).compute().tolist() == [15.0]
    assert before.compute().tolist() == [6.0]
    assert before.key != program.to_dask({x: [3.0]}).key


def test_what_cannot_be_handed_out_is_named() -> None:
    w, x = mg.Variable(np.float32([2.0]), name="w"), mg.placeholder("x", shape=(None,))
    update = mg.build_graph(x, mg.assign(w, w - x.sum())).compile()
    with pytest.raises(mg.GraphError, match=r"Assign.* changes, counts or prints"):
        update.to_dask({x: [1.0]})
    program = mg.build_graph(x, (x * w).mean()).compile()
    with pytest.raises(mg.GraphError, match=r'Mean has no axis.*reduce="mean"'):
        program.to_dask({x: [1.0, 2.0]}, shards=2)
    with pytest.raises(mg.GraphError, match=r"into 3 shards: .* lengths 2\."):
        program.to_dask({x: [1.0, 2.0]}, shards=3, reduce="mean")
    for wrong in ({"tasks": "tiny"}, {"tasks": 0}, {"shards": 0}, {"reduce": "max"}):
        with pytest.raises(mg.ArgumentError, match="to_dask"):
            program.to_dask({x: [1.0]}, **wrong)
    with pytest.raises(mg.NotFedError):
        program.to_dask()


def test_the_price_of_granularity_is_measured() -> None:
    graph, feeds = mlp()
    table = lessons.granularity(graph.compile(), feeds, shards=2, reduce="mean", scheduler="sync")
    cells = [[cell[0] for cell in line] for line in table.rows]
    assert [line[0] for line in cells][:2] == ["here", "Dask, the whole program"]
    tasks = {line[0]: int(line[1]) for line in cells}
    assert tasks["Dask, 2 shards of the batch"] == 2
    times = {line[0]: float(line[3]) for line in cells}
    assert times["Dask, every kernel"] > times["here"] == 1
    assert [float(line[4]) for line in cells if "shards" not in line[0]] == [0.0] * 4
    with pytest.raises(TypeError, match=r"lessons\.granularity takes a program"):
        lessons.granularity(graph)
