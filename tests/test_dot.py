"""From a picture to SVG: ids, hostile names, groups."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from test_picture import digits, e1, e5

import minigrad as mg
import viz
from viz.picture import dot
from viz.picture.picture import Picture, PictureNode, picture
from viz.picture.theme import STYLES

pytestmark = pytest.mark.usefixtures("drawn_anew")

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ("node", "edge", "cluster")
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
    "surrogate": "a\ud800b",
}


def named(name: str) -> Picture:
    return picture(mg.tensor(1.0, requires_grad=True, name=name) * 2)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter(f"{SVG}text")]


def ids(svg: str) -> dict[str, str]:
    """The class of every node, edge and cluster by its id."""
    groups = ET.fromstring(svg).iter(f"{SVG}g")
    return {g.get("id", ""): c for g in groups if (c := g.get("class", "graph")) != "graph"}


def titles(svg: str) -> list[str]:
    groups = ET.fromstring(svg).iter(f"{SVG}g")
    return sorted(g.findtext(f"{SVG}title", "") for g in groups if g.get("class") in KINDS)


def test_every_node_and_edge_has_an_id_with_the_prefix() -> None:
    drawn = picture(e1())
    found = ids(dot.render(drawn, "pre"))
    assert found == {f"pre-{n.id}": "node" for n in drawn.nodes} | {
        f"pre-{e.id}": "edge" for e in drawn.edges
    }


@pytest.mark.parametrize("values", [False, True], ids=["plain", "with values"])
@pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_name_is_shown_as_text(name: str, values: bool) -> None:
    svg = dot.render(named(name), "p", values=values)
    assert name in texts(svg)
    tags = {e.tag.rpartition("}")[2] for e in ET.fromstring(svg).iter()}
    assert tags <= {"svg", "g", "title", "text", "ellipse", "polygon", "path", "a", "polyline"}
    hrefs = [v for e in ET.fromstring(svg).iter() for k, v in e.attrib.items() if "href" in k]
    assert hrefs == []


@pytest.mark.parametrize("name", BECOME_SPACES.values(), ids=list(BECOME_SPACES))
def test_what_xml_cannot_hold_becomes_a_space(name: str) -> None:
    assert "a b" in texts(dot.render(named(name), "p"))


@pytest.mark.parametrize("name", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_groups_and_static_names(name: str) -> None:
    """The engine may refuse such a name itself; what it takes is shown as it is."""
    box = PictureNode("n1", "operator", name, "", "()", group=name, line=name, is_output=True)
    drawn = texts(dot.render(Picture((box,), (), "static", {}), "p"))
    assert sorted(drawn) == sorted([*name.split("/"), name]), "a group in a group has its own frame"


def test_a_long_name_is_shortened_in_the_drawing_only() -> None:
    name = "x" * 10_000
    shown = texts(dot.render(named(name), "p"))
    assert max(map(len, shown)) == dot.NAME_LIMIT
    assert shown[0].endswith("…")
    assert len(dot.dot(named(name), "p")) < 2_000
    assert name in viz.draw(mg.tensor(1.0, name=name)).html


def test_layers_become_clusters() -> None:
    loss = digits()[1]
    source = dot.dot(picture(loss), "p")
    assert len(re.findall(r"subgraph cluster_\d+", source)) == 4
    svg = dot.render(picture(loss), "p")
    assert {"linear1", "relu1", "linear2", "loss"} <= set(texts(svg))
    assert list(ids(svg).values()).count("cluster") == 4


def test_shape_colour_and_outline_follow_the_theme() -> None:
    lines = dot.dot(picture(e5()), "p").splitlines()
    first, last = (next(x for x in lines if f'id="p-{i}"' in x) for i in ("n1", "n6"))
    assert f"shape={STYLES['parameter'].shape}" in first
    assert STYLES["parameter"].fill in first
    assert "peripheries=1" in first
    assert "peripheries=2" in last
    assert STYLES["output"].fill in last


def test_a_shape_is_written_on_an_edge_only_where_it_is_news() -> None:
    edges = [line for line in dot.dot(picture(e1()), "p").splitlines() if "->" in line]
    assert edges
    assert all('label=""' in line for line in edges)
    with mg.Graph():
        x = mg.placeholder("x", shape=(2, 3))
        (gradient,) = mg.gradients(x.sum(), [x])
        dotted = [x for x in dot.dot(picture(gradient), "p").splitlines() if "style=dotted" in x]
    assert dotted


def test_values_get_a_line_of_their_own() -> None:
    plain, roomy = (texts(dot.render(picture(e1()), "p", values=v)) for v in (False, True))
    assert len(roomy) == len(plain) + 4


def test_a_thousand_nodes_are_not_too_large() -> None:
    assert dot.LAYOUT_LIMIT >= 1_000


def test_a_graph_that_is_too_large_is_not_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dot, "image", lambda *_: pytest.fail("was laid out"))
    monkeypatch.setattr(dot, "LAYOUT_LIMIT", 3)
    with pytest.raises(dot.LayoutError, match="4 nodes are too many") as failed:
        dot.render(picture(e1()), "p")
    assert all("mg.name_scope" in half for half in failed.value.pair)


def test_the_drawing_never_grows_wider_than_its_place() -> None:
    svg = dot.render(picture(e1()), "p")
    assert re.match(r'<svg style="width:\d+px;max-width:100%;height:auto"', svg)
    assert "<?xml" not in svg
    assert "<!DOCTYPE" not in svg


def test_the_same_text_is_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    once = dot.render(picture(e1()), "p")
    monkeypatch.setattr(dot, "image", lambda *_: pytest.fail("was laid out again"))
    assert dot.render(picture(e1()), "p") == once
