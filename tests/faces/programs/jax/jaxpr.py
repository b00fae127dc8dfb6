"""The graph of a function, without running it."""

import jax
import jax.numpy as jnp

ran = []


def f(x, y):
    ran.append(type(x).__name__)
    return jnp.sin(x) * y


graph = jax.make_jaxpr(f)(1.0, 2.0)
answers = {"once": len(ran), "sin": "sin" in str(graph).lower() or "Sin" in graph.text()}
