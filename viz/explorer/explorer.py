"""The explorer: a whole model on one screen, opened module by module, in the browser."""

from __future__ import annotations

from html import escape
from typing import Any

from minigrad.diagnostics.errors import GraphError
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
WORDS = (
    "explorer_input", "explorer_scalar", "explorer_stopped", "explorer_not_finite",
    "explorer_zeros", "explorer_with_parameters", "explorer_with_operators", "explorer_forward",
    "explorer_backward", "explorer_column_params", "explorer_column_time", "explorer_column_kept",
    "explorer_column_weights", "explorer_spread", "explorer_returned", "explorer_share_of_zeros",
    "explorer_no_flow", "explorer_cost", "explorer_operators", "explorer_from_to",
    "explorer_mean_spread", "explorer_norm", "explorer_zero_elements", "explorer_broken_elements",
    "explorer_worth_a_look", "explorer_checked", "explorer_legend", "explorer_legend_planned",
    "explorer_legend_ran", "explorer_legend_now", "explorer_legend_back", "explorer_legend_value",
    "explorer_legend_gradient", "explorer_in_out", "explorer_gradient_of_output",
    "explorer_not_yet", "explorer_weights", "explorer_mark_frozen", "explorer_mark_buffer",
    "explorer_mark_cut", "explorer_mark_box", "explorer_formula", "explorer_line",
    "explorer_close", "explorer_said_failed", "explorer_said_start", "explorer_said_finished",
    "explorer_said_finished_forward", "explorer_said_hint", "explorer_said_back",
    "explorer_said_forward", "explorer_canvas", "explorer_score", "explorer_crumbs",
    "explorer_to_first", "explorer_to_back", "explorer_to_play", "explorer_to_forward",
    "explorer_to_last", "explorer_about_selected", "explorer_keys", "explorer_width",
    "explorer_own_times", "explorer_legend_figures", "explorer_from_outputs",
)  # fmt: skip


class Explorer(Page):
    """A model that was played forward and backward: an atlas of its modules and operators.

    content: what was seen; verdict: how far it is from the original; heading: its inputs.
    """

    _esm = "".join(assets.source(f"{name}.js") for name in MODULES)
    _css = sheets("theme", "language", "explorer")

    def __init__(self, content: Content, verdict: Pair | None = None, focus: str = "") -> None:
        texts = {key.removeprefix("explorer_"): list(ROWS[key]) for key in WORDS}
        heading = _about(content.data)
        sent = {**content.data, "words": texts, "heading": list(heading)}
        if verdict is not None:
            sent["verdict"] = list(verdict)
        if focus:
            sent["start"] = content.node_of(focus)
        self.verdict = verdict
        self.error: GraphError | None = None  # what a model raised
        super().__init__(data=sent)

    def _title(self) -> Pair:
        name = self.data["name"]
        english, chinese = self.data["heading"]
        return f"{name}: {english}", f"{name}：{chinese}"

    def text(self) -> Pair:
        """The modules with what they gave and what came back, and what is worth a look."""
        lines = [list(self._title())]
        for node in self.data["nodes"][:1] and self._top():
            told = self._line(node)
            lines.append([told, told])
        lines += [finding["text"] for finding in self.data["findings"]]
        lines += [list(said) for said in (self.data.get("failure"), self.verdict) if said]
        return "\n".join(line[0] for line in lines), "\n".join(line[1] for line in lines)

    def _top(self) -> list[dict[str, Any]]:
        nodes = self.data["nodes"]
        return [nodes[i] for i in nodes[0].get("children", ())]

    def _line(self, node: dict[str, Any]) -> str:
        """A module in one line of text: its name, its class, the shape, |∂|."""
        last = self.data["operators"][node["b"] - 1]
        shape = "×".join(map(str, last["shape"]))
        name, kind = node.get("name") or last["op"], node.get("kind")
        if node.get("repeats"):
            name = f"{name} ×{len(node['children'])}"
            kind = kind or self.data["nodes"][node["children"][0]]["kind"]
        told = f"{name}: {kind or last['op']} → [{shape}]"
        gradient = self.data["portraits"][last["g"]].get("norm") if "g" in last else None
        return told if gradient is None else f"{told}, |∂| {gradient}"

    def _still(self) -> str:
        lines = "".join(f"<li>{escape(self._line(node))}</li>" for node in self._top())
        found = "".join(f"<li>{bilingual(f['text'])}</li>" for f in self.data["findings"])
        head = html("explorer_worth_a_look")
        return (
            f'<figure class="mg-still"><figcaption>{bilingual(self._title())}</figcaption>'
            f"<ol>{lines}</ol><p>{head}</p><ul>{found}</ul></figure>"
        )


def _about(data: dict[str, Any]) -> Pair:
    """The shapes of the inputs and the number of parameters, in a few words."""
    shapes = ", ".join("×".join(map(str, x["shape"])) or "·" for x in data["inputs"])
    count = sum(p["size"] for p in data["parameters"])
    return row(
        "explorer_about",
        shapes=shapes,
        count=_amount(count),
        operators=data.get("failed", len(data["operators"])),
    )


def _amount(count: int) -> str:
    for size, unit in ((10**9, " G"), (10**6, " M"), (10**3, " k")):
        if count >= size:
            return f"{count / size:.3g}{unit}"
    return str(count)
