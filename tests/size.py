"""How large each wing is, in lines of code; python tests/size.py writes them into `sizes.toml`.

What stands behind a number there, its reason, stays. A wing is a folder or a module directly below
one of the packages. A line of code is one that holds a token: no comment, no docstring, no empty
line; so does tinygrad's `sz.py` count.
"""

from __future__ import annotations

import functools
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("minigrad", "minigrad_lessons", "viz")
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


@functools.cache
def wings(package: str) -> dict[str, int]:
    """The lines of code of each wing of a package, by its name."""
    found: dict[str, int] = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        wing = path.relative_to(ROOT / package).with_suffix("").parts[0]
        found[wing] = found.get(wing, 0) + lines(path.read_text("utf-8"))
    return dict(sorted(found.items()))


HEAD = "# Each number may fall; one that rises has a sentence behind it, after #, that says why."


def report(held: str = "") -> str:
    """All wings and their sums, in TOML; what is said behind a number that is held is kept."""
    said, parts, package = {}, [], ""
    for line in held.splitlines():
        package = line.partition("]")[0].removeprefix("[") if line.startswith("[") else package
        said[package, line.partition(" =")[0]] = line.partition("  # ")[2]
    for package in PACKAGES:
        found = wings(package)
        parts.append(f"\n[{package}]  # {sum(found.values())} lines of code")
        for wing, count in found.items():
            why = said.get((package, wing))
            parts.append(f"{wing} = {count}" + (f"  # {why}" if why else ""))
    return "\n".join(parts).lstrip()


if __name__ == "__main__":
    table = ROOT / "tests" / "sizes.toml"
    known = table.read_text("utf-8") if table.exists() else ""
    table.write_text(f"{HEAD}\n\n{report(known)}\n", "utf-8")
