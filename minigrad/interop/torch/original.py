"""A model's results and gradients in PyTorch itself, which check the captured graph."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from minigrad.core import Array
from minigrad.interop.captured import Refused, seed
from minigrad.interop.torch.functions import functions_replaced_by
from minigrad.interop.torch.reader import array, dense, fixed_seed
from minigrad.interop.torch.state import copied_state, copy_leaf, functional_call, unchanged_names


def outputs(torch: Any, result: Any) -> tuple[list[Any], list[Any]]:
    """Return the tensors among a model's results, and its other results."""
    found = list(_opened(torch, result))
    tensors = [y for y in found if isinstance(y, torch.Tensor)]
    return tensors, [y for y in found if not isinstance(y, torch.Tensor)]


def _opened(torch: Any, result: Any) -> Iterator[Any]:
    """Yield what is in containers, including those that PyTorch does not open itself."""
    for leaf in torch.utils._pytree.tree_leaves(result):
        if isinstance(leaf, (torch.Tensor, type)):
            yield leaf
        elif dataclasses.is_dataclass(leaf):
            fields = [getattr(leaf, field.name) for field in dataclasses.fields(leaf)]
            yield from _opened(torch, fields)
        elif isinstance(leaf, (Mapping, list, tuple)):
            items = leaf.values() if isinstance(leaf, Mapping) else leaf
            yield from _opened(torch, list(items))
        elif leaf is not None:
            yield leaf


def run(
    torch: Any, module: Any, inputs: Mapping[str, Any], shape: Any
) -> tuple[Any, Collection[str]]:
    """Run the model as the user would, on copies of its state and its inputs.

    Returns its result, and the names of the parameters that it doesn't write to.
    """
    state = copied_state(module)
    given = [copy_leaf(x) if isinstance(x, torch.Tensor) else x for x in inputs.values()]
    with fixed_seed(torch), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says them where the user runs the model
        arguments = torch.utils._pytree.tree_unflatten(given, shape)
        result = functional_call(torch, module, state, arguments)
    trained = {name for name, _ in module.named_parameters()}
    return result, unchanged_names(torch, module, state) & trained


def original(
    torch: Any,
    module: Any,
    inputs: Mapping[str, Any],
    shape: Any,
    lost: Collection[str] = (),
    shared: Collection[str] = (),
) -> tuple[list[Array], dict[str, Array | None], Refused | None]:
    """Return a model's results, gradients with `seed`, and why PyTorch has none if so.

    inputs: the arguments, flat and by name; shape: how they are arranged; lost: operators that have
    no derivative: nothing flows back through them; shared: parameters that need no copy, since the
    model doesn't write to them. Neither the model nor the inputs change.
    """
    state = copied_state(module, shared)
    given = {
        name: copy_leaf(x, x.is_floating_point()) if isinstance(x, torch.Tensor) else x
        for name, x in inputs.items()
    }
    written = [x.clone() if isinstance(x, torch.Tensor) else x for x in given.values()]
    modes = (torch.enable_grad(), fixed_seed(torch), readable(torch), functions_replaced_by(torch))
    with contextlib.ExitStack() as stack:
        for mode in (*modes, _stop_gradients(torch, lost)):
            stack.enter_context(mode)
        arguments = torch.utils._pytree.tree_unflatten(written, shape)
        result = functional_call(torch, module, state, arguments)
    results = outputs(torch, result)[0]
    leaves = {n: x for n, x in {**state, **given}.items() if getattr(x, "requires_grad", False)}
    try:
        found, refused = _gradients(torch, results, leaves), None
    except RuntimeError as error:  # its own backward pass stops: a tensor was written to, ...
        message = next(iter(str(error).strip().splitlines()), type(error).__name__)
        found, refused = {}, Refused(message.rstrip(".") + ".")
    return [array(y) for y in results], found, refused


def readable(torch: Any) -> Any:
    """Allow NumPy reads of tensors that require a gradient here but not in the user's run."""

    class Reading(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if getattr(function, "__name__", "") in ("numpy", "__array__"):
                args = (args[0].detach(), *args[1:])
            return function(*args, **(kwargs or {}))

    return Reading()


def _stop_gradients(torch: Any, lost: Collection[str]) -> contextlib.AbstractContextManager[Any]:
    """Stop gradients at these operators."""
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
    ends = [y for y in results if y.requires_grad and y.is_floating_point()]
    if not ends or not leaves:
        return {}
    seeds = [torch.as_tensor(seed(array(y))) for y in ends]
    torch.autograd.backward(ends, seeds)
    return {
        n: None if x.grad is None else array(dense(x.grad), copy=False) for n, x in leaves.items()
    }
