"""A page shows each step as a still of that step does: one rule for states, in Python and here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from examples import branch, digits, e1, e2, e5, loop
from test_failed_films import unfit
from views import saved

import minigrad as mg
import viz
from viz.film.film import Film, Track
from viz.film.states import on_cards
from viz.picture.repeats import CALLS

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from viz.picture.boxes import Picture

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("english")]


def layers() -> viz.Player:
    feed = {"image": np.ones((4, 64), np.float32), "label": np.arange(4)}
    return viz.step(digits()[1], feed)


def called(y: Any) -> Any:
    """Calls of one layer, just enough for those between the first and the last to be a strip."""
    layer = mg.nn.Linear(2, 2, seed=0)
    for _ in range(CALLS):
        y = layer(y)
    return y


def calls_of_a_plan() -> viz.Player:
    with mg.Graph():
        x = mg.placeholder("x", shape=(1, 2))
        return viz.step(called(x), {x: np.ones((1, 2), np.float32)})


def inside() -> viz.Player:
    """A branch within a group, of which one side never runs."""
    with mg.Graph():
        x = mg.placeholder("x", shape=())
        with mg.name_scope("part"):
            y = branch(x * 2) + 1
        film = viz.step(y, {x: 3.0}).films[0]
    return viz.Player([replace(film, opened=frozenset())])


def spoilt() -> viz.Player:
    x = mg.tensor([-1.0, 1.0], requires_grad=True, name="x")
    with np.errstate(all="ignore"):
        return viz.step(mg.log(x).sum())


def stopped() -> viz.Player:
    """A run that stops in the middle of a group."""
    with mg.Graph():
        x = mg.placeholder("x", shape=(None,))
        with mg.name_scope("part"):
            y = (x * 2 + mg.constant(np.ones(3, np.float32))) * 5
        return viz.step(y, {x: np.ones(2, np.float32)})


def unbuilt() -> viz.Player:
    """A film that ends with the failure of what was not there yet."""
    film = viz.step(e1()).films[0]
    (add,) = (n.id for n in film.picture.nodes if n.op == "Add")
    last = replace(film.frames[2], failed=add, active=(add,), notes={add: "✗"})
    tracks = {**film.tracks, add: Track()}
    return viz.Player([replace(film, frames=(*film.frames[:2], last), tracks=tracks)])


PLAYERS: dict[str, Callable[[], viz.Player]] = {
    "dynamic": lambda: viz.step(e1()),
    "static": lambda: viz.step(e2(), {"x": 2.0}),
    "matrix": lambda: viz.step(e5()),
    "layers of a tape": lambda: viz.step(digits()[0]),
    "layers of a plan": layers,
    "calls of a tape": lambda: viz.step(called(mg.ones((1, 2))).sum()),
    "calls of a plan": calls_of_a_plan,
    "loop": lambda: viz.step(loop(3), {"x": 3}),
    "branch in a group": inside,
    "both": lambda: viz.compare(lambda x: x * x + 3, 2.0),
    "NaN": spoilt,
    "failed plan": unfit,
    "failed group": stopped,
    "failed before it was built": unbuilt,
}
PARTLY = (
    *("layers of a tape", "layers of a plan", "calls of a tape", "calls of a plan"),
    *("branch in a group", "failed group"),
)
ASKED = ("unborn", "failed", "part", "born", "ran", "freed", "anew", "now", "bad", "origin")
# At each step of each card, by its id: its looks, value, clock, how much is done, how many of its
# parameters have their gradients, and its cells.
SHOWN = r"""asked => {
    const slider = document.querySelector('.mg-steps');
    const card = g => {
        const text = row => g.querySelector('.mg-' + row)?.textContent ?? null;
        const done = g.querySelector('.mg-done');
        const lines = [...g.querySelectorAll('.mg-clock')].map(line => line.textContent);
        const clock = lines.length ? lines.filter(Boolean).join(' · ') : null;
        return [asked.filter(name => g.classList.contains('mg-' + name)),
            text('value'), clock, done && Number(done.getAttribute('width')),
            text('grad')?.match(/\d+[/]\d+/)?.[0] ?? '',
            [...g.querySelectorAll('.mg-cell')].map(cell => [...cell.classList].slice(1).sort())];
    };
    return Array.from({ length: Number(slider.max) + 1 }, (_, step) => {
        slider.value = step;
        slider.dispatchEvent(new Event('input'));
        const cards = [...document.querySelectorAll('g.node')];
        return Object.fromEntries(cards.map(g => [g.id, card(g)]));
    });
}"""


def told(
    film: Film, drawn: Picture, step: int, prefix: str, shown: dict[str, list[Any]]
) -> dict[str, list[Any]]:
    """What a still has on the cards that are drawn, as far as they have room for it."""
    found = {}
    for i, state in on_cards(film, step, drawn).items():
        _, value, clock, bar, *_ = shown[f"{prefix}-{i}"]
        classes = [name for name in ASKED if f"mg-{name}" in state.classes]
        wide = None if bar is None else pytest.approx(bar, abs=1) if state.done else 0
        found[f"{prefix}-{i}"] = [
            classes,
            None if value is None else state.value,
            None if clock is None else " · ".join(map(" ".join, state.clock)),
            wide,
            state.gradient if "/" in state.gradient else "",
            [sorted(looks) for looks in state.cells],
        ]
    return found


@pytest.mark.cases(3)
@pytest.mark.parametrize("name", PLAYERS)
def test_a_page_shows_a_step_as_a_still_does(
    name: str, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = PLAYERS[name]()
    page.emulate_media(reduced_motion="reduce")
    monkeypatch.setattr("viz.page.sliders.KEPT", 0)
    page.goto(player.save(tmp_path / "page.html").as_uri())
    seen: set[str] = set()
    found = page.evaluate(SHOWN, list(ASKED))
    assert len(found) == len(player.data["frames"])
    views = [film.view(film.first) for film in player.films]
    prefixes = [f"{player.data['name']}{letter}" for letter in "ab"]
    for step, shown in enumerate(found):
        expected: dict[str, list[Any]] = {}
        for film, drawn, prefix in zip(player.films, views, prefixes, strict=False):
            expected |= told(film, drawn, step, prefix, shown)
        assert shown == expected, step
        seen |= {look for looks, *_ in shown.values() for look in looks}
    assert any(cells for *_, cells in shown.values()) is name.startswith("calls")
    assert ("part" in seen) is (name in PARTLY)
    assert ("failed" in seen) is name.startswith("failed")
    assert page.errors == []


def test_an_arrow_along_which_no_value_went_is_pale(page: Page) -> None:
    page.goto(saved("step branch").as_uri())
    page.evaluate(SHOWN, list(ASKED))
    pale = page.locator("g.edge.mg-waits > title").all_text_contents()
    assert [title for title in pale if "Cond" in title] == ["Mul → Cond ()"]
