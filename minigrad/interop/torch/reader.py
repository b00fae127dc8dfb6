"""A reader of a captured PyTorch program, operator by operator, into a minigrad graph."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from minigrad.core import Array, Spec
from minigrad.diagnostics.errors import TraceError
from minigrad.diagnostics.source import Location
from minigrad.functions import stop_gradient
from minigrad.interop.boxes import opaque_node
from minigrad.interop.captured import Builder, Line, label
from minigrad.interop.torch.functions import CustomFunctions
from minigrad.interop.torch.layers import LAYERS
from minigrad.interop.torch.lines import Lines
from minigrad.interop.torch.losses import LOSSES, ignores_labels
from minigrad.interop.torch.numbers import ELEMENTWISE, REDUCTIONS
from minigrad.interop.torch.sequences import SEQUENCES
from minigrad.interop.torch.shapes import SHAPES
from minigrad.interop.torch.state import first_names
from minigrad.interop.torch.writes import positions
from minigrad.ops.methods import Value
from minigrad.static import Node

SYSTEM = "PyTorch"
OPERATORS = {**ELEMENTWISE, **REDUCTIONS, **SHAPES, **LAYERS, **LOSSES, **SEQUENCES}
SEED = 0  # what is drawn at random is drawn from it, here as in the original


def name_of(target: Any) -> str:
    """Return an operator's schema name, without the namespace aten; or else its name."""
    schema = getattr(target, "_schema", None)
    name = str(schema.name if schema is not None else getattr(target, "__name__", target))
    space, _, short = name.partition("::")
    return short if space == "aten" else name.replace("::", ".")


class Layers:
    """The modules of a model, and the names of their scopes."""

    def __init__(self, module: Any) -> None:
        named = module.named_modules(remove_duplicate=False)
        self.classes = {path: type(part).__name__ for path, part in named}

    def scope(self, path: str) -> list[str]:
        """Return the name scopes of a module: the parts of its path, each with its class."""
        parts = path.split(".") if path else []
        paths = [".".join(parts[: i + 1]) for i in range(len(parts))]
        named = zip(parts, paths, strict=True)
        scopes = (f"{part}: {self.classes.get(p, '')}".rstrip(": ") for part, p in named)
        return [label(scope) for scope in scopes]


class Reader:
    """A reader of a captured program: each node becomes nodes of our graph.

    The original's own values are computed, too: what has no gradient (shapes, positions,
    random numbers) becomes a constant.
    """

    def __init__(
        self,
        torch: Any,
        builder: Builder,
        program: Any,
        module: Any,
        lines: Lines,
        functions: CustomFunctions,
    ) -> None:
        self.torch, self.builder, self.program, self.module = torch, builder, program, module
        self.lines, self.functions = lines, functions
        self.names = first_names(module)
        self.variables: dict[str, Node] = {}  # by first name: a tied parameter is one of them
        self.reached: set[Any] = set()  # nodes of the program that pass on a gradient
        self.ours: dict[Any, Any] = {}  # by node of the program
        self.real: dict[Any, Any] = {}
        self.layers = Layers(module)

    def read(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Read all nodes in order; return the tensors among the user's results."""
        given = iter(inputs.items())
        signature = self.program.graph_signature
        specs = {s.arg.name: s for s in signature.input_specs}
        results: list[Any] = []
        with self.torch.no_grad(), fixed_seed(self.torch):
            for node in self.program.graph.nodes:
                if node.op == "placeholder":
                    self._given(node, specs[node.name], given)
                elif node.op == "output":
                    pairs = zip(node.args[0], signature.output_specs, strict=True)
                    own = [x for x, s in pairs if s.kind.name == "USER_OUTPUT"]
                    tensor = self.torch.Tensor
                    results = [self._mapped(x) for x in own if isinstance(self._real(x), tensor)]
                else:
                    self._call(node)
        return [self._ready(y) for y in results]

    def _given(self, node: Any, spec: Any, given: Iterator[tuple[str, Any]]) -> None:
        kind = spec.kind.name
        if kind == "USER_INPUT":
            name, value = next(given)
            tensor = isinstance(value, self.torch.Tensor)
            self.real[node] = value
            own = self.builder
            self.ours[node] = own.placeholder(name, array(value)) if tensor else value
            if tensor and value.is_floating_point():
                self.reached.add(node)
            return
        target = spec.target or node.name
        if kind in ("PARAMETER", "BUFFER"):
            value = self.program.state_dict.get(target)
            value = self.program.constants[target] if value is None else value
            name = self.names.get(target, target)
            if name not in self.variables:
                scope = "/".join(self.layers.scope(name.rpartition(".")[0]))
                trained = value.requires_grad
                self.variables[name] = self.builder.variable(
                    name, array(value, copy=False), scope, trained
                )
            self.ours[node] = self.variables[name]
            if value.requires_grad:
                self.reached.add(node)
            self.real[node] = value  # nothing in a captured program writes to it
        else:
            value = self.ours[node] = self.program.constants[target]
            self.real[node] = value.clone()

    def _call(self, node: Any) -> None:
        line = self.lines.of(node.meta)
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        path = str(stack[-1][0]).partition("@")[0] if stack else ""
        args, kwargs = (self._real(x) for x in (node.args, node.kwargs))
        self.state = self.torch.get_rng_state()
        node.target = self.functions.behind(node.target)
        if getattr(getattr(node.target, "_schema", None), "is_mutable", False):
            args = (args[0].clone(), *args[1:])  # what it writes to stays as it was
        self.real[node] = node.target(*args, **kwargs)
        scope = self.builder.entered(self.layers.scope(path))
        with at_line(line), self.builder.at(scope, line, self.lines.place(node.meta)):
            made = self._translated(node)
            if not self.reached.isdisjoint(node.all_input_nodes):
                if self.lines.stops(node.meta):
                    made = without_gradient(made)
                else:
                    self.reached.add(node)
            self.ours[node] = made
        pairs = zip(as_list(made), as_list(self.real[node]), strict=False)
        self.builder.originals.update((x, v) for x, v in pairs if isinstance(x, Node))

    def _translated(self, node: Any) -> Any:
        args, kwargs = self._mapped(node.args), self._mapped(dict(node.kwargs))
        name, real = name_of(node.target), self.real[node]
        name = name if name in OPERATORS else name.removesuffix("_")
        inputs = leaves([*args, *kwargs.values()])
        symbolic = any(isinstance(x, Node) for x in inputs)
        if name == "getitem":
            return real if args[0] is None else args[0][args[1]]
        if not symbolic or real is None:
            return real
        if name in SHAPE_ONLY or name.removesuffix("_like") in DRAWN:
            return real
        if name in ("native_dropout", "dropout"):
            return self._dropped(args, real)
        result: Any = NotImplemented
        if name == "cross_entropy_loss" and ignores_labels(*self._real(node.args[1:5])):
            name = f"{name}, ignoring"
        if name in OPERATORS and not has_complex([*inputs, *as_list(real)]):
            ready = [operand(self.torch, x) for x in by_places(name, args, self._real(node.args))]
            options = {k: operand(self.torch, x) for k, x in kwargs.items() if k not in PLACES}
            result = OPERATORS[name](*ready, **options)
        if result is NotImplemented:
            return self._box(name_of(node.target), node, args, kwargs)
        return result if isinstance(result, (Node, tuple, list)) else real  # it depends on nothing

    def _dropped(self, args: Any, real: Any) -> Any:
        """Build dropout as a product with the mask that was drawn."""
        x, p = args[0], args[1]
        if not isinstance(real, tuple):
            return x
        mask = array(real[1]).astype(x.dtype) * x.dtype.type(0 if p == 1 else 1 / (1 - p))
        return x * self.builder.graph.constant(mask, "mask"), None

    def _box(self, name: str, node: Any, args: Any, kwargs: Any) -> Any:
        """Build a node that calls a PyTorch operator without a counterpart here."""
        self.builder.boxed(name, None, custom=not hasattr(node.target, "_schema"))
        inputs = leaves([*args, *kwargs.values()])
        values = leaves(self._real([*node.args, *node.kwargs.values()]))
        pairs = [(x, v) for x, v in zip(inputs, values, strict=True) if isinstance(x, Node)]
        call, pull = as_function(self.torch, node.target, args, kwargs, self.state)
        real = self.real[node]
        several = isinstance(real, (tuple, list))
        results = [array(y) for y in as_list(real)]
        specs = [Spec(y.shape, y.dtype) for y in results]
        sources = zip(inputs, leaves([*node.args, *node.kwargs.values()]), strict=True)
        requires_grad = [n in self.reached for x, n in sources if isinstance(x, Node)]
        passing, lost = passes(pull, [array(v) for _, v in pairs], results, requires_grad)
        if lost:
            self.builder.lost.append(name)
        found = opaque_node(name, SYSTEM, call, pull, [x for x, _ in pairs], specs, passing)
        return found if several else found[0]

    def _mapped(self, x: Any) -> Any:
        return self.torch.fx.node.map_arg(x, lambda n: self.ours[n])

    def _real(self, x: Any) -> Any:
        return self.torch.fx.node.map_arg(x, lambda n: self.real[n])

    def _ready(self, x: Any) -> Any:
        return array(x) if isinstance(x, self.torch.Tensor) else x


# What depends on shapes alone, and what is random: constants here.
LIKE = {"empty_like", "zeros_like", "ones_like", "full_like"}
SHAPE_ONLY = LIKE | {"new_empty", "new_zeros", "new_ones", "new_full"}
DRAWN = {"rand", "randn", "randint", "bernoulli", "normal", "multinomial", "poisson", "exponential"}
PLACES = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "copy")
REAL = [np.dtype(t) for t in (np.float16, np.float32, np.float64)]


def operand(torch: Any, x: Any) -> Any:
    """Convert an argument to what our functions take."""
    if isinstance(x, (list, tuple)):
        return [operand(torch, y) for y in x]
    if isinstance(x, torch.dtype):
        return _dtype(x)
    return array(x) if isinstance(x, torch.Tensor) else x


def by_places(name: str, args: Sequence[Any], given: Sequence[Any]) -> Sequence[Any]:
    """Replace the strides of an operator on memory by where its elements are in its operand.

    given: the original's arguments; TraceError if one of these elements is not in the operand.
    """
    if name not in ("as_strided", "as_strided_scatter"):
        return args
    count = 1 + name.endswith("scatter")
    places = positions(given[0], given[0].as_strided(*args[count:]))
    if (places < 0).any():
        raise TraceError("model_strided", system=SYSTEM)
    return [*args[:count], places]


def without_gradient(x: Any) -> Any:
    """Stop the gradient of each node among the results."""
    if isinstance(x, (list, tuple)):
        return [without_gradient(y) for y in x]
    real = isinstance(x, Value) and getattr(x, "dtype", None) in REAL
    return stop_gradient(x) if real else x


def _dtype(kind: Any) -> Any:
    """Return the NumPy data type of a PyTorch one; TraceError if there is none."""
    name = str(kind).removeprefix("torch.")
    with contextlib.suppress(TypeError):
        if (found := np.dtype(name)).isbuiltin == 1:  # no type that JAX has added
            return found
    raise TraceError("model_tensor", system=SYSTEM, kind=name)


def array(x: Any, copy: bool = True) -> Any:
    """Return a tensor as an array, or as a NumPy scalar if it has no axes; else raise TraceError.

    copy: whether the array has its own memory, as it must if the tensor may change.
    """
    try:
        found = x.detach().cpu().resolve_conj().resolve_neg().numpy()
        return (found.copy() if copy else found)[()]
    except (RuntimeError, TypeError) as error:
        kinds = [str(kind).removeprefix("torch.") for kind in (x.dtype, x.layout)]
        kind = " ".join(kind for kind in kinds if kind != "strided")
        raise TraceError("model_tensor", system=SYSTEM, kind=kind) from error


@contextlib.contextmanager
def at_line(line: Line | None) -> Iterator[None]:
    """Make a TraceError name this line of the user's unless it already names one."""
    try:
        yield
    except TraceError as error:
        error.ran = error.ran or (None if line is None else Location(*line))
        raise


def dense(x: Any) -> Any:
    """Return a gradient as a dense tensor: that of Embedding(sparse=True) is sparse."""
    return x.to_dense() if x.is_sparse else x


def as_list(x: Any) -> Sequence[Any]:
    """Return several results unchanged, or one as a list."""
    return x if isinstance(x, (tuple, list)) else [x]


def has_complex(values: Sequence[Any]) -> bool:
    """Return whether one of these tensors or values has complex numbers.

    Our operators don't support them, so nodes that call PyTorch compute with them.
    """
    return any(str(getattr(x, "dtype", x)).endswith(COMPLEX) for x in values)


COMPLEX = ("complex64", "complex128")  # as NumPy and PyTorch call them


def leaves(args: Sequence[Any]) -> list[Any]:
    """Return the arguments with nested lists flattened."""
    found = []
    for x in args:
        found += leaves(x) if isinstance(x, (list, tuple)) else [x]
    return found


def as_function(torch: Any, target: Any, args: Any, kwargs: Any, state: Any) -> Any:
    """Return an operator as a function of arrays for its node arguments, and its pullback.

    state: of the random generator, so that the same numbers are drawn every time.
    """

    def filled(x: Any, tensors: Iterator[Any]) -> Any:
        if isinstance(x, (list, tuple)):
            return [filled(y, tensors) for y in x]
        return next(tensors) if isinstance(x, Value) else x

    def results(tensors: list[Any]) -> list[Any]:
        rest = iter(tensors)
        given = [filled(x, rest) for x in args]
        options = {k: filled(x, rest) for k, x in kwargs.items()}
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            found = target(*given, **options)
        return list(found) if isinstance(found, (tuple, list)) else [found]

    def call(*arrays: Array) -> list[Array]:
        with torch.no_grad():
            return [array(y) for y in results([torch.from_numpy(np.array(a)) for a in arrays])]

    def pull(index: int, position: int, g: Array, arrays: Sequence[Array]) -> Array | None:
        tensors = [torch.from_numpy(np.array(a)) for a in arrays]
        tensors[position].requires_grad_()
        with torch.enable_grad():
            y = results([x.clone() for x in tensors])[index]  # which it may write to
        if not y.requires_grad:
            return None
        seed = torch.from_numpy(np.array(g))
        (found,) = torch.autograd.grad(y, tensors[position], seed, allow_unused=True)
        return None if found is None else array(dense(found))

    return call, pull


def passes(
    pull: Any, operands: Sequence[Array], results: Sequence[Array], requires_grad: Sequence[bool]
) -> tuple[set[tuple[int, int]], bool]:
    """Return from which result to which operand a gradient flows, by their positions.

    Also return whether PyTorch refuses because the operator has no derivative; then none flows.
    asking: which operands require a gradient. The attempt runs in a thread of its own, since
    PyTorch records no gradient during a dispatch to our code.
    """
    with ThreadPoolExecutor(1) as thread:
        found, lost = thread.submit(_passes, pull, operands, results, requires_grad).result()
    return (set() if lost else found), lost


def _passes(
    pull: Any, operands: Sequence[Array], results: Sequence[Array], requires_grad: Sequence[bool]
) -> tuple[set[tuple[int, int]], bool]:
    found, lost = set(), False
    for i, y in enumerate(results):
        for k, x in enumerate(operands):
            if not requires_grad[k] or x.dtype.kind not in "fc" or y.dtype.kind not in "fc":
                continue
            try:
                if pull(i, k, np.ones_like(y), operands) is not None:
                    found.add((i, k))
            except RuntimeError:
                lost = True
    return found, lost


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Run a model again without its prints and warnings, and without what PyTorch logs."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    nowhere = io.StringIO()
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def fixed_seed(torch: Any) -> Iterator[None]:
    """Draw the same random numbers every time, without affecting the user's generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        yield
