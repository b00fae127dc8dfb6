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


def words(*modules: str) -> list[str]:
    """Return the rows of the table of texts that these modules show."""
    script = "".join(source(f"{name}.js") for name in modules)
    return sorted(set(re.findall(r"\b(?:words|labels)\.(\w+)", script)))


def style(css: str) -> str:
    """Return a style element for an output.

    Style sheets skip the signs of a comment. A program that strips the tag, as sanitizers of HTML
    do, finds a comment in its place, and shows none of it.
    """
    return f"<style><!--\n{css}\n--></style>"
