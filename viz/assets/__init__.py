"""The browser side of the widgets: small ES modules and style sheets, read as text."""

import re
from functools import cache
from importlib.resources import files

# What people and the checker of types read, not the browser: types, comments, indentation.
UNREAD = re.compile(r" */\*(?s:.*?)\*/\n?|^ *// .*\n|^ +", re.MULTILINE)


@cache
def source(name: str) -> str:
    """Return the text of one asset, for example "player.js"."""
    return UNREAD.sub("", files(__name__).joinpath(name).read_text(encoding="utf-8"))
