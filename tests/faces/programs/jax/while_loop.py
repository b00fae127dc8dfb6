"""A loop that ends when a value says so; its state is one number or a tuple."""

import jax


def power(x, n):
    return jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]


answers = {
    "one": jax.lax.while_loop(lambda x: x < 100.0, lambda x: x * 2, 3.0),
    "power": [power(1.5, n) for n in (0, 3, 20)],
    "compiled": jax.jit(power)(1.5, 5),
    "for": jax.lax.fori_loop(0, 5, lambda i, x: x + i, 1.0),
}
