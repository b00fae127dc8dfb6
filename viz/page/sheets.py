"""The style sheets of widgets and pages: the tokens, how drawings look, then what each needs."""

from __future__ import annotations

from viz import assets
from viz.picture.look import page_style, variables

WIDGETS = ":is(.mg-player, .mg-ask, .mg-language, .mg-shown, body[data-mg-page])"


def sheets(*names: str, drawings: bool = True) -> str:
    """Return the text of these style sheets, after the tokens and, if any, that of drawings."""
    first = f"{WIDGETS} {{ {variables()} }}\n{page_style() if drawings else ''}"
    return first + "".join(assets.source(f"{name}.css") for name in names)
