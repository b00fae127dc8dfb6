"""Drive a real JupyterLab in an installed browser: where it is, the server, the page.

The fixtures `lab` and `page` are in conftest.py. A test with the marker `browser` reads:

    lab.write("demo.ipynb", ["1 + 1"])
    open_notebook(page, lab, "demo.ipynb")
    run_all(page)
    assert cell_outputs(page)[0].text == "2"
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import forks
import nbformat

from minigrad_lessons.opening import EXTENSION

if TYPE_CHECKING:  # not needed to say that it is missing
    from playwright.sync_api import Browser, Page

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"

# Quiet and hermetic: no sandbox, since a build server is often root in a container, and nothing
# that the browser would fetch for itself.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--font-render-hinting=none",  # without windows it would widen each letter to whole pixels
    "--process-per-site",  # one process for all pages takes a tenth less time
)

# First the one without windows, which shows the same and takes a fifth less time.
ON_PATH = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "headless_shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
ON_MACOS = (
    "Chromium.app/Contents/MacOS/Chromium",
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
ON_WINDOWS = (
    r"Chromium\Application\chrome.exe",
    r"Google\Chrome\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
)

# Settings of the tests' own JupyterLab. Without windowing every cell is in the document, so that
# a test can look at one without scrolling to it.
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
}

# The debugger asks each kernel for its state, and calls it an error when the notebook closes
# meanwhile. The toolbar of a cell is made anew wherever a key goes, and is a fifth of its work.
# The splash screen is taken away twice when two themes are chosen within 200 ms, an error, too. The
# server has none of what grading and language servers would ask it for.
WITHOUT = [
    "@jupyter/nbgrader",
    "@jupyterlab/apputils-extension:splash",
    "@jupyterlab/cell-toolbar-extension",
    "@jupyterlab/debugger-extension",
    "@jupyterlab/lsp-extension",
]

# To look for language servers, the server starts Node; to load what grades, it takes half as long
# again to start.
GRADING = ("assignment_list", "course_list", "formgrader", "validate_assignment")
NOT_SERVED = ["jupyter_lsp", *(f"nbgrader.server_extensions.{name}" for name in GRADING)]

# JupyterLab's own error, where a delayed call of its finds the notebook closed: nothing of ours
# reads a `promise`.
LATE = "Cannot read properties of null (reading 'promise')"

# The server ends when its standard input does, that is also when pytest itself is killed. Leaving
# by signal lets Jupyter stop its kernels first; os.read holds no lock that blocks the exit.
SERVE = """
import os, signal, threading
from jupyterlab.labapp import main
def end_with_parent():
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=end_with_parent, daemon=True).start()
main()
"""


def obstacle() -> str | None:
    """Return what to install before the browser tests can run, or None."""
    if importlib.util.find_spec("playwright") is None:
        return "install the Python package playwright"
    return None if find_browser() else "install Chromium, Chrome or Edge"


def find_browser() -> str | None:
    """Return the path of an installed Chromium, Chrome or Edge; MINIGRAD_BROWSER overrides."""
    chosen = os.environ.get("MINIGRAD_BROWSER")
    if chosen:
        return chosen
    homes = [Path("/Applications"), Path.home() / "Applications"]
    roots = [os.environ.get(v) for v in ("ProgramFiles", "ProgramFiles(x86)", "LocalAppData")]
    installed = [home / app for app in ON_MACOS for home in homes]
    installed += [Path(root) / app for app in ON_WINDOWS for root in roots if root]
    found = filter(None, map(shutil.which, ON_PATH))
    return next(found, None) or next((str(path) for path in installed if path.exists()), None)


class Lab:
    """A JupyterLab server on a copy of the notebooks, deaf to the user's own settings."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "notebooks"
        self.token = secrets.token_hex(16)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{free.getsockname()[1]}"
        shutil.copytree(NOTEBOOKS, self.root, ignore=shutil.ignore_patterns(".*"))
        for name, settings in SETTINGS.items():
            extension, plugin = name.split("/")
            place = folder / "config/lab/user-settings/@jupyterlab" / extension
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{plugin}.jupyterlab-settings").write_text(json.dumps(settings))
        pages = folder / "config/labconfig"
        pages.mkdir()
        without = {"disabledExtensions": dict.fromkeys(WITHOUT, True)}
        (pages / "page_config.json").write_text(json.dumps(without))
        if forks.POSSIBLE:
            kernel = folder / "kernels" / "kernels" / "python3"
            kernel.mkdir(parents=True)
            (kernel / "kernel.json").write_text(json.dumps(forks.kernel_spec()))
        self._log = folder / "server.log"
        self._process = self._start(folder)
        self._wait_until_up()

    def _start(self, folder: Path) -> subprocess.Popen[bytes]:
        own = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_PATH": "kernels",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "IPYTHONDIR": "ipython",
            "MPLCONFIGDIR": "matplotlib",
        }
        environment = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTER")}
        environment |= {variable: str(folder / name) for variable, name in own.items()}
        environment["MINIGRAD_LEARNER"] = str(self.root)
        port = self.address.rpartition(":")[2]
        options = [
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            "--ServerApp.open_browser=False",
            "--ServerApp.allow_root=True",
            "--LabApp.expose_app_in_browser=True",
            f"--LabApp.extra_labextensions_path={EXTENSION}",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            *(f"--ServerApp.jpserver_extensions={name}=False" for name in NOT_SERVED),
        ]
        # Its own group: Ctrl-C is for pytest, which then ends the server in order.
        apart = (
            {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
            if sys.platform == "win32"
            else {"start_new_session": True}
        )
        with self._log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-c", SERVE, *options],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                **apart,
            )

    def _wait_until_up(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                self._request("GET", "/api/status")
            except OSError:  # URLError is one
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError("JupyterLab did not start:\n" + self._log.read_text(errors="replace"))

    def _request(self, method: str, path: str) -> None:
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(self.address + path, method=method, headers=headers)
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        direct.open(request, timeout=5).close()

    def url(self, notebook: str, place: str = "lab/tree") -> str:
        """Return the address that opens a notebook in a workspace with nothing else in it.

        place: "lab/tree" for JupyterLab, "notebooks" for Notebook 7, which the same server has.
        """
        return f"{self.address}/{place}/{notebook}?reset&token={self.token}"

    def write(self, notebook: str, cells: list[str]) -> None:
        """Write a notebook with these code cells beside the copied ones."""
        code = [nbformat.v4.new_code_cell(cell) for cell in cells]
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        made = nbformat.v4.new_notebook(cells=code, metadata={"kernelspec": kernel})
        nbformat.write(made, self.root / notebook)

    def stop(self) -> None:
        """End the server and its kernels: by request, then by signal, then by force."""
        if self._process.poll() is None:
            # If it never came up or is stuck, closing its input ends it as well.
            with contextlib.suppress(OSError):
                self._request("POST", "/api/shutdown")
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Started:
    """A browser, started when a module first needs it: to start one takes more than most tests."""

    def __init__(self) -> None:
        self._browser: Browser | None = None

    def resume(self) -> Browser:
        from playwright.sync_api import sync_playwright

        if self._browser is None:
            self._playwright = sync_playwright().start()
            self._browser = self._playwright.chromium.launch(
                executable_path=find_browser(), headless=True, args=list(FLAGS)
            )
            self._loop = asyncio.get_running_loop()
        asyncio._set_running_loop(self._loop)
        return self._browser

    def pause(self) -> None:
        """Let others have an event loop: that of Playwright runs as long as the browser does."""
        asyncio._set_running_loop(None)

    def end(self) -> None:
        if self._browser:
            self.resume().close()
            self._playwright.stop()


class Kept:
    """A page for each colour scheme: the tests of a process have it one after the other."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._pages: dict[str, Page] = {}

    def lent(self, scheme: Literal["light", "dark"], wide: int, high: int) -> Iterator[Page]:
        """As a new one would be: empty, at rest, and without errors."""
        page = self._pages.pop(scheme, None) or self._opened()
        page.goto("about:blank")
        page.set_viewport_size({"width": wide, "height": high})
        # Nothing plays by itself, but where a test asks for motion.
        media = {"media": "null", "reduced_motion": "reduce", "forced_colors": "none"}
        page.emulate_media(color_scheme=scheme, **media)
        page.mouse.up()
        page.mouse.move(0, 0)
        page.errors = []
        yield page
        if page.url.startswith(("file:", "about:")):  # a server's page keeps more than is seen
            self._pages[scheme] = page
        else:
            page.context.close()

    def rest(self) -> None:
        """Close what nobody will look at."""
        for page in self._pages.values():
            page.context.close()

    def _opened(self) -> Page:
        opened = self._browser.new_context().new_page()
        opened.on("pageerror", lambda e: str(e) == LATE or opened.errors.append(str(e)))
        opened.on(
            "console",
            lambda message: opened.errors.append(message.text) if message.type == "error" else None,
        )
        return opened


def open_notebook(page: Page, lab: Lab, name: str, place: str = "lab/tree") -> None:
    """Open a notebook of the server as one who has chosen nothing yet, and wait for its kernel."""
    forget_choices(lab)
    page.goto(lab.url(name, place))
    content = "() => window.jupyterapp?.shell?.currentWidget?.content?.widgets"
    page.wait_for_function(content, polling=OFTEN)
    page.evaluate(READY)


def open_next(page: Page, lab: Lab, name: str) -> None:
    """Open a notebook in the JupyterLab of the page in place of all that is open there."""
    forget_choices(lab)
    page.evaluate(
        """async path => {
            const { commands, shell } = window.jupyterapp;
            for (const last of [...shell.widgets('main')].filter(widget => widget.context)) {
                last.context.model.dirty = false;  // else it asks
                last.close();
            }
            await commands.execute('docmanager:open', { path });
        }""",
        name,
    )
    page.evaluate(READY)


OFTEN = 50  # milliseconds from look to look; to look at each frame makes the page work for each

# A notebook can run as soon as its kernel has said what it is.
READY = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.revealed;
    await panel.context.ready;
    await panel.sessionContext.ready;
    await panel.sessionContext.session.kernel.info;
}"""


def forget_choices(lab: Lab) -> None:
    """As where nobody has chosen a language yet."""
    (lab.root / ".minigrad.json").unlink(missing_ok=True)


def run_all(page: Page, seconds: float = 120) -> None:
    """Run every cell of the open notebook and wait until the kernel rests."""
    page.evaluate(
        """() => {
            window.ranAll = false;
            const run = window.jupyterapp.commands.execute('notebook:run-all-cells');
            run.finally(() => { window.ranAll = true; });
        }"""
    )
    page.wait_for_function("() => window.ranAll", timeout=1000 * seconds, polling=OFTEN)
    wait_idle(page, seconds)


def run_cell(page: Page, place: int, seconds: float = 120) -> None:
    """Run one cell of the open notebook and wait until the kernel rests."""
    page.evaluate(
        """async place => {
            window.jupyterapp.shell.currentWidget.content.activeCellIndex = place;
            await window.jupyterapp.commands.execute('notebook:run-cell');
        }""",
        place,
    )
    wait_idle(page, seconds)


def wait_idle(page: Page, seconds: float = 120) -> None:
    """Wait until no cell is waiting or running and the kernel says that it is idle."""
    page.wait_for_function(
        """() => {
            const panel = window.jupyterapp.shell.currentWidget;
            const prompts = [...panel.node.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
            return panel.sessionContext.session.kernel.status === 'idle'
                && !prompts.some(prompt => prompt.textContent.includes('*'));
        }""",
        timeout=1000 * seconds,
        polling=OFTEN,
    )


def choose_theme(page: Page, theme: str) -> None:
    """Change the theme of JupyterLab: "JupyterLab Light" or "JupyterLab Dark"."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme
    )
    page.wait_for_function(
        "light => document.body.dataset.jpThemeLight === light",
        arg=str(theme.endswith("Light")).lower(),
    )


class CellOutput(NamedTuple):
    """What the page shows below one code cell."""

    text: str
    html: str
    failed: bool


def cell_outputs(page: Page) -> list[CellOutput]:
    """Return what the page shows below each code cell, in the order of the cells."""
    rows = page.evaluate(
        """() => {
            const cells = window.jupyterapp.shell.currentWidget.content.widgets;
            return cells.filter(cell => cell.model.type === 'code').map(cell => {
                const parts = [...cell.node.querySelectorAll('.jp-OutputArea-output')];
                const results = cell.model.outputs;
                const kinds = Array.from({length: results.length}, (_, i) => results.get(i).type);
                return [
                    parts.map(part => part.innerText).join('\\n').trim(),
                    parts.map(part => part.innerHTML).join('\\n'),
                    kinds.includes('error'),
                ];
            });
        }"""
    )
    return [CellOutput(*row) for row in rows]
