"""The strip of stills where nothing plays: which steps it shows, what it says, how small it is."""

from __future__ import annotations

import base64
import re

import pytest

import minigrad as mg
import viz
from minigrad import nn
from minigrad.diagnostics.messages import set_language
from viz.page.player import Player
from viz.page.strip import moments

pytestmark = pytest.mark.usefixtures("english", "undrawn")


def stills(player: Player) -> list[str]:
    """The drawings of the strip."""
    found = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", player._still())
    return [base64.b64decode(data).decode() for data in found]


def states(svg: str, state: str) -> list[str]:
    """The signs and values of the cards in a state."""
    cards = re.findall(rf'<g id="[^"]*" class="[^"]*\b{state}\b[^"]*".*?</g>', svg)
    return [
        " ".join(re.findall(r'class="mg-(?:sign|value)"[^>]*>([^<]*)<', card)) for card in cards
    ]


def dynamic() -> Player:
    x = mg.tensor(2.0, requires_grad=True)
    return viz.step(x * x + 3)


def static() -> Player:
    with mg.Graph():
        a = mg.placeholder("a")
        b = a * a + 3
    return viz.step(b, {a: 2.0})


def test_both_ways_the_difference_is_seen() -> None:
    grown, planned, end = stills(viz.compare(lambda x: x * x + 3, 2.0))
    assert states(grown, "mg-ran") == ["× 4"], "half of the dynamic graph, with its value"
    assert states(grown, "mg-born") == ["x "], "of the static one so far a plan"
    assert states(planned, "mg-ran") == ["× 4", "+ 7"]
    assert states(planned, "mg-born") == ["x ", "× ", "+ "], "all of it, and nothing has run"
    assert states(end, "mg-ran") == ["× 4", "+ 7"] * 2
    assert states(end, "mg-born") == []
    assert "built at step 4" in end
    assert "ran at step 17" in end
    assert "built, ran: step 9" in end
    assert "∂ 4" in end
    assert "∂ 4" not in grown


def test_nothing_is_said_of_both_that_is_not_so() -> None:
    """A recording may hold a static graph that runs before the dynamic one is half built."""
    with mg.Graph(), mg.record(values=True) as log:
        a = mg.placeholder("a")
        mg.run(mg.build_graph(a, a * 2), {a: 2.0})
        x = mg.tensor(2.0, requires_grad=True)
        for _ in range(12):
            x = x * x * 0.5
    told = [said[0] for _, said in moments(viz.timeline(log).films)]
    assert "half the" in " ".join(told)
    assert "static" not in " ".join(told[1:])
    assert "same values" not in " ".join(told)


def test_a_dynamic_graph_alone() -> None:
    grown, forward, end = stills(dynamic())
    assert [len(states(svg, "node")) for svg in (grown, forward, end)] == [2, 4, 4]
    assert "∂" not in forward
    assert "∂ 4" in end


def test_the_way_back_comes_next_only_where_it_does() -> None:
    """A second graph may be built after the way back over the first, or the first may be gone."""
    x = mg.tensor(2.0, requires_grad=True)
    with viz.live(pause=0) as twice:
        y = x * x + 3
        y.backward()
        y = x * x + 3
    with viz.live(pause=0) as gone:
        y = x * x
        y = x + 3
        y.backward()
    told = [dict(moments(drawing.player.films)) for drawing in (twice, gone)]
    assert [step for step in told[0] if "the way back" in told[0][step][0]] == [2]
    assert "backward starts" in twice.player.frames[3].caption[0]
    assert "the way back" not in str(told[1])


def test_a_static_graph_alone() -> None:
    planned, filled, end = stills(static())
    assert states(planned, "mg-born") == ["a ", "× ", "+ "]
    assert states(filled, "mg-ran") == ["× 4"]
    assert states(filled, "mg-born") == ["+ "]
    assert states(end, "mg-born") == []


def test_each_still_says_what_is_to_be_seen_one_language_a_line() -> None:
    page = viz.compare(lambda x: x * x + 3, 2.0)._still()
    lines = re.findall(r'<div lang="(\w+)"><i>\S+ ?</i>([^<]+)</div>', page)
    assert [language for language, _ in lines] == ["en", "zh"] * 4
    assert lines[0][1].startswith("▶ Run this cell to play")
    assert lines[1][1].startswith("▶ 运行此单元格即可播放")
    assert "half the" in lines[2][1]
    assert "建到一半" in lines[3][1]
    assert "before the run" in lines[4][1]
    assert "the end" in lines[6][1]
    assert len(re.findall(r'<img alt="[^"]*[\u4e00-\u9fff]', page)) == 3


def test_stills_are_right_on_dark_paper_and_speak_one_language() -> None:
    set_language("zh")
    for svg in stills(dynamic()):
        assert "prefers-color-scheme: dark" in svg
        assert 'class="mg-paper"' in svg
        assert "算子" in svg
        assert "operator<" not in svg


def test_a_run_that_stopped_ends_with_the_reason() -> None:
    with mg.Graph():
        a = mg.placeholder("a", shape=(None,))
        b = a.reshape((2, 2)) * 2
    player = viz.step(b, {a: [1.0, 2.0, 3.0]})
    *_, (last, said) = moments(player.films)
    assert last == len(player.frames) - 1
    assert "stopped" in said[0]
    assert "mg-failed" in stills(player)[-1]


def test_what_is_no_film_is_one_picture() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    assert len(stills(viz.step(y))) >= 1
    still = viz.draw(y).player
    assert len(stills(still)) == 1
    assert "▶" not in still._still()


def test_a_strip_stays_small() -> None:
    assert len(viz.compare(lambda x: x * x + 3, 2.0)._still()) < 50_000
    model = nn.Sequential(nn.Linear(64, 16, seed=1), nn.ReLU(), nn.Linear(16, 10, seed=2))
    digits = mg.data.digits()
    images, labels = digits.x_train[:8].reshape(-1, 64), digits.y_train[:8]
    large = viz.compare(lambda i, y: mg.cross_entropy(model(i), y), images, labels)
    assert len(stills(large)) == 2
    assert len(large._still()) < 100_000  # a third of it are tensors
