"""What a notebook stores of a widget: its text, its HTML, and the live view where one can run.

In a page of a browser the view wins. Programs that run a notebook and keep what it shows
(nbconvert, nbgrader) would keep a view that loads its scripts from the network, so they get text
and HTML alone.
"""

from __future__ import annotations

import os
from typing import Any

from IPython import get_ipython

VIEW = "application/vnd.jupyter.widget-view+json"
PLAYED = "application/vnd.minigrad.page+json"  # what a page without a kernel plays
ROOM = "MINIGRAD_PAGE"  # the variable that asks for it: bytes for the positions of each slider
SERVERS = ("JPY_SESSION_NAME", "SERVER_SOFTWARE")  # set where a server runs cells for a live page


def widgets_run() -> bool:
    """Return whether widgets can run where this cell is shown.

    A browser numbers its messages at random; Python's client, which programs use, by its session.
    """
    kernel = getattr(get_ipython(), "kernel", None)
    message: dict[str, Any] = getattr(kernel, "get_parent", dict)()
    header = message.get("header", {})
    by_program = str(header.get("msg_id")).startswith(f"{header.get('session')}_")
    return not by_program or any(name in os.environ for name in SERVERS)


def with_fallback(bundle: Any, text: str, html: str) -> Any:
    """Add text and HTML to the bundle of a widget; drop the view where widgets can't run."""
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    data |= {"text/plain": text, "text/html": html}
    if not widgets_run():
        data.pop(VIEW, None)
    return bundle
