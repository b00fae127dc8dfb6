"""JAX's random numbers, of a key that is handed on: `jax.random.normal(key, (3,))`."""

from minigrad.faces.face import Face

__getattr__ = face = Face(
    "jax.random",
    calls={
        "PRNGKey(seed)": "seed",
        "key(seed)": "seed",
        "normal(key, shape=())": "mg.randn(shape, seed=int(key))",
        "randint(key, shape, minval, maxval)": (
            "mg.randint(minval, maxval, shape, seed=int(key), dtype=mg.int32)"
        ),
        "split(key, num=2)": "mg.randint(0, 2**62, num, seed=int(key)).tolist()",
        "uniform(key, shape=(), minval=0.0, maxval=1.0)": (
            "mg.rand(shape, seed=int(key)) * (maxval - minval) + minval"
        ),
    },
)
__dir__ = face.names
