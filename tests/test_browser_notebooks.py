"""Every notebook as a reader meets it: run in JupyterLab, stepped through, in both languages."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from browser import NOTEBOOKS, Lab, cell_outputs, choose_theme, open_next, run_all
from lessons import BOARDS, LESSONS, PLAYERS, places, run_here
from looks import CLASHES, FAINT, missing, serious

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser
EXHAUSTIVE = pytest.mark.exhaustive
# A lesson, the map, and the tour with its views of each kind. nbval runs the cells of all of them.
MAIN = ("01", "index", "tour")
NAMES = [
    path.name if path.name.startswith(MAIN) else pytest.param(path.name, marks=EXHAUSTIVE)
    for path in sorted(NOTEBOOKS.glob("*.ipynb"))
]
MAKERS = re.compile(rf"\bviz\.(?:{PLAYERS})\(")
PLAYER = ".mg-player:not(.mg-board, .mg-train, .mg-drawn)"  # what `MAKERS` make
WIDGETS = {
    PLAYER: MAKERS.pattern,
    ".mg-board": rf"\bviz\.(?:{BOARDS})\(",
    ".mg-language": r"\bviz\.language\(",
    ".mg-ask": r"\bviz\.(?:quiz|predict|order)\(",
}
CELLS = "window.jupyterapp.shell.currentWidget.content.widgets"
KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"


@pytest.fixture(scope="module", params=NAMES)
def notebook(request: pytest.FixtureRequest, lab: Lab, jupyterlab: Page) -> Page:
    """A page on which this notebook was run from top to bottom."""
    page = jupyterlab
    page.errors.clear()
    page.forward = []  # the states of its first player, once it was walked
    page.path = NOTEBOOKS / request.param
    open_next(page, lab, request.param)
    run_all(page)
    page.code = "\n".join(
        run_here(cell.source)
        for cell in nbformat.read(NOTEBOOKS / request.param, as_version=4).cells
        if cell.cell_type == "code"
    )
    for widget, calls in WIDGETS.items():  # they may appear a moment after their cell has run
        page.wait_for_function(
            "([widget, count]) => document.querySelectorAll(widget).length >= count",
            arg=[widget, len(re.findall(calls, page.code))],
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


def forward(player: Locator) -> list[dict[str, Any]]:
    """The states from the first to the last, walked once for all tests; it stands at the first."""
    if not player.page.forward:
        player.page.keyboard.press("Home")
        player.page.forward = walk(player, "ArrowRight")
    player.page.keyboard.press("Home")
    return player.page.forward


def walk(player: Locator, key: str) -> list[dict[str, Any]]:
    """The states from one end of the film to the other."""
    states = [state(player)]
    for _ in range(int(player.locator(".mg-steps").get_attribute("max"))):
        player.page.keyboard.press(key)
        states.append(state(player))
    return states


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
    assert walk(player, "ArrowLeft") == states[::-1]
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


def test_buttons_and_slider_go_where_the_keys_go(player: Locator) -> None:
    states = forward(player)
    last = len(states) - 1
    for name, index in (
        ("first step", 0),
        ("step forward", 1),
        ("step forward", 2),
        ("step back", 1),
        ("last step", last),
        ("step back", last - 1),
    ):
        press(player, name)
        assert state(player) == states[index], name
    slider = player.locator(".mg-steps")
    for index in (0, last, last // 2):
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
    shown = []
    for i in range(last + 1):
        notebook.keyboard.press("ArrowRight" if i else "Home")
        assert slider.input_value() == str(i)
        shown.append(widget.evaluate(SHOWN))
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


def test_a_click_on_a_node_fills_the_inspector(player: Locator) -> None:
    press(player, "last step")
    for node in player.locator(".mg-drawing g.node").all()[:4]:
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


def test_a_step_does_not_ask_the_kernel(player: Locator) -> None:
    """All steps in one task of the browser, during which no message can arrive."""
    player.page.keyboard.press("Home")
    expected = walk(player, "ArrowRight")  # another node may be chosen by now
    player.page.keyboard.press("Home")
    states = player.evaluate(
        f"""player => {{
            const state = {STATE};
            const button = player.querySelector('.mg-controls button[aria-label^="step forward"]');
            const last = Number(player.querySelector('.mg-steps').max);
            const states = [state(player)];
            for (let i = 0; i < last; i++) {{ button.click(); states.push(state(player)); }}
            return states;
        }}"""
    )
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


WIDE = """() => {
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


@pytest.mark.parametrize("code", ["zh", "both", "en"])
@pytest.mark.cases(9)
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
    assert notebook.evaluate(WIDE) == []
    assert notebook.evaluate(SCROLLS) == []


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


@pytest.mark.parametrize("code", ["en", "zh"])
@pytest.mark.cases(3)
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


def test_the_chinese_font_has_arrived(notebook: Page) -> None:
    if not notebook.locator(".mg-language").count():
        pytest.skip("this notebook has no switch")
    notebook.wait_for_function("() => document.documentElement.dataset.mgFont === 'loaded'")
    loaded = notebook.evaluate("() => [...document.fonts].map(f => [f.family, f.status])")
    ours = {(family.strip('"'), status) for family, status in loaded}
    assert {("Noto Han", "loaded"), ("Noto Sans SC", "loaded")} <= ours


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
