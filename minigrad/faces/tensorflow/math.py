"""The same functions under a longer name: `tf.math.reduce_sum`."""

from minigrad.faces import flow
from minigrad.faces.face import Compat
from minigrad.faces.tensorflow.tensors import tensor_function

MORE = {
    "cumsum(x, axis=0)": "mg.cumsum(x, axis)",
    "floordiv(x, y)": "mg.floor_divide(x, y)",
    "floormod(x, y)": "mg.mod(x, y)",
    "is_nan(x)": "mg.isnan(x)",
    "reduce_std(x, axis=None, keepdims=False)": "mg.sqrt(mg.var(x, axis, 0, keepdims))",
    "reduce_variance(x, axis=None, keepdims=False)": "mg.var(x, axis, 0, keepdims)",
    "softplus(x)": "mg.softplus(x)",
}

__getattr__ = face = Compat(
    "tf.math",
    calls=flow.MATHS | MORE,
    around=tensor_function,
    default_dtype=flow.default_dtype,
    stack_list=flow.stack_list,
)
__dir__ = face.names
