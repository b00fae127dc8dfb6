"""One small example of every public view: what the tests of saved pages open and look at."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from examples import branch, digits, e1, e2, e5, loop, unrolled
from fixtures import POSITIONS

import minigrad as mg
import minigrad_lessons as lessons
import viz
from viz.page.document import write_page
from viz.views.train import Training

Maker = Callable[[], Any]


# ---- Players and diagrams ---------------------------------------------------------------------


def cond() -> viz.Player:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return viz.step(mg.build_graph(x, branch(x)), {x: -3})


def layer(x: Any, W: Any, b: Any) -> Any:
    return mg.relu(W @ x + b)


def timeline() -> viz.Player:
    with mg.Graph(), mg.record(values=True) as log:
        a = mg.placeholder("a", shape=())
        mg.run(mg.build_graph(a, a * a + 3), {"a": 2})
    return viz.timeline(log)


def live() -> viz.Player:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    with viz.live() as drawing:
        y = x * x
        y = y + 3
        y = x * 5
    assert y.item() == 10
    return drawing.player


PLAYERS: dict[str, Maker] = {
    "step": lambda: viz.step(e1()),
    "step static": lambda: viz.step(e2(), {"x": 2.0}),
    "step matrix": lambda: viz.step(e5()),
    "step layers": lambda: viz.step(digits()[0]),
    "step calls": lambda: viz.step(unrolled(8)),
    "step branch": cond,
    "step loop": lambda: viz.step(loop(3), {"x": 3}),
    "step NaN": lambda: viz.step(
        mg.log(mg.tensor([1.0, -2.0], requires_grad=True, name="x")).sum()
    ),
    "compare": lambda: viz.compare(lambda x: x * x + 3, 2.0),
    "compare matrix": lambda: viz.compare(
        layer, [1.0, 1.0], [[1.0, -2.0], [3.0, 4.0]], [0.5, -1.0]
    ),
    "timeline": timeline,
    "live": live,
}
DIAGRAMS: dict[str, Maker] = {
    "draw": lambda: viz.draw(e1()),
    "draw static": lambda: viz.draw(e2()),
    "draw layers": lambda: viz.draw(digits()[1], fold=True),
}


# ---- Boards -----------------------------------------------------------------------------------


def graph_of_x() -> mg.Graph:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return mg.build_graph(x, x * x + 3)


def passes() -> viz.Board:
    with mg.Graph():
        a = mg.placeholder("a", shape=(4, 8))
        w = mg.Variable(np.ones((8, 3), np.float32), name="w")
        y = mg.tanh(a @ w) * 1 + mg.tanh(a @ w) + mg.constant(2.0) * 3
        return viz.passes(mg.build_graph(a, y.sum()))


def traces() -> viz.Board:
    @mg.function
    def scale(x: Any, n: int) -> Any:
        return x * n + 1

    with mg.record(values=True) as log:
        for size, n in [(3, 2), (3, 2), (4, 2), (4, 5)]:
            scale(mg.tensor([1.0] * size), n)
    return viz.traces(scale, log)


def arms(x: Any) -> Any:
    if x.sum() > 0:
        return 2 * x
    return x - 1


def both_arms(x: Any) -> Any:
    return mg.cond(x.sum() > 0, lambda: 2 * x, lambda: x - 1)


def halve(x: Any) -> Any:
    while x > 1:
        x = x / 2
    return x


def checkpoints() -> viz.Board:
    def deep(x: Any) -> Any:
        for _ in range(10):
            x = mg.tanh(x)
        return x

    return viz.checkpoints(deep, np.ones((8, 64)))


def orders() -> viz.Board:
    with mg.Graph():
        a = mg.placeholder("a")
        graph = mg.build_graph(a, (mg.sin(a) + mg.cos(a)) * a)
    return lessons.topological_orders(graph, {"a": [[-2.0, -1.0, 0.0], [1.0, 2.0, 3.0]]})


def batches() -> viz.Board:
    mix = mg.nn.Linear(4, 4, seed=0)

    def encode(tree: Any) -> Any:
        if not isinstance(tree, tuple):
            return mg.tensor([tree] * 4)
        return mg.tanh(mix(encode(tree[0]) + encode(tree[1])))

    trees = [((1.0, 2.0), 3.0), (1.0, 2.0), ((1.0, 2.0), (3.0, 4.0))]
    return viz.batches(lambda: [encode(tree) for tree in trees])


def error() -> viz.Board:
    with mg.Graph():
        a, b = mg.placeholder("a"), mg.placeholder("b")
        graph = mg.build_graph([a, b], (a * 2) @ b + 1)
    try:
        mg.run(graph, {"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]})
    except mg.ShapeError as raised:
        return viz.error(raised)
    raise AssertionError("the shapes do not fit")


def sweep() -> viz.Board:
    graph = graph_of_x()
    feeds = [{"x": 2.0}, {"x": [1.0, 2.0]}, {}]
    return lessons.sweep("examples.feeds", lambda feed: (mg.run(graph, feed), graph), feeds)


def diff() -> viz.Board:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return viz.diff(mg.tanh(x * 2), mg.sigmoid(x * 3), {"x": 1})


BOARDS: dict[str, Maker] = {
    "diff": diff,
    "passes": passes,
    "traces": traces,
    "branches": lambda: viz.branches(arms, [3.0], inputs=[[3.0], [-1.0], [-3.0]], cond=both_arms),
    "branches loop": lambda: viz.branches(halve, 6.0, inputs=[0.0, 2.0, 6.0, 12.0]),
    "checkpoints": checkpoints,
    "topological_orders": orders,
    "batches": batches,
    "error": error,
    "sweep": sweep,
    "side_by_side": lambda: lessons.side_by_side(viz.draw(e1()), viz.draw(e2())),
}


# ---- Charts, tables, questions ----------------------------------------------------------------


def program() -> Any:
    with mg.Graph():
        x = mg.placeholder("x", shape=(8,))
        return mg.build_graph(x, mg.exp(x) @ mg.tanh(x)).compile(optimize=False)


def reusing() -> Any:
    """Later values take the places of earlier ones: the arena has three, and there are five."""
    with mg.Graph():
        x = mg.placeholder("x", shape=(16,))
        a = mg.tanh(x)
        y = mg.cos(a * mg.sin(mg.exp(a))).sum()
        return mg.build_graph(x, y).compile(optimize=False)


def train() -> Any:
    model = mg.nn.Sequential(mg.nn.Linear(2, 3, seed=0), mg.nn.Tanh(), mg.nn.Linear(3, 1, seed=1))
    optimizer = mg.optim.SGD(model.parameters(), lr=0.05)
    training = viz.train(20, model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Training, "_draw", lambda _: None)  # its page draws the end anew
        for _ in training:
            loss = (model(mg.tensor([[1.0, 2.0]])) ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            training.log(loss=loss)
            optimizer.step()
    return training


def ratios() -> Any:
    measured = [(0.5, 0.4, 0.7), (0.9, 0.7, 1.3), (1.4, 1.2, 1.6)]
    names = [
        ("sum, 2 × 2", "求和，2 × 2"),
        ("training step, MLP", "训练一步，MLP"),
        ("training step, convolutions", "训练一步，卷积网络"),
    ]
    rows = [
        {
            "name": name,
            "targets": [
                {
                    "side": "static",
                    "against": "eager",
                    "most": 1.0,
                    "measured": dict(zip(("middle", "low", "high"), three, strict=True)),
                }
            ],
        }
        for name, three in zip(names, measured, strict=True)
    ]
    return viz.ratios({"rows": rows})


def claims() -> Any:
    lines = dict.fromkeys(("formula1", "formula2", "before1", "before2", "total1", "total2"), 4)
    events, built = {"dynamic": 1, "static": 4}, {"built": "built Mul", "runs": 2}
    return lessons.claims("L00", blueprint=built, readable=lines, early=events)


LOSSES = {"SGD": [2.0, 1.4, 1.1, 0.9], "Adam": [2.0, 1.1, 0.6, 0.5]}
CHARTS: dict[str, Maker] = {
    "train": train,
    "curves": lambda: viz.curves(
        LOSSES, title=("Loss", "损失"), x=("step", "步"), y=("loss", "损失")
    ),
    "memory": lambda: viz.memory(reusing()),
    "schedule": lambda: viz.schedule(program(), costs=lambda node: 1.0 + (node.name == "Exp")),
    "ratios": ratios,
    "regimes": lambda: lessons.regimes(
        {
            ("a chain of operators", "链式运算"): {
                16: (2.1, 2.0, 2.3),
                1000: (1.0, 0.9, 1.2),
                1e5: (0.4, 0.3, 0.5),
            },
            ("one product", "单次乘法"): {
                16: (1.5, 1.3, 1.6),
                1000: (1.02, 1.0, 1.1),
                1e5: (1.0, 0.9, 1.1),
            },
        },
        sides=("static", "eager"),
        x=("elements", "元素个数"),
    ),
}
WORDS: dict[str, Maker] = {
    "images": lambda: lessons.images(np.eye(8)[None].repeat(12, 0), range(12)),
    "table": lambda: lessons.table("examples.squares", [(2, 7, 4), (3.5, 15.25, 7)]),
    "tape": lambda: viz.tape(e5().sum()),
    "gradient_check": lambda: lessons.gradient_check(lambda x: (x * x + 3).sum(), [1.0, 2.0]),
    "predict": lambda: lessons.predict("L00.3"),
    "quiz": lambda: lessons.quiz("L00.1", "L00.2", answers="AB"),
    "order": lambda: lessons.order("L00.6", [6, 4]),
    "claims": claims,
    "check": lambda: lessons.check("L00.faded.1", {5: 20, -1: 2}, {5: 20, -1: 2}),
    "beside": lambda: lessons.beside("L01"),
    "animate": lambda: viz.animate(lambda x: x * x + 3, 2.0),
}
VIEWS = PLAYERS | DIAGRAMS | BOARDS | CHARTS | WORDS


def save(name: str, folder: Path) -> Path:
    """The view as a page; of what does not save itself as one, what a notebook shows of it."""
    view, path = VIEWS[name](), folder / f"{name.replace(' ', '_')}.html"
    if hasattr(view, "save") and not isinstance(view, viz.Animation):
        return Path(view.save(path))
    if isinstance(view, viz.Animation):
        return write_page(path, view.player._title(), view._repr_mimebundle_()["text/html"])
    return write_page(path, (name, name), view._repr_html_())


@cache
def saved(name: str) -> Path:
    """The view as an English page, made once for all tests of a run, whose folder is shared."""
    folder = Path(os.environ["MINIGRAD_TEST_PAGES"])
    path = folder / f"{name.replace(' ', '_')}.html"
    if not path.exists():
        with TemporaryDirectory(dir=folder) as own, pytest.MonkeyPatch.context() as patch:
            patch.setattr("viz.page.sliders.KEPT", POSITIONS)
            save(name, Path(own)).replace(path)
    return path
