"""The explorer in a real browser: whole at first sight, opened in place, stepped, pointed at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import covering
import pytest
from explored import differing, jax_like, numbered, recurrent, stopped, torch_like
from looks import serious

from minigrad.interop.captured import Captured
from viz.explorer.findings import slowest
from viz.explorer.still import Still
from viz.views.explore import FirstView, explorer_of, stopped_explorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("english")]


def projecting() -> Captured:
    """Blocks of which each adds its input by way of one layer, as a 1×1 convolution."""
    return torch_like(projected=True)


def long_named() -> Captured:
    return numbered("AdaptiveAvgPool2d")


MODELS = {"torch": torch_like, "jax": jax_like}
OTHERS = {
    "projecting": projecting,
    "numbered": numbered,
    "recurrent": recurrent,
    "long": long_named,
}
# The page is the same for both, and what is written in it is compared elsewhere.
IN_ONE = pytest.mark.parametrize(
    "name", ["torch", pytest.param("jax", marks=pytest.mark.exhaustive)]
)
LANGUAGES = ["English", "中文", "English + 中文"]
WIDTHS = {1440: 900, 770: 780, 390: 844}
# Every size of text that a canvas is given.
SIZES = """
window.sizes = [];
const font = Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, "font");
Object.defineProperty(CanvasRenderingContext2D.prototype, "font", { ...font, set(value) {
  window.sizes.push(parseFloat(value.split(" ")[1]));
  font.set.call(this, value);
}});
"""
# Every text that a canvas of the score is given.
TEXTS = """
window.texts = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
  window.texts.push([this.canvas.className, text]);
  write.call(this, text, ...at);
};
"""
# Where the pieces of curves begin in the score as it was last drawn: the colour of each, and how
# many points all of them have.
PIECES = """
const P = CanvasRenderingContext2D.prototype;
const [clear, move, go] = [P.clearRect, P.moveTo, P.lineTo];
const scored = (c) => c.canvas.className === "mg-x-score";
P.clearRect = function (...at) {
  if (scored(this)) [window.pieces, window.points] = [[], 0];
  clear.apply(this, at);
};
P.lineTo = function (...at) {
  window.points += scored(this) && this.lineWidth === 2;
  go.apply(this, at);
};
P.moveTo = function (...at) {
  if (scored(this) && this.lineWidth === 2) window.pieces.push(this.strokeStyle);
  move.apply(this, at);
};
"""
# Where lines end on the stage as it was last drawn, and whether they're dashed.
STROKES = """
const P = CanvasRenderingContext2D.prototype;
const [clear, line, stroke] = [P.clearRect, P.lineTo, P.stroke];
const staged = (c) => c.canvas.role === "application";
let end = [0, 0];
P.clearRect = function (...at) {
  if (staged(this)) window.strokes = [];
  clear.apply(this, at);
};
P.lineTo = function (...at) { end = at; line.apply(this, at); };
P.stroke = function () {
  if (staged(this)) window.strokes.push({ end, dashed: this.getLineDash().length > 0 });
  end = [0, 0];
  stroke.call(this);
};
"""
# What lies where in each canvas since it was cleared; which texts lie on others, or are cut off.
BOXES = """
window.boxes = new Map();
const P = CanvasRenderingContext2D.prototype;
const [clear, fill] = [P.clearRect, P.fillText];
P.clearRect = function (...area) { window.boxes.set(this.canvas, []); clear.apply(this, area); };
P.fillText = function (text, x, y) {
  const m = this.measureText(text);
  const [x0, x1] = [x - m.actualBoundingBoxLeft, x + m.actualBoundingBoxRight];
  const [y0, y1] = [y - m.actualBoundingBoxAscent, y + m.actualBoundingBoxDescent];
  if (this.globalAlpha > 0.3) window.boxes.get(this.canvas)?.push({ text, x0, x1, y0, y1 });
  fill.call(this, text, x, y);
};
"""
OVERLAPS = """() => [...window.boxes].flatMap(([canvas, all]) => {
  if (!canvas.isConnected) return [];
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  return all.flatMap((a, i) => {
    const outside = a.x1 < 0 || a.x0 > w || a.y1 < 0 || a.y0 > h;
    const cut = !outside && (a.x0 < -1 || a.x1 > w + 1 || a.y0 < -1 || a.y1 > h + 1);
    const over = (b) => Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0) > 0.5 &&
      Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0) > 0.5;
    const met = all.slice(i + 1).filter(over).map((b) => `${a.text} on ${b.text}`);
    return cut ? [...met, `${a.text} is cut off`] : met;
  });
})"""
# All is drawn that is to be drawn.
DRAWN = "() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))"
STATE = "document.querySelector('.mg-explorer').atlas"
# The cards of what is open, in pixels of the stage, and what is wrong with where they are.
CARDS = f"""() => {{
  const {{ atlas }} = {STATE};
  const cards = atlas.focus.children.map((i) => atlas.m.nodes[i]);
  const wrong = [];
  for (const card of cards) {{
    const box = card.shown;
    if (!box) wrong.push(card.name + " is not drawn");
    else if (box.x < 0 || box.y < 0 || box.x + box.w > atlas.size.w || box.y + box.h > atlas.size.h)
      wrong.push(card.name + " is cut off");
    else if (box.w < 48 || box.h < 30) wrong.push(card.name + " is tiny");
    for (const other of cards) {{
      const b = other.shown;
      if (other === card || !box || !b) continue;
      if (box.x < b.x + b.w && b.x < box.x + box.w && box.y < b.y + b.h && b.y < box.y + box.h)
        wrong.push(card.name + " lies on " + other.name);
    }}
  }}
  return wrong;
}}"""
# What is wrong in each group once it is open; of groups that look alike in one, unless all are
# asked for.
GROUPS = f"""async (all) => {{
  const {{ atlas, open }} = {STATE};
  const end = () => document.querySelector(".mg-explorer").getBoundingClientRect().bottom;
  const [bottom, seen, wrong] = [end(), new Set(), []];
  for (const group of atlas.m.nodes.filter((n) => n.children)) {{
    const kind = group.name.replace(/\\d+/g, "1");
    if (!all && seen.has(kind)) continue;
    seen.add(kind);
    open(group);
    await ({DRAWN})();
    const found = [...({CARDS})(), ...({OVERLAPS})()];
    if (end() !== bottom) found.push("the page is higher or lower");
    if (found.length) wrong.push([group.name, ...found]);
  }}
  return wrong;
}}"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A saved page of each model."""
    folder = tmp_path_factory.mktemp("explorer")

    def saved(name: str, model: Callable[[], Captured]) -> Path:
        return explorer_of(model, model()).save(folder / f"{name}.html")

    return {name: saved(name, model) for name, model in (MODELS | OTHERS).items()}


@pytest.fixture(scope="module")
def one(chromium: Browser) -> Iterator[Page]:
    """One page for all; nothing moves on it."""
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(SIZES + TEXTS)
    page.add_init_script(f"{{{BOXES}}}{{{PIECES}}}{{{STROKES}}}")
    yield page
    context.close()


def opened(page: Page, path: Path, width: int = 1440) -> Page:
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    page.goto(path.as_uri())
    settled(page)
    return page


def settled(page: Page) -> None:
    page.evaluate(DRAWN)


def state(page: Page, what: str) -> Any:
    return page.evaluate(f"() => {STATE}.{what}")


def test_what_is_hidden_at_first_is_whole_once_it_is_shown(
    one: Page, pages: dict[str, Path], tmp_path: Path
) -> None:
    """As in a folded cell of a notebook."""
    hidden = tmp_path / "hidden.html"
    source = pages["torch"].read_text("utf-8")
    hidden.write_text(source.replace("<body", '<body style="display: none"', 1), "utf-8")
    errors: list[str] = []
    note = lambda error: errors.append(str(error))  # noqa: E731
    one.on("pageerror", note)
    page = opened(one, hidden)
    page.evaluate("document.body.style.display = ''")
    settled(page)
    one.remove_listener("pageerror", note)
    assert errors == []
    assert page.evaluate(CARDS) == []


@pytest.mark.cases(2)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_whole_model_is_on_the_first_screen(
    name: str, width: int, one: Page, pages: dict[str, Path]
) -> None:
    errors: list[str] = []
    one.on("pageerror", lambda error: errors.append(str(error)))
    page = opened(one, pages[name], width)
    assert page.evaluate(CARDS) == []
    assert state(page, "atlas.time") == 2 * state(
        page, "atlas.m.n"
    )  # forward and backward are over
    said = page.locator(".mg-x-said").inner_text()
    first = state(page, "atlas.m.data.findings[0].text[0]")  # it has no place beside it
    assert said.startswith("Finished: ") if width == 1440 else said == first
    assert page.evaluate("Math.min(...window.sizes)") >= 11
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    bottom = page.locator(".mg-explorer").evaluate("e => e.getBoundingClientRect().bottom")
    assert bottom <= WIDTHS[width]
    # Every group can be opened, and is laid out as well; no text lies on another in it.
    for language in LANGUAGES[:2]:
        page.get_by_role("button", name=language, exact=True).click()
        assert page.evaluate(GROUPS, covering.thorough) == [], language
    assert errors == []


@pytest.mark.parametrize("width", [770, 390])
def test_all_that_is_said_is_whole_in_a_bar_that_stays_as_high(
    width: int, one: Page, pages: dict[str, Path]
) -> None:
    """The feet of the last line, too; each step once, in the first group in which it is one.

    Of groups that look alike one is opened, unless all are asked for.
    """
    page = opened(one, pages["torch"], width)
    for language in LANGUAGES:
        page.get_by_role("button", name=language, exact=True).click()
        settled(page)
        found = page.evaluate(
            f"""(all) => {{
              const {{ atlas, jump, open, steps }} = {STATE};
              const said = document.querySelector(".mg-x-said");
              const [cut, high, seen, kinds] = [[], new Set(), new Set(), new Set()];
              const look = () => {{
                const all = document.createRange();
                all.selectNodeContents(said);
                const foot = Math.max(...[...all.getClientRects()].map((r) => r.bottom));
                const ends = [said, ...said.querySelectorAll("button")].map(
                  (box) => box.getBoundingClientRect().bottom);
                if (Math.min(...ends) < foot - 0.01) cut.push(said.innerText);
                high.add(said.parentElement.getBoundingClientRect().height);
              }};
              look();
              jump(0);
              look();
              for (const group of atlas.m.nodes.filter((n) => n.children)) {{
                const kind = group.name.replace(/\\d+/g, "1");
                if (!all && kinds.has(kind)) continue;
                kinds.add(kind);
                open(group);
                for (const {{ node, back, to }} of steps()) {{
                  const step = `${{node.i}} ${{back}}`;
                  if (seen.has(step)) continue;
                  seen.add(step);
                  jump(to);
                  look();
                }}
              }}
              jump(atlas.m.end);
              return {{ cut, high: high.size, many: seen.size > (all ? 2 : 1) * atlas.m.n }};
            }}""",
            covering.thorough,
        )
        assert found == {"cut": [], "high": 1, "many": True}, language


@pytest.mark.parametrize(
    "name", ["numbered", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in MODELS)]
)
def test_keys_open_step_and_close(name: str, one: Page, pages: dict[str, Path]) -> None:
    page = opened(one, pages[name])
    page.locator(".mg-x-stage canvas").focus()
    page.keyboard.press("ArrowDown")
    while not state(page, "atlas.selected?.children"):
        page.keyboard.press("ArrowDown")
    group = state(page, "atlas.selected.name")
    page.keyboard.press("Enter")
    settled(page)
    assert state(page, "atlas.focus.name") == group
    crumbs = page.locator(".mg-x-crumbs button")
    assert group in crumbs.last.inner_text()
    page.keyboard.press("Home")
    assert state(page, "atlas.time") == 0
    steps = state(page, "steps().length")
    names = []
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
        said = "document.querySelector('.mg-x-said').innerText"
        names.append(page.evaluate(f"() => ({DRAWN})().then(() => {said})").split(" ")[0])
    assert state(page, "atlas.time") == 2 * state(page, "atlas.m.n")
    assert names[:2] == ["forward", "forward"]
    assert "backward" in names
    page.keyboard.press("ArrowLeft")
    assert state(page, "atlas.time") < 2 * state(page, "atlas.m.n")
    page.keyboard.press("Escape")
    settled(page)
    assert state(page, "atlas.focus.name") != group
    page.keyboard.press("Home")  # fewer steps where less is open
    assert state(page, "steps().length") < steps


@IN_ONE
def test_a_finding_leads_to_its_operator(name: str, one: Page, pages: dict[str, Path]) -> None:
    page = opened(one, pages[name])
    button = page.locator(".mg-x-finding").first
    button_text = button.inner_text()
    button.click()
    settled(page)
    op = state(page, "atlas.m.data.findings[0].op")
    assert state(page, "atlas.selected.op") == op
    assert page.locator(".mg-x-side h3").first.inner_text() == "parameters and their gradients"
    promised = button_text.partition(" to ")[2].partition(" (")[0]
    assert f"|∂w| {promised}" in page.locator(".mg-x-side").inner_text()
    # The same operators, by a click on the score.
    page.keyboard.press("End")
    page.locator(".mg-x-score").click(position={"x": 900, "y": 40})
    assert 0 < state(page, "atlas.time") < 2 * state(page, "atlas.m.n")


@IN_ONE
def test_a_phone_has_a_button_for_what_is_worth_a_look(
    name: str, one: Page, pages: dict[str, Path]
) -> None:
    page = opened(one, pages[name], 390)
    look = page.locator(".mg-x-look")
    box = look.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert not page.locator(".mg-x-finding").first.is_visible()
    look.click()
    page.locator(".mg-x-finding").first.wait_for(state="visible")
    look.click()
    page.locator(".mg-x-finding").first.wait_for(state="hidden")
    page.set_viewport_size({"width": 1440, "height": 900})
    look.wait_for(state="hidden")


def test_every_way_back_ends_at_the_overview(one: Page, pages: dict[str, Path]) -> None:
    page = opened(one, pages["torch"])
    canvas = page.locator(".mg-x-stage canvas")
    findings = page.locator(".mg-x-finding")
    canvas.focus()
    ways: list[Callable[[], None]] = [
        lambda: page.keyboard.press("Escape"),
        lambda: page.locator(".mg-x-crumbs button").first.click(),
        lambda: canvas.click(position={"x": 3, "y": 3}),
        lambda: page.keyboard.press("Home"),
    ]
    for back in ways:
        page.keyboard.press("ArrowDown")
        settled(page)
        assert findings.count() == 0
        back()
        settled(page)
        assert findings.count() > 0
    deep = f"{STATE}.atlas.m.leaves.findIndex((leaf) => leaf.depth > 2)"
    page.evaluate(f"() => {STATE}.reveal({deep})")
    settled(page)
    assert findings.count() == 0
    while state(page, "atlas.focus.depth"):
        page.keyboard.press("Escape")
    settled(page)
    assert findings.count() > 0
    assert canvas.evaluate("(e) => getComputedStyle(e).outlineStyle") == "none"
    assert canvas.evaluate("(e) => getComputedStyle(e).boxShadow") != "none"


def test_the_table_follows_the_open_module_and_is_sorted_by_a_click(
    one: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear = lambda rounds: slowest(rounds)[:1]  # noqa: E731  (without noise)
    monkeypatch.setattr("viz.explorer.findings.slowest", clear)
    page = opened(one, explorer_of(torch_like, torch_like()).save(tmp_path / "table.html"))
    finding = page.locator(".mg-x-finding", has_text="of minigrad's time")
    said = finding.inner_text()
    name = said.split(":")[0]
    finding.click()
    settled(page)
    assert state(page, "atlas.focus.name") == name
    assert state(page, "atlas.selected.name") == name  # the module, not an operator in it
    cost = page.locator(".mg-x-side table").first.inner_text()
    share = re.search(r"(\d+)\s% of minigrad's time", said)
    assert share is not None
    assert re.search(rf"total time\t.*\({share[1]} %\)", cost)  # above the rest
    rows = f"""atlas.focus.children.map((_, i, all) =>
      {STATE}.score.rowAt(20, 17 + i * {STATE}.score.rowHeight()).node)"""
    assert state(page, f"{rows}.map((x) => x.i)") == state(page, "atlas.focus.children")
    page.locator(".mg-x-score").click(position={"x": 240, "y": 6})
    settled(page)
    times = state(page, f"{rows}.map((x) => x.sum.ms + x.sum.back)")
    assert times == sorted(times, reverse=True)
    assert len(times) > 1
    page.locator(".mg-x-score").click(position={"x": 900, "y": 30})
    assert state(page, "atlas.focus.name") == name  # its part of the axis is all there is
    page.keyboard.press("f")  # another module: its parts are in the order in which they run
    settled(page)
    assert state(page, f"{rows}.filter(Boolean)") == state(page, "atlas.m.rows")


def test_a_broken_model_says_where(tmp_path: Path, one: Page) -> None:
    path = explorer_of(torch_like, torch_like(broken=True)).save(tmp_path / "broken.html")
    page = opened(one, path)
    finding = page.locator(".mg-x-finding.mg-x-bad").first
    assert "blocks.1" in finding.inner_text()
    assert "theirs.py:8" in finding.inner_text()
    said = page.locator(".mg-x-said button")
    assert said.inner_text() == finding.inner_text()
    findings = page.locator(".mg-x-finding").all_inner_texts()
    assert not any("No gradient arrives" in text for text in findings)  # none is known: NaN
    finding.click()
    settled(page)
    op = state(page, "atlas.selected.op")
    assert state(page, f"atlas.m.data.operators[{op}].op") == "Div"
    opened(page, path, 390)  # there it is what leads to the place
    said.click()
    settled(page)
    assert state(page, "atlas.selected.op") == op == state(page, "atlas.m.data.findings[0].op")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_raised_shows_where_and_the_rest_as_outlines(
    name: str, tmp_path: Path, one: Page
) -> None:
    ran = torch_like(1) if name == "torch" else jax_like()
    made = stopped_explorer(MODELS[name], stopped(ran))
    assert made is not None
    page = opened(one, made.save(tmp_path / "stopped.html"))
    assert page.evaluate(CARDS) == []
    assert "the run stopped here" in page.locator(".mg-x-said").inner_text()
    assert state(page, "atlas.selected.op") == state(page, "atlas.m.failed")
    assert page.locator("h3.mg-x-bad-words").inner_text() == "stopped here"
    assert state(page, "atlas.m.data.findings[0].op") == state(page, "atlas.m.failed")
    assert " ran" in page.locator(".mg-x-inputs").inner_text()
    assert "theirs.py:12" in page.locator(".mg-x-code").inner_text()
    # Nothing behind it is there, and the playhead goes no further.
    page.locator(".mg-x-stage canvas").focus()
    page.keyboard.press("End")
    assert state(page, "atlas.time") < state(page, "atlas.m.n")
    steps = state(page, "steps().map((s) => s.node.name)")
    assert steps[-1] == "tail"
    assert "end" not in steps
    assert "end" in state(page, "atlas.m.rows.map((node) => node.name)")


@IN_ONE
def test_a_picture_tells_the_number_under_the_pointer(
    name: str, one: Page, pages: dict[str, Path]
) -> None:
    """On a card and in the inspector: which element it is, and what it holds."""
    page = opened(one, pages[name])
    number = f"""() => {{
      const {{ m }} = {STATE}.atlas;
      const x = m.nodes.find((node) => node.input !== undefined);
      const {{ shape, g }} = m.tensors[x.out]; // the gradient lies on the right
      const {{ values }} = m.data.portraits[g];
      return [x.i, shape, values];
    }}"""
    i, shape, values = page.evaluate(number)
    spot = state(page, f"atlas.m.nodes[{i}].shown")
    page.evaluate("window.texts.length = 0")
    canvas = page.locator(".mg-x-stage canvas")
    canvas.hover(position={"x": spot["x"] + spot["w"] - 16, "y": spot["y"] + spot["h"] - 30})
    settled(page)
    told = [text for _, text in page.evaluate("window.texts") if text.startswith("[")]
    place, value = told[0].split(" = ")
    assert place == f"[{shape[0] - 1}, {shape[1] - 1}]"
    assert float(value.replace("−", "-")) == pytest.approx(values[-1], rel=5e-3)
    page.evaluate(f"(i) => {STATE}.open({STATE}.atlas.m.nodes[i])", i)
    settled(page)
    page.evaluate("window.texts.length = 0")
    page.locator(".mg-x-side canvas").first.hover(position={"x": 5, "y": 5})
    told = [text for _, text in page.evaluate("window.texts") if text.startswith("[")]
    assert told[-1].startswith("[0, 0] = ")


def test_it_speaks_both_languages_in_both_themes(one: Page, pages: dict[str, Path]) -> None:
    page = opened(one, pages["torch"])
    page.get_by_role("button", name="中文", exact=True).click()
    settled(page)
    assert page.locator(".mg-x-said").inner_text().startswith("已完成")
    assert state(page, "atlas.speech.line('forward')") == "前向"
    light = state(page, "atlas.ink.paper")
    page.emulate_media(color_scheme="dark")
    settled(page)
    assert state(page, "atlas.ink.paper") != light
    page.emulate_media(color_scheme="light")
    assert serious(page) == []


def test_a_click_paints_at_once(one: Page, pages: dict[str, Path]) -> None:
    """Without motion, opening and stepping are one painting each."""
    page = opened(one, pages["torch"])
    spent = page.evaluate(
        f"""async () => {{
          const {{ atlas, open, jump }} = {STATE};
          const frame = () => new Promise((f) => requestAnimationFrame(f));
          const times = [];
          for (const node of atlas.m.nodes.filter((n) => n.children)) {{
            await frame();
            const start = performance.now();
            open(node);
            jump(node.b);
            times.push(performance.now() - start);
          }}
          return times.sort((a, b) => a - b)[times.length >> 1];
        }}"""
    )
    assert spent < 50


def written(page: Page, canvas: str = "") -> set[str]:
    """What a canvas says, "mg-x-score" or the stage, drawn anew."""
    page.evaluate(f"() => {{ window.texts = []; {STATE}.jump({STATE}.atlas.time); }}")
    settled(page)
    return {text for name, text in page.evaluate("window.texts") if name == canvas}


@IN_ONE
def test_the_score_has_a_row_for_each_module_and_a_profile(
    name: str, one: Page, pages: dict[str, Path]
) -> None:
    page = opened(one, pages[name])
    rows = state(page, "atlas.m.rows.map((n) => n.name)")
    said = written(page, "mg-x-score")
    assert {x.partition("  ×")[0] for x in said} >= set(rows)
    columns = {"parameters", "total time", "kept", "|∂w|, each one"}
    assert said >= {"forward →", "backward →", "|∂y| norm of outputs' gradients"} | columns
    ends = [x for on, x in page.evaluate("window.texts") if on == "mg-x-score" and x[:2] == "1e"]
    assert len(ends) >= 6  # of weights, and of both curves; two may be alike
    # Its name opens a module, a place in its row is a time: forward on the left, then backward.
    at = state(page, "atlas.m.rows.findIndex((n) => n.children)")
    high = page.locator(".mg-x-score").evaluate("e => e.clientHeight")
    y = 16 + (at + 0.5) * min(17, int((880 * 0.205) // len(rows)))
    assert y < high
    page.locator(".mg-x-score").click(position={"x": 30, "y": y})
    settled(page)
    assert state(page, "atlas.focus.name") == rows[at]
    times = []
    for x in (560, 900, 1000, 1300):
        page.locator(".mg-x-score").click(position={"x": x, "y": y})
        times.append(state(page, "atlas.time"))
    assert times == sorted(times)
    assert times[0] < state(page, "atlas.m.n") < times[-1]
    page.locator(".mg-x-score").hover(position={"x": 1300, "y": high - 20})
    settled(page)
    assert any("|∂y| " in text for _, text in page.evaluate("window.texts.slice(-40)"))


@pytest.mark.parametrize(("name", "count"), [("torch", 1), ("jax", 2)])
def test_a_curve_ends_where_a_module_does_not_read_the_one_before(
    name: str, count: int, one: Page, pages: dict[str, Path]
) -> None:
    """Else a gradient seems to jump between two modules that lie beside each other."""
    page = opened(one, pages[name])
    pieces = page.evaluate("window.pieces")
    assert [pieces.count(color) for color in dict.fromkeys(pieces)] == [count, count]


# The arrow back into a stack from below, and the one of its gradient: whether it's dashed.
GOES = f"""() => {{
  const {{ x, y, w, h }} = {STATE}.atlas.m.nodes.find((n) => n.repeats).shown;
  const below = ([px, py]) => Math.abs(py - y - h) < 4 && px > x + 0.2 * w && px < x + 0.8 * w;
  return window.strokes.filter(({{ end }}) => below(end)).map(({{ dashed }}) => dashed);
}}"""


@pytest.mark.parametrize("width", WIDTHS)
def test_the_state_of_a_cell_goes_from_call_to_call(
    width: int, one: Page, pages: dict[str, Path]
) -> None:
    page = opened(one, pages["recurrent"], width)
    assert page.evaluate(GOES) == [False, False]
    assert any(text.split()[0] == "h" for _, text in page.evaluate("window.texts"))
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(CARDS) == []
    moments = {"0": [True], "m.n": [False]}
    # As soon as the last call passes it back.
    moments["2 * m.n - m.nodes[m.nodes.find((n) => n.repeats).children.at(-1)].a"] = [False] * 2
    for moment, drawn in moments.items():
        page.evaluate(f"() => {{ const {{ m }} = {STATE}.atlas; {STATE}.jump({moment}); }}")
        settled(page)
        assert page.evaluate(GOES) == drawn, moment


@pytest.mark.parametrize("changed", [{"state": False}, {"shared": False}])
def test_only_one_module_that_reads_what_it_gave_has_a_state(
    changed: dict[str, bool], tmp_path: Path, one: Page
) -> None:
    model = recurrent(**changed)
    page = opened(one, explorer_of(recurrent, model).save(tmp_path / "a.html"))
    assert page.evaluate(GOES) == []


def test_the_pieces_of_a_curve_have_the_names_of_their_modules(
    one: Page, pages: dict[str, Path]
) -> None:
    """Else the gradient that goes on somewhere else seems to explode."""
    page = opened(one, pages["recurrent"])
    score = {text for canvas, text in page.evaluate("window.texts") if canvas == "mg-x-score"}
    assert "@, cell" in score
    points = 6 + 6 + 1  # rows, calls of the cell, and @: no more for what is in a call
    assert page.evaluate("window.points") <= 2 * points
    page.evaluate(f"() => {STATE}.jump(0)")
    assert "@, cell" not in written(page, "mg-x-score"), "not before it is drawn"


def test_the_gradients_of_a_stack_have_one_scale(one: Page, pages: dict[str, Path]) -> None:
    """Each in full colour by itself, one that vanished looks like the others."""
    page = opened(one, pages["jax"])
    first = f"""() => {{
      const {{ m }} = {STATE}.atlas;
      const {{ children, shown }} = m.nodes.find((node) => node.repeats);
      const c = document.querySelector(".mg-x-stage canvas").getContext("2d");
      const wide = Math.floor(shown.w / children.length) - 18;
      const {{ data }} = c.getImageData(shown.x + 14, shown.y + shown.h - 50, wide, 20);
      return Math.max(...data.filter((_, i) => i % 4 < 3).map((v) => 255 - v));
    }}"""
    assert page.evaluate(first) > 100
    page.evaluate(f"""() => {{
      const {{ m }} = {STATE}.atlas;
      const part = m.nodes[m.nodes.find((node) => node.repeats).children[0]];
      Object.assign(m.data.portraits[m.tensors[part.out].g], {{ norm: 3e-7, scale: 1e-7 }});
    }}""")
    assert "|∂y| 3e−7 … 0.259" in written(page)
    assert page.evaluate(first) < 10


def test_what_gradients_did_is_red_once_they_came_back(one: Page, pages: dict[str, Path]) -> None:
    page = opened(one, pages["recurrent"])
    finding = "{bad: true, op: 8, about: 'vanishing_calls', text: ['', '']}"
    page.evaluate(f"() => {{ {STATE}.atlas.m.data.findings.unshift({finding}); }}")
    red = """() => {
      const canvas = document.querySelector('.mg-x-score');
      const { data } = canvas.getContext('2d').getImageData(0, 0, 200, canvas.height);
      const red = (i) => i % 4 === 0 && data[i] - data[i + 1] > 120 && data[i + 2] > 20;
      return [...data.keys()].filter(red).length;
    }"""
    found = []
    for at in ("n", "end"):
        page.evaluate(f"() => {STATE}.jump({STATE}.atlas.m.{at})")
        settled(page)
        found.append(page.evaluate(red))
    assert found[0] == 0 < found[1]


SUMS = f"""() => {{ // circles with a plus
  const pen = CanvasRenderingContext2D.prototype;
  const {{ arc }} = pen;
  const sums = [];
  pen.arc = function (...given) {{
    if (given[2] === 5.5) sums.push(given);
    arc.apply(this, given);
  }};
  {STATE}.jump(0);
  return new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(() => {{
    pen.arc = arc;
    told(sums.length);
  }})));
}}"""


@pytest.mark.parametrize(
    ("name", "width"),
    covering.diagonal(["torch", "projecting", "numbered", "recurrent", "jax"], WIDTHS),
)
def test_a_module_that_adds_its_input_has_a_way_around_it(
    name: str, width: int, one: Page, pages: dict[str, Path]
) -> None:
    """A residual block doesn't look like a chain; a chain, a cell and a sum of branches do."""
    page = opened(one, pages[name], width)
    adds = name in ("torch", "projecting")
    assert bool(page.evaluate(SUMS)) is adds
    assert not adds or page.evaluate(OVERLAPS) == []


@pytest.mark.parametrize("width", [770, 390])
def test_a_number_for_a_name_is_told_with_the_class(
    width: int, one: Page, pages: dict[str, Path]
) -> None:
    page = opened(one, pages["numbered"], width)
    for canvas in ("", "mg-x-score"):
        said = {text for name, text in page.evaluate("window.texts") if name == canvas}
        assert said >= {"0 Linear", "1 Tanh", "2 Linear"}
        assert "input" not in said, "its card has its name and its shape"
    page.evaluate(f"() => {STATE}.jump({STATE}.steps()[0].to)")
    assert " · 0 (Linear): 4×8 → 4×8" in page.locator(".mg-x-said").inner_text()
    page.evaluate(f"() => {{ {STATE}.atlas.m.data.name = 'Sequential'; {STATE}.jump(0); }}")
    assert page.locator(".mg-x-crumbs button").inner_text() == "Linear → … → Linear"


@pytest.mark.parametrize("width", [770, 390])
def test_a_long_name_is_smaller_or_longer_than_its_column_but_whole(
    width: int, one: Page, pages: dict[str, Path]
) -> None:
    page = opened(one, pages["long"], width)
    for canvas in ("", "mg-x-score"):
        said = {text for name, text in page.evaluate("window.texts") if name == canvas}
        assert "1 AdaptiveAvgPool2d" in said
    squeezed = page.evaluate(
        f"""async () => {{
          const P = CanvasRenderingContext2D.prototype, write = P.fillText, found = [];
          P.fillText = function (text, x, y, most = Infinity) {{
            const wide = this.measureText(text).width;
            if (!this.canvas.className && wide > most + 0.01) found.push(text);
            write.call(this, text, x, y, most);
          }};
          {STATE}.jump(0);
          await new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)));
          return found;
        }}"""
    )
    assert squeezed == []


def test_a_card_and_its_row_say_one_time(one: Page, pages: dict[str, Path]) -> None:
    page = opened(one, pages["numbered"], 770)

    def times() -> dict[str, set[str]]:
        on: dict[str, set[str]] = {"": set(), "mg-x-score": set()}
        for canvas, text in page.evaluate("window.texts"):
            on[canvas] |= {text} if text.endswith(("\u00a0µs", "\u00a0ms")) else set()
        return on

    on = times()
    assert on[""] == on["mg-x-score"] != set()
    page.evaluate(f"() => {{ window.texts = []; {STATE}.jump({STATE}.atlas.m.n); }}")
    settled(page)
    half = times()
    assert half[""] == half["mg-x-score"] != on[""], "so far, without the way back"


def test_operators_of_one_line_are_a_stack(tmp_path: Path, one: Page) -> None:
    made = explorer_of(torch_like, torch_like())
    stem = next(node for node in made.data["nodes"] if node.get("name") == "stem")
    stem["name"] = "Slice × 2"
    page = opened(one, made.save(tmp_path / "a.html"))
    said = page.evaluate("window.texts")
    assert [
        text
        for text in (["", "Slice"], ["", "×2"], ["mg-x-score", "Slice  ×2"])
        if text not in said
    ] == []


@pytest.mark.parametrize(("name", "width"), covering.pairs(["torch", "numbered"], WIDTHS))
def test_the_legend_has_both_scales_and_zeros_only_where_there_are_many(
    name: str, width: int, one: Page, pages: dict[str, Path]
) -> None:
    page = opened(one, pages[name], width)
    said = [text for canvas, text in page.evaluate("window.texts") if canvas == "mg-x-score"]
    zeros = "share of zeros (red: over 90 %)" if width == 1440 else "zeros"
    assert (zeros in said) is (name == "torch")
    assert {"−", "+"} <= {*said}
    assert page.evaluate(OVERLAPS) == []


def test_the_side_ends_at_a_whole_paragraph_clear_of_its_button(
    one: Page, pages: dict[str, Path]
) -> None:
    page = opened(one, pages["torch"])
    found = page.locator(".mg-x-side").evaluate(
        f"""async side => {{
          const [body, more] = side.children;
          const cut = () => {{
            const all = document.createRange();
            all.selectNodeContents(body);
            const lines = [...all.getClientRects()].filter(({{ height }}) => height && height < 22);
            const top = more.getBoundingClientRect().top;
            const notes = [...body.querySelectorAll(".mg-x-path, .mg-x-verdict")];
            const rects = notes.map((note) => note.getBoundingClientRect());
            const above = parseFloat(getComputedStyle(more).paddingTop);
            const least = top + Math.min(0.5, above - 5.5);
            return [...lines, ...rects].some((r) => r.top < top - 4 && r.bottom > least);
          }};
          const [whole, found] = [side.offsetHeight, {{ clear: 0, cut: [] }}];
          for (let less = 260; less >= 0; less -= 13) {{ // as on lower and higher screens
            side.style.height = `${{whole - less}}px`;
            await ({DRAWN})();
            if (more.hidden) continue;
            if (cut()) found.cut.push(whole - less);
            else found.clear += 1;
          }}
          return found;
        }}"""
    )
    assert found["cut"] == []
    assert found["clear"] > 5
    assert page.locator(".mg-x-more").inner_text() == "↓ more"
    order = "all => all.map((one) => one.textContent).slice(1, 4)"
    told = page.locator(".mg-x-side").locator("h3, table + .mg-x-path").evaluate_all(order)
    assert [one.split()[0] for one in told] == ["cost", "The", "checked"]


@IN_ONE
def test_what_differs_is_told_with_its_reason(name: str, tmp_path: Path, one: Page) -> None:
    made = explorer_of(MODELS[name], differing(MODELS[name]()))
    page = opened(one, made.save(tmp_path / "differing.html"))
    kept = state(page, "atlas.m.data.parameters.find((p) => p.kept === 'frozen').name")
    finding = page.locator(".mg-x-finding", has_text="requires_grad=False")
    assert kept in finding.inner_text()
    assert "in float32 instead of float16" in page.locator(".mg-x-side").inner_text()
    finding.click()
    settled(page)
    assert "frozen" in page.locator(".mg-x-side").inner_text()
    assert any("frozen" in text for text in written(page))


@IN_ONE
def test_a_view_can_be_chosen_and_kept_as_a_still(name: str, tmp_path: Path, one: Page) -> None:
    model = MODELS[name]()
    plain = explorer_of(MODELS[name], model)
    nodes = plain.data["nodes"]
    group = max(nodes[1:], key=lambda n: len(n.get("children", ())))
    focused = explorer_of(MODELS[name], model, FirstView(focus=group["name"]))
    page = opened(one, focused.save(tmp_path / "focus.html"))
    assert state(page, "atlas.focus.name") == group["name"]
    assert page.evaluate(CARDS) == []
    for first in (FirstView(depth=2), FirstView(opened=(group["name"],))):
        page = opened(one, explorer_of(MODELS[name], model, first).save(tmp_path / "open.html"))
        assert group["name"] not in state(page, "atlas.m.rows.map((n) => n.name)")
        assert page.evaluate(CARDS) == []
    still = Still(plain).save(tmp_path / "still.svg")
    one.goto(still.as_uri())
    texts = one.evaluate("[...document.querySelectorAll('text')].map((e) => e.textContent).join()")
    top = [nodes[i].get("name") for i in nodes[0]["children"]]
    assert all(part in texts for part in top if part)
