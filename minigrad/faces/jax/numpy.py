"""NumPy's names for JAX's arrays: `import minigrad.faces.jax.numpy as jnp`."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Compat
from minigrad.faces.jax import linalg
from minigrad.faces.jax.array import Array, arrays, as_array

__all__ = [
    "array",
    "bool_",
    "float32",
    "float64",
    "inf",
    "int32",
    "int64",
    "linalg",
    "nan",
    "ndarray",
    "pi",
]

bool_, float32, float64, int32, int64 = np.bool_, np.float32, np.float64, np.int32, np.int64
inf, nan, newaxis, pi, ndarray = np.inf, np.nan, None, np.pi, Array


def array(object: Any, dtype: Any = None) -> Any:
    """Make an array of 32 bits; tracers stay tracers."""
    if isinstance(object, (list, tuple)) and any(isinstance(x, mg.Node) for x in object):
        object = mg.stack([as_array(x) for x in object])
    if isinstance(object, (mg.Tensor, mg.Node)):
        found = as_array(object)
        return found if dtype is None else found.astype(dtype)
    found = as_array(np.asarray(object, dtype))
    found.weak = dtype is None and type(object) in (int, float)
    return found


REDUCED = "x, axis=None, keepdims=False"
SHAPED = "shape, dtype=mg.float32"


SAME = """
    abs absolute=abs add all any ceil clip cos divide dot=matmul equal exp expand_dims flip floor
    floor_divide full_like greater greater_equal isnan less less_equal log log1p logical_and
    logical_not logical_or matmul maximum mean minimum mod multiply negative not_equal ones_like
    outer power=pow reshape round sign sin sqrt square squeeze stack subtract sum swapaxes tanh
    tile where zeros_like
"""


def plain_calls(names: str) -> dict[str, str]:
    """Return a table of calls for names whose functions are the same as ours."""
    pairs = (name.partition("=") for name in names.split())
    return {
        f"{theirs}(*args, **kwargs)": f"mg.{ours or theirs}(*args, **kwargs)"
        for theirs, _, ours in pairs
    }


__getattr__ = face = Compat(
    "jax.numpy",
    calls={
        **plain_calls(SAME),
        "allclose(a, b, rtol=1e-05, atol=1e-08)": (
            "bool(np.allclose(np.asarray(a), np.asarray(b), rtol, atol))"
        ),
        "arange(*bounds, dtype=None)": "np.arange(*bounds, dtype=dtype)",
        "argmax(x, axis=None)": "mg.argmax(x, axis)",
        "argmin(x, axis=None)": "mg.argmin(x, axis)",
        "array_equal(a, b)": "bool(np.array_equal(np.asarray(a), np.asarray(b)))",
        "asarray(object, dtype=None)": "array(object, dtype)",
        "concatenate(arrays, axis=0)": "mg.concatenate(known(arrays), axis)",
        "cumsum(x, axis=None)": "mg.cumsum(mg.flatten(x) if axis is None else x, axis or 0)",
        "diag(x)": "mg.where(np.eye(len(x), dtype=bool), x, 0)",
        "eye(n, m=None)": "mg.eye(n, m)",
        "full(shape, fill_value, dtype=None)": "array(np.full(shape, fill_value), dtype)",
        "hstack(arrays)": "mg.concatenate(known(arrays), 1 if np.ndim(arrays[0]) > 1 else 0)",
        "isfinite(x)": "mg.abs(x) < np.inf",
        "isinf(x)": "mg.equal(mg.abs(x), np.inf)",
        "linspace(start, stop, num=50)": "mg.linspace(start, stop, num)",
        f"max({REDUCED})": "mg.max(x, axis=axis, keepdims=keepdims)",
        f"min({REDUCED})": "mg.min(x, axis=axis, keepdims=keepdims)",
        f"prod({REDUCED})": "mg.prod(x, axis, keepdims)",
        f"ones({SHAPED})": "array(np.ones(shape), dtype)",
        "ravel(x)": "mg.reshape(x, -1)",
        "reciprocal(x)": "1 / x",
        "split(x, indices_or_sections, axis=0)": (
            "mg.split(x, axis=axis, sections=indices_or_sections)"
        ),
        "std(x, axis=None, ddof=0)": "mg.sqrt(mg.var(x, axis, ddof))",
        "take(x, indices, axis)": "mg.take(x, indices, axis)",
        "tan(x)": "mg.sin(x) / mg.cos(x)",
        "transpose(x, axes=None)": "mg.transpose(x, axes)",
        "tril(x)": "mg.where(np.tril(np.ones(x.shape, bool)), x, 0)",
        "triu(x)": "mg.where(np.triu(np.ones(x.shape, bool)), x, 0)",
        "var(x, axis=None, ddof=0)": "mg.var(x, axis, ddof)",
        "vdot(a, b)": "mg.sum(a * b)",
        "vstack(arrays)": "mg.concatenate([mg.reshape(x, (-1, x.shape[-1])) for x in arrays], 0)",
        f"zeros({SHAPED})": "array(np.zeros(shape), dtype)",
    },
    around=arrays,
    array=array,
    known=lambda values: [*map(as_array, values)],
    np=np,
)
__dir__ = face.names
