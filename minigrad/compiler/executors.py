"""Which functions compute a node: those of NumPy, the operator's own, or an executor's.

This is the one entry point to `compiler.numpy`, which is there for speed alone. An executor that
leads out of NumPy enters itself in the table, as C does in `interop.c`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minigrad.compiler.numpy.convolution import batch_last as batch_last
from minigrad.compiler.numpy.operators import expand as expand
from minigrad.compiler.numpy.tiles import Tiles as Tiles
from minigrad.compiler.slots import KernelCall, Slot
from minigrad.core import Spec
from minigrad.passes.regions import region_of
from minigrad.static import Node
from minigrad.static.fused import FUSED

Kernel = Callable[..., Any]
Choose = Callable[[Node, Sequence[Spec], Sequence[Spec]], Kernel | None]


@dataclass(frozen=True, slots=True)
class Executor:
    """A choice of kernels, and what becomes of their calls.

    `choose(node, results, operands)` is asked for every node whose values all lie in known places,
    with their specs; it returns a function that takes the arrays of the results, then those of the
    operands, or None: then the operator is called as everywhere else. `join(calls, slots)` makes
    one call of several neighbours, a `JoinedCalls`; `annotate(calls, text)` adds to the program's
    text what was made for these calls.
    """

    choose: Choose
    join: Callable[[Sequence[KernelCall], Mapping[Node, Slot]], list[KernelCall]] | None = None
    annotate: Callable[[Sequence[KernelCall], str], str] | None = None


def tiled(node: Node, results: Sequence[Spec], operands: Sequence[Spec]) -> Kernel | None:
    """Return tiles for a region that is too large for the cache; None for all else."""
    shape: Any = results[0].shape
    alike = all(x.shape == shape for x in results)
    if node.op is not FUSED or node.attrs["kind"] != "elementwise" or not alike:
        return None
    tiles = Tiles(region_of(node.attrs["body"]), results, operands)
    return tiles if tiles.count > 1 else None


# By name; the reference has no kernels to choose and calls no program.
EXECUTORS = {"numpy": Executor(tiled), "js": Executor(tiled)}
