"""A file of one JSON document and some arrays: a zip whose entries are stored as they are.

Writing is whole or not at all, and the same content gives the same bytes. Reading executes
nothing and believes nothing: no pickle, no compression (a file never unpacks to more than its
own size), strict JSON, and an array is as large as its entry or refused.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Iterable
from typing import IO, Any, Literal

import numpy as np

from minigrad.core import Array, Dtype
from minigrad.diagnostics import files
from minigrad.diagnostics.errors import FormatError

DOCUMENT = "graph.json"
LONGEST_DOCUMENT = 2**28  # bytes

# Numbers, in this machine's byte order or the other one. Objects, strings and times are not here.
_NATIVE = [np.dtype(code) for code in "?" + np.typecodes["AllInteger"] + np.typecodes["Float"]]
_KNOWN = [d for native in _NATIVE for d in (native.newbyteorder("S"), native)]
DTYPES: dict[str, Dtype] = {str(d): d for d in _KNOWN}
NAMES: dict[Dtype, str] = {d: name for name, d in DTYPES.items()}
_DESCRIPTIONS: dict[str, Dtype] = {d.str: d for d in _KNOWN}

_ENTRY = re.compile(r"arrays/(?:0|[1-9][0-9]{0,8})\.npy")
_HEADER = re.compile(
    rb"\{'descr': '(.{1,5})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:[0-9]{1,18}, ?)*[0-9]{0,18})\), \} *\n"
)
_MAGIC = b"\x93NUMPY\x01\x00"
# What zipfile raises for files that are damaged in one way or another.
_DAMAGE = (
    *(zipfile.BadZipFile, struct.error, EOFError, OSError, ValueError, RuntimeError),
    *(NotImplementedError, IndexError, KeyError, OverflowError),
)


def array_entry(index: int) -> str:
    """Return the name of the entry that holds the array of that number."""
    return f"arrays/{index}.npy"


def write(path: str | os.PathLike[str], document: str, arrays: Iterable[Array]) -> None:
    """Write the file; an older one stays intact until the new one is complete."""
    with files.replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        with archive.open(_info(DOCUMENT, len(document)), "w") as stream:
            stream.write(document.encode("ascii"))
        for i, array in enumerate(arrays):
            with archive.open(_info(array_entry(i), array.nbytes + 2**16), "w") as stream:
                np.lib.format.write_array(stream, np.asarray(array), (1, 0), False)


def _info(name: str, size: int) -> zipfile.ZipInfo:
    """Make an entry without time or machine; its size decides on zip64."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.create_system, info.external_attr, info.file_size = 3, 0o644 << 16, size
    return info


class Archive:
    """An open file as `write` makes it; FormatError, with the reason, when it is anything else."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            self._zip = zipfile.ZipFile(file)
            size = file.seek(0, os.SEEK_END)
        except _DAMAGE as error:
            raise FormatError("format_zip", reason=str(error)) from None
        names = set()
        for info in self._zip.infolist():
            if info.filename in names:
                raise FormatError("format_twice", entry=_shown(info.filename))
            names.add(info.filename)
            if info.filename != DOCUMENT and not _ENTRY.fullmatch(info.filename):
                raise FormatError("format_entry", entry=_shown(info.filename))
            size -= info.file_size
            stored = info.compress_type == zipfile.ZIP_STORED
            if not stored or info.compress_size != info.file_size or info.flag_bits & 1:
                raise FormatError("format_packed", entry=info.filename)
        if size < 0:
            raise FormatError("format_zip", reason="entries larger than the file")
        self._arrays: dict[int, Array] = {}
        self._unused = names - {DOCUMENT}

    def document(self) -> Any:
        """Read the JSON document; each key once, all numbers finite."""
        data = self._read(DOCUMENT, LONGEST_DOCUMENT)
        try:
            return json.loads(
                data.decode(),
                object_pairs_hook=_each_key_once,
                parse_constant=_no_number,
                parse_float=_finite,
                parse_int=_short,
            )
        except (ValueError, RecursionError) as error:
            raise FormatError("format_json", entry=DOCUMENT, reason=str(error)[:200]) from None

    def array(self, index: int) -> Array:
        """Read the array of that number, once."""
        if index not in self._arrays:
            name = array_entry(index)
            self._arrays[index] = _parse(name, self._read(name))
            self._unused.discard(name)
        return self._arrays[index]

    def finish(self) -> None:
        """Raise FormatError if an entry was never read."""
        for name in sorted(self._unused):
            raise FormatError("format_entry", entry=name)

    def _read(self, name: str, limit: int | None = None) -> bytes:
        try:
            info = self._zip.getinfo(name)
        except KeyError:
            raise FormatError("format_missing", entry=name) from None
        if limit is not None and info.file_size > limit:
            what = f"bytes of {name}"
            raise FormatError("format_limit", what=what, count=info.file_size, limit=limit)
        try:
            return self._zip.read(info)
        except _DAMAGE as error:
            raise FormatError("format_damaged", entry=name, reason=str(error)) from None


def _shown(name: str) -> str:
    return ascii(name[:100])


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key stands twice: {[key[:20] for key, _ in pairs][:10]}")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is too large")
    return number


def _short(text: str) -> int:
    if len(text) > 20:
        raise ValueError(f"the number {text[:20]}... is too large")
    return int(text)


def _parse(name: str, data: bytes) -> Array:
    """Parse the array of a .npy entry; its header is matched, never evaluated."""
    start = len(_MAGIC) + 2
    end = start + int.from_bytes(data[start - 2 : start], "little")
    header = _HEADER.fullmatch(data[start:end])
    if not data.startswith(_MAGIC) or header is None:
        raise FormatError("format_array", entry=name, reason="no plain header")
    dtype = _DESCRIPTIONS.get(header[1].decode("latin-1"))
    if dtype is None:
        raise FormatError("format_array", entry=name, reason=f"dtype {header[1]!a}")
    shape = tuple(int(n) for n in header[3].split(b",") if n.strip())
    if math.prod(shape) * dtype.itemsize != len(data) - end:
        reason = f"{len(data) - end} bytes, shape {str(shape)[:100]}, {dtype}"
        raise FormatError("format_array", entry=name, reason=reason)
    if dtype.kind == "b" and max(data[end:], default=0) > 1:
        raise FormatError("format_array", entry=name, reason="a bool that is neither 0 nor 1")
    order: Literal["F", "C"] = "F" if header[2] == b"True" else "C"
    try:
        array = np.ndarray(shape, dtype, data, end, order=order).copy("K")
    except ValueError as error:
        raise FormatError("format_array", entry=name, reason=str(error)) from None
    return array[()]
