"""Picture → DOT text → a drawing that a page can show."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from typing import Any

import graphviz

from viz.picture.fonts import font_face
from viz.picture.layout import FONTS, LayoutError, layout
from viz.picture.paint import paint
from viz.picture.picture import Picture, PictureNode
from viz.picture.theme import EDGES, STYLES

LAYOUT_LIMIT = 1500  # nodes; above, the layout takes many seconds and nothing can be read
NAME_LIMIT = 40  # characters of a label; the whole name stays in the table
WIDTH = 9  # characters of a value, unless told otherwise
LINE_LIMIT = 160  # characters of a tooltip
UNFIT = re.compile(r"[^ -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+")  # for a line of XML
PLACES = re.compile(r' (?:d|points|[cr]?[xy]|transform)="[^"]*"')  # numbers nobody reads
COMMENT = re.compile(r"<!-- [^>]*? -->\n")


INK, PAPER, QUIET = "#f0f0f0", "#1c1c1c", "#9e9e9e"  # of the dark theme, as in player.css
# What is written and drawn on the paper; what stands on a fill keeps its own colour.
DARK = (
    "@media (prefers-color-scheme: dark) {"
    f".graph > polygon {{ fill: {PAPER}; }}"
    f":is(.graph > text, .cluster text, .edge text) {{ fill: {INK}; }}"
    f".cluster :is(path, polygon) {{ stroke: {QUIET}; }}"
    f':is(.node, .edge) [stroke="black"] {{ stroke: {INK}; }}'
    f'.edge [fill="black"] {{ fill: {INK}; }}'
    "}"
)


def dot(
    picture: Picture,
    prefix: str,
    values: bool | Mapping[str, int] = False,
    rankdir: str = "LR",
    ranksep: float = 0.3,
    title: str = "",
) -> str:
    """The picture in the DOT language.

    Every id in the drawing begins with `prefix`. With `values` each box has an empty line, which
    the player fills with the node's value; a mapping tells for each node how many characters wide.
    """
    graph = graphviz.Digraph(
        graph_attr={
            "rankdir": rankdir,
            "bgcolor": "white",
            "nodesep": "0.25",
            "ranksep": str(ranksep),
            "pad": "0.3,0.25" if values else "0.1",
            **({"label": _plain(title, LINE_LIMIT), "labelloc": "t"} if title else {}),
            "fontname": FONTS,
        },
        node_attr={"fontname": FONTS, "fontsize": "13", "style": "filled", "height": "0.4"},
        edge_attr={"fontname": FONTS, "fontsize": "10", "arrowsize": "0.7"},
    )
    shapes = {n.id: n.shape for n in picture.nodes}
    names = {n.id: n.label for n in picture.nodes}
    clusters = {path: _cluster(prefix, i, path) for i, path in enumerate(picture.groups)}
    for node in picture.nodes:
        style = STYLES["output" if node.is_output and node.kind == "operator" else node.kind]
        width = values.get(node.id, WIDTH) if isinstance(values, Mapping) else WIDTH * values
        clusters.get(node.group, graph).node(
            node.id,
            label=_label(node, width),
            id=f"{prefix}-{node.id}",
            tooltip=_plain(node.line or node.label, LINE_LIMIT),
            shape=STYLES[node.kind].shape,
            fillcolor=style.fill,
            fontcolor=style.text,
            peripheries="2" if node.is_output else "1",
            **({"labelloc": "b"} if STYLES[node.kind].shape == "cylinder" else {}),  # below its lid
        )
    for path, cluster in reversed(clusters.items()):  # inner ones first: they are copied
        clusters.get(path.rpartition("/")[0], graph).subgraph(cluster)
    for edge in picture.edges:
        style_of_edge = EDGES[edge.kind]
        shape = edge.shape if edge.shape not in ("()", "?", shapes[edge.source]) else ""
        back = edge.kind == "loop"  # laid out along the others, with its head at the other end
        graph.edge(
            edge.target if back else edge.source,
            edge.source if back else edge.target,
            id=f"{prefix}-{edge.id}",
            label=f"{style_of_edge.sign} {shape}".strip(),
            style=style_of_edge.line,
            tooltip=_plain(f"{names[edge.source]} → {names[edge.target]} {edge.shape}", LINE_LIMIT),
            **({"dir": "back"} if back else {}),
        )
    return str(graph.source)


def _cluster(prefix: str, index: int, path: str) -> graphviz.Digraph:
    """A frame around the nodes of one group."""
    attributes = {
        "id": f"{prefix}-c{index}",
        "label": _plain(path.rpartition("/")[2]),
        "tooltip": _plain(path, LINE_LIMIT),
        "fontname": FONTS,
        "fontsize": "11",
        "margin": "6",
        "style": "rounded,dotted",
        "color": "#767676",
    }
    return graphviz.Digraph(name=f"cluster_{index}", graph_attr=attributes)


def _label(node: PictureNode, width: int) -> str:
    """Name, operator and shape, one line each; escaped, so that any name is shown as it is."""
    first = f"{node.name} = {node.op}" if node.name and node.kind == "operator" else node.label
    lines = [_plain(first)]
    if node.shape not in ("()", "?", ""):
        lines.append(_plain(node.shape))
    if width:
        lines.append("\u2007" * width)  # figure spaces keep the width of a number free
    label: str = graphviz.nohtml(r"\n".join(lines))  # else <a> would be markup
    return label


def _plain(text: str, limit: int = NAME_LIMIT) -> str:
    """Any text as one line of limited length that DOT and SVG show as it is."""
    line = UNFIT.sub(" ", text)
    line = line if len(line) <= limit else line[: limit - 1] + "…"
    escaped: str = graphviz.escape(line.replace("&", "&amp;"))
    return escaped


def image(source: str, form: str) -> bytes:
    """Lay out DOT text as "svg", "png" or "pdf". Raises LayoutError when that cannot be done."""
    drawing = layout(source)
    return drawing.encode() if form == "svg" else paint(drawing, form)


@lru_cache(maxsize=64)
def svg(source: str) -> str:
    """Lay out DOT text as an <svg> element; the same text is laid out once."""
    return _element(layout(source))


def _element(drawing: str) -> str:
    """The <svg> element without the XML prologue, as wide as it wants but never wider than fits.

    The font is named once, nobody sees hundredths of a point, comments say what ids say, and a
    hyphen needs no escape: nearly half less to send.
    """
    element = drawing[drawing.index("<svg") :].replace(f' font-family="{FONTS}"', "")
    element = COMMENT.sub("", element).replace("&#45;", "-")
    width = re.search(r'<svg width="([\d.]+)pt"', element)
    size = f"width:{float(width[1]) * 4 / 3:.0f}px;" if width else ""
    head = f'<svg style="{size}max-width:100%;height:auto" font-family="{FONTS}"'
    element = re.sub(r'<svg width="[^"]*" height="[^"]*"', head, element, count=1)
    return PLACES.sub(lambda found: re.sub(r"(\.\d)\d+", r"\1", found[0]), element)


def with_glyphs(drawing: str, style: str = "") -> str:
    """A drawing that brings along these style rules, and the glyphs that are not plain ASCII."""
    rules = style if drawing.isascii() else style + font_face(drawing)
    head = f"<style>{rules}</style>" if rules else ""
    return re.sub(r"<svg\b[^>]*>", lambda found: found[0] + head, drawing, count=1)


def as_image(drawing: str, alt: str) -> str:
    """An <svg> element as an <img> with alternative text.

    Pages that are not trusted keep images and take inline drawings apart. An image cannot use the
    fonts of its page, so it brings along the glyphs that are not plain ASCII; nor its colours, so
    it has those of a dark page with it, and its own paper, which is right on any page.
    """
    drawing = with_glyphs(drawing, DARK)
    source = base64.b64encode(drawing.encode()).decode()
    width = re.search(r"width:(\d+)px", drawing)
    size = f' width="{width[1]}"' if width else ""
    return (
        f'<img alt="{escape(alt)}"{size} style="max-width:100%;height:auto" '
        f'src="data:image/svg+xml;base64,{source}">'
    )


def render(picture: Picture, prefix: str, **layout: Any) -> str:
    """The picture as an <svg> element, laid out as `dot` is told by the other arguments.

    Raises LayoutError when the picture is too large or there is no engine.
    """
    if len(picture.nodes) > LAYOUT_LIMIT:
        raise LayoutError("too_large", nodes=len(picture.nodes))
    return svg(dot(picture, prefix, **layout))
