"""Spellings that frameworks read differently: PyTorch's reading, or an error that names both."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg

pytestmark = pytest.mark.usefixtures("own_graph")

F = mg.nn.functional
A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
C = np.arange(16, dtype=np.float32).reshape(2, 2, 4)


def values(data: Any) -> list[Any]:
    """The same operand as a tensor and as a node."""
    return [mg.tensor(data), mg.placeholder(None, np.shape(data), np.asarray(data).dtype)]


def run(node: Any, x: Any, data: Any) -> Any:
    return mg.build_graph(x, node).compile(optimize=False)({x: data})


# ---- PyTorch's reading --------------------------------------------------------------------------

SAME: dict[str, tuple[Callable[[Any], Any], np.ndarray[Any, Any], Any]] = {
    "two axes are exchanged": (lambda x: x.transpose(0, 1), A, A.T),
    "two axes of three": (lambda x: x.transpose(1, 2), B, B.swapaxes(1, 2)),
    "from the end": (lambda x: x.transpose(-1, 0), B, B.swapaxes(-1, 0)),
    "an axis with itself": (lambda x: x.transpose(0, 0), A, A),
    "as a function": (lambda x: mg.transpose(x, 0, 1), A, A.T),
    "an order in a tuple": (lambda x: x.transpose((0, 1)), A, A),
    "an order of three": (lambda x: x.transpose(2, 0, 1), B, B.transpose(2, 0, 1)),
    "some axes as one": (lambda x: x.flatten(0, 1), B, B.reshape(6, 4)),
    "of two the larger": (lambda x: mg.max(x, x * 0 + 2), A, np.maximum(A, 2)),
    "the values": (lambda x: x.max(dim=1)[0], A, A.max(1)),
    "the positions": (lambda x: mg.min(x, dim=0, keepdim=True).indices, A, [[0, 0, 0]]),
    "the values alone": (lambda x: x.max(axis=1), A, A.max(1)),
    "an unbiased variance": (lambda x: x.var(0, unbiased=False), A, A.var(0)),
    "NumPy's word for it": (lambda x: mg.std(x, axis=0, ddof=0), A, A.std(0)),
    "the axis before the indices": (lambda x: mg.gather(x, 1, [[0], [2]]), A, [[0], [5]]),
    "the last axis padded": (lambda x: F.pad(x, (1, 2)), A, np.pad(A, ((0, 0), (1, 2)))),
    "two axes padded": (lambda x: F.pad(x, (1, 2, 0, 1)), A, np.pad(A, ((0, 1), (1, 2)))),
    "whole numbers": (lambda x: F.one_hot(mg.argmax(x, axis=1), 3), A, [[0, 0, 1], [0, 0, 1]]),
    "the ids before the table": (lambda x: F.embedding(np.array([1, 1]), x), A, A[[1, 1]]),
    "nothing dropped": (lambda x: F.dropout(x, 0.5, False), A, A),
}


@pytest.mark.parametrize("name", SAME)
def test_tensors_and_nodes_follow_pytorch(name: str) -> None:
    f, data, expected = SAME[name]
    x, node = values(data)
    np.testing.assert_allclose(f(x).data, expected, rtol=1e-6)
    found = run(f(node), node, data)
    np.testing.assert_array_equal(found, f(x).data)


def test_classes_are_axis_1_of_three_and_more() -> None:
    labels = np.array([[0, 1, 1, 0], [1, 1, 0, 0]])
    rows = mg.tensor(C.swapaxes(1, 2).reshape(-1, 2))
    for loss in (mg.cross_entropy, mg.nll_loss):
        expected = loss(rows, labels.reshape(-1))
        x, node = values(C)
        assert loss(x, labels).item() == expected.item()
        assert run(loss(node, labels), node, C) == expected.data
    square = np.arange(18, dtype=np.float32).reshape(2, 3, 3)  # either reading fits
    labels = np.array([[0, 1, 2], [2, 1, 0]])
    moved = mg.tensor(square.swapaxes(1, 2).reshape(-1, 3))
    found = mg.cross_entropy(mg.tensor(square), labels)
    assert found.item() == mg.cross_entropy(moved, labels.reshape(-1)).item()


# ---- Refused, with both readings ----------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "parts": (lambda x: mg.split(x, 2), A),
    "parts along an axis": (lambda x: mg.split(x, 1, axis=1), A),
    "max": (lambda x: mg.max(x, 1), A),
    "max of a value": (lambda x: x.max(0), A),
    "min": (lambda x: x.min(-1, keepdims=True), A),
    "over no axes": (lambda x: x.sum(axis=()), A),
    "the mean over no axes": (lambda x: mg.mean(x, []), A),
    "one pair for two axes": (lambda x: mg.pad(x, (1, 2)), A),
    "flat widths": (lambda x: mg.pad(x, (1, 2, 0, 1)), A),
    "rows or elements": (lambda x: mg.take(x, [1, 0]), A),
    "no axis of three": (lambda x: F.softmax(x), B),
    "no axis of three, logarithm": (lambda x: F.log_softmax(x), B),
    "no axis of a layer": (lambda x: mg.nn.Softmax()(x), B),
    "classes at the end": (lambda x: mg.cross_entropy(x, np.zeros((2, 2), int)), C),
    "two tables of integers": (lambda x: mg.embedding(x, np.array([0])), A.astype(int)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_read_in_two_ways_is_refused_with_both(name: str) -> None:
    f, data = REFUSED[name]
    for x in values(data):
        with pytest.raises(mg.ArgumentError) as caught:
            f(x)
        fields = caught.value.fields
        assert {"PyTorch"} <= {*str(fields["one"]).split(" / ")}
        for half in caught.value.pair:
            for words in fields.values():
                assert str(words) in half
            assert "test_readings.py, line" in half


# What the two remedies give, where that can be told without a choice of names.
EITHER: dict[str, tuple[Any, Any]] = {
    "parts": ([A], [A[:1], A[1:]]),
    "max": ((A.max(1), A.argmax(1)), A.max(1)),
    "max of a value": ((A.max(0), A.argmax(0)), A.max(0)),
    "one pair for two axes": (np.pad(A, ((0, 0), (1, 2))), np.pad(A, (1, 2))),
    "rows or elements": (A.reshape(-1)[[1, 0]], A[[1, 0]]),
}


@pytest.mark.parametrize("name", EITHER)
def test_either_remedy_gives_what_it_says(name: str) -> None:
    f, data = REFUSED[name]
    for x in values(data):
        with pytest.raises(mg.ArgumentError) as caught:
            f(x)
        for remedy, expected in zip(("as_one", "as_other"), EITHER[name], strict=True):
            place = {"mg": mg, "x": x, "indices": [1, 0]}
            found = eval(str(caught.value.fields[remedy]), place)
            many = isinstance(found, (list, tuple))
            if isinstance(x, mg.Node):
                parts = [run(part, x, data) for part in (found if many else [found])]
            else:
                parts = [part.data for part in (found if many else [found])]
            for part, wanted in zip(parts, expected if many else [expected], strict=True):
                np.testing.assert_array_equal(part, wanted)


MISTAKES: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "two axes for one and a flag": (lambda: mg.ones(2, 3).sum(0, 1), ["keepdims=1", "axis=(0, 1)"]),
    "an axis in two words": (lambda: mg.sum(mg.ones(2), axis=0, dim=0), ["dim=", "axis="]),
    "both axes of max": (lambda: mg.max(mg.ones(2), axis=0, dim=0), ["dim=0", "axis"]),
    "a dropout nobody counts": (lambda: F.dropout(mg.ones(3), 1), ["mg.nn.Dropout", "count="]),
    "a data type as a flag": (
        lambda: mg.tensor([1.0], mg.float64),  # type: ignore[arg-type]
        ["requires_grad=", "dtype="],
    ),
    "nesterov without momentum": (
        lambda: mg.optim.SGD([mg.tensor(1.0, requires_grad=True)], nesterov=True),
        ["SGD", "momentum="],
    ),
    "parts in no way": (lambda: mg.split(mg.ones(4)), ["sections=", "split_size="]),
    "parts in two ways": (lambda: mg.split(mg.ones(4), [4], sections=1), ["sections="]),
    "padding that mirrors": (lambda: F.pad(mg.ones(3), (1, 1), mode="reflect"), ['"constant"']),
    "padding in pairs": (lambda: F.pad(mg.ones(2), ((1, 1),)), ["mg.pad"]),
    "half a pair": (lambda: F.pad(mg.ones(2), (1, 1, 1)), ["the last axis first"]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_around_them_are_answered(name: str) -> None:
    make, words = MISTAKES[name]
    with pytest.raises(mg.ArgumentError) as caught:
        make()
    for half in caught.value.pair:
        assert "test_readings.py, line" in half
    for word in words:
        assert word in caught.value.pair[0]


# ---- Layers and optimisers ----------------------------------------------------------------------


def test_sequences_begin_with_time_unless_the_batch_comes_first() -> None:
    data = np.random.default_rng(0).standard_normal((5, 2, 3)).astype(np.float32)
    for kind in (mg.nn.RNN, mg.nn.GRU, mg.nn.LSTM):
        timed, batched = kind(3, 4, seed=1), kind(3, 4, batch_first=True, seed=1)
        x, node = values(data)
        y, state = timed(x)
        again, other = batched(x.swapaxes(0, 1))
        np.testing.assert_array_equal(y.data, again.data.swapaxes(0, 1))
        last = state[0] if isinstance(state, tuple) else state
        same = other[0] if isinstance(other, tuple) else other
        assert last.shape == (1, 2, 4)
        np.testing.assert_array_equal(last.data, same.data)
        np.testing.assert_array_equal(last.data[0], y.data[-1])
        np.testing.assert_array_equal(run(timed(node)[0], node, data), y.data)


POSITIONS = {  # what PyTorch has at these places of the call, where ours takes something there
    mg.nn.Linear: "in_features out_features bias",
    mg.nn.Conv2d: "in_channels out_channels kernel_size stride padding dilation groups bias",
    mg.nn.MaxPool2d: "kernel_size stride padding",
    mg.nn.Embedding: "num_embeddings embedding_dim",
    mg.nn.Dropout: "p",
    mg.nn.LayerNorm: "normalized_shape eps affine",
    mg.nn.BatchNorm1d: "num_features eps momentum affine",
    mg.nn.Flatten: "start_axis end_axis",
    mg.nn.RNN: "input_size hidden_size num_layers",
    mg.nn.LSTM: "input_size hidden_size num_layers",
    mg.nn.LSTMCell: "input_size hidden_size bias",
    mg.optim.SGD: "params lr momentum",
    mg.optim.Adam: "params lr betas eps weight_decay",
    mg.optim.AdamW: "params lr betas eps weight_decay",
    F.dropout: "x p training",
    F.conv2d: "x weight bias stride padding dilation groups",
}


@pytest.mark.parametrize("callee", POSITIONS)
def test_arguments_by_position_are_pytorchs(callee: Any) -> None:
    taken = inspect.signature(callee).parameters.values()
    by_position = [p.name for p in taken if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert by_position == POSITIONS[callee].split()


def test_children_are_modules_and_named_children_pairs() -> None:
    inner = mg.nn.Sequential(mg.nn.Linear(2, 2), mg.nn.ReLU())
    model = mg.nn.Sequential(inner, inner, mg.nn.Tanh())
    assert list(inner.children()) == [inner[0], inner[1]]
    assert list(model.children()) == [inner, model[2]], "each once"
    assert dict(inner.named_children()) == {"linear1": inner[0], "relu1": inner[1]}
    assert list(model.modules()) == [model, inner, *inner, model[2]]
    assert mg.optim.SGD([mg.tensor(1.0, requires_grad=True)]).lr == 0.001
