"""The properties of all exercises, by the ids of their checks."""

from __future__ import annotations

from importlib import import_module

from minigrad_lessons.lesson.exercise.property import Property

NAMES = {"faded.2": "SWITCH", "core": "CORE", "if": "IF", "stretch": "STRETCH"}

PROPERTIES: dict[str, Property] = {
    f"L{lesson:02}.{id}": vars(module)[name]
    for lesson in range(15)
    for module in [import_module(f"{__package__}.l{lesson:02}")]
    for id, name in NAMES.items()
    if name in vars(module)
}
