"""How a row of `text.toml`, a sentence in both languages, becomes text.

HTML carries both halves, each in an element with its `lang`, and one style rule shows the chosen
one, so a page changes its language without a kernel. What is printed follows the language chosen
when it is printed. The engine's errors are the rows of `minigrad/diagnostics/messages.toml`.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from html import escape
from itertools import chain, count
from pathlib import Path

from minigrad.diagnostics.messages import Pair, Sentences, choose, fill_pair, well_formed

__all__ = ["Pair", "Right", "bilingual", "both", "choose", "distinct", "html", "in_both", "row"]
__all__ += ["row_text"]

ROWS = Sentences(Path(__file__).with_suffix(".toml"))
NAMES = {"en": "EN: ", "zh": "中文："}


class Right(tuple[str, str]):
    """What was checked and found right, in both languages: a page shows it with a tick."""

    __slots__ = ()


def row(key: str, **fields: object) -> Pair:
    """Return the row of `key` with its fields filled in. A field may itself be a pair."""
    return fill_pair(ROWS[key], fields)


def bilingual(pair: Pair, tag: str = "span") -> str:
    """Return a pair as two escaped HTML elements, of which the style rule shows one or both.

    Halves that are the same, such as numbers, are one element without a language.
    """
    if pair[0] == pair[1]:
        return f"<{tag}>{escape(pair[0])}</{tag}>"
    return " ".join(map(in_language, NAMES, map(escape, pair), (tag, tag)))


def in_language(lang: str, inside: str, tag: str = "span") -> str:
    """Return HTML in an element with its language.

    A page that drops our style rules shows all halves, so each has a label and its own line there.
    """
    name, end = f"<i>{NAMES[lang]}</i>", "<br>" if tag == "span" else ""
    return f'<{tag} lang="{lang}">{name}{inside}{end}</{tag}>'


def html(key: str, tag: str = "span", **fields: object) -> str:
    """Return a row as HTML in both languages."""
    return bilingual(row(key, **fields), tag)


def both(pair: Pair) -> str:
    """Join a pair on one line, for attributes (labels for screen readers) without style rules.

    A page to read speaks one language, so there it is that half.
    """
    halves = [choose(pair, " / ")] if "MINIGRAD_PAGE" in os.environ else pair
    return " / ".join(dict.fromkeys(halves))


def listed(pairs: Iterable[Pair], *between: str) -> Pair:
    """Join pairs to one: the halves of each language, with what is between them in it.

    >>> listed([("one", "一"), ("two", "二")], ", ", "、")
    ('one, two', '一、二')
    """
    english, chinese = zip(("", ""), *pairs, strict=True)
    return between[0].join(english[1:]), between[-1].join(chinese[1:])


def distinct(names: Iterable[str], taken: Container[str] = ()) -> list[str]:
    """Make names differ from each other and from those taken, by numbering equal ones.

    >>> distinct(["sum", "exp", "sum"])
    ['sum', 'exp', 'sum (2)']
    """
    found: list[str] = []
    for name in names:
        numbered = (f"{name} ({i})" for i in count(2))
        found.append(next(x for x in chain([name], numbered) if x not in taken and x not in found))
    return found


def in_both(label: str | Pair) -> Pair:
    """Return a user's label as a pair: a single text serves both languages."""
    english, chinese = (label, label) if isinstance(label, str) else label
    return well_formed(english), well_formed(chinese)


def mode_name(side: str | Pair) -> Pair:
    """Return the name of a side of a comparison, or of a line; a mode has the same name everywhere.

    >>> mode_name("eager"), mode_name("ours")
    (('dynamic', '动态图'), ('ours', 'ours'))
    """
    mode = {"eager": "dynamic"}.get(side, side) if isinstance(side, str) else ""
    return (mode, row(f"kind_{mode}")[1]) if mode in ("dynamic", "static") else in_both(side)


def capital(pair: Pair) -> Pair:
    """Capitalise the first letter of the English half; strip spaces around the Chinese one."""
    return pair[0][:1].upper() + pair[0][1:], pair[1].strip()


def row_text(key: str, **fields: object) -> str:
    """Return a row as plain text in the chosen language."""
    return choose(row(key, **fields))
