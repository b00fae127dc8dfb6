"""Specs of the results of branches and loops, inferred before they run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from minigrad.core import Array, Attrs, Dim, Spec, TupleSpec
from minigrad.diagnostics.errors import ShapeError


def _merge_specs(a: Spec, b: Spec) -> Spec:
    """Merge two specs: what is known of a value that has one or the other."""
    if a.shape is None or b.shape is None or len(a.shape) != len(b.shape):
        return Spec(None, a.dtype)
    pairs = zip(a.shape, b.shape, strict=True)
    return Spec(tuple(m if m == n else Dim() for m, n in pairs), a.dtype)


def step_spec(spec: Spec) -> Spec:
    """Return what a step of a scan gets of a sequence."""
    return Spec(None if spec.shape is None else spec.shape[1:], spec.dtype)


def empty_rows(like: Spec) -> Array:
    """Return zero rows; an unknown length becomes 0."""
    lengths = [n if isinstance(n, int) else 0 for n in like.shape or ()]
    return np.zeros((0, *lengths), like.dtype)


def cond_spec(specs: Sequence[Spec], attrs: Attrs) -> Spec:
    pairs = zip(attrs["then"].outputs, attrs["orelse"].outputs, strict=True)
    return TupleSpec.of([_merge_specs(a.spec, b.spec) for a, b in pairs])


def _loop_specs(specs: Sequence[Spec], attrs: Attrs) -> list[Spec]:
    """Infer a loop's specs; a loop of no steps returns its initial state."""
    pairs = zip(specs[: attrs["carries"]], attrs["body"].outputs, strict=False)
    return [_merge_specs(start, x.spec) for start, x in pairs]


def while_spec(specs: Sequence[Spec], attrs: Attrs) -> Spec:
    return TupleSpec.of(_loop_specs(specs, attrs))


def scan_spec(specs: Sequence[Spec], attrs: Attrs) -> Spec:
    n, m = attrs["carries"], attrs["sequences"]
    lengths = {s.shape[0] for s in specs[n : n + m] if s.shape is not None}
    known = sorted(x for x in lengths if not isinstance(x, Dim))
    if len(known) > 1 or not m:
        raise ShapeError("scan_lengths", op="scan", lengths=known)
    length = known[0] if known else lengths.pop() if len(lengths) == 1 else Dim()
    ys = [x.spec for x in attrs["body"].outputs[n:]]
    stacked = [Spec(None if s.shape is None else (length, *s.shape), s.dtype) for s in ys]
    return TupleSpec.of([*_loop_specs(specs, attrs), *stacked])
