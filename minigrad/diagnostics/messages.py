"""How the sentences of `messages.toml` are read and filled in, and the choice of language.

A row has a key, a half in English, one in Chinese; both hold the same `{fields}`. `viz.words.text`
does the same for what is shown on a page; the language chosen here holds for both.
"""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, cast, get_args

Language = Literal["en", "zh", "both"]
Pair = tuple[str, str]

_requested = os.environ.get("MINIGRAD_LANGUAGE")
_language = cast(Language, _requested if _requested in get_args(Language) else "en")


class Sentences(Mapping[str, Pair]):
    """Rows by their keys: a file with both languages, read when the first of them is needed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @functools.cached_property
    def _rows(self) -> dict[str, Pair]:
        table = tomllib.loads(self._path.read_text("utf-8"))
        return {key: (halves["en"], halves["zh"]) for key, halves in table.items()}

    def __getitem__(self, key: str) -> Pair:
        if key not in self._rows:
            raise KeyError(f"{self._path.name} has no row [{key}]: add it, with `en` and `zh`")
        return self._rows[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


ERRORS = Sentences(Path(__file__).with_suffix(".toml"))


def get_language() -> Language:
    """Return the language of messages: "en", "zh" or "both"."""
    return _language


def set_language(language: Language) -> None:
    """Choose the language of messages: "en", "zh" or "both"; anything else is a ValueError."""
    global _language
    if language not in ("en", "zh", "both"):
        raise ValueError(f'language is "en", "zh" or "both", not {language!r}')
    _language = language


def choose(pair: Pair, separator: str = "\n") -> str:
    """Return the half of a pair in the chosen language, or both halves."""
    return {"en": pair[0], "zh": pair[1], "both": separator.join(pair)}[_language]


def fill(key: str, /, **fields: object) -> Pair:
    """Fill in the fields of a message, in both languages."""
    english, chinese = ERRORS[key]
    if "name" in fields and str(fields["name"]) == str(fields.get("op")):  # it has no other name
        english = english.replace("{name} ({op}, ", "{name} (").replace("{name} ({op})", "{name}")
        chinese = chinese.replace("{name}（{op}，", "{name}（").replace(
            "{name}（{op}）：", "{name}："
        )
        chinese = chinese.replace("{name}（{op}）", "{name} ")
    return fill_pair((english, chinese), fields)


def one_line(text: str) -> str:
    """Return a user's text for one line; characters that can't be printed are escaped.

    >>> print(one_line("a\\nb"))
    a\\nb
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def well_formed(text: str) -> str:
    """Escape lone surrogates in a text, which no encoding can write.

    Names of files that are no UTF-8 reach Python with them.

    >>> print(well_formed("a" + chr(0xDC80)))
    a\\udc80
    """
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


class Count(int):
    """A number that can be written with what it counts: `{steps:step}` is "1 step" or "3 steps"."""

    def __format__(self, noun: str) -> str:
        words = noun.split(" ")
        if len(noun) < 2 or not all(map(str.isalpha, words)):  # an ordinary format: "d" or ","
            return format(int(self), noun)
        return f"{int(self)} {noun}" if self == 1 else f"{int(self)} {noun}s"


def fill_pair(pair: Pair, fields: Mapping[str, object]) -> Pair:
    """Fill in both halves; a field that is itself a pair gives each its own half.

    >>> fill_pair(
    ...     ("{steps:step} and {done:step}", "{steps} 步和 {done} 步"), {"steps": 1, "done": 2}
    ... )
    ('1 step and 2 steps', '1 步和 2 步')
    """
    english, chinese = (
        well_formed(half.format(**{name: _in_language(value, i) for name, value in fields.items()}))
        for i, half in enumerate(pair)
    )
    return english.replace("shape ?", "shape unknown"), chinese.replace("形状 ?", "形状未知")


def _in_language(value: object, which: int) -> object:
    pair = isinstance(value, tuple) and len(value) == 2 and all(isinstance(x, str) for x in value)
    if pair and isinstance(value, tuple):
        return value[which]
    return Count(value) if type(value) is int else value
