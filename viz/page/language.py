"""The language of a page: `viz.language("zh")`, and the switch that a reader clicks.

Both languages are in the page, in elements with `lang`; style rules hide one of them. The switch
changes them in the browser and tells the kernel, so that what is printed later follows.
"""

from __future__ import annotations

import sys
from typing import Any, cast

import anywidget
import traitlets
from IPython import get_ipython
from IPython.display import display

from minigrad.diagnostics import messages
from viz import assets
from viz.page.document import SHEETS
from viz.page.sheets import sheets
from viz.picture import theme
from viz.words.text import printed, row

__all__ = ["language"]


class LanguageSwitch(anywidget.AnyWidget):
    """Three buttons, English, 中文 and both, for the notebook that they stand in."""

    _esm = assets.source("language.js")
    _css = sheets(*SHEETS)
    language = traitlets.Enum(["en", "zh", "both"], "en").tag(sync=True)
    label: traitlets.List[Any] = traitlets.List(list(row("language"))).tag(sync=True)

    def __init__(self) -> None:
        self._chosen = False  # by the reader, since a line of code last did
        self._asked: set[object] = set()
        super().__init__()
        self.on_msg(self._answer)

    @traitlets.observe("language")
    def _follow(self, change: Any) -> None:
        self._chosen = True
        messages.set_language(change["new"])

    def follow(self, code: str, line: tuple[str, int]) -> None:
        """Change to what a line asks for, unless it did before and the reader has chosen since."""
        if not (self._chosen and (code, line) in self._asked):
            self.language = code
            messages.set_language(cast(Any, code))
            self._chosen = False
        self._asked.add((code, line))

    def _answer(self, widget: Any, message: dict[str, Any], buffers: Any) -> None:
        """The browser asks for the Chinese font once; it is not part of the saved notebook."""
        if message.get("kind") == "font":
            self.send({"kind": "font"}, [theme.FONT_PATH.read_bytes()])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = cast(Any, super()._repr_mimebundle_(**kwargs))
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        # without a kernel there is no switch, and a style rule alone shows the chosen language
        data["text/html"] = f"<style>{_fallback_rules(self.language)}</style>"
        data["text/plain"] = messages.choose(row("language_set"))
        return bundle


def _fallback_rules(language: str) -> str:
    """The style, with one language, for a page on which no switch is alive."""
    page = ":is(.jp-Notebook, body):not([data-mg-language])"
    return sheets(*SHEETS).replace(f'[data-mg-language="{language}"]', page)


_switch: LanguageSwitch | None = None


def language(code: str) -> None:
    """Show and speak English ("en"), Chinese ("zh") or "both", from here on.

    Anything else is a ValueError.

    In a notebook the switch is displayed, with which the reader changes it at any time: prose,
    widgets, captions and charts follow at once, what is printed follows from the next run on. What
    the reader has chosen stays when the same cell runs again.

    >>> import minigrad as mg
    >>> language("zh")
    >>> str(mg.ShapeError("reshape", op="Reshape", count=6, shape=(2, 3), target=(4,)))[:12]
    'Reshape：形状 ('
    >>> language("en")
    """
    global _switch
    if code not in ("en", "zh", "both"):
        raise ValueError(printed("language_unknown", value=repr(code)))
    if get_ipython() is None:
        messages.set_language(cast(Any, code))
        return
    if _switch is None:
        _switch = LanguageSwitch()
    caller = sys._getframe(1)  # a cell that runs again has the name of its text
    _switch.follow(code, (caller.f_code.co_filename, caller.f_lineno))
    display(_switch)  # type: ignore[no-untyped-call]
