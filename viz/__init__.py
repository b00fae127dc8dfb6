"""See what the engine does: diagrams, players, clocks, charts, in English and in Chinese."""

import importlib
import typing
import warnings

import minigrad
from minigrad_lessons.words import SENTENCES as _SENTENCES

if not hasattr(minigrad, "name_scope"):  # it is another project's, or a file of the user's
    from minigrad_lessons.shadow import remedy_for

    _place = str(minigrad.__file__)
    _problem = "\n".join(_SENTENCES[remedy_for(_place)])
    raise ImportError(_problem.format(name="minigrad", place=_place), name="minigrad")

from minigrad.core import loading

# Names that only lessons use, and that were here; they go in the next version.
_MOVED = """
    Guest Ratio agreement alone as_pass attempt beside both box caught check claims count_built
    count_lines count_traces counts course downhill elsewhere engine gradient_check granularity
    images keep last_line letters load_changed order over_http predict progress quiz readings
    reads recorded regimes side_by_side solution sweep table topological_orders trained typed
    warned won_back
""".split()  # noqa: SIM905

if typing.TYPE_CHECKING:
    from viz._lazy_exports import *
else:  # modules, and the names of `_lazy_exports`, load when the first of them is used
    _look, __dir__ = loading.lazy_exports(__name__)

    def __getattr__(name: str) -> typing.Any:
        found = _look(name)
        if found is None and name in _MOVED:
            from viz.words.text import row_text  # noqa: PLC0415, needed for old names only

            warnings.warn(row_text("moved_to_lessons", name=name), FutureWarning, stacklevel=2)
            found = getattr(importlib.import_module("minigrad_lessons"), name)
        if found is None:
            raise AttributeError(f"viz has no attribute {name!r}", name=name)
        return found
