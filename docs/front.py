"""The first page of the site: a digit to draw (digit.py), and where the lessons begin."""

from __future__ import annotations

import re
from pathlib import Path

import digit

BEGIN = Path(__file__).parent / "lite" / "begin.html"
# Every page of JupyterLite begins by reading this one.
CONFIG = (
    '<script id="jupyter-config-data" type="application/json" data-jupyter-lite-root=".">'
    "{}</script>"
)


def first_page(read: bool, download: int, behind: int) -> str:
    """Return the page that everyone meets first.

    read: whether the site has pages to read; the others are megabytes, until the first drawing and
    behind it.
    """
    below = BEGIN.read_text("utf-8")
    below = below.replace("@SIZE@", str(download)).replace("@LATER@", str(behind))
    if not read:
        below = re.sub(r'<a class="first".*?</a>\n', "", below)
    lab = digit.Link("lab/index.html?path=index.ipynb", ("Run them", "运行课程"))
    links = [*digit.lessons_in("read/"), lab] if read else [lab]
    return digit.page(links, head=CONFIG, below=below, scripts="'self'")
