"""Real models in the explorer: how near they are to the original, how long, how large a page.

    python tests/oracles/models.py             each model that has no row yet, then docs/models.md
    python tests/oracles/models.py resnet gpt  those whose name holds one of these words, again
    python tests/oracles/models.py --table     the table alone, from the rows that are there

Each model runs in a process of its own and for at most LIMIT seconds of processor time. What was
measured is kept in build/models, so a run that was stopped goes on where it was; without that
folder it begins again. The packages are optional, and so is playwright: with it, each page is
opened, and all its cards have to be in view. No part of the test suite.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import io
import json
import multiprocessing
import os
import platform
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
ROOT = Path(__file__).parents[2]
FOLDERS = ("tests", "tests/viewer", "tests/oracles/models")
sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]

from real_models import Entry, Made, models  # noqa: E402

import viz  # noqa: E402
from minigrad.interop.captured import TOLERANCE, Captured  # noqa: E402
from minigrad.interop.jax import capture as jax_capture  # noqa: E402
from minigrad.interop.torch import capture as torch_capture  # noqa: E402
from viz.explorer.explorer import Explorer  # noqa: E402
from viz.views import explore  # noqa: E402

TARGET, ROWS = ROOT / "docs" / "models.md", ROOT / "build" / "models"
LIMIT = 120  # seconds of processor time for one model
MEMORY = Path("/proc/self/status")
Row = dict[str, Any]


# ---- One model, in this process ---------------------------------------------------------------


def measured(make: Callable[[], Made], page: Path) -> Row:
    """How a model fares: how far it is from the original, operators, seconds, megabytes.

    Seconds are processor time. Memory is what `viz.step` needs at most beyond model and inputs.
    """
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    model, inputs = make()
    before = _reset_peak()
    with _noted() as (graphs, exporting):
        start = time.process_time()
        made = viz.step(model, *inputs, whole=True)
        seconds = time.process_time() - start
    memory = _kilobytes("VmHWM") - before
    if not graphs or not isinstance(made, Explorer) or made.error is not None:
        return {"error": str(getattr(made, "error", made)).splitlines()[0]}
    (graph,) = graphs
    values, gradients = graph.gaps()
    row: Row = {
        "operators": len(made.data["operators"]),
        "values": values,
        "gradients": gradients,
        "boxes": list(graph.boxes),
        "refused": "" if graph.about.refused is None else graph.about.refused.reason,
        "seconds": seconds,
        "export": sum(exporting),
        "memory": memory / 1e3,
        "page": made.save(page).stat().st_size / 1e6,
        "input": ", ".join("×".join(map(str, x["shape"])) for x in made.data["inputs"]),
    }
    if max(values, gradients) > TOLERANCE and (precise := graph.about.precise()) is not None:
        row["exact"] = max(precise.gaps())
    return row


@contextlib.contextmanager
def _noted() -> Iterator[tuple[list[Captured], list[float]]]:
    """The graphs that are captured meanwhile, and the seconds that the model's own system took."""
    graphs: list[Captured] = []
    exporting: list[float] = []

    def kept(function: Any) -> Any:
        def call(*args: Any) -> Any:
            graphs.append(function(*args))
            return graphs[-1]

        return call

    def timed(function: Any) -> Any:
        def call(*args: Any) -> Any:
            start = time.process_time()
            try:
                return function(*args)
            finally:
                exporting.append(time.process_time() - start)

        return call

    places = [(explore, "try_capture", kept), (torch_capture, "_exported", timed)]
    places.append((jax_capture, "_equations", timed))
    old = [getattr(module, name) for module, name, _ in places]
    for module, name, around in places:
        setattr(module, name, around(getattr(module, name)))
    try:
        yield graphs, exporting
    finally:
        for (module, name, _), function in zip(places, old, strict=True):
            setattr(module, name, function)


def _reset_peak() -> int:
    """Let the system measure the peak of memory from here on; what is in use now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    return _kilobytes("VmRSS")


def _kilobytes(what: str) -> int:
    found = (
        re.search(rf"{what}:\s+(\d+) kB", MEMORY.read_text("ascii")) if MEMORY.exists() else None
    )
    return int(found[1]) if found else 0


# ---- Each model in a process of its own -------------------------------------------------------


def place_of(package: str, name: str, ending: str = "json") -> Path:
    return ROWS / f"{package} {name}.{ending}"


def warmed() -> None:
    """Import what is there once, and let PyTorch do what it does at its first export only.

    No backward pass: after one, PyTorch refuses to run another in a process that is forked.
    """
    for package in ("torchvision", "timm", "segmentation_models_pytorch", "transformers"):
        with contextlib.suppress(ImportError):
            importlib.import_module(package)
    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(1)
        torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),)).run_decompositions()


def run_apart(package: str, name: str, make: Callable[[], Made]) -> Row:
    """The row of a model, measured in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    place = place_of(package, name)
    place.parent.mkdir(parents=True, exist_ok=True)
    work = (make, place.with_suffix(".html"), theirs)
    process = context.Process(target=_work, args=work)
    process.start()
    theirs.close()
    try:
        row: Row = ours.recv()
    except EOFError:
        process.join()
        row = {"error": f"ended with {process.exitcode} (of memory, or after {LIMIT} s)"}
    process.join()
    row |= {"package": package, "name": name, "load": os.getloadavg()[0]}
    row["version"] = importlib.metadata.version(package.replace("_", "-"))
    row["date"] = time.strftime("%Y-%m-%d")
    place.write_text(json.dumps(row, ensure_ascii=False), "utf-8")
    return row


def _work(make: Callable[[], Made], page: Path, answer: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            row = measured(make, page)
    except Exception as error:  # noqa: BLE001 whatever a package raises
        told = (str(error).splitlines() or [""])[0]
        row = {"error": f"{type(error).__name__}: {told}"[:160]}
    answer.send(row)


def look(places: list[Path]) -> None:
    """Open each page, and note in its row how many cards are there, and what is wrong with them."""
    rows = {path: json.loads(path.read_text("utf-8")) for path in places}
    new = [path for path, row in rows.items() if "error" not in row and "cards" not in row]
    try:
        from browser import FLAGS, find_browser
        from playwright.sync_api import sync_playwright
        from test_browser_explorer import CARDS, STATE, settled
    except ImportError:
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
        for path in new:
            page.goto(path.with_suffix(".html").as_uri())
            settled(page)
            count = page.evaluate(f"() => {STATE}.atlas.focus.children.length")
            row = rows[path] | {"cards": count, "wrong": page.evaluate(CARDS)}
            path.write_text(json.dumps(row, ensure_ascii=False), "utf-8")
        browser.close()


# ---- The table --------------------------------------------------------------------------------

HEAD = (
    "| model | input | operators | values | gradients | calls the original | seconds "
    "| of these export | page, MB | memory, MB | cards |\n"
    "|---|---|--:|--:|--:|---|--:|--:|--:|--:|--:|"
)


def whole(row: Row) -> bool:
    """Whether the model is there, with every card in view, as far as a browser looked."""
    return "error" not in row and not row.get("wrong")


def near(row: Row) -> bool:
    if "error" in row or row["refused"]:
        return False
    return bool(max(row["values"], row["gradients"]) <= TOLERANCE)


def line(row: Row) -> str:
    """A model in the table."""
    if "error" in row:
        error = row["error"].replace("|", "/")
        return f"| {row['name']} | ✗ {error} | | | | | | | | | |"
    gaps = [f"{row[k]:.1e}" if row[k] <= TOLERANCE else f"**{row[k]:.1e}**" for k in GAPS]
    if row["refused"]:
        gaps[-1] = f"none: {row['refused']}"
    if "exact" in row:
        gaps[-1] += f" (float64: {row['exact']:.0e})"
    times = [f"{row[k]:.1f}" for k in ("seconds", "export")]
    cards = "–" if "cards" not in row else f"{row['cards']}{' ✗' if row['wrong'] else ''}"
    ends = [f"{row['page']:.2f}", f"{row['memory']:.0f}", cards]
    cells = [row["name"], row["input"], row["operators"], *gaps, ", ".join(row["boxes"])]
    return "| " + " | ".join(map(str, [*cells, *times, *ends])) + " |"


GAPS = ("values", "gradients")


def table(rows: list[Row]) -> str:
    """All models, by package, and how many of them are near and whole."""
    found, package = [], ""
    for row in rows:
        if row["package"] != package:
            package = row["package"]
            found.append(f"| **{package} {row['version']}** | | | | | | | | | | |")
        found.append(line(row))
    loads = sorted(row["load"] for row in rows)
    dates = sorted({row["date"] for row in rows})
    count = [len(rows), sum(map(whole, rows)), sum(map(near, rows))]
    load = loads[len(loads) // 2]
    about = {"days": " – ".join(dict.fromkeys((dates[0], dates[-1]))), "load": f"{load:.1f}"}
    about |= {"python": platform.python_version(), "cores": str(os.cpu_count())}
    return "\n".join([*(text.format(*count, **about) for text in ENDS), "", HEAD, *found])


ENDS = (
    "**{0} models: {1} are seen whole, {2} are within 1e-5.** Measured {days} with Python {python} "
    "on {cores} cores, one thread, niced; the median load was {load}.\n",
    "**{0} 个模型：{1} 个完整可见，{2} 个的误差不超过 1e-5。**测于 {days}，Python {python}，"
    "{cores} 个核心，单线程，低优先级；负载的中位数是 {load}。",
)
START, STOP = "<!-- made by tests/oracles/models.py -->", "<!-- end of what it makes -->"


def write(rows: list[Row]) -> None:
    """Put the table into its place in the page."""
    page = TARGET.read_text("utf-8")
    before, rest = page.split(START)
    after = rest.split(STOP)[1]
    TARGET.write_text(f"{before}{START}\n\n{table(rows)}\n\n{STOP}{after}", "utf-8")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("words", nargs="*")
    reader.add_argument("--table", action="store_true")
    asked = reader.parse_args()
    warnings.simplefilter("ignore")
    listed: list[Entry] = list(models())
    wanted = [
        (package, name, make)
        for package, name, make in listed
        if any(word.lower() in f"{package} {name}".lower() for word in asked.words)
        or not (asked.words or asked.table or place_of(package, name).exists())
    ]
    if wanted:
        warmed()
    for entry in wanted:
        print(entry[0], line(run_apart(*entry)), flush=True)
    places = [path for package, name, _ in listed if (path := place_of(package, name)).exists()]
    look(places)
    write([json.loads(path.read_text("utf-8")) for path in places])


if __name__ == "__main__":
    main()
