"""Count the lines of code of each package: python tests/size.py holds them against `sizes.toml`.

A line of code is one that holds a token: no comment, no docstring, no empty line, as tinygrad's
`sz.py` counts.
"""

from __future__ import annotations

import functools
import io
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CEILINGS = Path(__file__).with_name("sizes.toml")
PACKAGES = ("minigrad", "minigrad_lessons", "viz")
LINES = "lines of code of each package"  # the section of a run's summary that says how many
JAVASCRIPT = "minigrad/compiler/js"  # an executor, of which the half in JavaScript counts, too
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
SILENT |= {tokenize.ENCODING, tokenize.ENDMARKER}
STARTS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def spoken(source: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens that do something: neither layout, nor comments, nor a text that stands alone."""
    readable = io.StringIO(source).readline
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING)
    tokens = [t for t in tokenize.generate_tokens(readable) if t.type not in skipped]
    for i, token in enumerate(tokens):
        begins = not i or tokens[i - 1].type in STARTS
        alone = token.type == tokenize.STRING and begins and tokens[i + 1].type == tokenize.NEWLINE
        if token.type not in SILENT and not alone:
            yield token


def lines(source: str) -> int:
    """How many lines of a module hold a token.

    >>> lines('"What it is for."' + chr(10) * 2 + "x = [  # why" + chr(10) + "    1]")
    2
    """
    return len({n for t in spoken(source) for n in range(t.start[0], t.end[0] + 1)})


def script_lines(source: str) -> int:
    """How many lines of a script hold a token.

    >>> script_lines("// what it is for" + chr(10) * 2 + "const x = 1; // why")
    1
    """
    return sum(not line.strip().startswith("//") for line in source.splitlines() if line.strip())


@functools.cache
def packages() -> dict[str, int]:
    """Count the lines of code of each package, and of the executor that has two languages."""
    found = {
        package: sum(lines(path.read_text("utf-8")) for path in (ROOT / package).rglob("*.py"))
        for package in (*PACKAGES, JAVASCRIPT)
    }
    scripts = (ROOT / JAVASCRIPT).rglob("*.js")
    found[JAVASCRIPT] += sum(script_lines(path.read_text("utf-8")) for path in scripts)
    return found


def ceilings() -> dict[str, int]:
    """Read how large each package may be."""
    return tomllib.loads(CEILINGS.read_text("utf-8"))


if __name__ == "__main__":
    for name, count in packages().items():
        print(f"{name}: {count} of {ceilings()[name]}")
