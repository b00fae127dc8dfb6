"""The engine as a wheel for a class: our answers to its exercises are not in it as text."""

from __future__ import annotations

import base64
import csv
import fnmatch
import hashlib
import io
import re
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ENGINE = "minigrad_lessons/lesson/my_engine.py"
OURS = re.compile(r'(?m)^ours = """\n(?:.*\n)*?"""\n')
# Whoever skips a part of the engine needs ours in the next lesson; nobody is to trip over it.
PACKED = '''\
"""The engine of the course, packed: a part of it is shown when the lesson after it is opened."""

import base64
import zlib

PACKED = """
{packed}
"""
TEXT = zlib.decompress(base64.b85decode("".join(PACKED.split()))).decode()
exec(compile(TEXT, __file__, "exec"))
'''
SCHEME = "Wheel-Version: 1.0\nGenerator: minigrad kit\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
STARTED = (2020, 1, 1, 0, 0, 0)  # the same files give the same wheel


def write(folder: Path) -> str:
    """Write the wheel into a folder, and return what pip is to be asked for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    name = project["project"]["name"].replace("-", "_")
    # Its own version, so that pip never takes the one with our answers from an index.
    version = project["project"]["version"] = f"{project['project']['version']}+class"
    info = f"{name}-{version}.dist-info"
    setuptools = project["tool"]["setuptools"]
    found = setuptools["packages"]["find"]["include"]
    packages = [p.parent.name for p in ROOT.glob("*/__init__.py") if matches(p.parent.name, found)]
    files = dict(contents(sorted(packages), setuptools["package-data"]["*"]))
    files[f"{info}/METADATA"] = metadata(project["project"]).encode()
    files[f"{info}/WHEEL"] = SCHEME.encode()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD").encode()
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file, data in files.items():
            wheel.writestr(zipfile.ZipInfo(file, STARTED), data, zipfile.ZIP_DEFLATED)
    return f"{project['project']['name']}[lab]=={version}"


def matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def contents(packages: list[str], beside: list[str]) -> Iterator[tuple[str, bytes]]:
    """Each module, and each file that a wheel brings beside them, by its path."""
    for package in packages:
        for path in sorted((ROOT / package).rglob("*")):
            wanted = path.is_file() and matches(path.name, ["*.py", *beside])
            if wanted and "__pycache__" not in path.parts:
                name = path.relative_to(ROOT).as_posix()
                yield name, without_answers(name, path.read_bytes())


def without_answers(name: str, data: bytes) -> bytes:
    """A file of the wheel: the engine packed, no answer beside a check of an exercise."""
    if name == ENGINE:
        packed = base64.b85encode(zlib.compress(data, 9)).decode()
        lines = "\n".join(packed[i : i + 96] for i in range(0, len(packed), 96))
        return PACKED.format(packed=lines).encode()
    if name.startswith("minigrad_lessons/questions/") and name.endswith(".toml"):
        return OURS.sub("", data.decode()).encode()
    return data


def metadata(project: dict[str, Any]) -> str:
    """What pip reads: the name, the version, what is needed, and what JupyterLab needs."""
    told = {"Name": "name", "Version": "version", "Summary": "description"}
    lines = ["Metadata-Version: 2.1", *(f"{k}: {project[v]}" for k, v in told.items())]
    lines += [f"Requires-Python: {project['requires-python']}", "Provides-Extra: lab"]
    lines += [f"Requires-Dist: {needed}" for needed in project["dependencies"]]
    lab = project["optional-dependencies"]["lab"]
    lines += [f'Requires-Dist: {needed}; extra == "lab"' for needed in lab]
    return "\n".join([*lines, ""])


def record(files: dict[str, bytes], itself: str) -> str:
    """The list of all files with their hashes."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(data)])
    rows.writerow([itself, "", ""])
    return text.getvalue()
