"""A saved graph that a separate process serves for one request: `over_http`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from minigrad.diagnostics.messages import Pair
from minigrad_lessons.lesson.wording import bilingual, bilingual_lines
from minigrad_lessons.questions import find_lesson
from viz.page.document import Document
from viz.words.text import row, row_text

__all__ = ["over_http"]

SECONDS = 60  # until an answer has to be there


class Reply(Document):
    """What was answered: `outputs`, arrays, and `loaded`, the subpackages of minigrad loaded there.

    `fresh` says whether a process answered just now.
    """

    def __init__(self, said: Mapping[str, Any], about: Pair, fresh: bool) -> None:
        self.outputs = [np.asarray(y) for y in said["outputs"]]
        self.loaded: list[str] = said["loaded"]
        self.about, self.fresh = about, fresh

    def __repr__(self) -> str:
        return bilingual_lines(self.about)

    def _repr_html_(self) -> str:
        return self._page()[1]

    def _page(self) -> tuple[Pair, str]:
        return row("served_title"), f'<div class="mg-shown">{bilingual(self.about)}</div>'


def over_http(lesson: str, path: str | Path, *inputs: Any) -> Reply:
    """Start a process that serves a saved graph on this machine, ask it once, and end it.

    inputs: an array for each input of the graph. The process runs nothing but the file, see
    `minigrad.saving.endpoint`. Where no process can be started, as in a browser, it is the stored
    answer of the lesson, and says so. ValueError with what the process says of a wrong question or
    file, UnknownIdError for an unknown lesson.

    >>> import minigrad as mg, tempfile
    >>> x = mg.placeholder("x", shape=(None,))
    >>> graph = mg.build_graph(x, x * x + 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.save(f"{folder}/square.graph")
    ...     reply = over_http("L14", f"{folder}/square.graph", [2.0, 3.0])
    >>> print(reply.outputs[0], "nn" in reply.loaded)
    [ 7. 12.] False
    """
    stored = find_lesson(lesson).served
    try:
        said, code = _request_answers(path, [np.asarray(x).tolist() for x in inputs])
    except OSError:
        if not stored:
            raise
        about = {"version": stored["version"], "loaded": ", ".join(stored["loaded"])}
        return Reply(stored, row("served_stored", **about), False)
    if "error" in said:
        raise ValueError(row_text("served_refused", problem=said["error"]))
    return Reply(said, row("served_fresh", code=code, loaded=", ".join(said["loaded"])), True)


def _request_answers(path: str | Path, values: list[Any]) -> tuple[dict[str, Any], int]:
    """Return what a new process answers, and its exit code; raise OSError without processes.

    Closing its standard input ends it.
    """
    if sys.platform == "emscripten":
        raise OSError("no processes here")
    command = [sys.executable, "-m", "minigrad.saving.endpoint", os.fspath(path)]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=where) as p:
        port = cast(IO[str], p.stdout).readline()
        if not port:
            return {"error": p.communicate()[1].partition("\n")[0]}, p.wait()
        connection = HTTPConnection("127.0.0.1", int(port), timeout=SECONDS)
        connection.request("POST", "/", json.dumps(values))
        said: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        cast(IO[str], p.stdin).close()
        return said, p.wait(SECONDS)
