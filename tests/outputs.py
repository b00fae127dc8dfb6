"""Refresh what the notebooks show: run them top to bottom and store what a reader will see.

    python tests/outputs.py                      all of notebooks/
    python tests/outputs.py notebooks/00_*.ipynb

For maintainers, after a change to a lesson or to what the engine prints. It is not a command of
`tasks.py`, which only compares (pytest --nbval). Stored are text, HTML and pictures; widget state,
widget views and execution times are not, because without their kernel they show nothing.

The same is stored whoever runs this: a learner's engine and choices in that folder, and the
variables and the layout program of this machine, have no part in it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from viz.picture import layout
from viz.words import user_files

ROOT = Path(__file__).parent.parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
TIMES = ("execution", "ExecuteTime")


def strip(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove, in place, what lives only as long as a kernel or differs from run to run."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL})
    for cell in notebook.cells:
        for key in TIMES:
            cell.metadata.pop(key, None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)
            output.get("metadata", {}).pop(WIDGET_VIEW, None)
    return notebook


def environment(learner: str) -> dict[str, str]:
    """The variables of a run that is stored: a folder of its own, and the pinned layout program."""
    if layout.bundled_dot() is None:
        raise SystemExit("Drawings are stored as graphviz-pure lays them out: install it first.")
    ours = {name: text for name, text in os.environ.items() if not name.startswith("MINIGRAD_")}
    return {**ours, "MINIGRAD_LANGUAGE": "en", user_files.FOLDER: learner, layout.PINNED: "1"}


def refresh(path: Path, timeout: int = 120) -> None:
    """Run a notebook from an empty kernel and store its outputs; an error leaves it as it was."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,  # of a stream that came in pieces
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    with tempfile.TemporaryDirectory() as learner:
        client.execute(env=environment(learner))
    path.write_text(nbformat.writes(strip(notebook)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    chosen = [Path(name) for name in sys.argv[1:]] or sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in chosen:
        refresh(path)
        print(path)
