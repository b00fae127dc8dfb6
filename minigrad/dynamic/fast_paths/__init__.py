"""Code that exists for speed alone; `mg.set_fast(False)` turns it off, with the same bits.

reader            the reader of tensors with a function for each operator, without detours
prepared_ops      pullbacks prepared once for each kind of operands
generated_rules   gradient rules written out as Python
inplace_sweep     the backward sweep without listeners, which accumulates in place

Tensors know nothing of it: importing this package turns it on.
"""

import os

import numpy as np

from minigrad.core import READERS
from minigrad.diagnostics.arguments import refuse
from minigrad.diagnostics.messages import fill
from minigrad.dynamic.fast_paths.reader import FastReader
from minigrad.dynamic.tensor import Tensor

__all__ = ["set_fast"]

PLAIN_READER, FAST_READER = Tensor.reader, FastReader(Tensor)


def set_fast(fast: bool) -> None:
    """Compute with tensors by the fast paths (the default) or by the plain code: the same bits.

    The plain code is what `minigrad/README.md` walks through: with `mg.set_fast(False)`, or with
    MINIGRAD_PLAIN=1 in the environment, a breakpoint in `TapeReader.apply` stops at each operation.

    >>> import minigrad as mg
    >>> mg.set_fast(False)
    >>> (mg.tensor(2.0) * 3).item()
    6.0
    >>> mg.set_fast(True)
    """
    if not isinstance(fast, (bool, np.bool_)):
        raise refuse("set_fast", "fast", fast, fill("expect_flag"))
    (FAST_READER.install if fast else FAST_READER.remove)()
    kinds: list[type[Tensor]] = [Tensor, *Tensor.__subclasses__()]
    for kind in kinds:
        if kind.reader in (PLAIN_READER, FAST_READER):
            kind.reader = READERS[kind] = FAST_READER if fast else PLAIN_READER


PLAIN = os.environ.get("MINIGRAD_PLAIN") == "1"
set_fast(not PLAIN)
