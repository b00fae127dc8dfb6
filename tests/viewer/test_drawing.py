"""From a picture to SVG: ids, hostile names, groups, and what a card shows."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from math import dist

import pytest
from examples import digits, e1, e5

import minigrad as mg
import viz
from minigrad.diagnostics.messages import set_language
from viz.picture import drawing, fonts, look, place
from viz.picture.cards import NAME_LIMIT, CardSpace, Clock, State, one_language
from viz.picture.drawing import cards_of, render, source
from viz.picture.layout import LayoutError
from viz.picture.picture import Picture, PictureNode, picture
from viz.picture.place import Box, Course, Places
from viz.picture.references import references
from viz.picture.theme import FONT_PATH
from viz.picture.wrap import wrapped

pytestmark = pytest.mark.usefixtures("drawn_anew")

KINDS = ("node", "edge", "cluster")
CLOCK: Clock = (("built at step 1", "第 1 步构建"), ("ran at step 3", "第 3 步运行"))
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "markup": "<b>",
    "table": "<table><tr><td>x</td></tr></table>",
    "quotes": "\"'`",
    "backslash": "back\\",
    "escapes": "\\N \\G \\n",
    "entity": "a & b &amp; &lt;",
    "braces": "{x|y} %s",
    "semicolon": '"]; n2 [label="x',
    "chinese": "输入「甲」",
    "emoji": "😀",
    "right to left": "مرحبا",
}
BECOME_SPACES = {
    "newline": "a\nb",
    "return": "a\r\nb",
    "tab": "a\tb",
    "null": "a\0b",
    "control": "a\x01b",
    "c1": "a\x85b",
    "nonsense": "a\ufffeb",
}


def named(name: str) -> Picture:
    return picture(mg.tensor(1.0, requires_grad=True, name=name) * 2)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in elements(one_language(svg, "en"), "text")]


def elements(svg: str, tag: str) -> list[ET.Element]:
    """All elements of a kind; those of a page have no namespace."""
    return [e for e in ET.fromstring(svg).iter() if e.tag.rpartition("}")[2] == tag]


def ids(svg: str) -> dict[str, str]:
    """The class of every node, edge and cluster by its id."""
    groups = [g for g in ET.fromstring(svg).iter() if g.tag.endswith("}g") or g.tag == "g"]
    known = {g.get("id", ""): g.get("class", "graph").split()[0] for g in groups}
    return {i: c for i, c in known.items() if c != "graph"}


def dot_of(drawn: Picture) -> str:
    """The DOT text of a picture."""
    return source(drawn, cards_of(drawn, {}))


def titles(svg: str) -> list[str]:
    groups = [g for g in elements(svg, "g") if g.get("class", "").split()[0] in KINDS]
    return sorted(next((t.text or "" for t in g if t.tag.endswith("title")), "") for g in groups)


def test_every_node_and_edge_has_an_id_with_the_prefix() -> None:
    drawn = picture(e1())
    found = ids(render(drawn, "pre"))
    assert found == {f"pre-{n.id}": "node" for n in drawn.nodes} | {
        f"pre-{e.id}": "edge" for e in drawn.edges
    }


@pytest.mark.parametrize("values", [False, True], ids=["plain", "with values"])
@pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_name_is_shown_as_text(name: str, values: bool) -> None:
    drawn = named(name)
    svg = render(drawn, "p", {n.id: CardSpace(9, True, 2) for n in drawn.nodes} if values else {})
    assert name in texts(svg)
    tags = {e.tag.rpartition("}")[2] for e in ET.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "title", "text", "tspan", "rect", "path"}
    hrefs = [v for e in ET.fromstring(svg).iter() for k, v in e.attrib.items() if "href" in k]
    assert hrefs == []


@pytest.mark.parametrize("name", BECOME_SPACES.values(), ids=list(BECOME_SPACES))
def test_what_xml_cannot_hold_becomes_a_space(name: str) -> None:
    assert "a b" in texts(render(named(name), "p"))


def test_half_of_a_character_is_escaped() -> None:
    assert "a\\ud800b" in texts(render(named("a\ud800b"), "p"))


@pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_groups_and_static_names(name: str) -> None:
    """The engine may refuse such a name itself; what it takes is shown as it is."""
    box = PictureNode("n1", "operator", name, "", "()", group=name, line=name, is_output=True)
    drawn = texts(render(Picture((box,), (), "static", {}), "p"))
    shown = sorted(text for text in drawn if text != "● output")
    assert shown == sorted([*name.split("/"), name]), "a group in a group has its own frame"


def test_a_long_name_is_shortened_in_the_drawing_only() -> None:
    name = "x" * 10_000
    shown = max(texts(render(named(name), "p")), key=len)
    assert len(shown) == NAME_LIMIT
    assert shown.endswith("…")
    assert len(dot_of(named(name))) < 2_000
    assert name in viz.draw(mg.tensor(1.0, name=name)).html


def test_layers_become_clusters() -> None:
    loss = digits()[1]
    assert len(re.findall(r"subgraph cluster_\d+", dot_of(picture(loss)))) == 4
    svg = render(picture(loss), "p")
    assert {"linear1", "relu1", "linear2", "loss"} <= set(texts(svg))
    assert list(ids(svg).values()).count("cluster") == 4


def card(svg: str, i: str) -> dict[str, str]:
    """What a card says, by the class of each text in it."""
    (group,) = (g for g in elements(one_language(svg, "en"), "g") if g.get("id") == i)
    found: dict[str, str] = {}
    for t in (t for t in group if t.tag == "text"):
        lines = [found.get(t.get("class", "")), "".join(t.itertext())]
        found[t.get("class", "")] = "\n".join(filter(None, lines))
    return found


def test_a_card_tells_kind_sign_name_value_and_gradient() -> None:
    drawn = picture(e1())
    rooms = {n.id: CardSpace(4, True, 2, True) for n in drawn.nodes}
    states = {"n2": State(("mg-ran",), "4", "1", CLOCK)}
    svg = render(drawn, "p", rooms, states)
    assert card(svg, "p-n2") == {
        "mg-what": "○ operator",
        "mg-name": "Mul",
        "mg-sign": "×",
        "mg-value": "4",
        "mg-grad": "∂ 1",
        "mg-clock": "built at step 1\nran at step 3",
    }
    assert card(svg, "p-n1")["mg-sign"] == "x"
    assert card(svg, "p-n4")["mg-what"] == "● output"


def test_a_row_that_may_come_later_has_its_room_from_the_start() -> None:
    drawn = picture(e1())
    rooms = {n.id: CardSpace(4, True, 2) for n in drawn.nodes}
    empty = render(drawn, "p", rooms)
    full = render(drawn, "p", rooms, {n.id: State(("mg-ran",), "4", "1") for n in drawn.nodes})
    rects = [[e.attrib for e in elements(svg, "rect")] for svg in (empty, full)]
    assert rects[0] == rects[1]


@pytest.mark.parametrize("obj", [e1, e5, lambda: digits()[1]], ids=["e1", "e5", "digits"])
def test_boxes_do_not_overlap_and_words_stay_inside(obj: object) -> None:
    drawn = picture(obj())  # type: ignore[operator]
    rooms = {n.id: CardSpace(6, True, 2) for n in drawn.nodes}
    cards = cards_of(drawn, rooms)
    boxes = list(place.places(source(drawn, cards)).nodes.values())
    for k, a in enumerate(boxes):
        for b in boxes[:k]:
            apart = a.x + a.width <= b.x or b.x + b.width <= a.x
            assert apart or a.y + a.height <= b.y or b.y + b.height <= a.y
    for i, made in cards.items():
        there = place.places(source(drawn, cards)).nodes[i]
        assert (there.width, there.height) == pytest.approx(made.size, abs=1), "as asked for"


@pytest.mark.parametrize("value", [0, 12])
def test_a_compact_card_of_many_numbers_has_their_colours_only(value: int) -> None:
    drawn = picture(mg.zeros((8, 64)))
    room = CardSpace(value, swatch=True, back=True, compact=1)
    (card,) = cards_of(drawn, {n.id: room for n in drawn.nodes}).values()
    assert max(card.size) < 120, "on a phone"


def test_what_fits_runs_to_the_right_and_what_does_not_runs_down() -> None:
    drawn = picture(e1())
    assert "rankdir=LR" in source(drawn, cards_of(drawn, {}), 500)
    assert "rankdir=TB" in source(drawn, cards_of(drawn, {}), 300)


def test_a_long_graph_goes_on_in_rows() -> None:
    """All of it is seen larger; no arrow crosses a card; what is given is where it is read."""
    y = x = mg.tensor(1.0, requires_grad=True, name="x")
    for k in range(24):  # of no rounds, which would be a strip
        y = [mg.tanh, mg.exp, mg.sin, mg.cos][k * k * k % 29 % 4](y) + (x if k == 20 else 1)
    drawn = picture(y)
    assert not drawn.groups
    cards = cards_of(drawn, {n.id: CardSpace(6, True, 2) for n in drawn.nodes})
    row, there = place.places(source(drawn, cards, 800)), drawing.laid_out(drawn, cards, 800)
    assert row is not None
    assert min(800 / there.width, 420 / there.height) > 2 * 800 / row.width
    boxes = there.nodes
    for i, a in boxes.items():
        assert 0 <= a.x <= there.width - a.width
        assert 0 <= a.y <= there.height - a.height
        for j, b in boxes.items():
            apart = a.x + a.width <= b.x or b.x + b.width <= a.x
            assert i == j or apart or a.y + a.height <= b.y or b.y + b.height <= a.y
    given = {n.id for n in drawn.nodes if not n.inputs and n.name != "x"}
    around = 0
    for e in drawn.edges:
        course = there.edges[e.id]
        if e.source in given:
            assert abs(boxes[e.source].y - boxes[e.target].y) < 150, "in one row"
        px, py = course.points[-1]
        box = boxes[e.target]
        assert box.x - 9 <= px <= box.x + box.width + 9
        assert box.y - 9 <= py <= box.y + box.height + 9
        around += course.points[0][0] > course.points[-1][0] + 100
        others = [b for i, b in boxes.items() if i not in (e.source, e.target)]
        for px, py in along(course.points):
            hit = [b for b in others if 2 < px - b.x < b.width - 2 and 2 < py - b.y < b.height - 2]
            assert hit == [], e
    assert around >= 2, "some go on in the next row"


def test_a_frame_that_is_longer_than_a_row_goes_on_in_the_next() -> None:
    """With all cards of its group in it, and no other."""
    y = mg.tensor(1.0, requires_grad=True, name="x") * 1.5
    with mg.name_scope("long"):
        for _ in range(30):
            y = y * 0.5
    drawn = picture(y + 1).fold(["long"])
    cards = cards_of(drawn, {n.id: CardSpace(6, True, 2) for n in drawn.nodes})
    there = drawing.laid_out(drawn, cards, 800)
    parts = [there.frames["c0"][0], *there.further["c0"]]
    assert len(parts) > 2
    for n in drawn.nodes:
        box = there.nodes[n.id]
        x, y = box.x + box.width / 2, box.y + box.height / 2
        around = [p for p in parts if p.x < x < p.x + p.width and p.y < y < p.y + p.height]
        assert len(around) == (n.group == "long"), n.label
    assert render(drawn, "p", width=800).count('class="mg-frame"') > 2


def along(points: tuple[place.Point, ...]) -> Iterator[place.Point]:
    """Points on a row of cubic curves."""
    for k in range(0, len(points) - 3, 3):
        (a, b), (c, d), (e, f), (g, h) = points[k : k + 4]
        for t in (0.0, 0.25, 0.5, 0.75, 1.0):
            u = 1 - t
            w = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
            yield (
                sum(x * y for x, y in zip((a, c, e, g), w, strict=True)),
                sum(x * y for x, y in zip((b, d, f, h), w, strict=True)),
            )


def test_the_lanes_of_two_arrows_side_by_side_are_outside_of_both() -> None:
    x = mg.tensor(2.0, requires_grad=True)
    drawn = picture(x * x)
    laid = drawing.Drawing(drawn, "d", {n.id: CardSpace(8, 8) for n in drawn.nodes})
    arrows, lanes = (
        [points[len(points) // 2] for points in (laid.way(e, back) for e in drawn.edges)]
        for back in (False, True)
    )
    assert dist(*lanes) > dist(*arrows) + drawing.ASIDE


def test_a_lane_ends_at_the_nearest_border_however_far_its_handle_is() -> None:
    card = Box(0, 0, 100, 40)
    end, handle = drawing._lane_end((80, -3), (80, -200), (40, -20), card, 0)
    assert (end, handle) == ((80, 0), (80, -200))


@pytest.mark.parametrize("width", [300, 940])
def test_a_gradient_goes_from_border_to_border_with_its_tip(width: int) -> None:
    drawn = picture(e5())
    rooms = {n.id: CardSpace(8, 8) for n in drawn.nodes}
    laid = drawing.Drawing(drawn, "d", rooms, width)
    for e in drawn.edges:
        start, end = laid.way(e, True)[0], laid.way(e, True)[-1]
        for (x, y), i, gap in ((start, e.target, 0), (end, e.source, drawing.TIP)):
            box = laid.there.nodes[i]
            aside = max(box.x - x, x - box.x - box.width, box.y - y, y - box.y - box.height)
            assert aside == pytest.approx(gap, abs=0.6), e
        assert "mg-lane-tip" in laid.edge(e)


@pytest.mark.parametrize("width", [300, 940])
def test_a_gradient_reaches_a_reference_beside_its_arrow(width: int) -> None:
    x = y = mg.tensor(1.0, requires_grad=True, name="x")
    for _ in range(12):
        y = mg.tanh(y) * x
    drawn = picture(y)
    laid = drawing.Drawing(drawn, "d", {n.id: CardSpace(8, 8) for n in drawn.nodes}, width)
    begins = {r.drawn[0].id: laid.there.nodes[r.id] for r in references(drawn)}
    arrows = [e for e in drawn.edges if e.id in begins]
    assert len(arrows) > 5
    for e in arrows:
        (start, near), box = laid.way(e)[:2], begins[e.id]
        handle, end = laid.way(e, True)[-2:]
        across = drawing._normal((end, handle)), drawing._normal((start, near))
        assert across[0] == pytest.approx(across[1], abs=0.35), "neither turns away"
        tip = end[0] - across[0][1] * drawing.TIP, end[1] + across[0][0] * drawing.TIP
        sides = (box.x - tip[0], tip[0] - box.x - box.width)
        aside = max(*sides, box.y - tip[1], tip[1] - box.y - box.height)
        assert abs(aside) < drawing.ASIDE, "its head is at the reference"


def test_a_plan_is_an_outline_and_what_ran_is_filled() -> None:
    plan, ran = (look.resolved(["node", kind], "mg-card") for kind in ("mg-born", "mg-ran"))
    assert plan["fill"] == "none"
    assert plan["stroke-dasharray"] != "none", "also without colour"
    assert ran["fill"] != "none"
    assert ran["stroke-dasharray"] == "none"


def test_a_shape_is_written_on_an_edge_only_where_it_is_news() -> None:
    assert "mg-edge-label" not in render(picture(e1()), "p")
    with mg.Graph():
        x = mg.placeholder("x", shape=(2, 3))
        (gradient,) = mg.gradients(x.sum(), [x])
    assert "mg-edge-control" in render(picture(gradient), "p")


def test_a_thousand_nodes_are_not_too_large() -> None:
    assert drawing.LAYOUT_LIMIT >= 1_000


def test_a_graph_that_is_too_large_is_not_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "layout", lambda *_: pytest.fail("was laid out"))
    monkeypatch.setattr(drawing, "LAYOUT_LIMIT", 3)
    with pytest.raises(LayoutError, match="4 nodes are too many") as failed:
        render(picture(e1()), "p")
    assert all("mg.name_scope" in half for half in failed.value.pair)


def test_a_drawing_is_never_shrunk() -> None:
    svg = render(picture(e1()), "p")
    assert re.match(r'<svg class="mg-svg" width="(\d+)" height="(\d+)" viewBox="0 0 \1 \2">', svg)
    image = drawing.as_image(svg, "alt")
    assert "overflow-x:auto" in image
    assert "max-width:none" in image


def test_the_same_text_is_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    once = render(picture(e1()), "p")
    monkeypatch.setattr(place, "layout", lambda *_: pytest.fail("was laid out again"))
    assert render(picture(e1()), "p") == once


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_drawing_that_stands_alone_speaks_one_language(language: str) -> None:
    set_language(language)
    alone = drawing.alone(render(picture(e1()), "p"))
    assert ("○ operator<" in alone, "○ 算子<" in alone) == (language == "en", language == "zh")
    assert "lang=" not in alone
    assert "prefers-color-scheme: dark" in alone


@pytest.mark.parametrize("text", ["构建 3 · ∂", "魑魅 of words that are not ours"])
def test_a_piece_of_the_font_is_the_same_from_the_smaller_one(text: str) -> None:
    """What was cut before is cut again, which is quicker than the whole."""
    whole = fonts._cut(FONT_PATH.open("rb"), text, "woff")
    assert fonts._cut(fonts._subset_font(text), text, "woff") == whole


def course(a: Box, b: Box) -> Course:
    """A straight arrow."""
    x, y, far = a.x + a.width, a.y + a.height / 2, b.x - a.x - a.width
    return Course(((x, y), (x + far / 3, y), (x + 2 * far / 3, y), (b.x, y)), ((b.x, y),), None)


def test_no_row_ends_where_many_arrows_would_go_around_it() -> None:
    """A chain goes on in rows; where most of its cards are read at its end, they stay together."""
    nodes = {f"n{i}": Box(i * 200.0, 0.0, 100.0, 50.0) for i in range(9)}
    chain = {f"e{i}": (f"n{i}", f"n{i + 1}") for i in range(8)}
    late = {f"l{i}": (f"n{i}", "n8") for i in range(7)}

    def heights(ends: dict[str, tuple[str, str]]) -> list[float]:
        edges = {i: course(nodes[a], nodes[b]) for i, (a, b) in ends.items()}
        there = Places(1700.0, 50.0, nodes, edges, {})
        return [box.y for box in wrapped(there, ends, 700, 500).nodes.values()]

    assert len({*heights(chain)[2:]}) > 1
    assert len({*heights(chain | late)[2:]}) == 1
