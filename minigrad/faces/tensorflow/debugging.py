"""Checks that run with the graph: `tf.debugging.assert_equal`."""

from minigrad.faces.face import Compat
from minigrad.faces.tensorflow.tensors import tensor_function

__getattr__ = face = Compat(
    "tf.debugging",
    calls={
        "Assert(condition, data)": "mg.Assert(condition)",
        "assert_all_finite(x, message='')": "mg.Assert(mg.all(mg.abs(x) < float('inf')), message)",
        "assert_equal(x, y, message='')": "mg.Assert(mg.all(mg.equal(x, y)), message)",
        "assert_greater(x, y, message='')": "mg.Assert(mg.all(mg.greater(x, y)), message)",
        "assert_less(x, y, message='')": "mg.Assert(mg.all(mg.less(x, y)), message)",
        "assert_near(x, y, rtol=1e-6, atol=1e-6, message='')": (
            "mg.Assert(mg.all(mg.abs(x - y) <= atol + rtol * mg.abs(y)), message)"
        ),
        "assert_non_negative(x, message='')": "mg.Assert(mg.all(mg.greater_equal(x, 0)), message)",
        "assert_positive(x, message='')": "mg.Assert(mg.all(mg.greater(x, 0)), message)",
    },
    around=tensor_function,
)
__dir__ = face.names
