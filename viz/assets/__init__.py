"""The browser side of the widgets: small ES modules and style sheets, read as text."""

import re
from functools import cache
from importlib.resources import files

TYPES = re.compile(
    r" */\*\*.*?\*/\n?", re.DOTALL
)  # what the checker of types reads, not the browser


@cache
def source(name: str) -> str:
    """The text of one asset, for example "player.js"."""
    return TYPES.sub("", files(__name__).joinpath(name).read_text(encoding="utf-8"))
