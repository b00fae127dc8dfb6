"""PNG and PDF: what stands in the SVG is painted, in its place, colour and line."""

from __future__ import annotations

import io
from typing import Any

import matplotlib.image as mpl_image
import numpy as np
import pytest
from examples import e1
from matplotlib.colors import to_rgb
from PIL import Image, ImageSequence

import minigrad as mg
import viz
from viz.picture import motion
from viz.picture.cards import CardSpace, State, one_language
from viz.picture.drawing import render
from viz.picture.motion import Scenes, Trip, along, gif
from viz.picture.paint import SCALE, paint
from viz.picture.picture import picture
from viz.picture.theme import TOKENS

pytestmark = pytest.mark.usefixtures("english")

HEAD = '<svg viewBox="0 0 60 45">'
PLACE = '<g class="graph" transform="translate(10,30)">'


def pixels(png: bytes) -> np.ndarray[Any, Any]:
    return np.asarray(mpl_image.imread(io.BytesIO(png))[..., :3])


def painted(element: str, groups: str = "") -> np.ndarray[Any, Any]:
    return pixels(paint(f'{HEAD}{PLACE}<g class="{groups}">{element}</g></g></svg>', "png"))


def colour(image: np.ndarray[Any, Any], x: float, y: float) -> tuple[float, ...]:
    """What is painted at a place in the coordinates of the SVG's group."""
    return tuple(image[int((y + 30) * SCALE), int((x + 10) * SCALE)])


def token(name: str) -> tuple[float, ...]:
    return to_rgb(TOKENS[name][0])


def test_a_card_is_painted_in_its_place_and_state() -> None:
    box = '<rect class="mg-card" x="0" y="-20" width="40" height="20" rx="6"/>'
    for state, fill in (("", "card"), ("mg-ran", "ran"), ("mg-failed", "spoilt")):
        image = painted(box, state)
        assert image.shape[:2] == (45 * SCALE, 60 * SCALE)
        assert colour(image, 20, -10) == pytest.approx(token(fill), abs=0.02)
        assert min(colour(image, 0, -20)) > 0.97, "its corners are round"
        assert colour(image, -5, -10) == (1, 1, 1)
    assert colour(painted(box, "mg-born"), 20, -10) == (1, 1, 1), "a plan is not filled"


def test_lines_tips_and_lanes() -> None:
    line = '<path class="mg-line" d="M0,-9C5,-9 9,-9 40,-9"/>'
    solid, dotted = (
        painted(line, f"mg-edge-{kind}")[int(21 * SCALE)] for kind in ("gradient", "control")
    )
    changes = [int((np.abs(np.diff(row.mean(axis=1))) > 0.1).sum()) for row in (solid, dotted)]
    assert changes[0] < 5 < changes[1]
    tip = painted('<path class="mg-tip" d="M0,0L20,0L20,-20Z"/>', "mg-edge-forward")
    assert colour(tip, 15, -5) == pytest.approx(token("soft"), abs=0.02)
    lane = '<path class="mg-lane" d="M0,-9C5,-9 9,-9 40,-9"/>'
    assert painted(lane).min() == 1, "hidden until it is used"
    assert painted(lane, "mg-back").min() < 0.8


def test_words_are_painted_around_their_place_with_the_chinese_font() -> None:
    write = '<text class="mg-frame-name" text-anchor="middle" x="20" y="-5">{}</text>'
    first, second, none = (painted(write.format(words)) for words in ("甲甲", "乙乙", ""))
    assert not np.array_equal(first, second), "boxes in place of glyphs would be the same"
    assert none.min() == 1
    columns = np.nonzero(first.min(axis=(0, 2)) < 0.8)[0]
    assert columns.mean() == pytest.approx(30 * SCALE, abs=2)
    assert np.ptp(columns) == pytest.approx(24 * SCALE, rel=0.15)


def drawn() -> str:
    made = picture(e1())
    rooms = {n.id: CardSpace(4, True, 2) for n in made.nodes}
    states = {"n1": State(("mg-born",)), "n2": State(("mg-ran",), "4", "1")}
    return one_language(render(made, "p", rooms, states), "en")


def test_a_drawing_has_the_colours_of_its_states() -> None:
    image = pixels(paint(drawn(), "png"))
    for name in ("ran", "card"):
        near = np.abs(image - token(name)).max(axis=2) < 0.01
        assert near.mean() > 0.01, name


def test_settings_of_the_user_are_left_alone() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    pdf = paint(drawn(), "pdf")
    assert pdf.startswith(b"%PDF")
    assert dict(mpl.rcParams) == before
    assert pdf == paint(drawn(), "pdf"), "the same file every time"


def test_a_drawing_of_every_shape_can_be_painted() -> None:
    with mg.Graph():
        x = mg.placeholder("x", shape=(2, 3))
        w = mg.Variable(np.ones((3, 2), np.float32), name="w")
        loss = (mg.cond((x @ w).sum() > 0, lambda: x @ w, lambda: x @ w - 1) ** 2).sum()
        (gradient,) = mg.gradients(loss, [w])
        assign = mg.assign(w, w - 0.1 * gradient)
        shown = viz.draw([assign, loss], tensors=True)
    assert len(paint(one_language(shown.svg, "zh"), "png")) > 10_000


# ---- Films ------------------------------------------------------------------------------------


def film(wide: int, high: int, *trips: Trip) -> Scenes:
    """One second of a card in the corner, and what travels meanwhile."""
    head = f'<svg viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">'
    card = '<g class="mg-ran"><rect class="mg-card" x="2" y="2" width="20" height="10"/></g>'
    return Scenes([(0.0, {"card": card})], trips, 1.0, lambda inside: f"{head}{inside}</svg>")


def frames(made: bytes) -> list[np.ndarray[Any, Any]]:
    with Image.open(io.BytesIO(made)) as image:
        return [np.asarray(frame.convert("RGB"), int) for frame in ImageSequence.Iterator(image)]


@pytest.mark.parametrize(("wide", "high"), [(120, 80), (1500, 900), (2400, 900)])
def test_a_film_is_painted_as_large_as_it_may_be(wide: int, high: int) -> None:
    """At its full scale if it is small, else with about so many pixels, but never shrunk."""
    (frame,) = frames(gif(film(wide, high), dark=False))
    most = min(motion.SCALE**2 * wide * high, max(motion.PIXELS, wide * high))
    assert frame.shape[0] * frame.shape[1] == pytest.approx(most, rel=0.02)


def test_what_travels_is_painted_where_it_is() -> None:
    chip = '<g class="mg-ran"><rect class="mg-card" x="-6" y="-4" width="12" height="8"/></g>'
    way = ((20.0, 20.0), (20.0, 60.0), (90.0, 60.0), (90.0, 30.0))
    still, *_ = frames(gif(film(120, 80), dark=False))
    moving = frames(gif(film(120, 80, Trip(chip, way, 0.0, 0.2)), dark=False))
    assert len(moving) == motion.WAYPOINTS
    for k, frame in enumerate(moving):
        rows, columns = np.nonzero(np.abs(frame - still).max(axis=2) > 16)
        seen = np.array([columns.mean(), rows.mean()]) / motion.SCALE
        assert seen == pytest.approx(along(way, k / (motion.WAYPOINTS - 1)), abs=1.0)
