"""Detect another project's files in the place of ours: PyPI has one by each of the names."""

from importlib import metadata, util

from minigrad_lessons.shadow import NAMES, is_ours, remedy_for
from minigrad_lessons.terminal import message


def name_clash_message() -> str:
    """Return what to do about the first name that another project has taken, or nothing."""
    for name in NAMES:
        spec = util.find_spec(name)
        place = spec.origin if spec and spec.origin else "-"
        if not is_ours(place):
            return message(remedy_for(place), name=name, place=place)
        if installed_by_another(name):
            return message("clash", name=name, place=place)
    return ""


def installed_by_another(name: str) -> bool:
    """Return whether a distribution with exactly this name, not ours, installed these files too."""
    try:
        brought = metadata.distribution(name).read_text("RECORD") or ""
    except metadata.PackageNotFoundError:
        return False
    return any(line.startswith(name + "/__init__.py,") for line in brought.splitlines())
