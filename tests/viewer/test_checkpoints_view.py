"""Checkpoints: what is kept and computed again within each budget, as planned and as computed."""

from __future__ import annotations

import base64
import importlib
import re

import numpy as np
import pytest

import minigrad as mg
import viz
from minigrad.passes import recompute

LAYERS, SIZE = 10, 1024
module = importlib.import_module("viz.views.checkpoints")


pytestmark = pytest.mark.usefixtures("english")


def deep(x):
    for _ in range(LAYERS):
        x = mg.tanh(x)
    return x


def graph() -> mg.Graph:
    x = mg.placeholder("x", (SIZE,))
    return mg.build_graph(x, mg.gradients(mg.sum(deep(x)), x)[0])


def kinds(board: viz.Board) -> list[list[str]]:
    """The marks of the forward pass at each position, in the order of its nodes."""
    found = []
    for scene in board.scenes:
        panel = scene.panels[1]
        found.append([panel.marks.get(node.id, "") for node in panel.picture.nodes])
    return found


def test_each_position_is_what_the_pass_and_the_planner_do() -> None:
    board, whole = viz.checkpoints(graph()), graph()
    cells = [[cell[0] for cell in line] for line in board.sheet.rows]
    assert len(cells) == len(board.scenes) > 4
    again = [int(line[2]) for line in cells]
    assert again[0] == 0
    assert again == sorted(set(again)), "less memory, more work"
    arenas = [float(line[1].removesuffix(" kB")) for line in cells]
    assert arenas == sorted(arenas, reverse=True)
    for line, scene in zip(cells[1:], board.scenes[1:], strict=True):
        limit = float(re.search(r"budget ([\d.]+) kB", scene.caption[0])[1])
        assert float(line[1].removesuffix(" kB")) <= limit * 1.01
        less = whole.optimize([recompute(int(float(line[1].removesuffix(" kB")) * 1010))])
        assert len(less.history[0].changes) <= int(line[2])
        assert less.counted()["Tanh"] == LAYERS + len(less.history[0].changes)


def test_every_layer_is_kept_or_computed_again() -> None:
    for scene, marks in zip((board := viz.checkpoints(graph())).scenes, kinds(board), strict=True):
        again = int(board.sheet.rows[scene.row][2][0])
        assert marks.count("again") == again
        assert marks.count("kept") == LAYERS - again


def test_the_first_position_teaches_and_the_last_says_the_least() -> None:
    board = viz.checkpoints(graph())
    assert set(kinds(board)[0]) == {"kept", ""}
    assert "values kept for the backward pass: 10" in board.scenes[0].caption[0]
    with pytest.raises(mg.GraphError) as refused:
        graph().optimize([recompute(1)])
    least = module.size(refused.value.fields["least"])
    assert f"below {least}" in board.scenes[-1].facts[-1][0]
    whole, *_, (_, (arena, _), (again, _), _) = board.sheet.rows
    assert board.heading[0] == f"Computing {again} values again: {arena} instead of {whole[1][0]}"


def test_results_are_compared_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    board = viz.checkpoints(deep, np.linspace(-1, 1, SIZE))
    assert all("equal, bit for bit" in scene.facts[2][0] for scene in board.scenes)
    run = module._results
    monkeypatch.setattr(
        module, "_results", lambda g, drawn: [x + len(g.nodes) for x in run(g, drawn)]
    )
    board = viz.checkpoints(deep, np.linspace(-1, 1, SIZE))
    assert "equal, bit for bit" in board.scenes[0].facts[2][0]
    assert "NOT equal" in board.scenes[1].facts[2][0]


def test_the_area_has_a_corner_for_each_step_and_the_budget_is_a_line() -> None:
    board = viz.checkpoints(graph())
    for i, scene in enumerate(board.scenes):
        panel = scene.panels[0]
        steps = int(re.search(r"of (\d+)", scene.facts[0][0])[1])
        assert panel.svg.count("aria-label=") == 1
        points = re.search(r'points="([^"]+)"', panel.svg)[1].split()
        assert len(points) == 2 * steps + 2
        assert panel.svg.count("<polygon") == 1 + (i > 0), "and what it takes without a budget"
        assert ("within the budget: " in panel.svg) == (i > 0)
        dashes = re.findall("stroke-dasharray:([^;]+)", panel.svg)
        assert len([dash for dash in dashes if dash != "none"]) == (1 if i == 0 else 2)
        texts = re.findall("<text[^>]*>(.*?)</text>", panel.svg)
        assert any(re.search(r"\d kB\b", text) for text in texts), (
            "the axes have numbers, units and names"
        )
        assert "0" in texts
        assert str(steps) in texts
        said = "".join(texts)
        for word in ("step of the program", "程序步骤", "backward begins", "反向传播开始"):
            assert word in said
        assert ("budget " in said) == ("预算 " in said) == (i > 0)
    still = board._repr_mimebundle_()[0]["text/html"]
    assert "<svg" not in still, "what is not trusted is taken apart, but for images"
    area, *_ = (base64.b64decode(code).decode() for code in re.findall('base64,([^"]+)', still))
    assert "backward begins" in area
    assert "fill:light-dark(" in area


def test_both_languages_tell_all_positions() -> None:
    english, chinese = viz.checkpoints(graph()).text()
    steps = [
        [x for x in text.splitlines() if re.match(r"\d+\. ", x)] for text in (english, chinese)
    ]
    assert len(steps[0]) == len(steps[1]) > 4
    assert all("computed again" in x and "重计算" in y for x, y in zip(*steps, strict=True))
    assert english.count("☆") == chinese.count("☆") > 0


def test_parameters_are_no_values_of_the_forward_pass() -> None:
    board = viz.checkpoints(
        mg.nn.Sequential(mg.nn.Linear(8, 8, seed=0), mg.nn.Tanh()), np.ones((4, 8))
    )
    marked = {
        board.scenes[0].panels[1].picture.nodes[i].op for i, k in enumerate(kinds(board)[0]) if k
    }
    assert marked == {"Tanh"}


def test_without_a_backward_pass_there_is_one_position() -> None:
    x = mg.placeholder("x", (SIZE,))
    board = viz.checkpoints(mg.build_graph(x, deep(x)))
    assert len(board.scenes) == 1


@pytest.mark.parametrize("wrong", [3, None, "graph"])
def test_other_things_are_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"viz.checkpoints takes a graph"):
        viz.checkpoints(wrong)


def test_open_lengths_are_refused_by_name() -> None:
    x = mg.placeholder("x", (None,))
    with pytest.raises(mg.GraphError, match="placeholder x has open lengths"):
        viz.checkpoints(mg.build_graph(x, mg.gradients(mg.sum(deep(x)), x)[0]))
