"""The films of the course's examples, frame by frame: what is said, lit, written on the arrows."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from examples import branch, e5, loop

import minigrad as mg
import viz
from minigrad.ops import elementwise
from viz.film.director import INSIDE_LIMIT
from viz.film.frames import Film
from viz.page.payload import view
from viz.page.steps import CLOCKS, PLANNED, score_lanes
from viz.page.together import SideBySide
from viz.picture.drawing import render
from viz.picture.formula import forward, heading
from viz.picture.picture import picture

pytestmark = pytest.mark.usefixtures("english", "undrawn")

DONE = "done: "


def film(_thing: Any, feed: Any = None) -> Film:  # underlined: its name names no node
    return viz.step(_thing, feed).films[0]


def told(shown: Film) -> list[str]:
    """Each frame but the first: its words, what is lit, what flows back, what is summed."""
    lines = []
    for frame in shown.frames[1:]:
        back = [flow.text for flow in frame.flows.values() if flow.back]
        lines.append(" | ".join([frame.caption[0], " ".join(frame.active), *back]))
    return lines


def ran(shown: Film) -> list[str]:
    """From the first value on."""
    lines = told(shown)
    return lines[next(i for i, line in enumerate(lines) if "receives" in line) :]


def test_e5_frame_by_frame() -> None:
    assert told(film(e5())) == [
        "run and recorded at once: MatMul = W @ x = [[1, -2], [3, 4]] @ [1, 1] = [-1, 7] | n3",
        "run and recorded at once: Add = MatMul + b = [-1, 7] + [0.5, -1] = [-0.5, 6] | n5",
        "run and recorded at once: ReLU = max(Add, 0) = max([-0.5, 6], 0) = [0, 6] | n6",
        "backward starts at the output: ∂ReLU/∂ReLU = [1, 1] | n6",
        "ReLU passes back to Add: upstream × local = [1, 1] × [0, 1] = [0, 1] | n5 | "
        "[1, 1] × [0, 1] = [0, 1]",
        "Add passes back to MatMul: upstream × local = [0, 1] × [1, 1] = [0, 1] | n3 | "
        "[0, 1] × [1, 1] = [0, 1]",
        "Add passes back to b: upstream × local = [0, 1] × [1, 1] = [0, 1] | n4 | "
        "[0, 1] × [1, 1] = [0, 1]",
        "MatMul passes back to W: expand(∂) × x = [[0, 0], [1, 1]] "
        "(∂: the upstream gradient) | n1 | expand(∂) × x = [[0, 0], [1, 1]]",
        "MatMul passes back to x: Wᵀ @ ∂ = [3, 4] (∂: the upstream gradient) | n2 | "
        "Wᵀ @ ∂ = [3, 4]",
        "done: 3 operators built, 3 operators run, 5 contributions passed back. | ",
    ]


def convolution() -> mg.Graph:
    """E9: a convolution and what follows it element by element."""
    with mg.Graph():
        image = mg.placeholder("image", shape=(1, 1, 3, 3))
        kernel = mg.constant(np.full((1, 1, 2, 2), 0.5, np.float32))
        return mg.build_graph(image, mg.relu(mg.conv2d(image, kernel)))


def test_e9_is_one_step_less_when_fused() -> None:
    image = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    apart = film(convolution(), {"image": image})
    fused = film(convolution().optimize(), {"image": image})
    runs = [[line for line in ran(f) if line.startswith("run")] for f in (apart, fused)]
    assert runs == [
        [
            "run: Conv2d = image ∗ Constant = (1, 1, 2, 2), min 4 … max 12, mean 8 | n3",
            "run: ReLU = max(Conv2d, 0) = (1, 1, 2, 2), min 4 … max 12, mean 8 | n4",
        ],
        ["run: Conv2d+ReLU = fused(image, Constant) = (1, 1, 2, 2), min 4 … max 12, mean 8 | n3"],
    ]
    (fused_node,) = (n for n in fused.picture.nodes if n.op == "Fused")
    inside = [n.op for n in fused.picture.nodes if n.id[0] == "b"]
    assert inside == ["Placeholder", "Placeholder", "Conv2d", "ReLU"]
    assert set(fused.picture.owners.values()) == {fused_node.id}


def test_e10_static_runs_one_arm_and_leaves_the_other() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        graph = mg.build_graph(x, branch(x))
    minus, plus = film(graph, {"x": -3}), film(graph, {"x": 3})
    assert ran(minus) == [
        "x receives its value: -3 | n1",
        "run: Sum = Σ x = Σ -3 = -3 | n2",
        "the constant 0 is read | n3",
        "run: Greater = Sum > 0 = -3 > 0 = False | n4",
        "inside Cond: else — run: Sub = v − 1 = -3 − 1 = -4 | b6",
        "run: Cond = cond(Greater, then, else) = cond(False, then, else) = -4 | n5",
        "backward starts at the output: ∂Cond/∂Cond = 1 | n5",
        "Cond passes back to x through its insides: 1 becomes 1 | n1 | 1 → 1 | ∂ | ∂",
        "done: 5 operators built, 13 gradient nodes built (insides included), 4 operators run, "
        "1 contribution passed back to x, through else. | ",
    ]
    assert "inside Cond: then — run: Mul = v × 2 = 3 × 2 = 6 | b3" in ran(plus)
    labels = {n.id: f"{n.group} {n.label}" for n in minus.picture.nodes}
    valued = {labels[i] for i, track in minus.tracks.items() if track.values and i[0] == "b"}
    assert valued == {"Cond: else v", "Cond: else 1", "Cond: else Sub"}
    assert {track.born for i, track in minus.tracks.items() if i[0] == "b"} == {
        minus.tracks["n5"].born
    }, "both arms are born with their node"


def test_e10_eager_has_one_arm() -> None:
    def f(x: mg.Tensor) -> mg.Tensor:
        return x * 2 if x.sum().item() > 0 else x - 1

    assert told(film(f(mg.tensor(-3.0, requires_grad=True, name="x"))))[0] == (
        "run and recorded at once: Sub = x − 1 = -3 − 1 = -4 | n3"
    )


def test_a_diamond_sums_where_its_ways_meet() -> None:
    a = mg.tensor(3.0, requires_grad=True, name="a")
    b = a * 2
    shown = viz.step(b * b + b).films[0]
    assert told(shown)[3:] == [
        "backward starts at the output: ∂Add/∂Add = 1 | n5",
        "Add passes back to Mul: upstream × local = 1 × 1 = 1 | n4 | 1 × 1 = 1",
        "Add passes back to b: upstream × local = 1 × 1 = 1 | n3 | 1 × 1 = 1",
        "Mul passes back to b, which adds it: 1 + 6 = 7 | n3 | 1 × 6 = 6",
        "Mul passes back to b, which adds it: 7 + 6 = 13 | n3 | 1 × 6 = 6",
        "b passes back to a: upstream × local = 13 × 2 = 26 | n1 | 13 × 2 = 26",
        "done: 3 operators built, 3 operators run, 5 contributions passed back. | ",
    ]
    sums = [(*f.active, x.sum) for f in shown.frames for x in f.flows.values() if x.sum]
    assert sums == [("n3", "1 + 6 = 7"), ("n3", "7 + 6 = 13")]


def test_a_loop_tells_of_each_of_its_steps() -> None:
    lines = [line for line in ran(film(loop(2), {"x": 3})) if "While" in line]
    assert lines == [
        "inside While: test — run: Less = i < 2 = 0 < 2 = True | b3",
        "While begins step 1 of its loop | n4",
        "inside While: body — run: Add = i + 1 = 0 + 1 = 1 | b7",
        "inside While: body — run: Mul = a × x = 1 × 3 = 3 | b9",
        "inside While: test — run: Less = i < 2 = 1 < 2 = True | b3",
        "While begins step 2 of its loop | n4",
        "inside While: body — run: Add = i + 1 = 1 + 1 = 2 | b7",
        "inside While: body — run: Mul = a × x = 3 × 3 = 9 | b9",
        "inside While: test — run: Less = i < 2 = 2 < 2 = False | b3",
        "run: While = body(0, 1, x) while test = body(0, 1, 3) while test = (2, 9) | n4",
        "backward starts at the output: ∂While/∂While = (1) | n4",
        "While passes back to x through its insides: (1) becomes 3 + 3 = 6"
        " | n1 | (1) → 3 + 3 = 6 | ∂ | ∂ | ∂ | ∂",
    ]


def test_a_long_loop_does_not_fill_the_film() -> None:
    shown = film(loop(500), {"x": 1})
    assert INSIDE_LIMIT < len(shown.frames) < INSIDE_LIMIT + 30
    assert "run: While" in "\n".join(ran(shown))
    (done,) = (line for line in ran(shown) if line.startswith(DONE))
    assert "1503 operators run" in done, "all are counted, the result too"


def test_a_called_function_tells_what_runs_in_it() -> None:
    f = mg.function(lambda v: mg.relu(v * 2) + 1)
    t = mg.tensor([1.0, -2.0], requires_grad=True, name="t")
    inside = [line for line in told(film(f(t).sum())) if line.startswith("inside")]
    assert [line.partition("— ")[2] for line in inside] == [
        "run: Mul = v × 2 = [1, -2] × 2 = [2, -4] | b3",
        "run: ReLU = max(Mul, 0) = max([2, -4], 0) = [2, 0] | b4",
        "run: Add = ReLU + 1 = [2, 0] + 1 = [3, 1] | b6",
    ]


def test_the_formula_is_filled_in_when_the_node_has_run() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    track = film(x * x + 3).tracks["n2"]
    assert track.filled == [(1, "x × x = 2 × 2 = 4")]


def test_both_languages_tell_of_insides() -> None:
    english, chinese = film(loop(1), {"x": 3}).text()
    assert "inside While: body — run: Add" in english
    assert "在 While: 循环体内部——运行：Add" in chinese
    assert "While 开始循环的第 1 步" in chinese
    assert "通过其内部向 x 回传" in chinese


def test_the_end_says_which_operator_gave_nan_of_which_number() -> None:
    film = viz.step(mg.log(mg.tensor([1.0, -2.0], requires_grad=True)).sum()).films[0]
    assert film.frames[-1].caption[0].startswith("Log gave NaN: log(-2). Line: film = ")
    assert "NaN" in film.frames[1].caption[1]
    fine = viz.step(mg.log(mg.tensor([1.0, 2.0], requires_grad=True)).sum()).films[0]
    assert not [f for f in fine.frames if "NaN" in f.caption[0]]


@pytest.mark.parametrize(
    ("formula", "operands", "read"),
    [
        ("exp({0})", ["a + b"], "exp(a + b)"),
        ("{0} × {1}", ["expand(∂)", "x"], "expand(∂) × x"),
        ("{0} × {1}", ["max(a, 0)", "x + 1"], "max(a, 0) × (x + 1)"),
        ("{0} × {1}", ["(a + b) ÷ (c + d)", "x"], "((a + b) ÷ (c + d)) × x"),
        ("[{0} > 0]", ["a + b"], "[(a + b) > 0]"),
        ("[{0}, …]", ["a", "b + 1"], "[a, b + 1]"),
        ("body({0}, …) while test", list("abcdef"), "body(a, b, c, d, …) while test"),
    ],
)
def test_formulas_have_the_parentheses_they_need(
    formula: str, operands: list[str], read: str
) -> None:
    op = replace(elementwise.add, formula=formula)
    assert forward(op, operands, {}) == read


def test_what_a_branch_or_a_loop_is_given_enters_it_and_its_gradient_comes_back_there() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        chosen = mg.build_graph(x, branch(x))
    for graph, value, owner, body, way in (
        (loop(3), 3, "While", "While: body", {"x": "9+9+9", "a": "3", "Mul": "1"}),
        (chosen, 3, "Cond", "Cond: then", {"v": "2", "Mul": "1"}),
        (chosen, -3, "Cond", "Cond: else", {"v": "1", "Sub": "1"}),
    ):
        (film,) = viz.step(graph, {"x": value}).films
        nodes = {n.id: n for n in film.picture.nodes}
        edges = {e.id: e for e in film.picture.edges}
        into = [nodes[e.target].op for e in edges.values() if nodes[e.source].name == "x"]
        assert owner not in into, "no arrow passes its frames"
        (back,) = (frame for frame in film.frames if "x through its insides" in frame.caption[0])
        ways = [(nodes[edges[i].source], nodes[edges[i].target]) for i in back.flows]
        around = [(n.label, m.label) for n, m in ways if "a" in (n.label, m.label)]
        assert around == [("a", "Mul"), ("Mul", "a")] * (owner == "While"), "and round the loop"
        (x, taken), (same, given), (result, whole) = [
            (n, m) for n, m in ways if (n.label, m.label) not in around
        ]
        assert (x.name, taken.group, whole.op) == ("x", body, owner)
        assert (same, given) == (taken, result), "it goes all the way"
        inside = [(n.label, film.tracks[n.id].gradients) for i, n in nodes.items() if i[0] == "b"]
        shown = {label: known[-1][1].short for label, known in inside if known}
        assert shown == way, "and what is on it has a gradient, other arms have none"


def test_an_opened_loop_shows_the_way_back() -> None:
    full = picture(loop(3), bodies=True)
    back = [e for e in full.edges if e.kind == "loop"]
    by_id = {n.id: n for n in full.nodes}
    ends = [(by_id[e.source].op, by_id[e.target].label) for e in back]
    assert ends == [("Add", "i"), ("Mul", "a"), ("Add", "i")]
    groups = [by_id[e.target].group for e in back]
    assert groups == ["While: body"] * 2 + ["While: test"], "the test reads what a round made"
    assert not any(by_id[e.target].inputs for e in back), "it is no operand"
    closed = full.fold()
    assert not [e for e in closed.edges if e.kind == "loop"]
    half = full.fold(["While: test"])
    assert len({(e.source, e.target) for e in half.edges}) == len(half.edges)
    assert "loop" not in {e.kind for e in half.edges}
    svg = render(full, "p")
    assert "mg-edge-label" not in svg, "it is dashed and needs no sign"
    assert svg.count("mg-edge-loop") == 3


def test_a_scan_goes_back_with_what_it_carries_alone() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(3,))
        last, _ = mg.scan(lambda c, v: (c + v, c * v), mg.constant(np.float32(1)), x)
        full = picture(last, bodies=True)
    by_id = {n.id: n for n in full.nodes}
    back = [e for e in full.edges if e.kind == "loop"]
    assert [(by_id[e.source].op, by_id[e.target].label) for e in back] == [("Add", "c")]


def test_a_branch_has_no_way_back() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        full = picture(mg.build_graph(x, branch(x)), bodies=True)
    assert "loop" not in {e.kind for e in full.edges}


def e1_both_ways(x: Any) -> Any:
    return x * x + 3


COUNTED: list[tuple[Any, tuple[Any, ...]]] = [
    (e1_both_ways, (2.0,)),
    (lambda W, b, x: mg.relu(W @ x + b), (np.eye(2), np.ones(2), np.ones(2))),
    (branch, (-3.0,)),
    (lambda x: mg.scan(lambda c, v: (c + v, c * v), 0.0, x)[0], (np.ones(3),)),
    (mg.function(lambda v: mg.relu(v * 2) + 1), ([1.0, -2.0],)),
]


def test_a_loss_beside_pictures_says_no_more_than_they_do() -> None:
    """Where two graphs are side by side, no card of this row tells its kind or its clock."""
    model = mg.nn.Sequential(mg.nn.Linear(3, 4, seed=1), mg.nn.ReLU(), mg.nn.Linear(4, 3, seed=2))
    inputs = np.ones((3, 3), np.float32), np.array([0, 1, 2])
    player = viz.compare(lambda x, labels: mg.cross_entropy(model(x), labels), *inputs)
    together = SideBySide(player.films, player.links)
    for i in range(2):
        shown = view(together, i, "p", ())["svg"]
        assert "mg-value" in shown
        assert not re.search("mg-clock|mg-what", shown)


@pytest.mark.parametrize(("model", "inputs"), COUNTED, ids=["e1", "e5", "branch", "scan", "call"])
def test_the_last_line_the_lanes_and_the_ticks_count_the_same(model: Any, inputs: Any) -> None:
    player = viz.compare(model, *inputs)
    for i, shown in enumerate(player.films):
        last = shown.frames[-1].plain[0]
        lines = "\n".join(f.caption[0] for f in shown.frames)
        staff = player.data["lanes"][i]
        for clock, word in {
            "clock_built": "operators? built",
            "clock_run": "operators? run",
            "clock_gradient": "contributions? passed",
        }.items():
            (said,) = map(int, re.findall(rf"(\d+) {word}", last))
            ticks = re.findall(rf"[\[ ]{clock[6:]} (\d+)[\],]", lines)
            kinds = {clock[6:], "" if clock == "clock_gradient" else "both"}
            marked = [n for n in staff["notes"] if n[2] in kinds and len(n) == 4]
            counted = dict(zip((*CLOCKS, PLANNED), staff["counted"][-1][1:], strict=True))
            assert (
                said == int(ticks[-1]) == counted[clock] == sum(len(n[3].split()) for n in marked)
            )
        (more,) = re.findall(r"(\d+) gradient nodes? built", last) or [None]
        assert int(more or 0) == counted[PLANNED]
        assert more == next(iter(re.findall(r"built: (\d+) gradient nodes", lines)), None)
        assert (more is not None) == (shown.picture.kind == "static")


def test_both_modes_count_the_same_events() -> None:
    """Of x·x + 3 two operators, which are built and run; the input and the constant are neither."""
    for shown, built in zip(viz.compare(e1_both_ways, 2.0).films, (4, 2), strict=True):
        assert f"{built} operators built, " in shown.frames[-1].plain[0]
        assert "4 operators run, " in shown.frames[-1].plain[0]
        labels = {n.id: n.label for n in shown.picture.nodes}
        sorts = {
            (sort, labels[node])
            for f in shown.frames
            for clock, node, sort in f.marks
            if clock != "clock_gradient" and sort != "gradient"
        }
        assert sorts == {("input", "x"), ("operator", "Mul"), ("input", "3"), ("operator", "Add")}


def test_both_modes_end_with_what_sets_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call builds a graph, or all of them run one; a long program is called once."""
    dynamic, static = viz.compare(e1_both_ways, 2.0).films
    assert [film.frames[-1].caption[0] for film in (dynamic, static)] == [
        "2 calls, 4 operators built, 4 run. Each call builds its graph again.",
        "2 calls, 2 operators built, 4 run. One graph, built once and kept.",
    ]
    assert [film.tracks["n2"].freed for film in (dynamic, static)] == [7, None]
    monkeypatch.setattr("viz.views.step.TWICE", 1)
    (long, _) = viz.compare(e1_both_ways, 2.0).films
    assert long.frames[-1].caption[0].startswith("1 call, ")
    assert (static.frames[5].planned, static.frames[7].active) == (4, ("n2",))


def test_a_long_loop_counts_on_where_it_is_not_shown() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        graph = mg.build_graph(x, mg.while_loop(lambda a: a < 400, lambda a: a + 1, x))
    shown = film(graph, {"x": 0}).timed()
    assert "802 operators run" in shown.frames[-1].caption[0]
    assert score_lanes([(shown, "")])[0]["counted"][-1][2] == 802
    last = [f.caption[0] for f in shown.frames if "clock_run" in f.ticks][-1]
    assert last.startswith("[run 802] run: While")


def test_films_side_by_side_say_the_ticks_of_their_clocks() -> None:
    dynamic, static = viz.compare(lambda x: x * x, 2.0).films
    assert [f.caption[0].partition("]")[0] for f in dynamic.frames[1:6]] == [
        "[built 1, run 1",
        "backward starts at the output: ∂Mul/∂Mul = 1",
        "[gradient 1",
        "[gradient 2",
        "freed: x, Mul. Nothing refers to this part of the graph any more.",
    ]
    chain = (
        mg.tanh,
        mg.exp,
        mg.sin,
        mg.cos,
        mg.relu,
        mg.sigmoid,
        mg.softplus,
        mg.log1p,
        mg.sqrt,
        mg.abs,
    )
    long, _ = viz.compare(lambda x: functools.reduce(lambda y, f: f(y), chain, x), 0.5).films
    freed = next(f.caption[0] for f in long.frames if f.caption[0].startswith("freed: x, Tanh"))
    names = freed.removeprefix("freed: ").partition(". ")[0]
    assert (len(names), names[-1]) == (60, "…")
    ticks = [f.caption[0].partition("]")[0] for f in static.frames if f.caption[0][0] == "["]
    assert ticks[:5] == ["[built 1", "[run 1", "[gradient 1", "[gradient 2", "[run 2"]
    assert dynamic.frames[1].caption[1].startswith("[构建 1, 运行 1] ")
    assert not [f for f in film(e5()).frames if f.caption[0][0] == "["], "one alone needs none"


def test_the_first_gradient_that_is_not_finite_is_marked() -> None:
    """The root of zero has an infinite slope, and zero times infinity is no number."""
    x = mg.tensor([0.0, 4.0], requires_grad=True, name="x")
    (film,) = viz.step((mg.sqrt(x * 1) * mg.tensor([0.0, 1.0])).sum()).films
    last = {t: track.gradients[-1][1] for t, track in film.tracks.items() if track.gradients}
    assert sum(summary.bad for summary in last.values()) == 2, "that of x * 1, and that of x"
    assert sum(summary.origin for summary in last.values()) == 1


def test_a_graph_that_ends_in_a_cond_is_called_by_its_formula() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        y = mg.cond(x > 0, lambda v: v * 2, lambda v: v - 1, x)
        player = viz.step(mg.build_graph(x, y), {x: -3})
    said, _ = heading(player.films[0].picture, ("graph", "图"))
    assert said == "graph: y = x × 2 if x > 0 else x − 1"


def test_a_small_loop_is_called_by_its_code_and_rests_open() -> None:
    player = viz.step(loop(3), {"x": 3})
    said, _ = heading(player.films[0].picture, ("graph", "图"))
    assert said == "graph: while i < 3: i, a = i + 1, a × x"
    assert player.films[0].first == {"While: body", "While: test"}
