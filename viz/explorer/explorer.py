"""The explorer: a whole model on one screen, opened module by module, in the browser."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from minigrad.diagnostics.errors import GraphError
from minigrad.diagnostics.messages import choose, one_line
from viz import assets
from viz.explorer.content import Content
from viz.page.page import Page
from viz.page.sheets import sheets
from viz.words.text import ROWS, Pair, bilingual, html, row

# The browser's half, in the order in which they need each other.
MODULES = (
    *("widget", "keys", "atlas_model", "atlas_layout", "atlas_pen", "atlas_cards"),
    *("atlas_arrows", "atlas", "atlas_score", "atlas_inspector", "explorer"),
)


class Explorer(Page):
    """A model that was played forward and backward: an atlas of its modules and operators.

    content: what was seen; verdict: how far it is from the original; heading: its inputs.
    """

    _esm = "".join(assets.source(f"{name}.js") for name in MODULES)
    _css = sheets("theme", "language", "explorer")

    def __init__(self, content: Content, verdict: Pair | None = None, focus: str = "") -> None:
        sent = {**content.data, "words": words(), "heading": list(_about(content.data))}
        more = {"verdict": verdict and [*verdict], "start": focus and content.node_of(focus)}
        sent |= {key: value for key, value in more.items() if value}
        self.verdict = verdict
        self.error: GraphError | None = None  # what a model raised
        super().__init__(data=sent)

    def __repr__(self) -> str:
        failed = [] if self.error is None else [one_line(str(self.error))]
        return ": ".join([type(self).__name__, choose(self._title()), *failed])

    def _title(self) -> Pair:
        name, (english, chinese) = self.data["name"], self.data["heading"]
        return f"{name}: {english}", f"{name}：{chinese}"

    def text(self) -> Pair:
        """Return the modules with their results and gradients, and the findings, as text."""
        lines = [list(self._title()), *([text, text] for text in map(self._line, self._top()))]
        lines += [finding["text"] for finding in self.data["findings"]]
        lines += [list(said) for said in (self.data.get("failure"), self.verdict) if said]
        return "\n".join(line[0] for line in lines), "\n".join(line[1] for line in lines)

    def _top(self) -> list[dict[str, Any]]:
        return [self.data["nodes"][i] for i in self.data["nodes"][0].get("children", ())]

    def _line(self, node: dict[str, Any]) -> str:
        """Describe a module in one line of text: its name, its class, the shape, |∂y|."""
        last = self.data["operators"][node["b"] - 1]
        shape = "×".join(map(str, last["shape"]))
        name, kind = node.get("name") or last["op"], node.get("kind")
        if node.get("repeats"):
            name = f"{name} ×{len(node['children'])}"
            kind = kind or self.data["nodes"][node["children"][0]]["kind"]
        line = f"{name}: {kind or last['op']} → [{shape}]"
        gradient = self.data["portraits"][last["g"]].get("norm") if "g" in last else None
        return line if gradient is None else f"{line}, |∂y| {gradient}"

    def _still(self) -> str:
        lines = "".join(f"<li>{escape(self._line(node))}</li>" for node in self._top())
        found = "".join(f"<li>{bilingual(f['text'])}</li>" for f in self.data["findings"])
        return (
            f'<figure class="mg-still"><figcaption>{bilingual(self._title())}</figcaption>'
            f"<ol>{lines}</ol><p>{html('explorer_worth_a_look')}</p><ul>{found}</ul></figure>"
        )


def words() -> dict[str, list[str]]:
    """Return the texts that the JavaScript half reads: "legend", or all with prefix "mark_"."""
    requested = {*re.findall(r'["`](\w+)', Explorer._esm)}
    begun = tuple(name for name in requested if name.endswith("_"))
    known = {key[9:]: [*pair] for key, pair in ROWS.items() if key.startswith("explorer_")}
    return {name: known[name] for name in known if name in requested or name.startswith(begun)}


def _about(data: dict[str, Any]) -> Pair:
    """Describe the shapes of the inputs and the number of parameters."""
    shapes = ", ".join("×".join(map(str, x["shape"])) or "·" for x in data["inputs"])
    key = "explorer_about_failed" if "failed" in data else "explorer_about"
    count = _short_count(sum(p["size"] for p in data["parameters"] if p.get("kept") != "buffer"))
    ran = data.get("failed", len(data["operators"]))
    return row(key, shapes=shapes or "–", count=count, operators=ran)


def _short_count(count: int) -> str:
    units = (10**9, " G"), (10**6, " M"), (10**3, " k"), (1, "")
    return next(f"{count / size:.3g}{unit}" for size, unit in units if max(count, 1) >= size)
