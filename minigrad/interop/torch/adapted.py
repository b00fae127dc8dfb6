"""Changes to a copy of a PyTorch model that let it run here, and notes about them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from minigrad.diagnostics.messages import Pair, fill
from minigrad.interop.torch.reader import fixed_seed

SPREAD = 0.02  # of parameters for which their module has no first values


def adapt_inputs(
    torch: Any, module: Any, inputs: Sequence[Any]
) -> tuple[Any, Sequence[Any], list[Pair]]:
    """Return the module and inputs that are played, and notes on what differs from yours.

    Tensors on the meta device have no values, so they get random ones; numbers of 16 bits are
    widened to float32. A module in train() mode stays in it, and a note says so.
    """
    tree, notes = torch.utils._pytree, list[Pair]()
    tensors = [x for x in tree.tree_leaves(tuple(inputs)) if isinstance(x, torch.Tensor)]
    tensors += [*module.parameters(), *module.buffers()]
    narrow = {str(x.dtype).removeprefix("torch.") for x in tensors} & {"float16", "bfloat16"}
    empty = any(x.is_meta for x in tensors)
    if empty or narrow:
        module = copy.deepcopy(module)
    if empty:
        notes.append(fill("model_filled"))
        _fill(torch, module)
    if narrow:
        notes.append(fill("model_widened", dtype=", ".join(sorted(narrow))))
        module = module.float()

    def given(x: Any) -> Any:
        if x.is_meta:
            with fixed_seed(torch):
                real = x.is_floating_point()
                shape, dtype = x.shape, x.dtype
                x = torch.randn(shape).to(dtype) if real else torch.zeros(shape, dtype=dtype)
        return x.float() if narrow and x.is_floating_point() else x

    if empty or narrow:
        inputs = tree.tree_map_only(torch.Tensor, given, list(inputs))
    norms = torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.dropout._DropoutNd
    if any(part.training and isinstance(part, norms) for part in module.modules()):
        notes.append(fill("model_training"))
    return module, inputs, notes


def _fill(torch: Any, module: Any) -> None:
    """Initialise a module from the meta device, each part by its own rule."""
    module.to_empty(device="cpu")
    with torch.no_grad(), fixed_seed(torch):
        for x in (*module.parameters(), *module.buffers()):
            _ = x.normal_(0, SPREAD) if x.is_floating_point() else x.zero_()
        for part in module.modules():
            if hasattr(part, "reset_parameters"):
                part.reset_parameters()
