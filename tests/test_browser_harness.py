"""The harness itself: a notebook is opened, run and read in a browser."""

from __future__ import annotations

import pytest
from browser import NOTEBOOKS, cell_outputs, open_notebook, run_all

pytestmark = pytest.mark.browser

SQUARES = """\
import ipywidgets as w
slider, square = w.IntSlider(value=3, description="number"), w.Label("9")
slider.observe(lambda change: setattr(square, "value", f"= {change.new**2}"), "value")
w.HBox([slider, square])"""


def test_a_notebook_runs_in_the_page(lab, page):
    lab.write("harness.ipynb", ["print('x' * 3)", SQUARES, "1 / 0"])
    open_notebook(page, lab, "harness.ipynb")
    run_all(page)
    printed, widget, failed = cell_outputs(page)
    assert (printed.text, printed.failed) == ("xxx", False)
    assert "number" in widget.text
    assert "ZeroDivisionError" in failed.text
    assert failed.failed
    assert page.errors == []


def test_a_widget_in_the_page_reaches_the_kernel(lab, page):
    lab.write("widget.ipynb", [SQUARES])
    open_notebook(page, lab, "widget.ipynb")
    run_all(page)
    page.locator(".widget-readout").fill("7")
    page.keyboard.press("Enter")
    page.get_by_text("= 49").wait_for()


def test_the_lessons_are_copies(lab):
    assert lab.root != NOTEBOOKS
    assert {p.name for p in NOTEBOOKS.glob("*.ipynb")} <= {p.name for p in lab.root.glob("*.ipynb")}
