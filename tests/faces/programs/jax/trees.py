"""Trees of arrays: mapped, taken apart, put together."""

import jax
import jax.numpy as jnp

tree = {"b": [jnp.ones(2), (1.0, None)], "a": 2.0}
leaves, form = jax.tree_util.tree_flatten(tree)
answers = {
    "leaves": leaves,
    "again": jax.tree_util.tree_unflatten(form, leaves),
    "mapped": jax.tree_util.tree_map(lambda x: x * 2, tree),
}
