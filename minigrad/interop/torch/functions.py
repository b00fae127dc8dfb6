"""Custom gradients: each torch.autograd.Function is kept as one operator."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

NUMBERS = itertools.count()


class CustomFunctions:
    """A recorder that keeps calls of custom autograd functions whole, to use their backward.

    In the context `kept` each call becomes a PyTorch operator, made for this call.
    `behind` returns the function that an operator represents.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self._calls: dict[Any, Callable[[list[Any]], list[Any]]] = {}

    def behind(self, operator: Any) -> Any:
        """Return the user's function that an operator represents, or the operator itself."""
        return self._calls.get(operator, operator)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Record calls of custom functions as operators in this context."""

        def apply(cls: Any, run: Any, args: Any, kwargs: Any) -> Any:
            if cls.__module__.partition(".")[0] == "torch":  # its own: hooks on modules
                return run(*args, **kwargs)
            return self._call(cls.__name__, run, args, kwargs)

        self.library = self.torch.library.Library("minigrad", "FRAGMENT")
        try:
            with functions_replaced_by(self.torch, apply):
                yield
        finally:
            self.library._destroy()

    def _call(self, name: str, run: Any, args: Any, kwargs: Any) -> Any:
        torch, tree = self.torch, self.torch.utils._pytree
        flat, shape = tree.tree_flatten((args, kwargs))
        places = [i for i, x in enumerate(flat) if isinstance(x, torch.Tensor)]
        tensors = [flat[i] for i in places]
        rest = [None if isinstance(x, torch.Tensor) else x for x in flat]
        returned: list[Any] = []

        def results(operands: list[Any]) -> list[Any]:
            given = list(rest)
            for i, x in zip(places, operands, strict=True):
                given[i] = x
            own_args, own_kwargs = tree.tree_unflatten(given, shape)
            returned[:] = tree.tree_flatten(run(*own_args, **own_kwargs))
            return [y for y in returned[0] if isinstance(y, torch.Tensor)]

        def values(operands: list[Any]) -> list[Any]:
            """Return copies: a PyTorch operator may not return what shares memory."""
            with torch.no_grad():
                return [y.clone() for y in results([x.detach().clone() for x in operands])]

        results.__name__ = name
        title = f"{name}_{next(NUMBERS)}"
        self.library.define(f"{title}(Tensor[] operands) -> Tensor[]")
        self.library.impl(title, values, "CompositeExplicitAutograd")
        torch.library.register_fake(f"minigrad::{title}", values, lib=self.library)
        operator = getattr(torch.ops.minigrad, title).default
        self._calls[operator] = results
        found = iter(operator(tensors))
        leaves = [next(found) if isinstance(y, torch.Tensor) else y for y in returned[0]]
        return tree.tree_unflatten(leaves, returned[1])


@contextlib.contextmanager
def functions_replaced_by(torch: Any, apply: Any = None) -> Iterator[None]:
    """Replace each call of a custom function by `apply(class, run, args, kwargs)`.

    A checkpoint runs its function directly: its backward pass would run it again with the user's
    own module's parameters.
    """
    function = torch.autograd.Function
    checkpoint = torch.utils.checkpoint.CheckpointFunction
    before = function.__dict__["apply"]

    def applied(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls is checkpoint:
            part, _, *operands = args
            return part(*operands, **kwargs)
        run = before.__get__(None, cls)
        return run(*args, **kwargs) if apply is None else apply(cls, run, args, kwargs)

    function.apply = classmethod(applied)
    try:
        yield
    finally:
        function.apply = before
