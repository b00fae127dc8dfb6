"""Boards as a reader meets them: those of the gallery, saved as pages."""

from __future__ import annotations

import io
import itertools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import views
from browser import NOTEBOOKS, OFTEN
from lessons import code_cells, run_cell
from looks import CLASHES, at_each_step, luminance, missing, serious, speak, unlike
from PIL import Image

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# The boards of the gallery, by the last line of their cells, which gives them.
BOARDS = {
    "branches": "viz.branches(f,",
    "loops": "viz.branches(halve,",
    "traces": "viz.traces(",
    "passes": "viz.passes(",
    "checkpoints": "viz.checkpoints(",
    "batches": "viz.batches(",
    "error": "board",
}
LANGUAGES = ["en", "zh"]


class Saved(dict[str, Path]):
    """The boards of the gallery, each of them saved when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._boards = folder, dict[str, viz.Board]()
        names: dict[str, object] = {}
        for place, cell in enumerate(code_cells(NOTEBOOKS / "gallery.ipynb")):
            if len(self._boards) == len(BOARDS):
                break
            last = cell.source.splitlines()[-1]
            board = next((name for name, call in BOARDS.items() if last.startswith(call)), None)
            shown = last.startswith("viz.") and not board  # which takes long, and is no board
            value = run_cell(cell.source.removesuffix(last if shown else ""), names, f"{place}")
            if board:
                self._boards[board] = value
        set_language("en")

    def __missing__(self, name: str) -> Path:
        self[name] = Path(self._boards[name].save(self._folder / f"{name}.html"))
        return self[name]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each board of the gallery, made by its cell without a kernel."""
    return Saved(tmp_path_factory.mktemp("boards"))


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


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", BOARDS)
def test_nothing_overlaps_at_any_step_and_axe_finds_nothing_serious(
    name: str, saved: dict[str, Path], page: Page
) -> None:
    """In English on light paper, in Chinese on dark, which it is where the system is."""
    page.goto(saved[name].as_uri())
    for language, theme in (("en", "light"), ("zh", "dark")):
        speak(page, language)
        page.emulate_media(color_scheme=theme)
        assert unlike(page, theme == "dark") == []
        ink, paper = (luminance(page, UNPRESSED, s) for s in ("color", "backgroundColor"))
        assert (ink > paper) is (theme == "dark"), "the buttons of the page itself"
        found = at_each_step(page, LOOK)
        assert [(i, step["wrong"]) for i, step in enumerate(found) if step["wrong"]] == []
        assert min(step["shown"] for step in found) > 0
        characters = set("".join(step["words"] for step in found))
        assert missing(characters) == set()
        assert (len({c for c in characters if c > "\u4e00"}) > 20) is (language == "zh")
        assert serious(page) == [], language
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
def test_no_line_begins_with_a_mark(name: str, saved: dict[str, Path], page: Page) -> None:
    opened(page, saved[name], "zh")
    for width in (770, 700, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate(BEGUN) == []


def test_a_board_steps_by_keys_buttons_and_slider(saved: dict[str, Path], page: Page) -> None:
    opened(page, saved["checkpoints"])
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
    assert page.errors == []


def test_the_keys_of_a_board_are_behind_a_button(saved: dict[str, Path], page: Page) -> None:
    opened(page, saved["checkpoints"])
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


def test_the_sliders_of_inputs_stand_where_the_step_is(saved: dict[str, Path], page: Page) -> None:
    opened(page, saved["branches"])
    shown = at_each_step(page, "() => document.querySelector('.mg-inputs output').innerText")
    assert shown == ["3", "-1", "-3"]
    assert page.locator(".mg-inputs input").input_value() == "-3"


WIDTHS = (
    "all => all.map(d => d.querySelector('svg')?.getBoundingClientRect().width).filter(Boolean)"
)


def test_the_drawings_of_a_board_zoom_fit_and_move(saved: dict[str, Path], page: Page) -> None:
    """As those of a player: all together, by key and by button."""
    opened(page, saved["branches"])
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


def test_a_step_of_a_board_touches_only_what_changes(saved: dict[str, Path], page: Page) -> None:
    """What stands in a panel and is the same at the next step is not written again."""
    opened(page, saved["passes"])
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
    assert counts[3] == 0


def test_a_step_of_a_board_has_the_page_laid_out_once(saved: dict[str, Path], page: Page) -> None:
    """Also where another drawing comes: nothing asks where things are before all is written."""
    opened(page, saved["passes"])
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
SEEN = """() => {
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


@pytest.mark.usefixtures("english")
@pytest.mark.cases(3)
@pytest.mark.parametrize("name", views.BOARDS)
def test_a_board_is_seen_whole_at_each_step_and_keeps_its_height(name: str, page: Page) -> None:
    """It rests where all has happened; every card of every pane is in view, wherever it is read."""
    for (wide, high), language in SCREENS.items():
        page.set_viewport_size({"width": wide, "height": high})
        opened(page, views.saved(name), language)
        moves = page.locator(".mg-controls:visible").count() > 0
        if moves and not name.startswith("branches"):  # these rest where the trace is wrong
            assert page.locator(".mg-play").inner_text().strip()
            assert page.locator(".mg-steps").evaluate("e => e.value === e.max")
        found = at_each_step(page, SEEN) if moves else [page.evaluate(SEEN)]
        heights, wrong = zip(*found, strict=True)
        assert not any(wrong), (wide, high, wrong)
        assert len(set(heights)) == 1, (wide, heights)
    assert page.errors == []


@pytest.mark.parametrize(("wide", "high", "least"), [(1440, 900, 150), (1440, 1100, 240)])
def test_a_chart_uses_the_height_that_is_free(wide: int, high: int, least: int, page: Page) -> None:
    page.set_viewport_size({"width": wide, "height": high})
    opened(page, views.saved("checkpoints"))
    height = "e => e.getBoundingClientRect().height"
    assert page.locator(".mg-extra > svg").evaluate(height) >= least
    drawing = page.locator(".mg-drawing > svg").bounding_box()
    pane = page.locator(".mg-drawing:visible").bounding_box()
    assert drawing
    assert pane
    assert drawing["height"] <= pane["height"], "the drawing has its room"
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => document.querySelector('.mg-extra > svg').clientHeight === 130")


@pytest.mark.usefixtures("english")
@pytest.mark.parametrize("name", ["branches", "branches loop"])
def test_on_a_phone_cards_have_their_values_and_words_unfold(name: str, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(views.saved(name).as_uri())
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


@pytest.mark.parametrize("name", ["branches", "branches loop"])
def test_beside_code_and_numbers_details_are_whole_in_a_notebook(name: str, page: Page) -> None:
    page.set_viewport_size({"width": 770, "height": 780})
    page.goto(views.saved(name).as_uri())
    for language in LANGUAGES:
        speak(page, language)
        cut = "box => box.scrollHeight - box.clientHeight"
        assert page.locator(".mg-facts").evaluate(cut) == 0, language
        assert page.locator(".mg-sheet").evaluate(cut) == 0, language


@pytest.mark.usefixtures("english")
def test_a_replay_begins_with_the_first_step(page: Page) -> None:
    opened(page, views.saved("passes"))
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
LIVE = """async ([esm, css, size, ...sent]) => {
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
    for wide, high in SCREENS:
        page.set_viewport_size({"width": wide, "height": high})
        found = page.evaluate(LIVE, [board._esm, board._css, len(board.scenes) - 1, *texts])
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
    for top in range(0, 24, 5):
        sheet.evaluate("(e, top) => { e.scrollTop = top; }", top)
        edge = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("L")
        low, high = edge.getextrema()
        assert high - low < 12, top


@pytest.mark.browser
def test_a_legend_tells_each_look_and_is_one_with_the_key_of_a_score(page: Page) -> None:
    for name, told in (("diff", "with another value"), ("traces", "changed")):
        opened(page, views.saved(name))
        assert told in page.locator(".mg-legend").inner_text()
        assert page.locator(".mg-key > .mg-legend").count() == (name == "traces")


@pytest.mark.browser
def test_an_arrow_that_bends_often_is_one_arc(page: Page) -> None:
    opened(page, views.saved("passes"))
    ways = page.locator("g.edge.mg-new .mg-line")
    drawn = [str(way.get_attribute("d")) for way in ways.all()]
    assert [way.count(",") for way in drawn] == [4, 4, 4], "each is one curve"
