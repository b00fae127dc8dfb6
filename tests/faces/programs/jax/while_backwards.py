"""The gradient of a while loop."""

import jax


def f(x):
    return jax.lax.while_loop(lambda y: y < 100.0, lambda y: y * x, x)


answers = {"value": f(3.0)}
try:
    answers["slope"] = jax.grad(f)(3.0)
except ValueError:
    answers["slope"] = "ValueError"
