"""JAX's control flow: `jax.lax.cond`, `scan`, `while_loop`, `fori_loop`."""

from minigrad.faces.face import Face

__getattr__ = face = Face(
    "jax.lax",
    "stop_gradient",
    calls={
        "cond(pred, true_fun, false_fun, *operands)": (
            "mg.cond(pred, true_fun, false_fun, *operands)"
        ),
        "fori_loop(lower, upper, body_fun, init_val)": (
            "mg.while_loop(lambda i, x: i < upper, lambda i, x: (i + 1, body_fun(i, x)),"
            " (mg.tensor(lower, dtype=mg.int32), init_val))[1]"
        ),
        "scan(f, init, xs, reverse=False)": "mg.scan(f, init, xs, reverse)",
        "while_loop(cond_fun, body_fun, init_val)": ("mg.while_loop(cond_fun, body_fun, init_val)"),
    },
)
__dir__ = face.names
