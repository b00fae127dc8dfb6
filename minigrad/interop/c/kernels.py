"""Kernels in C for the nodes of a program, and tables of the arrays that they work on.

A kernel takes arrays, results first, like those of NumPy. Where the C file that it belongs to
cannot be compiled, or an operand is refused, the operator's own kernel does the work and says what
is wrong.
"""

from __future__ import annotations

import ctypes
import math
import re
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Array, Spec, TupleSpec
from minigrad.interop.c import convolution as images
from minigrad.interop.c import library, reductions
from minigrad.interop.c.blocks import CArray, CArrays, CFunction, c_identifier
from minigrad.interop.c.convolution import convolution
from minigrad.interop.c.loops import Body, elementwise
from minigrad.interop.c.products import product
from minigrad.interop.c.reductions import reduced_axes
from minigrad.interop.c.units import CUnit, DriverCall
from minigrad.ops import state
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED

Forms = list[CArray]
WRITERS = reductions.WRITERS | images.WRITERS


def c_arrays(
    node: Node, results: Sequence[Spec], operands: Sequence[Spec]
) -> tuple[Forms, Forms] | None:
    """Return what C needs to know of results and operands; None if it can't handle one."""
    declared = node.spec.parts if isinstance(node.spec, TupleSpec) else (node.spec,)
    if len(declared) != len(results):
        return None
    outs = [CArray.of(d, f) for d, f in zip(declared, results, strict=True)]
    ins = [CArray.of(x.spec, f) for x, f in zip(node.inputs, operands, strict=True)]
    known = [f for f in outs if f], [f for f in ins if f]
    return known if len(known[0]) == len(outs) and len(known[1]) == len(ins) else None


def write(node: Node, outs: Forms, ins: Forms) -> CFunction | None:
    """Write the C function for a node, once for equal operators; None if impossible."""
    return _cached_function("write", node, outs, ins, lambda: _write(node, outs, ins))


_known: dict[Hashable, CFunction | None] = {}
MOST_WRITTEN = 4096  # functions that are remembered
PLAIN = (bool, int, float, str, bytes, np.dtype, type(None))


def _key_of(name: str, value: Any) -> Hashable:
    """Return an attribute as a key of a function; KeyError if that can't be done."""
    if isinstance(value, Graph):
        place = {x: i for i, x in enumerate(value.nodes)}
        steps = [x for x in value.nodes if x.op is not state.placeholder]
        rows = [(x.op, x.dtype, _attributes(x), *[place[y] for y in x.inputs]) for x in steps]
        ends = [place[x] for x in (*value.inputs, *value.outputs)]
        return name, tuple(rows), tuple(ends)
    if isinstance(value, (np.ndarray, np.generic)) and value.size == 1:
        value = value.dtype, value.tobytes()
    parts = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(x, PLAIN) for x in parts):
        raise KeyError(name)
    return name, repr(value)


def _attributes(node: Node) -> Hashable:
    return tuple([_key_of(name, value) for name, value in node.attrs.items()])


def _cached_function(
    what: Hashable, node: Node, outs: Forms, ins: Forms, make: Callable[[], CFunction | None]
) -> CFunction | None:
    """Return what `make` writes for a node, cached by everything it may depend on."""
    try:
        attrs = _attributes(node)
    except KeyError:
        return make()
    first = {x: i for i, x in reversed([*enumerate(node.inputs)])}
    same = tuple([first[x] for x in node.inputs])  # which operands are one
    stem = _name_stem(node) if node.op is FUSED else ""
    key = what, stem, node.op, attrs, tuple(outs), tuple(ins), same
    if key not in _known:
        if len(_known) >= MOST_WRITTEN:
            _known.clear()
        block = make()
        _known[key] = None if block is None else block.for_any(node)
    return _known[key]


def _write(node: Node, outs: Forms, ins: Forms) -> CFunction | None:
    if node.op is ops.matmul or (node.op is FUSED and node.attrs["kind"] == "matmul"):
        return product(_name_stem(node), Body.of(node), outs, ins)
    if node.op is ops.conv2d or (node.op is FUSED and node.attrs["kind"] == "conv"):
        return convolution(_name_stem(node), Body.of(node), outs, ins)
    if is_elementwise(node):
        return elementwise(_name_stem(node), Body.of(node), outs, ins)
    writer = WRITERS.get(node.op)
    return None if writer is None else writer(_name_stem(node), node, outs, ins)


def is_elementwise(node: Node) -> bool:
    """Return whether this is one elementwise operator or several."""
    return node.op.elementwise or (node.op is FUSED and node.attrs["kind"] == "elementwise")


def _name_stem(node: Node) -> str:
    return c_identifier(node.name.rsplit("/", 1)[-1] if node.op is FUSED else node.op.name)


class AddressTable:
    """The addresses of arrays, as C takes them; an array that is not as expected is noted.

    Addresses are remembered as long as their arrays live: those of variables take turns.
    """

    def __init__(self, specs: Sequence[Spec]) -> None:
        self._expected = [(s.shape, s.dtype) for s in specs]
        self.held: list[Array] = [None] * len(specs)
        self.addresses = (ctypes.c_void_p * len(specs))()
        self.known: list[dict[int, tuple[weakref.ref[Any], int]]] = [{} for _ in specs]
        self.start = ctypes.addressof(self.addresses)
        self.wrong: set[int] = set()

    def __setitem__(self, i: int, array: Array) -> None:
        self.held[i] = array
        known, key = self.known[i], id(array)
        if key in known:
            self.addresses[i] = known[key][1]
            return
        if (getattr(array, "shape", None), getattr(array, "dtype", None)) != self._expected[i]:
            self.wrong.add(i)
            return
        self.wrong.discard(i)
        try:
            self.addresses[i] = address = ctypes.addressof(_buffer(array))
        except (TypeError, ValueError):  # read-only, of no elements, or not in one piece
            self.held[i] = array = np.ascontiguousarray(array)
            self.addresses[i] = array.ctypes.data
            return
        if len(known) > MOST_KNOWN:
            known.clear()
        known[key] = weakref.ref(array, lambda _: known.pop(key, None)), address


_buffer = ctypes.c_char.from_buffer
MOST_KNOWN = 256  # addresses


class Kernel:
    """The C function of one node, to be called with arrays: results first, then operands."""

    def __init__(self, block: CFunction, node: Node, outs: Forms, ins: Forms) -> None:
        self.block, self.node, self.outs, self.ins = block, node, outs, ins
        self.outputs = len(outs)
        self.specs = [Spec(form.shape, form.dtype) for form in (*outs, *ins)]
        self.lengths = lengths_of(block, [*outs, *ins])
        self._unit: CUnit | None = None
        self._name = ""

    def join(self, unit: CUnit) -> None:
        """Join a file with other kernels."""
        arrays, lengths = range(len(self.specs)), range(len(self.lengths))
        part = DriverCall(self.block, arrays, lengths, self.node)
        self._unit, self._name = unit, unit.driver([part])

    @property
    def unit(self) -> CUnit:
        if self._unit is None:
            self.join(CUnit())
        return self._unit  # type: ignore[return-value]

    def __call__(self, *arrays: Array) -> None:
        function = self.unit.function(self._name)
        table = AddressTable(self.specs)
        for i in self.block.used:
            table[i] = arrays[i]
        sizes = (ctypes.c_int64 * max(len(self.lengths), 1))(*self.lengths)
        if function is None or table.wrong or function(table.start, ctypes.addressof(sizes)):
            self.in_numpy(*arrays)

    def in_numpy(self, *arrays: Array) -> None:
        """Run the operator's own kernel, which says what is wrong with its operands."""
        results, operands = arrays[: self.outputs], arrays[self.outputs :]
        if self.outputs == 1:
            self.node.op.run(results[0], *operands, **self.node.attrs)
            return
        found = self.node.op.run(None, *operands, **self.node.attrs)
        for out, value in zip(results, found, strict=True):
            np.copyto(out, value)


def kernel(node: Node, results: Sequence[Spec], operands: Sequence[Spec]) -> Kernel | None:
    """Return a C kernel for a node; None without a compiler or if C can't do it."""
    if library.available() is None:
        return None
    known = c_arrays(node, results, operands)
    block = None if known is None or node.controls else write(node, *known)
    if known is None or block is None:
        return None
    size = math.prod(known[0][0].shape)
    slow = size > FEW and any(ONE_BY_ONE.search(line) for line, _ in block.lines)
    return None if slow else Kernel(block, node, *known)


# What `mathematics.h` takes from the C library works on one number at a time; NumPy may work on
# eight. For few numbers it is the calls that cost more.
ONE_BY_ONE = re.compile(
    r"\b((sin|cos|log1p|pow)_float|(exp|log|log1p|sin|cos|tanh|sigmoid|pow)_double)\("
)
FEW = 512


def lengths_of(block: CFunction, known: CArrays) -> list[int]:
    """Return the lengths that a block takes this time."""
    return [known[i].shape[axis] for i, axis in block.lengths]


def with_sums(kernel: Kernel, summed: Sequence[int], unwritten: Sequence[int]) -> CFunction | None:
    """Return a kernel's function that also sums some results and doesn't store some."""
    node, outs, ins = kernel.node, kernel.outs, kernel.ins
    what = "summing", tuple(summed), tuple(unwritten)

    def make() -> CFunction | None:
        return elementwise(_name_stem(node), Body.of(node), outs, ins, summed, unwritten)

    return _cached_function(what, node, outs, ins, make)


def given_sum(kernel: Kernel) -> CFunction:
    """Return a kernel's function for a sum that another kernel has computed."""
    node, outs, ins = kernel.node, kernel.outs, kernel.ins
    return _cached_function("given", node, outs, ins, lambda: reductions.given_sum(node, outs, ins))  # type: ignore[return-value]


def is_full_sum(kernel: Kernel) -> bool:
    """Return whether a kernel sums all elements of a float array."""
    if kernel.node.op not in (ops.sum, ops.mean, ops.sum_like) or kernel.outs[0].dtype.kind != "f":
        return False
    return reduced_axes(kernel.node, kernel.ins) == set(range(len(kernel.ins[0].shape)))
