"""How each part of a drawing looks: rules that pages, images and painted files share.

A rule is (class of the group around, or "", class of the element, properties). Values that are
names of tokens become colours: variables in a page, plain colours in a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from viz.picture.theme import DASHES, EDGES, FONT_FAMILY, LARGE, MARKS, NAME, SMALL, TOKENS

FONTS = "var(--mg-font, Helvetica, Arial, sans-serif)"
Rule = tuple[str, str, Mapping[str, str]]


def _words(size: int, color: str, weight: int = 400) -> dict[str, str]:
    return {"font-size": f"{size}px", "fill": color, "font-weight": str(weight)}


SEEN = {"stroke": "paper", "stroke-width": "4", "paint-order": "stroke"}  # words on colours


def _outline(color: str, fill: str, width: float = 1, dashes: str = "none") -> dict[str, str]:
    look = {"stroke": color, "fill": fill, "stroke-width": str(width), "stroke-dasharray": dashes}
    return look | ({"stroke-linecap": "round"} if dashes == DASHES["dotted"] else {})


RULES: tuple[Rule, ...] = (
    ("", "mg-halo", {**_outline("now", "none", 3), "display": "none"}),
    ("mg-now", "mg-halo", {"display": "inline"}),
    ("", "mg-card", _outline("line", "card")),
    ("", "mg-ref-card", _outline("line", "paper")),
    ("", "mg-ref-name", _words(SMALL, "soft")),
    ("", "mg-frame", _outline("line", "none")),
    ("", "mg-frame-name", _words(SMALL, "soft")),
    ("", "mg-title", _words(LARGE, "ink", 600)),
    ("", "mg-what", _words(SMALL, "soft")),
    ("", "mg-name", _words(NAME, "ink")),
    ("", "mg-sign", _words(LARGE, "ink", 600)),
    ("", "mg-shape", _words(SMALL, "soft")),
    ("", "mg-value", _words(LARGE, "ink", 600)),
    ("", "mg-none", {**_words(SMALL, "soft"), "display": "none"}),
    ("", "mg-grad", _words(NAME, "grad", 600)),
    ("", "mg-del", _words(NAME, "grad", 600)),
    ("mg-pictured", "mg-value", _words(SMALL, "ink", 400)),
    ("mg-pictured", "mg-grad", _words(SMALL, "grad", 400)),
    ("", "mg-swatch", {"shape-rendering": "crispEdges"}),
    ("", "mg-sheet", {"fill": "paper"}),
    ("", "mg-rim", {**_outline("line", "none"), "stroke-opacity": "0.5"}),
    ("", "mg-zero", {"fill": "none", "stroke": "line"}),
    ("", "mg-above", {"fill": "none", "stroke": "run"}),
    ("mg-of-grad", "mg-above", {"fill": "none", "stroke": "grad"}),
    ("", "mg-below", {"fill": "none", "stroke": "below"}),
    ("", "mg-nan", {"fill": "none", "stroke": "bad"}),
    ("", "mg-infinite", {"fill": "none", "stroke": "ink"}),
    ("", "mg-said", {**_words(SMALL, "ink", 600), **SEEN}),
    ("", "mg-clock", _words(SMALL, "soft")),
    ("", "mg-edge-label", _words(SMALL, "soft")),
    ("", "mg-lane", {**_outline("grad", "none", 1.8), "display": "none"}),
    ("", "mg-lane-tip", {"fill": "grad"}),
    ("mg-back", "mg-lane", {"display": "inline"}),
    *(
        (f"mg-edge-{k}", "mg-line", _outline("soft", "none", 1.4, DASHES[x]))
        for k, x in EDGES.items()
    ),
    *((f"mg-edge-{k}", "mg-tip", {"stroke": "none", "fill": "soft"}) for k in EDGES),
    ("", "mg-done", {"display": "none"}),
    ("mg-part", "mg-card", _outline("run", "none", 2)),
    ("mg-part", "mg-done", {"display": "inline", "fill": "ran", "stroke": "none"}),
    ("mg-born", "mg-card", _outline("built", "none", 1.4, DASHES["dashed"])),
    ("mg-born", "mg-none", {"display": "inline"}),
    *(
        (f"mg-{kind}", "mg-card", _outline(m.color, m.fill, m.width, DASHES[m.line]))
        for kind, m in MARKS.items()
        if kind != "now"
    ),
    # A call in the card of a strip: by itself, whatever the state of the whole.
    ("", "mg-cell-card", _outline("line", "paper")),
    ("mg-cell-unborn", "mg-cell-card", {"display": "none"}),
    ("mg-cell-plan", "mg-cell-card", _outline("built", "paper", 1, "2 2")),
    ("mg-cell-part", "mg-cell-card", _outline("run", "paper", 1.4)),
    ("mg-cell-ran", "mg-cell-card", _outline("run", "run", 1)),
    ("mg-cell-back", "mg-cell-card", {"stroke": "grad", "stroke-width": "2"}),
    ("mg-cell-now", "mg-cell-card", {"stroke": "now", "stroke-width": "2.5"}),
    ("", "mg-word", _words(SMALL, "soft", 600)),
    *((f"mg-{kind}", "mg-word", {"fill": "built"}) for kind in ("new", "heir", "moved")),
    ("mg-changed", "mg-word", {"fill": "ink"}),
    ("mg-origin", "mg-word", {"fill": "bad"}),
    *((f"mg-{kind}", "mg-sign", {"fill": "soft"}) for kind in ("ghost", "gone", "idle")),
    # What was removed is the ground: its sign and its word are left. A double rim: several.
    *(("mg-gone", f"mg-{part}", {"display": "none"}) for part in ("name", "shape")),
    ("mg-gone", "mg-sign", {"font-weight": "400"}),
    ("mg-heir", "mg-halo", {"display": "inline", "stroke": "built", "stroke-width": "1.4"}),
    *((f"mg-{kind}", "mg-line", {"stroke": "line"}) for kind in ("ghost", "absent")),
    *((f"mg-{kind}", "mg-tip", {"fill": "line"}) for kind in ("ghost", "absent", "gone")),
    ("mg-gone", "mg-line", _outline("line", "none", 1.4, DASHES["dotted"])),
    ("mg-new", "mg-line", {"stroke": "built", "stroke-width": "2.2"}),
    ("mg-new", "mg-tip", {"fill": "built"}),
    ("mg-freed", "mg-card", _outline("line", "none", 1.8, DASHES["dotted"])),
    *(("mg-freed", f"mg-{part}", {"fill": "soft"}) for part in ("sign", "value", "grad", "del")),
    # Where it was born is filled and thick; where it went only has the colour.
    ("mg-bad", "mg-card", {"stroke": "bad", "stroke-width": "1.4", "stroke-dasharray": "none"}),
    ("mg-origin", "mg-card", {"stroke-width": "4"}),
    ("mg-bad", "mg-value", {"fill": "bad"}),
    ("mg-bad-back", "mg-grad", {"fill": "bad"}),
)

PAPER: Rule = ("", "mg-paper", {"fill": "paper"})
CLOCKS = ("built", "built"), ("run", "run"), ("gradient", "grad")
DOTS = [("built", "none", "built"), ("both", "built", "run"), ("run", "none", "run")]
DOTS += [("gradient", "none", "grad"), ("given", "none", "soft")]
# What pages do not draw as SVG: captions, the score, what travels, the light on a card.
FILMED: tuple[Rule, ...] = (
    ("mg-flow", "mg-line", {"stroke": "run", "stroke-width": "2"}),
    ("mg-flow", "mg-tip", {"fill": "run"}),
    ("", "mg-caption", _words(NAME, "ink")),
    ("", "mg-mark", _words(SMALL, "ink", 600)),
    ("", "mg-count", _words(NAME, "ink", 600)),
    ("", "mg-number", _words(SMALL, "ink", 600)),
    ("", "mg-number-grad", _words(SMALL, "grad", 600)),
    *(("", f"mg-tally_{clock}", _words(NAME, color, 600)) for clock, color in CLOCKS),
    ("", "mg-lit", {"fill": "lit", "stroke": "none"}),
    ("", "mg-axis", {**_outline("line", "none"), "stroke-opacity": "0.35"}),
    ("", "mg-life", {**_outline("run", "none", 3), "stroke-opacity": "0.6"}),
    ("", "mg-life-plan", {**_outline("built", "none", 3, "0.1 6"), "stroke-linecap": "round"}),
    ("", "mg-stair-build", _outline("built", "none", 2, DASHES["dashed"])),
    *(("", f"mg-stair-{kind}", _outline("run", "none", 2)) for kind in ("run", "both")),
    ("", "mg-stair-backward", _outline("grad", "none", 2)),
    ("", "mg-code", _words(SMALL, "ink")),
    ("mg-asked", "mg-card", _outline("grad", "none", 1.4, DASHES["dashed"])),
    ("mg-dot-declared", "mg-card", _outline("soft", "none", 1.4, "3 2.4")),
    ("mg-dot-seed", "mg-card", {**_outline("grad", "grad", 1.6), "fill-opacity": "0.24"}),
    ("mg-cover", "mg-card", _outline("none", "paper")),
    ("mg-ring", "mg-card", _outline("built", "paper", 2, "4 3")),
    ("mg-small-ring", "mg-card", _outline("built", "paper", 1.4, "2 1.8")),
    ("mg-at-once", "mg-card", _outline("built", "ran", 1.4, DASHES["dashed"])),
    *((f"mg-dot-{kind}", "mg-card", _outline(line, fill, 1.3)) for kind, line, fill in DOTS),
    ("", "mg-head", _outline("now", "none", 2)),
    ("mg-travels", "mg-chip", _outline("run", "paper", 1.5)),
    ("mg-travels", "mg-chip-text", _words(NAME, "ink", 600)),
    ("mg-returns", "mg-chip", _outline("grad", "paper", 1.5)),
    ("mg-returns", "mg-chip-text", _words(NAME, "grad", 600)),
    ("mg-passed", "mg-card", _outline("grad", "paper", 1.6)),
)


def page_style() -> str:
    """Return the rules for a page, whose colours are variables from `variables`."""
    written = [_rule(".mg-svg", rule, lambda token: f"var(--mg-{token})") for rule in RULES]
    return "\n".join([f".mg-svg text {{ font-family: {FONTS}; }}", *written]) + "\n"


def variables() -> str:
    """Return the tokens as CSS variables of a page, for light | dark paper."""
    return " ".join(f"--mg-{k}: light-dark({a}, {b});" for k, (a, b) in TOKENS.items())


def file_style(svg: str, dark: bool | None = None) -> str:
    """Return the rules for a standalone drawing; dark: None, follow the viewer's theme."""
    worn = {"", *(x for names in re.findall(r'class="([^"]*)"', svg) for x in names.split())}
    rules = [rule for rule in (*RULES, *FILMED) if worn.issuperset(rule[:2])]
    hues = [(a, b, {k: v for k, v in x.items() if k in ("fill", "stroke")}) for a, b, x in rules]
    drawn, night = (
        "\n".join(
            _rule("", rule, {k: v[i] for k, v in TOKENS.items()}.__getitem__) for rule in all_
        )
        for i, all_ in ((bool(dark), [PAPER, *rules]), (True, [PAPER, *(h for h in hues if h[2])]))
    )
    # Ours first: Chrome shapes a text before it has a font that comes later, and keeps the boxes.
    family = f"text {{ font-family: '{FONT_FAMILY}', Helvetica, Arial, sans-serif; }}\n"
    if dark is not None:
        return family + drawn
    return f"{family}{drawn}\n@media (prefers-color-scheme: dark) {{\n{night}\n}}"


def resolved(groups: Iterable[str], element: str, dark: bool = False) -> dict[str, str]:
    """Return the style of an element of this class inside groups of these classes."""
    around = {"", *groups}
    found: dict[str, str] = {}
    for group, name, properties in (*RULES, *FILMED):
        if name == element and group in around:
            found.update(properties)
    return {k: TOKENS[v][dark] if v in TOKENS else v for k, v in found.items()}


def _rule(before: str, rule: Rule, color: Callable[[str], str]) -> str:
    group, element, properties = rule
    where = " ".join(filter(None, (before, f".{group}" if group else "", f".{element}")))
    rules = "; ".join(f"{k}: {color(v) if v in TOKENS else v}" for k, v in properties.items())
    return f"{where} {{ {rules}; }}"
