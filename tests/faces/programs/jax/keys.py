"""Keys: split, folded, and what is drawn with them."""

import jax
import jax.numpy as jnp

key = jax.random.key(42)
key, sub = jax.random.split(key)
many = [jax.random.normal(k) for k in jax.random.split(sub, 3)]
drawn = jax.random.choice(key, 5, (20,))
shuffled = jax.random.permutation(key, jnp.arange(6))
answers = {
    "shapes": [x.shape for x in (many[0], drawn, shuffled)],
    "all different": len({float(x) for x in many}),
    "types": [str(x.dtype) for x in (many[0], drawn, jax.random.bernoulli(key, 0.3, (4,)))],
    "within": bool(((drawn >= 0) & (drawn < 5)).all()),
    "all there": sorted(shuffled.tolist()),
    "whole": jax.random.randint(key, (3,), 0, 9).shape,
    "folded": bool(
        jax.random.normal(jax.random.fold_in(key, 1))
        == jax.random.normal(jax.random.fold_in(key, 2))
    ),
    "same": bool(jax.random.normal(key) == jax.random.normal(key)),
    "typed": str(jax.random.uniform(key, (2,), dtype=jnp.float32).dtype),
}
