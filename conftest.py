"""For every test, notebooks included: what nbval must not compare, and who asks the oracles."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import uuid
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem

os.environ["MINIGRAD_LANGUAGE"] = "en"  # what tests expect to be said, wherever they run

ROOT = Path(__file__).parent
ORACLES = ROOT / "tests" / "oracles"
# Whose examples need the package of an extra: they are run where it is installed.
EXTRAS = {ROOT / "minigrad" / "interop" / "onnx": "onnx"}

# Bytes that differ between builds of Graphviz, matplotlib and the widgets although the content is
# the same. What they show is tested as data; in a notebook, text/plain stands for them.
NOT_COMPARED = (
    "text/html",
    "image/svg+xml",
    "image/png",
    "application/vnd.jupyter.widget-view+json",
)
# nbval counts no cells, so that each of them is the first to what names its place.
ALIKE = {r"Cell In\[\d+\]": "Cell In[ ]"}


def pytest_collectstart(collector: pytest.Collector) -> None:
    if hasattr(collector, "skip_compare"):  # only nbval's notebook has it
        collector.skip_compare = (*collector.skip_compare, *NOT_COMPARED)
        collector.sanitize_patterns.update(ALIKE)


def pytest_configure() -> None:
    """Notebooks that are tested neither read nor write what a learner made or chose."""
    os.environ["MINIGRAD_LEARNER"] = tempfile.mkdtemp(prefix="minigrad-learner-")
    atexit.register(shutil.rmtree, os.environ["MINIGRAD_LEARNER"], ignore_errors=True)


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nor does a test, or find what another one kept; the folder is made when something is."""
    folder = tmp_path_factory.getbasetemp() / f"learner-{uuid.uuid4().hex}"
    monkeypatch.setenv("MINIGRAD_LEARNER", str(folder))


@pytest.fixture(autouse=True)
def own_graph_of_an_example(request: pytest.FixtureRequest) -> None:
    """Nor do examples meet nodes that others have left in the default graph."""
    if isinstance(request.node, DoctestItem):
        from minigrad import reset_default_graph  # for examples only: to load it takes a while

        reset_default_graph()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--oracles",
        action="store_true",
        help="compare with PyTorch and JAX as well, which must be installed",
    )
    parser.addoption(
        "--all", action="store_true", help="what is exhaustive as well, and every case of each test"
    )
    parser.addoption("--cases", type=int, help="at most so many cases of each test")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without --oracles nothing there is read, so that nobody needs what it imports."""
    unasked = collection_path.is_relative_to(ORACLES) and not config.getoption("--oracles")
    return unasked or find_spec(EXTRAS.get(collection_path, "minigrad")) is None or None
