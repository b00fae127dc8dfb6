"""TensorFlow 1's errors while a session runs: `except tf.errors.InvalidArgumentError:`."""

from minigrad.faces.face import Compat

__getattr__ = face = Compat(
    "tf.errors",
    "FailedPreconditionError=UninitializedError InvalidArgumentError=NotFedError"
    " OpError=GraphError OperatorNotAllowedInGraphError=TraceError",
)
__dir__ = face.names
