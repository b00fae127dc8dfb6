"""A function of one example as one of many, with shared arguments; gradients for each example."""

import jax
import jax.numpy as jnp

W = jnp.array([[1.0, -1.0, 2.0], [0.5, 0.0, 1.0]])
xs = jnp.arange(12.0).reshape(4, 3)
ys = jnp.array([1.0, 2.0, 3.0, 4.0])


def predict(W, x):
    return jnp.tanh(jnp.dot(W, x) * 0.1)


def loss(W, x, y):
    return (predict(W, x).sum() - y) ** 2


ran = []


def noted(x):
    ran.append(x.shape)
    return x * 2


batched = jax.vmap(predict, in_axes=(None, 0))
answers = {
    "plain": jax.vmap(lambda x: x.sum())(xs),
    "shared": batched(W, xs),
    "other axis": jax.vmap(lambda x: x.sum(), in_axes=1)(xs),
    "out axis": jax.vmap(lambda x: x * 2, out_axes=1)(xs).shape,
    "two": jax.vmap(jnp.dot)(xs, xs),
    "per example": jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(W, xs, ys),
    "inside": jax.grad(lambda W: jax.vmap(loss, (None, 0, 0))(W, xs, ys).mean())(W),
    "compiled": jax.jit(jax.vmap(jnp.sin))(ys),
    "nested": jax.vmap(jax.vmap(lambda a: a + 1))(xs),
    "once": [jax.vmap(noted)(xs).shape, ran],
    "several results": jax.vmap(lambda x: (x.sum(), x * 0))(xs)[0],
    "tree": jax.vmap(lambda p: p["a"] + p["b"])({"a": ys, "b": ys}),
}
