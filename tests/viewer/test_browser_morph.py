"""Boards step by step: one scale, fixed places, the same node in the same place, and what moves."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import views
from looks import at_each_step, painted, speak

import minigrad as mg
from viz.page.board import Board
from viz.page.scenes import Panel, Scene
from viz.picture.picture import picture

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("english")]


BOARDS = ("passes", "traces", "branches loop", "checkpoints", "topological_orders", "batches")
DONE = "() => Promise.all(document.getAnimations().map(a => a.finished))"


@pytest.fixture
def moving(page: Page) -> Page:
    """A page whose reader has not asked for less motion."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(reduced_motion="no-preference")
    return page


def opened(page: Page, name: str, language: str = "en", width: int = 1440) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(views.saved(name).as_uri())
    speak(page, language)


# Of a step: how high the board is, in which drawings nothing of what the step is about is wholly in
# view, and where each node is.
STEP = """() => {
    const hidden = [...document.querySelectorAll('.mg-drawing')].filter(box => {
        const around = box.getBoundingClientRect();
        const meant = [...box.querySelectorAll(
            'g.node:is(.mg-now, .mg-new, .mg-gone, .mg-wrong, .mg-again)')];
        return meant.length && !meant.some(g => {
            const at = g.querySelector('.mg-card').getBoundingClientRect();
            return at.left >= around.left && at.right <= around.right
                && at.top >= around.top && at.bottom <= around.bottom;
        });
    });
    const nodes = [...document.querySelectorAll('.mg-graph')].flatMap((figure, i) =>
        [...figure.querySelectorAll('g.node')].map(g =>
            [`${i} ${g.id.replace(/^.*-/, '')}`, g.getAttribute('transform')]));
    const { height } = document.querySelector('.mg-board').getBoundingClientRect();
    return { high: Math.round(10 * height), hidden: hidden.length, nodes };
}"""


# After each of these keys how large a drawing is, how much of it is hidden, and the sizes of texts.
SCALES = """keys => keys.map(key => {
    document.querySelector('.mg-board').dispatchEvent(new KeyboardEvent('keydown', { key }));
    const all = [...document.querySelectorAll('.mg-drawing > svg')]
        .filter(s => s.getClientRects().length);
    const scale = s => s.getBoundingClientRect().width / s.viewBox.baseVal.width;
    const texts = all.flatMap(s => [...s.querySelectorAll('text')]
        .filter(t => t.textContent && t.getClientRects().length
            && getComputedStyle(t).display !== 'none')
        .map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a));
    return [all.map(s => [scale(s), s.parentElement.scrollWidth - s.parentElement.clientWidth]),
        texts];
})"""


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", BOARDS)
def test_each_drawing_is_whole_at_first_and_the_board_keeps_its_places(
    name: str, page: Page
) -> None:
    """No text is too small at any scale. At each step, in both languages at once, the board has
    its size, each node its place, and what the step is about is in view."""
    opened(page, name)
    keys = ("Home", "-", "-", "+", "0")
    for key, (seen, sizes) in zip(keys, page.evaluate(SCALES, keys), strict=True):
        assert all(size > 10.9 for size in sizes), key
        if key in ("Home", "0"):
            assert all(0 < scale <= 1.601 and hidden <= 1 for scale, hidden in seen), key
            assert sizes
    speak(page, "both")  # one language at a time is looked at with all views
    steps = at_each_step(page, STEP)
    assert [i for i, step in enumerate(steps) if step["hidden"]] == []
    places: dict[str, set[str]] = {}
    assert all(step["nodes"] for step in steps)
    for step in steps:
        for node, place in step["nodes"]:
            places.setdefault(node, set()).add(place)
    assert {node: at for node, at in places.items() if len(at) > 1} == {}
    page.locator("g.node").first.dispatch_event("click")
    heights = {step["high"] for step in (*steps, page.evaluate(STEP))}
    assert len(heights) == 1
    assert heights.pop() <= 10_000
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0


# One step forward: where the nodes are before it, when it begins, and at its end.
MOVED = """async () => {
    const places = () => Object.fromEntries([...document.querySelectorAll('g.node')].map(g => {
        const { left, top } = g.querySelector('.mg-card').getBoundingClientRect();
        return [g.id.replace(/^.*-/, ''), [Math.round(left), Math.round(top)]];
    }));
    const bare = g => g.id.replace(/^.*-/, '');
    const fading = () => document.querySelectorAll('g[aria-hidden] .mg-card').length;
    const before = places();
    const gone = [...document.querySelectorAll('g.node.mg-gone')].map(bare);
    document.querySelector('.mg-board').dispatchEvent(
        new KeyboardEvent('keydown', { key: 'ArrowRight' }));
    const moves = document.getAnimations();
    const moved = moves.map(a => a.effect).filter(e => e.getKeyframes().some(k => k.transform))
        .map(effect => bare(effect.target));
    const lasting = Math.max(...moves.map(a => a.effect.getTiming().duration));
    const [started, copies] = [places(), fading()];
    await Promise.all(moves.map(move => (move.finish(), move.finished)));
    return { before, started, after: places(), gone, moved, lasting, copies, left: fading() };
}"""


def test_what_stays_moves_and_what_is_removed_fades(moving: Page, tmp_path: Path) -> None:
    """Between drawings too large for one layout; two small ones stand for them."""
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        whole = picture(mg.build_graph(x, mg.tanh(x) + mg.exp(x)))
    gone = next(n.id for n in whole.nodes if n.op == "Exp")
    part = whole.part({n.id for n in whole.nodes} - {gone})
    panels = Panel(("", ""), whole, {gone: "gone"}), Panel(("", ""), part)
    board = Board([Scene(("", ""), (panel,)) for panel in panels], moves=True)
    board.index = 0
    moving.goto(board.save(tmp_path / "page.html").as_uri())
    painted(moving)  # at its place and in its size
    found = moving.evaluate(MOVED)
    before, started, after = found["before"], found["started"], found["after"]
    assert 250 <= found["lasting"] <= 400
    assert found["copies"] == len(found["gone"]) > 0, "they are still seen while they fade"
    assert found["left"] == 0
    stays = before.keys() & after.keys()
    assert after.keys().isdisjoint(found["gone"])
    assert set(found["moved"]) == {i for i in stays if before[i] != after[i]} != set()
    for i in found["moved"]:
        assert far(before[i], started[i]) < far(before[i], after[i]), (
            "it begins near where it stood"
        )


def test_nothing_moves_for_who_asks_for_less_motion(moving: Page) -> None:
    moving.emulate_media(reduced_motion="reduce")
    opened(moving, "passes")
    moving.locator(".mg-board").focus()
    for _ in range(6):
        moving.keyboard.press("ArrowRight")
        assert moving.evaluate("document.getAnimations().length") == 0


def test_panels_stand_apart_on_a_phone(page: Page) -> None:
    opened(page, "branches loop", width=390)
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


def test_the_row_of_the_step_is_lit(page: Page) -> None:
    opened(page, "batches")
    for step in ("0", page.locator(".mg-steps").get_attribute("max") or ""):
        page.locator(".mg-steps").fill(step)
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
    await Promise.all(document.getAnimations().map(move => (move.finish(), move.finished)));
    const left = document.querySelectorAll('g[aria-hidden] .mg-card').length;
    const plain = map => Object.fromEntries(map);
    const [b, s, a] = [before, started, nodes()].map(plain);
    return { before: b, started: s, after: a, moved, lasting, copies, left };
}"""


def test_a_group_opens_and_folds_by_moving_what_is_in_both(moving: Page) -> None:
    moving.goto(views.saved("step layers").as_uri())
    moving.get_by_role("button", name="linear1").click()
    moving.mouse.move(0, 0)  # a card that comes to lie under the pointer would change its colour
    moving.evaluate(DONE)
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
    moving.emulate_media(reduced_motion="reduce")
    moving.keyboard.press("o")
    assert moving.locator("g.cluster").count() == 1
    assert moving.evaluate("document.getAnimations().length") == 0, "for who asks for less motion"


def far(one: list[float], other: list[float]) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))
