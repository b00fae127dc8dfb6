"""A compatibility layer for CNTK: `import minigrad.faces.cntk as C`.

>>> import minigrad.faces.cntk as C
>>> x = C.sequence.input_variable(2)
>>> y = C.sequence.reduce_sum(x)
>>> y.eval({x: [[[1, 2], [3, 4], [5, 6]], [[7, 8]]]})
array([[ 9., 12.],
       [ 7.,  8.]], dtype=float32)
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.cntk import layers, learners, sequence
from minigrad.faces.cntk.axes import Axis
from minigrad.faces.cntk.functions import (
    Function,
    along_axis,
    apply,
    as_function,
    elementwise,
    evaluate,
    gradients,
    matmul,
    reduce,
)
from minigrad.faces.cntk.learners import Learner, UnitType, momentum_sgd, sgd
from minigrad.faces.cntk.recurrence import glorot
from minigrad.faces.cntk.shapes import (
    arg_best,
    bounded_log,
    concat_axis,
    convolution,
    fold_args,
    make_parameter,
    one_hot_max,
    pooling,
    reshape_samples,
    returns_floats,
    slice_axis,
    transpose_2d,
    with_axes,
)
from minigrad.faces.cntk.variables import Parameter, Variable, input_variable
from minigrad.faces.face import Compat, as_tuple, make_error
from minigrad.faces.ties import corners

__all__ = [
    "AVG_POOLING",
    "MAX_POOLING",
    "Axis",
    "Function",
    "Learner",
    "Parameter",
    "Trainer",
    "UnitType",
    "Value",
    "Variable",
    "combine",
    "convolution",
    "input_variable",
    "layers",
    "learners",
    "momentum_sgd",
    "ops",
    "pooling",
    "sequence",
    "sgd",
]


class Value:
    """Functions that convert data to the forms that CNTK's functions take."""

    @staticmethod
    def one_hot(batch: Sequence[Sequence[int]], num_classes: int) -> list[Any]:
        """Convert sequences of class numbers to sequences of one-hot rows."""
        for number in (n for classes in batch for n in classes):
            if not 0 <= number < num_classes:
                about = {"index": number, "axis": 0, "length": num_classes}
                raise make_error(mg.IndexRangeError, "index_range", op="one_hot", **about)
        return [np.eye(num_classes, dtype=np.float32)[list(classes)] for classes in batch]


class combine:
    """Several functions, evaluated together."""

    def __init__(self, operands: Sequence[Function]) -> None:
        self.outputs = tuple(operands)

    def eval(self, arguments: Any = None) -> dict[Function, Any]:
        """Return the functions' values in a dict keyed by function."""
        given = {k: v for x in self.outputs for k, v in x.data_by_input(arguments).items()}
        return dict(zip(self.outputs, evaluate(self.outputs, given), strict=True))


class Trainer:
    """A trainer of a model by learners; criterion: the loss, or (loss, evaluation function)."""

    def __init__(
        self, model: Any, criterion: Any, parameter_learners: Any, progress_writers: Any = None
    ) -> None:
        self.model, (self.loss_function, *more) = model, as_tuple(criterion)
        self.evaluation_function = more[0] if more else None
        self.parameter_learners = [*as_tuple(parameter_learners)]
        self.total_number_of_samples_seen = 0
        self.previous_minibatch_sample_count = 0
        self.previous_minibatch_loss_average = self.previous_minibatch_evaluation_average = 0.0

    def train_minibatch(self, arguments: Mapping[Any, Any], outputs: Any = None) -> Any:
        """Take one step for a minibatch, with the gradients of the sum of all losses."""
        changed = [p for learner in self.parameter_learners for p in learner.parameters]
        of_loss = [
            Function(node, None, [self.loss_function])
            for node in gradients(self.loss_function, changed)
        ]
        extra = [*(outputs or ())]
        found, count = self._evaluate_batch(arguments, [*of_loss, *extra], training=True)
        by = dict(zip(changed, found, strict=False))
        for learner in self.parameter_learners:
            learner.update({p: by[p] for p in learner.parameters}, count)
        self.total_number_of_samples_seen += count
        values = dict(zip(extra, found[len(changed) :], strict=True))
        return True if outputs is None else (True, values)

    def test_minibatch(self, arguments: Mapping[Any, Any]) -> float:
        """Return the mean of the evaluation function for a minibatch, without a step."""
        kept = self.previous_minibatch_loss_average, self.previous_minibatch_evaluation_average
        self._evaluate_batch(arguments, [])
        found = self.previous_minibatch_evaluation_average
        self.previous_minibatch_loss_average, self.previous_minibatch_evaluation_average = kept
        return found

    def _evaluate_batch(
        self, arguments: Any, more: list[Function], training: bool = False
    ) -> tuple[list[Any], int]:
        """Evaluate functions for a minibatch, store averages; return values and sample count."""
        reported = [x for x in (self.loss_function, self.evaluation_function) if x is not None]
        given = self.loss_function.data_by_input(arguments)
        values = evaluate([*reported, *more], given, training)
        means = []
        for value in values[: len(reported)]:
            rows = np.concatenate(value) if isinstance(value, list) else np.atleast_1d(value)
            means.append(float(rows.sum()) / len(rows))
            count = len(rows)
        self.previous_minibatch_sample_count = count
        self.previous_minibatch_loss_average = means[0]
        self.previous_minibatch_evaluation_average = means[-1]
        return values[len(reported) :], count


HELPERS: list[Any] = [
    *(
        Function,
        Parameter,
        elementwise,
        with_axes,
        returns_floats,
        arg_best,
        slice_axis,
        along_axis,
        as_function,
        glorot,
        one_hot_max,
    ),
    *(input_variable, apply, matmul, reduce, fold_args, reshape_samples, concat_axis, transpose_2d),
]
UNARY = "abs ceil cos exp floor relu sigmoid sin sqrt square stop_gradient tanh negate=neg"
COMPARED = "equal greater greater_equal less less_equal not_equal"
REDUCED = "max mean min prod sum log_sum_exp=logsumexp"
MANY = "*xs, name=''"
PAIRS = [name.partition("=") for name in UNARY.split()]

__getattr__ = face = Compat(
    "C",
    calls={
        **learners.SCHEDULES,
        **{
            f"{theirs}(x, name='')": f"apply(mg.{ours or theirs}, x, name=name)"
            for theirs, _, ours in PAIRS
        },
        **{
            f"{f}(left, right)": f"elementwise(returns_floats(mg.{f}), left, right)"
            for f in COMPARED.split()
        },
        **{
            f"reduce_{theirs}(x, axis=None)": f"reduce(mg.{ours or theirs}, x, axis)"
            for theirs, _, ours in (name.partition("=") for name in REDUCED.split())
        },
        "argmax(x, axis=None)": "arg_best(mg.argmax, x, axis)",
        "argmin(x, axis=None)": "arg_best(mg.argmin, x, axis)",
        "classification_error(output_vector, target_vector, axis=-1)": (
            "not_equal(argmax(output_vector, axis), argmax(target_vector, axis))"
        ),
        "clip(x, min_value, max_value)": (
            "elementwise(lambda v, low, high: corners.at_most(corners.at_least(v, low), high), x,"
            " min_value, max_value)"
        ),
        "constant(value, shape=None, name='')": (
            "as_function(value if shape is None else np.full(shape, value))"
        ),
        "cross_entropy_with_softmax(output_vector, target_vector, axis=-1)": (
            "-reduce_sum(element_times(along_axis(mg.log_softmax, output_vector, axis),"
            " target_vector), axis)"
        ),
        "dropout(x, dropout_rate=0.0)": "layers.Dropout(dropout_rate)(x)",
        "element_divide(left, right)": "elementwise(lambda a, b: a / b, left, right)",
        f"element_max({MANY})": "fold_args(mg.maximum, *xs, name=name)",
        f"element_min({MANY})": "fold_args(mg.minimum, *xs, name=name)",
        "element_select(flag, value_if_true, value_if_false)": (
            "elementwise(lambda c, a, b: mg.where(mg.not_equal(c, 0), a, b), flag, value_if_true,"
            " value_if_false)"
        ),
        f"element_times({MANY})": "fold_args(lambda a, b: a * b, *xs, name=name)",
        "elu(x)": "apply(corners.elu, x)",
        "glorot_uniform(seed=None)": "lambda shape: glorot(shape, seed)",
        "hardmax(x)": "along_axis(one_hot_max, x)",
        "input(*given, **options)": "input_variable(*given, **options)",
        "leaky_relu(x)": "element_select(greater(x, 0), x, element_times(x, 0.01))",
        f"log_add_exp({MANY})": ("fold_args(lambda a, b: b + mg.softplus(a - b), *xs, name=name)"),
        "log(x, name='')": "apply(bounded_log, x, name=name)",
        "log_softmax(x, axis=None)": "along_axis(mg.log_softmax, x, axis)",
        "minus(left, right)": "elementwise(lambda a, b: a - b, left, right)",
        "normal(scale, seed=None)": "lambda shape: mg.randn(shape, seed=seed) * scale",
        "parameter(shape=None, init=0, name='')": "make_parameter(shape, init, name)",
        f"plus({MANY})": "fold_args(lambda a, b: a + b, *xs, name=name)",
        "reciprocal(x)": "element_divide(1, x)",
        "reshape(x, shape)": "reshape_samples(x, shape)",
        "round(x)": "floor(as_function(x) + 0.5)",
        "slice(x, axis, begin_index, end_index)": "slice_axis(x, axis, begin_index, end_index)",
        "softmax(x, axis=None)": "along_axis(mg.softmax, x, axis)",
        "softplus(x, steepness=1)": "apply(mg.softplus, as_function(x) * steepness) / steepness",
        "splice(*inputs, axis=-1)": "concat_axis(inputs, axis)",
        "squared_error(output, target)": "reduce_sum(square(minus(output, target)))",
        "swapaxes(x, axis1=0, axis2=1)": "with_axes(mg.swapaxes, x, axis1, axis2)",
        "times(left, right)": "matmul(left, right)",
        "times_transpose(left, right)": "matmul(left, transpose_2d(right))",
        "transpose(x, axis1=0, axis2=1)": "with_axes(mg.swapaxes, x, axis1, axis2)",
        "uniform(scale, seed=None)": "lambda shape: (mg.rand(shape, seed=seed) * 2 - 1) * scale",
    },
    lacks={
        "mg.nn.BatchNorm1d(n)": "batch_normalization",
        "trainer.previous_minibatch_loss_average": "logging",
        "numpy.savez(path, *[p.value for p in z.parameters])": "load_model",
        "C.sequence.input_variable(shape)": "placeholder",
        "C.layers.Recurrence(C.layers.LSTM(n))": "optimized_rnnstack",
        "C.learners.sgd(parameters, lr)": "adam",
        "C.cross_entropy_with_softmax(z, labels)": "binary_cross_entropy nce_loss lambda_rank",
        "C.element_select(flag, x, y)": "cond",
        "C.layers.Dense(n, init=C.glorot_uniform())": "InferredDimension",
        "numpy.array": "io device",
    },
    layers=layers,
    scheduled=learners.training_parameter_schedule,
    corners=corners,
    make_parameter=make_parameter,
    bounded_log=bounded_log,
    np=np,
    **{f.__name__: f for f in HELPERS},
)
__dir__ = face.names
ops = sys.modules[__name__]  # `C.ops.relu` is `C.relu`
MAX_POOLING, AVG_POOLING = "max_pool2d", "avg_pool2d"
