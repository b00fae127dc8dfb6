"""PyTorch's padding of sequences: `torch.nn.utils.rnn.pad_sequence`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.torch.tensors import as_torch

__all__ = ["pad_sequence"]


def pad_sequence(
    sequences: Sequence[Any], batch_first: bool = False, padding_value: float = 0.0
) -> Any:
    """Pad sequences (length, ...) to one tensor (longest, rows, ...), or (rows, longest, ...).

    ShapeError where they differ in more than their first axis.

    >>> import minigrad.faces.torch as torch
    >>> rows = [torch.tensor([4.0, 5.0]), torch.tensor([6.0])]
    >>> torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).tolist()
    [[4.0, 5.0], [6.0, 0.0]]
    """
    longest = max(len(x) for x in sequences)
    filled = []
    for x in sequences:
        filler = mg.full((longest - len(x), *x.shape[1:]), padding_value, x.dtype)
        filled.append(mg.concatenate([x, filler]))
    return as_torch(mg.stack(filled, 0 if batch_first else 1))


__getattr__ = face = Compat(
    "torch.nn.utils.rnn",
    lacks={"h = mg.where(t < length, cell(x[t], h), h)": "pack_padded_sequence pack_sequence"},
)
__dir__ = face.names
