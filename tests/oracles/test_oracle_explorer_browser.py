"""The explorer in a real browser once more, with models of PyTorch and of JAX themselves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import pytest
import test_browser_explorer as browser
import torch
from test_browser_explorer import (  # noqa: F401  (tests that run here, too)
    CARDS,
    STATE,
    one,
    opened,
    settled,
    state,
    test_a_finding_leads_to_its_operator,
    test_keys_open_step_and_close,
    test_no_text_lies_on_another,
    test_the_score_has_a_row_for_each_module_and_a_profile,
    test_the_whole_model_is_on_the_first_screen,
)
from test_oracle_explorer import Net, Wrong, jax_net, jax_odd, wrong_params

import viz

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.oracle, *browser.pytestmark]


def ours(name: str, **options: Any) -> Any:
    """The model in the explorer."""
    torch.manual_seed(0)
    if name == "torch":
        return viz.step(Net(), torch.randn(5, 6), **options)
    return viz.step(jax_net, *given(), **options)


def given() -> tuple[Any, Any]:
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    params = [{"w": jax.random.normal(k, (4, 4)), "b": jnp.zeros(4)} for k in keys]
    return params, jax.random.normal(keys[0], (2, 4))


def wrong_given() -> tuple[Any, Any]:
    params, x = given()
    return wrong_params(params), x


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("real")
    return {name: ours(name).save(folder / f"{name}.html") for name in browser.MODELS}


@pytest.mark.parametrize("name", browser.MODELS)
def test_the_first_nan_is_found_where_it_was_born(name: str, one: Page, tmp_path: Path) -> None:  # noqa: F811
    """Where that is: in the second block, and in the second layer."""
    if name == "torch":
        net = Net()
        with torch.no_grad():
            net.get_parameter("blocks.1.down.bias").fill_(float("nan"))
        made, where = viz.step(net, torch.randn(5, 6)), "blocks.1"
    else:
        params, x = given()
        params[1]["b"] = params[1]["b"].at[0].set(jnp.nan)
        made, where = viz.step(jax_net, params, x), "layer_1"
    page = opened(one, made.save(tmp_path / "nan.html"))
    finding = page.locator(".mg-x-finding.mg-x-bad").first
    assert where in finding.inner_text()
    finding.click()
    settled(page)
    assert state(page, "atlas.selected.op") == state(page, "atlas.m.data.findings[0].op")


def silent_net(params: Any, x: Any) -> Any:
    """The second layer of three never fires."""
    for i, p in enumerate(params):
        with jax.named_scope(f"layer_{i}"):
            x = x + jax.nn.relu(x @ p["w"] - (100.0 if i == 1 else 0.0))
    return x.sum()


@pytest.mark.parametrize("name", browser.MODELS)
def test_a_dead_relu_is_red_where_it_is_and_in_the_profile(
    name: str,
    one: Page,  # noqa: F811
    tmp_path: Path,
) -> None:
    if name == "torch":
        net = Net()
        with torch.no_grad():
            net.get_parameter("blocks.1.up.bias").fill_(-100.0)
        made, group = viz.step(net, torch.randn(5, 6)), "blocks.1"
    else:
        made, group = viz.step(silent_net, *given(), whole=True), "layer_1"
    page = opened(one, made.save(tmp_path / "silent.html"))
    findings = page.locator(".mg-x-finding.mg-x-bad").all_inner_texts()
    assert any("hardly fires" in text for text in findings)
    assert page.locator(".mg-x-said button").inner_text() == findings[0]
    rows = (
        f"atlas.m.rows.filter((n) => {STATE}.atlas.m.troubles.some((op) => op >= n.a && op < n.b))"
    )
    assert state(page, f"{rows}.map((n) => n.name)") == [group]
    red = """() => {
      const canvas = document.querySelector('.mg-x-score');
      const { data } = canvas.getContext('2d').getImageData(0, canvas.height - 30, 1400, 12);
      const bad = document.querySelector('.mg-explorer').atlas.atlas.ink.bad;
      const color = [1, 3, 5].map((k) => parseInt(bad.slice(k, k + 2), 16));
      const is = (i) => color.every((part, c) => data[4 * i + c] === part);
      return [...Array(data.length / 4).keys()].filter(is).length;
    }"""
    assert page.evaluate(red) > 0  # no curve is red


@pytest.mark.parametrize("name", browser.MODELS)
def test_an_error_is_a_picture(name: str, one: Page, tmp_path: Path) -> None:  # noqa: F811
    if name == "torch":
        made = viz.step(Wrong(), torch.randn(5, 6), whole=True)
        line, shapes, rest = "self.down(torch.relu", "(5, 16), (8, 15)", "head"
    else:
        made = viz.step(jax_net, *wrong_given(), whole=True)
        line, shapes, rest = "tanh(x @ p", "(2, 4), (5, 4)", "params.2"
    page = opened(one, made.save(tmp_path / "error.html"))
    assert page.evaluate(CARDS) == []
    assert "the run stopped here" in page.locator(".mg-x-said").inner_text()
    assert state(page, "atlas.selected.op") == state(page, "atlas.m.failed")
    side = page.locator(".mg-x-side").inner_text()
    assert shapes in side
    assert line in page.locator(".mg-x-code").inner_text()
    rows = "atlas.m.rows.map((n) => ({ name: n.name, out: n.out }))"
    outlines = [n["name"] for n in state(page, rows) if n["out"] > state(page, "atlas.m.failed")]
    assert rest in outlines
    page.keyboard.press("End")
    assert state(page, "atlas.time") < state(page, "atlas.m.n")


class Halved(torch.autograd.Function):
    """A user's own rule: half the gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g / 2


class Taught(torch.nn.Module):
    """A model beside a teacher that runs under no_grad."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.student, self.teacher = net, torch.nn.Linear(6, 4)

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            target = self.teacher(x)
        return (self.student(x)["y"] - target) ** 2


@pytest.mark.parametrize("name", browser.MODELS)
def test_what_differs_is_marked_with_its_reason(name: str, one: Page, tmp_path: Path) -> None:  # noqa: F811
    if name == "torch":
        net = Net()
        net.head.requires_grad_(requires_grad=False)
        net.blocks[0].register_forward_hook(lambda module, args, y: y.detach())
        net.blocks[1].register_forward_hook(lambda module, args, y: Halved.apply(y))
        made = viz.step(Taught(net), torch.randn(5, 6))
        told = {
            "requires_grad=False": "frozen",
            "no_grad or detached": "no gradient passes",
            "has a custom gradient": "custom gradient",
        }
        texts = [f["text"][0] for f in made.data["findings"]]
        assert any("(3 places in all)" in text for text in texts)  # of the teacher two
    else:
        made = viz.step(jax_odd, *given(), whole=True)
        told = {
            "stop_gradient ends it there": "no gradient passes",
            "has a custom gradient": "custom gradient",
            "there is no counterpart here": "runs in JAX",
            "No path leads back to params.0": "no gradient flows here",
        }
    page = opened(one, made.save(tmp_path / "cut.html"))
    for reason, mark in told.items():
        page.evaluate(f"() => {STATE}.open({STATE}.atlas.m.root)")
        settled(page)
        page.locator(".mg-x-finding", has_text=reason).first.click()
        settled(page)
        assert mark in page.locator(".mg-x-side").inner_text()


@pytest.mark.parametrize("name", browser.MODELS)
def test_the_first_view_is_chosen(name: str, one: Page, tmp_path: Path) -> None:  # noqa: F811
    focus = "blocks.1" if name == "torch" else "layer_1"
    page = opened(one, ours(name, focus=focus).save(tmp_path / "focus.html"))
    assert state(page, "atlas.focus.name") in (focus, "1")
    assert page.evaluate(CARDS) == []
    few = state(page, "atlas.m.rows.length")
    flat = opened(one, ours(name, depth=9).save(tmp_path / "flat.html"))
    assert state(flat, "atlas.m.rows.length") > few


@pytest.mark.parametrize("name", browser.MODELS)
def test_a_click_opens_in_place_and_steps_go_over_into_and_out(
    name: str,
    one: Page,  # noqa: F811
    pages: dict[str, Path],
) -> None:
    page = opened(one, pages[name])
    group = state(page, "atlas.m.rows.find((n) => n.children).i")
    node = f"atlas.m.nodes[{group}]"
    canvas = page.locator(".mg-x-stage canvas")

    def step() -> None:
        page.keyboard.press("ArrowRight")
        settled(page)

    # Over: from where it begins, one step ends where it does.
    page.evaluate(f"() => {STATE}.jump({STATE}.{node}.a)")
    canvas.focus()
    step()
    assert state(page, "atlas.time") == state(page, f"{node}.b")
    assert state(page, "atlas.focus.i") == 0
    # Into: a click opens it in place, and the same takes several.
    spot = state(page, f"{node}.shown")
    canvas.click(position={"x": spot["x"] + spot["w"] / 2, "y": spot["y"] + spot["h"] / 2})
    settled(page)
    assert state(page, "atlas.focus.i") == group
    assert page.evaluate(CARDS) == []
    page.evaluate(f"() => {STATE}.jump({STATE}.{node}.a)")
    canvas.focus()
    step()
    inside = state(page, "atlas.time")
    assert state(page, f"{node}.a") < inside < state(page, f"{node}.b")
    # Out: by its path, back to the whole, where the next step ends it.
    page.locator(".mg-x-crumbs button").first.click()
    settled(page)
    assert state(page, "atlas.focus.i") == 0
    assert state(page, "atlas.time") == inside
    canvas.focus()
    step()
    assert state(page, "atlas.time") == state(page, f"{node}.b")


@dataclass
class Out:
    """What a model returns besides its scores, as those of transformers do."""

    scores: Any
    hidden: Any


class Scorer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net, self.drop, self.head = Net(1), torch.nn.Dropout(0.5), torch.nn.Linear(4, 3)

    def forward(self, batch: Any, *, scale: Any = 1.0) -> Out:
        hidden = self.net(batch["a"] + batch["b"])["y"]
        return Out(self.head(self.drop(hidden)) * scale, hidden)


def scorer(params: Any, batch: Any, *, scale: Any = 1.0) -> Out:
    hidden = jnp.tanh((batch["a"] + batch["b"]) @ params["w"])
    return Out(hidden @ params["head"] * scale, hidden)


jax.tree_util.register_dataclass(Out, ["scores", "hidden"], [])


@pytest.mark.parametrize("name", browser.MODELS)
def test_dictionaries_dataclasses_keywords_and_a_loss(
    name: str,
    one: Page,  # noqa: F811
    tmp_path: Path,
) -> None:
    if name == "torch":
        a, b, scale = torch.randn(5, 6), torch.randn(5, 6), torch.tensor(2.0)
        model: Any = Scorer().train()
        given_: tuple[Any, ...] = ({"a": a, "b": b.numpy()},)
        loss = lambda out: (out.scores**2).mean()  # noqa: E731
    else:
        keys = jax.random.split(jax.random.PRNGKey(0), 4)
        a, b = (jax.random.normal(k, (5, 6)) for k in keys[:2])
        params = {"w": jax.random.normal(keys[2], (6, 4)), "head": jnp.ones((4, 3))}
        model, given_, scale = scorer, (params, {"a": a, "b": b}), jnp.float32(2.0)
        loss = lambda out: (out.scores**2).mean()  # noqa: E731
    made = viz.step(model, *given_, scale=scale, loss=loss, whole=True)
    page = opened(one, made.save(tmp_path / "forms.html"))
    assert page.evaluate(CARDS) == []
    known = [x["name"] for key in ("inputs", "parameters") for x in made.data[key]]
    assert {x.replace("_", ".") for x in known} >= {"batch.a", "batch.b", "scale"}
    root = "atlas.m.tensors[" + f"{STATE}.atlas.m.data.outputs[0]]"
    assert state(page, f"{root}.shape") == []  # one number, from which gradients come back
    assert state(page, "atlas.m.end") == 2 * state(page, "atlas.m.n")
    side = page.locator(".mg-x-side").inner_text()
    assert "checked" in side
    assert ("in train() mode" in side) is (name == "torch")
    assert "loss= starts it" not in side
    if name == "jax":
        weights = "atlas.m.data.parameters.find((p) => p.name === 'params.w')"
        norm = state(page, f"atlas.m.data.portraits[{STATE}.{weights}.g].norm")
        expected = jax.grad(lambda p: loss(scorer(p, given_[1], scale=scale)))(params)["w"]
        assert norm == pytest.approx(float(jnp.linalg.norm(expected)), rel=1e-3)


@pytest.mark.parametrize("name", browser.MODELS)
def test_a_module_is_opened_at_first_and_kept_as_a_still(
    name: str,
    one: Page,  # noqa: F811
    tmp_path: Path,
) -> None:
    group = "blocks.1" if name == "torch" else "layer_1"
    few = ours(name).data["nodes"][0]["children"]
    page = opened(one, ours(name, open=group).save(tmp_path / "open.html"))
    assert page.evaluate(CARDS) == []
    assert len(state(page, "atlas.m.data.nodes[0].children")) > len(few)
    assert group not in state(page, "atlas.m.rows.map((n) => n.name)")
    torch.manual_seed(0)
    model = (Net(), torch.randn(5, 6)) if name == "torch" else (jax_net, *given())
    still = viz.draw(*model, depth=2).save(tmp_path / "still.svg")
    one.goto(still.as_uri())
    texts = one.evaluate("[...document.querySelectorAll('text')].map((e) => e.textContent)")
    assert any("norm" in text for text in texts)
    box = one.evaluate("document.documentElement.getBBox().width")
    assert box <= one.evaluate("document.documentElement.viewBox.baseVal.width") + 1
