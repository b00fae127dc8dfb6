"""The static graph: building runs nothing, text and hash are stable, broken graphs are refused."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import viz
from minigrad.core import Dim, Spec, float32, float64, int64

pytestmark = pytest.mark.usefixtures("own_graph")


def quadratic() -> mg.Graph:
    x = mg.placeholder("x")
    return mg.build_graph(x, x * x + 3)


def test_example_e2() -> None:
    """Built once, run for 2 and for 3: 7 and 12; nothing runs while it is built."""
    with mg.record() as log:
        graph = quadratic()
    assert (log.counts.built, log.counts.run) == (4, 0)
    before = graph.hash()
    with mg.record() as log:
        assert mg.run(graph, feed_dict={"x": 2}) == 7
        assert mg.run(graph, feed_dict={graph.inputs[0]: 3}) == 12
    assert (log.counts.built, log.counts.run) == (0, 4)
    assert graph.hash() == before


def test_what_a_node_tells() -> None:
    x = mg.placeholder("x", shape=(None, 784))
    y = x @ mg.Variable(np.zeros((784, 10)), name="W")
    assert (y.shape, y.ndim, y.dtype) == ((None, 10), 2, float64)
    assert repr(y) == str(y) == "<Node MatMul: float64 (None, 10), no value>"
    assert repr(mg.placeholder("z")) == "<Node z = Placeholder: float32 ?, no value>"
    assert mg.placeholder().shape is None
    assert {y: 1}[y] == 1


def test_shapes_and_types_are_inferred_while_building() -> None:
    x = mg.placeholder("x", shape=(None, 3))
    flat = mg.placeholder("i", shape=(4,), dtype=int64)
    table: list[tuple[Any, Any, Any]] = [
        (x.sum(), (), float32),
        (x.sum(axis=0), (3,), float32),
        (x.mean(axis=1, keepdims=True), (None, 1), float32),
        (x.T, (3, None), float32),
        (x.reshape(-1), (None,), float32),
        (x.reshape(-1, 3, 1), (None, 3, 1), float32),
        (x > 0, (None, 3), np.bool_),
        (x.argmax(axis=1), (None,), int64),
        (flat.sum(), (), int64),
        (flat.mean(), (), float32),
        (x.astype(float64), (None, 3), float64),
        (x + np.ones((5, 3), np.float32), (5, 3), float32),
    ]
    for node, shape, dtype in table:
        assert (node.shape, node.dtype) == (shape, dtype), node


def test_names_are_as_written_and_scopes_nest(own_graph: mg.Graph) -> None:
    a, b, c = mg.placeholder("x"), mg.placeholder("x"), mg.placeholder("x_1")
    with mg.name_scope("encoder"):
        d = mg.placeholder("x")
        with mg.name_scope("layer"):
            e = mg.placeholder("x")
    names = [n.name for n in (a, b, c, d, e)]
    assert names == ["x", "x", "x_1", "encoder/x", "encoder/layer/x"]
    assert [own_graph.labels[n] for n in (a, b, c, d, e)] == ["x_2", *names[1:]]
    assert e.scope == "encoder/layer"
    assert (own_graph["x"], own_graph["x_2"]) == (b, a)
    unnamed = [mg.placeholder(), mg.placeholder(), mg.Variable(1.0), mg.Variable(1.0)]
    assert [n.name for n in unnamed] == ["Placeholder", "Placeholder_1", "Variable", "Variable_1"]
    assert (b * b).name == "Mul", "operators are numbered as they come"
    assert (b * b).name == "Mul_1"
    assert own_graph["encoder/x"] is d
    with pytest.raises(mg.GraphError, match="no node named y"):
        own_graph["y"]


def cell(fetch: str = "y") -> tuple[mg.Node, mg.Node, mg.Node, mg.Graph]:
    """What a cell of a lesson builds, each time that it runs."""
    x, w = mg.placeholder("x", ()), mg.Variable(3.0, name="w")
    return x, w, x * w, mg.build_graph(x, x * w)


def test_a_cell_that_ran_again_shows_the_names_that_it_says(own_graph: mg.Graph) -> None:
    runs = [cell() for _ in range(20)]
    texts = {graph.text() for *_, graph in runs}
    assert len(texts) == 1
    assert 'Placeholder "x"' in texts.pop()
    x, w, y, graph = runs[-1]
    assert (x.name, w.name) == ("x", "w")
    assert own_graph["x"] is x
    assert own_graph["w"] is w
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        assert session.run([y, "w"], {"x": 2}) == [6, 3]
        for *_, older in runs:
            assert session.run(older.outputs[0], {older.inputs[0]: 2}) == 6
    drawn = str(viz.draw(graph))
    assert "n1: x = Placeholder" in drawn
    assert "n2: w = Variable" in drawn
    for _, _, _, older in runs:
        program = older.compile()
        assert program.graph.inputs[0].name == "x"
        assert program({"x": np.float32(2)}) == 6 or program.variables


def test_an_older_one_fed_by_name_is_refused() -> None:
    old, _, y, _ = cell()
    new, _, _, _ = cell()
    for graph in (None, mg.build_graph([old, new], y + new)):
        session = mg.Session(graph)
        for key in ("x", new):
            with pytest.raises(mg.NotFedError) as caught:
                session.run(y, {key: 2})
            for half in caught.value.pair:
                assert half.count("test_graph.py") >= 3, "both placeholders, and the run"
    both = mg.build_graph([old, new], old - new)
    for run in (lambda feeds: mg.run(both, feeds), both.compile()):
        assert run({old: np.float32(5), "x": np.float32(2)}) == 3
        assert run({old: np.ones(1)[0], new: np.float32(2)}) == -1
        with pytest.raises(mg.FeedError, match="x_1: so an older placeholder named x is called"):
            run({"x_1": 5, "x": 2})


def test_of_one_name_in_one_graph_each_node_has_its_own(tmp_path: Any) -> None:
    a, b = mg.placeholder("x", ()), mg.placeholder("x", ())
    v, w = mg.Variable(1.0, name="w"), mg.Variable(2.0, name="w")
    graph = mg.build_graph([a, b], (a - b) * v - w)
    labels = [graph.labels[n] for n in (a, b, v, w)]
    assert labels == ["x_1", "x", "w_1", "w"]
    assert graph.text().splitlines()[:4] == [
        '%0 = Placeholder "x_1" : float32[]',
        '%1 = Placeholder "x" : float32[]',
        '%2 = Variable "w_1" 1.0 : float32[]',
        '%3 = Variable "w" 2.0 : float32[]',
    ]
    for name in ("x_1", "x", "w_1", "w"):
        assert f"{name} = " in str(viz.draw(graph))
    graph.save(tmp_path / "g")
    loaded = mg.load_graph(tmp_path / "g")
    assert loaded.text() == graph.text()
    feeds = {a: np.float32(7), b: np.float32(2)}
    for each in (graph, graph.optimize(), graph.replace({}), graph.reordered(graph.nodes)):
        assert each.text().splitlines()[0] == graph.text().splitlines()[0]
        assert each.compile(optimize=False)(feeds) == 3
        script = each.compile(optimize=False).load_source()
        (y,) = script({"x_1": feeds[a], "x": feeds[b]}, {"w_1": np.float32(1), "w": np.float32(2)})
        assert y == 3
    with mg.Session(loaded) as session:
        session.run(mg.global_variables_initializer())
        assert session.run(loaded.outputs[0], {"x_1": 7, "x": 2}) == 3
    assert "equal, bit for bit" in str(viz.passes(graph))


def test_the_text_is_canonical() -> None:
    x = mg.placeholder("x", shape=(None, 2))
    w = mg.Variable(np.arange(20, dtype=np.float32).reshape(2, 10), name="W")
    y = mg.softmax(mg.matmul(x, w), axis=-1).reshape(-1, 5)
    assert mg.build_graph(x, [y, w]).text() == (
        '%0 = Placeholder "x" : float32[None, 2]\n'
        '%1 = Variable "W" #e8f41b3baa7b : float32[2, 10]\n'
        "%2 = MatMul(%0, %1) : float32[None, 10]\n"
        "%3 = Softmax(%2, axis=-1) : float32[None, 10]\n"
        "%4 = Reshape(%3, shape=(-1, 5)) : float32[None, 5]\n"
        "return %4, %1"
    )


def test_the_hash_is_that_of_the_structure() -> None:
    def build(
        name: str = "x", shape: Any = (None,), number: float = 3.0, swap: bool = False
    ) -> str:
        with mg.Graph():
            mg.placeholder("unused")  # other nodes of the graph do not count
            x = mg.placeholder(name, shape=shape)
            y = number + x if swap else x + number
            return mg.build_graph(x, y).hash()

    assert build() == build() == build("z")
    x = mg.placeholder("x", shape=())
    loops = [mg.while_loop(lambda y: y < 9, lambda y: 2 * y, x) for _ in range(2)]
    assert len({mg.build_graph(x, y).hash() for y in loops}) == 1, "nor do names inside of bodies"
    variants = [build(), build(shape=(3,)), build(number=4.0), build(swap=True)]
    assert len(set(variants)) == len(variants)
    assert quadratic().hash() == "f2912073bd4afe4c", "the same on every machine"


# ---- Building -------------------------------------------------------------------------------


def test_build_graph_takes_what_leads_to_the_outputs(own_graph: mg.Graph) -> None:
    x = mg.placeholder("x")
    y = x + 1
    mg.exp(y)
    graph = mg.build_graph(x, y)
    assert [n.op.name for n in graph.nodes] == ["Placeholder", "Constant", "Add"]
    assert (graph.inputs, graph.single, graph.frozen) == ((x,), True, True)
    assert repr(graph) == "<Graph: 3 nodes, 1 outputs, frozen>"
    assert len(own_graph.nodes) == 4
    assert not own_graph.frozen, "the graph that was built in stays open"
    assert mg.build_graph(None, y).inputs[0] is x, "inputs are found when none are named"


def test_nodes_come_in_an_order_in_which_they_can_be_computed() -> None:
    x = mg.placeholder("x")
    left, right = x * 2, x * 3
    graph = mg.build_graph(x, [right + left, left])
    place = {n: i for i, n in enumerate(graph.nodes)}
    assert all(place[i] < place[n] for n in graph.nodes for i in n.inputs)
    graph.verify()


def test_a_tensor_enters_a_graph_once(own_graph: mg.Graph) -> None:
    w = mg.tensor([1.0, 2.0], requires_grad=True, name="w")
    c = mg.tensor([5.0, 5.0])
    x = mg.placeholder("x", shape=(2,))
    y = x * w + x * w + c
    assert [v.name for v in own_graph.variables] == ["w"]
    assert len([n for n in own_graph.nodes if n.op.name == "Constant"]) == 1
    (dw,) = mg.gradients(y.sum(), [w])
    assert dw is not None


def test_the_default_graph_is_that_of_the_innermost_block(own_graph: mg.Graph) -> None:
    assert mg.get_default_graph() is own_graph
    with mg.Graph() as inner:
        assert mg.get_default_graph() is inner
        assert mg.placeholder().graph is inner
    with pytest.raises(ZeroDivisionError), mg.Graph():
        1 / 0  # noqa: B018
    assert mg.get_default_graph() is own_graph


def test_each_thread_has_its_own_default_graph(own_graph: mg.Graph) -> None:
    found: list[mg.Graph] = []
    thread = threading.Thread(target=lambda: found.append(mg.get_default_graph()))
    thread.start()
    thread.join()
    assert found[0] is not own_graph


def test_reset_leaves_old_nodes_usable() -> None:
    stack: list[Any] = []

    def elsewhere() -> None:  # in a thread there is no block around, so the default one is meant
        x = mg.placeholder("x")
        mg.reset_default_graph()
        stack.append(
            (x.graph is not mg.get_default_graph(), mg.run(mg.build_graph(x, x + 1), {x: 1}))
        )

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert stack == [(True, 2)]


def test_operators_build_where_their_operands_are() -> None:
    with mg.Graph() as other:
        x = mg.placeholder("x")
    assert (x + 1).graph is other
    with pytest.raises(mg.GraphError, match="belongs to another graph"):
        x + mg.placeholder("y")


# ---- Frozen, broken, cyclic -----------------------------------------------------------------


def test_a_frozen_graph_takes_no_more(own_graph: mg.Graph) -> None:
    x = mg.placeholder("x")
    assert own_graph.freeze() is own_graph
    for add in (lambda: x + 1, lambda: mg.placeholder("y"), lambda: mg.Variable(1.0)):
        with pytest.raises(mg.FrozenGraphError, match="frozen"):
            add()
    assert len(own_graph.nodes) == 1


def test_nothing_is_added_by_an_operation_that_fails(own_graph: mg.Graph) -> None:
    x, y = mg.placeholder("x", shape=(2,)), mg.placeholder("y", shape=(3,))
    with pytest.raises(mg.ShapeError):
        x + y
    assert own_graph.nodes == (x, y)
    assert (x + 1).name == "Add", "the name was not used up"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (Spec((3,), float32), r"it claims float32\[3\], the operator gives float32\[2\]"),
        (Spec((2,), float64), "it claims float64"),
        (Spec((Dim(),), float32), r"it claims float32\[None\]"),
    ],
)
def test_verify_names_the_node_whose_record_is_wrong(spec: Spec, reason: str) -> None:
    x = mg.placeholder("x", shape=(2,))
    graph = mg.build_graph(x, mg.exp(x * x))
    assert graph.verify() is graph
    graph["Mul"].spec = spec
    with pytest.raises(mg.VerifyError, match=rf"node Mul: {reason}"):
        graph.verify()


def test_verify_finds_nodes_in_the_wrong_order() -> None:
    x = mg.placeholder("x", shape=(2,))
    graph = mg.build_graph(x, mg.exp(x * x))
    graph._nodes.reverse()
    with pytest.raises(mg.VerifyError, match="operand Mul does not come before it"):
        graph.verify()


def test_replace_makes_a_new_graph() -> None:
    x, y = mg.placeholder("x"), mg.placeholder("y")
    graph = mg.build_graph([x, y], x * y)
    squared = graph.replace({y: x})
    assert mg.run(squared, {"x": 5}) == 25
    assert mg.run(graph, {x: 5, y: 2}) == 10
    assert squared.inputs == squared.placeholders
    squared.verify()


def test_replace_keeps_inputs_that_are_not_needed_and_adds_new_ones() -> None:
    x, y, z = (mg.placeholder(name, ()) for name in "xyz")
    middle = x * y
    graph = mg.build_graph([x, y], middle + x)
    plain = graph.replace({middle: mg.constant(3.0)})
    assert [n.name for n in plain.inputs] == ["x", "y"]
    assert mg.run(plain, {"x": 1.0, "y": 7.0}) == 4.0
    other = graph.replace({middle: z})
    assert [n.name for n in other.inputs] == ["x", "y", "z"]
    assert mg.run(other, {"x": 1.0, "y": 7.0, "z": 5.0}) == 6.0


def test_placeholders_of_a_graph_feed_those_made_of_it() -> None:
    with mg.Graph():
        x = mg.placeholder("x", ())
        middle = x * x
        graph = mg.build_graph(x, middle + 1)
        tripled = graph.replace({middle: x * 3})
    for other, expected in ((tripled, 7.0), (graph.reordered(graph.nodes), 5.0)):
        assert mg.run(other, {x: 2.0}) == mg.run(other, {"x": 2.0}) == expected
        assert other.compile()({x: np.float32(2)}) == expected
        assert [n is x for n in other.inputs] == [True]


def test_replace_changes_no_placeholder_that_waits_for_something() -> None:
    with mg.Graph():
        a, b = mg.constant(1.0), mg.constant(2.0)
        with mg.control_dependencies([a]):
            x = mg.placeholder("x", ())
        graph = mg.build_graph(x, x + 1)
        other = graph.replace({a: b})
    assert [n.name for n in other.inputs[0].controls] == [b.name]
    assert [n is a for n in x.controls] == [True]
    assert mg.run(other, {"x": 2.0}) == 3.0


def test_what_nothing_needs_may_be_fed_as_well() -> None:
    with mg.Graph(), mg.Session() as session:
        x, unused = mg.placeholder("x", ()), mg.placeholder("unused", ())
        y = x + 1
        graph = mg.build_graph(x, y)
        feeds = {x: 2.0, unused: 1.0}
        assert session.run(y, feeds) == mg.run(graph, feeds) == graph.compile()(feeds) == 3.0
        assert mg.run(mg.build_graph(None, mg.constant(4.0)), feeds) == 4.0


def test_replace_keeps_what_has_an_effect(capsys: pytest.CaptureFixture[str]) -> None:
    @mg.function
    def f(x: Any) -> Any:
        mg.Print(x * 2, "twice")
        return x + 1

    f(mg.tensor(3.0))
    traced = f.graph
    capsys.readouterr()
    (plus,) = (n for n in traced.nodes if n.op.name == "Add")
    with mg.Graph():
        changed = traced.replace({plus: mg.constant(5.0)})
    assert [n.op.name for n in changed.effects] == ["Print"]


def test_the_name_of_a_copied_node_is_taken() -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x")
        tanh = mg.tanh(x)
    with mg.Graph() as other:
        copies = other.add_copy(x, ()), other.add_copy(tanh, (x,))
        newer = mg.placeholder("x")
        assert [other.labels[n] for n in (*copies, newer)] == ["x_1", "Tanh", "x"]
        assert mg.tanh(newer).name == "Tanh_1"
    assert graph["x"] is x


def test_a_cycle_is_named() -> None:
    x = mg.placeholder("x")
    a = mg.exp(x)
    b = mg.tanh(a)
    graph = mg.build_graph(x, b)
    with pytest.raises(mg.CycleError, match="cycle: Tanh → Exp → Tanh"):
        graph.replace({x: b})
    assert mg.run(graph, {x: 0}) == np.tanh(np.float32(1)), "the graph itself is as it was"


# ---- Assignments, depth ---------------------------------------------------------------------


def test_an_assignment_is_a_node(own_graph: mg.Graph) -> None:
    w = mg.Variable([1.0, 2.0], name="w")
    node = mg.assign(w, w * 2)
    assert (node.op.name, node.shape, node.dtype) == ("Assign", (2,), float32)
    assert mg.assign(w, [3, 4]).dtype == float32, "the value takes the variable's type"
    assert mg.assign(w, mg.placeholder("any")).shape == (2,)
    assert mg.group(node).op.name == "Group"
    assert own_graph.variables == (w,)


def test_a_variable_of_its_own_type() -> None:
    assert mg.Variable(np.ones(2)).dtype == float64
    assert mg.Variable(np.ones(2), dtype=float32).dtype == float32
    assert mg.Variable(mg.tensor([1, 2])).dtype == int64


def test_1_200_nodes_need_no_recursion() -> None:
    graph = mg.Graph()
    with graph:
        x = mg.placeholder("x", shape=(), dtype=float64)
        y = x
        for _ in range(600):
            y = y * 1.0 + x
        built = mg.build_graph(x, [y, mg.gradients(y, x)[0]])
        assert mg.run(built, {x: 2}) == [1_202, 601]
        assert len(built.verify().text().splitlines()) == len(built.nodes) + 1
        assert len(built.replace({}).nodes) == len(built.nodes)
    node = weakref.ref(y)
    del graph, built, x, y
    gc.collect()  # nodes and their graph refer to each other
    assert node() is None


# ---- Nodes that are added as they are, and those that are not -----------------------------------


def test_nodes_that_need_no_conversion_follow_all_rules_nonetheless() -> None:
    x, y = mg.placeholder("x", ()), mg.placeholder("y", ())
    assert mg.gradients(x * y, x)[0] is not None
    with mg.no_grad():
        still = x * y
    assert mg.gradients(still, x)[0] is None
    slope = mg.gradients(still + x * y, y)[0]
    assert mg.run(mg.build_graph([x, y], slope), {x: 3.0, y: 5.0}) == 3.0, "built outside"
    double = mg.placeholder("d", (), mg.float64)
    assert (x * double).dtype == (double * x).dtype == mg.float64
    whole = mg.placeholder("n", (), mg.int64)
    for node in (mg.exp(whole), whole / whole, x * whole, whole * x):
        value = mg.run(mg.build_graph([x, whole], node), {x: 1.0, whole: 2})
        assert node.dtype == value.dtype == mg.float32, "what is promised is what comes"
    assert (whole * whole).dtype == mg.int64
    with mg.Graph():
        far = mg.placeholder("far", ())
    for a, b in ((x, far), (far, x)):
        with pytest.raises(mg.GraphError, match="graph"):
            a * b


def test_nodes_from_around_a_branch_become_captures_even_beside_their_like() -> None:
    x, y = mg.placeholder("x", ()), mg.placeholder("y", ())
    kept: list[mg.Node] = []

    def branch() -> mg.Node:
        kept.append(x * y)
        return kept[0] * kept[0]

    z = mg.cond(x > 0, branch, lambda: x)
    assert mg.run(mg.build_graph([x, y], z), {"x": 2.0, "y": 3.0}) == 36.0
    with pytest.raises(mg.TraceError, match="Mul"):
        kept[0] * kept[0]


def test_a_node_from_inside_a_branch_is_refused_outside_of_any_graph() -> None:
    x, kept, found = mg.placeholder("x", ()), [], []
    mg.cond(x > 0, lambda: kept.append(x * 2) or kept[0], lambda: x)

    def use() -> None:  # in a thread of its own, where no `with graph:` is open
        try:
            kept[0] * kept[0]
        except mg.GraphError as error:
            found.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert isinstance(found[0], mg.TraceError), "it belongs to the branch; not: it is frozen"


# ---- Orders ------------------------------------------------------------------------------------


def diamond() -> mg.Graph:
    with mg.Graph():
        a = mg.placeholder("a")
        return mg.build_graph(a, mg.sin(a) + mg.cos(a))


def test_a_chain_has_one_order_and_a_diamond_two() -> None:
    with mg.Graph():
        x = mg.placeholder("x")
        chain = mg.build_graph(x, mg.sin(mg.tanh(mg.exp(x))))
    assert list(chain.orders()) == [chain.nodes]
    names = [[str(n.op) for n in order] for order in diamond().orders()]
    assert names == [["Placeholder", "Sin", "Cos", "Add"], ["Placeholder", "Cos", "Sin", "Add"]]
    assert list(mg.Graph().orders()) == [()]


def test_what_waits_for_nothing_is_not_shuffled() -> None:
    graph = quadratic()  # x, Mul, 3, Add: the constant could come at three places
    assert [[n.name for n in order] for order in graph.orders()] == [
        ["x", "Constant", "Mul", "Add"],
    ]


def test_orders_are_all_that_respect_inputs_and_controls() -> None:
    with mg.Graph():
        a = mg.placeholder("a")
        b, c = mg.sin(a), mg.cos(a)
        with mg.control_dependencies([c]):
            d = mg.exp(a)
        graph = mg.build_graph(a, [b, c, d])

    def early(order: tuple[mg.Node, ...]) -> bool:
        place = {n: i for i, n in enumerate(order)}
        return any(place[n] < place[x] for n in order for x in (*n.inputs, *n.controls))

    allowed = {order for order in itertools.permutations(graph.nodes) if not early(order)}
    assert len(allowed) == 3
    assert set(graph.orders()) == allowed


def test_a_graph_runs_in_the_order_that_it_is_given() -> None:
    graph = diamond()
    second = list(graph.orders())[1]
    with mg.record() as log:
        values = [mg.run(g, {"a": 0.5}) for g in (graph, graph.reordered(second))]
    ran = [str(e.op) for e in log.of_kind("run")]
    assert [op for op in ran if op != "Placeholder"] == ["Sin", "Cos", "Add", "Cos", "Sin", "Add"]
    assert values[0].tobytes() == values[1].tobytes()


def test_what_is_no_order_is_refused() -> None:
    graph = diamond()
    a, b, c, d = graph.nodes
    for wrong in ((a, b, c), (a, b, b, d), (a, b, c, b)):
        with pytest.raises(mg.ArgumentError, match="names each of the 4 nodes of the graph once"):
            graph.reordered(wrong)
    with pytest.raises(mg.ArgumentError, match="Cos comes before a, whose value it needs"):
        graph.reordered((c, a, b, d))
