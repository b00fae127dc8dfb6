"""Products of matrices: `tf.linalg.matvec`."""

from minigrad.faces.face import Face
from minigrad.faces.tensorflow.tensors import in_its_words

__getattr__ = face = Face(
    "tf.linalg",
    calls={
        "matmul(a, b, transpose_a=False, transpose_b=False)": (
            "mg.matmul(a, b, transpose_a, transpose_b)"
        ),
        "matrix_transpose(a)": "mg.swapaxes(a, -1, -2)",
        "matvec(a, b)": "mg.matmul(a, b)",
        "norm(x)": "mg.sqrt(mg.sum(mg.square(x)))",
    },
    around=in_its_words,
)
__dir__ = face.names
