"""The walk back as a function of a seed: several numbers, several arguments, a structure."""

import jax
import jax.numpy as jnp


def layer(w, x):
    return jnp.maximum(w @ x, 0.0)


def both(x):
    return {"square": x * x, "triple": 3.0 * x}


w = jnp.array([[1.0, -2.0], [3.0, 4.0]])
y, back = jax.vjp(layer, w, jnp.array([1.0, 1.0]))
dw, dx = back(jnp.array([1.0, 10.0]))
value, alone = jax.vjp(lambda x: x * x + x, 3.0)
out, apart = jax.vjp(both, 2.0)
_, told, more = jax.vjp(lambda x: (x * x, x + 1.0), 3.0, has_aux=True)
try:
    back(jnp.ones(3))
except ValueError:
    refused = True
answers = {
    "y": y,
    "dw": dw,
    "dx": dx,
    "again": back(jnp.array([0.0, 1.0]))[1],
    "value": value,
    "alone": [alone(1.0)[0], alone(10.0)[0]],
    "structure": out["triple"],
    "apart": apart({"square": 1.0, "triple": 2.0})[0],
    "aux": [told(1.0)[0], more],
    "refused": refused,
    "second": jax.grad(lambda x: jax.vjp(jnp.sin, x)[1](1.0)[0])(0.5),
}
