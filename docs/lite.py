"""The course in a browser, with nothing installed: python docs/lite.py FOLDER [options].

A JupyterLite with the lessons and every wheel they import, as files for any web server, and beside
it the pages to read (pages.py), whose exercises lead into it. Python
itself (Pyodide) comes from its own CDN, or out of the folder that --pyodide names; Graphviz is part
of the site. `import minigrad, viz` works as it does at home, since the list of packages that
Pyodide reads, its lock file, holds ours, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from front import first_page
from packages import locked, needed, put_off
from pages import write_pages

from minigrad_lessons.opening import copy_lessons

try:
    from jupyterlite_pyodide_kernel import constants
except ImportError as error:
    raise SystemExit(
        f'{error}. A site needs JupyterLite: pip install -e ".[site]", or'
        " python tasks.py site OUT, which installs it."
    ) from None

ROOT = Path(__file__).parent.parent
PARTS = Path(__file__).parent / "lite"
EXTENSION = ROOT / "minigrad_lessons" / "labextension"
GRAPHVIZ = "@hpcc-js/wasm-graphviz@1.29.2"
# What the lessons import and Pyodide has not; constraints.txt has their versions.
WHEELS = ("anywidget", "comm", "graphviz", "ipywidgets", "psygnal", "typing-extensions")
# What the kernel asks for, and what the first cell does: there before it runs.
LOADED = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "ipython")
LOADED += ("minigrad-lessons", "ipywidgets", "anywidget", "cycler")
# What charts, saved pages, completions and a terminal need: fetched behind the others, unpacked
# when it is imported.
LATER = ("matplotlib", "fonttools", "jedi", "prompt-toolkit")
# Megabytes until the first drawing, and behind it, counted where the tests' Pyodide is served.
DOWNLOAD, BEHIND = 39, 12
KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
LIBRARY = "python_stdlib.zip"
# Prints the modules that a kernel and a first drawing import.
FIRST = """
import sys
import IPython.core.application, IPython.core.shellapp
import minigrad as mg, minigrad_lessons as lessons, viz
from minigrad import build_graph, placeholder, run, tensor
import viz.page.language
sys.platform = "emscripten"
lessons.quiz
viz.draw(mg.tensor(2.0, requires_grad=True) * 3)._repr_mimebundle_()
print(*(name for name in sys.modules if not name.startswith("IPython")))  # its versions differ
"""
# Where everything of ours lies in the site: Pyodide looks there for each file without an address.
OURS = "static/pyodide"
READ = "read"  # the pages to read


def options(arguments: list[str]) -> argparse.Namespace:
    """What was asked for; where nothing was, the places that JupyterLite's kernel knows."""
    parser = argparse.ArgumentParser(prog="python tasks.py site", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pyodide", type=Path, help="a folder with a Pyodide to put in the site")
    parser.add_argument("--pyodide-lock", help="address or file of its lock file")
    parser.add_argument(
        "--graphviz", type=Path, help=f"index.js of {GRAPHVIZ}; else npm fetches it"
    )
    parser.add_argument("--wheel", type=Path, action="append", default=[], help="one more package")
    parser.add_argument("--notebooks", type=Path, help="lessons to take; else those of learners")
    told = "notebooks that become pages to read; none without a name, all without the option"
    parser.add_argument("--pages", type=Path, nargs="*", help=told)
    return parser.parse_args(arguments)


# ---- The parts ------------------------------------------------------------------------------


def wheels(folder: Path) -> list[Path]:
    """Our own wheel, those that the lessons import, and those that the kernel brings."""
    pip = [sys.executable, "-m", "pip", "--quiet"]
    shutil.rmtree(
        ROOT / "build" / "lib", ignore_errors=True
    )  # what was there once would come along
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], check=True)
    anywhere = ["--no-deps", "--only-binary=:all:", "--platform=any", "--python-version=3.12"]
    versions = ["--constraint", ROOT / "constraints.txt"]
    subprocess.run([*pip, "download", *anywhere, *versions, "-d", folder, *WHEELS], check=True)
    share = Path(sys.prefix) / "share/jupyter/labextensions" / constants.PYODIDE_KERNEL_NPM_NAME
    for name in ("ipykernel", "piplite", "pyodide_kernel"):
        (wheel,) = (share / "static" / constants.PYPI_WHEELS).glob(f"{name}-*.whl")
        shutil.copy(wheel, folder)
    return sorted(folder.glob("*.whl"))


def graphviz(file: Path | None, to: Path) -> None:
    """Graphviz as WebAssembly, with its licence, from npm or out of a file."""
    if file:
        shutil.copy(file, to)
        return
    with tempfile.TemporaryDirectory() as folder:
        package = from_npm(GRAPHVIZ, Path(folder))
        shutil.copy(package / "dist" / "index.js", to)
        shutil.copy(package / "LICENSE", to.with_suffix(".LICENSE"))


def from_npm(name: str, folder: Path) -> Path:
    """The folder of a package as npm has it."""
    npm = shutil.which("npm")
    if not npm:
        raise SystemExit("npm is missing. Install Node, or name a file: --graphviz index.js")
    subprocess.run([npm, "pack", "--silent", name], cwd=folder, check=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as package:
        package.extractall(folder, filter="data")
    return folder / "package"


def with_bytecode(lock: dict[str, Any], given: Path | None, work: Path) -> None:
    """Compile what the first drawing imports, so that no browser does at each start.

    That is of Python's own library, and of the packages that lie in the site: our wheels, and those
    of a Pyodide that is given. Each of its wheels is the one that its lock file names.
    """
    python = given or from_npm(f"pyodide@{constants.PYODIDE_VERSION}", work)
    shutil.copy(python / LIBRARY, work)
    inside = {}
    for name in needed(lock, *LOADED):
        package = lock["packages"][name]
        wheel = work / "wheels" / package["file_name"]
        if given and not wheel.exists() and wheel.suffix == ".whl":
            data = (given / wheel.name).read_bytes()
            if hashlib.sha256(data).hexdigest() != package["sha256"]:
                raise SystemExit(f"{given / wheel.name} isn't the file that the lock file names.")
            wheel.write_bytes(data)
        if wheel.is_file():
            inside[wheel] = package
    first = subprocess.run([sys.executable, "-c", FIRST], check=True, stdout=subprocess.PIPE)
    compiler = ["node", Path(__file__).with_name("bytecode.mjs")]
    subprocess.run([*compiler, python, work / LIBRARY, *inside], check=True, input=first.stdout)
    for wheel, package in inside.items():
        package["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()


def lessons(given: Path | None, folder: Path) -> None:
    """The lessons as a learner starts them, for the kernel that the site has, so that none asks."""
    if not given:
        copy_lessons(str(ROOT / "notebooks"), str(folder))
    else:
        shutil.copytree(given, folder, ignore=shutil.ignore_patterns(".*", "yours", "my_engine"))
    for path in folder.glob("*.ipynb"):
        notebook = json.loads(path.read_text("utf-8"))
        notebook["metadata"]["kernelspec"] = KERNEL
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), "utf-8")
    for path in folder.rglob("*.svg"):  # JupyterLite shows pictures of one-byte letters only
        path.write_bytes(path.read_text("utf-8").encode("ascii", "xmlcharrefreplace"))


def read(place: str) -> dict[str, Any]:
    """A lock file, from an address or out of a file."""
    try:
        if "://" not in place:
            return dict(json.loads(Path(place).read_text("utf-8")))
        with urllib.request.urlopen(place, timeout=20) as answer:
            return dict(json.load(answer))
    except (OSError, ValueError) as error:
        raise SystemExit(
            f"The list of Pyodide's packages can't be read: {place} ({error}). The same file,"
            " pyodide-lock.json, is in npm's package pyodide. Name it: --pyodide-lock FILE"
        ) from None


# ---- The site -------------------------------------------------------------------------------


def settings(index: str, compiled: bool) -> dict[str, Any]:
    """What JupyterLite is told of the kernel: our start, our list, no other index."""
    return {
        "pyodideUrl": f"./{OURS}/start.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {
            "indexURL": index,
            "lockFileURL": f"./{OURS}/pyodide-lock.json",
            "packages": [*LOADED, "jedi"],  # what is not named here, the kernel loads itself
            **({"stdLibURL": f"./{OURS}/{LIBRARY}"} if compiled else {}),
        },
    }


def lite(folder: Path, contents: Path, work: Path, told: dict[str, Any]) -> None:
    """Let JupyterLite build what is its own, with the lessons in it."""
    plugins = {constants.PYODIDE_KERNEL_PLUGIN_ID: told}
    config = {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {"litePluginSettings": plugins},
    }
    (work / "jupyter-lite.json").write_text(json.dumps(config), "utf-8")
    build = [sys.executable, "-m", "jupyterlite_core", "build", "--no-sourcemaps", "--apps=lab"]
    places = {"lite-dir": work, "output-dir": folder.resolve(), "contents": contents}
    # As `minigrad-lessons` loads it: a notebook that has not run is in the reader's language.
    places["FederatedExtensionAddon.extra_labextensions_path"] = EXTENSION
    build += [f"--{name}={place}" for name, place in places.items()]
    subprocess.run(build, check=True, cwd=work)


def pages(folder: Path) -> None:
    """The page that everyone meets first, and in JupyterLab the line that says how far it is.

    That line has a worker start Python while JupyterLab loads.
    """
    text = first_page((folder / READ).exists(), DOWNLOAD, BEHIND)
    (folder / "index.html").write_text(text, "utf-8")
    kernel = f"extensions/{constants.PYODIDE_KERNEL_NPM_NAME}/static"
    (worker,) = (folder / kernel).glob("comlink.worker.*.js")
    with worker.open("a", encoding="utf-8") as script:
        script.write(f'\nimport("../../../../{OURS}/start.mjs");\n')
    lab = folder / "lab" / "index.html"
    source = f"../{OURS}/progress.mjs?worker=../../{kernel}/{worker.name}"
    line = f'<script type="module" src="{source}"></script></head>'
    lab.write_text(lab.read_text("utf-8").replace("</head>", line, 1), "utf-8")


def main(arguments: list[str]) -> None:
    """Build all of it elsewhere, so that what fails leaves nothing behind; first what may fail."""
    asked = options(arguments)
    base = "" if asked.pyodide else constants.PYODIDE_CDN_URL + "/"
    lock = asked.pyodide_lock or f"{asked.pyodide or constants.PYODIDE_CDN_URL}/pyodide-lock.json"
    theirs = read(lock)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder).resolve()
        site = work / "site"
        graphviz(asked.graphviz, work / "graphviz.js")
        (work / "wheels").mkdir()
        for wheel in asked.wheel:
            shutil.copy(wheel, work / "wheels")
        whole = locked(theirs, base, wheels(work / "wheels"))
        later = put_off(whole, LOADED, LATER)
        node = shutil.which("node") is not None
        if node:
            with_bytecode(whole, asked.pyodide, work)
        lessons(asked.notebooks, work / "lessons")
        told = settings(base or f"./{OURS}/", node)
        lite(site, work / "lessons", work, told)
        # A browser asks for the pictures of prose there, before JupyterLab writes their addresses.
        shutil.copytree(work / "lessons" / "pictures", site / "lab" / "pictures")
        ours = site / OURS
        if asked.pyodide:
            shutil.copytree(asked.pyodide, ours, dirs_exist_ok=True)
        ours.mkdir(parents=True, exist_ok=True)
        for name in needed(whole, *LOADED, *LATER):
            made = work / "wheels" / whole["packages"][name]["file_name"]
            if made.exists():
                shutil.copy(made, ours)
        (ours / "pyodide-lock.json").write_text(json.dumps(whole), "utf-8")
        later["options"] = told["loadPyodideOptions"]
        (ours / "later.json").write_text(json.dumps(later), "utf-8")
        for part in (
            *work.glob("graphviz.*"),
            *work.glob(LIBRARY),
            *PARTS.glob("*.mjs"),
            PARTS / "later.py",
        ):
            shutil.copy(part, ours)
        if asked.pages != []:
            run = "../../lab/index.html?path={notebook}"
            write_pages(site / READ, asked.pages or (), run=run)
        pages(site)
        shutil.copytree(site, asked.folder, copy_function=shutil.move, dirs_exist_ok=True)


if __name__ == "__main__":
    main(sys.argv[1:])
