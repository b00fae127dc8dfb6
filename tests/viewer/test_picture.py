"""Pictures as text: what is drawn, how it is called, in which order, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from examples import branch_and_loop, digits, e1, e2, e5, unrolled

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language
from viz.picture.picture import Picture, brief, number, picture

pytestmark = pytest.mark.usefixtures("english")


def test_e1_dynamic() -> None:
    assert picture(e1()).kind == "dynamic"
    assert picture(e1()).text().splitlines() == [
        "n1: x = tensor ()",
        "n2: Mul(x, x) ()",
        "n3: 3 = Constant ()",
        "n4: Add(Mul, 3) ()  -> output",
    ]


def test_e2_static() -> None:
    assert picture(e2()).kind == "static"
    assert picture(e2()).text().splitlines() == [
        "n1: x = Placeholder ?",
        "n2: Mul(x, x) ?",
        "n3: 3 = Constant ()",
        "n4: Add(Mul, 3) ?  -> output",
    ]
    assert picture(e2().outputs[0]).text() == picture(e2()).text()


def test_e5_first_drawing_of_the_course() -> None:
    assert picture(e5()).text().splitlines() == [
        "n1: W = tensor (2, 2)",
        "n2: x = tensor (2,)",
        "n3: MatMul(W, x) (2,)",
        "n4: b = tensor (2,)",
        "n5: Add(MatMul, b) (2,)",
        "n6: ReLU(Add) (2,)  -> output",
    ]
    kinds = [n.kind for n in picture(e5()).nodes]
    assert kinds == ["input", "input", "operator", "input", "operator", "operator"]


def test_data_is_called_as_in_the_line_that_reads_it() -> None:
    model, images = mg.nn.Linear(2, 3, seed=0), mg.tensor([[1.0, 2.0]], name="images")
    labels = mg.tensor([1])
    loss = mg.cross_entropy(model(images), labels)
    assert {n.name for n in picture(loss).nodes if n.op == "data"} == {"images", "labels"}


def test_what_is_given_is_called_as_its_system_calls_it() -> None:
    """A parameter is what a layer trains, in both modes; a variable is that of TensorFlow 1."""

    def kinds(*ends: Any) -> dict[str, str]:
        return {n.label: n.kind for n in picture([*ends]).nodes if not n.inputs}

    layer = mg.nn.Linear(2, 1, seed=0)
    x = mg.tensor([[1.0, 2.0]], requires_grad=True, name="x")
    with mg.Graph():
        fed, w = mg.placeholder("fed", shape=(1, 2)), mg.Variable([[1.0], [2.0]], name="w")
        static = layer(fed) + fed @ w
    given = {"weight": "parameter", "bias": "parameter"}
    assert kinds(static) == {"fed": "input", "w": "variable", **given}
    assert kinds(x * 2 + layer(mg.tensor([[1.0, 2.0]], name="y"))).items() >= {
        ("x", "input"),
        ("y", "input"),
        *given.items(),
    }


def test_a_diamond_is_drawn_once() -> None:
    a = mg.tensor(1.0, requires_grad=True, name="a")
    b = a * a
    drawn = picture(b + b)
    assert drawn.text().splitlines()[1:] == ["n2: Mul(a, a) ()", "n3: Add(Mul, Mul) ()  -> output"]
    assert [(e.id, e.source, e.target, e.index) for e in drawn.edges] == [
        ("e1", "n1", "n2", 0),
        ("e2", "n1", "n2", 1),
        ("e3", "n2", "n3", 0),
        ("e4", "n2", "n3", 1),
    ]


@pytest.mark.parametrize(("way", "rows"), [(0, "4"), (1, "None")], ids=["dynamic", "static"])
def test_the_digits_model_folds_to_its_layers(way: int, rows: str) -> None:
    folded = picture(digits()[way]).fold()
    by_name = sorted(line.partition(": ")[2] for line in folded.text().splitlines())
    assert [line for line in by_name if "group" in line] == [
        f"linear1 = group(image) ({rows}, 32)",
        f"linear2 = group(relu1) ({rows}, 10)",
        "loss = group(linear2, label) ()  -> output",
        f"relu1 = group(linear1) ({rows}, 32)",
    ]
    assert [n.id for n in folded.nodes if n.kind == "group"] == ["g1", "g2", "g3", "g4"]
    assert [e.id for e in folded.edges] == [f"f{i}" for i in range(1, 6)]


@pytest.mark.parametrize("way", [0, 1], ids=["dynamic", "static"])
def test_folding_loses_no_node(way: int) -> None:
    full = picture(digits()[way])
    folded = full.fold()
    members = [i for n in folded.nodes for i in (n.members or (n.id,))]
    assert sorted(members) == sorted(n.id for n in full.nodes)
    ids = {n.id for n in folded.nodes}
    assert set(folded.ids.values()) <= ids
    assert set(folded.ids) == set(full.ids)
    assert {x for e in folded.edges for x in (e.source, e.target)} <= ids
    assert full.groups == ("linear1", "relu1", "linear2", "loss")


def test_a_picture_without_groups_is_not_folded() -> None:
    drawn = picture(e1())
    assert drawn.fold() is drawn


def test_groups_that_feed_each_other_still_fold() -> None:
    x = mg.tensor(1.0, requires_grad=True, name="x")
    with mg.name_scope("a"):
        first = x * 2
    with mg.name_scope("b"):
        second = first * 3
    with mg.name_scope("a"):
        last = second * first
    assert {n.name for n in picture(last).fold().nodes} == {"a", "b"}


def test_ids_are_stable() -> None:
    assert picture(e1()).nodes[0].id == picture(e1(5.0)).nodes[0].id == "n1"
    once, again = picture(digits()[0]), picture(digits()[0])
    assert [n.id for n in once.nodes] == [f"n{i}" for i in range(1, len(once.nodes) + 1)]
    assert (once.text(), once.edges) == (again.text(), again.edges)


def sum_gradient(x: Any) -> Any:
    """A gradient that repeats a number to the shape of `x`, whose own numbers it does not read."""
    total = x.sum()
    if isinstance(x, mg.Node):
        return mg.gradients(total * total, [x])[0]
    return mg.grad(total * total, x, create_graph=True)


@pytest.mark.parametrize("way", ["dynamic", "static"])
def test_an_edge_of_which_only_the_shape_is_read_is_another_kind(way: str) -> None:
    with mg.Graph():
        leaf = mg.tensor(np.ones((2, 3)), requires_grad=True)
        x = leaf if way == "dynamic" else mg.placeholder("x", shape=(2, 3))
        drawn = picture(sum_gradient(x))
    engine = {i: node for node, i in drawn.ids.items()}
    boxes = {n.id: n for n in drawn.nodes}
    for edge in drawn.edges:
        shape_only = edge.index in engine[edge.target].op.shape_only
        assert edge.kind == ("control" if shape_only else "forward")
        assert edge.shape == boxes[edge.source].shape
    assert {edge.kind for edge in drawn.edges} == {"control", "forward"}


def test_leaves_are_called_as_the_caller_calls_them() -> None:
    height = mg.tensor(2.0, requires_grad=True)
    area = height * height
    assert str(viz.draw(area)).splitlines() == [
        "n1: height = tensor ()",
        "n2: area = Mul(height, height) ()  -> output",
    ]
    assert picture(area, {id(height): "h"}).nodes[0].label == "h"
    assert picture(area).nodes[0].label == "height", "as the line that reads it calls it"
    assert picture(mg.tensor(2.0, requires_grad=True) * 2).nodes[0].label == "tensor"
    with mg.Graph():
        width = mg.placeholder()
        twice = width * 2
        assert "n1: width = Placeholder ?" in str(viz.draw(twice))
        assert "twice = Mul(width, 2)" in str(viz.draw(twice))
        own = mg.placeholder("given")
        assert "n1: given = Placeholder" in str(viz.draw(own * 2)), "its own name comes first"


def test_private_variables_give_no_names() -> None:
    _hidden = mg.tensor(2.0, requires_grad=True)
    assert "_hidden" not in str(viz.draw(_hidden * 1))


def test_a_leaf_alone_and_an_empty_graph() -> None:
    assert picture(mg.tensor([1.0], name="x")).text() == "n1: x = tensor (1,)"
    empty = picture(mg.Graph())
    assert (empty.nodes, empty.edges, empty.text()) == ((), (), "")
    assert "Nothing to draw" in empty.alt()[0]
    assert "没有可画的内容" in empty.alt()[1]
    assert isinstance(empty.fold(), Picture)


def test_several_outputs() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    text = picture([x * 2, x * 3]).text()
    assert text.count("-> output") == 2
    assert text.count("x = tensor") == 1


def test_a_tape_that_was_freed_is_still_drawn() -> None:
    y = e1()
    before = picture(y).text()
    y.backward()
    assert picture(y).text() == before


@pytest.mark.parametrize("thing", ["abc", 3, None, [], [1], object(), np.ones(3), {}, ()])
def test_other_things_are_refused_in_both_languages(thing: Any) -> None:
    for language, words in (("en", "viz cannot draw"), ("zh", "viz 无法绘制")):
        set_language(language)
        with pytest.raises(TypeError, match=words):
            viz.draw(thing)


def test_tensors_and_nodes_are_not_mixed() -> None:
    with mg.Graph(), pytest.raises(TypeError, match="cannot draw"):
        viz.draw([e1(), mg.placeholder("x")])


def test_a_message_stays_short() -> None:
    assert len(brief("x" * 1000)) == 80
    assert brief(3) == "int 3"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (3.0, "3"),
        (2, "2"),
        (True, "True"),
        (1 / 3, "0.3333"),
        (1e-12, "1e-12"),
        (float("nan"), "NaN"),
        ([1.0, -2.5], "[1, -2.5]"),
        ([1, 2, 3, 4], "…"),
        (np.ones((2, 2)), "…"),
        ([[7]], "7"),
    ],
)
def test_numbers_in_a_box(value: Any, written: str) -> None:
    assert number(value) == written


def test_alternative_text_counts_and_names_both_ends() -> None:
    english, chinese = picture(e1()).alt()
    assert english.endswith("4 nodes, 4 edges. From x to Add.")
    assert english.startswith("Dynamic graph")
    assert chinese.endswith("4 个节点，4 条边。从 x 到 Add。")
    assert picture(e2()).alt()[0].startswith("Static graph")


# ---- Groups in groups, and the insides of nodes -----------------------------------------------


def nested() -> mg.Tensor:
    """Two blocks of two layers each."""
    y = mg.tensor(1.0, requires_grad=True)
    for block in "ab":
        for layer in "pq":
            with mg.name_scope(block), mg.name_scope(layer):
                y = y * 2
    return y


def boxes(drawn: Picture) -> list[str]:
    return [f"{n.group}/{n.label}".lstrip("/") for n in drawn.nodes]


def test_groups_fold_from_the_outside_and_open_one_by_one() -> None:
    whole = picture(nested())
    assert whole.groups == ("a", "a/p", "a/q", "b", "b/p", "b/q")
    assert boxes(whole.fold()) == ["y", "a", "b"]
    assert boxes(whole.fold({"a"})) == ["y", "a/p", "a/q", "b"]
    assert boxes(whole.fold({"a", "a/q"})) == ["y", "a/p", "a/q/2", "a/q/Mul", "b"]
    assert whole.fold(whole.groups) is whole
    assert [n.members for n in whole.fold({"a"}).nodes] == [
        (),
        ("n2", "n3"),
        ("n4", "n5"),
        ("n6", "n7", "n8", "n9"),
    ]


def test_the_first_drawing_opens_whole_levels_but_the_last() -> None:
    assert picture(nested()).overview() == {"a", "b"}
    assert picture(digits()[0]).overview() == frozenset()
    y = mg.tensor(1.0, requires_grad=True)
    for i in range(30):
        with mg.name_scope("block"), mg.name_scope(f"layer{i}"):
            y = y * 2 if i.bit_count() % 2 else y + 2  # nothing repeats
    assert picture(y).overview() == frozenset(), "thirty boxes are too many"


def test_each_call_of_a_layer_is_a_group_beside_what_the_calls_share() -> None:
    drawn = picture(unrolled(3)).fold()
    calls = [n for n in drawn.nodes if n.name.startswith("rnncell (")]
    assert [n.name for n in calls] == ["rnncell (1)", "rnncell (2)", "rnncell (3)"]
    assert [len(n.members) for n in calls] == [6, 6, 6], "each with its own operators"
    (shared,) = (n for n in drawn.nodes if n.name == "rnncell.parameters")
    assert (len(shared.members), shared.given) == (4, True)
    assert all(shared.id in n.inputs for n in calls)
    assert "rnncell" in picture(unrolled(1)).groups, "one call is the layer"
    both = viz.draw(unrolled(3), fold=True, opened=["rnncell"]).picture.groups
    assert both == ("rnncell (1)", "rnncell (2)", "rnncell (3)"), "its name opens all its calls"


def test_many_calls_are_a_strip_between_the_first_and_the_last() -> None:
    whole = picture(unrolled(20))
    drawn = whole.fold(whole.overview())
    assert [n.label for n in drawn.nodes if not n.given] == [
        *("rnncell (1)", "rnncell × 18", "rnncell (20)", "Sum")
    ]
    assert [n.label for n in drawn.nodes if n.given] == ["x0", "rnncell.parameters", "h", "x19"]
    (strip,) = (n for n in drawn.nodes if n.cells)
    assert [len(cell) for cell in strip.cells] == [6] * 18, "without the inputs, which came along"
    opened = whole.fold({"rnncell × 18"})
    inside = [n.label for n in opened.nodes if n.group == "rnncell × 18"]
    assert [name for name in inside if name[0] == "r"] == [f"rnncell ({t})" for t in range(2, 20)]
    assert [name for name in inside if name[0] == "x"] == [f"x{t}" for t in range(1, 19)]
    hundred = picture(unrolled(102)).fold()
    assert max(len(n.cells) for n in hundred.nodes) <= 24, "some calls that follow each other"


def test_layers_that_differ_are_no_strip_and_neither_are_a_few() -> None:
    y = mg.ones((1, 2), requires_grad=True)
    for i in range(8):
        with mg.name_scope(f"layer{i}"):
            for _ in range(max(i - 3, 1)):
                y = mg.tanh(y)
    assert [*picture(y).groups] == [f"layer{i}" for i in range(8)]


def test_arrows_between_nodes_that_are_drawn_keep_their_ids() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    with mg.name_scope("a"):
        y = (x * x) * 2
    folded = picture((y + x) * y).fold()
    assert [(e.id, e.source, e.target) for e in folded.edges] == [
        ("f1", "n1", "g1"),
        ("f2", "g1", "n5"),
        ("e6", "n1", "n5"),
        ("e7", "n5", "n6"),
        ("f3", "g1", "n6"),
    ]


def test_the_insides_of_branches_and_loops_are_groups_of_their_node() -> None:
    whole = picture(branch_and_loop(), bodies=True)
    assert whole.owners == {
        "Cond: then": "n4",
        "Cond: else": "n4",
        "While: test": "n6",
        "While: body": "n6",
    }
    opened = whole.fold({"Cond: else"})
    assert [line for line in opened.text().splitlines() if "Cond: else" in line] == [
        "b4: v = Placeholder(x) ()  [Cond: else]",
        "b5: 1 = Constant ()  [Cond: else]",
        "b6: Sub(v, 1) ()  [Cond: else]",
    ]
    ends = {(e.source, e.target) for e in opened.edges}
    assert {("n1", "b4"), ("b4", "b6"), ("b6", "n4")} <= ends


def test_folded_insides_leave_the_picture_as_it_is_without_them() -> None:
    plain, whole = picture(branch_and_loop()), picture(branch_and_loop(), bodies=True)
    assert whole.fold().text() == plain.text()
    ends = [{(e.source, e.target) for e in drawn.edges} for drawn in (whole.fold(), plain)]
    assert ends[0] == ends[1]
    (cond,) = (n for n in whole.fold().nodes if n.op == "Cond")
    assert cond.members == ("n4", "b1", "b2", "b3", "b4", "b5", "b6")


def test_two_branches_of_one_name_are_told_apart() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        for _ in range(2):
            x = mg.cond(x > 0, lambda v: v * 2, lambda v: v - 1, x)
    owners = picture(x, bodies=True).owners
    assert len(owners) == 4
    assert len(set(owners.values())) == 2


def test_the_inside_of_a_function_and_of_a_branch_in_a_branch() -> None:
    f = mg.function(lambda v: mg.relu(v * 2) + 1)
    z = f(mg.tensor([1.0, -2.0], requires_grad=True)).sum()
    inside = [n.op for n in picture(z, bodies=True).nodes if n.id[0] == "b"]
    assert inside == ["Placeholder", "Constant", "Mul", "ReLU", "Constant", "Add"]
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        y = mg.cond(
            x > 0, lambda v: mg.cond(v > 1, lambda w: w * 2, lambda w: w, v), lambda v: v, x
        )
    whole = picture(y, bodies=True)
    assert "Cond: then/Cond: then" in whole.groups
    assert whole.fold().text() == picture(y).text()
    assert whole.fold({"Cond: then"}).owners == {"Cond: then": whole.ids[y]}


def test_what_flows_has_a_type() -> None:
    whole = picture(digits()[1])
    assert {n.dtype for n in whole.nodes} == {"float32", "int64"}
    kinds = {n.id: n.dtype for n in whole.nodes}
    assert all(e.dtype == kinds[e.source] for e in whole.edges)


def test_what_only_has_to_run_before_is_a_dotted_arrow() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        with mg.control_dependencies([mg.Assert(x > 0, "x must be positive")]):
            y = x * 2
    drawn = picture(y)
    assert [(e.source, e.target) for e in drawn.edges if e.kind == "control"] == [("n4", "n6")]
    assert drawn.text().splitlines()[-1] == "n6: Mul(x, 2) ()  -> output"


def test_a_body_shows_only_what_it_reads() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        _, y = mg.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, mg.constant(1.0)))
    inside = [n for n in picture(y, bodies=True).nodes if n.kind == "input" and n.group]
    assert [(n.group, n.label) for n in inside] == [
        ("While: test", "i"),
        ("While: body", "i"),
        ("While: body", "a"),
        ("While: body", "x"),
    ]
