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
# Comments, strings, and brackets, which decide whether a string at the start of a line is alone.
# Python's own tokenizer takes six times as long.
PIECE = re.compile(
    r"""
    (?P<comment>\#[^\n]*)
    | (?P<string>\b[a-zA-Z]{1,2}(?=["\'])|(?=["\']))
      (?P<quote>"{3}|\'{3}|["\'])(?:\\.|(?!(?P=quote)).)*(?P=quote)
    | (?P<opened>[(\[{])
    | (?P<closed>[)\]}])
    """,
    re.DOTALL | re.VERBOSE,
)
ENDS = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|$)")


def lines(source: str) -> int:
    """Return how many lines of a module hold a token.

    >>> lines('"What it is for."' + chr(10) * 2 + "x = [  # why" + chr(10) + "    1]")
    2
    """
    depth, kept, done = 0, [], 0
    for piece in PIECE.finditer(source):
        text, start, end = piece[0], piece.start(), piece.end()
        if piece["quote"]:
            begins = source.rfind("\n", 0, start) + 1
            first = not source[begins:start].strip() and not source[:begins].endswith("\\\n")
            alone = first and not depth and ENDS.match(source, end)
            put = "" if alone else re.sub(r"(?m)^.*$", "x", text)
        elif piece["comment"]:
            put = ""
        else:
            depth += 1 if piece["opened"] else -1
            continue
        kept += [source[done:start], put]
        done = end
    return sum(bool(line.strip()) for line in "".join([*kept, source[done:]]).splitlines())


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
