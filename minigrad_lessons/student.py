"""A lesson as a learner starts it: no solutions, no hidden tests, no outputs."""

import hashlib
import json
import os
import re
from typing import Any, Dict, Iterable, Union

from minigrad_lessons.terminal import Problem, message

Notebook = Dict[str, Any]

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINE = os.path.join(HERE, "lesson", "my_engine.py")

# Of nbgrader; each at the start of a line, the region ends before the next line.
SOLUTION = re.compile(r"^### BEGIN SOLUTION\n.*?^### END SOLUTION$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?", re.M | re.DOTALL)
STUB = """\
# Your answer goes into the cell above. Leave this one as it is.
# 答案写在上面的单元格里，这个单元格不用改。"""
# Where ours is a part of the engine, or stands beside the check, it can be seen after a try.
OFFER = """\
# Your answer goes into the cell above. After a try, run this one to see ours.
# 答案写在上面的单元格里。试过以后，运行这个单元格，可以看我们的写法。
lessons.solution({})"""
# The links that open a lesson on somebody's server, a paragraph of each half of its first cell.
LINKS = re.compile(r"^\[.*colab\.research\.google\.com.*\n\n", re.MULTILINE)


def without_hosting(notebook: Notebook) -> Notebook:
    """Return a copy without the links to Colab and Binder, and the cell that installs there."""
    made: Notebook = json.loads(json.dumps(notebook))
    made["cells"] = [cell for cell in made["cells"] if cell.get("id") != "install"]
    for cell in made["cells"][:1]:
        cell["source"] = LINKS.sub("", "".join(cell["source"])).splitlines(True)
    return made


def student_version(notebook: Notebook) -> Notebook:
    """Return a lesson as a learner starts it; of one that is so already, a copy."""
    made = without_hosting(notebook)
    for cell in made["cells"]:
        if cell["cell_type"] != "code":
            continue
        cell["outputs"], cell["execution_count"] = [], None
        source = "".join(cell["source"])
        stub = stub_for(source, cell["metadata"]) if SOLUTION.search(source) else ""
        shown = HIDDEN.sub("", SOLUTION.sub(stub, source))
        if re.search(r"### (BEGIN|END)\b", shown):
            raise Problem(message("no_end", source=source))
        cell["source"] = shown.rstrip("\n").splitlines(True)
        if stub:  # folded, nobody would read it
            cell["metadata"].pop("jupyter", None)
    made["metadata"]["student"] = sources_key(made)
    return made


def stub_for(source: str, metadata: Notebook) -> str:
    """Return what replaces our answer."""
    ours = re.findall(r"^def our_(\w+)\(", source, re.MULTILINE)
    engine = read_text(ENGINE)
    parts = [name for name in ours if re.search(r"^def {}\(.*# yours".format(name), engine, re.M)]
    lesson, exercise = metadata["nbgrader"]["grade_id"].split("-")[:2]
    if not parts and "ours = " not in read_text(os.path.join(HERE, "questions", lesson + ".toml")):
        return STUB
    ids = ["{}.{}".format(lesson, exercise), *parts]
    return OFFER.format(", ".join('"{}"'.format(name) for name in ids))


def sources_key(notebook: Notebook) -> str:
    """Return the hash of what its cells say: running them changes nothing, writing does."""
    return fingerprint(["".join(cell["source"]) for cell in notebook["cells"]])


def is_untouched(path: str) -> bool:
    """Return whether a file is a student version without any answers yet."""
    try:
        notebook = json.loads(read_text(path))
        return bool(notebook["metadata"]["student"] == sources_key(notebook))
    except (ValueError, KeyError, TypeError):
        return False


def key_of_copy(path: str) -> Union[str, None]:
    """Return the key of the version that a copy was made from, None where there is no copy."""
    try:
        return str(json.loads(read_text(path))["metadata"]["student"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def fingerprint(texts: Iterable[str]) -> str:
    """Return a short hash: the same texts, and only those, give the same one."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:20]


def read_text(path: str) -> str:
    """Return a text file, or nothing where there is none."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write_notebook(path: str, notebook: Notebook) -> None:
    """Write it as its form wants it: the same on every system."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        json.dump(notebook, file, ensure_ascii=False, indent=1, sort_keys=True)
        file.write("\n")
