"""`viz.train`: a loop that draws itself, and a chart that is left however the loop ends."""

from __future__ import annotations

import importlib
import itertools
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import minigrad as mg
import viz

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")

module: Any = importlib.import_module("viz.views.train")


def net() -> mg.nn.Module:
    return mg.nn.Sequential(mg.nn.Linear(2, 3, seed=0), mg.nn.Tanh(), mg.nn.Linear(3, 1, seed=1))


def test_curves_and_norms_are_those_of_the_training() -> None:
    model, x = net(), mg.tensor([[1.0, 2.0]])
    training = viz.train(5, model)
    losses, norms = [], []
    for _ in training:
        loss = (model(x) ** 2).sum()
        model.zero_grad()
        loss.backward()
        training.log(loss=loss)
        losses.append(loss.item())
        first = [p.grad.data for name, p in model.named_parameters() if name.startswith("linear1")]
        norms.append(float(np.sqrt(sum((g.astype(float) ** 2).sum() for g in first))))
    assert training.series == {"loss": losses}
    assert list(training.norms) == ["linear1", "linear2"]
    np.testing.assert_allclose(training.norms["linear1"], norms, rtol=1e-12)
    first, second = (one["series"][0] for one in training.data["charts"])
    assert first["points"][-1] == [4, float(f"{losses[-1]:.6g}")]
    assert second["name"] == "linear1"


def test_the_text_tells_the_curves_and_no_times() -> None:
    training = viz.train([3.0, 1.0, 2.0])
    for x in training:
        training.log(loss=x, gradients={"w": [x, 0.0]})
    assert (
        str(training)
        == """\
done: step 3 of 3
loss
series | count | first | last | min | max
loss | 3 | 3 | 2 | 1 | 3
Norm of the gradient, layer by layer
series | count | first | last | min | max
w | 3 | 3 | 2 | 1 | 3"""
    )
    assert training.text()[1].startswith("完成：3 / 3 步\n损失\n序列")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError])
def test_an_interrupt_or_an_error_leaves_a_usable_chart(stop: type[BaseException]) -> None:
    training = viz.train(100)

    def run() -> None:
        for step in training:
            training.log(loss=1.0 / (step + 1))
            if step == 3:
                raise stop

    with pytest.raises(stop):
        run()
    assert training.status == ("stopped: step 3 of 100", "已停止：3 / 100 步")
    assert training.data["state"] == "stopped"
    assert "left" not in training.data["times"]
    assert len(training.data["charts"][0]["series"][0]["points"]) == 4
    (chart,) = training.charts()
    assert chart.rows[0][0][:2] == ("loss", "4")


def test_break_stops_as_well_and_a_second_loop_goes_on() -> None:
    training = viz.train(3)
    for _ in training:
        training.log(loss=1.0)
        break
    assert training.data["state"] == "stopped"
    for _ in training:
        training.log(loss=2.0)
    assert training.status[0] == "done: step 3 of 3"
    assert training.series["loss"] == [1.0, 2.0, 2.0, 2.0]


def test_it_is_displayed_once_and_renewed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    now = [0.0]

    def display(what: Any, display_id: bool) -> Any:
        shown.append((what, what.state))
        return SimpleNamespace(update=lambda again: shown.append((again, again.state)))

    monkeypatch.setattr(module, "get_ipython", lambda: "a shell")
    monkeypatch.setattr(module, "display", display)
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    training = viz.train(10)
    drawn: list[int] = []
    training.observe(lambda change: drawn.append(change["new"]["done"]), "data")
    for _ in training:
        now[0] += 0.06
    assert shown == [(training, "running"), (training, "done")], "the last is what is stored"
    assert drawn == [2, 4, 6, 8, 10, 10], "every other step is a tenth of a second later"
    assert '<span lang="en">took 0.6 s</span>' in training.data["times"]


def test_the_time_left_is_that_of_the_steps_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    training = viz.train(4)
    left = []
    training.observe(lambda change: left.append(change["new"]["times"]), "data")
    for _ in training:
        now[0] += 2.0
    found = [re.findall(r"([\d.]+) s left", text) for text in left]
    assert found == [["6.0"], ["4.0"], ["2.0"], ["0.0"], []]
    assert "已用 2.0 秒，剩余 6.0 秒" in left[0]
    unknown = viz.train(iter([1, 2]))
    assert not any("left" in unknown.data["times"] for _ in unknown)
    assert unknown.status[0] == "done: step 2 of ?"


def test_long_curves_are_thinned_and_numbers_that_are_none_leave_a_gap() -> None:
    training = viz.train(1000)
    for step in training:
        training.log(loss=np.nan if step == 0 else step, big=np.inf)
    points = training.data["charts"][0]["series"][0]["points"]
    assert len(points) <= module.POINTS + 1
    assert points[0] == [0, None]
    assert points[-1] == [999, 999.0]
    json.dumps(training.data, allow_nan=False)
    assert "<img" in training._still()


def test_no_two_quantities_share_an_axis() -> None:
    training = viz.train(2)
    for step in training:
        training.log(train_loss=2.0 - step, test_loss=2.5 - step, accuracy=step / 2)
    named = [chart.title[0] for chart in training.charts()]
    assert named == [one["title"][0] for one in training.data["charts"]] == ["loss", "accuracy"]
    names = [[s["name"] for s in one["series"]] for one in training.data["charts"]]
    assert names == [["train_loss", "test_loss"], ["accuracy"]]


@pytest.mark.parametrize("wrong", [None, "abc", 2.5, True])
def test_other_things_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="number of steps"):
        viz.train(wrong)


def test_what_is_no_number_is_refused() -> None:
    training = viz.train(1)
    with pytest.raises(ValueError, match="loss is not a single number"):
        training.log(accuracy=1.0, loss=mg.tensor([1.0, 2.0]))
    assert training.series == {}, "nothing is left half done"


@pytest.mark.browser
def test_many_small_curves_stay_apart_and_say_what_they_are(tmp_path: Path, page: Page) -> None:
    training = viz.train(2)
    for step in training:
        layers = {f"encoder.layers.{k}.linear": [2e-5 / (k + 1)] for k in range(9)}
        training.log(gradients=layers, loss=np.nan if step else 1.0)
    page.goto(training.save(tmp_path / "page.html").as_uri())
    losses, norms = page.locator(".mg-curves").all()
    assert losses.locator("> svg").get_attribute("aria-label").endswith("loss NaN/∞")
    assert losses.locator(".mg-curve-name tspan").all_text_contents() == ["loss", " NaN/∞"]
    assert norms.locator("figcaption").inner_text().endswith("(logarithmic)")
    assert {"2.2e-6", "2.0e-5"} <= {*norms.locator("svg text").all_text_contents()}
    names = norms.locator(".mg-curve-name")
    told = [f"encoder.layers.{k}.linear" for k in range(9)]
    assert names.locator("title").all_text_contents() == told
    shown = names.evaluate_all(
        "all => all.map(e => [...e.querySelectorAll('tspan')].map(t => t.textContent))"
    )
    assert all(
        whole.endswith(name.strip("…")) for (name, _), whole in zip(shown, told, strict=True)
    )
    assert len({name for name, _ in shown}) == 9, "of a long name the end, in which it differs"
    assert shown[0][1] == " 2.0e-5"
    assert set(told) <= set(page.locator("details th").all_text_contents()), "whole"
    outside = norms.locator("svg text").evaluate_all(
        """all => { const whole = all[0].ownerSVGElement.getBoundingClientRect();
            return all.filter(t => { const box = t.getBoundingClientRect();
                return box.left < whole.left || box.right > whole.right; }).length; }"""
    )
    assert outside == 0
    tops = names.evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
    assert min(b - a for a, b in itertools.pairwise(tops)) >= 15, "none covers another"
    leads = norms.locator(".mg-lead").evaluate_all("all => all.map(e => e.getAttribute('d'))")
    assert len(set(leads)) == 9, "each leads from the end of its curve to its name"


@pytest.mark.browser
def test_a_saved_page_shows_both_charts(tmp_path: Path, page: Page) -> None:
    training = viz.train(3)
    for step in training:
        training.log(loss=3.0 - step, gradients={"<script>": [step + 1.0]})
    page.goto(training.save(tmp_path / "page.html").as_uri())
    assert page.locator(".mg-curves > svg").count() == 2
    label = page.locator(".mg-curves svg").first.get_attribute("aria-label")
    assert label == "loss / 损失: loss 1"
    marks = page.locator(".mg-curves svg").first.locator("text[text-anchor=end]")
    assert marks.all_text_contents()[:3] == ["1", "2", "3"], "from the lowest to the highest"
    assert page.locator(".mg-curves svg").first.locator(".mg-grid").count() == 2
    assert "<script>" in page.locator(".mg-curves").nth(1).inner_html().replace(
        "&lt;", "<"
    ).replace("&gt;", ">")
    page.get_by_role("button", name="中文", exact=True).click()
    assert "完成：3 / 3 步" in page.locator(".mg-caption").inner_text()
    assert page.errors == []
