"""How each node stands at each step of a film, what travels, and what the inspector answers."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from examples import digits, e1, e5, unrolled

import minigrad as mg
import viz
from viz.film.film import Film, latest
from viz.film.node_details import node_details
from viz.film.states import members, on_cards, states
from viz.picture.cards import State

pytestmark = pytest.mark.usefixtures("english", "undrawn")


def e1_static() -> Film:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return viz.step(x * x + 3, {x: 2.0}).films[0]


def row(film: Film, step: int) -> dict[str, str]:
    """The cards at a step in short: state, value, gradient, clock."""
    labels = {n.id: n.label for n in film.picture.nodes}
    found = {}
    for i, s in states(film, step).items():
        state = "ran" if s.ran else "born" if s.born else "-"
        value, gradient = (x.short if x else "" for x in (s.value, s.gradient))
        born, ran = ("" if n is None else str(n) for n in s.clock)
        found[labels[i]] = f"{state} {value} {gradient} {born}/{ran}{'*' if s.now else ''}"
    return found


def clock(card: State) -> tuple[str, ...]:
    """What the clock of a card says in each language."""
    return tuple(" · ".join(line[i] for line in card.clock) for i in (0, 1))


def test_a_tape_grows_while_it_runs() -> None:
    film = viz.step(e1()).films[0]
    assert [row(film, i) for i in (0, 1, 2, 3, 5, 6)] == [
        {"x": "ran 2  0/0", "Mul": "-   /", "3": "-   /", "Add": "-   /"},
        {"x": "ran 2  0/0", "Mul": "ran 4  1/1*", "3": "-   /", "Add": "-   /"},
        {"x": "ran 2  0/0", "Mul": "ran 4  1/1", "3": "ran 3  2/2", "Add": "ran 7  2/2*"},
        {"x": "ran 2  0/0", "Mul": "ran 4  1/1", "3": "ran 3  2/2", "Add": "ran 7 1 2/2*"},
        {"x": "ran 2 2 0/0*", "Mul": "ran 4 1 1/1", "3": "ran 3  2/2", "Add": "ran 7 1 2/2"},
        {"x": "ran 2 4 0/0*", "Mul": "ran 4 1 1/1", "3": "ran 3  2/2", "Add": "ran 7 1 2/2"},
    ]
    assert row(film, 99) == row(film, len(film.frames) - 1), "it stays as it ended"
    assert row(film, 99)["x"] == "ran 2 4 0/0", "and the gradient stays, too"


def test_a_graph_stands_before_it_fills() -> None:
    film = e1_static()
    assert [row(film, i) for i in (0, 4, 7, 13)] == [
        {"x": "-   /", "Mul": "-   /", "3": "-   /", "Add": "-   /"},
        {"x": "born   1/", "Mul": "born   2/", "3": "born   3/", "Add": "born   4/*"},
        {"x": "ran 2  1/6", "Mul": "ran 4  2/7*", "3": "born   3/", "Add": "born   4/"},
        {"x": "ran 2 4 1/6*", "Mul": "ran 4 1 2/7", "3": "ran 3  3/8", "Add": "ran 7 1 4/9"},
    ]


def test_a_still_of_a_step_shows_it_on_the_cards() -> None:
    film = e1_static()
    names = {n.label: n.id for n in film.picture.nodes}
    early, late = (on_cards(film, i) for i in (4, 7))
    assert {early[i].classes for i in names.values()} == {("mg-born",), ("mg-born", "mg-now"), ()}
    assert early[names["3"]].classes == (), "a constant is no plan"
    assert late[names["Mul"]].classes == ("mg-ran", "mg-now")
    assert (late[names["Mul"]].value, late[names["Add"]].value) == ("4", "")
    assert clock(late[names["Mul"]]) == (
        "built at step 2 · ran at step 7",
        "第 2 步构建 · 第 7 步运行",
    )
    assert clock(late[names["Add"]]) == ("built at step 4", "第 4 步构建")
    assert clock(late[names["x"]]) == (
        "built at step 1 · fed at step 6",
        "第 1 步声明 · 第 6 步得值",
    )
    grown = on_cards(viz.step(e1()).films[0], 1)
    assert [s.classes for s in grown.values()] == [
        (),
        ("mg-ran", "mg-now"),
        ("mg-unborn",),
        ("mg-unborn",),
    ]


def test_nan_and_infinity_are_marked_wherever_they_are() -> None:
    x = mg.tensor([-1.0, 1.0], requires_grad=True, name="x")
    with np.errstate(all="ignore"):
        film = viz.step(mg.log(x).sum()).films[0]
    names = {n.label: n.id for n in film.picture.nodes}
    last = states(film, 99)
    assert [last[names[k]].bad for k in ("x", "Log", "Sum")] == [False, True, True]
    looks = {i: {"mg-bad", "mg-origin"} & {*s.classes} for i, s in on_cards(film, 99).items()}
    assert looks == {
        names["x"]: set(),
        names["Log"]: {"mg-bad", "mg-origin"},
        names["Sum"]: {"mg-bad"},
    }
    data = viz.step(mg.log(x).sum()).data
    assert [n["values"][0][1].get("bad") for n in data["nodes"].values()] == [None, True, True]


@cache
def network(which: str) -> viz.Player:
    dynamic, static = digits()
    feed = {"image": np.ones((4, 64), np.float32), "label": np.arange(4)}
    return viz.step(dynamic) if which == "dynamic" else viz.step(static, feed)


@pytest.mark.parametrize("which", ["dynamic", "static"])
def test_a_folded_layer_is_filled_by_what_of_it_has_run(which: str) -> None:
    """By its operators: what it is given neither bears it nor fills it."""
    film = network(which).films[0]
    folded = film.view(())
    first = next(n for n in folded.nodes if n.name == "linear1")
    product, added = (film.tracks[i] for i in members(film.picture, first))
    half, over = (track.values[0][0] for track in (product, added))
    given, part, after = (states(film, i, folded)[first.id] for i in (half - 1, half, over))
    assert (given.born, given.done) == (which == "static", 0)
    assert (part.born, part.ran, part.value, part.done, part.of) == (True, False, None, 1, 2)
    assert (after.ran, after.value, after.clock[1]) == (True, added.values[-1][1], over)
    plan = ("mg-born",) if which == "static" else ()
    card, filled = (on_cards(film, i, folded)[first.id] for i in (half, over))
    assert card.classes == ("mg-part", *plan, "mg-now")
    assert card.done == 0.5
    born, whole = part.clock[0], film.picture.kind == "dynamic"
    assert clock(card)[0] == (
        "built, ran: · 1 of 2" if whole else f"built at step {born} · ran 1 of 2"
    )
    assert filled.classes == ("mg-ran", "mg-now")
    assert clock(filled) == (
        (f"built, ran: · steps {half} to {over}", f"构建并运行： · 第 {half} 至 {over} 步")
        if whole
        else (f"built at step {born} · ran at step {over}", f"第 {born} 步构建 · 第 {over} 步运行")
    )


def flows(player: viz.Player) -> list[Any]:
    return [flow for frame in player.data["frames"] for flow in frame.get("flows", {}).values()]


def test_what_calls_share_says_how_many_of_it_have_their_gradients() -> None:
    (film,) = viz.step(unrolled(2)).films
    drawn = film.picture.fold()
    (shared,) = (n.id for n in drawn.nodes if n.name == "rnncell.parameters")
    told = [on_cards(film, k, drawn)[shared].gradient for k in range(len(film.frames))]
    assert [*dict.fromkeys(told)] == ["", "1/4", "2/4", "3/4", "4/4"]
    assert told == sorted(told)


def test_what_travels_is_sent_with_what_it_is_made_of() -> None:
    assert flows(viz.step(e1())) == [
        "2",
        "2",
        "4",
        "3",
        {"value": "1", "upstream": "1", "local": "1"},
        {"value": "2", "upstream": "1", "local": "2"},
        {"value": "2", "upstream": "1", "local": "2", "before": "2", "after": "4"},
    ]
    rules = [flow for flow in flows(viz.step(e5())) if "rule" in flow]
    assert {flow["rule"] for flow in rules} == {"expand(∂) × x", "Wᵀ @ ∂"}
    sent = viz.step(e5()).data["swatches"]
    assert sent[rules[0]["swatch"]][:4] == "c2:f", "two columns, and zero first"


@pytest.mark.parametrize("which", ["dynamic", "static"])
def test_between_layers_a_swatch_travels_and_never_a_bare_sign(which: str) -> None:
    player = network(which)
    back = [flow for flow in flows(player) if not isinstance(flow, str)]
    assert back
    for flow in back:
        assert flow["value"] not in ("", "∂")
        assert flow.keys() & {"rule", "local", "upstream"}
    assert len([flow for flow in back if "swatch" in flow]) >= len(back) - 2, "all but the loss"
    json.dumps(player.data, allow_nan=False)


def test_what_passes_through_a_branch_says_what_became_of_it() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        y = mg.cond(x > 0, lambda v: v * 2, lambda v: v - 1, x)
        player = viz.step(y, {x: 3.0})
    flow, *inside = (f for f in flows(player) if not isinstance(f, str))
    assert inside == [{"value": "∂"}] * 2, "on its way through it has no number"
    assert flow == {"value": "2", "upstream": "1"}
    shown, *_ = (f for frame in player.films[0].frames for f in frame.flows.values() if f.back)
    assert shown.text == "1 → 2"


def answers(film: Film, label: str, step: int, language: int = 0) -> dict[str, str]:
    """What the inspector says of a node at a step, by question."""
    (node,) = (n.id for n in film.picture.nodes if n.label == label)
    by_slot: dict[str, list[tuple[int, Any]]] = {}
    for at, slot, text in node_details(film.picture, film.tracks)[node]:
        by_slot.setdefault(slot, []).append((at, text))
    found = {slot: latest(entries, step) for slot, entries in by_slot.items()}
    return {slot: text[language] for slot, text in found.items() if text}


def test_two_readers_of_one_name_are_two() -> None:
    x = mg.tensor(0.0, requires_grad=True, name="x")

    def f(x: mg.Tensor) -> mg.Tensor:
        return mg.exp(x) * 2 + mg.exp(x)

    film = viz.step(f, x).films[0]
    assert answers(film, "x", 0)["out"] == "Output: 0. Nothing has used it yet."
    assert answers(film, "x", 1)["out"] == "Output: 0, used by Exp."


def test_the_inspector_answers_what_a_learner_asks() -> None:
    film = viz.step(e1()).films[0]
    assert answers(film, "Mul", 0) == {}
    after = answers(film, "Mul", 1)
    assert after["formula"] == "x × x = 2 × 2 = 4"
    assert after["in"] == "What came in: 2 from x, 2 from x."
    assert after["out"] == "Output: 4. Nothing has used it yet."
    assert after["local"] == "On the way back x gets upstream × x along each of 2 arrows."
    assert after["kept"] == "Kept for the way back: x, for the gradient of x."
    assert after["line"].startswith("Written in examples.py, line")
    assert "gradient" not in after
    assert answers(film, "Mul", 2)["out"] == "Output: 4, used by Add."
    assert answers(film, "Mul", 4)["gradient"] == "Its gradient is 1, from Add."
    add = answers(film, "Add", 3)
    assert add["in"] == "What came in: 4 from Mul, the constant 3."
    assert add["out"] == "Output: 7, the result."
    assert add["local"] == "On the way back Mul gets the upstream gradient as it is."
    assert add["kept"] == "Nothing is kept for the way back."
    assert add["gradient"] == "Its gradient is 1: the way back begins here."
    assert answers(film, "x", 5)["gradient"] == "Its gradient is 2, from Mul."
    assert answers(film, "x", 6)["gradient"] == "Its gradient is 4 = 2 from Mul + 2 from Mul."
    chinese = answers(film, "Mul", 2, 1)
    assert chinese["in"] == "读入：来自 x 的 2，来自 x 的 2。"
    assert chinese["out"] == "输出：4，由 Add 读取。"
    assert chinese["kept"] == "为反向传播保留：x，供计算 x 的梯度。"


def test_the_inspector_of_a_plan_speaks_of_what_will_be() -> None:
    film = e1_static()
    assert answers(film, "Mul", 2)["in"] == "It will read x."
    assert answers(film, "Mul", 3)["out"] == "It has no value yet."
    assert answers(film, "Mul", 4)["out"] == "It has no value yet; Add will read it."
    assert answers(film, "3", 4)["out"] == "The graph holds its value; Add will read it."
    assert "kept" not in answers(film, "Mul", 4), "nobody asked for gradients yet"
    assert answers(film, "Mul", 5)["kept"] == "Kept for the way back: x, for the gradient of x."
    assert answers(film, "Mul", 7)["in"] == "What came in: 2 from x, 2 from x."


def test_what_is_kept_is_told_with_whom_it_is_for() -> None:
    film = viz.step(e5()).films[0]
    assert answers(film, "MatMul", 1)["kept"] == (
        "Kept for the way back: x, for the gradient of W; W, for the gradient of x."
    )


def asked() -> tuple[viz.Player, viz.Player]:
    """The same graph with its gradient: as it was recorded, and stepped through."""
    with mg.record(values=True) as log:
        with mg.Graph() as graph:
            x = mg.placeholder("x", shape=())
            y = x * x + 3
            (dx,) = mg.gradients(y, [x])
        mg.Session(graph).run([y, dx], {x: 2.0})
    return viz.timeline(log), viz.step([y, dx], {x: 2.0})


def test_a_graph_whose_gradient_is_asked_walks_back_as_a_tape_does() -> None:
    dynamic = [f.caption[0] for f in viz.step(e1()).films[0].frames]
    back = [line.replace("Add", "y") for line in dynamic[3:7]]
    for player in asked():
        (film,) = player.films
        lines = [f.caption[0] for f in film.frames]
        assert lines[5] == "built: 4 gradient nodes for the way back, before anything runs"
        assert {m.sort for m in film.frames[5].marks} == {"gradient"}
        assert lines[10:14] == back
        assert lines[14] == (
            "done: 2 operators built, 4 gradient nodes built, 2 operators run, "
            "3 contributions passed back."
        )
        assert [n.label for n in film.picture.nodes] == ["x", "Mul", "3", "y"]


def test_each_run_of_a_recording_walks_back() -> None:
    """Also where gradient nodes came after a run, and where no values were recorded."""
    for values in (True, False):
        with mg.record(values=values) as log:
            with mg.Graph() as graph:
                x = mg.placeholder("x", shape=())
                y = x * x
                session = mg.Session(graph)
                session.run(y, {x: 2.0})
                (dx,) = mg.gradients(y, [x])
            for number in (3.0, 5.0):
                session.run([y, dx], {x: number})
        lines = [f.caption[0] for f in viz.timeline(log).films[0].frames]
        (built,) = (line for line in lines if "gradient nodes for" in line)
        assert built == "built: 4 gradient nodes for the way back"
        assert sum("passes back to x" in line for line in lines) == 4
        if values:
            again = [line.rpartition(": ")[2] for line in lines if "which adds it" in line]
            assert again == ["3 + 3 = 6", "5 + 5 = 10"]


def test_gradient_nodes_that_others_read_are_drawn() -> None:
    with mg.record(values=True) as log, mg.Graph() as graph:
        w = mg.Variable(1.0, name="w")
        loss = w * w
        (dw,) = mg.gradients(loss, [w])
        step = mg.assign(w, w - dw)
        session = mg.Session(graph)
        session.run(mg.global_variables_initializer())
        session.run(step)
    film = viz.timeline(log).films[0]
    assert sum(m.sort == "gradient" for f in film.frames for m in f.marks) > 3
    assert "Assign" in {n.op for n in film.picture.nodes}


def test_each_output_begins_with_its_seed() -> None:
    """Also one that another output reads: what comes back is added to its 1."""

    def both(x: Any) -> Any:
        y = x * x
        return y, y * 3

    for film in viz.compare(both, 2.0).films:
        lines = [f.caption[0].partition("] ")[2] or f.caption[0] for f in film.frames]
        at = next(i for i, line in enumerate(lines) if line.startswith("backward"))
        square, triple = (n.label for n in film.picture.nodes if n.is_output)
        assert lines[at : at + 5] == [
            f"backward starts at the output: ∂{triple}/∂{triple} = 1",
            f"backward starts at the output: ∂{square}/∂{square} = 1",
            f"{triple} passes back to {square}, which adds it: 1 + 3 = 4",
            f"{square} passes back to x: upstream × local = 4 × 2 = 8",
            f"{square} passes back to x, which adds it: 8 + 8 = 16",
        ]


def test_a_still_of_a_tape_speaks_of_what_was_and_of_a_graph_of_what_will_be() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x + 3
    film = viz.draw(y).film
    assert answers(film, "Mul", 0)["in"] == "What came in: 2 from x, 2 from x."
    assert answers(film, "y", 0)["in"] == "What came in: 4 from Mul, the constant 3."
    assert answers(film, "3", 0)["out"] == "Output: 3, used by y."
    assert answers(film, "Mul", 0)["kept"] == "Kept for the way back: x, for the gradient of x."
    y.backward()
    film = viz.draw(y).film
    assert answers(film, "x", 0)["gradient"] == "Its gradient is 4."
    assert "kept" not in answers(film, "Mul", 0), "the backward pass dropped it"
    with mg.Graph():
        p = mg.placeholder("p", shape=())
        film = viz.draw(p * p + 3).film
    assert answers(film, "Mul", 0)["in"] == "It will read p."
    assert answers(film, "p", 0)["out"] == "It has no value yet; Mul will read it."
    assert answers(film, "3", 0)["out"] == "The graph holds its value; Add will read it."


def test_the_gradient_of_what_was_stretched_is_a_sum() -> None:
    """One bias for all rows gets what all rows send back, in the caption and in the inspector."""
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True, name="x")
    b = mg.tensor([1.0, -1.0], requires_grad=True, name="b")
    film = viz.step(((x + b) * 3).sum()).films[0]
    lines = "\n".join(f.caption[0] for f in film.frames)
    assert "Add passes back to b: Σ ∂ = [6, 6] (∂: the upstream gradient)" in lines
    assert (
        "Mul passes back to Add: upstream × local = [[1, 1], [1, 1]] × [[3, 3], [3, 3]] =" in lines
    )
    assert answers(film, "Add", 1)["local"] == (
        "On the way back x gets the upstream gradient as it is, b gets Σ upstream."
    )
    scaled = viz.step((x * b).sum()).films[0]
    lines = "\n".join(f.caption[0] for f in scaled.frames)
    assert "Σ (∂ × [[1, 2], [3, 4]]) = [4, 6]" in lines
    assert "b gets Σ (upstream × x)" in answers(scaled, "Mul", 1)["local"]


def test_each_backward_pass_has_one_seed() -> None:
    """Also a pass through what another pass recorded, and a pass over the same tape once more."""
    with mg.record(values=True) as log:
        x = mg.tensor(2.0, requires_grad=True)
        y = x * x * x
        (dx,) = mg.grad(y, [x], create_graph=True)
        dx.backward()
    lines = [f.caption[0] for f in viz.timeline(log).films[0].frames]
    seeds = [line for line in lines if line.startswith("backward")]
    assert [line.rpartition(": ")[2] for line in seeds] == ["∂y/∂y = 1", "∂dx/∂dx = 1"]
    assert [line.rpartition(" = ")[2] for line in lines if "passes back to x" in line][-1] == "12"
    with mg.record(values=True) as log:
        w = mg.tensor(2.0, requires_grad=True)
        z = w * w
        z.backward(retain_graph=True)
        z.backward()
    lines = [f.caption[0] for f in viz.timeline(log).films[0].frames]
    assert [line.startswith("backward") for line in lines[2:-1]] == [True, False, False] * 2


def test_a_graph_with_gradient_nodes_of_its_own_shows_these() -> None:
    """Nothing more is built for it, and what they compute is not told a second time."""
    with mg.Graph() as graph:
        w = mg.Variable(1.0, name="w")
        loss = w * w
        (dw,) = mg.gradients(loss, [w])
        step = mg.assign(w, w - dw)
        player = viz.step([loss, step], session=mg.Session(graph))
    lines = [f.caption[0] for f in player.films[0].frames]
    assert "built for the way back: dw = Mul + Mul. It has no value." in lines
    assert "run on the way back: dw = Mul + Mul = 1 + 1 = 2" in lines
    assert lines[-1] == (
        "done: 3 operators built, 3 gradient nodes built, 3 operators run, 3 gradient nodes run."
    )
