"""jax.tree: trees of arrays, as parameters are kept."""

import jax
import jax.numpy as jnp

params = [{"w": jnp.ones((2, 2)), "b": jnp.zeros(2)}, {"w": jnp.ones((2, 1)), "b": jnp.zeros(1)}]
grads = jax.tree.map(jnp.ones_like, params)
stepped = jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)
leaves, form = jax.tree.flatten(params)
answers = {
    "stepped": stepped,
    "shapes": [leaf.shape for leaf in jax.tree.leaves(params)],
    "again": jax.tree.unflatten(form, leaves)[1]["b"],
    "form": str(jax.tree.structure({"a": 1, "b": [2, 3]})),
    "same form": form == jax.tree.structure(grads),
    "total": jax.tree.reduce(lambda a, b: a + b, jax.tree.map(jnp.sum, params)),
    "unchanged": params[0]["w"],
}
