"""`viz.train`: a loop that draws itself, and a chart that is left however the loop ends."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from looks import CLASHES, missing, serious, speak
from matplotlib.colors import rgb_to_hsv, to_rgb
from matplotlib.figure import Figure

import minigrad as mg
import viz
from viz.charts import chart_style
from viz.charts.chart import Chart
from viz.charts.curves import POINTS
from viz.picture import theme
from viz.picture.style import GRADIENTS
from viz.words.text import in_language

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.usefixtures("english")

module: Any = importlib.import_module("viz.views.train")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No chart is drawn while a loop runs: of what is asked here none shows it."""
    monkeypatch.setattr(module.Training, "_draw", lambda _: None)


def net() -> mg.nn.Module:
    return mg.nn.Sequential(mg.nn.Linear(2, 3, seed=0), mg.nn.Tanh(), mg.nn.Linear(3, 1, seed=1))


@pytest.mark.usefixtures("undrawn")
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
    chart = training.chart()
    assert [line[0][0] for line in chart.rows] == ["loss", "∂ linear1", "∂ linear2"]
    assert chart.rows[0][0][3] == f"{losses[-1]:.4g}"


@pytest.mark.usefixtures("undrawn")
def test_the_text_tells_the_curves_and_no_times() -> None:
    training = viz.train([3.0, 1.0, 2.0])
    for x in training:
        training.log(loss=x, gradients={"w": [x, 0.0]})
    assert (
        str(training)
        == """\
done: step 3 of 3
Loss falls from 3 to 2
series | count | first | last | min | max
loss | 3 | 3 | 2 | 1 | 3
∂ w | 3 | 3 | 2 | 1 | 3"""
    )
    assert training.text()[1].startswith("训练结束：完成了 3 步，共 3 步\n损失从 3 降到 2\n序列")


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
    assert training.status == ("stopped: step 3 of 100", "中途停止：完成了 3 步，共 100 步")
    assert training.data["state"] == "stopped"
    assert "left" not in training.data["times"]
    assert training.chart().rows[0][0][:2] == ("loss", "4")
    assert training.drawing.count("<img") == 2, "one for each language"


@pytest.mark.usefixtures("undrawn")
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
    assert in_language("en", "took 600 ms") in training.data["times"]


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


def test_a_drawing_is_not_counted_and_takes_a_small_share(monkeypatch: pytest.MonkeyPatch) -> None:
    now, drawn = [0.0], []
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])

    def chart(self: Any, page: bool) -> str:
        drawn.append(now[0])
        now[0] += 2.0
        return ""

    monkeypatch.setattr(module.Training, "_chart", chart)
    training = viz.train(40)
    for _ in training:
        now[0] += 1.0
    assert in_language("en", "took 40 s") in training.data["times"]
    assert len(drawn) == 1 + 4, "at first, each ten seconds of the loop, and at the end"


@pytest.mark.usefixtures("undrawn")
def test_long_curves_are_thinned_and_numbers_that_are_none_leave_a_gap() -> None:
    training = viz.train(1200)
    for step in training:
        training.log(loss=np.nan if step == 0 else step % 7, big=np.inf)
    figure = Figure()
    training.chart().draw(figure, 0)
    (line,), _ = (axes.get_lines() for axes in figure.axes)
    x, y = line.get_data()
    assert len(x) <= POINTS + 1
    assert (x[0], x[-1]) == (1, 1200)
    assert np.isnan(y[0])
    assert "<img" in training._still()


@pytest.mark.usefixtures("undrawn")
def test_no_two_quantities_share_an_axis() -> None:
    training = viz.train(2)
    for step in training:
        training.log(train_loss=2.0 - step, test_loss=2.5 - step, accuracy=step / 2)
    figure = Figure()
    training.chart().draw(figure, 0)
    names = [[line.get_label() for line in axes.get_lines()] for axes in figure.axes]
    assert names == [["train_loss", "test_loss"], ["accuracy"]]


@pytest.mark.usefixtures("undrawn")
def test_gradients_are_orange_and_what_spans_decades_is_logarithmic() -> None:
    training = viz.train(2)
    for step in training:
        training.log(loss=10.0 ** (-4 * step), gradients={"a": [1.0], "b": [1.0 + step]})
    with chart_style():
        figure = Figure()
        training.chart().draw(figure, 0)
    losses, norms = figure.axes
    assert losses.get_yscale() == norms.get_yscale() == "log"
    shades = [light for light, _ in GRADIENTS]
    assert [line.get_color() for line in norms.get_lines()] == shades[:2]
    assert shades[0] == theme.TOKENS["grad"][0]
    hues = [rgb_to_hsv(to_rgb(shade))[0] for pair in GRADIENTS for shade in pair]
    assert max(hues) - min(hues) < 0.03
    assert len({line.get_marker() for line in norms.get_lines()}) == 2


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
@pytest.mark.usefixtures("undrawn")
def test_a_saved_page_shows_one_chart_of_all_and_names_that_do_not_run(
    tmp_path: Path, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    svgs = Chart._svgs  # it is seen in one width

    def narrow(chart: Chart, *asked: tuple[int, int]) -> list[str]:
        both = svgs(chart, (500, 0), (500, 1))
        return [both[i] for _, i in asked]

    monkeypatch.setattr(Chart, "_svgs", narrow)
    training = viz.train(3)
    for step in training:
        layers = {f"encoder.layers.{k}.linear": [2e-5 / (k + 1)] for k in range(3)}
        training.log(loss=3.0 - step, gradients={"<script>": [step + 1.0], **layers})
    page.goto(training.save(tmp_path / "page.html").as_uri())
    shown = page.locator(".mg-train img:visible")
    shown.wait_for()
    assert shown.evaluate("img => img.complete && img.naturalWidth > 0")
    assert page.locator("h1:visible").inner_text() == "Loss falls from 3\xa0to 1"
    assert "Loss against step" in shown.get_attribute("alt")
    names = ["loss", "∂ <script>", *(f"∂ encoder.layers.{k}.linear" for k in range(3))]
    page.locator(".mg-train summary:visible").click()
    cells = page.locator(".mg-train tbody:visible tr > :first-child")
    assert cells.all_inner_texts() == names
    page.get_by_role("button", name="中文", exact=True).click()
    assert "训练结束：完成了 3 步，共 3 步" in page.locator(".mg-caption").inner_text()
    assert page.locator(".mg-train img:visible").get_attribute("alt").startswith("折线图")
    for language, scheme in (("en", "light"), ("zh", "dark")):
        speak(page, language)
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CLASHES) == []
        assert missing(page.locator("body").inner_text()) == set()
        assert serious(page) == [], language
    assert page.errors == []
