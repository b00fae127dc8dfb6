"""NumPy written by hand: every array is made beforehand, and written to with `out`.

This is what somebody writes who knows the network and NumPy well: gradients worked out on paper,
nothing computed twice, parameters changed in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Side
from models import A, Array, B, C, Conv, D, Linear, Model, points
from numpy.lib.stride_tricks import sliding_window_view

F = np.float32


def training(model: Model) -> Side:
    """One step of gradient descent on the cross-entropy."""
    parameters = [np.ascontiguousarray(p) for p in model.parameters()]
    x, t = model.data()
    make = convnet if any(isinstance(layer, Conv) for layer in model.layers) else mlp
    forward, backward = make(model, parameters, x)
    scores = Loss(len(x), model.classes, t)
    losses: list[Any] = [None]

    def work() -> None:
        losses[0], slope = scores(forward())
        for p, g in zip(parameters, backward(slope), strict=True):
            np.multiply(g, F(model.rate), out=g)
            np.subtract(p, g, out=p)

    return Side(work, lambda: [losses[0], *parameters])


def inference(model: Model) -> Side:
    """The scores of one batch."""
    x, _ = model.data()
    make = convnet if any(isinstance(layer, Conv) for layer in model.layers) else mlp
    forward, _ = make(model, model.parameters(), x)
    results: list[Any] = [None]

    def work() -> None:
        results[0] = forward()

    return Side(work, lambda: [results[0]])


class Loss:
    """The mean cross-entropy of softmax, and its slope in the scores."""

    def __init__(self, count: int, classes: int, t: Array) -> None:
        self.rows, self.t, self.count = np.arange(count), t, count
        self.shifted = np.empty((count, classes), F)
        self.slope = np.empty((count, classes), F)
        self.top, self.total = np.empty((count, 1), F), np.empty((count, 1), F)

    def __call__(self, z: Array) -> tuple[Any, Array]:
        shifted, slope, total = self.shifted, self.slope, self.total
        np.max(z, axis=1, keepdims=True, out=self.top)
        np.subtract(z, self.top, out=shifted)
        np.exp(shifted, out=slope)
        np.sum(slope, axis=1, keepdims=True, out=total)
        loss = (np.log(total[:, 0]) - shifted[self.rows, self.t]).mean()
        np.divide(slope, total, out=slope)
        slope[self.rows, self.t] -= 1
        np.multiply(slope, F(1 / self.count), out=slope)
        return loss, slope


Passes = tuple[Callable[[], Array], Callable[[Array], list[Array]]]


def mlp(model: Model, parameters: list[Array], x: Array) -> Passes:
    """Two layers with ReLU between them."""
    w1, b1, w2, b2 = parameters
    n = len(x)
    h, z = np.empty((n, len(b1)), F), np.empty((n, len(b2)), F)
    dh, mask = np.empty_like(h), np.empty(h.shape, bool)
    dw1, db1, dw2, db2 = (np.empty_like(p) for p in parameters)

    def forward() -> Array:
        np.dot(x, w1.T, out=h)
        np.add(h, b1, out=h)
        np.maximum(h, 0, out=h)
        np.dot(h, w2.T, out=z)
        np.add(z, b2, out=z)
        return z

    def backward(dz: Array) -> list[Array]:
        np.dot(dz.T, h, out=dw2)
        np.sum(dz, axis=0, out=db2)
        np.dot(dz, w2, out=dh)
        np.greater(h, 0, out=mask)
        np.multiply(dh, mask, out=dh)
        np.dot(dh.T, x, out=dw1)
        np.sum(dh, axis=0, out=db1)
        return [dw1, db1, dw2, db2]

    return forward, backward


class Convolution:
    """3 × 3 with padding 1: the patches as columns, then one matrix product for each image."""

    def __init__(self, w: Array, b: Array, shape: tuple[int, ...]) -> None:
        n, c, height, width = shape
        self.w, self.b, self.size = w, b, height * width
        self.frame = np.zeros((n, c, height + 2, width + 2), F)
        self.patches = sliding_window_view(self.frame, (3, 3), axis=(2, 3))
        self.columns = np.empty((n, c, 3, 3, height, width), F)
        self.out = np.empty((n, len(w), self.size), F)
        self.products = np.empty((n, len(w), c * 9), F)
        self.dw, self.db = np.empty_like(w), np.empty_like(b)
        self.spread = np.empty_like(self.columns)
        self.dframe = np.empty_like(self.frame)

    def forward(self, x: Array) -> Array:
        n, c, height, width = x.shape
        self.frame[:, :, 1:-1, 1:-1] = x
        np.copyto(self.columns, self.patches.transpose(0, 1, 4, 5, 2, 3))
        columns = self.columns.reshape(n, c * 9, self.size)
        np.matmul(self.w.reshape(len(self.w), -1), columns, out=self.out)
        np.add(self.out, self.b[:, None], out=self.out)
        return self.out.reshape(n, len(self.w), height, width)

    def backward(self, g: Array) -> None:
        n, c = self.columns.shape[:2]
        flat = g.reshape(n, len(self.w), self.size)
        columns = self.columns.reshape(n, c * 9, self.size)
        np.matmul(flat, columns.swapaxes(1, 2), out=self.products)
        np.sum(self.products, axis=0, out=self.dw.reshape(len(self.w), -1))
        np.sum(flat, axis=(0, 2), out=self.db)

    def images(self, g: Array) -> Array:
        """The gradient for what the convolution read."""
        n, c, _, _, height, width = self.spread.shape
        flat = g.reshape(n, len(self.w), self.size)
        w = self.w.reshape(len(self.w), -1)
        np.matmul(w.T, flat, out=self.spread.reshape(n, c * 9, self.size))
        self.dframe.fill(0)
        for i in range(3):
            for j in range(3):
                self.dframe[:, :, i : i + height, j : j + width] += self.spread[:, :, i, j]
        return self.dframe[:, :, 1:-1, 1:-1]


class Pool:
    """ReLU, then the largest of 2 × 2; the gradient goes to the first that is the largest."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        n, c, height, width = shape
        half = (n, c, height // 2, width // 2)
        self.x, self.dx = np.empty(shape, F), np.empty(shape, F)
        self.y, self.row = np.empty(half, F), np.empty((n, c, height, width // 2), F)
        self.hit, self.free = np.empty(half, bool), np.empty(half, bool)
        self.masked = np.empty(half, F)

    def forward(self, x: Array) -> Array:
        np.maximum(x, 0, out=self.x)
        np.maximum(self.x[..., ::2], self.x[..., 1::2], out=self.row)
        np.maximum(self.row[:, :, ::2], self.row[:, :, 1::2], out=self.y)
        return self.y

    def backward(self, g: Array) -> Array:
        np.greater(self.y, 0, out=self.free)  # below 0 ReLU lets nothing through
        for i in range(2):
            for j in range(2):
                np.equal(self.x[:, :, i::2, j::2], self.y, out=self.hit)
                np.logical_and(self.hit, self.free, out=self.hit)
                np.logical_xor(self.free, self.hit, out=self.free)
                np.multiply(g, self.hit, out=self.dx[:, :, i::2, j::2])
        return self.dx


def convnet(model: Model, parameters: list[Array], x: Array) -> Passes:
    """Convolution, ReLU, pooling, all twice, and a linear layer."""
    n, _, height, width = x.shape
    w1, b1, w2, b2, w3, b3 = parameters
    assert isinstance(model.layers[-1], Linear)
    first = Convolution(w1, b1, x.shape)
    pool1 = Pool((n, len(w1), height, width))
    second = Convolution(w2, b2, pool1.y.shape)
    pool2 = Pool((n, len(w2), height // 2, width // 2))
    features = pool2.y.reshape(n, -1)
    z, dfeatures = np.empty((n, len(b3)), F), np.empty_like(features)
    dw3, db3 = np.empty_like(w3), np.empty_like(b3)

    def forward() -> Array:
        pool2.forward(second.forward(pool1.forward(first.forward(x))))
        np.dot(features, w3.T, out=z)
        np.add(z, b3, out=z)
        return z

    def backward(dz: Array) -> list[Array]:
        np.dot(dz.T, features, out=dw3)
        np.sum(dz, axis=0, out=db3)
        np.dot(dz, w3, out=dfeatures)
        slope = pool2.backward(dfeatures.reshape(pool2.y.shape))
        second.backward(slope)
        first.backward(pool1.backward(second.images(slope)))
        return [first.dw, first.db, second.dw, second.db, dw3, db3]

    return forward, backward


def elementwise(count: int, backward: bool) -> Side:
    """σ(ax + b) · tanh(cx + d) + x and its slope, one pass over the data for each operation."""
    x = points(count)
    s, t, y, slope = (np.empty_like(x) for _ in range(4))
    a, b, c, d, one = (F(v) for v in (A, B, C, D, 1))

    def forward() -> None:
        np.multiply(x, -a, out=s)
        np.subtract(s, b, out=s)
        np.exp(s, out=s)
        np.add(s, one, out=s)
        np.reciprocal(s, out=s)
        np.multiply(x, c, out=t)
        np.add(t, d, out=t)
        np.tanh(t, out=t)
        np.multiply(s, t, out=y)
        np.add(y, x, out=y)

    def both() -> None:
        forward()
        st = np.multiply(s, t, out=slope)  # dy/dx = a s (1 − s) t + c s (1 − t²) + 1
        np.multiply(t, st, out=t)
        np.subtract(s, t, out=t)  # s (1 − t²)
        np.multiply(t, c, out=t)
        np.subtract(one, s, out=s)
        np.multiply(slope, s, out=slope)  # s (1 − s) t
        np.multiply(slope, a, out=slope)
        np.add(slope, t, out=slope)
        np.add(slope, one, out=slope)

    return Side(both if backward else forward, lambda: [y, slope] if backward else [y])
