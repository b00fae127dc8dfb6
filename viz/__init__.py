"""See what the engine does: diagrams, players, clocks, charts, in English and in Chinese."""

import typing

import minigrad
from minigrad_lessons.words import SENTENCES as _SENTENCES

if not hasattr(minigrad, "name_scope"):  # it is another project's, or a file of the user's
    from minigrad_lessons.shadow import sentence_for

    _place = str(minigrad.__file__)
    _told = "\n".join(_SENTENCES[sentence_for(_place)])
    raise ImportError(_told.format(name="minigrad", place=_place), name="minigrad")

from minigrad.core import loading

if typing.TYPE_CHECKING:
    from viz.later import *
else:  # modules, and the names of `later`, load when the first of them is asked for
    _look, __dir__ = loading.from_later(__name__)

    def __getattr__(name: str) -> typing.Any:
        found = _look(name)
        if found is None:
            raise AttributeError(f"viz has no attribute {name!r}", name=name)
        return found
