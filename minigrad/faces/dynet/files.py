"""DyNet's parameter files: text, with a header line and a line of numbers for each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.faces.face import make_error

__all__ = ["populate", "save"]


def save(parameters: Sequence[Any], filename: str | os.PathLike[str]) -> None:
    """Write parameters and lookup tables to a file."""
    with open(filename, "w", encoding="utf-8") as file:
        for x in parameters:
            line = " ".join(f"{value:+.8e}" for value in _rows_last(x).ravel("F")) + " \n"
            kind = "LookupParameter" if hasattr(x, "rows") else "Parameter"
            file.write(f"#{kind}# {x.name()} {_dims(x)} {len(line)} ZERO_GRAD\n{line}")


def populate(parameters: Sequence[Any], filename: str | os.PathLike[str]) -> None:
    """Read parameters and tables from a file; FormatError if it holds others."""
    with open(filename, encoding="utf-8") as file:
        lines = [line for line in file if line.strip()]
    heads = [i for i, line in enumerate(lines) if line.startswith("#")]
    expected = [_dims(x) for x in parameters]
    if [lines[i].split()[2] for i in heads] != expected:
        raise make_error(mg.FormatError, "face_file", wanted=" ".join(expected))
    for x, i in zip(parameters, heads, strict=True):
        values = np.array(lines[i + 1].split(), np.float32)
        array = values.reshape(_rows_last(x).shape, order="F")
        if hasattr(x, "rows"):
            x.init_from_array(np.moveaxis(array, -1, 0))
        else:
            x.set_value(array)


def _rows_last(x: Any) -> Any:
    """Return the values as an array; a lookup table's rows become its last axis."""
    array = x.as_array()
    return np.moveaxis(array, 0, -1) if hasattr(x, "rows") else array


def _dims(x: Any) -> str:
    return "{" + ",".join(map(str, _rows_last(x).shape)) + "}"
