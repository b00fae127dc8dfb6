"""Copies of the lessons in a learner's folder, and JupyterLab on one of them."""

import glob
import json
import os
import re
import shutil
import urllib.parse
from typing import Iterable, List, Sequence, Tuple

from minigrad_lessons.shadow import find_shadowing_file
from minigrad_lessons.student import (
    Notebook,
    is_untouched,
    key_of_copy,
    read_text,
    student_version,
    write_notebook,
)
from minigrad_lessons.terminal import Problem, message

EXTENSION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "labextension")


def prepare_command(arguments: Sequence[str], lessons: str, yours: str) -> List[str]:
    """Return what Python is to run, after the copies in `yours` were brought up to date.

    The arguments name a lesson, a file or a folder; from the first dash on they go to JupyterLab.
    """
    dashes = [i for i, argument in enumerate(arguments) if argument.startswith("-")]
    end = dashes[0] if dashes else len(arguments)
    requested, options = arguments[:end], list(arguments[end:])
    if len(requested) > 1:
        raise Problem(message("one_notebook", count=len(requested), names=" ".join(requested)))
    folder, which = folder_and_notebooks(requested[0] if requested else "index", yours)
    names = notebooks_in(folder) | (notebooks_in(lessons) if folder == yours else set())
    lesson = choose_lesson(which, sorted(names), folder)  # before anything is written
    if folder == yours:
        try:
            copy_lessons(lessons, yours)
        except OSError as error:
            raise Problem(message("no_copies", folder=yours, why=first_failure(error))) from error
    problem = find_shadowing_file(folder)
    if problem:
        raise Problem(problem)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options = ["--allow-root", *options]  # in a container everyone is root
    # Rather than the file's path: so the address printed for a remote reader opens it as well.
    # In a workspace of its own: what else the reader has open in JupyterLab stays apart.
    place = "--LabApp.default_url=/lab/workspaces/minigrad/tree/" + urllib.parse.quote(lesson)
    extension = "--LabApp.extra_labextensions_path=" + EXTENSION
    return ["-m", "jupyterlab", "--ServerApp.root_dir=" + folder, place, extension, *options]


def notebooks_in(folder: str) -> "set[str]":
    """Return the names of the notebooks in a folder."""
    return {os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.ipynb"))}


def first_failure(error: OSError) -> str:
    """Return what the system says; where several files failed together, of the first."""
    together = isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list)
    return str(error.args[0][0][-1] if together else error)


def folder_and_notebooks(which: str, yours: str) -> Tuple[str, str]:
    """Return the folder to open, and which of its notebooks: WHICH may be a folder or a file."""
    if glob.glob(os.path.join(which, "*.ipynb")):
        start = "index" if os.path.exists(os.path.join(which, "index.ipynb")) else "00"
        return os.path.abspath(which), start
    if os.path.isfile(which):
        return os.path.dirname(os.path.abspath(which)), which
    return yours, which


def choose_lesson(which: str, names: Sequence[str], folder: str) -> str:
    """Return the one notebook that `which` means: its number, or the start or part of its name."""
    if not names:
        raise Problem(message("no_notebooks", folder=folder))
    query = os.path.basename(which).lower()
    query = query[: -len(".ipynb")] if query.endswith(".ipynb") else query
    number = re.match(r"l?(\d{1,2})$", query)
    query = "{:02d}_".format(int(number.group(1))) if number else re.sub(r"^l(?=\d)", "", query)
    stems = {name: name[: -len(".ipynb")].lower() for name in names}
    for fits in (str.__eq__, str.startswith, str.__contains__):
        found = sorted(name for name, stem in stems.items() if fits(stem, query))
        if len(found) == 1:
            return found[0]
        if found:
            raise Problem(message("several_fit", which=which, names=one_per_line(found)))
    raise Problem(message("none_fits", which=which, names=one_per_line(sorted(names))))


def copy_lessons(lessons: str, yours: str) -> None:
    """Bring the copies in `yours` up to date; never one that was edited."""
    os.makedirs(yours, exist_ok=True)
    kept = []
    for name, notebook in student_versions(lessons).items():
        path = os.path.join(yours, name)
        if key_of_copy(path) == notebook["metadata"]["student"]:
            continue  # its outputs stay
        if not os.path.lexists(path) or is_untouched(path):
            write_notebook(path, notebook)
        else:
            kept.append(name)
    copy_pictures(lessons, yours)
    if kept:
        print(message("newer", names=one_per_line(sorted(kept))))


def student_versions(lessons: str) -> "dict[str, Notebook]":
    """Return all notebooks of a folder as learners start them, by their names."""
    paths = sorted(glob.glob(os.path.join(lessons, "*.ipynb")))
    return {os.path.basename(path): student_version(json.loads(read_text(path))) for path in paths}


def copy_pictures(lessons: str, folder: str) -> None:
    """Bring the pictures that the prose shows into a folder of notebooks."""
    pictures = os.path.join(lessons, "pictures")
    if os.path.isdir(pictures):
        shutil.copytree(pictures, os.path.join(folder, "pictures"), dirs_exist_ok=True)


def one_per_line(names: Iterable[str]) -> str:
    """Return names on separate lines."""
    return "\n".join("    " + name for name in names)
