"""y = x * x + 3 at x = 2, and its derivatives."""

import jax


def f(x):
    return x * x + 3


answers = {
    "y": f(2.0),
    "first": jax.grad(f)(2.0),
    "second": jax.grad(jax.grad(f))(2.0),
    "both": jax.value_and_grad(f)(2.0),
}
