"""Detect a file that hides one of our packages: Python searches a notebook's folder first."""

import os
import re

from minigrad_lessons.student import read_text
from minigrad_lessons.terminal import message

NAMES = ("minigrad", "viz")
OURS = "from minigrad.core import"  # how both of ours begin


def is_ours(place: str) -> bool:
    """Say whether the first file of a package is one of ours."""
    return OURS in read_text(place)


def remedy_for(place: str) -> str:
    """Return the row with the remedy: uninstall an installed package, rename a user's own file."""
    return "clash" if re.search(r"[\\/](site|dist)-packages[\\/]", place) else "hidden"


def find_shadowing_file(folder: str) -> str:
    """Return what to do about a file of a folder that hides ours there, or nothing."""
    for name in NAMES:
        for file in (os.path.join(name, "__init__.py"), name + ".py"):
            place = os.path.join(folder, file)
            if os.path.exists(place) and not is_ours(place):
                return message("hidden", name=name, place=place)
    return ""
