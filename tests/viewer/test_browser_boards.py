"""Boards as a reader meets them, saved as pages: the examples of views.py, as in the gallery."""

from __future__ import annotations

import io
import itertools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
import views
from browser import OFTEN
from looks import (
    CLASHES,
    PAINTED,
    at_each_step,
    luminance,
    missing,
    painted,
    serious,
    speak,
    unlike,
)
from PIL import Image

import minigrad as mg
import viz

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

MOVING = ["branches", "branches loop", "traces", "passes", "checkpoints", "batches", "error"]
LANGUAGES = ["en", "zh"]


def opened(page: Page, path: Path, language: str = "en") -> Page:
    page.goto(path.as_uri())
    speak(page, language)
    return page


# What is wrong at a step, what it shows, and its words.
LOOK = f"""() => ({{
    wrong: ({CLASHES})(),
    shown: [...document.querySelectorAll('g.node')]
        .filter(e => e.getClientRects().length).length,
    words: document.body.innerText,
}})"""


UNPRESSED = "header button[aria-pressed=false]"  # of the page itself


@pytest.mark.cases(2)  # the words and the cards of all of them are looked at with all views
@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("zh", "dark")])
@pytest.mark.parametrize("name", MOVING)
def test_nothing_overlaps_at_any_step_and_axe_finds_nothing_serious(
    name: str, language: str, theme: Literal["light", "dark"], page: Page
) -> None:
    """In English on light paper, in Chinese on dark, which it is where the system is."""
    page.emulate_media(color_scheme=theme)
    opened(page, views.saved(name), language)
    assert unlike(page, theme == "dark") == []
    ink, paper = (luminance(page, UNPRESSED, s) for s in ("color", "backgroundColor"))
    assert (ink > paper) is (theme == "dark"), "the buttons of the page itself"
    found = at_each_step(page, LOOK)
    assert [(i, step["wrong"]) for i, step in enumerate(found) if step["wrong"]] == []
    assert min(step["shown"] for step in found) > 0
    characters = set("".join(step["words"] for step in found))
    assert missing(characters) == set()
    assert (len({c for c in characters if c > "\u4e00"}) > 20) is (language == "zh")
    assert serious(page) == []
    assert page.errors == []


# The beginnings of texts up to a mark that begins a line.
BEGUN = """() => {
    const [words, begun] = [document.createTreeWalker(document.querySelector('section'), 4), []];
    let before = null;
    for (let text = words.nextNode(); text; text = words.nextNode()) {
        if (!text.parentElement.checkVisibility({ visibilityProperty: true })) continue;
        for (let i = 0; i < text.length; i += 1) {
            const range = document.createRange();
            range.setStart(text, i);
            range.setEnd(text, i + 1);
            const box = range.getBoundingClientRect();
            if (!box.width) continue;
            if (before && box.left < before.left && '，。：；、！？）'.includes(text.data[i]))
                begun.push(text.data.slice(0, i + 1));
            before = box;
        }
    }
    return begun;
}"""


@pytest.mark.parametrize("name", ["branches", "checkpoints"])
def test_no_line_begins_with_a_mark(name: str, page: Page) -> None:
    opened(page, views.saved(name), "zh")
    for width in (770, 700, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(BEGUN) == []


def test_a_board_steps_by_keys_buttons_and_slider(page: Page) -> None:
    opened(page, views.saved("checkpoints"))
    counter, slider = page.locator(".mg-controls output"), page.locator(".mg-steps")
    last = int(slider.get_attribute("max"))
    shown = at_each_step(page, "() => document.querySelector('.mg-caption').innerText")
    assert len(set(shown)) == last + 1 > 4
    for name, at in (("first step", 0), ("step forward", 1), ("last step", last)):
        page.get_by_role("button", name=name).click()
        assert counter.inner_text() == f"{at} / {last}"
        assert page.locator(".mg-caption").inner_text() == shown[at]
        assert slider.get_attribute("aria-valuetext").startswith(f"{at}: {shown[at]}")
    slider.fill("2")
    assert page.locator("tr.mg-row td").first.inner_text() in shown[2]
    page.locator(".mg-player").focus()
    page.keyboard.press("Control+ArrowRight")
    assert counter.inner_text() == f"2 / {last}", "the browser's own keys stay its own"
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_function(
        "last => document.querySelector('.mg-controls output').textContent === `${last} / ${last}`",
        arg=last,
        polling=OFTEN,
    )
    page.get_by_role("button", name="play").filter(has_text="▶").wait_for()  # it stops at the end
    keys = page.locator(".mg-keys")
    assert keys.count() == 0
    before = page.locator(".mg-board").bounding_box()
    page.get_by_role("button", name="help").click()
    assert "zoom" in keys.inner_text()
    assert page.locator(".mg-board").bounding_box() == before, "it opens above what is drawn"
    page.keyboard.press("Escape")
    page.locator(".mg-caption").click()
    page.get_by_role("button", name="help").click()
    assert not keys.is_visible()
    assert page.errors == []


WIDTHS = (
    "all => all.map(d => d.querySelector('svg')?.getBoundingClientRect().width).filter(Boolean)"
)


def test_the_drawings_of_a_board_zoom_fit_and_move(page: Page) -> None:
    """As those of a player: all together, by key and by button; sliders are where the step is."""
    opened(page, views.saved("branches"))
    shown = at_each_step(page, "() => document.querySelector('.mg-inputs output').innerText")
    assert shown == ["3", "-1", "-3"]
    assert page.locator(".mg-inputs input").input_value() == "-3"
    drawings = page.locator(".mg-drawing:visible")

    def widths() -> list[float]:
        return drawings.evaluate_all(WIDTHS)

    before = widths()
    assert len(before) == 3
    page.locator(".mg-player").focus()
    page.keyboard.press("+")
    larger = widths()
    assert all(b > a for a, b in zip(before, larger, strict=True))
    drawings.nth(2).locator("g.node").first.focus()
    page.keyboard.press("-")
    assert all(b < a for a, b in zip(larger, widths(), strict=True))
    for _ in range(6):
        page.get_by_role("button", name="larger").click()
    assert widths()[1] > larger[1] * 2
    first = drawings.nth(1)
    first.scroll_into_view_if_needed()
    box = first.bounding_box()
    first.evaluate("d => { d.scrollTop = d.scrollLeft = 0; }")
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 100, steps=4)
    page.mouse.up()
    assert first.evaluate("d => d.scrollLeft") == pytest.approx(40, abs=2)
    assert page.locator(".mg-inspector h2").count() == 0, "a drag is no click"
    page.locator(".mg-player").focus()
    page.keyboard.press("0")
    assert drawings.evaluate_all(
        "all => all.every(d => d.scrollHeight <= d.clientHeight + 1"
        " && d.scrollWidth <= d.clientWidth + 1)"
    )
    assert page.errors == []


def test_a_step_of_a_board_touches_only_what_changes_and_has_it_laid_out_once(page: Page) -> None:
    """Also where another drawing comes: nothing asks where things are before all is written."""
    opened(page, views.saved("passes"))
    counts = page.evaluate(
        """() => {
            const step = document.querySelector('button[aria-label^="step forward"]');
            const back = document.querySelector('button[aria-label^="step back"]');
            const watch = new MutationObserver(() => {});
            const all = { subtree: true, attributes: true, childList: true };
            watch.observe(document.querySelector('.mg-stage'), all);
            const counts = [];
            for (const button of [step, back, step]) {
                button.click();
                counts.push(watch.takeRecords().length);
            }
            const slider = document.querySelector('.mg-steps');
            slider.dispatchEvent(new Event('input'));  // the same step again
            counts.push(watch.takeRecords().length);
            return counts;
        }"""
    )
    assert min(counts[:3]) > 0
    assert counts[3] == 0, "what is the same at the next step is not written again"
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def layouts() -> float:
        metrics = client.send("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "LayoutCount")

    page.get_by_role("button", name="first step").click()
    last = int(page.locator(".mg-steps").get_attribute("max"))
    before = layouts()
    for _ in range(last):
        page.evaluate(STEP)
    assert 0 < layouts() - before <= last + 1


# One step, painted.
STEP = """() => new Promise(done => {
    document.querySelector('button[aria-label^="step forward"]').click();
    requestAnimationFrame(() => setTimeout(done));
})"""

# What a reader sees at once: a notebook's cell, a page on a screen, a phone.
SCREENS = {(770, 780): "en", (1440, 900): "zh", (390, 844): "en"}
SEEN = (
    f"async () => {{ await ({PAINTED})();"
    + """
    const [board] = document.querySelectorAll('.mg-board');
    const place = e => e.getBoundingClientRect();
    const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
        && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
    const wrong = [], high = place(board).height;
    if (place(board).bottom > innerHeight) wrong.push(`it ends at ${place(board).bottom}`);
    const slider = board.querySelector('.mg-controls:not([hidden]) input');
    if (slider && place(slider).bottom > innerHeight / 2) wrong.push('the slider is far down');
    for (const pane of board.querySelectorAll('.mg-panes > .mg-graph:not([hidden])')) {
        if (!within(place(pane), place(board))) wrong.push(`${pane.textContent} sticks out`);
        for (const card of pane.querySelectorAll('.mg-card'))
            if (!within(place(card), place(pane))) wrong.push(`${card.parentNode.id} is cut off`);
        for (const word of pane.querySelectorAll('text')) {
            const size = parseFloat(getComputedStyle(word).fontSize)
                * Math.abs(word.getScreenCTM()?.a ?? 1);
            if (word.getClientRects().length && word.textContent.trim() && size < 10.9)
                wrong.push(`${word.textContent}: ${size} px`);
        }
    }
    return [high, [...new Set(wrong)]];
}"""
)


@pytest.mark.usefixtures("english")
@pytest.mark.cases(4)  # their heights and words are looked at with all views
@pytest.mark.parametrize("screen", SCREENS, ids=["notebook", "page", "phone"])
@pytest.mark.parametrize("name", views.BOARDS)
def test_a_board_is_seen_whole_at_each_step_and_keeps_its_height(
    name: str, screen: tuple[int, int], page: Page
) -> None:
    """It rests where all has happened; every card of every pane is in view, wherever it is read."""
    wide, high = screen
    page.set_viewport_size({"width": wide, "height": high})
    opened(page, views.saved(name), SCREENS[screen])
    moves = page.locator(".mg-controls:visible").count() > 0
    if moves and not name.startswith("branches"):  # these rest where the trace is wrong
        assert page.locator(".mg-play").inner_text().strip()
        assert page.locator(".mg-steps").evaluate("e => e.value === e.max")
    found = at_each_step(page, SEEN) if moves else [page.evaluate(SEEN)]
    heights, wrong = zip(*found, strict=True)
    assert not any(wrong)
    assert len(set(heights)) == 1
    assert page.errors == []


def test_a_chart_uses_the_height_that_is_free(page: Page) -> None:
    opened(page, views.saved("checkpoints"))
    heights = """() => {
        const [chart, drawing] = ['.mg-extra', '.mg-drawing']
            .map(part => document.querySelector(`${part} > svg`));
        return [chart, drawing, drawing.parentElement].map(e => e.getBoundingClientRect().height);
    }"""
    for high, least in ((900, 150), (1100, 240)):
        page.set_viewport_size({"width": 1440, "height": high})
        painted(page)
        chart, drawing, pane = page.evaluate(heights)
        assert chart >= least, high
        assert drawing <= pane, "the drawing has its room"
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => document.querySelector('.mg-extra > svg').clientHeight === 130")


@pytest.mark.usefixtures("english")
@pytest.mark.parametrize("name", ["branches", "branches loop"])
def test_on_a_phone_cards_have_their_values_and_words_unfold(name: str, page: Page) -> None:
    """And beside code and numbers details are whole in a notebook."""
    page.goto(views.saved(name).as_uri())
    page.set_viewport_size({"width": 770, "height": 780})
    for language in LANGUAGES:
        speak(page, language)
        cut = (
            "() => ['.mg-facts', '.mg-sheet'].filter(part => (e => e.scrollHeight - e.clientHeight)"
        )
        assert page.evaluate(f"{cut}(document.querySelector(part)))") == [], language
    page.set_viewport_size({"width": 390, "height": 844})
    for language in LANGUAGES:
        speak(page, language)
        lost = "() => document.querySelectorAll('.mg-drawing[data-without~=value]').length"
        assert not any(at_each_step(page, lost)), language
        clear = """all => all.every(name => {
            const [a, b] = [name, name.parentElement.querySelector('.mg-frame')]
                .map(e => e.getBoundingClientRect());
            return a.left > b.left && a.right < b.right && a.bottom - 11 > b.top;
        })"""
        assert page.locator(".mg-frame-name").evaluate_all(clear), "no frame strikes its name"
    words = page.locator(".mg-stage > .mg-graph:visible")
    if name == "branches":
        assert words.count() == 0
        return
    before = page.locator(".mg-board").bounding_box()
    line = words.locator(".mg-message").bounding_box()
    words.get_by_role("button").click()
    assert page.locator(".mg-board").bounding_box() == before
    told = words.locator(".mg-message").bounding_box()
    assert line
    assert told
    assert told["height"] > line["height"] + 15, "another line, at least"
    page.set_viewport_size({"width": 770, "height": 780})
    assert words.get_by_role("button").count() == 0, "all of it is there"


@pytest.mark.usefixtures("english")
def test_a_replay_begins_with_the_first_step(page: Page) -> None:
    opened(page, views.saved("passes"))
    ways = page.locator("g.edge.mg-new .mg-line").evaluate_all(
        "lines => lines.map(line => line.getAttribute('d'))"
    )
    assert [way.count(",") for way in ways] == [4, 4, 4], "an arrow that bends often is one arc"
    counter = page.locator(".mg-controls output")
    last = page.locator(".mg-steps").get_attribute("max")
    assert counter.inner_text() == f"{last} / {last}"
    page.get_by_role("button", name="step forward").click()
    assert counter.inner_text() == f"1 / {last}"


def test_only_what_a_run_reached_is_called_its_output(page: Page) -> None:
    page.goto(views.saved("branches loop").as_uri())
    page.locator("g.mg-absent.mg-output").first.wait_for()
    said = "gs => gs.map(g => g.querySelector('.mg-what').textContent.replace(/ .*/, ''))"
    unreached = page.locator("g.mg-absent.mg-output").evaluate_all(said)
    assert unreached == ["○"] * 2
    assert page.locator("g.mg-ran.mg-output").first.evaluate(f"g => ({said})([g])[0]") == "●"


@pytest.mark.usefixtures("english")
def test_a_board_plays_once_when_it_is_seen_and_ends_where_it_rested(chromium: Browser) -> None:
    """Also where that is not its last step: this one rests where the trace is wrong."""
    page = chromium.new_page()  # whose clock nobody else has to live with
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.goto(views.saved("branches loop").as_uri())
    page.wait_for_function("document.querySelector('.mg-board').clientHeight > 200")
    slider = page.locator(".mg-steps")
    assert slider.input_value() == "1"
    page.wait_for_timeout(100)  # for what watches what is seen
    seen = []
    for _ in range(9):
        page.clock.run_for(800)
        seen.append(slider.input_value())
    assert [int(x) for x, _ in itertools.groupby(seen)] == [0, 1, 2, 3, 1]
    assert page.locator(".mg-playing").count() == 0
    page.clock.run_for(9_000)
    assert slider.input_value() == "1", "once"
    page.close()


# A board with a kernel that answers at once: what it gives when something is switched off.
LIVE = """async () => {
    const [esm, css, size, ...sent] = window.board;
    document.head.innerHTML = `<style>${css}</style>`;
    document.body.innerHTML = '<div></div>';
    const [data, ...answers] = sent.map((text) => JSON.parse(text));
    const held = { data, index: size, off: [] };
    const listeners = {};
    const model = {
        get: (name) => held[name], set() {}, save_changes() {},
        on(event, listener) { listeners[event] = listener; }, off() {},
    };
    const widget = new Function(esm.replace('export default', 'return'))();
    widget.render({ model, el: document.body.firstChild });
    const heights = [];
    for (const answer of [null, ...answers]) {
        if (answer) {
            held.data = answer;
            listeners['change:data']();
        }
        for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame); // arranged once more
        const parts = document.querySelectorAll('.mg-board, .mg-panes');
        heights.push([...parts].map((e) => e.offsetHeight));
    }
    return heights;
}"""


@pytest.mark.usefixtures("english")
def test_a_pass_that_is_switched_off_changes_no_height(page: Page) -> None:
    """However few changes are left, and wherever it is read."""
    board = views.passes()
    sent, names = [board.data], [switch["key"] for switch in board.data["switches"]]
    for off in ([names[-1]], ["fuse"], names):
        board.off = off
        sent.append(board.data)
    texts = [json.dumps(data) for data in sent]
    given = [board._esm, board._css, len(board.scenes) - 1, *texts]
    page.evaluate("given => { window.board = given; }", given)
    for wide, high in SCREENS:
        page.set_viewport_size({"width": wide, "height": high})
        found = page.evaluate(LIVE)
        boards, panes = zip(*found, strict=True)
        assert panes[0] > 100
        assert {*boards} == {boards[0]}, (wide, boards)
        assert page.locator("g.node").count() > 10
    assert page.errors == []


@pytest.mark.usefixtures("english")
def test_tensors_on_a_board_are_seen_and_told_beside_it(page: Page, tmp_path: Path) -> None:
    """What became of one stands beside what it was; in words only where a reader asks."""
    with mg.Graph():
        x = mg.placeholder("x", shape=(4, 6))
        board = viz.diff(mg.tanh(x * 2), mg.sigmoid(x * 3))
    opened(page, board.save(tmp_path / "page.html"))
    cards = page.locator("g.node.mg-pictured")
    assert cards.count() == 4
    cells = "g => [...g.querySelectorAll('.mg-swatch path')].length"
    assert min(cards.nth(i).evaluate(cells) for i in range(4)) > 1
    assert "…" not in "".join(page.locator("g.node .mg-value").all_text_contents())
    changed = cards.filter(has_text="×")
    width = changed.locator(".mg-sheet").evaluate("e => e.getBBox().width")
    assert width == pytest.approx(84, abs=1), "both of them"
    changed.click()
    told = page.locator(".mg-inspector")
    assert "min" in told.inner_text()
    assert " → " in told.inner_text()
    assert told.locator(".mg-swatch path").count() > 1
    page.locator(".mg-board").focus()
    page.keyboard.press("ArrowLeft")
    assert " → " not in told.inner_text(), "it tells of the step that is shown"
    assert page.errors == []


@pytest.mark.usefixtures("english")
def test_what_goes_on_below_a_table_fades(page: Page) -> None:
    """No line of it is cut in two, wherever it was scrolled to."""
    opened(page, views.saved("batches"))
    sheet = page.locator(".mg-below > .mg-sheet")
    assert sheet.evaluate("e => e.scrollHeight > e.clientHeight + 20")
    sheet.scroll_into_view_if_needed()
    x, y, wide, high = sheet.evaluate(
        "e => (({ x, y, width, height }) => [x, y, width, height])(e.getBoundingClientRect())"
    )
    # It may end between two pixels, the last of which is half of what is below.
    clip = {"x": x + 12, "y": math.ceil(y + high) - 4, "width": wide - 24, "height": 2}
    for top in range(0, 24, 8):
        sheet.evaluate("(e, top) => { e.scrollTop = top; }", top)
        edge = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("L")
        low, high = edge.getextrema()
        assert high - low < 12, top


def test_a_legend_tells_each_look_and_is_one_with_the_key_of_a_score(page: Page) -> None:
    for name, told in (("diff", "with another value"), ("traces", "changed")):
        opened(page, views.saved(name))
        assert told in page.locator(".mg-legend").inner_text()
        assert page.locator(".mg-key > .mg-legend").count() == (name == "traces")
