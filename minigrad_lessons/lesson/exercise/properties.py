"""The properties of all exercises, by the ids of their checks."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib import import_module
from importlib.resources import files

from minigrad_lessons.lesson.exercise.property import Property

NAMES = {"faded.2": "SWITCH", "core": "CORE", "if": "IF", "stretch": "STRETCH"}

# Programs that are always tried, besides those that a module makes.
PROGRAMS = tomllib.loads(files(__package__).joinpath("programs.toml").read_text("utf-8"))


def with_stored_programs(id: str, known: Property) -> Property:
    """Return a property with the programs that are written down for it."""
    texts: dict[str, str] = PROGRAMS.get(id, {})
    return replace(known, always=(*known.always, *(tuple(t.splitlines()) for t in texts.values())))


PROPERTIES: dict[str, Property] = {
    f"L{lesson:02}.{id}": with_stored_programs(f"L{lesson:02}.{id}", vars(module)[name])
    for lesson in range(16)
    for module in [import_module(f"{__package__}.l{lesson:02}")]
    for id, name in NAMES.items()
    if name in vars(module)
}
