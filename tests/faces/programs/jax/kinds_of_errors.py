"""What is an error, and of which kind."""

import jax
import jax.numpy as jnp

DOUBTS = {
    "shapes of a sum": (TypeError, lambda: jnp.ones(2) + jnp.ones(3)),
    "shapes of a product": (TypeError, lambda: jnp.ones((2, 3)) @ jnp.ones((2, 3))),
    "lengths": (TypeError, lambda: jnp.ones(6).reshape(4)),
    "gradient of integers": (TypeError, lambda: jax.grad(lambda x: x * x)(2)),
    "gradient of many": (TypeError, lambda: jax.grad(lambda x: x * x)(jnp.ones(2))),
    "a number of a trace": (TypeError, lambda: jax.jit(lambda x: float(x))(1.0)),
    "a loop of a trace": (TypeError, lambda: jax.jit(lambda n: [*range(n)])(3)),
    "no such name": (AttributeError, lambda: jnp.no_such_name),
    "position": (None, lambda: jnp.ones(3)[5]),
}
answers = {}
for name, (kind, doubt) in DOUBTS.items():
    try:
        doubt()
        answers[name] = "no error"
    except (AttributeError, TypeError, ValueError) as error:
        answers[name] = kind.__name__ if kind and isinstance(error, kind) else "another"
