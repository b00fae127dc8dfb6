"""Saved pages: what is shown opens by itself, says what it is, reaches nothing, fits a phone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import comm
import numpy as np
import pytest
import views
from looks import painted, serious
from views import CHARTS, VIEWS, WORDS

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language
from viz import assets
from viz.page import recompute
from viz.page.document import POLICY
from viz.page.sliders import kept, slider

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")


# A widget, what saves itself not at all or otherwise, and one whose words are lines that import.
ODD = ("train", "check", "animate", "beside")


def cases(x: Any) -> Any:
    return mg.cond(x > 0, lambda: x * 2, lambda: x * 3)


def times_three() -> Any:
    return mg.tensor(2.0, requires_grad=True, name="x") * 3


DOCUMENTS = {name: made for name, made in (CHARTS | WORDS).items() if name not in ODD} | {
    "player": lambda: viz.step(times_three())
}
WIDGETS: dict[str, Callable[[], Any]] = {
    "compare": VIEWS["compare"],
    "diagram": lambda: viz.draw(times_three()),
    "passes": VIEWS["passes"],
    "branches": lambda: viz.branches(cases, 1.0),
    "error": VIEWS["error"],
    "train": VIEWS["train"],
}


@pytest.mark.parametrize("name", [name for name in WIDGETS if name != "diagram"])  # no widget
def test_a_widget_is_opened_with_what_it_shows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook that shows it before a second message has come would show nothing."""
    opened = []
    make = comm.create_comm
    monkeypatch.setattr(comm, "create_comm", lambda **how: opened.append(how) or make(**how))
    WIDGETS[name]()
    sent = [how["data"]["state"] for how in opened]
    assert all(state["data"] for state in sent if "_esm" in state)
    assert any("_esm" in state for state in sent)


TITLES = {
    "player": ("dynamic graph: y = x × 3", "动态图：y = x × 3"),
    "compare": (
        "dynamic graph, static graph: y = (x × x) + 3",
        "动态图、静态图：y = (x × x) + 3",
    ),
    "diagram": ("dynamic graph: y = x × 3", "动态图：y = x × 3"),
    "passes": ("What each optimisation pass changes", "每个优化 Pass 改了什么"),
    "branches": ("Which branch runs, in each mode", "每种模式各执行哪个分支"),
    "error": ("ShapeError: where it comes from", "ShapeError：出在哪里"),
    "curves": ("Loss: Adam ends 44 % lower than SGD", "损失：Adam 最后比 SGD 低 44 %"),
    "memory": (
        "Sharing buffers: 192 B instead of 320 B",
        "共用缓冲区：从 320 B 减少到 192 B",
    ),
    "schedule": ("2 devices: 3 s instead of 4 s", "2 个设备用 3 s，一个设备要 4 s"),
    "images": ("12 images of 8 × 8 pixels", "12 张 8 × 8 像素的图像"),
    "table": ("x*x + 3 and its gradient", "x*x + 3 及其梯度"),
    "predict": ("L00.3: What does print(x.grad) show?", "L00.3：print(x.grad) 会显示什么？"),
    "quiz": ("2 questions", "2 道题"),
}


def saved(name: str, folder: Path) -> Path:
    return (DOCUMENTS | WIDGETS)[name]().save(folder / f"{name}.html")


@pytest.fixture(scope="module")
def english_page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A view as an English page, made once for all that look at it."""
    folder = tmp_path_factory.mktemp("documents")
    return cache(lambda name: views.saved(name) if name in VIEWS else saved(name, folder))


# Each sort once: a film, charts of one size and of two, pictures, rows, choices, paragraphs.
FEW = ("player", "regimes", "memory", "images", "table", "quiz", "claims")
LOOKED_AT = [
    name if name in FEW else pytest.param(name, marks=pytest.mark.exhaustive) for name in DOCUMENTS
]


def title(page: str) -> str:
    return unescape(re.findall("<title>(.*?)</title>", page)[0])


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_is_whole_small_and_closed(name: str, english_page: Callable[[str], Path]) -> None:
    path = english_page(name)
    text = path.read_text("utf-8")
    assert path.stat().st_size < 1_000_000
    assert text.count("<script") == text.count("</script>") == 1
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', text)
    assert re.sub("sha256-[^']*", "sha256-{digest}", policy) == POLICY
    assert text.index("Content-Security-Policy") < text.index("<style"), "before all it is about"
    assert not re.search(r"<(?:link|iframe|object)\b|<script[^>]+src|@import|\bimport[ (]", text)
    addresses = set(re.findall(r"https?://[^\s\"'<>\\)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@pytest.mark.cases(5)
@pytest.mark.parametrize("name", TITLES)
def test_the_title_says_what_it_shows_in_the_chosen_language(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.page.sliders.KEPT", 0)  # a title needs no position of a slider,
    monkeypatch.setattr("viz.charts.chart.Chart._shown", lambda *_, **__: "")  # nor a drawn curve,
    monkeypatch.setattr("viz.page.document.font_face", lambda *_, **__: "")  # nor letters
    english, chinese = TITLES[name]
    for language, wanted in (
        ("en", english),
        ("zh", chinese),
        ("both", f"{english} / {chinese}"),
    ):
        set_language(language)
        text = saved(name, tmp_path).read_text("utf-8")
        assert title(text) == wanted
        assert f'<html lang="{"zh-Hans" if language == "zh" else "en"}"' in text
        assert f'data-mg-language="{language}"' in text


@pytest.mark.parametrize("name", DOCUMENTS)
def test_another_ending_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.html"):
        DOCUMENTS[name]().save(tmp_path / "page.txt")
    assert not list(tmp_path.iterdir())


# Texts of a page that are too small to be read, and the families that texts are written in.
TEXTS = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const small = new Set(), families = new Set();
    for (let node; (node = walker.nextNode());) {
        const around = node.parentElement;
        if (!node.data.trim() || !around.checkVisibility() || around.closest('script, style'))
            continue;
        const style = getComputedStyle(around);
        if (parseFloat(style.fontSize) < 11) small.add(node.data);
        const code = around.closest('code, pre, .mg-code, .mg-row-name, .mg-line-now');
        families.add(`${code ? 'code' : 'words'}: ${
            style.fontFamily.replaceAll('"', '').replace('Latin Marks, ', '')}`); // of English
    }
    return { small: [...small], families: [...families].sort() };
}"""


@pytest.mark.browser
@pytest.mark.cases(2)  # test_browser_views has all views, on three screens
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_fits_and_can_be_read(
    name: str, english_page: Callable[[str], Path], page: Page
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(english_page(name).as_uri())
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 800})
        painted(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    for theme, rules in (("light", ()), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=theme)
        assert serious(page, *rules) == []
    for words, code, wanted in (("中文", "zh-Hans", 1), ("English", "en", 0)):
        page.get_by_role("button", name=words, exact=True).click()
        assert page.evaluate("document.documentElement.lang") == code
        assert page.title() == TITLES.get(name, (page.title(),) * 2)[wanted]
        found = page.evaluate(TEXTS)
        assert found["small"] == []
        kinds = [family.partition(":")[0] for family in found["families"]]
        assert len(kinds) == len(set(kinds)), found["families"]
    assert len(asked) == 1 + sum(address.startswith("data:") for address in asked)
    assert page.errors == []


@pytest.mark.browser
def test_an_answer_unfolds_without_a_kernel_and_says_in_words_what_it_is_worth(
    tmp_path: Path, page: Page
) -> None:
    page.goto(saved("quiz", tmp_path).as_uri())
    first = page.locator(".mg-ask").first
    option = first.locator("details").nth(1)
    verdict = option.locator(".mg-ask-verdict")
    assert not verdict.is_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert option.bounding_box()["height"] >= 44, "room for a thumb"
    option.locator("summary").click()
    assert verdict.inner_text().startswith("✗ Not quite.")
    color = "e => getComputedStyle(e).color"
    red = verdict.locator("b").evaluate(color)
    right = first.locator("details[open][data-right=true] .mg-ask-verdict")
    assert right.inner_text().startswith("✓ Right."), "the answer that was given is open"
    assert right.locator("b").evaluate(color) != red
    other, chosen, missed = (
        page.locator(".mg-ask").nth(1).locator("summary").nth(i) for i in range(3)
    )
    assert chosen.inner_text() == "B 7 your answer"
    assert missed.inner_text() == "C 4 ✓ the right answer", "and the right one marked"
    fill = "e => getComputedStyle(e.parentElement).backgroundColor"
    looks = [e.evaluate(fill) for e in (other, chosen, missed)]
    assert len({*looks}) == 3, "wrong, right, and one that was not chosen"


# ---- Sliders without a kernel -----------------------------------------------------------------


READERS = 50  # positions that a page keeps for a reader; the tests keep fewer
SLIDING: dict[str, Callable[[], Any]] = {
    "step": lambda: viz.step(mg.tensor(2.0, requires_grad=True, name="x") * 3),
    "two": lambda: viz.step((mg.tensor([1.0, 2.0], requires_grad=True) * 2).sum()),
}


def slide(page: Page, value: float) -> None:
    page.locator(".mg-inputs input").first.evaluate(
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", value
    )
    page.evaluate("() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")


@pytest.mark.browser
@pytest.mark.parametrize("name", [pytest.param("step", marks=pytest.mark.exhaustive), "two"])
def test_a_slider_of_a_saved_page_shows_what_the_kernel_would(
    name: str, tmp_path: Path, page: Page
) -> None:
    player = SLIDING[name]()
    path = player.save(tmp_path / "page.html")
    assert path.stat().st_size < 1_000_000
    page.goto(path.as_uri())
    assert "The others it computes" in page.locator(".mg-page-note").inner_text()
    fields = page.locator(".mg-inputs input")
    assert all(fields.nth(i).is_enabled() for i in range(fields.count()))
    step, low = (float(fields.first.get_attribute(key) or "nan") for key in ("step", "min"))
    value = float(f"{low + 3 * step:.10g}")
    page.locator(".mg-player").focus()
    page.keyboard.press("End")
    before = page.locator(".mg-player").inner_text()
    slide(page, value)
    told = page.locator(".mg-player").inner_text()
    assert told != before
    player.inputs = [value, *player.inputs[1:]]
    player.index = len(player.data["frames"]) - 1
    other = type(player)(player.films, player.verdict, player.links, name=player.data["name"])
    other.index = player.index
    page.goto(other.save(tmp_path / "other.html").as_uri())
    shown = page.locator(".mg-player").inner_text()
    assert [line for line in shown.splitlines() if line not in told] == []
    assert page.errors == []


def test_a_page_keeps_positions_where_no_program_can_compute_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("viz.page.sliders.KEPT", READERS)
    player = SLIDING["step"]()
    computed = player._values(900_000)
    assert len(computed["kept"]) == 41
    assert "program" in computed["fill"]
    with monkeypatch.context() as patch:
        patch.setattr(recompute, "LARGEST", 500)
        few = player._values(900_000)
    assert few.keys() == {"data", "index", "kept"}, "the program is too large"
    player.numbers = raises_graph_error
    plain = player._values(900_000)
    assert plain.keys() == {"data", "index", "kept"}, "not in a graph, or not in JavaScript"
    assert plain["data"]["sliders"][0]["step"] > computed["data"]["sliders"][0]["step"]


def raises_graph_error(inputs: list[float]) -> Any:
    return mg.compile(mg.build_graph([], []), executor="nobody has this one")


@pytest.mark.skipif(not shutil.which("node"), reason="Node runs the page's own JavaScript")
def test_numbers_are_written_as_python_writes_them() -> None:
    rng = np.random.default_rng(0)
    exact = [0.0, -0.0, 1.0625, 1.1875, 2.5, 0.125, 9999.5, 1e4, 1e-4, 1e-5, 9.9996, -3e-38, 1e30]
    values = [*exact, *(rng.normal(0, 1, 300) * 10 ** rng.uniform(-8, 8, 300)).tolist()]
    values += [float(np.float32(x)) for x in values]
    script = f"{assets.source('recompute.js')}\nconst values = {json.dumps(values)};"
    script += (
        "console.log(JSON.stringify(values.map((x) => [2, 3, 4].map((n) => formatted(x, n)))))"
    )
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[f"{x:.{n}g}" for n in (2, 3, 4)] for x in values]


@pytest.mark.browser
def test_a_saved_board_moves_to_the_branch_that_an_input_takes(tmp_path: Path, page: Page) -> None:
    board = viz.branches(cases, 1.0, ways=("eager", "static", "trace"))
    page.goto(board.save(tmp_path / "page.html").as_uri())
    before = page.locator(".mg-caption").inner_text()
    assert before.startswith("x = 1 gives:")
    slide(page, -3)
    after = page.locator(".mg-caption").inner_text()
    assert after.startswith("x = -3 gives: eager\xa0-9, static\xa0-9")
    assert page.errors == []


def test_positions_are_as_fine_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.page.sliders.KEPT", READERS)
    sliders = [slider("x", 2.0)]

    def made(inputs: list[float]) -> dict[str, Any]:
        return {"data": {"text": "x" * 1000 + str(inputs), "value": inputs[0]}}

    start = {"data": {"text": "", "value": 2.0}}
    counts = [len(kept(sliders, made, start, room)[1]) for room in (100_000, 30_000, 8_000, 500)]
    assert counts == [41, 21, 5, 0]
    coarse, positions = kept(sliders, made, start, 30_000)
    assert [p["change"]["data"]["value"] for p in positions] == [
        [p["inputs"][0]] for p in positions
    ]
    assert 2.0 in [p["inputs"][0] for p in positions], "where it stood"
    assert coarse[0].step == pytest.approx(0.4)
    assert len(kept([slider("x", 2.0)] * 3, made, start, 100_000)[1]) == 27
    assert kept([], made, start, 100_000) == ([], [])


def test_what_a_view_hides_on_its_own_page_is_there_on_pages_to_read() -> None:
    """Those have `data-mg-page` as well, and only what we save has an element `#page`."""
    hides = r"(?m)^([^{}@\n]*data-mg-page[^{}]*)\{[^}]*(?:display: none|clip-path)"
    for sheet in (Path(viz.__file__).parent / "assets").glob("*.css"):
        found = re.findall(hides, sheet.read_text("utf-8"))
        assert all("#page" in rule for rule in found), (sheet.name, found)
