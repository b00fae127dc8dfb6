"""Which functions compute a node: those of NumPy, the operator's own, or an executor's.

An executor is a choice of kernels. `choose(node, results, operands)` is asked for every node whose
values all lie in known places, with their specs; it returns a function that takes the arrays of the
results, then those of the operands, or None: then the operator is called as everywhere else.

This is the one entry point to `compiler.numpy` and `compiler.c`, which are there for speed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.compiler.c import kernels as native
from minigrad.compiler.c.joining import JoinedKernels as JoinedKernels
from minigrad.compiler.c.joining import join_kernels as join_kernels
from minigrad.compiler.c.joining import with_c_source as with_c_source
from minigrad.compiler.numpy.convolution import batch_last as batch_last
from minigrad.compiler.numpy.operators import expand as expand
from minigrad.compiler.numpy.tiles import Tiles as Tiles
from minigrad.compiler.regions import Region
from minigrad.core import Spec
from minigrad.static import Graph, Node
from minigrad.static.fused import FUSED

Kernel = Callable[..., Any]
Choose = Callable[[Node, Sequence[Spec], Sequence[Spec]], Kernel | None]


def region_of(body: Graph) -> Region:
    """Return the steps of a fused region, made once and kept with its body."""
    found: Region | None = body.notes.get(Region)
    if found is None:
        found = body.notes[Region] = Region(body)
    return found


def tiled(node: Node, results: Sequence[Spec], operands: Sequence[Spec]) -> Kernel | None:
    """Return tiles for a region that is too large for the cache; None for all else."""
    shape: Any = results[0].shape
    alike = all(x.shape == shape for x in results)
    if node.op is not FUSED or node.attrs["kind"] != "elementwise" or not alike:
        return None
    tiles = Tiles(region_of(node.attrs["body"]), results, operands)
    return tiles if tiles.count > 1 else None


def compiled(node: Node, results: Sequence[Spec], operands: Sequence[Spec]) -> Kernel | None:
    """Return a C function if there is a compiler and C can do it, else tiles."""
    return native.kernel(node, results, operands) or tiled(node, results, operands)


# By the name of an executor its choice of kernels; the reference has none and calls no program.
EXECUTORS: dict[str, Choose] = {"numpy": tiled, "c": compiled, "js": tiled}
