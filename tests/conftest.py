"""Fixtures for the browser tests, and what happens to them where there is no browser."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import bare
import bits32
import browser as harness
import covering
import forks
import hypothesis
import pytest
import size
from _pytest.doctest import DoctestModule
from covering import few
from fixtures import POSITIONS, all_positions, english, own_graph  # noqa: F401 - of all files

from minigrad.control import untaken_branch_nan
from minigrad.diagnostics.messages import set_language
from minigrad.dynamic.fast_paths import PLAIN
from minigrad.interop.c import cache, compiler, library
from minigrad_lessons.lesson import my_engine, verdicts
from viz.picture import layout, place
from viz.words.text import ROWS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# The same examples in every run, and no test decides by a clock. To look for others:
# HYPOTHESIS_PROFILE=search
shared = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [hypothesis.HealthCheck.function_scoped_fixture],
}
hypothesis.settings.register_profile("suite", derandomize=True, **shared)
hypothesis.settings.register_profile("quick", derandomize=True, max_examples=10, **shared)
hypothesis.settings.register_profile("search", max_examples=2000, **shared)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# What modules keep as long as a kernel runs: verdicts, what was told once, the log of an engine.
KEPT = (
    (verdicts, "_last"),
    (library, "_warned_once"),
    (untaken_branch_nan, "_warned_once"),
    (my_engine, "EVENTS"),
)

# They import the engines they compare with, which nobody has to install for the tests.
collect_ignore_glob = ["bench/*", "faces/programs/*", "onnx_cases.py"]


@pytest.fixture(scope="session", autouse=True)
def own_kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test reads or fills the user's cache of compiled kernels."""
    folder, known = tmp_path_factory.mktemp("cache") / "kernels", cache.location
    cache.location = lambda: folder
    yield
    cache.location = known


@pytest.fixture(scope="session", autouse=True)
def few_positions() -> Iterator[None]:
    """Pages keep few positions of their sliders, as each of them is a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("viz.page.sliders.KEPT", POSITIONS)
        yield


@pytest.fixture(scope="session", autouse=True)
def pages_of_views(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where `views.saved` has its pages, for all processes of a run."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    os.environ["MINIGRAD_TEST_PAGES"] = str(shared)


def pytest_configure(config: pytest.Config) -> None:
    """Take few cases if so asked; fork the kernels of nbval, too: each notebook has its own.

    Drawings are laid out as those that are stored: alike on every machine, and in a quarter of the
    time that an installed Graphviz takes to start. With --all they are as a user has them.
    """
    if not config.getoption("--all"):
        os.environ.setdefault(layout.PINNED, "1")
    config.pluginmanager.register(WithExamples())  # here, it is asked about all folders
    named = any("::" in name for name in config.args)
    covering.thorough = named or config.getoption("--all")
    if not named:
        covering.at_most = config.getoption("--cases")
    if forks.POSSIBLE and config.getoption("nbval", False):
        import ipykernel.kernelspec

        ipykernel.kernelspec.get_kernel_dict = lambda *_, **__: forks.kernel_spec()


class WithExamples:
    """Collects no examples from a file without any, which takes a third of the collection."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Iterator[None]:
        found = yield
        shown = file_path.suffix != ".py" or ">>> " in file_path.read_text("utf-8")
        return [files for files in found if shown or not isinstance(files, DoctestModule)]


@pytest.fixture(autouse=True)
def own_kernel() -> None:
    """A test begins as a kernel does: in English, with nothing judged, told or noted."""
    set_language("en")
    for module, name in KEPT:
        setattr(module, name, type(getattr(module, name))())


@pytest.fixture(scope="module", autouse=True)
def light_collections() -> None:
    """What is there before its tests is not walked whenever one of them collects garbage.

    A process holds some 20,000 tests, and a measurement collects often.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage among 20,000 new tests, as there is none; and walk them never again.

    Then collect seldom: what a test makes is soon gone without it, and to look takes long.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what drives a browser, as it takes longest; leave out what shows the same again.

    A test that is named runs with all its cases.
    """
    driving = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: item.path not in driving)
    if config.getoption("--all") or any("::" in name for name in config.args):
        return
    kept = few(items, config.getoption("--cases"))
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[*{*items} - {*kept}])
        items[:] = kept


UNTESTED = pytest.StashKey[dict[str, int]]()
UNMET = "to run it, "  # how the reason of such a skip begins


def no_compiler() -> str | None:
    """What would have to be done before C can be compiled; None when it can."""
    return None if compiler.find_compiler() else "install a C compiler (cc, gcc, clang or ziglang)"


def no_speed() -> str | None:
    """What would have to be done before dynamic mode takes its quick ways; None when it does."""
    return "unset MINIGRAD_PLAIN" if PLAIN else None


def no_pages() -> str | None:
    """What would have to be done before all pages of the course are made and walked."""
    asked = None if os.environ.get("MINIGRAD_PAGES") else "set MINIGRAD_PAGES=1, which takes long"
    return asked or harness.obstacle()


# By marker: what stands in the way of such tests on this machine. With MINIGRAD_REQUIRE_<MARKER>=1
# they fail where they would be skipped.
OBSTACLES = {
    "bare": bare.obstacle,
    "bits": bits32.obstacle,
    "browser": harness.obstacle,
    "compiler": no_compiler,
    "pages": no_pages,
    "speed": no_speed,
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in OBSTACLES.keys() & {mark.name for mark in item.iter_markers()}:
        if not (remedy := OBSTACLES[marker]()):
            continue
        demand = f"MINIGRAD_REQUIRE_{marker.upper()}"
        if os.environ.get(demand) == "1":
            pytest.fail(f"{demand} is set; to meet it, {remedy}.", pytrace=False)
        pytest.skip(f"{UNMET}{remedy}")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Count what was not tested from the reports: they come from all processes."""
    skipped = [r for r in terminalreporter.stats.get("skipped", ()) if UNMET in str(r.longrepr)]
    counts = {marker: sum(marker in r.keywords for r in skipped) for marker in OBSTACLES}
    config.stash[UNTESTED] = {marker: count for marker, count in counts.items() if count}
    ran = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    told = [told for report in ran for name, told in report.user_properties if name == size.LINES]
    if told:
        terminalreporter.section(size.LINES)
        terminalreporter.write_line("\n".join(told))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say last what was not tested, because a line above the summary is not read."""
    for marker, count in config.stash.get(UNTESTED, {}).items():
        remedy = OBSTACLES[marker]()
        print(f"NOT TESTED: {marker} tests skipped: {count}. To run them, {remedy}.")


@pytest.fixture
def drawn_anew() -> Iterator[None]:
    """English, and no drawing that is remembered."""
    place.places.cache_clear()
    set_language("en")
    yield
    set_language("en")
    place.places.cache_clear()


@pytest.fixture
def any_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The layout engine that a user of this machine has."""
    monkeypatch.delenv(layout.PINNED, raising=False)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Players that send no drawings, which take longer than what they play; with --all they do."""
    if not covering.thorough:
        monkeypatch.setattr("viz.page.payload.graph", lambda *_: {})


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on which nothing can be laid out."""
    place.places.cache_clear()
    monkeypatch.setattr(layout.shutil, "which", lambda name: None)
    monkeypatch.setattr(layout, "bundled_dot", lambda: None)
    monkeypatch.setattr(layout, "pygraphviz_fault", lambda: ROWS["engine_absent"])
    yield
    place.places.cache_clear()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[harness.Lab]:
    """A running JupyterLab on a copy of notebooks/."""
    server = harness.Lab(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def one_browser() -> Iterator[harness.Started]:
    """The installed browser, for all modules of a process."""
    started = harness.Started()
    yield started
    started.end()


@pytest.fixture(scope="module")
def chromium(one_browser: harness.Started) -> Iterator[Browser]:
    """The browser; outside of a module that drives it no event loop seems to run."""
    yield one_browser.resume()
    one_browser.pause()


@pytest.fixture(scope="module")
def kept(chromium: Browser) -> Iterator[harness.Kept]:
    """Pages, for a module that drives the browser."""
    pages = harness.Kept(chromium)
    yield pages
    pages.rest()


@pytest.fixture(scope="module")
def jupyterlab(lab: harness.Lab, kept: harness.Kept) -> Iterator[Page]:
    """JupyterLab without a notebook: to load it takes longer than to run most of them."""
    for page in kept.lent("light", 1400, 1000):
        page.goto(lab.url("", "lab"))
        launcher = "() => window.jupyterapp?.shell?.currentWidget"
        page.wait_for_function(launcher, polling=harness.OFTEN)
        yield page


@pytest.fixture
def page(kept: harness.Kept) -> Iterator[Page]:
    """A light page; `page.errors` collects what the console calls an error."""
    yield from kept.lent("light", 1400, 1000)
