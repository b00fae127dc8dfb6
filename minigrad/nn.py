"""Layers: a model is written once and called with a tensor or with a graph node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from minigrad import functions, ops
from minigrad.backprop import scoped
from minigrad.core import Array, float32
from minigrad.eager import Tensor
from minigrad.errors import GraphError, ShapeError
from minigrad.source import here


class Module:
    """A part of a model: its parameters, its sub-modules, and how it computes.

    Write `forward`; call the module. Called with a tensor it computes; called with a node it adds
    to that node's graph, where its parameters become variables with their present values.
    """

    def __init__(self) -> None:
        self.name = type(self).__name__.lower()

    def forward(self, *xs: Any) -> Any:
        raise TypeError(f"{type(self).__name__} needs a method forward(self, x)")

    def __call__(self, *xs: Any) -> Any:
        with scoped(self.name):
            return self.forward(*xs)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Module) or (
            isinstance(value, Tensor) and value.requires_grad and value.name is None
        ):
            value.name = name
        super().__setattr__(name, value)

    def children(self) -> Iterator[tuple[str, Module]]:
        """The direct sub-modules, by attribute name."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """All parameters with their dotted names, this module's own first."""
        for name, value in vars(self).items():
            if isinstance(value, Tensor) and value.requires_grad:
                yield prefix + name, value
        for name, child in self.children():
            yield from child.named_parameters(f"{prefix}{name}.")

    def parameters(self) -> list[Tensor]:
        """All tensors that training changes."""
        return [p for _, p in self.named_parameters()]

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for p in self.parameters():
            p.zero_grad()

    def state_dict(self) -> dict[str, Array]:
        """Copies of all parameters by name."""
        return {name: np.array(p.data) for name, p in self.named_parameters()}

    def load_state_dict(self, values: Mapping[str, Any]) -> None:
        """Overwrite all parameters; nothing is changed when a name or a shape does not fit."""
        own = dict(self.named_parameters())
        for name in own.keys() ^ values.keys():
            raise GraphError("unknown_name", name=name, names=", ".join(own), defined=here())
        for name, p in own.items():
            if np.shape(values[name]) != p.shape:
                shapes = f"{p.shape}, {np.shape(values[name])}"
                raise ShapeError("broadcast", op=name, shapes=shapes, defined=here())
        for name, p in own.items():
            p.data = np.array(values[name], dtype=p.dtype)[()]


class Linear(Module):
    """y = x @ weight.T + bias; weight (out_features, in_features), bias (out_features,).

    Both start uniform in ±1/√in_features, as in PyTorch; the same `seed`, the same numbers.

    >>> import minigrad as mg
    >>> mg.nn.Linear(784, 10)(mg.randn(64, 784)).shape
    (64, 10)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, seed: int | None = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        generator, bound = np.random.default_rng(seed), 1 / np.sqrt(max(in_features, 1))

        def draw(*shape: int) -> Tensor:
            values = generator.uniform(-bound, bound, shape)
            return Tensor(values.astype(float32), requires_grad=True)

        self.weight = draw(out_features, in_features)
        self.bias = draw(out_features) if bias else None

    def forward(self, x: Any) -> Any:
        y = ops.matmul(x, self.weight, transpose_b=True)
        return y if self.bias is None else y + self.bias

    def __repr__(self) -> str:
        return f"Linear({self.in_features} → {self.out_features})"


class ReLU(Module):
    """max(x, 0), element by element."""

    def forward(self, x: Any) -> Any:
        return functions.relu(x)

    def __repr__(self) -> str:
        return "ReLU()"


class Sequential(Module):
    """Modules one after the other, named by kind and number: linear1, relu1, linear2."""

    def __init__(self, *modules: Module) -> None:
        super().__init__()
        self.modules = modules
        kinds: dict[str, int] = {}
        for module in modules:
            kind = type(module).__name__.lower()
            kinds[kind] = kinds.get(kind, 0) + 1
            module.name = f"{kind}{kinds[kind]}"

    def children(self) -> Iterator[tuple[str, Module]]:
        yield from ((m.name, m) for m in self.modules)

    def forward(self, x: Any) -> Any:
        for module in self.modules:
            x = module(x)
        return x

    def __call__(self, *xs: Any) -> Any:
        return self.forward(*xs)  # no scope of its own: the layers stand side by side

    def __getitem__(self, index: int) -> Module:
        return self.modules[index]

    def __len__(self) -> int:
        return len(self.modules)

    def __repr__(self) -> str:
        return "\n".join(f"({m.name}) {m!r}" for m in self.modules)
