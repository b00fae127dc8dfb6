"""The course: its lessons and what opens them, its questions, checks and tables.

`import minigrad_lessons as lessons` is how notebooks name it. Nothing else is loaded until one of
its names is used: `tasks.py` imports it before anything is installed, and any Python from 3.6
on can read it, so an old one gets a sentence, not a SyntaxError.
"""

import typing

if typing.TYPE_CHECKING:
    from minigrad_lessons._lazy_exports import *
else:
    _loader = []  # what looks a name up, and what lists them, once that is needed

    def _load_name(name):
        if not _loader:
            from minigrad.core import loading  # noqa: PLC0415, needs what is installed

            _loader.extend(loading.lazy_exports(__name__))
        return _loader[0](name)

    def __getattr__(name):
        if name[:1] == "_" and name != "__all__":
            raise AttributeError(name)
        found = _load_name(name)
        if found is None:
            raise AttributeError("lessons has no attribute {!r}".format(name))
        return found

    def __dir__():
        _load_name("__all__")
        return _loader[1]()
