"""JAX's linear algebra: `jnp.linalg.norm`."""

from minigrad.faces.face import Compat
from minigrad.faces.jax.array import arrays

__getattr__ = face = Compat(
    "jax.numpy.linalg",
    calls={"norm(x, axis=None)": "mg.sqrt(mg.sum(mg.square(x), axis=axis))"},
    lacks={"np.linalg.inv(np.asarray(x))": "inv", "np.linalg.solve(np.asarray(a), b)": "solve"},
    around=arrays,
)
__dir__ = face.names
