"""PNG and PDF: what stands in the SVG is painted, in its place, colour and line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import matplotlib.image as mpl_image
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from test_picture import e1

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language
from viz.picture import dot
from viz.picture.paint import PIXELS, POINTS, paint
from viz.picture.picture import picture
from viz.picture.theme import STYLES

ZOOM = PIXELS / POINTS
HEAD = '<svg viewBox="0 0 60 45" xmlns="http://www.w3.org/2000/svg">'
PLACE = '<g class="graph" transform="scale(1 1) rotate(0) translate(10 30)">'


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    set_language("en")
    yield
    set_language("en")


def pixels(png: bytes) -> np.ndarray[Any, Any]:
    return np.asarray(mpl_image.imread(io.BytesIO(png))[..., :3])


def painted(element: str) -> np.ndarray[Any, Any]:
    return pixels(paint(f"{HEAD}{PLACE}{element}</g></svg>", "png"))


def colour(image: np.ndarray[Any, Any], x: float, y: float) -> tuple[float, ...]:
    """What is painted at a place in the coordinates of the SVG's group."""
    return tuple(image[int((y + 30) * ZOOM), int((x + 10) * ZOOM)])


LINE = 'fill="none" stroke="red" stroke-width="4"'
FULL = 'fill="red" stroke="none"'
SHAPES = {
    "polygon": (f'<polygon {FULL} points="0,0 20,0 20,-20 0,-20 0,0"/>', (3, -3), (22, -3)),
    "ellipse": (f'<ellipse {FULL} cx="10" cy="-10" rx="10" ry="5"/>', (10, -6), (3, -3)),
    "curve": (f'<path {FULL} d="M0,0C0,-27 20,-27 20,0"/>', (10, -15), (1, -19)),
    "polyline": (f'<polyline {LINE} points="0,0 20,-20"/>', (10, -10), (10, -3)),
    "line": (f'<path {LINE} d="M0,-9C5,-9 9,-9 20,-9"/>', (9, -9), (9, -3)),
}


@pytest.mark.parametrize(("element", "inside", "outside"), SHAPES.values(), ids=list(SHAPES))
def test_a_shape_is_painted_in_its_place(
    element: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    image = painted(element)
    assert image.shape[:2] == (120, 160)
    assert colour(image, *inside) == pytest.approx((1, 0, 0), abs=0.02)
    assert colour(image, *outside) == (1, 1, 1)


def test_dashes_have_gaps_and_transparent_is_nothing() -> None:
    line = '<path fill="none" stroke="red" stroke-dasharray="5,5" d="M0,-9C5,-9 9,-9 40,-9"/>'
    row = painted(line)[int(21 * ZOOM)]
    changes = int((np.abs(np.diff(row[:, 1])) > 0.5).sum())
    assert 6 <= changes <= 10
    hidden = '<polygon fill="transparent" stroke="transparent" points="0,0 20,0 20,-20 0,0"/>'
    assert painted(hidden).min() == 1


def test_words_are_painted_around_their_place_with_the_chinese_font() -> None:
    write = '<text text-anchor="middle" x="20" y="-5" font-size="13">{}</text>'
    first, second, none = (painted(write.format(words)) for words in ("甲甲", "乙乙", ""))
    assert not np.array_equal(first, second), "boxes in place of glyphs would be the same"
    assert none.min() == 1
    columns = np.nonzero(first.min(axis=(0, 2)) < 0.5)[0]
    assert columns.mean() == pytest.approx(30 * ZOOM, abs=2)
    assert np.ptp(columns) == pytest.approx(26 * ZOOM, rel=0.15)


def test_a_drawing_has_the_colours_of_its_nodes() -> None:
    image = pixels(dot.image(dot.dot(picture(e1()), "p"), "png"))
    for kind in ("output", "operator", "parameter"):
        near = np.abs(image - to_rgb(STYLES[kind].fill)).max(axis=2) < 0.02
        assert near.mean() > 0.005, kind


def test_settings_of_the_user_are_left_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    pdf = dot.image(dot.dot(picture(e1()), "p"), "pdf")
    assert pdf.startswith(b"%PDF")
    assert dict(mpl.rcParams) == before
    assert pdf == dot.image(dot.dot(picture(e1()), "p"), "pdf"), "the same file every time"


def test_a_drawing_of_every_shape_can_be_painted() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2, 3))
        w = mg.Variable(np.ones((3, 2), np.float32), name="w")
        loss = (mg.cond((x @ w).sum() > 0, lambda: x @ w, lambda: x @ w - 1) ** 2).sum()
        (gradient,) = mg.gradients(loss, [w])
        assign = mg.assign(w, w - 0.1 * gradient)
        drawn = viz.draw([assign, loss], tensors=True)
    assert len(dot.image(drawn.dot, "png")) > 10_000
