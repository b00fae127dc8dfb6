"""Loops and branches of lax: a number of steps, a list of branches, a map."""

import jax
import jax.numpy as jnp

xs = jnp.arange(4.0)
branches = [lambda x: x + 1, lambda x: x * 10, lambda x: -x]


def newton(x):
    return jax.lax.fori_loop(0, 5, lambda i, y: (y + x / y) / 2, x)


def collatz(n):
    def step(state):
        n, count = state
        return jax.lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), count + 1

    return jax.lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]


def power(carry, _):
    return carry * 2, carry


answers = {
    "fori": [newton(2.0), jax.jit(newton)(9.0)],
    "fori with i": jax.lax.fori_loop(0, 4, lambda i, total: total + xs[i] * i, 0.0),
    "while": [collatz(6), jax.jit(collatz)(7)],
    "length": jax.lax.scan(power, 1.0, None, length=4),
    "backwards": jax.lax.scan(lambda c, x: (c + x, c), 0.0, xs, reverse=True),
    "switch": [jax.lax.switch(i, branches, 5.0) for i in range(3)],
    "outside": [jax.lax.switch(i, branches, 5.0) for i in (-1, 7)],
    "traced switch": jax.jit(lambda i, x: jax.lax.switch(i, branches, x))(1, 5.0),
    "map": jax.lax.map(lambda x: x**2, xs),
    "slope": jax.grad(lambda x: jax.lax.scan(lambda c, a: (c * a, c), x, xs + 1)[0])(2.0),
}
