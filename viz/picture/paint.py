"""A drawing as PNG or PDF: the cards and arrows of our SVG, painted by matplotlib.

So they need no more than the SVG does, whichever engine laid it out, and show Chinese everywhere.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

from viz.picture import mpl
from viz.picture.look import resolved
from viz.picture.style import STYLE, UNDATED, chart_style
from viz.picture.theme import LATIN_FAMILY, TOKENS

INCH = 96  # pixels of a page
POINT = 72 / INCH  # of a pixel
SCALE = 2  # pixels of a PNG for one of a page
NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")
SIDE = {"start": "left", "middle": "center", "end": "right"}


def paint(svg: str, form: str, dark: bool = False, **look: Any) -> bytes:
    """Paint a drawing of `drawing.render`, with one language in it, as "png" or "pdf"."""
    with chart_style(), mpl.rc_context({"savefig.bbox": None}), io.BytesIO() as file:
        figure = painted(svg, dark)
        settings = {"dpi": SCALE * INCH, "metadata": UNDATED[form], **look}
        figure.savefig(file, format=form, **settings)
        return file.getvalue()


def painted(svg: str, dark: bool = False) -> mpl.Figure:
    """Return the painted figure, as large as the drawing; inside `chart_style`."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = _numbers(root.attrib["viewBox"])
    figure = mpl.Figure((width / INCH, height / INCH), facecolor=TOKENS["paper"][dark])
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    _Painter(axes, dark).add(root, (), (0, 0))
    return figure


class Layers:
    """Paints parts of one drawing, each of them once: what is beneath a part shows through.

    svg: the drawing without its parts, which says how large it is.
    """

    def __init__(self, svg: str, dark: bool, dpi: float) -> None:
        with chart_style():
            figure = painted(svg, dark)
        self.paper = TOKENS["paper"][dark]
        figure.set(facecolor="none", dpi=dpi)
        self._axes, self._dark = figure.axes[0], dark
        self._canvas = mpl.FigureCanvasAgg(figure)
        self._known: dict[str, tuple[mpl.Image.Image, tuple[int, int]] | None] = {}

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels of what is painted."""
        return self._canvas.get_width_height()

    def layer(self, svg: str) -> tuple[mpl.Image.Image, tuple[int, int]] | None:
        """Return a part as the smallest image, and its upper left corner; None if empty."""
        if svg not in self._known:
            with chart_style():
                _Painter(self._axes, self._dark).add(ElementTree.fromstring(svg), (), (0, 0))
                self._canvas.draw()  # type: ignore[no-untyped-call]
            whole = mpl.Image.fromarray(np.asarray(self._canvas.buffer_rgba()))  # type: ignore[no-untyped-call]
            for artist in (*self._axes.patches, *self._axes.texts):
                artist.remove()
            box = whole.getchannel("A").getbbox()
            self._known[svg] = (whole.crop(box), box[:2]) if box else None
        return self._known[svg]


class _Painter:
    """Adds elements in their order, each where the groups around have moved it."""

    def __init__(self, axes: mpl.Axes, dark: bool) -> None:
        self.axes, self.dark, self.order = axes, dark, 0

    def add(self, element: ElementTree.Element, groups: Sequence[str], at: Sequence[float]) -> None:
        """Add an element, with those in it, of groups with these classes."""
        self.order += 1
        tag, look = element.tag.rpartition("}")[2], element.attrib
        name = look.get("class", "")
        given = {k: look[k] for k in ("fill", "stroke-width", "stroke-opacity") if k in look}
        style = given | resolved(groups, name, self.dark)
        if style.get("display") == "none" or tag == "title":
            return
        if tag == "text":
            self._write(element, style, at)
        elif tag == "rect":
            x, y, width, height, rx = (float(look.get(k, 0)) for k in SHAPE)
            left, top, round_ = x + at[0], y + at[1], f"round,pad=0,rounding_size={rx}"
            box = (
                mpl.Ellipse((left + rx, top + rx), width, height)  # corners are no arcs of circles
                if width == height == 2 * rx
                else mpl.FancyBboxPatch((left, top), width, height, round_)
            )
            self._patch(box, style)
        elif tag == "path" and look["d"]:
            cells = "stroke-width" in look  # of a swatch, beside each other without a seam
            self._patch(mpl.PathPatch(_path(look["d"], at), antialiased=not cells), style)
        else:
            moved = _numbers(look.get("transform", "")) or (0, 0)
            for inner in element:
                self.add(inner, [*groups, *name.split()], (at[0] + moved[0], at[1] + moved[1]))

    def _patch(self, patch: Any, style: dict[str, str]) -> None:
        fill, line = style.get("fill", "none"), style.get("stroke", "none")
        patch.set(
            facecolor=fill,
            edgecolor=line if line == "none" else (line, float(style.get("stroke-opacity", 1))),
            capstyle=style.get("stroke-linecap", "butt"),
            linewidth=float(style.get("stroke-width", 1)) * POINT,
            linestyle=(0, [d * POINT for d in _numbers(style.get("stroke-dasharray", ""))] or None),
            zorder=self.order,
        )
        self.axes.add_patch(patch)

    def _write(
        self, element: ElementTree.Element, style: dict[str, str], at: Sequence[float]
    ) -> None:
        look, around = element.attrib, style.get("stroke")
        weight = int(style.get("font-weight", 400))  # which the Latin letters have
        families = [*([LATIN_FAMILY] if weight > 400 else []), *STYLE["font.family"]]
        self.axes.text(
            float(look["x"]) + at[0],
            float(look["y"]) + at[1],
            "".join(element.itertext()),
            ha=SIDE[look.get("text-anchor", "start")],
            va="baseline",
            size=float(style.get("font-size", "12px")[:-2]) * POINT,
            color=style.get("fill", "black"),
            family=families,
            weight=weight,
            zorder=self.order,
            path_effects=[mpl.withStroke(linewidth=3 * POINT, foreground=around)]
            if around
            else None,
        )


SHAPE = ("x", "y", "width", "height", "rx")
PART = re.compile(r"([MLHVCZ])([^MLHVCZ]*)")
DRAWN = {"M": 1, "L": 2, "H": 2, "V": 2, "C": 4, "Z": 79}  # as matplotlib's Path calls them


def _path(d: str, at: Sequence[float]) -> mpl.Path:
    """Parse an SVG path: a start, then cubic curves or lines; or boxes of lines."""
    codes, places = [], []
    x = y = 0.0
    for letter, values in PART.findall(d):
        numbers = _numbers(values)
        if letter in "HV":
            x, y = (numbers[0], y) if letter == "H" else (x, numbers[0])
            numbers = [x, y]
        points = [*zip(numbers[::2], numbers[1::2], strict=True)] or [(x, y)]
        x, y = points[-1]
        codes += [DRAWN[letter]] * len(points)
        places += [(x + at[0], y + at[1]) for x, y in points]
    return mpl.Path(places, codes)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]
