"""What a model computes in PyTorch itself: what the graph made of it is held against."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from minigrad.core import Array
from minigrad.interop.captured import Refused, seed
from minigrad.interop.torch.functions import applied_by
from minigrad.interop.torch.reader import array, seeded
from minigrad.interop.torch.state import called, copied, copied_state


def original(
    torch: Any, module: Any, inputs: Mapping[str, Any], shape: Any, lost: Collection[str] = ()
) -> tuple[list[Array], dict[str, Array | None], Refused | None]:
    """Its results, their gradients with `seed`, and why there are none, if PyTorch refuses.

    inputs: the arguments, flat and by name; shape: how they are arranged; lost: operators that have
    no derivative: nothing flows back through them. Neither the model nor the inputs change.
    """
    state = copied_state(module)
    given = {
        name: copied(x, x.is_floating_point()) if isinstance(x, torch.Tensor) else x
        for name, x in inputs.items()
    }
    written = [x.clone() if isinstance(x, torch.Tensor) else x for x in given.values()]
    with torch.enable_grad(), seeded(torch), applied_by(torch), _cutting(torch, lost):
        arguments = torch.utils._pytree.tree_unflatten(written, shape)
        result = called(torch, module, state, arguments)
    results = [y for y in torch.utils._pytree.tree_leaves(result) if isinstance(y, torch.Tensor)]
    leaves = {n: x for n, x in {**state, **given}.items() if getattr(x, "requires_grad", False)}
    try:
        found, refused = _gradients(torch, results, leaves), None
    except RuntimeError as error:  # its own backward pass stops: a tensor was written to, ...
        found, refused = {}, Refused(str(error).strip().splitlines()[0].rstrip(".") + ".")
    return [array(y) for y in results], found, refused


def _cutting(torch: Any, lost: Collection[str]) -> contextlib.AbstractContextManager[Any]:
    """Let nothing flow back through these operators."""
    if not lost:
        return contextlib.nullcontext()
    mode = torch.overrides.TorchFunctionMode

    class Cutting(mode):  # type: ignore[misc, valid-type]
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = function(*args, **(kwargs or {}))
            if getattr(function, "__name__", "").rstrip("_") not in lost:
                return result
            detached = torch.Tensor.detach
            return torch.utils._pytree.tree_map_only(torch.Tensor, detached, result)

    return Cutting()


def _gradients(torch: Any, results: Sequence[Any], leaves: Mapping[str, Any]) -> dict[str, Any]:
    ends = [y for y in results if y.requires_grad]
    if not ends or not leaves:
        return {}
    seeds = [torch.as_tensor(seed(array(y))) for y in ends]
    torch.autograd.backward(ends, seeds)
    return {n: None if x.grad is None else array(x.grad) for n, x in leaves.items()}
