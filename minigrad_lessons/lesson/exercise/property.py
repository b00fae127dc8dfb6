"""What has to hold of an answer to an exercise: `Property`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

Names = dict[str, Any]  # what a program has made, by the names in it


@dataclass(frozen=True)
class Property:
    """For each program, what there is to see is the same with the learner's functions and ours.

    programs: makes one from random choices. always: large and rare ones, so that no seed misses
    them, here and in programs.toml; they are tried last and never made shorter. look: the facts, by
    names that are code; without it these are all values of the program. events: whether the
    engine's log is one. raises: the errors that our answer may end with; any other is a mistake in
    the program. lines: how many one of `always` may run. spec: our answer, where it is no part of
    the engine.
    """

    programs: Callable[[Rng], Program]
    always: tuple[Program, ...] = ()
    look: Callable[[Names, ModuleType], Names] | None = None
    events: bool = False
    raises: tuple[str, ...] = ()
    examples: int = 100
    lines: int = 250_000
    spec: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
