"""Parameters and buffers of a PyTorch module: each tensor once, however many names it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any


def first_names(module: Any) -> dict[str, str]:
    """Return, for each name of a parameter or buffer, the first name of that same tensor."""
    firsts: dict[int, str] = {}
    every = (
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    )
    return {name: firsts.setdefault(id(x), name) for name, x in every}


def tied_names(module: Any) -> list[list[str]]:
    """Return all names of each parameter or buffer with several, the first name first."""
    groups: dict[str, list[str]] = {}
    for name, first in first_names(module).items():
        groups.setdefault(first, []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def copied_state(module: Any, shared: Collection[str] = ()) -> dict[str, Any]:
    """Return a copy of each parameter and buffer, by its first name, with the user's hooks.

    shared: names of those that are not written to, which share their memory with the copy.
    """
    every = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    names = first_names(module)
    return {
        name: _with_hooks(copy_leaf(x, memory=name not in shared), x)
        for name, x in every.items()
        if names[name] == name
    }


def unchanged_names(torch: Any, module: Any, state: Mapping[str, Any]) -> set[str]:
    """Return the names of the copies that are still equal to the module's tensors."""
    every = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name for name, x in state.items() if torch.equal(every[name], x)}


def _with_hooks(made: Any, x: Any) -> Any:
    for hook in (x._backward_hooks or {}).values():
        made.register_hook(hook)
    return made


def hooked_names(module: Any) -> list[str]:
    """Return the names of the parameters and modules that have hooks on their gradients."""
    parts = [name for name, x in module.named_parameters() if x._backward_hooks]
    return parts + [
        name or type(part).__name__
        for name, part in module.named_modules()
        if part._backward_hooks or part._backward_pre_hooks
    ]


def copy_leaf(x: Any, grad: bool = False, memory: bool = True) -> Any:
    """Return a leaf with the values of a tensor; with `memory`, in memory of its own."""
    found = x.detach().clone() if memory else x.detach()
    return found.requires_grad_(grad or x.requires_grad)


def functional_call(
    torch: Any, module: Any, state: Mapping[str, Any], arguments: tuple[Any, ...]
) -> Any:
    """Run a module with these tensors, by first name, in place of its own.

    Each module gets them once, also one with several names: otherwise functional_call would leave
    a copy in the user's module.
    """
    names = first_names(module)
    held = (
        f"{path}.{name}".lstrip(".")
        for path, part in module.named_modules()
        for kind in (part.named_parameters, part.named_buffers)
        for name, _ in kind(recurse=False, remove_duplicate=False)
    )
    given = {name: state[names[name]] for name in held}
    return torch.func.functional_call(module, given, arguments, tie_weights=False)
