"""The same functions under a longer name: `tf.math.reduce_sum`."""

from minigrad.faces import flow
from minigrad.faces.face import Face
from minigrad.faces.tensorflow.tensors import in_its_words

MORE = {
    "cumsum(x, axis=0)": "mg.cumsum(x, axis)",
    "floordiv(x, y)": "mg.floor_divide(x, y)",
    "floormod(x, y)": "mg.mod(x, y)",
    "is_nan(x)": "mg.isnan(x)",
    "reduce_std(x, axis=None, keepdims=False)": "mg.sqrt(mg.var(x, axis, 0, keepdims))",
    "reduce_variance(x, axis=None, keepdims=False)": "mg.var(x, axis, 0, keepdims)",
    "softplus(x)": "mg.softplus(x)",
}

__getattr__ = face = Face(
    "tf.math", calls=flow.MATHS | MORE, around=in_its_words, kind=flow.kind, packed=flow.packed
)
__dir__ = face.names
