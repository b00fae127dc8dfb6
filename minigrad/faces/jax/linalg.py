"""JAX's linear algebra: `jnp.linalg.norm`."""

from minigrad.faces.face import Face
from minigrad.faces.jax.array import arrays

__getattr__ = face = Face(
    "jax.numpy.linalg",
    calls={"norm(x, axis=None)": "mg.sqrt(mg.sum(mg.square(x), axis=axis))"},
    lacks={"np.linalg.inv(np.asarray(x))": "inv", "np.linalg.solve(np.asarray(a), b)": "solve"},
    around=arrays,
)
__dir__ = face.names
