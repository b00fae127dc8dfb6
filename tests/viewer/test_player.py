"""The player: what it sends, what it says as text, and the page that plays on its own."""

from __future__ import annotations

import base64
import hashlib
import http.server
import itertools
import json
import re
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import views
from examples import digits, e1, e2, e5

import minigrad as mg
import viz
from minigrad import nn
from minigrad.diagnostics.messages import set_language
from viz.film.film import Film, Frame
from viz.page.document import SIGNS, packed
from viz.page.payload import WORDS, view
from viz.page.player import Player
from viz.page.together import SideBySide
from viz.picture.picture import picture
from viz.views.step import TWICE
from viz.words.text import ROWS

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


def hostile() -> Player:
    x = mg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True, name=HOSTILE)
    with mg.name_scope("block"):
        y = x * x
    return viz.step(y.sum())


def static_digits() -> Player:
    feed = {"image": np.ones((4, 64), np.float32), "label": np.arange(4)}
    return viz.step(digits()[1], feed)


PLAYERS: dict[str, Callable[[], Player]] = {
    "dynamic": lambda: viz.step(e1()),
    "static": lambda: viz.step(e2(), {"x": 2}),
    "matrix": lambda: viz.step(e5()),
    "layers": lambda: viz.step(digits()[0]),
    "static layers": static_digits,
    "compare": lambda: viz.compare(lambda x: x * x + 3, 2.0),
    "hostile": hostile,
}


@cache
def made(name: str) -> Player:
    return PLAYERS[name]()


@pytest.fixture(scope="module", params=PLAYERS)
def player(request: pytest.FixtureRequest) -> Player:
    return made(request.param)


def drawn(svg: str) -> set[str]:
    return {g.get("id", "") for g in ET.fromstring(svg).iter("g")}


def test_everything_is_plain_json(player: Player) -> None:
    again = json.loads(json.dumps(player.data, allow_nan=False))
    assert again["name"] == player.data["name"]
    assert len(again["frames"]) == max(len(film.frames) for film in player.films)


def test_every_id_that_a_frame_names_is_drawn(player: Player) -> None:
    data = player.data
    full = set().union(*(drawn(g["views"][g["layers"]]["svg"]) for g in data["graphs"]))
    assert set(data["nodes"]) <= full
    named = {i for f in data["frames"] for i in (*f["active"], *f.get("flows", {}))}
    notes = [(lane["prefix"], note) for lane in data["lanes"] for note in lane["notes"]]
    marked = {prefix + i for prefix, note in notes for i in note[3].split()}
    assert named
    assert named | marked <= full
    for graph in data["graphs"]:
        for shown in graph["views"].values():
            there = drawn(shown["svg"])
            assert set(shown["home"].values()) <= there
            assert set(shown["home"]) <= full
            assert {i for i in named if shown["home"].get(i, i).startswith(data["name"])} == named
            assert set(shown["closed"]) | set(shown["open"]) <= there


def test_every_step_stands_within_the_film(player: Player) -> None:
    last = len(player.data["frames"]) - 1
    for node in player.data["nodes"].values():
        moments = [node["born"], *(i for i, _ in node["values"] + node["gradients"])]
        assert all(0 <= i <= last for i in moments if i is not None)
    for frame in player.data["frames"]:
        said = [player.data["texts"][i] for i in frame["captions"]]
        assert all(english and chinese for english, chinese in said)


def test_players_on_one_page_do_not_share_ids() -> None:
    first, second = viz.step(e1()), viz.step(e1())
    assert not set(first.data["nodes"]) & set(second.data["nodes"])


def test_layers_are_shown_folded_and_can_be_unfolded() -> None:
    (layers,), (plain,) = (made(name).data["graphs"] for name in ("layers", "dynamic"))
    assert (layers["shown"], layers["layers"]) == ("", "linear1\nlinear2\nloss\nrelu1")
    assert set(layers["views"]) == {"", "linear1", "relu1", "linear2", "loss", layers["layers"]}
    assert list(plain["views"]) == [plain["shown"]] == [plain["layers"]]


def test_every_word_of_the_browser_side_is_sent() -> None:
    used = set(re.findall(r"\b(?:words|labels)\.(\w+)", Player._esm))
    assert used
    assert used <= set(WORDS) <= set(ROWS)
    assert set(WORDS) - used == set(), "and none that is not used"
    assert set(viz.step(e1()).data["words"]) == set(WORDS)


def test_a_film_that_ended_is_grey_only_while_the_other_goes_on() -> None:
    """At the last step of all both show their end, and both are bright."""
    long, short = (Film(picture(e1()), frames, viz.step(e1()).films[0].tracks) for frames in SHOWN)
    frames = Player([long, short]).data["frames"]
    assert [frame.get("still") for frame in frames] == [None, None, [False, True], None]
    assert frames[3]["captions"][0] == frames[3]["captions"][1]


END = Frame(("end", "完"))
SHOWN = ((Frame(("begin", "始")), END, END, END), (Frame(("begin", "始")), END))


def test_a_box_of_a_result_tells_what_it_is() -> None:
    """Also when groups open and the boxes get other numbers."""
    x = mg.tensor([[2.0, 1.0]], requires_grad=True)
    with mg.name_scope("part"):
        y = x * x
    film = viz.draw(y.sum(), tensors=True).player.films[0]
    found = {}
    for opened in (frozenset(), frozenset({"part"})):
        made = view(SideBySide([film]), 0, "p", opened)["nodes"]
        found[opened] = [
            (n["shape"], n["dtype"], n["answers"]["maker"][0][1][0]) for n in made.values()
        ]
    total = ("()", "float32", "This is the result of Sum.")
    assert found[frozenset()] == [total]
    assert found[frozenset({"part"})] == [
        ("(1, 2)", "float32", "This is the result of Mul."),
        total,
    ]


def test_a_still_tells_the_values_that_there_are() -> None:
    x = mg.tensor([2.0, 3.0], requires_grad=True, name="x")
    y = (x * x).sum()
    y.backward()
    nodes = viz.draw(y).player.data["nodes"]
    (leaf,) = [n for n in nodes.values() if n["label"] == "x"]
    assert leaf["values"][0][1]["short"] == "[2, 3]"
    assert leaf["values"][0][1]["grid"] == [["2", "3"]], "few enough to be written out"
    assert leaf["gradients"][0][1]["short"] == "[4, 6]"
    told = {n["label"]: n["values"][0][1]["short"] for n in nodes.values()}
    assert told == {"x": "[2, 3]", "Mul": "[4, 9]", "y": "13"}, "what each operator computed"


def test_a_still_for_a_phone_has_cards_with_room_for_their_pictures() -> None:
    model = nn.Sequential(nn.Linear(64, 16, seed=1), nn.ReLU(), nn.Linear(16, 10, seed=2))
    data = viz.draw(model(mg.tensor(np.ones((10, 64)), name="images"))).player.data["graphs"][0]
    drawn = data["views"][data["shown"]]
    assert int(re.findall(r'width="(\d+)"', drawn["narrow"])[0]) < 500
    assert "mg-ran mg-pictured mg-compact" in drawn["narrow"]
    assert "mg-compact" not in drawn["svg"]


@pytest.mark.parametrize(
    ("language", "said", "unsaid"),
    [
        ("en", ["adds it: 2 + 2 = 4"], ["再次"]),
        ("zh", ["向 x 回传，x 把这一份加到已有的梯度上：2 + 2 = 4"], ["which adds"]),
        ("both", ["adds it: 2 + 2 = 4", "向 x 回传，x 把这一份加到已有的梯度上：2 + 2 = 4"], []),
    ],
)
def test_the_text_follows_the_language(language: Any, said: list[str], unsaid: list[str]) -> None:
    set_language(language)
    bundle = viz.step(e1())._repr_mimebundle_()
    text = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/plain"]
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text] == []


def test_a_page_without_widgets_shows_the_drawing_and_every_step() -> None:
    bundle = viz.step(e1())._repr_mimebundle_()
    page = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]
    assert page.count("<img alt=") == page.count("data:image/svg+xml;base64,") == 3
    assert page.count("<li") == 8
    assert "<script" not in page
    assert page.count('lang="en"') == page.count('lang="zh"')


def test_nothing_hostile_is_markup() -> None:
    """What the browser sets as text (labels, code, shares) may hold anything."""
    player = made("hostile")
    data = player.data
    markup = [player._still()]
    for graph in data["graphs"]:
        markup += [graph["table"], *(view["svg"] for view in graph["views"].values())]
    taken = re.findall(r"\w+(?:\.|\[)[^;]*\.innerHTML = ([^;]+);|innerHTML = ([^;]+);", Player._esm)
    assert {a or b for a, b in taken} == {
        "fittest(view, slim)",
        'data.graphs.map((g) => g.table).join("")',
        "code && swatch(code)",
        "swatch(code, wide, high)",
        "swatch(colours, 2 * within, 2 * within)",
    }, "all else is set as text"
    codes = viz.step(e5()).data["swatches"]
    assert codes
    assert all(re.fullmatch(r"[bct]\d+:[0-9a-uNI.]+", code) for code in codes)
    assert not [text for text in markup if "<script" in text or "<img src=x" in text]
    assert any("&lt;script" in text for text in markup)


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_the_player_has_a_table() -> None:
    player = viz.step(e1())
    (view,) = player.data["graphs"][0]["views"].values()
    assert "pip install graphviz-pure" in view["svg"]
    assert "<table" in view["svg"]
    assert len(player.frames) == 8


def test_an_empty_player_says_what_to_do() -> None:
    empty = Player([])
    assert empty.frames == ()
    assert empty.text() == ROWS["player_empty"]
    assert "Run this cell" in empty._still()
    json.dumps(empty.data)


# ---- The saved page --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One of each kind of page that can be saved, and of each kind of player."""
    set_language("en")
    names = ("step", "step layers", "compare", "draw static", "passes")
    hostile = made("hostile").save(tmp_path_factory.mktemp("pages") / "hostile.html")
    return {"hostile": hostile, **{name: views.saved(name) for name in names}}


@pytest.mark.parametrize("name", ["step", "step layers", "hostile", "compare"])
def test_a_saved_page_needs_nothing_else(saved: dict[str, Path], name: str) -> None:
    page = saved[name].read_text("utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>\\)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(
        r"<(?:link|iframe|img|object)\b|<script[^>]+src|@import|\bimport[ (]", page
    )
    assert "font/woff;base64," in page
    assert page.count("<script") == 1
    assert saved[name].stat().st_size < 1_000_000


PAGES = ("step", "draw static", "passes", "hostile")


@pytest.mark.parametrize("name", PAGES)
def test_a_saved_page_allows_its_own_script_alone(saved: dict[str, Path], name: str) -> None:
    raw = saved[name].read_bytes()
    head, _, rest = raw.partition(b'<script type="module">')
    script, end, _ = rest.partition(b"</script>")
    assert end
    assert b"\r" not in script, "a parser would change it"
    (policy,) = re.findall(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', head)
    assert head.index(b"Content-Security-Policy") < head.index(b"<style"), "before all it is about"
    rules = dict(rule.split(" ", 1) for rule in policy.decode().split("; "))
    digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "font-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


# What a page might do if something foreign came to run in it; each asks for an address.
LEAKS = """async address => {
  const failed = [];
  const tried = (name, promise) => promise.catch(() => failed.push(name));
  const loaded = (kind, set) => new Promise((done, fail) => {
    const element = document.createElement(kind);
    element.onload = done;
    element.onerror = fail;
    set(element);
    document.body.append(element);
  });
  await tried("fetch", fetch(`${address}/fetch`, { mode: "no-cors" }));
  await tried("image", loaded("img", (e) => { e.src = `${address}/image`; }));
  await tried("script", loaded("script", (e) => { e.src = `${address}/script`; }));
  await tried("style", loaded("link", (e) => {
    e.rel = "stylesheet"; e.href = `${address}/style`;
  }));
  await tried("font", new FontFace("x", `url(${address}/font)`).load());
  navigator.sendBeacon(`${address}/beacon`);
  const inline = document.createElement("script");
  inline.textContent = "window.foreign = true";
  document.body.append(inline);
  const frame = document.createElement("iframe");
  frame.src = `${address}/frame`;
  document.body.append(frame);
  await new Promise((done) => setTimeout(done, 300));
  return { failed, foreign: window.foreign ?? false };
}"""


@pytest.mark.browser
@pytest.mark.cases(1)  # all of them have the same policy, as is seen above
@pytest.mark.parametrize("name", PAGES)
def test_a_saved_page_plays_and_reaches_nothing(
    name: str, saved: dict[str, Path], page: Page
) -> None:
    asked: list[str] = []

    class Listener(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_GET

        def log_message(self, *args: Any) -> None:
            pass

    page.goto(saved[name].as_uri())
    page.locator("#page svg").first.wait_for()
    page.get_by_role("button", name="中文", exact=True).click()
    if name != "draw static":
        before = page.locator("#page").inner_text()
        page.locator(".mg-steps").focus()
        page.keyboard.press("ArrowLeft")  # from its end, where it rests
        assert page.locator("#page").inner_text() != before
    assert page.errors == [], "the policy is in nobody's way"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        found = page.evaluate(LEAKS, f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert asked == []
    assert {"fetch", "image", "script", "style", "font"} <= {*found["failed"]}
    assert found["foreign"] is False


def test_a_saved_page_opens_in_the_chosen_language_at_the_same_step(tmp_path: Path) -> None:
    set_language("zh")
    player = viz.step(e1())
    player.index = 3
    page = player.save(tmp_path / "page.html").read_text("utf-8")
    assert 'data-mg-language="zh">' in page
    assert '"index":3' in page


def classes(page: Page) -> dict[str, set[str]]:
    """What each node of the page's drawings looks like, by the number in its id."""
    found = page.locator(".mg-drawing g.node").evaluate_all(
        "nodes => nodes.map(n => [n.id, n.getAttribute('class')])"
    )
    return {i.rpartition("-")[2]: set(c.split()) - {"node"} for i, c in found}


@pytest.mark.browser
def test_a_saved_page_plays(saved: dict[str, Path], page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(saved["step"].as_uri())
    caption, counter = page.locator(".mg-caption"), page.locator(".mg-controls output")
    assert "done:" in caption.inner_text(), "it rests where everything can be seen"
    assert counter.inner_text() == "7 / 7"
    page.get_by_role("button", name="first step").click()
    assert "Nothing has happened yet" in caption.inner_text()
    assert "mg-unborn" in classes(page)["n2"]
    assert classes(page)["n1"] == {"mg-kind-input"}, "what is given did not run"
    assert page.locator(".mg-value").first.text_content() == "2", (
        "it holds its value from the start"
    )

    page.locator(".mg-player").focus()
    page.keyboard.press("ArrowRight")
    assert "2 × 2 = 4" in caption.inner_text().replace("\xa0", " ")
    assert {"mg-ran", "mg-now"} <= classes(page)["n2"]
    assert "mg-unborn" in classes(page)["n4"]
    page.keyboard.press("End")
    assert counter.inner_text() == "7 / 7"
    page.keyboard.press("ArrowLeft")
    assert "2 + 2 = 4" in caption.inner_text().replace("\xa0", " ")
    assert page.locator(".mg-chip").all_text_contents() == ["1 × 2 = 2"]
    gradients = page.locator(".mg-grad")
    assert gradients.all_text_contents() == ["∂ 2 + 2 = 4", "∂ 1", "∂ 1"]
    page.keyboard.press("ArrowLeft")
    assert gradients.all_text_contents() == ["∂ 2", "∂ 1", "∂ 1"], "what comes later is not there"
    page.keyboard.press("Home")
    assert counter.inner_text() == "0 / 7"
    assert "mg-unborn" in classes(page)["n2"]
    assert gradients.all_text_contents() == ["", "", ""]
    page.keyboard.press("ArrowLeft")
    assert counter.inner_text() == "0 / 7"

    page.keyboard.press("End")
    page.locator("g.node").first.click()
    inspector = page.locator(".mg-inspector").inner_text()
    assert inspector.startswith("x\n")
    assert re.search(r"gradient\s+4", inspector)

    page.get_by_role("button", name="中文", exact=True).click()
    assert "完成：" in caption.inner_text()
    assert "done:" not in caption.inner_text()
    page.get_by_role("button", name="English + 中文").click()
    assert "done:" in caption.inner_text()
    assert "完成：" in caption.inner_text()
    page.get_by_role("button", name="English", exact=True).click()
    assert "完成：" not in caption.inner_text()
    assert page.evaluate("document.fonts.check('16px \"Noto Sans SC\"', '完成')")
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert page.errors == []


@pytest.mark.browser
def test_layers_unfold_and_two_graphs_stand_side_by_side(
    saved: dict[str, Path], page: Page
) -> None:
    page.goto(saved["step layers"].as_uri())
    assert {i for i in classes(page) if i[0] == "g"} == {"g1", "g2", "g3", "g4"}
    fold = page.get_by_role("button", name="fold layers")
    assert fold.get_attribute("aria-pressed") == "true"
    fold.click()
    assert fold.get_attribute("aria-pressed") == "false"
    unfolded = classes(page)
    assert len(unfolded) == len(picture(digits()[0]).nodes)
    page.get_by_role("button", name="first step").click()
    assert classes(page) != unfolded
    page.goto(saved["compare"].as_uri())
    assert page.locator(".mg-drawing svg").count() == 2
    verdict = page.locator(".mg-verdict")
    sign = "e => getComputedStyle(e, '::before').content"
    assert "equal, bit for bit" in verdict.inner_text()
    assert "✓" in verdict.evaluate(sign)
    page.goto(saved["hostile"].as_uri())
    page.locator(".mg-player").focus()
    page.keyboard.press("End")
    assert page.locator("img").count() == 0
    assert page.errors == []


@pytest.mark.browser
def test_a_verdict_that_differs_has_no_tick(tmp_path: Path, page: Page) -> None:
    films = [viz.step(e1()).films[0], viz.step(e2(), {"x": 2}).films[0]]
    verdict = tuple(half.format(difference="0.5") for half in ROWS["unequal_bits"])
    page.goto(Player(films, verdict).save(tmp_path / "page.html").as_uri())
    sign = page.locator(".mg-verdict").evaluate("e => getComputedStyle(e, '::before').content")
    assert "✗" in sign


def test_it_can_begin_where_the_gradients_do() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    player = viz.step(x * x + 3).at_backward()
    assert player.frames[player.index].caption[0].startswith("backward starts at the output")
    forward_only = viz.step(mg.tensor(2.0) * 3).at_backward()
    assert forward_only.index == len(forward_only.frames) - 1


@pytest.mark.browser
@pytest.mark.parametrize("how", ["seen", "calm", "touched"])
def test_it_plays_once_when_it_is_seen_and_rests_complete(how: str, page: Page) -> None:
    """And once more when a reader asks for it."""
    page.emulate_media(reduced_motion="reduce" if how == "calm" else "no-preference")
    page.clock.install(time=0)
    page.clock.pause_at(1000)
    page.goto(views.saved("step").as_uri())
    page.wait_for_function("document.querySelector('.mg-player').clientHeight > 200")
    counter = page.locator(".mg-controls output")
    complete = ["∂ 4", "∂ 1", "∂ 1"]
    assert counter.inner_text() == "7 / 7"
    assert page.locator(".mg-grad").all_text_contents() == complete
    if how == "seen":
        page.evaluate("document.querySelector('main').style.marginTop = '3000px'")
        page.wait_for_timeout(100)  # for what watches what is seen
        page.clock.run_for(1_700)
        assert counter.inner_text() == "7 / 7", "not yet"
        page.evaluate("document.querySelector('main').style.marginTop = ''")
    if how == "touched":
        page.locator("g.node").first.click()
    page.wait_for_timeout(100)
    page.clock.run_for(1_700)
    plays = how == "seen"
    assert (counter.inner_text() != "7 / 7") is plays
    assert page.locator(".mg-playing").count() == plays
    page.clock.run_for(20_000)
    assert counter.inner_text() == "7 / 7"
    assert page.locator(".mg-grad").all_text_contents() == complete
    page.clock.run_for(20_000)
    assert counter.inner_text() == "7 / 7", "once"
    if how != "touched":
        page.locator(".mg-player").focus()
        page.keyboard.press("ArrowRight")
        assert counter.inner_text() == "1 / 7", "the first step of a reader begins anew"
    if how == "seen":
        page.keyboard.press("End")
        page.get_by_role("button", name="play or pause").click()
        page.clock.run_for(2_000)  # from the beginning, as it stood at its end
        assert counter.inner_text() == "2 / 7"
        page.clock.run_for(20_000)
        assert counter.inner_text() == "7 / 7"
        assert page.get_by_role("button", name="play or pause").inner_text().strip() == "▶ replay"


def test_what_is_repeated_is_sent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lesson's graph takes less than 1 MB, drawing and all, in a kernel that has just begun."""
    monkeypatch.setattr("viz.page.player._numbers", itertools.count(1))  # each id has it in front
    y = mg.tensor(0.5, requires_grad=True)
    for i in range(29):
        with mg.name_scope(f"layer{i}"):
            for k in range(10):
                y = y * y if k % 3 else y + y
    player = viz.step(y)
    data = player.data
    assert len(data["nodes"]) > 290
    (lane,) = data["lanes"]
    assert len(lane["notes"]) > 800
    layers = [row.label for row in lane["rows"] if not row.is_code]
    assert layers[1:] == [f"layer{i}" for i in range(29)], "a row for each, not for each line"
    monkeypatch.setattr("viz.page.sliders.KEPT", 0)  # they take what room is left
    assert player.save(tmp_path / "page.html").stat().st_size < 1_000_000


@pytest.mark.parametrize(
    ("count", "most"), [(30, 474_000), pytest.param(TWICE, 1_000_000, marks=pytest.mark.exhaustive)]
)
def test_a_large_comparison_has_a_small_page(
    count: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What both calls have in common is sent once; of more operators there is one call."""
    monkeypatch.setattr("viz.page.sliders.KEPT", 0)  # they take what room is left

    def deep(x: Any, w: Any) -> Any:
        for _ in range(count // 3):
            x = mg.tanh(x * w + x)
        return x

    page = viz.compare(deep, 0.5, 0.3).save(tmp_path / "page.html")
    assert page.stat().st_size < most


@pytest.mark.parametrize("text", ["`${x}`", "</script>", '\\"', "\\\\", 'a\n"b"\t\u2028', "\ue000"])
def test_a_page_writes_once_what_repeats(text: str) -> None:
    """With a sign for it; what would end the script is written in another way."""
    values = {text: [[f"{text} and so on", i] for i in range(8)]}
    first, *pieces = packed(values).split("\n")
    assert not re.search(r"</script|`|\$\{", first + "".join(pieces))
    for sign, piece in zip(SIGNS, pieces, strict=False):
        first = first.replace(chr(sign), piece)
    assert json.loads(first) == values
    assert bool(pieces) is ("\ue000" not in text), "letters that are signs mean themselves"
