"""Products of matrices: `tf.linalg.matvec`."""

from minigrad.faces.face import Compat
from minigrad.faces.tensorflow.tensors import tensor_function

__getattr__ = face = Compat(
    "tf.linalg",
    calls={
        "matmul(a, b, transpose_a=False, transpose_b=False)": (
            "mg.matmul(a, b, transpose_a, transpose_b)"
        ),
        "matrix_transpose(a)": "mg.swapaxes(a, -1, -2)",
        "matvec(a, b)": "mg.matmul(a, b)",
        "norm(x)": "mg.sqrt(mg.sum(mg.square(x)))",
    },
    around=tensor_function,
)
__dir__ = face.names
