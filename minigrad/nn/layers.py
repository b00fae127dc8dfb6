"""Layers: a model is written once and called with a tensor or with a graph node."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.core import Array, float32, show_shape
from minigrad.diagnostics.arguments import allocated, number, seeded, whole
from minigrad.diagnostics.errors import ShapeError
from minigrad.diagnostics.source import here
from minigrad.dynamic.tensor import Tensor
from minigrad.nn import functional
from minigrad.nn.module import Module
from minigrad.ops.arrange import flatten
from minigrad.ops.windows import as_pair
from minigrad.static import Node


class Uniform:
    """Draws parameters uniform in ±bound; the same `seed`, the same numbers."""

    def __init__(self, bound: float, seed: int | None) -> None:
        self.generator, self.bound = seeded("parameters", seed), bound

    def __call__(self, *shape: int) -> Tensor:
        values = allocated("parameters", shape, self._draw)
        return Tensor(values.astype(float32), requires_grad=True)

    def _draw(self, shape: tuple[int, ...]) -> Array:
        return self.generator.uniform(-self.bound, self.bound, shape)


class Linear(Module):
    """y = x @ weight.T + bias; weight (out_features, in_features), bias (out_features,).

    Both start uniform in ±1/√in_features, as in PyTorch; the same `seed`, the same numbers.

    >>> import minigrad as mg
    >>> mg.nn.Linear(784, 10)(mg.randn(64, 784)).shape
    (64, 10)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, seed: int | None = None
    ) -> None:
        super().__init__()
        self.in_features = whole("Linear", "in_features", in_features)
        self.out_features = whole("Linear", "out_features", out_features)
        draw = Uniform(1 / np.sqrt(max(in_features, 1)), seed)
        self.weight = draw(out_features, in_features)
        self.bias = draw(out_features) if bias else None

    def forward(self, x: Any) -> Any:
        y = ops.matmul(x, self.weight, transpose_b=True)
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        return f"{self.in_features} → {self.out_features}"


class Conv2d(Module):
    """Images convolved with kernels: (n, in_channels, h, w) → (n, out_channels, h', w').

    weight (out_channels, in_channels / groups, height, width) and bias (out_channels,) start
    uniform in ±1/√(in_channels / groups · height · width), as in PyTorch. kernel_size, stride,
    padding, dilation: one number or (height, width); padding also "valid" (none) or "same"; see
    `mg.conv2d`. ShapeError where the kernel does not fit, while the graph is being built if the
    lengths are known.

    >>> import minigrad as mg
    >>> mg.nn.Conv2d(1, 8, 3, padding=1)(mg.zeros(64, 1, 16, 16)).shape
    (64, 8, 16, 16)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] | str = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        *,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = whole("Conv2d", "in_channels", in_channels)
        self.out_channels = whole("Conv2d", "out_channels", out_channels)
        self.kernel_size = as_pair("Conv2d", "kernel_size", kernel_size, 1)
        self.stride, self.padding = stride, padding
        self.dilation = as_pair("Conv2d", "dilation", dilation, 1)
        self.groups = whole("Conv2d", "groups", groups, least=1)
        if in_channels % groups or out_channels % groups:
            about: dict[str, Any] = {"groups": groups, "count": f"{in_channels} → {out_channels}"}
            shape = show_shape((out_channels, in_channels, *self.kernel_size))
            raise ShapeError("groups", op="Conv2d", **about, shape=shape, defined=here())
        each = in_channels // groups
        draw = Uniform(1 / math.sqrt(max(each * math.prod(self.kernel_size), 1)), seed)
        self.weight = draw(out_channels, each, *self.kernel_size)
        self.bias = draw(out_channels) if bias else None

    def forward(self, x: Any) -> Any:
        how: dict[str, Any] = {"stride": self.stride, "padding": self.padding}
        how |= {"dilation": self.dilation, "groups": self.groups}
        return functional.conv2d(x, self.weight, self.bias, **how)

    def extra_repr(self) -> str:
        height, width = self.kernel_size
        return (
            f"{self.in_channels} → {self.out_channels}, {height} × {width}, "
            f"stride={self.stride}, padding={self.padding}"
        )


class MaxPool2d(Module):
    """The largest element of each window of images; see `mg.max_pool2d`.

    >>> import minigrad as mg
    >>> mg.nn.MaxPool2d(2)(mg.zeros(64, 8, 16, 16)).shape
    (64, 8, 8, 8)
    """

    compute = staticmethod(functional.max_pool2d)

    def __init__(
        self,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, int] = 0,
    ) -> None:
        super().__init__()
        as_pair(type(self).__name__, "kernel_size", kernel_size, 1)  # refuses what is none
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def forward(self, x: Any) -> Any:
        return self.compute(x, self.kernel_size, self.stride, self.padding)

    def extra_repr(self) -> str:
        stride = self.kernel_size if self.stride is None else self.stride
        return f"{self.kernel_size}, stride={stride}, padding={self.padding}"


class AvgPool2d(MaxPool2d):
    """The mean of each window of images; see `mg.avg_pool2d`.

    >>> import minigrad as mg
    >>> mg.nn.AvgPool2d(2)(mg.ones(64, 8, 16, 16)).shape
    (64, 8, 8, 8)
    """

    compute = staticmethod(functional.avg_pool2d)


class Embedding(Module):
    """Rows of a table, looked up by integers: ids (…) → (…, embedding_dim).

    weight (num_embeddings, embedding_dim) starts from the standard normal distribution.

    >>> import minigrad as mg
    >>> mg.nn.Embedding(1000, 32)(mg.tensor([[5, 7], [999, 0]])).shape
    (2, 2, 32)
    """

    def __init__(self, num_embeddings: int, embedding_dim: int, *, seed: int | None = None) -> None:
        super().__init__()
        self.num_embeddings = whole("Embedding", "num_embeddings", num_embeddings)
        self.embedding_dim = whole("Embedding", "embedding_dim", embedding_dim)
        shape = self.num_embeddings, self.embedding_dim
        drawn = allocated("Embedding", shape, seeded("Embedding", seed).standard_normal)
        self.weight = Tensor(drawn.astype(float32), requires_grad=True)

    def forward(self, ids: Any) -> Any:
        return functional.embedding(self.weight, ids)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings} × {self.embedding_dim}"


class Dropout(Module):
    """In training, sets elements to 0 with probability p and divides the others by 1 − p.

    The same `seed`, the same elements, which change with each call. In a static graph each use in
    each run of a session is a call: used twice, the layer drops in the second run what it drops in
    its third and fourth call. A use in a branch or loop of the graph counts once a run, whether it
    runs, and in all steps alike. After `eval()` the layer returns its input.
    (N. Srivastava et al., JMLR 15, 2014.)

    >>> import minigrad as mg
    >>> drop = mg.nn.Dropout(0.5, seed=1)
    >>> sorted(set(drop(mg.ones(100)).tolist()))
    [0.0, 2.0]
    >>> drop.eval()(mg.ones(3))
    tensor([1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, *, seed: int | None = None) -> None:
        super().__init__()
        if not 0 <= number("Dropout", "p", p, least=None) <= 1:
            raise ShapeError("probability", op="Dropout", p=p, defined=here())
        self.p = p
        self.seed = int(seeded("Dropout", None).integers(1 << 62)) if seed is None else seed
        whole("Dropout", "seed", self.seed, most=None)
        self._calls = itertools.count()

    def forward(self, x: Any) -> Any:
        if not self.training or self.p == 0:
            return x
        calls = self._calls
        count = x.graph.call_counter(calls) if isinstance(x, Node) else next(calls)
        return functional.dropout(x, self.p, count=count, seed=self.seed)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Identity(Module):
    """Its operand as it is: a place for a layer that may be there or not.

    >>> import minigrad as mg
    >>> mg.nn.Identity()(mg.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def forward(self, x: Any) -> Any:
        return x


class Flatten(Module):
    """All axes but the first as one: (n, 16, 4, 4) → (n, 256); or those from one to another.

    >>> import minigrad as mg
    >>> mg.nn.Flatten()(mg.zeros(64, 16, 4, 4)).shape
    (64, 256)
    """

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.end_axis = start_axis, end_axis

    def forward(self, x: Any) -> Any:
        return flatten(x, self.start_axis, self.end_axis)
