"""Which data type comes out: constants are as short as they can be."""

import theano.tensor as T

i, long, f, d = T.ivector("i"), T.lscalar("l"), T.fvector("f"), T.dscalar("d")
answers = {
    "declared": [T.scalar().dtype, T.bvector().dtype, i.dtype, long.dtype, f.dtype],
    "int32 + 1": (i + 1).dtype,
    "int32 / 2": (i / 2).dtype,
    "int32 // 2": (i // 2).dtype,
    "int32 % 2": (i % 2).dtype,
    "int32 ** 2": (i**2).dtype,
    "int32 * 2.5": (i * 2.5).dtype,
    "float32 * 2.5": (f * 2.5).dtype,
    "float32 * 0.1": (f * 0.1).dtype,
    "float32 * float64": (f * d).dtype,
    "int32 + float32": (i + f).dtype,
    "int64 + int32": (long + i).dtype,
    "comparison": (i > 0).dtype,
    "sum": [T.sum(i).dtype, T.sum(f).dtype, T.sum(i > 0).dtype],
    "mean": [T.mean(i).dtype, T.mean(f).dtype],
    "exp": [T.exp(i).dtype, T.exp(f).dtype],
    "sqr": T.sqr(i).dtype,
    "constants": [T.constant(2).dtype, T.constant(300).dtype, T.constant(0.1).dtype],
    "list": T.as_tensor_variable([1, 2]).dtype,
    "made": [T.zeros((2, 2)).dtype, T.arange(3).dtype, T.eye(2).dtype, T.ones_like(i).dtype],
    "switch": T.switch(d > 0, 1, 2.5).dtype,
    "cast": [T.cast(d, "int32").dtype, i.astype("float32").dtype],
    "shape": [f.shape.dtype, f.shape[0].dtype],
    "argmax": T.argmax(f).dtype,
}
