"""DOT text → SVG: the only place that runs a layout engine, and that says what is missing.

Why these engines, in this order: docs/layout.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

from minigrad.diagnostics.messages import Pair, choose
from minigrad.diagnostics.packages import to_install
from viz.picture.theme import FONT_FAMILY
from viz.words.text import ROWS, row

FONTS = f"Helvetica,Arial,{FONT_FAMILY},sans-serif"
# In a process of its own: what its libraries write belongs to nobody's cell.
PYGRAPHVIZ = (
    "import sys, pygraphviz; source = sys.stdin.buffer.read().decode();"
    "sys.stdout.buffer.write(pygraphviz.AGraph(string=source).draw(format='svg', prog='dot'))"
)
PINNED = "MINIGRAD_PINNED_LAYOUT"  # set where drawings are stored: they differ between engines
LIMIT = 2.0  # seconds that an engine may take
SHELL = "/bin/sh"
PROCESSOR = 5  # seconds of the processor, after which the system stops an engine left alone
TIED = ("setpriv", "--pdeathsig", "KILL")
BROWSER = "graphviz_wasm"  # Graphviz as the site hands it to Python, docs/lite/start.mjs
# By the program that installs: what to type before the name of a program.
INSTALL = {
    "apt-get": "sudo apt-get install",
    "dnf": "sudo dnf install",
    "pacman": "sudo pacman -S",
    "zypper": "sudo zypper install",
    "apk": "apk add",
    "brew": "brew install",
    "winget": "winget install",
}
# Cards have their sizes; the names of frames do not. graphviz-pure knows how wide ASCII is in
# Helvetica, and takes every byte of other characters for a space of 0.278 em. So those of three
# bytes or more, mostly Chinese and as wide as high, are too narrow by a sixth: after every third
# stands one of two bytes, which is taken out again. No label holds it: it is a control character.
FAR = "[\u0800-\U0010ffff]"
THREE_FAR = re.compile(f'{FAR}(?:[^\u0800-\U0010ffff"]*{FAR}){{2}}')
FILLER = "\x81"


class LayoutError(RuntimeError):
    """No drawing can be made; `key` is the row of the text table that says why."""

    def __init__(self, key: str, **fields: object) -> None:
        self.pair = row(key, **fields)
        super().__init__(choose(self.pair))


class LayoutTimeout(LayoutError):
    """The layout engine was stopped, because it took longer than `LIMIT`."""

    def __init__(self) -> None:
        super().__init__("layout_slow", seconds=f"{LIMIT:g}")


def layout(source: str) -> str:
    """Lay out DOT text as SVG: with `dot` on the PATH, else graphviz-pure, else pygraphviz.

    In a browser, where no program can be started, with the one that came beside Python. Raises
    LayoutError when there is none of them, or when the engine stops, and LayoutTimeout when it
    takes too long.
    """
    if find_spec(BROWSER):
        return _run_in_browser(source)
    if PINNED not in os.environ and (program := shutil.which("dot")):
        return _run([program, "-Tsvg"], source)
    if program := bundled_dot():
        return _run_bundled(program, source)
    if (missing := pygraphviz_fault()) is None:
        return _run([sys.executable, "-c", PYGRAPHVIZ], source)
    pip, system = to_install("graphviz-pure"), install_command("graphviz", "graphviz.org")
    raise LayoutError("no_layout", pygraphviz=missing, pip=pip, system=system)


def layout_problem() -> str | None:
    """Return why nothing can be drawn on this machine and what to type; None if it can."""
    try:
        layout("digraph { a -> b }")
    except LayoutError as error:
        return str(error)
    return None


@cache
def bundled_dot() -> str | None:
    """Return the path of the program that graphviz-pure's wheel installed, or None."""
    try:
        files = metadata.files("graphviz-pure") or []
    except metadata.PackageNotFoundError:
        return None
    return next((str(Path(f.locate())) for f in files if f.stem == "graphviz-pure"), None)


@cache
def pygraphviz_fault() -> Pair | None:
    """Return why pygraphviz can't be used (it needs system libraries); None if it can."""
    if not find_spec("pygraphviz"):
        return ROWS["engine_absent"]
    command = [sys.executable, "-c", "import pygraphviz"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return row("engine_broken", reason=last_line(done.stderr)) if done.returncode else None


def install_command(name: str, site: str) -> str:
    """Return the command that installs a program here, or else its download page."""
    found = (f"{words} {name}" for program, words in INSTALL.items() if shutil.which(program))
    return next(found, f"https://{site}/download")


def _run_bundled(program: str, source: str) -> str:
    """Lay out with graphviz-pure, supplying the widths that it does not know."""
    with_font = source.replace(FONTS, "Helvetica")
    drawn = _run([program, "-Tsvg", "-q"], THREE_FAR.sub(rf"\g<0>{FILLER}", with_font))
    return drawn.replace(FILLER, "").replace('"Helvetica,sans-Serif"', f'"{FONTS}"')


def _run_in_browser(source: str) -> str:
    """Lay out with what the browser has loaded beside Python."""
    done = import_module(BROWSER).layout(source)
    if done.error:
        raise LayoutError("layout_failed", reason=last_line(done.error))
    return str(done.svg)


def _run(command: list[str], source: str) -> str:
    """Run a program on the text and return its output."""
    window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # none flashes up on Windows
    try:
        done = subprocess.run(  # which kills the program when it is interrupted
            tied_to_parent(command),
            input=source.encode(),
            capture_output=True,
            check=False,
            creationflags=window,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired as error:
        raise LayoutTimeout from error
    except OSError as error:
        raise LayoutError("layout_failed", reason=error) from error
    if done.returncode:
        raise LayoutError("layout_failed", reason=last_line(done.stderr.decode(errors="replace")))
    return done.stdout.decode()


def tied_to_parent(command: list[str]) -> list[str]:
    """Wrap a command so that it doesn't keep running after this process is killed.

    It has a few seconds of the processor; on Linux, where `setpriv` is to be had, it ends with its
    parent. Both without `preexec_fn`, which is not safe in a process with threads.
    """
    if not Path(SHELL).exists():
        return command
    tied = [*TIED, *command] if _can_tie() else command
    return [SHELL, "-c", f'ulimit -t {PROCESSOR}; exec "$@"', "sh", *tied]


@cache
def _can_tie() -> bool:
    """Return whether `setpriv` can end a program with its parent; that of BusyBox cannot."""
    try:
        return not subprocess.run([*TIED, "true"], capture_output=True, check=False).returncode
    except OSError:
        return False


def last_line(said: str) -> str:
    """Return the last line, cut to a readable length, which says why a program stopped."""
    return (said.strip().splitlines() or ["-"])[-1][:200]
