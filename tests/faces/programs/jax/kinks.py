"""Where a function has a corner or a tie: which gradient there is, plain and compiled."""

import jax
import jax.numpy as jnp

AT = [-1.0, 0.0, 1.0, 2.0, -2.0, 0.5]
BESIDE = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
TIED = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 0.0]]


def slope(f, *values):
    xs = [jnp.array(v) for v in values]
    one = jax.grad(lambda *xs: jnp.sum(f(*xs)), argnums=tuple(range(len(xs))))
    return [list(one(*xs)), list(jax.jit(one)(*xs))]


answers = {
    "maximum": slope(jnp.maximum, AT, BESIDE),
    "minimum": slope(jnp.minimum, AT, BESIDE),
    "hinge": slope(lambda x: jnp.maximum(0.0, 1.0 - x), AT),
    "clip": slope(lambda x: jnp.clip(x, -1.0, 1.0), AT),
    "clip from below": slope(lambda x: x.clip(0.0), AT),
    "max": slope(lambda x: jnp.max(x, axis=1), TIED),
    "min": slope(jnp.min, TIED),
    "max as a method": slope(lambda x: x.max(1), TIED),
    "abs": slope(jnp.abs, AT),
    "sign": slope(jnp.sign, AT),
    "rounded": [slope(f, AT) for f in (jnp.round, jnp.floor, jnp.ceil)],
    "whole quotient": slope(lambda x: x // 2.0, AT),
    "remainder": slope(lambda x: x % 2.0, AT),
    "relu": slope(jax.nn.relu, AT),
    "leaky": slope(jax.nn.leaky_relu, AT),
    "elu": slope(jax.nn.elu, AT),
    "elu far out": slope(jax.nn.elu, [200.0, -200.0]),
    "softplus": slope(jax.nn.softplus, AT),
    "silu": slope(jax.nn.silu, AT),
    "norm": slope(jnp.linalg.norm, [0.0, 0.0]),
    "deviation": [slope(jnp.std, [2.0, 2.0]), slope(lambda x: x.std(), [1.0, 3.0])],
    "prod": slope(jnp.prod, [0.0, 2.0, 0.0]),
    "powers at 0": [slope(lambda x, k=k: x**k, [0.0, -2.0]) for k in (0, 1, 2)],
    "power by exponent": slope(jnp.power, [0.0, 0.0, -2.0], [0.0, 2.0, 3.0]),
    "square root at 0": slope(jnp.sqrt, [0.0, 4.0]),
    "square root of relu": slope(lambda x: jnp.sqrt(jax.nn.relu(x)), AT),
    "square root of maximum": slope(lambda x: jnp.sqrt(jnp.maximum(x, 0.0)), AT),
    "where": slope(lambda x: jnp.where(x > 0, x, 0.0), AT),
    "triangle": jnp.tril(jnp.full((2, 2), jnp.inf)),
}
