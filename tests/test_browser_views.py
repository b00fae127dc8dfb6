"""Every view at three widths, in both languages and themes: nothing clashes, all is as it was."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import shapes
from looks import FAINT, luminance, unlike
from views import VIEWS, save

import viz

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST = 3_000_000  # bytes of all pictures
# What shows nothing of its own: parts of views, choices, what is shown elsewhere.
SHOWN_ELSEWHERE = {
    "attempt": "gives what a table shows",
    "engine": "says what `check` says",
    "keep": "says what `check` says",
    "language": "its buttons stand on every page",
    "tensorboard": "writes files for another viewer",
    "show_errors": "shows the board of `error`",
}


@pytest.fixture(scope="module")
def one(chromium: Browser) -> Iterator[Page]:
    """One page for all; nothing moves on it."""
    context = chromium.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


def wrong(page: Page, path: Path, then: dict[str, Any]) -> list[str]:
    """What is wrong with a view, and what is not as it was."""
    found = []
    for width, language, seen in shapes.looked_over(page, path):
        told = [*seen["wrong"], *shapes.differences(seen["shape"], then[f"{width} {language}"])]
        found += [f"{width} px, {shapes.LANGUAGES[language]}: {sentence}" for sentence in told]
    return found


@pytest.mark.browser
@pytest.mark.usefixtures("english")
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_its_shape(name: str, one: Page, tmp_path: Path) -> None:
    path = save(name, tmp_path)
    one.emulate_media(color_scheme="light")
    assert wrong(one, path, shapes.kept()[name]) == []
    for theme in shapes.THEMES:  # the layout is the same in both
        one.emulate_media(color_scheme=theme)
        assert one.evaluate(FAINT) == [], theme
        ink, paper = (luminance(one, "body", style) for style in ("color", "backgroundColor"))
        assert (ink > paper) is (theme == "dark")
        if one.locator(".mg-player .mg-sign").count():
            assert unlike(one, theme == "dark") == []


def test_every_public_view_is_looked_at() -> None:
    public = {name for name in dir(viz) if not name.startswith("_")}
    functions = {name for name in public if inspect.isfunction(getattr(viz, name))}
    looked_at = {name.split()[0] for name in VIEWS} - {"live"}  # which is a class
    assert functions == looked_at | SHOWN_ELSEWHERE.keys()


def test_each_view_has_its_picture_and_all_are_small() -> None:
    pictures = {path.name: path.stat().st_size for path in shapes.FOLDER.glob("*.webp")}
    assert pictures.keys() == {shapes.picture_of(name).name for name in VIEWS}
    assert sum(pictures.values()) < MOST
    assert list(shapes.kept()) == list(VIEWS)
