"""The site that runs in a browser: its list of packages, its parts, who lays out drawings there."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import forks
import pytest
from lessons import ROOT
from looks import violations

from minigrad_lessons.opening import EXTENSION
from viz.picture import layout

sys.path.insert(0, str(ROOT / "docs"))

import front
import packages

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

PARTS = ROOT / "docs" / "lite"
CDN = "address/of/a/cdn/"
LOCK: dict[str, Any] = {
    "info": {"python": "3.14.2"},
    "packages": {
        "numpy": {"name": "numpy", "file_name": "numpy.whl", "depends": []},
        "stack_data": {"name": "stack_data", "file_name": "stack.whl", "depends": ["Pure_Eval"]},
        "pure-eval": {"name": "pure-eval", "file_name": "pure.whl", "depends": []},
        "comm": {"name": "comm", "file_name": "old.whl", "depends": ["numpy"]},
    },
}


def wheel(folder: Path, name: str, *needs: str) -> Path:
    """A wheel as far as anyone reads it here."""
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("one/__init__.py", "")
        file.writestr("one/sub/deep.py", "")
        file.writestr("two.py", "")
        file.writestr("one-1.0.dist-info/METADATA", f"Name: {name}\nVersion: 1.0\n{needed}\n")
    return path


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, Any]:
    """Pyodide's list with two wheels of ours, one in the place of one of theirs."""
    needs = ("numpy>=2.0", "Stack.Data", "absent", "pure-eval; extra == 'more'")
    ours = [wheel(tmp_path, "Our-Lessons", *needs), wheel(tmp_path, "comm")]
    return packages.locked(LOCK, CDN, ours)


def test_the_list_of_packages_holds_ours_and_theirs(whole: dict[str, Any], tmp_path: Path) -> None:
    made = whole["packages"]["our-lessons"]
    data = (tmp_path / made["file_name"]).read_bytes()
    assert made["sha256"] == hashlib.sha256(data).hexdigest()
    assert made["version"] == "1.0"
    assert made["imports"] == ["one", "two"], "what `import` says, which then needs no %pip"
    assert made["depends"] == ["numpy", "stack-data"], "neither an extra nor what nobody has"
    assert whole["packages"]["numpy"]["file_name"] == CDN + "numpy.whl"
    assert whole["packages"]["comm"]["version"] == "1.0", "of two, ours"
    assert whole["info"] == LOCK["info"]
    assert LOCK["packages"]["numpy"]["file_name"] == "numpy.whl", "the given list stays as it is"


def test_what_a_package_needs_is_followed_to_its_end(whole: dict[str, Any]) -> None:
    found = packages.needed(whole, "our-lessons")
    assert found == {"our-lessons", "numpy", "stack-data", "pure-eval"}
    with pytest.raises(KeyError, match="absent"):
        packages.needed(whole, "absent")


# ---- What comes later -------------------------------------------------------------------------


def test_what_is_put_off_comes_with_nothing_and_has_its_wheels_for_each_module() -> None:
    rows: dict[str, tuple[list[str], list[str]]] = {
        "ours": (["ours"], ["numpy", "charts"]),
        "numpy": (["numpy"], []),
        "charts": (["charts", "lines"], ["numpy", "letters"]),
        "letters": (["letters"], []),
    }
    listed = {
        name: {"file_name": f"{name}.whl", "sha256": f"#{name}", "imports": mods, "depends": needs}
        for name, (mods, needs) in rows.items()
    }
    lock = {"packages": listed}
    assert packages.put_off(lock, ["ours"], ["charts"]) == {
        "files": {
            "charts": ["charts.whl", "letters.whl"],
            "letters": ["letters.whl"],
            "lines": ["charts.whl", "letters.whl"],
        },
        "hashes": {"charts.whl": "#charts", "letters.whl": "#letters"},
    }
    assert packages.needed(lock, "ours") == {"ours", "numpy"}


@pytest.fixture
def put_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Python as it starts in the site, with modules in wheels that are not unpacked yet."""
    fetched: list[str] = []
    wheels = {name: wheel(tmp_path, name).read_bytes() for name in ("chart", "letter", "forged")}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in wheels.items()}
    hashes["forged"] = hashes["chart"]

    def fetch(name: str) -> bytes:
        fetched.append(name)
        return wheels[name]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    monkeypatch.setattr(sysconfig, "get_path", lambda _: tmp_path / "site")
    for name in ("one", "two"):  # what the wheels hold
        monkeypatch.delitem(sys.modules, name, raising=False)
    begin = runpy.run_path(str(PARTS / "later.py"))["begin"]
    begin({"one": ["chart", "letter"], "two": ["letter"], "three": ["forged"]}, hashes, fetch)
    return fetched


def test_what_was_put_off_is_unpacked_once_when_it_is_imported(put_off: list[str]) -> None:
    assert not put_off
    assert importlib.import_module("one.sub.deep")
    assert importlib.import_module("two")
    assert put_off == ["chart", "letter"]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("a_module_of_nobody")


def test_a_wheel_that_the_lock_file_does_not_mean_is_not_unpacked(
    put_off: list[str], tmp_path: Path
) -> None:
    for _ in range(2):
        with pytest.raises(ImportError, match="checksum"):
            importlib.import_module("three")
    assert put_off == ["forged", "forged"], "it is asked for again"
    assert not (tmp_path / "site").exists()


FIRST = """
import sys
import minigrad as mg, viz
sys.platform = "emscripten"
viz.language("zh")
viz.draw(mg.tensor(2.0, requires_grad=True) * 3)._repr_mimebundle_()
print({name.partition(".")[0] for name in sys.modules} & {"matplotlib", "fontTools", "PIL"})
"""


def test_a_first_drawing_in_a_browser_imports_nothing_that_was_put_off() -> None:
    code, printed, told = forks.bare().run(FIRST)
    assert code == 0, told
    assert printed.splitlines()[-1] == "set()"


KERNEL = """
import runpy, sys
later = runpy.run_path(sys.argv[1])
later["import_kernel"]()
import pyodide_kernel as kernel
assert not {"jedi", "parso", "prompt_toolkit", "unittest", "unittest.mock"} & set(sys.modules)
assert kernel.jedi.Interpreter("import string; string.hex", [{}]).complete()
with kernel.patch("string.digits", "few"):
    import string, jedi, unittest.mock
    assert string.digits == "few"
assert kernel.jedi.Script is jedi.Script and unittest.mock.Mock
assert not jedi.settings.case_insensitive_completion, "as the kernel set it"
"""
ASKS = """
import jedi
jedi.settings.case_insensitive_completion = False
import jedi.api.helpers
import jedi.api.classes
from IPython.terminal.embed import embed
from unittest.mock import patch
"""


def test_what_the_kernel_uses_later_is_imported_when_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "piplite").mkdir()
    (tmp_path / "piplite" / "piplite.py").touch()
    (tmp_path / "pyodide_kernel.py").write_text(ASKS)
    command = [sys.executable, "-c", KERNEL, PARTS / "later.py"]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})


# ---- Who lays out ---------------------------------------------------------------------------


@pytest.fixture
def in_a_browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Python as the site starts it: no programs, and Graphviz as a module beside it."""
    asked: list[str] = []

    def answer(source: str) -> SimpleNamespace:
        asked.append(source)
        wrong = "Error: syntax error in line 1" if "digraph" not in source else ""
        return SimpleNamespace(svg="<svg/>", error=wrong)

    beside = ModuleType(layout.BROWSER)
    beside.__spec__ = SimpleNamespace(name=layout.BROWSER)  # type: ignore[assignment]
    beside.layout = answer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, layout.BROWSER, beside)

    def none(*_: Any, **__: Any) -> None:
        raise OSError("no programs in a browser")

    monkeypatch.setattr(layout.subprocess, "run", none)
    return asked


def test_in_a_browser_what_came_beside_python_lays_out(in_a_browser: list[str]) -> None:
    assert layout.layout("digraph { a -> b }") == "<svg/>"
    assert in_a_browser == ["digraph { a -> b }"]
    assert layout.layout_problem() is None
    with pytest.raises(layout.LayoutError, match="syntax error in line 1"):
        layout.layout("nonsense")


# ---- Parts of the site ----------------------------------------------------------------------


def test_python_finds_the_layout_under_the_name_that_the_start_gives_it() -> None:
    start = (PARTS / "start.mjs").read_text("utf-8")
    assert f'registerJsModule("{layout.BROWSER}"' in start


def test_none_is_nothing_for_the_browser_in_either_of_its_words() -> None:
    """Jupyter hands Python's None over as null, Pyodide as undefined."""
    for script in (ROOT / "viz" / "assets").glob("*.js"):
        assert not re.search(r"[!=]== null", script.read_text("utf-8")), script.name


def test_the_first_page_speaks_both_languages_and_asks_nobody_else() -> None:
    text = (PARTS / "begin.html").read_text("utf-8")
    assert text.count('lang="en"') == text.count('lang="zh-Hans"')
    assert "@SIZE@ MB" in text, "what will be downloaded is said beforehand"
    assert text.index("read/en/index.html") < text.index("lab/index.html"), "what opens at once"
    whole = front.first_page(True, 34, 10)
    assert 'id="jupyter-config-data"' in whole, "without it no page of JupyterLite opens"
    assert '<canvas id="draw"' in whole, "and a digit is drawn there before anything is loaded"
    assert "34 MB" in whole
    assert "read/" not in front.first_page(False, 34, 10), "a site without pages to read"
    for part in PARTS.iterdir():
        assert "//" not in part.read_text("utf-8").replace("// ", ""), "an address"


# All pages of files share what they keep.
FIRST_VISIT = """
sessionStorage["%s"] || localStorage.clear();
sessionStorage["%s"] = true;
Object.defineProperty(navigator, "language", { configurable: true, value: "%s" });
"""


@pytest.mark.cases(1)
@pytest.mark.browser
@pytest.mark.parametrize("reader", ["zh-CN", "en-GB"])
def test_the_first_page_speaks_one_language_until_the_other_is_chosen(
    reader: str, page: Page, tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text(front.first_page(True, 34, 10), "utf-8")
    page.set_viewport_size({"width": 390, "height": 844})
    page.add_init_script(FIRST_VISIT % (reader, reader, reader))
    page.goto((tmp_path / "index.html").as_uri())
    assert shown(page) == reader[:2]
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page) == []
    other = {"zh": "English", "en": "中文"}[reader[:2]]
    page.get_by_role("button", name=other, exact=True).click()
    assert shown(page) != reader[:2]
    page.reload()
    assert shown(page) != reader[:2], "a choice stays, and the lessons follow it"


def shown(page: Page) -> str:
    """The one language of the headings and links that are in sight."""
    parts = (
        "[...document.querySelectorAll('h1 *, h2 *, a, #keep *')].filter(e => e.checkVisibility())"
    )
    found = page.evaluate(f"{parts}.map(e => e.closest('[lang]').lang.slice(0, 2))")
    assert len(found) > 8
    (language,) = set(found)
    return str(language)


@pytest.fixture
def site(page: Page) -> Page:
    """A page that finds, at http://site/, what it would of the site while JupyterLab loads."""
    there = {
        "/lab/index.html": f"<!doctype html><body><script type=module src={PROGRESS}></script>",
        "/lab/progress.mjs": (PARTS / "progress.mjs").read_text("utf-8"),
        "/files/pictures/both_ways_en.svg": PICTURE.read_text("utf-8"),
    }
    types = {"html": "text/html", "mjs": "text/javascript", "svg": "image/svg+xml"}

    def answer(route: Route) -> None:
        name = urlsplit(route.request.url).path
        kind = types[name.rpartition(".")[2]]
        route.fulfill(status=200 if name in there else 404, body=there.get(name), content_type=kind)

    page.emulate_media(reduced_motion="no-preference")
    page.route("http://site/**", answer)
    return page


PICTURE = ROOT / "notebooks" / "pictures" / "both_ways_en.svg"
PROGRESS = "progress.mjs?worker=../kernel.js"
MOVES = "document.querySelector('.mg-start object').contentDocument?.getAnimations()"
NOTEBOOK = """async (svg) => {
    const notebook = document.createElement("div");
    notebook.className = "jp-Notebook";
    notebook.innerHTML = '<p class="jp-Cell"><img></p><i class="jp-KernelStatus-spinner"></i>';
    document.body.append(notebook);
    notebook.querySelector("img").src = `data:image/svg+xml;base64,${btoa(svg)}`;
}"""
STILL = "atob(document.querySelector('.jp-Cell img').src.split(',')[1]).includes('* { animation')"
SAYS = "new BroadcastChannel('minigrad-start').postMessage({ asked: 9, came: 9, ready: %s })"


@pytest.mark.browser
def test_while_a_lesson_loads_a_file_moves_the_picture_on_and_nothing_else_moves(
    site: Page,
) -> None:
    """Frames that a processor composes would take a quarter of the time to the first drawing."""
    page, times = site, f"{MOVES}.map((move) => move.currentTime)"
    page.goto("http://site/lab/index.html?path=L00.ipynb")
    page.wait_for_function(f"{MOVES}?.length > 10")
    assert page.evaluate(f"{MOVES}.every((move) => move.playState === 'paused')")
    before = page.evaluate(times)
    page.evaluate("fetch('../files/pictures/both_ways_en.svg?again')")
    page.wait_for_function(f"{times}[0] > {before[0]}")
    assert page.evaluate(times) == [time + 60 for time in before]
    page.evaluate(
        NOTEBOOK, PICTURE.read_text("utf-8").encode("ascii", "xmlcharrefreplace").decode()
    )
    page.wait_for_function(STILL)
    moving = "document.getAnimations().length"
    assert page.evaluate(moving) == 0
    place = page.locator(".mg-start")
    page.evaluate(SAYS % "false")
    page.wait_for_function("document.querySelector('.mg-start').innerText.includes('9 of 9 files')")
    page.evaluate(SAYS % "true")
    page.wait_for_function("document.querySelector('.mg-start').innerText.includes('busy')")
    assert page.evaluate(STILL), "until it waits for the reader"
    page.evaluate("document.querySelector('.jp-KernelStatus-spinner').remove()")
    page.wait_for_function(f"!({STILL})")
    assert place.is_hidden()
    page.evaluate(SAYS % "false")
    page.wait_for_function("!document.querySelector('.mg-start').hidden")
    page.evaluate(SAYS % "true")
    page.wait_for_function("document.querySelector('.mg-start').hidden", timeout=5000)


# On the first visit no worker of the service has the page yet.
WORKERS = """
globalThis.made = [];
globalThis.Worker = class { constructor(address) { made.push(String(address)); } };
const serviceWorker = { controller: location.search.includes("first") ? null : {} };
Object.defineProperty(navigator, "serviceWorker", { value: serviceWorker });
"""
ASKED = """() => {
    const workers = ["/other.js", "/kernel.js", "/kernel.js"].map(
        (place) => new Worker(new URL(place, location.href), { type: "module" }));
    const paths = made.map((place) => new URL(place).pathname);
    return [paths, workers.every((worker) => worker instanceof Worker)];
}"""


@pytest.mark.browser
def test_from_the_second_visit_on_python_starts_while_jupyterlab_loads(site: Page) -> None:
    """Its worker is the first that the kernel asks for; the next, as after a restart, is new."""
    site.add_init_script(WORKERS)
    found = {}
    for query in ("?path=a.ipynb", "?path=a.ipynb&first", ""):
        site.goto(f"http://site/lab/index.html{query}")
        site.wait_for_function("document.querySelector('.mg-start')")
        found[query] = site.evaluate(ASKED)
    late = [["/other.js", "/kernel.js", "/kernel.js"], True]
    early = [["/kernel.js", "/other.js", "/kernel.js"], True]
    assert found == {"?path=a.ipynb": early, "?path=a.ipynb&first": late, "": late}


APP = """async () => {
    const calls = [];
    const session = { dispose: () => calls.push("disposed") };
    const sessions = { startNew: async (told) => (calls.push(told), session) };
    const { promise: started, resolve: start } = Promise.withResolvers();
    const restored = new Promise(() => {});
    const { default: plugin } = (await window._JUPYTERLAB["minigrad-lessons"].get())();
    plugin.activate({ started, restored, serviceManager: { sessions }, shell: {} });
    const early = calls.length;
    start();
    await new Promise(setTimeout);
    return [early, calls];
}"""


@pytest.mark.browser
def test_python_starts_in_the_browser_before_its_notebook_is_there(site: Page) -> None:
    """Its name and path are those that the notebook asks for; a server's JupyterLab names none."""
    found = {}
    for query in ("?path=course/L00.ipynb", ""):
        site.goto(f"http://site/lab/index.html{query}")
        site.add_script_tag(path=Path(EXTENSION, "minigrad-lessons", "language.js"))
        found[query] = site.evaluate(APP)
    told = {"name": "L00.ipynb", "path": "course/L00.ipynb", "type": "notebook"}
    started = [{**told, "kernel": {"name": "python"}}, "disposed"]
    # At first nothing can start a kernel.
    assert found == {"?path=course/L00.ipynb": [0, started], "": [0, []]}


ZIP = """
import {{ bytesOf, zipped }} from {keep};
const records = {records};
const zip = zipped(records.map((record) => [record.path, bytesOf(record)]));
process.stdout.write(new Uint8Array(await zip.arrayBuffer()));
"""


@pytest.mark.skipif(not shutil.which("node"), reason="Node runs the site's own JavaScript")
def test_what_the_browser_keeps_comes_out_as_a_zip(tmp_path: Path) -> None:
    cells = {"cells": [{"source": "y = 2  # 引擎"}]}
    records = [
        {"path": "课/00.ipynb", "type": "notebook", "format": "json", "content": cells},
        {"path": "my_engine/引擎.py", "type": "file", "format": "text", "content": "x = 1\n"},
        {"path": "p.png", "type": "file", "format": "base64", "content": "AAEC/w=="},
        {"path": "empty", "type": "file", "format": "text", "content": None},
    ]
    program = tmp_path / "zip.mjs"
    keep = json.dumps((PARTS / "keep.mjs").as_uri())
    program.write_text(ZIP.format(keep=keep, records=json.dumps(records)), "utf-8")
    made = tmp_path / "made.zip"
    made.write_bytes(subprocess.run(["node", program], check=True, capture_output=True).stdout)
    with zipfile.ZipFile(made) as file:
        assert file.testzip() is None
        assert json.loads(file.read("课/00.ipynb")) == cells
        assert file.read("my_engine/引擎.py") == b"x = 1\n"
        assert file.read("p.png") == b"\x00\x01\x02\xff"
        assert file.read("empty") == b""


@pytest.fixture
def lite(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What makes the site, where neither JupyterLite nor the network is there."""
    constants = SimpleNamespace(PYODIDE_CDN_URL="http://127.0.0.1:9/pyodide")
    kernel = SimpleNamespace(constants=constants)
    monkeypatch.setitem(sys.modules, "jupyterlite_pyodide_kernel", kernel)
    monkeypatch.delitem(sys.modules, "lite", raising=False)
    return importlib.import_module("lite")


def test_without_the_list_of_packages_one_sentence_says_where_else_it_is(
    lite: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.json").write_text("<html>")
    for options in ([], ["--pyodide-lock", str(tmp_path / "broken.json")]):
        with pytest.raises(SystemExit) as said:
            lite.main([str(tmp_path / "out"), *options])
        (line,) = str(said.value).splitlines()
        assert (options[1] if options else "127.0.0.1:9") in line
        assert "--pyodide-lock FILE" in line
        assert not (tmp_path / "out").exists()
    assert capfd.readouterr().out == ""


def test_a_site_that_fails_on_its_way_leaves_nothing_behind(
    lite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its folder is written only once all of it is there."""
    (tmp_path / "lock.json").write_text(json.dumps(LOCK))
    (tmp_path / "index.js").touch()
    monkeypatch.setattr(lite, "wheels", lambda folder: [])
    monkeypatch.setattr(lite, "put_off", lambda *_: {})
    monkeypatch.setattr(lite, "with_bytecode", lambda *_: None)

    def fails(site: Path, *told: object) -> None:
        site.mkdir()
        raise OSError("the disk is full")

    monkeypatch.setattr(lite, "lite", fails)
    told = ["--pyodide-lock", str(tmp_path / "lock.json"), "--graphviz", str(tmp_path / "index.js")]
    with pytest.raises(OSError, match="the disk is full"):
        lite.main([str(tmp_path / "out"), *told])
    assert {path.name for path in tmp_path.iterdir()} == {"index.js", "lock.json"}


def test_only_a_wheel_that_the_lock_file_names_is_compiled(
    lite: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the list of the site then names what came of it."""
    given, work = tmp_path / "pyodide", tmp_path / "work"
    given.mkdir()
    (work / "wheels").mkdir(parents=True)
    for name in (lite.LIBRARY, "numpy.whl"):
        (given / name).write_bytes(b"theirs")
    (work / "wheels" / "comm.whl").write_bytes(b"ours")
    monkeypatch.setattr(lite, "LOADED", ("numpy", "comm"))

    def compiled(command: list[Any], **told: Any) -> SimpleNamespace:
        if "input" in told:
            assert command[2] == given
            for file in command[3:]:
                file.write_bytes(file.read_bytes() + b" with bytecode")
        return SimpleNamespace(stdout=b"numpy")

    monkeypatch.setattr(lite.subprocess, "run", compiled)
    named = {"numpy": b"theirs", "comm": b"ours"}
    packages = {
        name: {
            "file_name": f"{name}.whl",
            "sha256": hashlib.sha256(data).hexdigest(),
            "depends": [],
        }
        for name, data in named.items()
    }
    lite.with_bytecode({"packages": packages}, given, work)
    for name, data in named.items():
        made = (work / "wheels" / f"{name}.whl").read_bytes()
        assert made == data + b" with bytecode"
        assert packages[name]["sha256"] == hashlib.sha256(made).hexdigest()
    assert (work / lite.LIBRARY).read_bytes() == b"theirs with bytecode"
    (work / "wheels" / "numpy.whl").unlink()
    with pytest.raises(SystemExit, match=r"numpy\.whl isn't the file that the lock file names"):
        lite.with_bytecode({"packages": packages}, given, work)
