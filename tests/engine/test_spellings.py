"""Lines of PyTorch's users: answered as PyTorch does, by tensors and by nodes, or refused aloud."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from covering import each
from spellings import LINES, OPERANDS, REFUSED, asked, show

import minigrad as mg

ANSWERED = [line for line, answer in LINES.items() if answer != "refused" and line not in REFUSED]


def ours(line: str, make: Any = mg.tensor) -> Any:
    return asked(line, mg, mg.nn.functional, make)


@each(ANSWERED)
def test_the_answer_is_that_of_pytorch(line: str) -> None:
    assert show(ours(line)) == LINES[line]


@pytest.mark.parametrize("line", [line for line in LINES if line not in ANSWERED])
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises((mg.GraphError, TypeError)) as caught:
        ours(line)
    if line in REFUSED:
        assert REFUSED[line] in str(caught.value)
    for operand in OPERANDS:
        if f"{operand}." in line or f"({operand}" in line:
            with mg.Graph(), pytest.raises((mg.GraphError, TypeError)):
                ours(line, node)


def node(data: Any) -> mg.Node:
    return mg.placeholder(None, data.shape, data.dtype)


def fetched(value: Any) -> Any:
    """What a node becomes when the graph is run with the operands of the lines."""
    if not isinstance(value, mg.Node):
        return value
    given = [x for x in value.graph.nodes if x.op.name == "Placeholder"]
    data = {x: next(d for d in OPERANDS.values() if d.shape == x.shape) for x in given}
    array = mg.build_graph(given, value).compile(optimize=False)(data)
    return mg.tensor(np.asarray(array))


ONLY_OF_TENSORS = {"a.cpu()"}  # a node has no memory that could be anywhere


@each(ANSWERED)
def test_a_node_reads_a_line_as_a_tensor_does(line: str) -> None:
    with mg.Graph():
        try:
            found = ours(line, node)
        except mg.MissingNameError:
            assert line in ONLY_OF_TENSORS
            return
        leaves = fetched(found) if isinstance(found, mg.Node) else found
        if isinstance(found, (list, tuple)):
            leaves = [fetched(part) for part in found]
    assert show(leaves) == LINES[line]


# ---- The number of elements, and their lengths --------------------------------------------------


def test_the_size_is_a_number_and_gives_the_lengths() -> None:
    x, y = mg.tensor(OPERANDS["b"]), node(OPERANDS["b"])
    for value in (x, y):
        assert value.size == 24
        assert value.size // 2 == 12
        assert (value.size(), value.size(0), value.size(dim=-1)) == ((2, 3, 4), 2, 4)
        assert value.numel() == 24
        with pytest.raises(mg.ShapeError, match="axis 3"):
            value.size(3)
    assert f"{x.size} {x.size!r}" == "24 24"
    with mg.lazy_batch():
        assert (x * 2).size(1) == 3


def test_the_size_of_an_open_node_is_no_number() -> None:
    with mg.Graph():
        x, unknown = mg.placeholder("x", (None, 3, 4)), mg.placeholder("y")
        assert (x.size(), x.size(0), x.size(1)) == ((None, 3, 4), None, 3)
        uses = [
            lambda: x.numel(),
            lambda: x.size == 12,
            lambda: bool(x.size),
            lambda: range(x.size),
        ]
        for use in uses:
            with pytest.raises(mg.ShapeError) as caught:
                use()
            for half in caught.value.pair:
                assert "x.size(1)" in half
                assert "(None, 3, 4)" in half
        with pytest.raises(mg.ShapeError, match="give the placeholder a shape"):
            unknown.size(0)


@pytest.mark.parametrize("n", [1, 5])
def test_a_model_that_asks_for_the_batch_is_built_for_any(n: int) -> None:
    with mg.Graph():
        x = mg.placeholder("x", (None, 3, 4))
        views = [
            x.view(x.size(0), -1),
            x.reshape((x.shape[0], 2, -1)),
            mg.reshape(x, (x.size(0), 12)),
            x.view(x.size(0), 4, 3),
        ]
        assert [y.shape for y in views] == [(None, 12), (None, 2, 6), (None, 12), (None, 4, 3)]
        data = np.random.default_rng(0).standard_normal((n, 3, 4)).astype(np.float32)
        found = mg.run(mg.build_graph(x, views), {x: data})
        for y, z in zip(found, views, strict=True):
            np.testing.assert_array_equal(y, data.reshape(n, *z.shape[1:]))
        for wrong in ((3, None, 4), (None, None, 12), (None, "a")):
            with pytest.raises(mg.ArgumentError, match="Reshape"):
                x.reshape(wrong)


# ---- Words and what is behind them --------------------------------------------------------------


def test_words_are_there_for_completion_help_and_import() -> None:
    from minigrad import cat, clamp

    assert cat([mg.ones(1), mg.ones(1)]).shape == (2,)
    assert "mg.clip(x, low, high)" in (clamp.__doc__ or "")
    assert str(inspect.signature(clamp)) == "(x, low=None, high=None)"
    assert {"clamp", "permute", "to"} < {*dir(mg.ones(1))}
    assert {"cat", "eq"} < {*dir(mg)}
    assert "topk" not in dir(mg.ones(1))


def test_an_error_behind_a_word_names_the_line_of_the_user() -> None:
    for x in (mg.ones(2, 3), node(OPERANDS["a"])):
        with pytest.raises(mg.ShapeError) as caught:
            x.permute(0, 5)  # this line
        assert "x.permute(0, 5)  # this line" in str(caught.value)
        with pytest.raises(mg.ArgumentError, match=r"device='cuda:0'.*leave it out"):
            x.to("cuda:0")
    with pytest.raises(mg.ArgumentError, match="leave it out"):
        mg.nn.Linear(1, 1).to("cuda")


def test_a_clone_is_another_memory_and_passes_gradients_on() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    with mg.no_grad():
        y.zero_()
    assert x.tolist() == [1.0, 2.0]
    (x.clone() * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    truth = mg.tensor([True, False])
    assert truth.clone().tolist() == [True, False]
    assert truth.clone().data is not truth.data


def test_parameters_are_a_list_and_an_iterator() -> None:
    model = mg.nn.Sequential(mg.nn.Linear(2, 3), mg.nn.Linear(3, 1))
    names = [name for name, _ in model.named_parameters()]
    parameters = model.parameters()
    assert (len(parameters), next(model.parameters())) == (4, parameters[0])
    assert len(list(parameters)) == len(list(parameters)) == len(names), "it can be walked again"
    walked = model.parameters()
    assert [next(walked), next(walked)] == parameters[:2]
    assert list(walked) == parameters[2:], "a loop goes on from there"
    with pytest.raises(StopIteration):
        next(walked)
    assert mg.optim.SGD(model.parameters()).params == list(parameters)
    assert next(mg.nn.BatchNorm1d(2).buffers()).shape == (2,)


class Stacked(mg.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = mg.nn.ModuleList([mg.nn.Linear(2, 2, seed=0)])
        self.layers.append(mg.nn.Tanh()).extend([mg.nn.Linear(2, 1, seed=1)])

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def test_a_list_of_modules_is_a_part_of_the_model() -> None:
    model = Stacked()
    names = [name for name, _ in model.named_parameters()]
    assert names == ["layers.0.weight", "layers.0.bias", "layers.2.weight", "layers.2.bias"]
    assert [m.name for m in model.modules()] == [
        "stacked",
        "layers",
        *(f"layers.{i}" for i in range(3)),
    ]
    assert list(model.children()) == [model.layers]
    assert (len(model.layers), model.layers[-1].name) == (3, "layers.2")
    data = np.ones((1, 2), np.float32)
    with mg.Graph():
        x = mg.placeholder("x", (1, 2))
        y = model(x)
        assert y.name.startswith("stacked/layers.2/")
        found = mg.build_graph(x, y).compile(optimize=False)({x: data})
    np.testing.assert_array_equal(found, model(mg.tensor(data)).data)
    with pytest.raises(mg.ArgumentError, match="ModuleList"):
        mg.nn.ModuleList([lambda x: x])


def test_a_word_shows_what_it_stands_for() -> None:
    """Tools that look for the source find the line that was made, not one of the file beside it."""
    assert inspect.getsource(mg.Tensor.numel) == "def numel(x): return count(x)\n"


@pytest.mark.parametrize(
    ("make", "form"),
    [
        (lambda: mg.nn.Embedding(10, 3, 0), "Embedding(num_embeddings, embedding_dim, *, seed"),
        (lambda: mg.nn.Linear(2, 3, device="cpu"), "Linear(in_features, out_features, bias=True"),
        (lambda: mg.nn.Dropout(0.5, True), "Dropout(p=0.5, *, seed=None)"),
        (lambda: mg.nn.ReLU(True), "ReLU()"),
        (lambda: mg.nn.GRU(2), "GRU(input_size, hidden_size, num_layers=1, *, bias=True"),
        (lambda: mg.optim.Adam([mg.ones(1)], 0.1, (0.9, 0.99), 1e-8, 0, True), "Adam(params"),
    ],
)
def test_arguments_that_a_layer_does_not_have_are_answered_with_its_own(
    make: Any, form: str
) -> None:
    with pytest.raises(mg.ArgumentError) as caught:
        make()
    for sentence in caught.value.pair:
        assert form in sentence
        assert "test_spellings.py" in sentence


def test_what_fails_within_a_layer_of_ours_is_not_answered_so() -> None:
    class Wider(mg.nn.Linear):
        def __init__(self, width: int) -> None:
            super().__init__(width, 2 * width)

    assert Wider(2).weight.shape == (4, 2)
    with pytest.raises(TypeError, match="positional argument"):
        Wider()  # type: ignore[call-arg]
    assert str(inspect.signature(mg.nn.Embedding)).startswith("(num_embeddings: 'int'")
    assert isinstance(mg.nn.Linear(2, 2), mg.nn.Linear)
