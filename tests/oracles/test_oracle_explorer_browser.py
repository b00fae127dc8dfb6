"""The explorer in a real browser once more, with models of PyTorch and of JAX themselves."""

from __future__ import annotations

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


@pytest.mark.parametrize("name", browser.MODELS)
def test_what_differs_is_marked_with_its_reason(name: str, one: Page, tmp_path: Path) -> None:  # noqa: F811
    if name == "torch":
        net = Net()
        net.head.requires_grad_(requires_grad=False)
        net.blocks[0].register_forward_hook(lambda module, args, y: y.detach())
        made = viz.step(net, torch.randn(5, 6))
        told = {"requires_grad=False": "frozen", "no_grad or detached": "no gradient passes"}
    else:
        made = viz.step(jax_odd, *given(), whole=True)
        told = {
            "stop_gradient ends it there": "no gradient passes",
            "a gradient rule of its own": "own gradient rule",
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
