"""Pictures on top of each other: which boxes are one, and that they stand in one place."""

from __future__ import annotations

import re

import pytest

import minigrad as mg
import viz
from viz.page.player import Player
from viz.picture.aligning import alignment
from viz.picture.boxes import Picture
from viz.picture.drawing import render
from viz.picture.picture import picture
from viz.picture.union import BoxIds, renamed, union

pytestmark = pytest.mark.usefixtures("english")

# The cards of a drawing: their ids, and where they are.
CARDS = re.compile(
    r'id="([^"]+)" class="node[^>]*?transform="([^"]+)".*?<rect class="mg-card" [^>]*>'
)


def drawn(sign: float) -> Picture:
    """2x, or x − 1."""
    x = mg.tensor(sign, requires_grad=True, name="x")
    return picture(2 * x if sign > 0 else x - 1)


def together() -> list[Picture]:
    names = BoxIds(lambda n: (n.kind, n.op, n.name, n.inputs))
    return [renamed(p, names.of(p)) for p in (drawn(3.0), drawn(-3.0))]


def places(svg: str) -> dict[str, str]:
    found = re.findall(r'id="p-([^"]*)" class="node[^"]*" transform="([^"]*)"', svg)
    return dict(found)


def test_two_films_are_laid_out_as_one() -> None:
    """Where one has a node more, all others are still in the same places, and of one size."""
    x = mg.tensor(2.0, requires_grad=True, name="x")
    with mg.Graph():
        p = mg.placeholder("x", shape=())
        films = [viz.step(f).films[0] for f in (x * x + 3 + x, p * p * 100.25 + 3 + p)]
    links = [alignment(films[0].picture, films[1].picture)]
    player = Player(films, None, links)
    drawn = [dict(CARDS.findall(g["views"][g["shown"]]["svg"])) for g in player.data["graphs"]]
    partners = {i: j for j, i in player.data["links"].items()}
    assert len(partners) == len(drawn[0]) == len(drawn[1]) - 2
    assert {drawn[0][i] for i in partners} == {drawn[1][j] for j in partners.values()}
    alone = Player(films).data["graphs"]
    apart = [dict(CARDS.findall(g["views"][g["shown"]]["svg"])) for g in alone]
    assert {*apart[0].values()} != {*apart[1].values()} & {*apart[0].values()}


def test_what_is_about_the_same_is_one_box() -> None:
    left, right = together()
    both = union(left, right)
    assert [n.label for n in both.nodes].count("x") == 1
    assert len(both.nodes) == len(left.nodes) + len(right.nodes) - 1
    assert {e.id for e in both.edges} == {e.id for p in (left, right) for e in p.edges}
    assert {n.id for n in both.nodes if n.is_output} == {p.nodes[-1].id for p in (left, right)}


def test_boxes_of_one_picture_stay_apart() -> None:
    x = mg.tensor(1.0, requires_grad=True, name="x")
    whole = picture(x * x + x * x)
    new = BoxIds(lambda n: (n.op, n.inputs)).of(whole)
    assert len(set(new.values())) == len(whole.nodes)


def test_each_stands_where_it_stands_in_the_union() -> None:
    left, right = together()
    both = union(left, right)
    whole = places(render(both, "p"))
    for part in (left, right):
        svg = render(part, "p", among=both)
        assert places(svg) == {n.id: whole[n.id] for n in part.nodes}
        assert svg.count('class="edge') == len(part.edges)


def test_a_card_is_as_large_as_the_largest_of_its_name() -> None:
    """Else arrows would end beside it."""
    small, large = (
        renamed(p, {n.id: n.id for n in p.nodes})
        for p in (picture(mg.tensor(1.0) + 1), picture(mg.tensor([[1.0] * 1000]) + 1))
    )
    sizes = [
        re.findall(r'class="mg-card" width="(\d+)" height="(\d+)"', render(p, "p", among=both))
        for both in (union(small, large), union(large, small))
        for p in (small, large)
    ]
    assert sizes[0] == sizes[1] == sizes[2] == sizes[3]


def test_arrows_that_turn_around_do_not_hang_it() -> None:
    """What reads whom may be the other way round in another picture."""
    x = mg.tensor(1.0, requires_grad=True, name="x")
    one, other = picture(mg.exp(mg.sin(x))), picture(mg.sin(mg.exp(x)))
    names = BoxIds(lambda n: n.op)
    both = union(*(renamed(p, names.of(p)) for p in (one, other)))
    assert len(both.nodes) == 3
    assert render(both, "p").count('class="node') == 3
