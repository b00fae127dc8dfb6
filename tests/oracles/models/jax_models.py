"""Ten small models as their users write them in JAX, each with inputs to play it with."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Made = tuple[Callable[..., Any], tuple[Any, ...]]
MODELS: dict[str, Callable[[], Made]] = {}


def model(make: Callable[[], Made]) -> Callable[[], Made]:
    """Enter a model in the list."""
    MODELS[make.__name__] = make
    return make


def normal(*shape: int, seed: int = 0) -> jax.Array:
    random = np.random.default_rng((seed, *shape))
    return jnp.asarray(random.standard_normal(shape), jnp.float32)


def weights(*sizes: int) -> list[dict[str, jax.Array]]:
    pairs = itertools.pairwise(sizes)
    return [{"w": normal(a, b, seed=1) * 0.5, "b": normal(b, seed=2)} for a, b in pairs]


def dense(layer: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return x @ layer["w"] + layer["b"]


@model
def linear_regression() -> Made:
    def loss(params: Any, x: jax.Array, target: jax.Array) -> jax.Array:
        return jnp.mean((x @ params["w"] + params["b"] - target) ** 2)

    return loss, ({"w": normal(3), "b": jnp.float32(0.5)}, normal(5, 3), normal(5))


@model
def logistic_regression() -> Made:
    def loss(params: Any, x: jax.Array, target: jax.Array) -> jax.Array:
        scores = x @ params["w"] + params["b"]
        return jnp.mean(jnp.logaddexp(0.0, scores) - target * scores)

    target = jnp.array([0.0, 1, 1, 0, 1])
    return loss, ({"w": normal(3), "b": jnp.float32(0.5)}, normal(5, 3), target)


@model
def mlp() -> Made:
    def loss(params: Any, x: jax.Array, labels: jax.Array) -> jax.Array:
        for layer in params[:-1]:
            x = jax.nn.relu(dense(layer, x))
        scores = jax.nn.log_softmax(dense(params[-1], x))
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    return loss, (weights(4, 8, 6, 3), normal(5, 4), jnp.array([0, 2, 1, 1, 0]))


@model
def convnet() -> Made:
    def scores(params: Any, images: jax.Array) -> jax.Array:
        order = ("NHWC", "HWIO", "NHWC")
        h = lax.conv_general_dilated(
            images, params["kernels"], (1, 1), "SAME", dimension_numbers=order
        )
        h = jnp.tanh(h + params["bias"])
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return jax.nn.log_softmax(dense(params["out"], h.reshape(h.shape[0], -1)))

    params = {"kernels": normal(3, 3, 1, 4), "bias": normal(4), "out": weights(36, 3)[0]}
    return scores, (params, normal(2, 6, 6, 1))


@model
def gru() -> Made:
    def states(params: Any, words: jax.Array) -> jax.Array:
        def step(h: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            both = jnp.concatenate([x, h], axis=-1)
            update, reset = jnp.split(jax.nn.sigmoid(dense(params["gates"], both)), 2, axis=-1)
            new = jnp.tanh(dense(params["new"], jnp.concatenate([x, reset * h], axis=-1)))
            h = (1 - update) * h + update * new
            return h, h

        embedded = params["embedding"][words]
        return lax.scan(step, jnp.zeros((2, 4)), embedded.swapaxes(0, 1))[1]

    params = {"embedding": normal(7, 3), "gates": weights(7, 8)[0], "new": weights(7, 4)[0]}
    return states, (params, jnp.array([[1, 4, 2], [0, 4, 6]]))


@model
def attention() -> Made:
    @jax.jit
    def attend(params: Any, x: jax.Array) -> jax.Array:
        q, k, v = (x @ params[name] for name in ("q", "k", "v"))
        scores = jnp.einsum("bqd,bkd->bqk", q, k) / jnp.sqrt(q.shape[-1])
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), v)

    params = {name: normal(4, 4, seed=i) for i, name in enumerate(("q", "k", "v"))}
    return attend, (params, normal(2, 3, 4))


def layer_norm(params: Any, x: jax.Array) -> jax.Array:
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * params["scale"] + params["shift"]


def self_attention(params: Any, x: jax.Array, heads: int) -> jax.Array:
    length, width = x.shape
    q, k, v = jnp.split(dense(params["qkv"], x), 3, axis=-1)
    q, k, v = (t.reshape(length, heads, width // heads).swapaxes(0, 1) for t in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / jnp.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    y = jax.nn.softmax(scores, axis=-1) @ v
    return dense(params["proj"], y.swapaxes(0, 1).reshape(length, width))


@model
def gpt2_block() -> Made:
    def block(params: Any, ids: jax.Array) -> jax.Array:
        x = params["wte"][ids] + params["wpe"][: ids.shape[0]]
        x = x + self_attention(params["attention"], layer_norm(params["norm1"], x), 2)
        h = jax.nn.gelu(dense(params["up"], layer_norm(params["norm2"], x)))
        x = x + dense(params["down"], h)
        return x @ params["wte"].T

    norm = {"scale": normal(4, seed=5), "shift": normal(4, seed=6)}
    params = {
        "wte": normal(9, 4),
        "wpe": normal(6, 4),
        "norm1": norm,
        "norm2": norm,
        "attention": {"qkv": weights(4, 12)[0], "proj": weights(4, 4)[0]},
        "up": weights(4, 8)[0],
        "down": weights(8, 4)[0],
    }
    return block, (params, jnp.array([3, 1, 4, 1, 5]))


@model
def vae() -> Made:
    def loss(params: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        h = jax.nn.softplus(dense(params["encoder"], x))
        mean, log_variance = dense(params["mean"], h), dense(params["log_variance"], h)
        z = mean + jax.random.normal(key, mean.shape) * jnp.exp(0.5 * log_variance)
        again = jax.nn.sigmoid(dense(params["decoder"], z))
        error = jnp.sum((again - x) ** 2)
        return error - 0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance))

    names = {"encoder": (6, 8), "mean": (8, 2), "log_variance": (8, 2), "decoder": (2, 6)}
    params = {name: weights(*sizes)[0] for name, sizes in names.items()}
    return loss, (params, normal(3, 6), jax.random.key(0))


@model
def mixture_of_experts() -> Made:
    def mixed(params: Any, x: jax.Array) -> jax.Array:
        shares = jax.nn.softmax(x @ params["gate"])
        outputs = jnp.stack([jnp.tanh(dense(expert, x)) for expert in params["experts"]], axis=1)
        return jnp.einsum("be,beo->bo", shares, outputs)

    experts = [weights(4, 5)[0] for _ in range(3)]
    return mixed, ({"gate": normal(4, 3), "experts": experts}, normal(3, 4))


@model
def highway() -> Made:
    def network(params: Any, x: jax.Array) -> jax.Array:
        for layer in params:
            t = jax.nn.sigmoid(dense(layer["gate"], x))
            x = t * jax.nn.silu(dense(layer["plain"], x)) + (1 - t) * x
        return x

    layers = [{"gate": weights(4, 4)[0], "plain": weights(4, 4)[0]} for _ in range(2)]
    return network, (layers, normal(3, 4))
