"""PyTorch tensors that share memory: a write to one of them changes the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def written_tensors(function: Any, args: Any) -> list[Any]:
    """Return the tensors among its arguments that an operator writes to."""
    declared = getattr(getattr(function, "_schema", None), "arguments", ())
    pairs = zip(declared, args, strict=False)
    return [x for a, x in pairs if a.alias_info is not None and a.alias_info.is_write]


class Aliases:
    """The tensors seen so far, by the memory that they share."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self._seen: dict[int, dict[int, Any]] = {}

    def add(self, x: Any) -> None:
        """Add a tensor, and keep it alive."""
        if isinstance(x, self.torch.Tensor) and x.layout == self.torch.strided:
            self._seen.setdefault(_storage_id(x), {})[id(x)] = x

    def sharing(self, x: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the other tensors in this memory, each with its elements' positions in `x`."""
        for y in list(self._seen.get(_storage_id(x), {}).values()):
            if y is x or y.dtype != x.dtype:
                continue
            found = positions(x, y)
            if (found >= 0).any():
                yield y, found


def positions(x: Any, y: Any) -> Any:
    """Return where each element of y is in x, which shares its memory; -1 for those not in x."""
    own, others = _addresses(x), _addresses(y)
    places = np.full(max(own.max(initial=0), others.max(initial=0)) + 1, -1)
    places[own.reshape(-1)] = np.arange(own.size)
    return places[others]


def _storage_id(x: Any) -> int:
    return int(x.untyped_storage()._cdata)


def _addresses(x: Any) -> Any:
    """Return the position of each element of a tensor in its storage."""
    found = np.array(x.storage_offset())
    for n, step in zip(x.shape, x.stride(), strict=True):
        found = found[..., None] + np.arange(n) * step
    return found
