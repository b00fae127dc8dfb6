"""The page on which you draw a digit: whole without a network, right in both lanes, any width."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from lessons import ROOT
from looks import violations

import minigrad as mg

sys.path.append(str(ROOT / "docs"))

import digit
from train import INPUTS, NETWORKS, SIZE, accuracy, stored

if TYPE_CHECKING:
    from playwright.sync_api import Page

STROKE = [(5, 3), (5, 6), (5, 9), (8, 9), (11, 9), (10, 6), (10, 10), (10, 14)]  # a 4
KEYS = ["ArrowLeft", "ArrowUp", " ", *["ArrowDown"] * 9, *["ArrowRight"] * 3, " "]
LANES = ("dynamic", "static")
COMPUTED = """() => {
  const plain = ({ value, gradient }) => [value, gradient].map((x) => x ? [...x] : null);
  const found = digit();
  for (const lane in found.lanes) found.lanes[lane] = found.lanes[lane].map(plain);
  return { ...found, image: [...found.image] };
}"""
SMALL = """() => [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility()
  && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())
  && parseFloat(getComputedStyle(e).fontSize) < 11).map((e) => e.outerHTML)"""
CUT = """() => [...document.querySelectorAll(".card :is(b, small)")].filter((e) =>
  e.checkVisibility() && e.scrollWidth > e.clientWidth).map((e) => e.textContent)"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("digit") / "index.html"
    path.write_text(digit.page(), "utf-8")
    return path


def test_it_is_one_file_that_asks_for_nothing_and_evaluates_nothing(made: Path) -> None:
    html = made.read_text("utf-8")
    (script,) = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    sha = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{sha}';" in html
    assert not re.search(r"\beval\(|\bFunction\(|\bimport\b|\bfetch\(|XMLHttp", script)
    assert not re.search(r"<(?:link|iframe|img)\b|@import|url\((?!data:)|\ssrc=", html)
    assert not re.search(r"@\w+@|<!--[A-Z]+-->|/\*[A-Z]+\*/", html), "all is filled in"
    assert len(html.encode()) < 300_000


def test_a_site_adds_its_links_its_settings_and_one_script_of_its_own() -> None:
    link = digit.Link("a/index.html", ("Lessons", "课程"), "en")
    html = digit.page([link], head="<b id='config'>", below="<p id='begin'>", scripts="'self'")
    assert '<a class="go" href="a/index.html" data-for="en">' in html
    assert "script-src 'self' 'sha256-" in html
    assert html.index("id='config'") < html.index("http-equiv") < html.index("id='begin'")


def test_the_stored_page_is_the_one_that_the_script_makes(made: Path) -> None:
    assert digit.TARGET.read_text("utf-8") == made.read_text("utf-8"), "python docs/digit.py"


def test_each_sentence_is_there_twice_with_the_same_numbers_in_it() -> None:
    for key, (english, chinese) in {**digit.WORDS, **digit.OPERATORS}.items():
        holes = [sorted(re.findall(r"\{\w+\}", half)) for half in (english, chinese)]
        assert holes[0] == holes[1], key
        assert english.count("<b>") == chinese.count("<b>"), key


@pytest.mark.parametrize("network", NETWORKS)
def test_the_stored_parameters_read_the_test_images(network: str) -> None:
    least = {"mlp": 0.95, "convnet": 0.98}[network]
    assert accuracy(network, stored()[network]) >= least


# ---- In a browser -------------------------------------------------------------------------------


def until(page: Page, condition: str) -> None:
    """Wait until it holds; the page's policy lets no browser evaluate it by itself."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(10)
    raise AssertionError(condition)


def draw_with_keys(page: Page) -> None:
    page.locator("#draw").focus()
    for key in KEYS:
        page.keyboard.press(key)


def draw_with_a_finger(page: Page) -> None:
    box = page.locator("#draw").bounding_box()
    assert box
    finger = page.context.new_cdp_session(page)
    side = box["width"] / SIZE
    for k, (x, y) in enumerate(STROKE):
        point = {"x": box["x"] + x * side, "y": box["y"] + y * side}
        kind = "touchMove" if k else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def tallies(page: Page) -> list[tuple[int, int]]:
    """What each lane says that it has built and run."""
    shown = page.locator(".tally b").all_text_contents()
    built, run, planned, filled = (int(text.replace(",", "")) for text in shown)
    return [(built, run), (planned, filled)]


def expected(network: str, image: Any, answer: int) -> tuple[Any, Any]:
    """The probabilities, and the gradient of the answer's score, by the engine itself."""
    pixels = np.array(image, np.float32).reshape(1, *INPUTS[network])
    x = mg.tensor(pixels, requires_grad=True)
    scores = NETWORKS[network](x, *map(mg.tensor, stored()[network].values()))
    scores[0, answer].backward()
    assert x.grad is not None
    return mg.softmax(scores, axis=1).numpy()[0], x.grad.numpy().ravel()


def is_right(page: Page, network: str) -> dict[str, Any]:
    """Hold what the page has computed against the engine, and both lanes against each other."""
    found: dict[str, Any] = page.evaluate(COMPUTED)
    dynamic, static = (found["lanes"][lane] for lane in LANES)
    answer = int(np.argmax(dynamic[-1][0]))
    best = page.locator(".bar.best b")
    assert best.text_content() == str(answer)
    probabilities, gradient = expected(network, found["image"], answer)
    np.testing.assert_allclose(dynamic[-1][0], probabilities, atol=2e-6)
    np.testing.assert_allclose(dynamic[0][1], gradient, atol=2e-5)
    apart, count = 0.0, -len(found["image"])
    for mine, theirs in zip(dynamic, static, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            assert (one is None) is (other is None)
            if one is not None:
                apart = max(apart, float(np.abs(np.subtract(one, other)).max()))
                count += len(one)
    assert apart < 1e-5
    told = page.locator("#same").text_content() or ""
    assert told.startswith("✓") is (apart == 0), told
    assert re.findall(r"[\d,]+", told)[0].replace(",", "") == str(count)
    return found


def names_are_whole(page: Page) -> None:
    """Whatever the width, such as that of a frame in JupyterLab."""
    height = (page.viewport_size or {})["height"]
    for width in (1440, 1281, 1101, 1100, 390):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(CUT) == [], width


@pytest.mark.cases(1)
@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_a_stroke_flows_through_both_graphs(
    made: Path, page: Page, width: int, height: int
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": height})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(made.as_uri())
    until(page, "document.getElementById('same').textContent")
    at_rest = is_right(page, "mlp")
    assert at_rest["moves"] > 30, "a digit is drawn when it opens"
    assert page.locator(".bar.best b").text_content() == "3"
    fits = "[document.documentElement.scrollWidth, document.querySelector('.end')"
    wide, bottom = page.evaluate(f"{fits}.getBoundingClientRect().bottom]")
    assert wide <= width
    assert bottom <= height, "whole at first sight"
    assert page.evaluate(SMALL) == []
    where = page.locator(".lane").last.bounding_box()
    (built, run), (planned, filled) = tallies(page)
    assert built == at_rest["moves"] * len(at_rest["records"])
    assert run == filled == at_rest["moves"] * at_rest["runs"]

    (draw_with_keys if width > 1000 else draw_with_a_finger)(page)
    until(page, f"digit().moves > {at_rest['moves'] + 5}")
    page.evaluate("() => new Promise((next) => requestAnimationFrame(() => setTimeout(next)))")
    drawn = is_right(page, "mlp")
    assert drawn["image"] != at_rest["image"]
    more = drawn["moves"] - at_rest["moves"]
    assert tallies(page) == [
        (built + more * len(drawn["records"]), run + more * drawn["runs"]),
        (planned, filled + more * drawn["runs"]),
    ]
    assert page.locator("#answer").text_content(), "said to who listens"
    assert page.locator(".lane").last.bounding_box() == where, "nothing jumps"

    page.get_by_role("button", name=re.compile("convnet|卷积")).click()
    until(page, "digit()?.records.length === 12")
    until(page, "document.getElementById('same').textContent.includes('15,')")
    is_right(page, "convnet")
    names_are_whole(page)
    page.get_by_role("button", name="MLP").click()
    until(page, "document.querySelectorAll('.card').length === 14")
    names_are_whole(page)
    assert violations(page) == []
    assert page.errors == []
    assert [url for url in asked[1:] if not url.startswith("data:")] == []


@pytest.mark.browser
def test_step_by_step_the_tape_grows_and_ends_where_it_would_at_once(
    made: Path, page: Page
) -> None:
    page.emulate_media(reduced_motion="reduce")  # forty milliseconds a step
    page.clock.install()
    page.goto(made.as_uri())
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))
    before = page.evaluate("digit().lanes.dynamic.at(-1).value")
    page.locator("#slow").click()
    page.clock.run_for(2 * 40)
    assert page.evaluate("[digit().records.length, digit().runs]") == [3, 3]
    page.clock.run_for(20 * 40)
    assert page.evaluate("digit().runs") == 10
    is_right(page, "mlp")
    assert page.evaluate("digit().lanes.dynamic.at(-1).value") == before
    page.locator("#clear").click()
    page.clock.run_for(100)
    assert page.evaluate("digit()") is None
    seen = "document.querySelector('{} .card').checkVisibility({{ visibilityProperty: true }})"
    assert not page.evaluate(seen.format(".dynamic"))
    assert page.evaluate(seen.format(".static")), "the graph that is built once stays"
    assert page.errors == []
