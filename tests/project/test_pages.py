"""Pages to read: one language, whole without a network, alive without a kernel, and no answers."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import sys
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import forks
import nbformat
import pytest
from bs4 import BeautifulSoup, SoupStrainer
from fontTools.ttLib import TTFont
from lessons import LESSONS, NOTEBOOKS, ROOT
from looks import luminance, painted, violations
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from test_computing_pages import MOVED

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics.messages import set_language
from viz.page import stored
from viz.page.document import packed

sys.path.append(str(ROOT / "docs"))

import pages

import tasks

if TYPE_CHECKING:
    from playwright.sync_api import Page

LANGUAGES = pages.LANGUAGES
LESSON = next(path for path in LESSONS if path.name.startswith("03"))
LIMIT = 3_000_000  # bytes
HAN = re.compile("[\u4e00-\u9fff]")


def cases(x: Any) -> Any:
    return x.exp() if x.sum() > 0 else -x


@cache
def kept(view: Callable[[], Any], language: str) -> str:
    """What a notebook stores of a view that is shown for a page in this language, as JSON."""
    set_language(language)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(stored.ROOM, str(pages.KEPT))
        bundle = view()._repr_mimebundle_()
    return json.dumps(bundle[0] if isinstance(bundle, tuple) else bundle)


def film() -> Any:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    return viz.step(x * x + 3)


def chart() -> Any:
    same = [2.0, 1.0, 0.5]
    lines = {"dynamic": same, "static": same}
    return viz.curves(lines, title=("Loss", "损失"), x=("step", "步"), y=("loss", "损失"))


def output_of(view: Callable[[], Any], language: str) -> list[Any]:
    """The output of a cell that ends with this view."""
    return [nbformat.v4.new_output("display_data", json.loads(kept(view, language)))]


def branches() -> Any:
    x = mg.tensor([1.0])
    return viz.branches(cases, x, cond=lambda x: mg.cond(x.sum() > 0, x.exp, lambda: -x))


def lesson(language: str) -> nbformat.NotebookNode:
    """A lesson as its file stores it, but its film plays and its chart is that of a page."""
    notebook = nbformat.read(LESSON, as_version=4)
    both = LANGUAGES[0]  # a chart is the same in either: it has the words of both
    for call, view, chosen in (("viz.live()", film, language), ("viz.curves(", chart, both)):
        cell = next(c for c in notebook.cells if c.cell_type == "code" and call in c.source)
        cell.outputs = output_of(view, chosen)
    return notebook


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of a lesson and the start page, in both languages."""
    folder = tmp_path_factory.mktemp("pages")
    with mg.Graph():
        for language in LANGUAGES:
            set_language(language)
            (folder / language).mkdir()
            for path, notebook in (
                (LESSON, lesson(language)),
                (NOTEBOOKS[-2], pages.start(language)),
            ):
                html = pages.page(notebook, path, language, pages.RUN)
                (folder / language / f"{path.stem}.html").write_text(html, "utf-8")
    set_language("en")
    return folder


def read(made: Path, language: str, name: str = LESSON.stem) -> str:
    return (made / language / f"{name}.html").read_text("utf-8")


def prose(html: str) -> str:
    """The words of the lesson itself."""
    only = SoupStrainer(class_="prose")
    return BeautifulSoup(html, "html.parser", parse_only=only).get_text("\n")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prose_is_of_one_language(made: Path, language: str) -> None:
    html = read(made, language)
    assert f' lang="{pages.WORDS[language]["lang"]}">' in re.findall("<html[^>]*>", html)[0]
    words = prose(html)
    assert bool(HAN.search(words)) == (language == "zh")
    assert len(words) > 2000
    other = "Dynamic graph" if language == "zh" else "动态图"
    assert other not in re.findall("<title>(.*?)</title>", html)[0]


def test_a_long_line_of_code_goes_on_further_right_than_it_begins() -> None:
    lines = '<b>if</b> x:\n    <i>"""y\n    z"""</i>\n\n'
    code = f'<div class=" highlight hl"><pre><span></span>{lines}</pre></div>'
    made = pages.hung(code)
    assert re.findall(r'--in:(\d)">(.*?)\n</span>', made, re.DOTALL) == [
        ("0", "<b>if</b> x:"),
        ("4", '    <i>"""y</i>'),
        ("4", '<i>    z"""</i>'),
        ("0", ""),
    ]
    assert re.sub("<[^>]*>", "", made) == re.sub("<[^>]*>", "", code), "it is copied as it was"
    assert '--in:4">    return x' in pages.hung("<pre>def f(x):\n    return x</pre>"), "beside, too"
    style = (ROOT / "docs" / "template" / "page.css").read_text("utf-8")
    assert ".line { display: block; padding-left: calc((var(--in) + 4) * 1ch)" in style


def test_no_line_breaks_short_code() -> None:
    short, long = "<code>x &lt; %s</code>", "<code>y = f(x, %s)</code>"
    kept = short.replace("<code>", '<code class="marked">')
    assert pages.alive(short % (16 * "9")) == kept % (16 * "9")
    for code in (short % (17 * "9"), long % (11 * "9"), "<pre><code>x</code></pre>"):
        assert pages.alive(code) == code, "a phone has no room for more"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_font_has_every_letter_that_a_script_may_show(language: str) -> None:
    """The frames of branches get their words from the script; the page holds them nowhere else."""
    title = nbformat.v4.new_markdown_cell('# Both <div lang="zh">\n\n# 都有\n\n</div>')
    cell = nbformat.v4.new_code_cell("", outputs=output_of(branches, language))
    notebook = nbformat.v4.new_notebook(cells=[title, cell])
    html = pages.page(notebook, LESSON, language, pages.RUN)
    set_language("en")
    fonts = re.findall(r"data:font/woff;base64,([^)]+)", html)
    known = {c for font in fonts for c in TTFont(io.BytesIO(base64.b64decode(font))).getBestCmap()}
    script = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)[-1]
    assert {*"成立时否则"} <= {*script}
    shown = script if language == "zh" else pages.HAN.sub("", script)
    assert {c for c in shown if c > " "} <= {chr(c) for c in known}


def test_a_page_says_nothing_of_running_a_notebook() -> None:
    for path in NOTEBOOKS:
        first = nbformat.read(path, as_version=4).cells[0].source
        for language in LANGUAGES:
            told = pages.prose(first, language)
            assert not re.search("Shift|next cell|单元格下方|运行各单元格", told)
            assert re.search(r"\d+ (?:minutes|分钟)|Home|tour|导览", told), "the rest is there"


TELLS = re.compile(  # a reader to read code
    r"[Rr]ead the \w+ cell|first cell (?!below prep)|comments in|write the \w+ cell|Bug hunt|"
    r"读.{0,4}单元格|第一个单元格(?!先为)|用注释|写了下面的代码|找错误"
)
RUNS = re.compile(
    r"[Rr]un the (?:next |first )?cells?\b|运行(?:下面|下一个|这个|各个)?的?单元格|Shift"
)


@pytest.mark.parametrize("path", pages.order()[1:], ids=lambda path: path.stem)
def test_code_that_is_to_be_read_is_open_and_nothing_is_to_be_run(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    cells = [cell for cell in cells if cell.get("id") != "install"]
    pages.unfold(cells)
    for cell, *after in zip(cells, cells[1:], cells[2:], strict=False):
        if cell.cell_type == "markdown":
            for text in (pages.prose(cell.source, language) for language in LANGUAGES):
                assert not RUNS.search(text)
                code = next((c for c in after if not c.source.startswith(pages.ASKING)), None)
                if code and TELLS.search(text) and not pages.has_gaps(code.source):
                    assert code.metadata["open"], text


def closed(html: str) -> None:
    """It brings along all that it shows, and lets one script run: its own."""
    assert len(html.encode()) < LIMIT
    assert not re.search(
        r"<(?:link|iframe|object)\b|\ssrc=[\"'](?!data:)|@import|url\((?!data:)", html
    )
    assert re.findall(r'<script type="(.*?)"', html)[-1] == "module"
    script = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html
    assert set(re.findall('<script type="(.*?)"', html)) <= {"application/json", "module"}
    assert not re.search(r"BEGIN SOLUTION|HIDDEN TESTS|\bour_\w+", html)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [LESSON.stem, "index"])
def test_a_page_is_whole_small_and_closed_and_holds_no_answer(
    made: Path, language: str, name: str
) -> None:
    closed(read(made, language, name))


def test_an_exercise_is_text_with_its_gaps_and_a_way_to_run_it(made: Path) -> None:
    html = read(made, "en")
    found = re.findall(r'<div class="code exercise">(.*?)</a>', html, re.DOTALL)
    assert len(found) == 4, "two faded examples, the exercise, the harder one"
    for exercise in found:
        assert "..." in exercise
        assert 'href="index.html#run"' in exercise
    assert 'id="run"' in read(made, "en", "index")
    assert read(made, "en", "index").count('<a class="start" href="tour.html">Start here</a>') == 1
    notebook = lesson("en")
    title, *rest = notebook.cells
    notebook.cells = [title, *(cell for cell in rest if pages.has_gaps(cell.source))]
    site = pages.page(notebook, LESSON, "en", "../../lab/index.html?path={notebook}")
    assert f'href="../../lab/index.html?path={LESSON.name}"' in site
    assert "tasks.py" in read(made, "en", "index")
    path, to = NOTEBOOKS[-2], "../../lab/index.html?path={notebook}"
    beside = pages.page(pages.start("zh"), path, "zh", to)
    assert 'href="../../lab/index.html?path=index.ipynb"' in beside
    assert 'href="../../index.html"' in beside
    assert "tasks.py" not in beside, "where it runs at once there is nothing to type"


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_lead_to_pages_that_there_are(made: Path, language: str) -> None:
    names = {path.stem for path in NOTEBOOKS}
    start, html = read(made, language, "index"), read(made, language)
    linked = re.findall(r'href="(\w+)\.html', start)
    assert names - {"index"} <= set(linked) <= names
    assert {path.stem for path in pages.order()} == names
    assert ".ipynb" not in re.sub("<script.*?</script>", "", start + html, flags=re.DOTALL)
    before, after = (f"{LESSONS[i].stem}.html" for i in (2, 4))
    assert re.search(rf'<a (?=[^>]*rel="prev")[^>]*href="{before}"', html)
    assert re.search(rf'<a (?=[^>]*rel="next")[^>]*href="{after}"', html)
    other = "zh" if language == "en" else "en"
    assert f'href="../{other}/{LESSON.stem}.html"' in html
    anchors = re.findall('href="#([^"]*)"', html)
    assert len(anchors) > 10
    assert {unescape(a) for a in anchors} <= {unescape(i) for i in re.findall('id="([^"]*)"', html)}


def test_every_formula_of_the_lessons_is_written_without_a_script() -> None:
    formulas = {
        formula
        for path in NOTEBOOKS
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "markdown"
        for formula in re.findall(r"\$([^$`]+)\$", cell.source)
    }
    assert len(formulas) > 10
    for formula in formulas:
        assert re.fullmatch(r"<math>(?:<(m\w+)>.*</\1>)+</math>", pages.mathml(formula))
    assert pages.mathml(r"e^x \cdot 2") == (
        "<math><msup><mi>e</mi><mi>x</mi></msup><mo>·</mo><mn>2</mn></math>"
    )
    with pytest.raises(ValueError, match="is not known here"):
        pages.mathml(r"\frac{1}{2}")
    assert "$" not in pages.alive("<p>$x^2$</p>")
    assert pages.alive("<p>$x$，其中</p>").endswith("，</span>其中</p>"), "no line begins with it"
    assert pages.alive("<code>$x$</code>").endswith(">$x$</code>"), "code is no formula"


@pytest.mark.parametrize(("name", "narrow"), [("control_flow_en", True), ("two_runs_en", False)])
def test_a_narrow_page_has_the_picture_for_a_phone_if_there_is_one(name: str, narrow: bool) -> None:
    def code(of: str) -> str:
        return base64.b64encode((pages.NOTEBOOKS / "pictures" / of).read_bytes()).decode()

    html = pages.alive(f'<img alt="" src="data:image/svg+xml;base64,{code(f"{name}.svg")}">')
    assert html.startswith("<picture><source ") is narrow
    assert not narrow or f"base64,{code('control_flow_phone_en.svg')}" in html
    assert pages.alive("<p>8 × 8</p>") == "<p>8\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}8</p>"


def test_what_a_page_keeps_cannot_end_the_script_that_holds_it() -> None:
    text = packed({"label": "</script><!-- <script>"})
    assert "</script" not in text
    assert "<!--" not in text
    assert json.loads(text) == {"label": "</script><!-- <script>"}


# ---- In a browser -----------------------------------------------------------------------------


def visit(page: Page, path: Path) -> list[str]:
    """Open a page of the folder; returns what it asks for beyond itself, while the list grows."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    return asked


def fits_and_plays(page: Page, width: int) -> int:
    """Hold that a page fits into the window and each of its films goes on; how many there are."""
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".held").evaluate_all("all => all.forEach(one => { one.open = true; })")
    views = page.locator(".view")
    assert views.count() == page.locator(".view > .mg-player").count()
    films = 0
    for i in range(views.count()):
        steps = views.nth(i).locator(".mg-steps")
        if not steps.count() or steps.get_attribute("max") in ("0", None):
            continue
        films += 1
        views.nth(i).locator(".mg-player").focus()
        page.keyboard.press("Home")
        first = steps.get_attribute("aria-valuetext")
        page.keyboard.press("ArrowRight")
        assert steps.get_attribute("aria-valuetext") != first
        assert steps.input_value() == "1"
    return films


# Of what looks alike, two show as much. To find the contrast of all takes axe most of its time.
FEWER = """() => {
    const seen = {};
    const many = 'pre span:not(.line), .mg-ask, .mg-player g[class], tr, li';
    for (const one of document.querySelectorAll(many)) {
        const look = `${one.tagName} ${one.getAttribute('class')}`;
        seen[look] = (seen[look] ?? 0) + 1;
        if (seen[look] > 2) one.remove();
    }
    for (const line of document.querySelectorAll('.line:not(:has(span))')) line.remove();
}"""


@pytest.mark.cases(1)
@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "theme", "rules"), [("en", "light", ()), ("zh", "dark", ("color-contrast",))]
)
def test_a_page_plays_and_fits_and_asks_for_nothing(
    made: Path, language: str, theme: Any, rules: tuple[str, ...], page: Page
) -> None:
    page.emulate_media(color_scheme=theme)
    asked = visit(page, made / language / f"{LESSON.stem}.html")
    for width in (1440, 390):
        assert fits_and_plays(page, width) == 1
    field = page.locator(".mg-inputs input").first
    assert field.is_enabled()
    before = page.locator(".mg-player").inner_text()
    field.evaluate("e => { e.value = 3; e.dispatchEvent(new Event('input')); }")
    assert page.locator(".mg-player").inner_text() != before, "a slider needs no kernel"
    read = "flatMap(e => ['aria-label', 'title'].map(name => e.getAttribute(name)))"
    names = page.evaluate(
        f"[...document.querySelectorAll('main [aria-label], main [title]')].{read}"
    )
    names = [name for name in names if name]
    assert len(names) > 20
    assert not [name for name in names if " / " in name], "names are read out, and in one language"
    assert any(map(HAN.search, names)) == (language == "zh")
    page.evaluate(FEWER)
    assert violations(page, *rules) == []
    assert [url for url in asked[1:] if not url.startswith("data:")] == []
    assert page.errors == []


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_chart_fits_beside_the_contents_of_its_page(
    tmp_path: Path, language: str, page: Page
) -> None:
    """A page of some prose with this chart: films take long to lay out at five widths."""
    notebook = lesson(language)
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    notebook.cells = [*prose[:14], *(c for c in notebook.cells if "viz.curves(" in c.source)]
    (tmp_path / "page.html").write_text(pages.page(notebook, LESSON, language, pages.RUN), "utf-8")
    visit(page, tmp_path / "page.html")
    assert page.locator(".parts a").count() > 3
    charts = page.locator(".mg-chart div[tabindex]:visible")
    shown = """async e => {
        const image = e.querySelector('img');
        await image.decode();  // another width may have another source
        return [e.scrollWidth - e.clientWidth, image.clientWidth];
    }"""
    for width, most in ((1440, 1080), (1425, 1080), (1250, 754), (770, 754), (390, 390)):
        page.set_viewport_size({"width": width, "height": 800})
        painted(page)
        assert charts.count() == 1
        over, wide = charts.evaluate(shown)
        assert over <= 0
        assert min(most, width) * 0.75 < wide <= most


SLIDES = """[...document.querySelectorAll('.slide')].map(slide => {
    const range = document.createRange();
    range.selectNodeContents(slide);
    return [range.getBoundingClientRect().height, slide.clientHeight];
})"""


# How many paragraphs there are here, and on another page, which is not laid out for that.
PARAGRAPHS = """html => {
    const other = new DOMParser().parseFromString(html, 'text/html');
    const parts = '.prose > p, details.code > .highlight, .exercise';
    return [document, other].map(of => of.querySelectorAll(parts).length);
}"""


@pytest.mark.browser
def test_a_slide_holds_one_screen_and_its_players_play(
    made: Path, tmp_path: Path, page: Page
) -> None:
    slides = tmp_path / "slides.html"
    slides.write_text(pages.page(lesson("en"), LESSON, "en", pages.RUN, slides=True), "utf-8")
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, slides)
    found = page.evaluate(SLIDES)
    assert len(found) > 20
    assert all(0 < used <= high <= 900 for used, high in found)
    both = page.evaluate(PARAGRAPHS, read(made, "en"))
    assert both[0] == both[1] > 20, "all of the lesson is there, code too"
    page.locator("body").press("ArrowRight")
    page.wait_for_function("document.querySelectorAll('.slide')[1].getBoundingClientRect().top < 9")
    page.locator(".view").first.scroll_into_view_if_needed()
    steps = page.locator(".view .mg-steps").first
    page.locator(".view > .mg-player").first.focus()
    page.keyboard.press("Home")
    first = steps.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    assert steps.get_attribute("aria-valuetext") != first
    assert page.errors == []


def marks_the_part_that_is_read(page: Page) -> None:
    """A wide page has its parts in the margin."""
    page.set_viewport_size({"width": 1440, "height": 900})
    parts, text = page.locator(".parts"), page.locator(".prose").nth(1)
    right = parts.evaluate("e => e.getBoundingClientRect().right")
    assert right < text.evaluate("e => e.getBoundingClientRect().left"), "beside the text"
    name = parts.locator("a").nth(2).inner_text()
    page.get_by_role("heading", name=name).scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, 700)")
    page.locator(".parts [aria-current]").wait_for()
    assert parts.is_visible(), "it stays in sight"
    weights = "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.weight)"
    assert "600" in page.evaluate(weights), "no browser thickens the letters of headings"
    page.set_viewport_size({"width": 1024, "height": 900})
    assert page.locator(".parts details[open]").count() == 0


@pytest.mark.browser
def test_parts_are_marked_code_unfolds_questions_answer_and_paper_shows_what_is_read(
    made: Path, page: Page
) -> None:
    visit(page, made / "en" / f"{LESSON.stem}.html")
    marks_the_part_that_is_read(page)
    code = page.locator("details.code")
    assert code.count() > 10
    assert page.locator("details.code[open]").count() == 2, "those that the text tells one to read"
    page.get_by_role("button", name="Show all code").click()
    assert page.locator("details.code[open]").count() == code.count()
    begins = "all => all.map(code => code.nextSibling?.data?.[0])"
    marks = page.locator(".mg-ask :not(.mg-ask-kept) > code").evaluate_all(begins)
    assert marks
    assert not {*".,:;?!)，。：；？！）、"} & {*marks}, "no line begins with a mark"
    option = page.locator(".mg-ask details").first
    option.locator("summary").click()
    assert re.match("[✓✗] ", option.locator(".mg-ask-verdict").inner_text())
    picture = page.locator(".prose img").first
    first = picture.get_attribute("src")
    page.get_by_role("button", name="play it again").click()
    assert picture.get_attribute("src") != first
    assert picture.evaluate("async e => { await e.decode(); return e.naturalWidth; }") > 0
    page.emulate_media(media="print", color_scheme="dark")
    assert luminance(page, ".mg-ask", "backgroundColor") > 250, "paper is white"
    assert not page.locator("footer").is_visible()
    assert not page.locator(".mg-controls").first.is_visible()
    assert page.locator("h1").is_visible()
    assert page.errors == []


SEEN = "all => all.map(one => one.checkVisibility())"


@pytest.mark.browser
def test_what_answers_a_prediction_is_shown_once_the_reader_has_chosen(
    made: Path, page: Page
) -> None:
    visit(page, made / "en" / f"{LESSON.stem}.html")
    held, shown = page.locator(".held"), page.locator(".held > .outputs")
    texts = page.locator(".held > .prose")
    assert [shown.count(), texts.count()] == [3, 3], "the lesson asks for three predictions"

    def seen() -> list[bool]:
        painted(page)  # that a fold has opened is told in a task of its own
        outputs, answers = (each.evaluate_all(SEEN) for each in (shown, texts))
        assert outputs == answers, "the text says what the output shows"
        return list(outputs)

    assert seen() == [False] * 3
    assert "8: the second 4" in str(texts.first.text_content())
    assert held.locator("summary", has_text="Show it").filter(visible=True).count() == 3
    assert page.locator(".held .prose :is(h2, h3)").count() == 0
    assert all(page.locator(".prose :is(h2, h3)").evaluate_all(SEEN))
    question = page.locator(".mg-ask", has_text="L03.3")
    question.locator("summary").last.click()
    assert seen() == [False, True, False]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert seen() == [True] * 3
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert seen() == [False, True, False]
    held.first.get_by_text("Show it").click()
    assert seen() == [True, True, False]
    texts.last.locator("p").last.evaluate("p => { p.id = 'here'; location.hash = '#here'; }")
    assert seen() == [True] * 3


@pytest.mark.browser
def test_folded_code_is_held_back_with_what_it_shows(page: Page, tmp_path: Path) -> None:
    path = next(path for path in LESSONS if path.name.startswith("05"))
    notebook = nbformat.read(path, as_version=4)
    asks = next(i for i, cell in enumerate(notebook.cells) if '"L05.5"' in cell.source)
    notebook.cells = [notebook.cells[0], *notebook.cells[asks - 1 : asks + 4]]
    (tmp_path / "page.html").write_text(pages.page(notebook, path, "en", pages.RUN), "utf-8")
    visit(page, tmp_path / "page.html")
    code = page.locator("details.code:has(+ .held.rest) > summary")
    assert [code.count(), code.is_visible()] == [1, False]
    page.locator(".held").evaluate_all("all => all.forEach(one => { one.open = true; })")
    assert code.is_visible()


@pytest.mark.browser
def test_without_a_script_nothing_is_held_back(made: Path, page: Page) -> None:
    browser = page.context.browser
    assert browser
    still = browser.new_page(java_script_enabled=False)
    still.goto((made / "zh" / f"{LESSON.stem}.html").as_uri())
    assert all(still.locator(".held > :last-child").evaluate_all(SEEN))
    assert not still.get_by_text("现在就看").first.is_visible()
    still.close()


@pytest.mark.browser
def test_the_start_page_shows_the_map(made: Path, page: Page) -> None:
    visit(page, made / "zh" / "index.html")
    assert page.locator(".mg-course li").count() == len(LESSONS) + 1
    assert page.get_by_role("link", name="English", exact=True).is_visible()
    for width in (1440, 390):
        fits_and_plays(page, width)
    assert violations(page) == []


# ---- Where a program runs a notebook ----------------------------------------------------------


class Kernel:
    """A shell whose cell was asked for by this message."""

    def __init__(self, msg_id: str) -> None:
        self.kernel = self
        self.header = {"msg_id": msg_id, "session": "5a3b"}

    def get_parent(self) -> dict[str, Any]:
        return {"header": self.header}


def view(monkeypatch: pytest.MonkeyPatch, msg_id: str) -> bool:
    """Whether a widget is stored as a live view."""
    monkeypatch.setattr(stored, "get_ipython", lambda: Kernel(msg_id))
    found = [make()._repr_mimebundle_() for make in (lambda: lessons.quiz("L00.1"), film_of_one)]
    data = [bundle[0] if isinstance(bundle, tuple) else bundle for bundle in found]
    assert all({"text/plain", "text/html"} <= set(each) for each in data)
    kept = {stored.VIEW in each for each in data}
    assert len(kept) == 1
    return kept.pop()


def film_of_one() -> Any:
    return viz.step(mg.tensor(2.0, requires_grad=True) * 3)


def test_a_view_is_stored_for_a_browser_and_not_for_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in stored.SERVERS:
        monkeypatch.delenv(name, raising=False)
    assert view(monkeypatch, "1c9e-77"), "as a browser numbers its messages"
    assert not view(monkeypatch, "5a3b_4711_3"), "as Python's client does"
    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    assert view(monkeypatch, "5a3b_4711_3"), "a server runs the cell for a living page"


def test_nbconvert_keeps_the_chosen_language_the_questions_and_the_film(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setup = 'import minigrad as mg, minigrad_lessons as lessons, viz\nviz.language("zh")'
    film = 'viz.step(mg.tensor(2.0, requires_grad=True, name="x") * 3)'
    cells = [nbformat.v4.new_code_cell(source) for source in (setup, 'lessons.quiz("L00.1")', film)]
    halves = '<div lang="en">\n\nprose\n\n</div>\n\n<div lang="zh">\n\n正文\n\n</div>'
    cells.append(nbformat.v4.new_markdown_cell(halves))
    for name in stored.SERVERS:
        monkeypatch.delenv(name, raising=False)
    if forks.POSSIBLE:
        monkeypatch.setattr(
            "ipykernel.kernelspec.get_kernel_dict", lambda *_, **__: forks.kernel_spec()
        )
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, kernel_name="python3").execute()
    html, _ = HTMLExporter().from_notebook_node(notebook)
    assert 'body):not([data-mg-language]) [lang|="en"] { display: none' in html
    assert "热身" in html, "the question"
    assert html.count('class="mg-still"') == 1, "the film"
    assert f'<script type="{stored.VIEW}"' not in html, "asks the network for its script"


# ---- All of them ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages of the course; MINIGRAD_PAGES may name the folder where they are already."""
    named = os.environ.get("MINIGRAD_PAGES", "")
    if Path(named, "en", "index.html").exists():
        return Path(named)
    folder = tmp_path_factory.mktemp("whole")
    pages.write_pages(folder)
    return folder


@pytest.mark.pages
@pytest.mark.parametrize("path", pages.order(), ids=lambda path: path.stem)
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_page_of_the_course_plays_fits_and_asks_for_nothing(
    whole: Path, path: Path, language: str, page: Page
) -> None:
    file = whole / language / f"{path.stem}.html"
    html = file.read_text("utf-8")
    closed(html)
    asked = visit(page, file)
    films = {fits_and_plays(page, width) for width in (1440, 390)}
    assert len(films) == 1
    print(f"{file.name} {language}: {len(html.encode()) / 1e6:.2f} MB, {films.pop()} films")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, "color-contrast") == []
    assert [url for url in asked[1:] if not url.startswith("data:")] == []
    assert page.errors == []


@pytest.mark.pages
@pytest.mark.parametrize("path", pages.order(), ids=lambda path: path.stem)
@pytest.mark.parametrize("language", LANGUAGES)
def test_whatever_has_a_slider_computes(whole: Path, path: Path, language: str) -> None:
    """That it shows what the kernel would is a test of each of these players by itself."""
    html = (whole / language / f"{path.stem}.html").read_text("utf-8")
    lesson = path.stem.partition("_")[0]
    known = [name for name in MOVED if name.startswith(f"{lesson} ")]
    assert html.count('"sliders":[{') == html.count('"fill":{') == len(known)


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--language"]])
def test_the_command_says_what_it_wants(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tasks.main(["pages", *arguments]) == 1
    assert "python tasks.py pages OUT" in capsys.readouterr().err
