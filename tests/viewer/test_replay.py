"""`viz.step` looks and does not touch: not the tape, the gradients, the graph or the session."""

from __future__ import annotations

import numpy as np
import pytest
from examples import digits, e1, e2

import minigrad as mg
import viz
from minigrad.core import context

pytestmark = pytest.mark.usefixtures("english")


def captions(player: viz.Player) -> str:
    return player.text()[0]


def test_tensors_gradients_and_the_tape_stay_as_they_are() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x + 3
    node, saved, order = y.creator, y.creator.inputs[0].saved, y.creator.order
    viz.step(y)
    assert x.grad is None
    assert y.grad is None
    assert y.creator is node
    assert (node.inputs[0].saved, node.order) == (saved, order)
    y.backward()
    assert x.grad.item() == 4
    viz.step(x * x + 3)
    assert x.grad.item() == 4, "a replay adds nothing"


def test_a_tape_that_was_walked_can_still_be_stepped_through() -> None:
    y = e1()
    y.backward()
    assert "2 + 2 = 4" in captions(viz.step(y))


def test_the_replay_uses_the_present_values() -> None:
    x = mg.tensor([2.0], requires_grad=True)
    y = x * x + 3
    with mg.no_grad():
        x.copy_([5.0])
    assert "5 × 5 = 25" in captions(viz.step(y))


def test_nobody_else_hears_the_replay() -> None:
    tape, graph = e1(), e2()
    with mg.record(values=True) as log:
        viz.step(tape)
        viz.step(graph, {"x": 2})
    assert log.events == []


@pytest.mark.parametrize("thing", ["tensor", "graph", "function"])
def test_no_grad_and_scopes_do_not_reach_the_replay(thing: str) -> None:
    things = {"tensor": (e1(), None), "graph": (e2(), {"x": 2}), "function": (e1, None)}
    obj, feed = things[thing]
    with mg.no_grad(), mg.name_scope("outer"):
        player = viz.step(obj, feed)
        assert (context.now.recording, context.now.scope) == (False, "outer")
    assert "2 + 2 = 4" in captions(player)
    if thing != "function":
        assert player.films[0].picture.groups == ()


def test_names_and_scopes_are_those_of_the_original() -> None:
    height = mg.tensor(2.0, requires_grad=True)
    with mg.name_scope("block"):
        area = height * height
    film = viz.step(area).films[0]
    assert film.picture.text().splitlines() == [
        "n1: height = tensor ()",
        "n2: area = Mul(height, height) ()  [block]  -> output",
    ]


def test_the_graph_and_the_session_stay_as_they_are() -> None:
    graph = mg.Graph()
    with graph, mg.Session(graph) as session:
        x = mg.placeholder("x")
        w = mg.Variable(3.0, name="w")
        y = x * w
        update = mg.assign(w, w + 1)
        session.run(mg.global_variables_initializer())
        session.run(update)
        before = (len(graph.nodes), graph.hash())
        assert "w receives its value: 4" in captions(viz.step(y, {x: 2}, session))
        assert "w receives its value: 3" in captions(viz.step(y, {x: 2})), "its first value"
        viz.step(update, session=session)
        assert (len(graph.nodes), graph.hash()) == before
        assert session.run(w) == 4


def test_a_frozen_graph_can_be_stepped_through() -> None:
    graph = e2()
    before = graph.text()
    assert "run: Mul = x × x = 3 × 3 = 9" in captions(viz.step(graph, {"x": 3}))
    assert graph.text() == before


@pytest.mark.parametrize(
    ("feed", "error", "words"),
    [
        ({"z": 1}, mg.GraphError, "feed_dict has the key"),
        ({"x": "word"}, mg.GraphError, "word"),
    ],
)
def test_errors_of_the_feed_are_those_of_a_run(feed, error, words) -> None:
    with pytest.raises(error, match=words):
        viz.step(e2(), feed)
    with pytest.raises(error, match=words):
        mg.run(e2(), feed)


def lost_operand() -> mg.Tensor:
    x = mg.tensor(2.0, requires_grad=True)
    return x + mg.tensor([1.0, 2.0])


def test_an_operand_that_the_tape_did_not_keep() -> None:
    player = viz.step(lost_operand())
    english, chinese = player.text()
    assert "did not keep an operand of Add" in english
    assert "没有保留 Add" in chinese
    (film,) = player.films
    assert film.still
    assert [n.op for n in film.picture.nodes if n.id == film.frames[0].failed] == ["Add"]


def test_the_remedy_that_the_message_names_works() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    player = viz.step(lambda: (x * x + 3).sum())
    assert "2 + 2 = 4" in captions(player)


def test_several_outputs_share_one_backward_pass() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    player = viz.step([x * 3, x * 4])
    assert "passes back to x, which adds it: 4 + 3 = 7" in captions(player)
    (gradient,) = (v for k, v in player.films[0].results.items() if k[0] == "gradient")
    assert gradient.item() == 7


@pytest.mark.usefixtures("undrawn")
def test_the_digits_model_gives_the_same_gradients_both_ways() -> None:
    dynamic, static = digits()
    feed = {"image": np.ones((4, 64), np.float32), "label": np.arange(4)}
    left = viz.step(lambda: dynamic).films[0].results
    right = viz.step(static, feed).films[0].results
    gradients = [key for key in left if key[0] == "gradient"]
    assert len(gradients) == 4
    for key in gradients:
        assert np.array_equal(left[key], right[key]), key
