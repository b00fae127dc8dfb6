"""The Chinese font that is shipped, and pieces of it for standalone pages."""

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
    """Return a style rule that embeds the glyphs of `text`, so that no machine shows boxes.

    Only characters beyond ASCII are taken: the page's own font writes the others. latin: those,
    too, in both weights, for a page that looks alike on every system.
    """
    letters = {c for c in {*text} if ord(c) > 126}
    if not latin:
        return _piece("".join(sorted(letters)))
    plain = "".join(sorted({c for c in letters if ord(c) < 256} | {*map(chr, range(32, 127))}))
    return _latin_rules(plain) + _piece("".join(sorted(letters - {*plain})))


def face_in_cell(text: str) -> str:
    """Return the rule for an image in a notebook cell, only if a reader may lack the letters.

    Each system has the signs. Where Python runs in the browser, the image only replaces a
    page that is alive, and cutting would take seconds.
    """
    lacks = HAN.search(text) is not None and sys.platform != "emscripten"
    return font_face(text) if lacks else ""


def face_in_page(text: str) -> str:
    """Return the rule for an image in a separate page, with every letter in the page's font."""
    return _piece("".join(sorted({*text})))


@lru_cache(maxsize=128)
def _piece(characters: str) -> str:
    """Return the rule for these characters; drawings of one kind embed the same few."""
    return _rule(FONT_FAMILY, _cut(_subset_font(characters), characters, "woff"))


@lru_cache(maxsize=128)
def _latin_rules(characters: str) -> str:
    """Return the rules for these Latin letters in both weights: no browser synthesises bold."""
    faces = (_subset_font(characters), ""), (BOLD_PATH.open("rb"), " font-weight: 600;")
    return "".join(_rule(LATIN_FAMILY, _cut(f, characters, "woff"), weight) for f, weight in faces)


def _rule(family: str, font: bytes, weight: str = "") -> str:
    source = f"url(data:font/woff;base64,{base64.b64encode(font).decode()}) format('woff')"
    return f"@font-face {{ font-family: '{family}';{weight} src: {source}; }}\n"


_known: tuple[frozenset[str], bytes] = frozenset(), b""  # replaced at once: threads share it


def _subset_font(characters: str) -> io.BytesIO:
    """Return a font with these characters, quick to read: the subset of all pieces so far.

    It begins with what our own words need. The whole one takes four times as long to cut.
    """
    global _known
    known, small = _known
    if not small or not known.issuperset(characters):
        needed = known.union(characters, *(half for pair in ROWS.values() for half in pair))
        small = _cut(FONT_PATH.open("rb"), "".join(sorted(needed)), None)
        _known = needed, small
    return io.BytesIO(small)


def _cut(font: BinaryIO, characters: str, flavor: str | None) -> bytes:
    """Cut a font to only these characters."""
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
