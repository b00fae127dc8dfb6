"""Saved pages compute: wherever a slider of a lesson goes, they show what the kernel would."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import nbformat
import numpy as np
import pytest
from fixtures import POSITIONS
from lessons import NOTEBOOKS
from test_branches_view import e10 as f
from test_branches_view import e10_cond as g
from test_branches_view import halve

import minigrad as mg
import viz
from viz import assets

pytestmark = [
    pytest.mark.skipif(not shutil.which("node"), reason="Node runs the page's own code"),
    pytest.mark.usefixtures("all_positions"),
]

DRIVER = """
const model = modelOf({ ...values, fill }, make);
let last = { data: { trouble: "", ...values.data }, index: values.index, program: 0 };
const next = (change) => (last = patched(last, change));
const kept = values.kept.map(({ inputs, change }) => ({ ...next(change), inputs }));
const compute = recomputing(kept, fill, make());
console.log(JSON.stringify(places.map((inputs) => {
  model.set("inputs", inputs);
  return [Boolean(compute(inputs)), model.get("data"), model.get("index")];
})));
"""


def halved(x: Any) -> Any:
    return mg.while_loop(lambda y: y > 1, lambda y: y / 2, x)


def neuron(x: Any, w: Any, b: Any) -> Any:
    return mg.relu(w * x + b)


def leaf(value: Any, name: str = "x") -> Any:
    return mg.tensor(value, requires_grad=True, name=name)


def layer() -> Any:
    product = leaf([[1.0, -2.0], [3.0, 4.0]], "W") @ leaf([1.0, 1.0])
    return viz.step((product + leaf([0.5, -1.0], "b")).relu().sum())


def diamond() -> Any:
    a = (x := leaf(3.0)) * x
    return viz.step(a + a * 4)


def power() -> Any:
    return viz.step((x := leaf(3.0)) * x + x)


WAYS = ("eager", "static", "trace", "script")
# Every player and board with inputs that a notebook shows; None: it has no input to move, since its
# inputs are many numbers, or of another engine.
SHOWN: dict[str, Callable[[], Any] | None] = {
    "01 viz.step(result)": None,
    "02 viz.step(y)": power,
    "02 viz.step(y) again": diamond,
    "02 viz.step(total)": layer,
    "05 viz.branches(f, 3.0, inputs=inputs, cond=g, ways=ways)": lambda: viz.branches(
        f, 3.0, inputs=(-3.0, -2.0, -1.0, 1.0, 3.0), cond=g, ways=WAYS[:3]
    ),
    "05 viz.branches(halve, 12.0, inputs=(12.0, 3.0, 0.5), cond=halved, ways=ways[:2])": (
        lambda: viz.branches(halve, 12.0, inputs=(12.0, 3.0, 0.5), cond=halved, ways=WAYS[:2])
    ),
    '11 viz.step(mg.load_graph(box / "scores.graph"), {"x": rows[:1]})': None,
    "12 viz.branches(f, 3.0, inputs=inputs, ways=ways)": lambda: viz.branches(
        f, 3.0, inputs=(3.0, -1.0, -3.0), ways=("eager", "trace", "script")
    ),
    "14 viz.step(mg.build_graph(x, classifier(10)(x)), {x: images[:1]}, whole=True)": None,
    "gallery viz.step(x * x + 3)": lambda: viz.step((x := leaf(2.0)) * x + 3),
    "gallery viz.compare(loss_of, images, labels)": None,
    "gallery viz.step(scores, {pixels: images.reshape(10, 1, 8, 8)}, whole=True)": None,
    "gallery viz.branches(f, [3.0], inputs=[[3.0], [-1.0], [-3.0]], cond=g)": (
        lambda: viz.branches(f, [3.0], inputs=[[3.0], [-1.0], [-3.0]], cond=g)
    ),
    "gallery viz.branches(halve, 6.0, inputs=[0.0, 2.0, 6.0, 12.0])": lambda: viz.branches(
        halve, 6.0, inputs=[0.0, 2.0, 6.0, 12.0]
    ),
    "tour viz.step(loss_of(model, image, label))": None,
    "tour viz.compare(neuron, 2.0, 3.0, -1.0)": lambda: viz.compare(neuron, 2.0, 3.0, -1.0),
}
MOVED = {name: make for name, make in SHOWN.items() if make}
QUICK = "02 viz.step(total)", "05 viz.branches(f, 3.0, inputs=inputs, cond=g, ways=ways)"
# What no lesson has: a cond in a graph that is played, several means in a cell.
MORE: dict[str, Callable[[], Any]] = {
    "cond": lambda: played(lambda x: mg.cond(x > 0, lambda: x * x, lambda: x * 3), 2.0),
    "loop": lambda: played(lambda x: mg.while_loop(lambda y: y < 9, lambda y: y + 2, x), 2.5),
    "log": lambda: viz.step(leaf(2.0).log()),
    "large": lambda: viz.step((leaf(1.5) * np.random.default_rng(0).random((5, 3, 9, 11))).sum()),
}


def played(function: Callable[[Any], Any], value: float) -> Any:
    with mg.Graph():
        x = mg.placeholder("x", ())
        return viz.step(mg.build_graph(x, function(x)), {x: value})


def shown_for(values: dict[str, Any], places: list[list[float]]) -> Any:
    """What a page shows for these inputs, after whether it computed that."""
    fill = dict(values["fill"])
    text = "".join(assets.source(f"{name}.js") for name in ("recompute", "page"))
    text += f"const make = {fill.pop('program')};\nconst fill = {json.dumps(fill)};\n"
    text += f"const values = {json.dumps(values)};\nconst places = {json.dumps(places)};\n{DRIVER}"
    done = subprocess.run(["node", "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return json.loads(done.stdout.splitlines()[-1])


def differences(page: Any, kernel: Any, path: str = "") -> list[str]:
    if page == kernel:
        return []
    if isinstance(page, dict) and isinstance(kernel, dict) and page.keys() == kernel.keys():
        return [x for key in page for x in differences(page[key], kernel[key], f"{path}/{key}")]
    if isinstance(page, list) and isinstance(kernel, list) and len(page) == len(kernel):
        pairs = enumerate(zip(page, kernel, strict=True))
        return [x for i, (a, b) in pairs for x in differences(a, b, f"{path}/{i}")]
    return [f"{path}: {str(page)[:80]} ≠ {str(kernel)[:80]}"]


def check(make: Callable[[], Any], room: int = 300_000) -> None:
    """Hold a page against the kernel in ten places; else it shows the nearest that it keeps."""
    player = make()
    values = player._values(room)
    sliders, chosen = values["data"]["sliders"], random.Random(0)
    steps = [round((s["high"] - s["low"]) / s["step"]) for s in sliders]
    places = [
        [float(f"{s['low'] + chosen.randrange(n) * s['step']:.10g}") for s, n in pairs]
        for pairs in [[*zip(sliders, steps, strict=True)]] * 10
    ]
    kept, shown = [one["inputs"] for one in values["kept"]], shown_for(values, places)
    assert sum(computed for computed, *_ in shown) >= 5
    for place, (computed, data, index) in zip(places, shown, strict=True):
        if not computed:
            far = [sum(abs(x - y) for x, y in zip(place, one, strict=True)) for one in kept]
            place = [*kept[far.index(min(far))]]
        content, step = player._moved_to(place, True)
        kernel = {**data, **json.loads(json.dumps(content)), "sliders": data["sliders"]}
        if "scenes" in data:
            assert data["scenes"][-1]["inputs"] == place
            kernel["scenes"][-1]["inputs"] = place
        assert index == (player.index if step is None else step)
        assert differences(data, kernel)[:5] == [], place


def test_every_input_of_a_notebook_is_known() -> None:
    """A new player or board of a notebook needs an entry above."""
    found: list[str] = []
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            calls = re.findall(r"^viz\.(?:step|compare|branches)\(.*", cell.source, re.MULTILINE)
            if cell.cell_type == "code":
                name = path.stem[:2] if path.stem[0].isdigit() else path.stem
                found += [f"{name} {call.removesuffix('.at_backward()')}" for call in calls]
    again = [name if name not in found[:i] else f"{name} again" for i, name in enumerate(found)]
    assert again == [*SHOWN]


@pytest.mark.parametrize("name", QUICK)
def test_a_page_shows_what_the_kernel_would(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From few positions, as it computes all others: each that is kept is a run of the kernel."""
    monkeypatch.setattr("viz.page.sliders.KEPT", POSITIONS)
    check(MOVED[name])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MOVED)
def test_the_page_of_every_lesson_shows_what_the_kernel_would(name: str) -> None:
    check(MOVED[name])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MORE)
def test_a_page_computes_what_no_lesson_has(name: str) -> None:
    check(MORE[name])


def test_a_page_shows_the_nearest_place_where_none_is_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between two places that take another branch each, it claims nothing that it can't know."""
    monkeypatch.setattr("viz.page.sliders.KEPT", POSITIONS)

    def narrow(x: Any) -> Any:
        return x * 2 if x > 2.02 else x * 3 if x > 1.98 else x

    values = viz.branches(narrow, 3.0, ways=("eager",))._values(300_000)
    ((computed, data, _),) = shown_for(values, [[2.01]])
    assert not computed
    kept = [one["inputs"] for one in values["kept"]]
    nearest = min(kept, key=lambda place: abs(place[0] - 2.01))
    assert data["scenes"][-1]["inputs"] == [*nearest]
    assert data["scenes"][-1]["caption"][0].startswith(f"x = {nearest[0]:.4g} gives:")
