"""What a traced argument cannot be: a number, a condition, a length, an array of NumPy."""

import jax
import jax.numpy as jnp
import numpy as np

kept = []


def leaky(x):
    kept.append(x * 2)
    return x


def kind(f, *args):
    try:
        f(*args)
    except Exception as error:
        for name in ("TracerBoolConversionError", "TracerIntegerConversionError"):
            if isinstance(error, getattr(jax.errors, name)):
                return "TypeError"
        return next(k.__name__ for k in (TypeError, IndexError, ValueError) if isinstance(error, k))
    return "no error"


x = jnp.array([1.0, -2.0])
jax.jit(leaky)(x)
answers = {
    "if": kind(jax.jit(lambda a: a if a > 0 else -a), 1.0),
    "while": kind(jax.jit(lambda n: [n for _ in iter(lambda: n > 3, True)]), 1),
    "float": kind(jax.jit(lambda a: float(a)), 1.0),
    "range": kind(jax.jit(lambda n: sum(range(n))), 3),
    "item": kind(jax.jit(lambda a: a.item()), 1.0),
    "numpy": kind(jax.jit(lambda a: np.asarray(a)), x),
    "leak": kind(lambda: kept[0] + 1),
    "shape is known": jax.jit(lambda a: a.reshape(a.shape[0], 1))(x).shape,
    "ndim and dtype": jax.jit(lambda a: a * a.ndim)(x),
    "by an index": jax.jit(lambda a, i: a[i])(x, 1),
}
