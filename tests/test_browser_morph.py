"""Boards step by step: one scale, fixed places, the same node in the same place, and what moves."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import views
from looks import speak, step_to_end
from test_picture import digits

import viz

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("english")]


BOARDS = ("passes", "traces", "branches loop", "checkpoints", "topological_orders", "batches")
PLACES = """() => Object.fromEntries([...document.querySelectorAll('g.node')].map(g => {
    const { left, top } = g.querySelector('.mg-card').getBoundingClientRect();
    return [g.id.replace(/^.*-/, ''), [Math.round(left), Math.round(top)]];
}))"""
DONE = "() => Promise.all(document.getAnimations().map(a => a.finished))"
MOVING = """() => document.getAnimations().map(a => a.effect)
    .filter(effect => effect.getKeyframes().some(k => k.transform))
    .map(effect => effect.target.id.replace(/^.*-/, ''))"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boards")
    for name in BOARDS:
        views.save(name, folder)
    return folder


@pytest.fixture
def moving(page: Page) -> Page:
    """A page whose reader has not asked for less motion."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(reduced_motion="no-preference")
    return page


def opened(page: Page, saved: Path, name: str, language: str = "en", width: int = 1440) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(views.path_of(name, saved).as_uri())
    speak(page, language)


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", BOARDS)
def test_no_step_changes_its_size_in_both_languages(name: str, saved: Path, page: Page) -> None:
    """One language at a time is looked at with all views."""
    opened(page, saved, name, "both")
    board = page.locator(".mg-board")
    heights = {round(board.bounding_box()["height"], 1) for _ in step_to_end(page)}
    page.locator("g.node").first.click(force=True)
    heights.add(round(board.bounding_box()["height"], 1))
    assert len(heights) == 1
    assert heights.pop() <= 1000
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0


@pytest.mark.parametrize("name", BOARDS)
def test_each_drawing_is_whole_at_first_and_no_text_too_small(
    name: str, saved: Path, page: Page
) -> None:
    opened(page, saved, name)
    for key in ("Home", "-", "-", "0", "+"):
        page.locator(".mg-board").focus()
        page.keyboard.press(key)
        seen, sizes = page.evaluate(
            """() => {
                const all = [...document.querySelectorAll('.mg-drawing > svg')]
                    .filter(s => s.getClientRects().length);
                const scale = s => s.getBoundingClientRect().width / s.viewBox.baseVal.width;
                const texts = all.flatMap(s => [...s.querySelectorAll('text')]
                    .filter(t => t.textContent && t.getClientRects().length
                        && getComputedStyle(t).display !== 'none')
                    .map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a));
                return [all.map(s => [scale(s), s.parentElement.scrollWidth
                    - s.parentElement.clientWidth]), texts];
            }"""
        )
        assert all(size > 10.9 for size in sizes), key
        if key in ("Home", "0"):
            assert all(0 < scale <= 1.001 and hidden <= 1 for scale, hidden in seen), key
            assert sizes


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", BOARDS)
def test_what_a_step_is_about_is_in_view(name: str, saved: Path, page: Page) -> None:
    """At least one of the marked nodes wholly, where nodes are marked."""
    opened(page, saved, name)
    for step in step_to_end(page):
        seen = page.evaluate(
            """() => [...document.querySelectorAll('.mg-drawing')].map(box => {
                const around = box.getBoundingClientRect();
                const meant = [...box.querySelectorAll(
                    'g.node:is(.mg-now, .mg-new, .mg-gone, .mg-wrong, .mg-again)')];
                return !meant.length || meant.some(g => {
                    const at = g.querySelector('.mg-card').getBoundingClientRect();
                    return at.left >= around.left && at.right <= around.right
                        && at.top >= around.top && at.bottom <= around.bottom;
                });
            })"""
        )
        assert all(seen), step


@pytest.mark.parametrize("name", [name for name in BOARDS if name != "passes"])
def test_a_node_stays_where_it_is(name: str, saved: Path, page: Page) -> None:
    opened(page, saved, name)
    places: dict[str, set[tuple[float, float]]] = {}
    for _ in step_to_end(page):
        assert page.locator("g.node").count() > 0
        found = page.evaluate(
            """() => [...document.querySelectorAll('.mg-graph')].flatMap((figure, i) =>
                [...figure.querySelectorAll('g.node')].map(g => {
                    const at = g.getAttribute('transform');
                    return [`${i} ${g.id.replace(/^.*-/, '')}`, at];
                }))"""
        )
        for node, place in found:
            places.setdefault(node, set()).add(place)
    assert places
    assert {node: at for node, at in places.items() if len(at) > 1} == {}


def test_what_a_pass_keeps_moves_and_what_it_removes_fades(saved: Path, moving: Page) -> None:
    opened(moving, saved, "passes")
    moving.locator(".mg-board").focus()
    for _ in range(4):
        moving.keyboard.press("ArrowRight")
        moving.evaluate(DONE)
    gone = set(
        moving.evaluate(
            "[...document.querySelectorAll('g.node.mg-gone')].map(g => g.id.replace(/^.*-/, ''))"
        )
    )
    before = moving.evaluate(PLACES)
    assert gone
    # In slow motion: what is asked below has to be answered before they arrive.
    moving.context.new_cdp_session(moving).send("Animation.setPlaybackRate", {"playbackRate": 0.05})
    moving.keyboard.press("ArrowRight")
    moved = set(moving.evaluate(MOVING))
    started = moving.evaluate(PLACES)
    lasting = moving.evaluate(
        "() => Math.max(...document.getAnimations().map(a => a.effect.getTiming().duration))"
    )
    assert 250 <= lasting <= 400
    left = moving.locator("g[aria-hidden] .mg-card")
    assert left.count() == len(gone), "they are still seen while they fade"
    moving.evaluate(DONE)
    after = moving.evaluate(PLACES)
    assert moving.locator("g[aria-hidden] .mg-card").count() == 0
    stays = before.keys() & after.keys()
    assert gone.isdisjoint(after)
    assert moved == {i for i in stays if before[i] != after[i]}
    for i in moved:
        far = [abs(a - b) for a, b in zip(before[i], started[i], strict=True)]
        whole = [abs(a - b) for a, b in zip(before[i], after[i], strict=True)]
        assert sum(far) < sum(whole), "it begins near where it stood"


def test_nothing_moves_for_who_asks_for_less_motion(saved: Path, moving: Page) -> None:
    moving.emulate_media(reduced_motion="reduce")
    opened(moving, saved, "passes")
    moving.locator(".mg-board").focus()
    for _ in range(6):
        moving.keyboard.press("ArrowRight")
        assert moving.evaluate("document.getAnimations().length") == 0


def test_panels_stand_apart_on_a_phone(saved: Path, page: Page) -> None:
    opened(page, saved, "branches loop", width=390)
    board = page.locator(".mg-board").bounding_box()
    found = page.locator(".mg-stage .mg-graph").all()
    boxes = [box for figure in found if (box := figure.bounding_box())]
    assert len(boxes) == 4, "three drawings, and the words in place of the fourth"
    for box in boxes:
        assert board["x"] <= box["x"]
        assert box["x"] + box["width"] <= board["x"] + board["width"] + 1
        assert box["y"] + box["height"] <= 900, "all on one screen"
    for one, other in itertools.combinations(boxes, 2):
        across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(
            one["x"], other["x"]
        )
        down = min(one["y"] + one["height"], other["y"] + other["height"]) - max(
            one["y"], other["y"]
        )
        assert min(across, down) <= 2, "they do not overlap"
    drawings = page.locator(".mg-panes .mg-drawing")
    assert drawings.count() == 3
    wide = "all => all.map(e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight])"
    assert drawings.evaluate_all(wide) == [[0, 0]] * 3, "each is seen whole"


def test_the_row_of_the_step_is_lit(saved: Path, page: Page) -> None:
    opened(page, saved, "batches")
    for _ in step_to_end(page):
        pass
    lit = page.locator("tr.mg-row td").first
    token = "e => getComputedStyle(e).backgroundColor"
    assert lit.evaluate(token) == "rgb(255, 243, 204)"
    sheet, row = page.locator(".mg-sheet").bounding_box(), lit.bounding_box()
    assert sheet["y"] <= row["y"]
    assert row["y"] + row["height"] <= sheet["y"] + sheet["height"], "and in view"


# ---- Opening and folding -----------------------------------------------------------------------

FOLDED = """async () => {
    const nodes = () => new Map([...document.querySelectorAll('g.node')].map(g => {
        const { left, top } = g.querySelector('.mg-card').getBoundingClientRect();
        return [g.id, [left, top]];
    }));
    const before = nodes();
    document.querySelector('.mg-player').dispatchEvent(
        new KeyboardEvent('keydown', { key: 'o', bubbles: true }));
    const moves = document.getAnimations().filter(
        a => a.effect.getKeyframes().some(k => k.transform));
    const moved = moves.map(a => a.effect.target.id).filter(Boolean);
    const started = nodes(), copies = document.querySelectorAll('g[aria-hidden] .mg-card').length;
    const lasting = Math.max(...document.getAnimations().map(a => a.effect.getTiming().duration));
    await Promise.all(document.getAnimations().map(a => a.finished));
    const left = document.querySelectorAll('g[aria-hidden] .mg-card').length;
    const plain = map => Object.fromEntries(map);
    const [b, s, a] = [before, started, nodes()].map(plain);
    return { before: b, started: s, after: a, moved, lasting, copies, left };
}"""


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return viz.step(digits()[0]).save(tmp_path_factory.mktemp("layers") / "layers.html")


def unfolding(page: Page, layers: Path) -> None:
    page.goto(layers.as_uri())
    page.locator(".mg-player").focus()
    page.keyboard.press("End")
    page.get_by_role("button", name="linear1").click()
    page.mouse.move(0, 0)  # a card that comes to lie under the pointer would change its colour
    page.evaluate(DONE)


def test_a_group_opens_and_folds_by_moving_what_is_in_both(layers: Path, moving: Page) -> None:
    unfolding(moving, layers)
    opening, folding = moving.evaluate(FOLDED), moving.evaluate(FOLDED)
    (group,) = opening["before"].keys() - opening["after"].keys()
    inside = opening["after"].keys() - opening["before"].keys()
    assert folding["after"].keys() == opening["before"].keys()
    for found, alone in ((opening, {group}), (folding, inside)):
        before, started, after = found["before"], found["started"], found["after"]
        assert 250 <= found["lasting"] <= 400
        assert found["copies"] == len(alone), "what is gone is seen while it fades"
        assert found["left"] == 0
        stays = before.keys() & after.keys()
        assert stays
        assert {i for i in stays if far(before[i], after[i]) > 1} <= set(found["moved"])
        for i in stays:
            assert far(before[i], started[i]) <= max(1, far(before[i], after[i]) / 2), "from there"
    for i in inside:
        assert far(opening["before"][group], opening["started"][i]) < 40, "it comes out of its box"


def far(one: list[float], other: list[float]) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def test_folding_moves_nothing_for_who_asks_for_less_motion(layers: Path, moving: Page) -> None:
    moving.emulate_media(reduced_motion="reduce")
    unfolding(moving, layers)
    moving.keyboard.press("o")
    assert moving.locator("g.cluster").count() == 1
    assert moving.evaluate("document.getAnimations().length") == 0
