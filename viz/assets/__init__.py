"""The browser side of the widgets: small ES modules and style sheets, read as text."""

from functools import cache
from importlib.resources import files


@cache
def source(name: str) -> str:
    """The text of one asset, for example "player.js"."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
