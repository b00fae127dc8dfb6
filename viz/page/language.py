"""The language of a page: `viz.language()`, and the switch that a reader clicks.

Both languages are in the page, in elements with `lang`; style rules hide one of them. The switch
changes them in the browser and notifies the kernel, so that what is printed later follows.

A notebook begins in the language that the reader chose last; before any choice, in that of
JupyterLab or the browser, which the switch reports, and until then in the terminal's.
"""

from __future__ import annotations

import os
import re
from typing import Any, cast

import anywidget
import traitlets
from IPython import get_ipython
from IPython.display import display

from minigrad.diagnostics import messages
from minigrad_lessons import terminal
from viz import assets
from viz.page.document import SHEETS
from viz.page.sheets import sheets
from viz.page.stored import with_fallback
from viz.picture import theme
from viz.words import user_files
from viz.words.text import row, row_text

__all__ = ["language"]

CODES = ["en", "zh", "both"]


class LanguageSwitch(anywidget.AnyWidget):
    """Three buttons, English, 中文 and both, for the notebook that they are in."""

    _esm = assets.source("language.js")
    # Without spaces, as each notebook is saved with it.
    _css = re.sub(r"\s*([{};])\s*|(?<=[:,]) ", r"\1", sheets(*SHEETS, drawings=False))
    language = traitlets.Enum(CODES, "en").tag(sync=True)
    guessed = traitlets.Bool(False).tag(sync=True)  # the browser may know better
    label: traitlets.List[Any] = traitlets.List(list(row("language"))).tag(sync=True)

    def __init__(self) -> None:
        self._requested: str | None = None  # what the latest line of code requested
        self._choice: dict[str, Any] = {}  # what the reader chose, instead of what was requested
        self._following = False
        super().__init__()
        self.on_msg(self._answer)

    @traitlets.observe("language", "guessed")
    def _follow(self, change: Any) -> None:
        messages.set_language(cast(Any, self.language))
        if not self._following:
            kind = "guess" if self.guessed else "language"
            self._keep({kind: self.language, "instead": self._requested})

    def _keep(self, choice: dict[str, Any]) -> None:
        self._choice = choice
        user_files.choose("language", choice)

    def follow(self, code: str | None) -> None:
        """Switch to the language a line requests, unless the reader chose another one instead.

        The choice holds in every notebook of the folder, until a line requests another one. A
        line without a code requests the choice, or else the reader's first language.
        """
        kept = user_files.choices().get("language", self._choice)
        choice = kept if isinstance(kept, dict) else {}
        chosen = choice.get("language") if code in (None, choice.get("instead")) else None
        chosen = chosen if chosen in CODES else code
        if code is not None and choice.get("instead") != code:
            self._keep({"language": chosen, "instead": code})
        self._requested, self._following = code, True
        self.guessed = chosen is None and "MINIGRAD_LANGUAGE" not in os.environ
        guess = choice.get("guess") if self.guessed else None  # holds until a browser reports
        self.language = chosen or (guess if guess in CODES else terminal.language())
        self._following = False
        messages.set_language(cast(Any, self.language))

    def _answer(self, widget: Any, message: dict[str, Any], buffers: Any) -> None:
        """Send the Chinese font, once, to the browser; it is not part of the saved notebook."""
        if message.get("kind") == "font":
            self.send({"kind": "font"}, [theme.FONT_PATH.read_bytes()])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = cast(Any, super()._repr_mimebundle_(**kwargs))
        # without a kernel there is no switch, and a style rule alone shows the chosen language
        rules = assets.style(_fallback_rules(self.language))
        return with_fallback(bundle, messages.choose(row("language_set")), rules)


def _fallback_rules(language: str) -> str:
    """Return the style for one language, for a page without a working language switch."""
    page = ":is(.jp-Notebook, body):not([data-mg-language])"
    return sheets(*SHEETS, drawings=False).replace(f'[data-mg-language="{language}"]', page)


_switch: LanguageSwitch | None = None


def language(code: str | None = None) -> None:
    """Show and speak English ("en"), Chinese ("zh") or "both", from here on.

    Without a code, the language that was chosen last, in any notebook of the folder; before any
    choice, the reader's own: that of JupyterLab or the browser. Anything else is a ValueError.

    In a notebook the switch is displayed, with which the reader changes it at any time: prose,
    widgets, captions and charts follow at once, what is printed follows from the next run on. A
    choice stays when the cell runs again, after a restart, and in the next notebook.

    >>> import minigrad as mg
    >>> language("zh")
    >>> str(mg.ShapeError("reshape", op="Reshape", count=6, shape=(2, 3), target=(4,)))[:12]
    'Reshape：形状 ('
    >>> language("en")
    """
    global _switch
    if code is not None and code not in CODES:
        raise ValueError(row_text("language_unknown", value=repr(code)))
    if get_ipython() is None:
        messages.set_language(cast(Any, code or terminal.language()))
        return
    if _switch is None:
        _switch = LanguageSwitch()
    _switch.follow(code)
    display(_switch)  # type: ignore[no-untyped-call]
