"""Boards as a reader meets them: those of the gallery, in JupyterLab and saved as pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import nbformat
import pytest
from browser import NOTEBOOKS, Lab, cell_outputs, choose_theme, open_notebook, run_all
from looks import CLASHES, FAINT, luminance, missing, serious, step_to_end, unlike

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
    "train": "    optimizer.step()",  # this one is shown by its loop
}
LANGUAGES = ["en", "zh"]


@pytest.fixture(scope="module")
def gallery(lab: Lab, chromium: Browser) -> Iterator[Page]:
    """The gallery in JupyterLab; beside it each board was saved as a page."""
    cells = []
    for cell in nbformat.read(NOTEBOOKS / "gallery.ipynb", as_version=4).cells:
        if cell.cell_type == "code":
            cells.append(cell.source)
            last = cell.source.splitlines()[-1]
            cells += [
                f"{'training' if n == 'train' else 'Out[max(Out)]'}.save('{n}.html')"
                for n, call in BOARDS.items()
                if last.startswith(call)
            ]
    lab.write("boards.ipynb", cells)
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    open_notebook(page, lab, "boards.ipynb")
    run_all(page)
    assert [output.text for output in cell_outputs(page) if output.failed] == []
    yield page
    context.close()


def opened(page: Page, lab: Lab, name: str, language: str) -> Page:
    page.goto((lab.root / f"{name}.html").as_uri())
    page.evaluate("code => { document.body.dataset.mgLanguage = code; }", language)
    return page


def steps(page: Page) -> Iterator[int]:
    """Each step of a board; a chart has but one."""
    return step_to_end(page) if page.locator(".mg-controls input").count() else iter([0])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.usefixtures("gallery")
def test_nothing_overlaps_at_any_step(name: str, language: str, lab: Lab, page: Page) -> None:
    opened(page, lab, name, language)
    found, seen = {}, set()
    for i in steps(page):
        assert page.locator("g.node:visible, .mg-curves:visible").count() > 0
        seen |= set(page.locator("body").inner_text())
        if wrong := page.evaluate(CLASHES):
            found[i] = wrong
    assert found == {}
    assert missing(seen) == set()
    assert (len({c for c in seen if c > "\u4e00"}) > 20) is (language == "zh")
    assert page.errors == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.usefixtures("gallery")
def test_axe_finds_nothing_serious(
    name: str, language: str, lab: Lab, page: Page, dark: Page
) -> None:
    shown = {"en": page, "zh": dark}[language]  # languages change no colour, nor themes a word
    opened(shown, lab, name, language)
    for _ in steps(shown):
        pass
    assert serious(shown) == []


UNPRESSED = "header button[aria-pressed=false]"  # of the page itself


@pytest.mark.parametrize("name", [name for name in BOARDS if name != "train"])
@pytest.mark.usefixtures("gallery")
def test_a_saved_board_is_dark_where_the_system_is(
    name: str, lab: Lab, page: Page, dark: Page
) -> None:
    for shown, ink_is_bright in ((page, False), (dark, True)):
        opened(shown, lab, name, "en")
        assert unlike(shown, ink_is_bright) == []
        ink, paper = (luminance(shown, UNPRESSED, s) for s in ("color", "backgroundColor"))
        assert (ink > paper) is ink_is_bright, "the buttons of the page itself"


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_in_the_lab(theme: str, language: str, gallery: Page) -> None:
    """All views of the gallery at once, the boards at their last steps."""
    choose_theme(gallery, theme)
    gallery.locator(f".mg-language button[data-code={language}]").click()
    gallery.wait_for_function(
        "c => document.querySelector(`[data-mg-language=${c}]`)", arg=language
    )
    for board in gallery.locator(".mg-board").all():
        board.focus()
        gallery.keyboard.press("End")
    assert gallery.locator(".mg-board").count() == len(BOARDS) - 1, "training is a chart"
    assert gallery.evaluate(CLASHES) == []
    assert gallery.evaluate(FAINT) == []
    assert serious(gallery) == []
    paddings = "all => [...new Set(all.map(e => getComputedStyle(e).padding))]"
    every = gallery.locator(".mg-film, .mg-board")
    assert every.evaluate_all(paddings) == ["0px"], "whichever was loaded last"


@pytest.mark.usefixtures("gallery")
def test_a_board_steps_by_keys_buttons_and_slider(lab: Lab, page: Page) -> None:
    opened(page, lab, "checkpoints", "en")
    counter, slider = page.locator(".mg-controls output"), page.locator(".mg-controls input")
    last = int(slider.get_attribute("max"))
    shown = [page.locator(".mg-caption").inner_text() for _ in step_to_end(page)]
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
    )
    page.get_by_role("button", name="play").filter(has_text="▶").wait_for()  # it stops at the end
    assert page.errors == []


@pytest.mark.usefixtures("gallery")
def test_the_sliders_of_inputs_stand_where_the_step_is(lab: Lab, page: Page) -> None:
    opened(page, lab, "branches", "en")
    shown = [page.locator(".mg-inputs output").inner_text() for _ in step_to_end(page)]
    assert shown == ["3", "-1", "-3"]
    assert page.locator(".mg-inputs input").input_value() == "-3"


WIDTHS = (
    "all => all.map(d => d.querySelector('svg')?.getBoundingClientRect().width).filter(Boolean)"
)


@pytest.mark.usefixtures("gallery")
def test_the_drawings_of_a_board_zoom_fit_and_move(lab: Lab, page: Page) -> None:
    """As those of a player: all together, by key and by button."""
    opened(page, lab, "branches", "en")
    drawings = page.locator(".mg-drawing:visible")

    def widths() -> list[float]:
        return drawings.evaluate_all(WIDTHS)

    before = widths()
    assert len(before) == 4
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


@pytest.mark.usefixtures("gallery")
def test_a_step_of_a_board_touches_only_what_changes(lab: Lab, page: Page) -> None:
    """What stands in a panel and is the same at the next step is not written again."""
    opened(page, lab, "passes", "en")
    counts = page.evaluate(
        """() => {
            const step = document.querySelector('button[aria-label^="step forward"]');
            const back = document.querySelector('button[aria-label^="step back"]');
            const watch = new MutationObserver(() => {});
            const all = { subtree: true, attributes: true, childList: true };
            watch.observe(document.querySelector('.mg-stage'), all);
            watch.observe(document.querySelector('details'), all);
            const counts = [];
            for (const button of [step, back, step]) {
                button.click();
                counts.push(watch.takeRecords().length);
            }
            const slider = document.querySelector('.mg-controls input');
            slider.dispatchEvent(new Event('input'));  // the same step again
            counts.push(watch.takeRecords().length);
            return counts;
        }"""
    )
    assert min(counts[:3]) > 0
    assert counts[3] == 0
