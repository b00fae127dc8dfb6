"""JAX's random numbers, from an explicit key: `jax.random.normal(key, (3,))`."""

from typing import Any

import numpy as np

from minigrad.faces.face import Compat
from minigrad.faces.jax.array import as_array


def generator(key: int) -> np.random.Generator:
    """Return the random number generator of a key."""
    return np.random.default_rng(int(key))


def to_numpy(x: Any) -> Any:
    """Return what NumPy's generator draws from: a number, or the values of an array."""
    return x if isinstance(x, int) else np.asarray(x)


SHAPED = "key, shape=(), dtype=None"

__getattr__ = face = Compat(
    "jax.random",
    calls={
        "PRNGKey(seed)": "seed",
        "bernoulli(key, p=0.5, shape=())": "array(mg.rand(shape, seed=int(key)) < p)",
        "choice(key, a, shape=(), replace=True, p=None)": (
            "array(generator(key).choice(to_numpy(a), shape, replace, p))"
        ),
        "fold_in(key, data)": "hash((int(key), data)) % 2**62",
        "key(seed)": "seed",
        f"normal({SHAPED})": "array(mg.randn(shape, seed=int(key)))",
        "permutation(key, x)": "array(generator(key).permutation(to_numpy(x)))",
        "randint(key, shape, minval, maxval)": (
            "array(mg.randint(minval, maxval, shape, seed=int(key)))"
        ),
        "split(key, num=2)": "mg.randint(0, 2**62, num, seed=int(key)).tolist()",
        f"uniform({SHAPED}, minval=0.0, maxval=1.0)": (
            "array(mg.rand(shape, seed=int(key)) * (maxval - minval) + minval)"
        ),
    },
    array=as_array,
    to_numpy=to_numpy,
    generator=generator,
)
__dir__ = face.names
