"""A chart for a page: matplotlib's SVG as an image in the page's fonts, on light and on dark paper.

An image cannot take fonts and colours from its page. In a notebook it names the same fonts and
brings along the glyphs beyond ASCII; in a separate page it brings all. It has the colours of dark
paper, too. Each text is as wide as matplotlib took it to be, whichever of the fonts a machine has.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from html import escape, unescape

from viz.picture.fonts import face_in_cell, face_in_page
from viz.picture.style import PAIRS
from viz.picture.theme import FONT_FAMILY, FONT_PATH

SYSTEM = "Helvetica, Arial, "
FONTS = f"{SYSTEM}'{FONT_FAMILY}', sans-serif"
PIXEL = 96 / 72  # of a point
SIZE = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
TEXT = re.compile(r"<text style=\"font-size: ([\d.]+)px; font-family: [^;]*;([^>]*)>([^<]*)<")
WORDS = re.compile(">([^<>]*)</text>")
COLOR = re.compile("#[0-9a-f]{6}")
# Pixels of a page: one of a phone below, a wide one above, and one with its contents at the side.
NARROW, BROAD, BROADER = 744, 1250, 1425
UNKNOWN = 0.6  # em; of a glyph that the font lacks


def as_image(svg: str, alt: str, edge: int = BROAD, slim: str = "", broad: str = "") -> str:
    """Return matplotlib's SVG, with text as text, as an <img> that scrolls where it is wide.

    slim, broad: the same for a phone, and for a page at least `edge` pixels wide; a separate page
    has both.
    """
    page = bool(slim or broad)
    image = f'<img alt="{escape(alt)}" {_source(svg, "src", page)}>'
    medias = ("min-width", edge, broad), ("max-width", NARROW, slim)
    for kind, pixels, other in medias if page else ():
        image = f'<source media="({kind}: {pixels}px)" {_source(other, "srcset", page)}>{image}'
    image = f"<picture>{image}</picture>" if page else image
    return f'<div style="overflow-x:auto" tabindex="0">{image}</div>'


def size_of(svg: str) -> tuple[int, int]:
    """Return the width and height of matplotlib's SVG in pixels."""
    width, height = (round(float(points) * PIXEL) for points in SIZE.findall(svg)[0])
    return width, height


def _source(svg: str, attribute: str, page: bool) -> str:
    """Return the attributes of an element that shows the SVG: its size, and a data URL."""
    shown = svg[svg.index("<svg") :]
    width, height = size_of(shown)
    shown = SIZE.sub(f'width="{width}" height="{height}"', shown, count=1)
    shown = re.sub(r"<metadata>.*?</metadata>", "", shown, flags=re.DOTALL)
    shown = re.sub(r"\s*\n\s*", " ", COLOR.sub(_variable, TEXT.sub(_fit_text, shown)))
    words = unescape("".join(WORDS.findall(shown)))
    if face := face_in_page(words) if page else face_in_cell(words):
        # Our font comes first: Chromium draws empty boxes while it waits for one further back.
        shown = shown.replace(SYSTEM, "" if page else f"'{FONT_FAMILY}', {SYSTEM}")
    style = f"<style>{face}{_dark_rule(shown)}</style>"
    shown = re.sub(r"<svg\b[^>]*>", lambda found: found[0] + style, shown, count=1)
    source = base64.b64encode(shown.encode()).decode()
    return f'width="{width}" height="{height}" {attribute}="data:image/svg+xml;base64,{source}"'


def _fit_text(found: re.Match[str]) -> str:
    size, rest, words = found.groups()
    length = float(size) * sum(_widths().get(c, UNKNOWN) for c in unescape(words))
    return (
        f'<text textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
        f'style="font-size: {size}px; font-family: {FONTS};{rest}>{words}<'
    )


def _variable(found: re.Match[str]) -> str:
    color = found[0]
    return f"var(--{color[1:]}, {color})" if color in _darks() else color


def _dark_rule(svg: str) -> str:
    """Return the CSS rule that sets the dark variants of the colours in the SVG."""
    declarations = "".join(f"--{a[1:]}:{b};" for a, b in _darks().items() if f"(--{a[1:]}," in svg)
    return f"@media (prefers-color-scheme: dark) {{ svg {{ {declarations} }} }}"


@cache
def _darks() -> dict[str, str]:
    return {light.lower(): dark for light, dark in PAIRS}


@cache
def _widths() -> dict[str, float]:
    """Return the width in em of each character in the font that matplotlib measures with."""
    from fontTools.ttLib import TTFont  # noqa: PLC0415 — it takes a while to load

    with TTFont(FONT_PATH, lazy=True) as font:
        em, known = font["head"].unitsPerEm, font["hmtx"].metrics
        return {chr(code): known[name][0] / em for code, name in font.getBestCmap().items()}
