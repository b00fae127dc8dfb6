"""`viz.batches`: which operations of the samples ran as one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import minigrad as mg
import viz

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")

W = mg.randn(4, 4, seed=0, requires_grad=True)
W.name = "w"


def encode(tree: Any) -> Any:
    if not isinstance(tree, tuple):
        return mg.tensor([tree] * 4)
    return mg.tanh((encode(tree[0]) + encode(tree[1])) @ W)


def two() -> Any:
    """((1, 2), 3) and (1, 2): one product in both, one in the first alone."""
    return [encode(((1.0, 2.0), 3.0)), encode((1.0, 2.0))]


TWO = """\
0. 9 operations were noted and have not run; they will run in 6 groups
  the samples, and the group in which each operation ran
1. group 1: Add × 2, as one kernel, a row for each
  the samples, and the group in which each operation ran
    ▶ n3 Add: 1
    ▶ n13 Add: 1
2. group 2: MatMul × 2, as one kernel, a row for each
  the samples, and the group in which each operation ran
    ▶ n5 MatMul: 2
    ▶ n14 MatMul: 2
3. group 3: Tanh × 2, as one kernel, a row for each
  the samples, and the group in which each operation ran
    ▶ n6 Tanh: 3
    ▶ n15 Tanh: 3
4. group 4: Add × 1, alone
  the samples, and the group in which each operation ran
    ▶ n8 Add: 4
5. group 5: MatMul × 1, alone
"""


def test_two_trees() -> None:
    board = viz.batches(two)
    assert board.text()[0].startswith(TWO), board.text()[0]
    assert board.verdict[0].startswith("kernels: 9 without batching, ")


def test_the_groups_and_kernels_are_those_of_the_engine() -> None:
    with mg.record() as log, mg.lazy_batch():
        two()
    with mg.record() as plain:
        two()
    board = viz.batches(log)
    groups = log.of_kind("group")
    assert [line[2][0] for line in board.sheet.rows] == [str(e.node.size) for e in groups]
    assert board.verdict[0] == f"9 operations of the samples ran with {log.counts.kernels} kernels"
    measured = f"{plain.counts.kernels} without batching, {log.counts.kernels} with it"
    assert measured in viz.batches(two).verdict[0]
    for step, event in enumerate(groups, 1):
        (panel,) = board.scenes[step].panels
        now = [panel.picture.ids[note] for note in event.node.members]
        assert [i for i, kind in panel.marks.items() if kind == "now"] == now


def test_what_ran_stays_lit_and_what_waits_is_dashed() -> None:
    board = viz.batches(two)
    kinds = [set(scene.panels[0].marks.values()) for scene in board.scenes]
    assert kinds[0] == {"waits"}
    assert kinds[1] == {"now", "waits"}
    assert kinds[2] == {"ran", "now", "waits"}
    assert kinds[-1] == {"ran", "now"}


def test_operands_and_samples_are_drawn_as_they_were_written() -> None:
    text = viz.batches(two).scenes[0].panels[0].picture.text()
    assert text.splitlines()[:6] == [
        "n1: data (4,)",
        "n2: data (4,)",
        "n3: Add(data, data) (4,)",
        "n4: w = tensor (4, 4)",
        "n5: MatMul(Add, w) (4,)",
        "n6: Tanh(MatMul) (4,)",
    ]
    assert text.count("-> output") == 2


def test_eight_random_trees_need_many_times_fewer_kernels() -> None:
    draw = random.Random(0)

    def tree(leaves: int) -> Any:
        if leaves == 1:
            return draw.random()
        left = draw.randint(1, leaves - 1)
        return tree(left), tree(leaves - left)

    trees = [tree(12) for _ in range(8)]
    board = viz.batches(lambda: [encode(t) for t in trees])
    plain, lazy = [int(word) for word in board.verdict[0].split() if word.isdigit()]
    assert plain == 8 * 11 * 3
    assert lazy * 2 < plain
    picture = board.scenes[0].panels[0].picture
    assert {n.kind for n in picture.nodes} == {"operator"}, "a crowd is drawn without its leaves"


def test_gradients_and_listeners_are_left_alone() -> None:
    with mg.record() as log:
        viz.batches(two)
    assert log.events == []
    assert W.grad is None


@pytest.mark.parametrize("wrong", [None, 3, "log"])
def test_other_things_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="lazy_batch"):
        viz.batches(wrong)


def test_a_recording_without_batches_says_how_to_get_one() -> None:
    with mg.record() as log:
        encode((1.0, 2.0))
    with pytest.raises(ValueError, match=r"Remedy: with mg\.record"):
        viz.batches(log)


@pytest.mark.browser
def test_a_saved_page_shows_group_after_group(tmp_path: Path, page: Page) -> None:
    page.goto(viz.batches(two).save(tmp_path / "page.html").as_uri())
    assert page.locator("g.mg-waits").count() == 0, "it rests where all has run"
    page.locator(".mg-board").focus()
    page.keyboard.press("Home")
    assert page.locator("g.mg-waits").count() == 9
    page.keyboard.press("ArrowRight")
    assert page.locator("g.mg-now").count() == 2
    shown = "e => getComputedStyle(e).display"
    now, waiting = (page.locator(f"g.{c} .mg-halo").first for c in ("mg-now", "mg-waits"))
    assert (now.evaluate(shown), waiting.evaluate(shown)) == ("inline", "none")
    page.keyboard.press("End")
    assert page.locator("g.mg-waits").count() == 0
    page.get_by_role("button", name="中文", exact=True).click()
    assert "核函数：不成批 9 个" in page.locator(".mg-fact").inner_text()
    assert page.errors == []
