"""Names of other frameworks: a table of what to write here instead, or what they do here.

It is looked at only where a name is not ours, so it costs nothing where it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import getattr_static, signature, unwrap
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

from minigrad.diagnostics import arguments
from minigrad.diagnostics.errors import ArgumentError, MissingNameError
from minigrad.diagnostics.source import here
from minigrad.diagnostics.words import Word, refused, supported

Kind = TypeVar("Kind", bound=type)
P = ParamSpec("P")
R = TypeVar("R")


def _by_theirs(table: Mapping[str, str]) -> dict[str, str]:
    return {name: ours for ours, theirs in table.items() for name in theirs.split()}


# Refused is what could be meant otherwise, or isn't there; supported: what can only mean one thing.
# Ours: theirs. x, a, b, xs stand for values, v for a variable, y for a result, f for a function.
FUNCTIONS = refused(
    {  # of `minigrad`
        "mg.abs(x)": "absolute",
        "mg.sum(mg.stack(xs), axis=0)": "add_n",
        "np.allclose(a, b)": "allclose",
        "mg.max(x, axis=0)": "reduce_max",
        "mg.min(x, axis=0)": "reduce_min",
        "np.argsort(x.numpy())": "argsort",
        "mg.tensor([1, 2])": "array",
        "mg.tensor(a)": "as_tensor asarray convert_to_tensor from_numpy",
        "mg.assign(v, v + x)": "assign_add",
        "mg.assign(v, v - x)": "assign_sub",
        "x.astype(mg.float64)": "astype",
        "mg.float32": "bfloat16 float float16",
        "mg.matmul(a, b)": "dot",
        "mg.concatenate(xs, axis=0)": "vstack",
        "mg.split(x, sections=2)": "unstack",
        "mg.clip(x, 0.0, 1.0)": "clip_by_value",
        "x.detach()": "detach",
        "mg.float64": "double",
        "mg.where(x > 0, x, mg.exp(mg.where(x > 0, 0, x)) - 1)": "elu",
        "mg.zeros(2, 3)": "empty",
        "mg.full((2, 3), 1.0)": "fill",
        "mg.floor_divide(a, b)": "floordiv",
        "mg.mod(a, b)": "floormod remainder",
        'mg.Variable(0.0, name="w")': "get_variable",
        "mg.concatenate(xs, axis=1)": "hstack",
        "mg.no_grad()": "inference_mode",
        "mg.Session()": "InteractiveSession",
        "isinstance(x, mg.Tensor)": "is_tensor",
        "mg.abs(x) < np.inf": "isfinite",
        "mg.equal(mg.abs(x), np.inf)": "isinf",
        "mg.nn": "keras",
        "mg.where(x > 0, x, 0.01 * x)": "leaky_relu",
        "mg.log(x) / np.log(10)": "log10",
        "mg.log(x) / np.log(2)": "log2",
        "mg.int64": "long",
        "mg.make_graph(f)(x)": "make_jaxpr",
        "mg.manual_seed(0)": "set_random_seed",
        "mg.randn(2, 3, seed=0)": "normal random random_normal",
        "mg.scan(f, 0.0, xs)": "map_fn",
        "mg.swapaxes(x, -1, -2)": "matrix_transpose",
        "mg.sqrt(mg.sum(x * x))": "norm",
        "mg.pow(a, b)": "power",
        "mg.Print(x)": "print",
        "mg.arange(3)": "range",
        "x.ndim": "rank",
        "1 / x": "reciprocal",
        "mg.all(x, axis=0)": "reduce_all",
        "mg.any(x, axis=0)": "reduce_any",
        "mg.logsumexp(x, axis=0)": "reduce_logsumexp",
        "mg.mean(x, axis=0)": "reduce_mean",
        "mg.prod(x, axis=0)": "reduce_prod",
        "mg.sum(x, axis=0)": "reduce_sum",
        "mg.flip(x, 0)": "reverse",
        "1 / mg.sqrt(x)": "rsqrt",
        "x.shape": "shape size",
        "x * mg.sigmoid(x)": "silu",
        "np.sort(x.numpy())": "sort",
        "mg.cross_entropy(a, b)": "sparse_softmax_cross_entropy_with_logits",
        "mg.sin(x) / mg.cos(x)": "tan",
        "np.sort(x.numpy())[..., -3:]": "topk",
        "model.parameters()": "trainable_variables",
        "x * np.tril(np.ones(x.shape))": "tril",
        "x * np.triu(np.ones(x.shape))": "triu",
        "mg.divide(a, b)": "true_divide",
        "mg.rand(2, 3, seed=0)": "random_uniform uniform",
        "mg.grad(y, [x])": "GradientTape value_and_grad",
        "mg.global_variables_initializer()": "variables_initializer",
        "mg.stack([f(x) for x in xs])": "vmap",
        ("a @ b", "mg.sum(a * b, axis=1)", "mg.transpose(a)"): "einsum",
        ("mg.trace(f, x)", "mg.script(f)", "mg.function(f)"): "jit",
        ("mg.load_graph(path)", "model.load_state_dict(np.load(path))"): "load",
        "mg.transpose(x, (1, 0))": "moveaxis movedim",
        ("mg.tile(x, 2)", "mg.take(x, np.repeat(np.arange(2), 2), axis=0)"): "repeat",
    }
)
EITHER_WAY = supported(
    {  # functions of `minigrad`, and methods
        "amax(x, axis=None, keepdims=False)": "mg.max(x, axis=axis, keepdims=keepdims)",
        "amin(x, axis=None, keepdims=False)": "mg.min(x, axis=axis, keepdims=keepdims)",
        "clamp(x, low=None, high=None)": "mg.clip(x, low, high)",
        "clone(x)": "x * 1 if x.dtype != 'bool' else x | x",
        "masked_fill(x, mask, value)": "mg.where(mask, value, x)",
        "numel(x)": "count(x)",
        "square(x)": "x * x",
        "t(x)": "mg.transpose(x, None if x.ndim < 2 else (1, 0))",
        "unbind(x, axis=0)": "[mg.squeeze(y, axis) for y in mg.split(x, axis=axis, split_size=1)]",
    }
)
FUNCTIONS |= EITHER_WAY | supported(
    {
        "bmm(a, b)": "mg.matmul(a, b)",
        "cat(xs, axis=0)": "mg.concatenate(xs, axis)",
        "concat(xs, axis=0)": "mg.concatenate(xs, axis)",
        "eq(a, b)": "mg.equal(a, b)",
        "ge(a, b)": "mg.greater_equal(a, b)",
        "gt(a, b)": "mg.greater(a, b)",
        "le(a, b)": "mg.less_equal(a, b)",
        "lt(a, b)": "mg.less(a, b)",
        "mm(a, b)": "mg.matmul(a, b)",
        "ne(a, b)": "mg.not_equal(a, b)",
        "permute(x, dims)": "mg.transpose(x, dims)",
    }
)
OF_GRAPHS = refused(
    {  # functions of `minigrad` that take a graph, and what else it is that others take there
        "mg.function(f)": "compile",
        ("graph.save(path)", "np.savez(path, **model.state_dict())"): "save",
    }
)
LAYERS = refused(
    {  # of `minigrad.nn`
        "mg.nn.Linear(784, 10)": "Dense",
        "mg.nn.Dropout()(x)": "dropout",
        '{"name": mg.nn.Linear(784, 10)}': "ModuleDict",
        "[mg.tensor(a, requires_grad=True)]": "ParameterList",
        "mg.relu(x)": "relu",
        "mg.sigmoid(x)": "sigmoid",
        "mg.softmax(x)": "softmax",
        "mg.tanh(x)": "tanh",
        "mg.optim.clip_grad_norm(model.parameters(), 1.0)": "utils",
    }
)
MODULES = refused(
    {  # of layers and models
        "model": "cuda compile",
        "np.savez(path, **model.state_dict())": "save",
        "model.load_state_dict(np.load(path))": "load",
    }
) | supported({"cpu(x)": "x", "to(x, device)": "on_cpu(x, device)"})
OPTIMISERS = refused(
    {  # of `minigrad.optim`
        "mg.optim.Adam(lr=0.1).minimize(y)": "AdamOptimizer",
        "mg.optim.clip_grad_norm(model.parameters(), 1.0)": "clip_grad_norm_",
        "mg.optim.clip_grad_value(model.parameters(), 1.0)": "clip_grad_value_",
        "mg.optim.SGD(lr=0.1).minimize(y)": "GradientDescentOptimizer",
        "optimiser.lr = 0.01": "lr_scheduler",
        "mg.optim.SGD(lr=0.1, momentum=0.9).minimize(y)": "MomentumOptimizer",
    }
)
TRAIN = refused(
    {  # of TensorFlow 1's `train`, which is not here at all
        "mg.optim.Adam(lr=0.1).minimize(y)": "AdamOptimizer",
        "mg.optim.SGD(lr=0.1).minimize(y)": "GradientDescentOptimizer",
        "mg.optim.SGD(lr=0.1, momentum=0.9).minimize(y)": "MomentumOptimizer",
        "graph.save(path, session=sess)": "Saver",
    }
)
VALUES = refused(
    {  # of tensors and nodes
        "'cpu'": "device is_cuda",  # where everything is
        "np.argsort(x.numpy())": "argsort",
        "x.ndim": "rank",
        "x @ b": "dot",
        "x.shape": "get_shape",
        "x.creator": "grad_fn",
        "(x * x).sum().sqrt()": "norm",
        "np.sort(x.numpy())": "sort",
        "np.sort(x.numpy())[..., -3:]": "topk",
        "x.dtype": "type",
        "x": "cuda",
        ("mg.tile(x, 2)", "mg.take(x, np.repeat(np.arange(2), 2), axis=0)"): "repeat",
        "x.max(dim=0).values": "values",
        "x.max(dim=0).indices": "indices",
    }
)
VALUES |= EITHER_WAY | supported(
    {
        "add(x, other)": "x + other",
        "bool(x)": "x.astype('bool')",
        "chunk(x, chunks, axis=0)": "mg.chunk(x, chunks, axis)",
        "contiguous(x)": "in_order(x)",
        "cpu(x)": "x",
        "dim(x)": "x.ndim",
        "div(x, other)": "x / other",
        "double(x)": "x.astype('float64')",
        "eq(x, other)": "x == other",
        "expand(x, *shape)": "mg.broadcast_to(x, flat(shape))",
        "expand_as(x, other)": "mg.broadcast_to(x, other.shape)",
        "float(x)": "x.astype('float32')",
        "gather(x, axis, indices)": "mg.gather(x, indices, axis)",
        "ge(x, other)": "x >= other",
        "gt(x, other)": "x > other",
        "int(x)": "x.astype('int32')",
        "is_floating_point(x)": "x.dtype.kind == 'f'",
        "le(x, other)": "x <= other",
        "long(x)": "x.astype('int64')",
        "lt(x, other)": "x < other",
        "matmul(x, other)": "x @ other",
        "mm(x, other)": "x @ other",
        "mul(x, other)": "x * other",
        "ne(x, other)": "x != other",
        "neg(x)": "-x",
        "permute(x, *dims)": "mg.transpose(x, flat(dims))",
        "pow(x, exponent)": "x ** exponent",
        "ravel(x)": "x.flatten()",
        "split(x, split_size, axis=0)": "mg.split(x, axis=axis, **parts(split_size))",
        "sub(x, other)": "x - other",
        "take(x, indices, axis=None)": "mg.take(x.flatten() if axis is None else x, indices, axis)",
        "to(x, *target)": "moved(x, target)",
        "type_as(x, other)": "x.astype(other.dtype)",
        "view_as(x, other)": "x.view(other.shape)",
    }
)
NODES = refused(
    {  # of nodes: what only a tensor has, or TensorFlow 1 has of a variable
        "np.argsort(sess.run(x))": "argsort",
        "sess.run(x)": "cpu data eval run",
        "x.op": "creator grad_fn",
        "mg.gradients(y, x)[0]": "grad requires_grad zero_grad",
        "mg.global_variables_initializer()": "initializer",
        "not x.inputs": "is_leaf",
        "np.sort(sess.run(x))": "sort",
        "np.sort(sess.run(x))[..., -3:]": "topk",
        "sess.run(x).tolist()": "tolist",
    }
) | supported(
    {
        "assign(v, value)": "mg.assign(v, value)",
        "assign_add(v, value)": "mg.assign(v, v + value)",
        "assign_sub(v, value)": "mg.assign(v, v - value)",
        "read_value(v)": "mg.read_value(v)",
        "value(v)": "mg.read_value(v)",
    },
    "TensorFlow 1",
)
GRAPHS = refused(
    {  # of graphs
        "with graph: ...": "as_default",
        "graph.text()": "as_graph_def",
        "graph.freeze()": "finalize",
        "graph.nodes": "get_operations",
        'graph["x"]': "get_operation_by_name get_tensor_by_name",
    }
)
TRACES = refused({"f.graph": "graph_for inlined_graph"})  # of functions that are traced
BAKED = {**TRACES, **refused({"f.graph.text()": "code"})}
KEYWORDS = _by_theirs(
    {  # of functions and methods
        "axes": "perm",
        "affine": "elementwise_affine",
        "axis": "dim dims reduction_indices",
        "axis1": "dim0",
        "axis2": "dim1",
        "body_fn": "body body_fun",
        "cond_fn": "cond cond_fun",
        "correction": "ddof unbiased",  # unbiased=True is n − 1
        "count": "num steps",
        "depth": "num_classes",
        "end_axis": "end_dim",
        "high": "a_max clip_value_max max",
        "indices": "index",
        "init": "init_val loop_vars",
        "keepdims": "keep_dims keepdim",
        "low": "a_min clip_value_min min",
        "max_steps": "maximum_iterations",
        "repeats": "multiples reps",
        "start_axis": "start_dim",
        "value": "fill_value",
        "x": "input",
        "xs": "arrays tensors",
    }
)


def missing(place: str, name: str, owner: object, table: Mapping[str, Word]) -> AttributeError:
    """Return the error for a missing name, with what to write if other frameworks have it."""
    if name in table:
        ours = table[name].shown
        return MissingNameError(
            "missing_name", place=place, missing=name, ours=ours, defined=here()
        )
    return AttributeError(f"{place} has no attribute {name!r}", name=name, obj=owner)


class ForeignModule:
    """A module of another framework, which only answers its names with what to write here."""

    def __init__(self, place: str, table: Mapping[str, Word]) -> None:
        self._place, self._table = place, table

    def __getattr__(self, name: str) -> Any:
        raise missing(self._place, name, self, self._table)


class _Missing:
    """A name that a class doesn't have; accessing it says what to write instead.

    `__getattr__` would do the same for all names at once, but Python looks up every attribute of a
    class that has one by the slow way.
    """

    def __init__(self, name: str, table: Mapping[str, Word]) -> None:
        self._name, self._table = name, table

    def __get__(self, value: object, kind: type) -> Any:
        raise missing(kind.__name__, self._name, value, self._table)


def callable_names(table: Mapping[str, Word]) -> dict[str, Callable[..., Any]]:
    """Return the names of the table that can be called."""
    return {name: _answering(word.call) for name, word in table.items() if word.call is not None}


def answer_names(table: Mapping[str, Word]) -> Callable[[Kind], Kind]:
    """Make a class answer to the names of a table; `dir` and completion show those that work."""

    def decorate(kind: Kind) -> Kind:
        found = {name: _Missing(name, table) for name in table} | callable_names(table)
        for name, what in found.items():
            setattr(kind, name, what)
        kind.__dir__ = _real_names  # type: ignore[assignment]
        return kind

    return decorate


def _real_names(value: object) -> Iterable[str]:
    """Return the names of a value, without those that only refuse."""
    found = {name: getattr_static(type(value), name, None) for name in object.__dir__(value)}
    return [name for name, what in found.items() if not isinstance(what, _Missing)]


def suggest_ours(ours: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a decorator that answers wrong arguments with the line to write instead."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TypeError:
                if _accepts(function, args, kwargs) or not KEYWORDS.keys().isdisjoint(kwargs):
                    raise
            raise arguments.unfit(function, ours)

        return call

    return decorate


def answer_arguments(kind: type) -> None:
    """Make a class answer unknown arguments with the list of those that it takes."""
    made: Any = kind.__init__  # type: ignore[misc]

    @functools.wraps(made)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            made(self, *args, **kwargs)
        except TypeError:
            if _accepts(made, (self, *args), kwargs):
                raise
        else:
            return
        raise _argument_error(kind.__name__, made)

    kind.__init__ = init  # type: ignore[misc]


def _argument_error(op: str, function: Callable[..., Any]) -> ArgumentError:
    """Return the error for arguments that a function doesn't have, with those it has."""
    found = signature(function)
    shown = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "self"]
    form = f"{op}{found.replace(parameters=shown, return_annotation=found.empty)}"
    return ArgumentError("arguments", op=op, form=form, defined=here())


def _accepts(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def answer_keywords(owner: type | ModuleType) -> None:
    """Make a module's functions or a class's methods take other frameworks' keywords for ours."""
    for name, function in [*vars(owner).items()]:
        if isinstance(function, FunctionType) and _is_defined_in(owner, function):
            setattr(owner, name, _answering(function))


def _keyword_names(function: Callable[..., Any]) -> set[str]:
    """Return the parameters that can be passed by name; `inspect.signature` is too slow."""
    code = unwrap(function).__code__
    return {*code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]}


def _is_defined_in(owner: type | ModuleType, function: FunctionType) -> bool:
    """Return whether a function is defined in this class or module, not just found there."""
    return isinstance(owner, type) or function.__module__.startswith(owner.__name__)


@functools.cache  # two names of one function stay one function
def _answering(function: Callable[..., Any]) -> Callable[..., Any]:
    ours = _keyword_names(function)
    if ours.isdisjoint(KEYWORDS.values()):
        return function
    op = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:  # which Python raises before anything has run
            known = {theirs: KEYWORDS.get(theirs) for theirs in kwargs if theirs not in ours}
            if not known or not ours.issuperset(known.values()):
                raise
        for theirs, name in known.items():
            if name in kwargs:
                raise ArgumentError(
                    "two_keywords", op=op, missing=theirs, ours=name, defined=here()
                )
        return function(*args, **{known.get(k) or k: v for k, v in kwargs.items()})

    return call
