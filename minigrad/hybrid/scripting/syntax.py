"""Pieces of syntax that rewritten functions are made of, and the scope that they are made in."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T", bound=ast.AST)

_NEW_FIELDS = {"type_params"} & set(ast.FunctionDef._fields)  # from Python 3.12 on


def copy_location(where: ast.AST, new: T) -> T:
    """Give a new node, and all below it without a location, the location of another."""
    return ast.fix_missing_locations(ast.copy_location(new, where))


def head_location(s: ast.stmt, last: ast.expr) -> ast.stmt:
    """Return the location of a compound statement's head, up to this expression."""
    place = ast.copy_location(ast.Pass(), s)
    place.end_lineno, place.end_col_offset = last.end_lineno, last.end_col_offset
    return place


def load_name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def lambda_(names: Iterable[str], body: ast.expr) -> ast.expr:
    return ast.Lambda(_arguments(names), body)


def thunk(value: ast.expr) -> ast.expr:
    """Build `lambda: value`."""
    return copy_location(value, lambda_([], value))


def function_def(name: str, parameters: Iterable[str], body: list[ast.stmt]) -> ast.stmt:
    fields: dict[str, Any] = {name: [] for name in _NEW_FIELDS}
    return ast.FunctionDef(name, _arguments(parameters), body, [], None, **fields)


def _arguments(names: Iterable[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


@dataclass
class Scope:
    """The variables of one function as far as it is written.

    bound: those that exist here. defined: those that certainly have a value. marked: those that
    must be marked at the beginning as having no value yet.
    """

    bound: set[str]
    defined: set[str]
    marked: dict[str, None] = field(default_factory=dict)

    def inner(self, own: Iterable[str], passed: Iterable[str]) -> Scope:
        """Return the scope of a branch or loop step that sets `own` and takes `passed`."""
        return Scope((self.bound - set(own)) | set(passed), set(self.defined))

    def bind(self, names: Iterable[str]) -> None:
        self.bound.update(names)
        self.defined.update(names)

    def pass_on(self, names: Iterable[str]) -> None:
        """Note names that are passed on here, with or without a value."""
        for name in names:
            if name not in self.bound:
                self.bound.add(name)
                self.marked[name] = None
