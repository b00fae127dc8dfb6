"""Where the eye should go: at each of these steps the largest change on the screen is there.

Written down by hand: for each step the operator (or leaf) that the step is about.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.image as mpl_image
import numpy as np
import pytest
from examples import e5
from looks import painted, speak
from views import saved

import minigrad as mg
import viz
from viz.picture.drawing import EDGE

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("english")]

AROUND = 70  # pixels of its arrows that belong to a card


def conv_relu() -> viz.Board:
    """The pass that makes one node of a convolution and what follows."""
    x = mg.placeholder("x", shape=(1, 1, 6, 6))
    w = mg.constant(np.ones((2, 1, 3, 3), np.float32))
    graph = mg.build_graph(x, mg.relu(mg.conv2d(x, w)))
    return viz.passes(graph.optimize(["fuse"]))


# step: what it is about
EYES: dict[str, tuple[Any, dict[int, str]]] = {
    "E1": ("step", {1: "×", 2: "+", 3: "+", 4: "×", 5: "x", 6: "x"}),
    "E5": (lambda: viz.step(e5().sum()), {1: "@", 2: "+", 3: "ReLU", 4: "Σ", 6: "ReLU"}),
    "E9": (conv_relu, {1: "Fused"}),
}


@pytest.mark.parametrize("name", ["E1", pytest.param("E5", marks=pytest.mark.exhaustive), "E9"])
def test_the_largest_change_is_where_the_eye_should_go(
    name: str, page: Page, tmp_path: Path
) -> None:
    make, about = EYES[name]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(page_of(make, tmp_path).as_uri())
    stage, drawing = page.locator(".mg-stage"), page.locator(".mg-drawing").first
    page.locator("section").first.focus()
    page.keyboard.press("Home")
    painted(page)
    now = pixels(stage)
    for step in range(1, max(about) + 1):
        page.keyboard.press("ArrowRight")
        painted(page)
        before, now = now, pixels(stage)
        if step not in about:
            continue
        changed = np.abs(now - before).max(axis=2) > 0.1
        counts = {sign: int(changed[place].sum()) for sign, place in boxes(stage)}
        assert max(counts, key=counts.__getitem__) == about[step], (step, counts)
        whole = drawing.bounding_box()
        card = page.locator("g.node", has=page.locator(f".mg-sign:text-is('{about[step]}')"))
        inside = card.first.bounding_box()
        assert whole is not None
        assert inside is not None
        assert whole["x"] <= inside["x"]
        assert inside["x"] + inside["width"] <= whole["x"] + whole["width"]


# Where a jump of the slider ends, on a page so wide: what has to be in sight then.
RESTS: dict[str, tuple[Any, int, int, str]] = {
    "a long film, at its end": (lambda: chain(9), 1440, -1, "g.mg-kind-output"),
    "the gradient that came last": (
        "step layers",
        1440,
        -1,
        "g.node:has(.mg-sign:text-is('linear1')) .mg-swatch.mg-of-grad",
    ),
    "a value beside its arrow": ("step matrix", 390, 7, ".mg-chip"),
    "what is new, not what is gone": ("passes", 390, 5, "g.node.mg-new"),
}


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", RESTS)
def test_a_jump_brings_into_sight_what_the_step_is_about(
    name: str, page: Page, tmp_path: Path
) -> None:
    make, width, step, meant = RESTS[name]
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(page_of(make, tmp_path).as_uri())
    enlarge(page)
    page.locator(".mg-steps").evaluate(
        "(slider, to) => { slider.value = to < 0 ? slider.max : to;"
        "slider.dispatchEvent(new Event('input')); }",
        step,
    )
    drawing = page.locator(".mg-drawing").first
    assert drawing.evaluate("box => box.scrollWidth > box.clientWidth"), "else nothing can hide"
    whole, part = (drawing.bounding_box(), page.locator(meant).first.bounding_box())
    assert whole is not None
    assert part is not None
    for start, size in (("x", "width"), ("y", "height")):
        assert whole[start] <= part[start]
        assert part[start] + part[size] <= whole[start] + whole[size]


def page_of(view: Any, folder: Path) -> Path:
    """The page of a view: of one of all views, by its name, the one that all tests share."""
    return saved(view) if isinstance(view, str) else Path(view().save(folder / "page.html"))


def enlarge(page: Page) -> None:
    """All of a drawing is seen until it is made larger."""
    page.locator("section").first.evaluate(
        """section => {
            for (let i = 0; i < 5; i++)
                section.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
        }"""
    )


def chain(long: int) -> viz.Player:
    """An output far from its input, and no way back."""
    with mg.Graph(), mg.record(values=True) as log:
        y = x = mg.placeholder("x", shape=())
        for _ in range(long):
            y = mg.tanh(y)
        mg.run(mg.build_graph(x, y), {"x": 0.5})
    return viz.timeline(log)


def test_a_sum_of_two_ways_fits_in_jupyterlab_on_a_usual_screen(page: Page, tmp_path: Path) -> None:
    x = mg.tensor(3.0, requires_grad=True, name="x")
    a = x * x
    player = viz.step(a + a * 4)
    page.set_viewport_size({"width": 1008 + 64, "height": 900})  # what is left of 1440
    page.goto(player.save(tmp_path / "page.html").as_uri())
    assert page.locator(".mg-film").evaluate("film => film.offsetWidth") == 1008
    wide = "box => [box.scrollWidth, box.clientWidth]"
    there, seen = page.locator(".mg-drawing").evaluate(wide)
    assert there == seen


def test_both_graphs_of_a_comparison_are_seen_whole(page: Page) -> None:
    hidden = """all => Math.max(...all.flatMap(
        box => [box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight]))"""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(saved("compare matrix").as_uri())
    cards = page.locator("g.node").evaluate_all("all => all.map(g => g.textContent)")
    assert sum("(2, 2)" in told for told in cards) == 2, "they are wide: tensors"
    assert page.locator(".mg-note > .mg-colours").count() > 40, "in the marks of the score, too"
    for width in (1440, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        for language in ("en", "zh"):
            speak(page, language)
            drawings = page.locator(".mg-drawing")
            assert drawings.evaluate_all(hidden) <= EDGE, (width, language)  # nothing but paper
            film = page.locator(".mg-film").bounding_box()
            assert film is not None
            assert film["y"] >= 0
            assert film["y"] + film["height"] <= 900, "and its score, on the same screen"


# At each of these steps how far each drawing is scrolled.
SCROLLED = """steps => steps.map(step => {
    const slider = document.querySelector('.mg-steps');
    slider.value = step;
    slider.dispatchEvent(new Event('input'));
    return [...document.querySelectorAll('.mg-drawing')].map(e => e.scrollLeft);
})"""


def test_the_graph_that_is_done_shows_what_the_other_is_about(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.page.sliders.KEPT", 0)  # of inputs: each position is a run

    def long(x: Any, W: Any) -> Any:
        for _ in range(4):
            x = mg.tanh(x @ W)
        return x.sum()

    page.set_viewport_size({"width": 1024, "height": 900})
    player = viz.compare(long, [[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]])
    dynamic, static = (len(film.frames) for film in player.films)
    assert dynamic < static
    page.goto(player.save(tmp_path / "page.html").as_uri())
    enlarge(page)
    found = page.evaluate(SCROLLED, list(range(dynamic, static - 1)))
    assert all(abs(one - other) < 40 for one, other in found), found
    places = {round(other, -2) for _, other in found}
    assert len(places) > 1, "else nothing moved"


def test_equal_bars_are_seen_as_that_many_at_every_scale(page: Page) -> None:
    page.set_viewport_size({"width": 770, "height": 780})
    page.goto(saved("traces").as_uri())
    inside = slice(4, -4)  # of a card whose frame is green, too
    for width in (770, 820):
        page.set_viewport_size({"width": width, "height": 780})
        painted(page)
        page.evaluate("() => document.querySelector('.mg-board').scrollIntoView()")
        stage = page.locator(".mg-stage")
        green = np.subtract(*pixels(stage)[..., [1, 0]].transpose(2, 0, 1))
        cards = {sign: green[place][inside, inside] for sign, place in boxes(stage)}
        assert cards.keys() >= {"x", "×", "+"}
        for sign in "x×+":
            row = cards[sign][cards[sign].sum(1).argmax()] > 0.9 * cards[sign].max()
            assert np.count_nonzero(np.diff(row.astype(int)) == 1) == 4, (width, sign)


def test_small_cards_and_frames_keep_their_words_and_tips(page: Page) -> None:
    page.set_viewport_size({"width": 770, "height": 780})
    page.goto(saved("step calls").as_uri())
    painted(page)
    names = page.locator(".mg-short-sign").all_text_contents()
    assert "rnncell.parameters" in names, "for all of which there is room"
    assert "▷ x1 … x6" in page.locator(".mg-short-shape").all_text_contents(), "of its calls"
    told = page.locator(":is(.mg-short-value, .mg-short-cell)").all_text_contents()
    digits = [len(re.sub(r"e.*|^-?0\.0*|\D", "", number)) for number in told]
    assert max(digits) == 3, "as many as the card has that needs the fewest"
    page.goto(saved("branches").as_uri())
    speak(page, "zh")
    beyond = """all => all.filter(g => g.checkVisibility()).map(g => {
        const [name, frame] = ["-name", ""].map(x => g.querySelector(`.mg-frame${x}`));
        return frame.getBoundingClientRect().right - name.getBoundingClientRect().right;
    })"""
    inside = page.locator("g.cluster").evaluate_all(beyond)
    assert len(inside) == 2
    assert min(inside) > 4, inside
    page.set_viewport_size({"width": 390, "height": 780})
    page.goto(saved("passes").as_uri())
    painted(page)
    tip = page.locator("g.edge.mg-new > .mg-tip").first
    look = tip.evaluate("tip => [getComputedStyle(tip).stroke, getComputedStyle(tip).fill]")
    assert look[0] == look[1], "else the thicker line hides it"


# Of an element, in whole pixels: from where, and how large.
PLACE = """e => {
    const { x, y, width, height } = e.getBoundingClientRect();
    return [x, y, width, height].map(Math.floor);
}"""


def pixels(stage: Locator) -> np.ndarray[Any, Any]:
    """What is seen of the drawings; of the whole page it would take twice as long."""
    left, top, wide, high = stage.evaluate(PLACE)
    clip: Any = {"x": left, "y": top, "width": wide, "height": high}
    shot = stage.page.screenshot(clip=clip)
    return np.asarray(mpl_image.imread(io.BytesIO(shot))[..., :3])


def boxes(stage: Locator) -> list[tuple[str, tuple[slice, slice]]]:
    """Where each card is, by its sign."""
    found = stage.evaluate(
        """(stage, [left, top]) => [...stage.querySelectorAll('g.node')]
        .filter(g => g.checkVisibility()).map(g => {
            const { x, y, width, height } = g.querySelector('.mg-card').getBoundingClientRect();
            return [g.querySelector('.mg-sign').textContent, x - left, y - top, width, height];
        })""",
        stage.evaluate(PLACE),
    )
    return [
        (sign, (slice(round(y), round(y + h)), slice(round(x), round(x + w))))
        for sign, x, y, w, h in found
    ]
