"""Shape propagation: lengths that must be equal, and shapes made explicit.

Two open lengths may be two to the graph and one in truth: the rows of an image batch and of its
labels meet in the loss, which takes no others. What must be equal is read off the operators that
run whenever the graph does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from minigrad import control, ops
from minigrad.core import Dim, Shape, Spec, TupleSpec, fits, public_shape, show_shape
from minigrad.diagnostics.arguments import open_shape
from minigrad.diagnostics.errors import GraphError, ShapeError
from minigrad.diagnostics.source import here
from minigrad.ops import state
from minigrad.passes.rewrite import Change, Rewrite, in_pipeline, needed_nodes, outermost
from minigrad.static import Graph, Node

__all__ = ["propagate_shapes", "with_shapes"]

Length = int | Dim
Pairs = Iterator[tuple[Length, Length]]


# ---- What must be equal -------------------------------------------------------------------------


def _contracted(node: Node, a: Shape, b: Shape) -> Pairs:
    if a and b:
        flip_a = node.attrs.get("transpose_a") and len(a) > 1
        flip_b = node.attrs.get("transpose_b") and len(b) > 1
        yield a[-2 if flip_a else -1], b[-1 if flip_b or len(b) == 1 else -2]


def _joined(node: Node, *shapes: Shape) -> Pairs:
    axis = node.attrs["axis"] % max(len(shapes[0]), 1)
    for shape in shapes[1:]:
        for i, pair in enumerate(zip(shapes[0], shape, strict=True)):
            if i != axis:
                yield pair


def _stacked(node: Node, *shapes: Shape) -> Pairs:
    for shape in shapes[1:]:
        yield from zip(shapes[0], shape, strict=True)


def _labelled(node: Node, scores: Shape, labels: Shape) -> Pairs:
    yield from zip(scores[:-1], labels, strict=True)


def _assigned(node: Node, variable: Shape, value: Shape) -> Pairs:
    yield from zip(variable, value, strict=True)


def _scanned(node: Node, *shapes: Shape) -> Pairs:
    n, m = node.attrs["carries"], node.attrs["sequences"]
    for shape in shapes[n + 1 : n + m]:
        yield shapes[n][0], shape[0]


EQUAL: dict[Any, Callable[..., Pairs]] = {
    ops.matmul: _contracted,
    ops.concatenate: _joined,
    ops.stack: _stacked,
    ops.softmax_cross_entropy: _labelled,
    state.assign: _assigned,
    control.SCAN: _scanned,
}


class Lengths:
    """Which open lengths are equal to each other, or to a number."""

    def __init__(self) -> None:
        self.same: dict[Dim, Length] = {}

    def of(self, n: Length) -> Length:
        while isinstance(n, Dim) and n in self.same:
            n = self.same[n]
        return n

    def equate(self, a: Length, b: Length) -> None:
        a, b = self.of(a), self.of(b)
        if a == b:
            return
        if isinstance(b, Dim):
            self.same[b] = a
        elif isinstance(a, Dim):
            self.same[a] = b

    def spec(self, spec: Spec) -> Spec:
        """Replace equal lengths in a spec by the first of them."""
        if isinstance(spec, TupleSpec):
            return TupleSpec(spec.shape, spec.dtype, tuple(map(self.spec, spec.parts)))
        if spec.shape is None or self.same.keys().isdisjoint(spec.shape):
            return spec
        return Spec(tuple(map(self.of, spec.shape)), spec.dtype)

    def read(self, graph: Graph, specs: Mapping[Node, Spec]) -> None:
        """Note what the operators demand that the outputs and effects need."""
        needed = needed_nodes(graph)
        for node in graph.nodes:
            if node.op in EQUAL and node in needed:
                shapes = [specs[x].shape for x in node.inputs]
                if None not in shapes:
                    for a, b in EQUAL[node.op](node, *shapes):
                        self.equate(a, b)


# ---- The passes ---------------------------------------------------------------------------------


@in_pipeline(10)
def propagate_shapes(graph: Graph) -> tuple[Graph, list[Change]]:
    """Find open lengths that are equal, and give operators the shape that they read elsewhere.

    Placeholders stay the same nodes. That lengths are equal is taken from operators that would
    refuse anything else; the rest of the graph may then be simplified as if it were known.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x, y = mg.placeholder("x", (None, 3)), mg.placeholder("y", (None, 3))
    ...     graph = mg.build_graph([x, y], [mg.concatenate([x, y], axis=1), x * y])
    >>> [change.what for change in graph.optimize(["propagate_shapes"]).history[0].changes]
    ['Concatenate → Concatenate', 'Mul → Mul']
    """
    graph, changes = _merge_lengths(graph)
    rewrite = Rewrite(graph)

    def rule(node: Node, inputs: tuple[Node, ...]) -> Node | None:
        if node.controls or inputs[0].spec.shape is None:
            return None
        plain = PLAIN[node.op](node, inputs[0], rewrite)
        if plain is not None:
            rewrite.note("simplified", [node], [plain], "pass_plain", shape=show_shape(node.shape))
        return plain

    return rewrite.walk(rule, PLAIN), [*changes, *rewrite.changes]


def with_shapes(shapes: Mapping[str, Sequence[int | None]]) -> Callable[[Graph], Any]:
    """Make a pass that narrows placeholders, by name, to shapes that you know.

    What else must have these lengths becomes known with them. The narrowed placeholders are new
    nodes: feed them by name. Raises ShapeError for a shape that contradicts the declared one,
    GraphError for an unknown name.

    >>> import minigrad as mg
    >>> with mg.Graph():
    ...     x, w = mg.placeholder("x", (None, None)), mg.placeholder("w", (784, 10))
    ...     graph = mg.build_graph([x, w], x @ w)
    >>> better = graph.optimize([mg.passes.with_shapes({"x": (64, None)})])
    >>> better.inputs[0].shape, better.outputs[0].shape
    ((64, 784), (64, 10))
    """
    given = {name: open_shape("with_shapes", shape) for name, shape in shapes.items()}

    @outermost
    def with_shapes(graph: Graph) -> tuple[Graph, list[Change]]:
        return _set_shapes(graph, given)

    return with_shapes


def _merge_lengths(graph: Graph) -> tuple[Graph, list[Change]]:
    """Merge equal lengths of the graph into one."""
    if not any(_is_open(x.spec) for x in graph.placeholders):
        return graph, []
    lengths, specs = Lengths(), {node: node.spec for node in graph.nodes}
    lengths.read(graph, specs)
    lengths.same = {d: n for d, n in lengths.same.items() if isinstance(lengths.of(d), Dim)}
    if not lengths.same:
        return graph, []
    rewrite = Rewrite(graph)
    for node in graph.nodes:
        inputs = rewrite.operands(node)
        before = [specs[x] for x in node.inputs]
        after = [lengths.spec(x.spec) for x in inputs]
        spec = lengths.spec(node.op.spec(after, node.attrs) if before != after else node.spec)
        if node.inputs and spec != node.spec:
            better = rewrite.keep(node, inputs, again=True)
            better.spec = spec
            rewrite.note("simplified", [node], [better], "pass_equal_lengths")
        else:
            better = rewrite.keep(node, inputs)
        rewrite.put(node, better)
    return rewrite.finish(), rewrite.changes


def _is_open(spec: Spec) -> bool:
    return spec.shape is None or any(isinstance(n, Dim) for n in spec.shape)


def _set_shapes(
    graph: Graph, given: Mapping[str, Sequence[int | None] | None]
) -> tuple[Graph, list[Change]]:
    lengths, specs = Lengths(), {node: node.spec for node in graph.nodes}
    names = {x.name: x for x in graph.placeholders}
    for name, known in given.items():
        if name not in names:
            raise GraphError("unknown_name", name=name, names=", ".join(names), defined=here())
        if known is None:
            continue
        declared = specs[names[name]]
        shape: Shape = tuple([Dim() if n is None else n for n in known])
        if not fits(shape, declared.shape):
            raise ShapeError(
                "narrowed_shape",
                name=name,
                shape=show_shape(public_shape(shape)),
                expected=show_shape(public_shape(declared.shape)),
                defined=names[name].where,
                ran=here(),
            )
        for a, b in zip(declared.shape or (), shape, strict=False):
            lengths.equate(a, b) if isinstance(b, int) else lengths.equate(b, a)
        if declared.shape is None:
            specs[names[name]] = Spec(shape, declared.dtype)
    for node in graph.nodes:  # what becomes known may tell more
        if node.inputs:
            specs[node] = node.op.spec([lengths.spec(specs[x]) for x in node.inputs], node.attrs)
    lengths.read(graph, {node: lengths.spec(spec) for node, spec in specs.items()})
    return _rebuilt(graph, lengths, {x: lengths.spec(specs[x]).shape for x in names.values()})


def _rebuilt(
    graph: Graph, lengths: Lengths, shapes: Mapping[Node, Shape | None]
) -> tuple[Graph, list[Change]]:
    """Rebuild the graph with other lengths, bodies of branches and loops included."""
    rewrite = Rewrite(graph)
    for node in graph.nodes:
        attrs: dict[str, Any] = {}
        for key, value in node.attrs.items():
            if isinstance(value, Graph):
                body = _rebuilt(value, lengths, {})[0]
                if body is not value:
                    attrs[key] = body
            elif isinstance(value, tuple) and any(lengths.of(n) is not n for n in value):
                attrs[key] = tuple(map(lengths.of, value))
        if node in shapes and shapes[node] != node.spec.shape:
            attrs["shape"] = shapes[node]
        better = rewrite.keep(node, rewrite.operands(node), **attrs)
        if better is not node and better.spec != node.spec:
            shape = show_shape(better.shape)
            rewrite.note("simplified", [node], [better], "pass_narrowed", shape=shape)
        rewrite.put(node, better)
    return rewrite.finish(), rewrite.changes


# ---- Shapes that were read off another value ----------------------------------------------------


def _lengths(shape: Shape | None, like: Shape = ()) -> tuple[int, ...] | None:
    """Return the shape as an attribute, −1 for one open length, or for those in `like`."""
    if shape is None:
        return None
    beside = (*(None,) * (len(shape) - len(like)), *like)
    if like and len(like) <= len(shape):
        result = tuple(
            -1 if isinstance(n, Dim) and n is m else n for n, m in zip(shape, beside, strict=True)
        )
    else:
        result = tuple(-1 if isinstance(n, Dim) else n for n in shape)
        if result.count(-1) > 1:
            return None
    return None if any(isinstance(n, Dim) for n in result) else result  # type: ignore[return-value]


def _reshape(node: Node, x: Node, rewrite: Rewrite) -> Node | None:
    shape = _lengths(node.spec.shape)
    if shape is None or ops.reshape.spec([x.spec], {"shape": shape}) != node.spec:
        return None
    return rewrite.make(ops.reshape, (x,), node, {"shape": shape})


def _broadcast(node: Node, x: Node, rewrite: Rewrite) -> Node | None:
    if not node.attrs.get("keepdims", True) and x.spec.shape:
        return None
    shape = _lengths(node.spec.shape, x.spec.shape or ())
    if shape is None or (-1 in shape and not x.spec.shape):
        return None
    return rewrite.make(ops.broadcast_to, (x,), node, {"shape": shape})


def _sum(node: Node, x: Node, rewrite: Rewrite) -> Node | None:
    """Make a sum over the axes that the kernel would find, so that the bits are the same."""
    given, target = x.spec.shape or (), node.spec.shape
    if target is None or x.dtype.kind != "f" or len(target) > len(given):
        return None
    lead, axes = len(given) - len(target), []
    for i, n in enumerate(given):
        m = target[i - lead] if i >= lead else 1
        if i < lead or (m == 1 and n != 1 and not isinstance(n, Dim)):
            axes.append(i)
        elif n != m or (isinstance(n, Dim) and m == 1):
            return None  # only the run will tell
    if not axes:
        return None  # a matter for `tidy_shapes`
    shape = _lengths(target)
    rest = tuple(n for i, n in enumerate(given) if i not in axes)
    if rest != target and shape is None:
        return None
    total = rewrite.make(ops.sum, (x,), node, {"axis": tuple(axes)})
    if rest == target:
        return total
    return rewrite.make(ops.reshape, (total,), node, {"shape": shape})


PLAIN: dict[Any, Callable[[Node, Node, Rewrite], Node | None]] = {
    ops.reshape_like: _reshape,
    ops.broadcast_like: _broadcast,
    ops.sum_like: _sum,
}
