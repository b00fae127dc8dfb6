"""Mistakes in indexing, layers, training, tracing and files: tables for test_errors.py to walk.

A row of BOTH is a function of operands, called with tensors, with placeholders of known shapes and
with placeholders of which nothing is known. A row of ONE_MODE is a function without operands. Each
says which class of error is raised, and words that must be in it. For control flow see
test_control.py, for `script` test_script_errors.py, for damaged files test_storage.py.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg

Case = tuple[Callable[..., Any], list[Any], type[Exception], list[str]]


def shaped(*shapes: tuple[int, ...]) -> list[Any]:
    return [np.ones(shape, np.float32) for shape in shapes]


ONE, INTEGERS, BOOLS = shaped((2, 3)), [np.array([1, 2])], [np.array([True])]
IMAGE, KERNEL = (1, 1, 5, 5), (2, 1, 3, 3)
CONVOLUTIONS = [mg.nn.Conv2d(1, 1, 3, seed=i) for i in range(8)]


def eight_convolutions(x: Any) -> Any:
    for layer in CONVOLUTIONS:
        x = layer(x)
    return x


BOTH: dict[str, Case] = {
    # indexing
    "index beyond the end": (
        lambda x: x[5],
        ONE,
        mg.IndexRangeError,
        ["Slice", "index 5", "axis 0", "length 2", "from -1 at the end"],
    ),
    "index before the front": (lambda x: x[0, -4], ONE, mg.IndexRangeError, ["-4", "axis 1"]),
    "too many indices": (lambda x: x[0, 0, 0], ONE, mg.ShapeError, ["3 indices", "(2, 3)"]),
    "a float as index": (lambda x: x[1.5], ONE, mg.DtypeError, ["1.5", "whole numbers"]),
    "text as index": (lambda x: x["a"], ONE, mg.DtypeError, ["'a'", "cannot be an index"]),
    "two ellipses": (lambda x: x[..., ...], ONE, mg.DtypeError, ["one ..."]),
    "a step of 0": (lambda x: x[::0], ONE, mg.DtypeError, ["a step other than 0"]),
    "positions outside": (lambda x: x[[0, 7]], ONE, mg.IndexRangeError, ["Take", "index 7"]),
    "positions of floats": (
        lambda x: mg.take(x, np.array([0.5]), axis=0),
        ONE,
        mg.DtypeError,
        ["Take", "float64", "arrays of integers"],
    ),
    "take along no axis": (
        lambda x: mg.take(x, np.array([0]), axis=2),
        ONE,
        mg.ShapeError,
        ["Take", "axis 2", "from -2 to 1"],
    ),
    "gather by floats": (
        lambda x: mg.gather(x, np.ones((2, 1)), axis=1),
        ONE,
        mg.DtypeError,
        ["Gather", "float64"],
    ),
    "gather by another shape": (
        lambda x: mg.gather(x, np.zeros((3, 1), int), axis=1),
        ONE,
        mg.ShapeError,
        ["Gather", "(3, 1)", "(2, 3)", "mg.take"],
    ),
    "gather outside": (
        lambda x: mg.gather(x, np.full((2, 1), 3), axis=1),
        ONE,
        mg.IndexRangeError,
        ["Gather", "index 3", "axis 1"],
    ),
    # shapes
    "join unlike lengths": (
        lambda a, b: mg.concatenate([a, b]),
        shaped((2, 3), (2, 4)),
        mg.ShapeError,
        ["Concatenate", "(2, 3), (2, 4)", "the same length"],
    ),
    "join unlike ranks": (
        lambda a, b: mg.concatenate([a, b]),
        shaped((2, 3), (3,)),
        mg.ShapeError,
        ["Concatenate", "the same number of axes"],
    ),
    "join along no axis": (
        lambda a, b: mg.concatenate([a, b], axis=2),
        shaped((2, 3), (2, 3)),
        mg.ShapeError,
        ["Concatenate", "axis 2"],
    ),
    "stack unlike shapes": (
        lambda a, b: mg.stack([a, b]),
        shaped((2, 3), (2, 4)),
        mg.ShapeError,
        ["Stack", "(2, 3), (2, 4)"],
    ),
    "repeat to what does not fit": (
        lambda x: mg.broadcast_to(x, (4, 3)),
        ONE,
        mg.ShapeError,
        ["BroadcastTo", "(2, 3)", "(4, 3)"],
    ),
    "repeat to text": (lambda x: mg.broadcast_to(x, "ab"), ONE, mg.ArgumentError, ["shape='ab'"]),
    "tile below 0": (lambda x: mg.tile(x, -1), ONE, mg.ArgumentError, ["tile", "repeats=-1"]),
    "pad too few axes": (
        lambda x: mg.pad(x, ((1, 1),)),
        ONE,
        mg.ShapeError,
        ["Pad", "((1, 1),)", "(before, after)"],
    ),
    "pad with text": (lambda x: mg.pad(x, "ab"), ONE, mg.ArgumentError, ["Pad", "widths='ab'"]),
    "an axis beyond": (lambda x: mg.expand_dims(x, 4), ONE, mg.ShapeError, ["from -3 to 2"]),
    "squeeze a long axis": (
        lambda x: mg.squeeze(x, axis=1),
        ONE,
        mg.ShapeError,
        ["Squeeze", "axis 1", "not 1"],
    ),
    "reshape to text": (lambda x: x.reshape("a"), ONE, mg.ArgumentError, ["Reshape", "'a'"]),
    "transpose by text": (lambda x: x.transpose("a"), ONE, mg.ArgumentError, ["Transpose"]),
    "an axis of text": (lambda x: x.sum(axis="rows"), ONE, mg.ArgumentError, ["Sum", "'rows'"]),
    "a fraction of an axis": (lambda x: x.mean(axis=1.5), ONE, mg.ArgumentError, ["axis=1.5"]),
    "True as an axis": (lambda x: x.max(axis=True), ONE, mg.ArgumentError, ["Max", "axis=True"]),
    "running sum along no axis": (lambda x: x.cumsum(2), ONE, mg.ShapeError, ["CumSum", "axis 2"]),
    "running sum along all": (lambda x: mg.cumsum(x, None), ONE, mg.ArgumentError, ["axis=None"]),
    "softmax along all": (
        lambda x: mg.softmax(x, axis=None),
        ONE,
        mg.ArgumentError,
        ["Softmax", "axis=None", "one whole number"],
    ),
    "log-sum-exp along no axis": (lambda x: x.logsumexp(3), ONE, mg.ShapeError, ["LogSumExp"]),
    "a position along two axes": (
        lambda x: x.argmax(axis=(0, 1)),
        ONE,
        mg.ArgumentError,
        ["ArgMax", "axis=(0, 1)", "one whole number"],
    ),
    "the smallest of nothing": (
        lambda x: x.min(),
        shaped((0, 3)),
        mg.ShapeError,
        ["Min", "(0, 3)", "no elements"],
    ),
    # types, conditions, bounds
    "choose by floats": (
        lambda x: mg.where(x, x, x),
        ONE,
        mg.DtypeError,
        ["Where", "float32", "compare first", "x > 0"],
    ),
    "choose from unlike shapes": (
        lambda a, b: mg.where(a > 0, b, b),
        shaped((4,), (2, 3)),
        mg.ShapeError,
        ["Where", "(4,), (2, 3), (2, 3)"],
    ),
    "and of floats": (lambda x: x & x, ONE, mg.DtypeError, ["And", "(x > 0) & (x < 1)"]),
    "not of floats": (lambda x: ~x, ONE, mg.DtypeError, ["Not", "float32"]),
    "difference of bools": (lambda a: a - a, BOOLS, mg.DtypeError, ["Sub", "difference"]),
    "sign of bools": (lambda a: mg.sign(a), BOOLS, mg.DtypeError, ["Sign", "astype(int)"]),
    "integers divided by 0": (lambda x: x // 0, INTEGERS, mg.NumericError, ["FloorDivide", "0"]),
    "remainder of 0": (lambda x: x % 0, INTEGERS, mg.NumericError, ["Mod", "use floats"]),
    "a bound of text": (lambda x: mg.clip(x, "a"), ONE, mg.ArgumentError, ["Clip", "low='a'"]),
    "a bound for each": (
        lambda x: x.clip(high=[1, 2, 3]),
        ONE,
        mg.ArgumentError,
        ["Clip", "high=[1, 2, 3]", "mg.minimum"],
    ),
    "a type that is not there": (
        lambda x: x.astype("abc"),
        ONE,
        mg.ArgumentError,
        ["astype", "dtype='abc'", "mg.float32"],
    ),
    "a complex type": (lambda x: mg.cast(x, complex), ONE, mg.ArgumentError, ["cast", "complex"]),
    "an unknown form of gelu": (lambda x: mg.gelu(x, "exact"), ONE, mg.DtypeError, ["none, tanh"]),
    # images
    "channels": (
        lambda x, w: mg.conv2d(x, w),
        shaped((1, 3, 5, 5), KERNEL),
        mg.ShapeError,
        ["Conv2d", "3 channels", "take 1", "in_channels", "out_channels"],
    ),
    "a kernel too large": (
        lambda x, w: mg.conv2d(x, w),
        shaped((1, 1, 2, 5), KERNEL),
        mg.ShapeError,
        ["Conv2d", "3 × 3", "2 × 5", "padding=1"],
    ),
    "the eighth layer": (
        eight_convolutions,
        shaped((1, 1, 16, 16)),
        mg.ShapeError,
        ["Conv2d", "3 × 3", "2 × 2", "16 becomes 14", "no eighth layer fits", 'padding="same"'],
    ),
    "images without channels": (
        lambda x, w: mg.conv2d(x, w),
        shaped((5, 5), KERNEL),
        mg.ShapeError,
        ["Conv2d", "4 axes (batch, channels, height, width)", "(5, 5)"],
    ),
    "kernels without channels": (
        lambda x, w: mg.conv2d(x, w),
        shaped(IMAGE, (3, 3)),
        mg.ShapeError,
        ["Conv2d", "4 axes (kernels, channels, height, width)", "(3, 3)"],
    ),
    "a stride of 0": (
        lambda x, w: mg.conv2d(x, w, stride=0),
        shaped(IMAGE, KERNEL),
        mg.ShapeError,
        ["Conv2d", "stride=0", "(height, width)"],
    ),
    "an unknown padding": (
        lambda x, w: mg.conv2d(x, w, padding="full"),
        shaped(IMAGE, KERNEL),
        mg.ShapeError,
        ["Conv2d", "padding='full'"],
    ),
    "the same size with steps": (
        lambda x, w: mg.conv2d(x, w, stride=2, padding="same"),
        shaped(IMAGE, KERNEL),
        mg.ShapeError,
        ["Conv2d", "stride (2, 2)", "stride=1"],
    ),
    "a pool too large": (
        lambda x: mg.max_pool2d(x, 6),
        shaped(IMAGE),
        mg.ShapeError,
        ["MaxPool2d", "6 × 6", "5 × 5"],
    ),
    "a pool of 0": (lambda x: mg.avg_pool2d(x, 0), shaped(IMAGE), mg.ShapeError, ["AvgPool2d"]),
    "a frame wider than the pool": (
        lambda x: mg.avg_pool2d(x, 2, padding=2),
        shaped(IMAGE),
        mg.ShapeError,
        ["AvgPool2d", "padding 2", "half of the window"],
    ),
    # layers as functions, losses
    "an id out of range": (
        lambda w: mg.embedding(w, np.array([2])),
        ONE,
        mg.IndexRangeError,
        ["index 2", "length 2"],
    ),
    "an id that is no integer": (
        lambda w: mg.embedding(w, np.array([1.0])),
        ONE,
        mg.DtypeError,
        ["float64", "cannot be an index"],
    ),
    "classes of floats": (lambda x: mg.one_hot(x, 3), ONE, mg.DtypeError, ["OneHot", "float32"]),
    "a depth below 0": (lambda x: mg.one_hot(x, -3), INTEGERS, mg.ArgumentError, ["depth=-3"]),
    "no probability": (
        lambda x: mg.dropout(x, p=1.5, count=0),
        ONE,
        mg.ShapeError,
        ["Dropout", "p=1.5"],
    ),
    "half a run": (
        lambda x: mg.dropout(x, count=0.5),
        ONE,
        mg.DtypeError,
        ["count", "run_counter()"],
    ),
    "a class out of range": (
        lambda x: mg.nll_loss(x, np.array([0, 9])),
        ONE,
        mg.IndexRangeError,
        ["index 9", "length 3"],
    ),
}
SEEN_IN_THE_RUN = {"positions outside", "gather outside", "an id out of range"}
SEEN_IN_THE_RUN |= {"integers divided by 0", "remainder of 0", "a class out of range"}


# ---- Mistakes of one mode -------------------------------------------------------------------


def leaf(value: Any = 2.0) -> mg.Tensor:
    return mg.tensor(value, requires_grad=True)


def pair() -> mg.Tensor:
    return leaf([1.0, 2.0])


def saved_value_changed() -> None:
    x = leaf()
    y = mg.exp(x)
    y += 1
    y.backward()


def view_of_a_leaf() -> None:
    view = pair()[0:1]
    view += 1


def view_of_a_result() -> None:
    y = pair() * 2
    view = y[0:1]
    view += 1


def item(x: mg.Tensor, key: Any, value: Any) -> None:
    x[key] = value


def add_in_place(x: Any, other: Any) -> None:
    x += other


def hook_of_another_shape() -> None:
    x = pair()
    x.register_hook(lambda g: g.sum())
    (x * 3).sum().backward()


class Nothing(mg.nn.Module):
    """A module without forward."""


class NoRule(mg.optim.Optimizer):
    """An optimiser without a rule."""


def step_without_a_rule() -> None:
    x = leaf()
    (x * x).backward()
    NoRule([x]).step()


LAYER = mg.nn.Linear(2, 3, seed=0)


def node(shape: Any = ()) -> mg.Node:
    return mg.placeholder("x", shape)


def decides(x: Any) -> Any:
    return x if x > 0 else -x


def holds_a_variable(x: Any) -> Any:
    return x + mg.Variable(1.0)


def leaked() -> Any:
    kept = []

    @mg.function
    def f(x: Any) -> Any:
        kept.append(x * 2)
        return x

    f(mg.tensor(1.0))
    return kept[0] + 1


def of_another_width() -> Any:
    f = mg.function(lambda x: x, input_signature=[mg.TensorSpec((None, 3))])
    return f(mg.ones(2, 4))


def updated_twice() -> Any:
    w = mg.Variable(1.0)
    return mg.theano_function([], [], updates=[(w, w + 1), (w, w + 2)])


def one_too_many() -> Any:
    x = node()
    return mg.theano_function([x], x * 2)(1, 2)


def not_among_the_inputs() -> Any:
    x, y = node(), mg.placeholder("y", ())
    return mg.theano_function([x], x + y)


ONE_MODE: dict[str, tuple[Callable[[], Any], type[Exception], list[str]]] = {
    # a tensor as a single number
    "many as one": (lambda: pair().item(), mg.ShapeError, ["item", "(2,)", "x.sum()"]),
    "many as a condition": (lambda: bool(pair() > 1), mg.ShapeError, ["(x > 0).all()", "any()"]),
    "many as a float": (lambda: float(pair()), mg.ShapeError, ["float", "(2,)"]),
    "the length of a number": (lambda: len(leaf()), mg.ShapeError, ["len", "1 axis", "()"]),
    "rows of a number": (lambda: list(leaf()), mg.ShapeError, ["1 axis or more"]),
    "a float tensor as index": (lambda: [1, 2][leaf(1.0)], mg.DtypeError, ["index", "float32"]),
    "a mask of another shape": (
        lambda: mg.ones(2, 3)[np.array([True, False, True])],
        mg.ShapeError,
        ["mask", "(3,)", "(2, 3)"],
    ),
    "a mask that is a node": (
        lambda: node((3,))[mg.placeholder("m", (3,), bool)],
        mg.ShapeError,
        ["mask m", "mg.where(mask, x, 0)"],
    ),
    # in place, hooks, backward
    "a saved value changed": (
        saved_value_changed,
        mg.GradientError,
        ["Exp saved", "changed in place", "y += 1", "y = y + 1"],
    ),
    "a view of a leaf in place": (view_of_a_leaf, mg.GradientError, ["view of a leaf", "no_grad"]),
    "a view of a result in place": (
        view_of_a_result,
        mg.GradientError,
        ["the same memory", "y = y + 1"],
    ),
    "an item of a leaf": (lambda: item(pair(), 0, 5.0), mg.GradientError, ["x[…] =", "no_grad()"]),
    "an item beyond the end": (lambda: item(mg.zeros(3), 3, 1.0), mg.IndexRangeError, ["index 3"]),
    "items of another shape": (
        lambda: item(mg.zeros(3), slice(2), mg.zeros(3)),
        mg.ShapeError,
        ["(2,), (3,)"],
    ),
    "in place to a larger shape": (
        lambda: add_in_place(mg.ones(2), mg.ones(2, 2)),
        mg.ShapeError,
        ["+=", "(2, 2)", "(2,)"],
    ),
    "in place from float to integer": (
        lambda: add_in_place(mg.tensor([1, 2]), 1.5),
        mg.DtypeError,
        ["+=", "int64", "astype"],
    ),
    "in place with a node": (
        lambda: mg.ones(2).add_(node((2,))),
        mg.TraceError,
        ["x (Placeholder"],
    ),
    "integers filled with NaN": (
        lambda: mg.tensor([1, 2]).fill_(float("nan")),
        mg.DtypeError,
        ["nan", "int64"],
    ),
    "copy of another shape": (lambda: mg.zeros(2).copy_(mg.zeros(3)), mg.ShapeError, ["copy_"]),
    "a result made a constant": (
        lambda: (leaf() * 2).requires_grad_(False),
        mg.GradientError,
        ["requires_grad_", "x.detach()"],
    ),
    "integers made parameters": (
        lambda: mg.tensor([1]).requires_grad_(),
        mg.DtypeError,
        ["int64", "2.0 instead of 2"],
    ),
    "a gradient kept of a constant": (
        lambda: mg.tensor(1.0).retain_grad(),
        mg.GradientError,
        ["retain_grad", "requires_grad=True"],
    ),
    "a hook of a constant": (
        lambda: mg.tensor(1.0).register_hook(print),
        mg.GradientError,
        ["register_hook", "requires_grad=True"],
    ),
    "a hook that is no function": (lambda: leaf().register_hook(3), mg.ArgumentError, ["hook=3"]),
    "a hook of another shape": (hook_of_another_shape, mg.GradientError, ["()", "(2,)"]),
    "a copy of a result": (lambda: copy.deepcopy(leaf() * 2), mg.GradientError, ["x.detach()"]),
    "a pickled result": (lambda: pickle.dumps(leaf() * 2), mg.GradientError, ["pickle", "Mul"]),
    "grad of a function": (
        lambda: mg.grad(abs),
        mg.ArgumentError,
        ["grad", "outputs=<built-in function abs>", "mg.grad(f(x), [x])"],
    ),
    "grad of no inputs": (lambda: mg.grad(leaf() * 2), mg.ArgumentError, ["inputs=None"]),
    "grad of text": (lambda: mg.grad(leaf() * 2, ["x"]), mg.ArgumentError, ["inputs='x'"]),
    "too many weights": (
        lambda: mg.grad(leaf() * 2, [leaf()], [1.0, 2.0]),
        mg.ArgumentError,
        ["grad_outputs=[1.0, 2.0]", "pass 1"],
    ),
    "backward of a node": (
        lambda: node().backward(),
        mg.TraceError,
        ["backward", "mg.gradients(loss"],
    ),
    "a node in place": (lambda: node().copy_(1), mg.TraceError, ["copy_", "cannot be changed"]),
    "differences of a number": (
        lambda: mg.check_grads(3, 1.0),
        mg.ArgumentError,
        ["f=3", "not f()"],
    ),
    "differences of no tensor": (
        lambda: mg.check_grads(lambda x: 1, 1.0),
        mg.ArgumentError,
        ["check_grads", "return one tensor"],
    ),
    # making tensors
    "a type misspelt": (
        lambda: mg.zeros(2, dtype="float3"),
        mg.ArgumentError,
        ["zeros", "dtype='float3'", "mg.float32"],
    ),
    "half a length": (lambda: mg.ones(2.5), mg.ShapeError, ["ones", "(2.5,)", "whole numbers"]),
    "steps of 0": (lambda: mg.arange(0, 5, 0), mg.ArgumentError, ["arange", "other than 0"]),
    "a range to text": (lambda: mg.arange("5"), mg.ArgumentError, ["arange", "'5'"]),
    "nothing to draw from": (lambda: mg.randint(5, 5, 3), mg.ArgumentError, ["high=5", "from 6"]),
    "integers between 0 and 1": (lambda: mg.rand(3, dtype=int), mg.ArgumentError, ["mg.float64"]),
    "a seed below 0": (lambda: mg.randn(3, seed=-1), mg.ArgumentError, ["randn", "seed=-1"]),
    "full of many": (lambda: mg.full((2,), [1, 2]), mg.ShapeError, ["full", "no axes", "(2,)"]),
    "nothing to join": (lambda: mg.concatenate([]), mg.ShapeError, ["Concatenate", "a list"]),
    "one to join": (
        lambda: mg.concatenate(mg.ones(2, 3)),
        mg.ArgumentError,
        ["Concatenate", "as in [a, b]"],
    ),
    "a number to stack": (lambda: mg.stack(3), mg.ArgumentError, ["Stack", "xs=3"]),
    "parts that do not add up": (
        lambda: mg.split(mg.ones(2, 5), [2, 2], axis=1),
        mg.ShapeError,
        ["Split", "axis 1", "(2, 5)", "[2, 2]", "add up"],
    ),
    "parts that are not equal": (
        lambda: mg.split(node((5,)), sections=2),
        mg.ShapeError,
        ["Split", "(5,)", "divides its length"],
    ),
    "equal parts of an open axis": (
        lambda: mg.split(node((None,)), sections=2),
        mg.ShapeError,
        ["(None,)", "an open axis needs the list"],
    ),
    "axes exchanged with none": (
        lambda: mg.swapaxes(mg.ones(2, 3), 0, 2),
        mg.ShapeError,
        ["axis 2", "(2, 3)"],
    ),
    "turned round along none": (
        lambda: mg.flip(node((2, 3)), 2),
        mg.ShapeError,
        ["Flip", "(2, 3)"],
    ),
    "predictions of another shape": (
        lambda: mg.mse_loss(mg.ones(4, 1), mg.ones(4)),
        mg.ShapeError,
        ["mse_loss", "(4,)", "(4, 1)", "every prediction with every target"],
    ),
    # layers
    "a width below 0": (lambda: mg.nn.Linear(-1, 3), mg.ArgumentError, ["in_features=-1"]),
    "a width of text": (lambda: mg.nn.Linear("784", 10), mg.ArgumentError, ["Linear", "'784'"]),
    "a kernel of 0": (lambda: mg.nn.Conv2d(1, 2, 0), mg.ShapeError, ["Conv2d", "kernel_size=0"]),
    "half a channel": (lambda: mg.nn.Conv2d(1.5, 2, 3), mg.ArgumentError, ["in_channels=1.5"]),
    "a function as a layer": (
        lambda: mg.nn.Sequential(LAYER, mg.relu),
        mg.ArgumentError,
        ["Sequential", "mg.nn.ReLU()"],
    ),
    "no forward": (lambda: Nothing()(1.0), mg.GraphError, ["Nothing", "forward(self, x)"]),
    "a state with a name missing": (
        lambda: LAYER.load_state_dict({"weight": np.ones((3, 2))}),
        mg.GraphError,
        ["Linear", "Missing: bias"],
    ),
    "a state of another width": (
        lambda: LAYER.load_state_dict({"weight": np.ones((2, 3)), "bias": np.ones(3)}),
        mg.ShapeError,
        ["load_state_dict", "weight", "(3, 2)", "(2, 3)"],
    ),
    "a file as a state": (
        lambda: LAYER.load_state_dict("model.npz"),
        mg.ArgumentError,
        ["values='model.npz'", "state_dict()"],
    ),
    "a table of rows below 0": (lambda: mg.nn.Embedding(-1, 3), mg.ArgumentError, ["Embedding"]),
    "a row that is not there": (
        lambda: mg.nn.Embedding(4, 2)(mg.tensor([0, 4])),
        mg.IndexRangeError,
        ["index 4", "length 4"],
    ),
    "a layer without probability": (lambda: mg.nn.Dropout(1.5), mg.ShapeError, ["Dropout", "1.5"]),
    "a probability of text": (lambda: mg.nn.Dropout("half"), mg.ArgumentError, ["p='half'"]),
    "a norm of another width": (
        lambda: mg.nn.LayerNorm(4)(mg.ones(2, 3)),
        mg.ShapeError,
        ["layer_norm", "(2, 3)", "(4,)"],
    ),
    "other channels": (
        lambda: mg.nn.BatchNorm1d(4)(mg.ones(2, 3)),
        mg.ShapeError,
        ["BatchNorm1d", "(2, 3)", "length 4"],
    ),
    "images of two axes": (
        lambda: mg.nn.BatchNorm2d(3)(mg.ones(2, 3)),
        mg.ShapeError,
        ["BatchNorm2d", "4 axes", "(2, 3)"],
    ),
    "a batch of one": (
        lambda: mg.nn.BatchNorm1d(3)(mg.ones(1, 3)),
        mg.ShapeError,
        ["BatchNorm1d", "(1, 3)", "eval()"],
    ),
    "a sequence without time": (
        lambda: mg.nn.RNN(3, 4)(mg.ones(2, 3)),
        mg.ShapeError,
        ["RNN", "3 axes (time, batch, features)", "(2, 3)"],
    ),
    "a state that is no pair": (
        lambda: mg.nn.LSTM(3, 4)(mg.ones(2, 5, 3), mg.zeros(1, 2, 4)),
        mg.ArgumentError,
        ["LSTM", "the pair (h, c)"],
    ),
    "a pair as a state": (
        lambda: mg.nn.GRUCell(3, 4)(mg.ones(2, 3), (mg.zeros(2, 4), mg.zeros(2, 4))),
        mg.ArgumentError,
        ["GRUCell", "only an LSTM"],
    ),
    "no layers at all": (lambda: mg.nn.RNN(3, 4, num_layers=0), mg.ArgumentError, ["from 1"]),
    "a cell without a state": (
        lambda: mg.dynamic_rnn(lambda x, s: x, mg.ones(2, 3, 4)),
        mg.ArgumentError,
        ["dynamic_rnn", "zero_state(x)"],
    ),
    # training
    "a model to train": (lambda: mg.optim.SGD(LAYER), mg.ArgumentError, ["model.parameters()"]),
    "nothing to change": (lambda: mg.optim.SGD("w"), mg.ArgumentError, ["SGD", "params='w'"]),
    "nothing to step": (lambda: mg.optim.SGD().step(), mg.GraphError, ["SGD", "no parameters"]),
    "one tensor to train": (lambda: mg.optim.SGD(pair()), mg.ArgumentError, ["a list of tensors"]),
    "a result to train": (
        lambda: mg.optim.Adam([leaf() * 0.1]),
        mg.GradientError,
        ["Adam", "computed by Mul", "leaves"],
    ),
    "a rate below 0": (lambda: mg.optim.SGD([leaf()], lr=-1), mg.ArgumentError, ["lr=-1"]),
    "a rate of text": (lambda: mg.optim.Adam([leaf()], lr="x"), mg.ArgumentError, ["lr='x'"]),
    "a mean that never moves": (
        lambda: mg.optim.Adam([leaf()], betas=(0.9, 1.0)),
        mg.ArgumentError,
        ["betas=(0.9, 1.0)", "below 1"],
    ),
    "no rule": (step_without_a_rule, mg.GraphError, ["NoRule", "rule(self, p, g, *slots)"]),
    "a tensor to minimise": (
        lambda: mg.optim.SGD([leaf()]).minimize(leaf() * 2),
        mg.GraphError,
        ["SGD.minimize", "mg.placeholder"],
    ),
    "text to clip": (lambda: mg.optim.clip_grad_norm("w", 1.0), mg.ArgumentError, ["params='w'"]),
    "a norm below 0": (
        lambda: mg.clip_by_global_norm([mg.ones(2)], -1),
        mg.ArgumentError,
        ["clip_norm=-1", "from 0"],
    ),
    # static graphs
    "a shape of text": (
        lambda: mg.placeholder("x", shape="784"),
        mg.ArgumentError,
        ["placeholder", "shape='784'", "(None, 784)"],
    ),
    "half a length fed": (lambda: node((2.5,)), mg.ArgumentError, ["(2.5,)"]),
    "a type that nobody feeds": (
        lambda: mg.placeholder("x", dtype="text"),
        mg.ArgumentError,
        ["placeholder", "dtype='text'"],
    ),
    "a variable of nothing": (lambda: mg.Variable(None), mg.DtypeError, ["Variable", "None"]),
    "a declared length below 0": (lambda: mg.TensorSpec((-1,)), mg.ShapeError, ["TensorSpec"]),
    "feeds in a list": (
        lambda: mg.run(mg.build_graph(None, node() * 1), [1]),
        mg.ArgumentError,
        ["feed_dict=[1]", "a dict"],
    ),
    "a session of a number": (lambda: mg.Session(graph=5), mg.ArgumentError, ["graph=5"]),
    "gradients of nothing": (lambda: mg.gradients([], []), mg.ArgumentError, ["at least one node"]),
    "weights of too many": (
        lambda: mg.gradients(node(), [], [1, 2]),
        mg.ArgumentError,
        ["grad_ys=[1, 2]", "one for each output"],
    ),
    "a group of nothing": (lambda: mg.group(None), mg.GraphError, ["group", "None"]),
    "read of a constant": (
        lambda: mg.read_value(mg.constant(1.0, name="c")),
        mg.GraphError,
        ["ReadValue", "c is not a variable"],
    ),
    "a branch that is no function": (lambda: mg.cond(True, 1, 2), mg.ArgumentError, ["true_fn=1"]),
    "a loop of a number": (
        lambda: mg.while_loop(1, lambda i: i, 0),
        mg.ArgumentError,
        ["cond_fn=1", "not f()"],
    ),
    "a scan over a number": (
        lambda: mg.scan(lambda c, x: (c, x), 0.0, mg.tensor(1.0)),
        mg.ShapeError,
        ["scan", "1 axis or more"],
    ),
    "steps below 0": (
        lambda: mg.while_loop(lambda i: i < 3, lambda i: i + 1, 0, max_steps=-1),
        mg.ArgumentError,
        ["max_steps=-1"],
    ),
    # traced functions
    "a function of a number": (lambda: mg.function(3), mg.ArgumentError, ["not f()"]),
    "a trace of a result": (lambda: mg.trace(leaf() * 2, 1.0), mg.ArgumentError, ["trace"]),
    "a script of a number": (lambda: mg.script(3), mg.ArgumentError, ["script"]),
    "a graph of a number": (lambda: mg.make_graph(3), mg.ArgumentError, ["make_graph"]),
    "a branch while tracing": (
        lambda: mg.function(decides)(mg.tensor(1.0)),
        mg.TraceError,
        ["Greater", "argument x", "decides is traced", "mg.cond", "mg.script"],
    ),
    "a variable while tracing": (
        lambda: mg.function(holds_a_variable)(mg.tensor(1.0)),
        mg.GraphError,
        ["Variable", "build it outside"],
    ),
    "a value that leaks": (leaked, mg.TraceError, ["Mul", "while f was traced", "return it"]),
    "another width than declared": (of_another_width, mg.FeedError, ["(None, 3)", "(2, 4)"]),
    "another width than traced": (
        lambda: mg.trace(lambda x: x * 2, mg.ones(3))(mg.ones(4)),
        mg.FeedError,
        ["(3,)", "(4,)", "@mg.function"],
    ),
    # Theano's function, programs, files
    "an input that is missing": (not_among_the_inputs, mg.NotFedError, ["y", "givens="]),
    "an argument too many": (one_too_many, mg.FeedError, ["(x)", "one value for each input"]),
    "two updates of one variable": (updated_twice, mg.GraphError, ["two updates"]),
    "an update of an input": (
        lambda: mg.theano_function([], [], updates=[(node(), 1.0)]),
        mg.GraphError,
        ["x is not a variable"],
    ),
    "updates that are no pairs": (
        lambda: mg.theano_function([], [], updates=3),
        mg.ArgumentError,
        ["updates=3"],
    ),
    "a program of a number": (lambda: mg.Program(3), mg.ArgumentError, ["Program", "graph=3"]),
    "compiling a function": (
        lambda: mg.compile(lambda x: x),  # type: ignore[arg-type]
        mg.ArgumentError,
        ["compile(graph,", "mg.function(f)"],
    ),
    "saving weights": (
        lambda: mg.save({"w": 1.0}, "weights"),  # type: ignore[arg-type]
        mg.ArgumentError,
        ["save(graph,", "np.savez("],
    ),
    "an unknown executor": (
        lambda: mg.build_graph(None, mg.constant(1.0)).compile(executor="cuda"),
        mg.GraphError,
        ["cuda", "numpy"],
    ),
    "an unknown pass": (
        lambda: mg.build_graph(None, mg.constant(1.0)).optimize(["magic"]),
        mg.GraphError,
        ["magic", "fuse"],
    ),
    "a file that is no graph": (
        lambda: mg.load_graph(__file__),
        mg.FormatError,
        ["load_graph", "mistakes.py", "nothing was loaded"],
    ),
}
