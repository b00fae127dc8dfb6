"""What `viz.step` shows where there is nothing to run, or where a run stops."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import minigrad as mg
import viz
from viz.words.text import ROWS

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")

HERE = Path(__file__).name


def unfit() -> viz.Player:
    """A run that stops at its last operator, with shapes that are not known before."""
    with mg.Graph():
        x = mg.placeholder("x", shape=(None,))
        graph = mg.build_graph(x, x * 2 + mg.constant(np.ones(3, np.float32)))
    return viz.step(graph, {x: np.ones(2, np.float32)})


def unfed() -> viz.Player:
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        return viz.step(mg.build_graph(x, x * 2))


def refused() -> viz.Player:
    """A function that stops while it builds its tape."""
    w = mg.tensor(np.ones((2, 3)), requires_grad=True, name="w")
    return viz.step(lambda: mg.relu(w) @ w)


def freed() -> viz.Player:
    w = mg.tensor(np.ones((3, 2)), requires_grad=True, name="w")
    y = (mg.tensor(np.ones((4, 3))) @ w).sum()
    y.backward()
    return viz.step(y)


STOPPED: dict[str, tuple[Callable[[], viz.Player], str, tuple[str, str]]] = {
    "unfit": (unfit, "Add", ("shapes (2,), (3,) do not fit", "形状 (2,), (3,) 不匹配")),
    "unfed": (unfed, "Placeholder", ("was not fed", "没有被馈送")),
    "refused": (refused, "MatMul", ("shapes (2, 3), (2, 3) do not fit", "不匹配")),
    "freed": (freed, "MatMul", ("backward has freed", "backward 已经释放")),
}


@pytest.mark.parametrize("name", STOPPED)
def test_the_node_that_failed_is_marked_and_the_reason_told(name: str) -> None:
    make, op, words = STOPPED[name]
    player = make()
    (film,) = player.films
    frame = film.frames[-1]
    assert film.error is not None
    assert [n.op for n in film.picture.nodes if n.id == frame.failed] == [op]
    assert frame.active == (frame.failed,)
    assert frame.notes == {frame.failed: "✗"}
    for half, word in zip(frame.caption, words, strict=True):
        assert word in half
        assert "\n" not in half
    for half, told in zip(player.text(), frame.caption, strict=True):
        assert half.splitlines()[-1].endswith(told), "the same sentence as text"
    marked = re.findall(r'class="node [^"]*mg-failed[^"]*".*?</g>', _image(player), re.DOTALL)
    assert len(marked) == 1, "and marked in the picture"
    label = next(n.label for n in film.picture.nodes if n.id == frame.failed)
    assert label in re.findall(r"<text[^>]*>([^<]*)<", marked[0])
    assert "✗" in marked[0]


def _image(player: viz.Player) -> str:

    *_, source = re.findall(r"base64,([^\"]*)", player._repr_mimebundle_()[0]["text/html"])
    return base64.b64decode(source).decode()


def test_the_lines_that_defined_and_ran_it_are_the_readers() -> None:
    frame = unfit().films[0].frames[-1]
    english, chinese = frame.caption
    assert re.search(rf"defined at {HERE}, line \d+: .*x \* 2 \+", english)
    assert re.search(rf"used at {HERE}, line \d+: .*viz\.step\(graph", english)
    assert re.search(rf"定义于 {HERE}.*用到它的地方：{HERE}", chinese)
    assert frame.code is not None
    assert frame.code[2] == "x * 2 + mg.constant(np.ones(3, np.float32))"


def test_a_run_is_shown_as_far_as_it_came() -> None:
    captions = [f.caption[0] for f in unfit().films[0].frames]
    assert "run: Mul = x × 2 = [1, 1] × 2 = [2, 2]" in captions
    assert not [c for c in captions if c.startswith("done")]
    assert unfit().index == len(captions) - 1, "it stands at the step that failed"


def test_an_empty_graph_says_how_to_fill_it() -> None:
    player = viz.step(mg.Graph())
    assert player.text() == tuple(f"0. {half}" for half in ROWS["graph_empty"])
    assert ROWS["graph_empty"][0].split(":")[0] in player._repr_mimebundle_()[0]["text/html"]


def test_a_freed_tape_whose_leaves_are_there_runs_again() -> None:
    x = mg.tensor(2.0, requires_grad=True, name="x")
    y = x * x
    y.backward()
    assert "= 2 × 2 = 4" in viz.step(y).text()[0]


def test_gradients_that_are_infinite_are_shown_without_a_warning() -> None:
    x = mg.tensor(0.0, requires_grad=True, name="x")
    assert "local = 1 × ∞ = ∞" in viz.step(mg.sqrt(x)).text()[0]


def test_a_comparison_of_what_fails_is_refused() -> None:
    with pytest.raises(mg.ShapeError, match="do not fit"):
        viz.compare(lambda x: x @ x, np.ones((2, 3)))


@pytest.mark.browser
@pytest.mark.cases(3)  # the node and the reason of each are looked at above
@pytest.mark.parametrize("name", [*STOPPED, "empty"])
def test_a_page_shows_it(name: str, page: Page, tmp_path: Path) -> None:
    player = viz.step(mg.Graph()) if name == "empty" else STOPPED[name][0]()
    page.goto(player.save(tmp_path / "page.html").as_uri())
    said = page.locator(".mg-caption").inner_text()
    assert ("Nothing to draw" if name == "empty" else STOPPED[name][2][0]) in said
    assert page.locator("g.node.mg-now").count() == (name != "empty")
    assert page.locator("g.node.mg-failed").count() == (name != "empty")
    if name != "empty":
        assert "✗" in (page.locator("g.mg-failed").text_content() or ""), "not by colour alone"
    page.locator(".mg-player").focus()
    for key in ("ArrowDown", "o", "+", "0", "End", "Home"):
        page.keyboard.press(key)
    assert page.errors == []
