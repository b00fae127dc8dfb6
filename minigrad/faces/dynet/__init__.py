"""A compatibility layer for DyNet: `import minigrad.faces.dynet as dy`.

>>> import minigrad.faces.dynet as dy
>>> m = dy.ParameterCollection()
>>> W = m.add_parameters((1, 2), init=0.5)
>>> trainer = dy.SimpleSGDTrainer(m)
>>> graph = dy.renew_cg()
>>> loss = dy.square(W * dy.inputVector([1, 2]) - 1)
>>> loss.value()
0.25
>>> loss.backward()
>>> trainer.update()
>>> W.as_array().round(4)
array([[0.4, 0.3]])
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from minigrad.faces.dynet import dynet_config
from minigrad.faces.dynet.graph import (
    ComputationGraph,
    Expression,
    apply,
    as_expression,
    elementwise,
    leaf,
    now,
    pick_index,
    renew_cg,
)
from minigrad.faces.dynet.parameters import (
    STARTS,
    LookupParameters,
    ParameterCollection,
    Parameters,
    glorot,
)
from minigrad.faces.dynet.recurrent import (
    BiRNNBuilder,
    GRUBuilder,
    RNNState,
    SimpleRNNBuilder,
    VanillaLSTMBuilder,
    affine,
)
from minigrad.faces.dynet.shapes import (
    along_dim,
    apply_stacked,
    as_vector,
    batch_elems,
    binary_op,
    concat_batch,
    concat_dim,
    conv2d,
    dropout_mask,
    inputTensor,
    log_loss,
    max_along,
    maxpooling2d,
    min_along,
    permute_dims,
    pick_each,
    random_input,
    reduce_dims,
    reshape,
    slice_dim,
    take_rows,
    unpack_one,
    with_batch,
    with_noise,
)
from minigrad.faces.dynet.trainers import AdamTrainer, MomentumSGDTrainer, SimpleSGDTrainer, Trainer
from minigrad.faces.face import Compat

__all__ = [
    "AdamTrainer",
    "BiRNNBuilder",
    "ComputationGraph",
    "DynetParams",
    "Expression",
    "GRUBuilder",
    "LSTMBuilder",
    "LookupParameters",
    "Model",
    "MomentumSGDTrainer",
    "ParameterCollection",
    "Parameters",
    "RNNState",
    "SimpleRNNBuilder",
    "SimpleSGDTrainer",
    "Trainer",
    "VanillaLSTMBuilder",
    "conv2d",
    "dynet_config",
    "inputTensor",
    "maxpooling2d",
    "renew_cg",
    "reshape",
]

Model, LSTMBuilder = ParameterCollection, VanillaLSTMBuilder


class DynetParams:
    """The settings of `dynet_config`, one method each; `init` applies them."""

    def __init__(self) -> None:
        self._settings: dict[str, Any] = {}

    def from_args(self, shared_parameters: Any = None) -> None:
        """Read the settings from the command line."""
        dynet_config.from_arguments(sys.argv)

    def set_autobatch(self, autobatch: bool) -> None:
        """Set whether operations of the same kind run as one batch."""
        self._settings["autobatch"] = autobatch

    def set_mem(self, mem: int) -> None:
        """Set how much memory DyNet takes; it has no effect here."""
        self._settings["mem"] = mem

    def set_random_seed(self, random_seed: int) -> None:
        """Set the seed of the random numbers."""
        self._settings["random_seed"] = random_seed

    def init(self) -> None:
        """Apply the settings to graphs that are begun from now on."""
        dynet_config.set(**self._settings)


HELPERS: list[Any] = [
    *(
        affine,
        elementwise,
        unpack_one,
        batch_elems,
        as_vector,
        random_input,
        pick_each,
        as_expression,
        with_batch,
        glorot,
    ),
    *(
        inputTensor,
        concat_dim,
        dropout_mask,
        max_along,
        leaf,
        log_loss,
        concat_batch,
        with_noise,
        apply,
        binary_op,
        slice_dim,
        pick_index,
        reduce_dims,
        take_rows,
    ),
    *(min_along, along_dim, apply_stacked, permute_dims),
]
UNARY = "abs cos erf exp log sin sqrt square tanh rectify=relu logistic=sigmoid"
SIZED = "dim, batch_size=1"
PAIRS = [name.partition("=") for name in UNARY.split()]

__getattr__ = face = Compat(
    "dy",
    calls={
        **{f"{theirs}(x)": f"apply(mg.{ours or theirs}, x)" for theirs, _, ours in PAIRS},
        "affine_transform(exprs)": "affine(exprs)",
        "average(xs)": "apply_stacked(mg.mean, xs)",
        "binary_log_loss(x, y)": "sum_elems(binary_op(log_loss, x, y))",
        "bmax(x, y)": "binary_op(mg.maximum, x, y)",
        "bmin(x, y)": "binary_op(mg.minimum, x, y)",
        "cdiv(x, y)": "binary_op(lambda a, b: a / b, x, y)",
        "cg()": "now.cg",
        "cg_version()": "now.cg.version",
        "cmult(x, y)": "binary_op(lambda a, b: a * b, x, y)",
        "colwise_add(x, y)": "x + y",
        "concatenate(xs, d=0)": "concat_dim(xs, d)",
        "concatenate_cols(xs)": "concat_dim(xs, 1)",
        "concatenate_to_batch(xs)": "concat_batch(xs)",
        "const_parameter(p)": "p.expr(update=False)",
        "ConstInitializer(c)": "lambda dims: np.full(dims, c)",
        "constant(dim, val, batch_size=1)": (
            "random_input(mg.full(with_batch(dim, batch_size), float(val)), batch_size)"
        ),
        "cube(x)": "cmult(x, square(x))",
        "cumsum(x, d=0)": "along_dim(mg.cumsum, x, d)",
        "dot_product(x, y)": "sum_elems(cmult(x, y))",
        "dropout(x, p)": "with_noise(lambda v, m: v * m, x, lambda d: dropout_mask(d, 1 - p))",
        "elu(x, alpha=1.0)": "rectify(x) + (exp(x - rectify(x)) - 1) * alpha",
        "emax(xs)": "apply_stacked(max_along, xs)",
        "esum(xs)": "apply_stacked(mg.sum, xs)",
        "flip_gradient(x)": "nobackprop(x) * 2 - x",
        "forward(exps, recalculate=False)": "[x.forward(recalculate) for x in exps] and None",
        "GlorotInitializer(is_lookup=False, gain=1.0)": "lambda dims: glorot(dims, gain)",
        "hinge(x, v, m=1.0)": "sum_elems(rectify(x - pick(x, v) + m)) - m",
        "IdentityInitializer()": "STARTS['identity']",
        "init(shared_parameters=None)": "None",
        "init_from_params(params)": "params.init()",
        "inputVector(v)": "leaf(v)",
        "l1_distance(x, y)": "sum_elems(abs(x - y))",
        "l2_norm(x)": "sqrt(squared_norm(x))",
        "layer_norm(x, g, b)": "cmult(g, cdiv(x - mean_elems(x), std_elems(x))) + b",
        "log_sigmoid(x)": "-apply(mg.softplus, -x)",
        "log_softmax(x)": "along_dim(mg.log_softmax, x, 0)",
        "logsumexp(xs)": "apply_stacked(mg.logsumexp, xs)",
        "lookup(p, index=0, update=True)": "p[index] if update else nobackprop(p[index])",
        "lookup_batch(p, indices, update=True)": (
            "p.batch(indices) if update else nobackprop(p.batch(indices))"
        ),
        "max_dim(x, d=0)": "reduce_dims(max_along, x, [d])",
        "mean_batches(x)": "reduce_dims(mg.mean, x, [], True)",
        "mean_dim(x, d, b)": "reduce_dims(mg.mean, x, d, b)",
        "mean_elems(x)": "reduce_dims(mg.mean, x)",
        "min_dim(x, d=0)": "reduce_dims(min_along, x, [d])",
        "nobackprop(x)": "apply(mg.stop_gradient, x)",
        "noise(x, stddev)": "with_noise(lambda v, z: v + z * stddev, x, mg.randn)",
        "NormalInitializer(mean=0, var=1)": "lambda dims: mg.randn(dims) * var**0.5 + mean",
        "npvalues(exps, recalculate=False)": "[x.npvalue(recalculate) for x in exps]",
        "NumpyInitializer(array)": "lambda dims: np.asarray(array)",
        "one_hot(d, idx)": "leaf(np.eye(d)[idx])",
        f"ones({SIZED})": "constant(dim, 1.0, batch_size)",
        "parameter(*args)": "unpack_one(args)",
        "pick(e, index=0, dim=0)": "pick_index(e, index, dim)",
        "pick_batch(e, indices)": "pick_each(e, indices)",
        "pick_batch_elem(e, v)": "batch_elems(e, [v])",
        "pick_batch_elems(e, vs)": "batch_elems(e, vs)",
        "pick_range(e, s, e2, dim=0)": "slice_dim(e, s, e2, dim)",
        "pickneglogsoftmax(x, v)": "-pick_index(log_softmax(as_vector(x)), v, 0)",
        "pickneglogsoftmax_batch(x, vs)": "-pick_each(log_softmax(as_vector(x)), vs)",
        "pickrange(e, s, e2)": "slice_dim(e, s, e2, 0)",
        "pow(x, y)": "binary_op(lambda a, b: a**b, x, y)",
        "random_bernoulli(dim, p, scale=1.0, batch_size=1)": (
            "random_input(mg.cast(mg.rand(with_batch(dim, batch_size)) < p, mg.float32) * scale,"
            " batch_size)"
        ),
        "random_normal(dim, mean=0.0, stddev=1.0, batch_size=1)": (
            "random_input(mg.randn(with_batch(dim, batch_size)) * stddev + mean, batch_size)"
        ),
        "random_uniform(dim, left, right, batch_size=1)": (
            "random_input(mg.rand(with_batch(dim, batch_size)) * (right - left) + left, batch_size)"
        ),
        "reset_random_seed(seed)": "mg.manual_seed(seed)",
        "scalarInput(s)": "leaf([s])",
        "scale_gradient(x, lambd=1.0)": "x * lambd + nobackprop(x) * (1 - lambd)",
        "select_cols(e, cols)": "take_rows(e, cols, 1)",
        "select_rows(e, rs)": "take_rows(e, rs, 0)",
        "silu(x, beta=1.0)": "cmult(x, logistic(x * beta))",
        "softmax(x, d=0)": "along_dim(mg.softmax, x, d)",
        "softsign(x)": "cdiv(x, abs(x) + 1)",
        "squared_distance(x, y)": "sum_elems(square(x - y))",
        "squared_norm(x)": "sum_elems(square(x))",
        "std_elems(x)": "sqrt(mean_elems(square(x - mean_elems(x))))",
        "sum_batches(x)": "reduce_dims(mg.sum, x, [], True)",
        "sum_dim(x, d, b=False)": "reduce_dims(mg.sum, x, d, b)",
        "sum_elems(x)": "reduce_dims(mg.sum, x)",
        "tan(x)": "cdiv(sin(x), cos(x))",
        "transpose(x, dims=(1, 0))": "permute_dims(x, dims)",
        "UniformInitializer(scale)": "lambda dims: (mg.rand(dims) * 2 - 1) * scale",
        "values(exps, recalculate=False)": "[x.value(recalculate) for x in exps]",
        "vecInput(dim)": "leaf(np.zeros(dim))",
        f"zeros({SIZED})": "constant(dim, 0.0, batch_size)",
        f"zeroes({SIZED})": "constant(dim, 0.0, batch_size)",
    },
    lacks={
        "numpy.argmax(x.npvalue())": "argmax",
        "dynet_config.set(autobatch=1)": "autobatch",
        "m.save(filename)": "save",
        "m.populate(filename)": "load load_generator",
        "viz.draw(dy.cg().graph)": "print_graphviz print_text_graphviz dump_cg",
        "dy.AdamTrainer(m)": (
            "AdadeltaTrainer AdagradTrainer AmsgradTrainer CyclicalSGDTrainer RMSPropTrainer"
        ),
        "dy.LSTMBuilder(layers, input_dim, hidden_dim, m)": (
            "CompactVanillaLSTMBuilder CoupledLSTMBuilder FastLSTMBuilder SparseLSTMBuilder"
        ),
        "dy.pickneglogsoftmax(W * h + b, i)": (
            "ClassFactoredSoftmaxBuilder SoftmaxBuilder StandardSoftmaxBuilder"
        ),
        "dy.inputTensor(arr)": "inputMatrix matInput sparse_inputTensor",
        "dy.renew_cg()": "cg_checkpoint cg_revert",
        "dy.select_rows(e, rs)": "strided_select",
    },
    **{f.__name__: f for f in HELPERS},
    STARTS=STARTS,
    np=np,
    now=now,
)
__dir__ = face.names
