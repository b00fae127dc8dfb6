"""The Chinese font that is shipped, and pieces of it for pages that stand alone."""

from __future__ import annotations

import base64
import io
import re
import sys
from functools import lru_cache
from typing import BinaryIO

from viz.picture.theme import FONT_FAMILY, FONT_PATH
from viz.words.text import ROWS

HAN = re.compile("[\u2e80-\uffef]")  # Chinese, and the punctuation that it has


def font_face(text: str, latin: bool = False) -> str:
    """A style rule that brings the glyphs of `text` along, so that no machine shows boxes.

    Only characters beyond ASCII are taken: the page's own font writes the others. latin: those,
    too, for a page that looks alike on every system.
    """
    wanted = {c for c in text if ord(c) > 126} | (
        {chr(c) for c in range(32, 127)} if latin else set()
    )
    return _piece("".join(sorted(wanted)))


def face_in_cell(text: str) -> str:
    """The rule for an image in a cell of a notebook: only where its reader may lack the letters.

    The signs each system has. Where Python runs in the browser, the image only stands in for a
    page that is alive, and cutting would take seconds.
    """
    lacks = HAN.search(text) is not None and sys.platform != "emscripten"
    return font_face(text) if lacks else ""


@lru_cache(maxsize=128)
def _piece(characters: str) -> str:
    """The rule for these characters; drawings of one kind bring the same few along."""
    data = base64.b64encode(_cut(_near(characters), characters, "woff")).decode()
    source = f"url(data:font/woff;base64,{data}) format('woff')"
    return f"@font-face {{ font-family: '{FONT_FAMILY}'; src: {source}; }}\n"


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
