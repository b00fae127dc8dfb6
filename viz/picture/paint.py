"""A drawing as PNG or PDF: the shapes and words of Graphviz's SVG, painted by matplotlib.

So they need no more than the SVG does, whichever engine laid it out, and show Chinese everywhere.
"""

from __future__ import annotations

import io
import re
from typing import Any
from xml.etree import ElementTree

from viz.picture import mpl
from viz.picture.style import UNDATED, chart_style

POINTS = 72  # of Graphviz and of matplotlib, for an inch
PIXELS = 192  # of a PNG: two for one of a page
NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")
SIDE = {"start": "left", "middle": "center", "end": "right"}


def paint(svg: str, form: str) -> bytes:
    """Paint what Graphviz wrote as SVG, as "png" or "pdf"."""
    root = ElementTree.fromstring(svg)
    whole = root[0]
    left, top, width, height = _numbers(root.attrib["viewBox"])
    right, down = _numbers(whole.attrib["transform"].partition("translate")[2])
    with chart_style(), mpl.rc_context({"savefig.bbox": None}), io.BytesIO() as file:
        figure = mpl.Figure((width / POINTS, height / POINTS))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(left - right, left - right + width), ylim=(top - down + height, top - down))
        axes.set_axis_off()
        for order, element in enumerate(whole.iter()):
            _add(axes, element.tag.rpartition("}")[2], element.attrib, element.text or "", order)
        figure.savefig(file, format=form, dpi=PIXELS, metadata=UNDATED[form])
        return file.getvalue()


def _add(axes: mpl.Axes, tag: str, look: dict[str, str], words: str, order: int) -> None:
    """Add one element; those that only group others have nothing to paint."""
    if tag == "text":
        x, y, size = (float(look[name]) for name in ("x", "y", "font-size"))
        side, colour = SIDE[look.get("text-anchor", "start")], look.get("fill", "black")
        axes.text(x, y, words, ha=side, va="baseline", size=size, color=colour, zorder=order)
        return
    line: dict[str, Any] = {
        "facecolor": _colour(look.get("fill", "black")),
        "edgecolor": _colour(look.get("stroke", "none")),
        "linewidth": float(look.get("stroke-width", 1)),
        "linestyle": (0, _numbers(look.get("stroke-dasharray", "")) or None),
        "zorder": order,
    }
    if tag == "ellipse":
        x, y, rx, ry = (float(look[name]) for name in ("cx", "cy", "rx", "ry"))
        axes.add_patch(mpl.Ellipse((x, y), 2 * rx, 2 * ry, **line))
    elif tag == "polygon":
        axes.add_patch(mpl.Polygon(_pairs(look["points"]), **line))
    elif tag == "polyline":
        axes.add_patch(mpl.PathPatch(mpl.Path(_pairs(look["points"])), **line))
    elif tag == "path":  # one start, then cubic curves
        places = _pairs(look["d"])
        codes = [mpl.Path.MOVETO, *[mpl.Path.CURVE4] * (len(places) - 1)]
        axes.add_patch(mpl.PathPatch(mpl.Path(places, codes), **line))


def _colour(name: str) -> str:
    return "none" if name == "transparent" else name


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def _pairs(text: str) -> list[tuple[float, float]]:
    numbers = _numbers(text)
    return list(zip(numbers[::2], numbers[1::2], strict=True))
