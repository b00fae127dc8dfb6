"""`lessons.shipped`: a page in a browser computes what the graph does here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad_lessons as lessons

pytestmark = pytest.mark.browser


def test_a_shipped_page_follows_its_sliders(page: Any, tmp_path: Path) -> None:
    with mg.Graph():
        x, n = mg.placeholder("x", (1, 2)), mg.placeholder("</script>", (), mg.int64)
        image = mg.placeholder("image", (4, 5))
        y = mg.tanh(x @ mg.randn(2, 3, seed=1)) * n + mg.sum(image)
        graph = mg.build_graph([x, n, image], [y, n * 2])
    pixels = np.arange(20, dtype=np.float32).reshape(4, 5) / 100
    target = tmp_path / "model.html"
    lessons.shipped(graph, {n: 3, image: pixels}).save(target)
    page.goto(target.as_uri())

    def rows() -> list[list[float]]:
        cells = "rows => rows.map(row => [...row.cells].map(cell => Number(cell.textContent)))"
        found: list[list[float]] = page.eval_on_selector_all("table tr", cells)
        return found

    def expect(given: Any, number: int, pixels: Any) -> None:
        ours, twice = mg.run(graph, {x: [given], n: number, image: pixels})
        np.testing.assert_allclose(rows()[0], ours[0], rtol=1e-3)
        assert rows()[1] == [twice]

    expect([0, 0], 3, pixels)
    page.get_by_label("x[1]").last.fill("0.75")
    page.get_by_label("</script>").last.fill("2")
    page.locator("textarea").fill("1 " * 20)
    expect([0, 0.75], 2, np.ones((4, 5), np.float32))
    page.get_by_label("x[0]").first.fill("-1")
    expect([-1, 0.75], 2, np.ones((4, 5), np.float32))
    page.locator("textarea").fill("1 2 3")
    assert "image: 3 ≠ 20" in page.inner_text("code")
    page.get_by_role("button", name="中文", exact=True).click()
    assert page.get_by_role("heading", name="输出").is_visible()
    assert page.get_by_role("heading", name="Outputs").is_hidden()
    assert page.errors == []
