"""Guards: the values that a trace depends on besides its arguments.

A function reads more than its arguments: globals, variables of the function around it, attributes
of `self`. Where such a value is part of the graph, a guard remembers it, and a call that finds
another one makes a new trace. Which names are read, the compiled code says.

Guarded by value are numbers, strings, None and tuples of these; by shape and data type, tensors
and arrays (their present values are taken at each call); by identity, functions and other objects.
Lists, dicts and sets count by what they hold, as long as that is not much: values by value,
everything else by identity. Python functions that the function calls are looked into, and so are
the layers of a model that the user wrote. What library code reads is not guarded, except whether
layers are in training.
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from minigrad.core import Op
from minigrad.diagnostics.messages import Pair, fill
from minigrad.diagnostics.source import LIBRARIES
from minigrad.dynamic.tensor import Tensor
from minigrad.hybrid.tracing.keys import (
    IdentityKey,
    Key,
    KeyPart,
    brief_repr,
    is_array,
    is_value,
    value_key,
)

MISSING = object()
Get = Callable[[], Any]

_NEVER = (types.ModuleType, type, types.BuiltinFunctionType, np.ufunc, Op)
_CONTAINERS = (list, dict, set)
MOST_ITEMS = 200  # what a guarded list may hold, lists in it included; it is compared at each call


class Guard(NamedTuple):
    """One captured value: what it was, where it is read, and whether that still holds."""

    part: KeyPart
    get: Get
    holds: Callable[[], bool]

    @classmethod
    def of(cls, role: str, place: str, get: Get) -> Guard:
        x = get()
        if type(x) in _CONTAINERS:
            return cls.of_container(role, place, get)
        part = KeyPart.of(role, place, x)
        if is_array(x):
            return cls(part, get, _array_check(get, x))
        if is_value(x):
            return cls(part, get, _value_check(get, x))
        return cls(part, get, _identity_check(get, x))

    @classmethod
    def of_container(cls, role: str, place: str, get: Get) -> Guard:
        x = get()
        inside = contents_key(x)
        part = KeyPart(place, fill(role, name=place), "value", inside, (brief_repr(x),) * 2)
        holds = _identity_check(get, x) if inside is None else lambda: contents_key(get()) == inside
        return cls(part, get, holds)

    def change(self) -> Pair:
        """Describe what the value has become."""
        x = self.get()
        if type(x) in _CONTAINERS:
            about = {"source": self.part.source, "before": self.part.shown, "after": brief_repr(x)}
            return fill("why_value", **about)
        new = KeyPart.of("an_argument", self.part.place, x)
        about = {"source": self.part.source, "before": self.part.shown, "after": new.shown}
        return next(self.part.changes(new), fill("why_object", **about))


def contents_key(x: Any) -> Key | None:
    """Return a key of what a list, dict or set holds; None if that is too much."""
    room = MOST_ITEMS

    def inside(x: Any) -> Key:
        nonlocal room
        room -= 1
        if room < 0:
            raise OverflowError
        kind = type(x)
        if kind in (list, tuple):
            return kind, tuple([inside(item) for item in x])
        if kind is dict:
            return kind, tuple([(name, inside(item)) for name, item in x.items()])
        if kind is set:
            return kind, frozenset([inside(item) for item in x])
        return value_key(x) if is_value(x) else IdentityKey(x)

    try:
        return inside(x)
    except OverflowError:
        return None


def _array_check(get: Get, before: Any) -> Callable[[], bool]:
    kind, shape, dtype = type(before), before.shape, before.dtype

    def tensor_holds() -> bool:
        x = get()
        return type(x) is kind and x._array.shape == shape and x._array.dtype == dtype

    def holds() -> bool:
        x = get()
        return type(x) is kind and bool(x.shape == shape) and bool(x.dtype == dtype)

    return tensor_holds if issubclass(kind, Tensor) else holds


def _value_check(get: Get, before: Any) -> Callable[[], bool]:
    key = value_key(before)

    def holds() -> bool:
        x = get()
        return x is before or (is_value(x) and value_key(x) == key)

    return holds


def _identity_check(get: Get, before: Any) -> Callable[[], bool]:
    held = _weak_getter(before)
    return lambda: get() is held()


def _weak_getter(x: Any) -> Get:
    """Return a reference that doesn't keep the object alive, if possible."""
    try:
        return weakref.ref(x)
    except TypeError:  # a list, an object with slots
        return lambda: x


def guard_captured(tensor: Tensor) -> Guard:
    """Guard shape and type of a used tensor that was reached in an unknown way."""
    return Guard.of("a_captured", tensor.name or "tensor", lambda: tensor)


def guard_alias(one: Guard, get: Get) -> Guard:
    """Guard that two names stay the same tensor, as the graph has it once."""
    return one._replace(holds=lambda: one.get() is get())


class NamesRead(NamedTuple):
    """The names that a function reads: globals, and attributes of any objects."""

    globals: frozenset[str]
    attributes: frozenset[str]


@functools.lru_cache(maxsize=1000)
def names_in(code: types.CodeType) -> NamesRead:
    """Return the names that code reads, inner functions included."""
    read: set[str] = set()
    attributes: set[str] = set()
    waiting = [code]
    while waiting:
        inner = waiting.pop()
        waiting += [c for c in inner.co_consts if isinstance(c, types.CodeType)]
        for step in dis.get_instructions(inner):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                read.add(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.add(step.argval)
    return NamesRead(frozenset(read), frozenset(attributes))


def find_guards(function: Any, objects: Mapping[str, Any]) -> list[Guard]:
    """Return guards for all that a function reads; `objects` are arguments by name."""
    finder = _Finder()
    code, owner = python_function(function)
    if code is None:
        return []
    for name, x in objects.items():
        finder.guard_object(name, x, names_in(code.__code__))
    finder.visit_later(code, owner, "self")
    while finder.waiting:
        finder.guard_function(*finder.waiting.pop())
    return finder.guards


class _Finder:
    """Goes through the code of a function and of those that it calls, and collects guards."""

    def __init__(self) -> None:
        self.guards: list[Guard] = []
        self.waiting: list[tuple[types.FunctionType, Any, str]] = []
        self._seen: set[Any] = set()

    def visit_later(self, function: types.FunctionType, owner: Any, name: str) -> None:
        """Look into a function later, unless that was done or it is library code."""
        key = (function, id(owner))
        if key in self._seen:
            return
        self._seen.add(key)
        if not _from_library(function):
            self.waiting.append((function, owner, name))
        elif is_layer(owner) and id(owner) not in self._seen:
            self.guard_model(name, owner)

    def guard_function(self, function: types.FunctionType, owner: Any, name: str) -> None:
        """Guard what one function reads: attributes of its object, closure, globals."""
        names = names_in(function.__code__)
        if owner is not None:
            self.guard_object(name, owner, names)
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for read, cell in cells:
            self.guard_value("a_closure", read, _cell_getter(cell), names)
        around = function.__globals__
        for read in sorted(names.globals & around.keys()):
            get = functools.partial(around.get, read, MISSING)
            self.guard_value("a_global", read, get, names)

    def guard_value(self, role: str, name: str, get: Get, names: NamesRead) -> None:
        """Guard one value, and whatever it leads to."""
        x = get()
        if x is MISSING or isinstance(x, _NEVER):
            return
        if isinstance(x, (types.FunctionType, types.MethodType)):
            function, owner = python_function(x)
            if function is None or _from_library(function):
                return
            self.visit_later(function, owner, name)
        elif not (is_array(x) or is_value(x) or isinstance(x, _CONTAINERS)):
            self.guard_object(name, x, names)
        self.guards.append(Guard.of(role, name, get))

    def guard_object(self, name: str, owner: Any, names: NamesRead) -> None:
        """Guard the attributes of an object that hold values, and look into its methods."""
        if (id(owner), names) in self._seen:
            return
        self._seen.add((id(owner), names))
        if is_layer(owner) and id(owner) not in self._seen:
            self.guard_model(name, owner)
        for read in sorted(names.attributes):
            x = inspect.getattr_static(owner, read, MISSING)
            if isinstance(x, types.FunctionType):
                self.visit_later(x, owner, name)
            elif is_array(x) or is_value(x):
                get = _attribute_getter(owner, read)
                self.guards.append(Guard.of("an_attribute", f"{name}.{read}", get))

    def guard_model(self, name: str, model: Any) -> None:
        """Guard whether each layer is in training, and look into layers that the user wrote."""
        layers = dict(model.named_modules())
        self._seen.update(map(id, layers.values()))
        held = [weakref.ref(layer) for layer in layers.values()]

        def training() -> tuple[Any, ...]:
            return tuple([getattr(layer(), "training", None) for layer in held])

        self.guards.append(Guard.of("a_training", name, training))
        for place, layer in layers.items():
            function, _ = python_function(layer)
            if function is not None:
                self.visit_later(function, layer, f"{name}.{place}" if place else name)


def is_layer(x: Any) -> bool:
    """Return whether this is a layer, with a `forward` and layers inside it."""
    return hasattr(type(x), "forward") and hasattr(type(x), "named_modules")


def python_function(x: Any) -> tuple[types.FunctionType | None, Any]:
    """Return the Python function that a call of x runs, and the object it is bound to."""
    while isinstance(x, functools.partial):
        x = x.func
    if isinstance(x, types.FunctionType):
        return x, None
    if isinstance(x, types.MethodType) and isinstance(x.__func__, types.FunctionType):
        return x.__func__, x.__self__
    name = "forward" if is_layer(x) else "__call__"
    method = inspect.getattr_static(type(x), name, None)
    return (method, x) if isinstance(method, types.FunctionType) else (None, None)


def _from_library(function: types.FunctionType) -> bool:
    return function.__code__.co_filename.startswith(LIBRARIES)


def _cell_getter(cell: types.CellType) -> Get:
    def get() -> Any:
        try:
            return cell.cell_contents
        except ValueError:  # not assigned yet
            return MISSING

    return get


def _attribute_getter(owner: Any, name: str) -> Get:
    held = _weak_getter(owner)
    return lambda: getattr(held(), name, MISSING)
