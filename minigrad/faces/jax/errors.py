"""JAX's errors where Python needs a traced value: `jax.errors.TracerBoolConversionError`."""

from minigrad.faces.face import Compat

__getattr__ = face = Compat(
    "jax.errors",
    "ConcretizationTypeError=TraceError TracerArrayConversionError=TraceError"
    " TracerBoolConversionError=TraceError TracerIntegerConversionError=TraceError"
    " UnexpectedTracerError=TraceError NonConcreteBooleanIndexError=ShapeError",
)
__dir__ = face.names
