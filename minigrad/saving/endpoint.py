"""A saved graph served over HTTP: `python -m minigrad.saving.endpoint FILE`.

It prints the number of its port and listens to this machine alone. A POST holds a JSON list with
a value for each input; the answer holds one for each output, or says what was wrong. It ends when
its standard input does, so it never outlives who started it.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from minigrad.diagnostics.errors import GraphError
from minigrad.saving.loading import load_graph
from minigrad.static import Graph
from minigrad.static.build import global_variables_initializer
from minigrad.static.session import Session

HOST, LONGEST = "127.0.0.1", 1 << 26  # bytes of a question


class Endpoint(ThreadingHTTPServer):
    """A graph at a free port of this machine; its variables hold what the file says."""

    daemon_threads = True

    def __init__(self, graph: Graph) -> None:
        super().__init__((HOST, 0), Handler)
        self.graph = graph
        with graph:
            self.session = Session(graph)
            self.session.run(global_variables_initializer())

    def answer(self, values: list[Any]) -> dict[str, Any]:
        """Return the outputs for these inputs and the subpackages of minigrad that are loaded."""
        pairs = zip(self.graph.inputs, values, strict=True)
        fed = {x: np.asarray(value, x.dtype) for x, value in pairs}
        outputs = self.session.run(list(self.graph.outputs), fed)
        subpackages = {name.split(".")[1] for name in sys.modules if name.startswith("minigrad.")}
        return {"outputs": [np.asarray(y).tolist() for y in outputs], "loaded": sorted(subpackages)}


class Handler(BaseHTTPRequestHandler):
    """A handler that answers each request with its server's graph."""

    server: Endpoint

    def do_POST(self) -> None:
        try:
            length = int(self.headers["Content-Length"])
            if not 0 <= length <= LONGEST:
                raise ValueError(f"Content-Length: {length}")
            status, reply = 200, self.server.answer(json.loads(self.rfile.read(length)))
        except Exception as error:  # noqa: BLE001 - whatever was asked, the next one is answered
            status, reply = 400, {"error": f"{type(error).__name__}: {error}"}
        body = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""


if __name__ == "__main__":
    try:
        endpoint = Endpoint(load_graph(sys.argv[1]))
    except (GraphError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    print(endpoint.server_port, flush=True)
    sys.stdin.read()
    endpoint.shutdown()
