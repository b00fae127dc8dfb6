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
    one,
    opened,
    settled,
    state,
    test_a_finding_leads_to_its_operator,
    test_keys_open_step_and_close,
    test_the_score_has_a_row_for_each_module_and_a_profile,
    test_the_whole_model_is_on_the_first_screen,
)
from test_oracle_explorer import Net, Wrong, jax_net

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


def test_an_error_is_a_picture(one: Page, tmp_path: Path) -> None:  # noqa: F811
    """Of PyTorch: a function of JAX that can't be traced raises."""
    made = viz.step(Wrong(), torch.randn(5, 6), whole=True)
    page = opened(one, made.save(tmp_path / "error.html"))
    assert page.evaluate(CARDS) == []
    assert "the run stopped here" in page.locator(".mg-x-said").inner_text()
    assert state(page, "atlas.selected.op") == state(page, "atlas.m.failed")
    assert ".py" in page.locator(".mg-x-code").inner_text()


def test_what_gets_no_gradient_is_told_with_its_reason(one: Page, tmp_path: Path) -> None:  # noqa: F811
    net = Net()
    net.head.requires_grad_(requires_grad=False)
    page = opened(one, viz.step(net, torch.randn(5, 6)).save(tmp_path / "cut.html"))
    assert page.locator(".mg-x-finding", has_text="requires_grad=False").count()


@pytest.mark.parametrize("name", browser.MODELS)
def test_the_first_view_is_chosen(name: str, one: Page, tmp_path: Path) -> None:  # noqa: F811
    focus = "blocks.1" if name == "torch" else "layer_1"
    page = opened(one, ours(name, focus=focus).save(tmp_path / "focus.html"))
    assert state(page, "atlas.focus.name") in (focus, "1")
    assert page.evaluate(CARDS) == []
    few = state(page, "atlas.m.rows.length")
    flat = opened(one, ours(name, depth=9).save(tmp_path / "flat.html"))
    assert state(flat, "atlas.m.rows.length") > few
