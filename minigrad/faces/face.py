"""The base of all compatibility layers: shared names, and calls that are spelled differently.

The texts of a table become functions as those of `diagnostics.foreign` do, which also says what to
write for a name that a layer does not have.
"""

from __future__ import annotations

import difflib
import functools
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import minigrad as mg
from minigrad.diagnostics import foreign
from minigrad.diagnostics.messages import choose, fill
from minigrad.diagnostics.source import here
from minigrad.diagnostics.words import Word, refused, supported

KNOWN = {  # messages for names that another system has, by the module where they are looked up
    "": foreign.FUNCTIONS | foreign.OF_GRAPHS,
    "nn": foreign.LAYERS,
    "nn.functional": foreign.FUNCTIONS | foreign.OF_GRAPHS,
    "optim": foreign.OPTIMISERS,
    "train": foreign.TRAIN,
}


class Compat:
    """The names of one module of another system.

    place: what users call the module there. same: names that mean the same in the module `of` of
    minigrad, or `theirs=ours`. calls: how a call is written there, and here. lacks: ours, and the
    names that are refused with it. around: what becomes of each function; classes: of each class.
    helpers: what `calls` use besides `mg`.
    """

    def __init__(
        self,
        place: str,
        same: str = "",
        of: str = "",
        calls: Mapping[str, str] | None = None,
        lacks: Mapping[str | tuple[str, ...], str] | None = None,
        around: Callable[[Any], Any] = lambda call: call,
        classes: Callable[[Any], Any] = lambda kind: kind,
        **helpers: Any,
    ) -> None:
        self.place, self.of = place, of
        pairs = (name.partition("=") for name in same.split())
        self.same = {theirs: ours or theirs for theirs, _, ours in pairs}
        said = supported(calls, place, **helpers) if calls else {}
        self.around, self.classes = around, classes
        self.known: dict[str, Any] = {}  # the values for the names of `same`
        self.calls = {name: around(word.call) for name, word in said.items()}
        self.lacks: Mapping[str, Word] = {**KNOWN.get(of, {}), **refused(lacks or {})}
        self.module = sys.modules[sys._getframe(1).f_globals["__name__"]]

    def __call__(self, name: str) -> Any:
        """Return the value for a name that the module itself doesn't define: its `__getattr__`."""
        if name in self.same:
            if name not in self.known:
                inside = filter(None, (self.of, self.same[name]))
                found = operator.attrgetter(".".join(inside))(mg)
                if isinstance(found, type):
                    found = self.classes(found)
                elif callable(found):
                    found = self.around(found)
                self.known[name] = found
            return self.known[name]
        if name in self.calls:
            return self.calls[name]
        if name in self.lacks or name.startswith("_"):
            raise self.error_for(name)
        known = self.names()
        about: dict[str, Any] = {"place": self.place, "missing": name, "count": len(known)}
        for near in difflib.get_close_matches(name, known, 1, 0.75):
            raise mg.MissingNameError("face_lacks_near", **about, name=near, defined=here())
        raise mg.MissingNameError("face_lacks", **about, defined=here())

    def error_for(self, name: str) -> AttributeError:
        """Return the error for a name, or a use of one, that is listed as missing."""
        return foreign.missing(self.place, name, self.module, self.lacks)

    def names(self) -> list[str]:
        """Return every name that the module knows: its `__dir__`."""
        return sorted({*self.same, *self.calls, *getattr(self.module, "__all__", ())})


def make_error(kind: type[mg.GraphError], key: str, **fields: Any) -> mg.GraphError:
    """Return an error with the message of this key and the user's line."""
    return kind(key, **fields, defined=here())


def render_message(key: str, **fields: Any) -> str:
    """Return the message of this key in the chosen language."""
    return choose(fill(key, **fields))


def as_tuple(values: Any) -> tuple[Any, ...]:
    """Return one value or several as a tuple."""
    return tuple(values) if isinstance(values, (list, tuple)) else (values,)


def graph_as_function(graph: Any) -> Callable[..., Any]:
    """Wrap a graph as a function of its inputs, in order, that returns tensors."""

    @functools.wraps(mg.run)
    def call(*values: Any) -> Any:
        for x in values:
            if getattr(x, "requires_grad", False) and mg.is_grad_enabled():
                raise mg.GradientError("face_no_tape", op="load", ran=here())
        found = mg.run(graph, dict(zip(graph.inputs, values, strict=True)))
        return [*map(mg.tensor, found)] if isinstance(found, list) else mg.tensor(found)

    return call


def mixed_dtypes_error(
    op: str, dtypes: Sequence[Any], kind: type[mg.GraphError] = mg.DtypeError
) -> Exception:
    """Return the error for mixed data types, in a system that doesn't convert them."""
    shown = ", ".join(map(str, dict.fromkeys(dtypes)))
    return kind("face_mixed", op=op, dtypes=shown, defined=here())


def tape_used_error(op: str) -> Exception:
    """Return the error for a tape that is used a second time."""
    return mg.GradientError("face_used_up", op=op, defined=here())


def new_variable_error(function: str) -> Exception:
    """Return the error for variables that a traced function makes at each of its calls."""
    return mg.ArgumentError("face_not_again", function=function, defined=here())


def immutable_error(op: str) -> Exception:
    """Return the error for an in-place change, in a system whose tensors are immutable."""
    return mg.DtypeError("face_unchanging", op=op, defined=here())


def random_in_body_error(op: str) -> Exception:
    """Return the error for random numbers inside a body that the graph itself repeats."""
    return mg.ControlFlowError("face_within_body", op=op, defined=here())


def needs_grad_error(op: str) -> Exception:
    """Return the error for converting a tensor to an array when it requires a gradient."""
    return mg.GradientError("face_followed", op=op, defined=here())


def raise_missing(name: str, replacement: str, place: str = "tf.Tensor") -> Any:
    """Raise the error for a method of ours that the other system's tensors don't have."""
    raise mg.MissingNameError(
        "missing_name", place=place, missing=name, ours=replacement, defined=here()
    )
