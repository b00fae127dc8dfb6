"""`mg.from_caffe`: a net of Caffe as a graph, layer by layer."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

import numpy as np

from minigrad.core import Array, float32, int64, name_scope
from minigrad.diagnostics.arguments import refuse as wrong
from minigrad.diagnostics.arguments import whole
from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import Pair, fill
from minigrad.dynamic.tensor import Tensor
from minigrad.interop.caffe import layers
from minigrad.interop.caffe.files import FieldBlock, Text, Weights, refuse
from minigrad.interop.caffe.fillers import init_parameter
from minigrad.static import Graph, Node
from minigrad.static.body import tensors_as_nodes
from minigrad.static.build import build_graph, placeholder

__all__ = ["from_caffe"]

PHASES = ("TRAIN", "TEST")
MOST_NUMBERS = 1 << 28  # of all parameters: 1 GiB
MOST_ELEMENTS = (1 << 31) - 1  # of one blob: Caffe counts them in 32 bits
Shapes = Mapping[str, Sequence[int | None]]


def from_caffe(
    prototxt: str | os.PathLike[str],
    caffemodel: str | os.PathLike[str] | None = None,
    *,
    phase: str = "test",
    shapes: Shapes | None = None,
    seed: int = 0,
) -> Graph:
    """Return a Caffe net as a static graph; its outputs are the blobs that no layer reads.

    prototxt: the description, in the form with `layer { … }`. caffemodel: its weights; without it
    fillers initialize them with `seed`. phase: "test" or "train", which decides which layers there
    are and what dropout and normalisation do. shapes: for inputs by name, if the file has none or
    you want another batch size: `shapes={"data": (None, 1, 28, 28)}`. Parameters are variables
    named after their layers.

    FormatError, with line, layer and field, for files that can't be read, are inconsistent or too
    large, or have an unsupported layer; no graph is built then. MissingPackageError without the
    extra `caffe`.

    >>> import minigrad as mg
    >>> graph = mg.from_caffe("lenet.prototxt", "lenet.caffemodel")  # doctest: +SKIP
    >>> mg.run(graph, {"data": images})  # doctest: +SKIP
    """
    if str(phase).upper() not in PHASES:
        raise wrong("from_caffe", "phase", phase, fill("expect_phase"))
    whole("from_caffe", "seed", seed)
    text = Text(prototxt)
    weights = None if caffemodel is None else Weights(caffemodel)
    builder = NetBuilder(text, weights, str(phase).upper(), shapes or {}, seed)
    with Graph() as graph, tensors_as_nodes(graph):
        return builder.graph()


class NetBuilder:
    """A net being converted to a graph: the blobs so far, the current layer."""

    def __init__(
        self, text: Text, weights: Weights | None, phase: str, shapes: Shapes, seed: int
    ) -> None:
        self.text, self.weights, self.phase, self.shapes = text, weights, phase, shapes
        self.random = np.random.default_rng(seed)
        self.blobs: dict[str, Node] = {}
        self.unread: dict[str, Node] = {}
        self.makers: dict[str, str] = {}  # by which layer each was made
        self.shared: dict[str, Tensor] = {}  # parameters that the file gives a name
        self.inputs: list[Node] = []
        self.numbers = self.used = 0
        self.layer: Any = None
        self.block = FieldBlock("", 1)

    def graph(self) -> Graph:
        """Build all layers of this phase in order; unread blobs are the outputs."""
        net = self.text.net
        self.old_inputs(net)
        present = [
            (layer, block)
            for layer, block in zip(net.layer, self.text.layers, strict=True)
            if self.included(layer)
        ]
        later: dict[str, str] = {}
        for layer, _ in reversed(present):
            later.update(dict.fromkeys(layer.top, layer.name))
        names: set[str] = set()
        for self.layer, self.block in present:
            if self.layer.name in names:
                self.fail("caffe_name", "name", name=self.layer.name)
            names.add(self.layer.name)
            self.add(later)
        outputs = list(self.unread.values())
        if not self.inputs or not outputs:
            refuse(self.text.where(1), fill("caffe_empty"))
        return build_graph(self.inputs, outputs[0] if len(outputs) == 1 else outputs)

    def add(self, later: Mapping[str, str]) -> None:
        """Build the current layer's operators in a name scope."""
        layer, self.used = self.layer, 0
        kind = layers.KINDS.get(layer.type)
        if kind is None:
            names = ", ".join(sorted(layers.KINDS))
            self.fail("caffe_type", "type", type=layer.type, names=names)
        if len(layer.bottom) not in kind.bottoms or (kind.tops and len(layer.top) != kind.tops):
            counts = ", ".join(map(str, kind.bottoms)), kind.tops or "1, 2, …"
            found = f"{len(layer.bottom)} → {len(layer.top)}"
            expected = f"{counts[0]} → {counts[1]}"
            self.fail("caffe_ends", "bottom", type=layer.type, found=found, expected=expected)
        xs = [self.bottom(name, later) for name in layer.bottom]
        try:
            with self.scope(kind):
                made = kind.make(self, layer, *xs)
        except GraphError as error:
            if error.key == "caffe":
                raise
            self.fail_with(error.pair)
        if self.weights is not None:
            self.weights.expect_all_used(layer.name, self.used, self.where())
        for name, node in zip(layer.top, made, strict=True):
            self.top(name, node)

    def scope(self, kind: layers.Kind) -> AbstractContextManager[Any]:
        """Open the current layer's name scope; inputs keep the file's names without one."""
        if not any(kind.bottoms):
            return nullcontext()
        return name_scope(self.layer.name.replace("/", ".") or self.layer.type)

    def bottom(self, name: str, later: Mapping[str, str]) -> Node:
        """Return a blob that the current layer reads; FormatError if there is none yet."""
        if name in self.blobs:
            self.unread.pop(name, None)
            return self.blobs[name]
        if name in later:
            self.fail("caffe_later", "bottom", blob=name, other=later[name])
        self.fail("caffe_bottom", "bottom", blob=name)

    def top(self, name: str, node: Node) -> None:
        """Record what the current layer made; it may replace a blob that it has read."""
        if name in self.blobs and name not in self.layer.bottom:
            self.fail("caffe_twice", "top", blob=name, other=self.makers[name])
        self.expect_size(node.shape or ())
        self.blobs[name] = node
        if self.layer.bottom:  # what is fed comes out only where it was changed
            self.unread[name] = node
        self.makers[name] = self.layer.name

    def included(self, layer: Any) -> bool:
        """Return whether a layer's include and exclude rules keep it in this phase."""
        if layer.include:
            return any(map(self.meets, layer.include))
        return not any(map(self.meets, layer.exclude))

    def meets(self, rule: Any) -> bool:
        """Return whether the net's state matches a rule."""
        state = self.text.net.state
        return (
            (not rule.HasField("phase") or PHASES[rule.phase] == self.phase)
            and (not rule.HasField("min_level") or state.level >= rule.min_level)
            and (not rule.HasField("max_level") or state.level <= rule.max_level)
            and set(rule.stage) <= set(state.stage)
            and set(rule.not_stage).isdisjoint(state.stage)
        )

    # ---- What enters -----------------------------------------------------------------------------

    def old_inputs(self, net: Any) -> None:
        """Build the inputs declared in the old way, `input: "data"`, before Input layers."""
        dims = list(net.input_dim)
        for i, name in enumerate(net.input):
            old, new = dims[4 * i : 4 * i + 4], net.input_shape[i : i + 1]
            shape = tuple(new[0].dim) if new else tuple(old) if len(old) == 4 else None
            self.blobs[name] = self.input(name, shape)
            self.makers[name] = "input"

    def input(self, name: str, shape: Sequence[int | None] | None, dtype: Any = float32) -> Node:
        """Build a placeholder of the shape given by the user, or else of that in the file."""
        shape = self.shapes.get(name, shape)
        if shape is None:
            self.fail("caffe_shape", blob=name)
        if any(n is not None and n < 1 for n in shape):
            self.fail("caffe_value", "dim", value=tuple(shape), expected="1, 2, …")
        self.expect_size(shape)
        self.inputs.append(placeholder(name, shape=tuple(shape), dtype=dtype))
        return self.inputs[-1]

    def labels(self, name: str, batch: int | None) -> Node:
        """Build a placeholder for the classes of a batch."""
        return self.input(name, (batch,), int64)

    # ---- Parameters ------------------------------------------------------------------------------

    def parameter(self, name: str, shape: tuple[int, ...], filler: Any, start: float = 0.0) -> Any:
        """Return the current layer's next parameter, from the weights file or a filler.

        Layers that give a parameter the same name in the file share it.
        """
        place = self.used
        array, specs = self.blob(shape), self.layer.param
        share = specs[place].name if place < len(specs) else ""
        known = self.shared.get(share)
        if known is not None:
            if known.shape != shape or not (array is None or np.array_equal(array, known.data)):
                self.fail("caffe_share", "param", name=share, shape=known.shape, found=shape)
            return known
        if array is None:
            array = init_parameter(self, filler, shape, start)
        made = Tensor(array, requires_grad=True, name=name)
        if share:
            self.shared[share] = made
        return made

    def blob(self, shape: tuple[int, ...]) -> Array | None:
        """Return the current layer's next blob of the weights; None without a weights file."""
        self.expect_numbers(shape)
        self.numbers += math.prod(shape)
        self.used += 1
        if self.weights is None:
            return None
        return self.weights.array(self.layer.name, self.used - 1, shape, self.where())

    # ---- What is wrong ---------------------------------------------------------------------------

    def expect_numbers(self, shape: tuple[int, ...]) -> None:
        """Raise FormatError for an empty parameter, or if the net gets too large."""
        if self.numbers + math.prod(shape) > MOST_NUMBERS or min(shape, default=1) < 1:
            self.fail("caffe_numbers", shape=shape, limit=MOST_NUMBERS)

    def expect_size(self, shape: Sequence[int | None]) -> None:
        """Raise FormatError for a blob of more elements than Caffe can count."""
        count = math.prod(n for n in shape if n is not None)
        if count > MOST_ELEMENTS:
            about = {"what": "elements", "count": count, "limit": MOST_ELEMENTS}
            self.fail_with(fill("format_limit", **about))

    def where(self, field: str | None = None) -> Pair:
        """Describe the current layer, or one of its fields."""
        line = self.block.lines.get(field or "", self.block.line)
        name = None if self.layer is None else self.layer.name
        return self.text.where(line, name, field)

    def fail(self, row: str, field: str | None = None, **fields: object) -> NoReturn:
        """Raise FormatError for the current layer, at the line of a field."""
        self.fail_with(fill(row, **fields), field)

    def fail_with(self, reason: Pair, field: str | None = None) -> NoReturn:
        refuse(self.where(field), reason)
