"""What all widgets of frames share: their state, their text, and the page that needs no kernel."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from abc import ABCMeta, abstractmethod
from html import escape
from pathlib import Path
from typing import Any, cast

import anywidget
import traitlets

from minigrad.diagnostics.messages import choose, get_language
from viz.picture.fonts import font_face
from viz.words.text import ROWS, Pair, bilingual, both
from viz.words.user import write

# Nothing in the data may end the script that holds it; the harmless parts of a drawing stay short.
MARKUP = re.compile(r"<(?!/?(?:g|path|text|polygon|rect|tspan|title|tr|td)\b)")


SHEETS = ("theme", "player", "diagram", "language")  # what every page needs


class AbstractWidget(type(anywidget.AnyWidget), ABCMeta):  # type: ignore[misc]
    """So that a widget that lacks a method is refused when it is made."""


class Page(anywidget.AnyWidget, metaclass=AbstractWidget):
    """A widget that the kernel sends all its content once, and that the browser plays.

    `data` is the content as plain JSON, `index` the step that is shown. A notebook without widgets
    shows `_still()`, a terminal `text()`.
    """

    data = traitlets.Dict().tag(sync=True)
    index = traitlets.Int(0).tag(sync=True)
    heading: Pair = ROWS["page"]  # of a saved page

    @abstractmethod
    def text(self) -> Pair:
        """Everything it tells, as text in both languages."""

    @abstractmethod
    def _still(self) -> str:
        """What a page without widgets shows."""

    def save(self, path: str | Path) -> Path:
        """Write one HTML file that plays without a kernel and without a network."""
        target = Path(path)
        data = json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))
        data = MARKUP.sub(r"\\u003c", data)
        module = self._esm.replace("export default", "const widget =")
        script = SCRIPT.format(module=module, data=data, index=self.index)
        page = PAGE.format(
            policy=POLICY.format(digest=_digest(script)),
            title=escape(both(self.heading)),
            heading=bilingual(self.heading),
            css=font_face(script + both(self.heading)) + self._css,
            script=script,
            language=get_language(),
        )
        write(target, page)
        return target

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = cast(Any, super()._repr_mimebundle_(**kwargs))
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = choose(self.text(), "\n\n")
        data["text/html"] = self._still()
        return bundle


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


# This one script and no other, pictures and fonts that the page brings along, and no network.
POLICY = (
    "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
)
PAGE = """<!DOCTYPE html>
<html lang="en" data-mg-font="inline"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body, header > button {{ margin: 0.5rem; font-family: var(--mg-font); }}
h1 {{ font-size: 1.2rem; margin: 0.5rem 0; }}
{css}</style></head>
<body data-mg-page data-mg-language="{language}"><header id="languages"></header>
<main><h1>{heading}</h1><div id="page"></div></main>
<script type="module">{script}</script></body></html>
"""
SCRIPT = """
{module}
for (const code of ["en", "zh", "both"]) {{
  const choice = document.createElement("button");
  choice.textContent = {{ en: "English", zh: "中文", both: "English + 中文" }}[code];
  choice.onclick = () => {{ document.body.dataset.mgLanguage = code; }};
  document.getElementById("languages").append(choice, " ");
}}
const values = {{ data: {data}, index: {index} }};
const model = {{ get: (k) => values[k], set: (k, v) => {{ values[k] = v; }},
  save_changes() {{}}, on() {{}}, off() {{}}, send() {{}} }};
widget.render({{ model, el: document.getElementById("page") }});
"""
