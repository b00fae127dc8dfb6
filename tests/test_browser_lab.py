"""What JupyterLab shows of what is typed in cells, and what a kernel answers there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from browser import (
    NOTEBOOKS,
    WITHOUT,
    Lab,
    cell_outputs,
    open_next,
    run_all,
    run_cell,
    wait_idle,
)
from looks import boxed
from test_opening import LONG, NAMES, PICTURES, filled

from viz.picture.theme import TOKENS

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
Hasten = Callable[[float], float]


@pytest.fixture
def page(jupyterlab: Page) -> Page:
    """The page of all these tests, without the errors of those before."""
    jupyterlab.errors.clear()
    return jupyterlab


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
    lab.write("harness.ipynb", ["print('x' * 3)", SQUARES, "1 / 0"])
    open_next(page, lab, "harness.ipynb")
    run_all(page)
    printed, widget, failed = cell_outputs(page)
    assert (printed.text, printed.failed) == ("xxx", False)
    assert "number" in widget.text
    assert "ZeroDivisionError" in failed.text
    assert failed.failed
    assert page.errors == []


def test_a_widget_in_the_page_reaches_the_kernel(lab: Lab, page: Page) -> None:
    lab.write("widget.ipynb", [SQUARES])
    open_next(page, lab, "widget.ipynb")
    run_all(page)
    page.locator(".widget-readout").fill("7")
    page.keyboard.press("Enter")
    page.get_by_text("= 49").wait_for()


ASK = """\
import viz
viz.language("en")
asked = viz.quiz("L00.2")
display(asked, viz.order("L00.6"))"""


def test_a_learner_answers_with_the_keyboard(lab: Lab, page: Page) -> None:
    lab.write("ask.ipynb", [ASK, "asked.answers"])
    open_next(page, lab, "ask.ipynb")
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
print(viz.attempt(mg.reshape, mg.tensor([1.0, 2.0]), (3,)))"""


def test_run_all_keeps_the_language_of_the_buttons(lab: Lab, page: Page) -> None:
    def follows(language: str, said: str) -> None:
        page.wait_for_selector(f"[data-mg-language={language}]")
        pressed = page.locator(".mg-language button[aria-pressed=true]")
        assert pressed.last.get_attribute("data-code") == language
        assert said in cell_outputs(page)[1].text
        visible = page.locator(f".mg-ask legend [lang={language}]").first
        assert visible.is_visible()

    lab.write("chosen.ipynb", ['import viz\nviz.language("en")', PRINTS, 'viz.quiz("L00.2")'])
    open_next(page, lab, "chosen.ipynb")
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
    table = 'viz.table("examples.feeds", [[1], [2], [3]])'
    lab.write("table.ipynb", ['import viz\nviz.language("zh")', table])
    open_next(page, lab, "table.ipynb")
    run_all(page)
    page.wait_for_function("() => document.documentElement.dataset.mgFont === 'loaded'")
    page.wait_for_timeout(500)
    assert page.locator("th [lang=zh]").count() == 5
    assert boxed(page, "th [lang=zh], caption [lang=zh]") == set()


def test_notebooks_draw_errors_if_they_are_told_to(lab: Lab, page: Page) -> None:
    wrong = "mg.tensor([1.0, 2.0], requires_grad=True) @ mg.tensor([1.0, 2.0, 3.0])"
    cells = ["import minigrad as mg, viz\nviz.show_errors()", wrong]
    lab.write("errors.ipynb", [*cells, "viz.show_errors(False)", wrong])
    open_next(page, lab, "errors.ipynb")
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
    lab.write("live.ipynb", ["import minigrad as mg, viz", cell])
    open_next(page, lab, "live.ipynb")
    page.evaluate(
        """() => {
            window.sizes = new Set();
            new MutationObserver(() => {
                const nodes = document.querySelectorAll('.mg-player g.node');
                if (nodes.length) window.sizes.add(nodes.length);
            }).observe(document.body, {childList: true, subtree: true});
        }"""
    )
    run_all(page)
    page.locator(".mg-player g.mg-freed").first.wait_for(state="attached")
    assert page.locator(".mg-player g.mg-freed").count() == 2
    assert len(page.evaluate("() => [...window.sizes]")) >= 3, "it was drawn line by line"
    assert page.locator(".mg-player").count() == 1
    assert page.errors == []


def test_it_works_for_a_function_typed_in_a_cell(lab: Lab, page: Page) -> None:
    cells = [
        "import minigrad as mg, viz\n"
        "def f(x):\n    if x.sum() > 0:\n        return 2 * x\n    return x - 1",
        "viz.branches(f, [3.0], inputs=[[3.0], [-3.0]])",
        "viz.step(mg.tensor(2.0, requires_grad=True) * 3)",
    ]
    lab.write("branches.ipynb", cells)
    open_next(page, lab, "branches.ipynb")
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
    lab.write(
        "passes.ipynb",
        [
            "import minigrad as mg, viz\n"
            "x = mg.placeholder('x', shape=(3,))\n"
            "viz.passes(mg.build_graph(x, mg.exp(x * 1) + mg.exp(x)))"
        ],
    )
    open_next(page, lab, "passes.ipynb")
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
for i in range(60):
    with mg.name_scope(f"part{i}"):
        for _ in range(5): y = y * 0.999
viz.step(y)"""
    lab.write("large.ipynb", [code])
    open_next(page, lab, "large.ipynb")
    run_all(page)
    player = page.locator(".mg-player")
    player.wait_for()
    assert player.locator("g.node").count() == 4, "the input, the first part, the last, and a strip"
    player.focus()
    page.keyboard.press("End")
    player.get_by_role("button", name="part × 58:").dispatch_event("click")
    player.get_by_role("button", name="open part × 58").click()
    page.locator("g.cluster").wait_for(state="attached")
    assert player.locator("g.node").count() == 61
    player.get_by_role("button", name="part7:").dispatch_event("click")
    player.get_by_role("button", name="open part7").click()
    page.locator("g.cluster").nth(1).wait_for(state="attached")
    assert player.locator("g.node").count() == 70
    player.get_by_role("button", name="close part7").click()
    page.wait_for_function("() => document.querySelectorAll('.mg-player g.node').length === 61")
    assert page.errors == []


def test_the_chart_grows_in_the_notebook_and_survives_an_interrupt(lab: Lab, page: Page) -> None:
    loop = (
        "t = viz.train(100000)\n"
        "for step in t:\n    t.log(loss=1 / (step + 1), accuracy=step)\n    time.sleep(0.01)"
    )
    lab.write("train.ipynb", ["import time, viz", loop])
    open_next(page, lab, "train.ipynb")
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    page.locator(".mg-train .mg-curve").first.wait_for()
    before = page.locator(".mg-train .mg-caption").inner_text()
    page.wait_for_function(
        "old => document.querySelector('.mg-train .mg-caption').innerText !== old", arg=before
    )
    assert page.locator(".mg-train").count() == 1
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.interrupt()"
    )
    wait_idle(page)
    page.wait_for_function(
        "() => document.querySelector('.mg-train .mg-caption').innerText.startsWith('stopped')"
    )
    assert page.locator(".mg-train svg .mg-curve").count() == 4
    assert cell_outputs(page)[1].failed


WIDE = """\
import minigrad as mg, viz
x = y = mg.tensor(2.0, requires_grad=True)
for _ in range(12):
    y = y.exp().log()
viz.diff(y, y.exp())"""


def test_a_board_in_a_notebook_begins_where_something_differs(lab: Lab, page: Page) -> None:
    lab.write("wide.ipynb", [WIDE])
    open_next(page, lab, "wide.ipynb")
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


# ---- The film above a notebook ------------------------------------------------------------------


@pytest.fixture
def hasten(lab: Lab) -> Iterator[Hasten]:
    """Lets the films in JupyterLab go by so many times faster; gives seconds in which they do."""
    moment = re.compile(r"(animation-(?:delay|duration)):([\d.]+)s")

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
    "name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.exhaustive) for name in NAMES[1:])]
)
def test_it_is_on_the_first_screen_of_jupyterlab_before_anything_runs(
    page: Page, lab: Lab, hasten: Hasten, name: str
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    seconds = hasten(10)
    open_next(page, lab, f"{name}.ipynb")
    image = page.locator(".jp-MarkdownCell img[src*='both_ways_en']").first
    image.wait_for()
    page.wait_for_function("image => image.naturalWidth > 0", arg=image.element_handle())
    box = image.bounding_box()
    assert box
    assert box["y"] < 450, "half of it or more is seen at once"
    assert box["width"] == image.evaluate("image => image.naturalWidth"), "not shrunk"
    page.wait_for_timeout(1000 * seconds)
    assert filled(image.screenshot()) > 0.02, "it has played by itself"


def test_its_link_in_jupyterlab_plays_it_again(page: Page, lab: Lab, hasten: Hasten) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    seconds = hasten(3)  # its beginning is to be seen, too
    open_next(page, lab, "tour.ipynb")
    link = page.get_by_role("link", name="▶ play it again").first
    page.wait_for_function("a => a.href", arg=link.element_handle())
    link.click()
    viewer = page.locator(".jp-ImageViewer img")
    viewer.wait_for()
    page.wait_for_function("image => image.naturalWidth", arg=viewer.element_handle())
    early = filled(viewer.screenshot())
    page.wait_for_timeout(1000 * seconds)
    assert filled(viewer.screenshot()) > early + 0.02, "it fills once more"
