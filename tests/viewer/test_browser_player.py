"""The player as a reader meets it in a saved page, in both languages and themes."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import covering
import numpy as np
import pytest
import views
from lessons import run_cell
from looks import (
    CLASHES,
    FAINT,
    at_each_step,
    boxed,
    luminance,
    missing,
    painted,
    settle,
    speak,
    step_to_end,
    unlike,
    violations,
    wrong_at_steps,
)
from matplotlib.image import imread
from test_drawing import HOSTILE
from test_properties_of_exercises import written
from views import VIEWS

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language
from minigrad_lessons.lesson.exercise.judge import judge
from viz.film.states import on_cards
from viz.page.language import LanguageSwitch
from viz.picture.swatch import drawn
from viz.picture.theme import FONT_PATH

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser


def diamond() -> viz.Player:
    a = mg.tensor(3.0, requires_grad=True, name="a")
    b = a * 2
    return viz.step(b * b + b)


def fan() -> viz.Player:
    a = mg.tensor(3.0, requires_grad=True, name="a")
    b = a * 2
    return viz.step(b * b + b * a + b)


def chain(steps: int) -> viz.Player:
    """In no order that comes again, so that all of it is drawn."""
    y = mg.tensor(1.0, requires_grad=True, name="x")
    for i in range(steps):
        y = y * 0.999 if i.bit_count() % 2 else y + 0.001
    return viz.step(y)


def lines(count: int) -> viz.Player:
    """A cell with one operation on each line."""
    cell = ["x = mg.tensor(1.0, requires_grad=True)", "y = x", *["y = y * 0.5"] * count]
    names: dict[str, Any] = {"mg": mg}
    run_cell("\n".join(cell), names, "a long cell")
    return viz.step(names["y"])


def recurrent() -> viz.Player:
    w, x, h = (mg.tensor(0.5, requires_grad=True, name=name) for name in "wxh")
    for _ in range(8):  # few enough to stay as they are
        h = mg.tanh(h * w + x)
    return viz.step(h)


OWN: dict[str, Callable[[], viz.Player]] = {
    "diamond": diamond,
    "fan": fan,
    "row": lambda: lines(6),
    "recurrent": recurrent,
    "long": lambda: chain(60),
}
SHARED = {
    "e1": "step",
    "e2": "step static",
    "e5": "step matrix",
    "e10": "step branch",
    "loop": "step loop",
    "layers": "step layers",
    "both": "compare",
    "compare": "compare matrix",
}


@pytest.fixture(scope="module", autouse=True)
def no_positions() -> Iterator[None]:
    """Nobody moves the sliders of the pages that are made here: each position is a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("viz.page.sliders.KEPT", 0)
        yield


class Pages(dict[str, Path]):
    """The pages by the names of their players, each made when a test first asks for it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> Path:
        own = OWN.get(name)
        shared = SHARED.get(name, name)
        self[name] = own().save(self.folder / f"{name}.html") if own else views.saved(shared)
        return self[name]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("players"))


HEIGHTS = {1400: 900, 1024: 900, 770: 780, 390: 844}  # of a screen, by its width
OPEN_AT_ONCE = 2  # with each more every other page takes longer to load
# At its end and in English, whole, with nothing chosen and the focus nowhere.
REST = """() => {
    const [player, slider] = ['.mg-player', '.mg-steps'].map(part => document.querySelector(part));
    for (const key of ['Escape', '0'])
        player.dispatchEvent(new KeyboardEvent('keydown', { key }));
    document.activeElement.blur();
    document.body.dataset.mgLanguage = 'en';
    slider.value = slider.max;
    slider.dispatchEvent(new Event('input'));
}"""


@pytest.fixture(scope="module")
def opened(chromium: Browser, saved: Pages) -> Iterator[Callable[..., Page]]:
    """A player at rest, as wide as asked, which stays open for the next tests: to load it takes
    longer than most of them look.

    Tests of the same player follow each other. One that leaves a group open or moves the slider of
    an input takes a page of its own.
    """
    context = chromium.new_context(reduced_motion="reduce")
    known: dict[tuple[str, int], Page] = {}
    moving: set[Page] = set()
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)

    def resting(name: str, wide: int = 1400, moves: bool = False) -> Page:
        page = known.pop((name, wide), None)
        new = page is None
        if page is None:
            full = len(known) == OPEN_AT_ONCE
            page = known.pop(next(iter(known))) if full else context.new_page()
            page.goto("about:blank")  # else what is there is laid out at the new size first
        page.set_viewport_size({"width": wide, "height": HEIGHTS[wide]})
        if moves is not (page in moving):  # to say it again would have all styles computed again
            page.emulate_media(reduced_motion="no-preference" if moves else "reduce")
            moving.symmetric_difference_update({page})
        if new:
            page.goto(saved[name].as_uri())
        known[name, wide] = page  # the last one that is given up
        page.mouse.move(0, 0)
        page.evaluate(REST)
        painted(page)
        return page

    yield resting
    context.close()
    assert errors == []


# ---- What a step looks like -------------------------------------------------------------------


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["diamond", "fan", "row"])  # views: with all views
def test_nothing_overlaps_at_any_step(name: str, opened: Callable[..., Page]) -> None:
    page = opened(name)
    for language in ("en", "zh"):
        speak(page, language)
        assert wrong_at_steps(page, CLASHES) == {}, language


# How round the marks of the key are.
CORNER = "e => getComputedStyle(e, '::before').borderRadius"


def test_the_key_has_dots_where_the_marks_of_a_row_are_dots(opened: Callable[..., Page]) -> None:
    page = opened("row")
    assert page.locator(".mg-key > .mg-key-both").evaluate(CORNER) == "50%"
    assert page.locator(".mg-dots[stroke-linecap=butt], .mg-dots-run[transform]").count() == 0


def test_every_character_has_a_glyph(opened: Callable[..., Page]) -> None:
    for name in ("compare", "loop"):
        page = opened(name)
        speak(page, "both")
        seen = set("".join(at_each_step(page, "() => document.querySelector('main').innerText")))
        assert len({c for c in seen if c > "\u4e00"}) > 20, "Chinese is shown, too"
        assert missing(seen) == set()
        assert page.evaluate("document.fonts.check('16px \"Noto Sans SC\"', '回传')")


# By the inspector of the first node that has a group to open.
OPEN = """() => {
    const opening = () => [...document.querySelectorAll('.mg-inspector button')]
        .find(button => /^(open|展开)/.test(button.textContent));
    for (const node of document.querySelectorAll('g.node')) {
        node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        if (opening()) return opening().click();
    }
}"""


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ["e10", "loop", "layers"])
def test_nothing_overlaps_when_all_is_open(name: str, opened: Callable[..., Page]) -> None:
    page = opened(name)
    frames = page.locator("g.cluster")
    folded = frames.count()
    page.evaluate(OPEN)
    assert frames.count() > 0
    assert page.evaluate(CLASHES) == []
    page.keyboard.press("o")
    assert frames.count() == folded


@pytest.mark.cases(2)
@pytest.mark.parametrize("last", ["light", "dark"])
@pytest.mark.parametrize("name", ["e2", "e10", "layers", "compare"])
def test_all_words_can_be_read_in_both_themes(
    name: str, last: str, opened: Callable[..., Page]
) -> None:
    """At every step, also those of nodes not born yet; and axe finds nothing at the end."""
    page = opened(name)
    for theme in ("dark", "light") if last == "light" else ("light", "dark"):
        page.emulate_media(color_scheme=theme)  # it is the system's
        assert unlike(page, ink_is_bright=theme == "dark") == []
        assert wrong_at_steps(page, FAINT) == {}
    assert violations(page) == [], "not even a moderate one"
    page.emulate_media(color_scheme="light")


# ---- Both languages at once -------------------------------------------------------------------

# What is cut off in captions and cards, and whether each kind and each clock speaks both languages.
SPOKEN = """() => {
    const seen = e => e.getClientRects().length && getComputedStyle(e).visibility === 'visible';
    const halves = line => ['en', 'zh'].map(lang =>
        [...line.querySelectorAll(`[lang=${lang}]`)].filter(seen).length > 0);
    const both = row => [...document.querySelectorAll('g.node .mg-' + row)]
        .filter(line => seen(line) && line.textContent).map(halves);
    return {
        cut: [...document.querySelectorAll('.mg-caption > div')]
            .filter(part => part.scrollHeight > part.clientHeight + 1).map(p => p.textContent),
        what: both('what'), clock: both('clock'),
        high: document.querySelector('.mg-player').offsetHeight,
        clashes: innerWidth < 1440 ? [] : (%s)(),
    };
}"""


@pytest.mark.cases(2)
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("chosen", ["both", "one"])
@pytest.mark.parametrize(("name", "one"), [("e2", "en"), ("layers", "zh"), ("compare", "zh")])
def test_both_languages_at_once_have_room(
    name: str, one: Literal["en", "zh"], chosen: str, width: int, page: Page, tmp_path: Path
) -> None:
    """Also in a page that was made for one of them, whose clocks speak that one."""
    clock = [chosen == "both" or one == language for language in ("en", "zh")]
    set_language("both" if chosen == "both" else one)
    path = VIEWS[SHARED[name]]().save(tmp_path / "page.html")
    heights = set()
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path.as_uri())
    speak(page, "both")
    for found in at_each_step(page, SPOKEN % CLASHES):
        assert found["cut"] == found["clashes"] == []
        assert all(halves == [True, True] for halves in found["what"])
        assert all(halves == clock for halves in found["clock"])
        heights.add(found["high"])
    assert len(heights) == 1
    assert heights.pop() <= 900


# ---- Keys, clicks, groups ---------------------------------------------------------------------


def test_groups_open_and_close_by_key_click_and_button(opened: Callable[..., Page]) -> None:
    page = opened("layers")
    page.locator(".mg-player").focus()
    boxes = page.locator("g.node")
    folded = boxes.count()
    page.get_by_role("button", name="linear1").click()
    page.keyboard.press("o")
    assert boxes.count() > folded
    assert page.locator("g.cluster").count() == 1
    page.get_by_role("button", name="MatMul").first.click()
    page.keyboard.press("o")
    assert boxes.count() == folded, "a node in a group closes it"
    page.get_by_role("button", name="linear2").dblclick()
    assert boxes.count() > folded
    page.get_by_role("button", name="MatMul").first.click()
    page.get_by_role("button", name="close linear2").click()
    assert boxes.count() == folded
    assert page.locator("g.mg-unborn").count() == 0


def test_the_keys_stay_with_a_drawing_whose_groups_open(opened: Callable[..., Page]) -> None:
    page = opened("layers")
    page.locator(".mg-steps").fill("2")
    page.get_by_role("button", name="linear1").click()
    for _ in range(2):
        page.keyboard.press("o")
        assert page.evaluate(
            "document.querySelector('.mg-player').contains(document.activeElement)"
        )
    page.keyboard.press("End")
    assert page.locator("g.mg-unborn").count() == 0
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.locator(".mg-controls output").inner_text().startswith("1 /")


def test_partners_light_up_together(opened: Callable[..., Page]) -> None:
    page = opened("compare")
    page.locator(".mg-player").first.focus()
    page.keyboard.press("End")
    settle(page)
    first, second = (page.locator(".mg-drawing").nth(i) for i in (0, 1))
    node = first.get_by_role("button", name=re.compile("^ReLU"))
    partner = second.get_by_role("button", name=re.compile("^ReLU"))
    node.hover()
    assert "mg-hover" in partner.get_attribute("class")
    page.locator(".mg-caption").hover()
    assert "mg-hover" not in partner.get_attribute("class")
    node.click()
    assert "mg-chosen" in node.get_attribute("class")
    assert "mg-linked" in partner.get_attribute("class")
    assert page.locator(".mg-inspector h2").count() == 2
    places = [
        {g.get_attribute("aria-label"): g.bounding_box() for g in d.locator("g.node").all()}
        for d in (first, second)
    ]
    assert set(places[0]) == set(places[1])
    left, top = ([min(b[edge] for b in place.values()) for place in places] for edge in "xy")
    for name, box in places[0].items():
        other = places[1][name]
        assert abs((box["y"] - top[0]) - (other["y"] - top[1])) < 12, name
        assert abs((box["x"] - left[0]) - (other["x"] - left[1])) < 12, name


def test_the_keys_go_from_node_to_node(opened: Callable[..., Page]) -> None:
    page = opened("e1")
    page.locator(".mg-player").focus()
    page.keyboard.press("End")
    names = []
    for _ in range(5):
        page.keyboard.press("ArrowDown")
        names.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert names == ["x: 2, ∂ 4", "Mul: 4, ∂ 1", "3: 3", "Add: 7, ∂ 1", "x: 2, ∂ 4"]
    assert page.locator(".mg-inspector h2").inner_text() == "x"
    page.keyboard.press("ArrowUp")
    assert page.locator(".mg-chosen").get_attribute("aria-label") == "Add: 7, ∂ 1"
    page.keyboard.press("ArrowLeft")
    assert page.locator(".mg-controls output").inner_text() == "6 / 7", "steps go on from a node"
    assert page.locator("g.node[tabindex='0']").count() == 1, "one stop of the Tab key for all"


def test_an_arrow_tells_what_it_carries(opened: Callable[..., Page]) -> None:
    page = opened("e5")
    page.locator(".mg-steps").fill("8")
    page.locator("g.edge").first.dispatch_event("click")
    text = page.locator(".mg-inspector").inner_text()
    assert "W → MatMul" in text
    assert "(2, 2) float32" in text
    assert "[[0, 0], [1, 1]]" in text


def test_what_flows_on_one_of_two_arrows_is_written_outside_of_both(
    opened: Callable[..., Page],
) -> None:
    page = opened("e1")
    for step in (5, 6):  # Mul passes back to x along either arrow
        page.locator(".mg-steps").fill(str(step))
        middles = page.evaluate(
            """() => {
                const middle = e => {
                    const box = e.getBoundingClientRect();
                    return (box.top + box.bottom) / 2;
                };
                const arrows = [...document.querySelectorAll('g.edge')].slice(0, 2);
                return [...arrows.map(g => middle(g.querySelector('.mg-line'))),
                    middle(document.querySelector('.mg-chip'))];
            }"""
        )
        assert not min(middles[:2]) < middles[2] < max(middles[:2]), step


def test_a_formula_stands_off_the_colon_before_it(opened: Callable[..., Page]) -> None:
    page = opened("e1")
    page.locator(".mg-steps").fill("3")
    phrases = page.locator(".mg-caption .mg-phrase:visible")
    before, formula = (phrases.nth(i).bounding_box() for i in (0, 1))
    assert before
    assert formula
    assert formula["x"] - before["x"] - before["width"] > 2


def test_marks_and_cards_are_linked(opened: Callable[..., Page]) -> None:
    page = opened("e1")
    page.locator(".mg-player").focus()
    page.keyboard.press("End")
    page.get_by_role("button", name="Mul:").hover()
    assert page.locator(".mg-notes-pointed circle").count() == 2, "built and run at once; gradient"
    place = page.locator(".mg-note-both.mg-note-of-operator").nth(1).bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    assert page.locator("g.node.mg-hover").get_attribute("aria-label").startswith("Add")
    assert (
        page.locator(".mg-score").get_attribute("title")
        == "2: built and run Add = 7 / 构建并运行 Add = 7"
    )
    page.mouse.down()
    assert page.locator(".mg-controls output").inner_text() == "2 / 7"
    page.mouse.move(x - 50, y, steps=4)
    page.mouse.up()
    assert page.locator(".mg-controls output").inner_text() == "1 / 7", "it was dragged"
    page.keyboard.press("ArrowRight")
    assert page.locator(".mg-controls output").inner_text() == "2 / 7"
    assert page.get_by_role("slider", name="step").get_attribute("aria-valuetext").startswith("2: ")


LINES = """() => [...document.querySelectorAll('.mg-stairs')].map(line => {
    const ends = line.getAttribute('d').split('M').slice(1).map(d => d.match(/[\\d.]+/g));
    const places = [...document.querySelectorAll('.mg-note > circle:first-child')].map(circle =>
        ['cx', 'cy'].map(name => circle.getAttribute(name)));
    const rows = [...new Set(places.map(([, y]) => Number(y)))].sort((a, b) => a - b);
    const row = y => rows.findIndex(row => Math.abs(row - y) < 1);
    return ends.map(way => [row(way[1]), row(way.at(-1))]);
})"""


def test_lines_of_the_score_go_from_operands_to_what_reads_them(
    opened: Callable[..., Page],
) -> None:
    page = opened("e5")
    rows = page.locator(".mg-row-name").all_text_contents()
    assert rows == ["W", "x", "b", "W @ x", "W @ x + b", "return mg.relu(W @ x + b)"]
    forward, back = page.evaluate(LINES)
    read = {(0, 3), (1, 3), (3, 4), (2, 4), (4, 5)}
    assert {tuple(ends) for ends in forward} == read, "none from b to @"
    assert {tuple(ends) for ends in back} == {(b, a) for a, b in read}
    _, back = opened("e1").evaluate(LINES)
    assert back == [[2, 1], [1, 0], [1, 0]], "both contributions to x come from x * x"


# The arrows that a chip stands on, but for its own.
CROSSED = """() => {
    const { left, right, top, bottom } =
        document.querySelector('.mg-chip').getBoundingClientRect();
    const inside = ({ x, y }) => left < x && x < right && top < y && y < bottom;
    return [...document.querySelectorAll('g.edge:not(.mg-back) .mg-line')].filter(path => {
        const [step, matrix] = [path.getTotalLength() / 200, path.getScreenCTM()];
        return Array.from({ length: 200 }, (_, i) => path.getPointAtLength(step * i))
            .some(point => inside(point.matrixTransform(matrix)));
    }).length;
}"""


def test_what_flows_is_written_clear_of_other_arrows(opened: Callable[..., Page]) -> None:
    page = opened("fan")
    page.locator(".mg-steps").fill("11")  # Mul passes back to b, between two arrows
    assert page.locator(".mg-chip").inner_text() == "1 × 3 = 3"
    assert page.evaluate(CROSSED) == 0


def test_zoom_fit_and_drag(opened: Callable[..., Page]) -> None:
    page = opened("long")
    drawing = page.locator(".mg-drawing")
    width = "d => d.querySelector('svg').getBoundingClientRect().width"
    fits = "d => d.scrollHeight <= d.clientHeight + 1 && d.scrollWidth <= d.clientWidth + 1"
    assert drawing.evaluate(fits), "at first all of it is seen"
    whole = drawing.evaluate(width)
    page.locator(".mg-player").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert drawing.evaluate(width) == pytest.approx(whole * 1.25**2, rel=0.02)
    page.keyboard.press("-")
    assert drawing.evaluate(width) == pytest.approx(whole * 1.25, rel=0.02)
    page.get_by_role("button", name="fit").click()
    assert drawing.evaluate(fits)
    page.evaluate(ENLARGED % "() => 0", 12)
    more, map_ = page.locator(".mg-more:visible"), page.locator(".mg-map")
    assert map_.is_visible()
    hidden = sum(int(re.sub(r"\D", "", text)) for text in more.all_inner_texts())
    assert hidden > 100, "it says how many are out of sight, and where"
    page.locator(".mg-steps").fill("40")
    page.keyboard.press("ArrowRight")
    settle(page)
    page.wait_for_timeout(500)
    card, box = (page.locator(".mg-now").first.bounding_box(), drawing.bounding_box())
    for start, size in (("x", "width"), ("y", "height")):
        middle = card[start] + card[size] / 2 - box[start]
        assert box[size] / 3 - 2 <= middle <= 2 * box[size] / 3 + 2, "the step is in the middle"
    page.locator(".mg-more-right:visible, .mg-more-left:visible").first.click()
    page.wait_for_timeout(500)
    before = drawing.evaluate("d => d.scrollLeft")
    page.mouse.move(box["x"] + 300, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 40, steps=4)
    page.mouse.up()
    assert drawing.evaluate("d => d.scrollLeft") == pytest.approx(before + 100, abs=2)
    page.keyboard.press("Home")
    page.keyboard.press("End")
    settle(page)
    place = "d => [d.scrollLeft, d.scrollTop]"
    drawing.evaluate("d => d.scrollTo(d.scrollWidth, d.scrollHeight)")  # the film ended elsewhere
    away = drawing.evaluate(place)
    drawing.locator("g.node").last.dispatch_event("click")
    assert page.locator("g.mg-chosen").count() == 1
    assert drawing.evaluate(place) == away, "to choose a card does not lead away from it"


def test_a_step_touches_only_what_changes(opened: Callable[..., Page]) -> None:
    """At 120 nodes; how long it takes is measured by the bench."""
    page = opened("long", moves=True)
    assert page.locator("g.node").count() > 120
    page.locator(".mg-player").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    touched = page.locator(".mg-drawing").evaluate(
        """drawing => {
            const step = document.querySelector('.mg-controls button[aria-label^="step forward"]');
            const watch = new MutationObserver(() => {});
            watch.observe(drawing, { subtree: true, attributes: true, childList: true });
            const counts = [];
            for (let i = 0; i < 20; i++) { step.click(); counts.push(watch.takeRecords().length); }
            return counts;
        }"""
    )
    assert max(touched) < 50
    enlarged(page)
    settle(page)
    page.keyboard.press("ArrowRight")
    assert 0 < page.evaluate("document.getAnimations().length") < 20, "only what changes moves"


# What the browser keeps as a layer each, and goes through for each frame: what was placed or moved,
# and what fades in a drawing, which is then painted in two.
LAYERS = """() => {
    const step = document.querySelector('.mg-controls button[aria-label^="step forward"]');
    for (let i = 0; i < 12; i++) step.click();
    const moved = ({ position, transform }) => position !== 'static' || transform !== 'none';
    const outside = [...document.querySelectorAll('.mg-player *:not(svg *)')];
    const effects = document.getAnimations().map(({ effect }) => effect);
    const inside = effects.filter(e => e.target.closest('svg') && e.getKeyframes()[0].opacity);
    return [outside.filter(e => moved(getComputedStyle(e))).length, inside.length];
}"""


def test_a_step_has_few_layers_and_no_rule_that_looks_ahead(
    saved: Pages, opened: Callable[..., Page]
) -> None:
    """At 120 nodes there are many marks; each `:has` would be asked about all of them again."""
    page = opened("long")
    assert int(page.locator(".mg-steps").get_attribute("max")) > 120
    outside, inside = page.evaluate(LAYERS)
    assert outside < 60
    assert inside == 0
    assert ":has(" not in saved["long"].read_text(encoding="utf-8")


# Steps, or clicks on nodes, one frame each; for each how many elements of the page were touched.
TOUCHED = """async ([selector, times]) => {
    const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    const targets = [...document.querySelectorAll(selector)];
    const watch = new MutationObserver(() => {});
    const all = { subtree: true, attributes: true, childList: true, characterData: true };
    watch.observe(document.querySelector('.mg-player'), all);
    const counts = [];
    for (let i = 0; i < times; i++) {
        const target = targets[(7 * i) % targets.length];
        target.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        const changes = watch.takeRecords();
        counts.push(new Set(changes.flatMap(c => [c.target, ...c.addedNodes])).size);
        await frame();
    }
    return counts;
}"""


def test_a_click_has_the_page_laid_out_once(opened: Callable[..., Page]) -> None:
    """At 120 nodes: whatever asks where things are asks before anything changes."""
    page = opened("long")
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def layouts() -> float:
        metrics = client.send("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "LayoutCount")

    assert page.locator(".mg-player *").count() > 2000
    for start in ("0", "65"):  # the first step, and one on the way back
        for selector in (".mg-controls button[aria-label^='step forward']", "g.node"):
            page.locator(".mg-steps").fill(start)
            page.evaluate(TOUCHED, [selector, 1])  # the first one learns where the arrows are
            before = layouts()
            touched = page.evaluate(TOUCHED, [selector, 8])
            assert layouts() - before <= 9, (start, selector)
            assert 0 < max(touched) < 150, "the caption, the inspector, and a few nodes and arrows"


def test_text_of_a_long_drawing_can_be_read_at_every_scale(opened: Callable[..., Page]) -> None:
    page = opened("long")
    first, *larger = [page.evaluate(SIZES), *page.evaluate(ENLARGED % SIZES, 12)]
    assert 10.99 <= min(first) <= max(first) <= 16
    assert min(map(min, larger)) >= 10.99
    assert max(larger[-1]) > 1.5 * max(first), "it was enlarged"


# What the inspector has above each node, from one to the next by key.
HEADINGS = """() => [...document.querySelectorAll('g.node')].map(() => {
    const key = new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true });
    document.querySelector('.mg-player').dispatchEvent(key);
    return document.querySelector('.mg-inspector h2').textContent;
})"""


def test_hostile_names_are_text_everywhere(tmp_path: Path, page: Page) -> None:
    first, *others = [
        mg.tensor([[1.0, -2.0]], requires_grad=True, name=n) for n in HOSTILE.values()
    ]
    spoilt = first * mg.tensor([[np.nan, np.inf]])
    page.goto(viz.step(sum(others, spoilt).sum()).save(tmp_path / "page.html").as_uri())
    at_each_step(page, "() => 0")
    assert set(HOSTILE.values()) <= {*page.evaluate(HEADINGS)}
    assert page.locator("script").count() == 1
    assert page.locator("img, b:not(.mg-staff-head b)").count() == 0
    assert page.errors == []


# ---- In VS Code -------------------------------------------------------------------------------

# VS Code shows outputs on a bare page: none of JupyterLab's variables or classes, its own on body.
THEMES = {
    "vscode-light": False,
    "vscode-dark": True,
    "vscode-high-contrast": True,
    "vscode-high-contrast vscode-high-contrast-light": False,
}
# This is its policy where `notebook.experimental.enableCsp` is on: nothing but what came along, and
# no font by address.
POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none';
  script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src https: http: data:;
  font-src https:; connect-src https:; child-src https: data:">"""
BARE = """<body class="{theme}" style="background: {paper}"><style>{css}</style>
<div id="output"></div><script type="module">{module}
const values = {values};
const model = {{ widget_manager: {{}}, get: (k) => values[k], set: (k, v) => {{ values[k] = v; }},
  save_changes() {{}}, on() {{}}, off() {{}}, send() {{}} }};
widget.render({{ model, el: document.getElementById("output") }});
</script></body>"""


def test_on_a_bare_page_the_theme_is_that_of_the_editor(page: Page) -> None:
    """Whatever the system's own colours are, and also where the reader chooses another one."""
    player = VIEWS["compare"]()
    page.set_content(
        POLICY
        + BARE.format(
            theme="",
            paper="var(--paper)",
            css=player._css,
            module=player._esm.replace("export default", "const widget ="),
            values=json.dumps({"data": player.data, "index": 0}).replace("<", "\\u003c"),
        )
    )
    at_each_step(page, "() => 0")
    for theme, dark in THEMES.items():
        paper = "#1e1e1e" if dark else "#ffffff"
        page.evaluate(
            """([theme, paper]) => {
                document.body.className = theme;
                document.body.style.setProperty('--paper', paper);
            }""",
            [theme, paper],
        )
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert unlike(page, dark) == [], (theme, scheme)
        assert page.evaluate(CLASHES) == [], theme
    assert page.errors == []


LATE = """const el = document.createElement("div");
widget.render({{ model, el }});
requestAnimationFrame(() => document.getElementById("output").append(el));"""


def test_the_node_of_the_first_step_is_in_sight_where_the_page_takes_the_player_up_late(
    page: Page,
) -> None:
    """JupyterLab renders a widget before it puts it on the page."""
    player = chain(9).at_backward()
    page.set_viewport_size({"width": 900, "height": 800})
    late = re.sub(r"(?s)widget\.render.*?\);\n", lambda m: LATE, BARE)
    assert late != BARE
    page.set_content(
        late.format(
            theme="",
            paper="white",
            css=player._css,
            module=player._esm.replace("export default", "const widget ="),
            values=json.dumps({"data": player.data, "index": player.index}).replace("<", "\\u003c"),
        )
    )
    page.locator(".mg-now").first.wait_for()
    page.wait_for_timeout(300)
    card, box = (page.locator(c).first.bounding_box() for c in (".mg-now", ".mg-drawing"))
    assert card
    assert box
    assert box["x"] <= card["x"]
    assert card["x"] + card["width"] <= box["x"] + box["width"]


def test_the_chinese_font_arrives_under_its_policy(page: Page) -> None:
    """The kernel sends the bytes; a font by address, even by one that holds it, is blocked."""
    switch = LanguageSwitch()
    module = switch._esm.replace("export default", "const widget =")
    page.set_content(
        f"""{POLICY}<body><style>{switch._css}</style><div id="output"></div>
        <script type="module">{module}
        const values = {json.dumps({"language": "zh", "label": switch.label})};
        window.heard = {{}};
        const model = {{ get: (k) => values[k], set() {{}}, save_changes() {{}}, off() {{}},
          on: (name, f) => {{ window.heard[name] = f; }}, send: (m) => {{ window.sent = m; }} }};
        widget.render({{ model, el: document.getElementById("output") }});
        </script></body>"""
    )
    assert page.evaluate("window.sent") == {"kind": "font"}
    page.evaluate(
        """font => window.heard['msg:custom']({ kind: 'font' },
            [Uint8Array.from(atob(font), c => c.charCodeAt(0)).buffer])""",
        base64.b64encode(FONT_PATH.read_bytes()).decode(),
    )
    page.wait_for_function("() => document.documentElement.dataset.mgFont === 'loaded'")
    assert boxed(page, "button") == set()
    assert page.errors == []


# How light a picture is, on average, from 0 to 255.
MEAN_LIGHT = """async code => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${code}`;
    await picture.decode();
    const [width, height] = [picture.width, picture.height];
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(picture, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    return data.reduce((sum, v, i) => sum + (i % 4 < 3 ? v : 0), 0) / (3 * width * height);
}"""


def test_charts_are_dark_where_the_editor_is(page: Page) -> None:
    """They are images, which know only the system's theme; the page tells them the editor's."""
    chart = viz.curves({"SGD": [2.0, 1.0]}, title=("Loss", "损失"), x=("", ""), y=("", ""))
    shown = chart._repr_mimebundle_()["text/html"]
    for theme, dark in THEMES.items():
        page.emulate_media(color_scheme="light" if dark else "dark")
        page.set_content(f'<body class="{theme}">{shown}</body>')
        shot = page.locator(".mg-chart img").first.screenshot()
        light = page.evaluate(MEAN_LIGHT, base64.b64encode(shot).decode())
        assert light < 90 if dark else light > 180, f"what is seen: {theme}"


def test_messages_hold_no_arrays() -> None:
    """A player of a million numbers sends as much as one of sixty thousand."""

    def sent(rows: int, columns: int) -> Any:
        x = mg.tensor(np.ones((rows, columns), np.float32), requires_grad=True, name="x")
        return len(str(viz.step((x * 2).sum()).data))

    assert sent(1000, 1000) < 1.1 * sent(240, 240)


TITLES = {"en": "dynamic graph: y = (x × x) + 3", "zh": "动态图：y = (x × x) + 3"}


TOLD = {"en": "upstream × local = 1 × 2 = 2", "zh": "上游 × 局部 = 1 × 2 = 2"}


def test_a_saved_page_plays_without_a_network(saved: Pages, chromium: Browser) -> None:
    """By keyboard, from its first to its last step, and it asks for nothing but itself."""
    page = chromium.new_page(offline=True)
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(saved["e1"].as_uri())
    for code, words, scheme in (("zh", "中文", "dark"), ("en", "English", "light")):
        page.emulate_media(color_scheme=scheme)
        page.get_by_role("button", name=words, exact=True).press("Enter")
        said = "() => document.querySelector('.mg-caption').innerText"
        steps = step_to_end(page) if code == "zh" else ()
        captions = [page.evaluate(said) for _ in steps] or at_each_step(page, said)
        captions = [text.replace("\xa0", " ") for text in captions]
        assert len(set(captions)) == len(captions) == 8
        assert TOLD[code] in captions[5]
        assert page.locator("h1").count() == 1
        assert page.locator("h1").inner_text().replace("\xa0", " ") == TITLES[code]
        assert (luminance(page, ".mg-player", "backgroundColor") < 60) is (scheme == "dark")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    page.close()


# ---- One size, one scale, values that travel --------------------------------------------------

# Height of the player, and how much of its area shows drawings, and these or their score.
SHARE = """() => {
    const area = e => { const box = e.getBoundingClientRect(); return box.width * box.height; };
    const player = document.querySelector('.mg-player');
    const [stage, score] = ['.mg-stage', '.mg-score']
        .map(part => area(document.querySelector(part)) / area(player));
    return [player.getBoundingClientRect().height, stage, stage + score];
}"""


PHONE = """() => {
    const box = e => e.getBoundingClientRect();
    const player = document.querySelector('.mg-player');
    const hit = [...player.querySelectorAll('button, input')].map(box).filter(b => b.width);
    return {
        high: box(player).height,
        drawings: [...player.querySelectorAll('.mg-drawing')].map(d => box(d).height),
        small: hit.filter(b => b.height < 44 || b.width < 44).length,
        below: box(player).bottom - box(player.querySelector('.mg-bar')).bottom,
        wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
}"""


@pytest.mark.parametrize("name", [pytest.param("both", marks=pytest.mark.exhaustive), "compare"])
def test_two_graphs_fit_the_screen_of_a_phone(name: str, opened: Callable[..., Page]) -> None:
    page = opened(name, 390)
    for language in ("en", "zh", "both"):
        speak(page, language)
        whole = language == "both" or covering.thorough  # what one of them says is shorter
        found = at_each_step(page, PHONE) if whole else [page.evaluate(PHONE)]
        assert len({state["high"] for state in found}) == 1
        for state in found:
            assert state["high"] <= 844
            least = 60 if language == "both" else 92
            assert min(state["drawings"]) >= least, "name and value of a card have room"
            assert (state["small"], state["wide"]) == (0, 0)
            assert state["below"] < 2, "the buttons end it"


@pytest.mark.parametrize("width", [390, 770])
def test_the_gradient_of_a_matrix_is_apart_from_its_value(
    width: int, opened: Callable[..., Page]
) -> None:
    page = opened("compare", width)
    ends = """both => both.map(slot => slot.getBoundingClientRect()).map(({ top, bottom }) =>
        [top, bottom])"""
    matrix = page.locator("g.node", has=page.locator('[data-grid*=";"]')).first
    (_, value), (gradient, _) = matrix.locator(".mg-swatch").evaluate_all(ends)
    assert gradient - value > 3.5


# The same with each panel open and closed, with a node chosen, with its group open and closed.
CHANGED = """async () => {
    const [look, found] = [%s, []];
    const player = document.querySelector('.mg-player');
    const panels = [...player.querySelectorAll('.mg-tools button[aria-expanded]')];
    const press = key => player.dispatchEvent(new KeyboardEvent('keydown', { key }));
    const changes = [...panels, ...panels].map((_, i) => () => panels[i >> 1].click());
    const keys = ['ArrowDown', 'o', 'o'].map(key => () => press(key));
    for (const change of [() => {}, ...changes, ...keys]) {
        change();
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        found.push(look());
    }
    return found;
}"""


SIZED = [("e1", 1400), ("layers", 390), ("e10", 1024), ("both", 1400)]


@pytest.mark.parametrize(
    ("name", "width"),
    [
        pytest.param(*case, marks=[pytest.mark.exhaustive] * (case not in SIZED))
        for case in product(("e1", "layers", "e10", "both"), (1400, 1024, 390))
    ],
)
def test_a_player_never_changes_its_size(
    name: str, width: int, opened: Callable[..., Page]
) -> None:
    """While it steps, while something is chosen, opened, shown; and most of it is drawing."""
    page = opened(name, width)
    page.set_viewport_size({"width": width, "height": 900})
    painted(page)
    found = page.evaluate(CHANGED % SHARE)
    assert len(found) > 6, "at least two panels"
    if name == "e1" or covering.thorough:  # at each step the others are looked at with all views
        found += at_each_step(page, SHARE)
    heights, drawings, shares = zip(*found, strict=True)
    assert set(heights) == {heights[0]}
    assert heights[0] <= 900 - 98, "what stands above it on its page is seen with it"
    assert min(shares) >= 0.65, "most of it is graph and score"
    beside = page.locator(".mg-lanes").count()
    assert min(drawings) >= (0.3 if beside else 0.38), "the graph is the larger part"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off"


# A browser that never says what has become of a size.
DEAF = "window.ResizeObserver = class { observe() {} unobserve() {} disconnect() {} };"


@pytest.mark.parametrize(("name", "width"), [("e10", 1024), ("both", 1400)])
def test_a_player_has_its_height_before_the_first_frame(
    name: str, width: int, opened: Callable[..., Page], saved: Pages, chromium: Browser
) -> None:
    screen: Any = {"width": width, "height": HEIGHTS[width]}
    deaf = chromium.new_page(viewport=screen, reduced_motion="reduce")
    deaf.add_init_script(DEAF)
    deaf.goto(saved[name].as_uri())
    painted(deaf)
    height = deaf.evaluate(SHARE)[0]
    deaf.close()
    assert opened(name, width).evaluate(SHARE)[0] == height


def test_arrows_of_gradients_go_with_the_gradients(opened: Callable[..., Page]) -> None:
    """A call has none of the one before; another pass begins those of its sums anew."""
    page = opened("both")
    used = [page.locator(f".mg-graph:nth-child({i}) g.edge.mg-used") for i in (1, 2)]
    for step, counts in {6: (3, 0), 8: (1, 0), 11: (0, 1), 14: (3, 3), 20: (3, 2)}.items():
        page.locator(".mg-steps").fill(str(step))
        assert tuple(each.count() for each in used) == counts, step


def test_the_frame_of_a_player_with_the_keys_is_whole(opened: Callable[..., Page]) -> None:
    page = opened("both")
    page.locator(".mg-player").focus()
    page.keyboard.press("ArrowRight")
    box = page.locator(".mg-screen").bounding_box()
    assert box
    for left in (box["x"], box["x"] + box["width"] - 1):
        clip = {"x": left, "y": box["y"] + 20, "width": 1, "height": box["height"] - 40}
        column = imread(BytesIO(page.screenshot(clip=clip)))
        assert len(np.unique(column.reshape(-1, column.shape[-1]), axis=0)) == 1


# The sizes of all texts in drawings that are seen, in pixels of the screen.
SIZES = """() => [...document.querySelectorAll('.mg-drawing text')]
    .filter(t => t.textContent.trim() && t.getClientRects().length)
    .map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a)"""


# The long one is looked at above.
@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=[pytest.mark.exhaustive] * (x != "both")) for x in (*OWN, *SHARED)],
)
def test_text_in_drawings_is_as_large_as_on_the_page(
    name: str, opened: Callable[..., Page]
) -> None:
    """Whatever is drawn, at whatever scale: 11 to 16 pixels."""
    found = opened(name).evaluate(SIZES)
    assert 10.99 <= min(found) <= max(found) <= 16


# The same for each of these sizes of a drawing, none of which is painted.
ENLARGED = """times => Array.from({ length: times }, () => {
    document.querySelector('.mg-player').dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
    return (%s)();
})"""


@pytest.mark.parametrize("moves", [True, False])
def test_values_travel_where_motion_is_wanted(moves: bool, opened: Callable[..., Page]) -> None:
    """From the middle of one card into that of the other, and back; by steps, not by jumps."""
    page = opened("e1", moves=moves)
    page.locator(".mg-player").focus()
    page.keyboard.press("Home")
    travelling, standing = page.locator(".mg-travels"), page.locator(".mg-chip:not(.mg-travels)")
    halt = "document.getAnimations().forEach(move => { move.pause(); move.currentTime = 0; })"
    end = "document.getAnimations().forEach(move => { move.currentTime = 419; })"
    middle = """([what, i]) => {
        const box = document.querySelectorAll(what)[i].getBoundingClientRect();
        return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    }"""
    page.keyboard.press("ArrowRight")
    page.evaluate(halt)
    assert standing.count() == 0, "an operand is in its card, and nowhere else"
    assert travelling.all_text_contents() == ["2", "2"] * moves
    if moves:
        cards = {
            label: page.get_by_role("button", name=label).locator(".mg-card").bounding_box()
            for label in ("x:", "Mul:")
        }
        centre = {k: box["x"] + box["width"] / 2 for k, box in cards.items()}
        starts = page.evaluate(middle, [".mg-travels", 0])
        assert starts[0] == pytest.approx(centre["x:"], abs=3)
        page.evaluate(end)
        ends = page.evaluate(middle, [".mg-travels", 0])
        assert ends[0] == pytest.approx(centre["Mul:"], abs=3)
        assert page.locator(".mg-was").count() == 1, "the card is being filled"
    page.locator(".mg-steps").fill("5")
    page.locator(".mg-player").focus()
    page.keyboard.press("ArrowRight")
    page.evaluate(halt)
    assert standing.all_text_contents() == ["1 × 2 = 2"]
    assert travelling.all_text_contents() == ["2"] * moves
    assert page.locator(".mg-grad").first.text_content() == "∂ 2 + 2 = 4"
    settle(page)
    page.wait_for_function("() => !document.querySelector('.mg-travels')")
    page.locator("g.node").first.click()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    page.locator(".mg-steps").fill("3")
    assert travelling.count() == 0, "neither a click nor a jump is a step"
    assert page.locator(".mg-was").count() == 0, "nothing of what was is left"


def test_a_page_draws_tensors_as_files_do(tmp_path: Path, page: Page) -> None:
    """Bars, cells, tiles, NaN and infinity: what the browser draws is what Python does."""
    x = mg.tensor(np.linspace(-1, 1, 288).reshape(2, 1, 12, 12), requires_grad=True, name="x")
    with np.errstate(all="ignore"):
        y = mg.log(mg.reshape(mg.relu(x) * x, (2, 144)))
        player = viz.step(mg.sum(mg.sum(y / mg.tensor(np.arange(144.0) % 7), axis=1)))
    page.goto(player.save(tmp_path / "page.html").as_uri())
    (film,) = player.films
    cards = on_cards(film, len(film.frames) - 1)
    kinds = set()
    for i, card in cards.items():
        for code, of in ((card.swatch, "value"), (card.back, "grad")):
            slot = page.locator(f'[id="{player.data["name"]}a-{i}"] .mg-of-{of}')
            seen = slot.inner_html() if slot.count() else ""
            written = re.sub(r"<(rect|path)([^>]*)/>", r"<\1\2></\1>", drawn(code) if code else "")
            assert seen == written
            kinds |= {code[:1], *({"N", "I"} & set(code))}
    assert kinds >= {"b", "c", "t", "N", "I"}


ROWS = """() => [...document.querySelectorAll(':is(.mg-grad:not(.mg-back *), .mg-del)')]
    .filter(row => row.textContent).length"""


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", ["e1", "e2", "e5", "layers"])
def test_gradients_stay_to_the_end(name: str, opened: Callable[..., Page]) -> None:
    page = opened(name)
    counts = at_each_step(page, ROWS)
    assert counts == sorted(counts)
    assert counts[-1] > 2
    output = page.locator("g.mg-output :is(.mg-grad, .mg-del)")
    assert name == "layers" or output.first.text_content().startswith("∂"), "the seed stays, too"
    pictured = page.locator("g.mg-back .mg-of-grad > .mg-sheet").count()
    assert page.locator("g.mg-back").count() == pictured


def test_all_arrows_of_a_gradient_that_goes_round_a_loop_stay(opened: Callable[..., Page]) -> None:
    """Mul is given one by While and, in the round before, by a: both at the same step."""
    page = opened("loop")
    assert page.locator("g.edge.mg-used").count() == 5
    assert not page.locator(".mg-planned-word").first.is_visible(), (
        "no picture shows what it counts"
    )
    told = page.locator(".mg-note-of-inside text").all_text_contents()
    assert {*told} == {"Σ", "9+9+9"}, "what it enters the body with is in the row of what reads it"
    through = page.locator(".mg-tally-grad .mg-through [lang=en]")
    assert through.text_content() == " to x, through the loop"
    assert through.is_visible()
    page.locator(".mg-steps").fill("10")
    assert not through.is_visible(), "nothing has come back yet"


def test_the_name_of_a_frame_is_on_no_arrow(opened: Callable[..., Page]) -> None:
    crossed = """names => names.map(name => { const box = name.getBoundingClientRect();
        return [...document.querySelectorAll('g.edge > .mg-line')].filter(line => {
            const [long, place] = [line.getTotalLength(), line.getScreenCTM()];
            return Array.from({length: 60}, (_, i) => line.getPointAtLength((long * i) / 59)
                .matrixTransform(place)).some(({x, y}) => x > box.left && x < box.right
                    && y > box.top && y < box.bottom); }).length; })"""
    for wide in (1400, 390):
        page = opened("loop", wide)
        assert page.locator(".mg-frame-name").evaluate_all(crossed) == [0, 0]


AHEAD = """() => {
    const past = document.querySelectorAll('.mg-staff-lines > svg:first-of-type > svg')[1];
    const left = (part) => part.getBoundingClientRect().left;
    const now = left(document.querySelector('.mg-playhead')) - left(past.ownerSVGElement) + 4;
    const [edge, ...marks] = [past, ...past.querySelectorAll('.mg-note > circle')];
    return marks.filter(({ cx: { baseVal: { value } }, r }) =>
        value > now && value - r.baseVal.value - 1 < edge.width.baseVal.value).length;
}"""


def test_a_loop_on_a_phone_shows_its_numbers_and_no_mark_before_its_step(
    opened: Callable[..., Page],
) -> None:
    for name in ("e10", "loop"):
        page = opened(name, 390)
        assert not wrong_at_steps(page, AHEAD)
    numbers = set(page.locator(".mg-note text").all_text_contents())
    assert {"3", "9", "27", "T", "F", "…"} <= numbers
    assert page.locator(".mg-note text:empty").count() == 0, "a wide number has a larger ring"
    grads = page.locator("g.node > .mg-short > .mg-short-grad").all_text_contents()
    assert sorted(grads) == ["∂ (1)", "∂ 1", "∂ 27", "∂ 3", "∂ 9+9+9"], "all along its way"
    assert page.locator(".mg-stairs-run").count()


CLEAR = """([...circles]) => {
    const head = document.querySelector('.mg-playhead').getBoundingClientRect().left;
    const of = all => all.map(circle => circle.getBoundingClientRect());
    const [small, large] = [true, false].map(constant => of(circles.filter(circle =>
        circle.closest('.mg-note-of-constant') ? constant : !constant)));
    const over = (a, b) => a.left < b.right && b.left < a.right
        && a.top < b.bottom && b.top < a.bottom;
    return [small.filter(a => large.some(b => over(a, b))).length,
        large.filter(a => a.right > head).length];
}"""


def test_no_constant_is_under_a_mark_and_no_mark_under_the_playhead_at_the_end(
    opened: Callable[..., Page],
) -> None:
    page = opened("loop", 390)
    painted(page)
    assert page.locator(".mg-note circle").evaluate_all(CLEAR) == [0, 0]


def test_a_loop_names_its_parts_in_chinese_and_a_phone_says_replay(
    opened: Callable[..., Page],
) -> None:
    page = opened("loop", 390)
    said = "parts => parts.map(part => part.innerText.trim())"
    assert page.locator(".mg-controls output").inner_text().split() == ["27", "/", "27"]
    assert "▶ replay" in page.locator(".mg-play").inner_text().replace("\n", " ")
    page.get_by_role("button", name="中文", exact=True).click()
    rows = page.locator(".mg-row-name").evaluate_all(said)
    assert [row.partition(":")[0] for row in rows[2:5]] == ["条件", "循环体", "循环体"]
    names = "names => names.map(name => name.querySelector('[lang=zh]').textContent)"
    assert page.locator(".mg-frame-name").evaluate_all(names) == ["While: 条件", "While: 循环体"]


def test_what_repeats_is_seen_in_the_last_cells_of_a_strip_and_in_its_bars(
    tmp_path: Path, page: Page
) -> None:
    x = y = mg.tensor(0.5, requires_grad=True, name="x")
    for _ in range(50):
        y = mg.tanh(y) * x
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(viz.step(y).save(tmp_path / "rounds.html").as_uri())
    page.locator(".mg-steps").fill("126")
    assert page.locator(".mg-key > .mg-key-both").evaluate(CORNER) == "0px", "bars in its key, too"
    assert page.locator(".mg-dots[stroke-linecap=butt]").count() > 0
    assert page.locator(".mg-dots-run[transform]").count() > 0, "built above, run below"
    back = page.locator(".mg-cell").evaluate_all(
        "cells => cells.map(cell => cell.matches('.mg-cell-back'))"
    )
    assert any(back)
    assert back == sorted(back), "from its end"
    bars = """paths => paths.map(path => path.getAttribute("d").split("M").length - 1)"""
    looks = ".mg-dots-run, .mg-dots-gradient:not(.mg-dots-between)"
    ends = 2 * 3  # of each row
    assert page.locator(looks).evaluate_all(bars) == [2 * ends, 3 * ends], "single marks"
    starts = """path => path.getAttribute("d").split("M").slice(1).map(way => way.split(" "))"""
    run = page.locator(looks).first.evaluate(starts)
    turns = [row for _, row in sorted((float(x), end.split("H")[0]) for x, end in run)]
    assert all(one != other for one, other in pairwise(turns[:ends])), "which take turns"
    times = page.locator(".mg-times")
    said = ["··· × 50 ···", "··· × 50 ···", "··· × 51 ···", "× 50", "× 50"]
    assert sorted(times.all_text_contents()) == said, "the input gets one more"
    plates = page.locator(".mg-times-plate")
    for k in range(len(said)):  # no number lies on the seam of two colours
        word, plate = times.nth(k).bounding_box(), plates.nth(k).bounding_box()
        assert word
        assert plate
        assert plate["x"] < word["x"] < word["x"] + word["width"] < plate["x"] + plate["width"]
    page.set_viewport_size({"width": 770, "height": 780})
    page.wait_for_function("() => !document.querySelector('.mg-times')")
    assert page.locator(looks).evaluate_all(bars) == [100, 151], "each mark of all rows is a bar"


def told(texts: Locator) -> list[str]:
    """What is seen of texts whose words are in both languages, without those that are empty."""
    found = texts.evaluate_all(
        """texts => texts.map(text => [...text.childNodes]
            .filter(n => getComputedStyle(n.parentElement).visibility === 'visible'
                && (n.nodeType === Node.TEXT_NODE || n.getClientRects().length))
            .map(n => n.textContent).join('').replace(/\\s+/g, ' ').trim())"""
    )
    return [text for text in found if text]


def test_each_card_tells_when_it_was_born_and_when_it_ran(opened: Callable[..., Page]) -> None:
    """By the numbers of the steps, as they happen, in both modes and languages."""
    page = opened("both")
    page.locator(".mg-player").focus()
    page.keyboard.press("Home")
    clocks = page.locator("g.mg-output .mg-clock")
    assert told(clocks) == []
    page.locator(".mg-steps").fill("4")
    assert told(clocks) == ["built, ran: step 2", "built at step 4"]
    page.keyboard.press("End")
    dynamic, built, ran = told(clocks)
    assert dynamic == "built, ran: step 10", "the second call builds another one"
    assert built == "built at step 4"
    assert re.fullmatch(r"ran at step \d+", ran)
    earlier = page.locator("g.mg-anew > .mg-card").evaluate_all(
        "all => all.map(card => getComputedStyle(card).filter.split('drop-shadow').length - 1)"
    )
    assert earlier == [2] * 3, "in the place of the first, one sheet with its edge"
    page.get_by_role("button", name="中文", exact=True).click()
    assert told(clocks)[0] == "第 10 步构建并运行"


# Whether the name of the axis is clear of the numbers, and each of these of the next one.
APART = """() => {
    const box = e => e.getBoundingClientRect();
    const name = box(document.querySelector('.mg-axis-name'));
    const ticks = [...document.querySelectorAll('.mg-tick')].map(box);
    const end = box(document.querySelector('.mg-score')).right;
    return ticks.length > 1 && name.left > 0 && name.right < ticks[0].left
        && ticks.every((tick, i) => tick.right < (ticks[i + 1]?.left ?? end));
}"""


def test_the_score_says_what_was_built_and_what_ran(opened: Callable[..., Page]) -> None:
    """Which line, in which phase, and how often; each word has room."""
    page = opened("both")
    assert page.locator(".mg-row-name").all_text_contents() == ["x", "x * x", "x * x + 3"] * 2
    phases = page.locator(".mg-phase")
    dynamic = ["build + run 构建 +\u00a0运行", "backward 反向"]
    runs = ["run 运行", "backward 反向"]
    said = [*dynamic, *dynamic, "build 构建", "build ∂ 构建 ∂", *runs, *runs]
    assert phases.locator("> :first-child").all_text_contents() == said
    cut = "all => all.filter(e => !e.matches('.mg-bare') && e.scrollWidth > e.clientWidth).length"
    axis = {"en": "steps, not time", "zh": "步数，不是时间", "both": "steps 步数"}
    for wide in (1400, 770, 390):
        page.set_viewport_size({"width": wide, "height": 844})
        for language, told in axis.items():
            speak(page, language)
            if wide == 1400:
                assert phases.evaluate_all(cut) == 0
                names = [text for text in page.locator(".mg-axis-name").all_inner_texts() if text]
                assert names == [told], "of both: the axis is one"
            else:
                page.wait_for_function(APART)
    page.locator(".mg-steps").fill("5")
    middle = "e => { const { left, width } = e.getBoundingClientRect(); return left + width / 2; }"
    bar, tick = page.locator(".mg-playhead"), page.locator(".mg-tick", has_text=re.compile("^5$"))
    assert abs(bar.evaluate(middle) - tick.evaluate(middle)) < 1, "on its step"
    page.locator(".mg-steps").fill("4")
    counts = page.locator(".mg-count").all_text_contents()
    assert counts == ["2", "2", "1", "2", "0", "0"]
    here = page.locator(".mg-row-name.mg-here")
    assert here.all_text_contents() == ["x * x", "x * x + 3"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_phone_has_room_for_a_short_word(language: str, opened: Callable[..., Page]) -> None:
    page = opened("both", 390)
    speak(page, language)
    said = page.locator(".mg-phase-backward").all_inner_texts()
    assert said == 4 * [{"en": "back", "zh": "反向"}[language]]


# Whether it is said that a film is over, and whether the playhead is before the end of that.
OVER = """() => {
    const [over, head] = ['.mg-over', '.mg-playhead'].map(part => document.querySelector(part));
    const seen = over.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const [{ right }, { left }] = [over, head].map(part => part.getBoundingClientRect());
    return [seen, seen && left + 2 < right];
}"""


def test_a_film_that_is_over_is_said_to_be_once_the_playhead_is_past(
    opened: Callable[..., Page],
) -> None:
    seen, under = zip(*at_each_step(opened("both"), OVER), strict=True)
    assert not any(under), "the playhead is past it"
    assert list(seen) == sorted(seen)
    assert seen[-1]
    assert not seen[len(seen) // 2]


def test_what_was_checked_is_said_at_the_end(opened: Callable[..., Page]) -> None:
    page = opened("both")
    verdict, steps = page.locator(".mg-verdict"), page.locator(".mg-steps")
    assert verdict.is_visible(), "it rests there"
    last = int(steps.get_attribute("max") or 0)
    for step, seen in ((last // 2, False), (last - 1, False), (last, True)):
        steps.fill(str(step))
        assert verdict.is_visible() is seen


def test_what_both_graphs_say_is_said_once(opened: Callable[..., Page]) -> None:
    page = opened("both")
    page.locator(".mg-player").focus()
    page.keyboard.press("Home")
    said = page.locator(".mg-caption > div")
    assert [text for text in said.all_inner_texts() if text] == [
        "Nothing has happened yet. Press → to begin."
    ]
    page.keyboard.press("End")
    assert said.count() == 2


def test_a_row_of_the_score_whose_name_just_fits_is_not_cut(tmp_path: Path, page: Page) -> None:
    wrong = judge("L08.core", written("L08.core", "def same_work(a, b):\n    return a.op == b.op"))
    path = tmp_path / "letters.html"
    wrong.picture().save(path)
    for wide in (1440, 770, 390):
        page.set_viewport_size({"width": wide, "height": 780})
        page.goto(path.as_uri())
        painted(page)
        assert page.locator(".mg-row-name").all_text_contents() == ["x", "a", "b"]


def test_all_marks_of_a_score_show_their_numbers_or_none_does(saved: Pages, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(saved["both"].as_uri())
    painted(page)
    numbers = page.locator(".mg-staff").locator(".mg-note > text")
    assert sorted(numbers.all_text_contents()) == sorted(4 * ["2", "4", "7", "1", "1", "2", "4"])
    page.locator(".mg-inputs input").first.press("End")  # a number of three digits has no room
    page.wait_for_function("() => document.querySelector('.mg-score.mg-solid')")
    assert numbers.count() == 0


def test_a_folded_model_on_a_phone_has_plain_marks_and_one_row_of_controls(page: Page) -> None:
    page.set_viewport_size({"width": 386, "height": 844})  # as wide as in a lesson
    page.goto(views.saved("step layers").as_uri())
    painted(page)
    assert page.locator(".mg-drawing .mg-swatch path").count(), "cards have the colours of tensors"
    notes = "all => all.map(g => g.querySelector('.mg-colours') ? 1 : 0)"
    marks = page.locator(".mg-note:not(.mg-note-of-seed)").evaluate_all(notes)
    assert sum(marks) < len(marks) / 4, "and a mark only those of few cells"
    tops = "all => new Set(all.map(button => button.getBoundingClientRect().top)).size"
    assert page.locator(".mg-bar button:visible").evaluate_all(tops) == 1


def test_inputs_that_come_one_by_one_are_ticks(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(views.saved("step calls").as_uri())
    painted(page)
    given = page.locator(".mg-dots-given[stroke-linecap=butt]").first.get_attribute("d")
    rows = [way.split()[1].partition("H")[0] for way in (given or "").split("M")[1:]]
    assert max(map(rows.count, rows)) == 8, "x0 to x7"
    assert "▷ x1 … x6" in page.locator(".mg-short-shape").all_text_contents()


@pytest.mark.parametrize(("name", "width"), [("e1", 390), ("e1", 770), ("loop", 770)])
def test_what_a_gradient_adds_up_is_on_no_line(
    name: str, width: int, opened: Callable[..., Page]
) -> None:
    page = opened(name, width)
    label = page.locator(".mg-note-gradient > .mg-beside")
    assert {*label.all_text_contents()} == {"9+9+9" if "loop" in name else "+2"}
    crossed = """text => {
        const { x, y, width, height } = text.getBBox();
        const lines = document.querySelectorAll('.mg-stairs, .mg-lives, .mg-note > circle');
        return [...lines].flatMap(line => [0, 0.25, 0.5, 0.75, 1].flatMap(i => [0.3, 0.5, 0.7]
            .map(k => new DOMPoint(x + i * width, y + k * height)))
            .filter(point => line.isPointInStroke(point))).length; }"""
    assert label.first.evaluate(crossed) == 0


def test_what_is_no_number_is_marked_everywhere(tmp_path: Path, page: Page) -> None:
    x = mg.tensor([1.0, -1.0], requires_grad=True, name="x")
    page.goto(viz.step(mg.sum(mg.log(x))).save(tmp_path / "page.html").as_uri())
    page.locator(".mg-steps").fill("2")
    assert page.locator("g.mg-bad").count() == 2
    (word,) = page.locator("g.mg-bad .mg-said").all()
    cell, said = page.locator("g.mg-bad .mg-nan").bounding_box(), word.bounding_box()
    assert word.text_content() == "NaN"
    assert cell is not None
    assert said is not None
    assert said["x"] > cell["x"], "on the cell that is NaN, and on no other"
    born = page.locator("g.mg-origin")
    assert born.locator(".mg-sign").all_text_contents() == ["Log"]
    assert "first NaN/∞" in (born.locator(".mg-word").text_content() or "")
    page.locator(".mg-steps").fill("0")
    assert born.count() == 0
    assert page.locator(".mg-word").count() == 0
    page.locator(".mg-steps").fill("2")
    assert page.locator(".mg-note-run.mg-note-bad, .mg-note-both.mg-note-bad").count() == 2
    page.keyboard.press("ArrowRight")


# ---- References -------------------------------------------------------------------------------


def test_a_reference_leads_to_its_value(opened: Callable[..., Page]) -> None:
    page = opened("recurrent")
    card = page.locator("g.node", has=page.locator(".mg-sign", has_text=re.compile("^x$")))
    enlarged(page)
    last = page.locator(f'.mg-ref[data-of="{card.get_attribute("id")}"]').last
    last.scroll_into_view_if_needed()
    assert not inside_view(card)
    last.hover()
    assert "mg-hover" in (card.get_attribute("class") or "")
    last.click()
    settle(page)
    assert "mg-chosen" in (card.get_attribute("class") or "")
    assert inside_view(card)
    assert page.evaluate("document.activeElement.id") == card.get_attribute("id")
    assert page.locator(".mg-inspector").inner_text().startswith("x")


def test_a_card_points_at_its_references(opened: Callable[..., Page]) -> None:
    page = opened("recurrent")
    card = page.locator("g.node", has=page.locator(".mg-sign", has_text=re.compile("^w$")))
    card.hover()
    named = page.locator(f'.mg-ref[data-of="{card.get_attribute("id")}"]')
    assert named.count() == 7
    assert page.locator(".mg-ref.mg-hover").count() == 7
    assert {ref.get_attribute("role") for ref in named.all()} == {"link"}
    assert "w" in (named.first.get_attribute("aria-label") or "")
    assert "引用：w" in (named.first.get_attribute("aria-label") or "")


def test_what_flows_to_a_reader_comes_from_its_reference(opened: Callable[..., Page]) -> None:
    page = opened("recurrent", moves=True)
    enlarged(page)
    page.locator(".mg-steps").fill("19")
    flowing, referring, chips = page.evaluate(
        """() => {
            const player = document.querySelector('.mg-player');
            player.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
            const parts = ['g.edge.mg-flow', 'g.edge.mg-flow .mg-ref', '.mg-chip'];
            return parts.map(part => document.querySelectorAll(part).length);
        }"""  # at once: what travels is gone after a moment
    )
    assert (flowing, referring) == (2, 1)
    assert chips >= 2


def enlarged(page: Page) -> None:
    """The drawing at its own size, as one who wants to read all of it has it."""
    page.evaluate(
        """() => {
            const player = document.querySelector('.mg-player');
            const scale = () => player.querySelector('.mg-drawing svg').getScreenCTM().a;
            while (scale() < 0.95) player.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
        }"""
    )


def inside_view(card: Locator) -> bool:
    """Whether all of a card is in sight."""
    return card.evaluate(
        """g => {
            const [a, b] = [g.querySelector('.mg-card'), g.closest('.mg-drawing')]
                .map(e => e.getBoundingClientRect());
            return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
        }"""
    )
