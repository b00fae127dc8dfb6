"""The Chinese font that is shipped, and pieces of it for pages that stand alone."""

from __future__ import annotations

import base64
import io
from functools import lru_cache

from viz.picture.theme import FONT_FAMILY, FONT_PATH


def font_face(text: str, latin: bool = False) -> str:
    """A style rule that brings the glyphs of `text` along, so that no machine shows boxes.

    Only characters beyond ASCII are taken: the page's own font writes the others. latin: those,
    too, for a page that looks alike on every system.
    """
    wanted = {c for c in text if ord(c) > 126} | (
        {chr(c) for c in range(32, 127)} if latin else set()
    )
    return _piece("".join(sorted(wanted)))


@lru_cache(maxsize=128)
def _piece(characters: str) -> str:
    """The rule for these characters; drawings of one kind bring the same few along."""
    from fontTools import subset  # noqa: PLC0415 — it takes a while to load

    options = subset.Options(flavor="woff", notdef_outline=True, hinting=False)
    font = subset.load_font(str(FONT_PATH), options)
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters)
    cutter.subset(font)
    buffer = io.BytesIO()
    font.flavor = "woff"
    font.save(buffer)
    font.close()
    data = base64.b64encode(buffer.getvalue()).decode()
    source = f"url(data:font/woff;base64,{data}) format('woff')"
    return f"@font-face {{ font-family: '{FONT_FAMILY}'; src: {source}; }}\n"
