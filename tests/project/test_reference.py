"""The reference: every public name is in it, with a docstring that says and shows what it does.

The examples themselves are run with all others, by --doctest-modules.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import covering
import forks
import pytest
from covering import each

import minigrad as mg
import minigrad_lessons as lessons
import viz

ROOT = Path(__file__).parents[2]
PATH = str(ROOT / "docs" / "reference.py")
spec = importlib.util.spec_from_file_location("reference", PATH)
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)

MODULES = {
    "minigrad": mg,
    "minigrad.nn": mg.nn,
    "minigrad.nn.functional": mg.nn.functional,
    "minigrad.optim": mg.optim,
    "minigrad.passes": mg.passes,
    "minigrad.data": mg.data,
    "minigrad_lessons": lessons,
    "viz": viz,
}
# Public callables that show nothing, and why.
NO_EXAMPLE = {
    "minigrad.passes.Change": "made by passes, and shown where graphs are optimised",
    "minigrad.passes.PassRecord": "made by passes, and shown where graphs are optimised",
    "minigrad_lessons.Ratio": "given by Bench.ratio, and shown there",
    "viz.Animation": "made by viz.animate, and shown there",
    "viz.Bench": "made by viz.bench, and shown there",
    "viz.Board": "made by viz.passes and others, and shown there",
    "viz.Chart": "made by other functions, and shown where they are",
    "viz.Diagram": "made by viz.draw, and shown there",
    "viz.Player": "made by viz.step and others, and shown there",
}
# Classes whose methods are called by users.
CLASSES = {
    "Tensor": mg.Tensor,
    "Node": mg.Node,
    "Graph": mg.Graph,
    "Program": mg.Program,
    "Schedule": mg.Schedule,
    "Session": mg.Session,
    "Module": mg.nn.Module,
    "Optimizer": mg.optim.Optimizer,
    "Board": viz.Board,
    "Player": viz.Player,
    "Diagram": viz.Diagram,
}


def public() -> Iterator[tuple[str, Any]]:
    """Every public name that is no module, and the object behind it."""
    for place, module in MODULES.items():
        for name in module.__all__:
            if not isinstance(getattr(module, name), ModuleType):
                yield f"{place}.{name}", getattr(module, name)


NAMES = dict(public())
WITH_DOCSTRINGS = [n for n in NAMES if n.rpartition(".")[2] not in reference.VALUES]
CALLABLE = [
    n
    for n in WITH_DOCSTRINGS
    if callable(NAMES[n])
    and not (inspect.isclass(NAMES[n]) and issubclass(NAMES[n], Exception))  # raised, not called
]


@each(CALLABLE)
def test_a_public_name_is_what_the_object_calls_itself(name: str) -> None:
    own, place = NAMES[name].__name__, MODULES[name.rpartition(".")[0]]
    assert getattr(place, own) is NAMES[name]  # a second name, such as mg.sub, knows the first


def first_line(x: Any) -> str:
    own = x.__doc__ if not inspect.isclass(x) else vars(x).get("__doc__")
    return inspect.cleandoc(own or "").split("\n")[0]


def test_the_reference_has_a_page_for_each_public_module() -> None:
    assert set(reference.MODULES) == set(MODULES)
    named = {f"minigrad.{name}" for name in mg.__all__ if isinstance(getattr(mg, name), ModuleType)}
    assert named <= set(MODULES)


@each(WITH_DOCSTRINGS)
def test_every_public_name_says_what_it_is(name: str) -> None:
    line = first_line(NAMES[name])
    assert re.search(r"[.?][)\"]?$", line), f"its first line is no sentence: {line!r}"
    assert len(line) > 10


@each(CALLABLE)
def test_every_public_callable_shows_what_it_does(name: str) -> None:
    shown = ">>> " in (inspect.getdoc(NAMES[name]) or "")
    assert shown != (name in NO_EXAMPLE), "an example, or a reason for there being none"


def test_reasons_for_no_example_are_of_use() -> None:
    assert set(NO_EXAMPLE) <= set(NAMES)


@pytest.mark.parametrize("kind", CLASSES)
def test_methods_say_what_they_do(kind: str) -> None:
    silent = []
    for name in dir(CLASSES[kind]):
        owner = next((c for c in CLASSES[kind].__mro__ if name in vars(c)), object)
        if name.startswith("_") or not owner.__module__.startswith(("minigrad", "viz")):
            continue
        found = inspect.getattr_static(CLASSES[kind], name)
        method = getattr(found, "__func__", found)
        if not isinstance(found, property) and not inspect.isfunction(method):
            continue
        if not re.search(r"[.?]\)?$", first_line(method)):
            silent.append(name)
    assert silent == []


# ---- The pages --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All pages by name; a warning while they are built is an error.

    Without the source of each name, which takes a third of the time to colour, decorators, for
    which pdoc reads it. The index for searching, for which it starts Node, is made with --all.
    """
    folder = tmp_path_factory.mktemp("api")
    render = reference.pdoc.render
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference.pdoc.doc.Function, "decorators", [])
        less = {"show_source": False, "search": covering.thorough}
        patch.setattr(render, "configure", partial(render.configure, **less))
        paths = reference.build(folder)
    return {str(p.relative_to(folder).as_posix()): p.read_text("utf-8") for p in paths}


def test_a_page_has_the_names_that_load_only_when_asked_for() -> None:
    """In a Python where nobody has asked for them, as `python tasks.py docs` is."""
    program = f"import minigrad, runpy\nrunpy.run_path({PATH!r})['documented'](minigrad)"
    code, _, told = forks.bare().run(program)
    assert code == 0, told


@pytest.mark.parametrize("place", MODULES)
def test_each_page_holds_all_names(place: str, pages: dict[str, str]) -> None:
    page = pages[f"{place.replace('.', '/')}.html"]
    for name in MODULES[place].__all__:
        if not isinstance(getattr(MODULES[place], name), ModuleType):
            assert f'id="{name}"' in page, f"{name} is missing"


def test_an_operator_shows_its_record(pages: dict[str, str]) -> None:
    page = pages["minigrad.html"]
    tanh = page[page.index('id="tanh"') : page.index('id="tensor"')]
    for fact in ("hyperbolic tangent, 双曲正切", "tanh(x)", "(2, 3) → (2, 3)", "∂ × (1 − (y × y))"):
        assert fact in tanh
    assert "int64 → float32" in tanh


def test_every_operator_stands_in_the_table(pages: dict[str, str]) -> None:
    page = pages["minigrad.html"]
    for name, op in mg.REGISTRY.items():
        assert f"<td>{name}</td>" in page
        assert op.title[1] in page


def test_constructors_of_layers_show_their_arguments(pages: dict[str, str]) -> None:
    """Also where they come from a parent that nobody sees."""
    page = pages["minigrad/nn.html"]
    for kind, argument in (
        ("GRU", "num_layers"),
        ("LSTMCell", "hidden_size"),
        ("Conv2d", "stride"),
    ):
        assert f'id="{kind}.__init__"' in page, kind
        text = page[page.index(f'id="{kind}.__init__"') :]
        assert argument in text[: text.index("</section>") if "</section>" in text else 5000]


def test_a_warning_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mg, "__all__", [*mg.__all__, "nothing_of_this_name"])
    with pytest.raises(UserWarning, match="nothing_of_this_name"):
        reference.build(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_examples_are_shown_as_code(pages: dict[str, str]) -> None:
    page = pages["minigrad.html"]
    assert page.count('<span class="gp">&gt;&gt;&gt; </span>') > 100
