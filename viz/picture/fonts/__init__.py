"""The Chinese font that is shipped, and pieces of it for pages that stand alone."""

from __future__ import annotations

import base64
import io
import re
import sys
from functools import lru_cache
from typing import BinaryIO

from viz.picture.theme import BOLD_PATH, FONT_FAMILY, FONT_PATH, LATIN_FAMILY
from viz.words.text import ROWS

HAN = re.compile("[\u2e80-\uffef]")  # Chinese, and the punctuation that it has


def font_face(text: str, latin: bool = False) -> str:
    """A style rule that brings the glyphs of `text` along, so that no machine shows boxes.

    Only characters beyond ASCII are taken: the page's own font writes the others. latin: those,
    too, in both weights, for a page that looks alike on every system.
    """
    wanted = {c for c in text if ord(c) > 126}
    if not latin:
        return _piece("".join(sorted(wanted)))
    plain = "".join(sorted({c for c in wanted if ord(c) < 256} | {*map(chr, range(32, 127))}))
    return _latin(plain) + _piece("".join(sorted(wanted - {*plain})))


def face_in_cell(text: str) -> str:
    """The rule for an image in a cell of a notebook: only where its reader may lack the letters.

    The signs each system has. Where Python runs in the browser, the image only stands in for a
    page that is alive, and cutting would take seconds.
    """
    lacks = HAN.search(text) is not None and sys.platform != "emscripten"
    return font_face(text) if lacks else ""


def face_in_page(text: str) -> str:
    """The rule for an image in a page of its own, which has every letter in the page's font."""
    return _piece("".join(sorted({*text})))


@lru_cache(maxsize=128)
def _piece(characters: str) -> str:
    """The rule for these characters; drawings of one kind bring the same few along."""
    return _rule(FONT_FAMILY, _cut(_near(characters), characters, "woff"))


@lru_cache(maxsize=128)
def _latin(characters: str) -> str:
    """The rules for these Latin letters, each weight of its own: no browser has to thicken them."""
    regular, bold = (_cut(path.open("rb"), characters, "woff") for path in (FONT_PATH, BOLD_PATH))
    return _rule(LATIN_FAMILY, regular) + _rule(LATIN_FAMILY, bold, " font-weight: 600;")


def _rule(family: str, font: bytes, weight: str = "") -> str:
    source = f"url(data:font/woff;base64,{base64.b64encode(font).decode()}) format('woff')"
    return f"@font-face {{ font-family: '{family}';{weight} src: {source}; }}\n"


_known: frozenset[str] = frozenset()
_small = b""


def _near(characters: str) -> io.BytesIO:
    """A font that has them, small enough to be read quickly: that of all pieces until now.

    It begins with what our own words need. The whole one takes four times as long to cut.
    """
    global _known, _small
    if not _small or not _known.issuperset(characters):
        wanted = _known.union(characters, *(half for pair in ROWS.values() for half in pair))
        _small = _cut(FONT_PATH.open("rb"), "".join(sorted(wanted)), None)
        _known = wanted
    return io.BytesIO(_small)


def _cut(font: BinaryIO, characters: str, flavor: str | None) -> bytes:
    """A font with no more than these characters."""
    from fontTools import subset  # noqa: PLC0415 — it takes a while to load

    options = subset.Options(flavor=flavor, notdef_outline=True, hinting=False)
    buffer = io.BytesIO()
    with font, subset.load_font(font, options) as whole:
        cutter = subset.Subsetter(options)
        cutter.populate(text=characters)
        cutter.subset(whole)
        whole.flavor = flavor
        whole.save(buffer)
    return buffer.getvalue()
