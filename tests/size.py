"""Count the lines of code of each package: python tests/size.py holds them against `sizes.toml`.

A line of code is one that holds a token: no comment, no docstring, no empty line, as tinygrad's
`sz.py` counts.
"""

from __future__ import annotations

import functools
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CEILINGS = Path(__file__).with_name("sizes.toml")
PACKAGES = ("minigrad", "minigrad_lessons", "viz")
LINES = "lines of code of each package"  # the section of a run's summary that says how many
JAVASCRIPT = "minigrad/compiler/js"  # an executor, of which the half in JavaScript counts, too
# What may hide or hold a comment: comments, texts, and the brackets that a text may stand in.
PIECES = re.compile(
    r"""\#[^\n]* | \\\n | [()\[\]{}] | [rRbBfFuU]{0,2} (?:
    \"{3}(?:[^\\]|\\.)*?\"{3} | '{3}(?:[^\\]|\\.)*?'{3} | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')""",
    re.VERBOSE | re.DOTALL,
)
ENDS = re.compile(r"[ \t]*(?:#.*)?$", re.MULTILINE)


def lines(source: str) -> int:
    """How many lines of a module hold a token; a text that stands alone is none.

    By an expression, which takes a seventh of the time of `tokenize`.

    >>> lines('"What it is for."' + chr(10) * 2 + "x = [  # why" + chr(10) + "    1]")
    2
    """
    depth, joined = 0, -1  # of brackets; where a line begins that goes on with the one before

    def kept(piece: re.Match[str]) -> str:
        nonlocal depth, joined
        text = piece[0]
        if text[0] == "#":
            return ""
        if len(text) == 1:
            depth += 1 if text in "([{" else -1
            return text
        if text == "\\\n":
            joined = piece.end()
            return text
        line = source.rfind("\n", 0, piece.start()) + 1
        begins = not depth and line != joined and not source[line : piece.start()].strip()
        if begins and ENDS.match(source, piece.end()):
            return ""
        return "\n".join("x" * (1 + text.count("\n")))

    return sum(bool(line.strip()) for line in PIECES.sub(kept, source).splitlines())


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
