"""Caffe's two files as messages: a net's text with its lines, and the binary weights."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from minigrad.core import Array, float32
from minigrad.diagnostics.errors import FormatError
from minigrad.diagnostics.files import kind_of, opened
from minigrad.diagnostics.messages import Pair, fill, one_line
from minigrad.diagnostics.source import here
from minigrad.interop.caffe.schema import messages
from minigrad.interop.extra import import_extra

MOST_TEXT = 1 << 22  # bytes of a prototxt; that of a net with 1,000 layers has a quarter of it
MOST_BYTES = (1 << 31) - 1  # of a caffemodel: protobuf's own limit
MOST_FIELDS = 1 << 20  # of a caffemodel: each becomes an object before any of them is checked
TOKEN = re.compile(r"""#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[{}<>]|[\w.+-]+|\n""")
AT = re.compile(r"^\d+:\d+ : ")  # where protobuf begins with the place
NO_FIELD = re.compile(r'field named "(\w+)"')


def refuse(where: Pair, reason: Pair) -> NoReturn:
    """Raise FormatError with the location and the reason."""
    raise FormatError("caffe", where=where, reason=reason, defined=here())


class Text:
    """A prototxt: the net that it describes, and the lines of its layers and fields."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = Path(path).name
        raw = read(path, MOST_TEXT)
        try:
            source = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            refuse(self.where(1 + raw[: error.start].count(b"\n")), fill("caffe_utf8"))
        self.blocks = blocks(source)
        self.net = self._parsed(source)
        if self.net.layers:
            line = next((x.line for x in self.blocks if x.field == "layers"), 1)
            refuse(self.where(line), fill("caffe_old"))
        self.layers = [x for x in self.blocks if x.field == "layer"]

    def _parsed(self, source: str) -> Any:
        parser = import_extra("google.protobuf.text_format", extra="caffe")
        try:
            return parser.Parse(source, messages()["Net"]())
        except parser.ParseError as error:
            said = one_line(AT.sub("", str(error)))[:200]
            line = error.GetLine() or 1
            inside = [x for x in self.blocks if x.line <= line <= x.end and x.field == "layer"]
            named = NO_FIELD.search(said)
            where = self.where(line, inside[0].name if inside else None, named and named[1])
            refuse(where, fill("caffe_says", said=said))

    def where(self, line: int, layer: str | None = None, field: Any = None) -> Pair:
        """Describe a position in this file."""
        about = {"path": self.name, "line": line, "layer": layer, "field": field}
        if layer is None:
            return fill("caffe_line", path=self.name, line=line)
        return fill("caffe_layer" if field is None else "caffe_field", **about)


class FieldBlock:
    """A field of the net in braces: its lines, its name, and the lines of its fields."""

    def __init__(self, field: str, line: int) -> None:
        self.field, self.line, self.end, self.name = field, line, line, ""
        self.lines: dict[str, int] = {}


def blocks(source: str) -> list[FieldBlock]:
    """Find the top-level blocks in braces of a text, even if it can't be parsed."""
    found: list[FieldBlock] = []
    line, depth, latest = 1, 0, ""
    for token in TOKEN.findall(source):
        if token == "\n":
            line += 1
        elif token in "{<":
            if depth == 0:
                found.append(FieldBlock(latest, line))
            depth += 1
        elif token in "}>":
            depth = max(depth - 1, 0)
        elif token[0] != "#":
            if depth == 1 and latest == "name" and token[0] in "\"'":
                found[-1].name = token[1:-1]
            latest = token
            if depth and token[0] not in "\"'":
                found[-1].lines.setdefault(token, line)
        if found and depth:
            found[-1].end = line
    return found


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file's bytes; FormatError if it is too large."""
    with opened(path) as file:
        about = os.fstat(file.fileno())
        where = fill("caffe_file", path=Path(path).name)
        if kind := kind_of(about):
            refuse(where, fill("format_irregular", kind=kind))
        if about.st_size > most:
            large = {"what": "bytes", "count": about.st_size, "limit": most}
            refuse(where, fill("format_limit", **large))
        return file.read(most + 1)


# ---- The weights ---------------------------------------------------------------------------------


class Weights:
    """A caffemodel: the blobs of each layer."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = Path(path).name
        raw = read(path, MOST_BYTES)
        net = messages()["Net"]
        where = fill("caffe_file", path=self.name)
        try:
            expect_few(raw, net.DESCRIPTOR)
            parsed = net.FromString(raw)
        except ValueError as error:
            refuse(where, fill("caffe_damaged", reason=one_line(str(error))))
        except import_extra("google.protobuf.message", extra="caffe").DecodeError as error:
            refuse(where, fill("caffe_damaged", reason=one_line(str(error))))
        self.blobs: Mapping[str, list[Any]] = {
            layer.name: list(layer.blobs) for layer in (*parsed.layers, *parsed.layer)
        }

    def array(self, layer: str, index: int, shape: tuple[int, ...], where: Pair) -> Array:
        """Return one blob of a layer; FormatError unless it has this shape."""
        blobs = self.blobs.get(layer, [])
        if index >= len(blobs):
            about = {"path": self.name, "found": len(blobs), "index": index}
            refuse(where, fill("caffe_blobs", **about))
        blob = blobs[index]
        data = blob.data or blob.double_data
        found = tuple(blob.shape.dim) or (blob.num, blob.channels, blob.height, blob.width)
        fits = _without_leading_ones(found) == _without_leading_ones(shape)
        if not fits or len(data) != np.prod(shape, dtype=object):
            about = {"path": self.name, "index": index, "count": len(data)}
            refuse(where, fill("caffe_blob", found=found[:8], expected=shape, **about))
        return np.fromiter(data, float32, len(data)).reshape(shape)

    def expect_all_used(self, layer: str, used: int, where: Pair) -> None:
        """Raise FormatError for blobs that the layer does not use."""
        found = len(self.blobs.get(layer, []))
        if found > used:
            refuse(where, fill("caffe_more", path=self.name, found=found, used=used))


def _without_leading_ones(shape: tuple[int, ...]) -> list[int]:
    """Drop leading axes of length 1: older blobs always have four axes."""
    lengths = list(shape)
    while lengths and lengths[0] == 1:
        lengths.pop(0)
    return lengths


def expect_few(data: bytes, kind: Any) -> None:
    """Count a message's fields without parsing it; ValueError for too many or damaged ones."""
    waiting, count = [(0, len(data), kind)], 0
    while waiting:
        at, end, kind = waiting.pop()
        while at < end:
            key, at = _varint(data, at, end)
            field = kind.fields_by_number.get(key >> 3)
            size, form = 0, key & 7
            if form == 0:
                _, at = _varint(data, at, end)
            elif form == 2:
                size, at = _varint(data, at, end)
                if size > end - at:
                    raise ValueError("truncated")
                if field is not None and field.message_type is not None:
                    waiting.append((at, at + size, field.message_type))
                elif field is not None and field.name == "dim":  # a number may take one byte
                    count += size
            elif form in (1, 5):
                size = 8 if form == 1 else 4
            else:
                raise ValueError(f"wire type {form}")
            at, count = at + size, count + 1
            if count > MOST_FIELDS:
                raise ValueError(f"more than {MOST_FIELDS} fields")
        if at != end:
            raise ValueError("truncated")


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Decode a protobuf varint; return it and the position of its end."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("truncated")
