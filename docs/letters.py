"""The fonts of a picture that is a file of its own: cut to the letters that it shows."""

from __future__ import annotations

import re
from html import unescape

from viz.picture.fonts import _latin_rules, _piece


def font_rules(svg: str) -> str:
    """Return style rules with the letters of a picture, Latin ones in both weights.

    A page may come to show any letter, so `font_face` gives it all of ASCII; a picture can't.
    """
    shown = unescape(re.sub("<style>.*?</style>|<[^>]*>", "", svg, flags=re.DOTALL))
    letters = {c for c in shown if ord(c) > 31}
    plain = {c for c in letters if ord(c) < 256}
    return _latin_rules("".join(sorted(plain))) + _piece("".join(sorted(letters - plain)))
