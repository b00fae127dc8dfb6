"""NumPy's names for JAX's arrays: `import minigrad.faces.jax.numpy as jnp`."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import Face

__all__ = ["array"]


def array(object: Any, dtype: Any = None) -> Any:
    """An array; of 32 bits unless `dtype` says otherwise. Arrays of a trace stay what they are."""
    if isinstance(object, (mg.Tensor, mg.Node)):
        return object if dtype is None else object.astype(dtype)
    found = np.asarray(object)
    return mg.tensor(found, dtype=dtype or SHORTER.get(found.dtype.name, found.dtype))


SHORTER: dict[str, Any] = {"int64": mg.int32, "float64": mg.float32}
REDUCED = "x, axis=None, keepdims=False"
SHAPED = "shape, dtype=mg.float32"

__getattr__ = face = Face(
    "jax.numpy",
    "abs absolute=abs add all any bool_ ceil clip cos cumsum divide dot=matmul equal exp"
    " expand_dims flip float32 float64 floor floor_divide full_like greater greater_equal int32"
    " int64 isnan less less_equal log log1p logical_and logical_not logical_or matmul maximum"
    " mean minimum mod multiply ndarray=Tensor negative not_equal ones_like outer power=pow"
    " reshape round sigmoid sign sin sqrt square squeeze stack subtract sum swapaxes tanh tile"
    " where zeros_like",
    calls={
        "allclose(a, b, rtol=1e-05, atol=1e-08)": (
            "bool(np.allclose(np.asarray(a), np.asarray(b), rtol, atol))"
        ),
        "arange(*bounds)": "array(np.arange(*bounds))",
        "argmax(x, axis=None)": "mg.argmax(x, axis).astype('int32')",
        "argmin(x, axis=None)": "mg.argmin(x, axis).astype('int32')",
        "asarray(object, dtype=None)": "array(object, dtype)",
        "concatenate(arrays, axis=0)": "mg.concatenate(arrays, axis)",
        "eye(n, m=None)": "mg.eye(n, m)",
        "full(shape, fill_value, dtype=None)": "array(np.full(shape, fill_value), dtype)",
        "linspace(start, stop, num=50)": "mg.linspace(start, stop, num)",
        f"max({REDUCED})": "mg.max(x, axis=axis, keepdims=keepdims)",
        f"min({REDUCED})": "mg.min(x, axis=axis, keepdims=keepdims)",
        f"prod({REDUCED})": "mg.prod(x, axis, keepdims)",
        f"ones({SHAPED})": "mg.ones(shape, dtype=dtype)",
        "split(x, indices_or_sections, axis=0)": (
            "mg.split(x, axis=axis, sections=indices_or_sections)"
        ),
        "std(x, axis=None, ddof=0)": "mg.std(x, axis, ddof)",
        "take(x, indices, axis)": "mg.take(x, indices, axis)",
        "transpose(x, axes=None)": "mg.transpose(x, axes)",
        "var(x, axis=None, ddof=0)": "mg.var(x, axis, ddof)",
        f"zeros({SHAPED})": "mg.zeros(shape, dtype=dtype)",
    },
    array=array,
    np=np,
)
__dir__ = face.names
