"""What a model computes in PyTorch itself: what the graph made of it is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minigrad.core import Array
from minigrad.interop.captured import seed
from minigrad.interop.torch.reader import array, seeded


def original(
    torch: Any, module: Any, inputs: Mapping[str, Any], shape: Any
) -> tuple[list[Array], dict[str, Array | None]]:
    """Its results, and their gradients with `seed`; neither it nor the inputs change.

    inputs: the arguments, flat and by name; shape: how they are arranged.
    """
    kept = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    state = {name: copied(x) for name, x in kept.items()}
    given = {
        name: copied(x, x.is_floating_point()) if isinstance(x, torch.Tensor) else x
        for name, x in inputs.items()
    }
    tree = torch.utils._pytree
    with torch.enable_grad(), seeded(torch):
        arguments = tree.tree_unflatten(list(given.values()), shape)
        result = torch.func.functional_call(module, state, arguments)
    results = [y for y in tree.tree_leaves(result) if isinstance(y, torch.Tensor)]
    leaves = {n: x for n, x in {**state, **given}.items() if getattr(x, "requires_grad", False)}
    return [array(y) for y in results], _gradients(torch, results, leaves)


def copied(x: Any, wanted: bool = False) -> Any:
    """A tensor like this one that is a leaf of its own."""
    return x.detach().clone().requires_grad_(wanted or x.requires_grad)


def _gradients(torch: Any, results: Sequence[Any], leaves: Mapping[str, Any]) -> dict[str, Any]:
    ends = [y for y in results if y.requires_grad]
    if not ends or not leaves:
        return {}
    seeds = [torch.as_tensor(seed(array(y))) for y in ends]
    found = torch.autograd.grad(ends, [*leaves.values()], seeds, allow_unused=True)
    return {n: None if g is None else array(g) for n, g in zip(leaves, found, strict=True)}
