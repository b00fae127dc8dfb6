"""Mistakes that users make: the error's class, its words, both languages, and no damage done.

An error names the operator, shows the actual shapes, says the remedy and the user's line. The same
mistake reads the same in both modes, and everything works afterwards.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mistakes
import numpy as np
import pytest
from covering import each

import minigrad as mg
from minigrad.core import REGISTRY, context, events
from minigrad.diagnostics import errors, messages
from minigrad.diagnostics.messages import ERRORS

PACKAGE = Path(mg.__file__).parent
HERE = re.compile(r"(test_errors|mistakes)\.py, line")


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[mg.Graph]:
    """A graph for each test, in which mistakes are made and work goes on afterwards."""
    with unharmed() as graph:
        yield graph


@contextlib.contextmanager
def unharmed() -> Iterator[mg.Graph]:
    """A graph of its own, and everything works afterwards."""
    with mg.Graph() as graph:
        yield graph
        assert mg.get_default_graph() is graph
        works_as_before()
    messages.set_language("en")


def works_as_before() -> None:
    """Default graph, session and tape, after whatever happened."""
    assert events.listeners == []
    assert (context.now.scope, context.now.recording) == ("", True)
    x = mg.tensor(2.0, requires_grad=True)
    (x * x + 3).backward()
    assert x.grad.item() == 4
    if not mg.get_default_graph().frozen:
        p, w = mg.placeholder("again", shape=()), mg.Variable(3.0)
        with mg.Session() as session:
            session.run(mg.global_variables_initializer())
            assert session.run(p * p + w, {p: 2}) == 7
        mg.get_default_graph().verify()


def caught(
    mistake: Callable[[], Any], kind: type[Exception], words: list[str]
) -> errors.GraphError:
    """Make the mistake; check the class and the words, and both languages for the same facts."""
    with pytest.raises(kind) as found:
        mistake()
    error = found.value
    assert isinstance(error, errors.GraphError)
    english, chinese = error.pair
    for word in words:
        assert word in english, f"{word!r} is not in: {english}"
    for line in (english, chinese):
        assert HERE.search(line), f"the user's line is not in: {line}"
    for name, value in error.fields.items():
        if isinstance(value, str) and any(value in half for half in ERRORS.values()):
            continue  # a phrase with a translation
        facts = str(value) in english, str(value) in chinese
        assert facts[0] == facts[1], f"{name} = {value} is in one language only"
    for language, expected in {
        "en": english,
        "zh": chinese,
        "both": f"{english}\n{chinese}",
    }.items():
        messages.set_language(language)  # type: ignore[arg-type]
        assert str(error) == expected
    messages.set_language("en")
    return error


# ---- The same mistake in both modes ---------------------------------------------------------

LABELS = np.array([0, 1])
LAYER = mg.nn.Linear(784, 10, seed=0)
Case = tuple[Callable[..., Any], list[Any], type[Exception], list[str]]


def shaped(*shapes: tuple[int, ...]) -> list[Any]:
    return [np.ones(shape, np.float32) for shape in shapes]


ONE = shaped((2, 3))
BOTH: dict[str, Case] = {
    "add": (lambda a, b: a + b, shaped((2, 3), (4,)), mg.ShapeError, ["Add", "(2, 3), (4,)"]),
    "sub": (lambda a, b: a - b, shaped((2, 3), (2,)), mg.ShapeError, ["Sub", "(2, 3), (2,)"]),
    "mul": (lambda a, b: a * b, shaped((5,), (4,)), mg.ShapeError, ["Mul", "(5,), (4,)"]),
    "div": (lambda a, b: a / b, shaped((2, 2), (3, 3)), mg.ShapeError, ["Div", "(2, 2), (3, 3)"]),
    "pow": (lambda a, b: a**b, shaped((2,), (3,)), mg.ShapeError, ["Pow", "reshape or transpose"]),
    "compare": (lambda a, b: a < b, shaped((2,), (3,)), mg.ShapeError, ["Less", "(2,), (3,)"]),
    "matmul": (
        lambda a, b: a @ b,
        shaped((64, 784), (100, 10)),
        mg.ShapeError,
        ["MatMul", "(64, 784), (100, 10)", "has length 784", "must equal 100", "transpose"],
    ),
    "matmul of a batch": (
        lambda a, b: a @ b,
        shaped((2, 2, 3), (3, 3, 4)),
        mg.ShapeError,
        ["MatMul", "(2,), (3,)"],
    ),
    "matmul of a number": (
        lambda a, b: a @ b,
        shaped((), (2, 2)),
        mg.ShapeError,
        ["MatMul", "1 axis or more", "()"],
    ),
    "width of a layer": (
        lambda x: LAYER(x),
        shaped((64, 28)),
        mg.ShapeError,
        ["MatMul", "(64, 28), (10, 784)", "input width"],
    ),
    "axis of sum": (lambda x: x.sum(axis=2), ONE, mg.ShapeError, ["Sum", "axis 2", "from -2 to 1"]),
    "axis of mean": (lambda x: x.mean(axis=-3), ONE, mg.ShapeError, ["Mean", "axis -3", "(2, 3)"]),
    "axis of argmax": (lambda x: x.argmax(axis=2), ONE, mg.ShapeError, ["ArgMax", "axis 2"]),
    "axis of softmax": (lambda x: mg.softmax(x, axis=4), ONE, mg.ShapeError, ["Softmax", "axis 4"]),
    "reshape": (
        lambda x: x.reshape(4, 2),
        ONE,
        mg.ShapeError,
        ["Reshape", "6 elements", "(2, 3)", "(4, 2)", "-1"],
    ),
    "reshape with -1": (lambda x: x.reshape(4, -1), ONE, mg.ShapeError, ["Reshape", "(4, -1)"]),
    "reshape with two -1": (lambda x: x.reshape(-1, -1), ONE, mg.ShapeError, ["(-1, -1)"]),
    "reshape below -1": (lambda x: x.reshape(-2, 3), ONE, mg.ShapeError, ["(-2, 3)"]),
    "transpose": (lambda x: x.transpose((0, 0)), ONE, mg.ShapeError, ["Transpose", "(2, 3)"]),
    "transpose too few": (lambda x: x.transpose(0), ONE, mg.ShapeError, ["Transpose", "(2, 3)"]),
    "labels of another length": (
        lambda x: mg.cross_entropy(x, np.array([0, 1, 2])),
        ONE,
        mg.ShapeError,
        ["SoftmaxCrossEntropy", "(3,)", "(2, 3)", "one integer label for each row"],
    ),
    "labels one-hot": (
        lambda x: mg.cross_entropy(x, np.eye(3, dtype=np.int64)[:2]),
        ONE,
        mg.ShapeError,
        ["SoftmaxCrossEntropy", "labels of shape (2, 3)"],
    ),
    "labels of floats": (
        lambda x: mg.cross_entropy(x, np.float32([0, 1])),
        ONE,
        mg.DtypeError,
        ["SoftmaxCrossEntropy", "integers", "float32", "astype(int)"],
    ),
    "labels counted from 1": (
        lambda x: mg.cross_entropy(x, np.array([1, 3])),
        ONE,
        mg.ShapeError,
        ["SoftmaxCrossEntropy", "label 3 is outside 0 to 2", "count classes from 0"],
    ),
    "labels below 0": (lambda x: mg.cross_entropy(x, LABELS - 1), ONE, mg.ShapeError, ["label -1"]),
    "the largest of nothing": (
        lambda x: x.argmax(),
        shaped((0, 3)),
        mg.ShapeError,
        ["ArgMax", "(0, 3)", "no elements"],
    ),
    "None": (lambda x: x + None, ONE, mg.DtypeError, ["Add", "None", "numbers"]),
    "text": (lambda x: x * "two", ONE, mg.DtypeError, ["Mul", "'two'", "NumPy array"]),
    "ragged lists": (lambda x: x * [[1, 2], [3]], ONE, mg.DtypeError, ["Mul", "[[1, 2], [3]]"]),
    "complex": (lambda x: x - 1j, ONE, mg.DtypeError, ["Sub", "1j"]),
    "negative powers of integers": (
        lambda x: x**-1,
        [np.array([2, 3])],
        mg.NumericError,
        ["Pow", "negative powers", "astype(mg.float32)"],
    ),
    "minus of bools": (
        lambda x: -x,
        [np.array([True])],
        mg.DtypeError,
        ["Neg", "truth values have no negative", "astype(int)", "mg.logical_not"],
    ),
}
ALONG = ("sum", "mean", "max", "min", "argmax", "argmin", "all", "any", "logsumexp")
ALONG += ("cumsum", "softmax", "log_softmax")
BOTH |= {
    f"{name} along axis {axis} of a number": (
        lambda x, name=name, axis=axis: getattr(mg, name)(x, axis=axis),
        shaped(()),
        mg.ShapeError,
        [f"axis {axis} does not exist", "a single number has no axes"],
    )
    for name in ALONG
    for axis in (0, -1, 2**70)
}
BOTH |= {
    f"{name} along two axes": (
        lambda x, name=name: getattr(mg, name)(x, axis=(0, 1)),
        ONE,
        mg.ArgumentError,
        ["axis=(0, 1)", "one whole number"],
    )
    for name in ("softmax", "log_softmax", "cumsum")
}
BOTH["take of a number"] = (
    lambda x: mg.take(x, 0, axis=0),
    shaped(()),
    mg.ShapeError,
    ["Take", "no axes"],
)
BOTH["an absurd axis"] = (lambda x: x.sum(axis=2**70), ONE, mg.ShapeError, ["Sum", str(2**70)])
# Mistakes that are in the operands' values or in what is no operand: a shape does not show them.
SEEN_IN_THE_RUN = {"labels counted from 1", "labels below 0"}
SEEN_IN_THE_RUN |= {"negative powers of integers"} | mistakes.SEEN_IN_THE_RUN
assert not BOTH.keys() & mistakes.BOTH.keys()
BOTH |= mistakes.BOTH


def dynamic(f: Callable[..., Any], operands: list[Any]) -> None:
    f(*[mg.tensor(a, requires_grad=a.dtype.kind == "f") for a in operands])


def static(f: Callable[..., Any], operands: list[Any], known: bool = True) -> None:
    shapes = [a.shape if known else None for a in operands]
    xs = [mg.placeholder(None, s, a.dtype) for s, a in zip(shapes, operands, strict=True)]
    y = f(*xs)
    with mg.Session() as session:
        session.run(mg.global_variables_initializer())
        session.run(y, dict(zip(xs, operands, strict=True)))


ASK_FOR_A_SHAPE = {"labels one-hot"}  # it would be a row of classes for each, or pixels of images


@each(BOTH)
@unharmed()
def test_the_same_mistake_reads_the_same_in_both_modes(name: str) -> None:
    f, operands, kind, words = BOTH[name]
    found = [
        caught(lambda: dynamic(f, operands), kind, words),
        caught(lambda: static(f, operands), kind, words),
    ]
    if name in ASK_FOR_A_SHAPE:
        caught(lambda: static(f, operands, known=False), kind, ["give the placeholder a shape"])
    else:
        found.append(caught(lambda: static(f, operands, known=False), kind, words))
    sentences = {error.pair[0].split("\n")[0] for error in found}
    assert len(sentences) == 1, sentences
    assert found[0].ran is None
    assert (found[1].ran is not None) == (name in SEEN_IN_THE_RUN), "or it shows while building"


@pytest.mark.parametrize("executor", ["numpy", pytest.param("c", marks=pytest.mark.compiler)])
@pytest.mark.parametrize("name", ALONG)
def test_an_axis_of_a_number_reads_the_same_in_a_program(name: str, executor: str) -> None:
    x = mg.placeholder("x", shape=None)
    program = mg.build_graph(x, getattr(mg, name)(x, axis=0)).compile(executor=executor)
    error = caught(lambda: program({x: 1.0}), mg.ShapeError, ["axis 0 does not exist", "no axes"])
    assert error.key == "axis_of_number"
    assert program({x: np.ones(3)}) is not None


@each(BOTH)
@unharmed()
def test_a_failed_operation_leaves_its_operands_alone(name: str) -> None:
    f, operands, kind, _ = BOTH[name]
    xs = [mg.tensor(a, requires_grad=a.dtype.kind == "f") for a in operands]
    with pytest.raises(kind):
        f(*xs)
    for x, a in zip(xs, operands, strict=True):
        assert (x.data == a).all()
        assert (x.is_leaf, x.grad) == (True, None)


def test_an_error_of_a_run_names_both_lines() -> None:
    a, b = mg.placeholder("a"), mg.placeholder("b")
    y = a * b  # here it is defined
    graph = mg.build_graph([a, b], y)
    error = caught(lambda: mg.run(graph, {a: [1, 2], b: [1, 2, 3]}), mg.ShapeError, ["(2,), (3,)"])
    assert "  defined at test_errors.py, line" in str(error)
    assert "y = a * b  # here it is defined" in str(error)
    assert "  used at test_errors.py, line" in str(error)
    assert "mg.run(graph, {a: [1, 2], b: [1, 2, 3]})" in str(error)


# ---- Mistakes of one mode -------------------------------------------------------------------


def leaf(value: Any = 2.0) -> mg.Tensor:
    return mg.tensor(value, requires_grad=True)


def twice() -> None:
    x = leaf()
    y = x * x
    y.backward()
    y.backward()


def image() -> mg.Node:
    return mg.placeholder("image", shape=(None, 3))


def fed(value: Any, **options: Any) -> Any:
    x = mg.placeholder("image", **{"shape": (None, 3), **options})
    return mg.run(mg.build_graph(x, x * 2), {x: value})


def in_session(fetch: Callable[[], Any], feeds: Any = None) -> Any:
    with mg.Session() as session:
        return session.run(fetch(), feeds)


def closed() -> Any:
    session = mg.Session()
    session.close()
    return session.run(mg.constant(1.0))


def frozen() -> None:
    with mg.Graph() as graph:
        x = mg.placeholder("x")
        graph.freeze()
        for _ in range(3):
            x = x + 1


def elsewhere() -> mg.Node:
    with mg.Graph():
        return mg.placeholder("x")


def cyclic() -> Any:
    x = image()
    y = mg.exp(x)
    return mg.build_graph(x, y).replace({x: y})


def as_condition() -> Any:
    x = image()
    if x > 0:
        return x
    return -x


def missing() -> Any:
    x, y = mg.placeholder("x"), mg.placeholder("y")
    return mg.build_graph(x, x + y)


def not_a_number() -> None:
    with mg.detect_anomaly():
        mg.log(mg.tensor([0.0, -1.0]))


def wrong_check() -> Any:
    return mg.check_grads(lambda x: x * x.detach(), 3.0)


ONE_MODE: dict[str, tuple[Callable[[], Any], type[Exception], list[str]]] = {
    # the dynamic graph
    "walked twice": (twice, mg.GradientError, ["Mul", "walked once already", "compute the output"]),
    "no leaf requires it": (
        lambda: (mg.tensor(1.0) * 2).backward(),
        mg.GradientError,
        ["requires_grad=True", "no_grad"],
    ),
    "not a single number": (
        lambda: (leaf([1.0, 2.0]) * 2).backward(),
        mg.GradientError,
        ["shape (2,)", "y.sum().backward()", "gradient="],
    ),
    "weights of another shape": (
        lambda: (leaf([1.0, 2.0]) * 2).backward([1.0]),
        mg.GradientError,
        ["(1,)", "(2,)", "one weight for each element"],
    ),
    "gradient of integers": (
        lambda: mg.tensor(2, requires_grad=True),
        mg.DtypeError,
        ["int64", "2.0 instead of 2"],
    ),
    "grad of what is not used": (
        lambda: mg.grad(leaf() * 2, [leaf()]),
        mg.GradientError,
        ["does not depend on", "allow_unused=True"],
    ),
    "a leaf in place": (lambda: leaf().copy_(1.0), mg.GradientError, ["copy_", "mg.no_grad()"]),
    "a negative length": (lambda: mg.zeros(2, -1), mg.ShapeError, ["(2, -1)", "from 0"]),
    "a placeholder of negative length": (
        lambda: mg.placeholder("x", shape=(-1, 3)),
        mg.ShapeError,
        ["placeholder", "(-1, 3)", "None"],
    ),
    "an axis twice": (lambda: mg.ones(2, 3).sum(axis=(0, -2)), mg.ShapeError, ["Sum", "twice"]),
    "a tensor of text": (lambda: mg.tensor("three"), mg.DtypeError, ["tensor", "'three'"]),
    "a tensor of nothing": (lambda: mg.tensor(None), mg.DtypeError, ["tensor", "None"]),
    "a tensor of a node": (lambda: mg.tensor(image()), mg.DtypeError, ["tensor", "<Node image"]),
    "anomaly": (not_a_number, mg.NumericError, ["Log", "in 2 places", "(2,)", "log(0)"]),
    "a wrong gradient": (wrong_check, mg.GradientError, ["check_grads", "argument 0", "order 1"]),
    "no parameters": (
        lambda: mg.optim.Adam([]),
        mg.GraphError,
        ["Adam", "model.parameters()"],
    ),
    # a node has no value
    "if": (
        as_condition,
        mg.TraceError,
        ["Greater", "(None, 3)", "mg.cond", "mg.script"],
    ),
    "and": (lambda: image() and 1, mg.TraceError, ["image (Placeholder", "and, or, not"]),
    "float": (lambda: float(image()), mg.TraceError, ["image", "into a number", "session.run"]),
    "item": (lambda: image().item(), mg.TraceError, ["into a number", "mg.run(graph"]),
    "range": (lambda: range(image()), mg.TraceError, ["into a number"]),
    "numpy": (lambda: image().numpy(), mg.TraceError, ["into an array"]),
    "np.asarray": (lambda: np.asarray(image()), mg.TraceError, ["into an array"]),
    "for": (lambda: list(image()), mg.TraceError, ["looping"]),
    "len": (lambda: len(image()), mg.TraceError, ["looping"]),
    "ndim": (lambda: mg.placeholder("x").ndim, mg.ShapeError, ["axes of x", "shape=(None, 784)"]),
    # building
    "frozen": (frozen, mg.FrozenGraphError, ["Add", "frozen", "before the loop"]),
    "another graph": (
        lambda: image() + elsewhere(),
        mg.GraphError,
        ["Add", "x belongs to another"],
    ),
    "a cycle": (cyclic, mg.CycleError, ["Exp → Exp"]),
    "no outputs": (lambda: mg.build_graph(image(), []), mg.GraphError, ["at least one output"]),
    "a run of a program": (
        lambda: mg.run(mg.build_graph(None, image() * 1).compile(), {"image": 1}),
        mg.ArgumentError,
        ["run", "Program", "program(feed_dict)"],
    ),
    "a run of a function": (
        lambda: mg.run(mg.function(leaf), {}),
        mg.ArgumentError,
        ["<Function leaf: 0 traces>", "with its arguments"],
    ),
    "a run of a model": (
        lambda: mg.run(mg.nn.Linear(2, 3), {}),
        mg.ArgumentError,
        ["Linear(2 → 3)", "with its arguments"],
    ),
    "a run of a node": (
        lambda: mg.run(image(), {}),
        mg.ArgumentError,
        ["image", "mg.run(mg.build_graph(inputs, outputs), feed_dict)", "session.run(outputs"],
    ),
    "a run of nodes": (
        lambda: mg.run([image()], {}),
        mg.ArgumentError,
        ["[<Node image", "mg.build_graph(inputs, outputs)"],
    ),
    "a run of a tensor": (
        lambda: mg.run(leaf(), {}),
        mg.ArgumentError,
        ["graph=tensor(2., requires_grad=True)", "mg.build_graph(inputs, outputs)"],
    ),
    "a run of nothing": (lambda: mg.run(None), mg.ArgumentError, ["graph=None", "build_graph"]),
    "a run of an empty list": (lambda: mg.run([]), mg.ArgumentError, ["graph=[]", "build_graph"]),
    "a run without outputs": (lambda: mg.run(mg.Graph()), mg.GraphError, ["at least one output"]),
    "a tensor as output": (
        lambda: mg.build_graph(image(), leaf()),
        mg.GraphError,
        ["build_graph", "tensor(2., requires_grad=True)", "mg.placeholder"],
    ),
    "a result as input": (
        lambda: mg.build_graph(image() + 1, image()),
        mg.GraphError,
        ["Add", "not a placeholder"],
    ),
    "a missing input": (missing, mg.GraphError, ["Add needs placeholder y", "[..., y]"]),
    "a tensor with history": (
        lambda: image() + leaf() * 2,
        mg.GraphError,
        ["Mul", "x.detach()"],
    ),
    "gradients of a tensor": (
        lambda: mg.gradients(leaf() * 2, []),
        mg.GraphError,
        ["gradients", "creator=Mul"],
    ),
    "nothing to train": (
        lambda: mg.optim.SGD([mg.Variable(1.0)]).minimize(image().sum()),
        mg.GradientError,
        ["SGD", "depends on none", "the same model"],
    ),
    "assign to a constant": (
        lambda: mg.assign(mg.constant(1.0, name="c"), 2.0),
        mg.GraphError,
        ["Assign", "c is not a variable", "mg.Variable"],
    ),
    "assign of another shape": (
        lambda: mg.assign(mg.Variable([1.0, 2.0], name="w"), [1.0, 2.0, 3.0]),
        mg.ShapeError,
        ["Assign", "variable w", "(2,)", "(3,)"],
    ),
    # running
    "not fed": (
        lambda: mg.run(mg.build_graph(None, image() * 2)),
        mg.NotFedError,
        ["image", "(None, 3)", "float32", "Mul needs it", "feed_dict={image: value}"],
    ),
    "fed the wrong width": (lambda: fed(np.ones((2, 4))), mg.FeedError, ["(None, 3)", "(2, 4)"]),
    "fed the wrong rank": (lambda: fed([1, 2, 3]), mg.FeedError, ["(None, 3)", "(3,)"]),
    "fed text": (lambda: fed("abc"), mg.FeedError, ["image", "'abc'", "float32"]),
    "fed digits as text": (lambda: fed("2", shape=None), mg.FeedError, ["image", "'2'"]),
    "fed nothing": (lambda: fed(None, shape=None), mg.FeedError, ["image", "None", "float32"]),
    "fed complex": (lambda: fed([1j], shape=None), mg.FeedError, ["image", "1j"]),
    "fed ragged lists": (lambda: fed([[1], [1, 2]]), mg.FeedError, ["[[1], [1, 2]]"]),
    "fed a node": (lambda: fed(mg.constant(1.0)), mg.FeedError, ["<Node Constant", "not a graph"]),
    "fed floats for integers": (
        lambda: fed([1.5], shape=None, dtype=mg.int64),
        mg.FeedError,
        ["int64", "float64", "lose information"],
    ),
    "an unknown key": (
        lambda: mg.run(mg.build_graph(None, image() * 2), {"picture": 1}),
        mg.FeedError,
        ["'picture'", "use one of image"],
    ),
    "a key that is no placeholder": (
        lambda: in_session(lambda: mg.constant(1.0), {mg.constant(2.0, name="c"): 1}),
        mg.FeedError,
        ["the key c"],
    ),
    "a placeholder of another graph": (
        lambda: mg.run(mg.build_graph(None, image() * 2), {elsewhere(): 1}),
        mg.FeedError,
        ["the key x", "another graph", "the name of one as the key: image"],
    ),
    "one too many, of another graph": (
        lambda: in_session(lambda: mg.constant(1.0), {elsewhere(): 1}),
        mg.FeedError,
        ["the key x", "another graph"],
    ),
    "a shape in the place of the name": (
        lambda: mg.placeholder((None, 3)),
        mg.ArgumentError,
        ["placeholder", "name=(None, 3)", 'mg.placeholder("x", dtype=mg.int64)'],
    ),
    "a type of a variable in the place of its name": (
        lambda: mg.Variable(1.0, mg.float64),
        mg.ArgumentError,
        ["Variable", "name=dtype('float64')"],
    ),
    "a number as the name of a constant": (
        lambda: mg.constant(1.0, name=1),
        mg.ArgumentError,
        ["constant", "name=1"],
    ),
    "run of an open graph": (
        lambda: mg.run(mg.get_default_graph()),
        mg.GraphError,
        ["build_graph"],
    ),
    "not initialised": (
        lambda: in_session(lambda: mg.Variable([1.0], name="w") * 2),
        mg.UninitializedError,
        ["Variable w", "(1,)", "global_variables_initializer"],
    ),
    "fetch of a tensor": (lambda: in_session(leaf), mg.GraphError, ["cannot be fetched", "a Node"]),
    "fetch from another graph": (lambda: in_session(elsewhere), mg.GraphError, ["x belongs"]),
    "a closed session": (closed, mg.GraphError, ["closed", "mg.Session()"]),
}


assert not ONE_MODE.keys() & mistakes.ONE_MODE.keys()
ONE_MODE |= mistakes.ONE_MODE


@each(ONE_MODE)
@unharmed()
def test_mistakes_of_one_mode(name: str) -> None:
    caught(*ONE_MODE[name])


def test_a_name_that_does_not_exist_shows_those_that_do(own_graph: mg.Graph) -> None:
    image()
    with pytest.raises(mg.GraphError, match=r"no node named picture.* use one of image"):
        mg.Session().run("picture")


# ---- Nonsense -------------------------------------------------------------------------------


class Thing:
    """Something that is no number, no list and no function."""

    def __repr__(self) -> str:
        return "<a thing>"


NONSENSE = (None, "nonsense", Thing())
# What takes it all the same, and why.
TAKES_ALL = {
    "control_dependencies": "looked at when the block begins: see the table",
    "Schedule": "plain data, which Program.schedule fills and verifies",
    "from_caffe": "what the file system says of a path is passed on",
    "from_onnx": "what the file system says of a path is passed on",
    "load_graph": "what the file system says of a path is passed on",
    "name_scope": "a name may be any text",
    "run_functions_eagerly": "anything is true or false",
    "set_grad_enabled": "anything is true or false",
    "treat_as_user_code": "what is no path is that of no file",
}


def takes_something() -> Iterator[tuple[str, Callable[..., Any], int]]:
    """Public functions and layers, and how many arguments each needs."""
    for module in (mg, mg.nn, mg.nn.functional, mg.optim):
        for name in module.__all__:
            f = getattr(module, name)
            if not callable(f) or (inspect.isclass(f) and issubclass(f, Exception)):
                continue
            needed = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty]
            count = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in needed)
            if count:
                yield name, f, count


TAKERS = {name: (f, count) for name, f, count in takes_something()}


@each([name for name in TAKERS if name not in TAKES_ALL])
@unharmed()
def test_nonsense_is_refused_in_our_own_words(name: str) -> None:
    f, count = TAKERS[name]
    for x in NONSENSE:
        with pytest.raises(mg.GraphError) as found:
            f(*[x] * count)
        assert "test_errors.py" in str(found.value), f"{name}: where is the user's line?"


def test_what_takes_all_is_public() -> None:
    assert set(TAKES_ALL) <= set(TAKERS)
    assert len(TAKERS) > 100


def test_every_error_is_of_one_family_and_of_a_usual_class() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    assert len(kinds) >= 12
    for kind in kinds:
        assert issubclass(kind, mg.GraphError)
        assert kind.__doc__
        assert kind is mg.GraphError or len(kind.__bases__) >= 2, "and one that Python knows"
        assert getattr(mg, kind.__name__) is kind


# ---- The table of messages ------------------------------------------------------------------

# Rows that wait for the part of the engine that will say them.
NOT_YET: set[str] = set()


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@each(ERRORS)
def test_both_halves_of_a_row_say_the_same(key: str) -> None:
    english, chinese = ERRORS[key]
    assert english
    assert not re.search(r"[\u3000-\u9fff\uff00-\uffef]", english)
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert fields(english) == fields(chinese)
    assert english.count("Remedy: ") == chinese.count("解决办法：") <= 1


@pytest.mark.once
def test_every_row_is_used_and_every_row_that_is_used_exists() -> None:
    known = {name for name, kind in vars(errors).items() if isinstance(kind, type)} | {"fill"}
    call = re.compile(rf'\b(?:{"|".join(known)})\(\s*"([^"]*)"')
    texts: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        if path.name != "messages.py":
            source = re.sub(r"^\s*#.*", "", path.read_text("utf-8"), flags=re.MULTILINE)
            texts.update(re.findall(r'"(\w+)"', source))
            assert {*call.findall(source)} <= {*ERRORS}, path.name
    assert set(ERRORS) - texts == NOT_YET


LATIN, CHINESE = r"[A-Za-z0-9{}<>=@]", r"[\u4e00-\u9fff]"
TYPOGRAPHY = {
    "a Latin sign after a Chinese character": rf"{CHINESE}[,.;:!?()]",
    "no space between Chinese and Latin": rf"{CHINESE}{LATIN}|{LATIN}{CHINESE}",
    "a space beside full-width punctuation": r" [，。；：！？、（）]|[，。；：！？、（）] ",
    "two spaces": r"\S  +\S",
}
# {kind}, {use} and {what} are filled with Chinese; doubled braces are the braces of a dict.
CHINESE_TEXTS = {
    key: re.sub(r"\{(kind|use|what)\}", "用", pair[1]).replace("{{", "").replace("}}", "")
    for key, pair in ERRORS.items()
}
CHINESE_TEXTS |= {f"title of {name}": op.title[1] for name, op in REGISTRY.items()}


@pytest.mark.parametrize("rule", TYPOGRAPHY)
def test_chinese_typography(rule: str) -> None:
    wrong = {
        k: m.group() for k, t in CHINESE_TEXTS.items() if (m := re.search(TYPOGRAPHY[rule], t))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("rule", "text"),
    list(zip(TYPOGRAPHY, ["形状,轴", "形状{shape} 不", "图 （{op}）", "图  名"], strict=True)),
)
def test_the_rules_of_typography_can_fail(rule: str, text: str) -> None:
    assert re.search(TYPOGRAPHY[rule], text)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match='"en", "zh" or "both", not \'fr\''):
        messages.set_language("fr")  # type: ignore[arg-type]
    assert messages.get_language() == "en"
