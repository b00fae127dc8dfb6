"""A standalone page: one HTML file that loads nothing, for whatever is shown.

Widgets bring a script along, everything else is HTML that needs none; title, languages, style and
policy are the same for all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from minigrad.diagnostics.messages import choose, get_language, well_formed
from viz import assets
from viz.page.sheets import sheets
from viz.picture.fonts import font_face
from viz.picture.theme import FONT_FAMILY
from viz.words.text import Pair, bilingual, both
from viz.words.user import ending, write

# Nothing in the data may end what holds it; the harmless parts of a drawing stay short.
DRAWN = "svg|g|path|text|tspan|rect|title|span|table|thead|tbody|tr|td|th"
ENDS = re.compile(rf"<(?!/?(?:{DRAWN})\b)|`|\$(?={{)")
# What stands between numbers, which is what repeats; "mg3a-" begins ids.
BETWEEN = re.compile(r"(?:[^-\d.,]|(?<=mg)\d+(?=[a-f]-)|(?<=\d[a-f])-){5,}")
SIGNS = range(0xE000, 0xF900)  # letters that mean nothing by themselves
# This one script and no other, pictures and fonts that the page brings along, and no network.
POLICY = (
    "default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
    "img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
)
PAGE = """<!DOCTYPE html>
<html lang="{lang}" data-mg-font="inline"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{css}</style></head>
<body data-mg-page data-mg-language="{language}"><header id="languages"></header>
<main><h1>{heading}</h1><div id="page">{body}</div>{note}</main>
<script type="module">{script}</script></body></html>
"""
# Spaces at which no heading breaks: rather after its colon than before it, or in a formula.
TIED = re.compile(r"(?<=\d) (?=[A-Za-z])| (?== |[^:<>]{0,27}: )|(?<=\w = )[^<:]{1,28}(?=<|$)")
SHEETS = ("theme", "language", "shown", "ask")  # of what is shown as plain HTML
STYLE = sheets(*SHEETS, "page")


def write_page(
    path: str | Path,
    heading: Pair,
    body: str = "",
    note: Pair | None = None,
    css: str = STYLE,
    module: str = "",
    values: Mapping[str, Any] | None = None,
) -> Path:
    """Write one HTML file that opens anywhere, without a kernel and without a network.

    body: HTML in both languages; note: a sentence beneath. module: instead of a body the script of
    a widget, whose `values`, as plain JSON, it shows. ValueError where the name ends in no .html.
    """
    target = Path(path)
    ending(target, (".html", ".htm"))
    fields = {"titles": [heading[0], heading[1], both(heading)], **(values or {})}
    script = well_formed(_script(module, fields))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    language = get_language()
    page = PAGE.format(
        policy=POLICY.format(digest=digest),
        title=escape(choose(heading, " / ")),
        heading=TIED.sub(lambda found: found[0].replace(" ", "\xa0"), bilingual(heading)),
        lang="zh-Hans" if language == "zh" else "en",
        language=language,
        css=font_face(script + body + both(heading) + both(note or heading), latin=True) + css,
        body=body,
        note=f'<p class="mg-page-note">{bilingual(note)}</p>' if note else "",
        script=script,
    )
    write(target, page)
    return target


def _script(module: str, values: dict[str, Any]) -> str:
    """Return the script of the page, and of the widget if there is one."""
    program = values.get("fill", {}).pop("program", "null")  # a part of the script, not of its data
    data = packed(values)
    widget = module.replace("export default", "const widget =") or "const widget = null;"
    own = "".join(assets.source(f"{name}.js") for name in ("recompute", "page"))
    return f"{own}\n{widget}\nopenPage(widget, String.raw`{data}`, {program});\n"


def packed(values: Any) -> str:
    """Encode values as JSON that a script may contain, with signs for repeated pieces.

    The pieces are lines below, in the order of their signs; `page.js` puts them back.
    """
    data = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    data = ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", data)
    if any(ord(c) in SIGNS for c in set(data)):
        return data
    counts = Counter(BETWEEN.findall(data))
    gains = {piece: (count - 1) * (len(piece) - 3) - 4 for piece, count in counts.items()}
    pieces = sorted((p for p, gain in gains.items() if gain > 0), key=gains.__getitem__)
    signs = {piece: chr(sign) for sign, piece in zip(SIGNS, reversed(pieces), strict=False)}
    return "\n".join([BETWEEN.sub(lambda found: signs.get(found[0], found[0]), data), *signs])


# A notebook on dark paper, and on light paper, as JupyterLab and VS Code say it.
DARK = (
    ':is([data-jp-theme-light="false"], .vscode-dark, '
    ".vscode-high-contrast:not(.vscode-high-contrast-light))"
)
LIGHT = ':is([data-jp-theme-light="true"], .vscode-light, .vscode-high-contrast-light)'
# Of what no style sheet reaches.
FONT = f"font-family:var(--mg-font,Helvetica,Arial,'{FONT_FAMILY}',sans-serif)"
LEFT = 'style="text-align:left;vertical-align:top"'


def table_html(
    head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", cells: str = LEFT
) -> str:
    """Return a table of cells that are HTML already; the first of each row names it."""
    top = "".join(f'<th scope="col" {cells}>{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row" {LEFT}>{first}</th>'
        + "".join(f"<td {cells}>{cell}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    said = f'<caption style="text-align:left;white-space:nowrap">{caption}</caption>'
    return (
        f'<table class="mg-shown" style="{FONT}">{said if caption else ""}'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    )


class Document:
    """An object that shows itself as HTML without scripts, and saves it as a standalone page."""

    def _page(self) -> tuple[Pair, str]:
        """Return what it shows, in a few words, and its HTML, both in both languages."""
        raise NotImplementedError

    def save(self, path: str | Path) -> Path:
        """Write one HTML file, .html, that shows it without a kernel and without a network."""
        return write_page(path, *self._page())
