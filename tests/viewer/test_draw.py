"""`viz.draw`: what a notebook gets, what files hold, and what is shown without an engine."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from examples import branch_and_loop, digits, e1, e2
from looks import speak
from matplotlib.image import imread

import minigrad as mg
import minigrad_lessons as lessons
import viz
from minigrad.diagnostics.messages import set_language
from viz.charts import Chart
from viz.page.payload import TABLE_LIMIT
from viz.picture import drawing
from viz.picture.layout import LayoutError
from viz.picture.picture import picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.usefixtures("english")

STARTS = {
    ".svg": b"<svg",
    ".png": b"\x89PNG\r\n",
    ".pdf": b"%PDF",
    ".dot": b"digraph {",
    ".html": b"<!DOCTYPE html>",
}


def test_a_notebook_gets_text_that_never_changes_and_html_that_says_it_all() -> None:
    shown = viz.draw(e1())
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == picture(e1()).text() == str(shown) == repr(shown)
    page = bundle["text/html"]
    ((alt, drawing),) = re.findall(r'<img alt="([^"]*)".*?base64,([^"]*)"', page)
    assert base64.b64decode(drawing).startswith(b"<svg")
    assert page.count("<table") == 1
    assert "<details open" not in page
    assert alt.startswith("Dynamic graph recorded while running: 4 nodes, 4 edges.")
    assert "运行时记录的动态图" in alt
    assert page.count('lang="en"') == page.count('lang="zh"') > 5
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)


def test_the_table_holds_every_node() -> None:
    rows = re.findall(r"<tr>(<td>.*?)</tr>", viz.draw(e1()).html)
    cells = [re.findall("<td>(.*?)</td>", row) for row in rows]
    assert cells == [
        ["x", "tensor", "", "()", ""],
        ["Mul", "Mul", "x, x", "()", ""],
        ["3", "Constant", "", "()", ""],
        ["Add", "Add", "Mul, 3", "()", ""],
    ]


def test_a_hostile_name_is_never_markup() -> None:
    name = "\"><script>alert(1)</script><img src=x onerror='alert(1)'>"
    page = viz.draw(mg.tensor(1.0, requires_grad=True, name=name) * 2).html
    assert "<script" not in page
    assert page.count("<img") == 1  # the drawing itself
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("suffix", [*STARTS, ".SVG"])
def test_files(suffix: str, tmp_path: Path) -> None:
    path = viz.draw(e2()).save(tmp_path / f"graph{suffix}")
    assert path.read_bytes().startswith(STARTS[suffix.lower()])
    if suffix.lower() == ".svg":
        ET.parse(path)
    if suffix == ".html":
        assert "以表格显示同样的内容" in path.read_text("utf-8")


LONE = "odd\udc80name"  # as Python reads the name of a file that is no UTF-8


def odd_graph() -> mg.Graph:
    with mg.Graph():
        x = mg.placeholder(LONE, shape=(2,))
        w = mg.Variable(np.ones(2, np.float32), name=f"{LONE}/w")
        with mg.name_scope(LONE):
            return mg.build_graph(x, mg.tanh(x * w))


def odd_tensor() -> mg.Tensor:
    return mg.tensor([1.0, 2.0], requires_grad=True, name=LONE)


ODD: dict[str, Callable[[], Any]] = {
    "graph": lambda: viz.draw(odd_graph()),
    "tensor": lambda: viz.draw(odd_tensor() * 2),
    "film": lambda: viz.step(lambda x: x * x, odd_tensor()),
    "passes": lambda: viz.passes(odd_graph()),
    "diff": lambda: viz.diff(odd_graph(), odd_graph().optimize()),
    "series": lambda: viz.curves(
        {LONE: [1.0, 2.0]}, title=(LONE, LONE), x=(LONE, ""), y=("", LONE)
    ),
    "regimes": lambda: lessons.regimes({LONE: {1: (1.0, 1.0, 1.0)}}, sides=("a", "b"), x=("", "")),
}


@pytest.mark.cases(5)
@pytest.mark.parametrize("kind", ODD)
def test_a_name_that_no_encoding_has_bytes_for_is_escaped(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    svgs = Chart._svgs  # the letters of a chart are the same in each width
    monkeypatch.setattr(Chart, "_svgs", lambda c, *asked: svgs(c, (500, 0)) * len(asked))
    view = ODD[kind]()
    page = view.save(tmp_path / "page.html").read_text("utf-8")
    assert re.search(r"odd\\+udc80name", page)
    known = re.search(r"script-src 'sha256-(.+?)'", page)
    script = re.search(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert known is not None
    assert script is not None
    digest = hashlib.sha256(script[1].encode()).digest()
    assert base64.b64encode(digest).decode() == known[1], "else a browser would not run it"
    shown = view._repr_mimebundle_()
    json.dumps(shown, ensure_ascii=False).encode()
    if kind in ("graph", "series"):  # one by Graphviz, one by Matplotlib
        for ending in (".svg", ".png", ".pdf"):
            assert view.save(tmp_path / f"{LONE}{ending}").stat().st_size > 0


def test_an_error_that_names_it_can_be_printed() -> None:
    with pytest.raises(mg.FeedError) as caught:
        mg.run(odd_graph(), {"nope": 1})
    assert "use one of odd\\udc80name" in str(caught.value)
    str(caught.value).encode()
    repr(odd_graph().placeholders[0]).encode()


SAVED: dict[str, tuple[Callable[[], Any], str]] = {
    "drawing": (lambda: viz.draw(e1()), ".svg, .pdf, .png, .dot, .html"),
    "player": (lambda: viz.step(e1()), ".html, .htm"),
    "animation": (lambda: viz.animate(e1()), ".svg, .gif, .mp4"),
    "chart": (
        lambda: viz.curves({"a": [1.0, 2.0]}, title=("a", "a"), x=("", ""), y=("", "")),
        ".html, .png, .svg, ",
    ),
}


@pytest.mark.parametrize("kind", SAVED)
def test_an_unknown_ending_is_refused_and_leaves_no_file(kind: str, tmp_path: Path) -> None:
    make, known = SAVED[kind]
    view, first = make(), known.partition(",")[0]
    for name, example in {
        "graph": "graph",
        "graph.": "graph",
        "a.b.tiff": "a",
        ".html": "picture",
        "graph.svgz": "graph",
    }.items():
        said = f'"{name}" does not end in one of {known}'
        with pytest.raises(ValueError, match=re.escape(said)) as caught:
            view.save(tmp_path / name)
        assert f'.save("{example}{first}")' in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    set_language("zh")
    with pytest.raises(ValueError, match="“graph”的扩展名不在"):
        view.save(tmp_path / "graph")


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_the_table_and_the_remedy_are_shown(tmp_path: Path) -> None:
    shown = viz.draw(e1())
    assert "<svg" not in shown.html
    assert "<details open>" in shown.html
    assert "pip install graphviz-pure" in shown.html
    assert "这里无法画图" in shown.html
    assert shown.html.count("<tr><td>") == 4
    assert str(shown) == picture(e1()).text()
    with pytest.raises(LayoutError, match="pip install"):
        shown.save(tmp_path / "graph.svg")
    assert list(tmp_path.iterdir()) == []
    assert shown.save(tmp_path / "graph.dot").exists()
    assert shown.save(tmp_path / "graph.html").exists()


def test_a_graph_that_is_too_large_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "LAYOUT_LIMIT", TABLE_LIMIT + 100)  # and its table has an end
    choose = random.Random(0)
    y = mg.tensor(1.0, requires_grad=True)
    for _ in range(drawing.LAYOUT_LIMIT):  # nothing repeats, so nothing folds
        y = choose.choice([mg.tanh, mg.sin, mg.cos, mg.sigmoid])(y)
    shown = viz.draw(y)
    assert "too many to lay out" in shown.html
    assert "<details open>" in shown.html
    assert len(shown.html) < 300_000


def test_nothing_to_draw_is_said_in_both_languages() -> None:
    shown = viz.draw(mg.Graph())
    assert "Nothing to draw" in shown.html
    assert "没有可画的内容" in shown.html
    assert "Nothing to draw" in str(shown)


@pytest.mark.parametrize(("fold", "boxes"), [(None, 17), (False, 17), (True, 6)])
def test_folding_on_request(fold: bool | None, boxes: int) -> None:
    loss = digits()[0]
    count = len(picture(loss).nodes) if boxes == 17 else boxes
    assert len(viz.draw(loss, fold=fold).picture.nodes) == count


def test_large_graphs_are_folded_by_default() -> None:
    y = mg.tensor(1.0, requires_grad=True)
    for layer in range(8):
        with mg.name_scope(f"layer{layer}"):
            for _ in range(10 + layer):
                y = y * y
    assert len(viz.draw(y).picture.nodes) == 9
    assert len(viz.draw(y, fold=False).picture.nodes) == 1 + 80 + 28


def test_drawings_on_one_page_do_not_share_ids() -> None:
    y = e1()
    first, second = (set(re.findall(r'id="([^"]+)"', viz.draw(y).svg)) for _ in range(2))
    shared = {i for i in first & second if i.startswith("mg")}
    assert shared == set()


def test_a_drawing_with_chinese_names_brings_their_glyphs_along() -> None:
    page = viz.draw(mg.tensor(1.0, requires_grad=True, name="权重") * 2).html
    (drawing,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
    root = ET.fromstring(base64.b64decode(drawing))
    assert "权重" in "".join(root.itertext())
    assert "@font-face" in "".join(root.itertext())


# ---- Titles, insides, tensors, states ---------------------------------------------------------


def captions(page: str) -> list[str]:
    return re.findall(r"<figcaption>(.*?)</figcaption>", page)


def test_the_title_says_the_kind_and_the_formula_in_both_languages(tmp_path: Path) -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x + 3
    (caption,) = captions(viz.draw(y).html)
    assert "dynamic graph: y = (x × x) + 3" in caption
    assert "动态图：y = (x × x) + 3" in caption
    assert "Ours &lt;b&gt;: y = (x" in captions(viz.draw(y, title="Ours <b>").html)[0]
    set_language("zh")
    svg = viz.draw(y).save(tmp_path / "graph.svg").read_text("utf-8")
    assert "动态图：y = (x × x) + 3" in svg
    assert "dynamic" not in svg
    assert '"动态图：y' in viz.draw(y).save(tmp_path / "graph.dot").read_text("utf-8")


def test_saved_pictures_bring_the_chinese_font_along(tmp_path: Path) -> None:
    """No machine needs one of its own."""
    set_language("zh")
    drawn = viz.draw(e1())
    assert "@font-face" in drawn.save(tmp_path / "graph.svg").read_text("utf-8")
    assert b"NotoSansSC" in drawn.save(tmp_path / "graph.pdf").read_bytes()


def test_a_long_formula_is_left_out() -> None:
    y = mg.tensor(1.0, requires_grad=True, name="x")
    for _ in range(40):
        y = y * y + 1
    assert len(viz.draw(y).heading[0]) < 100


def test_insides_are_drawn_when_named() -> None:
    graph = branch_and_loop()
    assert "Sub" not in str(viz.draw(graph))
    both_arms = str(viz.draw(graph, opened=["Cond"]))
    assert "Sub(v, 1) ()  [Cond: else]" in both_arms
    assert "Mul(v, 2) ()  [Cond: then]" in both_arms
    one = str(viz.draw(graph, opened=["Cond: else"]))
    assert "Sub" in one
    assert "Mul" not in one
    with pytest.raises(ValueError, match=r"nothing named 'Loop'.*Cond: then.*While"):
        viz.draw(graph, opened=["Loop"])


def test_what_is_folded_can_be_unfolded_on_the_page() -> None:
    page = viz.draw(digits()[0], fold=True).html
    assert page.count("<img alt=") == 2
    assert "Show everything: 1" in page
    assert "全部展开" in page
    assert viz.draw(e1()).html.count("<img alt=") == 1


def test_tensors_are_boxes_on_request() -> None:
    assert viz.draw(e1(), tensors=True).heading == viz.draw(e1()).heading
    assert str(viz.draw(e1(), tensors=True)).splitlines() == [
        "n1: x = tensor ()",
        "n2: Mul(x, x) ",
        "t1: tensor(Mul) ()",
        "n3: 3 = Constant ()",
        "n4: Add(tensor, 3) ",
        "t2: tensor(Add) ()  -> output",
    ]
    drawn = viz.draw(digits()[1], tensors=True).picture
    operators = [n for n in drawn.nodes if n.kind == "operator"]
    assert len([n for n in drawn.nodes if n.kind == "tensor"]) == len(operators)
    made = {e.source: e.target for e in drawn.edges if e.id[0] == "r"}
    assert set(made) == {n.id for n in operators}
    assert not [e for e in drawn.edges if e.id[0] != "r" and e.source in made]
    assert viz.draw(e1(), tensors=True).svg.count("mg-kind-tensor") == 2


def test_the_state_of_a_graph_is_said() -> None:
    y = e1()
    assert "freed" not in viz.draw(y).html
    assert any(track.facts.kept for track in viz.draw(y).film.tracks.values())
    y.backward()
    assert not any(track.facts.kept for track in viz.draw(y).film.tracks.values())
    assert "backward has freed the values" in viz.draw(y).html
    assert "backward 已经释放" in viz.draw(y).html
    assert "no node has a value yet" in viz.draw(e2()).html
    assert "节点还没有值" in viz.draw(e2()).html


def test_programs_and_traced_functions_are_drawn() -> None:
    graph = digits()[1].graph
    program = mg.build_graph([], [digits()[1]]).compile()
    assert "-> output" in str(viz.draw(program, fold=False))
    assert graph is not None
    double = mg.function(lambda v: v * 2)
    double(mg.tensor([1.0]))
    assert "Mul" in str(viz.draw(double))


# ---- Opening and folding without a kernel ------------------------------------------------------


def test_every_group_can_be_opened_where_the_drawings_were_sent() -> None:
    shown = viz.draw(digits()[0], fold=True)
    (graph,) = shown.player.data["graphs"]
    assert shown.player.data["still"]
    assert set(graph["views"]) > {"", "linear1", "relu1", "linear2", "loss"}
    assert graph["title"] == shown.heading
    assert graph["views"][graph["shown"]]["svg"] == shown.svg, "laid out once"


def test_what_is_open_and_how_is_as_asked_for() -> None:
    data = viz.draw(branch_and_loop(), opened=["Cond"], tensors=True).player.data
    (graph,) = data["graphs"]
    assert graph["shown"].splitlines() == ["Cond: else", "Cond: then"]
    assert "parallelogram" not in graph["views"][graph["shown"]]["svg"]  # a word of DOT only
    assert ">tensor</text>" in graph["views"][graph["shown"]]["svg"]


def test_a_node_tells_its_formula_and_its_line() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    data = viz.draw(x * x + 3).player.data
    about = {
        node["label"]: {
            slot: data["texts"][answers[-1][1]] for slot, answers in node.get("answers", {}).items()
        }
        for node in data["nodes"].values()
    }
    assert about["Mul"]["formula"] == ("x × x", "x × x")
    assert about["Mul"]["local"][0] == "On the way back x gets upstream × x along each of 2 arrows."
    assert "x * x + 3" in about["Add"]["line"][1]
    assert about["x"].keys() == {"out"}


def test_the_widget_and_the_image_are_of_one_drawing() -> None:
    bundle = viz.draw(digits()[0], fold=True)._repr_mimebundle_()
    assert "<img" in bundle["text/html"]
    assert (
        "application/vnd.jupyter.widget-view+json" not in viz.draw(mg.Graph())._repr_mimebundle_()
    )


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True])
def test_an_image_has_the_theme_of_the_notebook(
    dark: bool, chromium: Browser, tmp_path: Path
) -> None:
    """Whatever that of the system is."""
    page = tmp_path / "page.html"
    light = "false" if dark else "true"
    page.write_text(f'<body data-jp-theme-light="{light}">{viz.draw(e1()).html}', "utf-8")
    context = chromium.new_context(color_scheme="light" if dark else "dark")
    shown = context.new_page()
    shown.goto(page.as_uri())
    shown.locator(".mg-diagram img").screenshot(path=tmp_path / "shot.png")
    pixels = imread(tmp_path / "shot.png")[..., :3].mean(axis=2)
    context.close()
    paper, ink = np.median(pixels), pixels[8:-8, 8:-8]
    assert bool(paper < 0.2) is dark
    assert (ink.max() > 0.8) if dark else (ink.min() < 0.2), "the arrows are seen"


@pytest.mark.browser
def test_groups_of_a_saved_diagram_open_and_fold(page: Page, tmp_path: Path) -> None:
    page.goto(viz.draw(digits()[0], fold=True).save(tmp_path / "diagram.html").as_uri())
    boxes = page.locator("g.node")
    folded = boxes.count()
    assert folded == 6
    assert page.locator(".mg-controls").is_hidden()
    page.get_by_role("button", name="linear1").click()
    page.keyboard.press("o")
    opened = boxes.count()
    assert opened > folded
    product = page.get_by_role("button", name="MatMul", exact=True)  # without a value after it
    product.first.click()
    for code, line in (("zh", "写在"), ("en", "Written in")):
        speak(page, code)
        about = page.locator(".mg-inspector").inner_text()
        assert "image @" in about, "the formula"
        assert line in about
        title = page.locator("h1").inner_text().replace("\xa0", " ")
        assert ("dynamic graph" in title, "动态图" in title) == (code == "en", code == "zh")
    page.keyboard.press("o")
    assert boxes.count() == folded
    page.get_by_role("button", name="linear2").dblclick()
    assert boxes.count() > folded
    assert page.locator("g.mg-unborn, g.mg-born").count() == 0, "nothing is pale"
    assert page.errors == []
