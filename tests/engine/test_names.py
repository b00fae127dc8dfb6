"""Names: those for Python's signs, and those of other frameworks, which lead to ours."""

from __future__ import annotations

import inspect
import operator
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from covering import each
from spellings import LINES

import minigrad as mg
from minigrad import control, functions
from minigrad.core.loading import shadowing_file
from minigrad.diagnostics import foreign
from minigrad.diagnostics.messages import get_language, set_language
from minigrad.diagnostics.words import Word
from minigrad.ops.methods import Value

pytestmark = pytest.mark.usefixtures("own_graph")


# ---- Python's signs under names -----------------------------------------------------------------

SIGNS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
A, B = np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([3, 2, 1])


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_has_a_name_in_all_three_readers(name: str) -> None:
    ours, sign = getattr(mg, name), SIGNS[name]
    arrays = [A] if name == "negative" else [A, B]
    expected = sign(*arrays)
    tensors = [mg.tensor(a) for a in arrays]
    nodes = [mg.placeholder(None, a.shape) for a in arrays]
    node = ours(*nodes)
    fetched = mg.run(mg.build_graph(nodes, node), dict(zip(nodes, arrays, strict=True)))
    for found in (ours(*arrays), ours(*tensors).data, fetched):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    assert node.op is sign(*nodes).op
    assert ours is getattr(functions, name)


def test_short_names_are_the_same_functions() -> None:
    long = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative"}
    for short, name in long.items():
        assert getattr(mg, short) is getattr(mg, name)


def test_gradients_flow_through_the_names() -> None:
    x = mg.tensor([2.0, 3.0], requires_grad=True)
    y = mg.divide(mg.multiply(mg.add(x, 1), x), mg.negative(mg.subtract(x, 10)))
    y.sum().backward()
    expected = [((2 * v + 1) * (10 - v) + v * (v + 1)) / (10 - v) ** 2 for v in (2.0, 3.0)]
    np.testing.assert_allclose(x.grad.data, expected, rtol=1e-6)


# ---- Theirs -> ours -----------------------------------------------------------------------------

PLACES: dict[str, tuple[dict[str, Word], Callable[[], Any]]] = {
    "mg": (foreign.FUNCTIONS, lambda: mg),
    "mg.nn": (foreign.LAYERS, lambda: mg.nn),
    "mg.optim": (foreign.OPTIMISERS, lambda: mg.optim),
    "mg.train": (foreign.TRAIN, lambda: mg.train),
    "Linear": (foreign.MODULES, lambda: mg.nn.Linear(2, 2)),
    "Tensor": (foreign.VALUES, lambda: mg.tensor([[1.0, 2.0]])),
    "Node": (foreign.VALUES | foreign.NODES, lambda: mg.placeholder("x", (2, 2))),
    "Graph": (foreign.GRAPHS, mg.get_default_graph),
}
ROWS = [(p, name) for p, (table, _) in PLACES.items() for name, w in table.items() if not w.call]
WORK = [(p, name) for p, (table, _) in PLACES.items() for name, w in table.items() if w.call]


@each(ROWS)
def test_a_name_from_elsewhere_is_answered_with_ours(place: str, theirs: str) -> None:
    table, owner = PLACES[place]
    with pytest.raises(AttributeError) as caught:
        getattr(owner(), theirs)
    error = caught.value
    assert isinstance(error, mg.MissingNameError)
    for half in error.pair:
        assert f"{place} " in half
        assert theirs in half
        for ours in table[theirs].ours:
            assert ours in half
        assert "test_names.py, line" in half
    assert error.pair[0] != error.pair[1]


PROGRAMS = [
    path.read_text("utf-8") for path in Path(__file__).parents[1].glob("faces/programs/*.py")
]


@each(WORK)
def test_a_name_that_works_is_there_and_says_what_it_is(place: str, theirs: str) -> None:
    table, owner = PLACES[place]
    found = getattr(owner(), theirs)
    assert theirs in dir(owner())
    assert found.__name__ == theirs
    assert table[theirs].ours[0] in found.__doc__
    said = any(f".{theirs}(" in line for line in (*LINES, *PROGRAMS))
    assert said, "a line in tests/spellings.py"


def first_doubled(*xs: Any) -> Any:
    return xs[0] * 2


def meanings(place: str) -> dict[str, Any]:
    """What the letters of the table stand for, in a graph that is run or as tensors."""
    v = mg.Variable(np.ones((2, 2)), name="v")
    p = mg.placeholder("x", (2, 2))
    session = mg.Session()
    session.run(mg.global_variables_initializer())
    static = place == "Node"
    x = v * 2 if static else mg.tensor([[0.5, 1.0], [1.5, 2.0]], requires_grad=True)
    y = (v * x).sum() if static else (x * x).sum()
    model = mg.nn.Linear(2, 2)
    (model(mg.ones(1, 2)).sum()).backward()
    return {
        "mg": mg,
        "np": np,
        "v": v,
        "x": x,
        "y": y,
        "a": mg.tensor([[0.0, 1.0], [1.0, 0.0]]),
        "b": mg.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "xs": [mg.ones(2, 2), mg.zeros(2, 2)],
        "f": first_doubled,
        "model": model,
        "optimiser": mg.optim.SGD([model.weight]),
        "sess": session,
        "graph": mg.build_graph(p, p * 2),
    }


LABELS = {"sparse_softmax_cross_entropy_with_logits"}
STATIC = {"GradientDescentOptimizer", "MomentumOptimizer", "AdamOptimizer"}


@each(ROWS)
def test_what_is_written_instead_runs(place: str, theirs: str, tmp_path: Any) -> None:
    values = meanings(place)
    if theirs in LABELS:
        values["b"] = mg.tensor([0, 1])
    if theirs in STATIC:
        values["x"], values["y"] = values["v"] * 3, (values["v"] * values["v"]).sum()
    if theirs == "map_fn":
        values |= {"f": lambda carry, x: (carry, x * 2), "xs": values["v"]}
    values["path"] = str(tmp_path / "graph")
    if theirs == "load":
        if place == "mg":
            values["graph"].save(values["path"])
        np.savez(tmp_path / "state.npz", **values["model"].state_dict())
        values["np"] = Loading(tmp_path / "state.npz")
    for ours in PLACES[place][0][theirs].ours:
        exec(compile(ours, "row", "exec"), values)


class Loading:
    """NumPy, where `np.load(path)` reads the state of the model."""

    def __init__(self, path: Any) -> None:
        self._path = path

    def load(self, path: str) -> Any:
        return np.load(self._path)


def test_a_name_that_nobody_has_is_answered_as_python_does() -> None:
    for place, (_, owner) in PLACES.items():
        with pytest.raises(
            AttributeError, match=f"{place}.* has no attribute 'nonsense'"
        ) as caught:
            owner().nonsense  # noqa: B018
        assert type(caught.value) is AttributeError
        assert caught.value.name == "nonsense"
        assert not hasattr(owner(), "nonsense")
    with pytest.raises(ImportError):
        exec("from minigrad import einsum")


def test_no_row_hides_a_name_of_ours() -> None:
    for place, (table, owner) in PLACES.items():
        found = [name for name, word in table.items() if not word.call and name in dir(owner())]
        assert found == [], place


def test_the_answer_follows_the_language() -> None:
    before = get_language()
    set_language("zh")
    try:
        with pytest.raises(AttributeError, match="没有 einsum。解决办法：改写成 a @ b 或 "):
            mg.einsum  # noqa: B018
    finally:
        set_language(before)


# ---- Their keywords -> ours ---------------------------------------------------------------------


PUBLIC = {"F": mg.nn.functional.__all__, "control": mg.__all__}


def keyworded() -> Iterator[tuple[str, str, str]]:
    """Every function, method and layer that has a parameter of ours, with the name of others."""
    owners: dict[str, Any] = {
        "mg": functions,
        "control": control,
        "value": Value,
        "F": mg.nn.functional,
        "mg.nn": mg.nn,
    }
    for place, owner in owners.items():
        for name, function in vars(owner).items():
            layer = inspect.isclass(function) and "__init__" in vars(function)
            inner = place in PUBLIC and name not in PUBLIC[place]
            if (inspect.isfunction(function) or layer) and not (inner or name.startswith("_")):
                taken = inspect.signature(function).parameters.values()
                names = {p.name for p in taken if p.kind is not p.VAR_POSITIONAL}
                for theirs, ours in foreign.KEYWORDS.items():
                    if ours in names and theirs not in names and (place, ours) != ("value", "x"):
                        yield place, name, theirs


CALLS = list(keyworded())


def test_every_keyword_of_others_has_a_function() -> None:
    assert {theirs for _, _, theirs in CALLS} == {*foreign.KEYWORDS}
    assert {
        ("mg", "sum", "dim"),
        ("value", "sum", "keepdim"),
        ("mg.nn", "Softmax", "dim"),
        ("F", "pad", "input"),
    } < {*CALLS}


def outcome(function: Callable[..., Any], **options: Any) -> str:
    """What a call gives, or what it says."""
    try:
        with np.errstate(all="ignore"):
            return repr(function(**options))
    except (TypeError, mg.GraphError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


@each(CALLS)
def test_a_keyword_from_elsewhere_is_ours(place: str, name: str, theirs: str) -> None:
    values = [lambda: mg.tensor([[1.0]]), lambda: mg.placeholder("x", (2, 2))]
    modules: dict[str, Any] = {"mg": mg, "control": mg, "mg.nn": mg.nn, "F": mg.nn.functional}
    for owner in values if place == "value" else [lambda: modules[place]]:
        with mg.Graph():
            found = outcome(getattr(owner(), name), **{theirs: 0})
        assert "unexpected" not in found
        with mg.Graph():
            assert found == outcome(getattr(owner(), name), **{foreign.KEYWORDS[theirs]: 0})


def test_keywords_of_others_give_what_ours_give() -> None:
    for x in (mg.tensor([[1.0, 2.0], [3.0, 5.0]]), mg.placeholder("x", (2, 2))):
        for found, expected in (
            (x.sum(dim=1, keepdim=True), x.sum(axis=1, keepdims=True)),
            (mg.stack([x, x], dim=1), mg.stack([x, x], axis=1)),
            (mg.concatenate(tensors=[x, x], dim=1), mg.concatenate([x, x], axis=1)),
            (x.clip(min=2.0, max=3.0), x.clip(2.0, 3.0)),
            (mg.nn.Softmax(dim=0)(x), mg.nn.Softmax(0)(x)),
        ):
            assert found.shape == expected.shape
            if isinstance(found, mg.Tensor):
                assert found.tolist() == expected.tolist()
            else:
                assert (found.op, found.attrs) == (expected.op, expected.attrs)


def test_two_words_for_one_argument_are_refused() -> None:
    for x in (mg.tensor([[1.0]]), mg.placeholder("x", (2, 2))):
        with pytest.raises(mg.ArgumentError) as caught:
            x.sum(axis=0, dim=0)
        for half in caught.value.pair:
            assert half.startswith("sum")
            assert "dim=" in half
            assert "axis=" in half
            assert "test_names.py, line" in half


def test_other_mistakes_in_arguments_are_answered_as_python_does() -> None:
    x = mg.tensor([[1.0, 2.0]])
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        x.sum(nonsense=1)
    with pytest.raises(TypeError, match="positional arguments"):
        mg.sum(x, 0, True, 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'num_classes'"):
        x.sum(num_classes=1)  # which has no name for it either
    assert str(inspect.signature(mg.sum)).startswith("(x: 'Any', axis:")


# ---- Calls as TensorFlow 1 and Theano write them ----------------------------------------------


def test_a_placeholder_takes_its_arguments_in_either_order() -> None:
    for node, name, dtype in (
        (mg.placeholder(mg.int64, (None, 3), name="a"), "a", mg.int64),
        (mg.placeholder(mg.int64, (None, 3), "b"), "b", mg.int64),
        (mg.placeholder(float, [None, 3]), "Placeholder", mg.float64),
        (mg.placeholder(np.float32, shape=(None, 3), name="c"), "c", mg.float32),
        (mg.placeholder("d", (None, 3), mg.int64), "d", mg.int64),
        (mg.placeholder("i", (None, 3), "int64"), "i", mg.int64),
        (mg.placeholder(name="float32", shape=(None, 3)), "float32", mg.float32),
        (mg.placeholder(dtype=mg.bool_, shape=(None, 3), name="e"), "e", mg.bool_),
    ):
        assert (node.name, node.dtype, node.shape) == (name, dtype, (None, 3))


@pytest.mark.parametrize("text", ["float32", "float", "int32", "uint8", "bool", "double"])
def test_a_text_that_could_be_a_data_type_is_refused_as_a_name(text: str) -> None:
    with pytest.raises(mg.ArgumentError) as caught:
        mg.placeholder(text, (2,))
    for half in caught.value.pair:
        assert f'mg.placeholder(name="{text}")' in half
        assert "mg.placeholder(np." in half
    assert mg.get_default_graph().nodes == ()


@pytest.mark.parametrize("options", [{"name": "y"}, {"dtype": mg.int64}])
def test_two_names_or_types_of_a_placeholder_are_refused(options: Any) -> None:
    with pytest.raises(mg.ArgumentError, match="placeholder: name="):
        mg.placeholder("x" if "name" in options else mg.float32, (2,), **options)


WRITTEN: dict[str, tuple[Callable[[Any], Any], str]] = {
    "Print with a list": (lambda x: mg.Print(x, [x], "msg"), 'mg.Print(x, "x is")'),
    "Print of a list alone": (lambda x: mg.Print(x, [x]), 'mg.Print(x, "x is")'),
    "Print by names": (lambda x: mg.Print(x, data=[x], message="m"), 'mg.Print(x, "x is")'),
    "Assert": (lambda x: mg.Assert(x > 0, [x]), 'mg.Assert(x > 0, "x must be positive")'),
    "Theano's function": (lambda x: mg.function([x], x * 2), "mg.theano_function([x], y)"),
    "Theano's updates": (
        lambda x: mg.function(inputs=[x], outputs=x * 2, updates=[]),
        "mg.theano_function([x], y)",
    ),
}


@pytest.mark.parametrize("call", WRITTEN)
def test_a_call_as_others_write_it_is_answered_with_ours(call: str) -> None:
    x = mg.placeholder("x", ())
    theirs, ours = WRITTEN[call]
    with pytest.raises(mg.ArgumentError) as caught:
        theirs(x)
    for half in caught.value.pair:
        assert ours in half
        assert "test_names.py, line" in half
    exec(compile(ours, "row", "exec"), {"mg": mg, "x": x, "y": x * 2})


def test_errors_inside_a_function_are_no_call_of_others() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        mg.function(lambda: 1 + "a")()
    with pytest.raises(mg.ArgumentError, match="python_function=3"):
        mg.function(3)


def test_loops_take_the_keywords_of_tensorflow_and_jax() -> None:
    n = mg.placeholder("n", (), mg.int64)
    theirs = mg.while_loop(
        cond=lambda i, s: i < n, body=lambda i, s: [i + 1, s + i], loop_vars=[0, 0]
    )
    limited = mg.while_loop(lambda i: i < n, lambda i: i + 1, 0, maximum_iterations=2)
    jax = mg.while_loop(cond_fun=lambda i: i < n, body_fun=lambda i: i + 1, init_val=0)
    found = mg.run(mg.build_graph(n, [*theirs, limited, jax]), {n: 4})
    assert [int(v) for v in found] == [4, 6, 2, 4]


@pytest.mark.parametrize("end", ["a number", "a node"])
def test_a_list_of_one_in_a_loop_is_answered_where_tensorflow_takes_it_apart(end: str) -> None:
    x = mg.placeholder("x", ())
    n = 3 if end == "a number" else mg.placeholder("n", ())
    with pytest.raises(mg.ControlFlowError) as caught:
        mg.while_loop(lambda i: i < n, lambda i: i + 1, [x])
    for half in caught.value.pair:
        assert "init=x" in half
        assert "TensorFlow" in half


# ---- A file in the place of a package -----------------------------------------------------------


def test_a_package_that_is_ours_or_of_no_file_hides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert shadowing_file("viz", mg.__file__) is None
    assert shadowing_file("json", mg.__file__) is None, "we have none of that name"
    assert shadowing_file("no_such_package", mg.__file__) is None
    monkeypatch.setitem(sys.modules, "viz", types.ModuleType("viz"))
    assert shadowing_file("viz", mg.__file__) is None


def test_a_file_that_hides_a_package_beside_ours_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python takes a `viz.py` beside the notebook for the package; the warning names that file."""
    monkeypatch.delitem(sys.modules, "viz", raising=False)
    (tmp_path / "viz.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert shadowing_file("viz", mg.__file__) == str(tmp_path / "viz.py")
