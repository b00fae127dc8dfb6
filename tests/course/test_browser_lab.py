"""JupyterLab as a reader meets it: cells that are typed, one player, and every notebook.

All of it in one file, since it takes longer to open JupyterLab than to run most notebooks.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import covering
import nbformat
import pytest
from browser import (
    NOTEBOOKS,
    OFTEN,
    WITHOUT,
    Kept,
    Lab,
    cell_outputs,
    choose_theme,
    forget_choices,
    open_next,
    open_notebook,
    run_all,
    run_cell,
    wait_idle,
)
from lessons import BOARDS, LESSONS, PLAYERS, places, run_here
from looks import CLASHES, FAINT, boxed, missing, serious, unlike
from test_opening import LONG, PICTURES, filled

from viz.picture.theme import TOKENS

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
EXHAUSTIVE = pytest.mark.exhaustive
# A lesson and the map. nbval runs the cells of all of them.
MAIN = ("01", "index")


def notebooks(*main: str) -> Any:
    """The names of all notebooks, of which those that begin so are enough."""
    return [
        path.name if path.name.startswith(main) else pytest.param(path.name, marks=EXHAUSTIVE)
        for path in sorted(NOTEBOOKS.glob("*.ipynb"))
    ]


IN_ONE = pytest.mark.parametrize("notebook", notebooks("01"), indirect=True)
MAKERS = re.compile(rf"\bviz\.(?:{PLAYERS})\(")
PLAYER = ".mg-player:not(.mg-board, .mg-train, .mg-drawn)"  # what `MAKERS` make
WIDGETS = {
    PLAYER: MAKERS.pattern,
    ".mg-board": rf"\b(?:viz|lessons)\.(?:{BOARDS})\(",
    ".mg-language": r"\bviz\.language\(",
    ".mg-ask": r"\blessons\.(?:quiz|predict|order)\(",
}
CELLS = "window.jupyterapp.shell.currentWidget.content.widgets"
KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
Hasten = Callable[[float], float]


@pytest.fixture
def page(jupyterlab: Page) -> Page:
    """The page of all these tests, without the errors of those before."""
    jupyterlab.errors.clear()
    jupyterlab.set_viewport_size({"width": 1400, "height": 1000})
    return jupyterlab


# These cells are all that the notebook has, and its kernel has chosen no language.
FILL = f"""async cells => {{
    const {{ content }} = window.jupyterapp.shell.currentWidget;
    const {{ sharedModel }} = content.model;
    sharedModel.deleteCellRange(0, sharedModel.cells.length);
    sharedModel.insertCells(0, cells.map(source => ({{ cell_type: 'code', source }})));
    content.activeCellIndex = 0;
    delete content.node.dataset.mgLanguage;
    const code = "__import__('minigrad').diagnostics.messages.set_language('en')";
    await {KERNEL}.requestExecute({{ code, silent: true }}).done;
}}"""


def fill(page: Page, lab: Lab, cells: list[str]) -> None:
    """Put these cells into a notebook that stays open, with its kernel, from test to test."""
    opened = "() => window.jupyterapp.shell.currentWidget?.context?.path"
    if page.evaluate(opened) != "cells.ipynb":
        lab.write("cells.ipynb", [])
        open_next(page, lab, "cells.ipynb")
    forget_choices(lab)
    page.evaluate(FILL, cells)


def test_the_lessons_are_copies(lab: Lab) -> None:
    assert lab.root != NOTEBOOKS
    assert {p.name for p in NOTEBOOKS.glob("*.ipynb")} <= {p.name for p in lab.root.glob("*.ipynb")}


SQUARES = """\
import ipywidgets as w
slider, square = w.IntSlider(value=3, description="number"), w.Label("9")
slider.observe(lambda change: setattr(square, "value", f"= {change.new**2}"), "value")
w.HBox([slider, square])"""


def test_what_would_stand_in_the_way_is_not_there(page: Page) -> None:
    plugins = page.evaluate("window.jupyterapp.listPlugins()")
    assert "@jupyterlab/notebook-extension:tracker" in plugins
    assert [name for name in plugins if any(map(name.startswith, WITHOUT))] == []


def test_a_notebook_runs_in_the_page(lab: Lab, page: Page) -> None:
    fill(page, lab, ["print('x' * 3)", SQUARES, "1 / 0"])
    run_all(page)
    printed, widget, failed = cell_outputs(page)
    assert (printed.text, printed.failed) == ("xxx", False)
    assert "number" in widget.text
    assert "ZeroDivisionError" in failed.text
    assert failed.failed
    assert page.errors == []


def test_a_widget_in_the_page_reaches_the_kernel(lab: Lab, page: Page) -> None:
    fill(page, lab, [SQUARES])
    run_all(page)
    page.locator(".widget-readout").fill("7")
    page.keyboard.press("Enter")
    page.get_by_text("= 49").wait_for()


ASK = """\
import minigrad_lessons as lessons
import viz
viz.language("en")
asked = lessons.quiz("L00.2")
display(asked, lessons.order("L00.6"))"""


def test_a_learner_answers_with_the_keyboard(lab: Lab, page: Page) -> None:
    fill(page, lab, [ASK, "asked.answers"])
    run_all(page)
    questions = page.locator("fieldset.mg-ask")
    questions.nth(1).wait_for()  # widgets come a moment after the kernel rests
    choice, lines = questions.all()
    assert "导数" in choice.locator("legend").text_content()
    assert "导数" not in choice.locator("legend").inner_text()  # the other language is hidden

    choice.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")  # B
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    verdict = choice.locator("[aria-live=polite]").nth(1)  # of the option that was chosen
    page.wait_for_function("e => e.innerText.includes('Not quite')", arg=verdict.element_handle())
    assert "7 is f(2)" in verdict.inner_text()
    choice.get_by_role("radio").nth(2).check()
    choice.get_by_role("button", name="Check").click()
    verdicts = choice.locator("[aria-live=polite]")
    page.wait_for_function("e => e.innerText", arg=verdicts.nth(2).element_handle())
    shown = [text[:2] for text in verdicts.all_inner_texts() if text]
    assert shown in (["✓ "], ["✗ "]), "that of the option before is gone"

    for line in ("a = placeholder()", "number = 5", "b = a * a - 1", "graph =", "result ="):
        lines.locator("li", has_text=line).get_by_role("button", name="add").press("Enter")
    lines.get_by_role("button", name="Check").press("Enter")
    verdict = lines.locator("[aria-live=polite]")
    page.wait_for_function("e => e.innerText.includes('Right.')", arg=verdict.element_handle())
    run_all(page)
    assert cell_outputs(page)[1].text == "[None]"  # run again: asked anew
    assert page.errors == []


PRINTS = """\
import minigrad as mg
print(lessons.attempt(mg.reshape, mg.tensor([1.0, 2.0]), (3,)))"""


def test_run_all_keeps_the_language_of_the_buttons(lab: Lab, page: Page) -> None:
    def follows(language: str, said: str) -> None:
        page.wait_for_selector(f"[data-mg-language={language}]")
        pressed = page.locator(".mg-language button[aria-pressed=true]")
        assert pressed.last.get_attribute("data-code") == language
        assert said in cell_outputs(page)[1].text
        visible = page.locator(f".mg-ask legend [lang={language}]").first
        assert visible.is_visible()

    cells = ['import viz, minigrad_lessons as lessons\nviz.language("en")', PRINTS]
    fill(page, lab, [*cells, 'lessons.quiz("L00.2")'])
    run_all(page)
    page.wait_for_selector(".mg-ask legend")
    follows("en", "Remedy")
    page.locator(".mg-language button[data-code=zh]").click()
    page.wait_for_selector("[data-mg-language=zh]")
    run_all(page)
    page.wait_for_selector(".mg-ask legend")
    follows("zh", "解决办法")
    run_cell(page, 0)
    run_cell(page, 1)
    follows("zh", "解决办法")
    assert page.errors == []


def test_no_chinese_text_stays_boxes(lab: Lab, page: Page) -> None:
    """Bold text that was written before the font arrived once kept its boxes."""
    table = 'lessons.table("examples.feeds", [[1], [2], [3]])'
    fill(page, lab, ['import viz, minigrad_lessons as lessons\nviz.language("zh")', table])
    run_all(page)
    page.wait_for_function("() => document.documentElement.dataset.mgFont === 'loaded'")
    page.wait_for_timeout(500)
    assert page.locator("th [lang=zh]").count() == 5
    assert boxed(page, "th [lang=zh], caption [lang=zh]") == set()


def test_notebooks_draw_errors_if_they_are_told_to(lab: Lab, page: Page) -> None:
    wrong = "mg.tensor([1.0, 2.0], requires_grad=True) @ mg.tensor([1.0, 2.0, 3.0])"
    cells = ["import minigrad as mg, viz\nviz.show_errors()", wrong]
    fill(page, lab, [*cells, "viz.show_errors(False)", wrong])
    for _ in range(4):  # a failing cell stops "run all"
        page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
        wait_idle(page)
    page.locator(".mg-board").wait_for()
    outputs = cell_outputs(page)
    assert [out.failed for out in outputs][:4] == [False, True, False, True]
    assert "ShapeError" in outputs[1].text
    assert "mg-failed" in outputs[1].html
    assert "mg-failed" not in outputs[3].html


def test_in_the_notebook_the_drawing_grows_and_fades(lab: Lab, page: Page) -> None:
    cell = "x = mg.tensor(2.0, requires_grad=True)\nwith viz.live(pause=0.2):\n"
    cell += "    y = x * x\n    y = y + 3\n    y = x * 5"
    fill(page, lab, ["import minigrad as mg, viz", cell])
    page.evaluate(
        """() => {
            window.sizes = new Set();
            window.watching = new MutationObserver(() => {
                const nodes = document.querySelectorAll('.mg-player g.node');
                if (nodes.length) window.sizes.add(nodes.length);
            });
            window.watching.observe(document.body, {childList: true, subtree: true});
        }"""
    )
    run_all(page)
    page.locator(".mg-player g.mg-freed").first.wait_for(state="attached")
    assert page.locator(".mg-player g.mg-freed").count() == 2
    page.evaluate("window.watching.disconnect()")
    assert len(page.evaluate("() => [...window.sizes]")) >= 3, "it was drawn line by line"
    assert page.locator(".mg-player").count() == 1
    assert page.errors == []


def test_it_works_for_a_function_typed_in_a_cell(lab: Lab, page: Page) -> None:
    cells = [
        "import minigrad as mg, viz\nviz.language('en')\n"
        "def f(x):\n    if x.sum() > 0:\n        return 2 * x\n    return x - 1",
        "viz.branches(f, [3.0], inputs=[[3.0], [-3.0]])",
        "viz.step(mg.tensor(2.0, requires_grad=True) * 3)",
    ]
    fill(page, lab, cells)
    run_all(page)
    page.locator(".mg-board .mg-caption").wait_for()
    assert "script -4" in page.locator(".mg-board .mg-caption").inner_text()
    wrong = page.locator("g.mg-wrong .mg-card").first.evaluate("e => getComputedStyle(e).stroke")
    red, green, blue = bytes.fromhex(TOKENS["bad"][0][1:])
    assert wrong == f"rgb({red}, {green}, {blue})", (
        "also where a player brings its own rules afterwards"
    )
    assert "return x - 1" in page.locator(".mg-code-ran").last.inner_text()

    slider = page.locator(".mg-board").get_by_role("slider", name="x")
    slider.focus()
    slider.fill("-4")
    page.wait_for_function(
        "() => document.querySelector('.mg-board .mg-caption').textContent.includes('script -5')"
    )
    assert page.locator(".mg-board tr.mg-row").inner_text().split()[0] == "-4"
    assert slider.evaluate("e => document.activeElement === e"), "the slider itself stays"
    page.locator(".mg-board").focus()
    page.keyboard.press("Home")
    assert "script 6" in page.locator(".mg-board .mg-caption").inner_text()
    assert page.errors == []


def test_a_switch_in_the_notebook_asks_the_kernel(lab: Lab, page: Page) -> None:
    cell = "import minigrad as mg, viz\nx = mg.placeholder('x', shape=(3,))\n"
    fill(page, lab, [cell + "viz.passes(mg.build_graph(x, mg.exp(x * 1) + mg.exp(x)))"])
    run_all(page)
    board = page.locator(".mg-board")
    board.locator(".mg-caption").wait_for()
    last = page.locator(".mg-controls output")
    before = last.inner_text()
    board.get_by_label("merge_common").uncheck()
    page.wait_for_function(
        "old => document.querySelector('.mg-controls output').textContent !== old", arg=before
    )
    assert not board.get_by_label("merge_common").is_checked()
    assert board.get_by_label("simplify").is_checked()


def test_the_kernel_draws_what_was_not_sent(lab: Lab, page: Page) -> None:
    """Of a large graph the overview is sent, where what repeats is one strip, and the groups in it;
    what is open in a group is laid out when it is asked for.
    """
    code = """import minigrad as mg, viz
viz.language("en")
y = mg.tensor(1.0, requires_grad=True)
for i in range(12):
    with mg.name_scope(f"part{i}"):
        for _ in range(3): y = y * 0.999
viz.step(y)"""
    fill(page, lab, [code])
    run_all(page)
    player = page.locator(".mg-player")
    player.wait_for()
    assert player.locator("g.node").count() == 4, "the input, the first part, the last, and a strip"
    player.focus()
    page.keyboard.press("End")
    player.get_by_role("button", name="part × 10:").dispatch_event("click")
    player.get_by_role("button", name="open part × 10").click()
    page.locator("g.cluster").wait_for(state="attached")
    assert player.locator("g.node").count() == 13
    player.get_by_role("button", name="part7:").dispatch_event("click")
    player.get_by_role("button", name="open part7").click()
    page.locator("g.cluster").nth(1).wait_for(state="attached")
    assert player.locator("g.node").count() == 18
    player.get_by_role("button", name="close part7").click()
    page.wait_for_function("() => document.querySelectorAll('.mg-player g.node').length === 13")
    assert page.errors == []


def test_the_chart_grows_in_the_notebook_and_survives_an_interrupt(lab: Lab, page: Page) -> None:
    loop = (
        "t = viz.train(100000)\n"
        "for step in t:\n    t.log(loss=1 / (step + 1))\n    time.sleep(0.01)"
    )
    fill(page, lab, ["import time, viz", loop])
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.locator(".mg-train img:visible").first.wait_for()
    before = page.locator(".mg-train .mg-caption").inner_text()
    page.wait_for_function(
        "old => document.querySelector('.mg-train .mg-caption').innerText !== old",
        arg=before,
        polling=OFTEN,
    )
    assert page.locator(".mg-train").count() == 1
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()"
    )
    wait_idle(page)
    page.wait_for_function(
        "() => document.querySelector('.mg-train .mg-caption').innerText.startsWith('stopped')"
    )
    assert page.locator(".mg-train img").count() == 2, "one for each language"
    assert cell_outputs(page)[1].failed


WIDE = """\
import minigrad as mg, viz
x = y = mg.tensor(2.0, requires_grad=True)
for _ in range(12):
    y = y.exp().log()
viz.diff(y, y.exp())"""


def test_a_board_in_a_notebook_begins_where_something_differs(lab: Lab, page: Page) -> None:
    fill(page, lab, [WIDE])
    run_all(page)
    page.wait_for_function(
        """() => {
            const card = document.querySelector('.mg-board g.mg-new');
            if (!card) return false;
            const part = card.getBoundingClientRect();
            const whole = card.closest('.mg-drawing').getBoundingClientRect();
            return whole.left <= part.left && part.right <= whole.right;
        }"""
    )


# ---- One player -------------------------------------------------------------

CELL = """import minigrad as mg, viz
viz.language("en")
x = mg.tensor(2.0, requires_grad=True)
y = x * x
z = y + 3
viz.step(z)"""


IN_NOTEBOOK_7 = pytest.param("Notebook 7", marks=EXHAUSTIVE)  # it takes as long as ten notebooks


@pytest.fixture(scope="module", params=["JupyterLab", IN_NOTEBOOK_7])
def running(
    request: pytest.FixtureRequest, lab: Lab, jupyterlab: Page, kept: Kept
) -> Iterator[Page]:
    """A notebook with one player."""
    if request.param == "JupyterLab":
        jupyterlab.errors.clear()
        fill(jupyterlab, lab, [CELL])
        yield with_player(jupyterlab)
        return
    lab.write("player.ipynb", [CELL])
    for page in kept.lent("light", 1400, 1000):
        open_notebook(page, lab, "player.ipynb", "notebooks")
        page.errors.clear()  # Notebook 7 has one of its own while it starts
        yield with_player(page)


def with_player(page: Page) -> Page:
    run_all(page)
    page.locator(".mg-player").wait_for()
    return page


@pytest.fixture
def lesson(running: Page) -> Page:
    """The notebook in English, its player at the first step, and the cell is written in."""
    running.locator(".mg-language button[data-code=en]").click()
    running.locator(".mg-player .mg-steps").fill("0")
    running.locator(".jp-Cell .cm-content").first.click()
    return running


def test_in_the_notebook(lesson: Page) -> None:
    """A slider, both themes and both languages, one after the other."""
    player = lesson.locator(".mg-player")
    player.focus()
    lesson.keyboard.press("ArrowRight")
    drawing = player.locator(".mg-drawing svg").element_handle()
    slider = player.get_by_role("slider", name="x")
    slider.fill("5")
    lesson.wait_for_function(
        "() => /5\\s×\\s5\\s=\\s25/.test(document.querySelector('.mg-caption').textContent)"
    )
    assert drawing.evaluate("e => e.isConnected"), "the drawing itself stayed"
    assert player.locator(".mg-controls output").inner_text() == "1 / 7"

    for theme, ink_is_bright in (("JupyterLab Dark", True), ("JupyterLab Light", False)):
        choose_theme(lesson, theme)
        assert unlike(lesson, ink_is_bright) == [], theme

    lesson.locator(".mg-language button[data-code=zh]").click()
    lesson.wait_for_function("() => document.querySelector('[data-mg-language=zh]')")
    assert "边运行边记录" in player.locator(".mg-caption").inner_text()
    assert "run and recorded" not in player.locator(".mg-caption").inner_text()
    assert lesson.errors == []


def test_the_keys_of_a_notebook_are_its_own_but_for_two(lesson: Page) -> None:
    """While the pointer rests on a player that is not chosen, and its border says so."""
    player = lesson.locator(".mg-player")
    counter = player.locator(".mg-controls output")
    lesson.keyboard.press("Escape")  # from the editor to the notebook
    cell = lesson.locator(".jp-Cell").first
    player.scroll_into_view_if_needed()
    lesson.mouse.move(2, 2)
    lesson.keyboard.press("ArrowRight")
    assert counter.inner_text() == "0 / 7"
    player.locator(".mg-caption").hover()
    lesson.wait_for_function("() => document.querySelector('.mg-keyed')")
    lesson.keyboard.press("ArrowRight")
    assert counter.inner_text() == "1 / 7"
    lesson.keyboard.press("End")
    lesson.keyboard.press(" ")
    assert counter.inner_text() == "1 / 7", "these two belong to the notebook"
    cell.locator(".cm-content").click()
    player.locator(".mg-caption").hover()
    lesson.keyboard.press("ArrowRight")
    assert counter.inner_text() == "1 / 7", "the editor has the focus"


# How often the layout changes once the extension has begun, on a page that nobody has touched.
CHANGES = """async () => {
    const { layoutModified } = window.jupyterapp.shell;
    const plugin = (await window._JUPYTERLAB["minigrad-lessons"].get())().default;
    let count = 0;
    const heard = () => { count += 1; };
    layoutModified.connect(heard);
    plugin.activate(window.jupyterapp);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    layoutModified.disconnect(heard);
    dispatchEvent(new Event("pointerdown"));
    return count;
}"""


def test_on_a_phone_the_notebook_has_the_room_of_the_lists_beside_it(
    lab: Lab, jupyterlab: Page
) -> None:
    page = jupyterlab
    fill(page, lab, ["1"])
    page.evaluate("window.jupyterapp.shell.expandLeft()")
    width = "document.querySelector('.jp-Notebook').getBoundingClientRect().width"
    assert page.evaluate(width) < 1200
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"() => {width} > 350")
    assert page.evaluate("window.jupyterapp.shell.leftCollapsed")
    assert page.evaluate(CHANGES) < 20, "where it is all put away, it is left alone"


# ---- Notebooks that nothing has run yet ----------------------------------------------------------

UNDECIDED = """\
import os, viz
os.environ.pop("MINIGRAD_LANGUAGE", None)
viz.language()"""


@pytest.fixture
def hasten(lab: Lab) -> Iterator[Hasten]:
    """Lets the films in JupyterLab go by so many times faster; gives seconds in which they do."""
    moment = re.compile(r"(--(?:at|for)):([\d.]+)s")

    def change(times: float) -> float:
        for film in PICTURES.glob("both_ways_*.svg"):
            faster, count = moment.subn(
                lambda found: f"{found[1]}:{float(found[2]) / times:.3f}s", film.read_text("utf-8")
            )
            assert count > 50
            (lab.root / "pictures" / film.name).write_text(faster, "utf-8")
        return LONG / times

    yield change
    shutil.copytree(PICTURES, lab.root / "pictures", dirs_exist_ok=True)


@pytest.mark.parametrize(
    "name", ["00_one_formula_two_graphs", pytest.param("index", marks=EXHAUSTIVE)]
)
def test_before_anything_runs_its_film_plays_and_the_language_is_that_of_the_page(
    page: Page, lab: Lab, hasten: Hasten, name: str
) -> None:
    """On the first screen, and again by its link; what was chosen last comes before the page's."""

    def shows(shown: str, hidden: str) -> None:
        prose = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-RenderedMarkdown")
        prose.locator(f"div[lang={shown}]").first.wait_for()
        assert not prose.locator(f"div[lang={hidden}]").first.is_visible()

    page.set_viewport_size({"width": 1440, "height": 900})
    page.evaluate("() => { localStorage.clear(); document.documentElement.lang = 'en'; }")
    seconds = hasten(40)
    begin = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    begin.cells[3:] = [nbformat.v4.new_code_cell(UNDECIDED)]  # the first screen is full before
    nbformat.write(begin, lab.root / "begin.ipynb")
    open_next(page, lab, "begin.ipynb")
    image = page.locator(".jp-MarkdownCell img[src*='both_ways_en']").first
    image.wait_for()
    page.wait_for_function("image => image.naturalWidth > 0", arg=image.element_handle())
    box = image.bounding_box()
    assert box
    assert box["y"] < 450, "half of it or more is seen at once"
    assert box["width"] == image.evaluate("image => image.naturalWidth"), "not shrunk"
    end = time.monotonic() + 4 * seconds
    while filled(image.screenshot()) <= 0.02:
        assert time.monotonic() < end, "it plays by itself"
        page.wait_for_timeout(1000 * seconds / 4)
    shows("en", "zh")

    seconds = hasten(3)  # its beginning is to be seen, too
    link = page.get_by_role("link", name="▶ play it again").first
    page.wait_for_function("a => a.href", arg=link.element_handle())
    link.click()
    viewer = page.locator(".jp-ImageViewer img")
    viewer.wait_for()
    page.wait_for_function("image => image.naturalWidth", arg=viewer.element_handle())
    early = filled(viewer.screenshot())
    end = time.monotonic() + 4 * seconds
    while filled(viewer.screenshot()) <= early + 0.02:
        assert time.monotonic() < end, "it fills once more"
        page.wait_for_timeout(1000 * seconds / 4)

    back = "path => window.jupyterapp.commands.execute('docmanager:open', { path })"
    page.evaluate(f"async path => {{ await ({back})(path); }}", "begin.ipynb")
    page.evaluate("() => { document.documentElement.lang = 'zh-CN'; }")  # as JupyterLab does, late
    shows("zh", "en")
    run_all(page)
    page.wait_for_selector("[data-mg-language=zh]")
    page.locator(".mg-language button[data-code=en]").last.click()
    page.wait_for_selector("[data-mg-language=en]")
    opened = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
    opened.evaluate("notebook => { delete notebook.dataset.mgLanguage; }")  # as the next one begins
    shows("en", "zh")
    page.evaluate("() => { document.documentElement.lang = 'en'; localStorage.clear(); }")


# ---- Every notebook, run from top to bottom ------------------------------------------------------


def as_given(path: Path) -> nbformat.NotebookNode:
    """A notebook as learners get it; of the exercises of a lesson, which nbval runs, only one."""
    given = nbformat.read(path, as_version=4)
    if path not in LESSONS:
        return given
    for cell in given.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    if not covering.thorough:
        parts = places(path)
        first, last = parts["faded example, 1 gap"], parts["its own tests"]
        given.cells[first : last + 1] = filter(is_used, given.cells[first : last + 1])
    return given


def is_used(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell among the exercises makes what later ones show."""
    return cell.cell_type == "code" and not re.search("check\\(|SOLUTION", cell.source)


@pytest.fixture(scope="module", params=notebooks(*MAIN))
def notebook(request: pytest.FixtureRequest, lab: Lab, jupyterlab: Page) -> Page:
    """A page on which this notebook was run from top to bottom."""
    page = jupyterlab
    page.errors.clear()
    page.set_viewport_size({"width": 1400, "height": 1000})
    page.forward = []  # the states of its first player, once it was walked
    page.path = NOTEBOOKS / request.param
    given = as_given(page.path)
    nbformat.write(given, lab.root / request.param)
    open_next(page, lab, request.param)
    page.evaluate("window.jupyterapp.commands.execute('notebook:expand-all-headings')")
    run_all(page)
    page.code = "\n".join(run_here(c.source) for c in given.cells if c.cell_type == "code")
    for widget, calls in WIDGETS.items():  # they may appear a moment after their cell has run
        page.wait_for_function(
            "([widget, count]) => document.querySelectorAll(widget).length >= count",
            arg=[widget, len(re.findall(calls, page.code))],
            polling=OFTEN,
        )
    return page


@pytest.fixture
def player(notebook: Page) -> Locator:
    """Its first player, which has the keys."""
    if not MAKERS.search(notebook.code):
        pytest.skip("this notebook has no player")
    first = notebook.locator(PLAYER).first
    first.scroll_into_view_if_needed()
    notebook.mouse.move(0, 0)  # it rests on no card
    first.focus()
    return first


# All that a step changes: words, position, and what each node and edge looks like.
STATE = """player => ({
    caption: player.querySelector('.mg-caption').textContent,
    counter: player.querySelector('.mg-controls output').textContent,
    slider: player.querySelector('.mg-steps').value,
    nodes: Object.fromEntries([...player.querySelectorAll('.mg-drawing g.node')].map(g =>
        [g.id, [[...g.classList].sort().join(' '),
            (g.querySelector('.mg-value')?.textContent.trim()  // a constant is its value
                || g.querySelector('.mg-of-value')?.innerHTML) ?? null]]  // a tensor is drawn
    )),
    edges: [...player.querySelectorAll('.mg-drawing g.edge')].map(g =>
        [...g.classList].sort().join(' ')),
    sent: [...player.querySelectorAll('.mg-chip:not(.mg-travels)')].map(t => t.textContent),
    inspector: player.querySelector('.mg-inspector').textContent,
})"""


def state(player: Locator) -> dict[str, Any]:
    return player.evaluate(STATE)


# The states from one end of the film to the other, in one task of the browser, during which no
# message can arrive, by what this makes go on.
WALK = f"""(player, go) => {{
    const state = {STATE};
    const press = key => player.dispatchEvent(new KeyboardEvent('keydown', {{ key }}));
    const [button] = player.querySelectorAll('.mg-controls button[aria-label^="step forward"]');
    const states = [state(player)];
    for (let i = Number(player.querySelector('.mg-steps').max); i > 0; i--) {{
        if (go === 'button') button.click();
        else press(go);
        states.push(state(player));
    }}
    return states;
}}"""


def forward(player: Locator) -> list[dict[str, Any]]:
    """The states from the first to the last, walked once for all tests; it stands at the first."""
    player.page.keyboard.press("Home")
    if not player.page.forward:
        player.page.forward = player.evaluate(WALK, "ArrowRight")
        player.page.keyboard.press("Home")
    return player.page.forward


def named(states: list[dict[str, Any]], name: str) -> list[set[str]]:
    """The nodes with this class, for each state."""
    return [{i for i, (c, _) in s["nodes"].items() if name in c.split()} for s in states]


def moving(player: Locator, step: int) -> int:
    """How many values set out, all of which can be seen, when a reader goes on to this step."""
    player.page.emulate_media(reduced_motion="no-preference")
    set_out = player.evaluate(
        """(player, step) => {
            const press = key => player.dispatchEvent(
                new KeyboardEvent('keydown', { key, bubbles: true }));
            press('Home');
            for (let i = 0; i < step; i++) press('ArrowRight');
            return [...player.querySelectorAll('.mg-chip.mg-travels')]
                .filter(e => e.offsetWidth && (e.textContent || e.querySelector('svg'))).length;
        }""",
        step,
    )
    player.page.emulate_media(reduced_motion="reduce")
    return set_out


def press(player: Locator, name: str) -> None:
    player.get_by_role("button", name=name).click()


def test_every_cell_runs_and_every_player_is_there(notebook: Page) -> None:
    failed = [output.text for output in cell_outputs(notebook) if output.failed]
    assert failed == []
    assert notebook.locator(PLAYER).count() == len(MAKERS.findall(notebook.code))
    assert notebook.locator(".mg-language").count() == notebook.code.count("viz.language(")


def test_the_film_runs_forward_and_backward(player: Locator) -> None:
    keyboard = player.page.keyboard
    states = forward(player)
    last = len(states) - 1
    assert [s["counter"] for s in states] == [f"{i} / {last}" for i in range(last + 1)]
    assert [s["slider"] for s in states] == [str(i) for i in range(last + 1)]
    assert len({s["caption"] for s in states}) > last / 2
    keyboard.press("End")
    assert state(player) == states[-1]
    keyboard.press("ArrowRight")
    assert state(player) == states[-1], "there is nothing after the end"
    assert player.evaluate(WALK, "ArrowLeft") == states[::-1]
    keyboard.press("ArrowLeft")
    assert state(player) == states[0]

    unborn, now = named(states, "mg-unborn"), named(states, "mg-now")
    assert unborn[0]
    assert unborn[-1] == set()
    assert all(after <= before for before, after in pairwise(unborn))
    assert now[0] == now[-1] == set()
    assert all(now[1:-1]), "something lights up at every step"
    flowing = [sum("mg-flow" in e.split() for e in s["edges"]) for s in states]
    assert any(flowing), "values go along the arrows"
    sends = next(i for i, count in enumerate(flowing) if count)
    assert moving(player, sends) == flowing[sends], "and are seen to go where there is motion"
    shown = [{i: v for i, (_, v) in s["nodes"].items() if v} for s in states]
    assert all(set(before) <= set(after) for before, after in pairwise(shown))
    assert not any(set(values) & nodes for values, nodes in zip(shown, unborn, strict=True))
    bare = {i for i, (c, v) in states[-1]["nodes"].items() if v is None}
    assert bare <= named(states, "mg-kind-constant")[-1]
    assert {*shown[-1], *bare} == set(states[-1]["nodes"]), "at the end every node has a value"
    for (before, after), lit in zip(pairwise(states), now[1:], strict=True):
        result = re.search(r"run[^:]*: .* = (-?[\d.]+)(?:\D|$)", after["caption"])
        if result and before["nodes"] != after["nodes"] and len(lit) == 1:
            assert after["nodes"][next(iter(lit))][1] == result[1]


@IN_ONE
def test_buttons_and_slider_go_where_the_keys_go(player: Locator) -> None:
    states = forward(player)
    last = len(states) - 1
    presses = {"first step": [0], "step forward": [1, 2], "step back": [1], "last step": [last]}
    for name, indices in presses.items():
        button = player.get_by_role("button", name=name)
        for index in indices:
            button.click()
            assert state(player) == states[index], name
    slider = player.locator(".mg-steps")
    for index in (0, last // 2):
        slider.fill(str(index))
        assert state(player) == states[index]


# What a widget shows, apart from its controls: text, and what each visible element looks like, once
# the values on their way have arrived.
SHOWN = """widget => {
    for (const motion of widget.getAnimations({ subtree: true })) {  // a value waits for its chip
        if (motion.effect.getComputedTiming().endTime < Infinity) motion.finish();
    }
    const leaving = '.mg-travels, g.graph > g[aria-hidden=true]';  // on its way, or fading
    widget.querySelectorAll(leaving).forEach(e => e.remove());
    const controls = [...widget.querySelectorAll('.mg-controls')];
    const seen = e => e.getClientRects().length && e.checkVisibility({ visibilityProperty: true });
    const text = [...widget.querySelectorAll('*')]
        .filter(e => seen(e) && !controls.some(c => c.contains(e)))
        .flatMap(e => [...e.childNodes].filter(n => n.nodeType === Node.TEXT_NODE))
        .map(n => n.textContent);
    const looks = [...widget.querySelectorAll('g.node, g.edge, tr')]
        .filter(seen).map(e => [...e.classList].sort().join(' '));
    return [...text, ...looks].join('|');
}"""
SHOWN_AT_EACH_STEP = f"""widget => {{
    const shown = {SHOWN};
    const slider = widget.querySelector('.mg-steps');
    const states = [[slider.value, shown(widget)]];
    for (let i = Number(slider.max); i > 0; i--) {{
        widget.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight' }}));
        states.push([slider.value, shown(widget)]);
    }}
    return states;
}}"""


def test_the_key_widget_of_a_lesson_answers_at_every_step(notebook: Page) -> None:
    """Whatever it is, it has a slider, and each position of it shows something else."""
    if notebook.path not in LESSONS:
        pytest.skip("it is no lesson")
    cell = notebook.locator(".jp-Notebook .jp-Cell").nth(places(notebook.path)["key moment"])
    widget = cell.locator(".mg-player")
    slider = widget.locator(".mg-steps")
    last = int(slider.get_attribute("max"))
    assert last >= 1
    widget.scroll_into_view_if_needed()
    widget.focus()
    notebook.keyboard.press("Home")
    at, shown = zip(*widget.evaluate(SHOWN_AT_EACH_STEP), strict=True)
    assert list(at) == [str(i) for i in range(last + 1)]
    assert all(before != after for before, after in pairwise(shown))
    for key, i in (("Home", 0), ("End", last)):
        notebook.keyboard.press(key)
        assert widget.evaluate(SHOWN) == shown[i]
    button = widget.get_by_role("button", name="step back").first
    button.click()
    assert widget.evaluate(SHOWN) == shown[last - 1]


UNCOVERED = """node => {
    const { left, right, top, bottom } = node.querySelector('.mg-card').getBoundingClientRect();
    return [left + 3, right - 3].every(x =>
        node.contains(document.elementFromPoint(x, (top + bottom) / 2)));
}"""


@IN_ONE
def test_a_click_on_a_node_fills_the_inspector(player: Locator) -> None:
    press(player, "last step")
    for node in player.locator(".mg-drawing g.node").all()[: 4 if covering.thorough else 2]:
        node.click()
        assert player.locator(".mg-side").is_visible()
        assert node.evaluate(UNCOVERED), "what is said of a card does not hide it"
        assert "mg-chosen" in node.get_attribute("class")
        label = node.locator(".mg-name, .mg-sign").first.text_content().rstrip("…")
        inspector = player.locator(".mg-inspector")
        titles = inspector.locator("h2").all_inner_texts()  # its own, and its partner's
        if not node.get_attribute("id").rpartition("-")[2].startswith("g"):
            assert any(title.startswith(label) for title in titles), (label, titles)
        terms = inspector.locator("dt").all_inner_texts()
        # The player of L01 shows the learner's engine, whose nodes know no shape.
        shape = set() if "/01_" in player.page.url else {"shape"}
        assert {"value", "gradient"} | shape <= set(terms)
        assert "no value yet" not in inspector.inner_text()
        press(player.locator(".mg-side"), "close")  # it may lie over the next one


@EXHAUSTIVE  # on a saved page the same buttons do the same
def test_layers_fold_and_unfold(notebook: Page) -> None:
    folding = notebook.locator(PLAYER, has=notebook.get_by_role("button", name="fold layers"))
    if not folding.count():
        pytest.skip("no player of this notebook has layers")
    first = folding.first
    press(first, "last step")
    boxes = first.locator(".mg-drawing g.node")
    folded = boxes.count()
    fold = first.get_by_role("button", name="fold layers").first
    assert fold.get_attribute("aria-pressed") == "true"
    fold.click()
    assert fold.get_attribute("aria-pressed") == "false"
    assert boxes.count() > folded
    assert first.locator("g.node.mg-unborn").count() == 0
    fold.click()
    assert boxes.count() == folded


@IN_ONE
def test_a_step_does_not_ask_the_kernel(player: Locator) -> None:
    """All steps are there before it could answer."""
    player.page.keyboard.press("Home")
    expected = player.evaluate(WALK, "ArrowRight")  # another node may be chosen by now
    player.page.keyboard.press("Home")
    states = player.evaluate(WALK, "button")
    assert len({state["caption"] for state in states}) > len(states) / 2
    assert states == expected


def visible(page: Page, selector: str) -> list[str]:
    """The elements that can be seen, in short."""
    return page.locator(selector).evaluate_all(
        """elements => elements.filter(e => e.getClientRects().length)
            .map(e => e.textContent.trim().slice(0, 60))"""
    )


def choose(page: Page, code: str) -> None:
    button = page.locator(f".mg-language button[data-code={code}]").first
    button.click()
    page.wait_for_function(
        "code => document.querySelector('.jp-Notebook, .jp-NotebookPanel')"
        ' && document.querySelector(`[data-mg-language="${code}"]`)',
        arg=code,
    )
    assert button.get_attribute("aria-pressed") == "true"


def asked(page: Page, expression: str) -> str:
    """What the kernel answers, once it has done everything sent to it before."""
    return page.evaluate(
        f"""async expression => {{
            const user_expressions = {{ asked: expression }};
            const reply = await {KERNEL}.requestExecute({{ code: '', user_expressions }}).done;
            return reply.content.user_expressions.asked.data['text/plain'];
        }}""",
        expression,
    )


# Every cell is run at once and leaves its outputs as they are: only what the keys do is looked at.
AT_ONCE = f"""() => {{
    const content = {{ status: 'ok', execution_count: 1 }};
    const reply = {{ content, metadata: {{}}, header: {{}} }};
    const future = {{ done: Promise.resolve(reply), msg: {{ header: {{ msg_id: '' }} }},
        registerMessageHook() {{}}, removeMessageHook() {{}}, dispose() {{}} }};
    for (const {{ model, outputArea }} of {CELLS}) {{
        if (!outputArea) continue;
        model.clearExecution = () => {{}};
        Object.defineProperty(outputArea, 'future',
            {{ configurable: true, get: () => future, set() {{}} }});
    }}
    {KERNEL}.requestExecute = () => future;
}}"""
AS_BEFORE = f"""() => {{
    for (const {{ model, outputArea }} of {CELLS}) {{
        delete model.clearExecution;
        delete outputArea?.future;
    }}
    delete {KERNEL}.requestExecute;
}}"""
SELECTED = """async place => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    const frame = () => new Promise(requestAnimationFrame);
    while (notebook.activeCellIndex < place) await frame();
    await frame();
    await frame();
    const page = notebook.outerNode ?? notebook.node;
    const seen = page.getBoundingClientRect();
    const cell = notebook.activeCell.node.getBoundingClientRect();
    return [notebook.activeCellIndex, Math.round(page.scrollTop),
        cell.height > 0 && cell.bottom > seen.top && cell.top < seen.bottom];
}"""


@IN_ONE
@pytest.mark.parametrize("code", ["en", pytest.param("zh", marks=EXHAUSTIVE)])
def test_shift_enter_only_goes_down(notebook: Page, code: str) -> None:
    """From cell to cell, each of them in sight, and never back to the top of the page."""
    if notebook.locator(".mg-language").count():
        choose(notebook, code)
    notebook.evaluate(AT_ONCE)
    count = notebook.evaluate(
        f"""() => {{
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.mode = 'command';
            notebook.activeCellIndex = 0;
            notebook.activate();
            (notebook.outerNode ?? notebook.node).scrollTop = 0;
            return {CELLS}.length;
        }}"""
    )
    if not covering.thorough and notebook.path in LESSONS:
        count = places(notebook.path)["key moment"] + 2  # by then there was a cell of each kind
    went = [notebook.evaluate(SELECTED, 0)]
    for place in range(1, count):
        notebook.keyboard.press("Shift+Enter")
        went.append(notebook.evaluate(SELECTED, place))
    notebook.evaluate(AS_BEFORE)
    cells, tops, in_sight = zip(*went, strict=True)
    assert list(cells) == list(range(count))
    assert all(in_sight), [place for place, seen in enumerate(in_sight) if not seen]
    assert list(tops) == sorted(tops)
    assert tops[-1] > tops[0]


TOO_WIDE = """() => {
    const notebook = document.querySelector('.jp-NotebookPanel-notebook, .jp-Notebook');
    const edge = notebook.getBoundingClientRect().right + 1;
    const parts = '.jp-OutputArea-output, .jp-MarkdownOutput, .mg-player, .mg-player > *, '
        + '.mg-graph, .mg-diagram, .mg-ask, .mg-chart, .mg-language';
    return [...notebook.querySelectorAll(parts)]
        .filter(e => e.getClientRects().length && e.getBoundingClientRect().right > edge)
        .map(e => e.className);
}"""
SCROLLS = """() => [...document.querySelectorAll('.mg-player, .mg-ask, .mg-language, .mg-code')]
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className)"""


@pytest.mark.cases(4)
@pytest.mark.parametrize("code", ["zh", "en", "both"])
def test_the_language_changes_everywhere(notebook: Page, code: str) -> None:
    if not notebook.locator(".mg-language").count():
        pytest.skip("this notebook has no switch")
    choose(notebook, code)
    shown = {"en", "zh"} if code == "both" else {code}
    for place in (".jp-MarkdownOutput", ".mg-caption", ".mg-inspector", ".mg-keys", ".mg-ask"):
        if not notebook.locator(f"{place}:visible [lang]").count():
            continue  # the inspector of a board without nodes has nothing to say
        for lang in ("en", "zh"):
            found = visible(notebook, f"{place} [lang={lang}]")
            assert bool(found) is (lang in shown), (place, lang, found[:3])
    cells = notebook.locator(".jp-Notebook .jp-Cell")
    assert len(visible(notebook, ".jp-Notebook .jp-Cell")) == cells.count(), "none is hidden"
    messages = "__import__('sys').modules['minigrad.diagnostics.messages']"
    assert asked(notebook, f"{messages}.get_language()") == repr(code)
    assert notebook.evaluate(TOO_WIDE) == []
    assert notebook.evaluate(SCROLLS) == []


def test_every_character_has_its_glyph(notebook: Page) -> None:
    """In the font that comes along, in both languages at once."""
    if notebook.locator(".mg-language").count():
        choose(notebook, "both")
    parts = ".jp-MarkdownOutput, .mg-player, .mg-ask, .mg-diagram, .mg-chart, .mg-language"
    text = notebook.locator(parts).evaluate_all(
        """all => all.map(element => {
            const copy = element.cloneNode(true);  // formulas have a font of their own
            copy.querySelectorAll('mjx-container, style').forEach(e => e.remove());
            return copy.textContent;
        }).join('')"""
    )
    assert len(text) > 1000
    assert missing(set(text)) == set()


def test_the_chinese_font_has_arrived(notebook: Page) -> None:
    if not notebook.locator(".mg-language").count():
        pytest.skip("this notebook has no switch")
    notebook.wait_for_function("() => document.documentElement.dataset.mgFont === 'loaded'")
    loaded = notebook.evaluate("() => [...document.fonts].map(f => [f.family, f.status])")
    ours = {(family.strip('"'), status) for family, status in loaded}
    assert {("Noto Han", "loaded"), ("Noto Sans SC", "loaded")} <= ours


@EXHAUSTIVE  # each answer gets its verdict in the notebook of `test_a_learner_answers`, too
@IN_ONE
def test_a_question_answers(notebook: Page) -> None:
    choices = notebook.locator(".mg-ask", has=notebook.locator("input[type=radio]"))
    if not choices.count():
        pytest.skip("this notebook asks nothing")
    question = choices.first
    verdicts = question.locator("[aria-live=polite]").all()
    options = question.get_by_role("radio").all()
    for option, verdict in zip(options, verdicts, strict=True):
        option.check()
        assert verdict.inner_text() == ""
        question.get_by_role("button", name="Check").click()
        notebook.wait_for_function("e => e.innerText", arg=verdict.element_handle())
        assert re.match("[✓✗] ", verdict.inner_text())
        assert [v.inner_text() != "" for v in verdicts].count(True) == 1


@pytest.mark.parametrize(
    ("theme", "code"),  # languages change no colour, nor themes a word
    [("JupyterLab Dark", "zh"), ("JupyterLab Light", "en")],
)
def test_all_views_of_the_gallery_can_be_read(theme: str, code: str, notebook: Page) -> None:
    """At once, the boards at their last steps."""
    if notebook.path.name != "gallery.ipynb":
        pytest.skip("it is a lesson")
    choose_theme(notebook, theme)
    choose(notebook, code)
    for board in notebook.locator(".mg-board").all():
        board.focus()
        notebook.keyboard.press("End")
    assert notebook.locator(".mg-board").count() == 8
    assert notebook.evaluate(CLASHES) == []
    assert notebook.evaluate(FAINT) == []
    assert serious(notebook) == []
    paddings = "all => [...new Set(all.map(e => getComputedStyle(e).padding))]"
    every = notebook.locator(".mg-film, .mg-board")
    assert every.evaluate_all(paddings) == ["0px"], "whichever was loaded last"


def test_a_pass_switched_off_changes_no_height(notebook: Page) -> None:
    if notebook.path.name != "gallery.ipynb":
        pytest.skip("it is a lesson")
    switches = notebook.locator(".mg-switches:has(input)")
    board = notebook.locator(".mg-board").filter(has=switches)
    before = board.bounding_box()["height"]
    steps = board.locator(".mg-steps")
    last = int(steps.get_attribute("max"))
    switch = switches.get_by_role("checkbox", name="simplify")
    for checked, count in ((False, last - 1), (True, last)):
        switch.set_checked(checked)
        steps.and_(notebook.locator(f"[max='{count}']")).wait_for()
        assert board.bounding_box()["height"] == pytest.approx(before, abs=1)


def test_the_page_reported_no_error(notebook: Page) -> None:
    """Last, so that all of the above is included."""
    assert notebook.errors == []
