"""An ONNX graph being written: its nodes, constants, and the names of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.core import Array, Dim, Dtype, Op
from minigrad.diagnostics.errors import FormatError
from minigrad.interop.extra import import_extra
from minigrad.interop.onnx.tensors import NUMBERS
from minigrad.saving.encoding import text
from minigrad.static import Node

OPSET = 20
Rule = Callable[["OnnxGraphBuilder", Node, list[str]], Any]
TABLE: dict[Op, Rule] = {}
FIRST, LAST = -(1 << 63), (1 << 63) - 1  # slices without a bound


def register_writer(*ops: Op) -> Callable[[Rule], Rule]:
    """Register the rule that writes these operators: (graph, node, operand names) -> name."""

    def enter(rule: Rule) -> Rule:
        TABLE.update(dict.fromkeys(ops, rule))
        return rule

    return enter


class OnnxGraphBuilder:
    """An ONNX graph; that of a branch or a loop is nested in another, whose values it reads."""

    def __init__(self, outer: OnnxGraphBuilder | None = None) -> None:
        self.onnx = import_extra("onnx", extra="onnx")
        self.outer = outer
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.values: dict[Node, str] = {}
        self.used: set[str] = outer.used if outer else set()
        self.dims: dict[Dim, str] = outer.dims if outer else {}
        self.reused: dict[Any, str] = {}  # values that are needed repeatedly
        self.loop_states: dict[Node, list[str]] = {}  # the states of loops, step by step
        self.histories: Mapping[Node, Sequence[Node]] = outer.histories if outer else {}
        self.node: Node | None = None

    # ---- Names ----------------------------------------------------------------------------------

    def name(self, wish: str) -> str:
        """Return a name that no other value has; FormatError for one that can't be encoded."""
        found, count = text(wish), 0
        while found in self.used:
            count += 1
            found = f"{wish}_{count}"
        self.used.add(found)
        return found

    def __getitem__(self, x: Node) -> str:
        graph: OnnxGraphBuilder | None = self
        while graph is not None:
            if x in graph.values:
                return graph.values[x]
            graph = graph.outer
        raise KeyError(x)

    # ---- Writing --------------------------------------------------------------------------------

    def emit(self, op: str, *operands: str, outputs: int = 1, **attrs: Any) -> Any:
        """Add an ONNX node; return the name of its result, or the names of several."""
        stem = self.node.name if self.node is not None else op
        names = [self.name(f"{stem}/{op}") for _ in range(outputs)]
        node = self.onnx.helper.make_node(op, operands, names, name=names[0], **attrs)
        if self.node is not None:
            node.doc_string = self.node.where.label
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def constant(self, value: Any, dtype: Any = None, name: str = "constant") -> str:
        """Add an array to the model; return its name."""
        array: Array = np.asarray(value, dtype)
        if array.size <= 16:
            key = array.dtype, array.shape, array.tobytes()
            if key not in self.reused:
                self.reused[key] = self._add_constant(array, name)
            return self.reused[key]
        return self._add_constant(array, name)

    def _add_constant(self, array: Array, name: str) -> str:
        found = self.name(name)
        self.dtype_number(array.dtype)
        whole = np.array(array, order="C")
        self.constants.append(self.onnx.numpy_helper.from_array(whole, found))
        return found

    def ints(self, *values: int) -> str:
        return self.constant(values, np.int64)

    def dtype_number(self, dtype: Dtype) -> int:
        """Return ONNX's number for a data type; FormatError if it has none."""
        if dtype not in NUMBERS:
            raise FormatError("onnx_type", kind=str(dtype), name=self.node and self.node.name)
        return NUMBERS[dtype]

    def cast(self, x: str, dtype: Any) -> str:
        return str(self.emit("Cast", x, to=self.dtype_number(np.dtype(dtype))))

    def refuse(self, what: str) -> FormatError:
        op = self.node.op.name if self.node is not None else "?"
        return FormatError("onnx_unwritten", op=op, what=what)

    # ---- Shapes ---------------------------------------------------------------------------------

    def shape(self, x: Node) -> str:
        """Return the name of a value that holds the shape of x."""
        if has_known_shape(x):
            return self.ints(*shape_of(x)) if shape_of(x) else self.constant([], np.int64)
        key = "shape", self[x]
        if key not in self.reused:
            self.reused[key] = self.emit("Shape", self[x])
        return self.reused[key]

    def rank(self, x: Node) -> int:
        if x.spec.shape is None:
            raise self.refuse("shape ?")
        return len(x.spec.shape)

    def length(self, x: Node, axis: int) -> int:
        """Return the length of an axis; FormatError unless it is known."""
        if x.spec.shape is None or isinstance(x.spec.shape[axis], Dim):
            raise self.refuse(f"shape {x.shape}")
        return int(x.spec.shape[axis])  # type: ignore[arg-type]

    def like(self, value: Any, x: Node) -> str:
        """Add a single number in the data type of x; return its name."""
        return self.constant(value, x.dtype)

    def reshape(self, x: str, shape: str) -> str:
        return str(self.emit("Reshape", x, shape, allowzero=1))

    def value_info(self, name: str, x: Node) -> Any:
        """Return the ValueInfoProto of an input or output; an open length has a name."""
        shape = None
        if x.spec.shape is not None:
            shape = [self._dim(n) for n in x.spec.shape]
        return self.onnx.helper.make_tensor_value_info(name, self.dtype_number(x.dtype), shape)

    def _dim(self, n: int | Dim) -> Any:
        if isinstance(n, Dim):
            return self.dims.setdefault(n, f"n{len(self.dims)}")
        return n


def has_known_shape(x: Node) -> bool:
    """Return whether all lengths of a node are known."""
    return x.spec.shape is not None and all(isinstance(n, int) for n in x.spec.shape)


def shape_of(x: Node) -> tuple[int, ...]:
    return tuple(x.spec.shape)  # type: ignore[arg-type]
