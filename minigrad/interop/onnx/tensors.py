"""Tensors of ONNX files as arrays and back, with their claims checked against their data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.core import Array, Dtype
from minigrad.diagnostics.errors import FormatError

# The numbers that ONNX gives data types, and ours; texts, complex numbers and the types that NumPy
# lacks (bfloat16, 8-bit floats, 4-bit numbers) have none.
TYPES: dict[int, Dtype] = {
    number: np.dtype(name)
    for number, name in (
        (1, "float32"), (2, "uint8"), (3, "int8"), (4, "uint16"), (5, "int16"), (6, "int32"),
        (7, "int64"), (9, "bool"), (10, "float16"), (11, "float64"), (12, "uint32"),
        (13, "uint64"),
    )
}  # fmt: skip
NUMBERS = {dtype: number for number, dtype in TYPES.items()}
OTHERS = {
    0: "undefined",
    8: "string",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8e4m3fn",
    18: "float8e4m3fnuz",
    19: "float8e5m2",
    20: "float8e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4e2m1",
    24: "float8e8m0",
    25: "uint2",
    26: "int2",
}
MOST = 1 << 31  # elements of one tensor
# Where a tensor that is not written as bytes keeps its numbers.
FIELDS = {1: "float_data", 7: "int64_data", 11: "double_data", 12: "uint64_data", 13: "uint64_data"}


def dtype_of(number: int, name: str = "") -> Dtype:
    """Return the data type for ONNX's number; FormatError for an unsupported one."""
    if number not in TYPES:
        kind = OTHERS.get(number, str(number))
        raise FormatError("onnx_type", kind=kind, name=ascii(name)[:100])
    return TYPES[number]


def array_of(tensor: Any) -> Array:
    """Return a TensorProto's array; FormatError, before allocating, for missing data."""
    name, dtype = tensor.name, dtype_of(tensor.data_type, tensor.name)
    shape = tuple(tensor.dims)
    count = math.prod(shape)
    if any(n < 0 for n in shape) or count > MOST:
        raise FormatError("onnx_size", name=ascii(name)[:100], shape=str(shape)[:100])
    if tensor.data_location or tensor.external_data:
        raise FormatError("onnx_external", name=ascii(name)[:100])
    if tensor.raw_data:
        held, given = len(tensor.raw_data), np.frombuffer(tensor.raw_data, np.uint8)
        expected = count * dtype.itemsize
    else:
        given = np.array(getattr(tensor, FIELDS.get(tensor.data_type, "int32_data")))
        held, expected = len(given), count
    if held != expected:
        about = {"held": held, "expected": expected}
        raise FormatError("onnx_count", name=ascii(name)[:100], shape=str(shape)[:100], **about)
    if tensor.raw_data:
        array = given.view(dtype.newbyteorder("<")).astype(dtype)
    elif tensor.data_type == 10:  # the bits of 16-bit floats, as whole numbers
        array = given.astype(np.uint16).view(np.float16)
    else:
        array = given.astype(dtype)
    result: Array = array.reshape(shape)
    return result
