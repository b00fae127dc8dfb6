"""The course in a browser, with nothing installed: python docs/site.py FOLDER [options].

A JupyterLite with the lessons and with every wheel they import, as files for any web server. Python
itself (Pyodide) comes from its own CDN, or out of the folder that --pyodide names; Graphviz is part
of the site. `import minigrad, viz` works as it does at home, since the list of packages that
Pyodide reads, its lock file, holds ours too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from email.parser import HeaderParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tasks
from jupyterlite_pyodide_kernel import constants

ROOT = Path(__file__).parent.parent
HERE = Path(__file__).parent / "site"
GRAPHVIZ = "@hpcc-js/wasm-graphviz@1.29.2"  # Graphviz 14, Apache-2.0 and EPL-1.0
# What the lessons import that Pyodide has not, pure Python; versions are in constraints.txt.
WHEELS = ("anywidget", "comm", "graphviz", "ipywidgets", "psygnal", "typing-extensions")
# What the kernel asks of Pyodide; with the last two, the first cell has nothing to wait for.
PACKAGES = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "jedi", "ipython")
PACKAGES += ("minigrad", "ipywidgets", "anywidget")
KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
