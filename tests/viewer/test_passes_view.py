"""`viz.passes`: what it shows of each pass, and a proof that can be negative."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import minigrad as mg
import viz
from minigrad.ops import elementwise
from minigrad.passes.rewrite import ON_REQUEST, PLACES
from viz.page.scenes import FOCUS
from viz.words.text import ROWS

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page


pytestmark = pytest.mark.usefixtures("english")


@pytest.mark.parametrize("name", sorted({f.__name__ for f in [*PLACES.values(), *ON_REQUEST]}))
def test_each_pass_has_a_headline(name: str) -> None:
    assert f"passes_{name}" in ROWS, (
        f"`viz.passes` has no headline for the pass {name}: write [passes_{name}] into"
        " viz/words/text.toml, beside the other passes, with `en` and `zh`: what it does, in a"
        " few words that begin with a verb"
    )


def twice() -> mg.Graph:
    """The same layer twice, a factor 1, and a constant that can be computed now."""
    x = mg.placeholder("x", shape=(4, 8))
    w = mg.Variable(np.ones((8, 3), np.float32), name="w")
    left = mg.relu(x @ w) * 1
    right = mg.relu(x @ w) + mg.constant(2.0) * 3
    return mg.build_graph(x, (left * right).mean())


# The pipeline may grow; what is told of these passes stays.
NAMES = ["tidy_shapes", "stretch", "fold_constants", "simplify", "merge_common", "remove_dead"]
NAMES += ["fuse", "remove_dead"]
EXPECTED = """\
0. Before the first pass: 14 nodes, 9 kernels, … bytes planned
  before
  inputs drawn at random for the check: x
1. Work out constants ahead of time · fold_constants: 14 → 14 nodes
  fold_constants puts 6 in place of Mul
    ¬ n9 2
    ¬ n10 3
    − n11 Mul
    + n15 6
    ~ n12 Add
  2 × 3 → 6: it depends on constants alone, so it was computed now
  nodes 14 → 14, kernels 9 → 8, bytes planned …
  both graphs were run to check: outputs (1) equal, bit for bit; gradients (2) equal, bit for bit
2. Use cheaper operators, same bits · simplify: 14 → 13 nodes
  simplify puts ReLU in place of Mul
    » n4 ReLU
    ¬ n5 1
    − n6 Mul
    ¬ n9 2
    ¬ n10 3
    ~ n13 Mul
  max(x @ w, 0) × 1 → max(x @ w, 0): the other operand leaves every number as it is, NaN"""
CAPTIONS = [
    "0. Before the first pass: 14 nodes, 9 kernels, … bytes planned",
    "1. Work out constants ahead of time · fold_constants: 14 → 14 nodes",
    "2. Use cheaper operators, same bits · simplify: 14 → 13 nodes",
    "3. Do the same work only once · merge_common: 13 → 11 nodes",
    "4. Remove what no output needs · remove_dead: 11 → 8 nodes",
    "5. Fuse neighbours into one kernel · fuse: 8 → 5 nodes",
    "6. Remove what no output needs · remove_dead: 5 → 4 nodes",
    "7. All passes together: nodes 14 → 4, kernels 9 → 2, bytes planned …",
]


def told(board: viz.Board) -> str:
    """Its text in English without the bytes, which are the plan's business."""
    text = board.text()[0]
    return re.sub(r"\d+ bytes planned|bytes planned \d+ → \d+", plan_left_out, text)


def plan_left_out(found: re.Match[str]) -> str:
    return "… bytes planned" if found[0][0].isdigit() else "bytes planned …"


@functools.cache
def every_pass() -> viz.Board:
    """The board that tests only look at."""
    return viz.passes(twice().optimize(NAMES))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of its page."""
    return every_pass().save(tmp_path_factory.mktemp("passes") / "page.html").as_uri()


def test_it_tells_each_pass_in_words() -> None:
    text = told(every_pass())
    assert text.startswith(EXPECTED), text
    assert [line for line in text.splitlines() if line[0].isdigit()] == CAPTIONS
    assert "  found nothing to change: tidy_shapes, stretch" in text


def test_what_it_marks_is_what_changed() -> None:
    """What a pass keeps is one node of the drawing, marked neither as gone nor as new."""
    graph = twice().optimize(NAMES)
    records = [r for r in graph.history if r.after is not r.before]
    for record, scene in zip(records, viz.passes(graph).scenes[1:-1], strict=True):
        (panel,) = scene.panels
        nodes = {n.id for n in panel.picture.nodes}
        arrows = {e.id for e in panel.picture.edges}
        kinds = Counter(kind for i, kind in panel.marks.items() if i in nodes)
        assert len(nodes) - kinds["new"] == len(record.before.nodes)
        assert len(nodes) - kinds["gone"] == len(record.after.nodes)
        assert kinds["gone"]
        assert set(panel.marks) <= nodes | arrows
        for e in panel.picture.edges:
            ends = {panel.marks.get(e.source), panel.marks.get(e.target)}
            assert panel.marks.get(e.id) == "gone" or "gone" not in ends


def test_the_last_step_shows_what_was_removed_and_marks_the_total() -> None:
    (before,), (panel,) = (scene.panels for scene in every_pass().scenes[-2:])
    kinds = Counter(panel.marks.get(n.id, "") for n in panel.picture.nodes)
    assert kinds == {"": 2, "moved": 1, "new": 1, "gone": 11}, "x, w and the mean are left"
    assert panel.among is before.among is not None, "all stays in its place"
    assert panel.title[0] == "The whole pipeline puts Fused in place of 11 nodes"
    scenes = every_pass().scenes
    total = [cell[0] for cell in every_pass().sheet.rows[scenes[-1].row]]
    assert total == ["The whole pipeline", "4", "2", "–"]
    assert [scene.panels[0].title in scenes[-1].facts for scene in scenes[1:]] == (
        [True] * (len(scenes) - 2) + [False]
    )


def test_the_counts_are_those_of_the_engine() -> None:
    graph = twice()
    better = graph.optimize()
    last = viz.passes(graph).scenes[-1].caption[0]
    before, after = graph.compile(optimize=False), better.compile(optimize=False)
    counts = f"kernels {before.kernels} → {after.kernels}"
    size = f"bytes planned {before.plan.bytes} → {after.plan.bytes}"
    assert counts in last
    assert size in last
    assert before.kernels > after.kernels


def test_an_optimised_graph_shows_the_passes_that_made_it() -> None:
    board = viz.passes(twice().optimize(["simplify", "remove_dead"]))
    assert [scene.caption[0] for scene in board.scenes[1:]] == [
        "Use cheaper operators, same bits · simplify: 14 → 13 nodes",
        "Remove what no output needs · remove_dead: 13 → 12 nodes",
        "All passes together: nodes 14 → 12, kernels 9 → 8, bytes planned 256 → 256",
    ]
    assert [s["key"] for s in board.data["switches"]] == ["simplify", "remove_dead"]


def half(graph: mg.Graph) -> mg.Graph:
    """A pass that is wrong: it makes every factor 1 a 0.5."""
    fresh = mg.Graph()
    with fresh:
        x = fresh.add_copy(graph.inputs[0], ())
        new = fresh.inlined(graph, [x])
        return mg.build_graph(x, new[graph.outputs[0]] * 0.5)


def test_a_pass_that_changes_results_is_found_out() -> None:
    x = mg.placeholder("x", shape=())
    graph = mg.build_graph(x, x * x).optimize([half])
    board = viz.passes(graph, {"x": 4.0})
    assert "outputs (1) at most 8 apart; gradients (1) at most 4 apart" in board.text()[0]
    assert "最多相差 8" in board.text()[1]
    assert [s["key"] for s in board.data["switches"]] == ["half"]


def simplify(graph: mg.Graph) -> mg.Graph:
    """A pass of the user's, with the name of one of ours."""
    return half(graph)


class Halved:
    def __call__(self, graph: mg.Graph) -> mg.Graph:
        return half(graph)


@pytest.mark.parametrize(
    ("own", "name"),
    [(simplify, "simplify"), (functools.partial(half), "half"), (Halved(), "Halved")],
)
def test_a_users_pass_is_shown_itself_whatever_its_name(own: Any, name: str) -> None:
    x = mg.placeholder("x", shape=())
    board = viz.passes(mg.build_graph(x, x * x).optimize([own]), {"x": 4.0})
    says = "Use cheaper operators, same bits · " if name == "simplify" else ""
    assert [s.caption[0] for s in board.scenes[1:]] == [
        f"{says}{name}: 2 → 4 nodes",
        "All passes together: nodes 2 → 4, kernels 1 → 2, bytes planned 0 → 64",
    ]
    assert "outputs (1) at most 8 apart" in board.text()[0]
    board.off = [name]
    (end,) = board.scenes[1:]
    assert end.caption[0].startswith("All passes together: nodes 2 → 2, ")


def test_a_kernel_that_is_wrong_for_one_graph_is_found_out() -> None:
    """The runs are real: what a kernel does wrong from its second run on shows."""
    x = mg.placeholder("x", shape=(3,))
    graph = mg.build_graph(x, mg.exp(x) * 1)
    calls: list[int] = []
    kernel = elementwise.exp.run

    def wrong(out: Any, *arrays: Any) -> Any:
        calls.append(1)
        return kernel(out, *arrays) + np.float32(len(calls) > 1)

    object.__setattr__(elementwise.exp, "run", wrong)
    try:
        text = viz.passes(graph).text()[0]
    finally:
        object.__setattr__(elementwise.exp, "run", kernel)
    assert "outputs (1) at most 1 apart" in text


def test_passes_are_switched_off_by_the_kernel() -> None:
    board = viz.passes(twice().optimize(NAMES))
    board.off = ["fuse", "merge_common"]
    captions = " ".join(scene.caption[0] for scene in board.scenes)
    assert "fuse:" not in captions
    assert "merge_common:" not in captions
    assert "simplify:" in captions
    assert [s["on"] for s in board.data["switches"] if s["key"] == "fuse"] == [False]
    board.off = []
    assert told(board).startswith(EXPECTED)


def test_open_shapes_integers_variables_of_a_session_and_gradient_nodes() -> None:
    x = mg.placeholder("x", shape=(None, 4))
    labels = mg.placeholder("labels", shape=(None,), dtype=mg.int64)
    w = mg.Variable(np.ones((4, 3), np.float32), name="w")
    loss = mg.cross_entropy(x @ w, labels)
    graph = mg.build_graph([x, labels], [loss, *mg.gradients(loss, [w])])
    with mg.Session() as sess:
        sess.run(mg.global_variables_initializer())
        board = viz.passes(graph, {"x": np.ones((2, 4)), "labels": [0, 2]}, session=sess)
    assert "outputs (2)" in board.text()[0]
    assert "drawn at random" not in board.text()[0]
    assert "x, labels" in viz.passes(graph).text()[0]


def test_branches_inside_and_updates_of_variables() -> None:
    x = mg.placeholder("x", shape=())
    y = mg.cond(x > 0, lambda: x * 1 + x * 1, lambda: x - 1)
    assert "merge_common" in viz.passes(mg.build_graph(x, y)).text()[0]
    v = mg.Variable(2.0, name="v")
    update = mg.assign(v, v - 0.1 * v * 1)
    text = viz.passes(mg.build_graph([], update)).text()[0]
    assert "outputs (1) equal" in text
    assert v.attrs["value"] == 2.0


@pytest.mark.parametrize("wrong", [None, 3, "graph"])
def test_other_things_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"mg\.build_graph"):
        viz.passes(wrong)


def test_of_a_large_graph_the_changes_and_their_neighbours_are_drawn() -> None:
    x = mg.placeholder("x", shape=(3,))
    y = x
    for _ in range(80):
        y = mg.exp(y * 2.0)
    board = viz.passes(mg.build_graph(x, y * 1).optimize(["simplify"]))
    drawn = board.data["drawings"][board.data["scenes"][1]["panels"][0]["drawing"]]
    assert 0 < len(drawn["nodes"]) < 10
    json.dumps(board.data, allow_nan=False)


def test_what_a_page_holds_is_drawn_whole_pass_by_pass(tmp_path: Path) -> None:
    """So that the same node has the same place before and after."""
    a = mg.placeholder("a", shape=(4, 8))
    y: Any = a
    for i in range(5):
        w, b = (mg.Variable(np.ones(s, np.float32), name=f"v{i}") for s in ((8, 8), (8,)))
        y = mg.tanh((y @ w + b) * 1) + mg.tanh((y @ w + b) * 1) + mg.constant(2.0) * 3
    board = viz.passes(mg.build_graph(a, y.sum()))
    pictures = [panel.picture for scene in board.scenes for panel in scene.panels]
    assert 80 < max(len(picture.nodes) for picture in pictures) <= FOCUS
    for picture, drawing in zip(pictures, board.data["drawings"], strict=True):
        assert len(drawing["nodes"]) == len(picture.nodes)
    assert board.save(tmp_path / "page.html").stat().st_size < 1_000_000


# ---- In the browser -----------------------------------------------------------------------------


def marked(page: Page, number: int) -> set[str]:
    found = (
        page.locator(".mg-graph")
        .nth(number)
        .locator("g.node")
        .evaluate_all("nodes => nodes.map(n => n.getAttribute('class'))")
    )
    return {c for names in found for c in names.split()} - {"node", "mg-bare"}  # no marks


@pytest.mark.browser
def test_a_saved_page_replays_the_passes(saved: str, page: Page) -> None:
    page.goto(saved)
    assert page.locator(".mg-graph:visible").count() == 1
    page.locator(".mg-board").focus()
    page.keyboard.press("ArrowRight")
    said = page.locator(".mg-caption").inner_text().replace("\xa0", " ")
    assert said.endswith("fold_constants: 14 → 14 nodes")
    assert page.locator(".mg-graph:visible").count() == 1
    assert {"mg-gone", "mg-moved", "mg-new", "mg-idle"} <= marked(page, 0)
    words = page.locator(".mg-graph g.node .mg-word tspan[lang=en]").all_text_contents()
    assert sorted(words) == ["new", "removed", "rewired", "unused", "unused"]
    assert page.locator(".mg-gone .mg-word").is_visible()
    assert page.locator(".mg-new .mg-word").is_visible()
    assert page.locator("figcaption").first.inner_text() == "fold_constants puts 6 in place of Mul"
    assert "computed now" in page.locator(".mg-facts").inner_text()
    page.get_by_role("button", name="中文", exact=True).click()
    assert "14\xa0个节点" in page.locator(".mg-caption").inner_text()
    assert "删除" in page.locator(".mg-legend").inner_text()
    assert page.locator(".mg-switches input").count() == 0, "nothing to switch without a kernel"
    assert "运行着的 notebook" in page.locator(".mg-switches").inner_text()
    assert "常量提前算好" in page.locator(".mg-caption").inner_text()
    page.locator(".mg-graph").first.locator("g.node").first.click()
    assert "x" in page.locator(".mg-inspector h2").inner_text()
    page.keyboard.press("End")
    assert {"mg-new", "mg-gone"} <= marked(page, 0)
    assert page.errors == []


@pytest.mark.browser
def test_in_a_narrow_cell_all_is_read_and_what_was_removed_says_what_it_was(
    saved: str, page: Page
) -> None:
    page.set_viewport_size({"width": 770, "height": 780})
    page.goto(saved)
    page.locator(".mg-board").focus()
    page.keyboard.press("End")
    gone = page.locator("g.node.mg-gone > .mg-short")
    assert gone.count() > 5
    assert gone.locator(".mg-short-word").count() == 0, "its outline says it"
    for part in (".mg-facts", ".mg-sheet"):
        over = page.locator(f".mg-below > {part}").evaluate("e => e.scrollHeight - e.clientHeight")
        assert over <= 0, part
