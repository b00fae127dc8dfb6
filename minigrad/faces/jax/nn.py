"""JAX's activations: `jax.nn.relu`."""

from minigrad.faces.face import Compat
from minigrad.faces.jax.array import arrays, as_array
from minigrad.faces.ties import ops

__getattr__ = face = Compat(
    "jax.nn",
    calls={
        **{
            f"{name}(x)": f"mg.{name}(known(x))" for name in ("relu", "sigmoid", "softplus", "tanh")
        },
        "elu(x, alpha=1.0)": "ops.corners.elu(known(x), alpha)",
        "gelu(x, approximate=True)": "mg.gelu(known(x), *(('tanh',) if approximate else ()))",
        "leaky_relu(x, negative_slope=0.01)": "mg.where(x >= 0, x, negative_slope * x)",
        "log_softmax(x, axis=-1)": "mg.log_softmax(known(x), axis)",
        "logsumexp(x, axis=None, keepdims=False)": "mg.logsumexp(known(x), axis, keepdims)",
        "one_hot(x, num_classes)": "mg.one_hot(known(x), num_classes)",
        "silu(x)": "x * mg.sigmoid(x)",
        "softmax(x, axis=-1)": "mg.softmax(known(x), axis)",
        "swish(x)": "x * mg.sigmoid(x)",
    },
    lacks={"jax.random.normal(key, (784, 10)) * 0.1": "initializers"},
    around=arrays,
    ops=ops,
    known=as_array,
)
__dir__ = face.names
