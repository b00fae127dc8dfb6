"""The Chinese font that is shipped, and pieces of it for pages that stand alone."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from pathlib import Path

from fontTools import subset

from viz.theme import FONT_FAMILY, FONT_PATH


def font_face(text: str) -> str:
    """A style rule that brings the glyphs of `text` along, so that no machine shows boxes.

    Only characters beyond ASCII are taken: the page's own font writes the others.
    """
    return _piece("".join(sorted({c for c in text if ord(c) > 126})))


FONTCONFIG = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><include ignore_missing="yes">fonts.conf</include><dir>{folder}</dir></fontconfig>
"""


@contextlib.contextmanager
def lent() -> Iterator[None]:
    """Let programs that are started meanwhile find the font beside those of the machine."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "fonts.conf"
        told.write_text(FONTCONFIG.format(folder=escape(str(FONT_PATH.parent))), encoding="utf-8")
        before = os.environ.get("FONTCONFIG_FILE")
        os.environ["FONTCONFIG_FILE"] = before or str(told)
        try:
            yield
        finally:
            if before is None:
                del os.environ["FONTCONFIG_FILE"]


@lru_cache(maxsize=128)
def _piece(characters: str) -> str:
    """The rule for these characters; drawings of one kind bring the same few along."""
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
